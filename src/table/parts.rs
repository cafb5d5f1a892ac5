//! Parts of a partitioned launch table: Parquet files of one fixed schema, written and read row group by row
//! group.
//!
//! Every column of the launch table is in every part, nullable and of the same type, so that engines read many parts
//! without merging schemas. Besides `frames`, the only module that uses polars.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use polars::prelude::*;
use polars_io::parquet::read::{ParallelStrategy, ParquetReader};
use polars_io::parquet::write::{KeyValueMetadata, ParquetWriter, StatisticsOptions};
use polars_io::prelude::SerReader;

use super::cell::{Cell, Form};
use super::columns::{LaunchColumn, columns};
use super::facts::{Fact, Facts};
use super::frames::{FrameError, named};
use super::quiet::quietly;
use super::row::Row;
use super::{SCHEMA, SCHEMA_KEY};
use crate::model::{Launch, Profile, Quantity};

/// Largest number of rows in a row group: what a reader holds at once.
pub const ROWS_PER_GROUP: usize = 131_072;

fn kind(form: Form) -> DataType {
    match form {
        Form::Text => DataType::String,
        Form::Truth => DataType::Boolean,
        Form::Count => DataType::UInt64,
        Form::Share | Form::Factor | Form::Number(_) => DataType::Float64,
    }
}

/// Writes launches of a profile, in the order of `rows`, with all columns of the launch table.
///
/// The same launches give the same bytes.
///
/// # Errors
/// [`FrameError`] when the frame library or the writer fails.
pub fn write_part(
    profile: &Profile,
    rows: &[usize],
    metadata: Vec<(String, String)>,
    to: impl Write,
) -> Result<(), FrameError> {
    let fields = columns().iter().map(|one| Field::new(one.name.as_str().into(), kind(one.form)));
    let schema: Schema = fields.collect();
    let own = (SCHEMA_KEY.to_owned(), SCHEMA.to_owned());
    let others = metadata.into_iter().filter(|(key, _)| key != SCHEMA_KEY);
    let metadata = std::iter::once(own).chain(others).collect();
    let mut writer = ParquetWriter::new(to)
        .with_statistics(StatisticsOptions::full())
        .with_key_value_metadata(Some(KeyValueMetadata::from_static(metadata)))
        .set_parallel(false)
        .batched(&schema)?;
    let quantities: Vec<Quantity> = profile.launches.quantities().collect();
    for rows in rows.chunks(ROWS_PER_GROUP) {
        let launches: Vec<Launch<'_>> = rows.iter().map(|row| profile.launch(*row)).collect();
        let columns = columns().iter().map(|column| {
            let is_there = column.quantity().is_none_or(|one| quantities.contains(&one));
            cells(profile, column, if is_there { &launches } else { &[] }, launches.len())
        });
        writer.write_batch(&DataFrame::new(rows.len(), columns.collect())?)?;
    }
    writer.finish()?;
    Ok(())
}

/// Makes a column of the launches; all of it is missing where there are none.
fn cells(
    profile: &Profile,
    column: &LaunchColumn,
    launches: &[Launch<'_>],
    height: usize,
) -> Column {
    let name = PlSmallStr::from(column.name.as_str());
    if launches.is_empty() {
        return Column::full_null(name, height, &kind(column.form));
    }
    let cells = launches.iter().map(|launch| column.get(profile, launch));
    match column.form {
        Form::Text => {
            let texts: Vec<_> = cells.map(|cell| cell.and_then(Cell::text)).collect();
            Column::new(name, texts.iter().map(Option::as_deref).collect::<Vec<_>>())
        }
        Form::Truth => {
            Column::new(name, cells.map(|cell| cell.and_then(Cell::truth)).collect::<Vec<_>>())
        }
        Form::Count => {
            Column::new(name, cells.map(|cell| cell.and_then(Cell::count)).collect::<Vec<_>>())
        }
        Form::Share | Form::Factor | Form::Number(_) => {
            Column::new(name, cells.map(|cell| cell.and_then(Cell::number)).collect::<Vec<_>>())
        }
    }
}

/// Reads columns of text from a table in Parquet; a missing cell is an empty text.
///
/// # Errors
/// [`FrameError`] if the file cannot be read, is damaged, or lacks a column.
pub fn texts<const N: usize>(
    path: &Path,
    names: [&str; N],
) -> Result<Vec<[String; N]>, FrameError> {
    let read = || -> Result<Vec<[String; N]>, FrameError> {
        let file = File::open(path).map_err(|cause| FrameError::Read(cause.into()))?;
        let frame = ParquetReader::new(file)
            .with_columns(Some(names.map(str::to_owned).to_vec()))
            .finish()
            .map_err(FrameError::Read)?;
        let mut rows = vec![std::array::from_fn(|_| String::new()); frame.height()];
        for (at, name) in names.iter().enumerate() {
            let column = frame.column(name).map_err(FrameError::Read)?;
            let texts = column.str().map_err(FrameError::Read)?;
            for (row, text) in rows.iter_mut().zip(texts) {
                text.unwrap_or_default().clone_into(&mut row[at]);
            }
        }
        Ok(rows)
    };
    quietly(read).unwrap_or(Err(FrameError::Damaged))
}

/// Adds what the statistics of a table in Parquet say of columns with these names and forms.
///
/// # Errors
/// [`FrameError`] if the file cannot be read, or is damaged.
pub fn facts<'a>(
    path: &Path,
    columns: impl Iterator<Item = (&'a str, Form)>,
    into: &mut Facts,
) -> Result<(), FrameError> {
    let read = || -> Result<(), FrameError> {
        let file = File::open(path).map_err(|cause| FrameError::Read(cause.into()))?;
        let mut reader = ParquetReader::new(file);
        let footer = reader.get_metadata().map_err(FrameError::Read)?;
        for (name, form) in columns {
            for group in footer.row_groups.iter().filter(|group| group.num_rows() > 0) {
                let chunks = group.columns_under_root_iter(name);
                let chunk = chunks.into_iter().flatten().next();
                let known = chunk.and_then(|chunk| chunk.metadata().statistics.as_ref());
                let Some((known, nulls)) = known.and_then(|known| Some((known, known.null_count?)))
                else {
                    into.add(name, Fact::Mixed);
                    continue;
                };
                let ends = [&known.min_value, &known.max_value];
                let [least, greatest] = ends.map(|end| value(form, end.as_deref()?));
                let is_exact = known.is_min_value_exact != Some(false)
                    && known.is_max_value_exact != Some(false);
                into.add(
                    name,
                    match (nulls, least) {
                        (nulls, _) if i64::try_from(group.num_rows()) == Ok(nulls) => Fact::Missing,
                        (0, Some(least)) if is_exact && greatest.as_ref() == Some(&least) => {
                            Fact::Constant(least)
                        }
                        (0, _) => Fact::Filled,
                        _ => Fact::Mixed,
                    },
                );
            }
        }
        Ok(())
    };
    quietly(read).unwrap_or(Err(FrameError::Damaged))
}

/// Returns a value as statistics have it; numbers are little-endian.
fn value(form: Form, bytes: &[u8]) -> Option<Cell<'static>> {
    let word = || bytes.try_into().ok();
    match form {
        Form::Text => Some(Cell::word(std::str::from_utf8(bytes).ok()?).into_owned()),
        Form::Truth => Some(Cell::Truth(*bytes.first()? != 0)),
        Form::Count => Some(Cell::Count(u64::from_le_bytes(word()?))),
        Form::Share | Form::Factor | Form::Number(_) => {
            Some(Cell::Number(f64::from_le_bytes(word()?)))
        }
    }
}

/// An opened part.
pub struct Part {
    file: File,
    /// Metadata of the file: its schema, how each column was derived.
    pub metadata: Vec<(String, String)>,
    /// Rows of each row group, with the columns of the launch table that have values in it.
    groups: Vec<(usize, Vec<&'static LaunchColumn>)>,
}

/// The rows of one row group, as columns.
pub struct RowGroup {
    height: usize,
    columns: Vec<(&'static LaunchColumn, Cells)>,
}

enum Cells {
    /// Index among the words for each row; neighbors often share one.
    Text(Vec<Option<u32>>, Vec<String>),
    Truth(Vec<Option<bool>>),
    Count(Vec<Option<u64>>),
    Number(Vec<Option<f64>>),
}

impl Part {
    /// Opens a part and reads its footer.
    ///
    /// # Errors
    /// [`FrameError`] if the file cannot be read, is cut off, or has another schema.
    pub fn open(path: &Path) -> Result<Self, FrameError> {
        quietly(|| Self::read_footer(path)).unwrap_or(Err(FrameError::Damaged))
    }

    fn read_footer(path: &Path) -> Result<Self, FrameError> {
        let file = File::open(path).map_err(|cause| FrameError::Read(cause.into()))?;
        let again = file.try_clone().map_err(|cause| FrameError::Read(cause.into()))?;
        let mut reader = ParquetReader::new(again);
        let footer = reader.get_metadata().map_err(FrameError::Read)?;
        let pairs = footer.key_value_metadata().clone().unwrap_or_default();
        let metadata: Vec<(String, String)> =
            pairs.into_iter().filter_map(|pair| Some((pair.key, pair.value?))).collect();
        let schema = named(&metadata);
        if schema != Some(SCHEMA) {
            let found = schema.map_or("none".to_owned(), |other| format!("{other:?}"));
            let message = format!("its schema is {found} (expected {SCHEMA:?})");
            return Err(FrameError::NoLaunches(message));
        }
        let groups = footer.row_groups.iter().map(|group| {
            let height = group.num_rows();
            let filled = columns().iter().filter(|column| {
                let chunks = group.columns_under_root_iter(&column.name);
                let mut chunks = chunks.into_iter().flatten();
                chunks.any(|chunk| {
                    let known = chunk.metadata().statistics.as_ref();
                    let nulls = known.and_then(|known| known.null_count);
                    nulls != i64::try_from(height).ok()
                })
            });
            (height, filled.collect())
        });
        let groups = groups.collect();
        Ok(Self { file, metadata, groups })
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn height(&self) -> usize {
        self.groups.iter().map(|(height, _)| height).sum()
    }

    /// Visits the row groups in order; only one is in memory at a time.
    ///
    /// # Errors
    /// [`FrameError`] if the file is damaged.
    pub fn each(&self, mut visit: impl FnMut(&RowGroup)) -> Result<(), FrameError> {
        let mut first = 0;
        for (height, filled) in &self.groups {
            let read = || self.group(first, *height, filled);
            visit(&quietly(read).unwrap_or(Err(FrameError::Damaged))?);
            first += height;
        }
        Ok(())
    }

    fn group(
        &self,
        first: usize,
        height: usize,
        filled: &[&'static LaunchColumn],
    ) -> Result<RowGroup, FrameError> {
        let file = self.file.try_clone().map_err(|cause| FrameError::Read(cause.into()))?;
        let names = filled.iter().map(|column| column.name.clone()).collect();
        let frame = ParquetReader::new(file)
            .with_columns(Some(names))
            .with_slice(Some((first, height)))
            .read_parallel(ParallelStrategy::None)
            .finish()
            .map_err(FrameError::Read)?;
        let columns = filled.iter().map(|known| {
            let column = frame.column(&known.name)?;
            Ok((*known, typed(column, known.form)?))
        });
        let columns: Result<Vec<_>, PolarsError> = columns.collect();
        let columns = columns.map_err(FrameError::Read)?;
        if frame.height() != height && !columns.is_empty() {
            return Err(FrameError::Damaged);
        }
        Ok(RowGroup { height, columns })
    }
}

fn typed(column: &Column, form: Form) -> Result<Cells, PolarsError> {
    Ok(match form {
        Form::Text => {
            let (mut rows, mut words) = (Vec::with_capacity(column.len()), Vec::<String>::new());
            for text in column.str()? {
                // Sorted rows repeat their texts: most are that of the row before.
                rows.push(text.map(|text| {
                    if words.last().is_none_or(|last| last != text) {
                        words.push(text.to_owned());
                    }
                    words.len() as u32 - 1
                }));
            }
            Cells::Text(rows, words)
        }
        Form::Truth => Cells::Truth(column.bool()?.iter().collect()),
        Form::Count => Cells::Count(column.u64()?.iter().collect()),
        Form::Share | Form::Factor | Form::Number(_) => {
            Cells::Number(column.f64()?.iter().collect())
        }
    })
}

impl RowGroup {
    /// Returns the number of rows.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }

    /// Reads a row; `false` if it is not one that a launch table can have.
    #[must_use]
    pub fn read(&self, row: usize, into: &mut Row) -> bool {
        let mut values = std::mem::take(&mut into.values);
        values.clear();
        *into = Row { values, ..Row::default() };
        self.row(row).all(|(column, cell)| !column.is_about(into) || column.set(into, cell).is_ok())
    }

    /// Iterates over the cells of a row that are not missing, in the order of the columns.
    fn row(&self, row: usize) -> impl Iterator<Item = (&'static LaunchColumn, Cell<'_>)> {
        self.columns.iter().filter_map(move |(column, cells)| {
            let cell = match cells {
                Cells::Text(rows, words) => Cell::word(words.get((*rows.get(row)?)? as usize)?),
                Cells::Truth(rows) => Cell::Truth((*rows.get(row)?)?),
                Cells::Count(rows) => Cell::Count((*rows.get(row)?)?),
                Cells::Number(rows) => Cell::Number((*rows.get(row)?)?),
            };
            Some((*column, cell))
        })
    }
}
