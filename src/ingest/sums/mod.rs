//! Tables that hold the sum over the launches of a kernel: rows that are there twice, and tables that sum up launches
//! that were read too.
//!
//! A table has one row for a kernel, or for a kernel and its grid. The same row again is a copy: tables were joined, and
//! the run counts once. A row of a kernel with other values is of another run or process, and counts. A table whose
//! kernels have as many launches and the same time in another input says again what that has, as a part of its rows does.

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use super::name_forms::Form;
use crate::model::{Head, HintId, NameId, Profile, Profiler, Quantity, Shape, Source};

/// The format of Nsight Compute's `--print-summary per-kernel`.
const SUMMARY: &str = "ncu-summary";

/// Formats whose rows are sums over launches; a mapping says so itself.
const FORMATS: [&str; 7] = [
    SUMMARY,
    "nsys-sum",
    "nvprof-summary",
    "pytorch-averages",
    "rocprof-compute-top",
    "rocprof-stats",
    "xprof",
];

/// A sum differs from that of its launches by less than this share: both are rounded.
const AGREES: f64 = 1e-3;

/// An average of Nsight Compute's summary differs by less than this share from that of its launches: it has two decimals, in
/// a unit in which it is at least 1.
const PRINTED: f64 = 5e-3;

/// Two prints of one sum in one format differ by less than this share; sums of two ranks are nearly equal too.
const SAME: f64 = 1e-6;

/// Of so many kernels a table may leave out the rest of its run.
const FEWEST: usize = 4;

/// What a table has one row for: process, kernel, operator, shape, device, and the registers and shared memory.
type Key = (u32, NameId, NameId, Shape, HintId, [Option<u64>; 2]);

/// Launches of a kernel, and their time in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sum {
    launches: u64,
    time: f64,
}

impl Sum {
    fn add(&mut self, other: Self) {
        self.launches += other.launches;
        self.time += other.time;
    }

    fn agrees(self, other: Self, within: f64) -> bool {
        self.launches == other.launches
            && (self.time - other.time).abs() <= within * self.time.max(other.time)
    }
}

/// Whether the rows of this format are sums over launches.
pub(super) fn is_format(name: &str) -> bool {
    FORMATS.contains(&name)
}

/// Leaves out rows that say again what was read before, and says so.
pub(super) fn leave_out(profile: &mut Profile) {
    tell_mapped(profile);
    if !profile.sources.iter().any(|source| source.sums) {
        return;
    }
    let mut gone = vec![false; profile.launches.len()];
    let rows = profile.rows_by_source();
    for (source, rows) in rows.iter().enumerate() {
        // The reader of these knows hosts and ranges, which tell rows apart.
        let is_told_apart = profile.sources[source].format == SUMMARY;
        if profile.sources[source].sums
            && !is_told_apart
            && let Some(note) = copies(profile, rows, &mut gone)
        {
            profile.check(format!("{}: {note}", profile.sources[source].path));
        }
        if profile.sources[source].sums
            && !is_told_apart
            && let Some(note) = without_grids(profile, rows, &mut gone)
        {
            profile.check(format!("{}: {note}", profile.sources[source].path));
        }
    }
    let sums: Vec<Sums> = rows.iter().map(|rows| Sums::new(profile, rows, &gone)).collect();
    for source in 0..rows.len() {
        if !profile.sources[source].sums || sums[source].of.is_empty() {
            continue;
        }
        // Of two that say the same launches say more than sums, then more rows; of equals the first stays.
        let rank = |at: usize| (!profile.sources[at].sums, rows[at].len(), Reverse(at));
        let is_ncu = |at: usize| profile.sources[at].profiler == Profiler::NsightCompute;
        let says_more = |other: usize| {
            let format = |at: usize| (profile.sources[at].sums, &profile.sources[at].format);
            let within = match format(source) {
                same if same == format(other) => SAME,
                (_, form) if form == SUMMARY => PRINTED,
                _ => AGREES,
            };
            other != source
                && rank(other) > rank(source)
                // Times under Nsight Compute are not those that a trace summed up.
                && (is_ncu(source) || !is_ncu(other))
                && (sums[source].lie_in(&sums[other], within, profile)
                    || within == SAME && sums[source].is_part_of(&sums[other])
                    || are_same(profile, &rows[source], &rows[other]))
        };
        let Some(other) = (0..rows.len()).find(|other| says_more(*other)) else { continue };
        let path = |at: usize| profile.sources[at].path.clone();
        let is_timed = sums[source].of.values().any(|sum| sum.time > 0.0);
        let note = format!(
            "{} sums up {}: the same kernels, launches and {}; counted once",
            path(source),
            path(other),
            if is_timed { "times" } else { "figures" }
        );
        profile.check(note);
        for row in &rows[source] {
            if !std::mem::replace(&mut gone[*row], true) {
                profile.count_repeated(*row);
            }
        }
    }
    profile.leave_out(&gone);
}

/// The launch table of a mapped file does not say whether its rows were sums: they were where one stands for several
/// launches.
fn tell_mapped(profile: &mut Profile) {
    let is_mapped = |source: &Source| source.format == "mapped" && !source.sums;
    if !profile.sources.iter().any(is_mapped) {
        return;
    }
    for row in 0..profile.launches.len() {
        let source = &mut profile.sources[usize::from(profile.launches.source(row))];
        if is_mapped(source) && profile.launches.count(row) > 1 {
            source.sums = true;
        }
    }
}

fn sum(profile: &Profile, row: usize) -> Sum {
    let launches = u64::from(profile.launches.head(row).count);
    let time = profile.launches.get(row, Quantity::Duration).map_or(0.0, |(time, _)| time);
    Sum { launches, time: time * launches as f64 }
}

/// The sums of the kernels of an input by their names in a form, each kernel apart.
type ByName = BTreeMap<String, Vec<Sum>>;

/// What a row is of: kernel, operator and shape.
type RowOf = (NameId, NameId, Shape);

/// The sums of the kernels of an input, and how their names are written.
struct Sums {
    of: BTreeMap<NameId, Sum>,
    rows: Vec<(NameId, Sum)>,
    by_row: HashMap<RowOf, Vec<Sum>>,
    form: Form,
    /// By names in shorter forms, once they were asked for: many inputs are compared with each other.
    shortened: RefCell<BTreeMap<Form, Rc<ByName>>>,
}

impl Sums {
    fn new(profile: &Profile, rows: &[usize], gone: &[bool]) -> Self {
        let mut by_row: HashMap<RowOf, Vec<Sum>> = HashMap::new();
        let rows = rows.iter().filter(|row| !gone[**row]).map(|row| {
            let (head, sum) = (profile.launches.head(*row), sum(profile, *row));
            by_row.entry((head.name, head.operator, head.shape)).or_default().push(sum);
            (head.name, sum)
        });
        let rows: Vec<(NameId, Sum)> = rows.collect();
        let mut of: BTreeMap<NameId, Sum> = BTreeMap::new();
        for (name, sum) in &rows {
            of.entry(*name).or_default().add(*sum);
        }
        let form = Form::of(of.keys().map(|name| profile.names.get(*name)));
        Self { of, rows, by_row, form, shortened: RefCell::default() }
    }

    /// Whether all rows are among those of another input in the same format: some of its rows were saved apart.
    fn is_part_of(&self, other: &Self) -> bool {
        let is_there = |(row, sums): (&RowOf, &Vec<Sum>)| {
            let others = other.by_row.get(row).map_or(&[][..], Vec::as_slice);
            sums.iter().all(|sum| sum.time > 0.0 && others.iter().any(|one| one.agrees(*sum, SAME)))
        };
        self.rows.len() >= FEWEST && self.by_row.iter().all(is_there)
    }

    /// The sums of kernels by names in a form.
    fn by_name(&self, profile: &Profile, form: Form) -> Rc<ByName> {
        let make = || {
            let mut sums = ByName::new();
            for (name, sum) in &self.of {
                sums.entry(form.shortened(profile.names.get(*name))).or_default().push(*sum);
            }
            Rc::new(sums)
        };
        self.shortened.borrow_mut().entry(form).or_insert_with(make).clone()
    }

    /// Whether each row is that of another kernel of an input: names that are cut may be alike.
    fn rows_lie_in(&self, other: &Self, within: f64, profile: &Profile) -> bool {
        let kernels = other.by_name(profile, self.form);
        let mut taken: HashSet<(&str, usize)> = HashSet::new();
        self.rows.iter().all(|(name, sum)| {
            let name = profile.names.get(*name);
            let mut kernels = kernels.get(name).into_iter().flatten().enumerate();
            kernels.any(|(at, one)| one.agrees(*sum, within) && taken.insert((name, at)))
        })
    }

    /// Whether another input has the same kernels with the same sums, and perhaps more: a table may show only the longest.
    fn lie_in(&self, other: &Self, within: f64, profile: &Profile) -> bool {
        if self.of.values().any(|sum| sum.time <= 0.0) {
            return false;
        }
        let form = self.form.min(other.form);
        if form == Form::Whole || self.form == other.form {
            return (self.of.len() == other.of.len() || self.of.len() >= FEWEST)
                && self.of.iter().all(|(name, sum)| {
                    other.of.get(name).is_some_and(|one| one.agrees(*sum, within))
                });
        }
        if matches!(self.form, Form::Cut(_)) && form == self.form {
            return (self.rows.len() == other.of.len() || self.rows.len() >= FEWEST)
                && self.rows_lie_in(other, within, profile);
        }
        let [own, others] = [self, other].map(|sums| sums.by_name(profile, form));
        let all = |sums: &[Sum]| {
            sums.iter().fold(Sum::default(), |mut all, one| {
                all.add(*one);
                all
            })
        };
        (own.len() == others.len() || own.len() >= FEWEST)
            && own.iter().all(|(name, sums)| {
                others.get(name).is_some_and(|others| all(others).agrees(all(sums), within))
            })
    }
}

/// Whether two rows say the same of a kernel.
fn is_same(profile: &Profile, one: usize, two: usize) -> bool {
    let launches = &profile.launches;
    let [first, second] = [one, two].map(|row| launches.head(row));
    // Rows of a mapping that differ in any column have other numbers.
    let number = |head: &Head| {
        (profile.sources[usize::from(head.source)].format == "mapped").then_some(head.id)
    };
    let row =
        |head: &Head| (head.name, head.operator, head.shape, head.device, head.count, number(head));
    row(&first) == row(&second)
        && launches.quantities().all(|quantity| {
            let value = |row| launches.get(row, quantity).map(|(value, _)| value);
            value(one) == value(two)
        })
}

/// What differs from run to run, unlike operations and what a launch asks for.
const MEASURED: [Quantity; 8] = [
    Quantity::DramBytes,
    Quantity::DramReadBytes,
    Quantity::L2Bytes,
    Quantity::DramThroughput,
    Quantity::L2Throughput,
    Quantity::SmThroughput,
    Quantity::AchievedOccupancy,
    Quantity::SmClock,
];

/// Whether two inputs without times have the same kernels with the same figures, row by row: copies, or a launch table.
/// Two ranks do as much work; what was measured of them differs somewhere.
fn are_same(profile: &Profile, one: &[usize], two: &[usize]) -> bool {
    let launches = &profile.launches;
    let value = |row: usize, quantity| launches.get(row, quantity).map(|(value, _)| value);
    let is_untimed = |row: &usize| value(*row, Quantity::Duration).is_none();
    let mut measured = 0;
    let mut agree = |one: usize, two: usize| {
        let [first, second] = [one, two].map(|row| launches.head(row));
        let of = |head: &Head| (head.name, head.operator, head.shape, head.count);
        let [ordinal, other] = [&first, &second].map(|head| profile.ordinal(head.device));
        measured += MEASURED
            .iter()
            .filter(|of| value(one, **of).zip(value(two, **of)).is_some_and(|(one, _)| one > 0.0))
            .count();
        of(&first) == of(&second)
            && ordinal.zip(other).is_none_or(|(one, two)| one == two)
            && launches.quantities().all(|quantity| {
                let both = value(one, quantity).zip(value(two, quantity));
                both.is_none_or(|(one, two)| (one - two).abs() <= SAME * one.abs().max(two.abs()))
            })
    };
    one.len() == two.len()
        && one.iter().chain(two).all(is_untimed)
        && one.iter().zip(two).all(|(one, two)| agree(*one, *two))
        && measured >= FEWEST
}

/// Marks the sums of kernels, if the file also has those of all of them by grid: two reports of one run were joined.
fn without_grids(profile: &mut Profile, rows: &[usize], gone: &mut [bool]) -> Option<String> {
    let has_grid = |row: &&usize| profile.launches.head(**row).shape.blocks.is_some();
    let (by_grid, whole): (Vec<usize>, Vec<usize>) =
        rows.iter().filter(|row| !gone[**row]).partition(has_grid);
    let [by_grid, sums] = [&by_grid, &whole].map(|rows| Sums::new(profile, rows, gone).of);
    let is_same = !sums.is_empty()
        && sums.len() == by_grid.len()
        && sums
            .iter()
            .all(|(name, sum)| by_grid.get(name).is_some_and(|one| one.agrees(*sum, AGREES)));
    if !is_same {
        return None;
    }
    for row in whole {
        gone[row] = true;
        profile.count_repeated(row);
    }
    Some("the sums of kernels are also there by grid; counted once".to_owned())
}

/// Marks rows of a table that repeat others if all that repeat a kernel are copies; gives what is to be said.
fn copies(profile: &mut Profile, rows: &[usize], gone: &mut [bool]) -> Option<String> {
    let mut first: HashMap<Key, usize> = HashMap::new();
    let (mut same, mut others) = (Vec::new(), 0_u64);
    // Of names that are cut several may be alike: they are copies only if all rows come again.
    let is_cut = |row: usize| profile.names.get(profile.launches.head(row).name).ends_with("...");
    let (before, again) = rows.split_at(rows.len() / 2);
    if again.len() > 1
        && before.len() == again.len()
        && before.iter().zip(again).all(|(one, two)| is_same(profile, *one, *two))
    {
        same = again.to_vec();
    }
    let rest = if same.is_empty() { rows } else { &[] };
    for row in rest.iter().filter(|row| !is_cut(**row)) {
        let head = profile.launches.head(*row);
        let resources = [Quantity::RegistersPerThread, Quantity::SharedMemoryPerBlock]
            .map(|of| profile.launches.get(*row, of).map(|(value, _)| value.to_bits()));
        let key = (head.process, head.name, head.operator, head.shape, head.device, resources);
        let known = *first.entry(key).or_insert(*row);
        if known == *row {
            continue;
        }
        if is_same(profile, known, *row) { same.push(*row) } else { others += 1 }
    }
    match (same.len(), others) {
        (0, 0) => None,
        (copies, 0) => {
            for row in &same {
                gone[*row] = true;
                profile.count_repeated(*row);
            }
            let are = if copies == 1 { "row of sums is" } else { "rows of sums are" };
            Some(format!(
                "{copies} {are} repeated in this table (same kernel, launches and values; counted once)"
            ))
        }
        (copies, others) => {
            let all = copies as u64 + others;
            let have = if all == 1 { "row of sums has" } else { "rows of sums have" };
            Some(format!(
                "{all} {have} the kernel of an earlier row, with other values; counted as another run or process"
            ))
        }
    }
}
