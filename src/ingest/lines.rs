//! Lines of a large file, some of which other threads have read.

use std::io::{self, BufRead, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::part::Part;
use super::pool::{Lost, Pool, Work};
use super::split::{Chunk, Cutter, Spare, line_feeds};

/// What a thread makes of the lines of a text; `None` if they are to be read in their order.
pub(super) type Understand = Box<dyn FnMut(&[u8]) -> Option<Part> + Send>;

/// A chunk with what a thread made of it.
struct Understood {
    chunk: Chunk,
    part: Option<Part>,
}

/// Gives parts where there are some, and lines where there are none.
pub(super) struct Lines {
    pool: Pool<Chunk, Understood>,
    spare: Spare<Vec<u8>>,
    is_wanted: Arc<AtomicBool>,
    now: Understood,
    /// Bytes of the chunk that were read.
    at: usize,
    is_over: bool,
}

impl Lines {
    /// The lines of what was read ahead and of what is left of a source.
    pub(super) fn new(
        source: Box<dyn Read + Send>,
        rest: Vec<u8>,
        threads: usize,
        understand: impl Fn(usize) -> Understand,
    ) -> Self {
        let spare = Spare::default();
        let is_wanted = Arc::new(AtomicBool::new(true));
        let work = |number| -> Work<Chunk, Understood> {
            let (is_wanted, mut understand) = (Arc::clone(&is_wanted), understand(number));
            Box::new(move |chunk| {
                let can_be = chunk.is_whole() && is_wanted.load(Ordering::Relaxed);
                let part = can_be.then(|| understand(chunk.text())).flatten();
                Understood { chunk, part }
            })
        };
        let mut cutter = Cutter::new(source, rest, false, spare.clone());
        let others = (1..threads).map(work).collect();
        let pool = Pool::start(Box::new(move || cutter.next()), work(0), others);
        let now = Understood { chunk: Chunk::default(), part: None };
        Self { pool, spare, is_wanted, now, at: 0, is_over: false }
    }

    /// What the next lines came to, and their number; `None` where they are to be read.
    pub(super) fn part(&mut self) -> io::Result<Option<(Part, u64)>> {
        if self.at < self.now.chunk.text().len() {
            return Ok(None);
        }
        self.turn()?;
        let part = self.now.part.take().filter(|_| self.is_wanted.load(Ordering::Relaxed));
        let Some(part) = part else { return Ok(None) };
        let text = self.now.chunk.text();
        self.at = text.len();
        let is_open = !text.is_empty() && !text.ends_with(b"\n");
        Ok(Some((part, (line_feeds(text) + usize::from(is_open)) as u64)))
    }

    /// Lines mean something else from here on: whatever other threads make of them is not used.
    pub(super) fn read_alone(&mut self) {
        self.is_wanted.store(false, Ordering::Relaxed);
    }

    /// Takes the next chunk, which has no text at the end.
    fn turn(&mut self) -> io::Result<()> {
        while self.at == self.now.chunk.text().len() && !self.is_over {
            if let Some(error) = self.now.chunk.failure() {
                self.is_over = true;
                return Err(error);
            }
            self.at = 0;
            let next = self.pool.next();
            let next = next.map_err(|Lost| io::Error::other("the reading thread stopped"))?;
            self.is_over = next.is_none();
            let none = || Understood { chunk: Chunk::default(), part: None };
            let old = std::mem::replace(&mut self.now, next.unwrap_or_else(none));
            self.spare.give(old.chunk.memory());
        }
        Ok(())
    }
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Lines {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.turn()?;
        Ok(&self.now.chunk.text()[self.at..])
    }

    fn consume(&mut self, read: usize) {
        self.at += read;
    }
}

/// Appends what comes up to the end of a line and with it, so many bytes at most; returns how many those are.
///
/// `BufRead::read_until` does the same, and takes three times as long to find the end.
pub(super) fn append_line(
    source: &mut impl BufRead,
    most: usize,
    line: &mut Vec<u8>,
) -> io::Result<usize> {
    let mut read = 0;
    loop {
        let ready = match source.fill_buf() {
            Ok(ready) => &ready[..ready.len().min(most - read)],
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = memchr::memchr(b'\n', ready).map(|at| at + 1);
        let (used, is_over) = (end.unwrap_or(ready.len()), end.is_some() || ready.is_empty());
        line.extend_from_slice(&ready[..used]);
        source.consume(used);
        read += used;
        if is_over {
            return Ok(read);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lines_are_those_of_the_standard_library(
            text in "[a\n]{0,40}",
            capacity in 1..9_usize,
            most in 1..12_usize,
        ) {
            let mut ours = BufReader::with_capacity(capacity, text.as_bytes());
            let mut theirs = text.as_bytes();
            let (mut line, mut reference) = (Vec::new(), Vec::new());
            loop {
                let read = append_line(&mut ours, most, &mut line).unwrap();
                let known = theirs.by_ref().take(most as u64).read_until(b'\n', &mut reference).unwrap();
                prop_assert_eq!((read, &line), (known, &reference));
                if read == 0 {
                    break;
                }
            }
        }
    }
}
