//! Joins the kernels of several runs of one side and collects their values.

use std::collections::BTreeMap;

use super::both::Both;
use super::evidence::{Counted, Lone, Measured, WorkChange};
use super::mix::Mix;
use super::pairing::Identity;
use super::rule_list::RuleList;
use super::run::{Run, RunKernel};
use super::statistics::pseudomedian;
use crate::rules::Severity;
use crate::units::{Bytes, Flops, Seconds, Shift, median};

/// Headroom is certain if uncounted work, or counts that may be too high, change the roofline time by no more than 5%, the smallest
/// change that fails a default policy.
const CERTAIN_HEADROOM: f64 = 1.05;

/// The runs of one side and the kernels that occur in any of them.
pub(super) struct Joined<'a> {
    pub(super) runs: &'a [Run],
    /// For each kernel of the side: run and position of its members.
    pub(super) members: Vec<Vec<(usize, usize)>>,
    pub(super) identities: Vec<Identity>,
}

impl<'a> Joined<'a> {
    /// Joins kernels with the same full name, operator, shape and device.
    pub(super) fn new(runs: &'a [Run]) -> Self {
        let mut joined: BTreeMap<Identity, Vec<(usize, usize)>> = BTreeMap::new();
        for (at, run) in runs.iter().enumerate() {
            let several = run.device_names().len() > 1;
            for (position, kernel) in run.kernels.iter().enumerate() {
                joined.entry(identity(run, kernel, several)).or_default().push((at, position));
            }
        }
        let (mut identities, mut members) = (Vec::new(), Vec::new());
        for (mut identity, places) in joined {
            identity.runs = places.iter().map(|(run, _)| *run).collect();
            identity.runs.dedup();
            identities.push(identity);
            members.push(places);
        }
        Self { runs, members, identities }
    }

    /// Returns the time of all kernels of all runs if every launch took as long as a typical one
    /// of its kernel and run.
    pub(super) fn typical_time(&self) -> Seconds {
        let of = |run: &Run| run.kernels.iter().map(RunKernel::typical_s).sum::<Seconds>();
        self.runs.iter().map(of).sum()
    }

    /// Returns the kernels at these positions, most time first.
    pub(super) fn lone(&self, positions: impl IntoIterator<Item = usize>) -> Vec<Lone> {
        let of = |kernel: usize| {
            let group = self.of(&[kernel]);
            let measured = group.measured(&group.centers(group.has_samples()));
            Lone { kernel, name: group.name(), measured }
        };
        let mut lone: Vec<Lone> = positions.into_iter().map(of).collect();
        lone.sort_by(|one, two| {
            let time = |lone: &Lone| lone.measured.time_s.unwrap_or_default();
            let by_time = time(two).total_cmp(&time(one));
            by_time.then_with(|| one.name.cmp(&two.name)).then(one.kernel.cmp(&two.kernel))
        });
        lone
    }

    /// Returns the kernels at these positions, run by run.
    pub(super) fn of(&self, positions: &[usize]) -> Group<'a> {
        let mut by_run: Vec<Vec<&'a RunKernel>> = self.runs.iter().map(|_| Vec::new()).collect();
        for (run, position) in positions.iter().flat_map(|position| &self.members[*position]) {
            by_run[*run].push(&self.runs[*run].kernels[*position]);
        }
        // Each run counts its devices by itself.
        let device = by_run.iter().zip(self.runs).find_map(|(kernels, run)| {
            Some(run.devices.get(kernels.first()?.device)?.name.clone())
        });
        Group { by_run, runs: self.runs.iter().collect(), device: device.unwrap_or_default() }
    }
}

fn identity(run: &Run, kernel: &RunKernel, several: bool) -> Identity {
    let device = run.devices.get(kernel.device).filter(|_| several);
    Identity {
        full: kernel.written().to_owned(),
        operator: kernel.operator.clone().unwrap_or_default(),
        shape: format!(
            "{:?}",
            (kernel.grid, kernel.block, kernel.blocks, kernel.threads_per_block)
        ),
        device: device.map(|device| device.name.clone()).unwrap_or_default(),
        runs: Vec::new(),
    }
}

/// Returns every kernel that occurs in any of the runs, with the medians over the runs that have it, most
/// time first.
#[must_use]
pub fn kernels(runs: &[Run]) -> Vec<Lone> {
    let joined = Joined::new(runs);
    joined.lone(0..joined.members.len())
}

/// Returns the same with what each run measured that has it, in the order of the runs.
#[must_use]
pub(crate) fn kernels_by_run(runs: &[Run]) -> Vec<(Lone, Vec<Measured>)> {
    let joined = Joined::new(runs);
    let of_runs = |kernel: usize| {
        let Group { by_run, runs, device } = joined.of(&[kernel]);
        let there = by_run.into_iter().zip(runs).filter(|(kernels, _)| !kernels.is_empty());
        let of_run = |(kernels, run)| {
            let group = Group { by_run: vec![kernels], runs: vec![run], device: device.clone() };
            group.measured(&group.centers(group.has_samples()))
        };
        there.map(of_run).collect()
    };
    let all = joined.lone(0..joined.members.len());
    all.into_iter()
        .map(|lone| {
            let by_run = of_runs(lone.kernel);
            (lone, by_run)
        })
        .collect()
}

/// Kernels that are treated as one, in each run of a side.
pub(super) struct Group<'a> {
    pub(super) by_run: Vec<Vec<&'a RunKernel>>,
    /// The runs themselves.
    pub(super) runs: Vec<&'a Run>,
    pub(super) device: String,
}

impl<'a> Group<'a> {
    /// Iterates over every kernel of every run.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a RunKernel> + Clone {
        self.by_run.iter().flatten().copied()
    }

    /// Returns `true` if each run has it at most once, with the times of its launches.
    pub(super) fn has_samples(&self) -> bool {
        self.by_run.iter().all(|kernels| match kernels.as_slice() {
            [] => true,
            [kernel] => !kernel.samples_s.is_empty(),
            _ => false,
        })
    }

    /// Returns the logarithms of single launch times in one run.
    pub(super) fn logs(&self, run: usize) -> Vec<f64> {
        let first = self.by_run[run].first();
        logs(first.into_iter().flat_map(|kernel| seconds(&kernel.samples_s)))
    }

    /// Returns the logarithms of single launch times of every run.
    pub(super) fn all_logs(&self) -> Vec<Vec<f64>> {
        (0..self.by_run.len()).map(|run| self.logs(run)).collect()
    }

    /// Returns the logarithms of single launches' cycles in one run.
    pub(super) fn cycle_logs(&self, run: usize) -> Vec<f64> {
        let first = self.by_run[run].first();
        logs(first.into_iter().flat_map(|kernel| kernel.samples_cycles.iter().copied()))
    }

    /// Returns the logarithm of the typical launch time of each run: that of single launches, else
    /// the mean.
    pub(super) fn centers(&self, by_samples: bool) -> Vec<Option<f64>> {
        let of = |run: usize| {
            let kernels = &self.by_run[run];
            if by_samples {
                return kernels.first().and_then(|kernel| kernel.launch_log());
            }
            mean_launch(kernels.iter().copied()).map(|time| time.get().ln())
        };
        (0..self.by_run.len()).map(of).collect()
    }

    /// Returns the logarithm of the typical cycles of each run, in which it may be missing; `None` if a run that has
    /// the kernel has no clock.
    pub(super) fn cycle_centers(&self) -> Option<Vec<Option<f64>>> {
        let center = |(run, kernels): (usize, &Vec<&RunKernel>)| match kernels.len() {
            0 => Some(None),
            1 => pseudomedian(&self.cycle_logs(run)).map(Some),
            _ => None,
        };
        let centers: Vec<Option<f64>> =
            self.by_run.iter().enumerate().map(center).collect::<Option<_>>()?;
        centers.iter().any(Option::is_some).then_some(centers)
    }

    /// Returns the logarithm of headroom in each run; `None` for a run in which the roofline does
    /// not cover the kernel, or leaves it uncertain by more than 5%.
    pub(super) fn headrooms(&self) -> Vec<Option<f64>> {
        let of = |kernels: &Vec<&RunKernel>| {
            let zero = Seconds::ZERO;
            let (mut measured, mut roofline_time, mut high, mut needed) = (zero, zero, zero, zero);
            for kernel in kernels {
                measured += kernel.judged_s;
                roofline_time += kernel.roofline_s.filter(|time| *time > zero)?;
                high += kernel.roofline_high_s?;
                needed += kernel.needed_s()?;
            }
            let certain = high <= needed * CERTAIN_HEADROOM;
            (measured > zero && roofline_time > zero && certain)
                .then(|| (measured / roofline_time).ln())
        };
        self.by_run
            .iter()
            .map(|kernels| if kernels.is_empty() { None } else { of(kernels) })
            .collect()
    }

    /// Time of all kernels each time that they run, as the logarithm of seconds, for each run.
    pub(super) fn together(&self) -> Vec<Option<f64>> {
        let of = |kernels: &Vec<&RunKernel>| {
            let time: Seconds = kernels.iter().map(|kernel| kernel.typical_s()).sum();
            let times = kernels.iter().map(|kernel| kernel.launches).max()?;
            (time > Seconds::ZERO && times > 0).then(|| (time / times as f64).get().ln())
        };
        self.by_run.iter().map(of).collect()
    }

    /// How its launches divide among its kernels, in the run that has most of them.
    pub(super) fn mix(&self) -> Mix {
        let launches = |kernels: &[&RunKernel]| kernels.iter().map(|one| one.launches).sum::<u64>();
        let most = self.by_run.iter().max_by_key(|kernels| (kernels.len(), launches(kernels)));
        Mix::of(most.into_iter().flatten().copied())
    }

    /// How often all kernels run in one run: the median over the runs of the side, as launches are.
    pub(super) fn occurrences(&self) -> f64 {
        self.usual(|kernels| kernels.iter().map(|kernel| kernel.launches).max().unwrap_or(0))
    }

    /// The operator of its kernels.
    pub(super) fn operator(&self) -> Option<String> {
        self.all().next().and_then(|kernel| kernel.operator.clone())
    }

    /// Time of all kernels in each run; zero in a run that has none of them.
    pub(super) fn times(&self) -> Vec<f64> {
        let of = |kernels: &Vec<&RunKernel>| -> f64 {
            kernels.iter().map(|kernel| kernel.whole_s()).sum::<Seconds>().get()
        };
        self.by_run.iter().map(of).collect()
    }

    /// By how much the work of a launch differs between two sides, as far as both counted it.
    pub(super) fn other_work(groups: &Both<Self>, normalized: bool) -> Option<WorkChange> {
        let per_launch = |of: &dyn Fn(&RunKernel) -> Option<f64>| {
            let of_side = |group: &Self| group.per_launch(of).filter(|work| *work > 0.0);
            groups.as_ref().map(of_side).known()
        };
        let flops = per_launch(&|kernel| kernel.flops.map(Flops::get));
        let bytes = || per_launch(&|kernel| kernel.bytes.map(Bytes::get));
        let (counted, of_launch) = match flops {
            Some(flops) => (Counted::Flops, flops),
            None => (Counted::Bytes, bytes()?),
        };
        let shift = Shift::between(of_launch.before, of_launch.after);
        (shift.abs() > counted.noise()).then_some(WorkChange { counted, shift, normalized })
    }

    /// Returns the launches in one run: the median over the runs of the side, because one of them that did more work
    /// says nothing of the others; the mean, if most runs have none.
    pub(super) fn launches(&self) -> f64 {
        self.usual(|kernels| kernels.iter().map(|kernel| kernel.launches).sum())
    }

    /// Returns the median of a count over all runs of the side; the mean, if it is zero in most of them.
    fn usual(&self, of: impl Fn(&[&RunKernel]) -> u64) -> f64 {
        let runs: Vec<f64> = self.by_run.iter().map(|kernels| of(kernels) as f64).collect();
        median(&runs)
            .filter(|count| *count > 0.0)
            .unwrap_or_else(|| runs.iter().sum::<f64>() / runs.len().max(1) as f64)
    }

    /// Returns the logarithm of the mean launch time of a run, the median over the runs: one run in which
    /// everything took longer makes no launch of the others slow.
    pub(super) fn mean(&self) -> Option<f64> {
        let means = self.by_run.iter().filter_map(|kernels| mean_launch(kernels.iter().copied()));
        median(&means.map(|time| time.get().ln()).collect::<Vec<_>>())
    }

    /// Returns the findings of all members, each once.
    pub(super) fn findings(&self) -> Vec<(String, Severity)> {
        let findings = self.all().flat_map(|kernel| &kernel.findings);
        let mut findings: Vec<(String, Severity)> = findings
            .map(|one| (crate::rules::current(&one.rule).to_owned(), one.severity))
            .collect();
        findings.sort_unstable();
        findings.dedup();
        findings
    }

    /// Returns the rules that ran in every run that has a member.
    pub(super) fn rules(&self) -> Option<RuleList> {
        let members = self.by_run.iter().zip(&self.runs).filter(|(kernels, _)| !kernels.is_empty());
        let lists = members.map(|(_, run)| run.rules.as_ref()).collect::<Option<Vec<_>>>()?;
        let (first, others) = lists.split_first()?;
        Some(others.iter().fold((*first).clone(), |both, list| both.common(list)))
    }

    /// Returns the rules that were skipped on any member.
    pub(super) fn skipped_rules(&self) -> RuleList {
        let members = self.by_run.iter().zip(&self.runs);
        let mut lists = members
            .flat_map(|(kernels, run)| kernels.iter().filter_map(|kernel| run.skipped_on(kernel)));
        let mut all = lists.next().cloned().unwrap_or_default();
        lists.for_each(|list| all.join(list));
        all
    }

    /// Returns grid and block if all members share them.
    pub(super) fn shape(&self) -> String {
        let mut shapes: Vec<String> = self.all().map(RunKernel::shape).collect();
        shapes.sort_unstable();
        shapes.dedup();
        match shapes.as_slice() {
            [one] => one.clone(),
            [] => String::new(),
            several => format!("{} shapes", several.len()),
        }
    }

    /// Returns the name with the most time.
    pub(super) fn name(&self) -> String {
        let longest = self.all().max_by(|one, two| one.measured_s.total_cmp(&two.measured_s));
        longest.map(|kernel| kernel.name.clone()).unwrap_or_default()
    }
}

/// Returns the mean time of one launch; `None` if none has a duration.
fn mean_launch<'a>(kernels: impl Iterator<Item = &'a RunKernel> + Clone) -> Option<Seconds> {
    let time: Seconds = kernels.clone().map(|kernel| kernel.measured_s).sum();
    let timed: u64 = kernels.map(|kernel| kernel.timed).sum();
    (time > Seconds::ZERO && timed > 0).then(|| time / timed as f64)
}

fn seconds(times: &[Seconds]) -> impl Iterator<Item = f64> {
    times.iter().map(|time| time.get())
}

/// Returns the logarithms of positive values.
pub(super) fn logs(values: impl Iterator<Item = f64>) -> Vec<f64> {
    values.filter(|value| *value > 0.0).map(f64::ln).collect()
}

#[cfg(test)]
mod tests {
    use super::super::made::{kernel, run};
    use super::super::run::RunDevice;
    use super::*;

    /// Expected times between 1 and 1.04 of 2 ms are certain enough, between 1 and 1.06 are not.
    #[test]
    fn a_headroom_that_is_open_is_not_compared() {
        let of = |open: f64| {
            let mut one = run(vec![kernel("a", &[2e-3])]);
            one.kernels[0].roofline_high_s = Some(Seconds::new(1e-3 * open));
            let runs = [one];
            Joined::new(&runs).of(&[0]).headrooms()[0]
        };
        assert!((of(1.04).unwrap() - 2_f64.ln()).abs() < 1e-12);
        assert_eq!(of(1.06), None);
    }

    #[test]
    fn shapes_that_differ_are_counted() {
        let mut two = run(vec![kernel("a", &[1e-3]), kernel("b", &[1e-3])]);
        two.kernels[1].grid = Some([4, 2, 1]);
        let runs = [two];
        let joined = Joined::new(&runs);
        let shape = |positions: &[usize]| joined.of(positions).shape();
        assert_eq!((shape(&[0]), shape(&[1])), ("8 / 256".to_owned(), "4×2×1 / 256".to_owned()));
        assert_eq!((shape(&[0, 1]), shape(&[])), ("2 shapes".to_owned(), String::new()));
    }

    /// The second run counts its devices in another order than the first.
    #[test]
    fn a_kernel_is_on_the_device_of_its_own_run() {
        let device = |name: &str| RunDevice {
            name: name.to_owned(),
            known: true,
            dram_bytes_per_s: None,
            fp32_per_clock: None,
        };
        let on = |names: [&str; 2], kernel: RunKernel| Run {
            devices: names.map(device).to_vec(),
            ..run(vec![kernel])
        };
        let runs =
            [on(["L4", "H100"], kernel("a", &[2e-3])), on(["H100", "L4"], kernel("b", &[1e-3]))];
        let devices: Vec<String> =
            kernels(&runs).into_iter().map(|lone| lone.measured.device).collect();
        assert_eq!(devices, ["L4", "H100"]);
    }
}
