//! What a team allows: limits on changes, bounds that need no baseline, and what doubt means.

use schemars::JsonSchema;
use serde::Serialize;

use super::thresholds::COUNTING_SHARE;
use super::value::Value;
use crate::analysis::{fits, is_called};
use crate::compare::{Measured, Noise};
use crate::model::Date;
use crate::rules::Severity;
use crate::units::{Dimension, Factor, Probability, RelativeChange, Share, Shift};

/// What is measured and judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Time of a kernel, for the same amount of work.
    Time,
    /// Share of a kernel in the time of the run.
    Share,
    /// Measured over expected time of a kernel.
    Headroom,
    /// Expected over measured time: 1 at the roof.
    Roof,
    /// Bytes to and from device memory, per launch.
    Bytes,
    /// Floating-point operations, per launch.
    Flops,
    /// Operations in double precision, per launch.
    Fp64,
    /// Findings of the rules.
    Findings,
    /// Time that a better implementation can win.
    Savings,
    /// Launches of a kernel.
    Launches,
    /// Time of the whole run, for the same amount of work.
    Total,
    /// The shift that all kernels share.
    CommonShift,
    /// Whether a kernel is there at all.
    Presence,
}

impl Metric {
    /// Every one.
    pub const ALL: [Self; 13] = [
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
        Self::Total,
        Self::CommonShift,
        Self::Presence,
    ];

    /// The word in files and reports.
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
            Self::Total => "total",
            Self::CommonShift => "common-shift",
            Self::Presence => "presence",
        }
    }

    /// What its values count; none where only its change has a meaning.
    #[must_use]
    pub const fn dimension(self) -> Option<Dimension> {
        match self {
            Self::Time | Self::Savings | Self::Total => Some(Dimension::Time),
            Self::Share | Self::Roof => Some(Dimension::Share),
            Self::Headroom => Some(Dimension::Factor),
            Self::Bytes => Some(Dimension::Bytes),
            Self::Flops | Self::Fp64 => Some(Dimension::Operations),
            Self::Findings | Self::Launches => Some(Dimension::Count),
            Self::CommonShift | Self::Presence => None,
        }
    }

    /// The metric of this word.
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.key() == key)
    }
}

/// What the policy makes of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Nothing: it is as it should be.
    None,
    /// Worth a line.
    Notice,
    /// Worth a warning.
    Warn,
    /// The gate cannot answer.
    Inconclusive,
    /// The gate fails.
    Fail,
}

impl Action {
    /// Every one, the mildest first.
    pub const ALL: [Self; 5] =
        [Self::None, Self::Notice, Self::Warn, Self::Inconclusive, Self::Fail];

    /// The word in files and reports.
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

    /// The action of this word.
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.key() == key)
    }
}

/// Which kernels a limit, a bound or a waiver holds for: all that it says must fit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector {
    /// A whole name, or a pattern in which `*` stands for anything.
    pub kernel: Option<String>,
    /// A pattern for the framework operator.
    pub operator: Option<String>,
    /// The key of a category, such as `dot-product`.
    pub category: Option<String>,
}

/// How much a metric may change against the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// What is judged.
    pub metric: Metric,
    /// Which kernels; the last limit that fits a kernel and a metric holds.
    pub selector: Selector,
    /// Greatest relative worsening: 0.05 lets times grow by 5%, and roofs fall by 5 %.
    pub worse: RelativeChange,
    /// Smallest worsening that counts, in the unit of the metric (for time: seconds of the whole kernel).
    pub at_least: Option<Value>,
    /// Kernels with a smaller share of the time of the run are shown, and judged only as part of the
    /// total.
    pub min_share: Option<Share>,
    /// For findings: only those of this severity or above.
    pub severity: Option<Severity>,
    /// What a regression means.
    pub action: Action,
}

/// A bound that needs no baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// How it is called in reports.
    pub name: String,
    /// What is judged.
    pub metric: Metric,
    /// Which kernels; none for metrics of the run.
    pub selector: Selector,
    /// Smallest value allowed.
    pub min: Option<Value>,
    /// Greatest value allowed.
    pub max: Option<Value>,
    /// Kernels with a smaller share are left alone.
    pub min_share: Share,
    /// For findings: only those of this severity or above.
    pub severity: Option<Severity>,
    /// For findings: only those of this rule.
    pub rule: Option<String>,
    /// What a violation means.
    pub action: Action,
}

/// A kernel whose regression is accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct GateWaiver {
    /// Which kernels.
    pub selector: Selector,
    /// Which metric; none for all.
    pub metric: Option<Metric>,
    /// Why.
    pub reason: String,
    /// Who answers for it.
    pub owner: Option<String>,
    /// Year, month and day after which it no longer holds.
    pub expires: Option<Date>,
}

/// Where the code of kernels is: for annotations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodePlace {
    /// Which kernels.
    pub selector: Selector,
    /// File, relative to the root of the repository.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
}

/// What a team allows.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// What noise may do where it cannot be measured, and how shifts are taken apart.
    pub noise: Noise,
    /// False-discovery rate that is allowed among the regressions found over several runs.
    pub false_discovery: Probability,
    /// How much metrics may change; see [`Limit::selector`].
    pub limits: Vec<Limit>,
    /// Bounds that need no baseline.
    pub bounds: Vec<Bound>,
    /// Kernels that must be there, as patterns.
    pub required: Vec<String>,
    /// Accepted regressions.
    pub waivers: Vec<GateWaiver>,
    /// Where the code of kernels is.
    pub code: Vec<CodePlace>,
    /// What a kernel that only the current runs have means.
    pub new: Action,
    /// What a kernel that only the baseline has means.
    pub vanished: Action,
    /// What a change that is not certain means.
    pub ambiguous: Action,
    /// What a kernel that cannot be compared means.
    pub incomparable: Action,
    /// What an improvement that is not believable means.
    pub implausible: Action,
    /// What a current side means that looks cut off.
    pub incomplete: Action,
    /// New and vanished kernels below this share of the run are only counted.
    pub listed_share: Share,
    /// An improvement by more than this factor is not believable.
    pub implausible_factor: Factor,
    /// Whether sides on different devices may be compared, by headroom.
    pub across_devices: bool,
    /// Days after which a baseline is old.
    pub max_age_days: u32,
    /// Fails nothing, with the same output.
    pub warn_only: bool,
}

/// A roof cannot be missed by all of itself: the fall that stands for one that may.
const WHOLE_ROOF: f64 = 0.999;

impl Limit {
    /// The worsening that is allowed, on the logarithmic scale on which shifts are judged: `ln 1.05` for
    /// 5%, and `-ln 0.95` for a share of the roof that may fall by 5 %.
    #[must_use]
    pub fn shift(&self) -> Shift {
        if self.metric == Metric::Roof {
            -RelativeChange::new(-self.worse.get().min(WHOLE_ROOF)).shift()
        } else {
            self.worse.shift()
        }
    }

    /// The smallest worsening that counts, in the unit of the metric.
    pub(super) fn least(&self) -> f64 {
        self.at_least.map_or(0.0, |least| least.value)
    }

    /// Whether a kernel with this share of the time is judged by itself.
    pub(super) fn counts(&self, share: Share) -> bool {
        self.min_share.is_none_or(|least| share >= least)
    }

    /// A limit for every kernel that fails the gate.
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
    /// Whether it leaves out no kernel.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a kernel of this short name is one of those meant.
    #[must_use]
    pub fn fits(&self, name: &str, measured: &Measured) -> bool {
        let named = |pattern: &String| is_called(pattern, name, &measured.full_name);
        let operator = measured.operator.as_deref().unwrap_or_default();
        self.kernel.as_ref().is_none_or(named)
            && self.operator.as_ref().is_none_or(|pattern| fits(pattern, operator))
            && self.category.as_ref().is_none_or(|category| *category == measured.category)
    }
}

impl Policy {
    /// The limit that holds for a kernel and a metric: the last that fits.
    #[must_use]
    pub fn limit(&self, metric: Metric, measured: &Measured, name: &str) -> Option<&Limit> {
        let fits = |limit: &&Limit| limit.metric == metric && limit.selector.fits(name, measured);
        self.limits.iter().rev().find(fits)
    }

    /// The shift below which an improvement is not believable.
    pub(super) fn implausible(&self) -> Shift {
        -self.implausible_factor.max(Factor::ONE).shift()
    }

    /// The limit for a metric of the whole run: the last one.
    #[must_use]
    pub fn limit_of_run(&self, metric: Metric) -> Option<&Limit> {
        self.limits.iter().rev().find(|limit| limit.metric == metric)
    }
}

/// What the policy is without one; `docs/gate-error-rates.md` says how often it is wrong, and
/// `docs/gate.md` how it decides.
mod default {
    use crate::units::{Factor, Probability, RelativeChange, Seconds, Share};

    /// A kernel: below what one run a side can tell, so that it is called ambiguous rather than missed.
    pub(super) const KERNEL: RelativeChange = RelativeChange::new(0.05);
    /// The whole and what is common to all: means of many kernels, of which less is noise.
    pub(super) const WHOLE: RelativeChange = RelativeChange::new(0.03);
    /// The launch of a kernel costs as much.
    pub(super) const AT_LEAST: Seconds = Seconds::new(5e-6);
    /// One in twenty of the regressions found may be false (Benjamini and Hochberg).
    pub(super) const FALSE_DISCOVERY: Probability = Probability::new(0.05);
    /// A thousand kernels of less make one.
    pub(super) const LISTED: Share = Share::new(0.001);
    /// Work that was left out is likelier than code three times as fast.
    pub(super) const IMPLAUSIBLE: Factor = Factor::new(3.0);
    /// A quarter of a year, in days: drivers and machines have changed since.
    pub(super) const MAX_AGE_DAYS: u32 = 90;
}

impl Default for Policy {
    /// Kernels may take 5% longer, the whole and what is common to all 3%, where that matters at
    /// all: kernels with 0.5% of the run, and 5 µs. What is not certain warns.
    fn default() -> Self {
        let time = Limit {
            at_least: Some(default::AT_LEAST.into()),
            min_share: Some(COUNTING_SHARE),
            ..Limit::new(Metric::Time, default::KERNEL)
        };
        Self {
            noise: Noise::default(),
            false_discovery: default::FALSE_DISCOVERY,
            limits: vec![
                time,
                Limit::new(Metric::Total, default::WHOLE),
                Limit::new(Metric::CommonShift, default::WHOLE),
            ],
            bounds: Vec::new(),
            required: Vec::new(),
            waivers: Vec::new(),
            code: Vec::new(),
            new: Action::Notice,
            vanished: Action::Warn,
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

    /// Times may grow by 5%, which is ln 1.05; a roof may fall by 5%, which is -ln 0.95.
    #[test]
    fn a_roof_falls_where_times_grow() {
        let shift = |metric, worse| Limit::new(metric, RelativeChange::new(worse)).shift().get();
        assert!((shift(Metric::Time, 0.05) - 1.05_f64.ln()).abs() < 1e-15);
        assert!((shift(Metric::Roof, 0.05) + 0.95_f64.ln()).abs() < 1e-15);
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
