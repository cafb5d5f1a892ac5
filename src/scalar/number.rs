//! What the model asks of its numbers, and the plain ones.

use std::fmt::Debug;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Not, Sub};

/// A number, or an expression for one.
pub(crate) trait Number:
    Copy
    + Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Branch<Self>
{
    /// What comparisons result in.
    type Truth: Truth + Branch<Self>;
    /// One of few words, such as a limiter.
    type Choice<W: Word>: Copy + Debug + Branch<Self>;

    /// Returns a constant.
    fn of(value: f64) -> Self;

    /// Returns the larger of the two.
    fn max(self, other: Self) -> Self;

    /// Returns the smaller of the two.
    fn min(self, other: Self) -> Self;

    /// Returns the largest whole number that is not larger.
    fn floor(self) -> Self;

    /// Returns the smallest whole number that is not smaller.
    fn ceil(self) -> Self;

    /// Returns the nearest whole number; halves go away from zero.
    fn round(self) -> Self;

    /// Returns whether it is less than another.
    fn less(self, other: Self) -> Self::Truth;

    /// Returns whether it is at most another.
    fn at_most(self, other: Self) -> Self::Truth;

    /// Returns whether it equals another.
    fn same(self, other: Self) -> Self::Truth;

    /// Gives an expression a name of two parts, under which its text is easier to read; plain numbers
    /// have none.
    #[inline]
    #[must_use]
    fn named(self, _name: &str, _end: &str) -> Self {
        self
    }

    /// Chooses between two values. Of plain numbers only the chosen one is computed.
    fn select<T: Branch<Self>>(
        is: Self::Truth,
        then: impl FnOnce() -> T,
        other: impl FnOnce() -> T,
    ) -> T;

    /// Computes a value that only counts if a condition holds. Of plain numbers nothing else is
    /// computed.
    fn guarded<T: Branch<Self>>(is: Self::Truth, value: impl FnOnce() -> T) -> T;

    /// Returns a word that is known.
    fn word<W: Word>(word: W) -> Self::Choice<W>;

    /// Returns whether a choice is a word.
    fn is<W: Word>(choice: Self::Choice<W>, word: W) -> Self::Truth;

    /// Returns the later of two words, in their order.
    fn later<W: Word>(one: Self::Choice<W>, other: Self::Choice<W>) -> Self::Choice<W>;
}

/// What comparisons result in.
pub(crate) trait Truth:
    Copy + Debug + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
{
    /// Returns a constant.
    fn of(is: bool) -> Self;
}

/// What can differ between the branches of a condition.
pub(crate) trait Branch<N: Number>: Copy {
    /// Returns a placeholder for a value that does not count.
    fn blank() -> Self;

    /// Returns the first if the condition holds, else the other.
    #[must_use]
    fn merge(is: N::Truth, then: Self, other: Self) -> Self;
}

/// One of few words.
pub(crate) trait Word: Copy + Debug + Ord + 'static {
    /// The word of a placeholder.
    const BLANK: Self;

    /// Returns how a table holds it.
    fn constant(self) -> Constant;
}

/// How a table holds a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Constant {
    /// As text.
    Text(&'static str),
    /// By its number, where words have an order.
    Rank(u8),
}

impl Number for f64 {
    type Truth = bool;
    type Choice<W: Word> = W;

    #[inline]
    fn of(value: f64) -> Self {
        value
    }

    #[inline]
    fn max(self, other: Self) -> Self {
        self.max(other)
    }

    #[inline]
    fn min(self, other: Self) -> Self {
        self.min(other)
    }

    #[inline]
    fn floor(self) -> Self {
        self.floor()
    }

    #[inline]
    fn ceil(self) -> Self {
        self.ceil()
    }

    #[inline]
    fn round(self) -> Self {
        self.round()
    }

    #[inline]
    fn less(self, other: Self) -> bool {
        self < other
    }

    #[inline]
    fn at_most(self, other: Self) -> bool {
        self <= other
    }

    #[inline]
    fn same(self, other: Self) -> bool {
        self == other
    }

    #[inline]
    fn select<T: Branch<Self>>(is: bool, then: impl FnOnce() -> T, other: impl FnOnce() -> T) -> T {
        if is { then() } else { other() }
    }

    #[inline]
    fn guarded<T: Branch<Self>>(is: bool, value: impl FnOnce() -> T) -> T {
        if is { value() } else { T::blank() }
    }

    #[inline]
    fn word<W: Word>(word: W) -> W {
        word
    }

    #[inline]
    fn is<W: Word>(choice: W, word: W) -> bool {
        choice == word
    }

    #[inline]
    fn later<W: Word>(one: W, other: W) -> W {
        one.max(other)
    }
}

impl Truth for bool {
    #[inline]
    fn of(is: bool) -> Self {
        is
    }
}

impl Branch<f64> for f64 {
    #[inline]
    fn blank() -> Self {
        0.0
    }

    #[inline]
    fn merge(is: bool, then: Self, other: Self) -> Self {
        if is { then } else { other }
    }
}

impl Branch<f64> for bool {
    #[inline]
    fn blank() -> Self {
        false
    }

    #[inline]
    fn merge(is: bool, then: Self, other: Self) -> Self {
        if is { then } else { other }
    }
}

impl<W: Word> Branch<f64> for W {
    #[inline]
    fn blank() -> Self {
        W::BLANK
    }

    #[inline]
    fn merge(is: bool, then: Self, other: Self) -> Self {
        if is { then } else { other }
    }
}
