//! A device: names, attributes and the roofs derived from them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::error::CatalogError;
use super::figure::{Achieved, Citation, Confidence, Exception, Figure};
use super::limits::Limits;
use super::rates::{self, Rate};
use crate::model::{Engine, Pipe, Precision};
use crate::roofline;
use crate::units::{BytesPerSecond, FlopsPerByte, FlopsPerSecond, Hertz};

/// One GPU as a profiler sees it: a whole card, or one of several dies that report as devices.
///
/// Missing figures are `None`, never zero. Serialized, every key carries its unit, in SI base units.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Device {
    /// Stable identifier, the stem of its file: `nvidia-h100-sxm5-80gb`.
    pub id: String,
    /// The unique name shown in reports: `H100 SXM5 80GB`.
    pub name: String,
    /// Name that the driver reports; several devices may share it.
    pub driver_name: Option<String>,
    /// Aliases seen in logs and documents.
    pub aliases: Vec<String>,
    /// Vendor: `NVIDIA`, `AMD` or `Intel`.
    pub vendor: Option<String>,
    /// Architecture, such as `Hopper`.
    pub architecture: Option<String>,
    /// Chip, such as `GH100`.
    pub chip: Option<String>,
    /// Compute capability, such as `9.0`; NVIDIA only.
    pub compute_capability: Option<String>,
    /// AMD target, such as `gfx942`; AMD only.
    pub gfx: Option<String>,
    /// Selects the rates per SM if devices of one architecture differ, such as `geforce`.
    pub rate_class: Option<String>,
    /// Number of SMs (AMD: compute units, Intel: Xe cores) that the profiler sees.
    pub sms: Option<u32>,
    /// Rated clock under sustained load; Nsight Compute locks to it by default.
    #[serde(rename = "base_clock_hz")]
    pub base_clock: Option<Figure<Hertz>>,
    /// Rated or device-reported maximum clock, at which peaks are quoted.
    #[serde(rename = "boost_clock_hz")]
    pub boost_clock: Option<Figure<Hertz>>,
    /// Boost clock at the lowest power setting, if manufacturers choose the power (laptops,
    /// modules).
    #[serde(rename = "lowest_boost_clock_hz")]
    pub lowest_boost_clock: Option<Figure<Hertz>>,
    /// Clock at which matrix peaks are quoted, if it differs from the boost clock.
    #[serde(rename = "tensor_clock_hz")]
    pub tensor_clock: Option<Figure<Hertz>>,
    /// Device memory.
    pub memory: Memory,
    /// L1 cache and shared memory of one SM together (shared alone before 7.0, LDS on AMD), in bytes.
    pub l1_shared_bytes_per_sm: Option<u64>,
    /// L2 cache, in bytes.
    pub l2_bytes: Option<u64>,
    /// Cache behind L2 (AMD Infinity Cache), in bytes.
    pub last_level_bytes: Option<u64>,
    /// Theoretical L2 bandwidth; measured ones are in [`Device::achievable`].
    #[serde(rename = "l2_bandwidth_bytes_per_s")]
    pub l2_bandwidth: Option<Figure<BytesPerSecond>>,
    /// Peak rates; integer pipes count OP. Sparse pipes are separate entries.
    #[serde(rename = "peaks_flop_per_s")]
    #[schemars(with = "BTreeMap<String, Figure<FlopsPerSecond>>")]
    pub peaks: BTreeMap<Pipe, Figure<FlopsPerSecond>>,
    /// Rates that published benchmarks reached.
    pub achievable: Achievable,
    /// Board power, in watts.
    #[serde(rename = "tdp_w")]
    pub tdp_watts: Option<u32>,
    /// `PCIe` generation and width, such as `5.0 x16`.
    pub pcie: Option<String>,
    /// Bandwidth of `NVLink-C2C` to the host, both directions together.
    #[serde(rename = "c2c_bytes_per_s")]
    pub c2c: Option<Figure<BytesPerSecond>>,
    /// Bandwidth to other GPUs, both directions together.
    #[serde(rename = "nvlink_bytes_per_s")]
    pub nvlink: Option<Figure<BytesPerSecond>>,
    /// Year of market launch.
    pub launch_year: Option<u16>,
    /// How well the main figures are documented.
    pub confidence: Option<Confidence>,
    /// Caveats on the figures, one sentence each.
    pub notes: Vec<String>,
    /// Explained disagreements between published figures and the formula.
    pub exceptions: Vec<Exception>,
    /// Sources of the plain attributes, by their path in the device file (`sms`, `memory.size_gb`).
    pub citations: BTreeMap<&'static str, Citation>,
    /// Origin of the entry.
    pub provenance: Provenance,
    /// Of a package whose GPUs are devices of their own: name of the device of one, on which a launch runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launches_on: Option<String>,
    /// Which part of a device it is, if it is not a whole one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<Part>,
}

/// Device memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Memory {
    /// Memory type, such as `HBM3`.
    pub kind: Option<String>,
    /// Nominal size in bytes, with 1 GB as 10⁹ bytes.
    pub bytes: Option<u64>,
    /// Width of the bus, in bits.
    pub bus_bits: Option<u32>,
    /// Clock as a driver reports it: half the data rate per pin.
    #[serde(rename = "clock_hz")]
    pub clock: Option<Figure<Hertz>>,
    /// Peak bandwidth.
    #[serde(rename = "bandwidth_bytes_per_s")]
    pub bandwidth: Option<Figure<BytesPerSecond>>,
}

/// Which part of a device it is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Part {
    /// How the name of the whole device goes on: `MIG 3g.20gb`, `CPX/NPS4`.
    pub name: String,
    /// Share of the SMs, of which peaks are as many; unknown where the export does not tell how many SMs the part has,
    /// and peaks are those of the whole device.
    pub compute_share: Option<f64>,
    /// Share of memory and its bandwidth; unknown where the name does not tell, and they are those of the whole device.
    pub memory_share: Option<f64>,
}

/// Rates reached by published benchmarks, beside the theoretical ones.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Achievable {
    /// Best simple kernel on device memory.
    #[serde(rename = "dram_bytes_per_s")]
    pub dram: Option<Achieved<BytesPerSecond>>,
    /// A real memory-bound program (D3Q19 lattice-Boltzmann): a floor rather than a ceiling.
    #[serde(rename = "lattice_boltzmann_bytes_per_s")]
    pub lattice_boltzmann: Option<Achieved<BytesPerSecond>>,
    /// L2 reads.
    #[serde(rename = "l2_bytes_per_s")]
    pub l2: Option<Achieved<BytesPerSecond>>,
    /// The L1 caches together, measured on the machine of the launches.
    #[serde(rename = "l1_bytes_per_s", skip_serializing_if = "Option::is_none")]
    pub l1: Option<Achieved<BytesPerSecond>>,
    /// Shared memory (AMD: LDS) of all SMs together, measured on the machine of the launches.
    #[serde(rename = "shared_bytes_per_s", skip_serializing_if = "Option::is_none")]
    pub shared: Option<Achieved<BytesPerSecond>>,
    /// Best multiplication or multiply-add loop per pipe.
    #[serde(rename = "peaks_flop_per_s")]
    #[schemars(with = "BTreeMap<String, Achieved<FlopsPerSecond>>")]
    pub peaks: BTreeMap<Pipe, Achieved<FlopsPerSecond>>,
}

/// Where a catalog entry comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", content = "path", rename_all = "kebab-case")]
pub enum Provenance {
    /// Built into the program.
    Builtin,
    /// A device file of the user, with its path.
    UserFile(
        /// The path.
        String,
    ),
    /// Derived from the device attributes of an export.
    Attributes,
}

impl Device {
    /// Returns the compute capability or the AMD target, whichever identifies the architecture.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        self.compute_capability.as_deref().or(self.gfx.as_deref())
    }

    /// Returns what is not known of it as a part of a device, whose roofs are too high for it.
    #[must_use]
    pub fn unknown_share(&self) -> Option<&str> {
        let part = self.part.as_ref()?;
        let is_unknown = part.compute_share.is_none() || part.memory_share.is_none();
        // The note of the part is the last one.
        is_unknown.then(|| self.notes.last().map(String::as_str)).flatten()
    }

    /// Returns what its figures are read from, for messages.
    pub(crate) fn listed_in(&self) -> String {
        match &self.provenance {
            Provenance::UserFile(path) => format!("the device file {path}"),
            Provenance::Builtin | Provenance::Attributes => "the catalog".to_owned(),
        }
    }

    /// Returns what the vendor calls the SMs of this device.
    #[must_use]
    pub fn units_label(&self) -> &'static str {
        match self.vendor.as_deref() {
            Some("AMD") => "compute units",
            Some("Intel") => "Xe cores",
            _ => "SMs",
        }
    }

    /// Returns the peak rate of a pipe.
    #[must_use]
    pub fn peak(&self, pipe: Pipe) -> Option<&Figure<FlopsPerSecond>> {
        self.peaks.get(&pipe)
    }

    /// Returns the peak rate of a pipe, which must be known.
    ///
    /// # Errors
    /// [`CatalogError::MissingFigure`] with the name of the figure.
    pub fn need_peak(&self, pipe: Pipe) -> Result<FlopsPerSecond, CatalogError> {
        self.peak(pipe).map(|figure| figure.value).ok_or_else(|| {
            let table = if pipe.is_sparse() { "peaks_sparse_tflops" } else { "peaks_tflops" };
            self.missing(&format!("{table}.{}", pipe.dense().key()))
        })
    }

    /// Returns the memory bandwidth, which must be known.
    ///
    /// # Errors
    /// [`CatalogError::MissingFigure`] with the name of the figure.
    pub fn need_bandwidth(&self) -> Result<BytesPerSecond, CatalogError> {
        let bandwidth = self.memory.bandwidth.as_ref().map(|figure| figure.value);
        bandwidth.ok_or_else(|| self.missing("memory.bandwidth_gbs"))
    }

    /// Returns the clock at which the peak of a pipe is quoted; peaks scale with the clock.
    ///
    /// If a published peak implies another clock than the rated ones, returns that clock.
    #[must_use]
    pub fn clock_of(&self, pipe: Pipe) -> Option<Hertz> {
        let dense = pipe.dense().key();
        let implied = self.exceptions.iter().find_map(|exception| {
            exception.implied_clock.filter(|_| exception.figures.iter().any(|key| key == dense))
        });
        implied.or_else(|| self.rated_clock_of(pipe))
    }

    /// Returns the rated clock of a pipe: NVIDIA specifies FP64 Tensor Core peaks at the boost
    /// clock.
    pub(super) fn rated_clock_of(&self, pipe: Pipe) -> Option<Hertz> {
        let tensor = pipe.engine() == Engine::Matrix && pipe.precision() != Precision::Fp64;
        let clock = self.tensor_clock.as_ref().filter(|_| tensor).or(self.boost_clock.as_ref());
        clock.map(|figure| figure.value)
    }

    /// Returns the highest realistic SM clock: GeForce boards run above their rated boost, others
    /// do not.
    #[must_use]
    pub fn highest_sm_clock(&self) -> Option<Hertz> {
        const GEFORCE_MARGIN: f64 = 1.2;
        let is_geforce = self.rate_class.as_deref() == Some("geforce");
        let margin = if is_geforce { GEFORCE_MARGIN } else { 1.0 };
        self.boost_clock.as_ref().map(|clock| clock.value * margin)
    }

    /// Returns the arithmetic intensity at which the memory roof meets this pipe's roof.
    #[must_use]
    pub fn ridge_point(&self, pipe: Pipe) -> Option<FlopsPerByte> {
        let bandwidth = self.memory.bandwidth.as_ref()?.value;
        Some(roofline::ridge_point(self.peak(pipe)?.value, bandwidth))
    }

    /// Returns the L2 bandwidth: the theoretical one, else that of a published benchmark.
    #[must_use]
    pub fn l2_roof(&self) -> Option<BytesPerSecond> {
        let measured = || self.achievable.l2.as_ref().map(|measured| measured.value);
        self.l2_bandwidth.as_ref().map(|published| published.value).or_else(measured)
    }

    /// Returns the arithmetic intensity at which the L2 roof meets this pipe's roof.
    #[must_use]
    pub fn l2_ridge_point(&self, pipe: Pipe) -> Option<FlopsPerByte> {
        Some(roofline::ridge_point(self.peak(pipe)?.value, self.l2_roof()?))
    }

    /// Returns `true` if the memory is HBM rather than GDDR or LPDDR.
    #[must_use]
    pub fn is_hbm(&self) -> bool {
        self.memory_kind_starts_with("HBM")
    }

    /// Returns `true` if the memory is shared with the host; drivers report its clock
    /// inconsistently.
    pub(super) fn shares_host_memory(&self) -> bool {
        self.memory_kind_starts_with("LPDDR")
    }

    fn memory_kind_starts_with(&self, start: &str) -> bool {
        self.memory.kind.as_deref().is_some_and(|kind| kind.starts_with(start))
    }

    /// Returns the memory clock as a driver reports it, computed from bandwidth and bus if it is
    /// not given.
    #[must_use]
    pub fn memory_clock(&self) -> Option<Hertz> {
        if let Some(clock) = &self.memory.clock {
            return Some(clock.value);
        }
        let per_hertz = roofline::ddr_bandwidth(self.memory.bus_bits?, Hertz::new(1.0));
        Some(Hertz::new(self.memory.bandwidth.as_ref()?.value / per_hertz))
    }

    /// Returns multiply-adds per clock and SM of a dense pipe, if the architecture's table has
    /// them.
    #[must_use]
    pub fn rate(&self, pipe: Pipe) -> Option<&'static Rate> {
        rates::rate(self.target()?, self.rate_class.as_deref()?, pipe)
    }

    /// Returns `true` if the device has matrix units for the format of a pipe; `None` for vector
    /// pipes, or if neither a figure nor the architecture's table says.
    #[must_use]
    pub fn has_units(&self, pipe: Pipe) -> Option<bool> {
        if self.peak(pipe).is_some() {
            return Some(true);
        }
        let format = pipe.dense().key().split("_matrix").next().unwrap_or_default();
        (pipe.engine() == Engine::Matrix).then_some(())?;
        let listed = self.limits()?.matrix_inputs.iter().any(|input| input == format);
        let class = self.target().zip(self.rate_class.as_deref());
        let none = class.is_some_and(|(target, class)| rates::lacks_matrix_units(target, class));
        Some(listed && !none)
    }

    /// Returns the occupancy limits of one SM; NVIDIA only.
    #[must_use]
    pub fn limits(&self) -> Option<&'static Limits> {
        Limits::of(self.compute_capability.as_deref()?)
    }

    pub(crate) fn missing(&self, figure: &str) -> CatalogError {
        CatalogError::MissingFigure {
            device: self.name.clone(),
            figure: figure.to_owned(),
            listed_in: self.listed_in(),
            is_built_in: self.provenance == Provenance::Builtin,
        }
    }
}
