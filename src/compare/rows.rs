//! Pairs of kernels with a value for each run, from which shifts are computed.
//!
//! Values are natural logarithms, and plain numbers until a [`crate::units::Shift`] is found between them.

use super::both::Both;
use super::comparison::{Basis, Common};
use super::evidence::{ProposalKind, WorkChange};
use super::noise::Noise;
use super::pairing::Pair;
use super::sides::Group;
use super::statistics::Prior;
use crate::units::{Factor, Seconds, Shift};

/// Kernels with at least this share of the time contribute to the global shift: the shifts of
/// smaller ones are mostly timer noise (`docs/gate.md`, "What all kernels share").
pub(super) const SUFFICIENT_SHARE: f64 = 0.001;

/// Runs of both sides together needed to estimate their spread: one per side, and one more.
pub(super) const RUNS_OF_BOTH: usize = 3;

/// A pair of kernels with a value for each run.
pub(super) struct Row<'a> {
    pub(super) pair: Pair,
    pub(super) groups: Both<Group<'a>>,
    /// The median launch of each run, or its headroom.
    pub(super) values: Both<Vec<Option<f64>>>,
    /// Median launches of each run, whatever is compared.
    pub(super) centers: Both<Vec<Option<f64>>>,
    pub(super) by_samples: bool,
    /// Mean share of the run time over both sides.
    pub(super) share: f64,
    /// By how much the work of a launch changed.
    pub(super) work: Option<WorkChange>,
    /// Whether several kernels stand for one, so that only their times together can be compared.
    pub(super) together: bool,
    /// Whether several kernels of one key are others than before: the mean launch of all says nothing of any.
    pub(super) mixed: bool,
}

impl<'a> Row<'a> {
    pub(super) fn new(pair: Pair, groups: Both<Group<'a>>, basis: Basis) -> Self {
        let by_samples = groups.iter().all(Group::has_samples);
        let centers = groups.as_ref().map(|group| group.centers(by_samples));
        let values = match basis {
            Basis::Time => centers.clone(),
            Basis::Headroom => groups.as_ref().map(Group::headrooms),
        };
        let share = groups.as_ref().map(|group| {
            let runs = group.by_run.len().max(1) as f64;
            group.all().map(|kernel| kernel.share.get()).sum::<f64>() / runs
        });
        let share = f64::midpoint(share.before, share.after);
        let work = None;
        Self {
            pair,
            groups,
            values,
            centers,
            by_samples,
            share,
            work,
            together: false,
            mixed: false,
        }
    }

    /// The same with the work of a launch compared, and taken out of its times if they are normalized.
    pub(super) fn counted(mut self, normalize: bool) -> Self {
        self.work = Group::other_work(&self.groups, normalize);
        let part = self.other_work().get();
        self.values.after.iter_mut().flatten().for_each(|value| *value -= part);
        self
    }

    /// Kernels that probably became those of the other side: several by their times together.
    pub(super) fn inferred(pair: Pair, groups: Both<Group<'a>>, kind: ProposalKind) -> Self {
        let row = Self::new(pair, groups, Basis::Time);
        if kind == ProposalKind::Rename {
            return row;
        }
        let centers = row.groups.as_ref().map(Group::together);
        Self { values: centers.clone(), centers, by_samples: false, together: true, ..row }
    }

    /// The same for this amount of work of the run: without times of a launch where several kernels have one key, and more
    /// of them ran than before, or fewer. Headroom is that of all of their time.
    pub(super) fn unmixed(mut self, work: Factor, basis: Basis) -> Self {
        let Both { before, after } = self.groups.as_ref().map(Group::mix);
        self.mixed = after.is_other(&before, self.more_launches(work));
        if self.mixed && basis == Basis::Time {
            let none = |values: &Vec<Option<f64>>| vec![None; values.len()];
            self.values = self.values.as_ref().map(none);
            self.centers = self.centers.as_ref().map(none);
        }
        self
    }

    /// The part of its shift that is other work.
    pub(super) fn other_work(&self) -> Shift {
        let normalized = self.work.filter(|work| work.normalized);
        normalized.map_or(Shift::ZERO, |work| work.shift)
    }

    /// Returns `true` if it takes enough time to contribute to the global shift.
    pub(super) fn has_sufficient_share(&self) -> bool {
        self.share >= SUFFICIENT_SHARE
    }

    /// Returns the values of the runs that have one.
    pub(super) fn known(&self) -> Both<Vec<f64>> {
        self.values.as_ref().map(|values| values.iter().flatten().copied().collect())
    }

    /// Returns the values with the offset of each run subtracted.
    pub(super) fn without(&self, offsets: &Offsets) -> Both<Vec<f64>> {
        let known = |values: &[Option<f64>], offsets: &[f64]| {
            let pairs = values.iter().zip(offsets);
            pairs.filter_map(|(value, offset)| value.map(|value| value - offset)).collect()
        };
        Both {
            before: known(&self.values.before, &offsets.runs.before),
            after: known(&self.values.after, &offsets.runs.after),
        }
    }

    /// The part of the shift of all its launches together that is other work, for this amount of work of the run: half
    /// of the launches, each of which does twice the work, are as much work. Zero where a launch does the same work.
    pub(super) fn other_work_of_all(&self, work: Factor) -> Shift {
        let other = self.other_work();
        if other == Shift::ZERO {
            return other;
        }
        other + self.more_launches(work)
    }

    /// How many more launches it has on the current side, for this amount of work of the run.
    pub(super) fn more_launches(&self, work: Factor) -> Shift {
        let more = self.launches().map(|all| (all.after / all.before / work.get()).ln());
        Shift::new(more.unwrap_or(0.0))
    }

    /// Returns the launches of one run of each side; `None` if a side has none.
    pub(super) fn launches(&self) -> Option<Both<f64>> {
        let launches = if self.together {
            self.groups.as_ref().map(Group::occurrences)
        } else {
            self.groups.as_ref().map(Group::launches)
        };
        launches.iter().all(|launches| *launches > 0.0).then_some(launches)
    }
}

/// Offset of each run that all its kernels share, relative to a common level; zero if unknown.
pub(super) struct Offsets {
    /// Offset of each run.
    pub(super) runs: Both<Vec<f64>>,
    /// The shift of these kernels in SM cycles, if all have clocks.
    pub(super) cycles: Option<Shift>,
    /// Number of kernels it was computed from.
    pub(super) kernels: usize,
    /// Spread of the shifts of these kernels.
    pub(super) spread: Shift,
    /// Kernels that moved together while those stayed.
    pub(super) moved: Option<Moved>,
}

/// Kernels that moved together while others stayed.
pub(super) struct Moved {
    /// For each run, how far they lie from a common level.
    pub(super) runs: Both<Vec<f64>>,
    pub(super) pairs: Vec<Pair>,
    /// Their share of the time.
    pub(super) share: f64,
    /// Their common shift in cycles, if all of them have clocks.
    pub(super) cycles: Option<Shift>,
}

/// All pairs of kernels, with the measurement conditions of the sides.
pub(super) struct Table<'a> {
    pub(super) rows: Vec<Row<'a>>,
    pub(super) basis: Basis,
    pub(super) noise: Noise,
    /// Resolution of the timer of the runs.
    pub(super) timer: Seconds,
    /// Number of runs of each side.
    pub(super) runs: Both<usize>,
    /// Positions of the runs of both sides in the order in which they were taken.
    pub(super) places: Option<Both<Vec<f64>>>,
}

impl Table<'_> {
    /// Returns `true` if a side has more than one run.
    pub(super) const fn several(&self) -> bool {
        self.runs.before + self.runs.after >= RUNS_OF_BOTH
    }
}

/// Data of all kernels that is needed to judge one of them.
pub(super) struct Shared<'a> {
    pub(super) offsets: &'a Offsets,
    pub(super) common: &'a Common,
    /// Prior of the kernels' variances; only for several runs.
    pub(super) prior: Option<Prior>,
    /// Work of the current side relative to the baseline.
    pub(super) work: Factor,
}

#[cfg(test)]
mod tests {
    use super::super::made::{kernel, run};
    use super::super::sides::Joined;
    use super::super::{MatchLevel, Run};
    use super::*;

    /// Two runs before, of which only the first has the kernel, with half of its time; one after, of which
    /// it is all.
    #[test]
    fn a_row_has_a_value_for_each_run_that_has_the_kernel() {
        let before =
            [run(vec![kernel("a", &[1.0]), kernel("b", &[1.0])]), run(vec![kernel("b", &[1.0])])];
        let after: [Run; 1] = [run(vec![kernel("a", &[2.0])])];
        let (one, two) = (Joined::new(&before), Joined::new(&after));
        let pair = Pair { before: vec![0], after: vec![0], level: MatchLevel::Exact };
        let groups = Both { before: one.of(&[0]), after: two.of(&[0]) };
        let row = Row::new(pair, groups, Basis::Time);
        let expected = Both { before: vec![Some(0.0), None], after: vec![Some(2_f64.ln())] };
        assert_eq!(row.values, expected);
        // The mean over the runs of a side, then of the sides: (0.25 + 1) / 2.
        assert!((row.share - 0.625).abs() < 1e-12);
        assert_eq!(row.launches(), Some(Both { before: 0.5, after: 1.0 }));
        let runs = Both { before: vec![0.1, 9.0], after: vec![0.2] };
        let offsets = Offsets { runs, cycles: None, kernels: 1, spread: Shift::ZERO, moved: None };
        let without = row.without(&offsets);
        assert_eq!(without, Both { before: vec![-0.1], after: vec![2_f64.ln() - 0.2] });
    }
}
