//! Values that may be missing.

use super::{Branch, Number, Truth};

/// A value that may be missing; missing is never zero.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Maybe<N: Number, T> {
    /// Whether it is known.
    pub(crate) is: N::Truth,
    /// The value; a placeholder if it is missing.
    value: T,
}

impl<N: Number, T: Branch<N>> Maybe<N, T> {
    /// Makes a known value.
    #[inline]
    pub(crate) fn known(value: T) -> Self {
        Self { is: N::Truth::of(true), value }
    }

    /// Makes a missing value.
    #[inline]
    #[must_use]
    pub(crate) fn missing() -> Self {
        Self { is: N::Truth::of(false), value: T::blank() }
    }

    /// Makes a value that is known under a condition.
    #[inline]
    pub(crate) fn when(is: N::Truth, value: impl FnOnce() -> T) -> Self {
        Self { is, value: N::guarded(is, value) }
    }

    /// Makes a value that is missing unless a condition holds.
    #[inline]
    pub(crate) fn only_if(is: N::Truth, value: impl FnOnce() -> Self) -> Self {
        let value = N::guarded(is, value);
        Self { is: is & value.is, value: value.value }
    }

    /// Applies a function to a known value.
    #[inline]
    pub(crate) fn map<U: Branch<N>>(self, change: impl FnOnce(T) -> U) -> Maybe<N, U> {
        Maybe::when(self.is, || change(self.value))
    }

    /// Applies a function that may have no result.
    #[inline]
    pub(crate) fn and_then<U: Branch<N>>(
        self,
        change: impl FnOnce(T) -> Maybe<N, U>,
    ) -> Maybe<N, U> {
        Maybe::only_if(self.is, || change(self.value))
    }

    /// Returns both if both are known.
    #[inline]
    pub(crate) fn zip<U: Branch<N>>(self, other: Maybe<N, U>) -> Maybe<N, (T, U)> {
        Maybe { is: self.is & other.is, value: (self.value, other.value) }
    }

    /// Keeps the value only if a condition on it holds.
    #[inline]
    pub(crate) fn filter(self, keep: impl FnOnce(T) -> N::Truth) -> Self {
        Self { is: self.is & N::guarded(self.is, || keep(self.value)), value: self.value }
    }

    /// Returns whether it is known and a condition on it holds.
    #[inline]
    pub(crate) fn is_some_and(self, holds: impl FnOnce(T) -> N::Truth) -> N::Truth {
        self.filter(holds).is
    }

    /// Returns the value, which only counts if it is known.
    #[inline]
    pub(crate) fn placeholder(self) -> T {
        self.value
    }

    /// Returns it, or another if it is missing.
    #[inline]
    pub(crate) fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        N::select(self.is, || self, other)
    }

    /// Returns the value, or another if it is missing.
    #[inline]
    pub(crate) fn unwrap_or(self, other: T) -> T {
        self.unwrap_or_else(|| other)
    }

    /// Returns the value, or computes another if it is missing.
    #[inline]
    pub(crate) fn unwrap_or_else(self, other: impl FnOnce() -> T) -> T {
        N::select(self.is, || self.value, other)
    }

    /// Returns what a function makes of the value, or another value if it is missing.
    #[inline]
    pub(crate) fn map_or<U: Branch<N>>(self, other: U, change: impl FnOnce(T) -> U) -> U {
        N::select(self.is, || change(self.value), || other)
    }

    /// Returns what one function makes of the value, or what another computes if it is missing.
    #[inline]
    pub(crate) fn map_or_else<U: Branch<N>>(
        self,
        change: impl FnOnce(T) -> U,
        other: impl FnOnce() -> U,
    ) -> U {
        N::select(self.is, || change(self.value), other)
    }
}

impl<T: Branch<f64>> Maybe<f64, T> {
    /// Returns the value in the form of the standard library.
    #[inline]
    pub(crate) fn option(self) -> Option<T> {
        self.is.then_some(self.value)
    }
}

impl<T: Branch<f64>> From<Option<T>> for Maybe<f64, T> {
    #[inline]
    fn from(value: Option<T>) -> Self {
        value.map_or_else(Self::missing, Self::known)
    }
}

impl<N: Number, T: Branch<N>> Branch<N> for Maybe<N, T> {
    #[inline]
    fn blank() -> Self {
        Self::missing()
    }

    #[inline]
    fn merge(is: N::Truth, then: Self, other: Self) -> Self {
        Self { is: (is & then.is) | (!is & other.is), value: T::merge(is, then.value, other.value) }
    }
}

impl<N: Number, A: Branch<N>, B: Branch<N>> Branch<N> for (A, B) {
    #[inline]
    fn blank() -> Self {
        (A::blank(), B::blank())
    }

    #[inline]
    fn merge(is: N::Truth, then: Self, other: Self) -> Self {
        (A::merge(is, then.0, other.0), B::merge(is, then.1, other.1))
    }
}

#[cfg(test)]
mod tests {
    use super::Maybe;

    type Number = Maybe<f64, f64>;

    #[test]
    fn what_is_missing_is_not_computed() {
        let (known, missing) = (Number::known(2.0), Number::missing());
        assert_eq!(known.map(|value| value * 3.0).option(), Some(6.0));
        assert_eq!(missing.map(|_| -> f64 { panic!("computed") }).option(), None);
        assert_eq!(missing.or_else(|| known).option(), Some(2.0));
        assert_eq!(known.filter(|value| value > 2.0).option(), None);
        assert_eq!((missing.unwrap_or(1.0), known.zip(missing).option()), (1.0, None));
    }
}
