//! The canonical launch table: one row per launch, SI units in the column names, provenance kept.

use super::columns::{Cell, Columns, Form};
use crate::model::{Profile, Quantity};

/// A table of named columns of one height.
#[derive(Debug, Default, Clone)]
pub struct Table {
    /// Rows.
    pub height: usize,
    /// Columns in order.
    pub columns: Vec<(String, Cells)>,
    /// What the table says of itself: schema, program, inputs, derivation of each column.
    pub metadata: Vec<(String, String)>,
}

/// The cells of a column; `None` is missing.
#[derive(Debug, Clone)]
pub enum Cells {
    /// Words.
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Count(Vec<Option<u64>>),
    /// Numbers in SI base units.
    Number(Vec<Option<f64>>),
}

impl Cells {
    /// Whether no cell has a value.
    fn is_empty(&self) -> bool {
        match self {
            Self::Text(cells) => cells.iter().all(Option::is_none),
            Self::Count(cells) => cells.iter().all(Option::is_none),
            Self::Number(cells) => cells.iter().all(Option::is_none),
        }
    }
}

/// Name and major version of the table's schema.
pub(super) const SCHEMA: &str = "rooflint/launches/1";

/// The table as JSON: what it says of itself comes first.
#[derive(serde::Serialize)]
struct Document {
    metadata: serde_json::Map<String, serde_json::Value>,
    launches: Vec<serde_json::Value>,
}

impl Table {
    /// The launches of a profile.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let mut table = Self { height: profile.launches.len(), ..Self::default() };
        let quantities: Vec<Quantity> = profile.launches.quantities().collect();
        for (column, quantity) in Columns::of_table(&quantities) {
            let cells = profile.iter().map(|launch| column.of_launch(profile, &launch));
            let cells = match column.form {
                Form::Text => Cells::Text(
                    cells.map(|cell| cell.and_then(Cell::text).map(str::to_owned)).collect(),
                ),
                Form::Count => Cells::Count(cells.map(|cell| cell.and_then(Cell::count)).collect()),
                _ => Cells::Number(cells.map(|cell| cell.and_then(Cell::number)).collect()),
            };
            if column.is_rare() && cells.is_empty() {
                continue;
            }
            table.columns.push((column.name.clone(), cells));
            if let Some(quantity) = quantity {
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

    /// The table as CSV (RFC 4180); a missing value is an empty cell.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        // Writing to memory cannot fail.
        let _ = writer.write_record(self.columns.iter().map(|(name, _)| name));
        for row in 0..self.height {
            let _ = writer.write_record(self.columns.iter().map(|(_, cells)| match cells {
                Cells::Text(cells) => cells[row].clone().unwrap_or_default(),
                Cells::Count(cells) => {
                    cells[row].map_or_else(String::new, |value| value.to_string())
                }
                Cells::Number(cells) => {
                    cells[row].map_or_else(String::new, |value| value.to_string())
                }
            }));
        }
        String::from_utf8_lossy(&writer.into_inner().unwrap_or_default()).into_owned()
    }

    /// The table as JSON: metadata and one object per launch; a missing value is `null`.
    #[must_use]
    pub fn json(&self) -> String {
        use serde_json::{Map, Value};
        let rows: Vec<Value> = (0..self.height)
            .map(|row| {
                let cell = |cells: &Cells| match cells {
                    Cells::Text(cells) => cells[row].clone().map_or(Value::Null, Value::from),
                    Cells::Count(cells) => cells[row].map_or(Value::Null, Value::from),
                    Cells::Number(cells) => cells[row].map_or(Value::Null, Value::from),
                };
                Value::Object(
                    self.columns.iter().map(|(name, cells)| (name.clone(), cell(cells))).collect(),
                )
            })
            .collect();
        let metadata: Map<String, Value> = self
            .metadata
            .iter()
            .map(|(key, value)| (key.clone(), Value::from(value.clone())))
            .collect();
        let document = Document { metadata, launches: rows };
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }
}
