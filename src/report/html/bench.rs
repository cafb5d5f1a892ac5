//! The bench of the model: what its script works on, and the four cases it teaches with.
//!
//! The script computes as `roofline.rs` and the closed forms do, and the tests hold it against them. All
//! that can be known beforehand is looked up here: devices, the pipe that each format runs on, which
//! sizes a form takes and what they mean.

use serde::Serialize;

use super::super::view::{digits, printable, si};
use super::data::{Maybe, Number, contained};
use crate::catalog::{Catalog, CatalogError, Device};
use crate::model::{DataType, Pipe};
use crate::predict::{
    self, Arguments, Count, Form, Kind, Options, PipeTime, PredictError, Prediction,
};
use crate::roofline::{self, Limiter};
use crate::units::{Bytes, FlopsPerByte, Seconds};

/// Formats to choose from; others differ only in their bytes.
const TYPES: [DataType; 9] = [
    DataType::Fp64,
    DataType::Fp32,
    DataType::Tf32,
    DataType::Fp16,
    DataType::Bf16,
    DataType::Fp8,
    DataType::Fp4,
    DataType::Int8,
    DataType::Int32,
];

/// Rates stand in the data in these, which is shorter.
const TERA: f64 = 1e12;

/// A size with the value to start from.
type Size = (&'static str, f64);

/// Closed forms of the bench: from hardly any operation per byte to very many. Parameters that are not
/// named keep their defaults.
const FORMS: [(&str, &[Size]); 14] = [
    ("transpose", &[("n", 16_777_216.0)]),
    ("embedding", &[("n", 65_536.0), ("d", 1024.0), ("unique", 32_768.0)]),
    ("add", &[("n", 64e6)]),
    ("axpy", &[("n", 64e6)]),
    ("dot", &[("n", 64e6)]),
    ("reduction", &[("n", 64e6), ("m", 1.0)]),
    ("spmv-csr", &[("n", 1e6), ("columns", 1e6), ("beta", 10.0)]),
    ("gemv", &[("m", 16_384.0), ("n", 16_384.0)]),
    ("softmax", &[("rows", 8192.0), ("columns", 4096.0)]),
    ("layernorm", &[("rows", 8192.0), ("columns", 4096.0)]),
    (
        "conv2d",
        &[
            ("n", 32.0),
            ("c", 64.0),
            ("h", 56.0),
            ("k", 64.0),
            ("r", 3.0),
            ("stride", 1.0),
            ("pad", 1.0),
            ("groups", 1.0),
        ],
    ),
    (
        "attention",
        &[("b", 8.0), ("h", 32.0), ("g", 32.0), ("nq", 2048.0), ("nk", 2048.0), ("d", 128.0)],
    ),
    ("linear", &[("batch", 512.0), ("in", 8192.0), ("out", 8192.0)]),
    ("gemm", &[("m", 4096.0), ("n", 4096.0), ("k", 4096.0), ("batch", 1.0)]),
];

/// Inputs and outputs of the layer whose batch brings it into balance.
const LAYER: f64 = 8192.0;

/// The pipes of a device, and the pipe of each format as a digit to base 36: for products of matrices,
/// then for everything else.
type Engines = (Vec<usize>, String);

/// Name, bandwidth, L2's bandwidth, SMs, clock, rate of each pipe, and which of the engines it has.
type Machine = (String, Number, Maybe, u32, Maybe, Vec<Number>, usize);

/// Parameter, its meaning, whether it is whole, and the value to start from.
type SizeData = (&'static str, &'static str, bool, Number);

#[derive(Serialize)]
struct Data {
    devices: Vec<Machine>,
    /// Those of many devices are the same.
    engines: Vec<Engines>,
    /// The device to begin with.
    chosen: usize,
    pipes: Vec<[&'static str; 3]>,
    /// Name and bytes.
    types: Vec<(&'static str, f64)>,
    /// Name, summary, sizes and usual format.
    forms: Vec<(&'static str, &'static str, Vec<SizeData>, usize)>,
    cases: Vec<CaseData>,
    /// What a launch costs at least.
    fixed: Number,
    /// Bytes an SM receives from L2 per clock.
    port: f64,
    /// Blocks per SM from which a grid fills a device, and the share of a roof that proves it full.
    few: u64,
    busy: f64,
}

#[derive(Serialize)]
struct CaseData {
    key: &'static str,
    title: &'static str,
    form: usize,
    sizes: Vec<f64>,
    dtype: usize,
    /// Where the blocks do not follow from the sizes: so many whole waves.
    waves: Option<u32>,
    /// Whether the first size is to bring memory and math into balance.
    balanced: bool,
}

/// A case of the tutorial.
struct Case {
    key: &'static str,
    title: &'static str,
    words: Words,
    form: &'static str,
    sizes: &'static [f64],
    data_type: DataType,
    waves: Option<u32>,
    balanced: bool,
}

/// What a case is, what it shows, and what to try on it.
struct Words {
    what: &'static str,
    see: &'static str,
    tries: &'static [&'static str],
}

const CASES: [Case; 4] = [
    Case {
        key: "memory",
        title: "Memory-bound",
        words: Words {
            what: "y = a·x + y over long vectors: two operations for every twelve bytes.",
            see: "The bus is full and the SMs wait for data most of the time. The point lies on the \
                  slope of the roofline.",
            tries: &[
                "Raise the memory bandwidth: the time falls in proportion.",
                "Raise the compute rate: nothing changes.",
                "Choose kernel “counts of your own” and raise the operations: the point climbs the \
                 slope and costs no time until the ridge point. Fusing kernels does this.",
            ],
        },
        form: "axpy",
        sizes: &[64e6],
        data_type: DataType::Fp32,
        waves: None,
        balanced: false,
    },
    Case {
        key: "balanced",
        title: "Balanced",
        words: Words {
            what: "A fully connected layer whose batch is just large enough that its operations per \
                   byte equal the ridge point. Each weight is read once and used for every row.",
            see: "Both bars are equally long, and both units are busy all the time.",
            tries: &[
                "Halve the batch: memory becomes the limit.",
                "Double it: compute becomes the limit.",
                "With 16-bit numbers, a layer becomes compute-bound at a batch of about the ridge \
                 point.",
            ],
        },
        form: "linear",
        sizes: &[1.0, LAYER, LAYER],
        data_type: DataType::Fp16,
        waves: Some(8),
        balanced: true,
    },
    Case {
        key: "math",
        title: "Compute-bound",
        words: Words {
            what: "A product of large square matrices: n³ operations on n² numbers, so operations \
                   per byte grow with n.",
            see: "The queue before the SMs is full; the bus moves only what they take.",
            tries: &[
                "Raise the memory bandwidth: nothing changes.",
                "Choose other numbers, such as fp8 or fp32: roof, ridge point and time follow.",
                "Shrink n to 256 with m and k: the launch costs more than the work.",
            ],
        },
        form: "gemm",
        sizes: &[8192.0, 8192.0, 8192.0, 1.0],
        data_type: DataType::Fp16,
        waves: None,
        balanced: false,
    },
    Case {
        key: "parallelism",
        title: "Too little parallelism",
        words: Words {
            what: "A product with a small result and a long sum: 128 × 128 numbers, computed by a \
                   single block. A block runs on one SM; all others idle.",
            see: "Neither bus nor SMs are busy, and the point hangs far below the roof. The roofline \
                  does not show why; waves do.",
            tries: &[
                "Raise the blocks, as split-K does: the time falls with each, until memory is the \
                 limit.",
                "For a bad last wave, set the blocks of the compute-bound case to one more than \
                 there are SMs: a second wave runs for one block, and almost half the time is lost.",
            ],
        },
        form: "gemm",
        sizes: &[128.0, 128.0, 65_536.0, 1.0],
        data_type: DataType::Fp16,
        waves: None,
        balanced: false,
    },
];

/// One case on a device.
pub(super) struct Lesson {
    pub(super) key: &'static str,
    pub(super) title: &'static str,
    pub(super) what: &'static str,
    pub(super) see: &'static str,
    pub(super) tries: &'static [&'static str],
    /// Its numbers, under [`TITLES`].
    pub(super) row: Vec<String>,
}

/// Titles of [`Lesson::row`].
pub(super) const TITLES: [&str; 11] = [
    "case",
    "kernel",
    "operations",
    "bytes",
    "intensity",
    "ridge point",
    "t_mem",
    "t_math",
    "roofline time",
    "estimated time",
    "limited by",
];

/// The data of the bench as JSON that may stand inside a script element.
pub(super) fn json(
    catalog: &Catalog,
    chosen: Option<&str>,
    fixed: Seconds,
) -> Result<String, CatalogError> {
    let (mut devices, mut engines) = (Vec::new(), Vec::new());
    let works = Works::new();
    for device in catalog.devices() {
        devices.extend(machine(&device?, &works, &mut engines));
    }
    let chosen = chosen.unwrap_or(DEFAULT);
    let data = Data {
        chosen: devices.iter().position(|one| one.0 == printable(chosen)).unwrap_or_default(),
        devices,
        engines,
        pipes: Pipe::ALL.iter().map(|pipe| [pipe.key(), pipe.label(), pipe.operation()]).collect(),
        types: TYPES.iter().map(|one| (one.name(), one.bytes())).collect(),
        forms: FORMS.iter().filter_map(|(name, sizes)| form(name, sizes)).collect(),
        cases: CASES.iter().map(case).collect(),
        fixed: Number(fixed.get()),
        port: roofline::L2_BYTES_PER_CLOCK_PER_SM,
        few: roofline::BLOCKS_PER_SM,
        busy: roofline::BUSY,
    };
    // Every type above serializes.
    Ok(contained(&serde_json::to_string(&data).unwrap_or_default()))
}

/// The device of a lesson for which none is named.
pub(super) const DEFAULT: &str = "H100 SXM5 80GB";

/// What is not known of a device without which no kernel can be laid on it.
pub(super) fn lacks(device: &Device) -> Vec<&'static str> {
    let known = [
        ("memory bandwidth", device.memory.bandwidth.is_some()),
        ("SMs", device.sms.is_some()),
        ("FP32 peak", device.peak(Pipe::Fp32Vector).is_some()),
    ];
    known.into_iter().filter(|(_, is_known)| !is_known).map(|(what, _)| what).collect()
}

/// A product of matrices in each format, then a sum: what is to be known of each device is on which pipe they run.
struct Works(Vec<Option<Count>>);

impl Works {
    fn new() -> Self {
        let count = |name, sizes: &[Size], data_type: &DataType| {
            asked(name, sizes, *data_type).ok()?.count().ok()
        };
        let products =
            TYPES.iter().map(|one| count("gemm", &[("m", 1.0), ("n", 1.0), ("k", 1.0)], one));
        let others = TYPES.iter().map(|one| count("add", &[("n", 1.0)], one));
        Self(products.chain(others).collect())
    }
}

/// A device of which bandwidth, SMs and the rate that serves any kernel are known: else there is nothing
/// to lay one on.
fn machine(device: &Device, works: &Works, engines: &mut Vec<Engines>) -> Option<Machine> {
    let number = |value: f64| Some(Number(value));
    if !lacks(device).is_empty() {
        return None;
    }
    let bandwidth = device.memory.bandwidth.as_ref()?.value.get();
    let sms = device.sms?;
    let peaks = device.peaks.values().map(|peak| Number(peak.value.get() / TERA)).collect();
    // One letter each, as there are many.
    let letter = |work: &Option<Count>| {
        let pipes = PipeTime::of(work.as_ref()?, device).ok()?;
        char::from_digit(pipes.first()?.pipe as u32, 36)
    };
    let letters = works.0.iter().map(|work| letter(work).unwrap_or('-')).collect();
    let has = device.peaks.keys().map(|pipe| *pipe as usize).collect();
    let own: Engines = (has, letters);
    let at = engines.iter().position(|one| *one == own).unwrap_or_else(|| {
        engines.push(own);
        engines.len() - 1
    });
    let on_chip = device.l2_roof().and_then(|bandwidth| number(bandwidth.get() / TERA));
    let clock = device.boost_clock.as_ref().and_then(|clock| number(clock.value.get() / TERA));
    Some((printable(&device.name), Number(bandwidth / TERA), on_chip, sms, clock, peaks, at))
}

fn form(name: &str, sizes: &[Size]) -> Option<(&'static str, &'static str, Vec<SizeData>, usize)> {
    let form: &'static Form = predict::form(name).ok()?;
    let sizes = sizes.iter().filter_map(|(key, value)| {
        let one = form.parameters().find(|one| one.name == *key)?;
        let is_whole = matches!(one.kind, Kind::Size | Kind::Whole);
        Some((one.name, one.meaning, is_whole, Number(*value)))
    });
    let usual = form.parameters().find(|one| one.name == "dtype")?.shown_default();
    let usual = DataType::parse(&usual).and_then(|one| TYPES.iter().position(|all| *all == one));
    Some((form.name, form.summary, sizes.collect(), usual?))
}

fn case(case: &Case) -> CaseData {
    CaseData {
        key: case.key,
        title: case.title,
        form: FORMS.iter().position(|(name, _)| *name == case.form).unwrap_or_default(),
        sizes: case.sizes.to_vec(),
        dtype: TYPES.iter().position(|one| *one == case.data_type).unwrap_or_default(),
        waves: case.waves,
        balanced: case.balanced,
    }
}

fn asked(name: &str, sizes: &[Size], data_type: DataType) -> Result<Arguments, PredictError> {
    let sizes = sizes.iter().map(|(key, value)| format!("{key}={value}"));
    let pairs: Vec<String> = sizes.chain([format!("dtype={}", data_type.name())]).collect();
    Arguments::parse(predict::form(name)?, pairs)
}

fn predicted(
    device: &Device,
    name: &str,
    sizes: &[Size],
    data_type: DataType,
) -> Result<Prediction, PredictError> {
    predict::predict(&asked(name, sizes, data_type)?, device, &Options::default())
}

/// Rows r of a batch for which a layer of h×h has the intensity of the ridge point:
/// 2rh/(e(2r + h)) = ridge point, for numbers of e bytes.
fn balancing_rows(ridge: f64, data_type: DataType) -> f64 {
    let per_element = ridge * data_type.bytes() / 2.0;
    (per_element * LAYER / (LAYER - 2.0 * per_element)).round().max(1.0)
}

/// The cases on a device, computed as the program predicts.
pub(super) fn lessons(device: &Device, fixed: Seconds) -> Result<Vec<Lesson>, PredictError> {
    CASES.iter().map(|case| lesson(case, device, fixed)).collect()
}

fn lesson(case: &Case, device: &Device, fixed: Seconds) -> Result<Lesson, PredictError> {
    let (_, sizes) = FORMS.iter().find(|(name, _)| *name == case.form).unwrap_or(&FORMS[0]);
    let mut sizes: Vec<Size> =
        sizes.iter().zip(case.sizes).map(|((key, _), value)| (*key, *value)).collect();
    // Where the rate of a format is not known, fp32 teaches the same.
    let is_known = predicted(device, case.form, &sizes, case.data_type).is_ok();
    let data_type = if is_known { case.data_type } else { DataType::Fp32 };
    let mut prediction = predicted(device, case.form, &sizes, data_type)?;
    if case.balanced {
        let ridge = prediction.ridge_point.map_or(1.0, FlopsPerByte::get);
        sizes[0].1 = balancing_rows(ridge, data_type);
        prediction = predicted(device, case.form, &sizes, data_type)?;
    }
    let shape: Vec<String> = sizes.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let kernel = format!("{} {}, {}", case.form, shape.join(" "), data_type.name());
    let bound = Bound::of(case, device, &prediction, fixed);
    let unit = prediction.pipes.first().map_or("FLOP", |one| one.pipe.operation());
    let per_byte = |value: Option<f64>| {
        value.map_or_else(|| "-".to_owned(), |value| format!("{} {unit}/B", digits(value)))
    };
    let row = vec![
        case.title.to_owned(),
        kernel,
        si(prediction.operations.get(), unit),
        si(prediction.bytes.get(), "B"),
        per_byte(prediction.intensity.map(FlopsPerByte::get)),
        per_byte(prediction.ridge_point.map(FlopsPerByte::get)),
        si(prediction.t_mem.get(), "s"),
        si(prediction.t_math.get(), "s"),
        si(prediction.roofline_time.get(), "s"),
        si(bound.total.get(), "s"),
        bound.state.to_owned(),
    ];
    let Words { what, see, tries } = case.words;
    Ok(Lesson { key: case.key, title: case.title, what, see, tries, row })
}

/// What a kernel takes with launch, tail and idle SMs, and what bounds it.
struct Bound {
    total: Seconds,
    state: &'static str,
}

impl Bound {
    fn of(case: &Case, device: &Device, prediction: &Prediction, fixed: Seconds) -> Self {
        let sms = device.sms.unwrap_or(1);
        // As the script counts: 256 threads a block where there is one thread per element.
        let by_items = prediction.count.work_items.map(|items| (items / 256.0).ceil() as u64);
        let by_tiles = prediction.tiling.as_ref().map(|tiling| tiling.blocks);
        let whole = case.waves.map(|waves| u64::from(waves) * u64::from(sms));
        let blocks = whole.or(by_tiles).or(by_items).unwrap_or(1);
        let resident = if by_tiles.is_some() { 1 } else { 8 };
        let efficiency = roofline::sm_efficiency(blocks, sms, resident);
        let bytes: Bytes = prediction.bytes;
        let port = device.boost_clock.as_ref().map_or(Seconds::ZERO, |clock| {
            roofline::memory_time(bytes, roofline::port_bandwidth(blocks, sms, clock.value))
        });
        let on_chip = device
            .l2_roof()
            .map_or(Seconds::ZERO, |l2| roofline::memory_time(bytes, l2) / efficiency);
        let math = prediction.t_math / efficiency;
        let memory = prediction.t_mem.max(port);
        let work = memory.max(on_chip).max(math);
        let roofline_time = prediction.roofline_time;
        let used = roofline_time / work;
        let (t_mem, t_math) = (prediction.t_mem, prediction.t_math);
        let limiter = roofline::limiter(t_mem, t_math, Some(blocks), None, Some(sms), used);
        let total = fixed + work;
        let state = match limiter {
            _ if roofline::is_launch_floored(total, roofline_time, fixed) => "the launch",
            Limiter::Latency => "too few blocks",
            _ if on_chip > memory.max(math) => "L2",
            _ if roofline::is_balanced(t_mem, t_math) => "both",
            Limiter::Math => "compute",
            Limiter::Memory | Limiter::Unknown => "memory",
        };
        Self { total, state }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{BytesPerSecond, Flops, FlopsPerSecond};

    #[test]
    fn every_form_counts_with_the_sizes_it_starts_from() {
        let device =
            Catalog::builtin().find(DEFAULT, &crate::model::DeviceHint::default()).unwrap();
        for (name, sizes) in FORMS {
            let (_, _, known, usual) = form(name, sizes).unwrap();
            assert_eq!(known.len(), sizes.len(), "{name}");
            predicted(&device, name, sizes, TYPES[usual]).unwrap();
        }
    }

    #[test]
    fn every_case_is_what_it_says_on_every_device() {
        for device in Catalog::builtin().devices() {
            let device = device.unwrap();
            if machine(&device, &Works::new(), &mut Vec::new()).is_none() {
                continue;
            }
            let lessons = lessons(&device, roofline::LAUNCH_COST_TIMELINE).unwrap();
            let states: Vec<&str> =
                lessons.iter().map(|one| one.row.last().unwrap().as_str()).collect();
            assert_eq!(states, ["memory", "both", "compute", "too few blocks"], "{}", device.name);
        }
    }

    #[test]
    fn a_layer_of_so_many_rows_lies_at_the_ridge_point() {
        let bandwidth = BytesPerSecond::new(3.35e12);
        let ridge = roofline::ridge_point(FlopsPerSecond::new(989.4e12), bandwidth).get();
        let rows = balancing_rows(ridge, DataType::Fp16);
        let bytes = 2.0 * (2.0 * rows * LAYER + LAYER * LAYER);
        let intensity = Flops::new(2.0 * rows * LAYER * LAYER) / Bytes::new(bytes);
        assert!((intensity.get() / ridge - 1.0).abs() < 0.01);
    }
}
