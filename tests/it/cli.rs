//! The whole program, as a user runs it: output, errors, exit codes.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use super::program::{command, finish, run};

fn demo() -> &'static str {
    "fixtures/demo/h100-training-step.csv"
}

#[test]
fn a_file_alone_is_analysed_and_only_the_report_is_on_standard_output() {
    let run = run(&[demo()]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(run.stdout.starts_with("GPU time"), "{}", run.stdout);
    assert_eq!(run.stdout, self::run(&["analyze", demo()]).stdout);
}

#[test]
fn the_demo_is_the_report_on_the_sample() {
    let demo = run(&["demo"]);
    assert_eq!(demo.code, 0);
    let full = run(&["demo", "--full"]).stdout;
    assert_eq!(
        full.replace("  demo:", &format!("  {}:", self::demo())),
        run(&[self::demo(), "--full"]).stdout
    );
    assert_eq!(demo.stdout, run(&[self::demo()]).stdout);
    assert!(full.lines().count() > demo.stdout.lines().count());
}

#[cfg(feature = "page")]
#[test]
fn the_lesson_is_written_where_it_is_named_and_nowhere_else() {
    let nowhere = run(&["learn"]);
    assert_eq!((nowhere.code, nowhere.stdout.as_str()), (2, ""));
    assert!(nowhere.stderr.contains("help: rooflint learn -o learn.html"), "{}", nowhere.stderr);
    let other = run(&["learn", "-o", "learn.pdf"]);
    assert_eq!(other.code, 2);
    assert!(other.stderr.contains("ends in .html"), "{}", other.stderr);
    let unknown = run(&["learn", "-o", "-", "--device", "RTX 4091"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("RTX 4090"), "{}", unknown.stderr);
    let own = "fixtures/predict/source-devices.toml";
    let added = run(&["learn", "-o", "-", "--devices", own]);
    let notes: Vec<&str> = added.stderr.lines().collect();
    assert_eq!(
        notes[..2],
        [
            format!("note: {own}: Titan V (smish.dev) is left out of the tutorial: SMs not known"),
            format!(
                "note: {own}: A100 (glossary) is left out of the tutorial: SMs, FP32 peak not known"
            )
        ]
    );
    assert!(added.stdout.contains("V100 (guide)") && !added.stdout.contains("A100 (glossary)"));
    let page = run(&["learn", "-o", "-", "--device", "RTX 4090"]);
    assert_eq!((page.code, page.stderr.as_str()), (0, ""));
    assert!(page.stdout.starts_with("<!doctype html>") && page.stdout.contains("RTX 4090"));
}

#[test]
fn standard_input_is_read_like_a_file() {
    let mut command = command(&["-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let text = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(demo())).unwrap();
    child.stdin.take().unwrap().write_all(&text).unwrap();
    let output = child.wait_with_output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!(stdout.replace("<stdin>", demo()), run(&[demo()]).stdout);
}

#[test]
fn kernels_are_found_by_a_part_of_their_name_their_library_or_category() {
    let found = |query: &str| -> BTreeSet<String> {
        let run = run(&["demo", "--kernel", query, "--format", "csv"]);
        assert_eq!(run.code, 0, "{query}: {}", run.stderr);
        let names = run.stdout.lines().skip(1).filter_map(|line| line.split(',').nth(1));
        names.map(|name| name.trim_matches('"').split('<').next().unwrap().to_owned()).collect()
    };
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(found("FLASH"), set(&["flash_fwd_kernel"]));
    assert_eq!(found("communication"), set(&["ncclDevKernel_AllReduce_Sum_bf16_RING_LL"]));
    assert_eq!(found("nccl"), found("communication"));
    assert_eq!(found("data-movement"), found("data movement"));
    // A whole name is that kernel only.
    assert_eq!(found("flash_fwd_kernel<bf16>"), found("flash"));
}

#[test]
fn exit_codes_are_as_documented() {
    for (arguments, code, says) in [
        (vec!["demo"], 0, ""),
        (vec![demo()], 0, ""),
        (vec!["--help"], 0, ""),
        (vec!["--version"], 0, ""),
        (vec![], 2, "Usage"),
        (vec!["analyze"], 2, "required"),
        (vec!["anaylze", demo()], 2, "analyze"),
        (vec!["demo", "--thresold", "2"], 2, "--threshold"),
        (vec!["demo", "--threshold", "0.5"], 2, "at least 1"),
        (vec!["demo", "--device", "NVIDIA H1000"], 2, "closest"),
        (vec!["demo", "-o", "report.xlsx"], 2, "no report format has this ending"),
        (vec!["demo", "-o", "no/such/folder/report.md"], 2, "cannot write"),
        (vec!["demo", "--kernel", "gemmm"], 2, "no kernel is called"),
        (vec!["demo", "--kernel", "#99"], 2, "no kernel #99: the report has 13 kernels"),
        (vec!["demo", "--devices", "no-such.toml"], 2, "device file"),
        (vec![demo(), "--map", "no-such.toml"], 2, "cannot read the mapping"),
        (vec!["rules", "low-ocupancy"], 2, "did you mean"),
        (vec!["no-such-file.csv"], 3, "no-such-file.csv: no such file"),
        (vec!["no-such-*.csv"], 3, "no file fits"),
        (vec!["docs/pictures"], 3, "holds no export"),
        (vec!["fixtures/bad/empty.csv"], 3, "empty"),
        (vec!["fixtures/bad/permission.csv"], 3, "not permitted"),
        (vec!["fixtures/bad/unknown-unit.csv", "--device", "H200", "--strict"], 3, "unknown unit"),
    ] {
        let run = run(&arguments);
        assert_eq!(run.code, code, "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(says), "{arguments:?}: {}", run.stderr);
        assert!(code == 0 || run.stdout.is_empty(), "{arguments:?}: {}", run.stdout);
    }
}

#[test]
fn the_exit_code_table_has_a_line_per_code() {
    let help = run(&["--help"]).stdout;
    for (code, meaning) in rooflint::cli::exit::TABLE {
        assert!(help.contains(&format!("{code} ")), "{code}");
        let words = meaning.split([',', ' ']).next().unwrap();
        assert!(help.to_lowercase().contains(words), "{meaning}");
    }
}

#[test]
fn help_shows_examples_and_the_short_one_fits_a_screen() {
    let long = run(&["--help"]).stdout;
    assert!(long.matches("  rooflint ").count() >= 3);
    let short = run(&["-h"]).stdout;
    // A screen of today, not as many lines as there are: a further command has room.
    assert!(
        short.lines().count() <= 40 && short.lines().all(|line| line.chars().count() <= 100),
        "{short}"
    );
    for command in [
        "analyze",
        "inspect",
        "convert",
        "predict",
        "gate",
        "diff",
        "calibrate",
        "baseline",
        "trend",
        "devices",
        "formats",
        "rules",
        "demo",
        "schema",
    ] {
        assert_eq!(run(&[command, "--help"]).code, 0, "{command}");
    }
}

#[test]
fn color_follows_the_flag_and_the_environment() {
    let escapes = |set: &[(&str, &str)], arguments: &[&str]| {
        let mut command = command(arguments);
        for (name, value) in set {
            command.env(name, value);
        }
        finish(command).stdout.contains('\u{1b}')
    };
    assert!(!escapes(&[], &["demo"]));
    assert!(escapes(&[], &["demo", "--color", "always"]));
    assert!(escapes(&[("FORCE_COLOR", "1")], &["demo"]));
    assert!(escapes(&[("CLICOLOR_FORCE", "1")], &["demo"]));
    assert!(!escapes(&[("NO_COLOR", "1"), ("FORCE_COLOR", "1")], &["demo"]));
    assert!(!escapes(&[("FORCE_COLOR", "1")], &["demo", "--color", "never"]));
}

#[test]
fn ascii_is_ascii_and_no_line_is_wider_than_asked() {
    let mut ascii = command(&["demo"]);
    ascii.env("LC_ALL", "C");
    assert!(finish(ascii).stdout.is_ascii());
    assert!(run(&["demo", "--ascii"]).stdout.is_ascii());
    for width in [60, 80, 120, 200] {
        let text = run(&["demo", "--width", &width.to_string()]).stdout;
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn several_outputs_are_written_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (json, markdown, table) = (file("r.json"), file("r.md"), file("r.csv"));
    let run = run(&["demo", "-o", &json, "-o", &markdown, "-o", &table, "-o", "-"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.starts_with("GPU time"));
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    let document: serde_json::Value = serde_json::from_str(&read(&json)).unwrap();
    assert_eq!(document["schema"], "rooflint/report/3");
    assert!(read(&markdown).starts_with("## Roofline report"));
    assert_eq!(read(&table).lines().count(), 1 + document["kernels"].as_array().unwrap().len());
    // Nothing but the outputs is left in the folder.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn explaining_a_kernel_prints_its_arithmetic() {
    let text = run(&["demo", "--kernel", "transpose*", "--explain"]).stdout;
    for part in ["t_mem", "B ÷ BW", "E  ", "headroom", "T ÷ E", "dram__bytes_read.sum"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // 860 TFLOP/s over 3.35 TB/s.
    let of_math = run(&["demo", "--kernel", "flash*", "--explain"]).stdout;
    assert!(of_math.contains("\n  ridge point    256 FLOP/B"), "{of_math}");
}

#[test]
fn compressed_and_utf16_exports_are_read_like_plain_ones() {
    let folder = tempfile::tempdir().unwrap();
    let plain =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(demo())).unwrap();
    let write = |name: &str, bytes: &[u8]| -> PathBuf {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(plain.as_bytes()).unwrap();
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain(plain.replace('\n', "\r\n").encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let files = [
        // Endings are ignored: the content decides.
        write("gzip.bin", &gzip.finish().unwrap()),
        write("zstd.csv", &zstd::encode_all(plain.as_bytes(), 1).unwrap()),
        write("utf16.csv", &utf16),
        write("bom.csv", format!("\u{feff}{plain}").as_bytes()),
    ];
    let totals = |text: &str| text.lines().take(4).map(str::to_owned).collect::<Vec<_>>();
    let expected = totals(&run(&[demo()]).stdout);
    for file in files {
        let run = run(&[file.to_str().unwrap()]);
        assert_eq!(totals(&run.stdout), expected, "{}: {}", file.display(), run.stderr);
    }
}

#[test]
fn any_other_csv_is_read_through_a_mapping() {
    let run = run(&[
        "fixtures/mapped/h100-benchmark.csv",
        "--map",
        "fixtures/mapped/h100-benchmark.toml",
        "--full",
    ]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("mapped"), "{}", run.stdout);
    let without = self::run(&["fixtures/mapped/h100-benchmark.csv"]);
    assert_eq!(without.code, 3);
    assert!(without.stderr.contains("--map"), "{}", without.stderr);
}

#[test]
fn a_mapping_is_suggested_for_one_table_that_no_format_knows() {
    let table = "fixtures/mapped/h100-benchmark.csv";
    let suggested = run(&["inspect", table, "--suggest-map"]);
    assert_eq!((suggested.code, &*suggested.stderr), (0, ""));
    let folder = tempfile::tempdir().unwrap();
    let map = folder.path().join("map.toml");
    std::fs::write(&map, &suggested.stdout).unwrap();
    let report = run(&[table, "--map", map.to_str().unwrap()]);
    assert_eq!(report.code, 0, "{}", report.stderr);
    assert!(report.stdout.contains("48 launches of 3 kernels"), "{}", report.stdout);
    let unknown = run(&[table]);
    let next = format!("rooflint inspect {table} --suggest-map > MAPPING.toml");
    assert!(unknown.stderr.contains(&next), "{}", unknown.stderr);
    for (arguments, code, says) in [
        (&["inspect", table, table, "--suggest-map"][..], 2, "suggested for one table, not 2"),
        (&["inspect", demo(), "--suggest-map"], 3, "no mapping is needed: the format is ncu-"),
        (&["inspect", table, "--suggest-map", "--map", "x.toml"], 2, "cannot be used with"),
    ] {
        let run = run(arguments);
        assert_eq!(run.code, code, "{}", run.stderr);
        assert!(run.stderr.contains(says), "{}", run.stderr);
    }
}

#[test]
fn a_directory_is_one_report_and_says_what_it_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let plain =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(demo())).unwrap();
    for rank in 0..3 {
        // Ranks are processes of their own.
        let text = plain.replace("\"41234\"", &format!("\"4123{rank}\""));
        std::fs::write(folder.path().join(format!("rank{rank}.csv")), text).unwrap();
    }
    std::fs::write(folder.path().join("notes.txt"), "hello").unwrap();
    let run = run(&[folder.path().to_str().unwrap(), "--full"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("in 138 launches"), "{}", run.stdout);
    assert!(run.stdout.contains("not read:") && run.stdout.contains("notes.txt"), "{}", run.stdout);
    assert!(run.stdout.contains("Inputs compared") || !cfg!(feature = "frames"), "{}", run.stdout);
}

#[test]
fn escape_sequences_in_names_never_reach_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let plain =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(demo())).unwrap();
    let hostile = plain.replace(
        "transpose_naive_kernel",
        "\u{1b}]0;pwned\u{7}\u{202e}<img src=x onerror=alert(1)>|`x`",
    );
    let file = folder.path().join("hostile.csv");
    std::fs::write(&file, hostile).unwrap();
    for format in [
        "text",
        "markdown",
        "csv",
        "json",
        #[cfg(feature = "page")]
        "html",
    ] {
        let text = run(&[file.to_str().unwrap(), "--format", format]).stdout;
        assert!(
            !text.contains('\u{1b}') && !text.contains('\u{202e}') || format == "json",
            "{format}"
        );
        assert!(!text.contains('\u{1b}'), "{format}");
        assert!(!matches!(format, "markdown" | "html") || !text.contains("<img"), "{text}");
    }
}

#[test]
fn devices_are_listed_and_shown_with_their_sources() {
    let list = run(&["devices"]).stdout;
    let known = rooflint::catalog::Catalog::builtin().names().unwrap().len();
    assert!(list.lines().count() > known, "{}", list.lines().count());
    // Blanks only align columns.
    let page = |name: &str| {
        let text = run(&["devices", name]).stdout;
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let one = page("H100 SXM5 80GB");
    // 989.4 TFLOP/s over 3.352 TB/s, and over 8429 GB/s of L2 that were measured.
    let tensor = "bf16 tensor 989.4 TFLOP/s 2048 295.2 FLOP/B 117.4 FLOP/B NVIDIA H100 whitepaper";
    for part in [tensor, "FMA/clk/SM", "(L2: measured bandwidth)"] {
        assert!(one.contains(part), "{part}: {one}");
    }
    // 312 TFLOP/s over 5120 B/clock × 1.41 GHz; 181 TFLOP/s over 5104 GB/s that were measured.
    let one = page("A100 SXM4 80GB");
    assert!(one.contains("312.0 TFLOP/s 1024 153.0 FLOP/B 43.2 FLOP/B"), "{one}");
    let one = page("MI210");
    assert!(one.contains(" 35.5 FLOP/B ") && one.contains("(L2: measured bandwidth)"), "{one}");
    let json: serde_json::Value =
        serde_json::from_str(&run(&["devices", "NVIDIA H200", "--format", "json"]).stdout).unwrap();
    let one = &json["devices"][0];
    assert_eq!(one["name"], "H200 SXM 141GB");
    assert_eq!(one["pipes"]["fp32_vector"]["fma_per_clock_per_sm"], 128.0);
}

#[test]
fn inspecting_names_what_is_missing_and_the_command_that_supplies_it() {
    let text = run(&["inspect", "fixtures/ncu_long/l4-metrics-cut-off.csv"]).stdout;
    for part in [
        "ncu-long",
        "1 launch, 1 record or cell skipped",
        "Missing",
        "FP32 operations",
        "ncu --csv --metrics",
        "cut off",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json =
        run(&["inspect", "fixtures/ncu_long/l4-metrics-cut-off.csv", "--format", "json"]).stdout;
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["launches"], 1);
}

#[test]
fn a_device_of_ones_own_is_read_and_a_missing_figure_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mine.toml");
    let write = |peaks: &str| {
        let text = format!(
            "name = \"My GPU\"\nsms = 132\nboost_clock_mhz = 1980\n[memory]\nbandwidth_gbs = 3000\n[peaks_tflops]\n{peaks}"
        );
        std::fs::write(&file, text).unwrap();
        run(&["demo", "--devices", file.to_str().unwrap(), "--device", "My GPU", "--full"])
    };
    let missing = write("fp32_vector = 60\n");
    assert_eq!(missing.code, 0, "{}", missing.stderr);
    let reason = "does not have peaks_tflops.bf16_matrix for My GPU: did it run on this device?";
    assert!(missing.stdout.contains(reason), "{}", missing.stdout);
    assert!(missing.stdout.contains("the device file "), "{}", missing.stdout);
    let complete = write("fp32_vector = 60\nbf16_matrix = 900\n");
    assert_eq!(complete.code, 0, "{}", complete.stderr);
    assert!(complete.stdout.contains("My GPU"));
}

/// One product in TF32, which a V100 has no units for: its other kernels are judged.
#[test]
fn a_kernel_of_another_architecture_does_not_stop_the_report() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    };
    let csv = file(
        "run.csv",
        "name,us,tf32,fp32,mb\nampere_tf32_gemm,100,100,,50\nsgemm,20000,,100,50\n",
    );
    let map = file(
        "map.toml",
        "device = 'NVIDIA A100-SXM4-80GB'\n[columns]\nkernel = 'name'\ntime = { column = 'us', unit = 'us' }\n\
         flops = [{ column = 'tf32', unit = 'GFLOP', precision = 'tf32_matrix' }, { column = 'fp32', unit = 'GFLOP', precision = 'fp32_vector' }]\n\
         bytes = { column = 'mb', unit = 'MB' }\n",
    );
    let run = run(&[&csv, "--map", &map, "--device", "V100 SXM2 16GB", "--full"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    for said in [
        "does not have peaks_tflops.tf32_matrix for Tesla V100 SXM2 16GB",
        "the export ran on A100 SXM4 80GB, not on Tesla V100 SXM2 16GB",
    ] {
        assert!(run.stdout.contains(said), "{said}: {}", run.stdout);
    }
    // 100 GFLOP at 15.7 TFLOP/s are 6.4 ms.
    assert!(run.stdout.contains("3.1"), "{}", run.stdout);
}

/// Sides without a roof on one of them have nothing to compare, which is no change of zero.
#[test]
fn devices_that_cannot_be_compared_have_no_total() {
    let files = ["fixtures/rocprof/v1-results.csv", "fixtures/proton/h100-two-scopes.hatchet"];
    let text = run(&["diff", files[0], files[1]]).stdout;
    assert!(text.contains("times on different devices cannot be compared"), "{text}");
    assert!(text.contains("--across-devices (policy: across-devices = true)"), "{text}");
    assert!(!text.contains("headroom (not time)") && !text.contains("Global shift"), "{text}");
    let json = run(&["diff", files[0], files[1], "--format", "json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(json["comparison"]["total"]["change"].is_null(), "{}", json["comparison"]["total"]);
}

#[test]
fn converting_keeps_every_launch_and_its_units() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let (table, json) = (file("t.csv"), file("t.json"));
    let run = run(&["convert", demo(), "-o", &table, "-o", &json]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let mut reader = csv::Reader::from_path(&table).unwrap();
    let header = reader.headers().unwrap().clone();
    let time = header.iter().position(|name| name == "duration_s").unwrap();
    assert_eq!(&header[time + 1], "duration_s_origin");
    let sum: f64 = reader.records().map(|row| row.unwrap()[time].parse::<f64>().unwrap()).sum();
    let document: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    let launches = document["launches"].as_array().unwrap();
    assert_eq!(launches.len(), 46);
    let from_json: f64 = launches.iter().map(|launch| launch["duration_s"].as_f64().unwrap()).sum();
    assert!((sum / from_json - 1.0).abs() < 1e-12);
    assert!(launches[0]["integer"].is_null());
}

#[cfg(feature = "frames")]
#[test]
fn parquet_starts_and_ends_as_parquet_does() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.parquet");
    let run = run(&["convert", demo(), "-o", file.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let bytes = std::fs::read(file).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("rooflint/launches/1") && text.contains("column:duration_s"));
}

#[cfg(feature = "frames")]
#[test]
fn a_launch_table_is_read_in_all_its_forms() {
    let folder = tempfile::tempdir().unwrap();
    let report = |path: &str| {
        let run = run(&["analyze", path, "--format", "json"]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap()
    };
    let export = report(demo());
    for ending in ["parquet", "csv", "json"] {
        let file = folder.path().join("t").with_extension(ending);
        let file = file.to_str().unwrap();
        assert_eq!(run(&["convert", demo(), "-o", file]).code, 0);
        let table = report(file);
        assert_eq!(table["inputs"][0]["path"], file);
        assert_eq!(table["totals"], export["totals"], "{ending}");
        for (one, two) in
            table["kernels"].as_array().unwrap().iter().zip(export["kernels"].as_array().unwrap())
        {
            for key in ["full_name", "measured_s", "bytes", "flops", "roofline_s", "averages"] {
                assert_eq!(one[key], two[key], "{ending}");
            }
        }
    }
    let broken = folder.path().join("broken.parquet");
    std::fs::write(&broken, b"PAR1 and nothing else").unwrap();
    let run = run(&["analyze", broken.to_str().unwrap()]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("cannot read the Parquet file"), "{}", run.stderr);
}

#[test]
fn quiet_leaves_the_verdict_and_twice_quiet_nothing() {
    let whole = run(&["demo"]).stdout;
    let verdict = run(&["demo", "-q"]);
    assert_eq!(verdict.code, 0);
    assert!(verdict.stdout.starts_with("GPU time") && verdict.stdout.contains("\nSavings"));
    assert!(verdict.stdout.lines().count() <= 3 && whole.starts_with(&verdict.stdout));
    assert_eq!(run(&["--quiet", "demo", "--full"]).stdout, verdict.stdout);
    assert_eq!(run(&["demo", "-qq"]).stdout, "");
    // What a program asked for is not text.
    assert!(run(&["demo", "-qq", "--format", "json"]).stdout.starts_with('{'));
    // Of a prediction the time is left, of a sweep where it crosses the ridge point, of a step its time.
    let time = "Time         at least 40.0 µs, 47.1 µs at achievable rates on L4\n";
    assert_eq!(run(&["predict", "axpy", "n=1M", "--device", "L4", "-q"]).stdout, time);
    let sweep = run(&["predict", "axpy", "n=1k..1G", "--device", "L4", "-q"]).stdout;
    assert!(sweep.starts_with("L4: does not cross;") && sweep.lines().count() == 1, "{sweep}");
    let step = "fixtures/predict/cnn-stage.toml";
    let step = run(&["predict", "--model", step, "images=256", "--device", "L40S", "-q"]).stdout;
    assert!(step.starts_with("Time         at least ") && step.lines().count() == 1, "{step}");
    let missing = run(&["no-such-file.csv", "-qq"]);
    assert_eq!(missing.code, 3);
    assert!(missing.stderr.contains("no such file"), "{}", missing.stderr);
}

#[test]
fn chosen_kernels_narrow_every_output() {
    let others = "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT";
    for arguments in [&["--kernel", "#1"][..], &["--kernel", "#1", "--full"]] {
        for format in [
            "text",
            "markdown",
            "csv",
            "json",
            #[cfg(feature = "page")]
            "html",
        ] {
            let run = run(&[&["demo", "--format", format], arguments].concat());
            assert_eq!(run.code, 0, "{format}: {}", run.stderr);
            assert!(run.stdout.contains("transpose") && !run.stdout.contains(others), "{format}");
        }
    }
    let issue = run(&["demo", "--kernel", "#1", "--format", "markdown"]).stdout;
    assert!(issue.starts_with("## transpose_naive_kernel"), "{issue}");
    let parts = [
        "3.9% of 48.8 ms",
        "Cause",
        "Next step",
        "memory time",
        "5.88×",
        "H100 SXM5 80GB",
        "rooflint demo --kernel",
    ];
    for part in parts {
        assert!(issue.contains(part), "{part}: {issue}");
    }
    // A later kernel keeps its own findings, and several are in the order of the ranking.
    let later = run(&["demo", "--kernel", "softmax*"]).stdout;
    assert!(later.contains("tail-effect"), "{later}");
    let several = run(&["demo", "--kernel", "#2", "--kernel", "#1", "--format", "csv"]).stdout;
    let names: Vec<&str> =
        several.lines().skip(1).filter_map(|line| line.split(',').nth(1)).collect();
    assert_eq!(names.len(), 2, "{several}");
    assert!(names[0].contains("transpose") && names[1].contains("flash"), "{several}");
}

#[test]
fn an_explanation_has_every_format_of_a_document_and_no_picture() {
    for format in ["text", "markdown", "html", "json", "csv"] {
        let run = run(&["demo", "--kernel", "#1", "--explain", "--format", format]);
        assert_eq!(run.code, 0, "{format}: {}", run.stderr);
        assert!(run.stdout.contains("t_mem") || run.stdout.contains("t\\_mem"), "{format}");
    }
    let picture = run(&["demo", "--explain", "-o", "kernel.svg"]);
    assert_eq!(picture.code, 2);
    for ending in [".txt", ".md", ".html", ".json", ".csv"] {
        assert!(picture.stderr.contains(ending), "{}", picture.stderr);
    }
}
