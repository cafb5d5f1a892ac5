//! What is predicted of a kernel on a device: times, ridge point, limiter, and what else decides.

use schemars::JsonSchema;
use serde::Serialize;

use super::count::Count;
use super::links::LinkTime;
use super::pipes::PipeTime;
use super::tiling::Tiling;
use crate::units::{Bytes, BytesPerSecond, Flops, FlopsPerByte, FlopsPerSecond, Seconds};

/// What a kernel should take on a device. Every figure is modeled.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Prediction {
    /// The closed form.
    pub form: &'static str,
    /// Its arguments as given.
    pub arguments: String,
    /// The device's unique name.
    pub device: String,
    /// All operations; OP rather than FLOP on integer pipes.
    #[serde(rename = "flop")]
    pub operations: Flops,
    /// Compulsory reads.
    pub read_bytes: Bytes,
    /// Compulsory writes.
    pub written_bytes: Bytes,
    /// Compulsory traffic.
    pub bytes: Bytes,
    /// Operations over bytes; none where no byte moves.
    #[serde(rename = "intensity_flop_per_byte")]
    pub intensity: Option<FlopsPerByte>,
    /// The work of each pipe, the main one first; empty where nothing is computed.
    pub pipes: Vec<PipeTime>,
    /// The compute roof of this work: the pipe's peak, or the rate of the mixture where two pipes
    /// work side by side; none where nothing is computed.
    #[serde(rename = "peak_flop_per_s")]
    pub peak: Option<FlopsPerSecond>,
    /// The memory roof.
    #[serde(rename = "bandwidth_bytes_per_s")]
    pub bandwidth: BytesPerSecond,
    /// Where the roofs meet.
    #[serde(rename = "ridge_point_flop_per_byte")]
    pub ridge_point: Option<FlopsPerByte>,
    /// Where the compute roof meets that of L2; none where its bandwidth is not known.
    #[serde(rename = "l2_ridge_point_flop_per_byte")]
    pub l2_ridge_point: Option<FlopsPerByte>,
    /// Bytes over bandwidth.
    #[serde(rename = "t_mem_s")]
    pub t_mem: Seconds,
    /// Operations over peak; the longest of pipes that work side by side.
    #[serde(rename = "t_math_s")]
    pub t_math: Seconds,
    /// The transfer over a link, if there is one.
    pub link: Option<LinkTime>,
    /// The longest of all: what the roofs allow.
    #[serde(rename = "roofline_s")]
    pub roofline_time: Seconds,
    /// The same with the rates that well-written kernels reach.
    pub achievable: Option<Achievable>,
    /// What the kernel meets first.
    pub limiter: PredictedLimiter,
    /// Operations over expected time; none where nothing is computed.
    #[serde(rename = "attainable_flop_per_s")]
    pub attainable: Option<FlopsPerSecond>,
    /// What tiles add, for matrix products.
    pub tiling: Option<Tiling>,
    /// What a reader must know beside the numbers, one sentence each.
    pub remarks: Vec<String>,
    /// The counts in detail.
    pub count: Count,
}

/// Times with the rates that published benchmarks reach, or the usual share of the peak.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Achievable {
    /// Memory bandwidth.
    #[serde(rename = "bandwidth_bytes_per_s")]
    pub bandwidth: BytesPerSecond,
    /// Where it comes from.
    pub bandwidth_source: String,
    /// Rate of the main pipe; none where nothing is computed.
    #[serde(rename = "peak_flop_per_s")]
    pub peak: Option<FlopsPerSecond>,
    /// Where it comes from.
    pub peak_source: Option<String>,
    /// Bytes over bandwidth.
    #[serde(rename = "t_mem_s")]
    pub t_mem: Seconds,
    /// Operations over rates.
    #[serde(rename = "t_math_s")]
    pub t_math: Seconds,
    /// The longer of the two, or the transfer over a link.
    #[serde(rename = "roofline_s")]
    pub roofline_time: Seconds,
}

/// What a predicted kernel meets first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PredictedLimiter {
    /// The memory roof.
    Memory,
    /// The compute roof.
    Math,
    /// Too little parallelism; only where the grid is given.
    Latency,
    /// A link to the host or to peers.
    Link,
}

impl PredictedLimiter {
    /// The word in reports and JSON.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Math => "math",
            Self::Latency => "latency",
            Self::Link => "link",
        }
    }
}
