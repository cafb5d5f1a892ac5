//! Colors, lines, marks and letters of a picture. Nothing is told by color alone.

use plotters::element::{Circle, Cross, EmptyElement, PathElement, Polygon, Rectangle, Text};
use plotters::prelude::{DashedLineSeries, DrawingBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, RGBColor, ShapeStyle, TextStyle};

use super::{Area, Canvas, Drawn};

/// How a mark looks: its shape tells what its color tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Look {
    pub(crate) mark: Mark,
    /// Position among the colors.
    pub(crate) color: usize,
    /// An outline rather than an area.
    pub(crate) is_hollow: bool,
}

impl Look {
    /// The look of the n-th series.
    pub(crate) const fn nth(position: usize) -> Self {
        let mark = Mark::ALL[position % Mark::ALL.len()];
        Self { mark, color: position, is_hollow: false }
    }

    /// The same as an outline.
    pub(crate) const fn hollow(self) -> Self {
        Self { is_hollow: true, ..self }
    }
}

/// The shape of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
}

impl Mark {
    const ALL: [Self; 5] = [Self::Circle, Self::Square, Self::Triangle, Self::Diamond, Self::Cross];
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Line {
    Solid,
    Dashed,
    Dotted,
}

/// Colors that people with any color vision tell apart (Okabe and Ito, 2008), darker on light.
const ON_LIGHT: [RGBColor; 8] = [
    RGBColor(0, 90, 160),
    RGBColor(200, 80, 0),
    RGBColor(0, 130, 95),
    RGBColor(170, 70, 130),
    RGBColor(150, 105, 0),
    RGBColor(40, 130, 190),
    RGBColor(70, 70, 70),
    RGBColor(120, 40, 20),
];
const ON_DARK: [RGBColor; 8] = [
    RGBColor(86, 180, 233),
    RGBColor(255, 150, 70),
    RGBColor(60, 200, 160),
    RGBColor(230, 150, 200),
    RGBColor(240, 200, 70),
    RGBColor(150, 170, 255),
    RGBColor(190, 190, 190),
    RGBColor(230, 120, 110),
];

/// Colors and sizes for one picture.
pub(crate) struct Pen {
    pub(super) ground: RGBColor,
    pub(super) ink: RGBColor,
    pub(super) faint: RGBColor,
    pub(super) grid: RGBColor,
    colors: [RGBColor; 8],
    /// Height of letters, in pixels.
    pub(super) letters: u32,
    pub(super) stroke: u32,
}

impl Pen {
    /// Series that can be told apart by color and mark.
    pub(super) const SERIES: usize = 8;

    /// Marks of which the small ones would cover each other at an ordinary size.
    const MANY: usize = 1_000;

    pub(super) fn new(canvas: &Canvas) -> Self {
        let side = canvas.width.min(canvas.height * 3 / 2);
        let letters = (side / 68).clamp(10, 48);
        let (ground, ink, faint, grid, colors) = if canvas.dark {
            let (ground, ink) = (RGBColor(16, 20, 26), RGBColor(230, 237, 243));
            (ground, ink, RGBColor(150, 160, 170), RGBColor(48, 54, 61), ON_DARK)
        } else {
            let (ground, ink) = (RGBColor(255, 255, 255), RGBColor(31, 35, 40));
            (ground, ink, RGBColor(95, 103, 112), RGBColor(222, 226, 230), ON_LIGHT)
        };
        Self { ground, ink, faint, grid, colors, letters, stroke: (side / 480).clamp(1, 8) }
    }

    pub(super) fn color(&self, series: usize) -> RGBColor {
        self.colors[series % self.colors.len()]
    }

    /// Letters in a color.
    pub(super) fn text(&self, color: RGBColor) -> TextStyle<'static> {
        let font = ("sans-serif", f64::from(self.letters)).into_font();
        TextStyle { color: color.to_backend_color(), ..TextStyle::from(font) }
    }

    /// Width and height of ordinary letters on the screen.
    pub(super) fn size(&self, text: &str) -> (i32, i32) {
        let font = ("sans-serif", f64::from(self.letters)).into_font();
        let (width, height) = font.box_size(text).unwrap_or((text.len() as u32 * 7, self.letters));
        (width as i32, height as i32)
    }

    /// The text, cut with an ellipsis where it is wider than this.
    pub(super) fn fitted(&self, text: &str, width: i32) -> String {
        if self.size(text).0 <= width {
            return text.to_owned();
        }
        let mut kept: Vec<char> = text.chars().collect();
        while !kept.is_empty() {
            kept.pop();
            let shorter: String = kept.iter().chain(&['…']).collect();
            if self.size(&shorter).0 <= width {
                return shorter;
            }
        }
        String::new()
    }

    /// The text in lines that are at most this wide, broken at spaces.
    pub(super) fn wrapped(&self, text: &str, width: i32) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split(' ') {
            match lines.last_mut() {
                Some(line) if self.size(&format!("{line} {word}")).0 <= width => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(self.fitted(word, width)),
            }
        }
        lines
    }

    /// Ordinary letters with their left upper corner at a pixel.
    pub(super) fn write<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        text: &str,
        at: (i32, i32),
        color: RGBColor,
    ) -> Drawn<DB> {
        // Backends agree on the middle of a line, less on its top.
        let style = self.text(color).pos(Pos::new(HPos::Left, VPos::Center));
        let at = (at.0, at.1 + self.letters as i32 / 2);
        area.draw(&Text::new(text.to_owned(), at, style))
    }

    /// Clears what lies below a label.
    pub(super) fn clear<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        at: (i32, i32),
        size: (i32, i32),
    ) -> Drawn<DB> {
        let corners = [at, (at.0 + size.0, at.1 + size.1)];
        area.draw(&Rectangle::new(corners, self.ground.filled()))
    }

    /// A line through pixels.
    pub(super) fn line<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        points: &[(i32, i32)],
        color: RGBColor,
        line: Line,
    ) -> Drawn<DB> {
        let stroke = color.stroke_width(self.stroke);
        self.stroked(area, points, stroke, line)
    }

    /// The same, as thin as possible.
    pub(super) fn hair<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        points: &[(i32, i32)],
        color: RGBColor,
        line: Line,
    ) -> Drawn<DB> {
        self.stroked(area, points, color.stroke_width((self.stroke / 2).max(1)), line)
    }

    fn stroked<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        points: &[(i32, i32)],
        stroke: ShapeStyle,
        line: Line,
    ) -> Drawn<DB> {
        let unit = self.stroke.max(1) as i32;
        let (dash, gap) = match line {
            Line::Solid => return area.draw(&PathElement::new(points.to_vec(), stroke)),
            Line::Dashed => (5 * unit, 3 * unit),
            Line::Dotted => (unit, 3 * unit),
        };
        for element in DashedLineSeries::new(points.iter().copied(), dash, gap, stroke) {
            area.draw(&element)?;
        }
        Ok(())
    }

    /// A mark around a pixel, with this radius.
    pub(super) fn mark<DB: DrawingBackend>(
        &self,
        area: &Area<DB>,
        look: Look,
        at: (i32, i32),
        radius: i32,
        color: RGBColor,
    ) -> Drawn<DB> {
        let corners: Vec<(i32, i32)> = match look.mark {
            Mark::Circle if look.is_hollow => {
                area.draw(&Circle::new(at, radius, self.ground.filled()))?;
                return area.draw(&Circle::new(at, radius, color.stroke_width(self.stroke)));
            }
            Mark::Circle => {
                area.draw(&Circle::new(at, radius, color.filled()))?;
                // A rim keeps marks apart that lie upon each other.
                return area.draw(&Circle::new(at, radius, self.ground.stroke_width(1)));
            }
            Mark::Cross => {
                let stroke = color.stroke_width(self.stroke.max(2));
                return area.draw(&(EmptyElement::at(at) + Cross::new((0, 0), radius, stroke)));
            }
            Mark::Square => {
                let r = radius - radius / 8;
                vec![(-r, -r), (r, -r), (r, r), (-r, r)]
            }
            Mark::Triangle => {
                // Equilateral, around its center.
                let r = radius + radius / 4 + 1;
                let (half, foot) = (r * 7 / 8, r / 2);
                vec![(0, -r), (half, foot), (-half, foot)]
            }
            Mark::Diamond => {
                let r = radius + radius / 4;
                vec![(0, -r), (r, 0), (0, r), (-r, 0)]
            }
        };
        let mut corners: Vec<_> = corners.iter().map(|(x, y)| (at.0 + x, at.1 + y)).collect();
        let (inside, rim) = if look.is_hollow {
            (self.ground, color.stroke_width(self.stroke))
        } else {
            (color, self.ground.stroke_width(1))
        };
        area.draw(&Polygon::new(corners.clone(), inside.filled()))?;
        corners.extend(corners.first().copied());
        area.draw(&PathElement::new(corners, rim))
    }

    /// The radius of an ordinary mark.
    pub(super) fn radius(&self) -> i32 {
        (self.letters as i32 / 3).max(3)
    }

    /// The radius of a mark whose area is a share of the time: all of it is a mark four letters wide.
    /// Among more than [`MANY`](Self::MANY) the least are dots.
    pub(super) fn radius_of(&self, share: Option<f64>, among: usize) -> i32 {
        let Some(share) = share else { return self.radius() };
        let whole = f64::from(self.letters) * 2.5;
        let least = if among > Self::MANY { 2 } else { self.radius() / 2 + 1 };
        ((share.clamp(0.0, 1.0).sqrt() * whole).round() as i32).max(least)
    }
}
