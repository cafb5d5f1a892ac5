//! Errors and notes for programs: one JSON object per line on standard error, from every command.

use schemars::JsonSchema;
use serde::Serialize;

use super::exit::{Code, Failure};
use crate::json;

/// Type and major version of the object.
const SCHEMA: &str = "rooflint/error/1";

/// An error or a note of rooflint, on a line of its own.
#[derive(Serialize, JsonSchema)]
pub(super) struct Problem<'a> {
    /// Type and major version of this object.
    schema: &'static str,
    /// Whether the command ended because of it.
    level: Level,
    /// What kind of error it is.
    code: Code,
    /// What happened, in the words that people read; the place is a part of it.
    message: String,
    /// The file that it is about.
    file: Option<&'a str>,
    /// Line in the file, counted from 1.
    line: Option<u64>,
    /// Character in the line, counted from 1.
    column: Option<u64>,
    /// Name of the column of a table.
    field: Option<&'a str>,
    /// The next step.
    advice: Option<String>,
    /// What was considered, one sentence each.
    considered: &'a [String],
    /// Exit code of the command; absent for notes.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<u8>,
}

/// Whether a command ended because of it.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Level {
    /// It ended the command, or made a file invalid.
    Error,
    /// The command went on.
    Note,
}

impl<'a> Problem<'a> {
    /// The object of a failure; none where it is not an error.
    pub(super) fn of(failure: &'a Failure) -> Option<Self> {
        let site = failure.site();
        Some(Self {
            schema: SCHEMA,
            level: Level::Error,
            code: failure.kind()?,
            message: failure.to_string(),
            file: site.file,
            line: site.line,
            column: site.column,
            field: site.field,
            advice: failure.next_step(),
            considered: failure.considered(),
            exit_code: Some(failure.exit_code()),
        })
    }

    /// The object of a note.
    pub(super) fn note(code: Code, message: &str) -> Self {
        Self {
            schema: SCHEMA,
            level: Level::Note,
            code,
            message: message.to_owned(),
            file: None,
            line: None,
            column: None,
            field: None,
            advice: None,
            considered: &[],
            exit_code: None,
        }
    }

    /// One line.
    pub(super) fn line(&self) -> String {
        // String keys and finite numbers always serialize.
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

/// The JSON schema of the object, as pretty-printed JSON.
pub(super) fn schema() -> String {
    json::schema::<Problem<'_>>("error-1", "Error of rooflint with --error-format json")
}
