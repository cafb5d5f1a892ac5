//! Several inputs beside each other: ranks of one run, or repeated runs.

use serde::Serialize;

use crate::units::Seconds;

/// One input among several: its time beside that of the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rank {
    /// Position among the sources.
    pub source: usize,
    /// Executions.
    pub launches: u64,
    /// Sum of durations; `None` if no launch has one.
    pub measured: Option<Seconds>,
}

/// A kernel whose time differs between inputs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spread {
    /// Kernel name as the export writes it.
    pub kernel: String,
    /// Inputs in which it occurs.
    pub sources: u64,
    /// Least, median and greatest time over those inputs.
    pub least: Seconds,
    /// The middle one.
    pub median: Seconds,
    /// The greatest one.
    pub greatest: Seconds,
    /// The input with the greatest time.
    pub slowest: usize,
}

/// Inputs compared with each other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ranks {
    /// Every input, in order.
    pub ranks: Vec<Rank>,
    /// The kernels whose slowest input loses most against the median, most first.
    pub spreads: Vec<Spread>,
}
