//! Launches that were read twice: a copy, an export beside its compressed form or its launch table,
//! exports that overlap.
//!
//! They are recognized by content, whatever the files are called: process, launch number, kernel, grid
//! and time are the same to the last digit, and no other figure contradicts, nor do start and GPU in files of
//! one format. All launches that two inputs share must agree; one that does not shows another run of the same
//! program, whose launches count.
//!
//! Two pages of one report, or a report and a page of it, differ more: a details page rounds what it
//! shows to two decimals, its SM clock is of another pass than that of the raw page, and it may have no
//! time. There the times must agree as far as they are printed, and most other figures. The page with
//! the more exact times and the most figures comes first: its values stay. Of the device a launch knows what
//! any of its pages says.

mod agree;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use self::agree::{agree, are_apart, counts_other_parts};
use super::name_forms;
use super::runs::{adopt_advice, describe};
use crate::model::{Head, NameId, OriginKind, Profile, Quantity, Values};
use crate::plain::counted;

/// Two prints of one figure differ by less than this share: percentages have two decimals.
const AGREES: f64 = 0.005;

/// How many pairs of inputs are named.
const NAMED: usize = 5;

/// What identifies a launch within its run: process, number, kernel, blocks.
type Key = (u32, u32, NameId, Option<u64>);

/// How launches are identified, by what all inputs have.
struct Keys {
    with_grid: bool,
    /// One name for all that may be the same in another form, where inputs have several forms.
    names: Option<HashMap<NameId, NameId>>,
}

impl Keys {
    fn new(profile: &Profile) -> Self {
        Self { with_grid: have_grids(profile), names: name_forms::by_identifier(profile) }
    }

    fn of(&self, profile: &Profile, row: usize) -> Key {
        let head = profile.launches.head(row);
        let name = self.names.as_ref().and_then(|names| names.get(&head.name));
        let blocks = head.shape.blocks.filter(|_| self.with_grid);
        (head.process, head.id, *name.unwrap_or(&head.name), blocks)
    }
}

/// When launches with fewer figures than others count as copies of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// Only with the same figures: what lacks some may belong to another run, which is joined first.
    Equal,
    /// With any; what one lacks it takes from the other.
    All,
}

/// What is printed of the times of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Times {
    Exact,
    /// Each has at most two decimals in a unit of its own.
    Rounded,
    Missing,
}

/// Launches of one process of an input; those that repeat earlier ones of the input are others.
#[derive(Debug, Default)]
struct Group {
    source: u16,
    rows: Vec<u32>,
    /// For earlier groups, how many launches are the same.
    same: HashMap<u32, u32>,
}

/// What is left out of an input, because another has it.
#[derive(Debug, Default)]
struct Told {
    /// Launches that are the same, of so many.
    same: usize,
    all: usize,
    /// Whether either input has counters of them that the other lacks.
    has_others: bool,
}

/// Whether two launches of files in one format each have what the other lacks: then neither is a copy.
fn completes(profile: &Profile, one: usize, two: usize) -> bool {
    let launches = &profile.launches;
    let [format, other] =
        [one, two].map(|row| &profile.sources[usize::from(launches.run(row).0)].format);
    let lacks = |row: usize, other: usize| {
        let mut all = launches.quantities();
        all.any(|one| launches.get(row, one).is_none() && launches.get(other, one).is_some())
    };
    format == other && (lacks(one, two) && lacks(two, one) || counts_other_parts(profile, one, two))
}

/// Leaves out launches that repeat earlier ones, and says so.
pub(super) fn leave_out(profile: &mut Profile, which: Which) {
    if !may_repeat(profile) || began_apart(profile) {
        return;
    }
    let keys = Keys::new(profile);
    let (groups, mut twins) = compare(profile, which, &keys);
    let mut gone = vec![false; profile.launches.len()];
    let mut told: BTreeMap<(u16, u16), Told> = BTreeMap::new();
    let mut other_runs: BTreeMap<u16, usize> = BTreeMap::new();
    let mut renamed: HashMap<(u16, NameId), HashSet<NameId>> = HashMap::new();
    for group in &groups {
        // Of several the first: all are the same.
        let most = group.same.iter().max_by_key(|(first, same)| (**same, u32::MAX - **first));
        let Some((first, same)) = most.map(|(first, same)| (*first as usize, *same as usize))
        else {
            continue;
        };
        let known: HashSet<Key> =
            groups[first].rows.iter().map(|row| keys.of(profile, *row as usize)).collect();
        let rows = group.rows.iter().map(|row| *row as usize);
        let is_shared = |row: &usize| known.contains(&keys.of(profile, *row));
        let shared: Vec<usize> = rows.filter(is_shared).collect();
        let mut same = same;
        if shared.len() != same {
            let Some((cut, whole)) = cut_off(profile, &keys, [group, &groups[first]], &twins)
                .filter(|_| which == Which::All && shared.len() == same + 1)
            else {
                continue;
            };
            twins.insert(cut, whole);
            same += 1;
        }
        let told = told.entry((group.source, groups[first].source)).or_default();
        told.same += same;
        told.all += group.rows.len();
        for row in shared {
            let Some(mut twin) = twins.get(&(row as u32)) else { continue };
            while let Some(first) = twins.get(twin).filter(|_| gone[*twin as usize]) {
                twin = first;
            }
            gone[row] = true;
            told.has_others |= completes(profile, *twin as usize, row);
            profile.count_repeated(row);
            let short = profile.launches.head(*twin as usize);
            describe(profile, *twin as usize, row);
            let whole = profile.launches.head(*twin as usize).name;
            if whole != short.name {
                renamed.entry((short.source, short.name)).or_default().insert(whole);
            }
            if which == Which::All {
                complete(profile, *twin as usize, row);
            }
        }
    }
    if which == Which::All {
        let mut seen: HashSet<(u16, Key)> = HashSet::new();
        for group in &groups {
            for row in group.rows.iter().filter(|row| !gone[**row as usize]) {
                if !seen.insert((group.source, keys.of(profile, *row as usize))) {
                    *other_runs.entry(group.source).or_default() += 1;
                }
            }
        }
    }
    tell(profile, &told, &other_runs);
    name_all(profile, &renamed);
    profile.leave_out(&gone);
}

/// Gives all launches of an input the whole name that some of them got for a short one, if there is only one.
fn name_all(profile: &mut Profile, renamed: &HashMap<(u16, NameId), HashSet<NameId>>) {
    if renamed.is_empty() {
        return;
    }
    for row in 0..profile.launches.len() {
        let head = profile.launches.head(row);
        let whole = renamed.get(&(head.source, head.name)).filter(|whole| whole.len() == 1);
        if let Some(name) = whole.and_then(|whole| whole.iter().next()) {
            profile.launches.describe(row, &Head { name: *name, ..head });
        }
    }
}

/// The one launch that two inputs have different figures of, in the second and in the first, where the second was cut off
/// within it: it is the first or last one there, and has the same time or none.
fn cut_off(
    profile: &Profile,
    keys: &Keys,
    [group, first]: [&Group; 2],
    twins: &HashMap<u32, u32>,
) -> Option<(u32, u32)> {
    /// Fewer launches that are the same may be so by chance.
    const FEWEST: usize = 4;
    /// A time of cycles differs from the measured one by less than this part of it.
    const OF_CYCLES: i64 = 50;
    let known: HashMap<Key, u32> =
        first.rows.iter().map(|row| (keys.of(profile, *row as usize), *row)).collect();
    let whole_of = |row: u32| known.get(&keys.of(profile, row as usize)).copied();
    let shared = group.rows.iter().filter(|row| whole_of(**row).is_some());
    if shared.count() <= FEWEST {
        return None;
    }
    let ends = [group.rows.first()?, group.rows.last()?];
    let cut = ends.into_iter().find(|row| !twins.contains_key(row))?;
    let whole = whole_of(*cut)?;
    let heads = [*cut, whole].map(|row| profile.launches.head(row as usize));
    let get =
        |row: u32, quantity| profile.launches.get(row as usize, quantity).map(|(value, _)| value);
    let times = [*cut, whole].map(|row| time(profile, row as usize));
    let is_same_time = match times {
        // Cut off between cycles and time, it has that of the cycles, at a clock that is rounded.
        [Some(one), Some(two)] if is_computed(profile, *cut as usize) => {
            (one - two).abs() <= two / OF_CYCLES
        }
        [Some(one), Some(two)] => one == two,
        // What was cut off before its time lacks that.
        [None, Some(_)] => true,
        _ => Quantity::all().any(|one| get(*cut, one).is_none() && get(whole, one).is_some()),
    };
    // Sums of fewer counters are smaller, and nothing is larger.
    let is_part =
        Quantity::all().all(|quantity| match (get(*cut, quantity), get(whole, quantity)) {
            (Some(_), Some(_)) if quantity == Quantity::Duration => true,
            (Some(cut), Some(whole)) => cut <= whole * (1.0 + AGREES),
            (Some(_), None) => false,
            (None, _) => true,
        });
    (is_same_time && is_part && !are_apart(profile, &heads[0], &heads[1])).then_some((*cut, whole))
}

/// Whether a number occurs twice in a process: those of one run ascend, and nothing is to be compared.
fn may_repeat(profile: &Profile) -> bool {
    let mut last: HashMap<u32, u32> = HashMap::new();
    let mut current: Option<(u32, u32)> = None;
    for row in 0..profile.launches.len() {
        let (process, id) = profile.launches.numbers(row);
        match current {
            Some((same, known)) if same == process => {
                if id <= known {
                    return true;
                }
            }
            before => {
                if last.get(&process).is_some_and(|known| id <= *known) {
                    return true;
                }
                last.extend(before);
            }
        }
        current = Some((process, id));
    }
    false
}

/// Whether launches of the same process and number began at different times, all inputs have one format, and none has a
/// number twice: then no launch is a copy. Traces of several ranks are like that: their launches have the same numbers.
fn began_apart(profile: &Profile) -> bool {
    let launches = &profile.launches;
    let formats = profile.sources.windows(2);
    let is_one_format = formats.into_iter().all(|pair| pair[0].format == pair[1].format);
    if !is_one_format || (0..launches.len()).any(|row| launches.start(row).is_none()) {
        return false;
    }
    let mut rows: Vec<u32> = (0..launches.len() as u32).collect();
    let numbers = |row: u32| (launches.run(row as usize).0, launches.numbers(row as usize));
    rows.sort_by_key(|row| numbers(*row));
    if rows.windows(2).any(|pair| numbers(pair[0]) == numbers(pair[1])) {
        return false;
    }
    let began = |row: u32| (launches.start(row as usize), launches.numbers(row as usize));
    rows.sort_by_key(|row| began(*row));
    rows.windows(2).all(|pair| began(pair[0]) != began(pair[1]))
}

/// The groups of launches, and for rows that are the same as one that comes before it that row.
fn compare(profile: &Profile, which: Which, keys: &Keys) -> (Vec<Group>, HashMap<u32, u32>) {
    /// Launches of other runs that are compared beside the first: durations are coarse, so ranks have some in common.
    const MOST_ALIKE: usize = 64;
    let mut groups: Vec<Group> = Vec::new();
    let mut ids: HashMap<(u16, u32, u32), u32> = HashMap::new();
    let mut of_row = vec![0_u32; profile.launches.len()];
    let mut occurrences: HashMap<(u16, Key), u32> = HashMap::new();
    let mut first: HashMap<(Key, Option<i64>), u32> = HashMap::new();
    let mut more: HashMap<(Key, Option<i64>), Vec<u32>> = HashMap::new();
    let mut by_print: HashMap<(Key, Option<i64>), u32> = HashMap::new();
    let mut twins: HashMap<u32, u32> = HashMap::new();
    let times = if which == Which::All { printed_times(profile) } else { Vec::new() };
    let some_round = times.iter().any(|times| *times != Times::Exact);
    let is_coarse = |source: u16| {
        which == Which::All
            && profile.sources[usize::from(source)].steps.contains_key(&Quantity::Duration)
    };
    let some_coarse = (0..profile.sources.len()).any(|source| is_coarse(source as u16));
    for row in order(profile, &times) {
        let head = profile.launches.head(row as usize);
        // Rows of sums have no number of a launch; `sums` compares them.
        if profile.sources[usize::from(head.source)].sums {
            continue;
        }
        let key = keys.of(profile, row as usize);
        let occurrence = occurrences.entry((head.source, key)).or_default();
        let group = *ids.entry((head.source, head.process, *occurrence)).or_insert_with(|| {
            groups.push(Group { source: head.source, ..Group::default() });
            groups.len() as u32 - 1
        });
        *occurrence += 1;
        of_row[row as usize] = group;
        groups[group as usize].rows.push(row);
        let time = time(profile, row as usize);
        let exact = *first.entry((key, time)).or_insert(row);
        let is_it = |twin: &u32| agree(profile, row as usize, *twin as usize, which);
        let mut twin = None;
        if exact != row {
            let others = more.get(&(key, time)).into_iter().flatten().copied();
            twin = std::iter::once(exact).chain(others).find(is_it);
            if twin.is_none() {
                let others = more.entry((key, time)).or_default();
                if others.len() < MOST_ALIKE {
                    others.push(row);
                }
            }
        }
        if some_round || some_coarse {
            twin = twin.or_else(|| {
                let may_differ = times[usize::from(head.source)] != Times::Exact;
                let printed = may_differ.then(|| same_print(&by_print, key, time)).flatten();
                let any = || by_print.get(&(key, None)).copied().filter(|_| is_coarse(head.source));
                printed.filter(is_it).or_else(|| any().filter(is_it))
            });
            for print in [time.map(print), None] {
                by_print.entry((key, print)).or_insert(row);
            }
        }
        if let Some(twin) = twin {
            twins.insert(row, twin);
            *groups[group as usize].same.entry(of_row[twin as usize]).or_default() += 1;
        }
    }
    (groups, twins)
}

/// What is known of the times of each source.
fn printed_times(profile: &Profile) -> Vec<Times> {
    let mut all = vec![Times::Missing; profile.sources.len()];
    for row in 0..profile.launches.len() {
        let of_source = &mut all[usize::from(profile.launches.run(row).0)];
        let Some(time) = time(profile, row).filter(|_| !is_computed(profile, row)) else {
            continue;
        };
        if time != print(time) {
            *of_source = Times::Exact;
        } else if *of_source == Times::Missing {
            *of_source = Times::Rounded;
        }
    }
    all
}

/// The rows, those of sources that also have copies, calls and steps before others, then those with exact times and many
/// figures, then those of the source with the most launches: of one that lies in another nothing is left.
fn order(profile: &Profile, times: &[Times]) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..profile.launches.len() as u32).collect();
    let of_work = profile.activities.iter().map(|one| one.source);
    let of_calls = profile.calls.iter().map(|call| call.source);
    let of_steps = profile.steps.iter().map(|step| step.source);
    let timelines: HashSet<u16> = of_work.chain(of_calls).chain(of_steps).collect();
    let source = |row: u32| usize::from(profile.launches.source(row as usize));
    let is_bare = |row: u32| !timelines.contains(&profile.launches.source(row as usize));
    let mut launches = vec![0_u32; profile.sources.len()];
    for row in &rows {
        launches[source(*row)] += 1;
    }
    if times.is_empty() {
        rows.sort_by_key(|row| (is_bare(*row), Reverse(launches[source(*row)])));
        return rows;
    }
    let figures = |row: u32| {
        let has = |quantity: &Quantity| profile.launches.get(row as usize, *quantity).is_some();
        Quantity::all().filter(has).count()
    };
    // Those of the first launch, and of the last: a file that was cut off there has fewer.
    let mut ends: Vec<Option<[u32; 2]>> = vec![None; profile.sources.len()];
    for row in &rows {
        ends[source(*row)].get_or_insert([*row; 2])[1] = *row;
    }
    let ends: Vec<[usize; 2]> =
        ends.into_iter().map(|ends| ends.map_or([0; 2], |ends| ends.map(figures))).collect();
    // A page in larger units has fewer digits: of times, then of bytes.
    let coarse = |source: usize| {
        let steps = &profile.sources[source].steps;
        let time = steps.get(&Quantity::Duration).copied().unwrap_or_default();
        let bytes = steps.values().fold(0.0_f64, |all, step| all.max(*step));
        (picoseconds(time), bytes as u64)
    };
    let coarse: Vec<(i64, u64)> = (0..profile.sources.len()).map(coarse).collect();
    rows.sort_by_key(|row| {
        let source = source(*row);
        let [first, last] = ends[source].map(Reverse);
        (is_bare(*row), times[source], coarse[source], first, Reverse(launches[source]), last)
    });
    rows
}

/// A row before this one whose time is printed like this one, or any if it has none.
fn same_print(
    by_print: &HashMap<(Key, Option<i64>), u32>,
    key: Key,
    time: Option<i64>,
) -> Option<u32> {
    let Some(time) = time else { return by_print.get(&(key, None)).copied() };
    // A five is rounded up or down.
    let step = step(time);
    let prints = [time, time + step, time - step];
    prints.iter().find_map(|print| by_print.get(&(key, Some(*print))).copied())
}

/// The last digit that is printed of a time in picoseconds: of two decimals below 1000 of a unit.
fn step(time: i64) -> i64 {
    let mut step = 10;
    while time / 100_000 >= step {
        step *= 1000;
    }
    step
}

/// A time in picoseconds with as many digits as a details page shows.
fn print(time: i64) -> i64 {
    let step = step(time);
    (time + step / 2) / step * step
}

/// Whether the grid takes part in what identifies a launch: not where some exports have grids, and old ones do not.
fn have_grids(profile: &Profile) -> bool {
    let mut sources: Vec<Option<bool>> = vec![None; profile.sources.len()];
    for row in 0..profile.launches.len() {
        let has = sources[usize::from(profile.launches.source(row))].get_or_insert(false);
        *has = *has || profile.launches.head(row).shape.blocks.is_some();
    }
    let mut sources = sources.into_iter().flatten();
    let first = sources.next();
    sources.all(|has| Some(has) == first)
}

/// Longer times count as this one, in picoseconds: 27 days. A clock in the place of a duration is longer.
const LONGEST: i64 = i64::MAX / 4;

/// Whether a launch has no time of its own, but one of its cycles.
fn is_computed(profile: &Profile, row: usize) -> bool {
    let time = profile.launches.get(row, Quantity::Duration);
    time.is_some_and(|(_, origin)| profile.origins.get(origin).kind == OriginKind::Derived)
}

/// Seconds in picoseconds.
fn picoseconds(time: f64) -> i64 {
    ((time * 1e12).round() as i64).min(LONGEST)
}

/// The time in picoseconds: a profiler's clock is coarser, a number's last digit finer. What is a whole nanosecond but
/// for a hundred-millionth was computed from cycles and their rate.
pub(super) fn time(profile: &Profile, row: usize) -> Option<i64> {
    const COMPUTED: i64 = 100_000_000;
    let (time, _) = profile.launches.get(row, Quantity::Duration)?;
    let time = picoseconds(time);
    let whole = (time + 500) / 1000 * 1000;
    Some(if (time - whole).abs() <= whole / COMPUTED { whole } else { time })
}

/// Gives a launch what only its copy has. Peaks become those at the clock of the launch: each page shows that of
/// another pass.
pub(super) fn complete(profile: &mut Profile, row: usize, copy: usize) {
    let clock = |row: usize| profile.launches.get(row, Quantity::SmClock).map(|(clock, _)| clock);
    let clocks = clock(row).zip(clock(copy)).filter(|(_, other)| *other > 0.0);
    let faster = clocks.map_or(1.0, |(own, other)| own / other);
    let mut values = Values::default();
    for quantity in Quantity::all() {
        if let Some((value, origin)) = profile.launches.get(copy, quantity) {
            let is_peak = matches!(quantity, Quantity::Peak(_));
            values.set(quantity, if is_peak { value * faster } else { value }, origin);
        }
    }
    super::complete::complete(profile, row, &values);
    adopt_advice(profile, row, copy);
}

fn tell(
    profile: &mut Profile,
    told: &BTreeMap<(u16, u16), Told>,
    other_runs: &BTreeMap<u16, usize>,
) {
    let path = |source: u16| profile.sources[usize::from(source)].path.clone();
    let launches = |count: usize| if count == 1 { "launch" } else { "launches" };
    let mut notes = Vec::new();
    for ((source, first), Told { same, all, has_others }) in told.iter().take(NAMED) {
        let (one, two) = (path(*source), path(*first));
        let why = "same process, launch ID, kernel and values; counted once";
        notes.push(if source == first {
            let are = if *same == 1 { "launch is" } else { "launches are" };
            format!("{one}: {same} {are} repeated in this file ({why})")
        } else if *has_others {
            let launches = launches(*same);
            format!("{one} has other counters of {same} {launches} of {two} (same process, launch ID and kernel; joined)")
        } else if same == all {
            format!("{one} repeats {two}: {same} {} ({why})", launches(*same))
        } else {
            format!("{one} overlaps {two}: {same} of {all} launches ({why})")
        });
    }
    if told.len() > NAMED {
        let more = (told.len() - NAMED) as u64;
        let more = counted(more, "more input repeats", "more inputs repeat");
        notes.push(format!("{more} others; counted once"));
    }
    for (source, count) in other_runs.iter().take(NAMED) {
        notes.push(format!(
            "{}: {count} {} process, launch ID and kernel of an earlier one with other values; counted as another run",
            path(*source),
            if *count == 1 { "launch repeats" } else { "launches repeat" },
        ));
    }
    for note in notes {
        profile.check(note);
    }
}
