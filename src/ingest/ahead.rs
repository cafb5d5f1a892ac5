//! A source that is read, and decompressed, by a thread of its own.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Sources of up to this many bytes are not worth a thread.
const SMALL: usize = 8 * 1024 * 1024;

/// Bytes of a piece.
const PIECE: usize = 256 * 1024;

/// Pieces that are on their way at most.
const AHEAD: usize = 4;

type Source = Box<dyn Read + Send>;

/// Reads ahead of who reads it, once it has turned out to be large.
pub(super) struct Ahead {
    from: From,
    piece: Vec<u8>,
    at: usize,
}

enum From {
    Here { source: Source, left: usize },
    Elsewhere { full: Receiver<io::Result<Vec<u8>>>, empty: SyncSender<Vec<u8>> },
    Ended,
}

impl Ahead {
    pub(super) fn new(source: Source) -> Self {
        Self { from: From::Here { source, left: SMALL }, piece: Vec::new(), at: 0 }
    }

    /// The next piece; an empty one is the last.
    fn next(&mut self) -> io::Result<()> {
        let From::Elsewhere { full, empty } = &self.from else { return Ok(()) };
        // It has no use for pieces after its last one.
        let _ = empty.send(std::mem::take(&mut self.piece));
        self.at = 0;
        match full.recv() {
            Ok(Ok(piece)) => self.piece = piece,
            Ok(Err(error)) => {
                self.from = From::Ended;
                return Err(error);
            }
            Err(_) => {
                self.from = From::Ended;
                return Err(io::Error::other("the reading thread stopped"));
            }
        }
        if self.piece.is_empty() {
            self.from = From::Ended;
        }
        Ok(())
    }
}

impl Read for Ahead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if matches!(self.from, From::Here { left: 0, .. })
            && let From::Here { source, .. } = std::mem::replace(&mut self.from, From::Ended)
        {
            self.from = run(source);
        }
        if let From::Here { source, left } = &mut self.from {
            let read = source.read(buffer)?;
            *left = left.saturating_sub(read);
            return Ok(read);
        }
        if self.at == self.piece.len() {
            self.next()?;
        }
        let read = (&self.piece[self.at..]).read(buffer)?;
        self.at += read;
        Ok(read)
    }
}

/// Lets another thread read on; this one, if there is none to be had.
fn run(source: Source) -> From {
    let (give, work) = sync_channel::<Source>(1);
    let (filled, full) = sync_channel(AHEAD);
    let (empty, pieces) = sync_channel::<Vec<u8>>(AHEAD);
    let read = move || {
        let Ok(mut source) = work.recv() else { return };
        for mut piece in pieces {
            piece.clear();
            let read = source.by_ref().take(PIECE as u64).read_to_end(&mut piece);
            // What was read before an error comes first.
            let failed = read.err();
            let is_last = failed.is_some() || piece.is_empty();
            let sent =
                if failed.is_some() && piece.is_empty() { Ok(()) } else { filled.send(Ok(piece)) };
            if let Some(error) = failed {
                let _ = filled.send(Err(error));
            }
            if sent.is_err() || is_last {
                return;
            }
        }
    };
    let started = thread::Builder::new().name("rooflint-read".to_owned()).spawn(read);
    // Both channels have room for what is sent here.
    for _ in 1..AHEAD {
        let _ = empty.send(Vec::new());
    }
    if started.is_err() {
        return From::Here { source, left: usize::MAX };
    }
    match give.send(source) {
        Ok(()) => From::Elsewhere { full, empty },
        Err(unsent) => From::Here { source: unsent.0, left: usize::MAX },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_source_comes_whole_and_its_error_last() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let bytes: Vec<u8> = (0..SMALL + 3 * PIECE + 17).map(|at| (at % 251) as u8).collect();
        let mut all = Vec::new();
        Ahead::new(Box::new(io::Cursor::new(bytes.clone()))).read_to_end(&mut all).unwrap();
        assert_eq!(all, bytes);
        all.clear();
        let mut ahead = Ahead::new(Box::new(io::Cursor::new(bytes.clone()).chain(Broken)));
        let error = ahead.read_to_end(&mut all).unwrap_err();
        assert_eq!((all == bytes, error.to_string().as_str()), (true, "broken"));
        assert_eq!(ahead.read(&mut [0]).unwrap(), 0);
    }
}
