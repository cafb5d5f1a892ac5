//! What `fleet` writes: tables as Parquet and CSV, JSON by its schema, lists of files.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use polars::prelude::*;
use polars_io::prelude::*;
use serde_json::Value;

use super::{program, rank};

/// The arguments, run without an error.
fn run(arguments: &[&str]) -> String {
    let done = program::run(arguments);
    assert_eq!(done.code, 0, "{arguments:?}: {}", done.stderr);
    done.stdout
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// A folder with the exports of three ranks, the last slower, and their summaries.
fn job() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (number, factor) in (0..).zip([1.0, 1.001, 1.3]) {
        let file = text(&rank(folder.path(), number, factor));
        let out = text(&folder.path().join(format!("rank{number}.partial.json")));
        run(&["summarize", &file, "-o", &out]);
    }
    folder
}

fn frame(path: &Path) -> DataFrame {
    ParquetReader::new(File::open(path).unwrap()).finish().unwrap()
}

/// The lines of a CSV file as cells, header first.
fn cells(csv: &str) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(csv.as_bytes());
    let cells = |row: csv::StringRecord| row.iter().map(str::to_owned).collect();
    reader.records().map(|row| cells(row.unwrap())).collect()
}

#[test]
fn kernels_and_ranks_are_written_as_parquet() {
    let folder = job();
    let kernels = text(&folder.path().join("kernels.parquet"));
    let csv = text(&folder.path().join("kernels.csv"));
    let tables = text(&folder.path().join("tables")) + "/";
    let said = run(&["fleet", &text(folder.path()), "-o", &kernels, "-o", &csv, "-o", &tables]);
    assert_eq!(said, "");
    let frame_of = |name: &str| frame(&Path::new(&tables).join(name));
    assert_eq!(
        fs::read(&kernels).unwrap(),
        fs::read(Path::new(&tables).join("kernels.parquet")).unwrap()
    );
    // The same columns and rows as CSV, numbers as numbers.
    let (parquet, csv) = (frame(Path::new(&kernels)), cells(&fs::read_to_string(&csv).unwrap()));
    let names: Vec<&str> = parquet.columns().iter().map(|one| one.name().as_str()).collect();
    assert_eq!(names, csv[0]);
    assert_eq!(parquet.height() + 1, csv.len());
    let at = |name: &str| csv[0].iter().position(|title| title == name).unwrap();
    let measured = parquet.column("measured_s").unwrap().f64().unwrap();
    let shown: f64 = csv[1][at("measured_s")].parse().unwrap();
    assert_eq!(measured.get(0), Some(shown));
    assert_eq!(parquet.column("launches").unwrap().dtype(), &DataType::UInt64);
    assert!(
        csv[1..].iter().all(|row| row[at("ranks")] == "3" && row[at("slowest_rank")] == "run/2")
    );
    let ranks = frame_of("ranks.parquet");
    let number =
        |name: &str, row: usize| ranks.column(name).unwrap().f64().unwrap().get(row).unwrap();
    assert_eq!(ranks.height(), 3);
    let sum: f64 = measured.iter().flatten().sum();
    let of_ranks: f64 = (0..3).map(|row| number("measured_s", row)).sum();
    assert!((of_ranks / sum - 1.0).abs() < 1e-12, "{of_ranks} {sum}");
    assert!((number("from_median", 2) - (1.3 / 1.001 - 1.0)).abs() < 1e-9);
    assert_eq!(ranks.column("cause").unwrap().str().unwrap().get(0), None);
    assert_eq!(ranks.column("cause").unwrap().str().unwrap().get(2), Some("unknown"));
}

#[test]
fn fleet_counts_launches_without_a_duration() {
    let folder = tempfile::tempdir().unwrap();
    let partial = |name: &str, times: [&str; 2]| {
        let file = folder.path().join(format!("{name}.csv"));
        let header = "source,id,kernel,device_ordinal,launches,grid_x,threads_per_block,duration_s,duration_s_origin";
        let rows = times.map(|time| {
            let origin = if time.is_empty() { "" } else { "measured" };
            format!("a.csv,7,k,0,1,64,256,{time},{origin}")
        });
        fs::write(&file, format!("{header}\n{}\n", rows.join("\n"))).unwrap();
        let out = text(&folder.path().join(format!("{name}.partial.json")));
        run(&["summarize", &text(&file), "--device", "L4", "-o", &out]);
        out
    };
    let [whole, half] = [partial("rank0", ["0.1", "0.2"]), partial("rank1", ["0.1", ""])];
    let says = "1 of 4 launches have no duration";
    assert!(run(&["fleet", &whole, &half]).contains(says));
    assert!(!run(&["fleet", &whole]).contains("no duration"));
}

#[test]
fn summaries_keep_their_roofs_and_fleet_says_so() {
    let folder = job();
    let partial = text(&folder.path().join("rank0.partial.json"));
    let plain = run(&["fleet", &partial]);
    assert!(!plain.contains("changes no summary"), "{plain}");
    for asked in [["--ceilings", "achievable"], ["--device", "H100 SXM5 80GB"]] {
        let other = run(&["fleet", &partial, asked[0], asked[1]]);
        assert!(other.contains(&format!("{} changes no summary", asked[0])), "{other}");
    }
}

/// The kernels of one rank are those of the analysis of its export: every column of it, with the same cells.
#[test]
fn the_kernels_of_one_rank_have_the_columns_and_cells_of_the_report() {
    let folder = job();
    let expected =
        cells(&run(&["analyze", &text(&folder.path().join("rank0.csv")), "--format", "csv"]));
    let partial = text(&folder.path().join("rank0.partial.json"));
    let found = cells(&run(&["fleet", &partial, "--format", "csv"]));
    assert_eq!(found.len(), expected.len());
    let mut compared = 0;
    for (at, title) in expected[0].iter().enumerate() {
        assert_eq!(found[0][at], *title);
        for (found, expected) in found.iter().zip(&expected).skip(1) {
            let (found, expected) = (&found[at], &expected[at]);
            let is_same = match (found.parse::<f64>(), expected.parse::<f64>()) {
                (Ok(found), Ok(expected)) => (found - expected).abs() <= expected.abs() * 1e-9,
                _ => found == expected,
            };
            assert!(is_same, "{title}: {found:?}, {expected:?} expected");
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn the_device_is_said_once() {
    let folder = job();
    let said = run(&["fleet", &text(folder.path())]);
    assert_eq!(said.matches("H100").count(), 1, "{said}");
    // Of another device there is a column.
    let file = folder.path().join("rank1.csv");
    let other = fs::read_to_string(&file).unwrap().replace("NVIDIA H100 80GB HBM3", "NVIDIA H200");
    fs::write(&file, other).unwrap();
    run(&["summarize", &text(&file), "-o", &text(&folder.path().join("rank1.partial.json"))]);
    let said = run(&["fleet", &text(folder.path()), "--width", "240"]);
    assert!(said.matches("H200").count() > 3 && said.contains("device"), "{said}");
}

#[test]
fn names_of_summaries_come_from_a_list() {
    let folder = job();
    let name = |number: u64| text(&folder.path().join(format!("rank{number}.partial.json")));
    let all = run(&["merge", &name(0), &name(1), &name(2)]);
    let list = folder.path().join("list");
    fs::write(&list, format!("{}\n\n{}\n", name(2), name(1))).unwrap();
    assert_eq!(run(&["merge", &name(0), "--files-from", &text(&list), "--threads", "2"]), all);
    let mut command = program::command(&["merge", "--files-from", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let names = [name(0), name(1), name(2)].join("\n");
    child.stdin.take().unwrap().write_all(names.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.stdout == all.as_bytes());
    fs::write(&list, "\n").unwrap();
    let done = program::run(&["merge", "--files-from", &text(&list)]);
    assert_eq!((done.code, done.stderr.contains("names no file")), (2, true), "{}", done.stderr);
    assert_eq!(program::run(&["merge"]).code, 2);
}

#[test]
fn json_of_the_fleet_has_the_figures_of_its_tables() {
    let folder = job();
    let found: Value =
        serde_json::from_str(&run(&["fleet", &text(folder.path()), "--format", "json"])).unwrap();
    assert_eq!(found["schema"], "rooflint/fleet/1");
    assert_eq!(
        (&found["runs"], &found["positions_from"]),
        (&serde_json::json!(["run"]), &Value::Null)
    );
    let sum = |list: &Value| -> f64 {
        list.as_array().unwrap().iter().map(|one| one["measured_s"].as_f64().unwrap()).sum()
    };
    let total = found["totals"]["measured_s"].as_f64().unwrap();
    for list in ["kernels", "ranks"] {
        assert!((sum(&found[list]) / total - 1.0).abs() < 1e-12, "{list}");
    }
    assert_eq!(found["measured_gpu_hours"].as_f64(), Some(total / 3600.0));
    let straggler = &found["stragglers"][0];
    assert_eq!((&straggler["rank"], &straggler["cause"]), (&2.into(), &"unknown".into()));
    let slowest = &found["kernels"][0]["slowest_rank"];
    assert_eq!((&slowest["run"], &slowest["rank"]), (&"run".into(), &2.into()));
}

/// Kernels that are faster than the model allows have no place in what a rank is compared with, as in the totals.
#[test]
fn a_rank_is_compared_without_what_is_faster_than_its_roof() {
    let folder = tempfile::tempdir().unwrap();
    let file = text(&rank(folder.path(), 0, 0.6));
    let of = |command: &[&str]| -> Value {
        serde_json::from_str(&run(&[command, &["--format", "json"]].concat())).unwrap()
    };
    let alone = of(&["analyze", &file]);
    let kernels = alone["kernels"].as_array().unwrap();
    let is_faster = |kernel: &&Value| kernel["state"] == "faster_than_roofline";
    assert!(kernels.iter().filter(is_faster).count() > 0);
    let partial = text(&folder.path().join("rank0.partial.json"));
    run(&["summarize", &file, "-o", &partial]);
    let says = "of the GPU time is in kernels faster than their roofline";
    assert!(run(&["fleet", &partial]).contains(says));
    let usual = text(&rank(folder.path(), 1, 1.0));
    let of_usual = text(&folder.path().join("rank1.partial.json"));
    run(&["summarize", &usual, "-o", &of_usual]);
    assert!(!run(&["fleet", &of_usual]).contains(says));
    let fleet = of(&["fleet", &partial]);
    for (key, of_kernel) in [("judged_s", "measured_s"), ("roofline_s", "roofline_s")] {
        let others = kernels
            .iter()
            .filter(|kernel| !is_faster(kernel) && kernel["group"] != "communication");
        let expected: f64 = others.map(|kernel| kernel[of_kernel].as_f64().unwrap()).sum();
        let found = fleet["ranks"][0][key].as_f64().unwrap();
        assert!((found / expected - 1.0).abs() < 1e-9, "{key}: {found}, {expected}");
    }
}

const RULE: &str = r#"
[[custom-rule]]
id = "any-launch"
over = "launches"
when = "duration_s > 0"
message = "a launch of a kernel"
"#;

/// What is not known is neither 0 s nor 0 hours, and a rule over launches does not judge the one that is left of several.
#[test]
fn what_sums_do_not_know_is_not_zero() {
    let folder = tempfile::tempdir().unwrap();
    let file = text(&rank(folder.path(), 0, f64::NAN));
    let partial = text(&folder.path().join("rank0.partial.json"));
    run(&["summarize", &file, "-o", &partial]);
    assert!(run(&["fleet", &partial]).contains("unknown: no durations in 46 launches"));
    let found: Value =
        serde_json::from_str(&run(&["fleet", &partial, "--format", "json"])).unwrap();
    for key in ["measured_gpu_hours", "savings_gpu_hours"] {
        assert_eq!(found[key], Value::Null, "{key}");
    }
    let rules = text(&folder.path().join("rules.toml"));
    fs::write(&rules, RULE).unwrap();
    let other = job();
    let findings = |command: &str, name: &str| {
        let file = text(&other.path().join(name));
        let printed = run(&[command, &file, "--config", &rules, "--format", "json"]);
        printed.matches("a launch of a kernel").count()
    };
    assert!(findings("analyze", "rank0.csv") > findings("fleet", "rank0.partial.json"));
    // Nor does a launch table keep the device.
    let table = text(&folder.path().join("table.csv"));
    let done = program::run(&["convert", &file, "-o", &table, "--device", "L4"]);
    assert!(done.stderr.contains("--device has no effect on a launch table"), "{}", done.stderr);
}

/// A bound of 0 is a bound: without it the roofline time would be certain.
#[test]
fn a_bound_of_zero_is_one_behind_a_summary() {
    let folder = tempfile::tempdir().unwrap();
    let file = text(&rank(folder.path(), 0, 1.0));
    let launches = run(&["convert", &file, "-o", "-"]);
    // Bytes may be as few as none.
    let more = |(at, line): (usize, &str)| {
        format!("{line},{}\n", if at == 0 { "dram_bytes_low,dram_bytes_high" } else { "0,1" })
    };
    let table = text(&folder.path().join("low0.csv"));
    fs::write(&table, launches.lines().enumerate().map(more).collect::<String>()).unwrap();
    let partial = text(&folder.path().join("low0.partial.json"));
    run(&["summarize", &table, "--rank", "0", "-o", &partial]);
    let bounds = |command: &str, file: &str| {
        let found: Value =
            serde_json::from_str(&run(&[command, file, "--format", "json"])).unwrap();
        let kernels = found["kernels"].as_array().unwrap().clone();
        let mut bounds: Vec<String> =
            kernels.iter().map(|kernel| kernel["roofline_low_s"].to_string()).collect();
        bounds.sort();
        bounds
    };
    let expected = bounds("analyze", &table);
    assert_eq!(expected.iter().filter(|bound| *bound == "0.0").count(), 2, "{expected:?}");
    assert_eq!(bounds("fleet", &partial), expected);
}
