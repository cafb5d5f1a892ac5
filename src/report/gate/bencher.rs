//! The figures in Bencher's metric format: a measure for each benchmark, with the range over the runs.
//!
//! Source: Bencher documentation, "Bencher Metric Format (BMF) JSON".

use std::collections::BTreeMap;

use serde::Serialize;

use super::tracked::figures;
use super::{GateOutput, GateReport};
use crate::report::view::Style;

pub(super) const OUTPUT: GateOutput =
    GateOutput { name: "bencher", endings: &[], summary: "Bencher metric format (JSON)", render };

#[derive(Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

fn render(report: &GateReport<'_>, style: &Style) -> String {
    let mut all: BTreeMap<String, BTreeMap<String, Metric>> = BTreeMap::new();
    for figure in figures(report) {
        // Slugs of measures have hyphens.
        let measure = figure.name().replace('_', "-");
        let [low, high] = figure.range.map_or([None, None], |[low, high]| [Some(low), Some(high)]);
        let metric = Metric { value: figure.value, lower_value: low, upper_value: high };
        let benchmark = figure.kernel.unwrap_or_else(|| "run".to_owned());
        all.entry(benchmark).or_default().insert(measure, metric);
    }
    style.adapted(serde_json::to_string_pretty(&all).unwrap_or_default() + "\n")
}
