//! Writes exports of ranks as a partitioned launch table, each rank read by itself, side by side on all cores.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::beside::{self, Pair};
use super::jobs::side_by_side;
use super::manifest::{DEVICES, DeviceEntry, Manifest, NAMES, PartEntry, SourceFile, replace};
use super::names::{Positions, RankFiles, by_rank, is_run_name};
use super::own::known_devices;
use super::ranks::remarks;
use super::scan;
use crate::analysis::{self, device_rows};
use crate::catalog::Catalog;
use crate::compare::fingerprint;
use crate::ingest::{self, IngestError, Input};
use crate::model::{Profile, Quantity};
use crate::plain;
use crate::table::frames::FrameError;
use crate::table::{Table, parts};
use crate::taxonomy::Taxonomy;
use crate::units::ExactSum;

/// Name of the file that is locked while the manifest is replaced.
const LOCK: &str = "_rooflint.lock";

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
    /// The device of the launches, whatever the exports say; `None` leaves it to them.
    pub device: Option<&'a str>,
    /// Rules for kernel names; the built-in ones if `None`.
    pub taxonomy: Option<&'a Arc<Taxonomy>>,
}

/// What a rank was converted to.
struct Done {
    part: PartEntry,
    devices: Vec<DeviceEntry>,
    names: BTreeSet<Pair>,
    /// What must be known of its launches.
    remarks: Vec<String>,
    /// Whether its launches were read from its export; else only its devices were looked up again.
    is_converted: bool,
}

/// What was done.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Partitioned {
    /// Ranks that were converted.
    pub converted: usize,
    /// Ranks whose part was there already.
    pub unchanged: usize,
    /// Whether the tables of devices and names were written again although all parts stay as they are.
    pub is_refreshed: bool,
    /// Ranks that could not be read, with the reason.
    pub failed: Vec<IngestError>,
    /// Other runs that the table no longer lists, as their folders are gone.
    pub forgotten: Vec<String>,
    /// Rows of all parts of the table.
    pub rows: u64,
    /// The axes whose positions gave the ranks their numbers, the slowest first; empty where names have numbers.
    pub numbered_by: Vec<Arc<str>>,
    /// What must be known of the launches of ranks that were converted, such as records that were skipped.
    pub notes: Vec<String>,
}

/// A rank that is to be converted.
struct Job {
    rank: u64,
    files: Vec<PathBuf>,
    sources: Vec<SourceFile>,
    positions: Positions,
    path: String,
    /// The part that stays as it is but for its devices.
    kept: Option<PartEntry>,
}

/// By what the devices and the reading of parts are compared.
struct Prints {
    read_as: String,
    known_devices: String,
}

impl Partitioning<'_> {
    /// Converts the ranks that are new or have changed, and leaves the others alone. The manifest is written last:
    /// until then nothing refers to a new part. It no longer lists other runs whose whole folder was removed.
    ///
    /// # Errors
    /// [`IngestError`] if a file has no rank, a rank is there twice, or the folder cannot be written. Ranks that cannot be
    /// read are in the result; the others are converted.
    pub fn write(&self, files: &[PathBuf]) -> Result<Partitioned, IngestError> {
        if !is_run_name(self.run) {
            return Err(IngestError::new(
                "",
                format!("{:?} cannot be the name of a run", self.run),
            )
            .help("use letters, digits, `.`, `_`, `+` and `-`"));
        }
        let mut manifest = Manifest::read(self.folder)?.unwrap_or_default();
        let gone = forget(self.folder, &mut manifest);
        let numbered = by_rank(files)?;
        let prints = Prints {
            read_as: fingerprint(&self.options.way()),
            known_devices: known_devices(self.catalog),
        };
        let (jobs, mut unchanged) = self.jobs(&manifest, numbered.ranks, &prints)?;
        // A rank that cannot be read keeps no other from being converted.
        let each = |(parts, failed): &mut (Vec<Done>, Vec<_>), _, job: &Job| {
            match self.done(job, &prints) {
                Ok(part) => parts.push(part),
                Err(error) => failed.push((job.rank, error)),
            }
            Ok::<(), Infallible>(())
        };
        let Ok(done) = side_by_side(self.options.threads, &jobs, each);
        let (mut parts, mut failed) = (Vec::new(), Vec::new());
        for (own, own_failed) in done {
            parts.extend(own);
            failed.extend(own_failed);
        }
        failed.sort_by_key(|(rank, _)| *rank);
        parts.sort_by_key(|done| done.part.rank);
        let notes = remarks(parts.iter().map(|done| (done.part.rank, &*done.remarks)));
        let converted = parts.iter().filter(|done| done.is_converted).count();
        unchanged += parts.len() - converted;
        // A table that stays as it is may be read-only, and without a rank there is no table.
        let is_touched = !parts.is_empty() || !gone.is_empty() || self.is_stale(&manifest)?;
        let forgotten =
            if is_touched { self.list(parts, &gone, &mut manifest)? } else { Vec::new() };
        Ok(Partitioned {
            converted,
            unchanged,
            is_refreshed: is_touched && converted == 0 && forgotten.is_empty(),
            failed: failed.into_iter().map(|(_, error)| error).collect(),
            forgotten,
            rows: manifest.parts.iter().map(|part| part.rows).sum(),
            numbered_by: numbered.by,
            notes,
        })
    }

    /// Lists new parts in the manifest, and no longer runs whose folders are gone. Returns the names of the latter.
    fn list(
        &self,
        parts: Vec<Done>,
        gone: &[String],
        manifest: &mut Manifest,
    ) -> Result<Vec<String>, IngestError> {
        let _lock = self.lock()?;
        // Another `convert` may have added its run meanwhile.
        *manifest = Manifest::read(self.folder)?.unwrap_or_default();
        // This run has its folder again.
        if gone.iter().any(|run| run == self.run) {
            manifest.parts.retain(|part| part.run != self.run);
        }
        let forgotten = forget(self.folder, manifest);
        let mut names = beside::known_pairs(self.folder, manifest)?;
        for done in parts {
            manifest.parts.retain(|known| known.path != done.part.path);
            manifest.parts.push(done.part);
            manifest.devices.extend(done.devices.into_iter().map(|one| (one.key(), one)));
            names.extend(done.names);
        }
        manifest.settle();
        let write = |name: &str, bytes: &[u8]| {
            replace(&self.folder.join(name), |to| io::Write::write_all(to, bytes))
        };
        let written = || -> io::Result<()> {
            for (name, bytes) in self.tables(manifest, &names)? {
                write(name, &bytes)?;
            }
            manifest.write(self.folder)
        };
        written().map_err(|cause| cannot_write(self.folder, &cause))?;
        Ok(forgotten)
    }

    /// The tables beside the parts, as they should be.
    fn tables(
        &self,
        manifest: &Manifest,
        names: &BTreeSet<Pair>,
    ) -> io::Result<[(&'static str, Vec<u8>); 2]> {
        let bytes = |table: Result<Vec<u8>, FrameError>| {
            table.map_err(|error| io::Error::other(error.to_string()))
        };
        Ok([
            (DEVICES, bytes(beside::devices(manifest))?),
            (NAMES, bytes(beside::names(names, self.taxonomy.cloned()))?),
        ])
    }

    /// Whether a table beside the parts is not what it should be: kernel names may be called otherwise than before.
    fn is_stale(&self, manifest: &Manifest) -> Result<bool, IngestError> {
        if manifest.parts.is_empty() {
            return Ok(false);
        }
        let names = beside::known_pairs(self.folder, manifest)?;
        let tables = self.tables(manifest, &names);
        let tables = tables.map_err(|cause| cannot_write(self.folder, &cause))?;
        let is_other = |(name, bytes): &(&str, Vec<u8>)| {
            fs::read(self.folder.join(name)).ok().as_ref() != Some(bytes)
        };
        Ok(tables.iter().any(is_other))
    }

    /// Keeps others that convert into the folder from writing its manifest, until the file is closed.
    fn lock(&self) -> Result<Option<File>, IngestError> {
        let path = self.folder.join(LOCK);
        let locked = fs::create_dir_all(self.folder).and_then(|()| {
            let file = File::options().create(true).append(true).open(&path)?;
            match file.lock() {
                Ok(()) => Ok(Some(file)),
                // Some network file systems have no locks.
                Err(cause) if cause.kind() == io::ErrorKind::Unsupported => Ok(None),
                Err(cause) => Err(cause),
            }
        });
        locked.map_err(|cause| cannot_write(&path, &cause))
    }

    /// Returns what is to be converted, and how many ranks are there already.
    fn jobs(
        &self,
        manifest: &Manifest,
        ranks: Vec<RankFiles>,
        prints: &Prints,
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
        for RankFiles { rank, files, positions } in ranks {
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
            let mut kept = None;
            if let Some(part) = of_rank.get(&rank) {
                let hashes = |sources: &[SourceFile]| -> Vec<String> {
                    sources.iter().map(|source| source.sha256.clone()).collect()
                };
                let size = fs::metadata(self.folder.join(&part.path)).map(|file| file.len()).ok();
                let is_same = hashes(&part.sources) == hashes(&sources)
                    && part.device.as_deref() == self.device
                    && part.read_as.as_ref() == Some(&prints.read_as);
                if is_same && size == Some(part.bytes) {
                    if part.known_devices.as_ref() == Some(&prints.known_devices) {
                        unchanged += 1;
                        continue;
                    }
                    kept = Some((*part).clone());
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
                        "another run gets --run NAME; to measure the run again, remove its folder run=NAME first",
                    ));
                }
            }
            jobs.push(Job { rank, files, sources, positions, path, kept });
        }
        Ok((jobs, unchanged))
    }

    /// Converts a rank, or only looks up its devices again.
    fn done(&self, job: &Job, prints: &Prints) -> Result<Done, IngestError> {
        let mut done = match self.kept(job)? {
            Some(done) => done,
            None => self.convert(job)?,
        };
        done.part.read_as = Some(prints.read_as.clone());
        done.part.known_devices = Some(prints.known_devices.clone());
        Ok(done)
    }

    /// Looks up the devices of a part that stays as it is; `None` where it is to be converted.
    fn kept(&self, job: &Job) -> Result<Option<Done>, IngestError> {
        let Some(mut part) = job.kept.clone() else { return Ok(None) };
        // A part that is damaged is not kept.
        let Ok(profile) = scan::read(&self.folder.join(&part.path), part.rows) else {
            return Ok(None);
        };
        let devices = self.devices(&profile, job)?;
        part.devices = devices.iter().map(DeviceEntry::key).collect();
        let (names, remarks) = (BTreeSet::new(), Vec::new());
        Ok(Some(Done { part, devices, names, remarks, is_converted: false }))
    }

    /// The devices of a rank, with their figures.
    fn devices(&self, profile: &Profile, job: &Job) -> Result<Vec<DeviceEntry>, IngestError> {
        let asked = analysis::Options {
            device: self.device.map(str::to_owned),
            ..analysis::Options::default()
        };
        let devices = device_rows(profile, self.catalog, &asked).map_err(|error| {
            IngestError::new(&job.sources[0].path, error.to_string()).help(error.help())
        })?;
        Ok(devices.iter().map(DeviceEntry::of).collect())
    }

    fn convert(&self, job: &Job) -> Result<Done, IngestError> {
        let inputs: Vec<Input> = job.files.iter().cloned().map(Input::Named).collect();
        let options = ingest::Options { threads: 1, ..self.options.clone() };
        let profile = ingest::read(&inputs, &options)?;
        let devices = self.devices(&profile, job)?;
        let mut part = entry(&profile);
        part.path.clone_from(&job.path);
        part.device = self.device.map(str::to_owned);
        self.run.clone_into(&mut part.run);
        (part.rank, part.sources) = (job.rank, job.sources.clone());
        let positions = job.positions.iter();
        part.positions = positions.map(|(axis, at)| (axis.to_string(), *at)).collect();
        part.devices = devices.iter().map(DeviceEntry::key).collect();
        let path = self.folder.join(&job.path);
        let write = || -> io::Result<u64> {
            fs::create_dir_all(path.parent().unwrap_or(self.folder))?;
            let metadata = Table::of(&profile).metadata;
            replace(&path, |to| {
                let mut to = Remembering { to, failed: None };
                let written = parts::write_part(&profile, &order(&profile), metadata, &mut to);
                written.map_err(|error| {
                    to.failed.unwrap_or_else(|| io::Error::other(error.to_string()))
                })
            })?;
            Ok(fs::metadata(&path)?.len())
        };
        part.bytes = write().map_err(|cause| cannot_write(&path, &cause))?;
        let (names, remarks) = (beside::pairs(&profile), profile.remarks());
        Ok(Done { part, devices, names, remarks, is_converted: true })
    }
}

/// Keeps why it could not be written: the library of the format loses it.
struct Remembering<W> {
    to: W,
    failed: Option<io::Error>,
}

impl<W: io::Write> Remembering<W> {
    fn keep<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let kind = error.kind();
            self.failed.get_or_insert(error);
            kind.into()
        })
    }
}

impl<W: io::Write> io::Write for Remembering<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes);
        self.keep(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.to.flush();
        self.keep(flushed)
    }
}

/// Takes out of the manifest the runs whose folders are gone, and returns their names.
fn forget(folder: &Path, manifest: &mut Manifest) -> Vec<String> {
    let runs: BTreeSet<&str> = manifest.parts.iter().map(|part| &*part.run).collect();
    // A folder that cannot be looked at may be there.
    let is_gone = |run: &&str| !folder.join(format!("run={run}")).try_exists().unwrap_or(true);
    let gone: Vec<String> = runs.into_iter().filter(is_gone).map(str::to_owned).collect();
    manifest.parts.retain(|part| !gone.contains(&part.run));
    gone
}

fn cannot_write(path: &Path, cause: &io::Error) -> IngestError {
    IngestError::new(path.display(), format!("cannot write: {}", plain::io(cause)))
        .help(plain::to_write(cause))
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
        positions: BTreeMap::new(),
        sources: Vec::new(),
        rows: profile.launches.len() as u64,
        launches: 0,
        duration_s: 0.0,
        timed_rows: 0,
        rows_without_clock: 0,
        first_start_ns: None,
        last_end_ns: None,
        devices: Vec::new(),
        device: None,
        read_as: None,
        known_devices: None,
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

/// Returns the SHA-256 of a file's content, in hexadecimal.
fn hash(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            break;
        }
        hash.update(&buffer[..read]);
    }
    Ok(hash.finalize().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")))
}
