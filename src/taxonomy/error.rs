//! Errors in a table of kernel names.

/// Error in the entries of a user's file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}:{column}: {fault}")]
pub struct TaxonomyError {
    /// The file.
    pub path: String,
    /// Line of the error, counted from 1.
    pub line: usize,
    /// Column of the error in characters, counted from 1.
    pub column: usize,
    /// The problem.
    pub fault: Fault,
}

/// A problem with an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Invalid TOML, an unknown key, or a missing key.
    #[error("{0}")]
    Syntax(String),
    /// An invalid or unusable regular expression.
    #[error("pattern {pattern:?} {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Why it cannot be used.
        reason: String,
    },
    /// A word that is not one of the allowed words.
    #[error("unknown {what} {value:?}, expected one of {}", .allowed.join(", "))]
    Value {
        /// Meaning of the word, such as `kind`.
        what: &'static str,
        /// The word.
        value: String,
        /// The allowed words.
        allowed: Vec<String>,
    },
    /// An attribute entry that sets no field.
    #[error("pattern {pattern:?} does not set any field")]
    TellsNothing {
        /// The pattern.
        pattern: String,
    },
}

impl TaxonomyError {
    /// Returns the next step, as one sentence for the `help:` line.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self.fault {
            Fault::Syntax(_) => {
                "[[class]] and [[operator]] take id, kind, pattern, and optionally library and \
                 tensor; [[attr]] takes pattern and set"
            }
            Fault::Pattern { .. } => {
                "patterns use the syntax of the Rust regex crate, without look-around and \
                 back-references; put a pattern in single quotes to keep its backslashes"
            }
            Fault::Value { .. } => "see docs/kernel-names.md for these words",
            Fault::TellsNothing { .. } => {
                "name a group after a field, such as (?<tile_m>\\d+), or write set = { tensor = \"yes\" }"
            }
        }
    }
}
