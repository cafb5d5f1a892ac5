//! Why a configuration cannot be used, and where it is wrong.

use crate::plain;

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{path}: cannot read the configuration: {}", plain::io(.cause))]
    Read {
        /// The file.
        path: String,
        /// What the operating system says.
        cause: std::io::Error,
    },
    /// Something in it is wrong.
    #[error("{path}:{line}:{column}: {message}")]
    Wrong {
        /// The file.
        path: String,
        /// Line of the fault, counted from 1.
        line: usize,
        /// Character of the fault within its line, counted from 1.
        column: usize,
        /// What is wrong, in words.
        message: String,
        /// The next step, as one sentence.
        help: String,
    },
}

impl ConfigError {
    /// The next step, as one sentence for the `help:` line.
    #[must_use]
    pub fn help(&self) -> &str {
        match self {
            Self::Read { .. } => "give a file that can be read, or leave the option out",
            Self::Wrong { help, .. } => help,
        }
    }
}
