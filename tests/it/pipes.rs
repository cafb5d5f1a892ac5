//! Readers of standard output that go away: a command goes on with its other outputs and its verdict.

use std::path::Path;
use std::process::{Command, Stdio};

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rooflint"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

fn demo() -> &'static str {
    "fixtures/demo/h100-training-step.csv"
}

#[test]
fn a_closed_pipe_is_a_quiet_success() {
    let mut command = command(&["devices", "--format", "json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// What is written first goes to the closed pipe; the file behind it and the verdict are wanted all the same.
#[cfg(feature = "gate")]
#[test]
fn a_closed_pipe_takes_neither_the_verdict_nor_the_other_outputs_away() {
    let folder = tempfile::tempdir().unwrap();
    let plain =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(demo())).unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(at("now.csv"), &plain).unwrap();
    // Another run: each kernel in a tenth of the time.
    let mut rows = csv::ReaderBuilder::new().from_reader(plain.as_bytes());
    let headers = rows.headers().unwrap().clone();
    let time = headers.iter().position(|title| title.starts_with("gpu__time_duration")).unwrap();
    let mut faster = csv::Writer::from_writer(Vec::new());
    faster.write_record(&headers).unwrap();
    for row in rows.records().map(Result::unwrap) {
        let cells = row.iter().enumerate().map(|(at, cell)| {
            let number: Option<f64> = cell.replace(',', "").parse().ok().filter(|_| at == time);
            number.map_or_else(|| cell.to_owned(), |number| (number / 10.0).to_string())
        });
        faster.write_record(cells.collect::<Vec<_>>()).unwrap();
    }
    std::fs::write(at("main.csv"), faster.into_inner().unwrap()).unwrap();
    let (now, main, report) = (at("now.csv"), at("main.csv"), at("report.json"));
    let mut command =
        command(&["gate", &now, "--baseline", &main, "--no-config", "-o", "json=-", "-o", &report]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(std::fs::read_to_string(&report).unwrap().contains("rooflint/gate/"));
    // A table so large that it does not fit into the pipe.
    let mut command = self::command(&["convert", &now, "-o", "-", "-o", &at("table.json")]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
        (Some(0), "")
    );
    assert!(folder.path().join("table.json").exists());
}
