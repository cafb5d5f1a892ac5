//! What a gate says of its checks, in sentences with their numbers.

use super::certainty::{MOST_RUNS, more_runs};
use super::decision::{Check, Subject, Value, Verdict};
use super::policy::{Limit, Metric};
use crate::compare::{Change, Comparison, Evidence, MatchLevel, Unit, percent};
use crate::units::{digits, si};

/// A shift on the logarithmic scale as people read it: `+12.3 %`.
pub(super) fn change(shift: f64) -> String {
    relative(percent(shift))
}

/// A relative change as people read it: `+12.3 %`; from a factor of 2 on, `2.31x`.
pub(super) fn relative(change: f64) -> String {
    let percents = change * 100.0;
    let sign = if percents < 0.0 { "−" } else { "+" };
    match percents.abs() {
        most if most < 0.05 => "±0.0 %".to_owned(),
        most if most >= 100.0 => format!("{sign}{most:.0} %"),
        most => format!("{sign}{most:.1} %"),
    }
}

/// A value with its unit.
pub(super) fn value(value: Value) -> String {
    match value.unit {
        "share" => format!("{} %", digits(value.value * 100.0)),
        "ratio" => format!("{}×", digits(value.value)),
        "count" => digits(value.value),
        unit => si(value.value, unit),
    }
}

/// The interval in brackets, with its confidence.
fn interval(evidence: &Evidence) -> String {
    match (evidence.low, evidence.high, evidence.confidence) {
        (Some(low), Some(high), Some(confidence)) if confidence > 0.0 => {
            format!(" [{}, {}] at {:.0} %", change(low), change(high), confidence * 100.0)
        }
        _ => String::new(),
    }
}

/// What moved from where to where.
pub(super) fn moved(known: &Change, own: &Evidence, by_headroom: bool) -> String {
    let (one, two) = if by_headroom {
        let shown = |headroom: Option<f64>| {
            headroom.map_or_else(|| "-".to_owned(), |headroom| format!("{}×", digits(headroom)))
        };
        (shown(known.before.headroom), shown(known.after.headroom))
    } else {
        (si(known.before.launch_s, "s"), si(known.after.launch_s, "s"))
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
    let below = known.after.headroom.filter(|headroom| *headroom < 0.97);
    let roof = below.map_or_else(String::new, |headroom| {
        format!(
            ", and {} of the time that its roofs allow",
            value(Value { value: headroom, unit: "share" })
        )
    });
    format!("{}{roof}: check that it still does its work", moved(known, own, false))
}

/// Why a change is not certain, and what would settle it.
pub(super) fn doubt(own: &Evidence, limit: f64) -> String {
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
pub(super) fn tail(mean: f64, own: &Evidence) -> String {
    format!(
        "the mean launch changed by {}, the typical one by {}: a few launches take much longer",
        change(mean),
        change(own.shift)
    )
}

/// Why a change is only shown.
pub(super) fn too_small(counts: bool, limit: &Limit, delta: f64) -> String {
    let least = limit.at_least.unwrap_or(0.0);
    if counts {
        format!(
            "{} of the run are less than the {} that count",
            si(delta.abs(), "s"),
            si(least, "s")
        )
    } else {
        let share = limit.min_share.unwrap_or(0.0) * 100.0;
        format!("kernels with less than {} % of the run count only in its total", digits(share))
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
        Metric::Recoverable => "recoverable time",
        Metric::Launches => "launches",
        other => other.key(),
    };
    let allowed = if limit.metric == Metric::Roof { -limit.worse } else { limit.worse };
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
    if comparison.common.removed && comparison.common.evidence.shift.abs() > 0.005 {
        let raw = known.raw.as_ref().map_or(0.0, |raw| raw.shift);
        told.push(format!(
            "measured {}; the {} that all kernels share are taken out",
            change(raw),
            change(comparison.common.evidence.shift)
        ));
    }
    if let Some(cycles) = &known.cycles
        && own.shift.abs() > 0.02
    {
        told.push(format!("its SM cycles changed by {}", change(cycles.shift)));
    }
    let per_launch =
        |sum: Option<f64>, launches: f64| Some(sum? / launches).filter(|_| launches > 0.0);
    for (what, one, two) in [
        ("bytes", known.before.bytes, known.after.bytes),
        ("FLOPs", known.before.flops, known.after.flops),
    ] {
        let (one, two) =
            (per_launch(one, known.before.launches), per_launch(two, known.after.launches));
        if let (Some(one), Some(two)) = (one, two)
            && one > 0.0
            && two > 0.0
            && (two / one).ln().abs() > 0.01
        {
            told.push(format!("a launch does other work: {what} {}", change((two / one).ln())));
        }
    }
    if known.launches_shift.abs() > 0.005 {
        told.push(format!(
            "launches went from {} to {}",
            digits(known.before.launches),
            digits(known.after.launches)
        ));
    }
    if let (Some(one), Some(two)) = (own.within, own.between) {
        told.push(format!(
            "launches of a run spread by {} %, runs by {} %",
            digits(one * 100.0),
            digits(two * 100.0)
        ));
    }
    told
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
