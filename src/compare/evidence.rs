//! What two sets of runs tell about one thing: by how much it moved, and how surely.
//!
//! Shifts are natural logarithms of ratios: 0 is no change, `ln 1.05` is 5% more, and a shift from A to
//! B is the negative of the one from B to A. [`Shift::change`] turns them into what people read.

use schemars::JsonSchema;
use serde::Serialize;

use super::pairing::Pair;
use crate::rules::Severity;
use crate::units::{
    Bytes, Factor, Flops, Hertz, Probability, RelativeChange, Seconds, Share, Shift,
};

/// What is repeated, and so what an interval is an interval of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Several runs: each gives one value.
    Runs,
    /// One run a side, several launches in each. They share whatever befell their run.
    Launches,
    /// One number a side.
    Single,
}

/// A shift with what is known of its uncertainty.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Evidence {
    /// The shift: the median of all ratios between the sides (Hodges–Lehmann), as a logarithm.
    pub shift: Shift,
    /// Lower end of the distribution-free interval; none for a single number a side.
    pub low: Option<Shift>,
    /// Upper end.
    pub high: Option<Shift>,
    /// The confidence which that interval attains, two-sided: as near to 90% as the counts allow, so that
    /// one end has 95 %.
    pub confidence: Option<Probability>,
    /// What the interval is an interval of.
    pub unit: Unit,
    /// Values of the baseline.
    pub before: usize,
    /// Values of the current side.
    pub after: usize,
    /// Standard error of the shift, its variance pooled across kernels; only for runs.
    pub standard_error: Option<Shift>,
    /// Degrees of freedom of the standard error.
    pub degrees: Option<f64>,
    /// What noise alone may shift, where there is one run a side.
    pub floor: Shift,
    /// Spread of single launches within a run, as a standard deviation of logarithms; robust.
    pub within: Option<Shift>,
    /// Spread of runs of one side, as a standard deviation of logarithms.
    pub between: Option<Shift>,
}

/// How two kernels stand that are compared, and by how much they moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The kernels of both sides, and how surely they are the same.
    pub pair: Pair,
    /// How it is called in the current runs.
    pub name: String,
    /// How it was called, if differently.
    pub was: Option<String>,
    /// What was measured before, on average over the runs of the baseline.
    pub before: Measured,
    /// What is measured now.
    pub after: Measured,
    /// The shift of one launch's time, as measured; of headroom, where devices differ. None where
    /// either side has nothing to compare; the reason says what is missing.
    pub raw: Option<Evidence>,
    /// The same with the shift that is common to all kernels taken out.
    pub own: Option<Evidence>,
    /// Why there is no shift.
    pub missing: Option<String>,
    /// More or fewer launches, in proportion to those of other kernels; a logarithm. Not part of the
    /// shift: that is of one launch.
    pub launches_shift: Shift,
    /// The shift in SM cycles, where both sides have clocks.
    pub cycles: Option<Evidence>,
    /// The shift of the mean launch: far from the median where few launches got much slower.
    pub mean_shift: Option<Shift>,
    /// Probability of ranks so different by chance, were launches independent (Mann–Whitney); it
    /// informs and decides nothing.
    pub p_launches: Option<Probability>,
}

/// A kernel, or a group of kernels, of one side; averages over its runs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Measured {
    /// Runs in which it occurs.
    pub runs: usize,
    /// Executions.
    pub launches: f64,
    /// Time of all of them, in seconds.
    pub time_s: Seconds,
    /// Typical time of one launch, in seconds.
    pub launch_s: Seconds,
    /// Share of the time of the run.
    pub share: Share,
    /// Bytes to and from device memory.
    pub bytes: Option<Bytes>,
    /// Floating-point operations.
    pub flops: Option<Flops>,
    /// Of these, operations in double precision.
    pub fp64_flops: Option<Flops>,
    /// Measured over expected time.
    pub headroom: Option<Factor>,
    /// Headroom that is certain, given what was not counted.
    pub headroom_low: Option<Factor>,
    /// What a better implementation can win, in seconds.
    pub savings_s: Seconds,
    /// Mean SM clock, in hertz.
    pub clock_hz: Option<Hertz>,
    /// Category that the name tells.
    pub category: String,
    /// Framework operator and parameters.
    pub operator: Option<String>,
    /// The name as the export writes it.
    pub full_name: String,
    /// Grid and block, such as `108 / 256`; empty where not known.
    pub shape: String,
    /// The device.
    pub device: String,
    /// Findings of the rules: rule and severity.
    pub findings: Vec<(String, Severity)>,
}

/// A kernel that only one side has.
#[derive(Debug, Clone, PartialEq)]
pub struct Lone {
    /// Its position among the kernels of the side.
    pub kernel: usize,
    /// How it is called.
    pub name: String,
    /// What was measured.
    pub measured: Measured,
}

/// What may have become of kernels that only one side has.
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

/// A guess at what became of kernels, never used for the verdict on one.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// What may have happened.
    pub kind: ProposalKind,
    /// Positions among the vanished kernels.
    pub before: Vec<usize>,
    /// Positions among the new kernels.
    pub after: Vec<usize>,
    /// How sure, from 0 to 1.
    pub confidence: Probability,
    /// What speaks for it, in a sentence.
    pub why: String,
    /// Time before, in seconds.
    pub before_s: Seconds,
    /// Time now, in seconds.
    pub after_s: Seconds,
}

impl Evidence {
    /// The shift as a relative change: 0.05 is 5% more.
    #[must_use]
    pub fn change(&self) -> RelativeChange {
        self.shift.change()
    }

    /// The ends of the interval as relative changes.
    #[must_use]
    pub fn interval(&self) -> Option<[RelativeChange; 2]> {
        Some([self.low?.change(), self.high?.change()])
    }
}
