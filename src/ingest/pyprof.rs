//! Stub.
mod counts;
mod forms;
mod kernel;
mod operator;
mod params;

use super::{Format, IngestError, Reading, Sample, Sniff};

pub(super) const FORMAT: Format = Format {
    name: "pyprof", profiler: "", summary: "", command: "", sniff, read,
};
fn sniff(_: &Sample) -> Sniff { Sniff::No(String::new()) }
fn read(_: &mut Reading<'_>) -> Result<(), IngestError> { Ok(()) }
