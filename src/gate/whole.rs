//! Judges the run as a whole: total time, global shift, and kernels that are new, vanished or
//! missing.

use super::certainty::{Standing, is_beyond, mirrored, more_runs};
use super::decision::{Check, Guess, Subject, Verdict};
use super::policy::{Action, Limit, Metric, Policy};
use super::thresholds::{ROUNDING, SHOWN_SHIFT};
use super::value::{Allowed, Value};
use super::{causes, words};
use crate::compare::{Basis, Common, Comparison, Evidence, Lone, Unit};
use crate::units::{Probability, Seconds, Shift, change_limit, digits, si};

/// Probability below which a shift of the whole run is certain; only two such shifts are tested.
const CERTAIN: Probability = Probability::new(0.01);

/// Global shifts below 1% are not explained by clocks in the output.
const WORTH_A_CLOCK: Shift = Shift::new(0.01);

/// The clock explains a global shift if cycles moved by less than this part of it.
const UNEXPLAINED: f64 = 0.5;

/// Additional runs per side that show if a slow launch is caused by the code: with three runs it
/// recurs or not.
const RUNS_FOR_A_LAUNCH: u32 = 2;

/// Judges everything except the kernels that both sides have.
pub(super) fn judge(comparison: &Comparison, policy: &Policy) -> Vec<Check> {
    let mut checks = Vec::new();
    checks.extend(total(comparison, policy));
    checks.extend(common(comparison, policy));
    checks.extend(work(comparison, policy));
    if let Some(reason) = &comparison.cut_off {
        checks.push(Check {
            verdict: Verdict::NoData,
            action: policy.incomplete,
            ..Check::new(
                "incomplete",
                Metric::Presence,
                Subject::Run,
                format!("{reason}: truncated file?"),
            )
        });
    }
    for doubt in &comparison.doubts {
        checks.push(Check {
            verdict: Verdict::Incomparable,
            action: policy.incomparable,
            ..Check::new("conditions", Metric::Presence, Subject::Run, doubt.clone())
        });
    }
    checks.extend(lone(&comparison.new, policy, true));
    checks.extend(lone(&comparison.vanished, policy, false));
    checks.extend(required(comparison, policy));
    checks
}

/// Returns the position of a shift of the whole run relative to its limit.
fn standing(evidence: &Evidence, limit: Shift) -> Standing {
    let certain = |own: Probability| own <= CERTAIN;
    if is_beyond(evidence, limit, certain) {
        Standing::Worse
    } else if is_beyond(&mirrored(evidence), limit, certain) {
        Standing::Better
    } else if evidence.shift > limit {
        Standing::Unsure
    } else {
        Standing::Within
    }
}

fn of_whole(
    rule: &str,
    evidence: &Evidence,
    limit: &Limit,
    policy: &Policy,
    message: String,
) -> Check {
    let standing = standing(evidence, limit.shift());
    let (verdict, action) = match standing {
        Standing::Worse => (Verdict::Regression, limit.action),
        Standing::Unsure => (Verdict::Ambiguous, policy.ambiguous),
        Standing::Better if evidence.shift < policy.implausible() => {
            (Verdict::ImplausibleImprovement, policy.implausible)
        }
        Standing::Better => (Verdict::Improvement, Action::None),
        Standing::Within => (Verdict::Unchanged, Action::None),
    };
    let unsure = standing == Standing::Unsure;
    Check {
        verdict,
        action,
        change: Some(evidence.change()),
        interval: evidence.interval(),
        confidence: evidence.confidence,
        limit: Some(Allowed::Change(limit.worse)),
        noise: (evidence.unit != Unit::Runs).then(|| evidence.floor.change()),
        more_runs: unsure.then(|| more_runs(evidence, limit.shift())).flatten(),
        evidence: if unsure { vec![words::doubt(evidence, limit.shift())] } else { Vec::new() },
        ..Check::new(rule, limit.metric, Subject::Run, message)
    }
}

fn total(comparison: &Comparison, policy: &Policy) -> Option<Check> {
    let limit = policy.limit_of_run(Metric::Total)?;
    let evidence = &comparison.total;
    let work = comparison.work.get() * comparison.other_work.get();
    let (one, two) = (comparison.baseline.time_s * work, comparison.current.time_s);
    let is_time = comparison.basis == Basis::Time;
    let what = if is_time {
        format!("GPU time went from {} to {}", si(one.get(), "s"), si(two.get(), "s"))
    } else {
        "headroom of the whole run changed".to_owned()
    };
    let (shift, allowed) = (words::change(evidence.shift), change_limit(limit.worse));
    let message = format!("{what}: {shift}, limit {allowed}");
    let mut check = Check {
        before: is_time.then(|| one.into()),
        after: is_time.then(|| two.into()),
        delta_s: is_time.then(|| two - one),
        ..of_whole("total", evidence, limit, policy, message)
    };
    // A total is a sum: one launch that something interrupted can make it.
    if check.verdict == Verdict::Regression
        && let Some(typical) = comparison
            .total_typical
            .filter(|typical| *typical <= limit.shift() || *typical <= evidence.floor)
    {
        check.verdict = Verdict::Ambiguous;
        check.action = policy.ambiguous;
        check.more_runs = Some(RUNS_FOR_A_LAUNCH);
        check.evidence.push(format!(
            "typical launches explain {}; the rest comes from single launches that took much \
             longer. Two more runs per side would show if they recur",
            words::change(typical)
        ));
    }
    if is_time && check.verdict != Verdict::Unchanged {
        check.evidence.extend(causes::contributors(comparison));
    }
    let common = comparison.common.evidence.shift;
    if comparison.common.removed && common.abs() > SHOWN_SHIFT {
        let common = words::change(common);
        check.evidence.push(format!(
            "{common} is a global shift; the rest comes from single \
            kernels"
        ));
    }
    Some(check)
}

fn common(comparison: &Comparison, policy: &Policy) -> Option<Check> {
    let Common { evidence, kernels, removed, cycles, .. } = &comparison.common;
    let limit = policy.limit_of_run(Metric::CommonShift).filter(|_| *removed)?;
    let message = format!(
        "{kernels} kernels share a shift of {}, limit {}: clocks, temperature, driver, or a \
         change to all of them",
        words::change(evidence.shift),
        change_limit(limit.worse)
    );
    let mut check = of_whole("common-shift", evidence, limit, policy, message);
    if let Some(cycles) = cycles {
        let size = evidence.shift.abs();
        let explained = size > WORTH_A_CLOCK && cycles.abs() < size * UNEXPLAINED;
        let told = format!("in SM cycles the shift is {}", words::change(*cycles));
        let why = if explained { ": the clock explains the rest" } else { "" };
        check.evidence.push(format!("{told}{why}"));
    }
    Some(check)
}

/// Reports more or less work than before; the total is compared for the same amount.
fn work(comparison: &Comparison, policy: &Policy) -> Option<Check> {
    let work = comparison.work;
    (work.shift().abs() > ROUNDING).then(|| Check {
        verdict: Verdict::Ambiguous,
        action: policy.ambiguous.min(Action::Warn),
        before: Some(Value::count(comparison.baseline.launches)),
        after: Some(Value::count(comparison.current.launches)),
        change: Some(work.change()),
        ..Check::new(
            "work",
            Metric::Launches,
            Subject::Run,
            format!(
                "most kernels have {}× the launches of the baseline; totals are compared for the \
                 same amount of work",
                digits(work.get())
            ),
        )
    })
}

/// Reports kernels that only one side has; those with next to no time are counted together.
fn lone(kernels: &[Lone], policy: &Policy, is_new: bool) -> Vec<Check> {
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

/// Reports required patterns that no kernel of the current side matches.
fn required(comparison: &Comparison, policy: &Policy) -> Vec<Check> {
    let there = |pattern: &str| {
        let matched = comparison
            .changes
            .iter()
            .any(|change| named(pattern, &change.name, &change.after.full_name));
        matched
            || comparison
                .new
                .iter()
                .any(|lone| named(pattern, &lone.name, &lone.measured.full_name))
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
            ..Check::new(
                "required-kernel",
                Metric::Presence,
                Subject::Run,
                format!("the policy requires kernel {pattern:?}, but the current side has none"),
            )
        })
        .collect()
}

/// Returns `true` if a kernel's name matches this pattern.
pub(super) fn named(pattern: &str, name: &str, full: &str) -> bool {
    crate::analysis::is_called(pattern, name, full)
}

/// Returns the guesses about new and vanished kernels, by their names.
pub(super) fn guesses(comparison: &Comparison) -> Vec<Guess> {
    let names = |lone: &[Lone], at: &[usize]| {
        at.iter().filter_map(|at| lone.get(*at)).map(|lone| lone.name.clone()).collect()
    };
    let judged = comparison.changes.iter().filter_map(|change| {
        let inferred = change.inferred.as_ref()?;
        Some(Guess {
            kind: inferred.kind,
            before: inferred.before.clone(),
            after: inferred.after.clone(),
            before_s: change.before.time_s,
            after_s: change.after.time_s,
            confidence: inferred.confidence,
            why: inferred.why.clone(),
            is_judged: true,
        })
    });
    let open = comparison.proposals.iter().map(|proposal| Guess {
        kind: proposal.kind,
        before: names(&comparison.vanished, &proposal.before),
        after: names(&comparison.new, &proposal.after),
        before_s: proposal.before_s,
        after_s: proposal.after_s,
        confidence: proposal.confidence,
        why: proposal.why.clone(),
        is_judged: false,
    });
    judged.chain(open).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{
        self, Run,
        made::{kernel, run},
    };

    /// A run of kernels of so many launches of 1 ms.
    fn side(kernels: &[(&str, usize)]) -> [Run; 1] {
        [run(kernels.iter().map(|(name, count)| kernel(name, &vec![1e-3; *count])).collect())]
    }

    fn compared(before: &[Run], after: &[Run]) -> Comparison {
        compare::compare(before, after, &compare::Setting::default())
    }

    fn of_rule<'a>(checks: &'a [Check], rule: &str) -> Option<&'a Check> {
        checks.iter().find(|check| check.rule == rule)
    }

    /// The copy is 1 of 2,001 launches, less than a thousandth of the run; the product is half of it.
    #[test]
    fn new_and_vanished_kernels_that_take_hardly_any_time_are_notices() {
        let one = side(&[("softmax", 2000)]);
        let found = |other: &[Run], back: bool| {
            let comparison = if back { compared(other, &one) } else { compared(&one, other) };
            let checks = judge(&comparison, &Policy { new: Action::Fail, ..Policy::default() });
            let check = of_rule(&checks, if back { "vanished" } else { "new" }).unwrap();
            (check.action, check.delta_s.unwrap().get() * 1e3)
        };
        let small = side(&[("softmax", 2000), ("copy", 1)]);
        let large = side(&[("softmax", 2000), ("gemm", 2000)]);
        assert_eq!(found(&small, false).0, Action::Notice);
        let near = |found: (Action, f64), expected: (Action, f64)| {
            found.0 == expected.0 && (found.1 - expected.1).abs() < 1e-9
        };
        assert!(near(found(&large, false), (Action::Fail, 2000.0)));
        assert!(near(found(&large, true), (Action::Warn, -2000.0)));
        assert!(near(found(&small, true), (Action::Notice, -1.0)));
    }

    #[test]
    fn a_required_kernel_may_be_new_and_must_be_there() {
        let comparison = compared(&side(&[("softmax", 5)]), &side(&[("softmax", 5), ("gemm", 5)]));
        let required = ["soft*", "gemm", "copy"].map(str::to_owned).to_vec();
        let checks = judge(&comparison, &Policy { required, ..Policy::default() });
        let missing: Vec<&str> = checks
            .iter()
            .filter(|check| check.rule == "required-kernel")
            .map(|check| check.message.as_str())
            .collect();
        let [only] = missing[..] else { panic!("{missing:?}") };
        assert!(only.contains("\"copy\""), "{only}");
    }

    /// One of twenty launches of the whole run takes 6 ms more: 30% of 20 ms. Its typical launch is as ever.
    #[test]
    fn one_slow_launch_does_not_fail_the_total() {
        let before = side(&[("softmax", 20)]);
        let mut times = vec![1e-3; 19];
        times.push(7e-3);
        let found = |after: [Run; 1]| {
            let checks = judge(&compared(&before, &after), &Policy::default());
            of_rule(&checks, "total").unwrap().clone()
        };
        let one = found([run(vec![kernel("softmax", &times)])]);
        assert_eq!(
            (one.verdict, one.action, one.more_runs),
            (Verdict::Ambiguous, Action::Warn, Some(2))
        );
        assert!((one.delta_s.unwrap().get() - 6e-3).abs() < 1e-12);
        let all = found([run(vec![kernel("softmax", &[1.3e-3; 20])])]);
        assert_eq!((all.verdict, all.action), (Verdict::Regression, Action::Fail));
    }

    /// Every kernel is launched twice as often: as much time a launch, and no slower total.
    #[test]
    fn twice_the_work_is_said_and_taken_out_of_the_total() {
        let one = side(&[("softmax", 4), ("gemm", 4), ("copy", 4)]);
        let two = side(&[("softmax", 8), ("gemm", 8), ("copy", 8)]);
        let checks = judge(&compared(&one, &two), &Policy::default());
        let work = of_rule(&checks, "work").unwrap();
        assert!(work.message.contains("2.00× the launches"), "{work:?}");
        assert_eq!(work.after, Some(Value::count(24.0)));
        assert_eq!(of_rule(&checks, "total").unwrap().verdict, Verdict::Unchanged);
        assert_eq!(of_rule(&judge(&compared(&one, &one), &Policy::default()), "work"), None);
    }

    /// A common shift of 6%: the clock explains it if cycles moved by less than half as much.
    #[test]
    fn cycles_that_stay_put_the_blame_on_the_clock() {
        let one = side(&[("softmax", 5)]);
        let mut comparison = compared(&one, &one);
        let shift = Shift::new(0.06);
        comparison.common.removed = true;
        comparison.common.evidence.shift = shift;
        let told = |cycles: f64| {
            let mut comparison = comparison.clone();
            comparison.common.cycles = Some(Shift::new(cycles));
            let check = common(&comparison, &Policy::default()).unwrap();
            check.evidence.last().unwrap().ends_with("the clock explains the rest")
        };
        assert!(told(0.029) && !told(0.031));
        comparison.common.removed = false;
        assert!(common(&comparison, &Policy::default()).is_none());
    }
}
