//! What stands above a figure: title, legend, remarks.

use plotters::prelude::DrawingBackend;

use super::pen::{Look, Pen};
use super::{Area, Failed};

/// Draws title, legend and remarks, each as far as it fits; returns their height, in pixels.
pub(super) fn head<DB: DrawingBackend>(
    area: &Area<DB>,
    pen: &Pen,
    title: &str,
    legend: &[(Look, String)],
    remarks: &[String],
) -> Result<u32, Failed<DB>> {
    let letters = pen.letters as i32;
    let (width, left, line) = (area.dim_in_pixel().0 as i32, letters, letters * 3 / 2);
    let mut top = letters;
    pen.write(area, &pen.fitted(title, width - 2 * left), (left, top), pen.ink)?;
    top += line;
    let mut x = left;
    for (look, name) in legend {
        let label = pen.fitted(name, width - 2 * left - 2 * letters);
        let wide = 2 * letters + pen.size(&label).0;
        if x > left && x + wide > width - left {
            x = left;
            top += line;
        }
        let at = (x + letters / 2, top + letters / 2);
        pen.mark(area, *look, at, pen.radius(), pen.color(look.color))?;
        pen.write(area, &label, (x + letters * 3 / 2, top), pen.ink)?;
        x += wide + letters;
    }
    if !legend.is_empty() {
        top += line;
    }
    for remark in remarks {
        for text in pen.wrapped(remark, width - 2 * left) {
            pen.write(area, &text, (left, top), pen.faint)?;
            top += line;
        }
    }
    Ok(top.unsigned_abs())
}
