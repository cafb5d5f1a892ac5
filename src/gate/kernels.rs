//! Judges every kernel that both sides have, by every metric that the policy limits.

use super::certainty::{Standing, detectable, is_beyond, mirrored, more_runs, probability};
use super::decision::{Check, Subject, Value, Verdict};
use super::policy::{Action, Limit, Metric, Policy};
use super::words;
use crate::compare::{
    Basis, Change, Comparison, Evidence, Measured, Unit, benjamini_hochberg, percent,
    weighted_median,
};
use crate::rules::Severity;

/// Share of the time from which a kernel must not get slower unseen.
const WEIGHTY: f64 = 0.05;

/// Counts, bytes and operations are the same from run to run, up to this.
const COUNTED_NOISE: f64 = 0.01;

/// What was judged of the kernels.
pub(super) struct Verdicts {
    pub(super) checks: Vec<Check>,
    /// See [`super::Decision::detectable`].
    pub(super) detectable: Option<f64>,
}

/// Judges every change by the limits of the policy.
pub(super) fn judge(comparison: &Comparison, policy: &Policy) -> Verdicts {
    let timed = time_checks(comparison, policy);
    let mut checks = timed.checks;
    for change in &comparison.changes {
        for metric in [
            Metric::Share,
            Metric::Headroom,
            Metric::Roof,
            Metric::Bytes,
            Metric::Flops,
            Metric::Fp64,
            Metric::Recoverable,
            Metric::Launches,
        ] {
            // Across devices the distance from the roof is judged already.
            let judged = comparison.basis == Basis::Headroom
                && !matches!(
                    metric,
                    Metric::Bytes | Metric::Flops | Metric::Fp64 | Metric::Launches
                );
            if let Some(limit) =
                policy.limit(metric, &change.after, &change.name).filter(|_| !judged)
            {
                checks.extend(other_check(comparison, change, limit, policy));
            }
        }
        if let Some(limit) = policy.limit(Metric::Findings, &change.after, &change.name) {
            checks.extend(findings_check(change, limit));
        }
    }
    Verdicts { checks, detectable: timed.detectable }
}

/// A kernel's change with the limit that holds for it.
struct Timed<'a> {
    change: &'a Change,
    limit: &'a Limit,
    own: &'a Evidence,
    /// The evidence on an improvement.
    mirror: Evidence,
    /// Whether it matters enough to be judged by itself.
    counts: bool,
}

fn time_checks(comparison: &Comparison, policy: &Policy) -> Verdicts {
    let mut checks = Vec::new();
    let mut timed = Vec::new();
    for change in &comparison.changes {
        let metric = match comparison.basis {
            Basis::Time => Metric::Time,
            Basis::Headroom => Metric::Headroom,
        };
        // A limit on time holds for headroom across devices, unless headroom has one of its own.
        let limit = policy
            .limit(metric, &change.after, &change.name)
            .or_else(|| policy.limit(Metric::Time, &change.after, &change.name));
        let Some(limit) = limit else { continue };
        let Some(own) = &change.own else {
            checks.push(missing(comparison, change, limit, policy));
            continue;
        };
        let share = change.before.share.max(change.after.share);
        let counts = share >= limit.min_share.unwrap_or(0.0);
        timed.push(Timed { change, limit, own, mirror: mirrored(own), counts });
    }
    // Only kernels that count are judged together: the others cannot fail the gate.
    let family = |of: &dyn Fn(&Timed<'_>) -> Option<f64>| -> Vec<f64> {
        let all: Vec<Option<f64>> =
            timed.iter().map(|timed| of(timed).filter(|_| timed.counts)).collect();
        let known: Vec<f64> = all.iter().flatten().copied().collect();
        let mut adjusted = benjamini_hochberg(&known).into_iter();
        all.iter().map(|known| known.map_or(1.0, |_| adjusted.next().unwrap_or(1.0))).collect()
    };
    let worse = family(&|timed| probability(timed.own, timed.limit.shift()));
    let better = family(&|timed| probability(&timed.mirror, timed.limit.shift()));
    let judged = timed.iter().filter(|timed| timed.counts).count();
    let mut seen = Vec::new();
    for (at, timed) in timed.iter().enumerate() {
        let rate = policy.false_discovery;
        // Kernels too small to be judged are shown by their own probability.
        let allowed = |adjusted: f64| {
            move |own: f64| if timed.counts { adjusted <= rate } else { own <= rate }
        };
        let limit = timed.limit.shift();
        // The noise of several runs is in their spread; what is declared is for one run a side.
        let noise = if timed.own.unit == Unit::Runs { 0.0 } else { policy.noise.kernel.ln_1p() };
        let raw = timed.change.raw.as_ref().map_or(0.0, |raw| raw.shift);
        // What is only relative to others that moved is not a change of this kernel.
        let standing = if is_beyond(timed.own, limit, allowed(worse[at])) && raw > noise {
            Standing::Worse
        } else if is_beyond(&timed.mirror, limit, allowed(better[at])) && raw < -noise {
            Standing::Better
        } else if timed.own.shift > limit && raw > 0.0 {
            Standing::Unsure
        } else {
            Standing::Within
        };
        if timed.change.before.share.max(timed.change.after.share) >= WEIGHTY {
            let share = timed.change.before.share.max(timed.change.after.share);
            seen.push((detectable(timed.own, limit, rate, judged), share));
        }
        checks.push(time_check(comparison, policy, timed, standing));
    }
    Verdicts { checks, detectable: weighted_median(&seen).map(percent) }
}

fn time_check(
    comparison: &Comparison,
    policy: &Policy,
    timed: &Timed<'_>,
    standing: Standing,
) -> Check {
    let Timed { change, limit, own, .. } = timed;
    let by_headroom = comparison.basis == Basis::Headroom;
    let delta = difference(change, own);
    let run = comparison.current.time_s.max(comparison.baseline.time_s);
    // An absolute floor must not swallow a short run.
    let least = limit.at_least.unwrap_or(0.0).min(0.01 * run);
    let matters = timed.counts && (by_headroom || delta.abs() >= least);
    let mut evidence = words::evidence(comparison, change, own);
    let clock = clock_explains(change, limit.shift());
    // Where all kernels got so much faster, the shift that they share hides each.
    let raw = change.raw.as_ref().map_or(0.0, |raw| raw.shift);
    let standing = if standing == Standing::Within
        && raw < -policy.implausible_factor.max(1.0).ln()
        && raw < -own.floor
    {
        Standing::Better
    } else {
        standing
    };
    let tail = change.mean_shift.filter(|mean| {
        let common = if comparison.common.removed { comparison.common.evidence.shift } else { 0.0 };
        standing == Standing::Within && mean - common > 2.0 * limit.shift().max(own.floor)
    });
    let slower = || words::slower(change, own, limit, by_headroom);
    let (verdict, mut action, message) = match (standing, clock, tail) {
        (Standing::Worse, Some(reason), _) => {
            evidence.insert(0, reason);
            (Verdict::Ambiguous, policy.ambiguous, slower())
        }
        (Standing::Worse, None, _) => (Verdict::Regression, limit.action, slower()),
        (Standing::Unsure, ..) => {
            let doubt = words::doubt(own, limit.shift());
            (Verdict::Ambiguous, policy.ambiguous, format!("{}; {doubt}", slower()))
        }
        (Standing::Better, ..) if is_implausible(change, own, policy) => {
            // As measured: what all kernels share may be what is hard to believe.
            let measured = change.raw.as_ref().unwrap_or(own);
            (
                Verdict::ImplausibleImprovement,
                policy.implausible,
                words::implausible(change, measured),
            )
        }
        (Standing::Better, ..) => {
            (Verdict::Improvement, Action::None, words::moved(change, own, by_headroom))
        }
        (Standing::Within, _, Some(mean)) => {
            evidence.insert(0, words::tail(mean, own));
            (Verdict::Ambiguous, policy.ambiguous, words::moved(change, own, by_headroom))
        }
        (Standing::Within, _, None) => {
            (Verdict::Unchanged, Action::None, words::moved(change, own, by_headroom))
        }
    };
    if !matters && action > Action::Notice {
        action = Action::Notice;
        evidence.push(words::too_small(timed.counts, limit, delta));
    }
    let (before, after) = if by_headroom {
        (change.before.headroom.map(ratio), change.after.headroom.map(ratio))
    } else {
        (Some(seconds(change.before.launch_s)), Some(seconds(change.after.launch_s)))
    };
    Check {
        rule: if by_headroom { "headroom" } else { "time" }.to_owned(),
        metric: if by_headroom { Metric::Headroom } else { Metric::Time },
        subject: subject(&change.name, &change.after),
        verdict,
        action,
        before,
        after,
        change: Some(own.change()),
        interval: own.interval(),
        confidence: own.confidence,
        limit: Some(limit.worse),
        noise: (own.unit != Unit::Runs).then(|| percent(own.floor)),
        delta_s: (!by_headroom).then_some(delta),
        share: Some(change.after.share),
        matched: Some(change.pair.level),
        more_runs: (verdict == Verdict::Ambiguous).then(|| more_runs(own, limit.shift())).flatten(),
        message,
        evidence,
        waived: None,
    }
}

/// What the shift makes of the time of the kernel, in seconds: symmetric in the two sides.
fn difference(change: &Change, own: &Evidence) -> f64 {
    let launches = f64::midpoint(change.before.launches, change.after.launches);
    let middle = (change.before.launch_s * change.after.launch_s).sqrt();
    2.0 * middle * (own.shift / 2.0).sinh() * launches
}

/// Why a slower kernel may be the clock's doing: its cycles did not grow as its time did.
fn clock_explains(change: &Change, limit: f64) -> Option<String> {
    let cycles = change.cycles.as_ref()?;
    let clock = (change.after.clock_hz? / change.before.clock_hz?).ln();
    // A clock that stayed explains nothing, and a kernel that memory holds up may need fewer cycles.
    (cycles.shift < limit / 2.0 && clock < -limit / 2.0).then(|| {
        format!(
            "its SM cycles changed by {}, its clock by {}: the clock explains it, not the code, unless \
             the code makes the device throttle",
            words::change(cycles.shift),
            words::change(clock)
        )
    })
}

fn is_implausible(change: &Change, own: &Evidence, policy: &Policy) -> bool {
    let raw = change.raw.as_ref().map_or(own.shift, |raw| raw.shift);
    let far = own.shift.min(raw) < -policy.implausible_factor.max(1.0).ln();
    // Faster than the roof allows, which it was not before.
    let certain = |measured: &Measured| measured.headroom.is_some_and(|headroom| headroom < 0.97);
    far || certain(&change.after) && !certain(&change.before)
}

fn missing(comparison: &Comparison, change: &Change, limit: &Limit, policy: &Policy) -> Check {
    let reason = change.missing.clone().unwrap_or_else(|| "it has no value".to_owned());
    let share = change.before.share.max(change.after.share);
    let verdict = match comparison.basis {
        Basis::Time => Verdict::NoData,
        Basis::Headroom => Verdict::Incomparable,
    };
    let counts = share >= limit.min_share.unwrap_or(0.0) && share > 0.0;
    Check {
        verdict,
        action: if counts { policy.incomparable } else { Action::Notice },
        share: Some(share),
        matched: Some(change.pair.level),
        ..Check::new(
            "time",
            Metric::Time,
            subject(&change.name, &change.after),
            format!("cannot be compared: {reason}"),
        )
    }
}

/// A metric other than time, of which there is one value a side.
fn other_check(
    comparison: &Comparison,
    change: &Change,
    limit: &Limit,
    policy: &Policy,
) -> Option<Check> {
    let per_launch = |measured: &Measured, sum: Option<f64>| {
        sum.filter(|_| measured.launches > 0.0).map(|sum| sum / measured.launches)
    };
    let (before, after) = (&change.before, &change.after);
    let declared = comparison_noise(comparison);
    let noise = change.own.as_ref().map_or(COUNTED_NOISE, |own| own.floor.max(declared));
    let (one, two, unit, floor) = match limit.metric {
        Metric::Share => (Some(before.share), Some(after.share), "share", noise),
        Metric::Headroom | Metric::Roof => (before.headroom, after.headroom, "ratio", noise),
        Metric::Bytes => {
            (per_launch(before, before.bytes), per_launch(after, after.bytes), "B", COUNTED_NOISE)
        }
        Metric::Flops => (
            per_launch(before, before.flops),
            per_launch(after, after.flops),
            "FLOP",
            COUNTED_NOISE,
        ),
        Metric::Fp64 => (
            per_launch(before, before.fp64_flops),
            per_launch(after, after.fp64_flops),
            "FLOP",
            COUNTED_NOISE,
        ),
        Metric::Recoverable => {
            (Some(before.recoverable_s * comparison.work), Some(after.recoverable_s), "s", noise)
        }
        Metric::Launches => {
            (Some(before.launches * comparison.work), Some(after.launches), "count", COUNTED_NOISE)
        }
        _ => return None,
    };
    let (Some(one), Some(two)) = (one, two) else {
        // What neither side has cannot have changed; what one has says nothing about the other.
        let lacking = match (one, two) {
            (None, None) => return None,
            (None, _) => "the baseline",
            _ => "the current side",
        };
        return Some(Check {
            verdict: Verdict::NoData,
            action: policy.incomparable,
            share: Some(after.share),
            matched: Some(change.pair.level),
            ..Check::new(
                limit.metric.key(),
                limit.metric,
                subject(&change.name, after),
                format!(
                    "{lacking} does not tell its {}, which the policy limits",
                    limit.metric.key()
                ),
            )
        });
    };
    // From nothing to something is more than any share.
    let shift = match (one > 0.0, two > 0.0) {
        (true, true) => (two / one).ln(),
        (false, true) => f64::INFINITY,
        (true, false) => f64::NEG_INFINITY,
        (false, false) => 0.0,
    };
    let share = before.share.max(after.share);
    let enough = (two - one).abs() >= limit.at_least.unwrap_or(0.0)
        && share >= limit.min_share.unwrap_or(0.0);
    let beyond = shift > limit.shift().max(1e-9) && shift > floor;
    if !beyond {
        return None;
    }
    let shown = |value: f64| match limit.metric {
        Metric::Roof if value > 0.0 => Value { value: 1.0 / value, unit: "share" },
        _ => Value { value, unit },
    };
    let (one, two) = (shown(one), shown(two));
    Some(Check {
        verdict: Verdict::Regression,
        action: if enough { limit.action } else { limit.action.min(Action::Notice) },
        before: Some(one),
        after: Some(two),
        change: shift
            .is_finite()
            .then(|| percent(if limit.metric == Metric::Roof { -shift } else { shift })),
        limit: Some(limit.worse),
        share: Some(after.share),
        matched: Some(change.pair.level),
        ..Check::new(
            limit.metric.key(),
            limit.metric,
            subject(&change.name, after),
            words::metric(limit, one, two),
        )
    })
}

/// What noise leaves of values that follow the time, as a logarithm: nothing is known of their spread.
fn comparison_noise(comparison: &Comparison) -> f64 {
    let spread = |side: &crate::compare::Side| side.spread.unwrap_or(0.0);
    let spread = spread(&comparison.current).max(spread(&comparison.baseline));
    (2.0 * spread).max(0.03_f64.ln_1p())
}

/// Findings that the baseline does not have.
fn findings_check(change: &Change, limit: &Limit) -> Option<Check> {
    let least = limit.severity.unwrap_or(Severity::Info);
    // By rule alone: a severity follows the share of time, and may flip without any change.
    let had = |rule: &str| change.before.findings.iter().any(|(known, _)| known == rule);
    let new: Vec<String> = change
        .after
        .findings
        .iter()
        .filter(|(rule, severity)| *severity >= least && !had(rule))
        .map(|(rule, severity)| format!("{rule} ({})", severity.label()))
        .collect();
    (!new.is_empty()).then(|| Check {
        verdict: Verdict::Regression,
        action: limit.action,
        before: Some(Value { value: 0.0, unit: "count" }),
        after: Some(Value { value: new.len() as f64, unit: "count" }),
        share: Some(change.after.share),
        matched: Some(change.pair.level),
        ..Check::new(
            "findings",
            Metric::Findings,
            subject(&change.name, &change.after),
            format!("has findings that it had not: {}", new.join(", ")),
        )
    })
}

/// A kernel as the subject of a check.
pub(super) fn subject(name: &str, measured: &Measured) -> Subject {
    Subject::Kernel {
        name: name.to_owned(),
        full_name: measured.full_name.clone(),
        shape: measured.shape.clone(),
        device: measured.device.clone(),
    }
}

fn seconds(value: f64) -> Value {
    Value { value, unit: "s" }
}

fn ratio(value: f64) -> Value {
    Value { value, unit: "ratio" }
}
