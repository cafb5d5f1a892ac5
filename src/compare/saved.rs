//! Reads runs from saved runs and from JSON reports, old versions included.
//!
//! Figures with the same key in both documents are read by [`RunKernel`] itself; only the
//! differences are listed here.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::gathered::is_control;
use super::rule_list::RuleList;
use super::run::{
    Run, RunDevice, RunFile, RunKernel, RunOrigin, SAMPLES, SCHEMA, label, share, total,
};
use crate::analysis::{self, State};
use crate::model::{Pipe, Precision, Profiler, Quantity};
use crate::plain;
use crate::rules::is_of_run;
use crate::units::{BEYOND_ALL, Bytes, BytesPerSecond, Factor, Flops, Hertz, Seconds};

/// Schemas of saved runs that can be read; the first version has other names for four times.
const RUNS: [&str; 2] = ["rooflint/run/1", SCHEMA];

/// Schemas of JSON reports that can be read; renamed keys have aliases here.
const REPORTS: [&str; 3] = ["rooflint/report/1", "rooflint/report/2", "rooflint/report/3"];

/// Prefix of the schema names of JSON reports.
const OWN_REPORT: &str = "rooflint/report/";
const OWN_RUN: &str = "rooflint/run/";

/// Largest count that is exact as a float, as other JSON readers store it.
const EXACT: u64 = 1 << 53;

/// Sums and bounds that differ by less than this share differ by rounding.
const ROUNDING: f64 = 1e-9;

/// The part of a report that is needed.
#[derive(Deserialize)]
struct Report {
    rooflint: String,
    inputs: Vec<Input>,
    devices: Vec<Device>,
    settings: Settings,
    totals: Totals,
    kernels: Vec<Kernel>,
    /// Missing in reports of early versions.
    rules: Option<Vec<ReportRule>>,
    /// Missing in reports of early versions.
    #[serde(default)]
    skipped_rules: Vec<RuleList>,
}

/// A file: `skipped` is a list in reports, and a count in saved runs.
#[derive(Deserialize)]
struct Input {
    path: String,
    format: String,
    #[serde(default)]
    profiler: Profiler,
    launches: u64,
    skipped_rows: u64,
    #[serde(default)]
    clues: Vec<String>,
}

#[derive(Deserialize)]
struct Device {
    name: String,
    unknown: Option<serde::de::IgnoredAny>,
    ceilings: Ceilings,
}

#[derive(Deserialize)]
struct Ceilings {
    dram_bytes_per_s: Option<BytesPerSecond>,
    peaks: Vec<serde::de::IgnoredAny>,
}

/// A rule that ran, on kernels or on the run.
#[derive(Deserialize)]
struct ReportRule {
    rule: String,
}

#[derive(Deserialize)]
struct Settings {
    ceilings: String,
    groups: Option<String>,
}

#[derive(Deserialize)]
struct Totals {
    launches: u64,
}

/// Fields of a kernel that differ between reports and saved runs; the rest is passed through.
#[derive(Deserialize)]
struct Kernel {
    /// Name of the device; a saved run has its index.
    device: String,
    /// Missing in reports of early versions.
    category: Option<String>,
    group: Option<String>,
    launches: u64,
    /// Missing where all have a duration, or none, and in reports of early versions.
    timed_launches: Option<u64>,
    measured_s: Option<Seconds>,
    #[serde(alias = "recoverable_s")]
    savings_s: Option<Seconds>,
    #[serde(alias = "expected_s")]
    roofline_s: Option<Seconds>,
    headroom: Option<Factor>,
    #[serde(default)]
    work: Vec<Work>,
    #[serde(default, deserialize_with = "crate::json::unique")]
    averages: BTreeMap<String, f64>,
    #[serde(flatten, deserialize_with = "crate::json::unique")]
    alike: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
struct Work {
    pipe: String,
    operations: Flops,
}

#[derive(Deserialize)]
struct Head {
    schema: Option<String>,
}

/// Checks that a document has one of these schemas.
///
/// # Errors
/// Returns a message with the actual schema.
fn check_schema(text: &str, read: &[&str]) -> Result<(), String> {
    let head: Head = serde_json::from_str(text).map_err(|error| plain::json(&error))?;
    match head.schema.as_deref() {
        Some(schema) if read.contains(&schema) => Ok(()),
        Some(other) => {
            let expected: Vec<String> = read.iter().map(|schema| format!("{schema:?}")).collect();
            Err(format!("unsupported schema {other:?} (expected {})", expected.join(" or ")))
        }
        None => Err("missing key \"schema\"".to_owned()),
    }
}

impl Run {
    /// Reads a saved run or a JSON report; returns `None` if the text is neither, and so may be an
    /// export.
    ///
    /// # Errors
    /// Returns a message with the problem, its line and column.
    pub fn from_document(text: &str) -> Result<Option<Self>, String> {
        if !text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
            return Ok(None);
        }
        // A document that was cut off has no schema that could be read: its beginning tells.
        let begins_as_own = || {
            let own = [OWN_REPORT, OWN_RUN];
            own.iter().any(|name| text.contains(&format!("\"schema\": \"{name}")))
        };
        let schema = match serde_json::from_str::<Head>(text) {
            Ok(head) => head.schema,
            Err(error) if begins_as_own() => return Err(plain::json(&error)),
            Err(_) => None,
        };
        match schema.as_deref() {
            Some(name) if name.starts_with(OWN_REPORT) => Self::from_report(text).map(Some),
            Some(name) if name.starts_with(OWN_RUN) => Self::from_json(text).map(Some),
            _ => Ok(None),
        }
    }

    /// Whether a saved run carries a fingerprint of its content, so that damage would have been seen.
    #[must_use]
    pub fn is_sealed(text: &str) -> bool {
        super::seal::check(text).unwrap_or(false)
    }

    /// Reads a saved run.
    ///
    /// # Errors
    /// Returns a message with the problem, its line and column, or that the document is damaged.
    pub fn from_json(text: &str) -> Result<Self, String> {
        Self::from_sealed(text).map(|(run, _)| run)
    }

    /// Reads a saved run, and whether its content was checked against a fingerprint.
    ///
    /// # Errors
    /// As [`Run::from_json`].
    pub fn from_sealed(text: &str) -> Result<(Self, bool), String> {
        let is_sealed = super::seal::check(text)?;
        Ok((Self::known(text)?.checked()?.agreeing()?, is_sealed))
    }

    /// Reads a run of a known version.
    pub(super) fn known(text: &str) -> Result<Self, String> {
        match serde_json::from_str::<Self>(text) {
            Ok(run) if RUNS.contains(&&*run.schema) => Ok(run.without_assumed_savings()),
            // That of another version may be read as well as not.
            other => {
                check_schema(text, &RUNS)?;
                other.map_err(|error| plain::json(&error))
            }
        }
    }

    /// Reads a saved run without its kernels, from the beginning and the end of a document as
    /// [`Run::json`] writes it; `None` for any other, and where the beginning is too short.
    #[must_use]
    pub fn from_ends(start: &str, end: &str) -> Option<Self> {
        let (head, _) = start.split_once("\"kernels\": [")?;
        let (_, fingerprint) = end.rsplit_once("\"fingerprint\": \"")?;
        let (fingerprint, _) = fingerprint.split_once('"')?;
        let text = format!("{head}\"kernels\": [], \"fingerprint\": \"{fingerprint}\"}}");
        let run: Self = serde_json::from_str(&text).ok()?;
        RUNS.contains(&&*run.schema).then_some(run)
    }

    /// Checks that no value of the run is impossible, because documents may have been edited.
    ///
    /// # Errors
    /// Returns a message with the kernel and the problem.
    pub(super) fn checked(self) -> Result<Self, String> {
        let mut launches = 0_u64;
        for kernel in &self.kernels {
            self.check(kernel).map_err(|what| format!("kernel {:?} {what}", kernel.name))?;
            launches = launches.saturating_add(kernel.launches);
        }
        // What adds them up later does not overflow.
        let counts = self.files.iter().flat_map(|file| [file.launches, file.skipped]);
        let counts = counts.chain(self.ranks.values().copied());
        let most = counts.chain([launches, self.launches, self.timed_launches]).max();
        if most.is_some_and(|most| most > EXACT) {
            return Err("the run has an impossible number of launches".to_owned());
        }
        Ok(self)
    }

    /// Checks that the sums of a saved run agree with its kernels. The report of some kernels has the launches of the
    /// whole run, and so has a run that was saved from it.
    ///
    /// # Errors
    /// Returns a message with the sum that differs.
    pub(super) fn agreeing(self) -> Result<Self, String> {
        let measured = total(self.kernels.iter().map(|kernel| kernel.measured_s));
        let is_measured = (self.measured_s - measured).abs() <= measured * ROUNDING;
        let launches: u64 = self.kernels.iter().map(|kernel| kernel.launches).sum();
        let timed: u64 = self.kernels.iter().map(|kernel| kernel.timed).sum();
        let sums = [
            ("measured_s", is_measured),
            ("launches", launches <= self.launches),
            ("timed_launches", timed == self.timed_launches),
        ];
        match sums.into_iter().find(|(_, is_sum)| !is_sum) {
            Some((key, _)) => Err(format!("{key:?} of the run does not agree with its kernels")),
            None => Ok(self),
        }
    }

    fn check(&self, kernel: &RunKernel) -> Result<(), &'static str> {
        let times = [Some(kernel.measured_s), Some(kernel.judged_s), kernel.savings_s];
        let roofline = [kernel.roofline_low_s, kernel.roofline_s, kernel.roofline_high_s];
        let times = times.into_iter().chain(roofline).flatten();
        let times = times.chain(kernel.samples_s.iter().copied()).map(Seconds::get);
        let work = [kernel.flops, kernel.fp64_flops].into_iter().flatten().map(Flops::get);
        let others = [kernel.bytes.map(Bytes::get), kernel.clock_hz.map(Hertz::get)];
        let others = others.into_iter().flatten().chain([kernel.share.get()]);
        let mut all = times.chain(work).chain(others).chain(kernel.samples_cycles.iter().copied());
        if kernel.device >= self.devices.len().max(1) {
            Err("refers to a device that is not in \"devices\"")
        } else if kernel.skipped_rules.is_some() && self.skipped_on(kernel).is_none() {
            Err("refers to a list that is not in \"skipped_rules\"")
        } else if kernel.samples_s.len().max(kernel.samples_cycles.len()) > SAMPLES {
            Err("has more samples than a run keeps")
        } else if !all.all(|value| (0.0..BEYOND_ALL).contains(&value)) {
            Err("has an amount that is negative or impossibly large")
        } else if kernel.timed > kernel.launches || kernel.launches > EXACT {
            Err("has an impossible number of launches, or fewer launches than durations")
        } else if kernel.cold.is_some_and(|cold| cold > kernel.launches) {
            Err("leaves out more first launches than it has")
        } else if !is_ascending(roofline) {
            Err("has a roofline time outside its bounds")
        } else if kernel.share.get() > 1.0 + ROUNDING {
            Err("has more than the time of the run")
        } else if kernel.rows[0] > kernel.rows[1] || kernel.rows[1] > EXACT {
            Err("has rows out of order")
        } else {
            Ok(())
        }
    }

    /// Reads a JSON report as written by `rooflint analyze -o report.json`.
    ///
    /// A report has one time per kernel and no times of single launches, so the declared noise
    /// decides in comparisons.
    ///
    /// # Errors
    /// Returns a message with the problem and its line and column, or its kernel.
    pub fn from_report(text: &str) -> Result<Self, String> {
        check_schema(text, &REPORTS)?;
        let report: Report = serde_json::from_str(text).map_err(|error| plain::json(&error))?;
        let total = total(report.kernels.iter().filter_map(|kernel| kernel.measured_s));
        let by_category = report.settings.groups.as_deref() == Some("category");
        let kernels = report.kernels.into_iter();
        let kernels = kernels.map(|kernel| kernel.read(&report.devices, total, by_category));
        Self {
            schema: SCHEMA.to_owned(),
            rooflint: report.rooflint,
            label: label(report.inputs.iter().map(|input| input.path.as_str())),
            origin: RunOrigin::default(),
            kernels: kernels.collect::<Result<_, String>>()?,
            files: report.inputs.into_iter().map(run_file).collect(),
            ranks: BTreeMap::new(),
            unread: Vec::new(),
            devices: report.devices.into_iter().map(run_device).collect(),
            ceilings: report.settings.ceilings,
            launches: report.totals.launches,
            timed_launches: 0,
            measured_s: total,
            warmup: 0,
            quantities: Vec::new(),
            rules: report.rules.map(run_rules),
            skipped_rules: report.skipped_rules,
            fingerprint: String::new(),
        }
        .checked()?
        .ordered()
        .agreeing()
    }
}

/// Whether no roofline time is above an upper bound of it; a kernel without one has no bounds.
fn is_ascending([low, roofline, high]: [Option<Seconds>; 3]) -> bool {
    let is_within = |one: Seconds, two: Seconds| one <= two * (1.0 + ROUNDING);
    roofline.is_none_or(|roofline| {
        low.is_none_or(|low| is_within(low, roofline))
            && high.is_none_or(|high| is_within(roofline, high))
    })
}

fn run_file(input: Input) -> RunFile {
    let Input { path, format, profiler, launches, skipped_rows, clues } = input;
    let controls = clues.into_iter().filter(|clue| is_control(clue)).collect();
    RunFile { path, files: 1, format, profiler, launches, skipped: skipped_rows, controls }
}

fn run_rules(rules: Vec<ReportRule>) -> RuleList {
    let ran = rules.into_iter().map(|one| one.rule);
    ran.filter(|rule| !is_of_run(rule)).collect::<Vec<String>>().into()
}

fn run_device(device: Device) -> RunDevice {
    let Device { name, unknown, ceilings } = device;
    // Older reports only say it by the lack of roofs.
    let known =
        unknown.is_none() && (ceilings.dram_bytes_per_s.is_some() || !ceilings.peaks.is_empty());
    RunDevice { name, known, dram_bytes_per_s: ceilings.dram_bytes_per_s, fp32_per_clock: None }
}

impl Kernel {
    /// Converts a kernel of a report to that of a saved run.
    fn read(
        self,
        devices: &[Device],
        run: Seconds,
        by_category: bool,
    ) -> Result<RunKernel, String> {
        let name = self.alike.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let wrong = |what: &str| format!("kernel {name:?} {what}");
        let device = devices.iter().position(|device| device.name == self.device);
        let device = device.ok_or_else(|| {
            wrong(&format!("ran on {:?}, which is not in \"devices\"", self.device))
        })?;
        if self.launches == 0 {
            return Err(wrong("has no launches"));
        }
        let measured = self.measured_s.unwrap_or(Seconds::ZERO);
        // Launches that the roofline does not judge are in the measured time, and not in the headroom.
        let judged = self.roofline_s.zip(self.headroom);
        let modeled = judged
            .map_or(Seconds::ZERO, |(roofline_time, headroom)| roofline_time * headroom.get());
        // Early reports tell the category only as the group that a kernel is counted in.
        let group = self.group.filter(|_| by_category).map(|group| group.replace(' ', "-"));
        let category = self.category.or(group).unwrap_or_else(|| "unknown".to_owned());
        // Links limit communication, not the roofs of a device.
        let is_local = !analysis::is_communication(&category);
        let fp64 = |work: &&Work| {
            Pipe::ALL
                .iter()
                .any(|pipe| pipe.precision() == Precision::Fp64 && pipe.key() == work.pipe)
        };
        let fp64 = self.work.iter().filter(fp64).map(|work| work.operations);
        // A report has no savings of kernels that have none to speak of, such as launch-bound ones.
        let state = self.alike.get("state").and_then(Value::as_str);
        let nothing = State::ALL
            .iter()
            .any(|one| Some(one.key()) == state && one.has_known_savings() && !one.is_modeled());
        let own = json!({
            "device": device,
            "category": category,
            "launches": self.launches,
            "timed": if self.measured_s.is_some() { self.timed_launches.unwrap_or(self.launches) } else { 0 },
            "measured_s": measured,
            "share": share(measured, run),
            "samples_s": [],
            "clock_hz": self.averages.get(&Quantity::SmClock.column()),
            "fp64_flops": fp64.reduce(|one, two| one + two),
            "judged_s": modeled,
            "roofline_s": self.roofline_s.filter(|_| is_local),
            "savings_s": self.savings_s.or(nothing.then_some(Seconds::ZERO)),
            "rows": [0, 0],
        });
        let mut kernel = self.alike;
        kernel.extend(own.as_object().cloned().unwrap_or_default());
        kernel.entry("findings".to_owned()).or_insert_with(|| json!([]));
        serde_json::from_value(Value::Object(Map::from_iter(kernel)))
            .map(RunKernel::without_assumed_savings)
            .map_err(|error| wrong(&format!("cannot be read: {}", plain::json(&error))))
    }
}

#[cfg(test)]
mod tests {
    use super::super::made::{kernel, run};
    use super::*;

    const REPORT: &str = r#"{
  "schema": "rooflint/report/1",
  "rooflint": "0.1.0",
  "inputs": [{ "path": "a.csv", "format": "ncu-wide", "launches": 7, "skipped_rows": 1 }],
  "devices": [
    { "name": "H200", "ceilings": { "dram_bytes_per_s": 4.8e12, "peaks": [] } },
    { "name": "unknown device", "ceilings": { "dram_bytes_per_s": null, "peaks": [] } }
  ],
  "settings": { "ceilings": "spec", "groups": "category" },
  "totals": { "launches": 7 },
  "kernels": [
    { "name": "copy", "full_name": "copy(int)", "operator": null, "device": "unknown device",
      "group": "data movement", "grid": null, "block": null, "blocks": 4, "threads_per_block": 64,
      "launches": 2, "measured_s": null, "flops": null, "bytes": null, "roofline_s": null,
      "roofline_high_s": null, "headroom": null, "savings_s": null },
    { "name": "gemm", "full_name": "gemm<int>(int)", "operator": "aten::mm", "device": "H200",
      "category": "dot-product", "grid": [2, 2, 1], "block": [64, 1, 1], "blocks": 4,
      "threads_per_block": 64, "launches": 5, "measured_s": 1e-3, "flops": 3e9, "bytes": 1e6,
      "roofline_s": 4e-4, "roofline_high_s": 5e-4, "headroom": 2.5, "savings_s": 6e-4,
      "averages": { "sm_clock_hz": 1.5e9 },
      "work": [{ "pipe": "fp64_vector", "operations": 1e9 }, { "pipe": "fp32_vector", "operations": 2e9 }],
      "findings": [{ "rule": "tail-effect", "severity": "high", "message": "…" }] }
  ]
}"#;

    #[test]
    fn a_report_is_a_run_without_samples() {
        let run = Run::from_report(REPORT).unwrap();
        assert_eq!((run.label.as_str(), run.launches, run.timed_launches), ("a.csv", 7, 5));
        assert_eq!((run.measured_s.get(), run.ceilings.as_str()), (1e-3, "spec"));
        assert_eq!(run.devices.iter().map(|one| one.known).collect::<Vec<_>>(), [true, false]);
        let [gemm, copy] = run.kernels.as_slice() else { panic!("two kernels") };
        assert_eq!(
            (gemm.name.as_str(), gemm.category.as_str(), gemm.device),
            ("gemm", "dot-product", 0)
        );
        assert!(gemm.samples_s.is_empty());
        assert_eq!(
            (gemm.timed, gemm.share.get(), gemm.fp64_flops),
            (5, 1.0, Some(Flops::new(1e9)))
        );
        assert_eq!(
            [gemm.headroom(), gemm.headroom_low()],
            [2.5, 2.0].map(|one| Some(Factor::new(one)))
        );
        assert_eq!((gemm.clock_hz.unwrap().get(), gemm.findings.len()), (1.5e9, 1));
        assert_eq!((copy.category.as_str(), copy.device, copy.timed), ("data-movement", 1, 0));
        assert_eq!((copy.roofline_s, copy.bytes, copy.headroom()), (None, None, None));
        assert_eq!(Run::from_document(REPORT).unwrap().unwrap(), run);
        assert_eq!(Run::from_document(&run.json()).unwrap().unwrap(), run);
        let second = REPORT.replace("report/1", "report/2");
        assert_eq!(Run::from_document(&second).unwrap().unwrap(), run);
    }

    /// Earlier documents have a zero for what was not modeled; where there is a roofline time, it is one.
    #[test]
    fn savings_of_zero_without_a_roofline_time_are_unknown() {
        let mut run = Run::from_report(REPORT).unwrap();
        let savings = |run: &Run| {
            run.kernels.iter().map(|one| one.savings_s.map(Seconds::get)).collect::<Vec<_>>()
        };
        assert_eq!(savings(&run), [Some(6e-4), None]);
        run.kernels.iter_mut().for_each(|kernel| kernel.savings_s = Some(Seconds::ZERO));
        let read = Run::from_json(&run.json()).unwrap();
        assert_eq!(savings(&read), [Some(0.0), None]);
        assert_eq!(savings(&Run::from_table(&run.table()).unwrap()), [Some(0.0), None]);
        let early = REPORT.replace("\"savings_s\": null", "\"recoverable_s\": 0");
        assert_eq!(savings(&Run::from_report(&early).unwrap()), [Some(6e-4), None]);
        // A launch-bound kernel has nothing to save; one of which data lack may have.
        for (state, expected) in [("launch_bound", Some(0.0)), ("not_enough_data", None)] {
            let state = format!("\"savings_s\": null, \"state\": \"{state}\"");
            let text = REPORT.replace("\"savings_s\": 6e-4", &state);
            assert_eq!(savings(&Run::from_report(&text).unwrap()), [expected, None], "{state}");
        }
        // What is unknown is written as such, and read again.
        assert!(read.json().contains("\"savings_s\": null"), "{}", read.json());
        assert_eq!(Run::from_json(&read.json()).unwrap(), read);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        let with = |from: &str, to: &str| {
            let text = REPORT.replacen(from, to, 1);
            assert_ne!(text, REPORT, "{from}");
            Run::from_document(&text).unwrap_err()
        };
        for (from, to, told) in [
            (
                "report/1",
                "report/4",
                "unsupported schema \"rooflint/report/4\" (expected \"rooflint/report/1\" or \
                 \"rooflint/report/2\" or \"rooflint/report/3\")",
            ),
            ("\"launches\": 7, ", "\"launches\": \"7\", ", "line 4, column"),
            ("\"rooflint\": \"0.1.0\",", "", "missing key \"rooflint\""),
            ("1e-3", "-1e-3", "kernel \"gemm\" has an amount that is negative"),
            ("1e-3", "1e300", "kernel \"gemm\" has an amount that is negative or impossibly"),
            ("\"grid\": [2, 2, 1]", "\"grid\": [2, 2]", "kernel \"gemm\" cannot be read: "),
            ("\"full_name\": \"copy(int)\", ", "", "\"copy\" cannot be read: missing key"),
            ("\"launches\": 5", "\"launches\": 0", "kernel \"gemm\" has no launches"),
            (
                "\"launches\": 5",
                "\"launches\": 9223372036854775813",
                "kernel \"gemm\" has an impossible number of launches",
            ),
            ("\"launches\": 7, ", "\"launches\": 9007199254740993, ", "the run has an impossible"),
            (
                "{ \"launches\": 7 }",
                "{ \"launches\": 6 }",
                "\"launches\" of the run does not agree with its kernels",
            ),
            ("\"device\": \"H200\"", "\"device\": \"H20\"", "ran on \"H20\", which is not in"),
            ("1e-3", "1e999", "column 65: number out of range"),
        ] {
            let found = with(from, to);
            assert!(found.contains(told), "{from}: {found}");
        }
        let cut = &REPORT[..REPORT.len() / 2];
        assert!(Run::from_document(cut).unwrap_err().contains("the JSON ends too early"), "{cut}");
    }

    /// Two kernels of 6 ms in 3 launches and 2 ms in 2, with half of it as roofline time, at most two thirds: each figure by
    /// itself is changed to what a run cannot have.
    #[test]
    fn figures_that_do_not_agree_are_refused() {
        let mut run = run(vec![kernel("a", &[1e-3, 2e-3, 3e-3]), kernel("b", &[1e-3; 2])]);
        run.kernels[0].roofline_low_s = Some(Seconds::new(2e-3));
        run.kernels[0].cold = Some(1);
        assert_eq!(Run::from_json(&run.json()), Ok(run.clone()));
        let with = |change: &dyn Fn(&mut Run)| {
            let mut other = run.clone();
            change(&mut other);
            let read = Run::from_json(&other.json());
            assert_eq!(read.is_ok(), Run::from_table(&other.table()).is_ok());
            read.map(|_| ())
        };
        let seconds = |time: f64| Some(Seconds::new(time));
        let bounds = Err("kernel \"a\" has a roofline time outside its bounds".to_owned());
        assert_eq!(with(&|run| run.kernels[0].roofline_low_s = seconds(3.1e-3)), bounds);
        assert_eq!(with(&|run| run.kernels[0].roofline_high_s = seconds(2.9e-3)), bounds);
        let large =
            Err("kernel \"a\" has an amount that is negative or impossibly large".to_owned());
        assert_eq!(with(&|run| run.kernels[0].roofline_low_s = seconds(1e300)), large);
        let cold = Err("kernel \"a\" leaves out more first launches than it has".to_owned());
        assert_eq!(with(&|run| run.kernels[0].cold = Some(4)), cold);
        let share = Err("kernel \"a\" has more than the time of the run".to_owned());
        assert_eq!(with(&|run| run.kernels[0].share = crate::units::Share::new(1.1)), share);
        let sum = |key: &str| Err(format!("{key:?} of the run does not agree with its kernels"));
        assert_eq!(with(&|run| run.measured_s = Seconds::new(1e299)), sum("measured_s"));
        assert_eq!(with(&|run| run.measured_s = Seconds::new(7.99e-3)), sum("measured_s"));
        assert_eq!(with(&|run| run.launches = 4), sum("launches"));
        assert_eq!(with(&|run| run.timed_launches = 6), sum("timed_launches"));
        // What rounds, and the launches of the run of which a report has only some kernels.
        assert_eq!(with(&|run| run.measured_s = run.measured_s * (1.0 + 1e-12)), Ok(()));
        assert_eq!(with(&|run| run.launches = 9), Ok(()));
        assert_eq!(with(&|run| run.kernels[0].roofline_low_s = run.kernels[0].roofline_s), Ok(()));
    }

    #[test]
    fn what_is_no_document_of_ours_may_be_an_export() {
        for text in
            ["", "ID,Kernel Name\n", "{", "{}", "[1]", "{\"traceEvents\": []}", "{\"schema\": 3}"]
        {
            assert_eq!(Run::from_document(text), Ok(None), "{text}");
        }
    }
}
