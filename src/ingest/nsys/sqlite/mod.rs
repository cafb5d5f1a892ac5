//! SQLite exports of Nsight Systems, and the databases of `DLProf`, which is built on it.

#[cfg(feature = "sqlite")]
mod calls;
#[cfg(feature = "sqlite")]
mod database;
#[cfg(feature = "sqlite")]
mod dlprof;
#[cfg(feature = "sqlite")]
mod gpus;
#[cfg(feature = "sqlite")]
mod kernels;
#[cfg(feature = "sqlite")]
mod missing;
#[cfg(feature = "sqlite")]
mod moved;
#[cfg(feature = "sqlite")]
mod ranges;
#[cfg(feature = "sqlite")]
mod slots;
#[cfg(feature = "sqlite")]
mod steps;
#[cfg(feature = "sqlite")]
mod timeline;

use crate::ingest::{Format, IngestError, Reading, Sample, Sniff};
use crate::model::Profiler;

pub(super) const FORMAT: Format = Format {
    name: "nsys-sqlite",
    profiler: Profiler::NsightSystems,
    summary: "the SQLite export: every launch with its time, grid, registers, stream and NVTX range",
    command: "nsys profile -o run APP && nsys export --type sqlite --output run.sqlite run.nsys-rep",
    sniff,
    read,
};

/// How every SQLite database begins.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// What a database holds shows only when it is opened.
fn sniff(sample: &Sample) -> Sniff {
    if sample.head.starts_with(MAGIC) {
        Sniff::Yes("it begins as SQLite databases do".to_owned())
    } else {
        Sniff::No("it does not begin as SQLite databases do".to_owned())
    }
}

#[cfg(feature = "sqlite")]
fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    let database = database::Database::open(reading)?;
    let result = if database.has("read_only_kernels") {
        dlprof::read(&database, reading)
    } else if database.has(kernels::TABLE) && database.has(database::STRINGS) {
        timeline::read(&database, reading)
    } else {
        missing::kernels(&database, reading).and_then(|why| Err(why.into()))
    };
    result.map_err(|failure| failure.told(reading))
}

#[cfg(not(feature = "sqlite"))]
fn read(reading: &mut Reading<'_>) -> Result<(), IngestError> {
    let message = "this build of rooflint does not read SQLite: its feature `sqlite` is left out";
    Err(reading.error(message).help(
        "print it as CSV: nsys stats --report cuda_gpu_trace --format csv --output . REPORT.nsys-rep",
    ))
}
