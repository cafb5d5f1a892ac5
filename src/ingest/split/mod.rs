//! Records of a delimited table, fast.
//!
//! A text is taken in blocks. Rows that are written by the rules are found by [`index`] and read
//! where they stand; the few others are read by the `csv` crate, one by one. Both read a row alike:
//! the tests below compare them on random text.

mod blocks;
mod cut;
mod index;
mod line;
mod marks;
mod record;
mod whole;

use std::io::Read;
use std::ops::Range;

use blocks::Blocks;
pub(super) use blocks::Understand;
pub(super) use cut::{Chunk, Cutter, Spare};
pub(super) use index::line_feeds;
use index::{Form, Index};
pub(super) use line::{fields, quoted_fields};
pub(super) use record::Record;
pub(super) use whole::Whole;

use super::IngestError;
use super::error::Fault;
use super::full::read_up_to;
use super::part::Part;

/// Bytes read at once; larger buffers leave the L2 cache, smaller ones cost calls.
pub(super) const BUFFER: usize = 256 * 1024;

/// Longest field, in bytes; a longer one has lost its closing quote.
const LONGEST_FIELD: usize = 1024 * 1024;

/// Longest row or line, in bytes: a hundred thousand columns take less.
pub(super) const LONGEST_ROW: usize = 4 * 1024 * 1024;

/// A stretch of a table with its rows.
#[derive(Default)]
pub(super) struct Block {
    /// Memory for the text, which is not cleared for each block.
    buffer: Vec<u8>,
    length: usize,
    index: Index,
    /// Rows that were read by the `csv` crate.
    others: Vec<csv::ByteRecord>,
    /// Lines of the table before it.
    lines: u64,
    /// What some of its rows came to, where another thread has read them.
    part: Option<(Range<usize>, Part)>,
}

impl Block {
    /// Number of its rows.
    pub(super) fn len(&self) -> usize {
        self.index.rows.len()
    }

    /// Gives some of the records to `take`, with their lines in the block, until there is an error.
    pub(super) fn each<E>(
        &self,
        mut rows: Range<usize>,
        mut take: impl FnMut(&Record<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut copy = csv::ByteRecord::new();
        rows.try_for_each(|at| take(&self.record(at, 0).undoubled(&mut copy)))
    }

    fn text(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// A record as it is written, with its line in a file with so many lines before the table.
    #[inline]
    fn record(&self, at: usize, before: u64) -> Record<'_> {
        let row = self.index.rows[at];
        let (first, last) = (row.first as usize, row.last as usize);
        let line = before + self.lines + u64::from(row.lines) + 1;
        match row.form {
            Form::Other => Record::parsed(&self.others[first], line),
            Form::Astray => Record::parsed(&self.others[first], line).astray(),
            form => {
                let ends = &self.index.ends[first..last];
                let record = Record::split(self.text(), row.start, ends, line);
                record.known(form == Form::Doubled, row.repeated as usize)
            }
        }
    }

    /// Finds the rows; what is left of the text is no complete row, or none at all at the end.
    fn split(&mut self, delimiter: u8, is_last: bool) {
        let Block { buffer, length, index, others, .. } = self;
        let text = &buffer[..*length];
        index.clear();
        others.clear();
        // A row against the rules seldom comes alone: of each time, more go to the other reader.
        let mut most = 1;
        loop {
            let is_regular = index.scan(text, delimiter);
            if index.start == text.len() || (is_regular && !is_last) {
                return;
            }
            if !read_otherwise(text, index, others, delimiter, is_last, most) {
                return;
            }
            most *= 2;
        }
    }
}

/// Lets the `csv` crate read rows, so many at most; false if that was all of the text, or the next one
/// may go on after it.
fn read_otherwise(
    text: &[u8],
    index: &mut Index,
    others: &mut Vec<csv::ByteRecord>,
    delimiter: u8,
    is_last: bool,
    most: usize,
) -> bool {
    let from = index.start;
    let mut reader = reader(&text[from..], delimiter);
    for _ in 0..most {
        let mut record = csv::ByteRecord::new();
        // A slice does not fail, and rows may be of any width.
        let is_some = reader.read_byte_record(&mut record).unwrap_or(false);
        let end = from + reader.position().byte() as usize - BEFORE.len();
        if end == text.len() && !is_last {
            return false;
        }
        index.add_other(text, end, is_some.then_some(others.len()), delimiter);
        if !is_some {
            return false;
        }
        others.push(record);
    }
    true
}

/// Takes a table apart, block by block.
struct Splitter {
    source: Box<dyn Read + Send>,
    delimiter: u8,
    /// Start of a row that the last block did not have to its end.
    rest: Vec<u8>,
    /// Lines before `rest`.
    lines: u64,
    ended: bool,
    failed: Option<Failure>,
}

/// Why a table cannot be read to its end.
struct Failure {
    /// Lines of the table before it.
    lines: u64,
    why: Why,
}

enum Why {
    /// The source fails.
    Source(Fault),
    /// The field at this place is longer than any profiler's.
    Field(usize),
    /// The row is.
    Row,
    /// The thread that takes the table apart is gone.
    Stopped,
}

/// Where a table begins, and what its columns are called.
pub(super) struct Place {
    pub(super) path: String,
    /// Lines of the file before the table.
    pub(super) before: u64,
    pub(super) titles: Vec<String>,
}

impl Splitter {
    /// Fills a block; false if nothing is left.
    fn fill(&mut self, block: &mut Block) -> Result<bool, Failure> {
        if let Some(failure) = self.failed.take() {
            self.ended = true;
            return Err(failure);
        }
        block.length = self.rest.len();
        block.buffer.resize(block.buffer.len().max(block.length), 0);
        block.buffer[..block.length].copy_from_slice(&self.rest);
        block.lines = self.lines;
        let mut size = BUFFER;
        loop {
            self.read_up_to(size, block);
            block.split(self.delimiter, self.ended);
            if block.length > LONGEST_FIELD
                && let Some(failure) = self.excess(block)
            {
                self.failed = Some(failure);
            }
            if !block.index.rows.is_empty() || self.ended || self.failed.is_some() {
                break;
            }
            // Not one row: it is longer than the window.
            size = block.length * 2;
        }
        self.rest.clear();
        self.rest.extend_from_slice(&block.text()[block.index.start..]);
        self.lines += u64::from(block.index.lines);
        if !block.index.rows.is_empty() {
            return Ok(true);
        }
        match self.failed.take() {
            Some(failure) => Err(failure),
            None => Ok(false),
        }
    }

    /// Reads until the block has this many bytes, or the source ends or fails.
    fn read_up_to(&mut self, size: usize, block: &mut Block) {
        block.buffer.resize(block.buffer.len().max(size), 0);
        if self.ended || self.failed.is_some() {
            return;
        }
        match read_up_to(&mut self.source, &mut block.buffer[..size], &mut block.length) {
            Ok(ended) => self.ended = ended,
            Err(cause) => {
                let lines = self.lines + line_feeds(block.text()) as u64;
                self.failed = Some(Failure { lines, why: Why::Source(cause.into()) });
            }
        }
    }

    /// Looks for a field or row longer than any profiler's; rows from there on are left out.
    fn excess(&self, block: &mut Block) -> Option<Failure> {
        let at = (0..block.index.rows.len()).find_map(|at| {
            let record = block.record(at, 0);
            Some((at, record.line() - 1, longer(record)?))
        });
        let (lines, column) = match at {
            Some((at, lines, column)) => {
                block.index.rows.truncate(at);
                (lines, Some(column))
            }
            None => {
                let rest = &block.text()[block.index.start..];
                let is_long = rest.len() > LONGEST_ROW;
                let mut record = csv::ByteRecord::new();
                if !is_long {
                    reader(rest, self.delimiter).read_byte_record(&mut record).unwrap_or(false);
                }
                let column = longer(Record::from(&record));
                if column.is_none() && !is_long {
                    return None;
                }
                (block.lines + u64::from(block.index.lines), column)
            }
        };
        Some(Failure { lines, why: column.map_or(Why::Row, Why::Field) })
    }
}

/// A line end before a text keeps a byte-order mark in the middle of a file what it is: text.
const BEFORE: &[u8] = b"\n";

/// The `csv` crate's reader of a text; its positions count what is before, too.
fn reader(text: &[u8], delimiter: u8) -> csv::Reader<impl Read> {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .buffer_capacity(4096)
        .from_reader(BEFORE.chain(text))
}

/// The column of a field that is longer than any profiler's.
fn longer(record: Record<'_>) -> Option<usize> {
    record.iter().position(|field| field.len() > LONGEST_FIELD)
}

/// The records of a table, in order.
pub struct Records {
    blocks: Blocks,
    block: Block,
    next: usize,
    /// The fields of a row whose quotes are doubled.
    undoubled: csv::ByteRecord,
    place: Place,
}

impl Records {
    /// The records that are left of a source, read by so many threads.
    pub(super) fn new(source: Box<dyn Read + Send>, place: Place, threads: usize) -> Self {
        let (delimiter, rest) = (b',', Vec::new());
        let splitter = Splitter { source, delimiter, rest, lines: 0, ended: false, failed: None };
        Self {
            blocks: Blocks::new(splitter, threads),
            block: Block::default(),
            next: 0,
            undoubled: csv::ByteRecord::new(),
            place,
        }
    }

    /// Whether the table has turned out to be large enough for several threads, and those are allowed,
    /// but have not started.
    pub(super) fn is_large(&self) -> bool {
        self.next == self.block.len() && self.blocks.is_large()
    }

    /// Lets other threads read the rest of a large table, too; each in a way of its own, by its number.
    pub(super) fn share(&mut self, understand: impl Fn(usize) -> Understand) {
        self.blocks.run_ahead(|number| Some(understand(number)));
    }

    /// What the next rows came to, where another thread has read them and all before have been taken;
    /// where they do not fit, they are to be read.
    ///
    /// # Errors
    /// When the input fails.
    #[inline]
    pub(super) fn part(
        &mut self,
        fits: impl FnOnce(&Part) -> bool,
    ) -> Result<Option<Part>, IngestError> {
        // Asked before every row.
        if self.next < self.block.len() && self.block.part.is_none() {
            return Ok(None);
        }
        self.take_part(fits)
    }

    #[inline(never)]
    fn take_part(&mut self, fits: impl FnOnce(&Part) -> bool) -> Result<Option<Part>, IngestError> {
        if self.next == self.block.len() && !self.turn()? {
            return Ok(None);
        }
        let is_next = |(rows, _): &mut (Range<usize>, Part)| rows.start == self.next;
        let Some((rows, part)) = self.block.part.take_if(is_next) else { return Ok(None) };
        if !fits(&part) {
            return Ok(None);
        }
        self.next = rows.end;
        Ok(Some(Part { before: self.place.before + self.block.lines, ..part }))
    }

    /// Rows mean something else from here on: whatever other threads make of them is not used.
    pub(super) fn read_alone(&mut self) {
        self.block.part = None;
        self.blocks.read_alone();
    }

    /// Reads the next record; `None` at the end.
    ///
    /// # Errors
    /// When the input fails (a broken archive, say), or a field is longer than any profiler's.
    #[expect(
        clippy::inline_always,
        reason = "a record that is returned by a call is copied three times"
    )]
    #[inline(always)]
    pub fn next(&mut self) -> Result<Option<Record<'_>>, IngestError> {
        if self.next == self.block.len() && !self.turn()? {
            return Ok(None);
        }
        self.next += 1;
        let record = self.block.record(self.next - 1, self.place.before);
        Ok(Some(record.undoubled(&mut self.undoubled)))
    }

    /// Takes the next block; false at the end.
    #[inline(never)]
    fn turn(&mut self) -> Result<bool, IngestError> {
        self.next = 0;
        loop {
            match self.blocks.next(&mut self.block) {
                Ok(true) if self.block.index.rows.is_empty() => {}
                Ok(is_some) => return Ok(is_some),
                Err(failure) => return Err(self.error(failure)),
            }
        }
    }

    fn error(&self, failure: Failure) -> IngestError {
        const OPEN: &str = "a quote that opens there is probably never closed; export the file again, or remove the line";
        let Place { path, before, titles } = &self.place;
        let (message, column, help) = match failure.why {
            Why::Source(fault) => (fault.message, None, fault.help),
            Why::Field(at) => {
                let title = titles.get(at).cloned().unwrap_or_else(|| format!("field {}", at + 1));
                let message = format!("the field exceeds {} MiB", LONGEST_FIELD >> 20);
                (message, Some(title), OPEN.into())
            }
            Why::Row => (format!("the row exceeds {} MiB", LONGEST_ROW >> 20), None, OPEN.into()),
            Why::Stopped => {
                ("the reading thread stopped".to_owned(), None, "try again with --threads 1".into())
            }
        };
        IngestError::new(path, message).line(before + failure.lines + 1).column(column).help(help)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A source that gives a few bytes at a time, as pipes do.
    struct Drops(Vec<u8>, usize);

    impl Read for Drops {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = self.1.min(self.0.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0.drain(..length);
            Ok(length)
        }
    }

    fn place(before: u64) -> Place {
        let titles = ["a", "b"].map(str::to_owned).to_vec();
        Place { path: "t.csv".to_owned(), before, titles }
    }

    type Rows = Vec<(u64, Vec<Vec<u8>>)>;

    fn rows(mut records: Records) -> Result<Rows, String> {
        let mut rows = Vec::new();
        while let Some(record) = records.next().map_err(|error| error.to_string())? {
            rows.push((record.line(), record.iter().map(<[u8]>::to_vec).collect()));
        }
        Ok(rows)
    }

    fn read(text: &[u8], step: usize) -> Rows {
        let source = Box::new(Drops(text.to_vec(), step));
        rows(Records::new(source, place(0), 1)).unwrap()
    }

    /// The reference. Its line is that of the end of the row before: the blank lines between, and the line
    /// feed after a carriage return, are still to come.
    fn reference(text: &[u8]) -> Rows {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(b"\n".chain(text));
        let mut record = csv::ByteRecord::new();
        let mut rows = Vec::new();
        while reader.read_byte_record(&mut record).unwrap() {
            let mut start = (record.position().unwrap().byte() as usize).max(1) - 1;
            start += text[start..].iter().take_while(|byte| b"\r\n".contains(byte)).count();
            let line = 1 + line_feeds(&text[..start]) as u64;
            rows.push((line, record.iter().map(<[u8]>::to_vec).collect()));
        }
        rows
    }

    #[test]
    fn rows_are_read_where_they_stand() {
        let text = "\"a, b\",1\r\n\r\n\"c\nd\",\"\"\n,\n\"say \"\"x\"\"\",5\" disk\n\"q";
        let found: Vec<String> = read(text.as_bytes(), 7)
            .iter()
            .map(|(line, row)| {
                let cells: Vec<_> = row.iter().map(|cell| String::from_utf8_lossy(cell)).collect();
                format!("{line}: {}", cells.join("|"))
            })
            .collect();
        assert_eq!(found, ["1: a, b|1", "3: c\nd|", "5: |", "6: say \"x\"|5\" disk", "7: q"]);
    }

    #[test]
    fn a_field_or_row_without_end_is_refused_with_its_place() {
        let endless = |start: &'static [u8], byte: u8| {
            let source = Box::new(start.chain(std::io::repeat(byte)));
            rows(Records::new(source, place(5), 1)).unwrap_err()
        };
        let error = endless(b"1,2\n\n3,\"", b'x');
        assert!(error.starts_with("t.csv:8: column \"b\": the field exceeds 1 MiB"), "{error}");
        let error = endless(b"1\n2\n", b',');
        assert!(error.starts_with("t.csv:8: the row exceeds 4 MiB"), "{error}");
        let long = format!("1\n2,{}\n3\n", "x".repeat(LONGEST_FIELD + 1));
        let source = Box::new(Drops(long.into_bytes(), usize::MAX));
        let mut records = Records::new(source, place(0), 1);
        assert_eq!(records.next().unwrap().map(|record| record.line()), Some(1));
        let error = records.next().unwrap_err().to_string();
        assert!(error.starts_with("t.csv:2: column \"b\": the field exceeds"), "{error}");
        assert!(records.next().unwrap().is_none());
    }

    #[test]
    fn a_large_table_read_by_another_thread_is_the_same() {
        let mut text = String::new();
        for row in 0..150_000 {
            text.push_str(&format!("\"{row}\",\"a \"\"b\"\"\",{:60}\n", ""));
            let odd = if row % 100 == 0 { "y\"z" } else { "yz" };
            text.push_str(&format!("{odd},\"1,234\"\n"));
        }
        let read = |threads| {
            let source = Box::new(std::io::Cursor::new(text.clone().into_bytes()));
            rows(Records::new(source, place(0), threads)).unwrap()
        };
        let ahead = read(3);
        assert!(ahead == read(1) && ahead.len() == 300_000);
        assert_eq!(
            ahead.last().map(|(line, row)| (*line, row[1].as_slice())),
            Some((300_000, &b"1,234"[..]))
        );
    }

    /// Pieces of which tables are made, well and badly.
    fn pieces() -> impl Strategy<Value = String> {
        let regular = "[a-c ]{0,3}|\"[a,\n ]{0,70}\"|\"(a|\"\"|,){0,4}\"";
        let piece = prop_oneof![
            8 => regular.prop_map(|field| field + ","),
            3 => regular.prop_map(|field| field + "\n"),
            1 => regular.prop_map(|field| field + "\r\n"),
            1 => "[a\",\r\n\u{feff}\u{0}]{0,6}",
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn every_text_is_read_as_the_csv_crate_reads_it(text in pieces(), step in 1..200_usize) {
            prop_assert_eq!(read(text.as_bytes(), step), reference(text.as_bytes()));
        }

        #[test]
        fn rows_that_begin_alike_are_read_as_the_csv_crate_reads_them(
            starts in prop::collection::vec("(\"[a,]{20,40}\",){2,4}", 1..3),
            rows in prop::collection::vec((0..2_usize, "[a,\"\n]{0,5}", 0..5_usize), 0..12),
        ) {
            let line_ends = ["\n", "\r\n", "\n\n", "\n", "\n"];
            let mut text = String::new();
            for (start, end, line) in rows {
                text.push_str(&starts[start % starts.len()]);
                text.push_str(&end);
                text.push_str(line_ends[line]);
            }
            prop_assert_eq!(read(text.as_bytes(), 64), reference(text.as_bytes()));
        }

        #[test]
        fn short_rows_after_long_ones_are_read_as_the_csv_crate_reads_them(
            rows in prop::collection::vec((0..5_usize, "[a,]{0,3}"), 0..12),
        ) {
            let long = "b".repeat(80);
            let bodies = [&format!("{long}c"), &format!("{long}d"), "", "x", "\"y\""];
            let row = |(body, end): (usize, String)| format!("k,{}{end}\n", bodies[body]);
            let text: String = rows.into_iter().map(row).collect();
            prop_assert_eq!(read(text.as_bytes(), 64), reference(text.as_bytes()));
        }

        #[test]
        fn every_row_of_marks_is_read_as_the_csv_crate_reads_it(text in "[a\",\r\n]{0,140}") {
            prop_assert_eq!(read(text.as_bytes(), 64), reference(text.as_bytes()));
        }
    }
}
