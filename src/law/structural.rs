//! The time of a launch that remains if only the implementation improves, and the one that none can do without.

use super::ceilings::CeilingSet;
use super::interval::Interval;
use super::judged::Judged;
use super::reading::Reading;
use super::scene::Scene;
use crate::model::{MemoryLevel, Pipe, Quantity};
use crate::roofline::{self, formula};
use crate::scalar::{Maybe, Number};

/// Returns the structural time: launch cost, tail, per-SM bandwidth, and the share of the roof that
/// good kernels reach. It explains and never judges.
pub(super) fn structural<N: Number, R: Reading<N>>(
    judged: &Judged<N>,
    scene: &Scene<'_, N, R>,
    fixed_cost: N,
) -> Maybe<N, N> {
    let (launch, roofs, set) = (scene.launch, scene.roofs, scene.set);
    let (zero, one) = (N::of(0.0), N::of(1.0));
    let grid = launch.blocks().filter(|blocks| zero.less(blocks)).zip(roofs.sms_of(launch));
    let efficiency = grid.map_or(one, |(blocks, sms)| {
        roofs.resident(launch).map_or_else(
            |resident| formula::sm_efficiency(blocks, sms, resident),
            || {
                let is_small = blocks.less(sms * N::of(roofline::BLOCKS_PER_SM as f64));
                N::select(is_small, || formula::sm_efficiency(blocks, sms, one), || one)
            },
        )
    });
    let math = judged.math.map_or(zero, |math| math.value / efficiency);
    // Not L1 and shared memory: uncoalesced accesses and bank conflicts are the implementation's.
    // Where its bytes were not counted, or its bandwidth is not known, it is needed for as long as it was busy.
    let l2 = judged.level_time(MemoryLevel::L2).map(|l2| l2 / efficiency);
    let l2 = l2.or_else(|| scene.busy(Quantity::L2Throughput)).unwrap_or(zero);
    let dram = judged.memory.map_or(zero, |memory| memory.value);
    let port = grid.zip(launch.value(Quantity::L2Bytes).zip(roofs.clock(launch)));
    let dram = port.map_or(dram, |((blocks, sms), (bytes, clock))| {
        let bandwidth = formula::port_bandwidth(blocks, sms, clock);
        dram.max(formula::time(bytes, bandwidth))
    });
    judged.roofline_time().map(|roofline_time| {
        let is_achievable = N::is(set, CeilingSet::Achievable);
        let at = |time: N, share: N| N::select(is_achievable, || time, || time / share);
        let math = at(math, busiest_share(judged, scene));
        // Its roof is the peak in every set, but where only a measured one is known.
        let is_reached = is_achievable & !launch.value(Quantity::L2Bandwidth).is & !roofs.l2.is;
        let l2 = N::select(is_reached, || l2, || l2 / N::of(roofline::achievable::CACHE));
        let dram = at(dram, roofs.achievable_memory());
        // What was not counted may be needed too: then it cannot be won.
        let infinite = N::of(f64::INFINITY);
        let bounded = |bound: N, other: N| N::select(bound.less(infinite), || bound, || other);
        let bound = bounded(roofline_time.high, bounded(roofline_time.likely, zero));
        let time = fixed_cost + dram.max(l2).max(math).max(bound);
        // No rewrite makes a launch cheaper than those that are mostly launch cost.
        time.max(fixed_cost * N::of(roofline::LAUNCH_FLOOR))
    })
}

/// Returns the least time by the theoretical peaks: good kernels may exceed what published benchmarks achieve.
pub(super) fn at_peaks<N: Number, R: Reading<N>>(
    judged: &Judged<N>,
    scene: &Scene<'_, N, R>,
) -> Maybe<N, N> {
    judged.roofline_time().map(|roofline_time| {
        let of_peaks = || {
            let side = |side: Maybe<N, Interval<N>>, share: N| {
                side.map_or(N::of(0.0), |side| side.low * share)
            };
            let memory = side(judged.memory, scene.roofs.achievable_memory());
            memory.max(side(judged.math, busiest_share(judged, scene)))
        };
        let is_achievable = N::is(scene.set, CeilingSet::Achievable);
        N::select(is_achievable, of_peaks, || roofline_time.low)
    })
}

/// Returns the achievable share of the pipe with the longest time.
fn busiest_share<N: Number, R: Reading<N>>(judged: &Judged<N>, scene: &Scene<'_, N, R>) -> N {
    let none = N::of(-1.0);
    let time = |at: usize| {
        let work = &judged.work[at];
        N::select(work.is, || work.time, || none)
    };
    let longest = (0..judged.work.len()).map(time).fold(none, N::max);
    let usual = scene.roofs.achievable_math(Pipe::Fp32Vector);
    judged.work.iter().fold(usual, |share, work| {
        let is_longest = work.is & longest.same(work.time);
        N::select(is_longest, || scene.roofs.achievable_math(work.pipe), || share)
    })
}
