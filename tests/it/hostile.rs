//! Outputs that would destroy inputs, names that would act where a report is shown, and inputs, disks and signals that
//! would exhaust or interrupt the program: an error or a bounded result, and never a part of an output.
#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::house::root;

/// Nothing that is small may take longer, on a slow machine and without optimization.
const LONGEST: Duration = Duration::from_secs(60);

struct Done {
    code: Option<i32>,
    out: String,
    err: String,
}

fn rooflint(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rooflint"));
    command.args(arguments).current_dir(folder).env_clear();
    command
}

fn done(mut command: Command) -> Done {
    let begin = Instant::now();
    let output = command.output().unwrap();
    assert!(begin.elapsed() < LONGEST, "{command:?} takes {:?}", begin.elapsed());
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Done { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

fn run(folder: &Path, arguments: &[&str]) -> Done {
    done(rooflint(folder, arguments))
}

/// Runs the program under limits of the shell, such as `ulimit -v`.
fn limited(folder: &Path, limits: &str, arguments: &[&str]) -> Done {
    let mut command = Command::new("sh");
    let script = format!("{limits}; exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_rooflint")]).args(arguments);
    command.current_dir(folder).env_clear();
    done(command)
}

/// The program's memory: address space in KiB, of which the program itself takes a part.
const MEMORY: &str = "ulimit -v 1500000";

fn small() -> String {
    fs::read_to_string(root().join("fixtures/ncu_wide/h200-tensor-counter-tree.csv")).unwrap()
}

/// A folder with an export.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("run.csv"), small()).unwrap();
    folder
}

/// The names of the files in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn an_output_is_never_an_input() {
    let folder = folder();
    let path = folder.path();
    symlink("run.csv", path.join("link.csv")).unwrap();
    fs::hard_link(path.join("run.csv"), path.join("hard.csv")).unwrap();
    fs::create_dir(path.join("ranks")).unwrap();
    fs::hard_link(path.join("run.csv"), path.join("ranks/0.csv")).unwrap();
    fs::write(path.join("rooflint.toml"), "").unwrap();
    fs::write(path.join("devices.toml"), "").unwrap();
    for arguments in [
        &["run.csv", "-o", "run.csv"] as &[&str],
        &["run.csv", "-o", "./run.csv"],
        &["run.csv", "-o", "link.csv"],
        &["link.csv", "-o", "hard.csv"],
        &["run.csv", "-o", "text=run.csv"],
        &["run.csv", "-o", "report.html", "-o", "ranks/0.csv"],
        &["ranks", "-o", "ranks/0.csv"],
        &["ranks/*.csv", "-o", "run.csv"],
        &["convert", "run.csv", "-o", "run.csv"],
        &["inspect", "run.csv", "-o", "run.csv"],
        &["gate", "run.csv", "--baseline", "ranks/0.csv", "-o", "text=run.csv"],
        &["diff", "run.csv", "ranks/0.csv", "-o", "text=run.csv"],
        &["calibrate", "run.csv", "hard.csv", "-o", "run.csv"],
        &["run.csv", "--devices", "devices.toml", "-o", "text=devices.toml"],
        &["run.csv", "-o", "text=rooflint.toml"],
        &["demo", "-o", "text=rooflint.toml"],
    ] {
        let done = run(path, arguments);
        assert_eq!(done.code, Some(2), "{arguments:?}: {}", done.err);
        let reason = "this file is an input, and would be overwritten";
        assert!(done.err.contains(reason), "{arguments:?}: {}", done.err);
        assert_eq!(fs::read_to_string(path.join("run.csv")).unwrap(), small(), "{arguments:?}");
        assert!(!path.join("report.html").exists());
    }
    let mut command = rooflint(path, &["-", "-o", "run.csv"]);
    command.stdin(fs::File::open(path.join("run.csv")).unwrap());
    assert_eq!(
        (done(command).code, fs::read_to_string(path.join("run.csv")).unwrap()),
        (Some(2), small())
    );
}

#[test]
fn a_report_beside_the_exports_is_written_again() {
    let folder = folder();
    let path = folder.path();
    for _ in 0..2 {
        let done = run(path, &[".", "-o", "report.txt", "-o", "report.csv", "-o", "new.md"]);
        assert_eq!(done.code, Some(0), "{}", done.err);
    }
    // A launch table would be read beside the export that it was made from.
    assert_eq!(run(path, &["convert", ".", "-o", "launches.csv"]).code, Some(0));
    assert_eq!(run(path, &["convert", ".", "-o", "launches.csv"]).code, Some(2));
}

#[test]
fn a_saved_run_of_a_store_is_not_overwritten() {
    let folder = folder();
    let path = folder.path();
    let done = run(path, &["baseline", "save", "run.csv", "--store", "kept", "--name", "main"]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let entry = format!("kept/main/{}", names(&path.join("kept/main"))[0]);
    for arguments in [
        &["trend", "kept", "-o", &entry] as &[&str],
        &["baseline", "list", "--store", "kept", "-o", &entry],
        &["gate", "run.csv", "--baseline", "kept", "-o", &entry],
    ] {
        let done = run(path, arguments);
        assert!(
            done.code == Some(2) && done.err.contains("is an input"),
            "{arguments:?}: {}",
            done.err
        );
    }
}

#[test]
fn a_pipe_takes_the_output_and_stays_a_pipe() {
    use std::os::unix::fs::FileTypeExt;
    let folder = folder();
    let path = folder.path();
    let made = Command::new("mkfifo").arg(path.join("pipe.txt")).status();
    assert!(made.unwrap().success());
    let mut cat = Command::new("cat");
    let reader = cat.arg(path.join("pipe.txt")).stdout(Stdio::piped()).spawn().unwrap();
    assert_eq!(run(path, &["run.csv", "-o", "pipe.txt"]).code, Some(0));
    let got = reader.wait_with_output().unwrap().stdout;
    assert!(String::from_utf8(got).unwrap().starts_with("GPU time"));
    assert!(fs::metadata(path.join("pipe.txt")).unwrap().file_type().is_fifo());
}

/// A name that would call people, link, compute and emphasize.
const LIVE: &str =
    "@team #12 http://a.example www.b.example $x$ :smile: [t](http://c.example) \u{1b}[31m";

/// An export whose kernel has this name.
fn named(name: &str) -> String {
    let quoted = name.replace('"', "\"\"");
    small().replace("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT", &quoted)
}

/// The text of a Markdown document as the platforms look through it: what stands between elements of its own is apart.
fn is_live(markdown: &str) -> bool {
    ["@team", "#12", "http://", "www.b", "$x$", ":smile:", " [t]"]
        .iter()
        .any(|what| markdown.contains(what))
}

#[test]
fn no_name_is_live_in_markdown() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("run.csv"), named(&format!("{LIVE} one"))).unwrap();
    let slow = named(&format!("{LIVE} one")).replace("190.400000", "390.400000");
    fs::write(path.join("slow.csv"), slow).unwrap();
    fs::write(path.join("other.csv"), named(&format!("{LIVE} two"))).unwrap();
    for arguments in [
        &["run.csv", "--full", "-o", "markdown=-"] as &[&str],
        &["run.csv", "--explain", "-o", "markdown=-"],
        &["diff", "run.csv", "other.csv", "-o", "markdown=-"],
        &["gate", "slow.csv", "--baseline", "run.csv", "--exit-zero", "-o", "markdown=-"],
    ] {
        let done = run(path, arguments);
        assert!(
            done.out.contains("team"),
            "{arguments:?} names no kernel: {}{}",
            done.out,
            done.err
        );
        assert!(!is_live(&done.out), "{arguments:?}: {}", done.out);
        assert!(!done.out.contains('\u{1b}'), "{arguments:?}");
    }
}

#[test]
fn no_message_for_code_scanning_links() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    // Twice the time in the second run: a finding, which names the kernel.
    let slow = named(LIVE).replace("190.400000", "390.400000");
    fs::write(path.join("slow.csv"), slow).unwrap();
    fs::write(path.join("run.csv"), named(LIVE)).unwrap();
    let arguments = ["gate", "slow.csv", "--baseline", "run.csv", "--exit-zero", "-o", "sarif=-"];
    let done = run(path, &arguments);
    let log: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    let messages: Vec<&str> = log["runs"][0]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| result["message"]["text"].as_str().unwrap())
        .collect();
    assert!(messages.iter().any(|text| text.contains("\\[t\\](")), "{messages:#?}");
    assert!(!messages.iter().any(|text| text.contains("[t](")), "{messages:#?}");
}

#[test]
fn no_cell_is_a_formula_and_names_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let name = "=HYPERLINK(\"http://a.example\")";
    fs::write(path.join("run.csv"), named(name)).unwrap();
    for arguments in [
        &["convert", "run.csv", "-o", "csv=-"] as &[&str],
        &["run.csv", "-o", "csv=-"],
        &["run.csv", "--explain", "-o", "csv=-"],
    ] {
        let done = run(path, arguments);
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(done.out.as_bytes());
        let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        for cell in records.iter().flatten() {
            let is_formula = cell.starts_with(['=', '+', '-', '@']) && cell.len() > 1;
            assert!(!is_formula || cell.parse::<f64>().is_ok(), "{arguments:?}: {cell}");
        }
    }
    for table in ["t.csv", "t.json", "t.parquet"] {
        if table == "t.parquet" && cfg!(not(feature = "frames")) {
            continue;
        }
        assert_eq!(run(path, &["convert", "run.csv", "-o", table]).code, Some(0));
        let report = run(path, &[table, "--full-names", "-o", "json=-"]).out;
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["kernels"][0]["full_name"], name, "{table}");
    }
}

#[test]
fn a_full_disk_is_an_error_and_leaves_nothing() {
    let folder = folder();
    let path = folder.path();
    if Path::new("/dev/full").exists() {
        let done = run(path, &["run.csv", "-o", "text=/dev/full"]);
        assert_eq!(done.code, Some(2));
        assert!(done.err.contains("/dev/full: cannot write: the disk is full"), "{}", done.err);
        assert!(done.err.contains("help: make room"), "{}", done.err);
        let done = run(path, &["convert", "run.csv", "-o", "csv=/dev/full"]);
        assert!(done.err.contains("/dev/full: cannot write: the disk is full"), "{}", done.err);
        for words in [&["run.csv"][..], &["--help"], &["gate", "--help"], &["--version"]] {
            let mut command = rooflint(path, words);
            command.stdout(fs::File::options().write(true).open("/dev/full").unwrap());
            let done = self::done(command);
            assert_eq!(done.code, Some(2), "{words:?}");
            assert!(done.err.contains("the disk is full"), "{}", done.err);
        }
    }
    // Files of at most 4 KiB, and an error instead of the signal.
    let done = limited(path, "ulimit -f 8", &["run.csv", "-o", "report.html"]);
    assert_eq!((done.code, names(path)), (Some(2), vec!["run.csv".to_owned()]), "{}", done.err);
    assert!(done.err.contains("ulimit -f"), "{}", done.err);
    let done = run(path, &["run.csv", "-o", "none/report.html"]);
    assert!(done.err.contains("help: create the folder first"), "{}", done.err);
    fs::write(path.join("old.json"), "of an earlier run").unwrap();
    let done = limited(path, "ulimit -f 8", &["run.csv", "-o", "old.json"]);
    assert_eq!(done.code, Some(2));
    assert_eq!(fs::read_to_string(path.join("old.json")).unwrap(), "of an earlier run");
}

#[test]
fn an_interrupt_leaves_no_output() {
    let folder = folder();
    let path = folder.path();
    for signal in ["-INT", "-TERM"] {
        let mut command = rooflint(path, &["-", "-o", "report.json", "-o", "report.html"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // It waits for the rest.
        let half = small().into_bytes();
        child.stdin.as_mut().unwrap().write_all(&half[..half.len() / 2]).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        let status = child.wait().unwrap();
        assert!(!status.success(), "{signal}");
        assert_eq!(names(path), ["run.csv"], "{signal}");
    }
}

#[test]
fn a_file_that_vanishes_is_an_error() {
    let folder = folder();
    let path = folder.path();
    // One after the other: else both are open before one is gone.
    let arguments = ["-", "run.csv", "-o", "report.json", "--threads", "1"];
    let mut command = rooflint(path, &arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let text = small();
    let (head, tail) = text.split_at(text.len() / 2);
    child.stdin.as_mut().unwrap().write_all(head.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(200));
    fs::remove_file(path.join("run.csv")).unwrap();
    child.stdin.take().unwrap().write_all(tail.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(error.contains("run.csv"), "{error}");
    assert!(names(path).is_empty());
}

#[test]
fn links_that_lead_nowhere_are_left_out_or_named() {
    let folder = folder();
    let path = folder.path();
    symlink("loop.csv", path.join("loop.csv")).unwrap();
    symlink("gone.csv", path.join("dangling.csv")).unwrap();
    for (name, to) in [("a", "."), ("b", ".")] {
        symlink(to, path.join(name)).unwrap();
    }
    let done = run(path, &["."]);
    assert_eq!(done.code, Some(0), "{}", done.err);
    for named in ["loop.csv", "dangling.csv"] {
        let done = run(path, &[named]);
        assert_eq!(done.code, Some(3), "{named}: {}", done.err);
        assert!(done.err.contains(named) && !done.err.contains("os error"), "{}", done.err);
    }
    // Two folders that hold themselves: twice as many paths with every step.
    let done = run(path, &["**/*.csv"]);
    assert!(matches!(done.code, Some(0 | 3)), "{}", done.err);
}

#[test]
fn a_file_that_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let path = folder.path();
    fs::write(path.join("closed.csv"), small()).unwrap();
    fs::set_permissions(path.join("closed.csv"), fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(path.join("closed.csv")).is_ok() {
        println!("skipped: this user may read everything");
        return;
    }
    let one = run(path, &["closed.csv"]);
    assert_eq!(one.code, Some(3), "{}", one.err);
    assert!(one.err.contains("closed.csv") && one.err.contains("permission denied"), "{}", one.err);
    let all = run(path, &[".", "--full"]);
    assert_eq!(all.code, Some(0), "{}", all.err);
    assert!(all.out.contains("closed.csv"), "{}", all.out);
}

#[test]
fn a_hundred_thousand_columns_are_read() {
    const COLUMNS: usize = 100_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let text = small();
    let lines: Vec<&str> = text.lines().collect();
    let more = |cell: &dyn Fn(usize) -> String| -> String {
        (0..COLUMNS).map(|at| format!(",\"{}\"", cell(at))).collect::<Vec<_>>().concat()
    };
    let header = format!("{}{}", lines[0], more(&|at| format!("sm__made_up_{at}.sum")));
    let units = format!("{}{}", lines[1], more(&|_| "inst".to_owned()));
    let row = format!("{}{}", lines[2], more(&|at| at.to_string()));
    fs::write(path.join("wide.csv"), format!("{header}\n{units}\n{row}\n")).unwrap();
    let few = run(
        path,
        &[
            &root().join("fixtures/ncu_wide/h200-tensor-counter-tree.csv").to_string_lossy(),
            "-o",
            "csv=-",
        ],
    );
    let many = limited(path, MEMORY, &["wide.csv", "-o", "csv=-"]);
    assert_eq!(many.code, Some(0), "{}", many.err);
    assert_eq!(many.out, few.out);
    // The launch table and a mapping find their columns by name, too.
    let table = run(path, &["convert", "wide.csv", "-o", "csv=-"]).out;
    let mut rows = table.lines();
    let (header, row) = (rows.next().unwrap(), rows.next().unwrap());
    let columns = (0..COLUMNS).map(|at| format!(",made_up_{at}")).collect::<Vec<_>>().concat();
    fs::write(
        path.join("table.csv"),
        format!("{header}{columns}\n{row}{}\n", ",1".repeat(COLUMNS)),
    )
    .unwrap();
    let again = limited(path, MEMORY, &["table.csv", "-o", "csv=-"]);
    assert_eq!(again.code, Some(0), "{}", again.err);
}

#[cfg(feature = "encodings")]
#[test]
fn what_unpacks_to_much_more_is_read_in_bounded_memory() {
    /// Bytes of blank lines and of noise between two launches.
    const BYTES: usize = 256 << 20;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let lines = vec![b'\n'; 1 << 20];
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let mut zstd = zstd::Encoder::new(Vec::new(), 1).unwrap();
    for writer in [&mut gzip as &mut dyn Write, &mut zstd] {
        for _ in 0..BYTES >> 20 {
            writer.write_all(&lines).unwrap();
        }
        writer.write_all(small().as_bytes()).unwrap();
    }
    fs::write(path.join("bomb.csv.gz"), gzip.finish().unwrap()).unwrap();
    fs::write(path.join("bomb.csv.zst"), zstd.finish().unwrap()).unwrap();
    for name in ["bomb.csv.gz", "bomb.csv.zst"] {
        let size = fs::metadata(path.join(name)).unwrap().len() as usize;
        assert!(size * 100 < BYTES, "{name} is no bomb: {size}");
        let done = limited(path, "ulimit -v 700000", &[name, "-o", "csv=-"]);
        assert!(matches!(done.code, Some(0 | 3)), "{name}: {}", done.err);
        assert!(done.code == Some(0) || done.err.contains(name), "{name}: {}", done.err);
    }
    // A frame that asks for a window of two gigabytes, with a block of one byte.
    fs::write(path.join("window.csv.zst"), [0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 9, 0, 0, b'I'])
        .unwrap();
    let done = limited(path, "ulimit -v 700000", &["window.csv.zst"]);
    assert_eq!(done.code, Some(3), "{}", done.err);
    assert!(done.err.contains("needs a window above 128 MiB"), "{}", done.err);
    assert!(done.err.contains("give it uncompressed"), "{}", done.err);
}

/// A pipe that nobody writes to is never read to its end: the mistake is found before.
#[test]
fn wrong_arguments_are_found_before_anything_is_read() {
    let folder = folder();
    let path = folder.path();
    let made = Command::new("mkfifo").arg(path.join("pipe")).status();
    assert!(made.unwrap().success());
    fs::write(path.join("bad.toml"), "[columns]\nkernel = 7\n").unwrap();
    for (arguments, said) in [
        (&["--device", "no such GPU"][..], "no such GPU"),
        (&["--what-if", "no such GPU"], "no such GPU"),
        (&["-o", "report.docx"], "report.docx"),
        (&["-o", "missing/report.md"], "missing"),
        (&["--map", "bad.toml"], "bad.toml:2"),
        (&["--config", "none.toml"], "none.toml"),
    ] {
        let mut command = rooflint(path, &["pipe"]);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let begin = Instant::now();
        while child.try_wait().unwrap().is_none() && begin.elapsed() < LONGEST {
            std::thread::sleep(Duration::from_millis(10));
        }
        // Does nothing to a program that has ended.
        let _ = child.kill();
        let output = child.wait_with_output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        let code = output.status.code();
        assert!(matches!(code, Some(2 | 3)), "{arguments:?}: {code:?} {error}");
        assert!(error.contains(said), "{arguments:?}: {error}");
    }
}
