//! The launch table as JSON: `{"metadata": {…}, "launches": [{…}, …]}`, read launch by launch.
//!
//! Metadata say how quantities were derived, so they have to come first; where they do not, the launches are kept as
//! they are written until the metadata come.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{Launches, tell_unknown};
use crate::ingest::document::{Document, Fault, LIST, OBJECT, Written, twice};
use crate::ingest::scan::Spot;
use crate::ingest::{IngestError, Reading};
use crate::plain;
use crate::table::guarded;

/// What the document is, and what to do where it is not whole.
const TABLE: [&str; 2] =
    ["launch table", "the file may be damaged or cut; convert the export again"];

/// A value of a launch has at most this many bytes, as a field of a table.
const LONGEST: usize = 1 << 20;

/// Launches before the metadata take at most this many bytes.
const MOST_KEPT: usize = 1 << 30;

/// Reads all launches of the document.
pub(super) fn read(reading: &mut Reading<'_>) -> Result<Launches, IngestError> {
    let mut document = Document::new(reading);
    let mut rows = Rows {
        reading,
        launches: Launches::default(),
        places: HashMap::new(),
        last: Vec::new(),
        number: 0,
    };
    let is_read = rows.read(&mut document);
    let Rows { reading, mut launches, .. } = rows;
    is_read.map_err(|fault| document.error(reading, fault, TABLE))?;
    let mut unknown = launches.header.unknown().to_vec();
    unknown.sort_unstable();
    tell_unknown(reading, &unknown);
    launches.width = launches.titles.len();
    Ok(launches)
}

struct Rows<'r, 'p> {
    reading: &'r mut Reading<'p>,
    launches: Launches,
    /// Columns by their names.
    places: HashMap<String, usize>,
    /// For each column, the number of the last launch that has it.
    last: Vec<u64>,
    /// Launches are counted: a document need not have lines.
    number: u64,
}

impl Rows<'_, '_> {
    fn read(&mut self, document: &mut Document) -> Result<(), Fault> {
        let (mut is_described, mut are_there) = (false, false);
        // Launches before the metadata.
        let (mut kept, mut bytes) = (Vec::new(), 0);
        let mut goes_on = document.open(OBJECT, "the document must begin with {")?;
        while goes_on {
            let (spot, key) = document.key()?;
            match key.as_str() {
                "metadata" if is_described => return Err(twice(spot, &key)),
                "launches" if are_there => return Err(twice(spot, &key)),
                "metadata" => {
                    let Metadata(metadata) = document.value()?.read()?;
                    self.launches.describe(self.reading, metadata)?;
                    is_described = true;
                }
                "launches" => {
                    are_there = true;
                    let mut goes_on = document.open(LIST, "\"launches\" is not a list")?;
                    while goes_on {
                        let launch = document.value()?;
                        if is_described {
                            self.launch(launch)?;
                        } else {
                            bytes += launch.text.len() + size_of::<(Spot, Vec<u8>)>();
                            if bytes > MOST_KEPT {
                                let why = "more than 1 GiB of launches come before \"metadata\"";
                                return Err(Fault::At(launch.start, why.to_owned()));
                            }
                            kept.push((launch.start, launch.text.to_vec()));
                        }
                        goes_on = document.more(b']')?;
                    }
                }
                _ => {
                    let IgnoredAny = document.value()?.read()?;
                }
            }
            goes_on = document.more(b'}')?;
        }
        document.end()?;
        if !are_there {
            return Err(Fault::At(document.spot()?, "\"launches\" is missing".to_owned()));
        }
        kept.iter().try_for_each(|(start, text)| self.launch(Written { start: *start, text }))
    }

    /// Reads one launch. What is missing or an empty text is left out, so that a launch costs what it has.
    fn launch(&mut self, launch: Written<'_>) -> Result<(), Fault> {
        self.number += 1;
        let mut cells = Cells { rows: self, cells: Vec::new() };
        let mut json = serde_json::Deserializer::from_slice(launch.text);
        let is_read = (&mut cells).deserialize(&mut json).and_then(|()| json.end());
        let mut cells = cells.cells;
        is_read.map_err(|error| launch.fault(&error))?;
        cells.sort_by_key(|(at, _)| *at);
        let cell = |at: usize| {
            let place = cells.binary_search_by_key(&at, |(at, _)| *at);
            place.map_or(&[][..], |place| cells[place].1.as_bytes())
        };
        let filled = cells.iter().map(|(at, _)| *at);
        self.launches.add(self.reading, cell, filled, self.number)?;
        Ok(())
    }

    /// The position of a column, most likely this one; one that no launch had so far is added.
    fn column(&mut self, title: &str, likely: usize) -> usize {
        if self.launches.titles.get(likely).is_some_and(|there| there == title) {
            return likely;
        }
        if let Some(at) = self.places.get(title) {
            return *at;
        }
        let at = self.last.len();
        self.launches.add_column(title);
        self.last.push(0);
        self.places.insert(title.to_owned(), at);
        at
    }
}

/// What a table says of itself, each key once.
#[derive(Deserialize)]
#[serde(transparent)]
struct Metadata(#[serde(deserialize_with = "crate::json::unique")] BTreeMap<String, String>);

/// A text, borrowed where it has no escapes.
#[derive(Deserialize)]
#[serde(transparent)]
struct Word<'a>(#[serde(borrow)] Cow<'a, str>);

/// The columns in which a launch has a value, and their texts.
struct Cells<'a, 'r, 'p, 'de> {
    rows: &'a mut Rows<'r, 'p>,
    cells: Vec<(usize, Cow<'de, str>)>,
}

impl<'de> DeserializeSeed<'de> for &mut Cells<'_, '_, '_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Cells<'_, '_, '_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a launch by its columns")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Cells { rows, cells } = self;
        let mut likely = 0;
        while let Some(Word(key)) = map.next_key()? {
            let at = rows.column(&key, likely);
            likely = at + 1;
            if std::mem::replace(&mut rows.last[at], rows.number) == rows.number {
                return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
            }
            let text = cell(map.next_value::<&RawValue>()?.get())
                .map_err(|error| A::Error::custom(plain::json_alone(&error)))?;
            if text.len() > LONGEST {
                return Err(A::Error::custom("a value exceeds 1 MiB"));
            }
            if !text.is_empty() {
                cells.push((at, text));
            }
        }
        Ok(())
    }
}

/// A value as the cell of a table.
fn cell(value: &str) -> Result<Cow<'_, str>, serde_json::Error> {
    Ok(match value.as_bytes() {
        b"null" => Cow::default(),
        [b'"', ..] => {
            let Word(text) = serde_json::from_str(value)?;
            guarded(&text).into()
        }
        [b'{' | b'[', ..] => serde_json::from_str::<serde_json::Value>(value)?.to_string().into(),
        _ => value.into(),
    })
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Options, read_text};

    #[test]
    fn a_fault_in_a_document_is_told_by_its_place() {
        let start = "{\"for\": \"rooflint/launches/1\",\n \"launches\": [{\"kernel\": \"a\"},\n\n";
        for (rest, told) in [
            (
                "{\"kernel\": \"b\",\n\"kernel\": \"c\"}]}",
                "5, column 8: key \"kernel\" is given twice",
            ),
            ("  {\"kernel\": b}]}", "4, column 14: expected value"),
            ("  {\"kernel\": \"b\"} {}]}", "4, column 19: missing comma between values"),
            ("{}], \"launches\": []}", "4, column 6: key \"launches\" is given twice"),
            ("{}], launches: []}", "4, column 6: expected value"),
            (
                "{}], \"metadata\": {\"a\": 1}}",
                "4, column 24: expected text in quotes, found the number 1",
            ),
            ("{}]} 7", "4, column 6: unexpected data after the end of the document"),
            ("{\"kernel\": \"b\"", "4, column 1: the JSON ends too early; the file is cut off"),
        ] {
            let text = format!("{start}{rest}").leak();
            let error = read_text("t.json", text, &Options::default()).unwrap_err().to_string();
            let line = &told[..1];
            assert_eq!(
                error,
                format!("t.json:{line}: damaged launch table: line {told}"),
                "{rest}"
            );
        }
    }
}
