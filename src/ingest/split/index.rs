//! Where the rows of a text begin and their fields end, found 64 bytes at a time.
//!
//! Only what is written by the rules is taken: a quote opens where a field begins and closes where
//! one ends, or is doubled. The scan stops at anything else, which the `csv` crate then reads.

use std::cell::LazyCell;

use fearless_simd::{Level, Simd, dispatch};

use super::marks::{BLOCK, Marks, parity};

/// A row of the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    /// Its first byte.
    pub(super) start: u32,
    /// Its fields among the ends; for other rows, the number among them and the one after.
    pub(super) first: u32,
    pub(super) last: u32,
    /// Line feeds of the text before it.
    pub(super) lines: u32,
    pub(super) form: Form,
    /// So many fields at its beginning are those of the row before.
    pub(super) repeated: u32,
}

/// How a row is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Fields are as they stand, some between quotes.
    Plain,
    /// Some quotes inside of fields are doubled.
    Doubled,
    /// Against the rules.
    Other,
    /// The same over several lines: a quote that is missing or astray has swallowed rows.
    Astray,
}

/// The rows found so far.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) rows: Vec<Place>,
    pub(super) ends: Vec<u32>,
    /// First byte of the row that is not complete yet.
    pub(super) start: usize,
    /// Line feeds before it.
    pub(super) lines: u32,
    /// Fields that rows share with the row before them; zero until it is known.
    shared: usize,
}

/// Rows that share fewer bytes with the row before are scanned from their start.
const WORTH: usize = BLOCK;

impl Index {
    /// Forgets all rows.
    pub(super) fn clear(&mut self) {
        self.rows.clear();
        self.ends.clear();
        self.start = 0;
        self.lines = 0;
        self.shared = 0;
    }

    /// Finds the rows from `start` on; false if the row that starts there is against the rules.
    pub(super) fn scan(&mut self, text: &[u8], delimiter: u8) -> bool {
        dispatch!(Level::new(), simd => self.scan_with(simd, text, delimiter))
    }

    #[expect(clippy::inline_always, reason = "so that it is compiled for each kind of processor")]
    #[inline(always)]
    fn scan_with<S: Simd>(&mut self, simd: S, text: &[u8], delimiter: u8) -> bool {
        let mut at = self.start;
        let mut row = Open::new(self.ends.len(), self.lines);
        // Whether the byte before a block ended a field or row, closed a quote, was inside of one.
        let (mut edge, mut closed, mut quoted) = (1, 0, 0);
        let mut padded;
        while at < text.len() {
            let (block, valid) = match text[at..].first_chunk() {
                Some(block) => (block, u64::MAX),
                None => {
                    let rest = &text[at..];
                    // Zeros are no marks. After a repeated start this may be another part of the last bytes.
                    padded = [0; BLOCK];
                    padded[..rest.len()].copy_from_slice(rest);
                    (&padded, (1 << rest.len()) - 1)
                }
            };
            let Marks { quotes, delimiters, ends } = Marks::of(simd, block, delimiter);
            let inside = parity(quotes) ^ quoted;
            let (opens, shuts) = (quotes & inside, quotes & !inside);
            let edges = (delimiters | ends) & !inside;
            let (after_edge, after_close) = (edges << 1 | edge, shuts << 1 | closed);
            let doubled = opens & after_close;
            let faults = opens & !(after_edge | after_close) | after_close & !(edges | opens);
            let seen = &Seen { edges, doubled, ends, faults: faults & valid };
            match self.take(text, at, seen, &mut row) {
                Step::On => {
                    (edge, closed) = (edges >> (BLOCK - 1), shuts >> (BLOCK - 1));
                    quoted = 0_u64.wrapping_sub(inside >> (BLOCK - 1));
                    at += BLOCK;
                }
                Step::To(place) => (at, edge, closed, quoted) = (place, 1, 0, 0),
                Step::Fault => {
                    self.ends.truncate(row.first);
                    return false;
                }
            }
        }
        self.ends.truncate(row.first);
        true
    }

    /// Takes what was seen in the block at `at`.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn take(&mut self, text: &[u8], at: usize, seen: &Seen, row: &mut Open) -> Step {
        let Seen { edges, doubled, ends, faults } = *seen;
        if doubled | ends | faults == 0 {
            self.push_all(at, edges);
            return Step::On;
        }
        let mut marks = edges | doubled | ends | faults;
        while marks != 0 {
            let bit = marks & marks.wrapping_neg();
            let end = place(at, marks);
            marks &= marks - 1;
            if faults & bit != 0 {
                return Step::Fault;
            }
            if doubled & bit != 0 {
                row.form = Form::Doubled;
            } else if ends & bit == 0 {
                self.ends.push(end);
            } else {
                row.lines += u32::from(text[end as usize] == b'\n');
                if edges & bit != 0 {
                    self.end_row(end, row);
                    if let Some(place) = self.repeat(text) {
                        row.repeated = self.shared as u32;
                        return Step::To(place);
                    }
                }
            }
        }
        Step::On
    }

    /// Adds the ends of a block, eight at a time; those beyond the last are taken back.
    #[expect(clippy::inline_always, reason = "as above")]
    #[inline(always)]
    fn push_all(&mut self, at: usize, mut edges: u64) {
        let length = self.ends.len() + edges.count_ones() as usize;
        while edges != 0 {
            let eight: [u32; 8] = std::array::from_fn(|_| {
                let end = place(at, edges);
                edges &= edges.wrapping_sub(1);
                end
            });
            self.ends.extend_from_slice(&eight);
        }
        self.ends.truncate(length);
    }

    /// Takes the first fields of a row from the row before, where they are the same; gives the place
    /// after them. A launch of a long table repeats its identity in every row.
    fn repeat(&mut self, text: &[u8]) -> Option<usize> {
        let [.., before, last] = self.rows.as_slice() else { return None };
        // One line feed, at its end: none is inside.
        if last.form != Form::Plain || self.lines != last.lines + 1 {
            return None;
        }
        // The last field ends with the row, which is no place to go on.
        let ends = &self.ends[last.first as usize..last.last as usize - 1];
        let start = last.start as usize;
        if self.shared == 0 {
            let row = &text[start..self.start];
            let common = common(row, &text[before.start as usize..start]);
            if common < WORTH {
                return None;
            }
            self.shared = ends.iter().take_while(|end| **end as usize - start < common).count();
        }
        let end = self.shared.checked_sub(1).and_then(|last| ends.get(last));
        let length = end.map(|end| *end as usize + 1 - start)?;
        if text.get(self.start..self.start + length)? != &text[start..start + length] {
            self.shared = 0;
            return None;
        }
        let (first, shift) = (last.first as usize, (self.start - start) as u32);
        let from = self.ends.len();
        self.ends.extend_from_within(first..first + self.shared);
        self.ends[from..].iter_mut().for_each(|end| *end += shift);
        Some(self.start + length)
    }

    /// Ends the row at `end`; blank ones are none.
    fn end_row(&mut self, end: u32, row: &mut Open) {
        if self.start < end as usize {
            self.ends.push(end);
            let (start, last, lines) = (self.start as u32, self.ends.len() as u32, self.lines);
            let Open { first, form, repeated, .. } = *row;
            self.rows.push(Place { start, first: first as u32, last, lines, form, repeated });
        }
        self.start = end as usize + 1;
        self.lines = row.lines;
        *row = Open::new(self.ends.len(), self.lines);
    }

    /// Adds the row from `start` up to `end` as the `number`th of those that were read otherwise, if
    /// there is one.
    pub(super) fn add_other(
        &mut self,
        text: &[u8],
        end: usize,
        number: Option<usize>,
        delimiter: u8,
    ) {
        let lines = |from: usize, to: usize| line_feeds(&text[from..to]) as u32;
        let row = &text[self.start..end];
        let blank = row.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
        let start = self.start + blank;
        self.lines += lines(self.start, start);
        if let Some(number) = number {
            let is_astray = is_astray(&text[start..end], delimiter);
            let form = if is_astray { Form::Astray } else { Form::Other };
            let (start, first) = (start as u32, number as u32);
            let (last, lines, repeated) = (first + 1, self.lines, 0);
            self.rows.push(Place { start, first, last, lines, form, repeated });
        }
        self.lines += lines(start, end);
        self.start = end;
    }
}

/// Whether a row has a quote that nothing closes, or has text behind the quote that closes a field and runs over several
/// lines that may be rows: Nsight Compute does not double the quotes in texts of several lines.
fn is_astray(row: &[u8], delimiter: u8) -> bool {
    let row = row.trim_ascii_end();
    // Text has few fields: a line with most of those of the row is a row that the quote before it swallowed.
    let has_rows = LazyCell::new(|| {
        let fields = field_count(row, delimiter);
        let mut later = row.split(|byte| *byte == b'\n').skip(1);
        later.any(|line| 2 * field_count(line, delimiter) > fields)
    });
    let mut at = 0;
    loop {
        if row.get(at) == Some(&b'"') {
            at += 1;
            loop {
                let Some(quote) = row[at..].iter().position(|byte| *byte == b'"') else {
                    return true;
                };
                at += quote + 1;
                if row.get(at) != Some(&b'"') {
                    break;
                }
                at += 1;
            }
            if row.get(at).is_some_and(|byte| *byte != delimiter) {
                if *has_rows {
                    return true;
                }
                // Within a line it is text of the field.
                let end = row[at..].iter().position(|byte| *byte == delimiter);
                at = end.map_or(row.len(), |end| at + end);
            }
        } else {
            let end = row[at..].iter().position(|byte| *byte == delimiter);
            at = end.map_or(row.len(), |end| at + end);
        }
        if at >= row.len() {
            return false;
        }
        at += 1;
    }
}

/// How many fields a text has, by the delimiters outside of quotes.
fn field_count(text: &[u8], delimiter: u8) -> usize {
    let mut is_quoted = false;
    let is_end = |byte: &&u8| {
        is_quoted ^= **byte == b'"';
        **byte == delimiter && !is_quoted
    };
    text.iter().filter(is_end).count() + 1
}

/// The row that is being scanned.
struct Open {
    /// Its first field among the ends.
    first: usize,
    /// Line feeds so far.
    lines: u32,
    form: Form,
    repeated: u32,
}

impl Open {
    /// A row of which nothing is known.
    fn new(first: usize, lines: u32) -> Self {
        Self { first, lines, form: Form::Plain, repeated: 0 }
    }
}

/// Where the scan goes on.
enum Step {
    /// At the next block.
    On,
    /// Here, where a field begins.
    To(usize),
    Fault,
}

/// What a block holds, as bit masks.
struct Seen {
    /// Delimiters and line ends outside of quotes.
    edges: u64,
    /// Second quotes of a pair.
    doubled: u64,
    /// Line ends, inside of quotes too.
    ends: u64,
    /// Quotes, and bytes after quotes, where the rules have none.
    faults: u64,
}

/// How many bytes two texts have in common at their beginning.
fn common(one: &[u8], other: &[u8]) -> usize {
    const STEP: usize = 16;
    let steps = one.chunks_exact(STEP).zip(other.chunks_exact(STEP));
    let known = STEP * steps.take_while(|(one, other)| one == other).count();
    let rest = one[known..].iter().zip(&other[known..]);
    known + rest.take_while(|(one, other)| one == other).count()
}

/// Place in the text of the lowest bit.
#[inline]
fn place(at: usize, bits: u64) -> u32 {
    at as u32 + bits.trailing_zeros()
}

/// Number of line feeds.
pub(in crate::ingest) fn line_feeds(text: &[u8]) -> usize {
    count(text, b'\n')
}

/// How often a byte is in a text.
pub(super) fn count(text: &[u8], byte: u8) -> usize {
    // Counts that fit in a byte are added many at a time.
    let parts = text.chunks(usize::from(u8::MAX));
    parts.map(|part| usize::from(part.iter().map(|one| u8::from(*one == byte)).sum::<u8>())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_that_swallow_rows_are_told_from_those_around_a_line_break() {
        for (row, is) in [
            ("1,\"a\n2,\"b\"\n", true),
            ("\"a\"b\",\"c\nd\"\n", true),
            ("1,\"a\n2,b", true),
            ("\"a\nb\",2\n", false),
            ("\"a \"\"x\"\"\nb\",\"\"\r\n", false),
            ("5\" disk,\"a\nb\"\n", false),
            ("\"a\"b,c\n", false),
        ] {
            assert_eq!(is_astray(row.as_bytes(), b','), is, "{row:?}");
        }
    }
}
