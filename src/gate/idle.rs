//! Limits that judge nothing: a pattern that matches no kernel, and a policy without an active limit.

use super::decision::{Check, Subject, Verdict};
use super::policy::{Action, CodePlace, Limit, Metric, Policy, Selector};
use crate::analysis::Called;
use crate::compare::Measured;

/// Reports limits whose selector matches no kernel of either side.
pub(super) fn limits(kernels: &[(String, Measured)], policy: &Policy) -> Vec<Check> {
    let called: Vec<Called<'_>> =
        kernels.iter().map(|(name, measured)| Called::new(name, &measured.full_name)).collect();
    let is_idle = |limit: &&Limit| {
        let mut kernels = called.iter().zip(kernels);
        !limit.selector.is_everything()
            && !kernels.any(|(called, (_, measured))| limit.selector.selects(called, measured))
    };
    let check = |limit: &Limit| {
        let key = limit.metric.key();
        let of = patterns(&limit.selector);
        Check {
            verdict: Verdict::NoData,
            action: policy.incomparable.min(Action::Warn),
            ..Check::new(
                &format!("limit:{key}"),
                limit.metric,
                Subject::Run,
                format!("the limit on {key} for {of} matches no kernel: check the pattern"),
            )
        }
    };
    policy.limits.iter().filter(is_idle).map(check).collect()
}

/// The patterns of a selector, in words.
fn patterns(selector: &Selector) -> String {
    let parts = [
        ("kernel", &selector.kernel),
        ("operator", &selector.operator),
        ("category", &selector.category),
    ];
    let parts = parts.into_iter().filter_map(|(what, pattern)| {
        pattern.as_ref().map(|pattern| format!("{what} {pattern:?}"))
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// Says which places in the code are of no kernel.
pub(super) fn code(kernels: &[(String, Measured)], policy: &Policy) -> Vec<String> {
    let is_idle = |place: &&CodePlace| {
        !kernels.iter().any(|(name, measured)| place.selector.fits(name, measured))
    };
    let idle = policy.code.iter().filter(is_idle);
    idle.map(|place| {
        let (file, of) = (&place.file, patterns(&place.selector));
        format!("[[gate.code]] of {file} for {of} matches no kernel: check the pattern")
    })
    .collect()
}

/// Returns `true` if nothing of the policy can act: nothing is compared, and there are no bounds and no required
/// kernels.
pub(super) fn is_idle(policy: &Policy) -> bool {
    policy.required.is_empty()
        && policy.bounds.iter().all(|bound| bound.action == Action::None)
        && compares_nothing(policy)
}

/// Returns `true` if nothing that a baseline shows can act: all limits are off, and kernels that come or go do not fail.
pub(super) fn compares_nothing(policy: &Policy) -> bool {
    let is_active = |metric: Metric| {
        let mut limits = policy.limits.iter().rev().filter(|limit| limit.metric == metric);
        // A later limit for every kernel switches off all before it.
        limits
            .find(|limit| limit.action > Action::None || limit.selector.is_everything())
            .is_some_and(|limit| limit.action > Action::None)
    };
    let of_names = [policy.new, policy.vanished];
    of_names.iter().all(|action| *action < Action::Fail) && !Metric::ALL.into_iter().any(is_active)
}
