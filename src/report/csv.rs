//! The report as a table for spreadsheets and scripts: one row per kernel, units in the headers.

use super::view::{Style, printable};
use super::{Output, Report};
use crate::analysis::{Column, Columns, Outcome, Place, Row};
use crate::table::{Cell, guarded};
use crate::units::Seconds;

pub(super) const OUTPUT: Output = Output {
    name: "csv",
    endings: &["csv"],
    summary: "one row per kernel, for spreadsheets and scripts",
    render,
};

fn render(report: &Report<'_>, _: &Style) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let columns = Columns::of_kernels().all().iter();
    let columns: Vec<&Column> = columns.filter(|one| one.place != Place::Rules).collect();
    let header = columns.iter().map(|column| column.name.clone());
    let changes = report.what_if.iter().flat_map(|one| {
        ["ideal_s", "projected_s", "not_projected"]
            .map(|column| format!("{column} [{}]", printable(&one.change)))
    });
    // Writing to memory cannot fail.
    let _ = writer.write_record(header.chain(["findings".to_owned()]).chain(changes));
    for (position, kernel) in report.analysis.kernels.iter().enumerate() {
        let row = Row::Kernel(report.analysis, kernel);
        let figures = columns.iter().map(|column| match column.get(&row) {
            None => String::new(),
            Some(Cell::Text(text)) => guarded(&text),
            Some(other) => other.to_string(),
        });
        let findings = report.findings.of(position).iter();
        let findings: Vec<&str> = findings.map(|finding| &*finding.rule).collect();
        let changes = report.what_if.iter().flat_map(|one| match one.kernels.get(position) {
            Some(Outcome::Projected(projection)) => {
                [number(projection.ideal), number(projection.projected), String::new()]
            }
            Some(Outcome::Kept(reason)) => [String::new(), String::new(), guarded(reason)],
            Some(Outcome::Merged(with)) => [
                String::new(),
                String::new(),
                guarded(&format!("in the row of rank {}", with.rank)),
            ],
            None => [String::new(), String::new(), String::new()],
        });
        let _ = writer.write_record(figures.chain([findings.join(" ")]).chain(changes));
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn number(time: Seconds) -> String {
    Cell::Number(time.get()).known().map_or_else(String::new, |cell| cell.to_string())
}
