//! Errors of an analysis.

use crate::catalog::CatalogError;

/// Error when launches cannot be compared with their roofs.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// The device is unknown.
    #[error(transparent)]
    Device(#[from] CatalogError),
    /// Measured-clock ceilings were requested, but clocks are missing.
    #[error(
        "measured-clock ceilings need an SM clock, which {lacking} of {launches} launches lack"
    )]
    NoClock {
        /// Number of launches without a clock.
        lacking: usize,
        /// Number of launches with a time.
        launches: usize,
    },
}

impl AnalysisError {
    /// Returns the next step, as one sentence.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Device(cause) => cause.help(),
            Self::NoClock { .. } => {
                "collect it with --metrics sm__cycles_elapsed.avg.per_second, or use --ceilings spec".to_owned()
            }
        }
    }
}
