//! What was captured on an H100: counts beside closed forms, the forms of one report beside each other, and savings beside what
//! the cure of a flaw brought. `fixtures/captured/README.md` says how.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use rooflint::analysis::{Analysis, CeilingSet, Kernel, State};
use rooflint::ingest::{self, Input, Options};
use rooflint::model::{Engine, Quantity};
use rooflint::rules::{Confidence, Finding, Findings};
use rooflint::session::{Judged, Session};

use crate::golden;

const DEVICE: &str = "H100 SXM5 80GB";

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(name)
}

fn judged(names: &[&str]) -> (Analysis, Findings) {
    let inputs: Vec<Input> = names.iter().map(|name| Input::Named(fixture(name))).collect();
    let profile = ingest::read(&inputs, &Options::default()).unwrap();
    let Judged { analysis, findings, .. } =
        Session::default().on(Some(DEVICE.to_owned())).judge(&profile).unwrap();
    (analysis, findings)
}

/// The text of a fixture that was packed.
fn unpacked(name: &str) -> String {
    let bytes = std::fs::read(fixture(name)).unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&bytes[..]), &mut text)
        .unwrap();
    text
}

/// Floating-point and integer operations of products in closed form: 2·M·N·K, of sparse ones too.
const PRODUCTS: [(&str, f64); 12] = [
    ("matmul_bf16_4096", 2.0 * 4096.0 * 4096.0 * 4096.0),
    ("matmul_fp16_4096", 2.0 * 4096.0 * 4096.0 * 4096.0),
    ("matmul_tf32_4096", 2.0 * 4096.0 * 4096.0 * 4096.0),
    ("matmul_fp8_4096", 2.0 * 4096.0 * 4096.0 * 4096.0),
    ("matmul_int8_4096", 2.0 * 4096.0 * 4096.0 * 4096.0),
    ("matmul_fp64_2048", 2.0 * 2048.0 * 2048.0 * 2048.0),
    ("matmul_bf16_16x4096x4096", 2.0 * 16.0 * 4096.0 * 4096.0),
    ("bmm_bf16_64x512", 64.0 * 2.0 * 512.0 * 512.0 * 512.0),
    ("sparse24_fp16_4096", 2.0 * 4096.0 * 4096.0 * 4096.0),
    ("sdpa_bf16_8x16x2048x64", 8.0 * 16.0 * 4.0 * 2048.0 * 2048.0 * 64.0),
    ("conv_fp16_nhwc_32x256x56x56_k3", 2.0 * 32.0 * 56.0 * 56.0 * 256.0 * 256.0 * 9.0),
    ("conv_fp16_nchw_32x256x56x56_k3", 2.0 * 32.0 * 56.0 * 56.0 * 256.0 * 256.0 * 9.0),
];

/// Kernels that were written to be good exceed what published benchmarks reach, and are at their roof, not wrong.
#[test]
fn no_sound_kernel_is_too_fast_for_achievable_roofs() {
    let mut beyond = 0;
    for name in ["h100-five-kernels.csv", "h100-pairs.csv.gz", "h100-operators.csv.gz"] {
        let input = Input::Named(fixture(&format!("ncu_wide/{name}")));
        let profile = ingest::read(&[input], &Options::default()).unwrap();
        let mut session = Session::default().on(Some(DEVICE.to_owned()));
        session.options.ceilings = Some(CeilingSet::Achievable);
        let analysis = session.analyze(&profile).unwrap();
        for kernel in &analysis.kernels {
            assert_ne!(
                kernel.state,
                State::FasterThanRoofline,
                "{}: {}",
                kernel.name,
                kernel.reason
            );
            beyond += usize::from(kernel.headroom().is_some_and(|headroom| headroom < 0.97));
        }
    }
    assert!(beyond > 3, "{beyond}");
}

#[test]
fn tensor_counters_count_the_closed_forms() {
    let (analysis, _) = judged(&["ncu_wide/h100-operators.csv.gz"]);
    let counted = |operator: &str| -> f64 {
        let of = |kernel: &&Kernel| kernel.operator.as_deref() == Some(operator);
        let kernels = analysis.kernels.iter().filter(of);
        let work = kernels.flat_map(|kernel| kernel.work.iter());
        work.filter(|work| work.pipe.engine() == Engine::Matrix)
            .map(|work| work.operations.get())
            .sum()
    };
    for (operator, expected) in PRODUCTS {
        let found = counted(operator);
        assert!((found / expected - 1.0).abs() < 2e-4, "{operator}: {found} of {expected}");
    }
    // On CUDA cores, to the digits of instructions per cycle.
    let fp32 = analysis
        .kernels
        .iter()
        .find(|kernel| kernel.operator.as_deref() == Some("matmul_fp32_4096"))
        .unwrap();
    let found = fp32.flops().unwrap().get();
    assert!((found / (2.0 * 4096.0_f64.powi(3)) - 1.0).abs() < 1e-3, "{found}");
}

#[test]
fn no_tensor_work_is_said_to_be_uncounted() {
    for name in ["ncu_wide/h100-operators.csv.gz", "ncu_wide/h100-pairs.csv.gz"] {
        let (analysis, findings) = judged(&[name]);
        for (at, kernel) in analysis.kernels.iter().enumerate() {
            let mut rules = findings.of(at).iter().map(|finding| &*finding.rule);
            assert!(!rules.any(|rule| rule == "tensor-undercount"), "{name}: {}", kernel.name);
        }
    }
}

/// The report itself, its raw page and its details page, which rounds.
#[test]
fn the_forms_of_a_report_say_the_same() {
    let forms = [
        "ncu_rep/h100-five-kernels.ncu-rep.gz",
        "ncu_wide/h100-five-kernels.csv",
        "ncu_long/h100-five-kernels.csv.gz",
    ];
    let [report, raw, details] = forms.map(|name| judged(&[name]).0.kernels);
    assert_eq!((report.len(), raw.len(), details.len()), (5, 5, 5));
    for one in &report {
        let [same, rounded] = [&raw, &details]
            .map(|kernels| kernels.iter().find(|two| two.name == one.name).unwrap());
        let is_near = |one: f64, two: f64, tolerance: f64| {
            (one - two).abs() <= tolerance * one.abs().max(two.abs()) + 2e-4
        };
        for quantity in Quantity::all() {
            match (one.average(quantity), same.average(quantity)) {
                // A raw page has two decimals where the report has all digits.
                (Some(one), Some(two)) => {
                    assert!(is_near(one, two, 2e-2), "{}: {quantity:?} {one} {two}", same.name);
                }
                (one, two) => assert_eq!(
                    one.is_some(),
                    two.is_some(),
                    "{}: {quantity:?} {one:?} {two:?}",
                    same.name
                ),
            }
        }
        let bytes = |kernel: &Kernel| kernel.bytes.unwrap().get();
        assert!(is_near(bytes(one), bytes(same), 1e-6), "{}", one.name);
        assert!(is_near(one.measured.get() * 1e6, same.measured.get() * 1e6, 1e-6), "{}", one.name);
        assert!(
            is_near(one.measured.get() * 1e6, rounded.measured.get() * 1e6, 1e-3),
            "{}",
            one.name
        );
        assert_eq!((one.state, one.limiter), (same.state, same.limiter), "{}", one.name);
    }
}

/// Kernels with a flaw, the kernel without it, and the rule that finds it.
const PAIRS: [(&str, &str, &str); 21] = [
    ("member_before", "member_after", "uncoalesced-access"),
    ("transpose_before", "tile_after", "uncoalesced-access"),
    ("tile_before", "tile_after", "shared-load-bank-conflicts"),
    ("bytes_before", "bytes_after", "memory-latency-bound"),
    ("shifted_before", "shifted_after", "misaligned-access"),
    ("gather_before", "gather_after", "uncoalesced-access"),
    ("walk_before", "walk_after", "insufficient-parallelism"),
    ("pinned_before", "pinned_after", "sysmem-traffic"),
    ("count_before", "count_after", "atomic-contention"),
    ("tail_before", "tail_after", "tail-effect"),
    ("few_blocks_before", "few_blocks_after", "small-grid"),
    ("occupancy_before", "occupancy_after", "memory-latency-bound"),
    ("branch_before", "branch_after", "warp-divergence"),
    ("block33_before", "block64_after", "block-size-not-warp-multiple"),
    ("balance_before", "balance_after", "sm-load-imbalance"),
    ("unfused_before", "unfused_after", "unfused-multiply-add"),
    ("constant_before", "constant_after", "special-function-bound"),
    ("divide_before", "divide_after", "special-function-bound"),
    ("local_before", "local_after", "local-arrays"),
    ("spills_before", "spills_after", "register-spills"),
    ("hgemm_cuda_cores", "cublas_fp16", "half-gemm-on-cuda-cores"),
];

/// Those of which the whole distance to the roof is the flaw: what is promised is won, to 8% of the time.
const WHOLE: [&str; 8] = [
    "tile_before",
    "bytes_before",
    "pinned_before",
    "count_before",
    "branch_before",
    "balance_before",
    "unfused_before",
    "constant_before",
];

/// Unprofiled times in microseconds.
fn times() -> BTreeMap<String, f64> {
    let text = std::fs::read_to_string(fixture("captured/times.csv")).unwrap();
    let mut times = BTreeMap::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        times.insert(cells[0].to_owned(), cells[2].parse::<f64>().unwrap());
    }
    times
}

/// Each kernel as if it were alone in the profile: in one run with others most are not worth a look.
fn alone() -> BTreeMap<String, (Kernel, Vec<Finding>)> {
    let text = unpacked("ncu_wide/h100-pairs.csv.gz");
    let mut lines = text.lines();
    let head = format!("{}\n{}\n", lines.next().unwrap(), lines.next().unwrap());
    let mut kernels = BTreeMap::new();
    let mut known = BTreeSet::new();
    for line in lines {
        let name = line.split('"').nth(9).unwrap().split(['(', '<']).next().unwrap().to_owned();
        if !known.insert(name) {
            continue;
        }
        let input = Input::text("kernel.csv", &format!("{head}{line}\n"));
        let profile = ingest::read(&[input], &Options::default()).unwrap();
        let Judged { mut analysis, findings, .. } = Session::default().judge(&profile).unwrap();
        let found = findings.of(0).to_vec();
        let kernel = analysis.kernels.remove(0);
        kernels.insert(kernel.name.to_string(), (kernel, found));
    }
    kernels
}

/// The table of `docs/savings.md`, worked out anew; and each flaw is found where it is, and not where it was cured.
#[test]
fn flaws_are_found_and_savings_are_what_their_cures_brought() {
    let (kernels, times) = (alone(), times());
    let micros = |seconds: f64| format!("{:.0}", seconds * 1e6);
    let mut table = String::from(
        "| kernel | time [µs] | cured | won | savings predicted | rule | at stake |\n| --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for (before, after, rule) in PAIRS {
        let (kernel, found) = &kernels[before];
        let finding = found.iter().find(|finding| finding.rule == rule);
        let finding = finding.unwrap_or_else(|| {
            panic!(
                "{before}: {rule} is not among {:?}",
                found.iter().map(|one| &one.rule).collect::<Vec<_>>()
            )
        });
        if let Some((_, found)) = kernels.get(after) {
            assert!(!found.iter().any(|finding| finding.rule == rule), "{after}: {rule}");
        }
        let (was, is) = (times[before], times[after]);
        let predicted = match (kernel.state, kernel.has_savings()) {
            (State::CacheResident, _) => "none: cache-resident".to_owned(),
            (State::NearRoofline, _) => "none: near its roof".to_owned(),
            (_, true) if kernel.savings.get() > 0.0 => format!(
                "{} ({}–{})",
                micros(kernel.savings.get()),
                micros(kernel.savings_low.get()),
                micros(kernel.savings_high.get())
            ),
            _ => format!("unproven, at most {}", micros(kernel.savings_high.get())),
        };
        let stake = match (finding.at_stake_low_s, finding.at_stake_s) {
            (low, high) if micros(low) == micros(high) => micros(high),
            (low, high) => format!("{}–{}", micros(low), micros(high)),
        };
        writeln!(
            table,
            "| `{before}` | {was:.0} | {is:.0} | {:.0} | {predicted} | `{rule}` | {stake} |",
            was - is
        )
        .unwrap();
        if WHOLE.contains(&before) {
            let promised = kernel.savings.get() * 1e6;
            assert!(((promised - (was - is)) / was).abs() < 0.08, "{before}: {promised}");
        }
        // A profile is of the same work, at the same clocks: the replays take as long as the real run.
        assert!(
            (kernel.measured.get() * 1e6 / was - 1.0).abs() < 0.1,
            "{before}: {} {was}",
            kernel.measured.get()
        );
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/savings.md");
    let text = std::fs::read_to_string(&file).unwrap();
    let (start, rest) = text.split_once("<!-- pairs -->\n").unwrap();
    let (_, end) = rest.split_once("<!-- end of pairs -->\n").unwrap();
    golden::check(&file, &format!("{start}<!-- pairs -->\n{table}<!-- end of pairs -->\n{end}"));
}

/// Demanglers spell the kernels of PyTorch differently; launches from before the trace have no operator of their own.
#[test]
fn counters_of_a_step_find_their_launches_in_its_trace() {
    for (name, counted, kernels) in [("before", 11, 9), ("after", 21, 16)] {
        let trace = format!("pytorch_trace/h100-step-{name}.json.gz");
        let next = format!("ncu_wide/h100-step-{name}-next.csv.gz");
        let (analysis, _) = judged(&[&trace, &next]);
        let note = analysis.notes.iter().find(|note| note.contains("counters of")).unwrap();
        assert!(note.contains(&format!("counters of {counted} launches are used")), "{note}");
        assert!(note.contains(&format!("of {kernels} kernels")), "{note}");
        assert!(!note.contains("not in the trace"), "{note}");
    }
}

#[test]
fn hardly_any_time_of_a_step_is_left_unjudged() {
    for (name, most) in [("before", 0.04), ("after", 0.07)] {
        let analysis = judged(&[&format!("pytorch_trace/h100-step-{name}.json.gz")]).0;
        let unknown = analysis.kernels.iter().filter(|kernel| kernel.state == State::NotEnoughData);
        let unknown: f64 = unknown.map(|kernel| kernel.measured.get()).sum();
        let all: f64 = analysis.kernels.iter().map(|kernel| kernel.measured.get()).sum();
        assert!(unknown / all < most, "{name}: {}", unknown / all);
    }
}

/// What a certain cause accounts for does not depend on what else ran: in the whole export most of these kernels take
/// less than 1% of the time.
#[test]
fn causes_that_are_small_beside_the_run_account_for_as_much_as_alone() {
    let text = unpacked("ncu_wide/h100-pairs.csv.gz");
    let profile = ingest::read(&[Input::text("all.csv", &text)], &Options::default()).unwrap();
    let Judged { analysis, findings, .. } = Session::default().judge(&profile).unwrap();
    let alone = alone();
    for name in ["balance_before", "walk_before"] {
        let (own, _) = &alone[name];
        let position = analysis.kernels.iter().position(|kernel| *kernel.name == *name).unwrap();
        let kernel = &analysis.kernels[position];
        assert!(kernel.measured.get() < 0.01 * analysis.totals.measured.get(), "{name}");
        assert!(own.savings.get() > 100e-6, "{name}");
        let (found, expected) = (kernel.savings.get(), own.savings.get());
        assert!((found / expected - 1.0).abs() < 1e-9, "{name}: {found} {expected}");
        let is_sure = |one: &Finding| one.confidence == Confidence::High;
        assert!(findings.of(position).iter().any(is_sure), "{name}");
    }
}

/// A product of 16 blocks on 132 SMs beside a run of an hour and more: its cause is too small to show, and accounts for
/// as much as in the demo.
#[test]
fn causes_too_small_to_show_account_for_savings() {
    let demo = ingest::read_text("demo.csv", rooflint::SAMPLE, &Options::default()).unwrap();
    let savings = |profile: &rooflint::model::Profile| {
        let Judged { analysis, findings, .. } = Session::default().judge(profile).unwrap();
        let at = analysis.kernels.iter().position(|kernel| kernel.name.contains("splitK")).unwrap();
        let kernel = &analysis.kernels[at];
        (kernel.savings.get(), findings.of(at).len(), analysis.totals.share(kernel.measured))
    };
    let text = rooflint::table::Table::of(&demo).csv();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader.headers().unwrap().clone();
    let place = |title: &str| headers.iter().position(|one| one == title).unwrap();
    let (kernel, time) = (place("kernel"), place("duration_s"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&headers).unwrap();
    for record in reader.records() {
        let mut cells: Vec<String> = record.unwrap().iter().map(str::to_owned).collect();
        if !cells[kernel].contains("splitK") {
            cells[time] = (cells[time].parse::<f64>().unwrap() * 1e5).to_string();
        }
        writer.write_record(&cells).unwrap();
    }
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    let long = ingest::read_text("long.csv", text.as_str(), &Options::default()).unwrap();
    let ((own, shown, _), (beside, hidden, share)) = (savings(&demo), savings(&long));
    assert!(own > 40e-6 && shown > 0, "{own} {shown}");
    assert!(share < 1e-7, "{share}");
    assert!((beside / own - 1.0).abs() < 1e-6, "{beside} {own}");
    assert_eq!(hidden, 0);
}
