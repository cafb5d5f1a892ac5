//! Report of the schemas of our documents and files.

use schemars::JsonSchema;
use serde::Serialize;

use super::document::{Block, Cell, Column, Document, Table};
use super::view::Style;
use super::{Reported, pretty};
use crate::json;

/// A schema, as it is listed.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct SchemaLine {
    /// Its name for `rooflint schema NAME`.
    pub name: &'static str,
    /// The document or file that it describes.
    pub describes: &'static str,
}

/// All schemas.
#[derive(Debug, Clone, Copy)]
pub struct SchemaList<'a>(pub &'a [SchemaLine]);

/// The schemas, for programs.
#[derive(Serialize, JsonSchema)]
struct Listing<'a> {
    /// Type and major version of this document.
    schema: &'static str,
    /// The schemas: of documents first, then of files.
    schemas: &'a [SchemaLine],
}

/// Returns the JSON schema of the list of schemas, as pretty-printed JSON.
#[must_use]
pub fn schema_list_schema() -> String {
    json::schema::<Listing<'_>>("schemas-1", "Schemas of rooflint")
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
