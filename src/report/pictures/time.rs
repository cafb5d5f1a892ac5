//! Where the time goes: bars of kernels, of categories, and of potential savings.

use std::collections::{BTreeMap, BTreeSet};

use super::super::Report;
use super::super::figure::{
    BarFigure, BarPanel, Caption, Key, Look, Mark, Row, Segment, Stroke, Tone,
};
use super::super::numbers::{count, percent, si};
use super::super::view::ratio;
use super::before::Before;
use super::{device, extent, label, run};
use crate::analysis::{Analysis, Kernel, Partition, TimePart};
use crate::units::Seconds;

const ROOFLINE: Look = filled(Tone::PartRoofline);
const GAP: Look = filled(Tone::PartGap);
const SAVINGS: Look = filled(Tone::PartSavings);
const WAIVED: Look = filled(Tone::PartSavings).hollow();
const UNPROVEN: Look = filled(Tone::PartUnproven);
const NOT_COMPARED: Look = filled(Tone::Grey).hollow();

/// The parts of a bar in their order, and their words.
const PARTS: [(Look, &str); 6] = [
    (ROOFLINE, "roofline time"),
    (GAP, "other gap: launch cost, last wave, what real code does not reach"),
    (SAVINGS, "potential savings"),
    (WAIVED, "waived: left alone on purpose"),
    (UNPROVEN, "unproven savings: no certain cause was found"),
    (NOT_COMPARED, "not compared with the roofline"),
];

const fn filled(tone: Tone) -> Look {
    Look { mark: Mark::Square, tone, is_hollow: false }
}

/// A picture has fewer parts than the report.
const fn look(part: TimePart) -> Look {
    match part {
        TimePart::Roofline => ROOFLINE,
        TimePart::Gap => GAP,
        TimePart::Waived => WAIVED,
        TimePart::Savings => SAVINGS,
        TimePart::Unproven => UNPROVEN,
        TimePart::LaunchBound
        | TimePart::CacheResident
        | TimePart::Communication
        | TimePart::FasterThanRoofline
        | TimePart::NotEnoughData => NOT_COMPARED,
    }
}

/// The parts of a time, one after the other, in seconds.
fn segments(partition: &Partition) -> Vec<Segment> {
    let mut from = 0.0;
    let segments = PARTS.iter().map(|(part, _)| {
        let of_part = partition.segments().filter(|segment| look(segment.part) == *part);
        let time: f64 = of_part.map(|segment| segment.time.get()).sum();
        let segment = Segment { from, to: from + time, look: *part };
        from += time;
        segment
    });
    segments.filter(|segment| segment.to > segment.from).collect()
}

/// The parts that occur among some rows.
pub(super) fn legend(rows: &[Row]) -> Vec<(Key, String)> {
    let occurs = |look: &Look| {
        rows.iter().flat_map(|row| &row.segments).any(|segment| segment.look == *look)
    };
    let met = PARTS.into_iter().filter(|(look, _)| occurs(look));
    let mut legend: Vec<_> = met.map(|(look, text)| (Key::Bar(look), text.to_owned())).collect();
    if rows.iter().any(|row| row.before.is_some()) {
        legend.push((Key::Line(Tone::Ink, Stroke::Solid), "baseline".to_owned()));
    }
    legend
}

/// Time, how many times the roofline time that is, and what it was.
pub(super) fn row(kernel: &Kernel, before: Option<f64>) -> Row {
    let measured = si(kernel.measured.get(), "s");
    let note = match ratio(kernel).filter(|_| kernel.state.is_modeled()) {
        Some(ratio) => format!("{measured}, {ratio} roofline time"),
        None => format!("{measured}, {}", kernel.state.label()),
    };
    let is_other = |before: &f64| (before / kernel.measured.get() - 1.0).abs() >= 0.01;
    let note = match before.filter(is_other) {
        Some(before) => format!("{note}, was {}", si(before, "s")),
        None => note,
    };
    Row { label: label(kernel), segments: segments(&Partition::of(kernel)), before, note }
}

/// The kernels with the most time.
pub(super) fn kernels(report: &Report<'_>, baseline: Option<&Analysis>) -> BarFigure {
    let before = Before::of(report, baseline);
    let all = report.analysis.kernels.iter().enumerate();
    let mut all: Vec<(usize, &Kernel)> =
        all.filter(|(_, kernel)| kernel.measured > Seconds::ZERO).collect();
    all.sort_by(|one, two| two.1.measured.get().total_cmp(&one.1.measured.get()));
    let shown = all.iter().take(report.top);
    let rows: Vec<Row> =
        shown.map(|(position, kernel)| row(kernel, before.time(*position))).collect();
    let panel = BarPanel {
        heading: String::new(),
        unit: "s",
        limit: None,
        more: all.len() - rows.len(),
        rows,
    };
    BarFigure {
        caption: Caption {
            title: format!("GPU time by kernel: {}", run(report, devices(report))),
            subtitle: extent(report.analysis.kernels.iter()),
            legend: vec![legend(&panel.rows)],
            notes: before.note().into_iter().collect(),
        },
        panels: vec![panel],
        nothing: "nothing to draw: no kernel has a duration",
    }
}

/// The device with the most measured time, and how many others there are.
fn devices(report: &Report<'_>) -> String {
    let longest = super::super::scene::scenes(report).first().map_or(0, |scene| scene.device);
    let kernels = report.analysis.kernels.iter().filter(|kernel| kernel.measured > Seconds::ZERO);
    let others: BTreeSet<usize> = kernels.map(|kernel| kernel.device).collect();
    let named = device(report, longest);
    match others.iter().filter(|device| **device != longest).count() {
        0 => named,
        more => format!("{named} and {}", count(more as u64, "other device", "other devices")),
    }
}

/// Time by category.
pub(super) fn categories(report: &Report<'_>) -> BarFigure {
    let analysis = report.analysis;
    let mut sums: BTreeMap<&str, (u64, Partition)> = BTreeMap::new();
    for kernel in analysis.kernels.iter().filter(|kernel| kernel.measured > Seconds::ZERO) {
        let sum = sums.entry(kernel.class.category.label()).or_default();
        sum.0 += 1;
        sum.1.add(kernel);
    }
    let mut sums: Vec<(&str, (u64, Partition))> = sums.into_iter().collect();
    let time = |sum: &(&str, (u64, Partition))| sum.1.1.total();
    sums.sort_by(|one, two| time(two).total_cmp(&time(one)).then(one.0.cmp(two.0)));
    let rows = sums.iter().map(|(category, (kernels, parts))| {
        let share = percent(parts.total() / analysis.totals.measured);
        let note = format!("{share} of the time, {}", count(*kernels, "kernel", "kernels"));
        Row { label: (*category).to_owned(), segments: segments(parts), before: None, note }
    });
    let rows: Vec<Row> = rows.collect();
    BarFigure {
        caption: Caption {
            title: format!("GPU time by category: {}", run(report, devices(report))),
            subtitle: extent(analysis.kernels.iter()),
            legend: vec![legend(&rows)],
            notes: Vec::new(),
        },
        panels: vec![BarPanel { heading: String::new(), unit: "s", rows, limit: None, more: 0 }],
        nothing: "nothing to draw: no kernel has a duration",
    }
}

/// Potential savings, each bar from where the one above it ends.
pub(super) fn savings(report: &Report<'_>) -> BarFigure {
    let analysis = report.analysis;
    let all = || analysis.kernels.iter().filter(|kernel| kernel.coverage.is_some());
    let totals = &analysis.totals;
    let mut saved = 0.0;
    let rows = all().take(report.top).map(|kernel| {
        let from = saved;
        saved += kernel.savings.get();
        let segments = vec![Segment { from, to: saved, look: SAVINGS }];
        // Of all savings of the run, also where some of its kernels are left out.
        let covered = kernel.coverage.map(|share| format!(", cumulative {}", percent(share)));
        let note = format!("{}{}", si(saved - from, "s"), covered.unwrap_or_default());
        Row { label: label(kernel), segments, before: None, note }
    });
    let rows: Vec<Row> = rows.collect();
    let known = totals.measured > Seconds::ZERO;
    let of_run =
        if known { format!(" ({})", percent(totals.share(totals.savings))) } else { String::new() };
    let more = all().count() - rows.len();
    BarFigure {
        caption: Caption {
            title: format!("Potential savings: {}", run(report, devices(report))),
            subtitle: format!(
                "{} of {} GPU time{of_run}",
                si(totals.savings.get(), "s"),
                if known { si(totals.measured.get(), "s") } else { "unknown".to_owned() }
            ),
            legend: Vec::new(),
            notes: vec!["Each bar begins where the one above it ends.".to_owned()],
        },
        panels: vec![BarPanel { heading: String::new(), unit: "s", rows, limit: None, more }],
        nothing: "nothing to draw: no kernel has potential savings",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::State;
    use crate::report::bench::run;

    /// As in the report: what no certain cause explains is not a gap of real code.
    #[test]
    fn unproven_savings_are_a_part_of_their_own() {
        let mut kernel = run(&[("a", State::Possible, 10.0)]).analysis.kernels[0].clone();
        let mut parts = |is_winnable| -> Vec<(Look, f64)> {
            kernel.savings_high = Seconds::new(9e-3);
            kernel.is_winnable = is_winnable;
            let milliseconds = |one: Segment| (one.look, ((one.to - one.from) * 1e3).round());
            segments(&Partition::of(&kernel)).into_iter().map(milliseconds).collect()
        };
        assert_eq!(parts(false), [(ROOFLINE, 1.0), (UNPROVEN, 9.0)]);
        assert_eq!(parts(true), [(ROOFLINE, 1.0), (GAP, 9.0)]);
    }
}
