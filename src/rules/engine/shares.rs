//! Kernels of some kinds added up: their launches, their time and their share of the run.

use super::finding::{Confidence, Finding};
use super::run::Run;
use super::threshold::{Missing, Threshold};
use crate::analysis::{Kernel, Moved, State};
use crate::taxonomy::{Category, Kind};
use crate::units::{Seconds, percent, si};

/// Kernels that have something in common, longest first.
pub(in crate::rules) struct Together<'a> {
    pub(in crate::rules) kernels: Vec<&'a Kernel>,
    /// Copies or fills of a trace, which are no kernels.
    pub(in crate::rules) moved: Vec<&'a Moved>,
    pub(in crate::rules) launches: u64,
    pub(in crate::rules) time: Seconds,
    /// Of the measured time of the run; of kernels, copies and fills together where it has those.
    pub(in crate::rules) share: f64,
}

/// Beyond this share of the run, nothing is left that kernels could stand around.
const WHOLE_RUN: f64 = 0.9;

/// As many names as a reader takes in.
const NAMES: usize = 8;

impl<'a> Together<'a> {
    /// The kernels for which something holds.
    ///
    /// # Errors
    /// [`Missing`] where the run has no time to compare with.
    pub(in crate::rules) fn of(
        run: &Run<'a>,
        holds: impl Fn(&Kernel) -> bool,
    ) -> Result<Self, Missing> {
        if run.total() <= Seconds::ZERO {
            return Err(Missing("gpu__time_duration.sum"));
        }
        // What is left alone on purpose is no cause of the run's.
        let counts = |kernel: &Kernel| kernel.state != State::Waived && holds(kernel);
        let (kernels, time) = run.kernels(counts);
        let launches = kernels.iter().map(|kernel| kernel.launches).sum();
        Ok(Self { kernels, moved: Vec::new(), launches, time, share: run.share(time) })
    }

    /// The same with the copies and fills of some kinds, which a trace has beside its kernels.
    pub(in crate::rules) fn and_moved(self, run: &Run<'a>, kinds: &[Kind]) -> Self {
        let moved: Vec<&Moved> = run.moved(kinds).collect();
        if moved.is_empty() {
            return self;
        }
        let time = self.time + moved.iter().map(|one| one.time).sum();
        let whole = run.total() + run.analysis.moved.iter().map(|one| one.time).sum();
        Self { moved, time, share: time / whole, ..self }
    }

    /// The kernels of some kinds, by their names.
    ///
    /// # Errors
    /// [`Missing`] where the run has no time to compare with.
    pub(in crate::rules) fn of_kinds(run: &Run<'a>, kinds: &[Kind]) -> Result<Self, Missing> {
        Self::of(run, |kernel| is_of(kernel, kinds))
    }

    /// Whether the run is hardly anything else: then they are what was to be measured, such as a benchmark of
    /// one kernel, and not what goes on around it.
    pub(in crate::rules) fn is_the_run(&self) -> bool {
        self.share > WHOLE_RUN
    }

    /// Launches, time and share in words: `120 launches, 3.10 ms, 4.2% of the run`.
    pub(in crate::rules) fn words(&self) -> String {
        let mut work = Vec::new();
        if self.launches > 0 || self.moved.is_empty() {
            let plural = if self.launches == 1 { "" } else { "es" };
            work.push(format!("{} launch{plural}", self.launches));
        }
        let moved: u64 = self.moved.iter().map(|one| one.count).sum();
        let fills = self.moved.iter().all(|one| one.class.kind == Some(Kind::Memset));
        match (moved, fills) {
            (0, _) => {}
            (1, true) => work.push("1 memset".to_owned()),
            (1, false) => work.push("1 copy".to_owned()),
            (_, true) => work.push(format!("{moved} memsets")),
            (_, false) => work.push(format!("{moved} copies")),
        }
        let whole = if moved == 0 { "the run" } else { "kernels and copies" };
        format!(
            "{}, {}, {} of {whole}",
            work.join(" and "),
            si(self.time, "s"),
            percent(self.share)
        )
    }

    /// Their distinct names, longest time first.
    pub(in crate::rules) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for kernel in &self.kernels {
            if names.len() < NAMES && !names.iter().any(|name| **name == *kernel.name) {
                names.push(kernel.name.to_string());
            }
        }
        names
    }

    /// Time above the roof of those that have one.
    pub(in crate::rules) fn gap(&self) -> Seconds {
        self.kernels.iter().map(|kernel| kernel.savings_high).sum()
    }

    /// What kernels cost that could go altogether, and copies of these kinds, from the share of the run in
    /// `threshold` on, unless they are the run; `what` begins the message, such as `casts`.
    ///
    /// # Errors
    /// [`Missing`] where the run has no time to compare with.
    pub(in crate::rules) fn removable(
        run: &Run<'a>,
        (holds, moved): (impl Fn(&Kernel) -> bool, &[Kind]),
        threshold: &Threshold,
        (what, next): (&str, &str),
    ) -> Result<Vec<Finding>, Missing> {
        let kernels = Self::of(run, holds)?;
        let of_kernels = kernels.time;
        // What ran beside other kernels would leave these in their place.
        let beside: Seconds = kernels.kernels.iter().map(|kernel| kernel.shared()).sum();
        let found = kernels.and_moved(run, moved);
        if found.share < run.threshold(threshold) || found.is_the_run() || moves_only(run)? {
            return Ok(Vec::new());
        }
        let alone = (of_kernels - beside).max(Seconds::ZERO);
        let mut finding = found
            .finding(run, format!("{what}: {}", found.words()))
            .confidence(Confidence::Low)
            .at_stake(alone + run.alone(found.time - of_kernels), "removed")
            .next(next);
        // Some of it may be needed.
        finding.at_stake_low_s = 0.0;
        Ok(vec![finding])
    }

    /// A finding about them with the facts that all such findings carry.
    pub(in crate::rules) fn finding(&self, run: &Run<'_>, message: String) -> Finding {
        let moved: u64 = self.moved.iter().map(|one| one.count).sum();
        let counted = |count: u64| (count > 0).then_some(count as f64);
        run.finding(message)
            .evidence_if("launches", counted(self.launches), "1")
            .evidence_if("copies and fills", counted(moved), "1")
            .evidence("time", self.time.get(), "s")
            .evidence("share of the run", self.share, "1")
            .kernels(self.names())
    }
}

/// Whether the run is nothing but data movement: a benchmark of copies and layouts, with neither products nor producers.
fn moves_only(run: &Run<'_>) -> Result<bool, Missing> {
    /// Of the time of kernels.
    const ALL: f64 = 0.99;
    let moves = |kernel: &Kernel| kernel.class.category == Category::DataMovement;
    Ok(Together::of(run, moves)?.share > ALL)
}

/// Whether a kernel is of one of these kinds, by its name.
pub(in crate::rules) fn is_of(kernel: &Kernel, kinds: &[Kind]) -> bool {
    kernel.class.kind.is_some_and(|kind| kinds.contains(&kind))
}
