//! Horizontal bars: one row for a kernel, a category or an opportunity, made of segments.

use plotters::prelude::DrawingBackend;

use super::axis::{Scale, linear_ticks};
use super::caption::{Caption, bar};
use super::pen::{Look, Pen, Stroke, Tone};
use super::{Area, Drawn, Figure};

/// Panels of bars below each other.
#[derive(Debug, Clone)]
pub(crate) struct BarFigure {
    pub(crate) caption: Caption,
    pub(crate) panels: Vec<BarPanel>,
    /// Said where there are no rows.
    pub(crate) nothing: &'static str,
}

/// Rows of bars on one linear axis that starts at zero.
#[derive(Debug, Clone)]
pub(crate) struct BarPanel {
    /// Above the rows; may be empty.
    pub(crate) heading: String,
    /// Of the axis, such as `s`.
    pub(crate) unit: &'static str,
    pub(crate) rows: Vec<Row>,
    /// What no bar should pass: a roof.
    pub(crate) limit: Option<f64>,
    /// Rows that were left out.
    pub(crate) more: usize,
}

/// A bar.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) segments: Vec<Segment>,
    /// Where the bar ended before a change.
    pub(crate) before: Option<f64>,
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

impl Figure for BarFigure {
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, pen: &Pen) -> Drawn<DB> {
        let body = self.caption.draw(area, pen)?;
        draw(&self.panels, &body, pen, self.nothing)
    }

    fn height(&self, width: u32, pen: &Pen) -> u32 {
        let height = self.caption.height(pen, width as i32) + height(&self.panels, pen);
        height.unsigned_abs()
    }
}

/// The height that panels need, at least that of a line.
pub(super) fn height(panels: &[BarPanel], pen: &Pen) -> i32 {
    let all: i32 = panels.iter().map(|panel| panel.height(pen, BarPanel::pitch(pen))).sum();
    all.max(pen.line() * 2)
}

/// Draws panels below each other.
pub(super) fn draw<DB: DrawingBackend>(
    panels: &[BarPanel],
    area: &Area<DB>,
    pen: &Pen,
    nothing: &str,
) -> Drawn<DB> {
    let (width, height) = area.dim_in_pixel();
    let (width, height) = (width as i32, height as i32);
    let panels: Vec<&BarPanel> = panels.iter().filter(|panel| panel.longest() > 0.0).collect();
    if panels.is_empty() {
        return pen.write(area, nothing, (pen.em(), pen.em()), Tone::Ink);
    }
    let widest = |texts: &mut dyn Iterator<Item = &String>, most: i32| {
        texts.map(|text| pen.size(text).0).max().unwrap_or(0).min(most)
    };
    let rows = || panels.iter().flat_map(|panel| &panel.rows);
    let names = widest(&mut rows().map(|row| &row.label), width * 2 / 5);
    let notes = widest(&mut rows().map(|row| &row.note), width * 3 / 10);
    let (left, right) = (2 * pen.em() + names, width - 2 * pen.em() - notes);
    let across = Across { left, right, width };
    // Where there is room rows are as far apart as is easy to read, else they share what there is.
    let bare: i32 = panels.iter().map(|panel| panel.height(pen, 0)).sum();
    let count = rows().count().max(1) as i32;
    let pitch = ((height - bare) / count).clamp(pen.line(), pen.em() * 3);
    let mut top = 0;
    for (position, panel) in panels.iter().enumerate() {
        // What is left is shared by the panels that are left.
        let room = (height - top) / (panels.len() - position) as i32;
        let room = room.max(height - top - (bare + pitch * count));
        top += panel.draw(area, pen, &across, (top, top + room, pitch))?;
    }
    Ok(())
}

/// Where bars lie across the picture, and how wide it is.
struct Across {
    left: i32,
    right: i32,
    width: i32,
}

impl BarPanel {
    /// From row to row where there is room.
    const fn pitch(pen: &Pen) -> i32 {
        pen.em() * 9 / 4
    }

    fn height(&self, pen: &Pen, pitch: i32) -> i32 {
        let heading = if self.heading.is_empty() { 0 } else { pen.line() };
        heading + pitch * self.rows.len() as i32 + pen.em() * 3
    }

    fn longest(&self) -> f64 {
        let ends = self.rows.iter().flat_map(|row| &row.segments).map(|segment| segment.to);
        let before = self.rows.iter().filter_map(|row| row.before);
        let all = ends.chain(before).chain(self.limit);
        all.filter(|end| end.is_finite()).fold(0.0, f64::max)
    }

    /// Draws it between two heights; returns the height it took.
    fn draw<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        pen: &Pen,
        across: &Across,
        (start, end, pitch): (i32, i32, i32),
    ) -> Result<i32, super::Failed<DB>> {
        let (em, longest) = (pen.em(), self.longest());
        let mut top = start;
        if !self.heading.is_empty() {
            pen.write(area, &pen.fitted(&self.heading, across.right), (em, top), Tone::Ink)?;
            top += pen.line();
        }
        // Rows that do not fit are counted, not squeezed until nobody can read them.
        let room = ((end - top - em * 3) / pitch).max(1) as usize;
        let shown = self.rows.len().min(room);
        let bottom = top + pitch * shown as i32 + em / 4;
        let x = |value: f64| {
            across.left + (f64::from(across.right - across.left) * value / longest).round() as i32
        };
        let scale = Scale::of(self.unit, longest);
        let ticks: Vec<(i32, String)> =
            linear_ticks(longest).into_iter().map(|tick| (x(tick), scale.label(tick))).collect();
        let every = labeled(
            &ticks.iter().map(|(at, label)| (*at, pen.size(label).0)).collect::<Vec<_>>(),
            em,
        );
        for (position, (at, label)) in ticks.iter().enumerate() {
            pen.hair(area, &[(*at, top), (*at, bottom)], Tone::Grid, Stroke::Solid)?;
            if position % every != 0 {
                continue;
            }
            let corner = (at - pen.size(label).0 / 2, bottom + em / 3);
            pen.write(area, label, corner, Tone::Faint)?;
        }
        for (position, row) in self.rows.iter().take(shown).enumerate() {
            let middle = top + pitch * position as i32 + pitch / 2;
            let half = (pitch * 3 / 10).max(em / 4);
            let label = pen.fitted(&row.label, across.left - 2 * em);
            let corner = (across.left - em / 2 - pen.size(&label).0, middle - em / 2);
            pen.write(area, &label, corner, Tone::Ink)?;
            for segment in &row.segments {
                let corners = [(x(segment.from), middle - half), (x(segment.to), middle + half)];
                bar(area, pen, corners, segment.look)?;
            }
            let mut end = row.segments.iter().map(|segment| segment.to).fold(0.0, f64::max);
            if let Some(before) = row.before {
                let ends = [(x(before), middle - pitch / 2), (x(before), middle + pitch / 2)];
                pen.stroke(area, &ends, Tone::Ink, Stroke::Solid)?;
                end = end.max(before);
            }
            // Beyond the roof, where there is one; else behind the bar.
            let end = if self.limit.is_some() { across.right } else { x(end) };
            let corner = (end + em / 2, middle - em / 2);
            let note = pen.fitted(&row.note, across.width - em - corner.0);
            pen.clear(area, corner, pen.size(&note))?;
            pen.write(area, &note, corner, Tone::Faint)?;
        }
        if let Some(limit) = self.limit {
            let ends = [(x(limit), top), (x(limit), bottom)];
            pen.stroke(area, &ends, Tone::Blue, Stroke::Solid)?;
        }
        let left_out = self.more + self.rows.len() - shown;
        if left_out > 0 {
            let rest = format!("and {left_out} more");
            // Beside the first label where there is room, else below the labels.
            let zero = ticks.first().map_or(0, |(at, label)| at - pen.size(label).0 / 2);
            let is_beside = em + pen.size(&rest).0 + em / 2 <= zero;
            let below = if is_beside { em / 3 } else { em * 5 / 3 };
            pen.write(area, &rest, (em, bottom + below), Tone::Faint)?;
        }
        Ok(bottom + em * 11 / 4 - start)
    }
}

/// Every how many ticks have a label, by where they are and how wide labels are: none runs into the next.
fn labeled(ticks: &[(i32, i32)], gap: i32) -> usize {
    let fits = |every: usize| {
        let shown: Vec<&(i32, i32)> = ticks.iter().step_by(every).collect();
        shown
            .windows(2)
            .all(|pair| pair[0].0 + pair[0].1 / 2 + gap / 2 <= pair[1].0 - pair[1].1 / 2)
    };
    (1..=ticks.len().max(1)).find(|every| fits(*every)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_ticks_do_not_run_into_each_other() {
        let ticks = |apart: i32| -> Vec<(i32, i32)> { (0..8).map(|at| (at * apart, 60)).collect() };
        assert_eq!(labeled(&ticks(100), 10), 1);
        assert_eq!(labeled(&ticks(40), 10), 2);
        assert_eq!(labeled(&ticks(1), 10), 8);
        assert_eq!(labeled(&[], 10), 1);
    }
}
