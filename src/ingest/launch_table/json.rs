//! The launch table as JSON: `{"metadata": {…}, "launches": [{…}, …]}`, read launch by launch.
//!
//! Metadata say how quantities were derived, so they have to come first; where they do not, the text of the launches is
//! kept to the end of the document.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Launches, tell_unknown};
use crate::ingest::{IngestError, Reading};
use crate::plain;
use crate::table::{SCHEMA, guarded};

/// What to do with a document that is not whole.
const AGAIN: &str = "the file may be damaged or cut; convert the export again";

/// Reads all launches of the document.
pub(super) fn read(reading: &mut Reading<'_>) -> Result<Launches, IngestError> {
    let mut json = serde_json::Deserializer::from_reader(reading.json());
    let mut rows = Rows {
        reading,
        launches: Launches::default(),
        places: HashMap::new(),
        last: Vec::new(),
        cells: Vec::new(),
        number: 0,
        stopped: None,
    };
    let read = json.deserialize_map(Document(&mut rows)).and_then(|()| json.end());
    if let Err(error) = read {
        return Err(rows.stopped.take().unwrap_or_else(|| damaged(rows.reading, &error)));
    }
    let Rows { reading, mut launches, .. } = rows;
    let mut unknown = launches.header.unknown().to_vec();
    unknown.sort_unstable();
    tell_unknown(reading, &unknown);
    launches.width = launches.titles.len();
    Ok(launches)
}

fn damaged(reading: &Reading<'_>, error: &serde_json::Error) -> IngestError {
    if error.is_io() {
        // The parser adds how far it came, which is less far than what was read.
        let text = error.to_string();
        let cause = text.rsplit_once(" at line ").map_or(&*text, |(cause, _)| cause);
        return reading.error(format!("cannot read: {cause}")).help(AGAIN);
    }
    let line = u64::try_from(error.line()).unwrap_or_default();
    let message = format!("damaged launch table: {}", plain::json(error));
    reading.error(message).line(line).help(AGAIN)
}

struct Rows<'r, 'p> {
    reading: &'r mut Reading<'p>,
    launches: Launches,
    /// Columns by their names.
    places: HashMap<String, usize>,
    /// For each column, the number of the last launch that has it.
    last: Vec<u64>,
    /// The columns that a launch has a value in, and their texts.
    cells: Vec<(usize, String)>,
    /// Launches are counted: a document need not have lines.
    number: u64,
    /// The error that ends reading, if it is not one of the parser.
    stopped: Option<IngestError>,
}

impl Rows<'_, '_> {
    /// Takes the metadata.
    fn describe(&mut self, metadata: BTreeMap<String, String>) -> Result<(), IngestError> {
        match metadata.get("schema").map(String::as_str) {
            Some(SCHEMA) | None => {}
            Some(other) => {
                return Err(self
                    .reading
                    .error(format!(
                        "this is a launch table of an unsupported version: {other:?}, not {SCHEMA:?}"
                    ))
                    .help("convert the export again: rooflint convert EXPORT.csv -o launches.json"));
            }
        }
        self.launches.metadata = metadata;
        Ok(())
    }

    /// Reads the keys of one launch. What is missing or an empty text is left out, so that a launch costs what it has.
    fn launch<'de, A: MapAccess<'de>>(&mut self, mut map: A) -> Result<(), A::Error> {
        self.cells.clear();
        self.number += 1;
        while let Some(key) = map.next_key::<String>()? {
            let at = self.column(&key);
            if std::mem::replace(&mut self.last[at], self.number) == self.number {
                return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
            }
            let text = match map.next_value::<Value>()? {
                Value::Null => String::new(),
                Value::String(text) => guarded(&text),
                value => value.to_string(),
            };
            if !text.is_empty() {
                self.cells.push((at, text));
            }
        }
        self.cells.sort_by_key(|(at, _)| *at);
        let cells = &self.cells;
        let cell = |at: usize| {
            let place = cells.binary_search_by_key(&at, |(at, _)| *at);
            place.map_or(&[][..], |place| cells[place].1.as_bytes())
        };
        let filled = cells.iter().map(|(at, _)| *at);
        let added = self.launches.add(self.reading, cell, filled, self.number);
        added.map_err(|error| self.stop(error))
    }

    /// The position of a column; one that no launch had so far is added.
    fn column(&mut self, title: &str) -> usize {
        if let Some(at) = self.places.get(title) {
            return *at;
        }
        let at = self.last.len();
        self.launches.add_column(title);
        self.last.push(0);
        self.places.insert(title.to_owned(), at);
        at
    }

    /// Ends reading with an error that is not one of the parser.
    fn stop<E: serde::de::Error>(&mut self, error: IngestError) -> E {
        self.stopped = Some(error);
        E::custom("stopped")
    }
}

/// The whole document.
struct Document<'a, 'r, 'p>(&'a mut Rows<'r, 'p>);

impl<'de> Visitor<'de> for Document<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a launch table with \"metadata\" and \"launches\"")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(rows) = self;
        let (mut is_described, mut are_there) = (false, false);
        let mut later: Option<Box<RawValue>> = None;
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "metadata" if is_described => {
                    return Err(A::Error::duplicate_field("metadata"));
                }
                "launches" if are_there => return Err(A::Error::duplicate_field("launches")),
                "metadata" => {
                    let Metadata(metadata) = map.next_value()?;
                    rows.describe(metadata).map_err(|error| rows.stop::<A::Error>(error))?;
                    is_described = true;
                }
                "launches" if is_described => {
                    map.next_value_seed(All(&mut *rows))?;
                    are_there = true;
                }
                "launches" => {
                    later = Some(map.next_value()?);
                    are_there = true;
                }
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        if !are_there {
            return Err(A::Error::missing_field("launches"));
        }
        let Some(text) = later else { return Ok(()) };
        let mut json = serde_json::Deserializer::from_str(text.get());
        All(&mut *rows).deserialize(&mut json).map_err(|error| {
            // Its line is one of the text that was kept, and not of the file.
            let (number, why) = (rows.number, plain::json_alone(&error));
            let message = format!("damaged launch table: launch {number}: {why}");
            rows.stopped.get_or_insert_with(|| rows.reading.error(message).help(AGAIN));
            A::Error::custom("stopped")
        })
    }
}

/// What a table says of itself, each key once.
#[derive(Deserialize)]
#[serde(transparent)]
struct Metadata(#[serde(deserialize_with = "crate::json::unique")] BTreeMap<String, String>);

/// The array of launches.
struct All<'a, 'r, 'p>(&'a mut Rows<'r, 'p>);

impl<'de> DeserializeSeed<'de> for All<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for All<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of launches")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut launches: A) -> Result<(), A::Error> {
        while launches.next_element_seed(One(&mut *self.0))?.is_some() {}
        Ok(())
    }
}

/// A launch.
struct One<'a, 'r, 'p>(&'a mut Rows<'r, 'p>);

impl<'de> DeserializeSeed<'de> for One<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for One<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a launch by its columns")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<(), A::Error> {
        self.0.launch(map)
    }
}
