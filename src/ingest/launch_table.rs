//! Our own launch table, as `rooflint convert` writes it: CSV, JSON, or Parquet turned into CSV.
//!
//! Columns are found by their names, in any order; those that are not known are left alone. An empty cell
//! is missing. The launches of several exports stay apart by the column `source`.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::reading::fields;
use super::{Format, IngestError, Reading, Sample, Sniff};
use crate::model::{
    DeviceHint, Dim3, Head, HintId, Origin, OriginId, OriginKind, Profiler, Quantity, Shape,
    Source, Values,
};
use crate::units::Hertz;

pub(super) const FORMAT: Format = Format {
    name: "launch-table",
    profiler: Profiler::Rooflint,
    summary: "the launch table that `convert` writes, as CSV, JSON or (with the feature `frames`) Parquet",
    command: "rooflint convert FILE... -o launches.csv",
    sniff,
    read,
};

/// Name and major version of the tables that are read.
const SCHEMA: &str = "rooflint/launches/1";

/// Columns that every launch table has, and no other table all of.
const TELLING: [&str; 6] =
    ["source", "kernel", "device_ordinal", "launches", "grid_x", "threads_per_block"];

/// Columns that are no quantities, or say more about one.
const PLAIN: [&str; 24] = [
    "source",
    "source_format",
    "caches_kept",
    "process",
    "id",
    "kernel",
    "operator",
    "device",
    "device_ordinal",
    "device_compute_capability",
    "device_multiprocessors",
    "device_max_sm_clock_hz",
    "device_max_memory_clock_hz",
    "device_memory_clock_hz",
    "device_memory_bus_bits",
    "device_l2_bytes",
    "stream",
    "launches",
    "grid_x",
    "grid_y",
    "grid_z",
    "block_x",
    "block_y",
    "block_z",
];

fn is_header(fields: &[String]) -> bool {
    TELLING.iter().all(|name| fields.iter().any(|field| field == name))
}

fn may_be_header(line: &str) -> bool {
    line.contains("device_ordinal") && line.contains("threads_per_block")
}

fn is_json(sample: &Sample) -> bool {
    sample.text().trim_start().starts_with('{')
}

fn sniff(sample: &Sample) -> Sniff {
    if is_json(sample) {
        return if sample.text().contains("\"rooflint/launches/") {
            Sniff::Yes("JSON of the schema rooflint/launches".to_owned())
        } else {
            Sniff::No("JSON without the schema rooflint/launches".to_owned())
        };
    }
    match sample.header(may_be_header, is_header) {
        Some(_) => Sniff::Yes(format!("a header with {}", TELLING.join(", "))),
        None => Sniff::No(format!("no header with {}", TELLING.join(", "))),
    }
}

/// A launch table as JSON.
#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    metadata: BTreeMap<String, String>,
    launches: Vec<Map<String, Value>>,
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    "decimal point, no grouping".clone_into(&mut reading.source.numerals);
    let table = if is_json(&reading.sample) { read_json(reading)? } else { read_csv(reading)? };
    table.finish(reading);
    Ok(())
}

fn read_csv(reading: &mut Reading<'_>) -> Result<Table, IngestError> {
    let header = reading.header(|line| may_be_header(line) && is_header(&fields(line)), |_| {})?;
    let width = header.len();
    let mut table = Table::new(reading, header, &BTreeMap::new());
    let mut records = reading.records();
    let mut record = csv::ByteRecord::new();
    while let Some(line) = records.next(&mut record)? {
        if record.len() == width {
            table.launch(reading, &record, line)?;
        } else {
            reading.source.rows += 1;
            reading.misfit(line, &record, width)?;
        }
    }
    Ok(table)
}

fn read_json(reading: &mut Reading<'_>) -> Result<Table, IngestError> {
    let bytes = reading.rest()?;
    let document: Document = serde_json::from_slice(&bytes).map_err(|error| {
        let help = "the file may be damaged or cut; convert the export again";
        let line = u64::try_from(error.line()).unwrap_or_default();
        reading.error(format!("not a launch table: {error}")).line(line).help(help)
    })?;
    match document.metadata.get("schema").map(String::as_str) {
        Some(SCHEMA) | None => {}
        Some(other) => {
            return Err(reading
                .error(format!("its schema is {other:?}, and {SCHEMA:?} is read"))
                .help("convert the export with this version, or use the version that wrote it"));
        }
    }
    let names: BTreeSet<&String> = document.launches.iter().flat_map(Map::keys).collect();
    let header: Vec<String> = names.into_iter().cloned().collect();
    let mut table = Table::new(reading, header.clone(), &document.metadata);
    let mut record = csv::ByteRecord::new();
    // A parsed document has no lines: launches are counted instead.
    for (number, launch) in (1..).zip(&document.launches) {
        record.clear();
        for name in &header {
            match launch.get(name) {
                None | Some(Value::Null) => record.push_field(b""),
                Some(Value::String(text)) => record.push_field(text.as_bytes()),
                Some(value) => record.push_field(value.to_string().as_bytes()),
            }
        }
        table.launch(reading, &record, number)?;
    }
    Ok(table)
}

/// A column of values, with those that say how they came about.
struct Measured {
    quantity: Quantity,
    at: usize,
    origin: Option<usize>,
    low: Option<usize>,
    high: Option<usize>,
    /// The formula, where the table tells it; else the column.
    formula: String,
    known: Vec<(OriginKind, [u64; 2], OriginId)>,
}

/// A table being turned into launches.
struct Table {
    header: Vec<String>,
    /// Where the columns of [`PLAIN`] are.
    plain: HashMap<&'static str, usize>,
    blocks: Option<usize>,
    threads: Option<usize>,
    measured: Vec<Measured>,
    /// The exports that the launches come from: source and format, as far as the table tells.
    parts: Vec<[Vec<u8>; 2]>,
    /// For each of them, how many launches have a value in a column.
    filled: Vec<Vec<u64>>,
    hints: HashMap<Vec<u8>, HintId>,
    read: Values,
}

impl Table {
    fn new(
        reading: &mut Reading<'_>,
        header: Vec<String>,
        metadata: &BTreeMap<String, String>,
    ) -> Self {
        let at = |name: &str| header.iter().position(|field| field == name);
        let plain = PLAIN.iter().filter_map(|name| Some((*name, at(name)?))).collect();
        let measured = Quantity::all().filter_map(|quantity| {
            let name = quantity.column();
            let told = metadata.get(&format!("column:{name}"));
            // Of `[B] a + b` the unit is left out.
            let formula = told.map(|told| told.split_once("] ").map_or(&**told, |(_, rest)| rest));
            Some(Measured {
                quantity,
                at: at(&name)?,
                origin: at(&format!("{name}_origin")),
                low: at(&format!("{name}_low")),
                high: at(&format!("{name}_high")),
                formula: formula.unwrap_or(&name).to_owned(),
                known: Vec::new(),
            })
        });
        let measured: Vec<Measured> = measured.collect();
        let (blocks, threads) = (at("blocks"), at("threads_per_block"));
        reading.source.dialect = format!("launch table, {} columns", header.len());
        let mut table = Self {
            plain,
            blocks,
            threads,
            measured,
            header,
            parts: Vec::new(),
            filled: Vec::new(),
            hints: HashMap::new(),
            read: Values::default(),
        };
        table.tell_unknown(reading);
        table
    }

    /// Says which columns are left alone.
    fn tell_unknown(&mut self, reading: &mut Reading<'_>) {
        let of_values = self
            .measured
            .iter()
            .flat_map(|one| [Some(one.at), one.origin, one.low, one.high].into_iter().flatten());
        let known: BTreeSet<usize> = of_values
            .chain(self.plain.values().copied())
            .chain(self.blocks)
            .chain(self.threads)
            .collect();
        let unknown = self.header.iter().enumerate().filter(|(at, _)| !known.contains(at));
        let unknown: Vec<&str> = unknown.map(|(_, name)| name.as_str()).collect();
        if !unknown.is_empty() {
            reading.source.clues.push(format!("columns left alone: {}", unknown.join(", ")));
        }
    }

    fn launch(
        &mut self,
        reading: &mut Reading<'_>,
        record: &csv::ByteRecord,
        line: u64,
    ) -> Result<(), IngestError> {
        let part = self.part(reading, record)?;
        reading.turn_to(part);
        reading.current().rows += 1;
        let cell =
            |name: &str| self.plain.get(name).and_then(|at| record.get(*at)).unwrap_or_default();
        let mut place = Place { reading, record, header: &self.header, line };
        let at = |name: &str| self.plain.get(name).copied();
        let Ok(count) = place
            .count::<u32>(at("launches"))?
            .map_or(Ok(1), |count| if count == 0 { Err(()) } else { Ok(count) })
        else {
            return reading.skip(
                line,
                Some("launches"),
                "0",
                "a row stands for one launch at least",
            );
        };
        let process = place.count(at("process"))?.unwrap_or_default();
        let id = place.count(at("id"))?;
        let stream = place.count(at("stream"))?;
        let shape = Shape {
            grid: place.extent(["grid_x", "grid_y", "grid_z"].map(at))?,
            block: place.extent(["block_x", "block_y", "block_z"].map(at))?,
            blocks: place.count(self.blocks)?,
            threads_per_block: place.count(self.threads)?,
        };
        let mut read = std::mem::take(&mut self.read);
        read.clear();
        for measured in &mut self.measured {
            measured.value(&mut place, &mut read)?;
        }
        let rows = reading.current().rows;
        let id = id.unwrap_or_else(|| u32::try_from(rows).unwrap_or(u32::MAX));
        let (name, operator) = (reading.name(cell("kernel")), reading.name(cell("operator")));
        let keeps_caches = cell("caches_kept") == b"1";
        let device = self.hint(reading, record, line)?;
        if keeps_caches {
            reading.current().keeps_caches = true;
        }
        for (column, filled) in self.filled[part].iter_mut().enumerate() {
            *filled += u64::from(record.get(column).is_some_and(|cell| !cell.is_empty()));
        }
        let head = Head { process, id, name, operator, shape, device, stream, count, source: 0 };
        reading.push(head, &read);
        self.read = read;
        Ok(())
    }

    /// The number of the export that a row comes from.
    fn part(
        &mut self,
        reading: &mut Reading<'_>,
        record: &csv::ByteRecord,
    ) -> Result<usize, IngestError> {
        let cell =
            |name: &str| self.plain.get(name).and_then(|at| record.get(*at)).unwrap_or_default();
        let found = [cell("source"), cell("source_format")];
        // Rows of one export stand together.
        let is_it = |known: &[Vec<u8>; 2]| known[0] == found[0] && known[1] == found[1];
        if let Some(part) = self.parts.iter().rposition(is_it) {
            return Ok(part);
        }
        let text = |cell: &[u8]| String::from_utf8_lossy(cell).into_owned();
        let (path, format) = (text(found[0]), text(found[1]));
        let part = if self.parts.is_empty() {
            0
        } else {
            let table = &reading.source;
            let part = Source {
                path: format!("{} ({path})", table.path),
                dialect: table.dialect.clone(),
                encoding: table.encoding.clone(),
                numerals: table.numerals.clone(),
                ..Source::default()
            };
            reading.add_part(part)?
        };
        reading.turn_to(part);
        let source = reading.current();
        // The profiler behind a mapping, or a format of a later version, is not known.
        let known = super::format(if format.is_empty() { FORMAT.name } else { &format });
        source.profiler = known.map_or(Profiler::Other, |known| known.profiler);
        source.format = if format.is_empty() { FORMAT.name.to_owned() } else { format };
        if !path.is_empty() {
            source.dialect = format!("{}, made from {path}", source.dialect);
        }
        self.parts.push(found.map(<[u8]>::to_vec));
        self.filled.push(vec![0; self.header.len()]);
        Ok(part)
    }

    /// The device, from all that the row says of it.
    fn hint(
        &mut self,
        reading: &mut Reading<'_>,
        record: &csv::ByteRecord,
        line: u64,
    ) -> Result<HintId, IngestError> {
        let at = |name: &str| self.plain.get(name).copied();
        let mut key = Vec::new();
        for name in PLAIN.iter().filter(|name| name.starts_with("device")) {
            key.extend_from_slice(at(name).and_then(|at| record.get(at)).unwrap_or_default());
            key.push(0);
        }
        if let Some(known) = self.hints.get(&key) {
            return Ok(*known);
        }
        let text = |name: &str| {
            let cell = at(name).and_then(|at| record.get(at)).unwrap_or_default();
            Some(String::from_utf8_lossy(cell).into_owned()).filter(|text| !text.is_empty())
        };
        let mut place = Place { reading, record, header: &self.header, line };
        let mut clock = |name: &str| Ok(place.number(at(name))?.map(Hertz::new));
        let max_sm_clock = clock("device_max_sm_clock_hz")?;
        let max_memory_clock = clock("device_max_memory_clock_hz")?;
        let observed_memory_clock = clock("device_memory_clock_hz")?;
        let hint = DeviceHint {
            name: text("device"),
            name_from: text("device").map(|_| "device".to_owned()),
            compute_capability: text("device_compute_capability"),
            sms: place.count(at("device_multiprocessors"))?,
            max_sm_clock,
            max_memory_clock,
            memory_bus_bits: place.count(at("device_memory_bus_bits"))?,
            l2_bytes: place.count(at("device_l2_bytes"))?,
            observed_memory_clock,
            ordinal: text("device_ordinal"),
        };
        let id = reading.hint(hint);
        self.hints.insert(key, id);
        Ok(id)
    }

    /// Tells what was found in which column, and the names of exports that stand in one table.
    fn finish(self, reading: &mut Reading<'_>) {
        for (part, filled) in self.filled.iter().enumerate() {
            reading.turn_to(part);
            let columns = self.header.iter().cloned().zip(filled.iter().copied());
            reading.current().columns = columns.filter(|(_, filled)| *filled > 0).collect();
        }
        if let [[first, _], _, ..] = self.parts.as_slice() {
            let first = String::from_utf8_lossy(first);
            reading.source.path = format!("{} ({first})", reading.source.path);
        }
    }
}

/// A row, and where it stands, for cells that cannot be read.
struct Place<'r, 'p> {
    reading: &'r mut Reading<'p>,
    record: &'r csv::ByteRecord,
    header: &'r [String],
    line: u64,
}

impl Place<'_, '_> {
    fn text(&self, at: Option<usize>) -> &str {
        let cell = at.and_then(|at| self.record.get(at)).unwrap_or_default();
        std::str::from_utf8(cell).unwrap_or("\u{fffd}").trim()
    }

    fn skip(&mut self, at: usize, reason: &str) -> Result<(), IngestError> {
        let text = self.text(Some(at)).to_owned();
        let column = self.header.get(at).map(String::as_str);
        self.reading.skip(self.line, column, &text, reason)
    }

    /// A finite number.
    fn number(&mut self, column: Option<usize>) -> Result<Option<f64>, IngestError> {
        let text = self.text(column);
        let (Some(at), false) = (column, text.is_empty()) else { return Ok(None) };
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Some(number)),
            _ => self.skip(at, "not a number").map(|()| None),
        }
    }

    /// A whole number that fits its type.
    fn count<T: TryFrom<u64>>(&mut self, column: Option<usize>) -> Result<Option<T>, IngestError> {
        /// Up to here a floating-point number is exact: other programs write 3 as 3.0.
        const EXACT: f64 = 9_007_199_254_740_992.0;

        let text = self.text(column);
        let (Some(at), false) = (column, text.is_empty()) else { return Ok(None) };
        let whole = text.parse::<u64>().ok().or_else(|| {
            let number = text.parse::<f64>().ok()?;
            let is_whole = number.fract() == 0.0 && (0.0..=EXACT).contains(&number);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "checked to be whole and in range"
            )]
            is_whole.then_some(number as u64)
        });
        match whole.and_then(|whole| T::try_from(whole).ok()) {
            Some(count) => Ok(Some(count)),
            None => self.skip(at, "not a count").map(|()| None),
        }
    }

    fn extent(&mut self, columns: [Option<usize>; 3]) -> Result<Option<Dim3>, IngestError> {
        let [x, y, z] = columns;
        let (x, y, z) = (self.count(x)?, self.count(y)?, self.count(z)?);
        Ok(x.zip(y).zip(z).map(|((x, y), z)| Dim3 { x, y, z }))
    }
}

impl Measured {
    /// Reads the value of a row, with how it came about.
    fn value(&mut self, place: &mut Place<'_, '_>, read: &mut Values) -> Result<(), IngestError> {
        let Some(value) = place.number(Some(self.at))? else { return Ok(()) };
        if value < 0.0 && self.quantity.is_additive() {
            return place.skip(self.at, "negative");
        }
        let label = place.text(self.origin);
        let kind = match OriginKind::ALL.into_iter().find(|kind| kind.label() == label) {
            Some(kind) => kind,
            None if label.is_empty() => OriginKind::Measured,
            None => {
                place.skip(
                    self.origin.unwrap_or(self.at),
                    "not a way in which a value comes about",
                )?;
                OriginKind::Modelled
            }
        };
        let [low, high] = match (place.number(self.low)?, place.number(self.high)?) {
            (None, None) => [1.0, 1.0],
            // A lower end without an upper one: nothing bounds it.
            (low, high) => [low.unwrap_or(0.0), high.unwrap_or(f64::INFINITY)],
        };
        let bits = [low.to_bits(), high.to_bits()];
        let known = self.known.iter().find(|known| known.0 == kind && known.1 == bits);
        let origin = if let Some((.., origin)) = known {
            *origin
        } else {
            let origin = Origin::new(kind, self.formula.clone()).within(low, high);
            let origin = place.reading.origin(&origin);
            self.known.push((kind, bits, origin));
            origin
        };
        read.set(self.quantity, value, origin);
        Ok(())
    }
}
