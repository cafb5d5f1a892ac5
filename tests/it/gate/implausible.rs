//! What is too fast to believe is judged by what it saved, as measured.

use rooflint::compare::Run;
use rooflint::gate::{Action, Check, Decision, Limit, Metric, Outcome, Policy, Setting, Verdict};
use rooflint::gate::{Subject, Value, judge};
use rooflint::units::{RelativeChange, Seconds};

use super::made::steady;

/// The gate on kernels of 100.2 µs to 1.2 ms a launch, and what is made of them.
fn found(policy: &Policy, after: &Run) -> Decision {
    let setting = Setting { decides: true, ..Setting::default() };
    judge(&[steady("a", 12, |_| 1.0)], std::slice::from_ref(after), policy, &setting)
}

fn failing() -> Policy {
    Policy { implausible: Action::Fail, ..Policy::default() }
}

fn with(limit: Limit) -> Policy {
    let mut policy = failing();
    policy.limits.push(limit);
    policy
}

fn implausible(decision: &Decision) -> Vec<&Check> {
    let checks = decision.checks.iter();
    checks.filter(|check| check.verdict == Verdict::ImplausibleImprovement).collect()
}

fn of_kernel_a(decision: &Decision) -> &Check {
    let is_it = |check: &&Check| {
        matches!(&check.subject, Subject::Kernel { name, .. } if name == "kernel_a")
            && check.metric == Metric::Time
    };
    decision.checks.iter().find(is_it).unwrap()
}

fn microseconds(check: &Check) -> f64 {
    check.delta_s.unwrap().get() * 1e6
}

/// Everything takes a fifth of the time: twelve kernels, the total and what they share. `kernel_a` saves
/// 5 × (100.2 - 20.04) = 400.8 µs, the run (1 + … + 12) × 501 µs × 0.8 = 31.2624 ms.
#[test]
fn all_that_is_too_fast_is_what_the_policy_makes_of_it() {
    let fifth = steady("b", 12, |_| 0.2);
    for action in [Action::Notice, Action::Warn, Action::Fail] {
        let decision = found(&Policy { implausible: action, ..Policy::default() }, &fifth);
        let checks = implausible(&decision);
        assert_eq!(checks.len(), 14, "{checks:?}");
        for check in checks {
            assert_eq!(check.action, action, "{check:?}");
            assert!(!check.message.contains("below the minimum"), "{check:?}");
            assert!((check.change.unwrap().get() + 0.8).abs() < 1e-3, "{check:?}");
        }
        let check = of_kernel_a(&decision);
        assert!((microseconds(check) + 400.8).abs() < 1e-2, "{check:?}");
        assert_eq!(check.evidence[0], "0.00% with the global shift of -80.0% subtracted");
        let total = decision.checks.iter().find(|check| check.metric == Metric::Total).unwrap();
        assert!((microseconds(total) + 31_262.4).abs() < 1e-6, "{total:?}");
        assert!(total.message.contains("faster than `implausible-factor` allows"), "{total:?}");
    }
    // Without a limit on what all kernels share, each of them is still too fast.
    let off = Limit { action: Action::None, ..Limit::new(Metric::CommonShift, NO_END) };
    let decision = found(&with(off), &fifth);
    assert_eq!((decision.outcome, decision.deciding().count()), (Outcome::Failed, 13));
}

const NO_END: RelativeChange = RelativeChange::new(f64::INFINITY);

/// The run saves 31.2624 ms and `kernel_a` 400.8 µs: a minimum above that makes a notice of it, one below does not.
#[test]
fn a_minimum_is_compared_with_what_was_saved() {
    let fifth = steady("b", 12, |_| 0.2);
    let least = |metric, seconds: f64| {
        let limit = Limit::new(metric, RelativeChange::new(0.05));
        let at_least = Some(Value::from(Seconds::new(seconds)));
        found(&with(Limit { at_least, ..limit }), &fifth)
    };
    let total = |seconds: f64| {
        let decision = least(Metric::Total, seconds);
        decision.checks.into_iter().find(|check| check.metric == Metric::Total).unwrap()
    };
    assert_eq!(total(31e-3).action, Action::Fail);
    let small = total(32e-3);
    assert_eq!(small.action, Action::Notice);
    assert!(
        small.message.ends_with("31.3 ms of the run is below the minimum of 32.0 ms"),
        "{small:?}"
    );
    assert_eq!(of_kernel_a(&least(Metric::Time, 400e-6)).action, Action::Fail);
    let decision = least(Metric::Time, 402e-6);
    let small = of_kernel_a(&decision);
    assert_eq!(small.action, Action::Notice);
    assert!(
        small.message.ends_with("401 µs of the run is below the minimum of 402 µs"),
        "{small:?}"
    );
}

/// All others take twice as long, `kernel_a` half of the time: a quarter beside them. Its middle is
/// 100.2 µs / √2, and 2 sinh(ln 2) = 1.5: 5 × 1.5 × 70.85 µs = 531.4 µs.
#[test]
fn what_is_fast_only_beside_slower_ones_is_shown_beside_them() {
    let mixed = steady("b", 12, |kernel| if kernel == 0 { 0.5 } else { 2.0 });
    let decision = found(&failing(), &mixed);
    let check = of_kernel_a(&decision);
    assert_eq!((check.verdict, check.action), (Verdict::ImplausibleImprovement, Action::Fail));
    assert!((check.change.unwrap().get() + 0.75).abs() < 1e-9, "{check:?}");
    assert!((microseconds(check) + 531.389).abs() < 1e-2, "{check:?}");
    assert_eq!(check.evidence[0], "measured -50.0%; the global shift of +100% is subtracted");
}
