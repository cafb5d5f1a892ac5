//! What programs read: errors as JSON, listings as JSON, and schemas that fit all of it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{root, run, run_in};
use crate::golden::check;

/// The name of each schema and the file in which it is published.
const SCHEMAS: [(&str, &str); 22] = [
    ("report", "report-3"),
    ("inspection", "inspection-1"),
    ("calibration", "calibration-1"),
    ("prediction", "prediction-2"),
    ("step-prediction", "step-prediction-2"),
    ("gate", "gate-2"),
    ("run", "run-2"),
    ("trend", "trend-1"),
    ("fleet", "fleet-1"),
    ("partial", "partial-1"),
    ("partitions", "partitions-1"),
    ("settings", "settings-1"),
    ("known-devices", "known-devices-1"),
    ("rules", "rules-1"),
    ("formats", "formats-1"),
    ("predictable-kernels", "predictable-kernels-1"),
    ("baselines-list", "baselines-list-1"),
    ("schemas", "schemas-1"),
    ("error", "error-1"),
    ("config", "config"),
    ("mapping", "mapping"),
    ("devices", "devices"),
];

fn schema(name: &str) -> Value {
    serde_json::from_str(&run(&["schema", name]).stdout).unwrap()
}

/// What is wrong with a document by the schema of this name.
fn errors(name: &str, document: &Value) -> Vec<String> {
    let validator = jsonschema::validator_for(&schema(name)).unwrap();
    validator.iter_errors(document).map(|error| error.to_string()).collect()
}

fn toml_as_json(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap();
    serde_json::to_value(toml::from_str::<toml::Value>(&text).unwrap()).unwrap()
}

fn toml_files(folder: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|ending| ending == "toml")).collect();
    files.sort();
    files
}

#[test]
fn every_schema_is_published_and_ready_for_editors() {
    let listed = run(&["schema", "--list", "--format", "json"]).stdout;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let names: Vec<&str> = listed["schemas"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| line["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, SCHEMAS.map(|(name, _)| name));
    for (name, file) in SCHEMAS {
        let text = run(&["schema", name]).stdout;
        check(&root().join(format!("docs/schema/{file}.schema.json")), &text);
        let schema: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#", "{name}");
        let id = schema["$id"].as_str().unwrap();
        assert!(id.ends_with(&format!("/docs/schema/{file}.schema.json")), "{id}");
        for key in ["title", "description"] {
            assert!(schema[key].as_str().is_some_and(|text| text.len() > 10), "{name}: {key}");
        }
        jsonschema::meta::validate(&schema).unwrap();
    }
}

/// Keys of objects without a description, as paths.
fn undescribed(at: &Value, path: &str, found: &mut Vec<String>) {
    match at {
        Value::Object(keys) => {
            if let Some(Value::Object(properties)) = keys.get("properties") {
                for (key, value) in properties {
                    // A word that is always the same says what the object is.
                    if value.get("description").is_none() && value.get("const").is_none() {
                        found.push(format!("{path}/{key}"));
                    }
                }
            }
            for (key, value) in keys {
                undescribed(value, &format!("{path}/{key}"), found);
            }
        }
        Value::Array(all) => all.iter().for_each(|one| undescribed(one, path, found)),
        _ => {}
    }
}

#[test]
fn every_key_of_every_schema_has_a_description() {
    for (name, _) in SCHEMAS {
        let mut found = Vec::new();
        undescribed(&schema(name), "", &mut found);
        assert_eq!(found, Vec::<String>::new(), "{name}");
    }
}

#[test]
fn device_files_and_mappings_fit_their_schemas_and_wrong_ones_do_not() {
    let devices = toml_files("devices");
    assert!(devices.len() > 100);
    let validator = jsonschema::validator_for(&schema("devices")).unwrap();
    for path in devices {
        let document = toml_as_json(&path);
        let errors: Vec<String> =
            validator.iter_errors(&document).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{}", path.display());
    }
    for path in [toml_files("fixtures/mapped"), toml_files("src/ingest/presets")].concat() {
        assert_eq!(
            errors("mapping", &toml_as_json(&path)),
            Vec::<String>::new(),
            "{}",
            path.display()
        );
    }
    let wrong = |name: &str, text: &str| {
        let document = serde_json::to_value(toml::from_str::<toml::Value>(text).unwrap()).unwrap();
        !errors(name, &document).is_empty()
    };
    for text in [
        "sms = 3\n",
        "name = \"a\"\nsmss = 3\n",
        "name = \"a\"\n[memory]\nbandwidth_gbs = 0\n",
        "name = \"a\"\n[peaks_tflops]\nfp33_vector = 1\n",
        "[[device]]\nalias = \"a\"\n",
    ] {
        assert!(wrong("devices", text), "{text}");
    }
    for text in [
        "[columns]\nkernel = \"a\"\n",
        "[columns]\nkernel = \"a\"\ntime = { column = \"t\" }\n",
        "[columns]\nkernel = \"a\"\ntime = { column = \"t\", unit = \"s\" }\nflop = \"x\"\n",
    ] {
        assert!(wrong("mapping", text), "{text}");
    }
    assert!(!wrong("devices", "[[device]]\nname = \"a\"\nsms = { value = 3, source = \"x\" }\n"));
}

#[test]
fn saved_runs_trends_settings_and_lists_fit_their_schemas() {
    let folder = tempfile::tempdir().unwrap();
    let demo = root().join("fixtures/demo/h100-training-step.csv");
    let demo = demo.to_string_lossy();
    let json = |arguments: &[&str]| -> Value {
        let run = run_in(folder.path(), &[], arguments);
        assert_eq!(run.code, 0, "{}", run.stderr);
        serde_json::from_str(&run.stdout).unwrap()
    };
    assert_eq!(run_in(folder.path(), &[], &["baseline", "save", &demo]).code, 0);
    let again = fs::read_to_string(demo.as_ref()).unwrap().replace("812416", "815416");
    fs::write(folder.path().join("again.csv"), again).unwrap();
    for (name, arguments) in [
        ("run", vec!["baseline", "show", "latest", "--format", "json"]),
        ("trend", vec!["trend", "--format", "json"]),
        ("settings", vec!["config", "show", "--format", "json"]),
        ("inspection", vec!["inspect", &demo, "--format", "json"]),
        ("calibration", vec!["calibrate", &demo, "again.csv", "--format", "json"]),
        ("baselines-list", vec!["baseline", "list", "--format", "json"]),
        ("known-devices", vec!["devices", "--format", "json"]),
        ("known-devices", vec!["devices", "L4", "--format", "json"]),
        ("rules", vec!["rules", "--format", "json"]),
        ("formats", vec!["formats", "--format", "json"]),
        ("predictable-kernels", vec!["predict", "--list", "--format", "json"]),
        ("predictable-kernels", vec!["predict", "--list", "gemm", "axpy", "--format", "json"]),
        ("schemas", vec!["schema", "--list", "--format", "json"]),
    ] {
        let document = json(&arguments);
        assert_eq!(errors(name, &document), Vec::<String>::new(), "{name}");
        // The schema is that of this document: a key less does not fit.
        let mut less = document.clone();
        less.as_object_mut().unwrap().remove("schema").unwrap();
        assert!(!errors(name, &less).is_empty(), "{name}");
    }
}

#[test]
fn documents_of_many_ranks_fit_their_schemas() {
    let folder = tempfile::tempdir().unwrap();
    let demo = fs::read(root().join("fixtures/demo/h100-training-step.csv")).unwrap();
    let run = |arguments: &[&str]| {
        let run = run_in(folder.path(), &[], arguments);
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stdout
    };
    for name in ["rank0_tp0", "rank1_tp1"] {
        fs::write(folder.path().join(format!("{name}.csv")), &demo).unwrap();
    }
    let partial = |name: &str| {
        run(&["summarize", &format!("{name}.csv"), "-o", &format!("{name}.partial.json")])
    };
    partial("rank0_tp0");
    partial("rank1_tp1");
    run(&["convert", "rank0_tp0.csv", "-o", "launches/"]);
    let file = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    for (name, text, key) in [
        ("partial", file("rank0_tp0.partial.json"), "rows"),
        ("partial", run(&["merge", "."]), "kernels"),
        ("partitions", file("launches/_rooflint.json"), "parts"),
        ("fleet", run(&["fleet", ".", "--axes", "data=2", "--format", "json"]), "totals"),
    ] {
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(errors(name, &document), Vec::<String>::new(), "{name}");
        let mut less = document.clone();
        less.as_object_mut().unwrap().remove(key).unwrap();
        assert!(!errors(name, &less).is_empty(), "{name}");
    }
}

#[test]
fn errors_are_one_object_per_line_and_name_file_line_and_next_step() {
    let validator = jsonschema::validator_for(&schema("error")).unwrap();
    for (arguments, code, exit, says) in [
        (vec!["demo", "--treshold", "3"], "usage", 2, "--threshold"),
        (vec!["demo", "--threshold", "0.5"], "usage", 2, "at least 1"),
        (vec!["inspect"], "usage", 2, "required"),
        (vec!["frobnicate-it"], "input", 3, "frobnicate-it"),
        (vec!["json", "run.csv"], "usage", 2, "--format json"),
        (vec!["demo", "--device", "H1000"], "device", 2, "rooflint devices"),
        (vec!["demo", "--devices", "no-such.toml"], "device", 2, "no-such.toml"),
        (vec!["demo", "--config", "no-such.toml"], "configuration", 2, "no-such.toml"),
        (vec!["no-such.csv"], "input", 3, "no such file"),
        (vec!["predict", "gemmm", "m=1", "--device", "L4"], "prediction", 2, "gemm"),
        (
            vec!["gate", "fixtures/demo/h100-training-step.csv", "--baseline", "none"],
            "baseline",
            3,
            "none",
        ),
        (vec!["demo", "-o", "no/such/folder/a.md"], "output", 2, "no/such/folder/a.md"),
    ] {
        let run = run(&[&arguments[..], &["--error-format", "json"]].concat());
        assert_eq!((run.code, run.stdout.as_str()), (exit, ""), "{arguments:?}");
        let problem: Value = serde_json::from_str(&run.stderr)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {}", run.stderr));
        let errors: Vec<String> =
            validator.iter_errors(&problem).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{arguments:?}");
        assert_eq!(
            (problem["code"].as_str(), problem["level"].as_str()),
            (Some(code), Some("error"))
        );
        assert_eq!(problem["exit_code"], exit, "{arguments:?}");
        assert!(run.stderr.contains(says) && run.stderr.lines().count() == 1, "{}", run.stderr);
        assert!(!run.stderr.contains("\\u001b"), "{}", run.stderr);
    }
    // By the environment, too; help and reports are as ever.
    let variable = [("ROOFLINT_ERROR_FORMAT", "json")];
    let missing: Value =
        serde_json::from_str(&run_in(root(), &variable, &["no-such.csv"]).stderr).unwrap();
    assert_eq!(missing["file"], "no-such.csv");
    assert!(run_in(root(), &variable, &["no-such-command-x", "--frob"]).stderr.starts_with('{'));
    assert!(run_in(root(), &variable, &["--help"]).stdout.contains("Usage: rooflint"));
    // The place of a record is that of the text.
    let run = run(&[
        "--error-format=json",
        "fixtures/bad/unknown-unit.csv",
        "--device",
        "H200",
        "--strict",
    ]);
    let problem: Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!(problem["file"], "fixtures/bad/unknown-unit.csv");
    assert!(problem["line"].is_u64() && problem["field"].is_string(), "{problem}");
}

#[test]
fn every_listing_is_also_json() {
    let json = |arguments: &[&str]| -> Value {
        serde_json::from_str(&run(&[arguments, &["--format", "json"]].concat()).stdout).unwrap()
    };
    let rules = json(&["rules"]);
    assert_eq!(rules["schema"], "rooflint/rules/1");
    let ids: Vec<&str> = rules["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, rooflint::rules::RULES.iter().map(|rule| rule.id).collect::<Vec<_>>());
    let formats = json(&["formats"]);
    assert_eq!(formats["schema"], "rooflint/formats/1");
    let known = rooflint::ingest::FORMATS.len() + 1;
    assert_eq!(formats["formats"].as_array().unwrap().len(), known);
    let devices = json(&["devices"]);
    assert_eq!(devices["schema"], "rooflint/known-devices/1");
    assert!(devices["devices"].as_array().unwrap().len() > 100);
    let one = json(&["devices", "L4"]);
    assert_eq!((&one["schema"], &one["devices"][0]["name"]), (&devices["schema"], &"L4".into()));
    assert!(json(&["predict", "--list"])["schema"].is_string());
}
