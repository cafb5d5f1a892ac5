//! The mean of what Nsight Compute counted of launches of the same work.

use super::complete::together;
use crate::model::{Origin, OriginId, OriginKind, Profile, Quantity, Values};

/// The mean of what launches of the same work have, with the range that they span: of each quantity over the runs that
/// have it for all of these launches. A run may have counted what another did not.
pub(super) fn mean(profile: &mut Profile, rows: &[usize]) -> Values {
    let mut runs: Vec<((u16, u32), Vec<usize>)> = Vec::new();
    for row in rows {
        let run = profile.launches.run(*row);
        match runs.iter_mut().find(|(known, _)| *known == run) {
            Some((_, rows)) => rows.push(*row),
            None => runs.push((run, vec![*row])),
        }
    }
    let runs: Vec<Vec<usize>> = runs.into_iter().map(|(_, rows)| rows).collect();
    if runs.len() == 1 {
        return mean_of(profile, &runs, |_| true);
    }
    // Runs may state the same work in two ways.
    let mut all = Values::default();
    for run in &runs {
        let of_run = mean_of(profile, std::slice::from_ref(run), |_| true);
        all = together(profile, &all, &of_run);
    }
    mean_of(profile, &runs, |quantity| all.get(quantity).is_some())
}

/// The mean of these quantities over those runs that have them for all of their launches.
fn mean_of(
    profile: &mut Profile,
    runs: &[Vec<usize>],
    is_kept: impl Fn(Quantity) -> bool,
) -> Values {
    let quantities = profile.launches.quantities();
    let quantities: Vec<Quantity> =
        quantities.filter(|quantity| quantity.is_of_the_work() && is_kept(*quantity)).collect();
    let mut values = Values::default();
    for quantity in quantities {
        let of_run = |rows: &Vec<usize>| -> Option<Vec<(f64, OriginId)>> {
            rows.iter().map(|row| profile.launches.get(*row, quantity)).collect()
        };
        let found: Vec<(f64, OriginId)> = runs.iter().filter_map(of_run).flatten().collect();
        let Some((first, origin)) = found.first().copied() else { continue };
        let origin = profile.origins.get(origin).clone();
        let sum: f64 = found.iter().map(|(value, _)| value).sum();
        let mean = if found.len() == 1 { first } else { sum / found.len() as f64 };
        let low = found.iter().map(|(value, _)| *value).fold(f64::INFINITY, f64::min);
        let high = found.iter().map(|(value, _)| *value).fold(0.0, f64::max);
        let source = if found.len() == 1 {
            "of one launch under Nsight Compute".to_owned()
        } else {
            format!("mean of {} launches under Nsight Compute", found.len())
        };
        let formula = format!("{}, {source}", origin.formula);
        let factor = |end: f64, own: f64| if mean > 0.0 { own * end / mean } else { own };
        let made = Origin::new(origin.kind.max(OriginKind::Derived), formula)
            .within(factor(low, origin.low), factor(high, origin.high));
        let id = profile.origins.id(&made);
        values.set(quantity, mean, id);
    }
    values
}
