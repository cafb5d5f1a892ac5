//! Whether a shift is shared by all kernels, or by most of them while others stay.

use super::statistics::robust_deviation;
use crate::units::median;

/// Most kernels moved by less than 2%: a clock does that, and the limits of a policy are larger.
const LEAST: f64 = 0.02;

/// Part of the kernels that must have stayed, and how many: fewer are exceptions to a shift of all.
const STAYED: (f64, usize) = (0.1, 3);

/// The groups lie apart by five times what their kernels spread: the halves of one normal group lie apart
/// by two or three times.
const APART: f64 = 5.0;

/// Which kernels moved, where most of them moved together while the others stayed nearer to where they
/// were; none where all kernels share one shift, or none.
pub(super) fn split(shifts: &[f64]) -> Option<Vec<bool>> {
    let usual = median(shifts)?;
    if usual.abs() < LEAST {
        return None;
    }
    let moved: Vec<bool> =
        shifts.iter().map(|shift| shift * usual.signum() > usual.abs() / 2.0).collect();
    let of = |wanted: bool| -> Vec<f64> {
        let known = shifts.iter().zip(&moved).filter(|(_, moved)| **moved == wanted);
        known.map(|(shift, _)| *shift).collect()
    };
    let (went, stayed) = (of(true), of(false));
    let enough = (shifts.len() as f64 * STAYED.0).max(STAYED.1 as f64);
    if (stayed.len() as f64) < enough || went.len() < stayed.len() {
        return None;
    }
    let (to, at) = (median(&went)?, median(&stayed)?);
    let spread = robust_deviation(&went)?.max(robust_deviation(&stayed)?);
    let apart = (to - at).abs();
    (apart >= LEAST.max(APART * spread) && at.abs() < to.abs()).then_some(moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(shifts: &[f64]) -> Option<usize> {
        split(shifts).map(|moved| moved.iter().filter(|moved| **moved).count())
    }

    #[test]
    fn most_kernels_that_moved_together_are_told_from_those_that_stayed() {
        let shifts = |count: usize, by: f64| -> Vec<f64> {
            let noise = |at: usize| (at % 3) as f64 * 0.002;
            (0..10).map(|at| noise(at) + if at < count { by } else { 0.0 }).collect()
        };
        assert_eq!(moved(&shifts(6, 0.063)), Some(6));
        assert_eq!(moved(&shifts(6, -0.063)), Some(6));
        // All of them, or all but two: what they share.
        assert_eq!((moved(&shifts(10, 0.063)), moved(&shifts(8, 0.063))), (None, None));
        // A minority leaves the median where it is.
        assert_eq!(moved(&shifts(4, 0.063)), None);
    }

    /// Shifts that are spread evenly from 0 to 9% are one group.
    #[test]
    fn one_wide_group_is_not_two() {
        let even: Vec<f64> = (0..10).map(|at| f64::from(at) / 100.0).collect();
        assert_eq!(moved(&even), None);
    }
}
