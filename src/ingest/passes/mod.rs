//! Counters that rocprofv3 took in several passes of a program, each in a file of its own.
//!
//! A device counts only so much at a time: on MI300, `FETCH_SIZE` and `WRITE_SIZE` need more counters of L2 than it has. A sum over
//! counters of two passes is in neither file. The passes of a run are joined launch by launch on number, kernel and grid,
//! and such sums computed from the counters of all.

mod place;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use place::Place;

use super::alike::Alike;
use super::products::{is_product, lacks_products};
use super::runs::{describe, key};
use crate::model::{Origin, Profile, Quantity, Values};
use crate::plain::counted;

/// A quantity as a sum over counters.
#[derive(Debug, Clone)]
pub(super) struct Formula {
    pub(super) quantity: Quantity,
    /// The counters, each times a factor.
    pub(super) terms: Vec<(f64, String)>,
    /// SI units in one unit of the counters.
    pub(super) scale: f64,
    pub(super) origin: Origin,
}

/// The counters of launches of one process in a file.
#[derive(Debug, Clone)]
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

    /// Adds the counters of another pass to launches that are the same, given as places here and there.
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
    }

    /// The formulas of whose counters most are there, with the places of their counters; those that lack one are not among them.
    fn complete(&self) -> Vec<(&Formula, Vec<(f64, usize)>)> {
        let place = |name: &String| self.counters.iter().position(|known| known == name);
        let known = |set: &&Vec<Formula>| {
            let terms = set.iter().flat_map(|formula| &formula.terms);
            terms.filter(|(_, name)| place(name).is_some()).count()
        };
        // Of several the first.
        let fullest = self.formulas.iter().rev().max_by_key(known);
        let of = |formula: &Formula| -> Option<Vec<(f64, usize)>> {
            formula.terms.iter().map(|(factor, name)| Some((*factor, place(name)?))).collect()
        };
        let formulas = fullest.into_iter().flatten();
        formulas.filter_map(|formula| Some((formula, of(formula)?))).collect()
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
    let mut is_joined = vec![false; passes.len()];
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
            let Some((donor, pairs)) = others.first() else { continue };
            // Ranks have the same counters: whose pass it is shows where only one of them is near.
            let is_left = |at: &usize| *at != host && !is_joined[*at];
            let rivals: Vec<usize> =
                alike[group_of[host]].iter().copied().filter(is_left).collect();
            let is_rival = |(rival, _): &(usize, _)| {
                nearness(*rival, *donor) >= nearness(host, *donor)
                    && !is_copy(profile, &passes[host], &passes[*rival])
            };
            let is_clear = others.len() == 1
                && !nearest(profile, passes, *donor, &rivals, nearness).iter().any(is_rival);
            if !is_clear {
                unclear.extend(later);
                continue;
            }
            let (donor, pairs) = (*donor, pairs.clone());
            for (here, there) in &pairs {
                let (row, from) =
                    (passes[host].launches[*here].0, passes[donor].launches[*there].0);
                let values = profile.launches.values(from);
                profile.launches.fill(row, &values);
                describe(profile, row, from);
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
        if !joined.is_empty() {
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
}

/// Which of these passes fit one and are nearest to it by their folders, with the launches that are the same; a copy of
/// another of them is left out.
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
        // Two are enough to see that the choice is not clear.
        if found.len() > 1 {
            break;
        }
        if let Some((first, _)) = found.first()
            && (nearness(host, *first) > nearness(host, other)
                || is_copy(profile, &passes[*first], one))
        {
            continue;
        }
        let is_new = !passes[host].has_all_of(one) && !one.has_all_of(&passes[host]);
        let pairs = if is_new { pairs(profile, &passes[host], one) } else { Vec::new() };
        if !pairs.is_empty() && pairs.len() * 2 >= one.launches.len() {
            found.push((other, pairs));
        }
    }
    found
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
    let known = pass.complete();
    let formulas = pass.formulas.iter().flatten().map(|formula| formula.quantity);
    let there = known.iter().map(|(formula, _)| formula.quantity);
    let lacks_products = lacks_products(formulas, there);
    for (formula, terms) in known {
        let quantity = formula.quantity;
        let mut negative = 0;
        let mut is_new = false;
        for (row, counters) in &pass.launches {
            if profile.launches.get(*row, quantity).is_some() {
                continue;
            }
            let value = |place: &usize| {
                counters.iter().find(|(known, _)| known == place).map(|(_, value)| *value)
            };
            let parts = terms.iter().map(|(factor, place)| Some(factor * value(place)?));
            let Some(sum) = parts.sum::<Option<f64>>().filter(|sum| sum.is_finite()) else {
                continue;
            };
            if sum < 0.0 {
                negative += 1;
                continue;
            }
            if sum == 0.0 && lacks_products && is_product(quantity) {
                continue;
            }
            let mut values = Values::default();
            values.set(quantity, sum * formula.scale, profile.origins.id(&formula.origin));
            profile.launches.fill(*row, &values);
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
    format!(
        "joined {} of {} with those of {}, counters of another pass, by launch number, kernel and grid{rest}",
        counted(pairs as u64, "launch", "launches"),
        path(profile, donor),
        path(profile, host),
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
