//! The runs of one side of a comparison: exports, saved runs and reports, or a store of baselines.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::args::{Model, Reading};
use super::exit::Failure;
#[cfg(feature = "frames")]
use super::nights::{self, Night};
use super::yardstick::Yardstick;
use super::{clock, reading, session, store};
use crate::compare::Run;
use crate::config::Config;
#[cfg(feature = "frames")]
use crate::fleet;
#[cfg(feature = "frames")]
use crate::history::Dated;
use crate::history::{self, Batch, HistoryError, Moment, Store, batches, outliers};
use crate::plain;
use crate::session::Session;

/// How runs are read and judged, the same for both sides.
pub(super) struct Sides<'a> {
    /// How exports are read; its files are not looked at.
    reading: &'a Reading,
    session: Session,
    /// The same for launches of the baseline, which may have run on another device.
    of_baseline: Session,
    /// First launches of each kernel to leave out.
    warmup: u32,
}

impl<'a> Sides<'a> {
    pub(super) fn new(
        reading: &'a Reading,
        model: &Model,
        config: &Config,
        warmup: u32,
    ) -> Result<Self, Failure> {
        let session = session::new(model, config.clone())?;
        Ok(Self { reading, of_baseline: session.clone(), session, warmup })
    }

    /// The same with a baseline that ran on this device, if it is another one.
    pub(super) fn with_baseline_on(mut self, device: Option<String>) -> Result<Self, Failure> {
        if let Some(name) = &device {
            session::known(&self.session.catalog, name)?;
            self.of_baseline = self.of_baseline.on(device);
        }
        Ok(self)
    }

    /// One run for each file, and for each file that fits a pattern; a folder is one run, its files are
    /// its ranks.
    pub(super) fn runs(&self, paths: &[PathBuf]) -> Result<Side, Failure> {
        let side = self.judged(paths, &self.session)?;
        side.distinct()?;
        Ok(side)
    }

    fn judged(&self, paths: &[PathBuf], session: &Session) -> Result<Side, Failure> {
        let mut side = Side::default();
        for path in paths {
            let text = path.to_string_lossy();
            if !self.holds(path) && is_pattern(path) {
                for file in reading::fitting(&text)? {
                    // To open a pipe waits for who writes into it.
                    if file.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir()) {
                        let message = format!("{}: a pipe or device", file.display());
                        let help = "a pattern is for files; name it to read it";
                        return Err(Failure::usage(message).help(help));
                    }
                    self.add(&file, session, &mut side)?;
                }
            } else {
                self.add(path, session, &mut side)?;
            }
        }
        Ok(side)
    }

    /// Whether a name stands for something in memory.
    fn holds(&self, path: &Path) -> bool {
        self.reading.held.as_ref().is_some_and(|held| held.holds(path))
    }

    /// Adds the run of a saved run, a report or an export.
    fn add(&self, path: &Path, session: &Session, side: &mut Side) -> Result<(), Failure> {
        if let Some(run) = self.reading.held.as_ref().and_then(|held| held.runs.get(path)) {
            side.runs.push(run.clone());
            return Ok(());
        }
        if let Some((run, is_sealed)) = saved(path)? {
            if !is_sealed {
                side.note(vec![unsealed(&run.label)]);
            }
            side.runs.push(run);
            return Ok(());
        }
        #[cfg(feature = "frames")]
        if let Some((folder, run)) = fleet::partitioned(path) {
            let how = (self.warmup, self.reading.threads);
            let found = fleet::runs(&folder, run.as_deref(), session, how)?;
            side.runs.extend(found.runs.into_iter().map(|(name, run)| dated(&name, run)));
            side.note(found.caveats);
            return Ok(());
        }
        let files = vec![path.to_owned()];
        let profile = reading::read(&Reading { files, whole: true, ..self.reading.clone() })?;
        side.note(reading::left_out(&profile).into_iter().collect());
        let judged = session.judge(&profile)?;
        side.note(judged.caveats());
        let mut run = judged.warm_run(self.warmup)?;
        if path.is_dir() {
            run.label = path.display().to_string();
            run.ranks = ranks(path, &run);
            run.unread = profile.unread_files.iter().map(|file| inside(path, file)).collect();
        }
        side.runs.push(run);
        Ok(())
    }
}

/// Launches of each rank of a folder, by the path of its file in the folder; none where one file is all of it.
fn ranks(folder: &Path, run: &Run) -> BTreeMap<String, u64> {
    if run.files.len() < 2 {
        return BTreeMap::new();
    }
    run.files.iter().map(|file| (inside(folder, &file.path), file.launches)).collect()
}

/// The path of a file in a folder.
fn inside(folder: &Path, path: &str) -> String {
    let path = Path::new(path);
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}

/// A run of a partitioned table with the time that its name begins with.
#[cfg(feature = "frames")]
fn dated(name: &str, mut run: Run) -> Run {
    if let Some(dated) = Dated::of(name) {
        run.origin.saved = Some(dated.saved.to_string());
        run.origin.number = Some(dated.repeat);
    }
    run
}

/// That nobody would know if a saved run were damaged.
fn unsealed(label: &str) -> String {
    format!("{label} was saved without a fingerprint of its content: damage would not be noticed")
}

/// A run or report that was saved, and whether damage of it would have been seen; none where the
/// file is something else. Reports carry no fingerprint, and are not kept for long.
fn saved(path: &Path) -> Result<Option<(Run, bool)>, Failure> {
    let ends = |with: &str| path.extension().is_some_and(|end| end.eq_ignore_ascii_case(with));
    let (is_json, is_table) = (ends("json"), ends("parquet"));
    if !(is_json || is_table) || !path.is_file() {
        return Ok(None);
    }
    let shown = path.display().to_string();
    let failed =
        |message: String| Failure::Ingest(crate::ingest::IngestError::new(shown.clone(), message));
    let unread = |cause| failed(format!("cannot read: {}", plain::io(&cause)));
    if is_table {
        // Any other table is an export.
        if !Run::is_table(path) {
            return Ok(None);
        }
        let run = Run::from_parquet(path).map_err(|message| {
            let error = crate::ingest::IngestError::new(shown.clone(), message);
            error.help("save the run again, or use the rooflint version that wrote it")
        })?;
        return Ok(Some((Run { label: shown, ..run }, true)));
    }
    let text = plain::text_of(path, plain::WRITTEN).map_err(unread)?;
    let run = Run::from_document(&text).map_err(failed)?;
    Ok(run.map(|mut run| {
        run.label.clone_from(&shown);
        let is_run = text.contains("\"rooflint/run/");
        (run, !is_run || Run::is_sealed(&text))
    }))
}

/// The runs of a side, and what a reader must know of where they come from.
#[derive(Default)]
pub(super) struct Side {
    pub(super) runs: Vec<Run>,
    pub(super) notes: Vec<String>,
    /// The first store that was named.
    pub(super) store: Option<Store>,
    /// Why there is no baseline, where one may be missing.
    pub(super) missing: Option<String>,
    /// Why the order in which its runs were taken is not known, if so.
    pub(super) unordered: Option<String>,
}

impl Side {
    /// Refuses a measurement that is named twice, under whatever name: it looks like repeats that agree.
    fn distinct(&self) -> Result<(), Failure> {
        for (at, run) in self.runs.iter().enumerate() {
            let mut before = self.runs[..at].iter();
            if let Some(same) = before.find(|same| same.is_measurement_of(run)) {
                let message = format!("{} and {} are the same measurement", same.label, run.label);
                return Err(Failure::usage(message).help("name each run of a side once"));
            }
        }
        Ok(())
    }

    /// Refuses a measurement that is on both sides.
    pub(super) fn apart_from(&self, current: &[Run]) -> Result<(), Failure> {
        for run in current {
            let mut before = self.runs.iter();
            if let Some(same) = before.find(|same| same.is_measurement_of(run)) {
                let message = format!(
                    "{} and {} are the same measurement, on both sides",
                    same.label, run.label
                );
                return Err(Failure::usage(message).help("compare with an earlier run"));
            }
        }
        Ok(())
    }

    /// Adds notes that it does not have.
    pub(super) fn note(&mut self, notes: Vec<String>) {
        for note in notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }
}

impl Sides<'_> {
    /// The runs of the baseline: files as for the current side, or the newest of a store that ran on the
    /// device of the current runs.
    ///
    /// What a store holds must not be the very runs under test; they are refused.
    pub(super) fn baseline(
        &self,
        paths: &[PathBuf],
        (current, yardstick): (&[Run], &Yardstick),
        max_age_days: u32,
    ) -> Result<Side, Failure> {
        let mut baseline = Side::default();
        for path in paths.iter().filter(|path| !self.holds(path) && !is_pattern(path)) {
            store::refuse_inside(path, ["--baseline ", "--baseline-name"])?;
        }
        // What is not there yet may become a store.
        let chooses = |path: &PathBuf| {
            (path.is_dir() && Store::is_store(path)) || is_partitioned(path) || is_missing(path)
        };
        if let Some(option) = yardstick.option().filter(|_| !paths.iter().any(chooses)) {
            let message = format!("{option} needs a store as the baseline");
            return Err(Failure::usage(message).help("use --baseline FOLDER with saved runs"));
        }
        for path in paths {
            if path.is_dir() && Store::is_store(path) {
                let mut store = Store::open_heads(path)?;
                stored(&mut store, (current, yardstick), max_age_days, &mut baseline)?;
                baseline.store.get_or_insert(store);
            } else if !self.holds(path)
                && let Some(message) = missing(path)?
            {
                return Err(Failure::missing_baseline(message).help(
                    "`rooflint baseline save` makes one; --allow-missing-baseline passes the first run",
                ));
            } else {
                #[cfg(feature = "frames")]
                if let Some((folder, None)) = fleet::partitioned(path)
                    && let Some(night) = nights::before(&folder, current, yardstick)?
                {
                    self.night(&folder, &night, max_age_days, &mut baseline)?;
                    continue;
                }
                let side = self.judged(std::slice::from_ref(path), &self.of_baseline);
                let side = side.map_err(|failure| {
                    let is_unmarked = path.is_dir() && Store::is_unmarked(path);
                    let unmarked = || HistoryError::Unmarked { folder: path.clone() }.into();
                    if is_unmarked { unmarked() } else { failure }
                })?;
                baseline.runs.extend(side.runs);
                baseline.note(side.notes);
            }
        }
        baseline.distinct()?;
        Ok(baseline)
    }

    /// Adds the runs of a partitioned table that are the yardstick.
    #[cfg(feature = "frames")]
    fn night(
        &self,
        folder: &Path,
        night: &Night,
        max_age_days: u32,
        baseline: &mut Side,
    ) -> Result<(), Failure> {
        let many = crate::report::count(night.runs.len() as u64, "run", "runs");
        let names = night.runs.join(", ");
        baseline.note(vec![format!("baseline: {many} of {}: {names}", folder.display())]);
        baseline.note(night.notes.clone());
        baseline.note(old(night.saved.days_until(clock::now()), max_age_days));
        baseline.note(ahead(night.saved, clock::now()).into_iter().collect());
        for run in &night.runs {
            self.add(&folder.join(format!("run={run}")), &self.of_baseline, baseline)?;
        }
        Ok(())
    }
}

/// Whether a path is a partitioned launch table, or a run of one.
pub(super) fn is_partitioned(path: &Path) -> bool {
    #[cfg(feature = "frames")]
    return fleet::partitioned(path).is_some();
    #[cfg(not(feature = "frames"))]
    {
        let _ = path;
        false
    }
}

/// The baseline that the name of a run of a partitioned table says; `None` for other runs.
pub(super) fn baseline_of(run: &Run) -> Option<String> {
    #[cfg(feature = "frames")]
    return nights::of(run).map(|night| night.name);
    #[cfg(not(feature = "frames"))]
    {
        let _ = run;
        None
    }
}

/// Whether a name is a pattern for files, and no file itself.
pub(super) fn is_pattern(path: &Path) -> bool {
    !path.exists() && path.to_string_lossy().contains(['*', '?', '['])
}

/// Says that there is no baseline of a name, or of a pattern; `None` where there is.
fn missing(path: &Path) -> Result<Option<String>, Failure> {
    let shown = path.display();
    if is_missing(path) {
        // Mistyped, it would pass every gate as a first run.
        let near = plain::beside(path).map(|near| format!(" (did you mean {near}?)"));
        return Ok(Some(format!("there is no baseline {shown}{}", near.unwrap_or_default())));
    }
    let is_idle = is_pattern(path) && reading::any_fitting(&path.to_string_lossy())?.is_empty();
    Ok(is_idle.then(|| format!("there is no baseline {shown}: {}", reading::NONE_FITS)))
}

/// Whether nothing is at a path, which is no pattern; an empty folder is where a store will be.
fn is_missing(path: &Path) -> bool {
    let is_empty = |path: &Path| std::fs::read_dir(path).is_ok_and(|mut all| all.next().is_none());
    (!path.exists() && !is_pattern(path)) || is_empty(path)
}

/// Adds the runs of a store that are the yardstick: on the device of the current runs.
fn stored(
    store: &mut Store,
    (current, yardstick): (&[Run], &Yardstick),
    max_age_days: u32,
    baseline: &mut Side,
) -> Result<(), Failure> {
    store.check(yardstick.name())?;
    let device = current.iter().flat_map(Run::device_names).next().map(str::to_owned);
    let (filter, notes) = yardstick.filter(store, device)?;
    let completed = store.complete_baseline(&filter);
    // Damage of what is compared shows only where it is read wholly, and does not mean that there is none.
    store.check(yardstick.name())?;
    completed.map_err(not_chosen)?;
    let entries = store.baseline(&filter).map_err(not_chosen)?;
    baseline.note(notes);
    baseline.note(batches(entries.iter().copied()).iter().map(chosen).collect());
    for run in current {
        if let Some(entry) = Store::same_measurement(run, entries.iter().copied()) {
            let message = format!(
                "{} is saved as {} in the baseline: a run cannot be its own yardstick",
                run.label, entry.id
            );
            return Err(Failure::usage(message)
                .help("gate a run before it is saved, or name an older baseline"));
        }
    }
    let all = store.entries().iter().filter(|entry| filter.fits(entry));
    for outlier in outliers(&batches(all)) {
        baseline.notes.push(format!("doubtful baseline: {}", outlier.sentence()));
    }
    for unreadable in store.unreadable() {
        let path = unreadable.path.display();
        baseline.notes.push(format!("{path} of the store was not read: {}", unreadable.reason));
    }
    let unclear = entries.windows(2).find(|pair| !pair[0].is_before(pair[1]));
    if let Some(&[one, two]) = unclear {
        baseline.unordered.get_or_insert_with(|| {
            let folder = store.folder().display();
            format!("{folder} does not say which of {} and {} is the earlier run", one.id, two.id)
        });
    }
    let now = clock::now();
    let oldest = entries.iter().filter_map(|entry| entry.age_days(now)).max();
    baseline.note(oldest.map_or_else(Vec::new, |age| old(age, max_age_days)));
    baseline.note(entries.iter().filter_map(|entry| ahead(entry.saved?, now)).take(1).collect());
    let unchecked = entries.iter().filter(|entry| !entry.is_sealed);
    baseline.notes.extend(unchecked.map(|entry| unsealed(&entry.id)));
    for entry in entries {
        let mut run = entry.run.clone();
        run.label.clone_from(&entry.id);
        baseline.runs.push(run);
    }
    Ok(())
}

/// Why a store has no baseline to compare with.
fn not_chosen(error: HistoryError) -> Failure {
    match error {
        HistoryError::NotFound { message } => {
            Failure::missing_baseline(message).help("`rooflint baseline list` shows what there is")
        }
        several @ HistoryError::Several { .. } => {
            Failure::usage(several.to_string()).help("--baseline-name NAME chooses")
        }
        other => Failure::History(other),
    }
}

/// Says that a baseline is dated ahead: later runs never take its place.
fn ahead(saved: Moment, now: Moment) -> Option<String> {
    saved
        .is_well_after(now)
        .then(|| format!("the baseline is of {saved}, in the future: no run of today is newer; delete it if a clock was wrong"))
}

/// That a baseline is older than the policy allows.
fn old(age_days: u64, max_age_days: u32) -> Vec<String> {
    let note = format!("old baseline: it is {age_days} days old, and {max_age_days} are allowed");
    Vec::from_iter((age_days > u64::from(max_age_days)).then_some(note))
}

/// What a batch of the store is, for a reader: commit, branch and age of the yardstick.
fn chosen(batch: &Batch<'_>) -> String {
    let commit = batch
        .commit()
        .map_or_else(String::new, |commit| format!(" of commit {}", history::short(commit)));
    let branch = batch.branch().map_or_else(String::new, |branch| format!(" on branch {branch}"));
    let saved = batch.saved().map_or_else(String::new, |saved| format!(", saved {saved}"));
    let runs = crate::report::count(batch.entries.len() as u64, "run", "runs");
    format!("baseline: {runs}{commit}{branch}{saved}")
}
