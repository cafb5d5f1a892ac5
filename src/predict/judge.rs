//! Compares a kernel with the roofs of a device.

use super::arguments::Arguments;
use super::error::PredictError;
use super::options::Options;
use super::pipes::PipeTime;
use super::prediction::{Achievable, PredictedLimiter, Prediction};
use super::tiling::Tiling;
use super::{links, pipes, remarks};
use crate::catalog::Device;
use crate::roofline::{self, Limiter};
use crate::units::{Bytes, Flops, Seconds};

/// Predicts a kernel on a device.
///
/// # Errors
/// As [`Arguments::count`]; [`PredictError::Catalog`] for a peak, bandwidth or link that the
/// catalog does not have; [`PredictError::NoPipe`] if the device has no units for the format.
pub fn predict(
    arguments: &Arguments,
    device: &Device,
    options: &Options,
) -> Result<Prediction, PredictError> {
    let count = arguments.count()?;
    let bandwidth = device.need_bandwidth()?;
    let (pipes, mut remarks) = pipes::times(&count, device, options)?;
    let link = count.link.map(|transfer| links::time(transfer, device)).transpose()?;
    let bytes = count.bytes();
    let t_mem = roofline::memory_time(bytes, bandwidth);
    let t_math = roofline::grouped_math_time(pipes.iter().map(|pipe| pipe.time));
    let t_link = link.as_ref().map_or(Seconds::ZERO, |link| link.time);
    let roofline_time = roofline::roofline_time(t_mem, t_math).max(t_link);
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
        roofline_time,
        achievable: achievable(bytes, &pipes, t_link, device),
        limiter: limiter(t_mem, t_math, t_link, device, options),
        attainable: computes.then(|| operations / roofline_time),
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
        roofline_time: roofline::roofline_time(t_mem, t_math)
            .max(t_link / roofline::achievable::LINK),
    })
}
