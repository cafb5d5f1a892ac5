//! Which runs of a partitioned launch table are the baseline, where their names are dates: the newest before the runs
//! under test.

use std::collections::BTreeSet;
use std::path::Path;

use super::exit::Failure;
use super::yardstick::Yardstick;
use crate::compare::Run;
use crate::fleet::{self, Listed};
use crate::history::{Dated, HistoryError, Moment};

/// The runs of a table that are the baseline.
#[derive(Debug)]
pub(super) struct Night {
    /// When they were.
    pub(super) saved: Moment,
    /// Their names, several if that day was repeated.
    pub(super) runs: Vec<String>,
}

/// Chooses by the manifest alone; `None` if no run of the table has a date: then each is a repeat.
pub(super) fn before(
    folder: &Path,
    current: &[Run],
    yardstick: &Yardstick,
) -> Result<Option<Night>, Failure> {
    let listed = fleet::listed(folder)?;
    let mut dated: Vec<(Listed, Dated)> = Vec::new();
    let mut undated = None;
    for run in listed {
        match Dated::of(&run.name) {
            Some(date) => dated.push((run, date)),
            None => undated = Some(run.name),
        }
    }
    let shown = folder.display();
    match undated {
        _ if dated.is_empty() => return Ok(None),
        Some(run) => return Err(HistoryError::Undated { folder: folder.to_owned(), run }.into()),
        None => {}
    }
    if yardstick.is_of_commit() {
        let message = format!("the runs of {shown} have no commit or branch to choose by");
        let help = "name one run: --baseline FOLDER/run=NAME, or keep runs in a store: `rooflint baseline save`";
        return Err(Failure::usage(message).help(help));
    }
    let own: BTreeSet<String> = current.iter().filter_map(|run| name_in(folder, run)).collect();
    let own: Vec<Dated> = own.iter().filter_map(|name| Dated::of(name)).collect();
    let start = own.iter().map(|run| run.saved).min();
    // What is under test is compared with earlier runs of the same baseline.
    let names: BTreeSet<&str> = own.iter().map(|run| run.name.as_str()).collect();
    let only = names.first().filter(|_| names.len() == 1).copied();
    let name = yardstick.name().or(only);
    dated.retain(|(_, run)| {
        start.is_none_or(|start| run.saved < start) && name.is_none_or(|name| run.name == name)
    });
    let device = current.iter().flat_map(Run::device_names).next();
    let is_on = |listed: &Listed| device.is_none_or(|device| listed.devices.contains(device));
    // Where the table knows other devices only, the gate says so.
    if dated.iter().any(|(run, _)| is_on(run)) {
        dated.retain(|(run, _)| is_on(run));
    }
    let names: BTreeSet<&str> = dated.iter().map(|(_, run)| run.name.as_str()).collect();
    if names.len() > 1 {
        let names = names.into_iter().collect::<Vec<_>>().join(", ");
        let message = format!("{shown} has several baselines: {names}");
        return Err(Failure::usage(message).help("choose one with --baseline-name NAME"));
    }
    let Some(saved) = dated.iter().map(|(_, run)| run.saved).max() else {
        let of = name.map(|name| format!(" of {name}")).unwrap_or_default();
        let before = start.map(|start| format!(" before {start}")).unwrap_or_default();
        return Err(Failure::missing_baseline(format!("{shown} has no run{of}{before}"))
            .help("--allow-missing-baseline passes the first run"));
    };
    dated.retain(|(_, run)| run.saved == saved);
    Ok(Some(Night { saved, runs: dated.into_iter().map(|(run, _)| run.name).collect() }))
}

/// The name of a run that is of this table.
fn name_in(folder: &Path, run: &Run) -> Option<String> {
    let (of, name) = fleet::partitioned(Path::new(&run.label))?;
    let is_same = of.canonicalize().ok()? == folder.canonicalize().ok()?;
    name.filter(|_| is_same)
}
