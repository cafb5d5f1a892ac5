//! Why a GPU was idle, gap by gap: by the call that launched the work at the end of the gap.

use std::collections::BTreeMap;

use super::union::{Interval, union, within};
use crate::model::{HintId, LaunchCall, Profile};
use crate::units::{Seconds, Share};

/// Queued kernels start 1 to 2 µs after each other: a shorter gap between them is the cost of a launch and no wait.
const SHORT: u64 = 2_000;

/// A launch takes the host 5 to 20 µs, an operator of a framework up to some hundred: in a longer gap it does something else.
const LONG: u64 = 1_000_000;

/// Why a GPU was idle. `host`, `host_waiting`, `launch`, `short`, `dependency` and `unknown` add up to its idle time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct IdleCauses {
    /// Number of gaps.
    pub gaps: u64,
    /// The host had not begun to launch the next work.
    pub host: Seconds,
    /// The same, and the thread that launched it later was in a call that synchronizes or copies.
    pub host_waiting: Seconds,
    /// The launch had begun after the GPU fell idle: the call itself and the start of the work.
    pub launch: Seconds,
    /// Part of these three in gaps of 1 ms and longer, which no launch takes.
    pub long_host: Seconds,
    /// Part of that inside launch calls and until the work starts: most often the first launch of a kernel, which loads its
    /// module.
    pub long_launch: Seconds,
    /// Number of such gaps.
    pub long_gaps: u64,
    /// The next work was launched before, and the gap is shorter than 2 µs.
    pub short: Seconds,
    /// The next work was launched before: it waited for an event, another stream, a copy or another GPU.
    pub dependency: Seconds,
    /// The call that launched the next work is not in the trace.
    pub unknown: Seconds,
    /// Share of the launched work whose call launched other work, too: that of graphs.
    pub in_graphs: Share,
}

/// Calls of the host by what they explain.
#[derive(Debug)]
pub(super) struct HostCalls<'a> {
    calls: &'a [LaunchCall],
    /// Positions of the calls for each device of a file, in order of the work that they launched.
    launches: BTreeMap<(u16, HintId), Vec<u32>>,
    /// Of each thread of a file, in order and without overlap.
    waits: BTreeMap<(u16, u32), Vec<Interval>>,
}

impl<'a> HostCalls<'a> {
    /// The calls of a profile.
    pub(super) fn of(profile: &'a Profile) -> Self {
        let calls = profile.calls.as_slice();
        let mut found = Self { calls, launches: BTreeMap::new(), waits: BTreeMap::new() };
        for (at, call) in (0_u32..).zip(calls) {
            found.launches.entry((call.source, call.device)).or_default().push(at);
        }
        for wait in &profile.waits {
            let of = found.waits.entry((wait.source, wait.thread)).or_default();
            of.push((wait.start, wait.end));
        }
        for launches in found.launches.values_mut() {
            launches.sort_unstable_by_key(|at| {
                let LaunchCall { work, start, thread, .. } = calls[*at as usize];
                (work, start, thread)
            });
        }
        for waits in found.waits.values_mut() {
            // Calls nest: a copy of the runtime may synchronize.
            *waits = union(std::mem::take(waits));
        }
        found
    }

    /// Why a device was idle between these intervals of work, which are in order; `None` where no call was recorded.
    pub(super) fn causes(
        &self,
        source: u16,
        device: HintId,
        busy: &[Interval],
    ) -> Option<IdleCauses> {
        let launches = self.launches.get(&(source, device))?;
        let [mut host, mut host_waiting, mut launch, mut short, mut dependency, mut unknown] =
            [0_u64; 6];
        let (mut long_host, mut long_launch, mut long_gaps) = (0, 0, 0);
        for pair in busy.windows(2) {
            let (idle, next) = (pair[0].1, pair[1].0);
            // Of several that start together the one that was launched first is in front.
            let call = |at: &u32| &self.calls[*at as usize];
            let at = launches.partition_point(|at| call(at).work < next);
            let cause = launches.get(at).map(call).filter(|call| call.work == next);
            let Some(LaunchCall { start: called, thread, .. }) = cause else {
                unknown += next - idle;
                continue;
            };
            if *called <= idle {
                let part = if next - idle < SHORT { &mut short } else { &mut dependency };
                *part += next - idle;
                continue;
            }
            let called = next.min(*called);
            let waits = self.waits.get(&(source, *thread));
            let waited = waits.map_or(0, |waits| within(waits, idle, called));
            if next - idle >= LONG {
                long_host += next - idle;
                long_launch += next - called;
                long_gaps += 1;
            }
            host_waiting += waited;
            host += called - idle - waited;
            launch += next - called;
        }
        let seconds = |nanoseconds: u64| Seconds::new(nanoseconds as f64 / 1e9);
        Some(IdleCauses {
            gaps: busy.len().saturating_sub(1) as u64,
            host: seconds(host),
            host_waiting: seconds(host_waiting),
            launch: seconds(launch),
            long_host: seconds(long_host),
            long_launch: seconds(long_launch),
            long_gaps,
            short: seconds(short),
            dependency: seconds(dependency),
            unknown: seconds(unknown),
            in_graphs: self.in_graphs(launches),
        })
    }

    /// The share of these launches whose call launched others, too.
    fn in_graphs(&self, launches: &[u32]) -> Share {
        let mut calls: Vec<(u32, u64)> = launches
            .iter()
            .map(|at| &self.calls[*at as usize])
            .map(|call| (call.thread, call.start))
            .collect();
        calls.sort_unstable();
        let together = calls.chunk_by(|one, next| one == next).map(<[_]>::len);
        let shared: usize = together.filter(|count| *count > 1).sum();
        Share::new(shared as f64 / launches.len().max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{HostWait, LaunchCall};

    /// Start of the work, start of its call and thread; waits by thread.
    fn causes(
        busy: &[(u64, u64)],
        calls: &[(u64, u64, u32)],
        waits: &[(u32, u64, u64)],
    ) -> [u64; 6] {
        let call = |of: &(u64, u64, u32)| LaunchCall {
            work: of.0,
            start: of.1,
            thread: of.2,
            ..LaunchCall::default()
        };
        let wait = |of: &(u32, u64, u64)| HostWait {
            thread: of.0,
            start: of.1,
            end: of.2,
            ..HostWait::default()
        };
        let profile = Profile {
            calls: calls.iter().map(call).collect(),
            waits: waits.iter().map(wait).collect(),
            ..Profile::default()
        };
        let found = HostCalls::of(&profile).causes(0, HintId::default(), busy).unwrap();
        let IdleCauses { host, host_waiting, launch, short, dependency, unknown, .. } = found;
        let parts = [host, host_waiting, launch, short, dependency, unknown];
        let parts = parts.map(|part| (part.get() * 1e9).round() as u64);
        let idle: u64 = busy.windows(2).map(|pair| pair[1].0 - pair[0].1).sum();
        assert_eq!(parts.iter().sum::<u64>(), idle);
        parts
    }

    /// One gap of each kind: launched at 5.0 of 0–10 µs, before a short one, before a long one, by no known call.
    #[test]
    fn a_gap_is_split_where_the_launch_of_the_next_work_begins() {
        let busy =
            [(0, 10_000), (20_000, 30_000), (31_000, 40_000), (50_000, 60_000), (70_000, 71_000)];
        let calls = [(20_000, 15_000, 0), (31_000, 16_000, 0), (50_000, 17_000, 0)];
        assert_eq!(causes(&busy, &calls, &[]), [5_000, 0, 5_000, 1_000, 10_000, 10_000]);
    }

    #[test]
    fn of_work_that_starts_together_the_first_launch_counts() {
        let calls = [(20_000, 18_000, 0), (20_000, 12_000, 1)];
        assert_eq!(
            causes(&[(0, 10_000), (20_000, 30_000)], &calls, &[]),
            [2_000, 0, 8_000, 0, 0, 0]
        );
    }

    /// The thread synchronizes until 14 µs, in two calls of which one holds the other; another thread does not count.
    #[test]
    fn the_host_waits_only_in_calls_of_the_thread_that_launches_next() {
        let calls = [(30_000, 20_000, 3)];
        let waits =
            [(3, 5_000, 14_000), (3, 6_000, 7_000), (4, 10_000, 30_000), (3, 25_000, 29_000)];
        assert_eq!(
            causes(&[(0, 10_000), (30_000, 40_000)], &calls, &waits),
            [6_000, 4_000, 10_000, 0, 0, 0]
        );
    }

    /// A call that launches three kernels is that of a graph; one kernel in four has a call of its own.
    #[test]
    fn work_of_one_call_is_that_of_a_graph() {
        let call = |work, start| LaunchCall { work, start, ..LaunchCall::default() };
        let calls = vec![call(10, 1), call(20, 1), call(30, 1), call(40, 35)];
        let profile = Profile { calls, ..Profile::default() };
        let found = HostCalls::of(&profile).causes(0, HintId::default(), &[(10, 20)]).unwrap();
        assert_eq!(found.in_graphs, Share::new(0.75));
    }

    #[test]
    fn nothing_is_said_without_calls() {
        let profile = Profile::default();
        let host = HostCalls::of(&profile);
        assert_eq!(host.causes(0, HintId::default(), &[(0, 1), (2, 3)]), None);
    }
}
