//! Judges the bounds of a policy that need no baseline.

use super::decision::{Check, Subject, Value, Verdict};
use super::kernels::subject;
use super::policy::{Action, Bound, Metric, Policy};
use super::words;
use crate::compare::{Lone, Run};
use crate::rules::Severity;

/// A value that a bound is held against: what it is at least, and at most.
struct Known {
    least: f64,
    most: f64,
    unit: &'static str,
}

impl Known {
    fn exactly(value: f64, unit: &'static str) -> Self {
        Self { least: value, most: value, unit }
    }
}

/// Checks every bound on the kernels of the current side.
pub(super) fn judge(kernels: &[Lone], current: &[Run], policy: &Policy) -> Vec<Check> {
    policy.bounds.iter().flat_map(|bound| of_bound(bound, kernels, current, policy)).collect()
}

fn of_bound(bound: &Bound, kernels: &[Lone], current: &[Run], policy: &Policy) -> Vec<Check> {
    if bound.metric == Metric::Total {
        let mut times: Vec<f64> = current.iter().map(|run| run.measured_s).collect();
        times.sort_unstable_by(f64::total_cmp);
        let middle = times.get(times.len() / 2).copied();
        let known = middle.map(|time| Known::exactly(time, "s"));
        return vec![check(bound, Subject::Run, known, Some(1.0), policy)];
    }
    let meant: Vec<&Lone> =
        kernels.iter().filter(|lone| bound.selector.fits(&lone.name, &lone.measured)).collect();
    if meant.is_empty() {
        // A bound that holds for nothing sleeps.
        return vec![Check {
            verdict: Verdict::NoData,
            action: policy.incomparable,
            ..Check::new(
                &format!("bound:{}", bound.name),
                bound.metric,
                Subject::Run,
                format!("the bound {:?} fits no kernel of the current side", bound.name),
            )
        }];
    }
    let big = meant.iter().filter(|lone| lone.measured.share >= bound.min_share);
    big.map(|lone| {
        let subject = subject(&lone.name, &lone.measured);
        check(bound, subject, value(bound, lone), Some(lone.measured.share), policy)
    })
    .collect()
}

/// What is known of a kernel by the metric of a bound.
fn value(bound: &Bound, lone: &Lone) -> Option<Known> {
    let measured = &lone.measured;
    let per_launch = |sum: f64| sum / measured.launches.max(1.0);
    match bound.metric {
        Metric::Time => (measured.time_s > 0.0).then(|| Known::exactly(measured.time_s, "s")),
        Metric::Share => Some(Known::exactly(measured.share, "share")),
        Metric::Headroom => Some(Known {
            least: measured.headroom_low.unwrap_or(0.0),
            most: measured.headroom?,
            unit: "ratio",
        }),
        Metric::Roof => Some(Known {
            least: 1.0 / measured.headroom?,
            most: measured.headroom_low.map_or(f64::INFINITY, |headroom| 1.0 / headroom),
            unit: "share",
        }),
        Metric::Bytes => Some(Known::exactly(per_launch(measured.bytes?), "B")),
        Metric::Flops => Some(Known::exactly(per_launch(measured.flops?), "FLOP")),
        Metric::Fp64 => Some(Known::exactly(per_launch(measured.fp64_flops?), "FLOP")),
        Metric::Recoverable => Some(Known::exactly(measured.recoverable_s, "s")),
        Metric::Launches => Some(Known::exactly(measured.launches, "count")),
        Metric::Findings => {
            let least = bound.severity.unwrap_or(Severity::Info);
            let asked = |rule: &str| bound.rule.as_ref().is_none_or(|asked| asked == rule);
            let found = measured.findings.iter();
            let found = found.filter(|(rule, severity)| *severity >= least && asked(rule)).count();
            Some(Known::exactly(found as f64, "count"))
        }
        Metric::Presence => Some(Known::exactly(1.0, "count")),
        Metric::Total | Metric::CommonShift => None,
    }
}

fn check(
    bound: &Bound,
    subject: Subject,
    known: Option<Known>,
    share: Option<f64>,
    policy: &Policy,
) -> Check {
    let rule = format!("bound:{}", bound.name);
    let Some(known) = known else {
        return Check {
            verdict: Verdict::NoData,
            action: policy.incomparable,
            share,
            ..Check::new(
                &rule,
                bound.metric,
                subject,
                format!(
                    "its {} is not known, and the bound {:?} asks for it",
                    bound.metric.key(),
                    bound.name
                ),
            )
        };
    };
    let shown = |number: f64| words::value(Value { value: number, unit: known.unit });
    let seen = if known.least < known.most * 0.999 {
        let most =
            if known.most.is_finite() { shown(known.most) } else { "an unknown value".to_owned() };
        format!("between {} and {most}", shown(known.least))
    } else {
        shown(known.least)
    };
    let below =
        bound.min.filter(|min| known.least < *min).map(|min| (min, known.most < min, "at least"));
    let above =
        bound.max.filter(|max| known.most > *max).map(|max| (max, known.least > max, "at most"));
    let (verdict, action, message, limit) = match below.or(above) {
        Some((limit, certain, word)) => {
            let message = format!(
                "{} is {seen}, and {word} {} is asked for by the bound {:?}",
                bound.metric.key(),
                shown(limit),
                bound.name
            );
            if certain {
                (Verdict::Violation, bound.action, message, Some(limit))
            } else {
                (Verdict::Ambiguous, policy.ambiguous, message, Some(limit))
            }
        }
        None => (
            Verdict::Unchanged,
            Action::None,
            format!("{} is {seen}", bound.metric.key()),
            bound.min.or(bound.max),
        ),
    };
    Check {
        verdict,
        action,
        after: known.least.is_finite().then_some(Value { value: known.least, unit: known.unit }),
        limit,
        share,
        ..Check::new(&rule, bound.metric, subject, message)
    }
}
