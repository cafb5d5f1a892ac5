//! `rooflint predict` as a user runs it: what it prints, in every format, and how it refuses.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::golden::check;

pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs the program in the root of the package, in an empty environment.
pub(crate) fn program(arguments: &[&str]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rooflint"));
    let command = command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).env_clear();
    let output = command.output().unwrap();
    Run {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn printed(arguments: &[&str]) -> String {
    let run = program(&[&["predict"], arguments].concat());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{arguments:?}");
    run.stdout
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(&[arguments, &["--format", "json"]].concat())).unwrap()
}

const GEMM: [&str; 5] = ["gemm", "m=4096", "n=4096", "k=4096", "dtype=bf16"];
const LAYER: [&str; 6] =
    ["linear", "batch=1..4Ki:x2", "in=1024", "out=4096", "--device", "V100 SXM2 32GB"];
const BLOCK: [&str; 5] = [
    "--model",
    "fixtures/predict/transformer-block.toml",
    "sequence=4096",
    "--device",
    "H100 SXM5 80GB",
];

#[test]
fn goldens_of_predictions() {
    let two = ["--device", "H100 SXM5 80GB,H200 SXM 141GB"];
    let one = ["--device", "H100 SXM5 80GB", "--format", "json"];
    let csv = ["--format", "csv"];
    let narrow = ["--width", "80", "--ascii"];
    for (name, arguments) in [
        ("gemm.txt", [&GEMM[..], &two].concat()),
        ("gemm.json", [&GEMM[..], &one].concat()),
        ("layer.txt", LAYER.to_vec()),
        ("layer.csv", [&LAYER[..], &csv].concat()),
        ("layer-narrow.txt", [&LAYER[..], &narrow].concat()),
        ("block.txt", BLOCK.to_vec()),
        ("block.csv", [&BLOCK[..], &csv].concat()),
        ("attention-page.txt", vec!["--list", "attention"]),
        ("list.txt", vec!["--list"]),
        ("list-narrow.txt", vec!["--list", "--width", "60"]),
    ] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/predict").join(name);
        check(&file, &printed(&arguments));
    }
}

#[test]
fn json_follows_the_published_schemas() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema");
    for (document, calls) in [
        (
            "prediction",
            vec![GEMM.to_vec(), LAYER[..4].to_vec(), vec!["all-reduce", "bytes=1M", "ranks=8"]],
        ),
        ("step-prediction", vec![BLOCK[..3].to_vec()]),
    ] {
        let schema = program(&["schema", document]).stdout;
        check(&folder.join(format!("{document}-2.schema.json")), &schema);
        let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
        for call in calls {
            let found = json(&[&call[..], &["--device", "H100 SXM5 80GB"]].concat());
            let errors: Vec<String> =
                validator.iter_errors(&found).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{call:?}: {errors:?}");
            assert_eq!(found["schema"], format!("rooflint/{document}/2"));
        }
    }
}

#[test]
fn files_are_written_by_their_endings() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (text, csv, json) = (path("one.txt"), path("one.csv"), path("one.json"));
    let outputs = ["-o", text.as_str(), "-o", csv.as_str(), "-o", json.as_str(), "-o", "-"];
    let printed = printed(&[&LAYER[..], &outputs].concat());
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    assert_eq!(printed, read(&text));
    assert_eq!(read(&csv), self::printed(&[&LAYER[..], &["--format", "csv"]].concat()));
    assert_eq!(read(&json), self::printed(&[&LAYER[..], &["--format", "json"]].concat()));
}

#[test]
fn json_carries_what_the_text_says() {
    let gemm = json(&[&GEMM[..], &["--device", "H100 SXM5 80GB"]].concat());
    assert_eq!(gemm["schema"], "rooflint/prediction/2");
    assert!(gemm["derivation"].as_str().unwrap().contains("FLOPs: 2MNK"));
    let row = &gemm["rows"][0];
    assert_eq!(
        (row["flop"].as_f64(), row["bytes"].as_f64()),
        (Some(2.0_f64.powi(37)), Some(100_663_296.0))
    );
    assert_eq!((&row["limiter"], &row["device"]), (&"math".into(), &"H100 SXM5 80GB".into()));
    assert_eq!(gemm["crossings"], Value::Array(Vec::new()));

    let layer = json(&LAYER);
    assert_eq!(layer["axes"][0]["key"], "batch");
    assert_eq!(layer["rows"].as_array().unwrap().len(), 13);
    let turn = &layer["crossings"][0]["turns"][0];
    assert_eq!((turn["before"].as_u64(), turn["after"].as_u64()), (Some(167), Some(168)));

    let block = json(&BLOCK);
    assert_eq!(block["schema"], "rooflint/step-prediction/2");
    assert_eq!(block["sizes"]["sequence"], 4096);
    let totals: f64 = block["steps"][0]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["total_s"].as_f64().unwrap())
        .sum();
    let expected = block["steps"][0]["totals"]["roofline_s"].as_f64().unwrap();
    assert!((totals / expected - 1.0).abs() < 1e-12);

    let list = json(&["--list", "gemm"]);
    assert_eq!(
        (&list["forms"][0]["name"], list["forms"].as_array().unwrap().len()),
        (&"gemm".into(), 1)
    );
}

#[test]
fn every_point_of_a_sweep_stands_in_the_csv() {
    let text = printed(&[
        "gemm",
        "m=1Ki",
        "n=1Ki",
        "k=64..1Ki:x4",
        "dtype=fp16,fp32",
        "--device",
        "L4,A10",
        "--format",
        "csv",
    ]);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head = reader.headers().unwrap().clone();
    assert_eq!(head.iter().take(4).collect::<Vec<_>>(), ["at_k", "at_dtype", "form", "arguments"]);
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 3 * 2 * 2);
    let column = |name: &str| head.iter().position(|key| key == name).unwrap();
    for row in rows {
        let number = |name: &str| row[column(name)].parse::<f64>().unwrap();
        assert_eq!(number("roofline_s"), number("t_mem_s").max(number("t_math_s")));
        assert!(number("flop") > 0.0 && row[column("device")].len() > 1);
    }
}

#[test]
fn where_nothing_crosses_the_side_is_told() {
    let text = printed(&["axpy", "n=1k..1G", "--device", "L4"]);
    assert!(
        text.contains("L4: does not cross; memory limits from n=1,000 to 1,000,000,000"),
        "{text}"
    );
    assert!(text.contains("below the ridge point of 101.0 FLOP/B"), "{text}");
    let integer = ["gemm", "m=16..1Ki", "n=1Ki", "k=1Ki", "dtype=int8", "--device", "L4"];
    assert!(
        printed(&integer).contains("below the ridge point of 808.3 OP/B"),
        "{}",
        printed(&integer)
    );
    let moved = printed(&["memset", "bytes=1k..1M", "--device", "L4"]);
    assert!(moved.contains("no operations, so memory limits everywhere"), "{moved}");
}

#[test]
fn text_fits_the_terminal_and_can_be_ascii() {
    for arguments in [
        [&GEMM[..], &["split_k=4", "--device", "A100 SXM4 80GB"]].concat(),
        vec!["attention", "h=8", "nq=512", "softmax=yes", "--device", "GeForce RTX 4090"],
        vec!["memcpy-host", "bytes=1M", "--device", "A100 SXM4 80GB"],
        LAYER.to_vec(),
    ] {
        let text = printed(&[&arguments[..], &["--width", "80", "--ascii"]].concat());
        assert!(text.is_ascii() && !text.contains('?'), "{text}");
        for line in text.lines() {
            assert!(line.len() <= 80, "{line}");
        }
    }
}

#[test]
fn the_format_is_an_argument_like_the_others() {
    let device = ["--device", "L4", "--format", "csv"];
    let one = printed(&[&["axpy", "n=1M", "dtype=fp16"], &device[..]].concat());
    assert_eq!(printed(&[&["axpy", "n=1M", "--dtype", "fp16"], &device[..]].concat()), one);
    let sweep = printed(&[&["axpy", "n=1M", "--dtype", "fp16,fp32"], &device[..]].concat());
    assert_eq!(sweep.lines().count(), 3);
}

#[test]
fn pipes_engines_and_launches_can_be_named() {
    let gemm = |options: &[&str]| {
        let call = ["gemm", "m=4096", "n=4096", "k=4096", "--device", "A100 SXM4 80GB"];
        json(&[&call[..], options].concat())["rows"][0].clone()
    };
    assert_eq!(gemm(&["--engine", "vector"])["pipes"][0]["pipe"], "fp16_vector");
    assert_eq!(gemm(&["--pipe", "tf32_matrix"])["pipes"][0]["pipe"], "tf32_matrix");
    assert_eq!(gemm(&["--launch", "32x256"])["limiter"], "latency");
}

/// Sizes of lists are numbers, as those of ranges are: 1k is 1000, 2Ki is 2048.
#[test]
fn sizes_of_a_list_are_numbers() {
    let table = printed(&["axpy", "n=1k,2Ki", "--device", "L4", "--format", "csv"]);
    let first = |line: &str| line.split(',').take(3).collect::<Vec<_>>().join(",");
    let rows: Vec<String> = table.lines().map(first).collect();
    assert_eq!(rows, ["at_n,form,arguments", "1000,axpy,n=1000", "2048,axpy,n=2048"]);
}

/// An option that changes nothing would leave a wrong answer to what was asked.
#[test]
fn options_without_an_effect_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.toml");
    let text = "name = \"step\"\ndtype = \"bf16\"\n[sizes]\ntokens = 8\n[[op]]\nform = \"relu\"\nargs = { n = \"tokens\" }\n";
    std::fs::write(&model, text).unwrap();
    let model = model.to_str().unwrap();
    for (arguments, message) in [
        (vec!["relu", "n=1M", "--engine", "matrix"], "--engine has no effect on relu"),
        (vec!["memcpy-host", "bytes=1M", "--pipe", "bf16_matrix"], "--pipe has no effect on"),
        (
            vec!["gemm", "m=1", "n=1", "k=1", "--engine", "vector", "--pipe", "bf16_matrix"],
            "cannot be used with '--pipe <PIPE>'",
        ),
        // The file has no fault.
        (vec!["--model", model, "tokens=8..16:x2"], "error: tokens=8..16:x2: "),
    ] {
        let run = program(&[&["predict"], &arguments[..], &["--device", "L4"]].concat());
        assert_eq!(run.code, 2, "{arguments:?}");
        assert!(run.stderr.contains(message), "{}", run.stderr);
    }
}

#[test]
fn what_is_wrong_is_told_with_what_to_write() {
    for (arguments, message, help) in [
        (vec!["gem", "m=1"], "unknown kernel \"gem\"; closest: \"gemm\"", "--list"),
        (vec!["--list", "attn"], "unknown kernel \"attn\"", "--list"),
        (
            vec!["gemm", "m=1", "n=1", "dtpe=fp16"],
            "no parameter \"dtpe\"; closest: \"dtype\"",
            "m, n, k",
        ),
        (vec!["gemm", "m=1"], "gemm needs \"n\", \"k\"", "for example: gemm m=4096"),
        (vec!["gemm", "m=1,2", "n=1"], "gemm needs \"k\"", "for example: gemm m=4096"),
        (vec!["gemm", "m=1", "n=0", "k=1"], "n=0: must be at least 1", ""),
        (vec!["axpy", "n=1"], "no device is named", "--device"),
        (vec!["axpy", "n=1", "--device", "H1000"], "closest", "rooflint devices"),
        (vec!["n=1"], "where the kernel's name belongs", "gemm m=4096"),
        (vec!["axpy", "dtype=fp16", "--dtype", "fp16", "n=1"], "both given", "leave one"),
        (vec!["relu", "n=1", "--launch", "12", "--device", "L4"], "launch=12", ""),
        (vec!["relu", "n=1", "--pipe", "fp99", "--device", "L4"], "fp16_matrix", ""),
        (
            vec!["gemm", "m=1", "n=1", "k=1", "dtype=fp8", "--device", "A100 SXM4 80GB"],
            "no matrix units for fp8",
            "--pipe",
        ),
        (
            vec!["--model", "no-such.toml", "--device", "L4"],
            "cannot read the model file",
            "--model",
        ),
        (
            vec!["--model", "fixtures/predict/cnn-stage.toml", "image=2", "--device", "L4"],
            "does not define the size \"image\"",
            "images",
        ),
        (
            vec!["pool", "n=8", "c=64", "h=56", "r=2", "kind=avg", "indices=yes", "--device", "L4"],
            "indices are the places of maxima",
            "",
        ),
        (vec!["--device", "L4"], "no kernel is named", "--list"),
        (
            vec!["all-reduce", "bytes=1G", "ranks=8", "--device", "L4"],
            "does not have nvlink_gbs for L4",
            "base = \"L4\", name = \"L4\" and nvlink_gbs",
        ),
        (vec!["--list", "-o", "list.svg"], "no format of predictions", "csv"),
    ] {
        let run = program(&[&["predict"], &arguments[..]].concat());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{arguments:?}");
        let (said, next) = run.stderr.split_once("help: ").unwrap_or((&run.stderr, ""));
        assert!(said.contains(message), "{arguments:?}: {said}");
        assert!(next.contains(help), "{arguments:?}: {next}");
    }
}

/// Where the boards of a device reach more than its published rates, these bound nothing.
#[test]
fn published_peaks_that_are_beaten_are_no_least_time() {
    for (device, words) in [
        ("GeForce RTX 5090", "656 µs at published peaks, "),
        ("H100 SXM5 80GB", "at least 139 µs, "),
    ] {
        let answer =
            printed(&["gemm", "m=4096", "n=4096", "k=4096", "dtype=fp16", "--device", device]);
        let time = answer.lines().find_map(|line| line.strip_prefix("Time")).unwrap();
        assert!(time.trim_start().starts_with(words), "{time}");
    }
}
