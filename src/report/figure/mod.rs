//! Pictures: figures are data, drawn with plotters as SVG or PNG. The same figure gives the same bytes.
//!
//! The font is a part of `DejaVu Sans` that is carried in the program, so that a picture looks alike
//! everywhere and needs nothing of the system; its license stands beside it.

#![allow(clippy::cast_possible_wrap, reason = "sides of a picture are at most 8192 pixels")]

mod axis;
mod bars;
mod head;
mod labels;
mod pen;
mod roofline;
mod series;
mod sweep;

use std::sync::Once;

use plotters::backend::{BitMapBackend, RGBPixel, SVGBackend};
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::prelude::DrawingBackend;
use plotters::style::{FontStyle, register_font};

pub(super) use bars::{Bars, Row, Segment};
use head::head;
use pen::Pen;
pub(super) use pen::{Look, Mark};
pub(super) use roofline::{Point, Roof, RoofKind, Roofline};
pub(super) use series::{Level, Scatter, SeriesFigure, SeriesMark, SeriesPanel};
pub(super) use sweep::{Curve, Sample, SweepFigure, TurnMark};

/// How large a picture is, and on which ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canvas {
    /// Width, in pixels.
    pub width: u32,
    /// Height, in pixels.
    pub height: u32,
    /// Light lines on a dark ground.
    pub dark: bool,
}

impl Canvas {
    /// Smaller pictures hold no axes, larger ones no longer fit in memory well.
    pub const SIDES: std::ops::RangeInclusive<u32> = 240..=8_192;
}

impl Default for Canvas {
    fn default() -> Self {
        Self { width: 960, height: 640, dark: false }
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
    let size = (canvas.width, canvas.height);
    match encoding {
        Encoding::Svg => {
            let mut text = String::new();
            paint(figure, SVGBackend::with_string(&mut text, size), canvas)?;
            Ok(text.into_bytes())
        }
        Encoding::Png => {
            let mut pixels = vec![0; canvas.width as usize * canvas.height as usize * 3];
            let backend = BitMapBackend::<RGBPixel>::with_buffer(&mut pixels, size);
            paint(figure, backend, canvas)?;
            png(&pixels, canvas).map_err(|error| PictureError(error.to_string()))
        }
    }
}

fn paint<DB: DrawingBackend>(
    figure: &impl Figure,
    backend: DB,
    canvas: &Canvas,
) -> Result<(), PictureError> {
    let area = backend.into_drawing_area();
    let pen = Pen::new(canvas);
    let drawn = area
        .fill(&pen.ground)
        .and_then(|()| figure.draw(&area, &pen))
        .and_then(|()| area.present());
    drawn.map_err(|error| PictureError(error.to_string()))
}

fn png(pixels: &[u8], canvas: &Canvas) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, canvas.width, canvas.height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}
