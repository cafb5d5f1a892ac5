//! What single metrics come to, and what is made of exports that disagree with themselves.

use std::io::Write;

use rooflint::analysis::{self, Kernel};
use rooflint::catalog::Catalog;
use rooflint::ingest::{self, Input, Options};
use rooflint::model::{Pipe, Profile, Quantity};

/// Launch number, compute capability, metric, unit, value.
type Row = (u32, &'static str, &'static str, &'static str, &'static str);

/// A metric list with these rows.
fn list(rows: &[Row]) -> String {
    let mut text = String::from(
        "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\
         \"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\
         \"Metric Value\"\n",
    );
    for (id, capability, metric, unit, value) in rows {
        text.push_str(&format!(
            "\"{id}\",\"7\",\"app\",\"127.0.0.1\",\"work\",\"1\",\"7\",\"(256, 1, 1)\",\"(4096, 1, 1)\",\
             \"0\",\"{capability}\",\"Command line profiler metrics\",\"{metric}\",\"{unit}\",\"{value}\"\n"
        ));
    }
    text
}

fn read(rows: &[Row]) -> Profile {
    let text: &'static str = Box::leak(list(rows).into_boxed_str());
    ingest::read_text("list", text, &Options::default()).unwrap()
}

const TIME: &str = "gpu__time_duration.sum";

#[test]
fn bytes_and_their_rate_from_different_executions_are_told() {
    let clue = |rate| {
        let profile = read(&[
            (0, "9.0", TIME, "ns", "1000000"),
            (0, "9.0", "dram__bytes.sum", "byte", "1000000"),
            (0, "9.0", "dram__bytes.sum.per_second", "byte/second", rate),
        ]);
        profile.sources[0].clues.iter().any(|clue| clue.contains("different executions"))
    };
    assert!(!clue("1020000000"));
    assert!(clue("1040000000"));
}

/// `--print-metric-instances values`: 1 ms, 3,000 FFMA (6,000 FLOP) and 1.5 MB, of which the second file has the thousands grouped by
/// points and a decimal comma.
#[test]
fn the_values_of_instances_behind_a_value_are_passed_over() {
    const FFMA: &str = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
    let check = |profile: &Profile| {
        let launch = profile.launch(0);
        assert_eq!(launch.value(Quantity::Duration), Some(1e-3));
        assert_eq!(launch.value(Quantity::Work(Pipe::Fp32Vector)), Some(6000.0));
        assert_eq!(launch.value(Quantity::DramBytes), Some(1.5e6));
        assert_eq!(profile.sources[0].skips.count, 0, "{:?}", profile.sources[0].skips);
    };
    let zero = |op: &str| {
        format!("smsp__sass_thread_inst_executed_op_{op}_pred_on.sum").leak() as &'static str
    };
    check(&read(&[
        (0, "9.0", TIME, "ns", "1000000"),
        (0, "9.0", FFMA, "inst", "3000 (1000; 1500; 500)"),
        (0, "9.0", zero("fadd"), "inst", "0 (0; 0; 0)"),
        (0, "9.0", zero("fmul"), "inst", "0 (1: 0; 2: 0)"),
        (0, "9.0", "dram__bytes.sum", "byte", "1500000 (700000; 800000)"),
    ]));
    let page = |time: &str, ffma: &str, bytes: &str| {
        let (fadd, fmul) = (zero("fadd"), zero("fmul"));
        format!(
            "\"ID\",\"Process ID\",\"Kernel Name\",\"Grid Size\",\"Block Size\",\"Device\",\"CC\",\"{TIME}\",\"{FFMA}\",\
             \"{fadd}\",\"{fmul}\",\"dram__bytes.sum\"\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"us\",\"inst\",\"inst\",\"inst\",\"Kbyte\"\n\
             \"0\",\"7\",\"work\",\"(64, 1, 1)\",\"(256, 1, 1)\",\"0\",\"9.0\",\"{time}\",\"{ffma}\",\"0\",\"0\",\"{bytes}\"\n"
        )
    };
    let point = page("1,000.00", "3,000 (1,000; 1,500; 500)", "1,500.00 (700.00; 800.00)");
    check(&ingest::read_text("page", &point, &Options::default()).unwrap());
    let comma = page("1.000,00", "3.000 (1.000; 1.500; 500)", "1.500,00 (700,00; 800,00)");
    check(&ingest::read_text("page", &comma, &Options::default()).unwrap());
    // A list alone is no value.
    let without = read(&[(0, "9.0", TIME, "ns", "1000000"), (0, "9.0", FFMA, "inst", "(1; 2)")]);
    assert_eq!(without.launch(0).value(Quantity::Work(Pipe::Fp32Vector)), None);
    assert_eq!(without.sources[0].skips.count, 1);
}

/// What a file without launches has instead is in the error.
#[test]
fn ranges_alone_are_named_in_the_error() {
    let row = (0, "9.0", TIME, "ns", "1000000");
    let ranges = list(&[row, (1, "9.0", TIME, "ns", "2000000")])
        .replace("\"work\"", "\"range\"")
        .replace("\"(256, 1, 1)\",\"(4096, 1, 1)\"", "\"\",\"\"");
    let error = ingest::read_text("list", &ranges, &Options::default()).unwrap_err().to_string();
    assert!(error.contains("no kernel launch; 2 results of range replay are not read"), "{error}");
}

/// 10 + 20 + 2 × 30 FLOP of single operations, and 2 × (1 + 2 + 2 × 3) of packed ones, which B200 and B300 count apart.
#[test]
fn packed_single_precision_that_was_not_collected_leaves_the_count_open() {
    const OPEN: f64 = f64::INFINITY;
    let work = |capability, counts: &[(&str, &'static str)]| {
        let name = |op: &str| format!("smsp__sass_thread_inst_executed_op_{op}_pred_on.sum");
        let rows = counts
            .iter()
            .map(|(op, count)| (0, capability, name(op).leak() as &'static str, "inst", *count));
        let time = (0, capability, TIME, "ns", "1000000");
        let profile = read(&std::iter::once(time).chain(rows).collect::<Vec<Row>>());
        let launch = profile.launch(0);
        let (flops, origin) = launch.get(Quantity::Work(Pipe::Fp32Vector))?;
        Some((flops, origin.low, origin.high))
    };
    let single = [("fadd", "10"), ("fmul", "20"), ("ffma", "30")];
    let packed = [("fadd2", "1"), ("fmul2", "2"), ("ffma2", "3")];
    let all = [single, packed].concat();
    for capability in ["10.0", "10.3"] {
        assert_eq!(work(capability, &single), Some((90.0, 1.0, OPEN)));
        assert_eq!(work(capability, &all), Some((108.0, 1.0, 1.0)));
        // Of packed ones, some or nothing else: what was counted was done.
        assert_eq!(work(capability, &all[..5]), Some((96.0, 1.0, OPEN)));
        assert_eq!(work(capability, &packed), Some((18.0, 1.0, OPEN)));
        // All of it may be packed.
        let none = [("fadd", "0"), ("fmul", "0"), ("ffma", "0")];
        assert_eq!(work(capability, &none), None);
    }
    // Elsewhere Nsight Compute's own roofline rule has no such counters.
    for capability in ["9.0", "11.0", "12.0", ""] {
        assert_eq!(work(capability, &single), Some((90.0, 1.0, 1.0)), "{capability}");
    }
    assert_eq!(work("", &all[..4]), Some((92.0, 1.0, OPEN)));
    let unweighted = |capability| {
        let name = "smsp__sass_thread_inst_executed_ops_fadd_fmul_ffma_pred_on.sum";
        let time = (0, capability, TIME, "ns", "1000000");
        let profile = read(&[time, (0, capability, name, "inst", "60")]);
        let launch = profile.launch(0);
        let (count, origin) = launch.get(Quantity::Work(Pipe::Fp32Vector)).unwrap();
        (count, origin.low, origin.high)
    };
    assert_eq!((unweighted("9.0"), unweighted("10.0")), ((60.0, 1.0, 2.0), (60.0, 1.0, OPEN)));
}

#[test]
fn packed_half_on_the_tensor_pipe_is_no_tensor_work() {
    let work = |capability| {
        let profile = read(&[
            (0, capability, TIME, "ns", "1000000"),
            (0, capability, "sm__inst_executed_pipe_tensor.sum", "inst", "100"),
            (0, capability, "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", "inst", "3200"),
        ]);
        profile.launch(0).value(Quantity::Work(Pipe::Fp16Matrix))
    };
    assert_eq!(work("9.0"), Some(0.0));
    // 2 × 16 × 8 × 8, the smallest instruction.
    assert_eq!(work("8.6"), Some(100.0 * 2048.0));
    // It can be either where the device is not told.
    assert_eq!(work(""), None);
}

/// 24 of 32 lanes do packed-half operations: 294,912 threads take the 12,288 warp instructions that are counted.
#[test]
fn idle_lanes_of_packed_half_are_no_tensor_work() {
    let work = |capability, instructions| {
        let profile = read(&[
            (0, capability, TIME, "ns", "1000000"),
            (0, capability, "sm__inst_executed_pipe_tensor.sum", "inst", instructions),
            (
                0,
                capability,
                "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum",
                "inst",
                "294912",
            ),
        ]);
        profile.launch(0).value(Quantity::Work(Pipe::Fp16Matrix))
    };
    assert_eq!(work("8.0", "12288"), Some(0.0));
    assert_eq!(work("", "12288"), None);
    // More than 294,912 ÷ 16 − 294,912 ÷ 32 beyond full warps cannot be lanes that a predicate left off.
    assert_eq!(work("", "19000"), Some((19_000.0 - 9_216.0) * 2048.0));
}

#[test]
fn a_clock_of_zero_is_missing() {
    let profile = read(&[
        (0, "9.0", TIME, "ns", "1000000"),
        (0, "9.0", "sm__cycles_elapsed.avg.per_second", "hz", "0"),
    ]);
    assert_eq!(profile.launch(0).value(Quantity::SmClock), None);
}

#[test]
fn a_launch_printed_in_parts_is_one_and_a_number_used_again_is_another() {
    let bytes = "dram__bytes.sum";
    let parts = read(&[
        (0, "9.0", TIME, "ns", "1000"),
        (1, "9.0", TIME, "ns", "2000"),
        (0, "9.0", bytes, "byte", "64"),
    ]);
    assert_eq!(parts.launches.len(), 2);
    assert_eq!(parts.launch(0).value(Quantity::DramBytes), Some(64.0));
    let again = read(&[
        (0, "9.0", TIME, "ns", "1000"),
        (1, "9.0", TIME, "ns", "2000"),
        (0, "9.0", TIME, "ns", "1500"),
    ]);
    assert_eq!(again.launches.len(), 3);
    assert!(again.notes.iter().any(|note| note.contains("another run")), "{:?}", again.notes);
}

#[test]
fn a_summary_printed_section_by_section_gives_each_kernel_once() {
    let header = "\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\
        \"Device\",\"CC\",\"Invocations\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Minimum\",\
        \"Maximum\",\"Average\"\n";
    let row = |kernel: &str, metric: &str, unit: &str, average: &str| {
        format!(
            "\"7\",\"app\",\"127.0.0.1\",\"{kernel}\",\"(256, 1, 1)\",\"(512, 1, 1)\",\"0\",\"8.9\",\"3\",\
             \"Command line profiler metrics\",\"{metric}\",\"{unit}\",\"1\",\"9\",\"{average}\"\n"
        )
    };
    let text = [
        header.to_owned(),
        row("one", TIME, "ns", "5"),
        row("two", TIME, "ns", "7"),
        row("one", "dram__bytes.sum", "byte", "64"),
        row("two", "dram__bytes.sum", "byte", "96"),
    ]
    .concat();
    let text: &'static str = Box::leak(text.into_boxed_str());
    let profile = ingest::read_text("summary", text, &Options::default()).unwrap();
    assert_eq!(profile.launches.len(), 2);
    assert_eq!(profile.sources[0].launches, 6);
    assert_eq!(profile.launch(1).value(Quantity::DramBytes), Some(96.0));
}

/// A kernel of 100 µs on an H100, with 20 µs of counted tensor work and this share of active cycles.
fn tensor_kernel(active: &'static str) -> Kernel {
    let profile = read(&[
        (0, "9.0", TIME, "ns", "100000"),
        // 20 µs × 989.4 TFLOP/s
        (0, "9.0", "sm__ops_path_tensor_src_bf16_dst_fp32.sum", "", "19788000000"),
        (0, "9.0", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed", "%", active),
    ]);
    let options =
        analysis::Options { device: Some("H100 SXM5 80GB".to_owned()), ..Default::default() };
    let analysis = analysis::analyze(&profile, &Catalog::builtin(), &options).unwrap();
    analysis.kernels[0].clone()
}

#[test]
fn slow_tensor_instructions_are_not_taken_for_uncounted_work() {
    let math = |active| tensor_kernel(active).math_time.unwrap().get() * 1e6;
    assert!((math("20") - 20.0).abs() < 0.1, "{}", math("20"));
    // HMMA on Hopper keeps the pipe busy half as long again.
    assert!((math("30") - 20.0).abs() < 0.1, "{}", math("30"));
    // Three times as long: two thirds of the work were not counted.
    assert!((math("60") - 60.0).abs() < 0.1, "{}", math("60"));
}

#[test]
fn a_file_that_breaks_off_in_a_folder_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let sample = include_bytes!("../../fixtures/demo/h100-training-step.csv");
    std::fs::write(folder.path().join("b-whole.csv"), sample).unwrap();
    std::fs::write(folder.path().join("c-report.txt"), "GPU time     1.00 ms in 1 launch\n")
        .unwrap();
    // Large enough that launches are read before the archive breaks off.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let text = String::from_utf8(sample.to_vec()).unwrap();
    packed.write_all(sample).unwrap();
    for _ in 0..200 {
        for line in text.lines().skip(2) {
            packed.write_all(line.as_bytes()).unwrap();
            packed.write_all(b"\n").unwrap();
        }
    }
    let packed = packed.finish().unwrap();
    std::fs::write(folder.path().join("a-cut.csv.gz"), &packed[..packed.len() - 100]).unwrap();
    let inputs = ingest::expand(&[folder.path().to_owned()]).unwrap();
    assert!(inputs.iter().all(|input| matches!(input, Input::Found(_))), "{inputs:?}");
    let profile = ingest::read(&inputs, &Options::default()).unwrap();
    assert_eq!((profile.sources.len(), profile.unread), (1, 2));
    assert_eq!(profile.launches.len(), 46);
    assert!(profile.iter().all(|launch| launch.head.source == 0));
    assert!(profile.notes.iter().any(|note| note.contains("a-cut.csv.gz")), "{:?}", profile.notes);
    assert!(profile.notes.iter().any(|note| note.contains("a rooflint report")));
}
