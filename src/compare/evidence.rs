//! Evidence of two sets of runs on one kernel or total: its shift and the uncertainty.
//!
//! Shifts are natural logarithms of ratios: 0 is no change, `ln 1.05` is 5% more, and a shift from
//! A to B is the negative of the one from B to A. [`Shift::change`] converts them to relative
//! changes.

use schemars::JsonSchema;
use serde::Serialize;

use super::pairing::Pair;
use super::rule_list::RuleList;
use crate::rules::Severity;
use crate::units::{
    Bytes, Factor, Flops, Hertz, Probability, RelativeChange, Seconds, Share, Shift,
};

/// The unit of repetition behind an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Several runs per side, each with one value.
    Runs,
    /// One run per side with several launches, which share the conditions of their run.
    Launches,
    /// One value per side.
    Single,
}

/// A shift with its uncertainty.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// The shift: the median of all ratios between the sides (Hodges–Lehmann), as a logarithm.
    pub shift: Shift,
    /// Lower end of the distribution-free interval; `None` for one value per side.
    pub low: Option<Shift>,
    /// Upper end of the interval; `None` for one value per side.
    pub high: Option<Shift>,
    /// Two-sided confidence of the interval: as close to 90% as the counts allow, so that each end
    /// has 95%.
    pub confidence: Option<Probability>,
    /// The unit of repetition.
    pub unit: Unit,
    /// Number of values of the baseline.
    pub before: usize,
    /// Number of values of the current side.
    pub after: usize,
    /// Standard error of the shift with variances pooled across kernels; only for several runs.
    pub standard_error: Option<Shift>,
    /// Degrees of freedom of the standard error.
    pub degrees: Option<f64>,
    /// Shift that noise alone could explain, with one run per side.
    pub floor: Shift,
    /// The part of it that is one tick of the timer.
    #[serde(skip)]
    pub tick: Shift,
    /// Spread of single launches within a run, as a robust standard deviation of logarithms.
    pub within: Option<Shift>,
    /// Spread of the runs of one side, as a standard deviation of logarithms.
    pub between: Option<Shift>,
    /// Shift from each run to the next in the declared order, which is taken out; `None` where the order does
    /// not tell a drift from a change.
    pub drift: Option<Shift>,
}

/// The time of all launches of a kernel in a run, for the same amount of work of the run: medians over the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct OfAll {
    /// Its shift, with the global shift subtracted.
    pub evidence: Evidence,
    /// The time in the baseline, in seconds.
    pub before_s: Seconds,
    /// The time on the current side, in seconds.
    pub after_s: Seconds,
    /// Launches in the baseline.
    pub launches_before: f64,
    /// Launches on the current side.
    pub launches_after: f64,
}

/// A kernel of both sides, with the measurements and the shift between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The matched kernels of both sides and how they were matched.
    pub pair: Pair,
    /// Name in the current runs.
    pub name: String,
    /// Name in the baseline, if different.
    pub was: Option<String>,
    /// Measurements of the baseline: medians over its runs.
    pub before: Measured,
    /// Measurements of the current side: medians over its runs.
    pub after: Measured,
    /// The shift of the time per launch as measured, or of headroom if the devices differ. `None`
    /// if a side has nothing to compare; `missing` has the reason.
    pub raw: Option<Evidence>,
    /// The shift with the global shift subtracted.
    pub own: Option<Evidence>,
    /// Why there is no shift, if there is none.
    pub missing: Option<String>,
    /// Whether several kernels are compared as one, and others of them ran than before: no launch of them can be compared.
    pub is_mixed: bool,
    /// Change of the number of launches relative to other kernels, as a logarithm. Not part of the
    /// shift, which is per launch.
    pub launches_shift: Shift,
    /// The time of all launches; `None` for headroom, and where a side has no times.
    pub of_all: Option<OfAll>,
    /// The shift in SM cycles, if both sides have clocks.
    pub cycles: Option<Evidence>,
    /// The shift of the mean launch; it differs from the median if a few launches got much slower.
    pub mean_shift: Option<Shift>,
    /// Mann–Whitney probability of the ranks if launches were independent; informational only.
    pub p_launches: Option<Probability>,
    /// By how much the work of a launch changed; none where it did not, or was not counted.
    pub work: Option<WorkChange>,
    /// What probably became of kernels whose names do not say that they are the same; none where names do.
    pub inferred: Option<Inferred>,
}

/// What was counted of the work of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// Floating-point operations.
    Flops,
    /// Bytes to and from device memory, where neither side counted operations.
    Bytes,
}

impl Counted {
    /// Returns the shift from run to run that is other counting, not other work: caches hold more or less, which changes
    /// bytes by some percent.
    pub(crate) const fn noise(self) -> Shift {
        match self {
            Self::Flops => Shift::new(0.01),
            Self::Bytes => Shift::new(0.05),
        }
    }
}

/// By how much the work of one launch changed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct WorkChange {
    /// What was counted on both sides.
    pub counted: Counted,
    /// The shift, as a logarithm.
    pub shift: Shift,
    /// Whether it was subtracted from the shifts of the kernel.
    pub normalized: bool,
}

/// Kernels of different names that are compared as one: a confident [`Proposal`].
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Inferred {
    /// What probably happened.
    pub kind: ProposalKind,
    /// Names of the kernels before.
    pub before: Vec<String>,
    /// Names of the kernels now.
    pub after: Vec<String>,
    /// How sure, from 0 to 1.
    pub confidence: Probability,
    /// What speaks for it, in a sentence.
    pub why: String,
}

/// Measurements of a kernel, or a group of kernels, of one side: of several runs each figure is the median over those in
/// which it occurs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Measured {
    /// Number of runs in which it occurs.
    pub runs: usize,
    /// The runs in which it occurs, by their positions on its side.
    #[serde(skip)]
    #[schemars(skip)]
    pub in_runs: Vec<usize>,
    /// What follows its time in each of these runs, in the same order.
    #[serde(skip)]
    #[schemars(skip)]
    pub by_run: Vec<OfRun>,
    /// Number of launches.
    pub launches: f64,
    /// Time of all launches, in seconds; `null` if none has a duration.
    pub time_s: Option<Seconds>,
    /// Typical time of one launch, in seconds: the pseudo-median of its logarithms (Hodges–Lehmann), the median over several
    /// runs; `null` if none has a duration.
    pub launch_s: Option<Seconds>,
    /// Share of the run time, from 0 to 1; `null` if no launch has a duration.
    pub share: Option<Share>,
    /// Bytes to and from device memory, of all launches in which they were counted.
    pub bytes: Option<Bytes>,
    /// Floating-point operations.
    pub flops: Option<Flops>,
    /// Of these, operations in double precision.
    pub fp64_flops: Option<Flops>,
    /// The same of one launch.
    #[serde(skip)]
    #[schemars(skip)]
    pub per_launch: PerLaunch,
    /// Measured over roofline time.
    pub headroom: Option<Factor>,
    /// Lower bound of headroom, given what was not counted.
    pub headroom_low: Option<Factor>,
    /// Upper bound of headroom, where counts may be too high; `null` if nothing is certainly needed.
    pub headroom_high: Option<Factor>,
    /// Potential savings over the launches whose time is compared, in seconds; `null` where the roofline model does not
    /// cover the kernel.
    pub savings_s: Option<Seconds>,
    /// Mean SM clock, in hertz.
    pub clock_hz: Option<Hertz>,
    /// Category derived from the name.
    pub category: String,
    /// Framework operator and parameters.
    pub operator: Option<String>,
    /// Full name as written in the export.
    pub full_name: String,
    /// Grid and block, such as `108 / 256`; empty if unknown.
    pub shape: String,
    /// The device.
    pub device: String,
    /// Findings of the rules: rule and severity of each.
    pub findings: Vec<(String, Severity)>,
    /// Rules that looked at its kernels in every run; `None` if a document of an earlier version does not say.
    #[serde(skip)]
    #[schemars(skip)]
    pub rules: Option<RuleList>,
    /// Rules that were skipped on it because a metric is missing.
    #[serde(skip)]
    #[schemars(skip)]
    pub skipped_rules: RuleList,
}

/// Work of one launch of a kernel, of those in which it was counted: launches with a duration, or all where none has
/// one. Of several runs the median.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PerLaunch {
    /// Bytes to and from device memory.
    pub bytes: Option<Bytes>,
    /// Floating-point operations.
    pub flops: Option<Flops>,
    /// Of these, operations in double precision.
    pub fp64_flops: Option<Flops>,
}

/// What follows the time of a kernel in one run; `None` where the run does not know it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct OfRun {
    /// Share of the run time.
    pub share: Option<Share>,
    /// Measured over roofline time.
    pub headroom: Option<Factor>,
    /// Potential savings, in seconds.
    pub savings_s: Option<Seconds>,
}

impl Measured {
    /// Returns whether this rule could fire on it: it ran, and lacked no metric. `None` if a document of an earlier version
    /// does not say.
    #[must_use]
    pub fn is_judged_by(&self, rule: &str) -> Option<bool> {
        if self.skipped_rules.has(rule) {
            return Some(false);
        }
        self.rules.as_ref().map(|rules| rules.has(rule))
    }
}

/// A kernel that only one side has.
#[derive(Debug, Clone, PartialEq)]
pub struct Lone {
    /// Its position among the kernels of the side.
    pub kernel: usize,
    /// Name.
    pub name: String,
    /// Its measurements.
    pub measured: Measured,
}

/// Kinds of guesses about kernels that only one side has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProposalKind {
    /// One kernel under another name.
    Rename,
    /// Several kernels became one.
    Fusion,
    /// One kernel became several.
    Split,
}

/// A guess at what happened to kernels.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Kind of change.
    pub kind: ProposalKind,
    /// Positions among the vanished kernels.
    pub before: Vec<usize>,
    /// Positions among the new kernels.
    pub after: Vec<usize>,
    /// Confidence, from 0 to 1.
    pub confidence: Probability,
    /// Evidence for the guess, in a sentence.
    pub why: String,
    /// Time in the baseline, in seconds.
    pub before_s: Seconds,
    /// Time in the current runs, in seconds.
    pub after_s: Seconds,
    /// Whether it is sure enough to compare these kernels as one.
    pub is_sure: bool,
}

impl ProposalKind {
    /// The word in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Rename => "renamed",
            Self::Fusion => "fused",
            Self::Split => "split",
        }
    }
}

impl Change {
    /// Returns the evidence on a launch, or on the time of all where no launch can be compared.
    pub(crate) fn evidence(&self) -> Option<&Evidence> {
        let of_all = self.of_all.as_ref().filter(|_| self.is_mixed);
        self.own.as_ref().or(of_all.map(|all| &all.evidence))
    }

    /// Returns the larger of its shares of the run time; `None` if neither side has a duration of it.
    #[must_use]
    pub fn share(&self) -> Option<Share> {
        let known = self.before.share.into_iter().chain(self.after.share);
        known.reduce(Share::max)
    }
}

impl Evidence {
    /// The same evidence on what is left of the shift without a part of it.
    #[must_use]
    pub(super) fn without(self, part: Shift) -> Self {
        Self {
            shift: self.shift - part,
            low: self.low.map(|low| low - part),
            high: self.high.map(|high| high - part),
            ..self
        }
    }

    /// Returns how far the interval reaches below the shift; zero for one value per side.
    #[must_use]
    pub(crate) fn reach(&self) -> Shift {
        self.low.map_or(Shift::ZERO, |low| self.shift - low)
    }

    /// Returns the shift as a relative change: 0.05 is 5% more.
    #[must_use]
    pub fn change(&self) -> RelativeChange {
        self.shift.change()
    }

    /// Returns the ends of the interval as relative changes.
    #[must_use]
    pub fn interval(&self) -> Option<[RelativeChange; 2]> {
        Some([self.low?.change(), self.high?.change()])
    }
}
