//! The outputs of the gate: looked at by people, checked by what reads them.

pub(crate) mod cli;
mod counted;
mod implausible;
mod judged;
mod laws;
mod limits;
mod made;
mod names;
mod operators;
mod ordered;
mod overcounted;
mod page;
mod partial;
mod pipelines;
mod readers;
mod reasons;
mod rehearsed;
mod sample;
mod several;
mod trackers;
mod unknown;
mod warmup;

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use rooflint::gate::{Decision, Policy};
use rooflint::report::{
    GATE_OUTPUTS, GateReport, Style, formats_with, gate_output, gate_schema, written,
};

use crate::golden::check;

/// A decision in an output, as a pipeline asks for it.
fn rendered(name: &str, decision: &Decision) -> String {
    let policy = sample::policy();
    let style = Style { limit: Some(GateReport::COMMENT), ..Style::default() };
    written(&report(decision, &policy), name, &style).unwrap()
}

fn report<'a>(decision: &'a Decision, policy: &'a Policy) -> GateReport<'a> {
    GateReport {
        command: Some("rooflint gate now-*.csv --baseline main-*.csv"),
        export: Some("./profiles/now 1.csv"),
        current: current(),
        ..GateReport::new(decision, policy)
    }
}

/// Runs of the current side.
fn current() -> &'static [rooflint::compare::Run] {
    static RUNS: LazyLock<Vec<rooflint::compare::Run>> =
        LazyLock::new(|| vec![made::steady("one", 3, |_| 1.0), made::steady("two", 3, |_| 1.1)]);
    &RUNS
}

/// Every sample with its name.
fn samples() -> [(&'static str, Decision); 5] {
    let informs = Decision { decides: false, ..sample::full() };
    [
        ("full", sample::full()),
        ("clean", sample::clean()),
        ("empty", sample::empty()),
        ("single", sample::single()),
        ("informs", informs),
    ]
}

#[test]
fn every_output_of_the_gate_renders_the_samples() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/gate");
    for (name, decision) in samples() {
        for output in formats_with(GATE_OUTPUTS) {
            let text = rendered(output.name, &decision);
            assert_eq!(
                text,
                rendered(output.name, &decision),
                "{}: not the same twice",
                output.name
            );
            assert!(text.ends_with('\n'), "{}: its last line has no end", output.name);
            // Every format in full once; the others where people read them.
            if name == "full" || ["text", "markdown"].contains(&output.name) {
                let ending = output.endings.first().unwrap_or(&output.name);
                check(&folder.join(format!("{name}.{ending}")), &text);
            }
        }
    }
}

#[test]
fn the_text_fits_the_terminal() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/gate");
    let policy = sample::policy();
    for width in [60, 80, 120, 200] {
        for (name, decision) in samples() {
            let style = Style { width: Some(width), ..Style::default() };
            let render =
                |style: &Style| written(&report(&decision, &policy), "text", style).unwrap();
            let text = render(&style);
            // What is to be pasted stays whole.
            let pasted = ["  kernel = ", "Next  ", "Reproduce  "];
            let is_pasted = |line: &&str| pasted.iter().any(|begin| line.starts_with(begin));
            for line in text.lines().filter(|line| !is_pasted(line)) {
                assert!(line.chars().count() <= width, "{name} at {width}: {line:?}");
            }
            if width == 80 && name == "full" {
                check(&folder.join("full-80.txt"), &text);
                assert!(text.lines().count() <= 79, "one screen");
                let heard = |line: &str| line.trim_start().starts_with("::");
                assert!(!text.lines().any(heard), "no name commands a runner");
            }
            let ascii = render(&Style { ascii: true, ..style });
            assert!(ascii.is_ascii(), "{ascii}");
            let colored = render(&Style { color: true, ..style });
            let plain = without_colors(&colored);
            assert_eq!(plain, text, "colors change no character");
        }
    }
}

fn without_colors(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    plain + rest
}

#[test]
fn no_name_controls_a_terminal() {
    for (_, decision) in samples() {
        for output in ["text", "markdown", "github", "sarif", "gitlab", "junit"] {
            let text = rendered(output, &decision);
            let control = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
            assert!(!text.contains(control), "{output}: {text}");
            // XML has no place for this one.
            assert!(output != "junit" || !text.contains('\u{fffe}'));
        }
    }
}

#[test]
fn markdown_survives_names() {
    for (_, decision) in samples() {
        let text = rendered("markdown", &decision);
        assert!(!text.contains("<img") && !text.contains("<script"), "{text}");
        // In an element of its own it calls nobody.
        assert!(!text.replace("<span>@</span>", "").contains('@'), "{text}");
        let mut above: Option<usize> = None;
        for line in text.lines() {
            let is_row = line.starts_with('|');
            let cells = is_row.then(|| line.replace("\\|", "").matches('|').count());
            assert!(above.is_none() || cells.is_none() || above == cells, "{line}");
            above = cells;
        }
        assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }
}

#[test]
fn markdown_says_what_it_leaves_out() {
    let (decision, policy) = (sample::many(12_000), sample::policy());
    for limit in [GateReport::COMMENT, GateReport::SUMMARY] {
        let style = Style { limit: Some(limit), ..Style::default() };
        let text = written(&report(&decision, &policy), "markdown", &style).unwrap();
        assert!(text.len() <= limit && text.len() > limit / 2, "{} of {limit}", text.len());
        assert!(text.contains(" more (rows) in the JSON"));
        assert!(text.contains("(new) in the JSON"), "every part has its room");
        assert!(text.contains("Gate FAILED") && text.contains("rooflint gate now-"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn markdown_never_exceeds_its_limit(kernels in 0_usize..400, limit in 0_usize..40_000, ascii: bool) {
        let (decision, policy) = (sample::many(kernels), sample::policy());
        let style = Style { ascii, limit: Some(limit), ..Style::default() };
        let text = written(&report(&decision, &policy), "markdown", &style).unwrap();
        prop_assert!(text.len() <= limit, "{} of {limit}", text.len());
        prop_assert_eq!(text.matches("<details>").count(), text.matches("</details>").count());
    }
}

#[test]
fn the_json_of_the_gate_follows_its_published_schema() {
    let schema = serde_json::from_str(&gate_schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (name, decision) in samples() {
        let document: serde_json::Value =
            serde_json::from_str(&rendered("json", &decision)).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        assert_eq!(document["schema"], "rooflint/gate/2");
        assert_eq!(document["checks"].as_array().unwrap().len(), decision.checks.len());
        for (check, shown) in decision.checks.iter().zip(document["checks"].as_array().unwrap()) {
            assert_eq!(shown["fingerprint"], check.fingerprint());
            assert_eq!(shown["message"], check.message);
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema");
    check(&folder.join("gate-2.schema.json"), &gate_schema());
}

#[test]
fn every_output_file_of_the_gate_is_listed_behind_its_door() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/report/gate");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if std::fs::read_to_string(&path).unwrap().contains("const OUTPUT: GateOutput") {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            assert!(gate_output(&name).is_some(), "{}: not listed", path.display());
        }
    }
}
