//! Which operator a kernel belongs to, and where the call is that launched it.
//!
//! A kernel names its operator by `External id`. Traces of 2022 write the correlation of the launch
//! there, and some kernels have none: then the launch is the call of the same correlation, and its
//! operator the innermost one on its thread at that time.

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
}

impl<'a> Links<'a> {
    /// Links between these; of launches of one correlation the last one counts.
    pub(super) fn new(kernels: &[Kernel], calls: &'a [Call], launching: &'a [Launching]) -> Self {
        let mut by_external = Positions::default();
        let same = kernels.iter().filter(|kernel| kernel.external == kernel.correlation).count();
        if same * 2 <= kernels.len() {
            let number = |at: usize| &calls[at].external;
            for (at, call) in calls.iter().enumerate() {
                if call.external > 0 && by_external.find(&call.external, number).is_none() {
                    by_external.add(at, number);
                }
            }
        }
        let mut by_correlation = Positions::default();
        let number = |at: usize| &launching[at].correlation;
        for (at, launch) in launching.iter().enumerate().rev() {
            if by_correlation.find(&launch.correlation, number).is_none() {
                by_correlation.add(at, number);
            }
        }
        Self { launching, by_correlation, calls, by_external, nested: Nested::new(calls) }
    }

    /// The call that launched work of this correlation; 0 is none.
    pub(super) fn launch(&self, correlation: u64) -> Option<&'a Launching> {
        let number = |at: usize| &self.launching[at].correlation;
        let at = self.by_correlation.find(&correlation, number).filter(|_| correlation > 0)?;
        self.launching.get(at)
    }

    /// The operator of a kernel, by its position.
    pub(super) fn operator(&self, kernel: &Kernel) -> Option<u32> {
        let number = |at: usize| &self.calls[at].external;
        if let Some(at) = self.by_external.find(&kernel.external, number) {
            return u32::try_from(at).ok();
        }
        let launch = self.launch(kernel.correlation)?;
        self.nested.around(launch.thread, launch.start).next()
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
        let links = Links::new(kernels, &calls, &launching);
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
        assert_eq!(Links::new(&kernels, &calls, &[]).operator(&kernels[0]), Some(0));
    }

    #[test]
    fn parents_enclose() {
        let calls = CALLS.map(|(external, thread, start, end)| call(external, thread, start, end));
        let links = Links::new(&[], &calls, &[]);
        assert_eq!([0, 1, 2, 3].map(|at| links.parent(at)), [None, Some(0), None, None]);
    }
}
