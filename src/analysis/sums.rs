//! Sums the launches of a kernel: sums first, ratios afterwards.

use std::collections::BTreeMap;

use super::advice::Gathered;
use super::beside::Company;
use super::extras::{Doubt, LevelTraffic};
use super::kernel::Averages;
use super::law::{Interval, Judged, Times};
use super::shared::Shared;
use crate::law::{CeilingSet, Problem, UNTIMED, Uncounted};
use crate::model::{Launch, MemoryLevel, Pipe, Quantity};
use crate::roofline::{self, formula};
use crate::units::{Bytes, BytesPerSecond, ExactSum, Seconds};

/// Traffic of launches at one memory level.
#[derive(Debug, Default, Clone)]
pub(super) struct Level {
    pub(super) bytes: ExactSum,
    pub(super) time: ExactSum,
    /// Launches with counted traffic, and those of them with a time.
    pub(super) launches: u64,
    pub(super) timed: u64,
}

/// Sums over the judged or the unjudged launches of one kernel.
#[derive(Debug, Default, Clone)]
pub(super) struct Part {
    pub(super) launches: u64,
    pub(super) time: ExactSum,
    pub(super) roofline_time: ExactSum,
    pub(super) roofline_time_likely: ExactSum,
    pub(super) roofline_time_high: ExactSum,
    /// Of what is certainly needed: counts may be too high.
    pub(super) roofline_time_low: ExactSum,
    pub(super) structural: ExactSum,
    pub(super) memory: ExactSum,
    pub(super) math: ExactSum,
    /// Traffic per level except DRAM, in the order of [`MemoryLevel::ALL`].
    pub(super) levels: [Level; MemoryLevel::ALL.len()],
    pub(super) hierarchical: ExactSum,
    pub(super) has_memory: bool,
    pub(super) has_math: bool,
    pub(super) tensor_activity: ExactSum,
    pub(super) bytes: ExactSum,
    pub(super) launches_with_bytes: u64,
    pub(super) work: Vec<PipeSum>,
    /// Launches with bytes or operations; those with operations on any pipe, and on how many pipes one of them has some
    /// at most.
    pub(super) launches_counted: u64,
    pub(super) launches_with_work: u64,
    pub(super) most_pipes: f64,
    pub(super) savings_low: ExactSum,
    pub(super) savings: ExactSum,
    pub(super) savings_high: ExactSum,
    /// Smallest and largest headroom of a launch.
    pub(super) headrooms: Option<(f64, f64)>,
    /// Worst case of what is known of uncounted work.
    pub(super) uncounted: Uncounted,
    /// True if utilization substitutes for counts.
    pub(super) by_utilization: bool,
    /// True if utilization substitutes for counts on the math side.
    pub(super) math_by_utilization: bool,
}

/// Operations on a pipe, their least time, and the launches in which they were counted.
#[derive(Debug, Clone)]
pub(super) struct PipeSum {
    pub(super) pipe: Pipe,
    pub(super) operations: ExactSum,
    pub(super) time: ExactSum,
    pub(super) launches: u64,
}

/// Sums over the launches of one kernel so far.
#[derive(Debug, Default, Clone)]
pub(super) struct Sums {
    pub(super) launches: u64,
    pub(super) timed_launches: u64,
    /// Time of all launches except instrumented ones.
    pub(super) measured: ExactSum,
    /// Time of instrumented launches, which is in no other sum.
    pub(super) instrumented: ExactSum,
    /// Launches that the model covers.
    pub(super) judged: Part,
    /// Judged launches that are faster than the model allows, and their time.
    pub(super) faster: u64,
    pub(super) faster_time: ExactSum,
    /// Launches that cannot be judged; their counts still describe the kernel.
    pub(super) rest: Option<Box<Part>>,
    pub(super) problems: BTreeMap<Problem, u64>,
    pub(super) without_peak: Option<Pipe>,
    pub(super) without_bandwidth: bool,
    pub(super) algorithmic: bool,
    pub(super) averages: Vec<Average>,
    pub(super) longest: (usize, f64),
    /// How long other kernels ran on the same GPU; set for summaries.
    pub(super) company: Company,
    /// Results of the profiler's own rules.
    pub(super) advice: Gathered,
}

impl Sums {
    /// Returns the launches that represent the kernel: the judged ones, else the rest.
    pub(super) fn part(&self) -> &Part {
        let rest = self.rest.as_deref().filter(|_| !self.is_judged());
        rest.unwrap_or(&self.judged)
    }

    /// Returns `true` if any launch could be compared with its roofs.
    pub(super) fn is_judged(&self) -> bool {
        self.judged.launches > 0
    }

    /// Returns the number of launches that are faster than the model allows.
    pub(super) fn faster_launches(&self) -> u64 {
        self.faster
    }

    /// Returns `true` if such launches took most of the time, or all launches together are faster than the model
    /// allows. Achievable roofs allow that.
    pub(super) fn is_faster(&self, ceilings: CeilingSet) -> bool {
        formula::are_faster_than_roof(
            (self.judged.time.get(), self.judged.roofline_time.get()),
            self.faster_time.get(),
            self.faster > 0,
            ceilings != CeilingSet::Achievable,
        )
    }

    /// Adds a launch; `averaged` are the quantities of the profile that do not add up.
    pub(super) fn add(&mut self, launch: &Launch<'_>, judged: &Judged, averaged: &[Quantity]) {
        let count = u64::from(launch.head.count);
        let time = launch.duration().map(|(time, _)| time);
        let instrumented = judged.problem == Some(Problem::Instrumented);
        self.launches += count;
        if let Some(time) = time {
            let sum = if instrumented { &mut self.instrumented } else { &mut self.measured };
            sum.add(time.get() * count as f64);
            self.timed_launches += u64::from(!instrumented) * count;
        }
        // The launch that stands for the kernel: the longest that really ran so.
        let length = time.filter(|_| !instrumented).map_or(0.0, Seconds::get);
        if length >= self.longest.1 {
            self.longest = (launch.row(), length);
        }
        for quantity in averaged {
            if let Some(value) = launch.value(*quantity) {
                let weight = time.map_or(UNTIMED, Seconds::get) * count as f64;
                self.average_of(*quantity).add(value, weight);
            }
        }
        self.advice.add(launch.advice(), count);
        self.without_peak = self.without_peak.or(judged.without_peak);
        self.without_bandwidth |= judged.without_bandwidth;
        self.algorithmic |= judged.algorithmic;
        let (Some(time), Some(times)) = (time, &judged.times) else {
            *self.problems.entry(judged.problem.unwrap_or(Problem::NoCounters)).or_default() +=
                count;
            self.rest.get_or_insert_default().counters(judged, count);
            return;
        };
        // They count in all sums: what is impossible is said, not left out.
        if times.is_faster {
            self.faster += count;
            self.faster_time.add(time.get() * count as f64);
        }
        self.judged.counters(judged, count);
        self.judged.times(times, time, count as f64);
    }

    /// Returns the average of a quantity so far.
    pub(super) fn average_of(&mut self, quantity: Quantity) -> &mut Average {
        let found = self.averages.iter().position(|entry| entry.quantity == quantity);
        let at = found.unwrap_or_else(|| {
            self.averages.push(Average::new(quantity));
            self.averages.len() - 1
        });
        &mut self.averages[at]
    }

    /// Returns the averages by quantity; the quantities are shared with the kernels before.
    pub(super) fn averages(&self, shared: &mut Shared<[Quantity]>) -> Averages {
        let known = self.averages.iter().filter_map(|one| Some((one.quantity, one.mean()?)));
        let (quantities, values): (Vec<Quantity>, Vec<f64>) = known.unzip();
        Averages::new(shared.of(&quantities), values.into())
    }
}

/// Time-weighted mean of a quantity.
#[derive(Debug, Clone)]
pub(super) struct Average {
    pub(super) quantity: Quantity,
    pub(super) sum: ExactSum,
    pub(super) weights: ExactSum,
    pub(super) least: f64,
    pub(super) greatest: f64,
}

impl Average {
    pub(super) fn new(quantity: Quantity) -> Self {
        let (sum, weights) = (ExactSum::default(), ExactSum::default());
        Self { quantity, sum, weights, least: f64::INFINITY, greatest: f64::NEG_INFINITY }
    }

    fn add(&mut self, value: f64, weight: f64) {
        self.sum.add(value * weight);
        self.weights.add(weight);
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
    }

    /// Returns the mean, clamped to its values: the mean of 68 and 68 SMs is 68, not 67.999….
    fn mean(&self) -> Option<f64> {
        let mean = self.sum.get() / self.weights.get();
        let is_known = self.weights.get() > 0.0 && self.least <= self.greatest;
        is_known.then(|| mean.clamp(self.least, self.greatest))
    }
}

impl Part {
    /// Returns `true` if some of its launches lack bytes or operations that others have.
    pub(super) fn is_partly_counted(&self) -> bool {
        let of_pipes = self.work.iter().map(|sum| sum.launches).filter(|_| self.has_all_pipes());
        let counts = of_pipes.chain([self.launches_with_bytes, self.launches_with_work]);
        // Launches in which nothing was counted are in neither sum.
        counts.filter(|launches| *launches > 0).any(|launches| launches < self.launches_counted)
    }

    /// Returns `true` if a launch has operations on every pipe: others lack the counter of a pipe. Else they may run
    /// on different pipes, each counted.
    pub(super) fn has_all_pipes(&self) -> bool {
        self.most_pipes >= self.work.len() as f64
    }

    /// Returns what its launches do not have in common; `None` if there is nothing of the kind.
    pub(super) fn doubt(&self) -> Option<Doubt> {
        let doubt = Doubt {
            is_partly_counted: self.is_partly_counted(),
            with_work: self.launches_with_work,
            has_all_pipes: self.has_all_pipes(),
            roofline_time_low: Seconds::new(self.roofline_time_low.get()),
        };
        let is_same = doubt.roofline_time_low.get() >= self.roofline_time.get();
        let of_all = self.work.first().map_or(0, |work| work.launches);
        let is_whole = doubt.has_all_pipes && !doubt.is_partly_counted && doubt.with_work == of_all;
        (!(is_whole && is_same)).then_some(doubt)
    }

    /// Returns the traffic at each level that was counted, beside device memory.
    pub(super) fn traffic(&self) -> Box<[LevelTraffic]> {
        let of = |(level, sum): (MemoryLevel, &Level)| {
            let is_counted = sum.launches > 0 && level != MemoryLevel::Dram;
            is_counted.then(|| LevelTraffic {
                level,
                bytes: Bytes::new(sum.bytes.get()),
                time: self.level_time(level),
                launches: sum.launches,
            })
        };
        MemoryLevel::ALL.into_iter().zip(&self.levels).filter_map(of).collect()
    }

    /// Returns the time of the traffic at a level; `None` if no launch has it.
    pub(super) fn level_time(&self, level: MemoryLevel) -> Option<Seconds> {
        let sum = &self.levels[level as usize];
        (sum.timed > 0).then(|| Seconds::new(sum.time.get()))
    }

    /// Returns `true` if a level other than DRAM has a time.
    pub(super) fn has_level_times(&self) -> bool {
        let mut levels = MemoryLevel::ALL.into_iter().filter(|level| *level != MemoryLevel::Dram);
        levels.any(|level| self.level_time(level).is_some())
    }

    /// Returns the memory roof where it is not the bytes over the time of the memory: other launches may have only the
    /// share of time in which DRAM was busy, and more may be known of a launch than a part of its bytes.
    pub(super) fn other_bandwidth(&self) -> Option<BytesPerSecond> {
        /// Sums of many launches are rounded.
        const SAME: f64 = 1e-6;
        let counted = self.bytes.get();
        let roof = counted / self.level_time(MemoryLevel::Dram)?.get();
        let quotient = counted / self.memory.get();
        let is_other = self.has_memory && counted > 0.0 && (quotient / roof - 1.0).abs() > SAME;
        is_other.then(|| BytesPerSecond::new(roof))
    }

    /// Returns the sums over the work on a pipe.
    pub(super) fn work_on(&mut self, pipe: Pipe) -> &mut PipeSum {
        let found = self.work.iter().position(|entry| entry.pipe == pipe);
        let at = found.unwrap_or_else(|| {
            let (operations, time) = (ExactSum::default(), ExactSum::default());
            self.work.push(PipeSum { pipe, operations, time, launches: 0 });
            self.work.len() - 1
        });
        &mut self.work[at]
    }

    fn times(&mut self, times: &Times, time: Seconds, count: f64) {
        let roofline_time = times.roofline_time;
        self.time.add(time.get() * count);
        self.roofline_time.add(roofline_time.value.get() * count);
        self.roofline_time_likely.add(roofline_time.likely.get() * count);
        self.roofline_time_high.add(roofline_time.high.get() * count);
        self.roofline_time_low.add(times.least.get() * count);
        self.structural.add(times.structural.get() * count);
        self.hierarchical.add(times.hierarchical.get() * count);
        self.savings_low.add(times.savings_low.get() * count);
        self.savings.add(times.savings.get() * count);
        self.savings_high.add(times.savings_high.get() * count);
        if roofline_time.value.get() > 0.0 {
            let headroom = roofline::headroom(time, roofline_time.value);
            let (low, high) = self.headrooms.unwrap_or((headroom, headroom));
            self.headrooms = Some((low.min(headroom), high.max(headroom)));
        }
    }

    fn counters(&mut self, judged: &Judged, launches: u64) {
        let count = launches as f64;
        self.launches += launches;
        if let Some(bytes) = judged.bytes {
            self.bytes.add(bytes.get() * count);
            self.launches_with_bytes += launches;
        }
        let is_counted = judged.bytes.is_some() || !judged.work.is_empty();
        self.launches_counted += if is_counted { launches } else { 0 };
        self.launches_with_work += if judged.work.is_empty() { 0 } else { launches };
        self.most_pipes = self.most_pipes.max(judged.work.len() as f64);
        for work in &judged.work {
            let sum = self.work_on(work.pipe);
            sum.operations.add(work.operations.get() * count);
            sum.time.add(work.time.get() * count);
            sum.launches += launches;
        }
        let side = |sum: &mut ExactSum, has: &mut bool, time: Option<Seconds>| {
            if let Some(time) = time {
                sum.add(time.get() * count);
                *has = true;
            }
        };
        self.uncounted = self.uncounted.max(judged.uncounted);
        self.by_utilization |= judged.by_utilization;
        self.math_by_utilization |= judged.math_by_utilization;
        // A side that is only bounded from above is not known.
        let known = |interval: Option<Interval>| {
            interval.filter(|interval| interval.is_known).map(|interval| interval.value)
        };
        side(&mut self.memory, &mut self.has_memory, known(judged.memory));
        side(&mut self.math, &mut self.has_math, known(judged.math));
        for (sum, traffic) in self.levels.iter_mut().zip(&judged.levels) {
            let Some(traffic) = traffic else { continue };
            sum.bytes.add(traffic.bytes.get() * count);
            sum.launches += launches;
            if let Some(time) = traffic.time {
                sum.time.add(time.get() * count);
                sum.timed += launches;
            }
        }
        if let Some(time) = judged.tensor_activity {
            self.tensor_activity.add(time.get() * count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_equal_values_is_that_value() {
        for value in [68.0, 132.0, 196.0, 0.1] {
            let mut average = Average::new(Quantity::SmCount);
            assert_eq!(average.mean(), None);
            for launch in 1..200 {
                average.add(value, 1.1e-5 / f64::from(launch));
                assert_eq!(average.mean(), Some(value));
            }
        }
    }

    /// Clocks in GHz: a millisecond at 1.4, and a launch of which nobody knows how long it ran.
    #[test]
    fn launches_without_a_duration_weigh_only_where_all_have_none() {
        let mut average = Average::new(Quantity::SmClock);
        average.add(0.7, UNTIMED);
        average.add(1.3, 3.0 * UNTIMED);
        assert!((average.mean().unwrap() - 1.15).abs() < 1e-12, "{:?}", average.mean());
        average.add(1.4, 1e-3);
        assert!((average.mean().unwrap() - 1.4).abs() < 1e-12, "{:?}", average.mean());
    }
}
