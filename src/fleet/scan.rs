//! Reads a partitioned launch table rank by rank, side by side, into one mergeable summary.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::manifest::{Manifest, PartEntry};
use super::ranks::{Gathered, Rank, merged};
use super::rows::Rows;
use crate::analysis::{CeilingSet, Options, Partial, RankId};
use crate::catalog::Catalog;
use crate::ingest::IngestError;
use crate::model::Profile;
use crate::table::parts::Part;

/// What to do about a part that cannot be used.
const AGAIN: &str = "remove the file and convert the rank again";

/// Reads every part of a partitioned launch table; at any time one rank per thread is in memory.
///
/// # Errors
/// [`IngestError`] if the table has no manifest or does not agree with it, or a part cannot be read: nothing is
/// merged that was not converted whole.
pub fn scan(
    folder: &Path,
    catalog: &Catalog,
    options: &Options,
    threads: usize,
) -> Result<Gathered, IngestError> {
    let manifest = Manifest::of(folder)?;
    agree(folder, &manifest)?;
    let ceilings = options.ceilings.unwrap_or(manifest.ceilings());
    let work = Work { folder, catalog, options, ceilings };
    let whole = merged(&manifest.parts, threads, |_, part| work.rank(part))?;
    let rows = manifest.parts.iter().map(|part| part.rows).sum();
    let mut gathered = Gathered::of(whole, rows, catalog);
    gathered.notes.extend(skewed(&manifest));
    Ok(gathered)
}

struct Work<'a> {
    folder: &'a Path,
    catalog: &'a Catalog,
    options: &'a Options,
    ceilings: CeilingSet,
}

impl Work<'_> {
    fn rank(&self, part: &PartEntry) -> Result<(Partial, Vec<Rank>), IngestError> {
        let path = self.folder.join(&part.path);
        let profile = read(&path, part.rows)?;
        let id = RankId { run: part.run.as_str().into(), rank: part.rank };
        let device = part.device(self.options.device.as_deref()).map(str::to_owned);
        let options = Options { device, ..self.options.clone() };
        let partial = Partial::of(&profile, &id, self.catalog, &options, Some(self.ceilings))
            .map_err(|error| {
                IngestError::new(path.display(), error.to_string()).help(error.help())
            })?;
        let positions = part.positions.iter();
        let positions = positions.map(|(axis, at)| (axis.as_str().into(), *at)).collect();
        let figures = partial.figures();
        let halved = partial.halved_reads().map(str::to_owned);
        let checks = profile.checks.iter().cloned().chain(halved).collect();
        Ok((partial, vec![Rank { id, figures, positions, checks }]))
    }
}

/// Reads a part, one row group after the other.
///
/// # Errors
/// [`IngestError`] if it is damaged, of another schema, or has not so many rows as the manifest says.
pub(super) fn read(path: &Path, expected: u64) -> Result<Profile, IngestError> {
    let error = |message: String| IngestError::new(path.display(), message).help(AGAIN);
    let part = Part::open(path).map_err(|cause| error(cause.to_string()))?;
    if part.height() as u64 != expected {
        let message = format!("has {} rows, the manifest says {expected}", part.height());
        return Err(error(message));
    }
    let mut rows = Rows::with_metadata(&part.metadata);
    let mut is_whole = true;
    part.each(|group| is_whole &= rows.add(group)).map_err(|cause| error(cause.to_string()))?;
    if !is_whole {
        return Err(error("has values that a launch table cannot have".to_owned()));
    }
    Ok(rows.finish())
}

/// Checks that the parts on the disk are those of the manifest, and no rank is there twice.
pub(super) fn agree(folder: &Path, manifest: &Manifest) -> Result<(), IngestError> {
    let mut paths = BTreeSet::new();
    let mut ranks = BTreeMap::new();
    let mut contents = BTreeMap::new();
    for part in &manifest.parts {
        let path = folder.join(&part.path);
        let error = |message: String| IngestError::new(path.display(), message);
        if let Some(other) = ranks.insert((&part.run, part.rank), &part.path) {
            let message = format!("rank {} of run {} twice: {other}", part.rank, part.run);
            return Err(error(message)
                .help("remove one of the two, or convert it as another run: --run NAME"));
        }
        for source in &part.sources {
            let key = (&part.run, &source.sha256);
            if let Some(other) = contents.insert(key, part.rank).filter(|other| *other != part.rank)
            {
                let message = format!("rank {} has the content of rank {other}", part.rank);
                return Err(error(message).help("convert the rank again from its own export"));
            }
        }
        let size = fs::metadata(&path).map(|file| file.len());
        match size {
            Ok(size) if size == part.bytes => {}
            Ok(size) => {
                let message = format!("has {size} bytes, the manifest says {}", part.bytes);
                return Err(
                    error(message).help("convert again: only what is not whole is converted")
                );
            }
            Err(_) => {
                let message = "in the manifest, but not on the disk".to_owned();
                let help = if folder.join(format!("run={}", part.run)).exists() {
                    "convert again: only what is missing is converted"
                } else {
                    "the folder of its run is gone: convert again, or, if it was removed on purpose, convert \
                     another run, and the table no longer lists it"
                };
                return Err(error(message).help(help));
            }
        }
        paths.insert(path);
    }
    for path in parts_on_disk(folder) {
        if !paths.contains(&path) {
            let message =
                "not in the manifest: convert was interrupted, or the file does not belong here";
            return Err(
                IngestError::new(path.display(), message).help("convert again, or remove the file")
            );
        }
    }
    Ok(())
}

/// Finds `run=*/rank=*/*.parquet`.
fn parts_on_disk(folder: &Path) -> Vec<PathBuf> {
    let inside = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let is_called = |path: &Path, start: &str| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start))
    };
    let runs = inside(folder).into_iter().filter(|path| is_called(path, "run="));
    let ranks = runs.flat_map(|run| inside(&run)).filter(|path| is_called(path, "rank="));
    let mut files: Vec<_> = ranks
        .flat_map(|rank| inside(&rank))
        .filter(|path| {
            path.extension().is_some_and(|end| end == "parquet") && !is_called(path, ".")
        })
        .collect();
    files.sort();
    files
}

/// Names ranks whose launches do not overlap those of the others in time.
fn skewed(manifest: &Manifest) -> Vec<String> {
    let mut runs: BTreeMap<&str, Vec<(u64, u64, u64)>> = BTreeMap::new();
    for part in &manifest.parts {
        if let (Some(first), Some(last)) = (part.first_start_ns, part.last_end_ns) {
            runs.entry(&part.run).or_default().push((first, last, part.rank));
        }
    }
    let mut notes = Vec::new();
    for (run, mut spans) in runs {
        spans.sort_unstable();
        let (first, last, _) = spans[spans.len() / 2];
        let outside = spans.iter().filter(|span| span.1 < first || span.0 > last);
        let ranks: Vec<String> = outside.map(|span| span.2.to_string()).collect();
        let [shown, rest @ ..] = ranks.as_slice() else { continue };
        let (who, or) = if 2 * ranks.len() >= spans.len() {
            let all = spans.len();
            (
                format!("its {all} ranks did not run at the same time, by their own clocks"),
                "they are of several runs",
            )
        } else {
            let more =
                if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            (
                format!("rank {shown}{more} ran at another time than most, by its own clock"),
                "it is of another run",
            )
        };
        notes.push(format!(
            "run {run}: {who}: the clocks of the machines differ, or {or}; durations are compared, starts are not"
        ));
    }
    notes
}
