//! What stands around a figure: title, subtitle and legend above it, notes below.

use plotters::element::Rectangle;
use plotters::prelude::DrawingBackend;
use plotters::style::Color;

use super::pen::{Look, Pen, Stroke, Tone};
use super::{Area, Drawn, Failed};

/// The words of a figure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Caption {
    /// What is shown.
    pub(crate) title: String,
    /// Of what, and how much of it; may be empty.
    pub(crate) subtitle: String,
    /// Each group begins a line.
    pub(crate) legend: Vec<Vec<(Key, String)>>,
    /// Sentences below the figure.
    pub(crate) notes: Vec<String>,
}

/// A sample in a legend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Key {
    Mark(Look),
    Line(Tone, Stroke),
    /// A line with a mark on it.
    Curve(Look),
    /// A part of a bar.
    Bar(Look),
}

impl Key {
    const fn width(self, pen: &Pen) -> i32 {
        match self {
            Self::Mark(_) | Self::Bar(_) => pen.em(),
            Self::Line(..) | Self::Curve(_) => 2 * pen.em(),
        }
    }

    fn draw<DB: DrawingBackend>(self, area: &Area<DB>, pen: &Pen, (x, y): (i32, i32)) -> Drawn<DB> {
        let (wide, middle) = (self.width(pen), y + pen.em() / 2);
        let line = [(x, middle), (x + wide, middle)];
        match self {
            Self::Mark(look) => pen.mark(area, look, (x + wide / 2, middle), pen.radius()),
            Self::Line(tone, stroke) => pen.stroke(area, &line, tone, stroke),
            Self::Curve(look) => {
                pen.stroke(area, &line, look.tone, Stroke::Solid)?;
                pen.mark(area, look, (x + wide / 2, middle), pen.radius())
            }
            Self::Bar(look) => {
                let half = pen.em() / 2;
                bar(area, pen, [(x, middle - half), (x + wide, middle + half)], look)
            }
        }
    }
}

impl Caption {
    /// Draws it, each part as far as it fits; returns what is left for the figure.
    pub(super) fn draw<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        pen: &Pen,
    ) -> Result<Area<DB>, Failed<DB>> {
        let (width, height) = area.dim_in_pixel();
        let (left, room) = (pen.em(), width as i32 - 2 * pen.em());
        let mut top = pen.em();
        let large = Self::large(pen);
        large.write(area, &large.fitted(&self.title, room), (left, top), Tone::Ink)?;
        top += large.line();
        if !self.subtitle.is_empty() {
            pen.write(area, &pen.fitted(&self.subtitle, room), (left, top), Tone::Faint)?;
            top += pen.line();
        }
        for (key, text, at) in self.places(pen, room, &mut top) {
            key.draw(area, pen, (left + at.0, at.1))?;
            let x = left + at.0 + key.width(pen) + pen.em() / 2;
            pen.write(area, &text, (x, at.1), Tone::Ink)?;
        }
        let small = Self::small(pen);
        let lines = self.lines(&small, room);
        let foot = lines.len() as i32 * small.line() + if lines.is_empty() { 0 } else { pen.em() };
        let mut line = height as i32 - foot + pen.em() / 2;
        // Notes give way where the picture is too low for both.
        let is_roomy = line - top > height as i32 / 3;
        for text in lines.iter().filter(|_| is_roomy) {
            small.write(area, text, (left, line), Tone::Faint)?;
            line += small.line();
        }
        Ok(area.clone().margin(top, if is_roomy { foot } else { 0 }, 0, 0))
    }

    /// The height of all of it, for a figure that makes itself as high as it needs.
    pub(super) fn height(&self, pen: &Pen, width: i32) -> i32 {
        let room = width - 2 * pen.em();
        let mut top = pen.em() + Self::large(pen).line();
        top += if self.subtitle.is_empty() { 0 } else { pen.line() };
        self.places(pen, room, &mut top);
        let small = Self::small(pen);
        let lines = self.lines(&small, room).len() as i32;
        top + lines * small.line() + if lines == 0 { 0 } else { pen.em() }
    }

    const fn large(pen: &Pen) -> Pen {
        pen.sized(4, 3)
    }

    const fn small(pen: &Pen) -> Pen {
        pen.sized(8, 9)
    }

    fn lines(&self, pen: &Pen, width: i32) -> Vec<String> {
        self.notes.iter().flat_map(|note| pen.wrapped(note, width)).collect()
    }

    /// Samples of the legend with their texts and places; moves `top` below the last of them.
    fn places(&self, pen: &Pen, room: i32, top: &mut i32) -> Vec<(Key, String, (i32, i32))> {
        let mut places = Vec::new();
        for group in self.legend.iter().filter(|group| !group.is_empty()) {
            let mut x = 0;
            for (key, text) in group {
                let before = key.width(pen) + pen.em() / 2;
                let text = pen.fitted(text, room - before);
                let wide = before + pen.size(&text).0;
                if x > 0 && x + wide > room {
                    x = 0;
                    *top += pen.line();
                }
                places.push((*key, text, (x, *top)));
                x += wide + pen.em() * 3 / 2;
            }
            *top += pen.line();
        }
        places
    }
}

/// A filled or a striped bar: without color they differ still.
pub(super) fn bar<DB: DrawingBackend>(
    area: &Area<DB>,
    pen: &Pen,
    [from, to]: [(i32, i32); 2],
    look: Look,
) -> Drawn<DB> {
    let color = pen.rgb(look.tone);
    if to.0 <= from.0 {
        return Ok(());
    }
    if !look.is_hollow {
        return area.draw(&Rectangle::new([from, to], color.filled()));
    }
    area.draw(&Rectangle::new([from, to], color.mix(0.15).filled()))?;
    let (height, step) = (to.1 - from.1, pen.em() / 2);
    let mut start = from.0 - height;
    while start < to.0 {
        // A stripe rises at 45°, cut off where the bar ends.
        let low = start.max(from.0);
        let high = (start + height).min(to.0);
        if high > low {
            let ends = [(low, to.1 - (low - start)), (high, to.1 - (high - start))];
            pen.hair(area, &ends, look.tone, Stroke::Solid)?;
        }
        start += step.max(1);
    }
    let corners = [from, (to.0, from.1), to, (from.0, to.1), from];
    pen.hair(area, &corners, look.tone, Stroke::Solid)
}
