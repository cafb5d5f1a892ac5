//! Several files read at once, each into a profile of its own.

use std::thread;

use super::observed::Observed;
use super::workload::Machine;
use super::{IngestError, Input, Options, read_one};
use crate::model::Profile;

/// What was read of one file.
pub(super) struct Part {
    profile: Profile,
    result: Result<Observed, IngestError>,
}

impl Part {
    fn read(input: &Input, options: &Options) -> Self {
        let mut profile = Profile::default();
        let result = read_one(input, options, &mut profile);
        Self { profile, result }
    }

    /// Appends it to the files before it, as if it had been read after them.
    ///
    /// # Errors
    /// When it could not be read, or there are too many.
    pub(super) fn append_to(self, profile: &mut Profile) -> Result<Option<Machine>, IngestError> {
        let Self { profile: part, result } = self;
        let most = usize::from(u16::MAX);
        if let Some(first) = part.sources.first()
            && profile.sources.len() + part.sources.len() > most
        {
            return Err(IngestError::new(&first.path, "more than 65,535 files in one report")
                .help("analyze them in parts"));
        }
        let devices = profile.append(part);
        let mut observed = result?;
        for id in &mut observed.devices {
            *id = devices[usize::from(id.0)];
        }
        Ok(observed.complete(profile))
    }
}

/// Reads those inputs that are fresh; nothing where one thread does as well.
pub(super) fn read(inputs: &[Input], fresh: &[bool], options: &Options) -> Vec<Part> {
    let inputs: Vec<&Input> = inputs
        .iter()
        .zip(fresh)
        .filter(|(_, is_fresh)| **is_fresh)
        .map(|(input, _)| input)
        .collect();
    let [first, others @ ..] = inputs.as_slice() else { return Vec::new() };
    if others.is_empty() {
        return Vec::new();
    }
    let options = &Options { threads: 1, ..options.clone() };
    thread::scope(|scope| {
        let started: Vec<_> = others
            .iter()
            .map(|input| {
                let read = move || Part::read(input, options);
                let name = "rooflint-file".to_owned();
                (*input, thread::Builder::new().name(name).spawn_scoped(scope, read).ok())
            })
            .collect();
        let first = Part::read(first, options);
        let others = started.into_iter().map(|(input, thread)| {
            // Where no thread could be had, or it stopped, this one reads.
            let part = thread.and_then(|thread| thread.join().ok());
            part.unwrap_or_else(|| Part::read(input, options))
        });
        std::iter::once(first).chain(others).collect()
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::ingest::{self, Input, Options};
    use crate::model::{Profile, Quantity};

    /// Everything in a profile, ids included.
    fn all(profile: &Profile) -> String {
        let mut text =
            format!("{:?}\n{:?}\n{:?}\n", profile.sources, profile.devices, profile.notes);
        for launch in profile.iter() {
            let values: Vec<_> = Quantity::all().filter_map(|of| launch.get(of)).collect();
            let operator = profile.names.get(launch.head.operator);
            let (head, kernel) = (launch.head, launch.kernel());
            text.push_str(&format!("{head:?} {kernel} {operator} {values:?} "));
            text.push_str(&format!("{:?}\n", launch.advice()));
        }
        text
    }

    #[test]
    fn files_read_side_by_side_make_the_same_profile() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
        let mut inputs = Vec::new();
        for part in ["ncu_wide", "ncu_long", "pyprof", "ncu_summary", "bad", "ncu_wide"] {
            let files = ingest::expand(&[folder.join(part)]).unwrap();
            // Found, not named: what cannot be read is noted.
            inputs.extend(files.into_iter().map(|input| Input::Found(input.path())));
        }
        let read = |threads| {
            let options = Options { threads, ..Options::default() };
            all(&ingest::read(&inputs, &options).unwrap())
        };
        let one = read(1);
        assert!(one.contains("given twice") && one.contains("not read"));
        for threads in [2, 3, 8] {
            assert!(read(threads) == one, "{threads} threads");
        }
        let named = Input::Named(folder.join("generate.py"));
        let mut failing = vec![inputs[0].clone(), named, inputs[1].clone()];
        failing.push(Input::Named("no-such-file".into()));
        for threads in [1, 4] {
            let options = Options { threads, ..Options::default() };
            let error = ingest::read(&failing, &options).unwrap_err().to_string();
            assert!(error.contains("generate.py"), "{error}");
        }
    }
}
