//! Sentences of a gate about its checks.

use std::collections::BTreeSet;

use super::certainty::MoreRuns;
use super::decision::{Check, Subject, Verdict};
use super::policy::{Limit, Metric};
use super::thresholds::{BEYOND_ROOF, MORE_RUNS, SHOWN_SHIFT, UNDECLARED};
use super::value::Value;
use crate::compare::{
    CONFIDENCE, Change, Comparison, Counted, Evidence, MatchLevel, Measured, OddRun, Unit,
    interval_confidence,
};
use crate::units::{
    self, Bytes, Factor, Flops, Probability, RelativeChange, Seconds, Share, Shift,
    change_interval, change_limit, digits,
};

/// Shifts of time below 2% are not explained by cycles in the output.
const WORTH_CYCLES: Shift = Shift::new(0.02);

/// Why an improvement of the run is not simply good.
pub(super) const TOO_FAST: &str =
    "faster than `implausible-factor` allows: check that all of the work is still done";

/// Formats a shift on the logarithmic scale as a relative change: `+12.3%`.
pub(super) fn change(shift: Shift) -> String {
    units::change(shift.change())
}

/// Formats the size of a relative change, without a plus sign: `12.3%`.
pub(super) fn size(change: RelativeChange) -> String {
    units::change(change).trim_start_matches('+').to_owned()
}

/// A number of launches, or their mean over runs. Scaled by the work of the runs, a whole number may be off by rounding.
pub(super) fn launches(number: f64) -> String {
    let whole = number.round();
    if (number - whole).abs() <= 1e-9 * whole { format!("{whole:.0}") } else { digits(number) }
}

/// The same with its word: `1 launch`, `7 launches`.
pub(super) fn of_launches(number: f64) -> String {
    let shown = launches(number);
    let word = if shown == "1" { "launch" } else { "launches" };
    format!("{shown} {word}")
}

/// Formats an interval in parentheses, with its confidence: ` (+8.9 to +15.7%, 90% confidence)`.
fn interval(evidence: &Evidence) -> String {
    match (evidence.low, evidence.high, evidence.confidence) {
        (Some(low), Some(high), Some(confidence)) if confidence.get() > 0.0 => {
            let ends = change_interval(low.change(), high.change());
            format!(" ({ends}, {:.0}% confidence)", confidence.get() * 100.0)
        }
        _ => String::new(),
    }
}

/// Describes what changed, from which value to which.
pub(super) fn moved(known: &Change, own: &Evidence, by_headroom: bool) -> String {
    let (one, two) = if by_headroom {
        let shown = |headroom: Option<Factor>| {
            headroom.map_or_else(|| "-".to_owned(), |headroom| Value::from(headroom).shown())
        };
        (shown(known.before.headroom), shown(known.after.headroom))
    } else {
        let shown = |time: Option<Seconds>| {
            time.map_or_else(|| "-".to_owned(), |time| Value::from(time).shown())
        };
        (shown(known.before.launch_s), shown(known.after.launch_s))
    };
    let what = if by_headroom { "headroom" } else { "time per launch" };
    format!("{what} went from {one} to {two}: {}{}", change(own.shift), interval(own))
}

/// Describes a kernel that got slower.
pub(super) fn slower(known: &Change, own: &Evidence, limit: &Limit, by_headroom: bool) -> String {
    format!("{}, limit {}", moved(known, own, by_headroom), change_limit(limit.worse))
}

/// Describes an implausible improvement.
pub(super) fn implausible(known: &Change, own: &Evidence, by_headroom: bool) -> String {
    let below = known.after.headroom.filter(|headroom| *headroom < BEYOND_ROOF);
    let roof = below.map_or_else(String::new, |headroom| {
        let share = Share::new(headroom.get());
        format!(", {} of its roofline time", Value::from(share).shown())
    });
    let moved = moved(known, own, by_headroom);
    format!("{moved}{roof}: check that it still does all of its work")
}

/// Explains why a change is not certain and what would settle it.
pub(super) fn doubt(own: &Evidence, limit: Shift) -> String {
    let more = MoreRuns::of(own, limit);
    let why = match own.unit {
        Unit::Launches | Unit::Runs if own.shift <= own.tick => format!(
            "one tick of the profiler's timer is {} of the shortest time",
            size(own.tick.change())
        ),
        Unit::Runs if own.shift <= own.floor => format!(
            "devices and days alone could explain {}, whatever the number of runs: alternate the runs of \
             both sides on one device and declare --order, or measure the spread with `rooflint \
             calibrate --groups device`",
            size(own.floor.change())
        ),
        Unit::Runs if more == MoreRuns::TooClose => format!(
            "{} and {} runs do not tell it from the limit, and no practical number of runs would",
            own.before, own.after
        ),
        Unit::Runs => format!("{} and {} runs are too few for their spread", own.before, own.after),
        Unit::Launches if own.shift <= own.floor => format!(
            "one run per side, and noise alone could explain {} with this spread of launches",
            size(own.floor.change())
        ),
        Unit::Launches => "one run per side, and the interval reaches below the limit".to_owned(),
        Unit::Single => {
            format!(
                "one value per side, and noise alone could explain {}",
                size(own.floor.change())
            )
        }
    };
    match more {
        MoreRuns::Nothing | MoreRuns::TooClose => why,
        MoreRuns::Measure => format!("{why}; {}", measure()),
        MoreRuns::Settle(1) => format!("{why}; one more run per side would settle it"),
        MoreRuns::Settle(more) => format!("{why}; {more} more runs per side would settle it"),
    }
}

/// How several runs are judged. So few that every ratio lies in the interval reach less than its usual confidence.
pub(super) fn several_runs(before: usize, after: usize, false_discovery: Probability) -> String {
    let confidence = interval_confidence(before, after);
    // 3 and 3 runs reach 90% but for rounding.
    let (least, each) = if confidence > CONFIDENCE - 1e-9 {
        (String::new(), "each at 95% confidence")
    } else {
        let reached =
            format!(" ({:.0}% confidence, the most these runs allow)", confidence * 100.0);
        (reached, "at 95% confidence")
    };
    format!(
        "{before} and {after} runs: the run is the unit of repetition; the median of all ratios \
         (Hodges–Lehmann) must exceed the limit with its distribution-free interval{least} and in a t test \
         with the variance pooled across kernels, {each}, and must differ from no change at a \
         false-discovery rate of {}",
        change_limit(false_discovery).trim_start_matches('+')
    )
}

/// What to do about one run per side.
fn measure() -> String {
    format!("{MORE_RUNS} more runs per side measure the noise and may settle it")
}

/// Whether figures of the baseline are noticeably scaled to the work of the current side.
pub(crate) fn is_scaled(work: f64) -> bool {
    const NOTICED: f64 = 0.005;
    (work - 1.0).abs() > NOTICED
}

/// Says of a figure of the baseline how it was scaled, if it was.
pub(super) fn scaled(work: f64) -> String {
    if is_scaled(work) {
        format!(" (the baseline times {}, for the same work)", units::factor(work))
    } else {
        String::new()
    }
}

/// Why one run per side does not fail, and what would make it certain.
pub(super) fn undeclared() -> String {
    format!(
        "one run per side, and its noise was not measured: up to {} may be noise; {}, as may noise \
         floors from `rooflint calibrate` in [gate.noise]",
        size(UNDECLARED),
        measure()
    )
}

/// A run that stands apart from the others of its side.
pub(super) fn odd(run: &OddRun) -> String {
    let side = if run.is_current { "the current side" } else { "the baseline" };
    let what = match (run.of_total, run.of_common) {
        (true, true) => "the total and of the global shift",
        (true, false) => "the total",
        (false, _) => "the global shift",
    };
    format!(
        "{} differs from the other runs of {side} by {}: it is left out of {what}",
        run.label,
        change(run.shift)
    )
}

/// Why the clock leaves a shift of the whole open.
pub(super) fn clock(in_cycles: Shift) -> String {
    format!(
        "{} at the same SM clock: the clock explains the rest; lock the clocks, or alternate the runs \
         and declare --order",
        change(in_cycles)
    )
}

/// Describes a kernel of which a few launches got much slower.
pub(super) fn tail(mean: Shift, own: &Evidence) -> String {
    format!(
        "the mean launch changed by {}, the median one by {}: a few launches take much longer",
        change(mean),
        change(own.shift)
    )
}

/// Explains why a change is shown but not judged.
pub(super) fn too_small(counts: bool, limit: &Limit, delta: Option<Seconds>) -> String {
    let least = Seconds::new(limit.least());
    if let Some(delta) = delta.filter(|_| counts) {
        format!(
            "{} of the run is below the minimum of {}",
            Value::from(delta.abs()).shown(),
            Value::from(least).written()
        )
    } else {
        let share = Value::from(limit.min_share.unwrap_or_default()).written();
        format!("kernels below {share} of the run are judged only as part of the total")
    }
}

/// Says why rules did not judge a kernel: a metric is missing, or they did not run.
pub(super) fn not_judged(rules: &[&str], measured: &Measured) -> String {
    let (skipped, absent): (Vec<&str>, Vec<&str>) =
        rules.iter().partition(|rule| measured.skipped_rules.has(rule));
    let of = |rules: &[&str], one: &str, several: &str| match rules {
        [] => None,
        [rule] => Some(format!("rule {rule} {one}")),
        _ => Some(format!("rules {} {several}", first_of(rules))),
    };
    let skipped = of(
        &skipped,
        "was skipped because a metric is missing",
        "were skipped because metrics are missing",
    );
    let absent = of(&absent, "did not run", "did not run");
    skipped.into_iter().chain(absent).collect::<Vec<String>>().join("; ")
}

/// Names the first rules of a list, and counts the others.
fn first_of(rules: &[&str]) -> String {
    const NAMED: usize = 3;
    let named = &rules[..rules.len().min(NAMED)];
    let more = match rules.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", named.join(", "))
}

/// Describes the change of a metric with one value per side.
pub(super) fn metric(limit: &Limit, one: Value, two: Value) -> String {
    let what = match limit.metric {
        Metric::Share => "share of the run",
        Metric::Headroom => "headroom",
        Metric::Roof => "share of the roof",
        Metric::Bytes => "bytes per launch",
        Metric::Flops => "FLOPs per launch",
        Metric::Fp64 => "double-precision FLOPs per launch",
        Metric::Savings => "potential savings",
        Metric::Launches => "launches",
        other => other.key(),
    };
    // A roof gets worse by falling.
    let worse = limit.worse.get();
    let allowed = RelativeChange::new(if limit.metric == Metric::Roof { -worse } else { worse });
    format!("{what} went from {} to {}, limit {}", one.shown(), two.shown(), change_limit(allowed))
}

/// Lists further evidence for or against a change, which is shown by its own evidence or as measured.
pub(super) fn evidence(comparison: &Comparison, known: &Change, shown: &Evidence) -> Vec<String> {
    let own = known.own.as_ref().unwrap_or(shown);
    let mut sentences = Vec::new();
    if let Some(inferred) = &known.inferred {
        sentences.push(format!("matched by {}", inferred.why));
    } else if let Some(was) = &known.was {
        sentences.push(format!("previously named {was}; matched by {}", known.pair.level.label()));
    } else if known.pair.level > MatchLevel::Signature {
        sentences.push(format!(
            "grid or block changed ({} to {}); matched by {}",
            known.before.shape,
            known.after.shape,
            known.pair.level.label()
        ));
    }
    let common = comparison.common.evidence.shift;
    if comparison.common.removed && common.abs() > SHOWN_SHIFT {
        let raw = known.raw.as_ref().map_or(Shift::ZERO, |raw| raw.shift);
        let is_measured = shown.shift < own.shift;
        let (raw, own, common) = (change(raw), change(own.shift), change(common));
        sentences.push(if is_measured {
            format!("{own} with the global shift of {common} subtracted")
        } else {
            format!("measured {raw}; the global shift of {common} is subtracted")
        });
    }
    if let Some(cycles) = known.cycles.as_ref().filter(|_| shown.shift.abs() > WORTH_CYCLES) {
        sentences.push(format!("SM cycles changed by {}", change(cycles.shift)));
    }
    sentences.extend(work(known));
    if known.launches_shift.abs() > SHOWN_SHIFT {
        sentences.push(format!(
            "launches went from {} to {}",
            launches(known.before.launches),
            launches(known.after.launches)
        ));
    }
    if let (Some(one), Some(two)) = (shown.within, shown.between) {
        sentences.push(format!(
            "launches spread by {}% within a run, runs by {}%",
            digits(one.get() * 100.0),
            digits(two.get() * 100.0)
        ));
    }
    sentences
}

/// Describes by how much bytes and operations per launch changed, one sentence each.
fn work(known: &Change) -> impl Iterator<Item = String> {
    let (before, after) = (known.before.per_launch, known.after.per_launch);
    let bytes = (before.bytes.map(Bytes::get), after.bytes.map(Bytes::get));
    let flops = (before.flops.map(Flops::get), after.flops.map(Flops::get));
    let all = [(Counted::Bytes, "bytes", bytes), (Counted::Flops, "FLOPs", flops)];
    all.into_iter().filter_map(move |(counted, what, (one, two))| {
        let (one, two) = (one?, two?);
        // What the sentence begins with needs no second one.
        let is_told = known.work.is_some_and(|work| work.counted == counted);
        let shift = Shift::between(one, two);
        (one > 0.0 && two > 0.0 && !is_told && shift.abs() > counted.noise())
            .then(|| format!("work per launch changed: {what} {}", change(shift)))
    })
}

/// Explains in a sentence why a gate does not pass, with counts.
pub(super) fn reason(deciding: &[&Check]) -> String {
    let count = |number: usize, one: &str, many: &str| match number {
        0 => None,
        1 => Some(format!("1 {one}")),
        several => Some(format!("{several} {many}")),
    };
    let of = |verdict: Verdict| deciding.iter().filter(move |check| check.verdict == verdict);
    let is_kernel = |check: &&&Check| matches!(check.subject, Subject::Kernel { .. });
    // A kernel, or the run, may exceed several limits.
    let kernels = |verdict: Verdict| {
        let mut each: Vec<&Subject> = Vec::new();
        for check in of(verdict).filter(is_kernel) {
            if !each.contains(&&check.subject) {
                each.push(&check.subject);
            }
        }
        each.len()
    };
    let worse = kernels(Verdict::Regression);
    let mut slower: Vec<String> = count(worse, "kernel", "kernels").into_iter().collect();
    for check in of(Verdict::Regression).filter(|check| !is_kernel(check)) {
        let what = match check.metric {
            Metric::CommonShift if check.rule == super::decision::MANY_KERNELS => {
                "most kernels together"
            }
            Metric::CommonShift => "all kernels together",
            _ => "the whole run",
        };
        if !slower.iter().any(|known| known == what) {
            slower.push(what.to_owned());
        }
    }
    let mut sentences = Vec::new();
    if !slower.is_empty() {
        sentences.push(format!("{} exceeded the limit", list(&slower)));
    }
    // A bound is checked on each of its kernels.
    let bounds: BTreeSet<&str> = of(Verdict::Violation).map(|check| check.rule.as_str()).collect();
    let kernels = match kernels(Verdict::Violation) {
        0 | 1 => String::new(),
        several => {
            let is_of_run = of(Verdict::Violation).any(|check| !is_kernel(&check));
            let run = if is_of_run { " and the whole run" } else { "" };
            format!(" on {several} kernels{run}")
        }
    };
    sentences.extend(
        count(bounds.len(), "bound is", "bounds are")
            .map(|text| format!("{text} violated{kernels}")),
    );
    sentences.extend(
        count(of(Verdict::Ambiguous).count(), "change is", "changes are")
            .map(|text| format!("{text} not certain")),
    );
    sentences.extend(
        count(of(Verdict::New).count(), "kernel is", "kernels are")
            .map(|text| format!("{text} new")),
    );
    sentences.extend(
        count(of(Verdict::Vanished).count(), "kernel is", "kernels are")
            .map(|text| format!("{text} gone")),
    );
    let improved = of(Verdict::ImplausibleImprovement).count();
    sentences.extend(
        count(improved, "improvement is", "improvements are")
            .map(|text| format!("{text} implausible")),
    );
    // What could not be compared at all says so itself.
    let rest = deciding
        .iter()
        .filter(|check| matches!(check.verdict, Verdict::NoData | Verdict::Incomparable));
    let rest: Vec<&&Check> = rest.collect();
    match rest.as_slice() {
        [] => {}
        [one] => sentences.push(one.message.clone()),
        [one, more @ ..] => sentences.push(format!("{} (and {} more)", one.message, more.len())),
    }
    list(&sentences)
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
    fn a_shift_is_shown_as_a_change() {
        // ln 2 is twice as much.
        assert_eq!(change(Shift::new(2_f64.ln())), "+100%");
        assert_eq!(size(RelativeChange::new(0.123)), "12.3%");
    }

    #[test]
    fn whole_numbers_of_launches_have_no_decimals() {
        // 21 launches in three times the work.
        assert_eq!(launches(21.0 * (1.0 / 3.0)), "7");
        assert_eq!(launches(70.0 * 0.1 * (1.0 + f64::EPSILON)), "7");
        assert_eq!(launches(6.5), "6.50");
        assert_eq!(launches(0.0), "0");
        assert_eq!([1.0, 1.5, 2.0].map(of_launches), ["1 launch", "1.50 launches", "2 launches"]);
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
            tick: Shift::ZERO,
            within: None,
            between: None,
            drift: None,
        }
    }

    /// With one run per side the same two runs, whatever is declared. Of 2 and 3 runs an error of 1% is a spread of
    /// 1.1%: 1% beyond the limit takes 2 (2.93 × 1.1)² = 20.6 runs, 19 more; 0.1% a hundred times as many.
    #[test]
    fn a_doubt_says_what_would_settle_it() {
        let limit = Shift::new(0.05);
        let next = "; 2 more runs per side measure the noise and may settle it";
        for (unit, floor, why) in [
            (Unit::Single, 0.019, "one value per side, and noise alone could explain 1.92%"),
            (Unit::Single, 0.5, "one value per side, and noise alone could explain 64.9%"),
            (Unit::Launches, 0.005, "one run per side, and the interval reaches below the limit"),
        ] {
            assert_eq!(doubt(&evidence(unit, 0.06, floor), limit), format!("{why}{next}"));
        }
        assert!(undeclared().contains(next), "{}", undeclared());
        let runs = |shift: f64, error: f64| Evidence {
            standard_error: Some(Shift::new(error)),
            ..evidence(Unit::Runs, shift, 0.0)
        };
        assert_eq!(
            doubt(&runs(0.06, 0.01), limit),
            "2 and 3 runs are too few for their spread; 19 more runs per side would settle it"
        );
        assert_eq!(
            doubt(&runs(0.051, 0.01), limit),
            "2 and 3 runs do not tell it from the limit, and no practical number of runs would"
        );
        let within = doubt(&runs(0.04, 0.01), limit);
        assert_eq!(within, "2 and 3 runs are too few for their spread");
    }

    /// From 3 to 4 µs by a timer of 1 µs: neither runs nor devices are the reason.
    #[test]
    fn a_tick_of_the_timer_is_named() {
        let shift = Shift::new((4.0_f64 / 3.0).ln());
        for unit in [Unit::Runs, Unit::Launches] {
            let own = Evidence { tick: shift, ..evidence(unit, shift.get(), shift.get()) };
            let why = doubt(&own, Shift::new(0.05));
            assert_eq!(why, "one tick of the profiler's timer is 33.3% of the shortest time");
        }
    }

    #[test]
    fn what_a_roof_may_lose_has_a_minus() {
        let sentences = |metric| {
            let limit = Limit::new(metric, RelativeChange::new(0.05));
            super::metric(&limit, Value::count(2.0), Value::count(3.0))
        };
        assert_eq!(sentences(Metric::Launches), "launches went from 2 to 3, limit +5%");
        assert!(sentences(Metric::Roof).ends_with(", limit -5%"));
    }

    /// One bound on three kernels, of which another is broken by two and by the run.
    #[test]
    fn a_bound_on_several_kernels_is_one_bound() {
        let check = |bound: &str, subject: Subject| Check {
            verdict: Verdict::Violation,
            action: Action::Fail,
            ..Check::new(bound, Metric::Time, subject, String::new())
        };
        let of = |name: &str| Subject::kernel(name, &crate::compare::Measured::default());
        let told = |checks: &[Check]| reason(&checks.iter().collect::<Vec<_>>());
        let one = ["a", "b", "c"].map(|name| check("bound:cap", of(name)));
        assert_eq!(told(&one[..1]), "1 bound is violated");
        assert_eq!(told(&one), "1 bound is violated on 3 kernels");
        let more = [
            check("bound:total", Subject::Run),
            check("bound:two", of("a")),
            check("bound:two", of("b")),
        ];
        assert_eq!(
            told(&[&one[..], &more].concat()),
            "3 bounds are violated on 3 kernels and the whole run"
        );
        assert_eq!(told(&more[..1]), "1 bound is violated");
    }

    /// All rank sums of 2 and 2 runs are 6, of 1 and 2 runs 3, of 3 and 3 runs 20: one of them is at either end.
    #[test]
    fn the_method_names_the_confidence_that_the_runs_reach() {
        let of = |before, after| several_runs(before, after, Probability::new(0.05));
        let [two, mixed] = [of(2, 2), of(1, 2)];
        assert!(
            two.contains("interval (67% confidence, the most these runs allow) and in"),
            "{two}"
        );
        assert!(mixed.contains("interval (33% confidence, the most these runs allow)"), "{mixed}");
        for enough in [of(3, 3), of(5, 5)] {
            assert!(enough.contains("interval and in a t test"), "{enough}");
            assert!(enough.contains("kernels, each at 95% confidence"), "{enough}");
        }
    }

    #[test]
    fn a_reason_counts_what_decided() {
        let check = |verdict, metric, subject: Subject, message: &str| Check {
            verdict,
            action: Action::Fail,
            ..Check::new("rule", metric, subject, message.to_owned())
        };
        let kernel = |name| Subject::kernel(name, &crate::compare::Measured::default());
        let of_kernel = || kernel("a");
        // A kernel that exceeds two limits is one, as is the run.
        let checks = [
            check(Verdict::Regression, Metric::Time, of_kernel(), ""),
            check(Verdict::Regression, Metric::Bytes, of_kernel(), ""),
            check(Verdict::Regression, Metric::Time, kernel("b"), ""),
            check(Verdict::Regression, Metric::Total, Subject::Run, ""),
            check(Verdict::Regression, Metric::Total, Subject::Run, ""),
            check(Verdict::Regression, Metric::CommonShift, Subject::Run, ""),
            check(Verdict::Violation, Metric::Time, of_kernel(), ""),
            check(Verdict::NoData, Metric::Presence, Subject::Run, "nothing there"),
            check(Verdict::Incomparable, Metric::Presence, Subject::Run, "other"),
        ];
        assert_eq!(
            reason(&checks.iter().collect::<Vec<_>>()),
            "2 kernels, the whole run and all kernels together exceeded the limit, \
             1 bound is violated and nothing there (and 1 more)"
        );
    }
}
