//! Where outputs go and in which format, the same in every command: `-o PATH` by the ending of the file,
//! `-o FORMAT=PATH` by name, `-` for the standard output, as often as wanted.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::exit::Failure;
use super::terminal::{self, Terminal};
use crate::report::{self, FORMATS, Format, Reported, Style};
#[cfg(feature = "plot")]
use crate::report::{Encoding, PictureError};
use crate::table::Table;

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
    let places = named(asked, format, known, what)?;
    for place in places.iter().filter(|place| !place.is_stdout()) {
        check(&place.path)
            .map_err(|cause| Failure::Output { path: place.path.display().to_string(), cause })?;
    }
    for (at, place) in places.iter().enumerate() {
        let Some(file) = file(&place.path) else { continue };
        let mut before = places[..at].iter();
        if let Some(same) = before.find(|one| self::file(&one.path).as_ref() == Some(&file)) {
            let (one, two) = (same.path.display(), place.path.display());
            return Err(Failure::usage(format!("{one} and {two} are the same output"))
                .help("give each format a file of its own"));
        }
    }
    Ok(places)
}

/// Folder and name of the file that an output makes, through links; none of standard output, pipes and devices.
fn file(path: &Path) -> Option<(PathBuf, OsString)> {
    if path.as_os_str() == "-" || (path.exists() && !path.is_file()) {
        return None;
    }
    let path = &terminal::target(path);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize().ok()?;
    Some((folder, path.file_name()?.to_owned()))
}

/// Whether a file can be there: its folder exists, and it is none itself.
fn check(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder.map(std::fs::metadata).transpose()? {
        Some(folder) if !folder.is_dir() => Err(io::ErrorKind::NotADirectory.into()),
        _ => Ok(()),
    }
}

fn named<T: Copy>(
    asked: &[PathBuf],
    format: Option<&str>,
    known: &[Known<T>],
    what: &str,
) -> Result<Vec<Place<T>>, Failure> {
    let by_name = |name: &str| known.iter().find(|known| known.name.eq_ignore_ascii_case(name));
    let to_stdout = format.and_then(by_name).unwrap_or(&known[0]).format;
    let stdout = || Place { path: PathBuf::from("-"), format: to_stdout };
    let mut places = Vec::new();
    for output in asked {
        let text = output.to_string_lossy();
        let named = text.split_once('=').and_then(|(name, path)| Some((by_name(name)?, path)));
        places.push(match named {
            Some((_, "")) => {
                return Err(Failure::usage(format!("-o {text}: no file is named")).help(format!(
                    "write for example -o {text}FILE; for the standard output -o {text}-"
                )));
            }
            Some((known, path)) => Place { path: PathBuf::from(path), format: known.format },
            None if text == "-" => stdout(),
            // As other programs have it: `-o json` is the format, for standard output.
            None if by_ending(&text, known).is_none() && by_name(&text).is_some() => {
                let format = by_name(&text).map_or(to_stdout, |known| known.format);
                Place { path: PathBuf::from("-"), format }
            }
            None if is_mistyped(&text, known) => return Err(no_format(&text, known, what)),
            None if is_of_gate(&text, known) => {
                return Err(Failure::usage(format!("-o {text}: only `rooflint gate` writes this"))
                    .help(format!("rooflint gate RUN --baseline MAIN -o {text}; for a report in that file: -o {}=./{text}", known[0].name)));
            }
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

/// Whether a path begins as a format does, and only almost: `md=`, the ending of Markdown, or `marcdown=`.
fn is_mistyped<T>(path: &str, known: &[Known<T>]) -> bool {
    const CLOSE: f64 = 0.88;
    let is_close = |name: &str| {
        let mut all = known.iter();
        all.any(|one| one.endings.contains(&name) || crate::plain::likeness(one.name, name) > CLOSE)
    };
    path.split_once('=').is_some_and(|(name, _)| is_close(name))
}

/// Whether a path has the name or the ending of an output that only `gate` has: a report in its place would be taken for it.
fn is_of_gate<T>(path: &str, known: &[Known<T>]) -> bool {
    #[cfg(feature = "gate")]
    {
        let is_own = |name: &str| known.iter().any(|one| one.name == name);
        let others: Vec<Known<()>> = report::GATE_OUTPUTS
            .iter()
            .filter(|output| !is_own(output.name))
            .map(|output| Known { name: output.name, endings: output.endings, format: () })
            .collect();
        let named = path.split_once('=').map(|(name, _)| name);
        let is_named =
            named.is_some_and(|name| others.iter().any(|one| one.name.eq_ignore_ascii_case(name)));
        is_named || (named.is_none() && by_ending(path, &others).is_some())
    }
    #[cfg(not(feature = "gate"))]
    {
        let _ = (path, known);
        false
    }
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
        return Failure::usage(format!("-o {path}: {name:?} is not a {what}")).help(format!(
            "the formats are {}; for a file of that name: -o ./{path}",
            names.join(", ")
        ));
    }
    Failure::usage(format!("{path}: no {what} has this ending")).help(format!(
        "use one of {}; or name the format: -o {}={path}",
        endings.collect::<Vec<_>>().join(", "),
        known[0].name
    ))
}

/// Where a command writes, and in which formats; with `PICTURES` its subject can be drawn.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct Outputs<const PICTURES: bool = false> {
    /// Set the format of standard output
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(FORMATS.iter().map(|format| format.name)))]
    format: Option<String>,

    #[arg(short = 'o', long = "output", value_name = "[FORMAT=]PATH", id = "paths", help = help(report::NO_OWN, if PICTURES { ", .svg, .png" } else { "" }))]
    paths: Vec<PathBuf>,
}

/// The help of `-o`, with the endings of every format, and of `more` than these.
pub(super) fn help<R>(own: &'static [Format<R>], more: &str) -> String {
    let endings = report::formats_with(own).filter_map(|format| format.endings.first());
    let endings: Vec<String> = endings.map(|ending| format!(".{ending}")).collect();
    format!(
        "Write to a file in the format of its ending ({}{more}) or as FORMAT=PATH; repeatable; \
         `-` is standard output",
        endings.join(", ")
    )
}

/// What a place gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// The subject in the format of this name.
    Named(&'static str),
    #[cfg(feature = "plot")]
    Picture(Encoding),
    /// The main table of the subject.
    Parquet,
}

/// The places of one run of a command.
pub(super) type Places = Vec<Place<Kind>>;

/// The formats of a subject, forms of its own included.
fn known<R>(own: &'static [Format<R>]) -> Vec<Known<Kind>> {
    let named = report::formats_with(own).map(|format| Known {
        name: format.name,
        endings: format.endings,
        format: Kind::Named(format.name),
    });
    named.collect()
}

/// The places for a subject without a picture, all that is wrong found before anything is read.
pub(super) fn places_for<R>(
    asked: (&[PathBuf], Option<&str>),
    own: &'static [Format<R>],
    what: &str,
) -> Result<Places, Failure> {
    places(asked.0, asked.1, &known(own), what)
}

/// The same for a subject that there is a picture of.
pub(super) fn places_or_pictures(
    asked: (&[PathBuf], Option<&str>),
    what: &str,
) -> Result<Places, Failure> {
    #[cfg_attr(not(feature = "plot"), expect(unused_mut, reason = "pictures join the list"))]
    let mut known = known(report::NO_OWN);
    #[cfg(feature = "plot")]
    known.extend([
        Known { name: "svg", endings: &["svg"], format: Kind::Picture(Encoding::Svg) },
        Known { name: "png", endings: &["png"], format: Kind::Picture(Encoding::Png) },
    ]);
    places(asked.0, asked.1, &known, what)
}

/// The same for a subject whose main table can be Parquet.
pub(super) fn places_or_parquet(
    asked: (&[PathBuf], Option<&str>),
    what: &str,
) -> Result<Places, Failure> {
    let mut known = known(report::NO_OWN);
    known.push(Known { name: "parquet", endings: &["parquet"], format: Kind::Parquet });
    let places = places(asked.0, asked.1, &known, what)?;
    #[cfg(not(feature = "frames"))]
    if places.iter().any(|place| place.format == Kind::Parquet) {
        parquet(&Table::default())?;
    }
    Ok(places)
}

/// Whether an output is a folder.
pub(super) fn is_folder(path: &Path) -> bool {
    path.to_string_lossy().ends_with(['/', '\\']) || path.is_dir()
}

/// A table as Parquet.
#[cfg(feature = "frames")]
pub(super) fn parquet(table: &Table<'_>) -> Result<Vec<u8>, Failure> {
    crate::table::frames::parquet(table).map_err(|error| Failure::usage(error.to_string()))
}

#[cfg(not(feature = "frames"))]
pub(super) fn parquet(_: &Table<'_>) -> Result<Vec<u8>, Failure> {
    Err(Failure::usage("this build has no Parquet")
        .help("build with the feature `frames`, or write .csv or .json"))
}

impl<const PICTURES: bool> Outputs<PICTURES> {
    /// The places for a subject without a picture.
    pub(super) fn places(&self, what: &str) -> Result<Places, Failure> {
        places_for((&self.paths, self.format.as_deref()), report::NO_OWN, what)
    }
}

impl Outputs<true> {
    /// The places for a subject that there is a picture of; `drawing` are the options of pictures, and which were
    /// given.
    pub(super) fn places_or_pictures(
        &self,
        what: &str,
        drawing: &[(&str, bool)],
    ) -> Result<Places, Failure> {
        let places = places_or_pictures((&self.paths, self.format.as_deref()), what)?;
        drawn(places, drawing)
    }

    /// The places of a subject that has no picture in the form asked for.
    pub(super) fn places_of_text(
        &self,
        what: &str,
        drawing: &[(&str, bool)],
    ) -> Result<Places, Failure> {
        drawn(self.places(what)?, drawing)
    }
}

/// Refuses options of pictures where none is written.
fn drawn(places: Places, drawing: &[(&str, bool)]) -> Result<Places, Failure> {
    let is_picture = |place: &Place<Kind>| !matches!(place.format, Kind::Named(_) | Kind::Parquet);
    match drawing.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) if !places.iter().any(is_picture) => {
            Err(Failure::usage(format!("{option} has no effect: no picture is written"))
                .help("add -o FILE.svg or -o FILE.png, or leave it out"))
        }
        _ => Ok(places),
    }
}

/// Writes a subject without a picture to its places.
pub(super) fn write(
    places: &[Place<Kind>],
    subject: &dyn Reported,
    style: impl Fn(Style, &Path) -> Style,
    terminal: &Terminal,
) -> Result<(), Failure> {
    for place in places {
        match place.format {
            Kind::Named(name) => write_named(place, name, subject, &style, terminal)?,
            #[cfg(feature = "plot")]
            Kind::Picture(_) => return Err(no_form(&place.path, "picture")),
            Kind::Parquet => return Err(no_form(&place.path, "table")),
        }
    }
    Ok(())
}

fn no_form(path: &Path, what: &str) -> Failure {
    Failure::usage(format!("{}: there is no {what} of this", path.display()))
}

/// Writes a subject to its places, Parquet from its main table.
pub(super) fn write_or_table<'t>(
    places: &[Place<Kind>],
    subject: &dyn Reported,
    style: impl Fn(Style, &Path) -> Style,
    terminal: &Terminal,
    table: impl Fn() -> Table<'t>,
) -> Result<(), Failure> {
    for place in places {
        match place.format {
            Kind::Parquet => terminal.write(&place.path, &parquet(&table())?)?,
            Kind::Named(_) => write(std::slice::from_ref(place), subject, &style, terminal)?,
            #[cfg(feature = "plot")]
            Kind::Picture(_) => return Err(no_form(&place.path, "picture")),
        }
    }
    Ok(())
}

/// Writes a subject to its places, pictures as `picture` draws them.
#[cfg(feature = "plot")]
pub(super) fn write_or_draw(
    places: &[Place<Kind>],
    subject: &dyn Reported,
    style: impl Fn(Style, &Path) -> Style,
    terminal: &Terminal,
    picture: impl Fn(Encoding) -> Result<Vec<u8>, PictureError>,
) -> Result<(), Failure> {
    for place in places {
        match place.format {
            Kind::Named(name) => write_named(place, name, subject, &style, terminal)?,
            Kind::Picture(encoding) => {
                let bytes = picture(encoding).map_err(|error| {
                    Failure::usage(format!("{}: {error}", place.path.display()))
                })?;
                terminal.write(&place.path, &bytes)?;
            }
            Kind::Parquet => return Err(no_form(&place.path, "table")),
        }
    }
    Ok(())
}

/// Only text on the standard output is drawn for the terminal; all else is as in a file.
fn write_named(
    place: &Place<Kind>,
    name: &str,
    subject: &dyn Reported,
    style: &impl Fn(Style, &Path) -> Style,
    terminal: &Terminal,
) -> Result<(), Failure> {
    let is_for_terminal = place.is_stdout() && name == "text";
    let drawn = match name {
        "text" if is_for_terminal => terminal.style(),
        "text" => terminal.style_of_files(),
        _ => Style::default(),
    };
    let style = style(drawn, &place.path);
    match terminal.quiet() {
        1 if is_for_terminal => {
            terminal.write(&place.path, report::verdict(subject, &style).as_bytes())
        }
        2.. if is_for_terminal => Ok(()),
        _ => terminal.stream(&place.path, |to| report::write(subject, name, &style, to)),
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
        let places = named(&outputs, format, KNOWN, "gate format");
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
        assert_eq!(one("rank=0.json"), ("rank=0.json".to_owned(), 1));
        assert_eq!(one("./txt=a.json"), ("./txt=a.json".to_owned(), 1));
        // An ending in the place of a format, or a format that is mistyped.
        for text in ["txt=a.json", "jsno=a.json"] {
            let error = asked(&[text], None).unwrap_err();
            assert!(error.contains("is not a gate format"), "{error}");
        }
        assert_eq!(one("json"), ("-".to_owned(), 1));
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

    #[cfg(feature = "gate")]
    #[test]
    fn what_only_the_gate_writes_is_refused_elsewhere() {
        let known = [
            Known { name: "text", endings: &["txt"], format: 0 },
            Known { name: "json", endings: &["json"], format: 1 },
        ];
        let refused =
            ["benchmark=b.json", "METRICS=x.json", "run.metrics.json", "gate.xml", "junit=a.txt"];
        for output in refused {
            let error =
                places(&[output.into()], None, &known, "report format").unwrap_err().to_string();
            assert!(error.contains("only `rooflint gate` writes this"), "{output}: {error}");
        }
        for (output, path, format) in [
            ("JSON=a", "a", 1),
            ("./run.json", "./run.json", 1),
            ("lr=5.json", "lr=5.json", 1),
            ("./junit=a.txt", "./junit=a.txt", 0),
        ] {
            let expected = Place { path: path.into(), format };
            assert_eq!(
                places(&[output.into()], None, &known, "report format").unwrap(),
                [expected],
                "{output}"
            );
        }
    }

    #[test]
    fn what_asks_for_no_format_is_refused() {
        let unknown = asked(&["xunit=gate.yaml"], None).unwrap_err();
        assert_eq!(unknown, "-o xunit=gate.yaml: \"xunit\" is not a gate format");
        for path in ["gate", "gate.yaml", "jsn", ".txtx", "a.b/c"] {
            assert_eq!(
                asked(&[path], None).unwrap_err(),
                format!("{path}: no gate format has this ending")
            );
        }
    }
}
