//! Predictions as table rows: one column for each figure, with its key, heading and SI unit.

use super::prediction::Prediction;
use crate::units::{Bytes, BytesPerSecond, Flops, FlopsPerByte, FlopsPerSecond, Seconds};

/// One column of a table of predictions.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// The name in CSV, with its unit: `t_mem_s`.
    pub key: &'static str,
    /// The name in text tables.
    pub heading: &'static str,
    /// The SI unit of its numbers; empty for text and for plain numbers.
    pub unit: &'static str,
    /// Takes the cell from a prediction.
    pub cell: fn(&Prediction) -> Cell,
}

/// One cell of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Text.
    Text(String),
    /// A number in the column's unit.
    Number(f64),
    /// Unknown or not applicable: a dash in text, empty in CSV.
    Missing,
}

impl Cell {
    fn of(value: Option<f64>) -> Self {
        value.map_or(Self::Missing, Self::Number)
    }
}

macro_rules! columns {
    ($($key:literal, $heading:literal, $unit:expr, $cell:expr;)*) => {
        /// All columns of a prediction, in the order of tables.
        pub const COLUMNS: &[Column] =
            &[$(Column { key: $key, heading: $heading, unit: $unit, cell: $cell }),*];
    };
}

columns! {
    "form", "kernel", "", |one| Cell::Text(one.form.to_owned());
    "arguments", "arguments", "", |one| Cell::Text(one.arguments.clone());
    "device", "device", "", |one| Cell::Text(one.device.clone());
    "pipe", "pipe", "", |one| one.pipes.first().map_or(Cell::Missing, |main| {
        Cell::Text(main.pipe.key().to_owned())
    });
    "flop", "operations", Flops::UNIT, |one| Cell::Number(one.operations.get());
    "read_bytes", "read", Bytes::UNIT, |one| Cell::Number(one.read_bytes.get());
    "written_bytes", "written", Bytes::UNIT, |one| Cell::Number(one.written_bytes.get());
    "bytes", "bytes", Bytes::UNIT, |one| Cell::Number(one.bytes.get());
    "intensity_flop_per_byte", "intensity", FlopsPerByte::UNIT,
        |one| Cell::of(one.intensity.map(FlopsPerByte::get));
    "ridge_point_flop_per_byte", "ridge point", FlopsPerByte::UNIT,
        |one| Cell::of(one.ridge_point.map(FlopsPerByte::get));
    "l2_ridge_point_flop_per_byte", "L2 ridge point", FlopsPerByte::UNIT,
        |one| Cell::of(one.l2_ridge_point.map(FlopsPerByte::get));
    "peak_flop_per_s", "peak", FlopsPerSecond::UNIT,
        |one| Cell::of(one.peak.map(FlopsPerSecond::get));
    "bandwidth_bytes_per_s", "bandwidth", BytesPerSecond::UNIT,
        |one| Cell::Number(one.bandwidth.get());
    "t_mem_s", "t_mem", Seconds::UNIT, |one| Cell::Number(one.t_mem.get());
    "t_math_s", "t_math", Seconds::UNIT, |one| Cell::Number(one.t_math.get());
    "t_link_s", "t_link", Seconds::UNIT,
        |one| Cell::of(one.link.as_ref().map(|link| link.time.get()));
    "roofline_s", "roofline", Seconds::UNIT, |one| Cell::Number(one.roofline_time.get());
    "achievable_expected_s", "achievable", Seconds::UNIT,
        |one| Cell::of(one.achievable.as_ref().map(|real| real.roofline_time.get()));
    "limiter", "limiter", "", |one| Cell::Text(one.limiter.label().to_owned());
    "attainable_flop_per_s", "attainable", FlopsPerSecond::UNIT,
        |one| Cell::of(one.attainable.map(FlopsPerSecond::get));
    "blocks", "blocks", "", |one| Cell::of(one.tiling.as_ref().map(|tiling| tiling.blocks as f64));
    "waves", "waves", "", |one| Cell::of(one.tiling.as_ref().and_then(|tiling| tiling.waves));
    "wave_efficiency", "wave efficiency", "",
        |one| Cell::of(one.tiling.as_ref().and_then(|tiling| tiling.wave_efficiency));
    "sm_efficiency", "SM efficiency", "",
        |one| Cell::of(one.tiling.as_ref().and_then(|tiling| tiling.sm_efficiency));
    "executed_flop", "executed", Flops::UNIT,
        |one| Cell::of(one.tiling.as_ref().map(|tiling| tiling.executed.get()));
    "tiled_least_s", "tiled, least", Seconds::UNIT,
        |one| Cell::of(one.tiling.as_ref().map(|tiling| tiling.least_time.get()));
    "tiled_most_s", "tiled, most", Seconds::UNIT,
        |one| Cell::of(one.tiling.as_ref().map(|tiling| tiling.most_time.get()));
}

impl Prediction {
    /// Iterates over the cells of all [`COLUMNS`], in order.
    pub fn cells(&self) -> impl Iterator<Item = Cell> {
        COLUMNS.iter().map(|column| (column.cell)(self))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::{Arguments, FORMS, Options, predict};
    use super::*;
    use crate::catalog::Catalog;
    use crate::model::DeviceHint;

    #[test]
    fn every_form_makes_a_row_and_json_with_finite_numbers() {
        let device = Catalog::builtin().find("H100 SXM5 80GB", &DeviceHint::default()).unwrap();
        for form in FORMS {
            let given = Arguments::parse(form, form.example.split(' ')).unwrap();
            let prediction = predict(&given, &device, &Options::default()).unwrap();
            let cells: Vec<Cell> = prediction.cells().collect();
            assert_eq!(cells.len(), COLUMNS.len());
            for (cell, column) in cells.iter().zip(COLUMNS) {
                let sound = !matches!(cell, Cell::Number(value) if !value.is_finite());
                assert!(sound, "{} {}", form.name, column.key);
            }
            let json = serde_json::to_value(&prediction).unwrap();
            assert_eq!(json["flop"], prediction.operations.get(), "{}", form.name);
            assert!(json["roofline_s"].as_f64().unwrap() > 0.0, "{}", form.name);
        }
    }

    #[test]
    fn keys_are_unique() {
        let keys: BTreeSet<_> = COLUMNS.iter().map(|column| column.key).collect();
        assert_eq!(keys.len(), COLUMNS.len());
    }
}
