//! Reading of large exports, by ratio in one run: against a plain csv-crate loop that takes the same
//! columns, with all cores against one, and the whole analysis against reading.
//!
//! `cargo bench --no-default-features --features cli` prints the median of paired runs; absolute times
//! move with the machine, ratios hardly. `benches/neighbors.py` sets the same files beside other
//! readers, by these steps:
//!
//! - `--write FOLDER MEGABYTES` writes the files,
//! - `--read FILE THREADS` reads one, `--loop FILE` takes it by the plain loop,
//! - `--analyze FILE THREADS` reads and analyzes one, for a profiler of programs.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

mod exports;

use std::collections::HashMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rooflint::analysis;
use rooflint::catalog::Catalog;
use rooflint::ingest::{self, Input, Options};
use rooflint::model::Profile;

const PAIRS: usize = 7;
const MEGABYTES: usize = 40;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--write", folder, megabytes, ..] => {
            write_files(Path::new(folder), megabytes.parse().unwrap());
        }
        ["--read", file, threads, ..] => {
            println!("{} launches", read(Path::new(file), threads.parse().unwrap()).launches.len());
        }
        ["--analyze", file, threads, ..] => {
            println!("{} kernels", analyze(&read(Path::new(file), threads.parse().unwrap())));
        }
        ["--loop", file, ..] => println!("{} cells", plain_loop(Path::new(file), task(file))),
        // Under `cargo test --benches` one quick pass shows that the benches work.
        _ => bench_all(words.contains(&"--test")),
    }
}

fn bench_all(quick: bool) {
    let folder = std::env::temp_dir().join(format!("rooflint-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for path in write_files(&folder, if quick { 1 } else { MEGABYTES }) {
        bench(&path, if quick { 1 } else { PAIRS });
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

fn write_files(folder: &Path, megabytes: usize) -> Vec<PathBuf> {
    let size = megabytes * 1_000_000;
    let repeating = [exports::wide, exports::long, exports::pyprof];
    let varied = [exports::varied::wide, exports::varied::long, exports::varied::pyprof];
    let mut paths = Vec::new();
    for (which, exports) in [("", repeating), ("-varied", varied)] {
        for ((name, _), export) in TASKS.iter().zip(exports) {
            let path = folder.join(format!("{name}{which}.csv"));
            std::fs::write(&path, export(size)).unwrap();
            paths.push(path);
        }
    }
    paths
}

/// The task for a file, by its name.
fn task(file: &str) -> &'static Task {
    &TASKS.iter().find(|(name, _)| file.contains(name)).unwrap().1
}

fn read(path: &Path, threads: usize) -> Profile {
    let options = Options { threads, ..Options::default() };
    ingest::read(&[Input::Named(PathBuf::from(path))], &options).unwrap()
}

fn analyze(profile: &Profile) -> usize {
    let device = Some("A100 SXM4 80GB".to_owned());
    let options = analysis::Options { device, ..analysis::Options::default() };
    analysis::analyze(profile, &Catalog::builtin(), &options).unwrap().kernels.len()
}

fn bench(path: &Path, pairs: usize) {
    let name = path.file_stem().unwrap().to_str().unwrap();
    let (mut by_loop, mut by_reading, mut by_one) = (Vec::new(), Vec::new(), Vec::new());
    let mut read_seconds = Vec::new();
    for _ in 0..pairs {
        let (plain, _) = timed(|| plain_loop(path, task(name)));
        let (one, profile) = timed(|| read(path, 1));
        let all = Instant::now();
        black_box(read(path, 0));
        let all = all.elapsed().as_secs_f64();
        let (analyze, _) = timed(|| analyze(&profile));
        by_loop.push(one / plain);
        by_one.push(all / one);
        by_reading.push((one + analyze) / one);
        read_seconds.push(one);
    }
    let megabytes = std::fs::metadata(path).unwrap().len() as f64 / 1e6;
    println!(
        "{name:16} {megabytes:>4.0} MB  reading / csv loop {:.2}  all cores / one {:.2}  reading and analysis / reading {:.2}  ({:.0} MB/s read)",
        median(by_loop),
        median(by_one),
        median(by_reading),
        megabytes / median(read_seconds)
    );
}

/// Seconds of a core that a piece of work takes; of the clock, where the system does not count them.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let cpu = || -> Option<f64> {
        let counts = std::fs::read_to_string("/proc/self/schedstat").ok()?;
        Some(counts.split(' ').next()?.parse::<f64>().ok()? / 1e9)
    };
    let (start, before) = (Instant::now(), cpu());
    let result = black_box(work());
    let elapsed = start.elapsed().as_secs_f64();
    (before.zip(cpu()).map_or(elapsed, |(before, after)| after - before), result)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Which columns of a table a plain loop keeps, and how.
struct Task {
    integers: &'static [&'static str],
    words: &'static [&'static str],
    numbers: &'static [&'static str],
    /// Long tables: the columns of a metric's name and value; one row per launch comes of many records.
    metric: Option<(&'static str, &'static str)>,
}

/// What a roofline needs of an export of Nsight Compute. A file may lack some.
const METRICS: &[&str] = &[
    "gpu__time_duration.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "lts__t_bytes.sum",
    "l1tex__t_bytes.sum",
    "sm__cycles_elapsed.avg",
    "sm__cycles_elapsed.avg.per_second",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",
    "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "sm__sass_thread_inst_executed_op_dadd_pred_on.sum",
    "sm__sass_thread_inst_executed_op_dmul_pred_on.sum",
    "sm__sass_thread_inst_executed_op_dfma_pred_on.sum",
    "sm__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "sm__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "sm__sass_thread_inst_executed_op_ffma_pred_on.sum",
];

static TASKS: [(&str, Task); 3] = [
    (
        "ncu-wide",
        Task {
            integers: &["ID", "Process ID", "Context", "Stream", "Device"],
            words: &["Kernel Name", "Block Size", "Grid Size", "CC"],
            numbers: METRICS,
            metric: None,
        },
    ),
    (
        "ncu-long",
        Task {
            integers: &["ID", "Process ID", "Context", "Stream"],
            words: &["Kernel Name"],
            numbers: METRICS,
            metric: Some(("Metric Name", "Metric Value")),
        },
    ),
    (
        "pyprof",
        Task {
            integers: &["Idx", "Sub", "Device", "Stream"],
            words: &["Direction", "Module", "Op", "Kernel", "Params", "TC", "Grid", "Block"],
            numbers: &["Sil(ns)", "FLOPs", "Bytes"],
            metric: None,
        },
    ),
];

/// What a careful user would write in an hour: one reused record, columns found by name once, words
/// interned, typed columns; a long table is turned into one row per launch.
fn plain_loop(path: &Path, task: &Task) -> usize {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .buffer_capacity(256 << 10)
        .from_path(path)
        .unwrap();
    let header = reader.byte_headers().unwrap().clone();
    let find = |name: &&str| header.iter().position(|field| field == name.as_bytes());
    let places = |names: &[&str]| names.iter().filter_map(find).collect::<Vec<usize>>();
    let (integer_columns, word_columns) = (places(task.integers), places(task.words));
    let number_columns = places(task.numbers);
    let metric = task.metric.map(|(name, value)| (find(&name).unwrap(), find(&value).unwrap()));
    let mut record = csv::ByteRecord::new();
    let mut integers: Vec<Vec<u32>> = vec![Vec::new(); integer_columns.len()];
    let mut words: Vec<Vec<u32>> = vec![Vec::new(); word_columns.len()];
    let mut ids = HashMap::<Box<[u8]>, u32>::new();
    let slots: HashMap<&[u8], usize> =
        task.numbers.iter().enumerate().map(|(slot, name)| (name.as_bytes(), slot)).collect();
    let count = if metric.is_some() { slots.len() } else { number_columns.len() };
    let mut numbers: Vec<Vec<f64>> = vec![Vec::new(); count];
    let mut last = Vec::new();
    while reader.read_byte_record(&mut record).unwrap() {
        let cell = |column: usize| record.get(column).unwrap_or_default();
        let fresh = metric.is_none() || last != cell(0);
        if fresh {
            last.clear();
            last.extend_from_slice(cell(0));
            for (column, into) in integer_columns.iter().zip(&mut integers) {
                into.push(number(cell(*column)) as u32);
            }
            for (column, into) in word_columns.iter().zip(&mut words) {
                let next = ids.len() as u32;
                let id = ids.get(cell(*column)).copied().unwrap_or_else(|| {
                    ids.insert(cell(*column).into(), next);
                    next
                });
                into.push(id);
            }
        }
        let Some((name, value)) = metric else {
            for (column, into) in number_columns.iter().zip(&mut numbers) {
                into.push(number(cell(*column)));
            }
            continue;
        };
        if fresh {
            for column in &mut numbers {
                column.push(f64::NAN);
            }
        }
        if let Some(into) = slots.get(cell(name)).and_then(|slot| numbers[*slot].last_mut()) {
            *into = number(cell(value));
        }
    }
    integers.len() + words.len() + numbers.iter().map(Vec::len).sum::<usize>()
}

/// A number with its group marks taken out.
fn number(cell: &[u8]) -> f64 {
    let mut clean = [0_u8; 32];
    let mut length = 0;
    for byte in cell.iter().filter(|byte| **byte != b',').take(clean.len()) {
        clean[length] = *byte;
        length += 1;
    }
    std::str::from_utf8(&clean[..length])
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(f64::NAN)
}
