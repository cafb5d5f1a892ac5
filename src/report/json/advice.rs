//! The part of the JSON report on what the profiler's own rules say.

use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::KernelAdvice;
use crate::model::SpeedupScope;

/// What one rule of the profiler says of a kernel.
#[derive(Serialize, JsonSchema)]
pub(super) struct AdviceDocument<'a> {
    /// The profiler's name of the rule.
    rule: &'a str,
    /// `optimization`, `warning`, `error`, `information` or `unknown`.
    kind: &'static str,
    /// What it is about, in a few words; `null` where the export has no text.
    about: Option<&'a str>,
    /// Launches of which it is said.
    launches: u64,
    /// The profiler's estimate; `null` where the export has none.
    speedup: Option<SpeedupDocument>,
}

/// What following the advice brings by the profiler's estimate: shares from 0, of several launches the
/// least and the greatest. Never to be added up.
#[derive(Serialize, JsonSchema)]
struct SpeedupDocument {
    /// `global`: shares of the kernel's time. `local`: of the use of one part of the hardware, which
    /// say nothing about time. `null` where the export does not say.
    scope: Option<&'static str>,
    low: f64,
    high: f64,
}

pub(super) fn documents(advice: &[KernelAdvice]) -> Vec<AdviceDocument<'_>> {
    let documents = advice.iter().map(|one| AdviceDocument {
        rule: &one.rule,
        kind: one.kind.label(),
        about: one.about.as_deref(),
        launches: one.launches,
        speedup: one.speedup.map(|speedup| SpeedupDocument {
            scope: speedup.scope.map(SpeedupScope::key),
            low: speedup.low,
            high: speedup.high,
        }),
    });
    documents.collect()
}
