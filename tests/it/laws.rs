//! Laws that hold for any data: the roofline's own, and those of reading and adding up.

use proptest::prelude::*;

use rooflint::analysis::{Analysis, Kernel, State};
use rooflint::ingest::{self, Numerals};
use rooflint::model::Profile;
use rooflint::roofline as law;
use rooflint::session::Session;
use rooflint::units::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, Seconds};

fn rates() -> impl Strategy<Value = (f64, f64, f64, f64)> {
    (1e3..1e15_f64, 1e3..1e13_f64, 1e9..1e16_f64, 1e9..1e13_f64)
}

proptest! {
    #[test]
    fn expected_time_is_the_longer_side_and_scales_with_the_work((flops, bytes, peak, bw) in rates(), factor in 1.0..1e3_f64) {
        let (peak, bw) = (FlopsPerSecond::new(peak), BytesPerSecond::new(bw));
        let time = |scale: f64| {
            let (memory, math) = (law::memory_time(Bytes::new(bytes * scale), bw), law::math_time(Flops::new(flops * scale), peak));
            (law::roofline_time(memory, math), memory, math)
        };
        let (expected, memory, math) = time(1.0);
        prop_assert!(expected >= memory && expected >= math);
        prop_assert!(expected == memory || expected == math);
        prop_assert!((time(factor).0 / expected / factor - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_launch_on_its_roof_has_nothing_to_recover(time in 1e-9..1e3_f64) {
        let time = Seconds::new(time);
        prop_assert_eq!(law::savings(time, time), Seconds::ZERO);
        prop_assert!(!law::is_faster_than_roof(time, time));
        prop_assert_eq!(law::headroom(time, time), 1.0);
    }

    #[test]
    fn numbers_survive_grouping(value in 0_u64..1_000_000_000_000, cents in 0_u8..100) {
        let digits = value.to_string();
        let mut grouped = String::new();
        for (at, c) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(c);
        }
        let text = format!("{grouped}.{cents:02}");
        let numerals = Numerals::detect(["1,234.56", "9.87"].into_iter());
        let expected: f64 = format!("{digits}.{cents:02}").parse().unwrap();
        prop_assert_eq!(numerals.parse(text.as_bytes()), Ok(Some(expected)));
    }

    #[test]
    fn any_text_is_read_or_refused_but_never_panics(text in "(?s).{0,400}") {
        let text: &'static str = Box::leak(text.into_boxed_str());
        let _ = ingest::read_text("random", text, &ingest::Options::default());
    }

    #[test]
    fn a_damaged_export_is_read_or_refused_but_never_panics(at in 0_usize..24_000, byte in any::<u8>(), cut in any::<bool>()) {
        let mut bytes = SAMPLE.as_bytes().to_vec();
        let at = at.min(bytes.len() - 1);
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] = byte;
        }
        let text: &'static str = Box::leak(String::from_utf8_lossy(&bytes).into_owned().into_boxed_str());
        if let Ok(profile) = ingest::read_text("damaged", text, &ingest::Options::default()) {
            let _ = Session::default().analyze(&profile);
        }
    }
}

const SAMPLE: &str = include_str!("../../fixtures/demo/h100-training-step.csv");

fn analyzed(profile: &Profile) -> Analysis {
    Session::default().analyze(profile).unwrap()
}

fn sample(order: impl Fn(&mut Vec<&'static str>)) -> Profile {
    let mut lines: Vec<&str> = SAMPLE.lines().collect();
    let head = lines.drain(..2).collect::<Vec<_>>();
    order(&mut lines);
    let text = head.into_iter().chain(lines).collect::<Vec<_>>().join("\n");
    ingest::read_text("sample", Box::leak(text.into_boxed_str()), &ingest::Options::default())
        .unwrap()
}

#[test]
fn the_order_of_launches_does_not_matter() {
    let straight = analyzed(&sample(|_| {}));
    let reversed = analyzed(&sample(|lines| lines.reverse()));
    assert_eq!(straight.totals.measured, reversed.totals.measured);
    assert_eq!(straight.totals.savings, reversed.totals.savings);
    let names = |analysis: &Analysis| {
        analysis.kernels.iter().map(|kernel| kernel.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&straight), names(&reversed));
}

#[test]
fn shares_of_all_kernels_add_up_to_the_whole() {
    let analysis = analyzed(&sample(|_| {}));
    let share = |kernel: &Kernel| analysis.totals.share(kernel.measured);
    let share: f64 = analysis.kernels.iter().map(share).sum();
    assert!((share - 1.0).abs() < 1e-9, "{share}");
    let launches: u64 = analysis.kernels.iter().map(|kernel| kernel.launches).sum();
    assert_eq!(launches, analysis.totals.launches);
}

/// The sample's rows `times` times over, with launch numbers of their own.
fn repeated(times: usize) -> Profile {
    let lines: Vec<&str> = SAMPLE.lines().collect();
    let mut text = format!("{}\n{}\n", lines[0], lines[1]);
    for round in 0..times {
        for (at, line) in lines[2..].iter().enumerate() {
            let (_, rest) = line.split_once(',').unwrap();
            text.push_str(&format!("\"{}\",{rest}\n", round * lines.len() + at));
        }
    }
    ingest::read_text("repeated", Box::leak(text.into_boxed_str()), &ingest::Options::default())
        .unwrap()
}

#[test]
fn a_longer_run_of_the_same_launches_is_judged_the_same() {
    let (once, thrice) = (analyzed(&repeated(1)), analyzed(&repeated(3)));
    assert_eq!(thrice.totals.launches, 3 * once.totals.launches);
    for kernel in &once.kernels {
        let other = thrice
            .kernels
            .iter()
            .find(|other| other.full_name == kernel.full_name && other.shape == kernel.shape)
            .unwrap();
        assert_eq!(
            other.headroom().map(|h| (h * 1e9).round()),
            kernel.headroom().map(|h| (h * 1e9).round())
        );
        assert_eq!(other.limiter, kernel.limiter, "{}", kernel.name);
        // Only what a kernel can win grows with the run.
        if kernel.state != State::LowImpact {
            assert_eq!(other.state, kernel.state, "{}", kernel.name);
        }
    }
}

#[test]
fn two_files_add_up_to_what_each_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut inputs = Vec::new();
    // Two ranks: equal launches of one process would be copies.
    for (name, process) in [("one.csv", "\"41234\""), ("two.csv", "\"41235\"")] {
        let path = folder.path().join(name);
        std::fs::write(&path, SAMPLE.replace("\"41234\"", process)).unwrap();
        inputs.push(ingest::Input::Named(path));
    }
    // The same file named twice is one file.
    inputs.push(inputs[0].clone());
    let both = ingest::read(&inputs, &ingest::Options::default()).unwrap();
    assert_eq!(both.sources.len(), 2);
    assert!(both.notes.iter().any(|note| note.contains("given twice")), "{:?}", both.notes);
    let (both, one) = (analyzed(&both), analyzed(&sample(|_| {})));
    let twice = one.totals.measured.get() * 2.0;
    assert!((both.totals.measured.get() / twice - 1.0).abs() < 1e-12);
    assert_eq!(both.kernels.len(), one.kernels.len());
}

#[test]
fn the_whole_headroom_is_modeled_time_over_expected_time() {
    let analysis = analyzed(&sample(|_| {}));
    let modeled: Vec<_> =
        analysis.kernels.iter().filter(|kernel| kernel.state.is_modeled()).collect();
    let measured: f64 = modeled.iter().map(|kernel| kernel.modeled.get()).sum();
    let expected: f64 =
        modeled.iter().filter_map(|kernel| kernel.roofline_time).map(Seconds::get).sum();
    let headroom = analysis.totals.headroom().unwrap();
    assert!((headroom / (measured / expected) - 1.0).abs() < 1e-12, "{headroom}");
}

#[test]
fn a_launch_without_a_time_changes_nothing_but_the_count() {
    let plain = analyzed(&sample(|_| {}));
    let lines: Vec<&str> = SAMPLE.lines().collect();
    let column = ingest_column(lines[0], "gpu__time_duration.sum");
    let cells: Vec<String> = split(lines[2])
        .into_iter()
        .enumerate()
        .map(|(at, cell)| match at {
            0 => "\"999999\"".to_owned(),
            at if at == column => "\"n/a\"".to_owned(),
            _ => format!("\"{cell}\""),
        })
        .collect();
    let text = format!("{}\n{}\n", SAMPLE.trim_end(), cells.join(","));
    let text: &'static str = Box::leak(text.into_boxed_str());
    let more = analyzed(&ingest::read_text("more", text, &ingest::Options::default()).unwrap());
    assert_eq!(more.totals.launches, plain.totals.launches + 1);
    assert_eq!(more.totals.timed_launches, plain.totals.timed_launches);
    assert_eq!(more.totals.measured, plain.totals.measured);
    assert_eq!(more.totals.roofline_time, plain.totals.roofline_time);
    assert_eq!(more.totals.savings, plain.totals.savings);
    let states = |analysis: &Analysis| {
        analysis
            .kernels
            .iter()
            .map(|kernel| (kernel.name.clone(), kernel.state))
            .collect::<Vec<_>>()
    };
    assert_eq!(states(&more), states(&plain));
}

fn split(line: &str) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
    let record = reader.records().next().unwrap().unwrap();
    record.iter().map(|cell| cell.replace('"', "\"\"")).collect()
}

fn ingest_column(header: &str, name: &str) -> usize {
    split(header).iter().position(|field| field == name).unwrap()
}
