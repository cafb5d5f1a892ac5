//! Reports of the rules: one line each, or the documentation of one.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use super::document::{Block, Cell, Column, Document, Section, Table};
use super::numbers::{printable, printable_lines};
use super::view::Style;
use super::{Reported, pretty};
use crate::json;
use crate::rules::{self, Custom, RULES};

/// All rules with their summaries, custom rules last.
#[derive(Debug, Clone, Copy)]
pub struct RuleList<'a>(pub &'a [Custom]);

/// A page of documentation, in Markdown: headings, paragraphs, tables and code.
#[derive(Debug, Clone, Copy)]
pub struct RulePage<'a>(pub &'a str);

impl Reported for RuleList<'_> {
    fn document(&self, _: &Style) -> Document {
        let columns = vec![
            Column::text("rule", "rule"),
            Column::text("summary", "finds"),
            Column::text("alias", "former id").spare(1),
        ];
        let mut table = Table::new("rules", columns);
        for rule in RULES {
            let aliases = rules::aliases(rule.id).collect::<Vec<_>>().join(", ");
            let alias = Cell::maybe_text((!aliases.is_empty()).then_some(aliases));
            table.push([Cell::text(rule.id), Cell::text(rule.summary), alias]);
            table.link(rules::link(rule.id));
        }
        for rule in self.0 {
            let (id, summary) = (printable(&rule.id), printable(&rule.summary()));
            table.push([Cell::text(id), Cell::text(summary), Cell::Empty]);
        }
        let mut document = Document::new("Rules");
        document.push(Block::Table(table));
        document
    }

    fn own(&self, format: &str, _: &Style) -> Option<String> {
        let built_in = RULES.iter().map(|rule| RuleLine {
            id: rule.id,
            summary: rule.summary.into(),
            former_ids: rules::aliases(rule.id).collect(),
            is_custom: false,
            page: rules::link(rule.id),
        });
        let custom = self.0.iter().map(|rule| RuleLine {
            id: &rule.id,
            summary: rule.summary().into(),
            former_ids: Vec::new(),
            is_custom: true,
            page: None,
        });
        let listing =
            || Listing { schema: "rooflint/rules/1", rules: built_in.chain(custom).collect() };
        (format == "json").then(|| pretty(&listing()))
    }
}

/// The rules, for programs.
#[derive(Serialize, JsonSchema)]
struct Listing<'a> {
    /// Type and major version of this document.
    schema: &'static str,
    /// The rules, custom ones last.
    rules: Vec<RuleLine<'a>>,
}

/// Returns the JSON schema of the list of rules, as pretty-printed JSON.
#[must_use]
pub fn rule_list_schema() -> String {
    json::schema::<Listing<'_>>("rules-1", "Rules of rooflint")
}

#[derive(Serialize, JsonSchema)]
struct RuleLine<'a> {
    /// Its name for `--select` and `--ignore`.
    id: &'a str,
    /// What it finds.
    summary: Cow<'a, str>,
    /// Names that it had, which are still accepted.
    former_ids: Vec<&'a str>,
    /// True for rules of the configuration.
    is_custom: bool,
    /// Address of its page; `null` for rules of the configuration.
    page: Option<String>,
}

impl Reported for RulePage<'_> {
    fn document(&self, _: &Style) -> Document {
        let page = printable_lines(self.0);
        let mut document = Document::titled("");
        let mut section = Section::new("", Vec::new());
        let mut lines = page.lines().peekable();
        while let Some(line) = lines.next() {
            if let Some(title) = line.strip_prefix("# ") {
                title.clone_into(&mut document.title);
            } else if let Some(title) = line.strip_prefix("## ") {
                let before = std::mem::replace(&mut section, Section::new(title, Vec::new()));
                add(&mut document, before);
            } else if line.starts_with("```") {
                let code: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
                section.blocks.push(Block::Code(code.join("\n")));
            } else if line.starts_with('|') {
                let rows = std::iter::from_fn(|| lines.next_if(|line| line.starts_with('|')));
                section.blocks.push(Block::Table(table(line, rows.skip(1))));
            } else if !line.is_empty() {
                let mut text = line.trim_start_matches("- ").to_owned();
                while let Some(line) = lines.next_if(|line| !line.is_empty() && !begins(line)) {
                    text.push(' ');
                    text.push_str(line.trim_start());
                }
                match section.blocks.last_mut() {
                    Some(Block::List(items)) if line.starts_with("- ") => items.push(text.into()),
                    _ if line.starts_with("- ") => {
                        section.blocks.push(Block::List(vec![text.into()]));
                    }
                    _ => section.blocks.push(Block::Paragraph(text)),
                }
            }
        }
        add(&mut document, section);
        document
    }

    fn own(&self, format: &str, style: &Style) -> Option<String> {
        (format == "markdown").then(|| style.adapted(printable_lines(self.0) + "\n"))
    }
}

/// Adds a section; the text before the first heading has no title.
fn add(document: &mut Document, section: Section) {
    if section.title.is_empty() {
        document.blocks.extend(section.blocks);
    } else {
        document.add(section);
    }
}

/// Returns `true` if a line begins something other than a paragraph.
fn begins(line: &str) -> bool {
    line.starts_with(['#', '|']) || line.starts_with("```") || line.starts_with("- ")
}

/// Makes a table from its header and its rows.
fn table<'a>(header: &str, rows: impl Iterator<Item = &'a str>) -> Table {
    let titles = header.trim_matches('|').split(" | ").map(str::trim);
    let columns: Vec<Column> = titles.map(|title| Column::text(title, title)).collect();
    let most = columns.len();
    let mut table = Table::new("table", columns);
    for row in rows {
        let cells = row.trim_matches('|').splitn(most, " | ");
        let cells = cells.map(|cell| Cell::text(bare(cell.trim())));
        table.push(cells.chain(std::iter::repeat(Cell::Empty)).take(most));
    }
    table
}

/// A cell that is nothing but code, without the marks that say so.
fn bare(cell: &str) -> &str {
    let code = cell.strip_prefix('`').and_then(|cell| cell.strip_suffix('`'));
    code.filter(|code| !code.contains('`')).unwrap_or(cell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::written;

    #[test]
    fn pages_become_documents() {
        let page = "# some-rule\n\nIn a line.\n\n## What it finds\nTwo\nlines.\n\n```cel\na > 1\n```\n\
                    \n## Thresholds\n\n| key | why |\n| --- | --- |\n| `a` | because |\n";
        let document = RulePage(page).document(&Style::default());
        assert_eq!((document.title.as_str(), document.blocks.len()), ("some-rule", 3));
        let csv = written(&RulePage(page), "csv", &Style::default()).unwrap();
        assert_eq!(csv, "key,why\na,because\n");
        assert_eq!(written(&RulePage(page), "markdown", &Style::default()).unwrap(), page);
        let narrow = Style { width: Some(12), ..Style::default() };
        let text = written(&RulePage(page), "text", &narrow).unwrap();
        assert!(text.starts_with("some-rule\n") && text.contains("\n  Two lines.\n"), "{text}");
        let html = written(&RulePage(page), "html", &Style::default()).unwrap();
        assert!(
            html.contains("<p>Two lines.</p>\n<pre tabindex=\"0\"><code>a &gt; 1</code></pre>"),
            "{html}"
        );
    }
}
