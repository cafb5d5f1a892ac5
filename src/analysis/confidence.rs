//! Confidence of verdicts.

use serde::Serialize;

/// Confidence of the verdict on a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Counted, or bounded by measured utilization.
    Certain,
    /// Inferred from the kernel's name, operator, number formats, shapes and architecture.
    Likely,
    /// True unless uncounted work takes the time, or work that was done need not be done.
    Possible,
}

impl Confidence {
    /// All grades, highest confidence first.
    pub const ALL: [Self; 3] = [Self::Certain, Self::Likely, Self::Possible];

    /// Returns the name used in reports and machine-readable outputs.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::Likely => "likely",
            Self::Possible => "possible",
        }
    }
}
