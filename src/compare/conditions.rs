//! What makes a comparison doubtful, beside its numbers: how the sides were measured, and whether whole.

use std::collections::BTreeMap;

use super::run::{Run, RunFile, RunKernel};
use crate::model::Profiler;

/// Whether a run of the current side looks cut off: like the beginning of a run of the baseline, or read
/// with records that could not be used and fewer launches than any run of the baseline.
pub(super) fn cut_off(baseline: &[Run], current: &[Run]) -> Option<String> {
    current.iter().find_map(|part| {
        let least = baseline.iter().map(|run| run.launches).min()?;
        let most_unused = baseline.iter().map(unused).max()?;
        if part.launches < least && unused(part) > most_unused {
            return Some(format!(
                "{} has {} launches where the baseline has {least}, and {} records or cells of it could \
                 not be used",
                part.label,
                part.launches,
                unused(part)
            ));
        }
        // One run of the baseline is enough: repeated runs launch the same.
        let whole = baseline.iter().find(|whole| is_beginning(part, whole))?;
        Some(format!(
            "{} is the beginning of {}: {} of {} launches, and then nothing",
            part.label, whole.label, part.launches, whole.launches
        ))
    })
}

/// Records and cells of a run that could not be used.
fn unused(run: &Run) -> u64 {
    run.files.iter().map(|file| file.skipped).sum()
}

/// Every kernel that ends before the place of the cut is whole, every kernel that begins behind it is
/// gone, and nothing is new.
fn is_beginning(part: &Run, whole: &Run) -> bool {
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
    let as_in_the_whole = whole.kernels.iter().all(|kernel| {
        let there = known.remove(&key(kernel));
        match there {
            Some(launches) => {
                kernel.rows[0] < end && (kernel.rows[1] >= end || launches == kernel.launches)
            }
            None => kernel.rows[0] >= end,
        }
    });
    as_in_the_whole && known.is_empty()
}

/// What makes a comparison doubtful.
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
            "the sides were measured differently: the baseline by {one}, the current side by {two}"
        ));
    }
    // The other way round it fails; a baseline that was cut off makes everything look slower, or less.
    let least = current.iter().map(|run| run.launches).min().unwrap_or(0);
    let most_unused = current.iter().map(unused).max().unwrap_or(0);
    for run in baseline.iter().filter(|run| run.launches < least && unused(run) > most_unused) {
        doubts.push(format!(
            "{} of the baseline has {} launches where the current side has {least}, and {} records or \
             cells of it could not be used: was it cut off?",
            run.label,
            run.launches,
            unused(run)
        ));
    }
    let warmup = |runs: &[Run]| runs.iter().map(|run| run.warmup).max().unwrap_or(0);
    let (one, two) = (warmup(baseline), warmup(current));
    if one != two {
        doubts.push(format!(
            "{one} first launches of each kernel were left out of the baseline, {two} of the current side"
        ));
    }
    doubts
}

/// What took the measurement; where that is not known, the format stands for it.
fn instrument(file: &RunFile) -> &str {
    match file.profiler {
        Profiler::Other | Profiler::Rooflint => &file.format,
        known => known.label(),
    }
}

/// What a reader must know.
pub(super) fn notes(baseline: &[Run], current: &[Run], order: &[bool]) -> Vec<String> {
    let mut notes = Vec::new();
    let same: Vec<&str> = current
        .iter()
        .filter(|run| baseline.iter().any(|known| known.fingerprint == run.fingerprint))
        .map(|run| run.label.as_str())
        .collect();
    if !same.is_empty() {
        notes.push(format!(
            "{}: the same measurement is on both sides, so that nothing can differ; compare with an \
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
    let (one, two) = (ceilings(baseline), ceilings(current));
    if one != two {
        notes.push(format!(
            "headrooms are not comparable: the baseline's roofs are {one}, the current side's {two}"
        ));
    }
    if baseline.len() + current.len() > 2 && order.is_empty() {
        notes.push(
            "the order of the runs was not declared: a drift while they were taken cannot be told from \
             a change; take them in turns and say so with --order, such as ABBA"
                .to_owned(),
        );
    }
    notes
}
