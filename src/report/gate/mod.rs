//! A gate's decision → text, Markdown, JSON and what CI systems read. Pure: the same decision gives the
//! same bytes.
//!
//! To add an output: one file with an `OUTPUT` constant, one line in the list below.

mod findings;
mod places;
mod policy;
mod rule_texts;
mod sheet;
mod view;

use super::view::Style;
use crate::gate::{Decision, Outcome, Policy};

/// What a gate decided, with what its outputs need beside it.
#[derive(Debug, Clone, Copy)]
pub struct GateReport<'a> {
    /// What was decided.
    pub decision: &'a Decision,
    /// What the team allows: machine formats repeat it, annotations take the places of code from it.
    pub policy: &'a Policy,
    /// The command that asked, as it would be typed again.
    pub command: Option<&'a str>,
    /// An export of the current side, by its path from the root of the repository: where findings are
    /// shown whose code has no known place.
    pub export: Option<&'a str>,
    /// The most bytes of UTF-8 that the Markdown may have.
    pub limit: usize,
}

impl<'a> GateReport<'a> {
    /// Fits a comment on a pull request: GitHub takes 65 536 characters.
    pub const COMMENT: usize = 60_000;

    /// Fits a job summary: GitHub takes 1 MiB a step, and shows nothing of more.
    pub const SUMMARY: usize = 1_000_000;

    /// A report that fits a comment, without command or export.
    #[must_use]
    pub const fn new(decision: &'a Decision, policy: &'a Policy) -> Self {
        Self { decision, policy, command: None, export: None, limit: Self::COMMENT }
    }

    /// Whether anything can fail: a comparison informs, and a policy may only warn. That nothing was
    /// measured, or on another device, is a failure in any case.
    pub(super) fn can_fail(&self) -> bool {
        let decision = self.decision;
        let is_wrong =
            matches!(decision.outcome, Outcome::NothingMeasured | Outcome::DifferentDevices);
        is_wrong || decision.decides && !decision.warn_only
    }
}

/// One format a gate's decision can be written in.
#[derive(Debug)]
pub struct GateOutput {
    /// Name on the command line.
    pub name: &'static str,
    /// File name endings that select it, the usual one first; none where the name must be given.
    pub endings: &'static [&'static str],
    /// What its file is usually called.
    pub file: &'static str,
    /// What it is for, in one line.
    pub summary: &'static str,
    /// Renders a decision.
    pub render: fn(&GateReport<'_>, &Style) -> String,
}

macro_rules! outputs {
    ($($module:ident),* $(,)?) => {
        $(mod $module;)*
        /// Every output of a gate, in the order of the help text.
        pub const GATE_OUTPUTS: &[GateOutput] = &[$($module::OUTPUT),*];
    };
}

outputs! {
    text,
    markdown,
    json,
    junit,
    sarif,
    github,
    gitlab,
}

pub use json::gate_schema;

/// The output of a gate with this name.
#[must_use]
pub fn gate_output(name: &str) -> Option<&'static GateOutput> {
    GATE_OUTPUTS.iter().find(|output| output.name == name)
}
