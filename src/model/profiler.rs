//! The tool that took a measurement.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The profiler of a file: it determines the launch cost, the limits of its counters and the
/// command that collects more.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Profiler {
    /// NVIDIA Nsight Compute: counters, serialized kernels, clocks locked by default.
    NsightCompute,
    /// PyProf: a timeline, with work and bytes computed from the operators' shapes.
    #[serde(rename = "pyprof")]
    PyProf,
    /// NVIDIA Nsight Systems: a timeline without counters.
    NsightSystems,
    /// NVIDIA nvprof: a timeline, or counters without times.
    Nvprof,
    /// `PyTorch`'s own profiler (Kineto): a timeline with operators and, on request, the shapes of their tensors.
    #[serde(rename = "pytorch")]
    PyTorch,
    /// Triton Proton: times, with operations and bytes from the metadata of kernels.
    Proton,
    /// `XProf`, the profiler of JAX and TensorFlow: totals of kernels.
    #[serde(rename = "xprof")]
    XProf,
    /// NVIDIA `DLProf`: totals of kernels and operators.
    #[serde(rename = "dlprof")]
    DLProf,
    /// AMD rocprof, versions 1 to 3: a timeline, or counters.
    Rocprof,
    /// AMD `ROCm` Compute Profiler (Omniperf): counters.
    RocprofCompute,
    /// rooflint's own tables of unknown origin.
    Rooflint,
    /// Unknown: a table read through a mapping, or a document of an early version.
    #[default]
    Other,
}

impl Profiler {
    /// Returns the name in listings.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::NsightCompute => "Nsight Compute",
            Self::PyProf => "PyProf",
            Self::NsightSystems => "Nsight Systems",
            Self::Nvprof => "nvprof",
            Self::PyTorch => "PyTorch profiler",
            Self::Proton => "Triton Proton",
            Self::XProf => "XProf",
            Self::DLProf => "DLProf",
            Self::Rocprof => "rocprof",
            Self::RocprofCompute => "ROCm Compute Profiler",
            Self::Rooflint => "rooflint",
            Self::Other => "another tool",
        }
    }

    /// Returns `true` if it profiles the devices of AMD, and no others.
    #[must_use]
    pub const fn is_of_amd(self) -> bool {
        matches!(self, Self::Rocprof | Self::RocprofCompute)
    }

    /// Returns `true` if it records when each launch ran, in the real run and without counters.
    #[must_use]
    pub const fn is_timeline(self) -> bool {
        matches!(
            self,
            Self::NsightSystems
                | Self::Nvprof
                | Self::PyTorch
                | Self::Proton
                | Self::XProf
                | Self::DLProf
                | Self::Rocprof
        )
    }

    /// Returns `true` if its times are those of the real run, without counters. `PyProf` has them from nvprof, but not when
    /// launches began.
    #[must_use]
    pub const fn times_real_run(self) -> bool {
        self.is_timeline() || matches!(self, Self::PyProf)
    }

    /// Returns `true` if its counts are those of selected counters, which may leave out work, or if what it lacks came
    /// from such counters. Counts from the shapes of operators and a user's own columns are those of all work.
    #[must_use]
    pub const fn selects_counters(self) -> bool {
        matches!(self, Self::NsightCompute | Self::RocprofCompute) || self.times_real_run()
    }
}

impl fmt::Display for Profiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.label())
    }
}
