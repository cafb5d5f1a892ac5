//! The baseline store, suitable for version control or an artifact store: one JSON document or table per
//! run, in one folder per baseline, with names that sort by time.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::dated::Dated;
use super::distinct::distinct;
use super::error::HistoryError;
use super::folder::{check_marker, has_saved_runs, is_bare, sorted};
use super::form::SavedAs;
use super::layout::{MARKER, STORE_SCHEMA, begins, is_name, plain, short};
use super::moment::Moment;
use crate::compare::Run;
use crate::units::Seconds;

/// A store with all of its entries.
#[derive(Debug, Clone, PartialEq)]
pub struct Store {
    folder: PathBuf,
    pub(super) entries: Vec<Entry>,
    /// Files of entries that lack their kernels.
    pub(super) heads: BTreeSet<PathBuf>,
    unreadable: Vec<Unreadable>,
}

/// A saved run.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Path of its file.
    pub path: PathBuf,
    /// Name of its baseline: the folder of the file.
    pub name: String,
    /// Id of the entry: the file name without extension.
    pub id: String,
    /// Time at which it was saved; `None` if the document has no valid time.
    pub saved: Option<Moment>,
    /// Whether its content was checked against a fingerprint; documents of early versions have none.
    pub is_sealed: bool,
    /// The saved run.
    pub run: Run,
}

/// A file of a store that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Path of the file.
    pub path: PathBuf,
    /// Name of its baseline.
    pub name: String,
    /// The problem.
    pub reason: String,
}

/// A file to write for saving a run; the caller writes it completely or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Path of the file.
    pub path: PathBuf,
    /// Content of the file.
    pub content: Vec<u8>,
}

impl Entry {
    /// Returns the whole days since it was saved; `None` if the time is unknown.
    #[must_use]
    pub fn age_days(&self, now: Moment) -> Option<u64> {
        self.saved.map(|saved| saved.days_until(now))
    }

    /// Whether its name begins with its time and commit, as [`Store::place`] names what is saved.
    fn is_named_as_saved(&self) -> bool {
        let commit = self.run.origin.commit.as_deref();
        self.saved.is_some_and(|saved| self.id.starts_with(&begins(saved, commit)))
    }

    /// Returns `true` if it is known to have been saved before another one.
    #[must_use]
    pub fn is_before(&self, other: &Self) -> bool {
        let number = |entry: &Self| entry.run.origin.number;
        match (self.saved, other.saved) {
            (Some(one), Some(two)) if one == two => {
                number(self).is_some() && number(self) < number(other)
            }
            (Some(one), Some(two)) => one < two,
            _ => false,
        }
    }

    /// Returns the first eight characters of its commit.
    #[must_use]
    pub fn short_commit(&self) -> Option<&str> {
        self.run.origin.commit.as_deref().map(short)
    }
}

impl Store {
    /// Returns `true` if a folder is a store.
    #[must_use]
    pub fn is_store(folder: &Path) -> bool {
        folder.join(MARKER).is_file()
    }

    /// Returns `true` if a folder has no marker of a store, but saved runs in a folder of a baseline.
    #[must_use]
    pub fn is_unmarked(folder: &Path) -> bool {
        !Self::is_store(folder) && has_saved_runs(folder)
    }

    /// Returns the content of the marker file of a store.
    #[must_use]
    pub fn marker() -> String {
        format!(
            "# Runs saved by `rooflint baseline save`: one JSON document per run, in one folder \
             per baseline.\nschema = \"{STORE_SCHEMA}\"\n"
        )
    }

    /// Reads a store. Unreadable files are reported in [`Store::unreadable`].
    ///
    /// # Errors
    /// [`HistoryError`] if the folder is not a store, or has an unknown layout.
    pub fn open(folder: &Path) -> Result<Self, HistoryError> {
        Self::read(folder, Self::add)
    }

    /// Reads a store without the kernels of its entries, as far as that is possible. What is compared must be read wholly
    /// first, by [`Store::complete_baseline`] or [`Store::complete_anchor`]: only then is it checked for damage.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_heads(folder: &Path) -> Result<Self, HistoryError> {
        Self::read(folder, Self::add_head)
    }

    /// Makes a store of the runs of a partitioned launch table, by the names that they have there; see [`Dated`]. A run
    /// without times is one that could not be read.
    ///
    /// # Errors
    /// [`HistoryError::Undated`] if a name does not begin with a time.
    pub fn of_runs(folder: &Path, runs: Vec<(String, Run)>) -> Result<Self, HistoryError> {
        let mut store = Self::empty(folder);
        for (id, mut run) in runs {
            let Some(Dated { saved, name, repeat }) = Dated::of(&id) else {
                return Err(HistoryError::Undated { folder: folder.to_owned(), run: id });
            };
            let path = folder.join(format!("run={id}"));
            if run.timed_launches == 0 {
                let reason = "no launch has a duration".to_owned();
                store.unreadable.push(Unreadable { path, name, reason });
                continue;
            }
            (run.origin.saved, run.origin.number) = (Some(saved.to_string()), Some(repeat));
            store.entries.push(Entry { path, name, id, saved: Some(saved), is_sealed: true, run });
        }
        store.sort();
        Ok(store)
    }

    fn read(
        folder: &Path,
        add: fn(&mut Self, PathBuf, SavedAs, &str),
    ) -> Result<Self, HistoryError> {
        if !Self::is_store(folder) {
            // Rather what is wrong with the folder than that something is not in it.
            return Err(match fs::read_dir(folder) {
                Ok(_) if Self::is_unmarked(folder) => {
                    HistoryError::Unmarked { folder: folder.to_owned() }
                }
                Ok(_) => HistoryError::NoStore { folder: folder.to_owned() },
                Err(cause) => HistoryError::Read { path: folder.to_owned(), cause },
            });
        }
        check_marker(&folder.join(MARKER))?;
        let mut store = Self::empty(folder);
        for baseline in sorted(folder)?.into_iter().filter(|path| path.is_dir()) {
            let name = baseline.file_name().and_then(|name| name.to_str());
            // What version control keeps in hidden folders is none of ours.
            let Some(name) = name.filter(|name| is_name(name)) else { continue };
            for path in sorted(&baseline)? {
                if let Some(form) = SavedAs::of(&path) {
                    add(&mut store, path, form, name);
                }
            }
        }
        store.sort();
        Ok(store)
    }

    /// Adds a file with a saved run.
    pub(super) fn add_file(&mut self, path: PathBuf, name: &str) {
        if let Some(form) = SavedAs::of(&path) {
            self.add(path, form, name);
        }
    }

    fn add(&mut self, path: PathBuf, form: SavedAs, name: &str) {
        // To open a pipe is to wait for one who writes to it.
        let read = match path.metadata() {
            Ok(there) if there.is_file() => form.read(&path),
            // It was pruned since the folder was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => return,
            _ => Err("it is not a regular file".to_owned()),
        };
        match read {
            Ok((run, is_sealed)) => self.entries.push(entry(path, name, run, is_sealed)),
            // It was pruned while it was read.
            Err(_) if !path.exists() && !path.is_symlink() => {}
            Err(reason) => {
                self.unreadable.push(Unreadable { path, name: name.to_owned(), reason });
            }
        }
    }

    /// Adds an entry without its kernels, if that is possible.
    fn add_head(&mut self, path: PathBuf, form: SavedAs, name: &str) {
        let head = path.is_file().then(|| form.read_head(&path)).flatten();
        match head.map(|run| entry(path.clone(), name, run, false)) {
            // Time and commit, by which entries are chosen, are in the name as well: damage of either shows.
            Some(head) if head.is_named_as_saved() => {
                self.heads.insert(path);
                self.entries.push(head);
            }
            _ => self.add(path, form, name),
        }
    }

    /// Returns the form of the newest run of a baseline; JSON if it has none.
    #[must_use]
    pub fn form(&self, name: &str) -> SavedAs {
        let newest = self.entries.iter().rfind(|entry| entry.name == name);
        newest.and_then(|entry| SavedAs::of(&entry.path)).unwrap_or(SavedAs::Json)
    }

    pub(super) fn sort(&mut self) {
        let key = |entry: &Entry| (entry.saved, entry.run.origin.number);
        self.entries.sort_by(|one, two| {
            (key(one), &one.id, &one.name).cmp(&(key(two), &two.id, &two.name))
        });
    }

    /// Reads a store to save into it, or starts a new one if the folder is empty or missing.
    ///
    /// Entries lack their kernels until [`Store::complete`] reads those that matter: a save costs about
    /// the same however many there were before.
    ///
    /// # Errors
    /// [`HistoryError`] if the folder contains other files, or cannot be read.
    pub fn open_or_new(folder: &Path) -> Result<Self, HistoryError> {
        if Self::is_store(folder) {
            return Self::open_heads(folder);
        }
        match is_bare(folder) {
            Ok(true) => Ok(Self::empty(folder)),
            // Another process may have made it a store since.
            Ok(false) if Self::is_store(folder) => Self::open_heads(folder),
            Ok(false) if Self::is_unmarked(folder) => {
                Err(HistoryError::Unmarked { folder: folder.to_owned() })
            }
            Ok(false) => Err(HistoryError::Occupied { folder: folder.to_owned() }),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(Self::empty(folder)),
            Err(cause) => Err(HistoryError::Read { path: folder.to_owned(), cause }),
        }
    }

    fn empty(folder: &Path) -> Self {
        let (entries, unreadable) = (Vec::new(), Vec::new());
        Self { folder: folder.to_owned(), entries, heads: BTreeSet::new(), unreadable }
    }

    /// Returns the folder of the store.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns all entries, oldest first; entries without a time come first.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the files that could not be read as entries.
    #[must_use]
    pub fn unreadable(&self) -> &[Unreadable] {
        &self.unreadable
    }

    /// Refuses a baseline with an unreadable file, because the remaining runs may be any part of it;
    /// without a name, a store with one.
    ///
    /// # Errors
    /// [`HistoryError::Damaged`] with the first of its files that could not be read.
    pub fn check(&self, name: Option<&str>) -> Result<(), HistoryError> {
        let is_its = |file: &&Unreadable| name.is_none_or(|name| file.name == name);
        self.unreadable.iter().find(is_its).map_or(Ok(()), |file| {
            let (path, reason) = (file.path.clone(), file.reason.clone());
            Err(HistoryError::Damaged { path, reason })
        })
    }

    /// Returns the names of all baselines that have entries.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        distinct(self.entries.iter().map(|entry| entry.name.as_str()))
    }

    /// Returns the entry among these with the same measurement as a run, if there is one.
    #[must_use]
    pub fn same_measurement<'a>(
        run: &Run,
        entries: impl IntoIterator<Item = &'a Entry>,
    ) -> Option<&'a Entry> {
        entries.into_iter().find(|entry| entry.run.is_measurement_of(run))
    }

    /// The first second from now on at which nothing else was saved under a name: what is saved later is later, and runs
    /// without a commit are repeats only if they were saved together.
    fn free(&self, now: Moment, name: &str, run: &Run) -> Moment {
        let commit = &run.origin.commit;
        let is_other = |entry: &&Entry| {
            entry.name == name && (commit.is_none() || entry.run.origin.commit != *commit)
        };
        let is_taken =
            |moment| self.entries.iter().filter(is_other).any(|entry| entry.saved == Some(moment));
        let mut moment = now;
        for _ in 0..self.entries.len() {
            if !is_taken(moment) {
                break;
            }
            moment = moment.next();
        }
        moment
    }

    /// Whether an entry is of the same measurement as a run. One without its kernels is read wholly where its sums are
    /// those of the run: a report of it has another fingerprint.
    fn has(&self, entry: &Entry, run: &Run) -> bool {
        let read = || SavedAs::of(&entry.path)?.read(&entry.path).ok();
        entry.run.is_measurement_of(run)
            || self.heads.contains(&entry.path)
                && entry.run.may_be_measurement_of(run)
                && read().is_some_and(|(whole, _)| whole.is_measurement_of(run))
    }

    /// Returns the files for saving runs, each with its own commit and branch; nothing is written.
    /// Runs without a time get the current one. Either all runs can be saved or none.
    ///
    /// # Errors
    /// [`HistoryError`] if a run is already saved, has no times, or the name is invalid.
    pub fn place(
        &self,
        runs: Vec<Run>,
        (name, form): (&str, SavedAs),
        now: Moment,
    ) -> Result<Vec<Placed>, HistoryError> {
        if !is_name(name) {
            return Err(HistoryError::Name { name: name.to_owned() });
        }
        let mut placed: Vec<Placed> = Vec::new();
        let mut known: Vec<(String, String)> = Vec::new();
        let before = self.entries.iter().filter(|entry| entry.name == name);
        let mut numbered: Vec<(Moment, u32)> =
            before.filter_map(|entry| Some((entry.saved?, entry.run.origin.number?))).collect();
        for mut run in runs {
            let label = run.label.clone();
            if run.timed_launches == 0 || run.measured_s <= Seconds::ZERO {
                return Err(HistoryError::Nothing { label });
            }
            let mut here = self.entries.iter().filter(|entry| entry.name == name);
            let entry = here.find(|entry| self.has(entry, &run)).map(|entry| entry.id.clone());
            let earlier = known.iter().find(|(fingerprint, _)| *fingerprint == run.fingerprint);
            if let Some(entry) = entry.or_else(|| earlier.map(|(_, entry)| entry.clone())) {
                return Err(HistoryError::Known { label, entry: format!("{name}/{entry}") });
            }
            let earlier = run.origin.saved.as_deref().and_then(|saved| saved.parse().ok());
            let saved: Moment = earlier.unwrap_or_else(|| self.free(now, name, &run));
            if earlier.is_none() {
                let same = numbered.iter().filter(|(moment, _)| *moment == saved);
                let last = same.map(|(_, number)| *number).max().unwrap_or_default();
                run.origin.number = Some(last.saturating_add(1));
            }
            numbered.extend(run.origin.number.map(|number| (saved, number)));
            run.origin.saved = Some(saved.to_string());
            let begins = begins(saved, run.origin.commit.as_deref());
            let name_of = |fingerprint: &str| format!("{begins}{}", plain(fingerprint));
            let mut id = name_of(short(&run.fingerprint));
            let is_taken = |id: &str| {
                known.iter().any(|(_, known)| known == id)
                    || self.entries.iter().any(|entry| entry.name == name && entry.id == id)
            };
            if is_taken(&id) {
                id = name_of(&run.fingerprint);
            }
            known.push((run.fingerprint.clone(), id.clone()));
            let path = self.folder.join(name).join(format!("{id}.{}", form.ending()));
            let failed = |message: String| HistoryError::Table { label: label.clone(), message };
            let content = form.content(&run).map_err(failed)?;
            placed.push(Placed { path, content });
        }
        Ok(placed)
    }
}

fn entry(path: PathBuf, name: &str, run: Run, is_sealed: bool) -> Entry {
    let saved = run.origin.saved.as_deref().and_then(|saved| saved.parse().ok());
    let id = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Entry { path, name: name.to_owned(), id, saved, is_sealed, run }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::compare::{RunDevice, RunKernel, RunOrigin, SCHEMA};
    use crate::units::Share;

    /// A kernel with this many seconds in two launches.
    pub(in crate::history) fn kernel(name: &str, seconds: f64) -> RunKernel {
        let value = serde_json::json!({
            "name": name, "full_name": name, "operator": null, "grid": [8, 1, 1],
            "block": [256, 1, 1], "blocks": 8, "threads_per_block": 256, "device": 0,
            "category": "other", "launches": 2, "timed": 2, "measured_s": seconds, "share": 0.5,
            "samples_s": [seconds / 2.0, seconds / 2.0], "clock_hz": null, "bytes": null,
            "flops": null, "fp64_flops": null, "judged_s": seconds,
            "roofline_s": 0.25, "roofline_high_s": null, "savings_s": 0.0, "findings": [],
            "rows": [1, 2]
        });
        serde_json::from_value(value).unwrap()
    }

    /// A run of kernels on a device.
    pub(in crate::history) fn run(device: &str, kernels: Vec<RunKernel>) -> Run {
        let total: f64 = kernels.iter().map(|kernel| kernel.measured_s.get()).sum();
        let share = |kernel: &RunKernel| Share::new(kernel.measured_s.get() / total);
        let kernels = kernels.into_iter();
        let kernels: Vec<RunKernel> =
            kernels.map(|kernel| RunKernel { share: share(&kernel), ..kernel }).collect();
        let launches = kernels.iter().map(|kernel| kernel.launches).sum();
        let names: Vec<String> =
            kernels.iter().map(|k| format!("{}{:?}", k.name, k.measured_s.get())).collect();
        let sum = names
            .concat()
            .bytes()
            .fold(7_u64, |sum, b| sum.wrapping_mul(0x100_0000_01b3) ^ u64::from(b));
        Run {
            schema: SCHEMA.to_owned(),
            rooflint: "0.1.0".to_owned(),
            label: "run.csv".to_owned(),
            origin: RunOrigin::default(),
            files: Vec::new(),
            devices: vec![RunDevice {
                name: device.to_owned(),
                known: true,
                dram_bytes_per_s: None,
                fp32_per_clock: None,
            }],
            ceilings: "spec".to_owned(),
            launches,
            timed_launches: launches,
            measured_s: Seconds::new(total),
            warmup: 0,
            quantities: Vec::new(),
            ranks: std::collections::BTreeMap::new(),
            unread: Vec::new(),
            rules: None,
            skipped_rules: Vec::new(),
            kernels,
            fingerprint: format!("{sum:016x}{sum:016x}"),
        }
    }

    /// Saves runs of a kernel of this many seconds.
    pub(in crate::history) fn save(
        folder: &Path,
        name: &str,
        device: &str,
        commit: Option<&str>,
        saved: &str,
        seconds: &[f64],
    ) {
        let store = Store::open_or_new(folder).unwrap();
        let runs = seconds.iter().map(|seconds| Run {
            origin: RunOrigin {
                commit: commit.map(str::to_owned),
                branch: Some("main".to_owned()),
                ..RunOrigin::default()
            },
            ..run(device, vec![kernel("gemm", *seconds)])
        });
        let form = store.form(name);
        let place = store.place(runs.collect(), (name, form), saved.parse().unwrap());
        fs::create_dir_all(folder.join(name)).unwrap();
        fs::write(folder.join(MARKER), Store::marker()).unwrap();
        for placed in place.unwrap() {
            fs::write(placed.path, placed.content).unwrap();
        }
    }

    #[test]
    fn a_run_comes_back_as_it_was_saved() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!Store::is_store(folder.path()));
        save(folder.path(), "default", "L4", Some("0123456789"), "2026-11-22T05:30:00Z", &[1.0]);
        assert!(Store::is_store(folder.path()));
        let store = Store::open(folder.path()).unwrap();
        let [entry] = store.entries() else { panic!("{store:?}") };
        let mut expected = run("L4", vec![kernel("gemm", 1.0)]);
        assert!(entry.id.starts_with("2026-11-22T053000Z-01234567-"), "{}", entry.id);
        assert!(entry.id.ends_with(&expected.fingerprint[..8]));
        expected.origin = entry.run.origin.clone();
        assert_eq!(entry.run, expected);
        assert_eq!(entry.run.origin.saved.as_deref(), Some("2026-11-22T05:30:00Z"));
        assert_eq!(entry.age_days("2026-12-01".parse().unwrap()), Some(8));
    }

    #[test]
    fn a_measurement_is_kept_once() {
        let folder = tempfile::tempdir().unwrap();
        save(folder.path(), "default", "L4", None, "2026-11-22", &[1.0]);
        let store = Store::open(folder.path()).unwrap();
        let again = run("L4", vec![kernel("gemm", 1.0)]);
        let now = "2026-11-23".parse().unwrap();
        let error = store.place(vec![again.clone()], ("default", SavedAs::Json), now).unwrap_err();
        assert!(error.to_string().contains("default/2026-11-22T000000Z-none-"), "{error}");
        assert!(Store::same_measurement(&again, store.entries()).is_some());
        // Under another name it is another baseline; twice in one command is refused as well.
        assert_eq!(store.place(vec![again.clone()], ("new", SavedAs::Json), now).unwrap().len(), 1);
        assert!(store.place(vec![again.clone(), again], ("new", SavedAs::Json), now).is_err());
        let empty = Run { timed_launches: 0, ..run("L4", vec![kernel("gemm", 3.0)]) };
        let error = store.place(vec![empty], ("default", SavedAs::Json), now).unwrap_err();
        assert!(error.is_unreadable(), "{error}");
    }

    /// Runs of one second are in the order of their saves, whatever their fingerprints are.
    #[test]
    fn runs_that_were_saved_at_once_keep_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let times = [1.0, 3.0, 2.0, 5.0, 4.0];
        for times in [&times[..3], &times[3..]] {
            save(folder.path(), "default", "L4", Some("aaaa"), "2026-11-22", times);
        }
        let store = Store::open(folder.path()).unwrap();
        let saved = store.entries().iter().map(|entry| entry.run.measured_s.get());
        assert_eq!(saved.collect::<Vec<_>>(), times);
        let entries = store.baseline(&super::super::Filter::default()).unwrap();
        assert!(entries.windows(2).all(|pair| pair[0].is_before(pair[1])));
        let mut early = entries[1].clone();
        early.run.origin.number = None;
        assert!(!entries[0].is_before(&early) && !early.is_before(entries[2]));
        assert!(!entries[0].is_before(entries[0]));
    }

    #[test]
    fn names_stay_within_the_store() {
        let store = Store::open_or_new(Path::new("no such folder")).unwrap();
        for name in ["", "..", "../up", "a/b", ".git", "a b", "a.", &"x".repeat(65)] {
            let now = Moment::default();
            assert!(store.place(Vec::new(), (name, SavedAs::Json), now).is_err(), "{name}");
        }
        let mut run = run("L4", vec![kernel("gemm", 1.0)]);
        run.origin.commit = Some("../../x".to_owned());
        let placed =
            store.place(vec![run], ("v1.2_a-b", SavedAs::Json), Moment::default()).unwrap();
        let name = placed[0].path.file_name().unwrap().to_string_lossy().into_owned();
        assert!(name.starts_with("1970-01-01T000000Z-______x-"), "{name}");
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        assert!(matches!(Store::open(path), Err(HistoryError::NoStore { .. })));
        assert!(matches!(Store::open(&path.join("no")), Err(HistoryError::Read { .. })));
        save(path, "default", "L4", None, "2026-11-01", &[1.0]);
        fs::write(path.join("default/cut-off.json"), "{\"schema\": \"rooflint/run/2\",").unwrap();
        fs::write(path.join("default/newer.json"), "{\"schema\": \"rooflint/run/3\"}").unwrap();
        fs::write(path.join("default/notes.txt"), "not ours").unwrap();
        fs::create_dir_all(path.join(".git/x.json")).unwrap();
        let store = Store::open(path).unwrap();
        assert_eq!(store.entries().len(), 1);
        let reasons: Vec<&str> = store.unreadable().iter().map(|one| &*one.reason).collect();
        assert!(reasons[0].contains("line 1") && reasons[1].contains("run/3"), "{reasons:?}");
        for marker in ["schema = \"rooflint/baselines/2\"", "schema =", "", "x = 1"] {
            fs::write(path.join(MARKER), marker).unwrap();
            let error = Store::open(path).unwrap_err();
            assert!(matches!(error, HistoryError::Marker { .. }), "{marker}: {error}");
        }
        fs::remove_file(path.join(MARKER)).unwrap();
        assert!(matches!(Store::open_or_new(path), Err(HistoryError::Unmarked { .. })));
        fs::remove_dir_all(path.join("default")).unwrap();
        assert!(matches!(Store::open_or_new(path), Err(HistoryError::Occupied { .. })));
    }
}
