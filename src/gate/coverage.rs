//! Whether enough was compared to answer at all: partial data is no pass.

use super::decision::{Check, Subject, Verdict};
use super::policy::{Action, Metric, Policy};
use super::value::Value;
use crate::compare::{Basis, Comparison};
use crate::units::Share;

/// Nine of ten equal kernels are 90% of the time, whatever the sum of their times rounds to.
const ROUNDING: f64 = 1e-9;

/// All kernels together by more than 50 times as long, or as short, are rather another unit.
const ANOTHER_UNIT: f64 = 50.0;

/// A check that fails where less of the baseline's time was compared than the policy asks for.
pub(super) fn judge(comparison: &Comparison, policy: &Policy, decides: bool) -> Vec<Check> {
    let mut checks = Vec::new();
    let found = comparison.coverage;
    // Where nothing matches at all, that is said by itself.
    let is_enough = found.compared.get() >= policy.coverage.get() - ROUNDING;
    if !is_enough && !comparison.changes.is_empty() {
        let percent = |share: Share| Value::from(share).shown();
        let what = match comparison.basis {
            Basis::Time => "has no duration on a side",
            Basis::Headroom => "has no certain roofline time on a side",
        };
        let mut why = Vec::new();
        if found.missing.get() > ROUNDING {
            let missing = percent(found.missing);
            why.push(format!("{missing} is in kernels that the current side does not have"));
        }
        if found.unmeasured.get() > ROUNDING {
            why.push(format!("{} {what}", percent(found.unmeasured)));
        }
        // A comparison has no such option, and reports the whole all the same.
        let option = if decides { "; --coverage sets what is needed" } else { "" };
        let message = format!(
            "only {} of the baseline's time can be compared, and {} is needed{}: {}{option}",
            percent(found.compared),
            percent(policy.coverage),
            if decides { "" } else { " for a gate" },
            why.join(", "),
        );
        checks.push(inconclusive("coverage", Verdict::NoData, message));
    }
    let shift = comparison.common.evidence.shift;
    if comparison.common.kernels > 1 && shift.abs().get() > ANOTHER_UNIT.ln() {
        let message = format!(
            "every kernel takes {}× as long as before: another unit?",
            crate::units::digits(shift.get().exp())
        );
        checks.push(inconclusive("unit", Verdict::Incomparable, message));
    }
    checks
}

/// Whether both sides have kernels in common, and nothing of them was measured on both.
pub(super) fn is_unmeasured(comparison: &Comparison) -> bool {
    comparison.basis == Basis::Time
        && !comparison.changes.is_empty()
        && comparison.changes.iter().all(|change| change.raw.is_none())
}

/// Takes back what was said of the whole run on too little of it: it got neither better nor stayed as it was.
pub(super) fn withdraw(checks: &mut [Check]) {
    if !checks.iter().any(|check| check.rule == "coverage") {
        return;
    }
    let is_good = |verdict| {
        let good = [
            Verdict::Improvement,
            Verdict::ImplausibleImprovement,
            Verdict::Unchanged,
            Verdict::WithinBounds,
        ];
        good.contains(&verdict)
    };
    let of_run = checks.iter_mut().filter(|check| check.subject == Subject::Run);
    for check in of_run.filter(|check| check.limit.is_some() && is_good(check.verdict)) {
        check.verdict = Verdict::Incomparable;
        check.action = Action::None;
        check.evidence.push("too little of the baseline's time was compared to say so".to_owned());
    }
}

/// A check where every bound of a policy asks for what was not measured.
pub(super) fn of_bounds(checks: &[Check]) -> Option<Check> {
    let mut bounds = checks.iter().filter(|check| check.rule.starts_with("bound:")).peekable();
    bounds.peek()?;
    let lacking = bounds.clone().filter(|check| check.verdict == Verdict::NoData).count();
    let all = bounds.count();
    (lacking == all).then(|| {
        let what = if all == 1 {
            "the only check of a bound lacks the data it asks for".to_owned()
        } else {
            format!("all {all} checks of bounds lack the data they ask for")
        };
        inconclusive("no-data", Verdict::NoData, what)
    })
}

/// A run that is no repeat of the others of its side.
pub(super) fn damaged(left_out: &[String], unclear: &[String], policy: &Policy) -> Vec<Check> {
    let left_out = left_out.iter().map(|message| Check {
        action: policy.incomparable,
        ..inconclusive("damaged-run", Verdict::Incomparable, message.clone())
    });
    let unclear = unclear
        .iter()
        .map(|message| inconclusive("damaged-run", Verdict::Incomparable, message.clone()));
    left_out.chain(unclear).collect()
}

pub(super) fn inconclusive(rule: &str, verdict: Verdict, message: String) -> Check {
    Check {
        verdict,
        action: Action::Inconclusive,
        ..Check::new(rule, Metric::Presence, Subject::Run, message)
    }
}
