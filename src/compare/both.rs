//! One of something for each side of a comparison.

/// The same thing of the baseline and of the current side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Both<T> {
    pub(crate) before: T,
    pub(crate) after: T,
}

impl<T> Both<T> {
    /// The same of another thing, side by side.
    pub(crate) fn map<U>(self, mut of: impl FnMut(T) -> U) -> Both<U> {
        Both { before: of(self.before), after: of(self.after) }
    }

    pub(crate) const fn as_ref(&self) -> Both<&T> {
        Both { before: &self.before, after: &self.after }
    }

    /// Both, the baseline first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        [&self.before, &self.after].into_iter()
    }
}

impl<T> Both<Option<T>> {
    /// What both sides have.
    pub(crate) fn known(self) -> Option<Both<T>> {
        Some(Both { before: self.before?, after: self.after? })
    }
}
