//! The changes of the lines of a trend: found in each, held down among many, then weighed.

use super::change::{ChangePoint, ENOUGH, MAX_P, far_enough, rejoin, turns};
use super::line::{Line, TrendChange};
use crate::compare::benjamini_hochberg;
use crate::units::{RelativeChange, Seconds, Share, median};

/// What a line takes in the runs of a commit, in seconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// All launches of a run.
    pub(super) run: f64,
    /// The mean launch, of which a run is made; all of them for a line of all launches or of the run.
    pub(super) mean: f64,
}

/// A line whose changes have been found, but not weighed.
pub(super) struct Found {
    line: Line,
    times: Vec<Option<Times>>,
    steps: Vec<ChangePoint>,
    least: RelativeChange,
}

impl Found {
    /// Finds the changes of a line.
    pub(super) fn of(mut line: Line, times: Vec<Option<Times>>, least: RelativeChange) -> Self {
        let values: Vec<f64> = line.values.iter().flatten().map(|value| value.median).collect();
        line.is_judged = values.len() >= ENOUGH;
        let found = turns(&values, least);
        line.drift = found.drift;
        Self { line, times, steps: found.steps, least }
    }

    /// Drops steps beyond a p-value; the levels of the others reach to the next one that is left, and must still differ enough.
    fn keep(&mut self, limit: f64) {
        let steps = self.steps.len();
        self.steps.retain(|step| step.p.get() <= limit);
        if self.steps.len() < steps {
            let values = self.line.values.iter().flatten();
            rejoin(&values.map(|value| value.median).collect::<Vec<_>>(), &mut self.steps);
            far_enough(&mut self.steps, self.least);
        }
    }

    /// Returns the line with what its changes cost.
    pub(super) fn weighed(self) -> Line {
        let Self { mut line, times, steps, .. } = self;
        let there: Vec<usize> =
            (0..line.values.len()).filter(|at| line.values[*at].is_some()).collect();
        let middle = |commits: &[usize], of: fn(&Times) -> f64| {
            median(&commits.iter().filter_map(|at| times[*at].as_ref().map(of)).collect::<Vec<_>>())
        };
        // The part of a run's time by which the mean launch exceeds that of another level: the value of a line may be
        // a typical launch, and a run is the sum of all launches.
        let part = |before: &[usize], after: &[usize]| {
            let means = middle(before, |one| one.mean).zip(middle(after, |one| one.mean));
            means
                .filter(|(_, after)| *after > 0.0)
                .map_or(0.0, |(before, after)| 1.0 - before / after)
        };
        let sides = |step: &ChangePoint| {
            [
                &there[step.at - step.values_before..step.at],
                &there[step.at..step.at + step.values_after],
            ]
        };
        let newest = times.iter().flatten().next_back().map_or(0.0, |one| one.run);
        line.is_gone = line.values.last().is_some_and(Option::is_none) && !there.is_empty();
        line.cost_s = Seconds::new(match (&line.drift, steps.last()) {
            _ if line.is_gone => 0.0,
            (_, Some(last)) => {
                let lowest = steps.iter().min_by(|one, two| one.before.total_cmp(&two.before));
                let best = sides(lowest.unwrap_or(last))[0];
                let is_worse = steps.iter().any(|step| step.before < last.after);
                if is_worse { (newest * part(best, sides(last)[1])).max(0.0) } else { 0.0 }
            }
            (Some(drift), None) => {
                let by = drift.change.get().max(0.0);
                newest * by / (1.0 + by)
            }
            (None, None) => 0.0,
        });
        let change = |step: ChangePoint| {
            let [before, after] = sides(&step);
            let seconds = middle(after, |one| one.run).unwrap_or(0.0);
            let impact_s = Seconds::new(seconds * part(before, after));
            TrendChange { point: there[step.at], step, impact_s }
        };
        line.changes = steps.into_iter().map(change).collect();
        if line.share > Share::ZERO {
            line.run_s = Seconds::new(newest / line.share.get());
        }
        line
    }
}

/// Drops steps that are likely due to chance among many kernels: the false-discovery rate stays
/// below [`MAX_P`] (Y. Benjamini, Y. Hochberg 1995, over all kernels that are judged).
pub(super) fn control(kernels: &mut [Found]) {
    let mut all: Vec<f64> = Vec::new();
    for found in kernels.iter().filter(|found| found.line.is_judged) {
        all.extend(found.steps.iter().map(|step| step.p.get()));
        // A kernel without a step was looked at as well.
        all.extend(found.steps.is_empty().then_some(1.0));
    }
    let adjusted = benjamini_hochberg(&all);
    let passing = all.iter().zip(adjusted).filter(|(_, adjusted)| *adjusted <= MAX_P.get());
    let limit = passing.map(|(p, _)| *p).fold(f64::NEG_INFINITY, f64::max);
    for found in kernels {
        found.keep(limit);
    }
}

#[cfg(test)]
mod tests {
    use super::super::change::MIN_CHANGE;
    use super::super::line::Spread;
    use super::*;
    use crate::units::Probability;

    /// Six values of 1 s and three of 2 s, with the step that is found between them.
    fn found(p: f64) -> Found {
        let spread = |value: f64| Spread { median: value, least: value, greatest: value, runs: 1 };
        let values = [1.0; 6].into_iter().chain([2.0; 3]).map(spread).map(Some);
        let line = Line { values: values.collect(), share: Share::new(0.5), ..Line::default() };
        let times = [1.0; 6].into_iter().chain([2.0; 3]);
        let times = times.map(|run| Some(Times { run, mean: run })).collect();
        let mut found = Found::of(line, times, MIN_CHANGE);
        let [step] = &mut found.steps[..] else { panic!("{:?}", found.steps) };
        step.p = Probability::new(p);
        found
    }

    #[test]
    fn among_many_kernels_chance_is_held_down() {
        let mut lines: Vec<Found> = [1e-5, 0.0009, 0.0049].map(found).into();
        lines.extend((0..7).map(|_| Found { steps: Vec::new(), ..found(1.0) }));
        control(&mut lines);
        let lines: Vec<Line> = lines.into_iter().map(Found::weighed).collect();
        let kept: Vec<usize> = lines.iter().map(|line| line.changes.len()).collect();
        assert_eq!(kept[..3], [1, 1, 0]);
        // What a dropped step made costs nothing: half of 2 s where it is kept.
        let costs: Vec<f64> = lines.iter().map(|line| line.cost_s.get()).collect();
        assert_eq!((costs[0], costs[2]), (1.0, 0.0));
        assert_eq!(lines[0].run_s.get(), 4.0);
    }

    /// 1, 1.04 and 1.0816 s: without the second step, those that are left are 1 s and the middle of the others, 1.06 s; of
    /// 1.03 and 1.0609 s it is 1.045 s, less than 5% above 1 s.
    #[test]
    fn steps_that_no_longer_add_up_are_dropped() {
        for (factor, left) in [(1.04, 1), (1.03, 0)] {
            let levels = [1.0, factor, factor * factor];
            let values = levels.iter().flat_map(|level| std::iter::repeat_n(*level, 6));
            let spread =
                |value: f64| Spread { median: value, least: value, greatest: value, runs: 1 };
            let line = Line { values: values.map(spread).map(Some).collect(), ..Line::default() };
            let mut found = Found::of(line, vec![None; 18], MIN_CHANGE);
            assert_eq!(found.steps.len(), 2, "{:?}", found.steps);
            found.steps[1].p = Probability::new(0.004);
            found.keep(0.003);
            assert_eq!(found.steps.len(), left, "{:?}", found.steps);
        }
    }

    /// Five launches of 13 ms together, then of 17 ms, of which the value of the line went from 1 to 5 ms: the run takes
    /// 4 ms longer. Nothing that is gone costs anything.
    #[test]
    fn a_step_costs_what_the_run_takes_longer() {
        let spread = |value: f64| Spread { median: value, least: value, greatest: value, runs: 1 };
        let line = |gone: usize| {
            let values = [1e-3; 5].into_iter().chain([5e-3; 4]).map(spread).map(Some);
            let times = [13e-3; 5].into_iter().chain([17e-3; 4]);
            let times = times.map(|run| Some(Times { run, mean: run / 5.0 }));
            let line = Line {
                values: values.chain((0..gone).map(|_| None)).collect(),
                share: Share::new(1.0),
                ..Line::default()
            };
            let times = times.chain((0..gone).map(|_| None)).collect();
            Found::of(line, times, MIN_CHANGE).weighed()
        };
        let there = line(0);
        assert!((there.changes[0].impact_s.get() - 4e-3).abs() < 1e-12, "{there:?}");
        assert!((there.cost_s.get() - 4e-3).abs() < 1e-12, "{there:?}");
        let gone = line(1);
        assert!((gone.changes[0].impact_s.get() - 4e-3).abs() < 1e-12, "{gone:?}");
        assert_eq!((gone.cost_s, gone.is_gone, there.is_gone), (Seconds::ZERO, true, false));
    }
}
