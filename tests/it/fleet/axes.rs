//! Positions on axes of parallelism: by the names of files, by sizes, by a file; through parts and partials.

use std::fs;
use std::path::{Path, PathBuf};

use rooflint::fleet::Manifest;
use serde_json::Value;

use super::{program, rank};

fn run(arguments: &[&str]) -> String {
    let done = program::run(arguments);
    assert_eq!(done.code, 0, "{arguments:?}: {}", done.stderr);
    done.stdout
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Exports named as these: the time of each by its number.
fn exports(folder: &Path, names: &[&str], factor: impl Fn(usize) -> f64) -> Vec<PathBuf> {
    let export = |(at, name): (usize, &&str)| {
        let from = rank(folder, 1000, factor(at) * (1.0 + at as f64 * 1e-5));
        let to = folder.join(name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::rename(from, &to).unwrap();
        to
    };
    names.iter().enumerate().map(export).collect()
}

/// Axis, size, slowest position and ratio of each imbalance.
fn imbalance(found: &Value) -> Vec<(String, u64, u64, f64)> {
    let one = |one: &Value| {
        let axis = one["axis"].as_str().unwrap().to_owned();
        let (size, slowest) = (one["size"].as_u64().unwrap(), one["slowest"].as_u64().unwrap());
        (axis, size, slowest, one["ratio"].as_f64().unwrap())
    };
    found["imbalance"].as_array().unwrap().iter().map(one).collect()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&run(&[arguments, &["--format", "json"]].concat())).unwrap()
}

#[test]
fn names_of_files_place_the_ranks_through_parts_and_partials() {
    let folder = tempfile::tempdir().unwrap();
    // The second pipeline stage takes a tenth longer.
    let names = ["tp0_pp0.csv", "tp0_pp1.csv", "tp1_pp0.csv", "tp1_pp1.csv"];
    let files = exports(folder.path(), &names, |at| if at % 2 == 1 { 1.1 } else { 1.0 });
    let files: Vec<String> = files.iter().map(|file| text(file)).collect();
    let launches = text(&folder.path().join("launches")) + "/";
    let mut arguments: Vec<&str> = vec!["convert"];
    arguments.extend(files.iter().map(String::as_str));
    let said = run(&[&arguments[..], &["-o", &launches]].concat());
    assert!(said.contains("numbered by their positions in file names: tensor, pipeline"), "{said}");
    let manifest = Manifest::read(Path::new(&launches)).unwrap().unwrap();
    let place = |at: usize| {
        let part = &manifest.parts[at];
        (part.rank, part.positions["tensor"], part.positions["pipeline"])
    };
    assert_eq!([0, 1, 2, 3].map(place), [(0, 0, 0), (1, 0, 1), (2, 1, 0), (3, 1, 1)]);
    for (number, file) in files.iter().enumerate() {
        let rank = number.to_string();
        let out = text(&folder.path().join(format!("{number}.partial.json")));
        run(&["summarize", file, "--rank", &rank, "-o", &out]);
    }
    let merged = text(&folder.path().join("all.json"));
    run(&["merge", &text(folder.path()), "-o", &merged]);
    let found = json(&["fleet", &launches]);
    assert_eq!(json(&["fleet", &merged]), found);
    assert_eq!(found["positions_from"], "names");
    let found = imbalance(&found);
    let (pipeline, tensor) = (&found[0], &found[1]);
    assert_eq!(
        (&*tensor.0, tensor.1, &*pipeline.0, pipeline.1, pipeline.2),
        ("tensor", 2, "pipeline", 2, 1)
    );
    assert!((pipeline.3 - 1.1 / 1.05).abs() < 1e-4 && (tensor.3 - 1.0).abs() < 1e-4, "{found:?}");
    let said = run(&["fleet", &launches]);
    assert!(said.contains("Imbalance by the positions in file names"), "{said}");
    // What is given comes first.
    let found = json(&["fleet", &launches, "--axes", "data=4"]);
    assert_eq!((&found["positions_from"], imbalance(&found)[0].1), (&"axes".into(), 4));
}

#[test]
fn a_rank_of_which_the_name_gives_no_position_leaves_the_axis_out() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["rank0_tp0.csv", "rank1_tp1.csv", "rank2.csv"];
    let files = exports(folder.path(), &names, |_| 1.0);
    let launches = text(&folder.path().join("launches")) + "/";
    run(&["convert", &text(&files[0]), &text(&files[1]), &text(&files[2]), "-o", &launches]);
    let found = json(&["fleet", &launches]);
    assert!(imbalance(&found).is_empty());
    let notes = found["notes"].to_string();
    assert!(notes.contains("only 2 of 3 ranks have a position on the axis tensor"), "{notes}");
}

#[test]
fn a_layout_places_ranks_of_irregular_jobs() {
    let folder = tempfile::tempdir().unwrap();
    let files =
        exports(folder.path(), &["rank0.csv", "rank1.csv", "rank2.csv"], |at| [1.0, 1.0, 1.2][at]);
    let launches = text(&folder.path().join("launches")) + "/";
    run(&["convert", &text(&files[0]), &text(&files[1]), &text(&files[2]), "-o", &launches]);
    let layout = folder.path().join("layout.csv");
    fs::write(&layout, "rank,stage\n0,0\n1,0\n2,1\n3,1\n").unwrap();
    let found = json(&["fleet", &launches, "--layout", &text(&layout)]);
    assert_eq!(found["positions_from"], "layout");
    let stage = &imbalance(&found)[0];
    assert_eq!((&*stage.0, stage.1, stage.2), ("stage", 2, 1));
    assert!((stage.3 - 1.2 / 1.1).abs() < 1e-4, "{stage:?}");
    assert!(found["notes"].to_string().contains("1 of 4 ranks of the layout are not there"));
    assert_eq!(found["ranks"][2]["positions"]["stage"], 1);
    for (table, expected) in
        [("rank,stage\n0,0\n", "rank run/1 is not in the layout"), ("a,b\n", "no column")]
    {
        fs::write(&layout, table).unwrap();
        let done = program::run(&["fleet", &launches, "--layout", &text(&layout)]);
        assert_eq!(done.code, 3, "{}", done.stderr);
        assert!(done.stderr.contains(expected), "{}", done.stderr);
    }
}
