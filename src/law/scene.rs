//! What a launch is judged by: its roofs, its profiler, and how busy its units were.

use super::ceilings::CeilingSet;
use super::reading::Reading;
use super::roofs::Roofs;
use crate::model::Quantity;
use crate::roofline;
use crate::scalar::{Maybe, Number};

/// Properties of the profiler that measured a launch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instrument<N: Number> {
    /// Least cost of a launch as the profiler measures it.
    pub(crate) fixed_cost: N,
    /// Whether what it does not count was not done, where it counts nothing at all.
    pub(crate) whole_counts: N::Truth,
    /// Whether its counts are those of selected counters, rather than of all work of a kernel (a user's own columns).
    pub(crate) selects: N::Truth,
}

impl<N: Number> Instrument<N> {
    /// Returns the properties of a profiler: whether it is Nsight Compute, and whether counters are selected for it.
    pub(crate) fn of(is_nsight_compute: N::Truth, selects: N::Truth) -> Self {
        let counting = || N::of(roofline::LAUNCH_COST_COUNTERS.get());
        let other = || N::of(roofline::LAUNCH_COST_TIMELINE.get());
        Self {
            fixed_cost: N::select(is_nsight_compute, counting, other),
            whole_counts: !is_nsight_compute,
            selects,
        }
    }
}

/// Inputs for judging a launch.
pub(super) struct Scene<'a, N: Number, R> {
    pub(super) launch: &'a R,
    pub(super) roofs: &'a Roofs<N>,
    pub(super) set: N::Choice<CeilingSet>,
    /// Missing if it was not measured, or only while instrumented.
    pub(super) time: Maybe<N, N>,
}

impl<N: Number, R: Reading<N>> Scene<'_, N, R> {
    /// Returns the time for which a unit was as busy as at its peak.
    #[inline]
    pub(super) fn busy(&self, quantity: Quantity) -> Maybe<N, N> {
        self.launch.value(quantity).zip(self.time).map(|(share, time)| time * share)
    }

    /// Returns the busy time of DRAM, whose share includes commands and turnarounds besides data.
    pub(super) fn dram_busy(&self) -> Maybe<N, N> {
        let busy = self.busy(Quantity::DramThroughput);
        busy.map(|busy| self.roofs.activity_at_dram(self.launch, busy, self.set))
    }

    /// Returns the busy time of the busiest SM unit.
    pub(super) fn sm_busy(&self) -> Maybe<N, N> {
        let busy = self.busy(Quantity::SmThroughput);
        busy.map(|busy| self.roofs.activity_at_sm(self.launch, busy, self.set))
    }

    /// Returns the busy time of the busiest unit, be it of the SMs or of the memory system: counted bytes do not show
    /// all that keeps a cache busy.
    pub(super) fn units_busy(&self) -> Maybe<N, N> {
        let sm = self.sm_busy().or_else(|| self.pipes_busy());
        let memory = self.busy(Quantity::MemoryThroughput);
        let memory = memory.or_else(|| self.busy(Quantity::L2Throughput));
        longer(sm, memory)
    }

    /// Returns the busy time of the busiest pipe or issue slot in the export; others may be busier.
    pub(super) fn pipes_busy(&self) -> Maybe<N, N> {
        /// Units of an SM; shares of active cycles are at least those of elapsed ones.
        const UNITS: [Quantity; 7] = [
            Quantity::IssueActive,
            Quantity::PipeFma,
            Quantity::PipeAlu,
            Quantity::PipeFp64,
            Quantity::PipeFp16,
            Quantity::PipeXu,
            Quantity::PipeLsu,
        ];
        let busy = UNITS.into_iter().map(|unit| self.busy(unit)).fold(Maybe::missing(), longer);
        busy.map(|busy| self.roofs.activity_at_sm(self.launch, busy, self.set))
    }
}

/// The longer of two times that may be missing.
fn longer<N: Number>(one: Maybe<N, N>, other: Maybe<N, N>) -> Maybe<N, N> {
    Maybe::when(one.is | other.is, || {
        let time = |one: Maybe<N, N>| one.unwrap_or(N::of(0.0));
        time(one).max(time(other))
    })
}
