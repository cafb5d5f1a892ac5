//! Keeps outputs and inputs apart: a file that would be read is never written to.

use std::fs::{File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::{ArgMatches, Command};

use super::exit::Failure;
use super::{config, environment, reading, sides};
use crate::config::Config;
use crate::history::{MARKER, Store};
use crate::ingest::{self, FORMATS, Input, Sample, Sniff};

/// How much of a file in a folder is looked at to tell whether it is an export.
const SAMPLE: u64 = 512 * 1024;

/// Refuses an output that is an input, whatever path leads to it: the same name, a link, a folder or pattern that
/// contains it. All paths on the command line but those of `--output` are inputs.
pub(super) fn check(command: &Command, matches: &ArgMatches) -> Result<(), Failure> {
    let (command, matches) = environment::chosen(command, matches);
    let (mut outputs, mut inputs) = (Vec::new(), Vec::new());
    for id in matches.ids() {
        let Ok(Some(paths)) = matches.try_get_many::<PathBuf>(id.as_str()) else { continue };
        let mut arguments = command.get_arguments();
        let is_output = arguments.any(|one| one.get_id() == id && one.get_long() == Some("output"));
        (if is_output { &mut outputs } else { &mut inputs }).extend(paths.cloned());
    }
    let outputs: Vec<(&PathBuf, Identity)> =
        outputs.iter().filter_map(|path| Some((path, written(path)?))).collect();
    if outputs.is_empty() {
        return Ok(());
    }
    let nearest = config::nearest().map(|(path, _)| path);
    let chosen = matches.try_get_one::<PathBuf>("config").ok().flatten();
    // One that cannot be read is reported by the command.
    let configuration = chosen.or(nearest.as_ref()).and_then(|path| Config::read(path).ok());
    inputs.extend(configuration.and_then(|config| config.kernel_names));
    inputs.extend(nearest);
    let list = matches.try_get_one::<PathBuf>("files_from").ok().flatten();
    // A pipe gives its list once, to the command, which also reports one that cannot be read.
    if let Some(list) = list.filter(|list| list.is_file()) {
        inputs.extend(reading::listed(Some(list)).unwrap_or_default());
    }
    let has_mapping = matches.try_contains_id("map").unwrap_or(false);
    for path in &inputs {
        for (output, identity) in &outputs {
            if reads(path, identity, has_mapping) {
                let message = format!(
                    "-o {}: this file is an input, and would be overwritten",
                    output.display()
                );
                return Err(Failure::usage(message).help("write to another file"));
            }
        }
    }
    Ok(())
}

/// What is the same for all names of a file.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    #[cfg(unix)]
    file: (u64, u64),
    #[cfg(not(unix))]
    file: PathBuf,
}

impl Identity {
    /// The identity of a file that exists; pipes and devices are not destroyed by writing.
    fn of(path: &Path) -> Option<Self> {
        let there = std::fs::metadata(path).ok().filter(Metadata::is_file)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Some(Self { file: (there.dev(), there.ino()) })
        }
        #[cfg(not(unix))]
        path.canonicalize().ok().filter(|_| there.is_file()).map(|file| Self { file })
    }
}

/// The file that an output would replace, also as `FORMAT=PATH`.
fn written(output: &Path) -> Option<Identity> {
    Identity::of(output).or_else(|| {
        let text = output.to_string_lossy();
        text.split_once('=').and_then(|(_, path)| Identity::of(Path::new(path)))
    })
}

/// Whether reading an input reads this file.
fn reads(input: &Path, file: &Identity, has_mapping: bool) -> bool {
    let is_it = |path: &Path| Identity::of(path).as_ref() == Some(file);
    if input.as_os_str() == "-" {
        // The shell may have opened the file for standard input.
        return cfg!(unix) && is_it(Path::new("/dev/stdin"));
    }
    if input.is_dir() {
        // Reports of earlier runs may lie beside the exports, and are written again.
        let found = ingest::expand(&[input.to_owned()]).unwrap_or_default();
        let mut files = found.iter().map(Input::path).filter(|path| is_it(path));
        return files.any(|path| has_mapping || is_export(&path) || is_partial(&path))
            || holds(input, &is_it)
            || is_part(input, &is_it);
    }
    let text = input.to_string_lossy();
    if !input.exists() && text.contains(['*', '?', '[']) {
        return reading::fitting(&text).is_ok_and(|files| files.iter().any(|path| is_it(path)));
    }
    is_it(input)
}

/// Whether a file is a summary of ranks, by its name.
fn is_partial(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".partial.json")
}

/// Whether a partitioned launch table holds a file, at any depth: it would no longer be the table that its manifest
/// describes.
fn is_part(folder: &Path, is_it: &impl Fn(&Path) -> bool) -> bool {
    /// Run, rank and part.
    const DEPTH: usize = 3;
    fn has(folder: &Path, depth: usize, is_it: &impl Fn(&Path) -> bool) -> bool {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).any(|path| {
            is_it(&path) || (depth > 0 && path.is_dir() && has(&path, depth - 1, is_it))
        })
    }
    sides::is_partitioned(folder) && has(folder, DEPTH, is_it)
}

/// Whether a store of baselines holds a file.
fn holds(folder: &Path, is_it: &impl Fn(&Path) -> bool) -> bool {
    let entries = |folder: &Path| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    };
    let mut baselines = entries(folder).filter(|path| path.is_dir());
    Store::is_store(folder)
        && (is_it(&folder.join(MARKER))
            || baselines.any(|one| entries(&one).any(|path| is_it(&path))))
}

/// Whether a file in a folder is taken for an export; a compressed or UTF-16 one is not opened.
fn is_export(path: &Path) -> bool {
    #[cfg(feature = "frames")]
    if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("parquet")) {
        // Other tables of rooflint are outputs that are written again.
        let schema = crate::table::frames::schema(path);
        return schema.is_none_or(|schema| schema.starts_with("rooflint/launches/"));
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(SAMPLE).read_to_end(&mut head));
    let is_text = std::str::from_utf8(&head).is_ok() && !head.contains(&0);
    let sample = Sample::new(&head);
    read.is_ok()
        && (!is_text || FORMATS.iter().any(|one| !matches!((one.sniff)(&sample), Sniff::No(_))))
}
