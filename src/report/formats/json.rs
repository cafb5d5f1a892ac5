//! Any document as JSON, for subjects without a document type of their own: typed cells, SI units in the
//! keys, `null` for what is not known.

use serde_json::{Map, Value, json};

use super::Format;
use crate::report::document::{Block, Cell, Document, Item, Table};
use crate::report::view::Style;

pub(super) const FORMAT: Format =
    Format { name: "json", endings: &["json"], summary: "everything, for programs", render };

/// Name of the document type; the number is its major version.
const SCHEMA: &str = "rooflint/document/2";

fn render(document: &Document, _: &Style) -> String {
    let value = json!({
        "schema": SCHEMA,
        "rooflint": env!("CARGO_PKG_VERSION"),
        "title": document.title,
        "blocks": blocks(&document.blocks),
    });
    // Values of JSON always serialize.
    serde_json::to_string_pretty(&value).unwrap_or_default() + "\n"
}

fn blocks(all: &[Block]) -> Value {
    all.iter().map(block).collect()
}

fn block(block: &Block) -> Value {
    match block {
        Block::Facts(facts) => {
            let facts = facts.iter().map(|fact| json!({"label": fact.label, "lines": fact.lines}));
            json!({"facts": facts.collect::<Value>()})
        }
        Block::Paragraph(text) => json!({"paragraph": text}),
        Block::List(items) => json!({"list": items.iter().map(item).collect::<Value>()}),
        Block::Steps(items) => json!({"steps": items.iter().map(item).collect::<Value>()}),
        Block::Bar(segments) => {
            let parts = segments.iter().map(|one| {
                let (part, label) = (one.part.key(), one.part.label());
                json!({"part": part, "label": label, "time_s": one.time.get(), "share": one.share})
            });
            json!({"bar": parts.collect::<Value>()})
        }
        Block::Table(one) => json!({"table": table(one)}),
        Block::Figures(figures) => {
            let figures = figures
                .iter()
                .map(|one| json!({"label": one.label, "value": one.value, "remark": one.remark}));
            json!({"figures": figures.collect::<Value>()})
        }
        Block::Code(code) => json!({"code": code}),
        Block::Section(section) => {
            json!({"section": section.title, "blocks": blocks(&section.blocks)})
        }
    }
}

fn item(item: &Item) -> Value {
    json!({"label": item.label, "text": item.text, "details": item.details})
}

/// A table as its name and rows, each an object by the columns' keys.
fn table(table: &Table) -> Value {
    let rows = table.rows.iter().map(|row| {
        let mut object = Map::new();
        for (cell, column) in row.cells.iter().zip(&table.columns) {
            object.insert(column.key.clone(), value(cell));
            let (low, high) = cell.ends();
            for (end, name) in [(low, "low"), (high, "high")] {
                if let Some(end) = end {
                    object.insert(format!("{}_{name}", column.key), number(end));
                }
            }
        }
        if !row.notes.is_empty() {
            object.insert("notes".to_owned(), json!(row.notes));
        }
        Value::Object(object)
    });
    json!({"name": table.key, "rows": rows.collect::<Value>()})
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Missing | Cell::Empty => Value::Null,
        Cell::Text(text) => json!(text),
        cell => cell.value().map_or(Value::Null, number),
    }
}

/// A number, an integer where it is one; `null` for what is not finite.
fn number(value: f64) -> Value {
    // Integers are exact below 2^53.
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::document::{Column, Form};

    #[test]
    fn cells_keep_numbers_bounds_and_gaps() {
        let columns = vec![
            Column::name("kernel", "kernel"),
            Column::number("launches", "launches", Form::Count),
            Column::number("roofline_s", "expected", Form::Time),
        ];
        let mut table = Table::new("kernels", columns);
        table.push([Cell::text("copy"), Cell::Number(3.0), Cell::AtLeast(0.5)]);
        table.push([Cell::Missing, Cell::Missing, Cell::Number(f64::INFINITY)]);
        let mut document = Document::new("run");
        document.section("Kernels", vec![Block::Table(table)]);
        let read: Value = serde_json::from_str(&render(&document, &Style::default())).unwrap();
        let rows = &read["blocks"][0]["blocks"][0]["table"]["rows"];
        let first =
            json!({"kernel": "copy", "launches": 3, "roofline_s": 0.5, "roofline_s_low": 0.5});
        assert_eq!(rows[0], first);
        assert_eq!(rows[1], json!({"kernel": null, "launches": null, "roofline_s": null}));
    }
}
