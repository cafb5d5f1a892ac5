//! The same launches under another name or in another order: counted once, and named.

use std::path::{Path, PathBuf};

use rooflint::analysis;
use rooflint::catalog::Catalog;
use rooflint::ingest::{self, DecimalSign, Input, Options};
use rooflint::model::{Profile, Quantity};
use rooflint::table::Table;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

fn read(paths: &[PathBuf]) -> Profile {
    let inputs: Vec<Input> = paths.iter().cloned().map(Input::Named).collect();
    ingest::read(&inputs, &Options::default()).unwrap()
}

/// Kernel, number and values of every launch, in an order of their own.
fn launches(profile: &Profile) -> Vec<String> {
    let mut all: Vec<String> = profile
        .iter()
        .map(|one| {
            let values = Quantity::all().filter_map(|quantity| {
                Some(format!("{}={:e}", quantity.column(), one.value(quantity)?))
            });
            let head = format!(
                "{} {} {} {:?}",
                one.head.process,
                one.head.id,
                one.kernel(),
                one.head.shape
            );
            format!("{head} {}", values.collect::<Vec<_>>().join(" "))
        })
        .collect();
    all.sort();
    all
}

fn total(profile: &Profile, quantity: Quantity) -> f64 {
    profile.iter().filter_map(|launch| launch.value(quantity)).sum()
}

/// An export, a hard link to it, its archive and its launch table in three forms: 18 launches, not 108.
#[test]
fn every_form_of_a_run_is_one_run() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let export = fixture("demo/h100-training-step.csv");
    let alone = read(std::slice::from_ref(&export));
    let bytes = std::fs::read(&export).unwrap();
    std::fs::write(at("a.csv"), &bytes).unwrap();
    std::fs::hard_link(at("a.csv"), at("b.csv")).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, &bytes).unwrap();
    std::fs::write(at("c.csv.gz"), gzip.finish().unwrap()).unwrap();
    std::fs::write(at("d.csv"), Table::of(&alone).csv()).unwrap();
    std::fs::write(at("e.json"), Table::of(&alone).json()).unwrap();
    let names = ["a.csv", "b.csv", "c.csv.gz", "d.csv", "e.json"];
    let all = read(&names.map(at));
    assert_eq!(all.launches.len(), alone.launches.len());
    assert_eq!(launches(&all), launches(&alone));
    assert_eq!(all.notes.len(), names.len() - 1, "{:?}", all.notes);
    let first = at("a.csv").display().to_string();
    for (note, name) in all.notes.iter().zip(&names[1..]) {
        let says =
            format!("{} repeats {first}: {} launches (", at(name).display(), alone.launches.len());
        assert!(note.contains(&says), "{note}");
    }
    // In another order the table is the first.
    let other = read(&["e.json", "d.csv", "a.csv"].map(at));
    assert_eq!(other.launches.len(), alone.launches.len());
}

/// The counters of a run were taken apart; the table has both.
#[test]
fn the_table_of_joined_runs_is_no_further_run() {
    let export = fixture("ncu_long/v100-two-runs-in-one-file.csv");
    let joined = read(std::slice::from_ref(&export));
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("t.csv");
    std::fs::write(&table, Table::of(&joined).csv()).unwrap();
    for inputs in [[export.clone(), table.clone()], [table, export]] {
        let both = read(&inputs);
        assert_eq!(both.launches.len(), joined.launches.len(), "{:?}", both.notes);
        assert_eq!(total(&both, Quantity::Duration), total(&joined, Quantity::Duration));
    }
}

/// Rows sorted by their text from the metric on, and from the back: no two of a launch stand together.
#[test]
fn rows_in_any_order_give_the_same_launches() {
    for name in [
        "ncu_long/v100-two-runs-in-one-file.csv",
        "ncu_long/v100-nersc-cycles-over-rate.csv",
        "ncu_long/v100-sass-counters-only.csv",
    ] {
        let text = std::fs::read_to_string(fixture(name)).unwrap();
        let header = text.lines().position(|line| line.contains("Metric Value")).unwrap();
        let lines: Vec<&str> = text.lines().skip(header).collect();
        let metric = |line: &&str| line.split("\",\"").skip(9).collect::<Vec<_>>().join(",");
        let mut sorted: Vec<&str> = lines[1..].to_vec();
        sorted.sort_by_key(metric);
        let expected = launches(&read(&[fixture(name)]));
        for rows in [sorted.clone(), sorted.into_iter().rev().collect()] {
            let text = format!("{}\n{}\n", lines[0], rows.join("\n"));
            let found = ingest::read_text("sorted.csv", text.leak(), &Options::default()).unwrap();
            assert_eq!(launches(&found), expected, "{name}");
        }
    }
}

const HEADER: &str = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\
                      \"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"gpu__time_duration.sum\",";

fn row(id: u32, values: &str) -> String {
    format!(
        "\"{id}\",\"100\",\"app\",\"h\",\"k\",\"1\",\"7\",\"(256, 1, 1)\",\"(1024, 1, 1)\",\"0\",\"9.0\",{values}\n"
    )
}

const BLANK: &str = "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",";

/// Six launches that read 200 MB each: 1.2 GB, whichever column has them.
#[test]
fn a_second_header_with_another_order_of_columns_is_a_new_map() {
    let (read, l2) = ("\"dram__bytes_read.sum\"", "\"lts__t_bytes.sum\"");
    let units = format!("{BLANK}\"ns\",\"byte\",\"byte\"\n");
    let one: String = (0..3).map(|id| row(id, "\"100000\",\"200000000\",\"250000000\"")).collect();
    let two: String = (3..6).map(|id| row(id, "\"100000\",\"250000000\",\"200000000\"")).collect();
    let text = format!("{HEADER}{read},{l2}\n{units}{one}{HEADER}{l2},{read}\n{units}{two}");
    let profile = ingest::read_text("run.csv", text.leak(), &Options::default()).unwrap();
    assert_eq!(total(&profile, Quantity::DramReadBytes), 1.2e9);
    assert_eq!(total(&profile, Quantity::L2Bytes), 1.5e9);
}

/// 100.123 µs a launch, not 100.123 ms: a time of 100,123 µs would be printed in ms.
#[test]
fn a_decimal_comma_with_three_decimals_is_one() {
    let text = |time: &str, unit: &str| {
        let rows: String = (0..3).map(|id| row(id, &format!("\"{time}\",\"200,456\""))).collect();
        let text = format!("{HEADER}\"dram__bytes_read.sum\"\n{BLANK}\"{unit}\",\"Mbyte\"\n{rows}");
        &*text.leak()
    };
    let read = |text, decimal| {
        let options = Options { decimal, ..Options::default() };
        ingest::read_text("run.csv", text, &options)
    };
    let profile = read(text("100,123", "us"), None).unwrap();
    assert_eq!(profile.launch(0).value(Quantity::Duration), Some(100.123 * 1e-6));
    assert_eq!(profile.launch(0).value(Quantity::DramReadBytes), Some(200.456 * 1e6));
    assert_eq!(
        profile.notes,
        [
            "run.csv: commas in numbers are read as those of decimals, because \"100,123\" has a unit that \
          keeps numbers below 1000; --decimal-sign point changes it"
        ]
    );
    let profile = read(text("100,123", "us"), Some(DecimalSign::Point)).unwrap();
    assert_eq!(profile.launch(0).value(Quantity::Duration), Some(100_123.0 * 1e-6));
    assert!(profile.notes.is_empty(), "{:?}", profile.notes);
    // Whole nanoseconds beside megabytes that cannot be whole thousands.
    let error = read(text("100,123", "ns"), None).unwrap_err();
    assert!(
        error.to_string().contains("may be of decimals or of thousands: of decimals, because"),
        "{error}"
    );
    assert!(error.next_step().unwrap().starts_with("add --decimal-sign comma"), "{error}");
}

/// Twice in one file is once; with other values it is another run.
#[test]
fn repeated_rows_are_counted_once_and_other_values_are_another_run() {
    let text = |second: &str| {
        let rows = format!("{}{}", row(0, "\"5000\""), row(0, &format!("\"{second}\"")));
        format!("{}\n{BLANK}\"ns\"\n{rows}", HEADER.trim_end_matches(',')).leak()
    };
    let read = |second| ingest::read_text("run.csv", text(second), &Options::default()).unwrap();
    let same = read("5000");
    assert_eq!(same.launches.len(), 1);
    assert!(
        same.notes[0].starts_with("run.csv: 1 launch is repeated in this file"),
        "{:?}",
        same.notes
    );
    let other = read("5001");
    assert_eq!(other.launches.len(), 2);
    assert!(other.notes[0].contains("counted as another run"), "{:?}", other.notes);
}

/// Three launches as a raw page: 2464, 45,678 and 1,234,567 ns.
fn raw_page() -> String {
    let row = |id, kernel, time, read| {
        format!(
            "\"{id}\",\"100\",\"app\",\"h\",\"{kernel}\",\"1\",\"7\",\"(256, 1, 1)\",\"(1024, 1, 1)\",\"0\",\"9.0\",\"{time}\",\"{read}\",\"58.426\",\"1833807000\"\n"
        )
    };
    let metrics = "\"dram__throughput.avg.pct_of_peak_sustained_elapsed\",\"sm__warps_active.avg.pct_of_peak_sustained_active\",\"sm__cycles_elapsed.avg.per_second\"";
    let units = "\"ns\",\"%\",\"%\",\"hz\"";
    format!(
        "{HEADER}{metrics}\n{BLANK}{units}\n{}{}{}",
        row(0, "a", 2_464, "12.3456"),
        row(1, "b", 45_678, "0.0042"),
        row(2, "a", 1_234_567, "71.5049")
    )
}

/// The same as a details page: two decimals, an SM clock of another pass, a kernel's registers.
fn details_page(with_times: bool) -> String {
    let mut text = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n".to_owned();
    for (id, kernel, unit, time, throughput) in [
        (0, "a", "us", "2.46", "12.35"),
        (1, "b", "us", "45.68", "0.00"),
        (2, "a", "ms", "1.23", "71.50"),
    ] {
        const SPEED: &str = "GPU Speed Of Light Throughput";
        for (section, name, unit, value) in [
            (SPEED, "Duration", unit, time),
            (SPEED, "DRAM Throughput", "%", throughput),
            (SPEED, "SM Frequency", "Ghz", "1.96"),
            ("Occupancy", "Achieved Occupancy", "%", "58.43"),
            ("Launch Statistics", "Registers Per Thread", "register/thread", "40"),
        ] {
            if with_times || name != "Duration" {
                text += &format!(
                    "\"{id}\",\"100\",\"app\",\"h\",\"{kernel}\",\"1\",\"7\",\"(256, 1, 1)\",\"(1024, 1, 1)\",\"0\",\"9.0\",\"{section}\",\"{name}\",\"{unit}\",\"{value}\"\n"
                );
            }
        }
    }
    text
}

/// In either order the raw page's figures stay, and the details page adds what only it has.
#[test]
fn a_details_page_beside_the_raw_page_of_its_run_is_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let (raw, details) = (folder.path().join("raw.csv"), folder.path().join("details.csv"));
    std::fs::write(&raw, raw_page()).unwrap();
    for with_times in [true, false] {
        std::fs::write(&details, details_page(with_times)).unwrap();
        for inputs in [[raw.clone(), details.clone()], [details.clone(), raw.clone()]] {
            let both = read(&inputs);
            assert_eq!(both.launches.len(), 3, "{:?}", both.notes);
            assert!((total(&both, Quantity::Duration) - 1_282_709e-9).abs() < 1e-15);
            let first = both.iter().find(|launch| launch.head.id == 0).unwrap();
            assert!((first.value(Quantity::DramThroughput).unwrap() - 0.123_456).abs() < 1e-12);
            assert_eq!(first.value(Quantity::SmClock), Some(1_833_807_000.0));
            assert_eq!(first.value(Quantity::RegistersPerThread), Some(40.0));
            assert_eq!(both.notes.len(), 1, "{:?}", both.notes);
            assert!(both.notes[0].contains(&details.display().to_string()), "{:?}", both.notes);
        }
    }
}

/// One launch of the details page took longer: another run, of which all three count.
#[test]
fn a_details_page_of_another_run_counts() {
    let folder = tempfile::tempdir().unwrap();
    let (raw, details) = (folder.path().join("raw.csv"), folder.path().join("details.csv"));
    std::fs::write(&raw, raw_page()).unwrap();
    std::fs::write(&details, details_page(true).replace("\"45.68\"", "\"45.69\"")).unwrap();
    assert_eq!(read(&[raw, details]).launches.len(), 6);
}

/// The pages of one report as Nsight Compute wrote them.
#[test]
fn real_pages_of_one_report_are_counted_once() {
    let Some(profiles) = std::env::var_os("ROOFLINT_PROFILES") else { return };
    let at = |name: &str| Path::new(&profiles).join("ncu").join(name);
    let raw = at("h200-raw-autoscaled-2232col-sglang.csv");
    let details = at("h200-details-multiline-rule-sglang-decode.csv");
    for inputs in [[raw.clone(), details.clone()], [details, raw]] {
        let both = read(&inputs);
        assert_eq!(both.launches.len(), 30, "{:?}", both.notes);
        assert!((total(&both, Quantity::Duration) - 132_320e-9).abs() < 1e-12);
    }
}

/// A report of the first 12 launches of the demo, beside its raw page and beside its details page: two decimals, and
/// figures that the report does not have.
#[test]
fn a_report_beside_a_page_of_its_run_is_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let report = fixture("ncu_rep/h100-training-step.ncu-rep");
    let raw = fixture("demo/h100-training-step.csv");
    let (of_report, of_raw) =
        (read(std::slice::from_ref(&report)), read(std::slice::from_ref(&raw)));
    assert_eq!((of_report.launches.len(), of_raw.launches.len()), (12, 46));
    for inputs in [[report.clone(), raw.clone()], [raw.clone(), report.clone()]] {
        let both = read(&inputs);
        assert_eq!(launches(&both), launches(&of_raw), "{:?}", both.notes);
        assert_eq!(both.notes.len(), 1, "{:?}", both.notes);
        assert!(both.notes[0].contains("counted once"), "{:?}", both.notes);
    }
    let head = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"";
    let mut page = format!("{head}\n");
    for launch in of_report.iter() {
        let (grid, block) = (launch.head.shape.grid.unwrap(), launch.head.shape.block.unwrap());
        let percent = |quantity| launch.value(quantity).unwrap() * 100.0;
        for (section, name, unit, value) in [
            (
                "GPU Speed Of Light Throughput",
                "Duration",
                "us",
                launch.value(Quantity::Duration).unwrap() * 1e6,
            ),
            (
                "GPU Speed Of Light Throughput",
                "DRAM Throughput",
                "%",
                percent(Quantity::DramThroughput),
            ),
            ("Occupancy", "Achieved Occupancy", "%", percent(Quantity::AchievedOccupancy)),
            ("Launch Statistics", "# SMs", "", 132.0),
            ("Launch Statistics", "Waves Per SM", "", 7.5),
        ] {
            page += &format!(
                "\"{}\",\"{}\",\"app\",\"h\",\"{}\",\"1\",\"7\",\"({}, {}, {})\",\"({}, {}, {})\",\"0\",\"9.0\",\"{section}\",\"{name}\",\"{unit}\",\"{value:.2}\"\n",
                launch.head.id,
                launch.head.process,
                launch.kernel(),
                block.x,
                block.y,
                block.z,
                grid.x,
                grid.y,
                grid.z,
            );
        }
    }
    let details = folder.path().join("details.csv");
    std::fs::write(&details, page).unwrap();
    for inputs in [[report.clone(), details.clone()], [details.clone(), report.clone()]] {
        let both = read(&inputs);
        assert_eq!(both.launches.len(), 12, "{:?}", both.notes);
        assert_eq!(total(&both, Quantity::Duration), total(&of_report, Quantity::Duration));
        // One device, with the name that only the report has.
        assert_eq!(both.devices.len(), 1, "{:?}", both.devices);
        assert!(both.devices[0].name.is_some());
    }
}

/// Two pages that each say a part of the device, and one that contradicts them.
#[test]
fn a_launch_of_several_pages_has_what_any_of_them_says_of_its_device() {
    let page = |attribute: &str, value: &str| {
        format!(
            "{HEADER}\"{attribute}\"\n{BLANK}\"ns\",\"\"\n{}",
            row(0, &format!("\"5000\",\"{value}\""))
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let sms = write("sms.csv", page("device__attribute_multiprocessor_count", "132"));
    let other = write("other.csv", page("device__attribute_multiprocessor_count", "114"));
    let name = write("name.csv", page("device__attribute_display_name", "NVIDIA H200"));
    for inputs in [[sms.clone(), name.clone()], [name.clone(), sms.clone()]] {
        let both = read(&inputs);
        assert_eq!((both.launches.len(), both.devices.len()), (1, 1), "{:?}", both.devices);
        let device = &both.devices[both.launch(0).head.device.position()];
        assert_eq!((device.name.as_deref(), device.sms), (Some("NVIDIA H200"), Some(132)));
    }
    // Of two that contradict each other one is taken as it is: that of the first, as both say as much.
    let both = read(&[sms, other]);
    assert_eq!((both.launches.len(), both.devices.len()), (1, 1), "{:?}", both.devices);
    assert_eq!(both.devices[0].sms, Some(132));
}

/// Three pages of one launch. The peaks of one of them tell the number of SMs, at the SM clock of that page.
#[test]
fn real_pages_of_one_launch_identify_its_device() {
    let Some(profiles) = std::env::var_os("ROOFLINT_PROFILES") else { return };
    let names = ["details-with-metrics-na", "metrics-section-na", "details-bodyitemlabel-roofline"];
    let at =
        |name: &str| Path::new(&profiles).join("ncu").join(format!("rtx5090-{name}-dsocr.csv"));
    let [one, two, three] = names.map(at);
    for inputs in [[one.clone(), two.clone(), three.clone()], [three, two, one]] {
        let all = read(&inputs);
        assert_eq!((all.launches.len(), all.devices.len()), (1, 1), "{:?}", all.devices);
        let analysis =
            analysis::analyze(&all, &Catalog::builtin(), &analysis::Options::default()).unwrap();
        assert_eq!(analysis.devices[0].name(), "GeForce RTX 5090");
    }
}

/// A table of `PyProf` with the time under both of its names, and with two different kernels in a row.
#[test]
fn columns_of_pyprof_that_contradict_each_other_are_not_used() {
    let text = "Idx,Kernel,Sil(ns),Stream,sil,Kernel\n1,a,1000,7,1000.0,a\n2,a,1000,7,2000,a\n3,a,1000,7,,b\n";
    let profile = ingest::read_text("net.csv", text, &Options::default()).unwrap();
    let times: Vec<_> = profile.iter().map(|one| one.value(Quantity::Duration)).collect();
    assert_eq!(times, [Some(1000.0 / 1e9), None, Some(1000.0 / 1e9)]);
    assert_eq!(profile.launch(1).kernel(), "a");
    assert_ne!(profile.launch(2).kernel(), "a");
    let skips = &profile.sources[0].skips;
    let told: Vec<_> =
        skips.first.iter().map(|one| (one.line, one.column.as_deref(), &*one.text)).collect();
    assert_eq!(told, [(3, Some("Sil(ns)"), "2000"), (4, Some("Kernel"), "b")]);
    assert!(skips.first.iter().all(|skip| skip.reason.starts_with("given twice")), "{skips:?}");
}

/// The launch table of the sample with a column or a key given twice.
#[test]
fn a_launch_table_whose_columns_contradict_each_other_says_so() {
    let options = Options::default();
    let profile = ingest::read_text("demo", rooflint::SAMPLE, &options).unwrap();
    let csv = Table::of(&profile).csv();
    let again = |time: &str| {
        let mut lines = csv.lines();
        let header = format!("{},duration_s", lines.next().unwrap());
        let rows: Vec<String> = lines.map(|line| format!("{line},{time}")).collect();
        ingest::read_text("t.csv", format!("{header}\n{}\n", rows.join("\n")).leak(), &options)
            .unwrap()
    };
    let launches = profile.launches.len() as u64;
    let empty = again("");
    assert_eq!(empty.sources[0].skips.count, 0);
    assert_eq!(total(&empty, Quantity::Duration), total(&profile, Quantity::Duration));
    let other = again("7");
    assert_eq!(other.sources[0].skips.count, launches);
    assert_eq!(total(&other, Quantity::Duration), 0.0);
    let json = Table::of(&profile).json().replacen("\"stream\":", "\"stream\": 9, \"stream\":", 1);
    let error = ingest::read_text("t.json", json.leak(), &options).unwrap_err();
    assert!(error.to_string().contains("key \"stream\" is given twice"), "{error}");
}

/// 5632 ns and 123,456 bytes, as a locale prints them whose groups end in points; no other cell has a sign.
#[test]
fn whole_numbers_grouped_by_points_are_whole() {
    let text = format!(
        "{HEADER}\"dram__bytes_read.sum\"\n{BLANK}\"ns\",\"byte\"\n{}",
        row(0, "\"5.632\",\"123.456\"")
    );
    let text: &'static str = text.leak();
    let profile = ingest::read_text("run.csv", text, &Options::default()).unwrap();
    assert_eq!(profile.launch(0).value(Quantity::Duration), Some(5632.0 * 1e-9));
    assert_eq!(profile.launch(0).value(Quantity::DramReadBytes), Some(123_456.0));
    assert!(
        profile.notes[0].contains("because \"5.632\" is a whole number"),
        "{:?}",
        profile.notes
    );
    let options = Options { decimal: Some(DecimalSign::Point), ..Options::default() };
    let profile = ingest::read_text("run.csv", text, &options).unwrap();
    assert_eq!(profile.launch(0).value(Quantity::Duration), Some(5.632 * 1e-9));
}

/// `PyProf` counts nanoseconds: a point in them groups digits, unless one of them has other decimals.
#[test]
fn nanoseconds_of_pyprof_are_whole() {
    for (times, read) in
        [(["3.104", "12.104"], [3104.0, 12104.0]), (["3.104", "12.25"], [3.104, 12.25])]
    {
        let [one, two] = times;
        let text = format!(
            "\"Idx\",\"Kernel\",\"Op\",\"Sil(ns)\",\"FLOPs\"\n\"1\",\"k\",\"relu\",\"{one}\",\"1.125\"\n\"2\",\"k\",\"relu\",\"{two}\",\"8\"\n"
        );
        let profile = ingest::read_text("net.csv", text.leak(), &Options::default()).unwrap();
        let times: Vec<f64> =
            profile.iter().filter_map(|one| one.value(Quantity::Duration)).collect();
        assert_eq!(times, read.map(|time| time / 1e9), "{one} {two}");
    }
}

/// Every row of a trace has a start: the same kernel starts and lasts the same only once.
#[test]
fn rows_repeated_in_a_trace_are_counted_once_and_named() {
    let folder = tempfile::tempdir().unwrap();
    for (name, header) in [("nvprof_trace/p100-cuda8.csv", 5), ("nsys_trace/h100-2021.csv", 1)] {
        let once = fixture(name);
        let text = std::fs::read_to_string(&once).unwrap();
        let rows: Vec<&str> = text.lines().skip(header).collect();
        let path = folder.path().join("twice.csv");
        std::fs::write(&path, format!("{text}{}\n", rows.join("\n"))).unwrap();
        let (once, twice) = (read(&[once]), read(&[path]));
        assert_eq!(launches(&twice), launches(&once), "{name}");
        let said = format!("{} launches are repeated in this file", once.launches.len());
        assert!(twice.notes.iter().any(|note| note.contains(&said)), "{name}: {:?}", twice.notes);
        assert_eq!(twice.activities.len(), once.activities.len(), "{name}");
        let names_copies = twice.notes.iter().any(|note| {
            note.contains("copies and fills are")
                || note.contains("1 copy or fill is repeated in this file")
        });
        assert_eq!(names_copies, !once.activities.is_empty(), "{name}: {:?}", twice.notes);
    }
}

/// Tables of every format, as text, joined with themselves: no launch is counted twice in silence.
#[test]
fn a_table_joined_with_itself_is_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let (mut joined, mut refused) = (0, Vec::new());
    for (path, _) in super::golden::fixtures() {
        let is_text = path.extension().is_some_and(|end| end == "csv" || end == "txt");
        let Some(text) = std::fs::read_to_string(&path).ok().filter(|_| is_text) else { continue };
        let name = format!(
            "{}/{}",
            path.parent().unwrap().file_name().unwrap().to_string_lossy(),
            path.file_name().unwrap().to_string_lossy()
        );
        let options = super::golden::reading(&path);
        let read = |path: PathBuf| ingest::read(&[Input::Named(path)], &options);
        let twice = folder.path().join("twice.csv");
        std::fs::write(&twice, format!("{text}\n{text}")).unwrap();
        let Ok(twice) = read(twice) else {
            refused.push(name);
            continue;
        };
        let once = read(path).unwrap();
        assert_eq!(launches(&twice), launches(&once), "{name}: {:?}", twice.notes);
        let is_told = twice.checks.iter().any(|note| note.contains("counted once"));
        // A copy that was joined to a line without its end is no table.
        assert!(is_told || twice.sources[0].skips.count > 0, "{name}: {:?}", twice.notes);
        joined += 1;
    }
    assert!(joined > 60, "{joined}");
    assert_eq!(refused, [""; 0]);
}

/// A launch table of somebody's own need not number its launches.
#[test]
fn a_launch_table_without_numbers_joined_with_itself_is_counted_once() {
    let once = read(&[fixture("demo/h100-training-step.csv")]);
    let table = Table::of(&once).csv();
    let at = table.lines().next().unwrap().split(',').position(|title| title == "id").unwrap();
    let unnumbered = |line: &str| {
        let cells = line.split(',').enumerate().filter(|(column, _)| *column != at);
        cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(",")
    };
    let table: String = table.lines().map(|line| unnumbered(line) + "\n").collect();
    let read = |text: &str| ingest::read_text("table.csv", text, &Options::default()).unwrap();
    let (once, twice) = (read(&table), read(&(table.clone() + &table)));
    assert_eq!(launches(&twice), launches(&once));
    let says = "table.csv: 1 table repeats an earlier one row for row (46 launches; counted once)";
    assert!(twice.checks[0].starts_with(says), "{:?}", twice.checks);
}

/// Tables that share rows, or all but the operator, the stream or the order, are different ones; so are single rows.
#[test]
fn tables_without_numbers_that_are_not_equal_all_count() {
    const HEADER: &str = "\"Kernel\",\"Op\",\"Sil(ns)\",\"Stream\"\n";
    let row = |kernel: &str, op: &str, time: u32, stream: u32| {
        format!("\"{kernel}\",\"{op}\",\"{time}\",\"{stream}\"\n")
    };
    let table = [row("a", "add", 1500, 7), row("b", "mul", 2500, 7)];
    let cases: [(&[String], usize); 7] = [
        (&table, 2),
        (&[row("a", "sub", 1500, 7), row("b", "mul", 2500, 7)], 4),
        (&[row("a", "add", 1500, 8), row("b", "mul", 2500, 7)], 4),
        (&[row("a", "add", 1500, 7), row("b", "mul", 2501, 7)], 4),
        (&[row("b", "mul", 2500, 7), row("a", "add", 1500, 7)], 4),
        (&table[..1], 3),
        (&[&table[..], &[row("a", "add", 1500, 7)]].concat(), 5),
    ];
    for (other, launches) in cases {
        let text = format!("{HEADER}{}{HEADER}{}", table.concat(), other.concat());
        let found = ingest::read_text("table.csv", &text, &Options::default()).unwrap();
        assert_eq!(found.launches.len(), launches, "{text}");
        assert_eq!(found.checks.len(), usize::from(launches == 2), "{:?}", found.checks);
        let repeated = found.sources[0].repeated;
        assert_eq!(repeated, if launches == 2 { 2 } else { 0 }, "{text}");
    }
    // Times of one launch are often equal.
    let one = format!("{HEADER}{}", table[0]);
    let twice = ingest::read_text("table.csv", &one.repeat(2), &Options::default()).unwrap();
    assert_eq!(twice.launches.len(), 2);
    let thrice = format!("{HEADER}{}", table.concat()).repeat(3);
    let thrice = ingest::read_text("table.csv", &thrice, &Options::default()).unwrap();
    assert_eq!(thrice.launches.len(), 2);
    let says = "table.csv: 2 tables repeat an earlier one row for row (4 launches; counted once)";
    assert_eq!(thrice.checks, [says]);
}
