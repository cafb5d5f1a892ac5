//! The part of a run that is compared with others; also the document format of a saved baseline.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::counts::Counts;
use super::rule_list::RuleList;
use crate::analysis::least_headroom;
use crate::json;
use crate::model::Profiler;
use crate::rules::Severity;
use crate::units::{Bytes, BytesPerSecond, ExactSum, Factor, Flops, Hertz, Seconds, Share};

/// Name and major version of the document.
pub const SCHEMA: &str = "rooflint/run/2";

/// Returns the JSON schema of a saved run, as pretty-printed JSON.
#[must_use]
pub fn run_schema() -> String {
    json::schema::<Run>("run-2", "Run saved by rooflint baseline")
}

/// Number of launch times kept per kernel; more are replaced by this many quantiles.
///
/// Comparing looks at every pair of both sides, and baselines live in version control: 64 keeps
/// both small.
pub const SAMPLES: usize = 64;

/// One run of a program under a profiler: every kernel with its times and its roofline results.
///
/// Times are in seconds, work in FLOPs (a fused multiply-add counts 2), traffic in bytes of device
/// memory. Missing figures are absent, never zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// Type and major version of this document.
    pub schema: String,
    /// Version of rooflint that wrote it.
    pub rooflint: String,
    /// Name of the run in reports: its file, or the name under which it was saved.
    pub label: String,
    /// Commit, branch and date, if the run was saved with them.
    #[serde(default)]
    pub origin: RunOrigin,
    /// The files it was read from.
    pub files: Vec<RunFile>,
    /// Launches of each rank of a run of several, by the name of its file or its number in a partitioned table; empty for a
    /// run of one, and in documents of earlier versions.
    #[serde(
        default,
        deserialize_with = "json::unique",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub ranks: BTreeMap<String, u64>,
    /// Files of its folder that are not exports and were left out, by their paths in the folder; not saved.
    #[serde(skip)]
    pub unread: Vec<String>,
    /// The devices it ran on; kernels refer to them by position.
    pub devices: Vec<RunDevice>,
    /// Roofs its kernels are compared with: `spec`, `measured-clock` or `achievable`.
    pub ceilings: String,
    /// Executions.
    pub launches: u64,
    /// Number of launches that have a duration.
    pub timed_launches: u64,
    /// Time of all launches, in seconds.
    pub measured_s: Seconds,
    /// Number of first launches of each kernel excluded as warm-up.
    #[serde(default)]
    pub warmup: u32,
    /// Quantities that the export has, by name; empty in documents of earlier versions.
    #[serde(default)]
    pub quantities: Vec<String>,
    /// Rules that looked at its kernels; absent in documents of earlier versions, which do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<RuleList>,
    /// Lists of rules that were skipped on kernels because a metric is missing, each list once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped_rules: Vec<RuleList>,
    /// All kernels, most time first.
    pub kernels: Vec<RunKernel>,
    /// Hash of all measured values; equal hashes mean the same measurement.
    pub fingerprint: String,
}

/// Origin of a saved run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunOrigin {
    /// Commit of the code that was profiled.
    pub commit: Option<String>,
    /// Branch of the commit.
    pub branch: Option<String>,
    /// Time at which it was saved, as `2026-11-22T05:30:00Z`.
    pub saved: Option<String>,
    /// Its number among the runs that were saved at that time, in their order; absent in documents of earlier versions,
    /// which do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u32>,
}

/// A file of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunFile {
    /// Path as given on the command line; of several ranks that of the first.
    pub path: String,
    /// Number of files that were measured alike, one of each rank; left out if it is one.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub files: u64,
    /// Name of the input format.
    pub format: String,
    /// Profiler that measured it; `other` in documents of early versions.
    #[serde(default)]
    pub profiler: Profiler,
    /// Number of launches in it.
    pub launches: u64,
    /// Number of records or cells that could not be used.
    pub skipped: u64,
    /// Clock and cache control of the profiler, if the export states them, one sentence each.
    #[serde(default)]
    pub controls: Vec<String>,
}

const fn one() -> u64 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_one(files: &u64) -> bool {
    *files == 1
}

/// A device of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunDevice {
    /// Its name in the catalog, or the one in the export.
    pub name: String,
    /// True if the catalog has it.
    pub known: bool,
    /// Datasheet bandwidth of device memory, in bytes per second.
    pub dram_bytes_per_s: Option<BytesPerSecond>,
    /// FP32 operations per clock of a device that the catalog does not know, if the export has them;
    /// reports do not.
    #[serde(default)]
    pub fp32_per_clock: Option<f64>,
}

/// All launches of one name and shape on one device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunKernel {
    /// Short, readable name.
    pub name: String,
    /// Full name as written in the export; empty if there is none.
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
    /// Index into `devices`.
    pub device: usize,
    /// Category derived from its name, such as `dot-product`.
    pub category: String,
    /// Executions.
    pub launches: u64,
    /// Number of launches that have a duration.
    pub timed: u64,
    /// How many of its first launches have no part in its times, in a run of several ranks, each of which warms up;
    /// in a run of one, it follows from the `warmup` of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold: Option<u64>,
    /// Time of all launches, in seconds.
    pub measured_s: Seconds,
    /// Share of the run time, from 0 to 1.
    pub share: Share,
    /// Times of single launches in seconds, ascending: all of them, or 64 quantiles if there are
    /// more; empty if the export only has averages over several launches.
    pub samples_s: Vec<Seconds>,
    /// SM cycles of single launches, in the same form; empty if no launch has a clock.
    #[serde(default)]
    pub samples_cycles: Vec<f64>,
    /// Mean SM clock in hertz.
    pub clock_hz: Option<Hertz>,
    /// Bytes to and from device memory, over all launches.
    pub bytes: Option<Bytes>,
    /// Floating-point operations on all pipes, over all launches.
    pub flops: Option<Flops>,
    /// Of these, operations in double precision.
    pub fp64_flops: Option<Flops>,
    /// Time of the launches that the roofline model covers, in seconds.
    #[serde(alias = "modelled_s")]
    pub judged_s: Seconds,
    /// Roofline time of these launches, in seconds.
    #[serde(alias = "expected_s")]
    pub roofline_s: Option<Seconds>,
    /// Upper bound of their roofline time, in seconds; absent if it is unbounded.
    #[serde(alias = "expected_high_s")]
    pub roofline_high_s: Option<Seconds>,
    /// Part of the roofline time that is certainly needed, in seconds; absent where all of it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roofline_low_s: Option<Seconds>,
    /// Potential savings, in seconds; absent where the roofline model does not cover the kernel.
    #[serde(alias = "recoverable_s")]
    pub savings_s: Option<Seconds>,
    /// Findings of the rules: rule and severity of each.
    pub findings: Vec<RunFinding>,
    /// Index into `skipped_rules`: the rules that were skipped on it; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped_rules: Option<u32>,
    /// Indices of its first and last launch among the launches of the run.
    pub rows: [u64; 2],
    /// What its bytes and operations are made of, for a run of several ranks; documents do not have it.
    #[serde(skip)]
    pub counts: Counts,
}

/// A finding of a rule about a kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunFinding {
    /// Id of the rule.
    pub rule: String,
    /// Severity, by the time at stake.
    pub severity: Severity,
}

impl RunKernel {
    /// Formats grid / block, as far as known; empty if neither is.
    #[must_use]
    pub fn shape(&self) -> String {
        let part = |dim: Option<[u32; 3]>, product: Option<u64>| match (dim, product) {
            (Some([x, 1, 1]), _) => x.to_string(),
            (Some([x, y, z]), _) => format!("{x}×{y}×{z}"),
            (None, Some(product)) => product.to_string(),
            (None, None) => "-".to_owned(),
        };
        let grid = part(self.grid, self.blocks);
        let block = part(self.block, self.threads_per_block);
        if grid == "-" && block == "-" { String::new() } else { format!("{grid} / {block}") }
    }

    /// Sets bytes and operations by what was counted, over so many launches.
    pub(super) fn counted(mut self, launches: u64) -> Self {
        (self.bytes, self.flops, self.fp64_flops) = self.counts.over(launches);
        self
    }

    /// Returns how many launches its bytes and operations are of in a run with this warm-up: those with a duration,
    /// first ones included, or all where none has one.
    #[must_use]
    pub fn counted_launches(&self, warmup: u32) -> u64 {
        if self.timed == 0 {
            return self.launches;
        }
        self.launches.min(self.timed + self.cold_launches(warmup))
    }

    /// Returns how many of its first launches a run with this warm-up leaves out of its times: one launch at least is
    /// kept.
    #[must_use]
    pub fn cold_launches(&self, warmup: u32) -> u64 {
        let cold = self.cold.unwrap_or(u64::from(warmup));
        cold.min(self.launches.saturating_sub(1))
    }

    /// Returns how many launches a run with this warm-up has beyond it.
    #[must_use]
    pub fn warm_launches(&self, warmup: u32) -> u64 {
        self.launches - self.cold_launches(warmup)
    }

    /// Returns the time of all launches: one that is left out as warm-up or has no duration counts as the mean of the
    /// others, so that runs of other lengths differ by their launches alone. Zero where none has a duration.
    #[must_use]
    pub fn whole_s(&self) -> Seconds {
        if self.timed == 0 || self.timed >= self.launches {
            return self.measured_s;
        }
        self.measured_s * (self.launches as f64 / self.timed as f64)
    }

    /// Returns measured over roofline time; `None` if the roofline model does not cover it.
    #[must_use]
    pub fn headroom(&self) -> Option<Factor> {
        self.over(self.roofline_s)
    }

    /// Returns the lower bound of headroom, given what was not counted.
    #[must_use]
    pub fn headroom_low(&self) -> Option<Factor> {
        let headroom = self.headroom().map_or(f64::INFINITY, Factor::get);
        let bound = self.over(self.roofline_high_s)?.get();
        Some(Factor::new(least_headroom(bound, headroom)))
    }

    /// Returns the part of the roofline time that is certainly needed.
    #[must_use]
    pub fn needed_s(&self) -> Option<Seconds> {
        self.roofline_s.map(|roofline_time| self.roofline_low_s.unwrap_or(roofline_time))
    }

    /// Returns measured time over a roofline time, if there is any.
    fn over(&self, roofline_time: Option<Seconds>) -> Option<Factor> {
        let roofline_time = roofline_time.filter(|time| *time > Seconds::ZERO)?;
        Some(Factor::new(self.judged_s / roofline_time))
    }

    /// Returns its name as written in the export, or the short one if there is none.
    #[must_use]
    pub fn written(&self) -> &str {
        super::family::written(&self.full_name, &self.name)
    }

    /// Returns `true` if a launch of it has a duration, without which its time and share are unknown: no launch takes no
    /// time.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.measured_s > Seconds::ZERO
    }

    /// Takes back savings of zero of a kernel without a roofline time: earlier documents wrote them where nothing was
    /// known.
    pub(super) fn without_assumed_savings(mut self) -> Self {
        let is_assumed = self.roofline_s.is_none() && self.savings_s == Some(Seconds::ZERO);
        self.savings_s = self.savings_s.filter(|_| !is_assumed);
        self
    }

    /// Returns the mean time of one launch, in seconds.
    #[must_use]
    pub fn mean_s(&self) -> Seconds {
        self.measured_s / self.timed.max(1) as f64
    }

    /// Returns `true` if its short or full name equals or matches this pattern with `*`.
    #[must_use]
    pub fn is_named(&self, pattern: &str) -> bool {
        crate::analysis::is_called(pattern, &self.name, &self.full_name)
    }
}

impl Run {
    /// Returns the rules that were skipped on one of its kernels.
    #[must_use]
    pub fn skipped_on(&self, kernel: &RunKernel) -> Option<&RuleList> {
        self.skipped_rules.get(kernel.skipped_rules? as usize)
    }

    /// Returns the time of the run: that of all launches, of which one that is left out as warm-up or has no duration
    /// counts as the mean of its kernel. Zero where no launch has one.
    #[must_use]
    pub fn whole_s(&self) -> Seconds {
        let more = |kernel: &RunKernel| kernel.whole_s() - kernel.measured_s;
        self.measured_s + self.kernels.iter().map(more).sum()
    }

    /// Returns the run with what earlier documents only assumed taken back.
    pub(super) fn without_assumed_savings(mut self) -> Self {
        let kernels = self.kernels.into_iter();
        self.kernels = kernels.map(RunKernel::without_assumed_savings).collect();
        self
    }

    /// Finishes a run: sorts its kernels by time, counts timed launches and computes the
    /// fingerprint.
    pub(super) fn ordered(mut self) -> Self {
        for kernel in &mut self.kernels {
            let names = [&mut kernel.name, &mut kernel.full_name].into_iter();
            names.chain(&mut kernel.operator).for_each(super::family::one_line);
        }
        self.kernels.sort_by(|one, two| {
            let by_time = two.measured_s.total_cmp(&one.measured_s);
            by_time.then_with(|| one.full_name.cmp(&two.full_name)).then(one.rows.cmp(&two.rows))
        });
        self.timed_launches = self.kernels.iter().map(|kernel| kernel.timed).sum();
        self.fingerprint = self.hash();
        self
    }

    /// Returns measured over roofline time of all kernels that the roofline model covers; `None` if
    /// it covers none.
    #[must_use]
    pub fn headroom(&self) -> Option<Factor> {
        let judged = || self.kernels.iter().filter(|kernel| kernel.roofline_s.is_some());
        let roofline_time: Seconds = judged().filter_map(|kernel| kernel.roofline_s).sum();
        let modeled: Seconds = judged().map(|kernel| kernel.judged_s).sum();
        (roofline_time > Seconds::ZERO).then(|| Factor::new(modeled / roofline_time))
    }

    /// Returns the run as JSON with one line per kernel, suitable for version control, and with a
    /// fingerprint of its content.
    #[must_use]
    pub fn json(&self) -> String {
        super::seal::sealed(&crate::json::lines(self))
    }

    /// Returns the names of its devices, each once, in order.
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

    /// Hashes what was measured: names, shapes, counts and times, in a fixed order.
    ///
    /// Ranks that are read together and ranks whose runs are put together are one measurement, with the same hash: sums
    /// differ in their last digits there, and quantiles altogether.
    fn hash(&self) -> String {
        self.hash_of(true)
    }

    /// Returns `true` if both are of one measurement, also where one is a report, which has no times of single launches.
    #[must_use]
    pub fn is_measurement_of(&self, other: &Self) -> bool {
        let has_samples =
            |run: &Self| run.kernels.iter().any(|kernel| !kernel.samples_s.is_empty());
        self.fingerprint == other.fingerprint
            || has_samples(self) != has_samples(other)
                && self.may_be_measurement_of(other)
                && self.hash_of(false) == other.hash_of(false)
    }

    /// Returns `true` unless their sums show that they are of two measurements; it takes no kernels to say so.
    #[must_use]
    pub fn may_be_measurement_of(&self, other: &Self) -> bool {
        self.launches == other.launches
            && (self.measured_s - other.measured_s).abs() <= self.measured_s * SAME_SUM
    }

    fn hash_of(&self, with_samples: bool) -> String {
        let digits = |time: &Seconds| format!("{:.8e}", time.get());
        let mut lines: Vec<String> = self
            .kernels
            .iter()
            .map(|kernel| {
                let is_all = kernel.samples_s.len() as u64 == kernel.timed;
                let times = kernel.samples_s.iter().filter(|_| is_all && with_samples).map(digits);
                let times: Vec<String> = times.collect();
                format!(
                    "{}\0{:?}\0{:?}\0{:?}\0{}\0{}\0{}",
                    kernel.full_name,
                    kernel.operator,
                    (kernel.grid, kernel.blocks),
                    (kernel.block, kernel.threads_per_block),
                    kernel.launches,
                    digits(&kernel.measured_s),
                    times.join(",")
                )
            })
            .collect();
        lines.sort_unstable();
        super::seal::fingerprint(&lines.join("\n"))
    }
}

/// Two sums of the same times differ by less than this share.
const SAME_SUM: f64 = 1e-9;

/// Returns the sum of times, independent of their order.
pub(super) fn total(times: impl Iterator<Item = Seconds>) -> Seconds {
    let mut total = ExactSum::default();
    times.for_each(|time| total.add(time.get()));
    Seconds::new(total.get())
}

/// Returns the share of a kernel in the time of its run.
pub(super) fn share(measured: Seconds, total: Seconds) -> Share {
    if total > Seconds::ZERO { Share::new(measured / total) } else { Share::ZERO }
}

/// Returns the label of a run read from these files.
pub(super) fn label<'a>(mut files: impl ExactSizeIterator<Item = &'a str>) -> String {
    match (files.next(), files.len()) {
        (None, _) => "(empty)".to_owned(),
        (Some(file), 0) => file.to_owned(),
        (Some(first), more) => format!("{first} and {more} more"),
    }
}

/// Counts the findings of a kernel by severity.
#[must_use]
pub fn by_severity(kernel: &RunKernel) -> BTreeMap<Severity, usize> {
    let mut counts = BTreeMap::new();
    for finding in &kernel.findings {
        *counts.entry(finding.severity).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::super::made::{kernel, run};
    use super::*;

    #[test]
    fn a_run_is_called_by_its_files() {
        assert_eq!(label([].into_iter()), "(empty)");
        assert_eq!(label(["a.csv"].into_iter()), "a.csv");
        assert_eq!(label(["a.csv", "b.csv", "c.csv"].into_iter()), "a.csv and 2 more");
    }

    /// 6 s over half of them, 3 s; and over 6 / 1.5 = 4 s that they may take at most.
    #[test]
    fn headroom_is_measured_over_expected_time() {
        let one = kernel("a", &[2.0, 4.0]);
        assert_eq!(one.headroom(), Some(Factor::new(2.0)));
        assert_eq!(one.headroom_low(), Some(Factor::new(1.5)));
        assert_eq!(one.mean_s(), Seconds::new(3.0));
        let unjudged = RunKernel { roofline_s: None, ..kernel("b", &[9.0]) };
        assert_eq!(unjudged.headroom(), None);
        // What is not judged is in neither sum.
        assert_eq!(run(vec![one, unjudged]).headroom(), Some(Factor::new(2.0)));
    }

    #[test]
    fn the_kernels_of_a_run_are_in_order_and_its_fingerprint_is_of_what_was_measured() {
        let (a, b) = (kernel("a", &[1.0]), kernel("b", &[3.0]));
        let one = run(vec![a.clone(), b.clone()]);
        assert_eq!(one.kernels.iter().map(|one| &*one.name).collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!((one.timed_launches, one.kernels[0].share), (2, Share::new(0.75)));
        assert_eq!(one.fingerprint, run(vec![b.clone(), a]).fingerprint);
        assert_ne!(one.fingerprint, run(vec![b, kernel("a", &[1.1])]).fingerprint);
    }

    #[test]
    fn a_report_is_of_the_measurement_that_it_was_made_from() {
        let one = run(vec![kernel("a", &[1.0, 2.0]), kernel("b", &[3.0])]);
        let report = |times: &[f64]| {
            let mut report = run(vec![kernel("a", times), kernel("b", &[3.0])]);
            report.kernels.iter_mut().for_each(|kernel| kernel.samples_s.clear());
            run(report.kernels)
        };
        let (own, other) = (report(&[1.0, 2.0]), report(&[1.0, 2.1]));
        assert_ne!(one.fingerprint, own.fingerprint);
        assert!(one.is_measurement_of(&own) && own.is_measurement_of(&one));
        assert!(!one.is_measurement_of(&other) && !own.is_measurement_of(&other));
        // Two runs whose launches add up to the same time are two.
        let turned = run(vec![kernel("a", &[1.5, 1.5]), kernel("b", &[3.0])]);
        assert!(!one.is_measurement_of(&turned));
    }

    #[test]
    fn a_saved_run_holds_numbers_without_their_types() {
        let text = run(vec![kernel("a", &[0.25, 0.5])]).json();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["measured_s"], 0.75);
        assert_eq!(value["kernels"][0]["samples_s"], serde_json::json!([0.25, 0.5]));
        assert_eq!(value["kernels"][0]["flops"], 2.0);
        assert_eq!(value["kernels"][0]["bytes"], serde_json::Value::Null);
    }
}
