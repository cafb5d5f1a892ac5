//! Projections to other devices and of other implementations, as all human-readable outputs show them.

use crate::analysis::{CeilingSet, Kernel, Outcome, Projection, WhatIf};
use crate::model::elide;
use crate::report::Report;
use crate::report::document::{Block, Cell, Column, Form, Item, Section, Table, first_of};
use crate::report::view::{Style, count, name, percent, printable, shape, si};
use crate::units::Seconds;

/// The changes beside each other, then the kernels of each; nothing where none was asked about.
pub(super) fn sections(report: &Report<'_>, style: &Style) -> Vec<Section> {
    if report.what_if.is_empty() {
        return Vec::new();
    }
    let whole = vec![Block::Table(summary(report)), Block::Paragraph(meaning(report))];
    let mut sections = vec![Section::new("What if", whole)];
    let mut before = Vec::new();
    for one in report.what_if {
        let (kernels, all) = kernels(report, one, style);
        let of = first_of(kernels.rows.len(), all);
        let mut blocks = vec![Block::Table(kernels)];
        blocks.retain(|block| !matches!(block, Block::Table(table) if table.rows.is_empty()));
        let kept = kept(report, one, style);
        if !kept.is_empty() && kept == before {
            blocks.push(Block::List(vec![Item::labeled("unchanged", "as above")]));
        } else if !kept.is_empty() {
            blocks.push(Block::List(vec![Item::labeled("unchanged", "").with(kept.clone())]));
        }
        before = kept;
        let title = format!("What if: {}{of}", printable(&one.change));
        sections.push(Section { is_folded: true, ..Section::new(title, blocks) });
    }
    sections
}

/// Columns of the name of the kernel that another is fused with: a terminal shows it beside that one's.
const FUSED_WITH: usize = 20;

/// What the columns mean, for below the tables.
fn meaning(report: &Report<'_>) -> String {
    let roofs = match report.analysis.ceilings {
        CeilingSet::Achievable => "achievable roofs",
        CeilingSet::Spec => "roofs at the rated clock",
        CeilingSet::MeasuredClock => "roofs at the same share of its rated clocks",
    };
    let (mut there, mut unless) = (String::new(), "");
    if report.what_if.iter().any(|one| one.is_elsewhere) {
        there = format!(", compared with another device's {roofs}");
        unless = "; a dash: more than a tenth of the run was not projected, and another device \
                  would change that part too";
    }
    format!(
        "Bytes and operations are those counted here{there}. ideal: roofline time of the same counts. \
         projected: every kernel keeps its measured distance from the roof, and its launch cost. \
         run: the whole run, with what is unchanged as measured{unless}. Projections are estimates."
    )
}

/// The changes beside each other: times of the kernels that are projected, and of the whole run.
fn summary(report: &Report<'_>) -> Table {
    let total = report.analysis.totals.measured;
    let mut table = Table::new(
        "changes",
        vec![
            Column::name("change", "change"),
            Column::number("kernels", "kernels", Form::Count).spare(22),
            Column::number("measured_s", "measured", Form::Time),
            Column::number("ideal_s", "ideal", Form::Time).spare(10),
            Column::number("projected_s", "projected", Form::Time),
            Column::number("speedup", "faster", Form::Factor).spare(7),
            Column::number("kept_s", "unchanged", Form::Time).spare(21),
            Column::number("run_s", "run", Form::Time).spare(8),
            Column::number("run_speedup", "run faster", Form::Factor).spare(9),
        ],
    );
    for one in report.what_if {
        let totals = &one.totals;
        let is_any = totals.projected_kernels > 0;
        let time = |time: Seconds| Cell::maybe(is_any.then_some(time.get()));
        // What was not counted makes every projected time longer.
        let bounds = (totals.is_lower_bound, totals.is_upper_bound);
        let least = |cell: Cell| bounded(cell, bounds);
        let most = |cell: Cell| bounded(cell, (bounds.1, bounds.0));
        let kept = Some(totals.kept.get()).filter(|kept| *kept > 0.0);
        let cells = [
            Cell::text(one.change.clone()),
            Cell::text(format!(
                "{} of {}",
                totals.projected_kernels,
                totals.projected_kernels + totals.kept_kernels
            )),
            time(totals.measured),
            least(time(totals.ideal)),
            least(time(totals.projected)),
            most(Cell::maybe(totals.speedup())),
            Cell::maybe(kept),
            least(Cell::maybe(totals.run.map(Seconds::get))),
            most(Cell::maybe(totals.run.map(|run| total / run))),
        ];
        table.push_with(cells, one.notes.clone());
    }
    table
}

/// A figure that is a lower bound, an upper one, or, with both, neither.
fn bounded(cell: Cell, (is_lower, is_upper): (bool, bool)) -> Cell {
    match (is_lower, is_upper) {
        (true, false) => cell.at_least(),
        (false, true) => cell.at_most(),
        _ => cell,
    }
}

/// The kernels of one change that are projected, most measured time first, and how many there are.
fn kernels(report: &Report<'_>, one: &WhatIf, style: &Style) -> (Table, usize) {
    let mut projected: Vec<(&Kernel, &Projection)> = report
        .analysis
        .kernels
        .iter()
        .zip(&one.kernels)
        .filter_map(|(kernel, outcome)| Some((kernel, outcome.projection()?)))
        .collect();
    let all = projected.len();
    projected.sort_by(|one, two| two.1.measured.get().total_cmp(&one.1.measured.get()));
    projected.truncate(report.top);
    let mut columns = vec![
        Column::name("name", "kernel"),
        Column::text("fused_with", "fused with"),
        Column::number("shape", "grid / block", Form::Count).spare(12),
        Column::number("measured_s", "measured", Form::Time),
        Column::number("ideal_s", "ideal", Form::Time).spare(10),
        Column::number("projected_s", "projected", Form::Time),
        Column::number("speedup", "faster", Form::Factor).spare(7),
        Column::text("limiter", "limiter").spare(13),
    ];
    let is_fused = projected.iter().any(|(_, projection)| projection.with.is_some());
    columns.retain(|column| is_fused || column.key != "fused_with");
    let mut table = Table::new("projected", columns);
    for (kernel, projection) in projected {
        let bounds = (projection.is_lower_bound, projection.is_upper_bound);
        let least = |time: Seconds| bounded(Cell::time(time), bounds);
        let speedup = Cell::Number(projection.speedup());
        let mut row = vec![Cell::text(name(kernel, style))];
        if is_fused {
            let other = projection.with.as_ref().map(|with| printable(&with.name));
            let fitted = |name: String| match style.width {
                Some(_) => elide(&name, FUSED_WITH),
                None => name,
            };
            row.push(other.map_or(Cell::Empty, |name| Cell::Text(fitted(name))));
        }
        row.extend([
            Cell::text(shape(kernel)),
            Cell::time(projection.measured),
            least(projection.ideal),
            least(projection.projected),
            bounded(speedup, (bounds.1, bounds.0)),
            Cell::text(projection.limiter.label()),
        ]);
        table.push(row);
    }
    (table, all)
}

/// Why kernels are not projected, the reason with most time first.
fn kept(report: &Report<'_>, one: &WhatIf, style: &Style) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&Kernel>, Seconds)> = Vec::new();
    for (kernel, outcome) in report.analysis.kernels.iter().zip(&one.kernels) {
        let Outcome::Kept(reason) = outcome else { continue };
        match reasons.iter_mut().find(|known| known.0 == reason) {
            Some(known) => {
                known.1.push(kernel);
                known.2 += kernel.measured;
            }
            None => reasons.push((reason, vec![kernel], kernel.measured)),
        }
    }
    reasons.sort_by(|one, two| two.2.get().total_cmp(&one.2.get()).then(one.0.cmp(two.0)));
    let total = report.analysis.totals.measured;
    let lines = reasons.into_iter().map(|(reason, mut kernels, time)| {
        kernels.sort_by(|one, two| two.measured.get().total_cmp(&one.measured.get()));
        let names: Vec<String> = kernels.iter().take(3).map(|kernel| name(kernel, style)).collect();
        let more = if kernels.len() > 3 { ", …" } else { "" };
        format!(
            "{reason} ({}{}): {}{more}",
            count(kernels.len() as u64, "kernel", "kernels"),
            if total > Seconds::ZERO {
                format!(", {}, {}", si(time.get(), "s"), percent(time / total))
            } else {
                String::new()
            },
            names.join(", "),
        )
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Neighbor, State, WhatIfTotals};
    use crate::report::bench::{Bench, run};
    use crate::roofline::Limiter;

    fn ms(time: f64) -> Seconds {
        Seconds::new(time * 1e-3)
    }

    fn projected(measured: f64, projected: f64) -> Projection {
        Projection {
            measured: ms(measured),
            roofline_time: ms(1.0),
            ideal: ms(0.5),
            projected: ms(projected),
            limiter: Limiter::Math,
            is_lower_bound: false,
            is_upper_bound: false,
            with: None,
        }
    }

    fn change(kernels: Vec<Outcome>) -> WhatIf {
        WhatIf {
            change: "H200".to_owned(),
            is_elsewhere: true,
            notes: Vec::new(),
            kernels,
            totals: WhatIfTotals::default(),
        }
    }

    /// 10 ms in all.
    fn bench(kernels: Vec<Outcome>) -> Bench {
        let state = State::Fair;
        let mut bench =
            run(&[("a", state, 4.0), ("b", state, 3.0), ("c", state, 2.0), ("d", state, 1.0)]);
        bench.what_if = vec![change(kernels)];
        bench
    }

    fn cells(table: &Table, row: usize, keys: &[&str]) -> Vec<Cell> {
        let at = |key: &str| table.columns.iter().position(|column| column.key == key).unwrap();
        keys.iter().map(|key| table.rows[row].cells[at(key)].clone()).collect()
    }

    #[test]
    fn kernels_are_kept_for_reasons_the_longest_first() {
        let kept = |reason: &str| Outcome::Kept(reason.to_owned());
        let one = vec![kept("waived"), kept("no counts"), kept("no counts"), kept("waived")];
        let bench = bench(one);
        let lines = super::kept(&bench.report(), &bench.what_if[0], &Style::default());
        assert_eq!(
            lines,
            [
                "no counts (2 kernels, 5.00 ms, 50.0%): b, c",
                "waived (2 kernels, 5.00 ms, 50.0%): a, d"
            ]
        );
    }

    /// 6 ms become at least 2 ms, so at most 3 times as fast; the run takes at least 5 of 10 ms.
    #[test]
    fn a_lower_bound_of_times_is_an_upper_one_of_speed() {
        let mut bench = bench(Vec::new());
        let totals = &mut bench.what_if[0].totals;
        (totals.projected_kernels, totals.kept_kernels, totals.is_lower_bound) = (2, 2, true);
        (totals.measured, totals.ideal, totals.projected) = (ms(6.0), ms(1.0), ms(2.0));
        (totals.kept, totals.run) = (ms(4.0), Some(ms(5.0)));
        let table = summary(&bench.report());
        let keys = ["kernels", "measured_s", "projected_s", "speedup", "run_s", "run_speedup"];
        assert_eq!(
            cells(&table, 0, &keys),
            [
                Cell::text("2 of 4"),
                Cell::time(ms(6.0)),
                Cell::time(ms(2.0)).at_least(),
                Cell::Number(6e-3 / 2e-3).at_most(),
                Cell::time(ms(5.0)).at_least(),
                Cell::Number(bench.analysis.totals.measured / ms(5.0)).at_most(),
            ]
        );
        bench.what_if[0].totals = WhatIfTotals { kept_kernels: 4, ..WhatIfTotals::default() };
        let table = summary(&bench.report());
        assert!(cells(&table, 0, &keys[1..]).iter().all(|cell| *cell == Cell::Missing));
    }

    #[test]
    fn the_longest_kernels_are_shown_and_a_neighbor_only_where_there_is_one() {
        let with = Some(Neighbor { rank: 2, name: "b".into() });
        let kernels = vec![
            Outcome::Projected(projected(1.0, 0.5)),
            Outcome::Merged(Neighbor { rank: 3, name: "c".into() }),
            Outcome::Projected(Projection { with, ..projected(5.0, 2.0) }),
            Outcome::Kept("waived".to_owned()),
        ];
        let bench = bench(kernels);
        let shown = |top: usize| {
            let report = Report { top, ..bench.report() };
            super::kernels(&report, &bench.what_if[0], &Style::default())
        };
        let (table, all) = shown(10);
        assert_eq!((table.rows.len(), all), (2, 2));
        assert_eq!(cells(&table, 0, &["name", "fused_with"]), [Cell::text("c"), Cell::text("b")]);
        assert_eq!(cells(&table, 1, &["fused_with", "speedup"]), [Cell::Empty, Cell::Number(2.0)]);
        let (table, all) = shown(1);
        assert_eq!((table.rows.len(), all), (1, 2));
        let plain = vec![Outcome::Projected(projected(1.0, 0.5))];
        let (table, _) = super::kernels(&bench.report(), &change(plain), &Style::default());
        assert!(table.columns.iter().all(|column| column.key != "fused_with"));
    }
}
