//! Judges the metrics with one value per side: work, shares, headroom, findings.

use super::decision::{Check, Subject, Verdict};
use super::policy::{Action, Limit, Metric, Policy};
use super::thresholds::{MORE_RUNS, ROUNDING};
use super::value::{Allowed, Value};
use super::words;
use crate::compare::{Basis, Change, Comparison, Measured, OfRun, Unit};
use crate::rules::Severity;
use crate::units::{Dimension, Factor, RelativeChange, Seconds, Share, Shift};

/// Run-to-run noise of bytes and operations, which are counted in a few passes.
const COUNTED_NOISE: Shift = Shift::new(0.01);

/// Smallest noise of metrics that follow the time: that of a kernel with enough launches (see
/// [`crate::compare::Noise`]).
const LEAST_NOISE: RelativeChange = RelativeChange::new(0.03);

/// A time that moved by less than this part of its noise gives no reason to doubt savings that lie within it.
const FAINT: f64 = 0.5;

/// Two standard deviations: one in forty normal runs lies further out on one side.
const DEVIATIONS: f64 = 2.0;

/// Metrics with one value per side, in the order in which they are checked.
const METRICS: [Metric; 8] = [
    Metric::Share,
    Metric::Headroom,
    Metric::Roof,
    Metric::Bytes,
    Metric::Flops,
    Metric::Fp64,
    Metric::Savings,
    Metric::Launches,
];

/// Returns `true` if a metric is counted, and so free of noise on any device.
const fn is_counted(metric: Metric) -> bool {
    matches!(metric, Metric::Bytes | Metric::Flops | Metric::Fp64 | Metric::Launches)
}

/// Judges a kernel by every limited metric except time.
pub(super) fn judge(comparison: &Comparison, change: &Change, policy: &Policy) -> Vec<Check> {
    let limit = |metric: Metric| policy.limit(metric, &change.after, &change.name);
    // Across devices the distance from the roof is judged already.
    let is_open = |metric: &Metric| comparison.basis == Basis::Time || is_counted(*metric);
    let values = METRICS.into_iter().filter(is_open).filter_map(limit);
    let mut checks: Vec<Check> =
        values.filter_map(|limit| check(comparison, change, limit, policy)).collect();
    checks.extend(limit(Metric::Findings).and_then(|limit| findings(change, limit, policy)));
    checks
}

/// The value of each side as it is compared; `None` if a side lacks it.
struct Values {
    before: Option<f64>,
    after: Option<f64>,
}

impl Values {
    /// Returns `None` for metrics without a value per side.
    fn of(comparison: &Comparison, change: &Change, metric: Metric) -> Option<Self> {
        let of = |measured: &Measured| -> Option<Option<f64>> {
            let work = &measured.per_launch;
            Some(match metric {
                Metric::Share => measured.share.map(Share::get),
                // A share of the roof falls as headroom grows.
                Metric::Headroom | Metric::Roof => measured.headroom.map(Factor::get),
                Metric::Bytes => work.bytes.map(crate::units::Bytes::get),
                Metric::Flops => work.flops.map(crate::units::Flops::get),
                Metric::Fp64 => work.fp64_flops.map(crate::units::Flops::get),
                Metric::Savings => measured.savings_s.map(Seconds::get),
                Metric::Launches => Some(measured.launches),
                _ => return None,
            })
        };
        let work = work(comparison, metric).get();
        Some(Self {
            before: of(&change.before)?.map(|before| before * work),
            after: of(&change.after)?,
        })
    }
}

/// What a value of the baseline is multiplied by, to be of as much work as the current side did.
fn work(comparison: &Comparison, metric: Metric) -> Factor {
    let grows = matches!(metric, Metric::Savings | Metric::Launches);
    if grows { comparison.work } else { Factor::new(1.0) }
}

/// Returns the value of a metric that follows the time in one run; `None` for counted ones.
fn of_run(metric: Metric, run: &OfRun) -> Option<f64> {
    match metric {
        Metric::Share => run.share.map(Share::get),
        Metric::Headroom | Metric::Roof => run.headroom.map(Factor::get),
        Metric::Savings => run.savings_s.map(Seconds::get),
        _ => None,
    }
}

/// Checks a metric other than time, with one value per side.
fn check(
    comparison: &Comparison,
    change: &Change,
    limit: &Limit,
    policy: &Policy,
) -> Option<Check> {
    if change.is_mixed && matches!(limit.metric, Metric::Bytes | Metric::Flops | Metric::Fp64) {
        let reason = change.missing.as_deref().unwrap_or("other kernels of this name ran");
        let message = format!("{} per launch cannot be compared: {reason}", limit.metric.key());
        let check = without_data(change, limit, policy, message);
        return Some(Check { verdict: Verdict::Incomparable, ..check });
    }
    let (one, two) = match Values::of(comparison, change, limit.metric)? {
        Values { before: Some(before), after: Some(after) } => (before, after),
        // What neither side has cannot have changed; what one has says nothing about the other.
        Values { before: None, after: None } => return None,
        Values { before: None, .. } => return Some(lacking("the baseline", change, limit, policy)),
        Values { .. } => return Some(lacking("the current side", change, limit, policy)),
    };
    if matches!(limit.metric, Metric::Headroom | Metric::Roof)
        && let Some(side) = less_counted(change)
    {
        let key = limit.metric.key();
        let message = format!(
            "{key} is limited by the policy but only a bound in {side}, which counts less than the other"
        );
        return Some(without_data(change, limit, policy, message));
    }
    // From nothing to something is more than any share.
    let shift = match (one > 0.0, two > 0.0) {
        (true, true) => Shift::between(one, two),
        (false, true) => Shift::INFINITY,
        (true, false) => -Shift::INFINITY,
        (false, false) => Shift::ZERO,
    };
    if shift <= limit.shift().max(ROUNDING) {
        return None;
    }
    let floor = floor(change, limit.metric);
    if shift <= floor {
        return None;
    }
    let own = change.evidence();
    // Savings are what is left of a time: its noise is all theirs.
    let noise = own.filter(|_| limit.metric == Metric::Savings).and_then(|own| {
        // Of as much work as the current side did, as the savings are.
        let before = change.before.time_s? * comparison.work.get();
        Some(before.max(change.after.time_s?) * floor.max(own.reach()).change().get())
    });
    let is_lost = noise.is_some_and(|noise| two - noise.get() <= one * (1.0 + limit.worse.get()));
    if is_lost && own.is_some_and(|own| own.shift <= floor * FAINT) {
        return None;
    }
    let shown = |value: f64| shown(limit.metric, value);
    let (one, two) = (shown(one), shown(two));
    // In the unit of the metric: points of the roof, not of headroom.
    let enough = (two.value - one.value).abs() >= limit.least();
    let told = if limit.metric == Metric::Roof { -shift } else { shift };
    // What follows the time of one run per side is as uncertain as the time.
    let is_noise = |least: Shift| shift <= least;
    let is_unsure = !is_counted(limit.metric)
        && least_shift(comparison, change, limit.metric, shift)
            .is_some_and(|least| least <= limit.shift());
    let of_one = change.evidence().is_some_and(|own| own.unit != Unit::Runs);
    let may_be_noise =
        of_one && !is_counted(limit.metric) && policy.undeclared().is_some_and(is_noise);
    let (verdict, action) = if may_be_noise || is_unsure || is_lost {
        (Verdict::Ambiguous, policy.ambiguous.min(limit.action))
    } else {
        (Verdict::Regression, limit.action)
    };
    let mut message = words::metric(limit, one, two);
    if may_be_noise {
        message = format!("{message}; {}", words::undeclared());
    } else if is_unsure {
        message.push_str("; the interval over its runs reaches below the limit");
    } else if let Some(noise) = noise.filter(|_| is_lost) {
        message =
            format!("{message}; noise in its time could make up {}", Value::from(noise).shown());
    }
    Some(Check {
        verdict,
        action: if enough {
            at_stake(action, change, limit, policy)
        } else {
            action.min(Action::Notice)
        },
        before: Some(one),
        after: Some(two),
        change: shift.get().is_finite().then(|| told.change()),
        limit: Some(Allowed::Change(limit.worse)),
        more_runs: may_be_noise.then_some(MORE_RUNS),
        ..of_kernel(change, limit, message)
    })
}

/// What a limit does about a kernel: at most a notice about one that has too little of the time, and at most what is
/// done about missing data where a share is asked for that nobody knows.
fn at_stake(action: Action, change: &Change, limit: &Limit, policy: &Policy) -> Action {
    match change.share() {
        None if limit.min_share.is_some() => action.min(policy.incomparable),
        share if limit.counts(share) => action,
        _ => action.min(Action::Notice),
    }
}

/// Makes a check of a kernel by a metric, without a verdict yet.
fn of_kernel(change: &Change, limit: &Limit, message: String) -> Check {
    let subject = Subject::kernel(&change.name, &change.after);
    Check {
        share: change.after.share,
        matched: Some(change.pair.level),
        ..Check::new(limit.metric.key(), limit.metric, subject, message)
    }
}

/// The side whose distance from the roof is only a bound, because it lacks bytes or operations that the other has.
fn less_counted(change: &Change) -> Option<&'static str> {
    /// A lower bound this close to the value leaves little open.
    const NEAR: f64 = 2.0 / 3.0;
    let lacks = |one: &Measured, other: &Measured| {
        one.per_launch.bytes.is_none() && other.per_launch.bytes.is_some()
            || one.per_launch.flops.is_none() && other.per_launch.flops.is_some()
    };
    let is_open = |side: &Measured| {
        side.headroom.is_some_and(|headroom| {
            side.headroom_low.is_none_or(|low| low.get() < headroom.get() * NEAR)
        })
    };
    let (before, after) = (&change.before, &change.after);
    if lacks(after, before) && is_open(after) {
        return Some("the current side");
    }
    (lacks(before, after) && is_open(before)).then_some("the baseline")
}

/// Makes the check for a side that lacks the limited metric.
fn lacking(side: &str, change: &Change, limit: &Limit, policy: &Policy) -> Check {
    let message = format!("{} is limited by the policy but missing in {side}", limit.metric.key());
    without_data(change, limit, policy, message)
}

fn without_data(change: &Change, limit: &Limit, policy: &Policy, message: String) -> Check {
    Check {
        verdict: Verdict::NoData,
        action: at_stake(policy.incomparable, change, limit, policy),
        ..of_kernel(change, limit, message)
    }
}

/// Converts a value for people; a roof is compared by headroom and shown as a share of the roof.
fn shown(metric: Metric, value: f64) -> Value {
    match metric {
        Metric::Roof if value > 0.0 => Share::new(1.0 / value).into(),
        Metric::Roof => Value { value, unit: Dimension::Factor },
        _ => Value { value, unit: metric.dimension().unwrap_or(Dimension::Count) },
    }
}

/// Returns the least shift that several runs leave possible for a metric that follows the time; `None` with one run per
/// side.
fn least_shift(
    comparison: &Comparison,
    change: &Change,
    metric: Metric,
    shift: Shift,
) -> Option<Shift> {
    // Its own runs say it: those of the time are without what all kernels share.
    let of_runs = change.low(|run| of_run(metric, run));
    of_runs.map(|low| low - work(comparison, metric).shift()).or_else(|| {
        // Where a run has none of it, it is as certain as the time.
        let several = change.evidence().filter(|own| own.unit == Unit::Runs);
        several.map(|own| shift - own.reach())
    })
}

/// Returns the shift of a metric that noise alone could explain.
fn floor(change: &Change, metric: Metric) -> Shift {
    if metric == Metric::Launches {
        return ROUNDING;
    }
    if is_counted(metric) {
        return COUNTED_NOISE;
    }
    let Some(own) = change.evidence() else { return COUNTED_NOISE };
    let least = own.floor.max(LEAST_NOISE.shift());
    // The noise of several runs is in their interval, which makes a check ambiguous instead of none.
    if change.low(|run| of_run(metric, run)).is_some() {
        return least;
    }
    // Savings are a small difference: their noise is that of the time, which headroom follows.
    let spread = |side: &Measured| side.spread(|run| run.headroom.map(Factor::get));
    least.max(spread(&change.after).max(spread(&change.before)) * DEVIATIONS)
}

/// Checks for findings that the baseline does not have: what a rule found that did not judge the kernel there may not be
/// new, and one that is only skipped now may have found something. One that runs no longer was switched off on purpose.
fn findings(change: &Change, limit: &Limit, policy: &Policy) -> Option<Check> {
    let (before, after) = (&change.before, &change.after);
    let least = limit.severity.unwrap_or(Severity::Info);
    // By rule alone: a severity follows the share of time, and may flip without any change.
    let had = |rule: &str| before.findings.iter().any(|(known, _)| known == rule);
    let found = after.findings.iter().filter(|(rule, severity)| *severity >= least && !had(rule));
    let (open, new): (Vec<_>, Vec<_>) =
        found.partition(|(rule, _)| before.is_judged_by(rule) == Some(false));
    let new: Vec<String> =
        new.iter().map(|(rule, severity)| format!("{rule} ({})", severity.label())).collect();
    let message = format!("new findings: {}", new.join(", "));
    let regression = (!new.is_empty()).then(|| Check {
        verdict: Verdict::Regression,
        action: at_stake(limit.action, change, limit, policy),
        before: Some(Value::count(0.0)),
        after: Some(Value::count(new.len() as f64)),
        ..of_kernel(change, limit, message)
    });
    let open: Vec<&str> = open.iter().map(|(rule, _)| rule.as_str()).collect();
    // What the baseline does not say, as in documents of earlier versions, is not taken for a difference.
    let judged_before = |rule: &&str| {
        before.is_judged_by(rule) == Some(true)
            && !had(rule)
            && !after.findings.iter().any(|(found, _)| found == rule)
    };
    let lost: Vec<&str> = after.skipped_rules.iter().filter(judged_before).collect();
    let sides = [("the baseline", before, open), ("the current side", after, lost)];
    let unjudged = sides.into_iter().find(|(.., rules)| !rules.is_empty());
    let lacking = unjudged.map(|(side, measured, rules)| {
        let check = lacking(side, change, limit, policy);
        let message = format!("{}: {}", check.message, words::not_judged(&rules, measured));
        Check { message, ..check }
    });
    lacking.into_iter().chain(regression).max_by_key(|check| check.action)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{
        self,
        made::{kernel, run},
    };
    use crate::units::Bytes;

    /// One kernel, of which a metric is set on both sides, judged by a limit of 5%.
    fn judged(metric: Metric, set: impl Fn(&mut Measured, bool)) -> Vec<Check> {
        let side = || [run(vec![kernel("a", &[1e-3; 5])])];
        let mut comparison = compare::compare(&side(), &side(), &compare::Setting::default());
        set(&mut comparison.changes[0].before, false);
        set(&mut comparison.changes[0].after, true);
        let limits = vec![Limit::new(metric, RelativeChange::new(0.05))];
        let policy = Policy { limits, ..Policy::default() };
        judge(&comparison, &comparison.changes[0], &policy)
    }

    /// A launch of 1,000 bytes: 6% more are beyond the limit, 4% are not, and none is no number.
    #[test]
    fn work_is_compared_by_the_launch() {
        let bytes = |after: Option<f64>| {
            judged(Metric::Bytes, |measured, is_after| {
                measured.per_launch.bytes =
                    if is_after { after } else { Some(1000.0) }.map(Bytes::new);
            })
        };
        let [more] = &bytes(Some(1060.0))[..] else { panic!("one check") };
        assert_eq!((more.verdict, more.action), (Verdict::Regression, Action::Fail));
        assert_eq!(more.after, Some(Bytes::new(1060.0).into()));
        assert!((more.change.unwrap().get() - 0.06).abs() < 1e-12);
        assert!(bytes(Some(1040.0)).is_empty() && bytes(Some(200.0)).is_empty());
        let [none] = &bytes(None)[..] else { panic!("one check") };
        assert_eq!((none.verdict, none.action), (Verdict::NoData, Action::Warn));
    }

    /// The baseline did twice the steps: of its 10 ms and 1 ms of savings, half count. Times 2% apart, with 3% of noise,
    /// leave ±152 µs of 5 ms: savings of 700 µs are more than the 525 µs that are allowed, 600 µs may be as many.
    #[test]
    fn noise_of_savings_is_that_of_the_same_work() {
        let judged = |savings: f64| {
            let side = || [run(vec![kernel("a", &[1e-3; 5])])];
            let mut comparison = compare::compare(&side(), &side(), &compare::Setting::default());
            comparison.work = Factor::new(0.5);
            let change = &mut comparison.changes[0];
            (change.before.time_s, change.after.time_s) =
                (Some(Seconds::new(1e-2)), Some(Seconds::new(5e-3)));
            (change.before.savings_s, change.after.savings_s) =
                (Some(Seconds::new(1e-3)), Some(Seconds::new(savings)));
            let own = change.own.as_mut().unwrap();
            (own.shift, own.low, own.floor) =
                (Shift::new(0.02), Some(Shift::new(0.02)), Shift::ZERO);
            own.unit = Unit::Runs;
            let limits = vec![Limit::new(Metric::Savings, RelativeChange::new(0.05))];
            let policy = Policy { limits, ..Policy::default() };
            let mut checks = judge(&comparison, &comparison.changes[0], &policy);
            assert_eq!(checks.len(), 1, "{checks:?}");
            checks.remove(0)
        };
        let more = judged(7e-4);
        assert_eq!(more.verdict, Verdict::Regression, "{more:?}");
        assert!(!more.message.contains("noise"), "{more:?}");
        let lost = judged(6e-4);
        assert_eq!(lost.verdict, Verdict::Ambiguous, "{lost:?}");
        assert!(lost.message.ends_with("; noise in its time could make up 150 µs"), "{lost:?}");
    }

    /// Counters that one side lacks say nothing of its savings; without any there is nothing to compare.
    #[test]
    fn savings_that_one_side_lacks_are_no_change() {
        let found = |sides: [Option<f64>; 2]| {
            let checks = judged(Metric::Savings, |measured, is_after| {
                measured.savings_s = sides[usize::from(is_after)].map(Seconds::new);
            });
            checks.first().map(|check| (check.verdict, check.action, check.message.clone()))
        };
        let lacking = |side: &str| {
            let message = format!("savings is limited by the policy but missing in {side}");
            Some((Verdict::NoData, Action::Warn, message))
        };
        assert_eq!(found([None, Some(6.6e-4)]), lacking("the baseline"));
        assert_eq!(found([Some(6.6e-4), None]), lacking("the current side"));
        assert_eq!((found([None, None]), found([Some(0.0), Some(0.0)])), (None, None));
    }

    /// From headroom 1.25 to 1.6: from 80% of the roof to 62.5%, a fall by 22%.
    #[test]
    fn a_roof_falls_as_headroom_grows() {
        let checks = judged(Metric::Roof, |measured, is_after| {
            measured.headroom = Some(Factor::new(if is_after { 1.6 } else { 1.25 }));
        });
        let [check] = &checks[..] else { panic!("{checks:?}") };
        assert_eq!(check.before, Some(Share::new(0.8).into()));
        assert_eq!(check.after, Some(Share::new(0.625).into()));
        assert!((check.change.unwrap().get() + 0.218_75).abs() < 1e-12, "{check:?}");
    }

    #[test]
    fn findings_are_compared_by_rule() {
        let found = |rules: &[&str], severity| -> Vec<(String, Severity)> {
            rules.iter().map(|rule| ((*rule).to_owned(), severity)).collect()
        };
        let checks = judged(Metric::Findings, |measured, is_after| {
            measured.findings = if is_after {
                found(&["tail-effect", "small-grid"], Severity::High)
            } else {
                found(&["tail-effect"], Severity::Low)
            };
        });
        let [check] = &checks[..] else { panic!("{checks:?}") };
        assert_eq!(check.message, "new findings: small-grid (high)");
        assert_eq!(check.after, Some(Value::count(1.0)));
    }

    fn list(rules: &[&str]) -> crate::compare::RuleList {
        rules.iter().map(|&rule| rule.to_owned()).collect::<Vec<_>>().into()
    }

    /// Of three rules the baseline judged two; nothing is known of the third there.
    #[test]
    fn a_rule_that_did_not_judge_a_side_is_no_data() {
        const RAN: [&str; 6] = ["small-grid", "a", "b", "c", "d", "e"];
        let of = |ran: Option<&[&str]>, [before, after]: [&[&str]; 2], rules: &[&str]| {
            let checks = judged(Metric::Findings, |measured, is_after| {
                measured.rules = if is_after { Some(list(&RAN)) } else { ran.map(list) };
                measured.skipped_rules = list(if is_after { after } else { before });
                let rules = rules.iter().filter(|_| is_after);
                measured.findings = rules.map(|&rule| (rule.to_owned(), Severity::High)).collect();
            });
            assert!(checks.len() < 2, "{checks:?}");
            checks.first().map(|check| (check.verdict, check.message.clone()))
        };
        let found = |skipped, rules| of(Some(&RAN), skipped, rules);
        let limited = "findings is limited by the policy but missing in";
        let no_data = |text: &str| Some((Verdict::NoData, format!("{limited} {text}")));
        let open = no_data("the baseline: rule small-grid was skipped because a metric is missing");
        assert_eq!(found([&["small-grid", "a"], &["a"]], &["small-grid"]), open);
        let lost = no_data(
            "the current side: rules b, c, d and 1 more were skipped because metrics are missing",
        );
        assert_eq!(found([&["a"], &["a", "b", "c", "d", "e"]], &[]), lost);
        // A baseline with every metric, of which the current side lacks one.
        let lost = no_data("the current side: rule a was skipped because a metric is missing");
        assert_eq!(found([&[], &["a"]], &[]), lost);
        // What both lack has not changed, and documents of earlier versions say nothing.
        assert_eq!(found([&["a", "b"], &["b"]], &[]), None);
        assert_eq!(of(None, [&[], &["a", "b"]], &[]), None);
        let new = of(None, [&[], &[]], &["small-grid"]).unwrap();
        assert_eq!(new.0, Verdict::Regression);
        // A rule that is newer than the baseline, or was switched off there; one that is switched off now is not missed.
        let added = no_data("the baseline: rule small-grid did not run");
        assert_eq!(of(Some(&["a", "b"]), [&[], &[]], &["small-grid"]), added);
        assert_eq!(of(Some(&["a", "z"]), [&[], &[]], &[]), None);
        // What is new for certain decides.
        let new = found([&["a"], &["a", "b"]], &["small-grid"]);
        assert_eq!(new, Some((Verdict::Regression, "new findings: small-grid (high)".to_owned())));
    }

    /// Twice the roofline time as before, but of a side without bytes this is the most it can be.
    #[test]
    fn a_bound_of_the_headroom_is_not_compared_with_its_value() {
        let of = |bytes: [Option<f64>; 2], low: [Option<f64>; 2], value: [f64; 2]| {
            let checks = judged(Metric::Headroom, |measured, is_after| {
                let at = usize::from(is_after);
                measured.per_launch.bytes = bytes[at].map(Bytes::new);
                measured.headroom = Some(Factor::new(value[at]));
                measured.headroom_low = low[at].map(Factor::new);
            });
            checks.first().map(|check| (check.verdict, check.message.clone()))
        };
        let all = [Some(1e3); 2];
        let (verdict, _) = of(all, [Some(2.0), Some(4.0)], [2.0, 4.0]).unwrap();
        assert_eq!(verdict, Verdict::Regression);
        let (verdict, message) = of([Some(1e3), None], [Some(2.0), None], [2.0, 4.0]).unwrap();
        assert_eq!(verdict, Verdict::NoData);
        assert_eq!(
            message,
            "headroom is limited by the policy but only a bound in the current side, which counts less than the other"
        );
        let (verdict, message) = of([None, Some(1e3)], [Some(1.0), Some(4.0)], [8.0, 4.0]).unwrap();
        assert_eq!(verdict, Verdict::NoData);
        assert!(message.contains("only a bound in the baseline"), "{message}");
        // What is near its bound, and bounds of both sides, are compared.
        let (verdict, _) = of([Some(1e3), None], [Some(2.0), Some(3.9)], [2.0, 4.0]).unwrap();
        assert_eq!(verdict, Verdict::Regression);
        let (verdict, _) = of([None; 2], [None; 2], [2.0, 4.0]).unwrap();
        assert_eq!(verdict, Verdict::Regression);
    }
}
