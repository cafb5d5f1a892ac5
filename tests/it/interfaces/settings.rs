//! Configuration files, environment variables and options: their order, and what shows and checks them.

use std::fs;

use serde_json::Value;

use super::{root, run, run_in};

const DEMO: &str = "demo";

/// The settings of a folder by their keys.
fn settings(folder: &std::path::Path, set: &[(&str, &str)], more: &[&str]) -> Value {
    let arguments = [&["config", "show", "--format", "json"], more].concat();
    let run = run_in(folder, set, &arguments);
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

fn setting<'a>(document: &'a Value, key: &str) -> &'a Value {
    let all = document["settings"].as_array().unwrap();
    all.iter().find(|one| one["key"] == key).unwrap_or_else(|| panic!("no {key}"))
}

/// Who typed nothing wrong looks for what is wrong in vain.
#[test]
fn a_variable_with_a_wrong_value_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for (name, value, message) in [
        ("ROOFLINT_DEVICE", "XX", "unknown device \"XX\""),
        ("ROOFLINT_DEVICES", "none.toml", "cannot read the device file none.toml"),
        ("ROOFLINT_CONFIG", "none.toml", "none.toml: cannot read the configuration"),
        ("ROOFLINT_SELECT", "tail-effect,nosuchrule", "unknown rule \"nosuchrule\""),
        ("ROOFLINT_IGNORE", "nosuchrule", "unknown rule \"nosuchrule\""),
    ] {
        let run = run_in(folder.path(), &[(name, value)], &[DEMO]);
        let says = format!("the environment variable {name} sets it");
        assert_eq!(run.code, 2, "{name}");
        assert!(run.stderr.contains(message) && run.stderr.contains(&says), "{}", run.stderr);
    }
    // Another fault is not that of the variable.
    let run = run_in(folder.path(), &[("ROOFLINT_DEVICE", "L4")], &["none.csv"]);
    assert!(!run.stderr.contains("ROOFLINT_DEVICE"), "{}", run.stderr);
}

/// SQL flags the kernels that `analyze` flags: by options, variables and the configuration.
#[test]
fn sql_has_the_limits_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let sql = |set: &[(&str, &str)], more: &[&str]| {
        let run = run_in(here, set, &[&["sql", "--engine", "duckdb"], more].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stdout
    };
    let usual = sql(&[], &[]);
    assert_eq!(sql(&[("ROOFLINT_CEILINGS", "auto")], &[]), usual);
    let asked = sql(&[], &["--threshold", "3", "--min-savings", "70us", "--min-share", "7%"]);
    assert_ne!(asked, usual);
    // 70 µs, and 7% of the run.
    assert!(asked.contains("greatest(run_measured_s * 7e-2, 7e-5)"));
    let limits = "[analysis]\nthreshold = 3\nmin-savings = \"70us\"\nmin-share = 0.07\n";
    fs::write(here.join("rooflint.toml"), limits).unwrap();
    assert_eq!(sql(&[], &[]), asked);
    assert_eq!(sql(&[], &["--no-config"]), usual);
    fs::remove_file(here.join("rooflint.toml")).unwrap();
    let set = [
        ("ROOFLINT_THRESHOLD", "3"),
        ("ROOFLINT_MIN_SAVINGS", "70us"),
        ("ROOFLINT_MIN_SHARE", "7%"),
    ];
    assert_eq!(sql(&set, &[]), asked);
}

#[test]
fn the_command_line_is_stronger_than_the_environment_and_that_than_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let threshold = |document: &Value| {
        let one = setting(document, "analysis.threshold");
        (one["value"].as_f64().unwrap(), one["origin"]["kind"].as_str().unwrap().to_owned())
    };
    assert_eq!(threshold(&settings(here, &[], &[])), (1.5, "default".to_owned()));
    assert_eq!(threshold(&settings(here, &[], &["--ceilings", "spec"])).0, 2.0);
    fs::write(here.join("rooflint.toml"), "\n[analysis]\nthreshold = 1.8\nmin-win = \"10us\"\n")
        .unwrap();
    let document = settings(here, &[], &[]);
    assert_eq!(threshold(&document), (1.8, "file".to_owned()));
    assert_eq!(setting(&document, "analysis.threshold")["origin"]["line"], 3);
    assert_eq!(setting(&document, "analysis.min-savings")["value"], "10us");
    let set = [("ROOFLINT_THRESHOLD", "1.9")];
    let document = settings(here, &set, &[]);
    assert_eq!(threshold(&document), (1.9, "environment".to_owned()));
    let origin = &setting(&document, "analysis.threshold")["origin"];
    assert_eq!(origin["variable"], "ROOFLINT_THRESHOLD");
    let document = settings(here, &set, &["--threshold", "2.5"]);
    assert_eq!(threshold(&document), (2.5, "command-line".to_owned()));
    // An empty variable is not set; the report follows what is shown.
    assert_eq!(threshold(&settings(here, &[("ROOFLINT_THRESHOLD", "")], &[])).0, 1.8);
    let json = |set: &[(&str, &str)], more: &[&str]| -> f64 {
        let run = run_in(here, set, &[&[DEMO, "--format", "json"], more].concat());
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        document["settings"]["threshold"].as_f64().unwrap()
    };
    assert_eq!(json(&[], &[]), 1.8);
    assert_eq!(json(&set, &[]), 1.9);
    assert_eq!(json(&set, &["--threshold", "2.5"]), 2.5);
    assert_eq!(json(&[], &["--no-config"]), 1.5);
}

#[test]
fn every_variable_sets_its_option_and_what_excludes_it_wins() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    fs::write(here.join("own.toml"), "[rules]\nignore = [\"small-grid\"]\n").unwrap();
    let set = [
        ("ROOFLINT_DEVICE", "L4"),
        ("ROOFLINT_CEILINGS", "spec"),
        ("ROOFLINT_MIN_SHARE", "2%"),
        ("ROOFLINT_IGNORE", "tail-effect"),
        ("ROOFLINT_CONFIG", "own.toml"),
    ];
    let document = settings(here, &set, &[]);
    for (key, value) in [("device", "L4"), ("ceilings", "spec")] {
        assert_eq!(setting(&document, key)["value"], value);
    }
    assert_eq!(setting(&document, "analysis.min-share")["value"], 0.02);
    let ignored = &setting(&document, "rules.ignore")["value"];
    assert_eq!(*ignored, serde_json::json!(["small-grid", "tail-effect"]));
    // What cannot be combined with an option is not added to it.
    assert!(settings(here, &set, &["--no-config"])["file"].is_null());
    assert_eq!(run_in(here, &set, &["predict", "--list"]).code, 0);
    assert!(run_in(here, &set, &["predict", "axpy", "n=1M"]).stdout.contains("L4"));
    // `--device` of the list of saved runs is a filter, and no GPU to judge by.
    let save = ["baseline", "save", "--no-config", &demo()];
    assert_eq!(run_in(here, &[], &save).code, 0);
    assert!(run_in(here, &set, &["baseline", "list"]).stdout.contains("H100"));
    // A wrong value blames its variable.
    let wrong = run_in(here, &[("ROOFLINT_THRESHOLD", "0.5")], &[DEMO]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("at least 1"), "{}", wrong.stderr);
    assert!(wrong.stderr.contains("ROOFLINT_THRESHOLD"), "{}", wrong.stderr);
    assert_eq!(run_in(here, &[("ROOFLINT_THRESHOLD", "0.5")], &["formats"]).code, 0);
}

fn demo() -> String {
    root().join("fixtures/demo/h100-training-step.csv").to_string_lossy().into_owned()
}

#[test]
fn the_first_file_of_the_nearest_folder_is_used_and_the_others_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("sub/deeper");
    fs::create_dir_all(&inner).unwrap();
    let put = |name: &str, threshold: f64| {
        let table = if name == "pyproject.toml" { "tool.rooflint.analysis" } else { "analysis" };
        let text = format!("[{table}]\nthreshold = {threshold}\n");
        fs::write(folder.path().join(name), text).unwrap();
    };
    let used = || {
        let run = run_in(&inner, &[], &["config", "show", "--format", "json"]);
        let document: Value = serde_json::from_str(&run.stdout).unwrap();
        (setting(&document, "analysis.threshold")["value"].as_f64().unwrap(), run.stderr)
    };
    put("pyproject.toml", 3.0);
    assert_eq!(used(), (3.0, String::new()));
    put(".rooflint.toml", 4.0);
    let (value, note) = used();
    assert_eq!(value, 4.0);
    assert!(note.starts_with("note: ") && note.contains("pyproject.toml is ignored"), "{note}");
    put("rooflint.toml", 5.0);
    assert_eq!(used().0, 5.0);
    // A nearer folder comes first, and a project without our table is none of ours.
    fs::write(folder.path().join("sub/pyproject.toml"), "[project]\nname = \"x\"\n").unwrap();
    assert_eq!(used().0, 5.0);
    fs::write(folder.path().join("sub/.rooflint.toml"), "[analysis]\nthreshold = 6\n").unwrap();
    assert_eq!(used(), (6.0, String::new()));
    let file = |more: &[&str]| {
        let shown = run_in(&inner, &[], &[&["config", "show"], more].concat()).stdout;
        shown.lines().find_map(|line| Some(line.strip_prefix("File")?.trim().to_owned())).unwrap()
    };
    assert!(file(&[]).ends_with(".rooflint.toml"));
    assert_eq!(file(&["--no-config"]), "none: --no-config");
    // Commands say so, too, and programs read it.
    let run = run_in(folder.path(), &[], &[DEMO]);
    assert!(run.stdout.starts_with("GPU time") && run.stderr.starts_with("note: "));
    let run = run_in(folder.path(), &[], &[DEMO, "--error-format", "json"]);
    let note: Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!((&note["level"], &note["code"]), (&"note".into(), &"configuration".into()));
}

#[test]
fn files_are_checked_by_what_they_are() {
    let check = |files: &[&str]| run(&[&["config", "check"], files].concat());
    let valid = check(&[
        "fixtures/mapped/h100-benchmark.toml",
        "devices/nvidia-a10.toml",
        "fixtures/predict/transformer-block.toml",
        "src/taxonomy/kernel-names.toml",
    ]);
    assert_eq!((valid.code, valid.stderr.as_str()), (0, ""));
    let kinds: Vec<&str> =
        valid.stdout.lines().map(|line| line.rsplit_once(": valid ").unwrap().1).collect();
    assert_eq!(kinds, ["mapping", "device file", "model file", "file of kernel names"]);
    let folder = tempfile::tempdir().unwrap();
    for (name, text, place) in [
        ("rooflint.toml", "[rules]\nignore = [\"tail-efect\"]\n", "rooflint.toml:2:11: "),
        ("pyproject.toml", "[tool.rooflint.gate]\nnew = \"of\"\n", "pyproject.toml:2:7: "),
        (
            "map.toml",
            "[columns]\nkernel = \"a\"\ntime = { column = \"t\", unit = \"h\" }\n",
            "map.toml:3:",
        ),
        ("gpu.toml", "name = \"A\"\nsms = -1\n", "gpu.toml:2:"),
        (
            "slow.toml",
            "name = \"A\"\nmemory.bandwidth_gbs = 3.35\npeaks_tflops.bf16_matrix = 989\n",
            "slow.toml:2:24: memory.bandwidth_gbs = 3.35 is not possible",
        ),
        (
            "gpus.toml",
            "[[devices]]\nname = \"A\"\n",
            "gpus.toml:1:3: unknown key \"devices\"\nhelp: did you mean [[device]]?",
        ),
        ("names.toml", "[[class]]\nid = \"a\"\nkind = \"gem\"\npattern = \"a\"\n", "names.toml:3:"),
        ("step.toml", "[[op]]\nform = \"gem\"\n", "step.toml:2:"),
        ("broken.toml", "a = \n", "broken.toml:1:"),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
        let one = run_in(folder.path(), &[], &["config", "check", name]);
        assert_eq!((one.code, one.stdout.as_str()), (2, ""), "{name}");
        assert!(one.stderr.starts_with(&format!("error: {place}")), "{name}: {}", one.stderr);
        let one = run_in(folder.path(), &[], &["config", "check", "--error-format=json", name]);
        let problem: Value = serde_json::from_str(&one.stderr).unwrap();
        assert!(problem["file"] == name && problem["line"].is_u64(), "{problem}");
        assert!(problem["column"].is_u64() && problem["exit_code"] == 2, "{problem}");
    }
    // All are checked, whatever is wrong with the first; none named, the configuration here.
    let both = run_in(folder.path(), &[], &["config", "check", "gpu.toml", "map.toml"]);
    assert_eq!(both.stderr.matches("error: ").count(), 2);
    assert!(run_in(folder.path(), &[], &["config", "check"]).stderr.contains("tail-efect"));
}
