//! A figure is a value with its source; nothing in the catalog is a bare number.

use serde::{Deserialize, Serialize};

/// A value of a device and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure<T> {
    /// The value, in SI base units.
    pub value: T,
    /// The full citation.
    pub source: String,
    /// Computed from other figures, not printed anywhere.
    pub derived: bool,
}

/// The source of a plain attribute such as the number of SMs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Citation {
    /// The full citation.
    pub source: String,
    /// Computed or inferred, not printed anywhere.
    pub derived: bool,
}

/// A rate that a published benchmark reached on the device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Achieved<T> {
    /// The rate, in SI base units.
    pub value: T,
    /// What the program did, such as `triad`, where the benchmark has several kernels.
    pub kernel: Option<String>,
    /// The program and what it takes as its result.
    pub method: Option<String>,
    /// Shapes, versions, clocks and power, as far as stated.
    pub conditions: Option<String>,
    /// The full citation.
    pub source: String,
}

impl<T: Copy> Achieved<T> {
    /// The rate as a figure, with kernel, method and conditions told in its source.
    #[must_use]
    pub fn figure(&self) -> Figure<T> {
        let parts = [&self.kernel, &self.method, &self.conditions];
        let told: Vec<&str> = parts.into_iter().filter_map(Option::as_deref).collect();
        let source = if told.is_empty() {
            format!("measured ({})", self.source)
        } else {
            format!("measured: {} ({})", told.join("; "), self.source)
        };
        Figure { value: self.value, source, derived: false }
    }
}

/// Figures that do not follow from rate × SMs × clock (or pin rate × bus width), and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exception {
    /// Keys of the figures: pipes, or `bandwidth`.
    pub figures: Vec<String>,
    /// Why the published value is kept.
    pub reason: String,
    /// The clock at which the formula gives the published value, where the clock is the cause.
    #[serde(rename = "implied_clock_hz")]
    pub implied_clock: Option<crate::units::Hertz>,
}

/// How well the main figures of a device are documented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// A vendor's document, or a public copy of its text, covers them.
    Vendor,
    /// A secondary copy, or a mixture.
    Secondary,
    /// Third parties only, or a single observation.
    ThirdParty,
}
