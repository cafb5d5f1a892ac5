//! A kernel under examination: its figures, its device, and the estimators of what a cure would bring.

use super::finding::{Finding, Stake};
use super::settings::Settings;
use super::threshold::{Missing, Threshold};
use crate::analysis::{Algorithmic, Analysis, CeilingSet, DeviceUse, Kernel, Work};
use crate::catalog::Device;
use crate::model::{Pipe, Quantity};
use crate::roofline;
use crate::taxonomy::Class;
use crate::units::{Bytes, FlopsPerSecond, Seconds};

/// A unit whose speed-of-light is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// The busiest pipe of the multiprocessors.
    Sm,
    /// L1 and shared memory.
    L1,
    /// L2.
    L2,
    /// Device memory.
    Dram,
}

impl Unit {
    const ALL: [Self; 4] = [Self::Sm, Self::L1, Self::L2, Self::Dram];

    const fn quantity(self) -> Quantity {
        match self {
            Self::Sm => Quantity::SmThroughput,
            Self::L1 => Quantity::L1Throughput,
            Self::L2 => Quantity::L2Throughput,
            Self::Dram => Quantity::DramThroughput,
        }
    }

    /// The metric that tells its utilization.
    #[must_use]
    pub const fn metric(self) -> &'static str {
        match self {
            Self::Sm => "sm__throughput.avg.pct_of_peak_sustained_elapsed",
            Self::L1 => "l1tex__throughput.avg.pct_of_peak_sustained_active",
            Self::L2 => "lts__throughput.avg.pct_of_peak_sustained_elapsed",
            Self::Dram => "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
        }
    }
}

/// A kernel under examination by one rule.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Name of the rule that asks.
    pub rule: &'static str,
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The whole analysis.
    pub analysis: &'a Analysis,
    /// What the user set.
    pub settings: &'a Settings,
}

/// What lacks where the sizes of a kernel are not known.
pub(in crate::rules) const CLOSED_FORM: Missing = Missing("closed form of the kernel");

impl<'a> Subject<'a> {
    /// The closed form of a product of matrices; none for other kernels.
    ///
    /// # Errors
    /// [`CLOSED_FORM`] where a kernel is a product by its name and its sizes are not known.
    pub(in crate::rules) fn product_form(&self) -> Result<Option<&'a Algorithmic>, Missing> {
        match self.kernel.algorithmic() {
            Some(needed) => Ok(Some(needed)),
            None if self.class().is_product() => Err(CLOSED_FORM),
            None => Ok(None),
        }
    }

    /// A threshold of the rule, as the user set it or by default.
    #[must_use]
    pub fn threshold(&self, threshold: &Threshold) -> f64 {
        self.settings.threshold(self.rule, threshold)
    }

    /// What the kernel's name tells.
    #[must_use]
    pub fn class(&self) -> &'a Class {
        &self.kernel.class
    }

    /// The device it ran on.
    #[must_use]
    pub fn ran(&self) -> &'a DeviceUse {
        &self.analysis.devices[self.kernel.device]
    }

    /// Its catalog entry.
    ///
    /// # Errors
    /// [`Missing`] where the device is not known.
    pub fn device(&self) -> Result<&'a Device, Missing> {
        self.ran().device.as_ref().ok_or(Missing("--device"))
    }

    /// Compute capability as two numbers, `9.0` as (9, 0); none for other vendors' devices.
    #[must_use]
    pub fn compute_capability(&self) -> Option<(u32, u32)> {
        let ran = self.ran();
        let known = ran.device.as_ref().and_then(|device| device.compute_capability.as_deref());
        let (major, minor) = known.or(ran.hint.compute_capability.as_deref())?.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    }

    /// Multiprocessors that the launches could use.
    ///
    /// # Errors
    /// [`Missing`] where neither the export nor the catalog tells.
    pub fn sms(&self) -> Result<u32, Missing> {
        let ran = self.ran();
        let counted = self.count(Quantity::SmCount);
        let known = ran.device.as_ref().and_then(|device| device.sms).or(ran.hint.sms);
        counted.or(known).filter(|sms| *sms > 0).ok_or(Missing("launch__sm_count"))
    }

    /// What the vendor of the device calls its multiprocessors.
    #[must_use]
    pub fn units(&self) -> &'static str {
        self.ran().units_label()
    }

    /// Blocks of the grid.
    ///
    /// # Errors
    /// [`Missing`] where the export has no grid.
    pub fn blocks(&self) -> Result<u64, Missing> {
        self.kernel.shape.blocks.filter(|blocks| *blocks > 0).ok_or(Missing("launch__grid_size"))
    }

    /// Threads of a block.
    ///
    /// # Errors
    /// [`Missing`] where the export has no block size, or one that no GPU launches.
    pub fn threads(&self) -> Result<u64, Missing> {
        /// GPUs launch up to 1,024 threads in a block.
        const MOST: u64 = 1 << 16;
        let threads = self.kernel.shape.threads_per_block;
        let threads = threads.filter(|threads| (1..=MOST).contains(threads));
        threads.ok_or(Missing("launch__block_size"))
    }

    /// A time-weighted average over the launches.
    #[must_use]
    pub fn get(&self, quantity: Quantity) -> Option<f64> {
        self.kernel.average(quantity)
    }

    /// A count, which an average over launches that are alike leaves whole but for rounding.
    #[must_use]
    pub fn count(&self, quantity: Quantity) -> Option<u32> {
        self.get(quantity).map(|count| count.round() as u32)
    }

    /// A time-weighted average that the rule needs.
    ///
    /// # Errors
    /// [`Missing`] when the export does not have it; `metric` is what the profiler calls it.
    pub fn need(&self, quantity: Quantity, metric: &'static str) -> Result<f64, Missing> {
        self.get(quantity).ok_or(Missing(metric))
    }

    /// Share of elapsed cycles in which the schedulers issued, as far as it is known when SMs had warps.
    pub(in crate::rules) fn issue(&self) -> Option<f64> {
        Some(self.get(Quantity::IssueActive)? * self.get(Quantity::SmActive).unwrap_or(1.0))
    }

    /// Speed-of-light of a unit.
    ///
    /// # Errors
    /// [`Missing`] when the export does not have it.
    pub fn utilization(&self, unit: Unit) -> Result<f64, Missing> {
        self.need(unit.quantity(), unit.metric())
    }

    /// Speed-of-light of the busiest unit, or the share of its roof that the kernel reaches, if that
    /// is more.
    #[must_use]
    pub fn busiest(&self) -> f64 {
        let measured = Unit::ALL.iter().filter_map(|unit| self.get(unit.quantity()));
        let memory = self.get(Quantity::MemoryThroughput);
        measured.chain(memory).fold(self.roof_reached(), f64::max)
    }

    /// Share of its roof that the kernel reaches; zero where no roof is known.
    #[must_use]
    pub fn roof_reached(&self) -> f64 {
        self.kernel.headroom().map_or(0.0, |headroom| 1.0 / headroom)
    }

    /// Share of the measured time that its operations need; zero where none were counted.
    #[must_use]
    pub fn math_reached(&self) -> f64 {
        let math = self.kernel.math_time.unwrap_or(Seconds::ZERO);
        if self.kernel.modeled > Seconds::ZERO { math / self.kernel.modeled } else { 0.0 }
    }

    /// Measured time of one launch on average.
    #[must_use]
    pub fn mean(&self) -> Seconds {
        self.kernel.mean()
    }

    /// Measured time of all launches.
    #[must_use]
    pub fn time(&self) -> Seconds {
        self.kernel.measured
    }

    /// Everything above the roof, `gap`: measured minus expected time.
    #[must_use]
    pub fn gap(&self) -> Stake {
        Stake::of(self.kernel.savings_high, "gap")
    }

    /// A share of the measured time.
    #[must_use]
    pub fn share(&self, share: f64, estimator: &'static str) -> Stake {
        Stake::of(self.time() * share.clamp(0.0, 1.0), estimator)
    }

    /// Share of the peak DRAM bandwidth that its bytes reach, or of the cycles in which data moved; `None` if neither
    /// is known.
    pub(in crate::rules) fn dram_reached(&self) -> Option<f64> {
        let modeled = self.kernel.modeled;
        let memory = self.kernel.memory_time.filter(|_| modeled > Seconds::ZERO);
        let of_peak =
            if self.has_achievable_roofs() { self.ran().achievable_memory() } else { 1.0 };
        let of_roof = memory.map(|time| time / modeled);
        of_roof.map(|share| share * of_peak).or_else(|| self.get(Quantity::DramActive))
    }

    /// Whether its roofs are what good kernels reach, rather than peaks.
    fn has_achievable_roofs(&self) -> bool {
        self.analysis.ceilings == CeilingSet::Achievable
    }

    /// Share of its roof that good kernels reach, if they reach `share` of the peak.
    pub(in crate::rules) fn good(&self, share: f64) -> f64 {
        if self.has_achievable_roofs() { 1.0 } else { share }
    }

    /// `next-bottleneck`: time follows the busiest unit; if `unit` had only `factor` of its work, the
    /// next one would bind. Nothing where `unit` is not the busiest.
    ///
    /// # Errors
    /// [`Missing`] when the unit's utilization was not measured.
    pub fn next_bottleneck(&self, unit: Unit, factor: f64) -> Result<Stake, Missing> {
        let used = self.utilization(unit)?;
        let others = Unit::ALL.iter().filter(|other| **other != unit);
        let next = others.filter_map(|other| self.get(other.quantity())).fold(0.0, f64::max);
        let saved = roofline::next_bottleneck(self.time(), used, factor.clamp(0.0, 1.0), next);
        Ok(Stake::of(saved, "next-bottleneck"))
    }

    /// `stall`: the share of time warps wait for one reason, at most the share without an issue.
    ///
    /// Source: `CPIStall.py` of Nsight Compute.
    #[must_use]
    pub fn stall(&self, share: f64) -> Stake {
        let idle = self.get(Quantity::IssueActive).map_or(1.0, |active| 1.0 - active);
        self.share(share.min(idle), "stall")
    }

    /// `tail`: what the last, partly filled wave wastes; at least if an SM works as fast with few
    /// blocks as with many, at most if every wave takes equally long.
    ///
    /// # Errors
    /// [`Missing`] when grid, multiprocessors or resident blocks are not known.
    pub fn tail(&self) -> Result<Stake, Missing> {
        let (blocks, sms) = (self.blocks()?, self.sms()?);
        let resident = self.resident()?;
        let low = 1.0 - roofline::sm_efficiency(blocks, sms, resident);
        let high = 1.0 - roofline::wave_efficiency(blocks, sms, resident);
        let time = |share: f64| self.time() * share.clamp(0.0, 1.0);
        Ok(Stake { low: time(low), high: time(low.max(high)), estimator: "tail" })
    }

    /// Blocks resident on one multiprocessor at once.
    ///
    /// # Errors
    /// [`Missing`] when the export does not tell.
    pub fn resident(&self) -> Result<u32, Missing> {
        let resident = self.need(Quantity::ResidentBlocksPerSm, "launch__occupancy_limit_*")?;
        if resident >= 1.0 {
            Ok(resident.round() as u32)
        } else {
            Err(Missing("launch__occupancy_limit_*"))
        }
    }

    /// Blocks that fit on one multiprocessor at once: by the export, else by threads, registers and shared memory.
    #[must_use]
    pub fn held(&self) -> Option<u32> {
        let computed = || {
            let limits = self.device().ok()?.limits()?;
            let [registers, shared] =
                [Quantity::RegistersPerThread, Quantity::SharedMemoryPerBlock]
                    .map(|one| self.get(one));
            let threads = u32::try_from(self.threads().ok()?).ok()?;
            let taken = limits.shared_bytes_taken(shared?.round() as u32);
            limits.resident_blocks(threads, registers?.round() as u32, taken)
        };
        self.resident().ok().or_else(computed)
    }

    /// `traffic`: bytes that need not move, at the achievable bandwidth of device memory.
    ///
    /// # Errors
    /// [`Missing`] when the bandwidth is not known.
    pub fn traffic(&self, bytes: Bytes) -> Result<Stake, Missing> {
        let share = roofline::achievable::HBM;
        let bandwidth = match self.kernel.bandwidth() {
            Some(roof) => roof * self.good(share),
            None => {
                let peak = self.device()?.need_bandwidth();
                peak.map_err(|_| Missing("memory bandwidth"))? * share
            }
        };
        Ok(Stake::of(bytes / bandwidth, "traffic"))
    }

    /// `pipe`: the same operations on another pipe, at the clock the kernel ran at. What remains is
    /// the longer of memory and the new math, at the share of the peak that good kernels reach.
    ///
    /// # Errors
    /// [`Missing`] when a peak is not known or nothing was counted.
    pub fn pipe(&self, to: Pipe) -> Result<Stake, Missing> {
        let main = self.main_work()?;
        let peak = self.roof_beside(main, to)?;
        let math = roofline::math_time(main.operations, peak);
        let memory = self.kernel.memory_time.unwrap_or(Seconds::ZERO);
        let left = roofline::roofline_time(memory, math) / self.good(roofline::achievable::MATRIX);
        Ok(Stake::of(roofline::savings(self.kernel.modeled, left), "pipe"))
    }

    /// The work that takes longest at its roof.
    ///
    /// # Errors
    /// [`Missing`] when nothing was counted.
    pub(super) fn main_work(&self) -> Result<&'a Work, Missing> {
        let work = self.kernel.work.iter().filter(|work| work.time > Seconds::ZERO);
        let main = work.max_by(|one, two| one.time.get().total_cmp(&two.time.get()));
        main.ok_or(Missing("FLOP counters"))
    }

    /// The roof of another pipe, at the clock at which that of this work stands: peaks of two pipes may be quoted at two
    /// clocks, as those of FP32 (1980 MHz) and TF32 (1830 MHz) of an H100.
    ///
    /// # Errors
    /// [`Missing`] when a peak is not known.
    pub(super) fn roof_beside(&self, work: &Work, to: Pipe) -> Result<FlopsPerSecond, Missing> {
        let device = self.device()?;
        let rated = device.need_peak(work.pipe).map_err(|_| Missing("peak of the pipe"))?;
        let scale = work.peak().map_or(1.0, |peak| peak / rated);
        // Of two pipes good kernels reach two shares.
        let share = |pipe: Pipe| self.ran().achievable_math(pipe);
        let reached = if self.has_achievable_roofs() { share(to) / share(work.pipe) } else { 1.0 };
        let ran_at_own_clock =
            self.analysis.ceilings != CeilingSet::Spec && self.get(Quantity::SmClock).is_some();
        let clocks = device.clock_of(work.pipe).zip(device.clock_of(to));
        let clocks = clocks.filter(|_| ran_at_own_clock).map_or(1.0, |(here, there)| here / there);
        let peak = device.need_peak(to).map_err(|_| Missing("peak of the other pipe"))?;
        Ok(peak * (scale * clocks * reached))
    }

    /// A finding of the rule, with what a cure would bring, capped by the kernel's gap.
    #[must_use]
    pub fn finding(&self, message: String, stake: Stake) -> Finding {
        Finding::of(self.rule, message, stake, self.kernel)
    }

    /// A finding without anything to win: something to know.
    #[must_use]
    pub fn info(&self, message: String) -> Finding {
        Finding::info(self.rule, message)
    }
}

#[cfg(test)]
#[allow(
    clippy::redundant_closure_for_method_calls,
    reason = "lifetimes: method paths do not compile"
)]
mod tests {
    use crate::model::{Pipe, Quantity};
    use crate::rules::engine::bench_table::{Bench, kernel};
    use crate::rules::{Rule, Stake, Subject, Unit, rule};
    use crate::units::Bytes;

    fn a_rule() -> &'static Rule {
        rule("uncoalesced-access").unwrap()
    }

    /// NVIDIA's sample of uncoalesced accesses, as measured on an RTX A2000.
    fn sample() -> Bench {
        kernel("addConstDouble3", 294.3)
            .set(Quantity::L1Throughput, 0.9553)
            .set(Quantity::DramThroughput, 0.7261)
            .set(Quantity::L2Throughput, 0.5628)
            .set(Quantity::SmThroughput, 0.3673)
    }

    fn stake(bench: &Bench, of: impl Fn(&Subject<'_>) -> Stake) -> (f64, f64) {
        let stake = bench.seen(a_rule(), of);
        (stake.low.get() * 1e6, stake.high.get() * 1e6)
    }

    #[test]
    fn after_a_cure_the_next_unit_binds() {
        let third = |subject: &Subject<'_>| subject.next_bottleneck(Unit::L1, 1.0 / 3.0).unwrap();
        let (low, high) = stake(&sample(), third);
        assert_eq!(low, high);
        assert!((high - 70.6).abs() < 0.05, "{high}");
        // Of a unit that is not the busiest, nothing is won.
        let memory = |subject: &Subject<'_>| subject.next_bottleneck(Unit::Dram, 0.1).unwrap();
        assert_eq!(stake(&sample(), memory), (0.0, 0.0));
        let unknown = kernel("k", 10.0).set(Quantity::L1Throughput, 0.9);
        assert!(unknown.seen(a_rule(), |subject| subject.next_bottleneck(Unit::L2, 0.5)).is_err());
    }

    #[test]
    fn a_stall_counts_at_most_what_was_not_issued() {
        let busy = sample().set(Quantity::IssueActive, 0.9);
        let half = |subject: &Subject<'_>| subject.stall(0.5);
        assert!((stake(&busy, half).1 - 29.43).abs() < 1e-6);
        assert!((stake(&sample(), half).1 - 147.15).abs() < 1e-6);
    }

    #[test]
    fn a_tail_costs_a_range() {
        // 265 blocks on 132 × 2: one wave and a block.
        let tail = kernel("k", 100.0).grid(265, 128).set(Quantity::ResidentBlocksPerSm, 2.0);
        let (low, high) = stake(&tail, |subject| subject.tail().unwrap());
        assert!((low - 100.0 * (1.0 - 265.0 / 132.0 / 3.0)).abs() < 1e-6, "{low}");
        assert!((high - 100.0 * (1.0 - 265.0 / 264.0 / 2.0)).abs() < 1e-6, "{high}");
    }

    #[test]
    fn counts_are_whole_however_they_were_averaged() {
        let mean = kernel("k", 100.0).grid(132, 128).set(Quantity::SmCount, 131.999_999_999_999_97);
        assert_eq!(mean.seen(a_rule(), |subject| subject.sms()), Ok(132));
        let resident = mean.set(Quantity::ResidentBlocksPerSm, 1.999_999_999_999_9);
        assert_eq!(resident.seen(a_rule(), |subject| subject.resident()), Ok(2));
    }

    #[test]
    fn bytes_that_need_not_move_take_their_time() {
        let copy = kernel("k", 100.0).bytes(2e8);
        let (_, high) = stake(&copy, |subject| subject.traffic(Bytes::new(1e8)).unwrap());
        assert!((high - 1e8 / 3.352e12 / 0.9 * 1e6).abs() < 0.1, "{high}");
    }

    #[test]
    fn another_pipe_needs_memory_all_the_same() {
        let product = |bytes| kernel("k", 1000.0).work(Pipe::Fp32Vector, 50e9).bytes(bytes);
        let moved = |subject: &Subject<'_>| subject.pipe(Pipe::Tf32Matrix).unwrap();
        let math = 1000.0 - 50e9 / 494.7e12 / 0.8 * 1e6;
        assert!((stake(&product(1e8), moved).1 - math).abs() < 1.0);
        let memory = 1000.0 - 2e9 / 3.352e12 / 0.8 * 1e6;
        assert!((stake(&product(2e9), moved).1 - memory).abs() < 1.0);
    }

    #[test]
    fn the_gap_is_measured_minus_expected_and_caps_every_finding() {
        let copy = kernel("k", 100.0).bytes(1e8);
        let (_, gap) = stake(&copy, |subject| subject.gap());
        assert!((gap - (100.0 - 1e8 / 3.352e12 * 1e6)).abs() < 0.1, "{gap}");
        let most = copy.seen(a_rule(), |subject| {
            subject.finding(String::new(), subject.share(0.9, "busy-unit")).at_stake_s * 1e6
        });
        assert!((most - gap).abs() < 1e-9);
    }
}
