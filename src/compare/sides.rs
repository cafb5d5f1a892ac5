//! The kernels of several runs of one side, joined: which is which from run to run, and its values.

use std::collections::BTreeMap;

use super::evidence::{Lone, Measured};
use super::pairing::Identity;
use super::run::{Run, RunKernel};
use super::statistics::{median, pseudomedian};
use crate::rules::Severity;

/// The runs of one side and the kernels that occur in any of them.
pub(super) struct Joined<'a> {
    pub(super) runs: &'a [Run],
    /// For each kernel of the side, where it is: run and position.
    pub(super) members: Vec<Vec<(usize, usize)>>,
    pub(super) identities: Vec<Identity>,
}

impl<'a> Joined<'a> {
    /// Joins kernels of the same full name, operator, shape and device.
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

    /// Time of all kernels of all runs, every launch a typical one of its kernel and run.
    pub(super) fn typical_time(&self) -> f64 {
        let of = |run: &Run| {
            let kernels = run.kernels.iter().map(|kernel| {
                let typical = pseudomedian(&logs(Some(&kernel.samples_s)));
                typical.map_or(kernel.measured_s, |log| log.exp() * kernel.timed as f64)
            });
            kernels.sum::<f64>()
        };
        self.runs.iter().map(of).sum()
    }

    /// Kernels of the side by themselves, those with most time first.
    pub(super) fn lone(&self, positions: impl IntoIterator<Item = usize>) -> Vec<Lone> {
        let of = |kernel: usize| {
            let group = self.of(&[kernel]);
            let measured = group.measured(&group.centres(group.has_samples()));
            Lone { kernel, name: group.name(), measured }
        };
        let mut lone: Vec<Lone> = positions.into_iter().map(of).collect();
        lone.sort_by(|one, two| {
            let by_time = two.measured.time_s.total_cmp(&one.measured.time_s);
            by_time.then_with(|| one.name.cmp(&two.name)).then(one.kernel.cmp(&two.kernel))
        });
        lone
    }

    /// The kernels at these positions, run by run.
    pub(super) fn of(&self, positions: &[usize]) -> Group<'a> {
        let mut by_run: Vec<Vec<&'a RunKernel>> = self.runs.iter().map(|_| Vec::new()).collect();
        for (run, position) in positions.iter().flat_map(|position| &self.members[*position]) {
            by_run[*run].push(&self.runs[*run].kernels[*position]);
        }
        let device = |kernel: &RunKernel| {
            let devices = self.runs.first().map(|run| run.devices.as_slice()).unwrap_or_default();
            devices.get(kernel.device).map(|device| device.name.clone()).unwrap_or_default()
        };
        let device = by_run.iter().flatten().next().map(|kernel| device(kernel));
        Group { by_run, device: device.unwrap_or_default() }
    }
}

fn identity(run: &Run, kernel: &RunKernel, several: bool) -> Identity {
    let full = if kernel.full_name.is_empty() { &kernel.name } else { &kernel.full_name };
    let device = run.devices.get(kernel.device).filter(|_| several);
    Identity {
        full: full.clone(),
        operator: kernel.operator.clone().unwrap_or_default(),
        shape: format!(
            "{:?}",
            (kernel.grid, kernel.block, kernel.blocks, kernel.threads_per_block)
        ),
        device: device.map(|device| device.name.clone()).unwrap_or_default(),
        runs: Vec::new(),
    }
}

/// Every kernel that occurs in any of the runs, averaged over those that have it, most time first.
#[must_use]
pub fn kernels(runs: &[Run]) -> Vec<Lone> {
    let joined = Joined::new(runs);
    joined.lone(0..joined.members.len())
}

/// Kernels that are looked at as one, in each run of a side.
pub(super) struct Group<'a> {
    pub(super) by_run: Vec<Vec<&'a RunKernel>>,
    pub(super) device: String,
}

impl<'a> Group<'a> {
    /// Every kernel of every run.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a RunKernel> {
        self.by_run.iter().flatten().copied()
    }

    /// Whether each run that has it has it once, with the times of its launches.
    pub(super) fn has_samples(&self) -> bool {
        self.by_run.iter().all(|kernels| match kernels.as_slice() {
            [] => true,
            [kernel] => !kernel.samples_s.is_empty(),
            _ => false,
        })
    }

    /// Logarithms of the times of single launches in one run.
    pub(super) fn logs(&self, run: usize) -> Vec<f64> {
        logs(self.by_run[run].first().map(|kernel| kernel.samples_s.as_slice()))
    }

    /// Logarithms of the cycles of single launches in one run.
    pub(super) fn cycle_logs(&self, run: usize) -> Vec<f64> {
        logs(self.by_run[run].first().map(|kernel| kernel.samples_cycles.as_slice()))
    }

    /// The typical launch of each run, as the logarithm of seconds: of the samples, or of the mean.
    pub(super) fn centres(&self, by_samples: bool) -> Vec<Option<f64>> {
        let of = |run: usize| {
            if by_samples {
                return pseudomedian(&self.logs(run));
            }
            let kernels = &self.by_run[run];
            let time: f64 = kernels.iter().map(|kernel| kernel.measured_s).sum();
            let launches: u64 = kernels.iter().map(|kernel| kernel.timed).sum();
            (time > 0.0 && launches > 0).then(|| (time / launches as f64).ln())
        };
        (0..self.by_run.len()).map(of).collect()
    }

    /// The typical cycles of each run, as logarithms; none where a run that has the kernel has no clock.
    pub(super) fn cycle_centres(&self) -> Option<Vec<f64>> {
        let mut centres = Vec::new();
        for (run, kernels) in self.by_run.iter().enumerate() {
            if kernels.is_empty() {
                continue;
            }
            let once = kernels.len() == 1;
            centres.push(pseudomedian(&self.cycle_logs(run)).filter(|_| once)?);
        }
        (!centres.is_empty()).then_some(centres)
    }

    /// The distance from the roof in each run, as the logarithm of headroom. None for a run in which
    /// the roofline does not judge the kernel, or what was not counted leaves it open by more than 5 %.
    pub(super) fn headrooms(&self) -> Vec<Option<f64>> {
        let of = |kernels: &Vec<&RunKernel>| {
            let mut sums = (0.0, 0.0, 0.0);
            for kernel in kernels {
                sums.0 += kernel.modelled_s;
                sums.1 += kernel.expected_s.filter(|time| *time > 0.0)?;
                sums.2 += kernel.expected_high_s?;
            }
            let (measured, expected, high) = sums;
            (measured > 0.0 && expected > 0.0 && high <= expected * 1.05)
                .then(|| (measured / expected).ln())
        };
        self.by_run
            .iter()
            .map(|kernels| if kernels.is_empty() { None } else { of(kernels) })
            .collect()
    }

    /// Executions in one run, averaged over all runs of the side.
    pub(super) fn launches(&self) -> f64 {
        let all: u64 = self.all().map(|kernel| kernel.launches).sum();
        all as f64 / self.by_run.len().max(1) as f64
    }

    /// The logarithm of the mean launch over all runs.
    pub(super) fn mean(&self) -> Option<f64> {
        let time: f64 = self.all().map(|kernel| kernel.measured_s).sum();
        let timed: u64 = self.all().map(|kernel| kernel.timed).sum();
        (time > 0.0 && timed > 0).then(|| (time / timed as f64).ln())
    }

    /// Averages over the runs in which it occurs.
    pub(super) fn measured(&self, centres: &[Option<f64>]) -> Measured {
        let runs = self.by_run.iter().filter(|kernels| !kernels.is_empty()).count();
        let per_run = runs.max(1) as f64;
        let sum = |of: &dyn Fn(&RunKernel) -> f64| self.all().map(of).sum::<f64>() / per_run;
        // What one member lacks, the sum lacks.
        let whole = |of: &dyn Fn(&RunKernel) -> Option<f64>| {
            self.all().map(of).sum::<Option<f64>>().map(|sum| sum / per_run)
        };
        let (modelled, expected) = (
            sum(&|kernel| if kernel.expected_s.is_some() { kernel.modelled_s } else { 0.0 }),
            sum(&|kernel| kernel.expected_s.unwrap_or_default()),
        );
        let high = whole(&|kernel| kernel.expected_high_s);
        let known: Vec<f64> = centres.iter().flatten().copied().collect();
        let clocks: Vec<f64> = self.all().filter_map(|kernel| kernel.clock_hz).collect();
        let mut findings: Vec<(String, Severity)> = self
            .all()
            .flat_map(|kernel| &kernel.findings)
            .map(|finding| (finding.rule.clone(), finding.severity))
            .collect();
        findings.sort_unstable();
        findings.dedup();
        let first = self.all().next();
        Measured {
            runs,
            launches: sum(&|kernel| kernel.launches as f64),
            time_s: sum(&|kernel| kernel.measured_s),
            launch_s: median(&known).map_or(0.0, f64::exp),
            share: sum(&|kernel| kernel.share),
            bytes: whole(&|kernel| kernel.bytes),
            flops: whole(&|kernel| kernel.flops),
            fp64_flops: whole(&|kernel| kernel.fp64_flops),
            headroom: (expected > 0.0).then(|| modelled / expected),
            headroom_low: high.filter(|high| *high > 0.0).map(|high| modelled / high),
            recoverable_s: sum(&|kernel| kernel.recoverable_s),
            clock_hz: (!clocks.is_empty())
                .then(|| clocks.iter().sum::<f64>() / clocks.len() as f64),
            category: first.map(|kernel| kernel.category.clone()).unwrap_or_default(),
            operator: first.and_then(|kernel| kernel.operator.clone()),
            full_name: first.map(|kernel| kernel.full_name.clone()).unwrap_or_default(),
            shape: self.shape(),
            device: self.device.clone(),
            findings,
        }
    }

    /// Grid and block where all members share them.
    fn shape(&self) -> String {
        let mut shapes: Vec<String> = self.all().map(shape).collect();
        shapes.sort_unstable();
        shapes.dedup();
        match shapes.as_slice() {
            [one] => one.clone(),
            [] => String::new(),
            several => format!("{} shapes", several.len()),
        }
    }

    /// The name most of its time goes by.
    pub(super) fn name(&self) -> String {
        let longest = self.all().max_by(|one, two| one.measured_s.total_cmp(&two.measured_s));
        longest.map(|kernel| kernel.name.clone()).unwrap_or_default()
    }
}

/// Grid / block, as far as known.
fn shape(kernel: &RunKernel) -> String {
    let part = |dim: Option<[u32; 3]>, product: Option<u64>| match (dim, product) {
        (Some([x, 1, 1]), _) => x.to_string(),
        (Some([x, y, z]), _) => format!("{x}×{y}×{z}"),
        (None, Some(product)) => product.to_string(),
        (None, None) => "-".to_owned(),
    };
    let grid = part(kernel.grid, kernel.blocks);
    let block = part(kernel.block, kernel.threads_per_block);
    if grid == "-" && block == "-" { String::new() } else { format!("{grid} / {block}") }
}

/// Logarithms of what is more than zero.
fn logs(values: Option<&[f64]>) -> Vec<f64> {
    let values = values.unwrap_or_default().iter().filter(|value| **value > 0.0);
    values.map(|value| value.ln()).collect()
}
