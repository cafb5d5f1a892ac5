//! Kernels that a compiler may have numbered anew.

use crate::compare::{Change, Comparison, Measured, family};
use crate::units::Shift;

/// Why another number may explain a slower kernel.
pub(super) const RENUMBERED: &str = "the kernels of its family and shape take as long as before in another order, so the compiler may have \
                          numbered them anew";

/// Whether a slower kernel may be another one of its family, as compilers number kernels by their order in the program: told
/// apart by time, none of those of its shape and launches takes longer than the limit allows.
pub(super) fn is_renumbered(comparison: &Comparison, change: &Change, limit: Shift) -> bool {
    let of = |one: &Change| {
        let Measured { shape, operator, launches, .. } = &one.after;
        (family(&one.name), shape.clone(), operator.clone(), launches.to_bits())
    };
    if !change.name.starts_with("triton_") {
        return false;
    }
    let own = of(change);
    let members: Vec<&Change> = comparison.changes.iter().filter(|one| of(one) == own).collect();
    let times = |side: fn(&Change) -> &Measured| -> Option<Vec<f64>> {
        let times = members.iter().map(|one| Some(side(one).launch_s?.get()));
        let mut times = times.collect::<Option<Vec<f64>>>()?;
        times.sort_by(f64::total_cmp);
        Some(times)
    };
    let both = times(|one| &one.before).zip(times(|one| &one.after));
    let common = &comparison.common;
    let common = if common.removed { common.evidence.shift } else { Shift::ZERO };
    members.len() > 1
        && both.is_some_and(|(before, after)| {
            before.iter().zip(after).all(|(one, two)| Shift::between(*one, two) - common <= limit)
        })
}

#[cfg(test)]
mod tests {
    use super::super::decision::Verdict;
    use super::super::kernels::judge;
    use super::super::policy::{Action, Policy};
    use crate::compare::made::{kernel, run};
    use crate::compare::{self, Run};

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
            assert!(
                slower.is_some_and(|one| one.message.contains("triton")),
                "{after:?}: {checks:?}"
            );
            let fails = checks.iter().any(|check| check.action == Action::Fail);
            assert_eq!(fails, verdict == Verdict::Regression, "{after:?}");
        }
    }
}
