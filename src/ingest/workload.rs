//! What a workload of ROCm Compute Profiler (Omniperf) says of its machine: `sysinfo.csv` describes the device,
//! `roofline.csv` has the rates that its benchmark reached.
//!
//! Both are in the folder of the tables of launches and have no launches themselves.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::runs::merged;
use super::sample::{FirstRows, as_text};
use super::{IngestError, Sample};
use crate::model::{DeviceHint, Head, MI350, Pipe, Profile, Quantity, Reached, Values};
use crate::units::{BytesPerSecond, FlopsPerSecond, Hertz, median};

/// Columns that tell the two tables apart.
const SYSTEM: [&str; 3] = ["workload_name", "gpu_arch", "cu_per_gpu"];
const ROOFS: [&str; 2] = ["device", "HBMBw"];

/// The partition of compute units that is the whole device.
const WHOLE: &str = "SPX";

/// How formats of `pmc_perf.csv` are named.
const COUNTERS: &str = "rocprof-compute-mi";

/// More GPUs than a machine has.
const MOST_GPUS: usize = 64;

/// Bytes or operations per second in one unit of `roofline.csv`: GB/s and GFLOP/s.
const GIGA: f64 = 1e9;

/// The columns of rates. Versions differ in which they have; an unsupported format is 0.
const PEAKS: [(&str, Pipe); 12] = [
    ("FP64Flops", Pipe::Fp64Vector),
    ("FP32Flops", Pipe::Fp32Vector),
    ("FP16Flops", Pipe::Fp16Vector),
    ("BF16Flops", Pipe::Bf16Vector),
    ("I32Ops", Pipe::Int32Vector),
    ("MFMAF64Flops", Pipe::Fp64Matrix),
    ("MFMAF32Flops", Pipe::Fp32Matrix),
    ("MFMAF16Flops", Pipe::Fp16Matrix),
    ("MFMABF16Flops", Pipe::Bf16Matrix),
    ("MFMAF8Flops", Pipe::Fp8Matrix),
    ("MFMAF4Flops", Pipe::Fp4Matrix),
    ("MFMAI8Ops", Pipe::Int8Matrix),
];

/// What a file says of the device of the launches beside it.
#[derive(Debug)]
pub(super) struct Machine {
    path: String,
    folder: PathBuf,
    hint: DeviceHint,
    /// What it says, as a note.
    says: String,
}

/// Reads a file if it describes a machine.
pub(super) fn machine(sample: &Sample, path: &str) -> Option<Machine> {
    let (hint, says) = system(sample, path).or_else(|| roofs(sample, path))?;
    Some(Machine { folder: folder(path), path: path.to_owned(), hint, says })
}

/// The folder of a file, in one spelling.
fn folder(path: &str) -> PathBuf {
    let folder = Path::new(path).parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// The rows of a table that has these columns, and where a column is.
struct Rows {
    titles: Vec<String>,
    rows: FirstRows,
}

impl Rows {
    fn of(sample: &Sample, columns: &[&str]) -> Option<Self> {
        // Every file passes here: both tables begin with their header.
        if !sample.text().starts_with(columns[0]) {
            return None;
        }
        let is_in =
            |fields: &[String]| columns.iter().all(|one| fields.iter().any(|field| field == one));
        let (titles, rest) = sample.header(|line| line.starts_with(columns[0]), is_in)?;
        Some(Self { titles, rows: sample.records(rest, MOST_GPUS) })
    }

    fn texts(&self, column: &str) -> impl Iterator<Item = &str> {
        let at = self.titles.iter().position(|title| title == column);
        at.into_iter()
            .flat_map(|at| self.rows.iter().filter_map(move |row| row.get(at).map(as_text)))
    }

    /// The numbers above zero in a column; an unsupported rate is zero.
    fn numbers(&self, column: &str) -> Vec<f64> {
        let numbers = self.texts(column).filter_map(|text| text.trim().parse::<f64>().ok());
        numbers.filter(|number| number.is_finite() && *number > 0.0).collect()
    }
}

/// `sysinfo.csv`: a row about the machine.
fn system(sample: &Sample, path: &str) -> Option<(DeviceHint, String)> {
    let rows = Rows::of(sample, &SYSTEM)?;
    let text = |column: &str| {
        let text = rows.texts(column).next().map(str::trim);
        text.filter(|text| !text.is_empty() && *text != "NA").map(str::to_owned)
    };
    let number = |column: &str| rows.numbers(column).first().copied();
    // A stepping follows the model: `MI300X_A1`.
    let model = text("gpu_model");
    let name = model.as_deref().and_then(|model| model.split('_').next()).map(str::to_owned);
    // A partition has a part of the compute units and of the memory; what is not stated is not known.
    let [compute, memory] = ["compute_partition", "memory_partition"].map(|column| {
        text(column).map(|mode| mode.to_ascii_uppercase()).filter(|mode| is_mode(mode))
    });
    let partition = compute.filter(|mode| mode != WHOLE).map(|compute| match memory {
        Some(memory) => format!("{compute}/{memory}"),
        None => compute,
    });
    let name = name.map(|name| match &partition {
        Some(partition) => format!("{name} {partition}"),
        None => name,
    });
    let units = number("cu_per_gpu").filter(|units| units.fract() == 0.0 && *units < 1e5);
    let hint = DeviceHint {
        name_from: name.as_ref().map(|_| path.to_owned()),
        name,
        gfx: text("gpu_arch"),
        sms: units.map(|units| units as u32),
        max_sm_clock: number("max_sclk").map(|mhz| Hertz::new(mhz * 1e6)),
        ..DeviceHint::default()
    };
    let told = [
        model,
        hint.gfx.clone(),
        hint.sms.map(|units| format!("{units} compute units")),
        partition.or(text("compute_partition")).map(|partition| format!("partition {partition}")),
    ];
    let told: Vec<String> = told.into_iter().flatten().collect();
    Some((hint, format!("describes their device: {}", told.join(", "))))
}

/// Whether a text names a mode of partitions: `CPX`, `NPS4`.
fn is_mode(text: &str) -> bool {
    text.strip_prefix("NPS").map_or(text.len() == 3 && text.ends_with("PX"), |domains| {
        domains.len() == 1 && domains.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// `roofline.csv`: a row for each GPU. It counts them from 0, a table of launches by their nodes: which row belongs to
/// a launch is not recorded, and the median is taken.
fn roofs(sample: &Sample, path: &str) -> Option<(DeviceHint, String)> {
    let rows = Rows::of(sample, &ROOFS)?;
    let rate = |column: &str| median(&rows.numbers(column)).map(|rate| rate * GIGA);
    let peaks = PEAKS
        .iter()
        .filter_map(|(column, pipe)| rate(column).map(|rate| (*pipe, FlopsPerSecond::new(rate))));
    let gpus = match rows.rows.iter().count() {
        1 => String::new(),
        gpus => format!(", median of {gpus} GPUs"),
    };
    let reached = Reached {
        by: "rocprof-compute".to_owned(),
        from: format!("{path}{gpus}"),
        dram: rate("HBMBw").map(BytesPerSecond::new),
        l2: rate("L2Bw").map(BytesPerSecond::new),
        l1: rate("L1Bw").map(BytesPerSecond::new),
        shared: rate("LDSBw").map(BytesPerSecond::new),
        peaks: peaks.collect(),
    };
    let says = format!("has achievable rates, measured by rocprof-compute{gpus}");
    Some((DeviceHint { reached: Some(reached), ..DeviceHint::default() }, says))
}

/// Gives the launches of AMD's profilers what files in their folders say of the device.
///
/// # Errors
/// When there are no launches at all.
pub(super) fn describe(profile: &mut Profile, machines: &[Machine]) -> Result<(), IngestError> {
    let Some(first) = machines.first() else { return Ok(()) };
    if profile.launches.is_empty() {
        let message = "this table of ROCm Compute Profiler describes a machine and has no launches";
        return Err(IngestError::new(&first.path, message).help(
            "give the folder of the workload, or pmc_perf.csv with it: rooflint workloads/NAME/GPU",
        ));
    }
    let folders: Vec<Option<PathBuf>> = profile
        .sources
        .iter()
        .map(|source| source.profiler.is_of_amd().then(|| folder(&source.path)))
        .collect();
    for machine in machines {
        let mut described = HashMap::new();
        let mut launches = 0;
        for row in 0..profile.launches.len() {
            let head = profile.launches.head(row);
            if folders[usize::from(head.source)].as_ref() != Some(&machine.folder) {
                continue;
            }
            launches += 1;
            let device = match described.get(&head.device) {
                Some(device) => *device,
                None => {
                    let known = profile.devices[head.device.position()].clone();
                    let device = profile.hint(merged(known, machine.hint.clone()));
                    described.insert(head.device, device);
                    device
                }
            };
            profile.launches.describe(row, &Head { device, ..head });
        }
        let (path, says) = (&machine.path, &machine.says);
        if launches == 0 {
            profile.check(format!("{path} is not used: no launches in its folder were read"));
        } else {
            profile.notes.push(format!("{path}, beside the launches, {says}"));
        }
    }
    profile.forget_devices();
    widen_halved_reads(profile);
    Ok(())
}

/// Bytes of which reads may be counted as half: at most all are reads.
fn widen_halved_reads(profile: &mut Profile) {
    for row in 0..profile.launches.len() {
        let device = profile.launches.head(row).device;
        if profile.devices[device.position()].gfx.as_deref() != Some(MI350) {
            continue;
        }
        let Some((bytes, origin)) = profile.launches.get(row, Quantity::DramBytes) else {
            continue;
        };
        let origin = profile.origins.get(origin).clone();
        if origin.halves_reads_of_mi350() {
            let origin = profile.origins.id(&origin.within(1.0, 2.0));
            profile.launches.replace(row, Quantity::DramBytes, bytes, origin);
        }
    }
}

/// Leaves out tables of times beside `pmc_perf.csv`, which has the same dispatches: their numbers may begin at 1 instead of
/// 0, and where `pmc_perf.csv` has no times it takes theirs.
pub(super) fn join_times(profile: &mut Profile) {
    let rows = profile.rows_by_source();
    // Each with its folder, which costs calls of the system.
    let of = |profile: &Profile, is_counters: bool| -> Vec<(usize, PathBuf)> {
        let is_one = |at: &usize| {
            let source = &profile.sources[*at];
            let is_dispatches = source.format == "rocprof-v1" || source.format == "rocprof-v2";
            if is_counters { source.format.starts_with(COUNTERS) } else { is_dispatches }
        };
        let found = (0..profile.sources.len()).filter(is_one).filter(|at| !rows[*at].is_empty());
        found.map(|at| (at, folder(&profile.sources[at].path))).collect()
    };
    let mut gone = vec![false; profile.launches.len()];
    let mut given = HashMap::new();
    let counters = of(profile, true);
    let tables = if counters.is_empty() { Vec::new() } else { of(profile, false) };
    for (counted, place) in &counters {
        for (timed, beside) in &tables {
            let (counted, timed) = (*counted, *timed);
            let names = |at: usize| rows[at].iter().map(|row| profile.launches.head(*row).name);
            if gone[rows[timed][0]] || beside != place || !names(counted).eq(names(timed)) {
                continue;
            }
            for (row, from) in rows[counted].iter().zip(&rows[timed]) {
                if let Some((time, origin)) = profile.launches.get(*from, Quantity::Duration) {
                    let mut values = Values::default();
                    values.set(Quantity::Duration, time, origin);
                    profile.launches.fill(*row, &values);
                }
                gone[*from] = true;
                profile.count_repeated(*from);
            }
            given.insert(counted, timed);
            let (path, other) = (&profile.sources[timed].path, &profile.sources[counted].path);
            profile.notes.push(format!("{path} has the dispatches of {other}; counted once"));
        }
    }
    let untimed: Vec<String> = counters
        .iter()
        .filter(|(at, _)| {
            let is_timed = |row: &usize| profile.launches.get(*row, Quantity::Duration).is_some();
            !rows[*at].iter().any(is_timed)
        })
        .map(|(at, _)| untimed(profile, *at, given.get(at).copied()))
        .collect();
    for check in untimed {
        profile.check(check);
    }
    profile.leave_out(&gone);
}

/// What to do about counters without times, beside which a table of times may lie that has none either.
fn untimed(profile: &Profile, counted: usize, timed: Option<usize>) -> String {
    let path = &profile.sources[counted].path;
    match timed.map(|timed| &profile.sources[timed].path) {
        Some(beside) => {
            format!("{path} has no times, and {beside}, which was given with it, has none either")
        }
        None => format!(
            "{path} has no times: give timestamps.csv of the same workload with it, which has them"
        ),
    }
}
