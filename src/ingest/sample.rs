//! The beginning of a file, by which its format and the way its numbers are written are recognized.

use std::sync::OnceLock;

use super::split::{Record, Whole, fields};

/// First bytes that tell binary files apart.
const HEAD: usize = 512;

/// The decoded beginning of a file.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    text: String,
    /// The first bytes as they are.
    pub(super) head: Vec<u8>,
    pub(super) binary: bool,
    /// Whether more may follow.
    pub(super) truncated: bool,
    /// Found once for all formats, each of which looks for its own.
    titles: OnceLock<Vec<Title>>,
}

/// A line that may be the titles of a table.
#[derive(Debug, Clone, Copy)]
struct Title {
    /// Lines before it.
    number: usize,
    start: usize,
    /// Where its line end begins, and where the next line does.
    end: usize,
    next: usize,
}

/// Where all lines of a text are.
fn places(text: &str) -> impl Iterator<Item = Title> {
    let mut next = 0;
    text.split_inclusive('\n').enumerate().map(move |(number, line)| {
        let start = next;
        next += line.len();
        let end = start + line.trim_end_matches(['\r', '\n']).len();
        Title { number, start, end, next }
    })
}

/// Whether a line begins with a cell that is a number, as rows do and titles never.
fn is_row(line: &[u8]) -> bool {
    let (mark, cell) = match line {
        [b'"', cell @ ..] => (b'"', cell),
        _ => (b',', line),
    };
    let is_digit =
        |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',') && *byte != mark;
    let digits = cell.iter().take_while(|byte| is_digit(byte)).count();
    digits > 0 && cell.get(digits).is_none_or(|byte| *byte == mark)
}

impl Sample {
    /// A sample of these bytes; they may end in the middle of a line.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        Self {
            head: bytes.iter().take(HEAD).copied().collect(),
            binary: bytes.iter().take(4096).any(|byte| *byte == 0),
            truncated: !bytes.ends_with(b"\n"),
            // Most are valid as a whole, which is found much sooner than what is not.
            text: str::from_utf8(bytes)
                .map_or_else(|_| String::from_utf8_lossy(bytes).into_owned(), str::to_owned),
            titles: OnceLock::new(),
        }
    }

    /// Whether the lines of a table end in carriage returns alone; in JSON they are blanks.
    pub(super) fn has_lone_returns(&self) -> bool {
        let text = self.text.trim_start();
        let is_table = !self.binary && !text.starts_with(['{', '[']);
        // The sample may end between a carriage return and its line feed.
        is_table && text.trim_end_matches('\r').contains('\r') && !text.contains('\n')
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The lines without their ends.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines()
    }

    /// The lines that may be titles, with the number of lines before each: all but the rows of numbered launches,
    /// which are most of a large table.
    pub(super) fn titles(&self) -> impl Iterator<Item = (usize, &str)> {
        self.known().iter().map(|title| (title.number, &self.text[title.start..title.end]))
    }

    fn known(&self) -> &[Title] {
        let is_row = |line: &Title| is_row(&self.text.as_bytes()[line.start..line.end]);
        self.titles.get_or_init(|| places(&self.text).filter(|line| !is_row(line)).collect())
    }

    /// The fields of the first line that `accepts` them, and the text after it.
    ///
    /// Only lines that may be the header are taken apart: that costs more than looking for a word.
    pub fn header(
        &self,
        may_be: impl Fn(&str) -> bool,
        accepts: impl Fn(&[String]) -> bool,
    ) -> Option<(Vec<String>, &str)> {
        self.known().iter().find_map(|title| {
            let line = &self.text[title.start..title.end];
            let fields = may_be(line).then(|| fields(line)).filter(|fields| accepts(fields))?;
            Some((fields, &self.text[title.next..]))
        })
    }

    /// The records of a table that starts in the sample, at most `limit`; a cut last one is left out.
    #[must_use]
    pub(super) fn records(&self, rest: &str, limit: usize) -> FirstRows {
        let end =
            if self.truncated { rest.rfind('\n').map_or(0, |end| end + 1) } else { rest.len() };
        FirstRows { rows: Whole::new(&rest.as_bytes()[..end]), limit }
    }
}

/// The first rows of a table.
pub(super) struct FirstRows {
    rows: Whole,
    limit: usize,
}

impl FirstRows {
    /// The rows, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Record<'_>> {
        self.rows.records().take(self.limit)
    }

    /// Whether a word is anywhere in their text: where it is not, no row need be asked for it.
    pub(super) fn has(&self, word: &str) -> bool {
        memchr::memmem::find(self.rows.text(), word.as_bytes()).is_some()
    }
}

/// A part of the sample, which is text and is cut at quotes, commas and line ends only.
pub(super) fn as_text(cell: &[u8]) -> &str {
    str::from_utf8(cell).unwrap_or_default()
}

#[cfg(test)]
impl Sample {
    /// The same, but that every line may be titles.
    pub(super) fn with_all_lines(&self) -> Self {
        Self { titles: OnceLock::from(places(&self.text).collect::<Vec<_>>()), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_with_a_number_is_no_titles() {
        for row in ["7", "7,a", "\"1,234\",\"a\"", "12.5,a", "\"0\"", "\"0"] {
            assert!(is_row(row.as_bytes()), "{row}");
        }
        for other in [
            "",
            "ID,7",
            "\"ID\",\"7\"",
            "\"\",\"7\"",
            ",7",
            "7%Idx,Sil",
            "12\"ID\"",
            "7 Sil",
            "7a,b",
        ] {
            assert!(!is_row(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn the_last_record_of_a_cut_sample_is_left_out() {
        let records = |text: &str| {
            let sample = Sample::new(text.as_bytes());
            let (header, rest) =
                sample.header(|line| line.contains("ID"), |fields| fields.len() == 2).unwrap();
            (header, sample.records(rest, 10).iter().count())
        };
        let header = vec!["ID".to_owned(), "a, b".to_owned()];
        assert_eq!(records("noise\nID\nID,\"a, b\"\r\n1,2\n3,4\n"), (header.clone(), 2));
        assert_eq!(records("ID,\"a, b\"\n1,2\n3,4"), (header, 1));
    }
}
