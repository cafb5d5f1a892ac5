//! The tool that took a measurement.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What measured the launches of a file: it decides what a launch costs, what its counters leave out, and
/// which command collects more.
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
    /// NVIDIA Nsight Compute: counters, kernels one at a time, clocks held unless told otherwise.
    NsightCompute,
    /// PyProf: a timeline, with work and bytes computed from the operators' shapes.
    #[serde(rename = "pyprof")]
    PyProf,
    /// rooflint's own tables, where they do not say what they were made from.
    Rooflint,
    /// Not known: a table that was read through a mapping, or a document of an early version.
    #[default]
    Other,
}

impl Profiler {
    /// The name in listings.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::NsightCompute => "Nsight Compute",
            Self::PyProf => "PyProf",
            Self::Rooflint => "rooflint",
            Self::Other => "another tool",
        }
    }
}

impl fmt::Display for Profiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.label())
    }
}
