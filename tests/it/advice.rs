//! Advice that fits the kernel: for kernels as experts know them, what must be said of each and what must not.
//!
//! The list is `fixtures/advice/cases.toml`; the exports beside it are made by `fixtures/advice_cases.py`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rooflint::ingest::{self, Input};
use rooflint::report::{Report, Style, written};
use rooflint::rules::Finding;
use rooflint::session::{Judged, Session};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    case: Vec<Case>,
}

/// What an expert says of a kernel, or of the run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    what: String,
    file: String,
    kernel: String,
    #[serde(default)]
    must: Vec<String>,
    #[serde(default)]
    never: Vec<String>,
    #[serde(default)]
    said: Vec<String>,
    #[serde(default)]
    unsaid: Vec<String>,
}

const RUN: &str = "the run";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/advice")
}

fn cases() -> Vec<Case> {
    let text = fs::read_to_string(folder().join("cases.toml")).unwrap();
    toml::from_str::<Cases>(&text).unwrap().case
}

fn told(findings: &[Finding]) -> Vec<String> {
    let next = |finding: &Finding| finding.next.clone().unwrap_or_default();
    findings.iter().map(|one| format!("{}: {}; {}", one.rule, one.message, next(one))).collect()
}

/// What is wrong about the advice of a case.
fn wrong(case: &Case) -> Vec<String> {
    let path = folder().join(format!("{}.csv", case.file));
    let profile = ingest::read(&[Input::Named(path)], &ingest::Options::default()).unwrap();
    let Judged { analysis, findings, .. } = Session::default().judge(&profile).unwrap();
    let mut kernels = analysis.kernels.iter().enumerate();
    let told = if case.kernel == RUN {
        told(&findings.run)
    } else {
        let (at, _) = kernels.find(|(_, kernel)| kernel.is_named(&case.kernel)).unwrap();
        told(findings.of(at))
    };
    let report =
        Report { analysis: &analysis, findings: &findings, top: 10, what_if: &[], command: None };
    let text = written(&report, "text", &Style { full: true, ..Style::default() }).unwrap();
    let is_told = |part: &str| told.iter().any(|finding| finding.contains(part));
    let mut wrong = Vec::new();
    for (parts, wanted, is) in [
        (&case.must, true, &is_told as &dyn Fn(&str) -> bool),
        (&case.never, false, &is_told),
        (&case.said, true, &|part| text.contains(part)),
        (&case.unsaid, false, &|part| text.contains(part)),
    ] {
        let not = if wanted { "not said" } else { "said" };
        wrong.extend(
            parts.iter().filter(|part| is(part) != wanted).map(|part| {
                format!("{} ({}): {not}: {part}\n    of: {told:?}", case.file, case.what)
            }),
        );
    }
    wrong
}

#[test]
fn kernels_get_the_advice_that_an_expert_would_give() {
    let wrong: Vec<String> = cases().iter().flat_map(wrong).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_export_has_a_case_and_every_case_asks_something() {
    let cases = cases();
    let known: BTreeSet<&str> = cases.iter().map(|case| &*case.file).collect();
    let entries = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let exports = entries.filter(|path| path.extension().is_some_and(|end| end == "csv"));
    for path in exports {
        assert!(
            known.contains(&*path.file_stem().unwrap().to_string_lossy()),
            "{}",
            path.display()
        );
    }
    for case in &cases {
        let asked = [&case.must, &case.never, &case.said, &case.unsaid];
        assert!(asked.iter().any(|parts| !parts.is_empty()), "{}", case.what);
    }
}
