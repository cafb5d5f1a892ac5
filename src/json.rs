//! JSON with a line for each item: to be read, compared by lines and searched, without an indentation that
//! is a third of a large document; and the schemas of our documents and files.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::marker::PhantomData;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Serializer;
use serde_json::ser::Formatter;
use serde_json::{Map, Value};

/// Depth down to which each item has its own line: those of the document, and those of its lists.
const DEPTH: usize = 2;

/// Writes a document as JSON with a line for each of its keys, and for each item of these.
///
/// # Errors
/// Those of the writer: what is written has string keys and finite numbers.
pub(crate) fn write(mut to: impl Write, document: &impl Serialize) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(&mut to, Lines::default());
    document.serialize(&mut serializer)?;
    to.write_all(b"\n")
}

/// Where the schemas are published.
const SCHEMAS: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/raw/main/docs/schema/");

/// Returns the JSON schema of a document that we write, published under this file name.
pub(crate) fn schema<T: JsonSchema>(file: &str, title: &str) -> String {
    published(root::<T>(), file, title)
}

/// Returns the JSON schema of a TOML file that we read: what may be left out is left out, as TOML has no null.
pub(crate) fn schema_of_toml<T: JsonSchema>(file: &str, title: &str) -> String {
    let mut schema = root::<T>();
    without_null(&mut schema);
    published(schema, file, title)
}

/// Draft 7 is what editors of TOML and `SchemaStore` read.
fn root<T: JsonSchema>() -> Value {
    SchemaSettings::draft07().into_generator().into_root_schema_for::<T>().to_value()
}

fn published(mut schema: Value, file: &str, title: &str) -> String {
    if let Some(keys) = schema.as_object_mut() {
        keys.insert("$id".to_owned(), format!("{SCHEMAS}{file}.schema.json").into());
        keys.insert("title".to_owned(), title.into());
    }
    // Schemas of derived types always serialize.
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

fn without_null(schema: &mut Value) {
    match schema {
        Value::Array(all) => all.iter_mut().for_each(without_null),
        Value::Object(keys) => {
            if let Some(Value::Array(types)) = keys.get_mut("type") {
                types.retain(|one| one != "null");
                if let [one] = types.as_slice() {
                    let one = one.clone();
                    keys.insert("type".to_owned(), one);
                }
            }
            if let Some(Value::Array(words)) = keys.get_mut("enum") {
                words.retain(|one| !one.is_null());
            }
            if let Some(Value::Array(choices)) = keys.get_mut("anyOf") {
                choices.retain(|one| one.get("type").is_none_or(|kind| kind != "null"));
                match choices.as_slice() {
                    // Beside a reference, draft 7 reads nothing else.
                    [Value::Object(one)] if one.contains_key("$ref") => {
                        let all = keys.remove("anyOf").unwrap_or_default();
                        keys.insert("allOf".to_owned(), all);
                    }
                    [Value::Object(one)] => {
                        let one: Map<String, Value> = one.clone();
                        keys.remove("anyOf");
                        keys.extend(one);
                    }
                    _ => {}
                }
            }
            keys.values_mut().for_each(without_null);
        }
        _ => {}
    }
}

/// Returns what [`write()`] writes.
pub(crate) fn lines(document: &impl Serialize) -> String {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail.
    let _ = write(&mut bytes, document);
    String::from_utf8(bytes).unwrap_or_default()
}

/// Reads an object; a key that is given twice is an error, because one of the values would win in silence.
///
/// # Errors
/// Those of the document.
pub(crate) fn unique<'de, D: Deserializer<'de>, V: Deserialize<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, V>, D::Error> {
    deserializer.deserialize_map(Unique(PhantomData))
}

struct Unique<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Unique<V> {
    type Value = BTreeMap<String, V>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut all = BTreeMap::new();
        while let Some(key) = entries.next_key::<String>()? {
            if all.contains_key(&key) {
                // As serde words it for keys of a type.
                return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
            }
            let value = entries.next_value()?;
            all.insert(key, value);
        }
        Ok(all)
    }
}

#[derive(Default)]
struct Lines {
    depth: usize,
    /// True if what is being closed had an item.
    has_item: bool,
}

impl Lines {
    fn begin<W: Write + ?Sized>(&mut self, to: &mut W, sign: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.has_item = false;
        to.write_all(sign)
    }

    fn item<W: Write + ?Sized>(&self, to: &mut W, is_first: bool) -> io::Result<()> {
        if !is_first {
            to.write_all(if self.depth > DEPTH { b", " } else { b"," })?;
        }
        self.line(to)
    }

    fn end<W: Write + ?Sized>(&mut self, to: &mut W, sign: &[u8]) -> io::Result<()> {
        let is_line = self.has_item && self.depth <= DEPTH;
        self.depth = self.depth.saturating_sub(1);
        self.has_item = true;
        if is_line {
            self.line(to)?;
        }
        to.write_all(sign)
    }

    fn line<W: Write + ?Sized>(&self, to: &mut W) -> io::Result<()> {
        if self.depth > DEPTH {
            return Ok(());
        }
        to.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| to.write_all(b"  "))
    }
}

impl Formatter for Lines {
    fn begin_array<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.begin(to, b"[")
    }

    fn end_array<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.end(to, b"]")
    }

    fn begin_array_value<W: Write + ?Sized>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.item(to, first)
    }

    fn end_array_value<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_item = true;
        Ok(())
    }

    fn begin_object<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.begin(to, b"{")
    }

    fn end_object<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        self.end(to, b"}")
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.item(to, first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, to: &mut W) -> io::Result<()> {
        to.write_all(b": ")
    }

    fn end_object_value<W: Write + ?Sized>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_item = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_given_twice_is_refused_where_it_stands() {
        let read = |text: &str| unique::<_, u8>(&mut serde_json::Deserializer::from_str(text));
        assert_eq!(read("{\"a\": 1, \"b\": 1}").unwrap().len(), 2);
        let error = read("{\"a\": 1,\n \"a\": 1}").unwrap_err();
        assert_eq!(error.to_string(), "duplicate field `a` at line 2 column 4");
    }

    #[test]
    fn items_of_lists_have_a_line_each() {
        let value = serde_json::json!({"a": [{"b": [1, 2], "c": {}}, {"d": null}], "e": [], "f": {"g": "h"}});
        let text = lines(&value);
        assert_eq!(
            text,
            "{\n  \"a\": [\n    {\"b\": [1, 2], \"c\": {}},\n    {\"d\": null}\n  ],\n  \"e\": [],\n  \
             \"f\": {\n    \"g\": \"h\"\n  }\n}\n"
        );
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
