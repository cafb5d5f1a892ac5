//! The canonical launch table and comparisons across ranks: the only module that knows polars.
//!
//! It sees the narrow, typed table, never a profiler's file, and no polars type leaves it. Nothing
//! here runs for `--help` or for a report on one file.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use polars::prelude::*;
use polars_io::parquet::read::ParquetReader;
use polars_io::parquet::write::{KeyValueMetadata, ParquetWriter};
use polars_io::prelude::SerReader;

use super::ranks::{Rank, Ranks, Spread};
use super::table::{Cells, SCHEMA, Table};
use crate::model::Profile;
use crate::units::Seconds;

/// What can go wrong in the frame library.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// A table cannot be put together.
    #[error("cannot build the table: {0}")]
    Build(#[from] PolarsError),
    /// A Parquet file cannot be read.
    #[error("cannot read the Parquet file: {0}")]
    Read(PolarsError),
    /// A Parquet file is so damaged that its reader gave up.
    #[error("cannot read the Parquet file: it is damaged")]
    Damaged,
    /// A Parquet file holds another table.
    #[error("this Parquet file is no launch table: {0}")]
    NoLaunches(String),
}

/// Writes the canonical launch table as Parquet, with the derivations as file metadata.
///
/// # Errors
/// [`FrameError`] when the frame library refuses the table.
pub fn parquet(table: Table) -> Result<Vec<u8>, FrameError> {
    let metadata = table.metadata.clone();
    let mut frame = frame(table)?;
    let mut bytes = Vec::new();
    ParquetWriter::new(&mut bytes)
        .with_key_value_metadata(Some(KeyValueMetadata::from_static(metadata)))
        .finish(&mut frame)?;
    Ok(bytes)
}

/// Reads the canonical launch table back from Parquet.
///
/// # Errors
/// [`FrameError`] when the file is damaged, or no launch table of the version that is read.
pub fn read_parquet(bytes: Vec<u8>) -> Result<Table, FrameError> {
    // The frame library panics on some damaged files.
    catch_unwind(AssertUnwindSafe(|| table(bytes))).unwrap_or(Err(FrameError::Damaged))
}

fn table(bytes: Vec<u8>) -> Result<Table, FrameError> {
    let mut reader = ParquetReader::new(Cursor::new(bytes));
    let known = reader.get_metadata().map_err(FrameError::Read)?.key_value_metadata().clone();
    let pairs = known.unwrap_or_default().into_iter();
    let metadata: Vec<(String, String)> =
        pairs.filter_map(|pair| Some((pair.key, pair.value?))).collect();
    match metadata.iter().find(|(key, _)| key == "schema").map(|(_, schema)| schema.as_str()) {
        Some(SCHEMA) => {}
        Some(other) => {
            let message = format!("its schema is {other:?}, and {SCHEMA:?} is read");
            return Err(FrameError::NoLaunches(message));
        }
        None => {
            let message = format!("its metadata lacks the schema {SCHEMA:?}");
            return Err(FrameError::NoLaunches(message));
        }
    }
    let frame = reader.finish().map_err(FrameError::Read)?;
    let columns = frame.columns().iter().filter_map(|column| Some((column, cells(column)?)));
    let columns = columns.map(|(column, cells)| Ok((column.name().to_string(), cells?)));
    let columns: Result<_, PolarsError> = columns.collect();
    Ok(Table { height: frame.height(), columns: columns.map_err(FrameError::Read)?, metadata })
}

/// The cells of a column; none for types that no column of ours has.
fn cells(column: &Column) -> Option<Result<Cells, PolarsError>> {
    let kind = column.dtype();
    let text = || Ok(Cells::Text(column.str()?.iter().map(|one| one.map(str::to_owned)).collect()));
    let counts = || Ok(Cells::Count(column.cast(&DataType::UInt64)?.u64()?.iter().collect()));
    let numbers = || Ok(Cells::Number(column.cast(&DataType::Float64)?.f64()?.iter().collect()));
    if *kind == DataType::String {
        Some(text())
    } else if kind.is_unsigned_integer() {
        Some(counts())
    } else if kind.is_primitive_numeric() {
        Some(numbers())
    } else {
        None
    }
}

fn frame(table: Table) -> Result<DataFrame, PolarsError> {
    let height = table.height;
    let columns = table
        .columns
        .into_iter()
        .map(|(name, cells)| {
            let name = PlSmallStr::from(name.as_str());
            match cells {
                Cells::Text(cells) => Column::new(name, cells),
                Cells::Count(cells) => Column::new(name, cells),
                Cells::Number(cells) => Column::new(name, cells),
            }
        })
        .collect();
    DataFrame::new(height, columns)
}

mod columns {
    pub(super) const SOURCE: &str = "source";
    pub(super) const KERNEL: &str = "kernel";
    pub(super) const COUNT: &str = "launches";
    pub(super) const TIME: &str = "measured_s";
    pub(super) const TIMED: &str = "timed";
    pub(super) const MEDIAN: &str = "median_s";
    pub(super) const LEAST: &str = "least_s";
    pub(super) const GREATEST: &str = "greatest_s";
    pub(super) const SOURCES: &str = "sources";
    pub(super) const SLOWEST: &str = "slowest";
    pub(super) const LOST: &str = "lost_s";
}

/// How many kernels are listed with their spread.
const SPREADS: u32 = 5;

/// Compares the inputs of a profile: time per input, and kernels that take longer on some.
///
/// # Errors
/// [`FrameError`] when the frame library fails.
pub fn ranks(profile: &Profile) -> Result<Ranks, FrameError> {
    let launches = with_launches(profile)?;
    let per_rank = by_source(launches.clone()).collect()?;
    let spread = with_spread(by_kernel_and_source(launches)).collect()?;
    let mut ranks = Ranks::default();
    let timed = per_rank.column(columns::TIMED)?.u32()?.clone();
    let (source, count, time) = (
        per_rank.column(columns::SOURCE)?.u32()?.clone(),
        per_rank.column(columns::COUNT)?.u64()?.clone(),
        per_rank.column(columns::TIME)?.f64()?.clone(),
    );
    for row in 0..per_rank.height() {
        ranks.ranks.push(Rank {
            source: source.get(row).unwrap_or_default() as usize,
            launches: count.get(row).unwrap_or_default(),
            measured: time
                .get(row)
                .filter(|_| timed.get(row).is_some_and(|timed| timed > 0))
                .map(Seconds::new),
        });
    }
    let seconds = |name: &str, row: usize| -> Result<Seconds, PolarsError> {
        Ok(Seconds::new(spread.column(name)?.f64()?.get(row).unwrap_or_default()))
    };
    for row in 0..spread.height() {
        ranks.spreads.push(Spread {
            kernel: spread.column(columns::KERNEL)?.str()?.get(row).unwrap_or_default().to_owned(),
            sources: u64::from(
                spread.column(columns::SOURCES)?.u32()?.get(row).unwrap_or_default(),
            ),
            least: seconds(columns::LEAST, row)?,
            median: seconds(columns::MEDIAN, row)?,
            greatest: seconds(columns::GREATEST, row)?,
            slowest: spread.column(columns::SLOWEST)?.u32()?.get(row).unwrap_or_default() as usize,
        });
    }
    Ok(ranks)
}

/// One row per launch: input, kernel, executions, time.
fn with_launches(profile: &Profile) -> Result<LazyFrame, PolarsError> {
    let (mut source, mut kernel, mut count, mut time) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for launch in profile.iter() {
        source.push(u32::from(launch.head.source));
        kernel.push(launch.kernel());
        count.push(u64::from(launch.head.count));
        time.push(launch.duration().map(|(time, _)| time.get() * f64::from(launch.head.count)));
    }
    let frame = DataFrame::new(
        source.len(),
        vec![
            Column::new(columns::SOURCE.into(), source),
            Column::new(columns::KERNEL.into(), kernel),
            Column::new(columns::COUNT.into(), count),
            Column::new(columns::TIME.into(), time),
        ],
    )?;
    Ok(frame.lazy())
}

fn by_source(launches: LazyFrame) -> LazyFrame {
    launches
        .group_by([col(columns::SOURCE)])
        .agg([
            col(columns::COUNT).sum(),
            col(columns::TIME).sum(),
            col(columns::TIME).count().alias(columns::TIMED),
        ])
        .sort([columns::SOURCE], SortMultipleOptions::default())
}

fn by_kernel_and_source(launches: LazyFrame) -> LazyFrame {
    launches
        .filter(col(columns::TIME).is_not_null())
        .group_by([col(columns::KERNEL), col(columns::SOURCE)])
        .agg([col(columns::TIME).sum()])
        .sort([columns::KERNEL, columns::SOURCE], SortMultipleOptions::default())
}

/// Per kernel: least, median and greatest time over the inputs, and what the slowest loses.
fn with_spread(per_source: LazyFrame) -> LazyFrame {
    let lost = col(columns::GREATEST) - col(columns::MEDIAN);
    per_source
        .sort([columns::TIME], SortMultipleOptions::default())
        .group_by([col(columns::KERNEL)])
        .agg([
            len().alias(columns::SOURCES),
            col(columns::TIME).min().alias(columns::LEAST),
            col(columns::TIME).median().alias(columns::MEDIAN),
            col(columns::TIME).max().alias(columns::GREATEST),
            col(columns::SOURCE).last().alias(columns::SLOWEST),
        ])
        .filter(col(columns::SOURCES).gt(lit(1)))
        .with_column(lost.alias(columns::LOST))
        .sort(
            [columns::LOST, columns::KERNEL],
            SortMultipleOptions::default().with_order_descending_multi([true, false]),
        )
        .limit(SPREADS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Head, Origin, Quantity, Source, Values};

    /// A launch that has a time, and one that has none.
    fn two_launches() -> Profile {
        let mut profile = Profile { sources: vec![Source::default()], ..Profile::default() };
        let name = profile.names.id("gemm<\"a\", b>");
        let origin = profile.origins.id(&Origin::measured("gpu__time_duration.sum"));
        let mut values = Values::default();
        values.set(Quantity::Duration, 1.25e-6, origin);
        let head = Head { name, count: 1, ..Head::default() };
        profile.launches.push(head, &values);
        profile.launches.push(head, &Values::default());
        profile
    }

    #[test]
    fn a_table_comes_back_from_parquet() {
        let table = Table::of(&two_launches());
        let read = read_parquet(parquet(table.clone()).unwrap()).unwrap();
        assert_eq!((read.height, read.csv()), (2, table.csv()));
        let formula = ("column:duration_s".to_owned(), "[s] gpu__time_duration.sum".to_owned());
        assert!(read.metadata.contains(&formula), "{:?}", read.metadata);
    }

    #[test]
    fn what_is_no_launch_table_is_refused() {
        let bytes = parquet(Table::of(&two_launches())).unwrap();
        for end in [0, 4, 100, bytes.len() / 2, bytes.len() - 1] {
            assert!(read_parquet(bytes[..end].to_vec()).is_err(), "{end}");
        }
        let mut other = Table::of(&two_launches());
        other.metadata.retain(|(key, _)| key != "schema");
        let error = read_parquet(parquet(other.clone()).unwrap()).unwrap_err().to_string();
        assert!(error.contains("lacks the schema"), "{error}");
        other.metadata.push(("schema".to_owned(), "rooflint/launches/2".to_owned()));
        let error = read_parquet(parquet(other).unwrap()).unwrap_err().to_string();
        assert!(error.contains("\"rooflint/launches/1\" is read"), "{error}");
    }

    #[test]
    fn the_slowest_input_of_a_kernel_is_found() {
        let mut profile = Profile { sources: vec![Source::default(); 4], ..Profile::default() };
        let name = profile.names.id("gemm");
        let origin = profile.origins.id(&Origin::measured("t"));
        for (source, time) in [(0, 1.0), (1, 3.0), (2, 2.0), (1, 4.0)] {
            let mut values = Values::default();
            values.set(Quantity::Duration, time, origin);
            profile.launches.push(Head { source, name, count: 1, ..Head::default() }, &values);
        }
        let untimed = Head { source: 3, name, count: 1, ..Head::default() };
        profile.launches.push(untimed, &Values::default());
        let ranks = ranks(&profile).unwrap();
        assert_eq!(
            ranks.ranks.iter().map(|rank| rank.measured.map(Seconds::get)).collect::<Vec<_>>(),
            [Some(1.0), Some(7.0), Some(2.0), None]
        );
        assert_eq!(ranks.ranks[1].launches, 2);
        assert_eq!(ranks.spreads[0].sources, 3);
        let spread = &ranks.spreads[0];
        assert_eq!(
            (spread.least.get(), spread.median.get(), spread.greatest.get(), spread.slowest),
            (1.0, 2.0, 7.0, 1)
        );
    }
}
