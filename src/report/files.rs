//! Short names for the files of a run, where whole paths take too much room.

use std::collections::BTreeSet;

use crate::analysis::Analysis;
use crate::report::view::printable;

/// Short names of the files of a run, of which no two are the same.
#[derive(Debug)]
pub(super) struct Files<'a> {
    paths: BTreeSet<&'a str>,
    /// Bytes of the longest path.
    longest: usize,
    /// What distinguishes the files.
    by: Names<'a>,
}

#[derive(Debug)]
enum Names<'a> {
    /// By their names alone, which differ.
    Name,
    /// By their paths behind the folder that all are in, with its separator.
    Behind(&'a str),
}

impl<'a> Files<'a> {
    pub(super) fn of(analysis: &'a Analysis) -> Self {
        Self::among(analysis.sources.iter().map(|source| source.path.as_str()).collect())
    }

    fn among(paths: BTreeSet<&'a str>) -> Self {
        let names: BTreeSet<&str> = paths.iter().map(|path| &path[folder(path).len()..]).collect();
        let by =
            if names.len() == paths.len() { Names::Name } else { Names::Behind(shared(&paths)) };
        let longest = paths.iter().map(|path| path.len()).max().unwrap_or_default();
        Self { paths, longest, by }
    }

    /// What the file at a path is called.
    pub(super) fn name(&self, path: &str) -> String {
        printable(self.short(path))
    }

    fn short<'p>(&self, path: &'p str) -> &'p str {
        match self.by {
            Names::Name => &path[folder(path).len()..],
            Names::Behind(folder) => path.strip_prefix(folder).unwrap_or(path),
        }
    }

    /// A sentence in which files have these names. What it says of the only file of a run it says of the run.
    pub(super) fn named(&self, text: &str) -> String {
        if let [only] = *self.paths.iter().collect::<Vec<_>>()
            && let Some(rest) = text.strip_prefix(*only).and_then(|rest| rest.strip_prefix(": "))
        {
            return printable(rest);
        }
        let mut short = String::with_capacity(text.len());
        let mut rest = text;
        let mut may_begin = true;
        while let Some(next) = rest.chars().next() {
            let length = match self.begins(rest).filter(|_| may_begin) {
                Some(path) => {
                    short.push_str(self.short(path));
                    path.len()
                }
                None => {
                    short.push(next);
                    next.len_utf8()
                }
            };
            may_begin = BEFORE.contains(&next) && length == next.len_utf8();
            rest = &rest[length..];
        }
        printable(&short)
    }

    /// The longest path that a text begins with as a whole.
    fn begins<'t>(&self, text: &'t str) -> Option<&'t str> {
        let ends = text.match_indices(BEHIND).map(|(at, _)| at).chain([text.len()]);
        let ends = ends.take_while(|end| *end <= self.longest);
        ends.map(|end| &text[..end]).filter(|path| self.paths.contains(path)).last()
    }
}

const SEPARATORS: [char; 2] = ['/', '\\'];

/// What stands before a path in a sentence, and behind it.
const BEFORE: [char; 4] = [' ', '"', '\'', '('];
const BEHIND: [char; 7] = [' ', '"', '\'', ')', ':', ',', ';'];

/// A path up to its last separator, without the file inside it that `table.csv (inside.csv)` is about.
fn folder(path: &str) -> &str {
    let outside = path.split_once(" (").map_or(path, |(outside, _)| outside);
    outside.rfind(SEPARATORS).map_or("", |at| &path[..=at])
}

/// The folder that all paths are in.
fn shared<'a>(paths: &BTreeSet<&'a str>) -> &'a str {
    let mut paths = paths.iter();
    let mut all = paths.next().map_or("", |path| folder(path));
    for path in paths {
        while !path.starts_with(all) {
            all = folder(all.trim_end_matches(SEPARATORS));
        }
    }
    // Without the root alone, a path would look like one of the current folder.
    let inside = all.trim_matches(SEPARATORS);
    if inside.is_empty() || all.ends_with(":\\") { "" } else { all }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(paths: &[&str], text: &str) -> String {
        Files::among(paths.iter().copied().collect()).named(text)
    }

    #[test]
    fn the_only_file_of_a_run_is_not_named() {
        for path in ["/data/night/a.csv", "a.csv", "/a.csv", "C:\\runs\\a.csv", "d/a.csv (b/c.csv)"]
        {
            assert_eq!(named(&[path], &format!("{path}: cut")), "cut");
        }
        assert_eq!(named(&["/data/a.csv"], "/data/a.csv repeats it"), "a.csv repeats it");
        assert_eq!(named(&[], "x/y is not used"), "x/y is not used");
    }

    #[test]
    fn files_go_by_their_names_or_by_what_is_behind_their_folder() {
        let text = "/data/0/a.csv repeats \"/data/1/b.csv\" (/data/0/a.csv)";
        assert_eq!(
            named(&["/data/0/a.csv", "/data/1/b.csv"], text),
            "a.csv repeats \"b.csv\" (a.csv)"
        );
        let same = ["/data/0/a.csv", "/data/1/a.csv", "/data/1/b.csv"];
        assert_eq!(named(&same, text), "0/a.csv repeats \"1/b.csv\" (0/a.csv)");
        assert_eq!(named(&["/a/b.csv", "/c/b.csv"], "/a/b.csv: cut"), "/a/b.csv: cut");
        assert_eq!(
            named(&["C:\\a\\b.csv", "C:\\c\\b.csv"], "C:\\a\\b.csv: cut"),
            "C:\\a\\b.csv: cut"
        );
        let inside = ["d/joined.csv (d/a.csv)", "d/joined.csv (e/b.csv)"];
        assert_eq!(named(&inside, "d/joined.csv (e/b.csv): cut"), "joined.csv (e/b.csv): cut");
    }

    /// Folders that repeat, blanks in names, and what only looks like a path of the run.
    #[test]
    fn only_whole_paths_are_shortened() {
        let twice = ["r/r/x.csv", "r/x.csv"];
        assert_eq!(named(&twice, "r/r/x.csv repeats r/x.csv"), "r/x.csv repeats x.csv");
        let blank = ["data/b.csv", "data/my data/b.csv"];
        assert_eq!(
            named(&blank, "data/my data/b.csv repeats data/b.csv"),
            "my data/b.csv repeats b.csv"
        );
        let one =
            named(&["data/a.csv", "data/b.csv"], "more/data/a.csv, data/a.csv.gz and data/a.csv");
        assert_eq!(one, "more/data/a.csv, data/a.csv.gz and a.csv");
    }

    #[test]
    fn names_cannot_control_a_terminal() {
        let name = "d/a\u{1b}[1m.csv";
        assert_eq!(named(&[name, "d/b"], &format!("{name}: cut")), "a[1m.csv: cut");
        assert_eq!(Files::among([name].into()).name(name), "a[1m.csv");
    }
}
