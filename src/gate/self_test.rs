//! Self-test: copies of runs with a known change, judged by the policy.

use super::bounds;
use super::decision::{Decision, Outcome, Verdict};
use super::idle::compares_nothing;
use super::judge::{Setting, judge};
use super::policy::{Action, Policy};
use crate::compare::Run;
use crate::model::Date;
use crate::units::{Factor, RelativeChange, Seconds, Share};

impl Run {
    /// Returns a copy in which the selected kernels take `factor` times as long, in cycles too;
    /// their roofline time is unchanged.
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
        run.label = format!("{} (self-test)", self.label);
        run.summed()
    }

    /// Returns a copy with only the kernels at the selected positions.
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

    /// Returns a copy with the kernels in another order: the same measurement.
    #[must_use]
    pub fn shuffled(&self) -> Self {
        let mut run = self.clone();
        // Any order but the one of the ranking: by the reversed name.
        run.kernels.sort_by_key(|kernel| kernel.full_name.chars().rev().collect::<String>());
        run
    }

    /// Recomputes totals and shares.
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

/// One injected change and the gate's outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Rehearsal {
    /// Description of the change.
    pub change: String,
    /// Required outcome.
    pub must: Must,
    /// Actual outcome.
    pub outcome: Outcome,
    /// Why.
    pub reason: String,
    /// True if the actual outcome meets the requirement.
    pub holds: bool,
    /// What stands in the way, if it is known.
    pub obstacle: Option<Obstacle>,
}

/// The outcome that a change must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Must {
    /// It passes.
    Pass,
    /// It fails.
    Fail,
    /// It fails, or there is no result.
    NotPass,
}

impl Must {
    /// Name used in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::NotPass => "not pass",
        }
    }
}

/// Why a policy judges a change wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// Nothing in the policy fails a gate.
    Disarmed,
    /// The runs themselves break the policy, without any change.
    Runs,
    /// A waiver accepts the slowdown.
    Waived,
    /// The slowdown exceeds a limit whose action does not fail the gate.
    Action,
    /// The slowdown is not certain.
    Noise,
    /// Limits and bounds allow the slowdown.
    Allowed,
}

impl Obstacle {
    fn of(decision: &Decision, must: Must, policy: &Policy, is_changed: bool) -> Option<Self> {
        let is = |verdict: Verdict| decision.checks.iter().any(|check| check.verdict == verdict);
        Some(match must {
            Must::NotPass => return None,
            Must::Pass | Must::Fail if is_disarmed(policy) => Self::Disarmed,
            Must::Pass if is_changed => return None,
            Must::Pass => Self::Runs,
            Must::Fail if decision.checks.iter().any(|check| check.waived.is_some()) => {
                Self::Waived
            }
            Must::Fail if is(Verdict::Regression) || is(Verdict::Violation) => Self::Action,
            Must::Fail if is(Verdict::Ambiguous) => Self::Noise,
            Must::Fail => Self::Allowed,
        })
    }
}

/// Whether no limit, bound or required kernel fails a gate.
fn is_disarmed(policy: &Policy) -> bool {
    let limits = &policy.limits;
    // A later limit on all kernels takes the place of one before it.
    let is_replaced = |at: usize| {
        let mut later = limits[at + 1..].iter();
        later.any(|one| one.metric == limits[at].metric && one.selector.is_everything())
    };
    let is_off = |at: usize| limits[at].action < Action::Inconclusive || is_replaced(at);
    (0..limits.len()).all(is_off)
        && policy.required.is_empty()
        && policy.bounds.iter().all(|bound| bound.action < Action::Inconclusive)
}

/// Tests a policy on copies of runs: the same measurement in another order and a faster one must pass, a slowdown of one
/// kernel and of all must fail, an empty one must never pass.
///
/// `slowdown` is relative: 0.2 takes 20% longer. `runs` are the runs of the baseline; as many copies are the current
/// side. What the policy only warns of counts as failed.
#[must_use]
pub fn self_test(
    runs: &[Run],
    policy: &Policy,
    slowdown: RelativeChange,
    today: Option<Date>,
) -> Vec<Rehearsal> {
    let whole = Policy { warn_only: false, ..policy.clone() };
    // What changed copies lack, the runs lack as well: it is judged without a change.
    let changed = Policy { incomparable: policy.incomparable.min(Action::Warn), ..whole.clone() };
    let setting = Setting { today, order: Vec::new(), decides: true };
    let every = |of: &dyn Fn(&Run) -> Run| runs.iter().map(of).collect::<Vec<Run>>();
    let longest = longest(runs);
    let percent = slowdown.get() * 100.0;
    let longer = Factor::new(1.0 + slowdown.get());
    let shorter = Factor::new(1.0 / longer.get());
    let mut rehearsals = Vec::new();
    let mut rehearse = |change: String, must: Must, policy: (&Policy, &str), current: Vec<Run>| {
        let (policy, unchecked) = policy;
        let decision = judge(runs, &current, policy, &setting);
        let outcome = decision.outcome;
        let holds = match must {
            Must::Pass => outcome == Outcome::Passed,
            Must::Fail => outcome == Outcome::Failed,
            Must::NotPass => outcome != Outcome::Passed,
        };
        let is_changed = !rehearsals.is_empty();
        let obstacle = if holds { None } else { Obstacle::of(&decision, must, policy, is_changed) };
        let reason = decision.reason + unchecked;
        rehearsals.push(Rehearsal { change, must, outcome, reason, holds, obstacle });
    };
    let same = every(&Run::shuffled);
    rehearse("no change, kernels in another order".to_owned(), Must::Pass, (&whole, ""), same);
    if let Some(name) = &longest {
        let is_it = |run: &Run, at: usize| run.kernels[at].written() == name;
        rehearse(
            format!("{percent:.0}% slower: the kernel with the most time"),
            Must::Fail,
            (&changed, ""),
            every(&|run| run.slowed(longer, |at| is_it(run, at))),
        );
        rehearse(
            format!("{percent:.0}% slower: every kernel"),
            Must::Fail,
            (&changed, ""),
            every(&|run| run.slowed(longer, |_| true)),
        );
        let fast = every(&|run| run.slowed(shorter, |_| true));
        let (reachable, unchecked) = without_unreachable(&changed, runs, &fast);
        let change = format!("every kernel faster by {percent:.0}%");
        rehearse(change, Must::Pass, (&reachable, &unchecked), fast);
    }
    let nothing = every(&|run| run.only(|_| false));
    rehearse("nothing was measured".to_owned(), Must::NotPass, (&changed, ""), nothing);
    rehearsals
}

/// Returns the policy without the bounds that faster copies break and the runs do not, and the words that name these:
/// a kernel near its roofline cannot become faster, so that the copy breaks a bound on what is physically possible.
/// A policy that compares nothing keeps its bounds, because nothing else of it would be tested.
fn without_unreachable(policy: &Policy, runs: &[Run], faster: &[Run]) -> (Policy, String) {
    if compares_nothing(policy) {
        return (policy.clone(), String::new());
    }
    let (mut reachable, mut left_out) = (policy.clone(), Vec::new());
    reachable.bounds.retain(|bound| {
        let alone = Policy { bounds: vec![bound.clone()], ..policy.clone() };
        let breaks = |runs: &[Run]| {
            let checks = bounds::judge(runs, &alone);
            checks.iter().any(|check| check.verdict == Verdict::Violation)
        };
        let is_reachable = breaks(runs) || !breaks(faster);
        if !is_reachable {
            left_out.push(format!("{:?}", bound.name));
        }
        is_reachable
    });
    let bounds = match left_out.len() {
        0 => return (reachable, String::new()),
        1 => "bound",
        _ => "bounds",
    };
    let left_out = left_out.join(", ");
    (reachable, format!("; not checked: {bounds} {left_out}, which only these copies break"))
}

/// Returns the name of the kernel with the most time.
fn longest(runs: &[Run]) -> Option<String> {
    let mut times: std::collections::BTreeMap<&str, Seconds> = std::collections::BTreeMap::new();
    for kernel in runs.iter().flat_map(|run| &run.kernels) {
        *times.entry(kernel.written()).or_default() += kernel.measured_s;
    }
    let longest = times.into_iter().max_by(|one, two| one.1.total_cmp(&two.1))?;
    Some(longest.0.to_owned())
}
