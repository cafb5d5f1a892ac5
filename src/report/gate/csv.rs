//! Every check as one row, with the same columns whatever was decided.

use super::{GateOutput, GateReport};
use crate::report::tables;
use crate::report::view::Style;

pub(super) const OUTPUT: GateOutput = GateOutput {
    name: "csv",
    endings: &["csv"],
    summary: "every check, for spreadsheets and scripts",
    render,
};

fn render(report: &GateReport<'_>, _: &Style) -> String {
    tables::checks(report).csv()
}
