//! A document for a person at a terminal: wrapped to its width, in color where there is any.

use unicode_width::UnicodeWidthStr;

use super::{Format, bar};
use crate::model::elide_apart;
use crate::report::document::{
    Block, Brief, Document, Drawn, Fact, Figure, Form, Item, Table, Tone,
};
use crate::report::view::Style;

pub(super) const FORMAT: Format =
    Format { name: "text", endings: &["txt"], summary: "for a person at a terminal", render };

/// A name is never elided below this many columns.
const NARROWEST_NAME: usize = 14;

/// Names are elided to this before a column is left out.
const SHORT_NAME: usize = 28;

/// Columns of the terminal from which on ranges stand beside numbers: on narrower ones they would push
/// out columns that say more.
const ROOM_FOR_RANGE: usize = 132;

/// Columns for the labels of facts.
const LABEL: usize = 13;

/// Fewest columns for which a remark is broken into lines.
const REMARK: usize = 30;

fn render(document: &Document, style: &Style) -> String {
    let mut text = String::new();
    if document.is_titled {
        wrap(&mut text, "", 2, &style.bold(&document.title), style);
    }
    blocks(&mut text, &document.blocks, 0, Brief::default(), style);
    unheard(style.adapted(text))
}

/// Draws blocks; `indent` is where their lines begin.
fn blocks(text: &mut String, blocks: &[Block], indent: usize, brief: Brief, style: &Style) {
    let lead = " ".repeat(indent);
    for (position, block) in blocks.iter().enumerate() {
        match block {
            Block::Facts(facts) => {
                if indent == 0 && position > 0 && !facts.is_empty() {
                    text.push('\n');
                }
                for one in facts {
                    fact(text, one, style);
                }
            }
            Block::Paragraph(sentence) => {
                // A paragraph after a table or a list of the whole document stands by itself.
                if indent == 0 && position > 0 {
                    text.push('\n');
                }
                wrap(text, &lead, indent, sentence, style);
            }
            Block::List(items) => {
                for one in items.iter().take(brief.items) {
                    item(text, one, (&lead, indent + 2), brief, style);
                }
                more(text, items.len(), brief.items, indent, style);
            }
            Block::Steps(items) => {
                for (number, one) in items.iter().take(brief.items).enumerate() {
                    let lead = format!("{lead}{}. ", number + 1);
                    item(text, one, (&lead, lead.len()), brief, style);
                }
                more(text, items.len(), brief.items, indent, style);
            }
            Block::Bar(segments) => {
                if indent == 0 && position > 0 && !segments.is_empty() {
                    text.push('\n');
                }
                let room = style.width.map(|width| width.saturating_sub(indent));
                for line in bar::lines(segments, room, style) {
                    text.push_str(&format!("{lead}{line}\n"));
                }
            }
            Block::Table(one) => {
                table(text, one, brief.items, style);
                more(text, one.rows.len(), brief.items, 2, style);
            }
            Block::Figures(all) => figures(text, all, indent.max(2), style),
            Block::Code(code) => {
                for line in code.lines() {
                    text.push_str(&" ".repeat(if line.is_empty() { 0 } else { indent }));
                    text.push_str(line);
                    text.push('\n');
                }
            }
            Block::Section(section) => {
                if indent == 0 {
                    heading(text, style, &section.title);
                    self::blocks(text, &section.blocks, 2, section.brief, style);
                } else {
                    text.push_str(&format!("{lead}{}\n", style.bold(&section.title)));
                    self::blocks(text, &section.blocks, indent + 2, section.brief, style);
                }
            }
        }
    }
}

/// How many of `all` are left out; nothing where all are shown.
fn more(text: &mut String, all: usize, shown: usize, indent: usize, style: &Style) {
    if all > shown {
        let lead = " ".repeat(indent);
        wrap(text, &lead, indent, &format!("and {} more in the JSON", all - shown), style);
    }
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

fn heading(text: &mut String, style: &Style, title: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&style.paint("1;36", title));
    text.push('\n');
}

/// The color of a tone.
const fn color(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Good => Some("1;32"),
        Tone::Doubtful => Some("1;33"),
        Tone::Bad => Some("1;31"),
    }
}

/// A label with its lines, the later ones below the first.
fn fact(text: &mut String, fact: &Fact, style: &Style) {
    let label = format!("{:<width$}", fact.label, width = LABEL - 1);
    let painted =
        color(fact.tone).map_or_else(|| style.bold(&label), |code| style.paint(code, &label));
    let blank = " ".repeat(LABEL);
    for (at, line) in fact.lines.iter().take(fact.most).enumerate() {
        let lead = if at == 0 { format!("{painted} ") } else { blank.clone() };
        wrap(text, &lead, LABEL, line, style);
    }
    more(text, fact.lines.len(), fact.most, LABEL, style);
}

fn item(
    text: &mut String,
    item: &Item,
    (lead, indent): (&str, usize),
    brief: Brief,
    style: &Style,
) {
    if item.label.is_empty() {
        wrap(text, lead, indent, &item.text, style);
    } else {
        // The label is part of the line: the width of the rest is reckoned from its end.
        let colon = if item.text.is_empty() { "" } else { ": " };
        let label = style.adapted(item.label.clone());
        let painted = format!("{lead}{}{colon}", style.bold(&label));
        let used = lead.width() + label.width() + colon.len();
        wrap_from(text, &painted, used, indent, &item.text, style);
    }
    let below = " ".repeat(indent);
    for line in item.details.iter().take(brief.details) {
        wrap(text, &below, indent, line, style);
    }
    more(text, item.details.len(), brief.details, indent, style);
}

/// Draws a table with notes under its rows. Names are elided in their middle to fit the terminal; where
/// that is not enough, columns that can be spared are left out.
fn table(text: &mut String, table: &Table, most: usize, style: &Style) {
    let wide = style.width.is_none_or(|width| width >= ROOM_FOR_RANGE);
    let mut drawn = table.drawn(wide);
    // Symbols that are spelled out are wider.
    for cell in drawn.titles.iter_mut().chain(drawn.rows.iter_mut().flatten()) {
        *cell = style.adapted(std::mem::take(cell));
    }
    let columns = Columns::fit(table, &drawn, style);
    if let Some(at) = columns.elastic {
        let names: Vec<&str> = drawn.rows.iter().map(|row| row[at].as_str()).collect();
        let names = elide_apart(&names, columns.widths[at]);
        drawn.rows.iter_mut().zip(names).for_each(|(row, name)| row[at] = name);
    }
    text.push_str(&style.paint("2", &columns.draw(table, &drawn.titles)));
    text.push('\n');
    for (row, cells) in table.rows.iter().zip(&drawn.rows).take(most) {
        if let Some((at, words)) = columns.wrapped.and_then(|at| Some((at, cells.get(at)?))) {
            let start = columns.used() - columns.widths[at];
            let before = columns.draw(table, &cells[..at]);
            let pad = " ".repeat(start.saturating_sub(before.width()));
            wrap(text, &format!("{before}{pad}"), start, words, style);
        } else {
            text.push_str(&columns.draw(table, cells));
            text.push('\n');
        }
        for note in &row.notes {
            wrap(text, "       ", 7, note, style);
        }
    }
}

/// Widths of the columns that are drawn.
struct Columns {
    widths: Vec<usize>,
    hidden: Vec<usize>,
    /// The column that is elided.
    elastic: Option<usize>,
    /// The last column, where its words are broken into lines.
    wrapped: Option<usize>,
}

impl Columns {
    fn fit(table: &Table, drawn: &Drawn, style: &Style) -> Self {
        let mut widths: Vec<usize> = drawn.titles.iter().map(|title| title.width()).collect();
        for row in &drawn.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let elastic = table.columns.iter().position(|column| column.form == Form::Name);
        let mut columns = Self { widths, hidden: Vec::new(), elastic, wrapped: None };
        let Some(terminal) = style.width else { return columns };
        let natural = elastic.map_or(0, |at| columns.widths[at]);
        // Words at the end of a row can be broken into lines before anything is left out.
        let last = table.columns.len().saturating_sub(1);
        let is_words = table.columns.last().is_some_and(|column| column.form == Form::Text);
        let words = if is_words { columns.widths[last].saturating_sub(REMARK) } else { 0 };
        let mut spare: Vec<usize> = (0..table.columns.len()).collect();
        spare.retain(|at| table.columns[*at].spare > 0);
        spare.sort_by_key(|at| std::cmp::Reverse(table.columns[*at].spare));
        columns.stretch(natural.min(SHORT_NAME));
        for at in spare {
            if columns.used() - words <= terminal {
                break;
            }
            columns.hidden.push(at);
        }
        columns.stretch(natural);
        let over = (columns.used() - words).saturating_sub(terminal);
        columns.stretch(natural.saturating_sub(over).max(NARROWEST_NAME.min(natural)));
        let is_over = is_words && columns.used() > terminal && !columns.hidden.contains(&last);
        columns.wrapped = Some(last).filter(|_| is_over);
        columns
    }

    fn stretch(&mut self, width: usize) {
        if let Some(at) = self.elastic {
            self.widths[at] = width;
        }
    }

    fn used(&self) -> usize {
        let drawn = self.widths.iter().enumerate().filter(|(at, _)| !self.hidden.contains(at));
        drawn.map(|(_, width)| width + 2).sum()
    }

    fn draw(&self, table: &Table, cells: &[String]) -> String {
        let mut row = String::new();
        for (at, cell) in cells.iter().enumerate().filter(|(at, _)| !self.hidden.contains(at)) {
            let width = self.widths[at];
            let pad = " ".repeat(width.saturating_sub(cell.width()));
            row.push_str("  ");
            if table.columns[at].form.is_number() {
                row.push_str(&format!("{pad}{cell}"));
            } else {
                row.push_str(&format!("{cell}{pad}"));
            }
        }
        row.trim_end().to_owned()
    }
}

/// Draws labeled values in columns, each with its remark.
fn figures(text: &mut String, all: &[Figure], indent: usize, style: &Style) {
    let adapted = |text: &str| style.adapted(text.to_owned());
    let all: Vec<Figure> = all
        .iter()
        .map(|one| Figure::new(adapted(&one.label), adapted(&one.value), adapted(&one.remark)))
        .collect();
    let labels = all.iter().map(|one| one.label.width()).max().unwrap_or(0);
    // Kernel names are values too, and would push every remark off the screen.
    let remarked = all.iter().filter(|one| !one.remark.is_empty());
    let values = remarked.map(|one| one.value.width()).max().unwrap_or(0);
    let pad = |text: &str, width: usize| " ".repeat(width.saturating_sub(text.width()));
    for Figure { label, value, remark } in &all {
        let lead = format!("{}{}{}  ", " ".repeat(indent), style.bold(label), pad(label, labels));
        let (at, beside) = (indent + labels + 2, indent + labels + 2 + values + 2);
        let line = format!("{lead}{value}{}  ", pad(value, values));
        match style.width {
            _ if remark.is_empty() => wrap(text, &lead, at, value, style),
            // Remarks get a column of their own if the terminal leaves room for a few words.
            Some(width) if beside + REMARK > width => {
                text.push_str(format!("{lead}{value}").trim_end());
                text.push('\n');
                let below = indent + 2;
                wrap(text, &" ".repeat(below), below, remark, style);
            }
            _ => wrap(text, &line, beside, remark, style),
        }
    }
}

/// Writes a sentence after `lead`, broken at blanks to fit the terminal and indented below itself.
fn wrap(text: &mut String, lead: &str, indent: usize, sentence: &str, style: &Style) {
    wrap_from(text, lead, indent, indent, sentence, style);
}

/// The same where the first line begins in another column than the others.
fn wrap_from(
    text: &mut String,
    lead: &str,
    first_column: usize,
    indent: usize,
    sentence: &str,
    style: &Style,
) {
    text.push_str(lead);
    let Some(terminal) = style.width else {
        text.push_str(sentence);
        text.push('\n');
        return;
    };
    let sentence = &style.adapted(sentence.to_owned());
    // Leading blanks of a sub-entry are kept.
    let kept = sentence.len() - sentence.trim_start().len();
    text.push_str(&sentence[..kept]);
    let mut column = first_column + kept;
    let mut first = true;
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
            let room = terminal.saturating_sub(column);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::{Cell, Column};

    fn style(width: usize) -> Style {
        Style { width: Some(width), ..Style::default() }
    }

    fn sample() -> Table {
        let mut table = Table::new(
            "kernels",
            vec![
                Column::name("kernel", "kernel"),
                Column::number("share", "share", Form::Share).spare(1),
                Column::number("measured_s", "measured", Form::Time),
            ],
        );
        let name = Cell::text("a_kernel_with_a_rather_long_name");
        table.push_with([name, Cell::Number(0.5), Cell::Number(1e-3)], vec!["a note".to_owned()]);
        table
    }

    #[test]
    fn a_narrow_terminal_spares_columns_and_elides_names() {
        let mut wide = String::new();
        table(&mut wide, &sample(), 9, &style(100));
        assert!(
            wide.contains("share") && wide.contains("a_kernel_with_a_rather_long_name"),
            "{wide}"
        );
        assert!(wide.ends_with("       a note\n"), "{wide}");
        let mut narrow = String::new();
        table(&mut narrow, &sample(), 9, &style(34));
        assert!(!narrow.contains("share") && narrow.contains("measured [ms]"), "{narrow}");
        assert!(narrow.lines().all(|line| line.width() <= 34), "{narrow}");
    }

    #[test]
    fn words_of_the_last_column_and_remarks_are_broken_into_lines() {
        let columns = vec![Column::text("rule", "rule"), Column::text("finds", "finds")];
        let mut rules = Table::new("rules", columns);
        rules.push([Cell::text("small-grid"), Cell::text("a ≥ b ".repeat(12))]);
        let style = Style { ascii: true, ..style(44) };
        let mut text = String::new();
        table(&mut text, &rules, usize::MAX, &style);
        figures(&mut text, &[Figure::new("t_mem", "1.00 µs", "a ÷ b ".repeat(12))], 2, &style);
        assert!(text.lines().all(|line| line.width() <= 44), "{text}");
        assert!(text.contains("\n              >= b") && text.contains("\n    a / b"), "{text}");
    }

    #[test]
    fn lines_end_at_the_width_whatever_stands_in_them() {
        for width in [24, 40, 80] {
            let mut document = Document::titled("A title that is longer than some terminals are");
            document.push(Block::Facts(vec![Fact::new("GPU time", "one two three four five six")]));
            let long = "x".repeat(90);
            document.section(
                "List",
                vec![
                    Block::List(vec![Item::labeled("label", "some words after a label")]),
                    Block::Steps(vec![Item::from(long.clone()).with(vec![long])]),
                ],
            );
            let text = render(&document, &style(width));
            assert!(text.lines().all(|line| line.width() <= width), "{width}: {text}");
        }
    }

    #[test]
    fn lines_beyond_the_most_are_counted() {
        let lines = (0..5).map(|line| format!("line {line}")).collect();
        let mut text = String::new();
        fact(&mut text, &Fact::list("Notes", lines, 2), &style(80));
        assert!(text.ends_with("and 3 more in the JSON\n"), "{text}");
        assert_eq!(text.lines().count(), 3);
    }
}
