//! Runs of a partitioned launch table: each over all its ranks, for comparisons and histories.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::jobs::side_by_side;
use super::manifest::{MANIFEST, Manifest, PartEntry, ceilings};
use super::scan::{agree, read};
use crate::compare::{OverRanks, Run};
use crate::ingest::IngestError;
use crate::plain::natural;
use crate::session::{Session, SessionError};

/// Runs of a partitioned launch table, and notes on how they were judged.
#[derive(Debug, Default)]
pub struct Runs {
    /// The name of each run in the table, with the run.
    pub runs: Vec<(String, Run)>,
    /// Expired waivers, one sentence each.
    pub caveats: Vec<String>,
}

/// A run that a partitioned launch table lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub name: String,
    /// Names of its devices.
    pub devices: BTreeSet<String>,
    /// Whether any of its launches has a duration.
    pub is_timed: bool,
}

/// Returns the folder of the partitioned table that a path is, and of the run in it if the path is that of a run
/// (`launches/run=NAME`); `None` for anything else.
#[must_use]
pub fn partitioned(path: &Path) -> Option<(PathBuf, Option<String>)> {
    let is_table = |folder: &Path| folder.join(MANIFEST).is_file();
    if is_table(path) {
        return Some((path.to_owned(), None));
    }
    let run = path.file_name()?.to_str()?.strip_prefix("run=")?;
    let folder = match path.parent()? {
        here if here.as_os_str().is_empty() => Path::new("."),
        folder => folder,
    };
    is_table(folder).then(|| (folder.to_owned(), Some(run.to_owned())))
}

/// Lists the runs of a partitioned launch table in the order of their names, numbers by value; only its manifest is read.
///
/// # Errors
/// [`IngestError`] if the manifest cannot be read, or has no runs.
pub fn listed(folder: &Path) -> Result<Vec<Listed>, IngestError> {
    let manifest = Manifest::of(folder)?;
    let mut runs: BTreeMap<&str, (BTreeSet<String>, bool)> = BTreeMap::new();
    for part in &manifest.parts {
        let (names, is_timed) = runs.entry(&part.run).or_default();
        let devices = part.devices.iter().filter_map(|key| manifest.devices.get(key));
        names.extend(devices.map(|device| device.name.clone()));
        *is_timed |= part.timed_rows > 0;
    }
    if runs.is_empty() {
        return Err(without_runs(folder));
    }
    let listed = runs.into_iter().map(|(name, (devices, is_timed))| {
        let name = name.to_owned();
        Listed { name, devices, is_timed }
    });
    let mut listed: Vec<Listed> = listed.collect();
    listed.sort_by_cached_key(|run| natural(&run.name));
    Ok(listed)
}

fn without_runs(folder: &Path) -> IngestError {
    IngestError::new(folder.display(), "the table has no runs: its manifest lists no parts")
        .help("convert exports into it: rooflint convert FILE... -o FOLDER/")
}

/// Reads the runs of a partitioned launch table, or the one of this name, in the order of their names, numbers by value.
/// Ranks are read and judged side by side; one per thread is in memory at a time.
///
/// Without ceilings in the options, `auto` is resolved for each run. Each rank is judged alone: `warmup` first launches
/// of each kernel in each rank are left out of its times. Sums are those of all ranks; of a kernel with more than 64
/// launches, quantiles are made of those of its ranks, mean clocks are weighted by timed launches, and it has the
/// findings of any of its ranks.
///
/// # Errors
/// [`IngestError`] if the table has no manifest or does not agree with it, no runs or none of this name, a part
/// cannot be read or judged, or its rows are sums of the launches that `warmup` is to leave out.
pub fn runs(
    folder: &Path,
    name: Option<&str>,
    session: &Session,
    (warmup, threads): (u32, usize),
) -> Result<Runs, IngestError> {
    let manifest = Manifest::of(folder)?;
    agree(folder, &manifest)?;
    let mut parts: BTreeMap<&str, Vec<&PartEntry>> = BTreeMap::new();
    for part in &manifest.parts {
        parts.entry(&part.run).or_default().push(part);
    }
    if parts.is_empty() {
        return Err(without_runs(folder));
    }
    if let Some(name) = name
        && !parts.contains_key(name)
    {
        let names: Vec<&str> = parts.into_keys().collect();
        let message = format!("has no run {name:?}");
        return Err(IngestError::new(folder.display(), message)
            .help(format!("its runs: {}", names.join(", "))));
    }
    let mut parts: Vec<(&str, Vec<&PartEntry>)> = parts.into_iter().collect();
    parts.sort_by_cached_key(|(name, _)| natural(name));
    let mut all = Runs::default();
    for (of, parts) in parts {
        if name.is_none_or(|name| name == of) {
            // Other runs of the table may lack the clock that its ceilings need.
            let mut session = session.clone();
            session.options.ceilings.get_or_insert(ceilings(parts.iter().copied()));
            let job = Job { folder, parts, session: &session, warmup };
            let label = folder.join(format!("run={of}")).display().to_string();
            if let Some(run) = job.run(label, threads, &mut all.caveats)? {
                all.runs.push((of.to_owned(), run));
            }
        }
    }
    Ok(all)
}

/// The ranks of a run.
struct Job<'a> {
    folder: &'a Path,
    parts: Vec<&'a PartEntry>,
    session: &'a Session,
    warmup: u32,
}

/// The ranks of a run that were read, in order but for those that others wait for.
#[derive(Default)]
struct Queue {
    next: usize,
    waiting: BTreeMap<usize, Run>,
    over_ranks: OverRanks,
    /// Expired waivers, each with the first rank that has it.
    caveats: BTreeMap<String, usize>,
}

impl Job<'_> {
    fn run(
        &self,
        label: String,
        threads: usize,
        caveats: &mut Vec<String>,
    ) -> Result<Option<Run>, IngestError> {
        let queue = Mutex::new(Queue::default());
        side_by_side(threads, &self.parts, |(): &mut (), at, part| {
            let (run, caveats) = self.rank(part)?;
            queue.lock().unwrap_or_else(PoisonError::into_inner).add(at, run, caveats);
            Ok(())
        })?;
        let queue = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut waivers: Vec<(String, usize)> = queue.caveats.into_iter().collect();
        waivers.sort_by_key(|(_, rank)| *rank);
        for (sentence, _) in waivers {
            if !caveats.contains(&sentence) {
                caveats.push(sentence);
            }
        }
        Ok(queue.over_ranks.finish(label))
    }

    fn rank(&self, part: &PartEntry) -> Result<(Run, Vec<String>), IngestError> {
        let path = self.folder.join(&part.path);
        let profile = read(&path, part.rows)?;
        let device = part.device(self.session.options.device.as_deref());
        let session = self.session.clone().on(device.map(str::to_owned));
        let failed = |error: SessionError| {
            let help = error.help();
            let error = IngestError::new(path.display(), error.to_string());
            help.into_iter().fold(error, IngestError::help)
        };
        let judged = session.judge(&profile).map_err(failed)?;
        let mut run = judged.warm_run(self.warmup).map_err(failed)?;
        run.ranks.insert(part.rank.to_string(), run.launches);
        Ok((run, judged.caveats()))
    }
}

impl Queue {
    /// Adds a rank when its turn comes: the result does not depend on which thread was faster.
    fn add(&mut self, at: usize, run: Run, caveats: Vec<String>) {
        for sentence in caveats {
            let first = self.caveats.entry(sentence).or_insert(at);
            *first = at.min(*first);
        }
        self.waiting.insert(at, run);
        while let Some(run) = self.waiting.remove(&self.next) {
            self.over_ranks.add(run);
            self.next += 1;
        }
    }
}
