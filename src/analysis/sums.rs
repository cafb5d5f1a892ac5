//! Adds the launches of a kernel up: sums first, ratios afterwards.

use std::collections::BTreeMap;

use super::law::{Judged, Problem};
use crate::model::{Launch, Pipe, Quantity};
use crate::units::{ExactSum, Seconds};

/// The launches of one kernel so far.
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) launches: u64,
    pub(super) timed_launches: u64,
    /// Time of all launches, instrumented ones included.
    pub(super) measured: ExactSum,
    /// Time of the launches the model says something about.
    pub(super) modelled: ExactSum,
    pub(super) expected: ExactSum,
    pub(super) expected_low: ExactSum,
    pub(super) expected_high: ExactSum,
    pub(super) structural: ExactSum,
    pub(super) memory: ExactSum,
    pub(super) math: ExactSum,
    pub(super) l2: ExactSum,
    pub(super) has_memory: bool,
    pub(super) has_math: bool,
    pub(super) has_l2: bool,
    pub(super) tensor_activity: ExactSum,
    pub(super) bytes: ExactSum,
    pub(super) launches_with_bytes: u64,
    pub(super) work: Vec<(Pipe, ExactSum, ExactSum)>,
    pub(super) recoverable: ExactSum,
    pub(super) recoverable_upper: ExactSum,
    pub(super) problems: BTreeMap<Problem, u64>,
    pub(super) without_peak: Option<Pipe>,
    pub(super) without_bandwidth: bool,
    pub(super) algorithmic: bool,
    averages: Vec<(Quantity, ExactSum, ExactSum)>,
    pub(super) longest: (usize, f64),
}

impl Sums {
    /// Adds a launch; `averaged` are the quantities of the profile that do not add up.
    pub(super) fn add(&mut self, launch: &Launch<'_>, judged: &Judged, averaged: &[Quantity]) {
        let count = f64::from(launch.head.count);
        let time = launch.duration().map(|(time, _)| time);
        self.launches += u64::from(launch.head.count);
        if let Some(time) = time {
            self.measured.add(time.get() * count);
            self.timed_launches += u64::from(launch.head.count);
        }
        if time.map_or(0.0, Seconds::get) >= self.longest.1 {
            self.longest = (launch.row(), time.map_or(0.0, Seconds::get));
        }
        for quantity in averaged {
            if let Some(value) = launch.value(*quantity) {
                let weight = time.map_or(1.0, Seconds::get) * count;
                match self.averages.iter_mut().find(|entry| entry.0 == *quantity) {
                    Some((_, sum, weights)) => {
                        sum.add(value * weight);
                        weights.add(weight);
                    }
                    None => {
                        let (mut sum, mut weights) = (ExactSum::default(), ExactSum::default());
                        sum.add(value * weight);
                        weights.add(weight);
                        self.averages.push((*quantity, sum, weights));
                    }
                }
            }
        }
        self.counters(judged, count);
        if let Some(problem) = judged.problem {
            *self.problems.entry(problem).or_default() += u64::from(launch.head.count);
            return;
        }
        let (Some(time), Some(expected)) = (time, judged.expected()) else { return };
        self.modelled.add(time.get() * count);
        self.expected.add(expected.value.get() * count);
        self.expected_low.add(expected.low.get() * count);
        self.expected_high.add(expected.high.get() * count);
        // What was not counted may be needed too: then it cannot be won.
        let bound = if expected.high.get().is_finite() { expected.high } else { expected.value };
        let structural = judged.structural.unwrap_or(expected.value).max(bound);
        self.structural.add(structural.get() * count);
        self.recoverable.add(crate::roofline::recoverable(time, structural).get() * count);
        self.recoverable_upper
            .add(crate::roofline::recoverable(time, expected.value).get() * count);
    }

    fn counters(&mut self, judged: &Judged, count: f64) {
        if let Some(bytes) = judged.bytes {
            self.bytes.add(bytes.get() * count);
            self.launches_with_bytes += count as u64;
        }
        for work in &judged.work {
            match self.work.iter_mut().find(|entry| entry.0 == work.pipe) {
                Some((_, operations, time)) => {
                    operations.add(work.operations.get() * count);
                    time.add(work.time.get() * count);
                }
                None => {
                    let (mut operations, mut time) = (ExactSum::default(), ExactSum::default());
                    operations.add(work.operations.get() * count);
                    time.add(work.time.get() * count);
                    self.work.push((work.pipe, operations, time));
                }
            }
        }
        let side = |sum: &mut ExactSum, has: &mut bool, time: Option<Seconds>| {
            if let Some(time) = time {
                sum.add(time.get() * count);
                *has = true;
            }
        };
        // A side that is only bounded from above is not known.
        let known = |interval: Option<super::law::Interval>| {
            interval.filter(|i| i.value.get() > 0.0 || i.high.get() == 0.0)
        };
        side(
            &mut self.memory,
            &mut self.has_memory,
            known(judged.memory).map(|memory| memory.value),
        );
        side(&mut self.math, &mut self.has_math, known(judged.math).map(|math| math.value));
        side(&mut self.l2, &mut self.has_l2, judged.l2);
        if let Some(time) = judged.tensor_activity {
            self.tensor_activity.add(time.get() * count);
        }
        self.without_peak = self.without_peak.or(judged.without_peak);
        self.without_bandwidth |= judged.without_bandwidth;
        self.algorithmic |= judged.algorithmic;
    }

    /// The averages, by quantity.
    pub(super) fn averages(&self) -> Vec<(Quantity, f64)> {
        self.averages
            .iter()
            .filter(|(_, _, weights)| weights.get() > 0.0)
            .map(|(quantity, sum, weights)| (*quantity, sum.get() / weights.get()))
            .collect()
    }
}
