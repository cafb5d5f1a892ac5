//! The mean of what Nsight Compute counted of launches of the same work.

use std::collections::HashMap;

use super::complete::{are_known_alike, is_part, together};
use crate::model::{Origin, OriginId, OriginKind, Profile, Quantity, Values};

/// The mean of what launches of the same work have, with the range that they span: of each quantity over the runs that
/// have it for all of these launches. A run may have counted what another did not.
pub(super) fn mean(profile: &mut Profile, rows: &[usize]) -> Values {
    let mut places: HashMap<(u16, u32), usize> = HashMap::new();
    let mut runs: Vec<Vec<usize>> = Vec::new();
    for row in rows {
        let place = *places.entry(profile.launches.run(*row)).or_insert(runs.len());
        if place == runs.len() {
            runs.push(Vec::new());
        }
        runs[place].push(*row);
    }
    if runs.len() == 1 {
        return mean_of(profile, &runs, None);
    }
    // Runs may state the same work in two ways.
    let mut all = Values::default();
    for run in &runs {
        all = together(profile, &all, &most_of(profile, run));
    }
    mean_of(profile, &runs, Some(&all))
}

/// A quantity of each of these launches, if all have it.
fn of_all(profile: &Profile, rows: &[usize], quantity: Quantity) -> Option<Vec<(f64, OriginId)>> {
    rows.iter().map(|row| profile.launches.get(*row, quantity)).collect()
}

/// What all launches of a run have, as the one with the most of it has it: with its origin, which says how it is known.
fn most_of(profile: &Profile, rows: &[usize]) -> Values {
    let mut values = Values::default();
    for quantity in profile.launches.quantities().filter(|quantity| quantity.is_of_the_work()) {
        let found = of_all(profile, rows, quantity);
        let most = found.and_then(|all| all.into_iter().max_by(|one, two| one.0.total_cmp(&two.0)));
        if let Some((value, origin)) = most {
            values.set(quantity, value, origin);
        }
    }
    values
}

/// How a quantity is known: of work in the way that goes together with that of other types, else in the most direct one.
fn known_as(
    profile: &Profile,
    runs: &[Vec<usize>],
    kept: &Values,
    quantity: Quantity,
) -> Option<Origin> {
    let (.., chosen) = kept.all().find(|(known, ..)| *known == quantity)?;
    let chosen = profile.origins.get(chosen);
    if matches!(quantity, Quantity::Work(_)) {
        return Some(chosen.clone());
    }
    let of_runs = runs.iter().filter_map(|rows| of_all(profile, rows, quantity)).flatten();
    let of_runs = of_runs.map(|(_, origin)| profile.origins.get(origin));
    Some(of_runs.min_by_key(|origin| origin.kind).unwrap_or(chosen).clone())
}

/// The range that values span with their uncertainties, as factors of their mean. A launch that did none of it makes a range,
/// not a bound that is open.
fn ends(profile: &Profile, found: &[(f64, OriginId)], mean: f64) -> (f64, f64) {
    let mut range = (f64::INFINITY, 0.0_f64);
    for (value, origin) in found {
        let origin = profile.origins.get(*origin);
        let share = if mean > 0.0 { value / mean } else { 1.0 };
        let least = if origin.low > 0.0 { f64::MIN_POSITIVE } else { 0.0 };
        let high = if origin.high.is_finite() { share * origin.high } else { origin.high };
        range = (range.0.min((share * origin.low).max(least)), range.1.max(high));
    }
    range
}

/// The runs whose values go into a mean. Of runs that have different parts of a sum, a mean would be of neither: those that
/// have the whole sum are taken, or the one whose lower bound is the largest.
fn with_whole_sums(
    profile: &Profile,
    runs: Vec<Vec<(f64, OriginId)>>,
) -> Vec<Vec<(f64, OriginId)>> {
    let part = |run: &Vec<(f64, OriginId)>| {
        let mut origins = run.iter().map(|(_, origin)| profile.origins.get(*origin));
        origins.find(|origin| is_part(origin)).map(|origin| origin.formula.as_str())
    };
    let parts: Vec<Option<&str>> = runs.iter().map(part).collect();
    if parts.windows(2).all(|pair| pair[0] == pair[1]) {
        return runs;
    }
    if parts.iter().any(Option::is_none) {
        return runs
            .into_iter()
            .zip(&parts)
            .filter(|(_, part)| part.is_none())
            .map(|(run, _)| run)
            .collect();
    }
    let mean = |run: &Vec<(f64, OriginId)>| {
        run.iter().map(|(value, _)| value).sum::<f64>() / run.len().max(1) as f64
    };
    runs.into_iter().max_by(|one, two| mean(one).total_cmp(&mean(two))).into_iter().collect()
}

/// The mean of each quantity over those runs that have it for all of their launches; of `kept` where it is given, over
/// the runs that know it in the same way: a count and a bound have no mean.
fn mean_of(profile: &mut Profile, runs: &[Vec<usize>], kept: Option<&Values>) -> Values {
    let quantities = profile.launches.quantities();
    let quantities: Vec<Quantity> =
        quantities.filter(|quantity| quantity.is_of_the_work()).collect();
    let mut values = Values::default();
    for quantity in quantities {
        let as_kept = match kept.map(|kept| known_as(profile, runs, kept, quantity)) {
            Some(None) => continue,
            as_kept => as_kept.flatten(),
        };
        let is_known_so = |(_, origin): &(f64, OriginId)| {
            let origin = profile.origins.get(*origin);
            as_kept.as_ref().is_none_or(|kept| are_known_alike(quantity, kept, origin))
        };
        let of_run = |rows: &Vec<usize>| {
            of_all(profile, rows, quantity).filter(|all| all.iter().all(is_known_so))
        };
        let found = runs.iter().filter_map(of_run).collect();
        let found: Vec<(f64, OriginId)> = with_whole_sums(profile, found).concat();
        let Some((first, origin)) = found.first().copied() else { continue };
        let origin = profile.origins.get(origin).clone();
        let sum: f64 = found.iter().map(|(value, _)| value).sum();
        let mean = if found.len() == 1 { first } else { sum / found.len() as f64 };
        let source = if found.len() == 1 {
            "of one launch under Nsight Compute".to_owned()
        } else {
            format!("mean of {} launches under Nsight Compute", found.len())
        };
        let formula = format!("{}, {source}", origin.formula);
        let (low, high) = ends(profile, &found, mean);
        let made = Origin::new(origin.kind.max(OriginKind::Derived), formula).within(low, high);
        let id = profile.origins.id(&made);
        values.set(quantity, mean, id);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Head, Pipe};

    /// Work of two launches of one kernel in runs of their own, by pipe, as it was counted: what their mean has.
    fn of_two_runs(works: [(Pipe, OriginKind, f64); 2]) -> Vec<(Pipe, f64)> {
        let mut profile = Profile::default();
        for (process, (pipe, kind, operations)) in (7..).zip(works) {
            let mut values = Values::default();
            let origin = profile.origins.id(&Origin::new(kind, "column"));
            values.set(Quantity::Work(pipe), operations, origin);
            profile.launches.push(Head { process, count: 1, ..Head::default() }, &values);
        }
        let mean = mean(&mut profile, &[0, 1]);
        let work = |pipe: &Pipe| Some((*pipe, mean.get(Quantity::Work(*pipe))?));
        Pipe::ALL.iter().filter_map(work).collect()
    }

    #[test]
    fn runs_that_count_other_types_complete_each_other() {
        use OriginKind::{Derived, Measured};
        use Pipe::{Bf16Matrix, Fp16Matrix};
        let none = (Bf16Matrix, Measured, 0.0);
        let all = (Fp16Matrix, Measured, 1e9);
        assert_eq!(of_two_runs([none, all]), [(Fp16Matrix, 1e9), (Bf16Matrix, 0.0)]);
        // Counts by type take the place of those of any type, in whatever order runs come.
        let by_type = (Bf16Matrix, Measured, 1e9);
        let by_instruction = (Fp16Matrix, Derived, 2e9);
        assert_eq!(of_two_runs([by_type, by_instruction]), [(Bf16Matrix, 1e9)]);
        assert_eq!(of_two_runs([by_instruction, by_type]), [(Bf16Matrix, 1e9)]);
        let less = (Fp16Matrix, Measured, 1e9);
        assert_eq!(of_two_runs([less, by_instruction]), [(Fp16Matrix, 1e9)]);
        assert_eq!(of_two_runs([by_instruction, less]), [(Fp16Matrix, 1e9)]);
        // A count in one column and one that adds up several are both counts.
        let vector = |kind, operations| (Pipe::Fp32Vector, kind, operations);
        let (one, sum) = (vector(Measured, 1e9), vector(Derived, 3e9));
        assert_eq!(of_two_runs([one, sum]), [(Pipe::Fp32Vector, 2e9)]);
        assert_eq!(of_two_runs([sum, one]), [(Pipe::Fp32Vector, 2e9)]);
        let stated = vector(OriginKind::Algorithmic, 5e9);
        assert_eq!(of_two_runs([one, stated]), [(Pipe::Fp32Vector, 1e9)]);
        // What follows from an assumption is not a count.
        let assumed = vector(OriginKind::Modeled, 5e9);
        assert_eq!(of_two_runs([sum, assumed]), [(Pipe::Fp32Vector, 3e9)]);
        // Of the same kind it is the mean.
        let more = (Bf16Matrix, Measured, 3e9);
        assert_eq!(of_two_runs([by_type, more]), [(Bf16Matrix, 2e9)]);
    }

    /// Additions alone are 100, fused multiply-adds alone 300, and both 400.
    #[test]
    fn different_parts_of_a_sum_have_no_mean() {
        let of = |runs: &[(&str, f64, f64)]| {
            let mut profile = Profile::default();
            for (process, (formula, value, high)) in (7..).zip(runs) {
                let origin = Origin::derived(*formula).within(1.0, *high);
                let (mut values, origin) = (Values::default(), profile.origins.id(&origin));
                values.set(Quantity::Work(Pipe::Fp32Vector), *value, origin);
                profile.launches.push(Head { process, count: 1, ..Head::default() }, &values);
            }
            let rows: Vec<usize> = (0..runs.len()).collect();
            mean(&mut profile, &rows).get(Quantity::Work(Pipe::Fp32Vector))
        };
        let (adds, fused) = (("add", 100.0, f64::INFINITY), ("fma", 300.0, f64::INFINITY));
        let all = ("add + fma", 400.0, 1.0);
        assert_eq!(of(&[adds, fused]), Some(300.0));
        assert_eq!(of(&[fused, adds]), Some(300.0));
        assert_eq!(of(&[fused, all, adds]), Some(400.0));
        assert_eq!(of(&[adds, ("add", 200.0, f64::INFINITY)]), Some(150.0));
    }

    /// 100 exactly, and 300 within a tenth: the mean is 200, between a half of it and 1.65 times as much.
    #[test]
    fn the_range_of_a_mean_includes_that_of_each_value() {
        let mut profile = Profile::default();
        let mut known = |low, high| {
            profile.origins.id(&Origin::new(OriginKind::Derived, "a").within(low, high))
        };
        let (exact, near, open) = (known(1.0, 1.0), known(0.9, 1.1), known(0.0, f64::INFINITY));
        let (low, high) = ends(&profile, &[(100.0, exact), (300.0, near)], 200.0);
        assert!(low == 0.5 && (high - 1.65).abs() < 1e-12, "{low} to {high}");
        assert_eq!(ends(&profile, &[(100.0, exact), (300.0, open)], 200.0), (0.0, f64::INFINITY));
        let (low, high) = ends(&profile, &[(0.0, exact), (300.0, exact)], 150.0);
        assert!(low > 0.0 && low < 1e-300 && high == 2.0);
        assert_eq!(ends(&profile, &[(0.0, exact)], 0.0), (1.0, 1.0));
    }
}
