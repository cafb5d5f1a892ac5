//! The second baseline of a gate: a release, a tag, or the oldest runs of a store.

use std::path::PathBuf;

use super::exit::Failure;
use super::yardstick;
use crate::compare::Run;
use crate::gate::Anchor;
use crate::history::{Filter, Store};

/// Returns the anchor with this word in the store among the baselines; `None` if it is the baseline itself.
/// Without a store, the anchor of a policy is left out with a note, and that of an option is an error.
pub(super) fn find(
    (word, is_option): (&str, bool),
    paths: &[PathBuf],
    filter: &Filter,
    (baseline, current): (&[Run], &[Run]),
    notes: &mut Vec<String>,
) -> Result<Option<Anchor>, Failure> {
    let Some(folder) = paths.iter().find(|path| path.is_dir() && Store::is_store(path)) else {
        let message = format!("anchor {word:?} needs a store as the baseline");
        if is_option {
            return Err(Failure::usage(message).help("use --baseline FOLDER with saved runs"));
        }
        notes.push(format!("{message}; it was not compared"));
        return Ok(None);
    };
    let store = Store::open(folder)?;
    let device = current.iter().flat_map(Run::device_names).next().map(str::to_owned);
    let filter = Filter { device, ..filter.clone() };
    let entries = store.anchor(word, yardstick::tagged(word).as_deref(), &filter)?;
    let is_baseline = |run: &Run| baseline.iter().any(|known| known.is_measurement_of(run));
    if entries.iter().all(|entry| is_baseline(&entry.run)) {
        return Ok(None);
    }
    let commit = entries.first().and_then(|entry| entry.run.origin.commit.as_deref());
    let short = commit.map(|commit| commit.chars().take(8).collect::<String>());
    let label = match short {
        Some(short) if !short.starts_with(word) && !word.starts_with(&short) => {
            format!("{word} ({short})")
        }
        _ => word.to_owned(),
    };
    let runs = entries.into_iter().map(|entry| {
        let mut run = entry.run.clone();
        run.label.clone_from(&entry.id);
        run
    });
    Ok(Some(Anchor { label, runs: runs.collect() }))
}
