//! What must hold of whatever was read: amounts, counts, repetition, and the way through the launch table and back.

use std::cell::RefCell;
use std::path::PathBuf;

use rooflint::compare::Run;
use rooflint::ingest::{self, IngestError, Input, Options};
use rooflint::model::Profile;
use rooflint::report::{self, Report, Style};
use rooflint::session::Session;
use rooflint::table::Table;

/// Larger profiles are not judged: the time goes into reading.
const JUDGED: usize = 64;

/// The device of exports that name none.
const DEVICE: &str = "H100 SXM5 80GB";

/// A file of this thread, in memory where the system has a folder there.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        let memory = PathBuf::from("/dev/shm");
        let folder = if memory.is_dir() { memory } else { std::env::temp_dir() };
        let thread = format!("{:?}", std::thread::current().id());
        let thread: String = thread.chars().filter(char::is_ascii_digit).collect();
        Self(folder.join(format!("rooflint-fuzz-{}-{thread}", std::process::id())))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

thread_local! {
    static PLACE: RefCell<Place> = RefCell::new(Place::new());
}

/// Reads files as one input; they belong to one run.
pub(crate) fn read_files(files: &[Vec<u8>]) -> Result<Profile, IngestError> {
    PLACE.with_borrow(|place| {
        let paths = (0..files.len()).map(|at| Place(place.0.with_extension(at.to_string())));
        let paths: Vec<Place> = paths.collect();
        for (path, bytes) in paths.iter().zip(files) {
            std::fs::write(&path.0, bytes).expect("a file can be written");
        }
        let inputs: Vec<Input> = paths.iter().map(|path| Input::Named(path.0.clone())).collect();
        ingest::read(&inputs, &Options::default())
    })
}

/// Reads bytes as a file of the user, in a format, or in the one that is recognized.
pub(crate) fn read(bytes: &[u8], format: Option<&str>) -> Option<Profile> {
    let from = format.and_then(ingest::format);
    read_with(bytes, &Options { from, ..Options::default() })
}

/// Reads bytes as a file of the user.
pub(crate) fn read_with(bytes: &[u8], options: &Options) -> Option<Profile> {
    PLACE.with_borrow(|place| {
        std::fs::write(&place.0, bytes).expect("a file can be written");
        ingest::read(&[Input::Named(place.0.clone())], options).ok()
    })
}

/// Checks what was read.
pub(crate) fn check(profile: &Profile) {
    for launch in profile.iter() {
        assert!(launch.head.count > 0, "a row without launches");
        for quantity in profile.launches.quantities() {
            let Some(value) = launch.value(quantity) else { continue };
            assert!(value.is_finite(), "{}: {value}", quantity.column());
        }
        assert!(launch.duration().is_none_or(|(time, _)| time.get() >= 0.0), "a negative time");
        assert!(launch.dram_bytes().is_none_or(|(bytes, _)| bytes.get() >= 0.0), "negative bytes");
        assert!(launch.work().all(|(_, work, _)| work.get() >= 0.0), "negative work");
    }
    for source in &profile.sources {
        let known = source.launches + source.skips.count + source.other_lines;
        assert!(known > 0 || source.rows == 0, "{} rows came to nothing", source.rows);
        assert!(source.skips.first.len() as u64 <= source.skips.count);
    }
    tables(profile);
}

/// Every row is a launch, repeats one, or was counted as skipped.
pub(crate) fn rows_are_counted(profile: &Profile) {
    let rows: u64 = profile.sources.iter().map(|source| source.rows).sum();
    let skips: u64 = profile.sources.iter().map(|source| source.skips.count).sum();
    let launches = profile.launches.len() as u64;
    assert!(launches <= rows, "{launches} launches of {rows} rows");
    let repeated: u64 = profile.sources.iter().map(|source| source.repeated).sum();
    // Launches of two runs of one program become one, which a note says.
    let is_joined = profile.notes.iter().any(|note| note.starts_with("joined "));
    let joined = if is_joined {
        let read: u64 = profile.sources.iter().map(|source| source.launches).sum();
        read.saturating_sub(launches + repeated)
    } else {
        0
    };
    // Rows of copies and the like are told by a clue, with their number.
    let clues = profile.sources.iter().flat_map(|source| &source.clues);
    let others: u64 = clues
        .filter(|clue| clue.contains("not a kernel") || clue.contains("not kernels"))
        .filter_map(|clue| clue.split(' ').next()?.replace(',', "").parse::<u64>().ok())
        .sum();
    // Cells that were skipped are counted with the rows.
    assert!(
        rows <= launches + joined + skips + repeated + others,
        "{rows} rows, {launches} launches, {skips} skipped, {repeated} repeated, {others} no kernels"
    );
}

/// The columns that say where a table was read from.
fn is_place(name: &str) -> bool {
    matches!(name, "source" | "source_format")
}

/// The cells of a table, whose order of launches is that of the profile.
pub(crate) fn cells(profile: &Profile) -> Vec<(String, String)> {
    let text = Table::of(profile).csv();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<String> =
        reader.headers().expect("a table has titles").iter().map(str::to_owned).collect();
    let mut columns: Vec<(String, String)> =
        names.into_iter().map(|name| (name, String::new())).collect();
    // Numbers are written so that they come back exactly.
    for record in reader.records() {
        let record = record.expect("our own table is a table");
        for ((_, cells), cell) in columns.iter_mut().zip(&record) {
            cells.push_str(&format!("{cell:?} "));
        }
    }
    columns.retain(|(name, _)| !is_place(name));
    columns
}

/// The rows of a table without the columns of the place, the titles first, in an order of their own.
pub(crate) fn sorted_rows(profile: &Profile) -> Vec<Vec<String>> {
    let columns = cells(profile);
    let titles = columns.iter().map(|(title, _)| title.clone()).collect();
    let text = Table::of(profile).csv();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names = reader.headers().expect("a table has titles").clone();
    let mut rows: Vec<Vec<String>> = reader
        .records()
        .map(|record| {
            let record = record.expect("our own table is a table");
            let cells = record.iter().zip(&names).filter(|(_, name)| !is_place(name));
            cells.map(|(cell, _)| cell.to_owned()).collect()
        })
        .collect();
    rows.sort();
    rows.insert(0, titles);
    rows
}

/// The launch table leads back to the same launches, as CSV and as JSON.
fn tables(profile: &Profile) {
    let table = Table::of(profile);
    let before = cells(profile);
    for text in [table.csv(), table.json()] {
        let again = read(text.as_bytes(), Some("launch-table"));
        let again = again.expect("our own launch table can be read");
        let skips: u64 = again.sources.iter().map(|source| source.skips.count).sum();
        assert_eq!(skips, 0, "cells of our own table are skipped");
        // Runs of a damaged export may complete each other only after others were joined; that is noted.
        let is_joined = again.launches.len() < profile.launches.len() && !again.notes.is_empty();
        let after = cells(&again);
        let changed = || -> Vec<_> {
            let differ = before.iter().filter(|one| !after.contains(*one));
            differ.chain(after.iter().filter(|one| !before.contains(*one))).collect()
        };
        assert!(is_joined || before == after, "the table leads elsewhere: {:#?}", changed());
    }
}

/// Whether an expensive check is made of an input: of one in eight, always the same ones.
pub(crate) fn is_chosen(bytes: &[u8]) -> bool {
    bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte)).is_multiple_of(8)
}

/// Judges the launches: sums are amounts, and the run comes back from its document.
pub(crate) fn judge(profile: &Profile) {
    if profile.launches.len() > JUDGED {
        return;
    }
    let session = Session::default().on(Some(DEVICE.to_owned()));
    // The device may lack the units of a data type.
    let Ok(judged) = session.judge(profile) else { return };
    let totals = &judged.analysis.totals;
    for amount in [
        totals.measured,
        totals.instrumented,
        totals.modeled,
        totals.roofline_time,
        totals.roofline_time_likely,
        totals.roofline_time_high,
        totals.savings_low,
        totals.savings,
        totals.savings_likely,
        totals.savings_unproven,
        totals.savings_high,
        totals.unmodeled,
    ] {
        assert!(amount.get() >= 0.0, "{totals:?}");
    }
    let shares = judged.analysis.kernels.iter().map(|kernel| totals.share(kernel.measured));
    let shares: f64 = shares.sum();
    assert!(shares < 1.0 + 1e-9, "the kernels have {shares} of the time");
    let report = Report {
        analysis: &judged.analysis,
        findings: &judged.findings,
        top: 3,
        what_if: &[],
        command: None,
    };
    let json = report::written(&report, "json", &Style::default()).expect("a format");
    let run = judged.run(0);
    // Amounts beyond 1e30 are refused: sums of many may reach that.
    let is_possible = |kernel: &rooflint::compare::RunKernel| {
        kernel.bytes.is_none_or(|bytes| bytes.get() < 1e27)
            && kernel.flops.is_none_or(|work| work.get() < 1e27)
            && kernel.measured_s.get() < 1e15
    };
    if run.kernels.iter().all(is_possible) {
        let again = Run::from_json(&run.json());
        assert_eq!(again.as_ref(), Ok(&run), "a saved run comes back changed");
        assert!(matches!(Run::from_document(&json), Ok(Some(_))), "our own report is not read");
    }
}
