//! The values of a closed form's parameters, read from `key=value` and checked.

use std::collections::BTreeMap;

use super::count::Count;
use super::error::{PredictError, nearest};
use super::form::Form;
use super::number::{self, Names};
use super::parameter::{Fallback, Kind, Parameter};
use crate::model::DataType;

/// A closed form with a value for every parameter.
///
/// ```
/// use rooflint::predict::{Arguments, form};
/// let axpy = Arguments::parse(form("axpy")?, ["n=1M", "dtype=fp32"])?;
/// assert_eq!(axpy.count()?.bytes().get(), 12e6);
/// # Ok::<(), rooflint::predict::PredictError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Arguments {
    form: &'static Form,
    given: Vec<(&'static str, String)>,
    values: BTreeMap<&'static str, Value>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    /// Whole numbers are at most 2⁵³, so they are exact.
    Number(f64),
    Type(DataType),
    Flag(bool),
    Word(&'static str),
    /// `auto` or `none`.
    Unset,
}

impl Arguments {
    /// Reads `key=value` pairs; keys may be written with `-` for `_` and in capitals.
    ///
    /// # Errors
    /// [`PredictError::NotAPair`], [`PredictError::UnknownKey`] with the nearest key,
    /// [`PredictError::Repeated`], [`PredictError::Missing`] with the required keys,
    /// [`PredictError::Value`] for a value that is not positive, too large or not readable.
    pub fn parse<T: AsRef<str>>(
        form: &'static Form,
        pairs: impl IntoIterator<Item = T>,
    ) -> Result<Self, PredictError> {
        let pairs: Result<Vec<_>, _> = pairs.into_iter().map(|pair| split(pair.as_ref())).collect();
        Self::new(form, pairs?, &|_| None)
    }

    /// As [`Arguments::parse`], with pairs already split and names for sizes.
    pub(super) fn new(
        form: &'static Form,
        pairs: Vec<(String, String)>,
        names: Names<'_>,
    ) -> Result<Self, PredictError> {
        let mut given: Vec<(&'static str, String)> = Vec::new();
        for (key, text) in pairs {
            let parameter = form.parameter(&key)?;
            if given.iter().any(|(known, _)| *known == parameter.name) {
                return Err(PredictError::Repeated { key: parameter.name.to_owned() });
            }
            given.push((parameter.name, text));
        }
        let mut values = BTreeMap::new();
        let mut missing = Vec::new();
        for parameter in form.parameters() {
            let text = given.iter().find(|(key, _)| *key == parameter.name).map(|(_, text)| text);
            let value = match (text, parameter.default) {
                (Some(text), _) => read(parameter, text, names)?,
                (None, Fallback::Text(text)) => read(parameter, text, names)?,
                (None, Fallback::SameAs(other)) => match values.get(other) {
                    Some(value) => *value,
                    None => continue,
                },
                (None, Fallback::Needed) => {
                    missing.push(parameter.name.to_owned());
                    continue;
                }
            };
            values.insert(parameter.name, value);
        }
        if !missing.is_empty() {
            let example = format!("{} {}", form.name, form.example);
            return Err(PredictError::Missing { form: form.name, missing, example });
        }
        Ok(Self { form, given, values })
    }

    /// Returns the closed form of the arguments.
    #[must_use]
    pub const fn form(&self) -> &'static Form {
        self.form
    }

    /// Returns the arguments as given, in their order: `n=1M dtype=fp32`.
    #[must_use]
    pub fn text(&self) -> String {
        let pairs = self.given.iter().map(|(key, text)| format!("{key}={text}"));
        pairs.collect::<Vec<_>>().join(" ")
    }

    /// Counts the operations and bytes of the form for these arguments.
    ///
    /// # Errors
    /// [`PredictError::Shape`] if values are inconsistent, [`PredictError::Overflow`] if a count is
    /// too large.
    pub fn count(&self) -> Result<Count, PredictError> {
        let count = (self.form.count)(self)?.checked(self.form.name)?;
        let is_complex = |value: &Value| matches!(value, Value::Type(one) if one.is_complex());
        if !self.form.is_complex && !count.work.is_empty() && self.values.values().any(is_complex) {
            return Err(self.misfit(
                "its operations are those of real numbers; complex ones are counted by gemm and fft, or `given`",
            ));
        }
        Ok(count)
    }

    /// Returns the format in which two operands are multiplied: the narrow one is widened first.
    ///
    /// # Errors
    /// [`PredictError::Shape`] for formats that no unit multiplies and neither of which is the wider.
    pub(super) fn multiplied(&self, a: DataType, b: DataType) -> Result<DataType, PredictError> {
        let is_mixed = a.bits().total_cmp(&b.bits()).is_eq() && a.precision() != b.precision();
        // An integer is widened to a float, and no float to an integer.
        let is_mixed = is_mixed || (a.is_integer() != b.is_integer() && a.wider(b).is_integer());
        if is_mixed || a.is_complex() != b.is_complex() {
            let (a, b) = (a.name(), b.name());
            return Err(self.misfit(format!(
                "{a} by {b}: neither is widened to the other; give the format after conversion for both"
            )));
        }
        Ok(a.wider(b))
    }

    /// Returns a number; undefined for `auto`.
    pub(super) fn number(&self, key: &'static str) -> f64 {
        self.optional(key).unwrap_or(f64::NAN)
    }

    /// Returns a number, or `None` for `auto`.
    pub(super) fn optional(&self, key: &'static str) -> Option<f64> {
        match self.value(key) {
            Some(Value::Number(value)) => Some(*value),
            _ => None,
        }
    }

    /// Returns a format; undefined for `none`.
    pub(super) fn data_type(&self, key: &'static str) -> DataType {
        self.optional_data_type(key).unwrap_or(DataType::Fp32)
    }

    /// Returns a format, or `None` for `none`.
    pub(super) fn optional_data_type(&self, key: &'static str) -> Option<DataType> {
        match self.value(key) {
            Some(Value::Type(value)) => Some(*value),
            _ => None,
        }
    }

    /// Returns `true` if a flag is set.
    pub(super) fn is(&self, key: &'static str) -> bool {
        self.value(key) == Some(&Value::Flag(true))
    }

    /// Returns the word of a choice.
    pub(super) fn word(&self, key: &'static str) -> &'static str {
        match self.value(key) {
            Some(Value::Word(word)) => word,
            _ => "",
        }
    }

    /// Returns the value of a parameter; every parameter has one, so a missing key is a typo in the
    /// form.
    fn value(&self, key: &'static str) -> Option<&Value> {
        let value = self.values.get(key);
        debug_assert!(value.is_some(), "{} has no parameter {key}", self.form.name);
        value
    }

    /// Makes an error about inconsistent values.
    pub(super) fn misfit(&self, message: impl Into<String>) -> PredictError {
        PredictError::Shape { form: self.form.name, message: message.into() }
    }
}

impl Form {
    /// Returns the parameter with this key.
    pub(super) fn parameter(&self, key: &str) -> Result<&'static Parameter, PredictError> {
        let name = key.trim().to_ascii_lowercase().replace('-', "_");
        self.parameters().find(|parameter| parameter.name == name).ok_or_else(|| {
            let known: Vec<&str> = self.parameters().map(|parameter| parameter.name).collect();
            PredictError::UnknownKey {
                form: self.name,
                key: key.to_owned(),
                nearest: nearest(&name, known.iter().copied()).into_iter().take(1).collect(),
                known: known.into_iter().map(str::to_owned).collect(),
            }
        })
    }
}

/// Splits `key=value`.
pub(super) fn split(pair: &str) -> Result<(String, String), PredictError> {
    match pair.split_once('=') {
        Some((key, text)) if !key.trim().is_empty() => {
            Ok((key.trim().to_owned(), text.trim().to_owned()))
        }
        _ => Err(PredictError::NotAPair { text: pair.to_owned() }),
    }
}

/// Checks that a parameter accepts this value.
pub(super) fn check(
    parameter: &Parameter,
    text: &str,
    names: Names<'_>,
) -> Result<(), PredictError> {
    read(parameter, text, names).map(drop)
}

fn read(parameter: &Parameter, text: &str, names: Names<'_>) -> Result<Value, PredictError> {
    let refused = |message: String| PredictError::value(parameter.name, text, message);
    let whole = |least: u64| match number::whole(text, names) {
        Ok(value) if value < least => Err(refused(format!("must be at least {least}"))),
        Ok(value) => Ok(Value::Number(value as f64)),
        Err(message) => Err(refused(message)),
    };
    let data_type = || {
        DataType::parse(text).map(Value::Type).ok_or_else(|| {
            let known: Vec<&str> = DataType::ALL.iter().map(|kind| kind.name()).collect();
            refused(format!("unknown format; expected one of {}", known.join(", ")))
        })
    };
    match parameter.kind {
        Kind::SizeOrAuto if text == "auto" => Ok(Value::Unset),
        Kind::Size | Kind::SizeOrAuto => whole(1),
        Kind::Whole => whole(0),
        Kind::Real => number::real(text).map(Value::Number).map_err(refused),
        Kind::Positive => match number::real(text) {
            Ok(value) if value > 0.0 => Ok(Value::Number(value)),
            Ok(_) => Err(refused("must be above zero".to_owned())),
            Err(message) => Err(refused(message)),
        },
        Kind::DataTypeOrNone if text == "none" => Ok(Value::Unset),
        Kind::DataType | Kind::DataTypeOrNone => data_type(),
        Kind::Flag => match text {
            "yes" | "true" | "1" => Ok(Value::Flag(true)),
            "no" | "false" | "0" => Ok(Value::Flag(false)),
            _ => Err(refused("use yes or no".to_owned())),
        },
        Kind::Choice(words) => {
            let word = words.iter().find(|word| **word == text).copied();
            let choices = || refused(format!("use one of {}", words.join(", ")));
            word.map(Value::Word).ok_or_else(choices)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::form;
    use super::*;

    fn gemm(pairs: &[&str]) -> Result<Arguments, PredictError> {
        Arguments::parse(form("gemm")?, pairs)
    }

    fn refused(pairs: &[&str]) -> PredictError {
        gemm(pairs).unwrap_err()
    }

    #[test]
    fn an_unknown_key_is_answered_with_the_nearest_and_the_list() {
        let error = refused(&["m=1", "n=1", "k=1", "dtpe=fp16"]);
        assert_eq!(error.to_string(), "gemm has no parameter \"dtpe\"; closest: \"dtype\"");
        assert!(error.help().unwrap().starts_with("its parameters are m, n, k, "));
    }

    #[test]
    fn everything_that_is_missing_is_named_at_once() {
        let error = refused(&["n=1"]);
        assert_eq!(error.to_string(), "gemm needs \"m\", \"k\"");
        assert!(error.help().unwrap().starts_with("for example: gemm m="));
    }

    #[test]
    fn values_out_of_range_are_refused_with_what_to_write() {
        let message = |pairs: &[&str]| refused(pairs).to_string();
        assert_eq!(message(&["m=0", "n=1", "k=1"]), "m=0: must be at least 1");
        assert!(message(&["m=-4", "n=1", "k=1"]).starts_with("m=-4: \"-4\": write a whole number"));
        assert!(message(&["m=10T*10T", "n=1", "k=1"]).contains("too large"));
        assert!(message(&["m=1", "n=1", "k=1", "dtype=fp99"]).contains("fp64, fp32, tf32"));
        assert_eq!(message(&["m=1", "m=2"]), "\"m\" is given twice");
        assert_eq!(message(&["m 4"]), "\"m 4\" is not of the form key=value");
        assert_eq!(
            message(&["m=1", "n=1", "k=1", "exact=perhaps"]),
            "exact=perhaps: use yes or no"
        );
    }

    #[test]
    fn keys_and_defaults_are_lenient_and_values_follow_each_other() {
        let given = gemm(&["M=64Ki", "n=2^4", "k=8*8", "dtype-a=fp8", "dtype=fp16"]).unwrap();
        assert_eq!(given.number("m"), 65_536.0);
        assert_eq!(given.data_type("dtype_a"), DataType::Fp8);
        assert_eq!(given.data_type("dtype_b"), DataType::Fp16);
        assert_eq!(given.optional("tile_m"), None);
        assert_eq!(given.text(), "m=64Ki n=2^4 k=8*8 dtype_a=fp8 dtype=fp16");
    }
}
