//! Conditions that make a comparison doubtful: different measurement, truncated files.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::Evidence;
use super::lost::{cut_rank, lost_ranks, missing_ranks};
use super::run::{Run, RunFile, RunKernel};
use super::shared::RUNS_THAT_DRIFT;
use crate::model::Profiler;
use crate::plain::counted;
use crate::units::change;

/// Metrics that a sentence names.
const NAMED: usize = 3;

/// What ends a sentence about a run that has less than another one.
const TRUNCATED: &str = ": truncated file?";

/// Returns why a run of the current side looks truncated: it has unusable records and fewer launches than any baseline
/// run, one of its ranks lacks launches that ranks like it have, it lacks ranks, or it equals the beginning of a baseline
/// run.
pub(crate) fn cut_off(baseline: &[Run], current: &[Run]) -> Option<String> {
    let ends_alike = all_end_alike(current);
    current.iter().find_map(|part| {
        let least = baseline.iter().map(|run| run.launches).min()?;
        let most_unused = baseline.iter().map(unused).max()?;
        if part.launches < least && unused(part) > most_unused {
            let Run { label, launches, .. } = part;
            return Some(format!(
                "{label} has {}, the baseline has {least}, and {}{TRUNCATED}",
                counted(*launches, "launch", "launches"),
                unusable(part)
            ));
        }
        let cut = |whole| cut_rank(part, whole).map(|cut| cut + TRUNCATED);
        // A file that is missing is not one that was truncated.
        let of_ranks = |whole| cut(whole).or_else(|| lost_ranks(part, whole));
        if let Some(cut) = baseline.iter().find_map(of_ranks) {
            return Some(cut);
        }
        // Runs that all end there were perhaps not cut off: the program may end there now.
        if ends_alike {
            return None;
        }
        // One run of the baseline is enough: repeated runs launch the same.
        let whole = baseline.iter().find(|whole| is_beginning(part, whole))?;
        Some(ends_early(part, whole) + TRUNCATED)
    })
}

/// Returns that all runs of the current side are the beginning of a baseline run: what cuts one run off may cut all of
/// them at the same launch.
pub(super) fn cut_alike(baseline: &[Run], current: &[Run]) -> Option<String> {
    let whole = |part: &Run| baseline.iter().find(|whole| is_beginning(part, whole));
    if !all_end_alike(current) || !current.iter().all(|part| whole(part).is_some()) {
        return None;
    }
    let (part, whole) = (&current[0], whole(&current[0])?);
    Some(format!(
        "the {} runs of the current side match the beginning of {} and all end after {} of {} launches: cut off by a \
         limit of time or launches, or the program ends there now",
        current.len(),
        whole.label,
        part.launches,
        whole.launches
    ))
}

/// Whether there are several runs, and all have as many launches.
fn all_end_alike(runs: &[Run]) -> bool {
    runs.len() > 1 && runs.iter().all(|run| run.launches == runs[0].launches)
}

/// Says that a run is the beginning of another one, and which of its ranks it lacks.
fn ends_early(part: &Run, whole: &Run) -> String {
    let lacks = missing_ranks(part, whole);
    let lacks = lacks.map_or_else(String::new, |missing| format!("; it lacks {missing}"));
    format!(
        "{} matches the beginning of {} and ends after {} of {} launches{lacks}",
        part.label, whole.label, part.launches, whole.launches
    )
}

/// Says how many records and cells of a run could not be used, and of which of its files.
fn unusable(run: &Run) -> String {
    let first = run.files.iter().find(|file| file.skipped > 0 && run.files.len() > 1);
    match (unused(run), first) {
        (1, None) => "1 of its records or cells was unusable".to_owned(),
        (1, Some(file)) => format!("1 of its records or cells was unusable, in {}", file.path),
        (all, None) => format!("{all} of its records or cells were unusable"),
        (all, Some(file)) => {
            format!("{all} of its records or cells were unusable, the first in {}", file.path)
        }
    }
}

/// Counts records and cells of a run that could not be used.
fn unused(run: &Run) -> u64 {
    run.files.iter().map(|file| file.skipped).sum()
}

/// Returns `true` if `part` equals `whole` up to a cut: kernels before it are complete, kernels
/// after it are missing, and nothing is new.
pub(crate) fn is_beginning(part: &Run, whole: &Run) -> bool {
    let rows = |run: &Run| {
        let last = run.kernels.iter().map(|kernel| kernel.rows[1].saturating_add(1));
        last.max().unwrap_or(0)
    };
    let end = rows(part);
    if end >= rows(whole) || part.launches >= whole.launches {
        return false;
    }
    let key = |kernel: &RunKernel| {
        (
            kernel.full_name.clone(),
            kernel.operator.clone(),
            kernel.grid,
            kernel.block,
            kernel.blocks,
        )
    };
    let mut known: BTreeMap<_, u64> = BTreeMap::new();
    for kernel in &part.kernels {
        *known.entry(key(kernel)).or_default() += kernel.launches;
    }
    // Of several devices each has a kernel of its own with the same key.
    let mut all: BTreeMap<_, (u64, [u64; 2])> = BTreeMap::new();
    for kernel in &whole.kernels {
        let (launches, rows) = all.entry(key(kernel)).or_insert((0, [u64::MAX, 0]));
        *launches += kernel.launches;
        *rows = [rows[0].min(kernel.rows[0]), rows[1].max(kernel.rows[1])];
    }
    let as_in_the_whole = all.iter().all(|(key, (launches, rows))| match known.remove(key) {
        Some(there) => rows[0] < end && (rows[1] >= end || there == *launches),
        None => rows[0] >= end,
    });
    as_in_the_whole && known.is_empty()
}

/// Returns how many first launches of each kernel the runs of a side leave out.
pub(super) fn warmup(runs: &[Run]) -> u32 {
    runs.iter().map(|run| run.warmup).max().unwrap_or(0)
}

/// Lists differences between the sides that make a comparison doubtful.
pub(super) fn doubts(baseline: &[Run], current: &[Run]) -> Vec<String> {
    let mut doubts = Vec::new();
    let formats = |runs: &[Run]| {
        let mut formats: Vec<String> = runs
            .iter()
            .flat_map(|run| &run.files)
            .map(|file| instrument(file).to_owned())
            .collect();
        formats.sort_unstable();
        formats.dedup();
        formats.join(" and ")
    };
    let (one, two) = (formats(baseline), formats(current));
    if one != two {
        doubts.push(format!(
            "the sides were measured with different tools: the baseline with {one}, the current \
             side with {two}"
        ));
    }
    // The other way round it fails; a baseline that was cut off makes everything look slower, or less.
    let least = current.iter().map(|run| run.launches).min().unwrap_or(0);
    let most_unused = current.iter().map(unused).max().unwrap_or(0);
    for run in baseline.iter().filter(|run| run.launches < least && unused(run) > most_unused) {
        let Run { label, launches, .. } = run;
        doubts.push(format!(
            "{label} of the baseline has {}, the current side has {least}, and {}{TRUNCATED}",
            counted(*launches, "launch", "launches"),
            unusable(run)
        ));
    }
    let rank = |run: &Run| current.iter().find_map(|whole| cut_rank(run, whole));
    doubts.extend(baseline.iter().find_map(rank).map(|cut| cut + TRUNCATED));
    let (one, two) = (warmup(baseline), warmup(current));
    if one != two {
        let [one, two] = [one, two].map(|first| match first {
            0 => "none".to_owned(),
            _ => format!("the first {first}"),
        });
        doubts.push(format!(
            "warm-up differs: of the launches of each kernel, the baseline excludes {one}, the current side {two}"
        ));
    }
    doubts
}

/// Returns the tool that took the measurement, or the format if the tool is unknown.
fn instrument(file: &RunFile) -> &str {
    match file.profiler {
        Profiler::Other | Profiler::Rooflint => &file.format,
        known => known.label(),
    }
}

/// Says what became of the drift over the declared order of the runs.
pub(super) fn drift(total: &Evidence, order: &[bool]) -> Option<String> {
    let letters = letters(order)?;
    let runs = total.before + total.after;
    Some(match total.drift {
        Some(drift) => format!(
            "in the order {letters} the total drifts by {} from each run to the next; this is subtracted from its change",
            change(drift.change())
        ),
        None if runs < RUNS_THAT_DRIFT => format!(
            "{runs} runs are too few to tell drift from a change; {RUNS_THAT_DRIFT} in turns are enough, such as ABBA"
        ),
        None => format!(
            "the order {letters} cannot tell drift from a change; alternate the runs, such as ABBA or ABAB"
        ),
    })
}

/// The declared order of the runs as letters: A baseline, B current.
pub(super) fn letters(order: &[bool]) -> Option<String> {
    let letters: String = order.iter().map(|later| if *later { 'B' } else { 'A' }).collect();
    Some(letters).filter(|letters| !letters.is_empty())
}

/// Lists caveats of the comparison.
pub(super) fn notes(baseline: &[Run], current: &[Run], order: &[bool]) -> Vec<String> {
    let mut notes = Vec::new();
    let same: Vec<&str> = current
        .iter()
        .filter(|run| baseline.iter().any(|known| known.is_measurement_of(run)))
        .map(|run| run.label.as_str())
        .collect();
    if !same.is_empty() {
        notes.push(format!(
            "{}: both sides contain the same measurement, so nothing can differ; compare with an \
             earlier run",
            same.join(", ")
        ));
    }
    let ceilings = |runs: &[Run]| {
        let mut sets: Vec<&str> = runs.iter().map(|run| run.ceilings.as_str()).collect();
        sets.sort_unstable();
        sets.dedup();
        sets.join(" and ")
    };
    let cut = baseline.iter().find_map(|part| {
        let whole = current.iter().find(|whole| is_beginning(part, whole))?;
        Some(format!(
            "{} of the baseline matches the beginning of {} and ends after {} of {} launches: the program does more \
             now, or the baseline was cut off",
            part.label, whole.label, part.launches, whole.launches
        ))
    });
    notes.extend(cut);
    let (one, two) = (ceilings(baseline), ceilings(current));
    if one != two {
        notes.push(format!(
            "headroom is not comparable: the baseline uses {one} roofs, the current side {two}"
        ));
    }
    if baseline.len() + current.len() > 2 && order.is_empty() {
        notes.push(
            "the order of the runs was not declared, so drift cannot be separated from a change; \
             alternate the runs and pass their order, such as --order ABBA"
                .to_owned(),
        );
    }
    notes.extend(
        [("baseline", baseline), ("current side", current)].into_iter().filter_map(untimed),
    );
    notes.extend(settings(baseline, current));
    notes
}

/// Returns how launches count whose kernel has times of others.
fn untimed((side, runs): (&str, &[Run])) -> Option<String> {
    let (mut missing, mut all) = (0, 0);
    for run in runs {
        for kernel in run.kernels.iter().filter(|kernel| kernel.timed > 0) {
            let wanted = kernel.warm_launches(run.warmup);
            missing += wanted.saturating_sub(kernel.timed);
            all += wanted;
        }
    }
    (missing > 0).then(|| {
        let have = if missing == 1 { "launch has" } else { "launches have" };
        format!(
            "{missing} of {all} {have} no duration on the {side}; in times of all launches each counts as the mean of \
             its kernel"
        )
    })
}

/// Returns how the profiler's settings and the collected quantities of the sides differ, as far as the
/// exports state them, and what warm-up leaves.
fn settings(baseline: &[Run], current: &[Run]) -> Vec<String> {
    let sides = [("baseline", baseline), ("current side", current)];
    let mut notes = Vec::new();
    let controls = sides.map(|(_, runs)| {
        let files = runs.iter().flat_map(|run| &run.files);
        files.flat_map(|file| &file.controls).map(String::as_str).collect::<BTreeSet<&str>>()
    });
    for ((side, _), (own, other)) in
        sides.iter().zip([(&controls[0], &controls[1]), (&controls[1], &controls[0])])
    {
        notes.extend(own.difference(other).map(|control| {
            format!(
                "only the exports of the {side} state: {control}; compare runs with equal settings"
            )
        }));
    }
    let quantities = sides.map(|(_, runs)| {
        let all = runs.iter().flat_map(|run| &run.quantities);
        all.map(String::as_str).collect::<BTreeSet<&str>>()
    });
    // Documents of earlier versions do not state them.
    if quantities.iter().all(|known| !known.is_empty()) {
        for (at, (side, _)) in sides.iter().enumerate() {
            let missing: Vec<&str> =
                quantities[1 - at].difference(&quantities[at]).copied().collect();
            if !missing.is_empty() {
                let named: Vec<&str> = missing.iter().take(NAMED).copied().collect();
                let more = missing.len() - named.len();
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                notes.push(format!(
                    "the {side} lacks metrics that the other side has: {}{more}; collect the same \
                     sections on both sides",
                    named.join(", ")
                ));
            }
        }
    }
    for (side, runs) in sides {
        notes.extend(runs.iter().find_map(|run| after_warmup(run, side)));
    }
    notes
}

/// Returns a caveat if the warm-up left a single launch of kernels that have more.
fn after_warmup(run: &Run, side: &str) -> Option<String> {
    let is_single = |kernel: &&RunKernel| kernel.timed == 1 && kernel.launches > 1;
    let single: Vec<&RunKernel> = run.kernels.iter().filter(is_single).collect();
    if run.warmup == 0 || single.is_empty() {
        return None;
    }
    let kernels =
        if single.len() == 1 { "1 kernel".to_owned() } else { format!("{} kernels", single.len()) };
    Some(format!(
        "--warmup {} leaves a single launch of {kernels} in {} ({side}), such as {}: single launches are \
         noisy; profile more launches or skip fewer",
        run.warmup, run.label, single[0].name
    ))
}

#[cfg(test)]
mod tests {
    use super::super::made::{kernel, run};
    use super::*;

    fn file(profiler: Profiler, format: &str, skipped: u64) -> RunFile {
        let (path, format) = ("run.csv".to_owned(), format.to_owned());
        RunFile { path, format, profiler, files: 1, launches: 4, skipped, controls: Vec::new() }
    }

    /// A kernel with so many launches in these rows of its run.
    fn at(name: &str, launches: usize, rows: [u64; 2]) -> RunKernel {
        RunKernel { rows, ..kernel(name, &vec![1e-3; launches]) }
    }

    /// Rows: a, b, b, c. A file cut behind the second ends in the middle of b.
    #[test]
    fn a_run_that_stops_in_the_middle_of_another_is_cut_off() {
        let whole = run(vec![at("a", 1, [0, 0]), at("b", 2, [1, 2]), at("c", 1, [3, 3])]);
        let part = run(vec![at("a", 1, [0, 0]), at("b", 1, [1, 1])]);
        let cut = |part: &Run| cut_off(std::slice::from_ref(&whole), std::slice::from_ref(part));
        assert!(
            cut(&part).unwrap().contains("the beginning of run.csv and ends after 2 of 4 launches")
        );
        assert_eq!(cut(&whole), None);
        // The other way round the program may have grown.
        let of =
            |one: &Run, two: &Run| notes(std::slice::from_ref(one), std::slice::from_ref(two), &[]);
        let found = of(&part, &whole);
        assert!(found.iter().any(|note| note.contains("or the baseline was cut off")), "{found:?}");
        assert!(of(&whole, &part).iter().all(|note| !note.contains("cut off")));
        // Fewer launches of what was over by then are a change, and so is anything new.
        let fewer = run(vec![at("b", 1, [0, 1])]);
        let other = run(vec![at("a", 1, [0, 0]), at("d", 1, [1, 1])]);
        assert_eq!((cut(&fewer), cut(&other)), (None, None));
    }

    /// Rows: a on each of two devices, then b on each: a kernel of both is cut off as one is.
    #[test]
    fn a_run_on_two_devices_is_cut_off_too() {
        let on = |device, one: RunKernel| RunKernel { device, ..one };
        let whole = run(vec![
            on(0, at("a", 2, [0, 2])),
            on(1, at("a", 2, [1, 3])),
            on(0, at("b", 2, [4, 6])),
            on(1, at("b", 2, [5, 7])),
        ]);
        let a = || [on(0, at("a", 2, [0, 2])), on(1, at("a", 2, [1, 3]))];
        let b = || [on(0, at("b", 1, [4, 4])), on(1, at("b", 1, [5, 5]))];
        assert!(is_beginning(&run(a().into_iter().chain(b()).collect()), &whole));
        // One launch of a is not there, although it was over.
        let fewer = [on(0, at("a", 2, [0, 2])), on(1, at("a", 1, [1, 1]))];
        assert!(!is_beginning(&run(fewer.into_iter().chain(b()).collect()), &whole));
    }

    #[test]
    fn fewer_launches_with_more_unread_records_are_cut_off_too() {
        let side = |launches: usize, skipped: u64| {
            let mut one = run(vec![kernel("a", &vec![1e-3; launches])]);
            one.files = vec![file(Profiler::Other, "mapped", skipped)];
            [one]
        };
        let found = cut_off(&side(4, 1), &side(3, 2)).unwrap();
        assert!(
            found.contains("has 3 launches, the baseline has 4, and 2 of its records"),
            "{found}"
        );
        let single = cut_off(&side(4, 1), &side(1, 2)).unwrap();
        assert!(single.contains("has 1 launch, the baseline has 4, and"), "{single}");
        let one = cut_off(&side(4, 0), &side(3, 1)).unwrap();
        let says = ", and 1 of its records or cells was unusable: truncated file?";
        assert!(one.ends_with(says), "{one}");
        assert_eq!(cut_off(&side(4, 2), &side(3, 2)), None);
        // The other way round it is the baseline that makes everything look slower.
        assert_eq!(cut_off(&side(3, 2), &side(4, 1)), None);
        let [doubt] = &doubts(&side(3, 2), &side(4, 1))[..] else { panic!("one doubt") };
        assert!(doubt.ends_with("truncated file?"), "{doubt}");
    }

    /// Of kernels at launches 0, 1 and 2 the last is gone in all runs; one run alone is cut off.
    #[test]
    fn runs_that_all_end_early_are_doubted() {
        let of = |names: &[&str]| {
            let kernels = names.iter().enumerate().map(|(at, name)| {
                let at = at as u64;
                RunKernel { rows: [at, at], ..kernel(name, &[1e-3]) }
            });
            run(kernels.collect())
        };
        let (whole, part) = ([of(&["a", "b", "c"])], of(&["a", "b"]));
        let twice = [part.clone(), part.clone()];
        assert_eq!((cut_off(&whole, &twice), cut_alike(&whole, &twice).is_some()), (None, true));
        let alone = [part.clone()];
        assert_eq!((cut_off(&whole, &alone).is_some(), cut_alike(&whole, &alone)), (true, None));
        let says = cut_alike(&whole, &twice).unwrap();
        let compared = |current: &[Run]| {
            let compared =
                super::super::compare(&whole, current, &super::super::Setting::default());
            compared.doubts.contains(&says)
        };
        assert!(compared(&twice) && !compared(&[whole[0].clone(), whole[0].clone()]));
        assert!(says.contains("all end after 2 of 3 launches: cut off by a limit"), "{says}");
        // Other kernels at the end are another program.
        let other = of(&["a", "d"]);
        assert_eq!(cut_alike(&whole, &[other.clone(), other]), None);
    }

    #[test]
    fn sides_measured_in_different_ways_are_doubted() {
        let side = |profiler, format, warmup| {
            let files = vec![file(profiler, format, 0)];
            [Run { files, warmup, ..run(vec![kernel("a", &[1e-3])]) }]
        };
        let (long, wide) = (
            side(Profiler::NsightCompute, "ncu-long", 0),
            side(Profiler::NsightCompute, "ncu-wide", 0),
        );
        assert_eq!(doubts(&long, &wide), Vec::<String>::new(), "one tool, two pages of it");
        let mapped = side(Profiler::Other, "mapped", 3);
        let found = doubts(&long, &mapped);
        assert!(
            found[0].ends_with("with Nsight Compute, the current side with mapped"),
            "{found:?}"
        );
        assert!(found[1].ends_with("excludes none, the current side the first 3"), "{found:?}");
    }

    #[test]
    fn a_reader_learns_what_keeps_runs_from_being_compared() {
        let one = || run(vec![kernel("a", &[1e-3])]);
        let other = || run(vec![kernel("a", &[1.1e-3])]);
        assert_eq!(notes(&[one()], &[other()], &[]), Vec::<String>::new());
        assert!(
            notes(&[one()], &[one()], &[])[0].contains("both sides contain the same measurement")
        );
        let achievable = Run { ceilings: "achievable".to_owned(), ..other() };
        let found = notes(&[one()], &[achievable], &[]);
        assert!(found[0].contains("uses spec roofs, the current side achievable"), "{found:?}");
        let two = [other(), run(vec![kernel("a", &[1.2e-3])])];
        assert!(notes(&[one()], &two, &[])[0].contains("order of the runs was not declared"));
        assert_eq!(notes(&[one()], &two, &[false, true, true]), Vec::<String>::new());
    }

    #[test]
    fn settings_and_metrics_that_differ_are_said() {
        let with = |controls: &[&str], quantities: &[&str]| {
            let mut one = run(vec![kernel("a", &[1e-3])]);
            let controls = controls.iter().map(|text| (*text).to_owned()).collect();
            one.files = vec![RunFile { controls, ..file(Profiler::NsightCompute, "ncu-wide", 0) }];
            one.quantities = quantities.iter().map(|text| (*text).to_owned()).collect();
            [one]
        };
        let free = "GPU clocks were not locked (--clock-control none)";
        let [clocks, metrics] =
            &settings(&with(&[free], &["time_s", "dram_bytes"]), &with(&[], &["time_s"]))[..]
        else {
            panic!("two notes")
        };
        assert!(
            clocks.starts_with("only the exports of the baseline state: GPU clocks"),
            "{clocks}"
        );
        assert!(
            metrics.contains("the current side lacks metrics") && metrics.contains("dram_bytes")
        );
        // What an earlier version did not keep says nothing.
        assert_eq!(settings(&with(&[], &[]), &with(&[], &["time_s"])), Vec::<String>::new());
    }

    #[test]
    fn a_warmup_that_leaves_one_launch_is_said() {
        let of = |timed: u64| {
            let mut one = run(vec![kernel("a", &[1e-3; 4])]);
            (one.warmup, one.kernels[0].timed) = (3, timed);
            after_warmup(&one, "baseline")
        };
        assert!(
            of(1).unwrap().starts_with("--warmup 3 leaves a single launch of 1 kernel in run.csv")
        );
        assert_eq!(of(2), None);
    }
}
