//! The blocks of a table, from this thread or from several.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Block, Chunk, Cutter, Failure, Index, LONGEST_FIELD, Part, Spare, Splitter, Why};
use crate::ingest::pool::{Lost, Pool, Work};

/// Tables of up to this many bytes are not worth a thread. In tests small ones are large.
const SMALL: usize = if cfg!(test) { 1 << 16 } else { 8 << 20 };

/// What a thread makes of some rows of a block; the others, or all, are to be read in their order.
pub(in crate::ingest) type Understand =
    Box<dyn FnMut(&Block) -> Option<(Range<usize>, Part)> + Send>;

/// Gives blocks in order.
pub(super) enum Blocks {
    Here {
        splitter: Splitter,
        /// Bytes until other threads help, and how many do; `None` if they never do.
        left: Option<(usize, usize)>,
    },
    Shared(Shared),
    Ended,
}

/// What is asked of the threads that help.
struct Wanted {
    rows: AtomicBool,
    parts: AtomicBool,
}

/// A chunk that was taken apart.
struct Apart {
    block: Block,
    /// Whether the chunk ends with its last row, so that the next one begins with a row.
    is_in_step: bool,
    /// Why nothing could be read after it.
    failed: Option<io::Error>,
}

/// Blocks from several threads.
pub(super) struct Shared {
    pool: Pool<Chunk, Apart>,
    wanted: Arc<Wanted>,
    texts: Spare<Vec<u8>>,
    indexes: Spare<Index>,
    delimiter: u8,
    /// Lines of the table so far.
    lines: u64,
    /// Why nothing could be read after the last block.
    failed: Option<io::Error>,
}

impl Blocks {
    /// The blocks of a splitter; those of large tables come from so many threads.
    pub(super) fn new(splitter: Splitter, threads: usize) -> Self {
        Self::Here { splitter, left: (threads > 1).then_some((SMALL, threads)) }
    }

    /// Whether it is time for other threads to help.
    pub(super) fn is_large(&self) -> bool {
        matches!(self, Self::Here { left: Some((0, _)), .. })
    }

    /// Lets other threads help, as far as they are allowed; each makes of a block what is given for its
    /// number.
    pub(super) fn run_ahead(&mut self, understand: impl Fn(usize) -> Option<Understand>) {
        match std::mem::replace(self, Self::Ended) {
            Self::Here { splitter, left: Some((_, threads)) } => {
                *self = Self::Shared(Shared::new(splitter, threads, understand));
            }
            other => *self = other,
        }
    }

    /// Has no use for what other threads make of the rows.
    pub(super) fn read_alone(&mut self) {
        match self {
            Self::Shared(shared) => shared.wanted.parts.store(false, Ordering::Relaxed),
            Self::Here { .. } | Self::Ended => {}
        }
    }

    /// Replaces a block by the next one; false at the end.
    pub(super) fn next(&mut self, block: &mut Block) -> Result<bool, Failure> {
        if self.is_large() {
            self.run_ahead(|_| None);
        }
        let found = match self {
            Self::Here { splitter, left } => {
                let found = splitter.fill(block);
                if let Some((left, _)) = left {
                    *left = left.saturating_sub(block.length);
                }
                found
            }
            Self::Shared(shared) => match shared.next(block) {
                Ok(Some(is_some)) => Ok(is_some),
                Ok(None) => {
                    if let Self::Shared(shared) = std::mem::replace(self, Self::Ended) {
                        *self = Self::Here { splitter: shared.in_order(block), left: None };
                    }
                    return self.next(block);
                }
                Err(Lost) => Err(Failure { lines: shared.lines, why: Why::Stopped }),
            },
            Self::Ended => Ok(false),
        };
        if !matches!(found, Ok(true)) {
            *self = Self::Ended;
            *block = Block::default();
        }
        found
    }
}

impl Shared {
    fn new(
        splitter: Splitter,
        threads: usize,
        understand: impl Fn(usize) -> Option<Understand>,
    ) -> Self {
        let Splitter { source, delimiter, rest, lines, .. } = splitter;
        let (texts, indexes) = (Spare::default(), Spare::<Index>::default());
        let wanted = Arc::new(Wanted { rows: true.into(), parts: true.into() });
        let work = |number| -> Work<Chunk, Apart> {
            let (wanted, indexes) = (Arc::clone(&wanted), Spare::clone(&indexes));
            let mut understand = understand(number);
            Box::new(move |chunk| {
                let is_whole = chunk.is_whole() && chunk.length <= LONGEST_FIELD;
                let Chunk { buffer, length, is_last, failed } = chunk;
                let index = indexes.take();
                let mut block = Block { buffer, length, index, ..Block::default() };
                block.index.clear();
                let mut is_in_step = false;
                if is_whole && wanted.rows.load(Ordering::Relaxed) {
                    block.split(delimiter, is_last);
                    is_in_step = block.index.start == length;
                }
                if is_in_step && wanted.parts.load(Ordering::Relaxed) {
                    block.part = understand.as_mut().and_then(|of| of(&block));
                }
                Apart { block, is_in_step, failed }
            })
        };
        let mut cutter = Cutter::new(source, rest, true, texts.clone());
        let others = (1..threads).map(work).collect();
        let pool = Pool::start(Box::new(move || cutter.next()), work(0), others);
        Self { pool, wanted, texts, indexes, delimiter, lines, failed: None }
    }

    /// Replaces a block by the next one; false at the end, `None` if no thread knows where its rows begin.
    fn next(&mut self, block: &mut Block) -> Result<Option<bool>, Lost> {
        let Some(Apart { block: next, is_in_step, failed }) = self.pool.next()? else {
            return Ok(Some(false));
        };
        let old = std::mem::replace(block, next);
        self.texts.give(old.buffer);
        self.indexes.give(old.index);
        if !is_in_step {
            self.failed = failed;
            return Ok(None);
        }
        if !self.wanted.parts.load(Ordering::Relaxed) {
            block.part = None;
        }
        block.lines = self.lines;
        self.lines += u64::from(block.index.lines);
        Ok(Some(true))
    }

    /// A splitter for a block whose rows are against the rules, and for all that comes after it.
    fn in_order(self, block: &mut Block) -> Splitter {
        self.wanted.rows.store(false, Ordering::Relaxed);
        self.wanted.parts.store(false, Ordering::Relaxed);
        let (delimiter, lines) = (self.delimiter, self.lines);
        let source = Box::new(Rest { block: std::mem::take(block), at: 0, shared: self });
        Splitter { source, delimiter, rest: Vec::new(), lines, ended: false, failed: None }
    }
}

/// The texts of blocks one after the other.
struct Rest {
    block: Block,
    /// Bytes of the block that were read.
    at: usize,
    shared: Shared,
}

impl Read for Rest {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.block.length {
            if let Some(error) = self.shared.failed.take() {
                return Err(error);
            }
            self.at = 0;
            match self.shared.next(&mut self.block) {
                Ok(Some(false)) => {
                    self.block = Block::default();
                    return Ok(0);
                }
                Ok(_) => {}
                Err(Lost) => return Err(io::Error::other("the reading thread stopped")),
            }
        }
        let read = (&self.block.text()[self.at..]).read(buffer)?;
        self.at += read;
        Ok(read)
    }
}
