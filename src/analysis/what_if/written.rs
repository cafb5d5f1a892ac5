//! Projects other implementations of kernels: on tensor cores, in 16 bits, with compulsory traffic
//! only.

use super::{Law, Scene, Sides};
use crate::analysis::Analysis;
use crate::model::{DataType, Engine, Pipe, Profile};
use crate::roofline;
use crate::taxonomy::Kind;
use crate::units::{Bytes, Flops, Seconds};

/// Matrix products move to tensor cores in their own format: FP32 as TF32.
pub(super) struct TensorCores;

impl Law for TensorCores {
    fn sides(&self, scene: &Scene<'_>) -> Result<Sides, String> {
        if !scene.kernel.class.is_product() {
            return Err("not a matrix product, by its name".to_owned());
        }
        let on_matrix = scene
            .judged
            .work
            .iter()
            .any(|work| work.pipe.engine() == Engine::Matrix && work.operations > Flops::ZERO);
        if on_matrix || scene.judged.tensor_activity.is_some() {
            return Err("already uses tensor cores".to_owned());
        }
        if scene.kernel.class.tensor == Some(true) {
            let reason = "uses tensor cores by its name, but their work was not counted";
            return Err(reason.to_owned());
        }
        // Narrow data that is computed as FP32 would be multiplied as it is stored.
        let narrow = match scene.kernel.class.formats.stored {
            Some(DataType::Fp16) => Pipe::Fp16Matrix,
            Some(DataType::Bf16) => Pipe::Bf16Matrix,
            _ => Pipe::Tf32Matrix,
        };
        let math = scene.math(|pipe| match pipe {
            Pipe::Fp64Vector => Ok(Pipe::Fp64Matrix),
            Pipe::Fp32Vector => Ok(narrow),
            Pipe::Fp16Vector => Ok(Pipe::Fp16Matrix),
            Pipe::Bf16Vector => Ok(Pipe::Bf16Matrix),
            Pipe::Unstated => Err("the format of its operations was not counted".to_owned()),
            other => Ok(other),
        })?;
        Ok(Sides { memory: scene.memory(), math })
    }
}

/// FP32 data is stored as BF16, and products are computed in it; other math stays FP32.
pub(super) struct SixteenBit;

impl Law for SixteenBit {
    fn sides(&self, scene: &Scene<'_>) -> Result<Sides, String> {
        match scene.kernel.class.formats.stored {
            Some(DataType::Fp32) => {}
            Some(other) => {
                return Err(format!("its data is stored as {}, by its name", other.name()));
            }
            None => return Err("its name does not say how its data is stored".to_owned()),
        }
        let class = &scene.kernel.class;
        let others = [class.formats.b, class.formats.output].into_iter().flatten();
        if let Some(other) = others.into_iter().find(|other| *other != DataType::Fp32) {
            return Err(format!("part of its data is {}, by its name", other.name()));
        }
        if let Some(kind) = class.kind
            && matches!(
                kind,
                Kind::Optimizer
                    | Kind::Sort
                    | Kind::Topk
                    | Kind::Gather
                    | Kind::Scatter
                    | Kind::Select
                    | Kind::Embedding
            )
        {
            return Err(format!(
                "{} kernels also move state or indices, which stay unchanged",
                kind.key()
            ));
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

/// Each launch moves the compulsory bytes of a closed form, and computes what was counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Compulsory {
    /// The closed form with its sizes: `gemm m=4096 n=4096 k=4096`.
    pub call: String,
    /// Compulsory bytes of one launch.
    pub bytes: Bytes,
    /// Operations of one launch.
    pub operations: Flops,
    /// Indices of the longest launches of the kernels it describes, as in
    /// [`crate::analysis::Kernel::longest`].
    pub kernels: Vec<usize>,
}

/// Smallest ratio of counted to moved bytes; counters may miss a little.
const FEWER: f64 = 0.95;

impl Compulsory {
    /// Compares counted with compulsory work, in the longest launch of each kernel.
    pub(super) fn notes(&self, profile: &Profile, analysis: &Analysis) -> Vec<String> {
        let kernels = analysis.kernels.iter().filter(|one| self.kernels.contains(&one.longest));
        let beside = |counted: f64, form: f64, what: &str| {
            (form > 0.0).then(|| format!("{:.2}× the {what}", counted / form))
        };
        let lines = kernels.map(|kernel| {
            let launch = profile.launch(kernel.longest);
            let bytes = launch.dram_bytes().map(|(bytes, _)| bytes.get());
            let work: Vec<f64> = launch.work().map(|(_, work, _)| work.get()).collect();
            let work = (!work.is_empty()).then(|| work.iter().sum::<f64>());
            let bytes = bytes.and_then(|one| beside(one, self.bytes.get(), "compulsory bytes"));
            let form = self.operations.get();
            let work = work.and_then(|one| beside(one, form, "operations of the form"));
            let parts: Vec<String> = bytes.into_iter().chain(work).collect();
            let counted = if parts.is_empty() { "nothing".to_owned() } else { parts.join(", ") };
            format!("{}: its longest launch counts {counted}", kernel.name)
        });
        lines.collect()
    }
}

impl Law for Compulsory {
    fn sides(&self, scene: &Scene<'_>) -> Result<Sides, String> {
        if !self.kernels.contains(&scene.kernel.longest) {
            return Err("the closed form is not assigned to it".to_owned());
        }
        let Some(bytes) = scene.judged.bytes else {
            return Err("its bytes were not counted".to_owned());
        };
        if bytes < self.bytes * FEWER {
            return Err(format!(
                "it moved {:.2}× the compulsory bytes: its data came from caches, or the closed \
                 form does not fit",
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
    /// Returns the time of the counted bytes.
    fn memory(&self) -> Seconds {
        self.judged.memory.map_or(Seconds::ZERO, |memory| memory.value)
    }

    /// Returns the time of the work with each pipe replaced by another.
    fn math(&self, instead: impl Fn(Pipe) -> Result<Pipe, String>) -> Result<Seconds, String> {
        let work = || self.judged.work.iter().filter(|work| work.operations > Flops::ZERO);
        if work().next().is_none() && self.kernel.class.is_product() {
            return Err("its operations were not counted".to_owned());
        }
        let mut times = Vec::new();
        for work in work() {
            let pipe = instead(work.pipe)?;
            let peak = self.ran.roofs.peak(self.launch, pipe, self.set).ok_or_else(|| {
                format!(
                    "{} has no {} units, or their peak is unknown",
                    self.ran.name(),
                    pipe.label()
                )
            })?;
            let time = roofline::math_time(work.operations, peak.value);
            times.push((self.ran.roofs.group(pipe), time));
        }
        Ok(roofline::grouped_math_time(times))
    }

    fn first_known<const N: usize>(&self, pipes: [Pipe; N]) -> Pipe {
        let known = |pipe: &Pipe| self.ran.roofs.peak(self.launch, *pipe, self.set).is_some();
        pipes.into_iter().find(known).unwrap_or(pipes[0])
    }
}
