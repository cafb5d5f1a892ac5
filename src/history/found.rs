//! The changes of the lines of a trend: found in each, held down among many, then weighed.

use super::change::{ChangePoint, ENOUGH, MAX_P, rejoin, turns};
use super::line::{Line, TrendChange};
use crate::compare::{benjamini_hochberg, median};
use crate::units::{RelativeChange, Seconds, Share};

/// A line whose changes have been found, but not weighed.
pub(super) struct Found {
    line: Line,
    /// Seconds per run.
    times: Vec<Option<f64>>,
    steps: Vec<ChangePoint>,
}

impl Found {
    /// Finds the changes of a line; `times` are its seconds per run.
    pub(super) fn of(mut line: Line, times: Vec<Option<f64>>, least: RelativeChange) -> Self {
        let values: Vec<f64> = line.values.iter().flatten().map(|value| value.median).collect();
        line.is_judged = values.len() >= ENOUGH;
        let found = turns(&values, least);
        line.drift = found.drift;
        Self { line, times, steps: found.steps }
    }

    /// Drops steps beyond a p-value; the levels of the others reach to the next one that is left.
    fn keep(&mut self, limit: f64) {
        let steps = self.steps.len();
        self.steps.retain(|step| step.p.get() <= limit);
        if self.steps.len() < steps {
            let values = self.line.values.iter().flatten();
            rejoin(&values.map(|value| value.median).collect::<Vec<_>>(), &mut self.steps);
        }
    }

    /// Returns the line with what its changes cost.
    pub(super) fn weighed(self) -> Line {
        let Self { mut line, times, steps } = self;
        let there: Vec<usize> =
            (0..line.values.len()).filter(|at| line.values[*at].is_some()).collect();
        let change = |step: ChangePoint| {
            let after = there[step.at..step.at + step.values_after].iter();
            let seconds = median(&after.filter_map(|at| times[*at]).collect::<Vec<_>>());
            // The part of the time now that the step made.
            let part = 1.0 - step.before / step.after;
            let impact_s = Seconds::new(seconds.unwrap_or(0.0)) * part;
            TrendChange { point: there[step.at], step, impact_s }
        };
        line.changes = steps.into_iter().map(change).collect();
        let by = line.worsening().map_or(0.0, RelativeChange::get);
        let newest = times.iter().flatten().next_back().copied().unwrap_or(0.0);
        line.cost_s = Seconds::new(newest * by / (1.0 + by));
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
        let times = [1.0; 6].into_iter().chain([2.0; 3]).map(Some).collect();
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
}
