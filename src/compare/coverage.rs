//! How much of the baseline's time a comparison is about.

use super::both::Both;
use super::comparison::Coverage;
use super::evidence::{Lone, Proposal};
use super::rows::{Row, Table};
use super::run::{Run, RunKernel};
use super::sides::{Group, Joined};
use crate::units::{Probability, Seconds, Share};

/// A proposal that is at least so sure accounts for the kernels that vanished.
const CONFIDENT: Probability = Probability::new(0.7);

impl Table<'_> {
    /// How much of the baseline's time is compared. A launch without a duration counts as one of the same
    /// kernel on the other side, or as the average launch of the baseline. `together` are renamed, fused and split
    /// kernels that are compared as one.
    pub(super) fn coverage(
        &self,
        runs: Both<&[Run]>,
        joined: &Joined<'_>,
        together: &[Row<'_>],
        (vanished, proposals): (&[Lone], &[Proposal]),
    ) -> Coverage {
        let time: Seconds = runs.before.iter().map(|run| run.measured_s).sum();
        let timed: u64 = runs.before.iter().map(|run| run.timed_launches).sum();
        let average = time / timed.max(1) as f64;
        let (mut compared, mut unmeasured, mut missing) =
            (Seconds::ZERO, Seconds::ZERO, Seconds::ZERO);
        for row in self.rows.iter().chain(together) {
            let other = typical(row.groups.after.all()).unwrap_or(average);
            let whole = estimated(&row.groups.before, other);
            if row.groups.after.most_lack_it() {
                // What few runs say of it is not judged.
                missing += whole;
                continue;
            }
            let part = whole * measured_part(row, runs);
            compared += part;
            unmeasured += whole - part;
        }
        for (at, lone) in vanished.iter().enumerate() {
            let whole = estimated(&joined.of(&[lone.kernel]), average);
            let is_explained = |proposal: &Proposal| {
                proposal.confidence >= CONFIDENT && proposal.before.contains(&at)
            };
            if proposals.iter().any(is_explained) {
                compared += whole;
            } else {
                missing += whole;
            }
        }
        let all = compared + unmeasured + missing;
        let share = |part: Seconds| {
            if all > Seconds::ZERO { Share::new(part / all) } else { Share::ZERO }
        };
        Coverage {
            compared: share(compared),
            unmeasured: share(unmeasured),
            missing: share(missing),
        }
    }
}

/// The mean launch of kernels; none where none has a duration.
fn typical<'a>(kernels: impl Iterator<Item = &'a RunKernel>) -> Option<Seconds> {
    let (time, timed) = kernels.fold((Seconds::ZERO, 0), |(time, timed), kernel| {
        (time + kernel.measured_s, timed + kernel.timed)
    });
    (timed > 0).then(|| time / timed as f64)
}

/// The time of all launches of a group, those without a duration too.
fn estimated(group: &Group<'_>, otherwise: Seconds) -> Seconds {
    let launches: u64 = group.all().map(|kernel| kernel.launches).sum();
    typical(group.all()).unwrap_or(otherwise) * launches as f64
}

/// The part of a pair's launches that can be compared: the lesser of both sides.
fn measured_part(row: &Row<'_>, runs: Both<&[Run]>) -> f64 {
    // Of mixed kernels the time of all is compared.
    if !row.mixed && row.known().iter().any(Vec::is_empty) {
        return 0.0;
    }
    let part = |group: &Group<'_>, runs: &[Run]| {
        let (mut timed, mut wanted) = (0_u64, 0_u64);
        for (kernels, run) in group.by_run.iter().zip(runs) {
            for kernel in kernels {
                // Launches that were left out as warm-up are not missing.
                timed += kernel.timed;
                wanted += kernel.warm_launches(run.warmup);
            }
        }
        (timed as f64 / wanted.max(1) as f64).min(1.0)
    };
    part(&row.groups.before, runs.before).min(part(&row.groups.after, runs.after))
}

#[cfg(test)]
mod tests {
    use super::super::made::{kernel, run, untimed};
    use super::super::{Setting, compare};
    use super::*;

    fn found(before: Vec<RunKernel>, after: Vec<RunKernel>) -> [f64; 3] {
        let side = |kernels| -> [Run; 1] { [run(kernels)] };
        let found = compare(&side(before), &side(after), &Setting::default()).coverage;
        [found.compared, found.unmeasured, found.missing]
            .map(|share| (share.get() * 1000.0).round() / 1000.0)
    }

    /// 6 ms of 10 ms are in the kernel that both sides have.
    #[test]
    fn what_is_gone_and_what_has_no_duration_is_not_compared() {
        let (a, b) = (|| kernel("alpha", &[1e-3; 6]), || kernel("beta", &[1e-3; 4]));
        assert_eq!(found(vec![a(), b()], vec![a(), b()]), [1.0, 0.0, 0.0]);
        assert_eq!(found(vec![a(), b()], vec![a()]), [0.6, 0.0, 0.4]);
        assert_eq!(found(vec![a(), b()], vec![a(), untimed(b())]), [0.6, 0.4, 0.0]);
        // Without a duration in the baseline, that of the current side stands in.
        assert_eq!(found(vec![a(), untimed(b())], vec![a(), b()]), [0.6, 0.4, 0.0]);
    }

    /// Half of the launches of a kernel have a duration: 5 ms of 10 ms.
    #[test]
    fn launches_without_a_duration_count_as_others_of_their_kernel() {
        let whole = kernel("alpha", &[1e-3; 10]);
        let half = RunKernel { launches: 10, ..kernel("alpha", &[1e-3; 5]) };
        assert_eq!(found(vec![whole], vec![half]), [0.5, 0.5, 0.0]);
    }

    /// A document may say that more launches warmed up than there are.
    #[test]
    fn one_launch_at_least_is_expected_to_have_a_duration() {
        let cold = || RunKernel { cold: Some(99), ..kernel("alpha", &[1e-3; 10]) };
        assert_eq!(found(vec![cold()], vec![cold()]), [1.0, 0.0, 0.0]);
    }
}
