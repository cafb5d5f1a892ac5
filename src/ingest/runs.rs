//! Joins launches whose time, bytes and operations were measured in separate runs.
//!
//! SASS counters slow the kernel down, so careful users collect them apart: the time and bytes of a
//! launch come from one process or file, its operations from another. Such groups are recognised by
//! what each lacks, and joined launch by launch on number, kernel and grid.

use std::collections::BTreeMap;
use std::collections::HashMap;

use crate::model::{Head, NameId, OriginKind, Profile, Quantity, Values};

/// What a group of launches has values for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Has {
    /// A time that was not taken while the kernel ran instrumented.
    time: bool,
    bytes: bool,
    work: bool,
}

impl Has {
    /// Whether `other` brings something that is missing here, and lacks something that is here.
    fn completes(self, other: Self) -> bool {
        let only = |one: bool, two: bool| one && !two;
        let brings = only(other.work, self.work) || only(other.bytes, self.bytes);
        let lacks = only(self.time, other.time)
            || only(self.bytes, other.bytes)
            || only(self.work, other.work);
        self.time && brings && lacks
    }
}

/// Launches of one process in one file.
struct Group {
    rows: Vec<usize>,
    has: Has,
}

type Key = (u32, NameId, Option<u64>);

fn key(head: &Head) -> Key {
    (head.id, head.name, head.shape.blocks)
}

pub(super) fn join(profile: &mut Profile) {
    let groups = groups(profile);
    if groups.len() < 2 {
        return;
    }
    let mut gone = vec![false; profile.launches.len()];
    for (donor_at, (donor_id, donor)) in groups.iter().enumerate() {
        let mut hosts: Vec<(usize, Vec<(usize, usize)>)> = Vec::new();
        for (host_at, (_, host)) in groups.iter().enumerate() {
            // Of two that complete each other the one with bytes keeps its time: hardware counters
            // do not slow the kernel down.
            if host_at == donor_at || !host.has.completes(donor.has) {
                continue;
            }
            let either_way = donor.has.completes(host.has);
            if either_way && (donor.has.bytes || !host.has.bytes) {
                continue;
            }
            let pairs = pairs(profile, host, donor);
            if pairs.len() * 2 >= donor.rows.len().max(1) {
                hosts.push((host_at, pairs));
            }
        }
        let name = |profile: &Profile, id: &(u16, u32), with_file: bool| {
            let file = &profile.sources[usize::from(id.0)].path;
            if with_file {
                format!("process {} of {file}", id.1)
            } else {
                format!("process {}", id.1)
            }
        };
        let donor_name = name(profile, donor_id, true);
        match hosts.as_slice() {
            [] => {}
            [(host_at, pairs)] => {
                for (host_row, donor_row) in pairs {
                    let values = values(profile, *donor_row);
                    profile.launches.fill(*host_row, &values);
                    gone[*donor_row] = true;
                }
                let host_id = &groups[*host_at].0;
                let host_name = name(profile, host_id, host_id.0 != donor_id.0);
                let left = donor.rows.len() - pairs.len();
                let rest = if left > 0 { format!("; {left} launches matched none") } else { String::new() };
                profile.notes.push(format!(
                    "joined {} launches of {donor_name} with those of {host_name} by launch number, kernel and grid{rest}",
                    pairs.len()
                ));
            }
            several => profile.notes.push(format!(
                "{donor_name} was not joined: its launches match {} other runs equally; give one run and its counters at a time",
                several.len()
            )),
        }
    }
    if gone.contains(&true) {
        profile.launches.retain(|row| !gone[row]);
    }
}

fn groups(profile: &Profile) -> Vec<((u16, u32), Group)> {
    let mut groups: BTreeMap<(u16, u32), Group> = BTreeMap::new();
    for launch in profile.iter() {
        let group = groups
            .entry((launch.head.source, launch.head.process))
            .or_insert_with(|| Group { rows: Vec::new(), has: Has::default() });
        group.rows.push(launch.row());
        let has = &mut group.has;
        has.time |=
            launch.duration().is_some_and(|(_, origin)| origin.kind != OriginKind::Instrumented);
        has.bytes |= launch.value(Quantity::DramBytes).is_some()
            || launch.value(Quantity::L2Bytes).is_some();
        has.work |= launch.work().next().is_some();
    }
    groups.into_iter().collect()
}

/// Rows of host and donor that are the same launch; each is used once.
fn pairs(profile: &Profile, host: &Group, donor: &Group) -> Vec<(usize, usize)> {
    let mut by_key: HashMap<Key, usize> =
        host.rows.iter().map(|row| (key(&profile.launches.head(*row)), *row)).collect();
    donor
        .rows
        .iter()
        .filter_map(|row| Some((by_key.remove(&key(&profile.launches.head(*row)))?, *row)))
        .collect()
}

/// All values of a launch except its time, which belongs to its own run.
fn values(profile: &Profile, row: usize) -> Values {
    let mut values = Values::default();
    for quantity in Quantity::all().filter(|quantity| *quantity != Quantity::Duration) {
        if let Some((value, origin)) = profile.launches.get(row, quantity) {
            values.set(quantity, value, origin);
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Origin, Pipe, Source};

    /// A profile of groups given as (process, quantities of each of two launches).
    fn profile(groups: &[(u32, &[(Quantity, OriginKind)])]) -> Profile {
        let mut profile = Profile { sources: vec![Source::default()], ..Profile::default() };
        let name = profile.names.id("kernel");
        for (process, quantities) in groups {
            for id in 0..2 {
                let mut values = Values::default();
                for (quantity, kind) in *quantities {
                    let origin = profile.origins.id(&Origin::new(*kind, "column"));
                    values.set(*quantity, f64::from(id + 1), origin);
                }
                profile
                    .launches
                    .push(Head { process: *process, id, name, ..Head::default() }, &values);
            }
        }
        profile
    }

    const TIME: (Quantity, OriginKind) = (Quantity::Duration, OriginKind::Measured);
    const SLOWED: (Quantity, OriginKind) = (Quantity::Duration, OriginKind::Instrumented);
    const BYTES: (Quantity, OriginKind) = (Quantity::DramBytes, OriginKind::Measured);
    const WORK: (Quantity, OriginKind) = (Quantity::Work(Pipe::Fp64Vector), OriginKind::Measured);

    #[test]
    fn operations_join_the_run_that_has_time_and_bytes() {
        let mut profile = profile(&[(1, &[TIME, BYTES]), (2, &[SLOWED, WORK])]);
        join(&mut profile);
        assert_eq!(profile.launches.len(), 2);
        let launch = profile.launch(1);
        assert_eq!(launch.head.process, 1);
        assert_eq!(launch.value(WORK.0), Some(2.0));
        assert_eq!(launch.duration().unwrap().1.kind, OriginKind::Measured);
        assert_eq!(profile.notes.len(), 1);
    }

    #[test]
    fn ranks_with_the_same_counters_are_not_joined() {
        let mut profile = profile(&[(1, &[TIME, BYTES]), (2, &[TIME, BYTES])]);
        join(&mut profile);
        assert_eq!(profile.launches.len(), 4);
        assert_eq!(profile.notes, Vec::<String>::new());
    }

    #[test]
    fn counters_that_fit_two_ranks_are_left_alone_and_said_so() {
        let mut profile = profile(&[(1, &[TIME, BYTES]), (2, &[TIME, BYTES]), (3, &[WORK])]);
        join(&mut profile);
        assert_eq!(profile.launches.len(), 6);
        assert!(profile.notes[0].contains("match 2 other runs"), "{:?}", profile.notes);
    }
}
