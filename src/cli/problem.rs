//! Errors and notes as programs take them: as JSON on standard error, and as values from [`super::call`].

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use super::exit::{Code, Failure, Site};
use crate::json;
use crate::report::printable_lines;

/// Type and major version of the object.
const SCHEMA: &str = "rooflint/error/1";

/// An error or a note of rooflint, on a line of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Problem {
    /// Type and major version of this object.
    schema: &'static str,
    /// Whether the command ended because of it.
    pub level: Level,
    /// What kind of error it is.
    pub code: Code,
    /// What happened, in the words that people read; the place is a part of it.
    pub message: String,
    /// The file that it is about.
    pub file: Option<String>,
    /// Line in the file, counted from 1.
    pub line: Option<u64>,
    /// Character in the line, counted from 1.
    pub column: Option<u64>,
    /// Name of the column of a table.
    pub field: Option<String>,
    /// The next step.
    pub advice: Option<String>,
    /// What was considered, one sentence each.
    pub considered: Vec<String>,
    /// Exit code of the command; absent for notes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<u8>,
}

/// Whether a command ended because of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It ended the command, or made a file invalid.
    Error,
    /// The command went on.
    Note,
}

impl Problem {
    /// The object of a failure; none where it is not an error.
    pub(super) fn of(failure: &Failure) -> Option<Self> {
        let Site { file, line, column, field } = failure.site();
        let considered = failure.considered().iter().map(|one| printable_lines(one));
        Some(Self {
            level: Level::Error,
            file: file.map(str::to_owned),
            line,
            column,
            field: field.map(str::to_owned),
            advice: failure.next_step().map(|advice| printable_lines(&advice)),
            considered: considered.collect(),
            exit_code: Some(failure.exit_code()),
            ..Self::note(failure.kind()?, &failure.to_string())
        })
    }

    /// The object of a note.
    pub(super) fn note(code: Code, message: &str) -> Self {
        Self {
            schema: SCHEMA,
            level: Level::Note,
            code,
            message: printable_lines(message),
            file: None,
            line: None,
            column: None,
            field: None,
            advice: None,
            considered: Vec::new(),
            exit_code: None,
        }
    }

    /// One line of JSON.
    #[must_use]
    pub fn json(&self) -> String {
        // String keys and finite numbers always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl From<Failure> for Box<Problem> {
    fn from(failure: Failure) -> Self {
        // What ends a program without an error has no result for another one.
        let usage = || Problem {
            level: Level::Error,
            exit_code: Some(failure.exit_code()),
            ..Problem::note(Code::Usage, &failure.to_string())
        };
        Self::new(Problem::of(&failure).unwrap_or_else(usage))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.advice.as_ref().map_or(Ok(()), |advice| write!(f, "\nhelp: {advice}"))
    }
}

impl std::error::Error for Problem {}

/// The JSON schema of the object, as pretty-printed JSON.
pub(super) fn schema() -> String {
    json::schema::<Problem>("error-1", "Error of rooflint with --error-format json")
}
