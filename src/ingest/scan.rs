//! A JSON document of any size, value by value: only the value that is looked at is in memory.
//!
//! Profilers have written traces with bytes that are not UTF-8, with escapes that JSON does not have
//! and with NaN, and a trace breaks off where the program was killed. So this takes values apart by
//! their brackets and quotes alone, and leaves to others what is inside of them.

use std::fmt;
use std::io::{self, Read};

use super::full::read_some;

/// Bytes asked for at once.
const CHUNK: usize = 256 * 1024;

/// A value of more bytes than this is no event and no launch.
const LONGEST_VALUE: usize = 16 << 20;

/// Between two values are at most this many blanks: an archive of a gigabyte of them, or a pipe without end, is refused.
const MOST_BLANKS: usize = 1 << 20;

/// Why a document was not read to its end.
#[derive(Debug)]
pub(super) enum Stop {
    /// It ends inside a value.
    Cut,
    /// It is no JSON, or one value is too long.
    Damaged(&'static str),
    /// It could not be read.
    Failed(io::Error),
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cut => f.write_str("the JSON ends too early; the file is cut off"),
            Self::Damaged(what) => f.write_str(what),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Failed(error)
    }
}

/// A document while it is read.
pub(super) struct Scanner<R> {
    inner: R,
    buffer: Vec<u8>,
    /// What of the buffer was read and not yet taken.
    at: usize,
    end: usize,
    /// Bytes before the buffer.
    before: u64,
    /// Line ends in what was taken, and the place behind the last one.
    lines: u64,
    line_start: u64,
    is_over: bool,
}

/// A place in a document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    /// Line, from 1.
    pub(super) line: u64,
    /// Byte within the line, from 1.
    pub(super) column: u64,
}

impl<R: Read> Scanner<R> {
    /// A document from its beginning.
    pub(super) fn new(inner: R) -> Self {
        let buffer = vec![0; 2 * CHUNK];
        Self { inner, buffer, at: 0, end: 0, before: 0, lines: 0, line_start: 0, is_over: false }
    }

    /// Place of the next byte.
    pub(super) fn place(&self) -> u64 {
        self.before + self.at as u64
    }

    /// Line and column of the next byte.
    pub(super) fn spot(&self) -> Spot {
        Spot { line: self.lines + 1, column: self.place() - self.line_start + 1 }
    }

    /// Takes so many bytes.
    fn take(&mut self, length: usize) -> &[u8] {
        let taken = &self.buffer[self.at..self.at + length];
        for end in memchr::memchr_iter(b'\n', taken) {
            self.lines += 1;
            self.line_start = self.before + (self.at + end) as u64 + 1;
        }
        self.at += length;
        taken
    }

    /// Reads more bytes behind those that are kept; `false` at the end.
    fn fill(&mut self) -> Result<bool, Stop> {
        if self.is_over {
            return Ok(false);
        }
        if self.at > 0 {
            self.buffer.copy_within(self.at..self.end, 0);
            self.before += self.at as u64;
            self.end -= self.at;
            self.at = 0;
        }
        if self.buffer.len() - self.end < CHUNK {
            if self.buffer.len() >= LONGEST_VALUE {
                return Err(Stop::Damaged("a value exceeds 16 MiB; is its quote closed?"));
            }
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        let read = read_some(&mut self.inner, &mut self.buffer[self.end..])?;
        self.end += read;
        self.is_over = read == 0;
        Ok(read > 0)
    }

    /// The next byte that is no blank; `None` at the end.
    pub(super) fn peek(&mut self) -> Result<Option<u8>, Stop> {
        let mut blanks = 0;
        loop {
            // A mark of the byte order is passed over like a blank.
            let is_blank =
                |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, 0xef | 0xbb | 0xbf);
            let rest = &self.buffer[self.at..self.end];
            let next = rest.iter().position(|byte| !is_blank(byte));
            let more = next.unwrap_or(rest.len());
            if blanks + more > MOST_BLANKS {
                self.take(MOST_BLANKS - blanks);
                return Err(Stop::Damaged("more than 1 MiB of whitespace"));
            }
            blanks += self.take(more).len();
            if next.is_some() {
                return Ok(self.buffer.get(self.at).copied());
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Takes a mark if it comes next.
    pub(super) fn mark(&mut self, mark: u8) -> Result<bool, Stop> {
        let is_next = self.peek()? == Some(mark);
        self.at += usize::from(is_next);
        Ok(is_next)
    }

    /// Goes on to the next item after one of a list or an object; `false` after its last one.
    pub(super) fn more(&mut self, close: u8) -> Result<bool, Stop> {
        match self.peek()? {
            Some(b',') => {
                self.at += 1;
                // A comma after the last item is forgiven.
                Ok(!self.mark(close)?)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(_) => Err(Stop::Damaged("missing comma between values")),
            None => Err(Stop::Cut),
        }
    }

    /// Takes the next value as it is written.
    pub(super) fn value(&mut self) -> Result<&[u8], Stop> {
        if self.peek()?.is_none() {
            return Err(Stop::Cut);
        }
        let mut ends = Ends::default();
        let mut length = 0;
        loop {
            let fresh = &self.buffer[self.at + length..self.end];
            if let Some(more) = ends.find(fresh) {
                length += more;
                break;
            }
            length += fresh.len();
            if !self.fill()? {
                // A bare number or word may be the last of a document.
                if ends.is_bare() && length > 0 {
                    break;
                }
                return Err(Stop::Cut);
            }
        }
        if length == 0 {
            return Err(Stop::Damaged("a value is missing"));
        }
        Ok(self.take(length))
    }
}

/// Finds where a value ends.
#[derive(Debug, Default)]
struct Ends {
    depth: u32,
    is_text: bool,
    is_escaped: bool,
}

impl Ends {
    fn is_bare(&self) -> bool {
        self.depth == 0 && !self.is_text
    }

    /// How many of these bytes belong to the value; `None` if all do and it goes on.
    fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            if self.is_text {
                if self.is_escaped {
                    self.is_escaped = false;
                    at += 1;
                    continue;
                }
                let stop = bytes[at..].iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
                at += stop + 1;
                if bytes[at - 1] == b'\\' {
                    self.is_escaped = true;
                } else {
                    self.is_text = false;
                    if self.depth == 0 {
                        return Some(at);
                    }
                }
                continue;
            }
            match bytes[at] {
                b'"' => self.is_text = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' | b',' | b':' | b' ' | b'\t' | b'\r' | b'\n' if self.depth == 0 => {
                    return Some(at);
                }
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        None
    }
}

/// The members of an object that was taken whole: keys without their quotes, values as written.
pub(super) fn members(object: &[u8]) -> Items<'_> {
    Items { rest: object.strip_prefix(b"{").unwrap_or_default(), stray: None }
}

/// The items of a list that was taken whole.
pub(super) fn items(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Items { rest: list.strip_prefix(b"[").unwrap_or_default(), stray: None };
    std::iter::from_fn(move || rest.value())
}

/// Values inside of brackets.
pub(super) struct Items<'a> {
    rest: &'a [u8],
    /// The first of those that stand in place of a key and are no text.
    pub(super) stray: Option<&'a [u8]>,
}

impl<'a> Items<'a> {
    fn value(&mut self) -> Option<&'a [u8]> {
        let marks = |byte: &u8| !byte.is_ascii_whitespace() && !matches!(byte, b',' | b':');
        let start = self.rest.iter().position(marks)?;
        let rest = &self.rest[start..];
        let length = Ends::default().find(rest).filter(|length| *length > 0)?;
        let (value, rest) = rest.split_at(length);
        self.rest = rest;
        Some(value)
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.value()?;
        if !key.starts_with(b"\"") {
            self.stray = self.stray.or(Some(key));
        }
        Some((bare(key), self.value()?))
    }
}

/// A value without the quotes of a text.
pub(super) fn bare(value: &[u8]) -> &[u8] {
    value.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(value)
}

/// A text with its escapes resolved; what is no JSON stays as it is written.
pub(super) fn text(value: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    if !value.contains(&b'\\') {
        return bare(value).into();
    }
    match serde_json::from_slice::<String>(value) {
        Ok(text) => text.into_bytes().into(),
        Err(_) => bare(value).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::full::tests::Interrupted;

    /// Gives a few bytes at a time, so that values straddle every border.
    struct Drops<'a>(&'a [u8], usize);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(self.0.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    fn list(text: &[u8], drop: usize) -> Result<Vec<Vec<u8>>, Stop> {
        let mut scanner = Scanner::new(Drops(text, drop));
        let mut found = Vec::new();
        assert!(scanner.mark(b'[')?);
        if scanner.mark(b']')? {
            return Ok(found);
        }
        loop {
            found.push(scanner.value()?.to_vec());
            if !scanner.more(b']')? {
                return Ok(found);
            }
        }
    }

    #[test]
    fn values_are_found_wherever_the_bytes_are_parted() {
        let text =
            b" [ {\"a\": \"}\\\"]\", \"b\": [1, {}]} , NaN,\"\\\\\", -1.5e3,[[]],\"\xff\\d\" ]";
        let values: [&[u8]; 6] = [
            b"{\"a\": \"}\\\"]\", \"b\": [1, {}]}",
            b"NaN",
            b"\"\\\\\"",
            b"-1.5e3",
            b"[[]]",
            b"\"\xff\\d\"",
        ];
        for drop in 1..=text.len() {
            assert_eq!(list(text, drop).unwrap(), values, "{drop}");
        }
        assert_eq!(list(b"[]", 1).unwrap().len(), 0);
        assert_eq!(list(b"[1,]", 1).unwrap(), [b"1"]);
    }

    /// A byte at a time, a signal before each.
    #[test]
    fn an_interrupted_read_goes_on() {
        let mut scanner = Scanner::new(Interrupted::new(b"[1, {}]", None));
        assert_eq!(scanner.value().unwrap(), b"[1, {}]");
        assert!(scanner.peek().unwrap().is_none());
    }

    #[test]
    fn a_document_that_breaks_off_or_is_damaged_says_so() {
        for text in ["[", "[1", "[1,", "[{\"a\": 1", "[\"a", "[\"a\\\""] {
            assert!(matches!(list(text.as_bytes(), 2), Err(Stop::Cut)), "{text}");
        }
        for text in ["[1 2]", "[1}", "[,1]", "[}"] {
            assert!(matches!(list(text.as_bytes(), 2), Err(Stop::Damaged(_))), "{text}");
        }
        let long = format!("[\"{}", "x".repeat(LONGEST_VALUE * 2 + 2 * CHUNK));
        assert!(matches!(list(long.as_bytes(), CHUNK), Err(Stop::Damaged(_))));
        let blanks = " \n".repeat(MOST_BLANKS / 2);
        assert_eq!(list(format!("[1,{blanks}2]").as_bytes(), CHUNK).unwrap(), [b"1", b"2"]);
        assert!(matches!(list(format!("[1,{blanks} 2]").as_bytes(), 7), Err(Stop::Damaged(_))));
    }

    #[test]
    fn the_place_of_each_value_is_known() {
        let text = b"[1,\n\n  \"a\nb\", {\n},7\n]";
        for drop in 1..=text.len() {
            let mut scanner = Scanner::new(Drops(text, drop));
            assert!(scanner.mark(b'[').unwrap());
            let mut places = Vec::new();
            loop {
                scanner.peek().unwrap();
                let Spot { line, column } = scanner.spot();
                places.push((line, column));
                scanner.value().unwrap();
                if !scanner.more(b']').unwrap() {
                    break;
                }
            }
            assert_eq!(places, [(1, 2), (3, 3), (4, 5), (5, 3)], "{drop}");
        }
    }

    #[test]
    fn members_and_items_are_taken_apart() {
        let object = b"{\"a b\" : [1, \"x\"],\"c\":{\"d\":null}, \"e\":-2}";
        let found: Vec<_> = members(object).collect();
        let expected: [(&[u8], &[u8]); 3] =
            [(b"a b", b"[1, \"x\"]"), (b"c", b"{\"d\":null}"), (b"e", b"-2")];
        assert_eq!(found, expected);
        let numbers: Vec<_> = items(b"[[1, 2],[], 3 ]").collect();
        let expected: [&[u8]; 3] = [b"[1, 2]", b"[]", b"3"];
        assert_eq!(numbers, expected);
        assert_eq!(members(b"7").count() + items(b"{}").count(), 0);
    }

    #[test]
    fn escapes_are_resolved_where_they_are_json() {
        assert_eq!(text(b"\"a\\u0041\\n\"").as_ref(), b"aA\n");
        assert_eq!(text(b"\"C:\\dir\"").as_ref(), b"C:\\dir");
        assert_eq!(text(b"\"\xff\"").as_ref(), b"\xff");
        assert_eq!(text(b"12").as_ref(), b"12");
    }
}
