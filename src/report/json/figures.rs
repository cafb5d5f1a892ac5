//! The figures of a kernel in the JSON report and in its schema, both from the list of columns.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use crate::analysis::{Analysis, Column, Columns, Kernel, Place, Row};
use crate::table::{Cell, Form};

/// A kernel's figures by name, `null` if missing.
pub(super) struct Figures<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) kernel: &'a Kernel,
}

fn figures() -> impl Iterator<Item = &'static Column> {
    Columns::of_kernels().all().iter().filter(|column| column.place == Place::Report)
}

impl Serialize for Figures<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let row = Row::Kernel(self.analysis, self.kernel);
        let mut map = serializer.serialize_map(None)?;
        for column in figures() {
            map.serialize_key(&column.name)?;
            match column.get(&row) {
                Some(Cell::Text(text)) => map.serialize_value(&text)?,
                Some(Cell::Truth(truth)) => map.serialize_value(&truth)?,
                Some(Cell::Count(count)) => map.serialize_value(&count)?,
                Some(Cell::Number(number)) => map.serialize_value(&number)?,
                // A name that the export does not write.
                None if column.is_always && column.form == Form::Text => map.serialize_value("")?,
                None => map.serialize_value(&())?,
            }
        }
        map.end()
    }
}

impl JsonSchema for Figures<'_> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("Figures")
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let properties: Map<String, Value> =
            figures().map(|column| (column.name.clone(), property(column))).collect();
        let mut schema = Schema::default();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("required".to_owned(), properties.keys().cloned().collect());
        schema.insert("properties".to_owned(), Value::Object(properties));
        schema
    }
}

/// Returns the schema of one figure: type, unit, meaning and possible words.
fn property(column: &Column) -> Value {
    let (kind, holds) = match column.form {
        Form::Text => (json!({ "type": "string" }), None),
        Form::Truth => (json!({ "type": "boolean" }), None),
        Form::Count => (json!({ "type": "integer", "format": "uint64", "minimum": 0 }), None),
        form => (json!({ "type": "number", "format": "double" }), Some(form.label())),
    };
    let Value::Object(mut property) = kind else { return kind };
    let mut words: Vec<Value> = column.words.iter().map(|word| json!(word)).collect();
    if !column.is_always {
        let kind = property.remove("type");
        property.insert("type".to_owned(), json!([kind, "null"]));
        words.push(Value::Null);
    }
    if !column.words.is_empty() {
        property.insert("enum".to_owned(), Value::Array(words));
    }
    let holds = holds.map_or_else(String::new, |holds| format!(" [{holds}]"));
    property.insert("description".to_owned(), json!(format!("{}{holds}", column.about)));
    Value::Object(property)
}
