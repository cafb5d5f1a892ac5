//! What was written is read again: launch tables as exports, reports as sides of a comparison.

use std::path::Path;

use rooflint::analysis::{Analysis, Kernel};
use rooflint::compare::Run;
use rooflint::ingest::{self, Input};
use rooflint::model::Profile;
use rooflint::report::{self, Report, Style};
use rooflint::session::{Judged, Session};
use rooflint::table::Table;

use crate::golden;

fn read(path: &Path, options: &ingest::Options) -> Result<Profile, String> {
    ingest::read(&[Input::Named(path.to_owned())], options).map_err(|error| error.to_string())
}

fn table(text: &str) -> Profile {
    let input = Input::text("launches", text);
    ingest::read(&[input], &ingest::Options { strict: true, ..ingest::Options::default() }).unwrap()
}

fn analyzed(profile: &Profile, device: Option<&String>) -> Result<Analysis, String> {
    Session::default().on(device.cloned()).analyze(profile).map_err(|error| error.to_string())
}

/// All that a table keeps of a kernel.
fn kept(kernel: &Kernel) -> impl PartialEq + std::fmt::Debug {
    (
        (kernel.full_name.to_string(), kernel.operator.as_deref().map(str::to_owned)),
        (*kernel.shape, kernel.launches, kernel.device, kernel.place.clone()),
        (kernel.state, kernel.confidence, kernel.reason.to_string()),
        [kernel.measured, kernel.modeled, kernel.savings, kernel.savings_high],
        (kernel.bytes, kernel.flops(), kernel.integer_operations(), kernel.provenance),
        [kernel.roofline_time, kernel.roofline_time_high, kernel.hierarchical(), kernel.structural],
        (kernel.headroom(), kernel.headroom_low(), kernel.limiter),
        kernel.averages.clone(),
    )
}

/// Compares the analyses of an export, on each of these devices, with those of its launch table as CSV and JSON.
fn goes_round(shown: &str, profile: &Profile, devices: &[Option<&String>]) {
    let before: Vec<_> = devices.iter().map(|device| analyzed(profile, *device)).collect();
    let written = Table::of(profile);
    for (form, text) in [("CSV", written.csv()), ("JSON", written.json())] {
        let again = table(&text);
        assert_eq!(again.launches.len(), profile.launches.len(), "{shown} as {form}");
        for (before, device) in before.iter().zip(devices) {
            is_kept(before, &analyzed(&again, *device), &format!("{shown} as {form}"));
        }
        // Written once more it is the same, but for the paths.
        let columns = |table: &Table| -> Vec<String> {
            table.columns.iter().map(|(name, _)| name.clone()).collect()
        };
        assert_eq!(columns(&Table::of(&again)), columns(&written), "{shown} as {form}");
    }
}

fn is_kept(before: &Result<Analysis, String>, after: &Result<Analysis, String>, shown: &str) {
    match (before, after) {
        (Ok(before), Ok(after)) => {
            let names = |analysis: &Analysis| -> Vec<String> {
                analysis.devices.iter().map(|one| one.name().to_owned()).collect()
            };
            assert_eq!(names(before), names(after), "{shown}");
            assert_eq!(before.ceilings, after.ceilings, "{shown}");
            assert_eq!(before.kernels.len(), after.kernels.len(), "{shown}");
            for (one, two) in before.kernels.iter().zip(&after.kernels) {
                assert_eq!(format!("{:?}", kept(one)), format!("{:?}", kept(two)), "{shown}");
            }
        }
        (Err(_), Err(_)) => {}
        (before, after) => {
            panic!("{shown}: {:?} and {:?}", before.as_ref().err(), after.as_ref().err())
        }
    }
}

#[test]
fn the_launch_tables_of_fixtures_are_analysed_like_the_exports() {
    for (path, device) in golden::fixtures() {
        let profile = read(&path, &golden::reading(&path)).unwrap();
        goes_round(&path.display().to_string(), &profile, &[device.as_ref()]);
    }
}

#[test]
fn the_launch_tables_of_real_exports_are_analysed_like_the_exports() {
    let Some(folder) = crate::profiles::collection() else { return };
    let mut read_files = 0;
    for kind in ["ncu", "pyprof"] {
        let mut files: Vec<_> =
            std::fs::read_dir(folder.join(kind)).unwrap().map(|one| one.unwrap().path()).collect();
        files.sort();
        for path in files {
            let is_small = path.metadata().is_ok_and(|about| about.len() < 20_000_000);
            if !path.is_file() || !is_small {
                continue;
            }
            let Ok(profile) = read(&path, &ingest::Options::default()) else { continue };
            let any = "H100 SXM5 80GB".to_owned();
            goes_round(&path.display().to_string(), &profile, &[None, Some(&any)]);
            read_files += 1;
        }
    }
    println!("{read_files} real exports went round");
    assert!(read_files > 30, "{read_files}");
}

#[test]
fn the_exports_in_one_table_stay_apart() {
    let fixture = |name: &str| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        Input::Named(root.join(name))
    };
    let inputs = [
        fixture("ncu_wide/h200-worked-cases.csv"),
        fixture("pyprof/v100-apex-transformer-12col.csv"),
    ];
    let profile = ingest::read(&inputs, &ingest::Options::default()).unwrap();
    let again = table(&Table::of(&profile).csv());
    let formats: Vec<&str> = again.sources.iter().map(|source| source.format.as_str()).collect();
    assert_eq!(formats, ["ncu-wide", "pyprof"]);
    for (before, after) in profile.sources.iter().zip(&again.sources) {
        assert_eq!(before.launches, after.launches);
        assert_eq!(after.path, format!("launches ({})", before.path));
    }
    let sources = |profile: &Profile| profile.iter().map(|one| one.head.source).collect::<Vec<_>>();
    assert_eq!(sources(&profile), sources(&again));
}

#[test]
fn what_is_wrong_in_a_table_is_counted_and_located() {
    let header = "source,process,id,kernel,operator,device,device_ordinal,stream,launches,grid_x,grid_y,\
        grid_z,block_x,block_y,block_z,blocks,threads_per_block,duration_s,duration_s_origin,dram_bytes,mine\n";
    let rows = [
        "a.csv,0,0,k,,H100,,,1,2,1,1,64,1,1,2,64,1e-6,measured,4096,x",
        "a.csv,0,1,k,,H100,,,1.0,2.0,1,1,64,1,1,2,64,fast,measured,,x",
        "a.csv,0,2,k,,H100,,,0,2,1,1,64,1,1,2,64,1e-6,measured,,x",
        "a.csv,0,3,k,,H100,,,1,-2,1,1,64,1,1,2,64,1e-6,guessed,-1,x",
        "a.csv,0,4,k,,H100,,,1,2",
        "a.csv,0,5,k,,H100,,,1,2,1,1,64,1,1,2,64,inf,measured,,x",
    ];
    let input = Input::text("t.csv", &format!("{header}{}\n", rows.join("\n")));
    let profile = ingest::read(&[input], &ingest::Options::default()).unwrap();
    let times: Vec<Option<f64>> =
        profile.iter().map(|one| one.duration().map(|(time, _)| time.get())).collect();
    assert_eq!(times, [Some(1e-6), None, Some(1e-6), None]);
    let source = &profile.sources[0];
    let told: Vec<String> = source
        .skips
        .first
        .iter()
        .map(|one| format!("{}:{}: {}", one.line, one.column.as_deref().unwrap_or(""), one.reason))
        .collect();
    assert_eq!(
        told,
        [
            "3:duration_s: not a number",
            "4:launches: a row needs at least one launch",
            "5:grid_x: not a count",
            "5:duration_s_origin: unknown origin of a value",
            "5:dram_bytes: negative",
            "6:: 10 fields instead of 21: cut off or no table row",
            "7:duration_s: not a number",
        ]
    );
    assert_eq!(
        (source.rows, source.clues.as_slice()),
        (6, &["columns left alone: mine".to_owned()][..])
    );
    for (text, told) in [
        (
            "{\"metadata\": {\"schema\": \"rooflint/launches/2\"}, \"launches\": []}",
            "not \"rooflint/launches/1\"",
        ),
        (
            "{\"metadata\": {\"schema\": \"rooflint/launches/1\"}, \"launches\": [",
            ":1: damaged launch table: line 1",
        ),
        (
            "{\"metadata\": {\"schema\": \"rooflint/launches/1\"}, \"launches\": []}",
            "holds no kernel launch",
        ),
    ] {
        let input = Input::text("t.json", text);
        let error = ingest::read(&[input], &ingest::Options::default()).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}

/// With and without first launches that are left out: what is refused as damaged is never what was written.
#[test]
fn the_runs_of_fixtures_are_read_back_as_they_were_saved() {
    let mut read_back = 0;
    for (path, device) in golden::fixtures() {
        let profile = read(&path, &golden::reading(&path)).unwrap();
        let Ok(judged) = Session::default().on(device).judge(&profile) else { continue };
        for run in [judged.run(0), judged.run(2)] {
            assert_eq!(Run::from_json(&run.json()), Ok(run.clone()), "{}", path.display());
            assert_eq!(Run::from_table(&run.table()), Ok(run), "{}", path.display());
            read_back += 1;
        }
    }
    assert!(read_back > 100, "{read_back}");
}

#[test]
fn the_runs_of_real_exports_are_read_back_as_they_were_saved() {
    let Some(folder) = crate::profiles::collection() else { return };
    let mut read_back = 0;
    for kind in ["ncu", "pyprof"] {
        for path in std::fs::read_dir(folder.join(kind)).unwrap().map(|one| one.unwrap().path()) {
            let is_small = path.metadata().is_ok_and(|about| about.len() < 5_000_000);
            if !path.is_file() || !is_small {
                continue;
            }
            let Ok(profile) = read(&path, &ingest::Options::default()) else { continue };
            let Ok(judged) = Session::default().judge(&profile) else { continue };
            let run = judged.run(0);
            assert_eq!(Run::from_json(&run.json()), Ok(run), "{}", path.display());
            read_back += 1;
        }
    }
    assert!(read_back > 20, "{read_back}");
}

#[test]
fn a_report_is_the_run_it_was_made_from_without_its_samples() {
    for (path, device) in golden::fixtures() {
        let shown = path.display();
        let profile = read(&path, &golden::reading(&path)).unwrap();
        let Ok(judged) = Session::default().on(device).judge(&profile) else { continue };
        let Judged { analysis, findings, .. } = judged;
        // Times of instrumented kernels are in no sum of a report.
        if analysis.totals.instrumented.get() > 0.0 {
            continue;
        }
        let report = Report {
            analysis: &analysis,
            findings: &findings,
            top: 10,
            what_if: &[],
            command: None,
        };
        let text = report::written(&report, "json", &Style::default()).unwrap();
        let saved = Run::from_document(&text).unwrap().unwrap();
        let run = Run::of(&profile, &analysis, &findings, 0);
        assert_eq!((&saved.label, &saved.files), (&run.label, &run.files), "{shown}");
        let devices = |run: &Run| -> Vec<_> {
            let devices = run.devices.iter();
            devices.map(|one| (one.name.clone(), one.known, one.dram_bytes_per_s)).collect()
        };
        assert_eq!((devices(&saved), &saved.ceilings), (devices(&run), &run.ceilings), "{shown}");
        assert_eq!(
            (saved.launches, saved.kernels.len()),
            (run.launches, run.kernels.len()),
            "{shown}"
        );
        assert!((saved.measured_s - run.measured_s).abs() <= run.measured_s * 1e-12, "{shown}");
        let by_name = |run: &Run| {
            let mut all: Vec<_> = run
                .kernels
                .iter()
                .map(|one| {
                    let near = |value: f64| format!("{value:.9e}");
                    let names = (one.full_name.clone(), one.operator.clone(), one.category.clone());
                    let times = (
                        near(one.measured_s.get()),
                        one.roofline_s.map(|time| near(time.get())),
                        one.headroom().map(|headroom| near(headroom.get())),
                    );
                    let work =
                        (one.bytes, one.flops, one.fp64_flops, one.launches, one.findings.len());
                    format!("{names:?} {:?} {times:?} {work:?}", (one.grid, one.block, one.device))
                })
                .collect();
            all.sort();
            all
        };
        assert_eq!(by_name(&saved), by_name(&run), "{shown}");
    }
}
