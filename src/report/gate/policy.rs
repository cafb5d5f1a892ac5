//! The policy as machine formats repeat it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::compare::Noise;
use crate::gate::{Action, Bound, GateWaiver, Limit, Metric, Normalize, Policy, Selector};

/// The policy that was applied.
#[derive(Serialize, JsonSchema)]
pub(super) struct PolicyDocument<'a> {
    /// Limits on changes; the last limit that matches a kernel and a metric is used.
    limits: Vec<LimitDocument<'a>>,
    /// Bounds on values, which need no baseline.
    bounds: Vec<BoundDocument<'a>>,
    /// Patterns of kernels that must be present.
    required: &'a [String],
    /// Accepted regressions.
    waivers: Vec<WaiverDocument<'a>>,
    /// Noise floors for cases in which noise cannot be measured, as relative changes.
    noise: Noise,
    /// Whether that was declared; else one run per side warns where several would fail.
    noise_is_declared: bool,
    /// Share of the baseline's time that must be compared.
    coverage: f64,
    /// Allowed rate of false discoveries among regressions over several runs.
    false_discovery_rate: f64,
    /// Action on a kernel that only the current side has.
    new: Action,
    /// Action on a kernel that only the baseline has.
    vanished: Action,
    /// Largest action on a regression of a kernel that was renamed, fused or split.
    renamed: Action,
    /// Whether times are compared for the same work.
    normalize: Normalize,
    /// A second baseline of the store to compare with.
    anchor: Option<&'a str>,
    /// Action on a change that is not certain.
    ambiguous: Action,
    /// Action on a kernel that cannot be compared.
    incomparable: Action,
    /// Action on an implausible improvement.
    implausible: Action,
    /// Action on current runs that look truncated.
    incomplete: Action,
    /// New and vanished kernels below this share are only counted.
    listed_share: f64,
    /// An improvement by more than this ratio is implausible.
    implausible_ratio: f64,
    /// True if sides on different devices may be compared.
    across_devices: bool,
    /// Age in days after which a baseline is reported as old.
    max_age_days: u32,
}

#[derive(Serialize, JsonSchema)]
struct LimitDocument<'a> {
    /// The metric that is limited.
    metric: Metric,
    /// The kernels that it applies to.
    selector: SelectorDocument<'a>,
    /// Largest relative worsening allowed: 0.05 is 5%.
    worse: f64,
    /// Smallest worsening that counts, in the SI unit of the metric (time: seconds).
    at_least: Option<f64>,
    /// Smallest share of the run time that counts.
    min_share: Option<f64>,
    /// For findings: counts only those of this severity or above.
    severity: Option<&'static str>,
    /// What happens where it is exceeded.
    action: Action,
}

#[derive(Serialize, JsonSchema)]
struct BoundDocument<'a> {
    /// Name of the bound, for messages.
    name: &'a str,
    /// The metric that is bounded.
    metric: Metric,
    /// The kernels that it applies to.
    selector: SelectorDocument<'a>,
    /// Limit in the SI unit of the metric.
    min: Option<f64>,
    /// Limit in the SI unit of the metric.
    max: Option<f64>,
    /// Kernels with a smaller share of the run time are ignored.
    min_share: f64,
    /// For findings: counts only those of this severity or above.
    severity: Option<&'static str>,
    /// For findings: counts only those of this rule.
    rule: Option<&'a str>,
    /// What happens where it is violated.
    action: Action,
}

#[derive(Serialize, JsonSchema)]
struct WaiverDocument<'a> {
    /// The kernels that it applies to.
    selector: SelectorDocument<'a>,
    /// Metric to which it applies; `null` means all metrics.
    metric: Option<Metric>,
    /// Why the regression is accepted.
    reason: &'a str,
    /// Who is responsible.
    owner: Option<&'a str>,
    /// Last day on which it is valid, as `2026-11-22`.
    expires: Option<String>,
}

/// Selected kernels: all given criteria must match; no criteria select every kernel.
#[derive(Serialize, JsonSchema)]
struct SelectorDocument<'a> {
    /// Name of a kernel, or a pattern with `*`; `null` for any.
    kernel: Option<&'a str>,
    /// Name of an operator or range, or a pattern with `*`; `null` for any.
    operator: Option<&'a str>,
    /// Category of kernels; `null` for any.
    category: Option<&'a str>,
}

impl<'a> PolicyDocument<'a> {
    pub(super) fn of(policy: &'a Policy) -> Self {
        Self {
            limits: policy.limits.iter().map(limit).collect(),
            bounds: policy.bounds.iter().map(bound).collect(),
            required: &policy.required,
            waivers: policy.waivers.iter().map(waiver).collect(),
            noise: policy.noise,
            noise_is_declared: policy.noise_is_declared,
            coverage: policy.coverage.get(),
            false_discovery_rate: policy.false_discovery.get(),
            new: policy.new,
            vanished: policy.vanished,
            renamed: policy.renamed,
            normalize: policy.normalize,
            anchor: policy.anchor.as_deref(),
            ambiguous: policy.ambiguous,
            incomparable: policy.incomparable,
            implausible: policy.implausible,
            incomplete: policy.incomplete,
            listed_share: policy.listed_share.get(),
            implausible_ratio: policy.implausible_factor.get(),
            across_devices: policy.across_devices,
            max_age_days: policy.max_age_days,
        }
    }
}

fn limit(limit: &Limit) -> LimitDocument<'_> {
    LimitDocument {
        metric: limit.metric,
        selector: selector(&limit.selector),
        worse: limit.worse.get(),
        at_least: limit.at_least.map(|least| least.value),
        min_share: limit.min_share.map(crate::units::Share::get),
        severity: limit.severity.map(crate::rules::Severity::label),
        action: limit.action,
    }
}

fn bound(bound: &Bound) -> BoundDocument<'_> {
    BoundDocument {
        name: &bound.name,
        metric: bound.metric,
        selector: selector(&bound.selector),
        min: bound.min.map(|min| min.value),
        max: bound.max.map(|max| max.value),
        min_share: bound.min_share.get(),
        severity: bound.severity.map(crate::rules::Severity::label),
        rule: bound.rule.as_deref(),
        action: bound.action,
    }
}

fn waiver(waiver: &GateWaiver) -> WaiverDocument<'_> {
    WaiverDocument {
        selector: selector(&waiver.selector),
        metric: waiver.metric,
        reason: &waiver.reason,
        owner: waiver.owner.as_deref(),
        expires: waiver.expires.map(|day| day.to_string()),
    }
}

fn selector(selector: &Selector) -> SelectorDocument<'_> {
    SelectorDocument {
        kernel: selector.kernel.as_deref(),
        operator: selector.operator.as_deref(),
        category: selector.category.as_deref(),
    }
}
