//! From the sums of a kernel to its state, limiter and the words that explain both.

use super::ceilings::Roofs;
use super::kernel::{Kernel, State};
use super::law::Problem;
use super::reason::Reason;
use super::sums::Sums;
use crate::model::{Engine, MemoryLevel, Precision, Quantity};
use crate::roofline::{self, Limiter, NEAR};
use crate::taxonomy::Kind;
use crate::units::Seconds;

/// What the verdict on a kernel depends on beside its own sums.
pub(super) struct Setting<'a> {
    pub(super) roofs: &'a Roofs,
    pub(super) threshold: f64,
    /// The smallest win worth it in this run.
    pub(super) floor: Seconds,
    pub(super) fixed_cost: Seconds,
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
        kernel.recoverable_low = Seconds::ZERO;
        kernel.recoverable = Seconds::ZERO;
        kernel.gain = 1.0;
    }
}

fn limiter(kernel: &Kernel, sums: &Sums, setting: &Setting<'_>) -> Limiter {
    let (part, _) = sums.part();
    if !sums.is_judged() || part.time.get() <= 0.0 {
        return Limiter::Unknown;
    }
    let time = Seconds::new(part.time.get());
    let side = |has: bool, sum: f64| has.then(|| Seconds::new(sum));
    let memory = side(part.has_memory, part.memory.get());
    let math = side(part.has_math, part.math.get());
    let longer = memory.unwrap_or_default().max(math.unwrap_or_default());
    let reached = longer / time;
    // The other side may be bounded below the known one; then it cannot be the limiter.
    let certain = reached >= roofline::BUSY || part.expected_high.get() <= longer.get() * 1.001;
    let (memory, math) = match (memory, math) {
        (Some(memory), Some(math)) => (memory, math),
        (Some(memory), None) if certain => (memory, Seconds::ZERO),
        (None, Some(math)) if certain => (Seconds::ZERO, math),
        // Too little parallelism is visible without knowing which side is longer.
        _ if part.expected_high.get() / time.get() < roofline::BUSY
            && little_parallelism(kernel, setting) =>
        {
            return Limiter::Latency;
        }
        _ => return Limiter::Unknown,
    };
    let (blocks, threads) = (kernel.shape.blocks, kernel.shape.threads_per_block);
    roofline::limiter(memory, math, blocks, threads, multiprocessors(kernel, setting), reached)
}

fn multiprocessors(kernel: &Kernel, setting: &Setting<'_>) -> Option<u32> {
    kernel.average(Quantity::SmCount).map(|count| count.round() as u32).or(setting.roofs.sms)
}

fn little_parallelism(kernel: &Kernel, setting: &Setting<'_>) -> bool {
    let (none, some) = (Seconds::ZERO, Seconds::new(1.0));
    let (blocks, threads) = (kernel.shape.blocks, kernel.shape.threads_per_block);
    let limiter =
        roofline::limiter(none, some, blocks, threads, multiprocessors(kernel, setting), 0.0);
    limiter == Limiter::Latency
}

fn state(kernel: &Kernel, sums: &Sums, setting: &Setting<'_>) -> (State, Reason) {
    if kernel.class.crosses_link() {
        let reason = match kernel.class.kind {
            Some(Kind::MemcpyPeer) => "copy between devices: bound by links",
            Some(Kind::MemcpyHost | Kind::PageFault) => {
                "copy between host and device: bound by PCIe or NVLink"
            }
            _ => "communication: bound by links and peers",
        };
        return (State::NotRoofline, reason.into());
    }
    if !sums.is_judged() {
        return (State::Unmodelled, unmodelled(kernel, sums));
    }
    let (part, is_faster) = sums.part();
    let launches = part.launches.max(1) as f64;
    let measured = Seconds::new(part.time.get());
    let each = |sum: f64| Seconds::new(sum) / launches;
    let (mean, high) = (each(part.time.get()), each(part.expected_high.get()));
    if is_faster {
        return faster(kernel, sums, setting, launches);
    }
    if roofline::is_launch_floored(mean, each(part.expected.get()), setting.fixed_cost)
        && high < mean
    {
        let reason = format!(
            "{:.2} µs a launch, near the {:.1} µs any launch costs",
            mean.get() * 1e6,
            setting.fixed_cost.get() * 1e6
        );
        return (State::LaunchFloored, reason.into());
    }
    let (Some(expected), Some(headroom)) = (kernel.expected, kernel.headroom) else {
        let reason = match (part.has_memory, part.has_math) {
            (true, true) if kernel.uncounted.is_empty() => {
                "no floating-point work and no DRAM traffic: the time goes elsewhere"
            }
            (true, true) => "all that was counted is zero: the time goes elsewhere",
            (true, false) => "no DRAM traffic, and FLOPs were not counted",
            (false, _) => "no work that was counted, and bytes were not",
        };
        return (State::Unmodelled, Reason::new(reason, &busiest(kernel)));
    };
    let suffix = match sums.faster_launches() {
        0 => String::new(),
        count => format!("; {count} launches, faster than the roof, are left out"),
    };
    if headroom <= NEAR.min(setting.threshold) {
        return (State::NearRoof, format!("{headroom:.2} × the expected time{suffix}").into());
    }
    if let Some(reason) = cache_resident(kernel, sums) {
        return (State::CacheResident, reason.into());
    }
    let threshold = setting.threshold;
    if headroom < threshold {
        let reason = format!(
            "{headroom:.2} × the expected time, below the threshold of {threshold:.1}{suffix}"
        );
        return (State::Fair, reason.into());
    }
    if kernel.headroom_low.is_none_or(|low| low.is_nan() || low < threshold) {
        return (State::Unmodelled, bounded(kernel, sums, headroom));
    }
    let floor = setting.floor;
    if !roofline::is_opportunity(measured, expected, threshold, floor) {
        let reason =
            format!("{headroom:.2} × the expected time, but under {} to win", microseconds(floor));
        return (State::Minor, reason.into());
    }
    if kernel.recoverable < floor {
        // Less than the last digit shown is nothing.
        let left = Some(kernel.recoverable).filter(|time| time.get() >= 0.05e-6);
        let left = left.map_or_else(String::new, |time| format!(" but {}", microseconds(time)));
        let reason = format!(
            "{headroom:.2} × the expected time, of which its grid and the usual losses explain all{left}"
        );
        return (State::Minor, reason.into());
    }
    (State::Opportunity, format!("{headroom:.2} × the expected time{suffix}").into())
}

fn microseconds(time: Seconds) -> String {
    let value = time.get() * 1e6;
    if value >= 10.0 { format!("{value:.0} µs") } else { format!("{value:.1} µs") }
}

/// Why nothing at all can be said.
fn unmodelled(kernel: &Kernel, sums: &Sums) -> Reason {
    let problem =
        sums.problems.iter().max_by_key(|(_, count)| **count).map(|(problem, _)| *problem);
    match problem {
        Some(Problem::NoTime) => "no duration in the export".into(),
        Some(Problem::Instrumented) => {
            "only timed while instrumented for SASS counters: not the time of the real run".into()
        }
        Some(Problem::NoRoof) => "the device, and so its roofs, is unknown".into(),
        _ => Reason::new("neither FLOPs nor bytes in the export", &busiest(kernel)),
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
fn bounded(kernel: &Kernel, sums: &Sums, headroom: f64) -> Reason {
    let (part, _) = sums.part();
    let (missing, known) = match (part.has_memory, part.has_math) {
        (true, false) => ("FLOPs were not counted".to_owned(), "bytes alone explain"),
        (false, true) => ("bytes were not counted".to_owned(), "math alone explains"),
        _ if kernel.uncounted.is_empty() => {
            ("counts are known within bounds only".to_owned(), "they explain at least")
        }
        _ => (format!("{} not counted", kernel.uncounted.join(", ")), "what was explains"),
    };
    let share = 100.0 / headroom;
    Reason::new(&missing, &format!(": {known} {share:.0} % of the time{}", busiest(kernel)))
}

fn faster(kernel: &Kernel, sums: &Sums, setting: &Setting<'_>, launches: f64) -> (State, Reason) {
    let (part, _) = sums.part();
    let each = kernel.bytes.map(|bytes| bytes / launches);
    if sums.algorithmic
        && let (Some(each), Some(l2)) = (each, setting.roofs.l2_bytes)
        && each.get() <= l2 as f64
        && part.memory.get() >= part.math.get()
    {
        let reason = format!(
            "its {} fit the {} L2 cache: the DRAM roof does not apply",
            megabytes(each.get()),
            megabytes(l2 as f64)
        );
        return (State::CacheResident, reason.into());
    }
    let half = kernel.work.iter().any(|work| {
        work.pipe.precision() == Precision::Fp16
            && work.pipe.engine() == Engine::Vector
            && work.operations.get() > 0.0
    });
    let cause = if sums.algorithmic {
        "the operator's FLOPs or bytes overcount this kernel, or its data came from cache"
    } else if half {
        "half instructions may use one lane only; else a wrong device, clock or metric"
    } else {
        "wrong device, clock or metric, or counters and time of different runs"
    };
    let reached = 100.0 * part.expected.get() / part.time.get();
    (State::FasterThanRoof, format!("{reached:.0} % of its roof: {cause}").into())
}

fn megabytes(bytes: f64) -> String {
    if bytes < 1e6 { format!("{:.1} kB", bytes / 1e3) } else { format!("{:.1} MB", bytes / 1e6) }
}

fn cache_resident(kernel: &Kernel, sums: &Sums) -> Option<String> {
    let (sums, algorithmic) = (sums.part().0, sums.algorithmic);
    if algorithmic || !sums.has_memory || sums.memory.get() < sums.math.get() {
        return None;
    }
    let time = sums.time.get();
    let l2 = sums.level_time(MemoryLevel::L2).unwrap_or_default();
    if l2.get() > sums.memory.get() && l2.get() / time >= roofline::BUSY {
        return Some(format!(
            "L2 traffic explains {:.0} % of the time, DRAM {:.0} %",
            100.0 * l2.get() / time,
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
