//! Report of the schemas of our documents and files.

use super::Reported;
use super::document::{Block, Cell, Column, Document, Table};
use super::pretty;
use super::view::Style;
use serde::Serialize;

/// A schema, as it is listed.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct SchemaLine {
    /// Its name for `rooflint schema NAME`.
    pub name: &'static str,
    /// The document or file that it describes.
    pub describes: &'static str,
}

/// All schemas.
#[derive(Debug, Clone, Copy)]
pub struct SchemaList<'a>(pub &'a [SchemaLine]);

#[derive(Serialize)]
struct Listing<'a> {
    schema: &'static str,
    schemas: &'a [SchemaLine],
}

impl Reported for SchemaList<'_> {
    fn document(&self, _: &Style) -> Document {
        let columns = vec![Column::text("name", "name"), Column::text("describes", "describes")];
        let mut table = Table::new("schemas", columns);
        for line in self.0 {
            table.push([line.name, line.describes].map(Cell::text));
        }
        let mut document = Document::new("Schemas");
        document.push(Block::Table(table));
        document
    }

    fn own(&self, format: &str, _: &Style) -> Option<String> {
        let listing = || pretty(&Listing { schema: "rooflint/schemas/1", schemas: self.0 });
        (format == "json").then(listing)
    }
}
