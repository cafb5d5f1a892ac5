//! Pictures: figures are data, drawn with plotters as SVG or PNG. The same figure gives the same bytes.
//!
//! Both are drawn on a grid several times finer than the picture. Backends of plotters place
//! everything at whole pixels and do not smooth slanted edges: an SVG scales the grid down by its
//! `viewBox`, a PNG by the mean of the fine pixels, which smooths lines, marks and letters alike.
//!
//! The font is a part of `DejaVu Sans` that is carried in the program, so that a picture looks alike
//! everywhere and needs nothing of the system; its licence stands beside it.

#![allow(clippy::cast_possible_wrap, reason = "sides of a fine grid are at most 32768 pixels")]

mod axis;
mod bars;
mod caption;
mod labels;
mod pen;
mod roofline;
mod roofs;
mod series;
mod sweep;

use std::sync::Once;

pub(super) use bars::{BarFigure, BarPanel, Row, Segment};
pub(super) use caption::{Caption, Key};
use pen::Pen;
pub(super) use pen::{Look, Mark, Stroke, Tone};
use plotters::backend::{BitMapBackend, RGBPixel, SVGBackend};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::prelude::DrawingBackend;
use plotters::style::{FontStyle, register_font};
pub(super) use roofline::{Point, Roofline};
pub(super) use roofs::{Roof, RoofKind};
pub(super) use series::{Level, Scatter, SeriesFigure, SeriesMark, SeriesPanel};
pub(super) use sweep::{Curve, Sample, SweepFigure, TurnMark};

/// How large a picture is, and on which ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canvas {
    /// Width, in pixels.
    pub width: u32,
    /// Height, in pixels; `None` for as much as the figure needs.
    pub height: Option<u32>,
    /// Light lines on a dark ground.
    pub dark: bool,
}

impl Canvas {
    /// Smaller pictures hold no axes, larger ones no longer fit in memory well.
    pub const SIDES: std::ops::RangeInclusive<u32> = 240..=8_192;
}

impl Default for Canvas {
    fn default() -> Self {
        Self { width: 960, height: None, dark: false }
    }
}

/// What a picture is encoded as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Scalable Vector Graphics.
    Svg,
    /// Portable Network Graphics.
    Png,
}

/// A picture could not be drawn or encoded.
#[derive(Debug, thiserror::Error)]
#[error("the picture cannot be drawn: {0}")]
pub struct PictureError(String);

type Area<DB> = DrawingArea<DB, Shift>;
type Failed<DB> = DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>;
type Drawn<DB> = Result<(), Failed<DB>>;

/// Something that can be drawn on any backend.
pub(super) trait Figure {
    /// Draws all of it on an area that is filled with the ground already.
    fn draw<DB: DrawingBackend>(&self, area: &Area<DB>, pen: &Pen) -> Drawn<DB>;

    /// The height that suits it at a width, both on the grid of the pen; two thirds of the width.
    fn height(&self, width: u32, _pen: &Pen) -> u32 {
        width * 2 / 3
    }
}

/// Draws a figure and encodes it.
pub(super) fn encoded(
    figure: &impl Figure,
    canvas: &Canvas,
    encoding: Encoding,
) -> Result<Vec<u8>, PictureError> {
    static FONT: Once = Once::new();
    FONT.call_once(|| {
        // The bytes are a font; a test draws with it.
        let _ = register_font("sans-serif", FontStyle::Normal, include_bytes!("sans.ttf"));
    });
    let paper = Paper::of(figure, canvas);
    let pen = Pen::new(paper.side, paper.fine, canvas.dark);
    match encoding {
        Encoding::Svg => {
            let mut text = String::new();
            paint(figure, SVGBackend::with_string(&mut text, paper.grid()), &pen)?;
            Ok(paper.scaled(&text).into_bytes())
        }
        Encoding::Png => {
            let pen = pen.with_own_letters();
            let (width, height) = paper.grid();
            let mut pixels = vec![0; width as usize * height as usize * 3];
            let backend = BitMapBackend::<RGBPixel>::with_buffer(&mut pixels, (width, height));
            paint(figure, backend, &pen)?;
            png(&paper.smoothed(pixels), &paper).map_err(|error| PictureError(error.to_string()))
        }
    }
}

/// The size of a picture, and how many times finer the grid is that it is drawn on.
struct Paper {
    width: u32,
    height: u32,
    fine: u32,
    /// What letters are in proportion to.
    side: u32,
}

impl Paper {
    /// Pixels of a grid that fit in memory well: 150 MB of them.
    const MOST: u64 = 50_000_000;

    fn of(figure: &impl Figure, canvas: &Canvas) -> Self {
        let width = canvas.width;
        let side = canvas.height.map_or(width, |height| width.min(height * 3 / 2));
        let height = canvas.height.unwrap_or_else(|| {
            let height = figure.height(width, &Pen::new(side, 1, canvas.dark));
            height.clamp(*Canvas::SIDES.start(), *Canvas::SIDES.end())
        });
        let pixels = u64::from(width) * u64::from(height);
        let fine = [4, 3, 2].into_iter().find(|fine| pixels * fine * fine <= Self::MOST);
        Self { width, height, fine: fine.unwrap_or(1) as u32, side }
    }

    const fn grid(&self) -> (u32, u32) {
        (self.width * self.fine, self.height * self.fine)
    }

    /// The SVG at the size of the picture; its inner coordinates stay those of the grid.
    fn scaled(&self, svg: &str) -> String {
        let (width, height) = self.grid();
        let own = format!("width=\"{width}\" height=\"{height}\"");
        let shown = format!("width=\"{}\" height=\"{}\"", self.width, self.height);
        // Full opacity goes without saying.
        joined(&svg.replacen(&own, &shown, 1).replace(" opacity=\"1\"", ""))
    }

    /// The mean of the fine pixels under each pixel.
    fn smoothed(&self, pixels: Vec<u8>) -> Vec<u8> {
        let fine = self.fine as usize;
        if fine == 1 {
            return pixels;
        }
        let (width, area) = (self.width as usize, (fine * fine) as u32);
        let mut smooth = Vec::with_capacity(pixels.len() / (fine * fine));
        let mut sums = vec![0_u32; width * 3];
        for band in pixels.chunks_exact(width * 3 * fine * fine) {
            sums.fill(0);
            for row in band.chunks_exact(width * 3 * fine) {
                for (sum, block) in sums.chunks_exact_mut(3).zip(row.chunks_exact(3 * fine)) {
                    for (at, value) in block.iter().enumerate() {
                        sum[at % 3] += u32::from(*value);
                    }
                }
            }
            smooth.extend(sums.iter().map(|sum| ((sum + area / 2) / area) as u8));
        }
        smooth
    }
}

/// Lines that follow each other and look the same become one path: dashes are many.
fn joined(svg: &str) -> String {
    let mut text = String::with_capacity(svg.len());
    let mut open = None;
    for line in svg.split_inclusive('\n') {
        let polyline =
            line.strip_prefix("<polyline ").and_then(|line| line.split_once("points=\""));
        let found = polyline.and_then(|(style, rest)| Some((style, rest.strip_suffix("\"/>\n")?)));
        if open.is_some() && found.map(|(style, _)| style) != open {
            text.push_str("\"/>\n");
            open = None;
        }
        let Some((style, points)) = found else {
            text.push_str(line);
            continue;
        };
        if open.is_none() {
            text.push_str("<path ");
            text.push_str(style);
            text.push_str("d=\"");
            open = Some(style);
        }
        text.push('M');
        text.push_str(points.trim_end());
    }
    text
}

fn paint<DB: DrawingBackend>(
    figure: &impl Figure,
    backend: DB,
    pen: &Pen,
) -> Result<(), PictureError> {
    let area = backend.into_drawing_area();
    let drawn = area
        .fill(&pen.rgb(Tone::Ground))
        .and_then(|()| figure.draw(&area, pen))
        .and_then(|()| area.present());
    drawn.map_err(|error| PictureError(error.to_string()))
}

fn png(pixels: &[u8], paper: &Paper) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, paper.width, paper.height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_look_the_same_become_one_path() {
        let line = |color: &str, points: &str| {
            format!("<polyline fill=\"none\" stroke=\"{color}\" points=\"{points} \"/>\n")
        };
        let svg = [
            "<svg>\n".to_owned(),
            line("red", "0,0 1,1"),
            line("red", "2,2 3,3"),
            line("blue", "4,4 5,5"),
            "</svg>\n".to_owned(),
        ];
        let path =
            |color: &str, d: &str| format!("<path fill=\"none\" stroke=\"{color}\" d=\"{d}\"/>\n");
        let expected =
            ["<svg>\n", &path("red", "M0,0 1,1M2,2 3,3"), &path("blue", "M4,4 5,5"), "</svg>\n"];
        assert_eq!(joined(&svg.concat()), expected.concat());
    }

    #[test]
    fn a_pixel_is_the_mean_of_its_fine_pixels() {
        let paper = Paper { width: 2, height: 1, fine: 2, side: 2 };
        // Red of the left pixel: 0, 100, 200, 255; its green is 8; the right pixel is black.
        let pixels =
            [[0, 8, 0], [100, 8, 0], [0; 3], [0; 3], [200, 8, 0], [255, 8, 0], [0; 3], [0; 3]];
        assert_eq!(paper.smoothed(pixels.concat()), [139, 8, 0, 0, 0, 0]);
    }
}
