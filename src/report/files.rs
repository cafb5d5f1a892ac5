//! What the files of a run are called where there is no room for whole paths.

use crate::analysis::Analysis;
use crate::report::view::printable;

/// The folder that all files of a run are in, which is not repeated in front of each.
pub(super) struct Files<'a> {
    /// With the separator at its end; empty where they share none.
    folder: &'a str,
    /// The file itself, where there is one: it needs no name.
    only: Option<&'a str>,
}

impl<'a> Files<'a> {
    pub(super) fn of(analysis: &'a Analysis) -> Self {
        Self::among(analysis.sources.iter().map(|source| source.path.as_str()))
    }

    fn among(mut paths: impl Iterator<Item = &'a str>) -> Self {
        let first = paths.next().unwrap_or_default();
        let mut folder = parent(first);
        let mut only = Some(&first[folder.len()..]).filter(|name| !name.is_empty());
        for path in paths {
            only = None;
            while !path.starts_with(folder) {
                folder = parent(folder.trim_end_matches(SEPARATORS));
            }
        }
        // Without the root alone, a path would look like one of the current folder.
        let is_root = folder.trim_matches(SEPARATORS).trim_end_matches(':').is_empty();
        Self { folder: if is_root { "" } else { folder }, only }
    }

    /// A sentence in which files are called by their names. What it says of the only file of a run it says of the run.
    pub(super) fn named(&self, text: &str) -> String {
        let mut short = String::with_capacity(text.len());
        let mut rest = text;
        while !self.folder.is_empty()
            && let Some(at) = rest.find(self.folder)
        {
            let (before, after) = rest.split_at(at);
            short.push_str(before);
            // The end of a longer path is no path.
            let begins = before.is_empty() && short.is_empty() || before.ends_with(BEFORE);
            short.push_str(if begins { "" } else { self.folder });
            rest = &after[self.folder.len()..];
        }
        short.push_str(rest);
        let of_only = self.only.and_then(|name| short.strip_prefix(name)?.strip_prefix(": "));
        printable(of_only.unwrap_or(&short))
    }
}

const SEPARATORS: [char; 2] = ['/', '\\'];

/// What stands before a path in a sentence.
const BEFORE: [char; 4] = [' ', '"', '\'', '('];

/// A path up to its last separator, without the file inside it that `table.csv (inside.csv)` is about.
fn parent(path: &str) -> &str {
    let path = path.split_once(" (").map_or(path, |(outside, _)| outside);
    path.rfind(SEPARATORS).map_or("", |at| &path[..=at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(paths: &[&str], text: &str) -> String {
        Files::among(paths.iter().copied()).named(text)
    }

    #[test]
    fn the_only_file_of_a_run_is_not_named() {
        assert_eq!(named(&["/data/night/a.csv"], "/data/night/a.csv: cut"), "cut");
        assert_eq!(named(&["a.csv"], "a.csv: cut"), "cut");
        assert_eq!(named(&["/a.csv"], "/a.csv is cut"), "/a.csv is cut");
        assert_eq!(named(&[], "x/y is not used"), "x/y is not used");
        assert_eq!(named(&["C:\\runs\\a.csv"], "C:\\runs\\a.csv: cut"), "cut");
    }

    #[test]
    fn files_of_one_folder_are_named_without_it() {
        let paths = ["/data/night/0/a.csv", "/data/night/1/a.csv", "/data/nightly.csv"];
        let text = "/data/night/0/a.csv repeats \"/data/night/1/a.csv\"";
        assert_eq!(named(&paths[..2], text), "0/a.csv repeats \"1/a.csv\"");
        assert_eq!(named(&paths, text), "night/0/a.csv repeats \"night/1/a.csv\"");
        let inside = ["d/joined.csv (d/a.csv)", "d/joined.csv (e/b.csv)"];
        assert_eq!(named(&inside, inside[1]), "joined.csv (e/b.csv)");
        assert_eq!(named(&["/a/b.csv", "/c/b.csv"], "/a/b.csv: cut"), "/a/b.csv: cut");
    }

    /// `data/` is in `my data/`, and at the end of `more/data/`, too.
    #[test]
    fn a_folder_is_left_out_where_a_path_begins_only() {
        let text = "data/a.csv: see more/data/a.csv and data/b.csv";
        assert_eq!(named(&["data/a.csv"], text), "see more/data/a.csv and b.csv");
        assert_eq!(named(&["my data/a.csv"], "my data/a.csv: cut"), "cut");
    }

    #[test]
    fn names_cannot_control_a_terminal() {
        assert_eq!(named(&["d/a\u{1b}[1m.csv", "d/b"], "d/a\u{1b}[1m.csv: cut"), "a[1m.csv: cut");
    }
}
