//! A sweep of sizes: expected time above, arithmetic intensity against the ridge point below.

use plotters::prelude::DrawingBackend;

use super::axis::{Axis, Chart, Margins, panel};
use super::labels::Labels;
use super::pen::{Line, Look, Pen};
use super::{Area, Drawn, Figure};
use crate::report::numbers::digits;

/// Expected time and intensity over a swept size, one curve per device and value of a second key.
#[derive(Debug, Clone)]
pub(crate) struct SweepFigure {
    pub(crate) title: String,
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
    /// Expected time, in seconds.
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
        let head = self.head(area, pen, &shown)?;
        let (_, body) = area.split_vertically(head);
        let samples = || shown.iter().flat_map(|(_, curve)| curve.all());
        let sizes = || samples().map(|sample| sample.size);
        let times = Axis::round("expected time", "s", samples().map(|sample| sample.time));
        let (Some(x), Some(times)) = (Axis::tight(&self.key, "", sizes()), times) else {
            let at = (pen.letters as i32 * 2, pen.letters as i32 * 3);
            return pen.write(&body, "nothing to draw: no time is longer than zero", at, pen.ink);
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
    /// Title, legend, and what the lines mean; returns their height.
    fn head<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        pen: &Pen,
        shown: &[(usize, &Curve)],
    ) -> Result<u32, super::Failed<DB>> {
        let letters = pen.letters as i32;
        let (width, left) = (area.dim_in_pixel().0 as i32, letters);
        let mut top = letters;
        pen.write(area, &pen.fitted(&self.title, width - 2 * left), (left, top), pen.ink)?;
        top += letters * 3 / 2;
        let mut x = left;
        for (series, curve) in shown {
            let label = pen.fitted(&curve.label, width - 2 * left - 4 * letters);
            let wide = 3 * letters + pen.size(&label).0;
            if x > left && x + wide > width - left {
                x = left;
                top += letters * 3 / 2;
            }
            let (color, middle) = (pen.color(*series), top + letters / 2);
            pen.line(area, &[(x, middle), (x + 2 * letters, middle)], color, Line::Solid)?;
            pen.mark(area, Look::nth(*series), (x + letters, middle), pen.radius(), color)?;
            pen.write(area, &label, (x + letters * 5 / 2, top), pen.ink)?;
            x += wide + letters;
        }
        top += letters * 3 / 2;
        let mut meaning =
            "solid: memory limits; dashed: math limits; dotted: ridge point".to_owned();
        if shown.iter().any(|(_, curve)| !curve.turns.is_empty()) {
            meaning.push_str("; labeled: the first size of the other side");
        }
        let left_out = self.curves.len() - shown.len();
        if left_out > 0 {
            meaning.push_str(&format!("; {left_out} more curves are not drawn"));
        }
        pen.write(area, &pen.fitted(&meaning, width - 2 * left), (left, top), pen.faint)?;
        Ok((top + letters * 3 / 2).unsigned_abs())
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
        let mut labels = Labels::within(across, down);
        for (series, curve) in shown {
            let color = pen.color(*series);
            let all = curve.all();
            for pair in all.windows(2) {
                let line = if pair[0].is_math { Line::Dashed } else { Line::Solid };
                let ends = [place(pair[0].size, pair[0].time), place(pair[1].size, pair[1].time)];
                labels.avoid_line(ends[0], ends[1]);
                pen.line(&screen, &ends, color, line)?;
            }
            // A mark at every size would hide the line of a fine sweep.
            let every = curve.samples.len().div_ceil(24);
            for sample in curve.samples.iter().step_by(every.max(1)) {
                let at = place(sample.size, sample.time);
                labels.avoid(at, pen.radius());
                pen.mark(&screen, Look::nth(*series), at, pen.radius() * 2 / 3, color)?;
            }
        }
        for (series, turn) in turns(shown) {
            let at = place(turn.at.size, turn.at.time);
            labeled(&screen, pen, &mut labels, at, &turn.label, pen.color(series))?;
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
                let color = if alone && shown.len() > 1 { pen.color(*series) } else { pen.ink };
                pen.line(&screen, &path(curve, |one| one.intensity), color, Line::Solid)?;
                drawn.push(own);
            }
            let ridge = path(curve, |one| one.ridge_point);
            let label = curve.last_ridge().map(digits);
            let owners = shown.iter().filter(|(_, other)| other.last_ridge().map(digits) == label);
            let color = if owners.count() > 1 { pen.ink } else { pen.color(*series) };
            if ridge.len() > 1 {
                pen.line(&screen, &ridge, color, Line::Dotted)?;
            }
        }
        for (series, turn) in turns(shown) {
            if let Some(level) = turn.at.intensity {
                let at = place(turn.at.size, level);
                pen.mark(&screen, TURN, at, pen.radius(), pen.color(series))?;
            }
        }
        let height = pen.letters as i32 * 5 / 4;
        let wanted: Vec<i32> =
            ridges.iter().map(|(_, ridge, _)| place(x.high, *ridge).1 - height / 2).collect();
        let heights = Labels::stacked(&wanted, height, down);
        for ((owner, _, label), y) in ridges.iter().zip(heights) {
            let color = owner.map_or(pen.ink, |series| pen.color(series));
            pen.write(&screen, label, (across.end + 6, y), color)?;
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
        let label = format!("ridge {}", digits(ridge));
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

/// A mark with its label beside it, where there is room.
pub(super) fn labeled<DB: DrawingBackend>(
    screen: &Area<DB>,
    pen: &Pen,
    labels: &mut Labels,
    at: (i32, i32),
    label: &str,
    color: plotters::style::RGBColor,
) -> Drawn<DB> {
    pen.mark(screen, TURN, at, pen.radius(), color)?;
    labels.avoid(at, pen.radius());
    match labels.beside(at, pen.radius(), pen.size(label)) {
        Some(corner) => pen.write(screen, label, corner, color),
        None => Ok(()),
    }
}

/// Where a point of a panel lies on the screen.
pub(super) fn pixels<'c, DB: DrawingBackend>(
    chart: &'c Chart<'_, DB>,
) -> impl Fn(f64, f64) -> (i32, i32) + 'c {
    |x, y| chart.backend_coord(&(x, y))
}
