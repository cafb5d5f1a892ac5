//! Projects launches to another device, or to their own at its rated clock.

use std::ops::RangeInclusive;

use super::{Law, Scene, Sides, quoted};
use crate::analysis::ceilings::Roofs;
use crate::analysis::{Analysis, CeilingSet, Kernel};
use crate::catalog::{CatalogError, Device, Observed};
use crate::law::work_time;
use crate::model::{DeviceHint, Engine, OriginKind, Pipe};
use crate::roofline;
use crate::units::{BytesPerSecond, FlopsPerSecond, Seconds};

/// Projection to another device.
pub(super) struct Elsewhere<'d> {
    device: &'d Device,
    roofs: Roofs,
    bandwidth: BytesPerSecond,
}

impl<'d> Elsewhere<'d> {
    pub(super) fn new(device: &'d Device, set: CeilingSet) -> Result<Self, CatalogError> {
        let roofs = Roofs::new(Some(device), &DeviceHint::default(), &Observed::default());
        let bandwidth = match roofs.quoted_dram(quoted(set)) {
            Some(bandwidth) => bandwidth,
            None => device.need_bandwidth()?,
        };
        Ok(Self { device, roofs, bandwidth })
    }
}

impl Law for Elsewhere<'_> {
    fn sides(&self, scene: &Scene<'_>) -> Result<Sides, String> {
        let there = There {
            roofs: &self.roofs,
            set: quoted(scene.set),
            name: &self.device.name,
            device: Some(self.device),
            as_it_ran: scene.set != CeilingSet::Spec,
        };
        there.sides(self.bandwidth, scene)
    }
}

/// What the figures of a device are read from, for messages.
fn listed_in(device: Option<&Device>) -> String {
    device.map_or_else(|| "the catalog".to_owned(), Device::listed_in)
}

/// Projection to the same device at the clock at which its peaks are quoted.
pub(super) struct Rated;

impl Law for Rated {
    fn sides(&self, scene: &Scene<'_>) -> Result<Sides, String> {
        let ran = scene.ran;
        let there = There {
            roofs: &ran.roofs,
            set: quoted(scene.set),
            name: ran.name(),
            device: ran.device.as_ref(),
            as_it_ran: false,
        };
        let Some(bandwidth) = ran.roofs.quoted_dram(there.set) else {
            let listed = listed_in(ran.device.as_ref());
            return Err(format!("{listed} has no memory bandwidth for {}", ran.name()));
        };
        there.sides(bandwidth, scene)
    }
}

/// Largest quotient of times that count as equal.
const ALIKE: f64 = 1.02;

/// Target of a projection.
struct There<'a> {
    roofs: &'a Roofs,
    set: CeilingSet,
    name: &'a str,
    device: Option<&'a Device>,
    /// True if its clocks are scaled like those of the launch, so that roofs at a measured clock
    /// are not compared with roofs at a rated one.
    as_it_ran: bool,
}

impl There<'_> {
    /// Returns the roof of a pipe.
    fn peak(&self, pipe: Pipe, scene: &Scene<'_>) -> Option<FlopsPerSecond> {
        let share = scene.ran.roofs.clock_share(scene.launch, pipe).filter(|_| self.as_it_ran);
        Some(self.roofs.quoted_peak(pipe, self.set)? * share.unwrap_or(1.0))
    }

    fn sides(&self, bandwidth: BytesPerSecond, scene: &Scene<'_>) -> Result<Sides, String> {
        let (judged, ran) = (scene.judged, scene.ran);
        let share = if self.as_it_ran { ran.roofs.dram_scale(scene.launch) } else { 1.0 };
        let bandwidth = bandwidth * share;
        let memory = match (judged.bytes, judged.memory) {
            (Some(bytes), _) => roofline::memory_time(bytes, bandwidth),
            // Known as a share of the bandwidth only: the same bytes at another bandwidth.
            (None, Some(memory)) if memory.value.get() > 0.0 => {
                let here = ran.roofs.dram(scene.launch, scene.set);
                let here = here.ok_or_else(|| {
                    "its traffic is only known as a share of an unknown bandwidth".to_owned()
                })?;
                memory.value * (here.value / bandwidth)
            }
            _ => Seconds::ZERO,
        };
        let mut times: Vec<(usize, Seconds)> = Vec::new();
        for work in judged.work.iter().filter(|work| work.operations.get() > 0.0) {
            let peak = |pipe| self.peak(pipe, scene).map(FlopsPerSecond::get).into();
            let moves_data = scene.nature.moves_data;
            let pipe = self.roofs.instead(work.pipe);
            let time = work_time(pipe, work.operations.get(), moves_data, peak).option();
            let time = time.ok_or_else(|| self.lacks(work.pipe))?;
            times.push((self.roofs.group(pipe), Seconds::new(time.value)));
        }
        let Some(busy) = judged.tensor_activity else {
            return Ok(Sides { memory, math: roofline::grouped_math_time(times) });
        };
        let ratios = self.tensor_ratios(scene)?;
        let group = self.roofs.group(Pipe::Fp16Matrix);
        let sides = |ratio: f64| {
            let tensor = (group, busy * ratio);
            Sides {
                memory,
                math: roofline::grouped_math_time(times.iter().copied().chain([tensor])),
            }
        };
        let (least, most) = (sides(*ratios.start()), sides(*ratios.end()));
        // It does not matter how long work takes that other work hides.
        if most.ideal() > least.ideal() * ALIKE {
            return Err(self.unknown_format());
        }
        Ok(most)
    }

    fn unknown_format(&self) -> String {
        format!("the format of its tensor work is unknown, and formats differ on {}", self.name)
    }

    fn lacks(&self, pipe: Pipe) -> String {
        let roof = if pipe == Pipe::Unstated { Pipe::Fp32Vector } else { pipe };
        match self.device.and_then(|device| device.has_units(pipe)) {
            Some(false) => format!("{} has no {} units", self.name, roof.label()),
            _ => {
                let listed = listed_in(self.device);
                format!("{listed} has no {} roof for {}", roof.label(), self.name)
            }
        }
    }

    /// Returns how much longer tensor work takes there that is known from the pipe's activity alone: by the roof of its
    /// format if the name has it, otherwise from the least to the most of all formats.
    fn tensor_ratios(&self, scene: &Scene<'_>) -> Result<RangeInclusive<f64>, String> {
        let ratio = |pipe: Pipe| -> Option<Result<f64, String>> {
            let here = scene.ran.roofs.peak(scene.launch, pipe, scene.set)?;
            let there = self.peak(pipe, scene);
            Some(there.map(|there| here.value / there).ok_or_else(|| self.lacks(pipe)))
        };
        if let Some(precision) = scene.kernel.class.precision() {
            let of_format =
                |pipe: &&Pipe| pipe.engine() == Engine::Matrix && pipe.precision() == precision;
            // The first of a format is the dense one with the wide accumulator.
            // Work that is called fp32 has a matrix format of its own on few devices.
            if let Some(ratio) = Pipe::ALL.iter().find(of_format).and_then(|pipe| ratio(*pipe)) {
                let ratio = ratio?;
                return Ok(ratio..=ratio);
            }
        }
        let usual = [
            Pipe::Fp16Matrix,
            Pipe::Bf16Matrix,
            Pipe::Tf32Matrix,
            Pipe::Fp8Matrix,
            Pipe::Int8Matrix,
        ];
        // A product may be of a format that the other device lacks; the little tensor work of others is not.
        let is_product = scene.kernel.class.is_product();
        let mut ratios = Vec::new();
        for ratio in usual.into_iter().filter_map(ratio) {
            match ratio {
                Ok(ratio) => ratios.push(ratio),
                Err(_) if is_product => return Err(self.unknown_format()),
                Err(_) => {}
            }
        }
        let low = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ratios.iter().copied().fold(0.0, f64::max);
        if ratios.is_empty() { Err(self.unknown_format()) } else { Ok(low..=high) }
    }
}

/// Returns caveats of a projection to a device.
pub(super) fn notes(device: &Device, analysis: &Analysis) -> Vec<String> {
    let mut notes: Vec<String> = device.unknown_share().map(str::to_owned).into_iter().collect();
    let algorithmic = Some(OriginKind::Algorithmic);
    let from_shapes = analysis.kernels.iter().any(|kernel| kernel.provenance == algorithmic);
    if from_shapes {
        notes.push("bytes follow from operator shapes, independent of caches".to_owned());
    }
    let is_lacking = |pipe: &Pipe| device.peak(*pipe).is_none();
    for pipe in [Pipe::Fp16Vector, Pipe::Bf16Vector].into_iter().filter(is_lacking) {
        let works = |kernel: &Kernel| {
            kernel.work.iter().any(|work| work.pipe == pipe && work.operations.get() > 0.0)
        };
        if analysis.kernels.iter().any(works) && device.peak(Pipe::Fp32Vector).is_some() {
            notes.push(format!("{} work is converted: the fp32 roof applies", pipe.label()));
        }
    }
    let has_bytes = analysis.kernels.iter().any(|kernel| kernel.bytes.is_some());
    for here in analysis.devices.iter().filter_map(|ran| ran.device.as_ref()) {
        if let (Some(from), Some(to)) = (here.l2_bytes, device.l2_bytes)
            && from != to
            && has_bytes
            && !from_shapes
        {
            notes.push(format!(
                "bytes are L2 misses of the {} L2 of {}; with {} on {}, {} may miss",
                mebibytes(from),
                here.name,
                mebibytes(to),
                device.name,
                if to > from { "fewer" } else { "more" }
            ));
        }
        if let (Some(from), Some(to)) = (&here.vendor, &device.vendor)
            && from != to
        {
            notes.push(format!(
                "{} is from another vendor, where other implementations would run",
                device.name
            ));
        }
    }
    notes
}

fn mebibytes(bytes: u64) -> String {
    let value = bytes as f64 / f64::from(1 << 20);
    let whole = (value - value.round()).abs() < 0.05;
    if whole { format!("{value:.0} MiB") } else { format!("{value:.1} MiB") }
}
