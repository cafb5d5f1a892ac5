//! Tables of which one file may hold several, with messages between them.

use crate::ingest::rows::{Found, Quotes, Row, Rows};
use crate::ingest::{IngestError, Reading};
use crate::plain::counted;

/// What a line is to the tables of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ingest) enum Turn {
    /// The titles of a table with so many columns, which is read.
    Titles(usize),
    /// What follows is not read: another table, or messages.
    Away,
    /// A line with a meaning of its own, such as one of units.
    Taken,
    /// Nothing but a row, where a table is read.
    Row,
}

/// The tables of a file that are read.
pub(in crate::ingest) trait Tables {
    /// What a line is, by itself.
    fn turn(&mut self, reading: &mut Reading<'_>, row: &Row) -> Result<Turn, IngestError>;

    /// Reads a row of the current table.
    fn row(&mut self, reading: &mut Reading<'_>, row: &Row) -> Result<(), IngestError>;
}

/// Reads all rows after titles of `width` columns, which have been read.
///
/// # Errors
/// When the input fails, or a row cannot be used and reading is strict.
pub(in crate::ingest) fn read_tables(
    reading: &mut Reading<'_>,
    width: usize,
    tables: &mut impl Tables,
) -> Result<(), IngestError> {
    let mut rows = Rows::new(reading, Quotes::Doubled, b',', width);
    let (mut is_inside, mut width) = (true, width);
    while let Some(found) = rows.next(reading)? {
        let row = rows.row();
        let turn = match found {
            Found::Blank => Turn::Taken,
            _ => tables.turn(reading, row)?,
        };
        match (turn, found) {
            (Turn::Titles(columns), _) => {
                reading.other_line()?;
                (is_inside, width) = (true, columns);
                rows.set_width(columns);
            }
            (Turn::Away, _) => {
                reading.other_line()?;
                is_inside = false;
            }
            (Turn::Row, Found::Row) if is_inside => tables.row(reading, row)?,
            (Turn::Row, Found::Misfit { cells, open }) if is_inside => {
                reading.source.rows += 1;
                let reason = if open {
                    "a quoted field has no end".to_owned()
                } else {
                    format!(
                        "row has {}, the header {width}",
                        counted(cells as u64, "field", "fields")
                    )
                };
                reading.skip(row.line(), None, &row.whole(), reason)?;
            }
            _ => reading.other_line()?,
        }
    }
    Ok(())
}
