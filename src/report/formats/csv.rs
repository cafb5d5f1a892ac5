//! The main table of a document, for spreadsheets and scripts: SI units in the headers, an empty cell for
//! what is not known.

use super::Format;
use crate::report::document::{Block, Cell, Document, Figure, Form, MISSING, Table};
use crate::report::view::{Style, printable};
use crate::table::guarded;

pub(super) const FORMAT: Format = Format {
    name: "csv",
    endings: &["csv"],
    summary: "the main table, for spreadsheets and scripts",
    render,
};

fn render(document: &Document, _: &Style) -> String {
    let tables = document.tables();
    let Some((_, first)) = tables.first() else { return figures(document) };
    // The same columns for several devices or kernels are one table, with what tells them apart.
    let keys = |table: &Table| -> Vec<String> {
        table.columns.iter().map(|column| column.key.clone()).collect()
    };
    let alike: Vec<_> = tables.iter().filter(|(_, table)| keys(table) == keys(first)).collect();
    let bounded: Vec<bool> = (0..first.columns.len())
        .map(|at| {
            let mut rows = alike.iter().flat_map(|(_, table)| &table.rows);
            rows.any(|row| row.cells.get(at).is_some_and(Cell::is_interval))
        })
        .collect();
    let mut header: Vec<String> = Vec::new();
    if alike.len() > 1 {
        header.push("section".to_owned());
    }
    for (column, bounded) in first.columns.iter().zip(&bounded) {
        header.push(column.key.clone());
        if *bounded {
            header.extend(["low", "high"].map(|end| format!("{}_{end}", column.key)));
        }
    }
    let rows = alike.iter().flat_map(|(title, table)| {
        let bounded = &bounded;
        let several = alike.len() > 1;
        table.rows.iter().map(move |row| {
            let mut cells: Vec<String> = Vec::new();
            if several {
                cells.push(guarded(title));
            }
            for ((cell, column), bounded) in row.cells.iter().zip(&table.columns).zip(bounded) {
                cells.push(value(cell, column.form));
                if *bounded {
                    let (low, high) = cell.ends();
                    cells.extend([low, high].map(|end| end.map_or_else(String::new, number)));
                }
            }
            cells
        })
    });
    written(std::iter::once(header).chain(rows))
}

/// Labeled values, for documents without a table.
fn figures(document: &Document) -> String {
    fn collect(blocks: &[Block], section: &str, rows: &mut Vec<Vec<String>>) {
        for block in blocks {
            match block {
                Block::Figures(figures) => {
                    rows.extend(figures.iter().map(|Figure { label, value, remark }| {
                        vec![guarded(section), guarded(label), figure(value), guarded(remark)]
                    }));
                }
                Block::Section(section) => collect(&section.blocks, &section.title, rows),
                _ => {}
            }
        }
    }
    let mut rows = vec![["section", "label", "value", "remark"].map(str::to_owned).to_vec()];
    collect(&document.blocks, &document.title, &mut rows);
    written(rows.into_iter())
}

/// A figure as people read it; a sign and a digit begin a number, all else could begin a formula.
fn figure(text: &str) -> String {
    let number = text.strip_prefix(['+', '-']).is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit())
            && !rest.contains(['+', '-', '*', '(', '|', '!', '='])
    });
    if number { printable(text) } else { guarded(text) }
}

fn written(rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        // Writing to memory cannot fail, and rows are as long as the header.
        let _ = writer.write_record(row);
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

fn value(cell: &Cell, form: Form) -> String {
    match cell {
        Cell::Text(text) if form == Form::Name || form == Form::Text => guarded(text),
        Cell::Text(text) if text == MISSING => String::new(),
        Cell::Text(text) => text.clone(),
        cell => cell.value().map_or_else(String::new, number),
    }
}

fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::Column;

    #[test]
    fn bounds_get_columns_and_formulas_are_defused() {
        let columns = vec![
            Column::name("kernel", "kernel"),
            Column::number("roofline_s", "expected", Form::Time),
        ];
        let mut table = Table::new("kernels", columns);
        table.push([Cell::text("=1+1"), Cell::AtLeast(0.25)]);
        table.push([Cell::text("copy"), Cell::Missing]);
        let mut document = Document::new("run");
        document.push(Block::Table(table));
        assert_eq!(figure("-5.0%"), "-5.0%");
        assert_eq!(figure("-1+cmd|x!A1"), "'-1+cmd|x!A1");
        assert_eq!(figure("@sum"), "'@sum");
        let text = render(&document, &Style::default());
        assert_eq!(
            text,
            "kernel,roofline_s,roofline_s_low,roofline_s_high\n'=1+1,0.25,0.25,\ncopy,,,\n"
        );
    }
}
