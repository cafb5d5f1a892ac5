//! The roofline: rate over arithmetic intensity, roofs, ridge points, and kernels as marks.

use std::collections::BTreeSet;

use plotters::prelude::DrawingBackend;

use super::axis::{Axis, Margins, panel};
use super::bars::{self, BarPanel};
use super::caption::{Caption, Key};
use super::labels::Labels;
use super::pen::{Look, Pen, Stroke, Tone};
use super::roofs::{Chart, Ridge, Roof, RoofKind, Roofs};
use super::sweep::pixels;
use super::{Area, Drawn, Figure};
use crate::report::numbers::{count, percent};

/// Roofs and marks on logarithmic axes, and below them bars for what has no place there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Roofline {
    /// Its legend holds the marks; the roofs' is put before it.
    pub(crate) caption: Caption,
    /// Whose the roofs are, where there are several.
    pub(crate) owners: Vec<String>,
    pub(crate) roofs: Vec<Roof>,
    pub(crate) points: Vec<Point>,
    /// Kernels without a place on the axes.
    pub(crate) bars: Vec<BarPanel>,
}

/// A kernel.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    pub(crate) look: Look,
    /// Operations per byte.
    pub(crate) intensity: f64,
    /// Operations per second.
    pub(crate) rate: f64,
    /// Share of the time, which is the area of the mark; an ordinary mark without one.
    pub(crate) share: Option<f64>,
    pub(crate) label: Option<String>,
    /// Levels of the memory hierarchy and the intensity at each, joined by a line.
    pub(crate) levels: Vec<(&'static str, f64)>,
    /// Intensity and rate before a change.
    pub(crate) before: Option<(f64, f64)>,
}

/// Kernels with less of the time decide nothing, and so do not widen the axes either.
const MATTERS: f64 = 0.01;

impl Point {
    fn matters(&self) -> bool {
        self.share.is_none_or(|share| share >= MATTERS)
    }
}

/// Smallest sides of the panel that axes are laid out for, in pixels.
struct Room {
    across: i32,
    down: i32,
}

const NOTHING: &str = "nothing to draw: no kernel has a duration with operations or bytes";

impl Figure for Roofline {
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, pen: &Pen) -> Drawn<DB> {
        let below = self.below(pen);
        let (width, height) = area.dim_in_pixel();
        // The marks are the picture: bars have what is left.
        let below = below.min(height as i32 * 2 / 5);
        let caption_height = self.complete(&[]).height(pen, width as i32);
        let down = (height as i32 - below - caption_height) * 7 / 10;
        let room = Room { across: width as i32 * 7 / 10, down: down.max(1) };
        let axes = self.axes(&room, pen);
        let (shown, left_out): (Vec<&Point>, Vec<&Point>) = match &axes {
            Some(axes) => {
                self.points.iter().partition(|point| self.is_within(point, axes, &room, pen))
            }
            None => (Vec::new(), Vec::new()),
        };
        let body = self.complete(&left_out).draw(area, pen)?;
        let Some((x, y)) = axes else {
            return bars::draw(&self.bars, &body, pen, NOTHING);
        };
        let split = body.dim_in_pixel().1 as i32 - below;
        let (upper, lower) = body.split_vertically(split);
        if below > 0 {
            bars::draw(&self.bars, &lower.margin(pen.em(), 0, 0, 0), pen, "")?;
        }
        let drawn = panel(&upper, pen, &x, &y, Margins::of(pen, &x, &[&y]))?;
        let place = pixels(&drawn);
        let chart = Chart { place: &place, x: &x, y: &y };
        let (across, down) = drawn.plotting_area().get_pixel_range();
        let screen = upper.use_screen_coord();
        let mut labels = Labels::within(&across, &down, pen.em());
        let roofs = self.roofs();
        roofs.draw(&screen, pen, &chart, &mut labels)?;
        self.marks(&shown, &screen, pen, &chart, &mut labels)?;
        // The legend has the roofs, too: kernels take the better places.
        self.names(&shown, &screen, pen, &chart, &mut labels)?;
        roofs.names(&screen, pen, &chart, &mut labels)
    }

    fn height(&self, width: u32, pen: &Pen) -> u32 {
        let below = self.below(pen);
        let caption = self.complete(&[]).height(pen, width as i32);
        if self.points.is_empty() {
            return (caption + below.max(pen.em() * 4)).unsigned_abs();
        }
        // Letters have a least size: below a narrow picture's long caption the axes keep their room.
        let axes = (width as i32 * 2 / 5).max(pen.em() * 14);
        ((width as i32 * 2 / 3).max(caption + axes) + below).unsigned_abs()
    }
}

impl Roofline {
    const fn roofs(&self) -> Roofs<'_> {
        Roofs { all: self.roofs.as_slice(), owners: self.owners.as_slice() }
    }

    /// The height of the bars below the marks.
    fn below(&self, pen: &Pen) -> i32 {
        if self.bars.is_empty() { 0 } else { bars::height(&self.bars, pen) + pen.em() }
    }

    /// The caption with the roofs, and with what the axes leave out.
    fn complete(&self, left_out: &[&Point]) -> Caption {
        let mut caption = self.caption.clone();
        if !self.points.is_empty() {
            let mut legend = self.roofs().legend();
            if self.roofs.iter().any(|roof| roof.achievable.is_some())
                && let Some(last) = legend.last_mut()
            {
                let text = "dashed: achievable rates".to_owned();
                last.push((Key::Line(Tone::Faint, Stroke::Dashed), text));
            }
            legend.append(&mut caption.legend);
            caption.legend = legend;
        }
        if !left_out.is_empty() {
            let share: f64 = left_out.iter().filter_map(|point| point.share).sum();
            let kernels = count(left_out.len() as u64, "kernel", "kernels");
            caption.notes.push(format!(
                "outside the axes: {kernels} with less than 1% of the time each ({} in total)",
                percent(share)
            ));
        }
        caption
    }

    /// Axes that hold the marks of the kernels that matter, and the ridge points.
    fn axes(&self, room: &Room, pen: &Pen) -> Option<(Axis, Axis)> {
        let ridges = self.roofs().ridges();
        let any = self.points.iter().any(Point::matters);
        let matter = || self.points.iter().filter(move |point| !any || point.matters());
        let radius = |point: &Point| pen.radius_of(point.share, self.points.len()) + pen.em() / 2;
        let before = || matter().filter_map(|point| point.before);
        let levels = matter().flat_map(|point| &point.levels);
        let mut x: Vec<(f64, i32)> =
            matter().map(|point| (point.intensity, radius(point))).collect();
        let mut y: Vec<(f64, i32)> = matter().map(|point| (point.rate, radius(point))).collect();
        if x.is_empty() {
            return None;
        }
        x.extend(before().map(|(intensity, _)| (intensity, pen.em())));
        y.extend(before().map(|(_, rate)| (rate, pen.em())));
        x.extend(levels.map(|(_, intensity)| (*intensity, pen.em())));
        // Some slope and some flat around each ridge point, and room for a name above the roof.
        let around = |ridge: &Ridge| [(ridge.intensity / 6.0, 0), (ridge.intensity * 4.0, 0)];
        x.extend(ridges.iter().flat_map(around));
        y.extend(
            ridges.iter().flat_map(|ridge| [(ridge.peak / 6.0, 0), (ridge.peak, 2 * pen.em())]),
        );
        let (unit, rate) = self.units();
        let x = Axis::holding(&format!("arithmetic intensity [{unit}]"), "", &x, room.across)?;
        let y = Axis::holding("performance", rate, &y, room.down)?;
        Some((x, y))
    }

    fn is_within(&self, point: &Point, (x, y): &(Axis, Axis), room: &Room, pen: &Pen) -> bool {
        let radius = pen.radius_of(point.share, self.points.len());
        x.holds(point.intensity, radius, room.across) && y.holds(point.rate, radius, room.down)
    }

    /// Units of the axes; integer and floating-point work on one picture share them.
    fn units(&self) -> (&'static str, &'static str) {
        let compute = || self.roofs.iter().filter(|roof| roof.kind == RoofKind::Compute);
        let integer = compute().filter(|roof| roof.operation == "OP").count();
        match integer {
            0 => ("FLOP/B", "FLOP/s"),
            all if all == compute().count() => ("OP/B", "OP/s"),
            _ => ("FLOP/B, OP/B", "FLOP/s, OP/s"),
        }
    }

    /// Draws the marks, the greatest first, so that small ones lie upon them.
    fn marks<DB: DrawingBackend>(
        &self,
        shown: &[&Point],
        screen: &Area<DB>,
        pen: &Pen,
        chart: &Chart<'_, impl Fn(f64, f64) -> (i32, i32)>,
        labels: &mut Labels,
    ) -> Drawn<DB> {
        let place = chart.place;
        let mut order = shown.to_vec();
        order.sort_by(|one, two| two.share.unwrap_or(0.0).total_cmp(&one.share.unwrap_or(0.0)));
        let mut drawn = BTreeSet::new();
        for point in order {
            let at = place(point.intensity, point.rate);
            let radius = pen.radius_of(point.share, self.points.len());
            let before = point.before.filter(|(intensity, rate)| {
                (chart.x.low..chart.x.high).contains(intensity)
                    && (chart.y.low..chart.y.high).contains(rate)
            });
            let before = before.map(|(intensity, rate)| place(intensity, rate));
            // What moved less than a letter did not move.
            let is_apart =
                |(x, y): &(i32, i32)| (x - at.0).abs().max((y - at.1).abs()) > pen.em() / 2;
            if let Some(before) = before.filter(is_apart) {
                pen.hair(screen, &[before, at], Tone::Faint, Stroke::Solid)?;
                let look = Look { tone: Tone::Faint, ..point.look.hollow() };
                pen.mark(screen, look, before, pen.radius())?;
                labels.avoid(before, pen.radius());
                labels.avoid_line(before, at);
            }
            // Thousands of small kernels share pixels: one mark of each kind is seen.
            if drawn.insert((at, radius, point.look)) {
                pen.mark(screen, point.look, at, radius)?;
                labels.avoid(at, radius);
            }
        }
        for point in shown {
            Self::joined(screen, pen, chart, point, labels)?;
        }
        Ok(())
    }

    /// The levels of one kernel, at its rate.
    fn joined<DB: DrawingBackend>(
        screen: &Area<DB>,
        pen: &Pen,
        chart: &Chart<'_, impl Fn(f64, f64) -> (i32, i32)>,
        point: &Point,
        labels: &mut Labels,
    ) -> Drawn<DB> {
        // One level alone is where the kernel is.
        if point.levels.len() > 1 {
            let at = |intensity: f64| (chart.place)(intensity, point.rate);
            let mut places: Vec<(i32, i32)> =
                point.levels.iter().map(|(_, intensity)| at(*intensity)).collect();
            places.sort_unstable();
            pen.hair(screen, &places, point.look.tone, Stroke::Solid)?;
            let radius = pen.radius() / 2;
            for (_, intensity) in &point.levels {
                pen.mark(screen, point.look.hollow(), at(*intensity), radius)?;
                labels.avoid(at(*intensity), radius);
            }
            for (level, intensity) in &point.levels {
                let found = labels.beside(at(*intensity), radius, pen.size(level));
                if let Some(found) = found {
                    pen.write(screen, level, found.corner, Tone::Ink)?;
                }
            }
        }
        Ok(())
    }

    /// The names of the kernels, that with the largest share first, without overlap.
    fn names<DB: DrawingBackend>(
        &self,
        shown: &[&Point],
        screen: &Area<DB>,
        pen: &Pen,
        chart: &Chart<'_, impl Fn(f64, f64) -> (i32, i32)>,
        labels: &mut Labels,
    ) -> Drawn<DB> {
        let mut order = shown.to_vec();
        order.sort_by(|one, two| two.share.unwrap_or(0.0).total_cmp(&one.share.unwrap_or(0.0)));
        let mut said = BTreeSet::new();
        for point in order {
            // The same kernel on several devices lies at one intensity: one label stands for all.
            let Some(label) = point.label.as_ref().filter(|label| said.insert(*label)) else {
                continue;
            };
            let at = (chart.place)(point.intensity, point.rate);
            let radius = pen.radius_of(point.share, self.points.len());
            // Where there is no room for a long name, its beginning says enough.
            let placed = [24, 16, 11, 6].into_iter().find_map(|ems| {
                let label = pen.fitted(label, ems * pen.em());
                let placed = labels.beside(at, radius, pen.size(&label))?;
                Some((label, placed))
            });
            let Some((label, placed)) = placed else { continue };
            if let Some(leader) = placed.leader {
                pen.hair(screen, &leader, Tone::Faint, Stroke::Solid)?;
            }
            pen.clear(screen, placed.corner, pen.size(&label))?;
            pen.write(screen, &label, placed.corner, Tone::Ink)?;
        }
        Ok(())
    }
}
