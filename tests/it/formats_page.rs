//! The page about formats, and what is said of files in a folder that are of none.

use std::path::Path;

use super::program::run;

/// Each format that is read has a row that says what a verdict on it can say, and what more could be asked.
#[test]
fn every_format_says_what_its_verdict_can_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/formats.md")).unwrap();
    let (_, section) = page.split_once("## What a verdict can say\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows: Vec<Vec<&str>> = section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.trim_matches('|').split(" | ").map(str::trim).collect())
        .collect();
    let names: Vec<String> =
        rooflint::ingest::FORMATS.iter().map(|format| format!("`{}`", format.name)).collect();
    let mut documented: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    documented.sort_unstable();
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(documented, names);
    for row in &rows {
        assert!(row.len() == 4 && row.iter().all(|cell| !cell.is_empty()), "{row:?}");
        assert!(row[3].starts_with('`'), "{}: {} is not a command", row[0], row[3]);
    }
}

/// Settings and other JSON beside a profile are one line.
#[test]
fn files_of_one_kind_in_a_folder_are_noted_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    std::fs::copy(root.join("fixtures/proton/h100-two-scopes.hatchet"), path("a.hatchet")).unwrap();
    for number in 0..9 {
        std::fs::write(path(&format!("config{number}.json")), "{\"a\": 1}").unwrap();
    }
    let folder = folder.path().to_str().unwrap();
    for arguments in [&["inspect", folder][..], &[folder, "--full"]] {
        let run = run(arguments);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let lines: Vec<&str> = run.stdout.lines().filter(|line| line.contains("/config")).collect();
        let [line] = lines.as_slice() else { panic!("{lines:?}") };
        let end = "config0.json: this is JSON of an unknown kind; nor were 8 more files, for the same reason";
        assert!(line.ends_with(end), "{line}");
    }
}
