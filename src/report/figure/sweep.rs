//! A sweep of sizes: roofline time above, arithmetic intensity against the ridge point below.

use plotters::prelude::DrawingBackend;

use super::axis::{Axis, Chart, Margins, panel};
use super::caption::{Caption, Key};
use super::labels::Labels;
use super::pen::{Look, Pen, Stroke, Tone};
use super::{Area, Drawn, Figure};
use crate::report::numbers::digits;

/// Roofline time and intensity over a swept size, one curve per device and value of a second key.
#[derive(Debug, Clone)]
pub(crate) struct SweepFigure {
    /// Its legend is that of the curves.
    pub(crate) caption: Caption,
    /// The swept key.
    pub(crate) key: String,
    /// Unit of the intensities.
    pub(crate) unit: &'static str,
    pub(crate) curves: Vec<Curve>,
}

/// One device, at one value of the second key.
#[derive(Debug, Clone)]
pub(crate) struct Curve {
    pub(crate) label: String,
    pub(crate) samples: Vec<Sample>,
    pub(crate) turns: Vec<TurnMark>,
}

/// One size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) size: f64,
    /// Roofline time, in seconds.
    pub(crate) time: f64,
    /// Whether math limits rather than memory.
    pub(crate) is_math: bool,
    /// In operations per byte.
    pub(crate) intensity: Option<f64>,
    /// In operations per byte.
    pub(crate) ridge_point: Option<f64>,
}

/// Where the limiter changes.
#[derive(Debug, Clone)]
pub(crate) struct TurnMark {
    pub(crate) at: Sample,
    pub(crate) label: String,
}

/// A ring where the limiter changes.
const TURN: Look = Look::nth(0).hollow();

impl Figure for SweepFigure {
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, pen: &Pen) -> Drawn<DB> {
        let shown = self.curves.iter().take(Pen::SERIES);
        let shown: Vec<(usize, &Curve)> = shown.enumerate().collect();
        let body = self.complete(&shown).draw(area, pen)?;
        let samples = || shown.iter().flat_map(|(_, curve)| curve.all());
        let sizes = || samples().map(|sample| sample.size);
        let times = Axis::round("roofline time", "s", samples().map(|sample| sample.time));
        let (Some(x), Some(times)) = (Axis::tight(&self.key, "", sizes()), times) else {
            let at = (pen.em(), pen.em());
            return pen.write(&body, "nothing to draw: no time is longer than zero", at, Tone::Ink);
        };
        let unit = self.unit;
        let levels = samples().flat_map(|sample| [sample.intensity, sample.ridge_point]);
        let title = format!("arithmetic intensity [{unit}]");
        match Axis::round(&title, "", levels.flatten()) {
            Some(levels) => {
                let mut margins = Margins::of(pen, &x, &[&times, &levels]);
                let ridges = ridges(&shown);
                let widest = ridges.iter().map(|(_, _, label)| pen.size(label).0).max();
                margins.right = margins.right.max(widest.unwrap_or(0).unsigned_abs() + pen.letters);
                let height = body.dim_in_pixel().1;
                let (upper, lower) = body.split_vertically(height * 11 / 20);
                let bare = x.clone().untitled();
                Self::times(&upper, pen, (&bare, &times, margins), &shown)?;
                Self::intensities(&lower, pen, (&x, &levels, margins), &shown, &ridges)
            }
            None => {
                let margins = Margins::of(pen, &x, &[&times]);
                Self::times(&body, pen, (&x, &times, margins), &shown)
            }
        }
    }
}

impl Curve {
    /// Samples and turns together, by size.
    fn all(&self) -> Vec<Sample> {
        let mut all: Vec<Sample> =
            self.samples.iter().copied().chain(self.turns.iter().map(|turn| turn.at)).collect();
        all.sort_by(|one, two| one.size.total_cmp(&two.size));
        all
    }
}

impl Curve {
    /// The ridge point at the largest size.
    fn last_ridge(&self) -> Option<f64> {
        self.all().into_iter().rev().find_map(|sample| sample.ridge_point)
    }
}

impl SweepFigure {
    /// The caption with the curves and what their lines mean.
    fn complete(&self, shown: &[(usize, &Curve)]) -> Caption {
        let mut caption = self.caption.clone();
        let curves =
            shown.iter().map(|(at, curve)| (Key::Curve(Look::nth(*at)), curve.label.clone()));
        caption.legend.push(curves.collect());
        let is_math = |is_math: bool| {
            shown.iter().flat_map(|(_, curve)| &curve.samples).any(|one| one.is_math == is_math)
        };
        let mut lines = Vec::new();
        for (is_met, stroke, text) in [
            (is_math(false), Stroke::Solid, "memory-bound"),
            (is_math(true), Stroke::Dashed, "compute-bound"),
            (!ridges(shown).is_empty(), Stroke::Dotted, "ridge point"),
        ] {
            if is_met {
                lines.push((Key::Line(Tone::Faint, stroke), text.to_owned()));
            }
        }
        if shown.iter().any(|(_, curve)| !curve.turns.is_empty()) {
            let ring = Look { tone: Tone::Faint, ..TURN };
            lines.push((Key::Mark(ring), "first size on the other side".to_owned()));
        }
        caption.legend.push(lines);
        let left_out = self.curves.len() - shown.len();
        if left_out > 0 {
            caption.notes.push(format!("{left_out} more curves are not drawn"));
        }
        caption
    }

    fn times<DB: DrawingBackend>(
        area: &Area<DB>,
        pen: &Pen,
        (x, y, margins): (&Axis, &Axis, Margins),
        shown: &[(usize, &Curve)],
    ) -> Drawn<DB> {
        let chart = panel(area, pen, x, y, margins)?;
        let place = pixels(&chart);
        let (across, down) = chart.plotting_area().get_pixel_range();
        let screen = area.use_screen_coord();
        let mut labels = Labels::within(&across, &down, pen.em());
        for (series, curve) in shown {
            let all = curve.all();
            let at = |one: &Sample| place(one.size, one.time);
            for pair in all.windows(2) {
                labels.avoid_line(at(&pair[0]), at(&pair[1]));
            }
            // Dashes run on over the sizes of one side, and each side begins where the other ends.
            for run in all.chunk_by(|one, two| one.is_math == two.is_math) {
                let next =
                    all.iter().find(|one| run.last().is_some_and(|last| one.size > last.size));
                let points: Vec<(i32, i32)> = run.iter().chain(next).map(at).collect();
                let is_math = run.iter().any(|one| one.is_math);
                let stroke = if is_math { Stroke::Dashed } else { Stroke::Solid };
                pen.stroke(&screen, &points, Tone::nth(*series), stroke)?;
            }
            // A mark at every size would hide the line of a fine sweep.
            let every = curve.samples.len().div_ceil(24);
            for sample in curve.samples.iter().step_by(every.max(1)) {
                let at = place(sample.size, sample.time);
                labels.avoid(at, pen.radius());
                pen.mark(&screen, Look::nth(*series), at, pen.radius() * 2 / 3)?;
            }
        }
        for (series, turn) in turns(shown) {
            let at = place(turn.at.size, turn.at.time);
            labelled(&screen, pen, &mut labels, at, &turn.label, Tone::nth(series))?;
        }
        Ok(())
    }

    fn intensities<DB: DrawingBackend>(
        area: &Area<DB>,
        pen: &Pen,
        (x, y, margins): (&Axis, &Axis, Margins),
        shown: &[(usize, &Curve)],
        ridges: &[Ridge],
    ) -> Drawn<DB> {
        let chart = panel(area, pen, x, y, margins)?;
        let place = pixels(&chart);
        let (across, down) = chart.plotting_area().get_pixel_range();
        let screen = area.use_screen_coord();
        let path = |curve: &Curve, level: fn(&Sample) -> Option<f64>| -> Vec<(i32, i32)> {
            let all = curve.all();
            all.iter().filter_map(|one| Some(place(one.size, level(one)?))).collect()
        };
        let mut drawn: Vec<Vec<Option<f64>>> = Vec::new();
        for (series, curve) in shown {
            // Devices share the intensity of a kernel: then one line in ink stands for them.
            let of = |curve: &Curve| -> Vec<Option<f64>> {
                curve.samples.iter().map(|sample| sample.intensity).collect()
            };
            let own = of(curve);
            if !drawn.contains(&own) {
                let alone = shown.iter().filter(|(_, other)| of(other) == own).count() == 1;
                let tone = if alone && shown.len() > 1 { Tone::nth(*series) } else { Tone::Ink };
                pen.stroke(&screen, &path(curve, |one| one.intensity), tone, Stroke::Solid)?;
                drawn.push(own);
            }
            let ridge = path(curve, |one| one.ridge_point);
            let label = curve.last_ridge().map(digits);
            let owners = shown.iter().filter(|(_, other)| other.last_ridge().map(digits) == label);
            let tone = if owners.count() > 1 { Tone::Ink } else { Tone::nth(*series) };
            if ridge.len() > 1 {
                pen.stroke(&screen, &ridge, tone, Stroke::Dotted)?;
            }
        }
        for (series, turn) in turns(shown) {
            if let Some(level) = turn.at.intensity {
                let at = place(turn.at.size, level);
                pen.mark(&screen, Look { tone: Tone::nth(series), ..TURN }, at, pen.radius())?;
            }
        }
        let height = pen.em() * 5 / 4;
        let wanted: Vec<i32> =
            ridges.iter().map(|(_, ridge, _)| place(x.high, *ridge).1 - height / 2).collect();
        let heights = Labels::stacked(&wanted, height, &down);
        for ((owner, _, label), y) in ridges.iter().zip(heights) {
            let tone = owner.map_or(Tone::Ink, Tone::nth);
            pen.write(&screen, label, (across.end + pen.em() / 2, y), tone)?;
        }
        Ok(())
    }
}

/// A ridge point, whose it is if it is one curve's alone, and what is written beside its line.
type Ridge = (Option<usize>, f64, String);

/// The ridge points at the largest size, each once.
fn ridges(shown: &[(usize, &Curve)]) -> Vec<Ridge> {
    let mut ridges: Vec<Ridge> = Vec::new();
    for (series, curve) in shown {
        let Some(ridge) = curve.last_ridge() else { continue };
        let label = format!("ridge point {}", digits(ridge));
        match ridges.iter_mut().find(|known| known.2 == label) {
            Some(known) => known.0 = None,
            None => ridges.push((Some(*series), ridge, label)),
        }
    }
    ridges
}

fn turns<'a>(shown: &'a [(usize, &'a Curve)]) -> impl Iterator<Item = (usize, &'a TurnMark)> {
    shown.iter().flat_map(|(series, curve)| curve.turns.iter().map(|turn| (*series, turn)))
}

/// A ring with its label beside it, where there is room.
fn labelled<DB: DrawingBackend>(
    screen: &Area<DB>,
    pen: &Pen,
    labels: &mut Labels,
    at: (i32, i32),
    label: &str,
    tone: Tone,
) -> Drawn<DB> {
    pen.mark(screen, Look { tone, ..TURN }, at, pen.radius())?;
    labels.avoid(at, pen.radius());
    match labels.beside(at, pen.radius(), pen.size(label)) {
        Some(placed) => pen.write(screen, label, placed.corner, tone),
        None => Ok(()),
    }
}

/// Where a point of a panel lies on the screen.
pub(super) fn pixels<'c, DB: DrawingBackend>(
    chart: &'c Chart<'_, DB>,
) -> impl Fn(f64, f64) -> (i32, i32) + 'c {
    |x, y| chart.backend_coord(&(x, y))
}
