//! The launch table as a whole and as text: one row per launch, SI units in the column names.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::SCHEMA;
use super::cell::{Cell, Form};
use super::columns::columns;
use crate::model::{Profile, Quantity};

/// A table of named columns of equal height.
#[derive(Debug, Default, Clone)]
pub struct Table {
    /// Number of rows.
    pub height: usize,
    /// Columns in order.
    pub columns: Vec<(String, Cells)>,
    /// Metadata: schema, program, inputs, derivation of each column.
    pub metadata: Vec<(String, String)>,
}

/// The cells of a column; `None` is missing.
#[derive(Debug, Clone)]
pub enum Cells {
    /// Text.
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Count(Vec<Option<u64>>),
    /// Numbers in SI base units.
    Number(Vec<Option<f64>>),
}

impl Cells {
    /// Returns `true` if no cell has a value.
    fn is_empty(&self) -> bool {
        match self {
            Self::Text(cells) => cells.iter().all(Option::is_none),
            Self::Count(cells) => cells.iter().all(Option::is_none),
            Self::Number(cells) => cells.iter().all(Option::is_none),
        }
    }

    /// Returns the number of cells.
    #[cfg(feature = "frames")]
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Text(cells) => cells.len(),
            Self::Count(cells) => cells.len(),
            Self::Number(cells) => cells.len(),
        }
    }

    /// Returns the cell of a row.
    fn get(&self, row: usize) -> Option<Cell<'_>> {
        match self {
            Self::Text(cells) => cells.get(row)?.as_deref().map(Cell::word),
            Self::Count(cells) => cells.get(row)?.map(Cell::Count),
            Self::Number(cells) => cells.get(row)?.map(Cell::Number),
        }
    }
}

/// The table as JSON: metadata first, then the launches with the column names as keys.
#[derive(Serialize, Deserialize)]
pub struct Document {
    #[serde(default)]
    metadata: BTreeMap<String, String>,
    launches: Vec<Map<String, Value>>,
}

impl Document {
    /// Returns the metadata of the table.
    #[must_use]
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Returns the names of the columns that any launch has.
    #[must_use]
    pub fn titles(&self) -> Vec<String> {
        let names: BTreeSet<&String> = self.launches.iter().flat_map(Map::keys).collect();
        names.into_iter().cloned().collect()
    }

    /// Iterates over the launches as records under these titles, with missing values as empty text.
    pub fn records(&self, titles: &[String]) -> impl Iterator<Item = Vec<String>> {
        let text = |value: Option<&Value>| match value {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(value) => value.to_string(),
        };
        self.launches
            .iter()
            .map(move |launch| titles.iter().map(|title| text(launch.get(title))).collect())
    }
}

impl Table {
    /// Makes the table of a profile's launches.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let mut table = Self { height: profile.launches.len(), ..Self::default() };
        let quantities: Vec<Quantity> = profile.launches.quantities().collect();
        let counted =
            |of: Option<Quantity>| of.is_none_or(|quantity| quantities.contains(&quantity));
        for column in columns().iter().filter(|column| counted(column.quantity())) {
            let cells = profile.iter().map(|launch| column.get(profile, &launch));
            let cells = match column.form {
                Form::Text => Cells::Text(
                    cells.map(|cell| cell.and_then(Cell::text).map(Cow::into_owned)).collect(),
                ),
                Form::Count => Cells::Count(cells.map(|cell| cell.and_then(Cell::count)).collect()),
                _ => Cells::Number(cells.map(|cell| cell.and_then(Cell::number)).collect()),
            };
            if column.is_rare() && cells.is_empty() {
                continue;
            }
            table.columns.push((column.name.clone(), cells));
            if let Some(quantity) = column.quantity().filter(|_| column.is_value()) {
                table.derivation(profile, quantity);
            }
        }
        table.describe(profile);
        table
    }

    fn derivation(&mut self, profile: &Profile, quantity: Quantity) {
        let mut formulas: Vec<&str> = Vec::new();
        for launch in profile.iter() {
            if let Some((_, origin)) = launch.get(quantity)
                && !formulas.contains(&origin.formula.as_str())
            {
                formulas.push(&origin.formula);
            }
        }
        self.metadata.push((
            format!("column:{}", quantity.column()),
            format!("[{}] {}", quantity.unit(), formulas.join("; or ")),
        ));
    }

    fn describe(&mut self, profile: &Profile) {
        let inputs: Vec<String> = profile
            .sources
            .iter()
            .map(|source| {
                format!(
                    "{} ({}, {} launches, {} skipped)",
                    source.path, source.format, source.launches, source.skips.count
                )
            })
            .collect();
        let mut head = vec![
            ("schema".to_owned(), SCHEMA.to_owned()),
            ("rooflint".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("inputs".to_owned(), inputs.join("; ")),
            ("notes".to_owned(), profile.notes.join("; ")),
        ];
        head.append(&mut self.metadata);
        self.metadata = head;
    }

    /// Formats the table as CSV (RFC 4180); a missing value is an empty cell.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        // Writing to memory cannot fail.
        let _ = writer.write_record(self.columns.iter().map(|(name, _)| name));
        for row in 0..self.height {
            let cells = self.columns.iter().map(|(_, cells)| cells.get(row));
            let _ = writer.write_record(
                cells.map(|cell| cell.map_or_else(String::new, |cell| cell.to_string())),
            );
        }
        String::from_utf8_lossy(&writer.into_inner().unwrap_or_default()).into_owned()
    }

    /// Formats the table as JSON: metadata and one object per launch; a missing value is `null`.
    #[must_use]
    pub fn json(&self) -> String {
        let value = |cell: Option<Cell<'_>>| match cell {
            None => Value::Null,
            Some(Cell::Text(text)) => Value::from(text.into_owned()),
            Some(Cell::Truth(truth)) => Value::from(truth),
            Some(Cell::Count(count)) => Value::from(count),
            Some(Cell::Number(number)) => Value::from(number),
        };
        let launch = |row| {
            let cells = self.columns.iter().map(|(name, cells)| (name, cells.get(row)));
            cells.map(|(name, cell)| (name.clone(), value(cell))).collect()
        };
        let document = Document {
            metadata: self.metadata.iter().cloned().collect(),
            launches: (0..self.height).map(launch).collect(),
        };
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Table {
        let text = |text: &str| Some(text.to_owned());
        Table {
            height: 2,
            columns: vec![
                ("kernel".to_owned(), Cells::Text(vec![text("a, \"b\""), None])),
                ("id".to_owned(), Cells::Count(vec![Some(7), Some(8)])),
                ("time_s".to_owned(), Cells::Number(vec![None, Some(0.1)])),
            ],
            metadata: vec![("schema".to_owned(), SCHEMA.to_owned())],
        }
    }

    #[test]
    fn a_missing_value_is_an_empty_cell_and_a_null() {
        assert_eq!(small().csv(), "kernel,id,time_s\n\"a, \"\"b\"\"\",7,\n,8,0.1\n");
        let json: Value = serde_json::from_str(&small().json()).unwrap();
        assert_eq!(json["launches"][0]["time_s"], Value::Null);
        assert_eq!(
            json["launches"][1],
            serde_json::json!({"kernel": null, "id": 8, "time_s": 0.1})
        );
    }

    #[test]
    fn a_document_leads_back_to_the_cells_of_the_csv() {
        let document: Document = serde_json::from_str(&small().json()).unwrap();
        assert_eq!(document.metadata()["schema"], SCHEMA);
        assert_eq!(document.titles(), ["id", "kernel", "time_s"]);
        let records: Vec<Vec<String>> = document.records(&document.titles()).collect();
        assert_eq!(records, [["7", "a, \"b\"", ""], ["8", "", "0.1"]]);
    }

    #[test]
    fn what_no_launch_has_is_no_column() {
        let options = crate::ingest::Options::default();
        let profile = crate::ingest::read_text("demo", crate::SAMPLE, &options).unwrap();
        let table = Table::of(&profile);
        assert_eq!(table.height, profile.launches.len());
        let has = |name: &str| table.columns.iter().any(|(known, _)| known == name);
        assert!(has("kernel") && !has("caches_kept"));
        // Each quantity that is there says how it was derived, and no other.
        let told = table.metadata.iter().filter(|(key, _)| key.starts_with("column:")).count();
        assert_eq!(told, profile.launches.quantities().count());
    }
}
