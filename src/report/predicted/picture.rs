//! Pictures of predictions: a sweep of sizes as curves, everything else on a roofline.

use super::Predicted;
use crate::predict::{Axis, Crossing, PredictedLimiter, Prediction, SweepTable};
use crate::report::figure::{
    Canvas, Caption, Curve, Encoding, Key, Look, Mark, PictureError, Point, Roof, RoofKind,
    Roofline, Sample, SweepFigure, Tone, TurnMark, encoded,
};
use crate::report::view::printable;

impl Predicted<'_> {
    /// A picture: roofline time and intensity over a swept size with the crossings of the ridge
    /// point, or the kernels on the rooflines of their devices.
    ///
    /// # Errors
    /// [`PictureError`] if the canvas is too small for axes.
    pub fn picture(&self, canvas: &Canvas, encoding: Encoding) -> Result<Vec<u8>, PictureError> {
        match self {
            Self::Kernel { call, table, crossings, .. } => {
                let range = table.axes.iter().position(|axis| axis.sizes().is_some());
                match range {
                    Some(range) => encoded(&sweep(call, table, crossings, range), canvas, encoding),
                    None => encoded(&points(call, table), canvas, encoding),
                }
            }
            Self::Step { steps, .. } => {
                let rows = steps.iter().flat_map(|step| {
                    step.rows.iter().map(|row| (row.name.clone(), &row.prediction))
                });
                let title = "Prediction: kernels of a step";
                encoded(&roofline(title, rows), canvas, encoding)
            }
        }
    }
}

/// Makes curves over the swept key at index `range`, one for each device and value of the other
/// key.
fn sweep(call: &str, table: &SweepTable, crossings: &[Crossing], range: usize) -> SweepFigure {
    let axis: &Axis = &table.axes[range];
    let sizes = axis.sizes().unwrap_or_default();
    let size_of =
        |text: &str| axis.values.iter().position(|value| value == text).map_or(0.0, |at| sizes[at]);
    let mut curves: Vec<(String, Option<String>, Curve)> = Vec::new();
    for row in &table.rows {
        let other = table.axes.iter().zip(&row.at).enumerate();
        let other = other.filter(|(position, _)| *position != range);
        let other = other.map(|(_, (axis, value))| format!("{}={value}", axis.key)).next();
        let one = &row.prediction;
        let sample = Sample {
            size: size_of(&row.at[range]),
            time: one.roofline_time.get(),
            is_math: one.t_math > one.t_mem,
            intensity: one.intensity.map(crate::units::FlopsPerByte::get),
            ridge_point: one.ridge_point.map(crate::units::FlopsPerByte::get),
        };
        let known = curves.iter_mut().find(|known| known.0 == one.device && known.1 == other);
        match known {
            Some((_, _, curve)) => curve.samples.push(sample),
            None => {
                let label = match &other {
                    Some(other) => format!("{}, {other}", one.device),
                    None => one.device.clone(),
                };
                let curve =
                    Curve { label: printable(&label), samples: vec![sample], turns: Vec::new() };
                curves.push((one.device.clone(), other, curve));
            }
        }
    }
    for crossing in crossings {
        let found =
            curves.iter_mut().find(|known| known.0 == crossing.device && known.1 == crossing.at);
        let Some((_, _, curve)) = found else { continue };
        for turn in &crossing.turns {
            let at = Sample {
                size: turn.after as f64,
                time: turn.roofline_time.get(),
                is_math: turn.becomes == PredictedLimiter::Math,
                intensity: turn.intensity.map(crate::units::FlopsPerByte::get),
                ridge_point: turn.ridge_point.map(crate::units::FlopsPerByte::get),
            };
            let label = format!("{} {}", crossing.along, turn.after);
            curve.turns.push(TurnMark { at, label });
        }
    }
    let unit = intensity_unit(table.rows.iter().map(|row| &row.prediction));
    SweepFigure {
        caption: Caption {
            title: format!("Prediction: {}", printable(call)),
            subtitle: devices(table.rows.iter().map(|row| &row.prediction)),
            ..Caption::default()
        },
        key: axis.key.to_owned(),
        unit,
        curves: curves.into_iter().map(|(_, _, curve)| curve).collect(),
    }
}

/// Places the points of a table on the rooflines of their devices.
fn points(call: &str, table: &SweepTable) -> Roofline {
    let rows = table.rows.iter().map(|row| {
        let at = table.axes.iter().zip(&row.at);
        let at: Vec<String> = at.map(|(axis, value)| format!("{}={value}", axis.key)).collect();
        let name = if at.is_empty() { row.prediction.form.to_owned() } else { at.join(" ") };
        (name, &row.prediction)
    });
    roofline(&format!("Prediction: {}", printable(call)), rows)
}

/// The devices of some predictions, each once.
fn devices<'a>(rows: impl Iterator<Item = &'a Prediction>) -> String {
    let mut names: Vec<&str> = Vec::new();
    for one in rows {
        if !names.contains(&one.device.as_str()) {
            names.push(&one.device);
        }
    }
    printable(&names.join(", "))
}

fn roofline<'a>(title: &str, rows: impl Iterator<Item = (String, &'a Prediction)>) -> Roofline {
    let rows: Vec<(String, &Prediction)> = rows.collect();
    let mut figure = Roofline::default();
    for (_, one) in &rows {
        if !figure.owners.contains(&one.device) {
            figure.owners.push(one.device.clone());
        }
    }
    let is_alone = figure.owners.len() == 1;
    for (name, one) in &rows {
        let owner = figure.owners.iter().position(|known| *known == one.device).unwrap_or(0);
        let mut roof = |label: &str, kind: RoofKind, rate: f64, achievable: Option<f64>| {
            let same =
                |known: &Roof| known.owner == owner && known.kind == kind && known.label == label;
            if figure.roofs.iter().any(same) {
                return;
            }
            // One device has the colors of reports; of several each has its own.
            let tone = match kind {
                _ if !is_alone => Tone::nth(owner),
                RoofKind::Memory => Tone::Blue,
                RoofKind::Compute => Tone::Orange,
            };
            figure.roofs.push(Roof {
                owner,
                tone,
                operation: one.pipes.first().map_or("FLOP", |main| main.pipe.operation()),
                label: label.to_owned(),
                kind,
                rate,
                achievable,
                lowest: rate,
            });
        };
        let real = one.achievable.as_ref();
        let bandwidth = real.map(|real| real.bandwidth.get());
        roof("DRAM", RoofKind::Memory, one.bandwidth.get(), bandwidth);
        if let (Some(peak), Some(main)) = (one.peak, one.pipes.first()) {
            let real = real.and_then(|real| Some(real.peak?.get()));
            roof(main.pipe.label(), RoofKind::Compute, peak.get(), real);
        }
        if let (Some(intensity), Some(rate)) = (one.intensity, one.attainable) {
            figure.points.push(Point {
                look: if is_alone { ALONE } else { Look::nth(owner) },
                intensity: intensity.get(),
                rate: rate.get(),
                share: None,
                label: Some(printable(name)),
                levels: Vec::new(),
                before: None,
            });
        }
    }
    let marks = |(owner, name): (usize, &String)| {
        let look = if is_alone { ALONE } else { Look::nth(owner) };
        let text = if is_alone { "predicted, at its roof".to_owned() } else { printable(name) };
        (Key::Mark(look), text)
    };
    figure.caption = Caption {
        title: title.to_owned(),
        subtitle: devices(rows.iter().map(|(_, one)| *one)),
        legend: vec![figure.owners.iter().enumerate().map(marks).collect()],
        notes: Vec::new(),
    };
    figure
}

/// Kernels on the roofline of one device.
const ALONE: Look = Look { mark: Mark::Circle, tone: Tone::Ink, is_hollow: false };

/// The unit of intensities: integer and floating-point work in one sweep share the axis.
fn intensity_unit<'a>(rows: impl Iterator<Item = &'a Prediction>) -> &'static str {
    let mut words: Vec<&str> =
        rows.filter_map(|one| Some(one.pipes.first()?.pipe.operation())).collect();
    words.sort_unstable();
    words.dedup();
    match words.as_slice() {
        ["OP"] => "OP/B",
        ["FLOP", "OP"] => "FLOP/B, OP/B",
        _ => "FLOP/B",
    }
}
