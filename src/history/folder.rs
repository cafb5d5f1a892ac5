//! The folder of a store: its marker, and what is in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::HistoryError;
use super::form::SavedAs;
use super::layout::{STORE_SCHEMA, is_name};
use crate::plain;

#[derive(Deserialize)]
struct Marker {
    schema: String,
}

/// Whether a folder has no files, as before the first save or after one that was interrupted.
pub(super) fn is_bare(folder: &Path) -> io::Result<bool> {
    let is_unfinished = |path: &Path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".tmp"))
    };
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let has_files = || -> io::Result<bool> {
            let mut files = fs::read_dir(&path)?.flatten();
            Ok(files.any(|file| !is_unfinished(&file.path())))
        };
        if !is_unfinished(&path) && (!path.is_dir() || has_files()?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a file is a saved run.
fn is_saved(path: &Path) -> bool {
    SavedAs::of(path).is_some_and(|form| path.is_file() && form.read_head(path).is_some())
}

/// Whether a folder within a store is that of a baseline, of which all runs may have been removed.
#[must_use]
pub fn is_baseline(folder: &Path) -> bool {
    sorted(folder).is_ok_and(|files| files.is_empty() || files.iter().any(|file| is_saved(file)))
}

/// Whether a folder has saved runs in a folder with the name of a baseline, as a store has.
pub(super) fn has_saved_runs(folder: &Path) -> bool {
    let is_baseline = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(is_name)
            && sorted(path).is_ok_and(|files| files.iter().any(|file| is_saved(file)))
    };
    sorted(folder).is_ok_and(|all| all.iter().any(|path| path.is_dir() && is_baseline(path)))
}

/// Checks that a marker file is that of a known layout.
pub(super) fn check_marker(path: &Path) -> Result<(), HistoryError> {
    let wrong = |message: String| HistoryError::Marker { path: path.to_owned(), message };
    let text = fs::read_to_string(path)
        .map_err(|cause| HistoryError::Read { path: path.to_owned(), cause })?;
    let marker: Marker = toml::from_str(&text).map_err(|error| {
        let fault = plain::toml(&text, &error);
        wrong(format!("line {}: {}", fault.line, fault.message))
    })?;
    if marker.schema == STORE_SCHEMA {
        Ok(())
    } else {
        Err(wrong(format!("unsupported schema {:?} (expected {STORE_SCHEMA:?})", marker.schema)))
    }
}

/// Returns the contents of a folder, sorted by name.
pub(super) fn sorted(folder: &Path) -> Result<Vec<PathBuf>, HistoryError> {
    let failed = |cause| HistoryError::Read { path: folder.to_owned(), cause };
    let files = fs::read_dir(folder).map_err(failed)?;
    let files: io::Result<Vec<PathBuf>> = files.map(|file| Ok(file?.path())).collect();
    let mut files = files.map_err(failed)?;
    files.sort();
    Ok(files)
}
