//! Pairs of kernels with a value for each run: what shifts are found in.
//!
//! Values are natural logarithms, and plain numbers until a [`crate::units::Shift`] is found between them.

use super::both::Both;
use super::comparison::{Basis, Common};
use super::noise::Noise;
use super::pairing::Pair;
use super::sides::Group;
use super::statistics::Prior;
use crate::units::{Factor, Seconds, Shift};

/// Kernels that take at least this share of the time tell what is common to all: the shifts of smaller ones
/// are mostly those of their timer (`docs/gate.md`, "What all kernels share").
pub(super) const TELLING_SHARE: f64 = 0.001;

/// Runs of both sides together from which their spread can be told: one a side, and one more.
pub(super) const RUNS_THAT_SPREAD: usize = 3;

/// A pair of kernels with a value for each run.
pub(super) struct Row<'a> {
    pub(super) pair: Pair,
    pub(super) groups: Both<Group<'a>>,
    /// The typical launch of each run, or its headroom.
    pub(super) values: Both<Vec<Option<f64>>>,
    /// Typical launches of each run, whatever is compared.
    pub(super) centers: Both<Vec<Option<f64>>>,
    pub(super) by_samples: bool,
    /// Mean share of the time of both sides.
    pub(super) share: f64,
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
        Self { pair, groups, values, centers, by_samples, share }
    }

    /// Whether it takes enough of the time to tell what is common to all.
    pub(super) fn is_telling(&self) -> bool {
        self.share >= TELLING_SHARE
    }

    /// The values of the runs that have one.
    pub(super) fn known(&self) -> Both<Vec<f64>> {
        self.values.as_ref().map(|values| values.iter().flatten().copied().collect())
    }

    /// The same with what is common to each run taken out.
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

    /// Launches of one run of each side; none where a side has none.
    pub(super) fn launches(&self) -> Option<Both<f64>> {
        let launches = self.groups.as_ref().map(Group::launches);
        launches.iter().all(|launches| *launches > 0.0).then_some(launches)
    }
}

/// What all kernels of a run share, about a common level; zero where it is not known.
pub(super) struct Offsets {
    /// For each run.
    pub(super) runs: Both<Vec<f64>>,
    /// Kernels it was taken from.
    pub(super) kernels: usize,
    /// How far the shifts of these kernels spread.
    pub(super) spread: Shift,
}

/// All pairs, and how the sides were measured.
pub(super) struct Table<'a> {
    pub(super) rows: Vec<Row<'a>>,
    pub(super) basis: Basis,
    pub(super) noise: Noise,
    /// What the timer of the runs cannot tell.
    pub(super) timer: Seconds,
    /// Runs of each side.
    pub(super) runs: Both<usize>,
    /// Places of the runs of both sides in the order in which they were taken.
    pub(super) places: Option<Both<Vec<f64>>>,
}

impl Table<'_> {
    /// Whether there are more runs than one a side.
    pub(super) const fn several(&self) -> bool {
        self.runs.before + self.runs.after >= RUNS_THAT_SPREAD
    }
}

/// What is known of all kernels when one of them is looked at.
pub(super) struct Shared<'a> {
    pub(super) offsets: &'a Offsets,
    pub(super) common: &'a Common,
    /// What the variances of kernels have in common; only for several runs.
    pub(super) prior: Option<Prior>,
    /// How much more work the current side holds.
    pub(super) work: Factor,
}

#[cfg(test)]
mod tests {
    use super::super::run::tests::{kernel, run};
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
        let offsets = Offsets { runs, kernels: 1, spread: Shift::ZERO };
        let without = row.without(&offsets);
        assert_eq!(without, Both { before: vec![-0.1], after: vec![2_f64.ln() - 0.2] });
    }
}
