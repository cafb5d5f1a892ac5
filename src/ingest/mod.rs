//! Profiler exports → [`Profile`]: the formats, how one is recognized, and how a file is opened.
//!
//! To add a format: one file with a `FORMAT` constant in the room of its profiler, one line in the
//! room's `mod.rs`.

/// The formats of a profiler, the likeliest first.
macro_rules! formats {
    ($($module:ident),* $(,)?) => {
        $(mod $module;)*
        pub(super) const FORMATS: &[crate::ingest::Format] = &[$($module::FORMAT),*];
    };
}

mod ahead;
mod alike;
mod averages;
mod beside;
mod complete;
mod counters;
mod decimal;
mod detect;
mod distinct;
mod document;
mod duplicates;
mod error;
mod foreign;
mod full;
mod headers;
mod import;
mod input;
mod joined;
mod json;
mod kineto;
mod launch_table;
mod lines;
mod look_alikes;
mod mapped;
mod means;
mod name_forms;
mod nsight;
mod nsys;
mod numbered;
mod numerals;
mod nvprof;
mod observed;
mod operators;
mod part;
mod passes;
mod pool;
mod presets;
mod products;
mod proton;
mod pyprof;
mod reading;
mod rocprof;
mod rows;
mod runs;
mod sample;
mod scan;
mod side_by_side;
mod split;
mod steps;
mod sums;
mod timeline;
mod too_long;
mod total_rows;
mod trace_parts;
mod traced_twice;
mod workload;

use std::collections::HashSet;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use duplicates::Which;

pub use decimal::DecimalSign;
pub use detect::{Detection, Sniff};
pub use error::IngestError;
pub use input::{Input, expand};
pub use mapped::{Mapping, mapping_schema, suggest_map};
pub use numerals::Numerals;
use observed::{Beside, Observed};
pub use presets::preset;
pub use reading::Reading;
pub use sample::Sample;
use split::Record;

use crate::model::{Profile, Profiler};

/// One profiler dialect: how to recognize it, how to read it, and how a user produces it.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// Stable name, used by `--from` and in reports.
    pub name: &'static str,
    /// The profiler that writes it.
    pub profiler: Profiler,
    /// What it is, in one line.
    pub summary: &'static str,
    /// The command line that produces it.
    pub command: &'static str,
    /// Says whether a file's beginning looks like this format, and why.
    pub sniff: fn(&Sample) -> Sniff,
    /// Reads a whole file into the profile.
    ///
    /// # Errors
    /// When the file holds no launch, or anything at all is wrong and `strict` is set.
    pub read: fn(&mut Reading<'_>) -> Result<(), IngestError>,
}

/// Every format that can be read, in the order in which they are listed.
pub const FORMATS: &[Format] = joined!(
    Format,
    &[
        nsight::FORMATS,
        nsys::FORMATS,
        nvprof::FORMATS,
        pyprof::FORMATS,
        kineto::FORMATS,
        &[proton::FORMAT],
        presets::FORMATS,
        &[rocprof::FORMAT],
        &[launch_table::FORMAT],
    ]
);

/// The format with this name.
#[must_use]
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// How to read.
#[derive(Debug, Default, Clone)]
pub struct Options {
    /// Stop at the first record that cannot be used instead of counting it.
    pub strict: bool,
    /// Read as this format, whatever the content looks like.
    pub from: Option<&'static Format>,
    /// Read as a CSV whose columns this mapping names.
    pub map: Option<Mapping>,
    /// The decimal sign of the files; found out where it is not given.
    pub decimal: Option<DecimalSign>,
    /// Read reports of Nsight Compute through `ncu --import`, with the `ncu` on the path.
    pub with_ncu: bool,
    /// Counts the bytes that are read from files, as they are on disk.
    pub count: Option<Arc<AtomicU64>>,
    /// Ends the reading with an error once it is true: nobody waits for the result any more.
    pub stop: Option<Arc<AtomicBool>>,
    /// Whether a damaged export that was found in a folder or by a pattern is an error: without it the rest would pass
    /// for the whole run.
    pub whole: bool,
    /// How many threads may read; 0 for one on each core. The result does not depend on it.
    pub threads: usize,
}

/// What to do where a file of a folder cannot be read and the rest would pass for the whole.
const LEAVE_OUT: &str = "or move the file out of the folder, or name the files to read";

/// More threads read no faster and take memory.
pub(crate) const MOST_THREADS: usize = 256;

impl Options {
    /// Returns what of these options decides what is read, as a text to compare: not the threads, and of a mapping not
    /// where it lies.
    #[must_use]
    pub fn way(&self) -> String {
        let from = self.from.map(|format| format.name);
        let map = self.map.as_ref().map(Mapping::without_path);
        format!("{:?}", (self.strict, from, map, self.decimal, self.with_ncu))
    }

    /// How many threads may read at once.
    fn threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, NonZero::get),
            threads => threads.min(MOST_THREADS),
        }
    }
}

/// How many of the reasons why files cannot be read are listed.
const UNREAD_NAMED: usize = 5;

/// Files found by a search that cannot be read: for each reason the first of them and their number.
#[derive(Default)]
struct Unread(Vec<(IngestError, usize)>);

impl Unread {
    fn add(&mut self, error: &IngestError) {
        match self.0.iter_mut().find(|(first, _)| first.reason() == error.reason()) {
            Some((_, files)) => *files += 1,
            None => self.0.push((error.clone(), 1)),
        }
    }

    fn tell(&self, profile: &mut Profile) {
        let (listed, rest) = self.0.split_at(self.0.len().min(UNREAD_NAMED));
        profile.notes.extend(listed.iter().map(|(first, files)| match files {
            1 => format!("not read: {first}"),
            2 => format!("not read: {first}; nor was 1 more file, for the same reason"),
            _ => {
                format!("not read: {first}; nor were {} more files, for the same reason", files - 1)
            }
        }));
        let rest: usize = rest.iter().map(|(_, files)| files).sum();
        if rest > 0 {
            profile.notes.push(format!("nor were {rest} more files"));
        }
    }
}

/// Reads all inputs into one profile and joins counters that were taken in separate runs.
///
/// A file that was found by searching a directory or a pattern, and is no profile, is noted and left
/// out unless `strict` is set; one that was named is an error, and with `whole` so is a damaged one.
///
/// # Errors
/// When an input cannot be opened or read, or none of them holds a kernel.
pub fn read(inputs: &[Input], options: &Options) -> Result<Profile, IngestError> {
    let mut profile = Profile::default();
    let (mut beside, mut unread) = (Beside::default(), Unread::default());
    let mut seen = HashSet::new();
    for inputs in inputs.chunks(options.threads()) {
        let mut fresh = Vec::new();
        for input in inputs {
            let place = match input {
                Input::Named(path) | Input::Found(path) => path.canonicalize().ok(),
                Input::Stdin | Input::Memory(..) => None,
            };
            fresh.push(place.is_none_or(|place| seen.insert(place)));
        }
        let mut parts = side_by_side::read(inputs, &fresh, options).into_iter();
        for (input, is_fresh) in inputs.iter().zip(fresh) {
            if !is_fresh {
                profile.notes.push(format!("{}: given twice, read once", input.path().display()));
                continue;
            }
            let (before, launches) = (profile.mark(), profile.launches.len());
            let result = match parts.next() {
                Some(part) => part.append_to(&mut profile),
                None => read_one(input, options, &mut profile)
                    .map(|observed| observed.complete(&mut profile, launches)),
            };
            match result {
                Ok(found) => beside.extend(found),
                Err(error) => {
                    if input.is_named() || options.strict {
                        return Err(error);
                    }
                    if options.whole && !error.is_foreign() {
                        let help = error.next_step().map(|help| format!("{help}; "));
                        let help = help.unwrap_or_default() + LEAVE_OUT;
                        return Err(error.help(help));
                    }
                    profile.roll_back(before);
                    profile.unread += 1;
                    profile.unread_files.push(input.path().display().to_string());
                    unread.add(&error);
                }
            }
        }
    }
    unread.tell(&mut profile);
    workload::describe(&mut profile, &beside.machines)?;
    profile.merge_devices();
    if profile.launches.is_empty() {
        if let [(first, _), ..] = unread.0.as_slice() {
            return Err(first.clone());
        }
        let path = inputs.first().map_or_else(PathBuf::new, Input::path);
        return Err(IngestError::new(path.display(), "no kernel found in any input")
            .help("run `rooflint formats` to see what can be read"));
    }
    passes::join(&mut profile, beside.passes);
    total_rows::leave_out(&mut profile);
    workload::join_times(&mut profile);
    trace_parts::leave_out(&mut profile);
    // Before launches are compared by their numbers: tables of one trace in another order share some by chance.
    traced_twice::leave_out(&mut profile);
    // Copies are no separate runs; what a joined run and its launch table share shows afterwards.
    duplicates::leave_out(&mut profile, Which::Equal);
    sums::leave_out(&mut profile);
    averages::join(&mut profile);
    runs::join(&mut profile);
    rocprof::leave_out_untimed(&mut profile)?;
    duplicates::leave_out(&mut profile, Which::All);
    counters::join(&mut profile);
    look_alikes::tell(&mut profile);
    too_long::tell(&mut profile);
    profile.forget_idle();
    profile.launches.forget_unused();
    profile.names.finish();
    Ok(profile)
}

/// Reads a text that is already in memory, such as a sample carried in the program.
///
/// # Errors
/// As [`read`].
pub fn read_text(label: &str, text: &str, options: &Options) -> Result<Profile, IngestError> {
    read(&[Input::text(label, text)], options)
}

fn read_one(
    input: &Input,
    options: &Options,
    profile: &mut Profile,
) -> Result<Observed, IngestError> {
    let before = profile.launches.len();
    let mut reading = Reading::open(input, options, profile)?;
    if options.map.is_none()
        && let Some(machine) = workload::machine(&reading.sample, &reading.source.path)
    {
        // It has no launches of its own, and is no input of the report.
        return Ok(Observed { machine: Some(machine), ..Observed::default() });
    }
    if let Some(mapping) = &options.map {
        mapped::read(&mut reading, mapping)?;
    } else {
        let format = match options.from {
            Some(format) => format,
            None => detect::detect(&reading)?,
        };
        if options.with_ncu && reading.sample.head.starts_with(import::REPORT) {
            return Err(reading
                .error("`ncu` imports reports from files that are not compressed")
                .help("decompress it into a file, or leave out --with-ncu"));
        }
        format.name.clone_into(&mut reading.source.format);
        reading.source.profiler = format.profiler;
        reading.source.sums = sums::is_format(format.name);
        (format.read)(&mut reading)?;
    }
    let (path, unreadable) = (reading.source.path.clone(), reading.unreadable());
    let tables = reading.tables();
    let clues = reading.source.clues.clone();
    let observed = reading.finish();
    joined::leave_out(profile, &path, before, &tables);
    if profile.launches.len() == before {
        return Err(unreadable.unwrap_or_else(|| without_launches(&path, &clues)));
    }
    Ok(observed)
}

/// Of a file that can be read and has no launch, with what its reader says of it.
fn without_launches(path: &str, clues: &[String]) -> IngestError {
    let clues = clues.iter().map(String::as_str);
    let says: Vec<&str> =
        std::iter::once("the table holds no kernel launch").chain(clues).collect();
    IngestError::new(path, says.join("; ")).help(
        "check the profiler's own messages: was a kernel filter set, did the program launch kernels?",
    )
}
