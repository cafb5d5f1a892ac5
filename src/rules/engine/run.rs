//! The whole run under examination by one rule.

use super::finding::Finding;
use super::settings::Settings;
use super::threshold::{Missing, Threshold};
use crate::analysis::{Analysis, Copies, DeviceUse, Kernel, Moved, are_traces};
use crate::taxonomy::Kind;
use crate::units::Seconds;

/// What only a trace of the host's calls has.
pub(in crate::rules) const LAUNCH_CALLS: Missing = Missing("launch calls");

/// What only a trace has.
pub(in crate::rules) const START_TIMES: Missing = Missing("start times");

/// The whole run under examination.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// Name of the rule that asks.
    pub rule: &'static str,
    /// The whole analysis.
    pub analysis: &'a Analysis,
    /// What the user set.
    pub settings: &'a Settings,
}

impl<'a> Run<'a> {
    /// What the platform of the run calls launches that are replayed together.
    #[must_use]
    pub fn graph(&self) -> &'static str {
        self.analysis.devices.first().map_or("CUDA graph", DeviceUse::graph_label)
    }

    /// Whether most work is launched by graphs already, as far as launch calls are known.
    pub(in crate::rules) fn is_in_graphs(&self) -> bool {
        let known =
            self.analysis.timelines.iter().filter_map(|one| Some((one.span, one.idle_causes?)));
        let (mut all, mut in_graphs) = (Seconds::ZERO, Seconds::ZERO);
        for (span, causes) in known {
            all += span;
            in_graphs += span * causes.in_graphs.get();
        }
        in_graphs > all / 2.0
    }

    /// Names some of the GPUs with a timeline: `8 GPUs`, `1 of 8 GPUs`, `2 of 3 traces`; `None` where there is only one.
    pub(in crate::rules) fn gpus_of(&self, some: usize) -> Option<String> {
        let timelines = &self.analysis.timelines;
        let (all, what) = (timelines.len(), if are_traces(timelines) { "traces" } else { "GPUs" });
        match (some, all) {
            (_, 1) => None,
            (some, all) if some == all => Some(format!("{all} {what}")),
            (some, all) => Some(format!("{some} of {all} {what}")),
        }
    }

    /// A threshold of the rule, as the user set it or by default.
    #[must_use]
    pub fn threshold(&self, threshold: &Threshold) -> f64 {
        self.settings.threshold(self.rule, threshold)
    }

    /// Measured time of the run.
    #[must_use]
    pub fn total(&self) -> Seconds {
        self.analysis.totals.measured
    }

    /// The kernels for which something holds, with their time together, longest first.
    pub fn kernels(&self, holds: impl Fn(&Kernel) -> bool) -> (Vec<&'a Kernel>, Seconds) {
        let mut kernels: Vec<&Kernel> =
            self.analysis.kernels.iter().filter(|kernel| holds(kernel)).collect();
        kernels.sort_by(|one, two| two.measured.get().total_cmp(&one.measured.get()));
        let time = kernels.iter().map(|kernel| kernel.measured).sum();
        (kernels, time)
    }

    /// The copies and fills of these kinds, longest first.
    pub(in crate::rules) fn moved(&self, kinds: &[Kind]) -> impl Iterator<Item = &'a Moved> {
        let is_of = move |one: &&Moved| one.class.kind.is_some_and(|kind| kinds.contains(&kind));
        self.analysis.moved.iter().filter(is_of)
    }

    /// A sum over the copies of all timelines; `None` where some copies of the run are on none.
    fn of_copies(&self, figure: impl Fn(&Copies) -> Seconds) -> Option<Seconds> {
        let timelines = self.analysis.timelines.iter();
        let copies: Vec<&Copies> = timelines.filter_map(|one| one.copies.as_ref()).collect();
        let placed: u64 = copies.iter().map(|copies| copies.count).sum();
        let all: u64 = self.analysis.moved.iter().map(|moved| moved.count).sum();
        (!copies.is_empty() && placed == all)
            .then(|| copies.iter().map(|copies| figure(copies)).sum())
    }

    /// Time in which nothing but copies between host and device runs, where the starts of all work are known.
    pub(in crate::rules) fn host_copies_alone(&self) -> Option<Seconds> {
        self.of_copies(|copies| copies.host_alone)
    }

    /// How much of a time of other copies and fills nothing else can have run beside.
    pub(in crate::rules) fn alone(&self, copies: Seconds) -> Seconds {
        let alone = self.of_copies(|copies| copies.others_alone);
        alone.map_or(copies, |alone| alone.min(copies))
    }

    /// A time as a share of the run; zero for a run without time.
    #[must_use]
    pub fn share(&self, time: Seconds) -> f64 {
        self.analysis.totals.share(time)
    }

    /// A finding about the run without time at stake yet.
    #[must_use]
    pub fn finding(&self, message: String) -> Finding {
        Finding::info(self.rule, message)
    }
}
