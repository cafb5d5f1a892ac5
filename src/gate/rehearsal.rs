//! Copies of runs with a known change in them: what a gate must notice, and what it must not.

use super::decision::{Outcome, Verdict};
use super::judge::{Setting, judge};
use super::policy::{Action, Metric, Policy};
use crate::compare::{Run, RunKernel};
use crate::model::Date;

impl Run {
    /// A copy in which the kernels at these positions take `factor` times as long, cycles too; what the
    /// roofline expects of them stays.
    #[must_use]
    pub fn slowed(&self, factor: f64, slowed: impl Fn(usize) -> bool) -> Self {
        let mut run = self.clone();
        for (_, kernel) in run.kernels.iter_mut().enumerate().filter(|(at, _)| slowed(*at)) {
            kernel.measured_s *= factor;
            kernel.modelled_s *= factor;
            kernel.samples_s.iter_mut().for_each(|time| *time *= factor);
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
        let share = |kernel: &RunKernel| if total > 0.0 { kernel.measured_s / total } else { 0.0 };
        for kernel in &mut self.kernels {
            kernel.share = share(kernel);
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
    pub expected: &'static str,
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
/// `slowdown` is relative: 0.2 takes 20 % longer. `runs` are the runs of the baseline; as many are
/// rehearsed as the current side.
#[must_use]
pub fn self_test(
    runs: &[Run],
    policy: &Policy,
    slowdown: f64,
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
    let percent = slowdown * 100.0;
    let mut rehearsals = Vec::new();
    let mut rehearse = |change: String, must: Must, current: Vec<Run>| {
        let (outcome, reason) = judged(&current);
        let holds = match must {
            Must::Pass => outcome == Outcome::Passed,
            Must::Fail => outcome == Outcome::Failed,
            Must::NotPass => outcome != Outcome::Passed,
        };
        rehearsals.push(Rehearsal { change, expected: must.label(), outcome, reason, holds });
    };
    rehearse(
        "none: the same measurement, kernels in another order".to_owned(),
        Must::Pass,
        every(&Run::shuffled),
    );
    if let Some(name) = &longest {
        let is_it = |run: &Run, at: usize| called(&run.kernels[at]) == name;
        rehearse(
            format!("{percent:.0} % in the kernel with most time"),
            Must::Fail,
            every(&|run| run.slowed(1.0 + slowdown, |at| is_it(run, at))),
        );
        rehearse(
            format!("{percent:.0} % in every kernel"),
            Must::Fail,
            every(&|run| run.slowed(1.0 + slowdown, |_| true)),
        );
        rehearse(
            format!("every kernel faster by {percent:.0} %"),
            Must::Pass,
            every(&|run| run.slowed(1.0 / (1.0 + slowdown), |_| true)),
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
    let mut times: std::collections::BTreeMap<&str, f64> = std::collections::BTreeMap::new();
    for kernel in runs.iter().flat_map(|run| &run.kernels) {
        *times.entry(called(kernel)).or_default() += kernel.measured_s;
    }
    let longest = times.into_iter().max_by(|one, two| one.1.total_cmp(&two.1))?;
    Some(longest.0.to_owned())
}

/// What repeated runs of the same code tell of the noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Runs given.
    pub runs: usize,
    /// Pairs of runs compared.
    pub pairs: usize,
    /// Largest common shift between two runs, and its typical size; relative.
    pub common: (f64, f64),
    /// The shift that 99 % of kernels with 0.5 % of the time stay below, with enough launches; relative.
    pub kernel: Option<f64>,
    /// The same for kernels with few launches.
    pub few_launches: Option<f64>,
    /// Kernels with enough launches and with few, over all pairs.
    pub compared: (usize, usize),
    /// Floors that these runs suggest.
    pub proposed: crate::compare::Noise,
    /// Share of pairs that fail under the policy as it is, and kernels that did, most often first.
    pub alarms: f64,
    /// The same with the proposed floors.
    pub alarms_proposed: f64,
    /// Kernels that failed under the policy as it is, with the number of pairs.
    pub noisy: Vec<(String, usize)>,
}

/// Compares repeated runs of the same code pair by pair, one run a side, and proposes the noise floors of
/// a policy: what all but one in a hundred kernels stay below, and half as much again as the largest
/// common shift.
#[must_use]
pub fn calibrate(runs: &[Run], policy: &Policy) -> Calibration {
    let mut common: Vec<f64> = Vec::new();
    let (mut kernel, mut few): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let setting = crate::compare::Setting { noise: policy.noise, order: Vec::new() };
    let mut pairs = Vec::new();
    for (at, one) in runs.iter().enumerate() {
        pairs.extend(runs[at + 1..].iter().map(|two| (one, two)));
    }
    for (one, two) in &pairs {
        let (one, two) = (std::slice::from_ref(*one), std::slice::from_ref(*two));
        let comparison = crate::compare::compare(one, two, &setting);
        let shift = if comparison.common.removed {
            comparison.common.evidence.shift
        } else {
            comparison.total.shift
        };
        common.push(shift.abs());
        for change in &comparison.changes {
            let Some(own) = &change.own else { continue };
            if change.before.share.max(change.after.share) < 0.005 {
                continue;
            }
            let enough = own.before.min(own.after) >= crate::compare::Noise::ENOUGH;
            if enough { &mut kernel } else { &mut few }.push(own.shift.abs());
        }
    }
    let quantile = |values: &mut Vec<f64>| {
        values.sort_unstable_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        values.get((0.99 * last as f64).ceil() as usize).copied().map(f64::exp_m1)
    };
    let compared = (kernel.len(), few.len());
    let (kernel, few) = (quantile(&mut kernel), quantile(&mut few));
    common.sort_unstable_by(f64::total_cmp);
    let largest = common.last().copied().unwrap_or(0.0).exp_m1();
    let typical = common.get(common.len() / 2).copied().unwrap_or(0.0).exp_m1();
    // Two digits are all that so few runs can tell, and no floor is below one percent.
    let round = |value: f64| ((value * 1.5 * 1000.0).ceil() / 1000.0).max(0.01);
    let proposed = crate::compare::Noise {
        kernel: kernel.map_or(policy.noise.kernel, round),
        few_launches: few.map_or(policy.noise.few_launches, round),
        common: round(largest),
        ..policy.noise
    };
    let (alarms, noisy) = alarms(&pairs, policy);
    let with = Policy { noise: proposed, ..policy.clone() };
    let (alarms_proposed, _) = self::alarms(&pairs, &with);
    Calibration {
        runs: runs.len(),
        pairs: pairs.len(),
        common: (largest, typical),
        kernel,
        few_launches: few,
        compared,
        proposed,
        alarms,
        alarms_proposed,
        noisy,
    }
}

/// Share of pairs, in both directions, that a policy fails for a change, and the kernels it blames.
fn alarms(pairs: &[(&Run, &Run)], policy: &Policy) -> (f64, Vec<(String, usize)>) {
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
    let mut blamed: Vec<(String, usize)> = blamed.into_iter().collect();
    blamed.sort_by(|one, two| two.1.cmp(&one.1).then_with(|| one.0.cmp(&two.0)));
    let all = 2 * pairs.len();
    (if all == 0 { 0.0 } else { failed as f64 / all as f64 }, blamed)
}
