//! Kernels that a compiler may have numbered anew.

use std::collections::BTreeMap;

use crate::compare::{Change, Comparison, family};
use crate::units::Shift;

/// Why another number may explain a slower kernel.
pub(super) const RENUMBERED: &str = "another kernel of its family and shape became as much faster, and in the order of their times all take as long as before: \
     the compiler may have numbered them anew";

/// Smallest noise of the times that distinguish kernels.
const LEAST_NOISE: Shift = Shift::new(0.01);

/// The kernels that may be others of their family, as compilers number kernels by their order in the program.
pub(super) struct Renumbered<'a>(Vec<&'a Change>);

impl<'a> Renumbered<'a> {
    /// Those of families of Triton whose members, in the order of their times, take as long as before.
    pub(super) fn of(comparison: &'a Comparison) -> Self {
        let mut families: BTreeMap<_, Vec<&Change>> = BTreeMap::new();
        for one in comparison.changes.iter().filter(|one| one.name.starts_with("triton_")) {
            let after = &one.after;
            let key = (family(&one.name), &after.shape, &after.operator, after.launches.to_bits());
            families.entry(key).or_default().push(one);
        }
        let common = &comparison.common;
        let common = if common.removed { common.evidence.shift } else { Shift::ZERO };
        let mut found = Vec::new();
        for members in families.into_values().filter(|members| members.len() > 1) {
            if is_exchanged(&members, common) {
                found.extend(members);
            }
        }
        Self(found)
    }

    /// Whether a slower kernel may be one of them: another one became as much faster, or nearly.
    pub(super) fn explain(&self, change: &Change) -> bool {
        let shift = |one: &Change| one.own.as_ref().map_or(Shift::ZERO, |own| own.shift);
        let is_family = |one: &&&Change| {
            one.after.shape == change.after.shape && family(&one.name) == family(&change.name)
        };
        self.0.iter().any(|one| std::ptr::eq(*one, change))
            && self.0.iter().filter(is_family).any(|one| shift(one) <= -shift(change) * 0.5)
    }
}

/// Whether the times of all launches of these kernels, in order, are the same on both sides but for noise, and so their sum.
fn is_exchanged(members: &[&Change], common: Shift) -> bool {
    let floors = members.iter().filter_map(|one| Some(one.own.as_ref()?.floor));
    let noise = floors.fold(LEAST_NOISE, Shift::max);
    let times = |before: bool| -> Option<Vec<f64>> {
        let time = |one: &&Change| {
            Some(if before { one.before.launch_s } else { one.after.launch_s }?.get())
        };
        let mut times = members.iter().map(time).collect::<Option<Vec<f64>>>()?;
        times.sort_by(f64::total_cmp);
        Some(times)
    };
    let Some((before, after)) = times(true).zip(times(false)) else { return false };
    let is_same = |one: f64, two: f64| Shift::between(one, two) - common <= noise;
    before.iter().zip(&after).all(|(one, two)| is_same(*one, *two))
        && is_same(before.iter().sum(), after.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::super::decision::Verdict;
    use super::super::kernels::judge;
    use super::super::policy::{Action, Policy};
    use crate::compare::made::{kernel, run};
    use crate::compare::{self, Run};

    /// Eight kernels, each 4% longer than the one before: of the first one 37% more is a shift of all by one place.
    #[test]
    fn a_slower_kernel_among_many_like_it_is_slower() {
        let side = |first: f64| -> [Run; 1] {
            let time = |at: i32| if at == 0 { first } else { 1e-3 * 1.04_f64.powi(at) };
            let of = |at: i32| kernel(&format!("triton_poi_fused_add_{at}"), &[time(at); 5]);
            let others =
                (0..10).map(|at| kernel(&format!("{}_other", (b'a' + at) as char), &[1e-3; 5]));
            [run((0..8).map(of).chain(others).collect())]
        };
        let policy = Policy { noise_is_declared: true, ..Policy::default() };
        let both = compare::compare(&side(1e-3), &side(1.37e-3), &compare::Setting::default());
        let failing =
            judge(&both, &policy).checks.into_iter().filter(|check| check.action == Action::Fail);
        assert_eq!(failing.map(|check| check.verdict).collect::<Vec<_>>(), [Verdict::Regression]);
    }

    /// Two kernels of Triton changed their numbers, or one of them became slower.
    #[test]
    fn kernels_that_exchange_their_numbers_fail_nothing() {
        let side = |times: [f64; 2]| -> [Run; 1] {
            let mut kernels: Vec<_> = (0..10)
                .map(|at| kernel(&format!("{}_other", (b'a' + at) as char), &[1e-3; 5]))
                .collect();
            let numbered = times.iter().enumerate();
            kernels.extend(
                numbered
                    .map(|(at, time)| kernel(&format!("triton_poi_fused_add_{at}"), &[*time; 5])),
            );
            [run(kernels)]
        };
        let policy = Policy { noise_is_declared: true, ..Policy::default() };
        for (after, verdict) in [
            ([3e-3, 1e-3], Verdict::Ambiguous),
            ([3.5e-3, 1e-3], Verdict::Regression),
            ([1e-3, 3.5e-3], Verdict::Regression),
        ] {
            let both =
                compare::compare(&side([1e-3, 3e-3]), &side(after), &compare::Setting::default());
            let checks = judge(&both, &policy).checks;
            let slower = checks.iter().find(|check| check.verdict == verdict);
            let name = slower.and_then(|one| one.subject.written());
            assert!(name.is_some_and(|name| name.starts_with("triton")), "{after:?}: {checks:?}");
            let fails = checks.iter().any(|check| check.action == Action::Fail);
            assert_eq!(fails, verdict == Verdict::Regression, "{after:?}");
        }
    }
}
