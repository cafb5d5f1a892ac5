//! Launches as tables in the dialects of the profilers: units, numbers, order of columns and rows.

use super::choices::Choices;
use super::launches::Truth;
use super::sheet::Rows;

/// How numbers are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers {
    decimal: char,
    group: Option<char>,
}

impl Numbers {
    pub(crate) fn choose(choices: &mut Choices<'_>) -> Self {
        let (decimal, group) = choices.pick(&[
            ('.', None),
            ('.', Some(',')),
            ('.', Some('\u{a0}')),
            ('.', Some('\u{202f}')),
            (',', None),
            (',', Some('.')),
            (',', Some('\u{a0}')),
            (',', Some('\u{202f}')),
        ]);
        Self { decimal, group }
    }

    /// A whole number divided by ten to the power of `places`, exactly.
    ///
    /// Three decimals behind a comma could be a group of digits: a fourth one says that they are not.
    fn write(self, whole: u64, places: usize) -> String {
        let digits = format!("{whole:0>width$}", width = places + 1);
        let (before, behind) = digits.split_at(digits.len() - places);
        let mut text = String::new();
        for (at, digit) in before.chars().enumerate() {
            if let Some(group) = self.group
                && at > 0
                && (before.len() - at) % 3 == 0
            {
                text.push(group);
            }
            text.push(digit);
        }
        let behind = behind.trim_end_matches('0');
        if !behind.is_empty() {
            text.push(self.decimal);
            text.push_str(behind);
            if behind.len() == 3 {
                text.push('0');
            }
        }
        text
    }

    /// A cell that leaves no doubt about the decimal mark.
    fn telling(self) -> String {
        format!("12{}34", self.decimal)
    }
}

/// A counter of Nsight Compute.
struct Metric {
    name: &'static str,
    unit: &'static str,
    places: usize,
    value: fn(&Truth) -> Option<u64>,
}

const TIMES: [(&str, usize); 8] = [
    ("ns", 0),
    ("us", 3),
    ("ms", 6),
    ("s", 9),
    ("nsecond", 0),
    ("usecond", 3),
    ("msecond", 6),
    ("second", 9),
];
const BYTES: [(&str, usize); 4] = [("byte", 0), ("Kbyte", 3), ("Mbyte", 6), ("Gbyte", 9)];

fn metrics(choices: &mut Choices<'_>) -> Vec<Metric> {
    let time = choices.pick(&TIMES);
    let [read, written] = [choices.pick(&BYTES), choices.pick(&BYTES)];
    let metric = |name, (unit, places), value| Metric { name, unit, places, value };
    let inst = ("inst", 0);
    let mut all = vec![
        metric("gpu__time_duration.sum", time, |truth| truth.nanoseconds),
        metric("dram__bytes_read.sum", read, |truth| truth.bytes.map(|bytes| bytes[0])),
        metric("dram__bytes_write.sum", written, |truth| truth.bytes.map(|bytes| bytes[1])),
        metric("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", inst, |truth| {
            truth.instructions.map(|all| all[0])
        }),
        metric("smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", inst, |truth| {
            truth.instructions.map(|all| all[1])
        }),
        metric("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", inst, |truth| {
            truth.instructions.map(|all| all[2])
        }),
    ];
    choices.shuffle(&mut all);
    all
}

/// What identifies a launch in an export of Nsight Compute.
const IDENTITY: [&str; 11] = [
    "ID",
    "Process ID",
    "Process Name",
    "Host Name",
    "Kernel Name",
    "Context",
    "Stream",
    "Block Size",
    "Grid Size",
    "Device",
    "CC",
];

fn identity(launch: &Truth, column: &str) -> String {
    let extent = |[x, y, z]: [u32; 3]| format!("({x}, {y}, {z})");
    match column {
        "ID" => launch.id.to_string(),
        "Process ID" => launch.process.to_string(),
        "Process Name" => "app".to_owned(),
        "Host Name" => "127.0.0.1".to_owned(),
        "Kernel Name" => launch.kernel.clone(),
        "Context" => "1".to_owned(),
        "Stream" => launch.stream.to_string(),
        "Block Size" => extent(launch.block),
        "Grid Size" => extent(launch.grid),
        "Device" => "0".to_owned(),
        "CC" => "9.0".to_owned(),
        _ => String::new(),
    }
}

/// A counter whose cells decide how numbers are written.
const TELLING: &str = "sm__throughput.avg.pct_of_peak_sustained_elapsed";

const ABSENT: [&str; 4] = ["n/a", "", "(!) n/a", "nan"];

/// The raw page: a column per counter, its unit in the second row.
pub(crate) fn wide(launches: &[Truth], numbers: Numbers, choices: &mut Choices<'_>) -> Rows {
    let metrics = metrics(choices);
    let absent = choices.pick(&ABSENT);
    let mut columns: Vec<(&str, Option<&Metric>)> =
        IDENTITY.iter().map(|&name| (name, None)).collect();
    columns.extend(metrics.iter().map(|metric| (metric.name, Some(metric))));
    columns.push((TELLING, None));
    if choices.once_in(2) {
        // The launch's number stays first, by which the page is known.
        choices.shuffle(&mut columns[1..]);
    }
    let unit = |(name, metric): &(&str, Option<&Metric>)| match metric {
        Some(metric) => metric.unit.to_owned(),
        None if *name == TELLING => "%".to_owned(),
        None => String::new(),
    };
    let cell = |launch: &Truth, (name, metric): &(&str, Option<&Metric>)| match metric {
        Some(metric) => (metric.value)(launch)
            .map_or(absent.to_owned(), |value| numbers.write(value, metric.places)),
        None if *name == TELLING => numbers.telling(),
        None => identity(launch, name),
    };
    let mut rows = vec![
        columns.iter().map(|column| column.0.to_owned()).collect(),
        columns.iter().map(unit).collect(),
    ];
    rows.extend(
        launches.iter().map(|launch| columns.iter().map(|one| cell(launch, one)).collect()),
    );
    rows
}

/// The long form: a row per counter of a launch, together or in any order.
pub(crate) fn long(launches: &[Truth], numbers: Numbers, choices: &mut Choices<'_>) -> Rows {
    let absent = choices.pick(&ABSENT);
    let section = choices.once_in(2);
    let mut header: Vec<&str> = IDENTITY.to_vec();
    if section {
        header.push("Section Name");
    }
    header.extend(["Metric Name", "Metric Unit", "Metric Value"]);
    let mut rows: Rows = vec![header.iter().map(|&name| name.to_owned()).collect()];
    for launch in launches {
        let metrics = metrics(choices);
        let mut all: Vec<[String; 3]> = metrics
            .iter()
            .map(|metric| {
                let value = (metric.value)(launch)
                    .map_or(absent.to_owned(), |value| numbers.write(value, metric.places));
                [metric.name.to_owned(), metric.unit.to_owned(), value]
            })
            .collect();
        all.push([TELLING.to_owned(), "%".to_owned(), numbers.telling()]);
        for [name, unit, value] in all {
            let mut row: Vec<String> =
                IDENTITY.iter().map(|column| identity(launch, column)).collect();
            if section {
                row.push("Command line profiler metrics".to_owned());
            }
            row.extend([name, unit, value]);
            rows.push(row);
        }
    }
    if choices.once_in(3) {
        choices.shuffle(&mut rows[1..]);
    }
    rows
}

/// The long form as Nsight Compute prints it, where no cell is there to tell the decimal sign: whole numbers in base
/// units, or amounts below a thousand of a unit of their own with two decimals, to which the truth is cut.
pub(crate) fn unmarked(launches: &mut [Truth], choices: &mut Choices<'_>) -> Rows {
    const TIMES: [&str; 4] = ["ns", "us", "ms", "s"];
    const BYTES: [&str; 4] = ["byte", "Kbyte", "Mbyte", "Gbyte"];
    let numbers = Numbers::choose(choices);
    let is_scaled = choices.once_in(2);
    let mut rows: Rows = vec![
        IDENTITY
            .iter()
            .chain(&["Metric Name", "Metric Unit", "Metric Value"])
            .map(|&name| name.to_owned())
            .collect(),
    ];
    for launch in launches {
        let mut cells: Vec<[String; 3]> = Vec::new();
        let mut amount = |name: &str, units: [&str; 4], amount: &mut u64| {
            let mut prefix = 0;
            while is_scaled
                && prefix + 1 < units.len()
                && *amount >= 1000_u64.pow(prefix as u32 + 1)
            {
                prefix += 1;
            }
            let text = if prefix == 0 {
                numbers.write(*amount, 0)
            } else {
                let hundredth = 1000_u64.pow(prefix as u32) / 100;
                *amount -= *amount % hundredth;
                let hundredths = *amount / hundredth;
                let whole = numbers.write(hundredths / 100, 0);
                format!("{whole}{}{:02}", numbers.decimal, hundredths % 100)
            };
            cells.push([name.to_owned(), units[prefix].to_owned(), text]);
        };
        if let Some(time) = &mut launch.nanoseconds {
            amount("gpu__time_duration.sum", TIMES, time);
        }
        if let Some([read, written]) = &mut launch.bytes {
            amount("dram__bytes_read.sum", BYTES, read);
            amount("dram__bytes_write.sum", BYTES, written);
        }
        let counts = launch.instructions.into_iter().flatten();
        for (count, operation) in counts.zip(["fadd", "fmul", "ffma"]) {
            cells.push([
                format!("smsp__sass_thread_inst_executed_op_{operation}_pred_on.sum"),
                "inst".to_owned(),
                numbers.write(count, 0),
            ]);
        }
        for cell in cells {
            let identity = IDENTITY.iter().map(|column| identity(launch, column));
            rows.push(identity.chain(cell).collect());
        }
    }
    rows
}

/// PyProf's CSV, in its three spellings of the header.
pub(crate) fn pyprof(launches: &[Truth], choices: &mut Choices<'_>) -> Rows {
    const COLUMNS: [[&str; 2]; 14] = [
        ["Idx", "idx"],
        ["Direction", "dir"],
        ["Sub", "sub"],
        ["Module", "mod"],
        ["Op", "op"],
        ["Kernel", "kernel"],
        ["Params", "params"],
        ["Sil(ns)", "sil"],
        ["TC", "tc"],
        ["Device", "device"],
        ["Stream", "stream"],
        ["Grid", "grid"],
        ["Block", "block"],
        ["Layer", "layer"],
    ];
    let spelling = choices.index(2);
    let mut columns: Vec<usize> = (0..COLUMNS.len()).collect();
    if choices.once_in(2) {
        choices.shuffle(&mut columns);
    }
    let extent = |[x, y, z]: [u32; 3]| format!("{x},{y},{z}");
    let cell = |launch: &Truth, column: &str| match column {
        "Idx" => (launch.id + 1).to_string(),
        "Direction" => "fprop".to_owned(),
        "Sub" | "Device" => "0".to_owned(),
        "Module" => "mine".to_owned(),
        "Op" => "custom".to_owned(),
        "Kernel" => launch.kernel.clone(),
        "Params" => "na".to_owned(),
        "Sil(ns)" => launch.nanoseconds.unwrap_or_default().to_string(),
        "Stream" => launch.stream.to_string(),
        "Grid" => extent(launch.grid),
        "Block" => extent(launch.block),
        _ => "-".to_owned(),
    };
    let mut rows: Rows = vec![columns.iter().map(|at| COLUMNS[*at][spelling].to_owned()).collect()];
    rows.extend(
        launches
            .iter()
            .map(|launch| columns.iter().map(|at| cell(launch, COLUMNS[*at][0])).collect()),
    );
    rows
}
