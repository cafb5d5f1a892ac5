//! The figures as `OpenMetrics` text: one gauge for each metric, kernels as a label.
//!
//! Prometheus and the text-file collector of its node exporter read the same. Source: `OpenMetrics` 1.0, "Text
//! format".

use std::collections::BTreeMap;
use std::fmt::Write;

use super::tracked::{Figure, figures};
use super::{GateOutput, GateReport};
use crate::report::view::Style;

pub(super) const OUTPUT: GateOutput = GateOutput {
    name: "openmetrics",
    endings: &["prom", "om"],
    summary: "OpenMetrics text, for Prometheus",
    render,
};

fn render(report: &GateReport<'_>, style: &Style) -> String {
    let mut families: BTreeMap<String, Vec<Figure>> = BTreeMap::new();
    for figure in figures(report) {
        families.entry(format!("rooflint_{}", figure.name())).or_default().push(figure);
    }
    let mut text = String::new();
    for (name, figures) in families {
        let _ = writeln!(text, "# TYPE {name} gauge");
        let unit = figures.first().map_or("", |figure| figure.unit);
        if !unit.is_empty() {
            let _ = writeln!(text, "# UNIT {name} {unit}");
        }
        for figure in figures {
            let label = figure
                .kernel
                .map_or_else(String::new, |kernel| format!("{{kernel=\"{}\"}}", escaped(&kernel)));
            let _ = writeln!(text, "{name}{label} {}", figure.value);
        }
    }
    text.push_str("# EOF\n");
    style.adapted(text)
}

/// Escapes the value of a label: backslash, quote and line feed.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
