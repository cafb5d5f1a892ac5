//! What the runs of a side measured of its kernels: of several runs the median, because one that stands apart says
//! nothing of the others.

use super::evidence::{Change, Measured, OfRun, PerLaunch};
use super::rows::RUNS_OF_BOTH;
use super::run::{Run, RunKernel};
use super::sides::Group;
use super::statistics::{hodges_lehmann, robust_deviation};
use crate::analysis::least_headroom;
use crate::units::{Bytes, Factor, Flops, Hertz, Seconds, Share, Shift, median};

/// Headroom of the kernels in one run, and the ends of the range in which it certainly lies.
struct Headroom {
    value: f64,
    /// `None` if it is unknown.
    low: Option<f64>,
    /// Infinite if nothing is certainly needed.
    high: f64,
}

/// Whether most runs of a side lack what occurs in so many of them. Half of them is not most.
pub(crate) const fn most_lack(runs: usize, of: usize) -> bool {
    2 * runs < of
}

impl Group<'_> {
    /// Returns `true` if most runs of the side have none of its kernels.
    pub(super) fn most_lack_it(&self) -> bool {
        let runs = self.by_run.iter().filter(|kernels| !kernels.is_empty()).count();
        most_lack(runs, self.by_run.len())
    }

    /// Returns what the runs measured in which it occurs: of each figure the median over these runs.
    pub(super) fn measured(&self, centers: &[Option<f64>]) -> Measured {
        let there = self.by_run.iter().enumerate().filter(|(_, kernels)| !kernels.is_empty());
        let in_runs: Vec<usize> = there.map(|(run, _)| run).collect();
        let work = |of: &dyn Fn(&RunKernel) -> Option<f64>| {
            all(&self.each(|kernels, _| kernels.iter().copied().map(of).sum()))
        };
        let times = self.each(|kernels, _| {
            let time = |kernel: &&RunKernel| kernel.is_timed().then(|| kernel.whole_s());
            kernels.iter().map(time).sum::<Option<Seconds>>().map(Seconds::get)
        });
        let shares = self.each(|kernels, _| {
            let share = |kernel: &&RunKernel| kernel.is_timed().then_some(kernel.share.get());
            kernels.iter().map(share).sum()
        });
        let headrooms = self.each(|kernels, _| headroom(kernels));
        let headroom_of = |of: fn(&Headroom) -> Option<f64>| {
            all(&headrooms.iter().flatten().map(of).collect::<Vec<_>>())
        };
        let savings = self.each(|kernels, _| savings(kernels));
        let by_run = shares.iter().zip(&headrooms).zip(&savings);
        let by_run = by_run.map(|((share, headroom), savings)| OfRun {
            share: share.map(Share::new),
            headroom: headroom.as_ref().map(|headroom| Factor::new(headroom.value)),
            savings_s: savings.map(Seconds::new),
        });
        let launches = self.each(|kernels, _| {
            Some(kernels.iter().map(|kernel| kernel.launches).sum::<u64>() as f64)
        });
        let centers: Vec<f64> = centers.iter().flatten().copied().collect();
        let first = self.all().next();
        Measured {
            runs: in_runs.len(),
            in_runs,
            by_run: by_run.collect(),
            launches: known(&launches).unwrap_or_default(),
            time_s: known(&times).map(Seconds::new),
            launch_s: median(&centers).map(|log| Seconds::new(log.exp())),
            share: known(&shares).map(Share::new),
            bytes: work(&|kernel| kernel.bytes.map(Bytes::get)).map(Bytes::new),
            flops: work(&|kernel| kernel.flops.map(Flops::get)).map(Flops::new),
            fp64_flops: work(&|kernel| kernel.fp64_flops.map(Flops::get)).map(Flops::new),
            per_launch: PerLaunch {
                bytes: self.per_launch(&|kernel| kernel.bytes.map(Bytes::get)).map(Bytes::new),
                flops: self.per_launch(&|kernel| kernel.flops.map(Flops::get)).map(Flops::new),
                fp64_flops: self
                    .per_launch(&|kernel| kernel.fp64_flops.map(Flops::get))
                    .map(Flops::new),
            },
            headroom: headroom_of(|one| Some(one.value)).map(Factor::new),
            headroom_low: headroom_of(|one| one.low).map(Factor::new),
            headroom_high: headroom_of(|one| Some(one.high))
                .filter(|high| high.is_finite())
                .map(Factor::new),
            savings_s: known(&savings).map(Seconds::new),
            clock_hz: known(&self.each(|kernels, _| clock(kernels))).map(Hertz::new),
            category: first.map(|kernel| kernel.category.clone()).unwrap_or_default(),
            operator: self.operator(),
            full_name: first.map(|kernel| kernel.full_name.clone()).unwrap_or_default(),
            shape: self.shape(),
            device: self.device.clone(),
            findings: self.findings(),
            rules: self.rules(),
            skipped_rules: self.skipped_rules(),
        }
    }

    /// Returns the work of one of the launches in which it was counted; `None` if a run that has the kernels does not
    /// know it. What one member lacks, their sum lacks.
    pub(super) fn per_launch(&self, of: &dyn Fn(&RunKernel) -> Option<f64>) -> Option<f64> {
        all(&self.each(|kernels, run| {
            let sum = kernels.iter().copied().map(of).sum::<Option<f64>>()?;
            let counted = kernels.iter().map(|kernel| kernel.counted_launches(run.warmup));
            Some(sum / counted.sum::<u64>().max(1) as f64)
        }))
    }

    /// Returns a figure of the kernels in each run that has them.
    fn each<T>(&self, of: impl Fn(&[&RunKernel], &Run) -> Option<T>) -> Vec<Option<T>> {
        let runs = self.by_run.iter().zip(&self.runs);
        let there = runs.filter(|(kernels, _)| !kernels.is_empty());
        there.map(|(kernels, run)| of(kernels, run)).collect()
    }
}

impl Change {
    /// Returns the lower end of the distribution-free interval of the shift of what follows the time, over the runs of both
    /// sides. `None` with one run per side, and where a run knows no value above zero.
    pub(crate) fn low(&self, of: impl Fn(&OfRun) -> Option<f64>) -> Option<Shift> {
        let logs = |side: &Measured| -> Option<Vec<f64>> {
            side.by_run
                .iter()
                .map(|run| of(run).filter(|value| *value > 0.0).map(f64::ln))
                .collect()
        };
        let (before, after) = (logs(&self.before)?, logs(&self.after)?);
        if before.len() + after.len() < RUNS_OF_BOTH {
            return None;
        }
        hodges_lehmann(&before, &after).map(|shift| Shift::new(shift.low))
    }
}

impl Measured {
    /// Returns the spread of what follows the time over the runs that know it, as a standard deviation of logarithms. One
    /// run that stands apart from several makes none; zero for one run.
    pub(crate) fn spread(&self, of: impl Fn(&OfRun) -> Option<f64>) -> Shift {
        let known = self.by_run.iter().filter_map(of).filter(|value| *value > 0.0);
        let logs: Vec<f64> = known.map(f64::ln).collect();
        robust_deviation(&logs).map_or(Shift::ZERO, Shift::new)
    }
}

/// Returns the median over the runs that know a figure.
fn known(by_run: &[Option<f64>]) -> Option<f64> {
    // Most gates compare one run with one, and there are as many figures as kernels.
    if let [one] = by_run {
        return *one;
    }
    median(&by_run.iter().flatten().copied().collect::<Vec<_>>())
}

/// Returns the median if every run knows the figure.
fn all(by_run: &[Option<f64>]) -> Option<f64> {
    if let [one] = by_run {
        return *one;
    }
    median(&by_run.iter().copied().collect::<Option<Vec<f64>>>()?)
}

/// Headroom of the members that the roofline model covers; `None` if it covers none.
fn headroom(kernels: &[&RunKernel]) -> Option<Headroom> {
    let covered = || kernels.iter().filter(|kernel| kernel.roofline_s.is_some());
    let modeled: Seconds = covered().map(|kernel| kernel.judged_s).sum();
    let over =
        |roofline_time: Seconds| (roofline_time > Seconds::ZERO).then(|| modeled / roofline_time);
    let value = over(covered().filter_map(|kernel| kernel.roofline_s).sum())?;
    // What one member lacks, the sum lacks.
    let most = kernels.iter().map(|kernel| kernel.roofline_high_s).sum::<Option<Seconds>>();
    let needed = covered().filter_map(|kernel| kernel.needed_s()).sum();
    Some(Headroom {
        value,
        low: most.and_then(over).map(|bound| least_headroom(bound, value)),
        high: over(needed).unwrap_or(f64::INFINITY),
    })
}

/// Savings of all members over the launches whose time is compared: those that can be judged stand for the others.
fn savings(kernels: &[&RunKernel]) -> Option<f64> {
    let of = |kernel: &&RunKernel| {
        let savings = kernel.savings_s.filter(|_| kernel.judged_s > Seconds::ZERO)?;
        Some(savings.get() * (kernel.whole_s() / kernel.judged_s))
    };
    kernels.iter().map(of).sum()
}

/// Returns the mean SM clock of the members that have one, in hertz.
fn clock(kernels: &[&RunKernel]) -> Option<f64> {
    let clocks: Vec<f64> =
        kernels.iter().filter_map(|kernel| kernel.clock_hz).map(Hertz::get).collect();
    (!clocks.is_empty()).then(|| clocks.iter().sum::<f64>() / clocks.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::super::made::{kernel, run};
    use super::super::sides::{Joined, kernels};
    use super::*;

    /// 2 ms and 4 ms in two of three runs: 3 ms in each run that has it.
    #[test]
    fn a_kernel_is_judged_by_the_runs_that_have_it() {
        let runs = [
            run(vec![kernel("a", &[1e-3; 2])]),
            run(vec![kernel("a", &[2e-3; 2])]),
            run(vec![kernel("b", &[1e-3])]),
        ];
        let [a, b] = &kernels(&runs)[..] else { panic!("two kernels") };
        assert_eq!((a.name.as_str(), a.measured.runs, a.measured.launches), ("a", 2, 2.0));
        assert!((a.measured.time_s.unwrap().get() - 3e-3).abs() < 1e-15);
        // The median of 1 ms and 2 ms on the logarithmic scale.
        assert!((a.measured.launch_s.unwrap().get() - 2_f64.sqrt() * 1e-3).abs() < 1e-15);
        assert_eq!((b.measured.runs, b.measured.flops), (1, Some(Flops::new(1.0))));
    }

    /// 2 ms of 2 ms in one run and 1 ms of 4 ms in another; a third has it without a duration, which does not count as zero.
    #[test]
    fn times_and_shares_are_those_of_the_runs_that_know_them() {
        let untimed = || {
            let mut one = kernel("a", &[1e-3; 2]);
            (one.timed, one.measured_s) = (0, Seconds::ZERO);
            one.samples_s.clear();
            one
        };
        let runs = [
            run(vec![kernel("a", &[1e-3; 2])]),
            run(vec![kernel("a", &[5e-4; 2]), kernel("b", &[3e-3])]),
            run(vec![untimed(), kernel("b", &[3e-3])]),
        ];
        let all = kernels(&runs);
        let a = &all.iter().find(|one| one.name == "a").unwrap().measured;
        assert_eq!((a.runs, a.launches), (3, 2.0));
        assert!((a.time_s.unwrap().get() - 1.5e-3).abs() < 1e-15, "{:?}", a.time_s);
        assert!((a.share.unwrap().get() - 0.625).abs() < 1e-12, "{:?}", a.share);
        let alone = [run(vec![untimed()])];
        let found = &kernels(&alone)[0].measured;
        assert_eq!((found.time_s, found.launch_s, found.share), (None, None, None));
    }

    /// In two of three runs ten launches take 4 and 4.2 ms over a roofline time of 2 ms, between 1 and 2.5 ms, and move 100
    /// and 105 bytes each; the third takes 12 ms for twenty of 300 bytes. Means would be headroom 20.2 / 6 = 3.37 and 8,050 /
    /// 40 = 201 bytes.
    #[test]
    fn one_odd_run_of_three_decides_no_figure() {
        let one = |launches: usize, judged: f64, bytes: f64| {
            let mut one = run(vec![kernel("a", &vec![1e-3; launches]), kernel("b", &[1e-2])]);
            let a = one.kernels.iter_mut().find(|kernel| kernel.name == "a").unwrap();
            (a.measured_s, a.judged_s) = (Seconds::new(judged), Seconds::new(judged));
            a.share = Share::new(judged / (judged + 1e-2));
            a.roofline_s = Some(Seconds::new(2e-3));
            (a.roofline_low_s, a.roofline_high_s) =
                (Some(Seconds::new(1e-3)), Some(Seconds::new(2.5e-3)));
            a.savings_s = Some(Seconds::new(judged - 2e-3));
            a.bytes = Some(Bytes::new(bytes * launches as f64));
            a.fp64_flops = Some(Flops::new(2.0 * bytes * launches as f64));
            a.clock_hz = Some(Hertz::new(judged * 1e12));
            one
        };
        let of = |runs: &[Run]| {
            let all = kernels(runs);
            all.into_iter().find(|one| one.name == "a").unwrap().measured
        };
        let near = |found: f64, wanted: f64| {
            assert!((found / wanted - 1.0).abs() < 1e-12, "{found} {wanted}");
        };
        let (low, middle, odd) =
            (one(10, 4e-3, 100.0), one(10, 4.2e-3, 105.0), one(20, 1.2e-2, 300.0));
        let found = of(&[odd.clone(), low.clone(), middle.clone()]);
        near(found.headroom.unwrap().get(), 2.1);
        near(found.headroom_low.unwrap().get(), 4.2 / 2.5);
        near(found.headroom_high.unwrap().get(), 4.2);
        near(found.time_s.unwrap().get(), 4.2e-3);
        near(found.savings_s.unwrap().get(), 2.2e-3);
        near(found.share.unwrap().get(), 4.2 / 14.2);
        near(found.clock_hz.unwrap().get(), 4.2e9);
        near(found.per_launch.bytes.unwrap().get(), 105.0);
        near(found.per_launch.fp64_flops.unwrap().get(), 210.0);
        near(found.bytes.unwrap().get(), 1050.0);
        near(found.launches, 10.0);
        // Of an even number of runs, the mean of the two in the middle.
        let found = of(&[odd, middle]);
        near(found.headroom.unwrap().get(), 4.05);
        near(found.per_launch.bytes.unwrap().get(), 202.5);
        near(found.launches, 15.0);
        // What is certainly needed is known in one run of two: nothing bounds the other.
        let mut open = low.clone();
        let mut a = open.kernels.iter_mut().filter(|kernel| kernel.name == "a");
        a.next().unwrap().roofline_low_s = Some(Seconds::ZERO);
        assert_eq!(of(&[low, open]).headroom_high, None);
    }

    #[test]
    fn what_one_member_lacks_the_sum_lacks() {
        let mut without = run(vec![kernel("a", &[1e-3; 2])]);
        (without.kernels[0].flops, without.kernels[0].roofline_high_s) = (None, None);
        let found = kernels(&[run(vec![kernel("a", &[1e-3; 2])]), without]);
        assert_eq!((found[0].measured.flops, found[0].measured.headroom_low), (None, None));
        assert_eq!(found[0].measured.headroom, Some(Factor::new(2.0)));
    }

    /// Savings of 0.4 ms of the 2 ms that were judged, in a kernel of 2 ms and in one of 4 ms of which half were judged:
    /// 0.4 ms and 0.8 ms, 0.6 ms over the runs that know them.
    #[test]
    fn savings_are_those_of_the_runs_that_know_them() {
        let one = |times: &[f64], savings: Option<f64>| {
            let mut one = run(vec![kernel("a", times)]);
            one.kernels[0].judged_s = Seconds::new(2e-3);
            one.kernels[0].savings_s = savings.map(Seconds::new);
            one
        };
        let of = |runs: &[Run]| kernels(runs)[0].measured.savings_s.map(Seconds::get);
        let (two, four, unknown) =
            (one(&[1e-3; 2], Some(4e-4)), one(&[1e-3; 4], Some(4e-4)), one(&[1e-3; 2], None));
        let savings = of(&[two.clone(), unknown.clone(), four]).unwrap();
        assert!((savings - 6e-4).abs() < 1e-15, "{savings}");
        assert_eq!(of(&[unknown]), None);
        assert_eq!(of(&[one(&[1e-3; 2], Some(0.0))]), Some(0.0), "at its roofline");
        // Of two kernels that are compared as one, both must know them.
        let mut both = two;
        both.kernels.push(RunKernel { savings_s: None, ..kernel("b", &[1e-3]) });
        let runs = [both];
        assert_eq!(Joined::new(&runs).of(&[0, 1]).measured(&[]).savings_s, None);
    }
}
