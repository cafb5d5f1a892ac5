//! The report for a pull request: the same verdict and tables, in Markdown that survives any name.

use super::view::{self, Style, Table};
use super::{Output, Report, advice, groups, what_if};
use crate::analysis::{Kernel, State};

pub(super) const OUTPUT: Output = Output {
    name: "markdown",
    endings: &["md"],
    summary: "for a pull request or a job summary",
    render,
};

fn render(report: &Report<'_>, style: &Style) -> String {
    let analysis = report.analysis;
    let mut text = String::from("## Roofline report\n\n");
    for (label, sentence) in super::verdict::verdict(report) {
        text.push_str(&format!("- **{label}**: {}\n", escape(&sentence)));
    }
    let steps = advice::next_steps(report, style);
    if !steps.is_empty() {
        text.push_str("\n### Next steps\n\n");
        for (position, step) in steps.iter().enumerate() {
            text.push_str(&format!("{}. {}\n", position + 1, escape(step)));
        }
    }
    let all: Vec<&Kernel> = analysis.opportunities().collect();
    let shown: Vec<&Kernel> = all.iter().take(report.top).copied().collect();
    if !shown.is_empty() {
        let of = if all.len() > shown.len() {
            format!(" (first {} of {})", shown.len(), all.len())
        } else {
            String::new()
        };
        text.push_str(&format!("\n### Opportunities{of}\n\n"));
        table(&mut text, &view::opportunities(&shown, analysis.totals.measured, style), 1);
        text.push('\n');
        for (position, kernel) in shown.iter().enumerate() {
            text.push_str(&format!("{}. {}", kernel.rank, escape(&kernel.meaning())));
            for finding in report.findings.by_kernel.get(position).into_iter().flatten() {
                text.push_str(&format!("; **{}**: {}", finding.rule, escape(&finding.message)));
            }
            text.push('\n');
        }
    }
    list(&mut text, "Causes on other kernels", &advice::beside(report, style));
    by_group(&mut text, report, style);
    list(&mut text, "The whole run", &advice::run(report));
    list(&mut text, "Rules of your own", &advice::own(report, style));
    let others: Vec<&Kernel> = analysis
        .kernels
        .iter()
        .filter(|kernel| kernel.state != State::Opportunity)
        .take(report.top)
        .collect();
    if !others.is_empty() {
        text.push_str("\n<details><summary>Other kernels, by time</summary>\n\n");
        table(&mut text, &view::others(&others, analysis.totals.measured, style), 0);
        text.push_str("\n</details>\n");
    }
    let apart = view::apart(report);
    if !apart.is_empty() {
        text.push_str("\n### Not ranked, and why\n\n");
        for group in apart {
            let kernels = view::count(group.kernels as u64, "kernel", "kernels");
            let reasons: Vec<&str> = group.reasons.iter().take(3).map(String::as_str).collect();
            text.push_str(&format!(
                "- **{}**: {kernels}, {}: {}\n",
                group.state.label(),
                view::si(group.time.get(), "s"),
                escape(&reasons.join("; "))
            ));
        }
    }
    changes(&mut text, report, style);
    let ranks = view::ranks(report);
    if !ranks.is_empty() {
        text.push_str("\n### Inputs compared\n\n");
        for line in ranks {
            text.push_str(&format!("- {}\n", escape(&line)));
        }
    }
    text.push_str("\n<details><summary>Read</summary>\n\n");
    for line in view::ceilings(report).iter().chain(&view::provenance(report)) {
        text.push_str(&format!("- {}\n", escape(line.trim_start())));
    }
    text.push_str("\n</details>\n");
    style.adapted(text)
}

/// A heading with an item for each line; nothing without lines.
fn list(text: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    text.push_str(&format!("\n### {title}\n\n"));
    for line in lines {
        text.push_str(&format!("- {}\n", escape(line)));
    }
}

/// The groups, and what their figures leave out.
fn by_group(text: &mut String, report: &Report<'_>, style: &Style) {
    let Some((groups, notes)) = groups::table(report, style) else { return };
    text.push_str(&format!("\n### {}\n\n", groups::title(report)));
    table(text, &groups, 0);
    let told: Vec<_> =
        notes.iter().zip(&groups.rows).filter(|(notes, _)| !notes.is_empty()).collect();
    if !told.is_empty() {
        text.push('\n');
    }
    for (notes, row) in told {
        text.push_str(&format!("- {}: {}\n", literal(&row[0]), escape(&notes.join("; "))));
    }
}

/// What becomes of the kernels under the changes that were asked about.
fn changes(text: &mut String, report: &Report<'_>, style: &Style) {
    if report.what_if.is_empty() {
        return;
    }
    text.push_str("\n### What if\n\n");
    table(text, &what_if::summary(report), 0);
    text.push_str(&format!("\n{}\n", escape(&what_if::meaning(report))));
    for one in report.what_if {
        let (kernels, all) = what_if::kernels(report, one, style);
        let shown = kernels.rows.len();
        let of = if all > shown { format!(" (first {shown} of {all})") } else { String::new() };
        let change = view::printable(&one.change);
        text.push_str(&format!(
            "\n<details><summary>What if: {}{of}</summary>\n\n",
            escape(&change)
        ));
        if shown > 0 {
            table(text, &kernels, 0);
            text.push('\n');
        }
        for note in &one.notes {
            text.push_str(&format!("- {}\n", escape(note)));
        }
        for line in what_if::kept(report, one, style) {
            text.push_str(&format!("- kept: {}\n", escape(&line)));
        }
        text.push_str("\n</details>\n");
    }
}

/// Draws a table; the column `code` holds names, which are shown as code.
pub(super) fn table(text: &mut String, table: &Table, code: usize) {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    text.push_str(&line(table.headers.iter().map(|header| escape(&header.title)).collect()));
    text.push_str(&line(
        table
            .headers
            .iter()
            .map(|header| if header.number { "---:" } else { ":---" }.to_owned())
            .collect(),
    ));
    for row in &table.rows {
        let cells = row
            .iter()
            .enumerate()
            .map(|(at, cell)| if at == code { literal(cell) } else { escape(cell) });
        text.push_str(&line(cells.collect()));
    }
}

/// Text that Markdown and HTML leave as it is.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// A name as HTML code, which unlike a Markdown code span can hold backticks and pipes in a table.
pub(super) fn literal(text: &str) -> String {
    let mut html = String::from("<code>");
    for c in text.chars() {
        match c {
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '&' => html.push_str("&amp;"),
            // Entities keep Markdown from reading these inside the code element.
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' | '!' | '#' | '@' | ':' => {
                html.push_str(&format!("&#{};", u32::from(c)));
            }
            c => html.push(c),
        }
    }
    html.push_str("</code>");
    html
}

#[cfg(test)]
mod tests {
    use super::{escape, literal};

    #[test]
    fn no_name_breaks_out_of_its_cell() {
        let name = "a|b`c<img src=x onerror=alert(1)>*_d_*";
        for text in [escape(name), literal(name)] {
            assert!(!text.contains("<img"), "{text}");
            assert!(!text.replace("\\|", "").contains('|'), "{text}");
        }
    }
}
