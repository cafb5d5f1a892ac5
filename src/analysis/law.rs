//! Applies the law to the launches of a profile.

use super::ceilings::Roofs;
use crate::law::{self, CeilingSet, Counted, Instrument, Nature, Problem, Reading, Uncounted};
use crate::model::{Launch, MemoryLevel, Origin, OriginKind, Pipe, Quantity};
use crate::scalar::Maybe;
use crate::units::{Bytes, BytesPerSecond, Flops, Seconds};

impl Reading<f64> for Launch<'_> {
    #[inline]
    fn value(&self, quantity: Quantity) -> Maybe<f64, f64> {
        Launch::value(self, quantity).into()
    }

    #[inline]
    fn counted(&self, quantity: Quantity) -> Maybe<f64, Counted<f64>> {
        self.get(quantity).map(|(value, origin)| counted(value, origin)).into()
    }

    #[inline]
    fn each_work(&self, mut visit: impl FnMut(Pipe, Maybe<f64, Counted<f64>>)) {
        for (pipe, operations, origin) in self.work() {
            visit(pipe, Maybe::known(counted(operations.get(), origin)));
        }
    }

    #[inline]
    fn blocks(&self) -> Maybe<f64, f64> {
        self.head.shape.blocks.map(|blocks| blocks as f64).into()
    }

    #[inline]
    fn threads_per_block(&self) -> Maybe<f64, f64> {
        self.head.shape.threads_per_block.map(|threads| threads as f64).into()
    }
}

#[inline]
fn counted(value: f64, origin: &Origin) -> Counted<f64> {
    let origin = law::Origin {
        is_algorithmic: origin.kind == OriginKind::Algorithmic,
        is_instrumented: origin.kind == OriginKind::Instrumented,
        low: origin.low,
        high: origin.high,
    };
    Counted { value, origin }
}

/// A time with bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Interval {
    /// Lower bound.
    pub(super) low: Seconds,
    /// Value from counts or their substitute.
    pub(super) value: Seconds,
    /// Likely upper bound, by the kind of kernel.
    pub(super) likely: Seconds,
    /// Upper bound.
    pub(super) high: Seconds,
    /// True if it has more than an upper bound.
    pub(super) is_known: bool,
}

impl From<law::Interval<f64>> for Interval {
    #[inline]
    fn from(time: law::Interval<f64>) -> Self {
        Self {
            low: Seconds::new(time.low),
            value: Seconds::new(time.value),
            likely: Seconds::new(time.likely),
            high: Seconds::new(time.high),
            is_known: time.is_known(),
        }
    }
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

/// What a launch adds to the times of its kernel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    pub(super) roofline_time: Interval,
    /// True if it is faster than the model allows.
    pub(super) is_faster: bool,
    /// Part of the roofline time that is certainly needed.
    pub(super) least: Seconds,
    pub(super) structural: Seconds,
    pub(super) hierarchical: Seconds,
    pub(super) savings_low: Seconds,
    pub(super) savings: Seconds,
    pub(super) savings_high: Seconds,
}

/// One launch compared with its roofs.
#[derive(Debug, Clone)]
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
    /// What it adds to its kernel; `None` with a problem.
    pub(super) times: Option<Times>,
}

/// A launch compared with its roofs but for its time, and so any other that differs in nothing else.
#[derive(Debug, Clone)]
pub(super) struct Alike {
    law: law::Judged<f64>,
    judged: Judged,
}

impl Alike {
    /// Compares a launch with its roofs.
    pub(super) fn judge(
        launch: &Launch<'_>,
        roofs: &Roofs,
        set: CeilingSet,
        nature: Nature<f64>,
        instrument: Instrument<f64>,
    ) -> Self {
        let mut law = law::judge(launch, &roofs.law, set, nature, instrument);
        let mut judged = untimed(&mut law);
        // The law derives the time of memory from more than bytes; this is the roof of those that were counted.
        let roof = roofs.law.dram(launch, set).option();
        judged.levels[MemoryLevel::Dram as usize] = judged.bytes.map(|bytes| Traffic {
            bytes,
            time: roof.map(|roof| bytes / BytesPerSecond::new(roof)),
        });
        Self { law, judged }
    }

    /// Returns the comparison with the time of a launch.
    pub(super) fn with_time_of(&mut self, launch: &Launch<'_>) -> &Judged {
        let times = self.law.times(launch.value(Quantity::Duration).into());
        self.judged.times = times.option().map(|times| Times {
            roofline_time: times.roofline_time.into(),
            is_faster: times.is_faster,
            least: Seconds::new(times.least),
            structural: Seconds::new(times.structural),
            hierarchical: Seconds::new(times.hierarchical),
            savings_low: Seconds::new(times.savings_low),
            savings: Seconds::new(times.savings),
            savings_high: Seconds::new(times.savings_high),
        });
        &self.judged
    }
}

/// Returns what the law says but for the times. Takes its list of work, on which they do not depend.
fn untimed(law: &mut law::Judged<f64>) -> Judged {
    let of_pipe = |work: law::PipeWork<f64>| PipeWork {
        pipe: work.pipe,
        operations: Flops::new(work.operations),
        time: Seconds::new(work.time),
    };
    let lacking = law.work.iter().rfind(|work| work.lacks_peak).filter(|_| law.lacks_peak);
    let without_peak = lacking.map(|work| work.pipe);
    let traffic = |traffic: law::Traffic<f64>| Traffic {
        bytes: Bytes::new(traffic.bytes),
        time: traffic.time.option().map(Seconds::new),
    };
    Judged {
        bytes: law.bytes.option().map(Bytes::new),
        memory: law.memory.option().map(Interval::from),
        math: law.math.option().map(Interval::from),
        tensor_activity: law.tensor_activity.option().map(Seconds::new),
        levels: law.levels.map(|level| level.option().map(traffic)),
        algorithmic: law.algorithmic,
        without_peak,
        without_bandwidth: law.without_bandwidth,
        uncounted: law.uncounted,
        by_utilization: law.by_utilization,
        math_by_utilization: law.math_by_utilization,
        problem: law.problem.option(),
        // In the same memory.
        work: std::mem::take(&mut law.work).into_iter().map(of_pipe).collect(),
        times: None,
    }
}
