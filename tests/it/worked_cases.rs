//! `docs/worked-cases.md`: the report's words are those of the program, and the arithmetic by hand is
//! worked out anew here, with units, and compared with the report's JSON.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::arithmetic::{Quantity, work_out};
use super::golden::check;
use super::profiles::collection;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn document() -> String {
    fs::read_to_string(root().join("docs/worked-cases.md")).unwrap()
}

pub(crate) fn rooflint(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rooflint"));
    let output = command.args(arguments).current_dir(root()).env_clear().output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// The entries of an explained kernel that are asked for, each with the lines it runs on over.
fn entries(text: &str, asked: &[&str]) -> String {
    let mut shown = String::new();
    for symbol in asked {
        let is_start = |line: &str| {
            let rest = line.strip_prefix("  ").and_then(|line| line.strip_prefix(symbol));
            rest.is_some_and(|rest| rest.starts_with("  ") || rest.starts_with(": "))
        };
        let mut lines = text.lines().skip_while(|line| !is_start(line));
        let first = lines.next().unwrap_or_else(|| panic!("no line {symbol:?} in\n{text}"));
        let more = lines.take_while(|line| line.starts_with("   "));
        for line in std::iter::once(first).chain(more) {
            shown.push_str(line);
            shown.push('\n');
        }
    }
    shown
}

/// Header and rows of one launch of an export, in a file of their own.
fn one_launch(path: &Path, launch: &str, folder: &Path) -> PathBuf {
    let text = fs::read_to_string(path).unwrap();
    let start = format!("\"{launch}\",");
    let lines = text.lines().enumerate();
    let kept: Vec<&str> = lines
        .filter(|(at, line)| *at == 0 || line.starts_with(&start))
        .map(|(_, line)| line)
        .collect();
    let file = folder.join("launch.csv");
    fs::write(&file, kept.join("\n")).unwrap();
    file
}

/// What a command says, or nothing where its export is not here.
fn said(command: &str, options: &BTreeMap<&str, &str>) -> Option<String> {
    let mut words: Vec<String> =
        command.split(' ').map(|word| word.trim_matches('\'').to_owned()).collect();
    let folder = tempfile::tempdir().unwrap();
    if let Some(file) = words[1].strip_prefix("collection/") {
        let mut path = collection()?.join(file);
        if let Some(launch) = options.get("launch") {
            path = one_launch(&path, launch, folder.path());
        }
        words[1] = path.display().to_string();
    }
    let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let asked: Vec<&str> = options["lines"].split(", ").collect();
    Some(entries(&rooflint(&arguments), &asked))
}

#[test]
fn the_cases_quote_the_program() {
    const START: &str = "<!-- made by: ";
    let known = document();
    let (mut rest, mut made, mut blocks) = (known.as_str(), String::new(), 0);
    while let Some(at) = rest.find(START) {
        let (comment, after) = rest[at + START.len()..].split_once(" -->\n```text\n").unwrap();
        let (old, after) = after.split_once("```\n").unwrap();
        let mut parts = comment.split("; ");
        let command = parts.next().unwrap();
        let options = parts.map(|part| part.split_once(": ").unwrap()).collect();
        made.push_str(&rest[..at]);
        let new = said(command, &options).unwrap_or_else(|| old.to_owned());
        made.push_str(&format!("{START}{comment} -->\n```text\n{new}```\n"));
        rest = after;
        blocks += 1;
    }
    assert_eq!(blocks, 8);
    made.push_str(rest);
    check(&root().join("docs/worked-cases.md"), &made);
}

/// Results of the arithmetic, by case (fixture and kernel) and symbol.
fn worked() -> BTreeMap<(String, String), Vec<BTreeMap<String, Quantity>>> {
    const START: &str = "<!-- arithmetic: ";
    let text = document();
    let mut cases: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for part in text.split(START).skip(1) {
        let (place, after) = part.split_once(" -->\n```\n").unwrap();
        let (lines, _) = after.split_once("```\n").unwrap();
        let (fixture, kernel) = place.split_once(' ').unwrap();
        let results =
            work_out(lines).unwrap_or_else(|error| panic!("{fixture}, {kernel}: {error}"));
        cases.entry((fixture.to_owned(), kernel.to_owned())).or_default().push(results);
    }
    cases
}

/// The figures of a report that a symbol of the arithmetic stands for, in SI units.
fn reported<'r>(kernel: &'r Value, symbol: &str) -> Option<&'r Value> {
    let level = |name: &str, key: &str| {
        let levels = kernel["levels"].as_array()?;
        levels.iter().find(|level| level["level"] == name).map(|level| &level[key])
    };
    let stake = |key: &str| kernel["findings"].as_array()?.first().map(|first| &first[key]);
    match symbol {
        "T" => Some(&kernel["measured_s"]),
        "B" => Some(&kernel["bytes"]),
        "F" => Some(&kernel["flops"]),
        "E" => Some(&kernel["roofline_s"]),
        "E_hier" => Some(&kernel["hierarchical_s"]),
        "h" => Some(&kernel["headroom"]),
        "t_mem" => Some(&kernel["t_mem_s"]),
        "t_math" => Some(&kernel["t_math_s"]),
        "t_L2" => Some(&kernel["t_l2_s"]),
        "t_sh" => level("shared", "t_s"),
        "B_L2" => level("l2", "bytes"),
        "structural" => Some(&kernel["structural_s"]),
        "to_win" => Some(&kernel["savings_s"]),
        "at_stake" => stake("at_stake_s"),
        "low" | "lost" => stake("at_stake_low_s"),
        _ => None,
    }
}

#[test]
fn the_arithmetic_by_hand_is_right_and_is_that_of_the_report() {
    let mut compared = Vec::new();
    for ((fixture, name), results) in worked() {
        let json = rooflint(&[&format!("fixtures/ncu_wide/{fixture}.csv"), "--format", "json"]);
        let report: Value = serde_json::from_str(&json).unwrap();
        let kernels = report["kernels"].as_array().unwrap();
        let kernel = kernels.iter().find(|kernel| kernel["name"] == name.as_str());
        let kernel = kernel.unwrap_or_else(|| panic!("no {name} in {fixture}"));
        for (symbol, quantity) in results.iter().flatten() {
            let Some(value) = reported(kernel, symbol) else { continue };
            let label = format!("{name}: {symbol}");
            let value = value.as_f64().unwrap_or_else(|| panic!("{label}: {value}"));
            let off = quantity.value / value - 1.0;
            assert!(
                off.abs() < 2e-5,
                "{label} = {} by hand, {value} by the report",
                quantity.value
            );
            compared.push(label);
        }
    }
    // Every case compares at least time, expectation, headroom and what is at stake.
    for symbol in ["T", "E", "h", "at_stake"] {
        let end = format!(": {symbol}");
        let count = compared.iter().filter(|label| label.ends_with(&end)).count();
        assert!(count >= 5, "{symbol}: {compared:?}");
    }
}

/// What is expected of NVIDIA's sample, from its report as published: the first kernel is slow for its
/// scattered accesses and for nothing else, the second is as good as this card lets it be.
#[test]
fn the_sample_of_uncoalesced_accesses_is_diagnosed_as_known() {
    let file = "fixtures/ncu_wide/rtx-a2000-uncoalesced-sample.csv";
    let report: Value = serde_json::from_str(&rooflint(&[file, "--format", "json"])).unwrap();
    let kernel = |name: &str| {
        let kernels = report["kernels"].as_array().unwrap();
        kernels.iter().find(|kernel| kernel["name"] == name).unwrap().clone()
    };
    let rules = |kernel: &Value| -> Vec<String> {
        let findings = kernel["findings"].as_array().unwrap();
        findings.iter().map(|one| one["rule"].as_str().unwrap().to_owned()).collect()
    };
    let (scattered, straight) = (kernel("addConstDouble3"), kernel("addConstDouble"));
    assert_eq!(scattered["state"], "flagged");
    assert_eq!(rules(&scattered), ["uncoalesced-access"]);
    let finding = &scattered["findings"][0];
    assert_eq!(finding["estimator"], "next-bottleneck");
    assert!(
        finding["message"].as_str().unwrap().starts_with("uncoalesced: 67% of the sectors"),
        "{finding}"
    );
    let evidence = |name: &str| {
        let facts = finding["evidence"].as_array().unwrap();
        let fact = facts.iter().find(|fact| fact["name"] == name);
        fact.and_then(|fact| fact["value"].as_f64()).unwrap_or_else(|| panic!("{name}: {facts:?}"))
    };
    assert_eq!(evidence("sectors per request, global loads"), 24.0);
    assert!((evidence("sectors needed over sectors touched") - 1.0 / 3.0).abs() < 1e-12);
    // 294.336 µs × (1 − 72.614453 ÷ 95.53), as in the collection's case a2000-next-bottleneck.
    let stake = finding["at_stake_s"].as_f64().unwrap();
    assert!((stake / 7.060_473_612_26e-5 - 1.0).abs() < 1e-6, "{stake}");
    // Headrooms at the clock of the run: cases a2000-headroom-clock-3 and -1.
    let headroom = |kernel: &Value| kernel["headroom"].as_f64().unwrap();
    assert!((headroom(&scattered) / 1.719_691_873_78 - 1.0).abs() < 1e-6);
    assert!((headroom(&straight) / 1.361_049_147_52 - 1.0).abs() < 1e-6);
    assert_eq!(straight["state"], "fair");
    assert_eq!(rules(&straight), [""; 0]);
    // Not small and hidden either: a tail of 26 waves, full occupancy, and 29.2% of the waiting for
    // the load/store queue are below every threshold; the L1 rule leaves the word to the cause.
    let tally = report["rules"].as_array().unwrap();
    let of = |rule: &str| tally.iter().find(|one| one["rule"] == rule).unwrap_or(&Value::Null);
    for rule in [
        "tail-effect",
        "occupancy-limited",
        "low-achieved-occupancy",
        "low-issue-utilization",
        "warp-divergence",
        "predication-waste",
        "register-spills",
        "dram-saturated",
    ] {
        let one = of(rule);
        assert!(!one.is_null(), "{rule}: {tally:?}");
        assert_eq!((&one["found"], &one["minor"]), (&0.into(), &0.into()), "{rule}: {one}");
    }
    assert_eq!(of("l1-bandwidth-bound")["found"], 0);
}
