//! Kernels by group as all human-readable outputs show them: time, efficiency reached, target.

use super::Report;
use super::view::{MISSING, Style, Table, TimeUnit, optional, percent, printable, range};
use crate::analysis::{GroupTotals, Target};
use crate::units::Seconds;

/// Columns of the terminal from which on the time to the target is shown.
const ROOM_FOR_ABOVE: usize = 80;

/// Columns of the terminal from which on what can be won stands beside targets.
const ROOM_FOR_WIN: usize = 100;

/// The title of the section.
pub(super) fn title(report: &Report<'_>) -> &'static str {
    if report.analysis.has_own_groups() { "Groups" } else { "Groups, by category" }
}

/// The groups with a note or two each; `None` where they say no more than the kernels do.
pub(super) fn table(report: &Report<'_>, style: &Style) -> Option<(Table, Vec<Vec<String>>)> {
    let analysis = report.analysis;
    let groups = &analysis.groups;
    let timed = analysis.totals.measured.get() > 0.0;
    if !timed || !analysis.has_own_groups() && groups.len() < 2 {
        return None;
    }
    let unit = TimeUnit::of(groups.iter().map(|group| group.measured));
    let has_targets = groups.iter().any(|group| group.target.is_some());
    let measured = format!("measured [{}]", unit.symbol);
    let (above, win) =
        (format!("to target [{}]", unit.symbol), format!("to win [{}]", unit.symbol));
    let mut columns = vec![
        ("group", false),
        ("kernels", true),
        (measured.as_str(), true),
        ("share", true),
        ("efficiency", true),
    ];
    let room = |columns: usize| style.width.is_none_or(|width| width >= columns);
    let (has_above, has_win) =
        (has_targets && room(ROOM_FOR_ABOVE), !has_targets || room(ROOM_FOR_WIN));
    if has_targets {
        columns.extend([("target", true), ("verdict", false)]);
    }
    if has_above {
        columns.push((above.as_str(), true));
    }
    if has_win {
        columns.push((win.as_str(), true));
    }
    let mut table = Table::new(&columns);
    for group in groups {
        let mut row = vec![
            printable(&group.name),
            group.kernels.to_string(),
            unit.show(group.measured),
            percent(group.share),
            optional(efficiency(group)),
        ];
        if has_targets {
            row.extend([
                optional(group.target.map(wanted)),
                optional(group.verdict().map(|verdict| verdict.label().to_owned())),
            ]);
        }
        if has_above {
            row.push(optional(above_target(group, unit)));
        }
        if has_win {
            row.push(positive(group.recoverable, unit));
        }
        table.rows.push(row);
    }
    Some((table, groups.iter().map(notes).collect()))
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
            optional(efficiency(group)),
            optional(group.target.map(wanted)),
            optional(group.above_target().map(|(low, high)| range(low, high)))
        )
    });
    Some(counts.join(", ") + &missed.collect::<String>())
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
fn above_target(group: &GroupTotals, unit: TimeUnit) -> Option<String> {
    let (low, high) = group.above_target().filter(|_| group.judged.get() > 0.0)?;
    if high.get() <= 0.0 {
        return None;
    }
    let (low, high) = (unit.show(low), unit.show(high));
    Some(if low == high { high } else { format!("{low} to {high}") })
}

fn positive(time: Seconds, unit: TimeUnit) -> String {
    if time.get() > 0.0 { unit.show(time) } else { MISSING.to_owned() }
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
