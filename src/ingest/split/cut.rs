//! A table cut into chunks between its lines, for threads that take them apart.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use super::index::count;
use super::{BUFFER, LONGEST_ROW};
use crate::ingest::full::read_up_to;

/// Bytes of a chunk: enough to be worth its way to another thread and back. Tests see many of them.
const CHUNK: usize = if cfg!(test) { 1 << 12 } else { 2 * BUFFER };

/// A part of a text that ends with a line.
#[derive(Debug, Default)]
pub(in crate::ingest) struct Chunk {
    /// Memory for the text, which is not cleared for each chunk.
    pub(super) buffer: Vec<u8>,
    pub(super) length: usize,
    /// Whether nothing comes after it.
    pub(super) is_last: bool,
    /// Why nothing more could be read.
    pub(super) failed: Option<io::Error>,
}

impl Chunk {
    pub(in crate::ingest) fn text(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    /// Whether the text is all there is and ends with a line.
    pub(in crate::ingest) fn is_whole(&self) -> bool {
        self.failed.is_none() && (self.is_last || self.text().ends_with(b"\n"))
    }

    /// Its memory, for the next one.
    pub(in crate::ingest) fn memory(self) -> Vec<u8> {
        self.buffer
    }

    /// The error after the text, if there is one.
    pub(in crate::ingest) fn failure(&mut self) -> Option<io::Error> {
        self.failed.take()
    }
}

/// Memory of what has been read, for what comes.
#[derive(Debug)]
pub(in crate::ingest) struct Spare<T>(Arc<Mutex<Vec<T>>>);

impl<T> Default for Spare<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Clone for Spare<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: Default> Spare<T> {
    pub(in crate::ingest) fn give(&self, memory: T) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
    }

    pub(super) fn take(&self) -> T {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }
}

/// Cuts a source into chunks.
pub(in crate::ingest) struct Cutter {
    source: Box<dyn Read + Send>,
    /// What was read beyond the last chunk.
    rest: Vec<u8>,
    /// Whether a line may end inside of quotes, where no chunk should.
    has_quotes: bool,
    is_over: bool,
    spare: Spare<Vec<u8>>,
}

impl Cutter {
    /// Chunks of what was read already and of what is left of a source.
    pub(in crate::ingest) fn new(
        source: Box<dyn Read + Send>,
        rest: Vec<u8>,
        has_quotes: bool,
        spare: Spare<Vec<u8>>,
    ) -> Self {
        Self { source, rest, has_quotes, is_over: false, spare }
    }

    /// The next chunk; the last may be without an end of line.
    pub(in crate::ingest) fn next(&mut self) -> Option<Chunk> {
        if self.is_over {
            return None;
        }
        let mut chunk = Chunk { buffer: self.spare.take(), ..Chunk::default() };
        chunk.length = self.rest.len();
        chunk.buffer.resize(chunk.buffer.len().max(chunk.length), 0);
        chunk.buffer[..chunk.length].copy_from_slice(&self.rest);
        self.rest.clear();
        let mut size = CHUNK;
        loop {
            self.read_up_to(size, &mut chunk);
            if self.is_over {
                return Some(chunk);
            }
            if let Some(end) = self.end(chunk.text()) {
                self.rest.extend_from_slice(&chunk.text()[end..]);
                chunk.length = end;
                return Some(chunk);
            }
            if chunk.length > LONGEST_ROW {
                // Who reads it finds out what is wrong.
                return Some(chunk);
            }
            size = chunk.length * 2;
        }
    }

    fn read_up_to(&mut self, size: usize, chunk: &mut Chunk) {
        chunk.buffer.resize(chunk.buffer.len().max(size), 0);
        match read_up_to(&mut self.source, &mut chunk.buffer[..size], &mut chunk.length) {
            Ok(ended) => (self.is_over, chunk.is_last) = (ended, ended),
            Err(error) => (self.is_over, chunk.failed) = (true, Some(error)),
        }
    }

    /// Where the last line ends that has no open quote before it, if quotes are written by the rules.
    fn end(&self, text: &[u8]) -> Option<usize> {
        let line_feed = |text: &[u8]| text.iter().rposition(|byte| *byte == b'\n');
        if !self.has_quotes {
            return Some(line_feed(text)? + 1);
        }
        let mut end = text.len();
        let mut quotes = count(text, b'"');
        loop {
            let last = line_feed(&text[..end])? + 1;
            quotes -= count(&text[last..end], b'"');
            if quotes.is_multiple_of(2) {
                return Some(last);
            }
            end = last - 1;
        }
    }
}
