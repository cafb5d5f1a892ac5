//! Reads the exports that a command names.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::{Reading, Sign};
use super::exit::Failure;
use super::guesses;
use super::progress::Progress;
use crate::ingest::{self, Input, Mapping, Options};
use crate::model::Profile;
use crate::plain;

/// A mapping is a page of text.
const LARGEST_MAPPING: u64 = 1 << 20;

/// Reads what the user named.
pub(super) fn read(reading: &Reading) -> Result<Profile, Failure> {
    let map = reading.map.as_ref().map(|path| mapping(path)).transpose()?;
    let from = reading.from.as_deref().and_then(ingest::format);
    let inputs = inputs(&reading.files)?;
    let progress = Progress::of(&inputs);
    let count = Some(Arc::clone(&progress.read));
    let decimal = reading.decimal_sign.map(Sign::decimal);
    let options = Options { strict: reading.strict, from, map, decimal, count };
    ingest::read(&inputs, &options).map_err(|error| {
        let mut missing = reading.files.iter().filter(|file| !file.exists());
        match missing.find_map(|file| guesses::missing(file)) {
            Some(help) => Failure::Ingest(error.help(help)),
            None => Failure::Ingest(error),
        }
    })
}

fn mapping(path: &Path) -> Result<Mapping, Failure> {
    let shown = path.display().to_string();
    let refused = |cause: String| {
        Failure::usage(format!("{shown}: cannot read the mapping: {cause}"))
            .help("check the path given to --map")
    };
    let mut text = String::new();
    let file = File::open(path).map_err(|cause| refused(plain::io(&cause)))?;
    let read = file.take(LARGEST_MAPPING + 1).read_to_string(&mut text);
    if read.map_err(|cause| refused(plain::io(&cause)))? as u64 > LARGEST_MAPPING {
        return Err(refused("it exceeds 1 MiB".to_owned()));
    }
    Mapping::from_toml(&text, &shown).map_err(|error| {
        let help = error
            .next_step()
            .unwrap_or("see docs/formats.md for a mapping to start from")
            .to_owned();
        Failure::usage(error.to_string()).help(help)
    })
}

/// Expands patterns that the shell left alone, then directories and `-`.
fn inputs(files: &[PathBuf]) -> Result<Vec<Input>, Failure> {
    let mut inputs = Vec::new();
    for file in files {
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

/// A key by which `run-2` comes before `run-10`: digits padded.
fn natural(text: &str) -> String {
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

/// The files that fit a pattern, in the order of the numbers in their names.
pub(super) fn fitting(pattern: &str) -> Result<Vec<PathBuf>, Failure> {
    let found = glob::glob(pattern)
        .map_err(|error| Failure::usage(format!("{pattern}: not a pattern: {error}")))?;
    let mut found: Vec<_> = found.filter_map(Result::ok).filter(|path| path.is_file()).collect();
    found.sort_by_cached_key(|path| natural(&path.to_string_lossy()));
    if found.is_empty() {
        return Err(Failure::Ingest(ingest::IngestError::new(pattern, "no file fits the pattern")));
    }
    Ok(found)
}
