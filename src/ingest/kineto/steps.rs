//! The steps of a training loop, as they ran on the GPU: the work that was launched in each.
//!
//! The CPU runs ahead of the GPU, so the annotation of a step says when its work was launched and not when it ran.

use std::collections::{BTreeMap, HashMap};

use super::gathered::{Annotated, Kernel, Moved};
use super::links::Links;

/// A step on one device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ran {
    pub(super) device: Option<i64>,
    pub(super) number: u64,
    /// Nanoseconds, on the clock of the file: from its first work to that of the next step.
    pub(super) start: i64,
    pub(super) end: i64,
    /// Kernels that were launched in it.
    pub(super) launches: u64,
    pub(super) is_last: bool,
}

/// What was launched in a step.
#[derive(Debug, Clone, Copy)]
struct Launched {
    start: i64,
    end: i64,
    launches: u64,
}

/// The steps of each device, in order.
pub(super) fn steps(
    annotated: &[Annotated],
    kernels: &[Kernel],
    (moved, moving): (&[Moved], &[(u64, i64)]),
    links: &Links<'_>,
) -> Vec<Ran> {
    let mut annotated = annotated.to_vec();
    annotated.sort_by_key(|step| (step.start, step.number));
    annotated.dedup_by_key(|step| step.number);
    let moving: HashMap<u64, i64> = moving.iter().copied().collect();
    let mut found: BTreeMap<(Option<i64>, usize), Launched> = BTreeMap::new();
    let mut add = |device, called: Option<i64>, (start, duration): (i64, i64), launches| {
        let Some(at) = called.and_then(|called| step_at(&annotated, called)) else { return };
        let end = start.saturating_add(duration);
        let step = found.entry((device, at)).or_insert(Launched { start, end, launches: 0 });
        step.start = step.start.min(start);
        step.end = step.end.max(end);
        step.launches += launches;
    };
    for kernel in kernels {
        let called = links.launch(kernel).map(|launch| launch.start);
        add(kernel.device, called, (kernel.start, kernel.duration), 1);
    }
    for one in moved {
        let called = moving.get(&one.correlation).copied().filter(|_| one.correlation > 0);
        add(one.device, called, (one.start, one.duration), 0);
    }
    let found: Vec<_> = found.into_iter().collect();
    let mut steps = Vec::with_capacity(found.len());
    for (place, ((device, at), step)) in found.iter().enumerate() {
        let next = found.get(place + 1).filter(|((other, _), _)| other == device);
        let end = next.map_or(step.end, |(_, next)| next.start);
        steps.push(Ran {
            device: *device,
            number: annotated[*at].number,
            start: step.start,
            end,
            launches: step.launches,
            is_last: next.is_none(),
        });
    }
    // Steps follow each other, or what they are called does not part the work of this device.
    steps.retain(|step| step.end > step.start);
    steps
}

/// The step in which a call begins; the last one ends with its annotation.
fn step_at(annotated: &[Annotated], called: i64) -> Option<usize> {
    let at = annotated.partition_point(|step| step.start <= called).checked_sub(1)?;
    (at + 1 < annotated.len() || called < annotated[at].end).then_some(at)
}
