//! Counts the instructions of a few small workloads, and compares them with the table of the repository by rooflint's
//! own gate: an instruction stands for a nanosecond.
//!
//! Instructions, unlike seconds, are the same on a busy machine: what differs is a change of the code.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Outcome, read, write};

#[path = "../../benches/exports/mod.rs"]
mod exports;

/// What is counted: names, and arguments of the program in the folder of the exports.
const WORKLOADS: [(&str, &str); 9] = [
    ("wide", "analyze wide.csv --threads 1 --device A100-SXM4-80GB"),
    ("long", "analyze long.csv --threads 1 --device A100-SXM4-80GB"),
    ("pyprof", "analyze pyprof.csv --threads 1 --device A100-SXM4-80GB"),
    ("convert", "convert pyprof.csv --threads 1 -o launches.csv"),
    ("kernels", "analyze kernels.csv --threads 1 --device A100-SXM4-80GB"),
    ("report", "analyze demo.csv --threads 1"),
    ("json", "analyze demo.csv --threads 1 -o report.json"),
    ("page", "analyze demo.csv --threads 1 -o report.html"),
    ("gate", "gate now.csv --baseline before.csv --threads 1 --device A100-SXM4-80GB"),
];

/// Bytes of the larger exports.
const SIZE: usize = 2_000_000;

/// Distinct kernels of one of them.
const KERNELS: usize = 1_000;

/// Kernels on each side of the gate.
const COMPARED: usize = 100;

/// A count below this share of the one in the table asks for a new table.
const STALE: f64 = 0.95;

/// Builds the program, counts, and compares; `blessing` writes the table anew.
pub(super) fn instructions(root: &Path, blessing: bool) -> Outcome {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    // Apart from other builds: `target/release` is not to lose its optional parts.
    let target = root.join(target).join("instructions");
    let folder = target.join("exports");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let demo = read(&root.join("fixtures/demo/h100-training-step.csv"))?;
    for (name, text) in [
        ("wide.csv", exports::wide(SIZE)),
        ("long.csv", exports::long(SIZE)),
        ("pyprof.csv", exports::pyprof(SIZE)),
        ("kernels.csv", exports::kernels(KERNELS, 1)),
        ("before.csv", exports::kernels(COMPARED, 2)),
        ("now.csv", exports::kernels(COMPARED, 3)),
        ("demo.csv", demo),
    ] {
        write(&folder.join(name), &text)?;
    }
    let program = build(root, &target)?;
    let mut table = "workload,instructions\n".to_owned();
    for (name, arguments) in WORKLOADS {
        let count = count(&program, &folder, arguments)?;
        table.push_str(&format!("{name},{count}\n"));
    }
    let own = root.join("benches/instructions");
    let known = own.join("counts.csv");
    if blessing {
        write(&known, &table)?;
        return Ok(format!("wrote {}:\n{table}", known.display()));
    }
    let now = folder.join("counts.csv");
    write(&now, &table)?;
    let fewer = stale(&counts(&read(&known)?), &counts(&table));
    let gate = Command::new(&program)
        .arg("gate")
        .arg(&now)
        .arg("--baseline")
        .arg(&known)
        .arg("--map")
        .arg(own.join("columns.toml"))
        .arg("--policy")
        .arg(own.join("policy.toml"))
        .status()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    if !gate.success() {
        return Err("more instructions than the table allows (1 ns is one): find out why; where it is worth them, \
                    `cargo xtask instructions --bless` and say why in the commit"
            .to_owned());
    }
    if fewer.is_empty() {
        Ok(format!("instructions of {} workloads are as before", WORKLOADS.len()))
    } else {
        Err(format!(
            "far fewer instructions, which is good: keep them with `cargo xtask instructions --bless`\n{}",
            fewer.join("\n")
        ))
    }
}

/// The program as it is installed, but for Parquet, which costs most of a build and is not on the path.
fn build(root: &Path, target: &Path) -> Result<PathBuf, String> {
    let features = ["--no-default-features", "--features", "cli,encodings,page"];
    let status = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["build", "--release", "--locked", "--bin", "rooflint"])
        .args(features)
        .arg("--target-dir")
        .arg(target)
        // Code is divided otherwise where it is compiled in increments.
        .env("CARGO_INCREMENTAL", "0")
        .current_dir(root)
        .status()
        .map_err(|error| format!("cargo: {error}"))?;
    if status.success() {
        Ok(target.join("release/rooflint"))
    } else {
        Err("the optimized program does not build".to_owned())
    }
}

/// The instructions of the program with these arguments.
fn count(program: &Path, folder: &Path, arguments: &str) -> Result<u64, String> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(arguments.split(' '))
        // Neither the environment nor the path of the exports may matter.
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("valgrind: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    // 1, 4: a gate that fails or cannot decide has compared everything.
    if !matches!(output.status.code(), Some(0 | 1 | 4)) {
        return Err(format!("rooflint {arguments}: {}\n{said}", output.status));
    }
    collected(&said).ok_or_else(|| format!("valgrind does not say how many instructions:\n{said}"))
}

/// The count that Callgrind prints at the end: `==12== Collected : 34567`.
fn collected(said: &str) -> Option<u64> {
    let line = said.lines().find(|line| line.contains("Collected"))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// Workloads and their counts.
fn counts(table: &str) -> Vec<(String, u64)> {
    let row = |line: &str| {
        let (name, count) = line.split_once(',')?;
        Some((name.to_owned(), count.trim().parse().ok()?))
    };
    table.lines().filter_map(row).collect()
}

/// Workloads that need far fewer instructions than the table says.
fn stale(known: &[(String, u64)], now: &[(String, u64)]) -> Vec<String> {
    let mut all = Vec::new();
    for (name, count) in now {
        let Some((_, before)) = known.iter().find(|(known, _)| known == name) else { continue };
        let ratio = *count as f64 / *before as f64;
        if ratio < STALE {
            all.push(format!("  {name}: {before} before, {count} now: {ratio:.3}×"));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_the_last_word_of_its_line() {
        let said = "==7== Callgrind, a call-graph generating cache profiler\n==7== Collected : 8015133\n==7==\n";
        assert_eq!(collected(said), Some(8_015_133));
        assert_eq!(collected("valgrind: fatal error"), None);
    }

    #[test]
    fn only_what_shrank_much_is_stale() {
        let known = counts("workload,instructions\nwide,1000\nlong,1000\ngone,5\n");
        let now = counts("workload,instructions\nwide,960\nlong,940\nnew,7\n");
        assert_eq!(stale(&known, &now), ["  long: 1000 before, 940 now: 0.940×"]);
    }
}
