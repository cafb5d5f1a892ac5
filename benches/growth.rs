//! How time and memory grow with each thing that can become many: each step at once, twice and four
//! times its size, as a process of its own.
//!
//! `cargo bench --bench growth --no-default-features --features cli,encodings,page` prints the table of
//! docs/performance.md. Words choose steps by their names; a path measures another program. A step is
//! linear when four times the size takes about four times as much CPU time, which other work on the
//! machine hardly changes; what starting costs makes it less.
#![allow(missing_docs, clippy::print_stdout, clippy::unwrap_used)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// How often a step is measured; the fastest counts.
const TIMES: usize = 3;

/// Something that can become many.
struct Step {
    name: &'static str,
    /// What there is once of, in words.
    what: &'static str,
    size: usize,
    /// Writes the inputs for so many into an empty folder, and returns the commands to be measured.
    prepare: fn(&Path, usize) -> Vec<Vec<String>>,
}

const STEPS: &[Step] = &[
    Step { name: "launches", what: "launches of 100 kernels", size: 100_000, prepare: launches },
    Step { name: "kernels", what: "kernels, one launch each", size: 20_000, prepare: kernels },
    Step { name: "json", what: "kernels as JSON", size: 20_000, prepare: json },
    Step { name: "page", what: "kernels as a page", size: 5_000, prepare: page },
    Step { name: "columns", what: "columns, 200 launches", size: 20_000, prepare: columns },
    Step { name: "files", what: "rank files of 20 launches", size: 250, prepare: files },
    Step { name: "small", what: "files of 3 launches", size: 5_000, prepare: small },
    Step { name: "convert", what: "launches of PyProf, converted", size: 50_000, prepare: convert },
    Step { name: "timeline", what: "launches of cuda_gpu_trace", size: 50_000, prepare: timeline },
    Step { name: "trace", what: "launches of a Chrome trace", size: 25_000, prepare: trace },
    Step { name: "table", what: "launches of a table in JSON", size: 25_000, prepare: table },
    Step { name: "keys", what: "launches with a key of their own", size: 10_000, prepare: keys },
    Step { name: "gate", what: "kernels, 5 runs against 5", size: 5_000, prepare: gate },
    Step { name: "store", what: "saves of 200 kernels", size: 10, prepare: store },
    Step { name: "trend", what: "saved runs of 200 kernels", size: 125, prepare: trend },
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Under `cargo test --benches` one quick pass shows that the steps work.
    let is_quick = arguments.iter().any(|one| one == "--test");
    let words: Vec<&String> = arguments.iter().filter(|one| !one.starts_with('-')).collect();
    let (programs, words): (Vec<&String>, Vec<&String>) =
        words.into_iter().partition(|word| word.contains('/'));
    let program = programs.first().map_or(env!("CARGO_BIN_EXE_rooflint"), |path| path.as_str());
    println!(
        "| what | size | once | twice | 4 times | CPU(4) / CPU(1) | peak MiB | peak(4) / peak(1) |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for step in STEPS {
        if !words.is_empty() && !words.iter().any(|word| step.name.contains(word.as_str())) {
            continue;
        }
        let size = if is_quick { 4 } else { step.size };
        let measured = [1, 2, 4].map(|factor| measure(program, step, size * factor, is_quick));
        let [once, twice, four] = measured.map(|(seconds, _)| seconds);
        let peaks = measured.map(|(_, peak)| peak);
        println!(
            "| {} | {size} | {once:.2} s | {twice:.2} s | {four:.2} s | {:.1} | {:.0} | {:.1} |",
            step.what,
            four / once,
            peaks[2],
            peaks[2] / peaks[0]
        );
    }
}

/// CPU time in seconds and peak memory in MiB of the commands of a step.
fn measure(program: &str, step: &Step, size: usize, is_quick: bool) -> (f64, f64) {
    let folder = std::env::temp_dir().join(format!("rooflint-growth-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let commands = (step.prepare)(&folder, size);
    // What only prepares is marked, and run once.
    let (prepares, measured): (Vec<_>, Vec<_>) =
        commands.iter().partition(|command| command.last().is_some_and(|last| last == PREPARES));
    for command in prepares {
        run(program, &command[..command.len() - 1]);
    }
    let mut best = (f64::INFINITY, 0.0_f64);
    for _ in 0..if is_quick { 1 } else { TIMES } {
        let _ = fs::remove_dir_all(folder.join(STORE_OF_STEP));
        let mut total = (0.0, 0.0_f64);
        for command in &measured {
            let (seconds, peak) = run(program, command);
            total = (total.0 + seconds, total.1.max(peak));
        }
        best = if total.0 < best.0 { total } else { best };
    }
    fs::remove_dir_all(&folder).unwrap();
    best
}

/// Marks a command that is not measured.
const PREPARES: &str = "(prepares)";

/// The folder that a step fills anew each time.
const STORE_OF_STEP: &str = "filled";

fn run(program: &str, arguments: &[String]) -> (f64, f64) {
    let mut child = Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let folder = format!("/proc/{}", child.id());
    let (mut peak, mut seconds) = (0.0, 0.0);
    let exit = loop {
        // The highest so far, and gone when the process is: so it is asked for again and again.
        peak = high_water(&format!("{folder}/status")).unwrap_or(peak);
        seconds = cpu(&format!("{folder}/stat")).unwrap_or(seconds);
        if let Some(exit) = child.try_wait().unwrap() {
            break exit;
        }
        std::thread::sleep(Duration::from_micros(500));
    };
    // 1: a gate that fails has compared everything, too.
    assert!(matches!(exit.code(), Some(0 | 1 | 4)), "{exit}: {arguments:?}");
    (seconds, peak)
}

/// The peak memory of a process in MiB, where the system tells it.
fn high_water(path: &str) -> Option<f64> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: f64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// The CPU time of a process in seconds so far, user and system, in steps of 10 ms.
fn cpu(path: &str) -> Option<f64> {
    let text = fs::read_to_string(path).ok()?;
    // The name of the program, in parentheses, may have blanks.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// Pseudo-random numbers below 1 (splitmix64), the same in every run.
fn noise(seed: usize) -> f64 {
    let mut z = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A name of one of three families, unlike all others.
fn name(kernel: usize) -> String {
    match kernel % 3 {
        0 => format!(
            "ampere_fp16_s16816gemm_fp16_128x{}_ldg8_f2f_stages_32x5_tn_v{kernel}",
            32 << (kernel % 4)
        ),
        1 => format!(
            "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>, K{kernel}>(int, T1)"
        ),
        _ => format!("triton_poi_fused_add_mul_{kernel}"),
    }
}

/// A raw page of Nsight Compute: so many launches of so many kernels, with so many more columns.
fn page_of(path: &Path, launches: usize, kernels: usize, more: usize, run: usize) -> String {
    const METRICS: [(&str, &str); 6] = [
        ("gpu__time_duration.sum", "ns"),
        ("dram__bytes_read.sum", "byte"),
        ("dram__bytes_write.sum", "byte"),
        ("sm__cycles_elapsed.avg.per_second", "hz"),
        ("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst"),
        ("sm__warps_active.avg.pct_of_peak_sustained_active", "%"),
    ];
    let mut text = "\"ID\",\"Process ID\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\"".to_owned();
    let mut units = "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\"".to_owned();
    for (metric, unit) in METRICS {
        let _ = (write!(text, ",\"{metric}\""), write!(units, ",\"{unit}\""));
    }
    for at in 0..more {
        let _ = (write!(text, ",\"sm__other_{at}.avg\""), write!(units, ",\"inst\""));
    }
    let _ = write!(text, "\n{units}\n");
    for launch in 0..launches {
        let kernel = launch % kernels;
        let time =
            (2_000.0 + 900_000.0 * noise(kernel)) * (1.0 + 0.01 * noise(launch + 7919 * run));
        let bytes = time * 1_000.0 * noise(kernel + 1);
        let _ = write!(
            text,
            "\"{launch}\",\"1\",\"{}\",\"1\",\"7\",\"(128, 1, 1)\",\"({}, 1, 1)\",\"0\",\"8.0\",\"{time:.0}\",\"{bytes:.0}\",\"{:.0}\",\"1300000000\",\"{:.0}\",\"{:.2}\"",
            name(kernel),
            1 + kernel % 1_000,
            bytes / 2.0,
            time * 4_000.0 * noise(kernel + 2),
            90.0 * noise(kernel + 3)
        );
        for at in 0..more {
            let _ = write!(text, ",\"{}\"", at + launch);
        }
        text.push('\n');
    }
    fs::write(path, text).unwrap();
    path.display().to_string()
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn file(folder: &Path, name: &str) -> PathBuf {
    folder.join(name)
}

fn launches(folder: &Path, size: usize) -> Vec<Vec<String>> {
    let file = page_of(&file(folder, "run.csv"), size, 100, 0, 0);
    vec![words(&format!("analyze {file} --device A100-SXM4-80GB"))]
}

fn kernels(folder: &Path, size: usize) -> Vec<Vec<String>> {
    let file = page_of(&file(folder, "run.csv"), size, size, 0, 0);
    vec![words(&format!("analyze {file} --device A100-SXM4-80GB"))]
}

fn json(folder: &Path, size: usize) -> Vec<Vec<String>> {
    vec![[kernels(folder, size).remove(0), words("--format json")].concat()]
}

fn page(folder: &Path, size: usize) -> Vec<Vec<String>> {
    let to = file(folder, "page.html").display().to_string();
    vec![[kernels(folder, size).remove(0), words(&format!("-o {to}"))].concat()]
}

fn columns(folder: &Path, size: usize) -> Vec<Vec<String>> {
    let file = page_of(&file(folder, "run.csv"), 200, 20, size, 0);
    vec![words(&format!("analyze {file} --device A100-SXM4-80GB"))]
}

fn files(folder: &Path, size: usize) -> Vec<Vec<String>> {
    let ranks = folder.join("ranks");
    fs::create_dir_all(&ranks).unwrap();
    for rank in 0..size {
        page_of(&ranks.join(format!("rank{rank:05}.csv")), 20, 10, 0, rank);
    }
    vec![words(&format!("analyze {} --device A100-SXM4-80GB", ranks.display()))]
}

fn small(folder: &Path, size: usize) -> Vec<Vec<String>> {
    let many = folder.join("many");
    fs::create_dir_all(&many).unwrap();
    for at in 0..size {
        page_of(&many.join(format!("part{at:05}.csv")), 3, 3, 0, at);
    }
    vec![words(&format!("analyze {} --device A100-SXM4-80GB", many.display()))]
}

fn convert(folder: &Path, size: usize) -> Vec<Vec<String>> {
    let mut text = "\"Idx\",\"Direction\",\"Sub\",\"Module\",\"Op\",\"Kernel\",\"Params\",\"Sil(ns)\",\"TC\",\"Device\",\"Stream\",\"Grid\",\"Block\",\"FLOPs\",\"Bytes\"\n".to_owned();
    for launch in 0..size {
        let n = 64 << (launch % 6);
        let _ = writeln!(
            text,
            "\"{launch}\",\"fprop\",\"0\",\"torch.nn.functional\",\"linear\",\"volta_sgemm_128x64_nn\",\"M={n},N=512,K=1024,fp32,\",\"{:.0}\",\"0\",\"0\",\"7\",\"{n},1,1\",\"256,1,1\",\"{}\",\"{}\"",
            2_000.0 + 900_000.0 * noise(launch),
            2 * n * 512 * 1024,
            n * 512 + n * 1024 + 512 * 1024 * 4
        );
    }
    let (from, to) = (file(folder, "net.csv"), file(folder, "launches.csv"));
    fs::write(&from, text).unwrap();
    vec![words(&format!("convert {} -o {}", from.display(), to.display()))]
}

/// Time of a launch in nanoseconds.
fn nanoseconds(launch: usize) -> usize {
    2_000 + (900_000.0 * noise(launch)) as usize
}

/// The list of launches that `nsys stats` prints.
fn timeline(folder: &Path, size: usize) -> Vec<Vec<String>> {
    let mut text = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n".to_owned();
    let mut start = 0;
    for launch in 0..size {
        let (time, kernel) = (nanoseconds(launch), launch % 100);
        let _ = writeln!(
            text,
            "{start},{time},{launch},{},1,1,128,1,1,64,0.000,0.016,,,,,NVIDIA A100-SXM4-80GB (0),1,,7,\"{}\"",
            1 + kernel,
            name(kernel)
        );
        start += time + 1_100;
    }
    let path = file(folder, "trace.csv");
    fs::write(&path, text).unwrap();
    vec![words(&format!("analyze {}", path.display()))]
}

/// A trace of the `PyTorch` profiler: each launch with its operator and its call.
fn trace(folder: &Path, size: usize) -> Vec<Vec<String>> {
    let mut text = "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"NVIDIA A100-SXM4-80GB\", \"computeMajor\": 8, \"computeMinor\": 0, \"numSms\": 108}], \"traceEvents\": [\n".to_owned();
    let mut start = 0;
    for launch in 1..=size {
        let (time, kernel) = (nanoseconds(launch), launch % 100);
        let at = |more: usize| (start + more) as f64 / 1_000.0;
        let event = |cat: &str, name: &str, id: usize, (ts, dur): (f64, f64), args: &str| {
            format!(
                "{{\"ph\": \"X\", \"cat\": \"{cat}\", \"name\": \"{name}\", \"pid\": {id}, \"tid\": {id}, \"ts\": {ts:.3}, \"dur\": {dur:.3}, \"args\": {{{args}}}}},\n"
            )
        };
        let operator = format!(
            "\"External id\": {launch}, \"Input Dims\": [[{}, 1024], [{}, 1024]], \"Input type\": [\"float\", \"float\"]",
            64 + kernel,
            64 + kernel
        );
        text += &event("cpu_op", "aten::add", 9, (at(0), 1.5), &operator);
        let call = format!("\"External id\": {launch}, \"correlation\": {launch}");
        text += &event("cuda_runtime", "cudaLaunchKernel", 9, (at(500), 0.5), &call);
        let kernel = format!(
            "{call}, \"device\": 0, \"stream\": 7, \"registers per thread\": 32, \"shared memory\": 0, \"grid\": [{}, 1, 1], \"block\": [128, 1, 1]",
            1 + kernel
        );
        let name = name(launch % 100);
        text += &event("kernel", &name, 0, (at(1_600), time as f64 / 1_000.0), &kernel);
        start += time + 2_000;
    }
    text.truncate(text.len() - 2);
    text.push_str("\n]}\n");
    let path = file(folder, "trace.json");
    fs::write(&path, text).unwrap();
    vec![words(&format!("analyze {}", path.display()))]
}

/// A launch table as JSON.
fn table(folder: &Path, size: usize) -> Vec<Vec<String>> {
    let from = page_of(&file(folder, "run.csv"), size, 100, 0, 0);
    let to = file(folder, "launches.json");
    let mut prepare = words(&format!("convert {from} -o {}", to.display()));
    prepare.push(PREPARES.to_owned());
    vec![prepare, words(&format!("analyze {} --device A100-SXM4-80GB", to.display()))]
}

/// A launch table as JSON, in which each launch has a key that no other has.
fn keys(folder: &Path, size: usize) -> Vec<Vec<String>> {
    let launch = |at: usize| {
        format!(
            "{{\"source\": \"a\", \"kernel\": \"k{at}\", \"device_ordinal\": 0, \"launches\": 1, \"grid_x\": 8, \"threads_per_block\": 64, \"duration_s\": 0.001, \"own_{at}\": 1}}"
        )
    };
    let launches: Vec<String> = (0..size).map(launch).collect();
    let text = format!(
        "{{\"metadata\": {{\"schema\": \"rooflint/launches/1\"}}, \"launches\": [{}]}}",
        launches.join(",\n")
    );
    let path = file(folder, "launches.json");
    fs::write(&path, text).unwrap();
    vec![words(&format!("inspect {}", path.display()))]
}

fn gate(folder: &Path, size: usize) -> Vec<Vec<String>> {
    for run in 0..5 {
        page_of(&folder.join(format!("a{run}.csv")), size, size, 0, run);
        page_of(&folder.join(format!("b{run}.csv")), size, size, 0, run + 5);
    }
    let at = folder.display();
    vec![words(&format!("gate {at}/b*.csv --baseline {at}/a*.csv --device A100-SXM4-80GB"))]
}

fn store(folder: &Path, size: usize) -> Vec<Vec<String>> {
    saves(folder, size, STORE_OF_STEP)
}

/// So many saves into one store, a commit each.
fn saves(folder: &Path, size: usize, store: &str) -> Vec<Vec<String>> {
    let save = |run: usize| {
        let path = page_of(&folder.join(format!("run{run}.csv")), 200, 200, 0, run);
        let date = format!("2026-01-{:02}T{:02}:00:00Z", 1 + run / 24 % 28, run % 24);
        words(&format!(
            "baseline save {path} --device A100-SXM4-80GB --store {} --commit c{run:07} --branch main --date {date}",
            folder.join(store).display()
        ))
    };
    (0..size).map(save).collect()
}

fn trend(folder: &Path, size: usize) -> Vec<Vec<String>> {
    let mut commands = saves(folder, size, "store");
    for command in &mut commands {
        command.push(PREPARES.to_owned());
    }
    commands.push(words(&format!("trend {}", folder.join("store").display())));
    commands
}
