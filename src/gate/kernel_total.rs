//! Judges the time of all launches of a kernel: more launches are no slower launch, and cost as much.

use super::certainty::{MoreRuns, is_beyond};
use super::decision::{Check, Subject, Verdict};
use super::policy::{Action, Limit, Metric, Policy};
use super::thresholds::MORE_RUNS;
use super::value::Allowed;
use super::{causes, words};
use crate::compare::{Basis, Change, Comparison, Evidence, Unit};
use crate::units::{Shift, change_limit, si};

/// Launches are counted: fewer than 1% more are a loop that ran once more.
const SAME_LAUNCHES: Shift = Shift::new(0.01);

/// Judges a kernel by its limit on the time of all launches, for the same amount of work of the run.
pub(super) fn judge(comparison: &Comparison, change: &Change, policy: &Policy) -> Option<Check> {
    let limit = policy
        .limit(Metric::KernelTotal, &change.after, &change.name)
        .filter(|_| comparison.basis == Basis::Time)?;
    let all = change.of_all.as_ref();
    let own = change.evidence()?;
    // With as many launches the limit on one of them has judged it, unless it allows more or has not been exceeded: a few
    // slow launches are in the sum alone.
    let of_launch = policy.limit(Metric::Time, &change.after, &change.name);
    let is_judged = of_launch.is_some_and(|one| {
        let is_no_looser = one.worse <= limit.worse && one.action >= limit.action;
        // Who loosens the limit on time means the kernel; the default is of every kernel.
        is_no_looser && own.shift > one.shift() || *limit == Limit::kernel_total()
    });
    let typical = if change.is_mixed { own.clone() } else { with(own, change.launches_shift) };
    let evidence = all.map_or_else(|| typical.clone(), |all| all.evidence.clone());
    let worse = limit.shift();
    let is_beyond =
        |evidence: &Evidence| is_beyond(evidence, worse, |chance| chance <= policy.false_discovery);
    // Of one run a single slow launch may make the time of all: there it is that of a typical one.
    let several = evidence.unit == Unit::Runs;
    if evidence.shift <= worse || !several && typical.shift <= worse {
        return None;
    }
    if change.launches_shift.abs() <= SAME_LAUNCHES && is_judged {
        return None;
    }
    let judged = if several { &evidence } else { &typical };
    let is_certain = is_beyond(judged);
    // Launches are counted; what nobody measured is the noise of the time of one.
    let is_counted = change.launches_shift > worse && !change.is_mixed;
    let may_be_noise = is_certain && !is_counted && policy.may_be_noise(own);
    let (verdict, action) = if is_certain && !may_be_noise {
        (Verdict::Regression, limit.action)
    } else {
        (Verdict::Ambiguous, policy.ambiguous.min(limit.action))
    };
    // What is inferred about names fails no more than the policy lets it.
    let action = if change.inferred.is_some() { action.min(policy.renamed) } else { action };
    let (before, after) = match all {
        Some(all) => (all.before_s, all.after_s),
        None => (change.before.time_s? * comparison.work.get(), change.after.time_s?),
    };
    let delta = after - before;
    let run = comparison.current.time_s.max(comparison.baseline.time_s);
    let counts = limit.counts(change.share()) && limit.is_enough(delta, run);
    let launches = all
        .map_or([change.before.launches * comparison.work.get(), change.after.launches], |all| {
            [all.launches_before, all.launches_after]
        });
    let now = words::of_launches(launches[1]);
    let [one, two] = launches.map(words::launches);
    let launches = if one == two {
        format!("{now} as before")
    } else {
        format!("launches went from {one}{} to {two}", words::scaled(comparison.work.get()))
    };
    let message = format!(
        "{}{launches}, time of all launches from {} to {}: {}, limit {}",
        causes::first(change),
        si(before.get(), "s"),
        si(after.get(), "s"),
        words::change(evidence.shift),
        change_limit(limit.worse)
    );
    let doubt = if may_be_noise {
        Some(words::undeclared())
    } else {
        (!is_certain).then(|| words::doubt(judged, worse))
    };
    let message = doubt.map_or_else(|| message.clone(), |doubt| format!("{message}; {doubt}"));
    Some(Check {
        verdict,
        action: if counts { action } else { action.min(Action::Notice) },
        before: Some(before.into()),
        after: Some(after.into()),
        change: Some(evidence.change()),
        interval: evidence.interval(),
        confidence: evidence.confidence,
        limit: Some(Allowed::Change(limit.worse)),
        delta_s: Some(delta),
        share: change.after.share,
        matched: Some(change.pair.level),
        more_runs: if may_be_noise {
            Some(MORE_RUNS)
        } else {
            (!is_certain).then(|| MoreRuns::of(judged, worse).number()).flatten()
        },
        ..Check::new(
            Metric::KernelTotal.key(),
            Metric::KernelTotal,
            Subject::kernel(&change.name, &change.after),
            message,
        )
    })
}

/// Evidence on one launch as evidence on all of them, of which there are more.
fn with(own: &Evidence, more: Shift) -> Evidence {
    Evidence {
        shift: own.shift + more,
        low: own.low.map(|low| low + more),
        high: own.high.map(|high| high + more),
        ..own.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{
        self, Run,
        made::{kernel, run},
    };
    use crate::units::RelativeChange;

    /// Five runs of ten launches of a millisecond, which differ by up to 0.2% from run to run; the first `slow` of them
    /// take `factor` times as long.
    fn side(slow: usize, factor: f64) -> Vec<Run> {
        let times = |at: usize| -> Vec<f64> {
            let noise = 1.0 + 0.0005 * at as f64;
            (0..10).map(|launch| 1e-3 * noise * if launch < slow { factor } else { 1.0 }).collect()
        };
        (0..5).map(|at| run(vec![kernel("a", &times(at))])).collect()
    }

    /// Two kernels of 100 and 20 µs, ten times each, become three: 1.2 to 1.7 ms, or to 1.3 ms of one run each.
    #[test]
    fn mixed_kernels_are_judged_by_the_time_of_all() {
        let side = |runs: usize, fused: &[(&str, f64)]| -> Vec<Run> {
            let of = |at: usize| {
                let noise = 1.0 + 0.0005 * at as f64;
                let others = [("a", 1e-3), ("b", 1e-3), ("c", 1e-3)];
                let all = fused.iter().copied().chain(others);
                run(all.map(|(name, time)| kernel(name, &[time * noise; 10])).collect())
            };
            (0..runs).map(of).collect()
        };
        let judged = |runs: usize, times: [f64; 3]| {
            let before = side(runs, &[("triton_poi_add_0", 1e-4), ("triton_poi_add_1", 2e-5)]);
            let names = ["triton_poi_add_2", "triton_poi_add_3", "triton_poi_add_4"];
            let fused: Vec<_> = names.into_iter().zip(times).collect();
            let setting = compare::Setting::default();
            let comparison = compare::compare(&before, &side(runs, &fused), &setting);
            let mut changes = comparison.changes.iter();
            let change = changes.find(|change| change.is_mixed).unwrap();
            judge(&comparison, change, &Policy::default())
                .map(|check| (check.verdict, check.change.unwrap().get()))
        };
        let (verdict, change) = judged(5, [1.3e-4, 2e-5, 2e-5]).unwrap();
        assert_eq!(verdict, Verdict::Regression);
        assert!((change - (1.7 / 1.2 - 1.0)).abs() < 1e-9, "{change}");
        // More launches do not rule noise out: which kernels they are of is not known.
        let (verdict, _) = judged(1, [1e-4, 2e-5, 1e-5]).unwrap();
        assert_eq!(verdict, Verdict::Ambiguous);
        assert_eq!(judged(5, [1e-4, 1e-5, 1e-5]), None);
    }

    /// 2 of 10 launches at 1.45× are 9% in sum, and no typical launch is slower.
    #[test]
    fn an_own_limit_on_all_launches_holds_where_that_on_one_is_kept() {
        let verdict = |current: &[Run], limits: Vec<Limit>| {
            let comparison = compare::compare(&side(0, 1.0), current, &compare::Setting::default());
            let policy = Policy { limits, ..Policy::default() };
            judge(&comparison, &comparison.changes[0], &policy).map(|check| check.verdict)
        };
        let limit = |metric, worse| Limit::new(metric, RelativeChange::new(worse));
        let of = |total: f64| vec![limit(Metric::Time, 0.05), limit(Metric::KernelTotal, total)];
        let few = side(2, 1.45);
        assert_eq!(verdict(&few, of(0.05)), Some(Verdict::Regression));
        assert_eq!(verdict(&few, of(0.08)), Some(Verdict::Regression));
        assert_eq!(verdict(&few, of(0.10)), None);
        assert_eq!(verdict(&few, Policy::default().limits), None);
        // Where each launch is slower, the limit on one has said it.
        assert_eq!(verdict(&side(10, 1.2), of(0.05)), None);
    }
}
