//! Where outputs go and in which format, the same in every command: `-o PATH` by the ending of the file,
//! `-o FORMAT=PATH` by name, `-` for the standard output, as often as wanted.

use std::path::PathBuf;

use super::args::Sheet;
use super::exit::Failure;

/// A format that a command can write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<T> {
    /// Its name, for `FORMAT=PATH` and `--format`.
    pub(super) name: &'static str,
    /// Endings of files that ask for it; none where the name must be given.
    pub(super) endings: &'static [&'static str],
    pub(super) format: T,
}

/// One output.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Place<T> {
    /// The file; `-` is the standard output.
    pub(super) path: PathBuf,
    pub(super) format: T,
}

impl<T> Place<T> {
    pub(super) fn is_stdout(&self) -> bool {
        self.path.as_os_str() == "-"
    }
}

/// The outputs that were asked for; without any, the standard output in the format of `--format`, else in
/// the first that is known.
///
/// `what` names the formats in messages, such as `report format`. All that is wrong is found here, before
/// anything is read.
pub(super) fn places<T: Copy>(
    asked: &[PathBuf],
    format: Option<&str>,
    known: &[Known<T>],
    what: &str,
) -> Result<Vec<Place<T>>, Failure> {
    let by_name = |name: &str| known.iter().find(|known| known.name == name);
    let to_stdout = format.and_then(by_name).unwrap_or(&known[0]).format;
    let stdout = || Place { path: PathBuf::from("-"), format: to_stdout };
    let mut places = Vec::new();
    for output in asked {
        let text = output.to_string_lossy();
        let named = text.split_once('=').and_then(|(name, path)| Some((by_name(name)?, path)));
        places.push(match named {
            Some((known, path)) => Place { path: PathBuf::from(path), format: known.format },
            None if text == "-" => stdout(),
            None => match by_ending(&text, known) {
                Some(format) => Place { path: output.clone(), format },
                None => return Err(no_format(&text, known, what)),
            },
        });
    }
    match places.iter().filter(|place| place.is_stdout()).count() {
        0 if asked.is_empty() => places.push(stdout()),
        0 if format.is_some() => {
            return Err(Failure::usage(
                "--format is for the standard output, and all output goes to files",
            )
            .help("a file's ending chooses its format, or -o FORMAT=PATH; add `-o -` for the standard output"));
        }
        0 | 1 => {}
        _ => {
            return Err(Failure::usage("only one output can go to the standard output")
                .help("write the others to files: -o FORMAT=PATH"));
        }
    }
    Ok(places)
}

/// The format whose ending the name of a file has, the longest first: `.sarif.json` is not `.json`.
fn by_ending<T: Copy>(path: &str, known: &[Known<T>]) -> Option<T> {
    let name = path.rsplit(['/', '\\']).next()?.to_lowercase();
    let fits = |ending: &&str| name.strip_suffix(*ending).is_some_and(|rest| rest.ends_with('.'));
    let all =
        known.iter().flat_map(|known| known.endings.iter().map(move |one| (one, known.format)));
    all.filter(|(ending, _)| fits(ending))
        .max_by_key(|(ending, _)| ending.len())
        .map(|(_, one)| one)
}

fn no_format<T>(path: &str, known: &[Known<T>], what: &str) -> Failure {
    let endings = known.iter().map(|known| match known.endings.first() {
        Some(ending) if *ending == known.name => format!(".{ending}"),
        Some(ending) => format!(".{ending} ({})", known.name),
        None => format!("{}=PATH", known.name),
    });
    let is_word =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    if let Some((name, _)) = path.split_once('=').filter(|(name, _)| is_word(name)) {
        let names: Vec<&str> = known.iter().map(|known| known.name).collect();
        return Failure::usage(format!("-o {path}: {name:?} is not a {what}"))
            .help(format!("the formats are {}", names.join(", ")));
    }
    Failure::usage(format!("{path}: no {what} has this ending")).help(format!(
        "use one of {}; or name the format: -o {}={path}",
        endings.collect::<Vec<_>>().join(", "),
        known[0].name
    ))
}

/// What commands write that show figures as text, tables and curves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum SheetOrPicture {
    Sheet(Sheet),
    #[cfg(feature = "plot")]
    Picture(crate::report::Encoding),
}

/// The formats of figures as text, tables and curves.
pub(super) const SHEETS: &[Known<SheetOrPicture>] = &[
    Known { name: "text", endings: &["txt"], format: SheetOrPicture::Sheet(Sheet::Text) },
    Known { name: "csv", endings: &["csv"], format: SheetOrPicture::Sheet(Sheet::Csv) },
    Known { name: "json", endings: &["json"], format: SheetOrPicture::Sheet(Sheet::Json) },
    #[cfg(feature = "plot")]
    Known {
        name: "svg",
        endings: &["svg"],
        format: SheetOrPicture::Picture(crate::report::Encoding::Svg),
    },
    #[cfg(feature = "plot")]
    Known {
        name: "png",
        endings: &["png"],
        format: SheetOrPicture::Picture(crate::report::Encoding::Png),
    },
];

impl Sheet {
    /// Its name, where it is not what a command prints anyway.
    pub(super) fn asked(self) -> Option<&'static str> {
        match self {
            Self::Text => None,
            Self::Csv => Some("csv"),
            Self::Json => Some("json"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Known<u8>] = &[
        Known { name: "text", endings: &["txt"], format: 0 },
        Known { name: "json", endings: &["json"], format: 1 },
        Known { name: "sarif", endings: &["sarif", "sarif.json"], format: 2 },
        Known { name: "gitlab", endings: &[], format: 3 },
    ];

    fn asked(outputs: &[&str], format: Option<&str>) -> Result<Vec<(String, u8)>, String> {
        let outputs: Vec<PathBuf> = outputs.iter().map(PathBuf::from).collect();
        let places = places(&outputs, format, KNOWN, "gate format");
        let shown = |place: Place<u8>| (place.path.display().to_string(), place.format);
        places
            .map(|places| places.into_iter().map(shown).collect())
            .map_err(|failure| failure.to_string())
    }

    fn one(output: &str) -> (String, u8) {
        asked(&[output], None).unwrap().remove(0)
    }

    #[test]
    fn endings_and_names_choose_the_format() {
        assert_eq!(one("gate.txt"), ("gate.txt".to_owned(), 0));
        assert_eq!(one("out/GATE.JSON").1, 1);
        assert_eq!(one("gate.sarif.json").1, 2);
        assert_eq!(one("gitlab=quality.json"), ("quality.json".to_owned(), 3));
        assert_eq!(one("json=-"), ("-".to_owned(), 1));
        // What stands before the sign is a part of the path where it names no format.
        assert_eq!(one("run=3.txt"), ("run=3.txt".to_owned(), 0));
    }

    #[test]
    fn the_standard_output_takes_one_format() {
        assert_eq!(asked(&[], None).unwrap(), [("-".to_owned(), 0)]);
        assert_eq!(asked(&[], Some("json")).unwrap(), [("-".to_owned(), 1)]);
        assert_eq!(asked(&["a.txt", "-"], Some("json")).unwrap()[1], ("-".to_owned(), 1));
        assert!(asked(&["-", "json=-"], None).unwrap_err().starts_with("only one output"));
        assert!(asked(&["a.txt"], Some("json")).unwrap_err().starts_with("--format is for"));
    }

    #[test]
    fn what_asks_for_no_format_is_refused() {
        let unknown = asked(&["junit=gate.xml"], None).unwrap_err();
        assert_eq!(unknown, "-o junit=gate.xml: \"junit\" is not a gate format");
        for path in ["gate", "gate.xml", "json", ".txtx", "a.b/c"] {
            assert_eq!(
                asked(&[path], None).unwrap_err(),
                format!("{path}: no gate format has this ending")
            );
        }
    }
}
