//! Evidence from values: one run a side, or several.

use super::evidence::{Evidence, Unit};
use super::noise::Noise;
use super::statistics::{Prior, hodges_lehmann, robust_deviation};

/// Values of single launches a side, as logarithms, after `offset` was taken out of the shift.
pub(super) fn of_launches(
    before: &[f64],
    after: &[f64],
    offset: f64,
    noise: &Noise,
    timer_s: f64,
) -> Option<Evidence> {
    let shift = hodges_lehmann(before, after)?;
    let several = before.len() > 1 || after.len() > 1;
    let within = within(&[before, after]);
    Some(Evidence {
        shift: shift.estimate - offset,
        low: several.then_some(shift.low - offset),
        high: several.then_some(shift.high - offset),
        confidence: several.then_some(shift.confidence),
        unit: if several { Unit::Launches } else { Unit::Single },
        before: before.len(),
        after: after.len(),
        standard_error: None,
        degrees: None,
        floor: floor(before, after, noise, timer_s),
        within,
        between: None,
    })
}

/// Spread of launches within the runs, pooled over them.
pub(super) fn within(runs: &[&[f64]]) -> Option<f64> {
    let known = runs.iter().filter(|run| run.len() >= 2);
    let spreads: Vec<(f64, f64)> = known
        .filter_map(|run| Some((robust_deviation(run)?.powi(2), (run.len() - 1) as f64)))
        .collect();
    let degrees: f64 = spreads.iter().map(|(_, degrees)| degrees).sum();
    let sum: f64 = spreads.iter().map(|(variance, degrees)| variance * degrees).sum();
    (degrees > 0.0).then(|| (sum / degrees).sqrt())
}

/// What noise alone may shift between two runs of the same code, as a logarithm.
///
/// With enough launches, the declared floor, and three standard errors of the shift as launches spread;
/// with few, the larger floor, and three times their range. Never finer than the timer.
fn floor(before: &[f64], after: &[f64], noise: &Noise, timer_s: f64) -> f64 {
    let shortest = before.iter().chain(after).copied().fold(f64::INFINITY, f64::min);
    let timer = (timer_s.max(noise.timer_s) / shortest.exp()).ln_1p();
    let least = before.len().min(after.len());
    let declared = if least >= Noise::ENOUGH {
        let variance = |values: &[f64]| {
            robust_deviation(values).unwrap_or_default().powi(2) / values.len() as f64
        };
        let error = (variance(before) + variance(after)).sqrt();
        noise.kernel.ln_1p().max(3.0 * error)
    } else {
        let range = |values: &[f64]| {
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - least
        };
        few(noise, before.len(), after.len()).max(3.0 * range(before).max(range(after)))
    };
    declared.max(timer)
}

/// The floor for few launches a side, as a logarithm: it is declared for four, and grows as their mean gets
/// less certain.
pub(super) fn few(noise: &Noise, before: usize, after: usize) -> f64 {
    let launches = 1.0 / before.max(1) as f64 + 1.0 / after.max(1) as f64;
    noise.few_launches.ln_1p() * (2.0 * launches).sqrt().max(1.0)
}

/// One number a side.
pub(super) fn single(shift: f64, floor: f64) -> Evidence {
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
        within: None,
        between: None,
    }
}

/// The spread of the values of both sides about their own means, and its degrees of freedom.
pub(super) fn variance(before: &[f64], after: &[f64]) -> (f64, f64) {
    let squares = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let degrees = (before.len() + after.len()).saturating_sub(2) as f64;
    let sum = squares(before) + squares(after);
    (if degrees > 0.0 { sum / degrees } else { 0.0 }, degrees)
}

/// Standard deviation of the values of one side; none of a single one.
pub(super) fn deviation(values: &[f64]) -> Option<f64> {
    let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (values.len() - 1) as f64).sqrt())
}

/// Values of several runs. The variance is drawn towards what other kernels show, where there is a
/// prior; `floor` is what the timer cannot tell.
pub(super) fn of_runs(
    before: &[f64],
    after: &[f64],
    prior: Option<Prior>,
    floor: f64,
) -> Option<Evidence> {
    let shift = hodges_lehmann(before, after)?;
    let (own, degrees) = variance(before, after);
    let (pooled, freedom) = prior.map_or((own, degrees), |prior| prior.moderate(own, degrees));
    let error = (pooled * (1.0 / before.len() as f64 + 1.0 / after.len() as f64)).sqrt();
    Some(Evidence {
        shift: shift.estimate,
        low: Some(shift.low),
        high: Some(shift.high),
        confidence: Some(shift.confidence),
        unit: Unit::Runs,
        before: before.len(),
        after: after.len(),
        standard_error: (freedom > 0.0).then_some(error),
        degrees: (freedom > 0.0 && freedom.is_finite()).then_some(freedom),
        floor,
        within: None,
        between: (degrees > 0.0).then(|| own.sqrt()),
    })
}

/// Values of runs that drift linearly over the order in which they were taken: least squares on the side
/// and the place in the order. None where the order is that of the sides, so that a drift cannot be told
/// from a change, or where nothing is left to estimate the error from.
pub(super) fn of_drifting(
    before: &[f64],
    after: &[f64],
    positions: &(Vec<f64>, Vec<f64>),
) -> Option<Evidence> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let (one, two) = (before.len() as f64, after.len() as f64);
    let degrees = one + two - 3.0;
    if degrees < 1.0 || positions.0.len() != before.len() || positions.1.len() != after.len() {
        return None;
    }
    // Within each side, so that the difference of the sides does not bend the slope.
    let sums = [(before, &positions.0), (after, &positions.1)].map(|(values, places)| {
        let (value, place) = (mean(values), mean(places));
        let pairs = values.iter().zip(places.iter());
        let products = pairs.map(|(known, at)| (known - value) * (at - place)).sum::<f64>();
        (products, places.iter().map(|at| (at - place).powi(2)).sum::<f64>())
    });
    let (products, squares) = (sums[0].0 + sums[1].0, sums[0].1 + sums[1].1);
    let apart = mean(&positions.1) - mean(&positions.0);
    // Sides whose places do not interleave leave the drift to the imagination.
    if squares <= 0.0 || apart.abs() >= 0.3 * (one + two) {
        return None;
    }
    let slope = products / squares;
    let middle = mean(&[positions.0.as_slice(), positions.1.as_slice()].concat());
    let level = |values: &[f64], places: &[f64]| -> Vec<f64> {
        values.iter().zip(places).map(|(value, at)| value - slope * (at - middle)).collect()
    };
    let (one_level, two_level) = (level(before, &positions.0), level(after, &positions.1));
    let evidence = of_runs(&one_level, &two_level, None, 0.0)?;
    let (pooled, shared) = variance(&one_level, &two_level);
    let residual = pooled * shared / degrees;
    // The slope is estimated too, and moves the difference of the sides where their places differ.
    let error = (residual * (1.0 / one + 1.0 / two + apart * apart / squares)).sqrt();
    Some(Evidence { standard_error: Some(error), degrees: Some(degrees), ..evidence })
}
