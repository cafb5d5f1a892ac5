//! CSV records one after the other, each of a bounded size.
//!
//! A quote that nothing closes is an error at its place instead of a gigabyte in memory.

use std::io::{self, Read};

use super::IngestError;
use super::input::Fault;

/// Larger buffers leave the L2 cache, smaller ones cost calls.
pub(super) const BUFFER: usize = 256 * 1024;

/// So much of a record is kept to say which of its fields has no end.
const KEPT: usize = BUFFER;

/// A line or record has at most this many bytes; kernel names of several 10 kB exist.
pub(super) const LONGEST_RECORD: u64 = 4 << 20;

/// CSV records with the line numbers of the whole file.
pub struct Records {
    reader: csv::Reader<Span>,
    before: u64,
    path: String,
    titles: Vec<String>,
}

impl Records {
    /// Records after so many lines of a file, below these titles.
    pub(super) fn new(bytes: Box<dyn Read>, lines: u64, path: &str, titles: Vec<String>) -> Self {
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(BUFFER)
            .from_reader(Span::new(bytes));
        Self { reader, before: lines, path: path.to_owned(), titles }
    }

    /// Reads the next record into `record`; `None` at the end, else the line it starts on.
    ///
    /// # Errors
    /// When the input fails (a broken archive, say), or a record is longer than any profiler's.
    pub fn next(&mut self, record: &mut csv::ByteRecord) -> Result<Option<u64>, IngestError> {
        let start = self.reader.position().clone();
        self.reader.get_mut().begin(start.byte());
        match self.reader.read_byte_record(record) {
            Ok(true) => Ok(Some(self.before + record.position().map_or(0, csv::Position::line))),
            Ok(false) => Ok(None),
            Err(_) if self.reader.get_ref().is_too_long() => Err(self.too_long(start.line())),
            Err(error) => {
                let line = self.before + self.reader.position().line();
                let fault = match error.into_kind() {
                    csv::ErrorKind::Io(error) => Fault::from(error),
                    _ => {
                        io::Error::new(io::ErrorKind::InvalidData, "the records are damaged").into()
                    }
                };
                Err(IngestError::new(&self.path, fault.message).line(line).help(fault.help))
            }
        }
    }

    /// Says which field of a record has no end.
    fn too_long(&self, line: u64) -> IngestError {
        let whole = self.reader.get_ref().whole_fields();
        let title = |whole: usize| {
            self.titles.get(whole).cloned().unwrap_or_else(|| format!("field {}", whole + 1))
        };
        let bound = LONGEST_RECORD >> 20;
        IngestError::new(&self.path, format!("the record exceeds {bound} MiB in this column"))
            .line(self.before + line)
            .column(whole.map(title))
            .help("a quote that opens there is probably never closed; export the file again, or remove the line")
    }
}

/// Bytes that a CSV reader takes a record at a time.
pub(super) struct Span {
    inner: Box<dyn Read>,
    /// Where the record that is being read begins.
    start: u64,
    /// Bytes given.
    total: u64,
    /// The bytes from a place at or before the beginning of the record on, as far as they are kept.
    kept: Vec<u8>,
    kept_at: u64,
}

impl Span {
    pub(super) fn new(inner: Box<dyn Read>) -> Self {
        Self { inner, start: 0, total: 0, kept: Vec::new(), kept_at: 0 }
    }

    /// Notes where the next record begins.
    pub(super) fn begin(&mut self, start: u64) {
        self.start = start;
    }

    /// Whether the record was given up because it is too long.
    pub(super) fn is_too_long(&self) -> bool {
        self.total > self.start + LONGEST_RECORD
    }

    /// How many fields of a record that is too long are whole, as far as its beginning shows.
    pub(super) fn whole_fields(&self) -> Option<usize> {
        let begin = self.start.checked_sub(self.kept_at);
        let begin = begin.and_then(|begin| usize::try_from(begin).ok());
        let head =
            begin.and_then(|begin| self.kept.get(begin..)).filter(|head| !head.is_empty())?;
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(head);
        let mut record = csv::ByteRecord::new();
        reader.read_byte_record(&mut record).ok()?;
        record.len().checked_sub(1)
    }
}

impl Read for Span {
    /// The reader asks for more only when all that it has belongs to one record.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_too_long() {
            return Err(io::Error::other("the record is too long"));
        }
        let read = self.inner.read(buffer)?;
        if self.kept_at + self.kept.len() as u64 <= self.start {
            self.kept.clear();
            self.kept_at = self.total;
        } else if let Ok(before) = usize::try_from(self.start.saturating_sub(self.kept_at)) {
            self.kept.drain(..before);
            self.kept_at += before as u64;
        }
        if self.kept.len() < KEPT && self.kept_at + self.kept.len() as u64 == self.total {
            self.kept.extend_from_slice(&buffer[..read]);
        }
        self.total += read as u64;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records of one length that lie across the borders of what is read at once: the one without end
    /// begins in a later part, and its field is found.
    #[test]
    fn the_field_without_end_is_named_wherever_its_record_begins() {
        let row = format!("1,{},3\n", "x".repeat(100_000));
        for rows in [0, 1, 2, 3, 5, 8, 13] {
            let text = format!("{}1,2,\"{}", row.repeat(rows), "y".repeat(5 << 20));
            let titles = ["a", "b", "c"].map(str::to_owned).to_vec();
            let bytes = Box::new(io::Cursor::new(text.into_bytes()));
            let mut records = Records::new(bytes, 4, "f.csv", titles);
            let mut record = csv::ByteRecord::new();
            for at in 0..rows as u64 {
                assert_eq!(records.next(&mut record), Ok(Some(5 + at)));
            }
            let error = records.next(&mut record).unwrap_err().to_string();
            let place = format!("f.csv:{}: column \"c\": the record exceeds 4 MiB", 5 + rows);
            assert!(error.starts_with(&place), "{error}");
        }
    }
}
