//! Judges the bounds of a policy that need no baseline.

use super::decision::{Check, Subject, Verdict};
use super::known::Known;
use super::policy::{Action, Bound, Metric, Policy};
use super::value::{Allowed, Value};
use super::words;
use crate::analysis::is_communication;
use crate::compare::{self, Lone, Measured, Run};
use crate::rules::Severity;
use crate::units::Share;

/// A kernel with what each run measured that has it.
type Kernel = (Lone, Vec<Measured>);

/// Checks every bound of the policy on the kernels of the current side: of several runs the median, as everywhere else.
pub(super) fn judge(current: &[Run], policy: &Policy) -> Vec<Check> {
    if policy.bounds.is_empty() {
        return Vec::new();
    }
    let kernels = compare::kernels_by_run(current);
    policy.bounds.iter().flat_map(|bound| of_bound(bound, &kernels, current, policy)).collect()
}

fn of_bound(bound: &Bound, kernels: &[Kernel], current: &[Run], policy: &Policy) -> Vec<Check> {
    if bound.metric == Metric::Total {
        let times: Vec<Known> = current.iter().map(total).collect();
        let mut whole = check(bound, Subject::Run, &times, Some(Share::new(1.0)), policy);
        if whole.verdict == Verdict::Ambiguous {
            whole.message.push_str("; not all kernels have durations");
        }
        return vec![whole];
    }
    let fits = |kernel: &&Kernel| bound.selector.fits(&kernel.0.name, &kernel.0.measured);
    let meant: Vec<&Kernel> =
        kernels.iter().filter(fits).filter(|(lone, _)| has_roof(bound.metric, lone)).collect();
    if meant.is_empty() {
        // A bound that matches nothing is reported, so that a typo does not pass.
        let message = if kernels.iter().any(|kernel| fits(&kernel)) {
            format!(
                "bound {:?} matches only communication kernels, which have no roofline",
                bound.name
            )
        } else {
            format!("bound {:?} matches no kernel of the current side", bound.name)
        };
        return vec![no_data(bound, Subject::Run, message, policy)];
    }
    let of_kernel = |(lone, by_run): &&Kernel| {
        let share = lone.measured.share;
        if share.is_some_and(|share| share < bound.min_share) {
            return None;
        }
        let subject = Subject::kernel(&lone.name, &lone.measured);
        if share.is_none() && bound.min_share > Share::ZERO {
            let name = &bound.name;
            let message = format!("share is unknown, but min-share of bound {name:?} needs it");
            return Some(no_data(bound, subject, message, policy));
        }
        // Where one run does not know it, nothing is known.
        let known = by_run.iter().map(|measured| value(bound, measured).ok_or(measured));
        Some(match known.collect::<Result<Vec<Known>, &Measured>>() {
            Ok(known) => check(bound, subject, &known, share, policy),
            Err(measured) => {
                Check { share, ..no_data(bound, subject, unknown(bound, measured), policy) }
            }
        })
    };
    let checks: Vec<Check> = meant.iter().filter_map(of_kernel).collect();
    if checks.is_empty() {
        // Small kernels are left out beside large ones; where all are small, nothing was checked.
        let largest = meant.iter().filter_map(|(lone, _)| lone.measured.share).reduce(Share::max);
        let message = format!(
            "bound {:?} matches only kernels below its min-share of {}: the largest has {} of the run",
            bound.name,
            Value::from(bound.min_share).written(),
            Value::from(largest.unwrap_or_default()).shown()
        );
        return vec![no_data(bound, Subject::Run, message, policy)];
    }
    checks
}

/// Returns the time of a run: at least that of the kernels that have one.
fn total(run: &Run) -> Known {
    let known = Known::exactly(run.whole_s());
    let is_open = run.kernels.iter().any(|kernel| !kernel.is_timed());
    Known { most: if is_open { f64::INFINITY } else { known.most }, ..known }
}

/// Makes the check of a bound that finds nothing to judge.
fn no_data(bound: &Bound, subject: Subject, message: String, policy: &Policy) -> Check {
    Check {
        verdict: Verdict::NoData,
        action: policy.incomparable,
        ..Check::new(&format!("bound:{}", bound.name), bound.metric, subject, message)
    }
}

/// Whether a metric that needs a roof applies to a kernel: links limit communication.
fn has_roof(metric: Metric, lone: &Lone) -> bool {
    let needs_roof = matches!(metric, Metric::Headroom | Metric::Roof | Metric::Savings);
    let is_communication = is_communication(&lone.measured.category);
    !(needs_roof && is_communication && lone.measured.headroom.is_none())
}

/// Returns the known range of a bound's metric for one kernel in one run.
fn value(bound: &Bound, measured: &Measured) -> Option<Known> {
    match bound.metric {
        Metric::Time | Metric::KernelTotal => measured.time_s.map(Known::exactly),
        Metric::Share => measured.share.map(Known::exactly),
        Metric::Headroom => Known::headroom(measured),
        Metric::Roof => Known::roof(measured),
        Metric::Bytes => measured.per_launch.bytes.map(Known::exactly),
        Metric::Flops => measured.per_launch.flops.map(Known::exactly),
        Metric::Fp64 => measured.per_launch.fp64_flops.map(Known::exactly),
        Metric::Savings => measured.savings_s.map(Known::exactly),
        Metric::Launches => Some(Known::exactly(Value::count(measured.launches))),
        Metric::Findings => {
            let least = bound.severity.unwrap_or(Severity::Info);
            let asked = |rule: &str| bound.rule.as_ref().is_none_or(|asked| asked == rule);
            let found = measured.findings.iter();
            let found = found.filter(|(rule, severity)| *severity >= least && asked(rule)).count();
            (found > 0 || is_examined(bound, measured))
                .then(|| Known::exactly(Value::count(found as f64)))
        }
        Metric::Presence => Some(Known::exactly(Value::count(1.0))),
        Metric::Total | Metric::CommonShift => None,
    }
}

/// Whether the rule that a bound asks for could judge a kernel; if it asks for none, whether those could that have their
/// metrics, which no built-in one has without a time.
fn is_examined(bound: &Bound, measured: &Measured) -> bool {
    match &bound.rule {
        Some(rule) => measured.is_judged_by(rule) != Some(false),
        None => measured.time_s.is_some(),
    }
}

/// Says why a bound cannot be checked on a kernel.
fn unknown(bound: &Bound, measured: &Measured) -> String {
    let why = match &bound.rule {
        Some(rule) => words::not_judged(&[rule], measured),
        None => format!("{} is unknown", bound.metric.key()),
    };
    format!("{why}, but bound {:?} needs it", bound.name)
}

/// Checks the median of what the runs say.
fn check(
    bound: &Bound,
    subject: Subject,
    by_run: &[Known],
    share: Option<Share>,
    policy: &Policy,
) -> Check {
    let rule = format!("bound:{}", bound.name);
    let key = bound.metric.key();
    let Some(known) = Known::median(by_run) else {
        let message = format!("{key} is unknown, but bound {:?} needs it", bound.name);
        return Check { share, ..no_data(bound, subject, message, policy) };
    };
    let of_runs = match by_run.len() {
        1 => String::new(),
        runs => format!(", the median of {runs} runs"),
    };
    let seen = known.shown();
    let (verdict, action, message, limit) = match broken(bound, &known) {
        Some(Broken { limit, is_certain, word }) => {
            let limit_text = limit.written();
            let (seen, limit_text) = known.exactly_beside(limit).unwrap_or((seen, limit_text));
            let message =
                format!("{key} is {seen}{of_runs}, bound {:?} {word} {limit_text}", bound.name);
            if is_certain {
                (Verdict::Violation, bound.action, message, Some(limit))
            } else {
                (Verdict::Ambiguous, policy.ambiguous, message, Some(limit))
            }
        }
        None => {
            let limit = bound.min.or(bound.max);
            let beyond = by_run.iter().filter(|run| broken(bound, run).is_some()).count();
            let beyond = match beyond {
                0 => String::new(),
                1 => format!("; 1 of them is beyond bound {:?}", bound.name),
                more => format!("; {more} of them are beyond bound {:?}", bound.name),
            };
            let message = format!("{key} is {seen}{of_runs}{beyond}");
            (Verdict::WithinBounds, Action::None, message, limit)
        }
    };
    let least = Value { value: known.least, unit: known.unit };
    Check {
        verdict,
        action,
        after: (known.least.is_finite() && known.least > 0.0 || known.most <= 0.0).then_some(least),
        limit: limit.map(Allowed::Bound),
        share,
        ..Check::new(&rule, bound.metric, subject, message)
    }
}

/// Sums that differ by less than this share differ by rounding.
const EXACT: f64 = 1e-9;

/// A limit that a value exceeds or may exceed.
struct Broken {
    limit: Value,
    is_certain: bool,
    word: &'static str,
}

fn broken(bound: &Bound, known: &Known) -> Option<Broken> {
    let is_above = |value: f64, other: f64| value - other > EXACT * other.abs();
    let below = bound.min.filter(|min| is_above(min.value, known.least)).map(|limit| Broken {
        limit,
        is_certain: is_above(limit.value, known.most),
        word: "requires at least",
    });
    below.or_else(|| {
        bound.max.filter(|max| is_above(known.most, max.value)).map(|limit| Broken {
            limit,
            is_certain: is_above(known.least, limit.value),
            word: "allows at most",
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::policy::Selector;
    use super::*;
    use crate::compare::made::{kernel, run, untimed};
    use crate::units::{Dimension, Factor, Seconds};

    fn bound(metric: Metric, min: Option<Value>, max: Option<Value>) -> Bound {
        Bound {
            name: "cap".to_owned(),
            metric,
            selector: Selector::default(),
            min,
            max,
            min_share: Share::ZERO,
            severity: None,
            rule: None,
            action: Action::Fail,
        }
    }

    /// What a bound says of runs.
    fn judged(bound: Bound, runs: &[Run]) -> Vec<Check> {
        let policy = Policy { bounds: vec![bound], ..Policy::default() };
        judge(runs, &policy)
    }

    /// One launch of a kernel takes 0.03% of the run, and a thousandth of a percent is allowed.
    #[test]
    fn a_small_bound_is_shown_as_it_was_written() {
        let runs = [run(vec![kernel("a", &[3e-7]), kernel("b", &[1e-3 - 3e-7])])];
        let small = bound(Metric::Share, None, Some(Share::new(1e-5).into()));
        let found = judged(small, &runs);
        let message = |name: &str| {
            let is_it = |check: &&Check| check.subject.written().is_some_and(|one| one == name);
            found.iter().find(is_it).unwrap().message.clone()
        };
        assert_eq!(message("a"), "share is 0.03%, bound \"cap\" allows at most 0.001%");
        assert_eq!(message("b"), "share is 100.0%, bound \"cap\" allows at most 0.001%");
    }

    /// 5 ms, and a kernel whose time is unknown: at most 4 ms is certainly broken, at most 6 ms may be.
    #[test]
    fn a_total_that_lacks_a_kernel_is_a_lower_bound() {
        let lacking = [run(vec![kernel("a", &[1e-3; 5]), untimed(kernel("b", &[1e-3]))])];
        let whole = [run(vec![kernel("a", &[1e-3; 5])])];
        let verdict = |runs: &[Run], most: f64| {
            let [check] =
                &judged(bound(Metric::Total, None, Some(Seconds::new(most).into())), runs)[..]
            else {
                panic!("one check")
            };
            (check.verdict, check.message.clone())
        };
        assert_eq!(verdict(&lacking, 4e-3).0, Verdict::Violation);
        let told = "total is at least 5.00 ms, bound \"cap\" allows at most 6.00 ms; not all \
                    kernels have durations";
        assert_eq!(verdict(&lacking, 6e-3), (Verdict::Ambiguous, told.to_owned()));
        assert_eq!(verdict(&whole, 6e-3).0, Verdict::WithinBounds);
    }

    /// The verdict on one kernel of 5 launches of 1 ms, of which at least 5 / 2 and at most 5 / 1.5 ms were
    /// expected.
    fn verdict(bound: Bound) -> (Verdict, Action) {
        let [check] = &judged(bound, &[run(vec![kernel("a", &[1e-3; 5])])])[..] else {
            panic!("one check")
        };
        (check.verdict, check.action)
    }

    #[test]
    fn a_time_beyond_its_bound_is_a_violation() {
        let most = |milliseconds: f64| {
            bound(Metric::Time, None, Some(Seconds::new(milliseconds * 1e-3).into()))
        };
        assert_eq!(verdict(most(4.0)), (Verdict::Violation, Action::Fail));
        assert_eq!(verdict(most(6.0)), (Verdict::WithinBounds, Action::None));
        let found = judged(most(4.0), &[run(vec![kernel("a", &[1e-3; 5])])]);
        assert_eq!(found[0].message, "time is 5.00 ms, bound \"cap\" allows at most 4.00 ms");
    }

    /// Headroom is between 1.5 and 2, the roof between 1 / 2 and 1 / 1.5: what lies between is not certain.
    #[test]
    fn what_was_not_counted_makes_a_violation_uncertain() {
        let headroom = |most: f64| bound(Metric::Headroom, None, Some(Factor::new(most).into()));
        let roof = |least: f64| bound(Metric::Roof, Some(Share::new(least).into()), None);
        for (bound, expected) in [
            (headroom(1.4), (Verdict::Violation, Action::Fail)),
            (headroom(1.8), (Verdict::Ambiguous, Action::Warn)),
            (headroom(2.1), (Verdict::WithinBounds, Action::None)),
            (roof(0.7), (Verdict::Violation, Action::Fail)),
            (roof(0.6), (Verdict::Ambiguous, Action::Warn)),
            (roof(0.49), (Verdict::WithinBounds, Action::None)),
        ] {
            assert_eq!(verdict(bound.clone()), expected, "{bound:?}");
        }
        let [check] = &judged(roof(0.6), &[run(vec![kernel("a", &[1e-3; 5])])])[..] else {
            panic!("one check")
        };
        assert!(check.message.starts_with("roof is 50.0–66.7%, bound"), "{check:?}");
    }

    #[test]
    fn work_is_bounded_by_the_launch_and_missing_work_is_no_number() {
        let one = Some(Value { value: 1.0, unit: Dimension::Operations });
        assert_eq!(verdict(bound(Metric::Flops, one, one)), (Verdict::WithinBounds, Action::None));
        let bytes = Some(Value { value: 1.0, unit: Dimension::Bytes });
        assert_eq!(verdict(bound(Metric::Bytes, None, bytes)), (Verdict::NoData, Action::Warn));
    }

    /// Savings of a kernel that the model does not cover are unknown; of one at its roofline they are zero.
    #[test]
    fn savings_that_are_not_known_are_not_zero() {
        let of = |savings: Option<f64>| {
            let mut one = run(vec![kernel("a", &[1e-3; 5])]);
            one.kernels[0].savings_s = savings.map(Seconds::new);
            let most = bound(Metric::Savings, None, Some(Seconds::new(1e-6).into()));
            let checks = judged(most, &[one]);
            assert_eq!(checks.len(), 1, "{checks:?}");
            checks[0].verdict
        };
        assert_eq!(of(None), Verdict::NoData);
        assert_eq!((of(Some(0.0)), of(Some(1e-3))), (Verdict::WithinBounds, Verdict::Violation));
    }

    /// A kernel of whose launches none has a duration, beside one that has all of the time.
    #[test]
    fn times_and_shares_that_are_not_known_are_not_zero() {
        let mut untimed = kernel("b", &[1e-3]);
        (untimed.timed, untimed.measured_s) = (0, Seconds::ZERO);
        untimed.samples_s.clear();
        let runs = [run(vec![kernel("a", &[1e-3]), untimed])];
        let most = [
            (Metric::Share, Share::new(0.01).into()),
            (Metric::Time, Value::from(Seconds::new(1e-6))),
            (Metric::KernelTotal, Seconds::new(1e-6).into()),
        ];
        for (metric, most) in most {
            let checks = judged(bound(metric, None, Some(most)), &runs);
            let found: Vec<_> = checks.iter().map(|check| (check.verdict, check.share)).collect();
            let all = Some(Share::new(1.0));
            let unknown = [(Verdict::Violation, all), (Verdict::NoData, None)];
            assert_eq!(found, unknown, "{metric:?}");
            // Nobody knows whether its share is large enough.
            let some = Bound { min_share: Share::new(0.01), ..bound(metric, None, Some(most)) };
            let found = judged(some, &runs);
            assert_eq!(found.len(), 2, "{found:?}");
            assert_eq!(
                found[1].message,
                "share is unknown, but min-share of bound \"cap\" needs it"
            );
            assert_eq!((found[1].verdict, found[1].action), (Verdict::NoData, Action::Warn));
        }
    }

    #[test]
    fn a_bound_speaks_of_the_kernels_it_is_for() {
        let runs = [run(vec![kernel("a", &[3e-3]), kernel("b", &[1e-3])])];
        let most = Some(Value::from(Seconds::ZERO));
        let of = |name: Option<&str>, min_share: f64| {
            let selector = Selector { kernel: name.map(str::to_owned), ..Selector::default() };
            let min_share = Share::new(min_share);
            judged(Bound { selector, min_share, ..bound(Metric::Time, None, most) }, &runs)
        };
        assert_eq!(of(None, 0.0).len(), 2);
        // b has a quarter of the time.
        assert_eq!(
            (of(None, 0.25).len(), of(None, 0.26).len(), of(Some("b"), 0.25).len()),
            (2, 1, 1)
        );
        // Beside a large kernel a small one is left out; alone it leaves nothing that was checked.
        assert_eq!(of(None, 0.26)[0].verdict, Verdict::Violation);
        for (name, largest) in [(Some("b"), "25.0%"), (None, "75.0%")] {
            let [check] = &of(name, 0.95)[..] else { panic!("one check") };
            assert_eq!((check.verdict, check.action), (Verdict::NoData, Action::Warn));
            assert_eq!(
                check.message,
                format!(
                    "bound \"cap\" matches only kernels below its min-share of 95.0%: the largest has \
                     {largest} of the run"
                )
            );
        }
        let asleep = of(Some("c*"), 0.0);
        assert_eq!((asleep[0].verdict, asleep[0].action), (Verdict::NoData, Action::Warn));
        assert!(asleep[0].message.contains("matches no kernel"), "{asleep:?}");
    }

    /// Two kernels of which one is an all-reduce, whose time no roof of a device says.
    #[test]
    fn a_roof_does_not_bound_communication() {
        let mut reduce = kernel("reduce", &[1e-3]);
        reduce.category = "communication".to_owned();
        (reduce.roofline_s, reduce.roofline_high_s, reduce.savings_s) = (None, None, None);
        let runs = [run(vec![kernel("a", &[1e-3]), reduce])];
        let savings = bound(Metric::Savings, None, Some(Seconds::ZERO.into()));
        assert_eq!(judged(savings, &runs).len(), 1, "links leave no savings to a roof");
        let roof = bound(Metric::Roof, Some(Share::new(0.49).into()), None);
        let checks = judged(roof.clone(), &runs);
        assert_eq!((checks.len(), checks[0].verdict), (1, Verdict::WithinBounds));
        let selector = Selector { kernel: Some("reduce".to_owned()), ..Selector::default() };
        let asleep = judged(Bound { selector: selector.clone(), ..roof }, &runs);
        assert!(asleep[0].message.contains("only communication kernels"), "{asleep:?}");
        // Its time is bounded like that of others.
        let time = bound(Metric::Time, None, Some(Seconds::ZERO.into()));
        assert_eq!(judged(Bound { selector, ..time }, &runs)[0].verdict, Verdict::Violation);
    }

    #[test]
    fn findings_are_counted_from_a_severity_on_and_by_rule() {
        let mut one = run(vec![kernel("a", &[1e-3])]);
        one.kernels[0].findings = [("tail-effect", Severity::Low), ("small-grid", Severity::High)]
            .map(|(rule, severity)| crate::compare::RunFinding { rule: rule.to_owned(), severity })
            .to_vec();
        let runs = [one];
        let count = |severity: Option<Severity>, rule: Option<&str>| {
            let rule = rule.map(str::to_owned);
            let none = bound(Metric::Findings, None, Some(Value::count(0.0)));
            judged(Bound { severity, rule, ..none }, &runs)[0].after.unwrap().value
        };
        assert_eq!((count(None, None), count(Some(Severity::High), None)), (2.0, 1.0));
        assert_eq!(count(None, Some("tail-effect")), 1.0);
        assert_eq!(count(Some(Severity::High), Some("tail-effect")), 0.0);
    }

    /// A rule that lacked a metric found nothing, which says nothing; one that had its metrics found none.
    #[test]
    fn a_rule_that_was_skipped_is_no_data() {
        let mut one = run(vec![kernel("a", &[1e-3]), kernel("b", &[1e-3])]);
        one.skipped_rules = vec![vec!["uncoalesced-access".to_owned()].into()];
        one.kernels[0].skipped_rules = Some(0);
        let of = |rule: Option<&str>, runs: &[Run]| {
            let rule = rule.map(str::to_owned);
            let none = bound(Metric::Findings, None, Some(Value::count(0.0)));
            judged(Bound { rule, ..none }, runs)
        };
        let verdicts = |checks: &[Check]| checks.iter().map(|one| one.verdict).collect::<Vec<_>>();
        let runs = [one];
        let found = of(Some("uncoalesced-access"), &runs);
        assert_eq!(verdicts(&found), [Verdict::NoData, Verdict::WithinBounds]);
        assert_eq!(
            found[0].message,
            "rule uncoalesced-access was skipped because a metric is missing, but bound \"cap\" needs it"
        );
        for rule in [Some("tail-effect"), None] {
            assert_eq!(verdicts(&of(rule, &runs)), [Verdict::WithinBounds; 2], "{rule:?}");
        }
        // A rule that is switched off found nothing either.
        let mut ran = runs.clone();
        ran[0].rules = Some(vec!["uncoalesced-access".to_owned()].into());
        assert_eq!(verdicts(&of(Some("uncoalesced-access"), &ran)), verdicts(&found));
        let off = of(Some("tail-effect"), &ran);
        assert_eq!(verdicts(&off), [Verdict::NoData; 2]);
        assert_eq!(off[0].message, "rule tail-effect did not run, but bound \"cap\" needs it");
        // Documents of earlier versions do not say what was skipped.
        let mut early = runs;
        early[0].skipped_rules.clear();
        early[0].kernels[0].skipped_rules = None;
        assert_eq!(verdicts(&of(Some("uncoalesced-access"), &early)), [Verdict::WithinBounds; 2]);
        // Without a time no rule looks at a kernel.
        let [mut untimed] = early;
        untimed.kernels[0].measured_s = Seconds::ZERO;
        assert_eq!(verdicts(&of(None, &[untimed])), [Verdict::WithinBounds, Verdict::NoData]);
    }

    /// Three runs take 8 ms, one 16 ms: the median is judged, as for the total, and the message counts the other run.
    #[test]
    fn of_several_runs_the_median_is_bounded() {
        let runs = [8.0, 8.0, 16.0, 8.0].map(|time| run(vec![kernel("a", &[time * 1e-3])]));
        for metric in [Metric::Time, Metric::Total] {
            let most = bound(metric, None, Some(Seconds::new(9e-3).into()));
            let [check] = &judged(most, &runs)[..] else { panic!("one check") };
            assert_eq!(check.verdict, Verdict::WithinBounds);
            assert_eq!(
                check.message,
                format!(
                    "{} is 8.00 ms, the median of 4 runs; 1 of them is beyond bound \"cap\"",
                    metric.key()
                )
            );
        }
    }

    #[test]
    fn the_total_is_the_median_of_the_runs() {
        let of = |milliseconds: f64| run(vec![kernel("a", &[milliseconds * 1e-3])]);
        let most = bound(Metric::Total, None, Some(Seconds::new(4e-3).into()));
        let total = |runs: &[Run]| judged(most.clone(), runs)[0].after.unwrap().value;
        assert_eq!(total(&[of(9.0), of(1.0), of(3.0)]), 3e-3);
        assert!(
            (total(&[of(9.0), of(1.0)]) - 5e-3).abs() < 1e-15,
            "as the run's time everywhere else"
        );
    }
}
