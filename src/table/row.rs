//! A launch as read from a table row, before it is added to a profile.

use super::cell::Cell;
use crate::model::{DeviceHint, Dim3, Origin, OriginKind, Quantity, Shape};
use crate::units::FASTEST_CLOCK;

/// Why a cell or a whole row cannot be used, in lowercase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The cell counts as missing.
    Cell(&'static str),
    /// The row is skipped.
    Row(&'static str),
}

impl Fault {
    /// Returns the reason.
    #[must_use]
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Cell(reason) | Self::Row(reason) => reason,
        }
    }
}

/// A launch as described by a table; empty cells are missing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// The file it was originally read from.
    pub source: Option<String>,
    /// The format of that file.
    pub source_format: Option<String>,
    /// True if the profiler was set to keep cache contents between passes.
    pub keeps_caches: bool,
    /// Operating-system process.
    pub process: Option<u32>,
    /// ID of the launch within its export.
    pub id: Option<u32>,
    /// Name as written by the profiler.
    pub kernel: Option<String>,
    /// Framework operator and its parameters.
    pub operator: Option<String>,
    /// Modules, lines or function of the program that made it.
    pub place: Option<String>,
    /// Attributes of the device.
    pub device: DeviceHint,
    /// CUDA stream.
    pub stream: Option<u32>,
    /// Start on the GPU in nanoseconds.
    pub start: Option<u64>,
    /// Number of launches it stands for.
    pub launches: Option<u32>,
    /// Blocks in x, y and z.
    pub grid: [Option<u32>; 3],
    /// Threads per block in x, y and z.
    pub block: [Option<u32>; 3],
    /// Blocks of the grid.
    pub blocks: Option<u64>,
    /// Threads per block.
    pub threads_per_block: Option<u64>,
    /// Its quantities, in the order of the columns.
    pub values: Vec<Value>,
}

/// A quantity of a row with its origin and uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    /// The quantity.
    pub quantity: Quantity,
    /// Its value in SI base units.
    pub value: f64,
    /// How it was obtained.
    pub kind: OriginKind,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

impl Value {
    /// Returns the factors that bound the true value from below and above.
    #[must_use]
    pub fn bounds(&self) -> [f64; 2] {
        match (self.low, self.high) {
            (None, None) => [1.0, 1.0],
            // A lower end without an upper one: nothing bounds it.
            (low, high) => [low.unwrap_or(0.0), high.unwrap_or(f64::INFINITY)],
        }
    }

    /// Returns its origin with this formula.
    #[must_use]
    pub fn origin(&self, formula: &str) -> Origin {
        let [low, high] = self.bounds();
        Origin::new(self.kind, formula).within(low, high)
    }

    /// Sets its origin; an unknown origin is not a measurement.
    pub(super) fn came_about(&mut self, word: Cell<'_>) -> Result<(), Fault> {
        let label = word.text().unwrap_or_default();
        let known = OriginKind::ALL.into_iter().find(|kind| kind.label() == label.trim());
        self.kind = known.unwrap_or(OriginKind::Modeled);
        known.map(|_| ()).ok_or(Fault::Cell("unknown origin of a value"))
    }
}

impl Row {
    /// Returns grid and block.
    #[must_use]
    pub fn shape(&self) -> Shape {
        let extent = |[x, y, z]: [Option<u32>; 3]| Some(Dim3 { x: x?, y: y?, z: z? });
        let some = |product: Option<u64>| product.filter(|product| *product > 0);
        Shape {
            blocks: some(self.blocks),
            threads_per_block: some(self.threads_per_block),
            ..Shape::new(extent(self.grid), extent(self.block))
        }
    }

    /// Adds a quantity, measured unless the next column says otherwise.
    pub(super) fn measure(&mut self, quantity: Quantity, cell: Cell<'_>) -> Result<(), Fault> {
        let Some(value) = cell.number() else { return Ok(()) };
        if value < 0.0 && (quantity.is_additive() || quantity.is_rate_of_device()) {
            return Err(Fault::Cell("negative"));
        }
        if quantity.is_clock() && value >= FASTEST_CLOCK {
            return Err(Fault::Cell("beyond any clock"));
        }
        let kind = OriginKind::Measured;
        self.values.push(Value { quantity, value, kind, low: None, high: None });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_is_missing_bounds_nothing() {
        let bounds = |low, high| {
            let (quantity, kind) = (Quantity::Duration, OriginKind::Measured);
            Value { quantity, value: 1.0, kind, low, high }.bounds()
        };
        assert_eq!(bounds(None, None), [1.0, 1.0]);
        assert_eq!(bounds(Some(0.5), Some(2.0)), [0.5, 2.0]);
        assert_eq!(bounds(Some(1.0), None), [1.0, f64::INFINITY]);
        assert_eq!(bounds(None, Some(2.0)), [0.0, 2.0]);
    }

    #[test]
    fn how_a_value_came_about_is_no_measurement_where_it_cannot_be_read() {
        let mut row = Row::default();
        row.measure(Quantity::Duration, Cell::Number(1.0)).unwrap();
        let value = &mut row.values[0];
        for kind in OriginKind::ALL {
            value.came_about(Cell::word(kind.label())).unwrap();
            assert_eq!(value.kind, kind);
        }
        value.kind = OriginKind::Measured;
        assert!(matches!(value.came_about(Cell::word("guessed")), Err(Fault::Cell(_))));
        assert_eq!(value.kind, OriginKind::Modeled);
    }

    #[test]
    fn an_amount_cannot_be_negative() {
        let mut row = Row::default();
        let fault = row.measure(Quantity::DramBytes, Cell::Number(-1.0));
        assert_eq!((fault, row.values.len()), (Err(Fault::Cell("negative")), 0));
        row.measure(Quantity::DramBytes, Cell::word("many")).unwrap();
        assert_eq!(row.values.len(), 0);
        row.measure(Quantity::DramBytes, Cell::Count(7)).unwrap();
        assert_eq!((row.values[0].value, row.values[0].kind), (7.0, OriginKind::Measured));
    }

    #[test]
    fn a_grid_has_three_extents_or_none() {
        let grid = |grid| Row { grid, blocks: Some(6), ..Row::default() }.shape();
        let whole = grid([Some(3), Some(2), Some(1)]);
        assert_eq!((whole.grid, whole.blocks), (Some(Dim3 { x: 3, y: 2, z: 1 }), Some(6)));
        let part = grid([Some(3), None, Some(1)]);
        assert_eq!((part.grid, part.blocks), (None, Some(6)));
    }
}
