//! What the change of the total is made of: a row per kernel, and one for the rest, so that they add up.

use super::GateReport;
use crate::compare::{Contribution, ContributionKind};
use crate::gate::{self, Metric, Subject, Verdict};
use crate::report::document::{Block, Cell, Column, Document, Form, Section, Table};
use crate::report::view::{count, printable};
use crate::units::Seconds;

/// Kernels with a row of their own; JSON has all.
const ROWS: usize = 3;

/// Part of a run from which a kernel that is new, gone or launched more often is worth a table.
const WORTH_A_TABLE: f64 = 0.005;

/// Adds the contributors if the total moved, or if kernels came, went or ran more often behind it.
pub(super) fn section(report: &GateReport<'_>, document: &mut Document) {
    let Some(both) = &report.decision.comparison else { return };
    let checks = &report.decision.checks;
    let of_total = checks
        .iter()
        .find(|check| check.rule == Metric::Total.key() && check.subject == Subject::Run);
    let has_moved = of_total.is_some_and(|check| check.verdict != Verdict::Unchanged);
    let least = both.baseline.time_s * WORTH_A_TABLE;
    let parts = &both.contributions.parts;
    let is_hidden = |part: &Contribution| {
        part.kind != ContributionKind::LaunchTime && part.change_s.abs() >= least
    };
    if parts.is_empty() || !has_moved && !parts.iter().any(is_hidden) {
        return;
    }
    let table = Block::Table(table(parts, both.contributions.rest_s));
    document.add(Section { room: 75, ..Section::new("Contributions to the total", vec![table]) });
}

fn table(parts: &[Contribution], rest_s: Seconds) -> Table {
    let mut table = Table::new(
        "contributions",
        vec![
            Column::name("name", "kernel"),
            Column::number("shape", "grid / block", Form::Count).spare(3),
            Column::text("how", "what changed"),
            Column::number("before_s", "before", Form::Time).spare(2),
            Column::number("now_s", "now", Form::Time).spare(1),
            Column::number("difference_s", "diff", Form::TimeChange),
        ],
    );
    for part in parts.iter().take(ROWS) {
        table.push([
            Cell::text(printable(&part.name)),
            Cell::maybe_text(Some(printable(&part.shape)).filter(|shape| !shape.is_empty())),
            Cell::text(printable(&gate::how(part))),
            Cell::Number(part.before_s.get()),
            Cell::Number(part.after_s.get()),
            Cell::Number(part.change_s.get()),
        ]);
    }
    let others = &parts[parts.len().min(ROWS)..];
    let of_others: Seconds = others.iter().map(|part| part.change_s).sum();
    let rest = of_others + rest_s;
    if !others.is_empty() || rest != Seconds::ZERO {
        let name = match others.len() {
            0 => "(spread of runs)".to_owned(),
            more => format!("({})", count(more as u64, "other kernel", "other kernels")),
        };
        table.push([
            Cell::text(name),
            Cell::Empty,
            Cell::Empty,
            Cell::Empty,
            Cell::Empty,
            Cell::Number(rest.get()),
        ]);
    }
    table
}
