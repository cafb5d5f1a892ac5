//! The launch table as Parquet, and sums of launches by input: the only module that uses polars.
//!
//! It sees the narrow, typed table, never a profiler's file, and no polars type leaves it. Nothing
//! here runs for `--help` or for a report on one file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::ops::Range;
use std::path::Path;

use polars::prelude::*;
use polars_arrow::array::StructArray;
use polars_arrow::ffi::{ArrowArrayStream, export_iterator};
use polars_io::mmap::MmapBytesReader;
use polars_io::parquet::metadata::FileMetadataRef;
use polars_io::parquet::read::ParquetReader;
use polars_io::parquet::write::{KeyValueMetadata, ParquetWriter};
use polars_io::prelude::SerReader;

use super::SCHEMA;
use super::cell::{self, Form};
use super::columns::LaunchColumn;
use super::quiet::quietly;
use super::written::{Cells, Table};
use crate::model::{Launch, NameId, Profile};
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

/// How many rows become text at a time: as text they take several times what they take in a frame.
const ROWS_OF_TEXT: usize = 1 << 13;

/// The canonical launch table in Parquet, read as the CSV that it would be, some rows at a time.
pub struct Rows {
    bytes: Vec<u8>,
    footer: FileMetadataRef,
    height: usize,
    /// Rows that are read, and how many of them are text already.
    frame: DataFrame,
    used: usize,
    /// The first row that was not made text yet.
    next: usize,
    text: Cursor<Vec<u8>>,
}

impl Rows {
    /// Opens a file by its bytes, and reads its first rows.
    ///
    /// # Errors
    /// [`FrameError`] if the file is damaged, or not a launch table of the supported version.
    pub fn open(bytes: Vec<u8>) -> Result<Self, FrameError> {
        let open = || {
            let (mut reader, metadata) = opened(Cursor::new(bytes.as_slice()))?;
            is_of_launches(&metadata)?;
            Ok(reader.get_metadata().map_err(FrameError::Read)?.clone())
        };
        let footer: FileMetadataRef = quietly(open).unwrap_or(Err(FrameError::Damaged))?;
        let height = footer.num_rows;
        // A footer that says less would hide rows.
        let mut in_groups = 0_usize;
        for group in &footer.row_groups {
            in_groups = in_groups.saturating_add(group.num_rows());
        }
        if height != in_groups {
            return Err(FrameError::Damaged);
        }
        let (frame, text) = (DataFrame::default(), Cursor::default());
        let mut rows = Self { bytes, footer, height, frame, used: 0, next: 0, text };
        rows.more()?;
        Ok(rows)
    }

    /// Makes the next rows text.
    fn more(&mut self) -> Result<(), FrameError> {
        if self.used == self.frame.height() {
            self.decode()?;
        }
        let count = ROWS_OF_TEXT.min(self.frame.height() - self.used);
        let from = i64::try_from(self.used).map_err(|_| FrameError::Damaged)?;
        let rows = self.frame.slice(from, count);
        let table = quietly(|| table(&rows, Vec::new())).unwrap_or(Err(FrameError::Damaged))?;
        let mut text = std::mem::take(&mut self.text).into_inner();
        text.clear();
        // Writing to memory cannot fail.
        let _ =
            if self.next == 0 { table.write_csv(&mut text) } else { table.write_rows(&mut text) };
        (self.used, self.next) = (self.used + count, self.next + count);
        self.text = Cursor::new(text);
        Ok(())
    }

    /// Reads the next rows.
    fn decode(&mut self) -> Result<(), FrameError> {
        let count = ROWS_AT_ONCE.min(self.height - self.next);
        // Those before are not needed beside them.
        self.frame = DataFrame::default();
        let read = || {
            let mut reader = ParquetReader::new(Cursor::new(self.bytes.as_slice()));
            reader.set_metadata(self.footer.clone());
            // No rows at all would be read as all of them.
            let slice = (self.height > 0).then_some((self.next, count));
            reader.with_slice(slice).finish().map_err(FrameError::Read)
        };
        // The frame library panics on some damaged files.
        let frame = quietly(read).unwrap_or(Err(FrameError::Damaged))?;
        // The height is a figure of the file of its own.
        let is_whole = frame.columns().iter().all(|column| column.len() == count);
        if frame.height() != count || !is_whole {
            return Err(FrameError::Damaged);
        }
        (self.frame, self.used) = (frame, 0);
        Ok(())
    }
}

impl Read for Rows {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(buffer)?;
        if read > 0 || buffer.is_empty() || self.next == self.height {
            return Ok(read);
        }
        let first = self.next + 1;
        self.more().map_err(|error| {
            let message = format!("the Parquet data are damaged from row {first} on ({error})");
            io::Error::new(io::ErrorKind::InvalidData, message)
        })?;
        self.text.read(buffer)
    }
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
fn named(metadata: &[(String, String)]) -> Option<&str> {
    metadata.iter().find(|(key, _)| key == "schema").map(|(_, schema)| schema.as_str())
}

/// Refuses a file whose metadata does not name the schema of launch tables.
fn is_of_launches(metadata: &[(String, String)]) -> Result<(), FrameError> {
    match named(metadata) {
        Some(SCHEMA) => Ok(()),
        Some(other) => {
            let message = format!("unsupported schema {other:?} (expected {SCHEMA:?})");
            Err(FrameError::NoLaunches(message))
        }
        None => {
            let message = format!("its metadata has no schema (expected {SCHEMA:?})");
            Err(FrameError::NoLaunches(message))
        }
    }
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
        time.push(launch.duration().map(|(time, _)| time.get() * f64::from(launch.head.count)));
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
    fn read(bytes: Vec<u8>) -> Result<String, FrameError> {
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

    /// As many rows as are read at once, one less and more, none, and some times as many.
    #[test]
    fn rows_are_written_and_read_some_at_a_time() {
        let schema = ("schema".to_owned(), SCHEMA.to_owned());
        for height in [0, ROWS_AT_ONCE - 1, ROWS_AT_ONCE, ROWS_AT_ONCE + 1, 3 * ROWS_AT_ONCE + 7] {
            let is_there = |row: &usize| !row.is_multiple_of(3);
            let name = |row: usize| is_there(&row).then(|| format!("kernel {}", row % 1000));
            let columns = vec![
                ("kernel".to_owned(), Cells::Text((0..height).map(name).collect())),
                ("id".to_owned(), Cells::Count((0..height as u64).map(Some).collect())),
            ];
            let table = Table { height, columns, metadata: vec![schema.clone()] };
            let text = read(parquet(&table).unwrap()).unwrap();
            assert_eq!(text.len(), table.csv().len(), "{height}");
            assert!(text == table.csv(), "{height}");
        }
    }

    /// A footer that says 10 instead of 46 rows, wherever that number stands.
    #[test]
    fn a_footer_with_fewer_rows_hides_none() {
        let schema = ("schema".to_owned(), SCHEMA.to_owned());
        let ids = Cells::Count((0..46).map(Some).collect());
        let table =
            Table { height: 46, columns: vec![("id".to_owned(), ids)], metadata: vec![schema] };
        let bytes = parquet(&table).unwrap();
        // Thrift's compact form: a field of 64 bits, and the number in zigzag.
        let places = (1..bytes.len()).filter(|at| bytes[at - 1..=*at] == [0x16, 2 * 46]);
        let mut refused = 0;
        for at in places {
            let mut bytes = bytes.clone();
            bytes[at] = 2 * 10;
            match read(bytes) {
                Ok(text) => assert_eq!(text, table.csv()),
                Err(_) => refused += 1,
            }
        }
        assert!(refused > 0, "no number of rows was found");
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
        let error = read(parquet(&other).unwrap()).unwrap_err().to_string();
        assert!(error.contains("has no schema"), "{error}");
        other.metadata.push(("schema".to_owned(), "rooflint/launches/2".to_owned()));
        let error = read(parquet(&other).unwrap()).unwrap_err().to_string();
        assert!(error.contains("expected \"rooflint/launches/1\""), "{error}");
    }
}
