//! A document for a pull request or a job summary: Markdown that survives any name, and that fits what
//! the platform takes.

use super::sheet::Sheet;
use super::{Format, bar};
use crate::report::document::{Block, Document, Fact, Figure, Form, Item, Section, Table};
use crate::report::view::Style;

pub(super) const FORMAT: Format = Format {
    name: "markdown",
    endings: &["md"],
    summary: "for a pull request or a job summary",
    render,
};

fn render(document: &Document, style: &Style) -> String {
    let mut sheet = Sheet::new(style.limit.unwrap_or(usize::MAX));
    sheet.block(&format!("## {}\n", escape(&document.title)));
    blocks(&mut sheet, &document.blocks, 0);
    style.adapted(sheet.finish())
}

/// Draws blocks at a depth of sections.
fn blocks(sheet: &mut Sheet, blocks: &[Block], depth: usize) {
    for block in blocks {
        match block {
            Block::Facts(all) => facts(sheet, all),
            Block::Paragraph(text) => {
                sheet.block(&format!("\n{}\n", escape(text)));
            }
            Block::List(items) => list(sheet, items, |_| "- ".to_owned()),
            Block::Steps(items) => list(sheet, items, |at| format!("{}. ", at + 1)),
            Block::Bar(segments) => {
                let lines = bar::lines(segments, None, &Style::default());
                sheet.block(&fenced(&lines.join("\n")));
            }
            Block::Table(one) => table(sheet, one),
            Block::Figures(all) => figures(sheet, all),
            Block::Code(code) => {
                sheet.block(&fenced(code));
            }
            Block::Section(one) => section(sheet, one, depth),
        }
    }
}

fn section(sheet: &mut Sheet, section: &Section, depth: usize) {
    sheet.up_to(usize::from(section.room));
    let (before, after) = if section.is_folded {
        (format!("\n<details><summary>{}</summary>\n", html(&section.title)), "\n</details>\n")
    } else {
        (format!("\n{} {}\n", "#".repeat((3 + depth).min(6)), escape(&section.title)), "")
    };
    sheet.part(&before, after, |sheet| blocks(sheet, &section.blocks, depth + 1));
}

/// Labels with a sentence each as a list; those with several fold, so that each can be cut by itself.
fn facts(sheet: &mut Sheet, facts: &[Fact]) {
    let (short, long): (Vec<&Fact>, Vec<&Fact>) =
        facts.iter().filter(|fact| !fact.lines.is_empty()).partition(|fact| fact.lines.len() == 1);
    let lines =
        short.iter().map(|fact| format!("- **{}**: {}\n", fact.label, escape(&fact.lines[0])));
    sheet.lines("\n", &lines.collect::<Vec<_>>(), "", left("lines"));
    for fact in long {
        sheet.up_to(usize::from(fact.room));
        let label = fact.label;
        let before = format!("\n<details><summary>{label} ({})</summary>\n\n", fact.lines.len());
        let lines: Vec<String> =
            fact.lines.iter().map(|line| format!("- {}\n", escape(line))).collect();
        sheet.lines(&before, &lines, "\n</details>\n", left(&label.to_lowercase()));
    }
}

fn list(sheet: &mut Sheet, items: &[Item], lead: impl Fn(usize) -> String) {
    let lines = items.iter().enumerate().map(|(at, item)| {
        let lead = lead(at);
        let below = " ".repeat(lead.len());
        let label = if item.label.is_empty() {
            String::new()
        } else {
            let colon = if item.text.is_empty() { "" } else { ": " };
            format!("**{}**{colon}", escape(&item.label))
        };
        let mut text = format!("{lead}{label}{}\n", escape(item.text.trim_start()));
        for line in &item.details {
            text.push_str(&format!("{below}- {}\n", escape(line)));
        }
        text
    });
    sheet.lines("\n", &lines.collect::<Vec<_>>(), "", left("lines"));
}

/// Draws a table and, below it, what is to say of its rows.
fn table(sheet: &mut Sheet, table: &Table) {
    let drawn = table.drawn(true);
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let ends = table
        .columns
        .iter()
        .map(|column| if column.form.is_number() { "---:" } else { ":---" }.to_owned());
    let titles = drawn.titles.iter().map(|title| escape(title));
    let head = format!("\n{}{}", line(titles.collect()), line(ends.collect()));
    let rows: Vec<String> = drawn
        .rows
        .iter()
        .map(|row| {
            let cells = row.iter().zip(&table.columns).map(|(cell, column)| match column.form {
                Form::Name => literal(cell),
                _ => escape(cell),
            });
            line(cells.collect())
        })
        .collect();
    sheet.lines(&head, &rows, "", left("rows"));
    let named = table.columns.iter().position(|column| column.form == Form::Name);
    let notes = table.rows.iter().zip(&drawn.rows).enumerate();
    let notes = notes.filter(|(_, (row, _))| !row.notes.is_empty()).map(|(at, (row, cells))| {
        // Rows that are numbered are meant by their number, others by their name. A numbered list would count by itself.
        let lead = match (table.columns.first().map(|column| column.title.as_str()), named) {
            (Some("#"), _) => format!("- **#{}**: ", cells[0]),
            (_, Some(named)) => format!("- {}: ", literal(&cells[named])),
            _ => format!("- row {}: ", at + 1),
        };
        let notes: Vec<String> = row.notes.iter().map(|note| escape(note)).collect();
        format!("{lead}{}\n", notes.join("; "))
    });
    sheet.lines("\n", &notes.collect::<Vec<_>>(), "", left("notes"));
}

fn figures(sheet: &mut Sheet, all: &[Figure]) {
    let row = |Figure { label, value, remark }: &Figure| {
        format!("| {} | {} | {} |\n", escape(label), escape(value), escape(remark))
    };
    let rows: Vec<String> = all.iter().map(row).collect();
    sheet.lines("\n| | | |\n| :--- | :--- | :--- |\n", &rows, "", left("rows"));
}

/// How many are left out for want of room.
fn left(what: &str) -> impl Fn(usize) -> String {
    let what = what.to_owned();
    move |left| format!("\n{left} more ({what}) in the JSON.\n")
}

/// Text as a block of code, in a fence that it does not hold itself.
fn fenced(code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("\n{fence}\n{}\n{fence}\n", code.trim_end())
}

/// Text that Markdown and HTML leave as it is, and that calls nobody and links nowhere.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            c if is_live(text, at, c) => escaped.push_str(&apart(c)),
            '&' => escaped.push_str("&amp;"),
            c if is_markup(text, at, c) => {
                escaped.push('\\');
                escaped.push(c);
            }
            '\n' => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Units of times in titles of columns.
const UNITS: [&str; 5] = ["s", "ms", "µs", "ns", "ps"];

/// Whether Markdown would make something of this character: platforms show each backslash in the source of a table, so
/// that there are as few as can be.
fn is_markup(text: &str, at: usize, c: char) -> bool {
    let (before, after) = (&text[..at], &text[at + c.len_utf8()..]);
    match c {
        '\\' | '`' | '*' | '|' | '~' => true,
        // Within a word it is a letter.
        '_' => {
            let (before, after) = (before.trim_end_matches('_'), after.trim_start_matches('_'));
            !(before.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric))
        }
        // Around the unit of a column they are text.
        '[' | ']' => {
            let inside = text.split_once(" [").and_then(|(_, end)| end.strip_suffix(']'));
            !inside.is_some_and(|unit| UNITS.contains(&unit))
        }
        '#' => before.is_empty() && (after.starts_with(' ') || after.starts_with('#')),
        '!' => after.starts_with('['),
        _ => false,
    }
}

/// Text inside of an element of HTML, where Markdown is not read.
fn html(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '\n' => html.push(' '),
            c if is_live(text, at, c) => html.push_str(&apart(c)),
            '&' => html.push_str("&amp;"),
            c => html.push(c),
        }
    }
    html
}

/// A name as HTML code, which unlike a Markdown code span can hold backticks and pipes in a table.
fn literal(text: &str) -> String {
    let mut html = String::from("<code>");
    for (at, c) in text.char_indices() {
        match c {
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            // Of names in code the platforms leave alone what they would otherwise replace, but not addresses.
            '@' | '$' | '.' if is_live(text, at, c) => html.push_str(&apart(c)),
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

/// Whether platforms would make something of this character: a mention, a reference, a formula, an emoji, a link,
/// a command.
///
/// They look for these in the text that Markdown leaves, so that neither a backslash nor an entity hides them. GitHub:
/// `@name`, `#1`, `GH-1`, `$x$`, `:smile:`, addresses; GitLab also `!1`, `&1`, `%name`, `~label`, `/command`.
fn is_live(text: &str, at: usize, c: char) -> bool {
    let (before, after) = (&text[..at], &text[at + c.len_utf8()..]);
    let number = after.starts_with(|c: char| c.is_ascii_digit());
    let name = after.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"'));
    let ends_with = |word: &str| {
        let end = before.len().checked_sub(word.len()).and_then(|from| before.get(from..));
        end.is_some_and(|end| end.eq_ignore_ascii_case(word))
    };
    match c {
        '@' | '~' | '%' => name,
        '#' | '!' | '&' => number,
        '$' => true,
        '/' => before.is_empty(),
        '-' => number && ends_with("GH"),
        '.' => ends_with("www"),
        ':' => {
            let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '+' | '-');
            let rest = after.trim_start_matches(is_part);
            after.starts_with("//") || (rest.len() < after.len() && rest.starts_with(':'))
        }
        _ => false,
    }
}

/// A character in an element of its own: no pattern reaches across, and what is copied is the text as it was.
fn apart(c: char) -> String {
    let c = if c == '&' { "&amp;".to_owned() } else { c.to_string() };
    format!("<span>{c}</span>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::{Cell, Column};

    #[test]
    fn no_name_breaks_out_of_its_cell() {
        let name = "a|b`c<img src=x onerror=alert(1)>*_d_* @someone";
        for text in [escape(name), literal(name)] {
            assert!(!text.contains("<img") && !text.contains("@someone"), "{text}");
            assert!(!text.replace("\\|", "").contains('|'), "{text}");
        }
    }

    #[test]
    fn nothing_in_a_text_is_live() {
        for (text, expected) in [
            ("by @team/gpu", "by <span>@</span>team/gpu"),
            ("a@b.example", "a<span>@</span>b.example"),
            ("see #12 and GH-7", "see <span>#</span>12 and GH<span>-</span>7"),
            ("https://a.example", "https<span>:</span>//a.example"),
            ("www.a.example", "www<span>.</span>a.example"),
            ("$x$", "<span>$</span>x<span>$</span>"),
            (":smile: at::b::c", "<span>:</span>smile: at:<span>:</span>b::c"),
            (
                "!3 &4 %v1 ~bug",
                "<span>!</span>3 <span>&amp;</span>4 <span>%</span>v1 <span>~</span>bug",
            ),
            ("/close", "<span>/</span>close"),
            // What is only text stays as it is.
            ("98.3%, 1.32×, 5:30, a::b, a @ b", "98.3%, 1.32×, 5:30, a::b, a @ b"),
        ] {
            assert_eq!(escape(text), expected);
        }
        assert_eq!(
            literal("www.a.example $x$ a@b.example"),
            "<code>www<span>.</span>a.example <span>$</span>x<span>$</span> a<span>@</span>b.example</code>"
        );
    }

    #[test]
    fn only_what_is_markup_has_a_backslash() {
        for text in ["#", "time [µs]", "pmc_perf.csv", "wait!", "a # b", "98.3%"] {
            assert_eq!(escape(text), text);
        }
        for (text, expected) in [
            ("# a", "\\# a"),
            ("__a__b__", "\\_\\_a__b\\_\\_"),
            ("[a](b)", "\\[a\\](b)"),
            ("![a]", "\\!\\[a\\]"),
            ("x [t]", "x \\[t\\]"),
            ("x [a][b]", "x \\[a\\]\\[b\\]"),
            ("[ ] done", "\\[ \\] done"),
            ("a|b *c* `d` \\", "a\\|b \\*c\\* \\`d\\` \\\\"),
        ] {
            assert_eq!(escape(text), expected);
        }
        assert_eq!(html("a_b [c] <d> @e"), "a_b [c] &lt;d&gt; <span>@</span>e");
    }

    #[test]
    fn code_cannot_close_its_fence() {
        let text = fenced("one ``` two ```` three");
        assert!(text.starts_with("\n`````\n") && text.ends_with("\n`````\n"), "{text}");
    }

    fn document() -> Document {
        let mut document = Document::new("Run");
        document.push(Block::Facts(vec![Fact::new("GPU time", "2 ms")]));
        let columns =
            vec![Column::name("kernel", "kernel"), Column::number("share", "share", Form::Share)];
        let mut table = Table::new("kernels", columns);
        for at in 0..20 {
            let cells = [Cell::text(format!("kernel_{at}")), Cell::Number(0.05)];
            table.push_with(cells, vec![format!("note {at}")]);
        }
        document.section("Kernels", vec![Block::Table(table)]);
        document.folded("Read", vec![Block::lines(vec!["a.csv".to_owned()])]);
        document
    }

    #[test]
    fn a_document_fits_its_limit_and_counts_what_it_leaves_out() {
        let whole = render(&document(), &Style::default());
        assert!(whole.contains("| <code>kernel&#95;19</code> | 5.0% |"), "{whole}");
        assert!(whole.contains("<details><summary>Read</summary>"), "{whole}");
        for limit in (0..whole.len()).step_by(7) {
            let style = Style { limit: Some(limit), ..Style::default() };
            let text = render(&document(), &style);
            assert!(text.len() <= limit, "{limit}: {text}");
            assert_eq!(text.contains("<details>"), text.contains("</details>"), "{limit}: {text}");
            let rows = text.matches("| <code>").count();
            let is_told = text.contains(&format!("{} more (rows)", 20 - rows));
            assert!(rows == 20 || rows == 0 || is_told, "{limit}: {text}");
        }
    }
}
