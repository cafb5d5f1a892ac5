//! What the kernels of a run add up to.

use std::collections::BTreeMap;

use super::Analysis;
use super::confidence::Confidence;
use super::kernel::{Kernel, State};
use super::partition::Partition;
use super::ranking::rank;
use crate::roofline::{self, Limiter};
use crate::units::Seconds;

/// Sums over all kernels.
#[derive(Debug, Clone, Default)]
pub struct Totals {
    /// Executions, after separate runs were joined.
    pub launches: u64,
    /// Executions that have a duration.
    pub timed_launches: u64,
    /// Kernels.
    pub kernels: usize,
    /// GPU time: the sum of all durations. Launches are serialized by counters, so there are no gaps.
    pub measured: Seconds,
    /// Time that was taken while kernels ran instrumented; in no other sum.
    pub instrumented: Seconds,
    /// Time of the kernels the model says something about.
    pub modeled: Seconds,
    /// Their expected time.
    pub roofline_time: Seconds,
    /// The most their expected time is likely to be.
    pub roofline_time_likely: Seconds,
    /// The most their expected time can be, given what was not counted.
    pub roofline_time_high: Seconds,
    /// Time of the kernels judged with each confidence, in the order of [`Confidence::ALL`].
    pub(crate) graded: [Seconds; Confidence::ALL.len()],
    /// What is won if rewrites of all kernels only just come near their roofs: the pessimistic end.
    pub savings_low: Seconds,
    /// What better implementations can win realistically, of all kernels that were judged.
    pub savings: Seconds,
    /// The part of it that is likely, not certain.
    pub savings_likely: Seconds,
    /// At most what is above the expectation in kernels of which nothing shows that it can be won; in no other
    /// sum.
    pub savings_unproven: Seconds,
    /// The same against ideal roofs: the optimistic end.
    pub savings_high: Seconds,
    /// Time of kernels the export does not allow to judge.
    pub unmodeled: Seconds,
    /// The measured time, divided into parts that add up to it.
    pub parts: Partition,
    /// Kernels and time per state.
    pub states: BTreeMap<State, (usize, Seconds)>,
    /// How many of the first kernels bring 80% of the savings.
    pub kernels_for_80_percent: usize,
}

impl Totals {
    /// Measured over expected time of everything that was modeled.
    #[must_use]
    pub fn headroom(&self) -> Option<f64> {
        (self.roofline_time.get() > 0.0).then(|| self.modeled / self.roofline_time)
    }

    /// Time of the kernels that were judged with this confidence.
    #[must_use]
    pub const fn graded(&self, confidence: Confidence) -> Seconds {
        self.graded[confidence as usize]
    }

    /// Speed-up of the whole profile if [`Totals::savings`] is won.
    #[must_use]
    pub fn run_speedup(&self) -> f64 {
        roofline::run_speedup(self.measured, self.savings)
    }

    /// Adds ranked kernels up, and tells each how much of what can be won the first of them hold.
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
                    self.roofline_time += kernel.roofline_time.unwrap_or(Seconds::ZERO);
                    self.roofline_time_likely +=
                        at_most_measured(kernel, kernel.roofline_time_likely);
                    self.roofline_time_high += at_most_measured(kernel, kernel.roofline_time_high);
                }
                _ => {}
            }
            if let Some(confidence) = kernel.confidence {
                self.graded[confidence as usize] += kernel.measured;
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

    /// The share of the savings that each kernel and those above it hold. The same sums in
    /// the same order make the total, so that the last share is exactly 1.
    fn cover(&mut self, kernels: &mut [Kernel]) {
        /// Pareto's share: where most teams stop.
        const MOST: f64 = 0.8;
        let mut won = Seconds::ZERO;
        for kernel in kernels {
            if !kernel.has_savings() || kernel.savings <= Seconds::ZERO {
                kernel.coverage = None;
                continue;
            }
            self.kernels_for_80_percent += usize::from(won / self.savings < MOST);
            won += kernel.savings;
            kernel.coverage = Some(won / self.savings);
        }
    }
}

impl Analysis {
    /// Ranks and adds up again after a change of what kernels can win.
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

    /// Leaves of the savings of kernels whose launches leave units idle (limiter `latency`) what sure causes
    /// account for: so much time each, by position. Without one, at most what lies above the expected
    /// time is left, apart. Tells whether anything changed.
    pub(crate) fn leave_sure(&mut self, accounted: impl Fn(usize) -> Seconds) -> bool {
        let mut has_changed = false;
        for (position, kernel) in self.kernels.iter_mut().enumerate() {
            let is_open = kernel.limiter == Limiter::Latency && kernel.has_savings();
            let accounted = accounted(position);
            if is_open && kernel.savings > accounted {
                kernel.is_winnable = accounted > Seconds::ZERO;
                kernel.savings = accounted;
                kernel.savings_low = kernel.savings_low.min(accounted);
                kernel.run_speedup = roofline::run_speedup(self.totals.measured, accounted);
                has_changed = true;
            }
        }
        if has_changed {
            self.rank_again();
        }
        has_changed
    }
}

/// No kernel needs longer than it took: what nothing bounds is bounded by the measured time.
fn at_most_measured(kernel: &Kernel, bound: Option<Seconds>) -> Seconds {
    let bound = bound.unwrap_or(kernel.modeled).min(kernel.modeled);
    bound.max(kernel.roofline_time.unwrap_or_default())
}
