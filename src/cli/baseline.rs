//! `baseline`: keeps runs that later ones are held against, shows them, and throws old ones away.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use super::args::{Configuration, Model, Reading};
use super::exit::{Code, Failure};
use super::origin::found;
use super::output::{self, Kind, Outputs, Place};
use super::sides::{self, Side, Sides};
use super::store::{self, Chosen, FOLDER};
use super::terminal::Terminal;
use super::{clock, config};
use crate::compare::Run;
use crate::history::{
    DEFAULT_NAME, Entry, Filter, HistoryError, MARKER, Moment, Placed, SavedAs, Store,
};
use crate::report::{self, BaselineList, BaselinePages, Style, count};
use crate::units::si;

const EXAMPLES: &str = "\
Examples:
  rooflint baseline save run1.csv run2.csv run3.csv  three runs of this commit
  rooflint baseline list
  rooflint baseline show latest
  rooflint baseline prune --keep 50 --older-than 90d
  rooflint trend                                     show where it became slower

The folder (`baselines`, or --store) holds one JSON document or Parquet table per run. Commit it, or keep it as an
artifact: see docs/baselines.md.";

/// Save, list, show and prune baseline runs
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Baseline {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Save runs: each file is a run, a folder is one run of several ranks
    Save(Save),
    /// List saved runs by commit
    List(List),
    /// Show one run with its slowest kernels; as JSON, the saved run itself
    Show(Show),
    /// Delete old runs; keeps the newest commit of each baseline, branch and device
    Prune(Prune),
}

#[derive(Debug, Args)]
struct Save {
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    model: Model,
    #[command(flatten)]
    configuration: Configuration,

    /// Skip this many first launches of each kernel
    #[arg(long, value_name = "N", default_value_t = 0)]
    warmup: u32,

    /// Save to this folder; it is created if missing
    #[arg(long, value_name = "FOLDER", default_value = FOLDER, help_heading = "Baseline")]
    store: PathBuf,

    /// Set the baseline's name, for several programs in one store [default: that in the name of a table's run, else
    /// `default`]
    #[arg(long, value_name = "NAME", help_heading = "Baseline")]
    name: Option<String>,

    /// Format of the saved run [default: that of the newest run, else JSON]
    #[arg(long, value_name = "FORMAT", help_heading = "Baseline")]
    format: Option<Form>,

    /// Set the commit [default: `GITHUB_SHA` or `CI_COMMIT_SHA`, else from .git]
    #[arg(long, value_name = "COMMIT", help_heading = "Baseline", value_parser = NonEmptyStringValueParser::new())]
    commit: Option<String>,

    /// Set the branch [default: `GITHUB_REF_NAME` or `CI_COMMIT_BRANCH`, else from .git]
    #[arg(long, value_name = "BRANCH", help_heading = "Baseline", value_parser = NonEmptyStringValueParser::new())]
    branch: Option<String>,

    /// Set the time of all runs in UTC, such as 2026-11-22T05:30:00Z [default: that of the run, else now]
    #[arg(long, value_name = "TIME", help_heading = "Baseline")]
    date: Option<Moment>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// A document for version control, a line per kernel
    Json,
    /// A table for engines of SQL, a row per kernel
    Parquet,
}

impl Form {
    const fn form(self) -> SavedAs {
        match self {
            Self::Json => SavedAs::Json,
            Self::Parquet => SavedAs::Parquet,
        }
    }
}

#[derive(Debug, Args)]
struct List {
    /// Read this store of baselines
    #[arg(long, value_name = "FOLDER", default_value = FOLDER)]
    store: PathBuf,
    #[command(flatten)]
    chosen: Chosen,
    #[command(flatten)]
    outputs: Outputs,
}

#[derive(Debug, Args)]
struct Show {
    /// `latest`, or the beginning of a run's name, commit or fingerprint
    entry: String,
    /// Read this store of baselines
    #[arg(long, value_name = "FOLDER", default_value = FOLDER)]
    store: PathBuf,
    /// Show this many kernels
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,
    /// Print full kernel names, as the profiler wrote them
    #[arg(long)]
    full_names: bool,
    #[command(flatten)]
    outputs: Outputs,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("limit").args(["keep", "older_than"]).required(true).multiple(true))]
struct Prune {
    /// Read this store of baselines
    #[arg(long, value_name = "FOLDER", default_value = FOLDER)]
    store: PathBuf,
    #[command(flatten)]
    chosen: Chosen,
    /// Keep this many commits of each baseline, branch and device
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    /// Delete only what is older than this, such as `90d` or `12w`
    #[arg(long, value_name = "AGE", value_parser = days)]
    older_than: Option<u64>,
    /// Show what would be deleted, without deleting it
    #[arg(long)]
    dry_run: bool,
}

/// Days, from `90d` or `12w`.
fn days(text: &str) -> Result<u64, String> {
    let wrong = || "give an age such as 90d (days) or 12w (weeks)".to_owned();
    let (number, factor) = match (text.strip_suffix('d'), text.strip_suffix('w')) {
        (Some(number), _) => (number, 1),
        (_, Some(number)) => (number, 7),
        _ => return Err(wrong()),
    };
    let number: u64 = number.trim().parse().map_err(|_| wrong())?;
    number.checked_mul(factor).ok_or_else(wrong)
}

pub(super) fn run(command: &Baseline, terminal: &Terminal) -> Result<(), Failure> {
    match &command.action {
        Action::Save(command) => save(command, terminal),
        Action::List(command) => list(command, terminal),
        Action::Show(command) => show(command, terminal),
        Action::Prune(command) => prune(command, terminal),
    }
}

/// Writes runs into a store under a name; the store is made if it is not there.
pub(super) fn keep(
    runs: Vec<Run>,
    store: &Store,
    (name, form): (&str, SavedAs),
    now: Moment,
    terminal: &Terminal,
) -> Result<Vec<Placed>, Failure> {
    let placed = store.place(runs, (name, form), now)?;
    let create = |folder: &Path| {
        std::fs::create_dir_all(folder)
            .map_err(|cause| Failure::Output { path: folder.display().to_string(), cause })
    };
    // First the marker: without it what an interrupted save leaves would not be a store.
    create(store.folder())?;
    if !Store::is_store(store.folder()) {
        terminal.write(&store.folder().join(MARKER), Store::marker().as_bytes())?;
    }
    create(&store.folder().join(name))?;
    for placed in &placed {
        terminal.write(&placed.path, &placed.content)?;
    }
    Ok(placed)
}

fn save(command: &Save, terminal: &Terminal) -> Result<(), Failure> {
    let mut store = Store::open_or_new(&command.store)?;
    let (here, from) = found();
    let now = command.date.unwrap_or_else(clock::now);
    if let Some(date) = command.date
        && date.is_well_after(clock::now())
    {
        return Err(Failure::usage(format!("--date {date} is in the future"))
            .help("it is the time in UTC when the runs were measured"));
    }
    let config = config::find(&command.configuration, terminal)?;
    let sides = Sides::new(&command.reading, &command.model, &config, command.warmup)?;
    let Side { mut runs, notes, .. } = sides.runs(&command.reading.files)?;
    for note in notes {
        terminal.note(Code::Input, &note);
    }
    let name = name_of(command, &runs)?;
    let form = command.format.map_or_else(|| store.form(&name), Form::form);
    let (mut saved, mut has_earlier) = (Vec::new(), false);
    for run in &mut runs {
        let origin = &mut run.origin;
        // What a run that was saved before says of itself stays, unless it is overruled. What is checked out now is not
        // what was measured then, as in the nights of a table.
        let is_earlier = origin.saved.is_some() && origin.commit.is_none();
        if command.commit.is_some() || (origin.commit.is_none() && !is_earlier) {
            origin.commit = command.commit.clone().or_else(|| here.commit.clone());
        }
        if command.branch.is_some() || (origin.branch.is_none() && !is_earlier) {
            // The branch that is checked out is not that of another commit.
            let same = origin.commit == here.commit;
            origin.branch = command.branch.clone().or_else(|| here.branch.clone().filter(|_| same));
        }
        has_earlier |= is_earlier;
        if command.date.is_some() {
            origin.saved = None;
        }
        saved.push((origin.clone(), describe(run)));
    }
    let placed = keep(runs, &store, (&name, form), now, terminal)?;
    let folder = command.store.join(&name);
    let mut text =
        format!("saved {} in {}\n", count(placed.len() as u64, "run", "runs"), folder.display());
    for (placed, (_, described)) in placed.iter().zip(&saved) {
        let name = placed.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        text.push_str(&format!("  {name}  {described}\n"));
    }
    if let Some((origin, _)) = saved.first() {
        text.push_str(&match (&origin.commit, &origin.branch) {
            (Some(commit), branch) => {
                let branch = branch.as_ref().map(|branch| format!(", branch {branch}"));
                let from =
                    from.filter(|_| command.commit.is_none() && here.commit == origin.commit);
                let from = from.map(|from| format!(" (from {from})")).unwrap_or_default();
                format!("commit {commit}{}{from}\n", branch.unwrap_or_default())
            }
            (None, _) if has_earlier => {
                "no commit is known: the runs were measured earlier, and the commit of today may be another; set it with \
                 --commit\n"
                    .to_owned()
            }
            (None, _) => "no commit is known: there is no git repository here, and neither \
                          GITHUB_SHA nor CI_COMMIT_SHA is set; set it with --commit\n"
                .to_owned(),
        });
    }
    store.complete(&placed, &name);
    let doubts = report::doubts(&store, &Filter { name: Some(name), ..Filter::default() });
    for doubt in doubts.iter().chain(&report::unread(&store)) {
        text.push_str(&format!("note: {doubt}\n"));
    }
    terminal.say(&terminal.style().adapted(report::printable_lines(&text) + "\n"))
}

/// The name under which runs are saved: that of the command line, else the one that runs of a table agree on.
fn name_of(command: &Save, runs: &[Run]) -> Result<String, Failure> {
    if let Some(name) = &command.name {
        return Ok(name.clone());
    }
    let own = |run: &Run| sides::baseline_of(run).unwrap_or_else(|| DEFAULT_NAME.to_owned());
    let names: BTreeSet<String> = runs.iter().map(own).collect();
    if names.len() > 1 {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        return Err(Failure::usage(format!("the runs are of several baselines: {names}"))
            .help("save those of one at a time, or give all the same --name"));
    }
    Ok(names.into_iter().next().unwrap_or_else(|| DEFAULT_NAME.to_owned()))
}

fn describe(run: &Run) -> String {
    format!(
        "{} in {} of {}, {}",
        si(run.measured_s.get(), "s"),
        count(run.timed_launches, "launch", "launches"),
        count(run.kernels.len() as u64, "kernel", "kernels"),
        run.device_names().join(", ")
    )
}

fn list(command: &List, terminal: &Terminal) -> Result<(), Failure> {
    let places = command.outputs.places("format of baselines")?;
    let store = store::named(&command.store)?;
    let filter = command.chosen.filter(&store)?;
    let list = BaselineList { store: &store, filter: &filter, now: clock::now() };
    output::write(&places, &list, |style, _| style, terminal)
}

fn show(command: &Show, terminal: &Terminal) -> Result<(), Failure> {
    let places = command.outputs.places("format of baselines")?;
    let store = Store::open(&command.store)?;
    let entries: Vec<&Entry> = store.find(&command.entry)?;
    let is_json = |place: &Place<Kind>| place.format == Kind::Named("json");
    if entries.len() > 1 && places.iter().any(is_json) {
        let names: Vec<String> =
            entries.iter().map(|entry| format!("{}/{}", entry.name, entry.id)).collect();
        let (many, entry) = (entries.len(), &command.entry);
        return Err(Failure::usage(format!(
            "{entry} is {many} runs, and a document of JSON is one"
        ))
        .help(format!("name one: {}", names.join(", "))));
    }
    let pages = BaselinePages { entries: &entries, now: clock::now(), top: command.top };
    let style = |style, _: &Path| Style { full_names: command.full_names, ..style };
    output::write(&places, &pages, style, terminal)
}

fn prune(command: &Prune, terminal: &Terminal) -> Result<(), Failure> {
    let store = store::named(&command.store)?;
    let filter = command.chosen.filter(&store)?;
    // A branch that was mistyped would keep its runs forever, without a word.
    if filter != Filter::default() && !store.entries().iter().any(|entry| filter.fits(entry)) {
        return Err(HistoryError::NotFound { message: store.nothing(&filter) }.into());
    }
    let gone = store.prunable(&filter, command.keep, command.older_than, clock::now());
    let mut text = String::new();
    for entry in &gone {
        if !command.dry_run {
            match std::fs::remove_file(&entry.path) {
                // Another prune was faster.
                Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {}
                done => done.map_err(|cause| Failure::Output {
                    path: entry.path.display().to_string(),
                    cause,
                })?,
            }
        }
        text.push_str(&format!("  {}/{}\n", entry.name, entry.id));
    }
    let (verb, keep) = if command.dry_run { ("would remove", "keep") } else { ("removed", "kept") };
    let left = count((store.entries().len() - gone.len()) as u64, "entry", "entries");
    let gone = count(gone.len() as u64, "entry", "entries");
    terminal.say(&report_lines(
        &format!("{verb} {gone}, {keep} {left} in {}", store.folder().display()),
        &text,
    ))
}

/// A first line with what is listed below it.
fn report_lines(first: &str, listed: &str) -> String {
    report::printable_lines(&format!("{first}\n{listed}")) + "\n"
}

#[cfg(test)]
mod tests {
    use super::days;

    #[test]
    fn ages_are_days_or_weeks() {
        assert_eq!((days("90d"), days("12w")), (Ok(90), Ok(84)));
        for text in ["", "90", "d", "-1d", "1.5d", "3m", "99999999999999999999d"] {
            assert!(days(text).is_err(), "{text}");
        }
        assert!(days(&format!("{}w", u64::MAX)).is_err());
    }
}
