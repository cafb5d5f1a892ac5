//! Copies of runs with a known change in them: what a gate must notice, and what it must not.

use super::decision::{Outcome, Verdict};
use super::judge::{Setting, judge};
use super::policy::{Action, Metric, Policy};
use super::thresholds::COUNTING_SHARE;
use crate::compare::{Change, Noise, Run, RunKernel};
use crate::model::Date;
use crate::units::{Factor, RelativeChange, Seconds, Share, Shift};

/// Part of the kernels that a proposed floor holds: an alarm for one in a hundred.
const HELD: f64 = 0.99;

/// How far a proposed floor lies above the largest shift seen: as much again as half of it, since few runs
/// have not shown the worst.
const HEADROOM: f64 = 1.5;

/// Proposed floors are whole thousandths: more digits than few runs can tell.
const STEPS: f64 = 1000.0;

/// No floor is below one percent: two runs of the same code differ by that on any day.
const LEAST_FLOOR: RelativeChange = RelativeChange::new(0.01);

impl Run {
    /// A copy in which the kernels at these positions take `factor` times as long, cycles too; what the
    /// roofline expects of them stays.
    #[must_use]
    pub fn slowed(&self, factor: Factor, slowed: impl Fn(usize) -> bool) -> Self {
        let mut run = self.clone();
        let factor = factor.get();
        let scaled = |time: Seconds| time * factor;
        for (_, kernel) in run.kernels.iter_mut().enumerate().filter(|(at, _)| slowed(*at)) {
            kernel.measured_s = scaled(kernel.measured_s);
            kernel.judged_s = scaled(kernel.judged_s);
            kernel.samples_s.iter_mut().for_each(|time| *time = scaled(*time));
            kernel.samples_cycles.iter_mut().for_each(|cycles| *cycles *= factor);
        }
        run.label = format!("{} (rehearsed)", self.label);
        run.summed()
    }

    /// A copy with only the kernels at these positions.
    #[must_use]
    pub fn only(&self, kept: impl Fn(usize) -> bool) -> Self {
        let mut run = self.clone();
        let mut at = 0;
        run.kernels.retain(|_| {
            at += 1;
            kept(at - 1)
        });
        run.summed()
    }

    /// A copy whose kernels stand in another order: the same measurement.
    #[must_use]
    pub fn shuffled(&self) -> Self {
        let mut run = self.clone();
        // Any order but the one of the ranking: by the reversed name.
        run.kernels.sort_by_key(|kernel| kernel.full_name.chars().rev().collect::<String>());
        run
    }

    /// The same with totals and shares added up again.
    fn summed(mut self) -> Self {
        self.measured_s = self.kernels.iter().map(|kernel| kernel.measured_s).sum();
        self.launches = self.kernels.iter().map(|kernel| kernel.launches).sum();
        self.timed_launches = self.kernels.iter().map(|kernel| kernel.timed).sum();
        let total = self.measured_s;
        for kernel in &mut self.kernels {
            let is_timed = total > Seconds::ZERO;
            kernel.share =
                if is_timed { Share::new(kernel.measured_s / total) } else { Share::ZERO };
        }
        self.fingerprint = String::new();
        self
    }
}

/// One rehearsed change and what the gate made of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rehearsal {
    /// What was changed, in words.
    pub change: String,
    /// What the gate must do: the word of an outcome, or what must not be.
    pub must: &'static str,
    /// What it did.
    pub outcome: Outcome,
    /// Why.
    pub reason: String,
    /// Whether it is as it must be.
    pub holds: bool,
}

/// Rehearses changes on copies of runs under a policy: a slowdown of one kernel and of all must fail, the
/// same measurement in another order and a faster one must pass, an empty one must never pass.
///
/// `slowdown` is relative: 0.2 takes 20% longer. `runs` are the runs of the baseline; as many are
/// rehearsed as the current side.
#[must_use]
pub fn self_test(
    runs: &[Run],
    policy: &Policy,
    slowdown: RelativeChange,
    today: Option<Date>,
) -> Vec<Rehearsal> {
    // The bounds of a policy say what the run is, whatever is done to copies of it.
    let policy = Policy {
        bounds: Vec::new(),
        required: Vec::new(),
        warn_only: false,
        // The copies are measured alike.
        incomparable: policy.incomparable.min(Action::Warn),
        ..policy.clone()
    };
    let setting = Setting { today, order: Vec::new(), decides: true };
    let judged = |current: &[Run]| {
        let decision = judge(runs, current, &policy, &setting);
        (decision.outcome, decision.reason)
    };
    let every = |of: &dyn Fn(&Run) -> Run| runs.iter().map(of).collect::<Vec<Run>>();
    let longest = longest(runs);
    let percent = slowdown.get() * 100.0;
    let longer = Factor::new(1.0 + slowdown.get());
    let shorter = Factor::new(1.0 / longer.get());
    let mut rehearsals = Vec::new();
    let mut rehearse = |change: String, must: Must, current: Vec<Run>| {
        let (outcome, reason) = judged(&current);
        let holds = match must {
            Must::Pass => outcome == Outcome::Passed,
            Must::Fail => outcome == Outcome::Failed,
            Must::NotPass => outcome != Outcome::Passed,
        };
        rehearsals.push(Rehearsal { change, must: must.label(), outcome, reason, holds });
    };
    rehearse(
        "none: the same measurement, kernels in another order".to_owned(),
        Must::Pass,
        every(&Run::shuffled),
    );
    if let Some(name) = &longest {
        let is_it = |run: &Run, at: usize| called(&run.kernels[at]) == name;
        rehearse(
            format!("{percent:.0}% in the kernel with most time"),
            Must::Fail,
            every(&|run| run.slowed(longer, |at| is_it(run, at))),
        );
        rehearse(
            format!("{percent:.0}% in every kernel"),
            Must::Fail,
            every(&|run| run.slowed(longer, |_| true)),
        );
        rehearse(
            format!("every kernel faster by {percent:.0}%"),
            Must::Pass,
            every(&|run| run.slowed(shorter, |_| true)),
        );
    }
    rehearse("nothing was measured".to_owned(), Must::NotPass, every(&|run| run.only(|_| false)));
    rehearsals
}

#[derive(Debug, Clone, Copy)]
enum Must {
    Pass,
    Fail,
    NotPass,
}

impl Must {
    const fn label(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::NotPass => "not pass",
        }
    }
}

/// The name of a kernel as the export writes it, or the short one.
fn called(kernel: &RunKernel) -> &str {
    if kernel.full_name.is_empty() { &kernel.name } else { &kernel.full_name }
}

/// The name that most of the time of the runs goes by.
fn longest(runs: &[Run]) -> Option<String> {
    let mut times: std::collections::BTreeMap<&str, Seconds> = std::collections::BTreeMap::new();
    for kernel in runs.iter().flat_map(|run| &run.kernels) {
        *times.entry(called(kernel)).or_default() += kernel.measured_s;
    }
    let longest = times.into_iter().max_by(|one, two| one.1.total_cmp(&two.1))?;
    Some(longest.0.to_owned())
}

/// Shifts between runs of the same code that were seen, and in how many comparisons.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// What all but one in a hundred stay below; none where nothing was compared.
    pub held: Option<RelativeChange>,
    /// Comparisons.
    pub compared: usize,
}

/// How often a policy fails for runs of the same code.
#[derive(Debug, Clone, PartialEq)]
pub struct Alarms {
    /// Share of pairs that fail, in both directions.
    pub rate: Share,
    /// Kernels that failed, with the number of pairs, most often first.
    pub noisy: Vec<(String, usize)>,
}

/// What repeated runs of the same code tell of the noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Runs given.
    pub runs: usize,
    /// Pairs of runs compared.
    pub pairs: usize,
    /// Largest common shift between two runs.
    pub common_largest: RelativeChange,
    /// Its typical size.
    pub common_typical: RelativeChange,
    /// Shifts of kernels with 0.5% of the time, with enough launches.
    pub kernel: Seen,
    /// The same for kernels with few launches.
    pub few_launches: Seen,
    /// Floors that these runs suggest.
    pub proposed: Noise,
    /// Under the policy as it is.
    pub alarms: Alarms,
    /// With the proposed floors.
    pub alarms_proposed: Alarms,
}

/// Compares repeated runs of the same code pair by pair, one run a side, and proposes the noise floors of
/// a policy: what all but one in a hundred kernels stay below, and half as much again as the largest
/// common shift.
#[must_use]
pub fn calibrate(runs: &[Run], policy: &Policy) -> Calibration {
    let mut common: Vec<Shift> = Vec::new();
    let (mut kernel, mut few): (Vec<Shift>, Vec<Shift>) = (Vec::new(), Vec::new());
    let setting = crate::compare::Setting { noise: policy.noise, order: Vec::new() };
    let mut pairs = Vec::new();
    for (at, one) in runs.iter().enumerate() {
        pairs.extend(runs[at + 1..].iter().map(|two| (one, two)));
    }
    for (one, two) in &pairs {
        let (one, two) = (std::slice::from_ref(*one), std::slice::from_ref(*two));
        let comparison = crate::compare::compare(one, two, &setting);
        let is_removed = comparison.common.removed;
        let whole = if is_removed { &comparison.common.evidence } else { &comparison.total };
        common.push(whole.shift.abs());
        let counts =
            |change: &&Change| change.before.share.max(change.after.share) >= COUNTING_SHARE;
        let changes = comparison.changes.iter().filter(counts);
        for own in changes.filter_map(|change| change.own.as_ref()) {
            let enough = own.before.min(own.after) >= Noise::ENOUGH;
            if enough { &mut kernel } else { &mut few }.push(own.shift.abs());
        }
    }
    let (kernel, few_launches) = (seen(kernel), seen(few));
    common.sort_unstable_by(Shift::total_cmp);
    let largest = common.last().copied().unwrap_or_default().change();
    let typical = common.get(common.len() / 2).copied().unwrap_or_default().change();
    let proposed = Noise {
        kernel: kernel.held.map_or(policy.noise.kernel, proposed),
        few_launches: few_launches.held.map_or(policy.noise.few_launches, proposed),
        common: proposed(largest),
        ..policy.noise
    };
    Calibration {
        runs: runs.len(),
        pairs: pairs.len(),
        common_largest: largest,
        common_typical: typical,
        kernel,
        few_launches,
        proposed,
        alarms: alarms(&pairs, policy),
        alarms_proposed: alarms(&pairs, &Policy { noise: proposed, ..policy.clone() }),
    }
}

fn seen(mut shifts: Vec<Shift>) -> Seen {
    shifts.sort_unstable_by(Shift::total_cmp);
    let last = shifts.len().saturating_sub(1);
    let held = shifts.get((HELD * last as f64).ceil() as usize);
    Seen { held: held.map(|shift| shift.change()), compared: shifts.len() }
}

/// The floor that a shift suggests.
fn proposed(largest: RelativeChange) -> RelativeChange {
    let steps = (largest.get() * HEADROOM * STEPS).ceil();
    RelativeChange::new(steps / STEPS).max(LEAST_FLOOR)
}

/// How often a policy fails pairs of runs for a change, in both directions, and the kernels it blames.
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
                (_, Metric::CommonShift) => "(what all kernels share)".to_owned(),
                _ => "(the whole run)".to_owned(),
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
        assert!((found.held.unwrap().get() - 0.099).abs() < 1e-12 && found.compared == 101);
        assert_eq!(proposed(RelativeChange::new(0.0985)), RelativeChange::new(0.148));
        assert_eq!(proposed(RelativeChange::new(0.001)), LEAST_FLOOR);
        assert_eq!(seen(Vec::new()), Seen { held: None, compared: 0 });
    }
}
