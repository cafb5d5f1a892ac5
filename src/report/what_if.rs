//! Projections to other devices and of other implementations, as all human-readable outputs show them.

use super::Report;
use super::view::{
    Header, MISSING, Style, Table, TimeUnit, count, factor, name, optional, percent, printable,
    shape, si,
};
use crate::analysis::{CeilingSet, Kernel, Outcome, Projection, WhatIf};
use crate::model::elide;
use crate::units::Seconds;

/// Columns for the name of a fused neighbour on a terminal of this width.
fn short(width: usize) -> usize {
    (width / 6).clamp(10, 28)
}

/// What the columns mean, for below the tables.
pub(super) fn meaning(report: &Report<'_>) -> String {
    let roofs = match report.analysis.ceilings {
        CeilingSet::Achievable => "achievable roofs",
        CeilingSet::Spec | CeilingSet::MeasuredClock => "roofs at the rated clock",
    };
    let (mut there, mut unless) = (String::new(), "");
    if report.what_if.iter().any(|one| one.is_elsewhere) {
        there = format!(", held against another device's {roofs}");
        unless = ", unless that is more than a tenth on another device";
    }
    format!(
        "Bytes and operations are those counted here{there}. ideal: expected time of the same counts. \
         projected: every kernel keeps its measured distance from the roof, and its launch cost. \
         run: the whole run, with what is kept as measured{unless}. A projection is no measurement."
    )
}

/// The changes beside each other: times of the kernels that are projected, and of the whole run.
pub(super) fn summary(report: &Report<'_>) -> Table {
    let total = report.analysis.totals.measured;
    let times = report.what_if.iter().map(|one| one.totals.measured);
    let unit = TimeUnit::of(times.chain([total]));
    let title = |name: &str| format!("{name} [{}]", unit.symbol);
    let mut table = Table::new(&[
        ("change", false),
        ("kernels", true),
        (&title("measured"), true),
        (&title("ideal"), true),
        (&title("projected"), true),
        ("faster", true),
        (&title("kept"), true),
        (&title("run"), true),
        ("run faster", true),
    ]);
    for one in report.what_if {
        let totals = &one.totals;
        let is_any = totals.projected_kernels > 0;
        let shown = |time: Seconds| optional(is_any.then(|| unit.show(time)));
        // What was not counted makes every projected time longer.
        let (least, most) = if totals.is_lower_bound { ("≥", "≤") } else { ("", "") };
        let bound = |text: String| if text == MISSING { text } else { format!("{least}{text}") };
        let below = |text: String| if text == MISSING { text } else { format!("{most}{text}") };
        table.rows.push(vec![
            one.change.clone(),
            format!(
                "{} of {}",
                totals.projected_kernels,
                totals.projected_kernels + totals.kept_kernels
            ),
            shown(totals.measured),
            bound(shown(totals.ideal)),
            bound(shown(totals.projected)),
            below(optional(totals.speedup().map(factor))),
            if totals.kept.get() > 0.0 { unit.show(totals.kept) } else { MISSING.to_owned() },
            bound(optional(totals.run.map(|run| unit.show(run)))),
            below(optional(totals.run.map(|run| factor(total / run)))),
        ]);
    }
    table
}

/// The kernels of one change that are projected, most measured time first, and how many there are.
pub(super) fn kernels(report: &Report<'_>, one: &WhatIf, style: &Style) -> (Table, usize) {
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
    let unit = TimeUnit::of(projected.iter().map(|(_, projection)| projection.measured));
    let title = |name: &str| format!("{name} [{}]", unit.symbol);
    let mut table = Table::new(&[
        ("kernel", false),
        ("grid / block", true),
        (&title("measured"), true),
        (&title("ideal"), true),
        (&title("projected"), true),
        ("faster", true),
        ("limiter", false),
    ]);
    let is_fused = projected.iter().any(|(_, projection)| projection.with.is_some());
    if is_fused {
        table.headers.insert(1, Header { title: "fused with".to_owned(), number: false });
    }
    for (kernel, projection) in projected {
        let (bound, below) = if projection.is_lower_bound { ("≥", "≤") } else { ("", "") };
        let mut row = vec![
            name(kernel, style),
            shape(kernel),
            unit.show(projection.measured),
            format!("{bound}{}", unit.show(projection.ideal)),
            format!("{bound}{}", unit.show(projection.projected)),
            format!("{below}{}", factor(projection.speedup())),
            projection.limiter.label().to_owned(),
        ];
        if is_fused {
            let with = projection.with.as_ref();
            let with = with.map_or_else(String::new, |with| printable(&with.name));
            row.insert(
                1,
                style.width.map_or_else(|| with.clone(), |width| elide(&with, short(width))),
            );
        }
        table.rows.push(row);
    }
    (table, all)
}

/// Why kernels are not projected, the reason with most time first.
pub(super) fn kept(report: &Report<'_>, one: &WhatIf, style: &Style) -> Vec<String> {
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
