//! Nsight Compute `--print-summary per-kernel`: minimum, maximum and average over a kernel's launches.

use std::collections::{HashMap, HashSet};

use super::metrics::Slot;
use super::nvtx::Nvtx;
use super::row::{REPEATED, RESCALED, Row, TWICE, is_same};
use super::{
    Catalog, GRAPH, Identity, Preamble, Wanted, Whole, complete_shape, content, kind, unit,
};
use crate::ingest::decimal::Evidence;
use crate::ingest::headers::{header_again, header_of, titled_once};
use crate::ingest::sample::as_text;
use crate::ingest::split::fields;
use crate::ingest::{Format, IngestError, Reading, Record, Sample, Sniff};
use crate::model::{Head, Profiler};

pub(super) const FORMAT: Format = Format {
    name: "ncu-summary",
    profiler: Profiler::NsightCompute,
    summary: "per-kernel summary: averages over the invocations of each kernel",
    command: "ncu --import report.ncu-rep --csv --print-summary per-kernel --metrics gpu__time_duration.sum,dram__bytes.sum,… > report.csv",
    sniff,
    read,
};

fn is_header(fields: &[String]) -> bool {
    let has = |name: &str| fields.iter().any(|field| field == name);
    ["Kernel Name", "Metric Name", "Invocations", "Average"].into_iter().all(has)
}

fn sniff(sample: &Sample) -> Sniff {
    match sample.header(|line| line.contains("Invocations"), is_header) {
        Some(_) => Sniff::Yes("a header with Metric Name, Invocations and Average".to_owned()),
        None => Sniff::No("no header with Metric Name, Invocations and Average".to_owned()),
    }
}

/// Where the value columns are.
struct Columns {
    section: Option<usize>,
    name: usize,
    unit: Option<usize>,
    invocations: usize,
    average: usize,
    /// The columns that identify a kernel.
    identity: Vec<usize>,
    width: usize,
}

/// Columns that identify a kernel, beside those of NVTX ranges. Not the compute capability, which rows may lack that scripts wrote.
const IDENTITY: [&str; 10] = [
    "Process ID",
    "Process Name",
    "Host Name",
    "Kernel Name",
    "Context",
    "Stream",
    "Block Size",
    "Grid Size",
    "Device",
    "Invocations",
];

impl Columns {
    fn new(header: &[String]) -> Self {
        let find = |name: &str| header.iter().position(|field| field == name);
        Self {
            section: find("Section Name"),
            name: find("Metric Name").unwrap_or_default(),
            unit: find("Metric Unit"),
            invocations: find("Invocations").unwrap_or_default(),
            identity: IDENTITY
                .into_iter()
                .filter_map(find)
                .chain(Nvtx::new(header).columns())
                .collect(),
            average: find("Average").unwrap_or_default(),
            width: header.len(),
        }
    }
}

/// The cells that identify a kernel.
type Key = Vec<Vec<u8>>;

/// A value of a metric.
#[derive(Clone, Copy)]
struct Given {
    /// Which section and metric, and which unit, by their order in the file.
    metric: usize,
    unit: usize,
    slot: Slot,
    value: f64,
    /// Whether another value of it was given beside, so that none is used.
    is_twice: bool,
}

impl Given {
    /// Whether another value of the same metric says the same.
    fn agrees(&self, value: f64, unit: usize) -> bool {
        is_same(value, self.value, if self.unit == unit { REPEATED } else { RESCALED })
    }
}

/// A kernel whose rows are being gathered: rows may be sorted by metric, or have a section after the other.
struct Open {
    head: Head,
    given: Vec<Given>,
    saw_sass: bool,
    saw_hardware: bool,
}

impl Open {
    /// Whether more rows of the same kernel give no metric another value.
    fn agrees(&self, more: &Self) -> bool {
        more.given.iter().all(|one| {
            let known = self.given.iter().find(|known| known.metric == one.metric);
            known.is_none_or(|known| known.agrees(one.value, one.unit))
        })
    }

    /// Adds the metrics of more rows.
    fn add(&mut self, more: &Self) {
        self.saw_sass |= more.saw_sass;
        self.saw_hardware |= more.saw_hardware;
        for one in &more.given {
            if self.given.iter().all(|known| known.metric != one.metric) {
                self.given.push(*one);
            }
        }
    }
}

/// Texts by the order in which they came.
#[derive(Default)]
struct Texts(HashMap<String, usize>);

impl Texts {
    fn place(&mut self, text: String) -> usize {
        let next = self.0.len();
        *self.0.entry(text).or_insert(next)
    }
}

struct Table {
    columns: Columns,
    identity: Identity,
    catalog: Catalog,
    row: Row,
    /// The kernel of the rows that stand together.
    current: Option<(Key, Open)>,
    /// Those before, in the order in which they began, and where the last one of a key is.
    open: Vec<Open>,
    places: HashMap<Key, usize>,
    /// The graphs and ranges whose rows are left out.
    left_out: HashSet<(Whole, Key)>,
    metrics: Texts,
    units: Texts,
    preamble: Preamble,
    kernels: u32,
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    let mut preamble = Preamble::default();
    let header = reading.header(
        |line| line.contains("Invocations") && is_header(&fields(line)),
        |line| preamble.line(line),
    )?;
    titled_once(reading, reading.line(), header.iter().map(String::as_str))?;
    let columns = Columns::new(&header);
    let numerals = reading.numerals(&evidence(&reading.sample, &columns), true)?;
    let mut table = Table {
        columns,
        identity: Identity::new(&header),
        catalog: Catalog::default(),
        row: Row::new(numerals),
        current: None,
        open: Vec::new(),
        places: HashMap::new(),
        left_out: HashSet::new(),
        metrics: Texts::default(),
        units: Texts::default(),
        preamble,
        kernels: 0,
    };
    let mut records = reading.records();
    while let Some(record) = records.next()? {
        let line = record.line();
        table.record(reading, &record, line)?;
    }
    table.finish(reading);
    reading.source.dialect =
        format!("per-kernel summary, {} columns; values are averages", header.len());
    table.preamble.tell(reading);
    reading.source.clues.extend(table.catalog.clues());
    table.row.finish(reading);
    Ok(())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Table {
    fn record(
        &mut self,
        reading: &mut Reading<'_>,
        record: &Record<'_>,
        line: u64,
    ) -> Result<(), IngestError> {
        if self.preamble.takes(reading, record) {
            return Ok(());
        }
        if let Some(header) = header_again(record, self.columns.invocations, is_header) {
            self.close();
            titled_once(reading, line, header.iter().map(String::as_str))?;
            reading.source.other_lines += 1;
            (self.identity, self.columns) = (Identity::new(&header), Columns::new(&header));
            return Ok(());
        }
        let columns = &self.columns;
        reading.source.rows += 1;
        if !record.fits(columns.average + 1..=usize::MAX) {
            return reading.misfit(line, record, columns.width);
        }
        let key: Key = columns
            .identity
            .iter()
            .map(|at| record.get(*at).unwrap_or_default().trim_ascii().to_vec())
            .collect();
        if self.current.as_ref().is_none_or(|(current, _)| *current != key) {
            self.close();
            if let Some(whole) = self.identity.whole(record) {
                return self.leave_out(reading, record, (whole, key));
            }
            if !self.start(reading, record, key)? {
                let cell = text(record.get(self.columns.invocations).unwrap_or_default());
                return reading.skip(line, Some("Invocations"), &cell, "cannot read as a count");
            }
        }
        self.value(reading, record, line)
    }

    /// Leaves out a row of graphs or ranges; each is counted once.
    fn leave_out(
        &mut self,
        reading: &mut Reading<'_>,
        record: &Record<'_>,
        result: (Whole, Key),
    ) -> Result<(), IngestError> {
        let whole = result.0;
        match whole {
            _ if !self.left_out.insert(result) => {}
            Whole::Graph => reading.skip(record.line(), Some("Kernel Name"), "graph", GRAPH)?,
            Whole::Range => {
                let cell = record.get(self.columns.invocations).unwrap_or_default();
                let count = self.row.numerals.whole(cell).ok().flatten();
                self.row.seen.ranges += count.map_or(1, u64::from);
            }
        }
        Ok(())
    }

    /// Begins a kernel; false if its number of invocations cannot be read.
    ///
    /// # Errors
    /// When another cell cannot be read and reading is strict.
    fn start(
        &mut self,
        reading: &mut Reading<'_>,
        record: &Record<'_>,
        key: Key,
    ) -> Result<bool, IngestError> {
        let cell = record.get(self.columns.invocations).unwrap_or_default();
        let count = self.row.numerals.whole(cell).ok().flatten().filter(|count| *count > 0);
        let Some(count) = count else { return Ok(false) };
        let mut head = self.identity.head(reading, record)?;
        let cells = self.identity.device_cells(record);
        let preamble = &self.preamble;
        head.device = self.identity.device(reading, cells, &[], |hint| preamble.complete(hint));
        head.count = count;
        let open = Open { head, given: Vec::new(), saw_sass: false, saw_hardware: false };
        self.current = Some((key, open));
        Ok(true)
    }

    fn value(
        &mut self,
        reading: &mut Reading<'_>,
        record: &Record<'_>,
        line: u64,
    ) -> Result<(), IngestError> {
        let Some((_, open)) = &mut self.current else { return Ok(()) };
        let columns = &self.columns;
        let cell = |column: Option<usize>| {
            column.and_then(|column| record.get(column)).unwrap_or_default()
        };
        let (metric, word) = (text(cell(Some(columns.name))), text(cell(columns.unit)));
        self.row.raw.clear();
        self.row.raw.saw(kind(&metric));
        open.saw_sass |= self.row.raw.saw_sass;
        open.saw_hardware |= self.row.raw.saw_hardware;
        let section = text(cell(columns.section));
        let Some(wanted) = self.catalog.row(&section, &metric, word == "%") else {
            return Ok(());
        };
        let average = cell(Some(columns.average));
        let reason = match (self.row.numerals.parse(average), factor(wanted, &word)) {
            (Ok(None), _) => return Ok(()),
            (_, Err(reason)) => reason,
            (Ok(Some(value)), Ok(_))
                if value < 0.0 && !wanted.dimension.can_be_negative(metric.as_bytes()) =>
            {
                format!("{} cannot be negative", wanted.dimension.noun())
            }
            (Ok(Some(value)), Ok(factor)) => {
                let value = value * factor;
                let place = self.metrics.place(format!("{section}\0{metric}"));
                let unit = self.units.place(word);
                let mut given = open.given.iter_mut();
                let Some(known) = given.find(|known| known.metric == place) else {
                    *reading.source.columns.entry(metric).or_default() += 1;
                    let slot = wanted.slot;
                    open.given.push(Given { metric: place, unit, slot, value, is_twice: false });
                    return Ok(());
                };
                if known.agrees(value, unit) {
                    return Ok(());
                }
                known.is_twice = true;
                TWICE.to_owned()
            }
            (Err(_), Ok(_)) => format!("cannot read as {}", wanted.dimension.noun()),
        };
        reading.skip(line, Some(&metric), &text(average), reason)
    }

    /// Ends the rows that stand together: more of a kernel that was there before, or another one.
    fn close(&mut self) {
        let Some((key, mut open)) = self.current.take() else { return };
        if let Some(known) = self.places.get(&key).map(|at| &mut self.open[*at])
            && known.agrees(&open)
        {
            known.add(&open);
            return;
        }
        open.head.id = self.kernels;
        self.kernels += 1;
        self.places.insert(key, self.open.len());
        self.open.push(open);
    }

    /// Turns the kernels into rows.
    fn finish(&mut self, reading: &mut Reading<'_>) {
        self.close();
        for mut open in self.open.drain(..) {
            let raw = &mut self.row.raw;
            raw.clear();
            for one in open.given.iter().filter(|one| !one.is_twice) {
                raw.set(one.slot, one.value);
            }
            (raw.saw_sass, raw.saw_hardware) = (open.saw_sass, open.saw_hardware);
            complete_shape(&mut open.head.shape, raw);
            self.row.push(reading, &self.catalog, open.head);
        }
    }
}

fn factor(wanted: Wanted, word: &str) -> Result<f64, String> {
    match unit(word) {
        Some(unit) if unit.dimension == wanted.dimension => Ok(unit.factor * wanted.factor),
        Some(_) => Err(format!("unit {word:?} is not {}", wanted.dimension.noun())),
        None => Err(format!("unknown unit {word:?}")),
    }
}

/// What the averages in the sample show of how numbers are written.
fn evidence(sample: &Sample, columns: &Columns) -> Evidence {
    let mut evidence = Evidence::default();
    let Some((_, rest)) = sample.header(|line| line.contains("Invocations"), is_header) else {
        return evidence;
    };
    let mut again = None;
    for record in sample.records(rest, 5_000).iter() {
        if let Some(header) = header_of(&record, "Invocations", is_header) {
            again = Some(Columns::new(&header));
        }
        let columns = again.as_ref().unwrap_or(columns);
        let unit = columns.unit.and_then(|unit| record.get(unit)).unwrap_or_default();
        // An average is no whole number, whatever the metric is.
        let content = content("", as_text(unit));
        evidence.add(record.get(columns.average).unwrap_or_default(), content, || None);
    }
    evidence
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Options, read_text};
    use crate::model::{Profile, Quantity};

    /// A summary of these rows: kernel, invocations, section, metric, unit and average.
    fn profile(rows: &[[&str; 6]]) -> Profile {
        let mut text =
            "\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Block Size\",\
                        \"Grid Size\",\"Device\",\"CC\",\"Invocations\",\"Section Name\",\
                        \"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"\n"
                .to_owned();
        for [kernel, count, section, metric, unit, average] in rows {
            text.push_str(&format!(
                "\"1\",\"app\",\"host\",\"{kernel}\",\"(256, 1, 1)\",\"(8, 1, 1)\",\"0\",\"8.9\",\
                 \"{count}\",\"{section}\",\"{metric}\",\"{unit}\",\"1.00\",\"9.00\",\"{average}\"\n"
            ));
        }
        read_text("summary.csv", text.leak(), &Options::default()).unwrap()
    }

    const PLAIN: &str = "Command line profiler metrics";
    const TIME: &str = "gpu__time_duration.sum";
    const BYTES: &str = "dram__bytes.sum";

    /// An average of 2 µs over 96 launches; another section of the same kernel follows later.
    #[test]
    fn a_kernel_is_one_row_that_stands_for_its_launches() {
        let found = profile(&[
            ["a", "96", PLAIN, TIME, "us", "2.00"],
            ["b", "4", PLAIN, TIME, "ns", "500.00"],
            ["a", "96", PLAIN, BYTES, "Kbyte", "64.00"],
        ]);
        assert_eq!((found.launches.len(), found.sources[0].launches), (2, 100));
        let a = found.launch(0);
        assert_eq!((a.kernel(), a.head.count), ("a", 96));
        assert!((a.duration().unwrap().0.get() - 2e-6).abs() < 1e-18);
        assert_eq!(a.value(Quantity::DramBytes), Some(64_000.0));
        assert!((found.launch(1).duration().unwrap().0.get() - 5e-7).abs() < 1e-18);
    }

    /// With `--nvtx` a kernel has a row for each range: here of 3 launches of 200 ns, and of 3 of 400 ns.
    #[test]
    fn a_kernel_of_several_nvtx_ranges_is_a_row_for_each() {
        let rows = |range: &str, average: &str| {
            format!(
                "\"1\",\"app\",\"host\",\"\"\"<default domain>:{range}:none:none:none:none:none:none\"\"\",\"\",\"k\",\
                 \"(256, 1, 1)\",\"(8, 1, 1)\",\"0\",\"8.9\",\"3\",\"{PLAIN}\",\"{TIME}\",\"ns\",\"1.00\",\"9.00\",\"{average}\"\n"
            )
        };
        let header = "\"Process ID\",\"Process Name\",\"Host Name\",\
            \"thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg\",\
            \"Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg\",\"Kernel Name\",\
            \"Block Size\",\"Grid Size\",\"Device\",\"CC\",\"Invocations\",\"Section Name\",\
            \"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\",\"Average\"\n";
        for averages in [["200.00", "400.00"], ["200.00", "200.00"]] {
            let text = format!("{header}{}{}", rows("fwd", averages[0]), rows("bwd", averages[1]));
            let found = read_text("summary.csv", text.leak(), &Options::default()).unwrap();
            let times: Vec<(&str, u32, f64)> = found
                .iter()
                .map(|launch| {
                    let time = launch.value(Quantity::Duration).unwrap() * 1e9;
                    (found.names.get(launch.head.operator), launch.head.count, time.round())
                })
                .collect();
            let [one, two] = averages.map(|average| average.parse::<f64>().unwrap());
            assert_eq!(times, [("fwd", 3, one), ("bwd", 3, two)]);
        }
    }

    #[test]
    fn two_kernels_that_look_alike_and_differ_in_a_value_are_two() {
        let found = profile(&[
            ["a", "96", PLAIN, TIME, "us", "2.00"],
            ["b", "4", PLAIN, TIME, "us", "1.00"],
            ["a", "96", PLAIN, TIME, "us", "3.00"],
        ]);
        assert_eq!(found.launches.len(), 3);
    }

    #[test]
    fn a_metric_with_two_values_is_left_out_and_named() {
        let found = profile(&[
            ["a", "96", PLAIN, TIME, "us", "2.00"],
            ["a", "96", PLAIN, TIME, "ns", "2004.00"],
            ["a", "96", PLAIN, BYTES, "byte", "64"],
            ["a", "96", PLAIN, BYTES, "byte", "65"],
            ["b", "4", PLAIN, BYTES, "byte", "65"],
        ]);
        assert_eq!(found.launches.len(), 2);
        assert_eq!(found.launch(0).value(Quantity::Duration), Some(2.0 * 1e-6));
        assert_eq!(found.launch(0).value(Quantity::DramBytes), None);
        assert_eq!(found.launch(1).value(Quantity::DramBytes), Some(65.0));
        let skips = &found.sources[0].skips;
        let first = &skips.first[0];
        assert_eq!((skips.count, first.line, first.column.as_deref()), (1, 5, Some(BYTES)));
        assert!(first.reason.starts_with("given twice"), "{}", first.reason);
    }

    /// A graph has the grid of one of its kernels, as on a details page; ranges have none. 3 and 4 of them are 7.
    #[test]
    fn whole_graphs_and_ranges_are_no_launches() {
        let mut text =
            "\"Process ID\",\"Kernel Name\",\"Block Size\",\"Grid Size\",\"Invocations\",\
                        \"Section Name\",\"Metric Name\",\"Metric Unit\",\"Average\"\n"
                .to_owned();
        for (process, kernel, shape, count) in [
            (1, "graph", "(8, 1, 1)", 3),
            (1, "range", "(0, 0, 0)", 3),
            (1, "range", "(8, 1, 1)", 2),
            (2, "range", "", 4),
        ] {
            for (metric, unit) in [(TIME, "ns"), (BYTES, "byte")] {
                text += &format!(
                    "{process},{kernel},\"{shape}\",\"{shape}\",{count},{PLAIN},{metric},{unit},64\n"
                );
            }
        }
        let found = read_text("summary.csv", text.leak(), &Options::default()).unwrap();
        let rows: Vec<_> = found.iter().map(|one| (one.kernel(), one.head.count)).collect();
        assert_eq!(rows, [("range", 2)]);
        let source = &found.sources[0];
        assert_eq!((source.skips.count, source.skips.first[0].reason.as_str()), (1, super::GRAPH));
        let clue = "7 results of range replay are not read: they are not launches";
        assert!(source.clues.iter().any(|one| one == clue), "{:?}", source.clues);
    }

    #[test]
    fn what_cannot_be_read_is_skipped_and_says_why() {
        let found = profile(&[
            ["a", "96", PLAIN, TIME, "byte", "2.00"],
            ["a", "96", PLAIN, BYTES, "wombat", "2.00"],
            ["a", "96", PLAIN, BYTES, "byte", "-2.00"],
            ["a", "96", PLAIN, BYTES, "byte", "many"],
            ["a", "96", PLAIN, BYTES, "byte", "n/a"],
            ["b", "0", PLAIN, TIME, "us", "2.00"],
        ]);
        let reasons: Vec<&str> =
            found.sources[0].skips.first.iter().map(|skip| skip.reason.as_str()).collect();
        assert_eq!(reasons.len(), 5, "{reasons:?}");
        assert!(reasons[0].starts_with("unit \"byte\" is not"), "{reasons:?}");
        assert_eq!(reasons[1], "unknown unit \"wombat\"");
        assert!(reasons[2].ends_with("cannot be negative"), "{reasons:?}");
        assert_eq!(reasons[4], "cannot read as a count");
        // A kernel whose invocations cannot be read is none.
        assert_eq!(found.launches.len(), 1);
    }
}
