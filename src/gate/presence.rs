//! Kernels that are new, vanished or missing, and those that only some of several runs have.

use std::collections::BTreeSet;

use super::decision::{Check, Subject, Verdict};
use super::policy::{Action, Metric, Policy};
use super::value::Value;
use super::words;
use crate::analysis::is_called;
use crate::compare::{Change, Comparison, Lone, Measured, most_lack};
use crate::units::{Seconds, Share};

/// Kernels that a note names; it counts the others.
const NAMED: usize = 3;

/// What most runs of each side say of a kernel that some runs of both have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    /// No majority of a side lacks it.
    OfBoth,
    /// Most runs of the baseline lack it.
    New,
    /// Most runs of the current side lack it.
    Vanished,
    /// Most runs of both sides lack it.
    Rare,
}

impl Presence {
    fn of(comparison: &Comparison, change: &Change) -> Self {
        let before = most_lack(change.before.runs, comparison.baseline.labels.len());
        let after = most_lack(change.after.runs, comparison.current.labels.len());
        match (before, after) {
            (false, false) => Self::OfBoth,
            (true, false) => Self::New,
            (false, true) => Self::Vanished,
            (true, true) => Self::Rare,
        }
    }
}

/// Whether no side has a kernel in fewer than half of its runs: what few runs say of its time is not judged.
pub(super) fn is_judged(comparison: &Comparison, change: &Change) -> bool {
    Presence::of(comparison, change) == Presence::OfBoth
}

/// Whether a kernel has next to no time; of one without a duration nobody knows.
fn is_small(share: Option<Share>, policy: &Policy) -> bool {
    share.is_some_and(|share| share < policy.listed_share)
}

/// Reports kernels that only one side has; those with next to no time are counted together, and what most runs of the side
/// lack, as the other side does, is a notice.
pub(super) fn lone(comparison: &Comparison, policy: &Policy, is_new: bool) -> Vec<Check> {
    let (rule, verdict, action) = if is_new {
        ("new", Verdict::New, policy.new)
    } else {
        ("vanished", Verdict::Vanished, policy.vanished)
    };
    let (kernels, side) = if is_new {
        (&comparison.new, &comparison.current)
    } else {
        (&comparison.vanished, &comparison.baseline)
    };
    let of = side.labels.len();
    let check = |lone: &Lone| {
        let measured = &lone.measured;
        let (time, small) = (measured.time_s, is_small(measured.share, policy));
        let launches = words::of_launches(measured.launches);
        let what = match (time, measured.share) {
            (Some(time), Some(share)) => {
                let [time, share] = [Value::from(time), Value::from(share)].map(Value::shown);
                format!("{time} in {launches}, {share} of its run")
            }
            _ => format!("{launches} without a duration"),
        };
        let side = match (is_new, measured.runs < of) {
            (true, false) => "the current side".to_owned(),
            (false, false) => "the baseline".to_owned(),
            (true, true) => count_runs(measured, of, "current"),
            (false, true) => count_runs(measured, of, "baseline"),
        };
        let is_minor = small || most_lack(measured.runs, of);
        Check {
            verdict,
            action: if is_minor { action.min(Action::Notice) } else { action },
            before: time.filter(|_| !is_new).map(Value::from),
            after: time.filter(|_| is_new).map(Value::from),
            share: measured.share,
            delta_s: time.map(|time| if is_new { time } else { Seconds::ZERO - time }),
            ..Check::new(
                rule,
                Metric::Presence,
                Subject::kernel(&lone.name, measured),
                format!("only in {side}: {what}"),
            )
        }
    };
    kernels.iter().map(check).collect()
}

/// Reports kernels that some runs of both sides have, and most runs of one side or of both lack.
pub(super) fn in_few_runs(comparison: &Comparison, policy: &Policy) -> Vec<Check> {
    let check = |change: &Change| {
        let (rule, verdict, action, share) = match Presence::of(comparison, change) {
            Presence::OfBoth => return None,
            Presence::New => ("new", Verdict::New, policy.new, change.after.share),
            Presence::Vanished => {
                ("vanished", Verdict::Vanished, policy.vanished, change.before.share)
            }
            Presence::Rare => {
                ("few-runs", Verdict::Incomparable, policy.incomparable, change.share())
            }
        };
        let is_new = verdict == Verdict::New;
        let is_gone = verdict == Verdict::Vanished;
        let why = if is_new || is_gone { "" } else { ": too few to be compared" };
        Some(Check {
            verdict,
            action: if is_small(share, policy) { action.min(Action::Notice) } else { action },
            before: change.before.time_s.filter(|_| is_gone).map(Value::from),
            after: change.after.time_s.filter(|_| is_new).map(Value::from),
            share,
            ..Check::new(
                rule,
                Metric::Presence,
                Subject::kernel(&change.name, &change.after),
                format!("{}{why}", in_runs(comparison, change)),
            )
        })
    };
    comparison.changes.iter().filter_map(check).collect()
}

/// A note of kernels that are judged by the runs that have them, because few runs lack them. Those with next to no time are
/// not worth one.
pub(super) fn not_in_all(comparison: &Comparison, policy: &Policy) -> Option<String> {
    let (before, after) = (comparison.baseline.labels.len(), comparison.current.labels.len());
    let is_partial = |change: &&Change| change.before.runs < before || change.after.runs < after;
    let partial = comparison.changes.iter().filter(|change| is_judged(comparison, change));
    let partial: Vec<&Change> =
        partial.filter(is_partial).filter(|change| !is_small(change.share(), policy)).collect();
    let named = partial.iter().take(NAMED);
    let mut told: Vec<String> =
        named.map(|change| format!("{} {}", change.name, in_runs(comparison, change))).collect();
    if let more @ 1.. = partial.len().saturating_sub(NAMED) {
        told.push(format!("{more} more"));
    }
    (!told.is_empty()).then(|| {
        format!("not in every run, and judged by the runs that have it: {}", told.join("; "))
    })
}

/// In how many runs of each side a kernel occurs.
fn in_runs(comparison: &Comparison, change: &Change) -> String {
    format!(
        "in {}, in {}",
        count_runs(&change.after, comparison.current.labels.len(), "current"),
        count_runs(&change.before, comparison.baseline.labels.len(), "baseline")
    )
}

fn count_runs(measured: &Measured, of: usize, side: &str) -> String {
    let plural = if of == 1 { "run" } else { "runs" };
    format!("{} of {of} {side} {plural}", measured.runs)
}

/// Makes a check for each required pattern that most runs of the current side have no kernel of.
pub(super) fn required(there: &[Lone], of: usize, policy: &Policy) -> Vec<Check> {
    let missing = |pattern: &String| {
        let is_it = |lone: &&Lone| is_called(pattern, &lone.name, &lone.measured.full_name);
        let runs: BTreeSet<usize> =
            there.iter().filter(is_it).flat_map(|lone| lone.measured.in_runs.clone()).collect();
        let runs = runs.len();
        if runs > 0 && !most_lack(runs, of) {
            return None;
        }
        let who = match (runs, of) {
            (0, 1) => "the current run has none".to_owned(),
            (0, _) => format!("none of the {of} current runs has one"),
            (1, _) => format!("only 1 of {of} current runs has one"),
            _ => format!("only {runs} of {of} current runs have one"),
        };
        Some(Check {
            verdict: Verdict::NoData,
            action: Action::Fail,
            required: Some(pattern.clone()),
            ..Check::new(
                "required-kernel",
                Metric::Presence,
                Subject::Run,
                format!("the policy requires kernel {pattern:?}, but {who}"),
            )
        })
    };
    policy.required.iter().filter_map(missing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{
        self, Run,
        made::{kernel, run},
    };

    /// Runs of one kernel of 1 ms, of which the first so many have another one, too.
    fn side(runs: usize, with: usize) -> Vec<Run> {
        let of = |at: usize| {
            let other = (at < with).then(|| kernel("other", &[1e-3]));
            run([kernel("softmax", &[1e-3])].into_iter().chain(other).collect())
        };
        (0..runs).map(of).collect()
    }

    fn compared(before: &[Run], after: &[Run]) -> Comparison {
        compare::compare(before, after, &compare::Setting::default())
    }

    /// Below a thousandth of the run a kernel is small; one without a duration may be any.
    #[test]
    fn a_kernel_of_unknown_time_is_not_small() {
        let mut comparison = compared(&side(1, 1), &side(1, 0));
        let mut found = |share: Option<f64>| {
            let measured = &mut comparison.vanished[0].measured;
            measured.launches = 3.0;
            measured.share = share.map(Share::new);
            measured.time_s = share.map(|_| Seconds::new(1.1e-5));
            let policy = Policy { vanished: Action::Fail, ..Policy::default() };
            lone(&comparison, &policy, false).remove(0)
        };
        let small = found(Some(9e-4));
        assert_eq!((small.action, small.share), (Action::Notice, Some(Share::new(9e-4))));
        let large = found(Some(1.1e-3));
        assert_eq!(large.message, "only in the baseline: 11.0 µs in 3 launches, 0.1% of its run");
        assert_eq!((large.action, large.delta_s), (Action::Fail, Some(Seconds::new(-1.1e-5))));
        let unknown = found(None);
        assert_eq!(unknown.message, "only in the baseline: 3 launches without a duration");
        assert_eq!((unknown.action, unknown.share), (Action::Fail, None));
        assert_eq!((unknown.before, unknown.delta_s), (None, None));
    }

    /// Of two runs one is half; of three, two are most. The kernel has half of the time of the runs that have it.
    #[test]
    fn what_most_runs_of_a_side_say_decides() {
        let policy = Policy { new: Action::Fail, vanished: Action::Fail, ..Policy::default() };
        let found = |before: (usize, usize), after: (usize, usize)| {
            let comparison = compared(&side(before.0, before.1), &side(after.0, after.1));
            let mut checks = lone(&comparison, &policy, true);
            checks.extend(lone(&comparison, &policy, false));
            checks.extend(in_few_runs(&comparison, &policy));
            let checks: Vec<_> = checks
                .into_iter()
                .map(|check| (check.verdict, check.action, check.message))
                .collect();
            (checks, not_in_all(&comparison, &policy))
        };
        let only = |verdict, action, message: &str| {
            (vec![(verdict, action, message.to_owned())], None::<String>)
        };
        let (new, gone) = (Verdict::New, Verdict::Vanished);
        let text = "in 1 of 3 current runs, in 3 of 3 baseline runs";
        assert_eq!(found((3, 3), (3, 1)), only(gone, Action::Fail, text));
        let text = "in 3 of 3 current runs, in 1 of 3 baseline runs";
        assert_eq!(found((3, 1), (3, 3)), only(new, Action::Fail, text));
        let text = "in 1 of 3 current runs, in 1 of 3 baseline runs: too few to be compared";
        assert_eq!(found((3, 1), (3, 1)), only(Verdict::Incomparable, Action::Warn, text));
        // What one side lacks altogether, most runs of the other may lack, too.
        let text = "only in 1 of 3 current runs: 1.00 ms in 1 launch, 50.0% of its run";
        assert_eq!(found((3, 0), (3, 1)), only(new, Action::Notice, text));
        let text = "only in 2 of 3 baseline runs: 1.00 ms in 1 launch, 50.0% of its run";
        assert_eq!(found((3, 2), (3, 0)), only(gone, Action::Fail, text));
        // A minority that lacks it is a note, and so is half.
        for (after, told) in [((3, 2), "2 of 3"), ((2, 1), "1 of 2")] {
            let note = format!(
                "not in every run, and judged by the runs that have it: other in {told} current \
                 runs, in 3 of 3 baseline runs"
            );
            assert_eq!(found((3, 3), after), (Vec::new(), Some(note)));
        }
        assert_eq!(found((3, 3), (3, 3)), (Vec::new(), None));
    }

    #[test]
    fn a_required_kernel_must_be_in_half_of_the_runs() {
        let required = ["oth*", "soft*"].map(str::to_owned).to_vec();
        let policy = Policy { required, ..Policy::default() };
        let found = |runs: usize, with: usize| {
            let checks = required_in(&side(runs, with), &policy);
            checks.into_iter().map(|check| check.message).collect::<Vec<_>>()
        };
        let but = |text: &str| vec![format!("the policy requires kernel \"oth*\", but {text}")];
        assert_eq!(found(1, 0), but("the current run has none"));
        assert_eq!(found(3, 0), but("none of the 3 current runs has one"));
        assert_eq!(found(3, 1), but("only 1 of 3 current runs has one"));
        assert_eq!(found(5, 2), but("only 2 of 5 current runs have one"));
        assert!(found(3, 2).is_empty() && found(2, 1).is_empty() && found(1, 1).is_empty());
    }

    fn required_in(runs: &[Run], policy: &Policy) -> Vec<Check> {
        required(&compare::kernels(runs), runs.len(), policy)
    }
}
