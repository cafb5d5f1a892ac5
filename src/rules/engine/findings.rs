//! What all rules found, how much of it counts, and in which order it is told.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::finding::{Confidence, Finding, Severity};
use super::run::{LAUNCH_CALLS, START_TIMES};
use super::skipped::SkippedRules;
use super::threshold::Missing;
use crate::analysis::{Analysis, Kernel};
use crate::roofline::Limiter;
use crate::units::Seconds;

/// The findings of an analysis, and what each rule could say.
#[derive(Debug, Default)]
pub struct Findings {
    /// About kernels, by their index in the analysis; the gravest first. Most kernels have none.
    pub by_kernel: BTreeMap<usize, Vec<Finding>>,
    /// About the whole run; the gravest first.
    pub run: Vec<Finding>,
    /// What each rule that ran could say.
    pub tally: Vec<Tally>,
    /// The rules that were skipped on each kernel.
    pub skipped: SkippedRules,
    /// Most that a certain cause accounts for which is too small to show, in seconds, by the index of the kernel.
    slight: BTreeMap<usize, f64>,
}

impl Findings {
    /// Returns the findings about the kernel with this index in the analysis.
    #[must_use]
    pub fn of(&self, position: usize) -> &[Finding] {
        self.by_kernel.get(&position).map_or(&[], Vec::as_slice)
    }

    /// Iterates over the kernels of the analysis that have findings, in its order.
    pub(crate) fn of_kernels<'a>(
        &'a self,
        analysis: &'a Analysis,
    ) -> impl Iterator<Item = (&'a Kernel, &'a [Finding])> {
        let found = self.by_kernel.iter();
        found.filter_map(|(position, found)| Some((analysis.kernels.get(*position)?, &**found)))
    }

    /// Follows kernels that changed places or were left out; `before` has where each of the analysis was.
    pub(crate) fn follow(&mut self, before: &[usize]) {
        let mut found = std::mem::take(&mut self.by_kernel);
        let of = |(at, was): (usize, &usize)| Some((at, found.remove(was)?));
        self.by_kernel = before.iter().enumerate().filter_map(of).collect();
        self.skipped.follow(before);
        let slight = std::mem::take(&mut self.slight);
        let of = |(at, was): (usize, &usize)| Some((at, *slight.get(was)?));
        self.slight = before.iter().enumerate().filter_map(of).collect();
    }

    /// Returns the time that certain causes of the kernel with this index account for, shown or not: the most of one of
    /// them, as they overlap.
    pub(crate) fn accounted(&self, position: usize) -> Seconds {
        let sure = self.of(position).iter().filter(|one| one.confidence == Confidence::High);
        let slight = self.slight.get(&position).copied();
        Seconds::new(sure.map(|one| one.at_stake_s).chain(slight).fold(0.0, f64::max))
    }

    /// Keeps what causes account for that are too small to show.
    pub(in crate::rules) fn account(&mut self, slight: &[Slight]) {
        for one in slight {
            let most = self.slight.entry(one.position).or_default();
            *most = most.max(one.at_stake_s);
        }
    }

    pub(in crate::rules) fn add(&mut self, position: usize, finding: Finding) {
        self.by_kernel.entry(position).or_default().push(finding);
    }
}

/// A certain cause that is too small to show, of a kernel that saves no more than such causes account for.
pub(in crate::rules) struct Slight {
    pub(in crate::rules) position: usize,
    pub(in crate::rules) rule: &'static str,
    pub(in crate::rules) at_stake_s: f64,
}

/// What a rule could say of the kernels it looked at; of the run as of one kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// The rule.
    pub rule: Cow<'static, str>,
    /// It found something.
    pub found: usize,
    /// It found something with too little time at stake to show.
    pub minor: usize,
    /// It found something that another finding explains.
    pub silenced: usize,
    /// It was content.
    pub content: usize,
    /// It could not judge, for want of a metric.
    pub cannot_judge: usize,
    /// The metrics it lacked, and for how many kernels.
    pub missing: BTreeMap<&'static str, usize>,
}

/// Findings with less at stake than this share of the run and this time are counted, not shown.
pub(in crate::rules) const SHOWN_SHARE: f64 = 0.005;
const SHOWN_TIME: Seconds = Seconds::new(20e-6);

/// Share of the run from which a certain cause is shown of a kernel that saves no more than such causes account for:
/// whoever looks at the kernel sees why.
const SURE_SHARE: f64 = 1e-4;

/// Whether a finding says how much of a kernel's time above its roofline can be saved: a certain cause of a kernel that
/// leaves units idle.
pub(in crate::rules) fn accounts(finding: &Finding, kernel: &Kernel) -> bool {
    let is_open = kernel.limiter == Limiter::Latency && kernel.has_savings();
    is_open && finding.confidence == Confidence::High && finding.at_stake_s > 0.0
}

/// Whether such a cause is shown however small it is beside the run.
pub(in crate::rules) fn is_worth_it(finding: &Finding, analysis: &Analysis) -> bool {
    finding.at_stake_s >= analysis.totals.measured.get() * SURE_SHARE
}

impl Tally {
    pub(in crate::rules) fn new(rule: impl Into<Cow<'static, str>>) -> Self {
        Self {
            rule: rule.into(),
            found: 0,
            minor: 0,
            silenced: 0,
            content: 0,
            cannot_judge: 0,
            missing: BTreeMap::new(),
        }
    }

    /// Returns whether it could not judge for want of a metric that counters supply, rather than of a trace.
    #[must_use]
    pub fn lacks_metrics(&self) -> bool {
        let of_traces = [LAUNCH_CALLS, START_TIMES];
        let of_traces = of_traces.iter().filter_map(|Missing(what)| self.missing.get(what));
        self.cannot_judge > of_traces.sum()
    }

    pub(in crate::rules) fn lacks(&mut self, Missing(metric): Missing) {
        self.cannot_judge += 1;
        *self.missing.entry(metric).or_default() += 1;
    }
}

/// Time at stake from which a finding is shown on any kernel of a run of this length.
pub(crate) fn least_shown(total: Seconds) -> Seconds {
    // A run shorter than the floor itself would show nothing.
    (total * SHOWN_SHARE).max(SHOWN_TIME).min(total * 0.05)
}

/// A finding with its severity, or nothing where it is too small to show.
pub(in crate::rules) fn weighed(
    mut finding: Finding,
    analysis: &Analysis,
    is_shown: bool,
    tally: &mut Tally,
) -> Option<Finding> {
    let total = analysis.totals.measured;
    if !finding.is_fixed {
        let floor = least_shown(total);
        let is_shown = is_shown && finding.at_stake_s > 0.0;
        if finding.at_stake_s < floor.get() && !is_shown {
            tally.minor += 1;
            return None;
        }
        finding.severity = Severity::of_share(finding.at_stake_s / total.get());
    }
    tally.found += 1;
    Some(finding)
}

/// The gravest first, then by time at stake; else in the order of the rules.
pub(in crate::rules) fn sort(found: &mut [Finding]) {
    found.sort_by(|one, two| {
        two.severity.cmp(&one.severity).then(two.at_stake_s.total_cmp(&one.at_stake_s))
    });
}
