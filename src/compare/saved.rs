//! Runs from documents of earlier days: saved runs, and reports that were written for programs.

use serde::Deserialize;

use super::run::{Run, RunDevice, RunFile, RunFinding, RunKernel, RunOrigin, SCHEMA};
use crate::model::{Pipe, Precision, Profiler, Quantity};
use crate::rules::Severity;
use crate::units::ExactSum;

/// Names of the report for programs with the major versions that are read.
const REPORTS: [&str; 2] = ["rooflint/report/2", "rooflint/report/1"];

/// How the names of our own documents begin.
const OWN: [&str; 2] = ["rooflint/report/", "rooflint/run/"];

/// What of a report is needed.
#[derive(Deserialize)]
struct Report {
    rooflint: String,
    inputs: Vec<Input>,
    devices: Vec<Device>,
    settings: Settings,
    totals: Totals,
    kernels: Vec<Kernel>,
}

#[derive(Deserialize)]
struct Input {
    path: String,
    format: String,
    #[serde(default)]
    profiler: Profiler,
    launches: u64,
    skipped_rows: u64,
}

#[derive(Deserialize)]
struct Device {
    name: String,
    ceilings: Ceilings,
}

#[derive(Deserialize)]
struct Ceilings {
    dram_bytes_per_s: Option<f64>,
    peaks: Vec<serde::de::IgnoredAny>,
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

#[derive(Deserialize)]
struct Kernel {
    name: String,
    full_name: String,
    operator: Option<String>,
    /// Not in the reports of early versions.
    category: Option<String>,
    group: Option<String>,
    device: String,
    grid: Option<[u32; 3]>,
    block: Option<[u32; 3]>,
    blocks: Option<u64>,
    threads_per_block: Option<u64>,
    launches: u64,
    measured_s: Option<f64>,
    flops: Option<f64>,
    bytes: Option<f64>,
    expected_s: Option<f64>,
    expected_high_s: Option<f64>,
    headroom: Option<f64>,
    recoverable_s: Option<f64>,
    #[serde(default)]
    work: Vec<Work>,
    #[serde(default)]
    averages: std::collections::BTreeMap<String, f64>,
    #[serde(default)]
    findings: Vec<Finding>,
}

#[derive(Deserialize)]
struct Work {
    pipe: String,
    operations: f64,
}

#[derive(Deserialize)]
struct Finding {
    rule: String,
    severity: Severity,
}

#[derive(Deserialize)]
struct Head {
    schema: Option<String>,
}

impl Run {
    /// Reads a saved run or a report for programs; none where the text is neither, and so may be an
    /// export.
    ///
    /// # Errors
    /// What is wrong with such a document, with line and column.
    pub fn from_document(text: &str) -> Result<Option<Self>, String> {
        if !text.trim_start_matches('\u{feff}').trim_start().starts_with('{') {
            return Ok(None);
        }
        // A document that was cut off has no schema that could be read: its beginning tells.
        let begins_as_own =
            || OWN.iter().any(|name| text.contains(&format!("\"schema\": \"{name}")));
        let schema = match serde_json::from_str::<Head>(text) {
            Ok(head) => head.schema,
            Err(error) if begins_as_own() => return Err(error.to_string()),
            Err(_) => None,
        };
        match schema.as_deref() {
            Some(name) if name.starts_with(OWN[0]) => Self::from_report(text).map(Some),
            Some(name) if name.starts_with(OWN[1]) => Self::from_json(text).map(Some),
            _ => Ok(None),
        }
    }

    /// Reads the report for programs, as `rooflint analyze -o report.json` writes it.
    ///
    /// A report has one time per kernel and none of single launches: one number a side, for which the
    /// noise that is declared decides.
    ///
    /// # Errors
    /// What is wrong with the text, with line and column.
    pub fn from_report(text: &str) -> Result<Self, String> {
        let head: Head = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match head.schema.as_deref() {
            Some(known) if REPORTS.contains(&known) => {}
            Some(other) => {
                let [now, before] = REPORTS;
                return Err(format!("its schema is {other:?}; {now:?} and {before:?} are read"));
            }
            None => return Err("it has no key \"schema\"".to_owned()),
        }
        let report: Report = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let mut total = ExactSum::default();
        report
            .kernels
            .iter()
            .filter_map(|kernel| kernel.measured_s)
            .for_each(|time| total.add(time));
        let total = total.get();
        let by_category = report.settings.groups.as_deref() == Some("category");
        let mut kernels = Vec::with_capacity(report.kernels.len());
        for kernel in report.kernels {
            let device = report.devices.iter().position(|device| device.name == kernel.device);
            let device = device.ok_or_else(|| {
                format!(
                    "the kernel {:?} ran on {:?}, which is not listed",
                    kernel.name, kernel.device
                )
            })?;
            kernels.push(run_kernel(kernel, device, total, by_category)?);
        }
        kernels.sort_by(|one, two| {
            let by_time = two.measured_s.total_cmp(&one.measured_s);
            by_time.then_with(|| one.full_name.cmp(&two.full_name))
        });
        let label = match report.inputs.as_slice() {
            [] => "(empty)".to_owned(),
            [input] => input.path.clone(),
            [first, rest @ ..] => format!("{} and {} more", first.path, rest.len()),
        };
        let mut run = Self {
            schema: SCHEMA.to_owned(),
            rooflint: report.rooflint,
            label,
            origin: RunOrigin::default(),
            files: report.inputs.into_iter().map(file).collect(),
            devices: report.devices.into_iter().map(run_device).collect(),
            ceilings: report.settings.ceilings,
            launches: report.totals.launches,
            timed_launches: kernels.iter().map(|kernel| kernel.timed).sum(),
            measured_s: total,
            warmup: 0,
            kernels,
            fingerprint: String::new(),
        };
        run.fingerprint = run.hash();
        Ok(run)
    }
}

fn file(input: Input) -> RunFile {
    let Input { path, format, profiler, launches, skipped_rows } = input;
    RunFile { path, format, profiler, launches, skipped: skipped_rows }
}

fn run_device(device: Device) -> RunDevice {
    let Device { name, ceilings } = device;
    // What the catalogue does not know has no roofs in the report.
    let known = ceilings.dram_bytes_per_s.is_some() || !ceilings.peaks.is_empty();
    RunDevice { name, known, dram_bytes_per_s: ceilings.dram_bytes_per_s }
}

fn run_kernel(
    kernel: Kernel,
    device: usize,
    total: f64,
    by_category: bool,
) -> Result<RunKernel, String> {
    let amounts = [kernel.measured_s, kernel.expected_s, kernel.bytes, kernel.flops];
    if amounts.into_iter().flatten().any(|amount| amount < 0.0) || kernel.launches == 0 {
        return Err(format!("the kernel {:?} has a negative amount or no launch", kernel.name));
    }
    let fp64 = Pipe::ALL.iter().filter(|pipe| pipe.precision() == Precision::Fp64);
    let fp64: Vec<&str> = fp64.map(|pipe| pipe.key()).collect();
    let fp64 = kernel.work.iter().filter(|work| fp64.contains(&work.pipe.as_str()));
    let fp64 = fp64.map(|work| work.operations).reduce(|one, two| one + two);
    let measured = kernel.measured_s.unwrap_or(0.0);
    // Early reports tell the category only as the group that a kernel is counted in.
    let group = kernel.group.filter(|_| by_category).map(|group| group.replace(' ', "-"));
    let judged = kernel.headroom.zip(kernel.expected_s);
    let findings = kernel.findings.into_iter();
    Ok(RunKernel {
        name: kernel.name,
        full_name: kernel.full_name,
        operator: kernel.operator,
        grid: kernel.grid,
        block: kernel.block,
        blocks: kernel.blocks,
        threads_per_block: kernel.threads_per_block,
        device,
        category: kernel.category.or(group).unwrap_or_else(|| "unknown".to_owned()),
        launches: kernel.launches,
        // A report does not tell how many of its launches have no time.
        timed: if kernel.measured_s.is_some() { kernel.launches } else { 0 },
        measured_s: measured,
        share: if total > 0.0 { measured / total } else { 0.0 },
        samples_s: Vec::new(),
        samples_cycles: Vec::new(),
        clock_hz: kernel.averages.get(&Quantity::SmClock.column()).copied(),
        bytes: kernel.bytes,
        flops: kernel.flops,
        fp64_flops: fp64,
        // Launches that the roofline does not judge are in the measured time, and not in the headroom.
        modelled_s: judged.map_or(0.0, |(headroom, expected)| headroom * expected),
        expected_s: kernel.expected_s,
        expected_high_s: kernel.expected_high_s,
        recoverable_s: kernel.recoverable_s.unwrap_or(0.0),
        findings: findings
            .map(|one| RunFinding { rule: one.rule, severity: one.severity })
            .collect(),
        rows: [0, 0],
    })
}

#[cfg(test)]
mod tests {
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
      "launches": 2, "measured_s": null, "flops": null, "bytes": null, "expected_s": null,
      "expected_high_s": null, "headroom": null, "recoverable_s": null },
    { "name": "gemm", "full_name": "gemm<int>(int)", "operator": "aten::mm", "device": "H200",
      "category": "dot-product", "grid": [2, 2, 1], "block": [64, 1, 1], "blocks": 4,
      "threads_per_block": 64, "launches": 5, "measured_s": 1e-3, "flops": 3e9, "bytes": 1e6,
      "expected_s": 4e-4, "expected_high_s": 5e-4, "headroom": 2.5, "recoverable_s": 6e-4,
      "averages": { "sm_clock_hz": 1.5e9 },
      "work": [{ "pipe": "fp64_vector", "operations": 1e9 }, { "pipe": "fp32_vector", "operations": 2e9 }],
      "findings": [{ "rule": "tail-effect", "severity": "high", "message": "…" }] }
  ]
}"#;

    #[test]
    fn a_report_is_a_run_without_samples() {
        let run = Run::from_report(REPORT).unwrap();
        assert_eq!((run.label.as_str(), run.launches, run.timed_launches), ("a.csv", 7, 5));
        assert_eq!((run.measured_s, run.ceilings.as_str()), (1e-3, "spec"));
        assert_eq!(run.devices.iter().map(|one| one.known).collect::<Vec<_>>(), [true, false]);
        let [gemm, copy] = run.kernels.as_slice() else { panic!("two kernels") };
        assert_eq!(
            (gemm.name.as_str(), gemm.category.as_str(), gemm.device),
            ("gemm", "dot-product", 0)
        );
        assert!(gemm.samples_s.is_empty());
        assert_eq!((gemm.timed, gemm.share, gemm.fp64_flops), (5, 1.0, Some(1e9)));
        assert_eq!((gemm.headroom(), gemm.headroom_low()), (Some(2.5), Some(2.0)));
        assert_eq!((gemm.clock_hz, gemm.findings.len()), (Some(1.5e9), 1));
        assert_eq!((copy.category.as_str(), copy.device, copy.timed), ("data-movement", 1, 0));
        assert_eq!((copy.expected_s, copy.bytes, copy.headroom()), (None, None, None));
        assert_eq!(Run::from_document(REPORT).unwrap().unwrap(), run);
        assert_eq!(Run::from_document(&run.json()).unwrap().unwrap(), run);
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
                "report/3",
                "its schema is \"rooflint/report/3\"; \"rooflint/report/2\" and \"rooflint/report/1\" are read",
            ),
            ("\"launches\": 7, ", "\"launches\": \"7\", ", "line 4 column"),
            ("\"rooflint\": \"0.1.0\",", "", "missing field `rooflint`"),
            ("1e-3", "-1e-3", "the kernel \"gemm\" has a negative amount"),
            ("\"launches\": 5", "\"launches\": 0", "or no launch"),
            ("\"device\": \"H200\"", "\"device\": \"H20\"", "ran on \"H20\", which is not listed"),
            ("1e-3", "1e999", "number out of range at line 1"),
        ] {
            let found = with(from, to);
            assert!(found.contains(told), "{from}: {found}");
        }
        let cut = &REPORT[..REPORT.len() / 2];
        assert!(Run::from_document(cut).unwrap_err().contains("EOF while parsing"), "{cut}");
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
