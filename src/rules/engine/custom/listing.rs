//! Custom rules and their columns as pages.

use super::{Custom, Expression, Over};
use crate::analysis::Column;

/// What can be asked, as a table in Markdown.
#[must_use]
pub fn columns_page(over: Over) -> String {
    let word = over.key();
    let columns = over.columns().all().iter();
    format!("# Columns of {word}\n\n{}", table(columns))
}

fn table<'c>(columns: impl Iterator<Item = &'c Column>) -> String {
    let mut table = String::from("| column | holds | is |\n| --- | --- | --- |\n");
    for column in columns {
        let words: Vec<String> = column.words.iter().map(|word| format!("`{word}`")).collect();
        let words =
            if words.is_empty() { String::new() } else { format!(": {}", words.join(", ")) };
        let (name, holds, about) = (&column.name, column.form.label(), &column.about);
        table.push_str(&format!("| `{name}` | {holds} | {about}{words} |\n"));
    }
    table
}

fn in_a_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Custom {
    /// What it says, in a line.
    #[must_use]
    pub fn summary(&self) -> String {
        in_a_line(self.message.text())
    }

    /// Everything about it as a page, like that of a built-in rule.
    #[must_use]
    pub fn page(&self) -> String {
        let fenced = |text: &str| format!("```cel\n{}\n```\n", text.trim());
        let mut page = format!(
            "# {}\n\nCustom rule over {}.\n\n## Detection\n{}",
            self.id,
            self.over.key(),
            fenced(self.when.text())
        );
        page.push_str(&format!("\n## Message\n{}\n", self.summary()));
        let severity = match (self.severity, &self.at_stake) {
            (Some(severity), _) => severity.label(),
            (None, Some(_)) => "from the savings",
            (None, None) => "info",
        };
        page.push_str(&format!("\n## Severity\n{severity}\n"));
        if let Some(next) = &self.next {
            page.push_str(&format!("\n## Remedy\n{}\n", in_a_line(next.text())));
        }
        if let Some(stake) = &self.at_stake {
            page.push_str(&format!("\n## Savings in seconds\n{}", fenced(stake.text())));
        }
        let mut used: Vec<&Column> = self.when.columns().to_vec();
        for column in self.at_stake.iter().flat_map(Expression::columns) {
            if !used.contains(column) {
                used.push(column);
            }
        }
        if !used.is_empty() {
            page.push_str(&format!("\n## Required columns\n\n{}", table(used.into_iter())));
        }
        page
    }
}
