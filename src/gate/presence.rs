//! Kernels that are new, vanished or missing, and those that only some of several runs have.

use std::collections::BTreeSet;

use super::decision::{Check, Subject, Verdict};
use super::policy::{Action, Metric, Policy};
use super::value::Value;
use crate::compare::{Change, Comparison, Lone};
use crate::units::{Seconds, digits};

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
        let time = Some(Value::from(measured.time_s));
        let small = measured.share < policy.listed_share;
        Check {
            verdict,
            action: if small { action.min(Action::Notice) } else { action },
            before: time.filter(|_| !is_new),
            after: time.filter(|_| is_new),
            share: Some(measured.share),
            delta_s: Some(if is_new { measured.time_s } else { Seconds::ZERO - measured.time_s }),
            ..Check::new(
                rule,
                Metric::Presence,
                Subject::kernel(&lone.name, measured),
                format!(
                    "only in {side}: {} in {} launches, {} of its run",
                    Value::from(measured.time_s).shown(),
                    digits(measured.launches),
                    Value::from(measured.share).shown()
                ),
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
        let small = share < policy.listed_share;
        let runs = count_runs(change.after.runs, after);
        Check {
            verdict: Verdict::Vanished,
            action: if small { policy.vanished.min(Action::Notice) } else { policy.vanished },
            before: Some(change.before.time_s.into()),
            share: Some(share),
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
