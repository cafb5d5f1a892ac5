//! The roofs that launches are compared with: from the datasheet, at the measured clock, or
//! achievable.

use serde::Serialize;

use crate::catalog::{DerivedPeak, Device, Limits, Observed};
use crate::model::{DeviceHint, Engine, Launch, MemoryLevel, Pipe, Precision, Quantity};
use crate::roofline;
use crate::table::{Cell, Form};
use crate::units::{BytesPerSecond, FlopsPerSecond, Hertz, Seconds};

/// The set of ceilings of an analysis; every report names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CeilingSet {
    /// Datasheet peaks at the rated boost clock.
    Spec,
    /// Peaks at the clock of each launch: from the profile, else scaled from the datasheet.
    MeasuredClock,
    /// Rates that published benchmarks reach, at the clock of each launch if it is known.
    Achievable,
}

impl CeilingSet {
    /// Returns the name in reports, JSON and on the command line.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Spec => "spec",
            Self::MeasuredClock => "measured-clock",
            Self::Achievable => "achievable",
        }
    }

    /// Returns the headroom from which a kernel is flagged. It is larger for datasheet roofs, whose
    /// boost clocks some kernels cannot reach.
    #[must_use]
    pub const fn threshold(self) -> f64 {
        match self {
            Self::Spec => 2.0,
            Self::MeasuredClock | Self::Achievable => 1.5,
        }
    }
}

/// The roofs of one device, resolved for fast use per launch.
#[derive(Debug, Clone)]
pub(super) struct Roofs {
    peaks: Vec<Option<Roof<FlopsPerSecond>>>,
    dram: Option<Roof<BytesPerSecond>>,
    /// How the DRAM roof is derived from the export, if the catalog has none.
    derived: Option<&'static str>,
    l2: Option<BytesPerSecond>,
    /// L2 bandwidth of a published benchmark: an achievable roof, not a theoretical one.
    measured_l2: Option<BytesPerSecond>,
    /// Bandwidths of L1 and shared memory that were measured on the machine: achievable roofs too.
    measured_on_chip: [Option<BytesPerSecond>; 2],
    /// Highest realistic clock: short launches count cycles and time in different passes.
    highest_clock: Option<Hertz>,
    /// Clock at which CUDA-core peaks are quoted.
    rated_clock: Option<Hertz>,
    /// Memory clock at which the bandwidth is quoted.
    memory_clock: Option<Hertz>,
    groups: Vec<usize>,
    limits: Option<&'static Limits>,
    /// Bandwidth to the host and to peers, both directions together.
    system: Option<BytesPerSecond>,
    peer: Option<BytesPerSecond>,
    pub(super) l2_bytes: Option<u64>,
    pub(super) sms: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Roof<T> {
    value: T,
    /// Clock at which the value is quoted.
    clock: Option<Hertz>,
    /// Share that is achievable in practice.
    achievable: f64,
}

impl<T: std::ops::Mul<f64, Output = T>> Roof<T> {
    fn quoted(self, set: CeilingSet) -> T {
        self.value * if set == CeilingSet::Achievable { self.achievable } else { 1.0 }
    }
}

impl Roofs {
    pub(super) fn new(device: Option<&Device>, hint: &DeviceHint, observed: &Observed) -> Self {
        let peak = |device: &Device, pipe: Pipe| {
            let value = device.peak(pipe)?.value;
            let achieved = device.achievable_peak(pipe.dense()).map(|figure| figure.value);
            let dense = device.peak(pipe.dense()).map_or(value, |figure| figure.value);
            let achievable = achieved.map_or(1.0, |achieved| (achieved / dense).min(1.0));
            Some(Roof { value, clock: device.clock_of(pipe), achievable })
        };
        let dram = device.and_then(|device| {
            let value = device.memory.bandwidth.as_ref()?.value;
            let achieved = device.achievable_bandwidth().map(|figure| figure.value);
            let achievable = achieved.map_or(1.0, |achieved| (achieved / value).min(1.0));
            Some(Roof { value, clock: None, achievable })
        });
        let derived = observed.dram.filter(|_| dram.is_none());
        let of_export = |peak: DerivedPeak| Roof {
            value: peak.value,
            clock: None,
            achievable: crate::roofline::achievable::GDDR,
        };
        let capability = device
            .and_then(|device| device.compute_capability.as_deref())
            .or(hint.compute_capability.as_deref());
        Self {
            peaks: Pipe::ALL
                .iter()
                .map(|pipe| device.and_then(|device| peak(device, *pipe)))
                .collect(),
            dram: dram.or_else(|| derived.map(of_export)),
            derived: derived.map(|peak| peak.how),
            l2: device.and_then(|device| device.l2_bandwidth.as_ref().map(|figure| figure.value)),
            measured_l2: device
                .and_then(|device| device.achievable.l2.as_ref().map(|reached| reached.value)),
            measured_on_chip: device.map_or([None; 2], |device| {
                let reached = [&device.achievable.l1, &device.achievable.shared];
                reached.map(|rate| rate.as_ref().map(|reached| reached.value))
            }),
            highest_clock: hint.max_sm_clock.or_else(|| device.and_then(Device::highest_sm_clock)),
            rated_clock: device.and_then(|device| device.clock_of(Pipe::Fp32Vector)),
            memory_clock: device.and_then(Device::memory_clock).or(hint.max_memory_clock),
            groups: Pipe::ALL.iter().map(|pipe| group(capability, *pipe)).collect(),
            limits: capability.and_then(Limits::of),
            system: device.and_then(Device::pcie_bandwidth).map(|one_way| one_way * 2.0),
            peer: device.and_then(|device| device.nvlink.as_ref().map(|figure| figure.value)),
            l2_bytes: device.and_then(|device| device.l2_bytes).or(hint.l2_bytes),
            sms: device.and_then(|device| device.sms).or(hint.sms),
        }
    }

    /// Returns `true` if any compute roof is known.
    pub(super) fn has_peaks(&self) -> bool {
        self.peaks.iter().any(Option::is_some)
    }

    /// Returns the group of a pipe; pipes of one group share hardware, see [`group`].
    pub(super) fn group(&self, pipe: Pipe) -> usize {
        self.groups[pipe as usize]
    }

    /// Returns the SM clock of a launch, capped at the device's maximum.
    pub(super) fn clock(&self, launch: &Launch<'_>) -> Option<Hertz> {
        let clock = Hertz::new(launch.value(Quantity::SmClock)?);
        Some(self.highest_clock.map_or(clock, |highest| clock.min(highest)))
    }

    /// Returns the compute roof of a pipe for a launch, with its source.
    pub(super) fn peak(
        &self,
        launch: &Launch<'_>,
        pipe: Pipe,
        set: CeilingSet,
    ) -> Option<Ceiling<FlopsPerSecond>> {
        let roof = self.peaks[pipe as usize];
        let share = if set == CeilingSet::Achievable {
            roof.map_or(default_share(pipe), |roof| roof.achievable)
        } else {
            1.0
        };
        if set != CeilingSet::Spec {
            let clock = self.clock(launch);
            if let Some(peak) = launch.value(Quantity::Peak(pipe)) {
                let seen = launch.value(Quantity::SmClock);
                let cap = clock.zip(seen).map_or(1.0, |(clock, seen)| clock.get() / seen);
                return Some(Ceiling {
                    value: FlopsPerSecond::new(peak * cap * share),
                    from: From::Profile,
                });
            }
            if let Some(Roof { value, clock: Some(rated), .. }) = roof
                && let Some(clock) = clock
            {
                return Some(Ceiling {
                    value: value * (clock / rated) * share,
                    from: From::Scaled { rated, clock },
                });
            }
        }
        roof.map(|roof| Ceiling { value: roof.value * share, from: From::Catalog })
    }

    /// Returns the DRAM roof for a launch: from the profile, else the catalog's at the memory clock
    /// measured.
    pub(super) fn dram(
        &self,
        launch: &Launch<'_>,
        set: CeilingSet,
    ) -> Option<Ceiling<BytesPerSecond>> {
        let share = match (set, self.dram) {
            (CeilingSet::Achievable, Some(roof)) => roof.achievable,
            (CeilingSet::Achievable, None) => crate::roofline::achievable::GDDR,
            _ => 1.0,
        };
        if set != CeilingSet::Spec
            && let Some(bandwidth) = launch.value(Quantity::DramBandwidth)
        {
            return Some(Ceiling {
                value: BytesPerSecond::new(bandwidth * share),
                from: From::Profile,
            });
        }
        let roof = self.dram?;
        let scaled = set != CeilingSet::Spec && self.derived.is_none();
        let scale = if scaled { self.dram_scale(launch) } else { 1.0 };
        let from = match (self.derived, scale < 1.0, self.memory_clock) {
            (Some(how), ..) => From::Derived(how),
            (None, true, Some(rated)) => From::Scaled { rated, clock: rated * scale },
            _ => From::Catalog,
        };
        Some(Ceiling { value: roof.value * share * scale, from })
    }

    /// Returns the compute roof of a pipe at the rated clock, for launches that were not measured.
    pub(super) fn quoted_peak(&self, pipe: Pipe, set: CeilingSet) -> Option<FlopsPerSecond> {
        self.peaks[pipe as usize].map(|roof| roof.quoted(set))
    }

    /// Returns the DRAM roof at the rated clock, for launches that were not measured.
    pub(super) fn quoted_dram(&self, set: CeilingSet) -> Option<BytesPerSecond> {
        self.dram.map(|roof| roof.quoted(set))
    }

    /// Returns the SM clock of a launch over the clock at which the peak of a pipe is quoted.
    pub(super) fn clock_share(&self, launch: &Launch<'_>, pipe: Pipe) -> Option<f64> {
        let rated = self.peaks[pipe as usize].and_then(|roof| roof.clock).or(self.rated_clock)?;
        Some(self.clock(launch)? / rated)
    }

    /// Returns the L2 roof for a launch; without one in the profile, the catalog's follows the SM
    /// clock.
    pub(super) fn l2(&self, launch: &Launch<'_>, set: CeilingSet) -> Option<BytesPerSecond> {
        if set == CeilingSet::Spec {
            return self.l2;
        }
        let measured = launch.value(Quantity::L2Bandwidth).map(BytesPerSecond::new);
        measured.or_else(|| {
            let scale = self
                .clock(launch)
                .zip(self.rated_clock)
                .map_or(1.0, |(clock, rated)| clock / rated);
            let reached = self.measured_l2.filter(|_| set == CeilingSet::Achievable);
            Some(self.l2.or(reached)? * scale)
        })
    }

    /// Returns the roof of a cache or a link for a launch; see [`Roofs::dram`] for device memory.
    pub(super) fn level(
        &self,
        launch: &Launch<'_>,
        level: MemoryLevel,
        set: CeilingSet,
    ) -> Option<BytesPerSecond> {
        match level {
            MemoryLevel::L2 => self.l2(launch, set),
            MemoryLevel::L1 => {
                let seen = launch.value(Quantity::L1Bandwidth).filter(|_| set != CeilingSet::Spec);
                seen.map(BytesPerSecond::new)
                    .or_else(|| self.on_chip(launch, set))
                    .or(self.measured_on_chip[0].filter(|_| set == CeilingSet::Achievable))
            }
            MemoryLevel::Shared => self
                .on_chip(launch, set)
                .or(self.measured_on_chip[1].filter(|_| set == CeilingSet::Achievable)),
            MemoryLevel::Dram => self.dram(launch, set).map(|roof| roof.value),
            MemoryLevel::System => self.system,
            MemoryLevel::Peer => self.peer,
        }
    }

    /// Returns the bandwidth of L1 and shared memory, by the width of their data path.
    fn on_chip(&self, launch: &Launch<'_>, set: CeilingSet) -> Option<BytesPerSecond> {
        let each = f64::from(self.limits?.on_chip_bytes_per_clock?);
        let measured = self.clock(launch).filter(|_| set != CeilingSet::Spec);
        let clock = measured.or(self.rated_clock)?;
        Some(roofline::bandwidth_at_clock(each * f64::from(self.sms_of(launch)?), clock))
    }

    /// Returns the SMs that a launch could use.
    pub(super) fn sms_of(&self, launch: &Launch<'_>) -> Option<u32> {
        let counted = launch.value(Quantity::SmCount).map(|count| count.round() as u32);
        counted.or(self.sms).filter(|sms| *sms > 0)
    }

    /// Returns the resident blocks per SM of a launch: from the profiler, else computed from its
    /// threads, registers and shared memory. If the carve-out is unknown, all of the shared memory
    /// is assumed to be available.
    pub(super) fn resident(&self, launch: &Launch<'_>) -> Option<Resident> {
        let counted = launch.value(Quantity::ResidentBlocksPerSm).filter(|blocks| *blocks >= 1.0);
        if let Some(blocks) = counted {
            return Some(Resident { blocks: blocks.round() as u32, is_computed: false });
        }
        let limits = self.limits?;
        let threads = u32::try_from(launch.head.shape.threads_per_block?).ok()?;
        let registers = launch.value(Quantity::RegistersPerThread)?.round() as u32;
        let shared = launch.value(Quantity::SharedMemoryPerBlock)?.round() as u32;
        let granularity = limits.shared_granularity_bytes.max(1);
        let taken = shared
            .max(limits.reserved_shared_bytes_per_block)
            .checked_next_multiple_of(granularity)?;
        let blocks = limits.resident_blocks(threads, registers, taken)?;
        Some(Resident { blocks, is_computed: true })
    }

    /// Returns the busy time of the tensor pipe, scaled to the roofs of a set.
    pub(super) fn activity_at_tensor(
        &self,
        launch: &Launch<'_>,
        busy: Seconds,
        set: CeilingSet,
    ) -> Seconds {
        let pipe = Pipe::Fp16Matrix;
        match set {
            CeilingSet::MeasuredClock => busy,
            CeilingSet::Achievable => busy / self.achievable_math(pipe),
            CeilingSet::Spec => {
                let rated =
                    self.peaks[pipe as usize].and_then(|roof| roof.clock).or(self.rated_clock);
                busy * self.clock(launch).zip(rated).map_or(1.0, |(clock, rated)| clock / rated)
            }
        }
    }

    /// Returns the busy time of an SM unit, scaled to the roofs of a set.
    pub(super) fn activity_at_sm(
        &self,
        launch: &Launch<'_>,
        busy: Seconds,
        set: CeilingSet,
    ) -> Seconds {
        match set {
            CeilingSet::MeasuredClock => busy,
            CeilingSet::Achievable => busy / self.achievable_math(Pipe::Fp32Vector),
            CeilingSet::Spec => {
                let clocks = self.clock(launch).zip(self.rated_clock);
                busy * clocks.map_or(1.0, |(clock, rated)| clock / rated)
            }
        }
    }

    /// Returns the busy time of DRAM, scaled to the roofs of a set.
    pub(super) fn activity_at_dram(
        &self,
        launch: &Launch<'_>,
        busy: Seconds,
        set: CeilingSet,
    ) -> Seconds {
        match set {
            CeilingSet::MeasuredClock => busy,
            CeilingSet::Achievable => busy / self.achievable_memory(),
            CeilingSet::Spec => busy * self.dram_scale(launch),
        }
    }

    /// Returns the measured over the rated memory clock, if both are known and agree roughly:
    /// profilers count some memories at another multiple of the driver's clock.
    pub(super) fn dram_scale(&self, launch: &Launch<'_>) -> f64 {
        let seen = launch.value(Quantity::DramClock).map(Hertz::new);
        seen.zip(self.memory_clock)
            .map(|(seen, rated)| seen / rated)
            .filter(|scale| (0.5..=1.02).contains(scale))
            .map_or(1.0, |scale| scale.min(1.0))
    }

    /// Returns the achievable share of a compute roof.
    pub(super) fn achievable_math(&self, pipe: Pipe) -> f64 {
        self.peaks[pipe as usize].map_or(default_share(pipe), |roof| roof.achievable)
    }

    /// Returns the achievable share of the DRAM roof.
    pub(super) fn achievable_memory(&self) -> f64 {
        self.dram.map_or(crate::roofline::achievable::GDDR, |roof| roof.achievable)
    }
}

impl Roofs {
    /// Returns the figures that the law takes of a device, as columns of a table.
    pub(super) fn figures(&self) -> Vec<(String, Form, Option<Cell<'static>>)> {
        let number = |name: &str, unit, value: Option<f64>| {
            (name.to_owned(), Form::Number(unit), value.map(Cell::Number))
        };
        let count =
            |name: &str, value: Option<u64>| (name.to_owned(), Form::Count, value.map(Cell::Count));
        let rate = |rate: Option<BytesPerSecond>| rate.map(BytesPerSecond::get);
        let clock = |clock: Option<Hertz>| clock.map(Hertz::get);
        let per_clock = self.limits.and_then(|limits| limits.on_chip_bytes_per_clock);
        let mut all = vec![
            count("multiprocessors", self.sms.map(u64::from)),
            number("rated_sm_clock_hz", "Hz", clock(self.rated_clock)),
            number("highest_sm_clock_hz", "Hz", clock(self.highest_clock)),
            number("rated_memory_clock_hz", "Hz", clock(self.memory_clock)),
            number("dram_bytes_per_s", "B/s", self.dram.map(|roof| roof.value.get())),
            ("is_dram_derived".to_owned(), Form::Truth, Some(Cell::Truth(self.derived.is_some()))),
            number("achievable_dram", "1", Some(self.achievable_memory())),
            count("l2_bytes", self.l2_bytes),
            number("l2_bytes_per_s", "B/s", rate(self.l2)),
            number("measured_l2_bytes_per_s", "B/s", rate(self.measured_l2)),
            number("measured_l1_bytes_per_s", "B/s", rate(self.measured_on_chip[0])),
            number("measured_shared_bytes_per_s", "B/s", rate(self.measured_on_chip[1])),
            count("on_chip_bytes_per_clock", per_clock.map(u64::from)),
            number("system_bytes_per_s", "B/s", rate(self.system)),
            number("peer_bytes_per_s", "B/s", rate(self.peer)),
        ];
        for pipe in Pipe::ALL.iter().copied() {
            let roof = self.peaks[pipe as usize];
            let key = pipe.key();
            let peak = roof.map(|roof| roof.value.get());
            all.extend([
                number(&Quantity::Peak(pipe).column(), "FLOP/s", peak),
                number(&format!("clock_{key}_hz"), "Hz", clock(roof.and_then(|roof| roof.clock))),
                number(&format!("achievable_{key}"), "1", Some(self.achievable_math(pipe))),
                count(&format!("group_{key}"), Some(self.group(pipe) as u64)),
            ]);
        }
        all
    }
}

fn default_share(pipe: Pipe) -> f64 {
    match pipe.engine() {
        Engine::Vector => crate::roofline::achievable::VECTOR,
        Engine::Matrix => crate::roofline::achievable::MATRIX,
    }
}

/// Resident blocks per SM.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resident {
    pub(super) blocks: u32,
    /// True if computed from the launch and the device limits instead of read from the profile.
    pub(super) is_computed: bool,
}

/// A roof and its source.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ceiling<T> {
    pub(super) value: T,
    pub(super) from: From,
}

/// Source of a roof.
#[derive(Debug, Clone, Copy)]
pub(super) enum From {
    /// `.peak_sustained` in the profile, at its own clock.
    Profile,
    /// The catalog's figure, scaled from its rated clock to the launch's.
    Scaled { rated: Hertz, clock: Hertz },
    /// The catalog's figure as it is.
    Catalog,
    /// Derived from figures of the whole export; holds a description.
    Derived(&'static str),
}

/// Pipes that share issue slots or datapaths have the same group: their times add up. Independent
/// pipes overlap. If the chip is unknown, all pipes share one group, which is conservative.
///
/// Source: `sm__pipe_shared_cycles_active` and pipe tables of the *Nsight Compute Profiling Guide*.
fn group(compute_capability: Option<&str>, pipe: Pipe) -> usize {
    const SHARED: usize = 0;
    const FMA: usize = 1;
    const HALF: usize = 2;
    const DOUBLE: usize = 3;
    const INTEGER: usize = 4;
    let Some(capability) = compute_capability else { return SHARED };
    if pipe.engine() == Engine::Matrix {
        // The small FP64 unit of graphics chips serves both.
        let own_double = matches!(capability, "8.6" | "8.9" | "12.0" | "12.1");
        return if own_double && pipe.precision() == Precision::Fp64 { DOUBLE } else { SHARED };
    }
    match (pipe.precision(), capability) {
        (Precision::Int32 | Precision::Int8, _) => INTEGER,
        (Precision::Fp64, "7.0" | "8.0" | "9.0" | "10.0" | "10.3")
        | (Precision::Fp16 | Precision::Bf16, "7.0" | "7.5") => SHARED,
        (Precision::Fp64, _) => DOUBLE,
        (Precision::Fp16 | Precision::Bf16, "6.0" | "8.0") => HALF,
        _ => FMA,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipes_that_share_hardware_share_a_group() {
        let shared = |cc, a, b| group(Some(cc), a) == group(Some(cc), b);
        assert!(shared("8.0", Pipe::Fp64Vector, Pipe::Bf16Matrix));
        assert!(!shared("8.0", Pipe::Fp32Vector, Pipe::Bf16Matrix));
        assert!(shared("7.0", Pipe::Fp16Vector, Pipe::Fp16Matrix));
        assert!(shared("8.9", Pipe::Fp16Vector, Pipe::Fp32Vector));
        assert_eq!(group(None, Pipe::Fp32Vector), group(None, Pipe::Bf16Matrix));
    }
}
