//! Kernels by group as all human-readable outputs show them: time, efficiency reached, target.

use crate::analysis::{GroupTotals, Target};
use crate::report::Report;
use crate::report::document::{Cell, Column, Form, Table};
use crate::report::view::{MISSING, percent, printable, range};
use crate::units::{self, Seconds};

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
    let win = Column::number("savings_s", "savings", Form::Time);
    columns.push(if has_targets { win.spare(25) } else { win });
    let mut table = Table::new("groups", columns);
    for group in groups {
        // A time of zero is a missing one.
        let is_timed = group.measured > Seconds::ZERO;
        let reached = group.efficiency_low().zip(group.efficiency_high());
        let mut row = vec![
            Cell::text(printable(&group.name)),
            Cell::count(group.kernels as u64),
            Cell::maybe(is_timed.then(|| group.measured.get())),
            Cell::maybe(is_timed.then_some(group.share)),
            reached.map_or(Cell::Missing, |(low, high)| Cell::Between(low, high)),
        ];
        if has_targets {
            row.extend([
                Cell::maybe(group.target),
                Cell::maybe_text(group.verdict().map(Target::label)),
                above_target(group),
            ]);
        }
        // Nothing to save is known of what was judged; else nothing is known.
        let is_judged = group.judged > Seconds::ZERO;
        row.push(if is_judged { Cell::time(group.savings) } else { Cell::Missing });
        table.push_with(row, notes(group));
    }
    Some(table)
}

/// How the groups with a target stand, for the verdict on the run; `None` if no group has one.
pub(super) fn targets(report: &Report<'_>) -> Option<String> {
    let groups = || report.analysis.groups.iter().filter(|group| group.target.is_some());
    groups().next()?;
    let counts: Vec<String> =
        [(Target::Missed, "missed"), (Target::Met, "met"), (Target::CannotTell, "cannot tell")]
            .into_iter()
            .map(|(verdict, word)| {
                (groups().filter(|group| group.verdict() == Some(verdict)).count(), word)
            })
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
    let missed = groups().filter(|group| group.verdict() == Some(Target::Missed)).map(|group| {
        format!(
            "; {} reaches {}, target {} ({} above it)",
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
    Some(interval(group.efficiency_low()?, group.efficiency_high()?))
}

fn interval(low: f64, high: f64) -> String {
    let (low, high) = (percent(low), percent(high));
    units::interval(&low, &high)
}

/// A target as the user gave it: 70%, 72.5%.
fn wanted(target: f64) -> String {
    percent(target).replace(".0%", "%")
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
        of(group.unmodeled, "could not be judged"),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{State, Worst};
    use crate::report::bench::{Bench, run};

    fn ms(time: f64) -> Seconds {
        Seconds::new(time * 1e-3)
    }

    /// A group of 10 ms, all of them judged, of which 5 ms to 6 ms were expected.
    fn group(name: &str, target: Option<f64>) -> GroupTotals {
        let mut group = GroupTotals::default();
        group.name = name.into();
        (group.measured, group.judged, group.target) = (ms(10.0), ms(10.0), target);
        (group.roofline_time, group.roofline_time_high) = (ms(5.0), ms(6.0));
        group.roofline_time_low = ms(5.0);
        group
    }

    fn bench(groups: Vec<GroupTotals>) -> Bench {
        let mut bench = run(&[("a", State::Fair, 10.0)]);
        bench.analysis.groups = groups;
        bench
    }

    /// What 5 ms or 6 ms would take at 70%: 7.14 ms or 8.57 ms.
    #[test]
    fn the_verdict_counts_groups_and_says_what_misses() {
        let of = |groups| targets(&bench(groups).report());
        assert_eq!(of(vec![group("plain", None)]), None);
        let groups = vec![
            group("attention", Some(0.7)),
            group("open", Some(0.55)),
            group("met", Some(0.5)),
            group("plain", None),
        ];
        assert_eq!(
            of(groups).unwrap(),
            "1 missed, 1 met, 1 cannot tell; attention reaches 50.0–60.0%, target 70% \
             (1.43–2.86 ms above it)"
        );
    }

    #[test]
    fn a_target_is_shown_as_it_was_given() {
        assert_eq!((wanted(0.7), wanted(0.725)), ("70%".to_owned(), "72.5%".to_owned()));
        assert_eq!(interval(0.5, 0.5), "50.0%");
    }

    #[test]
    fn a_group_says_what_its_figures_leave_out() {
        let mut part = group("part", None);
        assert_eq!(notes(&part), [""; 0]);
        (part.judged, part.unmodeled, part.waived) = (ms(6.0), ms(2.0), ms(1.0));
        assert_eq!(
            notes(&part),
            ["20.0% of its time could not be judged, 10.0% is outside the model, 10.0% is waived"]
        );
        (part.judged, part.unmodeled, part.waived) = (ms(0.0), ms(10.0), ms(0.0));
        assert_eq!(notes(&part), ["all of its time could not be judged"]);
        let mut missed = group("missed", Some(0.7));
        missed.worst = vec![Worst {
            rank: 3,
            name: "slow".into(),
            measured: ms(1.0),
            efficiency: 0.25,
            efficiency_high: 0.5,
        }];
        assert_eq!(notes(&missed), ["furthest below its target: #3 slow (25.0–50.0%)"]);
    }

    #[test]
    fn one_group_for_all_says_no_more_than_the_kernels() {
        let keys = |groups| {
            let table = table(&bench(groups).report())?;
            Some(table.columns.into_iter().map(|column| column.key).collect::<Vec<String>>())
        };
        assert_eq!(keys(vec![group("a", None)]), None);
        let has = |groups, key: &str| keys(groups).unwrap().iter().any(|known| known == key);
        assert!(!has(vec![group("a", None), group("b", None)], "verdict"));
        for key in ["target", "verdict", "above_target_s"] {
            assert!(has(vec![group("a", Some(0.7)), group("b", None)], key), "{key}");
        }
    }
}
