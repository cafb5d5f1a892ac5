//! What a rule is: its name, its documentation, its thresholds and how it decides.

use super::finding::Finding;
use super::run::Run;
use super::subject::Subject;
use super::threshold::{Missing, Threshold};
use crate::analysis::State;

/// One diagnosis.
#[derive(Debug)]
pub struct Rule {
    /// Stable identifier, such as `small-grid`.
    pub id: &'static str,
    /// What is wrong, in one line.
    pub summary: &'static str,
    /// What it finds, why it costs time, detection, remedy, false positives, sources.
    pub documentation: &'static str,
    /// The numbers that it decides by; users may set them.
    pub thresholds: &'static [Threshold],
    /// Rules whose findings on the same kernels it explains: these are counted and not shown.
    pub silences: &'static [&'static str],
    /// The check itself.
    pub check: Check,
}

/// What a rule looks at.
#[derive(Debug, Clone, Copy)]
pub enum Check {
    /// On one kernel that the roofline judges, or could with more metrics.
    Kernel(fn(&Subject<'_>) -> Judgment),
    /// On such a kernel, and on those in a state that other rules do not look at: only launch cost, or faster
    /// than the roof.
    KernelAlso(State, fn(&Subject<'_>) -> Judgment),
    /// On the whole run.
    Run(fn(&Run<'_>) -> Result<Vec<Finding>, Missing>),
}

/// What a rule makes of a kernel: it is skipped because a metric is missing, passes, or fires.
pub type Judgment = Result<Option<Finding>, Missing>;

impl Check {
    /// Whether it decides on a kernel in this state; never on the run.
    pub(in crate::rules) fn looks_at(&self, state: State) -> bool {
        let is_apart = matches!(state, State::LaunchBound | State::FasterThanRoofline);
        match self {
            Self::Run(_) => false,
            Self::KernelAlso(also, _) if state == *also => true,
            Self::Kernel(_) | Self::KernelAlso(..) => !is_apart && state != State::NotRoofline,
        }
    }
}

impl Rule {
    /// Headings every documentation has, in this order.
    pub const HEADINGS: [&'static str; 6] =
        ["What it finds", "Why it costs time", "Detection", "Remedy", "False positives", "Sources"];

    /// Its documentation as a page, with its thresholds.
    #[must_use]
    pub fn page(&self) -> String {
        let former: Vec<String> =
            super::super::aliases(self.id).map(|id| format!(" Former id: `{id}`.")).collect();
        let (id, summary, documentation) = (self.id, self.summary, self.documentation);
        let mut page = format!("# {id}\n\n{summary}.{}\n\n{documentation}", former.concat());
        if !self.thresholds.is_empty() {
            page.push_str(
                "\n## Thresholds\n\n| key | default | unit | why |\n| --- | --- | --- | --- |\n",
            );
            for one in self.thresholds {
                let (key, default, unit) = (one.key, one.default, one.unit);
                page.push_str(&format!("| `{key}` | {default} | {unit} | {} |\n", one.reason));
            }
        }
        page
    }
}
