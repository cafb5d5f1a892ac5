//! The commands of the README and of the documents, run as they stand.
//!
//! - A block ```` ```console ```` has commands after `$ `; a reader types them. Every one is run and must succeed.
//!   What stands between two commands is their output and must be what the program prints; a command without
//!   any may print what it likes. A last line `…` stands for more output.
//! - A block ```` ```sh ```` shows no output. Its lines that start with `rooflint` are run, unless other programs
//!   follow; others need a GPU, a profiler or the network, and are not.
//! - The last cell of a table's row may have an example, which is run too.
//! - Comments before a block: `<!-- needs: WHAT -->` keeps an `sh` block from running; `<!-- exit: 1 -->` is the
//!   exit code of its last command; `<!-- setup: COMMAND -->` runs first and unseen; `<!-- from: START -->` and
//!   `<!-- to: START -->` show the output from the line that starts so to before the next one that starts so.
//!
//! The commands of a document run one after the other in a folder with the files that documents speak of.
//! `BLESS=1` writes the outputs anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::gate::cli::copies;
use super::golden::check;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The README and every document that is written by hand.
fn documents() -> Vec<PathBuf> {
    let folder = fs::read_dir(root().join("docs")).unwrap();
    let mut found: Vec<PathBuf> = folder
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        // Made from the program's list of formats, whose commands have placeholders.
        .filter(|path| !path.ends_with("format-list.md"))
        .collect();
    found.extend(
        ["README.md", "CONTRIBUTING.md", "devices/README.md", "docs/skill/SKILL.md"]
            .map(|one| root().join(one)),
    );
    found.sort();
    found
}

/// The files that the documents speak of: the demo, and copies of it with noise.
fn furnish(folder: &Path) {
    let runs = [("main", 1.0), ("now", 1.001), ("nightly", 1.002), ("step", 1.003), ("run", 1.004)];
    for (label, factor) in runs {
        copies(folder, label, 5, ("", factor));
    }
    let two = fs::read_to_string(root().join("fixtures/ncu_long/v100-two-runs-in-one-file.csv"));
    let two = two.unwrap();
    let process = |line: &str| line.split(',').nth(1).map(str::to_owned);
    let first = two.lines().nth(1).and_then(process);
    for (name, is_first) in [("time-and-bytes.csv", true), ("flops.csv", false)] {
        let rows = two.lines().enumerate();
        let rows = rows.filter(|(at, line)| *at == 0 || (process(line) == first) == is_first);
        let rows: Vec<&str> = rows.map(|(_, line)| line).collect();
        fs::write(folder.join(name), rows.join("\n")).unwrap();
    }
    let report = root().join("fixtures/ncu_rep/h100-training-step.ncu-rep");
    fs::copy(&report, folder.join("report.ncu-rep")).unwrap();
    fs::copy(&report, folder.join("next.ncu-rep")).unwrap();
    let trace = root().join("fixtures/pytorch_trace/v100-list-2020.json.gz");
    fs::copy(trace, folder.join("trace.json.gz")).unwrap();
    for (from, to) in [
        ("nsys_sqlite/v100-2020.sqlite", "run.sqlite"),
        ("nsys_trace/h100-2025-stdout.csv", "trace.csv"),
        ("nsys_sum/h100-cuda_gpu_kern_gb_sum.csv", "sum.csv"),
        ("proton/h100-two-scopes.hatchet", "run.hatchet"),
    ] {
        fs::copy(root().join("fixtures").join(from), folder.join(to)).unwrap();
    }
    copies(folder, "slow", 5, ("softmax", 1.12));
    let groups = ["gpu0", "gpu1", "gpu2", "monday", "tuesday", "wednesday"];
    for (at, group) in groups.into_iter().enumerate() {
        copies(folder, group, 3, ("", 1.01 + at as f64 * 0.002));
    }
    let ranks = folder.join("ranks");
    fs::create_dir(&ranks).unwrap();
    copies(&ranks, "rank", 3, ("", 1.0));
    for (from, to) in [
        ("main-0", "main"),
        ("main-0", "before"),
        ("now-0", "now"),
        ("now-0", "after"),
        ("main-1", "a100"),
        ("now-1", "h100"),
        ("main-2", "a1"),
        ("main-3", "a2"),
        ("now-2", "b1"),
        ("now-3", "b2"),
        ("run-4", "more"),
    ] {
        fs::copy(folder.join(format!("{from}.csv")), folder.join(format!("{to}.csv"))).unwrap();
    }
    fs::create_dir(folder.join("ci")).unwrap();
    fs::write(folder.join("ci/rooflint.toml"), "[rules]\nignore = [\"tail-effect\"]\n").unwrap();
    fs::write(folder.join("gate.toml"), "[gate]\nversion = 1\n").unwrap();
    let device = "[[device]]\nname = \"My GPU\"\nmemory = { bandwidth_gbs = 3000 }\n\
                  peaks_tflops = { fp32_vector = 60, bf16_matrix = 800 }\n";
    fs::write(folder.join("my-gpu.toml"), device).unwrap();
    std::os::unix::fs::symlink(root().join("fixtures"), folder.join("fixtures")).unwrap();
    for (from, to) in [
        ("demo/h100-training-step.csv", "run.csv"),
        ("mapped/h100-benchmark.csv", "net.csv"),
        ("mapped/h100-benchmark.toml", "mapping.toml"),
        ("ncu_long/h100-details-rules-with-speedups.csv", "details.csv"),
        ("predict/transformer-block.toml", "step.toml"),
    ] {
        fs::copy(root().join("fixtures").join(from), folder.join(to)).unwrap();
    }
}

/// A command as the shell runs it: its exit status and its standard output.
fn run(command: &str, folder: &Path) -> (i32, String, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_rooflint"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(program.parent().unwrap().to_owned());
    let path = std::env::join_paths(paths.chain(std::env::split_paths(&path))).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env_clear().env("PATH", path);
    let output = shell.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// What comments before a block say of it.
fn said(before: &str) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    let mut lines = before.lines().rev().skip_while(|line| line.is_empty());
    while let Some(comment) = lines
        .next()
        .and_then(|line| line.strip_prefix("<!-- "))
        .and_then(|line| line.strip_suffix(" -->"))
    {
        if let Some((key, value)) = comment.split_once(": ") {
            facts.insert(key.to_owned(), value.to_owned());
        }
    }
    facts
}

/// The part of an output that a block shows.
fn shown(output: &str, facts: &BTreeMap<String, String>) -> String {
    let mut lines: Vec<&str> = output.lines().collect();
    if let Some(start) = facts.get("from") {
        let at = lines.iter().position(|line| line.starts_with(start.as_str()));
        let at = at.unwrap_or_else(|| panic!("no line starts with {start:?}:\n{output}"));
        lines.drain(..at);
        if let Some(end) = facts.get("to") {
            let at = lines.iter().skip(1).position(|line| line.starts_with(end.as_str()));
            lines.truncate(at.map_or(lines.len(), |at| at + 1));
        }
        while lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
    }
    let ended = lines.iter().map(|line| line.trim_end());
    ended.flat_map(|line| [line, "\n"]).collect()
}

/// One block with its outputs as the program prints them.
fn play(block: &str, facts: &BTreeMap<String, String>, folder: &Path, place: &str) -> String {
    let mut made = String::new();
    let mut lines = block.lines().peekable();
    while let Some(line) = lines.next() {
        let command = line.strip_prefix("$ ");
        let command = command.unwrap_or_else(|| panic!("{place}: no command before {line:?}"));
        made.push_str(&format!("{line}\n"));
        let mut written = Vec::new();
        while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
            written.push(line);
        }
        let (code, output, errors) = run(command, folder);
        let last = lines.peek().is_none();
        let wanted = facts.get("exit").filter(|_| last).map_or(0, |code| code.parse().unwrap());
        assert_eq!(code, wanted, "{place}: {command}\n{errors}");
        if written.is_empty() {
            continue;
        }
        let output = if output.is_empty() { &errors } else { &output };
        let text = shown(output, facts);
        match written.last() {
            Some(&"…") => {
                let kept = text.lines().take(written.len() - 1);
                kept.for_each(|line| made.push_str(&format!("{line}\n")));
                made.push_str("…\n");
            }
            _ => made.push_str(&text),
        }
    }
    made
}

/// A document with the outputs of its blocks as the program prints them, and how many commands it has.
fn played(text: &str, name: &str) -> (String, usize) {
    let folder = tempfile::tempdir().unwrap();
    furnish(folder.path());
    let (mut made, mut commands) = (String::new(), 0);
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let facts = said(&made);
        made.push_str(&format!("{line}\n"));
        // Examples in tables: the last cell.
        let cell = line.strip_prefix('|').and_then(|line| line.strip_suffix("` |"));
        let example = cell.and_then(|cell| cell.rsplit_once("| `")).map(|(_, example)| example);
        let is_ours = |one: &&str| one.starts_with("rooflint ") && !one.ends_with("less -R");
        if let Some(command) = example.filter(is_ours) {
            let (code, _, errors) = run(command, folder.path());
            assert_eq!(code, 0, "{name}: {command}\n{errors}");
            commands += 1;
        }
        if line.trim() == "```sh" && !facts.contains_key("needs") {
            let block = lines.clone().take_while(|line| line.trim() != "```");
            let is_ours = |line: &&str| line.starts_with("rooflint ") && !line.contains("&&");
            for command in block.map(str::trim).filter(is_ours) {
                let (code, _, errors) = run(command, folder.path());
                let wanted = facts.get("exit").map_or(0, |code| code.parse().unwrap());
                assert_eq!(code, wanted, "{name}: {command}\n{errors}");
                commands += 1;
            }
        }
        let Some(indent) = line.strip_suffix("```console") else { continue };
        let block: Vec<&str> = lines
            .by_ref()
            .take_while(|line| line.trim() != "```")
            .map(|line| line.strip_prefix(indent).unwrap_or_default())
            .collect();
        commands += block.iter().filter(|line| line.starts_with("$ ")).count();
        if let Some(setup) = facts.get("setup") {
            let (code, _, errors) = run(setup, folder.path());
            assert_eq!(code, 0, "{name}: {setup}\n{errors}");
        }
        for line in play(&block.join("\n"), &facts, folder.path(), name).lines() {
            made.push_str(format!("{indent}{line}").trim_end());
            made.push('\n');
        }
        made.push_str(&format!("{indent}```\n"));
    }
    (made, commands)
}

#[test]
fn the_commands_of_the_documents_do_what_they_say() {
    let mut commands = 0;
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        let (made, more) = played(&text, &name);
        // Other tests write other parts of some documents.
        if made != text {
            check(&path, &made);
        }
        commands += more;
    }
    assert!(commands >= 60, "{commands}");
}

#[test]
fn a_command_that_fails_or_prints_something_else_is_noticed() {
    let of = |output: &str| format!("```console\n$ rooflint --version\n{output}```\n");
    let right = format!("rooflint {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(played(&of(&right), "right"), (of(&right), 1));
    assert_eq!(played(&of("rooflint 9\n"), "stale").0, of(&right));
    let fails = || played("```console\n$ rooflint no-such-file.csv\n```\n", "wrong");
    assert!(std::panic::catch_unwind(fails).is_err());
}

/// An option that a document forgets is an option that nobody finds.
#[test]
fn every_option_of_every_command_is_in_the_documents() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let documents = read("docs/cli.md") + &read("docs/baselines.md");
    let help = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rooflint"));
        let output = command.args(words).arg("--help").output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    // Names of commands are what clap lists below its heading.
    let commands = |text: &str| -> Vec<String> {
        let below = text.split_once("\nCommands:\n").map_or("", |(_, below)| below);
        let lines = below.lines().take_while(|line| !line.is_empty());
        let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        names.filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
    };
    let mut seen = 0;
    for command in commands(&help(&[])) {
        let mut all = vec![vec![command.clone()]];
        for one in commands(&help(&[&command])) {
            all.push(vec![command.clone(), one]);
        }
        for words in all {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            for line in help(&words).lines() {
                let option = line.trim_start().split_once("--").filter(|(before, _)| {
                    before.is_empty() || (before.starts_with('-') && before.ends_with(", "))
                });
                let Some((_, option)) = option else { continue };
                let name = option.split(|c: char| c != '-' && !c.is_ascii_lowercase()).next();
                let name = format!("--{}", name.unwrap_or_default());
                let named = ["`", " ", ", "].iter().any(|before| {
                    [" ", "`"]
                        .iter()
                        .any(|after| documents.contains(&format!("{before}{name}{after}")))
                });
                assert!(named, "{name} of {words:?} is in no document");
                seen += 1;
            }
        }
    }
    assert!(seen > 100, "only {seen} options were found");
}
