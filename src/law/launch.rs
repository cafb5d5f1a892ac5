//! Applies the roofline law to one launch: its roofline time with bounds.

use super::ceilings::CeilingSet;
use super::interval::Interval;
use super::judged::{Judged, Problem, Traffic};
use super::math::math;
use super::nature::{Nature, Uncounted};
use super::reading::Reading;
use super::roofs::Roofs;
use super::scene::{Instrument, Scene};
use super::structural::{at_peaks, structural};
use crate::model::{MemoryLevel, Quantity};
use crate::roofline::formula;
use crate::scalar::{Maybe, Number};

/// Compares one launch with its roofs.
pub(crate) fn judge<N: Number, R: Reading<N>>(
    launch: &R,
    roofs: &Roofs<N>,
    set: N::Choice<CeilingSet>,
    nature: Nature<N>,
    instrument: Instrument<N>,
) -> Judged<N> {
    let mut judged = Judged::new();
    let timed = launch.counted(Quantity::Duration);
    let is_instrumented = timed.is_some_and(|time| time.origin.is_instrumented);
    let time = Maybe::only_if(!is_instrumented, || timed.map(|time| time.value));
    let scene = Scene { launch, roofs, set, time };
    memory(&mut judged, &scene);
    levels(&mut judged, &scene);
    math(&mut judged, &scene, nature, instrument);
    judged.memory = judged.memory.map(|memory| memory.named("memory"));
    judged.math = judged.math.map(|math| math.named("math"));
    let open = || N::later(judged.uncounted, N::word(Uncounted::Open));
    judged.uncounted = N::select(judged.memory.is, || judged.uncounted, open);
    let roofless = judged.without_bandwidth | judged.lacks_peak;
    let is_nothing = !(judged.memory.is | judged.math.is);
    let problem = |is: N::Truth, problem: Problem| Maybe::when(is, || N::word(problem));
    judged.problem = problem(!timed.is, Problem::NoTime)
        .or_else(|| problem(is_instrumented, Problem::Instrumented))
        .or_else(|| problem(roofless, Problem::NoRoof))
        .or_else(|| problem(is_nothing, Problem::NoCounters));
    judged.units = scene.units_busy();
    judged.structural = structural(&judged, &scene, instrument.fixed_cost);
    judged.at_peaks = at_peaks(&judged, &scene);
    judged
}

/// Share of data in DRAM activity: the share of peak that Nsight Compute reports includes commands
/// and turnarounds, up to a quarter of the data (1.249× on an RTX A2000).
const DATA_OF_DRAM_BUSY: f64 = 0.8;

/// Adds the memory side.
fn memory<N: Number, R: Reading<N>>(judged: &mut Judged<N>, scene: &Scene<'_, N, R>) {
    let Scene { launch, roofs, set, time } = *scene;
    let zero = N::of(0.0);
    let counted = launch.counted(Quantity::DramBytes);
    judged.bytes = counted.map(|bytes| bytes.value);
    judged.algorithmic =
        judged.algorithmic | counted.is_some_and(|bytes| bytes.origin.is_algorithmic);
    let by_count = counted.and_then(|bytes| {
        let is_none = bytes.value.same(zero);
        let by_roof = roofs.dram(launch, set).map(|roof| {
            let time = Interval::exactly(formula::time(bytes.value, roof));
            time.times(bytes.origin.low, bytes.origin.high)
        });
        by_roof.or_else(|| Maybe::when(is_none, Interval::zero))
    });
    // The share of cycles in which data moved is the share of the bandwidth at that clock, exactly.
    let by_activity = || {
        let active = launch.value(Quantity::DramActive).zip(time);
        active.map(|(active, time)| {
            Interval::exactly(roofs.activity_at_dram(launch, time * active, set))
        })
    };
    // Of bytes that are only counted in part the activity says more.
    let is_part = counted.is_some_and(|bytes| N::of(1.0).less(bytes.origin.high));
    let by_both = Maybe::only_if(is_part & by_count.is, || {
        let count = by_count.unwrap_or(Interval::zero());
        by_activity().map(|activity| Interval::exactly(activity.value.max(count.value)))
    });
    let memory = by_both.or_else(|| by_count).or_else(by_activity);
    // Speed-of-light percentages are maxima over units: they bound the bytes from above.
    let dram = scene.dram_busy();
    let any = dram.or_else(|| scene.busy(Quantity::MemoryThroughput));
    let capped = memory.map(|memory| any.map_or(memory, |busy| memory.capped(busy)));
    let by_busy = || {
        let data =
            |busy: N| Interval { low: busy * N::of(DATA_OF_DRAM_BUSY), ..Interval::exactly(busy) };
        dram.map(data).or_else(|| any.map(Interval::at_most))
    };
    judged.memory = capped.or_else(by_busy);
    judged.by_utilization = by_both.is | (!by_count.is & (memory.is | dram.is));
    judged.without_bandwidth = counted.is & !judged.memory.is;
}

/// Adds the traffic at the levels other than DRAM, which has its own bounds and origin.
fn levels<N: Number, R: Reading<N>>(judged: &mut Judged<N>, scene: &Scene<'_, N, R>) {
    for (level, traffic) in MemoryLevel::ALL.into_iter().zip(&mut judged.levels) {
        if level == MemoryLevel::Dram {
            continue;
        }
        *traffic = scene.launch.value(level.bytes()).map(|bytes| {
            let roof = scene.roofs.level(scene.launch, level, scene.set);
            Traffic { bytes, time: roof.map(|roof| formula::time(bytes, roof)) }
        });
    }
}
