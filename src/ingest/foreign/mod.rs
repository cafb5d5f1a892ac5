//! Files that are not a profile: what each is, and the next step.

mod kinds;
mod look;

use super::{IngestError, Reading, nsight};
use crate::plain;
pub(super) use kinds::IMPORT;
use kinds::KINDS;
use look::Look;

/// What the file is, where it is of a kind that is known and cannot be read.
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
    Some(reading.error(format!("this is {}", kind.what)).help(filled(kind.help, path)))
}

/// The file as a command names it; the standard input has no name.
pub(super) fn shown(path: &str) -> String {
    if path.starts_with('<') { "FILE".to_owned() } else { plain::quoted(path) }
}

/// The commands that read a table of which no format knows the columns.
pub(super) fn by_mapping(path: &str) -> String {
    filled(kinds::BY_MAPPING, path)
}

/// A next step for this file, with its `{file}` and `{name}` filled in.
pub(super) fn filled(help: &str, path: &str) -> String {
    let shown = if path.starts_with('<') { "FILE" } else { path };
    let folder = shown.rfind(['/', '\\']).map_or(0, |at| at + 1);
    let name = match shown[folder..].rfind('.') {
        Some(dot) if dot > 0 => &shown[..folder + dot],
        _ => shown,
    };
    help.replace("{file}", &plain::quoted(shown)).replace("{name}", &plain::quoted(name))
}
