//! Counters that were collected in several runs of a program, each in a file of its own.
//!
//! A device counts only so much at a time: on MI300, `FETCH_SIZE` and `WRITE_SIZE` need more counters of L2 than it has, and
//! rocprof runs the program once for each. Under Nsight Compute users collect `--metrics` in groups. A sum over counters
//! of two runs is in neither file. The passes of a run are joined launch by launch on number, kernel and grid, and such
//! sums computed from the counters of all.

mod apart;
mod formula;
mod place;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

pub(super) use formula::Formula;
use place::Place;

use super::alike::Alike;
use super::complete::{complete, is_part};
use super::products::{is_product, lacks_products};
use super::runs::{adopt_advice, describe, key};
use crate::model::{OriginKind, Profile, Profiler, Quantity};
use crate::plain::counted;

/// The counters of launches of one process in a file.
#[derive(Debug, Clone, Default)]
pub(super) struct Pass {
    /// Sets of formulas: the one holds of whose counters most are there.
    pub(super) formulas: Arc<Vec<Vec<Formula>>>,
    /// Which input it is, once it is among others.
    pub(super) source: usize,
    /// The names of the counters that formulas have, in order.
    pub(super) counters: Vec<String>,
    /// Those of the others.
    pub(super) unused: Vec<String>,
    /// The launches: where each is among those of the file, and the values of its counters, missing ones left out.
    pub(super) launches: Vec<(usize, Vec<(usize, f64)>)>,
}

impl Pass {
    /// The pass with places in a profile instead of a file whose first launch is in this row.
    pub(super) fn placed(mut self, first: usize) -> Self {
        self.launches.iter_mut().for_each(|(row, _)| *row += first);
        self
    }

    fn rows(&self) -> impl Iterator<Item = usize> {
        self.launches.iter().map(|(row, _)| *row)
    }

    fn has_all_of(&self, other: &Self) -> bool {
        let mut others = other.names();
        others.all(|name| self.counters.contains(name) || self.unused.contains(name))
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        self.counters.iter().chain(&self.unused)
    }

    /// Adds the counters of another pass to launches that are the same, given as places here and there, and its other
    /// launches, which further passes may have.
    fn take(&mut self, other: &Self, pairs: &[(usize, usize)]) {
        let mut place = |name: &String| {
            self.counters.iter().position(|known| known == name).unwrap_or_else(|| {
                self.counters.push(name.clone());
                self.counters.len() - 1
            })
        };
        let places: Vec<usize> = other.counters.iter().map(&mut place).collect();
        self.unused.extend(other.unused.iter().cloned());
        for (here, there) in pairs {
            let own = &mut self.launches[*here].1;
            for (counter, value) in &other.launches[*there].1 {
                let place = places[*counter];
                if own.iter().all(|(known, _)| *known != place) {
                    own.push((place, *value));
                }
            }
        }
        let paired: HashSet<usize> = pairs.iter().map(|(_, there)| *there).collect();
        let rest = other.launches.iter().enumerate().filter(|(at, _)| !paired.contains(at));
        self.launches.extend(rest.map(|(_, (row, values))| {
            (*row, values.iter().map(|(counter, value)| (places[*counter], *value)).collect())
        }));
    }

    fn place(&self, counter: &String) -> Option<usize> {
        self.counters.iter().position(|known| known == counter)
    }

    /// The formulas of whose counters most are there.
    fn fullest(&self) -> impl Iterator<Item = &Formula> {
        let known = |set: &&Vec<Formula>| {
            let counters = set.iter().flat_map(Formula::counters);
            counters.filter(|name| self.place(name).is_some()).count()
        };
        // Of several the first.
        self.formulas.iter().rev().max_by_key(known).into_iter().flatten()
    }
}

/// The format of tables with the times of launches.
const TRACE: &str = "rocprof-v3";

/// How many passes that were joined, and that fit several runs, are named.
const NAMED: usize = 3;

/// Joins the passes of a run, each with the trace beside it where it has no times.
pub(super) fn join(profile: &mut Profile, mut passes: Vec<Pass>) {
    for pass in &mut passes {
        let first = pass.rows().next();
        pass.source = first.map_or(0, |row| usize::from(profile.launches.run(row).0));
    }
    let mut is_gone = vec![false; profile.launches.len()];
    join_traces(profile, &mut passes, &mut is_gone);
    join_passes(profile, &mut passes, &mut is_gone);
    profile.leave_out(&is_gone);
}

/// Gives launches of traces the counters that lie beside them: versions before ROCm 6.3 write times only there.
fn join_traces(profile: &mut Profile, passes: &mut [Pass], is_gone: &mut [bool]) {
    let is_timed = |row: usize| profile.launches.get(row, Quantity::Duration).is_some();
    let untimed: Vec<usize> =
        (0..passes.len()).filter(|at| !passes[*at].rows().any(is_timed)).collect();
    if untimed.is_empty() {
        return;
    }
    let traces: Vec<Option<Place>> = profile
        .sources
        .iter()
        .map(|source| (source.format == TRACE).then(|| Place::of(&source.path)))
        .collect();
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); traces.len()];
    for row in 0..profile.launches.len() {
        let source = usize::from(profile.launches.run(row).0);
        if traces[source].is_some() {
            rows[source].push(row);
        }
    }
    let mut is_taken = vec![false; traces.len()];
    let mut joined = 0;
    for at in untimed {
        let place = Place::of(&path(profile, &passes[at]));
        let is_beside = |trace: &usize| {
            let other = traces[*trace].as_ref();
            other.is_some_and(|other| other.folders == place.folders) && !is_taken[*trace]
        };
        let beside: Vec<usize> = (0..traces.len()).filter(is_beside).collect();
        let of_name =
            |trace: &&usize| traces[**trace].as_ref().is_some_and(|one| one.name == place.name);
        // Of several in the folder that of the same name.
        let trace = match beside.as_slice() {
            [only] => Some(*only),
            several => several.iter().find(of_name).copied(),
        };
        let Some(trace) = trace else { continue };
        let launches = rows[trace].iter().map(|row| (*row, Vec::new())).collect();
        let of_trace = Pass { launches, ..passes[at].clone() };
        let pairs = pairs(profile, &of_trace, &passes[at]);
        // Another program's trace may lie there, too.
        if pairs.len() != passes[at].launches.len() {
            continue;
        }
        is_taken[trace] = true;
        for (there, here) in &pairs {
            let (row, from) = (of_trace.launches[*there].0, passes[at].launches[*here].0);
            let values = profile.launches.values(from);
            profile.launches.fill(row, &values);
            describe(profile, row, from);
            is_gone[from] = true;
            passes[at].launches[*here].0 = row;
        }
        joined += 1;
        if joined <= NAMED {
            let (launches, path) = (pairs.len() as u64, path(profile, &passes[at]));
            profile.notes.push(format!(
                "joined {} of {path} with those of {} by launch number, kernel and grid",
                counted(launches, "launch", "launches"),
                profile.sources[trace].path
            ));
        }
    }
    if joined > NAMED {
        let more = counted((joined - NAMED) as u64, "more table", "more tables");
        profile.notes.push(format!("joined {more} of counters in the same way"));
    }
}

fn join_passes(profile: &mut Profile, passes: &mut [Pass], is_gone: &mut [bool]) {
    let places: Vec<Place> = passes.iter().map(|pass| Place::of(&path(profile, pass))).collect();
    let sets: Vec<Vec<String>> = passes.iter().map(sorted).collect();
    let mut by_set: BTreeMap<&[String], Vec<usize>> = BTreeMap::new();
    for (at, set) in sets.iter().enumerate() {
        by_set.entry(set).or_default().push(at);
    }
    // Ranks that counted the same complete nothing.
    if by_set.len() < 2 {
        return;
    }
    let mut alike: Vec<Vec<usize>> = by_set.into_values().collect();
    alike.sort();
    let mut group_of = vec![0; passes.len()];
    for (group, members) in alike.iter().enumerate() {
        for at in members {
            group_of[*at] = group;
        }
    }
    let nearness = |one: usize, two: usize| places[one].nearness(&places[two]);
    let (mut is_joined, mut is_host) = (copies(profile, passes, &alike), vec![false; passes.len()]);
    let mut merged = 0;
    let mut unclear: BTreeSet<usize> = BTreeSet::new();
    for host in 0..passes.len() {
        if is_joined[host] {
            continue;
        }
        let mut joined = Vec::new();
        for same in &alike {
            let later: Vec<usize> =
                same.iter().copied().filter(|at| *at > host && !is_joined[*at]).collect();
            let others = nearest(profile, passes, host, &later, nearness);
            // Ranks have the same counters: whose pass it is shows where only one of them is near.
            let is_left = |at: &usize| *at != host && !is_joined[*at];
            let rivals: Vec<usize> =
                alike[group_of[host]].iter().copied().filter(is_left).collect();
            let has_rival = |donor: usize| {
                let is_rival =
                    |(rival, _): &(usize, _)| nearness(*rival, donor) >= nearness(host, donor);
                nearest(profile, passes, donor, &rivals, nearness).iter().any(is_rival)
            };
            if others.is_empty() {
                continue;
            }
            if are_of_one_launch(&others) || others.iter().any(|(donor, _)| has_rival(*donor)) {
                unclear.extend(later);
                continue;
            }
            for (donor, pairs) in others {
                for (here, there) in &pairs {
                    let (row, from) =
                        (passes[host].launches[*here].0, passes[donor].launches[*there].0);
                    give(profile, row, from);
                    is_gone[from] = true;
                }
                // Hosts come first.
                let (before, after) = passes.split_at_mut(donor);
                before[host].take(&after[0], &pairs);
                is_joined[donor] = true;
                merged += 1;
                if merged <= NAMED {
                    profile.notes.push(words(profile, &passes[host], &passes[donor], pairs.len()));
                }
                joined.push(donor);
            }
        }
        if !joined.is_empty() {
            is_host[host] = true;
            let all: Vec<usize> = std::iter::once(host).chain(joined).collect();
            compute(profile, passes, &all);
        }
    }
    if merged > NAMED {
        let more = counted((merged - NAMED) as u64, "more pass", "more passes");
        profile.notes.push(format!("joined {more} in the same way"));
    }
    let apart: Vec<String> = unclear
        .into_iter()
        .filter(|at| !is_joined[*at])
        .map(|at| path(profile, &passes[at]))
        .collect();
    for path in apart.iter().take(NAMED) {
        profile.check(format!(
            "{path}: not joined with another pass: its launches match several runs equally; give the passes of one run at a time"
        ));
    }
    if apart.len() > NAMED {
        let more = counted((apart.len() - NAMED) as u64, "more pass was", "more passes were");
        profile.check(format!("{more} not joined, for the same reason"));
    }
    let alone = |at: &usize| !is_joined[*at] && !is_host[*at];
    let alone: Vec<&Pass> = (0..passes.len()).filter(alone).map(|at| &passes[at]).collect();
    apart::check(profile, &alone);
}

/// Gives a launch what was collected of it in another pass.
fn give(profile: &mut Profile, row: usize, from: usize) {
    let values = profile.launches.values(from);
    if is_of_ncu(profile, from) {
        // A time that was taken while the kernel ran instrumented is not that of the kernel.
        let time = |row: usize| {
            let (_, origin) = profile.launches.get(row, Quantity::Duration)?;
            Some(profile.origins.get(origin).kind)
        };
        let is_instrumented = [row, from].map(|row| time(row) == Some(OriginKind::Instrumented));
        if is_instrumented == [true, false] {
            profile.launches.forget(row, Quantity::Duration);
        }
        complete(profile, row, &values);
        adopt_advice(profile, row, from);
    } else {
        profile.launches.fill(row, &values);
    }
    describe(profile, row, from);
}

fn is_of_ncu(profile: &Profile, row: usize) -> bool {
    let source = profile.sources.get(usize::from(profile.launches.source(row)));
    source.is_some_and(|source| source.profiler == Profiler::NsightCompute)
}

/// Whether some of these passes have the same launch of a host.
fn are_of_one_launch(found: &[(usize, Vec<(usize, usize)>)]) -> bool {
    let mut taken = HashSet::new();
    let mut launches = found.iter().flat_map(|(_, pairs)| pairs);
    launches.any(|(here, _)| !taken.insert(*here))
}

/// Which of these passes fit one and are nearest to it by their folders, with the launches that are the same: parts of
/// one pass, or two of which the choice is not clear.
fn nearest(
    profile: &Profile,
    passes: &[Pass],
    host: usize,
    others: &[usize],
    nearness: impl Fn(usize, usize) -> (usize, bool),
) -> Vec<(usize, Vec<(usize, usize)>)> {
    let mut others: Vec<usize> = others.to_vec();
    others.sort_by_cached_key(|other| Reverse(nearness(host, *other)));
    let mut found: Vec<(usize, Vec<(usize, usize)>)> = Vec::new();
    for other in others {
        let one = &passes[other];
        if found.len() > 1 && are_of_one_launch(&found) {
            break;
        }
        if found.first().is_some_and(|(first, _)| nearness(host, *first) > nearness(host, other)) {
            continue;
        }
        let profiler = |pass: &Pass| profile.sources.get(pass.source).map(|it| it.profiler);
        let is_new = profiler(one) == profiler(&passes[host])
            && !passes[host].has_all_of(one)
            && !one.has_all_of(&passes[host]);
        let pairs = if is_new { pairs(profile, &passes[host], one) } else { Vec::new() };
        if !pairs.is_empty()
            && pairs.len() * 2 >= one.launches.len()
            && !are_of_two_runs(profile, (&passes[host], one), &pairs)
        {
            found.push((other, pairs));
        }
    }
    found
}

/// Whether launches of two passes of AMD's profilers cannot be the same: most of what both have differs, or follows from
/// other counters, as on another device.
fn are_of_two_runs(
    profile: &Profile,
    (one, two): (&Pass, &Pass),
    pairs: &[(usize, usize)],
) -> bool {
    /// Traffic differs from run to run, by what caches hold.
    const NEAR: f64 = 0.25;
    if one.launches.first().is_some_and(|(row, _)| is_of_ncu(profile, *row)) {
        return false;
    }
    let launches = &profile.launches;
    let counted = || launches.quantities().filter(|of| of.unit() == "B" || is_work(*of));
    let (mut same, mut others) = (0_u64, 0_u64);
    for (here, there) in pairs {
        let rows = [one.launches[*here].0, two.launches[*there].0];
        for quantity in counted() {
            let [Some((one, origin)), Some((two, other))] =
                rows.map(|row| launches.get(row, quantity))
            else {
                continue;
            };
            let is_near = (one - two).abs() <= NEAR * one.max(two);
            if is_near && origin == other { same += 1 } else { others += 1 }
        }
    }
    others > same
}

fn is_work(quantity: Quantity) -> bool {
    matches!(quantity, Quantity::Work(_))
}

/// Which passes are copies of one before them, among those with the same counters: they complete nothing, and are no rivals.
/// That is to be seen before any is joined, which gives it more counters than its copy has.
fn copies(profile: &Profile, passes: &[Pass], alike: &[Vec<usize>]) -> Vec<bool> {
    let mut copies = vec![false; passes.len()];
    for same in alike {
        for (at, two) in same.iter().enumerate() {
            let mut before = same[..at].iter().filter(|one| !copies[**one]);
            copies[*two] = before.any(|one| is_copy(profile, &passes[*one], &passes[*two]));
        }
    }
    copies
}

/// Whether two passes have the same launches and counters, to the last digit.
fn is_copy(profile: &Profile, one: &Pass, two: &Pass) -> bool {
    let launch = |row: usize| {
        let head = profile.launches.head(row);
        (
            key(&head),
            head.start,
            profile.launches.get(row, Quantity::Duration).map(|(time, _)| time),
        )
    };
    one.counters == two.counters
        && one.unused == two.unused
        && one.launches.len() == two.launches.len()
        && one.launches.iter().zip(&two.launches).all(|((row, values), (other, others))| {
            values == others && launch(*row) == launch(*other)
        })
}

/// Launches that are the same in two passes: where they are there.
fn pairs(profile: &Profile, host: &Pass, donor: &Pass) -> Vec<(usize, usize)> {
    let mut alike = Alike::default();
    // GPUs may count their launches each by itself.
    let of = |row: usize| {
        let head = profile.launches.head(row);
        (key(&head), profile.ordinal(head.device))
    };
    let mut by_key = HashMap::new();
    for (at, row) in host.rows().enumerate() {
        by_key.insert(of(row), (at, row));
    }
    let mut pairs = Vec::new();
    for (there, row) in donor.rows().enumerate() {
        let head = profile.launches.head(row);
        let Some((here, host)) = by_key.get(&of(row)).copied() else { continue };
        let of_host = profile.launches.head(host);
        if of_host.shape.threads_per_block == head.shape.threads_per_block
            && alike.are(&profile.devices, of_host.device, head.device)
        {
            by_key.remove(&of(row));
            pairs.push((here, there));
        }
    }
    pairs
}

/// Computes what follows from the counters of the first of these passes, which has those of all.
fn compute(profile: &mut Profile, passes: &[Pass], all: &[usize]) {
    let Some(pass) = all.first().map(|host| &passes[*host]) else { return };
    let sources: Vec<usize> = all.iter().map(|at| passes[*at].source).collect();
    let formulas = pass.formulas.iter().flatten().map(|formula| formula.quantity);
    let is_counted = |formula: &&Formula| formula.counters().all(|name| pass.place(name).is_some());
    let there = pass.fullest().filter(is_counted).map(|formula| formula.quantity);
    let lacks_products = lacks_products(formulas, there);
    for formula in pass.fullest().filter(|one| one.of_some.is_some() || is_counted(one)) {
        let quantity = formula.quantity;
        let places = formula.places(|name| pass.place(name));
        let mut negative = 0;
        let mut is_new = false;
        for (row, counters) in &pass.launches {
            let known = profile.launches.get(*row, quantity);
            // What a launch has is its own, but for the part of a sum.
            let is_own =
                |(_, origin)| formula.of_some.is_none() || !is_part(profile.origins.get(origin));
            if known.is_some_and(is_own) {
                continue;
            }
            let value = |place: usize| {
                counters.iter().find(|(known, _)| *known == place).map(|(_, value)| *value)
            };
            let Some((sum, origin)) = formula.value(&places, value) else { continue };
            if sum < 0.0 {
                negative += 1;
                continue;
            }
            if sum == 0.0 && lacks_products && is_product(quantity)
                || is_part(&origin) && known.is_some_and(|(part, _)| part >= sum)
            {
                continue;
            }
            let origin = profile.origins.id(&origin);
            profile.launches.replace(*row, quantity, sum, origin);
            is_new = true;
        }
        if negative > 0 {
            let launches = counted(negative, "launch has", "launches have");
            let sum = &formula.origin.formula;
            profile.check(format!("{launches} no {}: {sum} is negative", quantity.column()));
        }
        if is_new {
            let lacking = format!("{} is not counted: ", quantity.column());
            for source in &sources {
                profile.sources[*source].clues.retain(|clue| !clue.starts_with(&lacking));
            }
        }
    }
}

fn words(profile: &Profile, host: &Pass, donor: &Pass, pairs: usize) -> String {
    let left = donor.launches.len() - pairs;
    let rest = if left > 0 { format!("; {left} matched none") } else { String::new() };
    let is_in_one_file = host.source == donor.source;
    let name = |profile: &Profile, pass: &Pass| {
        let process = pass.rows().next().map(|row| profile.launches.numbers(row).0);
        let process = process.filter(|_| is_in_one_file);
        let of = process.map(|process| format!("process {process} of ")).unwrap_or_default();
        of + &path(profile, pass)
    };
    let is_ncu = host.rows().next().is_some_and(|row| is_of_ncu(profile, row));
    let pass = if is_ncu { "run" } else { "pass" };
    format!(
        "joined {} of {} with those of {}, counters of another {pass}, by launch number, kernel and grid{rest}",
        counted(pairs as u64, "launch", "launches"),
        name(profile, donor),
        name(profile, host),
    )
}

fn path(profile: &Profile, pass: &Pass) -> String {
    profile.sources.get(pass.source).map(|source| source.path.clone()).unwrap_or_default()
}

fn sorted(pass: &Pass) -> Vec<String> {
    let mut sorted: Vec<String> = pass.names().cloned().collect();
    sorted.sort();
    sorted
}
