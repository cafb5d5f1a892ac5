//! The formats that can be read: in a table, and below it the commands that produce them.

use schemars::JsonSchema;
use serde::Serialize;

use super::document::{Block, Cell, Column, Document, Section, Table};
use super::view::Style;
use super::{Reported, pretty};
use crate::json;

/// A format that can be read, as it is listed.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct FormatLine<'a> {
    /// Its name for `--from`.
    pub name: &'a str,
    /// Who writes it.
    pub profiler: &'a str,
    /// What it is.
    pub summary: &'a str,
    /// The command that produces it.
    pub command: &'a str,
}

/// Every format with what it is and how to produce it.
#[derive(Debug, Clone, Copy)]
pub struct FormatList<'a>(pub &'a [FormatLine<'a>]);

impl Reported for FormatList<'_> {
    fn document(&self, _: &Style) -> Document {
        let columns = vec![
            Column::text("format", "format"),
            Column::text("profiler", "profiler").spare(1),
            Column::text("summary", "what it is"),
        ];
        let mut table = Table::new("formats", columns);
        let mut commands: Vec<(&str, Vec<&str>)> = Vec::new();
        for format in self.0 {
            table.push([format.name, format.profiler, format.summary].map(Cell::text));
            match commands.iter_mut().find(|(command, _)| *command == format.command) {
                Some((_, names)) => names.push(format.name),
                None => commands.push((format.command, vec![format.name])),
            }
        }
        let mut document = Document::new("Formats");
        document.push(Block::Table(table));
        document.push(Block::Paragraph(
            "gzip, zstd, UTF-16, CRLF, program output around the table, decimal commas and digit \
             grouping are recognized. `rooflint inspect FILE` shows what a file is."
                .to_owned(),
        ));
        for (command, names) in commands {
            let code = vec![Block::Code(command.to_owned())];
            document.add(Section::new(format!("How to export {}", names.join(", ")), code));
        }
        document
    }

    fn own(&self, format: &str, _: &Style) -> Option<String> {
        let listing = || pretty(&Listing { schema: "rooflint/formats/1", formats: self.0 });
        (format == "json").then(listing)
    }
}

/// The formats, for programs.
#[derive(Serialize, JsonSchema)]
struct Listing<'a> {
    /// Type and major version of this document.
    schema: &'static str,
    /// The formats.
    formats: &'a [FormatLine<'a>],
}

/// Returns the JSON schema of the list of formats, as pretty-printed JSON.
#[must_use]
pub fn format_list_schema() -> String {
    json::schema::<Listing<'_>>("formats-1", "Formats that rooflint reads")
}
