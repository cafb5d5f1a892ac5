//! The time of each GPU of a trace: equal to what interval algebra over the raw events gives, and told only where it is
//! known.

use std::path::{Path, PathBuf};

use rooflint::analysis::{Analysis, IdleCauses, Timeline};
use rooflint::ingest::{self, Input, Options};
use rooflint::report::{Report, Style, written};
use rooflint::session::{Judged, Session};
use rooflint::units::Seconds;

use super::profiles::collection;

fn with_judged<T>(files: &[PathBuf], look: impl FnOnce(&Judged<'_>) -> T) -> T {
    let inputs: Vec<_> = files.iter().map(|file| Input::Named(file.clone())).collect();
    let profile = ingest::read(&inputs, &Options::default()).unwrap();
    look(&Session::default().judge(&profile).unwrap())
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

fn ns(time: Seconds) -> u64 {
    (time.get() * 1e9).round() as u64
}

/// Gaps; host, host waiting, launch, short, dependency and unknown in ns. They are all of the idle time.
fn causes(one: &Timeline) -> Option<[u64; 7]> {
    let causes = one.idle_causes?;
    let IdleCauses { gaps, host, host_waiting, launch, short, dependency, unknown, .. } = causes;
    assert!(causes.long_host <= host + host_waiting + launch);
    let parts = [host, host_waiting, launch, short, dependency, unknown].map(ns);
    assert_eq!(parts.iter().sum::<u64>(), ns(one.idle()));
    let [host, host_waiting, launch, short, dependency, unknown] = parts;
    Some([gaps, host, host_waiting, launch, short, dependency, unknown])
}

fn causes_of(file: &Path) -> Vec<Option<[u64; 7]>> {
    with_judged(&[file.to_owned()], |judged| judged.analysis.timelines.iter().map(causes).collect())
}

/// Span, busy, computation, exposed communication, exposed copies.
fn figures(one: &Timeline) -> [u64; 5] {
    let copies = one.copies.map_or(Seconds::ZERO, |copies| copies.exposed);
    [one.span, one.busy, one.compute, one.exposed_communication, copies].map(ns)
}

fn of(file: &Path) -> Vec<[u64; 5]> {
    with_judged(&[file.to_owned()], |judged| {
        let all: Vec<_> = judged.analysis.timelines.iter().map(figures).collect();
        for [span, busy, compute, communication, copies] in &all {
            assert_eq!(compute + communication + copies, *busy, "{}", file.display());
            assert!(busy <= span);
        }
        all
    })
}

pub(crate) fn text(judged: &Judged<'_>, format: &str, full: bool) -> String {
    let Judged { analysis, findings, .. } = judged;
    let report = Report { analysis, findings, top: 10, what_if: &[], command: None };
    written(&report, format, &Style { full, ..Style::default() }).unwrap()
}

/// Counted from the raw events by a sweep over begins and ends.
#[test]
fn the_time_of_our_own_traces_is_that_of_their_events() {
    for (file, expected) in [
        (
            "pytorch_trace/a100-training.json",
            vec![[5_034_264, 1_999_960, 1_505_464, 424_800, 69_696]],
        ),
        ("pytorch_trace/mi250-step.json", vec![[1_612_800, 266_080, 249_120, 0, 16_960]]),
        (
            "pytorch_trace/v100-list-2020.json.gz",
            vec![[7_722_000, 5_620_000, 4_808_000, 0, 812_000]],
        ),
    ] {
        assert_eq!(of(&fixture(file)), expected, "{file}");
    }
}

#[cfg(feature = "sqlite")]
#[test]
fn two_devices_of_a_database_have_a_time_each() {
    assert_eq!(
        of(&fixture("nsys_sqlite/h100-two-ranks-2025.5.sqlite")),
        [
            [55_201_216, 2_248_832, 1_468_832, 720_000, 60_000],
            [5_301_216, 2_185_332, 1_463_832, 720_000, 1_500],
        ]
    );
    with_judged(&[fixture("nsys_sqlite/h100-two-ranks-2025.5.sqlite")], |judged| {
        // The steps of the first process; its ranges `iteration` are shorter.
        let steps: Vec<_> = judged
            .analysis
            .timelines
            .iter()
            .map(|one| {
                one.steps
                    .iter()
                    .map(|step| (step.number, ns(step.time), step.launches))
                    .collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(steps, [vec![(0, 2_000_000, 5), (1, 2_000_000, 5), (2, 1_151_216, 5)], vec![]]);
        let brief = text(judged, "text", false);
        let line = brief.lines().find(|line| line.starts_with("Timeline")).unwrap();
        assert!(
            line.contains("2 GPUs, busy 4.1% (GPU 0) to 41.2% (GPU 1) of spans up to 55.2 ms"),
            "{line}"
        );
    });
}

/// Worked out from the raw events by another program.
#[test]
fn idle_time_is_split_by_the_calls_that_launched_the_work_after_it() {
    for (file, expected) in [
        (
            "pytorch_trace/a100-training.json",
            vec![Some([25, 2_955_736, 0, 20_000, 0, 40_000, 18_568])],
        ),
        ("pytorch_trace/mi250-step.json", vec![Some([3, 0, 0, 0, 0, 403_680, 943_040])]),
        (
            "pytorch_trace/v100-list-2020.json.gz",
            vec![Some([7, 1_029_000, 0, 62_000, 0, 120_000, 891_000])],
        ),
        #[cfg(feature = "sqlite")]
        (
            "nsys_sqlite/a100-devices-renumbered-2022.1.sqlite",
            vec![Some([7, 0, 0, 0, 0, 14_280, 20_000])],
        ),
        // No table of these has calls.
        ("nsys_trace/h100-2021.csv", vec![None]),
        ("nvprof_trace/p100-cuda8.csv", vec![None]),
    ] {
        assert_eq!(causes_of(&fixture(file)), expected, "{file}");
    }
    with_judged(&[fixture("nsys_trace/h100-2021.csv")], |judged| {
        let full = text(judged, "text", true);
        assert!(full.contains("the file records no launch calls"), "{full}");
        let json: serde_json::Value = serde_json::from_str(&text(judged, "json", false)).unwrap();
        assert!(json["timelines"][0]["idle_causes"].is_null());
    });
}

/// The thread synchronizes from 70 µs to 150 µs, copies until 160 µs and launches from 180 µs on; the GPU is idle from
/// 100 µs to 190 µs. Another thread waits all the time.
#[test]
fn the_host_waits_in_calls_of_the_thread_that_launches_next() {
    let events = [
        call("cudaLaunchKernel", 1, (5, 5), 1),
        call("cudaStreamSynchronize", 1, (70, 80), 0),
        call("cudaMemcpyAsync", 1, (150, 10), 2),
        call("cudaDeviceSynchronize", 2, (0, 300), 0),
        call("cudaLaunchKernel", 1, (180, 5), 3),
        kernel(20, 80, 1),
        kernel(190, 10, 3),
    ];
    with_files(&[("trace.json", events_of(&events))], |judged| {
        let found: Vec<_> = judged.analysis.timelines.iter().map(causes).collect();
        assert_eq!(found, [Some([1, 20_000, 60_000, 10_000, 0, 0, 0])]);
        let brief = text(judged, "text", false);
        assert!(brief.contains("33.3% host in a synchronize or copy call"), "{brief}");
    });
}

/// Steps begin with their first work on the GPU, in nanoseconds from there to the next.
#[test]
fn steps_tile_the_time_of_the_gpu() {
    with_judged(&[fixture("pytorch_trace/a100-training.json")], |judged| {
        let steps: Vec<_> = judged.analysis.timelines[0]
            .steps
            .iter()
            .map(|step| (ns(step.time), ns(step.busy), step.launches, step.is_last))
            .collect();
        assert_eq!(steps, [(4_000_000, 999_980, 11, false), (990_132, 965_132, 11, true)]);
        let full = text(judged, "text", true);
        assert!(full.contains("Steps") && full.contains("Time of each GPU"), "{full}");
    });
}

#[test]
fn every_format_has_the_timeline_and_says_the_same() {
    with_judged(&[fixture("pytorch_trace/a100-training.json")], |judged| {
        let said = "span 5.03 ms, GPU busy 2.00 ms (39.7%), idle 60.3% (58.7% host not launching, 0.4% launch latency);";
        let mut formats = vec!["text", "markdown"];
        if cfg!(feature = "page") {
            formats.push("html");
        }
        for format in formats {
            assert!(text(judged, format, false).contains(said), "{format}");
        }
        let json: serde_json::Value = serde_json::from_str(&text(judged, "json", false)).unwrap();
        let one = &json["timelines"][0];
        assert_eq!(one["span_s"].as_f64(), Some(0.005_034_264));
        assert_eq!(one["busy_s"].as_f64(), Some(0.001_999_96));
        assert_eq!(one["idle_causes"]["host_s"].as_f64(), Some(0.002_955_736));
        assert_eq!(
            (one["copies"].as_u64(), one["copy_bytes"].as_f64()),
            (Some(4), Some(1_613_824.0))
        );
        assert_eq!(one["steps"][0]["time_s"].as_f64(), Some(0.004));
    });
}

/// Sums, counters and tables of launches have no idle time: what is not in them is not known.
#[test]
fn there_is_none_where_the_starts_of_all_work_are_not_known() {
    for file in [
        "nsys_sum/h100-cuda_gpu_kern_gb_sum.csv",
        "nvprof_summary/p100.csv",
        "pytorch_averages/a100-key-averages.txt",
        "ncu_wide/h200-gemm.csv",
        "launch_table/wide.csv",
    ] {
        let file = fixture(file);
        if !file.exists() {
            continue;
        }
        with_judged(&[file], |judged| {
            assert!(judged.analysis.timelines.is_empty());
            assert!(!text(judged, "text", true).contains("Timeline"));
        });
    }
}

/// Two ranks have clocks of their own.
#[test]
fn two_files_are_never_one_time() {
    let file = fixture("pytorch_trace/a100-training.json");
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("rank1.json");
    // The other rank ran a day later, and its first kernel took a nanosecond more.
    let trace = std::fs::read_to_string(&file).unwrap().replace("1712194", "1712280");
    std::fs::write(&other, trace.replacen("\"dur\": 41.184", "\"dur\": 41.185", 1)).unwrap();
    with_judged(&[file.clone(), other.clone()], |judged| {
        let all: Vec<_> = judged.analysis.timelines.iter().map(figures).collect();
        let [one, two] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!((one[0], one[1] + 1), (two[0], two[1]));
        let copies: u64 = judged.analysis.moved.iter().map(|moved| moved.count).sum();
        assert_eq!(copies, 8);
    });
    // The same launches again count once, and so do their copies.
    std::fs::copy(&file, &other).unwrap();
    with_judged(&[file, other], |judged| {
        let copies: u64 = judged.analysis.moved.iter().map(|moved| moved.count).sum();
        assert_eq!((judged.analysis.timelines.len(), copies), (1, 4));
    });
}

/// An event of a Chrome trace, in µs.
fn event(cat: &str, name: &str, thread: u32, (ts, dur): (u32, u32), args: &str) -> String {
    format!(
        r#"{{"ph": "X", "cat": "{cat}", "name": "{name}", "pid": 9, "tid": {thread}, "ts": {ts}.5, "dur": {dur}.0, "args": {{{args}}}}}"#
    )
}

/// A call of the host.
pub(crate) fn call(name: &str, thread: u32, time: (u32, u32), correlation: u32) -> String {
    let args = match correlation {
        0 => String::new(),
        correlation => format!(r#""correlation": {correlation}"#),
    };
    event("cuda_runtime", name, thread, time, &args)
}

pub(crate) fn kernel(at: u32, dur: u32, correlation: u32) -> String {
    let args = format!(r#""correlation": {correlation}, "device": 0, "stream": 7"#);
    event("kernel", "some_kernel", 7, (at, dur), &args)
}

pub(crate) fn events_of(events: &[String]) -> String {
    format!(r#"{{"schemaVersion": 1, "traceEvents": [{}]}}"#, events.join(", "))
}

/// Judges files of these names and texts.
pub(crate) fn with_files<T>(files: &[(&str, String)], look: impl FnOnce(&Judged<'_>) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let write = |(name, text): &(&str, String)| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let paths: Vec<PathBuf> = files.iter().map(write).collect();
    with_judged(&paths, look)
}

/// Published totals of the shared traces, counted by an independent program.
#[test]
fn the_time_of_real_traces_is_that_of_their_events() {
    let Some(collection) = collection() else { return };
    let expected: &[(&str, &[[u64; 5]])] = &[
        (
            "kineto/hta_a100_alexnet.json.gz",
            &[[12_920_244_000, 66_141_000, 10_630_000, 0, 55_511_000]],
        ),
        (
            "kineto/hta_a100_nccl-fractional-us.json.gz",
            &[[660_551_005, 157_500_014, 115_655_847, 39_559_468, 2_284_699]],
        ),
        ("kineto/hta_a100_triton-one-kernel.json.gz", &[[1760, 1760, 1760, 0, 0]]),
        ("kineto/hta_mi250_rocm6.2_toy-train.json.gz", &[[8_911_887, 149_042, 110_881, 0, 38_161]]),
        (
            "kineto/hta_no-deviceProperties_sampled.json.gz",
            &[[1_222_847_000, 547_656_000, 210_320_000, 336_983_000, 353_000]],
        ),
        ("kineto/hta_old-schema_capital-Kernel_tiny.json.gz", &[[1_629_000, 30_000, 30_000, 0, 0]]),
        ("kineto/hta_tiny_uncompressed.json", &[[45_000, 45_000, 45_000, 0, 0]]),
        (
            "kineto/hta_v100_trace-diff-test_input-dims.json.gz",
            &[[745_239_000, 717_943_000, 548_148_000, 73_298_000, 96_497_000]],
        ),
        (
            "kineto/tbplugin_resnet50_list-root_2020.json.gz",
            &[[1_292_150_000, 649_472_000, 635_237_000, 0, 14_235_000]],
        ),
        (
            "kineto/tbplugin_v100_resnet50_Operator-Kernel-cats.json.gz",
            &[[801_550_000, 614_413_000, 594_868_000, 0, 19_545_000]],
        ),
        #[cfg(feature = "sqlite")]
        (
            "nsys/extrap_gtx1060_2022.1_4-streams-concurrent.sqlite",
            &[[223_845_118, 139_225_054, 120_149_349, 0, 19_075_705]],
        ),
        #[cfg(feature = "sqlite")]
        (
            "nsys/dlprof_2070s_2022.1_pytorch-nvtx.sqlite",
            &[[5_332_401, 364_380, 334_427, 0, 29_953]],
        ),
        #[cfg(feature = "sqlite")]
        (
            "nsys/pipit_a100x4_2024.5_cloverleaf.sqlite",
            &[[342_407_810, 303_795_463, 294_404_540, 0, 9_390_923]],
        ),
        #[cfg(feature = "sqlite")]
        (
            "nsys/testcuda_4060ti_2026.1_4-streams-copies.sqlite",
            &[[101_998_844, 96_581_353, 4_839_761, 0, 91_741_592]],
        ),
        #[cfg(feature = "sqlite")]
        (
            "nsys/nsysai_h100x2_2026.2_fsdp-nccl-window.sqlite",
            &[
                [299_848_812, 273_817_787, 253_690_832, 17_172_652, 2_954_303],
                [298_661_551, 267_275_916, 256_095_624, 8_229_100, 2_951_192],
            ],
        ),
    ];
    for (file, figures) in expected {
        assert_eq!(of(&collection.join(file)), *figures, "{file}");
    }
}

/// Idle time by cause and steps of the shared traces, counted by independent programs.
#[test]
fn idle_causes_and_steps_of_real_traces_are_those_of_their_events() {
    let Some(collection) = collection() else { return };
    for (file, causes) in [
        (
            "kineto/hta_a100_alexnet.json.gz",
            vec![[95, 9_795_899_000, 131_000, 3_057_965_000, 30_000, 78_000, 0]],
        ),
        (
            "kineto/hta_a100_nccl-fractional-us.json.gz",
            vec![[3480, 471_860_042, 52_978, 29_137_837, 1_011_573, 988_561, 0]],
        ),
        (
            "kineto/hta_mi250_rocm6.2_toy-train.json.gz",
            vec![[15, 1_990_259, 29_037, 6_743_549, 0, 0, 0]],
        ),
        (
            "kineto/hta_v100_trace-diff-test_input-dims.json.gz",
            vec![[8954, 387_000, 0, 21_000, 3_342_000, 23_007_000, 539_000]],
        ),
        (
            "kineto/tbplugin_resnet50_list-root_2020.json.gz",
            vec![[9593, 595_727_000, 88_000, 34_001_000, 3_373_000, 8_352_000, 1_137_000]],
        ),
        #[cfg(feature = "sqlite")]
        (
            "nsys/dlprof_2070s_2022.1_pytorch-nvtx.sqlite",
            vec![[54, 3_573_449, 745_744, 605_593, 8_225, 35_010, 0]],
        ),
        #[cfg(feature = "sqlite")]
        (
            "nsys/pipit_a100x4_2024.5_cloverleaf.sqlite",
            vec![[1590, 17_183_112, 3_098_756, 9_550_480, 0, 8_779_999, 0]],
        ),
        #[cfg(feature = "sqlite")]
        (
            "nsys/nsysai_h100x2_2026.2_fsdp-nccl-window.sqlite",
            vec![
                [2634, 16_457_448, 420_944, 4_586_010, 2_675_455, 1_862_912, 28_256],
                [2662, 24_152_303, 151_969, 3_229_637, 2_702_227, 1_122_459, 27_040],
            ],
        ),
    ] {
        let causes: Vec<_> = causes.into_iter().map(Some).collect();
        assert_eq!(causes_of(&collection.join(file)), causes, "{file}");
    }
    let steps = |file: &str| {
        with_judged(&[collection.join(file)], |judged| {
            let of = |analysis: &Analysis| {
                let steps = analysis.timelines[0].steps.iter();
                steps.map(|step| (ns(step.time), step.launches)).collect::<Vec<_>>()
            };
            of(&judged.analysis)
        })
    };
    assert_eq!(
        steps("kineto/hta_a100_nccl-fractional-us.json.gz"),
        [(222_054_811, 900), (219_732_155, 900), (218_764_039, 900)]
    );
    let times: Vec<u64> = steps("kineto/hta_v100_trace-diff-test_input-dims.json.gz")
        .into_iter()
        .map(|(time, _)| time)
        .collect();
    assert_eq!(
        times,
        // Inputs are copied 25 to 35 ms before the kernels of a step, beside those of the one before it.
        [103_474_000, 113_065_000, 140_636_000, 106_450_000, 107_804_000, 141_277_000]
    );
}

/// A sum has one row of many launches: what lacks a count lacks it in all of them.
#[test]
fn what_is_missing_is_counted_in_launches_and_not_in_rows() {
    let file = fixture("nsys_sum/h100-cuda_gpu_kern_gb_sum.csv");
    let profile = ingest::read(&[Input::Named(file)], &Options::default()).unwrap();
    let launches: u64 = profile.iter().map(|launch| u64::from(launch.head.count)).sum();
    assert!(launches > profile.launches.len() as u64);
    let catalog = rooflint::catalog::Catalog::builtin();
    let inspection = rooflint::report::Inspection::new(&profile, &catalog, |_| None);
    let json = written(&inspection, "json", &Style::default()).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["missing"][0]["launches"].as_u64(), Some(launches));
}

#[test]
fn a_trace_without_events_says_that_nothing_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json");
    std::fs::write(&file, "{\"schemaVersion\": 1,\n \"traceEvents\": [\n]}").unwrap();
    let error = ingest::read(&[Input::Named(file)], &Options::default()).unwrap_err();
    let help = error.next_step().unwrap_or_default();
    assert!(
        help.contains("let the work run inside") || help.contains("record the GPU"),
        "{error}: {help}"
    );
    std::fs::write(folder.path().join("empty.json"), "{\"traceEvents\":[]}").unwrap();
    let named = Input::Named(folder.path().join("empty.json"));
    let error = ingest::read(&[named], &Options::default()).unwrap_err();
    assert!(error.to_string().contains("a trace without events"), "{error}");
}

/// Ten launches of one block for 1 ms each on an A100 of 108 SMs, and beside each for some time one of 4,096 blocks: what one
/// block leaves idle is idle only where nothing else runs.
#[test]
fn a_small_grid_beside_other_kernels_leaves_nothing_idle() {
    let found = |beside_us: u32| {
        let event = |at: u32, name: &str, stream: u32, grid: u32, time: u32| {
            let start = at * 2_000;
            format!(
                r#"{{"ph": "X", "cat": "kernel", "name": "{name}", "pid": 0, "tid": {stream}, "ts": {start}, "dur": {time}, "args": {{"device": 0, "stream": {stream}, "correlation": {}, "grid": [{grid}, 1, 1], "block": [256, 1, 1]}}}}"#,
                at * 10 + stream
            )
        };
        let small = (0..10).map(|at| event(at, "small", 7, 1, 1_000));
        let large = (0..10).map(|at| event(at, "large", 8, 4096, beside_us));
        let events: Vec<String> = small.chain(large).collect();
        let text = format!(
            r#"{{"deviceProperties": [{{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "numSms": 108}}], "traceEvents": [{}]}}"#,
            events.join(",\n")
        );
        let profile = ingest::read_text("trace.json", &text, &Options::default()).unwrap();
        let judged = Session::default().judge(&profile).unwrap();
        let kernel = judged.analysis.kernels.iter().find(|kernel| &*kernel.name == "small");
        let kernel = kernel.unwrap();
        assert_eq!(ns(kernel.beside()), u64::from(beside_us) * 10_000);
        let mut findings = judged.findings_of(kernel).iter();
        findings.find(|finding| finding.rule == "small-grid").map(|finding| finding.at_stake_s)
    };
    // 107 of 108 SMs have no work for 10 ms, or for the 7 ms in which nothing else runs.
    for (beside_us, alone) in [(0, 10e-3), (300, 7e-3)] {
        let at_stake = found(beside_us).unwrap();
        assert!((at_stake - alone * 107.0 / 108.0).abs() < 1e-9, "{beside_us}: {at_stake}");
    }
    assert_eq!((found(500), found(1_000)), (None, None));
}
