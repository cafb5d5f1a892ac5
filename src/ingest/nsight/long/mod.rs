//! Nsight Compute details page and `--metrics` lists: one row per launch and metric, or rule.

mod beside;
mod current;
mod left_out;
mod metrics;
mod whole;

use std::collections::HashSet;

use beside::Apart;
use current::{Current, is_launch};
use metrics::{Meaning, Metrics};

use super::parts::{Cell, Known, Parts};
use super::row::{REPEATED, RESCALED, Row, TWICE, is_same, value_end};
use super::{
    DETAILS, Dimension, Identity, Preamble, Raw, RuleColumns, Whole, complete_shape, content,
};
use crate::ingest::decimal::Evidence;
use crate::ingest::headers::{header_of, titled_once};
use crate::ingest::sample::as_text;
use crate::ingest::split::fields;
use crate::ingest::{Format, IngestError, Numerals, Reading, Record, Sample, Sniff};
use crate::model::{Profiler, ToolAdvice};

pub(super) const FORMAT: Format = Format {
    name: "ncu-long",
    profiler: Profiler::NsightCompute,
    summary: "details page or --metrics list: one row per launch and metric, rules between",
    command: DETAILS,
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

    /// What a record says of its metric, as it is written: section, name and unit stand side by side. Empty
    /// where they do not.
    fn written<'r>(&self, record: &Record<'r>) -> &'r [u8] {
        let (section, unit) = (self.section, self.unit);
        let first = section.filter(|section| section + 1 == self.name).unwrap_or(self.name);
        let is_all = section.is_none_or(|section| section == first);
        match unit.filter(|unit| is_all && *unit == self.name + 1) {
            Some(unit) => record.written(first..=unit).unwrap_or_default(),
            None => b"",
        }
    }
}

/// The error where the rows of a launch cannot be put together.
fn scattered(reading: &Reading<'_>, (process, id): (u32, u32)) -> IngestError {
    reading
        .error(format!("the rows of process {process}, launch ID {id} are not together"))
        .help("sort the rows by process and launch ID, or export the file again")
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    let mut preamble = Preamble::default();
    let header = reading.header(
        |line| line.contains("Metric Value") && is_header(&fields(line)),
        |line| preamble.line(line),
    )?;
    let numerals = reading.numerals(&evidence(&reading.sample), true)?;
    titled_once(reading, reading.line(), header.iter().map(String::as_str))?;
    let columns = Columns::new(&header);
    let mut table = Table::new(Identity::new(&header), columns, numerals, preamble);
    let mut records = reading.records();
    loop {
        if records.is_large() {
            let is_strict = reading.is_strict();
            records.share(|thread| table.understand(thread, is_strict));
        }
        if let Some(part) = records.part(|part| table.fits(part))? {
            table.join(reading, part)?;
        } else if let Some(record) = records.next()? {
            let line = record.line();
            table.record(reading, &record, line)?;
            if std::mem::take(&mut table.has_turned) {
                records.read_alone();
            }
        } else {
            break;
        }
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
    let rows = sample.records(rest, 20_000);
    let has_headers = rows.has("Metric Value");
    for record in rows.iter() {
        let header = has_headers.then(|| header_of(&record, "Metric Value", is_header)).flatten();
        if let Some(header) = header {
            columns = Columns::new(&header);
        }
        let cell = |at: Option<usize>| at.and_then(|at| record.get(at)).unwrap_or_default();
        let content = content(as_text(cell(Some(columns.name))), as_text(cell(columns.unit)));
        let value = cell(Some(columns.value));
        evidence.add(&value[..value_end(value)], content, || None);
    }
    evidence
}

struct Table {
    identity: Identity,
    columns: Columns,
    metrics: Metrics,
    row: Row,
    current: Option<Current>,
    /// Memory of the launch before.
    before: Current,
    /// Whether the record before was a row of it.
    is_within: bool,
    /// The graphs and ranges whose rows are left out, which may be sorted.
    left_out: HashSet<(Whole, (u32, u32))>,
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
    /// Whether a record changed what those after it mean.
    has_turned: bool,
    /// The launches of another thread's rows, whose parts may be anywhere in the file.
    apart: Option<Vec<Apart>>,
    /// The numbers that metrics of other threads have here, by thread.
    numbers: Vec<Vec<u32>>,
}

impl Table {
    fn new(identity: Identity, columns: Columns, numerals: Numerals, preamble: Preamble) -> Self {
        Self {
            identity,
            columns,
            metrics: Metrics::default(),
            row: Row::new(numerals),
            current: None,
            before: Current::default(),
            is_within: false,
            left_out: HashSet::new(),
            cells: Vec::new(),
            launch: 1,
            parts: Parts::default(),
            preamble,
            advice: Vec::new(),
            rules: 0,
            crowded: 0,
            sms: None,
            has_turned: false,
            apart: None,
            numbers: Vec::new(),
        }
    }

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
            self.has_turned = true;
            return Ok(());
        }
        if !is_next && let Some(header) = self.identity.header(record, is_header) {
            self.flush(reading)?;
            titled_once(reading, line, header.iter().map(String::as_str))?;
            reading.source.other_lines += 1;
            (self.identity, self.columns) = (Identity::new(&header), Columns::new(&header));
            self.parts.turn();
            self.left_out.clear();
            self.has_turned = true;
            return Ok(());
        }
        reading.source.rows += 1;
        // Metric rows stop after the value; rule rows are full width.
        if !record.fits(columns.value + 1..=columns.width) {
            return reading.misfit(line, record, columns.width);
        }
        if !is_next && !self.current.as_mut().is_some_and(|one| one.takes(&self.identity, record)) {
            let Some(key) = self.identity.key(record) else {
                return self.identity.skip(reading, record, line);
            };
            self.flush(reading)?;
            if let Some(whole) = self.identity.whole(record) {
                return self.leave_out(reading, (whole, key), line);
            }
            let mut current = std::mem::take(&mut self.before);
            (current.key, current.head) = (key, self.identity.head(reading, record)?);
            current.begin(&self.identity, record);
            self.current = Some(current);
        }
        self.is_within = true;
        let written = columns.written(record);
        let found = match self.metrics.expected(written) {
            Some(found) => found,
            None => {
                let cell = |column: Option<usize>| {
                    column.and_then(|column| record.get(column)).unwrap_or_default()
                };
                let name = record.get(columns.name).unwrap_or_default();
                if name.is_empty() {
                    return self.rule(reading, record, line);
                }
                self.metrics.find(cell(columns.section), name, cell(columns.unit), written)
            }
        };
        self.value(reading, record, found, line)
    }

    fn value(
        &mut self,
        reading: &mut Reading<'_>,
        record: &Record<'_>,
        found: usize,
        line: u64,
    ) -> Result<(), IngestError> {
        let metric = &mut self.metrics.known[found];
        self.row.raw.saw(metric.kind);
        let (slot, factor, dimension) = match &metric.meaning {
            Meaning::Ignored => return Ok(()),
            Meaning::Value { slot, factor, dimension } => (*slot, *factor, *dimension),
            Meaning::Unusable(_) => (usize::MAX, 0.0, Dimension::Count),
        };
        let text = record.get(self.columns.value).unwrap_or_default();
        let shown = || String::from_utf8_lossy(text).into_owned();
        match (self.row.value(text), &metric.meaning) {
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
            self.has_turned |= self.sms.is_some();
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
        let cells = current.device_cells();
        current.head.device = self.identity.device(reading, cells, &counted, |hint| {
            hint.sms = sms;
            preamble.complete(hint);
        });
        complete_shape(&mut current.head.shape, &self.row.raw);
        let catalog = &self.metrics.catalog;
        self.row.derive(reading, catalog, &current.head);
        let known = match &mut self.apart {
            Some(apart) => {
                apart.push(Apart { key: current.key, cells: self.cells.clone() });
                None
            }
            None => Some(self.parts.known(
                current.key,
                &self.cells,
                |row| is_launch(reading, row, &current.head),
                |row| reading.contradicts(row, self.row.values()),
            )),
        };
        let row = match known {
            None => {
                let row = reading.push(current.head, self.row.values());
                self.row.keep(row);
                row
            }
            Some(known) => self.place(reading, &current, known)?,
        };
        for advice in self.advice.drain(..) {
            self.crowded += u64::from(!reading.advise(row, advice));
        }
        self.row.raw.clear();
        self.cells.clear();
        self.before = current;
        Ok(())
    }

    /// Appends the current launch, or adds it to the one it is a part of.
    fn place(
        &mut self,
        reading: &mut Reading<'_>,
        current: &Current,
        known: Known,
    ) -> Result<usize, IngestError> {
        Ok(match known {
            Known::Part(row) => {
                if self.parts.is_dropped() {
                    reading.fill(row, self.row.values());
                }
                if !self.parts.add(row, &self.cells) {
                    return Err(scattered(reading, current.key));
                }
                row
            }
            Known::New | Known::Again(_) => {
                let row = reading.push(current.head, self.row.values());
                self.row.keep(row);
                self.parts.keep(current.key, row, &self.cells, known);
                row
            }
            Known::Lost => return Err(scattered(reading, current.key)),
        })
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
            self.row.derive(reading, &self.metrics.catalog, &head);
            reading.revise(row, &head, self.row.values());
            self.row.keep(row);
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
        self.preamble.tell(reading);
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

    /// Counts by the type of operands take the place of those of instructions, wherever their rows are.
    #[test]
    fn what_follows_from_all_rows_of_a_launch_is_all_that_it_has() {
        let header = "ID,Process ID,Process Name,Host Name,Kernel Name,Context,Stream,Block Size,Grid Size,Device,CC,Section Name,Metric Name,Metric Unit,Metric Value\n";
        let row = |id: u32, metric: &str, unit: &str, value: &str| {
            format!(
                "{id},1,a,h,ampere_bf16_s16816gemm_bf16_128x128_tn,1,7,\"(256, 1, 1)\",\"(1056, 1, 1)\",0,8.0,Command line profiler metrics,{metric},{unit},{value}\n"
            )
        };
        let part = |metrics: [(&str, &str, &str); 2]| {
            let of =
                |id| metrics.map(|(metric, unit, value)| row(id, metric, unit, value)).concat();
            [0, 1].map(of).concat()
        };
        let [first, second] = [
            [
                ("sm__inst_executed_pipe_tensor.sum", "inst", "10000000"),
                ("sm__sass_thread_inst_executed_op_hfma_pred_on.sum", "inst", "0"),
            ],
            [
                ("gpu__time_duration.sum", "ns", "1000000"),
                ("sm__ops_path_tensor_src_bf16_dst_fp32.sum", "", "40960000000"),
            ],
        ]
        .map(part);
        let options = crate::ingest::Options::default();
        let text = format!("{header}{first}{second}").leak();
        let found = crate::ingest::read_text("list.csv", text, &options).unwrap();
        assert_eq!(found.launches.len(), 2);
        for launch in found.iter() {
            let work: Vec<_> = launch.work().map(|(pipe, work, _)| (pipe, work.get())).collect();
            let counted: Vec<_> = work.iter().filter(|(_, work)| *work > 0.0).collect();
            assert_eq!(counted, [&(crate::model::Pipe::Bf16Matrix, 40_960_000_000.0)]);
        }
    }

    #[test]
    fn a_rule_tells_the_number_of_multiprocessors() {
        assert_eq!(multiprocessors("less than the GPU's 108 multiprocessors, so"), Some(108));
        assert_eq!(multiprocessors("no number of multiprocessors"), None);
    }
}
