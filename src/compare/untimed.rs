//! Kernels without a duration in one of the runs: the totals of the sides are of what all runs timed.

use super::both::Both;
use super::comparison::Basis;
use super::rows::{Row, Table};
use super::run::{Run, RunKernel};
use super::sides::{Group, Joined};
use crate::plain::counted;
use crate::units::{Seconds, Share, si};

/// Sums of times that differ by less than this share of them differ by rounding.
pub(super) const ROUNDING: f64 = 1e-12;

/// What the totals leave out: no duration is not no time.
pub(super) struct Untimed {
    /// How many kernels that both sides have.
    kernels: usize,
    /// Their time in each run, as far as it is known.
    by_run: Both<Vec<Seconds>>,
    /// The same if each launch took as long as a typical one of its kernel and run, over all runs.
    typical: Both<Seconds>,
    /// Their mean share of the baseline's time.
    pub(super) share: Share,
}

impl Row<'_> {
    /// Returns `true` if a kernel of it has no duration in one of the runs that have it.
    pub(super) fn is_untimed(&self) -> bool {
        self.groups.iter().flat_map(Group::all).any(|kernel| !kernel.is_timed())
    }
}

impl Table<'_> {
    /// Returns what the totals leave out; nothing where headroom is compared, which is of judged kernels alone.
    pub(super) fn untimed(&self) -> Untimed {
        let has_time =
            |row: &Row<'_>| row.groups.iter().flat_map(Group::all).any(RunKernel::is_timed);
        let is_left_out =
            |row: &&Row<'_>| self.basis == Basis::Time && row.is_untimed() && has_time(row);
        let rows: Vec<&Row<'_>> = self.rows.iter().filter(is_left_out).collect();
        let mut by_run = self.runs.map(|runs| vec![Seconds::ZERO; runs]);
        let add = |sums: &mut Vec<Seconds>, times: Vec<f64>| {
            sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += Seconds::new(time));
        };
        let mut typical = Both::<Seconds>::default();
        for Row { groups, .. } in &rows {
            add(&mut by_run.before, groups.before.times());
            add(&mut by_run.after, groups.after.times());
            typical.before += groups.before.all().map(RunKernel::typical_s).sum();
            typical.after += groups.after.all().map(RunKernel::typical_s).sum();
        }
        let shares = rows.iter().flat_map(|row| row.groups.before.all());
        let share: f64 = shares.map(|kernel| kernel.share.get()).sum();
        Untimed {
            kernels: rows.len(),
            by_run,
            typical,
            share: Share::new((share / self.runs.before.max(1) as f64).min(1.0)),
        }
    }
}

/// The rest of a time: rounding may leave something where nothing is left.
fn without(whole: Seconds, left_out: Seconds) -> Seconds {
    let is_all = left_out >= whole * (1.0 - ROUNDING);
    if is_all { Seconds::ZERO } else { whole - left_out }
}

impl Untimed {
    /// Returns the time of each run without them.
    pub(super) fn times(&self, runs: Both<&[Run]>) -> Both<Vec<Seconds>> {
        let of = |runs: &[Run], left_out: &[Seconds]| -> Vec<Seconds> {
            let times = runs.iter().zip(left_out);
            times.map(|(run, left_out)| without(run.whole_s(), *left_out)).collect()
        };
        Both {
            before: of(runs.before, &self.by_run.before),
            after: of(runs.after, &self.by_run.after),
        }
    }

    /// Returns the time of all runs of each side without them if each launch took as long as a typical one.
    pub(super) fn typical(&self, sides: Both<&Joined<'_>>) -> Both<Seconds> {
        let whole = sides.map(Joined::typical_time);
        Both {
            before: without(whole.before, self.typical.before),
            after: without(whole.after, self.typical.after),
        }
    }

    /// Returns what was left out, as a sentence; `None` if nothing was.
    pub(super) fn note(&self) -> Option<String> {
        if self.kernels == 0 {
            return None;
        }
        let kernels = counted(
            self.kernels as u64,
            "kernel has no duration in one of the runs and is",
            "kernels have no duration in one of the runs and are",
        );
        let largest = |times: &[Seconds]| times.iter().copied().fold(Seconds::ZERO, Seconds::max);
        let times = self.by_run.as_ref().map(|times| largest(times));
        Some(format!(
            "{kernels} left out of both totals (up to {} of a baseline run, {} of a current run)",
            si(times.before.get(), "s"),
            si(times.after.get(), "s")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::made::{kernel, run, untimed};
    use super::super::{Comparison, Setting, compare};
    use super::*;
    use crate::units::{Flops, Shift};

    fn compared(before: Vec<RunKernel>, after: Vec<RunKernel>) -> Comparison {
        let side = |kernels| -> [Run; 1] { [run(kernels)] };
        compare(&side(before), &side(after), &Setting::default())
    }

    fn near(one: Seconds, milliseconds: f64) -> bool {
        (one.get() - milliseconds * 1e-3).abs() < 1e-12
    }

    /// From 10 to 10.5 ms; another kernel of 1 ms lost its duration, which made the total 11 to 10.5 ms.
    #[test]
    fn a_kernel_without_a_duration_on_a_side_is_in_neither_total() {
        let (a, b) = (|time| kernel("alpha", &[time; 5]), || kernel("beta", &[2e-4; 5]));
        for (before, after) in [
            (vec![a(2e-3), b()], vec![a(2.1e-3), untimed(b())]),
            (vec![a(2e-3), untimed(b())], vec![a(2.1e-3), b()]),
        ] {
            let found = compared(before, after);
            assert!(near(found.baseline.time_s, 10.0) && near(found.current.time_s, 10.5));
            for shift in [found.total.shift, found.total_typical.unwrap()] {
                assert!((shift - Shift::new(1.05_f64.ln())).abs() < Shift::new(1e-12), "{shift:?}");
            }
            let parts: Vec<&str> =
                found.contributions.parts.iter().map(|part| part.name.as_str()).collect();
            assert_eq!(parts, ["alpha"]);
            let rest = found.contributions.rest_s;
            assert!(near(found.contributions.change_s, 0.5) && rest == Seconds::ZERO, "{rest:?}");
            let notes: Vec<&String> =
                found.notes.iter().filter(|note| note.contains("1 kernel has no")).collect();
            assert_eq!(notes.len(), 1, "{:?}", found.notes);
        }
        let whole = compared(vec![a(2e-3), b()], vec![a(2.1e-3), b()]);
        assert!(near(whole.baseline.time_s, 11.0) && near(whole.current.time_s, 11.5));
        assert!(!whole.notes.iter().any(|note| note.contains("no duration")));
    }

    /// Of two runs of the current side one lacks it: the totals are of the other kernel, 10 to 11 ms.
    #[test]
    fn a_kernel_that_one_of_several_runs_did_not_time_is_left_out_of_all() {
        let (a, b) = (|time| kernel("alpha", &[time; 5]), || kernel("beta", &[2e-4; 5]));
        let before = [run(vec![a(2e-3), b()]), run(vec![a(2e-3), b()])];
        let after = [run(vec![a(2.2e-3), b()]), run(vec![a(2.2e-3), untimed(b())])];
        let found = compare(&before, &after, &Setting::default());
        assert!(near(found.baseline.time_s, 10.0) && near(found.current.time_s, 11.0));
        assert!((found.total.shift - Shift::new(1.1_f64.ln())).abs() < Shift::new(1e-12));
    }

    /// Nothing is left of a run of which they are all.
    #[test]
    fn a_side_of_which_nothing_is_timed_has_no_total() {
        let (one, two) = (|| kernel("alpha", &[1e-3; 5]), || untimed(kernel("alpha", &[1e-3; 5])));
        let found = compared(vec![one()], vec![two()]);
        assert_eq!((found.total.shift, found.total_typical), (Shift::ZERO, None));
        assert!(near(found.baseline.time_s, 0.0) && found.contributions.parts.is_empty());
    }

    /// 20 to 30 ms, of which one kernel of 10 ms does twice the work: half of what is timed, which explains all. With a
    /// kernel of 5 ms that the current side did not time, it would be 40%.
    #[test]
    fn other_work_is_a_part_of_what_is_timed() {
        let side = |time: f64, work: f64, rest: RunKernel| -> [Run; 1] {
            let gemm = kernel("gemm", &[time; 5]);
            let gemm = RunKernel { flops: Some(Flops::new(5.0 * work)), ..gemm };
            [run(vec![gemm, kernel("copy", &[2e-3; 5]), rest])]
        };
        let beta = || kernel("beta", &[1e-3; 5]);
        let setting = Setting { normalize_work: true, ..Setting::default() };
        let found = compare(&side(2e-3, 1.0, beta()), &side(4e-3, 2.0, untimed(beta())), &setting);
        assert!((found.other_work.get() - 1.5).abs() < 1e-12, "{:?}", found.other_work);
        assert!(found.total.shift.abs() < Shift::new(1e-12), "{:?}", found.total);
    }

    /// There is nothing to leave out where neither side has a time.
    #[test]
    fn a_kernel_that_no_run_timed_is_not_said_to_be_left_out() {
        let (a, b) = (|| kernel("alpha", &[1e-3; 5]), || untimed(kernel("beta", &[1e-3; 5])));
        let found = compared(vec![a(), b()], vec![a(), b()]);
        assert!(!found.notes.iter().any(|note| note.contains("left out")), "{:?}", found.notes);
        assert!(near(found.baseline.time_s, 5.0) && near(found.current.time_s, 5.0));
    }
}
