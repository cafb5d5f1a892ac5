//! The policy of a team: limits on changes, bounds that need no baseline, and actions on each
//! verdict.

use schemars::JsonSchema;
use serde::Serialize;

use super::thresholds::{COUNTING_SHARE, LARGEST_FLOOR, ROUNDING, UNDECLARED};
use super::value::Value;
use crate::analysis::Called;
use crate::compare::{Evidence, Measured, Noise, Unit};
use crate::model::Date;
use crate::plain::fits;
use crate::rules::Severity;
use crate::units::{Dimension, Factor, Probability, RelativeChange, Seconds, Share, Shift};

/// A metric that a policy can limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Time of a kernel in seconds, for the same amount of work.
    Time,
    /// A kernel's share of the run time, from 0 to 1.
    Share,
    /// Measured time over roofline time of a kernel.
    Headroom,
    /// Roofline time over measured time: 1 at the roof.
    Roof,
    /// Bytes to and from device memory, per launch.
    Bytes,
    /// Floating-point operations, per launch.
    Flops,
    /// Operations in double precision, per launch.
    Fp64,
    /// Number of findings of the rules.
    Findings,
    /// Potential savings in seconds.
    Savings,
    /// Number of launches of a kernel.
    Launches,
    /// Time of all launches of a kernel, for the same amount of work of the run.
    KernelTotal,
    /// Time of the whole run in seconds, for the same amount of work.
    Total,
    /// Global shift: the relative change that all kernels share.
    CommonShift,
    /// Presence of a kernel.
    Presence,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Self; 14] = [
        Self::Time,
        Self::Share,
        Self::Headroom,
        Self::Roof,
        Self::Bytes,
        Self::Flops,
        Self::Fp64,
        Self::Findings,
        Self::Savings,
        Self::Launches,
        Self::KernelTotal,
        Self::Total,
        Self::CommonShift,
        Self::Presence,
    ];

    /// Name used in files and reports.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Share => "share",
            Self::Headroom => "headroom",
            Self::Roof => "roof",
            Self::Bytes => "bytes",
            Self::Flops => "flops",
            Self::Fp64 => "fp64",
            Self::Findings => "findings",
            Self::Savings => "savings",
            Self::Launches => "launches",
            Self::KernelTotal => "kernel-total",
            Self::Total => "total",
            Self::CommonShift => "common-shift",
            Self::Presence => "presence",
        }
    }

    /// Dimension of the values; `None` if only changes are meaningful.
    #[must_use]
    pub const fn dimension(self) -> Option<Dimension> {
        match self {
            Self::Time | Self::Savings | Self::KernelTotal | Self::Total => Some(Dimension::Time),
            Self::Share | Self::Roof => Some(Dimension::Share),
            Self::Headroom => Some(Dimension::Factor),
            Self::Bytes => Some(Dimension::Bytes),
            Self::Flops | Self::Fp64 => Some(Dimension::Operations),
            Self::Findings | Self::Launches => Some(Dimension::Count),
            Self::CommonShift | Self::Presence => None,
        }
    }

    /// Returns the metric with this key, or with the key of an earlier version.
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        let key = if key == "recoverable" { "savings" } else { key };
        Self::ALL.into_iter().find(|metric| metric.key() == key)
    }
}

/// What times are compared for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Normalize {
    /// As measured.
    #[default]
    None,
    /// For the same operations, or bytes, of a launch.
    Work,
}

impl Normalize {
    /// Both.
    pub const ALL: [Self; 2] = [Self::None, Self::Work];

    /// The word in files and reports.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Work => "work",
        }
    }
}

/// Action of the policy on a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// No action.
    None,
    /// Report a notice.
    Notice,
    /// Report a warning.
    Warn,
    /// Make the gate inconclusive.
    Inconclusive,
    /// Fail the gate.
    Fail,
}

impl Action {
    /// All actions, mildest first.
    pub const ALL: [Self; 5] =
        [Self::None, Self::Notice, Self::Warn, Self::Inconclusive, Self::Fail];

    /// Name used in files and reports.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Notice => "notice",
            Self::Warn => "warn",
            Self::Inconclusive => "inconclusive",
            Self::Fail => "fail",
        }
    }

    /// Returns the action with this key.
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.key() == key)
    }
}

/// Selects the kernels to which a limit, bound or waiver applies; all given criteria must match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector {
    /// Full kernel name, or a pattern in which `*` matches anything.
    pub kernel: Option<String>,
    /// Pattern for the framework operator.
    pub operator: Option<String>,
    /// Key of a category, such as `dot-product`.
    pub category: Option<String>,
}

/// Limit on a metric's change compared with the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// The metric.
    pub metric: Metric,
    /// Kernels to which it applies; the last limit that matches a kernel and a metric is used.
    pub selector: Selector,
    /// Largest relative worsening allowed: 0.05 lets times grow by 5% and shares of the roof fall
    /// by 5%.
    pub worse: RelativeChange,
    /// Smallest worsening that counts, in the unit of the metric (for time: seconds of all launches
    /// of the kernel).
    pub at_least: Option<Value>,
    /// Kernels with a smaller share of the run time are shown, but judged only as part of the
    /// total.
    pub min_share: Option<Share>,
    /// For findings: counts only those of this severity or above.
    pub severity: Option<Severity>,
    /// Action on a regression.
    pub action: Action,
}

/// A bound on a metric's value, which needs no baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// Name in reports.
    pub name: String,
    /// The metric.
    pub metric: Metric,
    /// Kernels to which it applies; ignored for metrics of the run.
    pub selector: Selector,
    /// Smallest allowed value.
    pub min: Option<Value>,
    /// Largest allowed value.
    pub max: Option<Value>,
    /// Kernels with a smaller share of the run time are ignored.
    pub min_share: Share,
    /// For findings: counts only those of this severity or above.
    pub severity: Option<Severity>,
    /// For findings: counts only those of this rule.
    pub rule: Option<String>,
    /// Action on a violation.
    pub action: Action,
}

/// A waiver: accepts a regression of the selected kernels.
#[derive(Debug, Clone, PartialEq)]
pub struct GateWaiver {
    /// Kernels to which it applies.
    pub selector: Selector,
    /// Metric to which it applies; `None` means all metrics.
    pub metric: Option<Metric>,
    /// Reason for accepting the regression.
    pub reason: String,
    /// Person responsible.
    pub owner: Option<String>,
    /// Last day on which the waiver is valid.
    pub expires: Option<Date>,
}

impl GateWaiver {
    /// What it is for, in words.
    pub(super) fn of(&self) -> String {
        let Selector { kernel, operator, category } = &self.selector;
        let parts = [("", kernel), ("operator ", operator), ("category ", category)];
        let named: Vec<String> = parts
            .into_iter()
            .filter_map(|(what, pattern)| Some(format!("{what}{:?}", pattern.as_ref()?)))
            .collect();
        if named.is_empty() { "the run".to_owned() } else { named.join(", ") }
    }
}

/// Location of the source code of kernels, for annotations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodePlace {
    /// Kernels to which it applies.
    pub selector: Selector,
    /// File path relative to the root of the repository.
    pub file: String,
    /// Line number, from 1.
    pub line: u32,
}

/// What a team allows, and what happens otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// Noise floors for cases in which noise cannot be measured.
    pub noise: Noise,
    /// Whether that was declared, and so measured: else one run per side warns where several would fail.
    pub noise_is_declared: bool,
    /// Share of the baseline's time that must be compared: with less, the gate cannot answer.
    pub coverage: Share,
    /// Allowed false-discovery rate among regressions found over several runs.
    pub false_discovery: Probability,
    /// Limits on changes; see [`Limit::selector`] for their order.
    pub limits: Vec<Limit>,
    /// Bounds on values, which need no baseline.
    pub bounds: Vec<Bound>,
    /// Patterns of kernels that must be present.
    pub required: Vec<String>,
    /// Accepted regressions.
    pub waivers: Vec<GateWaiver>,
    /// Locations of the source code of kernels.
    pub code: Vec<CodePlace>,
    /// Action on a kernel that occurs only in the current runs.
    pub new: Action,
    /// Action on a kernel that occurs only in the baseline.
    pub vanished: Action,
    /// Largest action on a regression of a kernel that was renamed, fused or split. With
    /// [`Action::None`] such kernels are only new and vanished.
    pub renamed: Action,
    /// Whether times are compared for the same work.
    pub normalize: Normalize,
    /// A second baseline of the store to compare with: a commit, a tag, an entry, or `oldest`.
    pub anchor: Option<String>,
    /// Action on a change that is not certain.
    pub ambiguous: Action,
    /// Action on a kernel that cannot be compared.
    pub incomparable: Action,
    /// Action on an implausible improvement.
    pub implausible: Action,
    /// Action on current runs that look truncated.
    pub incomplete: Action,
    /// New and vanished kernels below this share of the run time are only counted.
    pub listed_share: Share,
    /// An improvement by more than this factor is implausible.
    pub implausible_factor: Factor,
    /// True if sides on different devices may be compared, by headroom.
    pub across_devices: bool,
    /// Age in days after which a baseline is reported as old.
    pub max_age_days: u32,
    /// True if the command exits 0 whatever the verdict; errors keep their codes, and its output is unchanged.
    pub warn_only: bool,
}

/// Largest fall of a share of the roof; a fall by 100% has no finite logarithm.
const WHOLE_ROOF: f64 = 0.999;

impl Limit {
    /// Returns the allowed worsening on the logarithmic scale on which shifts are judged: `ln 1.05`
    /// for 5%, and `-ln 0.95` for a share of the roof that may fall by 5%.
    #[must_use]
    pub fn shift(&self) -> Shift {
        let shift = if self.metric == Metric::Roof {
            -RelativeChange::new(-self.worse.get().min(WHOLE_ROOF)).shift()
        } else {
            self.worse.shift()
        };
        // What meets a limit exactly is within it, however its logarithm rounds.
        shift + ROUNDING
    }

    /// Returns the smallest worsening that counts, in the unit of the metric.
    pub(crate) fn least(&self) -> f64 {
        self.at_least.map_or(0.0, |least| least.value)
    }

    /// Returns `true` if so many seconds more count in a run this long, or of unknown length. The default is at most a
    /// part of a short run; what a policy states holds as it stands.
    pub(crate) fn is_enough(&self, seconds: Seconds, run: Seconds) -> bool {
        let least = Seconds::new(self.least());
        let is_default = least.total_cmp(&default::AT_LEAST).is_eq();
        seconds >= if is_default { least.min(run * LARGEST_FLOOR) } else { least }
    }

    /// Returns `true` if a kernel with this share of the run time is judged separately. Nothing says of an unknown share
    /// that it is too small.
    pub(crate) fn counts(&self, share: impl Into<Option<Share>>) -> bool {
        self.min_share.zip(share.into()).is_none_or(|(least, share)| share >= least)
    }

    /// The default limit on the time of a launch.
    pub(super) fn time() -> Self {
        Self {
            at_least: Some(default::AT_LEAST.into()),
            min_share: Some(COUNTING_SHARE),
            ..Self::new(Metric::Time, default::KERNEL)
        }
    }

    /// The default limit on the time of all launches: launches are counted without noise, and are more on purpose as
    /// often as not.
    pub(super) fn kernel_total() -> Self {
        Self { metric: Metric::KernelTotal, action: Action::Warn, ..Self::time() }
    }

    /// Makes a limit for every kernel, which fails the gate when exceeded.
    #[must_use]
    pub fn new(metric: Metric, worse: RelativeChange) -> Self {
        Self {
            metric,
            selector: Selector::default(),
            worse,
            at_least: None,
            min_share: None,
            severity: None,
            action: Action::Fail,
        }
    }
}

impl Selector {
    /// Returns `true` if it selects every kernel.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    /// Returns `true` if it selects by the kernel's name alone, and this one.
    pub(super) fn names(&self, name: &str) -> bool {
        self.operator.is_none()
            && self.category.is_none()
            && self
                .kernel
                .as_ref()
                .is_some_and(|kernel| crate::analysis::is_called(kernel, name, name))
    }

    /// Returns `true` if it selects the kernel with this short name and these measurements.
    #[must_use]
    pub fn fits(&self, name: &str, measured: &Measured) -> bool {
        self.selects(&Called::new(name, &measured.full_name), measured)
    }

    /// The same for a kernel that many selectors are asked about.
    pub(super) fn selects(&self, called: &Called<'_>, measured: &Measured) -> bool {
        let named = |pattern: &String| called.is(pattern);
        let operator = measured.operator.as_deref().unwrap_or_default();
        self.kernel.as_ref().is_none_or(named)
            && self.operator.as_ref().is_none_or(|pattern| fits(pattern, operator))
            && self.category.as_ref().is_none_or(|category| *category == measured.category)
    }
}

impl Policy {
    /// Returns the limit that applies to a kernel and a metric: the last one that matches.
    #[must_use]
    pub fn limit(&self, metric: Metric, measured: &Measured, name: &str) -> Option<&Limit> {
        let called = Called::new(name, &measured.full_name);
        let fits =
            |limit: &&Limit| limit.metric == metric && limit.selector.selects(&called, measured);
        self.limits.iter().rev().find(fits)
    }

    /// Returns the shift below which an improvement is implausible.
    pub(super) fn implausible(&self) -> Shift {
        -self.implausible_factor.max(Factor::ONE).shift()
    }

    /// What one run per side must exceed where its noise was not measured.
    pub(super) fn undeclared(&self) -> Option<Shift> {
        (!self.noise_is_declared).then(|| UNDECLARED.shift())
    }

    /// What noise alone could explain with one run per side, of which a floor is known.
    pub(super) fn noise_of(&self, floor: Shift) -> RelativeChange {
        floor.max(self.undeclared().unwrap_or(Shift::ZERO)).change()
    }

    /// Whether a shift of one run per side may be noise that nobody measured.
    pub(super) fn may_be_noise(&self, evidence: &Evidence) -> bool {
        let is_small = |most: Shift| evidence.shift <= most;
        evidence.unit != Unit::Runs && self.undeclared().is_some_and(is_small)
    }

    /// Returns the limit for a metric of the whole run: the last one.
    #[must_use]
    pub fn limit_of_run(&self, metric: Metric) -> Option<&Limit> {
        self.limits.iter().rev().find(|limit| limit.metric == metric)
    }
}

/// Values of the default policy; `docs/gate-error-rates.md` has its error rates, `docs/gate.md` its
/// method.
mod default {
    use crate::units::{Factor, Probability, RelativeChange, Seconds, Share};

    /// Limit for a kernel: below what one run per side can resolve, so that slowdowns are reported
    /// as ambiguous rather than missed.
    pub(super) const KERNEL: RelativeChange = RelativeChange::new(0.05);
    /// Limit for the total and the global shift: averages over many kernels, which are less noisy.
    pub(super) const WHOLE: RelativeChange = RelativeChange::new(0.03);
    /// About the cost of one kernel launch.
    pub(super) const AT_LEAST: Seconds = Seconds::new(5e-6);
    /// One in twenty reported regressions may be false (Benjamini and Hochberg).
    pub(super) const FALSE_DISCOVERY: Probability = Probability::new(0.05);
    /// A tenth of the time may be in kernels that came and went; what is said of less is not of the run.
    pub(super) const COVERAGE: Share = Share::new(0.9);
    /// A thousand kernels of this share make up a run.
    pub(super) const LISTED: Share = Share::new(0.001);
    /// Missing work is more likely than code that runs three times as fast.
    pub(super) const IMPLAUSIBLE: Factor = Factor::new(3.0);
    /// A quarter of a year in days; drivers and machines change in that time.
    pub(super) const MAX_AGE_DAYS: u32 = 90;
}

impl Default for Policy {
    /// Kernels may take 5% longer, the total and the global shift 3%. Only kernels with 0.5% of the
    /// run time and changes of 5 µs count; changes that are not certain warn.
    fn default() -> Self {
        Self {
            noise: Noise::default(),
            noise_is_declared: false,
            coverage: default::COVERAGE,
            false_discovery: default::FALSE_DISCOVERY,
            limits: vec![
                Limit::time(),
                Limit::kernel_total(),
                Limit::new(Metric::Total, default::WHOLE),
                Limit::new(Metric::CommonShift, default::WHOLE),
            ],
            bounds: Vec::new(),
            required: Vec::new(),
            waivers: Vec::new(),
            code: Vec::new(),
            new: Action::Notice,
            vanished: Action::Warn,
            renamed: Action::Fail,
            normalize: Normalize::None,
            anchor: None,
            ambiguous: Action::Warn,
            incomparable: Action::Warn,
            implausible: Action::Warn,
            incomplete: Action::Fail,
            listed_share: default::LISTED,
            implausible_factor: default::IMPLAUSIBLE,
            across_devices: false,
            max_age_days: default::MAX_AGE_DAYS,
            warn_only: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(kernel: &str) -> Selector {
        Selector { kernel: Some(kernel.to_owned()), ..Selector::default() }
    }

    #[test]
    fn the_last_limit_that_fits_holds() {
        let limit = |kernel: &str, worse: f64| {
            let limit = Limit::new(Metric::Time, RelativeChange::new(worse));
            Limit { selector: named(kernel), ..limit }
        };
        let limits = vec![limit("*", 0.05), limit("soft*", 0.2), limit("gemm", 0.1)];
        let policy = Policy { limits, ..Policy::default() };
        let worse = |metric: Metric, name: &str| {
            policy.limit(metric, &Measured::default(), name).map(|limit| limit.worse.get())
        };
        assert_eq!(worse(Metric::Time, "softmax"), Some(0.2));
        assert_eq!((worse(Metric::Time, "copy"), worse(Metric::Bytes, "copy")), (Some(0.05), None));
    }

    #[test]
    fn a_selector_wants_all_that_it_says() {
        let measured = Measured {
            full_name: "void softmax<4>(float*)".to_owned(),
            operator: Some("softmax dim=1".to_owned()),
            category: "normalization".to_owned(),
            ..Measured::default()
        };
        let fits = |selector: &Selector| selector.fits("softmax", &measured);
        assert!(
            fits(&Selector::default()) && fits(&named("soft*")) && fits(&named("void softmax*"))
        );
        let category = |key: &str| Selector { category: Some(key.to_owned()), ..named("softmax") };
        assert!(fits(&category("normalization")) && !fits(&category("normal")));
        let operator =
            |text: &str| Selector { operator: Some(text.to_owned()), ..named("softmax") };
        assert!(fits(&operator("softmax *")) && !fits(&operator("softmax")));
        let nothing = Measured::default();
        assert!(!operator("softmax *").fits("softmax", &nothing));
    }

    /// Times may grow by 5%, which is ln 1.05; a roof may fall by 5%, which is -ln 0.95. What meets a limit is within it.
    #[test]
    fn a_roof_falls_where_times_grow() {
        let shift = |metric, worse| Limit::new(metric, RelativeChange::new(worse)).shift().get();
        let rounding = ROUNDING.get();
        assert!((shift(Metric::Time, 0.05) - (1.05_f64.ln() + rounding)).abs() < 1e-15);
        assert!((shift(Metric::Roof, 0.05) - (rounding - 0.95_f64.ln())).abs() < 1e-15);
        for (before, after, worse) in
            [(10.0, 11.0, 0.1), (20.0, 21.0, 0.05), (100.0, 107.0, 0.07), (3e-4, 3.15e-4, 0.05)]
        {
            let moved = Shift::between(before, after).get();
            assert!(moved <= shift(Metric::Launches, worse), "{before} to {after}");
            assert!(moved + 1e-8 > shift(Metric::Launches, worse), "{before} to {after}");
        }
        assert!(shift(Metric::Roof, 2.0).is_finite());
    }

    /// Three times as fast, ln 1 / 3; a factor below one never makes a slowdown an improvement.
    #[test]
    fn what_is_too_fast_to_believe_is_a_factor() {
        let of = |factor: f64| {
            let implausible_factor = Factor::new(factor);
            Policy { implausible_factor, ..Policy::default() }.implausible().get()
        };
        assert!((of(3.0) - (1.0_f64 / 3.0).ln()).abs() < 1e-15);
        assert!(of(0.5).abs() < 1e-15);
    }
}
