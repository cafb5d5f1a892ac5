//! Tables of Google's visualization library as JSON, `{"cols": [{"label": …}], "rows": [{"c": [{"v": …}]}]}`, as XProf
//! writes them.

use std::borrow::Cow;
use std::fmt;
use std::io::BufReader;

use serde::Deserialize;
use serde::de::Visitor;
use serde::de::{DeserializeSeed, Deserializer as _, Error as _, IgnoredAny, MapAccess, SeqAccess};
use serde_json::Deserializer;
use serde_json::value::RawValue;

use super::filtered::LeftOut;
use super::header::lacks;
use super::mapping::Mapping;
use super::table::Table;
use crate::ingest::decimal::DecimalSign;
use crate::ingest::json::{Json, Lines, damaged};
use crate::ingest::rows::Row;
use crate::ingest::{IngestError, Numerals, Reading, Sample};
use crate::plain::json_alone;

/// Bytes that are read from a file at once.
const BUFFER: usize = 1 << 16;

/// The titles of a table whose beginning this is.
pub(in crate::ingest) fn titles(sample: &Sample) -> Option<Vec<String>> {
    let text = sample.text().trim_start();
    let text = text.strip_prefix('{')?.trim_start().strip_prefix("\"cols\"")?;
    let text = text.trim_start().strip_prefix(':')?;
    // The sample may end in the middle of the rows.
    let columns = Deserializer::from_str(text).into_iter::<Vec<Title>>().next()?.ok()?;
    Some(columns.into_iter().map(|column| column.label).collect())
}

/// A column; formats of its numbers are not looked at.
#[derive(Deserialize)]
struct Title {
    label: String,
}

/// A row: its cells, of which some may be `null`.
#[derive(Deserialize)]
struct Cells<'a> {
    #[serde(borrow)]
    c: Vec<Option<Cell<'a>>>,
}

#[derive(Deserialize)]
struct Cell<'a> {
    #[serde(borrow)]
    v: Option<&'a RawValue>,
}

/// Reads all rows.
pub(super) fn read(reading: &mut Reading<'_>, mapping: &Mapping) -> Result<LeftOut, IngestError> {
    let json = Json::new(BufReader::with_capacity(BUFFER, reading.bytes()));
    let lines = json.lines();
    let numerals = Numerals::new(DecimalSign::Point, true, false);
    reading.source.numerals = numerals.to_string();
    let mut rows = Rows {
        reading,
        mapping,
        numerals,
        lines,
        width: 0,
        table: None,
        row: Row::default(),
        stopped: None,
    };
    let mut json = Deserializer::from_reader(json);
    let result = json.deserialize_map(Document(&mut rows)).and_then(|()| json.end());
    if let Err(error) = result {
        let stopped = rows.stopped.take();
        return Err(stopped.unwrap_or_else(|| damaged(rows.reading, &error, &rows.lines)));
    }
    let Rows { reading, table, .. } = rows;
    Ok(table.map(|table| table.end(reading, LeftOut::default())).unwrap_or_default())
}

struct Rows<'r, 'p, 'm> {
    reading: &'r mut Reading<'p>,
    mapping: &'m Mapping,
    numerals: Numerals,
    lines: Lines,
    /// How many columns there are.
    width: usize,
    table: Option<Table<'m>>,
    row: Row,
    /// The error that ends reading, if it is none of JSON.
    stopped: Option<IngestError>,
}

impl Rows<'_, '_, '_> {
    fn begin(&mut self, titles: &[String]) -> Result<(), IngestError> {
        lacks(self.reading, self.mapping, titles)?;
        self.width = titles.len();
        self.table = Some(Table::new(self.reading, self.mapping, titles, self.numerals));
        Ok(())
    }

    fn row(&mut self, cells: &Cells<'_>) -> Result<(), IngestError> {
        let line = self.lines.get();
        let (mut text, mut places) = (String::new(), Vec::new());
        for cell in &cells.c {
            let start = text.len();
            match cell.as_ref().and_then(|cell| cell.v).map(RawValue::get) {
                // What `Json` makes of NaN is missing, too.
                None | Some("null" | "[ ]") => {}
                Some(value) => match serde_json::from_str::<Cow<'_, str>>(value) {
                    Ok(value) => text.push_str(&value),
                    Err(_) => text.push_str(value),
                },
            }
            places.push((start, text.len(), false));
        }
        let found = places.len();
        self.row.set(text.as_bytes(), line, places.into_iter());
        let Some(table) = &mut self.table else {
            return Err(self.reading.error("the rows come before the columns").line(line));
        };
        if found != self.width {
            self.reading.source.rows += 1;
            let reason = format!("row has {found} cells, the table {} columns", self.width);
            return self.reading.skip(line, None, &self.row.whole(), reason);
        }
        table.launch(self.reading, &self.row)
    }
}

/// The whole document.
struct Document<'a, 'r, 'p, 'm>(&'a mut Rows<'r, 'p, 'm>);

impl<'de> Visitor<'de> for Document<'_, '_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table with \"cols\" and \"rows\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "cols" => {
                    let columns = map.next_value::<Vec<Title>>()?;
                    let titles: Vec<String> = columns.into_iter().map(|one| one.label).collect();
                    self.0.begin(&titles).map_err(|error| {
                        self.0.stopped = Some(error);
                        A::Error::custom("stopped")
                    })?;
                }
                "rows" => map.next_value_seed(All(&mut *self.0))?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

/// The array of rows.
struct All<'a, 'r, 'p, 'm>(&'a mut Rows<'r, 'p, 'm>);

impl<'de> DeserializeSeed<'de> for All<'_, '_, '_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for All<'_, '_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        // As a text of its own: cells borrow from it.
        while let Some(row) = rows.next_element::<Box<RawValue>>()? {
            let cells: Cells<'_> = serde_json::from_str(row.get())
                .map_err(|error| A::Error::custom(json_alone(&error)))?;
            self.0.row(&cells).map_err(|error| {
                self.0.stopped = Some(error);
                A::Error::custom("stopped")
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Options, read_text};
    use crate::model::{Profile, Quantity};

    const COLS: &str = r#"{"cols": [{"id": "rank", "label": "Rank", "type": "number"},
        {"id": "kernel_name", "label": "Kernel Name"}, {"id": "registers_per_thread", "label": "Registers per thread"},
        {"id": "shmem_bytes", "label": "Shared Mem bytes"}, {"id": "block_dim", "label": "Block dim"},
        {"id": "grid_dim", "label": "Grid dim"}, {"id": "op_name", "label": "Op Name"},
        {"id": "occurrences", "label": "Occurrences"}, {"id": "total_duration_us", "label": "Total Duration (\u03bcs)"}]"#;

    fn read(rest: &str) -> Result<Profile, String> {
        let text = format!("{COLS}{rest}").leak();
        let read = read_text("kernel_stats.json", text, &Options::default());
        read.map_err(|error| format!("{error} | {}", error.next_step().unwrap_or_default()))
    }

    fn row(name: &str, count: &str, total: &str) -> String {
        format!(
            r#"{{"c": [{{"v": 1.0}}, {{"v": {name}}}, {{"v": 32.0}}, {{"v": 0.0}}, {{"v": "64,1,1"}}, {{"v": "10,2,1"}}, {{"v": null}}, {{"v": {count}, "f": "x"}}, {{"v": {total}}}]}}"#
        )
    }

    #[test]
    fn rows_of_cells_are_kernels() {
        let rows = [row("\"add<\\\"a\\\", 2>\"", "4.0", "10.5"), row("\"mul\"", "1.0", "3e0")];
        let profile =
            read(&format!(", \"rows\": [{}], \"p\": {{\"a\": [1]}}}}", rows.join(","))).unwrap();
        assert_eq!(profile.launches.len(), 2);
        let [add, mul] = [0, 1].map(|row| profile.launch(row));
        assert_eq!((add.kernel(), add.head.count), ("add<\"a\", 2>", 4));
        assert_eq!(add.value(Quantity::Duration), Some(10.5e-6 / 4.0));
        assert_eq!((add.head.shape.blocks, add.head.shape.threads_per_block), (Some(20), Some(64)));
        assert_eq!(add.value(Quantity::RegistersPerThread), Some(32.0));
        assert_eq!(mul.value(Quantity::Duration), Some(3e0 * 1e-6));
        let source = &profile.sources[0];
        assert_eq!((source.format.as_str(), source.rows, source.skips.count), ("xprof", 2, 0));
    }

    #[test]
    fn what_is_damaged_is_counted_or_refused() {
        let good = row("\"add\"", "4.0", "10.5");
        let short = "{\"c\": [{\"v\": 1}, null]}";
        let profile = read(&format!(", \"rows\": [{good},\n{short}]}}")).unwrap();
        let skips = &profile.sources[0].skips;
        assert_eq!(
            (skips.count, skips.first[0].reason.as_str()),
            (1, "row has 2 cells, the table 9 columns")
        );
        for (text, says) in [
            (format!(", \"rows\": [{good},"), "damaged JSON: the JSON ends too early"),
            (format!(", \"rows\": [{good}, 7]}}"), "unexpected JSON: expected"),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
        let unknown = read(&format!(", \"rows\": [{}]}}", row("\"add\"", "4.0", "NaN"))).unwrap();
        assert_eq!(unknown.launch(0).value(Quantity::Duration), None);
        let error = read(", \"rows\": []}").unwrap_err();
        assert!(error.contains("holds no kernel launch"), "{error}");
    }
}
