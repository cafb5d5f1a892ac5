//! Horizontal bars: one row for a kernel, a category or an opportunity, made of segments.

use plotters::element::{PathElement, Rectangle};
use plotters::prelude::DrawingBackend;
use plotters::style::Color;

use super::axis::{linear_ticks, tick};
use super::pen::{Look, Pen};
use super::{Area, Drawn, Figure, head};

/// Rows of bars on one linear axis that starts at zero.
#[derive(Debug, Clone)]
pub(crate) struct Bars {
    pub(crate) title: String,
    /// What the fills mean.
    pub(crate) legend: Vec<(Look, String)>,
    pub(crate) remarks: Vec<String>,
    /// Of the axis, such as `s`.
    pub(crate) unit: &'static str,
    pub(crate) rows: Vec<Row>,
    /// Said where there are no rows.
    pub(crate) nothing: &'static str,
}

/// A bar.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) segments: Vec<Segment>,
    /// Written behind the bar.
    pub(crate) note: String,
}

/// A part of a bar, in the unit of the axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Filled, or with an outline and stripes.
    pub(crate) look: Look,
}

impl Figure for Bars {
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, pen: &Pen) -> Drawn<DB> {
        let letters = pen.letters as i32;
        let top = head(area, pen, &self.title, &self.legend, &self.remarks)? as i32;
        let ends = self.rows.iter().flat_map(|row| &row.segments).map(|segment| segment.to);
        let longest = ends.filter(|end| end.is_finite()).fold(0.0, f64::max);
        if longest <= 0.0 {
            return pen.write(area, self.nothing, (letters * 2, top + letters * 2), pen.ink);
        }
        let (width, height) = area.dim_in_pixel();
        let (width, height) = (width as i32, height as i32);
        let widest = |texts: &mut dyn Iterator<Item = &String>, most: i32| {
            texts.map(|text| pen.size(text).0).max().unwrap_or(0).min(most)
        };
        let names = widest(&mut self.rows.iter().map(|row| &row.label), width * 2 / 5);
        let notes = widest(&mut self.rows.iter().map(|row| &row.note), width * 3 / 10);
        let (left, right) = (2 * letters + names, width - 2 * letters - notes);
        let bottom = height - letters * 3;
        // Rows that do not fit are told, not squeezed until nobody can read them.
        let least = letters * 3 / 2;
        let room = ((bottom - top - letters) / least).max(1) as usize;
        let shown = if self.rows.len() > room { room - 1 } else { self.rows.len() };
        let pitch = ((bottom - top - letters) / shown.max(1) as i32).min(letters * 3);
        let x = |value: f64| left + (f64::from(right - left) * value / longest).round() as i32;
        for value in linear_ticks(longest) {
            let foot = (x(value), top + pitch * shown as i32 + letters / 2);
            area.draw(&PathElement::new(vec![(x(value), top), foot], pen.grid.stroke_width(1)))?;
            let label = tick(value, self.unit);
            let corner = (x(value) - pen.size(&label).0 / 2, foot.1 + letters / 3);
            pen.write(area, &label, corner, pen.faint)?;
        }
        for (position, row) in self.rows.iter().take(shown).enumerate() {
            let middle = top + pitch * position as i32 + pitch / 2;
            let thick = (pitch * 3 / 10).max(3);
            let label = pen.fitted(&row.label, names);
            let corner = (left - letters / 2 - pen.size(&label).0, middle - letters / 2);
            pen.write(area, &label, corner, pen.ink)?;
            for segment in &row.segments {
                let corners = [(x(segment.from), middle - thick), (x(segment.to), middle + thick)];
                bar(area, pen, corners, segment.look)?;
            }
            let end = row.segments.iter().map(|segment| segment.to).fold(0.0, f64::max);
            let note = pen.fitted(&row.note, notes);
            pen.write(area, &note, (x(end) + letters / 2, middle - letters / 2), pen.faint)?;
        }
        if shown < self.rows.len() {
            let rest = format!("and {} more", self.rows.len() - shown);
            let at = (left - letters / 2 - pen.size(&rest).0, height - letters * 2);
            pen.write(area, &rest, at, pen.faint)?;
        }
        Ok(())
    }
}

/// A filled or a striped bar: without color they differ still.
fn bar<DB: DrawingBackend>(
    area: &Area<DB>,
    pen: &Pen,
    [from, to]: [(i32, i32); 2],
    look: Look,
) -> Drawn<DB> {
    let color = pen.color(look.color);
    if to.0 <= from.0 {
        return Ok(());
    }
    if !look.is_hollow {
        return area.draw(&Rectangle::new([from, to], color.filled()));
    }
    area.draw(&Rectangle::new([from, to], color.mix(0.15).filled()))?;
    let (height, step) = (to.1 - from.1, (pen.letters as i32 / 2).max(4));
    let mut start = from.0 - height;
    while start < to.0 {
        // A stripe rises at 45°, cut off where the bar ends.
        let low = start.max(from.0);
        let high = (start + height).min(to.0);
        if high > low {
            let ends = vec![(low, to.1 - (low - start)), (high, to.1 - (high - start))];
            area.draw(&PathElement::new(ends, color.stroke_width(1)))?;
        }
        start += step;
    }
    area.draw(&Rectangle::new([from, to], color.stroke_width(1)))
}
