//! What the beginning of a file looks like, for kinds of files that cannot be read.

use crate::ingest::Sample;

/// Lines of a file in which titles of tables are looked for.
const LINES: usize = 200;

/// The beginning of a file, and its name.
pub(super) struct Look<'a> {
    pub(super) sample: &'a Sample,
    /// The text without white space before it.
    text: &'a str,
    /// The name of the file in lower case.
    pub(super) named: String,
}

impl<'a> Look<'a> {
    pub(super) fn new(sample: &'a Sample, path: &str) -> Self {
        let named = path.rsplit(['/', '\\']).next().unwrap_or_default().to_lowercase();
        Self { sample, text: sample.text().trim_start(), named }
    }

    pub(super) fn begins(&self, bytes: &[u8]) -> bool {
        self.sample.head.starts_with(bytes)
    }

    pub(super) fn ends(&self, ending: &str) -> bool {
        let plain = [".gz", ".zst"].iter().find_map(|packed| self.named.strip_suffix(packed));
        plain.unwrap_or(&self.named).ends_with(ending)
    }

    pub(super) fn starts(&self, text: &str) -> bool {
        self.text.starts_with(text)
    }

    pub(super) fn has(&self, text: &str) -> bool {
        self.text.contains(text)
    }

    /// The first lines.
    fn lines(&self) -> impl Iterator<Item = &'a str> {
        self.text.lines().take(LINES)
    }

    /// Whether one of the first lines has this in it.
    pub(super) fn line(&self, part: &str) -> bool {
        self.lines().any(|line| line.contains(part))
    }

    pub(super) fn is_zip(&self) -> bool {
        self.begins(b"PK\x03\x04")
    }

    pub(super) fn is_json(&self) -> bool {
        // A section of TOML begins with a bracket too.
        let mut second = self.text.chars().skip(1).filter(|c| !c.is_whitespace());
        match self.text.chars().next() {
            Some('{') => matches!(second.next(), Some('"' | '}')),
            Some('[') => second.next().is_some_and(|c| "{[]\"-".contains(c) || c.is_ascii_digit()),
            _ => false,
        }
    }

    pub(super) fn is_html(&self) -> bool {
        let head: String = self.text.chars().take(64).collect::<String>().to_lowercase();
        head.starts_with("<!doctype html") || head.starts_with("<html")
    }

    pub(super) fn is_nvprof(&self) -> bool {
        self.line("== NVPROF is profiling")
    }

    /// Whether it is TOML with one of these tables.
    pub(super) fn is_toml(&self, tables: &[&str]) -> bool {
        let mut titles = self.lines().filter_map(|line| line.trim().strip_prefix('['));
        let is_pair =
            |line: &str| line.split_once(" = ").is_some_and(|(key, _)| !key.contains(','));
        self.lines().any(is_pair)
            && titles.any(|title| {
                let title = title.trim_start_matches('[');
                let name = title.split([']', '.']).next().unwrap_or_default();
                title.contains(']') && tables.contains(&name)
            })
    }

    /// Whether most lines are columns with this between them.
    pub(super) fn is_separated_by(&self, separator: char) -> bool {
        let filled = || self.lines().filter(|line| !line.trim().is_empty());
        let several = filled().filter(|line| line.matches(separator).count() > 1);
        several.count() * 2 > filled().count()
    }

    /// Whether most lines begin with a time or say how grave they are.
    pub(super) fn is_log(&self) -> bool {
        let grave = ["INFO", "WARN", "ERROR", "DEBUG", "TRACE", "FATAL", "CRITICAL"];
        let is_entry = |line: &&str| {
            let time: String =
                line.chars().take(24).filter(|c| "0123456789:".contains(*c)).collect();
            time.matches(':').count() >= 2 && time.len() >= 6
                || grave.iter().any(|word| line.contains(word))
        };
        let filled = || self.lines().filter(|line| !line.trim().is_empty());
        filled().filter(is_entry).count() * 2 > filled().count()
    }
}
