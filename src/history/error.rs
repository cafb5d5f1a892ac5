//! Errors of a baseline store.

use std::path::PathBuf;

use crate::plain;

/// Error when reading a baseline store or saving a run in it.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// A file or folder cannot be read.
    #[error("{path}: cannot read: {}", plain::io(.cause))]
    Read {
        /// The path.
        path: PathBuf,
        /// The cause.
        cause: std::io::Error,
    },
    /// The folder is not a baseline store.
    #[error("{folder}: not a baseline store ({} is missing)", super::layout::MARKER)]
    NoStore {
        /// The path.
        folder: PathBuf,
    },
    /// The folder has saved runs as a store has them, but no marker file.
    #[error(
        "{folder}: not a baseline store, though it has saved runs ({} is missing)",
        super::layout::MARKER
    )]
    Unmarked {
        /// The path.
        folder: PathBuf,
    },
    /// A new store would be created among other files.
    #[error(
        "{folder}: folder contains other files and is not a baseline store ({} is missing)",
        super::layout::MARKER
    )]
    Occupied {
        /// The path.
        folder: PathBuf,
    },
    /// The marker file of the folder is invalid.
    #[error("{path}: {message}")]
    Marker {
        /// Path of the marker file.
        path: PathBuf,
        /// The problem, with its line if there is one.
        message: String,
    },
    /// A saved run cannot be read.
    #[error("{path}: {reason}")]
    Damaged {
        /// Its file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The name of a run of a partitioned launch table is not a time.
    #[error("{folder}: the name of run {run:?} is not a time")]
    Undated {
        /// Folder of the table.
        folder: PathBuf,
        /// Name of the run.
        run: String,
    },
    /// The name of the baseline is not valid as a folder name.
    #[error("invalid baseline name {name:?}")]
    Name {
        /// The name as given.
        name: String,
    },
    /// The store has several baselines, and none was named.
    #[error("the store has several baselines: {}", .names.join(", "))]
    Several {
        /// Their names.
        names: Vec<String>,
    },
    /// The run is already saved.
    #[error("{label}: this measurement is already saved as {entry}")]
    Known {
        /// Label of the run.
        label: String,
        /// Its path within the store.
        entry: String,
    },
    /// The run has no times to compare later runs with.
    #[error("{label}: no launch has a duration, so there is nothing to save")]
    Nothing {
        /// Label of the run.
        label: String,
    },
    /// The run cannot be made a table.
    #[error("{label}: {message}")]
    Table {
        /// Label of the run.
        label: String,
        /// The problem.
        message: String,
    },
    /// No entry or baseline matches the request.
    #[error("{message}")]
    NotFound {
        /// What was requested, and what exists.
        message: String,
    },
}

impl HistoryError {
    /// Returns the user's next step.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Read { .. } => "check that it exists and is readable",
            Self::NoStore { .. } => "create one with `rooflint baseline save RUN --store FOLDER`",
            Self::Unmarked { .. } => {
                "restore it from version control, or write it with this line: schema = \"rooflint/baselines/1\""
            }
            Self::Occupied { .. } => "use an empty folder or one that does not exist yet",
            Self::Damaged { .. } => "restore the file from version control, or remove it",
            Self::Marker { .. } => {
                "restore the file from version control, or use the rooflint version that wrote \
                 the store"
            }
            Self::Name { .. } => {
                "use at most 64 letters, digits, `-`, `_` and `.`, not starting with `.`"
            }
            Self::Known { .. } => {
                "profile again to add a run; saving the same measurement twice would hide noise"
            }
            Self::Undated { .. } => {
                "names of a history are times in UTC, such as 2026-11-22, 2026-11-22T0530 or 2026-11-22-llama: \
                 convert the run under such a name and remove its folder run=NAME, or compare with one run: \
                 --baseline FOLDER/run=NAME"
            }
            Self::Table { .. } => "save it as JSON: --format json",
            Self::Nothing { .. } => "check the export's contents with `rooflint inspect FILE`",
            Self::Several { .. } => "name one: --name NAME",
            Self::NotFound { .. } => "list saved runs with `rooflint baseline list`",
        }
    }

    /// Returns `true` if the files are wrong, rather than the request.
    #[must_use]
    pub const fn is_unreadable(&self) -> bool {
        matches!(
            self,
            Self::Read { .. }
                | Self::NoStore { .. }
                | Self::Unmarked { .. }
                | Self::Marker { .. }
                | Self::Damaged { .. }
                | Self::Nothing { .. }
        )
    }
}
