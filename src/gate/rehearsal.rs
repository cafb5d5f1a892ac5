//! Calibration: pairs of runs of the same code.

use super::decision::{Outcome, Verdict};
use super::judge::{Setting, judge};
use super::policy::{Metric, Policy};
use super::thresholds::COUNTING_SHARE;
use crate::compare::{Change, Noise, Run, squares};
use crate::units::{RelativeChange, Share, Shift, median};

/// Quantile of kernel shifts that a proposed floor covers: one in a hundred raises an alarm.
const COVERED: f64 = 0.99;

/// Ratio of a proposed floor to the largest shift seen, because few runs have not shown the worst.
const HEADROOM: f64 = 1.5;

/// Proposed floors are rounded up to thousandths; few runs do not justify more digits.
const STEPS: f64 = 1000.0;

/// Smallest proposed floor: two runs of the same code differ by 1% on any day.
const LEAST_FLOOR: RelativeChange = RelativeChange::new(0.01);

/// Shifts observed between runs of the same code.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// The 99th percentile of the shifts; `None` if nothing was compared.
    pub percentile_99: Option<RelativeChange>,
    /// Number of comparisons.
    pub compared: usize,
}

/// A kernel that differs between two runs of the same code.
#[derive(Debug, Clone, PartialEq)]
pub struct Wildest {
    /// Its name.
    pub kernel: String,
    /// Size of the shift.
    pub shift: RelativeChange,
    /// The runs.
    pub runs: [String; 2],
}

/// False-alarm rate of a policy on runs of the same code.
#[derive(Debug, Clone, PartialEq)]
pub struct Alarms {
    /// Share of pairs that fail, counted in both directions.
    pub rate: Share,
    /// Kernels that failed with the number of pairs, most frequent first.
    pub noisy: Vec<(String, usize)>,
}

/// Run-to-run noise measured from repeated runs of the same code.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Number of runs.
    pub runs: usize,
    /// Number of pairs compared.
    pub pairs: usize,
    /// Largest global shift between two runs.
    pub common_largest: RelativeChange,
    /// The two runs between which it lies.
    pub furthest: Option<[String; 2]>,
    /// The kernel with the largest shift of all, and the runs between which it lies.
    pub wildest: Option<Wildest>,
    /// Typical size of the global shift.
    pub common_typical: RelativeChange,
    /// Shifts of kernels with at least 0.5% of the time and enough launches.
    pub kernel: Seen,
    /// Shifts of kernels with at least 0.5% of the time and few launches.
    pub few_launches: Seen,
    /// What devices or days add to all kernels of a run, where the runs are in groups.
    pub between: Option<Between>,
    /// Noise floors suggested by these runs.
    pub proposed: Noise,
    /// False alarms under the current policy.
    pub alarms: Alarms,
    /// False alarms with the proposed floors.
    pub alarms_proposed: Alarms,
}

/// What the runs of a group have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouped {
    /// The device, one of several of its model.
    Device,
    /// The day.
    Day,
}

impl Grouped {
    /// The word in files and reports.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Day => "day",
        }
    }
}

/// What devices or days add to the noise of runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Between {
    /// What differs from group to group.
    pub by: Grouped,
    /// Groups.
    pub groups: usize,
    /// Standard deviation of the time of a run from group to group, beyond that within them.
    pub spread: RelativeChange,
}

/// The spread of groups beyond that of their runs: the variance component of a one-way analysis of variance.
fn between(groups: &[Vec<f64>]) -> Option<Shift> {
    let count = groups.len() as f64;
    let all: Vec<f64> = groups.concat();
    let runs = all.len() as f64;
    if groups.len() < 2 || all.len() <= groups.len() {
        return None;
    }
    let within: f64 = groups.iter().map(|group| squares(group)).sum();
    let apart = squares(&all) - within;
    let sizes: f64 = groups.iter().map(|group| (group.len() as f64).powi(2)).sum();
    let size = (runs - sizes / runs) / (count - 1.0);
    let variance = (apart / (count - 1.0) - within / (runs - count)) / size;
    Some(Shift::new(variance.max(0.0).sqrt()))
}

/// Compares repeated runs of the same code pair by pair, one run per side, and proposes the noise
/// floors of a policy: 1.5 times the 99th percentile of kernel shifts (those of few launches as if there were
/// [`Noise::FEW`] on a side), the largest global shift and the spread of groups. `groups` holds how many of the runs, in order, were taken on each device or day.
#[must_use]
pub fn calibrate(
    runs: &[Run],
    groups: Option<(Grouped, &[usize])>,
    policy: &Policy,
) -> Calibration {
    let between = groups.and_then(|(by, sizes)| {
        let mut logs = runs.iter().map(|run| run.whole_s().get().ln());
        let of = |size: &usize| logs.by_ref().take(*size).collect::<Vec<f64>>();
        let groups: Vec<Vec<f64>> = sizes.iter().map(of).collect();
        let spread = between(&groups)?.change();
        Some(Between { by, groups: groups.len(), spread })
    });
    let mut common: Vec<Shift> = Vec::new();
    let (mut kernel, mut few): (Vec<Shift>, Vec<Shift>) = (Vec::new(), Vec::new());
    let mut declared = Vec::new();
    let mut wildest: Option<(Shift, String, [&Run; 2])> = None;
    let setting =
        crate::compare::Setting { noise: policy.noise, ..crate::compare::Setting::default() };
    let mut pairs = Vec::new();
    for (at, one) in runs.iter().enumerate() {
        pairs.extend(runs[at + 1..].iter().map(|two| (one, two)));
    }
    for pair @ (one, two) in &pairs {
        let (one, two) = (std::slice::from_ref(*one), std::slice::from_ref(*two));
        let comparison = crate::compare::compare(one, two, &setting);
        let is_removed = comparison.common.removed;
        let whole = if is_removed { &comparison.common.evidence } else { &comparison.total };
        common.push(whole.shift.abs());
        let counts = |change: &&Change| change.share().is_some_and(|share| share >= COUNTING_SHARE);
        let changes = comparison.changes.iter().filter(counts);
        for (change, own) in changes.filter_map(|change| Some((change, change.own.as_ref()?))) {
            let shift = own.shift.abs();
            if wildest.as_ref().is_none_or(|(most, ..)| shift.total_cmp(most).is_gt()) {
                wildest = Some((shift, change.name.clone(), [pair.0, pair.1]));
            }
            if own.before.min(own.after) >= Noise::ENOUGH {
                kernel.push(shift);
            } else {
                few.push(shift);
                declared.push(shift * Noise::growth(own.before, own.after).recip());
            }
        }
    }
    let (kernel, few_launches, declared) = (seen(kernel), seen(few), seen(declared));
    let shifts: Vec<f64> = common.iter().map(|shift| shift.get()).collect();
    let largest = common.iter().zip(&pairs).max_by(|one, two| one.0.total_cmp(two.0));
    let furthest = largest.map(|(_, (one, two))| [one.label.clone(), two.label.clone()]);
    let largest = largest.map(|(shift, _)| *shift).unwrap_or_default().change();
    let typical = median(&shifts).map(Shift::new).unwrap_or_default().change();
    let learned = |by: Grouped, otherwise: RelativeChange| {
        let found = between.filter(|between| between.by == by);
        found.map_or(otherwise, |between| proposed(between.spread))
    };
    let of_many = kernel.percentile_99.map_or(policy.noise.kernel, proposed);
    let of_few = declared.percentile_99.map_or(policy.noise.few_launches, proposed);
    let proposed = Noise {
        kernel: of_many,
        // Few launches are never quieter than many.
        few_launches: of_few.max(of_many),
        common: proposed(largest),
        device: learned(Grouped::Device, policy.noise.device),
        day: learned(Grouped::Day, policy.noise.day),
        ..policy.noise
    };
    Calibration {
        runs: runs.len(),
        pairs: pairs.len(),
        common_largest: largest,
        furthest,
        wildest: wildest.map(|(shift, kernel, runs)| Wildest {
            kernel,
            shift: shift.change(),
            runs: runs.map(|run| run.label.clone()),
        }),
        common_typical: typical,
        kernel,
        few_launches,
        between,
        proposed,
        alarms: alarms(&pairs, policy),
        alarms_proposed: alarms(
            &pairs,
            &Policy { noise: proposed, noise_is_declared: true, ..policy.clone() },
        ),
    }
}

fn seen(mut shifts: Vec<Shift>) -> Seen {
    shifts.sort_unstable_by(Shift::total_cmp);
    let last = shifts.len().saturating_sub(1);
    let percentile_99 = shifts.get((COVERED * last as f64).ceil() as usize);
    Seen { percentile_99: percentile_99.map(|shift| shift.change()), compared: shifts.len() }
}

/// Returns the noise floor suggested by a shift.
fn proposed(largest: RelativeChange) -> RelativeChange {
    let steps = (largest.get() * HEADROOM * STEPS).ceil();
    RelativeChange::new(steps / STEPS).max(LEAST_FLOOR)
}

/// Counts how often a policy fails pairs of runs, in both directions, and which kernels fail.
fn alarms(pairs: &[(&Run, &Run)], policy: &Policy) -> Alarms {
    let setting = Setting { decides: true, ..Setting::default() };
    let policy = Policy { bounds: Vec::new(), required: Vec::new(), ..policy.clone() };
    let mut failed = 0_usize;
    let mut blamed: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    for (one, two) in pairs.iter().flat_map(|(one, two)| [(*one, *two), (*two, *one)]) {
        let decision =
            judge(std::slice::from_ref(one), std::slice::from_ref(two), &policy, &setting);
        failed += usize::from(decision.outcome == Outcome::Failed);
        for check in decision.deciding().filter(|check| check.verdict == Verdict::Regression) {
            let name = match (&check.subject, check.metric) {
                (super::decision::Subject::Kernel { name, .. }, _) => name.clone(),
                (_, Metric::CommonShift) => "(global shift)".to_owned(),
                _ => "(whole run)".to_owned(),
            };
            *blamed.entry(name).or_default() += 1;
        }
    }
    let mut noisy: Vec<(String, usize)> = blamed.into_iter().collect();
    noisy.sort_by(|one, two| two.1.cmp(&one.1).then_with(|| one.0.cmp(&two.0)));
    let all = 2 * pairs.len();
    let rate = if all == 0 { Share::ZERO } else { Share::new(failed as f64 / all as f64) };
    Alarms { rate, noisy }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 0 to 100 thousandths the one at 99% is 0.099. Half as much again as 0.0985 is 0.14775, and 0.148 in
    /// whole thousandths.
    #[test]
    fn a_floor_holds_all_but_one_in_a_hundred() {
        let shifts = (0..=100).map(|at| RelativeChange::new(f64::from(at) / 1000.0).shift());
        let found = seen(shifts.collect());
        assert!(
            (found.percentile_99.unwrap().get() - 0.099).abs() < 1e-12 && found.compared == 101
        );
        assert_eq!(proposed(RelativeChange::new(0.0985)), RelativeChange::new(0.148));
        assert_eq!(proposed(RelativeChange::new(0.001)), LEAST_FLOOR);
        assert_eq!(seen(Vec::new()), Seen { percentile_99: None, compared: 0 });
    }

    /// Groups of 1, 2, 3 and of 5, 6, 7: their means lie 4 apart, so that the mean square between is
    /// 6 × 2² = 24, within 1, and (24 - 1) / 3 is the variance of groups.
    #[test]
    fn groups_spread_beyond_their_runs() {
        let found = between(&[vec![1.0, 2.0, 3.0], vec![5.0, 6.0, 7.0]]).unwrap();
        assert!((found.get() - (23.0_f64 / 3.0).sqrt()).abs() < 1e-12, "{found:?}");
        assert_eq!(between(&[vec![1.0, 3.0], vec![1.0, 3.0]]), Some(Shift::ZERO));
        assert_eq!(between(&[vec![1.0], vec![2.0]]), None, "one run each has no spread within");
        assert_eq!(between(&[vec![1.0, 2.0]]), None);
    }
}
