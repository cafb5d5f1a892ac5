//! The same kernels written otherwise: on tensor cores, in 16 bits, with compulsory traffic only.

use super::{Law, Scene, Sides, grouped};
use crate::analysis::Analysis;
use crate::model::{DataType, Engine, Pipe};
use crate::roofline;
use crate::units::{Bytes, Flops, Seconds};

/// Products of matrices run on tensor cores, in the format they are computed in: FP32 as TF32.
pub(super) struct TensorCores;

impl Law for TensorCores {
    fn sides(&self, scene: &Scene<'_>) -> Result<Sides, String> {
        if !scene.kernel.class.is_product() {
            return Err("by its name it does no products of matrices".to_owned());
        }
        let on_matrix = scene
            .judged
            .work
            .iter()
            .any(|work| work.pipe.engine() == Engine::Matrix && work.operations > Flops::ZERO);
        if on_matrix || scene.judged.tensor_activity.is_some() {
            return Err("it uses tensor cores already".to_owned());
        }
        let math = scene.math(|pipe| match pipe {
            Pipe::Fp64Vector => Ok(Pipe::Fp64Matrix),
            Pipe::Fp32Vector => Ok(Pipe::Tf32Matrix),
            Pipe::Fp16Vector => Ok(Pipe::Fp16Matrix),
            Pipe::Bf16Vector => Ok(Pipe::Bf16Matrix),
            Pipe::Unstated => Err("the format of its operations was not counted".to_owned()),
            other => Ok(other),
        })?;
        Ok(Sides { memory: scene.memory(), math })
    }
}

/// What is stored as FP32 is stored as BF16, and products are computed in it; other math stays FP32.
pub(super) struct SixteenBit;

impl Law for SixteenBit {
    fn sides(&self, scene: &Scene<'_>) -> Result<Sides, String> {
        match scene.kernel.class.formats.stored {
            Some(DataType::Fp32) => {}
            Some(other) => {
                return Err(format!("by its name its data is stored as {}", other.name()));
            }
            None => return Err("its name does not tell how its data is stored".to_owned()),
        }
        let is_product = scene.kernel.class.is_product();
        let math = scene.math(|pipe| match pipe {
            Pipe::Fp32Vector | Pipe::Fp32Matrix | Pipe::Tf32Matrix if is_product => {
                Ok(scene.first_known([Pipe::Bf16Matrix, Pipe::Fp16Matrix]))
            }
            Pipe::Unstated => Err("the format of its operations was not counted".to_owned()),
            other => Ok(other),
        })?;
        if scene.judged.tensor_activity.is_some() {
            return Err("the format of its tensor work was not counted".to_owned());
        }
        Ok(Sides { memory: scene.memory() * 0.5, math })
    }
}

/// Each launch moves what a closed form says it must, and computes what was counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Compulsory {
    /// The closed form with its sizes: `gemm m=4096 n=4096 k=4096`.
    pub call: String,
    /// Compulsory bytes of one launch.
    pub bytes: Bytes,
    /// Operations of one launch.
    pub operations: Flops,
    /// The longest launches of the kernels it describes, as in [`crate::analysis::Kernel::longest`].
    pub kernels: Vec<usize>,
}

/// Counters may see a little less than what is moved.
const FEWER: f64 = 0.95;

impl Compulsory {
    /// What was counted beside what must be, kernel by kernel.
    pub(super) fn notes(&self, analysis: &Analysis) -> Vec<String> {
        let kernels = analysis.kernels.iter().filter(|one| self.kernels.contains(&one.longest));
        let times = |counted: f64, form: f64| {
            if form > 0.0 { format!("{:.2} × ", counted / form) } else { String::new() }
        };
        let lines = kernels.map(|kernel| {
            let launches = kernel.launches.max(1) as f64;
            let bytes = kernel.bytes.map(|bytes| {
                times(bytes.get() / launches, self.bytes.get()) + "the compulsory bytes"
            });
            let work = kernel.flops.or(kernel.integer_operations).map(|work| {
                times(work.get() / launches, self.operations.get()) + "the operations of the form"
            });
            let parts: Vec<String> = bytes.into_iter().chain(work).collect();
            if parts.is_empty() {
                format!("{}: nothing was counted", kernel.name)
            } else {
                format!("{}: counted in a launch: {}", kernel.name, parts.join(", "))
            }
        });
        lines.collect()
    }
}

impl Law for Compulsory {
    fn sides(&self, scene: &Scene<'_>) -> Result<Sides, String> {
        if !self.kernels.contains(&scene.kernel.longest) {
            return Err("the closed form is not said to describe it".to_owned());
        }
        let Some(bytes) = scene.judged.bytes else {
            return Err("its bytes were not counted".to_owned());
        };
        if bytes < self.bytes * FEWER {
            return Err(format!(
                "it moved {:.2} times the compulsory bytes: its data came from the caches, or the \
                 closed form does not fit",
                bytes / self.bytes
            ));
        }
        let memory = if bytes > Bytes::ZERO {
            scene.memory() * (self.bytes / bytes).min(1.0)
        } else {
            Seconds::ZERO
        };
        let math = scene.judged.math.map_or(Seconds::ZERO, |math| math.value);
        Ok(Sides { memory, math })
    }
}

impl Scene<'_> {
    /// Time that the bytes take as counted.
    fn memory(&self) -> Seconds {
        self.judged.memory.map_or(Seconds::ZERO, |memory| memory.value)
    }

    /// Time of the work with each pipe's replaced by another.
    fn math(&self, instead: impl Fn(Pipe) -> Result<Pipe, String>) -> Result<Seconds, String> {
        let work = || self.judged.work.iter().filter(|work| work.operations > Flops::ZERO);
        if work().next().is_none() && self.kernel.class.is_product() {
            return Err("its operations were not counted".to_owned());
        }
        let mut times = Vec::new();
        for work in work() {
            let pipe = instead(work.pipe)?;
            let peak = self.ran.roofs.peak(self.launch, pipe, self.set).ok_or_else(|| {
                format!("{} has no {} units, or no figure for them", self.ran.name(), pipe.label())
            })?;
            let time = roofline::math_time(work.operations, peak.value);
            times.push((self.ran.roofs.group(pipe), time));
        }
        Ok(grouped(times))
    }

    fn first_known<const N: usize>(&self, pipes: [Pipe; N]) -> Pipe {
        let known = |pipe: &Pipe| self.ran.roofs.peak(self.launch, *pipe, self.set).is_some();
        pipes.into_iter().find(known).unwrap_or(pipes[0])
    }
}
