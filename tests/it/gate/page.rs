//! The page of a comparison: what moved in the run, by launches of other times and by other numbers of launches.

use std::process::Command;

use serde_json::Value;

/// The part of a page between two titles.
fn between<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let rest = page.split_once(from).unwrap().1;
    rest.split_once(to).map_or(rest, |(part, _)| part)
}

/// Compared the other way round, so that kernels are launched more often: 5 launches of a product became 6 of the same
/// time each.
#[test]
fn kernels_that_run_more_often_are_among_the_increases() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (page, json) = (path("gate.html"), path("gate.json"));
    let [now, before] =
        ["before", "after"].map(|side| format!("fixtures/pytorch_trace/h100-step-{side}.json.gz"));
    let arguments = ["gate", &now, "--baseline", &before, "--no-config", "-o", &page, "-o", &json];
    let mut command = Command::new(env!("CARGO_BIN_EXE_rooflint"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).env_clear();
    let output = command.output().unwrap();
    let [page, json] = [page, json].map(|file| std::fs::read_to_string(file).unwrap());
    let document: Value = serde_json::from_str(&json).unwrap();
    let checks = document["checks"].as_array().unwrap();
    let regressions: Vec<&Value> = checks
        .iter()
        .filter(|check| check["verdict"] == "regression" && check["subject"]["kind"] == "kernel")
        .collect();
    assert!(regressions.iter().any(|check| check["rule"] == "kernel-total"), "{output:?}");
    let (more, less) = (
        between(&page, "<h2>Largest increases</h2>", "</section>"),
        between(&page, "<h2>Largest decreases</h2>", "</section>"),
    );
    let row = more.lines().find(|line| line.contains("429 µs → 514 µs")).unwrap();
    for part in ["launches 5 → 6", "+84.9 µs in the run", "regression"] {
        assert!(row.contains(part), "{part}: {row}");
    }
    // Rows are in the list that their change in the run says.
    assert!(!more.contains(", -") && !less.contains(", +"), "{more}{less}");
    // As many kernels are slower as have a check that says so.
    let mut names: Vec<String> =
        regressions.iter().map(|check| check["subject"].to_string()).collect();
    names.sort();
    names.dedup();
    let slower = between(&page, "<dt>Slower</dt>", "</div>");
    assert!(slower.contains(&format!(">{}<", names.len())), "{}: {slower}", names.len());
}
