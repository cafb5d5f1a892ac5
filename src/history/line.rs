//! The values of a run or a kernel over commits, with their changes.

use schemars::JsonSchema;
use serde::Serialize;

use super::change::{ChangePoint, Drift};
use super::metric::TrendMetric;
use crate::units::{RelativeChange, Seconds, Share};

/// Values of the runs of one commit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Spread {
    /// Median, in the unit of the metric.
    pub median: f64,
    /// Smallest value.
    pub least: f64,
    /// Largest value.
    pub greatest: f64,
    /// Number of runs with a value.
    pub runs: usize,
}

/// A step of a line with its impact on the run time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrendChange {
    /// Index of the commit among the points.
    pub point: usize,
    /// The step; its `at` counts only points with a value.
    #[serde(flatten)]
    pub step: ChangePoint,
    /// What the change costs a run, in seconds; negative if it got faster. Of a time per launch at the launches after it.
    pub impact_s: Seconds,
}

/// The values of the run, or of a kernel, over commits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Line {
    /// Short name of the kernel in the newest run; `None` for the whole run.
    pub kernel: Option<String>,
    /// Full name of the kernel in the newest run.
    pub full_name: Option<String>,
    /// Framework operator and parameters.
    pub operator: Option<String>,
    /// Grid and block, where all its launches have the same.
    pub shape: Option<String>,
    /// Category by name; empty for the run.
    pub category: String,
    /// The metric of its values: that of the trend, or the time of all launches, where several kernels of a family are
    /// followed as one and are others from commit to commit.
    pub metric: TrendMetric,
    /// Share of the run time in the newest run that has it.
    pub share: Share,
    /// Value per point; `None` if the kernel does not occur.
    pub values: Vec<Option<Spread>>,
    /// Change points, in order.
    pub changes: Vec<TrendChange>,
    /// A steady drift instead of steps.
    pub drift: Option<Drift>,
    /// True if there are enough values to find changes.
    pub is_judged: bool,
    /// True if the newest commit has no value: the kernel is gone.
    pub is_gone: bool,
    /// What its worsening costs in the newest run, in seconds: the time above what it would be at the best level; 0 if it
    /// is gone.
    pub cost_s: Seconds,
    /// Time of the newest run that has it, in seconds.
    pub run_s: Seconds,
}

impl Line {
    /// Returns by how much the newest level lies above the lowest one before it, as steps or a drift show
    /// it; `None` if neither does, or if there are too few values.
    #[must_use]
    pub fn worsening(&self) -> Option<RelativeChange> {
        let of_drift = self.drift.as_ref().map(|drift| drift.change);
        let levels = self.changes.iter().map(|change| change.step.before);
        let lowest = levels.reduce(f64::min);
        let newest = self.changes.last().map(|change| change.step.after);
        let of_steps = newest.zip(lowest).map(|(newest, lowest)| newest / lowest - 1.0);
        let worst = of_drift.into_iter().chain(of_steps.map(RelativeChange::new));
        worst.filter(|change| change.get() > 0.0).max_by(RelativeChange::total_cmp)
    }

    /// Returns by how much the newest level exceeds the lowest one before it, in the unit of the metric; 0 if it does not.
    #[must_use]
    pub fn excess(&self) -> f64 {
        let newest = self.changes.last().map(|change| change.step.after);
        let newest = newest.or_else(|| self.drift.as_ref().map(|drift| drift.to));
        let by = self.worsening().map_or(0.0, RelativeChange::get);
        newest.map_or(0.0, |newest| newest * by / (1.0 + by))
    }

    /// Returns the largest impact of its steps in seconds; 0 without steps.
    #[must_use]
    pub fn impact(&self) -> Seconds {
        self.changes.iter().map(|change| change.impact_s.abs()).fold(Seconds::ZERO, Seconds::max)
    }
}
