//! The kernels of a baseline beside those of a run.

use std::collections::BTreeMap;

use super::super::Report;
use super::super::numbers::count;
use super::super::scene;
use crate::analysis::{Analysis, Kernel};
use crate::compare::{Pairing, pair};

/// The kernels of a baseline, by the kernels of the run that they became.
#[derive(Default)]
pub(super) struct Before<'a> {
    baseline: Option<&'a Analysis>,
    /// Kernels that are one on both sides: position now, position before.
    same: BTreeMap<usize, usize>,
    pairing: Pairing,
}

impl<'a> Before<'a> {
    pub(super) fn of(report: &Report<'_>, baseline: Option<&'a Analysis>) -> Self {
        let Some(before) = baseline else { return Self::default() };
        let pairing = pair(before, report.analysis);
        let same = pairing.pairs.iter().filter_map(|pair| match (&*pair.after, &*pair.before) {
            ([after], [before]) => Some((*after, *before)),
            _ => None,
        });
        Self { baseline, same: same.collect(), pairing }
    }

    pub(super) fn kernel(&self, now: usize) -> Option<&'a Kernel> {
        self.baseline?.kernels.get(*self.same.get(&now)?)
    }

    /// Measured time before, in seconds.
    pub(super) fn time(&self, now: usize) -> Option<f64> {
        Some(self.kernel(now)?.measured.get())
    }

    /// Intensity and rate before.
    pub(super) fn place(&self, now: usize) -> Option<(f64, f64)> {
        scene::place(self.kernel(now)?)
    }

    /// How many kernels have a mark of before, and what has none.
    pub(super) fn note(&self) -> Option<String> {
        self.baseline?;
        let (new, gone) = (self.pairing.new.len(), self.pairing.vanished.len());
        let joined = self.pairing.pairs.len() - self.same.len();
        let joined = match joined {
            0 => String::new(),
            _ => format!(", {} matched in groups", count(joined as u64, "family", "families")),
        };
        let kernels = count(self.same.len() as u64, "kernel", "kernels");
        Some(format!("baseline shown for {kernels}; not shown: {new} new, {gone} gone{joined}"))
    }
}
