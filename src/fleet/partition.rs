//! Writes exports of ranks as a partitioned launch table, each rank read by itself, side by side on all cores.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::manifest::{DEVICES, DeviceEntry, Manifest, PartEntry, SourceFile, hash, replace};
use super::names::{RankFiles, by_rank};
use super::side_by_side;
use crate::analysis::{self, device_rows};
use crate::catalog::Catalog;
use crate::ingest::{self, IngestError, Input};
use crate::model::{Profile, Quantity};
use crate::plain;
use crate::table::{Cells, Form, SCHEMA, Table, frames, parts};
use crate::units::ExactSum;

/// What a partitioned launch table is made from, and how.
#[derive(Debug)]
pub struct Partitioning<'a> {
    /// Folder of the table.
    pub folder: &'a Path,
    /// Name of the run.
    pub run: &'a str,
    /// How exports are read; the threads are shared out among the ranks.
    pub options: &'a ingest::Options,
    /// Known devices.
    pub catalog: &'a Catalog,
}

/// What was done.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Partitioned {
    /// Ranks that were converted.
    pub converted: usize,
    /// Ranks whose part was there already.
    pub unchanged: usize,
    /// Ranks that could not be read, with the reason.
    pub failed: Vec<IngestError>,
    /// Rows of all parts of the table.
    pub rows: u64,
}

/// A rank that is to be converted.
struct Job {
    rank: u64,
    files: Vec<PathBuf>,
    sources: Vec<SourceFile>,
    path: String,
}

impl Partitioning<'_> {
    /// Converts the ranks that are new or have changed, and leaves the others alone. The manifest is written last:
    /// until then nothing refers to a new part.
    ///
    /// # Errors
    /// [`IngestError`] if a file has no rank, a rank is there twice, or the folder cannot be written. Ranks that cannot be
    /// read are in the result; the others are converted.
    pub fn write(&self, files: &[PathBuf]) -> Result<Partitioned, IngestError> {
        if !is_name(self.run) {
            return Err(IngestError::new(
                "",
                format!("{:?} cannot be the name of a run", self.run),
            )
            .help("use letters, digits, `.`, `_`, `+` and `-`"));
        }
        let mut manifest = Manifest::read(self.folder)?.unwrap_or_default();
        let (jobs, unchanged) = self.jobs(&manifest, by_rank(files)?)?;
        let done = Mutex::new((Vec::new(), Vec::new()));
        let next = AtomicUsize::new(0);
        side_by_side(self.options.threads, jobs.len(), || {
            while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let converted = self.convert(job);
                let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                match converted {
                    Ok(part) => done.0.push(part),
                    Err(error) => done.1.push((job.rank, error)),
                }
            }
        });
        let (parts, mut failed) = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.sort_by_key(|(rank, _)| *rank);
        let converted = parts.len();
        for (part, devices) in parts {
            manifest.parts.retain(|known| known.path != part.path);
            manifest.parts.push(part);
            manifest.devices.extend(devices);
        }
        manifest.settle();
        if converted > 0 {
            let write = devices(&manifest)
                .map_err(|error| io::Error::other(error.to_string()))
                .and_then(|bytes| {
                    replace(&self.folder.join(DEVICES), |to| io::Write::write_all(to, &bytes))
                })
                .and_then(|()| manifest.write(self.folder));
            write.map_err(|cause| cannot_write(self.folder, &cause))?;
        }
        Ok(Partitioned {
            converted,
            unchanged,
            failed: failed.into_iter().map(|(_, error)| error).collect(),
            rows: manifest.parts.iter().map(|part| part.rows).sum(),
        })
    }

    /// Returns what is to be converted, and how many ranks are there already.
    fn jobs(
        &self,
        manifest: &Manifest,
        ranks: Vec<RankFiles>,
    ) -> Result<(Vec<Job>, usize), IngestError> {
        let (mut jobs, mut unchanged) = (Vec::new(), 0);
        // Whose content each file is, in this run.
        let known = manifest.parts.iter().filter(|part| part.run == self.run);
        let mut owners: HashMap<String, (u64, String)> = HashMap::new();
        let mut of_rank: BTreeMap<u64, &PartEntry> = BTreeMap::new();
        for part in known {
            of_rank.insert(part.rank, part);
            for source in &part.sources {
                owners.insert(source.sha256.clone(), (part.rank, source.path.clone()));
            }
        }
        for RankFiles { rank, files } in ranks {
            let mut sources = Vec::new();
            for file in &files {
                let path = file.display().to_string();
                let sha256 = hash(file).map_err(|cause| {
                    IngestError::new(&path, format!("cannot read: {}", plain::io(&cause)))
                })?;
                let owner = owners.entry(sha256.clone()).or_insert_with(|| (rank, path.clone()));
                if owner.0 != rank {
                    let message =
                        format!("rank {rank} has the content of rank {} ({})", owner.0, owner.1);
                    return Err(IngestError::new(path, message)
                        .help("leave out the copy, or export the rank again"));
                }
                sources.push(SourceFile { path, sha256 });
            }
            let path = format!("run={}/rank={rank}/part-00000.parquet", self.run);
            if let Some(part) = of_rank.get(&rank) {
                let hashes = |sources: &[SourceFile]| -> Vec<String> {
                    sources.iter().map(|source| source.sha256.clone()).collect()
                };
                let size = fs::metadata(self.folder.join(&part.path)).map(|file| file.len()).ok();
                if hashes(&part.sources) == hashes(&sources) && size == Some(part.bytes) {
                    unchanged += 1;
                    continue;
                }
                let is_again = |source: &SourceFile| {
                    part.sources
                        .iter()
                        .any(|one| one.path == source.path || one.sha256 == source.sha256)
                };
                if !sources.iter().any(is_again) {
                    let (new, old) = (&sources[0].path, &part.sources[0].path);
                    let message = format!(
                        "rank {rank} of run {} is there already, made from {old}",
                        self.run
                    );
                    return Err(IngestError::new(new, message).help(
                        "another run gets --run NAME; to replace the rank, remove its folder and its \
                         entry in _rooflint.json",
                    ));
                }
            }
            jobs.push(Job { rank, files, sources, path });
        }
        Ok((jobs, unchanged))
    }

    fn convert(&self, job: &Job) -> Result<(PartEntry, Vec<DeviceEntry>), IngestError> {
        let inputs: Vec<Input> = job.files.iter().cloned().map(Input::Named).collect();
        let options = ingest::Options { threads: 1, ..self.options.clone() };
        let profile = ingest::read(&inputs, &options)?;
        let shown = &job.sources[0].path;
        let devices = device_rows(&profile, self.catalog, &analysis::Options::default())
            .map_err(|error| IngestError::new(shown, error.to_string()).help(error.help()))?;
        let mut part = entry(&profile);
        part.path.clone_from(&job.path);
        self.run.clone_into(&mut part.run);
        (part.rank, part.sources) = (job.rank, job.sources.clone());
        part.devices = devices.iter().map(|device| device.name.clone()).collect();
        part.devices.sort();
        part.devices.dedup();
        let path = self.folder.join(&job.path);
        let write = || -> io::Result<u64> {
            fs::create_dir_all(path.parent().unwrap_or(self.folder))?;
            let metadata = Table::of(&profile).metadata;
            replace(&path, |to| {
                parts::write_part(&profile, &order(&profile), metadata, to)
                    .map_err(|error| io::Error::other(error.to_string()))
            })?;
            Ok(fs::metadata(&path)?.len())
        };
        part.bytes = write().map_err(|cause| cannot_write(&path, &cause))?;
        Ok((part, devices.iter().map(DeviceEntry::of).collect()))
    }
}

fn cannot_write(path: &Path, cause: &io::Error) -> IngestError {
    IngestError::new(path.display(), format!("cannot write: {}", plain::io(cause)))
        .help("check that the folder can be written to and the disk has room")
}

fn is_name(run: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '-');
    !run.is_empty() && !run.starts_with('.') && run.chars().all(fits)
}

/// Returns the rows sorted by kernel, then by start, so that scans for a kernel skip the others.
fn order(profile: &Profile) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..profile.launches.len()).collect();
    rows.sort_by_cached_key(|row| {
        let launch = profile.launch(*row);
        let head = launch.head;
        (launch.kernel(), head.start, head.process, head.id, *row)
    });
    rows
}

/// Returns what a part holds, without its place and sources.
fn entry(profile: &Profile) -> PartEntry {
    let mut part = PartEntry {
        path: String::new(),
        run: String::new(),
        rank: 0,
        sources: Vec::new(),
        rows: profile.launches.len() as u64,
        launches: 0,
        duration_s: 0.0,
        timed_rows: 0,
        rows_without_clock: 0,
        first_start_ns: None,
        last_end_ns: None,
        devices: Vec::new(),
        bytes: 0,
    };
    let mut duration = ExactSum::default();
    for launch in profile.iter() {
        part.launches += u64::from(launch.head.count);
        let time = launch.duration().map(|(time, _)| time.get());
        if let Some(time) = time {
            duration.add(time * f64::from(launch.head.count));
            part.timed_rows += 1;
            part.rows_without_clock += u64::from(launch.value(Quantity::SmClock).is_none());
        }
        if let Some(start) = launch.head.start {
            let end = start.saturating_add((time.unwrap_or_default() * 1e9).round() as u64);
            part.first_start_ns = Some(part.first_start_ns.map_or(start, |first| first.min(start)));
            part.last_end_ns = Some(part.last_end_ns.map_or(end, |last| last.max(end)));
        }
    }
    part.duration_s = duration.get();
    part
}

/// Returns the table of devices as Parquet.
fn devices(manifest: &Manifest) -> Result<Vec<u8>, frames::FrameError> {
    let entries: Vec<&DeviceEntry> = manifest.devices.iter().collect();
    let text = |of: fn(&DeviceEntry) -> Option<String>| {
        Cells::Text(entries.iter().map(|entry| of(entry)).collect())
    };
    let mut columns = vec![
        ("device".to_owned(), text(|entry| entry.device.clone())),
        ("id".to_owned(), text(|entry| entry.id.clone())),
        ("name".to_owned(), text(|entry| Some(entry.name.clone()))),
        ("ceilings".to_owned(), Cells::Text(vec![Some(manifest.ceilings.clone()); entries.len()])),
    ];
    for (name, form) in analysis::device_columns() {
        let figures = entries.iter().map(|entry| entry.figures.get(&name));
        let cells = match form {
            Form::Text => Cells::Text(figures.map(Option::<&String>::cloned).collect()),
            Form::Truth => Cells::Truth(figures.map(|text| text?.parse().ok()).collect()),
            Form::Count => Cells::Count(figures.map(|text| text?.parse().ok()).collect()),
            Form::Share | Form::Factor | Form::Number(_) => {
                Cells::Number(figures.map(|text| text?.parse().ok()).collect())
            }
        };
        columns.push((name, cells));
    }
    let metadata = [(parts::SCHEMA_KEY, SCHEMA), ("schema", "rooflint/devices/1")];
    let metadata = metadata.map(|(key, text)| (key.to_owned(), text.to_owned())).to_vec();
    frames::parquet(Table { height: entries.len(), columns, metadata })
}
