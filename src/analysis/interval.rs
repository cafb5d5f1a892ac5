//! Times with bounds: from counted work up to possibly missed work.

use crate::roofline;
use crate::units::Seconds;

/// A time with bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Interval {
    /// Lower bound.
    pub(super) low: Seconds,
    /// Value from counts or their substitute.
    pub(super) value: Seconds,
    /// Likely upper bound, by the kind of kernel.
    pub(super) likely: Seconds,
    /// Upper bound.
    pub(super) high: Seconds,
}

impl Interval {
    pub(super) const ZERO: Self = Self::exactly(Seconds::ZERO);

    /// An unknown time.
    pub(super) const UNKNOWN: Self = Self {
        low: Seconds::ZERO,
        value: Seconds::ZERO,
        likely: Seconds::new(f64::INFINITY),
        high: Seconds::new(f64::INFINITY),
    };

    pub(super) const fn exactly(time: Seconds) -> Self {
        Self { low: time, value: time, likely: time, high: time }
    }

    /// Makes an interval without counts, of which at most this was missed.
    pub(super) const fn at_most(high: Seconds) -> Self {
        Self { low: Seconds::ZERO, value: Seconds::ZERO, likely: high, high }
    }

    /// Makes an interval from a time and uncertainty factors.
    pub(super) fn scaled(time: Seconds, low: f64, high: f64) -> Self {
        // Zero work stays zero however uncertain its factor is.
        let high = if time.get() == 0.0 { Seconds::ZERO } else { time * high };
        Self { low: time * low, value: time, likely: time, high }
    }

    /// Scales the ends by uncertainty factors.
    pub(super) fn times(self, low: f64, high: f64) -> Self {
        let high = if self.high.get() == 0.0 { Seconds::ZERO } else { self.high * high };
        Self { low: self.low * low, high, ..self }
    }

    /// Caps the interval at `time`, unless more was counted.
    pub(super) fn capped(self, time: Seconds) -> Self {
        let cap = self.value.max(time);
        Self { likely: self.likely.min(cap), high: self.high.min(cap), ..self }
    }

    pub(super) fn add(self, other: Self) -> Self {
        Self {
            low: self.low + other.low,
            value: self.value + other.value,
            likely: self.likely + other.likely,
            high: self.high + other.high,
        }
    }

    /// Combines two overlapping sides: the longer of each bound.
    pub(super) fn overlapped(self, other: Self) -> Self {
        let longer = roofline::roofline_time;
        Self {
            low: longer(self.low, other.low),
            value: longer(self.value, other.value),
            likely: longer(self.likely, other.likely),
            high: longer(self.high, other.high),
        }
    }

    /// Returns `true` if it has more than an upper bound.
    pub(super) fn is_known(self) -> bool {
        self.value > Seconds::ZERO || self.high == Seconds::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(low: f64, value: f64, likely: f64, high: f64) -> Interval {
        let [low, value, likely, high] = [low, value, likely, high].map(Seconds::new);
        Interval { low, value, likely, high }
    }

    #[test]
    fn sides_that_overlap_take_the_longer_bound_by_bound() {
        let (memory, math) = (seconds(1.0, 2.0, 2.0, 3.0), seconds(0.0, 0.5, 2.5, 9.0));
        assert_eq!(memory.overlapped(math), seconds(1.0, 2.0, 2.5, 9.0));
        assert_eq!(memory.overlapped(Interval::UNKNOWN).likely.get(), f64::INFINITY);
    }

    #[test]
    fn a_cap_never_cuts_what_was_counted() {
        let inf = f64::INFINITY;
        assert_eq!(
            seconds(0.0, 1.0, 1.0, inf).capped(Seconds::new(0.4)),
            seconds(0.0, 1.0, 1.0, 1.0)
        );
        assert_eq!(
            seconds(0.0, 1.0, inf, inf).capped(Seconds::new(4.0)),
            seconds(0.0, 1.0, 4.0, 4.0)
        );
    }

    #[test]
    fn zero_work_stays_zero() {
        let zero = Interval::scaled(Seconds::ZERO, 0.0, f64::INFINITY);
        assert_eq!((zero, zero.is_known()), (Interval::ZERO, true));
        assert!(!Interval::at_most(Seconds::new(1.0)).is_known());
    }
}
