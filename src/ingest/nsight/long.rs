//! Nsight Compute details page and `--metrics` lists: one row per launch and metric, or rule.

use std::collections::HashMap;

use super::parts::{Cell, Known, Parts};
use super::row::{REPEATED, RESCALED, Row, TWICE, is_same};
use super::{
    BEST, Catalog, Dimension, Identity, Kind, Preamble, Raw, RuleColumns, Wanted, complete_shape,
    content, kind, unit,
};
use crate::ingest::decimal::Evidence;
use crate::ingest::headers::header_of;
use crate::ingest::split::fields;
use crate::ingest::{Format, IngestError, Reading, Record, Sample, Sniff};
use crate::model::{Head, Profiler, ToolAdvice};

pub(super) const FORMAT: Format = Format {
    name: "ncu-long",
    profiler: Profiler::NsightCompute,
    summary: "details page or --metrics list: one row per launch and metric, rules between",
    command: BEST,
    sniff,
    read,
};

fn is_header(fields: &[String]) -> bool {
    let has = |name: &str| fields.iter().any(|field| field == name);
    fields.len() >= 8
        && has("Kernel Name")
        && has("Metric Name")
        && has("Metric Value")
        && has("ID")
        && !has("Invocations")
}

fn sniff(sample: &Sample) -> Sniff {
    match sample.header(|line| line.contains("Metric Value"), is_header) {
        Some((header, _)) => Sniff::Yes(format!(
            "a header of {} columns with Metric Name and Metric Value",
            header.len()
        )),
        None => {
            Sniff::No("no header with ID, Kernel Name, Metric Name and Metric Value".to_owned())
        }
    }
}

/// Where the value columns are.
#[derive(Clone, Copy)]
struct Columns {
    section: Option<usize>,
    name: usize,
    unit: Option<usize>,
    value: usize,
    rule: Option<RuleColumns>,
    width: usize,
}

impl Columns {
    fn new(header: &[String]) -> Self {
        let find = |name: &str| header.iter().position(|field| field == name);
        Self {
            section: find("Section Name"),
            name: find("Metric Name").unwrap_or_default(),
            unit: find("Metric Unit"),
            value: find("Metric Value").unwrap_or_default(),
            rule: RuleColumns::new(header),
            width: header.len(),
        }
    }
}

/// A metric as it stands in the rows: section, name and unit decide what it is.
struct Metric {
    section: Vec<u8>,
    name: Vec<u8>,
    unit: Vec<u8>,
    meaning: Meaning,
    kind: Kind,
    launches: u64,
    /// The launch that had it last, and its value there.
    last: (u64, f64),
    /// The same metric in another unit.
    twin: Option<usize>,
}

enum Meaning {
    /// Not needed.
    Ignored,
    Value {
        slot: usize,
        factor: f64,
        dimension: Dimension,
    },
    /// Needed, but its unit cannot be used.
    Unusable(String),
}

/// The metrics of a file; rows of one launch mostly repeat the order of the launch before.
#[derive(Default)]
struct Metrics {
    known: Vec<Metric>,
    by_key: HashMap<Vec<u8>, usize>,
    order: Vec<usize>,
    next: usize,
    catalog: Catalog,
    key: Vec<u8>,
}

impl Metrics {
    fn restart(&mut self) {
        self.next = 0;
    }

    fn find(&mut self, section: &[u8], name: &[u8], unit: &[u8]) -> usize {
        let place = self.next;
        self.next += 1;
        if let Some(expected) = self.order.get(place).copied() {
            let metric = &self.known[expected];
            if metric.name == name && metric.section == section && metric.unit == unit {
                return expected;
            }
        }
        self.key.clear();
        for part in [section, name, unit] {
            self.key.extend_from_slice(part);
            self.key.push(0);
        }
        let found = self.by_key.get(&self.key).copied().unwrap_or_else(|| {
            let metric = self.understand(section, name, unit);
            self.known.push(metric);
            self.by_key.insert(self.key.clone(), self.known.len() - 1);
            self.known.len() - 1
        });
        if place < self.order.len() {
            self.order[place] = found;
        } else if place == self.order.len() && place < 4096 {
            self.order.push(found);
        }
        found
    }

    fn understand(&mut self, section: &[u8], name: &[u8], unit_word: &[u8]) -> Metric {
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let (section_text, name_text, unit_text) = (text(section), text(name), text(unit_word));
        let wanted = self.catalog.row(&section_text, &name_text, unit_text == "%");
        let meaning = wanted.map_or(Meaning::Ignored, |wanted| meaning(wanted, &unit_text));
        Metric {
            section: section.to_vec(),
            name: name.to_vec(),
            unit: unit_word.to_vec(),
            twin: self.known.iter().position(|one| one.name == name && one.section == section),
            meaning,
            kind: kind(&name_text),
            launches: 0,
            last: (0, 0.0),
        }
    }
}

fn meaning(wanted: Wanted, word: &str) -> Meaning {
    match unit(word) {
        Some(unit) if unit.dimension == wanted.dimension => Meaning::Value {
            slot: wanted.slot,
            factor: unit.factor * wanted.factor,
            dimension: wanted.dimension,
        },
        Some(_) if word.is_empty() => Meaning::Unusable("no unit".to_owned()),
        Some(_) => Meaning::Unusable(format!("unit {word:?} is not {}", wanted.dimension.noun())),
        None => Meaning::Unusable(format!("unknown unit {word:?}")),
    }
}

/// The error where the rows of a launch cannot be put together.
fn scattered(reading: &Reading<'_>, (process, id): (u32, u32)) -> IngestError {
    reading
        .error(format!("the rows of process {process}, launch ID {id} are not together"))
        .help("sort the rows by process and launch ID, or export the file again")
}

/// The launch whose rows are being gathered.
struct Current {
    key: (u32, u32),
    process: Vec<u8>,
    id: Vec<u8>,
    head: Head,
    /// The cell of the kernel's name, which may have a range before the name.
    kernel: Vec<u8>,
    name: Vec<u8>,
    ordinal: Vec<u8>,
    capability: Vec<u8>,
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    let mut preamble = Preamble::default();
    let header = reading.header(
        |line| line.contains("Metric Value") && is_header(&fields(line)),
        |line| preamble.line(line),
    )?;
    let columns = Columns::new(&header);
    let numerals = reading.numerals(&evidence(&reading.sample), true)?;
    let mut table = Table {
        identity: Identity::new(&header),
        columns,
        metrics: Metrics::default(),
        row: Row::new(numerals),
        current: None,
        is_within: false,
        cells: Vec::new(),
        launch: 1,
        parts: Parts::default(),
        preamble,
        advice: Vec::new(),
        rules: 0,
        crowded: 0,
        sms: None,
    };
    let mut records = reading.records();
    while let Some(record) = records.next()? {
        let line = record.line();
        table.record(reading, &record, line)?;
    }
    table.flush(reading)?;
    table.put_together(reading)?;
    table.finish(reading, &header);
    Ok(())
}

/// What the values in the sample show of how numbers are written.
fn evidence(sample: &Sample) -> Evidence {
    let mut evidence = Evidence::default();
    let Some((header, rest)) = sample.header(|line| line.contains("Metric Value"), is_header)
    else {
        return evidence;
    };
    let mut columns = Columns::new(&header);
    for record in sample.records(rest, 20_000) {
        if let Some(header) = header_of(&record, "Metric Value", is_header) {
            columns = Columns::new(&header);
        }
        let cell = |at: Option<usize>| at.and_then(|at| record.get(at)).unwrap_or_default();
        let content = content(cell(Some(columns.name)), cell(columns.unit));
        evidence.add(cell(Some(columns.value)), content, || None);
    }
    evidence
}

struct Table {
    identity: Identity,
    columns: Columns,
    metrics: Metrics,
    row: Row,
    current: Option<Current>,
    /// Whether the record before was a row of it.
    is_within: bool,
    /// The values of the current launch.
    cells: Vec<Cell>,
    /// Number of the current launch.
    launch: u64,
    parts: Parts,
    preamble: Preamble,
    /// What the profiler's rules say of the current launch.
    advice: Vec<ToolAdvice>,
    rules: u64,
    /// Rule rows for which their launch had no room.
    crowded: u64,
    /// SM count as a rule's text tells it, where no metric does.
    sms: Option<u32>,
}

impl Table {
    fn record(
        &mut self,
        reading: &mut Reading<'_>,
        record: &Record<'_>,
        line: u64,
    ) -> Result<(), IngestError> {
        let columns = self.columns;
        // What the record before was, this one is too.
        let is_next =
            std::mem::take(&mut self.is_within) && record.repeated() >= self.identity.width();
        if !is_next && self.preamble.takes(reading, record) {
            return Ok(());
        }
        if !is_next && let Some(header) = self.identity.header(record, is_header) {
            self.flush(reading)?;
            reading.source.other_lines += 1;
            (self.identity, self.columns) = (Identity::new(&header), Columns::new(&header));
            return Ok(());
        }
        reading.source.rows += 1;
        // Metric rows stop after the value; rule rows are full width.
        if record.len() <= columns.value || record.len() > columns.width {
            return reading.misfit(line, record, columns.width);
        }
        if !is_next && !self.is_of_current(record) {
            let Some(key) = self.identity.key(record) else {
                let text = String::from_utf8_lossy(record.get(0).unwrap_or_default()).into_owned();
                return reading.skip(line, Some("ID"), &text, "launch ID is not a number");
            };
            self.flush(reading)?;
            let [process, id] = self.identity.number_cells(record);
            let kernel = record.get(self.identity.kernel).unwrap_or_default();
            let [ordinal, capability] = self.identity.device_cells(record);
            let (head, name) = self.identity.head(reading, record);
            self.current = Some(Current {
                key,
                process: process.to_vec(),
                id: id.to_vec(),
                head,
                kernel: kernel.to_vec(),
                name: name.to_vec(),
                ordinal: ordinal.to_vec(),
                capability: capability.to_vec(),
            });
        }
        self.is_within = true;
        let name = record.get(columns.name).unwrap_or_default();
        if name.is_empty() {
            return self.rule(reading, record, line);
        }
        self.value(reading, record, line)
    }

    /// Rows of a launch follow each other: comparing cells is cheaper than reading them.
    fn is_of_current(&self, record: &Record<'_>) -> bool {
        let [process, id] = self.identity.number_cells(record);
        let kernel = record.get(self.identity.kernel).unwrap_or_default();
        self.current.as_ref().is_some_and(|current| {
            current.id == id && current.process == process && current.kernel == kernel
        })
    }

    fn value(
        &mut self,
        reading: &mut Reading<'_>,
        record: &Record<'_>,
        line: u64,
    ) -> Result<(), IngestError> {
        let columns = self.columns;
        let cell = |column: Option<usize>| {
            column.and_then(|column| record.get(column)).unwrap_or_default()
        };
        let name = record.get(columns.name).unwrap_or_default();
        let found = self.metrics.find(cell(columns.section), name, cell(columns.unit));
        let metric = &mut self.metrics.known[found];
        self.row.raw.saw(metric.kind);
        let (slot, factor, dimension) = match &metric.meaning {
            Meaning::Ignored => return Ok(()),
            Meaning::Value { slot, factor, dimension } => (*slot, *factor, *dimension),
            Meaning::Unusable(_) => (usize::MAX, 0.0, Dimension::Count),
        };
        let text = record.get(columns.value).unwrap_or_default();
        let shown = || String::from_utf8_lossy(text).into_owned();
        match (self.row.numerals.parse(text), &metric.meaning) {
            // `n/a` and `no data` come with an empty unit.
            (Ok(None), _) => Ok(()),
            (_, Meaning::Unusable(reason)) => {
                let (name, reason) =
                    (String::from_utf8_lossy(&metric.name).into_owned(), reason.clone());
                reading.skip(line, Some(&name), &shown(), reason)
            }
            (Ok(Some(value)), _) if value < 0.0 && !dimension.can_be_negative(&metric.name) => {
                let name = String::from_utf8_lossy(&metric.name).into_owned();
                reading.skip(
                    line,
                    Some(&name),
                    &shown(),
                    format!("{} cannot be negative", dimension.noun()),
                )
            }
            (Ok(Some(value)), _) => {
                let value = value * factor;
                let (launch, twin) = (self.launch, metric.twin);
                let before = Some(metric.last).filter(|(last, _)| *last == launch);
                let twin = twin.map(|twin| (self.metrics.known[twin].last, RESCALED));
                let twin = twin.filter(|((last, _), _)| *last == launch);
                let known = before.map(|last| (last, REPEATED)).or(twin);
                let metric = &mut self.metrics.known[found];
                metric.last = (launch, value);
                let Some(((_, known), tolerance)) = known else {
                    metric.launches += 1;
                    self.row.raw.set(slot, value);
                    self.cells.push((found as u32, value));
                    return Ok(());
                };
                if is_same(value, known, tolerance) {
                    return Ok(());
                }
                let name = String::from_utf8_lossy(&metric.name).into_owned();
                self.row.raw.unset(slot);
                let known = &self.metrics.known;
                self.cells.retain(|(at, _)| {
                    let meaning = &known[*at as usize].meaning;
                    !matches!(meaning, Meaning::Value { slot: its, .. } if *its == slot)
                });
                reading.skip(line, Some(&name), &shown(), TWICE)
            }
            (Err(_), _) => {
                let name = String::from_utf8_lossy(&metric.name).into_owned();
                reading.skip(
                    line,
                    Some(&name),
                    &shown(),
                    format!("cannot read as {}", dimension.noun()),
                )
            }
        }
    }

    /// Keeps the result of a rule. Rule rows stand between the rows of their launch, or before them.
    fn rule(
        &mut self,
        reading: &mut Reading<'_>,
        record: &Record<'_>,
        line: u64,
    ) -> Result<(), IngestError> {
        self.rules += 1;
        if self.sms.is_none() {
            let mut text = (self.columns.value..record.len()).filter_map(|at| record.get(at));
            self.sms = text.find_map(|text| multiprocessors(&String::from_utf8_lossy(text)));
        }
        if let Some(columns) = self.columns.rule {
            self.advice.extend(columns.read(reading, record, line, self.row.numerals)?);
        }
        Ok(())
    }

    /// Ends the current launch.
    fn flush(&mut self, reading: &mut Reading<'_>) -> Result<(), IngestError> {
        let Some(mut current) = self.current.take() else { return Ok(()) };
        self.metrics.restart();
        self.launch += 1;
        let sms = self.row.raw.get(Raw::SmCount).map(|count| count.round() as u32).or(self.sms);
        let preamble = &self.preamble;
        let counted = sms.unwrap_or_default().to_le_bytes();
        let cells = [current.ordinal.as_slice(), current.capability.as_slice()];
        current.head.device = self.identity.device(reading, cells, &counted, |hint| {
            hint.sms = sms;
            preamble.complete(hint);
        });
        complete_shape(&mut current.head.shape, &self.row.raw);
        let catalog = &self.metrics.catalog;
        self.row.derive(reading, catalog, current.head.device, &current.name);
        let known = self.parts.known(
            current.key,
            &self.cells,
            |row| reading.head(row).name == current.head.name,
            |row| reading.contradicts(row, self.row.values()),
        );
        let row = match known {
            Known::Part(row) => {
                if self.parts.is_dropped() {
                    reading.fill(row, self.row.values());
                }
                if !self.parts.add(row, &self.cells) {
                    return Err(scattered(reading, current.key));
                }
                row
            }
            Known::New | Known::Again => {
                let row = reading.push(current.head, self.row.values());
                self.parts.keep(current.key, row, &self.cells);
                row
            }
            Known::Lost => return Err(scattered(reading, current.key)),
        };
        for advice in self.advice.drain(..) {
            self.crowded += u64::from(!reading.advise(row, advice));
        }
        self.row.raw.clear();
        self.cells.clear();
        Ok(())
    }

    /// Derives again what launches have whose rows were in several places.
    fn put_together(&mut self, reading: &mut Reading<'_>) -> Result<(), IngestError> {
        if self.parts.are_mixed() {
            return Err(reading
                .error("rows of several runs with the same process and launch IDs are mixed")
                .help("give each run in a file of its own"));
        }
        for row in self.parts.in_parts() {
            self.row.raw.clear();
            for (metric, value) in self.parts.of(row) {
                let metric = &self.metrics.known[metric as usize];
                if let Meaning::Value { slot, .. } = metric.meaning {
                    self.row.raw.saw(metric.kind);
                    self.row.raw.set(slot, value);
                }
            }
            let mut head = reading.head(row);
            if let Some(sms) = self.row.raw.get(Raw::SmCount) {
                let mut hint = reading.device(head.device).clone();
                hint.sms = Some(sms.round() as u32);
                head.device = reading.hint(hint);
            }
            complete_shape(&mut head.shape, &self.row.raw);
            let name = reading.text(head.name).to_owned();
            self.row.derive(reading, &self.metrics.catalog, head.device, name.as_bytes());
            reading.revise(row, &head, self.row.values());
        }
        Ok(())
    }

    fn finish(&mut self, reading: &mut Reading<'_>, header: &[String]) {
        let age = if self.identity.is_new() { "2023 or later" } else { "2022 or earlier" };
        let known = &self.metrics.known;
        let listed = known
            .iter()
            .filter(|metric| metric.section == b"Command line profiler metrics")
            .count();
        let page = match (listed, known.len() - listed) {
            (0, _) => "details page",
            (_, 0) => "metrics list",
            _ => "details page with a metrics list",
        };
        let rules = if self.rules > 0 {
            format!(", {} rule row{}", self.rules, if self.rules == 1 { "" } else { "s" })
        } else {
            String::new()
        };
        reading.source.dialect = format!("{page} of {age}, {} columns{rules}", header.len());
        self.preamble.tell(&mut reading.source);
        let parts = self.parts.in_parts().len();
        if parts > 0 {
            let clue =
                format!("the rows of {parts} launches are in several places, as in a sorted file");
            reading.source.clues.push(clue);
        }
        if self.crowded > 0 {
            let clue =
                format!("{} results of rules were left out: no launch has that many", self.crowded);
            reading.source.clues.push(clue);
        }
        reading.source.clues.extend(self.metrics.catalog.clues());
        for metric in known.iter().filter(|metric| metric.launches > 0) {
            let name = String::from_utf8_lossy(&metric.name).into_owned();
            *reading.source.columns.entry(name).or_default() += metric.launches;
        }
        self.row.finish(reading);
    }
}

/// The SM count in a rule's text: `… the GPU's 108 multiprocessors …`.
fn multiprocessors(text: &str) -> Option<u32> {
    let before = &text[..text.find(" multiprocessors")?];
    before.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two lists one after the other, the second with value and unit first: 2 µs, then 3 µs.
    #[test]
    fn a_header_inside_the_table_names_the_columns_below_it() {
        let text = "ID,Process ID,Process Name,Host Name,Kernel Name,Section Name,Metric Name,\
                    Metric Unit,Metric Value\n\
                    0,1,a,h,k,Command line profiler metrics,gpu__time_duration.sum,us,2\n\
                    Metric Value,Metric Unit,Metric Name,Section Name,Kernel Name,Host Name,\
                    Process Name,Process ID,ID\n\
                    3,us,gpu__time_duration.sum,Command line profiler metrics,k,h,a,1,1\n";
        let options = crate::ingest::Options::default();
        let found = crate::ingest::read_text("list.csv", text, &options).unwrap();
        let times: Vec<_> =
            found.iter().map(|one| (one.head.id, one.duration().unwrap().0.get())).collect();
        assert_eq!(times, [(0, 2.0 * 1e-6), (1, 3.0 * 1e-6)]);
        assert_eq!((found.sources[0].other_lines, found.sources[0].skips.count), (1, 0));
    }

    #[test]
    fn a_rule_tells_the_number_of_multiprocessors() {
        assert_eq!(multiprocessors("less than the GPU's 108 multiprocessors, so"), Some(108));
        assert_eq!(multiprocessors("no number of multiprocessors"), None);
    }
}
