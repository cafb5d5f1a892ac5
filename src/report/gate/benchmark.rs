//! The figures for `github-action-benchmark`, tool `customSmallerIsBetter`: an array of name, unit and value.
//!
//! Source: the action's README, "Benchmark data format of custom tools".

use serde::Serialize;

use super::tracked::{Figure, figures};
use super::{GateOutput, GateReport};
use crate::report::view::Style;
use crate::units::percent;

pub(super) const OUTPUT: GateOutput = GateOutput {
    name: "benchmark",
    endings: &[],
    summary: "JSON for github-action-benchmark (customSmallerIsBetter)",
    render,
};

#[derive(Serialize)]
struct Entry {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
}

fn render(report: &GateReport<'_>, style: &Style) -> String {
    let entries: Vec<Entry> = figures(report).iter().map(entry).collect();
    style.adapted(serde_json::to_string_pretty(&entries).unwrap_or_default() + "\n")
}

fn entry(figure: &Figure) -> Entry {
    let metric = figure.metric.replace('_', " ");
    let name = match &figure.kernel {
        Some(kernel) => format!("{kernel}: {metric}"),
        None => metric,
    };
    let unit = match figure.unit {
        "seconds" => "s",
        "ratio" => "x roofline time",
        _ => "count",
    };
    let range = figure.range.filter(|_| figure.value > 0.0);
    let range =
        range.map(|[low, high]| format!("± {}", percent((high - low) / 2.0 / figure.value)));
    Entry { name, unit, value: figure.value, range }
}
