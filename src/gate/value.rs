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

/// Digits behind the point of a value beside a limit that looks the same; more are noise of binary fractions.
const TOLD: usize = 9;

/// Digits behind the point of a limit.
const MOST: usize = 15;

/// Numbers that differ by less than this share differ by rounding.
const EXACT: f64 = 1e-12;

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

    /// Formats a limit as it was written: with more than three digits where it has them.
    #[must_use]
    pub fn written(self) -> String {
        let (scale, unit) = self.scale();
        if !scale.is_finite() || !self.value.is_finite() {
            return self.shown();
        }
        let number = self.value * scale;
        let shown = self.shown();
        let is_it = |text: &str| {
            let read = text.strip_suffix(&unit).and_then(|number| number.parse::<f64>().ok());
            read.is_some_and(|read| (read - number).abs() <= number.abs() * EXACT)
        };
        if is_it(&shown) {
            return shown;
        }
        let more = (0..=MOST).map(|digits| format!("{number:.digits$}{unit}"));
        more.into_iter().find(|text| is_it(text)).unwrap_or(shown)
    }

    /// Formats this value and a limit that look the same with as many digits as tell them apart.
    #[must_use]
    pub(super) fn told_apart(self, limit: Self) -> (String, String) {
        let (scale, unit) = limit.scale();
        let with = |digits: usize| {
            [self, limit].map(|one| format!("{:.digits$}{unit}", one.value * scale))
        };
        let zero = |text: &str| !text.contains(|c| matches!(c, '1'..='9'));
        let pairs = (0..=TOLD).map(with);
        let mut apart = pairs.into_iter().filter(|[one, two]| one != two && !zero(one));
        let [one, two] = apart.next().unwrap_or_else(|| with(TOLD));
        // A limit of more digits than tell it apart is not cut to nothing.
        (one, if zero(&two) { limit.written() } else { two })
    }

    /// What a value is multiplied with where it is shown, and the unit behind it.
    fn scale(self) -> (f64, String) {
        if self.unit == Dimension::Share {
            return (100.0, "%".to_owned());
        }
        let shown = self.shown();
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '<' | '>');
        let (number, unit) = shown.split_at(shown.find(|c| !is_number(c)).unwrap_or(shown.len()));
        let scale = match number.parse::<f64>() {
            Ok(0.0) => 1.0,
            // The number was rounded, and its power of ten was not.
            Ok(number) => 10_f64.powi((number / self.value).abs().log10().round() as i32),
            // What is less than any digit shown has the smallest unit.
            Err(_) if unit.starts_with(" n") => 1e9,
            Err(_) => 1.0,
        };
        (scale, unit.to_owned())
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
    fn a_limit_is_shown_as_it_was_written() {
        for (value, expected) in [
            (Share::new(1e-5).into(), "0.001%"),
            (Share::new(0.05).into(), "5.0%"),
            (Share::new(0.12345).into(), "12.345%"),
            (Share::ZERO.into(), "0.0%"),
            (Seconds::new(5.1234e-3).into(), "5.1234 ms"),
            (Seconds::new(4e-3).into(), "4.00 ms"),
            (Seconds::new(1e-13).into(), "0.0001 ns"),
            (Seconds::ZERO.into(), "0 s"),
            (Factor::new(1.0625).into(), "1.0625×"),
            (Value::count(12.0), "12"),
            (Bytes::new(4096.0).into(), "4.096 kB"),
        ] {
            let value: Value = value;
            assert_eq!(value.written(), expected);
        }
        // Both are less than 0.1%.
        let (one, two): (Value, Value) = (Share::new(3e-4).into(), Share::new(1e-5).into());
        assert_eq!(one.told_apart(two), ("0.03%".to_owned(), "0.001%".to_owned()));
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
