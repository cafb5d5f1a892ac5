//! `nvprof --print-gpu-trace --csv`: one row per kernel, copy, memset or page fault, a line of units before them.

use super::{Titles, begin, bytes, cells, found, has, header_again, is_message};
use crate::ingest::rows::Row;
use crate::ingest::timeline::{LaunchColumns, Launches, Tables, Turn, extents, read_tables};
use crate::ingest::{Format, IngestError, Numerals, Reading, Sample, Sniff};
use crate::model::Profiler;

pub(super) const FORMAT: Format = Format {
    name: "nvprof-trace",
    profiler: Profiler::Nvprof,
    summary: "`nvprof --print-gpu-trace`: one row per launch, with grid, registers and device",
    command: "nvprof --csv --print-gpu-trace --log-file trace.csv APP",
    sniff,
    read,
};

const WANTED: [&str; 4] = ["Duration", "Start", "Grid X", "Name"];

fn sniff(sample: &Sample) -> Sniff {
    match found(sample, &WANTED) {
        Some(_) => Sniff::Yes("a header with Start, Duration, Grid X and Name".to_owned()),
        None => Sniff::No("no header with Start, Duration, Grid X and Name".to_owned()),
    }
}

/// The columns of a header with the line of units below.
fn columns(header: &[String], units: &[String]) -> Option<LaunchColumns> {
    let titles = Titles { titles: header, units };
    let find = |name: &str| titles.at(name);
    let memory = |name| {
        let at = titles.at(name)?;
        Some((at, bytes(titles.unit(at))?))
    };
    Some(LaunchColumns {
        titles: header.to_vec(),
        start: titles.time("Start"),
        duration: titles.time("Duration")?,
        grid: extents(find, "Grid "),
        block: extents(find, "Block "),
        registers: find("Registers Per Thread"),
        shared: memory("Static SMem").zip(memory("Dynamic SMem")).map(|(one, two)| [one, two]),
        moved: memory("Size"),
        memory: [find("SrcMemType"), find("DstMemType")],
        device: find("Device"),
        stream: find("Stream"),
        name: find("Name")?,
        // Until CUDA 9 the number stood behind the name.
        number: find("Correlation_ID"),
        is_numbered: find("Correlation_ID").is_none(),
    })
}

struct Trace {
    numerals: Numerals,
    /// Titles whose units come next.
    header: Option<Vec<String>>,
    launches: Option<Launches>,
}

impl Tables for Trace {
    fn turn(&mut self, reading: &mut Reading<'_>, row: &Row) -> Result<Turn, IngestError> {
        if let Some(header) = self.header.take() {
            let Some(columns) = columns(&header, &cells(row)) else {
                return Err(reading
                    .error("no line of units below the titles: times cannot be read")
                    .line(row.line())
                    .help("give the file as nvprof wrote it"));
            };
            match &mut self.launches {
                Some(launches) => launches.turn_to(reading, columns),
                none => *none = Some(Launches::new(reading, columns, self.numerals)),
            }
            return Ok(Turn::Taken);
        }
        // All rows pass here: one byte tells most of them.
        match row.cell(0).first() {
            Some(byte) if byte.is_ascii_digit() => return Ok(Turn::Row),
            Some(_) | None => {}
        }
        if is_message(row.cell(0)) {
            return Ok(Turn::Taken);
        }
        if let Some(header) = header_again(reading, row, &WANTED)? {
            let width = header.len();
            self.header = Some(header);
            return Ok(Turn::Titles(width));
        }
        // The tables of a summary and of unified memory.
        let header = cells(row);
        let is_other = has(&header, &["Name", "Calls"]) || has(&header, &["Device", "Count"]);
        Ok(if is_other { Turn::Away } else { Turn::Row })
    }

    fn row(&mut self, reading: &mut Reading<'_>, row: &Row) -> Result<(), IngestError> {
        match &mut self.launches {
            Some(launches) => launches.row(reading, row),
            None => reading.other_line(),
        }
    }
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    let (header, numerals) = begin(reading, &WANTED, &["Start", "Duration"])?;
    let width = header.len();
    reading.source.dialect = format!("GPU trace, {width} columns");
    let mut trace = Trace { numerals, header: Some(header), launches: None };
    read_tables(reading, width, &mut trace)?;
    if let Some(launches) = trace.launches {
        launches.finish(reading);
    }
    Ok(())
}
