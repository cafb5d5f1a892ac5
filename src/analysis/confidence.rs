//! Confidence of verdicts, and of the absence of uncounted work.

use serde::Serialize;

/// Confidence of the verdict on a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Counted, or bounded by measured utilization.
    Certain,
    /// Inferred from the kernel's name, operator, number formats, shapes and architecture.
    Likely,
    /// True unless uncounted work takes the time.
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

/// What is known of uncounted work, from harmless to certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Uncounted {
    /// Everything was counted.
    #[default]
    Nothing,
    /// By its name and number formats, the kernel does no other work.
    Unlikely,
    /// There may be uncounted work.
    Open,
    /// By its name, the kernel does uncounted work.
    Certain,
}

impl Uncounted {
    /// All of them, in order.
    pub(super) const ALL: [Self; 4] = [Self::Nothing, Self::Unlikely, Self::Open, Self::Certain];
}
