//! Values from commit to commit: a panel each, over one axis of commits, with the steps between them.

use plotters::prelude::DrawingBackend;

use super::axis::Scale;
use super::caption::{Caption, Key};
use super::labels::Labels;
use super::pen::{Look, Mark, Pen, Stroke, Tone};
use super::{Area, Drawn, Figure};

/// Panels over one axis of commits.
#[derive(Debug, Clone)]
pub(crate) struct SeriesFigure {
    /// Its legend is that of the marks.
    pub(crate) caption: Caption,
    /// What stands under each commit, in two lines.
    pub(crate) labels: Vec<[String; 2]>,
    pub(crate) panels: Vec<SeriesPanel>,
}

/// One thing that is followed.
#[derive(Debug, Clone)]
pub(crate) struct SeriesPanel {
    pub(crate) title: String,
    /// `s`, `×`, or `%` for values that are shares.
    pub(crate) unit: &'static str,
    pub(crate) points: Vec<Scatter>,
    pub(crate) levels: Vec<Level>,
    pub(crate) marks: Vec<SeriesMark>,
}

/// The runs of one commit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scatter {
    /// Position of the commit.
    pub(crate) at: usize,
    pub(crate) middle: f64,
    /// The least and the greatest.
    pub(crate) ends: [f64; 2],
}

/// A line between two commits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    pub(crate) from: (usize, f64),
    pub(crate) to: (usize, f64),
}

/// A step: it lies before this commit.
#[derive(Debug, Clone)]
pub(crate) struct SeriesMark {
    pub(crate) at: usize,
    pub(crate) label: String,
    pub(crate) is_worse: bool,
}

const POINT: Look = Look::nth(0);
/// Worse and better differ by shape as well as by color.
const WORSE: Look = Look { mark: Mark::Triangle, tone: Tone::Bad, is_hollow: false };
const BETTER: Look = Look { mark: Mark::Diamond, tone: Tone::Good, is_hollow: false };

impl Figure for SeriesFigure {
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, pen: &Pen) -> Drawn<DB> {
        let letters = pen.em();
        let body = self.complete().draw(area, pen)?;
        let area = &body;
        let panels: Vec<(&SeriesPanel, Heights)> =
            self.panels.iter().filter_map(|panel| Some((panel, Heights::of(panel)?))).collect();
        if panels.is_empty() || self.labels.is_empty() {
            let at = (letters, letters);
            return pen.write(area, "nothing to draw: no value is known", at, Tone::Ink);
        }
        let (width, height) = area.dim_in_pixel();
        let (width, height) = (width as i32, height as i32);
        let widest = panels.iter().flat_map(|(_, heights)| {
            heights.ticks.iter().map(|value| pen.size(&heights.scale.label(*value)).0)
        });
        let left = widest.max().unwrap_or(0) + 2 * letters;
        let bottom = height - letters * 9 / 2;
        // Panels that do not fit are counted, not squeezed.
        let room = (bottom / (letters * 7)).max(1) as usize;
        let shown = panels.len().min(room);
        let each = bottom / shown as i32;
        let across = Across { left, right: width - 2 * letters, count: self.labels.len() };
        for (position, (panel, heights)) in panels.iter().take(shown).enumerate() {
            let top = each * position as i32;
            let frame = (top + letters * 2, top + each - letters);
            panel.draw(area, pen, (&across, heights), frame)?;
        }
        self.under(area, pen, &across, bottom)?;
        if shown < panels.len() {
            let rest = format!("and {} more", panels.len() - shown);
            let at = (width - letters - pen.size(&rest).0, 0);
            pen.write(area, &rest, at, Tone::Faint)?;
        }
        Ok(())
    }
}

/// Where commits lie across the picture.
struct Across {
    left: i32,
    right: i32,
    count: usize,
}

impl Across {
    fn place(&self, at: usize) -> i32 {
        // Half a step stays free on both sides.
        let step = f64::from(self.right - self.left) / self.count as f64;
        self.left + (step * (at as f64 + 0.5)).round() as i32
    }
}

/// The values that a panel spans, and its ticks.
struct Heights {
    low: f64,
    high: f64,
    ticks: Vec<f64>,
    scale: Scale,
}

impl Heights {
    /// The span of the values with room around; noise of one per cent does not fill a panel.
    fn of(panel: &SeriesPanel) -> Option<Self> {
        let levels = panel.levels.iter().flat_map(|level| [level.from.1, level.to.1]);
        let all = panel.points.iter().flat_map(|point| point.ends).chain(levels);
        let (low, high) = all
            .filter(|value| value.is_finite())
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        if high <= 0.0 || low > high {
            return None;
        }
        let span = (high - low).max(high * 0.1);
        let middle = f64::midpoint(low, high);
        let (low, high) = ((middle - span * 0.65).max(0.0), middle + span * 0.65);
        let power = 10f64.powf(((high - low) / 3.0).log10().floor());
        let steps = [5.0, 2.0, 1.0].map(|step| step * power);
        let step = steps.into_iter().find(|step| (high - low) / step >= 2.0).unwrap_or(power);
        let first = (low / step).ceil();
        let count = ((high / step).floor() - first).clamp(0.0, 20.0) as u32;
        let ticks = (0..=count).map(|tick| (first + f64::from(tick)) * step).collect();
        Some(Self { low, high, ticks, scale: Scale::of(panel.unit, high) })
    }

    fn place(&self, value: f64, (top, bottom): (i32, i32)) -> i32 {
        let part = (value - self.low) / (self.high - self.low);
        bottom - (part * f64::from(bottom - top)).round() as i32
    }
}

impl SeriesPanel {
    fn draw<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        pen: &Pen,
        (across, heights): (&Across, &Heights),
        frame: (i32, i32),
    ) -> Drawn<DB> {
        let letters = pen.em();
        let title = pen.fitted(&self.title, across.right - letters);
        pen.write(area, &title, (letters, frame.0 - letters * 3 / 2), Tone::Ink)?;
        for value in &heights.ticks {
            let y = heights.place(*value, frame);
            pen.hair(area, &[(across.left, y), (across.right, y)], Tone::Grid, Stroke::Solid)?;
            let label = heights.scale.label(*value);
            let at = (across.left - letters / 2 - pen.size(&label).0, y - letters / 2);
            pen.write(area, &label, at, Tone::Faint)?;
        }
        let place = |at: usize, value: f64| (across.place(at), heights.place(value, frame));
        let mut labels = Labels::within(&(across.left..across.right), &(frame.0..frame.1), letters);
        for mark in &self.marks {
            let x = i32::midpoint(across.place(mark.at.saturating_sub(1)), across.place(mark.at));
            let ends = [(x, frame.0), (x, frame.1)];
            labels.avoid_line(ends[0], ends[1]);
            pen.hair(area, &ends, mark.look().tone, Stroke::Dashed)?;
        }
        for level in &self.levels {
            let ends = [place(level.from.0, level.from.1), place(level.to.0, level.to.1)];
            labels.avoid_line(ends[0], ends[1]);
            pen.hair(area, &ends, Tone::Ink, Stroke::Solid)?;
        }
        // Marks of many commits would hide each other.
        let step = (across.right - across.left) / across.count.max(1) as i32;
        let radius = (pen.radius() * 5 / 6).min(step / 2).max(1);
        for point in &self.points {
            let at = place(point.at, point.middle);
            let [low, high] = point.ends.map(|end| place(point.at, end));
            pen.stroke(area, &[low, high], POINT.tone, Stroke::Solid)?;
            labels.avoid_line(low, high);
            pen.mark(area, POINT, at, radius)?;
            labels.avoid(at, radius);
        }
        for mark in &self.marks {
            let after = self.points.iter().find(|point| point.at >= mark.at);
            let Some(after) = after else { continue };
            let at = place(mark.at, after.middle);
            pen.mark(area, mark.look(), at, pen.radius())?;
            labels.avoid(at, pen.radius());
            if let Some(placed) = labels.beside(at, pen.radius(), pen.size(&mark.label)) {
                pen.write(area, &mark.label, placed.corner, mark.look().tone)?;
            }
        }
        Ok(())
    }
}

impl SeriesMark {
    const fn look(&self) -> Look {
        if self.is_worse { WORSE } else { BETTER }
    }
}

impl SeriesFigure {
    /// The caption with the marks that are drawn.
    fn complete(&self) -> Caption {
        let marks = || self.panels.iter().flat_map(|panel| &panel.marks);
        let mut legend =
            vec![(Key::Mark(POINT), "commit, with its lowest and highest run".to_owned())];
        legend.push((Key::Line(Tone::Ink, Stroke::Solid), "median between changes".to_owned()));
        for (is_worse, text) in [(true, "increase"), (false, "decrease")] {
            if let Some(mark) = marks().find(|mark| mark.is_worse == is_worse) {
                legend.push((Key::Mark(mark.look()), text.to_owned()));
            }
        }
        let mut caption = self.caption.clone();
        caption.legend.push(legend);
        caption
    }

    /// Commits and days below the panels, as many as there is room for; the newest always.
    fn under<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        pen: &Pen,
        across: &Across,
        top: i32,
    ) -> Drawn<DB> {
        let letters = pen.em();
        let widest = self.labels.iter().flatten().map(|label| pen.size(label).0).max();
        let step = (across.right - across.left) / across.count.max(1) as i32;
        let every = (widest.unwrap_or(0) + letters) / step.max(1) + 1;
        for (back, (at, label)) in self.labels.iter().enumerate().rev().enumerate() {
            if back % every.unsigned_abs().max(1) as usize != 0 {
                continue;
            }
            let x = across.place(at);
            let y = top - letters / 2;
            pen.hair(area, &[(x, y - letters / 2), (x, y)], Tone::Edge, Stroke::Solid)?;
            for (line, text) in label.iter().enumerate() {
                let wide = pen.size(text).0;
                let limit = across.right + letters - wide;
                let at = (
                    (x - wide / 2).min(limit).max(0),
                    y + letters / 2 + line as i32 * letters * 3 / 2,
                );
                pen.write(area, text, at, Tone::Faint)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(values: &[f64]) -> SeriesPanel {
        let points = values.iter().enumerate();
        let points =
            points.map(|(at, value)| Scatter { at, middle: *value, ends: [*value, *value] });
        SeriesPanel {
            title: String::new(),
            unit: "s",
            points: points.collect(),
            levels: Vec::new(),
            marks: Vec::new(),
        }
    }

    #[test]
    fn a_panel_spans_its_values_and_has_a_few_ticks() {
        for values in [&[1.0, 1.001][..], &[10.1e-3, 11.3e-3], &[1e-6, 5e-3], &[0.7], &[3.0; 9]] {
            let heights = Heights::of(&panel(values)).unwrap();
            assert!((2..=9).contains(&heights.ticks.len()), "{:?}", heights.ticks);
            for value in values {
                assert!(heights.low < *value && *value < heights.high, "{value}");
            }
            assert!(heights.high - heights.low >= 0.1 * values[0], "{values:?}");
        }
        assert!(Heights::of(&panel(&[])).is_none());
        assert!(Heights::of(&panel(&[f64::NAN, 0.0])).is_none());
    }
}
