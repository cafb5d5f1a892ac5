//! Nsight Systems: the SQLite export, and the CSV tables of `nsys stats`.

mod titles;

formats! {
    sqlite,
    trace,
    sums,
}

use super::decimal::{Content, Evidence};
use super::headers::titled_once;
use super::rows::{Row, fields};
use super::timeline::Turn;
use super::{IngestError, Numerals, Reading, Sample};

/// Reads past the titles of the first table, and how the numbers below are written.
///
/// # Errors
/// When there are none, or numbers can be read in two ways.
fn begin<C>(
    reading: &mut Reading<'_>,
    word: &str,
    of: fn(&[String]) -> Option<C>,
    numeric: impl Fn(&str) -> bool,
) -> Result<(C, Numerals), IngestError> {
    let mut evidence = Evidence::default();
    if let Some((header, rest)) = found(&reading.sample, word, of) {
        let is_number = |at: &usize| numeric(titles::title(&header[*at]).0);
        let columns: Vec<usize> = (0..header.len()).filter(is_number).collect();
        for record in reading.sample.records(rest, 2_000).iter() {
            for cell in columns.iter().filter_map(|at| record.get(*at)) {
                evidence.add(cell, Content::Any, || None);
            }
        }
    }
    let numerals = reading.numerals(&evidence, true)?;
    let header = reading
        .header(|line| line.contains(word) && of(&fields(line, b',')).is_some(), |_| {})
        .map_err(|error| {
            error.help(
                "nsys stats --report cuda_gpu_trace --format csv --output run REPORT.nsys-rep",
            )
        })?;
    match of(&header) {
        Some(columns) => {
            titled_once(reading, reading.line(), names(&header))?;
            Ok((columns, numerals))
        }
        None => Err(reading.error("the titles of the table cannot be read")),
    }
}

/// The titles of the first table in a sample, and the text after them.
fn found<'a, C>(
    sample: &'a Sample,
    word: &str,
    of: fn(&[String]) -> Option<C>,
) -> Option<(Vec<String>, &'a str)> {
    sample.header(|line| line.contains(word), |fields| of(fields).is_some())
}

/// The titles of a header without their units.
fn names(header: &[String]) -> impl Iterator<Item = &str> {
    header.iter().map(|text| titles::title(text).0)
}

/// What a line of an output of `nsys stats` is: titles of another table lead away, messages do not.
///
/// # Errors
/// When it is a header that has a title twice.
fn turn<C>(
    reading: &Reading<'_>,
    row: &Row,
    of: fn(&[String]) -> Option<C>,
) -> Result<(Turn, Option<C>), IngestError> {
    // All rows pass here: one byte tells most of them.
    let first = row.cell(0).first();
    if first.is_none_or(u8::is_ascii_digit) {
        return Ok((Turn::Row, None));
    }
    let header = fields(&row.whole(), b',');
    if let Some(columns) = of(&header) {
        titled_once(reading, row.line(), names(&header))?;
        return Ok((Turn::Titles(header.len()), Some(columns)));
    }
    let is_text = |cell: &String| !cell.starts_with(|c: char| c.is_ascii_digit());
    let is_name = |title: &str| matches!(title, "Name" | "Operation" | "Kernel Name");
    let turn = if !header.iter().all(is_text) {
        Turn::Row
    } else if names(&header).any(is_name) {
        Turn::Away
    } else {
        Turn::Taken
    };
    Ok((turn, None))
}
