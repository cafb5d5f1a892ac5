//! Findings for code scanners and annotations: each check with an action, most severe first.

use std::collections::BTreeMap;

use super::places::{self, Place};
use super::{GateReport, view};
use crate::gate::{Action, Check, Outcome, Subject};
use crate::model::elide;
use crate::report::view::{Style, printable};

/// Level of a finding, for scanners with three levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Error,
    Warning,
    Notice,
}

/// One finding to show.
#[derive(Debug)]
pub(super) struct Finding<'a> {
    pub(super) level: Level,
    pub(super) action: Action,
    /// The rule that fired; `gate` for the gate as a whole.
    pub(super) rule: String,
    /// Short title: verdict and kernel.
    pub(super) title: String,
    /// Sentences; the first says what happened.
    pub(super) lines: Vec<String>,
    pub(super) place: Place,
    /// Unique in a document and stable from run to run.
    pub(super) fingerprint: String,
    pub(super) check: Option<&'a Check>,
}

/// Maximum characters of a kernel's name in a title.
const TITLE: usize = 80;

/// Fingerprint of the gate as a whole: the first half of the SHA-256 of `gate`.
const WHOLE: &str = "c974e17b8e7321ce8c12983de3d0ed4a";

/// Returns all findings. If the gate did not pass for a reason outside the checks, or passed because nothing was
/// compared, the gate itself is a finding, so that the list is never misread as clean.
pub(super) fn findings<'a>(report: &GateReport<'a>) -> Vec<Finding<'a>> {
    let decision = report.decision;
    let mut found: Vec<Finding<'a>> = Vec::new();
    let is_clean = decision.outcome == Outcome::Passed && !decision.passed_uncompared();
    if !is_clean && decision.deciding().next().is_none() {
        found.push(whole(report));
    }
    let shown = |check: &&Check| check.action > Action::None && check.waived.is_none();
    let mut checks: Vec<&Check> = decision.checks.iter().filter(shown).collect();
    // Checks come with the gravest first: that order stays among equal actions.
    checks.sort_by_key(|check| std::cmp::Reverse(check.action));
    let fingerprints = fingerprints(&checks);
    found.extend(checks.into_iter().zip(fingerprints).map(|(check, fingerprint)| Finding {
        level: level(report, check.action),
        action: check.action,
        rule: rule(check),
        title: title(check),
        lines: lines(check),
        place: places::place(report, Some(check)),
        fingerprint,
        check: Some(check),
    }));
    found
}

/// Makes the finding about the gate as a whole.
pub(super) fn whole<'a>(report: &GateReport<'a>) -> Finding<'a> {
    let is_uncompared = report.decision.passed_uncompared();
    let action = match report.decision.outcome {
        Outcome::Passed if is_uncompared => Action::Warn,
        Outcome::Passed => Action::Notice,
        Outcome::Inconclusive => Action::Inconclusive,
        Outcome::Failed | Outcome::NothingMeasured | Outcome::DifferentDevices => Action::Fail,
    };
    let subject = if report.decision.decides { "gate" } else { "comparison" };
    let uncompared = if is_uncompared { ", nothing compared" } else { "" };
    Finding {
        level: level(report, action),
        action,
        rule: "gate".to_owned(),
        title: format!("{subject} {}{uncompared}", report.decision.outcome.label()),
        lines: vec![sentence(&report.decision.reason, report.decision.outcome.label())],
        place: places::place(report, None),
        fingerprint: WHOLE.to_owned(),
        check: None,
    }
}

fn level(report: &GateReport<'_>, action: Action) -> Level {
    match action {
        Action::Fail if report.can_fail() => Level::Error,
        Action::Fail | Action::Inconclusive | Action::Warn => Level::Warning,
        Action::Notice | Action::None => Level::Notice,
    }
}

/// Returns the rule of a check, which scanners use as an identifier; never empty.
pub(super) fn rule(check: &Check) -> String {
    sentence(&check.rule, check.metric.key())
}

/// Returns a text that is never empty, because scanners treat empty text as missing.
fn sentence(text: &str, otherwise: &str) -> String {
    let text = printable(text);
    if text.trim().is_empty() { otherwise.to_owned() } else { text }
}

fn title(check: &Check) -> String {
    let name = view::name(check, &Style::default());
    format!("{}: {}", check.result(), elide(&name, TITLE))
}

/// Describes what happened, to which kernel, with further evidence.
fn lines(check: &Check) -> Vec<String> {
    let mut lines = vec![sentence(&check.message, check.verdict.label())];
    if let Subject::Kernel { operator, .. } = &check.subject {
        let name = check.subject.written().map(printable).unwrap_or_default();
        let operator = operator.as_deref().map(printable).unwrap_or_default();
        let (shape, device) = (view::shape(check), view::device(check));
        let known = [name, operator, shape, device].into_iter().filter(|part| !part.is_empty());
        lines.push(format!("Kernel: {}", known.collect::<Vec<_>>().join(", ")));
    }
    lines.extend(view::why(check).into_iter().skip(1));
    lines
}

/// Returns a fingerprint for each check. Kernels that share one, because only build-dependent parts
/// of their names differ, are numbered in the order of their names.
fn fingerprints(checks: &[&Check]) -> Vec<String> {
    let full = |check: &Check| match &check.subject {
        Subject::Kernel { full_name, name, .. } => format!("{full_name}\0{name}"),
        Subject::Run => check.message.clone(),
    };
    let mut sharing: BTreeMap<String, Vec<(String, usize)>> = BTreeMap::new();
    for (position, check) in checks.iter().enumerate() {
        sharing.entry(check.fingerprint()).or_default().push((full(check), position));
    }
    let mut unique = vec![String::new(); checks.len()];
    for (fingerprint, mut kernels) in sharing {
        kernels.sort();
        for (number, (_, position)) in kernels.into_iter().enumerate() {
            let ending = if number == 0 { String::new() } else { format!("-{}", number + 1) };
            unique[position] = format!("{fingerprint}{ending}");
        }
    }
    unique
}
