//! Launches written in any dialect read back to the same launches, or are refused; nothing is lost without being
//! counted.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use rooflint::model::{Dim3, Origin, Pipe, Profile, Quantity};
use rooflint::table::Table;

use super::choices::Choices;
use super::dialects::{self, Numbers};
use super::launches::{Truth, launches};
use super::oracles::{check, is_chosen, judge, read, read_files, sorted_rows};
use super::sheet::{Rows, Sheet};

/// How many files were written, and how many of them were refused: a property that refuses everything would hold.
pub(crate) static WRITTEN: AtomicU64 = AtomicU64::new(0);
pub(crate) static REFUSED: AtomicU64 = AtomicU64::new(0);

/// Reads files as one input, and counts whether they were refused.
fn read_all(files: &[Vec<u8>]) -> Option<Profile> {
    WRITTEN.fetch_add(1, Ordering::Relaxed);
    let profile = read_files(files).ok();
    if profile.is_none() {
        REFUSED.fetch_add(1, Ordering::Relaxed);
    }
    profile
}

#[derive(Clone, Copy, PartialEq)]
enum Dialect {
    Wide,
    Long,
    Pyprof,
}

impl Dialect {
    fn choose(choices: &mut Choices<'_>) -> Self {
        choices.pick(&[Self::Wide, Self::Long, Self::Pyprof])
    }

    /// What this dialect says of launches.
    fn told(self, launches: &mut [Truth]) {
        if self == Self::Pyprof {
            for launch in launches {
                launch.process = 0;
                // PyProf prints quotes as they are, and does not double them.
                launch.kernel = launch.kernel.replace('"', "'");
                launch.nanoseconds.get_or_insert(1);
                (launch.bytes, launch.instructions) = (None, None);
            }
        }
    }

    fn rows(self, launches: &[Truth], numbers: Numbers, choices: &mut Choices<'_>) -> Rows {
        match self {
            Self::Wide => dialects::wide(launches, numbers, choices),
            Self::Long => dialects::long(launches, numbers, choices),
            Self::Pyprof => dialects::pyprof(launches, choices),
        }
    }

    /// The number of a launch as it is read.
    fn id(self, launch: &Truth) -> u32 {
        if self == Self::Pyprof { launch.id + 1 } else { launch.id }
    }
}

/// Whether two amounts are the same but for rounding.
fn same(one: f64, two: f64) -> bool {
    (one - two).abs() <= 1e-9 * one.abs().max(two.abs())
}

/// Compares a value with the truth. One that is missing is counted, and so is a part of it, which says that it is one.
fn compare(what: &str, truth: Option<f64>, found: Option<(f64, &Origin)>, lost: &mut u64) {
    match (truth, found) {
        (Some(truth), Some((found, origin))) if origin.is_exact() => {
            assert!(same(truth, found), "{what}: {found} for {truth}");
        }
        (Some(truth), Some((found, origin))) => {
            let ends = found * origin.low..=found * origin.high;
            assert!(ends.contains(&truth), "{what}: {ends:?} for {truth}");
            *lost += 1;
        }
        (Some(_), None) => *lost += 1,
        (None, Some((found, _))) => panic!("{what}: {found}, and nothing was written"),
        (None, None) => {}
    }
}

/// Compares what was read with what was written; returns how many launches and values are missing.
fn missing(dialect: Dialect, written: &[Truth], profile: &Profile) -> u64 {
    let mut found = BTreeMap::new();
    for launch in profile.iter() {
        let key = (launch.head.process, launch.head.id);
        assert!(found.insert(key, launch).is_none(), "launch {key:?} was read twice");
    }
    let mut lost = 0;
    for truth in written {
        let Some(launch) = found.remove(&(truth.process, dialect.id(truth))) else {
            lost += 1;
            continue;
        };
        assert_eq!(launch.kernel(), truth.kernel);
        assert_eq!(launch.head.count, 1, "{}", truth.kernel);
        let extent = |[x, y, z]: [u32; 3]| Some(Dim3 { x, y, z });
        assert_eq!(launch.head.shape.grid, extent(truth.grid), "{}", truth.kernel);
        assert_eq!(launch.head.shape.block, extent(truth.block), "{}", truth.kernel);
        assert_eq!(launch.head.stream, Some(truth.stream), "{}", truth.kernel);
        let work = Quantity::Work(Pipe::Fp32Vector);
        for (what, truth, quantity) in [
            ("time", truth.seconds(), Quantity::Duration),
            ("bytes", truth.dram_bytes(), Quantity::DramBytes),
            ("work", truth.flops(), work),
        ] {
            compare(what, truth, launch.get(quantity), &mut lost);
        }
    }
    assert!(found.is_empty(), "launches that nobody wrote: {:?}", found.keys());
    lost
}

/// Divides launches among files; each has its own header.
fn divided(launches: Vec<Truth>, files: usize) -> Vec<Vec<Truth>> {
    let mut parts: Vec<Vec<Truth>> = vec![Vec::new(); files];
    for (at, launch) in launches.into_iter().enumerate() {
        parts[at % files].push(launch);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Launches in any dialect, order, encoding and number of files, and of tables in a file.
pub(crate) fn any_dialect(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let dialect = Dialect::choose(&mut choices);
    let mut written = launches(&mut choices);
    dialect.told(&mut written);
    let mut order = written.clone();
    choices.shuffle(&mut order);
    let files = choices.pick(&[1, 1, 1, 2, 3]);
    let mut parts = Vec::new();
    for part in divided(order, files) {
        let numbers = Numbers::choose(&mut choices);
        let tables = choices.pick(&[1, 1, 1, 2, 3]);
        let tables = divided(part, tables);
        let rows: Rows =
            tables.iter().flat_map(|table| dialect.rows(table, numbers, &mut choices)).collect();
        parts.push(Sheet::choose(&mut choices, true).write(&rows));
    }
    let Some(profile) = read_all(&parts) else { return };
    let skips: u64 = profile.sources.iter().map(|source| source.skips.count).sum();
    let told: Vec<_> = profile.sources.iter().map(|source| &source.skips.first).collect();
    assert_eq!((missing(dialect, &written, &profile), skips), (0, 0), "lost: {told:?}");
    check(&profile);
    if is_chosen(bytes) {
        judge(&profile);
    }
}

/// Launches as Nsight Compute lists them in any locale, without a cell that is there to tell the decimal sign: they are
/// right, or the file is refused.
pub(crate) fn unmarked(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let mut written = launches(&mut choices);
    let mut rows = dialects::unmarked(&mut written, &mut choices);
    choices.shuffle(&mut rows[1..]);
    // A launch without any figure has no row.
    written.retain(|launch| {
        launch.nanoseconds.is_some() || launch.bytes.is_some() || launch.instructions.is_some()
    });
    if written.is_empty() {
        return;
    }
    let Some(profile) = read_all(&[Sheet::choose(&mut choices, true).write(&rows)]) else { return };
    let skips: u64 = profile.sources.iter().map(|source| source.skips.count).sum();
    assert_eq!((missing(Dialect::Long, &written, &profile), skips), (0, 0), "lost: {rows:?}");
    check(&profile);
}

/// Cells that no profiler writes where a number belongs.
const SPOILT: [&str; 8] = ["abc", "1.2.3", "1,2,3", "-5", "--", "1e999", "12 34", "\u{fffd}"];

/// Launches in any dialect with some cells spoilt and rows cut: what is read is right, what is not is counted.
pub(crate) fn damaged(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let dialect = Dialect::choose(&mut choices);
    let mut written = launches(&mut choices);
    dialect.told(&mut written);
    let numbers = Numbers::choose(&mut choices);
    let mut rows = dialect.rows(&written, numbers, &mut choices);
    let header = rows[0].clone();
    let amounts: Vec<usize> = (0..header.len())
        .filter(|at| {
            header[*at].contains("__")
                || ["Metric Value", "Sil(ns)", "sil"].contains(&&*header[*at])
        })
        .collect();
    let first = if dialect == Dialect::Wide { 2 } else { 1 };
    for row in &mut rows[first..] {
        if choices.once_in(6) {
            // One cell alone is a line of the program between the rows, and counted as one.
            row.truncate(2 + choices.index(header.len() - 2));
        } else if choices.once_in(4) {
            let at = choices.pick(&amounts);
            if !matches!(row[at].as_str(), "" | "n/a" | "(!) n/a" | "nan") {
                choices.pick(&SPOILT).clone_into(&mut row[at]);
            }
        }
    }
    let Some(profile) = read_all(&[Sheet::choose(&mut choices, true).write(&rows)]) else { return };
    let skips: u64 = profile.sources.iter().map(|source| source.skips.count).sum();
    // A sum lacks its total when one of its parts is spoilt; a launch that is gone lacks three values.
    let lost = missing(dialect, &written, &profile);
    assert!(lost == 0 || skips > 0, "{lost} values are lost, and nothing was counted: {rows:?}");
    check(&profile);
    if is_chosen(bytes) {
        judge(&profile);
    }
}

/// Our own launch table in other dress: other order of columns and rows, other quotes, encoding and compression.
pub(crate) fn launch_table(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let written = launches(&mut choices);
    let numbers = Numbers::choose(&mut choices);
    let rows = dialects::wide(&written, numbers, &mut choices);
    let sheet = Sheet::choose(&mut choices, false).write(&rows);
    let Some(profile) = read(&sheet, None) else { return };
    let text = Table::of(&profile).csv();
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let records = reader.records().map_while(Result::ok);
    let rows: Rows = records.map(|record| record.iter().map(str::to_owned).collect()).collect();
    let mut order: Vec<usize> = (0..rows[0].len()).collect();
    choices.shuffle(&mut order);
    let mut rows: Rows =
        rows.iter().map(|row| order.iter().map(|at| row[*at].clone()).collect()).collect();
    choices.shuffle(&mut rows[1..]);
    let again = read_all(&[Sheet::choose(&mut choices, true).write(&rows)]);
    let again = again.expect("a launch table is never refused");
    assert_eq!(sorted_rows(&profile), sorted_rows(&again));
}
