//! Rows of a delimited table read line by line, for writers that a strict CSV reader loses track of.
//!
//! Two things happen in the wild: `PyProf` wraps every field in quotes without doubling the quotes
//! inside, and a file that was cut or mixed with messages has a quote that is never closed. A strict
//! reader swallows everything up to the next quote; here at most one line is lost.

use std::borrow::Cow;

use super::lines::append_line;
use super::part::Part;
use super::split::quoted_fields;
use super::{IngestError, Reading};

/// A quoted field runs over at most this many lines.
const MOST_LINES: usize = 16;

/// What the next line turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// A row with as many cells as the header.
    Row,
    /// A line of blanks.
    Blank,
    /// A line with another number of cells.
    Misfit {
        /// Cells found.
        cells: usize,
        /// Whether a quote is still open at its end.
        open: bool,
    },
}

/// One row: its text and where its cells are.
#[derive(Debug, Default)]
pub(super) struct Row {
    text: Vec<u8>,
    cells: Vec<(usize, usize)>,
    /// Cells that fill their column to the last character, so that some may be missing.
    cut: Vec<bool>,
    /// Line of the file it starts on.
    line: u64,
}

impl Row {
    /// A row whose cells lie at these byte ranges of a line.
    pub(super) fn set(
        &mut self,
        text: &[u8],
        line: u64,
        cells: impl Iterator<Item = (usize, usize, bool)>,
    ) {
        self.text.clear();
        self.text.extend_from_slice(text);
        self.line = line;
        self.cells.clear();
        self.cut.clear();
        for (start, end, cut) in cells {
            self.cells.push((start, end));
            self.cut.push(cut);
        }
        self.trim();
    }

    /// Takes blanks from both ends of each cell.
    fn trim(&mut self) {
        for (start, end) in &mut self.cells {
            let cell = &self.text[*start..*end];
            // Two bytes tell of most that there is nothing to trim.
            let is_trimmed = cell.first().is_none_or(|first| *first > b' ')
                && cell.last().is_none_or(|last| *last > b' ');
            if !is_trimmed {
                *end -= cell.len() - cell.trim_ascii_end().len();
                *start = *end - cell.trim_ascii().len();
            }
        }
    }

    /// The line of the file the row starts on.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// A cell without surrounding blanks; empty where there is none.
    pub(super) fn cell(&self, column: usize) -> &[u8] {
        self.cells.get(column).map_or(b"", |(start, end)| &self.text[*start..*end])
    }

    /// Appends all that cells next to each other are made of: their text, with what is between them, and where in it
    /// each begins and ends. `None` if that is too long to be worth it, and for cells that may be cut.
    pub(super) fn append_run(&self, first: usize, last: usize, to: &mut Vec<u8>) -> Option<()> {
        let cells = self.cells.get(first..=last)?;
        let (start, end) = (cells.first()?.0, cells.last()?.1);
        if end - start > usize::from(u16::MAX) || !self.cut.is_empty() {
            return None;
        }
        to.extend_from_slice(&self.text[start..end]);
        for (from, until) in cells {
            let [from, until] = [from - start, until - start].map(|at| at as u16);
            to.extend_from_slice(&(u32::from(from) << 16 | u32::from(until)).to_le_bytes());
        }
        Some(())
    }

    /// A cell as text, for messages.
    pub(super) fn text(&self, column: usize) -> String {
        String::from_utf8_lossy(self.cell(column)).into_owned()
    }

    /// Whether the cell may have lost its end.
    pub(super) fn is_cut(&self, column: usize) -> bool {
        self.cut.get(column).copied().unwrap_or(false)
    }

    /// The whole text, for messages.
    pub(super) fn whole(&self) -> String {
        String::from_utf8_lossy(&self.text).trim_end().to_owned()
    }
}

/// How a writer treats quotes inside quoted fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    /// As RFC 4180 has it.
    Doubled,
    /// Left as they are, every field being wrapped; a doubled reading is tried next.
    Untouched,
}

/// Reads rows of a table whose header has been read.
pub(super) struct Rows {
    quotes: Quotes,
    delimiter: u8,
    width: usize,
    row: Row,
    /// Lines given back after a quote had been taken for open.
    pushed: Vec<u8>,
    at: usize,
    line: u64,
}

impl Rows {
    /// Rows of `width` cells from the line after the one read last.
    pub(super) fn new(reading: &Reading<'_>, quotes: Quotes, delimiter: u8, width: usize) -> Self {
        let line = reading.line();
        Self { quotes, delimiter, width, row: Row::default(), pushed: Vec::new(), at: 0, line }
    }

    /// Takes the number of cells from a header inside the table.
    pub(super) fn set_width(&mut self, width: usize) {
        self.width = width;
    }

    /// The row found last.
    pub(super) fn row(&self) -> &Row {
        &self.row
    }

    /// Whether other threads may read the lines that come next: no line was given back.
    #[inline]
    pub(super) fn may_share(&self, reading: &Reading<'_>) -> bool {
        reading.may_share() && self.at == self.pushed.len()
    }

    /// What the next rows came to, where another thread has read them.
    ///
    /// # Errors
    /// When the input fails.
    pub(super) fn part(&mut self, reading: &mut Reading<'_>) -> Result<Option<Part>, IngestError> {
        let part = reading.part()?;
        if part.is_some() {
            self.line = reading.line();
        }
        Ok(part)
    }

    /// Gives each line of a text to `take` as a row, as long as it is one and `take` wants more; whether
    /// that was all.
    pub(super) fn each<E>(
        text: &[u8],
        quotes: Quotes,
        delimiter: u8,
        width: usize,
        mut take: impl FnMut(&Row) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let (row, pushed) = (Row::default(), Vec::new());
        let mut rows = Self { quotes, delimiter, width, row, pushed, at: 0, line: 0 };
        let mut rest = text;
        while !rest.is_empty() {
            rows.row.text.clear();
            // A slice does not fail.
            let _ = append_line(&mut rest, usize::MAX, &mut rows.row.text);
            rows.row.line += 1;
            let is_blank = rows.row.text.iter().all(u8::is_ascii_whitespace);
            if is_blank || rows.split() != Found::Row || !take(&rows.row)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads on; `None` at the end of the file.
    ///
    /// # Errors
    /// When the input fails.
    pub(super) fn next(&mut self, reading: &mut Reading<'_>) -> Result<Option<Found>, IngestError> {
        self.row.text.clear();
        if !self.append_line(reading)? {
            return Ok(None);
        }
        self.row.line = self.line;
        let first = self.row.text.len();
        if self.row.text.iter().all(u8::is_ascii_whitespace) {
            self.row.cells.clear();
            return Ok(Some(Found::Blank));
        }
        let mut joined = 0;
        let mut found = self.split();
        while let Found::Misfit { cells, open: true } = found
            && cells <= self.width
            && joined < MOST_LINES
            && self.append_line(reading)?
        {
            joined += 1;
            found = self.split();
        }
        // A line that is a row of its own was not in quotes: the quote before it lacks its other half.
        if joined > 0 && (found != Found::Row || self.is_row_among(first)) {
            let rest = self.row.text.split_off(first);
            self.pushed.splice(..self.at, rest);
            self.at = 0;
            self.line -= joined as u64;
            found = self.split();
        }
        Ok(Some(found))
    }

    /// Whether a line from this place of the text on has all cells.
    fn is_row_among(&self, from: usize) -> bool {
        let mut cells = Vec::new();
        let mut lines = self.row.text[from..].split(|byte| *byte == b'\n');
        self.width > 1
            && lines.any(|line| {
                let line = line.trim_ascii_end();
                let is_paired = line.split(|byte| *byte == b'"').count() % 2 == 1;
                let is_open = split_quoted(line, self.delimiter, &mut cells);
                is_paired && !is_open && cells.len() == self.width
            })
    }

    /// Appends one line to the row's text; false at the end of the file.
    fn append_line(&mut self, reading: &mut Reading<'_>) -> Result<bool, IngestError> {
        let before = self.row.text.len();
        let waiting = &self.pushed[self.at..];
        if waiting.is_empty() {
            let read = reading.read_line(&mut self.row.text);
            read.map_err(|error| {
                self.split();
                error.column(Some(format!("field {}", self.row.cells.len())))
            })?;
        } else {
            let end =
                waiting.iter().position(|byte| *byte == b'\n').map_or(waiting.len(), |end| end + 1);
            self.row.text.extend_from_slice(&waiting[..end]);
            self.at += end;
        }
        let some = self.row.text.len() > before;
        self.line += u64::from(some);
        Ok(some)
    }

    fn split(&mut self) -> Found {
        let found = self.take_apart();
        self.row.trim();
        found
    }

    fn take_apart(&mut self) -> Found {
        let Row { text, cells, .. } = &mut self.row;
        let end =
            text.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).map_or(0, |last| last + 1);
        let text = &text[..end];
        // Most lines are like this, and both readings of quotes agree on them.
        if quoted_fields(text, self.delimiter, cells) && cells.len() == self.width {
            return Found::Row;
        }
        if self.quotes == Quotes::Untouched
            && split_wrapped(text, self.delimiter, cells)
            && cells.len() == self.width
        {
            return Found::Row;
        }
        let open = split_quoted(text, self.delimiter, cells);
        if cells.len() == self.width && !open {
            Found::Row
        } else {
            Found::Misfit { cells: cells.len(), open }
        }
    }
}

/// A cell in which doubled quotes stand for one.
pub(super) fn unquoted(cell: &[u8]) -> Cow<'_, [u8]> {
    if !cell.windows(2).any(|pair| pair == b"\"\"") {
        return Cow::Borrowed(cell);
    }
    Cow::Owned(String::from_utf8_lossy(cell).replace("\"\"", "\"").into_bytes())
}

/// The fields of one line with doubled quotes, without surrounding blanks.
pub(super) fn fields(line: &str, delimiter: u8) -> Vec<String> {
    let mut cells = Vec::new();
    split_quoted(line.as_bytes(), delimiter, &mut cells);
    cells
        .iter()
        .map(|(start, end)| line[*start..*end].replace("\"\"", "\"").trim().to_owned())
        .collect()
}

/// Splits a line whose every field is wrapped in quotes, whatever quotes are inside; false if it is not one.
fn split_wrapped(text: &[u8], delimiter: u8, cells: &mut Vec<(usize, usize)>) -> bool {
    cells.clear();
    let [b'"', .., b'"'] = text else { return false };
    let end = text.len() - 1;
    let mut start = 1;
    let mut at = 1;
    while let Some(found) = text[at..end].iter().position(|byte| *byte == b'"') {
        let quote = at + found;
        if quote + 2 < end + 1 && text[quote + 1] == delimiter && text[quote + 2] == b'"' {
            cells.push((start, quote));
            start = quote + 3;
            at = start;
            if start > end {
                return false;
            }
        } else {
            at = quote + 1;
        }
    }
    cells.push((start, end));
    true
}

/// Splits a line in which a field may be quoted and quotes inside are doubled; true if one stays open.
fn split_quoted(text: &[u8], delimiter: u8, cells: &mut Vec<(usize, usize)>) -> bool {
    cells.clear();
    let mut at = 0;
    loop {
        let (start, end, next) = if text.get(at) == Some(&b'"') {
            let Some(end) = closing_quote(text, at + 1, delimiter) else {
                cells.push((at + 1, text.len()));
                return true;
            };
            (at + 1, end, end + 1)
        } else {
            let end = text[at..]
                .iter()
                .position(|byte| *byte == delimiter)
                .map_or(text.len(), |end| at + end);
            (at, end, end)
        };
        cells.push((start, end));
        if next >= text.len() {
            return false;
        }
        at = next + 1;
    }
}

/// The quote that closes a field: the last of an odd run, with a delimiter or the end after it. None where another quoted
/// field begins inside: a line end was lost, and the next row would be part of a name.
fn closing_quote(text: &[u8], from: usize, delimiter: u8) -> Option<usize> {
    let mut at = from;
    let mut has_text_behind = false;
    loop {
        let start = at + text[at..].iter().position(|byte| *byte == b'"')?;
        let run = text[start..].iter().take_while(|byte| **byte == b'"').count();
        let after = start + run;
        if run % 2 == 1 && text.get(after).is_none_or(|byte| *byte == delimiter) {
            let inside = &text[from..after - 1];
            let is_joined = || inside.windows(2).any(|pair| pair == [delimiter, b'"']);
            return Some(after - 1).filter(|_| !has_text_behind || !is_joined());
        }
        has_text_behind |= run % 2 == 1;
        at = after;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ingest::{Input, Options};
    use crate::model::Profile;

    /// Lines as the rows see them: cells joined by `|`, or what is wrong.
    fn rows(text: &str, width: usize) -> Vec<String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("rows.csv");
        std::fs::write(&path, text).unwrap();
        let mut profile = Profile::default();
        let mut reading =
            Reading::open(&Input::Named(path), &Options::default(), &mut profile).unwrap();
        let mut rows = Rows::new(&reading, Quotes::Untouched, b',', width);
        let mut seen = Vec::new();
        while let Some(found) = rows.next(&mut reading).unwrap() {
            let row = rows.row();
            let cells: Vec<_> = (0..row.cells.len()).map(|cell| row.text(cell)).collect();
            seen.push(match found {
                Found::Row => format!("{}: {}", row.line(), cells.join("|")),
                Found::Blank => format!("{}: blank", row.line()),
                Found::Misfit { cells, open } => {
                    format!("{}: {cells} cells, open {open}", row.line())
                }
            });
        }
        seen
    }

    #[test]
    fn quotes_that_are_not_doubled_stay_inside_their_field() {
        assert_eq!(
            rows("\"a\"b\",\"c,d\",\"\"\n\"\",\",\",\"x\"\"\n", 3),
            ["1: a\"b|c,d|", "2: |,|x\""],
        );
    }

    #[test]
    fn minimal_quoting_and_doubled_quotes_are_read_too() {
        assert_eq!(rows("1,\"a,\"\"b\"\",c\",2\r\n,,", 3), ["1: 1|a,\"\"b\"\",c|2", "2: ||"]);
        assert_eq!(rows("\"a\"\",\"\"b\",\"c\"\n", 2), ["1: a\"\",\"\"b|c"]);
    }

    #[test]
    fn a_line_break_inside_quotes_joins_lines() {
        assert_eq!(rows("1,\"a\nb\",2\n3,4,5\n", 3), ["1: 1|a\nb|2", "3: 3|4|5"]);
        assert_eq!(rows("\"1\",\"a\n\nb\",\"2\"\n", 3), ["1: 1|a\n\nb|2"]);
    }

    #[test]
    fn an_unclosed_quote_costs_one_line_only() {
        assert_eq!(
            rows("\"1\",\"a\n\"2\",\"b\"\n\n\"3\",\"c\"\n\"4\",\"d", 2),
            ["1: 2 cells, open true", "2: 2|b", "3: blank", "4: 3|c", "5: 2 cells, open true"],
        );
    }

    #[test]
    fn a_missing_quote_swallows_no_row() {
        // With the quote before `b` the first two lines have as many cells as one row.
        assert_eq!(
            rows("1,\"a\n2,\"b\"\n3,\"c\"\n", 2),
            ["1: 2 cells, open true", "2: 2|b", "3: 3|c"],
        );
        assert_eq!(rows("1,\"a\n2\n3,4\",5\n", 3), ["1: 1|a\n2\n3,4|5"]);
    }

    #[test]
    fn short_and_long_rows_are_told() {
        assert_eq!(rows("\"1\"\n1,2,3\n", 2), ["1: 1 cells, open false", "2: 3 cells, open false"]);
    }

    proptest! {
        /// The `csv` crate's writer is the oracle where quotes are doubled.
        #[test]
        fn doubled_quotes_read_as_the_csv_crate_writes_them(
            table in prop::collection::vec(prop::collection::vec("[a,\" ;]{0,4}", 3), 1..5),
            always in any::<bool>(),
        ) {
            let style = if always { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary };
            let mut writer = csv::WriterBuilder::new().quote_style(style).from_writer(Vec::new());
            for row in &table {
                writer.write_record(row).unwrap();
            }
            let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            let mut cells = Vec::new();
            for (line, row) in text.lines().zip(&table) {
                prop_assert!(!split_quoted(line.as_bytes(), b',', &mut cells));
                let read: Vec<_> =
                    cells.iter().map(|(start, end)| line[*start..*end].replace("\"\"", "\"")).collect();
                prop_assert_eq!(&read, row);
            }
        }

        /// Wrapped fields come back whatever they hold, short of the mark between two of them.
        #[test]
        fn wrapped_fields_read_as_they_were_joined(row in prop::collection::vec("[a,\" ;]{0,4}", 1..5)) {
            prop_assume!(row.iter().all(|cell| !cell.contains(",\"") && !cell.contains("\",")));
            let line = format!("\"{}\"", row.join("\",\""));
            let mut cells = Vec::new();
            prop_assert!(split_wrapped(line.as_bytes(), b',', &mut cells));
            let read: Vec<_> = cells.iter().map(|(start, end)| line[*start..*end].to_owned()).collect();
            prop_assert_eq!(read, row);
        }

        #[test]
        fn no_line_panics(line in "[a\",]{0,12}") {
            let mut cells = Vec::new();
            split_wrapped(line.as_bytes(), b',', &mut cells);
            prop_assert!(cells.iter().all(|(start, end)| start <= end && *end <= line.len()));
            split_quoted(line.as_bytes(), b',', &mut cells);
            prop_assert!(cells.iter().all(|(start, end)| start <= end && *end <= line.len()));
        }
    }
}
