//! Tables with a row for each launch and counter, read as the table with a column for each counter.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::counters::Passes;
use super::filtered::LeftOut;
use super::fullest;
use super::mapping::Mapping;
use super::table::Table;
use crate::ingest::decimal::DecimalSign;
use crate::ingest::headers::titled_once;
use crate::ingest::rows::{Found, Quotes, Row, Rows, fields};
use crate::ingest::{IngestError, Numerals, Reading};
use crate::plain::counted;

/// All launches wait for their last counter: so many values fit into half a gigabyte.
const MOST: usize = 1 << 25;

/// Counters without a use whose launches are counted.
const MOST_UNUSED: usize = 1 << 10;

/// How a table in long form is read.
pub(in crate::ingest) struct Long<'a> {
    /// Mappings of the same columns of a launch, with other formulas: the one is taken of whose counters most are
    /// there.
    pub(in crate::ingest) mappings: &'a [Mapping],
    /// A column, not named in the mapping, whose values differ from launch to launch.
    pub(in crate::ingest) apart: &'a str,
    /// The columns with the name and the value of a counter.
    pub(in crate::ingest) counter: &'a str,
    pub(in crate::ingest) value: &'a str,
}

/// A launch: where it was first met, its cells, and its counters.
struct Wide {
    line: u64,
    cells: Box<[u32]>,
    counters: Vec<(usize, f64)>,
}

/// Texts of cells, each once.
#[derive(Default)]
struct Texts {
    ids: HashMap<Box<[u8]>, u32>,
    all: Vec<Box<[u8]>>,
}

impl Texts {
    fn id(&mut self, text: &[u8]) -> u32 {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(text.into());
        self.ids.insert(text.into(), id);
        id
    }
}

/// The launches of a table, from the rows read so far.
struct Pivot<'a> {
    long: &'a Long<'a>,
    /// Columns of a launch that the table has, and where they and those that tell launches apart are.
    fixed: Vec<&'a str>,
    fixed_at: Vec<usize>,
    counter_at: usize,
    value_at: usize,
    /// The counters that any formula has.
    counters: Vec<&'a str>,
    numerals: Numerals,
    texts: Texts,
    places: HashMap<Box<[u32]>, usize>,
    launches: Vec<Wide>,
    values: usize,
    /// Values that a row before gives, too.
    again: u64,
    /// Counters that no formula has, and how many rows they have.
    unused: BTreeMap<String, u64>,
    /// Those of each process.
    unused_of: BTreeMap<Option<u32>, BTreeSet<String>>,
}

/// Reads the table.
///
/// # Errors
/// When the input fails, has no header or too many values, or something cannot be read and reading is strict.
pub(in crate::ingest) fn read_long(
    reading: &mut Reading<'_>,
    long: &Long<'_>,
) -> Result<(), IngestError> {
    let is_header = |fields: &[String]| {
        let has = |column: &str| fields.iter().any(|field| field == column);
        has(long.counter) && has(long.value) && long.mappings.iter().all(|one| has(&one.kernel))
    };
    let header = reading.header(|line| is_header(&fields(line, b',')), |_| {})?;
    titled_once(reading, reading.line(), header.iter().map(String::as_str))?;
    let mut pivot = Pivot::new(long, &header);
    reading.source.numerals = pivot.numerals.to_string();
    let mut records = 0;
    let mut rows = Rows::new(reading, Quotes::Doubled, b',', header.len());
    while let Some(found) = rows.next(reading)? {
        let row = rows.row();
        if found == Found::Blank {
            reading.other_line()?;
            continue;
        }
        // Tables that were joined have their header again.
        if !row.cell(pivot.value_at).first().is_some_and(u8::is_ascii_digit) {
            let again = fields(&row.whole(), b',');
            if again == header {
                reading.other_line()?;
                continue;
            }
            if is_header(&again) {
                let error = reading.error("a second table with other columns begins here");
                return Err(error.line(row.line()).help("give the two tables as two files"));
            }
        }
        records += 1;
        if let Found::Misfit { cells, .. } = found {
            let reason = format!(
                "row has {}, the header {}",
                counted(cells as u64, "field", "fields"),
                header.len()
            );
            reading.skip(row.line(), None, &row.whole(), reason)?;
        } else {
            pivot.add(reading, row)?;
        }
    }
    pivot.end(reading)?;
    // The records of the file, not the launches they make.
    reading.source.rows = records;
    Ok(())
}

impl<'a> Pivot<'a> {
    fn new(long: &'a Long<'a>, header: &[String]) -> Self {
        let at = |column: &str| header.iter().position(|title| title == column);
        let mut columns: Vec<&str> = long.mappings.iter().flat_map(Mapping::columns).collect();
        columns.sort_unstable();
        columns.dedup();
        let is_there = |column: &&str| at(column).is_some();
        let (fixed, counters): (Vec<&str>, Vec<&str>) = columns.into_iter().partition(is_there);
        let fixed_at = fixed.iter().copied().chain([long.apart]).filter_map(at).collect();
        // The header has both.
        let [counter_at, value_at] =
            [long.counter, long.value].map(|one| at(one).unwrap_or(usize::MAX));
        Self {
            long,
            fixed,
            fixed_at,
            counter_at,
            value_at,
            counters,
            numerals: Numerals::new(DecimalSign::Point, true, false),
            texts: Texts::default(),
            places: HashMap::new(),
            launches: Vec::new(),
            values: 0,
            again: 0,
            unused: BTreeMap::new(),
            unused_of: BTreeMap::new(),
        }
    }

    /// Adds the counter of a row to its launch.
    fn add(&mut self, reading: &mut Reading<'_>, row: &Row) -> Result<(), IngestError> {
        let texts = &mut self.texts;
        let cells: Box<[u32]> = self.fixed_at.iter().map(|at| texts.id(row.cell(*at))).collect();
        let launches = &mut self.launches;
        let launch = *self.places.entry(cells).or_insert_with_key(|cells| {
            let (line, cells) = (row.line(), cells.clone());
            launches.push(Wide { line, cells, counters: Vec::new() });
            launches.len() - 1
        });
        self.values += 1;
        if self.values > MOST {
            let error = reading.error(format!("more than {MOST} values of counters"));
            return Err(error.line(row.line()).help("collect fewer kernels or counters at a time"));
        }
        let name = row.cell(self.counter_at);
        let Some(counter) = self.counters.iter().position(|known| known.as_bytes() == name) else {
            let name = row.text(self.counter_at);
            if self.unused.len() < MOST_UNUSED || self.unused.contains_key(&name) {
                let process = self.launches[launch].cells.get(self.fixed.len()).copied();
                let of_process = self.unused_of.entry(process).or_default();
                if !of_process.contains(&name) {
                    of_process.insert(name.clone());
                }
                *self.unused.entry(name).or_default() += 1;
            }
            return Ok(());
        };
        let value = match self.numerals.parse(row.cell(self.value_at)) {
            Ok(Some(value)) => value,
            Ok(None) => return Ok(()),
            Err(_) => {
                let text = row.text(self.value_at);
                return reading.skip(row.line(), Some(self.long.value), &text, "not a number");
            }
        };
        let known = &mut self.launches[launch].counters;
        match known.iter_mut().find(|(one, _)| *one == counter) {
            None => known.push((counter, value)),
            Some((_, before)) if *before == value => self.again += 1,
            // Which of them is right is not known: none is used.
            Some((_, before)) => {
                *before = f64::NAN;
                let name = row.text(self.counter_at);
                let reason = "the counter is given twice, with different values";
                reading.skip(row.line(), Some(&name), &row.text(self.value_at), reason)?;
            }
        }
        Ok(())
    }

    /// Reads the launches as rows of a wide table.
    fn end(self, reading: &mut Reading<'_>) -> Result<(), IngestError> {
        if self.again > 0 {
            let are = if self.again == 1 { "row of a counter is" } else { "rows of counters are" };
            reading.check(&format!(
                "{} {are} repeated in this file (same dispatch, counter and value; counted once)",
                self.again
            ));
        }
        let Self {
            long,
            fixed,
            counters,
            numerals,
            texts,
            places,
            launches,
            unused,
            unused_of,
            ..
        } = self;
        drop(places);
        let mut is_seen = vec![false; counters.len()];
        for (counter, _) in launches.iter().flat_map(|launch| &launch.counters) {
            is_seen[*counter] = true;
        }
        let seen: Vec<usize> = (0..counters.len()).filter(|at| is_seen[*at]).collect();
        let titles = fixed.iter().copied().chain(seen.iter().map(|at| counters[*at]));
        let titles: Vec<String> = titles.map(str::to_owned).collect();
        let Some(mapping) = fullest(long.mappings, &titles) else { return Ok(()) };
        let mut table = Table::new(reading, mapping, &titles, numerals);
        let mut passes = Passes::default();
        let mut row = Row::default();
        let mut text = Vec::new();
        for Wide { line, cells, counters } in launches {
            text.clear();
            let mut places = Vec::with_capacity(titles.len());
            for cell in cells.iter().take(fixed.len()) {
                let start = text.len();
                text.extend_from_slice(texts.all.get(*cell as usize).map_or(b"", |text| text));
                places.push((start, text.len(), false));
            }
            for at in &seen {
                let start = text.len();
                let value = counters.iter().find(|(one, value)| one == at && !value.is_nan());
                if let Some((_, value)) = value {
                    text.extend_from_slice(value.to_string().as_bytes());
                }
                places.push((start, text.len(), false));
            }
            row.set(&text, line, places.into_iter());
            let at = reading.source.launches;
            table.launch(reading, &row)?;
            if reading.source.launches > at {
                passes.add(cells.get(fixed.len()).copied(), at, counters);
            }
        }
        table.end(reading, LeftOut::default());
        passes.end(reading, long.mappings, &counters, |process| {
            unused_of.get(&process).into_iter().flatten().cloned().collect()
        });
        for (name, count) in unused {
            *reading.source.columns.entry(name).or_default() += count;
        }
        Ok(())
    }
}
