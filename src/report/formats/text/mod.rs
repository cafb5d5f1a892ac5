//! A document for a person at a terminal: wrapped to its width, in color where there is any.

mod layout;
mod wrap;

use unicode_width::UnicodeWidthStr;

use layout::{Layout, REMARK};
use wrap::{wrap, wrap_from};

use super::{Format, bar};
use crate::model::elide_apart;
use crate::report::document::{Block, Brief, Document, Fact, Figure, Item, Section, Table, Tone};
use crate::report::view::Style;

pub(super) const FORMAT: Format =
    Format { name: "text", endings: &["txt"], summary: "for a person at a terminal", render };

/// Columns before the notes of a row.
const NOTE: usize = 7;

/// Columns for the labels of facts.
const LABEL: usize = 13;

fn render(document: &Document, style: &Style) -> String {
    let mut text = String::new();
    if document.is_titled {
        title(&mut text, 0, &document.title, "1", style);
    }
    blocks(&mut text, &document.blocks, 0, Brief::default(), style);
    if let Some(width) = whole_width(document, style) {
        text.push_str(&style.paint("2", &format!("more columns: --width {width}")));
        text.push('\n');
    }
    unheard(style.adapted(text))
}

/// The width at which no table leaves out a column; none where none does now.
fn whole_width(document: &Document, style: &Style) -> Option<usize> {
    let tables = document.tables();
    let needed = |width: usize| {
        let style = Style { width: Some(width), ..*style };
        let layouts = tables.iter().map(|(_, table)| Layout::of(table, &style));
        let hidden = layouts.filter(|layout| !layout.columns.hidden.is_empty());
        hidden.map(|layout| layout.columns.needed).max()
    };
    let mut width = needed(style.width?)?.next_multiple_of(10);
    // A table that fits may show more in its cells, and need more again.
    while let Some(more) = needed(width) {
        width = more.max(width + 1).next_multiple_of(10);
    }
    Some(width)
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
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    title(text, 0, &section.title, "1;36", style);
                    self::blocks(text, &section.blocks, 2, brief_of(section, style), style);
                } else {
                    title(text, indent, &section.title, "1", style);
                    self::blocks(
                        text,
                        &section.blocks,
                        indent + 2,
                        brief_of(section, style),
                        style,
                    );
                }
            }
        }
    }
}

/// How many of `all` are left out; nothing where all are shown.
fn more(text: &mut String, all: usize, shown: usize, indent: usize, style: &Style) {
    if all > shown {
        let lead = " ".repeat(indent);
        wrap(text, &lead, indent, &format!("{} more: --verbose", all - shown), style);
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

/// How much of a section is shown.
fn brief_of(section: &Section, style: &Style) -> Brief {
    if style.verbose { Brief::default() } else { section.brief }
}

/// A title in a color, broken into lines like any sentence.
fn title(text: &mut String, indent: usize, title: &str, color: &str, style: &Style) {
    let mut plain = String::new();
    wrap(&mut plain, "", 2, title, &Style { width: room(style, indent), ..*style });
    for line in plain.lines() {
        text.push_str(&format!("{}{}\n", " ".repeat(indent), style.paint(color, line)));
    }
}

/// The columns that are left beside an indent.
fn room(style: &Style, indent: usize) -> Option<usize> {
    style.width.map(|width| width.saturating_sub(indent))
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
    let most = if style.verbose { usize::MAX } else { fact.most };
    for (at, line) in fact.lines.iter().take(most).enumerate() {
        let lead = if at == 0 { format!("{painted} ") } else { blank.clone() };
        let whole = Style { width: None, ..*style };
        wrap(text, &lead, LABEL, line, if fact.is_to_copy { &whole } else { style });
    }
    more(text, fact.lines.len(), most, LABEL, style);
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
        let shown = style.link(&style.bold(&label), item.link.as_deref());
        let painted = format!("{lead}{shown}{colon}");
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
    let Layout { mut drawn, columns } = Layout::of(table, style);
    for at in columns.elided() {
        let names: Vec<&str> = drawn.rows.iter().map(|row| row[at].as_str()).collect();
        let names = elided(&names, columns.widths[at], style);
        drawn.rows.iter_mut().zip(names).for_each(|(row, name)| row[at] = name);
    }
    for titles in columns.titles(&drawn.titles) {
        text.push_str(&style.paint("2", &columns.draw(table, &titles)));
        text.push('\n');
    }
    for (row, cells) in table.rows.iter().zip(&drawn.rows).take(most) {
        if let Some((at, words)) = columns.wrapped.and_then(|at| Some((at, cells.get(at)?))) {
            let start = columns.used() - columns.widths[at];
            let before = columns.draw(table, &cells[..at]);
            let pad = " ".repeat(start.saturating_sub(before.width()));
            wrap(text, &format!("{before}{pad}"), start, words, style);
        } else {
            let line = columns.draw(table, cells);
            // Where there are no notes, the first cell is what the page is about.
            let first = cells.first().filter(|_| row.notes.is_empty());
            let at = first.and_then(|cell| Some((line.find(cell.as_str())?, cell.len())));
            match at.filter(|_| row.link.is_some()) {
                Some((at, length)) => {
                    let (before, rest) = line.split_at(at);
                    let (cell, after) = rest.split_at(length);
                    let cell = style.link(cell, row.link.as_deref());
                    text.push_str(&format!("{before}{cell}{after}"));
                }
                None => text.push_str(&line),
            }
            text.push('\n');
        }
        for note in &row.notes {
            let mut lines = String::new();
            wrap(&mut lines, "", 0, note, &Style { width: room(style, NOTE), ..*style });
            for line in lines.lines() {
                let line = style.link(line, row.link.as_deref());
                text.push_str(&format!("{:NOTE$}{line}\n", ""));
            }
        }
    }
}

/// Names elided to so many columns, as they are shown. Names are elided by letters: of wide ones half as many fit, and
/// in ASCII the dots in place of letters take two columns more.
fn elided(names: &[&str], columns: usize, style: &Style) -> Vec<String> {
    let shown = |names: &[&str], columns: usize| -> Vec<String> {
        elide_apart(names, columns).into_iter().map(|name| style.adapted(name)).collect()
    };
    let mut all = shown(names, columns);
    for fewer in [columns.saturating_sub(2), columns / 2] {
        let is_wide = |at: &usize| all[*at].width() > columns;
        let wide: Vec<usize> = (0..all.len()).filter(is_wide).collect();
        let texts: Vec<&str> = wide.iter().map(|at| names[*at]).collect();
        for (at, name) in wide.iter().zip(shown(&texts, fewer)) {
            all[*at] = name;
        }
    }
    all
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
                wrap(text, &lead, at, value, style);
                text.truncate(text.trim_end().len());
                text.push('\n');
                let below = indent + 2;
                wrap(text, &" ".repeat(below), below, remark, style);
            }
            _ => wrap(text, &line, beside, remark, style),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::{Cell, Column, Form};

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

    /// Two cells a letter: rows end at the width, and numbers stand below each other.
    #[test]
    fn wide_letters_take_two_columns() {
        let mut table = sample();
        for name in [
            "漢字カーネル融合超長い名前のカーネル関数一",
            "漢字カーネル融合超長い名前のカーネル関数二",
        ] {
            table.push([Cell::text(name), Cell::Number(0.25), Cell::Number(2e-3)]);
        }
        for width in [34, 40, 60, 100] {
            let mut text = String::new();
            super::table(&mut text, &table, 9, &style(width));
            let rows: Vec<&str> = text.lines().filter(|line| line.ends_with(".00")).collect();
            assert_eq!(rows.len(), 3, "{text}");
            assert!(rows.iter().all(|row| row.width() == rows[0].width()), "{text}");
            assert!(text.lines().all(|line| line.width() <= width), "{width}: {text}");
            assert_ne!(rows[1], rows[2], "{text}");
        }
        let mut text = String::new();
        wrap(&mut text, "", 0, &"漢".repeat(30), &style(25));
        assert!(text.lines().all(|line| line.width() <= 25), "{text}");
    }

    /// Columns of which none may be left out: titles are broken, names get shorter, and where that is not enough a
    /// column is left out after all.
    #[test]
    fn the_narrowest_terminal_is_wide_enough_for_any_table() {
        let titles = ["measured", "vs. roofline", "savings", "efficiency of all"];
        for many in 1..=titles.len() {
            let mut columns = vec![Column::name("kernel", "kernel")];
            columns.extend(
                titles[..many].iter().map(|title| Column::number(title, title, Form::Time)),
            );
            let mut table = Table::new("kernels", columns);
            let cells = std::iter::repeat_n(Cell::Number(123.4e-3), many);
            let name = Cell::text("a_kernel_with_a_rather_long_name");
            table.push(std::iter::once(name).chain(cells));
            for width in 40..90 {
                let mut text = String::new();
                super::table(&mut text, &table, 9, &style(width));
                assert!(text.lines().all(|line| line.width() <= width), "{width}: {text}");
                assert!(text.contains("a_"), "{text}");
            }
        }
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
        assert!(text.ends_with("3 more: --verbose\n"), "{text}");
        assert_eq!(text.lines().count(), 3);
    }

    #[test]
    fn columns_follow_from_the_width_and_what_is_left_out_is_said_once() {
        let shown = |name: &str, width: usize| {
            let mut document = Document::new("two tables");
            for _ in 0..2 {
                let mut one = sample();
                one.rows[0].cells[0] = Cell::text(name);
                document.push(Block::Table(one));
            }
            render(&document, &style(width))
        };
        // Short names or long ones: the same columns.
        for width in 34..70 {
            let (short, long) = (shown("a", width), shown(&"a".repeat(90), width));
            assert_eq!(short.contains("share"), long.contains("share"), "{width}: {short}{long}");
            assert!(long.lines().all(|line| line.width() <= width), "{width}: {long}");
            let is_hidden = !short.contains("share");
            assert_eq!(short.matches("more columns: --width ").count(), usize::from(is_hidden));
        }
        let narrow = shown("a", 34);
        let named = narrow.rsplit("--width ").next().and_then(|width| width.trim().parse().ok());
        assert!(!shown("a", named.unwrap()).contains("more columns"), "{narrow}");
    }
}
