//! Judges the bounds of a policy that need no baseline.

use super::decision::{Check, Subject, Verdict};
use super::policy::{Action, Bound, Metric, Policy};
use super::value::{Allowed, Value};
use super::words;
use crate::compare::{Lone, Run};
use crate::rules::Severity;
use crate::units::{Dimension, Factor, Seconds, Share};

/// A value whose ends lie within this part of each other is shown as one: three digits would be the same.
const ONE_VALUE: f64 = 0.999;

/// A value that a bound is held against: what it is at least, and at most.
struct Known {
    least: f64,
    most: f64,
    unit: Dimension,
}

impl Known {
    fn exactly(value: impl Into<Value>) -> Self {
        let Value { value, unit } = value.into();
        Self { least: value, most: value, unit }
    }
}

/// Checks every bound on the kernels of the current side.
pub(super) fn judge(kernels: &[Lone], current: &[Run], policy: &Policy) -> Vec<Check> {
    policy.bounds.iter().flat_map(|bound| of_bound(bound, kernels, current, policy)).collect()
}

fn of_bound(bound: &Bound, kernels: &[Lone], current: &[Run], policy: &Policy) -> Vec<Check> {
    if bound.metric == Metric::Total {
        let mut times: Vec<Seconds> = current.iter().map(|run| run.measured_s).collect();
        times.sort_unstable_by(Seconds::total_cmp);
        let known = times.get(times.len() / 2).map(|time| Known::exactly(*time));
        return vec![check(bound, Subject::Run, known, Share::new(1.0), policy)];
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
        let subject = Subject::kernel(&lone.name, &lone.measured);
        check(bound, subject, value(bound, lone), lone.measured.share, policy)
    })
    .collect()
}

/// What is known of a kernel by the metric of a bound.
fn value(bound: &Bound, lone: &Lone) -> Option<Known> {
    let measured = &lone.measured;
    let launches = measured.launches.max(1.0);
    match bound.metric {
        Metric::Time => (measured.time_s > Seconds::ZERO).then(|| Known::exactly(measured.time_s)),
        Metric::Share => Some(Known::exactly(measured.share)),
        Metric::Headroom => Some(Known {
            least: measured.headroom_low.map_or(0.0, Factor::get),
            most: measured.headroom?.get(),
            unit: Dimension::Factor,
        }),
        Metric::Roof => Some(Known {
            least: 1.0 / measured.headroom?.get(),
            most: measured.headroom_low.map_or(f64::INFINITY, |headroom| 1.0 / headroom.get()),
            unit: Dimension::Share,
        }),
        Metric::Bytes => Some(Known::exactly(measured.bytes? / launches)),
        Metric::Flops => Some(Known::exactly(measured.flops? / launches)),
        Metric::Fp64 => Some(Known::exactly(measured.fp64_flops? / launches)),
        Metric::Recoverable => Some(Known::exactly(measured.recoverable_s)),
        Metric::Launches => Some(Known::exactly(Value::count(measured.launches))),
        Metric::Findings => {
            let least = bound.severity.unwrap_or(Severity::Info);
            let asked = |rule: &str| bound.rule.as_ref().is_none_or(|asked| asked == rule);
            let found = measured.findings.iter();
            let found = found.filter(|(rule, severity)| *severity >= least && asked(rule)).count();
            Some(Known::exactly(Value::count(found as f64)))
        }
        Metric::Presence => Some(Known::exactly(Value::count(1.0))),
        Metric::Total | Metric::CommonShift => None,
    }
}

fn check(
    bound: &Bound,
    subject: Subject,
    known: Option<Known>,
    share: Share,
    policy: &Policy,
) -> Check {
    let rule = format!("bound:{}", bound.name);
    let key = bound.metric.key();
    let Some(known) = known else {
        let message = format!("its {key} is not known, and the bound {:?} asks for it", bound.name);
        return Check {
            verdict: Verdict::NoData,
            action: policy.incomparable,
            share: Some(share),
            ..Check::new(&rule, bound.metric, subject, message)
        };
    };
    let seen = known.shown();
    let (verdict, action, message, limit) = match broken(bound, &known) {
        Some(Broken { limit, is_certain, word }) => {
            let message = format!(
                "{key} is {seen}, and {word} {} is asked for by the bound {:?}",
                words::value(limit),
                bound.name
            );
            if is_certain {
                (Verdict::Violation, bound.action, message, Some(limit))
            } else {
                (Verdict::Ambiguous, policy.ambiguous, message, Some(limit))
            }
        }
        None => {
            let limit = bound.min.or(bound.max);
            (Verdict::Unchanged, Action::None, format!("{key} is {seen}"), limit)
        }
    };
    let least = Value { value: known.least, unit: known.unit };
    Check {
        verdict,
        action,
        after: known.least.is_finite().then_some(least),
        limit: limit.map(Allowed::Bound),
        share: Some(share),
        ..Check::new(&rule, bound.metric, subject, message)
    }
}

impl Known {
    /// One value, or two between which it lies.
    fn shown(&self) -> String {
        let shown = |value: f64| words::value(Value { value, unit: self.unit });
        if self.least >= self.most * ONE_VALUE {
            return shown(self.least);
        }
        let is_known = self.most.is_finite();
        let most = if is_known { shown(self.most) } else { "an unknown value".to_owned() };
        format!("between {} and {most}", shown(self.least))
    }
}

/// A limit that a value may lie beyond.
struct Broken {
    limit: Value,
    is_certain: bool,
    word: &'static str,
}

fn broken(bound: &Bound, known: &Known) -> Option<Broken> {
    let below = bound.min.filter(|min| known.least < min.value).map(|limit| Broken {
        limit,
        is_certain: known.most < limit.value,
        word: "at least",
    });
    below.or_else(|| {
        bound.max.filter(|max| known.most > max.value).map(|limit| Broken {
            limit,
            is_certain: known.least > limit.value,
            word: "at most",
        })
    })
}
