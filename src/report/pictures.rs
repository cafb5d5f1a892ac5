//! A report as pictures: the roofline of the run, and bars of where its time goes.
//!
//! To add a picture: a variant of [`Subject`], its words, and the figure it becomes.

use std::collections::BTreeMap;

use super::Report;
use super::figure::{
    Bars, Canvas, Encoding, Look, Mark, PictureError, Point, Roof, RoofKind, Roofline, Row,
    Segment, encoded,
};
use super::numbers::{count, factor, percent, printable, si};
use super::scene::{self, Scene, scenes};
use super::view::{Style, name};
use crate::analysis::{Analysis, Kernel, State};
use crate::compare::{Pairing, pair};
use crate::model::MemoryLevel;
use crate::roofline::Limiter;
use crate::units::Seconds;

/// What a picture of a report shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Subject {
    /// Kernels on the roofline of the device with the most measured time.
    #[default]
    Roofline,
    /// The first kernels: measured time, and how much of it the roofs explain.
    Kernels,
    /// Measured time by category of kernel.
    Categories,
    /// What can be won, kernel upon kernel.
    Opportunities,
}

impl Subject {
    /// Every subject.
    pub const ALL: [Self; 4] =
        [Self::Roofline, Self::Kernels, Self::Categories, Self::Opportunities];

    /// The word on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Roofline => "roofline",
            Self::Kernels => "kernels",
            Self::Categories => "categories",
            Self::Opportunities => "opportunities",
        }
    }

    /// The subject with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|subject| subject.name() == name)
    }
}

/// Draws a report, with a baseline beside it if there is one. The same reports give the same bytes.
///
/// # Errors
/// [`PictureError`] if the canvas is too small for axes.
pub fn picture(
    report: &Report<'_>,
    baseline: Option<&Analysis>,
    subject: Subject,
    canvas: &Canvas,
    encoding: Encoding,
) -> Result<Vec<u8>, PictureError> {
    match subject {
        Subject::Roofline => encoded(&roofline(report, baseline), canvas, encoding),
        Subject::Kernels => encoded(&kernels(report, baseline), canvas, encoding),
        Subject::Categories => encoded(&categories(report), canvas, encoding),
        Subject::Opportunities => encoded(&opportunities(report), canvas, encoding),
    }
}

/// Roofs are drawn in a color that no mark has.
const ROOF: usize = 6;

/// Color and shape tell what limits a kernel, an area that it is an opportunity.
fn look(limiter: Limiter, state: State) -> Look {
    let (mark, color) = match limiter {
        Limiter::Memory => (Mark::Circle, 0),
        Limiter::Math => (Mark::Square, 1),
        Limiter::Latency => (Mark::Triangle, 2),
        Limiter::Unknown => (Mark::Diamond, 3),
    };
    Look { mark, color, is_hollow: state != State::Flagged }
}

/// Levels of more kernels than these would be a tangle.
const WITH_LEVELS: usize = 3;

/// The roofline of the device with the most measured time.
pub(super) fn roofline(report: &Report<'_>, baseline: Option<&Analysis>) -> Roofline {
    let mut all = scenes(report);
    if all.is_empty() {
        return Roofline { title: "no kernel was measured".to_owned(), ..Roofline::default() };
    }
    let others = all.split_off(1);
    let scene = &all[0];
    let mut figure = Roofline {
        title: title(report, scene),
        legend: legend(report, scene),
        remarks: remarks(report, scene, &others),
        owners: vec![String::new()],
        roofs: roofs(report, scene),
        ..Roofline::default()
    };
    let with_levels = scene.points.len() <= WITH_LEVELS;
    let before = Before::of(report, baseline);
    for (position, point) in scene.points.iter().enumerate() {
        let kernel = &report.analysis.kernels[point.kernel];
        let levels = point.levels.iter().filter(|_| with_levels);
        figure.points.push(Point {
            look: look(kernel.limiter, kernel.state),
            intensity: point.intensity,
            rate: point.rate,
            share: Some(kernel.share),
            label: (position < report.top).then(|| label(kernel)),
            levels: levels.map(|(level, intensity)| (level.label(), *intensity)).collect(),
            before: before.place(point.kernel),
        });
    }
    figure.remarks.extend(before.remark());
    figure
}

/// The kernels of a baseline, by the kernels of the run that they became.
#[derive(Default)]
struct Before<'a> {
    baseline: Option<&'a Analysis>,
    /// Kernels that are one on both sides: position now, position before.
    same: BTreeMap<usize, usize>,
    pairing: Pairing,
}

impl<'a> Before<'a> {
    fn of(report: &Report<'_>, baseline: Option<&'a Analysis>) -> Self {
        let Some(before) = baseline else { return Self::default() };
        let pairing = pair(before, report.analysis);
        let same = pairing.pairs.iter().filter_map(|pair| match (&*pair.after, &*pair.before) {
            ([after], [before]) => Some((*after, *before)),
            _ => None,
        });
        Self { baseline, same: same.collect(), pairing }
    }

    fn kernel(&self, now: usize) -> Option<&'a Kernel> {
        self.baseline?.kernels.get(*self.same.get(&now)?)
    }

    /// Intensity and rate before.
    fn place(&self, now: usize) -> Option<(f64, f64)> {
        scene::place(self.kernel(now)?)
    }

    fn remark(&self) -> Option<String> {
        self.baseline?;
        let (new, vanished) = (self.pairing.new.len(), self.pairing.vanished.len());
        let joined = self.pairing.pairs.len() - self.same.len();
        let joined = match joined {
            0 => String::new(),
            _ => format!(", {} of several on a side", count(joined as u64, "family", "families")),
        };
        Some(format!(
            "gray marks: before, for {}; not shown: {new} new, {vanished} vanished{joined}",
            count(self.same.len() as u64, "kernel", "kernels")
        ))
    }
}

/// Rank and short name, as the table has them.
fn label(kernel: &Kernel) -> String {
    format!("{} {}", kernel.rank, name(kernel, &Style::default()))
}

fn title(report: &Report<'_>, scene: &Scene) -> String {
    let analysis = report.analysis;
    let device = analysis.devices.get(scene.device).map_or("", |device| device.name());
    let on_device = analysis.kernels.iter().filter(|kernel| kernel.device == scene.device);
    let (mut kernels, mut time) = (0, Seconds::ZERO);
    for kernel in on_device {
        kernels += 1;
        time += kernel.measured;
    }
    let kernels = count(kernels, "kernel", "kernels");
    format!("Roofline of {}: {} in {kernels}", printable(device), si(time.get(), "s"))
}

fn legend(report: &Report<'_>, scene: &Scene) -> Vec<(Look, String)> {
    let all = [
        (Limiter::Memory, "memory-limited"),
        (Limiter::Math, "math-limited"),
        (Limiter::Latency, "latency-limited"),
        (Limiter::Unknown, "limiter unknown"),
    ];
    let kernels = || scene.points.iter().map(|point| &report.analysis.kernels[point.kernel]);
    let met = all.into_iter().filter(|(limiter, _)| kernels().any(|one| one.limiter == *limiter));
    met.map(|(limiter, text)| (look(limiter, State::Flagged), text.to_owned())).collect()
}

fn remarks(report: &Report<'_>, scene: &Scene, others: &[Scene]) -> Vec<String> {
    let measured = report.analysis.totals.measured;
    let mut remarks = vec![
        "filled: opportunity, hollow: the rest; area: share of the time; solid: theoretical roofs, \
         dashed: what well-written kernels reach"
            .to_owned(),
    ];
    let varying = scene.memory.iter().map(|roof| roof.lowest / roof.theoretical);
    let varying = varying.chain(scene.compute.iter().map(|roof| roof.lowest / roof.theoretical));
    let lowest = varying.fold(1.0, f64::min);
    if lowest < 0.995 {
        remarks.push(format!(
            "roofs differ between kernels with their clocks: drawn are the highest, the lowest are {} \
             of them",
            percent(lowest)
        ));
    }
    let absent: Vec<String> = scene
        .absent
        .iter()
        .map(|absent| {
            let share = percent(absent.measured / measured);
            format!(
                "{} ({share}): {}",
                count(absent.kernels as u64, "kernel", "kernels"),
                absent.reason
            )
        })
        .collect();
    if !absent.is_empty() {
        remarks.push(format!("not drawn: {}", absent.join("; ")));
    }
    if !others.is_empty() {
        let devices: Vec<String> = others
            .iter()
            .filter_map(|scene| Some(printable(report.analysis.devices.get(scene.device)?.name())))
            .collect();
        remarks.push(format!("other devices are not drawn: {}", devices.join(", ")));
    }
    remarks
}

fn roofs(report: &Report<'_>, scene: &Scene) -> Vec<Roof> {
    // Links bound few kernels; their roofs would push all else into a corner.
    let binds = |level: MemoryLevel| {
        let mut kernels = scene.points.iter().map(|point| &report.analysis.kernels[point.kernel]);
        kernels.any(|kernel| kernel.binding() == Some(crate::analysis::Binding::Memory(level)))
    };
    let is_shown = |level: MemoryLevel| match level {
        MemoryLevel::Dram | MemoryLevel::L2 | MemoryLevel::L1 => true,
        // L1 and shared memory share their data path.
        MemoryLevel::Shared => !scene.memory.iter().any(|roof| roof.kind == MemoryLevel::L1),
        MemoryLevel::System | MemoryLevel::Peer => binds(level),
    };
    let mut roofs = Vec::new();
    let mut add = |label: &str, operation: &'static str, kind: RoofKind, is_achievable: bool| {
        let label = label.to_owned();
        roofs.push(Roof { owner: 0, color: ROOF, operation, label, kind, is_achievable });
    };
    for roof in scene.memory.iter().filter(|roof| is_shown(roof.kind)) {
        let label = roof.kind.label();
        add(label, "FLOP", RoofKind::Memory(roof.theoretical), false);
        if let Some(achievable) = roof.achievable {
            add(&format!("{label}, achievable"), "FLOP", RoofKind::Memory(achievable), true);
        }
    }
    for roof in &scene.compute {
        let (label, operation) = (roof.kind.label(), roof.kind.operation());
        add(label, operation, RoofKind::Compute(roof.theoretical), false);
        if let Some(achievable) = roof.achievable {
            let label = format!("{label}, achievable");
            add(&label, operation, RoofKind::Compute(achievable), true);
        }
    }
    roofs
}

const EXPECTED: Look = Look { mark: Mark::Square, color: 0, is_hollow: false };
const STRUCTURAL: Look = Look { mark: Mark::Square, color: 5, is_hollow: false };
const SAVINGS: Look = Look { mark: Mark::Square, color: 1, is_hollow: true };
const OUTSIDE: Look = Look { mark: Mark::Square, color: 6, is_hollow: true };

/// A bar in parts: expected, structural, what is above both, and what the model does not judge.
fn parts(times: Option<Times>, measured: f64) -> Vec<Segment> {
    let judged = times.map_or(0.0, |times| times.judged);
    let roofline_time = times.map_or(0.0, |times| times.roofline_time);
    let structural = times.map_or(0.0, |times| times.structural);
    let ends = [
        (roofline_time, EXPECTED),
        (structural, STRUCTURAL),
        (judged, SAVINGS),
        (measured.max(judged), OUTSIDE),
    ];
    let mut from = 0.0;
    let segments = ends.into_iter().map(|(to, look)| {
        let segment = Segment { from, to, look };
        from = to;
        segment
    });
    segments.filter(|segment| segment.to > segment.from).collect()
}

fn parts_legend(rows: &[Row]) -> Vec<(Look, String)> {
    let all = [
        (EXPECTED, "expected at the roofs"),
        (STRUCTURAL, "launch cost, tail, achievable share"),
        (SAVINGS, "above both"),
        (OUTSIDE, "outside the model"),
    ];
    let occurs = |look: &Look| {
        rows.iter().flat_map(|row| &row.segments).any(|segment| segment.look == *look)
    };
    let met = all.into_iter().filter(|(look, _)| occurs(look));
    met.map(|(look, text)| (look, text.to_owned())).collect()
}

/// Times of a kernel that the roofline judges, in seconds, none longer than the next.
#[derive(Debug, Clone, Copy, Default)]
struct Times {
    roofline_time: f64,
    structural: f64,
    /// Measured time of the launches that were judged.
    judged: f64,
}

impl Times {
    fn of(kernel: &Kernel) -> Option<Self> {
        let judged = kernel.modeled.get();
        let roofline_time =
            kernel.roofline_time.filter(|_| kernel.state.is_modeled())?.get().min(judged);
        let structural = kernel.structural.map_or(roofline_time, Seconds::get);
        Some(Self { roofline_time, structural: structural.clamp(roofline_time, judged), judged })
    }
}

fn kernels(report: &Report<'_>, baseline: Option<&Analysis>) -> Bars {
    let analysis = report.analysis;
    let before = Before::of(report, baseline);
    let all = analysis.kernels.iter().enumerate();
    let all = all.filter(|(_, kernel)| kernel.measured > Seconds::ZERO);
    let rows = all.take(report.top).map(|(position, kernel)| {
        let (times, measured) = (Times::of(kernel), kernel.measured.get());
        let note = match (times, kernel.headroom) {
            (Some(_), Some(headroom)) => {
                format!("{}, {} expected", si(measured, "s"), factor(headroom))
            }
            _ => format!("{}, {}", si(measured, "s"), kernel.state.label()),
        };
        let was = before.kernel(position).map(|before| si(before.measured.get(), "s"));
        let note = was.map_or_else(|| note.clone(), |was| format!("{note}, was {was}"));
        Row { label: label(kernel), segments: parts(times, measured), note }
    });
    let rows: Vec<Row> = rows.collect();
    Bars {
        title: format!(
            "Measured time of the first {}",
            count(rows.len() as u64, "kernel", "kernels")
        ),
        legend: parts_legend(&rows),
        remarks: Vec::new(),
        unit: "s",
        rows,
        nothing: "nothing to draw: no kernel has a duration",
    }
}

fn categories(report: &Report<'_>) -> Bars {
    #[derive(Default)]
    struct Sum {
        kernels: u64,
        times: Times,
        measured: f64,
    }
    let analysis = report.analysis;
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    for kernel in analysis.kernels.iter().filter(|kernel| kernel.measured > Seconds::ZERO) {
        let sum = sums.entry(kernel.class.category.label()).or_default();
        sum.kernels += 1;
        sum.measured += kernel.measured.get();
        let times = Times::of(kernel).unwrap_or_default();
        sum.times.roofline_time += times.roofline_time;
        sum.times.structural += times.structural;
        sum.times.judged += times.judged;
    }
    let mut sums: Vec<(&str, Sum)> = sums.into_iter().collect();
    sums.sort_by(|one, two| two.1.measured.total_cmp(&one.1.measured).then(one.0.cmp(two.0)));
    let rows = sums.iter().map(|(category, sum)| {
        let segments = parts(Some(sum.times), sum.measured);
        let share = percent(sum.measured / analysis.totals.measured.get());
        let kernels = count(sum.kernels, "kernel", "kernels");
        let note = format!("{share} of the time, {kernels}");
        Row { label: (*category).to_owned(), segments, note }
    });
    let rows: Vec<Row> = rows.collect();
    Bars {
        title: "Measured time by category".to_owned(),
        legend: parts_legend(&rows),
        remarks: Vec::new(),
        unit: "s",
        rows,
        nothing: "nothing to draw: no kernel has a duration",
    }
}

fn opportunities(report: &Report<'_>) -> Bars {
    let analysis = report.analysis;
    let all = || analysis.kernels.iter().filter(|kernel| kernel.coverage.is_some());
    let total: f64 = all().map(|kernel| kernel.savings.get()).sum();
    let mut won = 0.0;
    let rows = all().take(report.top).map(|kernel| {
        let from = won;
        won += kernel.savings.get();
        let segments = vec![Segment { from, to: won, look: SAVINGS }];
        let note = format!("{}, {} with those above", si(won - from, "s"), percent(won / total));
        Row { label: label(kernel), segments, note }
    });
    let rows = rows.collect();
    let of_run = percent(total / analysis.totals.measured.get());
    Bars {
        title: format!("What can be won: {} ({of_run} of the time)", si(total, "s")),
        legend: Vec::new(),
        remarks: vec![
            "above launch cost, tail and the achievable share of the roofs; each bar begins where \
             the one above it ends"
                .to_owned(),
        ],
        unit: "s",
        rows,
        nothing: "nothing to draw: no kernel is an opportunity",
    }
}
