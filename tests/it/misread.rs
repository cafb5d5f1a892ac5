//! Exports as they come out of spreadsheets, scripts and interrupted copies: each value is right, or missing and counted.

use std::io::Write;
use std::path::Path;

use rooflint::ingest::{self, Input, Options, read_text};
use rooflint::model::{Profile, Quantity};

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name);
    std::fs::read_to_string(path).unwrap()
}

fn read(name: &str, text: &str) -> Profile {
    read_text(name, text, &Options::default()).unwrap()
}

/// Reads files of these contents together.
fn together(files: &[(&str, &[u8])]) -> Result<Profile, String> {
    let folder = tempfile::tempdir().unwrap();
    let inputs = files.iter().map(|(name, content)| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        Input::Named(path)
    });
    let inputs: Vec<Input> = inputs.collect();
    ingest::read(&inputs, &Options::default()).map_err(|error| error.to_string())
}

fn launches(profile: &Profile) -> u64 {
    profile.iter().map(|one| u64::from(one.head.count)).sum()
}

fn sum(profile: &Profile, quantity: Quantity) -> f64 {
    let each = |one: rooflint::model::Launch<'_>| {
        one.value(quantity).map(|value| value * f64::from(one.head.count))
    };
    profile.iter().filter_map(each).sum()
}

fn skipped(profile: &Profile) -> Vec<(u64, String)> {
    let skips = profile.sources.iter().flat_map(|source| &source.skips.first);
    skips.map(|skip| (skip.line, skip.reason.clone())).collect()
}

fn near(one: f64, two: f64) -> bool {
    (one - two).abs() <= 1e-9 * two.abs()
}

/// Two kernels with three metrics: sorted by metric, with an index, with a device cell that is lost in some rows.
#[test]
fn rows_of_a_summary_may_stand_in_any_order() {
    const HEAD: &str = "\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Invocations\",\
                        \"Section Name\",\"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"";
    let row = |kernel: &str,
               count: &str,
               capability: &str,
               metric: &str,
               unit: &str,
               value: &str| {
        format!(
            "\"1\",\"{kernel}\",\"(256, 1, 1)\",\"(512, 1, 1)\",\"0\",\"{capability}\",\"{count}\",\
             \"Command line profiler metrics\",\"{metric}\",\"{unit}\",\"1\",\"1\",\"{value}\""
        )
    };
    let rows = |capability: &str| -> Vec<String> {
        let of = |kernel: &str, count: &str, [read, write, time]: [&str; 3]| {
            [
                row(kernel, count, "8.9", "dram__bytes_read.sum", "byte", read),
                row(kernel, count, capability, "dram__bytes_write.sum", "byte", write),
                row(kernel, count, "8.9", "gpu__time_duration.sum", "ns", time),
            ]
        };
        [of("ka", "96", ["1000", "500", "2000"]), of("kb", "64", ["20", "40", "1000"])].concat()
    };
    let check = |rows: &[String], header: &str| {
        let profile = read("summary.csv", &format!("{header}\n{}\n", rows.join("\n")));
        assert_eq!((profile.launches.len(), launches(&profile)), (2, 160), "{rows:?}");
        assert!(near(sum(&profile, Quantity::Duration), 96.0 * 2e-6 + 64.0 * 1e-6));
        assert!(near(sum(&profile, Quantity::DramBytes), 96.0 * 1500.0 + 64.0 * 60.0));
    };
    check(&rows("8.9"), HEAD);
    check(&rows(""), HEAD);
    let by_metric: Vec<String> = [0, 3, 1, 4, 2, 5].map(|at| rows("8.9")[at].clone()).into();
    check(&by_metric, HEAD);
    let indexed: Vec<String> =
        by_metric.iter().enumerate().map(|(at, row)| format!("{at},{row}")).collect();
    check(&indexed, &format!(",{HEAD}"));
    for (count, reason) in
        [("2.5", "cannot read as a count"), ("5000000000", "cannot read as a count")]
    {
        let wrong =
            [rows("8.9"), vec![row("kc", count, "8.9", "gpu__time_duration.sum", "ns", "1")]]
                .concat();
        let profile = read("summary.csv", &format!("{HEAD}\n{}\n", wrong.join("\n")));
        assert_eq!((launches(&profile), skipped(&profile)), (160, vec![(8, reason.to_owned())]));
    }
}

/// Containers of several hosts whose processes have the same numbers.
#[test]
fn kernels_of_two_hosts_are_two() {
    let row = |host: &str| {
        format!(
            "\"1\",\"{host}\",\"k\",\"0\",\"100\",\"Command line profiler metrics\",\"gpu__time_duration.sum\",\"us\",\"1\",\"1\",\"12.35\""
        )
    };
    let header = "\"Process ID\",\"Host Name\",\"Kernel Name\",\"Device\",\"Invocations\",\"Section Name\",\
                  \"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"";
    let text = ["a", "b", "a"].map(row).join("\n");
    assert_eq!(launches(&read("summary.csv", &format!("{header}\n{text}\n"))), 200);
}

/// Four kernels of 3 µs, in nanoseconds since 1970, as the profiler and as spreadsheets write them.
#[test]
fn instants_are_exact_or_leave_no_time() {
    let table = |cells: &dyn Fn(u64) -> String| {
        let mut text = "Dispatch_ID,GPU_ID,Queue_ID,PID,TID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,\
                        Arch_VGPR,Accum_VGPR,SGPR,Wave_Size,Kernel_Name,Start_Timestamp,End_Timestamp,Correlation_ID\n"
            .to_owned();
        for launch in 0..4 {
            let start = 1_700_000_000_123_455_000 + launch * 5_000;
            let (start, end) = (cells(start), cells(start + 3_000));
            text.push_str(&format!(
                "{launch},2.0,1,11,11,1024,256,0,0,16,4,16,64,k,\"{start}\",\"{end}\",0\n"
            ));
        }
        read("results.csv", &text)
    };
    let grouped = |number: u64| {
        let digits = number.to_string();
        let groups: Vec<&str> = (0..digits.len())
            .step_by(3)
            .map(|at| {
                let first = digits.len() % 3;
                let start = if at == 0 { 0 } else { at + first - if first == 0 { 0 } else { 3 } };
                let end = if at == 0 && first > 0 { first } else { start + 3 };
                &digits[start..end]
            })
            .collect();
        groups.join(",")
    };
    assert_eq!(grouped(1_700_000_000_123_455_000), "1,700,000,000,123,455,000");
    for cells in [&(|number: u64| number.to_string()) as &dyn Fn(u64) -> String, &grouped] {
        let profile = table(cells);
        assert_eq!(launches(&profile), 4);
        assert!(
            near(sum(&profile, Quantity::Duration), 12e-6),
            "{}",
            sum(&profile, Quantity::Duration)
        );
        assert_eq!(profile.devices[0].ordinal.as_deref(), Some("2"));
    }
    // As scripts write floats: with as many digits as tell them apart, and none of the zeros at the end.
    let floats = table(&|number| format!("{:e}", (number + 123) as f64));
    let total = sum(&floats, Quantity::Duration);
    assert!((total - 12e-6).abs() < 4.0 * 256e-9, "{total}");
    let small = table(&|number| format!("{:e}", (number - 1_700_000_000_123_455_000) as f64));
    assert!(near(sum(&small, Quantity::Duration), 12e-6), "{}", sum(&small, Quantity::Duration));
    let rounded = table(&|number| format!("{:.14}E+18", number as f64 / 1e18));
    assert_eq!((launches(&rounded), sum(&rounded, Quantity::Duration)), (4, 0.0));
    assert!(
        rounded.checks.iter().any(|note| note.contains("4 rows have no time")),
        "{:?}",
        rounded.checks
    );
}

/// A mapping that says that the decimal mark is a comma, and instants grouped by points.
#[test]
fn instants_have_the_decimal_mark_of_the_mapping() {
    let map = "delimiter = \";\"\ndecimal = \",\"\n[columns]\nkernel = \"k\"\ntime = { start = \"b\", end = \"e\", unit = \"ns\" }\n";
    let text = "k;b;e\nk1;123.456;127.460\nk2;999.466;1.003.470\n";
    let map = ingest::Mapping::from_toml(map, "map.toml").unwrap();
    let options = Options { map: Some(map), ..Options::default() };
    let profile = read_text("own.csv", text, &options).unwrap();
    let times: Vec<_> = profile.iter().map(|one| one.value(Quantity::Duration).unwrap()).collect();
    assert!(times.iter().all(|time| near(*time, 4.004e-6)), "{times:?}");
    let starts: Vec<_> = profile.iter().map(|one| one.head.start).collect();
    assert_eq!(starts, [Some(123_456), Some(999_466)]);
}

/// The column of GPUs as pandas writes it, and a mapping that says what they are in either way.
#[test]
fn devices_of_a_mapping_are_found_as_they_are_written() {
    for keys in ["\"0.0\" = \"H100 SXM5 80GB\"", "0 = \"H100 SXM5 80GB\""] {
        let map = format!(
            "devices = {{ {keys} }}\n[columns]\nkernel = \"k\"\ntime = {{ column = \"t\", unit = \"us\" }}\ndevice = \"gpu\"\n"
        );
        let map = ingest::Mapping::from_toml(&map, "map.toml").unwrap();
        let options = Options { map: Some(map), ..Options::default() };
        let profile = read_text("own.csv", "k,t,gpu\na,10,0.0\n", &options).unwrap();
        assert_eq!(profile.devices[0].name.as_deref(), Some("H100 SXM5 80GB"), "{keys}");
    }
}

/// The last cell is quoted, and the file ends within it.
#[test]
fn a_quote_that_the_end_of_the_file_leaves_open_is_no_value() {
    for name in ["ncu_wide/h100-five-kernels.csv", "ncu_long/a100-details18-failed-launch.csv"] {
        let text = fixture(name);
        let whole = read("whole.csv", &text);
        let end = text.trim_end().rfind("\",\"").unwrap() + 4;
        let cut = read("cut.csv", &text[..end]);
        let of = |profile: &Profile| profile.sources[0].skips.count;
        assert_eq!(of(&cut), of(&whole) + 1, "{name}: {:?}", skipped(&cut));
        let last = skipped(&cut).pop().unwrap().1;
        assert!(last.contains("never closed"), "{name}: {last}");
    }
}

#[test]
fn a_row_that_a_lost_line_end_joined_to_another_is_counted() {
    let text = fixture("nsys_trace/h100-2021.csv");
    let rows: Vec<&str> = text.lines().collect();
    let quoted = rows.iter().position(|row| row.ends_with('"')).unwrap();
    let joined = format!("{}{}", rows[quoted], rows[quoted]);
    let rest: Vec<&str> = rows[..quoted].iter().chain(&rows[quoted + 1..]).copied().collect();
    let profile = read("trace.csv", &format!("{}\n{joined}\n", rest.join("\n")));
    let whole = read("trace.csv", &text);
    assert_eq!(launches(&profile), launches(&whole) - 1);
    assert_eq!(profile.sources[0].skips.count, 1, "{:?}", skipped(&profile));
    // A quote inside of a name is part of it.
    let inner = text.replace("(int)4", "\"four\" x");
    assert_eq!(launches(&read("trace.csv", &inner)), launches(&whole));
}

/// Below a launch table, too, spreadsheets leave blank lines, and sums that name nothing.
#[test]
fn rows_that_name_nothing_are_no_launches() {
    let header =
        "source,source_format,kernel,device_ordinal,launches,grid_x,threads_per_block,duration_s\n";
    let rows = "a.csv,ncu-wide,k,0,1,8,256,0.5\n,,,,,,,\n,,,,1,,,0.5\n";
    let found = read("launches.csv", &format!("{header}{rows}"));
    assert_eq!(launches(&found), 1);
    let source = &found.sources[0];
    assert_eq!((source.skips.count, source.other_lines), (1, 1));
}

#[test]
fn a_row_of_totals_is_no_kernel() {
    let text = fixture("nsys_sum/h100-cuda_gpu_kern_sum.csv");
    let whole = read("sum.csv", &text);
    let profile = read("sum.csv", &format!("{}\nTotal,1200000,11,,,,,,\n", text.trim_end()));
    assert_eq!(launches(&profile), launches(&whole));
    assert_eq!(skipped(&profile).pop().unwrap().1, "the row names no kernel");
}

/// Two ranks whose tables have one kernel in the same place with the same total, and one rank sorted otherwise.
#[test]
fn rows_of_sums_are_no_launches_with_numbers() {
    let table = |rows: &[(u64, u64, &str)]| {
        let mut text = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n".to_owned();
        for (total, count, name) in rows {
            let mean = total / count;
            text.push_str(&format!(
                "10.0,{total},{count},{mean},{mean},{mean},{mean},0.0,{name}\n"
            ));
        }
        text
    };
    let first = table(&[(825_002, 2, "gemm"), (240_000, 1, "nccl"), (1_216, 1, "fill")]);
    let second = table(&[(845_002, 2, "gemm"), (970_000, 1, "nccl"), (1_216, 1, "fill")]);
    let sorted = table(&[(1_216, 1, "fill"), (240_000, 1, "nccl"), (825_002, 2, "gemm")]);
    let of = |other: &str| {
        launches(&together(&[("r0.csv", first.as_bytes()), ("r1.csv", other.as_bytes())]).unwrap())
    };
    assert_eq!((of(&second), of(&sorted), of(&first)), (8, 4, 4));
}

/// The copy ends within its sixth launch of seven.
#[test]
fn a_copy_that_was_cut_off_within_a_launch_is_a_copy() {
    const METRICS: [&str; 3] =
        ["dram__bytes_read.sum", "dram__bytes_write.sum", "gpu__time_duration.sum"];
    let export = |first: u32| {
        let mut text = "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\
                        \"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n"
            .to_owned();
        for launch in 0..7_u32 {
            for (at, metric) in METRICS.into_iter().enumerate() {
                let unit = if at == 2 { "nsecond" } else { "byte" };
                let value = first + 137 * launch + at as u32;
                text.push_str(&format!(
                    "\"{launch}\",\"7\",\"app\",\"host\",\"k\",\"1\",\"7\",\"Command line profiler metrics\",\"{metric}\",\"{unit}\",\"{value}\"\n"
                ));
            }
        }
        text
    };
    let text = export(1000);
    let lines: Vec<&str> = text.lines().collect();
    let cut = lines[..=3 * 5 + 1].join("\n") + "\n";
    let both = together(&[("whole.csv", text.as_bytes()), ("cut.csv", cut.as_bytes())]).unwrap();
    let whole = read("whole.csv", &text);
    assert_eq!(launches(&both), 7, "{:?}", both.checks);
    assert!(near(sum(&both, Quantity::DramBytes), sum(&whole, Quantity::DramBytes)));
    // Without times a launch that moved less is one of another run.
    let untimed = |text: &str| -> String {
        let lines = text.lines().filter(|line| !line.contains("duration"));
        lines.flat_map(|line| [line, "\n"]).collect()
    };
    let (one, two) = (untimed(&text), untimed(&text).replace("\"1822\"", "\"911\""));
    assert_ne!(one, two);
    let both = together(&[("a.csv", one.as_bytes()), ("b.csv", two.as_bytes())]).unwrap();
    assert_eq!(launches(&both), 14, "{:?}", both.checks);
    // Another run of the same kernels has other times.
    let other = export(2000);
    let two = together(&[("whole.csv", text.as_bytes()), ("other.csv", other.as_bytes())]);
    assert_eq!(launches(&two.unwrap()), 14);
}

#[test]
fn text_between_the_rows_of_a_table_of_fixed_width_is_no_launch() {
    let header = "Idx     Kernel          Op              Sil(ns)    ";
    let row = |number: u32, time: u32| {
        format!("{number:>7} {:<15} {:<15} {time:>10} ", "kernel_a", "conv2d")
    };
    let rows = [row(1, 39_548), row(2, 4_736)];
    let whole = format!("{header}\n{}\n{}\n", rows[0], rows[1]);
    assert_eq!(launches(&read("net.txt", &whole)), 2);
    let log = format!("{header}\n{}\nEpoch 3 loss 0.25 12ms\n{}\n", rows[0], rows[1]);
    let profile = read("net.txt", &log);
    assert_eq!((launches(&profile), skipped(&profile).len()), (2, 1), "{:?}", skipped(&profile));
    let cut = whole.trim_end().strip_suffix("36").unwrap();
    let profile = read("net.txt", cut);
    assert_eq!((launches(&profile), skipped(&profile).len()), (1, 1), "{:?}", skipped(&profile));
    assert!(near(sum(&profile, Quantity::Duration), 39_548e-9));
}

#[test]
fn cells_of_copies_that_cannot_be_read_are_counted() {
    let text = fixture("nsys_trace/h100-2021.csv");
    let whole = read("trace.csv", &text);
    let copies = |profile: &Profile| profile.activities.len();
    for (from, to, reason) in [
        ("0.150000,1216", "x,1216", "not a time"),
        ("0.150000,1216", "0.150000,-1", "negative time"),
        (",65536,", ",-65536,", "not a size"),
    ] {
        assert!(text.contains(from));
        let profile = read("trace.csv", &text.replacen(from, to, 1));
        assert_eq!(launches(&profile), launches(&whole));
        let found = skipped(&profile);
        assert_eq!(found.len(), 1, "{to}: {found:?}");
        assert_eq!(found[0].1, reason);
        assert!(copies(&profile) + 1 >= copies(&whole));
        assert!(profile.activities.iter().all(|one| one.bytes != Some(0)));
    }
}

#[test]
fn metrics_of_proton_that_are_text_are_counted() {
    let text = fixture("proton/h100-two-scopes.hatchet");
    let whole = read("run.hatchet", &text);
    let counted = "\"bytes\": 300000000.0, \"count\": 3";
    assert!(text.contains(counted));
    let wrong = text.replacen(counted, &counted.replace("count\": 3", "count\": \"3\""), 1);
    let profile = read("run.hatchet", &wrong);
    assert_eq!(launches(&profile) + 3, launches(&whole));
    assert_eq!(skipped(&profile)[0].1, "not a number");
}

#[test]
fn what_follows_compressed_data_is_padding_or_named() {
    let text = fixture("nsys_sum/h100-cuda_gpu_kern_sum.csv");
    let pressed = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let whole = read("sum.csv", &text);
    let (one, two) = text.split_at(text.find('\n').unwrap() + 1);
    for content in [
        [pressed(&text), vec![0; 700]].concat(),
        [pressed(one), pressed(two)].concat(),
        [pressed(one), pressed(two), vec![0; 3]].concat(),
    ] {
        assert_eq!(launches(&together(&[("sum.csv.gz", &content)]).unwrap()), launches(&whole));
    }
    let error =
        together(&[("sum.csv.gz", &[pressed(&text), b"more".to_vec()].concat())]).unwrap_err();
    assert!(error.contains("what follows the end of the compressed data is not gzip"), "{error}");
}

/// A folder with a page, a page whose profiler stopped with an error, and a header alone.
#[test]
fn what_is_not_read_is_no_input_and_checks_are_kept_with_any_number_of_threads() {
    let page = fixture("ncu_wide/h200-worked-cases.csv");
    let header = page.lines().next().unwrap();
    let other = fixture("ncu_wide/rtx-a2000-not-in-catalog.csv");
    let stopped = format!("==ERROR== Failed to profile \"k\" in process 7\n{other}");
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [("a.csv", &page[..]), ("b.csv", header), ("c.csv", &stopped)] {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let inputs = ingest::expand(&[folder.path().to_owned()]).unwrap();
    let of = |threads| {
        let profile = ingest::read(&inputs, &Options { threads, ..Options::default() }).unwrap();
        assert!(profile.sources.iter().all(|source| !source.path.ends_with("b.csv")), "{threads}");
        assert!(profile.notes.iter().any(|note| note.contains("b.csv")), "{:?}", profile.notes);
        assert!(profile.checks.iter().any(|check| check.contains("c.csv")), "{:?}", profile.checks);
        (profile.sources.len(), profile.notes, profile.checks)
    };
    let one = of(1);
    for threads in [2, 4] {
        assert_eq!(of(threads), one);
    }
}

#[test]
fn a_table_that_breaks_off_within_a_row_says_so() {
    let page = fixture("ncu_wide/h200-worked-cases.csv");
    let page = page.trim_end();
    let cut = &page[..page.rfind(",\"").unwrap() + 3];
    let profile = read("cut.csv", cut);
    let lines = page.lines().count();
    let says = format!("breaks off in line {lines}, within a row");
    assert!(profile.checks.iter().any(|check| check.contains(&says)), "{:?}", profile.checks);
    assert_eq!(profile.sources[0].skips.count, 1);
    assert_eq!(read("whole.csv", page).checks, [""; 0]);
    assert_eq!(launches(&profile) + 1, launches(&read("whole.csv", page)));
}

/// Where all ranks are needed, one whose profiler stopped is an error; messages of a run that wrote a report are none.
#[test]
fn a_rank_whose_profiler_stopped_is_missed() {
    let page = fixture("ncu_wide/h200-worked-cases.csv");
    let of = |other: &str| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("rank-0.csv"), &page).unwrap();
        std::fs::write(folder.path().join("rank-1.csv"), other).unwrap();
        let inputs = ingest::expand(&[folder.path().to_owned()]).unwrap();
        let whole = Options { whole: true, ..Options::default() };
        ingest::read(&inputs, &whole)
            .map(|profile| profile.unread)
            .map_err(|error| error.to_string())
    };
    for bad in ["killed.csv", "permission.csv", "no-kernels.csv", "header-only.csv"] {
        let error = of(&fixture(&format!("bad/{bad}"))).unwrap_err();
        assert!(error.contains("rank-1.csv"), "{bad}: {error}");
    }
    let log = "==PROF== Connected to process 9\n==PROF== Report: /runs/step.ncu-rep\n";
    assert_eq!(of(log), Ok(1));
    let alone = read_text("log.csv", log, &Options::default()).unwrap_err();
    assert_eq!(alone.next_step(), Some("read that: rooflint /runs/step.ncu-rep"));
}
