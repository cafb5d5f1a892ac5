//! Reports of closed forms: one line each, or some of them in full.

use schemars::JsonSchema;
use serde::Serialize;

use crate::json;
use crate::predict::{Category, Form, Parameter};
use crate::report::document::{Block, Cell, Column, Document, Figure, Item, Section, Table};
use crate::report::view::Style;
use crate::report::{Reported, pretty};

/// All closed forms with their required parameters, one line each.
#[derive(Debug, Clone, Copy)]
pub struct FormList<'a>(pub &'a [&'a Form]);

/// The documentation of closed forms: usage, parameters and derivation.
#[derive(Debug, Clone, Copy)]
pub struct FormPages<'a>(pub &'a [&'a Form]);

/// Closed forms with their parameters and derivations, for programs.
#[derive(Serialize, JsonSchema)]
struct Listing {
    /// Type and major version of this document.
    schema: &'static str,
    /// The kernels that can be predicted.
    forms: Vec<FormDocument>,
}

#[derive(Serialize, JsonSchema)]
struct FormDocument {
    /// Stable name, used on the command line, in model files and in reports.
    name: &'static str,
    /// Aliases.
    aliases: &'static [&'static str],
    /// What it computes, in one line.
    summary: &'static str,
    /// Kind of operation.
    category: Category,
    /// All parameters, its own first.
    parameters: Vec<Parameter>,
    /// Arguments of a typical call.
    example: &'static str,
    /// How its counts are derived, and from which source: labeled paragraphs.
    derivation: &'static str,
}

/// Returns the JSON schema of the list of predictable kernels, as pretty-printed JSON.
#[must_use]
pub fn form_list_schema() -> String {
    json::schema::<Listing>("predictable-kernels-1", "Kernels that rooflint predicts")
}

impl Reported for FormList<'_> {
    fn document(&self, _: &Style) -> Document {
        let mut document = Document::new("Kernels for prediction");
        let form = |form: &&Form| Figure::new(form.usage(), "", form.summary);
        document.push(Block::Figures(self.0.iter().map(form).collect()));
        document.push(Block::Paragraph(
            "Run `rooflint predict --list KERNEL` for all parameters and the \
             derivation."
                .to_owned(),
        ));
        document
    }

    fn own(&self, format: &str, _: &Style) -> Option<String> {
        own(self.0, format)
    }
}

impl Reported for FormPages<'_> {
    fn document(&self, _: &Style) -> Document {
        if let [form] = self.0 {
            return Document { blocks: page(form), ..Document::titled(form.name) };
        }
        let mut document = Document::new("Kernels for prediction");
        for form in self.0 {
            document.section(form.name, page(form));
        }
        document
    }

    fn own(&self, format: &str, _: &Style) -> Option<String> {
        own(self.0, format)
    }
}

fn own(forms: &[&Form], format: &str) -> Option<String> {
    let document = |form: &&Form| FormDocument {
        name: form.name,
        aliases: form.aliases,
        summary: form.summary,
        category: form.category,
        parameters: form.parameters().copied().collect(),
        example: form.example,
        derivation: form.derivation,
    };
    let listing = || Listing {
        schema: "rooflint/predictable-kernels/1",
        forms: forms.iter().map(document).collect(),
    };
    (format == "json").then(|| pretty(&listing()))
}

fn page(form: &Form) -> Vec<Block> {
    let mut about = vec![form.summary.to_owned()];
    if !form.aliases.is_empty() {
        about.push(format!("aliases: {}", form.aliases.join(", ")));
    }
    about.push(format!("category: {}", form.category.label()));
    let columns = vec![
        Column::text("key", "key"),
        Column::text("default", "default"),
        Column::text("meaning", "meaning"),
    ];
    let mut parameters = Table::new("parameters", columns);
    for one in form.parameters() {
        parameters.push([
            Cell::text(one.name),
            Cell::text(one.shown_default()),
            Cell::text(one.meaning),
        ]);
    }
    let (name, example) = (form.name, form.example);
    let call = format!("rooflint predict {name} {example} --device 'H100 SXM5 80GB'");
    vec![
        Block::lines(about),
        derivation(form),
        Block::Section(Section::new("Parameters", vec![Block::Table(parameters)])),
        Block::Section(Section::new("Example", vec![Block::Code(call)])),
    ]
}

/// Returns the derivation of a form, paragraph by paragraph.
pub(super) fn derivation(form: &Form) -> Block {
    let mut entries: Vec<Item> = Vec::new();
    for line in form.derivation.lines().filter(|line| !line.is_empty()) {
        let labeled = line
            .split_once(": ")
            .filter(|(label, _)| label.starts_with(char::is_uppercase) && !label.contains(' '));
        match (labeled, entries.last_mut()) {
            (Some((label, text)), _) => entries.push(Item::labeled(label, text)),
            (None, Some(entry)) => {
                entry.text.push(' ');
                entry.text.push_str(line);
            }
            (None, None) => entries.push(Item::from(line.to_owned())),
        }
    }
    Block::Section(Section::new("Derivation", vec![Block::List(entries)]))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::predict::form;
    use crate::report::written;

    #[test]
    fn a_listing_has_all_parameters() {
        let gemm = form("gemm").unwrap();
        let text = written(&FormPages(&[gemm]), "json", &Style::default()).unwrap();
        let json = &serde_json::from_str::<Value>(&text).unwrap()["forms"][0];
        let names = json["parameters"].as_array().unwrap().iter().map(|one| &one["name"]);
        let names: Vec<_> = names.collect();
        assert_eq!(names.len(), gemm.parameters().count());
        assert!(names.contains(&&"tile_m".into()) && names.contains(&&"beta".into()));
        assert!(json["derivation"].as_str().unwrap().contains("2MNK"));
    }
}
