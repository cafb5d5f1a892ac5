//! The prediction of a kernel on a device: times, ridge point, limiter and remarks.

use schemars::JsonSchema;
use serde::Serialize;

use super::count::Count;
use super::links::LinkTime;
use super::pipes::PipeTime;
use super::tiling::Tiling;
use crate::units::{Bytes, BytesPerSecond, Flops, FlopsPerByte, FlopsPerSecond, Seconds};

/// The predicted time of a kernel on a device with all figures behind it. Every figure is modeled.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Prediction {
    /// The closed form.
    pub form: &'static str,
    /// Its arguments as given.
    pub arguments: String,
    /// The device's unique name.
    pub device: String,
    /// All operations, in FLOP, or OP on integer pipes.
    #[serde(rename = "flop")]
    pub operations: Flops,
    /// Compulsory reads, in bytes.
    pub read_bytes: Bytes,
    /// Compulsory writes, in bytes.
    pub written_bytes: Bytes,
    /// Compulsory traffic, in bytes.
    pub bytes: Bytes,
    /// Operations over bytes; `None` if no byte moves.
    #[serde(rename = "intensity_flop_per_byte")]
    pub intensity: Option<FlopsPerByte>,
    /// Work of each pipe, main pipe first; empty if nothing is computed.
    pub pipes: Vec<PipeTime>,
    /// Compute roof of this work: the pipe's peak, or the combined rate of several pipes; `None` if nothing is computed.
    #[serde(rename = "peak_flop_per_s")]
    pub peak: Option<FlopsPerSecond>,
    /// The memory roof.
    #[serde(rename = "bandwidth_bytes_per_s")]
    pub bandwidth: BytesPerSecond,
    /// Intensity at which memory and compute roof meet.
    #[serde(rename = "ridge_point_flop_per_byte")]
    pub ridge_point: Option<FlopsPerByte>,
    /// Intensity at which L2 and compute roof meet; `None` if the L2 bandwidth is unknown.
    #[serde(rename = "l2_ridge_point_flop_per_byte")]
    pub l2_ridge_point: Option<FlopsPerByte>,
    /// Bytes over bandwidth.
    #[serde(rename = "t_mem_s")]
    pub t_mem: Seconds,
    /// Operations over peak; of several pipes those that share hardware add up, others overlap.
    #[serde(rename = "t_math_s")]
    pub t_math: Seconds,
    /// The transfer over a link, if there is one.
    pub link: Option<LinkTime>,
    /// Roofline time: the longest of these times.
    #[serde(rename = "roofline_s")]
    pub roofline_time: Seconds,
    /// Times with the rates that well-written kernels reach.
    pub achievable: Option<Achievable>,
    /// Limiter of the kernel.
    pub limiter: PredictedLimiter,
    /// Operations over roofline time; `None` if nothing is computed.
    #[serde(rename = "attainable_flop_per_s")]
    pub attainable: Option<FlopsPerSecond>,
    /// Effects of tiling, for matrix products.
    pub tiling: Option<Tiling>,
    /// Caveats, one sentence each.
    pub remarks: Vec<String>,
    /// Operations and traffic in detail.
    pub count: Count,
}

/// Times with the rates that published benchmarks reach, or the usual share of the peak.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Achievable {
    /// Achievable memory bandwidth.
    #[serde(rename = "bandwidth_bytes_per_s")]
    pub bandwidth: BytesPerSecond,
    /// Source of the rate.
    pub bandwidth_source: String,
    /// Achievable rate of the main pipe; `None` if nothing is computed.
    #[serde(rename = "peak_flop_per_s")]
    pub peak: Option<FlopsPerSecond>,
    /// Source of the rate.
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

/// Limiter of a predicted kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PredictedLimiter {
    /// The memory roof.
    Memory,
    /// The compute roof.
    Math,
    /// Too little parallelism; only if the grid is given.
    Latency,
    /// A link to the host or to peers.
    Link,
}

impl PredictedLimiter {
    /// Returns the name used in reports and JSON.
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
