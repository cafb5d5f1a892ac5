//! Laws that hold for any data: the roofline's own, and those of reading and adding up.

use proptest::prelude::*;

use rooflint::analysis::{self, Analysis, Options};
use rooflint::catalog::Catalog;
use rooflint::ingest::{self, Numerals};
use rooflint::model::Profile;
use rooflint::roofline as law;
use rooflint::units::{Bytes, BytesPerSecond, Flops, FlopsPerSecond, Seconds};

fn rates() -> impl Strategy<Value = (f64, f64, f64, f64)> {
    (1e3..1e15_f64, 1e3..1e13_f64, 1e9..1e16_f64, 1e9..1e13_f64)
}

proptest! {
    #[test]
    fn attainable_stays_under_both_roofs((flops, bytes, peak, bw) in rates()) {
        let (flops, bytes) = (Flops::new(flops), Bytes::new(bytes));
        let (peak, bw) = (FlopsPerSecond::new(peak), BytesPerSecond::new(bw));
        let intensity = flops / bytes;
        let attainable = law::attainable(intensity, peak, bw);
        prop_assert!(attainable <= peak);
        prop_assert!(attainable.get() <= (intensity * bw).get());
    }

    #[test]
    fn expected_time_is_the_longer_side_and_scales_with_the_work((flops, bytes, peak, bw) in rates(), factor in 1.0..1e3_f64) {
        let (peak, bw) = (FlopsPerSecond::new(peak), BytesPerSecond::new(bw));
        let time = |scale: f64| {
            let (memory, math) = (law::memory_time(Bytes::new(bytes * scale), bw), law::math_time(Flops::new(flops * scale), peak));
            (law::expected_time(memory, math), memory, math)
        };
        let (expected, memory, math) = time(1.0);
        prop_assert!(expected >= memory && expected >= math);
        prop_assert!(expected == memory || expected == math);
        prop_assert!((time(factor).0 / expected / factor - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_launch_on_its_roof_has_nothing_to_recover(time in 1e-9..1e3_f64) {
        let time = Seconds::new(time);
        prop_assert_eq!(law::recoverable(time, time), Seconds::ZERO);
        prop_assert!(!law::is_faster_than_roof(time, time));
        prop_assert_eq!(law::headroom(time, time), 1.0);
    }

    #[test]
    fn numbers_survive_grouping(value in 0_u64..1_000_000_000_000, cents in 0_u8..100) {
        let digits = value.to_string();
        let mut grouped = String::new();
        for (at, c) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at) % 3 == 0 {
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
            let _ = analysis::analyse(&profile, &Catalog::builtin(), &Options::default());
        }
    }
}

const SAMPLE: &str = include_str!("../../fixtures/demo/h100-training-step.csv");

fn analysed(profile: &Profile) -> Analysis {
    analysis::analyse(profile, &Catalog::builtin(), &Options::default()).unwrap()
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
    let straight = analysed(&sample(|_| {}));
    let reversed = analysed(&sample(|lines| lines.reverse()));
    assert_eq!(straight.totals.measured, reversed.totals.measured);
    assert_eq!(straight.totals.recoverable, reversed.totals.recoverable);
    let names = |analysis: &Analysis| {
        analysis.kernels.iter().map(|kernel| kernel.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&straight), names(&reversed));
}

#[test]
fn shares_of_all_kernels_add_up_to_the_whole() {
    let analysis = analysed(&sample(|_| {}));
    let share: f64 = analysis.kernels.iter().map(|kernel| kernel.share).sum();
    assert!((share - 1.0).abs() < 1e-9, "{share}");
    let launches: u64 = analysis.kernels.iter().map(|kernel| kernel.launches).sum();
    assert_eq!(launches, analysis.totals.launches);
}
