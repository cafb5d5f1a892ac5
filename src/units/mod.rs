//! Physical quantities as newtypes in SI base units, with only the arithmetic that physics allows.
//!
//! Conversion from wire units happens in [`crate::ingest`], conversion to display units in
//! [`crate::report`] and where rules write sentences, by [`si`]; in between, no number is without
//! its unit.
//!
//! ```
//! use rooflint::units::{Bytes, BytesPerSecond, Flops, Seconds};
//! let time: Seconds = Bytes::new(3.35e12) / BytesPerSecond::new(3.35e12);
//! assert_eq!(time, Seconds::new(1.0));
//! let intensity = Flops::new(2.0e9) / Bytes::new(1.0e9);
//! assert_eq!(intensity.get(), 2.0);
//! ```
//!
//! Adding bytes to seconds does not compile:
//!
//! ```compile_fail
//! use rooflint::units::{Bytes, Seconds};
//! let nonsense = Bytes::new(1.0) + Seconds::new(1.0);
//! ```

mod dimension;
mod merged;
mod middle;
mod packed;
mod relative;
mod shown;

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub};

use serde::{Deserialize, Serialize};

pub use dimension::Dimension;
pub use merged::MergedSum;
pub(crate) use middle::median;
#[cfg(feature = "gate")]
pub(crate) use middle::median_of;
use packed::Packed;
pub use relative::{Factor, Probability, RelativeChange, Share, Shift};
pub use shown::{
    change, change_interval, change_limit, count_of, digits, factor, interval, percent, si,
    whole_percent,
};

/// Amounts from here on are a mistake, in any unit: more than 10²² years in seconds; its square is still finite.
pub(crate) const BEYOND_ALL: f64 = 1e30;

/// No clock is as fast, in Hz: one that is counted in another unit.
pub(crate) const FASTEST_CLOCK: f64 = 1e12;

/// Methods of every newtype around a number; schemas show the plain number.
macro_rules! number {
    ($name:ident) => {
        impl From<$name> for f64 {
            fn from(value: $name) -> Self {
                value.get()
            }
        }

        impl $name {
            /// Zero of this quantity.
            pub const ZERO: Self = Self::new(0.0);

            /// Wraps a value that is already in the base unit.
            #[must_use]
            pub const fn new(value: f64) -> Self {
                Self(Packed::new(value))
            }

            /// Returns the value in the base unit.
            #[must_use]
            pub const fn get(self) -> f64 {
                self.0.get()
            }

            /// Returns the larger of the two.
            #[must_use]
            pub fn max(self, other: Self) -> Self {
                Self::new(self.get().max(other.get()))
            }

            /// Returns the smaller of the two.
            #[must_use]
            pub fn min(self, other: Self) -> Self {
                Self::new(self.get().min(other.get()))
            }

            /// Returns the absolute value.
            #[must_use]
            pub const fn abs(self) -> Self {
                Self::new(self.get().abs())
            }

            /// Compares in a total order that includes NaN.
            #[must_use]
            pub fn total_cmp(&self, other: &Self) -> std::cmp::Ordering {
                self.get().total_cmp(&other.get())
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                f64::json_schema(generator)
            }
        }
    };
}

use number;

macro_rules! quantity {
    ($($(#[$doc:meta])* $name:ident, $unit:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Packed);

        number!($name);

        impl $name {
            /// Symbol of the SI base unit.
            pub const UNIT: &'static str = $unit;
        }

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

        /// Scaling by a dimensionless factor.
        impl Mul<f64> for $name {
            type Output = Self;
            fn mul(self, factor: f64) -> Self {
                Self::new(self.get() * factor)
            }
        }

        /// Scaling by a dimensionless divisor.
        impl Div<f64> for $name {
            type Output = Self;
            fn div(self, divisor: f64) -> Self {
                Self::new(self.get() / divisor)
            }
        }

        /// The ratio of two values of the same quantity has no unit.
        impl Div for $name {
            type Output = f64;
            fn div(self, other: Self) -> f64 {
                self.get() / other.get()
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(values: I) -> Self {
                // Not the sum of floats: that of none is -0.
                values.fold(Self::ZERO, Add::add)
            }
        }
    )*};
}

quantity! {
    /// A duration, in seconds.
    Seconds, "s";
    /// An amount of data, in bytes (1 GB is 10⁹ bytes, 1 GiB is 2³⁰).
    Bytes, "B";
    /// A number of operations: floating-point (FLOP; a fused multiply-add counts 2) or integer
    /// (OP).
    Flops, "FLOP";
    /// Arithmetic intensity: operations per byte moved.
    FlopsPerByte, "FLOP/B";
    /// A bandwidth, in bytes per second.
    BytesPerSecond, "B/s";
    /// A rate of operations, per second.
    FlopsPerSecond, "FLOP/s";
    /// A clock frequency, in cycles per second.
    Hertz, "Hz";
}

macro_rules! law {
    ($($left:ident / $right:ident = $result:ident;)*) => {$(
        impl Div<$right> for $left {
            type Output = $result;
            fn div(self, other: $right) -> $result {
                $result::new(self.get() / other.get())
            }
        }
        impl Mul<$right> for $result {
            type Output = $left;
            fn mul(self, other: $right) -> $left {
                $left::new(self.get() * other.get())
            }
        }
    )*};
}

law! {
    Bytes / BytesPerSecond = Seconds;
    Flops / FlopsPerSecond = Seconds;
    Flops / Bytes = FlopsPerByte;
    FlopsPerSecond / BytesPerSecond = FlopsPerByte;
}

macro_rules! rate {
    ($($amount:ident / Seconds = $rate:ident;)*) => {$(
        impl Div<Seconds> for $amount {
            type Output = $rate;
            fn div(self, time: Seconds) -> $rate {
                $rate::new(self.get() / time.get())
            }
        }
        impl Mul<Seconds> for $rate {
            type Output = $amount;
            fn mul(self, time: Seconds) -> $amount {
                $amount::new(self.get() * time.get())
            }
        }
    )*};
}

rate! {
    Bytes / Seconds = BytesPerSecond;
    Flops / Seconds = FlopsPerSecond;
}

/// A sum that keeps small terms beside large ones (Neumaier's variant of Kahan summation).
///
/// Totals over a million launches do not depend on their order in the printed digits. Source: A.
/// Neumaier, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen", ZAMM 54
/// (1974).
#[derive(Debug, Clone, Copy, Default)]
pub struct ExactSum {
    sum: f64,
    lost: f64,
}

impl ExactSum {
    /// Adds one term.
    pub fn add(&mut self, term: f64) {
        let total = self.sum + term;
        if !total.is_finite() {
            // An unbounded term makes an unbounded sum, not an undefined one.
            *self = Self { sum: total, lost: 0.0 };
            return;
        }
        self.lost += if self.sum.abs() >= term.abs() {
            (self.sum - total) + term
        } else {
            (term - total) + self.sum
        };
        self.sum = total;
    }

    /// Returns the sum of all terms added so far.
    #[must_use]
    pub fn get(self) -> f64 {
        self.sum + self.lost
    }

    /// Returns the two terms that it is kept as.
    #[must_use]
    pub fn terms(self) -> [f64; 2] {
        [self.sum, self.lost]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_nothing_is_a_positive_zero() {
        let none: Seconds = std::iter::empty().sum();
        assert!(none.get().is_sign_positive());
        assert_eq!([1.0, 2.5].map(Bytes::new).into_iter().sum::<Bytes>(), Bytes::new(3.5));
    }

    #[test]
    fn quantities_divide_into_each_other() {
        assert_eq!(Bytes::new(10.0) / Seconds::new(2.0), BytesPerSecond::new(5.0));
        assert_eq!(FlopsPerSecond::new(4.0) * Seconds::new(2.0), Flops::new(8.0));
        assert_eq!(
            FlopsPerSecond::new(312e12) / BytesPerSecond::new(2e12),
            FlopsPerByte::new(156.0)
        );
        assert_eq!(Seconds::new(3.0) / Seconds::new(2.0), 1.5);
    }

    #[test]
    fn exact_sum_keeps_what_a_plain_sum_loses() {
        let mut sum = ExactSum::default();
        for term in [1e16, 1.0, -1e16] {
            sum.add(term);
        }
        assert_eq!(sum.get(), 1.0);
        assert_eq!([1e16, 1.0, -1e16].iter().sum::<f64>(), 0.0);
    }

    #[test]
    fn an_unbounded_term_makes_an_unbounded_sum() {
        let mut sum = ExactSum::default();
        for term in [1.0, f64::INFINITY, 2.0, f64::INFINITY] {
            sum.add(term);
        }
        assert_eq!(sum.get(), f64::INFINITY);
    }
}
