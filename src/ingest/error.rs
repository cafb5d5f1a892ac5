//! What can go wrong while reading, with the place and the next step.

use std::borrow::Cow;
use std::path::Path;
use std::{fmt, io};

use crate::plain;

/// An export that could not be read: where, what was found, what to do.
///
/// Displays as `gemm.csv:12: column "dram__bytes.sum": cannot read "1.2 GB?" as bytes`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IngestError {
    path: Box<str>,
    line: Option<u64>,
    /// Character in the line.
    character: Option<u32>,
    column: Option<Box<str>>,
    message: Box<str>,
    help: Option<String>,
    /// What was considered, a line each.
    considered: Box<[String]>,
    /// Whether the file is not an export of a known kind, rather than a damaged one.
    is_foreign: bool,
}

impl IngestError {
    /// An error about a whole file; the message is lowercase and has no full stop.
    pub fn new(path: impl fmt::Display, message: impl Into<String>) -> Self {
        Self {
            path: path.to_string().into(),
            line: None,
            character: None,
            column: None,
            message: message.into().into(),
            help: None,
            considered: Box::default(),
            is_foreign: false,
        }
    }

    /// The same error about a file that is not an export of a known kind.
    #[must_use]
    pub(super) fn foreign(mut self) -> Self {
        self.is_foreign = true;
        self
    }

    /// Whether the file is not an export of a known kind, rather than a damaged one.
    pub(super) const fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// An error about a file that does not exist, with the name that was probably meant.
    pub(super) fn missing(path: &Path) -> Self {
        let link = std::fs::read_link(path).ok();
        let link = link.map(|to| format!(" (a link to {}, which is not there)", to.display()));
        let near = || plain::beside(path).map(|near| format!(" (did you mean {near}?)"));
        let near = link.or_else(near);
        let message = format!("no such file{}", near.unwrap_or_default());
        Self::new(path.display(), message)
            .help("check the path; a folder or a quoted pattern works too")
    }

    /// The same error at a line, counted from 1.
    #[must_use]
    pub fn line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// The same error at a character of its line, counted from 1.
    #[must_use]
    pub(super) fn character(mut self, character: usize) -> Self {
        self.character = u32::try_from(character).ok();
        self
    }

    /// The same error in a column.
    #[must_use]
    pub fn column(mut self, column: Option<String>) -> Self {
        self.column = column.map(Into::into);
        self
    }

    /// The same error with the user's next step.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same error with what was considered, a line each.
    #[must_use]
    pub(super) fn considered(mut self, lines: Vec<String>) -> Self {
        self.considered = lines.into();
        self
    }

    /// The file; `None` where it is about none.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        Some(&*self.path).filter(|path| !path.is_empty())
    }

    /// The line, counted from 1.
    #[must_use]
    pub const fn line_number(&self) -> Option<u64> {
        self.line
    }

    /// The character in the line, counted from 1.
    #[must_use]
    pub const fn character_number(&self) -> Option<u32> {
        self.character
    }

    /// The name of the column of a table.
    #[must_use]
    pub fn column_name(&self) -> Option<&str> {
        self.column.as_deref()
    }

    /// What was considered, a line each: why no format fits, or which do.
    #[must_use]
    pub fn candidates(&self) -> &[String] {
        &self.considered
    }

    /// What is wrong, without its place.
    pub(super) fn reason(&self) -> &str {
        &self.message
    }

    /// The user's next step.
    #[must_use]
    pub fn next_step(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

impl fmt::Display for IngestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "{}", self.path)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(character) = self.character {
                write!(f, ":{character}")?;
            }
        }
        if let Some(column) = &self.column {
            write!(f, ": column {column:?}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for IngestError {}

/// Why an input cannot be read, and the next step.
pub(super) struct Fault {
    pub(super) message: String,
    pub(super) help: Cow<'static, str>,
    pub(super) is_missing: bool,
    /// Whether the file is not an export of a known kind, rather than a damaged one.
    pub(super) is_foreign: bool,
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        use io::ErrorKind::{InvalidData, InvalidInput, NotFound, UnexpectedEof, Unsupported};
        let help = match error.kind() {
            UnexpectedEof => "the file is incomplete; copy or export it again",
            InvalidData | InvalidInput => "the file is damaged; copy or export it again",
            Unsupported => "give it uncompressed, as UTF-8",
            _ => "check the path and its permissions",
        };
        let message = format!("cannot read: {}", plain::io(&error));
        let is_missing = error.kind() == NotFound;
        Self { message, help: help.into(), is_missing, is_foreign: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_names_the_one_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("runs.csv"), "x").unwrap();
        let near = folder.path().join("run.csv");
        let error = IngestError::missing(&near).to_string();
        let meant = folder.path().join("runs.csv");
        let expected =
            format!("{}: no such file (did you mean {}?)", near.display(), meant.display());
        assert_eq!(error, expected);
        let far = folder.path().join("profile.ncu-rep");
        assert!(!IngestError::missing(&far).to_string().contains("did you mean"));
    }
}
