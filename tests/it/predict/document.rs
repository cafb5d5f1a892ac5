//! The tables of `docs/predict.md` are what the library computes, and its commands can be run.
//! `BLESS=1 cargo test --test it predict` writes the tables anew.

mod listing;
mod sources;

use std::path::{Path, PathBuf};

use rooflint::catalog::{Catalog, Device};
use rooflint::model::DeviceHint;
use rooflint::predict::{Options, Prediction, predict};

use super::arguments;
use super::program::program;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn catalog() -> Catalog {
    let own = root().join("fixtures/predict/source-devices.toml");
    Catalog::builtin().with_file(&own).unwrap()
}

fn device(name: &str) -> Device {
    catalog().find(name, &DeviceHint::default()).unwrap()
}

fn on(call: &str, device_name: &str) -> Prediction {
    predict(&arguments(call).unwrap(), &device(device_name), &Options::default()).unwrap()
}

/// A Markdown table.
fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(|&cell| cell.to_owned()).collect();
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    let rows = rows.iter().map(|row| line(row));
    format!("{}{rule}{}", line(&head), rows.collect::<String>())
}

/// Whole numbers in full with separators, others with up to six significant digits.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        let digits = format!("{value:.0}");
        let groups = digits.as_bytes().rchunks(3).rev();
        let groups = groups.map(|group| std::str::from_utf8(group).unwrap());
        return groups.collect::<Vec<_>>().join(",");
    }
    let before = value.abs().log10().floor();
    let places = (5.0 - before).clamp(0.0, 12.0) as usize;
    let text = format!("{value:.places$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn time(seconds: f64) -> String {
    if seconds < 1e-3 {
        format!("{} µs", number(seconds * 1e6))
    } else {
        format!("{} ms", number(seconds * 1e3))
    }
}

const OPEN: &str = "<!-- table: ";
const CLOSE: &str = "<!-- end -->";

/// The document with every table computed.
fn rendered(text: &str) -> String {
    let mut parts = text.split(OPEN);
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->\n").unwrap();
        let (_, after) = rest.split_once(CLOSE).unwrap();
        let table = match name {
            "forms" => listing::forms(),
            "formats" => listing::formats(),
            name => sources::of(name),
        };
        out += &format!("{OPEN}{name} -->\n{table}{CLOSE}{after}");
    }
    out
}

#[test]
fn the_tables_are_what_the_library_computes() {
    let path = root().join("docs/predict.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let computed = rendered(&text);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &computed).unwrap();
    } else {
        assert!(computed == text, "docs/predict.md is stale; write it anew with BLESS=1");
    }
    for name in sources::NAMES {
        assert!(text.contains(&format!("{OPEN}{name} -->")), "{name} is computed and not shown");
    }
}

/// Words of a command line, with quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[test]
fn every_command_of_the_document_can_be_run() {
    let text = std::fs::read_to_string(root().join("docs/predict.md")).unwrap();
    let mut commands = 0;
    let folder = tempfile::tempdir().unwrap();
    for line in text.lines().filter_map(|line| line.strip_prefix("rooflint ")) {
        commands += 1;
        let mut words = words(line);
        if let Some(at) = words.iter().position(|word| word == "-o") {
            if !cfg!(feature = "plot") {
                continue;
            }
            words[at + 1] = folder.path().join(&words[at + 1]).to_str().unwrap().to_owned();
        }
        let run = program(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(run.code == 0 && run.stderr.is_empty(), "{line}: {}", run.stderr);
    }
    assert!(commands > 10, "{commands}");
}
