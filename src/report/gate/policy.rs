//! What a policy allows, as machine formats repeat it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::compare::Noise;
use crate::gate::{Action, Bound, GateWaiver, Limit, Metric, Policy, Selector};

/// The limits that decided.
#[derive(Serialize, JsonSchema)]
pub(super) struct PolicyDocument<'a> {
    /// Greatest worsening per metric; the last limit that fits a kernel and a metric holds.
    limits: Vec<LimitDocument<'a>>,
    /// Bounds that need no baseline.
    bounds: Vec<BoundDocument<'a>>,
    /// Kernels that must be there, as patterns.
    required: &'a [String],
    /// Accepted regressions.
    waivers: Vec<WaiverDocument<'a>>,
    /// What noise may do where it cannot be measured; shares of one.
    noise: Noise,
    /// Allowed rate of false discoveries among regressions over several runs.
    false_discovery_rate: f64,
    /// What a kernel means that only the current side has.
    new: Action,
    /// What a kernel means that only the baseline has.
    vanished: Action,
    /// What a change means that is not certain.
    ambiguous: Action,
    /// What a kernel means that cannot be compared.
    incomparable: Action,
    /// What an improvement means that is not believable.
    implausible: Action,
    /// What a current side means that looks cut off.
    incomplete: Action,
    /// New and vanished kernels below this share are only counted.
    listed_share: f64,
    /// An improvement by more than this ratio is not believable.
    implausible_ratio: f64,
    /// Whether sides on different devices may be compared.
    across_devices: bool,
    /// Age from which a baseline is old.
    max_age_days: u32,
}

#[derive(Serialize, JsonSchema)]
struct LimitDocument<'a> {
    metric: Metric,
    selector: SelectorDocument<'a>,
    /// Greatest relative worsening: 0.05 is 5 %.
    worse: f64,
    /// Smallest worsening that counts, in the SI unit of the metric (time: seconds).
    at_least: Option<f64>,
    /// Smallest share of the time of the run that counts.
    min_share: Option<f64>,
    /// For findings: only those of this severity or above.
    severity: Option<&'static str>,
    action: Action,
}

#[derive(Serialize, JsonSchema)]
struct BoundDocument<'a> {
    name: &'a str,
    metric: Metric,
    selector: SelectorDocument<'a>,
    /// In the SI unit of the metric.
    min: Option<f64>,
    /// In the SI unit of the metric.
    max: Option<f64>,
    /// Kernels with a smaller share are left alone.
    min_share: f64,
    severity: Option<&'static str>,
    /// For findings: only those of this rule.
    rule: Option<&'a str>,
    action: Action,
}

#[derive(Serialize, JsonSchema)]
struct WaiverDocument<'a> {
    selector: SelectorDocument<'a>,
    /// `null` for all metrics.
    metric: Option<Metric>,
    reason: &'a str,
    owner: Option<&'a str>,
    /// The last day on which it holds, as `2026-11-22`.
    expires: Option<String>,
}

/// Which kernels: all that is given must fit; nothing given is every kernel.
#[derive(Serialize, JsonSchema)]
struct SelectorDocument<'a> {
    kernel: Option<&'a str>,
    operator: Option<&'a str>,
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
            false_discovery_rate: policy.false_discovery.get(),
            new: policy.new,
            vanished: policy.vanished,
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
