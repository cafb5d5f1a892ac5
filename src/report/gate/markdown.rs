//! The decision for a pull request or a job summary: within the size that the platform takes, in
//! Markdown that survives any name.

use super::sheet::Sheet;
use super::view::{self, change};
use super::{GateOutput, GateReport};
use crate::gate::{Check, Outcome, Verdict};
use crate::report::markdown::{literal, table};
use crate::report::view::{Style, printable};

pub(super) const OUTPUT: GateOutput = GateOutput {
    name: "markdown",
    extension: Some("md"),
    file: "gate.md",
    summary: "for a comment on a pull request or a job summary, within their size",
    render,
};

/// Checks whose reasons stand in the open; those of the others fold.
const OPEN: usize = 10;

fn render(report: &GateReport<'_>, style: &Style) -> String {
    let mut sheet = Sheet::new(report.limit);
    head(&mut sheet, report);
    let deciding: Vec<&Check> = report.decision.deciding().collect();
    decided(&mut sheet, &deciding, style);
    commands(&mut sheet, report);
    if let Some(counts) = view::counts(report) {
        sheet.block(&format!("\n{}.\n", escape(&counts)));
    }
    if deciding.len() > OPEN {
        let lines = reasons(&deciding[OPEN..], OPEN);
        fold(&mut sheet, &format!("Why, from number {}", OPEN + 1), &lines);
    }
    let beside = view::beside(report).into_iter().map(|check| {
        let (weight, verdict) = (view::weight(check), check.verdict.label());
        format!("- {weight} ({verdict}): {}\n", sentence(check, style))
    });
    fold(&mut sheet, "Not decisive", &beside.collect::<Vec<_>>());
    let guesses = view::guesses(report, guarded).into_iter().map(|line| format!("- {}\n", opened(&line)));
    let mut lines: Vec<String> = guesses.collect();
    for verdict in [Verdict::New, Verdict::Vanished] {
        lines.extend(view::lone(report, verdict, style).into_iter().map(|(name, what)| {
            format!("- {}: {}: {}\n", verdict.label(), literal(&name), escape(&what))
        }));
    }
    fold(&mut sheet, "Only on one side", &lines);
    let improved = view::improved(report).into_iter().map(|check| {
        let by = check.change.map_or_else(|| printable(&check.message), change);
        format!("- {}: {}\n", literal(&view::name(check, style)), escape(&by))
    });
    fold(&mut sheet, "Improved", &improved.collect::<Vec<_>>());
    let waived = view::waived(report).into_iter().map(|(check, reason)| {
        let verdict = check.verdict.label();
        format!("- {}: {verdict} ({})\n", sentence(check, style), escape(&reason))
    });
    fold(&mut sheet, "Waived", &waived.collect::<Vec<_>>());
    let item = |line: String| format!("- {}\n", escape(&line));
    fold(&mut sheet, "Notes", &view::notes(report).into_iter().map(item).collect::<Vec<_>>());
    fold(&mut sheet, "Method", &view::method(report).into_iter().map(item).collect::<Vec<_>>());
    style.adapted(sheet.finish())
}

fn head(sheet: &mut Sheet, report: &GateReport<'_>) {
    let decision = report.decision;
    let title = match decision.outcome {
        _ if !decision.decides => "Kernel times compared",
        Outcome::Passed => "Gate passed",
        Outcome::Failed => "Gate FAILED",
        Outcome::Inconclusive => "Gate INCONCLUSIVE",
        Outcome::NothingMeasured => "Gate: NOTHING MEASURED",
    };
    let warns = if decision.warn_only { " (the policy only warns)" } else { "" };
    sheet.block(&format!("## {title}{warns}\n"));
    // The reason stands by itself: it is what a reader of the first line wants.
    sheet.block(&format!("\n{}\n\n", escape(&printable(&decision.reason))));
    for (label, sentence) in view::head(report).into_iter().skip(1) {
        sheet.block(&format!("- **{label}**: {}\n", escape(&sentence)));
    }
}

/// What decided: a table, then why its rows are there.
fn decided(sheet: &mut Sheet, deciding: &[&Check], style: &Style) {
    if deciding.is_empty() {
        return;
    }
    let mut drawn = String::new();
    table(&mut drawn, &view::table(deciding, style), 1);
    let mut rows = drawn.split_inclusive('\n');
    let head: String = rows.by_ref().take(2).collect();
    let rows: Vec<String> = rows.map(str::to_owned).collect();
    sheet.lines(&format!("\n### What decided\n\n{head}"), &rows, "", left("rows"));
    let open = &deciding[..deciding.len().min(OPEN)];
    sheet.lines("\n", &reasons(open, 0), "", left("reasons"));
}

/// Why each check decided, numbered as in the table.
fn reasons(checks: &[&Check], before: usize) -> Vec<String> {
    let reason = |(position, check): (usize, &&Check)| {
        let lines = view::why(check);
        let mut text = format!("{}. ", before + position + 1);
        for (at, line) in lines.iter().enumerate() {
            text.push_str(if at == 0 { "" } else { "   - " });
            text.push_str(&escape(line));
            text.push('\n');
        }
        text
    };
    checks.iter().enumerate().map(reason).collect()
}

fn commands(sheet: &mut Sheet, report: &GateReport<'_>) {
    for (label, command) in view::next(report) {
        sheet.block(&format!("\n{label}: {}\n", literal(&command)));
    }
}

/// Lines that are shown when a reader asks for them; nothing without lines.
fn fold(sheet: &mut Sheet, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let before = format!("\n<details><summary>{title} ({})</summary>\n\n", lines.len());
    sheet.lines(&before, lines, "\n</details>\n", left(&title.to_lowercase()));
}

/// How many are left out for want of room.
fn left(what: &str) -> impl Fn(usize) -> String {
    let what = what.to_owned();
    move |left| format!("\n{left} more ({what}) in the JSON.\n")
}

/// What a check says, with the kernel it says it of.
fn sentence(check: &Check, style: &Style) -> String {
    let (name, message) = (view::name(check, style), printable(&check.message));
    if message.contains(&name) {
        escape(&message)
    } else {
        format!("{}: {}", literal(&name), escape(&message))
    }
}

/// Text that Markdown and HTML leave as it is, and that calls nobody.
fn escape(text: &str) -> String {
    crate::report::markdown::escape(text).replace('@', "&#64;")
}

/// A name between marks that no printable text holds, so that the sentence around it can be escaped.
fn guarded(name: &str) -> String {
    format!("\u{1}{name}\u{2}")
}

/// The sentence with its guarded names as code.
fn opened(text: &str) -> String {
    let mut opened = String::new();
    for part in text.split('\u{1}') {
        match part.split_once('\u{2}') {
            Some((name, rest)) => opened.push_str(&(literal(name) + &escape(rest))),
            None => opened.push_str(&escape(part)),
        }
    }
    opened
}
