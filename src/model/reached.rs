//! Rates that a benchmark reached on the device of the launches.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Pipe;
use crate::units::{BytesPerSecond, FlopsPerSecond};

/// Rates that a profiler's own benchmark reached on the machine of the launches.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Reached {
    /// The benchmark, such as `rocprof-compute`.
    pub by: String,
    /// The file with its results, and over how many devices they are a median.
    pub from: String,
    /// Bandwidth of device memory.
    pub dram: Option<BytesPerSecond>,
    /// Bandwidth of L2.
    pub l2: Option<BytesPerSecond>,
    /// Bandwidth of the L1 caches together.
    pub l1: Option<BytesPerSecond>,
    /// Bandwidth of shared memory (AMD: LDS) of all SMs together.
    pub shared: Option<BytesPerSecond>,
    /// Rate of each pipe.
    pub peaks: BTreeMap<Pipe, FlopsPerSecond>,
}
