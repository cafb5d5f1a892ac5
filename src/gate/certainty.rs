//! Decides if evidence exceeds a limit, and with what confidence.
//!
//! Over several runs, the lower end of the distribution-free interval decides, and with it a t test
//! against the limit itself, not only against no change (TREAT: `McCarthy` and Smyth 2009), its variance
//! pooled across kernels. With one run per side, the declared noise floor decides: launches of one
//! run share its conditions, so they give no probability.

use super::thresholds::{END, MORE_RUNS};
use crate::compare::{Evidence, Unit, student_quantile, student_tail};
use crate::units::{Probability, Shift};

/// Position of a shift relative to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Certainly above the limit.
    Worse,
    /// The estimate is above the limit, but not with certainty.
    Unsure,
    /// Within the limit.
    Within,
    /// Certainly below the opposite limit.
    Better,
}

/// Probability of runs this far beyond the limit if the true shift were exactly the limit; `None`
/// with one run per side.
pub(super) fn probability(evidence: &Evidence, limit: Shift) -> Option<Probability> {
    let error = evidence.standard_error?;
    let degrees = evidence.degrees.unwrap_or(f64::INFINITY);
    let beyond = (evidence.shift - limit).get();
    let error = error.get();
    // Runs that agree to the last digit leave no doubt about either side.
    if error <= 0.0 {
        return Some(Probability::new(if beyond > 0.0 { 0.0 } else { 1.0 }));
    }
    Some(Probability::new(student_tail(beyond / error, degrees)))
}

/// The evidence mirrored: a slowdown becomes a speedup and the other way round.
pub(super) fn mirrored(evidence: &Evidence) -> Evidence {
    Evidence {
        shift: -evidence.shift,
        low: evidence.high.map(std::ops::Neg::neg),
        high: evidence.low.map(std::ops::Neg::neg),
        before: evidence.after,
        after: evidence.before,
        ..evidence.clone()
    }
}

/// Returns `true` if a shift is certainly beyond a limit. `allowed` decides which probabilities
/// count as certain; it is not called with one run per side.
pub(super) fn is_beyond(
    evidence: &Evidence,
    limit: Shift,
    allowed: impl Fn(Probability) -> bool,
) -> bool {
    let bound = evidence.low.is_none_or(|low| low > limit);
    let noise = evidence.shift > evidence.floor && evidence.shift > limit;
    match evidence.unit {
        Unit::Runs => bound && noise && probability(evidence, limit).is_some_and(allowed),
        Unit::Launches | Unit::Single => bound && noise,
    }
}

/// What more runs per side do about a change that is not certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MoreRuns {
    /// Nothing: it is within the limit, or what neither the timer nor runs of one device can tell.
    Nothing,
    /// [`MORE_RUNS`] measure the spread from run to run, which may settle it: one run per side has none, and what is
    /// declared is the most that noise does, so no number follows from it.
    Measure,
    /// So many would settle it if shift and spread stay as they are.
    Settle(u32),
    /// More than [`MOST_RUNS`] would.
    TooClose,
}

impl MoreRuns {
    /// What they do about a shift that should be beyond the limit.
    pub(super) fn of(evidence: &Evidence, limit: Shift) -> Self {
        let beyond = (evidence.shift - limit).get();
        // No number of runs shows what a timer cannot.
        if beyond <= 0.0 || evidence.shift <= evidence.tick {
            return Self::Nothing;
        }
        // No number of runs separates a device or a day from the code.
        if evidence.unit == Unit::Runs && evidence.shift <= evidence.floor {
            return Self::Nothing;
        }
        let error = evidence.standard_error.filter(|_| evidence.unit == Unit::Runs);
        let Some(error) = error else { return Self::Measure };
        let (one, two) = (evidence.before as f64, evidence.after as f64);
        let spread = error.get() / (1.0 / one + 1.0 / two).sqrt();
        let needed = 2.0 * (CERTAIN * spread / beyond).powi(2);
        let more = (needed.ceil() - one.min(two)).max(1.0);
        if more < MOST_RUNS { Self::Settle(more as u32) } else { Self::TooClose }
    }

    /// How many, if that is known.
    pub(super) const fn number(self) -> Option<u32> {
        match self {
            Self::Nothing | Self::TooClose => None,
            Self::Measure => Some(MORE_RUNS),
            Self::Settle(more) => Some(more),
        }
    }
}

/// From so many on, additional runs are not suggested.
const MOST_RUNS: f64 = 50.0;

/// Standard errors by which a change must lie beyond its limit to be found in nine gates of ten: 1.645 for a
/// confidence of 95%, and 1.28 for the tenth that falls short.
const CERTAIN: f64 = 2.93;

/// Gates of ten that find what [`detectable`] says: all but one.
pub(super) const POWER: Probability = Probability::new(0.9);

/// A change that is just as large as the noise is found half of the time.
pub(super) const HALF: Probability = Probability::new(0.5);

/// The shift that would have been seen, and in which part of all gates, for so many kernels that are judged
/// together. `undeclared` is what one run per side must exceed where its noise was not measured.
pub(super) fn detectable(
    evidence: &Evidence,
    limit: Shift,
    (false_discovery, kernels): (Probability, usize),
    undeclared: Option<Shift>,
) -> (Shift, Probability) {
    let half = evidence.reach();
    match (evidence.unit, evidence.standard_error) {
        (Unit::Runs, Some(error)) => {
            let degrees = evidence.degrees.unwrap_or(f64::INFINITY);
            let errors = |tail: f64| error * student_quantile(tail, degrees);
            let changed = errors(false_discovery.get() / kernels.max(1) as f64);
            let beyond = limit + half.max(errors(END.get()));
            (beyond.max(changed).max(evidence.floor) + errors(1.0 - POWER.get()), POWER)
        }
        _ => {
            let least = (limit + half).max(evidence.floor);
            (least.max(undeclared.unwrap_or(Shift::ZERO)), HALF)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Shift = Shift::new(0.05);

    fn evidence(shift: f64, unit: Unit, error: Option<f64>) -> Evidence {
        Evidence {
            shift: Shift::new(shift),
            low: Some(Shift::new(shift - 0.02)),
            high: Some(Shift::new(shift + 0.02)),
            confidence: Some(Probability::new(0.95)),
            unit,
            before: 5,
            after: 5,
            standard_error: error.map(Shift::new),
            degrees: error.map(|_| 8.0),
            floor: Shift::new(0.03),
            tick: Shift::ZERO,
            within: None,
            between: None,
            drift: None,
        }
    }

    #[test]
    fn the_lower_end_decides_and_with_runs_the_test_too() {
        let launches = |shift| is_beyond(&evidence(shift, Unit::Launches, None), LIMIT, |_| false);
        assert!(launches(0.071) && !launches(0.069) && !launches(-0.2));
        let runs = |shift, error| {
            is_beyond(&evidence(shift, Unit::Runs, Some(error)), LIMIT, |p| p.get() < 0.01)
        };
        // t = 5 and t = 1 with 8 degrees of freedom: 0.0005 and 0.17.
        assert!(runs(0.1, 0.01) && !runs(0.1, 0.05) && !runs(0.069, 0.001));
        // Several runs without a variance say nothing for certain.
        assert!(!is_beyond(&evidence(0.5, Unit::Runs, None), LIMIT, |_| true));
        // The noise floor, above the limit.
        let loud = Evidence { floor: Shift::new(0.2), ..evidence(0.15, Unit::Launches, None) };
        assert!(!is_beyond(&loud, LIMIT, |_| true));
    }

    #[test]
    fn the_runs_that_would_settle_it_follow_from_the_noise() {
        // A spread of 1.58% a run, 2% beyond the limit: 2 (2.93 × 1.58 / 2)² = 10.7 runs, 5 are there.
        let close = evidence(0.07, Unit::Runs, Some(0.01));
        assert_eq!(MoreRuns::of(&close, LIMIT), MoreRuns::Settle(6));
        // What two devices may differ by, more runs do not settle.
        let device = Evidence { floor: Shift::new(0.08), ..close.clone() };
        assert_eq!(MoreRuns::of(&device, LIMIT), MoreRuns::Nothing);
        let at_it = evidence(0.0501, Unit::Runs, Some(0.01));
        assert_eq!(MoreRuns::of(&at_it, LIMIT), MoreRuns::TooClose);
        assert_eq!(MoreRuns::TooClose.number(), None);
        assert_eq!(MoreRuns::of(&close, Shift::new(0.08)), MoreRuns::Nothing);
    }

    /// A declared floor is not a spread: whether it is 1% or 10%, and the shift far from the limit or close to it.
    #[test]
    fn one_run_per_side_is_followed_by_two_that_measure_the_spread() {
        for (shift, floor) in [(0.07, 0.01), (0.07, 0.1), (0.0501, 0.1), (0.4, 0.01)] {
            for unit in [Unit::Launches, Unit::Single] {
                let one = Evidence { floor: Shift::new(floor), ..evidence(shift, unit, None) };
                assert_eq!(MoreRuns::of(&one, LIMIT), MoreRuns::Measure);
                assert_eq!(MoreRuns::of(&one, LIMIT).number(), Some(2));
            }
        }
        let tick = Evidence { tick: Shift::new(0.07), ..evidence(0.07, Unit::Single, None) };
        assert_eq!(MoreRuns::of(&tick, LIMIT), MoreRuns::Nothing);
    }

    /// With an error of 1% and 8 degrees of freedom: 1.86 of them beyond the limit of 5% is 6.9%, the interval
    /// ends 2% below, and 1.40 more make nine gates of ten: 7% + 1.4%. One run per side: its floor, half of the
    /// time.
    #[test]
    fn what_would_have_been_seen_is_said_with_its_power() {
        let rate = (Probability::new(0.05), 1);
        let (seen, power) = detectable(&evidence(0.0, Unit::Runs, Some(0.01)), LIMIT, rate, None);
        assert!((seen.get() - 0.084).abs() < 1e-4 && power == POWER, "{seen:?}");
        let one = Evidence { floor: Shift::new(0.1), ..evidence(0.0, Unit::Launches, None) };
        assert_eq!(detectable(&one, LIMIT, rate, None), (Shift::new(0.1), HALF));
        let undeclared = Some(Shift::new(0.2));
        assert_eq!(detectable(&one, LIMIT, rate, undeclared), (Shift::new(0.2), HALF));
    }

    #[test]
    fn the_mirror_of_a_mirror_is_the_same() {
        let known = evidence(0.1, Unit::Runs, Some(0.01));
        assert_eq!(mirrored(&mirrored(&known)), known);
        assert_eq!(mirrored(&known).low, known.high.map(std::ops::Neg::neg));
    }
}
