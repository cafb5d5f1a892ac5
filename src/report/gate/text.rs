//! The decision for a person at a terminal, on one screen: what decided first, and why.

use super::view::{self, beside, change, name};
use super::{GateOutput, GateReport};
use crate::gate::{Check, Outcome, Verdict};
use crate::report::text::{heading, table, wrap};
use crate::report::view::{Style, printable};

pub(super) const OUTPUT: GateOutput = GateOutput {
    name: "text",
    extension: Some("txt"),
    file: "gate.txt",
    summary: "for a person at a terminal, on one screen",
    render,
};

/// Checks that are shown of those that decided.
const DECIDING: usize = 5;

/// Lines of what speaks for or against a check, beside its sentence.
const EVIDENCE: usize = 2;

/// Lines of every other list.
const LISTED: usize = 4;

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
    let beside = beside(report);
    let lines = beside.iter().map(|check| {
        format!("{} ({}): {}", view::weight(check), check.verdict.label(), sentence(check, style))
    });
    list(&mut text, style, "Not decisive", lines.collect());
    list(&mut text, style, "Only on one side", lone(report, style));
    let improved = view::improved(report).into_iter().map(|check| {
        let by = check.change.map_or_else(|| printable(&check.message), change);
        format!("{}: {by}", name(check, style))
    });
    list(&mut text, style, "Improved", improved.collect());
    let waived = view::waived(report).into_iter().map(|(check, reason)| {
        format!("{}: {} ({reason})", sentence(check, style), check.verdict.label())
    });
    list(&mut text, style, "Waived", waived.collect());
    list(&mut text, style, "Notes", view::notes(report));
    heading(&mut text, style, "Judged");
    if let Some(counts) = view::counts(report) {
        wrap(&mut text, "  ", 4, &counts, style);
    }
    let method = view::method(report);
    if !method.is_empty() {
        wrap(&mut text, "  ", 4, &method.join(" "), style);
    }
    for (label, command) in view::next(report) {
        wrap(&mut text, &format!("  {}: ", style.bold(label)), label.len() + 4, &command, style);
    }
    style.adapted(text)
}

/// Red, green or yellow, beside the word that says the same.
fn colour(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "1;32",
        Outcome::Failed | Outcome::NothingMeasured => "1;31",
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
    heading(text, style, &format!("What decided{of}"));
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

/// What a check says, with the kernel it says it of.
fn sentence(check: &Check, style: &Style) -> String {
    let (name, message) = (name(check, style), printable(&check.message));
    if message.contains(&name) { message } else { format!("{name}: {message}") }
}

/// New and vanished kernels, and what may have become of them.
fn lone(report: &GateReport<'_>, style: &Style) -> Vec<String> {
    const EACH: usize = 3;
    let mut lines = Vec::new();
    for verdict in [Verdict::New, Verdict::Vanished] {
        let kernels = view::lone(report, verdict, style);
        let told = kernels.iter().take(EACH);
        lines.extend(told.map(|(name, what)| format!("{}: {name}: {what}", verdict.label())));
        if kernels.len() > EACH {
            lines.push(format!("{}: {} more", verdict.label(), kernels.len() - EACH));
        }
    }
    // Guesses come first among so few lines: they explain the others.
    let mut guesses = view::guesses(report, str::to_owned);
    if guesses.len() > EACH {
        let more = guesses.len() - EACH;
        guesses.truncate(EACH);
        guesses.push(format!("{more} more guesses"));
    }
    guesses.extend(lines);
    guesses
}

/// A heading with the first lines, and how many are left; nothing without lines.
fn list(text: &mut String, style: &Style, title: &str, lines: Vec<String>) {
    // Kernels of one side already come with a count of the rest.
    let room = if title == "Only on one side" { lines.len() } else { LISTED };
    if lines.is_empty() {
        return;
    }
    heading(text, style, title);
    for line in lines.iter().take(room) {
        wrap(text, "  ", 4, line, style);
    }
    if lines.len() > room {
        text.push_str(&format!("  and {} more in the JSON\n", lines.len() - room));
    }
}
