//! The launches of an export, in the order of their start.

use super::database::{Cell, Database, Failure, integer};
use crate::ingest::Reading;
use crate::model::{Dim3, Shape};

/// The table with one row per launch.
pub(super) const TABLE: &str = "CUPTI_ACTIVITY_KIND_KERNEL";

/// Processes and threads are numbered by the lower half of these bits, machines by the upper.
const THREAD_BITS: u32 = 24;

/// A launch as its row has it.
pub(super) struct Kernel {
    pub(super) start: u64,
    /// Nanoseconds; `None` if the row has none.
    pub(super) duration: Option<u64>,
    /// The process with its machine; 0 if the export does not number them.
    pub(super) process: i64,
    pub(super) correlation: Option<i64>,
    pub(super) device: i64,
    pub(super) stream: Option<u32>,
    /// Number of the name among the texts.
    pub(super) name: i64,
    pub(super) shape: Shape,
    pub(super) registers: Option<u32>,
    /// Static and dynamic shared memory of a block.
    pub(super) shared: Option<u64>,
}

/// The process of a thread or process as exports number them, with its machine.
pub(super) fn process(number: i64) -> i64 {
    number >> THREAD_BITS
}

/// The number of a process for the operating system.
pub(super) fn process_id(process: i64) -> u32 {
    (process & ((1 << THREAD_BITS) - 1)) as u32
}

const COLUMNS: [&str; 18] = [
    "start",
    "end",
    "globalPid",
    "correlationId",
    "deviceId",
    "streamId",
    "demangledName",
    "shortName",
    "gridX",
    "gridY",
    "gridZ",
    "blockX",
    "blockY",
    "blockZ",
    "registersPerThread",
    "staticSharedMemory",
    "dynamicSharedMemory",
    "mangledName",
];

/// Reads them all; rows may be in any order.
pub(super) fn read(database: &Database, reading: &mut Reading<'_>) -> Result<Vec<Kernel>, Failure> {
    let mut kernels = Vec::new();
    database.each(TABLE, COLUMNS, |cells| {
        reading.source.rows += 1;
        match kernel(&cells) {
            Ok(kernel) => kernels.push(kernel),
            Err((column, reason)) => {
                let found = integer(cells[column]).map_or_else(String::new, |of| of.to_string());
                let row = reading.source.rows;
                reading.skip(row, Some(COLUMNS[column]), &found, reason)?;
            }
        }
        Ok(())
    })?;
    kernels.sort_by_key(|kernel: &Kernel| (kernel.start, kernel.process, kernel.correlation));
    Ok(kernels)
}

/// A row, or the column that cannot be used and why.
fn kernel(cells: &[Cell<'_>; 18]) -> Result<Kernel, (usize, &'static str)> {
    let [start, end, process_of, correlation, device, stream, name, short, ..] = *cells;
    let mangled = cells[17];
    let start =
        integer(start).and_then(|start| u64::try_from(start).ok()).ok_or((0, "not a time"))?;
    let end = integer(end).and_then(|end| u64::try_from(end).ok()).ok_or((1, "not a time"))?;
    let duration = end.checked_sub(start).ok_or((1, "it ends before it starts"))?;
    let small = |at: usize| integer(cells[at]).and_then(|number| u32::try_from(number).ok());
    let extent = |at: usize| {
        Some(Dim3 { x: small(at)?, y: small(at + 1)?, z: small(at + 2)? })
            .filter(|extent| extent.volume() > 0)
    };
    let name = [name, short, mangled].into_iter().find_map(integer);
    let parts = [small(15), small(16)].map(|part| part.map(u64::from));
    Ok(Kernel {
        start,
        // A launch takes time: 0 is what a lost timestamp looks like.
        duration: Some(duration).filter(|duration| *duration > 0),
        process: integer(process_of).map_or(0, process),
        correlation: integer(correlation),
        device: integer(device).unwrap_or_default(),
        stream: integer(stream).and_then(|stream| u32::try_from(stream).ok()),
        name: name.ok_or((6, "no name"))?,
        shape: Shape::new(extent(8), extent(11)),
        registers: small(14),
        shared: parts[0].zip(parts[1]).map(|(fixed, dynamic)| fixed + dynamic),
    })
}
