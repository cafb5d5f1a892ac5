//! What the law reads of a launch.

use crate::model::{Pipe, Quantity};
use crate::scalar::{Branch, Maybe, Number};

/// Where the law reads a launch: its values, or the columns of a table of launches.
pub(crate) trait Reading<N: Number> {
    /// Returns a value in SI base units.
    fn value(&self, quantity: Quantity) -> Maybe<N, N>;

    /// Returns a value with its origin.
    fn counted(&self, quantity: Quantity) -> Maybe<N, Counted<N>>;

    /// Visits the work per pipe, as far as it may be recorded, in the order of [`Pipe::ALL`].
    fn each_work(&self, visit: impl FnMut(Pipe, Maybe<N, Counted<N>>));

    /// Returns the blocks of the grid.
    fn blocks(&self) -> Maybe<N, N>;

    /// Returns the threads of a block.
    fn threads_per_block(&self) -> Maybe<N, N>;
}

/// A value with its origin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted<N: Number> {
    pub(crate) value: N,
    pub(crate) origin: Origin<N>,
}

/// What the law asks of an origin.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<N: Number> {
    /// Whether it follows from sizes, not counters.
    pub(crate) is_algorithmic: N::Truth,
    /// Whether it was measured while the kernel was instrumented.
    pub(crate) is_instrumented: N::Truth,
    /// Bounds of the true value, as factors.
    pub(crate) low: N,
    pub(crate) high: N,
}

impl<N: Number> Branch<N> for Counted<N> {
    #[inline]
    fn blank() -> Self {
        Self { value: N::blank(), origin: Origin::blank() }
    }

    #[inline]
    fn merge(is: N::Truth, then: Self, other: Self) -> Self {
        Self {
            value: N::merge(is, then.value, other.value),
            origin: Origin::merge(is, then.origin, other.origin),
        }
    }
}

impl<N: Number> Branch<N> for Origin<N> {
    #[inline]
    fn blank() -> Self {
        let no = <N::Truth as Branch<N>>::blank();
        Self { is_algorithmic: no, is_instrumented: no, low: N::blank(), high: N::blank() }
    }

    #[inline]
    fn merge(is: N::Truth, then: Self, other: Self) -> Self {
        let truth = <N::Truth as Branch<N>>::merge;
        Self {
            is_algorithmic: truth(is, then.is_algorithmic, other.is_algorithmic),
            is_instrumented: truth(is, then.is_instrumented, other.is_instrumented),
            low: N::merge(is, then.low, other.low),
            high: N::merge(is, then.high, other.high),
        }
    }
}
