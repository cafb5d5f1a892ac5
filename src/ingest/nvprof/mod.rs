//! nvprof, the profiler of CUDA 5 to 12 for GPUs up to Volta: its traces, summaries and metrics as CSV.

formats! {
    trace,
    summary,
    metrics,
}

use super::decimal::{Content, Evidence};
use super::headers::titled_once;
use super::rows::{Row, fields};
use super::timeline::per_second;
use super::{IngestError, Numerals, Reading, Sample};

/// The columns of a header by their titles, with the units of the line below.
struct Titles<'a> {
    titles: &'a [String],
    units: &'a [String],
}

impl Titles<'_> {
    fn at(&self, name: &str) -> Option<usize> {
        self.titles.iter().position(|title| title == name)
    }

    fn unit(&self, at: usize) -> &str {
        self.units.get(at).map_or("", String::as_str)
    }

    fn time(&self, name: &str) -> Option<super::timeline::Timed> {
        let at = self.at(name)?;
        Some(super::timeline::Timed { at, per_second: per_second(self.unit(at))? })
    }
}

/// Bytes in a unit: nvprof counts in powers of 1024 (400 KB are the 320 × 320 floats of the sample `matrixMul`).
fn bytes(unit: &str) -> Option<f64> {
    let power = match unit {
        "" | "B" => 0,
        "KB" => 1,
        "MB" => 2,
        "GB" => 3,
        "TB" => 4,
        _ => return None,
    };
    Some(1024_f64.powi(power))
}

/// Whether a line is a message of the profiler.
fn is_message(line: &[u8]) -> bool {
    line.starts_with(b"==")
}

/// The fields of a row as texts.
fn cells(row: &Row) -> Vec<String> {
    fields(row.whole().trim_end(), b',')
}

/// Whether all of these titles are in a line.
fn has(header: &[String], titles: &[&str]) -> bool {
    titles.iter().all(|title| header.iter().any(|field| field == title))
}

/// Whether the sample has such a header.
fn found<'a>(sample: &'a Sample, wanted: &[&str]) -> Option<(Vec<String>, &'a str)> {
    sample.header(|line| line.contains(wanted[0]), |fields| has(fields, wanted))
}

/// Reads past the titles of the first table; gives them, and how the numbers below are written.
///
/// # Errors
/// When there are none, or numbers can be read in two ways.
fn begin(
    reading: &mut Reading<'_>,
    wanted: &[&str],
    numeric: &[&str],
) -> Result<(Vec<String>, Numerals), IngestError> {
    let mut evidence = Evidence::default();
    if let Some((header, rest)) = found(&reading.sample, wanted) {
        let is_number = |at: &usize| numeric.contains(&header[*at].as_str());
        let columns: Vec<usize> = (0..header.len()).filter(is_number).collect();
        for record in reading.sample.records(rest, 2_000).iter() {
            for cell in columns.iter().filter_map(|at| record.get(*at)) {
                evidence.add(cell, Content::Any, || None);
            }
        }
    }
    // All numbers have six decimals.
    let numerals = reading.numerals(&evidence, true)?;
    let mut text = None;
    let header = reading.header(
        |line| line.contains(wanted[0]) && has(&fields(line, b','), wanted),
        |line| text = text.take().or_else(|| is_text_mode(line).then_some(())),
    );
    let header = header.map_err(|error| match text {
        Some(()) => error.help(AS_CSV),
        None => error,
    })?;
    titled_once(reading, reading.line(), header.iter().map(String::as_str))?;
    Ok((header, numerals))
}

/// The titles in a line below the first table, if it is a header of the same kind.
///
/// # Errors
/// When it has a title twice.
fn header_again(
    reading: &Reading<'_>,
    row: &Row,
    wanted: &[&str],
) -> Result<Option<Vec<String>>, IngestError> {
    let header = cells(row);
    if !has(&header, wanted) {
        return Ok(None);
    }
    titled_once(reading, row.line(), header.iter().map(String::as_str))?;
    Ok(Some(header))
}

/// What to do with a text.
const AS_CSV: &str = "print it as CSV: nvprof --csv --print-gpu-trace --log-file run.csv APP";

/// Whether a line is the header of the text that nvprof prints without `--csv`.
fn is_text_mode(line: &str) -> bool {
    line.contains("Time(%)  ") || line.contains("Duration  ")
}
