//! Reads a partitioned launch table rank by rank, side by side, into one mergeable summary.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::manifest::{MANIFEST, Manifest, PartEntry};
use super::{rows, side_by_side};
use crate::analysis::{AnalysisError, CeilingSet, Options, Partial, RankFigures, RankId};
use crate::catalog::Catalog;
use crate::ingest::IngestError;
use crate::model::Profile;

/// One rank of a fleet.
#[derive(Debug, Clone, PartialEq)]
pub struct Rank {
    /// Run and number.
    pub id: RankId,
    /// Sums over its launches.
    pub figures: RankFigures,
}

/// Many ranks, merged.
pub struct Gathered {
    /// Sums by kernel.
    pub partial: Partial,
    /// The ranks by run and number.
    pub ranks: Vec<Rank>,
    /// What limits the comparison of the ranks, one sentence each.
    pub notes: Vec<String>,
    /// Rows of the launch table.
    pub rows: u64,
}

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
    let manifest = Manifest::read(folder)?.ok_or_else(|| {
        IngestError::new(folder.display(), format!("no {MANIFEST}, so this is not a whole table"))
            .help("convert the ranks again: rooflint convert FILE... -o FOLDER/")
    })?;
    agree(folder, &manifest)?;
    let ceilings = options.ceilings.unwrap_or(manifest.ceilings());
    let work = Work { folder, catalog, options, ceilings };
    let (merged, failed) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let next = AtomicUsize::new(0);
    side_by_side(threads, manifest.parts.len(), || {
        let (mut partial, mut ranks) = (Partial::default(), Vec::new());
        while let Some(part) = manifest.parts.get(next.fetch_add(1, Ordering::Relaxed)) {
            match work.rank(part) {
                Ok((one, rank)) => {
                    partial.merge(one);
                    ranks.push(rank);
                }
                Err(error) => {
                    // The others need not be read.
                    next.store(manifest.parts.len(), Ordering::Relaxed);
                    let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                    failed.push((part.path.clone(), error));
                }
            }
        }
        merged.lock().unwrap_or_else(PoisonError::into_inner).push((partial, ranks));
    });
    let mut failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.sort_by(|one, two| one.0.cmp(&two.0));
    if let Some((_, error)) = failed.into_iter().next() {
        return Err(error);
    }
    let (mut partial, mut ranks) = (Partial::default(), Vec::new());
    for (one, some) in merged.into_inner().unwrap_or_else(PoisonError::into_inner) {
        if one.kernels() > 0 {
            partial.merge(one);
        }
        ranks.extend(some);
    }
    ranks.sort_by(|one: &Rank, two| one.id.cmp(&two.id));
    let mut notes = gaps(ranks.iter().map(|rank| &rank.id));
    notes.extend(skewed(&manifest));
    notes.extend(other_devices(&ranks));
    let rows = manifest.parts.iter().map(|part| part.rows).sum();
    Ok(Gathered { partial: partial.ordered(), ranks, notes, rows })
}

/// Sums the launches of one rank that was read already.
///
/// # Errors
/// As [`scan`].
pub fn summarize(
    profile: &Profile,
    id: RankId,
    catalog: &Catalog,
    options: &Options,
) -> Result<Gathered, AnalysisError> {
    let partial = Partial::of(profile, &id, catalog, options, options.ceilings)?;
    let figures = partial.figures();
    let rows = profile.launches.len() as u64;
    Ok(Gathered {
        partial: partial.ordered(),
        ranks: vec![Rank { id, figures }],
        notes: Vec::new(),
        rows,
    })
}

struct Work<'a> {
    folder: &'a Path,
    catalog: &'a Catalog,
    options: &'a Options,
    ceilings: CeilingSet,
}

impl Work<'_> {
    fn rank(&self, part: &PartEntry) -> Result<(Partial, Rank), IngestError> {
        let path = self.folder.join(&part.path);
        let profile = rows::read(&path, part.rows)?;
        let id = RankId { run: part.run.as_str().into(), rank: part.rank };
        let partial = Partial::of(&profile, &id, self.catalog, self.options, Some(self.ceilings))
            .map_err(|error| {
            IngestError::new(path.display(), error.to_string()).help(error.help())
        })?;
        let figures = partial.figures();
        Ok((partial, Rank { id, figures }))
    }
}

/// Checks that the parts on the disk are those of the manifest, and no rank is there twice.
fn agree(folder: &Path, manifest: &Manifest) -> Result<(), IngestError> {
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
                return Err(error(message).help("convert again: only what is missing is converted"));
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
fn parts_on_disk(folder: &Path) -> Vec<std::path::PathBuf> {
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

/// Names the ranks that lack below the highest of each run.
pub(super) fn gaps<'a>(ids: impl Iterator<Item = &'a RankId>) -> Vec<String> {
    /// How many gaps are named.
    const NAMED: usize = 8;
    let mut runs: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for id in ids {
        runs.entry(&id.run).or_default().insert(id.rank);
    }
    let mut notes = Vec::new();
    for (run, ranks) in runs {
        let (mut missing, mut gaps, mut next) = (0, Vec::new(), 0);
        for rank in &ranks {
            if *rank > next {
                missing += rank - next;
                let last = rank - 1;
                gaps.push(if last == next {
                    format!("{next}")
                } else {
                    format!("{next}–{last}")
                });
            }
            next = rank.saturating_add(1);
        }
        if missing > 0 {
            let rest = gaps.len().saturating_sub(NAMED);
            gaps.truncate(NAMED);
            let rest = if rest > 0 { format!(" and {rest} more gaps") } else { String::new() };
            notes.push(format!(
                "run {run}: {missing} of {next} ranks are missing ({}{rest}); sums are those of the ranks that \
                 are there",
                gaps.join(", ")
            ));
        }
    }
    notes
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
        if let [shown, rest @ ..] = ranks.as_slice() {
            let more =
                if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            notes.push(format!(
                "run {run}: rank {shown}{more} ran at another time than most, by its own clock: the clocks of \
                 the machines differ, or it is of another run; durations are compared, starts are not"
            ));
        }
    }
    notes
}

/// Names ranks on other devices than most.
pub(super) fn other_devices(ranks: &[Rank]) -> Vec<String> {
    let Some(usual) = usual_devices(ranks) else { return Vec::new() };
    let others: Vec<&Rank> = ranks.iter().filter(|rank| rank.figures.devices != *usual).collect();
    let Some(first) = others.first() else { return Vec::new() };
    let more = match others.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    vec![format!(
        "rank {}{more} ran on {}, most ran on {}; kernels are summed for each device",
        first.id,
        first.figures.devices.join(", "),
        usual.join(", ")
    )]
}

/// Returns the devices that most ranks have.
pub(super) fn usual_devices(ranks: &[Rank]) -> Option<&Vec<String>> {
    let mut counts: BTreeMap<&Vec<String>, usize> = BTreeMap::new();
    for rank in ranks {
        *counts.entry(&rank.figures.devices).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(devices, _)| devices)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_ranks_are_named() {
        let ids: Vec<RankId> =
            [0, 1, 3, 7].map(|rank| RankId { run: "a".into(), rank }).into_iter().collect();
        let notes = gaps(ids.iter());
        assert!(notes[0].starts_with("run a: 4 of 8 ranks are missing (2, 4–6)"), "{notes:?}");
        assert!(gaps(ids[..2].iter()).is_empty());
    }
}
