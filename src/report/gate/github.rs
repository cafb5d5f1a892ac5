//! Findings as workflow commands, which GitHub shows as annotations. They are read from standard output.
//!
//! GitHub silently drops more than ten annotations of each kind per step, so the most severe come
//! first and the number of dropped ones is reported. Source: GitHub documentation, "Workflow
//! commands for GitHub Actions"; the escaping is that of the toolkit of GitHub's own actions.

use super::findings::{Finding, Level, findings, whole};
use super::{GateOutput, GateReport};
use crate::report::view::{Style, count};

pub(super) const OUTPUT: GateOutput = GateOutput {
    name: "github",
    endings: &[],
    summary: "GitHub annotations, on standard output",
    render,
};

/// Largest number of annotations of a kind per step.
const EACH: usize = 10;

fn render(report: &GateReport<'_>, style: &Style) -> String {
    let mut found = findings(report);
    // What the gate says stands before what single kernels say.
    if found.first().is_none_or(|first| first.check.is_some()) {
        found.insert(0, whole(report));
    }
    let mut text = String::new();
    let mut dropped = Vec::new();
    for (level, command, [one, many]) in [
        (Level::Error, "error", ["error", "errors"]),
        (Level::Warning, "warning", ["warning", "warnings"]),
        (Level::Notice, "notice", ["notice", "notices"]),
    ] {
        let of: Vec<&Finding<'_>> = found.iter().filter(|one| one.level == level).collect();
        for finding in of.iter().take(EACH) {
            text.push_str(&annotation(command, finding));
        }
        if of.len() > EACH {
            dropped.push(count((of.len() - EACH) as u64, one, many));
        }
    }
    if !dropped.is_empty() {
        text.push_str(&format!(
            "rooflint: {} not annotated, because GitHub shows {EACH} of each kind per step; see \
             the report\n",
            dropped.join(", ")
        ));
    }
    style.adapted(text)
}

/// Formats one command; text from a profile is escaped so that it cannot break out of the command.
fn annotation(command: &str, finding: &Finding<'_>) -> String {
    let place = if finding.place.is_code {
        format!("file={},line={},", property(&finding.place.path), finding.place.line)
    } else {
        // The export is no file of the change under review.
        String::new()
    };
    let title = property(&format!("rooflint: {}", finding.title));
    format!("::{command} {place}title={title}::{}\n", data(&finding.lines.join("\n")))
}

/// Escapes the message of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property of a command.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
