//! How long kernels had other kernels beside them on their GPU: then what they leave idle is not idle, and the roofs are
//! not theirs alone.

use std::collections::BTreeMap;

use super::Kernel;
use crate::model::{HintId, Launch, Profile, Quantity};
use crate::units::Seconds;

/// The share of its time beside other computation from which how far a kernel is from its roofs says nothing of it.
const SHARED: f64 = 0.10;

/// A launch on the timeline of its GPU, in nanoseconds.
struct Placed {
    start: u64,
    end: u64,
    kernel: u32,
    stream: Stream,
}

/// A stream: each process numbers its own.
type Stream = (u32, Option<u32>);

/// How long a kernel ran beside others on its GPU, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Company {
    /// Beside launches of any kind.
    pub(super) beside: u64,
    /// Beside computation in other streams. The next launch of a stream may begin before the last one has ended.
    pub(super) shared: u64,
}

/// The launches that have a place in time, by file and GPU. A profiler that measures launch by launch lets nothing else
/// run: its launches do not overlap.
#[derive(Default)]
pub(super) struct Beside(BTreeMap<(u16, HintId), Vec<Placed>>);

impl Beside {
    /// Returns the launches of a profile, each with its kernel.
    pub(super) fn of(profile: &Profile, of_row: &[u32]) -> Self {
        let mut placed = Self::default();
        if profile.launches.has_starts() {
            for (launch, kernel) in profile.iter().zip(of_row) {
                placed.add(&launch, *kernel);
            }
        }
        placed
    }

    /// Adds a launch of a kernel.
    pub(super) fn add(&mut self, launch: &Launch<'_>, kernel: u32) {
        let head = &launch.head;
        let Some(start) = head.start else { return };
        let time = launch.value(Quantity::Duration).map_or(0, |time| (time * 1e9).round() as u64);
        let stream = (head.process, head.stream);
        let placed = Placed { start, end: start.saturating_add(time), kernel, stream };
        self.0.entry((head.source, head.device)).or_default().push(placed);
    }

    /// Returns how long each of so many kernels ran beside others. `computes` tells computation from communication and
    /// copies, which are limited by links.
    pub(super) fn times(
        mut self,
        kernels: usize,
        computes: impl Fn(usize) -> bool,
    ) -> Vec<Company> {
        let mut company = vec![Company::default(); kernels];
        for launches in self.0.values_mut() {
            add_company(launches, &computes, &mut company);
        }
        company
    }
}

impl Kernel {
    /// Sets how long it ran beside others.
    pub(super) fn place_beside(&mut self, company: Company) {
        if company.beside > 0 {
            let time = |time: u64| Seconds::new(time as f64 * 1e-9).min(self.measured);
            let (beside, shared) = (time(company.beside), time(company.shared));
            let extras = self.extras.get_or_insert_default();
            (extras.beside, extras.shared) = (beside, shared);
        }
    }

    /// Returns `true` if it shared its GPU with other computation for more than a tenth of its time: how far it is from
    /// the roofs is then not its own.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.shared() > self.measured * SHARED
    }
}

/// Adds the time in which each kernel runs beside other launches of one GPU, launches of its own name included.
fn add_company(
    launches: &mut [Placed],
    computes: &impl Fn(usize) -> bool,
    company: &mut [Company],
) {
    launches.sort_unstable_by_key(|launch| launch.start);
    let mut latest = 0;
    let overlaps = launches.iter().any(|launch| {
        let is_before_the_end = launch.start < latest;
        latest = latest.max(launch.end);
        is_before_the_end
    });
    // One stream, as most programs have.
    if !overlaps {
        return;
    }
    // All starts and ends in order of time. What takes no time has nothing beside it.
    let mut moments: Vec<(u64, bool, u32)> = Vec::with_capacity(2 * launches.len());
    for (number, launch) in launches.iter().enumerate().filter(|(_, one)| one.end > one.start) {
        moments.push((launch.start, true, number as u32));
        moments.push((launch.end, false, number as u32));
    }
    moments.sort_unstable_by_key(|(at, is_start, _)| (*at, *is_start));
    // Clocks that run while several launches do, and while several streams compute; what they showed when a launch began.
    let mut clocks = Company::default();
    let mut begun = vec![Company::default(); launches.len()];
    let (mut running, mut streams, mut since) = (0_usize, BTreeMap::<Stream, usize>::new(), 0);
    for (at, is_start, number) in moments {
        let passed = at - since;
        clocks.beside += if running > 1 { passed } else { 0 };
        clocks.shared += if streams.len() > 1 { passed } else { 0 };
        since = at;
        let Placed { kernel, stream, .. } = launches[number as usize];
        let computes = computes(kernel as usize);
        let begun = &mut begun[number as usize];
        if is_start {
            running += 1;
            *begun = clocks;
            if computes {
                *streams.entry(stream).or_default() += 1;
            }
            continue;
        }
        running -= 1;
        let company = &mut company[kernel as usize];
        company.beside = company.beside.saturating_add(clocks.beside - begun.beside);
        if computes {
            company.shared = company.shared.saturating_add(clocks.shared - begun.shared);
            let left = streams.get_mut(&stream).map_or(0, |launches| {
                *launches -= 1;
                *launches
            });
            if left == 0 {
                streams.remove(&stream);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Confidence, State};
    use crate::ingest::{Options, read_text};
    use crate::session::Session;

    fn at(kernel: u32, stream: u32, start: u64, end: u64) -> Placed {
        Placed { start, end, kernel, stream: (0, Some(stream)) }
    }

    fn company(launches: &mut [Placed], kernels: usize, link: Option<usize>) -> Vec<(u64, u64)> {
        let mut company = vec![Company::default(); kernels];
        add_company(launches, &|kernel| Some(kernel) != link, &mut company);
        company.into_iter().map(|one| (one.beside, one.shared)).collect()
    }

    /// Kernel 0 runs from 0 to 100 and from 200 to 300, kernel 1 from 50 to 80 and from 290 to 400: they share 30 and 10.
    #[test]
    fn what_others_cover_is_counted_once_for_each_kernel() {
        let of = |second: u32, link| {
            let launches = &mut [
                at(0, 7, 0, 100),
                at(1, second, 50, 80),
                at(1, second, 290, 400),
                at(0, 7, 200, 300),
            ];
            company(launches, 2, link)
        };
        assert_eq!(of(20, None), [(40, 40), (40, 40)]);
        // Beside communication, or launches of one stream that overlap, no roofs are shared.
        assert_eq!(of(20, Some(1)), [(40, 0), (40, 0)]);
        assert_eq!(of(7, None), [(40, 0), (40, 0)]);
        // Streams of two processes are two, though both are the seventh of theirs.
        let mut launches = [at(0, 7, 0, 100), at(1, 7, 50, 80)];
        launches[1].stream.0 = 1;
        assert_eq!(company(&mut launches, 2, None), [(30, 30), (30, 30)]);
        // Three at a time; launches without length; what touches does not overlap.
        let launches = &mut [
            at(0, 1, 0, 10),
            at(1, 1, 10, 20),
            at(2, 2, 12, 18),
            at(3, 3, 14, 16),
            at(1, 1, 15, 15),
            at(0, 1, 20, 30),
        ];
        assert_eq!(company(launches, 4, None), [(0, 0), (6, 6), (6, 6), (2, 2)]);
        assert_eq!(company(&mut [at(0, 1, 0, 10), at(0, 2, 10, 20)], 1, None), [(0, 0)]);
    }

    /// Two kernels on a GPU of 616 GB/s that each read 30.8 MB, 50 µs, in 100 µs, in streams of their own. One after the
    /// other each could be twice as fast; at the same time they moved 61.6 MB in 100 µs, which is all that there is.
    #[test]
    fn the_gap_of_kernels_that_share_a_gpu_is_not_their_own() {
        let analysis = |second_starts: u64, name: &str, stream: u32| {
            let mut table =
                "source,kernel,device_ordinal,launches,stream,start_ns,grid_x,blocks,threads_per_block,duration_s,dram_bytes,flops_fp64_vector,flops_fp32_vector,flops_fp16_vector,flops_fp16_matrix\n"
                    .to_owned();
            for at in 0..20 {
                let start = at * 1_000_000;
                let second = start + second_starts;
                table.push_str(&format!(
                    "run,one,0,1,7,{start},8704,8704,256,1e-4,3.08e7,0,1e6,0,0\nrun,{name},0,1,{stream},{second},8704,8704,256,1e-4,3.08e7,0,1e6,0,0\n"
                ));
            }
            let profile = read_text("table.csv", table.leak(), &Options::default()).unwrap();
            Session::default().on(Some("RTX 2080 Ti".to_owned())).analyze(&profile).unwrap()
        };
        let alone = analysis(100_000, "two", 8);
        for kernel in &alone.kernels {
            assert_eq!((kernel.state, kernel.shared()), (State::Flagged, Seconds::ZERO));
        }
        assert!(alone.totals.savings > Seconds::ZERO);
        let beside = analysis(0, "two", 8);
        for kernel in &beside.kernels {
            assert_eq!(
                (kernel.state, kernel.confidence),
                (State::Possible, Some(Confidence::Possible))
            );
            assert!((kernel.shared().get() - 2e-3).abs() < 1e-12 && !kernel.is_winnable);
            assert_eq!(
                kernel.reason.to_string(),
                "2.00× the roofline time; shared the GPU with other kernels 100% of the time"
            );
            assert!(kernel.meaning().contains("100% of its time and shared the roofs"));
        }
        assert_eq!(
            (beside.totals.savings, beside.totals.savings_low),
            (Seconds::ZERO, Seconds::ZERO)
        );
        assert!((beside.totals.savings_unproven.get() - 2e-3).abs() < 1e-12);
        // A tenth may be the end of one and the beginning of the next.
        let touching = analysis(90_001, "two", 8);
        assert!(touching.kernels.iter().all(|kernel| kernel.state == State::Flagged));
        let more = analysis(89_900, "two", 8);
        assert!(more.kernels.iter().all(|kernel| kernel.state == State::Possible));
        // Nor are the roofs shared by launches of one stream, or with communication.
        for other in
            [analysis(0, "two", 7), analysis(0, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 8)]
        {
            let one = other.kernels.iter().find(|kernel| &*kernel.name == "one").unwrap();
            assert_eq!((one.state, one.shared()), (State::Flagged, Seconds::ZERO));
        }
    }
}
