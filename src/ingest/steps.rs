//! Next steps in which a file is named.

use crate::plain;

/// How a report of Nsight Compute becomes a table.
pub(super) const IMPORT: &str =
    "ncu --import {file} --csv --page raw --print-units base > {name}.csv";

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
