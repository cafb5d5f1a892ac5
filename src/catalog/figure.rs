//! Figures: values with their source; nothing in the catalog is a bare number.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value of a device with its source.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Figure<T> {
    /// The value, in SI base units.
    pub value: T,
    /// The full citation.
    pub source: String,
    /// True if it was computed from other figures instead of published.
    pub derived: bool,
}

/// The source of a plain attribute such as the number of SMs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Citation {
    /// The full citation.
    pub source: String,
    /// True if it was computed or inferred instead of published.
    pub derived: bool,
}

/// A rate that a published benchmark reached on the device.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Achieved<T> {
    /// The rate, in SI base units.
    pub value: T,
    /// Kernel of the benchmark, such as `triad`, if it has several.
    pub kernel: Option<String>,
    /// The benchmark and how it computes its result.
    pub method: Option<String>,
    /// Shapes, versions, clocks and power, as far as published.
    pub conditions: Option<String>,
    /// The full citation.
    pub source: String,
}

impl<T: Copy> Achieved<T> {
    /// Returns the rate as a figure whose source includes kernel, method and conditions.
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

/// An explained difference between published figures and rate × SMs × clock (or pin rate × bus
/// width).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Exception {
    /// Keys of the figures: pipes, or `bandwidth`.
    pub figures: Vec<String>,
    /// Why the published value is used.
    pub reason: String,
    /// Clock at which the formula gives the published value, if the clock is the cause.
    #[serde(rename = "implied_clock_hz")]
    pub implied_clock: Option<crate::units::Hertz>,
}

/// How well the main figures of a device are documented.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Documented by the vendor, or in a public copy of its document.
    Vendor,
    /// From a secondary copy, or from mixed sources.
    Secondary,
    /// From third parties only, or from a single observation.
    ThirdParty,
}
