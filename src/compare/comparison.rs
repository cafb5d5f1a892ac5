//! The comparison of two sets of runs: the global shift of all kernels and the shift of each
//! kernel.

use schemars::JsonSchema;
use serde::Serialize;

use super::evidence::{Change, Evidence, Lone, Proposal};
use super::pairing::Pair;
use crate::units::{Factor, Seconds, Share, Shift};

/// The quantity that is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Measured time, if both sides ran on the same device.
    Time,
    /// Headroom over each device's own roofline, if the sides ran on different devices.
    Headroom,
}

/// The runs of one side.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Side {
    /// Labels of its runs.
    pub labels: Vec<String>,
    /// Names of its devices.
    pub devices: Vec<String>,
    /// Time of one run in seconds: the median over its runs, without those left out of the total.
    pub time_s: Seconds,
    /// Launches of one run: the median over its runs.
    pub launches: f64,
    /// Number of first launches of each kernel that are left out of its times as warm-up.
    pub warmup: u32,
    /// Whether a kernel leaves out fewer, as it keeps one launch at least.
    #[serde(skip)]
    pub is_warmup_partial: bool,
    /// Number of kernels that occur in any of its runs.
    pub kernels: usize,
    /// Commits of saved runs, each once.
    pub commits: Vec<String>,
    /// Run-to-run spread of the total time, as a standard deviation of logarithms.
    pub spread: Option<Shift>,
}

/// The global shift that all kernels of a run share: clocks, temperature, driver.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Common {
    /// The shift: the median over kernels with a sufficient share of the time.
    pub evidence: Evidence,
    /// Number of kernels it was computed from.
    pub kernels: usize,
    /// True if it was subtracted from the shift of each kernel.
    pub removed: bool,
    /// Why it was subtracted, or why not.
    pub reason: String,
    /// The global shift in SM cycles, if all of these kernels have clocks: the part that a clock
    /// change cannot explain.
    pub cycles: Option<Shift>,
    /// Kernels that moved together while others stayed: then the shift is that of those that stayed.
    pub split: Option<Split>,
}

/// Half of the kernels or more, which moved together while the others stayed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Split {
    /// How many moved.
    pub moved: usize,
    /// How many stayed.
    pub stayed: usize,
    /// Share of the time of those that moved.
    pub share: Share,
    /// By how much they moved against those that stayed.
    pub evidence: Evidence,
    /// What the SM clock made of that, if all that moved have clocks: a lower clock slows kernels that math limits, and
    /// leaves the others.
    pub clock: Option<Shift>,
    /// Those that moved.
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) pairs: Vec<Pair>,
}

/// A run that was left out of the total or of the common shift, because it stands apart from the others
/// of its side.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OddRun {
    /// What it is called.
    pub label: String,
    /// Whether it is of the current side.
    pub is_current: bool,
    /// How far it lies from the others of its side.
    pub shift: Shift,
    /// Whether it was left out of the total.
    pub of_total: bool,
    /// Whether it was left out of the common shift.
    pub of_common: bool,
}

/// Shares of the baseline's time; together 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Coverage {
    /// In kernels that both sides have, with what is compared of them.
    pub compared: Share,
    /// In kernels that both sides have, of which launches lack what is compared.
    pub unmeasured: Share,
    /// In kernels that the current side does not have, or most of its runs do not, and nothing is likely to have taken
    /// their place.
    pub missing: Share,
}

/// How a kernel changed the total most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContributionKind {
    /// Its launches take longer, or shorter.
    LaunchTime,
    /// It has more launches, or fewer.
    Launches,
    /// Only the current side has it, or most runs of the baseline lack it.
    New,
    /// Only the baseline has it, or most runs of the current side lack it.
    Vanished,
    /// It has another name.
    Renamed,
    /// Several kernels became one.
    Fused,
    /// One kernel became several.
    Split,
}

/// What one kernel adds to the change of the total, or takes from it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Contribution {
    /// What changed most.
    pub kind: ContributionKind,
    /// How it is called; what it was called where it vanished.
    pub name: String,
    /// How it was called, if differently; several names are joined by ` + `.
    pub was: Option<String>,
    /// Grid and block, such as `108 / 256`; empty where not known.
    pub shape: String,
    /// Framework operator and parameters.
    pub operator: Option<String>,
    /// Time of all its launches in a run of the baseline (the median of its runs without those left out), for
    /// the same amount of work, in seconds.
    pub before_s: Seconds,
    /// The same of the current side.
    pub after_s: Seconds,
    /// What it adds, in seconds.
    pub change_s: Seconds,
    /// Launches in a run of the baseline, for the same amount of work.
    pub launches_before: f64,
    /// Launches in a run of the current side.
    pub launches_after: f64,
}

/// The change of the total, and its parts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Contributions {
    /// The change of the time of a run, for the same amount of work, in seconds: the sum of all parts and
    /// of the rest.
    pub change_s: Seconds,
    /// What each kernel adds, the greatest first, whatever its sign.
    pub parts: Vec<Contribution>,
    /// What the parts do not explain: over several runs, the median of sums is not the sum of medians.
    pub rest_s: Seconds,
}

/// The comparison of two sets of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The quantity that is compared.
    pub basis: Basis,
    /// The baseline side.
    pub baseline: Side,
    /// The current side.
    pub current: Side,
    /// Order in which runs were taken, such as `ABBA`; `None` if it was not declared.
    pub order: Option<String>,
    /// The global shift of all kernels.
    pub common: Common,
    /// The shift of the whole run's time, for the same amount of work.
    pub total: Evidence,
    /// The same with what all kernels share subtracted in each run; only for several runs.
    pub total_own: Option<Evidence>,
    /// Runs that were left out of the total or of the common shift.
    pub odd: Vec<OddRun>,
    /// How much of the baseline's time is compared.
    pub coverage: Coverage,
    /// The shift of the total as a logarithm if every launch took the median time of its kernel, so
    /// that single slow launches do not count. Only for one run per side on the same device.
    pub total_typical: Option<Shift>,
    /// Work of the current runs relative to the baseline: the usual ratio of launches; 1 if it is
    /// the same.
    pub work: Factor,
    /// Factor by which kernels with changed work should change the total; 1 if work is not normalized.
    pub other_work: Factor,
    /// The parts of the total's change.
    pub contributions: Contributions,
    /// Kernels that both sides have, most time first, including confident renames, fusions and splits.
    pub changes: Vec<Change>,
    /// Kernels that only the current side has, most time first.
    pub new: Vec<Lone>,
    /// Kernels that only the baseline has.
    pub vanished: Vec<Lone>,
    /// Guesses at what happened to new and vanished kernels, not confident enough to compare them as one.
    pub proposals: Vec<Proposal>,
    /// Why the current side looks like a truncated copy of the baseline, if it does.
    pub cut_off: Option<String>,
    /// True if the sides leave out other numbers of first launches: their totals are not of the same work.
    pub unequal_warmup: bool,
    /// Differences between the sides that make the comparison doubtful, one sentence each.
    pub doubts: Vec<String>,
    /// Caveats, one sentence each.
    pub notes: Vec<String>,
}
