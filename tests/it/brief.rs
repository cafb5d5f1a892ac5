//! The brief of a run: it fits a screen, claims each microsecond once, and is what the other outputs say.

use std::path::{Path, PathBuf};

use rooflint::analysis::TimePart;
use rooflint::ingest::{self, Input};
use rooflint::model::printable;
use rooflint::report::{Report, Style, written};
use rooflint::session::{Judged, Session};
use rooflint::units::Seconds;
use tempfile::TempDir;

use super::golden::{fixtures, reading};
use super::house::root;
use super::profiles::{DEVICES, collection, read};
use super::program::run;

/// Lines and columns of a screen that a brief fits.
const LINES: usize = 25;
const COLUMNS: usize = 100;

fn text(judged: &Judged<'_>, style: Style) -> String {
    let Judged { analysis, findings, .. } = judged;
    let report = Report { analysis, findings, top: 10, what_if: &[], command: None };
    written(&report, "text", &style).unwrap()
}

/// All that must hold of the brief of any run.
fn hold(judged: &Judged<'_>, label: &str) {
    let totals = &judged.analysis.totals;
    let near = |one: Seconds, two: Seconds| {
        let most = totals.measured.get() * 1e-9;
        assert!((one - two).get().abs() <= most, "{label}: {one:?} is not {two:?}");
    };
    let parts = &totals.parts;
    near(parts.total(), totals.measured);
    near(parts.get(TimePart::Savings), totals.savings);
    near(parts.get(TimePart::Unproven), totals.savings_unproven);
    assert!(TimePart::ALL.iter().all(|part| parts.get(*part) >= Seconds::ZERO), "{label}");
    let shares: f64 = parts.segments().map(|segment| segment.share).sum();
    assert!(totals.measured == Seconds::ZERO || (shares - 1.0).abs() < 1e-9, "{label}: {shares}");

    let brief = text(judged, Style { width: Some(COLUMNS), ..Style::default() });
    // A terminal breaks the one line that is never wrapped: a command to copy.
    let shown = |line: &str| line.chars().count().div_ceil(COLUMNS).max(1);
    assert!(brief.lines().map(shown).sum::<usize>() <= LINES, "{label}:\n{brief}");
    for width in [60, 80, COLUMNS, 140] {
        for ascii in [false, true] {
            let brief = text(judged, Style { width: Some(width), ascii, ..Style::default() });
            let tools =
                ["ncu ", "nvprof ", "python ", "rocprof-compute ", "rooflint ", "torch.profiler."];
            let is_command = |line: &&str| tools.iter().any(|tool| line.starts_with(tool));
            let mut wrapped = brief.lines().filter(|line| !is_command(line));
            let is_within = wrapped.all(|line| line.chars().count() <= width);
            // Spelled out, the mark of a shortened name is wider.
            assert!(ascii || is_within, "{label}:\n{brief}");
            assert!(!ascii || brief.is_ascii(), "{label}:\n{brief}");
        }
    }
    let full = text(judged, Style { full: true, ..Style::default() });
    let piped = text(judged, Style::default());
    // What is below it is not looked for elsewhere.
    let head = piped.split("\nMore ").next().unwrap().replace("(--full ", "(\"Input\" below ");
    assert!(
        full.starts_with(&head),
        "{label}: all sections begin with the brief:\n{full}\n{piped}"
    );

    // A next step for which the brief has no room is below it.
    let about_input = ["missing-metrics", "not-enough-data", "device-mismatch"];
    for finding in &judged.findings.run {
        let next = finding.next.as_deref().filter(|_| !about_input.contains(&&*finding.rule));
        let is_there = next.is_none_or(|next| full.contains(&*printable(next)));
        assert!(is_there, "{label}: {next:?} of {} is nowhere:\n{full}", finding.rule);
    }

    let listed: f64 = listed(judged).iter().sum();
    assert!(listed <= totals.savings.get() * (1.0 + 1e-9), "{label}: {listed} s are listed");
}

/// Savings of the kernels on the list of a brief, in seconds.
fn listed(judged: &Judged<'_>) -> Vec<f64> {
    let Judged { analysis, findings, .. } = judged;
    let report = Report { analysis, findings, top: 10, what_if: &[], command: None };
    let document = rooflint::report::Reported::document(&report, &Style::default());
    let tables = document.tables();
    let Some((_, table)) = tables.iter().find(|(_, table)| table.key == "brief") else {
        return Vec::new();
    };
    let at = table.columns.iter().position(|column| column.key == "savings_s").unwrap();
    table.rows.iter().filter_map(|row| row.cells[at].value()).collect()
}

/// The same folder under a path as long as a line, as those of many runs are: a screen has to hold all the same.
struct Far {
    link: PathBuf,
    _folder: TempDir,
}

impl Far {
    fn from(folder: &Path) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let deep = ["node"; 12].iter().fold(temporary.path().to_owned(), |at, name| at.join(name));
        std::fs::create_dir_all(&deep).unwrap();
        // Elsewhere making a link is a privilege.
        let link = if cfg!(unix) { deep.join("exports") } else { folder.to_owned() };
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder, &link).unwrap();
        Self { link, _folder: temporary }
    }
}

#[test]
fn the_brief_of_every_fixture_fits_a_screen_and_adds_up() {
    let far = Far::from(&root().join("fixtures"));
    let mut with_savings = 0;
    for (path, device) in fixtures() {
        let there = far.link.join(path.strip_prefix(root().join("fixtures")).unwrap());
        let profile = ingest::read(&[Input::Named(there)], &reading(&path)).unwrap();
        let Ok(judged) = Session::default().on(device).judge(&profile) else { continue };
        hold(&judged, &path.display().to_string());
        with_savings += usize::from(!listed(&judged).is_empty());
    }
    assert!(with_savings > 10, "only {with_savings} fixtures list savings");
}

#[test]
fn the_brief_of_every_real_export_fits_a_screen_and_adds_up() {
    let Some(collection) = collection() else { return };
    let far = Far::from(&collection.canonicalize().unwrap());
    let mut held = 0;
    for folder in ["ncu", "nsys", "nvprof", "pyprof"] {
        for entry in std::fs::read_dir(far.link.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let Ok(profile) = read(&path) else { continue };
            let file = path.file_name().unwrap().to_string_lossy().into_owned();
            let whose = file.trim_start_matches("review-");
            let device = DEVICES.iter().find(|(start, _)| whose.starts_with(start));
            // As the export is, too: a device that is not known is a part of many first runs.
            for device in [None, device.map(|(_, device)| (*device).to_owned())] {
                let Ok(judged) = Session::default().on(device).judge(&profile) else { continue };
                hold(&judged, &file);
                held += 1;
            }
        }
    }
    assert!(held > 60, "only {held} reports");
}

/// Naming the device would not help: the run has to be profiled again.
#[test]
fn what_an_untimed_run_on_an_unknown_device_lacks_is_time_first() {
    let row = |metric: &str, unit: &str, value: &str| {
        format!("0,7,app,k,1,7,9.9,Command line profiler metrics,{metric},{unit},{value}\n")
    };
    let list = [
        "ID,Process ID,Process Name,Kernel Name,Context,Stream,CC,Section Name,Metric Name,Metric Unit,Metric Value\n",
        &row("dram__bytes_read.sum", "byte", "1000000000"),
        &row("dram__bytes_write.sum", "byte", "100000000"),
        &row("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst", "100000000000"),
    ];
    let missing = |text: &str| {
        let profile = ingest::read_text("list.csv", text, &ingest::Options::default()).unwrap();
        let session = Session::default();
        let brief = self::text(&session.judge(&profile).unwrap(), Style::default());
        brief.lines().find(|line| line.starts_with("Missing")).unwrap().to_owned()
    };
    let untimed = list.concat();
    let found = missing(&untimed);
    assert!(
        found.starts_with("Missing      time, ")
            && found.ends_with(" and the GPU; this collects it:"),
        "{found}"
    );
    let timed = untimed + &row("gpu__time_duration.sum", "ns", "1000000");
    assert!(missing(&timed).starts_with("Missing      the GPU: "), "{}", missing(&timed));
}

/// 3 GB in 1 ms are 90% of 3.35 TB/s, and real code reaches 88%: what was not counted can only raise what is expected. At 87%
/// and 60% it may be what takes the rest of the time.
#[test]
fn a_kernel_that_is_as_fast_as_real_code_has_nothing_unproven() {
    let of = |read: f64| {
        let row = |metric: &str, unit: &str, value: f64| {
            format!("0,7,app,k,1,7,9.0,Command line profiler metrics,{metric},{unit},{value}\n")
        };
        let list = [
            "ID,Process ID,Process Name,Kernel Name,Context,Stream,CC,Section Name,Metric Name,Metric Unit,Metric Value\n",
            &row("dram__bytes_read.sum", "byte", read),
            &row("dram__bytes_write.sum", "byte", 0.0),
            &row("gpu__time_duration.sum", "ns", 1e6),
        ];
        let profile =
            ingest::read_text("list.csv", &list.concat(), &ingest::Options::default()).unwrap();
        let session = Session::default().on(Some("H100 SXM5 80GB".to_owned()));
        let totals = session.judge(&profile).unwrap().analysis.totals;
        [TimePart::Unproven, TimePart::Gap].map(|part| totals.parts.get(part) > Seconds::ZERO)
    };
    assert_eq!(of(3.0e9), [false, true]);
    assert_eq!(of(2.9e9), [true, false]);
    assert_eq!(of(2.0e9), [true, false]);
}

/// Who wrote a waiver or a group counts on it: what has no effect is said at the beginning.
#[test]
fn waivers_and_groups_without_effect_are_said() {
    let folder = TempDir::new().unwrap();
    let config = folder.path().join("rooflint.toml");
    let text = "[[waiver]]\nkernel = \"softmax*\"\nreason = \"known\"\nexpires = 2025-01-01\n\
                [[waiver]]\nkernel = \"softmax_cross_entropy_rows\"\nreason = \"known\"\n\
                [[group]]\nname = \"mine\"\nkernel = \"no_such_*\"\n";
    std::fs::write(&config, text).unwrap();
    let config = config.display().to_string();
    let demo = "fixtures/demo/h100-training-step.csv";
    for more in [&[][..], &["--full"]] {
        let found = run(&[&[demo, "--config", &config], more].concat());
        assert_eq!(found.code, 0, "{}", found.stderr);
        for said in [
            "the waiver for \"softmax*\" expired on 2025-01-01: known",
            "the waiver for \"softmax_cross_entropy_rows\" matches no kernel; remove it, or correct the name (did you mean \
             \"softmax_cross_entropy_rows*\", which matches softmax_cross_entropy_rows<float>?)",
            "group \"mine\" matches no kernel",
        ] {
            assert!(found.stdout.contains(said), "{said}: {}", found.stdout);
        }
    }
}
