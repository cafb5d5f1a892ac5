//! Which runs of a partitioned launch table are the baseline, where their names are times: the newest before the runs
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
    /// The time in their names.
    pub(super) saved: Moment,
    /// Their names, several if that night was repeated.
    pub(super) runs: Vec<String>,
    /// Newer runs that are left out, a sentence each.
    pub(super) notes: Vec<String>,
}

/// A run of a table with what its name says.
type DatedRun = (Listed, Dated);

/// Lists the runs of a table whose names are times, and the first run with another name.
fn listed(folder: &Path) -> Result<(Vec<DatedRun>, Option<HistoryError>), Failure> {
    let (mut dated, mut undated) = (Vec::new(), None);
    for run in fleet::listed(folder)? {
        match Dated::of(&run.name) {
            Some(date) => dated.push((run, date)),
            None if undated.is_none() => undated = Some(run.name),
            None => {}
        }
    }
    let undated = undated.map(|run| HistoryError::Undated { folder: folder.to_owned(), run });
    Ok((dated, undated))
}

/// Returns an error if a run of the table has a name that is not a time: before its launches are read, which takes long.
pub(super) fn check(folder: &Path) -> Result<(), Failure> {
    listed(folder)?.1.map_or(Ok(()), |undated| Err(undated.into()))
}

/// What the name of a run of a table says; `None` for other runs.
pub(super) fn of(run: &Run) -> Option<Dated> {
    let (_, name) = fleet::partitioned(Path::new(&run.label))?;
    Dated::of(&name?)
}

/// Chooses by the manifest alone; `None` if no run of the table has a time as its name: then each is a repeat.
pub(super) fn before(
    folder: &Path,
    current: &[Run],
    yardstick: &Yardstick,
) -> Result<Option<Night>, Failure> {
    let (all, undated) = listed(folder)?;
    match undated {
        _ if all.is_empty() => return Ok(None),
        Some(undated) => return Err(undated.into()),
        None => {}
    }
    let shown = folder.display();
    if yardstick.is_of_commit() {
        let message = format!("the runs of {shown} have no commit or branch to choose by");
        let help = "name one run: --baseline FOLDER/run=NAME, or keep runs in a store: `rooflint baseline save`";
        return Err(Failure::usage(message).help(help));
    }
    // What was measured earlier is compared with what was before it, and with runs of the same baseline.
    let moments = current.iter().filter_map(|run| run.origin.saved.as_deref()?.parse().ok());
    let start: Option<Moment> = moments.min();
    let own: BTreeSet<String> = current.iter().filter_map(of).map(|night| night.name).collect();
    let only = own.first().filter(|_| own.len() == 1).map(String::as_str);
    let name = yardstick.name().or(only);
    let mut fitting: Vec<&DatedRun> = all
        .iter()
        .filter(|(_, run)| start.is_none_or(|start| run.saved < start))
        .filter(|(_, run)| name.is_none_or(|name| run.name == name))
        .collect();
    let device = current.iter().flat_map(Run::device_names).next();
    let is_on = |run: &Listed| device.is_none_or(|device| run.devices.contains(device));
    // Where the table knows other devices only, the gate says so.
    if fitting.iter().any(|(run, _)| is_on(run)) {
        fitting.retain(|(run, _)| is_on(run));
    }
    let names = |runs: &[&DatedRun]| -> String {
        let names: BTreeSet<&str> = runs.iter().map(|(_, run)| run.name.as_str()).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    };
    if fitting.iter().any(|(_, run)| run.name != fitting[0].1.name) {
        let message = format!("{shown} has several baselines: {}", names(&fitting));
        return Err(Failure::usage(message).help("choose one with --baseline-name NAME"));
    }
    let newest = |runs: &[&DatedRun]| runs.iter().map(|(_, run)| run.saved).max();
    let timed: Vec<_> = fitting.iter().copied().filter(|(run, _)| run.is_timed).collect();
    let Some(saved) = newest(&timed) else {
        let of = name.map(|name| format!(" of {name}")).unwrap_or_default();
        let before = start.map(|start| format!(" before {start}")).unwrap_or_default();
        let known = names(&all.iter().collect::<Vec<_>>());
        let message = format!("{shown} has no run{of}{before} with times (baselines: {known})");
        return Err(Failure::missing_baseline(message)
            .help("--allow-missing-baseline passes the first run"));
    };
    let untimed = fitting.iter().filter(|(run, date)| !run.is_timed && date.saved >= saved);
    let notes = untimed
        .map(|(run, _)| format!("run {} of {shown} has no times and is left out", run.name))
        .collect();
    let runs = timed.iter().filter(|(_, run)| run.saved == saved);
    let runs = runs.map(|(run, _)| run.name.clone()).collect();
    Ok(Some(Night { saved, runs, notes }))
}
