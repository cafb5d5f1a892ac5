//! The container: a file header, then blocks of a header and a payload of entries. Nothing is aligned or compressed,
//! and there is no index, checksum or mark of the end.

use std::io::{self, Read};

use prost::Message;

use super::wire::{BlockHeader, FileHeader, LaunchResult};
use crate::ingest::import::REPORT;

/// The version of the format that every report has had.
pub(super) const VERSION: u32 = 7;

/// A file header has 2 bytes; more than this is none.
const LARGEST_HEADER: u32 = 64 << 10;

/// The largest result seen has 1.9 MB.
const LARGEST_RESULT: u32 = 512 << 20;

/// Reads a report from its beginning to its end.
pub(super) struct Blocks<R> {
    input: R,
    /// Bytes read so far.
    at: u64,
}

/// What a file begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// A header of this version; none where it does not say.
    Version(Option<u32>),
    /// No header that can be read.
    Damaged,
}

/// What comes next in a file.
pub(super) enum Next {
    Block(Box<Block>),
    /// The file ends here, as it should.
    End,
    /// The file breaks off in a block that begins at this byte.
    Cut(u64),
}

/// A block with its launches.
pub(super) struct Block {
    /// The byte at which it begins.
    pub(super) begin: u64,
    pub(super) header: BlockHeader,
    pub(super) launches: Vec<LaunchResult>,
    /// What is wrong with it, and at which byte.
    pub(super) damage: Option<(u64, String)>,
    /// Launches that its header counts and that could not be read; no more than fit into the bytes that are there.
    pub(super) lost: u32,
    /// Whether the file ends within it.
    pub(super) is_cut: bool,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, at: 0 }
    }

    /// Reads what stands before the blocks.
    pub(super) fn start(&mut self) -> io::Result<Start> {
        let Some(magic) = self.take(4)? else { return Ok(Start::Damaged) };
        let Some(size) = self.size()? else { return Ok(Start::Damaged) };
        if magic != REPORT || size == 0 || size > LARGEST_HEADER {
            return Ok(Start::Damaged);
        }
        let Some(header) = self.take(size)? else { return Ok(Start::Damaged) };
        let header = FileHeader::decode(header.as_slice());
        Ok(header.map_or(Start::Damaged, |header| Start::Version(header.version)))
    }

    /// Reads the next block.
    pub(super) fn next(&mut self) -> io::Result<Next> {
        let begin = self.at;
        let Some(size) = self.size()? else {
            return Ok(if self.at == begin { Next::End } else { Next::Cut(begin) });
        };
        let Some(bytes) = self.take(size)? else { return Ok(Next::Cut(begin)) };
        // Where the payload of a damaged header ends is not known: nothing after it can be found.
        let Ok(header) = BlockHeader::decode(bytes.as_slice()) else {
            return Ok(Next::Cut(begin));
        };
        self.payload(begin, header).map(|block| Next::Block(Box::new(block)))
    }

    /// Reads the launches of a payload and skips the rest: sources hold the machine code, most of the bytes.
    fn payload(&mut self, begin: u64, header: BlockHeader) -> io::Result<Block> {
        let mut left = u64::from(header.payload);
        let (first, results) = (header.sources, header.results);
        let launches = Vec::new();
        let mut block = Block { begin, header, launches, damage: None, lost: 0, is_cut: false };
        let start = self.at;
        let mut entry = 0;
        while left > 0 && block.damage.is_none() && !block.is_cut {
            let begin = self.at;
            if left < 4 {
                block.damage = Some((begin, "bytes are left in its payload".to_owned()));
                break;
            }
            let Some(size) = self.size()? else {
                block.is_cut = true;
                break;
            };
            left -= 4;
            if u64::from(size) > left {
                block.damage = Some((begin, "an entry is longer than its payload".to_owned()));
                break;
            }
            left -= u64::from(size);
            let is_launch = entry >= first && entry - first < results;
            entry += 1;
            if !is_launch || size > LARGEST_RESULT {
                block.is_cut = !self.skip(u64::from(size))?;
                continue;
            }
            let Some(bytes) = self.take(size)? else {
                block.is_cut = true;
                break;
            };
            match LaunchResult::decode(bytes.as_slice()) {
                Ok(launch) => block.launches.push(launch),
                Err(error) => block.damage = Some((begin, error.to_string())),
            }
        }
        if block.damage.is_some() {
            block.is_cut = !self.skip(left)?;
        }
        let missing = u64::from(results).saturating_sub(block.launches.len() as u64);
        if block.damage.is_none() && missing > 0 && !block.is_cut {
            block.damage = Some((self.at, "it has fewer launches than its header says".to_owned()));
        }
        // The header may count anything: an entry has at least its size, and those of sources come first.
        let entries = ((self.at - start) / 4).saturating_sub(u64::from(first));
        let room = entries.saturating_sub(block.launches.len() as u64);
        block.lost = u32::try_from(missing.min(room)).unwrap_or(u32::MAX);
        Ok(block)
    }

    /// The next four bytes as a number; none at the end of the file.
    fn size(&mut self) -> io::Result<Option<u32>> {
        let bytes = self.take(4)?;
        Ok(bytes.and_then(|bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?))))
    }

    /// So many bytes; none if the file ends before. A size that is wrong takes no more memory than the
    /// file has bytes.
    fn take(&mut self, count: u32) -> io::Result<Option<Vec<u8>>> {
        let mut bytes = Vec::new();
        let read = self.input.by_ref().take(u64::from(count)).read_to_end(&mut bytes)?;
        self.at += read as u64;
        Ok((bytes.len() as u64 == u64::from(count)).then_some(bytes))
    }

    /// Skips so many bytes; whether they were there.
    fn skip(&mut self, count: u64) -> io::Result<bool> {
        let skipped = io::copy(&mut self.input.by_ref().take(count), &mut io::sink())?;
        self.at += skipped;
        Ok(skipped == count)
    }
}
