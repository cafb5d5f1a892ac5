//! Files that are being written and have no name of their own yet: none of them stays behind an interrupt.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Those of this process.
static FILES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A temporary file, until this is dropped: it has its name then, or was removed.
#[derive(Debug)]
pub(crate) struct Unfinished(PathBuf);

impl Unfinished {
    /// Notes a file that is being written.
    #[cfg(feature = "gate")]
    pub(crate) fn new(path: &Path) -> Self {
        let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        files.insert(path.to_owned());
        Self(path.to_owned())
    }

    /// Makes a file with a name that is known only when it is there; an interrupt meanwhile waits for it.
    #[cfg(any(feature = "cli", feature = "sqlite"))]
    pub(crate) fn making<T>(
        make: impl FnOnce() -> std::io::Result<T>,
        path: impl FnOnce(&T) -> &Path,
    ) -> std::io::Result<(T, Self)> {
        let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        let file = make()?;
        let path = path(&file).to_owned();
        files.insert(path.clone());
        Ok((file, Self(path)))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
        files.remove(&self.0);
    }
}

/// Removes all of them. Nothing more is written after it: the lock is kept until the process ends.
#[cfg(all(unix, feature = "cli"))]
pub(crate) fn remove_all() {
    let files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    for file in files.iter() {
        // One that cannot be removed, or has its name by now, does not keep the process.
        let _ = std::fs::remove_file(file);
    }
    std::mem::forget(files);
}
