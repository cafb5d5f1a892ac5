//! Records of JSON as rows: an array of objects, objects one after the other (NDJSON), or an array under a key.
//!
//! A nested value has a path for a name (`args.dur`), and the numbers of an array are one text (`128,1,1`).

use std::borrow::Cow;
use std::fmt;
use std::io::BufReader;

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Deserializer;
use serde_json::value::RawValue;

use super::mapping::Mapping;
use super::table::Table;
use super::{LeftOut, missing};
use crate::ingest::decimal::DecimalSign;
use crate::ingest::json::{Json, Lines};
use crate::ingest::rows::Row;
use crate::ingest::{IngestError, Numerals, Reading};
use crate::plain;

/// Bytes that are read from a file at once.
const BUFFER: usize = 1 << 16;

/// Reads all records of the document.
pub(super) fn read(reading: &mut Reading<'_>, mapping: &Mapping) -> Result<LeftOut, IngestError> {
    let titles: Vec<String> = mapping.columns().into_iter().map(str::to_owned).collect();
    // The parser takes byte by byte, so that the line is that of the record it is at.
    let json = Json::new(BufReader::with_capacity(BUFFER, reading.bytes()));
    let lines = json.lines();
    // JSON knows one way to write numbers.
    let numerals = Numerals::new(DecimalSign::Point, true, false);
    reading.source.numerals = numerals.to_string();
    let table = Table::new(reading, mapping, &titles, numerals);
    let seen = vec![false; titles.len()];
    let mut records = Records {
        reading,
        mapping,
        table,
        titles,
        seen,
        lines,
        row: Row::default(),
        stopped: None,
    };
    let mut json = Deserializer::from_reader(json);
    while json.end().is_err() {
        let result = Document { records: &mut records, is_inside: false }.deserialize(&mut json);
        if let Err(error) = result {
            return Err(records.stopped.take().unwrap_or_else(|| records.damaged(&error)));
        }
    }
    let Records { reading, table, titles, seen, .. } = records;
    // A column that no record has is a name that was mistaken.
    if let Some((column, _)) =
        titles.iter().zip(seen).find(|(title, seen)| !seen && !mapping.is_optional(title))
    {
        return Err(missing(reading, mapping, column, &[]));
    }
    Ok(table.end(reading, None))
}

struct Records<'r, 'p, 'm> {
    reading: &'r mut Reading<'p>,
    mapping: &'m Mapping,
    table: Table<'m>,
    titles: Vec<String>,
    /// Which columns a record had.
    seen: Vec<bool>,
    lines: Lines,
    row: Row,
    /// The error that ends reading, if it is none of JSON.
    stopped: Option<IngestError>,
}

impl Records<'_, '_, '_> {
    fn damaged(&self, error: &serde_json::Error) -> IngestError {
        let error = self.reading.error(format!("damaged JSON: {}", plain::json(error)));
        error.line(self.lines.get()).help("the file may be cut; write it again")
    }

    /// The launch of one record.
    fn record<'de, A: MapAccess<'de>>(&mut self, map: A) -> Result<(), A::Error> {
        let line = self.lines.get();
        let mut cells =
            Cells { titles: &self.titles, text: String::new(), at: Vec::new(), twice: None };
        cells.at.resize(self.titles.len(), None);
        cells.object(map, "")?;
        let Cells { text, at, twice, .. } = cells;
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
    text: String,
    at: Vec<Option<(usize, usize)>>,
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
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            // As it is written: a float would lose digits of an instant.
            let value = map.next_value::<Box<RawValue>>()?;
            let start = self.text.len();
            if let Some(column) = column {
                self.value(value.get(), false).map_err(A::Error::custom)?;
                if self.at[column].replace((start, self.text.len())).is_some() {
                    self.twice = Some(column);
                }
            } else if value.get().starts_with('{') {
                let mut inner = Deserializer::from_str(value.get());
                Inner { cells: self, path: &path }
                    .deserialize(&mut inner)
                    .map_err(A::Error::custom)?;
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
