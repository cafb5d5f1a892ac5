//! Launches from before the trace: what they belong to, by the same launches of a later step.
//!
//! The host runs ahead of the GPU. What it launched before the profiler started ends within the trace, without the call and
//! the operator that it belongs to. A training loop does the same in each step, so that the end of another step has the same
//! launches in the same order, with their operators.

use std::collections::BTreeMap;

use super::event::Launch;
use super::gathered::{Kernel, Setting};
use super::links::Links;
use crate::plain::counted;

/// So many launches of the same names and grids in a row are no accident.
const ALIKE: usize = 16;

/// So many ends of later steps are looked at, at most.
const ENDS: usize = 64;

/// A launch from before the trace with the launches of later steps that do the same, by their positions among kernels in the
/// order of their starts.
pub(super) struct Earlier {
    pub(super) launch: usize,
    pub(super) twins: Vec<usize>,
}

/// The launches from before the trace.
pub(super) fn earlier(
    kernels: &[Kernel],
    (settings, launches): (&[Setting], &[Launch]),
    links: &Links<'_>,
) -> Vec<Earlier> {
    let mut streams: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (at, kernel) in kernels.iter().enumerate() {
        let Setting { device, stream, .. } = settings[kernel.setting as usize];
        streams.entry((device, stream)).or_default().push(at);
    }
    let mut earlier = Vec::new();
    for stream in streams.into_values() {
        let is_called = |at: &usize| links.is_called(&kernels[*at]);
        let is_linked = |at: &usize| is_called(at) || links.operator(&kernels[*at]).is_some();
        // Without its calls a trace does not say when the profiler began.
        let begins = stream.iter().position(is_linked).filter(|at| is_called(&stream[*at]));
        let Some(begins) = begins else { continue };
        // A setting is device, stream, grid and block. Without a grid a name alone is not enough.
        let key = |at: &usize| {
            let Kernel { name, setting, .. } = kernels[*at];
            let launch = settings[setting as usize].launch;
            (name, setting, launches[launch as usize].grid.is_none().then_some(*at))
        };
        let keys: Vec<_> = stream.iter().map(|at| Some(key(at))).collect();
        let (ends, most) = as_later(&keys, begins);
        earlier.extend((1..=most).map(|back| Earlier {
            launch: stream[begins - back],
            twins: ends.iter().map(|end| stream[end - back]).collect(),
        }));
    }
    earlier
}

/// What is to be said of so many launches that took the operators of others.
pub(super) fn clue(number: u64) -> Option<String> {
    let launches = counted(number, "launch", "launches");
    let theirs = if number == 1 {
        "its operator is that of the same launch"
    } else {
        "their operators are those of the same launches"
    };
    (number > 0).then(|| format!("{launches} began before the trace: {theirs} in later steps"))
}

/// Where later runs of the launches end that end as the first `earlier` launches do, and how many are the same at most. Of many
/// ends as many as are looked at, evenly spread.
fn as_later<K: Copy + PartialEq>(keys: &[Option<K>], earlier: usize) -> (Vec<usize>, usize) {
    if earlier == 0 {
        return (Vec::new(), 0);
    }
    let (first, rest) = keys.split_at(earlier);
    let backward: Vec<Option<K>> =
        first.iter().rev().chain(&[None]).chain(rest.iter().rev()).copied().collect();
    let (before, after) = (common_with_start(&backward), common_with_start(rest));
    // An end after `at` launches of the rest.
    let same = |at: usize| before[earlier + 1 + (rest.len() - at)];
    let further = |at: usize| after.get(at).copied().unwrap_or(0);
    let most = (1..=rest.len()).map(same).max().unwrap_or(0);
    let ends: Vec<usize> = (1..=rest.len()).filter(|at| same(*at) == most).collect();
    if most == 0 || !ends.iter().any(|at| most + further(*at) >= ALIKE) {
        return (Vec::new(), 0);
    }
    let step = ends.len().div_ceil(ENDS).max(1);
    (ends.into_iter().step_by(step).map(|at| earlier + at).collect(), most)
}

/// How many elements from each position on are those from the start on (the Z-function), in linear time.
fn common_with_start<T: PartialEq>(of: &[T]) -> Vec<usize> {
    let mut common = vec![0; of.len()];
    let (mut left, mut right) = (0, 0);
    for at in 1..of.len() {
        let mut same = if at < right { common[at - left].min(right - at) } else { 0 };
        while at + same < of.len() && of[same] == of[at + same] {
            same += 1;
        }
        if at + same > right {
            (left, right) = (at, at + same);
        }
        common[at] = same;
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(keys: &str, earlier: usize) -> (Vec<usize>, usize) {
        let keys: Vec<Option<u8>> = keys.bytes().map(Some).collect();
        as_later(&keys, earlier)
    }

    #[test]
    fn common_starts_are_counted_from_each_position() {
        assert_eq!(common_with_start(b"aabaabxaa"), [0, 1, 0, 3, 1, 0, 0, 2, 1]);
        assert!(common_with_start::<u8>(&[]).is_empty());
    }

    /// Two steps of `abcdefghijklmnopqr`; the trace begins with the last four launches of a step before them.
    #[test]
    fn launches_before_the_trace_are_those_at_the_end_of_a_later_step() {
        let step = "abcdefghijklmnopqr";
        assert_eq!(ends(&format!("opqr{step}{step}"), 4), (vec![22, 40], 4));
        // The first of them is not of the loop: the others are.
        assert_eq!(ends(&format!("xpqr{step}{step}"), 4), (vec![22, 40], 3));
        // With one step in the trace nothing follows its end, and four launches are too few to tell.
        assert_eq!(ends(&format!("opqr{step}"), 4), (Vec::new(), 0));
        // A whole step is enough.
        assert_eq!(ends(&format!("{step}{step}"), 18), (vec![36], 18));
    }

    #[test]
    fn launches_that_end_otherwise_are_like_none() {
        let step = "abcdefghijklmnopqr";
        assert_eq!(ends(&format!("opqx{step}{step}"), 4), (Vec::new(), 0));
        assert_eq!(ends(&format!("{step}{step}"), 0), (Vec::new(), 0));
        assert_eq!(ends("opqr", 4), (Vec::new(), 0));
    }
}
