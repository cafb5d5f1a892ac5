//! The global shift, the total time and the amount of work of two sides.

use super::both::Both;
use super::comparison::{Basis, Common, Split};
use super::evidence::Evidence;
use super::mix::SAME_WORK;
use super::odd::{Odd, odd};
use super::rows::{Moved, Offsets, Row, Shared, Table};
use super::shifts;
use super::sides::{Group, Joined};
use super::split::split;
use super::statistics::{Prior, mean, robust_deviation, weighted_median};
use super::untimed::Untimed;
use crate::plain::counted;
use crate::units::{Factor, Seconds, Share, Shift, median};

/// Kernels that must agree before the global shift is subtracted, with one run per side: a median
/// of fewer is moved by two or three that changed.
const AGREEING_KERNELS: usize = 10;

/// Kernels needed with several runs, where the noise of the global shift is known.
const AGREEING_KERNELS_OF_RUNS: usize = 3;

/// Largest spread of shifts that agree: the smallest change that fails a default policy.
const AGREEMENT: Shift = Shift::new(0.05);

/// Runs of both sides needed to separate drift from a change: two of each, alternating.
pub(super) const RUNS_THAT_DRIFT: usize = 4;

/// Part of the kernels, and of the time, that must have the usual ratio of launches before it
/// counts as more work. A single kernel that is launched more often is a change (`docs/gate.md`,
/// "The total").
const MOST: f64 = 0.75;

/// Fewest kernels that define a usual ratio.
const KERNELS_OF_WORK: usize = 2;

/// A kernel that tells what all share, with its level on both sides.
type Telling<'a> = (&'a Row<'a>, Both<f64>);

/// The whole run.
pub(super) struct Total {
    pub(super) evidence: Evidence,
    /// With what all kernels share subtracted in each run.
    pub(super) own: Option<Evidence>,
    pub(super) odd: Vec<Odd>,
}

impl Table<'_> {
    /// The median over telling kernels of how far each run lies from the kernel's level, which is
    /// midway between the sides. Of kernels of which most moved while others stayed, only the latter tell.
    pub(super) fn offsets(&self) -> Offsets {
        let in_all = |row: &&Row<'_>| row.values.iter().flatten().all(Option::is_some);
        let telling: Vec<Telling<'_>> = self
            .rows
            .iter()
            .filter(|row| row.has_sufficient_share())
            .filter(in_all)
            .filter_map(|row| Some((row, row.known().map(|side| median(&side)).known()?)))
            .collect();
        let shifts: Vec<f64> =
            telling.iter().map(|(_, middle)| middle.after - middle.before).collect();
        let enough = telling.len() >= self.telling_kernels();
        let Some(moved) = split(&shifts).filter(|_| enough && self.basis == Basis::Time) else {
            return self.offsets_of(&telling, None);
        };
        let of = |wanted: bool| -> Vec<Telling<'_>> {
            let known = telling.iter().zip(&moved).filter(|(_, moved)| **moved == wanted);
            known.map(|(row, _)| *row).collect()
        };
        let went = of(true);
        let moved = Moved {
            runs: self.distances(&went),
            pairs: went.iter().map(|(row, _)| row.pair.clone()).collect(),
            share: went.iter().map(|(row, _)| row.share).sum(),
            cycles: self.common_cycles(&went),
        };
        self.offsets_of(&of(false), Some(moved))
    }

    fn offsets_of(&self, telling: &[Telling<'_>], moved: Option<Moved>) -> Offsets {
        let shifts: Vec<f64> =
            telling.iter().map(|(_, middle)| middle.after - middle.before).collect();
        let cycles = self.common_cycles(telling);
        Offsets {
            runs: self.distances(telling),
            cycles,
            kernels: telling.len(),
            spread: Shift::new(robust_deviation(&shifts).unwrap_or(0.0)),
            moved,
        }
    }

    /// For each run, the median over kernels of how far it lies from the level of each.
    fn distances(&self, telling: &[Telling<'_>]) -> Both<Vec<f64>> {
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
        Both { before: of(self.runs.before, false), after: of(self.runs.after, true) }
    }

    /// Kernels that must agree before their common shift is subtracted.
    const fn telling_kernels(&self) -> usize {
        if self.several() { AGREEING_KERNELS_OF_RUNS } else { AGREEING_KERNELS }
    }

    pub(super) fn common(&self, offsets: &Offsets) -> (Common, Vec<Odd>) {
        let runs = offsets.runs.as_ref().map(|runs| runs.iter().copied().map(Some).collect());
        let (evidence, odd) = self.of_whole(&runs);
        let needed = self.telling_kernels();
        let (removed, reason) = if self.basis == Basis::Headroom {
            (false, "the devices differ, so headroom is compared".to_owned())
        } else if let Some(moved) = &offsets.moved {
            let all = offsets.kernels + moved.pairs.len();
            (true, format!("the median over the {} of {all} kernels that stayed", offsets.kernels))
        } else if offsets.kernels < needed {
            let kernels = counted(offsets.kernels as u64, "kernel has", "kernels have");
            let few = format!(
                "only {kernels} 0.1% of the time or more; {needed} are needed for a global shift"
            );
            (false, few)
        } else if offsets.spread > AGREEMENT {
            let spread = offsets.spread.get() * 100.0;
            (false, format!("the kernels disagree: their shifts spread by {spread:.1}%"))
        } else {
            (true, format!("median over {} kernels", offsets.kernels))
        };
        let split = offsets.moved.as_ref().map(|moved| self.split(moved, offsets));
        let cycles = offsets.cycles;
        let kernels = offsets.kernels;
        (Common { evidence, kernels, removed, reason, cycles, split }, odd)
    }

    /// By how much kernels moved against those that stayed: no clock of a run is in it.
    fn split(&self, moved: &Moved, offsets: &Offsets) -> Split {
        let against = |moved: &[f64], stayed: &[f64]| -> Vec<f64> {
            moved.iter().zip(stayed).map(|(moved, stayed)| moved - stayed).collect()
        };
        let before = against(&moved.runs.before, &offsets.runs.before);
        let after = against(&moved.runs.after, &offsets.runs.after);
        let values = Both { before: before.as_slice(), after: &after };
        let single = || {
            let shift = Shift::new(mean(&after) - mean(&before));
            shifts::single(shift, self.noise.kernel.shift())
        };
        let evidence = if self.several() {
            shifts::of_runs(values, None, Shift::ZERO).unwrap_or_else(single)
        } else {
            single()
        };
        let share = Share::new(moved.share.min(1.0));
        let shift_of = |runs: &Both<Vec<f64>>| {
            let times = runs.as_ref().map(|runs| runs.iter().copied().map(Some).collect());
            self.of_whole(&times).0.shift
        };
        let clock = moved.cycles.map(|cycles| {
            let of_moved = shift_of(&moved.runs) - cycles;
            // As far as those that stayed followed the clock, too, it is not in the difference.
            let stayed = shift_of(&offsets.runs);
            let of_stayed = offsets.cycles.map_or(of_moved, |cycles| stayed - cycles);
            of_moved - stayed.min(of_stayed).max(Shift::ZERO)
        });
        let pairs = moved.pairs.clone();
        Split { moved: pairs.len(), stayed: offsets.kernels, share, evidence, clock, pairs }
    }

    /// Returns the shift in cycles that kernels share, if all of them have clocks: of the medians over the kernels of each
    /// run, as the shift in time.
    fn common_cycles(&self, telling: &[Telling<'_>]) -> Option<Shift> {
        let middle =
            |runs: &Vec<Option<f64>>| median(&runs.iter().flatten().copied().collect::<Vec<_>>());
        let mut rows = Vec::new();
        for (row, _) in telling {
            let cycles = row.groups.as_ref().map(Group::cycle_centers).known()?;
            let middles = cycles.as_ref().map(middle).known()?;
            rows.push((cycles, f64::midpoint(middles.before, middles.after)));
        }
        let of = |runs: usize, later: bool| -> Vec<Option<f64>> {
            let of_run = |run: usize| {
                let distances = rows.iter().filter_map(|(cycles, level)| {
                    let values = if later { &cycles.after } else { &cycles.before };
                    Some(values[run]? - level)
                });
                median(&distances.collect::<Vec<_>>())
            };
            (0..runs).map(of_run).collect()
        };
        let values = Both { before: of(self.runs.before, false), after: of(self.runs.after, true) };
        let is_there = values.iter().all(|runs| runs.iter().any(Option::is_some));
        is_there.then(|| self.of_whole(&values).0.shift)
    }

    /// Evidence on something that each run may have one of, with the drift over the order of runs taken out, and
    /// without runs that stand apart from the others of their side.
    fn of_whole(&self, values: &Both<Vec<Option<f64>>>) -> (Evidence, Vec<Odd>) {
        let floor = self.noise.common.shift();
        if !self.several() {
            let shift = match (&values.before[..], &values.after[..]) {
                ([Some(one)], [Some(two)]) => two - one,
                _ => 0.0,
            };
            return (shifts::single(Shift::new(shift), floor), Vec::new());
        }
        let there = values.as_ref().map(|values| -> Vec<(usize, f64)> {
            values.iter().enumerate().filter_map(|(at, value)| Some((at, (*value)?))).collect()
        });
        let known = there
            .as_ref()
            .map(|there| -> Vec<f64> { there.iter().map(|(_, value)| *value).collect() });
        let mut odd = odd(known.as_ref().map(Vec::as_slice));
        for one in &mut odd {
            // Its place among all runs, not among those that have a value.
            one.at = if one.later { there.after[one.at].0 } else { there.before[one.at].0 };
        }
        let kept = |later: bool, there: &[(usize, f64)]| -> Vec<(usize, f64)> {
            let is_kept = |at: usize| !odd.iter().any(|odd| odd.later == later && odd.at == at);
            there.iter().copied().filter(|(at, _)| is_kept(*at)).collect()
        };
        let kept = Both { before: kept(false, &there.before), after: kept(true, &there.after) };
        let of = |kept: &Vec<(usize, f64)>| -> Vec<f64> {
            kept.iter().map(|(_, value)| *value).collect()
        };
        let values = kept.as_ref().map(of);
        let values = values.as_ref().map(Vec::as_slice);
        let places = self.places.as_ref().map(|places| {
            let of = |kept: &[(usize, f64)], places: &[f64]| -> Vec<f64> {
                kept.iter().map(|(at, _)| places[*at]).collect()
            };
            Both { before: of(&kept.before, &places.before), after: of(&kept.after, &places.after) }
        });
        let enough =
            |places: &&Both<Vec<f64>>| places.before.len() + places.after.len() >= RUNS_THAT_DRIFT;
        let drifting = places.as_ref().filter(enough);
        let evidence = drifting
            .and_then(|places| shifts::of_drifting(values, places))
            .or_else(|| shifts::of_runs(values, None, Shift::ZERO))
            .map_or_else(
                || shifts::single(Shift::ZERO, floor),
                |evidence| Evidence { floor: self.between_sides(), ..evidence },
            );
        (evidence, odd)
    }

    /// What all kernels together may shift between the sides, however many runs there are: nothing where the
    /// runs were taken in turns.
    pub(super) fn between_sides(&self) -> Shift {
        let in_turns = self.places.as_ref().is_some_and(shifts::interleave);
        if in_turns { Shift::ZERO } else { self.noise.between_sides() }
    }

    /// The whole run, for the same amount of work: `times` are those of the runs, without kernels that one of them did
    /// not time.
    pub(super) fn total(
        &self,
        times: &Both<Vec<Seconds>>,
        shared: &Shared<'_>,
        other_work: Factor,
    ) -> Total {
        let work = shared.work;
        let mut values = match self.basis {
            Basis::Time => times.as_ref().map(|times| {
                let log = |time: &Seconds| (*time > Seconds::ZERO).then(|| time.get().ln());
                times.iter().map(log).collect::<Vec<_>>()
            }),
            Basis::Headroom => self.whole_headrooms(),
        };
        if values.iter().any(|values| values.iter().all(Option::is_none)) {
            let evidence = shifts::single(Shift::ZERO, self.noise.common.shift());
            return Total { evidence, own: None, odd: Vec::new() };
        }
        if self.basis == Basis::Time {
            let more = work.shift() + other_work.shift();
            values.after.iter_mut().flatten().for_each(|log| *log -= more.get());
        }
        let (evidence, odd) = self.of_whole(&values);
        let offsets = &shared.offsets.runs;
        let own = (self.several() && shared.common.removed).then(|| {
            let own = |values: &[Option<f64>], offsets: &[f64]| -> Vec<Option<f64>> {
                let pairs = values.iter().zip(offsets);
                pairs.map(|(value, offset)| Some((*value)? - offset)).collect()
            };
            let (own, _) = self.of_whole(&Both {
                before: own(&values.before, &offsets.before),
                after: own(&values.after, &offsets.after),
            });
            Evidence { floor: Shift::ZERO, ..own }
        });
        Total { evidence, own, odd }
    }

    /// Returns the shift of the whole run with median launches, for one run per side.
    pub(super) fn total_typical(
        &self,
        sides: Both<&Joined<'_>>,
        untimed: &Untimed,
        work: Factor,
    ) -> Option<Shift> {
        if self.several() || self.basis == Basis::Headroom {
            return None;
        }
        let times = untimed.typical(sides);
        let are_known = times.iter().all(|time| *time > Seconds::ZERO);
        are_known.then(|| Shift::new((times.after / times.before / work.get()).ln()))
    }

    /// Returns the headroom of all kernels that the roofline covers on both sides, run by run.
    fn whole_headrooms(&self) -> Both<Vec<Option<f64>>> {
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
            (0..runs).map(of_run).collect()
        };
        Both { before: all(false, self.runs.before), after: all(true, self.runs.after) }
    }

    /// By how much kernels of which a launch does other work should have changed the total: each by as
    /// much as its work. 1 where work is not normalized.
    pub(super) fn other_work(&self, work: Factor, untimed: &Untimed) -> Factor {
        let more = |row: &Row<'_>| {
            let group = &row.groups.before;
            let share: f64 = group.all().map(|kernel| kernel.share.get()).sum();
            let share = share / group.by_run.len().max(1) as f64;
            share * row.other_work_of_all(work).get().exp_m1()
        };
        let timed = self.rows.iter().filter(|row| !row.is_untimed());
        let share = 1.0 - untimed.share.get();
        let more: f64 = timed.map(more).sum();
        Factor::new(1.0 + if share > 0.0 { more / share } else { 0.0 })
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
    use super::super::made::{kernel, run};
    use super::super::{Comparison, Setting, compare};
    use super::super::{Run, RunKernel};
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

    /// Shifts of 0, 6, 12 … 54%, as logarithms: their median is 27%, and each half of them lies 3, 9, 15, 21
    /// and 27% from it, which is a deviation of 1.4826 × 15% = 22.2%.
    #[test]
    fn kernels_that_do_not_agree_share_nothing() {
        let after: Vec<f64> = (0..10).map(|at| (0.06 * f64::from(at)).exp()).collect();
        let found = compared(&[side(&[1.0; 10])], &[side(&after)]).common;
        assert!(!found.removed && found.reason.ends_with("spread by 22.2%"), "{found:?}");
    }

    /// Six of ten kernels take 6.5% longer: the other four tell what all share, which is nothing.
    #[test]
    fn most_kernels_are_not_all() {
        let after: Vec<f64> = (0..10).map(|at| if at < 6 { 1.065 } else { 1.0 }).collect();
        let found = compared(&[side(&[1.0; 10])], &[side(&after)]);
        let split = found.common.split.as_ref().unwrap();
        assert_eq!((split.moved, split.stayed), (6, 4));
        assert!((split.evidence.change().get() - 0.065).abs() < 1e-12);
        assert_eq!(found.common.evidence.shift, Shift::ZERO);
        let own = found.changes.iter().find(|change| change.name == "a_kernel").unwrap();
        assert!((own.own.as_ref().unwrap().change().get() - 0.065).abs() < 1e-12);
    }

    /// Five runs per side, of which one of the baseline is hot: 15% more of everything is seen, and it is named.
    #[test]
    fn one_hot_run_does_not_hide_what_the_others_show() {
        let noise = [0.001, -0.001, 0.002, 0.0, -0.002];
        let runs = |label: &str, factor: f64, hot: f64| -> Vec<Run> {
            let of = |(at, noise): (usize, &f64)| {
                let more = factor * (1.0 + noise) * if at == 3 { hot } else { 1.0 };
                Run { label: format!("{label}{at}"), ..side(&[more; 12]) }
            };
            noise.iter().enumerate().map(of).collect()
        };
        let found = compared(&runs("a", 1.0, 1.25), &runs("b", 1.15, 1.0));
        let odd: Vec<&str> = found.odd.iter().map(|odd| odd.label.as_str()).collect();
        assert_eq!(odd, ["a3"]);
        for evidence in [&found.total, &found.common.evidence] {
            assert!(evidence.low.unwrap() > Shift::new(0.13), "{evidence:?}");
            assert_eq!((evidence.before, evidence.after), (4, 5));
        }
        assert!(compared(&runs("a", 1.0, 1.0), &runs("b", 1.15, 1.0)).odd.is_empty());
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

    /// 10 and 20 steps of kernels that run once to 48 times in each, of which three launches are left out.
    #[test]
    fn runs_of_other_lengths_are_as_fast_behind_their_warm_up() {
        let side = |steps: u64| {
            let of = |(at, in_step): (u8, u64)| {
                let launches = steps * in_step;
                let name = format!("{}_kernel", char::from(b'a' + at));
                RunKernel { launches, ..kernel(&name, &vec![3e-4; launches as usize - 3]) }
            };
            let all = (0..).zip([1, 1, 2, 2, 3, 4, 4, 6, 8, 12, 24, 48]);
            [Run { warmup: 3, ..run(all.map(of).collect()) }]
        };
        let found = compared(&side(10), &side(20));
        assert!(found.total.shift.abs() < Shift::new(1e-12), "{:?}", found.total);
        for change in &found.changes {
            assert!(change.own.as_ref().unwrap().shift.abs() < Shift::new(1e-12), "{change:?}");
        }
    }
}
