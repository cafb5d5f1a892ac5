//! Reads the exports that a command names.

#[cfg(feature = "frames")]
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::slice;
use std::sync::Arc;

use super::args::{Reading, Sign};
use super::exit::{Code, Failure};
use super::guesses;
use super::progress::Progress;
use super::terminal::Terminal;
use crate::ingest::{self, Input, Mapping, Options};
use crate::model::{Profile, skipped};
use crate::plain;

/// A mapping is a page of text.
const LARGEST_MAPPING: u64 = 1 << 20;

/// How the user wants exports read.
pub(super) fn options(reading: &Reading) -> Result<Options, Failure> {
    let map = reading.map.as_ref().map(|path| mapping(path)).transpose()?;
    let from = reading.from.as_deref().and_then(ingest::format);
    let decimal = reading.decimal_sign.map(Sign::decimal);
    let (strict, with_ncu, threads) = (reading.strict, reading.with_ncu, reading.threads);
    let stop = reading.held.as_ref().map(|held| Arc::clone(&held.stop));
    let whole = reading.whole;
    Ok(Options { strict, from, map, decimal, with_ncu, count: None, stop, whole, threads })
}

/// The files of many ranks: those in folders that are named after a rank, too.
#[cfg(feature = "frames")]
pub(super) fn rank_files(reading: &Reading) -> Result<Vec<PathBuf>, Failure> {
    let mut wanted = reading.clone();
    wanted.files.clear();
    for file in &reading.files {
        let mut folders: Vec<PathBuf> = std::fs::read_dir(file)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.is_dir() && has_rank(path))
            .collect();
        folders.sort();
        // A folder of folders has no exports of its own.
        let holds_files = |folder: &PathBuf| {
            std::fs::read_dir(folder)
                .into_iter()
                .flatten()
                .flatten()
                .any(|one| one.path().is_file())
        };
        if folders.is_empty() || holds_files(file) {
            wanted.files.push(file.clone());
        }
        wanted.files.append(&mut folders);
    }
    let mut files: BTreeSet<PathBuf> = BTreeSet::new();
    for input in inputs(&wanted)? {
        let path = input.path();
        match input {
            Input::Named(_) | Input::Found(_) => {
                files.insert(path);
            }
            Input::Stdin | Input::Memory(..) => {
                return Err(Failure::usage(format!(
                    "{}: ranks are read from files",
                    path.display()
                ))
                .help("write it to a file named after its rank, such as rank-0.csv"));
            }
        }
    }
    Ok(files.into_iter().collect())
}

#[cfg(feature = "frames")]
fn has_rank(path: &Path) -> bool {
    use crate::fleet::{positions_in, rank_in};

    path.file_name().is_some_and(|name| {
        rank_in(&name.to_string_lossy()).is_some() || !positions_in(Path::new(name)).is_empty()
    })
}

/// The names that a file lists, one per line, in any number; `-` is standard input. None without a file.
pub(super) fn listed(from: Option<&Path>) -> Result<Vec<PathBuf>, Failure> {
    let Some(from) = from else { return Ok(Vec::new()) };
    let is_stdin = from.as_os_str() == "-";
    let text = if is_stdin {
        plain::text_from(std::io::stdin().lock(), plain::WRITTEN)
    } else {
        plain::text_of(from, plain::WRITTEN)
    };
    let text = text.map_err(|cause| {
        let cause = plain::io(&cause);
        Failure::usage(format!("{}: cannot read the list of files: {cause}", from.display()))
            .help("check the path given to --files-from")
    })?;
    let names: Vec<PathBuf> =
        text.lines().filter(|line| !line.trim().is_empty()).map(PathBuf::from).collect();
    if names.is_empty() {
        return Err(Failure::usage(format!("{}: the list names no file", from.display()))
            .help("write the name of a file in each line"));
    }
    Ok(names)
}

/// Reads what the user named.
pub(super) fn read(reading: &Reading) -> Result<Profile, Failure> {
    let inputs = inputs(reading)?;
    let progress = Progress::of(&inputs, reading.held.is_none());
    let options = Options { count: Some(Arc::clone(&progress.read)), ..options(reading)? };
    ingest::read(&inputs, &options).map_err(|error| {
        let mut missing = reading.files.iter().filter(|file| !file.exists());
        match missing.find_map(|file| guesses::missing(file)) {
            Some(help) => Failure::Ingest(error.help(help)),
            None => Failure::Ingest(error),
        }
    })
}

/// Reads what the user named, to make something of it that does not say what is missing: a damaged export among the
/// files of a folder is an error, and files that are not exports are counted on standard error.
pub(super) fn read_whole(reading: &Reading, terminal: &Terminal) -> Result<Profile, Failure> {
    let profile = read(&Reading { whole: true, ..reading.clone() })?;
    if let Some(note) = left_out(&profile) {
        terminal.note(Code::Input, &note);
    }
    // What is written has no place that says so.
    for source in &profile.sources {
        if let Some(note) = skipped(slice::from_ref(source)) {
            terminal.note(Code::Input, &note);
        }
    }
    Ok(profile)
}

/// Which files were left out because they are not exports; `None` if none was.
pub(super) fn left_out(profile: &Profile) -> Option<String> {
    /// As many are named.
    const NAMED: usize = 3;
    let files = match profile.unread {
        0 => return None,
        1 => "1 file is not an export and was left out".to_owned(),
        files => format!("{files} files are not exports and were left out"),
    };
    let named: Vec<&str> = profile.unread_files.iter().take(NAMED).map(String::as_str).collect();
    let more = if profile.unread > named.len() { ", …" } else { "" };
    Some(format!("{files}: {}{more} (`rooflint inspect` says why)", named.join(", ")))
}

/// A mapping for the one table that the user named.
pub(super) fn suggest_map(reading: &Reading) -> Result<String, Failure> {
    match inputs(reading)?.as_slice() {
        [input] => Ok(ingest::suggest_map(input, &Options::default())?),
        inputs => Err(Failure::usage(format!(
            "a mapping is suggested for one table, not {}",
            inputs.len()
        ))
        .help("rooflint inspect FILE --suggest-map > MAPPING.toml")),
    }
}

/// Reads a mapping, or takes the built-in one of this name.
pub(super) fn mapping(path: &Path) -> Result<Mapping, Failure> {
    let shown = path.display().to_string();
    if let Some(text) = ingest::preset(&shown).filter(|_| !path.exists()) {
        return Ok(Mapping::built_in(text, &shown)?);
    }
    let refused = |cause: String| {
        let names = ingest::FORMATS.iter().map(|format| format.name);
        let built_in: Vec<&str> = names.filter(|name| ingest::preset(name).is_some()).collect();
        Failure::usage(format!("{shown}: cannot read the mapping: {cause}")).help(format!(
            "--map takes a TOML file, or one of {}; `rooflint inspect FILE --suggest-map` writes one",
            built_in.join(", ")
        ))
    };
    let text = plain::text_of(path, LARGEST_MAPPING).map_err(|cause| refused(plain::io(&cause)))?;
    Mapping::from_toml(&text, &shown).map_err(Failure::Mapping)
}

/// The files that the user named, those of folders and patterns included.
pub(super) fn paths(reading: &Reading) -> Result<Vec<PathBuf>, Failure> {
    Ok(inputs(reading)?.iter().map(Input::path).collect())
}

/// Expands patterns that the shell left alone, then directories and `-`.
fn inputs(reading: &Reading) -> Result<Vec<Input>, Failure> {
    let mut inputs = Vec::new();
    for file in &reading.files {
        if let Some(bytes) = reading.held.as_ref().and_then(|held| held.bytes.get(file)) {
            inputs.push(Input::Memory(file.display().to_string(), Arc::clone(bytes)));
            continue;
        }
        #[cfg(feature = "frames")]
        if let Some((folder, _)) = crate::fleet::partitioned(file) {
            let message = format!("{} is a launch table in partitions", file.display());
            let help = format!("rooflint fleet {}", plain::quoted(&folder.display().to_string()));
            return Err(Failure::usage(message).help(help));
        }
        let text = file.to_string_lossy();
        if file.exists() || !text.contains(['*', '?', '[']) {
            inputs.extend(ingest::expand(std::slice::from_ref(file))?);
            continue;
        }
        let found = fitting(&text)?;
        inputs.extend(found.into_iter().map(Input::Found));
    }
    Ok(inputs)
}

/// The files that fit a pattern, in the order of the numbers in their names.
pub(super) fn fitting(pattern: &str) -> Result<Vec<PathBuf>, Failure> {
    let found = any_fitting(pattern)?;
    if found.is_empty() {
        return Err(Failure::Ingest(ingest::IngestError::new(pattern, NONE_FITS)));
    }
    Ok(found)
}

/// What is said of a pattern without files.
pub(super) const NONE_FITS: &str = "no file fits the pattern";

/// As [`fitting`], and nothing where no file fits.
pub(super) fn any_fitting(pattern: &str) -> Result<Vec<PathBuf>, Failure> {
    let parts: Vec<Component<'_>> = Path::new(pattern).components().collect();
    let mut found = Vec::new();
    add_fitting(Path::new(""), &parts, &mut found)
        .map_err(|error| Failure::usage(format!("{pattern}: not a pattern: {error}")))?;
    found.sort_by_cached_key(|path: &PathBuf| plain::natural(&path.to_string_lossy()));
    found.dedup();
    Ok(found)
}

/// Adds the files below a folder that fit the rest of a pattern.
///
/// Links are followed where a name leads through them, but not by `**`: links in a circle have no end.
fn add_fitting(
    folder: &Path,
    parts: &[Component<'_>],
    found: &mut Vec<PathBuf>,
) -> Result<(), glob::PatternError> {
    let Some((first, rest)) = parts.split_first() else {
        // What cannot be read is kept, to be named as that: a link that leads nowhere, a file in a locked folder.
        let is_there = match folder.metadata() {
            Ok(there) => !there.is_dir(),
            Err(error) => {
                folder.is_symlink() || error.kind() == std::io::ErrorKind::PermissionDenied
            }
        };
        if is_there {
            found.push(folder.to_owned());
        }
        return Ok(());
    };
    let name = first.as_os_str().to_string_lossy();
    if !name.contains(['*', '?', '[']) {
        return add_fitting(&folder.join(first), rest, found);
    }
    let pattern = glob::Pattern::new(&name)?;
    let here = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let is_any = name == "**";
    if is_any {
        add_fitting(folder, rest, found)?;
    }
    let entries = match std::fs::read_dir(here) {
        Ok(entries) => entries,
        Err(error) => {
            // A locked folder may hide ranks.
            if error.kind() == std::io::ErrorKind::PermissionDenied {
                found.push(folder.to_owned());
            }
            return Ok(());
        }
    };
    for entry in entries {
        // What could not be listed may hide ranks, too.
        let Ok(entry) = entry else {
            found.push(folder.to_owned());
            break;
        };
        let path = folder.join(entry.file_name());
        if is_any && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            add_fitting(&path, parts, found)?;
        } else if !is_any && pattern.matches(&entry.file_name().to_string_lossy()) {
            add_fitting(&path, rest, found)?;
        }
    }
    Ok(())
}
