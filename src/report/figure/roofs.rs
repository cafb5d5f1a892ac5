//! Roofs of a roofline: where they run, how they are drawn, and what the legend says of them.

use plotters::prelude::DrawingBackend;

use super::axis::Axis;
use super::caption::Key;
use super::labels::Labels;
use super::pen::{Pen, Stroke, Tone};
use super::{Area, Drawn};
use crate::report::numbers::{digits, si};

/// A roof.
#[derive(Debug, Clone)]
pub(crate) struct Roof {
    /// Whose it is; roofs of one owner meet each other.
    pub(crate) owner: usize,
    pub(crate) tone: Tone,
    /// `FLOP` or `OP`.
    pub(crate) operation: &'static str,
    pub(crate) label: String,
    pub(crate) kind: RoofKind,
    /// What the hardware does at most: bytes or operations per second.
    pub(crate) rate: f64,
    /// What published benchmarks reach.
    pub(crate) achievable: Option<f64>,
    /// The lowest that a kernel was compared with, where clocks differ.
    pub(crate) lowest: f64,
}

/// Which side of the model a roof belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoofKind {
    /// The first memory roof of an owner is that of its device memory.
    Memory,
    Compute,
}

/// Where a compute roof meets the roof of the device memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ridge {
    tone: Tone,
    pub(super) intensity: f64,
    pub(super) peak: f64,
}

/// The axes, and where their values lie on the screen.
pub(super) struct Chart<'a, Place> {
    pub(super) place: &'a Place,
    pub(super) x: &'a Axis,
    pub(super) y: &'a Axis,
}

/// Roofs with their owners, where there are several.
#[derive(Debug, Clone, Copy)]
pub(super) struct Roofs<'a> {
    pub(super) all: &'a [Roof],
    pub(super) owners: &'a [String],
}

impl Roof {
    fn unit(&self) -> String {
        match self.kind {
            RoofKind::Memory => "B/s".to_owned(),
            RoofKind::Compute => format!("{}/s", self.operation),
        }
    }
}

impl Roofs<'_> {
    /// Samples and rates of all roofs, for the legend.
    pub(super) fn legend(&self) -> Vec<Vec<(Key, String)>> {
        let text = |roof: &Roof| {
            let rate = si(roof.rate, &roof.unit());
            let real =
                roof.achievable.map(|real| format!(", achievable {}", si(real, &roof.unit())));
            format!("{}{} {rate}{}", self.owner(roof), roof.label, real.unwrap_or_default())
        };
        let group = |owner: usize| {
            let own = self.all.iter().filter(move |roof| roof.owner == owner);
            own.map(|roof| (Key::Line(roof.tone, Stroke::Solid), text(roof))).collect()
        };
        let last = self.all.iter().map(|roof| roof.owner).max();
        last.map_or_else(Vec::new, |last| (0..=last).map(group).collect())
    }

    /// Color alone does not say whose roof it is.
    fn owner(&self, roof: &Roof) -> String {
        match self.owners.get(roof.owner) {
            Some(owner) if self.owners.len() > 1 => format!("{owner}: "),
            _ => String::new(),
        }
    }

    /// Roofs of one owner on one side.
    fn of(&self, owner: usize, kind: RoofKind) -> impl Iterator<Item = &Roof> {
        self.all.iter().filter(move |roof| roof.owner == owner && roof.kind == kind)
    }

    /// Where each compute roof meets the roof of the device memory.
    pub(super) fn ridges(&self) -> Vec<Ridge> {
        let found = self.all.iter().filter_map(|roof| {
            let memory = self.of(roof.owner, RoofKind::Memory).next()?;
            let intensity = roof.rate / memory.rate;
            let is_compute = roof.kind == RoofKind::Compute;
            is_compute.then_some(Ridge { tone: roof.tone, intensity, peak: roof.rate })
        });
        found.collect()
    }

    /// From where to where a roof runs at a rate; `rate` picks that of the roofs it meets.
    fn ends(
        &self,
        roof: &Roof,
        at: f64,
        rate: impl Fn(&Roof) -> Option<f64>,
        (x, y): (&Axis, &Axis),
    ) -> Option<[(f64, f64); 2]> {
        let most = |kind| self.of(roof.owner, kind).filter_map(&rate).fold(0.0, f64::max);
        let ends = match roof.kind {
            RoofKind::Memory => {
                let peak = most(RoofKind::Compute);
                let end = if peak > 0.0 { (peak / at).min(x.high) } else { x.high };
                let (start, end) = (x.low.max(y.low / at), end.min(y.high / at));
                [(start, start * at), (end, end * at)]
            }
            RoofKind::Compute => {
                // The fastest memory reaches the peak first.
                let fastest = most(RoofKind::Memory);
                let start = if fastest > 0.0 { (at / fastest).max(x.low) } else { x.low };
                [(start, at), (x.high, at)]
            }
        };
        // All of it may lie outside the picture.
        (ends[0].0 < ends[1].0).then_some(ends)
    }

    /// Draws the lines of all roofs and keeps them free of labels.
    pub(super) fn draw<DB: DrawingBackend>(
        &self,
        screen: &Area<DB>,
        pen: &Pen,
        chart: &Chart<'_, impl Fn(f64, f64) -> (i32, i32)>,
        labels: &mut Labels,
    ) -> Drawn<DB> {
        let axes = (chart.x, chart.y);
        let pixels = |ends: [(f64, f64); 2]| ends.map(|(x, y)| (chart.place)(x, y));
        for roof in self.all {
            let Some(ends) = self.ends(roof, roof.rate, |other| Some(other.rate), axes) else {
                continue;
            };
            if roof.lowest < roof.rate * 0.98 {
                let low = self.ends(roof, roof.lowest, |other| Some(other.lowest), axes);
                let low = low.map(pixels).unwrap_or_default();
                let [from, to] = pixels(ends);
                pen.fill(screen, vec![from, to, low[1], low[0]], roof.tone, 0.12)?;
            }
            let dashed = roof.achievable.filter(|real| *real < roof.rate * 0.995);
            if let Some(real) = dashed {
                let real = self.ends(roof, real, |other| other.achievable, axes).map(pixels);
                if let Some([from, to]) = real {
                    pen.hair(screen, &[from, to], roof.tone, Stroke::Dashed)?;
                    labels.avoid_line(from, to);
                }
            }
            let [from, to] = pixels(ends);
            pen.stroke(screen, &[from, to], roof.tone, Stroke::Solid)?;
            labels.avoid_line(from, to);
        }
        for ridge in self.ridges() {
            let ends =
                [ridge.peak, chart.y.low].map(|height| (chart.place)(ridge.intensity, height));
            pen.hair(screen, &ends, ridge.tone, Stroke::Dotted)?;
            labels.avoid_thin(ends[0], ends[1]);
        }
        Ok(())
    }

    /// Writes the roofs' names along their lines, and the ridge points' values at their feet.
    pub(super) fn names<DB: DrawingBackend>(
        &self,
        screen: &Area<DB>,
        pen: &Pen,
        chart: &Chart<'_, impl Fn(f64, f64) -> (i32, i32)>,
        labels: &mut Labels,
    ) -> Drawn<DB> {
        let gap = pen.em() / 3;
        for roof in self.all {
            let axes = (chart.x, chart.y);
            let Some([from, to]) = self.ends(roof, roof.rate, |other| Some(other.rate), axes)
            else {
                continue;
            };
            let name =
                format!("{}{} {}", self.owner(roof), roof.label, si(roof.rate, &roof.unit()));
            let size = pen.size(&name);
            let along = |share: f64| {
                let on = |from: f64, to: f64| from * (to / from).powf(share);
                (chart.place)(on(from.0, to.0), on(from.1, to.1))
            };
            let corners: Vec<(i32, i32)> = match roof.kind {
                // Left above a slope, from its middle outwards.
                RoofKind::Memory => [0.35, 0.5, 0.2, 0.65, 0.1, 0.8]
                    .into_iter()
                    .map(along)
                    .map(|(x, y)| (x - gap - size.0, y - gap - size.1))
                    .collect(),
                // At the right end, above it; then below it, then further left.
                RoofKind::Compute => [1.0, 0.8, 0.6, 0.4, 0.2]
                    .into_iter()
                    .map(along)
                    .flat_map(|(x, y)| {
                        let x = x - gap - size.0;
                        [(x, y - gap - size.1), (x, y + gap)]
                    })
                    .collect(),
            };
            if let Some(corner) = labels.first(corners, size) {
                pen.clear(screen, corner, size)?;
                pen.write(screen, &name, corner, roof.tone)?;
            }
        }
        for ridge in self.ridges() {
            let label = format!("ridge point {}", digits(ridge.intensity));
            let size = pen.size(&label);
            let foot = (chart.place)(ridge.intensity, chart.y.low);
            let heights = (0..6).map(|step| foot.1 - gap - size.1 - step * (size.1 + gap));
            let corners =
                heights.flat_map(|top| [(foot.0 + gap, top), (foot.0 - gap - size.0, top)]);
            if let Some(corner) = labels.first(corners, size) {
                pen.clear(screen, corner, size)?;
                pen.write(screen, &label, corner, ridge.tone)?;
            }
        }
        Ok(())
    }
}
