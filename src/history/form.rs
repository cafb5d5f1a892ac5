//! Forms of a saved run: a JSON document for version control, a table for engines of SQL.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::compare::Run;
use crate::plain;

/// Form of a saved run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SavedAs {
    /// A JSON document, whose lines version control compares.
    Json,
    /// A table in Parquet with a row per kernel, which engines of SQL query.
    Parquet,
}

impl SavedAs {
    pub(super) const fn ending(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Parquet => "parquet",
        }
    }

    /// Returns the form of a file by its ending; `None` if it is no saved run.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        [Self::Json, Self::Parquet].into_iter().find(|form| form.ending() == ending)
    }

    /// Returns the content of a file with a run.
    pub(super) fn content(self, run: &Run) -> Result<Vec<u8>, String> {
        match self {
            Self::Json => Ok(run.json().into_bytes()),
            Self::Parquet => run.parquet(),
        }
    }

    /// Reads a saved run, and whether its content was checked against a fingerprint.
    pub(super) fn read(self, path: &Path) -> Result<(Run, bool), String> {
        let unread = |cause: io::Error| plain::io(&cause);
        match self {
            Self::Json => {
                let text = plain::text_of(path, plain::WRITTEN).map_err(unread)?;
                Run::from_sealed(&text).map_err(|why| match Run::from_document(&text) {
                    Ok(None) => format!("not a saved run: {why}"),
                    _ => why,
                })
            }
            Self::Parquet => Run::from_parquet(path).map(|run| (run, true)),
        }
    }

    /// Reads a saved run without its kernels, if that is possible.
    pub(super) fn read_head(self, path: &Path) -> Option<Run> {
        match self {
            Self::Json => {
                let (start, end) = ends(path).ok()?;
                Run::from_ends(&start, &end)
            }
            Self::Parquet => Run::from_parquet_head(path).ok(),
        }
    }
}

/// Returns the beginning and the end of a file as text.
fn ends(path: &Path) -> io::Result<(String, String)> {
    /// What comes before the kernels, and after them.
    const START: u64 = 64 << 10;
    const END: i64 = 1 << 10;

    let mut file = File::open(path)?;
    let (mut start, mut end) = (Vec::new(), Vec::new());
    file.by_ref().take(START).read_to_end(&mut start)?;
    let from = END.min(i64::try_from(file.metadata()?.len()).unwrap_or(END));
    file.seek(SeekFrom::End(-from))?;
    file.read_to_end(&mut end)?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((text(start), text(end)))
}
