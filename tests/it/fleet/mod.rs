//! Ranks of a job in partitions and partials: the same figures as an analysis of all files, and nothing merged silently.

use std::fs;
use std::path::{Path, PathBuf};

use rooflint::analysis::{RankId, Totals};
use rooflint::catalog::Catalog;
use rooflint::fleet::{self, Gathered, Manifest, Partitioning};
use rooflint::ingest::{self, IngestError, Input, Options};
use rooflint::session::Session;
use rooflint::table::parts::Part;
use rooflint::units::Seconds;

use super::program;

mod again;
mod axes;
mod notes;
mod outputs;
mod runs;
mod same;

/// The demo as the export of a rank, its durations longer by a factor.
fn rank(folder: &Path, rank: u64, factor: f64) -> PathBuf {
    let path = folder.join(format!("rank{rank}.csv"));
    let mut reader = csv(rooflint::SAMPLE);
    let at = reader.0.iter().position(|title| title == "gpu__time_duration.sum").unwrap();
    for row in reader.1.iter_mut().skip(1) {
        let time: f64 = row[at].replace(',', "").parse().unwrap();
        row[at] = (time * factor).to_string();
    }
    let line = |cells: &Vec<String>| {
        let quoted: Vec<String> =
            cells.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\""))).collect();
        quoted.join(",") + "\n"
    };
    let text: String = std::iter::once(&reader.0).chain(&reader.1).map(line).collect();
    fs::write(&path, text).unwrap();
    path
}

/// The header of the sample and its rows, that of the units first.
fn csv(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let start = text.find("\"ID\"").unwrap();
    let mut rows = text[start..].lines().map(|line| {
        let (mut cells, mut is_quoted) = (vec![String::new()], false);
        for c in line.chars() {
            match c {
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => cells.push(String::new()),
                c => cells.last_mut().unwrap().push(c),
            }
        }
        cells
    });
    (rows.next().unwrap(), rows.collect())
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// What a command prints that must work.
fn done(arguments: &[&str]) -> String {
    let run = program::run(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {}", run.stderr);
    run.stdout
}

fn partition(folder: &Path, files: &[PathBuf]) -> Result<fleet::Partitioned, IngestError> {
    let (options, catalog) = (Options::default(), Catalog::builtin());
    let partitioning = Partitioning {
        folder,
        run: "run",
        options: &options,
        catalog: &catalog,
        device: None,
        taxonomy: None,
    };
    partitioning.write(files)
}

fn scan(folder: &Path) -> Result<Gathered, IngestError> {
    let session = Session::default();
    fleet::scan(folder, &session.catalog, &session.options, 2)
}

/// The error of a scan that must fail.
fn refused(folder: &Path) -> String {
    let Err(error) = scan(folder) else { panic!("scanned") };
    assert!(error.next_step().is_some(), "{error}");
    error.to_string()
}

fn totals(gathered: Gathered) -> Totals {
    let session = Session::default();
    let concluded = gathered.partial.conclude(&session.options);
    session.explain(&concluded.profile, concluded.analysis).analysis.totals
}

fn same(found: &Totals, expected: &Totals, of: &str) {
    assert_eq!(found.launches, expected.launches, "{of}");
    assert_eq!(found.timed_launches, expected.timed_launches, "{of}");
    assert_eq!(found.kernels, expected.kernels, "{of}");
    let figures = |totals: &Totals| {
        [
            totals.measured,
            totals.modeled,
            totals.roofline_time,
            totals.roofline_time_high,
            totals.savings_low,
            totals.savings,
            totals.savings_high,
            totals.savings_unproven,
            totals.unmodeled,
            totals.instrumented,
        ]
        .map(Seconds::get)
    };
    for (found, expected) in figures(found).into_iter().zip(figures(expected)) {
        let is_same = (found - expected).abs() <= expected.abs() * 1e-9 + 1e-18;
        assert!(is_same, "{of}: {found} {expected}");
    }
    let states = |totals: &Totals| -> Vec<_> {
        totals.states.iter().map(|(state, (kernels, _))| (state.key(), *kernels)).collect()
    };
    assert_eq!(states(found), states(expected), "{of}");
}

#[test]
fn a_fleet_adds_up_to_the_analysis_of_all_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<PathBuf> =
        (0..4).map(|one| rank(folder.path(), one, 1.0 + one as f64 * 0.01)).collect();
    let inputs: Vec<Input> = files.iter().cloned().map(Input::Named).collect();
    let profile = ingest::read(&inputs, &Options::default()).unwrap();
    let expected = Session::default().judge(&profile).unwrap().analysis.totals;
    assert_eq!(expected.launches, 4 * 46);
    let launches = folder.path().join("launches");
    partition(&launches, &files).unwrap();
    same(&totals(scan(&launches).unwrap()), &expected, "partitions");
    // The same by way of a partial per rank.
    let session = Session::default();
    let mut partials = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let profile = ingest::read(&[Input::Named(file.clone())], &Options::default()).unwrap();
        let id = RankId { run: "run".into(), rank: number as u64 };
        let gathered = fleet::summarize(&profile, id, &session.catalog, &session.options).unwrap();
        partials.push(folder.path().join(format!("{number}.partial.json")));
        fleet::write_partial(&gathered, fs::File::create(&partials[number]).unwrap()).unwrap();
    }
    let merge = |files: &[PathBuf]| {
        fleet::merge_partials(files, &session.catalog, &session.options, 2).unwrap()
    };
    same(&totals(merge(&partials)), &expected, "partials");
    // Whatever the order and grouping, the bytes are the same.
    let written = |gathered: &Gathered| {
        let mut bytes = Vec::new();
        fleet::write_partial(gathered, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    let whole = written(&merge(&partials));
    let mut other = partials.clone();
    other.reverse();
    assert!(written(&merge(&other)) == whole);
    for (left, right) in [([0, 1], [2, 3]), ([3, 1], [0, 2]), ([2, 0], [1, 3])] {
        let halves = [left, right].map(|half| {
            let path = folder.path().join(format!("{}-{}.json", half[0], half[1]));
            let files = half.map(|at: usize| partials[at].clone());
            fs::write(&path, written(&merge(&files))).unwrap();
            path
        });
        assert!(written(&merge(&halves)) == whole, "{left:?} {right:?}");
    }
}

#[test]
fn converting_again_changes_nothing_and_adds_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<PathBuf> =
        (0..3).map(|one| rank(folder.path(), one, 1.0 + one as f64 * 0.01)).collect();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let done = partition(&first, &files).unwrap();
    assert_eq!((done.converted, done.unchanged, done.rows), (3, 0, 3 * 46));
    let content = |folder: &Path| -> Vec<(String, Vec<u8>)> {
        let manifest = Manifest::read(folder).unwrap().unwrap();
        let parts = manifest.parts.iter().map(|part| part.path.clone());
        let names = parts.chain(["_rooflint.json", "devices.parquet"].map(str::to_owned));
        names.map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect()
    };
    let before = content(&first);
    let done = partition(&first, &files).unwrap();
    assert_eq!((done.converted, done.unchanged), (0, 3));
    assert!(content(&first) == before);
    // In two steps, the later rank first.
    partition(&second, &files[2..]).unwrap();
    let done = partition(&second, &files).unwrap();
    assert_eq!((done.converted, done.unchanged), (2, 1));
    assert!(content(&second) == before);
    // A rank that was exported again replaces its part.
    rank(folder.path(), 1, 1.5);
    let done = partition(&second, &files).unwrap();
    assert_eq!((done.converted, done.unchanged, done.rows), (1, 2, 3 * 46));
}

#[test]
fn every_part_has_every_column_and_is_sorted_by_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let launches = folder.path().join("launches");
    partition(&launches, &[rank(folder.path(), 0, 1.0)]).unwrap();
    let part = launches.join("run=run/rank=0/part-00000.parquet");
    let opened = Part::open(&part).unwrap();
    assert_eq!(opened.height(), 46);
    let own = |key: &str| opened.metadata.iter().find(|(known, _)| known == key).map(|one| &*one.1);
    assert_eq!(own("schema"), Some(rooflint::table::SCHEMA));
    let schema = rooflint::table::SCHEMA;
    let table = rooflint::table::frames::read_table(&part, schema, false).unwrap();
    let names: Vec<&str> = table.columns.iter().map(|(name, _)| name.as_str()).collect();
    let known: Vec<&str> =
        rooflint::table::columns().iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, known);
    let at = known.iter().position(|name| *name == "kernel").unwrap();
    let rooflint::table::Cells::Text(kernels) = &table.columns[at].1 else { panic!("text") };
    assert!(kernels.is_sorted());
    // Hive keys are in the paths alone.
    assert!(!known.contains(&"run") && !known.contains(&"rank"));
}

#[test]
fn what_is_not_whole_is_named_and_not_merged() {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<PathBuf> =
        (0..2).map(|one| rank(folder.path(), one, 1.0 + one as f64 * 0.01)).collect();
    let launches = folder.path().join("launches");
    partition(&launches, &files).unwrap();
    let part = launches.join("run=run/rank=1/part-00000.parquet");
    let bytes = fs::read(&part).unwrap();
    // Half-written: the size differs from the manifest.
    fs::write(&part, &bytes[..bytes.len() / 2]).unwrap();
    assert!(refused(&launches).contains("rank=1/part-00000.parquet: has"));
    // Converting again makes it whole.
    assert_eq!(partition(&launches, &files).unwrap().converted, 1);
    assert!(fs::read(&part).unwrap() == bytes);
    // Damaged inside: the same size.
    let mut damaged = bytes.clone();
    let end = damaged.len();
    damaged[end - 200..end - 8].fill(0xff);
    fs::write(&part, &damaged).unwrap();
    assert!(refused(&launches).contains("rank=1"));
    fs::write(&part, &bytes).unwrap();
    scan(&launches).unwrap();
    // A part that the manifest does not know.
    let stray = launches.join("run=run/rank=2");
    fs::create_dir(&stray).unwrap();
    fs::write(stray.join("part-00000.parquet"), &bytes).unwrap();
    assert!(refused(&launches).contains("rank=2/part-00000.parquet: not in the manifest"));
    fs::remove_dir_all(&stray).unwrap();
    // A part that is gone, and a manifest that is.
    fs::rename(&part, folder.path().join("away")).unwrap();
    assert!(refused(&launches).contains("not on the disk"));
    fs::rename(folder.path().join("away"), &part).unwrap();
    fs::remove_file(launches.join("_rooflint.json")).unwrap();
    assert!(refused(&launches).contains("no _rooflint.json"));
}

#[test]
fn another_schema_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let launches = folder.path().join("launches");
    partition(&launches, &[rank(folder.path(), 0, 1.0)]).unwrap();
    let manifest = launches.join("_rooflint.json");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("rooflint/launches/1", "rooflint/launches/2")).unwrap();
    assert!(refused(&launches).contains("unsupported launches \"rooflint/launches/2\""));
    fs::write(&manifest, text.replace("rooflint/partitions/1", "rooflint/partitions/9")).unwrap();
    assert!(refused(&launches).contains("\"rooflint/partitions/9\""));
    fs::write(&manifest, &text[..text.len() / 2]).unwrap();
    assert!(refused(&launches).contains("damaged manifest"));
    fs::write(&manifest, &text).unwrap();
    // The part itself: its metadata is text of the same length.
    let part = launches.join("run=run/rank=0/part-00000.parquet");
    let mut bytes = fs::read(&part).unwrap();
    let name = b"rooflint/launches/1";
    for at in 0..bytes.len() - name.len() {
        if bytes[at..].starts_with(name) {
            bytes[at + name.len() - 1] = b'7';
        }
    }
    fs::write(&part, bytes).unwrap();
    let error = refused(&launches);
    assert!(error.contains("rank=0") && error.contains("rooflint/launches/7"), "{error}");
}

#[test]
fn a_rank_that_is_there_twice_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let one = rank(folder.path(), 0, 1.0);
    let launches = folder.path().join("launches");
    partition(&launches, std::slice::from_ref(&one)).unwrap();
    // The same content under another number.
    let copy = folder.path().join("rank1.csv");
    fs::copy(&one, &copy).unwrap();
    let error = partition(&launches, std::slice::from_ref(&copy)).unwrap_err().to_string();
    assert!(error.contains("rank1.csv: rank 1 has the content of rank 0"), "{error}");
    // Another export of a rank that is there.
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    let again = rank(&other, 0, 1.2);
    let error = partition(&launches, &[again]).unwrap_err().to_string();
    assert!(error.contains("rank 0 of run run is there already"), "{error}");
    // The manifest was changed by hand.
    let manifest = launches.join("_rooflint.json");
    let mut twice = Manifest::read(&launches).unwrap().unwrap();
    twice.parts.push(twice.parts[0].clone());
    twice.write(&launches).unwrap();
    assert!(refused(&launches).contains("rank 0 of run run twice"), "{}", manifest.display());
}

#[test]
fn partials_that_do_not_fit_together_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::default();
    let file = rank(folder.path(), 0, 1.0);
    let profile = ingest::read(&[Input::Named(file)], &Options::default()).unwrap();
    let write = |name: &str, number: u64, ceilings| {
        let id = RankId { run: "run".into(), rank: number };
        let options = rooflint::analysis::Options { ceilings, ..Default::default() };
        let gathered = fleet::summarize(&profile, id, &session.catalog, &options).unwrap();
        let path = folder.path().join(name);
        fleet::write_partial(&gathered, fs::File::create(&path).unwrap()).unwrap();
        path
    };
    let one = write("a.partial.json", 0, None);
    let error = |files: &[PathBuf]| {
        let merged = fleet::merge_partials(files, &session.catalog, &session.options, 2);
        let Err(error) = merged else { panic!("merged") };
        assert!(error.next_step().is_some());
        error.to_string()
    };
    let twice = write("b.partial.json", 0, None);
    let found = error(&[one.clone(), twice]);
    assert!(found.contains("b.partial.json: rank run/0 is in") && found.contains("a.partial"));
    let spec = write("c.partial.json", 1, Some(rooflint::analysis::CeilingSet::Spec));
    // Two threads read them, so that either may be the first; the later on the command line is named.
    for _ in 0..20 {
        let found = error(&[one.clone(), spec.clone()]);
        assert!(found.contains("c.partial.json: made with ceilings spec, "), "{found}");
        let found = error(&[spec.clone(), one.clone()]);
        assert!(found.contains("a.partial.json: made with ceilings measured-clock, "), "{found}");
    }
    let text = fs::read_to_string(&one).unwrap();
    fs::write(&one, text.replace("rooflint/partial/1", "rooflint/partial/2")).unwrap();
    assert!(error(std::slice::from_ref(&one)).contains("\"rooflint/partial/2\""));
    fs::write(&one, &text[..text.len() / 3]).unwrap();
    assert!(error(&[one]).contains("damaged partial"));
}

#[test]
fn impossible_figures_of_a_partial_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::default();
    let file = rank(folder.path(), 0, 1.0);
    let profile = ingest::read(&[Input::Named(file)], &Options::default()).unwrap();
    let id = RankId { run: "run".into(), rank: 0 };
    let gathered = fleet::summarize(&profile, id, &session.catalog, &session.options).unwrap();
    let mut text = Vec::new();
    fleet::write_partial(&gathered, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let read = |text: &str| {
        fleet::parse_partial("a.json", text, &session.catalog, &session.options)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    assert_eq!(read(&text), Ok(()));
    // The value after the first of these words becomes another.
    let with = |word: &str, value: &str| {
        let at = text.find(word).unwrap() + word.len();
        let end = at + text[at..].find([',', ']', '}']).unwrap();
        format!("{}{value}{}", &text[..at], &text[end..])
    };
    for (word, value, expected) in [
        ("\"measured_s\": ", "-1.0", "rank 0 has a negative figure"),
        ("\"judged.savings_s\": [", "-1.0", "\"judged.savings_s\" is negative"),
        ("\"times_s\": [", "-1.0", "a negative time in a rank"),
        ("\"times\": [[", "99999", "launches of impossible times"),
        ("\"duration_s\": ", "\"1e99\"", "column \"duration_s\""),
        ("\"judged.savings_s\"", ": [], \"judged.unheard\": [0.0", "unknown figure"),
        ("\"rank\": ", "-1", "damaged partial: line 6"),
    ] {
        let error = read(&with(word, value)).unwrap_err();
        assert!(error.starts_with("a.json: ") && error.contains(expected), "{word}: {error}");
    }
}

#[test]
fn missing_ranks_other_devices_and_clocks_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut files: Vec<PathBuf> =
        [0, 1, 2, 5].map(|one| rank(folder.path(), one, 1.0 + one as f64 * 0.001)).to_vec();
    let text = fs::read_to_string(&files[3]).unwrap();
    fs::write(&files[3], text.replace("NVIDIA H100 80GB HBM3", "NVIDIA H200")).unwrap();
    files.push(rank(folder.path(), 6, 1.0005));
    let launches = folder.path().join("launches");
    partition(&launches, &files).unwrap();
    // Starts of rank 6 are an hour later, as its manifest says.
    let mut manifest = Manifest::read(&launches).unwrap().unwrap();
    for part in &mut manifest.parts {
        let start = if part.rank == 6 { 3_600_000_000_000 } else { 1_000 + part.rank };
        (part.first_start_ns, part.last_end_ns) = (Some(start), Some(start + 1_000_000));
    }
    manifest.write(&launches).unwrap();
    let notes = scan(&launches).unwrap().notes;
    let has = |text: &str| notes.iter().any(|note| note.contains(text));
    assert!(has("2 of 7 ranks are missing (3–4)"), "{notes:?}");
    assert!(has("rank run/5 ran on H200"), "{notes:?}");
    assert!(has("rank 6 ran at another time"), "{notes:?}");
}

/// Ranks in containers have the same processes, and their longest launches may take as long: what stands for a kernel does
/// not depend on which comes first.
#[test]
fn ranks_that_tie_are_merged_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = |name: &str, content: &str| {
        fs::write(folder.join(name), content).unwrap();
        text(&folder.join(name))
    };
    let map = file(
        "map.toml",
        "device = \"A100 SXM4 80GB\"\n[columns]\nkernel = \"kernel\"\ntime = { column = \"time\", unit = \"us\" }\n\
         bytes = { column = \"bytes\", unit = \"B\" }\n[quantities]\nregisters_per_thread = { column = \"registers\", unit = \"1\" }\n",
    );
    let summary = |rank: &str, bytes: u32, registers: u32| {
        let rows = format!("kernel,time,bytes,registers\ncopy,50,{bytes},{registers}\n");
        let export = file(&format!("rank{rank}.csv"), &rows);
        let out = text(&folder.join(format!("{rank}.json")));
        done(&["summarize", &export, "--map", &map, "--rank", rank, "-o", &out]);
        out
    };
    let (one, two) = (summary("0", 40_000_000, 32), summary("1", 80_000_000, 255));
    let merged = |first: &str, second: &str| {
        let out = text(&folder.join("merged.json"));
        done(&["merge", first, second, "-o", &out]);
        fs::read_to_string(&out).unwrap()
    };
    assert_eq!(merged(&one, &two), merged(&two, &one));
}

#[test]
fn the_commands_work_together() {
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<String> = (0..4)
        .map(|one| {
            text(&rank(folder.path(), one, if one == 2 { 1.3 } else { 1.0 + one as f64 * 1e-3 }))
        })
        .collect();
    let launches = text(folder.path()) + "/launches/";
    let mut arguments = vec!["convert"];
    arguments.extend(files.iter().map(String::as_str));
    arguments.extend(["-o", &launches]);
    let done = program::run(&arguments);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stdout.contains("4 ranks converted, 0 unchanged; 184 rows"), "{}", done.stdout);
    let done = program::run(&["fleet", &launches, "--axes", "tensor=2,data=2", "--price", "2.50"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    for expected in ["run/2", "1.30×", "GPU-hours", "tensor"] {
        assert!(done.stdout.contains(expected), "{expected}: {}", done.stdout);
    }
    for (number, file) in files.iter().enumerate() {
        let out = text(&folder.path().join(format!("{number}.partial.json")));
        let done = program::run(&["summarize", file, "-o", &out]);
        assert_eq!(done.code, 0, "{}", done.stderr);
    }
    let all = text(&folder.path().join("all.json"));
    let done = program::run(&["merge", &text(folder.path()), "-o", &all]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let json = |from: &str| {
        let done = program::run(&["fleet", from, "--format", "json"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        done.stdout
    };
    assert_eq!(json(&all), json(&launches));
    for axes in ["=4", " =4"] {
        let done = program::run(&["fleet", &launches, "--axes", axes]);
        assert_eq!(done.code, 2, "{}", done.stderr);
        assert!(done.stderr.contains("not an axis; write NAME=SIZE"), "{}", done.stderr);
    }
    let done = program::run(&["fleet", &launches, "--axes", "tensor=3"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("the axes have 3 positions"), "{}", done.stderr);
}

/// The name of a run is that of a folder, wherever it is given.
#[test]
fn names_of_runs_are_those_of_folders() {
    let file = "fixtures/pyprof/v100-resnet50-head.csv";
    for command in [&["convert", "-o", "launches/"][..], &["summarize", "--rank", "0"]] {
        for name in ["", "a/b", "ŭ", ".a"] {
            let done = program::run(&[command, &[file, "--run", name]].concat());
            assert_eq!(done.code, 2, "{name}: {}", done.stderr);
            assert!(done.stderr.contains("not the name of a run"), "{}", done.stderr);
        }
    }
}
