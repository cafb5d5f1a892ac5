//! One run of a program that several files tell of: a trace, counters, launch tables and copies of any of them, in any
//! order. What is given twice counts once, and what is given in parts comes together.

use std::collections::BTreeMap;
use std::io::Write;

use rooflint::model::{Dim3, Pipe, Profile, Quantity};
use rooflint::table::Table;

use super::choices::Choices;
use super::dialects::{self, Numbers};
use super::launches::{Truth, launches};
use super::oracles::{check, is_chosen, judge, read_files, sorted_rows};
use super::sheet::{Rows, Sheet};
use super::traces::{Form, Started, sums, trace};

/// The launches of a program: with every figure, some of the same kernel, and no two kernels whose names are alike.
fn program(choices: &mut Choices<'_>) -> Vec<Truth> {
    let mut all = launches(choices);
    for at in 0..all.len() {
        let same = choices.index(at + 1);
        let first = all[same].clone();
        let launch = &mut all[at];
        launch.process = 60_000;
        if same < at {
            launch.kernel = first.kernel;
            (launch.grid, launch.block) = (first.grid, first.block);
        } else {
            // What stands before a blank is the type of a function, and not its name.
            launch.kernel = format!("k{at}_{}", launch.kernel.replace(' ', "_"));
        }
        launch.nanoseconds.get_or_insert(1);
        launch.bytes.get_or_insert([1, 1]);
        launch.instructions.get_or_insert([1, 1, 1]);
    }
    all
}

/// The launches as a trace of one rank has them, one after the other. No two ranks take the same time.
fn started(program: &[Truth], rank: u32, choices: &mut Choices<'_>) -> Vec<Started> {
    let mut start = 1_000_000 + choices.amount(6);
    let mut all = Vec::new();
    for launch in program {
        let longer = 2 * choices.below(1000) + u64::from(rank);
        let nanoseconds = 2 * launch.nanoseconds.unwrap_or_default() + longer;
        all.push(Started { launch: launch.clone(), rank, start, nanoseconds });
        start += nanoseconds + choices.below(100_000);
    }
    all
}

/// Now and then the first of several launches: an export that overlaps another.
fn part<'a, T>(launches: &'a [T], choices: &mut Choices<'_>) -> Option<&'a [T]> {
    let is_chosen = launches.len() > 1 && choices.once_in(6);
    is_chosen.then(|| &launches[..=choices.index(launches.len() - 1)])
}

/// Now and then some launches in a row, or the last first: what `head` and `tail`, or a sort, make of a table.
fn excerpt(launches: &[Started], choices: &mut Choices<'_>) -> Option<Vec<Started>> {
    if !choices.once_in(6) {
        return None;
    }
    let first = choices.index(launches.len());
    let end = first + 1 + choices.index(launches.len() - first);
    let mut some = launches[first..end].to_vec();
    if choices.once_in(3) {
        some.reverse();
    }
    Some(some)
}

/// The exports of Nsight Compute: all counters of a run, or bytes and operations of a run each.
fn counters(program: &[Truth], choices: &mut Choices<'_>) -> Vec<Vec<u8>> {
    let mut runs = vec![program.to_vec()];
    if choices.once_in(2) {
        let mut other = program.to_vec();
        for (one, two) in runs[0].iter_mut().zip(&mut other) {
            one.instructions = None;
            two.bytes = None;
            two.process += 1;
            // Counting instructions takes longer.
            two.nanoseconds = two.nanoseconds.map(|time| time + 1 + choices.below(1000));
        }
        runs.push(other);
    }
    let mut parts: Vec<Vec<Truth>> = if runs.len() > 1 && choices.once_in(2) {
        vec![runs.concat()]
    } else if runs.len() == 1 && choices.once_in(3) {
        let (one, two) = program.split_at(program.len() / 2);
        [one.to_vec(), two.to_vec()].into_iter().filter(|part| !part.is_empty()).collect()
    } else {
        runs
    };
    if let Some(part) = part(&parts[0], choices) {
        let part = part.to_vec();
        parts.push(part);
    }
    let mut files = Vec::new();
    for part in parts {
        let numbers = Numbers::choose(choices);
        let rows: Rows = if choices.once_in(2) {
            dialects::wide(&part, numbers, choices)
        } else {
            dialects::long(&part, numbers, choices)
        };
        files.push(Sheet::choose(choices, true).write(&rows));
    }
    files
}

/// What `rooflint convert` makes of files.
fn converted(files: &[Vec<u8>], choices: &mut Choices<'_>) -> Vec<u8> {
    let profile = read_files(files).expect("no export is refused");
    let table = Table::of(&profile);
    if choices.once_in(2) { table.json().into_bytes() } else { table.csv().into_bytes() }
}

fn compressed(file: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    // Writing to memory cannot fail.
    let _ = writer.write_all(file);
    writer.finish().unwrap_or_default()
}

/// A kernel and its launch configuration.
type Work = (String, [u32; 3], [u32; 3]);

/// A launch as it must be read: nanoseconds, bytes, operations.
type Figures = (u64, Option<f64>, Option<f64>);

fn work(launch: &Truth) -> Work {
    (launch.kernel.clone(), launch.grid, launch.block)
}

/// What must be read, by kernel.
fn expected(
    program: &[Truth],
    traces: &[Vec<Started>],
    has_counters: bool,
) -> BTreeMap<Work, Vec<Figures>> {
    let mut all: BTreeMap<Work, Vec<Figures>> = BTreeMap::new();
    if traces.is_empty() {
        for one in program {
            let figures = (one.nanoseconds.unwrap_or_default(), one.dram_bytes(), one.flops());
            all.entry(work(one)).or_default().push(figures);
        }
    }
    for one in traces.iter().flatten() {
        let same = program.iter().filter(|other| work(other) == work(&one.launch));
        let same: Vec<&Truth> = if !has_counters {
            Vec::new()
        } else if traces.len() == 1 {
            vec![&one.launch]
        } else {
            // Of several ranks each launch gets the mean.
            same.collect()
        };
        let mean = |of: fn(&Truth) -> Option<f64>| {
            let values: Vec<f64> = same.iter().filter_map(|launch| of(launch)).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let figures = (one.nanoseconds, mean(Truth::dram_bytes), mean(Truth::flops));
        all.entry(work(&one.launch)).or_default().push(figures);
    }
    all
}

fn found(profile: &Profile) -> BTreeMap<Work, Vec<Figures>> {
    let mut all: BTreeMap<Work, Vec<Figures>> = BTreeMap::new();
    let extent = |of: Option<Dim3>| of.map_or([0; 3], |Dim3 { x, y, z }| [x, y, z]);
    for launch in profile.iter() {
        assert_eq!(launch.head.count, 1, "{}", launch.kernel());
        let shape = launch.head.shape;
        let work = (launch.kernel().to_owned(), extent(shape.grid), extent(shape.block));
        let time = launch.value(Quantity::Duration).unwrap_or_default();
        let figures = (
            (time * 1e9).round() as u64,
            launch.value(Quantity::DramBytes),
            launch.value(Quantity::Work(Pipe::Fp32Vector)),
        );
        all.entry(work).or_default().push(figures);
    }
    all
}

fn is_near(one: Option<f64>, two: Option<f64>) -> bool {
    match (one, two) {
        (Some(one), Some(two)) => (one - two).abs() <= 1e-12 * one.abs().max(two.abs()),
        (one, two) => one == two,
    }
}

/// Whether two lists hold the same, in any order.
fn are_the_same<T>(one: &[T], two: &[T], is_it: impl Fn(&T, &T) -> bool) -> bool {
    let mut left: Vec<&T> = two.iter().collect();
    let all = one.iter().all(|one| {
        let at = left.iter().position(|two| is_it(one, two));
        at.map(|at| left.swap_remove(at)).is_some()
    });
    all && left.is_empty()
}

fn is_as_expected(expected: &Figures, found: &Figures) -> bool {
    expected.0 == found.0 && is_near(expected.1, found.1) && is_near(expected.2, found.2)
}

/// The cells of a launch, by title.
type Cells = Vec<(String, String)>;

/// The cells of all launches, which do not depend on the order of files. Of two files of one launch the first gives its
/// numbers, and the last digits of its figures.
fn rows_of(profile: &Profile) -> Vec<Cells> {
    let mut rows = sorted_rows(profile);
    let titles = rows.remove(0);
    let cells = |row: Vec<String>| -> Cells {
        let cells = titles.iter().cloned().zip(row);
        cells.filter(|(title, _)| !matches!(title.as_str(), "process" | "id")).collect()
    };
    rows.into_iter().map(cells).collect()
}

fn says_the_same(one: &Cells, two: &Cells) -> bool {
    let number = |text: &str| text.parse::<f64>().ok();
    one.len() == two.len()
        && one.iter().zip(two).all(|((title, one), (other, two))| {
            title == other
                && (one == two || number(one).is_some() && is_near(number(one), number(two)))
        })
}

/// Files of one run, and of ranks of it.
pub(crate) fn joined(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let program = program(&mut choices);
    let (ranks, has_counters) =
        choices.pick(&[(1, true), (1, true), (0, true), (1, false), (2, true), (2, false)]);
    let mut files = Vec::new();
    let mut traces = Vec::new();
    let form = Form::choose(&mut choices);
    // One launch is not enough to see that two formats are of one run.
    let other = (program.len() > 1 && choices.once_in(4)).then(|| Form::choose(&mut choices));
    for rank in 0..ranks {
        let started = started(&program, rank, &mut choices);
        files.push(trace(&started, form, &mut choices));
        if let Some(other) = other.filter(|other| *other != form) {
            files.push(trace(&started, other, &mut choices));
        }
        if choices.once_in(6) {
            files.push(sums(&started, &mut choices));
        }
        if let Some(part) = part(&started, &mut choices) {
            files.push(trace(part, form, &mut choices));
        }
        if let Some(some) = excerpt(&started, &mut choices) {
            files.push(trace(&some, form, &mut choices));
        }
        traces.push(started);
    }
    if has_counters {
        files.extend(counters(&program, &mut choices));
    }
    for at in 0..files.len() {
        if choices.once_in(4) {
            files[at] = converted(&files[at..=at], &mut choices);
        }
    }
    if choices.once_in(2) {
        let at = choices.index(files.len());
        let one = &files[at];
        let is_compressed =
            [&b"\x1f\x8b"[..], b"\x28\xb5\x2f\xfd"].iter().any(|mark| one.starts_with(mark));
        files.push(match choices.index(4) {
            0 => one.clone(),
            1 if !is_compressed => compressed(one),
            2 => converted(&files, &mut choices),
            _ => converted(&files[at..=at], &mut choices),
        });
    }
    let in_order = files.clone();
    choices.shuffle(&mut files);
    let shown = || {
        files.iter().map(|file| String::from_utf8_lossy(file)).collect::<Vec<_>>().join("\n---\n")
    };
    let profile = read_files(&files).unwrap_or_else(|error| panic!("{error:?}: {}", shown()));
    let (expected, found) = (expected(&program, &traces, has_counters), found(&profile));
    let is_same = expected.keys().eq(found.keys())
        && expected
            .values()
            .zip(found.values())
            .all(|(expected, found)| are_the_same(expected, found, is_as_expected));
    assert!(
        is_same,
        "expected {expected:#?}, found {found:#?}, {:#?} {:#?} {}",
        profile.notes,
        profile.checks,
        shown()
    );
    let in_order = read_files(&in_order).expect("the same files are not refused");
    let (one, two) = (rows_of(&profile), rows_of(&in_order));
    assert!(
        are_the_same(&one, &two, says_the_same),
        "the order of files changes {one:#?} to {two:#?}, {:#?} {}",
        profile.checks,
        shown()
    );
    check(&profile);
    if is_chosen(bytes) {
        judge(&profile);
    }
}
