//! Findings as GitLab's code-quality report: an array in the shape of Code Climate's issues.
//!
//! GitLab shows neither the name of a check nor its body, and merges equal fingerprints. Source:
//! GitLab documentation, "Code Quality", "Code Quality report format".

use serde::Serialize;

use super::findings::{Finding, findings};
use super::{GateOutput, GateReport};
use crate::gate::{Action, Outcome};
use crate::report::view::Style;

pub(super) const OUTPUT: GateOutput = GateOutput {
    name: "gitlab",
    endings: &[],
    summary: "GitLab's code-quality report (JSON)",
    render,
};

#[derive(Serialize)]
struct Issue {
    description: String,
    check_name: String,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
}

fn render(report: &GateReport<'_>, style: &Style) -> String {
    let issues: Vec<Issue> = findings(report).iter().map(|one| issue(report, one)).collect();
    let text = serde_json::to_string_pretty(&issues).unwrap_or_default() + "\n";
    style.adapted(text)
}

fn issue(report: &GateReport<'_>, finding: &Finding<'_>) -> Issue {
    let name = format!("rooflint/{}", finding.rule);
    let kernel = &finding.title;
    Issue {
        description: format!("{name}: {kernel}: {}", finding.lines.join("; ")),
        check_name: name,
        fingerprint: finding.fingerprint.clone(),
        severity: severity(report, finding.action),
        location: Location {
            path: finding.place.path.clone(),
            lines: Lines { begin: finding.place.line },
        },
    }
}

/// One of `info`, `minor`, `major`, `critical` and `blocker`.
fn severity(report: &GateReport<'_>, action: Action) -> &'static str {
    let outcome = report.decision.outcome;
    let is_wrong = matches!(outcome, Outcome::NothingMeasured | Outcome::DifferentDevices);
    match action {
        Action::Fail if is_wrong => "blocker",
        Action::Fail if report.can_fail() => "critical",
        Action::Fail | Action::Inconclusive => "major",
        Action::Warn => "minor",
        Action::Notice | Action::None => "info",
    }
}
