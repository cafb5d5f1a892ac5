//! What a configuration file sets, key by key, with the line of each: for showing where a setting comes from.

use std::ops::Range;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::source::is_project;
use crate::plain;

/// A value of a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its key with those of its tables: `analysis.threshold`, `waiver[1].kernel`.
    pub key: String,
    /// The value as it is written, on one line.
    pub value: String,
    /// Its line, counted from 1.
    pub line: usize,
}

/// Returns a value that is written as TOML; dates are text, and what is not TOML is `null`.
#[must_use]
pub fn value(written: &str) -> serde_json::Value {
    let table: Option<toml::Table> = toml::from_str(&format!("value = {written}")).ok();
    table.as_ref().and_then(|table| table.get("value")).map_or(serde_json::Value::Null, plain_json)
}

fn plain_json(value: &toml::Value) -> serde_json::Value {
    match value {
        toml::Value::Datetime(date) => date.to_string().into(),
        toml::Value::Array(all) => all.iter().map(plain_json).collect(),
        toml::Value::Table(keys) => {
            keys.iter().map(|(key, value)| (key.clone(), plain_json(value))).collect()
        }
        toml::Value::String(text) => text.as_str().into(),
        toml::Value::Integer(number) => (*number).into(),
        toml::Value::Float(number) => (*number).into(),
        toml::Value::Boolean(is) => (*is).into(),
    }
}

/// Returns what a text sets, in the order of its lines; nothing where it is not TOML. Of a Python project, what
/// its table for rooflint sets.
#[must_use]
pub fn outline(path: &Path, text: &str) -> Vec<Entry> {
    let Ok(table) = DeTable::parse(text) else { return Vec::new() };
    let mut entries = Vec::new();
    let own = if is_project(path) {
        below(table.get_ref(), "tool").and_then(|tools| below(tools, "rooflint"))
    } else {
        Some(table.get_ref())
    };
    if let Some(own) = own {
        walk(own, "", text, &mut entries);
    }
    entries.sort_by_key(|entry| entry.line);
    entries
}

/// A table in another.
fn below<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<&'t DeTable<'i>> {
    table.get(key)?.get_ref().as_table()
}

fn walk(table: &DeTable<'_>, path: &str, text: &str, entries: &mut Vec<Entry>) {
    for (key, value) in table {
        let key = if path.is_empty() {
            key.get_ref().to_string()
        } else {
            format!("{path}.{}", key.get_ref())
        };
        add(key, value.get_ref(), value.span(), text, entries);
    }
}

fn add(key: String, value: &DeValue<'_>, span: Range<usize>, text: &str, entries: &mut Vec<Entry>) {
    let written = text.get(span.clone()).unwrap_or_default();
    match value {
        // Tables and lists with headers; those in braces and brackets are values.
        DeValue::Table(table) if !written.starts_with('{') => walk(table, &key, text, entries),
        DeValue::Array(all)
            if !all.is_empty()
                && all.iter().all(|one| {
                    let written = text.get(one.span()).unwrap_or_default();
                    one.get_ref().is_table() && !written.starts_with('{')
                }) =>
        {
            for (at, one) in all.iter().enumerate() {
                add(format!("{key}[{}]", at + 1), one.get_ref(), one.span(), text, entries);
            }
        }
        _ => {
            let value = written.split_whitespace().collect::<Vec<_>>().join(" ");
            entries.push(Entry { key, value, line: plain::place(text, span.start).0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlined(path: &str, text: &str) -> Vec<String> {
        let entries = outline(Path::new(path), text).into_iter();
        entries.map(|one| format!("{}: {} = {}", one.line, one.key, one.value)).collect()
    }

    #[test]
    fn every_value_has_its_line() {
        let text = "kernel-names = \"names.toml\"\n[rules]\nignore = [\n  \"tail-effect\",\n]\n\
                    [rule.tail-effect]\nwaves = 12\n[[waiver]]\nkernel = \"a\"\n[[waiver]]\n\
                    kernel = \"b\"\nexpires = 2027-01-31\n[gate]\nnoise = { kernel = 0.1 }\n";
        let expected = [
            "1: kernel-names = \"names.toml\"",
            "3: rules.ignore = [ \"tail-effect\", ]",
            "7: rule.tail-effect.waves = 12",
            "9: waiver[1].kernel = \"a\"",
            "11: waiver[2].kernel = \"b\"",
            "12: waiver[2].expires = 2027-01-31",
            "14: gate.noise = { kernel = 0.1 }",
        ];
        assert_eq!(outlined("rooflint.toml", text), expected);
        assert!(outlined("rooflint.toml", "a = \n").is_empty());
    }

    #[test]
    fn of_a_project_only_our_table_counts() {
        let text = "[project]\nname = \"x\"\n[tool.ruff]\nline-length = 100\n\
                    [tool.rooflint.analysis]\nthreshold = 2.0\n";
        assert_eq!(outlined("sub/pyproject.toml", text), ["6: analysis.threshold = 2.0"]);
    }
}
