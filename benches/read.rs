//! Reading of large exports, by ratio in one run: against a plain csv-crate loop that takes the same
//! columns, with all cores against one, and the whole analysis against reading.
//!
//! `cargo bench --no-default-features --features cli` prints the median of paired runs; absolute times
//! move with the machine, ratios hardly. `benches/neighbors.py` sets the same files beside other
//! readers, by these steps:
//!
//! - `--write FOLDER MEGABYTES` writes the files,
//! - `--read FILE THREADS` reads one, `--loop FILE` takes it by the plain loop.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use std::collections::HashMap;
use std::fmt::Write as _;
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
    let mut paths = Vec::new();
    for ((name, _), text) in TASKS.iter().zip([wide(size), long(size), pyprof(size)]) {
        let path = folder.join(format!("{name}.csv"));
        std::fs::write(&path, text).unwrap();
        paths.push(path);
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
        let options = analysis::Options {
            device: Some("A100 SXM4 80GB".to_owned()),
            ..analysis::Options::default()
        };
        let (analyze, _) = timed(|| {
            analysis::analyze(&profile, &Catalog::builtin(), &options).unwrap().kernels.len()
        });
        by_loop.push(one / plain);
        by_one.push(all / one);
        by_reading.push((one + analyze) / one);
        read_seconds.push(one);
    }
    let megabytes = std::fs::metadata(path).unwrap().len() as f64 / 1e6;
    println!(
        "{name:10} {megabytes:>4.0} MB  reading / csv loop {:.2}  all cores / one {:.2}  reading and analysis / reading {:.2}  ({:.0} MB/s read)",
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

/// Which cells of a record a plain loop keeps, and how.
struct Task {
    integers: &'static [usize],
    words: &'static [usize],
    numbers: std::ops::Range<usize>,
    /// Long tables: the column of the metric's name; one row per launch comes of many records.
    metric: Option<usize>,
}

static TASKS: [(&str, Task); 3] = [
    (
        "ncu-wide",
        Task { integers: &[0, 1, 5, 6, 9], words: &[4, 7, 8, 10], numbers: 11..27, metric: None },
    ),
    ("ncu-long", Task { integers: &[0, 1, 6, 7], words: &[4], numbers: 11..12, metric: Some(9) }),
    (
        "pyprof",
        Task {
            integers: &[0, 2, 9, 10],
            words: &[1, 3, 4, 5, 6, 8, 11, 12],
            numbers: 7..8,
            metric: None,
        },
    ),
];

/// What a careful user would write in an hour: one reused record, columns by position, words interned,
/// typed columns; a long table is turned into one row per launch.
fn plain_loop(path: &Path, task: &Task) -> usize {
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .buffer_capacity(256 << 10)
        .from_path(path)
        .unwrap();
    let mut record = csv::ByteRecord::new();
    let mut integers: Vec<Vec<u32>> = vec![Vec::new(); task.integers.len()];
    let mut words: Vec<Vec<u32>> = vec![Vec::new(); task.words.len()];
    let mut numbers: Vec<Vec<f64>> =
        vec![Vec::new(); if task.metric.is_some() { 16 } else { task.numbers.len() }];
    let extra: &[usize] = if task.words.len() > 4 { &[13, 14] } else { &[] };
    numbers.extend(extra.iter().map(|_| Vec::new()));
    let mut ids = HashMap::<Box<[u8]>, u32>::new();
    let mut slots = HashMap::<Box<[u8]>, usize>::new();
    let mut last = Vec::new();
    while reader.read_byte_record(&mut record).unwrap() {
        let cell = |column: usize| record.get(column).unwrap_or_default();
        let fresh = task.metric.is_none() || last != cell(0);
        if fresh {
            last = cell(0).to_vec();
            for (column, into) in task.integers.iter().zip(&mut integers) {
                into.push(number(cell(*column)) as u32);
            }
            for (column, into) in task.words.iter().zip(&mut words) {
                let next = ids.len() as u32;
                let id = ids.get(cell(*column)).copied().unwrap_or_else(|| {
                    ids.insert(cell(*column).into(), next);
                    next
                });
                into.push(id);
            }
        }
        let Some(metric) = task.metric else {
            let columns = task.numbers.clone().chain(extra.iter().copied());
            for (column, into) in columns.zip(&mut numbers) {
                into.push(number(cell(column)));
            }
            continue;
        };
        if fresh {
            for column in &mut numbers {
                column.push(f64::NAN);
            }
        }
        let next = slots.len();
        let slot = slots.get(cell(metric)).copied().unwrap_or_else(|| {
            slots.insert(cell(metric).into(), next);
            next
        });
        if let Some(into) = numbers[slot].last_mut() {
            *into = number(cell(task.numbers.start));
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

/// A small generator of pseudo-random numbers (xorshift64*); the same bytes in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }
}

const KERNELS: [&str; 5] = [
    "void at::native::vectorized_elementwise_kernel<(int)4, at::native::FillFunctor<float>>(int, T2, T3)",
    "ampere_sgemm_128x64_nn",
    "void layer_norm_kernel<float, 128>(const float *, float *, int)",
    "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4_alignc4",
    "void softmax_warp_forward<float, float, float, (int)10, (bool)1>(T2 *, const T1 *, int, int, int)",
];

const WANTED: [(&str, &str); 16] = [
    ("dram__bytes_read.sum", "byte"),
    ("dram__bytes_write.sum", "byte"),
    ("gpu__time_duration.sum", "ns"),
    ("lts__t_bytes.sum", "byte"),
    ("l1tex__t_bytes.sum", "byte"),
    ("sm__cycles_elapsed.avg.per_second", "hz"),
    ("sm__cycles_elapsed.avg", "cycle"),
    ("sm__warps_active.avg.pct_of_peak_sustained_active", "%"),
    ("smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", "inst"),
    ("smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "inst"),
    ("smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", "inst"),
    ("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "inst"),
    ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst"),
    ("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", "inst"),
    ("sm__throughput.avg.pct_of_peak_sustained_elapsed", "%"),
    ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%"),
];

fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, c) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(c);
    }
    text
}

fn value(random: &mut Random, unit: &str) -> String {
    match unit {
        "%" => format!("{}.{:02}", random.below(90), random.below(100)),
        "hz" => format!(
            "{}.{:02}",
            grouped(1_000_000_000 + random.below(400_000_000)),
            random.below(100)
        ),
        "ns" => grouped(2_000 + random.below(2_000_000)),
        _ => grouped(random.below(1 << 31)),
    }
}

fn wide(size: usize) -> String {
    let mut random = Random(42);
    let identity = [
        "ID",
        "Process ID",
        "Process Name",
        "Host Name",
        "Kernel Name",
        "Context",
        "Stream",
        "Block Size",
        "Grid Size",
        "Device",
        "CC",
    ];
    let others: Vec<String> = (0..230).map(|at| format!("sm__other_metric_{at}.avg")).collect();
    let quote = |fields: Vec<String>| {
        fields.iter().map(|field| format!("\"{field}\"")).collect::<Vec<_>>().join(",") + "\n"
    };
    let names = identity
        .iter()
        .map(|name| (*name).to_owned())
        .chain(WANTED.iter().map(|(name, _)| (*name).to_owned()))
        .chain(others.iter().cloned());
    let mut text = quote(names.collect());
    let units = identity
        .iter()
        .map(|_| String::new())
        .chain(WANTED.iter().map(|(_, unit)| (*unit).to_owned()))
        .chain(others.iter().map(|_| "inst".to_owned()));
    text.push_str(&quote(units.collect()));
    let mut launch = 0;
    while text.len() < size {
        let kernel = random.below(KERNELS.len() as u64) as usize;
        let _ = write!(
            text,
            "\"{launch}\",\"42\",\"python3\",\"127.0.0.1\",\"{}\",\"1\",\"7\",\"(256, 1, 1)\",\"({}, 1, 1)\",\"0\",\"8.0\"",
            KERNELS[kernel],
            64 << kernel
        );
        for (_, unit) in WANTED {
            let _ = write!(text, ",\"{}\"", value(&mut random, unit));
        }
        for _ in 0..others.len() {
            let _ = write!(text, ",\"{}\"", grouped(random.below(1 << 24)));
        }
        text.push('\n');
        launch += 1;
    }
    text
}

fn long(size: usize) -> String {
    let mut random = Random(43);
    let mut text = String::from(
        "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Kernel Time\",\"Context\",\"Stream\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n",
    );
    let mut launch = 0;
    while text.len() < size {
        let kernel = KERNELS[random.below(KERNELS.len() as u64) as usize];
        for (name, unit) in WANTED {
            let _ = writeln!(
                text,
                "\"{launch}\",\"42\",\"python3\",\"127.0.0.1\",\"{kernel}\",\"2024-May-01 00:00:00\",\"1\",\"7\",\"Command line profiler metrics\",\"{name}\",\"{unit}\",\"{}\"",
                value(&mut random, unit)
            );
        }
        launch += 1;
    }
    text
}

fn pyprof(size: usize) -> String {
    let mut random = Random(44);
    let mut text = String::from(
        "\"Idx\",\"Direction\",\"Sub\",\"Module\",\"Op\",\"Kernel\",\"Params\",\"Sil(ns)\",\"TC\",\"Device\",\"Stream\",\"Grid\",\"Block\",\"FLOPs\",\"Bytes\"\n",
    );
    let mut launch = 1;
    while text.len() < size {
        let n = 64 << random.below(6);
        let _ = writeln!(
            text,
            "\"{launch}\",\"fprop\",\"0\",\"torch.nn.functional\",\"linear\",\"volta_sgemm_128x64_nn\",\"M={n},N=512,K=1024,fp32,\",\"{}\",\"0\",\"0\",\"7\",\"{n},1,1\",\"256,1,1\",\"{}\",\"{}\"",
            2_000 + random.below(1_000_000),
            2 * n * 512 * 1024,
            n * 512 + n * 1024 + 512 * 1024 * 4
        );
        launch += 1;
    }
    text
}
