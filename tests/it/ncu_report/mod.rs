//! Reports of Nsight Compute against NVIDIA's own reader, the Python package `ncu-report`: every launch, every value,
//! name, range, device attribute and rule result.
//!
//! `ROOFLINT_PYTHON` names a Python that has the package; `.ci/run` installs it where it can. Without one these tests
//! say that they were skipped.

use std::path::{Path, PathBuf};
use std::process::Command;

use rooflint::ingest::{self, Input, Options};
use rooflint::model::{DeviceHint, Launch, Profile, Quantity};

use crate::profiles;

/// A Python that can import the package.
fn python() -> Option<String> {
    let python = std::env::var("ROOFLINT_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = Command::new(&python).args(["-c", "import ncu_report"]).output();
    let has_package = found.is_ok_and(|found| found.status.success());
    if !has_package {
        println!("SKIPPED: {python} has no package ncu-report");
    }
    has_package.then_some(python)
}

fn read(paths: &[PathBuf]) -> Profile {
    let inputs: Vec<Input> = paths.iter().cloned().map(Input::Named).collect();
    ingest::read(&inputs, &Options::default()).unwrap()
}

/// The reports: the fixture, and those of the collection.
fn reports() -> Vec<PathBuf> {
    let fixture = "fixtures/ncu_rep/h100-training-step.ncu-rep";
    let mut all = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture)];
    let folder = profiles::collection().map(|collection| collection.join("ncu-rep"));
    let found = folder.into_iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let found = found.map(|entry| entry.unwrap().path());
    all.extend(found.filter(|path| path.extension().is_some_and(|end| end == "ncu-rep")));
    all
}

/// The pages that NVIDIA's reader prints of a report: metrics, and results of rules.
fn pages(python: &str, report: &Path, folder: &Path, process: u32) -> [PathBuf; 2] {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/ncu_report/pages.py");
    let done = Command::new(python)
        .args([script.as_path(), report, folder])
        .arg(process.to_string())
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    ["raw.csv", "rules.csv"].map(|page| folder.join(page))
}

/// A percentage to which NVIDIA's reader gives the unit of sectors.
const NO_SECTOR: &str = "lts__average_gcomp_input_sector_success_rate.pct";

/// What of a launch differs, and how many cells were compared.
fn compare(
    (us, them): (&Profile, &Profile),
    row: usize,
    is_odd: bool,
    wrong: &mut Vec<String>,
) -> usize {
    let (ours, theirs) = (&us.launch(row), &them.launch(row));
    let mut cells = 0;
    let mut is = |what: &str, one: String, two: String| {
        cells += 1;
        if one != two {
            wrong.push(format!("launch {}: {what}: {one}, NVIDIA {two}", ours.head.id));
        }
    };
    let (one, two) = (ours.head, theirs.head);
    is("id", one.id.to_string(), two.id.to_string());
    is("kernel", ours.kernel().to_owned(), theirs.kernel().to_owned());
    let ranges =
        |profile: &Profile, launch: &Launch<'_>| profile.names.get(launch.head.operator).to_owned();
    is("ranges", ranges(us, ours), ranges(them, theirs));
    // The package gives shapes as metrics only, which the fixture does not have.
    if two.shape.blocks.is_some() {
        is("stream", format!("{:?}", one.stream), format!("{:?}", two.stream));
        is("blocks", format!("{:?}", one.shape.blocks), format!("{:?}", two.shape.blocks));
    }
    // Reports of 2020.1 have no metric of the sides.
    if two.shape.grid.is_some() {
        is("grid", format!("{:?}", one.shape.grid), format!("{:?}", two.shape.grid));
        is("block", format!("{:?}", one.shape.block), format!("{:?}", two.shape.block));
    }
    for quantity in Quantity::all() {
        if is_odd && quantity.column().starts_with("compression_") {
            continue;
        }
        let shown = |launch: &Launch<'_>| {
            let found = launch.get(quantity);
            found.map_or_else(String::new, |(value, from)| format!("{value:e} {}", from.formula))
        };
        is(&format!("{quantity:?}"), shown(ours), shown(theirs));
    }
    cells
}

#[test]
fn reports_are_read_as_by_nvidias_own_reader() {
    let Some(python) = python() else { return };
    let mut wrong = Vec::new();
    for report in reports() {
        let name = report.file_name().unwrap().to_string_lossy().into_owned();
        let folder = tempfile::tempdir().unwrap();
        let ours = read(std::slice::from_ref(&report));
        let process = ours.launch(0).head.process;
        let [raw, rules] = pages(&python, &report, folder.path(), process);
        let (mut theirs, of_rules) =
            (read(std::slice::from_ref(&raw)), read(std::slice::from_ref(&rules)));
        let mut found = Vec::new();
        let counts = [&ours, &theirs, &of_rules].map(|profile| profile.launches.len());
        assert_eq!(counts, [counts[0]; 3], "{name}");
        // NVIDIA says "sector" of a percentage on some chips: its column is left out there.
        let skips = &mut theirs.sources[0].skips;
        let is_odd =
            skips.first.first().is_some_and(|one| one.column.as_deref() == Some(NO_SECTOR));
        if is_odd {
            (skips.count, skips.first) = (skips.count - 1, Vec::new());
        }
        let skips = [&ours, &theirs, &of_rules].map(|profile| profile.sources[0].skips.count);
        assert_eq!(skips, [0; 3], "{name}: {:?}", theirs.sources[0].skips.first);
        let mut cells = 0;
        for row in 0..counts[0] {
            cells += compare((&ours, &theirs), row, is_odd, &mut found);
            let device = |profile: &Profile| {
                let hint = profile.devices[profile.launch(row).head.device.position()].clone();
                DeviceHint { observed_memory_clock: None, ..hint }
            };
            cells += 1;
            if device(&ours) != device(&theirs) {
                found.push(format!("{:?}, NVIDIA {:?}", device(&ours), device(&theirs)));
            }
            let advice = |profile: &Profile| -> Vec<String> {
                let name = |id| profile.names.get(id).to_owned();
                let launch = profile.launch(row);
                let all = launch.advice().iter().map(|one| {
                    format!(
                        "{} {:?} {} {:?}",
                        name(one.rule),
                        one.kind,
                        name(one.about),
                        one.speedup
                    )
                });
                all.collect()
            };
            let (one, two) = (advice(&ours), advice(&of_rules));
            cells += two.len();
            if one != two {
                found.push(format!("launch {row}: rules: {one:#?}, NVIDIA {two:#?}"));
            }
        }
        // What `inspect` lists: each metric with the number of launches that have it.
        let columns = [&ours, &theirs].map(|profile| {
            let all = profile.sources[0].columns.iter();
            all.filter(|(name, _)| *name != NO_SECTOR).collect::<Vec<_>>()
        });
        cells += columns[1].len();
        if columns[0] != columns[1] {
            found.push(format!("metrics: {:?}, NVIDIA {:?}", columns[0], columns[1]));
        }
        println!("{name}: {} launches, {cells} cells, {} differ", counts[0], found.len());
        wrong.extend(found.into_iter().map(|what| format!("{name}: {what}")));

        // A page beside its report, in either order, is the same launches.
        let has_shapes = theirs.launch(0).head.shape.blocks.is_some();
        for inputs in [[report.clone(), raw.clone()], [raw, report]] {
            if !has_shapes {
                continue;
            }
            let both = read(&inputs);
            assert_eq!(both.launches.len(), counts[0], "{name}: {:?}", both.notes);
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
