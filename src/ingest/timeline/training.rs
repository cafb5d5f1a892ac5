//! The steps of a training loop, as they ran on the GPU: the work that was launched in each.
//!
//! The CPU runs ahead of the GPU, so the annotation of a step says when its work was launched and not when it ran. Kernels
//! that are launched between two annotations, such as those of a validation, are of neither; where most steps have some
//! behind them, they belong to the loop, and to the step before them.

use std::collections::{BTreeMap, BTreeSet};

/// The annotation of a step on the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ingest) struct Annotated {
    pub(in crate::ingest) number: u64,
    /// Nanoseconds, on the clock of the file.
    pub(in crate::ingest) start: i64,
    pub(in crate::ingest) end: i64,
}

/// Work of a GPU, by the time at which it was launched.
#[derive(Debug, Clone, Copy)]
pub(in crate::ingest) struct Work<D> {
    pub(in crate::ingest) device: D,
    /// Start of the call that launched it.
    pub(in crate::ingest) called: i64,
    pub(in crate::ingest) start: i64,
    pub(in crate::ingest) end: i64,
    pub(in crate::ingest) is_kernel: bool,
}

/// A step on one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ingest) struct Ran<D> {
    pub(in crate::ingest) device: D,
    pub(in crate::ingest) number: u64,
    /// Nanoseconds, on the clock of the file: from its first work to that of the next step, or to the end of its own where
    /// something else comes between, or steps are missing.
    pub(in crate::ingest) start: i64,
    pub(in crate::ingest) end: i64,
    /// Kernels that were launched in it.
    pub(in crate::ingest) launches: u64,
    pub(in crate::ingest) is_last: bool,
}

/// What was launched in a step.
#[derive(Debug, Clone, Copy)]
struct Launched {
    /// Start of the first work that did not run ahead.
    start: i64,
    /// Start of the first kernel, and the end of the last.
    kernels: Option<(i64, i64)>,
    end: i64,
    launches: u64,
}

/// The steps of each device, in order.
pub(in crate::ingest) fn steps<D: Copy + Ord>(
    mut annotated: Vec<Annotated>,
    work: impl Iterator<Item = Work<D>>,
) -> Vec<Ran<D>> {
    annotated.sort_by_key(|step| (step.start, step.number));
    annotated.dedup_by_key(|step| step.number);
    let mut found: BTreeMap<(D, usize), Launched> = BTreeMap::new();
    // What was launched behind the last annotation is of none.
    let mut work: Vec<(usize, Work<D>)> = work
        .filter_map(|one| Some((last_step(&annotated, one.called)?, one)))
        .filter(|(at, one)| at + 1 < annotated.len() || one.called < annotated[*at].end)
        .collect();
    let ended = ended(&annotated, &work);
    work.retain(|(at, one)| one.called < annotated[*at].end || !ended.contains(&(one.device, *at)));
    for (at, one) in &work {
        let Work { start, end, .. } = *one;
        let new = Launched { start: i64::MAX, kernels: None, end, launches: 0 };
        let step = found.entry((one.device, *at)).or_insert(new);
        if one.is_kernel {
            let (first, last) = step.kernels.unwrap_or((start, end));
            step.kernels = Some((first.min(start), last.max(end)));
        }
        step.end = step.end.max(end);
        step.launches += u64::from(one.is_kernel);
    }
    let mut found: Vec<_> = found.into_iter().collect();
    begin(&mut found, &work);
    let mut steps = Vec::with_capacity(found.len());
    for of_device in found.chunk_by(|((one, _), _), ((other, _), _)| one == other) {
        let launched: Vec<&Launched> = of_device.iter().map(|(_, step)| step).collect();
        let Some(starts) = starts(&launched) else { continue };
        for (place, ((device, at), step)) in of_device.iter().enumerate() {
            let next = starts.get(place + 1);
            let goes_on = !ended.contains(&(*device, *at)) && !is_before_a_gap(&annotated, *at);
            steps.push(Ran {
                device: *device,
                number: annotated[*at].number,
                start: starts[place],
                end: next.copied().filter(|_| goes_on).unwrap_or(step.end),
                launches: step.launches,
                is_last: next.is_none() || !goes_on,
            });
        }
    }
    steps
}

/// Sets where steps begin: with their first work, but not with a copy that is issued ahead, which begins before the
/// kernels of the step before it have ended. Before the first step nobody knows; it is taken for one of the others.
fn begin<D: Copy + Ord>(found: &mut [((D, usize), Launched)], work: &[(usize, Work<D>)]) {
    let mut ahead: BTreeSet<D> = BTreeSet::new();
    let mut firsts = Vec::new();
    for (at, one) in work {
        let Ok(place) = found.binary_search_by_key(&(one.device, *at), |(key, _)| *key) else {
            continue;
        };
        let before = place.checked_sub(1).map(|before| found[before]);
        let before = before.filter(|((device, _), _)| *device == one.device);
        let is_first = before.is_none();
        let ended = before.and_then(|(_, step)| step.kernels).map(|(_, last)| last);
        let step = &mut found[place].1;
        let leads = step.kernels.is_some_and(|(first, _)| one.start < first);
        if leads && is_first {
            firsts.push((place, one));
        } else if leads && ended.is_some_and(|ended| one.start < ended) {
            ahead.insert(one.device);
        } else {
            step.start = step.start.min(one.start);
        }
    }
    for (place, one) in firsts.into_iter().filter(|(_, one)| !ahead.contains(&one.device)) {
        let step = &mut found[place].1;
        step.start = step.start.min(one.start);
    }
}

/// Where the steps of a device begin, or their first kernels. `None` where a step begins before the one before it even so:
/// then they do not split the work of the device.
fn starts(steps: &[&Launched]) -> Option<Vec<i64>> {
    let of = |start: fn(&Launched) -> i64| steps.iter().map(|step| start(step)).collect();
    let of_work: Vec<i64> = of(|step| step.start);
    let of_kernels = of(|step| step.kernels.map_or(step.start, |(first, _)| first));
    let end = steps.last()?.end;
    let splits = |starts: &Vec<i64>| {
        let is_before_end = starts.last().is_some_and(|start| *start < end);
        is_before_end && starts.is_sorted_by(|one, next| one < next)
    };
    [of_work, of_kernels].into_iter().find(splits)
}

/// The steps behind whose annotations a device was given kernels that are of no step; none where most steps have some.
fn ended<D: Copy + Ord>(
    annotated: &[Annotated],
    work: &[(usize, Work<D>)],
) -> BTreeSet<(D, usize)> {
    let mut steps: BTreeMap<D, BTreeSet<usize>> = BTreeMap::new();
    let mut behind: BTreeMap<D, BTreeSet<usize>> = BTreeMap::new();
    for (at, one) in work.iter().filter(|(_, one)| one.is_kernel) {
        steps.entry(one.device).or_default().insert(*at);
        if one.called >= annotated[*at].end {
            behind.entry(one.device).or_default().insert(*at);
        }
    }
    let is_rare = |(device, behind): &(D, BTreeSet<usize>)| {
        steps.get(device).is_some_and(|steps| behind.len() * 2 < steps.len())
    };
    let rare = behind.into_iter().filter(is_rare);
    rare.flat_map(|(device, behind)| behind.into_iter().map(move |at| (device, at))).collect()
}

/// The last step that began before a call.
fn last_step(annotated: &[Annotated], called: i64) -> Option<usize> {
    annotated.partition_point(|step| step.start <= called).checked_sub(1)
}

/// Whether steps are missing behind this one: the next one has a number further on, and starts when as much time as this
/// one took has passed.
fn is_before_a_gap(annotated: &[Annotated], at: usize) -> bool {
    let one = annotated[at];
    annotated.get(at + 1).is_some_and(|next| {
        let is_next = one.number.checked_add(1) == Some(next.number);
        !is_next && next.start.saturating_sub(one.end) >= one.end.saturating_sub(one.start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three steps that are launched one after the other; works are called at, run from and to, and may be kernels.
    fn ran(work: &[(i64, i64, i64, bool)]) -> Vec<(u64, i64, i64, u64)> {
        let annotated = (1..).zip([0, 10, 20]).map(|(number, start)| Annotated {
            number,
            start,
            end: start + 9,
        });
        let work = work.iter().map(|(called, start, end, is_kernel)| Work {
            device: 0,
            called: *called,
            start: *start,
            end: *end,
            is_kernel: *is_kernel,
        });
        let found = steps(annotated.collect(), work);
        found.iter().map(|one| (one.number, one.start, one.end, one.launches)).collect()
    }

    #[test]
    fn a_copy_that_runs_ahead_takes_no_step_away() {
        let kernels = [(1, 100, 200, true), (11, 200, 300, true), (21, 300, 400, true)];
        let split = [(1, 100, 200, 1), (2, 200, 300, 1), (3, 300, 400, 1)];
        assert_eq!(ran(&kernels), split);
        // The input of the third step is copied while the first one computes.
        assert_eq!(ran(&[&kernels[..], &[(20, 120, 130, false)]].concat()), split);
        assert_eq!(ran(&[&kernels[..], &[(20, 290, 295, false)]].concat()), split);
        // So is that of the first step, where others are.
        let first = [kernels[0], kernels[1], kernels[2], (1, 50, 60, false), (12, 120, 130, false)];
        assert_eq!(ran(&first), split);
        let alone = [kernels[0], kernels[1], kernels[2], (1, 50, 60, false)];
        assert_eq!(ran(&alone)[0], (1, 50, 200, 1));
        // A step begins with its copy where none runs ahead.
        let later = [kernels[0], kernels[1], (21, 320, 400, true), (20, 305, 310, false)];
        assert_eq!(ran(&later)[1..], [(2, 200, 305, 1), (3, 305, 400, 1)]);
    }

    /// A kernel of a validation is called after the annotation of the first step.
    #[test]
    fn work_between_two_steps_is_of_neither() {
        let kernels = [(1, 100, 200, true), (11, 300, 400, true), (21, 400, 500, true)];
        let between = [&kernels[..], &[(9, 200, 290, true)]].concat();
        assert_eq!(ran(&kernels), [(1, 100, 300, 1), (2, 300, 400, 1), (3, 400, 500, 1)]);
        assert_eq!(ran(&between), [(1, 100, 200, 1), (2, 300, 400, 1), (3, 400, 500, 1)]);
        // A copy ends no step, nor does an optimizer behind each of them.
        let copied = [&kernels[..], &[(9, 200, 290, false)]].concat();
        assert_eq!(ran(&copied), ran(&kernels));
        let optimized = [&between[..], &[(19, 390, 399, true)]].concat();
        assert_eq!(ran(&optimized), [(1, 100, 300, 2), (2, 300, 400, 2), (3, 400, 500, 1)]);
    }

    /// Two windows of a profiler: steps 2 and 3, and 99 later 102.
    #[test]
    fn a_step_before_steps_that_are_missing_ends_with_its_own_work() {
        let of = |numbers: [u64; 3], starts: [i64; 3]| {
            let annotated = numbers.into_iter().zip(starts).map(|(number, start)| Annotated {
                number,
                start,
                end: start + 10,
            });
            let work = starts.into_iter().map(|start| Work {
                device: 0,
                called: start,
                start: start + 5,
                end: start + 8,
                is_kernel: true,
            });
            steps(annotated.collect(), work).iter().map(|one| one.end).collect::<Vec<_>>()
        };
        assert_eq!(of([2, 3, 102], [0, 10, 990]), [15, 18, 998]);
        assert_eq!(of([2, 3, 4], [0, 10, 990]), [15, 995, 998]);
        // Every tenth step is annotated, one after the other.
        assert_eq!(of([10, 20, 30], [0, 10, 20]), [15, 25, 28]);
    }

    #[test]
    fn steps_whose_kernels_are_mixed_split_nothing() {
        assert_eq!(ran(&[(1, 100, 200, true), (11, 300, 400, true), (21, 150, 180, true)]), []);
    }
}
