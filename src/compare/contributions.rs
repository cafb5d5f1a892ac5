//! What the change of the total is made of: kernels whose launches take longer or are more, that are new,
//! gone, renamed, fused or split.

use super::both::Both;
use super::comparison::{Contribution, ContributionKind, Contributions};
use super::evidence::{Inferred, Lone, ProposalKind};
use super::rows::Row;
use super::sides::{Group, Joined};
use super::untimed::ROUNDING;
use crate::units::{Factor, Seconds, median};

/// The parts in order, and what is left of the change.
pub(super) fn sorted(mut parts: Vec<Contribution>, change_s: Seconds) -> Contributions {
    parts.retain(|part| part.change_s != Seconds::ZERO);
    parts.sort_by(|one, two| {
        let by_size = two.change_s.abs().total_cmp(&one.change_s.abs());
        by_size.then_with(|| (&one.name, &one.shape).cmp(&(&two.name, &two.shape)))
    });
    let sum: Seconds = parts.iter().map(|part| part.change_s).sum();
    let size: Seconds = parts.iter().map(|part| part.before_s + part.after_s).sum();
    let rest_s = change_s - sum;
    let is_rounding = rest_s.abs() <= size * ROUNDING;
    Contributions { change_s, parts, rest_s: if is_rounding { Seconds::ZERO } else { rest_s } }
}

/// What the parts of a total are counted from.
pub(super) struct Parts<'a> {
    /// Work of the current runs relative to the baseline.
    pub(super) work: Factor,
    /// Which runs of each side the total is of: not those that stand apart.
    pub(super) counting: &'a Both<Vec<bool>>,
}

impl Parts<'_> {
    /// What kernels add that both sides have by name. Those that a run did not time are not in the total.
    pub(super) fn of_rows(&self, rows: &[Row<'_>]) -> Vec<Contribution> {
        let of = |row: &Row<'_>| {
            let more = self.work.get() * row.other_work_of_all(self.work).get().exp();
            let part = self.of_groups(row, more);
            // What most runs of a side lack it does not have, as in the checks.
            let lacking = row.groups.as_ref().map(Group::most_lack_it);
            let kind = match (lacking.before, lacking.after) {
                (false, true) => ContributionKind::Vanished,
                (true, false) => ContributionKind::New,
                _ if is_of_launches(&part) => ContributionKind::Launches,
                _ => ContributionKind::LaunchTime,
            };
            let was = Some(row.groups.before.name()).filter(|was| *was != part.name);
            Contribution { kind, was, ..part }
        };
        rows.iter().filter(|row| !row.is_untimed()).map(of).collect()
    }

    /// What kernels add that are compared as one.
    pub(super) fn of_inferred(&self, row: &Row<'_>, inferred: &Inferred) -> Contribution {
        Contribution {
            kind: match inferred.kind {
                ProposalKind::Rename => ContributionKind::Renamed,
                ProposalKind::Fusion => ContributionKind::Fused,
                ProposalKind::Split => ContributionKind::Split,
            },
            name: inferred.after.join(" + "),
            was: Some(inferred.before.join(" + ")),
            ..self.of_groups(row, self.work.get())
        }
    }

    /// What kernels add that only one side has.
    pub(super) fn of_lone(
        &self,
        sides: Both<&Joined<'_>>,
        lone: &Both<Vec<Lone>>,
    ) -> Vec<Contribution> {
        let of = |lone: &Lone, is_new: bool| {
            let (side, counting) = if is_new {
                (sides.after, &self.counting.after)
            } else {
                (sides.before, &self.counting.before)
            };
            let group = side.of(&[lone.kernel]);
            let work = if is_new { 1.0 } else { self.work.get() };
            let (time, launches) = (time(&group, counting) * work, group.launches() * work);
            let zero = Seconds::ZERO;
            let (before_s, after_s) = if is_new { (zero, time) } else { (time, zero) };
            let (launches_before, launches_after) =
                if is_new { (0.0, launches) } else { (launches, 0.0) };
            Contribution {
                kind: if is_new { ContributionKind::New } else { ContributionKind::Vanished },
                name: lone.name.clone(),
                was: None,
                shape: lone.measured.shape.clone(),
                operator: lone.measured.operator.clone(),
                before_s,
                after_s,
                change_s: after_s - before_s,
                launches_before,
                launches_after,
            }
        };
        let vanished = lone.before.iter().map(|lone| of(lone, false));
        vanished.chain(lone.after.iter().map(|lone| of(lone, true))).collect()
    }

    fn of_groups(&self, row: &Row<'_>, more: f64) -> Contribution {
        let Both { before, after } = &row.groups;
        let (before_s, after_s) =
            (time(before, &self.counting.before) * more, time(after, &self.counting.after));
        Contribution {
            kind: ContributionKind::LaunchTime,
            name: after.name(),
            was: None,
            shape: after.shape(),
            operator: after.operator(),
            before_s,
            after_s,
            change_s: after_s - before_s,
            launches_before: launches(before) * self.work.get(),
            launches_after: launches(after),
        }
    }
}

/// Launches in a run: none where most runs of the side have none, as their time is.
fn launches(group: &Group<'_>) -> f64 {
    if group.most_lack_it() { 0.0 } else { group.launches() }
}

/// Time of all launches in a run: the median of the runs that count.
fn time(group: &Group<'_>, counting: &[bool]) -> Seconds {
    let times = group.times().into_iter().zip(counting);
    let times: Vec<f64> = times.filter(|(_, counts)| **counts).map(|(time, _)| time).collect();
    Seconds::new(median(&times).unwrap_or(0.0))
}

/// Whether the number of launches moved the time of a kernel further than the time of one launch.
fn is_of_launches(part: &Contribution) -> bool {
    let log = |one: f64, two: f64| if one > 0.0 && two > 0.0 { (two / one).ln() } else { 0.0 };
    let launches = log(part.launches_before, part.launches_after);
    let whole = log(part.before_s.get(), part.after_s.get());
    launches.abs() > (whole - launches).abs()
}

#[cfg(test)]
mod tests {
    use super::super::made::{kernel, run};
    use super::super::{Run, Setting, compare};
    use super::ContributionKind::{Launches, New, Vanished};
    use super::*;

    fn of(before: &[(&str, &[f64])], after: &[(&str, &[f64])]) -> Contributions {
        let side = |kernels: &[(&str, &[f64])]| -> [Run; 1] {
            [run(kernels.iter().map(|(name, times)| kernel(name, times)).collect())]
        };
        compare(&side(before), &side(after), &Setting::default()).contributions
    }

    /// In milliseconds: 10 to 10 (gemm), 4 to 8 (copy, twice the launches), 0 to 3 (scale), 2 to 0 (mask).
    #[test]
    fn the_parts_add_up_to_the_change_of_the_total() {
        let found = of(
            &[("gemm", &[1e-2]), ("copy", &[2e-3; 2]), ("mask", &[2e-3])],
            &[("gemm", &[1e-2]), ("copy", &[2e-3; 4]), ("scale", &[1e-3; 3])],
        );
        let near = |one: Seconds, two: f64| (one.get() - two).abs() < 1e-12;
        assert!(near(found.change_s, 5e-3) && near(found.rest_s, 0.0), "{found:?}");
        let kinds: Vec<_> =
            found.parts.iter().map(|part| (part.name.as_str(), part.kind)).collect();
        assert_eq!(kinds, [("copy", Launches), ("scale", New), ("mask", Vanished)]);
        assert!(near(found.parts[0].change_s, 4e-3) && near(found.parts[2].change_s, -2e-3));
        assert_eq!((found.parts[0].launches_before, found.parts[0].launches_after), (2.0, 4.0));
    }

    #[test]
    fn a_slower_launch_and_more_of_them_are_told_apart() {
        let kind = |after: &[f64]| {
            let found = of(&[("gemm", &[1e-2; 4])], &[("gemm", after)]);
            found.parts[0].kind
        };
        assert_eq!(kind(&[2e-2; 4]), ContributionKind::LaunchTime);
        assert_eq!(kind(&[1.2e-2; 8]), ContributionKind::Launches);
        assert_eq!(kind(&[2e-2; 5]), ContributionKind::LaunchTime);
    }

    /// The fourth run of the baseline is left out of the total, and of its parts: 75 to 82.5 ms.
    #[test]
    fn a_run_that_is_left_out_of_the_total_is_left_out_of_its_parts() {
        let side = |factors: [f64; 4]| -> Vec<Run> {
            let of = |factor: f64| {
                let kernels = [("gemm", 1e-2), ("copy", 5e-3)];
                run(kernels.iter().map(|(name, time)| kernel(name, &[time * factor; 5])).collect())
            };
            factors.map(of).to_vec()
        };
        let (before, after) = (side([0.999, 1.0, 1.001, 1.6]), side([1.099, 1.1, 1.101, 1.1]));
        let found = compare(&before, &after, &Setting::default());
        assert_eq!(found.odd.len(), 1, "{:?}", found.odd);
        let near = |one: Seconds, two: f64| (one.get() - two).abs() < 1e-9;
        assert!(near(found.baseline.time_s, 7.5e-2), "{:?}", found.baseline);
        let Contributions { change_s, parts, rest_s } = &found.contributions;
        assert!(near(*change_s, 7.5e-3) && near(*rest_s, 0.0), "{:?}", found.contributions);
        assert!(near(parts[0].change_s, 5e-3) && near(parts[1].change_s, 2.5e-3), "{parts:?}");
    }
}
