//! Goldens: what the program prints for each fixture, and the documents made from the code.
//!
//! `BLESS=1 cargo test` accepts what changed; the diff is then reviewed like code.

use std::fs;
use std::path::{Path, PathBuf};

use rooflint::ingest::{self, FORMATS, Input};
use rooflint::report::{OUTPUTS, Report, Style, formats_with, written};
use rooflint::rules::RULES;
use rooflint::session::{Judged, Session, SessionError};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Compares a text with a committed file, or writes it if asked to.
pub(crate) fn check(file: &Path, text: &str) {
    if std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
        return;
    }
    let known = fs::read_to_string(file).unwrap_or_default();
    if known != text {
        let first = known
            .lines()
            .zip(text.lines())
            .enumerate()
            .find(|(_, (known, found))| known != found)
            .map_or_else(
                || "one is longer".to_owned(),
                |(line, (known, found))| format!("line {}:\n- {known}\n+ {found}", line + 1),
            );
        panic!(
            "{} is not what the program makes; {first}\nRun BLESS=1 cargo test and review the diff",
            file.display()
        );
    }
}

/// Folders of `fixtures/` whose files are no exports to be read as they are.
const OTHER_FIXTURES: [&str; 6] = ["bad", "captured", "cases", "mapped", "predict", "workloads"];

/// Fixtures that are read, with the device to name where the export does not.
pub(crate) fn fixtures() -> Vec<(PathBuf, Option<String>)> {
    let mut found = Vec::new();
    for folder in fs::read_dir(root().join("fixtures")).unwrap() {
        let folder = folder.unwrap();
        let is_other = OTHER_FIXTURES.iter().any(|other| folder.file_name() == *other);
        if is_other || !folder.path().is_dir() {
            continue;
        }
        for entry in fs::read_dir(folder.path()).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let beside =
                [".md", ".report.txt", ".device", ".toml"].iter().any(|end| name.ends_with(end));
            if beside {
                continue;
            }
            let device = fs::read_to_string(path.with_extension("device"))
                .ok()
                .map(|text| text.trim().to_owned());
            found.push((path, device));
        }
    }
    found.sort();
    found
}

/// How a fixture is read: through the mapping beside it, if there is one.
pub(crate) fn reading(path: &Path) -> ingest::Options {
    let map = path.with_extension("toml");
    // Reports name the mapping: as a user gives it, not by where the package lies.
    let shown = map.strip_prefix(root()).unwrap_or(&map).to_string_lossy().into_owned();
    let map = fs::read_to_string(&map)
        .ok()
        .map(|text| ingest::Mapping::from_toml(&text, &shown).unwrap());
    ingest::Options { map, ..ingest::Options::default() }
}

#[test]
fn every_fixture_gives_the_report_beside_it() {
    for (path, device) in fixtures() {
        let label = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
        // Tests run where the package lies: a report is as long as its paths are.
        let profile = ingest::read(&[Input::Named(PathBuf::from(&label))], &reading(&path))
            .unwrap_or_else(|error| panic!("{label}: {error}"));
        let text = match Session::default().on(device).judge(&profile) {
            Ok(Judged { analysis, findings, .. }) => {
                let report = Report {
                    analysis: &analysis,
                    findings: &findings,
                    top: 10,
                    what_if: &[],
                    command: None,
                };
                written(&report, "text", &Style { full: true, ..Style::default() }).unwrap()
            }
            Err(SessionError::Analysis(error)) => {
                format!("error: {error}\nhelp: {}\n", error.help())
            }
            #[cfg(feature = "frames")]
            Err(error) => panic!("{label}: {error}"),
        };
        check(&path.with_extension("report.txt"), &text);
    }
}

#[test]
fn every_output_renders_the_sample_report() {
    let path = root().join("fixtures/demo/h100-training-step.csv");
    let text: &'static str = Box::leak(fs::read_to_string(path).unwrap().into_boxed_str());
    let profile = ingest::read_text("demo", text, &ingest::Options::default()).unwrap();
    let Judged { analysis, findings, .. } = Session::default().judge(&profile).unwrap();
    let report =
        Report { analysis: &analysis, findings: &findings, top: 10, what_if: &[], command: None };
    for output in formats_with(OUTPUTS) {
        let rendered = || written(&report, output.name, &Style::default()).unwrap();
        let text = rendered();
        assert_eq!(text, rendered(), "{}: not the same twice", output.name);
        let text = if output.name == "html" { without_assets(&text) } else { text };
        check(&root().join("tests/golden").join(format!("demo.{}", output.endings[0])), &text);
    }
}

/// A page without its style, script and picture, which are looked at elsewhere, and without hashes.
pub(crate) fn without_assets(page: &str) -> String {
    let mut text = page.to_owned();
    let parts = [
        ("<style>", "</style>"),
        ("<script>", "</script>"),
        // The catalog has tests of its own.
        (r#"<script id="bench-data" type="application/json">"#, "</script>"),
        ("<figure", "</figure>"),
        ("'sha256-", "'"),
    ];
    for (start, end) in parts {
        let mut from = 0;
        while let Some(at) = text[from..].find(start) {
            let body = from + at + start.len();
            let length = text[body..].find(end).unwrap();
            text.replace_range(body..body + length, "…");
            from = body;
        }
    }
    text
}

#[test]
fn the_json_report_follows_its_published_schema() {
    let schema = serde_json::from_str(&rooflint::report::schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (path, device) in fixtures() {
        let profile = ingest::read(&[Input::Named(path.clone())], &reading(&path)).unwrap();
        let Ok(judged) = Session::default().on(device).judge(&profile) else { continue };
        let Judged { analysis, findings, .. } = judged;
        let report = Report {
            analysis: &analysis,
            findings: &findings,
            top: 10,
            what_if: &[],
            command: None,
        };
        let text = written(&report, "json", &Style::default()).unwrap();
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", path.display());
        for key in ["schema", "inputs", "device", "totals", "kernels"] {
            assert!(document.get(key).is_some(), "{key}");
        }
        assert!(!text.contains("NaN") && !text.contains("Infinity"), "{}", path.display());
    }
}

#[test]
fn documents_made_from_the_code_are_fresh() {
    check(&root().join("docs/schema/report-3.schema.json"), &rooflint::report::schema());
    for rule in RULES {
        check(&root().join("docs/rules").join(format!("{}.md", rule.id)), &rule.page());
    }
    let mut formats = String::from(
        "# What can be read\n\nMade from the program's list of formats; see also [formats.md](formats.md).\n\n",
    );
    for format in FORMATS {
        formats.push_str(&format!(
            "## {}\n\n{}: {}.\n\n```sh\n{}\n```\n\n",
            format.name, format.profiler, format.summary, format.command
        ));
    }
    check(&root().join("docs/format-list.md"), &formats);
}
