//! Derives the state, limiter and reason of a kernel from its sums.

use super::ceilings::Roofs;
use super::confidence::{Confidence, Uncounted};
use super::design::Spare;
use super::kernel::{Kernel, State};
use super::law::Problem;
use super::reason::Reason;
use super::sums::Sums;
use crate::catalog::CatalogError;
use crate::model::{Engine, MemoryLevel, Precision, Quantity};
use crate::roofline::{self, Limiter, NEAR};
use crate::taxonomy::Kind;
use crate::units::Seconds;

/// Inputs of the verdict on a kernel besides its own sums.
pub(super) struct Setting<'a> {
    pub(super) roofs: &'a Roofs,
    pub(super) threshold: f64,
    /// Default threshold.
    pub(super) usual_threshold: f64,
    /// Smallest savings that matter in this run.
    pub(super) floor: Seconds,
    pub(super) fixed_cost: Seconds,
    /// True if the profiler could have collected more counters.
    pub(super) counters: bool,
    /// True if FLOPs and bytes follow from shapes where they are known.
    pub(super) shapes: bool,
    /// Realistic and largest savings of all grids of the kernel together.
    pub(super) family: (Seconds, Seconds),
    /// A figure that the device lacks and launches of the kernel need.
    pub(super) missing: Option<CatalogError>,
}

/// L2 hit rate from which a kernel with little DRAM traffic is cache-resident.
const CACHE_HITS: f64 = 0.9;

/// Sets state, confidence, reason and limiter of a kernel whose sums are set.
pub(super) fn conclude(kernel: &mut Kernel, sums: &Sums, setting: &Setting<'_>) {
    kernel.limiter = limiter(kernel, sums, setting);
    let (state, confidence, reason) = state(kernel, sums, setting);
    kernel.state = state;
    kernel.confidence = confidence;
    kernel.reason = reason;
    let part = sums.part();
    let is_idle = kernel.limiter == Limiter::Latency && !has_room(kernel, setting);
    // A unit that is busy may be busy with work that need not be done: nobody counted it.
    let is_busy = part.math_by_utilization && part.math.get() > part.memory.get();
    // Whatever the threshold: it labels, and takes no part in what can be won.
    kernel.is_winnable = !is_unbounded(kernel) && !is_idle && !is_busy;
    // Busy units bound what the work that was done can take: so much is at the roofline and not above it.
    if is_busy && state == State::NearRoofline {
        let above = roofline::savings(kernel.modeled, kernel.roofline_time.unwrap_or_default());
        kernel.savings_high = kernel.savings_high.min(above);
    }
    if !state.is_modeled() || !kernel.is_winnable {
        kernel.savings_low = Seconds::ZERO;
        kernel.savings = Seconds::ZERO;
        kernel.run_speedup = 1.0;
    }
}

/// Returns `true` if neither counts nor the kind of kernel bound the roofline time from above.
fn is_unbounded(kernel: &Kernel) -> bool {
    kernel.roofline_time_likely.is_some_and(|likely| likely.get().is_infinite())
}

/// Returns `true` if a kernel with little parallelism could have more: it has enough if every SM
/// has its warps, and otherwise needs work that more threads could share. The 192 threads of a
/// track finder have 192 tracks, so more blocks would be idle.
fn has_room(kernel: &Kernel, setting: &Setting<'_>) -> bool {
    let sms = multiprocessors(kernel, setting);
    let fills = kernel
        .threads()
        .zip(sms)
        .is_some_and(|(threads, sms)| threads >= u64::from(sms) * roofline::THREADS_PER_BLOCK);
    fills || kernel.spare(setting.fixed_cost) == Spare::Work
}

fn limiter(kernel: &Kernel, sums: &Sums, setting: &Setting<'_>) -> Limiter {
    let part = sums.part();
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
    let certain =
        reached >= roofline::BUSY || part.roofline_time_high.get() <= longer.get() * 1.001;
    let (memory, math) = match (memory, math) {
        (Some(memory), Some(math)) => (memory, math),
        (Some(memory), None) if certain => (memory, Seconds::ZERO),
        (None, Some(math)) if certain => (Seconds::ZERO, math),
        // Too little parallelism is visible without knowing which side is longer.
        _ if part.roofline_time_high.get() / time.get() < roofline::BUSY
            && little_parallelism(kernel, setting) =>
        {
            return Limiter::Latency;
        }
        _ => return Limiter::Unknown,
    };
    let (mut blocks, threads) = (kernel.shape.blocks, kernel.shape.threads_per_block);
    let processors = multiprocessors(kernel, setting);
    if kernel.is_persistent(processors) {
        // As many blocks as fit, by its own choice: their number says nothing of parallelism.
        blocks = None;
    }
    roofline::limiter(memory, math, blocks, threads, processors, reached)
}

fn multiprocessors(kernel: &Kernel, setting: &Setting<'_>) -> Option<u32> {
    kernel.average(Quantity::SmCount).map(|count| count.round() as u32).or(setting.roofs.sms)
}

fn little_parallelism(kernel: &Kernel, setting: &Setting<'_>) -> bool {
    let (none, some) = (Seconds::ZERO, Seconds::new(1.0));
    let (blocks, threads) = (kernel.shape.blocks, kernel.shape.threads_per_block);
    let sms = multiprocessors(kernel, setting);
    let limiter = roofline::limiter(none, some, blocks, threads, sms, 0.0);
    limiter == Limiter::Latency && !kernel.is_persistent(sms)
}

/// A state with its confidence and reason.
type Verdict = (State, Option<Confidence>, Reason);

fn state(kernel: &Kernel, sums: &Sums, setting: &Setting<'_>) -> Verdict {
    if kernel.class.crosses_link() {
        let reason = match kernel.class.kind {
            Some(Kind::MemcpyPeer) => "copy between devices: limited by links",
            Some(Kind::MemcpyHost | Kind::PageFault) => {
                "copy between host and device: limited by PCIe or NVLink"
            }
            _ => "communication: limited by links and peers",
        };
        return (State::NotRoofline, None, reason.into());
    }
    if !sums.is_judged() {
        return unjudged(kernel, sums, setting);
    }
    // Sizes tell what an operator needs, not what this kernel did.
    let counted = if sums.algorithmic { Confidence::Likely } else { Confidence::Certain };
    let part = sums.part();
    let launches = part.launches.max(1) as f64;
    let each = |sum: f64| Seconds::new(sum) / launches;
    let (mean, high) = (each(part.time.get()), each(part.roofline_time_high.get()));
    if sums.is_faster() {
        let (state, reason) = faster(kernel, sums, setting, launches);
        return (state, Some(counted), reason);
    }
    if roofline::is_launch_floored(mean, each(part.roofline_time.get()), setting.fixed_cost)
        && high < mean
    {
        let reason = format!(
            "{:.2} µs per launch, close to the launch cost of {:.1} µs",
            mean.get() * 1e6,
            setting.fixed_cost.get() * 1e6
        );
        return (State::LaunchBound, Some(counted), reason.into());
    }
    let Some(headroom) = kernel.headroom() else {
        let reason = match (part.has_memory, part.has_math) {
            (true, true) if kernel.uncounted().is_empty() => {
                "neither floating-point work nor DRAM traffic: its time has another cause"
            }
            (true, true) => "all counters are zero: its time has another cause",
            (true, false) => "no DRAM traffic, and FLOPs were not collected",
            (false, _) => "no FLOPs were counted, and DRAM bytes were not collected",
        };
        return (State::NotEnoughData, None, unsettled(reason, kernel, sums, setting));
    };
    let near = NEAR.min(setting.threshold);
    if headroom <= near {
        return (State::NearRoofline, Some(counted), at(kernel, sums, headroom, ""));
    }
    // Not by the threshold asked for: it labels, and takes no part in what is judged.
    if let Some(reason) = cache_resident(kernel, sums).filter(|_| headroom > NEAR) {
        return (State::CacheResident, Some(counted), reason.into());
    }
    let is_far = headroom >= setting.usual_threshold;
    if is_far && is_unbounded(kernel) && part.uncounted == Uncounted::Certain {
        return (State::NotEnoughData, None, bounded(kernel, sums, setting, headroom));
    }
    let threshold = setting.threshold;
    let below = format!(", below the threshold of {threshold:.1}");
    if headroom < threshold {
        let counted = if is_unbounded(kernel) { Confidence::Possible } else { counted };
        return (State::Fair, Some(counted), at(kernel, sums, headroom, &below));
    }
    let at_least = |bound: Option<f64>| bound.is_some_and(|headroom| headroom >= threshold);
    if at_least(kernel.headroom_low()) {
        return far(kernel, sums, setting, counted);
    }
    let likely = kernel.headroom_likely().filter(|likely| *likely > 0.0);
    if at_least(likely) {
        return far(kernel, sums, setting, Confidence::Likely);
    }
    if let Some(likely) = likely {
        let state = if likely <= near { State::NearRoofline } else { State::Fair };
        let rest = if state == State::Fair { below.as_str() } else { "" };
        let rest = format!(
            "{}, assuming no redundant work of its units{}",
            beside(kernel, sums, rest),
            busiest(kernel)
        );
        return (state, Some(Confidence::Likely), Reason::times(likely, &rest));
    }
    let reason = bounded(kernel, sums, setting, headroom);
    (State::Possible, Some(Confidence::Possible), reason)
}

/// Describes the ratio of a kernel to its roofline time.
fn at(kernel: &Kernel, sums: &Sums, headroom: f64, rest: &str) -> Reason {
    Reason::times(headroom, &beside(kernel, sums, rest))
}

/// What follows the ratio.
fn beside(kernel: &Kernel, sums: &Sums, rest: &str) -> String {
    let busiest = if kernel.by_utilization { busiest(kernel) } else { String::new() };
    let faster = match sums.faster_launches() {
        0 => String::new(),
        1 => "; 1 launch is faster than the roofline".to_owned(),
        count => format!("; {count} launches are faster than the roofline"),
    };
    format!("{rest}{busiest}{faster}")
}

/// Returns the verdict on a kernel far from its roofline: flagged if it, with its other grids, has
/// enough savings.
fn far(kernel: &Kernel, sums: &Sums, setting: &Setting<'_>, confidence: Confidence) -> Verdict {
    let (headroom, roofline_time) =
        (kernel.headroom().unwrap_or(1.0), kernel.roofline_time.unwrap_or_default());
    let (family, family_most) = setting.family;
    let others = roofline::savings(family_most, kernel.savings_high);
    let floor = roofline::savings(setting.floor, others);
    let minor = |rest: &str| (State::LowImpact, Some(confidence), Reason::times(headroom, rest));
    if !roofline::is_opportunity(kernel.modeled, roofline_time, setting.threshold, floor) {
        let floor = microseconds(setting.floor);
        return minor(&format!(", but savings are below {floor}"));
    }
    if kernel.limiter == Limiter::Latency && !has_room(kernel, setting) {
        return minor(", but nothing shows that more threads could share its work");
    }
    if family < setting.floor {
        // Less than the last digit shown is nothing.
        let left = Some(kernel.savings).filter(|time| time.get() >= 0.05e-6);
        let left = left.map_or_else(String::new, |time| format!(" except {}", microseconds(time)));
        return minor(&format!(", which its grid and usual losses explain{left}"));
    }
    (State::Flagged, Some(confidence), at(kernel, sums, headroom, ""))
}

fn microseconds(time: Seconds) -> String {
    let value = time.get() * 1e6;
    if value >= 10.0 { format!("{value:.0} µs") } else { format!("{value:.1} µs") }
}

/// The verdict of a kernel whose work and traffic are unknown: whatever they are, no launch is shorter than its cost.
fn unjudged(kernel: &Kernel, sums: &Sums, setting: &Setting<'_>) -> Verdict {
    let is_timed = !matches!(problem(sums), Some(Problem::NoTime | Problem::Instrumented));
    let mean = kernel.mean();
    if is_timed && mean > Seconds::ZERO && mean <= setting.fixed_cost {
        let reason = format!(
            "{:.2} µs per launch, no more than the launch cost of {:.1} µs",
            mean.get() * 1e6,
            setting.fixed_cost.get() * 1e6
        );
        return (State::LaunchBound, Some(Confidence::Certain), reason.into());
    }
    (State::NotEnoughData, None, unmodeled(kernel, sums, setting))
}

/// What most launches of a kernel lack.
fn problem(sums: &Sums) -> Option<Problem> {
    sums.problems.iter().max_by_key(|(_, count)| **count).map(|(problem, _)| *problem)
}

/// Explains why a kernel was not judged.
fn unmodeled(kernel: &Kernel, sums: &Sums, setting: &Setting<'_>) -> Reason {
    match problem(sums) {
        Some(Problem::NoTime) => "no duration in the export".into(),
        Some(Problem::Instrumented) => {
            "only timed while instrumented for SASS counters, which is not the time of the real \
             run"
            .into()
        }
        Some(Problem::NoRoof) => match &setting.missing {
            Some(cause) => format!(
                "{cause}: did it run on this device? a missing figure is added with --devices FILE"
            )
            .into(),
            None => "unknown device, so its roofs are unknown".into(),
        },
        _ if setting.shapes => unsettled(unshaped(kernel), kernel, sums, setting),
        _ => unsettled("neither FLOPs nor DRAM bytes were collected", kernel, sums, setting),
    }
}

/// Explains why work does not follow from the shapes of a trace.
fn unshaped(kernel: &Kernel) -> &'static str {
    let Some(operator) = &kernel.operator else {
        return "the trace has no operator that launched it, so its FLOPs and bytes are unknown; --next-ncu prints the command that counts them";
    };
    let is_shape = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'x' | b','))
    };
    if ["CompiledFunction", "Torch-Compiled Region", "CompiledFxGraph"]
        .iter()
        .any(|region| operator.contains(region))
    {
        "compiled code launched it, and the trace has no shapes of its single operations; --next-ncu prints the command that counts its FLOPs and bytes"
    } else if operator.split(' ').skip(1).any(is_shape) {
        "its FLOPs and bytes do not follow from the shapes of its operator; --next-ncu prints the command that counts them"
    } else {
        "the trace has no shapes of its operator (record_shapes=True records those of most); --next-ncu prints the command that counts its FLOPs and bytes"
    }
}

/// Describes what is unknown, with the metric that would resolve it.
fn unsettled(missing: &str, kernel: &Kernel, sums: &Sums, setting: &Setting<'_>) -> Reason {
    let part = sums.part();
    let metric = match (part.has_memory, kernel.uncounted().contains(&"tensor")) {
        (true, true) => "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
        (true, false) => "sm__throughput.avg.pct_of_peak_sustained_elapsed",
        (false, _) if part.has_math => "dram__bytes.sum",
        (false, _) => "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    };
    let settles = if setting.counters { format!(" (collect {metric})") } else { String::new() };
    Reason::new(&format!("{missing}{settles}"), &busiest(kernel))
}

/// Describes the utilization of the busiest unit, if the export has it.
fn busiest(kernel: &Kernel) -> String {
    [(Quantity::SmThroughput, "compute"), (Quantity::MemoryThroughput, "memory")]
        .into_iter()
        .filter_map(|(quantity, unit)| Some((kernel.average(quantity)?, unit)))
        .max_by(|one, two| one.0.total_cmp(&two.0))
        .map_or_else(String::new, |(share, unit)| {
            format!("; its busiest unit ({unit}) reached {:.0}% of speed-of-light", share * 100.0)
        })
}

/// Explains why a headroom is not certain.
fn bounded(kernel: &Kernel, sums: &Sums, setting: &Setting<'_>, headroom: f64) -> Reason {
    let part = sums.part();
    let (missing, known) = match (part.has_memory, part.has_math) {
        (true, false) => ("FLOPs were not counted".to_owned(), "bytes alone account for"),
        (false, true) => ("bytes were not counted".to_owned(), "math alone accounts for"),
        _ if kernel.uncounted().is_empty() => {
            ("counts are only known within bounds".to_owned(), "they account for at least")
        }
        _ => (
            format!("{} not counted", kernel.uncounted().join(", ")),
            "the counters collected \
            account for",
        ),
    };
    let share = 100.0 / headroom;
    let figures = format!(": {known} {share:.0}% of the time{}", busiest(kernel));
    Reason::new(&unsettled(&missing, kernel, sums, setting).general(), &figures)
}

fn faster(kernel: &Kernel, sums: &Sums, setting: &Setting<'_>, launches: f64) -> (State, Reason) {
    let part = sums.part();
    let each = kernel.bytes.map(|bytes| bytes / launches);
    if sums.algorithmic
        && let (Some(each), Some(l2)) = (each, setting.roofs.l2_bytes)
        && each.get() <= l2 as f64
        && part.memory.get() >= part.math.get()
    {
        let reason = format!(
            "its {} fit in the {} L2 cache, so the DRAM roof does not apply",
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
    let cause = if sums.algorithmic && kernel.full_name.contains("winograd") {
        "Winograd's algorithm multiplies less than the direct convolution whose FLOPs are counted"
    } else if sums.algorithmic {
        "the operator's FLOPs or bytes overcount this kernel, or its data came from a cache"
    } else if half {
        "half-precision instructions may use one lane only; otherwise the device, clock or a \
         metric is wrong"
    } else {
        "the device, clock or a metric is wrong, or counters and time are of different runs"
    };
    let reached = 100.0 * part.roofline_time.get() / part.time.get();
    (State::FasterThanRoofline, format!("{reached:.0}% of its roofline: {cause}").into())
}

fn megabytes(bytes: f64) -> String {
    if bytes < 1e6 { format!("{:.1} kB", bytes / 1e3) } else { format!("{:.1} MB", bytes / 1e6) }
}

fn cache_resident(kernel: &Kernel, sums: &Sums) -> Option<String> {
    let (sums, algorithmic) = (sums.part(), sums.algorithmic);
    if algorithmic || !sums.has_memory || sums.memory.get() < sums.math.get() {
        return None;
    }
    let time = sums.time.get();
    let l2 = sums.level_time(MemoryLevel::L2).unwrap_or_default();
    if l2.get() > sums.memory.get() && l2.get() / time >= roofline::BUSY {
        return Some(format!(
            "L2 traffic accounts for {:.0}% of the time, DRAM for {:.0}%",
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
            "the caches run at {:.0}% of their peak, DRAM at {:.0}%",
            busy * 100.0,
            dram * 100.0
        ));
    }
    let hits = kernel.average(Quantity::L2HitRate)?;
    let l2 = kernel.average(Quantity::L2Throughput)?;
    (hits >= CACHE_HITS && l2 >= roofline::BUSY).then(|| {
        format!(
            "{:.0}% of its L2 look-ups hit and L2 runs at {:.0}% of its peak",
            hits * 100.0,
            l2 * 100.0
        )
    })
}
