//! How long kernels had other kernels beside them on their GPU: then what they leave idle is not idle.

use std::collections::BTreeMap;

use super::{Analysis, Kernel};
use crate::model::{HintId, Launch, Profile, Quantity};
use crate::units::Seconds;

/// A launch on the timeline of its GPU, in nanoseconds.
struct Placed {
    start: u64,
    end: u64,
    kernel: usize,
}

/// The launches that have a place in time, by file and GPU. A profiler that measures launch by launch lets nothing else
/// run: its launches do not overlap.
#[derive(Default)]
pub(super) struct Beside(BTreeMap<(u16, HintId), Vec<Placed>>);

impl Beside {
    /// Adds a launch of a kernel.
    pub(super) fn add(&mut self, launch: &Launch<'_>, kernel: usize) {
        let head = &launch.head;
        let Some(start) = head.start else { return };
        let time = launch.value(Quantity::Duration).map_or(0, |time| (time * 1e9).round() as u64);
        let placed = Placed { start, end: start.saturating_add(time), kernel };
        self.0.entry((head.source, head.device)).or_default().push(placed);
    }

    /// Returns how long each of so many kernels ran beside others, in nanoseconds.
    pub(super) fn times(mut self, kernels: usize) -> Vec<u64> {
        let mut beside = vec![0_u64; kernels];
        for launches in self.0.values_mut() {
            add_beside(launches, &mut beside);
        }
        beside
    }
}

impl Kernel {
    /// Sets how long it ran beside others.
    pub(super) fn place_beside(&mut self, nanoseconds: u64) {
        if nanoseconds > 0 {
            let time = Seconds::new(nanoseconds as f64 * 1e-9).min(self.measured);
            self.extras.get_or_insert_default().beside = time;
        }
    }
}

impl Analysis {
    /// Sets how long each kernel ran beside others.
    pub(super) fn place_beside(&mut self, profile: &Profile) {
        if !profile.launches.has_starts() {
            return;
        }
        let mut placed = Beside::default();
        self.each_grouped(profile, |kernel, launch| placed.add(launch, kernel));
        let times = placed.times(self.kernels.len());
        for (kernel, time) in self.kernels.iter_mut().zip(times) {
            kernel.place_beside(time);
        }
    }
}

/// Adds the time in which each kernel runs beside other launches of one GPU, launches of its own name included.
fn add_beside(launches: &mut [Placed], beside: &mut [u64]) {
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
    // All starts and ends in order of time. While one launch runs, the numbers of those that run, combined bit by bit, are
    // its own. What takes no time has nothing beside it.
    let mut moments: Vec<(u64, bool, usize)> = Vec::with_capacity(2 * launches.len());
    for (number, launch) in launches.iter().enumerate().filter(|(_, one)| one.end > one.start) {
        moments.push((launch.start, true, number));
        moments.push((launch.end, false, number));
        beside[launch.kernel] = beside[launch.kernel].saturating_add(launch.end - launch.start);
    }
    moments.sort_unstable_by_key(|(at, is_start, _)| (*at, *is_start));
    let (mut running, mut numbers, mut since) = (0_usize, 0_usize, 0);
    for (at, is_start, number) in moments {
        if running == 1 {
            let time = &mut beside[launches[numbers].kernel];
            *time = time.saturating_sub(at - since);
        }
        running = if is_start { running + 1 } else { running - 1 };
        (numbers, since) = (numbers ^ number, at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kernel 0 runs from 0 to 100 and from 200 to 300, kernel 1 from 50 to 80 and from 290 to 400: they share 30 and 10.
    #[test]
    fn what_others_cover_is_counted_once_for_each_kernel() {
        let at = |kernel, start, end| Placed { start, end, kernel };
        let mut launches = [at(0, 0, 100), at(1, 50, 80), at(1, 290, 400), at(0, 200, 300)];
        let mut beside = [0; 2];
        add_beside(&mut launches, &mut beside);
        assert_eq!(beside, [40, 40]);
        // Three at a time; launches without length; what touches does not overlap.
        let mut launches = [
            at(0, 0, 10),
            at(1, 10, 20),
            at(2, 12, 18),
            at(3, 14, 16),
            at(1, 15, 15),
            at(0, 20, 30),
        ];
        let mut beside = [0; 4];
        add_beside(&mut launches, &mut beside);
        assert_eq!(beside, [0, 6, 6, 2]);
        let mut beside = [0; 1];
        add_beside(&mut [at(0, 0, 10), at(0, 10, 20)], &mut beside);
        assert_eq!(beside, [0]);
    }
}
