//! The global shift, the total time and the amount of work of two sides.

use super::both::Both;
use super::comparison::{Basis, Common};
use super::evidence::Evidence;
use super::rows::{Offsets, Row, Table};
use super::run::Run;
use super::shifts;
use super::sides::Joined;
use super::statistics::{Prior, median, robust_deviation, weighted_median};
use crate::units::{Factor, Seconds, Shift};

/// Kernels that must agree before the global shift is subtracted, with one run per side: a median
/// of fewer is moved by two or three that changed.
const AGREEING_KERNELS: usize = 10;

/// Kernels needed with several runs, where the noise of the global shift is known.
const AGREEING_KERNELS_OF_RUNS: usize = 3;

/// Largest spread of shifts that agree: the smallest change that fails a default policy.
const AGREEMENT: Shift = Shift::new(0.05);

/// Runs of both sides needed to separate drift from a change: two of each, alternating.
const RUNS_THAT_DRIFT: usize = 4;

/// Ratios of launches that differ by less than 2% are equal: a loop that ran once more or less.
const SAME_WORK: Shift = Shift::new(0.02);

/// Part of the kernels, and of the time, that must have the usual ratio of launches before it
/// counts as more work. A single kernel that is launched more often is a change (`docs/gate.md`,
/// "The total").
const MOST: f64 = 0.75;

/// Fewest kernels that define a usual ratio.
const KERNELS_OF_WORK: usize = 2;

impl Table<'_> {
    /// Returns the median distance of each run from the kernels' levels, which are midway between
    /// the sides.
    pub(super) fn offsets(&self) -> Offsets {
        let in_all = |row: &&Row<'_>| row.values.iter().flatten().all(Option::is_some);
        let telling: Vec<(&Row<'_>, Both<f64>)> = self
            .rows
            .iter()
            .filter(|row| row.has_sufficient_share())
            .filter(in_all)
            .filter_map(|row| Some((row, row.known().map(|side| median(&side)).known()?)))
            .collect();
        let level = |middle: &Both<f64>| f64::midpoint(middle.before, middle.after);
        let of = |runs: usize, later: bool| {
            let of_run = |run: usize| {
                let distances = telling.iter().filter_map(|(row, middle)| {
                    let values = if later { &row.values.after } else { &row.values.before };
                    Some(values[run]? - level(middle))
                });
                median(&distances.collect::<Vec<_>>()).unwrap_or(0.0)
            };
            (0..runs).map(of_run).collect::<Vec<f64>>()
        };
        let shifts: Vec<f64> =
            telling.iter().map(|(_, middle)| middle.after - middle.before).collect();
        Offsets {
            runs: Both { before: of(self.runs.before, false), after: of(self.runs.after, true) },
            kernels: telling.len(),
            spread: Shift::new(robust_deviation(&shifts).unwrap_or(0.0)),
        }
    }

    pub(super) fn common(&self, offsets: &Offsets) -> Common {
        let runs = offsets.runs.as_ref().map(Vec::as_slice);
        let evidence = self.of_whole(runs);
        let needed = if self.several() { AGREEING_KERNELS_OF_RUNS } else { AGREEING_KERNELS };
        let (removed, reason) = if self.basis == Basis::Headroom {
            (false, "the devices differ, so headroom is compared".to_owned())
        } else if offsets.kernels < needed {
            let few = format!(
                "only {} kernels have 0.1% of the time or more; {needed} are needed for a global \
                 shift",
                offsets.kernels
            );
            (false, few)
        } else if offsets.spread > AGREEMENT {
            let spread = offsets.spread.get() * 100.0;
            (false, format!("the kernels disagree: their shifts spread by {spread:.1}%"))
        } else {
            (true, format!("median over {} kernels", offsets.kernels))
        };
        Common { evidence, kernels: offsets.kernels, removed, reason, cycles: self.common_cycles() }
    }

    /// Returns the median shift in cycles over kernels with enough time, if all of them have
    /// clocks.
    fn common_cycles(&self) -> Option<Shift> {
        let mut shifts = Vec::new();
        for row in self.rows.iter().filter(|row| row.has_sufficient_share()) {
            let cycles =
                row.groups.as_ref().map(|group| median(&group.cycle_centers()?)).known()?;
            shifts.push(cycles.after - cycles.before);
        }
        median(&shifts).map(Shift::new)
    }

    /// Evidence on a value per run, with the drift over the order of runs removed.
    fn of_whole(&self, values: Both<&[f64]>) -> Evidence {
        let floor = self.noise.common.shift();
        if !self.several() {
            let shift = match (values.before, values.after) {
                ([one], [two]) => two - one,
                _ => 0.0,
            };
            return shifts::single(Shift::new(shift), floor);
        }
        let enough =
            |places: &&Both<Vec<f64>>| places.before.len() + places.after.len() >= RUNS_THAT_DRIFT;
        let drifting = self.places.as_ref().filter(enough);
        drifting
            .and_then(|places| shifts::of_drifting(values, places))
            .or_else(|| shifts::of_runs(values, None, Shift::ZERO))
            .unwrap_or_else(|| shifts::single(Shift::ZERO, floor))
    }

    /// Returns the shift of the whole run, for the same amount of work.
    pub(super) fn total(&self, runs: Both<&[Run]>, work: Factor, other_work: Factor) -> Evidence {
        let mut values = match self.basis {
            Basis::Time => runs.map(|runs| {
                let timed = runs.iter().filter(|run| run.measured_s > Seconds::ZERO);
                timed.map(|run| run.measured_s.get().ln()).collect::<Vec<f64>>()
            }),
            Basis::Headroom => self.whole_headrooms(),
        };
        if values.iter().any(Vec::is_empty) {
            return shifts::single(Shift::ZERO, self.noise.common.shift());
        }
        if self.basis == Basis::Time {
            let more = work.shift() + other_work.shift();
            values.after.iter_mut().for_each(|log| *log -= more.get());
        }
        self.of_whole(values.as_ref().map(Vec::as_slice))
    }

    /// Returns the shift of the whole run with median launches, for one run per side.
    pub(super) fn total_typical(&self, sides: Both<&Joined<'_>>, work: Factor) -> Option<Shift> {
        if self.several() || self.basis == Basis::Headroom {
            return None;
        }
        let times = sides.map(Joined::typical_time);
        let are_known = times.iter().all(|time| *time > Seconds::ZERO);
        are_known.then(|| Shift::new((times.after / times.before / work.get()).ln()))
    }

    /// Returns the headroom of all kernels that the roofline covers on both sides, run by run.
    fn whole_headrooms(&self) -> Both<Vec<f64>> {
        let judged: Vec<&Row<'_>> = self
            .rows
            .iter()
            .filter(|row| row.values.iter().flatten().all(Option::is_some))
            .collect();
        let all = |later: bool, runs: usize| {
            let of_run = |run: usize| {
                let (mut modeled, mut roofline_time) = (Seconds::ZERO, Seconds::ZERO);
                for row in &judged {
                    let group = if later { &row.groups.after } else { &row.groups.before };
                    for kernel in &group.by_run[run] {
                        modeled += kernel.judged_s;
                        roofline_time += kernel.roofline_s.unwrap_or_default();
                    }
                }
                let known = modeled > Seconds::ZERO && roofline_time > Seconds::ZERO;
                known.then(|| (modeled / roofline_time).ln())
            };
            (0..runs).filter_map(of_run).collect()
        };
        Both { before: all(false, self.runs.before), after: all(true, self.runs.after) }
    }

    /// By how much kernels of which a launch does other work should have changed the total: each by as
    /// much as its work. 1 where work is not normalized.
    pub(super) fn other_work(&self) -> Factor {
        let more = |row: &Row<'_>| {
            let group = &row.groups.before;
            let share: f64 = group.all().map(|kernel| kernel.share.get()).sum();
            share / group.by_run.len().max(1) as f64 * row.other_work().get().exp_m1()
        };
        Factor::new(1.0 + self.rows.iter().map(more).sum::<f64>())
    }

    /// Fits the prior of the variances of kernels with enough time; only for several runs.
    pub(super) fn prior(&self, offsets: &Offsets, removed: bool) -> Option<Prior> {
        if !self.several() {
            return None;
        }
        let telling = self.rows.iter().filter(|row| row.has_sufficient_share());
        let variances: Vec<(f64, f64)> = telling
            .map(|row| {
                let Both { before, after } =
                    if removed { row.without(offsets) } else { row.known() };
                shifts::variance(&before, &after)
            })
            .collect();
        Prior::fit(&variances)
    }

    /// Returns the work of the current side relative to the baseline: the ratio of launches that
    /// most of the time agrees on.
    pub(super) fn work(&self) -> Factor {
        let ratio =
            |row: &Row<'_>| row.launches().map(|all| ((all.after / all.before).ln(), row.share));
        let ratios: Vec<(f64, f64)> = self.rows.iter().filter_map(ratio).collect();
        let Some(usual) = weighted_median(&ratios) else { return Factor::ONE };
        let agrees = |(ratio, _): &&(f64, f64)| (ratio - usual).abs() < SAME_WORK.get();
        let agreeing: Vec<f64> = ratios.iter().filter(agrees).map(|(_, share)| *share).collect();
        let most_kernels = agreeing.len() as f64 >= ratios.len() as f64 * MOST
            && agreeing.len() >= KERNELS_OF_WORK;
        let most_time = agreeing.iter().sum::<f64>() >= MOST;
        if most_kernels && most_time { Factor::new(usual.exp()) } else { Factor::ONE }
    }
}

#[cfg(test)]
mod tests {
    use super::super::run::tests::{kernel, run};
    use super::super::{Comparison, Setting, compare};
    use super::*;

    /// A run of kernels of five launches each, of so many milliseconds.
    fn side(times: &[f64]) -> Run {
        let of = |(at, time): (usize, &f64)| {
            kernel(&format!("{}_kernel", (b'a' + at as u8) as char), &[time * 1e-3; 5])
        };
        run(times.iter().enumerate().map(of).collect())
    }

    fn compared(before: &[Run], after: &[Run]) -> Comparison {
        compare(before, after, &Setting::default())
    }

    #[test]
    fn few_kernels_do_not_tell_what_all_share_unless_there_are_more_runs() {
        let found = compared(&[side(&[1.0; 9])], &[side(&[1.04; 9])]).common;
        assert!(
            !found.removed && found.reason.starts_with("only 9 kernels have 0.1%"),
            "{found:?}"
        );
        assert!(compared(&[side(&[1.0; 10])], &[side(&[1.04; 10])]).common.removed);
        let (one, two) = ([side(&[1.0; 3]), side(&[1.0; 3])], [side(&[1.04; 3])]);
        let found = compared(&one, &two).common;
        assert!(found.removed && found.reason == "median over 3 kernels", "{found:?}");
    }

    /// Half of ten kernels take 20% longer: all lie ln 1.2 / 2 from the median, which is a deviation of
    /// 1.4826 × 0.0912 = 13.5%.
    #[test]
    fn kernels_that_do_not_agree_share_nothing() {
        let after: Vec<f64> = (0..10).map(|at| if at % 2 == 0 { 1.0 } else { 1.2 }).collect();
        let found = compared(&[side(&[1.0; 10])], &[side(&after)]).common;
        assert!(!found.removed && found.reason.ends_with("spread by 13.5%"), "{found:?}");
    }

    /// One of five launches takes 6 ms instead of 1 ms: the total doubles, and typical launches stay.
    #[test]
    fn a_single_slow_launch_moves_the_total_and_not_the_typical_one() {
        let before = [run(vec![kernel("a", &[1e-3; 5])])];
        let after = [run(vec![kernel("a", &[1e-3, 1e-3, 1e-3, 1e-3, 6e-3])])];
        let found = compared(&before, &after);
        assert!((found.total.shift.get() - 2_f64.ln()).abs() < 1e-12);
        assert!(found.total_typical.unwrap().abs() < Shift::new(1e-12));
        assert_eq!(compared(&[side(&[1.0]), side(&[1.0])], &after).total_typical, None);
    }

    /// On another device: from a headroom of 2 to one of 3 ms / 2 ms; the times do not matter.
    #[test]
    fn across_devices_the_total_is_the_headroom_of_what_both_judge() {
        let mut after = run(vec![kernel("a", &[1e-3, 2e-3]), kernel("only_here", &[9e-3])]);
        after.devices[0].name = "H100".to_owned();
        let judged = Seconds::new(2e-3);
        for one in &mut after.kernels {
            (one.roofline_s, one.roofline_high_s) = (Some(judged), Some(judged));
        }
        let mut before = run(vec![kernel("a", &[1e-3, 2e-3])]);
        before.kernels[0].roofline_high_s = before.kernels[0].roofline_s;
        let found = compared(&[before], &[after]);
        assert_eq!(found.basis, Basis::Headroom);
        assert!((found.total.shift.get() - (1.5_f64 / 2.0).ln()).abs() < 1e-12, "{found:?}");
        assert!(!found.common.removed && found.common.reason.contains("the devices differ"));
    }
}
