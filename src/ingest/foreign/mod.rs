//! Files that are not a profile: what each is, and the next step.

mod kinds;
mod look;

use super::steps::filled;
use super::{IngestError, Reading, nsight};
use kinds::KINDS;
use look::Look;

/// What the file is, where it is of a kind that is known and cannot be read. What a profiler left that stopped is a damaged
/// export, not a foreign file.
pub(super) fn named(reading: &Reading<'_>) -> Option<IngestError> {
    let path = &reading.source.path;
    let look = Look::new(&reading.sample, path);
    // The profiler's own messages say more than the kind of file.
    if !look.is_nvprof()
        && let Some(error) = nsight::no_table(reading)
    {
        return Some(error);
    }
    let kind = KINDS.iter().find(|kind| (kind.is)(&look))?;
    Some(reading.error(format!("this is {}", kind.what)).help(filled(kind.help, path)).foreign())
}

/// What the file is, where its name says that its table, which has the columns of a format, is not of kernels.
pub(super) fn beside_kernels(reading: &Reading<'_>) -> Option<IngestError> {
    let path = &reading.source.path;
    let kind = kinds::beside_kernels(&Look::new(&reading.sample, path))?;
    Some(reading.error(format!("this is {}", kind.what)).help(filled(kind.help, path)))
}

/// The commands that read a table of which no format knows the columns.
pub(super) fn by_mapping(path: &str) -> String {
    filled(kinds::BY_MAPPING, path)
}
