//! The steps of a training loop, as they ran on the GPU: the work that was launched in each.
//!
//! The CPU runs ahead of the GPU, so the annotation of a step says when its work was launched and not when it ran.

use std::collections::BTreeMap;

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
    /// Nanoseconds, on the clock of the file: from its first work to that of the next step.
    pub(in crate::ingest) start: i64,
    pub(in crate::ingest) end: i64,
    /// Kernels that were launched in it.
    pub(in crate::ingest) launches: u64,
    pub(in crate::ingest) is_last: bool,
}

/// What was launched in a step.
#[derive(Debug, Clone, Copy)]
struct Launched {
    start: i64,
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
    for one in work {
        let Some(at) = step_at(&annotated, one.called) else { continue };
        let Work { start, end, .. } = one;
        let step = found.entry((one.device, at)).or_insert(Launched { start, end, launches: 0 });
        step.start = step.start.min(start);
        step.end = step.end.max(end);
        step.launches += u64::from(one.is_kernel);
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
    // Where the first work of a step starts before that of the step before, the steps do not split this device's work.
    steps.retain(|step| step.end > step.start);
    steps
}

/// The step in which a call begins; the last one ends with its annotation.
fn step_at(annotated: &[Annotated], called: i64) -> Option<usize> {
    let at = annotated.partition_point(|step| step.start <= called).checked_sub(1)?;
    (at + 1 < annotated.len() || called < annotated[at].end).then_some(at)
}
