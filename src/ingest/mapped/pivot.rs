//! Tables with a row for each launch and counter, read as the table with a column for each counter.

use std::collections::{BTreeMap, HashMap};

use super::mapping::Mapping;
use super::table::Table;
use crate::ingest::decimal::DecimalSign;
use crate::ingest::rows::{Found, Quotes, Row, Rows, fields};
use crate::ingest::{IngestError, Numerals, Reading};

/// All launches wait for their last counter: so many values fit into half a gigabyte.
const MOST: usize = 1 << 25;

/// Counters without a use whose launches are counted.
const MOST_UNUSED: usize = 1 << 10;

/// How a table in long form is read.
pub(in crate::ingest) struct Long<'a> {
    /// Mappings of the same columns of a launch, with other formulas: the one is taken of whose counters most are
    /// there.
    pub(in crate::ingest) mappings: Vec<Mapping>,
    /// A column beside those of the mapping that tells launches apart.
    pub(in crate::ingest) apart: &'a str,
    /// The columns with the name and the value of a counter.
    pub(in crate::ingest) counter: &'a str,
    pub(in crate::ingest) value: &'a str,
}

/// A launch: where it was first met, its cells, and its counters.
struct Wide {
    line: u64,
    cells: Box<[u32]>,
    counters: Vec<(u16, f64)>,
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

/// Reads the table; its header has all columns of `long` that are not optional.
///
/// # Errors
/// When the input fails, has too many values, or something cannot be read and reading is strict.
pub(in crate::ingest) fn read_long(
    reading: &mut Reading<'_>,
    long: &Long<'_>,
) -> Result<(), IngestError> {
    let needed = |fields: &[String]| {
        let has = |column: &str| fields.iter().any(|field| field == column);
        has(long.counter) && has(long.value) && long.mappings.iter().all(|one| has(&one.kernel))
    };
    let header = reading.header(|line| needed(&fields(line, b',')), |_| {})?;
    let at = |column: &str| header.iter().position(|title| title == column);
    let mut columns: Vec<&str> = long.mappings.iter().flat_map(Mapping::columns).collect();
    columns.sort_unstable();
    columns.dedup();
    let is_there = |column: &&str| at(column).is_some();
    let (fixed, counters): (Vec<&str>, Vec<&str>) = columns.into_iter().partition(is_there);
    let fixed_at: Vec<usize> = fixed.iter().filter_map(|column| at(column)).collect();
    // `needed` has seen to it that they are there.
    let [counter_at, value_at] =
        [long.counter, long.value].map(|one| at(one).unwrap_or(usize::MAX));
    let apart_at = at(long.apart);
    let numerals = Numerals::new(DecimalSign::Point, true, false);
    reading.source.numerals = numerals.to_string();

    let mut texts = Texts::default();
    let mut places: HashMap<Box<[u32]>, usize> = HashMap::new();
    let mut launches: Vec<Wide> = Vec::new();
    let mut unused: BTreeMap<String, u64> = BTreeMap::new();
    let (mut values, mut records) = (0, 0);
    let mut rows = Rows::new(reading, Quotes::Doubled, b',', header.len());
    while let Some(found) = rows.next(reading)? {
        let row = rows.row();
        match found {
            Found::Row => {}
            Found::Blank => {
                reading.other_line()?;
                continue;
            }
            Found::Misfit { cells, .. } => {
                records += 1;
                let reason = format!("row has {cells} fields, the header {}", header.len());
                reading.skip(row.line(), None, &row.whole(), reason)?;
                continue;
            }
        }
        // Tables that were joined have their header again.
        if !row.cell(value_at).first().is_some_and(u8::is_ascii_digit) {
            let again = fields(&row.whole(), b',');
            if again == header {
                reading.other_line()?;
                continue;
            }
            if needed(&again) {
                let error = reading.error("a second table with other columns begins here");
                return Err(error.line(row.line()).help("give the two tables as two files"));
            }
        }
        records += 1;
        let cells = fixed_at.iter().copied().chain(apart_at);
        let cells: Box<[u32]> = cells.map(|at| texts.id(row.cell(at))).collect();
        let launch = *places.entry(cells).or_insert_with_key(|cells| {
            let (line, cells) = (row.line(), cells.clone());
            launches.push(Wide { line, cells, counters: Vec::new() });
            launches.len() - 1
        });
        values += 1;
        if values > MOST {
            let error = reading.error(format!("more than {MOST} values of counters"));
            return Err(error.line(row.line()).help("collect fewer kernels or counters at a time"));
        }
        let name = row.cell(counter_at);
        let Some(counter) = counters.iter().position(|known| known.as_bytes() == name) else {
            let name = row.text(counter_at);
            if unused.len() < MOST_UNUSED || unused.contains_key(&name) {
                *unused.entry(name).or_default() += 1;
            }
            continue;
        };
        let counter = u16::try_from(counter).unwrap_or(u16::MAX);
        let value = match numerals.parse(row.cell(value_at)) {
            Ok(Some(value)) => value,
            Ok(None) => continue,
            Err(_) => {
                let text = row.text(value_at);
                reading.skip(row.line(), Some(long.value), &text, "not a number")?;
                continue;
            }
        };
        let known = &mut launches[launch].counters;
        match known.iter_mut().find(|(one, _)| *one == counter) {
            None => known.push((counter, value)),
            Some((_, before)) if *before == value => {}
            // Which of them is right is not known: none is used.
            Some((_, before)) => {
                *before = f64::NAN;
                let name = row.text(counter_at);
                let reason = "the counter is given twice, with different values";
                reading.skip(row.line(), Some(&name), &row.text(value_at), reason)?;
            }
        }
    }
    drop(places);

    let seen: Vec<bool> = (0..counters.len())
        .map(|at| {
            launches.iter().any(|one| one.counters.iter().any(|(id, _)| usize::from(*id) == at))
        })
        .collect();
    let found = counters.iter().zip(&seen).filter(|(_, seen)| **seen).map(|(name, _)| *name);
    let titles: Vec<String> = fixed.iter().copied().chain(found).map(str::to_owned).collect();
    let known = |mapping: &&Mapping| {
        let has = |column: &&str| titles.iter().any(|title| title == column);
        mapping.columns().iter().filter(|column| has(column)).count()
    };
    // Of equals the first.
    let Some(mapping) = long.mappings.iter().rev().max_by_key(known) else { return Ok(()) };
    let mut table = Table::new(reading, mapping, &titles, numerals);
    let mut row = Row::default();
    let mut text = Vec::new();
    for Wide { line, cells, counters: values } in launches {
        text.clear();
        let mut places = Vec::with_capacity(titles.len());
        for cell in cells.iter().take(fixed.len()) {
            let start = text.len();
            text.extend_from_slice(texts.all.get(*cell as usize).map_or(b"", |text| text));
            places.push((start, text.len(), false));
        }
        for (at, _) in seen.iter().enumerate().filter(|(_, seen)| **seen) {
            let start = text.len();
            let value = values.iter().find(|(id, value)| usize::from(*id) == at && !value.is_nan());
            if let Some((_, value)) = value {
                text.extend_from_slice(value.to_string().as_bytes());
            }
            places.push((start, text.len(), false));
        }
        row.set(&text, line, places.into_iter());
        table.launch(reading, &row)?;
    }
    table.end(reading, None);
    // The records of the file, not the launches they make.
    reading.source.rows = records;
    for (name, count) in unused {
        *reading.source.columns.entry(name).or_default() += count;
    }
    Ok(())
}
