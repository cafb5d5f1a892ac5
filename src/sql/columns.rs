//! Columns that several views share.

use crate::model::{Pipe, Quantity};

/// Quantities of which a kernel has averages that its state needs.
pub(super) const AVERAGED: [Quantity; 7] = [
    Quantity::SmCount,
    Quantity::ResidentBlocksPerSm,
    Quantity::SmThroughput,
    Quantity::MemoryThroughput,
    Quantity::DramThroughput,
    Quantity::L2HitRate,
    Quantity::L2Throughput,
];

/// Returns the column with the operations on a pipe.
pub(super) fn operations(pipe: Pipe) -> String {
    format!("{}s_{}", pipe.operation().to_lowercase(), pipe.key())
}
