//! Runs of a partitioned table in comparisons and histories: those of all their ranks together.

use std::fs;
use std::path::{Path, PathBuf};

use polars_io::prelude::*;
use rooflint::compare::{Run, RunKernel};
use rooflint::fleet;
use rooflint::ingest::{self, Input, Options};
use rooflint::session::Session;
use rooflint::units::Seconds;

use super::{done, program, rank, text};

/// Runs the program in a folder.
fn within(folder: &Path, arguments: &[&str]) -> program::Run {
    let mut command = program::command(arguments);
    command.current_dir(folder);
    program::finish(command)
}

/// A table with runs of these names, each with three ranks whose times are longer by the factor of the run, the last
/// rank's by a little more.
fn table(folder: &Path, runs: &[(&str, f64)]) -> PathBuf {
    let launches = folder.join("launches");
    for (name, factor) in runs {
        let exports = folder.join(name);
        fs::create_dir(&exports).unwrap();
        let files = [0, 1, 2].map(|number| {
            text(&rank(&exports, number, factor * (1.0 + 0.001 * number as f64 * number as f64)))
        });
        let out = text(&launches) + "/";
        let [one, two, three] = &files;
        done(&["convert", one, two, three, "-o", &out, "--run", name]);
    }
    launches
}

/// Writes each launch of an export three times, with IDs of their own.
fn launched_thrice(export: &Path) {
    let mut thrice = String::new();
    for line in fs::read_to_string(export).unwrap().lines() {
        let (id, cells) = line.split_once(',').unwrap();
        match id.trim_matches('"').parse::<u32>() {
            Ok(id) => {
                let ids = [id, id + 1000, id + 2000].map(|id| format!("\"{id}\",{cells}\n"));
                thrice.push_str(&ids.concat());
            }
            // Titles and units.
            Err(_) => thrice.push_str(&format!("{line}\n")),
        }
    }
    fs::write(export, thrice).unwrap();
}

/// The run of all exports of a run, read at once.
fn at_once(folder: &Path, name: &str, warmup: u32) -> Run {
    let files = [0, 1, 2].map(|rank| folder.join(name).join(format!("rank{rank}.csv")));
    let profile = ingest::read(&files.map(Input::Named), &Options::default()).unwrap();
    Session::default().judge(&profile).unwrap().run(warmup)
}

fn is_same(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected.abs()
}

/// Compares all figures of a kernel but the rows of its launches.
fn compare(found: &RunKernel, expected: &RunKernel) {
    let text = |kernel: &RunKernel| {
        let RunKernel { name, full_name, operator, category, .. } = kernel.clone();
        (name, full_name, operator, category)
    };
    assert_eq!(text(found), text(expected));
    let counts = |kernel: &RunKernel| {
        let RunKernel { grid, block, blocks, threads_per_block, device, launches, timed, .. } =
            kernel.clone();
        (grid, block, blocks, threads_per_block, device, launches, timed)
    };
    assert_eq!(counts(found), counts(expected), "{}", expected.name);
    let figures = |kernel: &RunKernel| {
        let mut all = vec![
            Some(kernel.measured_s.get()),
            Some(kernel.share.get()),
            Some(kernel.judged_s.get()),
            kernel.roofline_s.map(Seconds::get),
            kernel.roofline_high_s.map(Seconds::get),
            kernel.clock_hz.map(rooflint::units::Hertz::get),
            kernel.bytes.map(rooflint::units::Bytes::get),
            kernel.flops.map(rooflint::units::Flops::get),
            kernel.fp64_flops.map(rooflint::units::Flops::get),
        ];
        all.extend(kernel.samples_s.iter().map(|time| Some(time.get())));
        all.extend(kernel.samples_cycles.iter().map(|cycles| Some(*cycles)));
        all
    };
    let pairs = figures(found).into_iter().zip(figures(expected)).enumerate();
    assert_eq!(figures(found).len(), figures(expected).len(), "{}", expected.name);
    for (at, pair) in pairs {
        let fits = match pair {
            (Some(found), Some(expected)) => is_same(found, expected),
            (found, expected) => found == expected,
        };
        assert!(fits, "{}: figure {at}: {pair:?}", expected.name);
    }
}

fn compare_runs(found: &Run, expected: &Run) {
    assert_eq!(found.kernels.len(), expected.kernels.len());
    assert_eq!(
        (found.launches, found.timed_launches),
        (expected.launches, expected.timed_launches)
    );
    assert!(is_same(found.measured_s.get(), expected.measured_s.get()));
    for kernel in &found.kernels {
        let is_it = |other: &&RunKernel| {
            (&other.full_name, other.grid, other.block)
                == (&kernel.full_name, kernel.grid, kernel.block)
        };
        compare(kernel, expected.kernels.iter().find(is_it).unwrap());
    }
}

#[test]
fn a_run_of_the_table_is_that_of_all_its_exports() {
    let folder = tempfile::tempdir().unwrap();
    let launches = table(folder.path(), &[("a", 1.0), ("b", 1.01)]);
    for (name, warmup) in [("a", 0), ("b", 0)] {
        let session = Session::default();
        let read = |threads| fleet::runs(&launches, Some(name), &session, (warmup, threads));
        let runs = read(1).unwrap().runs;
        for threads in [2, 3, 8] {
            assert_eq!(read(threads).unwrap().runs, runs);
        }
        let [(_, run)] = &*runs else { panic!("{}", runs.len()) };
        compare_runs(run, &at_once(folder.path(), name, warmup));
    }
    let all = fleet::runs(&launches, None, &Session::default(), (0, 0)).unwrap();
    assert_eq!(all.runs.iter().map(|run| &*run.0).collect::<Vec<_>>(), ["a", "b"]);
    let error = fleet::runs(&launches, Some("c"), &Session::default(), (0, 0)).unwrap_err();
    assert!(error.to_string().contains("no run \"c\""), "{error}");
    assert_eq!(error.next_step(), Some("its runs: a, b"));
}

/// One of three ranks did not count the tensor cores, which is not zero there.
#[test]
fn operations_that_a_rank_did_not_count_are_as_many_as_in_the_others() {
    const TENSOR: &str = "sm__ops_path_tensor_src_bf16_dst_fp32_sparsity_off.sum";
    let folder = tempfile::tempdir().unwrap();
    let exports = folder.path().join("a");
    fs::create_dir(&exports).unwrap();
    let files = [0, 1, 2].map(|number| rank(&exports, number, 1.0 + 0.001 * number as f64));
    let (titles, rows) = super::csv(&fs::read_to_string(&files[1]).unwrap());
    let at = titles.iter().position(|title| title == TENSOR).unwrap();
    let without = |cells: &Vec<String>| {
        let cells = cells.iter().enumerate().filter(|(place, _)| *place != at);
        cells.map(|(_, cell)| format!("\"{cell}\"")).collect::<Vec<_>>().join(",") + "\n"
    };
    let text_of: String = std::iter::once(&titles).chain(&rows).map(without).collect();
    fs::write(&files[1], text_of).unwrap();
    let out = text(&folder.path().join("launches")) + "/";
    let [one, two, three] = files.each_ref().map(|file| text(file));
    done(&["convert", &one, &two, &three, "-o", &out, "--run", "a"]);
    let read = fleet::runs(Path::new(&out), None, &Session::default(), (0, 1)).unwrap();
    let expected = at_once(folder.path(), "a", 0);
    compare_runs(&read.runs[0].1, &expected);
    // Of all three ranks counted, it is three times the sample's.
    let profile = ingest::read(&[Input::Named(files[0].clone())], &Options::default()).unwrap();
    let sample = Session::default().judge(&profile).unwrap().run(0);
    let flops = |run: &Run| -> f64 {
        run.kernels.iter().filter_map(|kernel| kernel.flops).map(rooflint::units::Flops::get).sum()
    };
    assert!(is_same(flops(&read.runs[0].1), 3.0 * flops(&sample)));
}

#[test]
fn first_launches_are_left_out_in_every_rank() {
    let folder = tempfile::tempdir().unwrap();
    let launches = table(folder.path(), &[("a", 1.0)]);
    let timed = |warmup| {
        let read = fleet::runs(&launches, None, &Session::default(), (warmup, 0)).unwrap();
        let run = &read.runs[0].1;
        run.kernels.iter().map(|kernel| (kernel.launches, kernel.timed)).collect::<Vec<_>>()
    };
    for (launches, timed) in timed(1) {
        // Three ranks with as many launches each; a kernel of one launch keeps it.
        assert_eq!(timed, if launches == 3 { 3 } else { launches - 3 });
    }
    assert!(timed(0).iter().all(|(launches, timed)| launches == timed));
}

#[test]
fn a_nightly_table_is_a_history_and_each_run_a_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let nights = [("2026-11-01", 1.0), ("2026-11-02", 1.001), ("2026-11-03", 1.0005)];
    let slow = [("2026-11-04", 1.3), ("2026-11-05", 1.301), ("2026-11-06", 1.3005)];
    let launches = table(folder.path(), &[&nights[..], &slow].concat());
    let trend = done(&["trend", &text(&launches), "--format", "json"]);
    let trend: serde_json::Value = serde_json::from_str(&trend).unwrap();
    let points = trend["points"].as_array().unwrap();
    assert_eq!((points.len(), &points[0]["entries"][0]), (6, &"2026-11-01".into()));
    // No commit is known of them.
    assert!(done(&["trend", &text(&launches)]).contains(": 6 runs of 6 saves, "));
    let [change] = &**trend["whole"]["changes"].as_array().unwrap() else { panic!("{trend}") };
    assert_eq!(change["point"], 3);
    let (now, before) = (launches.join("run=2026-11-06"), launches.join("run=2026-11-01"));
    let gate = program::run(&["gate", &text(&now), "--baseline", &text(&before)]);
    assert!(gate.stdout.contains("+30.0%"), "{}{}", gate.stdout, gate.stderr);
    for warmup in ["0", "1"] {
        let gate = |now: &Path, baseline: &Path| {
            let run = program::run(&[
                "gate",
                &text(now),
                "--baseline",
                &text(baseline),
                "--warmup",
                warmup,
                "--format",
                "json",
            ]);
            serde_json::from_str::<serde_json::Value>(&run.stdout)
                .unwrap_or_else(|_| panic!("{}", run.stderr))
        };
        // Of nights in the middle too, the newest before; read as the run under test.
        for (now, before) in [("06", "05"), ("04", "03"), ("02", "01")] {
            let [now, before] =
                [now, before].map(|day| launches.join(format!("run=2026-11-{day}")));
            let (by_date, by_name) = (gate(&now, &launches), gate(&now, &before));
            assert_eq!(by_date["kernels"], by_name["kernels"]);
            assert_eq!(by_date["outcome"], by_name["outcome"]);
            let name = before.file_name().unwrap().to_str().unwrap().replace("run=", "");
            let note = format!("baseline: 1 run of {}: {name}", launches.display());
            let notes = by_date["notes"].as_array().unwrap();
            assert!(notes.contains(&note.clone().into()), "{note}: {notes:?}");
        }
    }
    let first = launches.join("run=2026-11-01");
    let run = program::run(&["gate", &text(&first), "--baseline", &text(&launches)]);
    let missing =
        "has no run of default before 2026-11-01T00:00:00Z with times (baselines: default)";
    assert!(run.code == 3 && run.stderr.contains(missing), "{}: {}", run.code, run.stderr);
    let allowed =
        ["gate", &text(&first), "--baseline", &text(&launches), "--allow-missing-baseline"];
    assert!(done(&allowed).contains(missing));
    // Each is saved with the time of its name.
    let history = text(&folder.path().join("history"));
    let saved = done(&["baseline", "save", &text(&launches), "--store", &history]);
    for (day, _) in nights.iter().chain(&slow) {
        assert!(saved.contains(&format!("{day}T000000Z-")), "{saved}");
    }
    // A name without a date has no place in time.
    done(&[
        "convert",
        &text(&folder.path().join("2026-11-01/rank0.csv")),
        "-o",
        &(text(&launches) + "/"),
        "--run",
        "x",
    ]);
    let run = program::run(&["trend", &text(&launches)]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("the name of run \"x\" is not a time"), "{}", run.stderr);
}

#[test]
fn a_night_is_its_repeats_and_not_other_baselines() {
    let folder = tempfile::tempdir().unwrap();
    let before = [("2026-11-01", 1.0), ("2026-11-01-2", 1.001), ("2026-11-01T0530-llama", 2.0)];
    let now = [("2026-11-02", 1.002), ("2026-11-02-2", 1.0015)];
    let launches = table(folder.path(), &[&before[..], &now].concat());
    let [one, two] = now.map(|(name, _)| text(&launches.join(format!("run={name}"))));
    let gate = |more: &[&str]| {
        let sides = ["gate", &one, &two, "--baseline", &text(&launches)];
        program::run(&[&sides[..], more].concat())
    };
    let run = gate(&[]);
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let note = format!("2 runs of {}: 2026-11-01, 2026-11-01-2", launches.display());
    assert!(run.stdout.replace("\n    ", " ").contains(&note), "{}", run.stdout);
    let run = gate(&["--baseline-name", "llama"]);
    assert!(run.stdout.contains("2026-11-01T0530-llama"), "{}{}", run.stdout, run.stderr);
    let run = gate(&["--baseline-commit", "abc"]);
    assert!(run.code == 2 && run.stderr.contains("no commit or branch"), "{}", run.stderr);
    // An export is compared with the newest night; which baseline is meant must be said.
    let export = text(&folder.path().join("2026-11-02/rank0.csv"));
    let run = program::run(&["gate", &export, "--baseline", &text(&launches)]);
    let several = "several baselines: default, llama";
    assert!(run.code == 2 && run.stderr.contains(several), "{}", run.stderr);
    // Baselines are saved apart, under their names; what is checked out is not what ran then.
    let store = text(&folder.path().join("store"));
    let save =
        |more: &[&str]| program::run(&[&["baseline", "save", "--store", &store], more].concat());
    let run = save(&[&text(&launches)]);
    assert!(
        run.code == 2 && run.stderr.contains("several baselines: default, llama"),
        "{}",
        run.stderr
    );
    let llama = text(&launches.join("run=2026-11-01T0530-llama"));
    let run = save(&[&llama]);
    assert!(run.code == 0 && run.stdout.contains("2026-11-01T053000Z-none-"), "{}", run.stdout);
    assert!(Path::new(&store).join("llama").is_dir() && run.stdout.contains("no commit is known"));
    // The exports of a night are the night.
    let exports = text(&folder.path().join("2026-11-02"));
    let run = program::run(&["gate", &exports, "--baseline", &one]);
    assert!(run.code == 2 && run.stderr.contains("are the same measurement"), "{}", run.stderr);
    // A launch without a duration: named in a history, which a gate refuses.
    let untimed = folder.path().join("untimed.csv");
    let sample = fs::read_to_string(folder.path().join("2026-11-02/rank0.csv")).unwrap();
    fs::write(&untimed, sample.replace("gpu__time_duration.sum", "gpu__time_nothing.sum")).unwrap();
    done(&["convert", &text(&untimed), "-o", &(text(&launches) + "/"), "--run", "2026-11-03"]);
    let trend = ["trend", &text(&launches), "--name", "default"];
    let told = done(&trend);
    assert!(told.contains("run=2026-11-03") && told.contains("no launch has a duration"), "{told}");
    assert_eq!(program::run(&[&trend[..], &["--gate"]].concat()).code, 3);
    // Such a night is no baseline: the one before it is.
    let later = text(&folder.path().join("2026-11-02/rank1.csv"));
    done(&["convert", &later, "-o", &(text(&launches) + "/"), "--run", "2026-11-04"]);
    let now = text(&launches.join("run=2026-11-04"));
    let run = program::run(&["gate", &now, "--baseline", &text(&launches)]);
    let words = run.stdout.replace("\n    ", " ");
    assert!(words.contains("has no times and is left out"), "{words}{}", run.stderr);
    assert!(words.contains("2026-11-02, 2026-11-02-2"), "{words}");
    let run = program::run(&["trend", &text(&launches), "--name", "gpt"]);
    assert!(run.code == 2 && run.stderr.contains("run=NAME"), "{}", run.stderr);
}

#[test]
fn launches_left_out_in_every_rank_are_not_missing() {
    let folder = tempfile::tempdir().unwrap();
    let launches = folder.path().join("launches");
    for (night, factor) in [("2026-11-01", 1.0), ("2026-11-02", 1.001)] {
        let exports = folder.path().join(night);
        fs::create_dir(&exports).unwrap();
        let ranks = [0, 1].map(|number| {
            let path = rank(&exports, number, factor * (1.0 + 0.001 * number as f64));
            launched_thrice(&path);
            text(&path)
        });
        let [one, two] = &ranks;
        done(&["convert", one, two, "-o", &(text(&launches) + "/"), "--run", night]);
    }
    let now = text(&launches.join("run=2026-11-02"));
    for warmup in ["0", "1", "2"] {
        let gate = ["gate", &now, "--baseline", &text(&launches), "--warmup", warmup];
        let run = program::run(&[&gate[..], &["--format", "json"]].concat());
        let gate: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        let checks = gate["checks"].as_array().unwrap();
        assert!(checks.iter().all(|check| check["rule"] != "coverage"), "{warmup}: {checks:?}");
    }
}

#[test]
fn the_device_that_convert_was_told_is_that_of_the_launches() {
    let folder = tempfile::tempdir().unwrap();
    let export = text(&rank(folder.path(), 0, 1.0));
    let launches = folder.path().join("launches");
    let out = text(&launches) + "/";
    let convert = |device: &str, run: &str| {
        done(&["convert", &export, "-o", &out, "--run", run, "--device", device])
    };
    convert("A100 SXM4 80GB", "2026-11-01");
    convert("L4", "2026-11-02");
    let runs = fleet::runs(&launches, None, &Session::default(), (0, 0)).unwrap().runs;
    let devices: Vec<&str> = runs.iter().flat_map(|(_, run)| run.device_names()).collect();
    assert_eq!(devices, ["A100 SXM4 80GB", "L4"]);
    let told = done(&["fleet", &text(&launches), "--format", "json"]);
    assert!(told.contains("A100 SXM4 80GB") && told.contains("\"L4\""), "{told}");
    // Another name is another conversion.
    let again = convert("H100 SXM5 80GB", "2026-11-02");
    assert!(again.contains("1 rank converted"), "{again}");
    // What is asked for goes before what the table says.
    let session = Session::default().on(Some("H200 SXM 141GB".to_owned()));
    let runs = fleet::runs(&launches, None, &session, (0, 0)).unwrap().runs;
    assert!(runs.iter().all(|(_, run)| run.device_names() == ["H200 SXM 141GB"]));
}

#[test]
fn a_run_without_clocks_changes_no_other_run() {
    let folder = tempfile::tempdir().unwrap();
    let launches = table(folder.path(), &[("2026-11-01", 1.0)]);
    let read = || fleet::runs(&launches, Some("2026-11-01"), &Session::default(), (0, 0)).unwrap();
    let before = read().runs;
    let export = fs::read_to_string(folder.path().join("2026-11-01/rank0.csv")).unwrap();
    let clockless = text(&folder.path().join("clockless.csv"));
    fs::write(&clockless, export.replace("sm__cycles_elapsed", "sm__cycles_other")).unwrap();
    done(&["convert", &clockless, "-o", &(text(&launches) + "/"), "--run", "2026-11-02"]);
    assert_eq!(read().runs, before);
}

#[test]
fn conversions_side_by_side_keep_each_others_runs() {
    let folder = tempfile::tempdir().unwrap();
    let export = text(&rank(folder.path(), 0, 1.0));
    let launches = folder.path().join("launches");
    let out = text(&launches) + "/";
    std::thread::scope(|scope| {
        for night in 1..=6 {
            let (export, out) = (&export, &out);
            scope.spawn(move || {
                done(&["convert", export, "-o", out, "--run", &format!("2026-11-0{night}")])
            });
        }
    });
    assert_eq!(fleet::listed(&launches).unwrap().len(), 6);
    fleet::runs(&launches, None, &Session::default(), (0, 0)).unwrap();
}

#[test]
fn a_run_is_measured_again_after_its_folder_was_removed() {
    let folder = tempfile::tempdir().unwrap();
    let launches = table(folder.path(), &[("2026-11-01", 1.0), ("2026-11-02", 1.001)]);
    let out = text(&launches) + "/";
    let again = folder.path().join("again");
    fs::create_dir(&again).unwrap();
    let export = text(&rank(&again, 0, 1.1));
    let convert = ["convert", &export, "-o", &out, "--run", "2026-11-02"];
    let run = program::run(&convert);
    assert!(run.code != 0 && run.stderr.contains("remove its folder run=NAME"), "{}", run.stderr);
    fs::remove_dir_all(launches.join("run=2026-11-02")).unwrap();
    done(&convert);
    let runs = fleet::runs(&launches, None, &Session::default(), (0, 0)).unwrap().runs;
    assert_eq!(runs.len(), 2);
    // A store of baselines is no place for a table.
    let store = text(&folder.path().join("store"));
    done(&["baseline", "save", &export, "--store", &store]);
    let run = program::run(&["convert", &export, "-o", &(store + "/")]);
    assert!(run.code == 2 && run.stderr.contains("a store of baselines"), "{}", run.stderr);
}

#[test]
fn a_table_is_the_same_from_inside_its_folder() {
    assert_eq!(fleet::partitioned(Path::new("run=a")), None);
    let folder = tempfile::tempdir().unwrap();
    let launches = table(folder.path(), &[("2026-11-01", 1.0), ("2026-11-02", 1.3)]);
    let run = fleet::partitioned(&launches.join("run=2026-11-01")).unwrap();
    assert_eq!(run, (launches.clone(), Some("2026-11-01".to_owned())));
    let verdict = |folder: &Path, table: &str, run: &str| {
        let gate = ["gate", run, "--baseline", table, "--format", "json"];
        let run = within(folder, &gate);
        assert_eq!(run.code, 1, "{}", run.stderr);
        let gate: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        (gate["verdict"].clone(), gate["checks"].as_array().unwrap().len())
    };
    let outside = verdict(folder.path(), "launches/", "launches/run=2026-11-02");
    assert_eq!(verdict(&launches, ".", "run=2026-11-02"), outside);
    assert_eq!(verdict(&launches, "./", "./run=2026-11-02/"), outside);
}

#[test]
fn conversions_that_write_nothing_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (bad, launches) = (folder.path().join("rank0.csv"), folder.path().join("launches"));
    fs::write(&bad, "\"ID\",\"Kernel Name\"\n\"0\n").unwrap();
    let out = text(&launches) + "/";
    let run = program::run(&["convert", &text(&bad), "-o", &out]);
    assert!(run.code != 0 && run.stderr.contains("rank0.csv"), "{}", run.stderr);
    assert!(!launches.exists());
    // Ranks that are there already: the table is not touched.
    let export = text(&rank(folder.path(), 0, 1.0));
    done(&["convert", &export, "-o", &out]);
    fs::remove_file(launches.join("_rooflint.lock")).unwrap();
    let again = done(&["convert", &export, "-o", &out]);
    assert!(again.contains("0 ranks converted, 1 unchanged"), "{again}");
    assert!(!launches.join("_rooflint.lock").exists());
}

#[test]
fn a_run_whose_folder_was_removed_leaves_the_table_with_the_next_convert() {
    let folder = tempfile::tempdir().unwrap();
    let launches = table(folder.path(), &[("2026-11-01", 1.0), ("2026-11-02", 1.001)]);
    fs::remove_dir_all(launches.join("run=2026-11-01")).unwrap();
    let run = program::run(&["fleet", &text(&launches)]);
    let told = "the folder of its run is gone";
    assert!(run.code == 3 && run.stderr.contains(told), "{}: {}", run.code, run.stderr);
    let export = text(&folder.path().join("2026-11-02/rank0.csv"));
    let out = text(&launches) + "/";
    let again = done(&["convert", &export, "-o", &out, "--run", "2026-11-02"]);
    assert!(again.contains("0 ranks converted, 1 unchanged"), "{again}");
    assert!(again.contains("no longer in the table, as their folders were removed: 2026-11-01"));
    let listed = fleet::listed(&launches).unwrap();
    assert_eq!(listed.iter().map(|run| &*run.name).collect::<Vec<_>>(), ["2026-11-02"]);
    assert!(done(&["fleet", &text(&launches)]).contains("3 ranks"));
    // A table without runs says so, and not that something is missing.
    let manifest = launches.join("_rooflint.json");
    fs::write(&manifest, serde_json::to_string(&fleet::Manifest::default()).unwrap()).unwrap();
    fs::remove_dir_all(launches.join("run=2026-11-02")).unwrap();
    let run = program::run(&["trend", &text(&launches)]);
    assert!(run.code == 3 && run.stderr.contains("the table has no runs"), "{}", run.stderr);
}

#[test]
fn a_saved_table_of_another_version_is_told_to_be_saved_again() {
    let folder = tempfile::tempdir().unwrap();
    let (export, store) = (text(&rank(folder.path(), 0, 1.0)), folder.path().join("store"));
    done(&["baseline", "save", &export, "--store", &text(&store), "--format", "parquet"]);
    let file = fs::read_dir(store.join("default")).unwrap().next().unwrap().unwrap().path();
    let [known, newer] = [b"rooflint/run-table/1", b"rooflint/run-table/2"];
    let mut bytes = fs::read(&file).unwrap();
    let places: Vec<usize> =
        (0..bytes.len() - known.len()).filter(|at| bytes[*at..].starts_with(known)).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + newer.len()].copy_from_slice(newer);
    }
    fs::write(&file, bytes).unwrap();
    for (side, code) in [(text(&file), 3), (text(&store), 3)] {
        let run = program::run(&["gate", &export, "--baseline", &side]);
        assert_eq!(run.code, code, "{side}: {}", run.stderr);
        let told = r#"unsupported schema "rooflint/run-table/2" (expected "rooflint/run-table/1")"#;
        assert!(run.stderr.contains(told), "{}", run.stderr);
    }
    let run = program::run(&["gate", &export, "--baseline", &text(&file)]);
    assert!(run.stderr.contains("save the run again"), "{}", run.stderr);
}

#[test]
fn a_store_of_tables_is_that_of_documents() {
    let folder = tempfile::tempdir().unwrap();
    let here = |name: &str| text(&folder.path().join(name));
    for (day, factor) in (1..).zip([1.0, 1.001, 1.002, 1.3, 1.301, 1.302]) {
        let export = text(&rank(folder.path(), day, factor));
        let (commit, date) = (format!("{day:040}"), format!("2026-11-{day:02}"));
        for (store, format) in [("documents", "json"), ("tables", "parquet")] {
            let store = here(store);
            let save = ["baseline", "save", &export, "--store", &store, "--commit", &commit];
            // Only the first says the format: the next are saved as the newest.
            let format = if day == 1 { &["--format", format][..] } else { &[] };
            done(&[&save[..], &["--branch", "main", "--date", &date], format].concat());
        }
    }
    let endings = |store: &str| {
        let files = fs::read_dir(folder.path().join(store).join("default")).unwrap();
        let ending = |file: fs::DirEntry| file.path().extension().unwrap().to_owned();
        files.map(|file| ending(file.unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(endings("documents"), ["json"; 6]);
    assert_eq!(endings("tables"), ["parquet"; 6]);
    let trend = |store: &str| done(&["trend", &here(store), "--format", "json"]);
    assert_eq!(trend("tables"), trend("documents"));
    let latest = |store: &str| {
        done(&["baseline", "show", "latest", "--store", &here(store), "--format", "json"])
    };
    assert_eq!(latest("tables"), latest("documents"));
    let now = text(&rank(folder.path(), 9, 1.31));
    let gate = |store: &str| {
        let run = program::run(&["gate", &now, "--baseline", &here(store), "--format", "json"]);
        run.stdout.replace(&here(store), "")
    };
    assert_eq!(gate("tables"), gate("documents"));
    // One file of the store by its name, and a query over all of them.
    let files = fs::read_dir(folder.path().join("tables/default")).unwrap();
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let run = program::run(&["gate", &now, "--baseline", &text(&files[5])]);
    assert!(run.stdout.contains("+0.6"), "{}{}", run.stdout, run.stderr);
    let frames = files
        .iter()
        .map(|path| ParquetReader::new(fs::File::open(path).unwrap()).finish().unwrap());
    for (day, frame) in (1..).zip(frames) {
        let saved = frame.column("saved").unwrap().str().unwrap().get(0).unwrap().to_owned();
        assert!(saved.starts_with(&format!("2026-11-{day:02}")), "{saved}");
        let measured: f64 =
            frame.column("measured_s").unwrap().f64().unwrap().iter().flatten().sum();
        assert!(measured > 0.0 && frame.column("samples_s").unwrap().list().is_ok());
    }
    // A file that was changed is refused by a gate, and named.
    let mut bytes = fs::read(&files[5]).unwrap();
    // Cells of columns; the metadata follows them.
    let at = bytes.len() / 3;
    bytes[at..at + 256].fill(0x55);
    fs::write(&files[5], bytes).unwrap();
    let run = program::run(&["gate", &now, "--baseline", &here("tables")]);
    let name = files[5].file_name().unwrap().to_str().unwrap();
    assert!(run.code == 3 && run.stderr.contains(name), "{}: {}", run.code, run.stderr);
}
