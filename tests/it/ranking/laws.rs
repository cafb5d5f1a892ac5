//! What holds of any ranking, whatever the launches and their order.

use proptest::prelude::*;

use super::{Math, Row, analyzed, group};
use rooflint::analysis::{self, Analysis, Options, Target};
use rooflint::units::{Seconds, Share};

const NAMES: [&str; 5] = ["copy_a", "copy_b", "gemm_c", "reduce_kernel", "ncclDevKernel_AllReduce"];

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let math =
        prop_oneof![Just(Math::None), (0_u32..100).prop_map(Math::AtMost), Just(Math::Unknown)];
    let row = (0..NAMES.len(), 1_u32..100_000, prop::option::of(0_u32..100_000), math).prop_map(
        |(name, time, bytes, math)| {
            (NAMES[name], f64::from(time) / 8.0, bytes.map(|bytes| f64::from(bytes) / 8.0), math)
        },
    );
    prop::collection::vec(row, 1..24)
}

/// What must hold of any ranking.
fn check(analysis: &Analysis) {
    let mut covered = 0.0;
    for kernel in &analysis.kernels {
        let (low, value) = (kernel.savings_low, kernel.savings);
        assert!(Seconds::ZERO <= low && low <= value, "{kernel:?}");
        assert!(value <= kernel.savings_high, "{kernel:?}");
        assert!(kernel.savings_high <= kernel.measured * (1.0 + 1e-12), "{kernel:?}");
        assert_eq!(kernel.coverage.is_some(), kernel.has_savings() && value > Seconds::ZERO);
        if let Some(coverage) = kernel.coverage.map(Share::get) {
            assert!(coverage >= covered && coverage <= 1.0, "{kernel:?}");
            covered = coverage;
        }
    }
    let found = analysis.kernels.iter().filter(|kernel| kernel.coverage.is_some()).count();
    assert!(found == 0 || covered == 1.0, "{covered}");
    assert!(analysis.totals.kernels_for_80_percent <= found);
    let totals = &analysis.totals;
    assert!(totals.savings_low <= totals.savings);
    assert!(totals.savings <= totals.savings_high);
    let groups = &analysis.groups;
    assert_eq!(groups.iter().map(|group| group.kernels).sum::<usize>(), totals.kernels);
    assert_eq!(groups.iter().map(|group| group.launches).sum::<u64>(), totals.launches);
    // Times are eighths of a microsecond, but seconds are not: the last digit depends on the order.
    let sum: Seconds = groups.iter().map(|group| group.measured).sum();
    assert!((sum / totals.measured - 1.0).abs() < 1e-14, "{sum:?}");
    let shares: f64 = groups.iter().map(|group| group.share).sum();
    assert!((shares - 1.0).abs() < 1e-12, "{shares}");
    for group in groups {
        let parts = group.judged + group.unmodeled + group.waived + group.outside();
        assert!((parts / group.measured - 1.0).abs() < 1e-9, "{group:?}");
        assert!(group.efficiency() <= group.efficiency_high(), "{group:?}");
        if let Some((least, most)) = group.above_target() {
            assert!(Seconds::ZERO <= least && least <= most && most <= group.judged, "{group:?}");
            let certain = group.unmodeled.get() > 0.0 || least.get() > 0.0;
            assert!(group.verdict() != Some(Target::Missed) || certain, "{group:?}");
            assert!(group.verdict() != Some(Target::Met) || group.worst.is_empty(), "{group:?}");
        }
    }
}

proptest! {
    #[test]
    fn the_laws_of_ranking_hold_for_any_launches_in_any_order(rows in rows(), target in 0.05..1.0_f64) {
        let grouped = |rows: &[Row]| {
            let mut analysis = analyzed(rows, Options::default());
            check(&analysis);
            analysis.group(&[group("copies", "copy_*", target), group("other one", "*_*", target)]);
            check(&analysis);
            analysis
        };
        // What no launch was counted for has no roof to be compared with.
        prop_assume!(rows.iter().any(|row| row.2.is_some()));
        let straight = grouped(&rows);
        let mut turned = rows.clone();
        turned.reverse();
        let turned = grouped(&turned);
        let names = |analysis: &Analysis| {
            let told = |group: &analysis::GroupTotals| (group.name.clone(), group.kernels, group.verdict());
            analysis.groups.iter().map(told).collect::<Vec<_>>()
        };
        prop_assert_eq!(names(&straight), names(&turned));
        let close = |one: Seconds, two: Seconds| (one - two).get().abs() <= 1e-15 + 1e-12 * one.get();
        for (one, two) in straight.groups.iter().zip(&turned.groups) {
            prop_assert!(close(one.measured, two.measured) && close(one.roofline_time_high, two.roofline_time_high));
            prop_assert!(close(one.savings_low, two.savings_low));
        }
        prop_assert!(close(straight.totals.savings_low, turned.totals.savings_low));
        prop_assert!(close(straight.totals.savings_high, turned.totals.savings_high));
    }
}
