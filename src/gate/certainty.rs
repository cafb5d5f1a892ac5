//! Whether evidence goes beyond a limit, and how surely.
//!
//! Over several runs, the lower end of the distribution-free interval decides, and with it a t test
//! against the limit itself, not against no change (TREAT: `McCarthy` and Smyth 2009), its variance pooled
//! across kernels. With one run a side, what noise alone may do decides: launches of one run share
//! whatever befell the run, so that no probability can be had from them.

use crate::compare::{Evidence, Unit, student_quantile, student_tail};

/// On which side of a limit a shift lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Beyond it for certain, towards more.
    Worse,
    /// Beyond it as far as the estimate goes, but not for certain.
    Unsure,
    /// Within it.
    Within,
    /// Beyond it for certain, towards less.
    Better,
}

/// Probability of runs so far beyond the limit, were the shift only as large as the limit allows; none
/// where there is one run a side.
pub(super) fn probability(evidence: &Evidence, limit: f64) -> Option<f64> {
    let error = evidence.standard_error?;
    let degrees = evidence.degrees.unwrap_or(f64::INFINITY);
    let beyond = evidence.shift - limit;
    // Runs that agree to the last digit leave no doubt about either side.
    if error <= 0.0 {
        return Some(if beyond > 0.0 { 0.0 } else { 1.0 });
    }
    Some(student_tail(beyond / error, degrees))
}

/// The evidence on the contrary change.
pub(super) fn mirrored(evidence: &Evidence) -> Evidence {
    Evidence {
        shift: -evidence.shift,
        low: evidence.high.map(|high| -high),
        high: evidence.low.map(|low| -low),
        before: evidence.after,
        after: evidence.before,
        ..evidence.clone()
    }
}

/// Whether a shift is certainly beyond a limit; `allowed` says what of the probabilities counts as
/// certain, and is not asked where there is one run a side.
pub(super) fn is_beyond(evidence: &Evidence, limit: f64, allowed: impl Fn(f64) -> bool) -> bool {
    let bound = evidence.low.is_none_or(|low| low > limit);
    let noise = evidence.shift > evidence.floor && evidence.shift > limit;
    match evidence.unit {
        Unit::Runs => bound && noise && probability(evidence, limit).is_some_and(allowed),
        Unit::Launches | Unit::Single => bound && noise,
    }
}

/// Runs a side, beyond those there are, that would settle whether the shift is beyond the limit, if it
/// stays as large and the noise as it is; none where it is exactly at the limit. At most [`MOST_RUNS`].
pub(super) fn more_runs(evidence: &Evidence, limit: f64) -> Option<u32> {
    let beyond = evidence.shift - limit;
    if beyond <= 0.0 {
        return None;
    }
    let (there, needed) = match (evidence.unit, evidence.standard_error) {
        (Unit::Runs, Some(error)) => {
            let (one, two) = (evidence.before as f64, evidence.after as f64);
            let spread = error / (1.0 / one + 1.0 / two).sqrt();
            (one.min(two), 2.0 * (CERTAIN * spread / beyond).powi(2))
        }
        // The floor is three standard errors of the difference of two runs.
        _ => (1.0, (evidence.floor / beyond).powi(2).max(3.0)),
    };
    let more = (needed.ceil() - there).max(1.0);
    Some(if more >= f64::from(MOST_RUNS) { MOST_RUNS } else { more as u32 })
}

/// More runs than this are not worth naming.
pub(super) const MOST_RUNS: u32 = 50;

/// Standard errors that make a difference certain among many kernels.
const CERTAIN: f64 = 3.5;

/// The shift that would certainly have been seen, for so many kernels that are judged together.
pub(super) fn detectable(
    evidence: &Evidence,
    limit: f64,
    false_discovery: f64,
    kernels: usize,
) -> f64 {
    let half = evidence.low.map_or(0.0, |low| evidence.shift - low);
    match (evidence.unit, evidence.standard_error) {
        (Unit::Runs, Some(error)) => {
            let tail = false_discovery / kernels.max(1) as f64;
            let degrees = evidence.degrees.unwrap_or(f64::INFINITY);
            limit + half.max(error * student_quantile(tail, degrees))
        }
        _ => (limit + half).max(evidence.floor),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(shift: f64, unit: Unit, error: Option<f64>) -> Evidence {
        Evidence {
            shift,
            low: Some(shift - 0.02),
            high: Some(shift + 0.02),
            confidence: Some(0.95),
            unit,
            before: 5,
            after: 5,
            standard_error: error,
            degrees: error.map(|_| 8.0),
            floor: 0.03,
            within: None,
            between: None,
        }
    }

    #[test]
    fn the_lower_end_decides_and_with_runs_the_test_too() {
        let launches = |shift| is_beyond(&evidence(shift, Unit::Launches, None), 0.05, |_| false);
        assert!(launches(0.071) && !launches(0.069) && !launches(-0.2));
        let runs =
            |shift, error| is_beyond(&evidence(shift, Unit::Runs, Some(error)), 0.05, |p| p < 0.01);
        // t = 5 and t = 1 with 8 degrees of freedom: 0.0005 and 0.17.
        assert!(runs(0.1, 0.01) && !runs(0.1, 0.05) && !runs(0.069, 0.001));
        // Several runs without a variance say nothing for certain.
        assert!(!is_beyond(&evidence(0.5, Unit::Runs, None), 0.05, |_| true));
        // The noise floor, above the limit.
        let loud = Evidence { floor: 0.2, ..evidence(0.15, Unit::Launches, None) };
        assert!(!is_beyond(&loud, 0.05, |_| true));
    }

    #[test]
    fn the_runs_that_would_settle_it_follow_from_the_noise() {
        // A spread of 1.58 % a run, 2 % beyond the limit: 2 (3.5 × 1.58 / 2)² = 15.3 runs, 5 are there.
        let close = evidence(0.07, Unit::Runs, Some(0.01));
        assert_eq!(more_runs(&close, 0.05), Some(11));
        assert_eq!(more_runs(&evidence(0.0501, Unit::Runs, Some(0.01)), 0.05), Some(MOST_RUNS));
        assert_eq!(more_runs(&close, 0.08), None);
        // A floor of 10 %, 2 % beyond the limit: 25 runs a side.
        let one = Evidence { floor: 0.1, ..evidence(0.07, Unit::Launches, None) };
        assert_eq!(more_runs(&one, 0.05), Some(24));
    }

    #[test]
    fn the_mirror_of_a_mirror_is_the_same() {
        let known = evidence(0.1, Unit::Runs, Some(0.01));
        assert_eq!(mirrored(&mirrored(&known)), known);
        assert_eq!(mirrored(&known).low, known.high.map(|high| -high));
    }
}
