//! The totals in the JSON report.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::positive;
use crate::analysis::{Confidence, Segment, Totals};

#[derive(Serialize, JsonSchema)]
pub(in crate::report) struct TotalsDocument {
    /// Number of launches.
    launches: u64,
    /// Number of launches that have a duration.
    timed_launches: u64,
    /// Number of kernels.
    kernels: usize,
    /// `null` if no launch has a duration.
    pub(in crate::report) measured_s: Option<f64>,
    /// Measured time that the model covers; the next keys refer to it.
    judged_s: f64,
    /// Roofline time of the judged launches; `null` if there are none.
    roofline_s: Option<f64>,
    /// `judged_s` over `roofline_s`.
    headroom: Option<f64>,
    /// Realistic savings of better implementations over all judged kernels, independent of the
    /// threshold; `null` if the model covers no kernel.
    pub(in crate::report) savings_s: Option<f64>,
    /// Part of `savings_s` that is likely, not certain.
    savings_likely_s: Option<f64>,
    /// Optimistic savings of kernels without evidence that they can be realized; in no other sum.
    savings_unproven_s: Option<f64>,
    /// Pessimistic savings.
    savings_low_s: Option<f64>,
    /// Optimistic savings.
    savings_high_s: Option<f64>,
    /// Speedup of the whole run if `savings_s` is realized.
    run_speedup: Option<f64>,
    /// Measured time that the model does not cover.
    not_judged_s: f64,
    /// Part of `judged_s` of kernels whose verdict is certain.
    certain_s: f64,
    /// The same where it is likely.
    likely_s: f64,
    /// The same where it is possible.
    possible_s: f64,
    /// Time measured while kernels were instrumented; in no other sum.
    instrumented_s: f64,
    /// Likely upper bound of `roofline_s`.
    roofline_likely_s: Option<f64>,
    /// Upper bound of `roofline_s`, given what was not counted; `null` if it is unbounded.
    roofline_high_s: Option<f64>,
    /// Number of top kernels that provide 80% of the savings.
    kernels_for_80_percent: usize,
    /// `measured_s`, divided into parts that add up to it: those with time in them, from the roofline outward; empty if no
    /// launch has a duration.
    time_parts: Vec<TimePartDocument>,
    /// Number of kernels and their time per state.
    states: BTreeMap<String, StateDocument>,
}

#[derive(Serialize, JsonSchema)]
struct TimePartDocument {
    /// `roofline`, `gap`, `savings`, `unproven`, `waived`, `launch_bound`, `cache_resident`, `communication_copy`,
    /// `faster_than_roofline` or `not_enough_data`.
    part: &'static str,
    /// The same in words.
    label: &'static str,
    /// Time of the part.
    measured_s: f64,
    /// Share of the run.
    share: f64,
}

#[derive(Serialize, JsonSchema)]
struct StateDocument {
    /// Number of kernels in this state.
    kernels: usize,
    /// Their measured time; `null` if none of them has a duration.
    measured_s: Option<f64>,
}

pub(in crate::report) fn document(totals: &Totals) -> TotalsDocument {
    let modeled = totals.modeled.get() > 0.0;
    TotalsDocument {
        launches: totals.launches,
        timed_launches: totals.timed_launches,
        kernels: totals.kernels,
        measured_s: positive(totals.measured),
        judged_s: totals.modeled.get(),
        roofline_s: positive(totals.roofline_time),
        headroom: totals.headroom(),
        savings_s: modeled.then(|| totals.savings.get()),
        savings_likely_s: modeled.then(|| totals.savings_likely.get()),
        savings_unproven_s: modeled.then(|| totals.savings_unproven.get()),
        savings_low_s: modeled.then(|| totals.savings_low.get()),
        savings_high_s: modeled.then(|| totals.savings_high.get()),
        run_speedup: modeled.then(|| totals.run_speedup(totals.savings)),
        not_judged_s: totals.unmodeled.get(),
        certain_s: totals.graded(Confidence::Certain).get(),
        likely_s: totals.graded(Confidence::Likely).get(),
        possible_s: totals.graded(Confidence::Possible).get(),
        instrumented_s: totals.instrumented.get(),
        roofline_likely_s: positive(totals.roofline_time_likely).filter(|time| time.is_finite()),
        roofline_high_s: positive(totals.roofline_time_high).filter(|time| time.is_finite()),
        kernels_for_80_percent: totals.kernels_for_80_percent,
        time_parts: totals.parts.segments().map(part).collect(),
        states: totals
            .states
            .iter()
            .map(|(state, (kernels, time))| {
                (
                    state.key().to_owned(),
                    StateDocument { kernels: *kernels, measured_s: positive(*time) },
                )
            })
            .collect(),
    }
}

fn part(segment: Segment) -> TimePartDocument {
    TimePartDocument {
        part: segment.part.key(),
        label: segment.part.label(),
        measured_s: segment.time.get(),
        share: segment.share,
    }
}
