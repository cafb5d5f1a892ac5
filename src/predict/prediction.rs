//! A kernel held against a device: times, ridge point, limiter, and what else decides.

use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::Arguments;
use super::count::Count;
use super::error::PredictError;
use super::links::{self, LinkTime};
use super::options::Options;
use super::tiling::Tiling;
use super::{pipes, remarks};
use crate::catalog::Device;
use crate::model::Pipe;
use crate::roofline::{self, Limiter};
use crate::units::{Bytes, BytesPerSecond, Flops, FlopsPerByte, FlopsPerSecond, Seconds};

/// What a kernel should take on a device. Every figure is modelled.
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
    #[serde(rename = "expected_s")]
    pub expected: Seconds,
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

/// The operations of one pipe and their time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PipeTime {
    /// The pipe.
    pub pipe: Pipe,
    /// Its operations.
    #[serde(rename = "flop")]
    pub operations: Flops,
    /// Its peak.
    #[serde(rename = "peak_flop_per_s")]
    pub peak: FlopsPerSecond,
    /// Operations over peak.
    #[serde(rename = "time_s")]
    pub time: Seconds,
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
    #[serde(rename = "expected_s")]
    pub expected: Seconds,
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

/// Predicts a kernel on a device.
///
/// # Errors
/// As [`Arguments::count`]; [`PredictError::Catalog`] that names a peak, bandwidth or link the
/// catalogue does not have; [`PredictError::NoPipe`] where the device has no units for the format.
pub fn predict(
    arguments: &Arguments,
    device: &Device,
    options: &Options,
) -> Result<Prediction, PredictError> {
    let count = arguments.count()?;
    let bandwidth = device.need_bandwidth()?;
    let (pipes, mut remarks) = pipe_times(&count, device, options)?;
    let link = count.link.map(|transfer| links::time(transfer, device)).transpose()?;
    let bytes = count.bytes();
    let t_mem = roofline::memory_time(bytes, bandwidth);
    let t_math = roofline::grouped_math_time(pipes.iter().map(|pipe| pipe.time));
    let t_link = link.as_ref().map_or(Seconds::ZERO, |link| link.time);
    let expected = roofline::expected_time(t_mem, t_math).max(t_link);
    let operations = count.operations();
    let computes = operations > Flops::ZERO;
    let peak = match pipes.as_slice() {
        [] => None,
        [only] => Some(only.peak),
        _ => Some(operations / t_math),
    };
    let tiling =
        pipes.first().and_then(|main| Tiling::of(&count, arguments, device, main, bandwidth));
    let mut prediction = Prediction {
        form: arguments.form().name,
        arguments: arguments.text(),
        device: device.name.clone(),
        operations,
        read_bytes: count.read_bytes(),
        written_bytes: count.written_bytes(),
        bytes,
        intensity: count.intensity(),
        peak,
        bandwidth,
        ridge_point: peak.map(|peak| roofline::ridge_point(peak, bandwidth)),
        l2_ridge_point: peak.and_then(|peak| {
            Some(roofline::ridge_point(peak, device.l2_bandwidth.as_ref()?.value))
        }),
        t_mem,
        t_math,
        expected,
        achievable: achievable(bytes, &pipes, t_link, device),
        limiter: limiter(t_mem, t_math, t_link, device, options),
        attainable: computes.then(|| operations / expected),
        pipes,
        link,
        tiling,
        remarks: Vec::new(),
        count,
    };
    remarks.extend(remarks::of(&prediction, device));
    prediction.remarks = remarks;
    Ok(prediction)
}

/// Work by pipe with its time, and remarks on the choice of pipes.
fn pipe_times(
    count: &Count,
    device: &Device,
    options: &Options,
) -> Result<(Vec<PipeTime>, Vec<String>), PredictError> {
    let (mut times, mut remarks): (Vec<PipeTime>, Vec<String>) = (Vec::new(), Vec::new());
    for (position, work) in count.work.iter().enumerate() {
        let (pipe, remark) = match options.pipe.filter(|_| position == 0) {
            Some(pipe) => (pipe, None),
            None => pipes::choose(work, device, options)?,
        };
        remarks.extend(remark);
        let peak = device.need_peak(pipe)?;
        let operations = work.operations;
        if let Some(same) = times.iter_mut().find(|known| known.pipe == pipe) {
            same.operations += operations;
            same.time = roofline::math_time(same.operations, peak);
        } else {
            let time = roofline::math_time(operations, peak);
            times.push(PipeTime { pipe, operations, peak, time });
        }
    }
    Ok((times, remarks))
}

fn limiter(
    t_mem: Seconds,
    t_math: Seconds,
    t_link: Seconds,
    device: &Device,
    options: &Options,
) -> PredictedLimiter {
    if t_link > t_mem.max(t_math) {
        return PredictedLimiter::Link;
    }
    let blocks = options.grid.map(|grid| grid.blocks);
    let threads = options.grid.map(|grid| grid.threads);
    match roofline::limiter(t_mem, t_math, blocks, threads, device.sms, 0.0) {
        Limiter::Math => PredictedLimiter::Math,
        Limiter::Latency => PredictedLimiter::Latency,
        Limiter::Memory | Limiter::Unknown => PredictedLimiter::Memory,
    }
}

fn achievable(
    bytes: Bytes,
    pipes: &[PipeTime],
    t_link: Seconds,
    device: &Device,
) -> Option<Achievable> {
    let bandwidth = device.achievable_bandwidth()?;
    let mut rates = Vec::new();
    for pipe in pipes {
        rates.push((pipe.operations, device.achievable_peak(pipe.pipe)?));
    }
    let t_mem = roofline::memory_time(bytes, bandwidth.value);
    let times = rates.iter().map(|(work, rate)| roofline::math_time(*work, rate.value));
    let t_math = roofline::grouped_math_time(times);
    let main = rates.into_iter().next().map(|(_, rate)| rate);
    Some(Achievable {
        bandwidth: bandwidth.value,
        bandwidth_source: bandwidth.source,
        peak: main.as_ref().map(|rate| rate.value),
        peak_source: main.map(|rate| rate.source),
        t_mem,
        t_math,
        expected: roofline::expected_time(t_mem, t_math).max(t_link),
    })
}
