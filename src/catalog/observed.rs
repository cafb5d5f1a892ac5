//! What launches tell of the device they ran on, beside what their export states.

use crate::model::{Launch, OriginKind, Pipe, Profile, Quantity};
use crate::units::{BytesPerSecond, Hertz, Seconds};

/// A percentage below this is printed with too few digits to divide by.
const LEAST_SHARE: f64 = 0.05;

/// Launches with less than this part of the greatest share are left to those that moved more.
const LEAST_OF_GREATEST: f64 = 0.5;

/// Quartiles further apart than this, over the median: bytes and time are of different executions.
const STEADY: f64 = 0.03;

/// Beyond this a derived figure says nothing.
const USABLE: f64 = 0.1;

/// Shorter launches move what caches and passes make of them.
const LEAST_TIME: Seconds = Seconds::new(20e-6);

/// What the launches of one device tell of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Observed {
    /// The peak of its memory.
    pub dram: Option<DerivedPeak>,
    /// The highest rate at which a launch moved bytes of device memory.
    pub highest_rate: Option<BytesPerSecond>,
    /// The median SM clock.
    pub sm_clock: Option<Hertz>,
    /// FP32 operations per clock of the whole device (FMA = 2), from the peaks of the export.
    pub fp32_per_clock: Option<f64>,
}

/// A peak that follows from figures of the export.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DerivedPeak {
    /// The median over the launches that tell it.
    pub value: BytesPerSecond,
    /// Its quartiles apart, over the median.
    pub spread: f64,
    /// How it follows.
    pub how: &'static str,
}

impl DerivedPeak {
    /// Whether the launches agree well enough to tell devices apart.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.spread <= STEADY
    }
}

/// Samples of one device.
#[derive(Default)]
struct Samples {
    own: Vec<f64>,
    /// Share of the peak, and the peak that follows from it.
    active: Vec<(f64, f64)>,
    throughput: Vec<(f64, f64)>,
    clocks: Vec<f64>,
    fp32: Vec<f64>,
    highest: f64,
}

impl Observed {
    /// What the launches tell of each device of the profile, in the order of its hints; there is at
    /// least one.
    #[must_use]
    pub fn of(profile: &Profile) -> Vec<Self> {
        let mut samples: Vec<Samples> = Vec::new();
        samples.resize_with(profile.devices.len().max(1), Samples::default);
        for launch in profile.iter() {
            if let Some(samples) = samples.get_mut(usize::from(launch.head.device.0)) {
                samples.add(&launch);
            }
        }
        samples.into_iter().map(Samples::conclude).collect()
    }
}

impl Samples {
    fn add(&mut self, launch: &Launch<'_>) {
        let value = |quantity| launch.value(quantity).filter(|value| *value > 0.0);
        self.own.extend(value(Quantity::DramBandwidth));
        self.clocks.extend(value(Quantity::SmClock));
        let fp32 = value(Quantity::Peak(Pipe::Fp32Vector)).zip(value(Quantity::SmClock));
        self.fp32.extend(fp32.map(|(peak, clock)| peak / clock));
        let counted = |kind| matches!(kind, OriginKind::Measured | OriginKind::Derived);
        let bytes = launch.dram_bytes().filter(|(_, origin)| counted(origin.kind));
        let time = launch.duration().filter(|(_, origin)| counted(origin.kind));
        let Some(((bytes, _), (time, _))) = bytes.zip(time) else { return };
        if bytes.get() <= 0.0 || time <= Seconds::ZERO {
            return;
        }
        let rate = bytes.get() / time.get();
        if time >= LEAST_TIME {
            self.highest = self.highest.max(rate);
        }
        let of = |share: f64| (share, rate / share);
        self.active.extend(value(Quantity::DramActive).map(of));
        self.throughput.extend(value(Quantity::DramThroughput).map(of));
    }

    fn conclude(mut self) -> Observed {
        let own = spread(&mut self.own).map(|(value, spread)| (value, spread, "its own peak"));
        let quotient = || {
            let by = |samples: &[(f64, f64)]| spread(&mut telling(samples));
            let how = "derived: achieved bytes/s ÷ percentage of peak";
            by(&self.active)
                .or_else(|| by(&self.throughput))
                .map(|(value, spread)| (value, spread, how))
        };
        let dram = own.or_else(quotient).filter(|(_, spread, _)| *spread <= USABLE);
        Observed {
            dram: dram.map(|(value, spread, how)| DerivedPeak {
                value: BytesPerSecond::new(value),
                spread,
                how,
            }),
            highest_rate: (self.highest > 0.0).then(|| BytesPerSecond::new(self.highest)),
            sm_clock: spread(&mut self.clocks).map(|(clock, _)| Hertz::new(clock)),
            fp32_per_clock: spread(&mut self.fp32).map(|(rate, _)| rate),
        }
    }
}

/// The peaks that follow from shares great enough to divide by.
fn telling(samples: &[(f64, f64)]) -> Vec<f64> {
    let greatest = samples.iter().map(|(share, _)| *share).fold(0.0, f64::max);
    let least = LEAST_SHARE.max(greatest * LEAST_OF_GREATEST);
    samples.iter().filter(|(share, _)| *share >= least).map(|(_, peak)| *peak).collect()
}

/// The median of samples, and their quartiles apart over it.
fn spread(samples: &mut [f64]) -> Option<(f64, f64)> {
    samples.sort_by(f64::total_cmp);
    let last = samples.len().checked_sub(1)?;
    let at = |share: f64| {
        let place = share * last as f64;
        let (low, high) = (samples[place.floor() as usize], samples[place.ceil() as usize]);
        low + (high - low) * place.fract()
    };
    let median = at(0.5);
    (median.is_finite() && median > 0.0).then(|| (median, (at(0.75) - at(0.25)) / median))
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
