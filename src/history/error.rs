//! What can go wrong with a store of baselines.

use std::path::PathBuf;

use crate::plain;

/// A store that cannot be read, or a run that cannot be kept in it.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// A file or folder cannot be read.
    #[error("{path}: cannot read: {}", plain::io(.cause))]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// The folder is no store.
    #[error("{folder}: not a store of baselines: it has no {}", super::layout::MARKER)]
    NoStore {
        /// Which.
        folder: PathBuf,
    },
    /// A store is to be made where other files are.
    #[error("{folder}: holds other files, and no {}", super::layout::MARKER)]
    Occupied {
        /// Which.
        folder: PathBuf,
    },
    /// What marks the folder is wrong.
    #[error("{path}: {message}")]
    Marker {
        /// The marker.
        path: PathBuf,
        /// What is wrong, with its line where it has one.
        message: String,
    },
    /// The name of a baseline cannot be that of a folder.
    #[error("a baseline cannot be called {name:?}")]
    Name {
        /// The name as given.
        name: String,
    },
    /// The run is there already.
    #[error("{label}: this measurement is saved already, as {entry}")]
    Known {
        /// The run.
        label: String,
        /// Where it is kept, within the store.
        entry: String,
    },
    /// The run holds nothing that a later one could be held against.
    #[error("{label}: no launch has a duration, so there is nothing to keep")]
    Nothing {
        /// The run.
        label: String,
    },
    /// No entry, or no baseline, is what was asked for.
    #[error("{message}")]
    NotFound {
        /// What was asked for, and what there is.
        message: String,
    },
}

impl HistoryError {
    /// The user's next step.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Read { .. } => "check that it exists and may be read",
            Self::NoStore { .. } => "`rooflint baseline save RUN --store FOLDER` makes one",
            Self::Occupied { .. } => "name an empty folder, or one that is not there yet",
            Self::Marker { .. } => {
                "take the file back from version control, or use the rooflint that wrote the store"
            }
            Self::Name { .. } => {
                "use letters, digits, `-`, `_` and `.`, at most 64, and no `.` at the beginning"
            }
            Self::Known { .. } => {
                "measure again for another run; the same measurement twice would hide the noise"
            }
            Self::Nothing { .. } => "`rooflint inspect FILE` says what the export holds",
            Self::NotFound { .. } => "`rooflint baseline list` shows what there is",
        }
    }

    /// Whether it is what was read that is wrong, rather than what was asked for.
    #[must_use]
    pub const fn is_unreadable(&self) -> bool {
        matches!(
            self,
            Self::Read { .. } | Self::NoStore { .. } | Self::Marker { .. } | Self::Nothing { .. }
        )
    }
}
