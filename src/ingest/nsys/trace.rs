//! `nsys stats --report cuda_gpu_trace` (`gputrace` until 2022): one row per kernel, copy or memset.

use super::titles::Titles;
use super::{begin, found, turn};
use crate::ingest::rows::Row;
use crate::ingest::timeline::{LaunchColumns, Launches, Tables, Turn, extents, read_tables};
use crate::ingest::{Format, IngestError, Reading, Sample, Sniff};
use crate::model::Profiler;

pub(super) const FORMAT: Format = Format {
    name: "nsys-trace",
    profiler: Profiler::NsightSystems,
    summary: "`nsys stats` cuda_gpu_trace: one row per launch, with grid, registers and device",
    command: "nsys profile -o run APP && nsys stats --report cuda_gpu_trace --format csv --output . run.nsys-rep",
    sniff,
    read,
};

/// A title that every header has.
const WORD: &str = "CorrId";

fn sniff(sample: &Sample) -> Sniff {
    match found(sample, WORD, columns) {
        Some(_) => Sniff::Yes("a header with Start, Duration, CorrId and GrdX".to_owned()),
        None => Sniff::No("no header with Start, Duration, CorrId and GrdX".to_owned()),
    }
}

fn columns(header: &[String]) -> Option<LaunchColumns> {
    let titles = Titles(header);
    let find = |name: &str| titles.at(name);
    find(WORD)?;
    Some(LaunchColumns {
        titles: header.to_vec(),
        start: titles.time("Start"),
        duration: titles.time("Duration")?,
        grid: Some(extents(find, "Grd")?),
        block: extents(find, "Blk"),
        registers: find("Reg/Trd"),
        // What the driver takes besides depends on the device's generation, which the table does not name.
        shared: None,
        moved: titles.size("Bytes"),
        memory: [find("SrcMemKd"), find("DstMemKd")],
        device: find("Device"),
        stream: find("Strm"),
        name: find("Name")?,
        number: find(WORD),
        is_numbered: false,
    })
}

struct Trace(Launches);

impl Tables for Trace {
    fn turn(&mut self, reading: &mut Reading<'_>, row: &Row) -> Result<Turn, IngestError> {
        let (turn, columns) = turn(reading, row, columns)?;
        if let Some(columns) = columns {
            self.0.turn_to(reading, columns);
        }
        Ok(turn)
    }

    fn row(&mut self, reading: &mut Reading<'_>, row: &Row) -> Result<(), IngestError> {
        self.0.row(reading, row)
    }
}

fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    let is_number = |title: &str| matches!(title, "Start" | "Duration");
    let (columns, numerals) = begin(reading, WORD, columns, is_number)?;
    let width = columns.titles.len();
    reading.source.dialect = format!("cuda_gpu_trace, {width} columns");
    let mut trace = Trace(Launches::new(reading, columns, numerals));
    read_tables(reading, width, &mut trace)?;
    trace.0.finish(reading);
    Ok(())
}
