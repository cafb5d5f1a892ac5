//! Which operator a kernel belongs to, and where the call is that launched it.
//!
//! A kernel names its operator by `External id`. Traces of 2022 write the correlation of the launch
//! there, and some kernels have none: then the launch is the call of the same correlation, and its
//! operator the innermost one on its thread at that time.
//!
//! Each process counts its calls and operators from 1. A file with several processes may have a number of two of them, and an
//! event of the GPU does not say whose it is: such a number links nothing. Ranks in containers have one process number in a
//! file that was merged: there two calls of one number, neither within the other, are of two.

use std::collections::HashSet;

use super::gathered::{Call, Kernel, Launching};
use super::nested::Nested;
use crate::model::Positions;

/// Kernels, operators and launches by what links them.
pub(super) struct Links<'a> {
    launching: &'a [Launching],
    /// Positions of launches by their correlation.
    by_correlation: Positions,
    calls: &'a [Call],
    /// Positions of operators by their number.
    by_external: Positions,
    nested: Nested<'a, Call>,
    /// Correlations of calls of several processes.
    shared_correlations: HashSet<u64>,
    /// Numbers of operators of several processes.
    shared_externals: HashSet<u64>,
    /// Those of several processes with one number, whose launches have one correlation, too.
    merged_externals: HashSet<u64>,
}

impl<'a> Links<'a> {
    /// Links between these; of launches of one correlation the last one counts. `processes` has the process of each thread.
    pub(super) fn new(
        kernels: &[Kernel],
        calls: &'a [Call],
        launching: &'a [Launching],
        processes: &[u32],
    ) -> Self {
        let process = |thread: u32| processes.get(thread as usize);
        let mut shared_externals = HashSet::new();
        let mut merged_externals = HashSet::new();
        let mut by_external = Positions::default();
        let same = kernels.iter().filter(|kernel| kernel.external == kernel.correlation).count();
        if same * 2 <= kernels.len() {
            let number = |at: usize| &calls[at].external;
            for (at, call) in calls.iter().enumerate() {
                if call.external == 0 {
                    continue;
                }
                match by_external.find(&call.external, number) {
                    None => by_external.add(at, number),
                    Some(other)
                        if process(calls[other].span.thread) != process(call.span.thread) =>
                    {
                        shared_externals.insert(call.external);
                    }
                    Some(other) if !calls[other].may_be_one(call) => {
                        merged_externals.insert(call.external);
                    }
                    Some(_) => {}
                }
            }
        }
        let mut shared_correlations = HashSet::new();
        let mut by_correlation = Positions::default();
        let number = |at: usize| &launching[at].correlation;
        for (at, launch) in launching.iter().enumerate().rev() {
            if launch.correlation == 0 {
                continue;
            }
            match by_correlation.find(&launch.correlation, number) {
                None => by_correlation.add(at, number),
                Some(other)
                    if process(launching[other].thread) != process(launch.thread)
                        || !launching[other].may_be_one(launch) =>
                {
                    shared_correlations.insert(launch.correlation);
                }
                Some(_) => {}
            }
        }
        Self {
            launching,
            by_correlation,
            calls,
            by_external,
            nested: Nested::new(calls),
            shared_correlations,
            shared_externals,
            merged_externals,
        }
    }

    /// The call that launched work of this correlation; 0 is none.
    pub(super) fn launch(&self, correlation: u64) -> Option<&'a Launching> {
        if self.shared_correlations.contains(&correlation) {
            return None;
        }
        let number = |at: usize| &self.launching[at].correlation;
        self.launching.get(self.by_correlation.find(&correlation, number)?)
    }

    /// The operator of a kernel, by its position.
    pub(super) fn operator(&self, kernel: &Kernel) -> Option<u32> {
        if self.merged_externals.contains(&kernel.external) {
            return None;
        }
        let number = |at: usize| &self.calls[at].external;
        if let Some(at) = self.by_external.find(&kernel.external, number)
            && !self.shared_externals.contains(&kernel.external)
        {
            return u32::try_from(at).ok();
        }
        let launch = self.launch(kernel.correlation)?;
        self.nested.around(launch.thread, launch.start).next()
    }

    /// Whether the call that launched a kernel is in the trace, also where several processes may have made it.
    pub(super) fn is_called(&self, kernel: &Kernel) -> bool {
        self.shared_correlations.contains(&kernel.correlation)
            || self.launch(kernel.correlation).is_some()
    }

    /// Whether a kernel has no operator because its numbers are those of several processes.
    pub(super) fn is_of_several(&self, kernel: &Kernel) -> bool {
        (self.shared_correlations.contains(&kernel.correlation)
            || self.shared_externals.contains(&kernel.external)
            || self.merged_externals.contains(&kernel.external))
            && self.operator(kernel).is_none()
    }

    /// The operator that encloses another.
    pub(super) fn parent(&self, at: u32) -> Option<u32> {
        self.nested.parent(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::kineto::nested::Span;
    use crate::model::NameId;

    fn call(external: u64, thread: u32, start: i64, end: i64) -> Call {
        Call { operator: 0, external, span: Span { thread, start, end }, place: 0 }
    }

    fn kernel(external: u64, correlation: u64) -> Kernel {
        let name = NameId::default();
        Kernel { name, setting: 0, start: 0, duration: 1, external, correlation, node: 0 }
    }

    /// Operators 1 to 4: the first holds the second, the third comes after, the fourth is elsewhere.
    const CALLS: [(u64, u32, i64, i64); 4] =
        [(1, 0, 10, 50), (2, 0, 20, 30), (3, 0, 60, 70), (4, 1, 0, 99)];

    fn linked(kernels: &[Kernel], launches: &[(u64, u32, i64)]) -> Vec<Option<u64>> {
        let calls = CALLS.map(|(external, thread, start, end)| call(external, thread, start, end));
        let launching: Vec<_> = launches
            .iter()
            .map(|(correlation, thread, start)| Launching {
                correlation: *correlation,
                thread: *thread,
                start: *start,
                launch: 0,
            })
            .collect();
        let links = Links::new(kernels, &calls, &launching, &[0, 0]);
        let external = |at: u32| calls[at as usize].external;
        kernels.iter().map(|kernel| links.operator(kernel).map(external)).collect()
    }

    #[test]
    fn an_external_id_names_the_operator() {
        assert_eq!(linked(&[kernel(2, 100), kernel(9, 101)], &[]), [Some(2), None]);
    }

    #[test]
    fn without_it_the_innermost_operator_at_the_launch_is_taken() {
        let kernels = [kernel(0, 1), kernel(0, 2), kernel(0, 3), kernel(0, 4), kernel(0, 0)];
        let launches = [(1, 0, 25), (2, 0, 40), (3, 0, 55), (4, 1, 55), (0, 1, 55)];
        assert_eq!(linked(&kernels, &launches), [Some(2), Some(1), None, Some(4), None]);
    }

    /// The second operator has the number 2 by chance.
    #[test]
    fn an_external_id_that_is_the_correlation_is_none() {
        assert_eq!(linked(&[kernel(2, 2), kernel(7, 7)], &[(2, 0, 65)]), [Some(3), None]);
    }

    /// A graph is launched again with its correlation: the last call counts. Of operators with one number the first does.
    #[test]
    fn of_calls_with_one_number_one_counts() {
        let launches = [(1, 0, 40), (2, 0, 65), (1, 0, 25)];
        assert_eq!(linked(&[kernel(0, 1)], &launches), [Some(2)]);
        let calls = [call(7, 0, 10, 50), call(7, 0, 20, 30)];
        let kernels = [kernel(7, 1)];
        assert_eq!(Links::new(&kernels, &calls, &[], &[0]).operator(&kernels[0]), Some(0));
    }

    /// Threads 0 and 1 are of two processes: each has made a call 5 and an operator 7.
    #[test]
    fn numbers_of_two_processes_link_nothing() {
        let calls = [call(7, 0, 10, 50), call(7, 1, 10, 50), call(8, 1, 60, 90)];
        let launching = [(5, 0, 20), (5, 1, 20), (6, 1, 70), (4, 1, 20), (4, 1, 30)].map(
            |(correlation, thread, start)| Launching { correlation, thread, start, launch: 0 },
        );
        let kernels = [kernel(7, 5), kernel(7, 6), kernel(8, 5), kernel(0, 4), kernel(7, 3)];
        let expected = |processes: &[u32]| {
            let links = Links::new(&kernels, &calls, &launching, processes);
            let linked = kernels.map(|kernel| links.operator(&kernel));
            let unknown = kernels.map(|kernel| links.is_of_several(&kernel));
            assert_eq!(
                kernels.map(|kernel| links.is_called(&kernel)),
                [true, true, true, true, false]
            );
            (linked, unknown)
        };
        // What remains is by the other number: the call of 6 is within operator 8, that of 4 within the second 7.
        let linked = [None, Some(2), Some(2), Some(1), None];
        assert_eq!(expected(&[0, 1]), (linked, [true, false, false, false, true]));
        // Ranks with one process number share correlations, too, so the launch call does not show whose operator it is.
        let linked = [None, None, Some(2), Some(1), None];
        assert_eq!(expected(&[0, 0]), (linked, [true, true, false, false, true]));
    }

    /// Operators of one number: recorded twice, one within the other, side by side, and two that take the same time.
    #[test]
    fn operators_of_one_number_are_one_or_link_nothing() {
        let other = Call { operator: 1, ..call(7, 0, 10, 50) };
        for (second, is_one) in [
            (call(7, 0, 10, 50), true),
            (call(7, 0, 20, 50), true),
            (call(7, 0, 60, 70), false),
            (call(7, 0, 20, 60), false),
            (call(7, 1, 10, 50), false),
            (other, false),
        ] {
            let calls = [call(7, 0, 10, 50), second];
            let kernels = [kernel(7, 1)];
            let links = Links::new(&kernels, &calls, &[], &[0, 0]);
            assert_eq!(links.operator(&kernels[0]), is_one.then_some(0), "{second:?}");
            assert_eq!(links.is_of_several(&kernels[0]), !is_one);
        }
    }

    #[test]
    fn parents_enclose() {
        let calls = CALLS.map(|(external, thread, start, end)| call(external, thread, start, end));
        let links = Links::new(&[], &calls, &[], &[0, 0]);
        assert_eq!([0, 1, 2, 3].map(|at| links.parent(at)), [None, Some(0), None, None]);
    }
}
