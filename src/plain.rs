//! What parsers and the operating system report, in plain words: what was found, what was expected.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// What is wrong in a text, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Line, counted from 1.
    pub(crate) line: usize,
    /// Character within the line, counted from 1.
    pub(crate) column: usize,
    /// What is wrong.
    pub(crate) message: String,
    /// The next step, where one follows; else empty.
    pub(crate) help: String,
}

/// Line and character of a byte of a text, both counted from 1.
pub(crate) fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    (line, before.rsplit('\n').next().unwrap_or_default().chars().count() + 1)
}

/// What is wrong in a TOML text.
pub(crate) fn toml(text: &str, error: &toml::de::Error) -> Fault {
    let (line, column) = place(text, error.span().map_or(0, |span| span.start));
    let (message, help) = words(error.message());
    Fault { line, column, message, help }
}

/// What is wrong in a JSON text, with line and column.
#[cfg(feature = "gate")]
pub(crate) fn json(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    let place = if line == 0 { String::new() } else { format!("line {line}, column {column}: ") };
    format!("{place}{}", json_alone(error))
}

/// The same without its place.
pub(crate) fn json_alone(error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "the JSON ends too early; the file is cut off".to_owned();
    }
    let text = error.to_string();
    let bare = text.rfind(" at line ").and_then(|end| text.get(..end)).unwrap_or(&text);
    // The parser means `true`, `false` or `null`.
    if bare == "expected ident" { "not JSON".to_owned() } else { words(bare).0 }
}

/// `1 copy`, `2 copies`.
pub(crate) fn counted(number: u64, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

/// A key by which `run-2` comes before `run-10`: digits padded.
#[cfg(any(feature = "cli", all(feature = "frames", feature = "gate")))]
pub(crate) fn natural(text: &str) -> String {
    let mut key = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        let end = from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len());
        key.push_str(before);
        key.push_str(&format!("{:0>20}", &from[..end]));
        rest = &from[end..];
    }
    key.push_str(rest);
    key
}

/// Most bytes of a file that people write, such as a configuration.
pub(crate) const PAGES: u64 = 16 << 20;

/// Most bytes of a file that rooflint wrote, such as a saved run.
#[cfg(feature = "gate")]
pub(crate) const WRITTEN: u64 = 1 << 30;

/// The text of a file of at most so many bytes: a device or a pipe may have no end.
///
/// # Errors
/// Where it cannot be read, is longer, or is not text in UTF-8.
pub(crate) fn text_of(path: &Path, most: u64) -> io::Result<String> {
    text_from(File::open(path)?, most)
}

/// The text of at most so many bytes that a reader gives.
///
/// # Errors
/// As [`text_of`].
pub(crate) fn text_from(from: impl Read, most: u64) -> io::Result<String> {
    let mut text = String::new();
    if from.take(most + 1).read_to_string(&mut text)? as u64 > most {
        let message = format!("it exceeds {} MiB", most >> 20);
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    Ok(text)
}

/// Why a file cannot be opened, read or written, without the number of the operating system's error.
pub(crate) fn io(error: &io::Error) -> String {
    let error = innermost(error);
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        io::ErrorKind::NotADirectory => "a part of the path is not a folder".to_owned(),
        io::ErrorKind::InvalidData if error.to_string().contains("UTF-8") => {
            "it is not text in UTF-8".to_owned()
        }
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::QuotaExceeded => "the disk quota is used up".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the disk is read-only".to_owned(),
        _ => {
            let text = error.to_string();
            let known = text.split(" (os error").next().unwrap_or_default();
            let known = known.split(" at path ").next().unwrap_or_default();
            let mut chars = known.chars();
            let first = chars.next().map(|first| first.to_lowercase().to_string());
            first.unwrap_or_default() + chars.as_str()
        }
    }
}

/// The next step where a file cannot be written.
#[cfg(any(feature = "cli", all(feature = "frames", feature = "gate")))]
pub(crate) fn to_write(error: &io::Error) -> &'static str {
    match innermost(error).kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "make room, or write to another disk"
        }
        io::ErrorKind::FileTooLarge => {
            "files may not be so large here: see ulimit -f, or write to another disk"
        }
        io::ErrorKind::IsADirectory => "name a file in it",
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => "create the folder first",
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "write to a folder where you may"
        }
        _ => "check that the folder exists and can be written to",
    }
}

/// Whether who reads an output went away.
#[cfg(feature = "cli")]
pub(crate) fn is_closed_pipe(error: &io::Error) -> bool {
    innermost(error).kind() == io::ErrorKind::BrokenPipe
}

/// The error of the operating system beneath the one that the `csv` crate makes of it.
fn innermost(error: &io::Error) -> &io::Error {
    let of_csv = error.get_ref().and_then(|inner| inner.downcast_ref::<csv::Error>());
    match of_csv.map(csv::Error::kind) {
        Some(csv::ErrorKind::Io(beneath)) => beneath,
        _ => error,
    }
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%#~".contains(c);
    // A shell takes a word that begins with a number sign for a comment.
    if !word.is_empty() && word.chars().all(is_plain) && !word.starts_with('#') {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A file as a command names it; the standard input has no name.
pub(crate) fn file(path: &str) -> String {
    match path.as_bytes().first() {
        Some(b'<') => "FILE".to_owned(),
        // It would be an option.
        Some(b'-') => quoted(&format!("./{path}")),
        _ => quoted(path),
    }
}

/// The message of a parser in plain words, and the next step where one follows.
fn words(message: &str) -> (String, String) {
    let message = message.trim();
    let (first, expected) = match message.split_once(", expected ") {
        Some((first, expected)) => (first, Some(expected)),
        None => match message.split_once('\n') {
            Some((first, rest)) => (first, rest.trim().strip_prefix("expected ")),
            None => (message, None),
        },
    };
    let quoted = |text: &str| text.split('`').nth(1).unwrap_or_default().to_owned();
    if first.starts_with("unknown field") {
        let (key, known) = (quoted(first), names(expected.unwrap_or_default()));
        let near = did_you_mean(&key, known.iter().copied());
        let help = if known.is_empty() {
            "remove it; this table has no keys".to_owned()
        } else {
            format!("{near}the keys here are {}", known.join(", "))
        };
        return (format!("unknown key \"{key}\""), help);
    }
    if first.starts_with("missing field") {
        let key = quoted(first);
        return (format!("missing key \"{key}\""), format!("add {key} = …"));
    }
    if first.starts_with("duplicate field") {
        let key = quoted(first);
        return (format!("key \"{key}\" is given twice"), "remove one of them".to_owned());
    }
    if first == "duplicate key" {
        return ("a key is given twice".to_owned(), "remove one of them".to_owned());
    }
    if first.starts_with("unknown variant") {
        let (value, known) = (quoted(first), names(expected.unwrap_or_default()));
        let near = did_you_mean(&value, known.iter().copied());
        let help = format!("{near}it is one of {}", known.join(", "));
        return (format!("unknown value \"{value}\""), help);
    }
    for start in ["invalid type: ", "invalid value: "] {
        if let (Some(found), Some(expected)) = (first.strip_prefix(start), expected) {
            let expected = wanted(expected);
            return (format!("expected {expected}, found {}", self::found(found)), String::new());
        }
    }
    if first.starts_with("data did not match any variant") {
        let help = "see docs/cli.md for the forms that it can have".to_owned();
        return ("the value has none of the forms that are allowed here".to_owned(), help);
    }
    let help = match first {
        "string values must be quoted" => "put the text in quotes: \"…\"",
        "key with no value" => "write it as key = value",
        "unclosed table" | "unclosed array table" => "close the bracket: [name]",
        _ => "",
    };
    let message = match expected {
        Some(expected) if !expected.is_empty() => format!("{first}; expected {expected}"),
        _ => first.to_owned(),
    };
    (message.replace('\n', "; "), help.to_owned())
}

/// The names in a list such as "one of `a`, `b`".
fn names(expected: &str) -> Vec<&str> {
    expected.split('`').skip(1).step_by(2).collect()
}

/// As many characters of a name are compared with others: the time grows with the product of their lengths.
const COMPARED: usize = 256;

/// How alike the spellings of two names are, from 0 to 1 (Jaro-Winkler); longer names than any other are like none.
pub(crate) fn likeness(one: &str, two: &str) -> f64 {
    let is_long = |text: &str| text.chars().nth(COMPARED).is_some();
    match (is_long(one), is_long(two)) {
        (false, false) => strsim::jaro_winkler(one, two),
        (true, true) => {
            let start = |text: &str| text.chars().take(COMPARED).collect::<String>();
            strsim::jaro_winkler(&start(one), &start(two))
        }
        _ => 0.0,
    }
}

/// How many characters of a name change to make it another (optimal string alignment); names of other lengths are no
/// nearer than these differ, and not compared further if they are long.
pub(crate) fn distance(one: &str, two: &str) -> usize {
    let lengths = [one, two].map(|text| text.chars().count());
    if lengths.iter().all(|length| *length <= COMPARED) {
        return strsim::osa_distance(one, two);
    }
    if one == two { 0 } else { lengths[0].max(lengths[1]) }
}

/// Stands for the `*` of a pointer, which is not a wildcard.
pub(crate) const POINTER: &str = "\0";

/// A pattern whose parameters have pointers, with these marked; `None` for all others. In `void scale(float*)` the `*` is
/// a pointer, or the pattern would be that of `void scale(float*, float*)`, too; in `scale(*)`, `scale(int, *)` and
/// `sc*(float*)` the first one is a wildcard.
pub(crate) fn with_pointers(pattern: &str) -> Option<String> {
    // What follows the parameters has none: `scale(float*)*`, `scale(float*) [clone .kd]`.
    let (pattern, rest) = pattern.split_at(pattern.rfind(')')? + 1);
    let inside = pattern.strip_suffix(')')?;
    let mut depth = 1_u32;
    let open = inside.rfind(|c| {
        depth = depth + u32::from(c == ')') - u32::from(c == '(');
        depth == 0
    })?;
    let (before, parameters) = pattern.split_at(open + 1);
    let mut marked = before.to_owned();
    let mut characters = parameters.chars().peekable();
    let mut last = '(';
    while let Some(character) = characters.next() {
        let is_type = last.is_alphanumeric() || matches!(last, '_' | '>' | '\0');
        let is_end = matches!(characters.peek(), Some(')' | ',' | '*' | '&' | ' '));
        if character == '*' && is_type && is_end {
            marked.push_str(POINTER);
            last = '\0';
            continue;
        }
        marked.push(character);
        if character != ' ' {
            last = character;
        }
    }
    marked.contains(POINTER).then(|| marked + rest)
}

/// Returns `true` if a text equals a pattern or matches it, where `*` matches anything.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let Some((first, pattern)) = pattern.split_once('*') else { return pattern == text };
    let (middle, last) = pattern.rsplit_once('*').unwrap_or(("", pattern));
    // Both ends rule most names out.
    let ends = text.strip_prefix(first).and_then(|rest| rest.strip_suffix(last));
    let Some(mut rest) = ends else { return false };
    for part in middle.split('*') {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

/// Returns `true` if a text fits a pattern, where the `*` of a pointer among parameters is not a wildcard.
pub(crate) fn fits_name(pattern: &str, text: &str) -> bool {
    match with_pointers(pattern) {
        Some(pattern) => fits(&pattern, &text.replace('*', POINTER)),
        None => fits(pattern, text),
    }
}

/// Asks for the known word that was probably meant, such as `did you mean "tail-effect"? `, before what else can be done;
/// empty where none is like it.
pub(crate) fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    /// Words that are less alike are not what was meant.
    const ALIKE: f64 = 0.8;
    let near = known.into_iter().map(|name| (likeness(word, name), name));
    let near = near.filter(|(alike, _)| *alike > ALIKE).max_by(|a, b| a.0.total_cmp(&b.0));
    near.map_or_else(String::new, |(_, name)| format!("did you mean {name:?}? "))
}

/// The file or folder beside a missing one whose name is most like it, with the folder as it was typed.
pub(crate) fn beside(path: &Path) -> Option<String> {
    let wanted = path.file_name()?.to_string_lossy().into_owned();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let files = std::fs::read_dir(folder.unwrap_or(Path::new("."))).ok()?;
    let names =
        files.filter_map(|file| Some(file.ok()?.file_name().to_string_lossy().into_owned()));
    let alike = |name: String| (distance(&wanted.to_lowercase(), &name.to_lowercase()), name);
    // A link that leads nowhere is there by its name.
    let (distance, name) = names.filter(|name| *name != wanted).map(alike).min()?;
    let near =
        folder.map_or_else(|| name.clone(), |folder| folder.join(&name).display().to_string());
    (distance * 3 <= wanted.chars().count()).then_some(near)
}

/// What a parser wants, for people.
fn wanted(expected: &str) -> &str {
    match expected {
        "f32" | "f64" => "a number",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of 0 or more",
        "a string" | "string" => "text in quotes",
        "a boolean" => "true or false",
        "a sequence" => "a list in brackets",
        "a map" => "a table",
        "a TOML datetime" => "a date without quotes, such as 2027-01-31",
        other if other.starts_with("struct ") => "a table",
        other => other,
    }
}

/// What a parser found, for people.
fn found(found: &str) -> String {
    let (kind, value) = found.split_once(' ').unwrap_or((found, ""));
    match kind {
        "string" => format!("the text {value}"),
        "integer" | "floating" => {
            // Large ones have their type behind them: `99999999999999999999` as i128.
            let value = value.trim_start_matches("point ");
            format!("the number {}", value.split('`').nth(1).unwrap_or(value))
        }
        "boolean" => value.trim_matches('`').to_owned(),
        "sequence" => "a list".to_owned(),
        "map" => "a table".to_owned(),
        "null" => "nothing".to_owned(),
        _ => found.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only what is wrong with them is looked at")]
    struct Sample {
        name: Option<String>,
        target: f64,
        count: Option<u32>,
        all: Option<Vec<u8>>,
        side: Option<Side>,
        more: Option<BTreeMap<String, f64>>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Side {
        Left,
        Right,
    }

    #[test]
    fn a_fault_of_toml_says_where_what_was_found_and_what_to_do() {
        for (text, expected) in [
            (
                "targt = 1.0",
                "1:1 unknown key \"targt\"; did you mean \"target\"? the keys here are \
                name, target, count, all, side, more",
            ),
            ("name = \"a\"", "1:1 missing key \"target\"; add target = …"),
            ("# é\ntarget = \"70%\"", "2:10 expected a number, found the text \"70%\"; "),
            (
                "target = 1.0\ncount = -1",
                "2:9 expected a whole number of 0 or more, found the number -1; ",
            ),
            ("target = 1.0\nname = 5", "2:8 expected text in quotes, found the number 5; "),
            (
                "target = 1.0\nname = 99999999999999999999",
                "2:8 expected text in quotes, found the number 99999999999999999999; ",
            ),
            ("target = 1.0\nname = true", "2:8 expected text in quotes, found true; "),
            (
                "target = 1.0\nall = \"x\"",
                "2:7 expected a list in brackets, found the text \"x\"; ",
            ),
            ("target = 1.0\nmore = [1.0]", "2:8 expected a table, found a list; "),
            (
                "target = 1.0\nside = \"lefd\"",
                "2:8 unknown value \"lefd\"; did you mean \"left\"? \
                it is one of left, right",
            ),
            ("target = 1.0\ntarget = 2.0", "2:1 a key is given twice; remove one of them"),
            (
                "target = abc",
                "1:10 string values must be quoted; expected literal string; put the \
                text in quotes: \"…\"",
            ),
            ("[target", "1:8 unclosed table; expected `]`; close the bracket: [name]"),
        ] {
            let error = toml::from_str::<Sample>(text).unwrap_err();
            let Fault { line, column, message, help } = super::toml(text, &error);
            assert_eq!(format!("{line}:{column} {message}; {help}"), expected, "{text}");
        }
    }

    #[test]
    fn a_fault_of_json_says_where_what_was_found_and_what_to_do() {
        for (text, expected) in [
            ("{\n\"target\": \"x\"}", "line 2, column 13: expected a number, found the text \"x\""),
            ("{\"target\": 1", "line 1, column 12: the JSON ends too early; the file is cut off"),
            ("{}", "line 1, column 2: missing key \"target\""),
        ] {
            let error = serde_json::from_str::<Sample>(text).unwrap_err();
            assert_eq!(json(&error), expected, "{text}");
        }
    }

    #[test]
    fn a_word_is_quoted_where_a_shell_needs_it() {
        for (word, expected) in [
            ("run.csv", "run.csv"),
            ("a b", "'a b'"),
            ("#1", "'#1'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }

    /// The time of a comparison grows with the product of the lengths.
    #[test]
    fn long_names_are_compared_by_their_beginnings() {
        let long = |end: &str| format!("{}{end}", "gemm".repeat(COMPARED / 4));
        // As many letters as are compared whole, of which one differs.
        let at = long("");
        let other = format!("n{}", &at[1..]);
        assert_eq!(likeness(&at, &at), 1.0);
        assert_eq!((distance(&at, &other), distance(&at, &at)), (1, 0));
        // Longer ones: by their beginnings, and like no short name.
        assert_eq!(likeness(&long("a"), &long("bcd")), 1.0);
        assert_eq!(likeness(&long("a"), &at), 0.0);
        assert_eq!(distance(&long("a"), &long("a")), 0);
        assert_eq!(distance(&long("a"), &long("bcd")), COMPARED + 3);
        assert_eq!(distance(&long("é"), "gemm"), COMPARED + 1);
        let [one, two] = ["a", "b"].map(|end| "x".repeat(10_000_000) + end);
        assert_eq!(likeness(&one, &two), 1.0);
    }

    #[test]
    fn the_operating_system_has_no_numbers() {
        let missing = std::fs::read("no/such/file").unwrap_err();
        assert_eq!(io(&missing), "no such file or folder");
        let folder = std::fs::read_to_string(env!("CARGO_MANIFEST_DIR")).unwrap_err();
        assert_eq!(io(&folder), "it is a folder");
        // Too many symbolic links, which has no words of its own here.
        let other = io(&std::io::Error::from_raw_os_error(40));
        assert!(!other.contains("os error") && !other.is_empty(), "{other}");
        // As the csv crate gives it.
        let full = csv::Error::from(std::io::Error::from(std::io::ErrorKind::StorageFull));
        let full = std::io::Error::from(full);
        assert_eq!(io(&full), "the disk is full");
        assert_eq!(to_write(&full), "make room, or write to another disk");
    }
}
