//! The shift of each kernel that both sides have, with its evidence.

use super::both::Both;
use super::comparison::Basis;
use super::evidence::{Change, Evidence, Inferred, OfAll};
use super::rows::{RUNS_OF_BOTH, Row, Shared, Table};
use super::shifts;
use super::sides::Group;
use super::statistics::rank_test;
use crate::plain::counted;
use crate::units::{Probability, Seconds, Shift, median};

/// The shift of a kernel as measured, and with the global shift subtracted.
#[derive(Default)]
struct Shifts {
    raw: Option<Evidence>,
    own: Option<Evidence>,
}

impl Table<'_> {
    pub(super) fn change(
        &self,
        row: &Row<'_>,
        shared: &Shared<'_>,
        inferred: Option<Inferred>,
    ) -> Change {
        let Both { before, after } = &row.groups;
        let Shifts { raw, own } = self.shifts(row, shared);
        let missing = raw.is_none().then(|| self.missing(row));
        let mean = row.groups.as_ref().map(Group::mean).known();
        let mean = mean.filter(|_| self.basis == Basis::Time && !row.together && !row.mixed);
        let single = (before.by_run.len(), after.by_run.len()) == (1, 1) && row.by_samples;
        let chance = single.then(|| rank_test(&before.logs(0), &after.logs(0))).flatten();
        let name = after.name();
        let was = Some(before.name()).filter(|was| *was != name);
        Change {
            pair: row.pair.clone(),
            before: before.measured(&row.centers.before),
            after: after.measured(&row.centers.after),
            name,
            was,
            own,
            raw,
            missing,
            is_mixed: row.mixed,
            launches_shift: row.more_launches(shared.work),
            of_all: self.of_all(row, shared),
            cycles: self.cycles(row),
            mean_shift: mean.map(|mean| Shift::new(mean.after - mean.before) - row.other_work()),
            p_launches: chance.map(Probability::new),
            // What a launch does says nothing where others ran.
            work: row.work.filter(|_| !row.mixed),
            inferred,
        }
    }

    /// Explains why a shift is missing.
    fn missing(&self, row: &Row<'_>) -> String {
        if row.mixed {
            let all = row.groups.as_ref().map(|group| {
                let kernels = counted(group.mix().kernels() as u64, "kernel", "kernels");
                let launches = group.launches();
                let word = if launches == 1.0 { "launch" } else { "launches" };
                format!("{kernels} ({launches} {word})")
            });
            let (before, after) = (all.before, all.after);
            return format!("{before} became {after}: only the time of all is compared");
        }
        let known = row.known();
        let side = match (known.before.is_empty(), known.after.is_empty()) {
            (true, true) => None,
            (true, false) => Some("the baseline"),
            _ => Some("the current side"),
        };
        match (self.basis, side) {
            (Basis::Time, None) => "neither side has its duration".to_owned(),
            (Basis::Time, Some(side)) => format!("{side} has no duration for it"),
            (Basis::Headroom, None) => "it has no certain roofline time on either side".to_owned(),
            (Basis::Headroom, Some(side)) => format!("{side} has no certain roofline time for it"),
        }
    }

    fn shifts(&self, row: &Row<'_>, shared: &Shared<'_>) -> Shifts {
        let known = row.known();
        if known.iter().any(Vec::is_empty) {
            return Shifts::default();
        }
        let logs = row.groups.as_ref().map(Group::all_logs);
        // A kernel that only one run of each side has is judged as if there were only these.
        if !self.several() || known.before.len() + known.after.len() < RUNS_OF_BOTH {
            self.of_one_run(row, &known, &logs, shared)
        } else {
            self.of_several(row, &known, &logs, shared)
        }
    }

    /// Evidence from one run per side.
    fn of_one_run(
        &self,
        row: &Row<'_>,
        known: &Both<Vec<f64>>,
        logs: &Both<Vec<Vec<f64>>>,
        shared: &Shared<'_>,
    ) -> Shifts {
        let there = |logs: &Vec<Vec<f64>>| logs.iter().find(|run| !run.is_empty()).cloned();
        let samples = logs.as_ref().map(there).known();
        let samples = samples.filter(|_| row.by_samples && self.basis == Basis::Time);
        let between = |values: &Both<Vec<f64>>| Shift::new(values.after[0] - values.before[0]);
        let removed = shared.common.removed;
        let taken = if removed && self.several() {
            // The two runs that have it share what befell these runs, not the median of all.
            between(known) - between(&row.without(shared.offsets))
        } else if removed {
            shared.common.evidence.shift
        } else {
            Shift::ZERO
        };
        let of = |offset: Shift| {
            let mut evidence = if let Some(samples) = &samples {
                let samples = samples.as_ref().map(Vec::as_slice);
                let offset = offset + row.other_work();
                shifts::of_launches(samples, offset, &self.noise, self.timer)?
            } else {
                shifts::single(between(known) - offset, self.few(row))
            };
            // What befell all kernels of a run is in the shift of each, unless it is taken out.
            if !removed {
                evidence.floor = evidence.floor.max(self.noise.common.shift());
            }
            Some(evidence)
        };
        Shifts { raw: of(Shift::ZERO), own: of(taken) }
    }

    /// What the noise of its fewest launches may do.
    fn few(&self, row: &Row<'_>) -> Shift {
        let launches = row
            .groups
            .as_ref()
            .map(|group| group.all().map(|kernel| kernel.timed).min().unwrap_or(1) as usize);
        self.noise.few(launches.before, launches.after)
    }

    /// Evidence from several runs with one value each.
    fn of_several(
        &self,
        row: &Row<'_>,
        known: &Both<Vec<f64>>,
        logs: &Both<Vec<Vec<f64>>>,
        shared: &Shared<'_>,
    ) -> Shifts {
        let runs: Vec<&[f64]> = logs.iter().flatten().map(Vec::as_slice).collect();
        let within = if row.by_samples { shifts::within(&runs) } else { None };
        let centers = row.centers.iter().flatten().flatten();
        let tick = shifts::unseen(centers, self.timer.max(self.noise.timer_s));
        // Without a common shift taken out, a kernel moves with the device and the day of its side.
        let floor = if shared.common.removed { tick } else { tick.max(self.between_sides()) };
        let of = |values: &Both<Vec<f64>>| {
            let values = values.as_ref().map(Vec::as_slice);
            let evidence = shifts::of_runs(values, shared.prior, floor)?;
            Some(Evidence { tick, within, ..evidence })
        };
        let raw = of(known);
        let own =
            if shared.common.removed { of(&row.without(shared.offsets)) } else { raw.clone() };
        Shifts { raw, own }
    }

    /// The time of all launches in a run, for the same amount of work.
    fn of_all(&self, row: &Row<'_>, shared: &Shared<'_>) -> Option<OfAll> {
        if self.basis == Basis::Headroom {
            return None;
        }
        let removed = shared.common.removed;
        let logs = |group: &Group<'_>, offsets: &[f64], work: Shift| -> Vec<f64> {
            let times = group.times().into_iter().zip(offsets).filter(|(time, _)| *time > 0.0);
            let offset = |offset: &f64| if removed { *offset } else { 0.0 };
            times.map(|(time, of_run)| time.ln() - offset(of_run) - work.get()).collect()
        };
        let offsets = &shared.offsets.runs;
        let more = shared.work.shift() + row.other_work_of_all(shared.work);
        let values = Both {
            before: logs(&row.groups.before, &offsets.before, Shift::ZERO),
            after: logs(&row.groups.after, &offsets.after, more),
        };
        let evidence = if self.several() {
            // Sums of launches vary more than the typical one, which the variances of all kernels are pooled of.
            shifts::of_runs(values.as_ref().map(Vec::as_slice), None, Shift::ZERO)?
        } else {
            let (before, after) = (values.before.first()?, values.after.first()?);
            // Of mixed kernels it stands for the evidence on a launch.
            let floor = match (row.mixed, removed) {
                (false, _) => self.noise.kernel.shift(),
                (true, true) => self.few(row),
                (true, false) => self.few(row).max(self.noise.common.shift()),
            };
            shifts::single(Shift::new(after - before), floor)
        };
        let times = row.groups.as_ref().map(|group| {
            let known: Vec<f64> = group.times().into_iter().filter(|time| *time > 0.0).collect();
            median(&known)
        });
        let (times, launches) = (times.known()?, row.launches()?);
        Some(OfAll {
            evidence,
            before_s: Seconds::new(times.before * more.get().exp()),
            after_s: Seconds::new(times.after),
            launches_before: launches.before * shared.work.get(),
            launches_after: launches.after,
        })
    }

    /// The shift in SM cycles, if every run of both sides has clocks.
    fn cycles(&self, row: &Row<'_>) -> Option<Evidence> {
        if self.basis == Basis::Headroom || !row.by_samples {
            return None;
        }
        let centers = row.groups.as_ref().map(Group::cycle_centers).known()?;
        let centers = centers.map(|runs| runs.into_iter().flatten().collect::<Vec<f64>>());
        if centers.before.len() + centers.after.len() >= RUNS_OF_BOTH {
            let evidence = shifts::of_runs(centers.as_ref().map(Vec::as_slice), None, Shift::ZERO)?;
            return Some(evidence.without(row.other_work()));
        }
        let logs = row.groups.as_ref().map(|group| group.cycle_logs(0));
        let logs = logs.as_ref().map(Vec::as_slice);
        shifts::of_launches(logs, row.other_work(), &self.noise, Seconds::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::super::made::{kernel, run};
    use super::super::noise::Noise;
    use super::super::run::{Run, RunKernel};
    use super::super::{Comparison, Setting, compare};
    use super::*;

    fn compared(before: Vec<RunKernel>, after: Vec<RunKernel>) -> Comparison {
        let side = |kernels| -> [Run; 1] { [run(kernels)] };
        compare(&side(before), &side(after), &Setting::default())
    }

    /// Without ten kernels that agree nothing is taken out, and noise may do what it does to a whole run.
    #[test]
    fn where_nothing_is_taken_out_a_kernel_moves_with_its_run() {
        let [change] =
            &compared(vec![kernel("a", &[1e-3; 5])], vec![kernel("a", &[1.2e-3; 5])]).changes[..]
        else {
            panic!("one kernel")
        };
        let own = change.own.as_ref().unwrap();
        assert!((own.shift.get() - 1.2_f64.ln()).abs() < 1e-12);
        assert_eq!(own.floor, Noise::default().common.shift());
        assert_eq!(change.own, change.raw);
    }

    #[test]
    fn a_side_without_durations_is_named() {
        let timed = || kernel("a", &[1e-3; 5]);
        let untimed =
            || RunKernel { timed: 0, measured_s: Seconds::ZERO, samples_s: Vec::new(), ..timed() };
        let missing =
            |before, after| compared(vec![before], vec![after]).changes[0].missing.clone();
        assert_eq!(missing(timed(), timed()), None);
        assert_eq!(missing(untimed(), timed()).unwrap(), "the baseline has no duration for it");
        assert_eq!(missing(timed(), untimed()).unwrap(), "the current side has no duration for it");
        assert_eq!(missing(untimed(), untimed()).unwrap(), "neither side has its duration");
    }

    /// The mean of 1, 1, 1, 1 and 6 ms is 2 ms; the typical launch is as before.
    #[test]
    fn the_mean_moves_where_the_typical_launch_does_not() {
        let after = kernel("a", &[1e-3, 1e-3, 1e-3, 1e-3, 6e-3]);
        let found = compared(vec![kernel("a", &[1e-3; 5])], vec![after]);
        let change = &found.changes[0];
        assert!((change.mean_shift.unwrap().get() - 2_f64.ln()).abs() < 1e-12);
        assert!(change.raw.as_ref().unwrap().shift.abs() < Shift::new(1e-12));
    }

    /// 10% more time at a clock that is 10% lower: as many cycles. One side without clocks is not enough.
    #[test]
    fn cycles_tell_a_clock_from_the_code() {
        let at = |time: f64, cycles: &[f64]| {
            vec![RunKernel { samples_cycles: cycles.to_vec(), ..kernel("a", &[time; 5]) }]
        };
        let found = compared(at(1e-3, &[1e6; 5]), at(1.1e-3, &[1e6; 5]));
        assert_eq!(found.changes[0].cycles.as_ref().unwrap().shift, Shift::ZERO);
        let found = compared(at(1e-3, &[1e6; 5]), at(1.1e-3, &[]));
        assert!(found.changes[0].cycles.is_none());
    }

    /// Kernels of 100 and 20 µs, of which the second goes: the mean launch would be 67% slower.
    #[test]
    fn kernels_that_cannot_be_told_apart_are_compared_by_all_of_their_time() {
        let side = |fused: &[(&str, f64)]| {
            let made = fused.iter().map(|(name, time)| kernel(name, &[*time; 10]));
            let others = ["a", "b", "c"].map(|name| kernel(name, &[1e-3; 10]));
            made.chain(others).collect::<Vec<_>>()
        };
        let before = side(&[("triton_poi_add_0", 1e-4), ("triton_poi_add_1", 2e-5)]);
        let found = compared(before, side(&[("triton_poi_add_2", 1e-4)]));
        let change = found.changes.iter().find(|change| change.name.starts_with("tri")).unwrap();
        assert!(change.is_mixed && change.own.is_none() && change.raw.is_none());
        assert_eq!(
            change.missing.as_deref(),
            Some(
                "2 kernels (20 launches) became 1 kernel (10 launches): only the time of all is compared"
            )
        );
        assert_eq!(
            (change.before.launch_s, change.after.launch_s, change.mean_shift),
            (None, None, None)
        );
        let all = change.of_all.as_ref().unwrap();
        assert!((all.evidence.shift.get() - (1000_f64 / 1200.0).ln()).abs() < 1e-12);
        assert_eq!(found.coverage.compared.get(), 1.0);
    }

    /// Twice the launches of the kernel, while the other three are launched as ever.
    #[test]
    fn more_launches_are_no_slower_launch() {
        let side = |launches: usize| {
            vec![
                kernel("a", &vec![1e-3; launches]),
                kernel("b", &[5e-2; 4]),
                kernel("c", &[5e-2; 4]),
                kernel("d", &[5e-2; 4]),
            ]
        };
        let found = compared(side(4), side(8));
        let change = found.changes.iter().find(|change| change.name == "a").unwrap();
        assert!((change.launches_shift.get() - 2_f64.ln()).abs() < 1e-12);
        assert!(change.raw.as_ref().unwrap().shift.abs() < Shift::new(1e-12));
    }
}
