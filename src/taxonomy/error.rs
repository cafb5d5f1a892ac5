//! What can be wrong with a table of kernel names.

/// Why entries of a user's file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}:{line}:{column}: {fault}")]
pub struct TaxonomyError {
    /// The file.
    pub path: String,
    /// Line of the fault, counted from 1.
    pub line: usize,
    /// Character of the fault within its line, counted from 1.
    pub column: usize,
    /// What is wrong there.
    pub fault: Fault,
}

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Not TOML, an unknown key, or a key is missing.
    #[error("{0}")]
    Syntax(String),
    /// Not a regular expression, or one that cannot be used.
    #[error("pattern {pattern:?} {reason}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Why not.
        reason: String,
    },
    /// A word that is not one of the words allowed there.
    #[error("unknown {what} {value:?}, one of {}", .allowed.join(", "))]
    Value {
        /// What the word stands for, such as `kind`.
        what: &'static str,
        /// The word.
        value: String,
        /// All words allowed.
        allowed: Vec<String>,
    },
    /// An attribute entry that gives no field a value.
    #[error("pattern {pattern:?} tells no field")]
    TellsNothing {
        /// The pattern.
        pattern: String,
    },
}

impl TaxonomyError {
    /// The next step, as one sentence for the `help:` line.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self.fault {
            Fault::Syntax(_) => {
                "[[class]] and [[operator]] take id, kind, pattern, and if wanted library and tensor; \
                 [[attr]] takes pattern and set"
            }
            Fault::Pattern { .. } => {
                "patterns are those of the Rust regex crate, without look-around and back-references; \
                 single quotes around a pattern keep its backslashes"
            }
            Fault::Value { .. } => "docs/kernel-names.md explains these words",
            Fault::TellsNothing { .. } => {
                "name a group after a field, such as (?<tile_m>\\d+), or write set = { tensor = \"yes\" }"
            }
        }
    }
}
