//! `nvprof --metrics … --csv`: one row per kernel and metric, with minimum, maximum and average over its launches.
//!
//! It has no times: `averages` joins it with a trace of the same program. What each metric counts: *Profiler User's
//! Guide*, "Metrics Reference"; counterparts in Nsight Compute: *Nsight Compute CLI*, "nvprof Metric Comparison".

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

use super::{begin, found, header_again, is_message};
use crate::ingest::rows::{Row, unquoted};
use crate::ingest::timeline::{Devices, Tables, Turn, read_tables};
use crate::ingest::{Format, IngestError, Numerals, Reading, Sample, Sniff};
use crate::model::{Head, HintId, NameId, Origin, OriginKind, Pipe, Profiler, Quantity, Values};
use crate::plain::counted;

pub(super) const FORMAT: Format = Format {
    name: "nvprof-metrics",
    profiler: Profiler::Nvprof,
    summary: "`nvprof --metrics`: averages over the launches of each kernel, without times; give a trace with it",
    command: "nvprof --csv --metrics flop_count_sp,flop_count_dp,flop_count_hp,dram_read_transactions,dram_write_transactions,achieved_occupancy --log-file metrics.csv APP",
    sniff,
    read,
};

const WANTED: [&str; 5] = ["Metric Name", "Kernel", "Invocations", "Min", "Avg"];

fn sniff(sample: &Sample) -> Sniff {
    match found(sample, &WANTED) {
        Some(_) => Sniff::Yes("a header with Kernel, Invocations and Metric Name".to_owned()),
        None => Sniff::No("no header with Kernel, Invocations and Metric Name".to_owned()),
    }
}

/// How a quantity follows from metrics: their sum times a factor.
struct Rule {
    quantity: Quantity,
    metrics: &'static [&'static str],
    factor: f64,
    /// Whether it is a share of what may not have occurred: 0 and more than all say nothing.
    is_share: bool,
}

const fn sum(quantity: Quantity, factor: f64, metrics: &'static [&'static str]) -> Rule {
    Rule { quantity, metrics, factor, is_share: false }
}

const fn share(quantity: Quantity, factor: f64, metrics: &'static [&'static str]) -> Rule {
    Rule { quantity, metrics, factor, is_share: true }
}

/// Bytes of a transaction: a sector of L2 and of device memory.
const SECTOR: f64 = 32.0;

/// Bytes of a transaction of shared memory: 4 from each of 32 banks.
const ALL_BANKS: f64 = 128.0;

/// The quantities; of several rules for one, the first that has its metrics counts.
///
/// Operations count a fused multiply-add as two; special functions are counted apart, work of tensor cores nowhere.
const RULES: &[Rule] = &[
    sum(Quantity::Work(Pipe::Fp32Vector), 1.0, &["flop_count_sp"]),
    sum(Quantity::Work(Pipe::Fp64Vector), 1.0, &["flop_count_dp"]),
    sum(Quantity::Work(Pipe::Fp16Vector), 1.0, &["flop_count_hp"]),
    sum(Quantity::DramBytes, 1.0, &["dram_read_bytes", "dram_write_bytes"]),
    sum(Quantity::DramBytes, SECTOR, &["dram_read_transactions", "dram_write_transactions"]),
    sum(Quantity::DramReadBytes, 1.0, &["dram_read_bytes"]),
    sum(Quantity::DramReadBytes, SECTOR, &["dram_read_transactions"]),
    sum(Quantity::DramWriteBytes, 1.0, &["dram_write_bytes"]),
    sum(Quantity::DramWriteBytes, SECTOR, &["dram_write_transactions"]),
    sum(Quantity::L2Bytes, SECTOR, &["l2_read_transactions", "l2_write_transactions"]),
    sum(Quantity::SystemBytes, SECTOR, &["sysmem_read_transactions", "sysmem_write_transactions"]),
    // Conflicts repeat a transaction: each takes a clock of the SM.
    sum(
        Quantity::SharedBytes,
        ALL_BANKS,
        &["shared_load_transactions", "shared_store_transactions"],
    ),
    share(Quantity::AchievedOccupancy, 1.0, &["achieved_occupancy"]),
    share(Quantity::IssueActive, 1.0, &["issue_slot_utilization"]),
    share(Quantity::LoadSectorEfficiency, 1.0, &["gld_efficiency"]),
    share(Quantity::StoreSectorEfficiency, 1.0, &["gst_efficiency"]),
    share(Quantity::ThreadsPerInstruction, 32.0, &["warp_execution_efficiency"]),
    share(Quantity::PredicatedThreadsPerInstruction, 32.0, &["warp_nonpred_execution_efficiency"]),
];

/// Minimum, maximum and average.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Spread {
    low: f64,
    high: f64,
    mean: f64,
}

/// A kernel with its metrics so far.
#[derive(Debug)]
struct Kernel {
    name: NameId,
    device: HintId,
    count: u32,
    /// None where a metric is given twice with different values.
    metrics: BTreeMap<&'static str, Option<Spread>>,
}

struct Columns {
    titles: Vec<String>,
    device: Option<usize>,
    kernel: usize,
    invocations: usize,
    metric: usize,
    spread: [usize; 3],
}

impl Columns {
    fn of(header: &[String]) -> Option<Self> {
        let at = |name: &str| header.iter().position(|title| title == name);
        Some(Self {
            titles: header.to_vec(),
            device: at("Device"),
            kernel: at("Kernel")?,
            invocations: at("Invocations")?,
            metric: at("Metric Name")?,
            spread: [at("Min")?, at("Max")?, at("Avg")?],
        })
    }
}

struct Metrics {
    columns: Columns,
    numerals: Numerals,
    devices: Devices,
    /// Those of the tables before.
    kernels: Vec<Kernel>,
    /// Those of the current table.
    table: Vec<Kernel>,
    /// Where they are.
    places: HashMap<(NameId, HintId, u32), usize>,
    /// Launches of tables that are in the file twice.
    repeated: u64,
}

impl Metrics {
    /// Adds the kernels of the table that ends. Further metrics belong to the kernels of the tables before, other values
    /// of the same metrics to another run.
    fn end_table(&mut self) {
        self.places.clear();
        let key = |kernel: &Kernel| (kernel.name, kernel.device, kernel.count);
        let mut known: HashMap<_, usize> = HashMap::new();
        for (at, kernel) in self.kernels.iter().enumerate() {
            known.insert(key(kernel), at);
        }
        // One kernel that differs shows that the table is of another run.
        let is_other = self.table.iter().any(|kernel| {
            let before = known.get(&key(kernel)).map(|at| &self.kernels[*at]);
            before.is_some_and(|before| before.contradicts(kernel))
        });
        for kernel in self.table.drain(..) {
            match known.get(&key(&kernel)).filter(|_| !is_other) {
                None => self.kernels.push(kernel),
                Some(at) => {
                    let before = &mut self.kernels[*at].metrics;
                    let count = before.len();
                    before.extend(kernel.metrics);
                    if before.len() == count {
                        self.repeated += u64::from(kernel.count);
                    }
                }
            }
        }
    }
}

impl Tables for Metrics {
    fn turn(&mut self, reading: &mut Reading<'_>, row: &Row) -> Result<Turn, IngestError> {
        if is_message(row.cell(0)) {
            return Ok(Turn::Taken);
        }
        if row.cell(self.columns.metric) != b"Metric Name" && row.cell(0) != b"Device" {
            return Ok(Turn::Row);
        }
        let header = header_again(reading, row, &WANTED)?;
        Ok(match header.as_deref().and_then(Columns::of) {
            Some(columns) => {
                let width = columns.titles.len();
                self.columns = columns;
                self.end_table();
                Turn::Titles(width)
            }
            // Events, for instance.
            None => Turn::Away,
        })
    }

    fn row(&mut self, reading: &mut Reading<'_>, row: &Row) -> Result<(), IngestError> {
        let columns = &self.columns;
        reading.source.rows += 1;
        let skip = |reading: &mut Reading<'_>, at: usize, reason: &str| {
            let title = columns.titles.get(at).map(String::as_str);
            reading.skip(row.line(), title, &row.text(at), reason)
        };
        let cell = row.cell(columns.invocations);
        let count = self.numerals.parse(cell).ok().flatten();
        let count = count.filter(|count| *count >= 1.0 && *count <= f64::from(u32::MAX));
        let Some(count) = count.filter(|count| count.fract() == 0.0) else {
            return skip(reading, columns.invocations, "not a number of launches");
        };
        let count = count as u32;
        let name = reading.name(&unquoted(row.cell(columns.kernel)));
        let device = columns.device.map_or(&b""[..], |at| row.cell(at));
        let device = self.devices.hint(reading, device, "Device");
        let place = *self.places.entry((name, device, count)).or_insert_with(|| {
            self.table.push(Kernel { name, device, count, metrics: BTreeMap::new() });
            self.table.len() - 1
        });
        let metric = row.cell(columns.metric);
        let known = RULES.iter().flat_map(|rule| rule.metrics);
        let Some(metric) = known.copied().find(|known| known.as_bytes() == metric) else {
            return Ok(());
        };
        let mut numbers = [0.0; 3];
        for (number, at) in numbers.iter_mut().zip(columns.spread) {
            match value(row.cell(at), self.numerals) {
                Some(read) if read >= 0.0 => *number = read,
                Some(_) => return skip(reading, at, "negative"),
                None => return skip(reading, at, "not a number"),
            }
        }
        let [low, high, mean] = numbers;
        let spread = Spread { low, high, mean };
        match self.table[place].metrics.entry(metric) {
            Entry::Vacant(entry) => _ = entry.insert(Some(spread)),
            Entry::Occupied(entry) if *entry.get() == Some(spread) => {}
            Entry::Occupied(mut entry) => {
                entry.insert(None);
                let reason = format!("{metric} is given twice with different values: none is used");
                return skip(reading, columns.spread[2], &reason);
            }
        }
        Ok(())
    }
}

/// The number of a cell with the unit that is glued to it: `0.83`, `99.2%`, `4.000000MB`.
fn value(cell: &[u8], numerals: Numerals) -> Option<f64> {
    let is_part = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'-' | b'+');
    let mut end = cell.iter().take_while(|byte| is_part(byte)).count();
    // `1.5e+06`
    if let Some(b'e' | b'E') = cell.get(end) {
        end += 1 + cell[end + 1..].iter().take_while(|byte| is_part(byte)).count();
    }
    let number = numerals.parse(&cell[..end]).ok()??;
    let factor = match &cell[end..] {
        b"%" => 0.01,
        unit => super::bytes(std::str::from_utf8(unit).ok()?)?,
    };
    Some(number * factor)
}

/// Bounds of a value that differs from launch to launch as factors of its average, rounded outwards so that there are
/// few of them.
fn bounds(spread: Spread) -> (f64, f64) {
    const LOW: [f64; 8] = [1.0, 0.99, 0.95, 0.9, 0.75, 0.5, 0.25, 0.1];
    const HIGH: [f64; 9] = [1.0, 1.01, 1.05, 1.1, 1.25, 1.5, 2.0, 4.0, 10.0];
    // An average is printed with six decimals or as a whole number.
    const ROUNDING: f64 = 1e-6;
    let low = spread.low / spread.mean * (1.0 + ROUNDING);
    let high = spread.high / spread.mean / (1.0 + ROUNDING);
    let low = LOW.into_iter().find(|step| *step <= low).unwrap_or(0.0);
    let high = HIGH.into_iter().find(|step| *step >= high);
    let power = || 10_f64.powf((spread.high / spread.mean).log10().ceil());
    (low, high.unwrap_or_else(power))
}

impl Kernel {
    /// Whether a metric of another table has another value there.
    fn contradicts(&self, other: &Self) -> bool {
        other
            .metrics
            .iter()
            .any(|(metric, spread)| self.metrics.get(metric).is_some_and(|known| known != spread))
    }

    /// The sum of metrics, if all of them are there.
    fn sum(&self, metrics: &[&'static str]) -> Option<Spread> {
        let mut sum = Spread { low: 0.0, high: 0.0, mean: 0.0 };
        for metric in metrics {
            let one = self.metrics.get(metric)?.as_ref()?;
            (sum.low, sum.high, sum.mean) =
                (sum.low + one.low, sum.high + one.high, sum.mean + one.mean);
        }
        Some(sum)
    }

    fn push(&self, reading: &mut Reading<'_>, id: u32, values: &mut Values) {
        values.clear();
        for rule in RULES {
            let Some(spread) = self.sum(rule.metrics) else { continue };
            let value = spread.mean * rule.factor;
            let is_none = rule.is_share && !(value > 0.0 && value <= rule.factor * 1.000_001);
            if is_none || values.get(rule.quantity).is_some() {
                continue;
            }
            let origin = reading.origin(&origin(rule, spread));
            values.set(rule.quantity, value, origin);
        }
        let Self { name, device, count, .. } = *self;
        let head = Head { id, name, device, count, ..Head::default() };
        reading.push(head, values);
        for metric in self.metrics.keys() {
            *reading.source.columns.entry((*metric).to_owned()).or_default() += u64::from(count);
        }
    }
}

/// Where a value comes from; what adds up is kept within what single launches have.
fn origin(rule: &Rule, spread: Spread) -> Origin {
    let formula = rule.metrics.join(" + ");
    let (formula, kind) = match (rule.metrics.len(), rule.factor) {
        (1, 1.0) => (formula, OriginKind::Measured),
        (_, 1.0) => (formula, OriginKind::Derived),
        (1, factor) => (format!("{factor} × {formula}"), OriginKind::Derived),
        (_, factor) => (format!("{factor} × ({formula})"), OriginKind::Derived),
    };
    let origin = Origin::new(kind, formula);
    if !rule.quantity.is_additive() || spread.mean == 0.0 {
        return origin;
    }
    let (low, high) = bounds(spread);
    origin.within(low, high)
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    let (header, numerals) = begin(reading, &WANTED, &["Min", "Max", "Avg"])?;
    let Some(columns) = Columns::of(&header) else {
        return Err(reading.error("the titles of the table cannot be read"));
    };
    let mut metrics = Metrics {
        columns,
        numerals,
        devices: Devices::default(),
        kernels: Vec::new(),
        table: Vec::new(),
        places: HashMap::new(),
        repeated: 0,
    };
    read_tables(reading, header.len(), &mut metrics)?;
    metrics.end_table();
    if metrics.repeated > 0 {
        reading.source.repeated += metrics.repeated;
        let launches = counted(metrics.repeated, "launch", "launches");
        reading.check(&format!(
            "the metrics of {launches} are repeated in this file (same kernel, launches and values); counted once"
        ));
    }
    let source = &mut reading.source;
    "metrics; values are averages".clone_into(&mut source.dialect);
    source.keeps_caches = true;
    source.clues.push(
        "kernels were replayed with warm caches: small ones show less DRAM traffic than in the real run"
            .to_owned(),
    );
    let mut values = Values::default();
    for (id, kernel) in (0..).zip(&metrics.kernels) {
        kernel.push(reading, id, &mut values);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lose_the_unit_that_is_glued_to_them() {
        for (cell, number) in [
            ("131072000", Some(131_072_000.0)),
            ("0.836708", Some(0.836_708)),
            ("50.000000%", Some(0.5)),
            ("16B", Some(16.0)),
            ("4.000000KB", Some(4096.0)),
            ("2e+03", Some(2000.0)),
            ("154.593028GB/s", None),
            ("Low (1)", None),
            ("", None),
            ("e", None),
        ] {
            assert_eq!(value(cell.as_bytes(), Numerals::default()), number, "{cell}");
        }
    }

    #[test]
    fn bounds_hold_the_smallest_and_the_largest_launch() {
        let spread = |low, high, mean| bounds(Spread { low, high, mean });
        assert_eq!(spread(8.0, 8.0, 8.0), (1.0, 1.0));
        assert_eq!(spread(6.0, 15.0, 8.0), (0.75, 2.0));
        assert_eq!(spread(0.0, 800.0, 8.0), (0.0, 100.0));
        assert_eq!(spread(131_168.0, 131_400.0, 131_247.0), (0.99, 1.01));
    }

    #[test]
    fn tables_of_a_file_complete_each_other_repeat_or_are_of_other_runs() {
        use crate::model::Profile;
        const HEADER: &str = "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric Description\",\"Min\",\"Max\",\"Avg\"\n";
        let row = |metric: &str, value: u32| {
            format!("\"Tesla V100 (0)\",\"k\",10,\"{metric}\",\"d\",{value},{value},{value}\n")
        };
        let read = |tables: &[String]| {
            let tables: Vec<String> =
                tables.iter().map(|rows| format!("==1== Metric result:\n{HEADER}{rows}")).collect();
            let options = crate::ingest::Options::default();
            crate::ingest::read_text("m.csv", tables.concat().leak(), &options).unwrap()
        };
        let sum = |profile: &Profile, quantity| -> f64 {
            let of = |row| profile.launch(row).value(quantity).unwrap_or(0.0);
            (0..profile.launches.len()).map(of).sum()
        };
        let work = Quantity::Work(Pipe::Fp32Vector);
        let (one, other) = (row("flop_count_sp", 100), row("flop_count_sp", 200));
        let bytes = row("dram_read_transactions", 3) + &row("dram_write_transactions", 1);
        // Another run, of which one metric is the same.
        let profile = read(&[one.clone() + &bytes, other.clone() + &bytes]);
        assert_eq!((profile.launches.len(), sum(&profile, work)), (2, 300.0));
        assert_eq!(sum(&profile, Quantity::DramBytes), 256.0);
        // A run for each group of metrics.
        let profile = read(&[one.clone(), bytes.clone()]);
        assert_eq!((profile.launches.len(), sum(&profile, Quantity::DramBytes)), (1, 128.0));
        // A transaction of shared memory is 128 bytes: 4 of each bank.
        let shared = row("shared_load_transactions", 3) + &row("shared_store_transactions", 1);
        assert_eq!(sum(&read(&[shared]), Quantity::SharedBytes), 512.0);
        // The same table twice.
        let profile = read(&[one.clone(), one.clone()]);
        assert_eq!((profile.launches.len(), profile.sources[0].repeated), (1, 10));
        assert!(profile.checks[0].contains("10 launches are repeated"), "{:?}", profile.checks);
        // Of two values in one table none is right, and each further one is counted.
        let profile = read(&[one.clone() + &other + &one + &bytes]);
        assert_eq!((sum(&profile, work), profile.sources[0].skips.count), (0.0, 2));
        assert_eq!(sum(&profile, Quantity::DramBytes), 128.0);
        let reason = &profile.sources[0].skips.first[0].reason;
        assert_eq!(reason, "flop_count_sp is given twice with different values: none is used");
    }
}
