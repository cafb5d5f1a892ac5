//! The roofs that launches are compared with: from the datasheet, at the measured clock, or
//! achievable.

use crate::catalog::{DerivedPeak, Device, Limits, Observed};
use crate::law::{self, CeilingSet};
use crate::model::{DeviceHint, Launch, Pipe, Quantity};
use crate::roofline;
use crate::scalar::Maybe;
use crate::units::{BytesPerSecond, FlopsPerSecond, Hertz};

/// Whether devices of a compute capability have no tensor cores, which came with Volta.
fn lacks_matrix_units(compute_capability: &str) -> bool {
    let major = compute_capability.split('.').next().and_then(|major| major.parse::<u32>().ok());
    major.is_some_and(|major| major < 7)
}

/// The roofs of one device, with where they come from.
#[derive(Debug, Clone)]
pub(super) struct Roofs {
    /// What the law uses.
    pub(super) law: law::Roofs<f64>,
    /// How the DRAM roof is derived from the export, if the catalog has none.
    derived: Option<&'static str>,
}

impl Roofs {
    pub(super) fn new(device: Option<&Device>, hint: &DeviceHint, observed: &Observed) -> Self {
        let share = |reached: Option<f64>, peak: f64| {
            reached.map_or(1.0, |reached| (reached / peak).min(1.0))
        };
        let peak = |device: &Device, pipe: Pipe| {
            let value = device.peak(pipe)?.value;
            let reached = device.achievable_peak(pipe.dense()).map(|figure| figure.value.get());
            let dense = device.peak(pipe.dense()).map_or(value, |figure| figure.value);
            Some(law::Roof {
                value: value.get(),
                clock: device.clock_of(pipe).map(Hertz::get).into(),
                achievable: share(reached, dense.get()),
            })
        };
        let dram = device.and_then(|device| {
            let value = device.memory.bandwidth.as_ref()?.value.get();
            let reached = device.achievable_bandwidth().map(|figure| figure.value.get());
            let achievable = share(reached, value);
            Some(law::Roof { value, clock: Maybe::missing(), achievable })
        });
        let derived = observed.dram.filter(|peak| dram.is_none() && peak.is_whole());
        let of_export = |peak: DerivedPeak| law::Roof {
            value: peak.value.get(),
            clock: Maybe::missing(),
            achievable: roofline::achievable::GDDR,
        };
        let capability = device
            .and_then(|device| device.compute_capability.as_deref())
            .or(hint.compute_capability.as_deref());
        let target = device.and_then(Device::target).or(capability);
        let limits = capability.and_then(Limits::of);
        let rate = |rate: Option<BytesPerSecond>| rate.map(BytesPerSecond::get).into();
        let clock = |clock: Option<Hertz>| clock.map(Hertz::get).into();
        let reached = |which: fn(&Device) -> Option<BytesPerSecond>| rate(device.and_then(which));
        let law = law::Roofs {
            peaks: Pipe::ALL
                .iter()
                .map(|pipe| device.and_then(|device| peak(device, *pipe)).into())
                .collect(),
            dram: dram.or_else(|| derived.map(of_export)).into(),
            is_derived: derived.is_some(),
            l2: rate(device.and_then(|device| Some(device.l2_bandwidth.as_ref()?.value))),
            measured_l2: reached(|device| Some(device.achievable.l2.as_ref()?.value)),
            measured_l1: reached(|device| Some(device.achievable.l1.as_ref()?.value)),
            measured_shared: reached(|device| Some(device.achievable.shared.as_ref()?.value)),
            highest_clock: clock(
                hint.max_sm_clock.or_else(|| device.and_then(Device::highest_sm_clock)),
            ),
            rated_clock: clock(device.and_then(|device| device.clock_of(Pipe::Fp32Vector))),
            memory_clock: clock(device.and_then(Device::memory_clock).or(hint.max_memory_clock)),
            highest_memory_clock: clock(hint.max_memory_clock),
            groups: Pipe::ALL.iter().map(|pipe| law::group(target, *pipe) as f64).collect(),
            limits: limits.filter(|limits| limits.is_register_file_usual()).map(occupancy).into(),
            lacks_matrix_units: capability.is_some_and(lacks_matrix_units),
            on_chip: limits.and_then(|limits| limits.on_chip_bytes_per_clock).map(f64::from).into(),
            system: rate(device.and_then(Device::host_link).map(|(one_way, _)| one_way * 2.0)),
            peer: rate(device.and_then(|device| Some(device.nvlink.as_ref()?.value))),
            l2_bytes: device
                .and_then(|device| device.l2_bytes)
                .or(hint.l2_bytes)
                .map(|bytes| bytes as f64)
                .into(),
            sms: device.and_then(|device| device.sms).or(hint.sms).map(f64::from).into(),
        };
        Self { law, derived: derived.map(|peak| peak.how) }
    }

    /// Returns the size of the L2 cache in bytes.
    pub(super) fn l2_bytes(&self) -> Option<f64> {
        self.law.l2_bytes.option()
    }

    /// Returns the number of SMs.
    pub(super) fn sms(&self) -> Option<u32> {
        self.law.sms.option().map(|sms| sms as u32)
    }

    /// Returns the group of a pipe; pipes of one group share hardware, see [`law::group`].
    pub(super) fn group(&self, pipe: Pipe) -> usize {
        self.law.groups[pipe as usize] as usize
    }

    /// Returns the SM clock of a launch, capped at the device's maximum.
    pub(super) fn clock(&self, launch: &Launch<'_>) -> Option<Hertz> {
        self.law.clock(launch).option().map(Hertz::new)
    }

    /// Returns the compute roof of a pipe for a launch, with its source.
    pub(super) fn peak(
        &self,
        launch: &Launch<'_>,
        pipe: Pipe,
        set: CeilingSet,
    ) -> Option<Ceiling<FlopsPerSecond>> {
        let value = FlopsPerSecond::new(self.law.peak(launch, pipe, set).option()?);
        let rated = self.law.peaks[pipe as usize].option().and_then(|roof| roof.clock.option());
        let from = match rated.map(Hertz::new).zip(self.clock(launch)) {
            _ if set == CeilingSet::Spec => From::Catalog,
            _ if launch.value(Quantity::Peak(pipe)).is_some() => From::Profile,
            Some((rated, clock)) => From::Scaled { rated, clock },
            None => From::Catalog,
        };
        Some(Ceiling { value, from })
    }

    /// Returns the DRAM roof for a launch, with its source.
    pub(super) fn dram(
        &self,
        launch: &Launch<'_>,
        set: CeilingSet,
    ) -> Option<Ceiling<BytesPerSecond>> {
        let value = BytesPerSecond::new(self.law.dram(launch, set).option()?);
        let is_spec = set == CeilingSet::Spec;
        let scale = if is_spec { 1.0 } else { self.dram_scale(launch) };
        let from = match (self.derived, scale < 1.0, self.law.memory_clock.option()) {
            _ if !is_spec && launch.value(Quantity::DramBandwidth).is_some() => From::Profile,
            (Some(how), ..) => From::Derived(how),
            (None, true, Some(rated)) => {
                let rated = Hertz::new(rated);
                From::Scaled { rated, clock: rated * scale }
            }
            _ => From::Catalog,
        };
        Some(Ceiling { value, from })
    }

    /// Returns the compute roof of a pipe at the rated clock, for launches that were not measured.
    pub(super) fn quoted_peak(&self, pipe: Pipe, set: CeilingSet) -> Option<FlopsPerSecond> {
        let roof = self.law.peaks[pipe as usize].option();
        roof.map(|roof| FlopsPerSecond::new(quoted(roof, set)))
    }

    /// Returns the pipe on which work of a pipe runs: vector work in 16 bits is converted where the device has no roof for it.
    pub(super) fn instead(&self, pipe: Pipe) -> Pipe {
        let is_known = |pipe: Pipe| self.law.peaks[pipe as usize].option().is_some();
        let is_half = matches!(pipe, Pipe::Fp16Vector | Pipe::Bf16Vector);
        if is_half && !is_known(pipe) { Pipe::Fp32Vector } else { pipe }
    }

    /// Returns the DRAM roof at the rated clock, for launches that were not measured.
    pub(super) fn quoted_dram(&self, set: CeilingSet) -> Option<BytesPerSecond> {
        let roof = self.law.dram.option();
        roof.map(|roof| BytesPerSecond::new(quoted(roof, set)))
    }

    /// Returns the SM clock of a launch over the clock at which the peak of a pipe is quoted.
    pub(super) fn clock_share(&self, launch: &Launch<'_>, pipe: Pipe) -> Option<f64> {
        let of_pipe = self.law.peaks[pipe as usize].and_then(|roof| roof.clock);
        let rated = of_pipe.or_else(|| self.law.rated_clock).option()?;
        Some(self.clock(launch)? / Hertz::new(rated))
    }

    /// Returns the SMs that a launch could use.
    pub(super) fn sms_of(&self, launch: &Launch<'_>) -> Option<u32> {
        self.law.sms_of(launch).option().map(|sms| sms as u32)
    }

    /// Returns the resident blocks per SM of a launch.
    pub(super) fn resident(&self, launch: &Launch<'_>) -> Option<Resident> {
        let blocks = self.law.resident(launch).option()? as u32;
        let is_computed = law::Roofs::counted_resident(launch).option().is_none();
        Some(Resident { blocks, is_computed })
    }

    /// Returns the measured over the rated memory clock.
    pub(super) fn dram_scale(&self, launch: &Launch<'_>) -> f64 {
        self.law.dram_scale(launch)
    }
}

/// Returns the occupancy limits that the law uses.
fn occupancy(limits: &Limits) -> law::Limits<f64> {
    law::Limits {
        warps: f64::from(limits.max_warps_per_sm),
        blocks: f64::from(limits.max_blocks_per_sm),
        shared_bytes: f64::from(limits.shared_bytes_per_sm()),
        reserved_shared_bytes: f64::from(limits.reserved_shared_bytes_per_block),
        shared_granularity: f64::from(limits.shared_granularity_bytes),
    }
}

/// Returns a roof as it is quoted.
fn quoted(roof: law::Roof<f64>, set: CeilingSet) -> f64 {
    roof.value * if set == CeilingSet::Achievable { roof.achievable } else { 1.0 }
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
