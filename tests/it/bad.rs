//! Every fault has a fixture, and an error or a count with its place, the text found and what to do.

use std::path::Path;

use rooflint::analysis;
use rooflint::catalog::Catalog;
use rooflint::ingest::{self, Input, Options};
use rooflint::model::Profile;
use rooflint::table::Table;

fn read(name: &str, strict: bool) -> Result<Profile, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/bad").join(name);
    let options = Options { strict, ..Options::default() };
    ingest::read(&[Input::Named(path)], &options)
        .map_err(|error| format!("{error} | help: {}", error.next_step().unwrap_or("none")))
}

#[test]
fn what_cannot_be_read_is_refused_with_place_reason_and_help() {
    for (name, says) in [
        ("empty.csv", "the file is empty"),
        ("blank.csv", "the file has only blanks"),
        ("binary.csv", "this is a binary file"),
        ("report.ncu-rep", "the report has no readable file header"),
        ("trace.json", "this is a trace without events"),
        ("cpu-only-trace.json", "the trace has no GPU work: 1 operator ran on the CPU only"),
        ("cpu-only-trace.json", "ProfilerActivity.CUDA"),
        ("permission.csv", "permission.csv:2: no table: the profiler was not permitted"),
        ("no-kernels.csv", "the filter matched none of: gemm, softmax"),
        ("killed.csv", "killed.csv:1: no table follows"),
        ("own-script.csv", "unknown table; no format has these columns"),
        ("own-script.csv", "--map MAPPING.toml"),
        ("header-only.csv", "the table holds no kernel launch"),
        ("h100-whole-graph.csv", "a whole CUDA graph: its counters are sums over several kernels"),
        ("h100-whole-graph.csv", "ncu --graph-profiling node"),
        ("nsys-copies.csv", "copies and memsets, which has no kernels"),
        ("nsys-skipped.csv", "the report has no kernels"),
        ("nvprof-as-text.txt", "nvprof --csv --print-gpu-trace"),
    ] {
        let error = read(name, false).expect_err(name);
        assert!(error.contains(says), "{name}: {error}");
        assert!(!error.ends_with("help: none"), "{name}: {error}");
    }
}

#[test]
fn what_can_be_skipped_is_counted_with_line_column_and_text() {
    for (name, line, column, text, reason) in [
        ("unknown-unit.csv", 3, Some("dram__bytes.sum"), "12", "unknown unit \"furlong\""),
        (
            "unit-of-another-kind.csv",
            2,
            Some("gpu__time_duration.sum"),
            "5,000",
            "unit \"byte\" is not a time",
        ),
        ("unreadable-number.csv", 3, Some("dram__bytes.sum"), "1.2 GB?", "cannot read as bytes"),
        (
            "negative-time.csv",
            2,
            Some("gpu__time_duration.sum"),
            "-5,000",
            "a time cannot be negative",
        ),
        (
            "rows-cut-short.csv",
            3,
            None,
            "\"0\",\"60001\",\"app\"",
            "3 fields instead of 15: cut off or no table row",
        ),
        ("launch-number-is-text.csv", 2, Some("ID"), "zero", "launch ID is not a number"),
        (
            "process-number-is-rounded.csv",
            2,
            Some("Process ID"),
            "1.78571E+06",
            "process ID is not a number",
        ),
        (
            "no-units-row.csv",
            2,
            Some("gpu__time_duration.sum"),
            "5000",
            "no units row before this row, column left out",
        ),
    ] {
        let profile = read(name, false).unwrap_or_else(|error| panic!("{name}: {error}"));
        let skips = &profile.sources[0].skips;
        assert_eq!(skips.count, 1, "{name}: {skips:?}");
        let skip = &skips.first[0];
        assert_eq!(
            (skip.line, skip.column.as_deref(), skip.text.as_str(), skip.reason.as_str()),
            (line, column, text, reason),
            "{name}"
        );
        let error = read(name, true).expect_err(name);
        assert!(
            error.contains(&format!("{name}:{line}")) && error.contains(reason),
            "{name}: {error}"
        );
    }
}

#[test]
fn an_unclosed_quote_says_how_much_it_swallowed() {
    let profile = read("unclosed-quote.csv", false).unwrap();
    let skip = &profile.sources[0].skips.first[0];
    assert_eq!(skip.line, 3);
    assert!(skip.reason.contains("never closed: 4 lines"), "{}", skip.reason);
    assert_eq!(profile.sources[0].skips.count, 4);
}

#[test]
fn a_failed_launch_has_no_time_but_is_counted() {
    let profile = read("nan-time.csv", false).unwrap();
    assert_eq!(profile.launches.len(), 1);
    assert!(profile.launch(0).duration().is_none());
}

#[test]
fn a_line_of_ten_megabytes_is_refused_at_its_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.csv");
    std::fs::write(&path, "x,".repeat(5_000_000)).unwrap();
    for from in [None, ingest::format("ncu-long")] {
        let options = Options { from, ..Options::default() };
        let error = ingest::read(&[Input::Named(path.clone())], &options).unwrap_err().to_string();
        assert!(error.contains("long.csv"), "{error}");
    }
}

#[test]
fn a_damaged_archive_is_an_error_not_a_short_table() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let plain = include_bytes!("../../fixtures/demo/h100-training-step.csv");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(plain).unwrap();
    let mut bytes = gzip.finish().unwrap();
    bytes.truncate(bytes.len() / 2);
    let path = folder.path().join("cut.csv.gz");
    std::fs::write(&path, bytes).unwrap();
    let error = ingest::read(&[Input::Named(path)], &Options::default()).unwrap_err().to_string();
    assert!(error.contains("cannot read"), "{error}");
}

#[cfg(feature = "sqlite")]
#[test]
fn databases_without_kernels_say_why() {
    for (name, says) in [
        ("unrelated.sqlite", "this is a SQLite database without a GPU profile"),
        ("nvprof.sqlite", "nvprof -i FILE --csv --print-gpu-trace"),
        ("no-kernels.sqlite", "none ran, or the driver did not permit it"),
        ("no-kernels.sqlite", "nsys says: CUDA device driver is too old."),
        ("whole-graphs.sqlite", "--cuda-graph-trace=node"),
        ("cut.sqlite", "the database breaks off: it has 4000 of "),
        ("damaged.sqlite", "the database is damaged: "),
    ] {
        let error = read(name, false).expect_err(name);
        assert!(error.contains(says), "{name}: {error}");
        assert!(!error.ends_with("help: none"), "{name}: {error}");
    }
}

/// Drivers and profilers write 0 for a clock or a peak rate that they do not know: in a launch table, where nothing else
/// stands for it, an empty cell and a zero are judged alike, and a figure is not.
#[test]
fn a_clock_or_peak_of_zero_is_an_unknown_one() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/ncu_wide/h200-worked-cases.csv");
    let export = ingest::read(&[Input::Named(path)], &Options::default()).unwrap();
    let text = Table::of(&export).csv();
    let judged = |column: &str, cell: &str| {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let headers = reader.headers().unwrap().clone();
        let at = headers.iter().position(|header| header == column).expect(column);
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&headers).unwrap();
        for record in reader.records() {
            let record = record.unwrap();
            assert!(record[at].parse::<f64>().unwrap() > 0.0, "{column}");
            let changed = |(place, old)| if place == at { cell } else { old };
            writer.write_record(record.iter().enumerate().map(changed)).unwrap();
        }
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let profile = ingest::read_text("launches.csv", &text, &Options::default()).unwrap();
        let options = analysis::Options::default();
        let totals = analysis::analyze(&profile, &Catalog::builtin(), &options).unwrap().totals;
        assert!(totals.roofline_time.get() > 0.0 && totals.roofline_time < totals.measured);
        format!("{totals:?}")
    };
    for column in [
        "device_max_sm_clock_hz",
        "device_max_memory_clock_hz",
        "device_memory_clock_hz",
        "sm_clock_hz",
        "dram_clock_hz",
        "peak_dram_bytes_per_s",
        "peak_l2_bytes_per_s",
    ] {
        assert_eq!(judged(column, "0"), judged(column, ""), "{column}");
    }
    assert_ne!(judged("sm_clock_hz", "0"), judged("sm_clock_hz", "1.8e9"));
}

/// An export with this text in a column of its first or last row that has a value there.
fn spoilt(text: &str, title: &str, cell: &str, is_first: bool) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let fields = |line: &str| -> Vec<String> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(line.as_bytes());
        let record = reader.records().next().map(Result::unwrap).unwrap_or_default();
        record.iter().map(str::to_owned).collect()
    };
    let is_title = |field: &String| field.trim() == title;
    let header = lines.iter().position(|line| fields(line).iter().any(is_title)).unwrap();
    let titles = fields(&lines[header]);
    let at = titles.iter().position(is_title).unwrap();
    let has_value = |line: &&mut String| {
        let cells = fields(line);
        2 * cells.len() > titles.len() && cells.get(at).is_some_and(|cell| !cell.is_empty())
    };
    let mut rows = lines[header + 1..].iter_mut().filter(has_value);
    let line = if is_first { rows.next() } else { rows.next_back() }.unwrap();
    let mut cells = fields(line);
    cell.clone_into(&mut cells[at]);
    let mut writer =
        csv::WriterBuilder::new().quote_style(csv::QuoteStyle::Always).from_writer(vec![]);
    writer.write_record(&cells).unwrap();
    String::from_utf8(writer.into_inner().unwrap()).unwrap().trim_end().clone_into(line);
    lines.join("\n") + "\n"
}

/// What a launch can do without is missing, and counted; the launch stays.
#[test]
fn a_cell_that_cannot_be_read_is_counted_and_its_launch_stays() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let read = |name: &str, text: String| {
        ingest::read_text(name, &text, &Options::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    for (name, titles) in [
        ("ncu_wide/h100-five-kernels.csv", &["Grid Size", "Block Size", "Stream"][..]),
        ("ncu_long/h100-details-rules-with-speedups.csv", &["Grid Size", "Block Size", "Stream"]),
        ("nsys_trace/h100-2025-stdout.csv", &["Start (ns)", "GrdX", "BlkZ", "Reg/Trd", "Strm"]),
        ("nsys_sum/h100-cuda_gpu_kern_gb_sum.csv", &["GridXYZ", "BlockXYZ"]),
        (
            "nvprof_trace/p100-cuda8.csv",
            &["Start", "Grid Z", "Block X", "Registers Per Thread", "Static SMem", "Stream"],
        ),
        ("pyprof/v100-nvidia-transformer-16col.csv", &["Grid", "Block", "Stream", "TC"]),
        ("rocprof/v1-results.csv", &["grd", "wgr", "queue-id"]),
        ("xprof/a100-kernel-stats.csv", &["Block dim", "Grid dim"]),
        ("dlprof/v100-iteration.csv", &["Grid X", "Block Z", "GPU Start Time (ns)"]),
    ] {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        let whole = read(name, text.clone());
        // A launch of many rows is that of the first.
        let is_long = name.starts_with("ncu_long");
        for title in titles {
            let found = read(name, spoilt(&text, title, "x?", is_long));
            let told = format!("{name}, {title}: {:?}", found.sources[0].skips);
            assert_eq!(found.launches.len(), whole.launches.len(), "{told}");
            let skips = &found.sources[0].skips;
            assert_eq!(skips.count, whole.sources[0].skips.count + 1, "{told}");
            let skip = skips.first.iter().find(|skip| skip.text == "x?").expect(&told);
            assert!(skip.column.as_deref().is_some_and(|of| of.trim() == *title), "{told}");
        }
    }
}

#[test]
fn an_argument_of_a_launch_that_cannot_be_read_is_counted() {
    let event = |args: &str| {
        format!(
            r#"{{"traceEvents": [{{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1.5, "dur": 2.5, "args": {{{args}}}}}]}}"#
        )
    };
    for (args, key) in [
        (r#""grid": [1, "x?", 1]"#, "grid"),
        (r#""block": 7"#, "block"),
        (r#""registers per thread": 1.5"#, "registers per thread"),
        (r#""shared memory": "all""#, "shared memory"),
        (r#""stream": "main""#, "stream"),
    ] {
        let options = Options::default();
        let profile = ingest::read_text("trace.json", &event(args), &options).unwrap();
        let skips = &profile.sources[0].skips;
        assert_eq!((profile.launches.len(), skips.count), (1, 1), "{key}");
        let skip = &skips.first[0];
        assert_eq!(skip.column.as_deref(), Some(key));
        assert!(skip.reason.contains("the event at byte 17"), "{}", skip.reason);
    }
    // What is not known may be null, or written as -1.
    let args = r#""grid": null, "stream": -1, "registers per thread": 0"#;
    let profile = ingest::read_text("trace.json", &event(args), &Options::default()).unwrap();
    assert_eq!(profile.sources[0].skips.count, 0);
}
