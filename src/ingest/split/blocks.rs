//! The blocks of a table, from this thread or from one that runs ahead.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::{Block, Failure, Splitter, Why};

/// Tables of up to this many bytes are not worth a thread.
const SMALL: usize = 8 * 1024 * 1024;

/// Blocks that are on their way at most.
const AHEAD: usize = 4;

/// Gives blocks in order.
pub(super) enum Blocks {
    Here {
        splitter: Splitter,
        /// Bytes until another thread takes over; `None` if it never does.
        left: Option<usize>,
    },
    Elsewhere {
        full: Receiver<Result<Option<Block>, Failure>>,
        empty: SyncSender<Block>,
    },
    Ended,
}

impl Blocks {
    /// The blocks of a splitter; those of large tables come from another thread if one is allowed.
    pub(super) fn new(splitter: Splitter, may_run_ahead: bool) -> Self {
        Self::Here { splitter, left: may_run_ahead.then_some(SMALL) }
    }

    /// Replaces a block by the next one; false at the end.
    pub(super) fn next(&mut self, block: &mut Block) -> Result<bool, Failure> {
        if matches!(self, Self::Here { left: Some(0), .. })
            && let Self::Here { splitter, .. } = std::mem::replace(self, Self::Ended)
        {
            *self = run_ahead(splitter);
        }
        let found = match self {
            Self::Here { splitter, left } => {
                let found = splitter.fill(block);
                *left = left.map(|left| left.saturating_sub(block.length));
                found
            }
            Self::Elsewhere { full, empty } => {
                let old = std::mem::take(block);
                // It has no use for blocks after its last one.
                let _ = empty.send(old);
                match full.recv() {
                    Ok(Ok(Some(next))) => {
                        *block = next;
                        Ok(true)
                    }
                    Ok(Ok(None)) => Ok(false),
                    Ok(Err(failure)) => Err(failure),
                    Err(_) => Err(Failure { lines: block.lines, why: Why::Stopped }),
                }
            }
            Self::Ended => Ok(false),
        };
        if !matches!(found, Ok(true)) {
            *self = Self::Ended;
            *block = Block::default();
        }
        found
    }
}

/// Lets another thread take the table apart; this one, if there is none to be had.
///
/// The thread is not waited for: it ends when nobody takes its blocks, and may hang in a pipe until then.
fn run_ahead(splitter: Splitter) -> Blocks {
    let (give, work) = sync_channel::<Splitter>(1);
    let (filled, full) = sync_channel(AHEAD);
    let (empty, blocks) = sync_channel::<Block>(AHEAD);
    let run = move || {
        let Ok(mut splitter) = work.recv() else { return };
        for mut block in blocks {
            let found = splitter.fill(&mut block).map(|is_some| is_some.then_some(block));
            let is_last = !matches!(found, Ok(Some(_)));
            if filled.send(found).is_err() || is_last {
                return;
            }
        }
    };
    let started = thread::Builder::new().name("rooflint-split".to_owned()).spawn(run);
    // Both channels have room for what is sent here.
    for _ in 1..AHEAD {
        let _ = empty.send(Block::default());
    }
    if started.is_err() {
        return Blocks::Here { splitter, left: None };
    }
    match give.send(splitter) {
        Ok(()) => Blocks::Elsewhere { full, empty },
        Err(unsent) => Blocks::Here { splitter: unsent.0, left: None },
    }
}
