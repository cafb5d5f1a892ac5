//! What is known of a value that a bound is checked against.

use super::value::Value;
use crate::compare::Measured;
use crate::units::{Dimension, Factor, interval, median};

/// Ends closer than this ratio are shown as one value, because three digits would be the same.
const ONE_VALUE: f64 = 0.999;

/// A value that a bound is checked against, with its lower and upper limit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    pub(super) least: f64,
    pub(super) most: f64,
    pub(super) unit: Dimension,
}

impl Known {
    pub(super) fn exactly(value: impl Into<Value>) -> Self {
        let Value { value, unit } = value.into();
        Self { least: value, most: value, unit }
    }

    /// The headroom of a kernel; `None` where the model does not cover it.
    pub(super) fn headroom(measured: &Measured) -> Option<Self> {
        let most = most_headroom(measured)?;
        Some(Self { least: least_headroom(measured), most, unit: Dimension::Factor })
    }

    /// The share of its roof that a kernel reaches; `None` where the model does not cover it.
    pub(super) fn roof(measured: &Measured) -> Option<Self> {
        let least = 1.0 / most_headroom(measured)?;
        Some(Self { least, most: 1.0 / least_headroom(measured), unit: Dimension::Share })
    }

    /// The median of what several runs say, of both limits.
    pub(super) fn median(runs: &[Self]) -> Option<Self> {
        let of = |limit: fn(&Self) -> f64| median(&runs.iter().map(limit).collect::<Vec<f64>>());
        Some(Self {
            least: of(|one| one.least)?,
            most: of(|one| one.most)?,
            unit: runs.first()?.unit,
        })
    }

    /// Formats one value, or the range in which it lies.
    pub(super) fn shown(&self) -> String {
        let shown = |value: f64| Value { value, unit: self.unit }.shown();
        if self.is_one() {
            shown(self.least)
        } else if self.most.is_finite() && self.least <= 0.0 {
            format!("at most {}", shown(self.most))
        } else if self.most.is_finite() {
            interval(&shown(self.least), &shown(self.most))
        } else {
            format!("at least {}", shown(self.least))
        }
    }

    /// The value and a limit that three digits show as the same, with as many as tell them apart.
    pub(super) fn exactly_beside(&self, limit: Value) -> Option<(String, String)> {
        let least = Value { value: self.least, unit: self.unit };
        let is_alike = least.shown() == limit.shown();
        (is_alike && (self.is_one() || self.most.is_infinite())).then(|| {
            let (value, limit) = least.told_apart(limit);
            (if self.is_one() { value } else { format!("at least {value}") }, limit)
        })
    }

    fn is_one(&self) -> bool {
        self.least >= self.most * ONE_VALUE
    }
}

/// The least that headroom can be: no kernel is faster than what it needs, whatever was not counted. Nothing is known of
/// one that is faster than the roofline of what was counted.
fn least_headroom(measured: &Measured) -> f64 {
    let is_slower = measured.headroom.is_some_and(|headroom| headroom.get() >= 1.0);
    measured.headroom_low.map_or(if is_slower { 1.0 } else { 0.0 }, Factor::get)
}

/// The most that headroom can be; infinite where nothing is certainly needed.
fn most_headroom(measured: &Measured) -> Option<f64> {
    measured.headroom?;
    Some(measured.headroom_high.map_or(f64::INFINITY, Factor::get))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Uncounted work makes no kernel faster than what it needs.
    #[test]
    fn headroom_of_uncounted_work_is_one_at_least() {
        let of = |headroom: f64| {
            let [headroom, headroom_high] = [headroom; 2].map(|value| Some(Factor::new(value)));
            let measured = Measured { headroom, headroom_high, ..Measured::default() };
            let ends = |known: Option<Known>| known.map(|known| (known.least, known.most)).unwrap();
            [ends(Known::headroom(&measured)), ends(Known::roof(&measured))]
        };
        assert_eq!(of(4.0), [(1.0, 4.0), (0.25, 1.0)]);
        assert_eq!(of(0.5), [(0.0, 0.5), (2.0, f64::INFINITY)]);
    }

    #[test]
    fn a_bound_that_looks_like_the_value_is_told_from_it() {
        let limit = Value::from(crate::units::Share::new(0.5971));
        let least = Known { least: 0.597, most: f64::INFINITY, unit: Dimension::Share };
        let (value, limit) = least.exactly_beside(limit).unwrap();
        assert_eq!((value.as_str(), limit.as_str()), ("at least 59.70%", "59.71%"));
        let between = Known { most: 0.9, ..least };
        assert_eq!(between.exactly_beside(Value::from(crate::units::Share::new(0.5971))), None);
    }
}
