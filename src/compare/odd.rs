//! Runs that stand apart from the others of their side: one hot run must not hide what all others show.
//!
//! The externally studentized residual with Bonferroni's correction (R. D. Cook, S. Weisberg, *Residuals
//! and Influence in Regression* (1982), §2.2.2): each run against the others of its side, in units of the
//! spread that both sides have without it.

use super::both::Both;
use super::statistics::{mean, squares, student_tail};

/// One run of four or five may be left out, two of eight: the others must be a clear majority.
const RUNS_FOR_EACH: usize = 4;

/// Of comparisons without an odd run, 1 in 100 leaves one out.
const CHANCE: f64 = 0.01;

/// A run within 1% of the others disturbs nothing, however well the others agree.
const LEAST: f64 = 0.01;

/// Degrees of freedom without which a spread says too little.
const DEGREES: usize = 3;

/// A run that was left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Odd {
    /// Whether it is of the current side.
    pub(super) later: bool,
    /// Its position among the runs of its side.
    pub(super) at: usize,
    /// How far it lies from the mean of the others of its side.
    pub(super) distance: f64,
}

/// Runs that stand apart from the others of their side, the farthest first.
pub(super) fn odd(values: Both<&[f64]>) -> Vec<Odd> {
    let mut found: Vec<Odd> = Vec::new();
    loop {
        let left = Both {
            before: without(values.before, &found, false),
            after: without(values.after, &found, true),
        };
        let count = left.before.len() + left.after.len();
        let farthest = [false, true]
            .into_iter()
            .flat_map(|later| {
                let (side, all) = if later {
                    (&left.after, values.after.len())
                } else {
                    (&left.before, values.before.len())
                };
                let spare = all / RUNS_FOR_EACH > all - side.len();
                let (other, side) = (if later { &left.before } else { &left.after }, side.clone());
                let positions = if spare { 0..side.len() } else { 0..0 };
                positions.filter_map(move |at| apart(&side, other, at, later))
            })
            .max_by(|one, two| one.1.total_cmp(&two.1));
        let Some((odd, distance, degrees)) = farthest else { return found };
        let chance = 2.0 * student_tail(distance, degrees) * count as f64;
        if chance > CHANCE || odd.distance.abs() < LEAST {
            return found;
        }
        found.push(odd);
    }
}

/// The values of a side that are not left out, each with its position.
fn without(values: &[f64], found: &[Odd], later: bool) -> Vec<(usize, f64)> {
    let is_left = |at: usize| !found.iter().any(|odd| odd.later == later && odd.at == at);
    values.iter().copied().enumerate().filter(|(at, _)| is_left(*at)).collect()
}

/// How far a run lies from the others of its side: as it is, in standard errors, and their degrees of
/// freedom.
fn apart(
    side: &[(usize, f64)],
    other: &[(usize, f64)],
    place: usize,
    later: bool,
) -> Option<(Odd, f64, f64)> {
    let (at, value) = side[place];
    let rest: Vec<f64> =
        side.iter().filter(|(known, _)| *known != at).map(|(_, value)| *value).collect();
    let other: Vec<f64> = other.iter().map(|(_, value)| *value).collect();
    let degrees = (rest.len() + other.len()).checked_sub(2).filter(|known| *known >= DEGREES)?;
    let variance = (squares(&rest) + squares(&other)) / degrees as f64;
    let distance = value - mean(&rest);
    let error = (variance * (1.0 + 1.0 / rest.len() as f64)).sqrt();
    let errors = if error > 0.0 { distance.abs() / error } else { f64::INFINITY };
    (distance != 0.0).then_some((Odd { later, at, distance }, errors, degrees as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: [f64; 5] = [0.001, -0.002, 0.0, 0.002, -0.001];

    fn found(before: &[f64], after: &[f64]) -> Vec<(bool, usize)> {
        odd(Both { before, after }).iter().map(|odd| (odd.later, odd.at)).collect()
    }

    #[test]
    fn one_run_of_five_is_left_out_and_no_second() {
        let hot = [0.001, -0.002, 0.2, 0.002, -0.001];
        assert_eq!(found(&USUAL, &USUAL), []);
        assert_eq!(found(&hot, &USUAL), [(false, 2)]);
        assert_eq!(found(&USUAL, &hot), [(true, 2)]);
        // One of each side is the spread of the runs: two states of a clock look like that.
        assert_eq!(found(&hot, &hot), []);
        // Two of five are no odd runs but the spread of the side.
        assert_eq!(found(&[0.001, -0.002, 0.2, 0.2, -0.001], &USUAL), []);
        // Of three none can go.
        assert_eq!(found(&[0.0, 0.001, 0.2], &[0.0, 0.001, 0.0]), []);
    }

    #[test]
    fn what_is_within_a_percent_disturbs_nothing() {
        assert_eq!(found(&[0.0, 0.0, 0.0, 0.0, 0.009], &[0.0; 5]), []);
        assert_eq!(found(&[0.0, 0.0, 0.0, 0.0, 0.011], &[0.0; 5]), [(false, 4)]);
    }

    /// A difference of the sides is no distance from the others of one.
    #[test]
    fn a_change_between_the_sides_is_not_odd() {
        let after: Vec<f64> = USUAL.iter().map(|value| value + 0.3).collect();
        assert_eq!(found(&USUAL, &after), []);
    }
}
