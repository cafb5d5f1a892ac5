//! A rank with its sums, and the time of a kernel over many ranks.

use std::fmt;
use std::sync::Arc;

use super::sketch::Sketch;
use crate::units::{Hertz, Seconds, median};

/// A rank of a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RankId {
    /// Name of the run.
    pub run: Arc<str>,
    /// Number of the rank.
    pub rank: u64,
}

impl fmt::Display for RankId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.run, self.rank)
    }
}

/// The time of one kernel in each of several ranks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KernelRanks {
    /// Rank with the least time, and that time; a rank without a time for the kernel is none.
    pub least: Option<(RankId, Seconds)>,
    /// Rank with the largest time, and that time; of equal ones the first rank.
    pub greatest: Option<(RankId, Seconds)>,
    /// Distribution of the times over the ranks, as far as they are no longer in `times`.
    sketch: Option<Sketch>,
    /// The times as they are, in order, while there are few.
    times: Vec<f64>,
}

/// A rank with a time in seconds.
type End = Option<(RankId, f64)>;

/// The figures of one rank.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankFigures {
    /// Number of launches.
    pub launches: u64,
    /// Measured time.
    pub measured: Seconds,
    /// Part of it in communication and copies over links.
    pub communication: Seconds,
    /// Measured time that is compared with roofs, without kernels faster than the model allows.
    pub judged: Seconds,
    /// Roofline time of that part.
    pub roofline: Seconds,
    /// Operations of all launches.
    pub operations: f64,
    /// Bytes of all launches.
    pub bytes: f64,
    /// Average SM clock, weighted by time; `None` if no launch has one.
    pub clock: Option<Hertz>,
    /// Names of its devices.
    pub devices: Arc<[String]>,
}

impl KernelRanks {
    /// Ranks whose times are kept as they are.
    const FEW: usize = 4096;

    pub(super) fn of(rank: &RankId, time: Seconds) -> Self {
        // A rank without a time for a kernel is neither its fastest nor its slowest.
        let end = (time > Seconds::ZERO).then(|| (rank.clone(), time));
        Self { least: end.clone(), greatest: end, sketch: None, times: vec![time.get()] }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        let less = |one: &(RankId, Seconds), two: &(RankId, Seconds)| {
            one.1.total_cmp(&two.1).then_with(|| one.0.cmp(&two.0)).is_lt()
        };
        let more = |one: &(RankId, Seconds), two: &(RankId, Seconds)| {
            two.1.total_cmp(&one.1).then_with(|| one.0.cmp(&two.0)).is_lt()
        };
        if let Some(new) = &other.least
            && self.least.as_ref().is_none_or(|known| less(new, known))
        {
            self.least = Some(new.clone());
        }
        if let Some(new) = &other.greatest
            && self.greatest.as_ref().is_none_or(|known| more(new, known))
        {
            self.greatest = Some(new.clone());
        }
        if let Some(sketch) = &other.sketch {
            self.sketched().merge(sketch);
        }
        self.times.extend_from_slice(&other.times);
        if self.sketch.is_some() || self.times.len() > Self::FEW {
            self.sketched();
        } else {
            self.times.sort_by(f64::total_cmp);
        }
    }

    /// Moves the times into the sketch.
    fn sketched(&mut self) -> &mut Sketch {
        let sketch = self.sketch.get_or_insert_default();
        for time in self.times.drain(..) {
            sketch.add(Seconds::new(time), 1);
        }
        sketch
    }

    /// Returns the least and the greatest time with their ranks, times that are kept as they are, and the others.
    #[must_use]
    pub fn into_parts(self) -> (End, End, Vec<f64>, Option<Sketch>) {
        let end = |end: Option<(RankId, Seconds)>| end.map(|(id, time)| (id, time.get()));
        (end(self.least), end(self.greatest), self.times, self.sketch)
    }

    /// Makes it of what [`KernelRanks::into_parts`] returned.
    #[must_use]
    pub fn from_parts(least: End, greatest: End, times: Vec<f64>, sketch: Option<Sketch>) -> Self {
        let end = |end: End| {
            end.filter(|(_, time)| *time > 0.0).map(|(id, time)| (id, Seconds::new(time)))
        };
        Self { least: end(least), greatest: end(greatest), sketch, times }
    }

    /// Returns the number of ranks.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.sketch.as_ref().map_or(0, Sketch::count) + self.times.len() as u64
    }

    /// Returns `true` if the median is sketched, within 1%.
    #[must_use]
    pub fn is_sketched(&self) -> bool {
        self.sketch.is_some()
    }

    /// Returns the median over the ranks that have a time.
    #[must_use]
    pub fn median(&self) -> Option<Seconds> {
        if let Some(sketch) = &self.sketch {
            return sketch.median();
        }
        let known = &self.times[self.times.partition_point(|time| *time <= 0.0)..];
        median(known).map(Seconds::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three ranks take 4, 2 and 6 s; two have launches without a time.
    #[test]
    fn a_rank_without_a_time_is_no_end_and_not_in_the_median() {
        let id = |rank| RankId { run: "run".into(), rank };
        let mut all = KernelRanks::default();
        for (rank, time) in [4.0, 0.0, 2.0, 6.0, 0.0].into_iter().enumerate() {
            all.merge(&KernelRanks::of(&id(rank as u64), Seconds::new(time)));
        }
        let end =
            |end: &Option<(RankId, Seconds)>| end.as_ref().map(|(id, time)| (id.rank, time.get()));
        assert_eq!((end(&all.least), end(&all.greatest)), (Some((2, 2.0)), Some((3, 6.0))));
        assert_eq!((all.count(), all.median()), (5, Some(Seconds::new(4.0))));
        let none = KernelRanks::of(&id(0), Seconds::ZERO);
        assert_eq!((none.least.clone(), none.median(), none.count()), (None, None, 1));
    }
}
