//! The roofline of a run: its roofs, its kernels as marks, and bars for kernels without operations or
//! without a roof.

use std::collections::BTreeMap;

use super::super::Report;
use super::super::figure::{
    BarPanel, Caption, Key, Look, Mark, Point, Roof, RoofKind, Roofline, Row, Segment, Tone,
};
use super::super::numbers::{count, percent, printable, si};
use super::super::roofs::on;
use super::super::scene::{self, Scene, scenes};
use super::before::Before;
use super::{device, extent, label, run, time};
use crate::analysis::{Analysis, Binding, Kernel, State};
use crate::model::MemoryLevel;
use crate::roofline::Limiter;
use crate::units::{Bytes, Seconds};

/// Kernels with less of the time than this decide nothing.
const MATTERS: f64 = 0.01;

/// Levels of more kernels than these would be a tangle.
const WITH_LEVELS: usize = 3;

/// Rows of bars below the marks, and where there are no marks.
const ROWS: (usize, usize) = (4, 14);

/// Color and shape say what limits a kernel, an area that it is flagged.
const fn look(limiter: Limiter, is_flagged: bool) -> Look {
    let (mark, tone) = match limiter {
        Limiter::Memory => (Mark::Circle, Tone::Blue),
        Limiter::Math => (Mark::Square, Tone::Orange),
        Limiter::Latency => (Mark::Triangle, Tone::Green),
        Limiter::Unknown => (Mark::Diamond, Tone::Grey),
    };
    Look { mark, tone, is_hollow: !is_flagged }
}

/// The roofline of the device with the most measured time.
pub(super) fn roofline(report: &Report<'_>, baseline: Option<&Analysis>) -> Roofline {
    let mut all = scenes(report);
    if all.is_empty() {
        let caption =
            Caption { title: "Roofline: no kernel was measured".to_owned(), ..Caption::default() };
        return Roofline { caption, ..Roofline::default() };
    }
    let others = all.split_off(1);
    let scene = &all[0];
    let before = Before::of(report, baseline);
    let kernel = |point: &scene::Point| &report.analysis.kernels[point.kernel];
    let share = |kernel: &Kernel| report.analysis.totals.share(kernel.measured);
    let matter: Vec<&scene::Point> =
        scene.points.iter().filter(|point| share(kernel(point)) >= MATTERS).collect();
    let has_levels = matter.len() <= WITH_LEVELS;
    let points = scene.points.iter().map(|point| {
        let kernel = kernel(point);
        let levels = point.levels.iter().filter(|_| has_levels && share(kernel) >= MATTERS);
        Point {
            look: look(kernel.limiter, kernel.state == State::Flagged),
            intensity: point.intensity,
            rate: point.rate,
            share: Some(share(kernel)),
            label: Some(label(kernel)),
            levels: levels.map(|(level, intensity)| (level.label(), *intensity)).collect(),
            before: before.place(point.kernel),
        }
    });
    let mut figure = Roofline {
        points: points.collect(),
        roofs: roofs(report, scene, &matter, has_levels),
        ..Roofline::default()
    };
    name_some(&mut figure.points, report.top);
    let mut left: BTreeMap<&'static str, Vec<&Kernel>> = BTreeMap::new();
    figure.bars = bars(report, scene, &mut left);
    let on_device = on(&report.analysis.kernels, scene.device).map(|(_, kernel)| kernel);
    let mut legend = legend(report, scene);
    let timed = figure.bars.iter().filter(|panel| panel.unit == "s");
    legend.extend(timed.map(|panel| time::legend(&panel.rows)));
    figure.caption = Caption {
        title: format!("Roofline: {}", run(report, device(report, scene.device))),
        subtitle: extent(on_device),
        legend,
        notes: notes(report, scene, &others, &left, before.note()),
    };
    figure
}

/// Leaves names to so many kernels with the largest share, among those that matter or are flagged.
fn name_some(points: &mut [Point], top: usize) {
    let share = |point: &Point| point.share.unwrap_or_default();
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|one, two| share(&points[*two]).total_cmp(&share(&points[*one])));
    let matters = |point: &Point| share(point) >= MATTERS || !point.look.is_hollow;
    let any = points.iter().any(matters);
    let mut named = 0;
    for position in order {
        let point = &mut points[position];
        let is_named = named < top && (!any || matters(point));
        named += usize::from(is_named);
        if !is_named {
            point.label = None;
        }
    }
}

fn legend(report: &Report<'_>, scene: &Scene) -> Vec<Vec<(Key, String)>> {
    let all = [
        (Limiter::Memory, "memory-bound"),
        (Limiter::Math, "compute-bound"),
        (Limiter::Latency, "latency-bound"),
        (Limiter::Unknown, "limiter unknown"),
    ];
    let kernels = || scene.points.iter().map(|point| &report.analysis.kernels[point.kernel]);
    let met = all.into_iter().filter(|(limiter, _)| kernels().any(|one| one.limiter == *limiter));
    let mut marks: Vec<(Key, String)> =
        met.map(|(limiter, text)| (Key::Mark(look(limiter, true)), text.to_owned())).collect();
    let is_flagged = |kernel: &Kernel| kernel.state == State::Flagged;
    if kernels().any(is_flagged) && !kernels().all(is_flagged) {
        let ring = Look { mark: Mark::Circle, tone: Tone::Faint, is_hollow: true };
        marks.push((Key::Mark(ring), "hollow: not flagged".to_owned()));
    }
    if !marks.is_empty() {
        let dot = Look { mark: Mark::Circle, tone: Tone::Faint, is_hollow: false };
        marks.push((Key::Mark(dot), "area: share of the time".to_owned()));
    }
    vec![marks]
}

fn notes(
    report: &Report<'_>,
    scene: &Scene,
    others: &[Scene],
    left: &BTreeMap<&'static str, Vec<&Kernel>>,
    before: Option<String>,
) -> Vec<String> {
    let measured = report.analysis.totals.measured;
    let mut notes = Vec::new();
    let memory = scene.memory.iter().map(|roof| roof.lowest / roof.theoretical);
    let compute = scene.compute.iter().map(|roof| roof.lowest / roof.theoretical);
    let lowest = memory.chain(compute).fold(1.0, f64::min);
    if lowest < 0.98 {
        notes.push(format!(
            "shaded: roofs at the lowest clock of the run, down to {} of the highest",
            percent(lowest)
        ));
    }
    let absent = left.iter().map(|(reason, kernels)| {
        let time: Seconds = kernels.iter().map(|kernel| kernel.measured).sum();
        let number = count(kernels.len() as u64, "kernel", "kernels");
        format!("{number} ({}): {reason}", percent(time / measured))
    });
    let absent: Vec<String> = absent.collect();
    if !absent.is_empty() {
        notes.push(format!("not drawn: {}", absent.join("; ")));
    }
    let devices: Vec<String> = others
        .iter()
        .filter_map(|scene| Some(printable(report.analysis.devices.get(scene.device)?.name())))
        .collect();
    if !devices.is_empty() {
        notes.push(format!("other devices are not drawn: {}", devices.join(", ")));
    }
    notes.extend(before);
    notes
}

fn roofs(
    report: &Report<'_>,
    scene: &Scene,
    matter: &[&scene::Point],
    has_levels: bool,
) -> Vec<Roof> {
    // The kernels' marks lie below the roof of DRAM. Other roofs are drawn where something lies below
    // them, too: they would push all else into a corner.
    let binds = |level: MemoryLevel| {
        let mut kernels = matter.iter().map(|point| &report.analysis.kernels[point.kernel]);
        kernels.any(|kernel| kernel.binding() == Some(Binding::Memory(level)))
    };
    let is_counted = |level: MemoryLevel| {
        matter.iter().any(|point| point.levels.iter().any(|(known, _)| *known == level))
    };
    let is_shown = |level: MemoryLevel| match level {
        MemoryLevel::Dram => true,
        MemoryLevel::System | MemoryLevel::Peer => binds(level),
        _ => binds(level) || (has_levels && is_counted(level)),
    };
    let tone = |level: MemoryLevel| match level {
        MemoryLevel::Dram => Tone::Blue,
        MemoryLevel::L2 => Tone::Green,
        MemoryLevel::L1 => Tone::Pink,
        MemoryLevel::Shared => Tone::Gold,
        MemoryLevel::System | MemoryLevel::Peer => Tone::Grey,
    };
    let memory = scene.memory.iter().filter(|roof| is_shown(roof.kind)).map(|roof| Roof {
        owner: 0,
        tone: tone(roof.kind),
        operation: "FLOP",
        label: roof.kind.label().to_owned(),
        kind: RoofKind::Memory,
        rate: roof.theoretical,
        achievable: roof.achievable,
        lowest: roof.lowest,
    });
    let is_used = |roof: &&scene::Roof<_>| {
        matter.is_empty() || matter.iter().any(|point| point.pipe == roof.kind)
    };
    let compute = scene.compute.iter().filter(is_used).map(|roof| Roof {
        owner: 0,
        tone: Tone::Orange,
        operation: roof.kind.operation(),
        label: roof.kind.label().to_owned(),
        kind: RoofKind::Compute,
        rate: roof.theoretical,
        achievable: roof.achievable,
        lowest: roof.lowest,
    });
    memory.chain(compute).collect()
}

/// Bars for the kernels that have no place on the axes; what they do not show goes to `left`, by
/// reason.
fn bars<'a>(
    report: &Report<'a>,
    scene: &Scene,
    left: &mut BTreeMap<&'static str, Vec<&'a Kernel>>,
) -> Vec<BarPanel> {
    let absent = on(&report.analysis.kernels, scene.device)
        .map(|(_, kernel)| kernel)
        .filter(|kernel| kernel.measured > Seconds::ZERO)
        .filter_map(|kernel| Some((kernel, scene::absence(kernel)?)));
    let (mut moving, mut rest): (Vec<_>, Vec<_>) =
        absent.partition(|(kernel, _)| bandwidth(kernel).is_some());
    for group in [&mut moving, &mut rest] {
        group.sort_by(|one, two| two.0.measured.get().total_cmp(&one.0.measured.get()));
    }
    let share = |kernel: &Kernel| report.analysis.totals.share(kernel.measured);
    let shares = |group: &[(&Kernel, _)]| group.iter().map(|(one, _)| share(one)).sum::<f64>();
    let has_points = !scene.points.is_empty();
    let most = if has_points { ROWS.0 } else { ROWS.1 };
    let roof = scene.memory.iter().find(|roof| roof.kind == MemoryLevel::Dram);
    let mut panels = Vec::new();
    // Beside marks, bars are for what the run spends its time on, too.
    for (group, least, is_moving) in [(moving, MATTERS, true), (rest, 0.1, false)] {
        let matters = |kernel: &Kernel| !has_points || share(kernel) >= MATTERS;
        let is_drawn = !group.is_empty() && (!has_points || shares(&group) >= least);
        let is_drawn = is_drawn && (!is_moving || roof.is_some());
        let (shown, hidden): (Vec<_>, Vec<_>) =
            group.into_iter().partition(|(kernel, _)| is_drawn && matters(kernel));
        let rows: Vec<Row> = shown
            .iter()
            .take(most)
            .map(|(kernel, _)| match (is_moving, roof) {
                (true, Some(roof)) => moved(kernel, share(kernel), roof.theoretical),
                _ => time::row(kernel, None),
            })
            .collect();
        let more = shown.len() - rows.len();
        for (kernel, reason) in hidden {
            left.entry(reason).or_default().push(kernel);
        }
        if rows.is_empty() {
            continue;
        }
        let heading = match (is_moving, roof) {
            (true, Some(roof)) => format!(
                "Kernels without operations: bandwidth against {} ({})",
                roof.kind.label(),
                si(roof.theoretical, "B/s")
            ),
            _ if has_points => "Kernels that are not on the chart: GPU time".to_owned(),
            _ => {
                "GPU time of kernels without FLOPs and bytes to place them on a roofline".to_owned()
            }
        };
        let (unit, limit) = match (is_moving, roof) {
            (true, Some(roof)) => ("B/s", Some(roof.theoretical)),
            _ => ("s", None),
        };
        panels.push(BarPanel { heading, unit, rows, limit, more });
    }
    panels
}

/// Bytes per second of a memory-bound kernel.
fn bandwidth(kernel: &Kernel) -> Option<f64> {
    let bytes = kernel.bytes.filter(|bytes| *bytes > Bytes::ZERO)?;
    let is_local = kernel.state != State::NotRoofline && kernel.modeled > Seconds::ZERO;
    // Of a kernel that waits for something else, the time says more than the bandwidth.
    let is_bound = is_local && kernel.limiter == Limiter::Memory && !kernel.is_partly_counted();
    is_bound.then(|| (bytes / kernel.modeled).get())
}

fn moved(kernel: &Kernel, share: f64, roof: f64) -> Row {
    let rate = bandwidth(kernel).unwrap_or_default();
    let look = look(Limiter::Memory, true);
    let note = format!(
        "{}, {} of the roof; {} of the time",
        si(rate, "B/s"),
        percent(rate / roof),
        percent(share)
    );
    let segments = vec![Segment { from: 0.0, to: rate, look }];
    Row { label: label(kernel), segments, before: None, note }
}
