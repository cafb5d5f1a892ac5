//! What a gate says of its checks, in sentences with their numbers.

use super::certainty::{MOST_RUNS, more_runs};
use super::decision::{Check, Subject, Verdict};
use super::policy::{Limit, Metric};
use super::thresholds::{BEYOND_ROOF, WORTH_SAYING};
use super::value::Value;
use crate::compare::{Change, Comparison, Evidence, MatchLevel, Unit};
use crate::units::{
    Bytes, Dimension, Factor, Flops, RelativeChange, Seconds, Share, Shift, digits, si,
};

/// A shift of time by less than 2% needs no cycles to explain it.
const WORTH_CYCLES: Shift = Shift::new(0.02);

/// Bytes and operations of a launch that differ by more than 1% are other work, not other counting.
const OTHER_WORK: Shift = Shift::new(0.01);

/// A shift on the logarithmic scale as people read it: `+12.3%`.
pub(super) fn change(shift: Shift) -> String {
    relative(shift.change())
}

/// A relative change as people read it: `+12.3%`, `+140%`.
pub(super) fn relative(change: RelativeChange) -> String {
    let percents = change.get() * 100.0;
    let sign = if percents < 0.0 { "−" } else { "+" };
    match percents.abs() {
        most if most < 0.05 => "±0.0%".to_owned(),
        most if most >= 100.0 => format!("{sign}{most:.0}%"),
        most => format!("{sign}{most:.1}%"),
    }
}

/// A value with its unit.
pub(super) fn value(value: Value) -> String {
    match value.unit {
        Dimension::Share => format!("{}%", digits(value.value * 100.0)),
        Dimension::Factor => format!("{}×", digits(value.value)),
        Dimension::Count => digits(value.value),
        unit @ (Dimension::Time | Dimension::Bytes | Dimension::Operations) => {
            si(value.value, unit.key())
        }
    }
}

/// The interval in brackets, with its confidence.
fn interval(evidence: &Evidence) -> String {
    match (evidence.low, evidence.high, evidence.confidence) {
        (Some(low), Some(high), Some(confidence)) if confidence.get() > 0.0 => {
            let confidence = confidence.get() * 100.0;
            format!(" [{}, {}] at {confidence:.0}%", change(low), change(high))
        }
        _ => String::new(),
    }
}

/// What moved from where to where.
pub(super) fn moved(known: &Change, own: &Evidence, by_headroom: bool) -> String {
    let (one, two) = if by_headroom {
        let shown = |headroom: Option<Factor>| {
            headroom.map_or_else(|| "-".to_owned(), |headroom| value(headroom.into()))
        };
        (shown(known.before.headroom), shown(known.after.headroom))
    } else {
        (value(known.before.launch_s.into()), value(known.after.launch_s.into()))
    };
    let what = if by_headroom { "headroom" } else { "a launch" };
    format!("{what} went from {one} to {two}: {}{}", change(own.shift), interval(own))
}

/// The sentence on a kernel that got slower.
pub(super) fn slower(known: &Change, own: &Evidence, limit: &Limit, by_headroom: bool) -> String {
    format!("{}; {} is allowed", moved(known, own, by_headroom), relative(limit.worse))
}

/// The sentence on an improvement that is hard to believe.
pub(super) fn implausible(known: &Change, own: &Evidence) -> String {
    let below = known.after.headroom.filter(|headroom| *headroom < BEYOND_ROOF);
    let roof = below.map_or_else(String::new, |headroom| {
        let share = Share::new(headroom.get());
        format!(", and {} of the time that its roofs allow", value(share.into()))
    });
    format!("{}{roof}: check that it still does its work", moved(known, own, false))
}

/// Why a change is not certain, and what would settle it.
pub(super) fn doubt(own: &Evidence, limit: Shift) -> String {
    let why = match own.unit {
        Unit::Runs => format!("{} and {} runs are too few for their spread", own.before, own.after),
        Unit::Launches if own.shift <= own.floor => format!(
            "one run a side, and noise alone may do {} with launches that spread so",
            change(own.floor)
        ),
        Unit::Launches => "one run a side, and the interval reaches below the limit".to_owned(),
        Unit::Single => {
            format!("one number a side, and noise alone may do {}", change(own.floor))
        }
    };
    match more_runs(own, limit) {
        Some(MOST_RUNS) => {
            format!("{why}; it is too near the limit for any sensible number of runs")
        }
        Some(1) => format!("{why}; one run more a side would settle it"),
        Some(more) => format!("{why}; {more} runs more a side would settle it"),
        None => why,
    }
}

/// The sentence on a kernel of which few launches got much slower.
pub(super) fn tail(mean: Shift, own: &Evidence) -> String {
    format!(
        "the mean launch changed by {}, the typical one by {}: a few launches take much longer",
        change(mean),
        change(own.shift)
    )
}

/// Why a change is only shown.
pub(super) fn too_small(counts: bool, limit: &Limit, delta: Seconds) -> String {
    let least = Seconds::new(limit.least());
    if counts {
        format!(
            "{} of the run are less than the {} that count",
            value(delta.abs().into()),
            value(least.into())
        )
    } else {
        let share = value(limit.min_share.unwrap_or_default().into());
        format!("kernels with less than {share} of the run count only in its total")
    }
}

/// The sentence on a metric of which there is one value a side.
pub(super) fn metric(limit: &Limit, one: Value, two: Value) -> String {
    let what = match limit.metric {
        Metric::Share => "share of the run",
        Metric::Headroom => "headroom",
        Metric::Roof => "share of the roof",
        Metric::Bytes => "bytes of a launch",
        Metric::Flops => "FLOPs of a launch",
        Metric::Fp64 => "double-precision FLOPs of a launch",
        Metric::Savings => "savings",
        Metric::Launches => "launches",
        other => other.key(),
    };
    // A roof gets worse by falling.
    let worse = limit.worse.get();
    let allowed = RelativeChange::new(if limit.metric == Metric::Roof { -worse } else { worse });
    format!("{what} went from {} to {}; {} is allowed", value(one), value(two), relative(allowed))
}

/// What else speaks for or against a change.
pub(super) fn evidence(comparison: &Comparison, known: &Change, own: &Evidence) -> Vec<String> {
    let mut told = Vec::new();
    if let Some(was) = &known.was {
        told.push(format!(
            "it was called {was}; taken for the same by its {}",
            known.pair.level.label()
        ));
    } else if known.pair.level > MatchLevel::Signature {
        told.push(format!(
            "its grid or block changed ({} to {}); taken for the same by its {}",
            known.before.shape,
            known.after.shape,
            known.pair.level.label()
        ));
    }
    let common = comparison.common.evidence.shift;
    if comparison.common.removed && common.abs() > WORTH_SAYING {
        let raw = known.raw.as_ref().map_or(Shift::ZERO, |raw| raw.shift);
        let (raw, common) = (change(raw), change(common));
        told.push(format!("measured {raw}; the {common} that all kernels share are taken out"));
    }
    if let Some(cycles) = known.cycles.as_ref().filter(|_| own.shift.abs() > WORTH_CYCLES) {
        told.push(format!("its SM cycles changed by {}", change(cycles.shift)));
    }
    told.extend(work(known));
    if known.launches_shift.abs() > WORTH_SAYING {
        told.push(format!(
            "launches went from {} to {}",
            digits(known.before.launches),
            digits(known.after.launches)
        ));
    }
    if let (Some(one), Some(two)) = (own.within, own.between) {
        told.push(format!(
            "launches of a run spread by {}%, runs by {}%",
            digits(one.get() * 100.0),
            digits(two.get() * 100.0)
        ));
    }
    told
}

/// By how much the bytes and operations of a launch changed, a sentence each.
fn work(known: &Change) -> impl Iterator<Item = String> {
    let (before, after) = (&known.before, &known.after);
    let bytes = (before.bytes.map(Bytes::get), after.bytes.map(Bytes::get));
    let flops = (before.flops.map(Flops::get), after.flops.map(Flops::get));
    let (one, two) = (before.launches, after.launches);
    [("bytes", bytes), ("FLOPs", flops)].into_iter().filter_map(move |(what, sums)| {
        let (before, after) = (sums.0? / one, sums.1? / two);
        let there = one > 0.0 && two > 0.0 && before > 0.0 && after > 0.0;
        let shift = Shift::between(before, after);
        (there && shift.abs() > OTHER_WORK)
            .then(|| format!("a launch does other work: {what} {}", change(shift)))
    })
}

/// Why a gate does not pass, in a sentence: what was found, counted.
pub(super) fn reason(deciding: &[&Check]) -> String {
    let count = |number: usize, one: &str, many: &str| match number {
        0 => None,
        1 => Some(format!("1 {one}")),
        several => Some(format!("{several} {many}")),
    };
    let of = |verdict: Verdict| deciding.iter().filter(move |check| check.verdict == verdict);
    let is_kernel = |check: &&&Check| matches!(check.subject, Subject::Kernel { .. });
    let worse = of(Verdict::Regression).filter(is_kernel).count();
    let mut slower: Vec<String> = count(worse, "kernel", "kernels").into_iter().collect();
    slower.extend(of(Verdict::Regression).filter(|check| !is_kernel(check)).map(|check| {
        match check.metric {
            Metric::CommonShift => "all kernels together".to_owned(),
            _ => "the whole run".to_owned(),
        }
    }));
    let mut told = Vec::new();
    if !slower.is_empty() {
        told.push(format!("{} got worse than the policy allows", list(&slower)));
    }
    told.extend(
        count(of(Verdict::Violation).count(), "bound is", "bounds are")
            .map(|text| format!("{text} broken")),
    );
    told.extend(
        count(of(Verdict::Ambiguous).count(), "change is", "changes are")
            .map(|text| format!("{text} not certain")),
    );
    told.extend(
        count(of(Verdict::New).count(), "kernel is", "kernels are")
            .map(|text| format!("{text} new")),
    );
    told.extend(
        count(of(Verdict::Vanished).count(), "kernel is", "kernels are")
            .map(|text| format!("{text} gone")),
    );
    let improved = of(Verdict::ImplausibleImprovement).count();
    told.extend(
        count(improved, "improvement is", "improvements are")
            .map(|text| format!("{text} not believable")),
    );
    // What could not be compared at all says so itself.
    let rest = deciding
        .iter()
        .filter(|check| matches!(check.verdict, Verdict::NoData | Verdict::Incomparable));
    let rest: Vec<&&Check> = rest.collect();
    match rest.as_slice() {
        [] => {}
        [one] => told.push(one.message.clone()),
        [one, more @ ..] => told.push(format!("{} (and {} more)", one.message, more.len())),
    }
    list(&told)
}

/// `a`, `a and b`, `a, b and c`.
fn list(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::policy::Action;
    use super::*;

    #[test]
    fn changes_have_a_sign_and_what_rounds_to_nothing_has_both() {
        let relative = |change: f64| relative(RelativeChange::new(change));
        assert_eq!((relative(0.123), relative(-0.05)), ("+12.3%".to_owned(), "−5.0%".to_owned()));
        assert_eq!((relative(-0.000_4), relative(1.4)), ("±0.0%".to_owned(), "+140%".to_owned()));
        // ln 2 is twice as much.
        assert_eq!(change(Shift::new(2_f64.ln())), "+100%");
    }

    #[test]
    fn values_have_the_unit_of_their_dimension() {
        for (shown, expected) in [
            (value(Share::new(0.25).into()), "25.0%"),
            (value(Factor::new(1.5).into()), "1.50×"),
            (value(Value::count(12.0)), "12.0"),
            (value(Seconds::new(2e-3).into()), "2.00 ms"),
            (value(Bytes::new(3e9).into()), "3.00 GB"),
        ] {
            assert_eq!(shown, expected);
        }
    }

    fn evidence(unit: Unit, shift: f64, floor: f64) -> Evidence {
        Evidence {
            shift: Shift::new(shift),
            low: Some(Shift::ZERO),
            high: Some(Shift::new(shift * 2.0)),
            confidence: None,
            unit,
            before: 2,
            after: 3,
            standard_error: None,
            degrees: None,
            floor: Shift::new(floor),
            within: None,
            between: None,
        }
    }

    /// Noise of 1.9 times the distance to the limit needs 1.9² = 3.6 runs: three more. Of half of it, the
    /// three that a spread needs: two more.
    #[test]
    fn a_doubt_says_what_would_settle_it() {
        let told = |floor: f64| doubt(&evidence(Unit::Launches, 0.06, floor), Shift::new(0.05));
        let noisy = doubt(&evidence(Unit::Single, 0.06, 0.019), Shift::new(0.05));
        assert!(
            noisy.ends_with("noise alone may do +1.9%; 3 runs more a side would settle it"),
            "{noisy}"
        );
        assert!(
            told(0.005)
                .starts_with("one run a side, and the interval reaches below the limit; 2 runs")
        );
        assert!(told(0.5).ends_with("too near the limit for any sensible number of runs"));
        let within = doubt(&evidence(Unit::Runs, 0.04, 0.0), Shift::new(0.05));
        assert_eq!(within, "2 and 3 runs are too few for their spread");
    }

    #[test]
    fn what_a_roof_may_lose_has_a_minus() {
        let told = |metric| {
            let limit = Limit::new(metric, RelativeChange::new(0.05));
            super::metric(&limit, Value::count(2.0), Value::count(3.0))
        };
        assert_eq!(told(Metric::Launches), "launches went from 2.00 to 3.00; +5.0% is allowed");
        assert!(told(Metric::Roof).ends_with("; −5.0% is allowed"));
    }

    #[test]
    fn a_reason_counts_what_decided() {
        let check = |verdict, metric, subject: Subject, message: &str| Check {
            verdict,
            action: Action::Fail,
            ..Check::new("rule", metric, subject, message.to_owned())
        };
        let of_kernel = || Subject::kernel("a", &crate::compare::Measured::default());
        let checks = [
            check(Verdict::Regression, Metric::Time, of_kernel(), ""),
            check(Verdict::Regression, Metric::Time, of_kernel(), ""),
            check(Verdict::Regression, Metric::Total, Subject::Run, ""),
            check(Verdict::Regression, Metric::CommonShift, Subject::Run, ""),
            check(Verdict::Violation, Metric::Time, of_kernel(), ""),
            check(Verdict::NoData, Metric::Presence, Subject::Run, "nothing there"),
            check(Verdict::Incomparable, Metric::Presence, Subject::Run, "other"),
        ];
        assert_eq!(
            reason(&checks.iter().collect::<Vec<_>>()),
            "2 kernels, the whole run and all kernels together got worse than the policy allows, \
             1 bound is broken and nothing there (and 1 more)"
        );
    }
}
