//! Times with bounds: from counted work up to possibly missed work.

use crate::scalar::{Branch, Number};

/// A time with bounds, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval<N> {
    /// Lower bound.
    pub(crate) low: N,
    /// Value from counts or their substitute.
    pub(crate) value: N,
    /// Likely upper bound, by the kind of kernel.
    pub(crate) likely: N,
    /// Upper bound.
    pub(crate) high: N,
}

impl<N: Number> Interval<N> {
    #[inline]
    pub(crate) fn zero() -> Self {
        Self::exactly(N::of(0.0))
    }

    /// An unknown time.
    #[inline]
    pub(crate) fn unknown() -> Self {
        Self::at_most(N::of(f64::INFINITY))
    }

    #[inline]
    pub(crate) fn exactly(time: N) -> Self {
        Self { low: time, value: time, likely: time, high: time }
    }

    /// Makes an interval without counts, of which at most this was missed.
    #[inline]
    pub(crate) fn at_most(high: N) -> Self {
        Self { low: N::of(0.0), value: N::of(0.0), likely: high, high }
    }

    /// Makes an interval that may be nothing at all.
    #[inline]
    pub(crate) fn up_to(time: N) -> Self {
        Self { low: N::of(0.0), ..Self::exactly(time) }
    }

    /// Scales the ends by uncertainty factors.
    #[inline]
    pub(crate) fn times(self, low: N, high: N) -> Self {
        // Zero work stays zero however uncertain its factor is.
        let zero = N::of(0.0);
        let high = N::select(self.high.same(zero), || zero, || self.high * high);
        Self { low: self.low * low, high, ..self }
    }

    /// Caps the interval at `time`, unless more was counted.
    #[inline]
    pub(crate) fn capped(self, time: N) -> Self {
        let cap = self.value.max(time);
        Self { likely: self.likely.min(cap), high: self.high.min(cap), ..self }
    }

    #[inline]
    pub(crate) fn add(self, other: Self) -> Self {
        Self {
            low: self.low + other.low,
            value: self.value + other.value,
            likely: self.likely + other.likely,
            high: self.high + other.high,
        }
    }

    /// Combines two overlapping sides: the longer of each bound.
    #[inline]
    pub(crate) fn overlapped(self, other: Self) -> Self {
        Self {
            low: self.low.max(other.low),
            value: self.value.max(other.value),
            likely: self.likely.max(other.likely),
            high: self.high.max(other.high),
        }
    }

    /// Returns whether it has more than an upper bound.
    #[inline]
    pub(crate) fn is_known(self) -> N::Truth {
        let zero = N::of(0.0);
        zero.less(self.value) | self.high.same(zero)
    }

    /// Gives its bounds names.
    #[inline]
    pub(crate) fn named(self, name: &str) -> Self {
        Self {
            low: self.low.named(name, "_low"),
            value: self.value.named(name, ""),
            likely: self.likely.named(name, "_likely"),
            high: self.high.named(name, "_high"),
        }
    }
}

impl<N: Number> Branch<N> for Interval<N> {
    #[inline]
    fn blank() -> Self {
        Self::zero()
    }

    #[inline]
    fn merge(is: N::Truth, then: Self, other: Self) -> Self {
        Self {
            low: N::merge(is, then.low, other.low),
            value: N::merge(is, then.value, other.value),
            likely: N::merge(is, then.likely, other.likely),
            high: N::merge(is, then.high, other.high),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;

    fn seconds(low: f64, value: f64, likely: f64, high: f64) -> Interval<f64> {
        Interval { low, value, likely, high }
    }

    #[test]
    fn sides_that_overlap_take_the_longer_bound_by_bound() {
        let (memory, math) = (seconds(1.0, 2.0, 2.0, 3.0), seconds(0.0, 0.5, 2.5, 9.0));
        assert_eq!(memory.overlapped(math), seconds(1.0, 2.0, 2.5, 9.0));
        assert_eq!(memory.overlapped(Interval::unknown()).likely, INF);
    }

    #[test]
    fn a_cap_never_cuts_what_was_counted() {
        assert_eq!(seconds(0.0, 1.0, 1.0, INF).capped(0.4), seconds(0.0, 1.0, 1.0, 1.0));
        assert_eq!(seconds(0.0, 1.0, INF, INF).capped(4.0), seconds(0.0, 1.0, 4.0, 4.0));
    }

    #[test]
    fn zero_work_stays_zero() {
        let zero = Interval::exactly(0.0).times(0.0, INF);
        assert_eq!((zero, zero.is_known()), (Interval::zero(), true));
        assert!(!Interval::at_most(1.0).is_known());
    }
}
