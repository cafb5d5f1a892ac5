//! Kernels that are new, vanished or missing, and those that only some of several runs have.

use std::collections::BTreeSet;

use super::decision::{Check, Subject, Verdict};
use super::policy::{Action, Metric, Policy};
use super::value::Value;
use super::words;
use crate::compare::{Change, Comparison, Lone};
use crate::units::{Seconds, Share};

/// Whether what is in so few of several runs of a side counts as missing there: chance, as of a library that tries
/// kernels, does not take it from all to a quarter.
pub(super) const fn is_few(runs: usize, of: usize) -> bool {
    4 * runs <= of
}

/// Whether all runs of the baseline have a kernel, and most of the current side lack it: what few runs say of its time is
/// not judged.
pub(super) fn is_mostly_gone(comparison: &Comparison, change: &Change) -> bool {
    let (before, after) = (comparison.baseline.labels.len(), comparison.current.labels.len());
    is_few(change.after.runs, after) && change.before.runs == before
}

/// Whether a kernel has next to no time; of one without a duration nobody knows.
fn is_small(share: Option<Share>, policy: &Policy) -> bool {
    share.is_some_and(|share| share < policy.listed_share)
}

/// Reports kernels that only one side has; those with next to no time are counted together.
pub(super) fn lone(kernels: &[Lone], policy: &Policy, is_new: bool) -> Vec<Check> {
    let (rule, verdict, action) = if is_new {
        ("new", Verdict::New, policy.new)
    } else {
        ("vanished", Verdict::Vanished, policy.vanished)
    };
    let check = |lone: &Lone| {
        let measured = &lone.measured;
        let side = if is_new { "the current side" } else { "the baseline" };
        let (time, small) = (measured.time_s, is_small(measured.share, policy));
        let launches = words::of_launches(measured.launches);
        let what = match (time, measured.share) {
            (Some(time), Some(share)) => {
                let [time, share] = [Value::from(time), Value::from(share)].map(Value::shown);
                format!("{time} in {launches}, {share} of its run")
            }
            _ => format!("{launches} without a duration"),
        };
        Check {
            verdict,
            action: if small { action.min(Action::Notice) } else { action },
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

/// Reports kernels that all runs of the baseline have, and most of the current side lack.
pub(super) fn mostly_gone(comparison: &Comparison, policy: &Policy) -> Vec<Check> {
    let (before, after) = (comparison.baseline.labels.len(), comparison.current.labels.len());
    let is_gone = |change: &&Change| is_mostly_gone(comparison, change);
    let check = |change: &Change| {
        let share = change.before.share;
        let small = is_small(share, policy);
        let runs = count_runs(change.after.runs, after);
        Check {
            verdict: Verdict::Vanished,
            action: if small { policy.vanished.min(Action::Notice) } else { policy.vanished },
            before: change.before.time_s.map(Value::from),
            share,
            ..Check::new(
                "vanished",
                Metric::Presence,
                Subject::kernel(&change.name, &change.after),
                format!(
                    "in {runs} of the current side, and in {} of the baseline",
                    count_runs(change.before.runs, before)
                ),
            )
        }
    };
    comparison.changes.iter().filter(is_gone).map(check).collect()
}

fn count_runs(runs: usize, of: usize) -> String {
    let plural = if of == 1 { "run" } else { "runs" };
    format!("{runs} of {of} {plural}")
}

/// Reports required patterns that no kernel of the current side matches.
pub(super) fn required(comparison: &Comparison, policy: &Policy) -> Vec<Check> {
    let there = |pattern: &str| {
        let changes = comparison.changes.iter().map(|change| (&change.name, &change.after));
        let new = comparison.new.iter().map(|lone| (&lone.name, &lone.measured));
        let matched = changes.chain(new).filter(|(name, one)| named(pattern, name, &one.full_name));
        let runs: BTreeSet<usize> =
            matched.flat_map(|(_, one)| one.in_runs.iter().copied()).collect();
        !is_few(runs.len(), comparison.current.labels.len())
    };
    missing(policy, there)
}

/// Makes a check for each required kernel that is missing.
pub(super) fn missing(policy: &Policy, there: impl Fn(&str) -> bool) -> Vec<Check> {
    let missing = policy.required.iter().filter(|pattern| !there(pattern));
    missing
        .map(|pattern| Check {
            verdict: Verdict::NoData,
            action: Action::Fail,
            required: Some(pattern.clone()),
            ..Check::new(
                "required-kernel",
                Metric::Presence,
                Subject::Run,
                format!("the policy requires kernel {pattern:?}, but the current side has none, or only few of its runs"),
            )
        })
        .collect()
}

/// Returns `true` if a kernel's name matches this pattern.
pub(super) fn named(pattern: &str, name: &str, full: &str) -> bool {
    crate::analysis::is_called(pattern, name, full)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Measured;

    /// Below a thousandth of the run a kernel is small; one without a duration may be any.
    #[test]
    fn a_kernel_of_unknown_time_is_not_small() {
        let found = |share: Option<f64>| {
            let measured = Measured {
                launches: 3.0,
                share: share.map(Share::new),
                time_s: share.map(|_| Seconds::new(1.1e-5)),
                ..Measured::default()
            };
            let policy = Policy { vanished: Action::Fail, ..Policy::default() };
            let lone = Lone { kernel: 0, name: "a".to_owned(), measured };
            lone_check(&lone, &policy)
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

    fn lone_check(kernel: &Lone, policy: &Policy) -> Check {
        lone(std::slice::from_ref(kernel), policy, false).remove(0)
    }
}
