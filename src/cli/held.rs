//! What another program in the same process gives to a command: content in memory, and a way to stop it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::compare::Run;

/// Inputs that are in memory, by the names that stand for them among the files of a command.
#[derive(Debug, Clone, Default)]
pub struct Held {
    /// Exports, as they would be in files.
    pub bytes: BTreeMap<PathBuf, Arc<[u8]>>,
    /// Runs that were judged before.
    pub runs: BTreeMap<PathBuf, Run>,
    /// How many of the files of a comparison are runs of the baseline.
    pub earlier: usize,
    /// Stops the reading once it is true.
    pub stop: Arc<AtomicBool>,
}

impl Held {
    /// Returns `true` if this name stands for something in memory.
    #[must_use]
    pub fn holds(&self, name: &Path) -> bool {
        self.bytes.contains_key(name) || self.runs.contains_key(name)
    }
}
