//! Runs, stores and outputs that are not whole: files of a folder that are damaged, an interrupt in the middle, options
//! that would do nothing, outputs that would destroy what is read.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::house::root;

fn rooflint(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rooflint"));
    command.args(arguments).current_dir(folder).env_clear();
    command
}

struct Done {
    code: Option<i32>,
    out: String,
    err: String,
}

fn done(output: Output) -> Done {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Done { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn run(folder: &Path, arguments: &[&str]) -> Done {
    done(rooflint(folder, arguments).output().unwrap())
}

fn export() -> String {
    fs::read_to_string(root().join("fixtures/demo/h100-training-step.csv")).unwrap()
}

/// A folder with two exports of a program, `v1.csv` and `v2.csv`, of which the second has one launch that took twice as
/// long.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("v1.csv"), export()).unwrap();
    let table = run(folder.path(), &["convert", "v1.csv", "-o", "-"]).out;
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let titles = rows.headers().unwrap().clone();
    let time = titles.iter().position(|title| title == "duration_s").unwrap();
    let mut other = csv::Writer::from_path(folder.path().join("v2.csv")).unwrap();
    other.write_record(&titles).unwrap();
    for (row, record) in rows.records().enumerate() {
        let mut cells: Vec<String> = record.unwrap().iter().map(str::to_owned).collect();
        if row == 0 {
            cells[time] = (2.0 * cells[time].parse::<f64>().unwrap()).to_string();
        }
        other.write_record(&cells).unwrap();
    }
    other.flush().unwrap();
    folder
}

/// What is made of a folder does not say that a rank is missing: a damaged one is an error, and no export is named.
#[test]
fn a_damaged_rank_is_not_left_out_of_what_does_not_say_so() {
    let folder = folder();
    let path = folder.path();
    fs::create_dir(path.join("ranks")).unwrap();
    fs::copy(path.join("v1.csv"), path.join("ranks/rank-0.csv")).unwrap();
    fs::write(path.join("ranks/notes.csv"), "who,what\nme,this\n").unwrap();
    let commands: [&[&str]; 4] = [
        &["gate", "ranks", "--baseline", "v2.csv"],
        &["baseline", "save", "ranks", "--store", "store"],
        &["convert", "ranks", "-o", "-"],
        &["summarize", "ranks", "--rank", "0"],
    ];
    for command in commands {
        let done = run(path, command);
        assert_eq!(done.code, Some(0), "{command:?}: {}", done.err);
        let said = done.err + &done.out;
        assert!(said.contains("1 file is not an export and was left out"), "{command:?}: {said}");
    }
    fs::remove_dir_all(path.join("store")).unwrap();
    let gzip = |text: &[u8]| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text).unwrap();
        gzip.finish().unwrap()
    };
    let cut = gzip(export().as_bytes());
    let damaged: [(&str, &[u8]); 2] =
        [("rank-1.csv", b""), ("rank-1.csv.gz", &cut[..cut.len() / 2])];
    for (name, bytes) in damaged {
        let file = path.join("ranks").join(name);
        fs::write(&file, bytes).unwrap();
        for command in commands {
            let done = run(path, command);
            assert_eq!(done.code, Some(3), "{command:?}: {}", done.err);
            assert!(
                done.err.contains(name) && done.err.contains("move the file out"),
                "{}",
                done.err
            );
        }
        assert!(!path.join("store").exists());
        // A report has a place to say so.
        let report = run(path, &["ranks"]);
        assert_eq!(report.code, Some(0));
        assert!(report.out.contains("2 files were not read"), "{}", report.out);
        fs::remove_file(file).unwrap();
    }
}

/// A signal in the middle of reading leaves no copy, and the process ends by it.
#[test]
fn an_interrupt_removes_what_is_unfinished() {
    let folder = tempfile::tempdir().unwrap();
    let entries = || fs::read_dir(folder.path()).unwrap().count();
    let mut command = rooflint(folder.path(), &["--from", "nsys-sqlite", "-"]);
    command.env("TMPDIR", folder.path()).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    // A database that does not end, and is longer than what is looked at first.
    pipe.write_all(b"SQLite format 3\0").unwrap();
    pipe.write_all(&vec![0; 2_000_000]).unwrap();
    let begin = Instant::now();
    while entries() == 0 {
        assert!(begin.elapsed() < Duration::from_secs(60), "no copy was begun");
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    // The others may be ignored where tests run in the background.
    assert!(Command::new("kill").args(["-s", "TERM", &id]).status().unwrap().success());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), None, "{status}");
    assert_eq!(entries(), 0);
    // What the caller ignores stays ignored.
    let script = "trap '' INT; \"$0\" --from nsys-sqlite - & kill -s INT $!; wait $!; echo $?";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_rooflint")]).stdin(Stdio::null());
    let ignored = done(command.output().unwrap());
    assert_eq!(ignored.out, "3\n", "{}", ignored.err);
}

/// The first save writes the marker first; what an interrupted one leaves is no other file.
#[test]
fn a_store_is_begun_again() {
    let folder = folder();
    let path = folder.path();
    fs::create_dir_all(path.join("store/default")).unwrap();
    fs::write(path.join("store/default/.tmpAb1"), "{").unwrap();
    let saved = run(path, &["baseline", "save", "v1.csv", "--store", "store"]);
    assert_eq!(saved.code, Some(0), "{}", saved.err);
    fs::create_dir(path.join("other")).unwrap();
    fs::write(path.join("other/notes.txt"), "x").unwrap();
    let refused = run(path, &["baseline", "save", "v1.csv", "--store", "other"]);
    assert_eq!(refused.code, Some(2));
    // A pipe among the runs is not waited for.
    let pipe = path.join("store/default/2026-01-01.json");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let list = run(path, &["baseline", "list", "--store", "store"]);
    assert!(list.out.contains("it is not a regular file"), "{}{}", list.out, list.err);
}

#[test]
fn what_is_read_is_not_written_to() {
    let folder = folder();
    let path = folder.path();
    let ok = |arguments: &[&str]| {
        let done = run(path, arguments);
        assert_eq!(done.code, Some(0), "{arguments:?}: {}", done.err);
    };
    fs::create_dir(path.join("ranks")).unwrap();
    fs::copy(path.join("v1.csv"), path.join("ranks/rank-0.csv")).unwrap();
    fs::create_dir(path.join("sums")).unwrap();
    ok(&["summarize", "ranks/rank-0.csv", "-o", "sums/r0.partial.json"]);
    ok(&["convert", "ranks", "-o", "parts/"]);
    ok(&["baseline", "save", "v1.csv", "--store", "store"]);
    fs::write(path.join("list.txt"), "sums/r0.partial.json\n").unwrap();
    let commands: [&[&str]; 7] = [
        &["merge", "--files-from", "list.txt", "-o", "sums/r0.partial.json"],
        &["fleet", "--files-from", "list.txt", "-o", "json=sums/r0.partial.json"],
        &["merge", "sums", "-o", "sums/r0.partial.json"],
        &["fleet", "parts", "-o", "parts/run=run/rank=0/part-00000.parquet"],
        &["fleet", "parts", "-o", "parts/devices.parquet"],
        &["trend", "store", "-o", "json=store/rooflint-baselines.toml"],
        &["baseline", "list", "--store", "store", "-o", "json=store/rooflint-baselines.toml"],
    ];
    for command in commands {
        let done = run(path, command);
        assert_eq!(done.code, Some(2), "{command:?}: {}", done.err);
        assert!(done.err.contains("this file is an input"), "{command:?}: {}", done.err);
    }
    let twice = run(path, &["v1.csv", "-o", "json=z", "-o", "csv=./z"]);
    assert_eq!(twice.code, Some(2));
    assert!(twice.err.contains("z and ./z are the same output"), "{}", twice.err);
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("x.json", path.join("y.md")).unwrap();
        let linked = run(path, &["v1.csv", "-o", "x.json", "-o", "y.md"]);
        assert_eq!(linked.code, Some(2));
        assert!(linked.err.contains("x.json and y.md are the same output"), "{}", linked.err);
    }
    fs::write(path.join("rooflint.toml"), "kernel-names = \"names.toml\"\n").unwrap();
    fs::write(path.join("names.toml"), "").unwrap();
    let names = run(path, &["v1.csv", "-o", "text=names.toml"]);
    assert_eq!(names.code, Some(2), "{}", names.err);
    assert!(names.err.contains("this file is an input"), "{}", names.err);
}

#[test]
fn options_that_would_do_nothing_are_refused() {
    let folder = folder();
    let path = folder.path();
    for option in ["--merge-base=main", "--baseline-name=a", "--baseline-branch=b"] {
        let done = run(path, &["gate", "v1.csv", "--baseline", "v2.csv", option]);
        assert_eq!(done.code, Some(2), "{option}: {}", done.err);
        let name = option.split('=').next().unwrap();
        assert!(done.err.contains(&format!("{name} needs a store")), "{}", done.err);
    }
    // The first run makes the store.
    let first = ["gate", "v1.csv", "--baseline", "new", "--baseline-name=a"];
    let done = run(path, &[&first[..], &["--allow-missing-baseline"]].concat());
    assert_eq!(done.code, Some(0), "{}", done.err);
}

/// A name with a line break makes no command of a pipeline, and numbers of threads and files without end are bounded.
#[test]
fn odd_names_numbers_and_devices_are_harmless() {
    let folder = folder();
    let path = folder.path();
    let name = "no such\n::error title=x::file.csv";
    let done = run(path, &["gate", "v1.csv", "--baseline", name]);
    assert!(!done.err.lines().any(|line| line.trim_start().starts_with("::")), "{}", done.err);
    assert!(done.err.contains(r"no such\n::error"), "{}", done.err);
    let many = run(path, &["v1.csv", "--threads", "18446744073709551615"]);
    assert_eq!(many.code, Some(0), "{}", many.err);
    assert_eq!(many.out, run(path, &["v1.csv"]).out);
    for option in ["--config", "--devices"] {
        let done = run(path, &["v1.csv", option, "/dev/zero"]);
        assert_eq!(done.code, Some(2), "{option}: {}", done.err);
        assert!(done.err.contains("it exceeds 16 MiB"), "{option}: {}", done.err);
    }
}
