//! The sums of the report for programs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::positive;
use crate::analysis::{Confidence, Totals};

#[derive(Serialize, JsonSchema)]
pub(super) struct TotalsDocument {
    launches: u64,
    /// Launches that have a duration.
    timed_launches: u64,
    kernels: usize,
    /// `null` if no launch has a duration.
    measured_s: Option<f64>,
    modelled_s: f64,
    expected_s: Option<f64>,
    headroom: Option<f64>,
    /// What better implementations can win of all kernels that were judged, whatever the threshold; `null` if
    /// nothing could be modelled.
    recoverable_s: Option<f64>,
    /// The part of `recoverable_s` that is likely, not certain.
    recoverable_likely_s: Option<f64>,
    /// At most what lies above the expected time of kernels of which nothing shows that it can be won; in no
    /// other sum.
    recoverable_unproven_s: Option<f64>,
    /// The pessimistic end.
    recoverable_low_s: Option<f64>,
    /// The optimistic end.
    recoverable_upper_s: Option<f64>,
    /// Speed-up of the whole run if `recoverable_s` is won.
    gain: Option<f64>,
    unmodelled_s: f64,
    /// Time of the kernels whose verdict is certain.
    certain_s: f64,
    /// Time of the kernels whose verdict is likely.
    likely_s: f64,
    /// Time of the kernels whose verdict is possible.
    possible_s: f64,
    /// Time taken while kernels ran instrumented; in no other sum.
    instrumented_s: f64,
    /// The most `expected_s` is likely to be.
    expected_likely_s: Option<f64>,
    /// The most `expected_s` can be, given what was not counted; `null` if nothing bounds it.
    expected_high_s: Option<f64>,
    /// How many of the first kernels bring 80 % of the recoverable time.
    kernels_for_80_percent: usize,
    /// Kernels and time per state.
    states: BTreeMap<String, StateDocument>,
}

#[derive(Serialize, JsonSchema)]
struct StateDocument {
    kernels: usize,
    measured_s: f64,
}

pub(super) fn document(totals: &Totals) -> TotalsDocument {
    let modelled = totals.modelled.get() > 0.0;
    TotalsDocument {
        launches: totals.launches,
        timed_launches: totals.timed_launches,
        kernels: totals.kernels,
        measured_s: positive(totals.measured),
        modelled_s: totals.modelled.get(),
        expected_s: positive(totals.expected),
        headroom: totals.headroom(),
        recoverable_s: modelled.then(|| totals.recoverable.get()),
        recoverable_likely_s: modelled.then(|| totals.recoverable_likely.get()),
        recoverable_unproven_s: modelled.then(|| totals.recoverable_unproven.get()),
        recoverable_low_s: modelled.then(|| totals.recoverable_low.get()),
        recoverable_upper_s: modelled.then(|| totals.recoverable_upper.get()),
        gain: modelled.then(|| totals.gain()),
        unmodelled_s: totals.unmodelled.get(),
        certain_s: totals.graded(Confidence::Certain).get(),
        likely_s: totals.graded(Confidence::Likely).get(),
        possible_s: totals.graded(Confidence::Possible).get(),
        instrumented_s: totals.instrumented.get(),
        expected_likely_s: positive(totals.expected_likely).filter(|time| time.is_finite()),
        expected_high_s: positive(totals.expected_high).filter(|time| time.is_finite()),
        kernels_for_80_percent: totals.kernels_for_80_percent,
        states: totals
            .states
            .iter()
            .map(|(state, (kernels, time))| {
                (
                    state.key().to_owned(),
                    StateDocument { kernels: *kernels, measured_s: time.get() },
                )
            })
            .collect(),
    }
}
