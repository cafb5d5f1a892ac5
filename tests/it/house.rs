//! The house stays in order: imports point one way, files say what they are for, doors list all files.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The stage of a source file: its first folder or file name below `src`.
fn stage(path: &Path) -> String {
    let inside = path.strip_prefix(root().join("src")).unwrap();
    let first = inside.components().next().unwrap().as_os_str().to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

/// The code of a file without what is only there for tests, wherever it stands: tests may look around.
pub(crate) fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let mut kept = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.trim_start() != "#[cfg(test)]" {
            kept.push_str(line);
            kept.push('\n');
            continue;
        }
        // The item that follows ends with a semicolon, or with a brace as far in as it began.
        let indent = &line[..line.len() - line.trim_start().len()];
        let end = format!("{indent}}}");
        let (mut in_attribute, mut has_begun) = (false, false);
        for line in lines.by_ref() {
            let attribute = line.trim_start().starts_with("#[");
            in_attribute |= attribute;
            if in_attribute {
                in_attribute = !line.ends_with(']');
                continue;
            }
            has_begun |= line.ends_with('{');
            if line == end || !has_begun && line.ends_with([';', ',']) {
                break;
            }
        }
    }
    kept
}

/// Files that are only there for tests: modules declared under `#[cfg(test)]`.
fn only_tests() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in sources(&root().join("src")) {
        let text = fs::read_to_string(&path).unwrap();
        let folder = match path.file_stem().unwrap().to_str().unwrap() {
            "mod" | "lib" | "main" => path.parent().unwrap().to_owned(),
            _ => path.with_extension(""),
        };
        for after in text.split("#[cfg(test)]\n").skip(1) {
            let declared = after.lines().next().unwrap_or_default().trim();
            let name = declared.rsplit("mod ").next().and_then(|name| name.strip_suffix(';'));
            if let Some(name) = name.filter(|_| declared.contains("mod ")) {
                found.push(folder.join(format!("{name}.rs")));
            }
        }
    }
    found
}

/// The sources of the program: every file that is not only there for tests.
pub(crate) fn program() -> Vec<PathBuf> {
    let only_tests = only_tests();
    let mut files = sources(&root().join("src"));
    files.retain(|path| !only_tests.contains(path));
    files
}

#[test]
fn what_is_only_for_tests_is_told_from_the_program() {
    let name = |path: &PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    let only: Vec<String> = only_tests().iter().map(name).collect();
    for known in ["sanity", "samples", "bench_table", "tests"] {
        assert!(only.iter().any(|one| one == known), "{known}: {only:?}");
    }
    // Tests in the middle of a file do not end the reading of it.
    let store = code(&root().join("src/history/store.rs"));
    assert!(!store.contains("mod tests"));
    let pipes = root().join("src/rules/engine/pipes.rs");
    assert!(code(&pipes).lines().count() > 200, "{}", code(&pipes));
}

/// Each stage and what it may name. Data flows down; neighbors at one step do not know each other.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("json", &[]),
    ("plain", &[]),
    ("unfinished", &[]),
    ("units", &[]),
    ("scalar", &[]),
    ("roofline", &["units", "scalar"]),
    ("model", &["plain", "units"]),
    ("law", &["scalar", "roofline", "model"]),
    ("table", &["json", "plain", "units", "model"]),
    ("catalog", &["json", "plain", "units", "roofline", "model"]),
    ("predict", &["plain", "units", "roofline", "model", "law", "catalog"]),
    ("taxonomy", &["plain", "units", "model"]),
    (
        "ingest",
        &[
            "json",
            "plain",
            "unfinished",
            "units",
            "roofline",
            "model",
            "table",
            "catalog",
            "predict",
        ],
    ),
    (
        "analysis",
        &[
            "plain", "units", "scalar", "roofline", "model", "law", "table", "catalog", "predict",
            "taxonomy",
        ],
    ),
    ("sql", &["scalar", "roofline", "model", "law", "table", "taxonomy", "ingest", "analysis"]),
    ("rules", &["plain", "units", "roofline", "model", "table", "catalog", "taxonomy", "analysis"]),
    ("compare", &["json", "plain", "units", "model", "table", "analysis", "rules"]),
    ("gate", &["plain", "units", "model", "taxonomy", "analysis", "rules", "compare"]),
    ("history", &["json", "plain", "units", "model", "table", "compare"]),
    (
        "config",
        &["json", "plain", "units", "model", "taxonomy", "analysis", "rules", "compare", "gate"],
    ),
    ("session", &["units", "model", "table", "catalog", "analysis", "rules", "config", "compare"]),
    (
        "fleet",
        &[
            "json",
            "plain",
            "unfinished",
            "units",
            "roofline",
            "model",
            "table",
            "catalog",
            "taxonomy",
            "ingest",
            "analysis",
            "compare",
            "session",
        ],
    ),
    (
        "report",
        &[
            "fleet", "json", "plain", "units", "roofline", "model", "table", "catalog", "predict",
            "taxonomy", "analysis", "rules", "compare", "gate", "history",
        ],
    ),
    (
        "cli",
        &[
            "json",
            "plain",
            "unfinished",
            "units",
            "roofline",
            "model",
            "table",
            "ingest",
            "catalog",
            "predict",
            "taxonomy",
            "analysis",
            "rules",
            "config",
            "session",
            "compare",
            "gate",
            "history",
            "fleet",
            "sql",
            "report",
        ],
    ),
];

#[test]
fn imports_point_one_way() {
    let mut wrong = Vec::new();
    for path in program() {
        let stage = stage(&path);
        if matches!(stage.as_str(), "lib" | "main") {
            continue;
        }
        let Some((_, allowed)) = MAY_NAME.iter().find(|(name, _)| *name == stage) else {
            wrong.push(format!("{}: stage {stage} is not in the table", path.display()));
            continue;
        };
        let text: String = code(&path)
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect::<Vec<_>>()
            .join("\n");
        for (at, _) in text.match_indices("crate::") {
            let named: String =
                text[at + 7..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            // The sample belongs to the crate, not to a stage.
            if named != stage && named != "SAMPLE" && !allowed.contains(&named.as_str()) {
                wrong.push(format!("{}: {stage} names {named}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_law_is_what_the_program_runs() {
    let is_law = |path: &Path| stage(path) == "roofline";
    let (law, rest): (Vec<_>, Vec<_>) = program().into_iter().partition(|path| is_law(path));
    let rest: String = rest.iter().map(|path| code(path)).collect();
    let text: String = law.iter().map(|path| code(path)).collect();
    let bodies = text.split("\npub fn ").skip(1).chain(text.split("\npub const fn ").skip(1));
    let functions: Vec<(&str, &str)> = bodies.filter_map(|after| after.split_once('(')).collect();
    assert!(functions.len() > 30, "{functions:?}");
    // What is a formula in units is run if the formula is.
    let formula = |body: &str| {
        let body = body.split("\n}").next()?.split_once("formula::")?.1;
        Some(format!("formula::{}(", body.split('(').next()?))
    };
    let is_called = |(name, body): &&(&str, &str)| {
        rest.contains(&format!("roofline::{name}("))
            || formula(body).is_some_and(|formula| rest.contains(&formula))
    };
    let unused: Vec<_> =
        functions.iter().filter(|one| !is_called(one)).map(|(name, _)| *name).collect();
    assert!(unused.is_empty(), "only tests call {unused:?}");
}

#[test]
fn only_two_modules_know_polars_and_only_one_folder_knows_clap() {
    for path in program() {
        let text = code(&path);
        let shown = path.display().to_string();
        if text.contains("polars::") || text.contains("polars_io::") {
            let is_known = shown.contains("table/frames/") || shown.ends_with("table/parts.rs");
            assert!(is_known, "{shown}");
        }
        if text.contains("clap::") {
            assert!(shown.contains("/cli/"), "{shown}");
        }
    }
}

#[test]
fn every_file_says_what_it_is_for_and_stays_readable() {
    for path in sources(&root().join("src")).into_iter().chain(sources(&root().join("tests"))) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("//! "),
            "{}: the first line says what the file is for",
            path.display()
        );
        let lines = text.lines().count();
        assert!(lines <= 600, "{}: {lines} lines", path.display());
    }
}

#[test]
fn every_rule_and_output_file_is_listed_behind_its_door() {
    for (folder, listed) in [
        (
            "rules",
            rooflint::rules::RULES.iter().map(|rule| rule.id.replace('-', "_")).collect::<Vec<_>>(),
        ),
        ("report", rooflint::report::OUTPUTS.iter().map(|output| output.name.to_owned()).collect()),
    ] {
        for path in sources(&root().join("src").join(folder)) {
            let place = if path.ends_with("mod.rs") { path.parent().unwrap() } else { &path };
            let name = place.file_stem().unwrap().to_string_lossy().into_owned();
            let text = fs::read_to_string(&path).unwrap();
            let is_entry =
                text.contains("const RULE: Rule") || text.contains("const OUTPUT: Output");
            // The page is listed where it is built.
            let is_entry = is_entry && (cfg!(feature = "page") || name != "html");
            assert!(!is_entry || listed.contains(&name), "{}: not listed", path.display());
        }
    }
}

#[test]
fn every_format_file_is_listed_behind_its_door() {
    let mut found = Vec::new();
    for path in sources(&root().join("src/ingest")) {
        let text = fs::read_to_string(&path).unwrap();
        let Some((_, entry)) = text.split_once("const FORMAT: Format = Format {\n    name: \"")
        else {
            continue;
        };
        found.push(entry.split('"').next().unwrap().to_owned());
    }
    // A preset is a mapping in its folder.
    for entry in fs::read_dir(root().join("src/ingest/presets")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            found.push(path.file_stem().unwrap().to_string_lossy().into_owned());
        }
    }
    let mut listed: Vec<&str> = rooflint::ingest::FORMATS.iter().map(|one| one.name).collect();
    found.sort_unstable();
    listed.sort_unstable();
    assert_eq!(found, listed);
    for format in rooflint::ingest::FORMATS {
        assert!(!format.summary.is_empty() && !format.command.is_empty());
    }
}

#[test]
fn no_machine_path_is_in_the_sources() {
    for path in sources(&root().join("src")).into_iter().chain(sources(&root().join("tests"))) {
        let text = fs::read_to_string(&path).unwrap();
        for start in ["home", "root", "work"] {
            let needle = format!("\"/{start}/");
            assert!(!text.contains(&needle), "{}: {needle}", path.display());
        }
    }
}
