//! The model as SQL, run by DuckDB, DataFusion and Spark, and compared with the library kernel by kernel.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rooflint::analysis::{CeilingSet, Kernel, Totals};
use rooflint::catalog::Catalog;
use rooflint::fleet::{self, Manifest, Partitioning};
use rooflint::ingest::{self, Input, Options};
use rooflint::model::{MemoryLevel, Pipe, Profile};
use rooflint::session::Session;
use rooflint::sql::{self, Engine, Limits};
use rooflint::table::{Facts, Table, parts};
use rooflint::units::{Bytes, Seconds};
use serde_json::Value;

use crate::house::root;

/// One export as a rank.
struct Rank {
    path: PathBuf,
    profile: Profile,
    device: Option<String>,
}

/// Reads exports that have launches, each content once.
fn ranks(paths: Vec<PathBuf>) -> Vec<Rank> {
    let mut contents = HashSet::new();
    let mut read = |path: PathBuf| {
        if !contents.insert(fs::read(&path).ok()?) {
            return None;
        }
        let profile = ingest::read(&[Input::Named(path.clone())], &Options::default()).ok()?;
        let device = fs::read_to_string(path.with_extension("device")).ok();
        let device = device.map(|name| name.trim().to_owned());
        (!profile.launches.is_empty()).then_some(Rank { path, profile, device })
    };
    paths.into_iter().filter_map(&mut read).collect()
}

/// Every file below a folder, in order.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all.sort();
    all
}

/// Converts the exports to a partitioned table, as users do.
fn convert(ranks: &[Rank], folder: &Path) {
    let mut of_device: BTreeMap<Option<&str>, Vec<PathBuf>> = BTreeMap::new();
    for (number, rank) in ranks.iter().enumerate() {
        let inputs = folder.join(format!("inputs/rank={number}"));
        fs::create_dir_all(&inputs).unwrap();
        // The folder has the number of the rank.
        let name = rank.path.file_name().unwrap().to_str().unwrap().replace("rank", "");
        let path = inputs.join(name);
        fs::copy(&rank.path, &path).unwrap();
        of_device.entry(rank.device.as_deref()).or_default().push(path);
    }
    for (device, files) in of_device {
        write(folder, device, &files);
    }
}

fn write(folder: &Path, device: Option<&str>, files: &[PathBuf]) {
    let partitioning = Partitioning {
        folder: &folder.join("launches"),
        run: "all",
        options: &Options::default(),
        catalog: &Catalog::builtin(),
        device,
        taxonomy: None,
    };
    let done = partitioning.write(files).unwrap();
    assert!(done.failed.is_empty(), "{:?}", done.failed);
}

/// A row of a view.
type Row = BTreeMap<String, Value>;

/// How the SQL is printed and run.
#[derive(Clone, Copy, PartialEq)]
enum How {
    /// For the columns that the tables have.
    Usual,
    /// For any columns.
    General,
    /// By the job for a cluster that the examples have; one of its workers is killed meanwhile.
    Job,
}

/// Runs the SQL and returns the rows of these views; `None` where the engine is not installed, which fails in CI.
fn run(
    (engine, how): (Engine, How),
    ceilings: Option<CeilingSet>,
    folder: &Path,
    views: &[&str],
) -> Option<HashMap<String, Vec<Row>>> {
    let facts = match how {
        How::General => Facts::default(),
        How::Usual | How::Job => fleet::facts(&folder.join("launches")).unwrap(),
    };
    run_for((engine, facts), how, ceilings, folder, views)
}

/// Runs the SQL that is printed for tables of which this is known.
fn run_for(
    (engine, facts): (Engine, Facts),
    how: How,
    ceilings: Option<CeilingSet>,
    folder: &Path,
    views: &[&str],
) -> Option<HashMap<String, Vec<Row>>> {
    let script = folder.join(format!("{}.sql", engine.key()));
    let launches = folder.join("launches");
    let limits = Limits::default();
    let model = sql::Model { engine, ceilings, limits, folder: launches.to_str(), facts };
    fs::write(&script, model.text()).unwrap();
    let out = folder.join(format!("{}.jsonl", engine.key()));
    let python = std::env::var("ROOFLINT_SQL_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut command = Command::new(python);
    let engine_key = if how == How::Job { "spark-job" } else { engine.key() };
    command.arg(root().join("tests/it/sql/run.py")).args([
        engine_key,
        script.to_str()?,
        out.to_str()?,
    ]);
    command.args(views);
    let ran = command.output();
    let ran = ran.ok().filter(|ran| ran.status.code() != Some(77));
    let Some(ran) = ran else {
        assert!(std::env::var_os("CI").is_none(), "{} is not installed", engine.key());
        println!("skipped: {} is not installed", engine.key());
        return None;
    };
    let problem = String::from_utf8_lossy(&ran.stderr);
    let tail: String =
        problem.chars().rev().take(3000).collect::<Vec<_>>().into_iter().rev().collect();
    assert!(ran.status.success(), "{}: {tail}", engine.key());
    assert_eq!(problem.contains("killed a worker after"), how == How::Job, "{tail}");
    let mut rows: HashMap<String, Vec<Row>> =
        views.iter().map(|view| ((*view).to_owned(), Vec::new())).collect();
    for line in fs::read_to_string(out).unwrap().lines() {
        let row: Row = serde_json::from_str(line).unwrap();
        rows.get_mut(row["view"].as_str().unwrap()).unwrap().push(row);
    }
    Some(rows)
}

/// What identifies a kernel: rank (if it is one of a rank), name, operator, device, grid and block.
type Key = (Option<u64>, String, String, String, [Option<u64>; 8]);

fn key_of_row(row: &Row) -> Key {
    let count = |name: &str| row.get(name).and_then(Value::as_f64).map(|count| count as u64);
    let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let shape = ["grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z"].map(count);
    let [grid, block] = [&shape[..3], &shape[3..]];
    let size = [count("blocks"), count("threads_per_block")];
    let shape = [grid, block, &size].concat().try_into().unwrap();
    let rank = count("rank");
    let device = match rank {
        Some(_) => count("device_number").unwrap_or_default().to_string(),
        None => text("device_name"),
    };
    (rank, text("kernel_identity"), text("operator"), device, shape)
}

fn key_of_kernel(
    rank: Option<u64>,
    kernel: &Kernel,
    device: &str,
    identities: &HashMap<String, String>,
) -> Key {
    let shape = &kernel.shape;
    let [grid, block] = [shape.grid, shape.block].map(|dim| {
        let of = |of: fn(rooflint::model::Dim3) -> u32| dim.map(|dim| u64::from(of(dim)));
        [of(|dim| dim.x), of(|dim| dim.y), of(|dim| dim.z)]
    });
    let size = [shape.blocks, shape.threads_per_block];
    (
        rank,
        identities[&*kernel.full_name].clone(),
        kernel.operator.as_deref().unwrap_or_default().to_owned(),
        device.to_owned(),
        [&grid[..], &block, &size].concat().try_into().unwrap(),
    )
}

/// Returns what SQL calls the kernel of each name.
fn identities(folder: &Path) -> HashMap<String, String> {
    let names = parts::texts(&folder.join("launches/names.parquet"), ["kernel", "kernel_identity"]);
    names.unwrap().into_iter().map(|[kernel, identity]| (kernel, identity)).collect()
}

fn is_same(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-9 * found.abs().max(expected.abs()) + 1e-24
}

/// What differs between a row and the kernel of the library.
fn differences(row: &Row, kernel: &Kernel, totals: &Totals) -> Vec<String> {
    let mut all = Vec::new();
    let mut number = |name: &str, expected: Option<f64>| {
        let found = row.get(name).and_then(Value::as_f64);
        let expected = expected.filter(|value| value.is_finite());
        let is_same = match (found, expected) {
            (Some(found), Some(expected)) => is_same(found, expected),
            (None, None) => true,
            _ => false,
        };
        if !is_same {
            all.push(format!("{name}: {found:?}, library {expected:?}"));
        }
    };
    let judged = kernel.roofline_time_high.is_some();
    number("launches", Some(kernel.launches as f64));
    let is_timed = kernel.measured > Seconds::ZERO;
    number("measured_s", is_timed.then(|| kernel.measured.get()));
    number("judged_s", judged.then(|| kernel.modeled.get()));
    number("share", is_timed.then(|| totals.share(kernel.measured)));
    number("bytes", kernel.bytes.map(Bytes::get));
    for pipe in Pipe::ALL {
        let work = kernel.work.iter().find(|work| work.pipe == *pipe);
        let operation = pipe.operation().to_lowercase();
        number(&format!("{operation}s_{}", pipe.key()), work.map(|work| work.operations.get()));
        number(&format!("t_{}_s", pipe.key()), work.map(|work| work.time.get()));
    }
    number("t_mem_s", kernel.memory_time.map(Seconds::get));
    number("t_math_s", kernel.math_time.map(Seconds::get));
    for level in MemoryLevel::ALL.into_iter().filter(|level| *level != MemoryLevel::Dram) {
        number(&format!("t_{}_s", level.key()), kernel.level_time(level).map(Seconds::get));
    }
    number("roofline_s", kernel.roofline_time.map(Seconds::get));
    number("roofline_likely_s", kernel.roofline_time_likely.map(Seconds::get));
    number("structural_s", kernel.structural.map(Seconds::get));
    number("headroom", kernel.headroom());
    number("headroom_likely", kernel.headroom_likely());
    number("headroom_least", kernel.headrooms.map(|(least, _)| least.get()));
    number("headroom_greatest", kernel.headrooms.map(|(_, greatest)| greatest.get()));
    let is_modeled = kernel.state.is_modeled();
    number("savings_high_s", is_modeled.then(|| kernel.savings_high.get()));
    // Sizes of its algorithm, which SQL does not have, may raise the upper bound.
    if kernel.algorithmic().is_none() {
        number("roofline_high_s", kernel.roofline_time_high.map(Seconds::get));
        number("headroom_low", kernel.headroom_low());
        // Starts of launches, which SQL does not look at, take savings from kernels that shared their GPU.
        let is_alone = !kernel.is_shared();
        if is_alone {
            number("savings_low_s", is_modeled.then(|| kernel.savings_low.get()));
            number("savings_s", is_modeled.then(|| kernel.savings.get()));
        }
        let mut text = |name: &str, expected: &str| {
            let found = row[name].as_str().unwrap_or("nothing");
            if found != expected {
                all.push(format!("{name}: {found}, library {expected} ({})", kernel.reason));
            }
        };
        text("limiter", kernel.limiter.label());
        if is_alone {
            text("state", kernel.state.key());
        }
    }
    all
}

/// Rows by kernel, and what was found of them.
struct Compared {
    rows: HashMap<Key, Row>,
    wrong: Vec<String>,
    kernels: usize,
}

impl Compared {
    fn new(rows: Vec<Row>) -> Self {
        let mut known = HashMap::new();
        for row in rows {
            let key = key_of_row(&row);
            assert!(known.insert(key.clone(), row).is_none(), "twice: {key:?}");
        }
        Self { rows: known, wrong: Vec::new(), kernels: 0 }
    }

    fn kernel(&mut self, key: &Key, (kernel, totals): (&Kernel, &Totals), place: &str) {
        self.kernels += 1;
        let differences = match self.rows.remove(key) {
            None => vec![format!("not found: {key:?}")],
            Some(row) => differences(&row, kernel, totals),
        };
        if !differences.is_empty() {
            self.wrong.push(format!("{place} {}: {}", kernel.name, differences.join("; ")));
        }
    }

    fn finish(self, engine: Engine) {
        println!("{}: {} kernels", engine.key(), self.kernels);
        let extra: Vec<&Key> = self.rows.keys().take(5).collect();
        assert!(
            self.wrong.is_empty() && extra.is_empty(),
            "{} of {} kernels differ on {}; {extra:?}\n{}",
            self.wrong.len(),
            self.kernels,
            engine.key(),
            self.wrong.iter().take(60).cloned().collect::<Vec<_>>().join("\n")
        );
    }
}

/// Compares every kernel of every rank with `analyze` of the rank.
fn compare_ranks(
    ranks: &[Rank],
    folder: &Path,
    engine: Engine,
    ceilings: Option<CeilingSet>,
    rows: Vec<Row>,
) {
    let manifest = Manifest::of(&folder.join("launches")).unwrap();
    let identities = identities(folder);
    let mut compared = Compared::new(rows);
    for (number, rank) in ranks.iter().enumerate() {
        let number = number as u64;
        let mut session = Session::default().on(rank.device.clone());
        session.options.ceilings = Some(ceilings.unwrap_or(manifest.ceilings()));
        // Not every export has the clocks that some ceilings need.
        let Ok(analysis) = session.analyze(&rank.profile) else {
            compared.rows.retain(|key, _| key.0 != Some(number));
            continue;
        };
        for kernel in &analysis.kernels {
            let device = kernel.device.to_string();
            let key = key_of_kernel(Some(number), kernel, &device, &identities);
            let of = (kernel, &analysis.totals);
            compared.kernel(&key, of, &rank.path.display().to_string());
        }
    }
    compared.finish(engine);
}

/// Runs the SQL and compares every kernel of every rank with `analyze` of the rank.
fn compare(
    ranks: &[Rank],
    folder: &Path,
    (engine, how): (Engine, How),
    ceilings: Option<CeilingSet>,
) {
    let views: &[&str] = if how == How::General {
        &["kernel_roofline"]
    } else {
        &["kernel_roofline", "model_check"]
    };
    let Some(mut rows) = run((engine, how), ceilings, folder, views) else { return };
    for row in rows.remove("model_check").unwrap_or_default() {
        assert_eq!(row["cells"].as_f64(), Some(0.0), "{row:?}");
    }
    let rows = rows.remove("kernel_roofline").unwrap();
    compare_ranks(ranks, folder, engine, ceilings, rows);
}

/// Compares kernels over ranks, and the ranks, with `fleet`.
fn compare_fleet(folder: &Path, engine: Engine, kernels: Vec<Row>, ranks: &[Row]) {
    let (catalog, options) = (Catalog::builtin(), rooflint::analysis::Options::default());
    let gathered = fleet::scan(&folder.join("launches"), &catalog, &options, 0).unwrap();
    let stragglers = fleet::stragglers(&gathered.ranks);
    let concluded = gathered.partial.conclude(&options);
    let identities = identities(folder);
    let mut compared = Compared::new(kernels);
    for kernel in &concluded.analysis.kernels {
        let device = concluded.analysis.devices[kernel.device].name();
        let key = key_of_kernel(None, kernel, device, &identities);
        let (_, ends) = &concluded.spread[kernel.longest];
        let row = &compared.rows[&key];
        for (name, end) in
            [("measured_least_s", &ends.least), ("measured_greatest_s", &ends.greatest)]
        {
            let (found, expected) = (row[name].as_f64(), end.as_ref().map(|(_, time)| time.get()));
            let is_equal = match (found, expected) {
                (Some(found), Some(expected)) => is_same(found, expected),
                // Ranks without times have no ends; a sum of no times is 0.
                (found, expected) => found.unwrap_or(0.0) == expected.unwrap_or(0.0),
            };
            assert!(is_equal, "{name} of {key:?}: {found:?}, library {expected:?}");
        }
        compared.kernel(&key, (kernel, &concluded.analysis.totals), "all ranks");
    }
    compared.finish(engine);
    // Else the comparison below would show nothing.
    assert!(!stragglers.is_empty() && stragglers.len() < ranks.len(), "{}", stragglers.len());
    assert_eq!(ranks.len(), gathered.ranks.len());
    for rank in &gathered.ranks {
        let row = ranks.iter().find(|row| row["rank"].as_u64() == Some(rank.id.rank)).unwrap();
        let figures = &rank.figures;
        for (name, expected) in [
            ("measured_s", figures.measured),
            ("communication_s", figures.communication),
            ("roofline_s", figures.roofline),
        ] {
            // A rank without durations has no times.
            let is_equal = match (row[name].as_f64(), rank.measured()) {
                (Some(found), Some(_)) => is_same(found, expected.get()),
                (found, measured) => found.is_none() && measured.is_none(),
            };
            assert!(is_equal, "{name} of {}: {row:?}, {expected:?}", rank.id);
        }
        let slow = stragglers.iter().find(|one| one.id == rank.id);
        assert_eq!(row["is_straggler"].as_bool(), Some(slow.is_some()), "{row:?}");
        let Some(slow) = slow else { continue };
        for (name, expected) in
            [("over_median", slow.ratio), ("compute_over_median", slow.compute_ratio)]
        {
            let found = row[name].as_f64().unwrap();
            assert!(is_same(found, expected), "{name} of {}: {found}, {expected}", rank.id);
        }
    }
}

/// Number of the first rank of those that are there once more.
const SECOND: u64 = 1000;

/// Adds each rank once more, as a launch table, so that kernels have several ranks.
fn doubled(ranks: &[Rank], folder: &Path) {
    convert(ranks, folder);
    let mut files = Vec::new();
    for (number, rank) in ranks.iter().enumerate() {
        let inputs = folder.join(format!("inputs/rank={}", SECOND + number as u64));
        fs::create_dir_all(&inputs).unwrap();
        let path = inputs.join("launches.csv");
        fs::write(&path, Table::of(&rank.profile).csv()).unwrap();
        files.push(path);
    }
    write(folder, None, &files);
}

#[test]
fn sql_computes_what_the_library_computes_of_every_fixture() {
    let ranks = ranks(files(&root().join("fixtures")));
    assert!(ranks.len() > 100, "{}", ranks.len());
    let folder = tempfile::tempdir().unwrap();
    convert(&ranks, folder.path());
    for ceilings in CeilingSet::ALL {
        compare(&ranks, folder.path(), (Engine::DuckDb, How::Usual), Some(ceilings));
    }
    compare(&ranks, folder.path(), (Engine::DataFusion, How::Usual), None);
    for engine in [Engine::DuckDb, Engine::DataFusion] {
        compare(&ranks, folder.path(), (engine, How::General), None);
    }
}

#[test]
fn every_engine_computes_what_analyze_computes_of_a_rank_and_fleet_of_all() {
    let mut ranks = ranks(files(&root().join("fixtures")));
    ranks.retain(|rank| rank.device.is_none());
    let folder = tempfile::tempdir().unwrap();
    doubled(&ranks, folder.path());
    for engine in Engine::ALL {
        let views = ["kernel_roofline", "kernel_spread", "rank_spread"];
        let Some(mut rows) = run((engine, How::Usual), None, folder.path(), &views) else {
            continue;
        };
        let [mut of_rank, of_run, ranks_of_run] = views.map(|view| rows.remove(view).unwrap());
        of_rank.retain(|row| row["rank"].as_u64().unwrap() < SECOND);
        compare_ranks(&ranks, folder.path(), engine, None, of_rank);
        compare_fleet(folder.path(), engine, of_run, &ranks_of_run);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_job_for_a_cluster_writes_kernels_and_ranks_also_when_a_worker_dies() {
    let mut ranks = ranks(files(&root().join("fixtures/ncu_wide")));
    ranks.retain(|rank| rank.device.is_none());
    let folder = tempfile::tempdir().unwrap();
    doubled(&ranks, folder.path());
    let views = ["kernel_spread", "rank_spread"];
    let Some(mut rows) = run((Engine::Spark, How::Job), None, folder.path(), &views) else {
        return;
    };
    let [of_run, ranks_of_run] = views.map(|view| rows.remove(view).unwrap());
    compare_fleet(folder.path(), Engine::Spark, of_run, &ranks_of_run);
}

#[test]
fn sql_computes_what_the_library_computes_of_real_exports() {
    let Some(profiles) = std::env::var_os("ROOFLINT_PROFILES") else {
        println!("skipped: ROOFLINT_PROFILES is not set");
        return;
    };
    let small = |path: &PathBuf| fs::metadata(path).is_ok_and(|file| file.len() < 30_000_000);
    let ranks = ranks(files(Path::new(&profiles)).into_iter().filter(small).collect());
    let folder = tempfile::tempdir().unwrap();
    convert(&ranks, folder.path());
    // Spark, which takes minutes to start, computes every fixture above.
    for engine in [Engine::DuckDb, Engine::DataFusion] {
        compare(&ranks, folder.path(), (engine, How::Usual), None);
    }
}

#[test]
fn launches_that_the_text_was_not_printed_for_are_told() {
    let ranks = ranks(files(&root().join("fixtures/ncu_wide")));
    let folder = tempfile::tempdir().unwrap();
    let (first, rest) = ranks.split_at(1);
    convert(first, folder.path());
    let facts = fleet::facts(&folder.path().join("launches")).unwrap();
    for (number, rank) in rest.iter().enumerate() {
        let inputs = folder.path().join(format!("inputs/rank={}", number + 1));
        fs::create_dir_all(&inputs).unwrap();
        let path = inputs.join("export.csv");
        fs::copy(&rank.path, &path).unwrap();
        write(folder.path(), rank.device.as_deref(), &[path]);
    }
    let views = ["model_check"];
    let Some(rows) = run_for((Engine::DuckDb, facts), How::Usual, None, folder.path(), &views)
    else {
        return;
    };
    let cells = |row: &Row| row["cells"].as_f64().unwrap();
    assert!(rows["model_check"].iter().any(|row| cells(row) > 0.0), "{rows:?}");
}
