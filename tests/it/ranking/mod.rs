//! What can be won, from pessimistic to optimistic; what the first kernels cover; groups and targets.
//!
//! The figures are worked out by hand for a device with 1000 GB/s, so that a megabyte takes a
//! microsecond; launches cost 2 µs, and 85% of the bandwidth is achievable (GDDR).

mod laws;
mod threshold;

use rooflint::analysis::{Analysis, Group, Kernel, Options, State, Target, Waiver};
use rooflint::catalog::Catalog;
use rooflint::config::Config;
use rooflint::ingest;
use rooflint::model::{Date, Profile};
use rooflint::report::{self, Report, Style};
use rooflint::session::{Judged, Session};
use rooflint::units::{Seconds, Share};

use crate::predict::program::{Run, program};

const DEVICE: &str = "name = \"Test GPU\"\nsms = 100\nboost_clock_mhz = 1000\n\
    [memory]\nkind = \"GDDR6\"\nbandwidth_gbs = 1000\n\
    [peaks_tflops]\nfp64_vector = 5\nfp32_vector = 10\nfp16_vector = 20\n";

/// What is known of the work of a launch beside its bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Math {
    /// FP64, FP32 and FP16 operations were counted: none.
    None,
    /// Nothing was counted, and the busiest unit of the SMs reached this many percent.
    AtMost(u32),
    /// Nothing was counted.
    Unknown,
}

/// A launch: kernel, microseconds, megabytes, math.
type Row = (&'static str, f64, Option<f64>, Math);

/// A metric list of Nsight Compute with these launches.
fn list(rows: &[Row]) -> String {
    let mut text = String::from(
        "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\
         \"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\
         \"Metric Value\"\n",
    );
    for (id, (kernel, time, bytes, math)) in rows.iter().enumerate() {
        let mut metric = |name: &str, unit: &str, value: f64| {
            text.push_str(&format!(
                "\"{id}\",\"7\",\"app\",\"127.0.0.1\",\"{kernel}\",\"1\",\"7\",\"(256, 1, 1)\",\
                 \"(4096, 1, 1)\",\"0\",\"8.0\",\"Command line profiler metrics\",\"{name}\",\"{unit}\",\
                 \"{value}\"\n"
            ));
        };
        metric("gpu__time_duration.sum", "ns", time * 1e3);
        if let Some(bytes) = bytes {
            metric("dram__bytes.sum", "byte", bytes * 1e6);
        }
        match math {
            Math::None => {
                for kind in ["d", "f", "h"]
                    .iter()
                    .flat_map(|p| ["add", "mul", "fma"].map(|o| format!("{p}{o}")))
                {
                    let name = format!("smsp__sass_thread_inst_executed_op_{kind}_pred_on.sum");
                    metric(&name, "inst", 0.0);
                }
            }
            Math::AtMost(percent) => {
                let name = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
                metric(name, "%", f64::from(*percent));
            }
            Math::Unknown => {}
        }
    }
    text
}

fn analyzed(rows: &[Row], options: Options) -> Analysis {
    read(&list(rows), DEVICE, options)
}
fn read(list: &str, device: &str, options: Options) -> Analysis {
    session(device, options).analyze(&profile(list)).unwrap()
}

fn profile(list: &str) -> Profile {
    ingest::read_text("list", list.to_owned().leak(), &ingest::Options::default()).unwrap()
}

fn session(device: &str, options: Options) -> Session {
    let catalog = Catalog::builtin().with_text("test.toml", device).unwrap();
    Session { options, ..Session::new(catalog, Config::default()) }.on(Some("Test GPU".to_owned()))
}

/// 6540 µs in all: 1% of that, 65.4 µs, is the smallest win that counts.
const ROWS: [Row; 7] = [
    ("copy_a", 1000.0, Some(200.0), Math::None),
    ("copy_a", 220.0, Some(200.0), Math::None),
    ("copy_b", 2000.0, Some(400.0), Math::AtMost(30)),
    ("near_c", 1000.0, Some(900.0), Math::Unknown),
    ("lost_d", 800.0, None, Math::Unknown),
    ("fair_e", 1500.0, Some(1000.0), Math::None),
    ("tiny_f", 20.0, Some(5.0), Math::None),
];

fn find<'a>(analysis: &'a Analysis, name: &str) -> &'a Kernel {
    analysis.kernels.iter().find(|kernel| *kernel.name == *name).unwrap()
}

fn close(time: Seconds, microseconds: f64) -> bool {
    (time.get() * 1e6 - microseconds).abs() < 1e-6
}

#[test]
fn what_can_be_won_lies_between_a_pessimistic_and_an_optimistic_end() {
    let analysis = analyzed(&ROWS, Options::default());
    // copy_a, launch 1: T 1000, E 200. Structural 2 + 200 / 0.85 = 237.294; 1.3 × 200 = 260.
    //         launch 2: T 220 lies below both: nothing to win, and it does not eat up launch 1.
    // copy_b: T 2000, E 400, and at most 30% of T = 600 for math nobody counted.
    //         Structural 2 + max(400 / 0.85, 600) = 602; 1.3 × 600 = 780.
    // near_c: T 1000, E 900, unbounded: nothing is certain. Structural 2 + 900 / 0.85 > T.
    // fair_e: T 1500, E 1000. Structural 2 + 1000 / 0.85 = 1178.471; 1.3 × 1000 = 1300.
    // tiny_f: T 20, E 5. Structural 2 + 5 / 0.85 = 7.882 exceeds 1.3 × 5 = 6.5.
    for (name, state, low, value, high) in [
        ("copy_a", State::Flagged, 740.0, 1000.0 - 2.0 - 200.0 / 0.85, 820.0),
        ("copy_b", State::Flagged, 1220.0, 1398.0, 1600.0),
        ("near_c", State::NearRoofline, 0.0, 0.0, 100.0),
        ("fair_e", State::Fair, 200.0, 1500.0 - 2.0 - 1000.0 / 0.85, 500.0),
        ("tiny_f", State::LowImpact, 18.0 - 5.0 / 0.85, 18.0 - 5.0 / 0.85, 15.0),
    ] {
        let kernel = find(&analysis, name);
        assert_eq!(kernel.state, state, "{name}");
        assert!(close(kernel.savings_low, low), "{name}: {:?}", kernel.savings_low);
        assert!(close(kernel.savings, value), "{name}: {:?}", kernel.savings);
        assert!(close(kernel.savings_high, high), "{name}: {:?}", kernel.savings_high);
    }
    assert_eq!(find(&analysis, "lost_d").state, State::NotEnoughData);
    let totals = &analysis.totals;
    // All that was judged counts, flagged or not: a threshold labels, and changes no sum.
    assert!(close(totals.savings_low, 740.0 + 1220.0 + 200.0 + 18.0 - 5.0 / 0.85));
    assert!(close(totals.savings, all_that_can_be_won()));
    // The 100 above the roof of near_c cannot be won: T is below structural, which math that was not counted can only raise.
    assert!(close(totals.savings_high, 820.0 + 1600.0 + 500.0 + 15.0));
    assert!(close(totals.savings_unproven, 0.0));
    // 6540 / (6540 − 2494.353)
    let speedup = totals.run_speedup(totals.savings);
    assert!((speedup - 1.616_552).abs() < 1e-6, "{speedup}");
    for threshold in [1.1, 1.4, 1.5, 3.0, 6.0] {
        let other = analyzed(&ROWS, Options { threshold: Some(threshold), ..Options::default() });
        let same = |one: Seconds, two: Seconds| close(one, two.get() * 1e6);
        assert!(same(other.totals.savings, totals.savings), "{threshold}");
        assert!(same(other.totals.savings_low, totals.savings_low), "{threshold}");
        assert_eq!(order(&other), order(&analysis), "{threshold}");
    }
}

/// `copy_a`, `copy_b`, `fair_e` and `tiny_f`: 2494.353 µs.
fn all_that_can_be_won() -> f64 {
    (998.0 - 200.0 / 0.85) + 1398.0 + (1498.0 - 1000.0 / 0.85) + (18.0 - 5.0 / 0.85)
}

#[test]
fn what_every_level_moves_now_is_not_promised_at_the_pessimistic_end() {
    // T 1000, E 100, and 2000 MB through an L2 of 4000 GB/s: 500 µs. Structural 2 + 500 / 0.9 = 557.556;
    // a rewrite that moves as much through L2 and comes near its roof takes 1.3 × 500 = 650.
    let mut text = list(&[("pass_a", 1000.0, Some(100.0), Math::None)]);
    let line = text.lines().last().unwrap().to_owned();
    let at = line.find("\"smsp__").unwrap();
    text.push_str(&format!("{}\"lts__t_bytes.sum\",\"byte\",\"2000000000\"\n", &line[..at]));
    let device = format!("{DEVICE}[cache]\nl2_bandwidth_gbs = 4000\n");
    let analysis = read(&text, &device, Options::default());
    let kernel = find(&analysis, "pass_a");
    assert_eq!(kernel.state, State::Flagged, "{}", kernel.reason);
    assert!(close(kernel.savings_low, 350.0), "{:?}", kernel.savings_low);
    assert!(close(kernel.savings, 998.0 - 500.0 / 0.9), "{:?}", kernel.savings);
    assert!(close(kernel.savings_high, 900.0), "{:?}", kernel.savings_high);
}

#[test]
fn what_every_unit_does_now_is_not_promised_at_the_pessimistic_end() {
    // T 1000, E 100, structural 2 + 100 / 0.85 = 119.647.
    let low_with = |units: &[(&str, f64)]| {
        let mut text = list(&[("roots_a", 1000.0, Some(100.0), Math::None)]);
        let line = text.lines().last().unwrap().to_owned();
        let at = line.find("\"smsp__").unwrap();
        for (unit, percent) in units {
            text.push_str(&format!("{}\"{unit}\",\"%\",\"{percent}\"\n", &line[..at]));
        }
        let analysis = read(&text, DEVICE, Options::default());
        let kernel = find(&analysis, "roots_a");
        assert_eq!(kernel.state, State::Flagged, "{}", kernel.reason);
        // What L2 is busy with is needed, where its bytes were not counted: 500 of 1000 µs.
        let has_l2 = units.iter().any(|(unit, _)| unit.starts_with("lts__"));
        let structural = if has_l2 { 500.0 / 0.9 } else { 100.0 / 0.85 };
        assert!(close(kernel.savings, 998.0 - structural), "{:?}", kernel.savings);
        assert!(close(kernel.savings_high, 900.0), "{:?}", kernel.savings_high);
        kernel.savings_low.get() * 1e6
    };
    let xu = "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active";
    let alu = "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active";
    let sm = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
    let l2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
    let memory = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
    for (units, low) in [
        // 1.3 × 100.
        (&[][..], 870.0),
        (&[(xu, 5.0)], 870.0),
        // 1.3 × 500.
        (&[(xu, 50.0)], 350.0),
        (&[(xu, 50.0), (alu, 60.0)], 220.0),
        // The SMs wait for 60% of the time, however busy the pipe is while they do not.
        (&[(xu, 50.0), (sm, 40.0)], 480.0),
        (&[(xu, 97.0)], 0.0),
        (&[(sm, 97.0)], 0.0),
        // L2, whose bytes were not counted; the busiest part of memory says more than one of them.
        (&[(l2, 50.0)], 350.0),
        (&[(l2, 50.0), (memory, 55.0)], 285.0),
        (&[(sm, 40.0), (memory, 50.0)], 350.0),
    ] {
        let found = low_with(units);
        assert!((found - low).abs() < 1e-6, "{units:?}: {found}");
    }
}

#[test]
fn opportunities_cover_what_can_be_won_one_after_the_other() {
    let analysis = analyzed(&ROWS, Options::default());
    let covered = |kernel: &Kernel| kernel.coverage.map(Share::get);
    let order: Vec<(&str, Option<f64>)> =
        analysis.kernels.iter().map(|kernel| (&*kernel.name, covered(kernel))).take(3).collect();
    // 1398 / 2494.353 = 0.560466 and 2160.706 / 2494.353 = 0.866239: with the second more than 80 %.
    assert_eq!((order[0].0, order[1].0, order[2].0), ("copy_b", "copy_a", "fair_e"));
    assert!((order[0].1.unwrap() - 0.560_466).abs() < 1e-6, "{order:?}");
    assert!((order[1].1.unwrap() - 0.866_239).abs() < 1e-6, "{order:?}");
    assert_eq!(analysis.totals.kernels_for_80_percent, 2);
    let last = analysis.kernels.iter().rev().find_map(covered);
    assert_eq!(last, Some(1.0));
    // Without copy_a, copy_b is 1398 of 1731.647.
    let mut alone = analyzed(&ROWS, Options::default());
    let waiver =
        Waiver { kernel: "copy_a".into(), reason: "known".into(), owner: None, expires: None };
    alone.waive(&[waiver], Date::new(2026, 1, 1));
    let covered = covered(find(&alone, "copy_b")).unwrap();
    assert!((covered - 0.807_324).abs() < 1e-6, "{covered}");
    assert_eq!((find(&alone, "copy_a").coverage, alone.totals.kernels_for_80_percent), (None, 1));
}

/// The names in the order of the ranking.
fn order(analysis: &Analysis) -> Vec<&str> {
    analysis.kernels.iter().map(|kernel| &*kernel.name).collect()
}

#[test]
fn a_short_kernel_with_a_huge_ratio_is_nowhere_near_the_top() {
    // 3 µs for 3 ns of bytes: a thousand times its roof. 600 launches of it take longer than all else.
    let mut rows = ROWS.to_vec();
    rows.push(("spark_g", 3.0, Some(0.003), Math::None));
    rows.extend(vec![("storm_h", 3.0, Some(0.003), Math::None); 600]);
    // No launch cost explains 8 µs, but 6 µs won are not worth it: 1% of 8351 µs is 83.51 µs.
    rows.push(("blink_i", 8.0, Some(0.008), Math::None));
    let analysis = analyzed(&rows, Options::default());
    assert!(close(analysis.totals.measured, 8351.0) && close(analysis.smallest_win(), 83.51));
    for (name, state) in [
        ("spark_g", State::LaunchBound),
        ("storm_h", State::LaunchBound),
        ("blink_i", State::LowImpact),
    ] {
        let kernel = find(&analysis, name);
        assert_eq!(kernel.state, state, "{name}");
        assert_eq!(kernel.coverage.is_some(), state == State::LowImpact, "{name}");
        assert!((kernel.headroom().unwrap() / 1000.0 - 1.0).abs() < 1e-9, "{name}");
    }
    // No rewrite makes a launch shorter than 2.5 times what any costs: 8 − 5 µs.
    assert!(close(find(&analysis, "blink_i").savings, 3.0));
    // A ratio ranks nothing: by what can be won, then time alone, 1800 µs before 1000 µs.
    assert_eq!(
        order(&analysis),
        [
            "copy_b", "copy_a", "fair_e", "tiny_f", "blink_i", "storm_h", "near_c", "lost_d",
            "spark_g"
        ]
    );
    // Not even where the user asks for everything.
    let all = Options { floor: Some(Seconds::ZERO), floor_share: Some(0.0), ..Options::default() };
    let all = analyzed(&rows, all);
    assert_eq!(order(&all), order(&analysis));
    assert_eq!(find(&all, "blink_i").state, State::Flagged);
}

#[test]
fn integer_products_that_no_counter_sees_are_not_ranked() {
    // All FP counters are zero, and 10 MB take 10 µs of 1000: a hundred times the expected time, if
    // the integer work on tensor cores or in DP4A were nothing.
    for name in [
        "ampere_int8_i16832gemm_int8_256x128_ldg16_relu_stages_64x3_tn",
        "cutlass_80_tensorop_i16832gemm_s8_256x128_64x3_tn_align16",
        "sm80_xmma_gemm_i8i8_i8i32_f32_tn_n_tilesize128x128x64",
        "igemm_int8_dp4a_128x128_nt",
        "int8_gemm_kernel",
        "mul_mat_q",
    ] {
        let analysis = analyzed(
            &[(name, 1000.0, Some(10.0), Math::None), ("copy_a", 1000.0, Some(10.0), Math::None)],
            Options::default(),
        );
        let product = find(&analysis, name);
        assert_eq!(product.state, State::NotEnoughData, "{name}: {}", product.reason);
        assert_eq!((product.coverage, product.rank), (None, 2), "{name}");
        assert!(product.savings == Seconds::ZERO && product.savings_low == Seconds::ZERO);
        // The same figures of a kernel that only copies are an opportunity.
        assert_eq!(find(&analysis, "copy_a").state, State::Flagged);
        assert!(close(analysis.totals.unmodeled, 1000.0));
    }
}

#[test]
fn copies_and_communication_keep_a_place_of_their_own() {
    let mut rows = ROWS.to_vec();
    rows.push(("ncclDevKernel_AllReduce_Sum_f16_RING_LL", 9000.0, Some(1.0), Math::None));
    rows.push(("[CUDA memcpy HtoD]", 7000.0, Some(1.0), Math::None));
    rows.push(("[CUDA memcpy PtoP]", 6000.0, Some(1.0), Math::None));
    rows.push(("[CUDA memcpy DtoD]", 5000.0, Some(4500.0), Math::None));
    let mut analysis = analyzed(&rows, Options::default());
    let totals = &analysis.totals;
    assert!(close(totals.measured, 33_540.0));
    for name in
        ["ncclDevKernel_AllReduce_Sum_f16_RING_LL", "[CUDA memcpy HtoD]", "[CUDA memcpy PtoP]"]
    {
        let kernel = find(&analysis, name);
        assert_eq!((kernel.state, kernel.coverage), (State::NotRoofline, None), "{name}");
        assert!(kernel.savings == Seconds::ZERO && kernel.savings_low == Seconds::ZERO);
    }
    // A copy within the device moves its bytes through DRAM, and that has a roof.
    assert_eq!(find(&analysis, "[CUDA memcpy DtoD]").state, State::NearRoofline);
    // They come after what can be won, however long, and win nothing: as much as without them.
    assert_eq!(order(&analysis)[..4], ["copy_b", "copy_a", "fair_e", "tiny_f"]);
    assert!(close(totals.savings, all_that_can_be_won()));
    assert!(close(totals.states[&State::NotRoofline].1, 22_000.0));
    // In a group they are time, not efficiency: E 4500 of 5000 is what the target is held against.
    analysis.group(&[group("moving", "[CUDA memcpy*", 0.8), group("links", "nccl*", 0.8)]);
    let (moving, links) = (&analysis.groups[0], &analysis.groups[1]);
    assert!(close(moving.measured, 18_000.0) && close(moving.outside(), 13_000.0));
    assert!((moving.efficiency().unwrap() - 0.9).abs() < 1e-12);
    assert_eq!(moving.verdict(), Some(Target::Met));
    assert!(close(links.outside(), 9000.0) && links.efficiency().is_none());
    assert_eq!((links.verdict(), links.worst.len()), (Some(Target::CannotTell), 0));
}

fn group(name: &str, kernel: &str, target: f64) -> Group {
    Group {
        name: name.to_owned(),
        kernel: Some(kernel.to_owned()),
        target: Some(target),
        ..Group::default()
    }
}

#[test]
fn a_target_is_missed_or_met_only_for_certain() {
    let mut analysis = analyzed(&ROWS, Options::default());
    let verdict = |analysis: &mut Analysis, pattern: &str, target: f64| {
        analysis.group(&[group("one", pattern, target)]);
        analysis.groups[0].verdict().unwrap()
    };
    for (pattern, target, expected) in [
        // E 800 to 1000 of 3220: 24.8 to 31.1 %.
        ("copy_*", 0.5, Target::Missed),
        ("copy_*", 0.32, Target::Missed),
        ("copy_*", 0.30, Target::CannotTell),
        ("copy_*", 0.24, Target::Met),
        // E 900 of 1000, but nothing bounds what was not counted: 90 to 100 %.
        ("near_c", 0.95, Target::CannotTell),
        ("near_c", 0.89, Target::Met),
        ("lost_d", 0.1, Target::CannotTell),
    ] {
        assert_eq!(verdict(&mut analysis, pattern, target), expected, "{pattern} {target}");
    }
    // E 1000 of 1500, and 800 µs that nobody can judge: 1000 to 1800 of 2300, 43.5 to 78.3 %.
    let rows = ROWS.map(|row| match row.0 {
        "lost_d" => ("both_d", row.1, row.2, row.3),
        "fair_e" => ("both_e", row.1, row.2, row.3),
        _ => row,
    });
    let mut both = analyzed(&rows, Options::default());
    for (target, expected) in
        [(0.43, Target::Met), (0.6, Target::CannotTell), (0.79, Target::Missed)]
    {
        assert_eq!(verdict(&mut both, "both_*", target), expected, "{target}");
        let told = both.groups[0].efficiency().unwrap();
        assert!((told - 1000.0 / 1500.0).abs() < 1e-9, "of what was judged: {told}");
        assert!(close(both.groups[0].unmodeled, 800.0));
    }
}

#[test]
fn a_group_says_what_its_target_would_win_and_who_keeps_it_from_it() {
    let mut analysis = analyzed(&ROWS, Options::default());
    // The first group that fits takes a kernel; the last fits only what the first has taken.
    analysis.group(&[
        group("copies", "copy_*", 0.5),
        group("near", "near_c", 0.95),
        group("late", "copy_a", 0.5),
        group("nothing", "gemm", 0.5),
    ]);
    let names: Vec<&str> = analysis.groups.iter().map(|group| &*group.name).collect();
    assert_eq!(names, ["copies", "near", "other"]);
    let copies = &analysis.groups[0];
    assert_eq!((copies.kernels, copies.launches), (2, 3));
    assert!(close(copies.measured, 3220.0) && close(copies.judged, 3220.0));
    assert!((copies.share - 3220.0 / 6540.0).abs() < 1e-12);
    // T − E / 0.5 with E between 800 and 1000.
    let (least, most) = copies.above_target().unwrap();
    assert!(close(least, 1220.0) && close(most, 1620.0), "{least:?} {most:?}");
    assert!(close(copies.savings_low, 1960.0) && close(copies.savings_high, 2420.0));
    // copy_b loses 2000 − 600 / 0.5 = 800 µs for certain, copy_a 1220 − 400 / 0.5 = 420 µs.
    let worst: Vec<(&str, f64, f64)> = copies
        .worst
        .iter()
        .map(|worst| (&*worst.name, worst.efficiency, worst.efficiency_high))
        .collect();
    assert_eq!(worst.len(), 2);
    assert!(worst[0].0 == "copy_b" && worst[1].0 == "copy_a", "{worst:?}");
    assert!((worst[0].1 - 0.2).abs() < 1e-9 && (worst[0].2 - 0.3).abs() < 1e-9, "{worst:?}");
    // What bounds nothing promises nothing: 1000 − min(∞, 1000) / 0.95 < 0, at most 1000 − 900 / 0.95.
    let (least, most) = analysis.groups[1].above_target().unwrap();
    assert!(close(least, 0.0) && close(most, 1000.0 - 900.0 / 0.95));
    let rest = &analysis.groups[2];
    assert_eq!((rest.kernels, rest.target, rest.verdict()), (3, None, None));
    assert!(close(rest.unmodeled, 800.0) && close(rest.judged, 1520.0));
    for told in [
        "group \"late\" matches no kernel, except those of earlier groups",
        "group \"nothing\" matches no kernel",
    ] {
        assert!(analysis.notes.iter().any(|note| note == told), "{:?}", analysis.notes);
    }
    // States keep their meaning: a target changes none.
    assert_eq!(analysis.opportunities().count(), 2);
}

#[test]
fn a_waived_kernel_neither_misses_a_target_nor_meets_it() {
    let mut analysis = analyzed(&ROWS, Options::default());
    analysis.group(&[group("mixed", "*_*", 0.5)]);
    let waiver = |name: &str| Waiver {
        kernel: name.into(),
        reason: "known".into(),
        owner: None,
        expires: None,
    };
    analysis.waive(&[waiver("copy_*")], Date::new(2026, 1, 1));
    let mixed = &analysis.groups[0];
    assert!(close(mixed.waived, 3220.0) && close(mixed.measured, 6540.0));
    let left = (1498.0 - 1000.0 / 0.85) + (18.0 - 5.0 / 0.85);
    assert!(close(mixed.judged, 2520.0) && close(mixed.savings, left));
    // 900 + 1000 + 5 of 2520, and 800 µs that may be anything: at least 57 %.
    assert_eq!(mixed.verdict(), Some(Target::Met));
}

#[test]
fn without_groups_kernels_are_counted_by_category() {
    let profile = ingest::read_text("demo", rooflint::SAMPLE, &ingest::Options::default()).unwrap();
    let analysis = Session::default().analyze(&profile).unwrap();
    let names: Vec<&str> = analysis.groups.iter().map(|group| &*group.name).collect();
    assert_eq!(
        names,
        ["dot product", "elementwise", "data movement", "reduction", "communication"]
    );
    for kernel in &analysis.kernels {
        let group = analysis.group_of(kernel).unwrap();
        assert_eq!(*group.name, *kernel.class.category.label());
    }
    // Links have no efficiency here.
    assert_eq!((analysis.groups[4].efficiency(), analysis.groups[4].target), (None, None));
}

#[test]
fn every_output_carries_range_coverage_and_groups() {
    let profile = profile(&list(&ROWS));
    let mut session = session(DEVICE, Options::default());
    session.config.groups = vec![group("cop|ies", "copy_*", 0.5)];
    let Judged { analysis, findings, .. } = session.judge(&profile).unwrap();
    let report =
        Report { analysis: &analysis, findings: &findings, top: 10, what_if: &[], command: None };
    let render = |name: &str, width: Option<usize>| {
        report::written(&report, name, &Style { width, full: true, ..Style::default() }).unwrap()
    };
    let text = render("text", None);
    for told in [
        "2.49 ms (38.1%; range 2.17–2.94 ms): 1.62× faster overall",
        "2 kernels at ≥ 2.00× the roofline time that could save ≥ 65.4 µs (1.0% of the run)",
        "1 missed; cop|ies reaches 24.8–31.1%, target 50% (1.22–1.62 ms above it)",
        "1.40 (1.22–1.60)",
        "56.0%",
        "1.22–1.62",
        "furthest below its target: #1 copy_b (20.0–30.0%), #2 copy_a (32.8%)",
        "24.1% of its time could not be judged",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    for width in [60, 80, 100, 120] {
        let text = render("text", Some(width));
        // A command to copy is never wrapped.
        let mut wrapped = text.lines().filter(|line| !line.starts_with("ncu "));
        assert!(wrapped.all(|line| line.chars().count() <= width), "{width}: {text}");
    }
    let markdown = render("markdown", None);
    assert!(markdown.contains("<code>cop&#124;ies</code> | 2 | 3.22 | 49.2%"), "{markdown}");
    let json: serde_json::Value = serde_json::from_str(&render("json", None)).unwrap();
    let first = &json["kernels"][0];
    assert_eq!(
        (&first["group"], &json["groups"][0]["verdict"]),
        (&"cop|ies".into(), &"missed".into())
    );
    assert!((first["savings_low_s"].as_f64().unwrap() - 1220e-6).abs() < 1e-12, "{first}");
    assert!((first["coverage"].as_f64().unwrap() - 0.560_466).abs() < 1e-6);
    assert!((json["groups"][0]["above_target_low_s"].as_f64().unwrap() - 1220e-6).abs() < 1e-12);
    let table = render("csv", None);
    let mut csv = csv::Reader::from_reader(table.as_bytes());
    let header = csv.headers().unwrap().clone();
    let row = csv.records().next().unwrap().unwrap();
    let cell = |name: &str| &row[header.iter().position(|title| title == name).unwrap()];
    assert_eq!(cell("group"), "cop|ies");
    assert!((cell("savings_low_s").parse::<f64>().unwrap() - 1220e-6).abs() < 1e-12);
    assert!((cell("coverage").parse::<f64>().unwrap() - 0.560_466).abs() < 1e-6);
}

#[test]
fn the_brief_begins_with_groups_that_miss_their_target() {
    let first = |config: &str| {
        let text = demo(config, &[]).stdout;
        let mut lines =
            text.lines().skip_while(|line| !line.starts_with("  #") && !line.contains("  #  "));
        let row = lines.nth(1).unwrap();
        row.split_whitespace().take(2).collect::<Vec<_>>().join(" ")
    };
    let plain = first("");
    assert!(plain.contains("transpose_naive_kernel"), "{plain}");
    let group = |target: &str| {
        format!("[[group]]\nname = \"norms\"\ncategory = \"reduction\"\ntarget = {target}\n")
    };
    // The reductions reach 43%.
    let missed = first(&group("0.8"));
    assert!(missed.contains("softmax_cross_entropy_rows<float>"), "{missed}");
    assert_eq!(first(&group("0.3")), plain);
}

/// Runs the demo with a configuration.
fn demo(config: &str, more: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rooflint.toml");
    std::fs::write(&path, config).unwrap();
    let own = ["demo", "--config", path.to_str().unwrap()];
    program(&[&own, more].concat())
}

#[test]
fn the_command_line_wins_over_the_limits_of_the_file() {
    // 48.8 ms in all, of which the three opportunities win 1.51, 1.20 and 0.60 ms.
    for (config, more, told, opportunities) in [
        ("", &[][..], "could save ≥ 488 µs (1.0% of the run)", 3),
        ("min-share = 0.02", &[], "could save ≥ 977 µs (2.0% of the run)", 2),
        ("min-share = 0.02", &["--min-share", "0.03"], "1.47 ms (3.0% of the run)", 1),
        ("min-win = \"1.3 ms\"", &[], "1.30 ms (the minimum for any run)", 1),
        ("min-win = \"1.3 ms\"", &["--min-win", "1ms"], "1.00 ms (the minimum for any run)", 2),
        ("min-win = \"1 s\"", &[], "1.00 s (the minimum for any run)", 0),
        ("threshold = 3", &[], "at ≥ 3.00× the roofline time", 2),
        ("threshold = 3", &["--threshold", "5"], "at ≥ 5.00× the roofline time", 1),
    ] {
        let run = demo(&format!("[analysis]\n{config}\n"), &[more, &["--full"]].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(run.stdout.contains(told), "{config} {more:?}: {}", run.stdout);
        let json =
            demo(&format!("[analysis]\n{config}\n"), &[more, &["--format", "json"]].concat());
        let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
        let found = json["totals"]["states"]["flagged"]["kernels"].as_u64().unwrap_or(0);
        assert_eq!(found, opportunities, "{config} {more:?}");
    }
    let wrong = demo("[analysis]\nmin-share = 2\n", &[]);
    assert!(wrong.code == 2 && wrong.stderr.contains("rooflint.toml:2:13:"), "{}", wrong.stderr);
    let wrong = program(&["demo", "--min-share", "much"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("not a number"), "{}", wrong.stderr);
    let unmatched = demo("[[group]]\nname = \"convs\"\nkernel = \"*conv*\"\n", &["--full"]);
    assert!(unmatched.stdout.contains("group \"convs\" matches no kernel"), "{}", unmatched.stdout);
}
