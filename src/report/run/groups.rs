//! Kernels by group as all human-readable outputs show them: time, efficiency reached, target.

use crate::analysis::{GroupTotals, Target};
use crate::report::Report;
use crate::report::document::{Cell, Column, Form, Table};
use crate::report::view::{MISSING, percent, printable, range};
use crate::units::Seconds;

/// The title of the section.
pub(super) fn title(report: &Report<'_>) -> &'static str {
    if report.analysis.has_own_groups() { "Groups" } else { "Groups, by category" }
}

/// The groups with a note or two each; `None` where they say no more than the kernels do.
pub(super) fn table(report: &Report<'_>) -> Option<Table> {
    let analysis = report.analysis;
    let groups = &analysis.groups;
    let timed = analysis.totals.measured.get() > 0.0;
    if !timed || !analysis.has_own_groups() && groups.len() < 2 {
        return None;
    }
    let has_targets = groups.iter().any(|group| group.target.is_some());
    let mut columns = vec![
        Column::name("group", "group"),
        Column::number("kernels", "kernels", Form::Count).spare(22),
        Column::number("measured_s", "measured", Form::Time),
        Column::number("share", "share", Form::Share).spare(11),
        Column::number("efficiency", "efficiency", Form::Share),
    ];
    if has_targets {
        columns.extend([
            Column::number("target", "target", Form::Share),
            Column::text("verdict", "verdict"),
            Column::number("above_target_s", "to target", Form::Time).spare(24),
        ]);
    }
    let win = Column::number("recoverable_s", "to win", Form::Time);
    columns.push(if has_targets { win.spare(25) } else { win });
    let mut table = Table::new("groups", columns);
    for group in groups {
        let positive = |time: Seconds| Cell::maybe(Some(time.get()).filter(|time| *time > 0.0));
        let reached = group.efficiency().zip(group.efficiency_high());
        let mut row = vec![
            Cell::text(printable(&group.name)),
            Cell::count(group.kernels as u64),
            Cell::time(group.measured),
            Cell::Number(group.share),
            reached.map_or(Cell::Missing, |(low, high)| Cell::Between(low, high)),
        ];
        if has_targets {
            row.extend([
                Cell::maybe(group.target),
                Cell::maybe_text(group.verdict().map(Target::label)),
                above_target(group),
            ]);
        }
        row.push(positive(group.recoverable));
        table.push_with(row, notes(group));
    }
    Some(table)
}

/// How the groups with a target stand, for the verdict on the run; `None` if no group has one.
pub(super) fn targets(report: &Report<'_>) -> Option<String> {
    let groups = || report.analysis.groups.iter().filter(|group| group.target.is_some());
    groups().next()?;
    let counts: Vec<String> =
        [(Target::Missed, "missed"), (Target::Met, "met"), (Target::CannotTell, "cannot be told")]
            .into_iter()
            .map(|(verdict, word)| {
                (groups().filter(|group| group.verdict() == Some(verdict)).count(), word)
            })
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
    let missed = groups().filter(|group| group.verdict() == Some(Target::Missed)).map(|group| {
        format!(
            "; {} reaches {}, wanted {} ({} to win)",
            printable(&group.name),
            shown(efficiency(group)),
            shown(group.target.map(wanted)),
            shown(group.above_target().map(|(low, high)| range(low, high)))
        )
    });
    Some(counts.join(", ") + &missed.collect::<String>())
}

fn shown(text: Option<String>) -> String {
    text.unwrap_or_else(|| MISSING.to_owned())
}

/// Expected over measured time; what was not counted makes it an interval.
fn efficiency(group: &GroupTotals) -> Option<String> {
    Some(interval(group.efficiency()?, group.efficiency_high()?))
}

fn interval(low: f64, high: f64) -> String {
    let (low, high) = (percent(low), percent(high));
    if low == high { high } else { format!("{} to {high}", low.trim_end_matches(" %")) }
}

/// A target as the user gave it: 70 %, 72.5 %.
fn wanted(target: f64) -> String {
    percent(target).replace(".0 %", " %")
}

/// What reaching the target would win; an interval where work was not counted.
fn above_target(group: &GroupTotals) -> Cell {
    match group.above_target().filter(|_| group.judged.get() > 0.0) {
        Some((low, high)) if high > Seconds::ZERO => Cell::Between(low.get(), high.get()),
        _ => Cell::Missing,
    }
}

/// What the figures of a group leave out, and who keeps it from its target.
fn notes(group: &GroupTotals) -> Vec<String> {
    let mut notes = Vec::new();
    let of = |part: Seconds, what: &'static str| {
        let share = part / group.measured;
        // Rounding leaves traces of nothing.
        (share > 1e-9).then_some((share, what))
    };
    let parts: Vec<(f64, &str)> = [
        of(group.unmodelled, "could not be judged"),
        of(group.outside(), "is outside the model"),
        of(group.waived, "is waived"),
    ]
    .into_iter()
    .flatten()
    .collect();
    match parts.as_slice() {
        [] => {}
        [(_, what)] if group.judged.get() <= 0.0 => notes.push(format!("all of its time {what}")),
        parts => {
            let of = |at: usize| if at == 0 { " of its time" } else { "" };
            let parts = parts.iter().enumerate();
            let told =
                parts.map(|(at, (share, what))| format!("{}{} {what}", percent(*share), of(at)));
            notes.push(told.collect::<Vec<_>>().join(", "));
        }
    }
    if !group.worst.is_empty() {
        let worst: Vec<String> = group
            .worst
            .iter()
            .map(|kernel| {
                let reached = interval(kernel.efficiency, kernel.efficiency_high);
                format!("#{} {} ({reached})", kernel.rank, printable(&kernel.name))
            })
            .collect();
        notes.push(format!("furthest below its target: {}", worst.join(", ")));
    }
    notes
}
