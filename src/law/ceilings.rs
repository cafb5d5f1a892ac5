//! The sets of ceilings.

use serde::Serialize;

use crate::scalar::{Constant, Word};

/// The set of ceilings of an analysis; every report names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
    /// All sets.
    pub const ALL: [Self; 3] = [Self::Spec, Self::MeasuredClock, Self::Achievable];

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

impl Word for CeilingSet {
    const BLANK: Self = Self::Spec;

    fn constant(self) -> Constant {
        Constant::Text(self.label())
    }
}
