//! The decision for a pull request or a job summary: within the size that the platform takes, in
//! Markdown that survives any name.

use super::sheet::Sheet;
use super::view::{self, change};
use super::{GateOutput, GateReport};
use crate::gate::{Action, Check, Outcome, Verdict};
use crate::report::markdown::{literal, table};
use crate::report::view::{Style, printable};

pub(super) const OUTPUT: GateOutput = GateOutput {
    name: "markdown",
    endings: &["md"],
    file: "gate.md",
    summary: "for a comment on a pull request or a job summary, within their size",
    render,
};

/// Decisive checks that stand in the open; the others fold, and their reasons are in the JSON.
const OPEN: usize = 20;

fn render(report: &GateReport<'_>, style: &Style) -> String {
    let mut sheet = Sheet::new(report.limit);
    head(&mut sheet, report);
    let deciding: Vec<&Check> = report.decision.deciding().collect();
    sheet.up_to(40);
    decided(&mut sheet, &deciding[..deciding.len().min(OPEN)], view::decided(report), style);
    sheet.up_to(50);
    for (label, command) in view::next(report) {
        sheet.block(&format!("\n{label}: {}\n", literal(&command)));
    }
    if let Some(counts) = view::counts(report) {
        sheet.block(&format!("\n{}.\n", escape(&counts)));
    }
    if deciding.len() > OPEN {
        sheet.up_to(70);
        further(&mut sheet, &deciding[OPEN..], style);
    }
    for (percent, title, lines) in rest(report, style) {
        sheet.up_to(percent);
        fold(&mut sheet, title, &lines);
    }
    style.adapted(sheet.finish())
}

/// What did not decide: title and lines of each part, and to which percentage of the whole it may go.
fn rest(report: &GateReport<'_>, style: &Style) -> Vec<(usize, &'static str, Vec<String>)> {
    let told = |action| -> Vec<String> {
        let checks = view::beside(report, action).into_iter();
        checks
            .map(|check| format!("- {}: {}\n", check.verdict.label(), sentence(check, style)))
            .collect()
    };
    let lone = |verdict| -> Vec<String> {
        let kernels = view::lone(report, verdict, style).into_iter();
        kernels.map(|(name, what)| format!("- {}: {}\n", literal(&name), escape(&what))).collect()
    };
    let guesses = view::guesses(report, guarded).into_iter();
    let improved = view::improved(report).into_iter().map(|check| {
        let by = check.change.map_or_else(|| printable(&check.message), change);
        format!("- {}: {}\n", literal(&view::name(check, style)), escape(&by))
    });
    let waived = view::waived(report).into_iter().map(|(check, reason)| {
        let verdict = check.verdict.label();
        format!("- {verdict}: {} ({})\n", sentence(check, style), escape(&reason))
    });
    let item = |line: String| format!("- {}\n", escape(&line));
    vec![
        (78, "Warnings", told(Action::Warn)),
        (82, "Notices", told(Action::Notice)),
        (86, "New kernels", lone(Verdict::New)),
        (90, "Vanished kernels", lone(Verdict::Vanished)),
        (92, "Perhaps", guesses.map(|line| format!("- {}\n", opened(&line))).collect()),
        (94, "Improved", improved.collect()),
        (96, "Waived", waived.collect()),
        (98, "Notes", view::notes(report).into_iter().map(item).collect()),
        (100, "Method", view::method(report).into_iter().map(item).collect()),
    ]
}

fn head(sheet: &mut Sheet, report: &GateReport<'_>) {
    let decision = report.decision;
    let title = match decision.outcome {
        Outcome::NothingMeasured => "Gate: NOTHING MEASURED",
        Outcome::DifferentDevices => "Gate: DIFFERENT DEVICES",
        _ if !decision.decides => "Kernel times compared",
        Outcome::Passed => "Gate passed",
        Outcome::Failed => "Gate FAILED",
        Outcome::Inconclusive => "Gate INCONCLUSIVE",
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
fn decided(sheet: &mut Sheet, deciding: &[&Check], title: &str, style: &Style) {
    let (head, rows) = rows(deciding, style);
    sheet.lines(&format!("\n### {title}\n\n{head}"), &rows, "", left("rows"));
    sheet.lines("\n", &reasons(deciding), "", left("reasons"));
}

/// What decided as well, folded.
fn further(sheet: &mut Sheet, deciding: &[&Check], style: &Style) {
    let (head, rows) = rows(deciding, style);
    let before = format!("\n<details><summary>And {} more</summary>\n\n{head}", rows.len());
    sheet.lines(&before, &rows, "\n</details>\n", left("rows"));
}

/// The head of the table of checks, and its rows; none without checks.
fn rows(checks: &[&Check], style: &Style) -> (String, Vec<String>) {
    let mut drawn = String::new();
    table(&mut drawn, &view::table(checks, style), 1);
    let mut rows = drawn.split_inclusive('\n');
    let head = rows.by_ref().take(2).collect();
    (head, rows.map(str::to_owned).collect())
}

/// Why each check decided, numbered as in the table.
fn reasons(checks: &[&Check]) -> Vec<String> {
    let reason = |(position, check): (usize, &&Check)| {
        let lines = view::why(check);
        let mut text = format!("{}. ", position + 1);
        for (at, line) in lines.iter().enumerate() {
            text.push_str(if at == 0 { "" } else { "   - " });
            text.push_str(&escape(line));
            text.push('\n');
        }
        text
    };
    checks.iter().enumerate().map(reason).collect()
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
