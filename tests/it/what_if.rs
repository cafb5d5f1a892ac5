//! Projections: what must hold of any, and figures worked out apart from the program.

use std::collections::BTreeSet;
use std::path::Path;

use rooflint::analysis::{self, Analysis, CeilingSet, Change, Options, Outcome, State, WhatIf};
use rooflint::catalog::{Catalog, Device};
use rooflint::ingest::{self, Input};
use rooflint::model::{DeviceHint, Profile};
use rooflint::report::{OUTPUTS, Report, Style, formats_with, written};
use rooflint::session::{Judged, Session};

use super::golden::{check, fixtures, reading, without_assets};

fn analyzed(profile: &Profile, options: &Options) -> Option<Analysis> {
    analysis::analyze(profile, &Catalog::builtin(), options).ok()
}

fn sample() -> Profile {
    ingest::read_text("demo", rooflint::SAMPLE, &ingest::Options::default()).unwrap()
}

fn device(name: &str) -> Device {
    Catalog::builtin().find(name, &DeviceHint::default()).unwrap()
}

fn on(profile: &Profile, analysis: &Analysis, device: Device) -> WhatIf {
    let changes = [Change::Device(Box::new(device))];
    analysis::what_if(profile, analysis, &changes).unwrap().remove(0)
}

#[test]
fn on_its_own_device_everything_stays_and_all_time_is_accounted_for() {
    let mut projected = 0;
    for (path, named) in fixtures() {
        let profile = ingest::read(&[Input::Named(path.clone())], &reading(&path)).unwrap();
        for set in [CeilingSet::Spec, CeilingSet::Achievable] {
            let options =
                Options { device: named.clone(), ceilings: Some(set), ..Options::default() };
            let Some(analysis) = analyzed(&profile, &options) else { continue };
            let [only] = analysis.devices.as_slice() else { continue };
            let Some(own) = only.device.clone() else { continue };
            // Achievable roofs follow the clock of each launch; only without one are they the same.
            if set == CeilingSet::Achievable
                && profile
                    .iter()
                    .any(|launch| launch.value(rooflint::model::Quantity::SmClock).is_some())
            {
                continue;
            }
            let answer = on(&profile, &analysis, own);
            for (kernel, outcome) in analysis.kernels.iter().zip(&answer.kernels) {
                let Outcome::Projected(one) = outcome else { continue };
                projected += 1;
                let close = |one: f64, two: f64| (one / two - 1.0).abs() < 1e-9;
                let label = format!("{}: {}", path.display(), kernel.name);
                // Launches that are faster than their roof are kept as they are.
                let (of_kernel, roof) = (kernel.modeled, kernel.roofline_time.unwrap());
                let has_kept = kernel.launches > 1 && one.measured < of_kernel;
                assert!(has_kept || close(one.measured.get(), of_kernel.get()), "{label}: {one:?}");
                assert!(has_kept || close(one.roofline_time.get(), roof.get()), "{label}: {one:?}");
                assert!(close(one.ideal.get(), one.roofline_time.get()), "{label}: {one:?}");
                assert!(
                    close(one.projected.get(), one.measured.get().max(one.ideal.get()))
                        || kernel.headrooms.unwrap().0.get() < 1.0,
                    "{label}: {one:?}"
                );
            }
            let totals = &answer.totals;
            assert_eq!(totals.projected_kernels + totals.kept_kernels, analysis.kernels.len());
            let sum = (totals.measured + totals.kept).get();
            assert!((sum - analysis.totals.measured.get()).abs() <= 1e-12 + 1e-9 * sum);
        }
    }
    assert!(projected > 20, "{projected}");
}

/// 40 MB take 19.6 µs at 2.04 TB/s, and 11.9 µs at 3.35 TB/s: bytes of one launch in fifteen say as much of it.
#[test]
fn launches_without_counts_make_no_kernel_too_short_to_project() {
    let map = "device = \"A100 SXM4 80GB\"\n[columns]\nkernel = \"kernel\"\n\
               time = { column = \"time\", unit = \"us\" }\nbytes = { column = \"bytes\", unit = \"B\" }\n";
    for uncounted in [0, 14] {
        let text =
            format!("kernel,time,bytes\ncopy,50,40000000\n{}", "copy,50,\n".repeat(uncounted));
        let map = Some(ingest::Mapping::from_toml(map, "map.toml").unwrap());
        let options = ingest::Options { map, ..ingest::Options::default() };
        let profile = ingest::read_text("table.csv", text.leak(), &options).unwrap();
        let analysis = analyzed(&profile, &Options::default()).unwrap();
        let answer = on(&profile, &analysis, device("H100 SXM5 80GB"));
        let Outcome::Projected(found) = &answer.kernels[0] else {
            panic!("{uncounted}: {:?}", answer.kernels[0])
        };
        assert!((found.ideal.get() / (40e6 / 3.35e12) - 1.0).abs() < 2e-3, "{:?}", found.ideal);
        // The others stay as they are.
        let kept = answer.totals.kept.get();
        assert!((found.measured.get() - 50e-6).abs() < 1e-12, "{:?}", found.measured);
        assert!(
            (found.measured.get() + kept - 50e-6 * (uncounted + 1) as f64).abs() < 1e-12,
            "{kept}"
        );
    }
}

#[test]
fn roofs_twice_as_high_halve_the_ideal_time_and_what_is_beyond_the_launch_cost() {
    let profile = sample();
    let options = Options { ceilings: Some(CeilingSet::Spec), ..Options::default() };
    let analysis = analyzed(&profile, &options).unwrap();
    let mut twice = device("H100 SXM5 80GB");
    "twice".clone_into(&mut twice.name);
    if let Some(bandwidth) = twice.memory.bandwidth.as_mut() {
        bandwidth.value = bandwidth.value * 2.0;
    }
    for peak in twice.peaks.values_mut() {
        peak.value = peak.value * 2.0;
    }
    let answer = on(&profile, &analysis, twice);
    let mut seen = 0;
    for (kernel, outcome) in analysis.kernels.iter().zip(&answer.kernels) {
        let Outcome::Projected(one) = outcome else { continue };
        seen += 1;
        assert!((one.ideal / one.roofline_time - 0.5).abs() < 1e-12);
        let cost = analysis.fixed_cost * kernel.launches as f64;
        let by_hand = cost + (one.measured - cost) * 0.5;
        assert!((one.projected / by_hand - 1.0).abs() < 1e-9, "{}: {one:?}", kernel.name);
    }
    assert!(seen > 5);
}

/// Worked out with a calculator from the sample's own cells and the two datasheets.
#[test]
fn figures_of_the_sample_on_an_h200_are_those_of_a_separate_calculation() {
    let profile = sample();
    let analysis = analyzed(&profile, &Options::default()).unwrap();
    let answer = on(&profile, &analysis, device("H200 SXM 141GB"));
    let find = |name: &str| {
        let at = analysis.kernels.iter().position(|kernel| kernel.name.contains(name)).unwrap();
        match &answer.kernels[at] {
            Outcome::Projected(one) => (&analysis.kernels[at], one.clone()),
            other => panic!("{name}: {other:?}"),
        }
    };
    // Memory-limited: bytes over 4.8 TB/s.
    let (kernel, one) = find("transpose_naive");
    let ideal = kernel.bytes.unwrap().get() / 4.8e12;
    assert!((one.ideal.get() / ideal - 1.0).abs() < 1e-9, "{one:?}");
    let cost = 2e-6 * kernel.launches as f64;
    let here = kernel.roofline_time.unwrap().get();
    let projected = cost + (kernel.measured.get() - cost) * ideal / here;
    assert!((one.projected.get() / projected - 1.0).abs() < 1e-6, "{one:?} {projected}");
    // Math-limited: FLOPs over 989.4 TFLOP/s, quoted at 1830 MHz, at the 1590 MHz at which it ran.
    let (kernel, one) = find("nvjet_tst_128x256");
    let flops: f64 = kernel.work.iter().map(|work| work.operations.get()).fold(0.0, f64::max);
    let ideal = flops / (989.4e12 * 1590.0 / 1830.0);
    assert!((one.ideal.get() / ideal - 1.0).abs() < 1e-3, "{one:?}");
    // The two have the same multiprocessors and tensor clock: nothing is won or lost.
    assert!((one.speedup() - 1.0).abs() < 1e-3, "{one:?}");
    assert_eq!(one.limiter.label(), "math");
}

#[test]
fn what_cannot_be_projected_says_why_and_is_counted() {
    let profile = sample();
    let analysis = analyzed(&profile, &Options::default()).unwrap();
    let answer = on(&profile, &analysis, device("V100 SXM2 32GB"));
    let mut reasons = BTreeSet::new();
    for (kernel, outcome) in analysis.kernels.iter().zip(&answer.kernels) {
        match outcome {
            Outcome::Projected(one) => {
                assert!(kernel.state.is_modeled());
                assert!(one.projected.get() >= one.ideal.get());
            }
            Outcome::Kept(reason) => {
                reasons.insert(reason.clone());
            }
            Outcome::Merged(with) => panic!("{with:?}"),
        }
        if kernel.state == State::NotRoofline {
            assert!(matches!(outcome, Outcome::Kept(reason) if reason.contains("links")));
        }
    }
    assert!(reasons.contains("Tesla V100 SXM2 32GB has no bf16 tensor units"), "{reasons:?}");
    assert!(reasons.iter().any(|reason| reason.starts_with("limited by too little parallelism")));
}

#[test]
fn every_output_shows_the_projections_of_the_sample() {
    let profile = sample();
    let Judged { analysis, findings, .. } = Session::default().judge(&profile).unwrap();
    let changes =
        ["H200 SXM 141GB", "V100 SXM2 32GB"].map(|name| Change::Device(Box::new(device(name))));
    let changes: Vec<Change> = std::iter::once(Change::RatedClock).chain(changes).collect();
    let answers = analysis::what_if(&profile, &analysis, &changes).unwrap();
    let report = Report {
        analysis: &analysis,
        findings: &findings,
        top: 3,
        what_if: &answers,
        command: None,
    };
    let schema = serde_json::from_str(&rooflint::report::schema()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for output in formats_with(OUTPUTS) {
        let style = Style { width: Some(100), ..Style::default() };
        let text = written(&report, output.name, &style).unwrap();
        if output.name == "json" {
            let document: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert!(validator.is_valid(&document));
            assert_eq!(document["what_if"].as_array().unwrap().len(), 3);
            let kernels = document["what_if"][1]["kernels"].as_array().unwrap();
            assert_eq!(kernels.len(), analysis.kernels.len());
        }
        let text = if output.name == "html" { without_assets(&text) } else { text };
        let file = format!("what-if.{}", output.endings[0]);
        check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file), &text);
    }
}

/// A product, a sum and an activation on an A100: FP32, 2.039 TB/s, 19.5 TFLOP/s.
const STEP: [&str; 4] = [
    "kernel,us,gb,read_gb,write_gb,gflop",
    "volta_sgemm_128x64_nn,10000,0.4,0.3,0.1,137.4",
    "\"vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>\",2000,3,2,1,0.25",
    "\"vectorized_elementwise_kernel<4, relu_kernel<float>>\",1200,2,1,1,0.25",
];

/// How often it runs.
const TIMES: f64 = 3.0;

const MAPPING: &str = r#"
[columns]
kernel = "kernel"
time = { column = "us", unit = "us" }
bytes = { column = "gb", unit = "GB" }
flops = [{ column = "gflop", unit = "GFLOP", precision = "fp32_vector" }]

[quantities]
dram_read_bytes = { column = "read_gb", unit = "GB" }
dram_write_bytes = { column = "write_gb", unit = "GB" }
"#;

/// The step, or those of its rows that do not hold a word.
fn step(mapping: &str, without: Option<&str>) -> (Profile, Analysis) {
    let kept = STEP[1..].iter().filter(|row| without.is_none_or(|word| !row.contains(word)));
    let kept: Vec<&str> = kept.copied().collect();
    run_of(&[&STEP[..1], &kept, &kept, &kept].concat(), mapping, "A100 SXM4 80GB")
}

fn run_of(rows: &[&str], mapping: &str, device: &str) -> (Profile, Analysis) {
    let map = ingest::Mapping::from_toml(mapping, "mapping").unwrap();
    let options = ingest::Options { map: Some(map), ..ingest::Options::default() };
    let text = Box::leak(rows.join("\n").into_boxed_str());
    let profile = ingest::read_text("step", text, &options).unwrap();
    let device = Some(device.to_owned());
    let analysis = analyzed(&profile, &Options { device, ..Options::default() }).unwrap();
    (profile, analysis)
}

/// Launch cost of timelines, bandwidth and peaks as the datasheet has them.
const COST: f64 = 1.5e-6;
const BANDWIDTH: f64 = 2.039e12;
const TF32: f64 = 156e12;
const BF16: f64 = 312e12;

/// The outcome for the kernel whose name holds this.
fn of<'a>(analysis: &Analysis, answer: &'a WhatIf, name: &str) -> &'a Outcome {
    let at = analysis.kernels.iter().position(|kernel| kernel.name.contains(name)).unwrap();
    &answer.kernels[at]
}

fn assert_times(outcome: &Outcome, time: f64, expected: f64, ideal: f64) {
    let Outcome::Projected(one) = outcome else { panic!("{outcome:?}") };
    let close = |one: f64, two: f64| (one / two - 1.0).abs() < 2e-3;
    let projected = TIMES * (COST + (time - COST) * ideal / expected);
    assert!(close(one.ideal.get(), TIMES * ideal), "{one:?}, {ideal}");
    assert!(close(one.projected.get(), projected), "{one:?}, {projected}");
}

fn kept(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Kept(reason) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn kernels_written_otherwise_are_as_a_calculator_says() {
    let (profile, analysis) = step(MAPPING, None);
    let changes = [Change::TensorCores, Change::SixteenBit];
    let answers = analysis::what_if(&profile, &analysis, &changes).unwrap();
    let [tensor, half] = answers.as_slice() else { panic!("two") };
    let gemm = 137.4e9 / 19.5e12;
    assert_times(of(&analysis, tensor, "sgemm"), 10e-3, gemm, 137.4e9 / TF32);
    assert_times(of(&analysis, half, "sgemm"), 10e-3, gemm, 137.4e9 / BF16);
    let sum = 3e9 / BANDWIDTH;
    assert_times(of(&analysis, half, "add"), 2e-3, sum, sum / 2.0);
    assert_eq!(kept(of(&analysis, tensor, "add")), "not a matrix product, by its name");
}

#[test]
fn neighbors_are_fused_at_most_once_and_save_what_passes_between_them() {
    let ask = |(profile, analysis): (Profile, Analysis)| {
        let answer = analysis::what_if(&profile, &analysis, &[Change::Fused]).unwrap().remove(0);
        (analysis, answer)
    };
    // The sum writes 1 GB and the activation reads 1 GB: 2 of 5 GB are saved.
    let (analysis, answer) = ask(step(MAPPING, Some("sgemm")));
    let Outcome::Projected(one) = of(&analysis, &answer, "add") else { panic!("{answer:?}") };
    assert!(one.with.as_ref().unwrap().name.contains("relu"));
    let (ideal, expected) = (3e9 / BANDWIDTH, 5e9 / BANDWIDTH);
    let projected = COST + (2e-3 + 1.2e-3 - 2.0 * COST) * ideal / expected;
    assert!((one.ideal.get() / (TIMES * ideal) - 1.0).abs() < 1e-6, "{one:?}");
    assert!((one.projected.get() / (TIMES * projected) - 1.0).abs() < 1e-6, "{one:?}");
    assert!(matches!(of(&analysis, &answer, "relu"), Outcome::Merged(_)));

    // With the product before it, the sum is hidden behind its math: that saves more. The activation
    // is left alone: not all of its launches are followed by a product.
    let (analysis, answer) = ask(step(MAPPING, None));
    let Outcome::Projected(one) = of(&analysis, &answer, "sgemm") else { panic!("{answer:?}") };
    let math = (137.4e9 + 0.25e9) / 19.5e12;
    assert!((one.ideal.get() / (TIMES * math) - 1.0).abs() < 1e-3, "{one:?}");
    assert!(matches!(of(&analysis, &answer, "add"), Outcome::Merged(_)));
    assert!(matches!(of(&analysis, &answer, "relu"), Outcome::Kept(_)));
    let totals = &answer.totals;
    assert_eq!((totals.projected_kernels, totals.kept_kernels), (2, 1));
    assert!((totals.kept.get() - 3.6e-3).abs() < 1e-9, "{totals:?}");

    let (unsplit, _) = MAPPING.split_once("[quantities]").unwrap();
    let (analysis, answer) = ask(step(unsplit, None));
    assert!(kept(of(&analysis, &answer, "add")).contains("not counted separately"));

    // Two launches are too few to speak of a habit.
    let twice = [&STEP[..], &STEP[1..]].concat();
    let (analysis, answer) = ask(run_of(&twice, MAPPING, "A100 SXM4 80GB"));
    assert!(kept(of(&analysis, &answer, "sgemm")).contains("too few"));
}

#[test]
fn time_that_no_roof_explains_does_not_shrink_with_the_bytes() {
    let mapping = format!("{MAPPING}\n")
        .replace("kernel = \"kernel\"", "kernel = \"kernel\"\ngrid = \"grid\"\nblock = \"block\"");
    // One block of 32 threads, a hundred times its roof: latency limits.
    let slow = "slow_kernel,10000,0.2,0.1,0.1,0.01,1,32";
    let rows = [
        &["kernel,us,gb,read_gb,write_gb,gflop,grid,block"][..],
        &[slow, "other_kernel,10000,0.2,0.1,0.1,0.01,1,32"].repeat(3),
    ]
    .concat();
    let (profile, analysis) = run_of(&rows, &mapping, "A100 SXM4 80GB");
    let changes = [Change::Fused, Change::Device(Box::new(device("H200 SXM 141GB")))];
    let answers = analysis::what_if(&profile, &analysis, &changes).unwrap();
    let Outcome::Projected(one) = of(&analysis, &answers[0], "slow") else { panic!("{answers:?}") };
    let saved = one.measured.get() - one.projected.get();
    assert!((saved / (TIMES * COST) - 1.0).abs() < 1e-6, "{one:?}");
    assert!(kept(of(&analysis, &answers[1], "slow")).contains("too little parallelism"));
}

/// One block of 32 threads takes 500 µs for 0.2 GB on an A100, but those need 667 µs of the 300 GB/s of an L4.
#[test]
fn what_waits_for_something_else_still_takes_what_slower_roofs_ask_for() {
    let mapping = MAPPING
        .replace("kernel = \"kernel\"", "kernel = \"kernel\"\ngrid = \"grid\"\nblock = \"block\"");
    let rows = ["kernel,us,gb,read_gb,write_gb,gflop,grid,block", "slow,500,0.2,0.1,0.1,0.01,1,32"];
    let (profile, analysis) = run_of(&rows, &mapping, "A100 SXM4 80GB");
    let answer = on(&profile, &analysis, device("L4"));
    let Outcome::Projected(one) = of(&analysis, &answer, "slow") else { panic!("{answer:?}") };
    let close = |time: rooflint::units::Seconds, as_known: f64| {
        assert!((time.get() / as_known - 1.0).abs() < 1e-3, "{one:?}");
    };
    close(one.measured, 500e-6);
    close(one.ideal, 0.2 / 300.0);
    close(one.projected, 0.2 / 300.0);
    assert!(one.is_lower_bound);
    close(answer.totals.run.unwrap(), 0.2 / 300.0);
}

#[test]
fn launches_without_counted_work_stay_as_measured() {
    let idle = "volta_sgemm_128x64_nn,10000,0,0,0,0";
    let rows = [&STEP[..2], &[idle], &STEP[1..2], &[idle]].concat();
    let (profile, analysis) = run_of(&rows, MAPPING, "A100 SXM4 80GB");
    let answer = on(&profile, &analysis, device("A100 SXM4 80GB"));
    let totals = &answer.totals;
    assert!((totals.projected.get() - totals.measured.get()).abs() < 1e-9, "{totals:?}");
    assert!((totals.measured.get() - 20e-3).abs() < 1e-9, "{totals:?}");
    assert!((totals.kept.get() - 20e-3).abs() < 1e-9, "{totals:?}");
}

#[test]
fn tensor_work_known_from_activity_follows_the_format_of_its_name() {
    let mapping = "[columns]\nkernel = \"kernel\"\ntime = { column = \"us\", unit = \"us\" }\n\
                   bytes = { column = \"gb\", unit = \"GB\" }\n[quantities]\n\
                   tensor_pipe_active = { column = \"active\", unit = \"%\" }\n";
    let rows = [
        "kernel,us,gb,active",
        "sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_cublas,10000,0.1,80",
        "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn,10000,0.1,80",
    ];
    let (profile, analysis) = run_of(&rows, mapping, "H100 SXM5 80GB");
    let answer = on(&profile, &analysis, device("A100 SXM4 80GB"));
    assert_eq!(kept(of(&analysis, &answer, "e4m3")), "A100 SXM4 80GB has no fp8 tensor units");
    let Outcome::Projected(one) = of(&analysis, &answer, "fp16") else { panic!("{answer:?}") };
    let ratio = one.ideal.get() / one.roofline_time.get();
    assert!((ratio / (989.4 / 312.0) - 1.0).abs() < 0.01, "{ratio}");
}

/// A softmax in fp32 has a little work in half precision, which the tensor pipe does on an H100, and which a device may
/// have no roof for: its bytes take its time everywhere. Where the tensor pipe is busy, the format matters.
#[test]
fn work_that_other_work_hides_stops_no_projection() {
    let mapping = "[columns]\nkernel = \"kernel\"\ntime = { column = \"us\", unit = \"us\" }\n\
                   bytes = { column = \"gb\", unit = \"GB\" }\n\
                   flops = [{ column = \"fp32\", unit = \"GFLOP\", precision = \"fp32_vector\" },\n\
                   { column = \"fp16\", unit = \"GFLOP\", precision = \"fp16_vector\" }]\n[quantities]\n\
                   tensor_pipe_active = { column = \"active\", unit = \"%\" }\n";
    let rows = [
        "kernel,us,gb,fp32,fp16,active",
        "\"softmax_warp_forward<float, float, float, 10>\",177,0.515,1.49,0.0084,0.5",
        "\"layer_kernel<float>\",177,0.515,1.49,0.0084,90",
    ];
    let (profile, analysis) = run_of(&rows, mapping, "H100 SXM5 80GB");
    for (name, bandwidth) in
        [("A100 SXM4 80GB", 2039.0), ("L4", 300.0), ("Instinct MI300X", 5300.0)]
    {
        let answer = on(&profile, &analysis, device(name));
        let Outcome::Projected(one) = of(&analysis, &answer, "softmax") else {
            panic!("{answer:?}")
        };
        assert!((one.ideal.get() * bandwidth / 0.515 - 1.0).abs() < 0.01, "{one:?}");
        let is_converted =
            answer.notes.iter().any(|note| note.starts_with("fp16 work is converted"));
        assert_eq!(is_converted, name == "Instinct MI300X", "{:?}", answer.notes);
    }
    // 989 to 165 TFLOP/s in fp16, but 1979 to 661 TOP/s in int8.
    let answer = on(&profile, &analysis, device("GeForce RTX 4090"));
    let reason = kept(of(&analysis, &answer, "layer"));
    assert!(reason.starts_with("the format of its tensor work is unknown"), "{reason}");
}

#[test]
fn a_closed_form_leaves_its_compulsory_bytes_and_says_how_the_counts_compare() {
    let (profile, analysis) = step(MAPPING, None);
    let sum = analysis.kernels.iter().find(|kernel| kernel.name.contains("add")).unwrap();
    let compulsory = |bytes: f64| {
        Change::Compulsory(analysis::Compulsory {
            call: "add".to_owned(),
            bytes: rooflint::units::Bytes::new(bytes),
            operations: rooflint::units::Flops::new(0.25e9),
            kernels: vec![sum.longest],
        })
    };
    let changes = [compulsory(1.5e9), compulsory(6e9)];
    let answers = analysis::what_if(&profile, &analysis, &changes).unwrap();
    let expected = 3e9 / BANDWIDTH;
    assert_times(of(&analysis, &answers[0], "add"), 2e-3, expected, expected / 2.0);
    assert!(answers[0].notes[0].contains("2.00× the compulsory bytes, 1.00× the operations"));
    assert!(kept(of(&analysis, &answers[1], "add")).contains("0.50× the compulsory bytes"));
    assert!(kept(of(&analysis, &answers[0], "relu")).contains("not assigned to it"));
}

#[test]
fn the_command_line_takes_devices_words_and_closed_forms() {
    let run = |arguments: &[&str]| super::predict::program::program(arguments);
    let all = run(&["demo", "--what-if", "H200 SXM 141GB,fused", "--what-if", "bf16,tensor-cores"]);
    assert_eq!((all.code, all.stderr.as_str()), (0, ""));
    for change in ["rated clock", "H200 SXM 141GB", "tensor cores", "bf16", "fused with its"] {
        assert!(all.stdout.contains(&format!("What if: {change}")), "{change}");
    }
    let form = ["demo", "--kernel", "#1", "--what-if", "transpose n=16M dtype=bf16"];
    let form = run(&form);
    assert!(form.stdout.contains("the compulsory bytes"), "{} {}", form.stdout, form.stderr);
    for (asked, told) in [
        ("tensor-core", "did you mean \"tensor-cores\"?"),
        ("H2000", "unknown device \"H2000\""),
        ("transpose n=16M", "does not say which kernels it describes"),
        ("", "unknown device"),
    ] {
        let refused = run(&["demo", "--what-if", asked]);
        assert_eq!(refused.code, 2, "{asked}: {}", refused.stdout);
        assert!(refused.stderr.contains(told), "{asked}: {}", refused.stderr);
    }
}

#[test]
fn totals_stay_those_of_the_run_where_kernels_are_chosen() {
    let run = super::predict::program::program;
    let chosen = run(&["demo", "--kernel", "#1", "--what-if", "H200 SXM 141GB", "--width", "200"]);
    assert!(chosen.stdout.contains("9 of 13"), "{}", chosen.stdout);
    // Achievable roofs follow the clock too: what the clock alone does is shown.
    let achievable = run(&["demo", "--ceilings", "achievable", "--what-if", "H200 SXM 141GB"]);
    assert!(achievable.stdout.contains("What if: rated clock"), "{}", achievable.stdout);
    let spec = run(&["demo", "--ceilings", "spec", "--what-if", "H200 SXM 141GB"]);
    assert!(!spec.stdout.contains("rated clock,") && !spec.stdout.contains("What if: rated"));
}

#[test]
fn a_profile_without_times_has_no_projection_and_no_share() {
    let file = "fixtures/ncu_long/v100-sass-counters-only.csv";
    let changes = "A100 SXM4 80GB,tensor-cores,bf16,fused";
    for format in ["text", "markdown", "json", "csv"] {
        let run = super::predict::program::program(&[
            file,
            "--device",
            "V100 SXM2 16GB",
            "--what-if",
            changes,
            "--format",
            format,
        ]);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(!run.stdout.contains("NaN"), "{format}: {}", run.stdout);
    }
}

#[test]
fn counts_are_compared_launch_by_launch() {
    // The second launch has no count of bytes: it says nothing about the first.
    let rows = [
        "kernel,us,gb,read_gb,write_gb,gflop",
        "\"vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>\",2000,3,2,1,0.25",
        "\"vectorized_elementwise_kernel<4, CUDAFunctor_add<float>>\",1900,,,,0.25",
    ];
    let (profile, analysis) = run_of(&rows, MAPPING, "A100 SXM4 80GB");
    let change = Change::Compulsory(analysis::Compulsory {
        call: "add".to_owned(),
        bytes: rooflint::units::Bytes::new(1.5e9),
        operations: rooflint::units::Flops::new(0.25e9),
        kernels: vec![analysis.kernels[0].longest],
    });
    let answer = analysis::what_if(&profile, &analysis, &[change]).unwrap().remove(0);
    assert!(answer.notes[0].contains("2.00× the compulsory bytes"), "{:?}", answer.notes);
}

#[test]
fn tables_fit_narrow_terminals() {
    let changes = "H200 SXM 141GB,V100 SXM2 32GB,fused,bf16";
    for width in ["60", "80", "120"] {
        let run =
            super::predict::program::program(&["demo", "--what-if", changes, "--width", width]);
        let limit: usize = width.parse().unwrap();
        for line in run.stdout.lines() {
            assert!(line.chars().count() <= limit, "{width}: {line}");
        }
    }
}
