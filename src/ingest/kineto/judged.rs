//! The work of each launch of a trace: of the launches of one call together, and equal works kept once.

use std::collections::HashMap;

use super::earlier::Earlier;
use super::event::Launch;
use super::gathered::{Call, Kernel, Setting};
use super::links::Links;
use super::work::{Judged, Member, Named, Works};
use crate::ingest::Reading;
use crate::ingest::operators::forms::Count;
use crate::model::{NameId, Pipe, Shape};

/// What launches are known by: their names, settings and calls.
pub(super) struct Members<'a> {
    links: &'a Links<'a>,
    settings: &'a [Setting],
    launches: &'a [Launch],
    named: HashMap<NameId, Named>,
}

impl<'a> Members<'a> {
    /// Those of these kernels.
    pub(super) fn new(
        reading: &Reading<'_>,
        kernels: &[Kernel],
        links: &'a Links<'a>,
        (settings, launches): (&'a [Setting], &'a [Launch]),
    ) -> Self {
        let mut named = HashMap::new();
        for kernel in kernels {
            named.entry(kernel.name).or_insert_with(|| Named::of(reading.text(kernel.name)));
        }
        Self { links, settings, launches, named }
    }

    /// Where a kernel ran, and what a compiler states of it.
    pub(super) fn setting(&self, kernel: &Kernel) -> &'a Setting {
        &self.settings[kernel.setting as usize]
    }

    /// What the launch of a kernel was called with; AMD writes grid and block with the call.
    pub(super) fn configuration(&self, kernel: &Kernel) -> Launch {
        let own = self.launches[self.setting(kernel).launch as usize];
        if own.grid.is_some() {
            return own;
        }
        self.links.launch(kernel.correlation).map_or(own, |call| {
            let call = self.launches[call.launch as usize];
            Launch { grid: call.grid, block: call.block, shared: own.shared.or(call.shared), ..own }
        })
    }

    fn member(&self, kernel: &Kernel) -> Member {
        let Launch { grid, block, .. } = self.configuration(kernel);
        Member { named: self.named[&kernel.name], shape: Shape::new(grid, block) }
    }
}

/// The work of each launch, with the call it belongs to.
pub(super) struct Judgements {
    /// The call of each launch, or [`NONE`], and the position of its work.
    of: Vec<(u32, u32)>,
    works: Vec<Judged>,
}

/// Marks a launch that belongs to no call.
const NONE: u32 = u32::MAX;

impl Judgements {
    /// The work of these kernels.
    pub(super) fn of(
        works: &mut Works<'_>,
        links: &Links<'_>,
        kernels: &[Kernel],
        members: &Members<'_>,
    ) -> Self {
        let called = |(at, kernel)| Some((links.operator(kernel)?, at));
        let mut called: Vec<(u32, u32)> = (0_u32..).zip(kernels).filter_map(called).collect();
        called.sort_unstable();
        let mut judgements = Self { of: vec![(NONE, 0); kernels.len()], works: Vec::new() };
        let mut known: HashMap<Bits, u32> = HashMap::new();
        let mut together = Vec::new();
        for of_call in called.chunk_by(|one, other| one.0 == other.0) {
            together.clear();
            together.extend(of_call.iter().map(|(_, at)| members.member(&kernels[*at as usize])));
            for ((call, at), judged) in of_call.iter().zip(works.of(of_call[0].0, &together)) {
                let next = judgements.works.len() as u32;
                let place = *known.entry(bits(&judged)).or_insert(next);
                if place == next {
                    judgements.works.push(judged);
                }
                judgements.of[*at as usize] = (*call, place);
            }
        }
        judgements
    }

    /// Gives launches from before the trace the call and the work of their twins, where all of them do the same; returns how
    /// many there are.
    pub(super) fn take_over(&mut self, earlier: &[Earlier], calls: &[Call]) -> u64 {
        let mut taken = 0;
        for Earlier { launch, twins } in earlier {
            let does = |at: usize| {
                let (call, work) = self.of[at];
                (call != NONE).then(|| (calls[call as usize].operator, work))
            };
            let Some(first) = twins.first() else { continue };
            let of_first = does(*first);
            if of_first.is_some() && twins.iter().all(|twin| does(*twin) == of_first) {
                self.of[*launch] = self.of[*first];
                taken += 1;
            }
        }
        taken
    }

    /// The call and the work of a launch, by its position.
    pub(super) fn at(&self, kernel: usize) -> Option<(u32, &Judged)> {
        let (call, work) = *self.of.get(kernel)?;
        (call != NONE).then(|| (call, &self.works[work as usize]))
    }
}

/// A work as what can be hashed.
type Bits = ([Option<(u64, &'static str, u64, u64)>; 2], Pipe);

fn bits((work, pipe): &Judged) -> Bits {
    let of = |count: Option<Count>| {
        let Count { value, basis } = count?;
        Some((value.to_bits(), basis.formula, basis.low.to_bits(), basis.high.to_bits()))
    };
    ([of(work.flops), of(work.bytes)], *pipe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::kineto::nested::Span;

    /// Launch 0 is from before the trace; 1 and 2 are of calls of one operator, 3 is of another, 4 of none.
    #[test]
    fn launches_from_before_the_trace_take_what_all_their_twins_do() {
        let call = |operator| Call {
            operator,
            external: 0,
            span: Span { thread: 0, start: 0, end: 1 },
            place: 0,
        };
        let calls = [call(7), call(7), call(8)];
        let taken = |twins: &[usize]| {
            let of = vec![(NONE, 0), (0, 3), (1, 3), (2, 3), (NONE, 0)];
            let mut judgements = Judgements { of, works: Vec::new() };
            let earlier = [Earlier { launch: 0, twins: twins.to_vec() }];
            (judgements.take_over(&earlier, &calls), judgements.of[0])
        };
        assert_eq!(taken(&[1, 2]), (1, (0, 3)));
        assert_eq!(taken(&[1, 3]), (0, (NONE, 0)));
        assert_eq!(taken(&[1, 4]), (0, (NONE, 0)));
        assert_eq!(taken(&[4]), (0, (NONE, 0)));
        assert_eq!(taken(&[]), (0, (NONE, 0)));
    }
}
