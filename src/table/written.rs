//! The launch table as a whole and as text: one row per launch, SI units in the column names.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::cell::{Cell, Form, guarded};
use super::columns::{LaunchColumn, columns};
use super::{SCHEMA, SCHEMA_KEY};
use crate::model::{Launch, Origin, Profile, Quantity};
use crate::plain::counted;

/// Key of the notes that change what the figures mean, one a line.
pub(crate) const CHECKS: &str = "checks";

/// A table of named columns of equal height.
#[derive(Debug, Default, Clone)]
pub struct Table<'p> {
    /// Number of rows.
    pub height: usize,
    /// Columns in order.
    pub columns: Vec<(String, Cells<'p>)>,
    /// Metadata: schema, program, inputs, derivation of each column.
    pub metadata: Vec<(String, String)>,
}

/// The cells of a column; `None` is missing.
#[derive(Debug, Clone)]
pub enum Cells<'p> {
    /// Those of a column in the launches of a profile, each made when its turn comes.
    Launches(&'p Profile, &'static LaunchColumn),
    /// Text.
    Text(Vec<Option<String>>),
    /// Yes or no.
    Truth(Vec<Option<bool>>),
    /// Whole numbers.
    Count(Vec<Option<u64>>),
    /// Numbers in SI base units.
    Number(Vec<Option<f64>>),
    /// Lists of numbers in SI base units; none is an empty list. Only Parquet has them.
    Numbers(Vec<Vec<f64>>),
}

impl Cells<'_> {
    /// Returns the number of cells.
    #[cfg(feature = "frames")]
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Launches(profile, _) => profile.launches.len(),
            Self::Text(cells) => cells.len(),
            Self::Truth(cells) => cells.len(),
            Self::Count(cells) => cells.len(),
            Self::Number(cells) => cells.len(),
            Self::Numbers(cells) => cells.len(),
        }
    }

    /// Makes a column of this form; a cell of another form is missing.
    #[must_use]
    pub fn of<'c>(form: Form, cells: impl Iterator<Item = Option<Cell<'c>>>) -> Cells<'static> {
        let known = cells.map(|cell| cell.and_then(Cell::known));
        match form {
            Form::Text => Cells::Text(known.map(|cell| Some(cell?.text()?.into_owned())).collect()),
            Form::Truth => Cells::Truth(known.map(|cell| cell?.truth()).collect()),
            Form::Count => Cells::Count(known.map(|cell| cell?.count()).collect()),
            Form::Share | Form::Factor | Form::Number(_) => {
                Cells::Number(known.map(|cell| cell?.number()).collect())
            }
        }
    }

    /// Returns the cell of a row; none of a list.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<Cell<'_>> {
        match self {
            Self::Launches(profile, column) => {
                (row < profile.launches.len()).then(|| column.get(profile, &profile.launch(row)))?
            }
            Self::Text(cells) => cells.get(row)?.as_deref().map(Cell::word),
            Self::Truth(cells) => cells.get(row)?.map(Cell::Truth),
            Self::Count(cells) => cells.get(row)?.map(Cell::Count),
            Self::Number(cells) => cells.get(row)?.map(Cell::Number),
            Self::Numbers(_) => None,
        }
    }

    /// Returns the cell of a row of which others are asked for too, whose launch is put together once.
    fn beside<'c>(&'c self, row: usize, of_row: &mut OfRow<'c>) -> Option<Cell<'c>> {
        let Self::Launches(profile, column) = self else { return self.get(row) };
        let launch = match of_row {
            Some((of, launch)) if std::ptr::eq(*of, *profile) => launch,
            _ if row < profile.launches.len() => {
                &mut of_row.insert((profile, profile.launch(row))).1
            }
            _ => return None,
        };
        column.get(profile, launch)
    }
}

/// The launch of a row.
type OfRow<'c> = Option<(&'c Profile, Launch<'c>)>;

/// A document to be written, each launch as its turn comes.
#[derive(Serialize)]
struct Written<'t> {
    metadata: BTreeMap<&'t str, &'t str>,
    launches: Launches<'t>,
}

struct Launches<'t> {
    height: usize,
    columns: Vec<&'t (String, Cells<'t>)>,
}

struct OneLaunch<'t>(&'t [&'t (String, Cells<'t>)], usize);

impl Serialize for Launches<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.height).map(|row| OneLaunch(&self.columns, row)))
    }
}

impl Serialize for OneLaunch<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let value = |cell: Option<Cell<'_>>| match cell {
            None => Value::Null,
            Some(Cell::Text(text)) => Value::from(text),
            Some(Cell::Truth(truth)) => Value::from(truth),
            Some(Cell::Count(count)) => Value::from(count),
            Some(Cell::Number(number)) => Value::from(number),
        };
        let mut of_row = None;
        let cells = self.0.iter();
        let cells = cells.map(|(name, cells)| (name, value(cells.beside(self.1, &mut of_row))));
        serializer.collect_map(cells)
    }
}

impl<'p> Table<'p> {
    /// Makes the table of a profile's launches.
    #[must_use]
    pub fn of(profile: &'p Profile) -> Self {
        let mut table = Self { height: profile.launches.len(), ..Self::default() };
        let quantities: Vec<Quantity> = profile.launches.quantities().collect();
        let counted =
            |of: Option<Quantity>| of.is_none_or(|quantity| quantities.contains(&quantity));
        let columns = || columns().iter().filter(|column| counted(column.quantity()));
        let mut absent: Vec<&LaunchColumn> = columns().filter(|column| column.is_rare()).collect();
        for launch in profile.iter() {
            absent.retain(|column| column.get(profile, &launch).is_none());
            if absent.is_empty() {
                break;
            }
        }
        for column in columns() {
            if absent.iter().any(|absent| std::ptr::eq(*absent, column)) {
                continue;
            }
            table.columns.push((column.name.clone(), Cells::Launches(profile, column)));
            if let Some(quantity) = column.quantity().filter(|_| column.is_value()) {
                table.derivation(profile, quantity);
            }
        }
        table.describe(profile);
        table
    }

    fn derivation(&mut self, profile: &Profile, quantity: Quantity) {
        let mut formulas: Vec<&str> = Vec::new();
        let mut last: Option<&Origin> = None;
        for launch in profile.iter() {
            // Neighbors share their origins.
            let new = launch.get(quantity).map(|(_, origin)| origin);
            let Some(origin) = new.filter(|new| !last.is_some_and(|last| std::ptr::eq(last, *new)))
            else {
                continue;
            };
            last = Some(origin);
            if !formulas.contains(&origin.formula.as_str()) {
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
                    "{} ({}, {}, {} skipped)",
                    source.path,
                    source.format,
                    counted(source.launches, "launch", "launches"),
                    source.skips.count
                )
            })
            .collect();
        let mut head = vec![
            (SCHEMA_KEY.to_owned(), SCHEMA.to_owned()),
            ("rooflint".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
            ("inputs".to_owned(), inputs.join("; ")),
            ("notes".to_owned(), profile.notes.join("; ")),
        ];
        let remarks = profile.remarks();
        if !remarks.is_empty() {
            head.push((CHECKS.to_owned(), remarks.join("\n")));
        }
        head.append(&mut self.metadata);
        self.metadata = head;
    }

    /// Writes the table as CSV (RFC 4180); a missing value is an empty cell. An apostrophe keeps spreadsheets from
    /// taking a name for a formula; reading removes it.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_csv(&self, to: impl io::Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(to);
        writer.write_record(self.columns.iter().map(|(name, _)| name))?;
        self.write_into(writer)
    }

    /// Writes the rows as CSV without the names of the columns.
    ///
    /// # Errors
    /// Those of the writer.
    #[cfg(feature = "frames")]
    pub(super) fn write_rows(&self, to: impl io::Write) -> io::Result<()> {
        self.write_into(csv::Writer::from_writer(to))
    }

    fn write_into(&self, mut writer: csv::Writer<impl io::Write>) -> io::Result<()> {
        let mut text = String::new();
        for row in 0..self.height {
            let mut of_row = None;
            for (_, cells) in &self.columns {
                text.clear();
                match cells.beside(row, &mut of_row) {
                    None => {}
                    Some(Cell::Text(name)) => text.push_str(&guarded(&name)),
                    // Writing to memory cannot fail.
                    Some(cell) => _ = write!(text, "{cell}"),
                }
                writer.write_field(&text)?;
            }
            writer.write_record(None::<&[u8]>)?;
        }
        writer.flush()
    }

    /// Returns the table as CSV.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut bytes = Vec::new();
        // Writing to memory cannot fail.
        let _ = self.write_csv(&mut bytes);
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// Returns the table as JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let mut bytes = Vec::new();
        // Writing to memory cannot fail.
        let _ = self.write_json(&mut bytes);
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// Writes the table as JSON: metadata and one object per launch; a missing value is `null`.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_json(&self, to: impl io::Write) -> io::Result<()> {
        let mut columns: Vec<&(String, Cells<'p>)> = self.columns.iter().collect();
        columns.sort_by_key(|(name, _)| name);
        let metadata = self.metadata.iter().map(|(key, text)| (&**key, &**text)).collect();
        let launches = Launches { height: self.height, columns };
        crate::json::write(to, &Written { metadata, launches })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Table<'static> {
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

    /// Launches by name, time and bytes with origin and bounds.
    fn read(rows: &[&str]) -> Profile {
        let head = "kernel,duration_s,dram_bytes,dram_bytes_origin,dram_bytes_low,dram_bytes_high";
        let rest = "source,device_ordinal,launches,grid_x,threads_per_block";
        let rows: Vec<String> = rows.iter().map(|row| format!("{row},run,0,1,1,32\n")).collect();
        let text = format!("{head},{rest}\n{}", rows.concat());
        let options = crate::ingest::Options::default();
        crate::ingest::read_text("launches.csv", text.leak(), &options).unwrap()
    }

    #[test]
    fn what_only_the_last_launch_has_is_a_column() {
        let profile = read(&["a,1e-6,8,,,", "b,2e-6,8,algorithmic,0.5,2"]);
        let csv = Table::of(&profile).csv();
        let mut lines = csv.lines().map(|line| line.split(','));
        let at = lines.next().unwrap().position(|name| name == "dram_bytes_low").unwrap();
        let low: Vec<&str> = lines.map(|mut line| line.nth(at).unwrap()).collect();
        assert_eq!(low, ["", "0.5"]);
    }

    #[test]
    fn columns_of_two_profiles_lie_side_by_side() {
        let (long, short) = (read(&["a,1e-6,,,,", "b,2e-6,,,,"]), read(&["c,3e-6,,,,"]));
        let mut table = Table { height: 2, ..Table::default() };
        for name in ["kernel", "duration_s"] {
            for (from, profile) in [("long", &long), ("short", &short)] {
                let column = columns().iter().find(|column| column.name == name).unwrap();
                table.columns.push((format!("{name} {from}"), Cells::Launches(profile, column)));
            }
        }
        let expected = "kernel long,kernel short,duration_s long,duration_s short\n\
                        a,c,0.000001,0.000003\nb,,0.000002,\n";
        assert_eq!(table.csv(), expected);
        let json: Value = serde_json::from_str(&table.json()).unwrap();
        assert_eq!(json["launches"][1]["kernel long"], "b");
        assert_eq!(json["launches"][1]["kernel short"], Value::Null);
        assert_eq!(json["launches"][0]["duration_s short"], 3e-6);
    }
}
