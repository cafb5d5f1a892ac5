//! The law applied to one launch: how long it should have taken, and between which bounds.

use super::ceilings::{CeilingSet, Roofs};
use crate::model::{Engine, Launch, MemoryLevel, OriginKind, Pipe, Quantity};
use crate::roofline;
use crate::units::{Bytes, Flops, FlopsPerSecond, Seconds};

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

    /// The interval with uncertain factors on its ends.
    fn times(self, low: f64, high: f64) -> Self {
        let high = if self.high.get() == 0.0 { Seconds::ZERO } else { self.high * high };
        Self { low: self.low * low, value: self.value, high }
    }

    fn add(self, other: Self) -> Self {
        Self {
            low: self.low + other.low,
            value: self.value + other.value,
            high: self.high + other.high,
        }
    }

    /// What two sides that overlap need: bound by bound the longer.
    fn overlapped(self, other: Self) -> Self {
        Self {
            low: roofline::expected_time(self.low, other.low),
            value: roofline::expected_time(self.value, other.value),
            high: roofline::expected_time(self.high, other.high),
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

/// What a launch moved at one level of the memory hierarchy.
#[derive(Debug, Clone, Copy)]
pub(super) struct Traffic {
    pub(super) bytes: Bytes,
    /// The time it needs at least; none where the level's bandwidth is not known.
    pub(super) time: Option<Seconds>,
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
    /// Traffic per level but DRAM, with the time it needs at least, in the order of [`MemoryLevel::ALL`].
    pub(super) levels: [Option<Traffic>; MemoryLevel::ALL.len()],
    pub(super) structural: Option<Seconds>,
    /// Bytes or operations come from shapes, not counters.
    pub(super) algorithmic: bool,
    /// Work on a pipe whose peak is not known.
    pub(super) without_peak: Option<Pipe>,
    /// Bytes without a bandwidth to divide by.
    pub(super) without_bandwidth: bool,
    pub(super) problem: Option<Problem>,
}

/// How much longer than its peak rate allows counted work may keep the tensor pipe busy: `HMMA` on
/// Hopper runs at two thirds of the pipe's rate. Beyond that, work was not counted.
const SLOW_INSTRUCTIONS: f64 = 1.6;

impl Judged {
    /// The time the traffic at a level but DRAM needs at least.
    pub(super) fn level_time(&self, level: MemoryLevel) -> Option<Seconds> {
        self.levels[level as usize]?.time
    }

    /// The time the model expects if every level counts, not only DRAM: `max(t_math, t_x)` over all
    /// levels with data.
    pub(super) fn hierarchical(&self) -> Option<Seconds> {
        let expected = self.expected()?.value;
        let levels = self.levels.iter().flatten().filter_map(|traffic| traffic.time);
        Some(levels.fold(expected, Seconds::max))
    }

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
        Some(self.memory.unwrap_or(unknown).overlapped(self.math.unwrap_or(unknown)))
    }
}

/// What is known of the profiler that measured a launch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instrument {
    /// What any launch costs at least, as it measures it.
    pub(super) fixed_cost: Seconds,
    /// Whether its counts cover all work of a kernel (operator shapes, a user's own columns) rather
    /// than the counters that were asked for.
    pub(super) whole_counts: bool,
}

/// Compares one launch with its roofs.
pub(super) fn judge(
    launch: &Launch<'_>,
    roofs: &Roofs,
    set: CeilingSet,
    may_use_tensor_cores: bool,
    instrument: Instrument,
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
    math(
        &mut judged,
        launch,
        roofs,
        set,
        Work { may_use_tensor_cores, whole: instrument.whole_counts },
        time,
    );
    if judged.problem.is_none() {
        let nothing = judged.memory.is_none() && judged.math.is_none();
        let roofless = judged.without_bandwidth || judged.without_peak.is_some();
        judged.problem = match (roofless, nothing) {
            (true, _) => Some(Problem::NoRoof),
            (false, true) => Some(Problem::NoCounters),
            (false, false) => None,
        };
    }
    judged.structural = structural(&judged, launch, roofs, set, instrument.fixed_cost);
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
            None if bytes.get() == 0.0 => judged.memory = Some(Interval::ZERO),
            None => judged.without_bandwidth = true,
        }
    } else if let (Some(active), Some(time)) = (launch.value(Quantity::DramActive), time) {
        // The share of cycles in which data moved is the share of the bandwidth at that clock, exactly.
        let time = roofs.activity_at_dram(launch, time * active, set);
        judged.memory = Some(Interval::scaled(time, 1.0, 1.0));
    }
    // Speed-of-light percentages are maxima over units: they bound the bytes from above.
    let busy = launch
        .value(Quantity::DramThroughput)
        .or_else(|| launch.value(Quantity::MemoryThroughput))
        .zip(time)
        .map(|(share, time)| time * share);
    match (busy, judged.memory.as_mut()) {
        (Some(busy), Some(memory)) => memory.high = memory.high.min(memory.value.max(busy)),
        (Some(busy), None) if judged.bytes.is_none() && has_math(launch) => {
            judged.memory = Some(Interval { high: busy, ..Interval::ZERO });
        }
        _ => {}
    }
    for (level, traffic) in MemoryLevel::ALL.into_iter().zip(&mut judged.levels) {
        // DRAM has bounds and an origin of its own.
        if level == MemoryLevel::Dram {
            continue;
        }
        *traffic = launch.value(level.bytes()).map(|bytes| {
            let bytes = Bytes::new(bytes);
            let roof = roofs.level(launch, level, set);
            Traffic { bytes, time: roof.map(|roof| roofline::memory_time(bytes, roof)) }
        });
    }
}

fn has_math(launch: &Launch<'_>) -> bool {
    launch.work().next().is_some() || launch.value(Quantity::TensorActive).is_some()
}

/// What is known of a kernel's work beside its counts.
#[derive(Debug, Clone, Copy)]
struct Work {
    /// Whether tensor cores may have worked in it, going by its name.
    may_use_tensor_cores: bool,
    whole: bool,
}

/// Which kinds of work a launch was counted for.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    fp64: bool,
    fp32: bool,
    fp16: bool,
    tensor: bool,
    /// Counted from shapes: then everything the operator does is in it.
    whole: bool,
}

impl Counted {
    fn note(&mut self, pipe: Pipe, kind: OriginKind) {
        self.whole |= kind == OriginKind::Algorithmic;
        match (pipe.engine(), pipe) {
            (Engine::Matrix, _) => self.tensor = true,
            (_, Pipe::Fp64Vector) => self.fp64 = true,
            (_, Pipe::Fp32Vector) => self.fp32 = true,
            (_, Pipe::Fp16Vector | Pipe::Bf16Vector) => self.fp16 = true,
            _ => {}
        }
    }

    /// Whether nothing that may matter was left out. Tensor work is only taken as absent where CUDA-core
    /// work was counted in full and the name gives no sign of matrix products.
    fn is_complete(self, may_use_tensor_cores: bool) -> bool {
        let vector = self.fp64 && self.fp32 && self.fp16;
        self.whole || vector && (self.tensor || !may_use_tensor_cores)
    }
}

fn math(
    judged: &mut Judged,
    launch: &Launch<'_>,
    roofs: &Roofs,
    set: CeilingSet,
    work: Work,
    time: Option<Seconds>,
) {
    let mut groups: Vec<(usize, Interval)> = Vec::new();
    let mut counted = Counted { whole: work.whole, ..Counted::default() };
    let (mut any, mut tensor) = (false, Seconds::ZERO);
    for (pipe, operations, origin) in launch.work() {
        any = true;
        counted.note(pipe, origin.kind);
        judged.algorithmic |= origin.kind == OriginKind::Algorithmic;
        let interval = if operations.get() == 0.0 {
            Interval::ZERO
        } else if let Some(interval) =
            work_time(pipe, operations, |pipe| roofs.peak(launch, pipe, set).map(|roof| roof.value))
        {
            interval.times(origin.low, origin.high)
        } else {
            judged.without_peak = Some(pipe);
            Interval::ZERO
        };
        if pipe.engine() == Engine::Matrix {
            tensor += interval.value;
        }
        judged.work.push(PipeWork { pipe, operations, time: interval.value });
        add(&mut groups, roofs.group(pipe), interval);
    }
    if let (Some(active), Some(time)) = (launch.value(Quantity::TensorActive), time) {
        // Exact for a uniform stream of matrix instructions: the count needs their type, the time does
        // not. Where counters saw less than the pipe worked, the difference is work they are blind to.
        let busy = roofs.activity_at_tensor(launch, time * active, set);
        any = true;
        counted.tensor = true;
        if busy.get() > tensor.get() * 1.05 {
            let unseen = busy - tensor;
            let interval = if busy.get() > tensor.get() * SLOW_INSTRUCTIONS {
                judged.tensor_activity = Some(unseen);
                Interval::scaled(unseen, 1.0, 1.0)
            } else {
                Interval { high: unseen, ..Interval::ZERO }
            };
            add(&mut groups, roofs.group(Pipe::Fp16Matrix), interval);
        }
    }
    // The busiest unit of the SM bounds what was not counted.
    let busy = launch.value(Quantity::SmThroughput).zip(time).map(|(share, time)| time * share);
    if judged.without_peak.is_some() {
        return;
    }
    if !any {
        judged.math = busy
            .filter(|_| judged.memory.is_some())
            .map(|busy| Interval { high: busy, ..Interval::ZERO });
        return;
    }
    let of = |bound: fn(&Interval) -> Seconds| {
        roofline::grouped_math_time(groups.iter().map(|(_, sum)| bound(sum)))
    };
    let mut math =
        Interval { low: of(|sum| sum.low), value: of(|sum| sum.value), high: of(|sum| sum.high) };
    if !counted.is_complete(work.may_use_tensor_cores) {
        math.high = busy.unwrap_or(Seconds::new(f64::INFINITY)).max(math.value);
    } else if let Some(busy) = busy {
        math.high = math.high.min(math.value.max(busy));
    }
    judged.math = Some(math);
}

/// Adds a pipe's time to those of the pipes that share its hardware.
fn add(groups: &mut Vec<(usize, Interval)>, group: usize, interval: Interval) {
    match groups.iter_mut().find(|(known, _)| *known == group) {
        Some((_, sum)) => *sum = sum.add(interval),
        None => groups.push((group, interval)),
    }
}

/// The time of work on one pipe. Work of unstated precision needs at least the time of the device's
/// fastest roof and at most that of FP32: the lower bound is the expectation.
pub(super) fn work_time(
    pipe: Pipe,
    operations: Flops,
    peak: impl Fn(Pipe) -> Option<FlopsPerSecond>,
) -> Option<Interval> {
    if pipe != Pipe::Unstated {
        return Some(Interval::scaled(roofline::math_time(operations, peak(pipe)?), 1.0, 1.0));
    }
    let slow = roofline::math_time(operations, peak(Pipe::Fp32Vector)?);
    let fastest = [Pipe::Fp16Matrix, Pipe::Bf16Matrix, Pipe::Tf32Matrix, Pipe::Fp32Vector]
        .into_iter()
        .filter_map(peak)
        .map(|peak| roofline::math_time(operations, peak))
        .fold(slow, Seconds::min);
    Some(Interval { low: fastest, value: fastest, high: slow })
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
    let sms = roofs.sms_of(launch);
    let blocks = launch.head.shape.blocks.filter(|blocks| *blocks > 0);
    let efficiency = match (blocks, sms) {
        (Some(blocks), Some(sms)) => match roofs.resident(launch) {
            Some(resident) => roofline::sm_efficiency(blocks, sms, resident.blocks),
            None if blocks < roofline::BLOCKS_PER_SM * u64::from(sms) => {
                roofline::sm_efficiency(blocks, sms, 1)
            }
            None => 1.0,
        },
        _ => 1.0,
    };
    let math = judged.math.map_or(Seconds::ZERO, |math| math.value / efficiency);
    // Not L1 and shared memory: uncoalesced accesses and bank conflicts are the implementation's.
    let l2 = judged.level_time(MemoryLevel::L2).map_or(Seconds::ZERO, |l2| l2 / efficiency);
    let mut dram = judged.memory.map_or(Seconds::ZERO, |memory| memory.value);
    if let (Some(bytes), Some(clock), Some(sms), Some(blocks)) =
        (launch.value(Quantity::L2Bytes), roofs.clock(launch), sms, blocks)
    {
        let bandwidth = roofline::port_bandwidth(blocks, sms, clock);
        dram = dram.max(roofline::memory_time(Bytes::new(bytes), bandwidth));
    }
    let expected = judged.expected()?;
    let share = |share: f64| if set == CeilingSet::Achievable { 1.0 } else { share };
    let busiest = judged
        .work
        .iter()
        .max_by(|one, two| one.time.get().total_cmp(&two.time.get()))
        .map_or(Pipe::Fp32Vector, |work| work.pipe);
    let math = math / share(roofs.achievable_math(busiest));
    let l2 = l2 / share(roofline::achievable::CACHE);
    let dram = dram / share(roofs.achievable_memory());
    // What was not counted may be needed too: then it cannot be won.
    let bound = expected.high;
    let bound = if bound.get().is_finite() { bound } else { Seconds::ZERO };
    Some(fixed_cost + dram.max(l2).max(math).max(bound))
}
