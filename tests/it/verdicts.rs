//! `docs/verdicts.md` and `docs/savings.md`: what they quote of the program on real exports is what it says,
//! and their arithmetic, from the raw cells of the exports, is right and agrees with the report's JSON.
//!
//! Skipped without the collection, see `profiles`; `BLESS=1` with it writes the quotes anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::arithmetic::work_out;
use super::golden::check;
use super::judged::by_name;
use super::profiles::collection;
use super::worked_cases::rooflint;

const DOCUMENTS: [&str; 2] = ["docs/verdicts.md", "docs/savings.md"];

fn path(document: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(document)
}

fn text(document: &str) -> String {
    std::fs::read_to_string(path(document)).unwrap()
}

/// The reports on the exports that were asked for so far.
struct Reports {
    collection: PathBuf,
    known: BTreeMap<String, Value>,
}

impl Reports {
    /// The report on an export of the collection, with its device named where the export does not tell.
    fn of(&mut self, file: &str) -> &Value {
        let path = self.collection.join("ncu").join(file).display().to_string();
        self.known.entry(file.to_owned()).or_insert_with(|| {
            let report = |arguments: &[&str]| -> Value {
                serde_json::from_str(&rooflint(arguments)).unwrap()
            };
            let own = report(&[&path, "--format", "json"]);
            match by_name(file) {
                Some(device) if !own["device"]["unknown"].is_null() => {
                    report(&[&path, "--format", "json", "--device", device])
                }
                _ => own,
            }
        })
    }

    /// The totals of a run, or the longest kernel whose full name holds a text and whose grid has so many
    /// blocks; `run` and `-` stand for the totals and for any grid.
    fn part(&mut self, file: &str, kernel: &str, blocks: &str) -> Value {
        let report = self.of(file);
        if kernel == "run" {
            return report["totals"].clone();
        }
        let fits = |one: &&Value| {
            one["full_name"].as_str().unwrap().contains(kernel)
                && (blocks == "-" || one["blocks"].as_u64() == blocks.parse().ok())
        };
        let longest =
            report["kernels"].as_array().unwrap().iter().filter(fits).max_by(|one, two| {
                let time = |kernel: &Value| kernel["measured_s"].as_f64().unwrap();
                time(one).total_cmp(&time(two))
            });
        longest.unwrap_or_else(|| panic!("no {kernel} with {blocks} blocks in {file}")).clone()
    }
}

fn reports() -> Option<Reports> {
    Some(Reports { collection: collection()?, known: BTreeMap::new() })
}

fn milliseconds(part: &Value, field: &str) -> String {
    part[field].as_f64().map_or_else(|| "unknown".to_owned(), |time| format!("{:.4}", time * 1e3))
}

/// What the program says of a kernel, from its JSON.
fn said(kernel: &Value) -> String {
    let word = |field: &str| kernel[field].as_str().unwrap_or("none").to_owned();
    let headroom = |field: &str| {
        let known = kernel[field].as_f64().filter(|value| *value > 0.0);
        known.map_or_else(|| "unknown".to_owned(), |value| format!("{value:.2}"))
    };
    let ms = |field: &str| milliseconds(kernel, field);
    let mut lines = vec![
        format!("{} ms measured, launches: {}", ms("measured_s"), kernel["launches"]),
        format!(
            "expected {} ms, at most {} ms; headroom {}, at least {}",
            ms("roofline_s"),
            ms("roofline_high_s"),
            headroom("headroom"),
            headroom("headroom_low")
        ),
        format!(
            "{}, {}, limiter {}: {}",
            word("state"),
            word("confidence"),
            word("limiter"),
            word("reason")
        ),
    ];
    if !kernel["savings_s"].is_null() {
        let [low, mid, high] = ["savings_low_s", "savings_s", "savings_high_s"].map(ms);
        lines.push(format!("savings {mid} ms ({low} to {high})"));
    }
    for finding in kernel["findings"].as_array().unwrap().iter().take(2) {
        let word = |field: &str| finding[field].as_str().unwrap_or("").to_owned();
        let next =
            finding["next"].as_str().map_or_else(String::new, |next| format!("; try: {next}"));
        lines.push(format!("{}: {}{next}", word("rule"), word("message")));
    }
    lines.iter().map(|line| wrapped(line)).collect()
}

/// Savings in % of a kernel's time, with their interval.
fn predicted(kernel: &Value) -> String {
    let field = |name: &str| kernel[name].as_f64().unwrap();
    let share = |name: &str| 100.0 * field(name) / field("measured_s");
    let [low, mid, high] = ["savings_low_s", "savings_s", "savings_high_s"].map(share);
    format!("{mid:.1}% ({low:.1}–{high:.1}%)")
}

/// Writes the cells before `<!-- share: FILE KERNEL BLOCKS -->` anew.
fn with_shares(text: &str, reports: &mut Reports) -> String {
    const MARK: &str = "<!-- share: ";
    let mut parts = text.split(MARK);
    let mut made = parts.next().unwrap().to_owned();
    for part in parts {
        let (place, after) = part.split_once(" -->").unwrap();
        let words: Vec<&str> = place.split(' ').collect();
        let kernel = reports.part(words[0], words[1], words[2]);
        made.truncate(made.rfind("| ").unwrap() + 2);
        made.push_str(&format!("{} {MARK}{place} -->{after}", predicted(&kernel)));
    }
    made
}

fn wrapped(line: &str) -> String {
    let (mut text, mut width) = (String::new(), 0);
    for word in line.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > 108 {
            text.push_str("\n   ");
            width = 3;
        }
        if width > 0 {
            text.push(' ');
        }
        text.push_str(word);
        width += length + 1;
    }
    text + "\n"
}

#[test]
fn verdicts_quote_the_program() {
    const START: &str = "<!-- rooflint: ";
    let Some(mut reports) = reports() else { return };
    let mut blocks = 0;
    for document in DOCUMENTS {
        let known = text(document);
        let (mut rest, mut made) = (known.as_str(), String::new());
        while let Some(at) = rest.find(START) {
            let (place, after) = rest[at + START.len()..].split_once(" -->\n```text\n").unwrap();
            let (_, after) = after.split_once("```\n").unwrap();
            let words: Vec<&str> = place.split(' ').collect();
            let kernel = reports.part(words[0], words[1], words[2]);
            made.push_str(&rest[..at]);
            made.push_str(&format!("{START}{place} -->\n```text\n{}```\n", said(&kernel)));
            rest = after;
            blocks += 1;
        }
        made.push_str(rest);
        let made = with_shares(&made, &mut reports);
        check(&path(document), &made);
    }
    assert!(blocks >= 15, "{blocks}");
}

/// Lines whose remark is `FILE.csv KERNEL BLOCKS FIELD` are compared with that field of the report.
#[test]
fn figures_by_hand_are_right_and_those_of_the_report() {
    const START: &str = "<!-- by hand -->\n```\n";
    let mut reports = reports();
    let mut compared = 0;
    for document in DOCUMENTS {
        for block in text(document).split(START).skip(1) {
            let (lines, _) = block.split_once("```\n").unwrap();
            let results = work_out(lines).unwrap_or_else(|error| panic!("{document}: {error}"));
            for line in lines.lines() {
                let Some((sum, remark)) = line.split_once("# ") else { continue };
                let words: Vec<&str> = remark.split(' ').collect();
                let (Some(reports), [file, kernel, blocks, field]) = (&mut reports, &words[..])
                else {
                    continue;
                };
                let name = sum.split('=').next().unwrap().trim();
                let value = reports.part(file, kernel, blocks);
                let value = value.pointer(&format!("/{field}")).and_then(Value::as_f64);
                let value = value.unwrap_or_else(|| panic!("{document}: {remark}: not known"));
                let by_hand = results[name].value;
                // Cells have three to five digits.
                assert!(
                    (by_hand / value - 1.0).abs() < 2e-3,
                    "{document}: {name} = {by_hand} by hand, {value} is {remark}"
                );
                compared += 1;
            }
        }
    }
    assert!(reports.is_none() || compared >= 40, "{compared}");
}
