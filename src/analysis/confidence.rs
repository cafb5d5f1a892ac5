//! How sure a verdict is, and how sure it is that work nobody counted is absent.

use serde::Serialize;

/// How sure the verdict on a kernel is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// Counted, or bounded by measured utilization.
    Certain,
    /// By what the kernel is: its name, operator, number formats, shapes and architecture.
    Likely,
    /// True unless work that nobody counted takes the time.
    Possible,
}

impl Confidence {
    /// Every grade, the surest first.
    pub const ALL: [Self; 3] = [Self::Certain, Self::Likely, Self::Possible];

    /// The word in reports and machine-readable outputs.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::Likely => "likely",
            Self::Possible => "possible",
        }
    }
}

/// What is known of work that was not counted, the least worrying first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Uncounted {
    /// Everything was counted.
    #[default]
    Nothing,
    /// Such a kernel does no other work, going by its name and number formats.
    Unlikely,
    /// There may be such work.
    Open,
    /// The kernel does such work, going by its name: what was counted is not its work.
    Certain,
}
