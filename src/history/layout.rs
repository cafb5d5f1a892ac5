//! Layout of a store on disk.

use super::moment::Moment;

/// File that marks a folder as a store.
pub const MARKER: &str = "rooflint-baselines.toml";

/// Name and major version of the layout.
pub const STORE_SCHEMA: &str = "rooflint/baselines/1";

/// Name of a baseline saved without a name.
pub const DEFAULT_NAME: &str = "default";

/// Characters of a commit that usually identify it, as in `git log --oneline`.
const SHORT: usize = 8;

/// Largest name in bytes that every file system accepts for a folder, with room for the rest of the
/// path.
const LONGEST_NAME: usize = 64;

/// Returns `true` if the name is a valid, visible folder name on every system.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= LONGEST_NAME
        && !name.starts_with('.')
        && !name.ends_with('.')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

/// Returns the first eight characters.
pub(crate) fn short(text: &str) -> &str {
    text.char_indices().nth(SHORT).map_or(text, |(end, _)| &text[..end])
}

/// Replaces characters that are not allowed in file names.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect()
}

/// Returns what the name of an entry begins with: its time and its commit.
pub(super) fn begins(saved: Moment, commit: Option<&str>) -> String {
    let commit = commit.map_or_else(|| "none".to_owned(), |commit| plain(short(commit)));
    format!("{}-{commit}-", saved.compact())
}
