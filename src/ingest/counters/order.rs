//! Which launches of a trace and under Nsight Compute belong together, by their order.

use std::collections::{BTreeSet, HashMap};

use crate::model::Profile;

/// Launches of traces in the order of their calls, or where there are none of their starts. PyProf numbers launches and does
/// not say when they began.
pub(super) fn called(profile: &Profile, mut rows: Vec<usize>) -> Vec<usize> {
    let launches = &profile.launches;
    rows.sort_by_key(|row| (launches.start(*row), launches.numbers(*row), *row));
    profile.sort_by_call(&mut rows);
    rows
}

/// Launches under Nsight Compute in the order of their processes' first row, and of their numbers: files may come in any
/// order, and so may rows.
pub(super) fn launched(profile: &Profile, rows: &[usize]) -> Vec<usize> {
    let number = |row: usize| profile.launches.numbers(row);
    let mut processes: HashMap<u32, usize> = HashMap::new();
    for row in rows {
        let next = processes.len();
        processes.entry(number(*row).0).or_insert(next);
    }
    let mut rows = rows.to_vec();
    rows.sort_by_key(|row| {
        let (process, id) = number(*row);
        (processes[&process], id, *row)
    });
    rows
}

/// Launches of which as much was collected as of any in the same run: where a cell says `n/a`, the others' mean has what it
/// lacks.
pub(super) fn fullest(profile: &Profile, donors: &[usize]) -> Vec<usize> {
    let of_work = |row: &usize| {
        profile.launches.values(*row).all().filter(|(one, ..)| one.is_of_the_work()).count()
    };
    let counts: Vec<usize> = donors.iter().map(of_work).collect();
    let mut most: HashMap<(u16, u32), usize> = HashMap::new();
    for (row, count) in donors.iter().zip(&counts) {
        let most = most.entry(profile.launches.run(*row)).or_default();
        *most = (*most).max(*count);
    }
    let full = donors.iter().zip(counts);
    let full = full.filter(|(row, count)| most.get(&profile.launches.run(**row)) == Some(count));
    full.map(|(row, _)| *row).collect()
}

/// Whether as many launches on both sides are the same ones, in the order in which they were launched.
pub(super) fn is_each(profile: &Profile, hosts: &[usize], donors: &[usize]) -> bool {
    let run = |row: &usize| (profile.launches.source(*row), profile.launches.head(*row).device);
    let is_one_run = hosts.iter().all(|host| run(host) == run(&hosts[0]));
    let mut ids = BTreeSet::new();
    // The same number twice is of two processes, whose order is not known.
    let is_one_sequence = donors.iter().all(|row| ids.insert(profile.launches.numbers(*row).1));
    hosts.len() == donors.len() && is_one_run && is_one_sequence
}
