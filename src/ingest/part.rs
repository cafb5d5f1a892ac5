//! What a thread has read of a table beside the one that reads the file.

use std::any::Any;

use crate::model::{Batch, Skips};

/// The launches of some rows in a row.
pub(super) struct Part {
    pub(super) batch: Batch,
    /// Number of the thread, whose parts share names.
    pub(super) thread: usize,
    /// Whether the thread forgot all names it had before.
    pub(super) is_first: bool,
    /// Rows and launches, as the source counts them.
    pub(super) counts: [u64; 2],
    /// What is skipped, with lines counted from the first row's.
    pub(super) skips: Skips,
    /// Lines of the file before the first row.
    pub(super) before: u64,
    /// Lines and cells in a row that led to no launch: before the first launch, and after the last.
    pub(super) idle: [u64; 2],
    /// What else the format keeps of them.
    pub(super) more: Box<dyn Any + Send>,
}
