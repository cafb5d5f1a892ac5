//! The second baseline of a gate: a release, a tag, or the oldest runs of a store.

use super::exit::Failure;
use super::yardstick;
use crate::compare::Run;
use crate::gate::Anchor;
use crate::history::{self, Filter, Store};

/// Returns the anchor with this word in the store of the baseline; `None` if it is the baseline itself.
/// Without a store, the anchor of a policy is left out with a note, and that of an option is an error.
pub(super) fn find(
    (word, is_option): (&str, bool),
    store: Option<&mut Store>,
    filter: &Filter,
    (baseline, current): (&[Run], &[Run]),
    notes: &mut Vec<String>,
) -> Result<Option<Anchor>, Failure> {
    let Some(store) = store else {
        let message = format!("anchor {word:?} needs a store as the baseline");
        if is_option {
            return Err(Failure::usage(message).help("use --baseline FOLDER with saved runs"));
        }
        notes.push(format!("{message}; it was not compared"));
        return Ok(None);
    };
    let filter = Filter { device: device(baseline, current), ..filter.clone() };
    let commit = yardstick::tagged(word);
    let completed = store.complete_anchor(word, commit.as_deref(), &filter);
    // Damage shows only where an entry is read wholly, and another entry cannot be the anchor in its place.
    store.check(filter.name.as_deref())?;
    completed?;
    let entries = store.anchor(word, commit.as_deref(), &filter)?;
    let is_baseline = |run: &Run| baseline.iter().any(|known| known.is_measurement_of(run));
    if entries.iter().all(|entry| is_baseline(&entry.run)) {
        return Ok(None);
    }
    let commit = entries.first().and_then(|entry| entry.run.origin.commit.as_deref());
    let label = match commit.map(history::short) {
        Some(short) if !short.starts_with(word) && !word.starts_with(short) => {
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

/// The device of the current runs, or that of the baseline where devices are compared.
fn device(baseline: &[Run], current: &[Run]) -> Option<String> {
    let first = |runs: &[Run]| runs.iter().flat_map(Run::device_names).next().map(str::to_owned);
    let of_current = first(current);
    let is_on = |name: &str| of_current.as_ref().is_some_and(|own| own.eq_ignore_ascii_case(name));
    if baseline.iter().flat_map(Run::device_names).any(is_on) {
        return of_current;
    }
    first(baseline).or(of_current)
}
