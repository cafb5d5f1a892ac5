//! One run, as far as it is compared with others; also the document in which a baseline is kept.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::analysis::{Analysis, Kernel};
use crate::model::{Precision, Profile, Profiler, Quantity};
use crate::rules::{Findings, Severity};
use crate::units::ExactSum;

/// Name and major version of the document.
pub const SCHEMA: &str = "rooflint/run/1";

/// Times of launches that are kept of a kernel: more are replaced by so many quantiles.
pub const SAMPLES: usize = 64;

/// One run of a program under a profiler: every kernel with its times and what the roofline says of it.
///
/// Times are in seconds, work in FLOPs (a fused multiply-add counts 2), traffic in bytes of device
/// memory. What was not measured is absent, never zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Type and major version of this document.
    pub schema: String,
    /// Version of the program that made it.
    pub rooflint: String,
    /// What the run is called in reports: its file, or the name it was saved by.
    pub label: String,
    /// Commit, branch and date, where the run was saved with them.
    #[serde(default)]
    pub origin: RunOrigin,
    /// The files it was read from.
    pub files: Vec<RunFile>,
    /// The devices it ran on; kernels refer to them by position.
    pub devices: Vec<RunDevice>,
    /// Which roofs its kernels are held against: `spec`, `measured-clock` or `achievable`.
    pub ceilings: String,
    /// Executions.
    pub launches: u64,
    /// Executions that have a duration.
    pub timed_launches: u64,
    /// Time of all launches.
    pub measured_s: f64,
    /// First launches of each kernel that were left out as warm-up.
    #[serde(default)]
    pub warmup: u32,
    /// Every kernel, those with most time first.
    pub kernels: Vec<RunKernel>,
    /// Hash of everything that was measured: two runs with the same are the same measurement.
    pub fingerprint: String,
}

/// Where a saved run comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunOrigin {
    /// Commit of the code that ran.
    pub commit: Option<String>,
    /// Its branch.
    pub branch: Option<String>,
    /// When it was saved, as `2026-11-22T05:30:00Z`.
    pub saved: Option<String>,
}

/// A file of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunFile {
    /// The path as given.
    pub path: String,
    /// The format that read it.
    pub format: String,
    /// The tool that measured; `other` in documents of early versions.
    #[serde(default)]
    pub profiler: Profiler,
    /// Launches it describes.
    pub launches: u64,
    /// Records or cells that could not be used.
    pub skipped: u64,
}

/// A device of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunDevice {
    /// Its name in the catalogue, or the one in the export.
    pub name: String,
    /// Whether the catalogue knows it.
    pub known: bool,
    /// Datasheet bandwidth of its memory, in bytes per second.
    pub dram_bytes_per_s: Option<f64>,
}

/// All launches of one name and shape on one device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunKernel {
    /// Short and readable.
    pub name: String,
    /// As the export writes it; empty where it writes none.
    pub full_name: String,
    /// Framework operator and parameters.
    pub operator: Option<String>,
    /// Blocks in x, y and z.
    pub grid: Option<[u32; 3]>,
    /// Threads of a block in x, y and z.
    pub block: Option<[u32; 3]>,
    /// Blocks in the grid.
    pub blocks: Option<u64>,
    /// Threads in a block.
    pub threads_per_block: Option<u64>,
    /// Position among the devices.
    pub device: usize,
    /// Category that its name tells, such as `dot-product`.
    pub category: String,
    /// Executions.
    pub launches: u64,
    /// Executions that have a duration.
    pub timed: u64,
    /// Time of all of them.
    pub measured_s: f64,
    /// Share of the time of the run.
    pub share: f64,
    /// Times of single launches, ascending: all of them, or 64 quantiles of more; empty where the
    /// export only holds averages of several launches.
    pub samples_s: Vec<f64>,
    /// SM cycles of single launches, in the same way; empty where no launch has a clock.
    #[serde(default)]
    pub samples_cycles: Vec<f64>,
    /// Mean SM clock in hertz.
    pub clock_hz: Option<f64>,
    /// Bytes to and from device memory.
    pub bytes: Option<f64>,
    /// Floating-point operations on all pipes.
    pub flops: Option<f64>,
    /// Of these, operations in double precision.
    pub fp64_flops: Option<f64>,
    /// Time of the launches that the model judged.
    pub modelled_s: f64,
    /// Their expected time.
    pub expected_s: Option<f64>,
    /// The most their expected time can be; absent where nothing bounds it.
    pub expected_high_s: Option<f64>,
    /// What a better implementation can win.
    pub recoverable_s: f64,
    /// What the rules found: rule and severity.
    pub findings: Vec<RunFinding>,
    /// Rows of its first and last launch among the launches of the run.
    pub rows: [u64; 2],
}

/// What a rule found about a kernel of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunFinding {
    /// The rule.
    pub rule: String,
    /// How much time was at stake.
    pub severity: Severity,
}

impl RunKernel {
    /// Measured over expected time; none where the roofline does not judge it.
    #[must_use]
    pub fn headroom(&self) -> Option<f64> {
        self.expected_s.filter(|time| *time > 0.0).map(|expected| self.modelled_s / expected)
    }

    /// The headroom that is certain, given what was not counted.
    #[must_use]
    pub fn headroom_low(&self) -> Option<f64> {
        self.expected_high_s.filter(|time| *time > 0.0).map(|expected| self.modelled_s / expected)
    }

    /// Time of one launch on average.
    #[must_use]
    pub fn mean_s(&self) -> f64 {
        self.measured_s / self.timed.max(1) as f64
    }

    /// Whether its name, short or full, is this one, or fits it as a pattern with `*`.
    #[must_use]
    pub fn is_named(&self, pattern: &str) -> bool {
        crate::analysis::fits(pattern, &self.name)
            || crate::analysis::fits(pattern, &self.full_name)
    }
}

/// The first half of the SHA-256 of a text, in hexadecimal.
#[must_use]
pub fn fingerprint(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter().take(16).fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// What of the launches of a kernel is gathered on the way.
#[derive(Default)]
struct Gathered {
    seen: u64,
    timed: u64,
    measured: ExactSum,
    samples: Vec<f64>,
    cycles: Vec<f64>,
    clock: ExactSum,
    /// Whether every row stands for one launch.
    averaged: bool,
    rows: Option<(u64, u64)>,
}

impl Run {
    /// What of an analysed profile is compared.
    ///
    /// The first `warmup` launches of each kernel are left out of its times, as far as it has more.
    #[must_use]
    pub fn of(profile: &Profile, analysis: &Analysis, findings: &Findings, warmup: u32) -> Self {
        let mut gathered: Vec<Gathered> =
            analysis.kernels.iter().map(|_| Gathered::default()).collect();
        let counts: Vec<u64> = analysis.kernels.iter().map(|kernel| kernel.launches).collect();
        analysis.each_grouped(profile, |position, launch, _| {
            let kernel = &mut gathered[position];
            let row = launch.row() as u64;
            kernel.rows = Some((kernel.rows.map_or(row, |(first, _)| first), row));
            let executions = u64::from(launch.head.count);
            kernel.seen += executions;
            // A kernel of few launches keeps at least one.
            let cold = u64::from(warmup).min(counts[position].saturating_sub(1));
            let Some((time, _)) = launch.duration().filter(|_| kernel.seen > cold) else { return };
            kernel.timed += executions;
            kernel.measured.add(time.get() * executions as f64);
            kernel.averaged |= executions > 1;
            kernel.samples.push(time.get());
            if let Some(clock) = launch.value(Quantity::SmClock) {
                kernel.cycles.push(time.get() * clock);
                kernel.clock.add(clock);
            }
        });
        let mut total = ExactSum::default();
        for kernel in &gathered {
            total.add(kernel.measured.get());
        }
        let total = total.get();
        let kernels = analysis.kernels.iter().zip(gathered).enumerate();
        let mut kernels: Vec<RunKernel> = kernels
            .map(|(position, (kernel, gathered))| {
                let found = findings.by_kernel.get(position).map_or(&[][..], Vec::as_slice);
                let found = found.iter().map(|finding| RunFinding {
                    rule: finding.rule.to_string(),
                    severity: finding.severity,
                });
                run_kernel(kernel, gathered, total, found.collect())
            })
            .collect();
        kernels.sort_by(|one, two| {
            let by_time = two.measured_s.total_cmp(&one.measured_s);
            by_time.then_with(|| one.full_name.cmp(&two.full_name)).then(one.rows.cmp(&two.rows))
        });
        let mut run = Self {
            schema: SCHEMA.to_owned(),
            rooflint: env!("CARGO_PKG_VERSION").to_owned(),
            label: label(analysis),
            origin: RunOrigin::default(),
            files: files(analysis),
            devices: devices(analysis),
            ceilings: analysis.ceilings.label().to_owned(),
            launches: kernels.iter().map(|kernel| kernel.launches).sum(),
            timed_launches: kernels.iter().map(|kernel| kernel.timed).sum(),
            measured_s: total,
            warmup,
            kernels,
            fingerprint: String::new(),
        };
        run.fingerprint = run.hash();
        run
    }

    /// Reads a saved run.
    ///
    /// # Errors
    /// What is wrong with the text, with line and column.
    pub fn from_json(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Head {
            schema: Option<String>,
        }
        let head: Head = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match head.schema.as_deref() {
            Some(SCHEMA) => {}
            Some(other) => return Err(format!("its schema is {other:?}, and {SCHEMA:?} is read")),
            None => return Err("it has no key \"schema\"".to_owned()),
        }
        let run: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        for kernel in &run.kernels {
            run.check(kernel).map_err(|what| format!("the kernel {:?} {what}", kernel.name))?;
        }
        Ok(run)
    }

    /// What is impossible about a kernel of a document that may have been edited.
    fn check(&self, kernel: &RunKernel) -> Result<(), &'static str> {
        let samples = kernel.samples_s.iter().chain(&kernel.samples_cycles);
        let amounts = [kernel.measured_s, kernel.modelled_s, kernel.recoverable_s, kernel.share];
        let optional = [
            kernel.bytes,
            kernel.flops,
            kernel.fp64_flops,
            kernel.expected_s,
            kernel.expected_high_s,
            kernel.clock_hz,
        ];
        let mut all = samples.chain(&amounts).copied().chain(optional.into_iter().flatten());
        if kernel.device >= self.devices.len().max(1) {
            Err("refers to a device that is not listed")
        } else if kernel.samples_s.len().max(kernel.samples_cycles.len()) > SAMPLES {
            Err("has more than 64 samples")
        } else if !all.all(|value| (0.0..1e30).contains(&value)) {
            Err("has an amount that is negative or beyond all bounds")
        } else if kernel.timed > kernel.launches || kernel.launches > 1 << 53 {
            Err("has more launches than there can be, or fewer than have a duration")
        } else if kernel.rows[0] > kernel.rows[1] || kernel.rows[1] > 1 << 53 {
            Err("has rows out of order")
        } else {
            Ok(())
        }
    }

    /// The run as a document with one line per key: fit for version control.
    #[must_use]
    pub fn json(&self) -> String {
        // A run holds nothing that JSON cannot.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// Names of its devices, each once, in order.
    #[must_use]
    pub fn device_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for device in &self.devices {
            if !names.contains(&device.name.as_str()) {
                names.push(&device.name);
            }
        }
        names
    }

    /// Hash of what was measured: names, shapes, counts and times, in an order of their own.
    pub(super) fn hash(&self) -> String {
        let mut lines: Vec<String> = self
            .kernels
            .iter()
            .map(|kernel| {
                let times: Vec<String> =
                    kernel.samples_s.iter().map(|time| format!("{:x}", time.to_bits())).collect();
                format!(
                    "{}\0{:?}\0{:?}\0{:?}\0{}\0{:x}\0{}",
                    kernel.full_name,
                    kernel.operator,
                    (kernel.grid, kernel.blocks),
                    (kernel.block, kernel.threads_per_block),
                    kernel.launches,
                    kernel.measured_s.to_bits(),
                    times.join(",")
                )
            })
            .collect();
        lines.sort_unstable();
        fingerprint(&lines.join("\n"))
    }
}

fn run_kernel(
    kernel: &Kernel,
    gathered: Gathered,
    total: f64,
    findings: Vec<RunFinding>,
) -> RunKernel {
    let measured = gathered.measured.get();
    let dim = |dim: Option<crate::model::Dim3>| dim.map(|dim| [dim.x, dim.y, dim.z]);
    let fp64 = kernel.work.iter().filter(|work| work.pipe.precision() == Precision::Fp64);
    let fp64 = fp64.map(|work| work.operations.get()).reduce(|one, two| one + two);
    let finite = |value: f64| value.is_finite().then_some(value);
    let clocks = gathered.cycles.len();
    RunKernel {
        name: kernel.name.to_string(),
        full_name: kernel.full_name.to_string(),
        operator: kernel.operator.as_deref().map(str::to_owned),
        grid: dim(kernel.shape.grid),
        block: dim(kernel.shape.block),
        blocks: kernel.shape.blocks,
        threads_per_block: kernel.shape.threads_per_block,
        device: kernel.device,
        category: kernel.class.category.key().to_owned(),
        launches: kernel.launches,
        timed: gathered.timed,
        measured_s: measured,
        share: if total > 0.0 { measured / total } else { 0.0 },
        // A cycle count for some launches only would be compared with one for all.
        samples_cycles: if clocks == gathered.samples.len() && !gathered.averaged {
            quantiles(gathered.cycles)
        } else {
            Vec::new()
        },
        samples_s: if gathered.averaged { Vec::new() } else { quantiles(gathered.samples) },
        clock_hz: (clocks > 0).then(|| gathered.clock.get() / clocks as f64),
        bytes: kernel.bytes.map(crate::units::Bytes::get),
        flops: kernel.flops.map(crate::units::Flops::get),
        fp64_flops: fp64,
        modelled_s: kernel.modelled.get(),
        expected_s: kernel.expected.map(crate::units::Seconds::get),
        expected_high_s: kernel.expected_high.and_then(|time| finite(time.get())),
        recoverable_s: kernel.recoverable.get(),
        findings,
        rows: gathered.rows.map_or([0, 0], |(first, last)| [first, last]),
    }
}

/// The values in order; of more than [`SAMPLES`], so many evenly spaced quantiles, at the middles of
/// equal shares, so that the median and the spread stay.
fn quantiles(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    if values.len() <= SAMPLES {
        return values;
    }
    let count = values.len() as f64;
    let at = |position: usize| {
        let exact =
            ((position as f64 + 0.5) / SAMPLES as f64 * count - 0.5).clamp(0.0, count - 1.0);
        let (below, part) = (exact.floor(), exact.fract());
        let next = values[(below as usize + 1).min(values.len() - 1)];
        values[below as usize] * (1.0 - part) + next * part
    };
    (0..SAMPLES).map(at).collect()
}

fn label(analysis: &Analysis) -> String {
    match analysis.sources.as_slice() {
        [] => "(empty)".to_owned(),
        [source] => source.path.clone(),
        [first, rest @ ..] => format!("{} and {} more", first.path, rest.len()),
    }
}

fn files(analysis: &Analysis) -> Vec<RunFile> {
    let file = |source: &crate::model::Source| RunFile {
        path: source.path.clone(),
        format: source.format.clone(),
        profiler: source.profiler,
        launches: source.launches,
        skipped: source.skips.count,
    };
    analysis.sources.iter().map(file).collect()
}

fn devices(analysis: &Analysis) -> Vec<RunDevice> {
    let device = |used: &crate::analysis::DeviceUse| RunDevice {
        name: used.name().to_owned(),
        known: used.device.is_some(),
        dram_bytes_per_s: used
            .device
            .as_ref()
            .and_then(|device| device.need_bandwidth().ok())
            .map(crate::units::BytesPerSecond::get),
    };
    analysis.devices.iter().map(device).collect()
}

/// Findings of a kernel by severity.
#[must_use]
pub fn by_severity(kernel: &RunKernel) -> BTreeMap<Severity, usize> {
    let mut counts = BTreeMap::new();
    for finding in &kernel.findings {
        *counts.entry(finding.severity).or_default() += 1;
    }
    counts
}
