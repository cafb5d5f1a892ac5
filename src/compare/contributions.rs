//! What the change of the total is made of: kernels whose launches take longer or are more, that are new,
//! gone, renamed, fused or split.

use schemars::JsonSchema;
use serde::Serialize;

use super::both::Both;
use super::evidence::{Inferred, Lone, ProposalKind};
use super::rows::Row;
use super::sides::{Group, Joined};
use super::statistics::median;
use crate::units::{Factor, Seconds};

/// How a kernel changed the total most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContributionKind {
    /// Its launches take longer, or shorter.
    LaunchTime,
    /// It has more launches, or fewer.
    Launches,
    /// Only the current side has it.
    New,
    /// Only the baseline has it.
    Vanished,
    /// It has another name.
    Renamed,
    /// Several kernels became one.
    Fused,
    /// One kernel became several.
    Split,
}

/// What one kernel adds to the change of the total, or takes from it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Contribution {
    /// What changed most.
    pub kind: ContributionKind,
    /// How it is called; what it was called where it vanished.
    pub name: String,
    /// How it was called, if differently; several names are joined by ` + `.
    pub was: Option<String>,
    /// Grid and block, such as `108 / 256`; empty where not known.
    pub shape: String,
    /// Time of all its launches in a run of the baseline (the median of its runs), for the same amount of
    /// work, in seconds.
    pub before_s: Seconds,
    /// The same of the current side.
    pub after_s: Seconds,
    /// What it adds, in seconds.
    pub change_s: Seconds,
    /// Launches in a run of the baseline, for the same amount of work.
    pub launches_before: f64,
    /// Launches in a run of the current side.
    pub launches_after: f64,
}

/// The change of the total, and its parts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Contributions {
    /// The change of the time of a run, for the same amount of work, in seconds: the sum of all parts and
    /// of the rest.
    pub change_s: Seconds,
    /// What each kernel adds, the greatest first, whatever its sign.
    pub parts: Vec<Contribution>,
    /// What the parts do not explain: over several runs, the median of sums is not the sum of medians.
    pub rest_s: Seconds,
}

/// The parts in order, and what is left of the change.
pub(super) fn sorted(mut parts: Vec<Contribution>, change_s: Seconds) -> Contributions {
    parts.retain(|part| part.change_s != Seconds::ZERO);
    parts.sort_by(|one, two| {
        let by_size = two.change_s.abs().total_cmp(&one.change_s.abs());
        by_size.then_with(|| (&one.name, &one.shape).cmp(&(&two.name, &two.shape)))
    });
    let sum: Seconds = parts.iter().map(|part| part.change_s).sum();
    Contributions { change_s, parts, rest_s: change_s - sum }
}

/// What kernels add that both sides have by name.
pub(super) fn of_rows(rows: &[Row<'_>], work: Factor) -> Vec<Contribution> {
    let of = |row: &Row<'_>| {
        let more = work.get() * row.other_work().get().exp();
        let part = of_groups(row, work, more);
        let kind = if is_of_launches(&part) {
            ContributionKind::Launches
        } else {
            ContributionKind::LaunchTime
        };
        let was = Some(row.groups.before.name()).filter(|was| *was != part.name);
        Contribution { kind, was, ..part }
    };
    rows.iter().map(of).collect()
}

/// What kernels add that are compared as one.
pub(super) fn of_inferred(row: &Row<'_>, inferred: &Inferred, work: Factor) -> Contribution {
    Contribution {
        kind: match inferred.kind {
            ProposalKind::Rename => ContributionKind::Renamed,
            ProposalKind::Fusion => ContributionKind::Fused,
            ProposalKind::Split => ContributionKind::Split,
        },
        name: inferred.after.join(" + "),
        was: Some(inferred.before.join(" + ")),
        ..of_groups(row, work, work.get())
    }
}

/// What kernels add that only one side has.
pub(super) fn of_lone(
    sides: Both<&Joined<'_>>,
    lone: &Both<Vec<Lone>>,
    work: Factor,
) -> Vec<Contribution> {
    let of = |lone: &Lone, is_new: bool| {
        let side = if is_new { sides.after } else { sides.before };
        let group = side.of(&[lone.kernel]);
        let work = if is_new { 1.0 } else { work.get() };
        let (time, launches) = (time(&group) * work, group.launches() * work);
        let zero = Seconds::ZERO;
        let (before_s, after_s) = if is_new { (zero, time) } else { (time, zero) };
        let (launches_before, launches_after) =
            if is_new { (0.0, launches) } else { (launches, 0.0) };
        Contribution {
            kind: if is_new { ContributionKind::New } else { ContributionKind::Vanished },
            name: lone.name.clone(),
            was: None,
            shape: lone.measured.shape.clone(),
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

fn of_groups(row: &Row<'_>, work: Factor, more: f64) -> Contribution {
    let Both { before, after } = &row.groups;
    let (before_s, after_s) = (time(before) * more, time(after));
    Contribution {
        kind: ContributionKind::LaunchTime,
        name: after.name(),
        was: None,
        shape: after.shape(),
        before_s,
        after_s,
        change_s: after_s - before_s,
        launches_before: before.launches() * work.get(),
        launches_after: after.launches(),
    }
}

/// Time of all launches in a run: the median of the runs.
fn time(group: &Group<'_>) -> Seconds {
    Seconds::new(median(&group.times()).unwrap_or(0.0))
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
    use super::super::run::tests::{kernel, run};
    use super::super::{Run, Setting, compare};
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
        use ContributionKind::{Launches, New, Vanished};
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
}
