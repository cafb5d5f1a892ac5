//! What the law says of a launch.

use super::interval::Interval;
use super::nature::Uncounted;
use crate::model::{MemoryLevel, Pipe};
use crate::roofline::formula;
use crate::scalar::{Branch, Constant, Maybe, Number, Truth, Word};

/// Why the model does not cover a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Problem {
    /// No duration and nothing to derive it from.
    NoTime,
    /// The only time was measured while the kernel was instrumented.
    Instrumented,
    /// Neither operations nor bytes.
    NoCounters,
    /// The device, and so every roof, is unknown.
    NoRoof,
}

impl Problem {
    /// All problems.
    pub(crate) const ALL: [Self; 4] =
        [Self::NoTime, Self::Instrumented, Self::NoCounters, Self::NoRoof];

    /// Returns the name in tables.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::NoTime => "no_time",
            Self::Instrumented => "instrumented",
            Self::NoCounters => "no_counters",
            Self::NoRoof => "no_roof",
        }
    }
}

impl Word for Problem {
    const BLANK: Self = Self::NoTime;

    fn constant(self) -> Constant {
        Constant::Text(self.key())
    }
}

/// Work on one pipe.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PipeWork<N: Number> {
    pub(crate) pipe: Pipe,
    /// Whether it was counted.
    pub(crate) is: N::Truth,
    pub(crate) operations: N,
    /// Least time; zero without work or roof.
    pub(crate) time: N,
    /// Whether there is work and no roof for it.
    pub(crate) lacks_peak: N::Truth,
}

/// Traffic of a launch at one level of the memory hierarchy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Traffic<N: Number> {
    pub(crate) bytes: N,
    /// Least time of the traffic; missing if the level's bandwidth is unknown.
    pub(crate) time: Maybe<N, N>,
}

impl<N: Number> Branch<N> for Traffic<N> {
    #[inline]
    fn blank() -> Self {
        Self { bytes: N::blank(), time: Maybe::missing() }
    }

    #[inline]
    fn merge(is: N::Truth, then: Self, other: Self) -> Self {
        Self {
            bytes: N::merge(is, then.bytes, other.bytes),
            time: Maybe::merge(is, then.time, other.time),
        }
    }
}

/// What a launch adds to the times of its kernel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times<N: Number> {
    pub(crate) roofline_time: Interval<N>,
    /// Whether it is faster than the model allows.
    pub(crate) is_faster: N::Truth,
    /// Part of the roofline time that is certainly needed.
    pub(crate) least: N,
    /// Time that remains if only the implementation improves.
    pub(crate) structural: N,
    /// Roofline time over all memory levels.
    pub(crate) hierarchical: N,
    pub(crate) savings_low: N,
    pub(crate) savings: N,
    pub(crate) savings_high: N,
}

impl<N: Number> Branch<N> for Times<N> {
    fn blank() -> Self {
        let zero = N::blank();
        Self {
            roofline_time: Interval::blank(),
            is_faster: <N::Truth as Branch<N>>::blank(),
            least: zero,
            structural: zero,
            hierarchical: zero,
            savings_low: zero,
            savings: zero,
            savings_high: zero,
        }
    }

    fn merge(is: N::Truth, then: Self, other: Self) -> Self {
        let of = |field: fn(&Self) -> N| N::merge(is, field(&then), field(&other));
        Self {
            roofline_time: Interval::merge(is, then.roofline_time, other.roofline_time),
            is_faster: <N::Truth as Branch<N>>::merge(is, then.is_faster, other.is_faster),
            least: of(|times| times.least),
            structural: of(|times| times.structural),
            hierarchical: of(|times| times.hierarchical),
            savings_low: of(|times| times.savings_low),
            savings: of(|times| times.savings),
            savings_high: of(|times| times.savings_high),
        }
    }
}

/// One launch compared with its roofs.
#[derive(Debug, Clone)]
pub(crate) struct Judged<N: Number> {
    /// Work per pipe with its least time.
    pub(crate) work: Vec<PipeWork<N>>,
    pub(crate) bytes: Maybe<N, N>,
    pub(crate) memory: Maybe<N, Interval<N>>,
    pub(crate) math: Maybe<N, Interval<N>>,
    /// Tensor pipe time from its activity alone, without a count of operations.
    pub(crate) tensor_activity: Maybe<N, N>,
    /// Traffic per level except DRAM, with its least time, in the order of [`MemoryLevel::ALL`].
    pub(crate) levels: [Maybe<N, Traffic<N>>; MemoryLevel::ALL.len()],
    /// Time in which the busiest unit of the SMs and of memory, at its peak, does what it does now.
    pub(crate) units: Maybe<N, N>,
    pub(crate) structural: Maybe<N, N>,
    /// The least time by the theoretical peaks.
    pub(crate) at_peaks: Maybe<N, N>,
    /// Whether bytes or operations come from shapes, not counters.
    pub(crate) algorithmic: N::Truth,
    /// Whether a pipe with work has no peak.
    pub(crate) lacks_peak: N::Truth,
    /// Whether there are bytes but no bandwidth.
    pub(crate) without_bandwidth: N::Truth,
    /// What is known of uncounted work.
    pub(crate) uncounted: N::Choice<Uncounted>,
    /// Whether a side without counts or roof is estimated from a unit's utilization.
    pub(crate) by_utilization: N::Truth,
    /// Whether the math side is estimated from utilization.
    pub(crate) math_by_utilization: N::Truth,
    pub(crate) problem: Maybe<N, N::Choice<Problem>>,
}

impl<N: Number> Judged<N> {
    pub(super) fn new() -> Self {
        let no = N::Truth::of(false);
        Self {
            work: Vec::new(),
            bytes: Maybe::missing(),
            memory: Maybe::missing(),
            math: Maybe::missing(),
            tensor_activity: Maybe::missing(),
            levels: [Maybe::missing(); MemoryLevel::ALL.len()],
            units: Maybe::missing(),
            structural: Maybe::missing(),
            at_peaks: Maybe::missing(),
            algorithmic: no,
            lacks_peak: no,
            without_bandwidth: no,
            uncounted: N::word(Uncounted::Nothing),
            by_utilization: no,
            math_by_utilization: no,
            problem: Maybe::missing(),
        }
    }

    /// Returns the least time of the traffic at a level other than DRAM.
    pub(crate) fn level_time(&self, level: MemoryLevel) -> Maybe<N, N> {
        self.levels[level as usize].and_then(|traffic| traffic.time)
    }

    /// Returns the roofline time with its bounds; missing sides bound it from above.
    pub(crate) fn roofline_time(&self) -> Maybe<N, Interval<N>> {
        Maybe::when(self.memory.is | self.math.is, || {
            let side = |side: Maybe<N, Interval<N>>| side.unwrap_or(Interval::unknown());
            side(self.memory).overlapped(side(self.math))
        })
    }

    /// Returns what it adds to the times of its kernel; missing with a problem.
    pub(crate) fn times(&self, measured: Maybe<N, N>) -> Maybe<N, Times<N>> {
        let roofline_time = self.roofline_time();
        let judged = Maybe::only_if(!self.problem.is, || measured.zip(roofline_time));
        judged.map(|(measured, roofline_time)| {
            let roofline_time = roofline_time.named("roofline");
            let structural = self.structural.unwrap_or(roofline_time.value).named("structural", "");
            let at_peaks = self.at_peaks.unwrap_or(roofline_time.low);
            let hierarchical = self.hierarchical().unwrap_or(roofline_time.value);
            let hierarchical = hierarchical.named("hierarchical", "");
            // A rewrite that still asks of every level and pipe what is asked now.
            let most = roofline_time.high.max(hierarchical);
            let most = self.units.map_or(most, |units| most.max(units));
            let modest = formula::modest_time(structural, most);
            // Counts may be too high, and how busy SMs were bounds what was done, not what had to be done. Of the time for
            // which memory was busy its commands are no more avoidable than its data.
            let is_by_memory = self.by_utilization & !self.math_by_utilization;
            let least = N::select(is_by_memory, || roofline_time.value, || roofline_time.low);
            Times {
                roofline_time,
                is_faster: formula::is_faster_than_roof(measured, at_peaks),
                structural,
                hierarchical,
                savings_low: formula::savings(measured, modest),
                savings: formula::savings(measured, structural),
                least,
                savings_high: formula::savings(measured, least),
            }
        })
    }

    /// Returns the roofline time over all memory levels: the longest of it and of the times of all
    /// levels with data.
    pub(crate) fn hierarchical(&self) -> Maybe<N, N> {
        self.roofline_time().map(|roofline_time| {
            let levels = MemoryLevel::ALL.into_iter().map(|level| self.level_time(level));
            let longer = |longest: N, level: Maybe<N, N>| {
                level.map_or(longest, |time| formula::roofline_time(longest, time))
            };
            levels.fold(roofline_time.value, longer)
        })
    }
}
