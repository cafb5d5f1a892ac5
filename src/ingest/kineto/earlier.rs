//! Launches from before the trace: what they belong to, by the same launches of a later step.
//!
//! The host runs ahead of the GPU. What it launched before the profiler started ends within the trace, without the call and
//! the operator that it belongs to. A training loop does the same in each step, so that the end of another step has the same
//! launches in the same order, with their operators.

use std::collections::HashMap;

use super::gathered::{Kernel, Setting};
use super::links::Links;
use crate::plain::counted;

/// So many launches of the same names and grids in a row are no accident.
const ALIKE: usize = 16;

/// The launches from before the trace, each with one of a later step that does the same; by their positions among kernels in
/// the order of their starts.
pub(super) fn twins(
    kernels: &[Kernel],
    settings: &[Setting],
    links: &Links<'_>,
) -> Vec<(usize, usize)> {
    let mut streams: HashMap<_, Vec<usize>> = HashMap::new();
    for (at, kernel) in kernels.iter().enumerate() {
        let Setting { device, stream, .. } = settings[kernel.setting as usize];
        streams.entry((device, stream)).or_default().push(at);
    }
    let mut twins = Vec::new();
    for stream in streams.into_values() {
        let is_linked = |at: &usize| {
            links.launch(kernels[*at].correlation).is_some()
                || links.operator(&kernels[*at]).is_some()
        };
        // Without any link the trace has no calls.
        let Some(earlier) = stream.iter().position(is_linked) else { continue };
        // A setting is device, stream, grid and block.
        let key = |at: &usize| (kernels[*at].name, kernels[*at].setting);
        let keys: Vec<_> = stream.iter().map(|at| Some(key(at))).collect();
        let Some((end, same)) = as_later(&keys, earlier) else { continue };
        twins.extend((1..=same).map(|back| (stream[earlier - back], stream[end - back])));
    }
    twins
}

/// What is to be said of launches with twins.
pub(super) fn clue(twins: &[(usize, usize)]) -> Option<String> {
    let launches = counted(twins.len() as u64, "launch is", "launches are");
    let has = if twins.len() == 1 { "it has" } else { "they have" };
    (!twins.is_empty()).then(|| {
        format!(
            "{launches} from before the trace: what {has} to do is taken from the same launches of a later step"
        )
    })
}

/// Where a later run of the launches ends that ends as the first `earlier` launches do, and how many are the same.
fn as_later<K: Copy + PartialEq>(keys: &[Option<K>], earlier: usize) -> Option<(usize, usize)> {
    if earlier == 0 {
        return None;
    }
    let (first, rest) = keys.split_at(earlier);
    let backward: Vec<Option<K>> =
        first.iter().rev().chain(&[None]).chain(rest.iter().rev()).copied().collect();
    let (before, after) = (common_with_start(&backward), common_with_start(rest));
    // An end after `at` launches of the rest.
    let same = |at: usize| before[earlier + 1 + (rest.len() - at)];
    let further = |at: usize| after.get(at).copied().unwrap_or(0);
    let best = (1..=rest.len()).rev().max_by_key(|at| (same(*at), further(*at)))?;
    let is_alike = same(best) > 0 && same(best) + further(best) >= ALIKE;
    is_alike.then(|| (earlier + best, same(best)))
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

    fn ends(keys: &str, earlier: usize) -> Option<(usize, usize)> {
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
        assert_eq!(ends(&format!("opqr{step}{step}"), 4), Some((22, 4)));
        // The first of them is not of the loop: the others are.
        assert_eq!(ends(&format!("xpqr{step}{step}"), 4), Some((22, 3)));
        // With one step in the trace nothing follows its end, and four launches are too few to tell.
        assert_eq!(ends(&format!("opqr{step}"), 4), None);
        // A whole step is enough.
        assert_eq!(ends(&format!("{step}{step}"), 18), Some((36, 18)));
    }

    #[test]
    fn launches_that_end_otherwise_are_like_none() {
        let step = "abcdefghijklmnopqr";
        assert_eq!(ends(&format!("opqx{step}{step}"), 4), None);
        assert_eq!(ends(&format!("{step}{step}"), 0), None);
        assert_eq!(ends("opqr", 4), None);
    }
}
