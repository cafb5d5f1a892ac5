//! What can go wrong while reading, with the place and the next step.

use std::fmt;

/// An export that could not be read: where, what was found, what to do.
///
/// Displays as `gemm.csv:12: column "dram__bytes.sum": cannot read "1.2 GB?" as bytes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngestError {
    path: String,
    line: Option<u64>,
    column: Option<String>,
    message: String,
    help: Option<String>,
}

impl IngestError {
    /// An error about a whole file; the message is lowercase and has no full stop.
    pub fn new(path: impl fmt::Display, message: impl Into<String>) -> Self {
        Self {
            path: path.to_string(),
            line: None,
            column: None,
            message: message.into(),
            help: None,
        }
    }

    /// The same error at a line, counted from 1.
    #[must_use]
    pub fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// The same error in a column.
    #[must_use]
    pub fn column(mut self, column: Option<String>) -> Self {
        self.column = column;
        self
    }

    /// The same error with the user's next step.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The error without the list of what was considered, in one line.
    pub(super) fn in_short(&self) -> String {
        let text = self.to_string();
        let first = text.lines().next().unwrap_or_default();
        first.split("; considered").next().unwrap_or_default().to_owned()
    }

    /// The user's next step.
    #[must_use]
    pub fn next_step(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

impl fmt::Display for IngestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ": column {column:?}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for IngestError {}
