//! Applies the roofline law to one launch: its roofline time with bounds.

use super::ceilings::{CeilingSet, Roofs};
use super::confidence::Uncounted;
use super::interval::Interval;
use super::nature::{Counted, Nature};
use crate::model::{Engine, Launch, MemoryLevel, OriginKind, Pipe, Quantity};
use crate::roofline;
use crate::units::{Bytes, Flops, FlopsPerSecond, Seconds};

/// Why the model does not cover a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Problem {
    /// No duration and nothing to derive it from.
    NoTime,
    /// The only time was measured while the kernel was instrumented.
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

/// Traffic of a launch at one level of the memory hierarchy.
#[derive(Debug, Clone, Copy)]
pub(super) struct Traffic {
    pub(super) bytes: Bytes,
    /// Least time of the traffic; `None` if the level's bandwidth is unknown.
    pub(super) time: Option<Seconds>,
}

/// One launch compared with its roofs.
#[derive(Debug, Clone, Default)]
pub(super) struct Judged {
    /// Work per pipe with its least time.
    pub(super) work: Vec<PipeWork>,
    pub(super) bytes: Option<Bytes>,
    pub(super) memory: Option<Interval>,
    pub(super) math: Option<Interval>,
    /// Tensor pipe time from its activity alone, without a count of operations.
    pub(super) tensor_activity: Option<Seconds>,
    /// Traffic per level except DRAM, with its least time, in the order of [`MemoryLevel::ALL`].
    pub(super) levels: [Option<Traffic>; MemoryLevel::ALL.len()],
    pub(super) structural: Option<Seconds>,
    /// True if bytes or operations come from shapes, not counters.
    pub(super) algorithmic: bool,
    /// A pipe with work whose peak is unknown.
    pub(super) without_peak: Option<Pipe>,
    /// True if there are bytes but no bandwidth.
    pub(super) without_bandwidth: bool,
    /// What is known of uncounted work.
    pub(super) uncounted: Uncounted,
    /// True if a side without counts or roof is estimated from a unit's utilization.
    pub(super) by_utilization: bool,
    /// True if the math side is estimated from utilization.
    pub(super) math_by_utilization: bool,
    pub(super) problem: Option<Problem>,
}

/// Largest ratio of tensor pipe time to the least time of counted work: `HMMA` on Hopper runs at
/// two thirds of the pipe's rate. Beyond that, work was not counted.
const SLOW_INSTRUCTIONS: f64 = 1.6;

impl Judged {
    /// Returns the least time of the traffic at a level other than DRAM.
    pub(super) fn level_time(&self, level: MemoryLevel) -> Option<Seconds> {
        self.levels[level as usize]?.time
    }

    /// Returns the roofline time over all memory levels: `max(t_math, t_x)` over all levels with
    /// data.
    pub(super) fn hierarchical(&self) -> Option<Seconds> {
        let roofline_time = self.roofline_time()?.value;
        let levels = self.levels.iter().flatten().filter_map(|traffic| traffic.time);
        Some(levels.fold(roofline_time, Seconds::max))
    }

    /// Returns the roofline time with its bounds; missing sides bound it from above.
    pub(super) fn roofline_time(&self) -> Option<Interval> {
        if self.memory.is_none() && self.math.is_none() {
            return None;
        }
        let side = |side: Option<Interval>| side.unwrap_or(Interval::UNKNOWN);
        Some(side(self.memory).overlapped(side(self.math)))
    }
}

/// Properties of the profiler that measured a launch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instrument {
    /// Least cost of a launch as the profiler measures it.
    pub(super) fixed_cost: Seconds,
    /// True if its counts cover all work of a kernel (operator shapes, a user's own columns) rather
    /// than selected counters.
    pub(super) whole_counts: bool,
}

/// Compares one launch with its roofs.
pub(super) fn judge(
    launch: &Launch<'_>,
    roofs: &Roofs,
    set: CeilingSet,
    nature: Nature,
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
    let scene = Scene { launch, roofs, set, time };
    memory(&mut judged, &scene);
    levels(&mut judged, &scene);
    math(&mut judged, &scene, nature, instrument.whole_counts);
    if judged.memory.is_none() {
        judged.uncounted = judged.uncounted.max(Uncounted::Open);
    }
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

/// Inputs for judging a launch.
struct Scene<'a, 'p> {
    launch: &'a Launch<'p>,
    roofs: &'a Roofs,
    set: CeilingSet,
    /// `None` if it was not measured, or only while instrumented.
    time: Option<Seconds>,
}

impl Scene<'_, '_> {
    /// Returns the time for which a unit was as busy as at its peak.
    fn busy(&self, quantity: Quantity) -> Option<Seconds> {
        self.launch.value(quantity).zip(self.time).map(|(share, time)| time * share)
    }

    /// Returns the busy time of DRAM, whose share includes commands and turnarounds besides data.
    fn dram_busy(&self) -> Option<Seconds> {
        let busy = self.busy(Quantity::DramThroughput)?;
        Some(self.roofs.activity_at_dram(self.launch, busy, self.set))
    }

    /// Returns the busy time of the busiest SM unit.
    fn sm_busy(&self) -> Option<Seconds> {
        let busy = self.busy(Quantity::SmThroughput)?;
        Some(self.roofs.activity_at_sm(self.launch, busy, self.set))
    }

    /// Returns the busy time of the busiest pipe or issue slot in the export; others may be busier.
    fn pipes_busy(&self) -> Option<Seconds> {
        /// Units of an SM by shares of active cycles, which are at most those of elapsed cycles.
        const UNITS: [Quantity; 7] = [
            Quantity::IssueActive,
            Quantity::PipeFma,
            Quantity::PipeAlu,
            Quantity::PipeFp64,
            Quantity::PipeFp16,
            Quantity::PipeXu,
            Quantity::PipeLsu,
        ];
        let busy = UNITS.into_iter().filter_map(|unit| self.busy(unit)).reduce(Seconds::max)?;
        Some(self.roofs.activity_at_sm(self.launch, busy, self.set))
    }
}

/// Share of data in DRAM activity: the share of peak that Nsight Compute reports includes commands
/// and turnarounds, up to a quarter of the data (1.249× on an RTX A2000).
const DATA_OF_DRAM_BUSY: f64 = 0.8;

fn memory(judged: &mut Judged, scene: &Scene<'_, '_>) {
    let Scene { launch, roofs, set, time } = scene;
    let counted = launch.dram_bytes();
    if let Some((bytes, origin)) = counted {
        judged.bytes = Some(bytes);
        judged.algorithmic |= origin.kind == OriginKind::Algorithmic;
        judged.memory = match roofs.dram(launch, *set) {
            Some(roof) => {
                let time = roofline::memory_time(bytes, roof.value);
                Some(Interval::scaled(time, origin.low, origin.high))
            }
            None => (bytes == Bytes::ZERO).then_some(Interval::ZERO),
        };
    }
    if judged.memory.is_none()
        && let (Some(active), Some(time)) = (launch.value(Quantity::DramActive), time)
    {
        // The share of cycles in which data moved is the share of the bandwidth at that clock, exactly.
        judged.memory =
            Some(Interval::exactly(roofs.activity_at_dram(launch, *time * active, *set)));
        judged.by_utilization = true;
    }
    // Speed-of-light percentages are maxima over units: they bound the bytes from above.
    let dram = scene.dram_busy();
    let any = dram.or_else(|| scene.busy(Quantity::MemoryThroughput));
    judged.memory = match (judged.memory, dram, any) {
        (Some(memory), _, Some(busy)) => Some(memory.capped(busy)),
        (None, Some(busy), _) => {
            judged.by_utilization = true;
            Some(Interval { low: busy * DATA_OF_DRAM_BUSY, ..Interval::exactly(busy) })
        }
        (None, None, Some(busy)) => Some(Interval::at_most(busy)),
        (memory, _, None) => memory,
    };
    judged.without_bandwidth = counted.is_some() && judged.memory.is_none();
}

/// Adds the traffic at the levels other than DRAM, which has its own bounds and origin.
fn levels(judged: &mut Judged, scene: &Scene<'_, '_>) {
    for (level, traffic) in MemoryLevel::ALL.into_iter().zip(&mut judged.levels) {
        if level == MemoryLevel::Dram {
            continue;
        }
        *traffic = scene.launch.value(level.bytes()).map(|bytes| {
            let bytes = Bytes::new(bytes);
            let roof = scene.roofs.level(scene.launch, level, scene.set);
            Traffic { bytes, time: roof.map(|roof| roofline::memory_time(bytes, roof)) }
        });
    }
}

fn math(judged: &mut Judged, scene: &Scene<'_, '_>, nature: Nature, whole_counts: bool) {
    let (launch, set) = (scene.launch, scene.set);
    let mut groups: Vec<(usize, Interval)> = Vec::new();
    let mut counted = Counted::default();
    counted.whole = whole_counts;
    let (mut any, mut tensor) = (false, Seconds::ZERO);
    for (pipe, operations, origin) in launch.work() {
        any = true;
        counted.whole |= origin.kind == OriginKind::Algorithmic;
        counted.note(pipe, operations > Flops::ZERO);
        judged.algorithmic |= origin.kind == OriginKind::Algorithmic;
        let peak = |pipe| scene.roofs.peak(launch, pipe, set).map(|roof| roof.value);
        let interval = if operations == Flops::ZERO {
            Interval::ZERO
        } else if let Some(interval) = work_time(pipe, operations, peak) {
            interval.times(origin.low, origin.high)
        } else {
            judged.without_peak = Some(pipe);
            Interval::ZERO
        };
        if pipe.engine() == Engine::Matrix {
            tensor += interval.value;
        }
        judged.work.push(PipeWork { pipe, operations, time: interval.value });
        add(&mut groups, scene.roofs.group(pipe), interval);
    }
    if let Some(busy) = scene.busy(Quantity::TensorActive) {
        // Exact for a uniform stream of matrix instructions: the count needs their type, the time does
        // not. Where counters saw less than the pipe worked, the difference is work they are blind to.
        let busy = scene.roofs.activity_at_tensor(launch, busy, set);
        any = true;
        counted.tensor_activity = true;
        if busy.get() > tensor.get() * 1.05 {
            let unseen = busy - tensor;
            let interval = if busy.get() > tensor.get() * SLOW_INSTRUCTIONS {
                judged.tensor_activity = Some(unseen);
                Interval::exactly(unseen)
            } else {
                Interval { high: unseen, ..Interval::ZERO }
            };
            add(&mut groups, scene.roofs.group(Pipe::Fp16Matrix), interval);
        }
    }
    let of = |bound: fn(&Interval) -> Seconds| {
        roofline::grouped_math_time(groups.iter().map(|(_, sum)| bound(sum)))
    };
    let counts = Interval {
        low: of(|sum| sum.low),
        value: of(|sum| sum.value),
        likely: of(|sum| sum.likely),
        high: of(|sum| sum.high),
    };
    let busy = scene.sm_busy();
    if judged.without_peak.is_some() {
        // The busiest unit needed its time, whatever the roofs are.
        let Some(busy) = busy.filter(|_| !scene.roofs.has_peaks()) else { return };
        judged.without_peak = None;
        judged.by_utilization = true;
        judged.math_by_utilization = true;
        judged.math = Some(Interval { low: Seconds::ZERO, ..Interval::exactly(busy) });
        return;
    }
    judged.uncounted = nature.uncounted(&counted);
    if nature.is_product() && any && !counted.whole && counts.value == Seconds::ZERO {
        // A product multiplies something, and none of it was counted.
        judged.uncounted = judged.uncounted.max(Uncounted::Certain);
    }
    judged.math = if judged.uncounted == Uncounted::Nothing && any {
        Some(busy.map_or(counts, |busy| counts.capped(busy)))
    } else {
        open_math(judged, scene, nature, any.then_some(counts))
    };
}

/// Returns the math side if not all work was counted, from counts and utilization.
fn open_math(
    judged: &mut Judged,
    scene: &Scene<'_, '_>,
    nature: Nature,
    counts: Option<Interval>,
) -> Option<Interval> {
    let infinite = Seconds::new(f64::INFINITY);
    let (sm, pipes) = (scene.sm_busy(), scene.pipes_busy());
    let value = counts.map_or(Seconds::ZERO, |counts| counts.value);
    let is_unlikely = judged.uncounted == Uncounted::Unlikely;
    let hides = nature.moves_data() && judged.memory.is_some_and(Interval::is_known);
    // Beside known traffic a unit that is not its limit says nothing of the work that it did.
    let is_alone = !judged.memory.is_some_and(Interval::is_known);
    let stands_in = |busy: Seconds| {
        let limits = scene.time.is_some_and(|time| busy >= time * roofline::BUSY);
        busy > Seconds::ZERO && (is_alone || limits)
    };
    if value == Seconds::ZERO && !hides {
        // Nothing that takes time was counted: the busiest unit stands in for it.
        if let Some(busy) = sm.filter(|busy| stands_in(*busy)) {
            judged.by_utilization = true;
            judged.math_by_utilization = true;
            return Some(Interval { low: Seconds::ZERO, ..Interval::exactly(busy) });
        }
        if let Some(busy) = pipes.filter(|busy| sm.is_none() && stands_in(*busy)) {
            judged.by_utilization = true;
            judged.math_by_utilization = true;
            let likely = if is_unlikely { busy } else { infinite };
            return Some(Interval { low: Seconds::ZERO, value: busy, likely, high: infinite });
        }
    }
    if counts.is_none() && sm.is_none() && !is_unlikely {
        return None;
    }
    let high = sm.unwrap_or(infinite).max(value);
    let likely = if is_unlikely { value } else { high };
    Some(Interval { low: counts.map_or(Seconds::ZERO, |counts| counts.low), value, likely, high })
}

/// Adds a pipe's time to that of the pipes that share its hardware.
fn add(groups: &mut Vec<(usize, Interval)>, group: usize, interval: Interval) {
    match groups.iter_mut().find(|(known, _)| *known == group) {
        Some((_, sum)) => *sum = sum.add(interval),
        None => groups.push((group, interval)),
    }
}

/// Returns the time of work on one pipe. Work of unstated precision takes at least the time on the
/// device's fastest roof and at most that on FP32; the lower bound is used.
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
    Some(Interval { low: fastest, value: fastest, likely: slow, high: slow })
}

/// Returns the structural time, which remains if only the implementation improves: launch cost,
/// tail, per-SM bandwidth, and the share of the roof that good kernels reach. It explains and never
/// judges.
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
    let roofline_time = judged.roofline_time()?;
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
    let bound = [roofline_time.high, roofline_time.likely]
        .into_iter()
        .find(|bound| bound.get().is_finite());
    let time = fixed_cost + dram.max(l2).max(math).max(bound.unwrap_or_default());
    // No rewrite makes a launch cheaper than those that are mostly launch cost.
    Some(time.max(fixed_cost * roofline::LAUNCH_FLOOR))
}
