//! The JSON report: versioned, SI units in the keys, `null` for missing.
//!
//! Within a major version keys are only added. The schema is published from these types, and for
//! the figures of a kernel from their list.

mod advice;
mod device;
mod figures;
mod groups;
mod timeline;
pub(in crate::report) mod totals;
mod what_if;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::view::Style;
use super::{Output, Report};
use crate::analysis::{Analysis, DeviceUse, Kernel, Ranks};
use crate::model::{MemoryLevel, Profiler, Skip, Source};
use crate::rules::Finding;
use crate::units::Seconds;
use device::{DeviceDocument, device};
use figures::Figures;

pub(super) const OUTPUT: Output = Output {
    name: "json",
    endings: &["json"],
    summary: "everything, for programs; versioned, with a schema",
    render,
};

/// Name of the document type; the number is its major version.
const SCHEMA: &str = "rooflint/report/3";

/// A roofline report.
#[derive(Serialize, JsonSchema)]
struct Document<'a> {
    /// Type and major version of this document.
    schema: &'static str,
    /// Version of rooflint that wrote it.
    rooflint: &'static str,
    /// The files, in the order in which they were read.
    inputs: Vec<InputDocument<'a>>,
    /// The device with the most measured time.
    device: Option<DeviceDocument<'a>>,
    /// All devices; kernels refer to them by name.
    devices: Vec<DeviceDocument<'a>>,
    /// Settings of the analysis, given or chosen.
    settings: Settings<'a>,
    /// Sums over all kernels.
    totals: totals::TotalsDocument,
    /// Time of each GPU of each trace; empty where no file records all work of a GPU with its starts.
    timelines: Vec<timeline::TimelineDocument<'a>>,
    /// Kernels by savings, then by measured time.
    #[schemars(with = "Vec<RankedDocument<'a>>")]
    kernels: Kernels<'a>,
    /// Kernels by group: those of `rooflint.toml` and the rest, or by category.
    groups: Vec<groups::GroupDocument<'a>>,
    /// Results of each rule.
    rules: Vec<RuleDocument<'a>>,
    /// Lists of rules that were skipped on kernels because a metric is missing, each list once; kernels refer to them.
    skipped_rules: Vec<Vec<&'a str>>,
    /// Findings about the whole run, most severe first.
    findings: &'a [Finding],
    /// Comparison of the inputs; `null` for one input.
    inputs_compared: Option<RanksDocument<'a>>,
    /// Projections of `--what-if`; empty without it.
    what_if: Vec<what_if::WhatIfDocument<'a>>,
    /// Caveats about the whole profile, one sentence each.
    notes: &'a [String],
}

#[derive(Serialize, JsonSchema)]
struct InputDocument<'a> {
    /// Path of the file as it was given.
    path: &'a str,
    /// Name of the format that was recognized, as `rooflint formats` lists it.
    format: &'a str,
    /// Profiler that wrote the file.
    profiler: Profiler,
    /// Variant of the format, in words: header generation, page, live or imported.
    dialect: &'a str,
    /// Encoding of the text, such as `UTF-8`.
    encoding: &'a str,
    /// How numbers are written: decimal sign and grouping.
    numerals: &'a str,
    /// Number of launches in the file, before separate runs were joined.
    launches: u64,
    /// Number of records read, skipped ones included.
    rows: u64,
    /// Number of records and cells that could not be used.
    skipped_rows: u64,
    /// The first records and cells that could not be used.
    skipped: Vec<SkipDocument<'a>>,
    /// Lines before and between the rows of the table.
    other_lines: u64,
    /// Facts in the file on the profiler's version, clocks and caches, one sentence each.
    clues: &'a [String],
}

#[derive(Serialize, JsonSchema)]
struct SkipDocument<'a> {
    /// Line in the file, counted from 1.
    line: u64,
    /// Name of the column; `null` if the whole record was skipped.
    column: Option<&'a str>,
    /// What the file says there.
    text: &'a str,
    /// Why it cannot be used.
    reason: &'a str,
}

#[derive(Serialize, JsonSchema)]
struct Settings<'a> {
    /// Roofs: `spec`, `measured-clock` or `achievable`.
    ceilings: &'static str,
    /// Why these roofs were chosen.
    ceilings_reason: &'a str,
    /// Headroom from which a kernel is flagged.
    threshold: f64,
    /// Smallest savings of a flagged kernel.
    floor_s: f64,
    /// Share of the run below which savings are ignored.
    floor_share: f64,
    /// Basis of the groups: `rooflint.toml` or `category`.
    groups: &'static str,
    /// Least cost of a launch.
    fixed_cost_s: f64,
}

/// The kernels, each made as it is written: all documents at once would be larger than the analysis.
struct Kernels<'a> {
    report: Report<'a>,
    /// For each kernel, its place among the lists of skipped rules.
    skipped: Vec<Option<u32>>,
}

impl Serialize for Kernels<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Report { analysis, findings, .. } = self.report;
        let all = analysis.kernels.iter().enumerate();
        let all = all.map(|(position, one)| RankedDocument {
            kernel: kernel(analysis, one, findings.of(position)),
            skipped_rules: self.skipped.get(position).copied().flatten(),
        });
        serializer.collect_seq(all)
    }
}

/// A kernel among all of the report, whose lists it refers to.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "KernelDocument")]
struct RankedDocument<'a> {
    #[serde(flatten)]
    kernel: KernelDocument<'a>,
    /// Index into `skipped_rules`: the rules that were skipped on this kernel; `null` if there are none.
    skipped_rules: Option<u32>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct KernelDocument<'a> {
    #[serde(flatten)]
    figures: Figures<'a>,
    /// Blocks in x, y and z.
    grid: Option<[u32; 3]>,
    /// Threads per block in x, y and z.
    block: Option<[u32; 3]>,
    /// Needs of the algorithm by a closed form; `null` if the shape is unknown.
    algorithmic: Option<AlgorithmicDocument<'a>>,
    /// Traffic per level of the memory hierarchy, from the SM outwards.
    levels: Vec<LevelDocument>,
    /// Operations per pipe.
    work: Vec<WorkDocument>,
    /// Kinds of work that were not counted although others were.
    uncounted: Vec<&'static str>,
    /// Time-weighted averages over the launches; units in the keys, shares from 0 to 1.
    averages: BTreeMap<String, f64>,
    /// Findings about this kernel, most severe first.
    findings: &'a [Finding],
    /// Results of Nsight Compute's own rules; empty if the export has none.
    tool_advice: Vec<advice::AdviceDocument<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct AlgorithmicDocument<'a> {
    /// The closed form with its sizes.
    closed_form: &'a str,
    /// Source of the form.
    from: &'a str,
    /// Operations of one launch.
    operations: f64,
    /// Compulsory bytes of one launch.
    bytes: f64,
    /// Least time of the compulsory bytes; `null` if the bandwidth is unknown.
    t_mem_s: Option<f64>,
    /// Least time of the operations; `null` if the peak is unknown.
    t_math_s: Option<f64>,
    /// Counted over compulsory bytes.
    traffic_factor: Option<f64>,
    /// Counted over needed operations.
    work_factor: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
struct LevelDocument {
    /// The level of the memory hierarchy.
    level: MemoryLevel,
    /// Bytes of all launches with a count.
    bytes: f64,
    /// Least time of these bytes; `null` if the bandwidth of the level is unknown.
    t_s: Option<f64>,
    /// Number of launches with a count.
    launches: u64,
}

#[derive(Serialize, JsonSchema)]
struct WorkDocument {
    /// The pipe, such as `bf16_matrix`.
    pipe: &'static str,
    /// Operations of all launches; a multiply-add counts as two.
    operations: f64,
    /// Least time of these operations.
    t_s: f64,
    /// Peak that the time was computed with; OP/s for integer pipes.
    peak_flop_per_s: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
struct RanksDocument<'a> {
    /// The inputs, most measured time first.
    inputs: Vec<RankDocument<'a>>,
    /// Kernels whose slowest input loses most compared with the median.
    kernels: Vec<SpreadDocument<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct RankDocument<'a> {
    /// Path of the input.
    path: &'a str,
    /// Number of launches.
    launches: u64,
    /// `null` if no launch has a duration.
    measured_s: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
struct SpreadDocument<'a> {
    /// Name of the kernel as the profiler wrote it.
    full_name: &'a str,
    /// Number of inputs that have the kernel.
    inputs: u64,
    /// Time of all its launches in the fastest input.
    least_s: f64,
    /// Median of the inputs.
    median_s: f64,
    /// Time of all its launches in the slowest input.
    greatest_s: f64,
    /// Path of the slowest input.
    slowest: &'a str,
}

#[derive(Serialize, JsonSchema)]
struct RuleDocument<'a> {
    /// Id of the rule.
    rule: &'a str,
    /// Kernels on which the rule fired.
    found: usize,
    /// Kernels on which it fired with too little time at stake to show.
    minor: usize,
    /// Kernels on which it fired, but another finding explains the issue.
    silenced: usize,
    /// Kernels on which the rule passed.
    content: usize,
    /// Kernels on which the rule was skipped, because a metric is missing.
    cannot_judge: usize,
    /// Missing metrics, with the number of kernels.
    missing: &'a BTreeMap<&'static str, usize>,
}

/// Returns the JSON schema of the report, as pretty-printed JSON.
#[must_use]
pub fn schema() -> String {
    crate::json::schema::<Document<'_>>("report-3", "Report of rooflint on a run")
}

fn render(report: &Report<'_>, _: &Style) -> String {
    crate::json::lines(&document(report))
}

pub(super) fn document<'a>(report: &Report<'a>) -> impl Serialize + use<'a> {
    let analysis = report.analysis;
    let main = main_device(analysis);
    let (skipped_rules, skipped) = report.findings.skipped.lists();
    let inputs = analysis
        .sources
        .iter()
        .map(|source| InputDocument {
            path: &source.path,
            format: &source.format,
            profiler: source.profiler,
            dialect: &source.dialect,
            encoding: &source.encoding,
            numerals: &source.numerals,
            launches: source.launches,
            rows: source.rows,
            skipped_rows: source.skips.count,
            skipped: source.skips.first.iter().map(skip).collect(),
            other_lines: source.other_lines,
            clues: &source.clues,
        })
        .collect();
    Document {
        schema: SCHEMA,
        rooflint: env!("CARGO_PKG_VERSION"),
        inputs,
        device: main.map(|main| device(main, report)),
        devices: analysis.devices.iter().map(|one| device(one, report)).collect(),
        settings: Settings {
            ceilings: analysis.ceilings.label(),
            ceilings_reason: &analysis.ceilings_reason,
            threshold: analysis.threshold,
            floor_s: analysis.smallest_win().get(),
            floor_share: analysis.floor_share,
            groups: if analysis.has_own_groups() { "rooflint.toml" } else { "category" },
            fixed_cost_s: analysis.fixed_cost.get(),
        },
        totals: totals::document(&analysis.totals),
        timelines: timeline::documents(analysis),
        kernels: Kernels { report: *report, skipped },
        groups: groups::documents(analysis),
        rules: report
            .findings
            .tally
            .iter()
            .map(|tally| RuleDocument {
                rule: &tally.rule,
                found: tally.found,
                minor: tally.minor,
                silenced: tally.silenced,
                content: tally.content,
                cannot_judge: tally.cannot_judge,
                missing: &tally.missing,
            })
            .collect(),
        skipped_rules,
        findings: &report.findings.run,
        inputs_compared: analysis.ranks.as_ref().map(|ranks| compared(ranks, &analysis.sources)),
        what_if: what_if::documents(report),
        notes: &analysis.notes,
    }
}

/// The device with the most measured time.
fn main_device(analysis: &Analysis) -> Option<&DeviceUse> {
    let time = |position: usize| -> f64 {
        let kernels = analysis.kernels.iter().filter(|kernel| kernel.device == position);
        kernels.map(|kernel| kernel.measured.get()).sum()
    };
    let timed = analysis.devices.iter().enumerate().map(|(position, one)| (time(position), one));
    timed.max_by(|one, two| one.0.total_cmp(&two.0)).map(|(_, device)| device)
}

fn compared<'a>(ranks: &'a Ranks, sources: &'a [Source]) -> RanksDocument<'a> {
    let path = |source: usize| sources.get(source).map_or("", |source| source.path.as_str());
    RanksDocument {
        inputs: ranks
            .ranks
            .iter()
            .map(|rank| RankDocument {
                path: path(rank.source),
                launches: rank.launches,
                measured_s: rank.measured.map(Seconds::get),
            })
            .collect(),
        kernels: ranks
            .spreads
            .iter()
            .map(|spread| SpreadDocument {
                full_name: &spread.kernel,
                inputs: spread.sources,
                least_s: spread.least.get(),
                median_s: spread.median.get(),
                greatest_s: spread.greatest.get(),
                slowest: path(spread.slowest),
            })
            .collect(),
    }
}

fn skip(skip: &Skip) -> SkipDocument<'_> {
    SkipDocument {
        line: skip.line,
        column: skip.column.as_deref(),
        text: &skip.text,
        reason: &skip.reason,
    }
}

/// Returns a sum, or `None` for zero, which means that nothing was measured.
fn positive(time: Seconds) -> Option<f64> {
    (time.get() > 0.0).then(|| time.get())
}

pub(super) fn kernel<'a>(
    analysis: &'a Analysis,
    kernel: &'a Kernel,
    findings: &'a [Finding],
) -> KernelDocument<'a> {
    let seconds = |time: Option<Seconds>| time.map(Seconds::get).filter(|time| time.is_finite());
    let extent = |dim: Option<crate::model::Dim3>| dim.map(|dim| [dim.x, dim.y, dim.z]);
    KernelDocument {
        figures: Figures { analysis, kernel },
        grid: extent(kernel.shape.grid),
        block: extent(kernel.shape.block),
        algorithmic: kernel.algorithmic().map(|needed| AlgorithmicDocument {
            closed_form: &needed.call,
            from: &needed.from,
            operations: needed.operations.get(),
            bytes: needed.bytes.get(),
            t_mem_s: seconds(needed.memory_time),
            t_math_s: seconds(needed.math_time),
            traffic_factor: needed.traffic_factor,
            work_factor: needed.work_factor,
        }),
        levels: kernel
            .traffic()
            .map(|traffic| LevelDocument {
                level: traffic.level,
                bytes: traffic.bytes.get(),
                t_s: seconds(traffic.time),
                launches: traffic.launches,
            })
            .collect(),
        work: kernel
            .work
            .iter()
            .map(|work| WorkDocument {
                pipe: work.pipe.key(),
                operations: work.operations.get(),
                t_s: work.time.get(),
                peak_flop_per_s: work.peak().map(crate::units::FlopsPerSecond::get),
            })
            .collect(),
        uncounted: kernel.uncounted(),
        averages: kernel
            .averages
            .iter()
            .map(|(quantity, value)| (quantity.column(), value))
            .collect(),
        findings,
        tool_advice: advice::documents(kernel.tool_advice()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::analysis::{LevelTraffic, Rank, Spread, State};
    use crate::report::bench::run;
    use crate::rules::{Severity, Tally};
    use crate::units::Bytes;

    fn written(bench: &crate::report::bench::Bench) -> Value {
        serde_json::from_str(&render(&bench.report(), &Style::default())).unwrap()
    }

    #[test]
    fn every_kernel_has_its_own_findings_and_no_table_limits_them() {
        let mut bench = run(&[("a", State::Fair, 3.0), ("b", State::Fair, 1.0)]);
        bench.find(1, bench.finding("one", Severity::High, 2.0));
        bench.findings.tally = vec![Tally {
            rule: "one".into(),
            found: 1,
            minor: 2,
            silenced: 3,
            content: 4,
            cannot_judge: 5,
            missing: BTreeMap::from([("dram_bytes", 5)]),
        }];
        let report = Report { top: 1, ..bench.report() };
        let found: Value = serde_json::from_str(&render(&report, &Style::default())).unwrap();
        assert_eq!(
            (&found["schema"], &found["kernels"][0]["findings"]),
            (&json!(SCHEMA), &json!([]))
        );
        assert_eq!(found["kernels"][1]["findings"][0]["at_stake_s"], json!(2e-3));
        let tally = json!({"rule": "one", "found": 1, "minor": 2, "silenced": 3, "content": 4,
            "cannot_judge": 5, "missing": {"dram_bytes": 5}});
        assert_eq!(found["rules"], json!([tally]));
        assert_eq!(found["inputs_compared"], Value::Null);
    }

    #[test]
    fn inputs_are_compared_by_their_paths_and_an_untimed_one_has_no_time() {
        let mut bench = run(&[("a", State::Fair, 1.0)]);
        let source = |path: &str| Source { path: path.to_owned(), ..Source::default() };
        bench.analysis.sources = vec![source("one.csv"), source("two.csv")];
        let second = Seconds::new(1.0);
        let rank = |source, measured| Rank { source, launches: 7, measured };
        let spread = Spread {
            kernel: "k".to_owned(),
            sources: 2,
            least: second,
            median: second * 2.0,
            greatest: second * 3.0,
            slowest: 1,
        };
        let ranks = vec![rank(1, Some(second)), rank(0, None)];
        bench.analysis.ranks = Some(Ranks { ranks, spreads: vec![spread] });
        let found = &written(&bench)["inputs_compared"];
        assert_eq!(
            found["inputs"],
            json!([{"path": "two.csv", "launches": 7, "measured_s": 1.0},
                {"path": "one.csv", "launches": 7, "measured_s": null}])
        );
        let spread = &found["kernels"][0];
        assert_eq!((&spread["median_s"], &spread["slowest"]), (&json!(2.0), &json!("two.csv")));
    }

    /// JSON has no infinity: a time that nothing bounds is not known.
    #[test]
    fn a_time_without_end_is_null() {
        let mut bench = run(&[("a", State::Fair, 1.0)]);
        let level = |time| LevelTraffic {
            level: MemoryLevel::L2,
            bytes: Bytes::new(64.0),
            time,
            launches: 3,
        };
        bench.analysis.kernels[0].bytes = None;
        bench.analysis.kernels[0].extras.get_or_insert_default().levels = Box::new([
            level(Some(Seconds::new(f64::INFINITY))),
            level(Some(Seconds::new(0.5))),
            level(None),
        ]);
        let found = &written(&bench)["kernels"][0]["levels"];
        let times: Vec<&Value> = found.as_array().unwrap().iter().map(|one| &one["t_s"]).collect();
        assert_eq!(times, [&Value::Null, &json!(0.5), &Value::Null]);
        assert_eq!((&found[0]["bytes"], &found[0]["launches"]), (&json!(64.0), &json!(3)));
    }
}
