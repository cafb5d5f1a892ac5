//! The roofline: rate over arithmetic intensity, roofs, ridge points, and kernels as marks.

use plotters::prelude::DrawingBackend;

use super::axis::{Axis, Margins, panel};
use super::labels::Labels;
use super::pen::{Line, Mark, Pen};
use super::sweep::pixels;
use super::{Area, Drawn, Failed, Figure};
use crate::report::numbers::{digits, si};

/// Roofs and marks on logarithmic axes.
#[derive(Debug, Clone)]
pub(crate) struct Roofline {
    pub(crate) title: String,
    /// The names of the series, in order.
    pub(crate) series: Vec<String>,
    pub(crate) roofs: Vec<Roof>,
    pub(crate) points: Vec<Point>,
    /// Said below the title.
    pub(crate) remark: String,
}

/// A roof of one series.
#[derive(Debug, Clone)]
pub(crate) struct Roof {
    pub(crate) series: usize,
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
    /// Bytes per second.
    Memory(f64),
    /// Operations per second.
    Compute(f64),
}

/// A kernel.
#[derive(Debug, Clone)]
pub(crate) struct Point {
    pub(crate) series: usize,
    /// Operations per byte.
    pub(crate) intensity: f64,
    /// Operations per second.
    pub(crate) rate: f64,
    pub(crate) label: String,
}

/// The label of a series, and the pixels beside one of which it belongs, best first.
type Anchored = (usize, String, [(i32, i32); 3]);

impl Figure for Roofline {
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, pen: &Pen) -> Drawn<DB> {
        let head = self.head(area, pen)?;
        let (_, body) = area.split_vertically(head);
        let ridges: Vec<(usize, f64, f64)> = self.ridges();
        let (unit, rate) = self.units();
        let intensities = self.points.iter().map(|point| point.intensity);
        // A decade to both sides of the ridge points shows slope and flat.
        let around = ridges.iter().flat_map(|(_, ridge, _)| [ridge / 10.0, ridge * 10.0]);
        let title = format!("arithmetic intensity [{unit}]");
        let x = Axis::round(&title, "", intensities.chain(around));
        let Some(x) = x.filter(|_| !self.points.is_empty()) else {
            let at = (pen.letters as i32 * 2, pen.letters as i32 * 3);
            let text = "nothing to draw: no operations, or no bytes, so no arithmetic intensity";
            return pen.write(&body, text, at, pen.ink);
        };
        let lowest = self.roofs.iter().filter_map(|roof| match roof.kind {
            RoofKind::Memory(bandwidth) => Some(bandwidth * x.low),
            RoofKind::Compute(_) => None,
        });
        let rates = self.points.iter().map(|point| point.rate);
        let peaks = ridges.iter().map(|(_, _, peak)| peak * 1.3);
        let y = Axis::round("attainable rate", rate, rates.chain(lowest).chain(peaks));
        let Some(y) = y else { return Ok(()) };
        let chart = panel(&body, pen, &x, &y, Margins::of(pen, &x, &[&y]))?;
        let place = pixels(&chart);
        let (across, down) = chart.plotting_area().get_pixel_range();
        let screen = area.use_screen_coord();
        let mut labels = Labels::within(across, down);
        let roofs = self.roofs(&screen, pen, &place, (&x, &y), &mut labels)?;
        for (series, ridge, peak) in &ridges {
            let (at, foot) = (place(*ridge, *peak), place(*ridge, y.low));
            pen.hair(&screen, &[at, foot], pen.colour(*series), Line::Dotted)?;
        }
        for (series, ridge, _) in &ridges {
            let label = format!("ridge point {}", digits(*ridge));
            let size = pen.size(&label);
            let room = (size.0 + 8, size.1);
            if let Some(corner) = labels.right_of(place(*ridge, y.low), room) {
                // Ridge points lie close together: their lines pass behind the labels.
                pen.clear(&screen, corner, size)?;
                pen.write(&screen, &label, corner, pen.colour(*series))?;
            }
        }
        for (_, ridge, peak) in &ridges {
            labels.avoid_line(place(*ridge, *peak), place(*ridge, y.low));
        }
        for point in &self.points {
            labels.avoid(place(point.intensity, point.rate), pen.radius());
        }
        for (series, label, anchors) in roofs {
            let size = pen.size(&label);
            let corner = anchors.iter().find_map(|anchor| labels.beside(*anchor, 2, size));
            if let Some(corner) = corner {
                pen.write(&screen, &label, corner, pen.colour(series))?;
            }
        }
        for point in &self.points {
            let at = place(point.intensity, point.rate);
            pen.mark(&screen, Mark::nth(point.series), at, pen.radius(), pen.colour(point.series))?;
            // The same kernel on several devices lies at one intensity: one label stands for all.
            let again = |other: &Point| other.label == point.label && other.series < point.series;
            if self.points.iter().any(again) {
                continue;
            }
            let label = pen.fitted(&point.label, 30 * pen.letters as i32);
            if let Some(corner) = labels.beside(at, pen.radius(), pen.size(&label)) {
                pen.write(&screen, &label, corner, pen.ink)?;
            }
        }
        Ok(())
    }
}

impl Roofline {
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

    fn head<DB: DrawingBackend>(&self, area: &Area<DB>, pen: &Pen) -> Result<u32, Failed<DB>> {
        let letters = pen.letters as i32;
        let (width, left) = (area.dim_in_pixel().0 as i32, letters);
        let mut top = letters;
        pen.write(area, &pen.fitted(&self.title, width - 2 * left), (left, top), pen.ink)?;
        top += letters * 3 / 2;
        let mut x = left;
        for (series, name) in self.series.iter().enumerate() {
            let label = pen.fitted(name, width - 2 * left - 2 * letters);
            let wide = 2 * letters + pen.size(&label).0;
            if x > left && x + wide > width - left {
                x = left;
                top += letters * 3 / 2;
            }
            let at = (x + letters / 2, top + letters / 2);
            pen.mark(area, Mark::nth(series), at, pen.radius(), pen.colour(series))?;
            pen.write(area, &label, (x + letters * 3 / 2, top), pen.ink)?;
            x += wide + letters;
        }
        if !self.series.is_empty() {
            top += letters * 3 / 2;
        }
        pen.write(area, &pen.fitted(&self.remark, width - 2 * left), (left, top), pen.faint)?;
        Ok((top + letters * 3 / 2).unsigned_abs())
    }

    /// Where each compute roof of the datasheet meets its memory roof, with the peak.
    fn ridges(&self) -> Vec<(usize, f64, f64)> {
        let theoretical = || self.roofs.iter().filter(|roof| !roof.is_achievable);
        let found = theoretical().filter_map(|roof| {
            let RoofKind::Compute(peak) = roof.kind else { return None };
            let bandwidth = theoretical().find_map(|other| match other.kind {
                RoofKind::Memory(bandwidth) if other.series == roof.series => Some(bandwidth),
                _ => None,
            })?;
            Some((roof.series, peak / bandwidth, peak))
        });
        found.collect()
    }

    /// Draws the lines of the roofs; returns their labels with the place beside which each belongs.
    fn roofs<DB: DrawingBackend>(
        &self,
        screen: &Area<DB>,
        pen: &Pen,
        place: &impl Fn(f64, f64) -> (i32, i32),
        (x, y): (&Axis, &Axis),
        labels: &mut Labels,
    ) -> Result<Vec<Anchored>, Failed<DB>> {
        let mut names = Vec::new();
        for roof in &self.roofs {
            let line = if roof.is_achievable { Line::Dashed } else { Line::Solid };
            let colour = pen.colour(roof.series);
            let same = |other: &&Roof| {
                other.series == roof.series && other.is_achievable == roof.is_achievable
            };
            let (text, anchors) = match roof.kind {
                RoofKind::Memory(bandwidth) => {
                    let peaks =
                        self.roofs.iter().filter(same).filter_map(|other| match other.kind {
                            RoofKind::Compute(peak) => Some(peak),
                            RoofKind::Memory(_) => None,
                        });
                    let peak = peaks.fold(0.0, f64::max);
                    let end = if peak > 0.0 { (peak / bandwidth).min(x.high) } else { x.high };
                    let start = x.low.max(y.low / bandwidth);
                    let ends = [place(start, start * bandwidth), place(end, end * bandwidth)];
                    pen.line(screen, &ends, colour, line)?;
                    labels.avoid_line(ends[0], ends[1]);
                    let along = |share: f64| start * (end / start).powf(share);
                    let at = |share: f64| place(along(share), along(share) * bandwidth);
                    (si(bandwidth, "B/s"), [at(0.5), at(0.25), at(0.75)])
                }
                RoofKind::Compute(peak) => {
                    let bandwidth =
                        self.roofs.iter().filter(same).find_map(|other| match other.kind {
                            RoofKind::Memory(bandwidth) => Some(bandwidth),
                            RoofKind::Compute(_) => None,
                        });
                    let start = bandwidth.map_or(x.low, |bandwidth| peak / bandwidth).max(x.low);
                    let ends = [place(start, peak), place(x.high, peak)];
                    pen.line(screen, &ends, colour, line)?;
                    labels.avoid_line(ends[0], ends[1]);
                    let rate = si(peak, &format!("{}/s", roof.operation));
                    let along = |share: f64| place(start * (x.high / start).powf(share), peak);
                    (rate, [along(0.75), along(0.5), along(0.25)])
                }
            };
            // Colour alone does not tell whose roof it is.
            let owner = match self.series.get(roof.series) {
                Some(series) if self.series.len() > 1 => format!("{series}: "),
                _ => String::new(),
            };
            if !(roof.is_achievable && self.series.len() > 1) {
                names.push((roof.series, format!("{owner}{} {text}", roof.label), anchors));
            }
        }
        Ok(names)
    }
}
