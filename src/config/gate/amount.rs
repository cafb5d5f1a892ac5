//! Amounts of a policy: shares, times, bytes, operations and counts, with the units people write.

use crate::config::error::ConfigError;
use crate::config::limits;
use crate::config::place::Place;
use crate::config::wire::{Amount, Spanned};
use crate::gate::{Metric, Value};
use crate::units::{Dimension, RelativeChange, Share};

/// Unit of an amount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// A share; a plain number above 1 is probably a percentage without its sign.
    Share,
    /// A share that may slightly exceed 1, such as a fraction of a roof.
    Roof,
    /// A ratio.
    Ratio,
    Time,
    Bytes,
    Operations,
    Count,
}

impl Unit {
    /// Returns the unit of a metric's values; `None` if only its change is meaningful.
    pub(super) fn of(metric: Metric) -> Option<Self> {
        Some(match metric.dimension()? {
            Dimension::Time => Self::Time,
            Dimension::Bytes => Self::Bytes,
            Dimension::Operations => Self::Operations,
            Dimension::Factor => Self::Ratio,
            Dimension::Share if metric == Metric::Roof => Self::Roof,
            Dimension::Share => Self::Share,
            Dimension::Count => Self::Count,
        })
    }

    const fn dimension(self) -> Dimension {
        match self {
            Self::Share | Self::Roof => Dimension::Share,
            Self::Ratio => Dimension::Factor,
            Self::Time => Dimension::Time,
            Self::Bytes => Dimension::Bytes,
            Self::Operations => Dimension::Operations,
            Self::Count => Dimension::Count,
        }
    }

    /// Returns examples of such an amount.
    fn example(self) -> &'static str {
        match self {
            Self::Share => "0.05 or \"5%\"",
            Self::Roof => "0.7 or \"70%\"",
            Self::Ratio => "1.5",
            Self::Time => "\"5us\", \"1.5ms\" or \"2s\"",
            Self::Bytes => "4096, \"64KiB\" or \"1.5GB\"",
            Self::Operations => "1e9 or \"2GFLOP\"",
            Self::Count => "0, 1 or 2",
        }
    }

    /// Returns the largest plain number that is not more likely a percentage; nothing is twice as
    /// fast as its roof.
    fn greatest_plain(self) -> f64 {
        match self {
            Self::Share => 1.0,
            Self::Roof => 2.0,
            _ => f64::MAX,
        }
    }

    /// Returns the units that may follow a number, with their factors.
    fn words(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::Share | Self::Roof => &[("%", 0.01)],
            Self::Bytes => &[
                ("B", 1.0),
                ("kB", 1e3),
                ("MB", 1e6),
                ("GB", 1e9),
                ("TB", 1e12),
                ("KiB", 1024.0),
                ("MiB", 1_048_576.0),
                ("GiB", 1_073_741_824.0),
                ("TiB", 1_099_511_627_776.0),
            ],
            Self::Operations => {
                &[("FLOP", 1.0), ("kFLOP", 1e3), ("MFLOP", 1e6), ("GFLOP", 1e9), ("TFLOP", 1e12)]
            }
            Self::Ratio | Self::Time | Self::Count => &[],
        }
    }

    /// Parses the amount in SI units.
    ///
    /// # Errors
    /// Returns the reason, as a phrase that follows "KEY cannot be X: ".
    fn read(self, value: &toml::Value) -> Result<f64, String> {
        let number = match value {
            // Whole numbers of a policy are small: exact as a float.
            toml::Value::Integer(whole) => self.plain(*whole as f64)?,
            toml::Value::Float(number) => self.plain(*number)?,
            toml::Value::String(text) => self.written(text)?,
            _ => return Err("it is neither a number nor text".to_owned()),
        };
        if number.is_nan() || number.is_infinite() {
            Err("it is not finite".to_owned())
        } else if number < 0.0 {
            Err("it is negative".to_owned())
        } else if self == Self::Count && number.fract() != 0.0 {
            Err("it is not a whole number".to_owned())
        } else {
            Ok(number)
        }
    }

    fn plain(self, number: f64) -> Result<f64, String> {
        if self == Self::Time {
            Err("a time needs its unit".to_owned())
        } else if number > self.greatest_plain() && number.is_finite() {
            Err(format!("that is {}%; write it as a percentage if intended", number * 100.0))
        } else {
            Ok(number)
        }
    }

    fn written(self, text: &str) -> Result<f64, String> {
        if self == Self::Time {
            return limits::time(text).map(crate::units::Seconds::get);
        }
        let text = text.trim();
        let at = text.find(|c: char| c.is_alphabetic() || c == '%').unwrap_or(text.len());
        let (number, word) = text.split_at(at);
        let factor = self.words().iter().find(|(known, _)| *known == word);
        let number = number.trim().parse::<f64>();
        match (factor, number) {
            // Dividing keeps 5% the same number as 0.05.
            (Some((_, 0.01)), Ok(number)) => Ok(number / 100.0),
            (Some((_, factor)), Ok(number)) => Ok(number * factor),
            (None, Ok(_)) if !self.words().is_empty() => {
                let words: Vec<&str> = self.words().iter().map(|(word, _)| *word).collect();
                Err(format!("the unit must be one of {}", words.join(", ")))
            }
            _ => Err("it is not a number".to_owned()),
        }
    }
}

impl Place<'_> {
    /// Reads an amount in this unit.
    pub(super) fn amount(
        &self,
        key: &str,
        value: &Spanned<Amount>,
        unit: Unit,
    ) -> Result<f64, ConfigError> {
        unit.read(&value.get_ref().0).map_err(|why| self.no_amount(key, value, &why, unit))
    }

    /// Reads an amount with its unit as a value.
    pub(super) fn value(
        &self,
        key: &str,
        value: &Spanned<Amount>,
        unit: Unit,
    ) -> Result<Value, ConfigError> {
        let number = self.amount(key, value, unit)?;
        Ok(Value { value: number, unit: unit.dimension() })
    }

    /// Reads a share from 0 to less than 1.
    pub(super) fn share(&self, key: &str, value: &Spanned<Amount>) -> Result<Share, ConfigError> {
        let share = self.amount(key, value, Unit::Share)?;
        if share >= 1.0 {
            return Err(self.no_amount(key, value, "it must be less than 1", Unit::Share));
        }
        Ok(Share::new(share))
    }

    /// Reads a share from 0 to 1.
    pub(super) fn share_up_to_one(
        &self,
        key: &str,
        value: &Spanned<Amount>,
    ) -> Result<Share, ConfigError> {
        let share = self.amount(key, value, Unit::Share)?;
        if share > 1.0 {
            return Err(self.no_amount(key, value, "it must be at most 1", Unit::Share));
        }
        Ok(Share::new(share))
    }

    /// Reads a relative change from 0 to less than 1.
    pub(super) fn change(
        &self,
        key: &str,
        value: &Spanned<Amount>,
    ) -> Result<RelativeChange, ConfigError> {
        self.share(key, value).map(|share| RelativeChange::new(share.get()))
    }

    pub(super) fn no_amount(
        &self,
        key: &str,
        value: &Spanned<Amount>,
        why: &str,
        unit: Unit,
    ) -> ConfigError {
        let found = self.text.get(value.span()).unwrap_or_default();
        let message = format!("{key} cannot be {found}: {why}");
        self.wrong(&value.span(), message, format!("use a form such as {}", unit.example()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_in_the_units_people_write() {
        let text = |text: &str| toml::Value::String(text.to_owned());
        for (unit, value, found) in [
            (Unit::Share, text("5%"), Ok(0.05)),
            (Unit::Share, text("5%"), Ok(0.05)),
            (Unit::Share, text("250%"), Ok(2.5)),
            (Unit::Share, toml::Value::Float(0.05), Ok(0.05)),
            (Unit::Share, toml::Value::Integer(0), Ok(0.0)),
            (Unit::Share, toml::Value::Integer(5), Err("that is 500%")),
            (Unit::Share, text("0.05"), Err("the unit must be one of %")),
            (Unit::Share, text("%"), Err("it is not a number")),
            (Unit::Share, text("-5%"), Err("it is negative")),
            (Unit::Share, toml::Value::Float(f64::NAN), Err("it is not finite")),
            (Unit::Share, toml::Value::Float(f64::INFINITY), Err("it is not finite")),
            (Unit::Share, toml::Value::Boolean(true), Err("neither a number nor text")),
            (Unit::Roof, toml::Value::Float(1.03), Ok(1.03)),
            (Unit::Roof, toml::Value::Integer(70), Err("that is 7000%")),
            (Unit::Time, text("5us"), Ok(5e-6)),
            (Unit::Time, toml::Value::Integer(5), Err("a time needs its unit")),
            (Unit::Bytes, text("64KiB"), Ok(65536.0)),
            (Unit::Bytes, text("1.5 GB"), Ok(1.5e9)),
            (Unit::Bytes, toml::Value::Integer(4096), Ok(4096.0)),
            (Unit::Bytes, text("4096"), Err("the unit must be one of B, kB")),
            (Unit::Operations, text("2GFLOP"), Ok(2e9)),
            (Unit::Operations, toml::Value::Float(1e9), Ok(1e9)),
            (Unit::Count, toml::Value::Integer(2), Ok(2.0)),
            (Unit::Count, toml::Value::Float(1.5), Err("it is not a whole number")),
            (Unit::Count, text("two"), Err("it is not a number")),
            (Unit::Ratio, toml::Value::Float(-1.0), Err("it is negative")),
        ] {
            match (unit.read(&value), found) {
                (Ok(read), Ok(expected)) => {
                    let is_near = (read / expected - 1.0).abs() < 1e-12;
                    assert!(is_near || read == expected, "{value:?}");
                }
                (Err(told), Err(expected)) => assert!(told.contains(expected), "{value:?}: {told}"),
                (read, _) => panic!("{unit:?} {value:?}: {read:?}"),
            }
        }
    }
}
