//! A metric's value with its unit.

use schemars::JsonSchema;
use serde::Serialize;

use crate::units::{
    Bytes, Dimension, Factor, Flops, RelativeChange, Seconds, Share, count_of, factor, percent, si,
};

/// A value with its unit, because metrics of several dimensions share one list.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Value {
    /// The number, in SI units; a share is between 0 and 1.
    pub value: f64,
    /// `s`, `B`, `FLOP`, `ratio` (1.25 is 25% more), `share` (0.25 is 25%) or `count`.
    #[schemars(with = "String")]
    pub unit: Dimension,
}

impl Value {
    /// Formats the value with its unit: `2.00 ms`, `1.32×`, `25.0%`, `12`.
    #[must_use]
    pub fn shown(self) -> String {
        match self.unit {
            Dimension::Time | Dimension::Bytes | Dimension::Operations => {
                si(self.value, self.unit.key())
            }
            Dimension::Factor => factor(self.value),
            Dimension::Share => percent(self.value),
            Dimension::Count => count_of(self.value),
        }
    }

    /// Formats this value and another one that look the same with as many digits as tell them apart.
    #[must_use]
    pub(super) fn told_apart(self, other: Self) -> (String, String) {
        /// More are noise of binary fractions.
        const MOST: usize = 9;
        let shown = other.shown();
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-');
        let (number, unit) = shown.split_at(shown.find(|c| !is_number(c)).unwrap_or(shown.len()));
        // The number was rounded, and its power of ten was not.
        let number: f64 = number.replace(',', "").parse().unwrap_or(1.0);
        let power = (other.value / number).abs().log10().round();
        let scale = if power.is_finite() { 10_f64.powi(-(power as i32)) } else { 1.0 };
        let with = |digits: usize| {
            [self, other].map(|one| format!("{:.digits$}{unit}", one.value * scale))
        };
        let pairs = (0..=MOST).map(with);
        let [one, two] =
            pairs.into_iter().find(|[one, two]| one != two).unwrap_or_else(|| with(MOST));
        (one, two)
    }

    /// Makes a count.
    #[must_use]
    pub const fn count(value: f64) -> Self {
        Self { value, unit: Dimension::Count }
    }
}

macro_rules! value {
    ($($quantity:ident is $dimension:ident;)*) => {$(
        impl From<$quantity> for Value {
            fn from(quantity: $quantity) -> Self {
                Self { value: quantity.get(), unit: Dimension::$dimension }
            }
        }
    )*};
}

value! {
    Seconds is Time;
    Bytes is Bytes;
    Flops is Operations;
    Factor is Factor;
    Share is Share;
}

/// What a policy allows: a change compared with the baseline, or a value without one. Documents
/// hold the plain number.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(into = "f64")]
pub enum Allowed {
    /// Largest relative worsening.
    Change(RelativeChange),
    /// Smallest or largest value.
    Bound(Value),
}

impl From<Allowed> for f64 {
    fn from(allowed: Allowed) -> Self {
        match allowed {
            Allowed::Change(change) => change.get(),
            Allowed::Bound(bound) => bound.value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_look_the_same_are_told_apart() {
        let apart = |one: Value, two: Value| {
            assert_eq!(one.shown(), two.shown());
            one.told_apart(two)
        };
        let texts = |one: &str, two: &str| (one.to_owned(), two.to_owned());
        let share = |value| Share::new(value).into();
        assert_eq!(apart(share(0.5965), share(0.597)), texts("59.65%", "59.70%"));
        let time = |value| Seconds::new(value).into();
        assert_eq!(apart(time(6.0015e-3), time(6e-3)), texts("6.002 ms", "6.000 ms"));
        assert_eq!(
            apart(Factor::new(1.9996).into(), Factor::new(2.0).into()),
            texts("1.9996×", "2.0000×")
        );
    }

    #[test]
    fn values_have_the_unit_of_their_dimension() {
        for (value, expected) in [
            (Share::new(0.25).into(), "25.0%"),
            (Factor::new(1.5).into(), "1.50×"),
            (Value::count(12.0), "12"),
            (Seconds::new(2e-3).into(), "2.00 ms"),
            (Bytes::new(3e9).into(), "3.00 GB"),
        ] {
            assert_eq!(value.shown(), expected);
        }
    }
}
