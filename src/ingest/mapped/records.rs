//! Records of JSON as rows: an array of objects, objects one after the other (NDJSON), or an array under a key.
//!
//! A nested value has a path for a name (`args.dur`), and the numbers of an array are one text (`128,1,1`). A number has a
//! decimal point, but one that is a text may be written in any way: its file is read once, so what leaves a doubt is refused.

use std::borrow::Cow;
use std::fmt;
use std::io::BufReader;

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Deserializer;
use serde_json::value::RawValue;

use super::evidence::numeric;
use super::filtered::LeftOut;
use super::header::missing;
use super::mapping::Mapping;
use super::table::Table;
use super::units::number_of;
use crate::ingest::decimal::{Content, DecimalSign, Evidence, Verdict};
use crate::ingest::json::{Json, Lines, damaged};
use crate::ingest::rows::Row;
use crate::ingest::{IngestError, Numerals, Reading};
use crate::plain::json_alone;

/// Bytes that are read from a file at once.
const BUFFER: usize = 1 << 16;

/// Reads all records of the document.
pub(super) fn read(reading: &mut Reading<'_>, mapping: &Mapping) -> Result<LeftOut, IngestError> {
    let titles: Vec<String> = mapping.columns().into_iter().map(str::to_owned).collect();
    // The parser takes byte by byte, so that the line is that of the record it is at.
    let json = Json::new(BufReader::with_capacity(BUFFER, reading.bytes()));
    let lines = json.lines();
    let sign = reading.decimal_sign().unwrap_or_default();
    let numerals = Numerals::new(sign, true, false);
    reading.source.numerals = numerals.to_string();
    let table = Table::new(reading, mapping, &titles, numerals);
    let seen = vec![false; titles.len()];
    let numeric = numeric(mapping, |column| titles.iter().position(|title| title == column));
    let mut records = Records {
        reading,
        mapping,
        table,
        titles,
        seen,
        sign,
        numeric,
        evidence: Evidence::default(),
        lines,
        row: Row::default(),
        stopped: None,
    };
    let mut json = Deserializer::from_reader(json);
    while json.end().is_err() {
        let result = Document { records: &mut records, is_inside: false }.deserialize(&mut json);
        if let Err(error) = result {
            let stopped = records.stopped.take();
            return Err(stopped.unwrap_or_else(|| damaged(records.reading, &error, &records.lines)));
        }
    }
    let Records { reading, table, titles, seen, evidence, .. } = records;
    // A column that no record has is a name that was mistaken.
    if let Some((column, _)) =
        titles.iter().zip(seen).find(|(title, seen)| !seen && !mapping.is_optional(title))
    {
        return Err(missing(reading, mapping, column, &[]));
    }
    if evidence.verdict() != Verdict::Nothing
        && reading.numerals(&evidence, false)?.decimal_mark() != numerals.decimal_mark()
    {
        let cell = evidence.comma().unwrap_or_default();
        return Err(reading
            .error(format!("quoted numbers have a decimal comma, such as {cell:?}"))
            .help("add --decimal-sign comma; in a mapping: decimal = \",\""));
    }
    Ok(table.end(reading, LeftOut::default()))
}

struct Records<'r, 'p, 'm> {
    reading: &'r mut Reading<'p>,
    mapping: &'m Mapping,
    table: Table<'m>,
    titles: Vec<String>,
    /// Which columns a record had.
    seen: Vec<bool>,
    /// The decimal sign of texts.
    sign: DecimalSign,
    /// The columns with numbers, and what they hold.
    numeric: Vec<(usize, Content)>,
    /// What texts in them show of how they are written.
    evidence: Evidence,
    lines: Lines,
    row: Row,
    /// The error that ends reading, if it is none of JSON.
    stopped: Option<IngestError>,
}

impl Records<'_, '_, '_> {
    /// The launch of one record.
    fn record<'de, A: MapAccess<'de>>(&mut self, map: A) -> Result<(), A::Error> {
        let line = self.lines.get();
        let mut cells = Cells {
            titles: &self.titles,
            numeric: &self.numeric,
            sign: self.sign,
            text: String::new(),
            at: vec![None; self.titles.len()],
            is_text: vec![false; self.titles.len()],
            rest: self.mapping.launches.as_ref().map(|_| String::new()),
            twice: None,
        };
        cells.object(map, "")?;
        let Cells { mut text, at, is_text, rest, twice, .. } = cells;
        text.extend(rest);
        for (column, content) in self.numeric.iter().filter(|(column, _)| is_text[*column]) {
            let (start, end) = at[*column].unwrap_or_default();
            let place = || Some((line, self.titles[*column].clone()));
            self.evidence.add(number_of(&text.as_bytes()[start..end]), *content, place);
        }
        for (seen, at) in self.seen.iter_mut().zip(&at) {
            *seen |= at.is_some();
        }
        let places = at.into_iter().map(Option::unwrap_or_default);
        self.row.set(text.as_bytes(), line, places.map(|(start, end)| (start, end, false)));
        let result = match twice {
            Some(column) => {
                self.reading.source.rows += 1;
                let column = &self.titles[column];
                self.reading.skip(line, Some(column), "", "the key is given twice")
            }
            None => self.table.launch(self.reading, &self.row),
        };
        result.map_err(|error| {
            self.stopped = Some(error);
            A::Error::custom("stopped")
        })
    }
}

/// A document, or the part of it that holds the records.
struct Document<'a, 'r, 'p, 'm> {
    records: &'a mut Records<'r, 'p, 'm>,
    /// Whether this is the value of the key `records`.
    is_inside: bool,
}

impl<'de> DeserializeSeed<'de> for Document<'_, '_, '_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_, '_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record or an array of records")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut array: A) -> Result<(), A::Error> {
        while array.next_element_seed(One(&mut *self.records))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let key = self.records.mapping.records.as_deref().filter(|_| !self.is_inside);
        let Some(key) = key else { return self.records.record(map) };
        let mut is_there = false;
        while let Some(found) = map.next_key::<String>()? {
            if found == key {
                is_there = true;
                map.next_value_seed(Document { records: &mut *self.records, is_inside: true })?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        if is_there {
            return Ok(());
        }
        let error = self.records.reading.error(format!("the document has no key {key:?}"));
        self.records.stopped =
            Some(error.help(format!("correct `records` in {}", self.records.mapping.path)));
        Err(A::Error::custom("stopped"))
    }
}

/// An element of an array of records.
struct One<'a, 'r, 'p, 'm>(&'a mut Records<'r, 'p, 'm>);

impl<'de> DeserializeSeed<'de> for One<'_, '_, '_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for One<'_, '_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.record(map)
    }
}

/// The cells of a record, one after the other in a text.
struct Cells<'a> {
    titles: &'a [String],
    /// The columns with numbers.
    numeric: &'a [(usize, Content)],
    /// That of numbers, too, once they are in the text.
    sign: DecimalSign,
    text: String,
    at: Vec<Option<(usize, usize)>>,
    /// Which cells are texts.
    is_text: Vec<bool>,
    /// The keys that are not mapped and their values, where records of several launches are compared by all that they have.
    rest: Option<String>,
    /// A column that the record has twice.
    twice: Option<usize>,
}

impl Cells<'_> {
    fn object<'de, A: MapAccess<'de>>(&mut self, mut map: A, path: &str) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            let path = if path.is_empty() { key } else { format!("{path}.{key}") };
            let is_below = |title: &String| {
                title.strip_prefix(&*path).is_some_and(|rest| rest.starts_with('.'))
            };
            let column = self.titles.iter().position(|title| *title == path);
            if column.is_none() && !self.titles.iter().any(is_below) {
                match &mut self.rest {
                    Some(rest) => {
                        rest.push_str(&path);
                        rest.push_str(map.next_value::<Box<RawValue>>()?.get());
                    }
                    None => drop(map.next_value::<IgnoredAny>()?),
                }
                continue;
            }
            // As it is written: a float would lose digits of an instant.
            let value = map.next_value::<Box<RawValue>>()?;
            let start = self.text.len();
            if let Some(column) = column {
                self.is_text[column] = value.get().starts_with('"');
                self.value(value.get(), false)
                    .map_err(|error| A::Error::custom(json_alone(&error)))?;
                let is_number = |(at, _): &(usize, Content)| *at == column;
                if self.sign == DecimalSign::Comma
                    && !self.is_text[column]
                    && self.numeric.iter().any(is_number)
                {
                    let number = self.text.split_off(start).replace('.', ",");
                    self.text.push_str(&number);
                }
                if self.at[column].replace((start, self.text.len())).is_some() {
                    self.twice = Some(column);
                }
            } else if value.get().starts_with('{') {
                let mut inner = Deserializer::from_str(value.get());
                Inner { cells: self, path: &path }
                    .deserialize(&mut inner)
                    .map_err(|error| A::Error::custom(json_alone(&error)))?;
            }
        }
        Ok(())
    }

    /// Appends a value; the elements of an array with commas between them.
    fn value(&mut self, json: &str, is_element: bool) -> Result<(), serde_json::Error> {
        match json.as_bytes().first() {
            Some(b'"') => self.text.push_str(&serde_json::from_str::<Cow<'_, str>>(json)?),
            Some(b'[') if !is_element => {
                let elements: Vec<&RawValue> = serde_json::from_str(json)?;
                for (number, element) in elements.into_iter().enumerate() {
                    if number > 0 {
                        self.text.push(',');
                    }
                    self.value(element.get(), true)?;
                }
            }
            Some(b'n' | b'{' | b'[') | None => {}
            Some(_) => self.text.push_str(json),
        }
        Ok(())
    }
}

/// An object inside a record.
struct Inner<'c, 'a> {
    cells: &'c mut Cells<'a>,
    path: &'c str,
}

impl<'de> DeserializeSeed<'de> for Inner<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Inner<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.cells.object(map, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::{Options, read_text};
    use crate::model::Quantity;

    const MAP: &str = "[columns]\nkernel = 'name'\ntime = { column = 'dur', unit = 'us' }\n";

    /// The times of the kernels in microseconds, or the error and what to do.
    fn times(values: &[&str], sign: &str) -> Result<Vec<f64>, String> {
        let map = Some(Mapping::from_toml(&format!("{sign}{MAP}"), "map.toml").unwrap());
        let record = |value: &&str| format!("{{\"name\": \"k\", \"dur\": {value}}}\n");
        let text: String = values.iter().map(record).collect();
        let options = Options { map, ..Options::default() };
        let found = read_text("run.json", &text, &options)
            .map_err(|error| format!("{error} | {}", error.next_step().unwrap_or_default()))?;
        assert_eq!(found.sources[0].skips.count, 0);
        let time = |seconds: f64| (seconds * 1e12).round() / 1e6;
        Ok(found.iter().map(|one| time(one.value(Quantity::Duration).unwrap())).collect())
    }

    /// A layer that is not mapped makes two kernels; the list a second time is a copy.
    #[test]
    fn records_of_several_launches_that_differ_in_another_key_all_count() {
        let map = format!("{MAP}launches = {{ column = 'n', values = 'average' }}\n");
        let record = |layer: u32| {
            format!("{{\"name\": \"k\", \"dur\": 5, \"n\": 2, \"args\": {{\"layer\": {layer}}}}}\n")
        };
        let launches = |text: &str| {
            let map = Some(Mapping::from_toml(&map, "map.toml").unwrap());
            let found =
                read_text("run.json", text, &Options { map, ..Options::default() }).unwrap();
            found.iter().map(|one| one.head.count).sum::<u32>()
        };
        let list = record(1) + &record(2);
        assert_eq!(launches(&list), 4);
        assert_eq!(launches(&list.repeat(2)), 4);
    }

    /// As Python writes it. A launch without a time is one; infinity is no time.
    #[test]
    fn not_a_number_is_missing() {
        let map = "[columns]\nkernel = 'name'\ntime = { column = 'dur', unit = 'us' }\nbytes = { column = 'b', unit = 'B' }\n";
        let read = |dur: &str, bytes: &str| {
            let map = Some(Mapping::from_toml(map, "map.toml").unwrap());
            let text = format!("[{{\"name\": \"NaN\", \"dur\": {dur}, \"b\": {bytes}}}]");
            read_text("run.json", &text, &Options { map, ..Options::default() })
        };
        for (dur, bytes, time, amount) in
            [("5", "NaN", Some(5e-6), None), ("NaN", "8", None, Some(8.0))]
        {
            let profile = read(dur, bytes).unwrap();
            let one = profile.launch(0);
            assert_eq!((one.kernel(), profile.sources[0].skips.count), ("NaN", 0));
            let found = one.value(Quantity::Duration).map(|time| (time * 1e9).round() / 1e9);
            assert_eq!((found, one.value(Quantity::DramBytes)), (time, amount));
        }
        let error = read("Infinity", "8").unwrap_err();
        assert!(
            error.to_string().contains("run.json:1: damaged JSON: column 25: expected value"),
            "{error}"
        );
        assert!(error.next_step().unwrap().contains("numbers are finite"));
    }

    #[test]
    fn numbers_that_are_texts_are_read_as_they_are_written_or_refused() {
        let asked = "run.json:2: column \"dur\": the comma of numbers such as \"12,345\" may be of decimals or of \
                     thousands | add --decimal-sign comma or --decimal-sign point; in a mapping: decimal = \",\" or \
                     decimal = \".\"";
        let open = ["1.5", "\"12,345\""];
        assert_eq!(times(&open, "").unwrap_err(), asked);
        assert_eq!(times(&open, "decimal = ','\n").unwrap(), [1.5, 12.345]);
        assert_eq!(times(&open, "decimal = '.'\n").unwrap(), [1.5, 12_345.0]);
        // Behind it stands what decides.
        let points = ["\"12,345\"", "\"1,234.5\"", "7"];
        assert_eq!(times(&points, "").unwrap(), [12_345.0, 1_234.5, 7.0]);
        let commas = ["\"12,345\"", "\"1.234,5\""];
        assert_eq!(
            times(&commas, "").unwrap_err(),
            "run.json: quoted numbers have a decimal comma, such as \"1.234,5\" | add --decimal-sign comma; in \
             a mapping: decimal = \",\""
        );
        assert_eq!(times(&commas, "decimal = ','\n").unwrap(), [12.345, 1_234.5]);
        assert!(times(&commas, "decimal = '.'\n").unwrap_err().contains("have a decimal comma"));
        // A number has a point, whatever texts have.
        assert_eq!(
            times(&["1.234", "1e1", "\"5\""], "decimal = ','\n").unwrap(),
            [1.234, 10.0, 5.0]
        );
    }
}
