//! The report for a person at a terminal: verdict first, then what to do, then what was set apart.

use unicode_width::UnicodeWidthStr;

use super::view::{self, Style, Table};
use super::{Output, Report, advice, groups, what_if};
use crate::analysis::{Kernel, State};
use crate::model::elide;

pub(super) const OUTPUT: Output =
    Output { name: "text", endings: &["txt"], summary: "for a person at a terminal", render };

/// A kernel name is never elided below this many columns.
const NARROWEST_NAME: usize = 14;

fn render(report: &Report<'_>, style: &Style) -> String {
    let analysis = report.analysis;
    let mut text = String::new();
    for (label, sentence) in super::verdict::verdict(report) {
        wrap(&mut text, &style.bold(&format!("{label:<12} ")), 13, &sentence, style);
    }
    let steps = advice::next_steps(report, style);
    if !steps.is_empty() {
        heading(&mut text, style, "Next steps");
        for (position, step) in steps.iter().enumerate() {
            wrap(&mut text, &format!("  {}. ", position + 1), 5, step, style);
        }
    }
    opportunities(&mut text, report, style);
    list(&mut text, style, "Causes on other kernels", advice::beside(report, style));
    if let Some((groups, notes)) = groups::table(report, style) {
        heading(&mut text, style, groups::title(report));
        table(&mut text, &groups, &notes, style, 0);
    }
    list(&mut text, style, "The whole run", advice::run(report));
    list(&mut text, style, "Rules of your own", advice::own(report, style));
    let others: Vec<&Kernel> = analysis
        .kernels
        .iter()
        .filter(|kernel| kernel.state != State::Opportunity)
        .take(report.top)
        .collect();
    if !others.is_empty() {
        let total =
            analysis.kernels.iter().filter(|kernel| kernel.state != State::Opportunity).count();
        let shown = if total > others.len() {
            format!(", the first {} of {total}", others.len())
        } else {
            String::new()
        };
        heading(&mut text, style, &format!("Other kernels, by time{shown}"));
        table(&mut text, &view::others(&others, analysis.totals.measured, style), &[], style, 0);
    }
    let apart = view::apart(report);
    if !apart.is_empty() {
        heading(&mut text, style, "Not ranked, and why");
        for group in apart {
            let share = if analysis.totals.measured.get() > 0.0 {
                format!(
                    ", {} ({})",
                    view::si(group.time.get(), "s"),
                    view::percent(group.time / analysis.totals.measured)
                )
            } else {
                String::new()
            };
            let kernels = view::count(group.kernels as u64, "kernel", "kernels");
            text.push_str(&format!("  {}: {kernels}{share}\n", style.bold(group.state.label())));
            for reason in group.reasons.iter().take(4) {
                wrap(&mut text, "    ", 4, reason, style);
            }
        }
    }
    changes(&mut text, report, style);
    list(&mut text, style, "Inputs compared", view::ranks(report));
    let ceilings = view::ceilings(report);
    if !ceilings.is_empty() {
        heading(&mut text, style, &format!("Roofs used ({})", analysis.ceilings.label()));
        for line in ceilings {
            wrap(&mut text, "  ", 2, &line, style);
        }
    }
    heading(&mut text, style, "Read");
    if let Some(blind) = advice::blind(report) {
        wrap(&mut text, "  ", 4, &blind, style);
    }
    for line in view::provenance(report) {
        wrap(&mut text, "  ", 4, &line, style);
    }
    style.adapted(text)
}

/// A heading with a paragraph for each line; nothing without lines.
fn list(text: &mut String, style: &Style, title: &str, lines: Vec<String>) {
    if lines.is_empty() {
        return;
    }
    heading(text, style, title);
    for line in lines {
        wrap(text, "  ", 4, &line, style);
    }
}

fn opportunities(text: &mut String, report: &Report<'_>, style: &Style) {
    let analysis = report.analysis;
    let all: Vec<&Kernel> = analysis.opportunities().collect();
    if all.is_empty() {
        return;
    }
    let shown: Vec<&Kernel> = all.iter().take(report.top).copied().collect();
    let of = if all.len() > shown.len() {
        format!(", the first {} of {}", shown.len(), all.len())
    } else {
        String::new()
    };
    heading(text, style, &format!("Opportunities, by what a better implementation can win{of}"));
    let notes: Vec<Vec<String>> = shown
        .iter()
        .enumerate()
        .map(|(position, kernel)| {
            let mut lines = vec![kernel.meaning()];
            if let Some(findings) = report.findings.by_kernel.get(position) {
                lines.extend(findings.iter().map(advice::sentence));
            }
            lines
        })
        .collect();
    table(text, &view::opportunities(&shown, analysis.totals.measured, style), &notes, style, 1);
}

/// What becomes of the kernels under the changes that were asked about.
fn changes(text: &mut String, report: &Report<'_>, style: &Style) {
    if report.what_if.is_empty() {
        return;
    }
    heading(text, style, "What if");
    let notes: Vec<Vec<String>> = report.what_if.iter().map(|one| one.notes.clone()).collect();
    table(text, &what_if::summary(report), &notes, style, 0);
    wrap(text, "  ", 2, &what_if::meaning(report), style);
    let mut before = Vec::new();
    for one in report.what_if {
        let (kernels, all) = what_if::kernels(report, one, style);
        let shown = kernels.rows.len();
        let of = if all > shown { format!(", the first {shown} of {all}") } else { String::new() };
        heading(text, style, &format!("What if: {}{of}", view::printable(&one.change)));
        if shown > 0 {
            table(text, &kernels, &[], style, 0);
        }
        let kept = what_if::kept(report, one, style);
        if !kept.is_empty() && kept == before {
            text.push_str(&format!("  {}, as above\n", style.bold("kept")));
        } else if !kept.is_empty() {
            text.push_str(&format!("  {}\n", style.bold("kept")));
            for line in &kept {
                wrap(text, "    ", 4, line, style);
            }
        }
        before = kept;
    }
}

pub(super) fn heading(text: &mut String, style: &Style, title: &str) {
    text.push('\n');
    text.push_str(&style.paint("1;36", title));
    text.push('\n');
}

/// Draws a table with notes under its rows. Column `elastic` is elided in its middle to fit the
/// terminal; where that is not enough, columns that follow from others are left out.
pub(super) fn table(
    text: &mut String,
    table: &Table,
    notes: &[Vec<String>],
    style: &Style,
    elastic: usize,
) {
    let columns = Columns::fit(table, style, elastic);
    let titles: Vec<String> = table.headers.iter().map(|header| header.title.clone()).collect();
    text.push_str(&style.paint("2", &columns.draw(table, &titles)));
    text.push('\n');
    for (position, row) in table.rows.iter().enumerate() {
        text.push_str(&columns.draw(table, row));
        text.push('\n');
        for note in notes.get(position).into_iter().flatten() {
            wrap(text, "       ", 7, note, style);
        }
    }
}

/// Widths of the columns that are drawn.
struct Columns {
    widths: Vec<usize>,
    hidden: Vec<usize>,
    elastic: usize,
}

impl Columns {
    /// Columns left out on a narrow terminal, the most dispensable first.
    const DISPENSABLE: [&str; 25] = [
        "version",
        "ceilings",
        "branch",
        "kernels",
        "kept",
        "pipe",
        "achievable",
        "ridge",
        "FLOP/B",
        "gain",
        "covers",
        "launches",
        "limiter",
        "grid / block",
        "share",
        "ideal",
        "run faster",
        "run [",
        "faster",
        "expected",
        "state",
        "diff [",
        "result",
        "before",
        "interval",
    ];

    /// Names are elided to this before a column is left out.
    const SHORT_NAME: usize = 28;

    fn fit(table: &Table, style: &Style, elastic: usize) -> Self {
        let mut widths: Vec<usize> =
            table.headers.iter().map(|header| header.title.width()).collect();
        for row in &table.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let mut columns = Self { widths, hidden: Vec::new(), elastic };
        let Some(terminal) = style.width else { return columns };
        let natural = columns.widths[elastic];
        for title in Self::DISPENSABLE {
            columns.widths[elastic] = natural.min(Self::SHORT_NAME);
            if columns.used() <= terminal {
                break;
            }
            columns
                .hidden
                .extend(table.headers.iter().position(|header| header.title.starts_with(title)));
        }
        columns.widths[elastic] = natural;
        let over = columns.used().saturating_sub(terminal);
        columns.widths[elastic] = natural.saturating_sub(over).max(NARROWEST_NAME.min(natural));
        columns
    }

    fn used(&self) -> usize {
        let drawn = self.widths.iter().enumerate().filter(|(at, _)| !self.hidden.contains(at));
        drawn.map(|(_, width)| width + 2).sum()
    }

    fn draw(&self, table: &Table, cells: &[String]) -> String {
        let mut row = String::new();
        for (at, cell) in cells.iter().enumerate().filter(|(at, _)| !self.hidden.contains(at)) {
            let cell = if at == self.elastic { elide(cell, self.widths[at]) } else { cell.clone() };
            let pad = " ".repeat(self.widths[at].saturating_sub(cell.width()));
            row.push_str("  ");
            row.push_str(&if table.headers[at].number {
                format!("{pad}{cell}")
            } else {
                format!("{cell}{pad}")
            });
        }
        row.trim_end().to_owned()
    }
}

/// Writes a sentence after `lead`, broken at blanks to fit the terminal and indented below itself.
pub(super) fn wrap(text: &mut String, lead: &str, indent: usize, sentence: &str, style: &Style) {
    text.push_str(lead);
    let Some(terminal) = style.width else {
        text.push_str(sentence);
        text.push('\n');
        return;
    };
    let mut column = indent;
    let mut first = true;
    // Leading blanks of a sub-entry are kept.
    let kept = sentence.len() - sentence.trim_start().len();
    text.push_str(&sentence[..kept]);
    column += kept;
    for word in sentence.split_whitespace() {
        let mut word = word;
        let width = word.width();
        if !first && column + 1 + width > terminal {
            text.push('\n');
            text.push_str(&" ".repeat(indent + kept));
            column = indent + kept;
        } else if !first {
            text.push(' ');
            column += 1;
        }
        first = false;
        // A word longer than the line (a path, a name) is broken where it must be.
        while column + word.width() > terminal && terminal > indent + kept + 8 {
            let room = terminal - column;
            let cut = word.char_indices().nth(room).map_or(word.len(), |(at, _)| at);
            text.push_str(&word[..cut]);
            text.push('\n');
            text.push_str(&" ".repeat(indent + kept));
            column = indent + kept;
            word = &word[cut..];
        }
        text.push_str(word);
        column += word.width();
    }
    text.push('\n');
}
