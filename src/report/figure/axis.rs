//! Axes with one unit each and ticks of our own: those of plotters vanish where no power of ten is in
//! range.

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::cartesian::Cartesian2d;
use plotters::coord::combinators::{BindKeyPoints, IntoLogRange, LogCoord, WithKeyPoints};
use plotters::prelude::DrawingBackend;
use plotters::style::Color;

use super::pen::{Pen, Tone};
use super::{Area, Failed};
use crate::report::numbers::digits;

pub(super) type Chart<'a, DB> =
    ChartContext<'a, DB, Cartesian2d<WithKeyPoints<LogCoord<f64>>, WithKeyPoints<LogCoord<f64>>>>;

/// The unit of an axis with one prefix for all of its values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    factor: f64,
    unit: String,
}

impl Scale {
    /// The prefix that suits a value. Shares (`%`), ratios (`×`) and bare numbers have none.
    pub(super) fn of(unit: &str, value: f64) -> Self {
        const PREFIXES: [(f64, &str); 9] = [
            (1e15, "P"),
            (1e12, "T"),
            (1e9, "G"),
            (1e6, "M"),
            (1e3, "k"),
            (1.0, ""),
            (1e-3, "m"),
            (1e-6, "µ"),
            (1e-9, "n"),
        ];
        let (factor, prefix) = match unit {
            "%" => (0.01, ""),
            "" | "×" => (1.0, ""),
            _ => {
                let known = if unit == "s" { &PREFIXES[5..] } else { &PREFIXES[..6] };
                let found = known.iter().find(|(factor, _)| value >= factor * 0.999_5);
                found.or(known.last()).copied().unwrap_or((1.0, ""))
            }
        };
        Self { factor, unit: format!("{prefix}{unit}") }
    }

    /// A value without its unit, as a tick has it: `0.5`, `200`, `10⁻⁶`.
    pub(super) fn number(&self, value: f64) -> String {
        let scaled = value / self.factor;
        let power = scaled.log10().round();
        if scaled > 0.0 && (power >= 5.0 || power <= -4.0) && (scaled.log10() - power).abs() < 1e-6
        {
            return format!("10{}", raised(power as i32));
        }
        if scaled == 0.0 || (scaled - scaled.round()).abs() < 1e-6 * scaled {
            return format!("{scaled:.0}");
        }
        if scaled < 0.001 {
            return format!("{scaled:.0e}"); // fewer digits would be zero
        }
        digits(scaled).trim_end_matches('0').trim_end_matches('.').to_owned()
    }

    /// A value with its unit: `10 µs`, `1.5×`, `5%`.
    pub(super) fn label(&self, value: f64) -> String {
        let gap = if matches!(self.unit.as_str(), "" | "%" | "×") { "" } else { " " };
        let unit = if value == 0.0 { "" } else { &self.unit };
        format!("{}{}{unit}", self.number(value), if unit.is_empty() { "" } else { gap })
    }
}

fn raised(power: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let figures = power.unsigned_abs().to_string();
    let figures = figures.bytes().map(|digit| DIGITS[usize::from(digit - b'0')]);
    let sign = if power < 0 { Some('⁻') } else { None };
    sign.into_iter().chain(figures).collect()
}

/// A logarithmic axis: its ends and where its ticks are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Axis {
    pub(super) low: f64,
    pub(super) high: f64,
    ticks: Vec<f64>,
    title: String,
    scale: Scale,
}

impl Axis {
    /// An axis between two positive ends.
    pub(super) fn between(title: &str, unit: &str, (low, high): (f64, f64)) -> Self {
        let (low, high) = if high > low * 1.001 { (low, high) } else { (low / 2.0, high * 2.0) };
        let mut ticks = ticks(low, high);
        if ticks.len() < 2 {
            ticks = vec![low, high]; // no two round numbers lie between
        }
        // Roofs are read at the upper end: 1000 TFLOP/s rather than 1 PFLOP/s beside 0.001.
        let scale = Scale::of(unit, high / 10.0);
        let title = match scale.unit.as_str() {
            "" => title.to_owned(),
            unit => format!("{title} [{unit}]"),
        };
        Self { low, high, ticks, title, scale }
    }

    /// An axis that ends exactly at the least and the greatest value; none without positive values.
    pub(super) fn tight(
        title: &str,
        unit: &str,
        values: impl Iterator<Item = f64>,
    ) -> Option<Self> {
        Some(Self::between(title, unit, ends(values)?))
    }

    /// An axis that reaches to the next round numbers.
    pub(super) fn round(
        title: &str,
        unit: &str,
        values: impl Iterator<Item = f64>,
    ) -> Option<Self> {
        let (low, high) = ends(values)?;
        Some(Self::between(title, unit, (below(low * 0.98), above(high * 1.02))))
    }

    /// An axis for marks of these radii, which it holds whole, on at least so many pixels.
    pub(super) fn holding(
        title: &str,
        unit: &str,
        marks: &[(f64, i32)],
        pixels: i32,
    ) -> Option<Self> {
        let (least, most) = ends(marks.iter().map(|(value, _)| *value))?;
        let (mut low, mut high) = (least.log10(), most.log10());
        // A wider axis makes every mark wider in decades: this settles after a few rounds.
        for _ in 0..8 {
            let decades = (high - low).max(1.0) / f64::from(pixels.max(1));
            let ends = |side: f64| {
                let reach = marks.iter().filter(|(value, _)| *value > 0.0 && value.is_finite());
                reach
                    .map(move |(value, radius)| value.log10() + side * decades * f64::from(*radius))
            };
            low = ends(-1.0).fold(f64::INFINITY, f64::min);
            high = ends(1.0).fold(f64::NEG_INFINITY, f64::max);
        }
        // Over less than a decade, small differences would look large.
        let air = (1.0 - (high - low)).max(0.0) / 2.0;
        let (low, high) = (low - air, high + air);
        Some(Self::between(title, unit, (10f64.powf(low), 10f64.powf(high))))
    }

    /// Whether a mark of this radius lies between the ends, on at least so many pixels.
    pub(super) fn holds(&self, value: f64, radius: i32, pixels: i32) -> bool {
        let reach = (self.high / self.low).powf(f64::from(radius) / f64::from(pixels.max(1)));
        value / reach >= self.low * 0.999 && value * reach <= self.high * 1.001
    }

    /// The axis without its title and labels, for a panel above another.
    pub(super) fn untitled(self) -> Self {
        Self { title: String::new(), ..self }
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
    let (steps, stride): (&[f64], usize) = if decades <= 2.7 {
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
        let width = |axis: &Axis, tick: &f64| pen.size(&axis.scale.number(*tick)).0.unsigned_abs();
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
    let x_label =
        |value: &f64| if x.title.is_empty() { String::new() } else { x.scale.number(*value) };
    let y_label = |value: &f64| y.scale.number(*value);
    let grid = pen.rgb(Tone::Grid);
    let mut mesh = chart.configure_mesh();
    mesh.bold_line_style(grid.stroke_width(pen.stroke / 2))
        .light_line_style(grid.mix(0.0))
        .axis_style(pen.rgb(Tone::Edge).stroke_width(pen.stroke / 2))
        .set_all_tick_mark_size(letters / 3)
        .label_style(pen.text(Tone::Faint))
        .axis_desc_style(pen.text(Tone::Faint))
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
    fn an_axis_holds_its_marks_whole() {
        for marks in [&[(1.0, 40), (100.0, 5)][..], &[(3.0, 80)], &[(1e-3, 9), (1e9, 120)]] {
            let axis = Axis::holding("", "", marks, 600).unwrap();
            for (value, radius) in marks {
                assert!(axis.holds(*value, *radius, 600), "{axis:?} {value}");
            }
            assert!(!axis.holds(axis.low, 5, 600));
        }
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
    fn one_prefix_serves_all_ticks_of_an_axis() {
        let rates = Axis::between("performance", "FLOP/s", (2e10, 1.2e15));
        assert_eq!(rates.title, "performance [TFLOP/s]");
        let shown: Vec<String> = rates.ticks.iter().map(|tick| rates.scale.number(*tick)).collect();
        assert_eq!(shown, ["0.1", "1", "10", "100", "1000"]);
        for (unit, suits, value, shown) in [
            ("s", 2e-5, 1e-5, "10 µs"),
            ("s", 2e-5, 9.999_999_999_999_999e-5, "100 µs"),
            ("s", 0.02, 5e-4, "0.5 ms"),
            ("s", 0.02, 0.0, "0"),
            ("%", 0.5, 0.05, "5%"),
            ("×", 3.0, 1.5, "1.5×"),
            ("", 5e7, 1e7, "10⁷"),
            ("", 5e7, 2000.0, "2000"),
            ("", 1.0, 1e-4, "10⁻⁴"),
            ("", 1.0, 2e-7, "2e-7"),
            ("B/s", 3.35e12, 5e11, "0.5 TB/s"),
        ] {
            assert_eq!(Scale::of(unit, suits).label(value), shown);
        }
    }
}
