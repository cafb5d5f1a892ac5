//! The states of kernels.

use serde::Serialize;

use crate::scalar::{Constant, Word};

/// Conclusion of the analysis on a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Far from its roofline, certainly or likely, with enough savings to matter.
    Flagged,
    /// Close to its roofline: at most [`NEAR`](crate::roofline::NEAR) times the roofline time.
    NearRoofline,
    /// Between near roofline and the threshold.
    Fair,
    /// Far from its roofline, but with too little time at stake to matter.
    LowImpact,
    /// Dominated by launch overhead: fewer launches help, a faster kernel does not.
    LaunchBound,
    /// The caches carry the traffic: the DRAM roof does not apply.
    CacheResident,
    /// Faster than the model allows: the device, a clock or a metric is wrong, or work is
    /// overcounted.
    FasterThanRoofline,
    /// Far from its roofline, unless uncounted work takes the time.
    Possible,
    /// The export has not enough data; the reason names what is missing.
    NotEnoughData,
    /// Communication or a host copy: bound by links, not by this device's roofs.
    NotRoofline,
    /// Accepted by a waiver.
    Waived,
}

impl State {
    /// All states, in the order of reports.
    pub const ALL: [Self; 11] = [
        Self::Flagged,
        Self::Fair,
        Self::NearRoofline,
        Self::LowImpact,
        Self::LaunchBound,
        Self::CacheResident,
        Self::FasterThanRoofline,
        Self::Possible,
        Self::NotEnoughData,
        Self::NotRoofline,
        Self::Waived,
    ];

    /// Returns the name used in reports.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Flagged => "flagged",
            Self::NearRoofline => "near roofline",
            Self::Fair => "fair",
            Self::LowImpact => "low impact",
            Self::LaunchBound => "launch-bound",
            Self::CacheResident => "cache-resident",
            Self::FasterThanRoofline => "faster than roofline",
            Self::Possible => "possible",
            Self::NotEnoughData => "not enough data",
            Self::NotRoofline => "communication/copy",
            Self::Waived => "waived",
        }
    }

    /// Returns the name that machine-readable outputs use.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Flagged => "flagged",
            Self::NearRoofline => "near_roofline",
            Self::Fair => "fair",
            Self::LowImpact => "low_impact",
            Self::LaunchBound => "launch_bound",
            Self::CacheResident => "cache_resident",
            Self::FasterThanRoofline => "faster_than_roofline",
            Self::Possible => "possible",
            Self::NotEnoughData => "not_enough_data",
            Self::NotRoofline => "communication_copy",
            Self::Waived => "waived",
        }
    }

    /// Returns `true` if it is known what kernels in this state could save, which may be nothing: unless data lack or no roof
    /// applies.
    #[must_use]
    pub const fn has_known_savings(self) -> bool {
        !matches!(self, Self::NotEnoughData | Self::NotRoofline)
    }

    /// Returns `true` if the roofline model covers kernels in this state.
    #[must_use]
    pub const fn is_modeled(self) -> bool {
        matches!(
            self,
            Self::Flagged
                | Self::NearRoofline
                | Self::Fair
                | Self::LowImpact
                | Self::Possible
                | Self::Waived
        )
    }

    /// Returns `true` if the kernel is excluded from the ranking, with its own reason.
    #[must_use]
    pub const fn is_set_apart(self) -> bool {
        !matches!(self, Self::Flagged | Self::NearRoofline | Self::Fair)
    }
}

impl Word for State {
    const BLANK: Self = Self::NotEnoughData;

    fn constant(self) -> Constant {
        Constant::Text(self.key())
    }
}
