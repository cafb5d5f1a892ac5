//! `PyProf`'s fixed-width text: the table of [`super::csv`] as `-w N` prints it for the eye.
//!
//! The header's words stand where their columns begin and are cut to them. Text is cut to its column;
//! numbers are set to the right and push the rest of the line aside where they are too wide. A kernel
//! name or parameters that fill their column may have lost their end: such a name is kept, such
//! parameters are not computed with.

use super::columns::{Column, Columns, Width, fixed_width, names_time};
use super::table::Table;
use crate::ingest::rows::Row;
use crate::ingest::{Format, IngestError, Numerals, Reading, Sample, Sniff};
use crate::model::Profiler;

pub(super) const FORMAT: Format = Format {
    name: "pyprof-text",
    profiler: Profiler::PyProf,
    summary: "PyProf `prof -w N`: the same table as fixed-width text, long names cut",
    command: "python -m pyprof.prof -w 150 -c idx,op,kernel,params,sil,tc,flops,bytes FILE.dict > FILE.txt",
    sniff,
    read,
};

fn sniff(sample: &Sample) -> Sniff {
    let mut titles = sample.titles().map(|(_, line)| line).filter(|line| names_time(line));
    match titles.find_map(fixed_width) {
        Some((columns, widths)) => Sniff::Yes(format!(
            "a header of fixed width has {:?} among {} columns",
            columns
                .headers()
                .iter()
                .find(|header| header.starts_with("Sil"))
                .map_or("", String::as_str),
            widths.len()
        )),
        None => Sniff::No("no header of PyProf's columns at their fixed widths".to_owned()),
    }
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    let Some((columns, mut widths)) = header(reading)? else {
        return Err(reading
            .error("no table found: no line has PyProf's columns at the widths -w gives them")
            .help("a CSV of PyProf is read with --from pyprof"));
    };
    reading.source.numerals = Numerals::default().to_string();
    let mut table = Table::new(reading, columns, Numerals::default(), true);
    let (mut line, mut row) = (Vec::new(), Row::default());
    loop {
        line.clear();
        if reading.read_line(&mut line)? == 0 {
            break;
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\r', '\n']);
        if text.trim().is_empty() {
            reading.other_line()?;
            continue;
        }
        if names_time(text)
            && let Some((columns, found)) = fixed_width(text)
        {
            widths = found;
            table.turn_to(reading, columns);
            continue;
        }
        let number = reading.line();
        match cells(text, &widths) {
            Ok(cells) => {
                row.set(text.as_bytes(), number, cells.into_iter());
                // PyProf writes the time of every row, which stands to the right of the kernel: text between the rows,
                // and what a terminal has wrapped, has none.
                let time = table.columns().at(Column::Time);
                if time.is_some_and(|time| row.cell(time).is_empty()) {
                    let title = table.columns().header(Column::Time).map(str::to_owned);
                    reading.source.rows += 1;
                    reading.skip(
                        number,
                        title.as_deref(),
                        text,
                        "no time: the line is cut off, or not a row of the table",
                    )?;
                } else {
                    table.launch(reading, &row)?;
                }
            }
            Err(found) => {
                row.set(text.as_bytes(), number, std::iter::empty());
                table.misfit(reading, &row, found, false)?;
            }
        }
    }
    table.finish(reading)
}

/// Reads up to the header; the columns and their widths.
fn header(reading: &mut Reading<'_>) -> Result<Option<(Columns, Vec<Width>)>, IngestError> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if reading.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line);
        if let Some(found) = fixed_width(text.trim_end_matches(['\r', '\n'])) {
            return Ok(Some(found));
        }
        reading.before_table()?;
    }
}

/// A cell's byte range, and whether it fills its column.
type Cell = (usize, usize, bool);

/// Cuts a line into its cells; how many were found where it does not fit the columns.
fn cells(text: &str, widths: &[Width]) -> Result<Vec<Cell>, usize> {
    let mut cells = Vec::with_capacity(widths.len());
    let mut at = 0;
    for width in widths {
        let rest = &text[at..];
        let end = if width.number {
            number_end(rest, width.characters)
        } else {
            text_end(rest, width.characters)
        };
        // A number stands at the right end of its column: one that ends before it has lost digits.
        let is_cut = width.number
            && !rest[..end].trim().is_empty()
            && rest.chars().count() < width.characters;
        if is_cut {
            return Err(cells.len());
        }
        let is_full = !width.number && rest[..end].trim_end().chars().count() == width.characters;
        cells.push((at, at + end, is_full));
        at += end;
        match text[at..].chars().next() {
            Some(' ') => at += 1,
            // Editors strip the blanks that end a line, and empty cells with them.
            None => {}
            Some(_) => return Err(cells.len()),
        }
    }
    if text[at..].trim().is_empty() { Ok(cells) } else { Err(cells.len() + 1) }
}

/// Where text of this many characters ends.
fn text_end(rest: &str, characters: usize) -> usize {
    rest.char_indices().nth(characters).map_or(rest.len(), |(end, _)| end)
}

/// Where a number set to the right in so many characters ends; it may be wider.
fn number_end(rest: &str, characters: usize) -> usize {
    let digits = rest.len() - rest.trim_start_matches(' ').len();
    let end = rest[digits..].find(' ').map_or(rest.len(), |end| digits + end);
    end.max(text_end(rest, characters))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str, widths: &[Width]) -> Result<Vec<(String, bool)>, usize> {
        let found = cells(line, widths)?;
        Ok(found
            .into_iter()
            .map(|(start, end, cut)| (line[start..end].trim().to_owned(), cut))
            .collect())
    }

    const WIDTHS: [Width; 3] = [
        Width { characters: 6, number: false },
        Width { characters: 4, number: true },
        Width { characters: 3, number: false },
    ];

    fn read(line: &str) -> Result<String, usize> {
        let cells = texts(line, &WIDTHS)?;
        Ok(cells
            .iter()
            .map(|(text, cut)| format!("{text}{}", if *cut { "…" } else { "" }))
            .collect::<Vec<_>>()
            .join("|"))
    }

    #[test]
    fn cells_are_found_by_width() {
        assert_eq!(read("saxpy    12 1,1 "), Ok("saxpy|12|1,1…".to_owned()));
        assert_eq!(read("reduce    7 x"), Ok("reduce…|7|x".to_owned()));
        assert_eq!(read("a b c     7"), Ok("a b c|7|".to_owned()));
        assert_eq!(read("µ_café    7 y"), Ok("µ_café…|7|y".to_owned()));
    }

    #[test]
    fn a_wide_number_pushes_the_rest_aside() {
        assert_eq!(read("saxpy  1234567 y"), Ok("saxpy|1234567|y".to_owned()));
    }

    #[test]
    fn lines_that_do_not_fit_are_told() {
        assert_eq!(read("Traceback (most recent call last):"), Err(1));
        assert_eq!(read("saxpy    12 1,1 and more"), Err(4));
        assert_eq!(read("saxpy    1"), Err(1), "12 that lost its last digit");
    }
}
