//! Reports of a gate's decision: document, JSON, and formats of CI systems.
//!
//! To add an output for a CI system: one file with an `OUTPUT` constant, one line in the list below.

mod contributions;
mod findings;
mod places;
mod policy;
mod rule_texts;
mod tracked;
mod view;
mod waiver;

use super::document::{Block, Brief, Document, Fact, Item, Section, first_of};
use super::numbers::{change, printable};
use super::view::Style;
use super::{Format, Reported};
use crate::compare::Run;
use crate::gate::{Action, Check, Decision, Metric, Outcome, Policy, Subject, Verdict};
use crate::units::{RelativeChange, Seconds};

/// A gate's decision with everything its outputs need.
#[derive(Debug, Clone, Copy)]
pub struct GateReport<'a> {
    /// The decision.
    pub decision: &'a Decision,
    /// The policy: machine formats repeat it, annotations take code locations from it.
    pub policy: &'a Policy,
    /// Command line that reproduces the report.
    pub command: Option<&'a str>,
    /// Path of an export of the current side from the root of the repository: the location of
    /// findings whose code is unknown.
    pub export: Option<&'a str>,
    /// Options with which that export is read, as they are typed; empty if it needs none.
    pub reading: &'a str,
    /// Runs of the current side, whose figures trackers follow; may be empty.
    pub current: &'a [Run],
}

impl<'a> GateReport<'a> {
    /// Limit in bytes that fits a comment on a pull request: GitHub takes 65,536 characters.
    pub const COMMENT: usize = 60_000;

    /// Limit in bytes that fits a job summary: GitHub takes 1 MiB per step, and shows nothing if it
    /// is larger.
    pub const SUMMARY: usize = 1_000_000;

    /// Makes a report without command or export.
    #[must_use]
    pub const fn new(decision: &'a Decision, policy: &'a Policy) -> Self {
        Self { decision, policy, command: None, export: None, reading: "", current: &[] }
    }

    /// Returns `true` if the outcome can fail: not for a comparison or a policy that only warns,
    /// unless nothing was measured or the devices differ.
    pub(super) fn can_fail(&self) -> bool {
        let decision = self.decision;
        let is_wrong =
            matches!(decision.outcome, Outcome::NothingMeasured | Outcome::DifferentDevices);
        is_wrong || decision.decides && !decision.warn_only
    }
}

/// Number of deciding checks on a terminal.
const DECIDING: usize = 5;

/// Lines of evidence per check on a terminal.
const EVIDENCE: usize = 2;

/// Number of checks shown with reasons; JSON has all.
const OPEN: usize = 20;

/// Lines of every other list on a terminal.
const LISTED: usize = 3;

/// Number of kernels shown in a comparison.
const KERNELS: usize = 15;

impl Reported for GateReport<'_> {
    fn document(&self, style: &Style) -> Document {
        let mut document = Document::new(self.title());
        document.push(Block::Facts(view::head(self)));
        self.decided(&mut document, style);
        contributions::section(self, &mut document);
        if !self.decision.decides {
            self.kernels(&mut document, style);
        }
        waiver::section(self, &mut document, style);
        document.push(Block::Facts(self.rest(style)));
        document
    }

    fn own(&self, format: &str, style: &Style) -> Option<String> {
        let own = gate_output(format)?;
        Some((own.render)(self, style))
    }
}

impl GateReport<'_> {
    fn title(&self) -> String {
        let decision = self.decision;
        let title = match decision.outcome {
            Outcome::NothingMeasured => "Gate: NOTHING MEASURED",
            Outcome::DifferentDevices => "Gate: DIFFERENT DEVICES",
            _ if !decision.decides => "Comparison of kernel times",
            Outcome::Passed if decision.lacks_baseline.is_some() => "Gate passed, nothing compared",
            Outcome::Passed => "Gate passed",
            Outcome::Failed => "Gate FAILED",
            Outcome::Inconclusive => "Gate INCONCLUSIVE",
        };
        let warns = if decision.warn_only { " (reported only)" } else { "" };
        format!("{title}{warns}")
    }

    /// Adds the deciding checks: a table, then the reason of each row.
    fn decided(&self, document: &mut Document, style: &Style) {
        let all: Vec<&Check> = self.decision.deciding().collect();
        let brief = Brief { items: DECIDING, details: EVIDENCE };
        let table = Block::Table(view::table(&all, style));
        let decided = Section::new(view::decided(self), vec![table]);
        document.add(Section { room: 40, brief, ..decided });
        let why = all.iter().take(OPEN).map(|check| {
            let mut lines = view::why(check).into_iter();
            Item::from(lines.next().unwrap_or_default()).with(lines.collect())
        });
        let why = Section::new("Why", vec![Block::Steps(why.collect())]);
        document.add(Section { room: 70, brief, ..why });
    }

    /// Adds the result of every kernel, for a comparison: first what gained or lost most time.
    fn kernels(&self, document: &mut Document, style: &Style) {
        let mut all: Vec<&Check> = self
            .decision
            .checks
            .iter()
            .filter(|check| matches!(check.metric, Metric::Time | Metric::Headroom))
            .filter(|check| {
                matches!(check.subject, Subject::Kernel { .. }) && check.change.is_some()
            })
            .collect();
        let moved = |check: &Check| {
            let change = check.change.map(RelativeChange::get);
            check.delta_s.map(Seconds::get).or(change).unwrap_or(0.0).abs()
        };
        all.sort_by(|one, two| moved(two).total_cmp(&moved(one)));
        let shown = all.len().min(KERNELS);
        let has_times = all.iter().any(|check| check.delta_s.is_some());
        let by = if has_times { "time gained or lost" } else { "size of change" };
        let title = format!("Kernels, by {by}{}", first_of(shown, all.len()));
        let table = Block::Table(view::table(&all[..shown], style));
        document.add(Section { room: 70, ..Section::new(title, vec![table]) });
    }

    /// Returns everything that did not decide, as labels with lines.
    fn rest(&self, style: &Style) -> Vec<Fact> {
        let sentences = |action| -> Vec<String> {
            let checks = view::beside(self, action).into_iter();
            let sentences =
                |check: &Check| format!("{}: {}", check.result(), sentence(check, style));
            checks.map(sentences).collect()
        };
        let lone = |verdict| -> Vec<String> {
            let kernels = view::lone(self, verdict, style).into_iter();
            kernels.map(|(name, what)| format!("{name}: {what}")).collect()
        };
        let improved = view::improved(self).into_iter().map(|check| {
            let by = check.change.map_or_else(|| printable(&check.message), change);
            format!("{}: {by}", view::name(check, style))
        });
        let waived = view::waived(self).into_iter().map(|(check, reason)| {
            format!("{}: {} ({reason})", check.verdict.label(), sentence(check, style))
        });
        let method = view::method(self);
        let method = if method.is_empty() { method } else { vec![method.join(" ")] };
        let next = |wanted: &str| -> Vec<String> {
            let all = view::next(self).into_iter();
            all.filter(|(label, _)| *label == wanted).map(|(_, command)| command).collect()
        };
        let (again, next) = (next("Again"), next("Next"));
        let all = [
            ("Warnings", 78, sentences(Action::Warn)),
            ("Notices", 82, sentences(Action::Notice)),
            ("New", 86, lone(Verdict::New)),
            ("Vanished", 90, lone(Verdict::Vanished)),
            ("Matched", 91, view::guesses(self, true)),
            ("Possibly", 92, view::guesses(self, false)),
            ("Improved", 94, improved.collect()),
            ("Waived", 96, waived.collect()),
            ("Notes", 98, view::notes(self)),
            ("Results", 100, view::counts(self).into_iter().collect()),
            ("Method", 100, method),
            ("Next", 100, next),
            ("Reproduce", 100, again),
        ];
        let known = all.into_iter().filter(|(_, _, lines)| !lines.is_empty());
        let fact = |(label, room, lines)| {
            let fact = Fact::list(label, lines, LISTED).room(room);
            if matches!(label, "Next" | "Reproduce") { fact.to_copy() } else { fact }
        };
        known.map(fact).collect()
    }
}

/// Returns the sentence of a check, with the kernel it is about.
fn sentence(check: &Check, style: &Style) -> String {
    let (name, message) = (view::name(check, style), printable(&check.message));
    let plain = view::plain_name(check, style);
    // A message that begins with the kernel gets its operator there.
    match message.strip_prefix(&plain).filter(|_| !plain.is_empty()) {
        Some(rest) => format!("{name}{rest}"),
        None if message.contains(&name) => message,
        None => format!("{name}: {message}"),
    }
}

/// A gate-specific output format, for CI systems.
pub type GateOutput = Format<fn(&GateReport<'_>, &Style) -> String>;

macro_rules! outputs {
    ($($module:ident),* $(,)?) => {
        $(mod $module;)*
        /// All gate-specific output formats.
        pub const GATE_OUTPUTS: &[GateOutput] = &[$($module::OUTPUT),*];
    };
}

outputs! {
    html,
    csv,
    json,
    junit,
    sarif,
    github,
    gitlab,
    benchmark,
    bencher,
    metrics,
    openmetrics,
}

#[cfg(feature = "page")]
pub(super) use html::{summary, tone_of, total};
pub use json::gate_schema;
pub use metrics::metrics;

/// Returns the gate output with this name.
#[must_use]
pub fn gate_output(name: &str) -> Option<&'static GateOutput> {
    GATE_OUTPUTS.iter().find(|output| output.name == name)
}
