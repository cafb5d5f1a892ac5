//! The decision for a person at a terminal, on one screen: what decided first, and why.

use super::view::{self, change, name};
use super::{GateOutput, GateReport};
use crate::gate::{Action, Check, Metric, Outcome, Subject, Verdict};
use crate::report::text::{heading, table, wrap};
use crate::report::view::{Style, printable};
use crate::units::{RelativeChange, Seconds};

pub(super) const OUTPUT: GateOutput = GateOutput {
    name: "text",
    endings: &["txt"],
    file: "gate.txt",
    summary: "for a person at a terminal, on one screen",
    render,
};

/// Checks that are shown of those that decided.
const DECIDING: usize = 5;

/// Lines of what speaks for or against a check, beside its sentence.
const EVIDENCE: usize = 2;

/// Lines of every other list.
const LISTED: usize = 3;

fn render(report: &GateReport<'_>, style: &Style) -> String {
    let mut text = String::new();
    for (label, sentence) in view::head(report) {
        wrap(&mut text, &style.bold(&format!("{label:<12} ")), 13, &sentence, style);
    }
    let word = view::outcome(report.decision.outcome);
    if report.decision.decides {
        text = text.replacen(&word, &style.paint(colour(report.decision.outcome), &word), 1);
    }
    decided(&mut text, report, style);
    if !report.decision.decides {
        kernels(&mut text, report, style);
    }
    text.push('\n');
    for (label, lines) in rest(report, style) {
        list(&mut text, style, label, &lines);
    }
    unheard(style.adapted(text))
}

/// What did not decide, a label and its lines each.
fn rest(report: &GateReport<'_>, style: &Style) -> Vec<(&'static str, Vec<String>)> {
    let told = |action| -> Vec<String> {
        let checks = view::beside(report, action).into_iter();
        let told = |check: &Check| format!("{}: {}", check.verdict.label(), sentence(check, style));
        checks.map(told).collect()
    };
    let lone = |verdict| -> Vec<String> {
        let kernels = view::lone(report, verdict, style).into_iter();
        kernels.map(|(name, what)| format!("{name}: {what}")).collect()
    };
    let improved = view::improved(report).into_iter().map(|check| {
        let by = check.change.map_or_else(|| printable(&check.message), change);
        format!("{}: {by}", name(check, style))
    });
    let waived = view::waived(report).into_iter().map(|(check, reason)| {
        format!("{}: {} ({reason})", check.verdict.label(), sentence(check, style))
    });
    let method = view::method(report);
    let method = if method.is_empty() { method } else { vec![method.join(" ")] };
    let mut all = vec![
        ("Warnings", told(Action::Warn)),
        ("Notices", told(Action::Notice)),
        ("New", lone(Verdict::New)),
        ("Vanished", lone(Verdict::Vanished)),
        ("Perhaps", view::guesses(report, str::to_owned)),
        ("Improved", improved.collect()),
        ("Waived", waived.collect()),
        ("Notes", view::notes(report)),
        ("Judged", view::counts(report).into_iter().collect()),
        ("Method", method),
    ];
    all.extend(view::next(report).into_iter().map(|(label, command)| (label, vec![command])));
    all
}

/// The text without lines that a CI system would take for a command of its own: GitHub's runner reads
/// `::` at the start of a line and `##[` anywhere, and names of kernels come from outside.
fn unheard(text: String) -> String {
    if !text.contains("::") && !text.contains("##[") {
        return text;
    }
    let mut quiet = String::with_capacity(text.len());
    for line in text.replace("##[", "##(").split_inclusive('\n') {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        if line[blanks..].starts_with("::") {
            // In place of a blank, so that no line grows beyond the terminal.
            quiet.push_str(&line[..blanks.saturating_sub(1)]);
            quiet.push('\\');
        } else {
            quiet.push_str(&line[..blanks]);
        }
        quiet.push_str(&line[blanks..]);
    }
    quiet
}

/// Red, green or yellow, beside the word that says the same.
fn colour(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "1;32",
        Outcome::Failed | Outcome::NothingMeasured | Outcome::DifferentDevices => "1;31",
        Outcome::Inconclusive => "1;33",
    }
}

/// What decided: a table, then why each of its rows is there.
fn decided(text: &mut String, report: &GateReport<'_>, style: &Style) {
    let all: Vec<&Check> = report.decision.deciding().collect();
    let shown = &all[..all.len().min(DECIDING)];
    if shown.is_empty() {
        return;
    }
    let of = if all.len() > shown.len() {
        format!(", the first {} of {}", shown.len(), all.len())
    } else {
        String::new()
    };
    let title = view::decided(report);
    heading(text, style, &format!("{title}{of}"));
    table(text, &view::table(shown, style), &[], style, 1);
    heading(text, style, "Why");
    for (position, check) in shown.iter().enumerate() {
        let lines = view::why(check);
        for (line, at) in lines.iter().zip(0..=EVIDENCE) {
            let lead = if at == 0 { format!("  {}. ", position + 1) } else { "     ".to_owned() };
            wrap(text, &lead, 5, line, style);
        }
        if lines.len() > EVIDENCE + 1 {
            text.push_str(&format!("     and {} more in the JSON\n", lines.len() - EVIDENCE - 1));
        }
    }
}

/// Rows of the table of all kernels.
const KERNELS: usize = 15;

/// What became of every kernel, those that moved most first: what a comparison is asked for.
fn kernels(text: &mut String, report: &GateReport<'_>, style: &Style) {
    let mut all: Vec<&Check> = report
        .decision
        .checks
        .iter()
        .filter(|check| matches!(check.metric, Metric::Time | Metric::Headroom))
        .filter(|check| matches!(check.subject, Subject::Kernel { .. }) && check.change.is_some())
        .collect();
    let moved = |check: &Check| {
        let change = check.change.map(RelativeChange::get);
        check.delta_s.map(Seconds::get).or(change).unwrap_or(0.0).abs()
    };
    all.sort_by(|one, two| moved(two).total_cmp(&moved(one)));
    let shown = &all[..all.len().min(KERNELS)];
    if shown.is_empty() {
        return;
    }
    let of = if all.len() > shown.len() {
        format!(", the first {} of {}", shown.len(), all.len())
    } else {
        String::new()
    };
    heading(text, style, &format!("Kernels, by how much they moved{of}"));
    table(text, &view::table(shown, style), &[], style, 1);
}

/// What a check says, with the kernel it says it of.
fn sentence(check: &Check, style: &Style) -> String {
    let (name, message) = (name(check, style), printable(&check.message));
    if message.contains(&name) { message } else { format!("{name}: {message}") }
}

/// A label with the first lines, and how many are left; nothing without lines.
fn list(text: &mut String, style: &Style, label: &str, lines: &[String]) {
    for (at, line) in lines.iter().take(LISTED).enumerate() {
        let lead = if at == 0 { style.bold(&format!("{label:<12} ")) } else { " ".repeat(13) };
        wrap(text, &lead, 13, line, style);
    }
    if lines.len() > LISTED {
        let more = format!("and {} more in the JSON", lines.len() - LISTED);
        wrap(text, &" ".repeat(13), 13, &more, style);
    }
}
