//! The comparison of two sets of runs: the global shift of all kernels and the shift of each
//! kernel.

use schemars::JsonSchema;
use serde::Serialize;

use super::contributions::Contributions;
use super::evidence::{Change, Evidence, Lone, Proposal};
use crate::units::{Factor, Seconds, Shift};

/// The quantity that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Measured time, if both sides ran on the same device.
    Time,
    /// Headroom over each device's own roofline, if the sides ran on different devices.
    Headroom,
}

/// The runs of one side.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Side {
    /// Labels of its runs.
    pub labels: Vec<String>,
    /// Names of its devices.
    pub devices: Vec<String>,
    /// Time of one run in seconds: the median over its runs.
    pub time_s: Seconds,
    /// Launches of one run: the median over its runs.
    pub launches: f64,
    /// Number of kernels that occur in any of its runs.
    pub kernels: usize,
    /// Commits of saved runs, each once.
    pub commits: Vec<String>,
    /// Run-to-run spread of the total time, as a standard deviation of logarithms.
    pub spread: Option<Shift>,
}

/// The global shift that all kernels of a run share: clocks, temperature, driver.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Common {
    /// The shift: the median over kernels with a sufficient share of the time.
    pub evidence: Evidence,
    /// Number of kernels it was computed from.
    pub kernels: usize,
    /// True if it was subtracted from the shift of each kernel.
    pub removed: bool,
    /// Why it was subtracted, or why not.
    pub reason: String,
    /// The global shift in SM cycles, if all of these kernels have clocks: the part that a clock
    /// change cannot explain.
    pub cycles: Option<Shift>,
}

/// The comparison of two sets of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The quantity that is compared.
    pub basis: Basis,
    /// The baseline side.
    pub baseline: Side,
    /// The current side.
    pub current: Side,
    /// Order in which runs were taken, such as `ABBA`; `None` if it was not declared.
    pub order: Option<String>,
    /// The global shift of all kernels.
    pub common: Common,
    /// The shift of the whole run's time, for the same amount of work.
    pub total: Evidence,
    /// The shift of the total as a logarithm if every launch took the median time of its kernel, so
    /// that single slow launches do not count. Only for one run per side on the same device.
    pub total_typical: Option<Shift>,
    /// Work of the current runs relative to the baseline: the usual ratio of launches; 1 if it is
    /// the same.
    pub work: Factor,
    /// Factor by which kernels with changed work should change the total; 1 if work is not normalized.
    pub other_work: Factor,
    /// The parts of the total's change.
    pub contributions: Contributions,
    /// Kernels that both sides have, most time first, including confident renames, fusions and splits.
    pub changes: Vec<Change>,
    /// Kernels that only the current side has, most time first.
    pub new: Vec<Lone>,
    /// Kernels that only the baseline has.
    pub vanished: Vec<Lone>,
    /// Guesses at what happened to new and vanished kernels, not confident enough to compare them as one.
    pub proposals: Vec<Proposal>,
    /// Why the current side looks like a truncated copy of the baseline, if it does.
    pub cut_off: Option<String>,
    /// Differences between the sides that make the comparison doubtful, one sentence each.
    pub doubts: Vec<String>,
    /// Caveats, one sentence each.
    pub notes: Vec<String>,
}
