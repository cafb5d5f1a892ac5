//! The canonical launch table in Parquet, as the CSV that it would be.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Cursor, Read};

use polars::prelude::{ArrowDataType, DataFrame};
use polars_io::mmap::MmapBytesReader;
use polars_io::parquet::metadata::FileMetadataRef;
use polars_io::parquet::read::ParquetReader;
use polars_io::prelude::SerReader;

use super::{FrameError, ROWS_AT_ONCE, named, opened, table};
use crate::table::columns::columns;
use crate::table::quiet::quietly;
use crate::table::{Cells, SCHEMA, TELLING};

/// How many rows become text at a time: as text they take several times what they take in a frame.
const ROWS_OF_TEXT: usize = 1 << 13;

/// How the schema of a launch table of any version begins.
const FAMILY: &str = "rooflint/launches/";

/// Metadata of more bytes than this are not those of a launch table.
const MOST_METADATA: usize = 16 << 20;

/// The canonical launch table in Parquet, read as the CSV that it would be, some rows at a time.
pub struct Rows {
    bytes: Vec<u8>,
    /// What the table says of itself.
    metadata: BTreeMap<String, String>,
    footer: FileMetadataRef,
    height: usize,
    /// Columns that are read, where that is not all of them, and the others.
    columns: Option<Vec<String>>,
    left: Vec<String>,
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
            let footer = reader.get_metadata().map_err(FrameError::Read)?.clone();
            let mut names: Vec<&str> = Vec::new();
            for field in footer.schema_descr.fields() {
                names.push(field.name());
            }
            is_of_launches(&metadata, &names)?;
            let mut seen = HashSet::new();
            if let Some(twice) = names.iter().find(|name| !seen.insert(**name)) {
                return Err(FrameError::Twice((*twice).to_owned()));
            }
            Ok((unique(metadata)?, readable(&mut reader)?, footer))
        };
        let (metadata, (columns, left), footer) =
            quietly(open).unwrap_or(Err(FrameError::Damaged))?;
        let columns = (!left.is_empty()).then_some(columns);
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
        let (used, next) = (0, 0);
        let mut rows =
            Self { bytes, metadata, footer, height, columns, left, frame, used, next, text };
        rows.more()?;
        Ok(rows)
    }

    /// Takes what the table says of itself, which CSV has no place for.
    #[must_use]
    pub fn take_metadata(&mut self) -> BTreeMap<String, String> {
        std::mem::take(&mut self.metadata)
    }

    /// Makes the next rows text.
    fn more(&mut self) -> Result<(), FrameError> {
        if self.used == self.frame.height() {
            self.decode()?;
        }
        let from = i64::try_from(self.used).map_err(|_| FrameError::Damaged)?;
        let rows = self.frame.slice(from, ROWS_OF_TEXT.min(self.frame.height() - self.used));
        let count = quietly(|| fitting(&rows)).ok_or(FrameError::Damaged)?;
        let rows = rows.slice(0, count);
        let table = quietly(|| table(&rows, Vec::new())).unwrap_or(Err(FrameError::Damaged))?;
        let mut table = table;
        // Who reads the table says that they are left alone.
        for name in &self.left {
            table.columns.push((name.clone(), Cells::Text(vec![None; count])));
        }
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
            let columns = self.columns.clone();
            reader.with_slice(slice).with_columns(columns).finish().map_err(FrameError::Read)
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

/// Metadata by their keys.
///
/// # Errors
/// When there are too many, or a key has two texts.
fn unique(metadata: Vec<(String, String)>) -> Result<BTreeMap<String, String>, FrameError> {
    let mut left = MOST_METADATA;
    let mut known = BTreeMap::new();
    for (key, text) in metadata {
        left = left
            .checked_sub(key.len() + text.len())
            .ok_or_else(|| FrameError::NoLaunches("its metadata exceed 16 MiB".to_owned()))?;
        match known.get(&key) {
            Some(other) if *other != text => return Err(FrameError::Key(key)),
            _ => known.insert(key, text),
        };
    }
    Ok(known)
}

/// Columns of a file that can be read, and others, which no launch table has.
///
/// # Errors
/// When a column of launches has a type that is not read.
fn readable<R: MmapBytesReader>(
    reader: &mut ParquetReader<R>,
) -> Result<(Vec<String>, Vec<String>), FrameError> {
    let schema = reader.schema().map_err(FrameError::Read)?;
    let (mut read, mut left) = (Vec::new(), Vec::new());
    for field in schema.iter_values() {
        let column = field.name.to_string();
        if is_read(&field.dtype) {
            read.push(column);
        } else if field.dtype == ArrowDataType::Null {
            // Without a value it has no type.
            left.push(column);
        } else if columns().iter().any(|known| known.name == column) {
            return Err(FrameError::Type { column, kind: words(&field.dtype) });
        } else {
            left.push(column);
        }
    }
    Ok((read, left))
}

/// Whether the frame library has this type, as it is built here, and its cells are read.
const fn is_read(kind: &ArrowDataType) -> bool {
    use ArrowDataType::{
        Boolean, Float32, Float64, Int32, Int64, LargeUtf8, UInt32, UInt64, Utf8, Utf8View,
    };
    matches!(
        kind,
        Boolean | Float32 | Float64 | Int32 | Int64 | UInt32 | UInt64 | Utf8 | LargeUtf8 | Utf8View
    )
}

/// A type without its parameters: `dictionary`, `decimal`.
fn words(kind: &ArrowDataType) -> String {
    let text = format!("{kind:?}");
    let word = text.split(['(', ' ', '{']).next().unwrap_or_default().to_lowercase();
    let word = word.strip_prefix("large").unwrap_or(&word);
    word.strip_suffix("view").unwrap_or(word).to_owned()
}

/// How many of some rows become text at once: fewer where their texts are long.
fn fitting(rows: &DataFrame) -> usize {
    /// Bytes of text.
    const MOST: usize = 16 << 20;
    let mut lengths = vec![0_usize; rows.height()];
    for column in rows.columns() {
        let Ok(texts) = column.str() else { continue };
        for (length, text) in lengths.iter_mut().zip(texts.iter()) {
            *length += text.map_or(0, str::len);
        }
    }
    let mut all = 0;
    let fit = lengths.iter().take_while(|length| {
        all += **length;
        all <= MOST
    });
    fit.count().max(1).min(rows.height())
}

/// Refuses a file whose metadata does not name the schema of launch tables. One that another program wrote has none, and is
/// known by its columns.
fn is_of_launches(metadata: &[(String, String)], names: &[&str]) -> Result<(), FrameError> {
    if named(metadata).is_none() && TELLING.iter().all(|name| names.contains(name)) {
        return Ok(());
    }
    match named(metadata) {
        Some(SCHEMA) => Ok(()),
        // One of another version is not some other data.
        Some(other) if other.starts_with(FAMILY) => {
            Err(FrameError::Other { expected: SCHEMA.to_owned(), found: Some(other.to_owned()) })
        }
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

#[cfg(test)]
mod tests {
    use polars::prelude::{Column, DataType, IntoColumn, NamedFrom, Series};
    use polars_io::parquet::write::ParquetWriter;

    use super::*;
    use crate::table::Table;
    use crate::table::frames::tests::read;
    use crate::table::frames::{frame, parquet};

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

    /// A launch table with columns that are changed, as another program writes it: without metadata.
    fn rewritten(change: impl FnOnce(&mut Vec<Column>)) -> Result<String, FrameError> {
        let text = |text: &str| Cells::Text(vec![Some(text.to_owned()); 2]);
        let count = |numbers: [u64; 2]| Cells::Count(numbers.map(Some).to_vec());
        let cells = [
            ("source", text("run.csv")),
            ("kernel", text("k")),
            ("device_ordinal", text("0")),
            ("start_ns", count([1_712_194_000_001_133_684, 1_712_194_000_001_133_685])),
            ("launches", count([1, 1])),
            ("grid_x", count([8, 8])),
            ("threads_per_block", count([32, 32])),
        ];
        let columns = cells.map(|(name, cells)| (name.to_owned(), cells)).to_vec();
        let table = Table { height: 2, columns, metadata: Vec::new() };
        let mut columns = frame(&table, 0..2).unwrap().columns().to_vec();
        change(&mut columns);
        let mut bytes = Vec::new();
        let mut frame = DataFrame::new(2, columns).unwrap();
        ParquetWriter::new(&mut bytes).finish(&mut frame).unwrap();
        read(bytes)
    }

    #[test]
    fn a_table_of_another_program_keeps_every_digit() {
        let written = rewritten(|_| {}).unwrap();
        assert!(written.contains(",1712194000001133685,"), "{written}");
        let signed = |columns: &mut Vec<Column>| {
            columns[3] = columns[3].cast(&DataType::Int64).unwrap();
            columns[4] = columns[4].cast(&DataType::Int32).unwrap();
        };
        assert_eq!(rewritten(signed).unwrap(), written);
        // A column without a value is one that is left out.
        let negative = rewritten(|columns| {
            columns[3] = Column::new("start_ns".into(), [-7_i64, 1_712_194_000_001_133_685]);
        });
        let negative = negative.unwrap();
        assert!(negative.contains("-7,") && negative.contains(",1712194000001133685,"));
    }

    #[test]
    fn a_column_that_is_not_read_is_named_with_its_type() {
        let bytes = |name: &'static str| {
            move |columns: &mut Vec<Column>| {
                let series = Series::new(name.into(), [&b"a"[..], &b"b"[..]]);
                columns.push(series.into_column());
            }
        };
        let error = rewritten(bytes("operator")).unwrap_err().to_string();
        assert!(error.contains("\"operator\" has the type binary"), "{error}");
        // Of others only the title is left.
        let text = rewritten(bytes("mood")).unwrap();
        assert!(text.lines().next().unwrap().ends_with(",mood"), "{text}");
    }

    /// 64 rows of a megabyte do not become text at once.
    #[test]
    fn long_texts_become_text_some_at_a_time() {
        let rows = |height: usize, length: usize| {
            let name = Cells::Text(vec![Some("k".repeat(length)); height]);
            let table =
                Table { height, columns: vec![("kernel".to_owned(), name)], metadata: Vec::new() };
            fitting(&frame(&table, 0..height).unwrap())
        };
        assert_eq!((rows(64, 1), rows(64, 1 << 20), rows(2, 64 << 20)), (64, 16, 1));
    }
}
