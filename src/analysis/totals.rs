//! Totals of a run.

use std::collections::BTreeMap;

use super::Analysis;
use super::confidence::Confidence;
use super::kernel::most_headroom;
use super::partition::Partition;
use super::ranking::rank;
use super::{Kernel, State};
use crate::roofline::{self, Limiter};
use crate::units::{Seconds, Share};

/// Sums over all kernels.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// Number of launches, after separate runs were joined.
    pub launches: u64,
    /// Number of launches that have a duration.
    pub timed_launches: u64,
    /// Number of kernels.
    pub kernels: usize,
    /// GPU time: the sum of all durations. Launches are serialized by counters, so there are no gaps.
    pub measured: Seconds,
    /// Time measured while kernels were instrumented; in no other sum.
    pub instrumented: Seconds,
    /// Measured time of the kernels that the model covers.
    pub modeled: Seconds,
    /// Roofline time of these kernels.
    pub roofline_time: Seconds,
    /// Lower bound of their roofline time: without what kept the SMs busy and was not counted.
    pub roofline_time_low: Seconds,
    /// Likely upper bound of their roofline time.
    pub roofline_time_likely: Seconds,
    /// Upper bound of their roofline time, given what was not counted.
    pub roofline_time_high: Seconds,
    /// Time of the kernels judged with each confidence, in the order of [`Confidence::ALL`].
    pub(crate) graded: [Seconds; Confidence::ALL.len()],
    /// Pessimistic savings, if rewrites of all kernels only just come near their roofs.
    pub savings_low: Seconds,
    /// Realistic savings of better implementations, over all judged kernels.
    pub savings: Seconds,
    /// Part of the savings that is likely, not certain.
    pub savings_likely: Seconds,
    /// Optimistic savings of kernels without evidence that they can be realized; in no other sum.
    pub savings_unproven: Seconds,
    /// Optimistic savings, if all kernels reach their ideal roofs.
    pub savings_high: Seconds,
    /// Time of kernels with not enough data, and of launches without it of other kernels.
    pub unmodeled: Seconds,
    /// The measured time, divided into parts that add up to it.
    pub parts: Partition,
    /// Number of kernels and their time per state.
    pub states: BTreeMap<State, (usize, Seconds)>,
    /// Number of top kernels that provide 80% of the savings.
    pub kernels_for_80_percent: usize,
}

impl Totals {
    /// Returns measured over roofline time of all kernels that the model covers.
    #[must_use]
    pub fn headroom(&self) -> Option<f64> {
        (self.roofline_time.get() > 0.0).then(|| self.modeled / self.roofline_time)
    }

    /// Returns the most and the least that it can be; equal where all work was counted. See [`Kernel::headroom_ends`].
    #[must_use]
    pub fn headroom_ends(&self) -> Option<(f64, f64)> {
        let most = most_headroom(self.modeled, self.roofline_time, self.roofline_time_low);
        (self.roofline_time > Seconds::ZERO).then(|| (most, self.modeled / self.roofline_time_high))
    }

    /// Returns the time of the launches that the model covers, of kernels judged with this confidence.
    #[must_use]
    pub const fn graded(&self, confidence: Confidence) -> Seconds {
        self.graded[confidence as usize]
    }

    /// Returns a time as a share of the measured time; zero if nothing was measured.
    #[must_use]
    pub fn share(&self, time: Seconds) -> f64 {
        if self.measured > Seconds::ZERO { time / self.measured } else { 0.0 }
    }

    /// Returns the speedup of the whole profile if these savings are realized.
    #[must_use]
    pub fn run_speedup(&self, savings: Seconds) -> f64 {
        roofline::run_speedup(self.measured, savings)
    }

    /// Sums ranked kernels, and sets the cumulative share of the savings of each.
    pub(super) fn sum_up(&mut self, kernels: &mut [Kernel]) {
        self.kernels = kernels.len();
        for kernel in kernels.iter() {
            let entry = self.states.entry(kernel.state).or_insert((0, Seconds::ZERO));
            entry.0 += 1;
            entry.1 += kernel.measured;
            self.parts.add(kernel);
            match kernel.state {
                State::NotEnoughData => self.unmodeled += kernel.measured,
                state if state.is_modeled() => {
                    self.modeled += kernel.modeled;
                    if let Some(confidence) = kernel.confidence {
                        self.graded[confidence as usize] += kernel.modeled;
                    }
                    // Of some of its launches neither work nor bytes are known.
                    self.unmodeled += kernel.unmodeled();
                    self.roofline_time += kernel.roofline_time.unwrap_or(Seconds::ZERO);
                    self.roofline_time_low += kernel.least_roofline_time().unwrap_or_default();
                    self.roofline_time_likely +=
                        at_most_measured(kernel, kernel.roofline_time_likely);
                    self.roofline_time_high += at_most_measured(kernel, kernel.roofline_time_high);
                }
                _ => {}
            }
            if kernel.has_savings() {
                self.savings_low += kernel.savings_low;
                self.savings += kernel.savings;
                self.savings_high += kernel.savings_high;
                if kernel.has_likely_savings() {
                    self.savings_likely += kernel.savings;
                }
            } else if kernel.is_unproven() {
                self.savings_unproven += kernel.savings_high;
            }
        }
        self.cover(kernels);
    }

    /// Sets the cumulative share of the savings of each kernel. The total is the same sum in the
    /// same order, so that the last share is exactly 1.
    fn cover(&mut self, kernels: &mut [Kernel]) {
        /// Pareto's share, at which most teams stop.
        const MOST: f64 = 0.8;
        let mut won = Seconds::ZERO;
        for kernel in kernels {
            if !kernel.has_savings() || kernel.savings <= Seconds::ZERO {
                kernel.coverage = None;
                continue;
            }
            self.kernels_for_80_percent += usize::from(won / self.savings < MOST);
            won += kernel.savings;
            kernel.coverage = Some(Share::new(won / self.savings));
        }
    }
}

impl Analysis {
    /// Ranks and sums again after the savings of kernels changed.
    pub(super) fn rank_again(&mut self) {
        rank(&mut self.kernels);
        let whole = &self.totals;
        self.totals = Totals {
            launches: whole.launches,
            timed_launches: whole.timed_launches,
            measured: whole.measured,
            instrumented: whole.instrumented,
            ..Totals::default()
        };
        self.totals.sum_up(&mut self.kernels);
        self.sum_groups();
    }

    /// Limits the savings of kernels whose launches leave units idle (limiter `latency`) to the
    /// time that certain causes account for, given by position. Without such a cause only unproven
    /// savings remain. Returns `true` if anything changed.
    pub(crate) fn leave_sure(&mut self, accounted: impl Fn(usize) -> Seconds) -> bool {
        let mut has_changed = false;
        for (position, kernel) in self.kernels.iter_mut().enumerate() {
            let is_open = kernel.limiter == Limiter::Latency && kernel.has_savings();
            let accounted = accounted(position);
            if is_open && kernel.savings > accounted {
                kernel.is_winnable = accounted > Seconds::ZERO;
                kernel.savings = accounted;
                kernel.savings_low = kernel.savings_low.min(accounted);
                has_changed = true;
            }
        }
        if has_changed {
            self.rank_again();
        }
        has_changed
    }
}

/// Caps a bound at the measured time, because no kernel needs longer than it took.
fn at_most_measured(kernel: &Kernel, bound: Option<Seconds>) -> Seconds {
    let bound = bound.unwrap_or(kernel.modeled).min(kernel.modeled);
    bound.max(kernel.roofline_time.unwrap_or_default())
}
