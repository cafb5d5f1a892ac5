//! Evidence from values of one run per side, or of several.
//!
//! Values are natural logarithms of times, cycles or headrooms: plain numbers, as
//! [`super::statistics`] computes with them. The difference of two is a [`Shift`].

use super::both::Both;
use super::evidence::{Evidence, Unit};
use super::noise::Noise;
use super::statistics::{Prior, hodges_lehmann, mean, robust_deviation, squares};
use crate::units::{Probability, Seconds, Shift};

/// Standard errors, or ranges of few values, that noise alone does not exceed: 0.3% of normal
/// errors are larger.
const NOISE_ERRORS: f64 = 3.0;

/// Degrees of freedom that a linear drift and two sides use: two levels and a slope.
const DRIFT_PARAMETERS: f64 = 3.0;

/// Sides whose mean positions differ by more than this share of all runs do not interleave: 0.5 for
/// `AABB`, 0.25 for `ABAB`, 0 for `ABBA`.
const APART: f64 = 0.3;

/// Rounding error of a logarithm of a ratio.
const ROUNDING: f64 = 1e-12;

/// Evidence from single launches per side, as logarithms, with `offset` subtracted from the shift.
pub(super) fn of_launches(
    values: Both<&[f64]>,
    offset: Shift,
    noise: &Noise,
    timer: Seconds,
) -> Option<Evidence> {
    let Both { before, after } = values;
    let shift = hodges_lehmann(before, after)?;
    let at = |end: f64| Shift::new(end) - offset;
    let several = before.len() > 1 || after.len() > 1;
    let within = within(&[before, after]);
    Some(Evidence {
        shift: at(shift.estimate),
        low: several.then_some(at(shift.low)),
        high: several.then_some(at(shift.high)),
        confidence: several.then_some(Probability::new(shift.confidence)),
        unit: if several { Unit::Launches } else { Unit::Single },
        before: before.len(),
        after: after.len(),
        standard_error: None,
        degrees: None,
        floor: floor(values, noise, timer),
        tick: unseen(before.iter().chain(after), timer.max(noise.timer_s)),
        within,
        between: None,
        drift: None,
    })
}

/// Returns the spread of launches within runs, pooled over the runs.
pub(super) fn within(runs: &[&[f64]]) -> Option<Shift> {
    let known = runs.iter().filter(|run| run.len() >= 2);
    let spreads: Vec<(f64, f64)> = known
        .filter_map(|run| Some((robust_deviation(run)?.powi(2), (run.len() - 1) as f64)))
        .collect();
    let degrees: f64 = spreads.iter().map(|(_, degrees)| degrees).sum();
    let sum: f64 = spreads.iter().map(|(variance, degrees)| variance * degrees).sum();
    (degrees > 0.0).then(|| Shift::new((sum / degrees).sqrt()))
}

/// Returns the relative resolution of the timer at the shortest of these times. One tick is within it, whatever rounding
/// makes of it.
pub(super) fn unseen<'a>(logs: impl Iterator<Item = &'a f64>, timer: Seconds) -> Shift {
    let shortest = logs.copied().fold(f64::INFINITY, f64::min);
    let tick = (timer.get() / shortest.exp()).ln_1p();
    Shift::new(if tick > 0.0 { tick + ROUNDING } else { tick })
}

/// Returns the shift that noise alone could cause between two runs of the same code.
///
/// With enough launches, the declared floor, and three standard errors of the shift as launches spread;
/// with few, the larger floor, and three times their range. Never finer than the timer.
fn floor(Both { before, after }: Both<&[f64]>, noise: &Noise, timer: Seconds) -> Shift {
    let timer = unseen(before.iter().chain(after), timer.max(noise.timer_s));
    let least = before.len().min(after.len());
    let declared = if least >= Noise::ENOUGH {
        let variance = |values: &[f64]| {
            robust_deviation(values).unwrap_or_default().powi(2) / values.len() as f64
        };
        let error = (variance(before) + variance(after)).sqrt();
        noise.kernel.shift().max(Shift::new(NOISE_ERRORS * error))
    } else {
        let range = |values: &[f64]| {
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least
        };
        let range = range(before).max(range(after));
        noise.few(before.len(), after.len()).max(Shift::new(NOISE_ERRORS * range))
    };
    declared.max(timer)
}

/// Evidence from one value per side.
pub(super) fn single(shift: Shift, floor: Shift) -> Evidence {
    Evidence {
        shift,
        low: None,
        high: None,
        confidence: None,
        unit: Unit::Single,
        before: 1,
        after: 1,
        standard_error: None,
        degrees: None,
        floor,
        tick: Shift::ZERO,
        within: None,
        between: None,
        drift: None,
    }
}

/// Returns the variance of both sides about their own means, and its degrees of freedom.
pub(super) fn variance(before: &[f64], after: &[f64]) -> (f64, f64) {
    let degrees = (before.len() + after.len()).saturating_sub(2) as f64;
    let sum = squares(before) + squares(after);
    (if degrees > 0.0 { sum / degrees } else { 0.0 }, degrees)
}

/// Returns the standard deviation of the values of one side; `None` for a single value.
pub(super) fn deviation(values: &[f64]) -> Option<Shift> {
    (values.len() > 1).then(|| Shift::new((squares(values) / (values.len() - 1) as f64).sqrt()))
}

/// Evidence from several runs. With a prior, the variance is shrunk towards that of other kernels;
/// `floor` is the resolution of the timer.
pub(super) fn of_runs(
    Both { before, after }: Both<&[f64]>,
    prior: Option<Prior>,
    floor: Shift,
) -> Option<Evidence> {
    let shift = hodges_lehmann(before, after)?;
    let (own, degrees) = variance(before, after);
    let (pooled, freedom) = prior.map_or((own, degrees), |prior| prior.moderate(own, degrees));
    let error = (pooled * (1.0 / before.len() as f64 + 1.0 / after.len() as f64)).sqrt();
    Some(Evidence {
        shift: Shift::new(shift.estimate),
        low: Some(Shift::new(shift.low)),
        high: Some(Shift::new(shift.high)),
        confidence: Some(Probability::new(shift.confidence)),
        unit: Unit::Runs,
        before: before.len(),
        after: after.len(),
        standard_error: (freedom > 0.0).then_some(Shift::new(error)),
        degrees: (freedom > 0.0 && freedom.is_finite()).then_some(freedom),
        floor,
        tick: Shift::ZERO,
        within: None,
        between: (degrees > 0.0).then(|| Shift::new(own.sqrt())),
        drift: None,
    })
}

/// Whether the runs of both sides were taken in turns, so that neither a drift nor a day is a change.
pub(super) fn interleave(places: &Both<Vec<f64>>) -> bool {
    let runs = places.before.len() + places.after.len();
    let apart = mean(&places.after) - mean(&places.before);
    apart.abs() < APART * runs as f64
}

/// Evidence from runs that drift linearly over the order in which they were taken: least squares on
/// the side and the position in the order. `None` if the order is that of the sides, so that drift
/// and change cannot be separated, or if no degrees of freedom are left.
pub(super) fn of_drifting(values: Both<&[f64]>, places: &Both<Vec<f64>>) -> Option<Evidence> {
    let Both { before, after } = values;
    let (one, two) = (before.len() as f64, after.len() as f64);
    let degrees = one + two - DRIFT_PARAMETERS;
    if degrees < 1.0 || places.before.len() != before.len() || places.after.len() != after.len() {
        return None;
    }
    // Within each side, so that the difference of the sides does not bend the slope.
    let products = products(before, &places.before) + products(after, &places.after);
    let along = squares(&places.before) + squares(&places.after);
    let apart = mean(&places.after) - mean(&places.before);
    // Sides whose places do not interleave leave the drift to the imagination.
    if along <= 0.0 || !interleave(places) {
        return None;
    }
    let slope = products / along;
    let middle = mean(&[places.before.as_slice(), &places.after].concat());
    let level = |values: &[f64], places: &[f64]| -> Vec<f64> {
        values.iter().zip(places).map(|(value, at)| value - slope * (at - middle)).collect()
    };
    let (one_level, two_level) = (level(before, &places.before), level(after, &places.after));
    let levels = Both { before: one_level.as_slice(), after: &two_level };
    let evidence = of_runs(levels, None, Shift::ZERO)?;
    let (pooled, shared) = variance(&one_level, &two_level);
    let residual = pooled * shared / degrees;
    // The slope is estimated too, and moves the difference of the sides where their places differ.
    let error = (residual * (1.0 / one + 1.0 / two + apart * apart / along)).sqrt();
    let standard_error = Some(Shift::new(error));
    Some(Evidence {
        standard_error,
        degrees: Some(degrees),
        drift: Some(Shift::new(slope)),
        ..evidence
    })
}

/// Returns the sum of products of the distances from both means.
fn products(values: &[f64], places: &[f64]) -> f64 {
    let (value, place) = (mean(values), mean(places));
    values.iter().zip(places).map(|(known, at)| (known - value) * (at - place)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::RelativeChange;

    /// 10% for four launches per side; for one, 1 + 1 = 2 over 1/4 + 1/4 = 1/2 is four times the variance,
    /// and twice the floor on the logarithmic scale: 1.1² - 1 = 21%.
    #[test]
    fn the_floor_of_few_launches_grows_to_twice_as_much() {
        let noise = Noise { few_launches: RelativeChange::new(0.1), ..Noise::default() };
        for (before, after, expected) in [(4, 4, 0.1), (1, 1, 0.21), (9, 9, 0.1), (0, 1, 0.21)] {
            let found = noise.few(before, after).change().get();
            assert!((found - expected).abs() < 1e-12, "{before} {after}: {found}");
        }
    }

    /// A timer of 1 µs hides a tenth of 10 µs.
    #[test]
    fn no_floor_is_finer_than_the_timer() {
        let times = [1e-5_f64.ln(), 1.0];
        let found = unseen(times.iter(), Seconds::new(1e-6));
        assert!((found.change().get() - 0.1).abs() < 1e-9, "{found:?}");
        // One tick of 3 µs is a third of it, whatever logarithms make of that.
        let found = unseen([3e-6_f64.ln()].iter(), Seconds::new(1e-6));
        assert!(found > Shift::new(4e-6_f64.ln() - 3e-6_f64.ln()));
    }

    /// Runs at places 0, 3 (A) and 1, 2 (B) that rise by 0.1 a place and differ by nothing else: both means
    /// are 0.15, and the drift explains all. With B 0.02 higher, that is the shift, without error.
    #[test]
    fn a_drift_is_told_from_a_change_where_the_order_allows() {
        let places = Both { before: vec![0.0, 3.0], after: vec![1.0, 2.0] };
        let of = |extra: f64| {
            let (before, after) = ([0.0, 0.3], [0.1 + extra, 0.2 + extra]);
            of_drifting(Both { before: &before, after: &after }, &places).unwrap()
        };
        assert!(of(0.0).shift.abs().get() < 1e-15);
        assert!((of(0.02).shift.get() - 0.02).abs() < 1e-15);
        assert!(of(0.02).standard_error.unwrap().get() < 1e-8);
        assert_eq!(of(0.0).degrees, Some(1.0));
        // Blocks: means 0.5 and 2.5, 2 of 4 places apart.
        let blocks = Both { before: vec![0.0, 1.0], after: vec![2.0, 3.0] };
        let values = Both { before: &[0.0, 0.1][..], after: &[0.2, 0.3][..] };
        assert_eq!(of_drifting(values, &blocks), None);
    }
}
