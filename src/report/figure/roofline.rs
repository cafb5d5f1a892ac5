//! The roofline: rate over arithmetic intensity, roofs, ridge points, and kernels as marks.

use std::collections::BTreeSet;

use plotters::prelude::DrawingBackend;

use super::axis::{Axis, Margins, panel};
use super::labels::Labels;
use super::pen::{Line, Look, Pen};
use super::sweep::pixels;
use super::{Area, Drawn, Failed, Figure, head};
use crate::report::numbers::{digits, si};

/// Roofs and marks on logarithmic axes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Roofline {
    pub(crate) title: String,
    /// What the marks mean.
    pub(crate) legend: Vec<(Look, String)>,
    /// Whose the roofs are, where there are several.
    pub(crate) owners: Vec<String>,
    pub(crate) roofs: Vec<Roof>,
    pub(crate) points: Vec<Point>,
    /// Said below the title, a line each.
    pub(crate) remarks: Vec<String>,
}

/// A roof.
#[derive(Debug, Clone)]
pub(crate) struct Roof {
    /// Whose it is; roofs of one owner meet each other.
    pub(crate) owner: usize,
    /// Position of its color.
    pub(crate) color: usize,
    /// `FLOP` or `OP`.
    pub(crate) operation: &'static str,
    pub(crate) label: String,
    pub(crate) kind: RoofKind,
    /// What benchmarks reach, rather than what the datasheet says.
    pub(crate) is_achievable: bool,
}

/// Which side of the model a roof belongs to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum RoofKind {
    /// Bytes per second; the first memory roof of an owner is that of its device memory.
    Memory(f64),
    /// Operations per second.
    Compute(f64),
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

/// The label of a roof, its color, and the pixels beside one of which it belongs, best first.
type Anchored = (usize, String, [(i32, i32); 3]);

/// The axes, and where their values lie on the screen.
struct Chart<'a, Place> {
    place: &'a Place,
    x: &'a Axis,
    y: &'a Axis,
}

impl Figure for Roofline {
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, pen: &Pen) -> Drawn<DB> {
        let height = head(area, pen, &self.title, &self.legend, &self.remarks)?;
        let (_, body) = area.split_vertically(height);
        let ridges = self.ridges();
        let Some((x, y)) = self.axes(&ridges) else {
            let at = (pen.letters as i32 * 2, pen.letters as i32 * 3);
            let text = "nothing to draw: no operations, or no bytes, so no arithmetic intensity";
            return pen.write(&body, text, at, pen.ink);
        };
        let drawn = panel(&body, pen, &x, &y, Margins::of(pen, &x, &[&y]))?;
        let place = pixels(&drawn);
        let chart = Chart { place: &place, x: &x, y: &y };
        let (across, down) = drawn.plotting_area().get_pixel_range();
        let screen = area.use_screen_coord();
        let mut labels = Labels::within(across, down);
        let roofs = self.roofs(&screen, pen, &chart, &mut labels)?;
        // Where there is no room, labels lie upon the lines of ridge points and upon marks without one.
        let mut crowded = labels.clone();
        Self::draw_ridges(&screen, pen, &chart, &ridges, (&mut labels, &mut crowded))?;
        self.marks(&screen, pen, &chart, &mut labels, &mut crowded)?;
        for (color, label, anchors) in roofs {
            let size = pen.size(&label);
            let free = |labels: &mut Labels| {
                anchors.iter().find_map(|anchor| labels.beside(*anchor, 2, size))
            };
            let corner = match free(&mut labels) {
                Some(corner) => {
                    crowded.take(corner, size);
                    Some(corner)
                }
                None => free(&mut crowded).inspect(|corner| labels.take(*corner, size)),
            };
            if let Some(corner) = corner {
                pen.clear(&screen, corner, size)?;
                pen.write(&screen, &label, corner, pen.color(color))?;
            }
        }
        self.names(&screen, pen, &chart, (&mut labels, &mut crowded))
    }
}

impl Roofline {
    /// Axes that hold every mark, every ridge point and the beginning of every roof.
    fn axes(&self, ridges: &[(usize, f64, f64)]) -> Option<(Axis, Axis)> {
        let (unit, rate) = self.units();
        let before = self.points.iter().filter_map(|point| point.before);
        let levels = self.points.iter().flat_map(|point| &point.levels);
        let intensities = self.points.iter().map(|point| point.intensity);
        let intensities = intensities
            .chain(before.clone().map(|(intensity, _)| intensity))
            .chain(levels.map(|(_, intensity)| *intensity));
        // A decade to both sides of the ridge points shows slope and flat.
        let around = ridges.iter().flat_map(|(_, ridge, _)| [ridge / 10.0, ridge * 10.0]);
        let title = format!("arithmetic intensity [{unit}]");
        let x = Axis::round(&title, "", intensities.chain(around));
        let x = x.filter(|_| !self.points.is_empty())?;
        // Roofs of caches rise steeply: that of the device memory decides where the picture begins.
        let lowest = self.memory_roofs(false).map(|(_, bandwidth)| bandwidth * x.low);
        let lowest = lowest.fold(f64::INFINITY, f64::min);
        let rates = self.points.iter().map(|point| point.rate);
        let rates = rates.chain(before.map(|(_, rate)| rate));
        let peaks = ridges.iter().map(|(_, _, peak)| peak * 1.3);
        let y = Axis::round("performance", rate, rates.chain([lowest]).chain(peaks))?;
        Some((x, y))
    }

    /// Units of the axes; integer and floating-point work on one picture share them.
    fn units(&self) -> (&'static str, &'static str) {
        let compute = || self.roofs.iter().filter(|roof| matches!(roof.kind, RoofKind::Compute(_)));
        let integer = compute().filter(|roof| roof.operation == "OP").count();
        match integer {
            0 => ("FLOP/B", "FLOP/s"),
            all if all == compute().count() => ("OP/B", "OP/s"),
            _ => ("FLOP/B, OP/B", "/s"),
        }
    }

    /// Owner and bandwidth of the memory roofs.
    fn memory_roofs(&self, is_achievable: bool) -> impl Iterator<Item = (usize, f64)> {
        let of_set = self.roofs.iter().filter(move |roof| roof.is_achievable == is_achievable);
        of_set.filter_map(|roof| match roof.kind {
            RoofKind::Memory(bandwidth) => Some((roof.owner, bandwidth)),
            RoofKind::Compute(_) => None,
        })
    }

    /// Where each compute roof of the datasheet meets the roof of the device memory: color, intensity,
    /// peak.
    fn ridges(&self) -> Vec<(usize, f64, f64)> {
        let theoretical = self.roofs.iter().filter(|roof| !roof.is_achievable);
        let found = theoretical.filter_map(|roof| {
            let RoofKind::Compute(peak) = roof.kind else { return None };
            let mut memory = self.memory_roofs(false);
            let (_, bandwidth) = memory.find(|(owner, _)| *owner == roof.owner)?;
            Some((roof.color, peak / bandwidth, peak))
        });
        found.collect()
    }

    fn draw_ridges<DB: DrawingBackend>(
        screen: &Area<DB>,
        pen: &Pen,
        chart: &Chart<'_, impl Fn(f64, f64) -> (i32, i32)>,
        ridges: &[(usize, f64, f64)],
        (labels, crowded): (&mut Labels, &mut Labels),
    ) -> Drawn<DB> {
        let (place, low) = (chart.place, chart.y.low);
        for (color, ridge, peak) in ridges {
            let (at, foot) = (place(*ridge, *peak), place(*ridge, low));
            pen.hair(screen, &[at, foot], pen.color(*color), Line::Dotted)?;
        }
        for (color, ridge, _) in ridges {
            let label = format!("ridge point {}", digits(*ridge));
            let size = pen.size(&label);
            let room = (size.0 + 8, size.1);
            if let Some(corner) = labels.right_of(place(*ridge, low), room) {
                // Ridge points lie close together: their lines pass behind the labels.
                crowded.take(corner, size);
                pen.clear(screen, corner, size)?;
                pen.write(screen, &label, corner, pen.color(*color))?;
            }
        }
        for (_, ridge, peak) in ridges {
            labels.avoid_line(place(*ridge, *peak), place(*ridge, low));
        }
        Ok(())
    }

    /// Draws the marks, the greatest first, so that small ones lie upon them.
    fn marks<DB: DrawingBackend>(
        &self,
        screen: &Area<DB>,
        pen: &Pen,
        chart: &Chart<'_, impl Fn(f64, f64) -> (i32, i32)>,
        labels: &mut Labels,
        crowded: &mut Labels,
    ) -> Drawn<DB> {
        let place = chart.place;
        let mut order: Vec<&Point> = self.points.iter().collect();
        order.sort_by(|one, two| two.share.unwrap_or(0.0).total_cmp(&one.share.unwrap_or(0.0)));
        let mut drawn = BTreeSet::new();
        for point in order {
            let (at, radius) =
                (place(point.intensity, point.rate), pen.radius_of(point.share, self.points.len()));
            if let Some((intensity, rate)) = point.before {
                let before = place(intensity, rate);
                pen.hair(screen, &[before, at], pen.faint, Line::Solid)?;
                pen.mark(screen, point.look.hollow(), before, pen.radius(), pen.faint)?;
                labels.avoid(before, pen.radius());
                crowded.avoid(before, pen.radius());
            }
            // Thousands of small kernels share pixels: one mark of each kind is seen.
            if drawn.insert((at, radius, point.look)) {
                pen.mark(screen, point.look, at, radius, pen.color(point.look.color))?;
                labels.avoid(at, radius);
            }
            if point.label.is_some() {
                crowded.avoid(at, radius);
            }
        }
        for point in &self.points {
            Self::joined(screen, pen, chart, point, (labels, crowded))?;
        }
        Ok(())
    }

    /// The levels of one kernel, at its rate.
    fn joined<DB: DrawingBackend>(
        screen: &Area<DB>,
        pen: &Pen,
        chart: &Chart<'_, impl Fn(f64, f64) -> (i32, i32)>,
        point: &Point,
        (labels, crowded): (&mut Labels, &mut Labels),
    ) -> Drawn<DB> {
        // One level alone is where the kernel is.
        if point.levels.len() > 1 {
            let at = |intensity: f64| (chart.place)(intensity, point.rate);
            let intensities = point.levels.iter().map(|(_, intensity)| *intensity);
            let mut places: Vec<(i32, i32)> = intensities.map(at).collect();
            places.sort_unstable();
            pen.hair(screen, &places, pen.color(point.look.color), Line::Solid)?;
            for (level, intensity) in &point.levels {
                let (at, radius) = (at(*intensity), (pen.radius() / 2).max(2));
                let look = point.look.hollow();
                pen.mark(screen, look, at, radius, pen.color(look.color))?;
                for labels in [&mut *labels, &mut *crowded] {
                    labels.avoid(at, radius);
                }
                let size = pen.size(level);
                if let Some(corner) = labels.beside(at, radius, size) {
                    crowded.take(corner, size);
                    pen.write(screen, level, corner, pen.ink)?;
                }
            }
        }
        Ok(())
    }

    /// The names of the kernels, in their order, without overlap.
    fn names<DB: DrawingBackend>(
        &self,
        screen: &Area<DB>,
        pen: &Pen,
        chart: &Chart<'_, impl Fn(f64, f64) -> (i32, i32)>,
        (labels, crowded): (&mut Labels, &mut Labels),
    ) -> Drawn<DB> {
        let mut said = BTreeSet::new();
        for point in &self.points {
            // The same kernel on several devices lies at one intensity: one label stands for all.
            let Some(label) = point.label.as_ref().filter(|label| said.insert(*label)) else {
                continue;
            };
            let label = pen.fitted(label, 30 * pen.letters as i32);
            let at = (chart.place)(point.intensity, point.rate);
            let (size, radius) = (pen.size(&label), pen.radius_of(point.share, self.points.len()));
            let corner = match labels.beside(at, radius, size) {
                Some(corner) => {
                    crowded.take(corner, size);
                    Some(corner)
                }
                None => {
                    crowded.beside(at, radius, size).inspect(|corner| labels.take(*corner, size))
                }
            };
            let Some(corner) = corner else { continue };
            let nearest =
                (at.0.clamp(corner.0, corner.0 + size.0), at.1.clamp(corner.1, corner.1 + size.1));
            let far = (nearest.0 - at.0).abs().max((nearest.1 - at.1).abs());
            if far > radius + pen.letters as i32 {
                // From the rim of the mark, not from its middle.
                let rim = |from: i32, to: i32| from + (to - from) * radius / far;
                let rim = (rim(at.0, nearest.0), rim(at.1, nearest.1));
                pen.hair(screen, &[rim, nearest], pen.faint, Line::Solid)?;
            }
            pen.clear(screen, corner, size)?;
            pen.write(screen, &label, corner, pen.ink)?;
        }
        Ok(())
    }

    /// Draws the lines of the roofs; returns their labels with the places beside which each belongs.
    fn roofs<DB: DrawingBackend>(
        &self,
        screen: &Area<DB>,
        pen: &Pen,
        chart: &Chart<'_, impl Fn(f64, f64) -> (i32, i32)>,
        labels: &mut Labels,
    ) -> Result<Vec<Anchored>, Failed<DB>> {
        let (place, x, y) = (chart.place, chart.x, chart.y);
        let mut names = Vec::new();
        for roof in &self.roofs {
            let line = if roof.is_achievable { Line::Dashed } else { Line::Solid };
            let same = |other: &&Roof| {
                other.owner == roof.owner && other.is_achievable == roof.is_achievable
            };
            let (ends, text, shares): (_, _, [f64; 3]) = match roof.kind {
                RoofKind::Memory(bandwidth) => {
                    let peaks =
                        self.roofs.iter().filter(same).filter_map(|other| match other.kind {
                            RoofKind::Compute(peak) => Some(peak),
                            RoofKind::Memory(_) => None,
                        });
                    let peak = peaks.fold(0.0, f64::max);
                    let end = if peak > 0.0 { (peak / bandwidth).min(x.high) } else { x.high };
                    let start = x.low.max(y.low / bandwidth);
                    let ends = [(start, start * bandwidth), (end, end * bandwidth)];
                    (ends, si(bandwidth, "B/s"), [0.5, 0.25, 0.75])
                }
                RoofKind::Compute(peak) => {
                    // The fastest memory reaches the peak first.
                    let memory = self.memory_roofs(roof.is_achievable);
                    let fastest = memory.filter(|(owner, _)| *owner == roof.owner);
                    let fastest = fastest.map(|(_, bandwidth)| bandwidth).fold(0.0, f64::max);
                    let start = if fastest > 0.0 { (peak / fastest).max(x.low) } else { x.low };
                    let text = si(peak, &format!("{}/s", roof.operation));
                    ([(start, peak), (x.high, peak)], text, [0.75, 0.5, 0.25])
                }
            };
            let [(start, from), (end, to)] = ends;
            if start >= end {
                continue; // all of it lies outside the picture
            }
            let pixels = [place(start, from), place(end, to)];
            pen.line(screen, &pixels, pen.color(roof.color), line)?;
            labels.avoid_line(pixels[0], pixels[1]);
            let along = |share: f64| {
                place(start * (end / start).powf(share), from * (to / from).powf(share))
            };
            // Color alone does not tell whose roof it is.
            let owner = match self.owners.get(roof.owner) {
                Some(owner) if self.owners.len() > 1 => format!("{owner}: "),
                _ => String::new(),
            };
            if !(roof.is_achievable && self.owners.len() > 1) {
                let name = format!("{owner}{} {text}", roof.label);
                names.push((roof.color, name, shares.map(along)));
            }
        }
        Ok(names)
    }
}
