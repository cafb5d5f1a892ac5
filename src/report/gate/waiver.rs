//! The entry of a policy that accepts what failed, to be pasted into `rooflint.toml`.

use super::GateReport;
use crate::gate::{Check, Metric, Subject};
use crate::report::document::{Block, Document, Section};
use crate::report::view::{Style, printable};

/// Entries shown; the others differ in the name of the kernel.
const SHOWN: usize = 1;

/// Adds the waivers of the first failing checks.
pub(super) fn section(report: &GateReport<'_>, document: &mut Document, style: &Style) {
    if !report.can_fail() {
        return;
    }
    // Two rules may fail on one figure: one entry accepts both.
    let mut entries: Vec<String> = Vec::new();
    for entry in report.decision.deciding().filter_map(entry) {
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    if entries.is_empty() {
        return;
    }
    let shown = if style.verbose { entries.len() } else { entries.len().min(SHOWN) };
    let mut code = entries[..shown].join("\n");
    if entries.len() > shown {
        let more = entries.len() - shown;
        code.push_str(&format!("# {more} more: one entry for each failing check\n"));
    }
    let title = "To accept it, add to the policy (rooflint.toml, or the file of --policy)";
    document.add(Section { room: 80, ..Section::new(title, vec![Block::Code(code)]) });
}

/// A name as a basic string of TOML, whose escapes are those of JSON; `*` stands for what cannot be printed.
fn quoted(name: &str) -> String {
    let visible = |letter: char| {
        let text = letter.to_string();
        if printable(&text) == text { letter } else { '*' }
    };
    let name: String = name.chars().map(visible).collect();
    serde_json::to_string(&name).unwrap_or_default()
}

/// The waiver of a check; none for what no waiver accepts, such as a truncated file.
fn entry(check: &Check) -> Option<String> {
    const REST: &str = "reason = \"...\"\n# expires = 2027-01-31\n";
    if let Some(pattern) = &check.required {
        return Some(format!("[[gate.waiver]]\nkernel = {}\n{REST}", quoted(pattern)));
    }
    let selector = match &check.subject {
        Subject::Kernel { operator, .. } => {
            let name = check.subject.written()?;
            let operator = operator.as_ref().map(|it| format!("operator = {}\n", quoted(it)));
            format!("kernel = {}\n{}", quoted(name), operator.unwrap_or_default())
        }
        Subject::Run if matches!(check.metric, Metric::Total | Metric::CommonShift) => {
            String::new()
        }
        Subject::Run => return None,
    };
    let metric = check.metric.key();
    Some(format!("[[gate.waiver]]\n{selector}metric = \"{metric}\"\n{REST}"))
}
