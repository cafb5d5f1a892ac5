//! From the sums of a kernel to its state, limiter and the words that explain both.

use super::ceilings::Roofs;
use super::intent::Intent;
use super::kernel::{Kernel, NEAR, State};
use super::law::Problem;
use super::sums::Sums;
use crate::model::{Engine, Precision, Quantity};
use crate::roofline::{self, Limiter};
use crate::units::Seconds;

/// What the verdict on a kernel depends on beside its own sums.
pub(super) struct Setting<'a> {
    pub(super) roofs: &'a Roofs,
    pub(super) total: Seconds,
    pub(super) threshold: f64,
    pub(super) floor: Seconds,
    pub(super) fixed_cost: Seconds,
    pub(super) intent: Intent,
}

/// Share of L2 look-ups that hit from which a kernel with little DRAM traffic lives in the cache.
const CACHE_HITS: f64 = 0.9;

/// Fills in state, reason, limiter and meaning of a kernel whose sums are set.
pub(super) fn conclude(kernel: &mut Kernel, sums: &Sums, setting: &Setting<'_>) {
    kernel.limiter = limiter(kernel, sums, setting);
    let (state, reason) = state(kernel, sums, setting);
    kernel.state = state;
    kernel.reason = reason;
    if !matches!(state, State::Opportunity | State::Fair | State::NearRoof | State::Minor) {
        kernel.recoverable = Seconds::ZERO;
        kernel.gain = 1.0;
    }
}

fn limiter(kernel: &Kernel, sums: &Sums, setting: &Setting<'_>) -> Limiter {
    let time = Seconds::new(sums.modelled.get());
    if time.get() <= 0.0 {
        return Limiter::Unknown;
    }
    let side = |has: bool, time: f64| has.then(|| Seconds::new(time));
    let memory = side(sums.has_memory, sums.memory.get());
    let math = side(sums.has_math, sums.math.get());
    let longer = memory.unwrap_or_default().max(math.unwrap_or_default());
    let reached = longer / time;
    // The other side may be bounded below the known one; then it cannot be the limiter.
    let certain = reached >= roofline::BUSY || sums.expected_high.get() <= longer.get() * 1.001;
    let (memory, math) = match (memory, math) {
        (Some(memory), Some(math)) => (memory, math),
        (Some(memory), None) if certain => (memory, Seconds::ZERO),
        (None, Some(math)) if certain => (Seconds::ZERO, math),
        // Too little parallelism is visible without knowing which side is longer.
        _ if sums.expected_high.get() / time.get() < roofline::BUSY
            && little_parallelism(kernel, setting) =>
        {
            return Limiter::Latency;
        }
        _ => return Limiter::Unknown,
    };
    let multiprocessors = multiprocessors(kernel, setting);
    roofline::limiter(
        memory,
        math,
        kernel.shape.blocks,
        kernel.shape.threads_per_block,
        multiprocessors,
        reached,
    )
}

fn multiprocessors(kernel: &Kernel, setting: &Setting<'_>) -> Option<u32> {
    kernel.average(Quantity::SmCount).map(|count| count as u32).or(setting.roofs.sms)
}

fn little_parallelism(kernel: &Kernel, setting: &Setting<'_>) -> bool {
    let (none, some) = (Seconds::ZERO, Seconds::new(1.0));
    let (blocks, threads) = (kernel.shape.blocks, kernel.shape.threads_per_block);
    let limiter =
        roofline::limiter(none, some, blocks, threads, multiprocessors(kernel, setting), 0.0);
    limiter == Limiter::Latency
}

fn state(kernel: &Kernel, sums: &Sums, setting: &Setting<'_>) -> (State, String) {
    let intent = setting.intent;
    if intent.communication {
        return (State::NotRoofline, "communication: bound by links and peers".to_owned());
    }
    if intent.host_copy {
        return (
            State::NotRoofline,
            "copy between host and device: bound by PCIe or NVLink".to_owned(),
        );
    }
    let (Some(expected), Some(headroom)) = (kernel.expected, kernel.headroom) else {
        return (State::Unmodelled, unmodelled(kernel, sums));
    };
    let launches = (sums.launches - sums.problems.values().sum::<u64>()).max(1) as f64;
    let measured = Seconds::new(sums.modelled.get());
    let (each, low) = (measured / launches, Seconds::new(sums.expected_low.get()) / launches);
    if roofline::is_faster_than_roof(each, low) {
        return faster(kernel, sums, setting, headroom, launches);
    }
    if roofline::is_launch_floored(each, expected / launches, setting.fixed_cost)
        && kernel.expected_high.is_some_and(|high| high.get() < each.get())
    {
        let reason = format!(
            "{:.2} µs a launch, near the {:.1} µs any launch costs",
            each.get() * 1e6,
            setting.fixed_cost.get() * 1e6
        );
        return (State::LaunchFloored, reason);
    }
    if headroom <= NEAR {
        return (State::NearRoof, format!("{headroom:.2} × the expected time"));
    }
    if let Some(reason) = cache_resident(kernel, sums) {
        return (State::CacheResident, reason);
    }
    if headroom < setting.threshold {
        return (
            State::Fair,
            format!(
                "{headroom:.2} × the expected time, below the threshold of {:.1}",
                setting.threshold
            ),
        );
    }
    if kernel.headroom_low.is_none_or(|low| low < setting.threshold) {
        return (State::Unmodelled, bounded(kernel, sums, headroom));
    }
    if roofline::is_opportunity(measured, expected, setting.total, setting.threshold, setting.floor)
    {
        return (State::Opportunity, format!("{headroom:.2} × the expected time"));
    }
    let reason = format!(
        "{headroom:.2} × the expected time, but under {:.0} µs to win",
        roofline::flag_floor(setting.total, setting.floor).get() * 1e6
    );
    (State::Minor, reason)
}

/// Why nothing at all can be said.
fn unmodelled(kernel: &Kernel, sums: &Sums) -> String {
    let problem =
        sums.problems.iter().max_by_key(|(_, count)| **count).map(|(problem, _)| *problem);
    match problem {
        Some(Problem::NoTime) => "no duration in the export".to_owned(),
        Some(Problem::Instrumented) => {
            "only timed while instrumented for SASS counters: not the time of the real run"
                .to_owned()
        }
        Some(Problem::NoRoof) => "the device, and so its roofs, is unknown".to_owned(),
        _ => format!("neither FLOPs nor bytes in the export{}", busiest(kernel)),
    }
}

/// How busy the busiest unit was, where the export says it: all that is known without counts.
fn busiest(kernel: &Kernel) -> String {
    [(Quantity::SmThroughput, "compute"), (Quantity::MemoryThroughput, "memory")]
        .into_iter()
        .filter_map(|(quantity, unit)| Some((kernel.average(quantity)?, unit)))
        .max_by(|one, two| one.0.total_cmp(&two.0))
        .map_or_else(String::new, |(share, unit)| {
            format!("; its busiest unit ({unit}) reached {:.0} % of speed-of-light", share * 100.0)
        })
}

/// Why a headroom is not certain.
fn bounded(kernel: &Kernel, sums: &Sums, headroom: f64) -> String {
    let missing = match (sums.has_memory, sums.has_math) {
        (true, false) => "FLOPs were not counted: bytes alone explain",
        (false, true) => "bytes were not counted: math alone explains",
        _ if kernel.uncounted.is_empty() => {
            "counts are known within bounds only: they explain at least"
        }
        _ => "not all work was counted: what was explains",
    };
    format!("{missing} {:.0} % of the time{}", 100.0 / headroom, busiest(kernel))
}

fn faster(
    kernel: &Kernel,
    sums: &Sums,
    setting: &Setting<'_>,
    headroom: f64,
    launches: f64,
) -> (State, String) {
    let each = kernel.bytes.map(|bytes| bytes / launches);
    if sums.algorithmic
        && let (Some(each), Some(l2)) = (each, setting.roofs.l2_bytes)
        && each.get() <= l2 as f64
        && sums.memory.get() >= sums.math.get()
    {
        let reason = format!(
            "its {} fit the {} L2 cache: the DRAM roof does not apply",
            megabytes(each.get()),
            megabytes(l2 as f64)
        );
        return (State::CacheResident, reason);
    }
    let cause = if sums.algorithmic {
        "the operator's FLOPs or bytes overcount this kernel, or its data came from cache"
    } else if kernel.work.iter().any(|work| {
        work.pipe.precision() == Precision::Fp16
            && work.pipe.engine() == Engine::Vector
            && work.operations.get() > 0.0
    }) {
        "half instructions may use one lane only; else a wrong device, clock or metric"
    } else {
        "wrong device, clock or metric, or counters and time of different runs"
    };
    (State::FasterThanRoof, format!("{:.0} % of its roof: {cause}", 100.0 / headroom))
}

fn megabytes(bytes: f64) -> String {
    if bytes < 1e6 { format!("{:.1} kB", bytes / 1e3) } else { format!("{:.1} MB", bytes / 1e6) }
}

fn cache_resident(kernel: &Kernel, sums: &Sums) -> Option<String> {
    if sums.algorithmic || !sums.has_memory || sums.memory.get() < sums.math.get() {
        return None;
    }
    let time = sums.modelled.get();
    if sums.has_l2 && sums.l2.get() > sums.memory.get() && sums.l2.get() / time >= roofline::BUSY {
        return Some(format!(
            "L2 traffic explains {:.0} % of the time, DRAM {:.0} %",
            100.0 * sums.l2.get() / time,
            100.0 * sums.memory.get() / time
        ));
    }
    let busy = kernel.average(Quantity::MemoryThroughput)?;
    let dram = kernel.average(Quantity::DramThroughput).unwrap_or(sums.memory.get() / time);
    // A busier compute unit would be the limit itself: matrix products work shared memory hard.
    let math = kernel.average(Quantity::SmThroughput).unwrap_or(0.0);
    if busy >= roofline::BUSY && dram <= busy / 2.0 && busy > math {
        return Some(format!(
            "the caches run at {:.0} % of their peak, DRAM at {:.0} %",
            busy * 100.0,
            dram * 100.0
        ));
    }
    let hits = kernel.average(Quantity::L2HitRate)?;
    let l2 = kernel.average(Quantity::L2Throughput)?;
    (hits >= CACHE_HITS && l2 >= roofline::BUSY).then(|| {
        format!(
            "{:.0} % of its L2 look-ups hit and L2 runs at {:.0} % of its peak",
            hits * 100.0,
            l2 * 100.0
        )
    })
}

/// What the state means for the user: the limiter, what is known of the cause, the next step.
pub(super) fn meaning(kernel: &Kernel) -> String {
    let mut meaning = by_limiter(kernel);
    if kernel.state == State::Opportunity
        && kernel.recoverable.get() < 0.1 * kernel.recoverable_upper.get()
    {
        meaning.push_str(&format!(
            "; its launch shape costs the time: a better kernel of this grid wins little, another grid up to {:.0} µs",
            kernel.recoverable_upper.get() * 1e6
        ));
    }
    meaning
}

fn by_limiter(kernel: &Kernel) -> String {
    let percent =
        |quantity: Quantity| kernel.average(quantity).map(|value| (value * 100.0).round());
    match kernel.state {
        State::Opportunity | State::Fair | State::Minor => match kernel.limiter {
            Limiter::Latency => {
                let blocks = kernel.shape.blocks.map_or_else(|| "few".to_owned(), |blocks| blocks.to_string());
                let threads = kernel.shape.threads_per_block.unwrap_or_default();
                if threads < roofline::THREADS_PER_BLOCK {
                    format!("too little parallelism to hide latency: {blocks} blocks of only {threads} threads; larger blocks, or more work in each")
                } else {
                    format!("too little parallelism to hide latency: only {blocks} blocks of {threads} threads; split the work into more blocks, or merge launches")
                }
            }
            Limiter::Memory => {
                let reached = kernel.headroom.map_or(0.0, |headroom| 100.0 / headroom);
                let occupancy = percent(Quantity::AchievedOccupancy)
                    .map_or_else(String::new, |value| format!("; achieved occupancy {value} %"));
                format!("memory-limited by its intensity, yet it moves data at {reached:.0} % of the memory roof{occupancy}")
            }
            Limiter::Math => {
                let reached = kernel.headroom.map_or(0.0, |headroom| 100.0 / headroom);
                let pipe = kernel
                    .work
                    .iter()
                    .max_by(|one, two| one.time.get().total_cmp(&two.time.get()))
                    .map_or("math", |work| work.pipe.label());
                format!("math-limited by its intensity, yet it computes at {reached:.0} % of the {pipe} roof")
            }
            Limiter::Unknown => match kernel.headroom_low {
                Some(low) if low > 1.0 / roofline::BUSY => format!(
                    "no unit is busier than {:.0} %: it waits, for memory or for its own instructions",
                    100.0 / low
                ),
                _ => "which roof limits it cannot be told: one side was not counted".to_owned(),
            },
        },
        State::NearRoof => match kernel.limiter {
            Limiter::Memory => "at the memory roof: only moving fewer bytes makes it faster (fusion, smaller types)".to_owned(),
            Limiter::Math => "at the compute roof: only less work or a faster pipe makes it faster (tensor cores, lower precision)".to_owned(),
            _ => "at its roof".to_owned(),
        },
        State::LaunchFloored => "a faster kernel gains nothing; fewer launches do (fusion, CUDA graphs, larger batches)".to_owned(),
        State::CacheResident => "compare it with the L2 roof; DRAM bandwidth says nothing about it".to_owned(),
        State::FasterThanRoof => "impossible under the model, so not ranked; check device, clocks and metrics first".to_owned(),
        State::Unmodelled => "no judgement; see `rooflint inspect` for the command that collects what is missing".to_owned(),
        State::NotRoofline => "judged by link bandwidth and overlap, not by this roofline".to_owned(),
    }
}
