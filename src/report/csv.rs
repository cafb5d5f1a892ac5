//! The report as a table for spreadsheets and scripts: one row per kernel, units in the headers.

use super::view::{Style, printable};
use super::{Output, Report};
use crate::analysis::{Binding, Outcome};
use crate::model::MemoryLevel;

pub(super) const OUTPUT: Output = Output {
    name: "csv",
    endings: &["csv"],
    summary: "one row per kernel, for spreadsheets and scripts",
    render,
};

const HEADER: [&str; 44] = [
    "rank",
    "name",
    "full_name",
    "operator",
    "device",
    "blocks",
    "threads_per_block",
    "launches",
    "measured_s",
    "share",
    "flops",
    "integer_operations",
    "bytes",
    "provenance",
    "algorithmic_operations",
    "algorithmic_bytes",
    "traffic_factor",
    "work_factor",
    "arithmetic_intensity_flop_per_byte",
    "ridge_point_flop_per_byte",
    "t_mem_s",
    "t_math_s",
    "t_l1_s",
    "t_shared_s",
    "t_l2_s",
    "t_system_s",
    "t_peer_s",
    "expected_s",
    "hierarchical_s",
    "binding",
    "expected_high_s",
    "structural_s",
    "headroom",
    "headroom_low",
    "limiter",
    "state",
    "reason",
    "recoverable_low_s",
    "recoverable_s",
    "recoverable_upper_s",
    "gain",
    "coverage",
    "group",
    "findings",
];

fn render(report: &Report<'_>, _: &Style) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = HEADER.iter().map(|title| (*title).to_owned());
    let changes = report.what_if.iter().flat_map(|one| {
        ["ideal_s", "projected_s", "not_projected"]
            .map(|column| format!("{column} [{}]", printable(&one.change)))
    });
    // Writing to memory cannot fail.
    let _ = writer.write_record(header.chain(changes));
    for (position, kernel) in report.analysis.kernels.iter().enumerate() {
        let number = |value: Option<f64>| {
            value
                .filter(|value| value.is_finite())
                .map_or_else(String::new, |value| value.to_string())
        };
        let count = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
        let (timed, judged) = (kernel.measured.get() > 0.0, kernel.state.is_modelled());
        let findings: Vec<&str> = report
            .findings
            .by_kernel
            .get(position)
            .into_iter()
            .flatten()
            .map(|finding| &*finding.rule)
            .collect();
        let needed = kernel.algorithmic.as_deref();
        let level = |level| kernel.level_time(level).map(crate::units::Seconds::get);
        let cells = [
            kernel.rank.to_string(),
            cell(&kernel.name),
            cell(&kernel.full_name),
            cell(kernel.operator.as_deref().unwrap_or_default()),
            cell(report.analysis.devices[kernel.device].name()),
            count(kernel.shape.blocks),
            count(kernel.shape.threads_per_block),
            kernel.launches.to_string(),
            number(timed.then(|| kernel.measured.get())),
            number(timed.then_some(kernel.share)),
            number(kernel.flops.map(crate::units::Flops::get)),
            number(kernel.integer_operations.map(crate::units::Flops::get)),
            number(kernel.bytes.map(crate::units::Bytes::get)),
            kernel.provenance_label().to_owned(),
            number(needed.map(|needed| needed.operations.get() * kernel.launches as f64)),
            number(needed.map(|needed| needed.bytes.get() * kernel.launches as f64)),
            number(needed.and_then(|needed| needed.traffic_factor)),
            number(needed.and_then(|needed| needed.work_factor)),
            number(kernel.intensity.map(crate::units::FlopsPerByte::get)),
            number(kernel.ridge_point.map(crate::units::FlopsPerByte::get)),
            number(kernel.memory_time.map(crate::units::Seconds::get)),
            number(kernel.math_time.map(crate::units::Seconds::get)),
            number(level(MemoryLevel::L1)),
            number(level(MemoryLevel::Shared)),
            number(level(MemoryLevel::L2)),
            number(level(MemoryLevel::System)),
            number(level(MemoryLevel::Peer)),
            number(kernel.expected.map(crate::units::Seconds::get)),
            number(kernel.hierarchical.map(crate::units::Seconds::get)),
            kernel.binding().map_or("", Binding::key).to_owned(),
            number(kernel.expected_high.map(crate::units::Seconds::get)),
            number(kernel.structural.map(crate::units::Seconds::get)),
            number(kernel.headroom),
            number(kernel.headroom_low),
            kernel.limiter.label().to_owned(),
            kernel.state.key().to_owned(),
            cell(kernel.reason.as_str()),
            number(judged.then(|| kernel.recoverable_low.get())),
            number(judged.then(|| kernel.recoverable.get())),
            number(judged.then(|| kernel.recoverable_upper.get())),
            number(judged.then_some(kernel.gain)),
            number(kernel.coverage),
            cell(&kernel.group),
            findings.join(" "),
        ];
        let changes = report.what_if.iter().flat_map(|one| match one.kernels.get(position) {
            Some(Outcome::Projected(projection)) => [
                number(Some(projection.ideal.get())),
                number(Some(projection.projected.get())),
                String::new(),
            ],
            Some(Outcome::Kept(reason)) => [String::new(), String::new(), cell(reason)],
            Some(Outcome::Merged(with)) => {
                [String::new(), String::new(), cell(&format!("in the row of rank {}", with.rank))]
            }
            None => [String::new(), String::new(), String::new()],
        });
        let _ = writer.write_record(cells.into_iter().chain(changes));
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A text cell that no spreadsheet takes for a formula.
fn cell(text: &str) -> String {
    let text = printable(text);
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn a_name_is_never_a_formula() {
        assert_eq!(cell("=HYPERLINK(\"x\")"), "'=HYPERLINK(\"x\")");
        assert_eq!(cell("gemm"), "gemm");
    }
}
