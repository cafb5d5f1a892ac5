//! Two sets of runs set beside each other: what all kernels share, what each has of its own.

use schemars::JsonSchema;
use serde::Serialize;

use super::evidence::{Change, Evidence, Lone, Proposal};
use crate::units::{Factor, Seconds, Shift};

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Measured time: both sides ran on the same device.
    Time,
    /// Headroom, the distance from each device's own roof: the sides ran on different devices.
    Headroom,
}

/// The runs of one side.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Side {
    /// What its runs are called.
    pub labels: Vec<String>,
    /// Its devices, by name.
    pub devices: Vec<String>,
    /// Time of one run, in seconds: the median of its runs.
    pub time_s: Seconds,
    /// Launches of one run: the median.
    pub launches: f64,
    /// Kernels that occur in any run.
    pub kernels: usize,
    /// Commits of saved runs, each once.
    pub commits: Vec<String>,
    /// Spread of the time of its runs, as a standard deviation of logarithms.
    pub spread: Option<Shift>,
}

/// The shift that is common to all kernels of a run: clocks, temperature, a driver.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Common {
    /// The shift: the median over kernels that take a share worth telling.
    pub evidence: Evidence,
    /// Kernels it was taken from.
    pub kernels: usize,
    /// Whether it was taken out of the shift of each kernel.
    pub removed: bool,
    /// Why, or why not.
    pub reason: String,
    /// The same in SM cycles, where all of those kernels have clocks: what a clock cannot explain.
    pub cycles: Option<Shift>,
}

/// Two sets of runs, compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What is compared.
    pub basis: Basis,
    /// What was before.
    pub baseline: Side,
    /// What is now.
    pub current: Side,
    /// Order in which runs were taken, such as `ABBA`; none where it was not declared.
    pub order: Option<String>,
    /// What all kernels share.
    pub common: Common,
    /// The whole run, for the same amount of work.
    pub total: Evidence,
    /// The same with every launch taken for a typical one of its kernel, as a logarithm: what single
    /// launches that took much longer cannot move. Only for one run a side on the same device.
    pub total_typical: Option<Shift>,
    /// How much more work the current runs hold: the usual ratio of launches; 1 where it is the same.
    pub work: Factor,
    /// Kernels that both sides have, those with most time first.
    pub changes: Vec<Change>,
    /// Kernels that only the current side has, those with most time first.
    pub new: Vec<Lone>,
    /// Kernels that only the baseline has.
    pub vanished: Vec<Lone>,
    /// What may have become of them.
    pub proposals: Vec<Proposal>,
    /// Whether the current side looks like the beginning of the baseline: a file that was cut off.
    pub cut_off: Option<String>,
    /// Differences of the sides that make a comparison doubtful, one sentence each.
    pub doubts: Vec<String>,
    /// What a reader must know, one sentence each.
    pub notes: Vec<String>,
}
