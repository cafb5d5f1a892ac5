//! Joins launches whose time, bytes and operations were measured in separate runs.
//!
//! SASS counters slow the kernel down, so careful users collect them apart: the time and bytes of a
//! launch come from one process or file, its operations from another. Such groups are recognized by
//! what each lacks, and joined launch by launch on number, kernel and grid.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::alike::{Alike, may_be_one};
use super::complete::complete;
use super::name_forms::is_whole;
use crate::model::{
    DeviceHint, Head, HintId, NameId, OriginKind, Profile, Profiler, Quantity, Shape, Values,
};
use crate::plain::counted;

/// What a group of launches has values for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Has {
    /// A time that was not taken while the kernel ran instrumented.
    time: bool,
    /// Everything but the time.
    quantities: BTreeSet<Quantity>,
    /// Whether kernels take longer with counters, as under AMD's profilers.
    is_slowed: bool,
}

impl Has {
    fn bytes(&self) -> bool {
        self.quantities.contains(&Quantity::DramBytes)
            || self.quantities.contains(&Quantity::L2Bytes)
    }

    fn work(&self) -> bool {
        self.quantities.iter().any(|quantity| matches!(quantity, Quantity::Work(_)))
    }

    /// Whether `other` brings something that is missing here, and lacks something that is here.
    ///
    /// Ranks of one job have the same counters, so neither completes the other.
    fn completes(&self, other: &Self) -> bool {
        let lacks = self.time && !other.time
            || self.bytes() && !other.bytes()
            || self.work() && !other.work();
        self.time && lacks && !other.quantities.is_subset(&self.quantities)
    }

    /// Whether a run keeps its time and takes the counters of `other`.
    fn takes(&self, other: &Self) -> bool {
        let is_counted = |one: &Self| one.bytes() || one.work();
        if self.is_slowed && self.time && is_counted(self) != is_counted(other) {
            return is_counted(other);
        }
        // Of two that complete each other the one with bytes keeps its time: hardware counters do not slow the kernel
        // down.
        let is_first = self.bytes() && !other.bytes();
        self.completes(other) && (is_first || !other.completes(self))
    }
}

/// Launches of one process in one file.
struct Group {
    source: u16,
    process: u32,
    rows: Vec<usize>,
    has: Has,
    /// What it had before others were joined to it.
    own: Has,
    /// Its launches that took counters of others.
    given: HashSet<usize>,
    /// Whether it was joined to another group, or could not be.
    settled: bool,
}

impl Group {
    fn name(&self, profile: &Profile, with_file: bool) -> String {
        let file = &profile.sources[usize::from(self.source)].path;
        match (self.process, with_file) {
            // Tables without processes have this one.
            (0, _) => file.clone(),
            (process, true) => format!("process {process} of {file}"),
            (process, false) => format!("process {process}"),
        }
    }
}

/// What identifies a launch within its run: number, kernel, blocks.
type Key = (u32, NameId, Option<u64>);

pub(super) fn key(head: &Head) -> Key {
    (head.id, head.name, head.shape.blocks)
}

/// How many groups that fit several runs are named.
const NAMED: usize = 3;

pub(super) fn join(profile: &mut Profile) {
    let mut groups = groups(profile);
    if groups.len() < 2 {
        return;
    }
    let mut gone = vec![false; profile.launches.len()];
    let mut ambiguous = 0;
    // Thousands of ranks have the same counters: what cannot complete any run is not compared with all.
    let mut kinds: Vec<Has> = Vec::new();
    for group in &groups {
        if !kinds.contains(&group.has) {
            kinds.push(group.has.clone());
        }
    }
    // A run and its counters in one file belong together before files are compared.
    for within_file in [true, false] {
        for donor_at in 0..groups.len() {
            if !kinds.iter().any(|kind| kind.takes(&groups[donor_at].has)) {
                continue;
            }
            let hosts = hosts(profile, &groups, donor_at, within_file);
            match hosts.as_slice() {
                [] => continue,
                [(host_at, pairs)] => {
                    for (host_row, donor_row) in pairs {
                        let values = values(profile, *donor_row);
                        complete(profile, *host_row, &values);
                        adopt_advice(profile, *host_row, *donor_row);
                        describe(profile, *host_row, *donor_row);
                        gone[*donor_row] = true;
                    }
                    let note = joined(profile, &groups[donor_at], &groups[*host_at], pairs.len());
                    profile.notes.push(note);
                    groups[*host_at].given.extend(pairs.iter().map(|(row, _)| *row));
                    let brought = groups[donor_at].has.quantities.clone();
                    groups[*host_at].has.quantities.extend(brought);
                    if !kinds.contains(&groups[*host_at].has) {
                        kinds.push(groups[*host_at].has.clone());
                    }
                }
                _ => {
                    ambiguous += 1;
                    if ambiguous <= NAMED {
                        let note = format!(
                            "{} was not joined: its launches match several other runs equally; give one run and its counters at a time",
                            groups[donor_at].name(profile, true)
                        );
                        profile.check(note);
                    }
                }
            }
            groups[donor_at].settled = true;
        }
    }
    if ambiguous > NAMED {
        let more = counted((ambiguous - NAMED) as u64, "more process was", "more processes were");
        let more = format!("{more} not joined, for the same reason");
        profile.check(more);
    }
    profile.leave_out(&gone);
}

/// The description of a device that two pages describe: what either says, or the one that says more where they
/// contradict each other.
fn together(profile: &mut Profile, (one, two): (HintId, HintId)) -> HintId {
    let of = |id: HintId| profile.devices.get(id.position());
    let (Some(first), Some(second)) = (of(one), of(two)) else { return one };
    if one == two {
        return one;
    }
    if !may_be_one(first, second) {
        return if says(second) > says(first) { two } else { one };
    }
    let both = merged(first.clone(), second.clone());
    profile.hint(both)
}

/// What either of two descriptions says; of what both say the first.
pub(super) fn merged(first: DeviceHint, second: DeviceHint) -> DeviceHint {
    DeviceHint {
        name_from: if first.name.is_some() { first.name_from } else { second.name_from },
        name: first.name.or(second.name),
        compute_capability: first.compute_capability.or(second.compute_capability),
        gfx: first.gfx.or(second.gfx),
        sms: first.sms.or(second.sms),
        max_sm_clock: first.max_sm_clock.or(second.max_sm_clock),
        max_memory_clock: first.max_memory_clock.or(second.max_memory_clock),
        memory_bus_bits: first.memory_bus_bits.or(second.memory_bus_bits),
        l2_bytes: first.l2_bytes.or(second.l2_bytes),
        observed_memory_clock: first.observed_memory_clock.or(second.observed_memory_clock),
        ordinal: first.ordinal.or(second.ordinal),
        reached: first.reached.or(second.reached),
    }
}

/// How much a description says: the name first, then the number of attributes.
fn says(hint: &DeviceHint) -> (bool, usize) {
    let told = [
        hint.target().is_some(),
        hint.sms.is_some(),
        hint.max_sm_clock.is_some(),
        hint.max_memory_clock.is_some(),
        hint.memory_bus_bits.is_some(),
        hint.l2_bytes.is_some(),
        hint.observed_memory_clock.is_some(),
    ];
    (hint.name.is_some(), told.into_iter().filter(|is| *is).count())
}

/// Gives a launch what another description of it says of its device, and its operator, shape and stream where it has none.
pub(super) fn describe(profile: &mut Profile, row: usize, other: usize) {
    let [own, others] = [row, other].map(|row| profile.launches.head(row));
    let (shape, of_other) = (own.shape, others.shape);
    let is_short = !is_whole(profile.names.get(own.name));
    let head = Head {
        name: if is_short && is_whole(profile.names.get(others.name)) {
            others.name
        } else {
            own.name
        },
        operator: if own.operator == NameId::default() { others.operator } else { own.operator },
        shape: Shape {
            grid: shape.grid.or(of_other.grid),
            block: shape.block.or(of_other.block),
            blocks: shape.blocks.or(of_other.blocks),
            threads_per_block: shape.threads_per_block.or(of_other.threads_per_block),
        },
        device: together(profile, (own.device, others.device)),
        stream: own.stream.or(others.stream),
        ..own
    };
    if head != own {
        profile.launches.describe(row, &head);
    }
}

/// Whether one file is a trace and the other counters of Nsight Compute.
fn are_apart(profile: &Profile, one: u16, two: u16) -> bool {
    let profiler = |source: u16| profile.sources.get(usize::from(source)).map(|it| it.profiler);
    let is_trace = |source: u16| profiler(source).is_some_and(Profiler::times_real_run);
    let is_counting = |source: u16| profiler(source) == Some(Profiler::NsightCompute);
    is_trace(one) && is_counting(two) || is_counting(one) && is_trace(two)
}

/// The groups that a donor completes, with the pairs of host and donor rows; not all, if it is
/// clear that there are several.
fn hosts(
    profile: &Profile,
    groups: &[Group],
    donor_at: usize,
    within_file: bool,
) -> Vec<(usize, Vec<(usize, usize)>)> {
    let donor = &groups[donor_at];
    let mut hosts = Vec::new();
    if donor.settled {
        return hosts;
    }
    for (host_at, host) in groups.iter().enumerate() {
        let elsewhere = within_file && host.source != donor.source;
        if host_at == donor_at || host.settled || elsewhere {
            continue;
        }
        // Counters that it took already may be those of other launches: one part of a run after the other.
        let is_new = host.has.takes(&donor.has);
        if !is_new && (host.given.is_empty() || !host.own.takes(&donor.has)) {
            continue;
        }
        // The launches of a trace are numbered in another way: they take counters by kernel and grid.
        if are_apart(profile, host.source, donor.source) {
            continue;
        }
        let pairs = pairs(profile, host, donor);
        let free = pairs.iter().filter(|(row, _)| is_new || !host.given.contains(row)).count();
        if free > 0 && free * 2 >= donor.rows.len().max(1) {
            hosts.push((host_at, pairs));
        }
        // Two that count bytes are enough to see that the choice is not clear.
        if hosts.iter().filter(|(host, _)| groups[*host].has.bytes()).count() > 1 {
            break;
        }
    }
    // A run with bytes needs the operations more than one that has neither.
    if hosts.iter().any(|(host, _)| groups[*host].has.bytes()) {
        hosts.retain(|(host, _)| groups[*host].has.bytes());
    }
    hosts
}

fn joined(profile: &Profile, donor: &Group, host: &Group, pairs: usize) -> String {
    let grids = donor.rows.iter().any(|row| profile.launches.head(*row).shape.blocks.is_some());
    let by = if grids { "launch number, kernel and grid" } else { "launch number and kernel" };
    let left = donor.rows.len() - pairs;
    let rest = if left > 0 { format!("; {left} matched none") } else { String::new() };
    let launches = if pairs == 1 { "launch" } else { "launches" };
    format!(
        "joined {pairs} {launches} of {} with those of {} by {by}{rest}",
        donor.name(profile, true),
        host.name(profile, host.source != donor.source)
    )
}

fn groups(profile: &Profile) -> Vec<Group> {
    let launches = &profile.launches;
    if (1..launches.len()).all(|row| launches.run(row) == launches.run(0)) {
        return Vec::new();
    }
    let mut groups: BTreeMap<(u16, u32), Group> = BTreeMap::new();
    for row in 0..profile.launches.len() {
        let head = profile.launches.head(row);
        let group = groups.entry((head.source, head.process)).or_insert_with(|| Group {
            source: head.source,
            process: head.process,
            rows: Vec::new(),
            has: Has::default(),
            own: Has::default(),
            given: HashSet::new(),
            settled: false,
        });
        group.rows.push(row);
    }
    if groups.len() > 1 {
        for group in groups.values_mut() {
            group.has = has(profile, &group.rows);
            group.own = group.has.clone();
        }
    }
    groups.into_values().collect()
}

fn has(profile: &Profile, rows: &[usize]) -> Has {
    let launches = &profile.launches;
    let time = rows.iter().any(|row| {
        let time = launches.get(*row, Quantity::Duration);
        time.is_some_and(|(_, origin)| profile.origins.get(origin).kind != OriginKind::Instrumented)
    });
    let quantities = Quantity::all()
        .filter(|quantity| *quantity != Quantity::Duration)
        .filter(|quantity| rows.iter().any(|row| launches.get(*row, *quantity).is_some()))
        .collect();
    let first = rows.first().map(|row| usize::from(launches.source(*row)));
    let is_slowed = first.is_some_and(|source| profile.sources[source].profiler.is_of_amd());
    Has { time, quantities, is_slowed }
}

/// Rows of host and donor that are the same launch; each is used once.
fn pairs(profile: &Profile, host: &Group, donor: &Group) -> Vec<(usize, usize)> {
    let as_they_are = numbered_pairs(profile, host, donor, 0);
    let first = |group: &Group| {
        let numbers = group.rows.iter().map(|row| profile.launches.head(*row).id);
        numbers.min().unwrap_or(0)
    };
    // AMD's tools count from 0 or from 1. As many launches, all of which pair so, are those of one run.
    let offset = i64::from(first(host)) - i64::from(first(donor));
    if donor.has.is_slowed && offset != 0 && host.rows.len() == donor.rows.len() {
        let from_the_first = numbered_pairs(profile, host, donor, offset);
        if from_the_first.len() == donor.rows.len() {
            return from_the_first;
        }
    }
    as_they_are
}

/// The same where the numbers of the host are greater by so much.
fn numbered_pairs(
    profile: &Profile,
    host: &Group,
    donor: &Group,
    offset: i64,
) -> Vec<(usize, usize)> {
    let mut by_key: HashMap<Key, usize> =
        host.rows.iter().map(|row| (key(&profile.launches.head(*row)), *row)).collect();
    let mut alike = Alike::default();
    let mut pairs = Vec::new();
    for row in &donor.rows {
        let head = profile.launches.head(*row);
        let (id, name, blocks) = key(&head);
        let Ok(id) = u32::try_from(i64::from(id) + offset) else { continue };
        let Some(host) = by_key.get(&(id, name, blocks)).copied() else { continue };
        let of_host = profile.launches.head(host).device;
        if alike.are(&profile.devices, of_host, head.device) {
            by_key.remove(&(id, name, blocks));
            pairs.push((host, *row));
        }
    }
    pairs
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

/// Gives a launch the advice of the run whose counters it took over, unless its own run had any: the
/// rules of one run judge by the counters of that run.
pub(super) fn adopt_advice(profile: &mut Profile, host: usize, donor: usize) {
    if profile.launches.advice(host).is_empty() {
        for advice in profile.launches.advice(donor).to_vec() {
            profile.launches.advise(host, advice);
        }
    }
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
    fn any_further_counters_join_the_run_they_complete() {
        let more = (Quantity::AchievedOccupancy, OriginKind::Measured);
        let mut profile = profile(&[(1, &[TIME, BYTES]), (2, &[SLOWED, WORK]), (3, &[TIME, more])]);
        join(&mut profile);
        assert_eq!(profile.launches.len(), 2);
        assert_eq!(profile.launch(0).value(more.0), Some(1.0));
        assert_eq!(profile.launch(0).value(WORK.0), Some(1.0));
    }

    /// Of a run that was counted in two parts, the second takes the launches that the first left, and what both have is
    /// one launch.
    #[test]
    fn parts_of_a_run_join_one_after_the_other() {
        let of = |parts: &[(u32, &[u32])]| {
            let mut profile = profile(&[(1, &[TIME, BYTES])]);
            let name = profile.names.id("kernel");
            for (process, ids) in parts {
                for id in *ids {
                    let mut values = Values::default();
                    for (quantity, kind) in [TIME, WORK] {
                        let origin = profile.origins.id(&Origin::new(kind, "column"));
                        values.set(quantity, f64::from(id + 1), origin);
                    }
                    let head = Head { process: *process, id: *id, name, ..Head::default() };
                    profile.launches.push(head, &values);
                }
            }
            join(&mut profile);
            let work = profile.iter().map(|launch| launch.value(WORK.0));
            (work.collect::<Vec<_>>(), profile.notes.len())
        };
        let both = vec![Some(1.0), Some(2.0)];
        assert_eq!(of(&[(2, &[0]), (3, &[1])]), (both.clone(), 2));
        assert_eq!(of(&[(2, &[0]), (3, &[0, 1])]), (both.clone(), 2));
        // A run of another rank has no launch that was left.
        let (work, notes) = of(&[(2, &[0, 1]), (3, &[0, 1])]);
        assert_eq!((work.len(), notes), (4, 1));
    }

    /// A trace of rocprofv3 counts from 1, a table of ROCm Compute Profiler from 0.
    #[test]
    fn launches_that_are_counted_from_0_join_those_that_are_counted_from_1() {
        let mut profile = profile(&[(1, &[TIME]), (2, &[TIME, BYTES])]);
        profile.sources[0].profiler = Profiler::Rocprof;
        for row in 0..2 {
            let head = profile.launches.head(row);
            profile.launches.describe(row, &Head { id: head.id + 1, ..head });
        }
        join(&mut profile);
        assert_eq!(profile.launches.len(), 2);
        let bytes = [0, 1].map(|row| profile.launch(row).value(BYTES.0));
        assert_eq!(bytes, [Some(1.0), Some(2.0)]);
    }

    #[test]
    fn counters_of_another_device_are_not_joined() {
        let mut profile = profile(&[(1, &[TIME, BYTES]), (2, &[SLOWED, WORK])]);
        let device =
            |name: &str| DeviceHint { name: Some(name.to_owned()), ..DeviceHint::default() };
        let (one, two) = (profile.hint(device("A100")), profile.hint(device("H100")));
        let mut other = Profile { sources: vec![Source::default()], ..Profile::default() };
        std::mem::swap(&mut other.names, &mut profile.names);
        std::mem::swap(&mut other.origins, &mut profile.origins);
        std::mem::swap(&mut other.devices, &mut profile.devices);
        for row in 0..profile.launches.len() {
            let mut head = profile.launches.head(row);
            head.device = if head.process == 1 { one } else { two };
            let mut all = Values::default();
            for quantity in Quantity::all() {
                if let Some((value, origin)) = profile.launches.get(row, quantity) {
                    all.set(quantity, value, origin);
                }
            }
            other.launches.push(head, &all);
        }
        join(&mut other);
        assert_eq!(other.launches.len(), 4);
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
        assert!(profile.notes[0].contains("match several other runs"), "{:?}", profile.notes);
    }

    /// Passes of AMD's counters take longer than the program: where a trace of it is there, its times stay.
    #[test]
    fn a_trace_of_amd_keeps_its_times_beside_counters() {
        let shared = (Quantity::SharedMemoryPerBlock, OriginKind::Measured);
        for (profiler, expected) in [(Profiler::Rocprof, 1), (Profiler::NsightCompute, 2)] {
            for order in [[1, 2], [2, 1]] {
                let (trace, counters) = ([TIME, shared], [TIME, BYTES, WORK]);
                let of = |process| (process, if process == 1 { &trace[..] } else { &counters[..] });
                let mut profile = profile(&order.map(of));
                profile.sources[0].profiler = profiler;
                join(&mut profile);
                assert_eq!(profile.launches.len(), 2);
                let launch = profile.launch(0);
                assert_eq!(launch.head.process, expected, "{profiler:?}");
                assert!(launch.value(BYTES.0).is_some() && launch.value(shared.0).is_some());
            }
        }
    }
}
