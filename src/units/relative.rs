//! Dimensionless quantities: shifts, changes, shares, factors and probabilities.
//!
//! ```
//! use rooflint::units::{RelativeChange, Factor};
//! // 25% more is a factor of 1.25, and on the logarithmic scale as far from 1 as 20% less.
//! assert_eq!(Factor::new(1.25).change(), RelativeChange::new(0.25));
//! assert!((RelativeChange::new(0.25).shift() + RelativeChange::new(-0.2).shift()).abs().get() < 1e-15);
//! ```

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use serde::{Deserialize, Serialize};

use super::{Packed, number};

macro_rules! relative {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Packed);

        number!($name);
    )*};
}

relative! {
    /// The natural logarithm of the ratio of two values. 0 is no change, `ln 1.05` is 5% more, and
    /// the shift back is the negative of the shift there.
    Shift;
    /// A relative change: 0.05 is 5% more, -0.05 is 5% less.
    RelativeChange;
    /// A part of a whole, from 0 to 1; above 1 if the whole is a roof that was exceeded.
    Share;
    /// A ratio of two values, such as headroom.
    Factor;
    /// A probability, or a confidence, from 0 to 1.
    Probability;
}

macro_rules! additive {
    ($($name:ident)*) => {$(
        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self::new(self.get() + other.get())
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self::new(self.get() - other.get())
            }
        }

        impl Mul<f64> for $name {
            type Output = Self;
            fn mul(self, factor: f64) -> Self {
                Self::new(self.get() * factor)
            }
        }

        impl Div<f64> for $name {
            type Output = Self;
            fn div(self, divisor: f64) -> Self {
                Self::new(self.get() / divisor)
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
                values.fold(Self::ZERO, Add::add)
            }
        }
    )*};
}

// Changes, factors and probabilities of different wholes cannot be added.
additive! { Shift Share }

impl Neg for Shift {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.get())
    }
}

impl Shift {
    /// No bound.
    pub const INFINITY: Self = Self::new(f64::INFINITY);

    /// Returns the shift from one amount to another of the same unit; both must be positive.
    #[must_use]
    pub fn between(before: f64, after: f64) -> Self {
        Self::new((after / before).ln())
    }

    /// Converts it to a relative change.
    #[must_use]
    pub fn change(self) -> RelativeChange {
        RelativeChange::new(self.get().exp_m1())
    }
}

impl RelativeChange {
    /// Converts it to the logarithmic scale.
    #[must_use]
    pub fn shift(self) -> Shift {
        Shift::new(self.get().ln_1p())
    }
}

impl Factor {
    /// A factor of one.
    pub const ONE: Self = Self::new(1.0);

    /// Converts it to the logarithmic scale.
    #[must_use]
    pub fn shift(self) -> Shift {
        Shift::new(self.get().ln())
    }

    /// Converts it to a relative change.
    #[must_use]
    pub fn change(self) -> RelativeChange {
        RelativeChange::new(self.get() - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_is_a_logarithm_and_mirrors() {
        // ln 1.05 = 0.048790, e^0.048790 - 1 = 0.05.
        let shift = RelativeChange::new(0.05).shift();
        assert!((shift.get() - 0.048_790_164).abs() < 1e-9);
        assert!((shift.change().get() - 0.05).abs() < 1e-15);
        assert_eq!(Shift::between(2.0, 4.0), -Shift::between(4.0, 2.0));
        assert_eq!(Factor::new(1.5).shift(), Shift::between(2.0, 3.0));
        assert_eq!(Factor::new(0.75).change(), RelativeChange::new(-0.25));
    }

    #[test]
    fn the_sum_of_no_shares_is_a_positive_zero() {
        assert!(std::iter::empty::<Share>().sum::<Share>().get().is_sign_positive());
        assert_eq!([0.25, 0.5].map(Share::new).into_iter().sum::<Share>(), Share::new(0.75));
    }
}
