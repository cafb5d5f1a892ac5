//! What is kept of a judged profile: the run of it.

use std::collections::BTreeMap;

use super::counts::Counts;
use super::rule_list::RuleList;
use super::run::{
    Run, RunDevice, RunFile, RunFinding, RunKernel, RunOrigin, SAMPLES, SCHEMA, label, share, total,
};
use crate::analysis::{Analysis, Kernel, is_communication};
use crate::model::{Launch, Profile, Quantity};
use crate::rules::{Finding, Findings, is_of_run};
use crate::units::{ExactSum, Hertz, Seconds};

/// Sums over the launches of a kernel.
#[derive(Default)]
struct Gathered {
    timed: u64,
    measured: ExactSum,
    samples: Vec<f64>,
    cycles: Vec<f64>,
    clock: ExactSum,
    /// Marks rows that stand for several launches.
    averaged: bool,
    rows: Option<[u64; 2]>,
}

impl Gathered {
    /// Adds a launch; a cold one has no time.
    fn add(&mut self, launch: &Launch<'_>, is_cold: bool) {
        let row = launch.row() as u64;
        self.rows = Some([self.rows.map_or(row, |[first, _]| first), row]);
        let executions = u64::from(launch.head.count);
        let Some((time, _)) = launch.duration().filter(|_| !is_cold) else { return };
        self.timed += executions;
        self.measured.add(time.get() * executions as f64);
        self.averaged |= executions > 1;
        self.samples.push(time.get());
        if let Some(clock) = launch.value(Quantity::SmClock) {
            self.cycles.push(time.get() * clock);
            self.clock.add(clock);
        }
    }
}

impl Run {
    /// Makes the run of an analyzed profile.
    ///
    /// The first `warmup` launches of each kernel are left out of its times, as far as it has more. They are the first by
    /// their starts; without starts they are those of the first rows.
    #[must_use]
    pub fn of(profile: &Profile, analysis: &Analysis, findings: &Findings, warmup: u32) -> Self {
        let mut gathered: Vec<Gathered> =
            analysis.kernels.iter().map(|_| Gathered::default()).collect();
        let cold = cold(profile, analysis, warmup);
        analysis.each_grouped(profile, |position, launch| {
            gathered[position].add(launch, cold.get(launch.row()).copied().unwrap_or_default());
        });
        let total = total(gathered.iter().map(|kernel| Seconds::new(kernel.measured.get())));
        let found = |position: usize| {
            let of = |finding: &Finding| RunFinding {
                rule: finding.rule.to_string(),
                severity: finding.severity,
            };
            findings.of(position).iter().map(of).collect()
        };
        let (lists, skipped) = findings.skipped.lists();
        let kernels = analysis.kernels.iter().zip(gathered).enumerate();
        let kernels = kernels.map(|(position, (kernel, gathered))| {
            let mut kept = run_kernel(kernel, gathered, total, found(position));
            kept.counts = Counts::of(kernel);
            kept.skipped_rules = skipped.get(position).copied().flatten();
            let launches = kept.counted_launches(warmup);
            kept.counted(launches)
        });
        Self {
            schema: SCHEMA.to_owned(),
            rooflint: env!("CARGO_PKG_VERSION").to_owned(),
            label: label(analysis.sources.iter().map(|source| source.path.as_str())),
            origin: RunOrigin::default(),
            files: files(analysis),
            ranks: BTreeMap::new(),
            unread: Vec::new(),
            devices: devices(analysis),
            ceilings: analysis.ceilings.label().to_owned(),
            launches: analysis.kernels.iter().map(|kernel| kernel.launches).sum(),
            timed_launches: 0,
            measured_s: total,
            warmup,
            quantities: profile.launches.quantities().map(Quantity::column).collect(),
            rules: Some(rules(findings)),
            skipped_rules: lists.iter().map(|rules| owned(rules).into()).collect(),
            kernels: kernels.collect(),
            fingerprint: String::new(),
        }
        .ordered()
    }
}

/// Returns whether a launch is one of the first of its kernel, by row; nothing where none is left out.
fn cold(profile: &Profile, analysis: &Analysis, warmup: u32) -> Vec<bool> {
    if warmup == 0 {
        return Vec::new();
    }
    let mut rows: Vec<Vec<usize>> = analysis.kernels.iter().map(|_| Vec::new()).collect();
    analysis.each_grouped(profile, |position, launch| rows[position].push(launch.row()));
    let launches = &profile.launches;
    let mut cold = vec![false; launches.len()];
    for (kernel, mut rows) in analysis.kernels.iter().zip(rows) {
        // Some exports list launches in another order than they ran. Files need not share a clock, so each stays apart.
        if rows.iter().all(|row| launches.start(*row).is_some()) {
            rows.sort_by_key(|row| (launches.source(*row), launches.start(*row)));
        }
        // A kernel of few launches keeps at least one.
        let most = u64::from(warmup).min(kernel.launches.saturating_sub(1));
        let mut seen = 0;
        for row in rows {
            seen += u64::from(launches.count(row));
            if seen > most {
                break;
            }
            cold[row] = true;
        }
    }
    cold
}

/// Returns the rules that looked at kernels.
fn rules(findings: &Findings) -> RuleList {
    let ran = findings.tally.iter().map(|tally| tally.rule.to_string());
    ran.filter(|rule| !is_of_run(rule)).collect::<Vec<String>>().into()
}

fn owned(rules: &[&str]) -> Vec<String> {
    rules.iter().map(|&rule| rule.to_owned()).collect()
}

fn run_kernel(
    kernel: &Kernel,
    gathered: Gathered,
    total: Seconds,
    findings: Vec<RunFinding>,
) -> RunKernel {
    let measured = Seconds::new(gathered.measured.get());
    let dim = |dim: Option<crate::model::Dim3>| dim.map(|dim| [dim.x, dim.y, dim.z]);
    let clocks = gathered.cycles.len();
    // Links limit communication, not the roofs of a device.
    let is_local = !is_communication(kernel.class.category.key());
    RunKernel {
        name: kernel.name.to_string(),
        full_name: kernel.full_name.to_string(),
        operator: kernel.operator.as_deref().map(str::to_owned),
        grid: dim(kernel.shape.grid),
        block: dim(kernel.shape.block),
        blocks: kernel.shape.blocks,
        threads_per_block: kernel.shape.threads_per_block,
        device: kernel.device,
        category: kernel.class.category.key().to_owned(),
        launches: kernel.launches,
        timed: gathered.timed,
        cold: None,
        measured_s: measured,
        share: share(measured, total),
        // A cycle count for some launches only would be compared with one for all.
        samples_cycles: if clocks == gathered.samples.len() && !gathered.averaged {
            quantiles(gathered.cycles)
        } else {
            Vec::new()
        },
        samples_s: if gathered.averaged {
            Vec::new()
        } else {
            seconds(quantiles(gathered.samples))
        },
        clock_hz: (clocks > 0).then(|| Hertz::new(gathered.clock.get() / clocks as f64)),
        bytes: None,
        flops: None,
        fp64_flops: None,
        judged_s: kernel.modeled,
        roofline_s: kernel.roofline_time.filter(|_| is_local),
        roofline_high_s: kernel
            .roofline_time_high
            .filter(|time| is_local && time.get().is_finite()),
        roofline_low_s: kernel.least_roofline_time().filter(|_| is_local && kernel.may_need_less()),
        savings_s: savings(kernel),
        findings,
        skipped_rules: None,
        rows: gathered.rows.unwrap_or_default(),
        counts: Counts::default(),
    }
}

/// Returns the savings of a kernel: none that are known without a roofline time, and zero where the model finds nothing to
/// save, as of a launch-bound kernel.
fn savings(kernel: &Kernel) -> Option<Seconds> {
    let is_compared = kernel.state.is_modeled() || kernel.roofline_time.is_some();
    (is_compared && kernel.state.has_known_savings()).then_some(kernel.savings)
}

/// Returns the sorted values. More than [`SAMPLES`] are replaced by those at the middles of as many equal shares, which
/// preserve median and spread. Each is a value that was measured, so that the resolution of the timer stays visible.
fn quantiles(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    if values.len() <= SAMPLES {
        return values;
    }
    let at = |position: usize| {
        let middle = (position as f64 + 0.5) / SAMPLES as f64 * values.len() as f64 - 0.5;
        let place = if 2 * position < SAMPLES { middle.ceil() } else { middle.floor() };
        values[(place as usize).min(values.len() - 1)]
    };
    let mut kept: Vec<f64> = (0..SAMPLES).map(at).collect();
    // The two in the middle are those of all launches, so that the median stays: one far from its neighbors, as of a kernel
    // with two modes, is not between quantiles.
    (kept[SAMPLES / 2 - 1], kept[SAMPLES / 2]) =
        (values[(values.len() - 1) / 2], values[values.len() / 2]);
    kept
}

fn seconds(values: Vec<f64>) -> Vec<Seconds> {
    values.into_iter().map(Seconds::new).collect()
}

fn files(analysis: &Analysis) -> Vec<RunFile> {
    let file = |source: &crate::model::Source| RunFile {
        path: source.path.clone(),
        files: 1,
        format: source.format.clone(),
        profiler: source.profiler,
        launches: source.launches,
        skipped: source.skips.count,
        controls: source.clues.iter().filter(|clue| is_control(clue)).cloned().collect(),
    };
    analysis.sources.iter().map(file).collect()
}

/// Returns `true` if a clue of an export states the clock or cache control of the profiler.
pub(super) fn is_control(clue: &str) -> bool {
    clue.contains("--clock-control") || clue.contains("--cache-control")
}

fn devices(analysis: &Analysis) -> Vec<RunDevice> {
    let device = |used: &crate::analysis::DeviceUse| RunDevice {
        name: used.name().to_owned(),
        known: used.device.is_some(),
        dram_bytes_per_s: match &used.device {
            Some(device) => device.need_bandwidth().ok(),
            None => used.observed.dram.map(|peak| peak.value),
        },
        // What the catalog knows needs no telling apart.
        fp32_per_clock: used.observed.fp32_per_clock.filter(|_| used.device.is_none()),
    };
    analysis.devices.iter().map(device).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 128 values for 64 quantiles: one of two neighbors, 1, 3, … 63 and 64, 66, … 126, whose median is that of all.
    #[test]
    fn many_launches_are_kept_as_quantiles_and_few_as_they_are() {
        assert_eq!(quantiles(vec![3.0, 1.0, 2.0]), [1.0, 2.0, 3.0]);
        let kept = quantiles((0..128).rev().map(f64::from).collect());
        assert_eq!((kept.len(), kept[0], kept[1], kept[63]), (SAMPLES, 1.0, 3.0, 126.0));
        assert_eq!(f64::midpoint(kept[31], kept[32]), 63.5);
        // Of 65 the median is one of them: 32 of 1 ms, 33 of 2 ms.
        let kept = quantiles((0..65).map(|at| if at < 32 { 1.0 } else { 2.0 }).collect());
        assert_eq!((kept[31], kept[32]), (2.0, 2.0));
        // 503 launches of 1 ms and 498 of 2 ms.
        let kept = quantiles((0..1001).map(|at| if at < 503 { 1.0 } else { 2.0 }).collect());
        assert_eq!((kept[30], kept[31], kept[32], kept[33]), (1.0, 1.0, 1.0, 2.0));
        // 200 launches of 2 or 3 µs stay whole microseconds.
        let kept = quantiles((0..200).map(|at| f64::from(2 + at % 2)).collect());
        assert!(
            kept.iter().all(|value| value.fract() == 0.0) && kept[31] == 2.0 && kept[32] == 3.0
        );
    }
}
