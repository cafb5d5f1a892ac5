//! A JSON document while it is read: what is held of it at once is bounded.
//!
//! An archive of a gigabyte of blanks is an error at its place instead of a gigabyte in memory. JSON has no word for a number
//! that is missing but `null`; Python writes `NaN`, which is read as an empty array: a cell without a value.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use serde_json::error::Category;

use super::{IngestError, Reading};
use crate::plain;

/// A text, number or gap of a JSON document has at most this many bytes.
const LONGEST_TOKEN: u64 = 1 << 20;

/// A JSON document has at most this many bytes.
const LONGEST_DOCUMENT: u64 = 1 << 30;

/// The line of a JSON document that was read last.
#[derive(Debug, Clone)]
pub(super) struct Lines(Rc<Cell<u64>>);

impl Lines {
    /// Its number, from 1.
    pub(super) fn get(&self) -> u64 {
        self.0.get()
    }
}

/// The error of a parser that refuses a document.
pub(super) fn damaged(
    reading: &Reading<'_>,
    error: &serde_json::Error,
    lines: &Lines,
) -> IngestError {
    let what = plain::json_alone(error);
    let column =
        if error.column() > 0 { format!("column {}: ", error.column()) } else { String::new() };
    let (message, help) = match error.classify() {
        Category::Eof => (format!("damaged JSON: {what}"), "write or copy the file again"),
        // Behind the value that is another than expected.
        Category::Data => (
            format!("unexpected JSON: {what}"),
            "each record is an object; is this the file that the mapping is for?",
        ),
        Category::Syntax => (
            format!("damaged JSON: {column}{what}"),
            "correct it there: texts have double quotes, numbers are finite, null is a missing value",
        ),
        // It says its place by itself.
        Category::Io => {
            (format!("damaged JSON: {what}"), "the file may be cut; write or copy it again")
        }
    };
    // The parser is at the line of the error; what reads for it may be further on.
    let line = Some(error.line() as u64).filter(|line| *line > 0);
    reading.error(message).line(line.unwrap_or_else(|| lines.get())).help(help)
}

/// Bytes of a JSON document, refused where a token is too long.
pub(super) struct Json<R> {
    inner: R,
    line: Lines,
    column: u64,
    /// Bytes of the document, and of the token that they end in.
    total: u64,
    token: u64,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Mark,
    Blank,
    Word,
    Text,
    Escape,
    /// So many letters of `NaN`.
    Missing(u8),
}

impl<R: Read> Json<R> {
    pub(super) fn new(inner: R) -> Self {
        Self {
            inner,
            line: Lines(Rc::new(Cell::new(1))),
            column: 0,
            total: 0,
            token: 0,
            state: State::Mark,
        }
    }

    /// The line that was read last, also while a parser holds the document.
    pub(super) fn lines(&self) -> Lines {
        self.line.clone()
    }

    /// Takes the next byte and returns what the parser is given for it.
    fn take(&mut self, byte: u8) -> u8 {
        let next = match (self.state, byte) {
            (State::Mark | State::Blank, b'N') => State::Missing(1),
            (State::Missing(1), b'a') => State::Missing(2),
            (State::Text, b'\\') => State::Escape,
            (State::Text, b'"') => State::Mark,
            (State::Text | State::Escape, _) | (_, b'"') => State::Text,
            (_, b' ' | b'\t' | b'\r' | b'\n') => State::Blank,
            (_, b'{' | b'}' | b'[' | b']' | b':' | b',') => State::Mark,
            _ => State::Word,
        };
        let is_within = next == self.state || matches!(self.state, State::Text | State::Escape);
        let goes_on = next != State::Mark && is_within;
        self.token = if goes_on { self.token + 1 } else { 0 };
        let given = match (self.state, next) {
            (_, State::Missing(1)) => b'[',
            (_, State::Missing(_)) => b' ',
            (State::Missing(2), State::Word) if byte == b'N' => b']',
            _ => byte,
        };
        self.state = next;
        self.column += 1;
        if byte == b'\n' {
            self.line.0.set(self.line.get() + 1);
            self.column = 0;
        }
        given
    }

    fn refusal(&self) -> Option<&'static str> {
        if self.token > LONGEST_TOKEN {
            return Some(match self.state {
                State::Text | State::Escape => "a text exceeds 1 MiB; is its quote closed?",
                State::Blank => "blanks exceed 1 MiB",
                State::Word | State::Missing(_) | State::Mark => "a number or word exceeds 1 MiB",
            });
        }
        (self.total > LONGEST_DOCUMENT)
            .then_some("the document exceeds 1 GiB; write it as CSV or Parquet")
    }
}

impl<R: Read> Read for Json<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.total += read as u64;
        for byte in &mut buffer[..read] {
            *byte = self.take(*byte);
            if let Some(reason) = self.refusal() {
                let (line, column) = (self.line.get(), self.column);
                let message = format!("line {line}, column {column}: {reason}");
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &[u8]) -> Option<String> {
        let mut all = Vec::new();
        Json::new(text).read_to_end(&mut all).err().map(|error| error.to_string())
    }

    #[test]
    fn not_a_number_is_an_empty_array() {
        for (text, given) in [
            ("{\"a\": NaN, \"b\":NaN}", "{\"a\": [ ], \"b\":[ ]}"),
            ("[NaN,\"NaN\", \"\\\"NaN\", 1NaN, NaN]", "[[ ],\"NaN\", \"\\\"NaN\", 1NaN, [ ]]"),
            // Still no JSON.
            ("[Nan, NaNs, NN, NaNN, nNaN]", "[[ n, [ ]s, [N, [ ]N, nNaN]"),
        ] {
            // Also where a byte comes at a time.
            for size in [1, 64] {
                let mut all = Vec::new();
                let mut json = Json::new(text.as_bytes());
                let mut buffer = vec![0; size];
                loop {
                    let read = json.read(&mut buffer).unwrap();
                    if read == 0 {
                        break;
                    }
                    all.extend_from_slice(&buffer[..read]);
                }
                assert_eq!(String::from_utf8(all).unwrap(), given);
            }
        }
    }

    #[test]
    fn a_token_that_is_too_long_is_refused_at_its_place() {
        let long = "x".repeat((1 << 20) - 10);
        assert_eq!(refused(format!("{{\"a\": \"{long}\\\"\", \"b\": 1}}").as_bytes()), None);
        let many = "[1, \"a\", {}], ".repeat(200_000);
        assert_eq!(refused(many.as_bytes()), None);
        for (start, filling, reason) in [
            ("{\n\"a\": ", " ", "blanks exceed 1 MiB"),
            ("{\n\"a\": \"", "x", "a text exceeds 1 MiB; is its quote closed?"),
            ("{\n\"a\": \"\\\"", "\\\"", "a text exceeds 1 MiB; is its quote closed?"),
            ("{\n\"a\": ", "7", "a number or word exceeds 1 MiB"),
        ] {
            let text = format!("{start}{}", filling.repeat((1 << 20) + 100));
            let found = refused(text.as_bytes()).unwrap();
            assert!(found.starts_with("line 2, column 1048"), "{found}");
            assert!(found.ends_with(reason), "{found}");
        }
    }
}
