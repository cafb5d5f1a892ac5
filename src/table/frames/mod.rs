//! The launch table as Parquet, and sums of launches by input: the only module that uses polars.
//!
//! It sees the narrow, typed table, never a profiler's file, and no polars type leaves it. Nothing
//! here runs for `--help` or for a report on one file.

mod rows;

use std::collections::BTreeMap;
use std::fs::File;
use std::ops::Range;
use std::path::Path;

use polars::prelude::*;
use polars_arrow::array::StructArray;
use polars_arrow::ffi::{ArrowArrayStream, export_iterator};
use polars_io::mmap::MmapBytesReader;
use polars_io::parquet::read::ParquetReader;
use polars_io::parquet::write::{KeyValueMetadata, ParquetWriter};
use polars_io::prelude::SerReader;

pub use rows::Rows;

use super::cell::{self, Form};
use super::columns::LaunchColumn;
use super::named_schema;
use super::quiet::quietly;
use super::written::{Cells, Table};
use crate::model::{Launch, NameId, OriginKind, Profile};
use crate::units::Seconds;

/// Errors of the frame library.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// A table cannot be built.
    #[error("cannot build the table: {0}")]
    Build(#[from] PolarsError),
    /// A Parquet file cannot be read.
    #[error("cannot read the Parquet file: {0}")]
    Read(PolarsError),
    /// A Parquet file is damaged.
    #[error("cannot read the Parquet file: the file is damaged")]
    Damaged,
    /// A Parquet file contains another table.
    #[error("not a rooflint launch table: {0}")]
    NoLaunches(String),
    /// A column is there twice.
    #[error("the column {0:?} is given twice; keep one of them")]
    Twice(String),
    /// The metadata have a key twice, with different texts.
    #[error("the key {0:?} of its metadata is given twice; keep one of them")]
    Key(String),
    /// A column of launches has a type that is not read.
    #[error(
        "the column {column:?} has the type {kind}; write it as text, float64, int64 or uint64"
    )]
    Type {
        /// Its name.
        column: String,
        /// Its type, as Arrow calls it.
        kind: String,
    },
    /// A Parquet file contains another table than this one.
    #[error(
        "unsupported schema {} (expected {expected:?})",
        .found.as_ref().map_or_else(|| "none".to_owned(), |found| format!("{found:?}"))
    )]
    Other {
        /// The schema that it should have.
        expected: String,
        /// The schema that it has.
        found: Option<String>,
    },
}

/// Writes the canonical launch table as Parquet, with the derivations as file metadata.
///
/// # Errors
/// [`FrameError`] when the frame library refuses the table.
pub fn parquet(table: &Table<'_>) -> Result<Vec<u8>, FrameError> {
    let metadata = KeyValueMetadata::from_static(table.metadata.clone());
    let mut bytes = Vec::new();
    let first = frame(table, 0..ROWS_AT_ONCE)?;
    let to = ParquetWriter::new(&mut bytes).with_key_value_metadata(Some(metadata));
    let mut to = to.batched(first.schema())?;
    to.write_batch(&first)?;
    drop(first);
    for start in (ROWS_AT_ONCE..table.height).step_by(ROWS_AT_ONCE) {
        to.write_batch(&frame(table, start..start + ROWS_AT_ONCE)?)?;
    }
    to.finish()?;
    Ok(bytes)
}

/// How many rows of a launch table are written or read at a time.
const ROWS_AT_ONCE: usize = 1 << 16;

/// Returns the schema that the metadata of a Parquet file name; `None` if they name none, or it cannot be read.
#[must_use]
pub fn schema(path: &Path) -> Option<String> {
    let read = || {
        let (_, metadata) = opened(File::open(path).ok()?).ok()?;
        named(&metadata).map(str::to_owned)
    };
    quietly(read).flatten()
}

/// Reads a table with this schema in its metadata, or only its metadata, without columns.
///
/// # Errors
/// [`FrameError`] if the file is damaged, or has another schema.
pub fn read_table(
    path: &Path,
    schema: &str,
    only_metadata: bool,
) -> Result<Table<'static>, FrameError> {
    let read = || {
        let file = File::open(path).map_err(|cause| FrameError::Read(cause.into()))?;
        let (reader, metadata) = opened(file)?;
        match named(&metadata) {
            Some(found) if found == schema => {}
            found => {
                let found = found.map(str::to_owned);
                return Err(FrameError::Other { expected: schema.to_owned(), found });
            }
        }
        if only_metadata {
            return Ok(Table { metadata, ..Table::default() });
        }
        filled(reader, metadata)
    };
    quietly(read).unwrap_or(Err(FrameError::Damaged))
}

/// Metadata of a table in order.
type Metadata = Vec<(String, String)>;

/// Reads the footer of a file.
fn opened<R: MmapBytesReader>(file: R) -> Result<(ParquetReader<R>, Metadata), FrameError> {
    let mut reader = ParquetReader::new(file);
    let known = reader.get_metadata().map_err(FrameError::Read)?.key_value_metadata().clone();
    let pairs = known.unwrap_or_default().into_iter();
    Ok((reader, pairs.filter_map(|pair| Some((pair.key, pair.value?))).collect()))
}

/// Returns the schema that metadata name.
pub(super) fn named(metadata: &[(String, String)]) -> Option<&str> {
    named_schema(|name| Some(metadata.iter().find(|(key, _)| key == name)?.1.as_str()))
}

/// Reads the columns.
fn filled<R: MmapBytesReader>(
    reader: ParquetReader<R>,
    metadata: Metadata,
) -> Result<Table<'static>, FrameError> {
    table(&reader.finish().map_err(FrameError::Read)?, metadata)
}

/// The columns of a frame that a table can have.
fn table(frame: &DataFrame, metadata: Metadata) -> Result<Table<'static>, FrameError> {
    let columns = frame.columns().iter().filter_map(|column| Some((column, cells(column)?)));
    let columns = columns.map(|(column, cells)| Ok((column.name().to_string(), cells?)));
    let columns: Result<Vec<(String, Cells)>, PolarsError> = columns.collect();
    let (height, columns) = (frame.height(), columns.map_err(FrameError::Read)?);
    // The height is a figure of the file of its own.
    if columns.iter().any(|(_, cells)| cells.len() != height) {
        return Err(FrameError::Damaged);
    }
    Ok(Table { height, columns, metadata })
}

/// Returns the cells of a column; `None` for unsupported types.
fn cells(column: &Column) -> Option<Result<Cells<'static>, PolarsError>> {
    let kind = column.dtype();
    let text = || Ok(Cells::Text(column.str()?.iter().map(|one| one.map(str::to_owned)).collect()));
    let counts = || Ok(Cells::Count(column.cast(&DataType::UInt64)?.u64()?.iter().collect()));
    // A number of 64 bits is more than a float holds: counts stay whole.
    let integers = || {
        let whole = column.cast(&DataType::Int64)?;
        let whole = whole.i64()?;
        if whole.iter().flatten().all(|number| number >= 0) {
            return Ok(Cells::Count(whole.iter().map(|one| one.map(i64::unsigned_abs)).collect()));
        }
        if whole.iter().flatten().all(|number| number.unsigned_abs() < 1 << 53) {
            return Ok(Cells::Number(whole.iter().map(|one| one.map(|one| one as f64)).collect()));
        }
        Ok(Cells::Text(whole.iter().map(|one| one.map(|one| one.to_string())).collect()))
    };
    let truths = || Ok(Cells::Truth(column.bool()?.iter().collect()));
    let numbers = || Ok(Cells::Number(column.cast(&DataType::Float64)?.f64()?.iter().collect()));
    let lists = || {
        let list = |list: Option<Series>| -> Result<Vec<f64>, PolarsError> {
            let Some(list) = list else { return Ok(Vec::new()) };
            Ok(list.f64()?.iter().flatten().collect())
        };
        Ok(Cells::Numbers(column.list()?.into_iter().map(list).collect::<Result<_, _>>()?))
    };
    if *kind == DataType::String {
        Some(text())
    } else if *kind == DataType::Boolean {
        Some(truths())
    } else if kind.is_unsigned_integer() {
        Some(counts())
    } else if kind.is_signed_integer() {
        Some(integers())
    } else if kind.is_primitive_numeric() {
        Some(numbers())
    } else if *kind == DataType::List(Box::new(DataType::Float64)) {
        Some(lists())
    } else {
        None
    }
}

/// Rows of a table, as far as it has them.
fn frame(table: &Table<'_>, rows: Range<usize>) -> Result<DataFrame, PolarsError> {
    let rows = rows.start.min(table.height)..rows.end.min(table.height);
    let columns = table
        .columns
        .iter()
        .map(|(name, cells)| {
            let name = PlSmallStr::from(name.as_str());
            match cells {
                Cells::Launches(profile, column) => {
                    of_launches(name, profile, column, rows.clone())
                }
                Cells::Text(cells) => {
                    let texts: Vec<_> = cells[rows.clone()].iter().map(Option::as_deref).collect();
                    Column::new(name, texts)
                }
                Cells::Truth(cells) => Column::new(name, &cells[rows.clone()]),
                Cells::Count(cells) => Column::new(name, &cells[rows.clone()]),
                Cells::Number(cells) => Column::new(name, &cells[rows.clone()]),
                Cells::Numbers(cells) => {
                    let list = |list: &Vec<f64>| Series::new(PlSmallStr::EMPTY, list);
                    Column::new(name, cells[rows.clone()].iter().map(list).collect::<Vec<Series>>())
                }
            }
        })
        .collect();
    DataFrame::new(rows.len(), columns)
}

fn of_launches(
    name: PlSmallStr,
    profile: &Profile,
    column: &LaunchColumn,
    rows: Range<usize>,
) -> Column {
    match column.form {
        Form::Text => {
            let launches: Vec<Launch<'_>> = rows.map(|row| profile.launch(row)).collect();
            let cells = launches.iter().map(|launch| column.get(profile, launch));
            let texts: Vec<_> = cells.map(|cell| cell.and_then(cell::Cell::text)).collect();
            Column::new(name, texts.iter().map(Option::as_deref).collect::<Vec<_>>())
        }
        Form::Count => {
            let count = |row| column.get(profile, &profile.launch(row))?.count();
            Column::new(name, rows.map(count).collect::<Vec<_>>())
        }
        _ => {
            let number = |row| column.get(profile, &profile.launch(row))?.number();
            Column::new(name, rows.map(number).collect::<Vec<_>>())
        }
    }
}

/// A table in Arrow's memory layout, for other libraries in the same process.
#[derive(Debug, Clone)]
pub struct Frame {
    columns: DataFrame,
    metadata: Vec<(String, String)>,
}

/// The rows of a [`Frame`] as one batch behind Arrow's C stream interface; freed when dropped, unless
/// a reader has taken it over.
#[derive(Debug)]
#[repr(transparent)]
pub struct Stream(ArrowArrayStream);

impl Frame {
    /// Makes a frame of a table.
    ///
    /// # Errors
    /// [`FrameError`] when the frame library refuses the table.
    pub fn of(table: &Table<'_>) -> Result<Self, FrameError> {
        let metadata = table.metadata.clone();
        Ok(Self { columns: frame(table, 0..table.height)?, metadata })
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn height(&self) -> usize {
        self.columns.height()
    }

    /// Returns the names of the columns, with units, in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.columns.columns().iter().map(|column| column.name().to_string()).collect()
    }

    /// Returns the unit and meaning of a column, if they are known.
    #[must_use]
    pub fn about(&self, name: &str) -> Option<&str> {
        let of = |key: &str| key.strip_prefix(COLUMN).is_some_and(|column| column == name);
        self.metadata.iter().find(|(key, _)| of(key)).map(|(_, about)| about.as_str())
    }

    /// Returns the cells of a column; `None` if there is no such column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<Cells<'static>> {
        cells(self.columns.column(name).ok()?)?.ok()
    }

    /// Exports the rows. Columns carry their meaning as metadata `description`, the stream that of the
    /// table. Text is exported as large UTF-8, which every reader of Arrow knows.
    ///
    /// # Errors
    /// [`FrameError`] when the frame library refuses the table.
    pub fn stream(&self) -> Result<Stream, FrameError> {
        let level = CompatLevel::oldest();
        let metadata = |pairs: Vec<(&str, &str)>| -> BTreeMap<PlSmallStr, PlSmallStr> {
            pairs.into_iter().map(|(key, text)| (key.into(), text.into())).collect()
        };
        let fields = self.columns.columns().iter().map(|column| {
            let about = self.about(column.name()).map(|about| ("description", about));
            let field = column.field().to_arrow(level);
            field.with_metadata(metadata(about.into_iter().collect()))
        });
        let kind = ArrowDataType::Struct(fields.collect());
        let columns = self.columns.columns().iter();
        let arrays = columns.map(|column| column.clone().rechunk_to_arrow(level)).collect();
        let rows = StructArray::try_new(kind.clone(), self.height(), arrays, None)?;
        let own = self.metadata.iter().filter(|(key, _)| !key.starts_with(COLUMN));
        let own = metadata(own.map(|(key, text)| (&**key, &**text)).collect());
        let field = ArrowField::new(PlSmallStr::EMPTY, kind, false).with_metadata(own);
        let batches = std::iter::once(Ok(rows.boxed()));
        Ok(Stream(export_iterator(Box::new(batches), field)))
    }
}

/// Keys of metadata about columns begin with this.
const COLUMN: &str = "column:";

/// Sums over the launches of one kernel in one input, or of a whole input.
#[derive(Debug, Clone, PartialEq)]
pub struct Sum {
    /// Index of the input among the sources.
    pub source: usize,
    /// Name of the kernel, or of the first of several.
    pub kernel: NameId,
    /// Executions.
    pub launches: u64,
    /// Sum of durations in seconds; `None` if no launch has one.
    pub measured: Option<Seconds>,
}

/// How launches are grouped for sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// By input.
    Source,
    /// By input and kernel.
    KernelAndSource,
}

/// Sums launches by group, in the order in which each group first occurs.
///
/// # Errors
/// [`FrameError`] when the frame library fails.
pub fn sums(profile: &Profile, by: By) -> Result<Vec<Sum>, FrameError> {
    let launches = with_launches(profile)?;
    let (source, kernel) = (launches.column(SOURCE)?.u32()?, launches.column(KERNEL)?.u32()?);
    let (count, time) = (launches.column(COUNT)?.u64()?, launches.column(TIME)?.f64()?);
    let keys: &[&str] = match by {
        By::Source => &[SOURCE],
        By::KernelAndSource => &[KERNEL, SOURCE],
    };
    // Aggregations of the frame library need its lazy engine, which would double what a build
    // compiles.
    let groups = launches.group_by_stable(keys)?.into_groups();
    let sums = groups.iter().map(|group| {
        let rows: Vec<usize> = match group {
            GroupsIndicator::Idx((_, rows)) => rows.iter().map(|row| *row as usize).collect(),
            GroupsIndicator::Slice([first, count]) => {
                (first as usize..(first + count) as usize).collect()
            }
        };
        let first = rows.first().copied().unwrap_or_default();
        let times: Vec<f64> = rows.iter().filter_map(|row| time.get(*row)).collect();
        Sum {
            source: source.get(first).unwrap_or_default() as usize,
            kernel: NameId(kernel.get(first).unwrap_or_default()),
            launches: rows.iter().filter_map(|row| count.get(*row)).sum(),
            measured: (!times.is_empty()).then(|| Seconds::new(times.iter().sum())),
        }
    });
    Ok(sums.collect())
}

const SOURCE: &str = "source";
const KERNEL: &str = "kernel";
const COUNT: &str = "launches";
const TIME: &str = "measured_s";

/// Builds a frame with one row per launch: input, id of the kernel name, launches, time.
fn with_launches(profile: &Profile) -> Result<DataFrame, PolarsError> {
    let (mut source, mut kernel, mut count, mut time) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for launch in profile.iter() {
        source.push(u32::from(launch.head.source));
        kernel.push(launch.head.name.0);
        count.push(u64::from(launch.head.count));
        // Instrumentation slows a kernel down: such a time is not its own.
        let known = launch.duration().filter(|(_, origin)| origin.kind != OriginKind::Instrumented);
        time.push(known.map(|(time, _)| time.get() * f64::from(launch.head.count)));
    }
    let columns = vec![
        Column::new(SOURCE.into(), source),
        Column::new(KERNEL.into(), kernel),
        Column::new(COUNT.into(), count),
        Column::new(TIME.into(), time),
    ];
    DataFrame::new(columns[0].len(), columns)
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read};

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

    /// The CSV of a launch table in Parquet.
    pub(super) fn read(bytes: Vec<u8>) -> Result<String, FrameError> {
        let mut text = String::new();
        Rows::open(bytes)?.read_to_string(&mut text).unwrap();
        Ok(text)
    }

    #[test]
    fn a_table_comes_back_from_parquet() {
        let launches = two_launches();
        let table = Table::of(&launches);
        let bytes = parquet(&table).unwrap();
        assert_eq!(read(bytes.clone()).unwrap(), table.csv());
        let (_, metadata) = opened(Cursor::new(bytes)).unwrap();
        let formula = ("column:duration_s".to_owned(), "[s] gpu__time_duration.sum".to_owned());
        assert!(metadata.contains(&formula), "{metadata:?}");
    }

    #[test]
    fn what_is_no_launch_table_is_refused() {
        let launches = two_launches();
        let bytes = parquet(&Table::of(&launches)).unwrap();
        for end in [0, 4, 100, bytes.len() / 2, bytes.len() - 1] {
            assert!(read(bytes[..end].to_vec()).is_err(), "{end}");
        }
        let mut other = Table::of(&launches);
        other.metadata.retain(|(key, _)| key != "schema");
        // One without metadata is known by its columns.
        assert_eq!(read(parquet(&other).unwrap()).unwrap(), other.csv());
        other.columns.retain(|(name, _)| name != "launches");
        let error = read(parquet(&other).unwrap()).unwrap_err().to_string();
        assert!(error.contains("has no schema"), "{error}");
        other.metadata.push(("schema".to_owned(), "rooflint/launches/2".to_owned()));
        let error = read(parquet(&other).unwrap()).unwrap_err().to_string();
        assert!(error.contains("expected \"rooflint/launches/1\""), "{error}");
    }

    /// Parts of partitioned tables had the schema under both keys.
    #[test]
    fn metadata_name_the_schema_by_either_key_and_say_nothing_twice() {
        let launches = two_launches();
        let mut table = Table::of(&launches);
        table.columns.retain(|(name, _)| name != "launches");
        let add = |table: &mut Table<'_>, key: &str, text: &str| {
            table.metadata.push((key.to_owned(), text.to_owned()));
        };
        table.metadata.clear();
        add(&mut table, "rooflint.schema", "rooflint/launches/1");
        assert_eq!(read(parquet(&table).unwrap()).unwrap(), table.csv());
        add(&mut table, "checks", "one");
        add(&mut table, "checks", "one");
        let mut rows = Rows::open(parquet(&table).unwrap()).unwrap();
        assert_eq!(rows.take_metadata()["checks"], "one");
        add(&mut table, "checks", "two");
        let error = read(parquet(&table).unwrap()).unwrap_err().to_string();
        assert!(error.contains("the key \"checks\" of its metadata is given twice"), "{error}");
        table.metadata.retain(|(key, _)| key != "checks");
        add(&mut table, "checks", &"x".repeat(16 << 20));
        let error = read(parquet(&table).unwrap()).unwrap_err().to_string();
        assert!(error.contains("its metadata exceed 16 MiB"), "{error}");
    }
}
