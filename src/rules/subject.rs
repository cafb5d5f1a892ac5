//! A kernel under examination: its figures, its device, and the estimators of what a cure would bring.

use super::finding::{Confidence, Finding};
use super::rule::{Missing, Rule, Threshold};
use super::settings::Settings;
use crate::analysis::{Analysis, DeviceUse, Kernel};
use crate::catalog::Device;
use crate::model::{Pipe, Quantity};
use crate::roofline;
use crate::taxonomy::Class;
use crate::units::{Bytes, Seconds};

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

    /// The metric that tells its utilisation.
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

/// What a cure would bring: at least and at most, and how that was estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stake {
    /// The cautious end.
    pub low: Seconds,
    /// The hopeful end.
    pub high: Seconds,
    /// How it was estimated.
    pub estimator: &'static str,
}

impl Stake {
    /// One figure for both ends.
    #[must_use]
    pub const fn of(time: Seconds, estimator: &'static str) -> Self {
        Self { low: time, high: time, estimator }
    }
}

/// A kernel under examination by one rule.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The rule that asks.
    pub rule: &'static Rule,
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The whole analysis.
    pub analysis: &'a Analysis,
    /// What the user set.
    pub settings: &'a Settings,
}

impl<'a> Subject<'a> {
    /// A threshold of the rule, as the user set it or by default.
    #[must_use]
    pub fn threshold(&self, threshold: &Threshold) -> f64 {
        self.settings.threshold(self.rule.id, threshold)
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

    /// Its catalogue entry.
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
    /// [`Missing`] where neither the export nor the catalogue tells.
    pub fn sms(&self) -> Result<u32, Missing> {
        let ran = self.ran();
        let counted = self.kernel.average(Quantity::SmCount).map(|sms| sms as u32);
        let known = ran.device.as_ref().and_then(|device| device.sms).or(ran.hint.sms);
        counted.or(known).filter(|sms| *sms > 0).ok_or(Missing("launch__sm_count"))
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
    /// [`Missing`] where the export has no block size.
    pub fn threads(&self) -> Result<u64, Missing> {
        let threads = self.kernel.shape.threads_per_block.filter(|threads| *threads > 0);
        threads.ok_or(Missing("launch__block_size"))
    }

    /// A time-weighted average over the launches.
    #[must_use]
    pub fn get(&self, quantity: Quantity) -> Option<f64> {
        self.kernel.average(quantity)
    }

    /// A time-weighted average that the rule needs.
    ///
    /// # Errors
    /// [`Missing`] when the export does not have it; `metric` is what the profiler calls it.
    pub fn need(&self, quantity: Quantity, metric: &'static str) -> Result<f64, Missing> {
        self.get(quantity).ok_or(Missing(metric))
    }

    /// Speed-of-light of a unit.
    ///
    /// # Errors
    /// [`Missing`] when the export does not have it.
    pub fn utilisation(&self, unit: Unit) -> Result<f64, Missing> {
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
        self.kernel.headroom.map_or(0.0, |headroom| 1.0 / headroom)
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
        Stake::of(self.kernel.recoverable_upper, "gap")
    }

    /// A share of the measured time.
    #[must_use]
    pub fn share(&self, share: f64, estimator: &'static str) -> Stake {
        Stake::of(self.time() * share.clamp(0.0, 1.0), estimator)
    }

    /// `next-bottleneck`: time follows the busiest unit; if `unit` had only `factor` of its work, the
    /// next one would bind. Nothing where `unit` is not the busiest.
    ///
    /// # Errors
    /// [`Missing`] when the unit's utilisation was not measured.
    pub fn next_bottleneck(&self, unit: Unit, factor: f64) -> Result<Stake, Missing> {
        self.utilisation(unit)?;
        let used = |one: Unit| self.get(one.quantity());
        let before = Unit::ALL.iter().filter_map(|one| used(*one)).fold(0.0, f64::max);
        let after = Unit::ALL.iter().filter_map(|one| {
            Some(used(*one)? * if *one == unit { factor.clamp(0.0, 1.0) } else { 1.0 })
        });
        let after = after.fold(0.0, f64::max);
        let share = if before > 0.0 { 1.0 - after / before } else { 0.0 };
        Ok(self.share(share, "next-bottleneck"))
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
            Ok(resident as u32)
        } else {
            Err(Missing("launch__occupancy_limit_*"))
        }
    }

    /// `traffic`: bytes that need not move, at the achievable bandwidth of device memory.
    ///
    /// # Errors
    /// [`Missing`] when the bandwidth is not known.
    pub fn traffic(&self, bytes: Bytes) -> Result<Stake, Missing> {
        let bandwidth = match (self.kernel.bytes, self.kernel.memory_time) {
            (Some(all), Some(time)) if time > Seconds::ZERO => all / time,
            _ => self.device()?.need_bandwidth().map_err(|_| Missing("memory bandwidth"))?,
        };
        let share = crate::roofline::achievable::HBM;
        Ok(Stake::of(bytes / (bandwidth * share), "traffic"))
    }

    /// `pipe`: the same operations on another pipe, at the clock the kernel ran at. What remains is
    /// the longer of memory and the new math, at the share of the peak that good kernels reach.
    ///
    /// # Errors
    /// [`Missing`] when a peak is not known or nothing was counted.
    pub fn pipe(&self, to: Pipe) -> Result<Stake, Missing> {
        let device = self.device()?;
        let work = self.kernel.work.iter().filter(|work| work.time > Seconds::ZERO);
        let main = work.max_by(|one, two| one.time.get().total_cmp(&two.time.get()));
        let main = main.ok_or(Missing("FLOP counters"))?;
        let rated = device.need_peak(main.pipe).map_err(|_| Missing("peak of the pipe"))?;
        let clock = main.peak().map_or(1.0, |peak| peak / rated);
        let peak = device.need_peak(to).map_err(|_| Missing("peak of the other pipe"))? * clock;
        let math = roofline::math_time(main.operations, peak);
        let memory = self.kernel.memory_time.unwrap_or(Seconds::ZERO);
        let left = roofline::expected_time(memory, math) / crate::roofline::achievable::MATRIX;
        Ok(Stake::of(roofline::recoverable(self.kernel.modelled, left), "pipe"))
    }

    /// A finding of the rule, with what a cure would bring, capped by the kernel's gap.
    #[must_use]
    pub fn finding(&self, message: String, stake: Stake) -> Finding {
        let most = self.kernel.recoverable_upper;
        let mut finding = Finding::info(self.rule.id, message).confidence(Confidence::Medium);
        finding.at_stake_s = stake.high.min(most).max(Seconds::ZERO).get();
        finding.at_stake_low_s = stake.low.min(most).max(Seconds::ZERO).get();
        finding.estimator = stake.estimator;
        finding.is_fixed = false;
        finding
    }

    /// A finding without anything to win: something to know.
    #[must_use]
    pub fn info(&self, message: String) -> Finding {
        Finding::info(self.rule.id, message)
    }
}
