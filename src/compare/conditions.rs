//! What makes a comparison doubtful, beside its numbers: how the sides were measured, and whether whole.

use super::pairing::Pairing;
use super::run::Run;
use super::sides::{Group, Runs};

/// Whether the current side looks like the beginning of the baseline: every kernel that ends before the
/// place of the cut is whole, every kernel that begins behind it is gone, and nothing is new.
pub(super) fn cut_off(
    baseline: &[Run],
    current: &[Run],
    pairing: &Pairing,
    (before, after): (&Runs<'_>, &Runs<'_>),
) -> Option<String> {
    let skipped: u64 = current.iter().flat_map(|run| &run.files).map(|file| file.skipped).sum();
    let before_skipped: u64 =
        baseline.iter().flat_map(|run| &run.files).map(|file| file.skipped).sum();
    let rows = |run: &Run| run.kernels.iter().map(|kernel| kernel.rows[1] + 1).max().unwrap_or(0);
    let (whole, part) = (baseline.first()?, current.first()?);
    let (length, end) = (rows(whole), rows(part));
    if skipped > before_skipped && part.launches < whole.launches {
        return Some(format!(
            "the current side has {} of {} launches, and {skipped} records or cells of it could not be \
             used",
            part.launches, whole.launches
        ));
    }
    if end >= length || !pairing.new.is_empty() || baseline.len() != 1 || current.len() != 1 {
        return None;
    }
    let whole_until_there = pairing.pairs.iter().all(|pair| {
        let (one, two) = (before.of(&pair.before), after.of(&pair.after));
        let last = one.all().map(|kernel| kernel.rows[1]).max().unwrap_or(0);
        let launches = |group: &Group<'_>| group.all().map(|kernel| kernel.launches).sum::<u64>();
        let first = one.all().map(|kernel| kernel.rows[0]).min().unwrap_or(0);
        first < end && (last >= end || launches(&one) == launches(&two))
    });
    let gone = before.of(&pairing.vanished);
    let gone_behind = gone.all().all(|kernel| kernel.rows[0] >= end);
    (whole_until_there && gone_behind && part.launches < whole.launches).then(|| {
        format!(
            "the current side is the beginning of the baseline: {} of {} launches, and then nothing",
            part.launches, whole.launches
        )
    })
}

/// What makes a comparison doubtful.
pub(super) fn doubts(baseline: &[Run], current: &[Run]) -> Vec<String> {
    let mut doubts = Vec::new();
    let formats = |runs: &[Run]| {
        let mut formats: Vec<String> = runs
            .iter()
            .flat_map(|run| &run.files)
            .map(|file| instrument(&file.format).to_owned())
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
    let warmup = |runs: &[Run]| runs.iter().map(|run| run.warmup).max().unwrap_or(0);
    let (one, two) = (warmup(baseline), warmup(current));
    if one != two {
        doubts.push(format!(
            "{one} first launches of each kernel were left out of the baseline, {two} of the current side"
        ));
    }
    doubts
}

/// What took the measurement, as far as the format tells.
fn instrument(format: &str) -> &str {
    match format {
        format if format.starts_with("ncu") => "Nsight Compute",
        format if format.starts_with("pyprof") => "PyProf",
        format => format,
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
