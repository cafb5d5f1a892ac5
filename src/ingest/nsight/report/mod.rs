//! Nsight Compute reports (`.ncu-rep`), read without NVIDIA's tools: every launch as the raw page would print it.
//!
//! The file is read once, from its beginning to its end, so that a pipe or a compressed report will do. Names of metrics
//! may come after the launch that uses them: a launch waits until all of its names are known.

mod blocks;
mod launch;
#[cfg(test)]
mod made;
mod wire;

use std::collections::VecDeque;

use super::row::{REPEATED, Row, TWICE, is_same};
use super::rule_texts::about;
use super::rules::{SPEEDUP, speedup};
use super::{
    Attributes, Catalog, Dimension, GRAPH, Gathered, Identity, complete_shape, kind,
    ranges_left_out, rank,
};
use crate::ingest::{Format, IngestError, Numerals, Reading, Record, Sample, Sniff, import};
use crate::model::{Profiler, SpeedupScope, ToolAdvice};
use blocks::{Blocks, Next, Start, VERSION};
use wire::{LaunchResult, RuleItem, Session};

pub(super) const FORMAT: Format = Format {
    name: "ncu-rep",
    profiler: Profiler::NsightCompute,
    summary: "the report itself (.ncu-rep), all launches, metrics, NVTX ranges and rule results",
    command: "ncu --set full -o report APP",
    sniff,
    read,
};

fn sniff(sample: &Sample) -> Sniff {
    if sample.text().as_bytes().starts_with(import::REPORT) {
        Sniff::Yes("it begins with NVR, as reports do".to_owned())
    } else {
        Sniff::No("it does not begin with NVR".to_owned())
    }
}

/// The columns of a record: what identifies a launch, then the attributes of the device.
const HEADER: [&str; 16] = [
    "ID",
    "Process ID",
    "Kernel Name",
    "Stream",
    "Block Size",
    "Grid Size",
    "Device",
    "CC",
    "device__attribute_display_name",
    "device__attribute_compute_capability_major",
    "device__attribute_compute_capability_minor",
    "device__attribute_multiprocessor_count",
    "device__attribute_clock_rate",
    "device__attribute_memory_clock_rate",
    "device__attribute_global_memory_bus_width",
    "device__attribute_l2_cache_size",
];

/// First of the columns of [`HEADER`] that are metrics of the same name.
const ATTRIBUTES: usize = 8;

/// The column for the number of the device.
const ORDINAL: usize = 6;

/// What is done with a metric of the string table.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Use {
    Nothing,
    /// A metric, with its factor to SI units.
    Metric {
        slot: super::metrics::Slot,
        factor: f64,
        dimension: Dimension,
    },
    /// A column of the record.
    Column(usize),
    /// Number of the device.
    Ordinal,
    /// Blocks of the grid; a metric too.
    Blocks {
        slot: super::metrics::Slot,
    },
}

/// A value of a metric of the launch being read.
#[derive(Debug, Clone, Copy)]
struct Given {
    /// Position of the name.
    name: usize,
    number: f64,
    /// Whether it is that of a series of PM sampling.
    is_sampled: bool,
    /// Whether another value of it was given beside, so that none is used.
    is_twice: bool,
}

/// A launch with the number that the raw page gives it, and the process it ran in.
struct Pending {
    id: u32,
    process: u32,
    launch: LaunchResult,
}

/// What is known of the file while it is read.
struct Report {
    names: Vec<Vec<u8>>,
    uses: Vec<Use>,
    launched: Vec<u64>,
    /// Ranks of the names.
    ranks: Vec<usize>,
    given: Vec<Given>,
    /// By name, the number of the launch that had a value last, and where that is.
    places: Vec<(u64, usize)>,
    /// Values of a launch, with the ranks of their names.
    values: Vec<(usize, super::metrics::Slot, f64)>,
    catalog: Catalog,
    kinds: Gathered,
    identity: Identity,
    attributes: Attributes,
    row: Row,
    record: Vec<Vec<u8>>,
    described: Vec<u8>,
    /// Metrics whose names are not in the file.
    nameless: u64,
    /// Launches whose grid fits neither its blocks nor its threads.
    shapeless: u64,
    /// Advice that a launch had no room for.
    crowded: u64,
    version: Option<String>,
    command: String,
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    let mut file = Blocks::new(reading.bytes());
    let mut unknown = None;
    match file.start().map_err(|error| reading.failed(error))? {
        Start::Version(Some(VERSION)) => {}
        Start::Version(version) => {
            let version = version.map_or_else(|| "none".to_owned(), |one| one.to_string());
            let says = format!("the format has version {version}, where {VERSION} is known");
            let clue = format!("{says}; check the figures: {}", import::help(&reading.source.path));
            reading.source.clues.push(clue);
            unknown = Some(says);
        }
        Start::Damaged => {
            let help = format!("copy it again, or {}", import::help(&reading.source.path));
            return Err(reading.error("the report has no readable file header").help(help));
        }
    }
    let mut report = Report::new();
    let mut pending: VecDeque<Pending> = VecDeque::new();
    let (mut found, mut ranges) = (0_u32, 0_u64);
    loop {
        let block = match file.next().map_err(|error| reading.failed(error))? {
            Next::Block(block) => block,
            Next::End => break,
            Next::Cut(at) => {
                cut(reading, at, found)?;
                break;
            }
        };
        let header = block.header;
        report.names.extend(header.strings.into_iter().flat_map(|strings| strings.all));
        report.session(header.session.as_ref());
        ranges += u64::from(header.ranges);
        for _ in 0..header.graphs {
            reading.source.rows += 1;
            reading.skip(u64::from(found), None, "graph", GRAPH)?;
        }
        let process = header.process.map_or(0, |process| process.id);
        for launch in block.launches {
            pending.push_back(Pending { id: found, process, launch });
            found = found.saturating_add(1);
        }
        if let Some((at, what)) = block.damage {
            let reason =
                format!("the block at byte {at} is damaged ({what}): its launches are lost");
            reading.skip(u64::from(found), None, "", reason)?;
            reading.source.skips.count += u64::from(block.lost.saturating_sub(1));
            // Launches keep the numbers that the raw page gives them.
            found = found.saturating_add(block.lost);
        }
        while pending.front().is_some_and(|one| report.knows(&one.launch)) {
            let Some(one) = pending.pop_front() else { break };
            report.take(reading, &one)?;
        }
        if block.is_cut {
            cut(reading, block.begin, found)?;
            break;
        }
    }
    for one in pending {
        report.take(reading, &one)?;
    }
    if ranges > 0 {
        reading.source.clues.push(ranges_left_out(ranges));
    }
    if let Some(says) = unknown.filter(|_| reading.source.rows == 0) {
        let help = import::help(&reading.source.path);
        return Err(reading.error(format!("no launch can be read: {says}")).help(help));
    }
    report.finish(reading);
    Ok(())
}

/// Says that a file breaks off.
fn cut(reading: &mut Reading<'_>, at: u64, launches: u32) -> Result<(), IngestError> {
    let reason = if launches == 0 {
        format!("the report breaks off at byte {at}, before its first launch")
    } else {
        format!("the report breaks off after launch {launches} (byte {at}): what follows is lost")
    };
    reading.skip(u64::from(launches), None, "", reason)
}

impl Report {
    fn new() -> Self {
        let header = HEADER.map(str::to_owned);
        Self {
            names: Vec::new(),
            uses: Vec::new(),
            launched: Vec::new(),
            ranks: Vec::new(),
            given: Vec::new(),
            places: Vec::new(),
            values: Vec::new(),
            catalog: Catalog::default(),
            kinds: Gathered::default(),
            identity: Identity::new(&header),
            attributes: Attributes::new(&header),
            row: Row::new(Numerals::default()),
            record: vec![Vec::new(); HEADER.len()],
            described: Vec::new(),
            nameless: 0,
            shapeless: 0,
            crowded: 0,
            version: None,
            command: String::new(),
        }
    }

    /// Takes what a part of the session says of the profiler.
    fn session(&mut self, session: Option<&Session>) {
        let Some(session) = session else { return };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        for version in &session.versions {
            if version.provider == b"Nsight Compute Target" {
                self.version = text(&version.text).split_whitespace().next().map(str::to_owned);
            }
        }
        if !session.command.is_empty() {
            self.command = text(&session.command);
        }
    }

    /// Whether the names of all metrics of a launch have come.
    fn knows(&self, launch: &LaunchResult) -> bool {
        launch.metrics.iter().all(|metric| (metric.name as usize) < self.names.len())
    }

    /// Decides what the names that came since are used for.
    fn look_up(&mut self) {
        for name in &self.names[self.uses.len()..] {
            let name = String::from_utf8_lossy(name);
            self.kinds.saw(kind(&name));
            let wanted = self.catalog.metric(&name);
            let column = HEADER[ATTRIBUTES..].iter().position(|attribute| *attribute == name);
            self.uses.push(match (wanted, column) {
                (_, Some(column)) => Use::Column(ATTRIBUTES + column),
                (Some(wanted), _) if name == "launch__grid_size" => {
                    Use::Blocks { slot: wanted.slot }
                }
                (Some(wanted), _) => {
                    let dimension = wanted.dimension;
                    Use::Metric { slot: wanted.slot, factor: factor(dimension), dimension }
                }
                (None, None) if name == "device__attribute_device_index" => Use::Ordinal,
                (None, None) => Use::Nothing,
            });
            self.launched.push(0);
            self.places.push((0, 0));
            self.ranks.push(wanted.map_or(0, |_| rank(&name)));
        }
    }

    /// Appends a launch.
    fn take(&mut self, reading: &mut Reading<'_>, one: &Pending) -> Result<(), IngestError> {
        if self.uses.len() < self.names.len() {
            self.look_up();
        }
        let Pending { id, process, launch } = one;
        let line = u64::from(*id) + 1;
        reading.source.rows += 1;
        self.row.raw.clear();
        self.record.iter_mut().for_each(Vec::clear);
        let blocks = self.gather(reading, launch, line)?;
        self.row.raw.saw_as(&self.kinds);
        self.describe(launch, blocks, [*id, *process]);
        let record = csv::ByteRecord::from(self.record.as_slice());
        let record = Record::from(&record);
        let parse = |cell: &[u8]| Numerals::default().parse(cell).ok().flatten();
        let cells = self.identity.device_cells(&record);
        self.attributes.cells(&record, &mut self.described);
        let attributes = &self.attributes;
        let device = self.identity.device(reading, cells, &self.described, |hint| {
            attributes.complete(hint, &record, parse);
        });
        let mut head = self.identity.head(reading, &record)?;
        head.device = device;
        let path = launch::path(launch);
        if !path.is_empty() {
            head.operator = reading.name(path.as_bytes());
        }
        complete_shape(&mut head.shape, &self.row.raw);
        let row = self.row.push(reading, &self.catalog, head);
        for rule in &launch.rules {
            for item in rule.body.iter().flat_map(|body| &body.items) {
                self.advise(reading, row, (&rule.id, item), line)?;
            }
        }
        Ok(())
    }

    /// Gathers the values of a launch, and returns the number of its blocks if a metric has it.
    ///
    /// # Errors
    /// When a value cannot be used and reading is strict.
    fn gather(
        &mut self,
        reading: &mut Reading<'_>,
        launch: &LaunchResult,
        line: u64,
    ) -> Result<Option<f64>, IngestError> {
        self.given.clear();
        for metric in &launch.metrics {
            let at = metric.name as usize;
            let Some(of) = self.uses.get(at).copied() else {
                self.nameless += 1;
                continue;
            };
            let Some(value) = &metric.value else { continue };
            let (column, dimension) = match of {
                Use::Nothing => continue,
                Use::Column(column) => (Some(column), Dimension::Count),
                Use::Ordinal => (Some(ORDINAL), Dimension::Count),
                Use::Metric { dimension, .. } => (None, dimension),
                Use::Blocks { .. } => (None, Dimension::Count),
            };
            match (column.map(|column| &mut self.record[column]), value.number(), &value.text) {
                (Some(cell), _, _) if !cell.is_empty() => {}
                (Some(cell), Some(number), _) => *cell = number.to_string().into_bytes(),
                (Some(cell), None, Some(text)) if of != Use::Ordinal => cell.clone_from(text),
                (None, Some(number), _)
                    if number < 0.0 && !dimension.can_be_negative(&self.names[at]) =>
                {
                    let reason = format!("{} cannot be negative", dimension.noun());
                    self.skip(reading, line, at, number, reason)?;
                }
                (None, Some(number), _) => {
                    let is_sampled = metric.sampled != 0;
                    if !self.give(Given { name: at, number, is_sampled, is_twice: false }, line) {
                        self.skip(reading, line, at, number, TWICE)?;
                    }
                }
                _ => {}
            }
        }
        Ok(self.fill())
    }

    /// Names a value that is left out.
    fn skip(
        &self,
        reading: &mut Reading<'_>,
        line: u64,
        name: usize,
        number: f64,
        reason: impl Into<String>,
    ) -> Result<(), IngestError> {
        let name = String::from_utf8_lossy(&self.names[name]);
        reading.skip(line, Some(&name), &number.to_string(), reason)
    }

    /// Keeps a value of a launch; false where the same metric has another one. A sum over samples is no other value
    /// than the counted one, which is used.
    fn give(&mut self, new: Given, line: u64) -> bool {
        let (last, at) = &mut self.places[new.name];
        if *last != line {
            (*last, *at) = (line, self.given.len());
            self.given.push(new);
            return true;
        }
        let known = &mut self.given[*at];
        match (known.is_sampled, new.is_sampled) {
            (false, true) => true,
            (true, false) => {
                *known = new;
                true
            }
            _ => {
                let is_same = is_same(known.number, new.number, REPEATED);
                known.is_twice |= !is_same;
                is_same
            }
        }
    }

    /// Puts the values of a launch where they belong, and returns the number of its blocks.
    fn fill(&mut self) -> Option<f64> {
        let mut blocks = None;
        self.values.clear();
        // The first value of a slot stays: of names that are as good, that of the last one.
        for one in self.given.iter().rev().filter(|one| !one.is_twice) {
            match self.uses[one.name] {
                Use::Metric { slot, factor, .. } => {
                    self.values.push((self.ranks[one.name], slot, one.number * factor));
                }
                Use::Blocks { slot } => {
                    blocks = Some(one.number);
                    self.row.raw.set(slot, one.number);
                }
                _ => continue,
            }
            self.launched[one.name] += 1;
        }
        // Of a value with several names that of the best one stays, wherever it is.
        self.values.sort_by_key(|(rank, ..)| *rank);
        for (_, slot, value) in &self.values {
            self.row.raw.set(*slot, *value);
        }
        blocks
    }

    /// Fills in what identifies a launch.
    fn describe(&mut self, launch: &LaunchResult, blocks: Option<f64>, [id, process]: [u32; 2]) {
        let extent = |extent: Option<[u64; 3]>| {
            extent.map_or_else(Vec::new, |[x, y, z]| format!("({x}, {y}, {z})").into_bytes())
        };
        let grid = launch::grid(launch, blocks);
        self.shapeless += u64::from(grid.is_none() && launch.grid.is_some());
        self.record[0] = id.to_string().into_bytes();
        self.record[1] = process.to_string().into_bytes();
        self.record[2] = launch::kernel(launch).to_vec();
        self.record[3] = launch.stream.map_or_else(Vec::new, |one| one.to_string().into_bytes());
        self.record[4] = extent(launch::block(launch));
        self.record[5] = extent(grid);
        let [major, minor] = [&self.record[ATTRIBUTES + 1], &self.record[ATTRIBUTES + 2]];
        if !major.is_empty() && !minor.is_empty() {
            self.record[7] = [major.as_slice(), b".", minor.as_slice()].concat();
        }
    }

    /// Adds what a rule says of a launch.
    fn advise(
        &mut self,
        reading: &mut Reading<'_>,
        row: usize,
        (rule, item): (&[u8], &RuleItem),
        line: u64,
    ) -> Result<(), IngestError> {
        let Some((kind, text)) = launch::advice(item) else { return Ok(()) };
        let speedup = match &item.speedup {
            Some(one) => {
                let scope = match one.scope {
                    1 => Some(SpeedupScope::Local),
                    2 => Some(SpeedupScope::Global),
                    _ => None,
                };
                let found = speedup(scope, one.percent);
                if let Err(reason) = found {
                    reading.skip(line, Some(SPEEDUP), &one.percent.to_string(), reason)?;
                }
                found.ok()
            }
            None => None,
        };
        let about = about(&String::from_utf8_lossy(rule), &text);
        let advice = ToolAdvice {
            rule: reading.name(rule),
            kind,
            about: reading.name(about.as_bytes()),
            speedup,
        };
        self.crowded += u64::from(!reading.advise(row, advice));
        Ok(())
    }

    /// Passes on what was seen over the whole file.
    fn finish(&self, reading: &mut Reading<'_>) {
        let version = self.version.as_deref().unwrap_or("2020.1 or older");
        let source = &mut reading.source;
        source.dialect = format!("report of Nsight Compute {version}, base units");
        if self.command.contains("--clock-control none")
            || self.command.contains("--clock-control=none")
        {
            source.clues.push("GPU clocks were not locked (--clock-control none)".to_owned());
        }
        if self.command.contains("--cache-control none")
            || self.command.contains("--cache-control=none")
        {
            source.keeps_caches = true;
            let clue = "caches were not flushed between passes (--cache-control none)";
            source.clues.push(clue.to_owned());
        }
        for (many, what) in [
            (self.nameless, "metric values have no name in the file and are left out"),
            (
                self.shapeless,
                "launches have a grid that fits neither its blocks nor its threads; it is left out",
            ),
            (self.crowded, "results of rules are left out: a launch has room for no more"),
        ] {
            if many > 0 {
                source.clues.push(format!("{many} {what}"));
            }
        }
        source.clues.extend(self.catalog.clues());
        for (name, launches) in self.names.iter().zip(&self.launched) {
            if *launches > 0 {
                let name = String::from_utf8_lossy(name).into_owned();
                *source.columns.entry(name).or_default() += launches;
            }
        }
        self.row.finish(reading);
    }
}

/// Factor from the base unit of a report to SI: times are in nanoseconds, shares in percent.
const fn factor(dimension: Dimension) -> f64 {
    match dimension {
        Dimension::Time => 1e-9,
        Dimension::Percent => 0.01,
        _ => 1.0,
    }
}
