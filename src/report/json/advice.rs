//! Results of the profiler's own rules in the JSON report.

use schemars::JsonSchema;
use serde::Serialize;

use crate::analysis::KernelAdvice;
use crate::model::SpeedupScope;

/// Result of one profiler rule on a kernel.
#[derive(Serialize, JsonSchema)]
pub(super) struct AdviceDocument<'a> {
    /// The profiler's name for the rule.
    rule: &'a str,
    /// `optimization`, `warning`, `error`, `information` or `unknown`.
    kind: &'static str,
    /// Subject, in a few words; `null` if the export has no text.
    about: Option<&'a str>,
    /// Number of launches with this result.
    launches: u64,
    /// Estimated speedup; `null` if the export has none.
    speedup: Option<SpeedupDocument>,
}

/// The profiler's speedup estimate as shares, smallest and largest over the launches. Estimates
/// must not be summed.
#[derive(Serialize, JsonSchema)]
struct SpeedupDocument {
    /// `global`: shares of the kernel's time. `local`: shares of the use of one hardware unit,
    /// which do not translate to time. `null` if the export does not state it.
    scope: Option<&'static str>,
    /// Lower end of the range.
    low: f64,
    /// Upper end of the range.
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
