//! Parts of one trace: what `head`, `tail`, a filter or a sort makes of a table whose launches have no numbers of their own.
//!
//! A part lies wholly in the trace, or agrees with it on every launch of the time that both cover. Two runs do not have
//! launches of the same kernels, as long to the last digit, at the same nanoseconds.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::alike::Alike;
use super::duplicates;
use super::runs::describe;
use crate::model::{Activity, HintId, Profile};
use crate::plain::counted;

/// One launch is enough to see that two traces are one if it began so many nanoseconds after their first instant: early
/// starts may be equal by chance.
const LATE: u64 = 1_000_000;

/// As many launches of one start and time are compared with each other: each with each.
const MOST_ALIKE: usize = 8;

/// How many pairs of inputs are named.
const NAMED: usize = 5;

/// A launch of a trace: start, time in picoseconds, row.
type Ran = (u64, i64, u32);

/// The launches that two traces of one format have in common, as rows of the first and the second.
type Common = BTreeMap<(usize, usize), Vec<(usize, usize)>>;

/// Leaves out launches of traces that another one of the same format has, and says so.
pub(super) fn leave_out(profile: &mut Profile) {
    let mut formats: HashSet<&str> = HashSet::new();
    let mut traces = profile.sources.iter().filter(|one| one.profiler.is_timeline() && !one.sums);
    if !traces.any(|one| !formats.insert(&one.format)) {
        return;
    }
    let rows = rows(profile);
    let mut pairs: Vec<_> = common(profile, &rows)
        .into_iter()
        .filter(|((one, two), same)| is_one_run(&rows[*one], &rows[*two], same, profile))
        .collect();
    // The longest stays.
    pairs.sort_by_key(|((one, two), _)| (Reverse(rows[*one].len()), *one, *two));
    let mut gone = vec![false; profile.launches.len()];
    let mut told: Vec<(usize, usize, u64)> = Vec::new();
    for ((one, two), same) in pairs {
        let mut left_out = 0;
        for (row, copy) in same {
            if gone[row] || std::mem::replace(&mut gone[copy], true) {
                continue;
            }
            describe(profile, row, copy);
            duplicates::complete(profile, row, copy);
            profile.count_repeated(copy);
            left_out += 1;
        }
        if left_out > 0 {
            told.push((one, two, left_out));
        }
    }
    forget_copies(profile, &told);
    tell(profile, &told, &rows);
    profile.leave_out(&gone);
}

/// The launches of each trace, in the order of their start; none where one has no start or time.
fn rows(profile: &Profile) -> Vec<Vec<Ran>> {
    let mut rows: Vec<Vec<Ran>> = vec![Vec::new(); profile.sources.len()];
    let sources = profile.sources.iter();
    let mut is_timed: Vec<bool> =
        sources.map(|source| source.profiler.is_timeline() && !source.sums).collect();
    for row in 0..profile.launches.len() {
        let source = usize::from(profile.launches.source(row));
        let ran = profile.launches.start(row).zip(duplicates::time(profile, row));
        match ran {
            Some((start, time)) if is_timed[source] => rows[source].push((start, time, row as u32)),
            _ => is_timed[source] = false,
        }
    }
    for (rows, is_timed) in rows.iter_mut().zip(is_timed) {
        if is_timed { rows.sort_unstable() } else { rows.clear() }
    }
    rows
}

/// What traces of one format have in common; of each pair the longer comes first, of equals the one that also has copies,
/// calls or steps, then the one that was given first.
fn common(profile: &Profile, rows: &[Vec<Ran>]) -> Common {
    let of_work = profile.activities.iter().map(|one| one.source);
    let of_calls = profile.calls.iter().map(|call| call.source);
    let of_steps = profile.steps.iter().map(|step| step.source);
    let timelines: HashSet<u16> = of_work.chain(of_calls).chain(of_steps).collect();
    let is_bare = |source: usize| !timelines.contains(&(source as u16));
    let mut common = Common::new();
    let mut alike = Alike::default();
    let mut all: Vec<Ran> = rows.iter().flatten().copied().collect();
    all.sort_unstable();
    for same in all.chunk_by(|one, two| (one.0, one.1) == (two.0, two.1)) {
        let same = &same[..same.len().min(MOST_ALIKE)];
        // Each launch of one file goes with one of another.
        let mut taken: HashSet<(usize, usize)> = HashSet::new();
        let of = |row: usize| usize::from(profile.launches.source(row));
        for (at, one) in same.iter().enumerate() {
            for two in &same[at + 1..] {
                let (one, two) = (one.2 as usize, two.2 as usize);
                let is_taken = taken.contains(&(one, of(two))) || taken.contains(&(two, of(one)));
                if !is_taken && is_same(profile, &mut alike, one, two) {
                    taken.extend([(one, of(two)), (two, of(one))]);
                    let rank =
                        |row: usize| (Reverse(rows[of(row)].len()), is_bare(of(row)), of(row));
                    let (one, two) = if rank(one) < rank(two) { (one, two) } else { (two, one) };
                    common.entry((of(one), of(two))).or_default().push((one, two));
                }
            }
        }
    }
    common
}

/// Whether two launches of two files of one format, which began at the same time and took as long, are one.
fn is_same(profile: &Profile, alike: &mut Alike, one: usize, two: usize) -> bool {
    fn differ<T: PartialEq>(one: Option<T>, two: Option<T>) -> bool {
        one.zip(two).is_some_and(|(one, two)| one != two)
    }
    let (head, other) = (profile.launches.head(one), profile.launches.head(two));
    let format = |source: u16| &profile.sources[usize::from(source)].format;
    let ordinal = |device: HintId| profile.ordinal(device);
    head.source != other.source
        && format(head.source) == format(other.source)
        && (head.process, head.name, head.count) == (other.process, other.name, other.count)
        && !differ(head.shape.blocks, other.shape.blocks)
        && !differ(head.stream, other.stream)
        && !differ(ordinal(head.device), ordinal(other.device))
        && alike.are(&profile.devices, head.device, other.device)
}

/// Whether launches that two traces share show that both are of one run: all of one, or all of the time that both cover.
fn is_one_run(one: &[Ran], two: &[Ran], same: &[(usize, usize)], profile: &Profile) -> bool {
    if same.len() == two.len() {
        let start = same.first().and_then(|pair| profile.launches.start(pair.0));
        return same.len() > 1 || start >= Some(LATE);
    }
    let first = one.first().max(two.first()).map_or(0, |row| row.0);
    let last = one.last().min(two.last()).map_or(0, |row| row.0);
    let within = |rows: &[Ran]| {
        let from = rows.partition_point(|row| row.0 < first);
        rows.partition_point(|row| row.0 <= last).saturating_sub(from)
    };
    same.len() > 1 && [one, two].iter().all(|rows| within(rows) == same.len())
}

/// Leaves out copies and fills of traces that those have which they are part of.
fn forget_copies(profile: &mut Profile, told: &[(usize, usize, u64)]) {
    let mut wholes: HashMap<usize, Vec<usize>> = HashMap::new();
    for (one, two, _) in told {
        wholes.entry(*two).or_default().push(*one);
    }
    let are_wholes: HashSet<usize> = wholes.values().flatten().copied().collect();
    let what = |one: &Activity| (one.name, one.start, one.duration);
    let of_wholes =
        profile.activities.iter().filter(|one| are_wholes.contains(&usize::from(one.source)));
    let known: HashSet<_> = of_wholes.map(|one| (usize::from(one.source), what(one))).collect();
    profile.activities.retain(|one| {
        let wholes = wholes.get(&usize::from(one.source)).into_iter().flatten();
        !wholes.copied().any(|whole| known.contains(&(whole, what(one))))
    });
}

fn tell(profile: &mut Profile, told: &[(usize, usize, u64)], rows: &[Vec<Ran>]) {
    for (one, two, launches) in told.iter().take(NAMED) {
        let [path, other] = [one, two].map(|source| &profile.sources[*source].path);
        let all = rows[*two].len() as u64;
        let what = match rows[*one].len() as u64 {
            whole if *launches == whole => "repeats",
            _ if *launches == all => "is part of",
            _ => "overlaps",
        };
        let all = counted(all, "launch", "launches");
        let launches = if what == "overlaps" { format!("{launches} of {all}") } else { all };
        profile.check(format!("{other} {what} {path}: {launches} at the same times; counted once"));
    }
    if told.len() > NAMED {
        let more = (told.len() - NAMED) as u64;
        let more = counted(
            more,
            "more trace is part of another or overlaps it",
            "more traces are parts of others or overlap them",
        );
        profile.check(format!("{more}; counted once"));
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Input, Options, read};

    const HEADER: &str = "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Bytes (MB),Device,Ctx,Strm,Name\n";

    /// Launch `at` of a trace of a GPU, or a copy to it.
    fn row(at: u32, gpu: u32) -> String {
        if at % 5 == 4 {
            return format!(
                "{at}000,{},{at},,,,,,,0.5,A100 SXM4 40GB ({gpu}),1,7,[CUDA memcpy HtoD]\n",
                70 + at
            );
        }
        format!(
            "{at}000,{},{at},64,1,1,128,1,1,,A100 SXM4 40GB ({gpu}),1,7,k{}\n",
            500 + at,
            at % 3
        )
    }

    fn table(rows: impl Iterator<Item = u32>) -> String {
        HEADER.to_owned() + &rows.map(|at| row(at, 0)).collect::<String>()
    }

    /// Launches, copies and notes of several files.
    fn left(texts: &[&str]) -> (usize, usize, Vec<String>) {
        let name = |at: usize| ["a.csv", "b.csv", "c.csv"][at];
        let inputs = texts.iter().enumerate().map(|(at, text)| Input::text(name(at), text));
        let profile = read(&inputs.collect::<Vec<_>>(), &Options::default()).unwrap();
        (profile.launches.len(), profile.activities.len(), profile.checks)
    }

    #[test]
    fn a_part_of_a_trace_counts_once_in_any_order_of_rows_and_files() {
        let whole = table(0..20);
        let named = |part: &str, whole: &str, launches: u32| {
            format!(
                "{part} is part of {whole}: {launches} launches at the same times; counted once"
            )
        };
        for (part, launches) in [
            (table(7..13), 5),
            (table((3..20).rev()), 13),
            (table((0..20).filter(|at| at % 3 == 1)), 5),
        ] {
            assert_eq!(left(&[&whole, &part]), (16, 4, vec![named("b.csv", "a.csv", launches)]));
            assert_eq!(left(&[&part, &whole]), (16, 4, vec![named("a.csv", "b.csv", launches)]));
        }
        // All of it, sorted otherwise.
        let sorted = table((0..20).rev());
        let note = "b.csv repeats a.csv: 16 launches at the same times; counted once";
        assert_eq!(left(&[&whole, &sorted]), (16, 4, vec![note.to_owned()]));
    }

    #[test]
    fn two_parts_that_overlap_are_put_together() {
        let (one, two) = (table(0..12), table(8..20));
        let note = "b.csv overlaps a.csv: 3 of 9 launches at the same times; counted once";
        assert_eq!(left(&[&one, &two]), (16, 4, vec![note.to_owned()]));
        let (launches, copies, notes) = left(&[&one, &two, &table(0..20)]);
        assert_eq!((launches, copies, notes.len()), (16, 4, 2));
    }

    #[test]
    fn another_run_or_gpu_counts() {
        let whole = table(0..20);
        let change = |old: &str, new: &str| table(7..13).replace(old, new);
        for other in [
            // One of five launches took a nanosecond longer; another kernel; another grid; another stream.
            change(",508,", ",509,"),
            change(",1,7,k2", ",1,7,k1"),
            change(",64,1,1,", ",32,1,1,"),
            change(",1,7,k", ",1,8,k"),
            change("(0)", "(1)"),
            // One launch says too little.
            table(7..8),
        ] {
            let launches = other.matches(",k").count();
            assert_eq!(left(&[&whole, &other]).0, 16 + launches, "{other}");
        }
        // Two of five launches next to each other.
        let few = table(7..13)
            .replace(",507,", ",607,")
            .replace(",508,", ",608,")
            .replace(",512,", ",612,");
        assert_eq!(left(&[&whole, &few]).0, 21);
        // Two launches of a longer part, among others.
        let few = table(7..13).replace(",507,", ",607,").replace(",511,", ",611,");
        assert_eq!(left(&[&whole, &few]).0, 21);
    }
}
