//! A pair of values: one for the baseline, one for the current side.

/// One value of the baseline and one of the current side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Both<T> {
    pub(crate) before: T,
    pub(crate) after: T,
}

impl<T> Both<T> {
    /// Applies a function to both sides.
    pub(crate) fn map<U>(self, mut of: impl FnMut(T) -> U) -> Both<U> {
        Both { before: of(self.before), after: of(self.after) }
    }

    pub(crate) const fn as_ref(&self) -> Both<&T> {
        Both { before: &self.before, after: &self.after }
    }

    /// Iterates over both values, the baseline first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        [&self.before, &self.after].into_iter()
    }
}

impl<T> Both<Option<T>> {
    /// Returns both values if both sides have one.
    pub(crate) fn known(self) -> Option<Both<T>> {
        Some(Both { before: self.before?, after: self.after? })
    }
}
