//! The launch table: one list of columns, used to write and read CSV, JSON and Parquet.

mod cell;
mod columns;
mod facts;
mod header;
#[cfg(feature = "frames")]
mod quiet;
mod row;
mod written;

#[cfg(feature = "frames")]
pub mod frames;
#[cfg(feature = "frames")]
pub mod parts;

pub use cell::{Cell, Form, guarded};
pub use columns::{LaunchColumn, columns, device_columns};
pub use facts::{Fact, Facts};
pub use header::Header;
pub use row::{Fault, Row, Value};
pub(crate) use written::CHECKS;
pub use written::{Cells, Table};

/// Columns that every launch table has, and no other table all of.
pub(crate) const TELLING: [&str; 6] =
    ["source", "kernel", "device_ordinal", "launches", "grid_x", "threads_per_block"];

/// Key of the schema in the metadata of a table.
pub const SCHEMA_KEY: &str = "schema";

/// Key under which parts of partitioned tables had it besides, and other programs may have kept it alone.
const FORMER_SCHEMA_KEY: &str = "rooflint.schema";

/// Returns the schema that metadata name, by their keys.
pub(crate) fn named_schema<'m>(get: impl Fn(&str) -> Option<&'m str>) -> Option<&'m str> {
    get(SCHEMA_KEY).or_else(|| get(FORMER_SCHEMA_KEY))
}

/// Name and major version of the table's schema.
pub const SCHEMA: &str = "rooflint/launches/1";
