//! Compares a kernel with the roofs of a device.

use super::arguments::Arguments;
use super::error::PredictError;
use super::options::Options;
use super::pipes::PipeTime;
use super::prediction::{Achievable, PredictedLimiter, Prediction};
use super::tiling::Tiling;
use super::{links, pipes, remarks};
use crate::catalog::Device;
use crate::law;
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
    // A device alone sends nothing.
    let link = count.link.filter(|transfer| transfer.bytes > Bytes::ZERO);
    let link = link.map(|transfer| links::time(transfer, device)).transpose()?;
    let bytes = count.bytes();
    let t_mem = roofline::memory_time(bytes, bandwidth);
    let t_math = roofline::grouped_math_time(
        pipes.iter().map(|pipe| (law::group(device.target(), pipe.pipe), pipe.time)),
    );
    let t_link = link.as_ref().map_or(Seconds::ZERO, |link| link.time);
    let roofline_time = roofline::roofline_time(t_mem, t_math).max(t_link);
    let operations = count.operations();
    let computes = operations > Flops::ZERO;
    let peak = match pipes.as_slice() {
        [] => None,
        [only] => Some(only.peak),
        _ => Some(operations / t_math),
    };
    Tiling::check(&count, arguments)?;
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
    let times = pipes.iter().zip(&rates).map(|(pipe, (work, rate))| {
        (law::group(device.target(), pipe.pipe), roofline::math_time(*work, rate.value))
    });
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

#[cfg(test)]
mod tests {
    use super::super::{Sweep, form};
    use super::*;
    use crate::catalog::Catalog;
    use crate::model::DeviceHint;

    fn device(name: &str) -> Device {
        Catalog::builtin().find(name, &DeviceHint::default()).unwrap()
    }

    fn predicted(call: &str, name: &str) -> Result<Prediction, PredictError> {
        let (form_name, pairs) = call.split_once(' ').unwrap();
        let given = Arguments::parse(form(form_name).unwrap(), pairs.split(' '))?;
        predict(&given, &device(name), &Options::default())
    }

    /// 1 GB over half of 900 GB/s, and over 16 lanes of 32 GT/s in 128b/130b: 63.0 GB/s.
    #[test]
    fn a_copy_takes_the_link_that_the_device_has() {
        for (name, bandwidth) in
            [("GH200 96GB HBM3", 450e9), ("H100 SXM5 80GB", 32e9 * 16.0 / 8.0 * 128.0 / 130.0)]
        {
            let found = predicted("memcpy-host bytes=1G", name).unwrap();
            let expected = 1e9 / bandwidth;
            assert!((found.roofline_time.get() / expected - 1.0).abs() < 1e-12, "{name}");
            assert_eq!(found.limiter, PredictedLimiter::Link);
            let reached = found.achievable.unwrap().roofline_time.get();
            assert!((reached / (expected / 0.85) - 1.0).abs() < 1e-12, "{name}");
        }
    }

    /// One rank sends nothing; the copy of its buffer within the device is all there is.
    #[test]
    fn a_link_limits_only_what_goes_over_it() {
        let alone = predicted("all-reduce bytes=1M ranks=1", "H100 SXM5 80GB").unwrap();
        assert_eq!(alone.limiter, PredictedLimiter::Memory);
        assert!(!alone.remarks.iter().any(|one| one.contains("link")), "{:?}", alone.remarks);
        // No link is asked for, and none need be known.
        assert!(predicted("all-reduce bytes=1M ranks=1", "L4").is_ok());
        let pairs = "bytes=1k..1G:x1000 ranks=8".split(' ');
        let sweep = Sweep::parse(form("all-reduce").unwrap(), pairs).unwrap();
        let crossings = sweep.crossings(&device("H100 SXM5 80GB"), &Options::default()).unwrap();
        assert!(crossings[0].turns.is_empty());
        assert_eq!([crossings[0].first, crossings[0].last], [PredictedLimiter::Link; 2]);
    }

    #[test]
    fn formats_that_no_unit_multiplies_are_refused_in_either_order() {
        for (one, other) in [
            ("tf32", "fp32"),
            ("c32", "fp64"),
            ("int32", "fp32"),
            ("fp8", "int8"),
            ("fp16", "bf16"),
        ] {
            for (a, b) in [(one, other), (other, one)] {
                let call = format!("gemm m=64 n=64 k=64 dtype_a={a} dtype_b={b}");
                let error = predicted(&call, "H100 SXM5 80GB").unwrap_err().to_string();
                assert!(error.contains("neither is widened"), "{call}: {error}");
            }
        }
        // Of two widths the wider one, whatever the order.
        let call = "attention-decode b=1 h=32 nk=4096 dtype=fp8 dtype_kv=fp16";
        let found = predicted(call, "H100 SXM5 80GB").unwrap();
        assert_eq!(found.pipes[0].pipe, crate::model::Pipe::Fp16Matrix);
    }

    /// A complex multiplication and addition are 8 real operations, not 2.
    #[test]
    fn complex_numbers_are_counted_or_refused() {
        let product = predicted("gemm m=64 n=64 k=64 dtype=c32", "H100 SXM5 80GB").unwrap();
        assert_eq!(product.operations.get(), 8.0 * 64.0_f64.powi(3));
        for call in [
            "linear batch=64 in=64 out=64 dtype=c32",
            "axpy n=64 dtype=c64",
            "softmax rows=64 columns=64 dtype=c32",
            "rfft n=64 dtype=c32",
        ] {
            let error = predicted(call, "H100 SXM5 80GB").unwrap_err().to_string();
            assert!(error.contains("those of real numbers"), "{call}: {error}");
        }
        // What only moves them is the same for any numbers.
        assert!(predicted("copy n=64 dtype=c32", "H100 SXM5 80GB").is_ok());
    }

    #[test]
    fn sums_that_overflow_are_an_error() {
        let error = predicted("given read=1e308 written=1e308", "H100 SXM5 80GB").unwrap_err();
        assert!(error.to_string().contains("the bytes overflow"), "{error}");
    }
}
