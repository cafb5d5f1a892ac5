//! Comparison of several inputs: ranks of one run, or repeated runs.

use serde::Serialize;

use crate::units::Seconds;

/// One input among several with its time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rank {
    /// Index among the sources.
    pub source: usize,
    /// Number of launches.
    pub launches: u64,
    /// Sum of durations; `None` if no launch has one.
    pub measured: Option<Seconds>,
}

/// A kernel whose time differs between inputs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spread {
    /// Kernel name as written in the export.
    pub kernel: String,
    /// Number of inputs in which it occurs.
    pub sources: u64,
    /// Smallest time over these inputs, in seconds.
    pub least: Seconds,
    /// Median time over these inputs, in seconds.
    pub median: Seconds,
    /// Largest time over these inputs, in seconds.
    pub greatest: Seconds,
    /// Index of the slowest input.
    pub slowest: usize,
}

/// Inputs compared with each other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ranks {
    /// All inputs, in order.
    pub ranks: Vec<Rank>,
    /// Kernels whose slowest input loses most compared with the median, most first.
    pub spreads: Vec<Spread>,
}
