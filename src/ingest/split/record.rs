//! One record of a table, borrowed from the text it was read from.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use super::line_feeds;

/// The fields of a record, with its line.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    cells: Cells<'a>,
    line: u64,
    repeated: usize,
    /// Whether quotes inside of its fields are doubled.
    is_doubled: bool,
    is_astray: bool,
    /// Its text, where the fields are copied.
    whole: Option<&'a [u8]>,
}

/// Between the fields of a record that was taken apart.
const DELIMITER: u8 = b',';

#[derive(Debug, Clone, Copy)]
enum Cells<'a> {
    /// Fields of a text that end where `ends` says; some are between quotes.
    Split {
        text: &'a [u8],
        start: u32,
        ends: &'a [u32],
    },
    Parsed(&'a csv::ByteRecord),
}

impl<'a> Record<'a> {
    /// A record of a text, from `start` on.
    pub(super) fn split(text: &'a [u8], start: u32, ends: &'a [u32], line: u64) -> Self {
        Self {
            cells: Cells::Split { text, start, ends },
            line,
            repeated: 0,
            is_doubled: false,
            is_astray: false,
            whole: None,
        }
    }

    /// The same, with what is known of how it is written; it begins with so many fields of the record
    /// before it.
    pub(super) fn known(self, is_doubled: bool, repeated: usize) -> Self {
        Self { repeated, is_doubled, ..self }
    }

    /// The same with one quote for every two, which are copied.
    #[inline]
    pub(super) fn undoubled(self, copy: &'a mut csv::ByteRecord) -> Self {
        if self.is_doubled { self.copied(copy) } else { self }
    }

    #[inline(never)]
    fn copied(self, copy: &'a mut csv::ByteRecord) -> Self {
        copy.clear();
        for field in self.iter() {
            copy.push_field(&undoubled(field));
        }
        let whole = self.written(0..=self.len().saturating_sub(1));
        Self { whole, ..Self::parsed(copy, self.line) }
    }

    /// The same, known to hold what a quote that is missing or astray has swallowed.
    pub(super) fn astray(self) -> Self {
        Self { is_astray: true, ..self }
    }

    /// Whether a quote is missing or astray.
    pub(in crate::ingest) fn is_astray(&self) -> bool {
        self.is_astray
    }

    /// Whether it has so many fields as a row of its table may have, and no quote has swallowed the rows after it.
    pub(in crate::ingest) fn fits(&self, widths: RangeInclusive<usize>) -> bool {
        widths.contains(&self.len()) && !self.is_astray
    }

    /// At least so many fields at its beginning are those of the record before it.
    pub(in crate::ingest) fn repeated(&self) -> usize {
        self.repeated
    }

    /// A record whose fields have been copied.
    pub(super) fn parsed(record: &'a csv::ByteRecord, line: u64) -> Self {
        Self {
            cells: Cells::Parsed(record),
            line,
            repeated: 0,
            is_doubled: false,
            is_astray: false,
            whole: None,
        }
    }

    /// Returns the field of a column, without its quotes.
    #[must_use]
    #[inline]
    pub fn get(&self, column: usize) -> Option<&'a [u8]> {
        match self.cells {
            Cells::Split { text, start, ends } => {
                let end = *ends.get(column)?;
                let start = column.checked_sub(1).map_or(start, |before| ends[before] + 1);
                match text.get(start as usize..end as usize)? {
                    [b'"', inside @ .., b'"'] => Some(inside),
                    whole => Some(whole),
                }
            }
            Cells::Parsed(record) => record.get(column),
        }
    }

    /// Returns the text of neighboring fields as it stands in the file, with quotes and delimiters; `None` where it was
    /// not kept, or there are not so many.
    #[inline]
    pub(in crate::ingest) fn written(&self, columns: RangeInclusive<usize>) -> Option<&'a [u8]> {
        let Cells::Split { text, start, ends } = self.cells else { return None };
        let end = *ends.get(*columns.end())?;
        let start = columns.start().checked_sub(1).map_or(start, |before| ends[before] + 1);
        text.get(start as usize..end as usize)
    }

    /// Returns the number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.cells {
            Cells::Split { ends, .. } => ends.len(),
            Cells::Parsed(record) => record.len(),
        }
    }

    /// Returns `true` if there are no fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the line of the file on which the record starts, counted from 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Iterates over the fields.
    pub fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        (0..self.len()).filter_map(move |column| self.get(column))
    }

    /// Returns the record as it stands in the file, for messages; where its text was not kept, its fields without their
    /// quotes.
    #[must_use]
    pub fn text(&self) -> String {
        let whole = self.whole.or_else(|| self.written(0..=self.len().checked_sub(1)?));
        let text = whole
            .map_or_else(|| self.iter().collect::<Vec<_>>().join(&DELIMITER).into(), Cow::Borrowed);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Counts the lines that end inside of its fields, but for those at its end.
    pub(in crate::ingest) fn line_ends(&self) -> u64 {
        let text = self.iter().collect::<Vec<_>>().concat();
        line_feeds(text.trim_ascii_end()) as u64
    }
}

impl<'a> From<&'a csv::ByteRecord> for Record<'a> {
    fn from(record: &'a csv::ByteRecord) -> Self {
        Self::parsed(record, record.position().map_or(0, csv::Position::line))
    }
}

/// A field with one quote for every two.
fn undoubled(field: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(field.len());
    let mut second = false;
    for byte in field {
        second = *byte == b'"' && !second;
        if !second {
            text.push(*byte);
        }
    }
    text
}
