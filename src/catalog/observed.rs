//! Figures of a device derived from its launches.

use crate::model::{OriginKind, Pipe, Profile, Quantity};
use crate::units::{BytesPerSecond, Hertz, Seconds};

/// Smallest percentage of peak to divide by; smaller ones have too few digits.
const LEAST_SHARE: f64 = 0.05;

/// Launches below this part of the largest share are ignored.
const LEAST_OF_GREATEST: f64 = 0.5;

/// Largest interquartile range over the median of consistent samples; beyond it, bytes and time are
/// of different executions.
const STEADY: f64 = 0.03;

/// Largest interquartile range over the median of a usable figure.
const USABLE: f64 = 0.1;

/// Shortest launch that is used; traffic of shorter ones depends on caches and passes.
const LEAST_TIME: Seconds = Seconds::new(20e-6);

/// Figures derived from the launches of one device.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    /// Peak bandwidth of its memory.
    pub dram: Option<DerivedPeak>,
    /// Lower quartile of the peaks that follow from shares of the peak, which include commands and turnarounds: memory
    /// has at least this bandwidth, however much the launches disagree.
    pub least_dram: Option<BytesPerSecond>,
    /// Median memory clock.
    pub memory_clock: Option<Hertz>,
    /// Highest rate at which a launch moved bytes of device memory.
    pub highest_rate: Option<BytesPerSecond>,
    /// Median SM clock.
    pub sm_clock: Option<Hertz>,
    /// FP32 operations per clock of the whole device (FMA = 2), from the peaks in the export.
    pub fp32_per_clock: Option<f64>,
    /// The most SMs that a launch could use.
    pub sms: Option<u32>,
}

/// A peak derived from figures of the export.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DerivedPeak {
    /// Median over the usable launches.
    pub value: BytesPerSecond,
    /// Interquartile range over the median.
    pub spread: f64,
    /// How it was derived.
    pub how: &'static str,
    /// Whether only a part of the bytes was counted, such as reads: then the peak is at least this.
    pub is_part: bool,
}

impl DerivedPeak {
    /// Returns `true` if the launches agree well enough to distinguish devices.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.spread <= STEADY
    }

    /// Returns `true` if it is the peak, and not only a lower bound of it.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        !self.is_part
    }
}

/// Samples of one device.
#[derive(Default)]
struct Samples {
    own: Vec<f64>,
    /// Share of the peak, and the peak that follows from it.
    active: Vec<(f64, f64)>,
    throughput: Vec<(f64, f64)>,
    /// Whether a launch has bytes that were counted in part.
    has_parts: bool,
    clocks: Vec<f64>,
    memory_clocks: Vec<f64>,
    fp32: Vec<f64>,
    highest: f64,
    sms: f64,
}

impl Observed {
    /// Derives the figures of each device of the profile, in the order of its hints; there is at
    /// least one.
    #[must_use]
    pub fn of(profile: &Profile) -> Vec<Self> {
        let mut samples: Vec<Samples> = Vec::new();
        samples.resize_with(profile.devices.len().max(1), Samples::default);
        for row in 0..profile.launches.len() {
            if let Some(samples) = samples.get_mut(profile.launches.device(row).position()) {
                samples.add(profile, row);
            }
        }
        samples.into_iter().map(Samples::conclude).collect()
    }
}

impl Samples {
    fn add(&mut self, profile: &Profile, row: usize) {
        let launches = &profile.launches;
        let value = |quantity| launches.value(row, quantity).filter(|value| *value > 0.0);
        self.own.extend(value(Quantity::DramBandwidth));
        self.clocks.extend(value(Quantity::SmClock));
        self.memory_clocks.extend(value(Quantity::DramClock));
        self.sms = self.sms.max(value(Quantity::SmCount).unwrap_or_default());
        let fp32 = value(Quantity::Peak(Pipe::Fp32Vector)).zip(value(Quantity::SmClock));
        self.fp32.extend(fp32.map(|(peak, clock)| peak / clock));
        let counted = |quantity| {
            let (value, origin) = launches.get(row, quantity).filter(|(value, _)| *value > 0.0)?;
            let origin = profile.origins.get(origin);
            let is_counted = matches!(origin.kind, OriginKind::Measured | OriginKind::Derived);
            is_counted.then_some((value, origin.is_exact()))
        };
        let Some((bytes, is_whole)) = counted(Quantity::DramBytes) else { return };
        let Some((time, _)) = counted(Quantity::Duration) else { return };
        let rate = bytes / time;
        if Seconds::new(time) >= LEAST_TIME {
            self.highest = self.highest.max(rate);
        }
        self.has_parts |= !is_whole;
        let of = |share: f64| (share, rate / share);
        self.active.extend(value(Quantity::DramActive).map(of));
        self.throughput.extend(value(Quantity::DramThroughput).map(of));
    }

    fn conclude(mut self) -> Observed {
        let own = spread(&mut self.own).map(|(value, spread)| (value, spread, "its own peak"));
        let is_part = self.has_parts && own.is_none();
        let quotient = || {
            let by = |samples: &[(f64, f64)]| spread(&mut telling(samples));
            let how = "derived: achieved bytes/s ÷ percentage of peak";
            by(&self.active)
                .or_else(|| by(&self.throughput))
                .map(|(value, spread)| (value, spread, how))
        };
        let [active, throughput] =
            [&self.active, &self.throughput].map(|samples| quartile(&mut telling(samples)));
        let dram = own.or_else(quotient).filter(|(_, spread, _)| *spread <= USABLE);
        Observed {
            dram: dram.map(|(value, spread, how)| DerivedPeak {
                value: BytesPerSecond::new(value),
                spread,
                how,
                is_part,
            }),
            least_dram: active.or(throughput).map(BytesPerSecond::new),
            memory_clock: spread(&mut self.memory_clocks).map(|(clock, _)| Hertz::new(clock)),
            highest_rate: (self.highest > 0.0).then(|| BytesPerSecond::new(self.highest)),
            sm_clock: spread(&mut self.clocks).map(|(clock, _)| Hertz::new(clock)),
            fp32_per_clock: spread(&mut self.fp32).map(|(rate, _)| rate),
            sms: (1.0..1e6).contains(&self.sms).then_some(self.sms as u32),
        }
    }
}

/// Returns the peaks derived from shares that are large enough to divide by.
fn telling(samples: &[(f64, f64)]) -> Vec<f64> {
    let greatest = samples.iter().map(|(share, _)| *share).fold(0.0, f64::max);
    let least = LEAST_SHARE.max(greatest * LEAST_OF_GREATEST);
    samples.iter().filter(|(share, _)| *share >= least).map(|(_, peak)| *peak).collect()
}

/// Returns the median of samples, and their interquartile range over it.
fn spread(samples: &mut [f64]) -> Option<(f64, f64)> {
    samples.sort_by(f64::total_cmp);
    let at = |share| quantile(samples, share);
    let median = at(0.5).filter(|median| median.is_finite() && *median > 0.0)?;
    Some((median, (at(0.75)? - at(0.25)?) / median))
}

/// Returns the lower quartile of samples.
fn quartile(samples: &mut [f64]) -> Option<f64> {
    samples.sort_by(f64::total_cmp);
    quantile(samples, 0.25).filter(|value| value.is_finite() && *value > 0.0)
}

/// Returns the value below which this share of sorted samples lies.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(low + (high - low) * place.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_stands_for_samples_and_its_quartiles_tell_how_well() {
        // Quartiles of 1, 2, 3, 4, 10 are 2 and 4.
        assert_eq!(spread(&mut [10.0, 1.0, 3.0, 2.0, 4.0]), Some((3.0, 2.0 / 3.0)));
        assert_eq!(spread(&mut [7.0]), Some((7.0, 0.0)));
        assert_eq!(spread(&mut []), None);
    }

    /// Peaks of 1, 2, 3, 4 and 10: too far apart for a figure, and three of four are at least 2.
    #[test]
    fn launches_that_disagree_still_bound_the_peak_from_below() {
        let samples = [10.0, 1.0, 3.0, 2.0, 4.0].map(|peak| (0.5, peak)).to_vec();
        let found = Samples { throughput: samples, ..Samples::default() }.conclude();
        assert_eq!((found.dram, found.least_dram), (None, Some(BytesPerSecond::new(2.0))));
    }

    #[test]
    fn small_shares_tell_nothing() {
        // 757.6 GB/s at 42.32% are 1,790 GB/s; at 0.04% the printed digits decide.
        let samples = [(0.4232, 757.6e9 / 0.4232), (0.0004, 1e9 / 0.0004), (0.2, 360e9 / 0.2)];
        let telling = telling(&samples);
        assert_eq!(telling.len(), 1);
        assert!((telling[0] / 1790.17e9 - 1.0).abs() < 1e-4, "{telling:?}");
        assert_eq!(super::telling(&[(0.04, 1.0)]), Vec::<f64>::new());
    }
}
