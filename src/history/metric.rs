//! What a trend follows.

use schemars::JsonSchema;
use serde::Serialize;

use super::linked::Figures;
use crate::compare::Run;
use crate::units::{Dimension, Factor, Seconds};

/// The metric of a trend.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrendMetric {
    /// Time of one launch of a kernel, or total time of the run, in seconds.
    #[default]
    Time,
    /// Measured over roofline time.
    Headroom,
    /// A kernel's share of the run time, from 0 to 1.
    Share,
    /// Time of all launches, in seconds.
    Total,
}

impl TrendMetric {
    /// Returns the unit of its values; a share is between 0 and 1.
    #[must_use]
    pub const fn unit(self) -> Dimension {
        match self {
            Self::Time | Self::Total => Dimension::Time,
            Self::Headroom => Dimension::Factor,
            Self::Share => Dimension::Share,
        }
    }

    /// Returns its name in tables and options.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Headroom => "headroom",
            Self::Share => "share",
            Self::Total => "total",
        }
    }

    /// Returns the name of the metric for a kernel or for the run.
    #[must_use]
    pub const fn words(self, is_kernel: bool) -> &'static str {
        match (self, is_kernel) {
            (Self::Time, true) => "time per launch",
            (Self::Time | Self::Total, false) => "total time",
            (Self::Total, true) => "time of all launches",
            (Self::Headroom, _) => "headroom",
            (Self::Share, _) => "share of the run time",
        }
    }

    pub(super) fn of_kernel(self, held: &Figures<'_>) -> Option<f64> {
        match self {
            Self::Time => held.launch_s().map(Seconds::get),
            Self::Headroom => held.headroom().map(Factor::get),
            Self::Share => Some(held.share.get()),
            Self::Total => Some(held.time_s.get()),
        }
        .filter(|value| *value > 0.0 && value.is_finite())
    }

    pub(super) fn of_run(self, run: &Run) -> Option<f64> {
        match self {
            Self::Time | Self::Total => Some(run.whole_s().get()),
            Self::Headroom => run.headroom().map(Factor::get),
            Self::Share => None,
        }
        .filter(|value| *value > 0.0 && value.is_finite())
    }
}
