//! The canonical launch table: one row per launch, SI units in the column names, provenance kept.

use crate::model::{Pipe, Profile, Quantity};

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

/// Name and major version of the table's schema.
const SCHEMA: &str = "rooflint/launches/1";

impl Table {
    /// The launches of a profile.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let mut table = Self { height: profile.launches.len(), ..Self::default() };
        let text = |of: &dyn Fn(crate::model::Launch<'_>) -> String| {
            Cells::Text(
                profile
                    .iter()
                    .map(|launch| Some(of(launch)).filter(|text| !text.is_empty()))
                    .collect(),
            )
        };
        let count = |of: &dyn Fn(crate::model::Launch<'_>) -> Option<u64>| {
            Cells::Count(profile.iter().map(of).collect())
        };
        let hint = |launch: &crate::model::Launch<'_>| {
            profile.devices.get(usize::from(launch.head.device.0))
        };
        table.add(
            "source",
            text(&|launch| {
                profile
                    .sources
                    .get(usize::from(launch.head.source))
                    .map_or_else(String::new, |source| source.path.clone())
            }),
        );
        table.add("process", count(&|launch| Some(u64::from(launch.head.process))));
        table.add("id", count(&|launch| Some(u64::from(launch.head.id))));
        table.add("kernel", text(&|launch| launch.kernel().to_owned()));
        table.add("operator", text(&|launch| profile.names.get(launch.head.operator).to_owned()));
        table.add(
            "device",
            text(&|launch| hint(&launch).and_then(|hint| hint.name.clone()).unwrap_or_default()),
        );
        table.add(
            "device_ordinal",
            text(&|launch| hint(&launch).and_then(|hint| hint.ordinal.clone()).unwrap_or_default()),
        );
        table.add("stream", count(&|launch| launch.head.stream.map(u64::from)));
        table.add("launches", count(&|launch| Some(u64::from(launch.head.count))));
        for (name, block, axis) in [
            ("grid_x", false, 0),
            ("grid_y", false, 1),
            ("grid_z", false, 2),
            ("block_x", true, 0),
            ("block_y", true, 1),
            ("block_z", true, 2),
        ] {
            table.add(
                name,
                count(&|launch| {
                    let dim = if block { launch.head.shape.block } else { launch.head.shape.grid }?;
                    Some(u64::from([dim.x, dim.y, dim.z][axis]))
                }),
            );
        }
        table.add("blocks", count(&|launch| launch.head.shape.blocks));
        table.add("threads_per_block", count(&|launch| launch.head.shape.threads_per_block));
        for quantity in profile.launches.quantities() {
            table.quantity(profile, quantity);
        }
        table.describe(profile);
        table
    }

    fn add(&mut self, name: &str, cells: Cells) {
        self.columns.push((name.to_owned(), cells));
    }

    fn quantity(&mut self, profile: &Profile, quantity: Quantity) {
        let name = quantity.column();
        self.add(
            &name,
            Cells::Number(profile.iter().map(|launch| launch.value(quantity)).collect()),
        );
        // Time, bytes and work are what conclusions rest on: each cell says how it came about.
        let matters =
            matches!(quantity, Quantity::Duration | Quantity::DramBytes) || is_work(quantity);
        if matters {
            let origin = |launch: crate::model::Launch<'_>| {
                launch.get(quantity).map(|(_, origin)| origin.kind.label().to_owned())
            };
            self.add(&format!("{name}_origin"), Cells::Text(profile.iter().map(origin).collect()));
        }
        let mut formulas: Vec<&str> = Vec::new();
        for launch in profile.iter() {
            if let Some((_, origin)) = launch.get(quantity)
                && !formulas.contains(&origin.formula.as_str())
            {
                formulas.push(&origin.formula);
            }
        }
        self.metadata.push((
            format!("column:{name}"),
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
        let document = serde_json::json!({ "metadata": metadata, "launches": rows });
        serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
    }
}

fn is_work(quantity: Quantity) -> bool {
    matches!(quantity, Quantity::Work(pipe) if Pipe::ALL.contains(&pipe))
}
