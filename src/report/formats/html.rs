//! A document as one page for a browser: no script, nothing from the network, light or dark as the reader
//! has it. The report of a run has an interactive page of its own.

use super::{Format, bar};
use crate::report::document::{Block, Document, Fact, Figure, Form, Item, Table};
use crate::report::view::Style;

pub(super) const FORMAT: Format =
    Format { name: "html", endings: &["html"], summary: "a page for a browser", render };

/// What all pages share, then what documents alone need.
const STYLE: &str = concat!(include_str!("../html/tokens.css"), include_str!("page.css"));

fn render(document: &Document, style: &Style) -> String {
    style.adapted(page(&document.title, "", &panels(&document.blocks)))
}

/// A page around a body that is HTML; `by` stands beside the title.
pub(in crate::report) fn page(title: &str, by: &str, body: &str) -> String {
    let (title, by) = (escape(title), escape(by));
    let version = env!("CARGO_PKG_VERSION");
    let by = if by.is_empty() { String::new() } else { format!("<p class=\"by\">{by}</p>") };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"rooflint {version}\">\n\
         <title>{title} – rooflint</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>{title}</h1>{by}</header>\n<main>\n{body}</main>\n\
         <footer><p>Written by rooflint {version}.</p></footer>\n</body>\n</html>\n"
    )
}

/// A large number with its label, for a `dl` of such; `class` colors it.
#[cfg(feature = "gate")]
pub(in crate::report) fn figure(label: &str, value: &str, note: &str, class: &str) -> String {
    let (label, value, note) = (escape(label), escape(value), escape(note));
    format!(
        "<div class=\"figure\"><dt>{label}</dt><dd class=\"{class}\">{value}</dd><dd>{note}</dd></div>\n"
    )
}

/// Blocks as panels: a section each, and what stands between sections together.
pub(in crate::report) fn panels(all: &[Block]) -> String {
    let is_section = |one: &Block| matches!(one, Block::Section(section) if !section.is_folded);
    let panel = |content: String| match content.as_str() {
        "" => content,
        _ => format!("<div class=\"panel\">\n{content}</div>\n"),
    };
    let groups = all.chunk_by(|one, next| !is_section(one) && !is_section(next));
    groups.map(|group| panel(blocks(group, 2))).collect()
}

/// Blocks as HTML; `level` is that of the headings among them.
pub(in crate::report) fn blocks(blocks: &[Block], level: usize) -> String {
    blocks.iter().map(|one| block(one, level)).collect()
}

fn block(block: &Block, level: usize) -> String {
    match block {
        Block::Facts(facts) => {
            let facts: String = facts.iter().map(fact).collect();
            format!("<dl class=\"facts\">\n{facts}</dl>\n")
        }
        Block::Paragraph(text) => format!("<p>{}</p>\n", prose(text)),
        Block::List(items) => list("ul", items),
        Block::Steps(items) => list("ol", items),
        Block::Bar(segments) => {
            let lines = bar::lines(segments, None, &Style::default());
            format!("<pre class=\"bar\">{}</pre>\n", escape(&lines.join("\n")))
        }
        Block::Table(one) => table(one),
        Block::Figures(all) => figures(all),
        Block::Code(code) => {
            format!("<pre tabindex=\"0\"><code>{}</code></pre>\n", escape(code.trim_end()))
        }
        Block::Section(section) => {
            let (title, content) = (escape(&section.title), blocks(&section.blocks, level + 1));
            if section.is_folded {
                format!("<details><summary>{title}</summary>\n{content}</details>\n")
            } else {
                let level = level.min(6);
                format!("<section>\n<h{level}>{title}</h{level}>\n{content}</section>\n")
            }
        }
    }
}

fn fact(fact: &Fact) -> String {
    let lines = match fact.lines.as_slice() {
        [line] => prose(line),
        lines => items("ul", lines.iter().map(|line| prose(line))),
    };
    format!("<div><dt>{}</dt><dd>{lines}</dd></div>\n", escape(fact.label))
}

fn items(kind: &str, items: impl Iterator<Item = String>) -> String {
    let items = items.fold(String::new(), |text, item| text + "<li>" + &item + "</li>\n");
    format!("<{kind}>\n{items}</{kind}>\n")
}

fn list(kind: &str, all: &[Item]) -> String {
    items(
        kind,
        all.iter().map(|item| {
            let label = match (item.label.as_str(), item.text.as_str()) {
                ("", _) => String::new(),
                (label, "") => format!("<b>{}</b>", escape(label)),
                (label, _) => format!("<b>{}</b>: ", escape(label)),
            };
            let details = if item.details.is_empty() {
                String::new()
            } else {
                format!("\n{}", items("ul", item.details.iter().map(|line| prose(line))))
            };
            format!("{label}{}{details}", prose(item.text.trim_start()))
        }),
    )
}

/// A table that scrolls by itself where the window is narrow.
pub(in crate::report) fn table(table: &Table) -> String {
    let drawn = table.drawn(true);
    let titles = drawn.titles.iter().zip(&table.columns).map(|(title, column)| {
        let class = if column.form.is_number() { " class=\"number\"" } else { "" };
        format!("<th scope=\"col\"{class}>{}</th>", escape(title))
    });
    let titles: String = titles.collect();
    let rows = table.rows.iter().zip(&drawn.rows).map(|(row, cells)| {
        let cells = cells.iter().zip(&table.columns).map(|(cell, column)| {
            let class = match column.form {
                Form::Name => " class=name",
                form if form.is_number() => " class=n",
                _ => "",
            };
            format!("<td{class}>{}</td>", escape(cell))
        });
        let cells: String = cells.collect();
        let notes = row.notes.iter().map(|note| {
            let span = table.columns.len();
            format!("<tr class=note><td colspan={span}>{}</td></tr>\n", escape(note))
        });
        format!("<tr>{cells}</tr>\n{}", notes.collect::<String>())
    });
    let rows: String = rows.collect();
    let key = escape(table.key);
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{key}\"><table>\n<thead><tr>{titles}</tr></thead>\n\
         <tbody>\n{rows}</tbody></table></div>\n"
    )
}

fn figures(all: &[Figure]) -> String {
    let rows = all.iter().map(|Figure { label, value, remark }| {
        let (label, value, remark) = (escape(label), escape(value), escape(remark));
        format!(
            "<tr><th scope=\"row\">{label}</th><td class=value>{value}</td><td>{remark}</td></tr>\n"
        )
    });
    let rows: String = rows.collect();
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"group\"><table class=\"figures\">\n<tbody>\n{rows}</tbody></table></div>\n"
    )
}

/// A sentence; what it has between backticks is code, such as a command.
pub(in crate::report) fn prose(text: &str) -> String {
    let pieces: Vec<&str> = text.split('`').collect();
    // One without a partner marks nothing; names of Windows have such: `anonymous-namespace'.
    let is_code = |piece: &&str| !piece.is_empty() && piece.trim() == *piece;
    if pieces.len().is_multiple_of(2) || !pieces.iter().skip(1).step_by(2).all(is_code) {
        return escape(text);
    }
    let piece = |(at, piece): (usize, &&str)| match at % 2 {
        0 => escape(piece),
        _ => format!("<code>{}</code>", escape(piece)),
    };
    pieces.iter().enumerate().map(piece).collect()
}

/// Text that HTML leaves as it is, in elements and in quoted attributes.
pub(in crate::report) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::{Cell, Column};

    #[test]
    fn no_text_becomes_an_element() {
        let bad = "<script>alert('1')</script>\"&";
        let mut table = Table::new("kernels", vec![Column::name("kernel", bad)]);
        table.push_with([Cell::text(bad)], vec![bad.to_owned()]);
        let mut document = Document::new(bad);
        document.push(Block::Facts(vec![Fact::new("Fact", bad)]));
        document.folded(
            bad,
            vec![
                Block::Paragraph(bad.to_owned()),
                Block::List(vec![Item::labeled(bad, bad).with(vec![bad.to_owned()])]),
                Block::Figures(vec![Figure::new(bad, bad, bad)]),
                Block::Code(bad.to_owned()),
                Block::Table(table),
            ],
        );
        let page = render(&document, &Style::default());
        assert!(!page.contains("<script"), "{page}");
        assert_eq!(page.matches("&lt;script&gt;").count(), 15, "{page}");
    }

    #[test]
    fn what_is_between_backticks_is_code() {
        assert_eq!(
            prose("run `a > b`, then `c`."),
            "run <code>a &gt; b</code>, then <code>c</code>."
        );
        for name in
            ["`anonymous-namespace'::k", "`anonymous-namespace'::a, `anonymous-namespace'::b"]
        {
            assert_eq!(prose(name), escape(name));
        }
    }

    #[test]
    fn what_opens_is_closed() {
        let mut document = Document::new("run");
        document.section("one", vec![Block::lines(vec!["a".to_owned()])]);
        document.folded("two", vec![Block::Paragraph("b".to_owned())]);
        let page = render(&document, &Style::default());
        for element in ["section", "details", "ul", "li", "p", "main", "body", "html"] {
            let opened = page.matches(&format!("<{element}>")).count();
            let opened = opened + page.matches(&format!("<{element} ")).count();
            assert_eq!(opened, page.matches(&format!("</{element}>")).count(), "{element}");
        }
    }
}
