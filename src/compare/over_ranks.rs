//! The run of a job from the runs of its ranks, put together one after the other: only sums and some times of each
//! kernel are kept.

use std::collections::HashMap;
use std::mem;

use super::counts::Counts;
use super::rule_list::Lists;
use super::run::{Run, RunDevice, RunFile, RunKernel, SAMPLES, share, total};
use crate::units::{ExactSum, Hertz, Seconds};

/// Times of a kernel that are kept before they are thinned out.
const KEPT: usize = 32 * SAMPLES;

/// Times that are left of them.
const THINNED: usize = 8 * SAMPLES;

/// The ranks of a job so far.
#[derive(Debug, Default)]
pub(crate) struct OverRanks {
    run: Option<Run>,
    kernels: Vec<Sums>,
    /// Where each kernel is among them.
    places: HashMap<Key, usize>,
    /// The rules that were skipped on kernels of all ranks that have them.
    skipped: Lists,
    /// Launches of the ranks so far.
    rows: u64,
}

/// What identifies a kernel.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    name: String,
    full_name: String,
    operator: Option<String>,
    grid_and_block: [Option<[u32; 3]>; 2],
    blocks_and_threads: [Option<u64>; 2],
    device: usize,
}

/// Sums over the ranks that have a kernel.
#[derive(Debug)]
struct Sums {
    /// That of the first rank, with what all ranks have alike; counts are of all.
    kernel: RunKernel,
    measured: ExactSum,
    /// Launches that bytes and operations may be of.
    counted: u64,
    judged: ExactSum,
    /// The same, roofline time, its upper bound and what of it is certainly needed over the ranks that have a roofline
    /// time.
    bounded: Option<[ExactSum; 4]>,
    /// Savings over the ranks that know them, and the time that these are of.
    savings: Option<[ExactSum; 2]>,
    /// Mean clocks times the timed launches of their ranks, and these launches.
    clock: (ExactSum, u64),
    samples: Samples,
    cycles: Samples,
}

/// Values of single launches of several ranks, each with the launches that it stands for.
#[derive(Debug, Default)]
struct Samples {
    values: Vec<(f64, f64)>,
    /// Whether a rank has launches without a value.
    is_partial: bool,
}

impl Samples {
    /// Adds the values of a rank that stand for so many launches.
    fn add(&mut self, values: impl ExactSizeIterator<Item = f64>, launches: u64) {
        if launches == 0 {
            return;
        }
        if values.len() == 0 {
            self.is_partial = true;
            return;
        }
        // A rank of more than 64 launches has 64 quantiles.
        let weight = launches as f64 / values.len() as f64;
        self.values.extend(values.map(|value| (value, weight)));
        if self.values.len() > KEPT {
            let each = self.values.iter().map(|(_, weight)| weight).sum::<f64>() / THINNED as f64;
            self.values = quantiles(&mut self.values, THINNED).map(|value| (value, each)).collect();
        }
    }

    /// Returns all of few values, else as many quantiles as a run keeps.
    fn get(mut self) -> Vec<f64> {
        if self.is_partial {
            return Vec::new();
        }
        let is_all = self.values.iter().all(|(_, weight)| *weight == 1.0);
        if is_all && self.values.len() <= SAMPLES {
            self.values.sort_unstable_by(|one, two| one.0.total_cmp(&two.0));
            return self.values.into_iter().map(|(value, _)| value).collect();
        }
        quantiles(&mut self.values, SAMPLES).collect()
    }
}

/// Sums of weights that differ by less than this share differ by rounding.
const ROUNDING: f64 = 1e-9;

/// Returns evenly spaced quantiles of weighted values: those at the middles of equal shares, each one that was measured.
fn quantiles(values: &mut [(f64, f64)], count: usize) -> impl Iterator<Item = f64> {
    values.sort_unstable_by(|one, two| one.0.total_cmp(&two.0).then(one.1.total_cmp(&two.1)));
    let total: f64 = values.iter().map(|(_, weight)| weight).sum();
    let (mut at, mut before) = (0, 0.0);
    (0..count).map(move |position| {
        // The two in the middle are those of all values, so that the median stays.
        let is_middle = position + 1 == count / 2 || position == count / 2;
        let share = if is_middle { 0.5 } else { (position as f64 + 0.5) / count as f64 };
        let target = share * total;
        // A value lies at the middle of its weight. Between two the inner one, in both halves.
        let is_lower = 2 * position < count;
        while at + 1 < values.len() {
            let next = before + values[at].1;
            let goes_on = match (is_middle, is_lower) {
                (true, true) => next < target * (1.0 - ROUNDING),
                (true, false) => next <= target * (1.0 + ROUNDING),
                (false, true) => before + values[at].1 / 2.0 < target,
                (false, false) => next + values[at + 1].1 / 2.0 <= target,
            };
            if !goes_on {
                break;
            }
            before = next;
            at += 1;
        }
        values[at].0
    })
}

impl OverRanks {
    /// Adds the run of a rank; the order of the ranks matters only to the rows of launches.
    ///
    /// All must be judged by the same ceilings and leave out the same number of first launches.
    pub(crate) fn add(&mut self, mut rank: Run) {
        let kernels = mem::take(&mut rank.kernels);
        let rows = kernels.iter().map(|kernel| kernel.rows[1] + 1).max().unwrap_or(0);
        let devices = mem::take(&mut rank.devices);
        let files = mem::take(&mut rank.files);
        let quantities = mem::take(&mut rank.quantities);
        let launches = mem::take(&mut rank.launches);
        let ranks = mem::take(&mut rank.ranks);
        let skipped = mem::take(&mut rank.skipped_rules).into_iter();
        let skipped: Vec<Option<u32>> = skipped.map(|list| self.skipped.place(list)).collect();
        let warmup = rank.warmup;
        let run = self.run.get_or_insert(rank);
        run.launches += launches;
        for (name, launches) in ranks {
            *run.ranks.entry(name).or_default() += launches;
        }
        for quantity in quantities {
            if !run.quantities.contains(&quantity) {
                run.quantities.push(quantity);
            }
        }
        for file in files {
            add_file(&mut run.files, file);
        }
        let devices: Vec<usize> =
            devices.into_iter().map(|device| place(&mut run.devices, device)).collect();
        for mut kernel in kernels {
            kernel.cold = (warmup > 0).then(|| kernel.cold_launches(warmup));
            kernel.device = devices.get(kernel.device).copied().unwrap_or_default();
            kernel.rows = kernel.rows.map(|row| row + self.rows);
            let list = kernel.skipped_rules.and_then(|list| skipped.get(list as usize).copied());
            kernel.skipped_rules = list.flatten();
            self.add_kernel(kernel);
        }
        self.rows += rows;
    }

    fn add_kernel(&mut self, kernel: RunKernel) {
        let key = Key {
            name: kernel.name.clone(),
            full_name: kernel.full_name.clone(),
            operator: kernel.operator.clone(),
            grid_and_block: [kernel.grid, kernel.block],
            blocks_and_threads: [kernel.blocks, kernel.threads_per_block],
            device: kernel.device,
        };
        match self.places.get(&key) {
            Some(at) => {
                let all = &mut self.kernels[*at];
                // What a rule found in one rank holds for the others, and so does that it found nothing.
                all.kernel.skipped_rules =
                    self.skipped.common(all.kernel.skipped_rules, kernel.skipped_rules);
                all.add(kernel);
            }
            None => {
                self.places.insert(key, self.kernels.len());
                self.kernels.push(Sums::of(kernel));
            }
        }
    }

    /// Returns the run of all ranks under a label; `None` if none was added.
    #[must_use]
    pub(crate) fn finish(self, label: String) -> Option<Run> {
        let mut run = Run { label, ..self.run? };
        run.kernels = self.kernels.into_iter().map(Sums::kernel).collect();
        run.skipped_rules = self.skipped.into_inner();
        run.measured_s = total(run.kernels.iter().map(|kernel| kernel.measured_s));
        for kernel in &mut run.kernels {
            kernel.share = share(kernel.measured_s, run.measured_s);
        }
        Some(run.ordered())
    }
}

/// Returns the place of a device in a list, where it is added if it is new. What the list does not know of it yet is
/// added: figures of a device that the catalog lacks are estimates, which differ from rank to rank.
fn place(devices: &mut Vec<RunDevice>, device: RunDevice) -> usize {
    let is_same = |known: &RunDevice| known.name == device.name && known.known == device.known;
    match devices.iter().position(is_same) {
        Some(at) => {
            let known = &mut devices[at];
            known.dram_bytes_per_s = known.dram_bytes_per_s.or(device.dram_bytes_per_s);
            known.fp32_per_clock = known.fp32_per_clock.or(device.fp32_per_clock);
            at
        }
        None => {
            devices.push(device);
            devices.len() - 1
        }
    }
}

/// Adds a file; those that were measured alike are one entry under the name of the first, as a job has thousands.
fn add_file(files: &mut Vec<RunFile>, file: RunFile) {
    let is_alike = |known: &&mut RunFile| {
        (&known.format, known.profiler, &known.controls)
            == (&file.format, file.profiler, &file.controls)
    };
    match files.iter_mut().find(is_alike) {
        Some(known) => {
            known.files += file.files;
            known.launches += file.launches;
            known.skipped += file.skipped;
        }
        None => files.push(file),
    }
}

impl Sums {
    fn of(kernel: RunKernel) -> Self {
        let mut sums = Self {
            kernel: RunKernel {
                launches: 0,
                timed: 0,
                cold: None,
                findings: Vec::new(),
                counts: Counts::default(),
                ..kernel.clone()
            },
            measured: ExactSum::default(),
            counted: 0,
            judged: ExactSum::default(),
            bounded: None,
            savings: None,
            clock: (ExactSum::default(), 0),
            samples: Samples::default(),
            cycles: Samples::default(),
        };
        sums.add(kernel);
        sums
    }

    fn add(&mut self, kernel: RunKernel) {
        let all = &mut self.kernel;
        all.launches += kernel.launches;
        all.timed += kernel.timed;
        all.cold = kernel.cold.map(|cold| all.cold.unwrap_or(0) + cold);
        all.rows = [all.rows[0].min(kernel.rows[0]), all.rows[1].max(kernel.rows[1])];
        self.measured.add(kernel.measured_s.get());
        if let Some(savings) = kernel.savings_s {
            let [sum, judged] = self.savings.get_or_insert_default();
            sum.add(savings.get());
            judged.add(kernel.judged_s.get());
        }
        self.counted += kernel.counted_launches(0);
        let needed_s = kernel.needed_s();
        all.counts.add(kernel.counts);
        self.judged.add(kernel.judged_s.get());
        if let Some(roofline) = kernel.roofline_s {
            // Nothing bounds the sum where nothing bounds a part of it.
            let high = kernel.roofline_high_s.map_or(f64::INFINITY, Seconds::get);
            let [judged, roofline_s, roofline_high, needed] = self.bounded.get_or_insert_default();
            judged.add(kernel.judged_s.get());
            roofline_s.add(roofline.get());
            roofline_high.add(high);
            needed.add(needed_s.unwrap_or(roofline).get());
        }
        if let Some(clock) = kernel.clock_hz {
            self.clock.0.add(clock.get() * kernel.timed as f64);
            self.clock.1 += kernel.timed;
        }
        let times = kernel.samples_s.iter().map(|time| time.get());
        self.samples.add(times, kernel.timed);
        self.cycles.add(kernel.samples_cycles.iter().copied(), kernel.timed);
        for finding in kernel.findings {
            match all.findings.iter_mut().find(|known| known.rule == finding.rule) {
                Some(known) => known.severity = known.severity.max(finding.severity),
                None => all.findings.push(finding),
            }
        }
    }

    fn kernel(self) -> RunKernel {
        let finite = |time: f64| Some(Seconds::new(time)).filter(|time| time.get().is_finite());
        let (clock, clocked) = self.clock;
        let bounded = self.bounded.map(|sums| sums.map(ExactSum::get));
        let judged_s = bounded.map_or(self.judged.get(), |[judged, ..]| judged);
        // Ranks that know their savings stand for the others, as judged launches do for the rest of a kernel.
        let savings = self.savings.map(|sums| sums.map(ExactSum::get)).map(|[savings, known]| {
            if known > 0.0 { savings * (judged_s / known) } else { savings }
        });
        RunKernel {
            measured_s: Seconds::new(self.measured.get()),
            samples_s: self.samples.get().into_iter().map(Seconds::new).collect(),
            samples_cycles: self.cycles.get(),
            clock_hz: (clocked > 0).then(|| Hertz::new(clock.get() / clocked as f64)),
            judged_s: Seconds::new(judged_s),
            roofline_s: bounded.map(|[_, roofline, ..]| Seconds::new(roofline)),
            roofline_high_s: bounded.and_then(|[_, _, high, _]| finite(high)),
            roofline_low_s: bounded
                .filter(|[_, roofline, _, needed]| needed < roofline)
                .map(|[.., needed]| Seconds::new(needed)),
            savings_s: savings.map(Seconds::new),
            ..self.kernel
        }
        .counted(self.counted)
    }
}

#[cfg(test)]
mod tests {
    use super::super::made::{kernel, run};
    use super::*;
    use crate::units::{Bytes, BytesPerSecond};

    /// Bandwidth is an estimate from the rank's own launches, which differs.
    #[test]
    fn a_device_that_the_catalog_lacks_is_one_over_all_ranks() {
        let mut ranks = OverRanks::default();
        for bandwidth in [1e12, 1.1e12] {
            let mut rank = run(vec![kernel("a", &[1e-3])]);
            rank.devices[0].known = false;
            rank.devices[0].dram_bytes_per_s = Some(BytesPerSecond::new(bandwidth));
            ranks.add(rank);
        }
        let run = ranks.finish("job".to_owned()).unwrap();
        assert_eq!((run.devices.len(), run.kernels.len()), (1, 1));
        assert_eq!(run.devices[0].dram_bytes_per_s, Some(BytesPerSecond::new(1e12)));
        assert_eq!(run.kernels[0].launches, 2);
    }

    /// Three ranks, of which one was measured with another clock control.
    #[test]
    fn files_that_were_measured_alike_are_counted() {
        let mut ranks = OverRanks::default();
        for (at, controls) in [(0, ""), (1, "--clock-control none"), (2, "")] {
            let mut rank = run(vec![kernel("a", &[1e-3])]);
            rank.files = vec![RunFile {
                path: format!("rank-{at}.csv"),
                files: 1,
                format: "ncu-wide".to_owned(),
                profiler: crate::model::Profiler::NsightCompute,
                launches: 46,
                skipped: 1,
                controls: vec![controls.to_owned()],
            }];
            ranks.add(rank);
        }
        let files = ranks.finish("job".to_owned()).unwrap().files;
        let counted: Vec<(&str, u64, u64, u64)> = files
            .iter()
            .map(|file| (file.path.as_str(), file.files, file.launches, file.skipped))
            .collect();
        assert_eq!(counted, [("rank-0.csv", 2, 92, 2), ("rank-1.csv", 1, 46, 1)]);
        // What is one is not written.
        let written = |file: &RunFile| serde_json::to_value(file).unwrap().get("files").cloned();
        assert_eq!(files.iter().map(written).collect::<Vec<_>>(), [Some(2.into()), None]);
    }

    /// Two ranks with a launch each: one that lacks bytes has as many as the other, and its time without a roofline time is
    /// not that of the other's.
    #[test]
    fn what_a_rank_lacks_is_that_of_the_others() {
        let rank = |bytes: Option<f64>, roofline: Option<f64>| {
            let mut rank = run(vec![kernel("a", &[2e-3])]);
            let kernel = &mut rank.kernels[0];
            kernel.counts = Counts::made(bytes, &[], false);
            kernel.judged_s = Seconds::new(2e-3);
            kernel.roofline_s = roofline.map(Seconds::new);
            kernel.roofline_high_s = kernel.roofline_s;
            rank
        };
        let of = |ranks: [Run; 2]| {
            let mut sums = OverRanks::default();
            for rank in ranks {
                sums.add(rank);
            }
            sums.finish("job".to_owned()).unwrap().kernels.remove(0)
        };
        let saving = |savings: Option<f64>| {
            let mut rank = rank(Some(1e9), Some(1e-3));
            rank.kernels[0].savings_s = savings.map(Seconds::new);
            rank
        };
        // 0.5 ms of 2 ms, as much of the 2 ms of a rank that does not know its own.
        for (ranks, expected) in [
            ([saving(Some(5e-4)), saving(Some(3e-4))], Some(8e-4)),
            ([saving(Some(5e-4)), saving(None)], Some(1e-3)),
            ([saving(Some(0.0)), saving(None)], Some(0.0)),
            ([saving(None), saving(None)], None),
        ] {
            let rounded = |time: Seconds| (time.get() * 1e9).round() / 1e9;
            assert_eq!(of(ranks).savings_s.map(rounded), expected);
        }
        let both = of([rank(Some(1e9), Some(1e-3)), rank(Some(1e9), Some(1e-3))]);
        assert_eq!(both.bytes, Some(Bytes::new(2e9)));
        assert_eq!((both.judged_s.get(), both.roofline_s), (4e-3, Some(Seconds::new(2e-3))));
        for lacking in [
            [rank(Some(1e9), Some(1e-3)), rank(None, None)],
            [rank(None, None), rank(Some(1e9), Some(1e-3))],
        ] {
            let job = of(lacking);
            assert_eq!((job.launches, job.bytes), (2, Some(Bytes::new(2e9))));
            assert_eq!((job.judged_s.get(), job.roofline_s), (2e-3, Some(Seconds::new(1e-3))));
            assert_eq!(job.roofline_high_s, Some(Seconds::new(1e-3)));
        }
    }
}
