//! Chooses the units of a device that execute a kernel's operations: matrix or vector, by format.

use schemars::JsonSchema;
use serde::Serialize;

use super::count::{Count, Work};
use super::error::PredictError;
use super::options::Options;
use crate::catalog::Device;
use crate::model::{DataType, Engine, Pipe, Precision};
use crate::roofline;
use crate::units::{Flops, FlopsPerSecond, Seconds};

/// The operations of one pipe and their time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PipeTime {
    /// The pipe.
    pub pipe: Pipe,
    /// Operations on the pipe.
    #[serde(rename = "flop")]
    pub operations: Flops,
    /// Peak rate of the pipe.
    #[serde(rename = "peak_flop_per_s")]
    pub peak: FlopsPerSecond,
    /// Time in seconds: operations over peak.
    #[serde(rename = "time_s")]
    pub time: Seconds,
}

impl PipeTime {
    /// Returns the work of an operation by pipe, as [`predict`](super::predict) chooses them where no option asks for others.
    ///
    /// # Errors
    /// When the device has no pipe for a format, or its peak is not known.
    pub fn of(count: &Count, device: &Device) -> Result<Vec<Self>, PredictError> {
        Ok(times(count, device, &Options::default())?.0)
    }
}

/// Returns the work by pipe with its time, and remarks on the choice of pipes.
pub(super) fn times(
    count: &Count,
    device: &Device,
    options: &Options,
) -> Result<(Vec<PipeTime>, Vec<String>), PredictError> {
    let (mut times, mut remarks): (Vec<PipeTime>, Vec<String>) = (Vec::new(), Vec::new());
    for (position, work) in count.work.iter().enumerate() {
        let (pipe, remark) = match options.pipe.filter(|_| position == 0) {
            Some(pipe) => (pipe, None),
            None => choose(work, device, options)?,
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

/// Returns the pipe on which `work` runs, with a sentence if it is not the obvious one.
///
/// Products run on matrix units if the device has them for the format, everything else on vector
/// units. Formats narrower than a device's vector units are converted to FP32 first, as frameworks
/// do; products are not, because that would be a different kernel: the user must choose the pipe.
pub(super) fn choose(
    work: &Work,
    device: &Device,
    options: &Options,
) -> Result<(Pipe, Option<String>), PredictError> {
    if !work.is_product || options.engine == Some(Engine::Vector) {
        return vector(work, device, Engine::Vector);
    }
    let precision = work.data_type.precision();
    if let Some(pipe) = matrix_pipe(precision).filter(|pipe| device.has_units(*pipe) == Some(true))
    {
        return Ok((pipe, None));
    }
    if options.engine.is_some() {
        return Err(no_pipe(device, Engine::Matrix, work.data_type));
    }
    let (pipe, remark) = vector(work, device, Engine::Matrix)?;
    let remark = remark.or_else(|| {
        let usual = matches!(precision, Precision::Fp64 | Precision::Fp32 | Precision::Int32);
        let (name, format) = (&device.name, work.data_type.name());
        (!usual).then(|| {
            format!(
                "{name} has no matrix units for {format}: the vector roof \
            applies"
            )
        })
    });
    Ok((pipe, remark))
}

/// Returns the vector pipe; `wanted` is the engine that an error reports as missing.
fn vector(
    work: &Work,
    device: &Device,
    wanted: Engine,
) -> Result<(Pipe, Option<String>), PredictError> {
    let converted = |from: DataType| {
        let format = from.name();
        (Pipe::Fp32Vector, Some(format!("{format} is converted: the fp32 roof applies")))
    };
    let known = |pipe: Pipe| device.peak(pipe).is_some();
    // One operation of 64 bits takes several instructions of 32.
    let of_int32 = match work.data_type {
        DataType::Int64 => Some("int64 takes several int32 instructions for an operation: the int32 roof is a lower bound of its time".to_owned()),
        DataType::Int16 | DataType::Bool => {
            let format = work.data_type.name();
            Some(format!("{format} is converted: the int32 roof applies"))
        }
        _ => None,
    };
    Ok(match work.data_type.precision() {
        Precision::Fp64 => (Pipe::Fp64Vector, None),
        Precision::Fp32 => (Pipe::Fp32Vector, None),
        Precision::Fp16 if known(Pipe::Fp16Vector) => (Pipe::Fp16Vector, None),
        Precision::Bf16 if known(Pipe::Bf16Vector) => (Pipe::Bf16Vector, None),
        Precision::Fp16 | Precision::Bf16 => converted(work.data_type),
        Precision::Int8 if work.is_product && known(Pipe::Int8Vector) => (Pipe::Int8Vector, None),
        _ if work.is_product && work.data_type.precision() != Precision::Int32 => {
            return Err(no_pipe(device, wanted, work.data_type));
        }
        Precision::Int32 | Precision::Int8 | Precision::Int4 | Precision::Int1 => {
            (Pipe::Int32Vector, of_int32)
        }
        Precision::Tf32 => (Pipe::Fp32Vector, None),
        Precision::Fp8 | Precision::Fp6 | Precision::Fp4 | Precision::Unstated => {
            converted(work.data_type)
        }
    })
}

const fn matrix_pipe(precision: Precision) -> Option<Pipe> {
    Some(match precision {
        Precision::Fp64 => Pipe::Fp64Matrix,
        Precision::Fp32 => Pipe::Fp32Matrix,
        Precision::Tf32 => Pipe::Tf32Matrix,
        Precision::Fp16 => Pipe::Fp16Matrix,
        Precision::Bf16 => Pipe::Bf16Matrix,
        Precision::Fp8 => Pipe::Fp8Matrix,
        Precision::Fp6 => Pipe::Fp6Matrix,
        Precision::Fp4 => Pipe::Fp4Matrix,
        Precision::Int8 => Pipe::Int8Matrix,
        Precision::Int4 => Pipe::Int4Matrix,
        Precision::Int1 => Pipe::Int1Matrix,
        Precision::Int32 | Precision::Unstated => return None,
    })
}

fn no_pipe(device: &Device, engine: Engine, data_type: DataType) -> PredictError {
    PredictError::no_pipe(device, engine, data_type)
}

#[cfg(test)]
mod tests {
    use super::super::{Arguments, form};
    use super::*;
    use crate::catalog::Catalog;
    use crate::model::DeviceHint;

    fn pipe(device: &str, call: &str, options: &Options) -> Result<(Pipe, bool), PredictError> {
        let device = Catalog::builtin().find(device, &DeviceHint::default()).unwrap();
        let (name, pairs) = call.split_once(' ').unwrap();
        let count = Arguments::parse(form(name)?, pairs.split(' '))?.count()?;
        choose(&count.work[0], &device, options).map(|(pipe, remark)| (pipe, remark.is_some()))
    }

    fn gemm(device: &str, data_type: &str) -> Result<(Pipe, bool), PredictError> {
        pipe(device, &format!("gemm m=8 n=8 k=8 dtype={data_type}"), &Options::default())
    }

    #[test]
    fn products_use_matrix_units_where_the_device_has_them_for_the_format() {
        for (device, data_type, expected) in [
            ("A100 SXM4 80GB", "fp16", Pipe::Fp16Matrix),
            ("A100 SXM4 80GB", "tf32", Pipe::Tf32Matrix),
            ("A100 SXM4 80GB", "fp64", Pipe::Fp64Matrix),
            ("A100 SXM4 80GB", "fp32", Pipe::Fp32Vector),
            ("V100 SXM2 32GB", "fp64", Pipe::Fp64Vector),
            ("Instinct MI300X", "fp32", Pipe::Fp32Matrix),
            ("H100 SXM5 80GB", "mxfp8", Pipe::Fp8Matrix),
            ("H100 SXM5 80GB", "c32", Pipe::Fp32Vector),
        ] {
            assert_eq!(gemm(device, data_type).unwrap(), (expected, false), "{device} {data_type}");
        }
        assert_eq!(gemm("P100 SXM2", "fp16").unwrap(), (Pipe::Fp16Vector, true));
        assert_eq!(gemm("V100 SXM2 32GB", "bf16").unwrap(), (Pipe::Fp32Vector, true));
    }

    #[test]
    fn a_product_in_a_format_without_units_is_an_error_that_says_what_to_do() {
        let error = gemm("A100 SXM4 80GB", "fp8").unwrap_err();
        assert_eq!(error.to_string(), "A100 SXM4 80GB has no matrix units for fp8");
        assert!(error.help().unwrap().contains("--pipe bf16_matrix"));
        assert!(gemm("V100 SXM2 32GB", "tf32").is_err());
    }

    #[test]
    fn elementwise_work_stays_on_vector_units() {
        let relu = |device, data_type| {
            pipe(device, &format!("relu n=8 dtype={data_type}"), &Options::default()).unwrap()
        };
        assert_eq!(relu("A100 SXM4 80GB", "fp16"), (Pipe::Fp16Vector, false));
        assert_eq!(relu("V100 SXM2 32GB", "bf16"), (Pipe::Fp32Vector, true));
        assert_eq!(relu("H100 SXM5 80GB", "fp8"), (Pipe::Fp32Vector, true));
        assert_eq!(relu("H100 SXM5 80GB", "int8"), (Pipe::Int32Vector, false));
        let vector = Options { engine: Some(Engine::Vector), ..Options::default() };
        let call = "gemm m=8 n=8 k=8 dtype=fp16";
        assert_eq!(pipe("A100 SXM4 80GB", call, &vector).unwrap(), (Pipe::Fp16Vector, false));
    }
}
