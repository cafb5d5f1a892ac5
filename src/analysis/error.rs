//! Why an analysis is not possible.

use crate::catalog::CatalogError;

/// Why launches cannot be compared with their roofs.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// The device is not known.
    #[error(transparent)]
    Device(#[from] CatalogError),
    /// A figure of the device is needed and missing.
    #[error("{cause}, which kernel {kernel:?} needs")]
    Figure {
        /// The kernel that needs it.
        kernel: String,
        /// What is missing.
        cause: CatalogError,
    },
    /// Measured-clock ceilings were asked for, and clocks are missing.
    #[error(
        "{lacking} of {launches} launches carry no SM clock, so there are no measured-clock ceilings"
    )]
    NoClock {
        /// Launches without a clock.
        lacking: usize,
        /// Launches with a time.
        launches: usize,
    },
}

impl AnalysisError {
    /// The next step, as one sentence.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Device(cause) | Self::Figure { cause, .. } => cause.help(),
            Self::NoClock { .. } => {
                "collect it with --metrics sm__cycles_elapsed.avg.per_second, or use --ceilings spec".to_owned()
            }
        }
    }
}
