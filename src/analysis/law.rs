//! The law applied to one launch: how long it should have taken, and between which bounds.

use super::ceilings::{CeilingSet, Roofs};
use super::intent::Intent;
use crate::model::{Engine, Launch, OriginKind, Pipe, Quantity};
use crate::roofline;
use crate::units::{Bytes, BytesPerSecond, Flops, Seconds};

/// A time that is known, or known to lie between two bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Interval {
    pub(super) low: Seconds,
    pub(super) value: Seconds,
    pub(super) high: Seconds,
}

impl Interval {
    fn scaled(time: Seconds, low: f64, high: f64) -> Self {
        // Zero work stays zero however uncertain its factor is.
        let high = if time.get() == 0.0 { Seconds::ZERO } else { time * high };
        Self { low: time * low, value: time, high }
    }

    fn add(self, other: Self) -> Self {
        Self {
            low: self.low + other.low,
            value: self.value + other.value,
            high: self.high + other.high,
        }
    }

    fn max(self, other: Self) -> Self {
        Self {
            low: self.low.max(other.low),
            value: self.value.max(other.value),
            high: self.high.max(other.high),
        }
    }

    const ZERO: Self = Self { low: Seconds::ZERO, value: Seconds::ZERO, high: Seconds::ZERO };
}

/// Why the model says nothing about a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Problem {
    /// No duration and nothing it follows from.
    NoTime,
    /// The only time was taken while the kernel ran instrumented.
    Instrumented,
    /// Neither operations nor bytes.
    NoCounters,
    /// The device, and so every roof, is unknown.
    NoRoof,
}

/// Work on one pipe.
#[derive(Debug, Clone, Copy)]
pub(super) struct PipeWork {
    pub(super) pipe: Pipe,
    pub(super) operations: Flops,
    pub(super) time: Seconds,
}

/// One launch against its roofs.
#[derive(Debug, Clone, Default)]
pub(super) struct Judged {
    /// Work per pipe with the time each needs at least.
    pub(super) work: Vec<PipeWork>,
    pub(super) bytes: Option<Bytes>,
    pub(super) memory: Option<Interval>,
    pub(super) math: Option<Interval>,
    /// Tensor pipe time known from its activity alone, without a count of operations.
    pub(super) tensor_activity: Option<Seconds>,
    pub(super) l2: Option<Seconds>,
    pub(super) structural: Option<Seconds>,
    /// Bytes or operations come from shapes, not counters.
    pub(super) algorithmic: bool,
    /// Work on a pipe whose peak is not known.
    pub(super) without_peak: Option<Pipe>,
    /// Bytes without a bandwidth to divide by.
    pub(super) without_bandwidth: bool,
    pub(super) problem: Option<Problem>,
}

/// Bytes an SM can receive from L2 per clock.
const L2_BYTES_PER_CLOCK_PER_SM: f64 = 64.0;

impl Judged {
    /// The time the model expects, with its bounds; missing sides bound it from above.
    pub(super) fn expected(&self) -> Option<Interval> {
        let unknown = Interval {
            low: Seconds::ZERO,
            value: Seconds::ZERO,
            high: Seconds::new(f64::INFINITY),
        };
        if self.memory.is_none() && self.math.is_none() {
            return None;
        }
        Some(self.memory.unwrap_or(unknown).max(self.math.unwrap_or(unknown)))
    }
}

/// Compares one launch with its roofs.
pub(super) fn judge(
    launch: &Launch<'_>,
    roofs: &Roofs,
    set: CeilingSet,
    intent: Intent,
    fixed_cost: Seconds,
) -> Judged {
    let mut judged = Judged::default();
    let time = match launch.duration() {
        None => {
            judged.problem = Some(Problem::NoTime);
            None
        }
        Some((_, origin)) if origin.kind == OriginKind::Instrumented => {
            judged.problem = Some(Problem::Instrumented);
            None
        }
        Some((time, _)) => Some(time),
    };
    memory(&mut judged, launch, roofs, set, time);
    math(&mut judged, launch, roofs, set, intent, time);
    if judged.problem.is_none() {
        let nothing = judged.memory.is_none() && judged.math.is_none();
        let roofless = judged.without_bandwidth || judged.without_peak.is_some();
        judged.problem = match (roofless, nothing) {
            (true, _) => Some(Problem::NoRoof),
            (false, true) => Some(Problem::NoCounters),
            (false, false) => None,
        };
    }
    judged.structural = structural(&judged, launch, roofs, set, fixed_cost);
    judged
}

fn memory(
    judged: &mut Judged,
    launch: &Launch<'_>,
    roofs: &Roofs,
    set: CeilingSet,
    time: Option<Seconds>,
) {
    let roof = roofs.dram(launch, set);
    if let Some((bytes, origin)) = launch.dram_bytes() {
        judged.bytes = Some(bytes);
        judged.algorithmic |= origin.kind == OriginKind::Algorithmic;
        match roof {
            Some(roof) => {
                let time = roofline::memory_time(bytes, roof.value);
                judged.memory = Some(Interval::scaled(time, origin.low, origin.high));
            }
            None => judged.without_bandwidth = bytes.get() > 0.0,
        }
    } else if let (Some(active), Some(time)) = (launch.value(Quantity::DramActive), time) {
        // The share of cycles in which data moved is the share of the bandwidth, exactly.
        judged.memory = Some(Interval::scaled(time * active, 1.0, 1.0));
    }
    // Speed-of-light percentages are maxima over units: they bound the bytes from above.
    let busy = launch
        .value(Quantity::DramThroughput)
        .or_else(|| launch.value(Quantity::MemoryThroughput))
        .zip(time)
        .map(|(share, time)| time * share);
    if let (Some(busy), Some(memory)) = (busy, judged.memory.as_mut()) {
        memory.high = memory.high.min(memory.value.max(busy));
    } else if let (Some(busy), None) = (busy, judged.memory)
        && judged.bytes.is_none()
        && has_math(launch)
    {
        judged.memory = Some(Interval { low: Seconds::ZERO, value: Seconds::ZERO, high: busy });
    }
    judged.l2 = launch.value(Quantity::L2Bytes).zip(roofs.l2(launch, set)).map(
        |(bytes, bandwidth): (f64, BytesPerSecond)| {
            roofline::memory_time(Bytes::new(bytes), bandwidth)
        },
    );
}

fn has_math(launch: &Launch<'_>) -> bool {
    launch.work().next().is_some() || launch.value(Quantity::TensorActive).is_some()
}

fn math(
    judged: &mut Judged,
    launch: &Launch<'_>,
    roofs: &Roofs,
    set: CeilingSet,
    intent: Intent,
    time: Option<Seconds>,
) {
    let mut groups: Vec<(usize, Interval)> = Vec::new();
    let mut add = |group: usize, interval: Interval| match groups
        .iter_mut()
        .find(|(known, _)| *known == group)
    {
        Some((_, sum)) => *sum = sum.add(interval),
        None => groups.push((group, interval)),
    };
    let (mut any, mut tensor, mut half, mut roof_missing) = (false, false, false, false);
    for (pipe, operations, origin) in launch.work() {
        any = true;
        tensor |= pipe.engine() == Engine::Matrix;
        half |= pipe == Pipe::Fp16Vector;
        judged.algorithmic |= origin.kind == OriginKind::Algorithmic;
        if operations.get() == 0.0 {
            judged.work.push(PipeWork { pipe, operations, time: Seconds::ZERO });
            continue;
        }
        let Some(interval) = work_time(launch, roofs, set, pipe, operations) else {
            judged.without_peak = Some(pipe);
            roof_missing = true;
            judged.work.push(PipeWork { pipe, operations, time: Seconds::ZERO });
            continue;
        };
        // Counted and possible factors apply to the work, so to its time.
        let interval = Interval {
            low: interval.low * origin.low,
            value: interval.value,
            high: if origin.high.is_finite() {
                interval.high * origin.high
            } else {
                Seconds::new(f64::INFINITY)
            },
        };
        judged.work.push(PipeWork { pipe, operations, time: interval.value });
        add(roofs.group(pipe), interval);
    }
    if !tensor && let (Some(active), Some(time)) = (launch.value(Quantity::TensorActive), time) {
        // Exact for a uniform stream of matrix instructions; the count needs their type, the time does not.
        any = true;
        tensor = true;
        judged.tensor_activity = Some(time * active);
        add(roofs.group(Pipe::Fp16Matrix), Interval::scaled(time * active, 1.0, 1.0));
    }
    if roof_missing {
        return;
    }
    if !any {
        // Nothing was counted, but the busiest unit of the SM bounds the math from above.
        if let (Some(share), Some(time)) = (launch.value(Quantity::SmThroughput), time)
            && (judged.memory.is_some())
        {
            judged.math =
                Some(Interval { low: Seconds::ZERO, value: Seconds::ZERO, high: time * share });
        }
        return;
    }
    let mut math = groups.iter().fold(Interval::ZERO, |most, (_, sum)| most.max(*sum));
    if intent.tensor && !tensor || intent.half && !half && !tensor {
        math.high = Seconds::new(f64::INFINITY);
    }
    if let (Some(share), Some(time)) = (launch.value(Quantity::SmThroughput), time) {
        math.high = math.high.min(math.value.max(time * share));
    }
    judged.math = Some(math);
}

/// The time of work on one pipe. Work of unstated precision lies between the fastest roof of the
/// device and its FP32 roof, which is taken as the expectation.
fn work_time(
    launch: &Launch<'_>,
    roofs: &Roofs,
    set: CeilingSet,
    pipe: Pipe,
    operations: Flops,
) -> Option<Interval> {
    if pipe != Pipe::Unstated {
        let roof = roofs.peak(launch, pipe, set)?;
        return Some(Interval::scaled(roofline::math_time(operations, roof.value), 1.0, 1.0));
    }
    let slow = roofline::math_time(operations, roofs.peak(launch, Pipe::Fp32Vector, set)?.value);
    let fastest = [Pipe::Fp16Matrix, Pipe::Bf16Matrix, Pipe::Tf32Matrix, Pipe::Fp32Vector]
        .into_iter()
        .filter_map(|pipe| roofs.peak(launch, pipe, set))
        .map(|roof| roofline::math_time(operations, roof.value))
        .fold(slow, Seconds::min);
    Some(Interval { low: fastest, value: slow, high: slow })
}

/// What remains if only the implementation improves: launch cost, tail, per-SM bandwidth, and the
/// share of the roof that good kernels reach. Explains; never judges.
fn structural(
    judged: &Judged,
    launch: &Launch<'_>,
    roofs: &Roofs,
    set: CeilingSet,
    fixed_cost: Seconds,
) -> Option<Seconds> {
    let sms = launch.value(Quantity::SmCount).map(|count| count as u32).or(roofs.sms);
    let blocks = launch.head.shape.blocks.filter(|blocks| *blocks > 0);
    let efficiency = match (blocks, sms) {
        (Some(blocks), Some(sms)) if sms > 0 => {
            let resident = launch.value(Quantity::ResidentBlocksPerSm).filter(|b| *b >= 1.0);
            match resident {
                Some(resident) => roofline::sm_efficiency(blocks, sms, resident as u32),
                None if blocks < roofline::BLOCKS_PER_SM * u64::from(sms) => {
                    roofline::sm_efficiency(blocks, sms, 1)
                }
                None => 1.0,
            }
        }
        _ => 1.0,
    };
    let math = judged.math.map_or(Seconds::ZERO, |math| math.value / efficiency);
    let l2 = judged.l2.map_or(Seconds::ZERO, |l2| l2 / efficiency);
    let mut dram = judged.memory.map_or(Seconds::ZERO, |memory| memory.value);
    if let (Some(bytes), Some(clock), Some(sms), Some(blocks)) =
        (launch.value(Quantity::L2Bytes), roofs.clock(launch), sms, blocks)
    {
        let busy = u64::from(sms).min(blocks) as f64;
        let bandwidth = roofline::bandwidth_at_clock(busy * L2_BYTES_PER_CLOCK_PER_SM, clock);
        dram = dram.max(roofline::memory_time(Bytes::new(bytes), bandwidth));
    }
    judged.expected()?;
    let share = |share: f64| if set == CeilingSet::Achievable { 1.0 } else { share };
    let busiest = judged
        .work
        .iter()
        .max_by(|one, two| one.time.get().total_cmp(&two.time.get()))
        .map_or(Pipe::Fp32Vector, |work| work.pipe);
    let math = math / share(roofs.achievable_math(busiest));
    let l2 = l2 / share(roofline::achievable::CACHE);
    let dram = dram / share(roofs.achievable_memory());
    Some(fixed_cost + dram.max(l2).max(math))
}
