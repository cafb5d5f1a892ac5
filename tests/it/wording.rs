//! The program says plainly what it says: no private dialect, one way to write numbers, American spelling.
//!
//! What people read is scanned: string literals of `src`, help, documents, rule pages, schemas and
//! goldens. Comments and tests may be written as one likes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::house::{code, root};

/// A phrase that nobody should read, in lower case, and endings with which it is good English.
struct Phrase {
    text: &'static str,
    unless: &'static [&'static str],
    instead: &'static str,
}

const fn phrase(text: &'static str, instead: &'static str) -> Phrase {
    Phrase { text, unless: &[], instead }
}

/// The dialect of the first reports.
const DIALECT: &[Phrase] = &[
    Phrase {
        text: " is no ",
        unless: &["there is no ", "is no longer", "is no more than"],
        instead: "is not a, has no",
    },
    phrase(" are no launch", "are not launches"),
    phrase(" told", "reported, set"),
    phrase(" tells", "shows, says"),
    phrase("held against", "compared with"),
    phrase("asked for by", "required by"),
    phrase("to win", "savings"),
    phrase("can be won", "savings"),
    phrase("can win", "can save"),
    phrase("recoverable", "savings"),
    phrase("expected time", "roofline time"),
    phrase("perhaps", "possibly"),
    phrase("nobody", "not counted"),
    phrase("cry wolf", "raise false alarms"),
    phrase("what decided", "failing checks"),
    phrase("taken out of", "subtracted from"),
    phrase("noise alone may", "noise alone could explain"),
    phrase("runs a side", "runs per side"),
    phrase("run a side", "run per side"),
    phrase("by its intensity, yet", "memory-bound, but"),
    phrase("go unseen", "not detected"),
    phrase("likeliest", "most likely"),
    phrase("such as it is", "as is"),
];

/// Spellings of the other side of the Atlantic.
const BRITISH: &[&str] = &[
    "analyse ",
    "analysed",
    "analyser",
    "analysing",
    "artefact",
    "behaviour",
    "catalogue",
    "centre",
    "colour",
    "favour",
    "initialis",
    "judgement",
    "labelled",
    "licence",
    "materialis",
    "modelled",
    "neighbour",
    "normalis",
    "optimisation",
    "optimise",
    "organis",
    "quantis",
    "recognis",
    "serialis",
    "specialisa",
    "specialise",
    "summaris",
    "utilis",
];

/// What stays, and why: a file or folder, and the phrase.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("src/compare/saved.rs", "modelled", "keys of earlier reports and runs are still read"),
    ("src/compare/run.rs", "modelled", "keys of earlier runs are still read"),
    ("src/compare/saved.rs", "recoverable", "keys of earlier reports and runs are still read"),
    ("src/compare/run.rs", "recoverable", "keys of earlier runs are still read"),
    ("src/gate/policy.rs", "recoverable", "the metric of earlier policies is still read"),
    ("src/ingest/nsight", "utilis", "metrics and texts of a profiler as it writes them"),
    ("src/predict/forms", "quantis", "an alias of a kernel"),
    ("docs/predict.md", "quantis", "an alias of a kernel"),
    ("src/cli", "colour", "a spelling that users type"),
    ("src/rules/mod.rs", "utilis", "former ids are still read"),
    ("src/rules/mod.rs", "materialis", "former ids are still read"),
    ("src/rules/mod.rs", "modelled", "former ids are still read"),
    ("src/rules/mod.rs", "quantis", "former ids are still read"),
    ("docs/rules", "utilis", "pages name former ids"),
    ("docs/rules", "materialis", "pages name former ids"),
    ("docs/rules", "modelled", "pages name former ids"),
    ("docs/rules", "quantis", "pages name former ids"),
    ("CHANGELOG.md", "utilis", "former names beside the new ones"),
    ("CHANGELOG.md", "materialis", "former names beside the new ones"),
    ("CHANGELOG.md", "modelled", "former names beside the new ones"),
    ("CHANGELOG.md", "quantis", "former names beside the new ones"),
    ("CHANGELOG.md", "recoverable", "former names beside the new ones"),
];

/// What is wrong with a text that people read, with what to write instead.
fn faults(place: &str, text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let excepted = |phrase: &str| {
        EXCEPTIONS.iter().any(|(path, except, _)| place.starts_with(path) && *except == phrase)
    };
    let mut found: Vec<String> = DIALECT
        .iter()
        .filter(|one| !excepted(one.text) && has(&lower, one))
        .map(|one| format!("{:?}; write {}", one.text, one.instead))
        .collect();
    let british = BRITISH.iter().filter(|word| lower.contains(**word) && !excepted(word));
    found.extend(british.map(|word| format!("{word:?}; use American spelling")));
    found.extend(spaced(text).map(|at| format!("{at:?}; write the sign without a space")));
    found
}

/// Whether a phrase stands in a text otherwise than where it is good English.
fn has(lower: &str, phrase: &Phrase) -> bool {
    let good = |start: usize| {
        let around = |except: &&&str| {
            let inside = except.find(phrase.text.trim()).unwrap_or(0);
            let shift = phrase.text.len() - phrase.text.trim_start().len();
            (start + shift)
                .checked_sub(inside)
                .is_some_and(|at| lower.get(at..).is_some_and(|rest| rest.starts_with(**except)))
        };
        phrase.unless.iter().find(around).is_some()
    };
    lower.match_indices(phrase.text).any(|(start, _)| !good(start))
}

/// Percent and times signs behind a number and a space; `2 × 3` is a product and keeps its spaces.
fn spaced(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices([' ']).filter_map(|(at, _)| {
        let number = text[..at].ends_with(|c: char| c.is_ascii_digit() || c == '}');
        let rest = &text[at + 1..];
        let percent = rest.starts_with('%') && !rest.starts_with("%}");
        let factor = rest.strip_prefix('×').is_some_and(|rest| {
            let next = rest.trim_start_matches(' ');
            !rest.starts_with(' ') || next.starts_with("the ") || next.starts_with("as ")
        });
        let before = text[..at].char_indices().rev().nth(5).map_or(0, |(start, _)| start);
        let end = text[at..].char_indices().nth(6).map_or(text.len(), |(end, _)| at + end);
        (number && (percent || factor)).then(|| &text[before..end])
    })
}

/// The string literals of Rust code, with their lines; continuations joined, comments left out.
fn literals(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut rest = code.char_indices().peekable();
    let mut line = 1;
    while let Some((at, c)) = rest.next() {
        match c {
            '\n' => line += 1,
            '/' if code[at..].starts_with("//") => {
                while rest.next_if(|(_, c)| *c != '\n').is_some() {}
            }
            // A character; a lifetime has no quote at its end.
            '\'' => {
                let inside = &code[at + 1..];
                let length = match inside.strip_prefix('\\') {
                    Some(escape) => escape.get(1..).and_then(|end| end.find('\'')).map(|n| n + 2),
                    None => inside.chars().next().map(char::len_utf8),
                };
                if let Some(end) = length.filter(|n| inside[*n..].starts_with('\'')) {
                    while rest.next_if(|(next, _)| *next <= at + 1 + end).is_some() {}
                }
            }
            'r' if ["r\"", "r#\"", "r##\""].iter().any(|raw| code[at..].starts_with(raw)) => {
                let hashes = code[at + 1..].find('"').unwrap();
                let end = format!("\"{}", "#".repeat(hashes));
                let inside = &code[at + 2 + hashes..];
                let text = &inside[..inside.find(&end).unwrap()];
                found.push((line, text.to_owned()));
                let after = at + 2 + hashes + text.len() + end.len();
                line += text.matches('\n').count();
                while rest.next_if(|(next, _)| *next < after).is_some() {}
            }
            '"' => {
                let (start, mut text) = (line, String::new());
                while let Some((_, c)) = rest.next() {
                    match c {
                        '"' => break,
                        '\\' => match rest.next() {
                            Some((_, '\n')) => {
                                line += 1;
                                while rest.next_if(|(_, c)| c.is_whitespace()).is_some() {}
                            }
                            Some((_, 'n' | 't')) => text.push(' '),
                            Some((_, other)) => text.push(other),
                            None => {}
                        },
                        c => {
                            line += usize::from(c == '\n');
                            text.push(c);
                        }
                    }
                }
                found.push((start, text));
            }
            _ => {}
        }
    }
    found
}

/// Files below a folder, or the file itself, by one of these endings.
fn files(path: &Path, endings: &[&str]) -> Vec<PathBuf> {
    if path.is_dir() {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        return paths.iter().flat_map(|path| files(path, endings)).collect();
    }
    let is_read = path.extension().is_some_and(|end| endings.iter().any(|one| *end == **one));
    is_read.then(|| path.to_path_buf()).into_iter().collect()
}

fn place(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().display().to_string().replace('\\', "/")
}

/// Fails with every fault found.
fn check(texts: impl Iterator<Item = (String, usize, String)>) -> usize {
    let (mut scanned, mut wrong) = (0, Vec::new());
    for (place, line, text) in texts {
        scanned += 1;
        wrong.extend(faults(&place, &text).iter().map(|fault| format!("{place}:{line}: {fault}")));
    }
    assert!(wrong.is_empty(), "{} phrases to repair:\n{}", wrong.len(), wrong.join("\n"));
    scanned
}

#[test]
fn strings_in_the_code_speak_plainly() {
    let texts = files(&root().join("src"), &["rs"]).into_iter().flat_map(|path| {
        let literals = literals(&code(&path)).into_iter();
        literals.map(move |(line, text)| (place(&path), line, text)).collect::<Vec<_>>()
    });
    assert!(check(texts) > 1000);
}

#[test]
fn documents_and_goldens_speak_plainly() {
    let endings = ["md", "txt", "json", "toml"];
    let folders =
        ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "docs", "devices"];
    let folders = folders.into_iter().chain(["src", "fixtures", "tests/golden"]);
    let paths = folders.flat_map(|folder| files(&root().join(folder), &endings));
    let texts = paths.flat_map(|path| {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let lines = text.lines().enumerate();
        lines.map(|(at, line)| (place(&path), at + 1, line.to_owned())).collect::<Vec<_>>()
    });
    check(texts);
}

#[test]
fn help_speaks_plainly() {
    let help = |arguments: &[&str]| {
        let run = Command::new(env!("CARGO_BIN_EXE_rooflint")).args(arguments).output().unwrap();
        run.status.success().then(|| String::from_utf8(run.stdout).unwrap())
    };
    let first = help(&["--help"]).unwrap();
    let commands = first.lines().filter_map(|line| {
        let word = line.strip_prefix("  ")?.split(' ').next()?;
        word.starts_with(|c: char| c.is_ascii_lowercase()).then_some(word)
    });
    let mut pages = vec![("help".to_owned(), first.clone())];
    let of = |command| Some((format!("help of {command}"), help(&[command, "--help"])?));
    pages.extend(commands.filter_map(of));
    assert!(pages.len() > 10, "{}", pages.len());
    let lines = pages.iter().flat_map(|(page, text)| {
        text.lines().enumerate().map(|(at, line)| (page.clone(), at + 1, line.to_owned()))
    });
    check(lines);
}

#[test]
fn literals_are_found_and_comments_are_not() {
    let text =
        "// \"no\"\nfn f<'a>() { g('\"', \"one \\\n   two\", r#\"th\"ree\"#, '\\n', b'x'); }";
    let found: Vec<(usize, String)> =
        [(2, "one two"), (3, "th\"ree")].map(|(line, text)| (line, text.to_owned())).into();
    assert_eq!(literals(text), found);
}

#[test]
fn phrases_are_found_where_they_are_bad_only() {
    for (text, number) in [
        ("there is no launch, and a launch is no longer there", 0),
        ("launch number is no number", 1),
        ("98.3 % of 1.32 × the time", 2),
        ("98.3% of 2 × 3, and {} × the time, {:.1} %", 2),
        ("The Catalogue tells it", 2),
        ("optimistic analyses", 0),
    ] {
        assert_eq!(faults("src", text).len(), number, "{text}: {:?}", faults("src", text));
    }
}
