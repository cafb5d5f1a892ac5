//! Logarithmic axes with ticks of our own: those of plotters vanish where no power of ten is in range.

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::combinators::{BindKeyPoints, IntoLogRange, LogCoord, WithKeyPoints};
use plotters::prelude::DrawingBackend;
use plotters::style::Color;

use super::pen::Pen;
use super::{Area, Failed};
use crate::report::numbers::digits;

pub(super) type Chart<'a, DB> =
    ChartContext<'a, DB, Cartesian2d<WithKeyPoints<LogCoord<f64>>, WithKeyPoints<LogCoord<f64>>>>;

/// A logarithmic axis: its ends and where its ticks are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    ticks: Vec<f64>,
    title: String,
    unit: &'static str,
}

impl Axis {
    /// An axis that ends exactly at the least and the greatest value; none without positive values.
    pub(super) fn tight(
        title: &str,
        unit: &'static str,
        values: impl Iterator<Item = f64>,
    ) -> Option<Self> {
        let (low, high) = ends(values)?;
        let (low, high) = if high > low * 1.001 { (low, high) } else { (low / 2.0, high * 2.0) };
        let mut ticks = ticks(low, high);
        if ticks.len() < 2 {
            ticks = vec![low, high]; // no two round numbers lie between
        }
        Some(Self { low, high, ticks, title: title.to_owned(), unit })
    }

    /// An axis that reaches to the next round numbers.
    pub(super) fn round(
        title: &str,
        unit: &'static str,
        values: impl Iterator<Item = f64>,
    ) -> Option<Self> {
        let (low, high) = ends(values)?;
        let (low, high) = (below(low * 0.98), above(high * 1.02));
        Some(Self { low, high, ticks: ticks(low, high), title: title.to_owned(), unit })
    }

    /// The axis without its title and labels, for a panel above another.
    pub(super) fn untitled(self) -> Self {
        Self { title: String::new(), ..self }
    }

    /// What stands at a tick.
    pub(super) fn label(&self, value: f64) -> String {
        tick(value, self.unit)
    }
}

fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let positive = values.filter(|value| *value > 0.0 && value.is_finite());
    positive.fold(None, |ends, value| {
        let (low, high) = ends.unwrap_or((value, value));
        Some((value.min(low), value.max(high)))
    })
}

/// The greatest 1, 2 or 5 times a power of ten that is not above the value.
fn below(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let steps = [5.0, 2.0, 1.0].into_iter();
    steps.map(|step| step * power).find(|round| *round <= value).unwrap_or(power)
}

fn above(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].into_iter();
    steps.map(|step| step * power).find(|round| *round >= value).unwrap_or(10.0 * power)
}

/// Ticks between two ends: 1, 2, 5 over few decades, powers of ten over several, fewer over many.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades = (high / low).log10();
    let (steps, stride): (&[f64], usize) = if decades <= 3.2 {
        (&[1.0, 2.0, 5.0], 1)
    } else {
        (&[1.0], (decades / 8.0).ceil() as usize)
    };
    let powers = (first..=last).step_by(stride);
    powers
        .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)))
        .filter(|tick| (low * 0.999..=high * 1.001).contains(tick))
        .collect()
}

/// Round numbers from zero up to an end, four to eight of them.
pub(super) fn linear_ticks(end: f64) -> Vec<f64> {
    let power = 10f64.powf((end / 4.0).log10().floor());
    let steps = [5.0, 2.0, 1.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| end / step >= 3.0).unwrap_or(power);
    (0..=(end / step * 1.000_001) as i32).map(|count| f64::from(count) * step).collect()
}

/// A round number with its prefix: `10 µs`, `200`, `5 k`.
pub(super) fn tick(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 11] = [
        (1e15, "P"),
        (1e12, "T"),
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1.0, ""),
        (1e-3, "m"),
        (1e-6, "µ"),
        (1e-9, "n"),
        (1e-12, "p"),
        (1e-15, "f"),
    ];
    // Ratios have no prefix below one.
    let least = if unit == "s" { 0.0 } else { 1.0 };
    if value == 0.0 {
        return "0".to_owned();
    }
    let found =
        PREFIXES.into_iter().find(|(factor, _)| *factor >= least && value >= factor * 0.9995);
    let (factor, prefix) = found.unwrap_or((1.0, ""));
    let scaled = value / factor;
    let number = if scaled < 0.000_999 {
        format!("{scaled:.0e}") // fewer digits would be zero
    } else if (scaled - scaled.round()).abs() < 1e-6 * scaled {
        format!("{scaled:.0}")
    } else {
        digits(scaled).trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let gap = if unit.is_empty() { "" } else { " " };
    format!("{number}{gap}{prefix}{unit}")
}

/// Room beside a panel, in pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Margins {
    /// For labels and title of the vertical axis; panels above each other share it.
    pub(super) left: u32,
    /// For what is written beside the panel.
    pub(super) right: u32,
}

impl Margins {
    /// The room that these vertical axes and the end of this horizontal one need.
    pub(super) fn of(pen: &Pen, x: &Axis, vertical: &[&Axis]) -> Self {
        let width = |axis: &Axis, tick: &f64| pen.size(&axis.label(*tick)).0.unsigned_abs();
        let all = vertical.iter().flat_map(|axis| axis.ticks.iter().map(|tick| width(axis, tick)));
        let last = x.ticks.last().map_or(0, |tick| width(x, tick));
        Self { left: all.max().unwrap_or(0) + pen.letters * 2, right: last / 2 + pen.letters }
    }
}

/// Draws the axes of a panel and returns it for drawing in.
pub(super) fn panel<'a, DB: DrawingBackend>(
    area: &'a Area<DB>,
    pen: &Pen,
    x: &Axis,
    y: &Axis,
    margins: Margins,
) -> Result<Chart<'a, DB>, Failed<DB>> {
    let letters = pen.letters;
    let mut chart = ChartBuilder::on(area)
        .margin_top(letters / 2)
        .margin_left(letters)
        .margin_right(margins.right)
        .y_label_area_size(margins.left)
        .x_label_area_size(if x.title.is_empty() { letters / 2 } else { letters * 13 / 4 })
        .build_cartesian_2d(
            (x.low..x.high).log_scale().with_key_points(x.ticks.clone()),
            (y.low..y.high).log_scale().with_key_points(y.ticks.clone()),
        )?;
    let x_label = |value: &f64| if x.title.is_empty() { String::new() } else { x.label(*value) };
    let y_label = |value: &f64| y.label(*value);
    let mut mesh = chart.configure_mesh();
    mesh.bold_line_style(pen.grid)
        .light_line_style(pen.grid.mix(0.0))
        .axis_style(pen.faint)
        .label_style(pen.text(pen.ink))
        .axis_desc_style(pen.text(pen.ink))
        .x_label_formatter(&x_label)
        .y_label_formatter(&y_label)
        .y_desc(y.title.clone());
    if !x.title.is_empty() {
        mesh.x_desc(x.title.clone());
    }
    mesh.draw()?;
    Ok(chart)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_range_has_ticks_within_it() {
        for (low, high) in
            [(2e3, 9e3), (0.3, 1.0), (1.0, 4096.0), (1e-9, 1e3), (5.0, 6.0), (1e-6, 1e-5)]
        {
            let axis = Axis::round("", "s", [low, high].into_iter()).unwrap();
            assert!(axis.low <= low && axis.high >= high, "{axis:?}");
            assert!((2..=12).contains(&axis.ticks.len()), "{axis:?}");
            assert!(
                axis.ticks.iter().all(|tick| *tick >= axis.low * 0.99 && *tick <= axis.high * 1.01)
            );
        }
        let narrow = Axis::tight("", "", [1100.0, 1900.0].into_iter()).unwrap();
        assert_eq!(narrow.ticks, [1100.0, 1900.0]);
        assert!(Axis::tight("", "", [0.0, f64::NAN].into_iter()).is_none());
        assert_eq!(Axis::tight("", "", [64.0].into_iter()).unwrap().low, 32.0);
    }

    #[test]
    fn linear_axes_have_a_handful_of_round_ticks() {
        for end in [1.0, 3.9, 0.000_17, 12e9, 99.0, 100.0] {
            let ticks = linear_ticks(end);
            assert!((4..=9).contains(&ticks.len()), "{end}: {ticks:?}");
            assert!(ticks[0] == 0.0 && *ticks.last().unwrap() <= end * 1.001, "{end}: {ticks:?}");
        }
    }

    #[test]
    fn ticks_are_round_numbers_with_a_prefix() {
        for (value, unit, shown) in [
            (1e-5, "s", "10 µs"),
            (9.999_999_999_999_999e-5, "s", "100 µs"),
            (0.5, "", "0.5"),
            (0.01, "FLOP/B", "0.01 FLOP/B"),
            (2000.0, "", "2k"),
            (1e12, "FLOP/s", "1 TFLOP/s"),
            (1.0, "s", "1 s"),
            (2e-11, "s", "20 ps"),
            (1100.0, "", "1.1k"),
            (0.0, "s", "0"),
            (0.001, "", "0.001"),
            (0.0001, "", "1e-4"),
            (2e-7, "", "2e-7"),
        ] {
            assert_eq!(tick(value, unit), shown);
        }
    }
}
