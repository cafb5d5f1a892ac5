//! Sweeps over one or two arguments: `n=1k..64k:x2`, `dtype=fp32,fp16`.

use schemars::JsonSchema;
use serde::Serialize;

use super::arguments::{self, Arguments};
use super::error::PredictError;
use super::form::Form;
use super::judge::predict;
use super::number;
use super::options::Options;
use super::prediction::Prediction;
use super::range::{self, MOST_POINTS};
use crate::catalog::Device;

/// A closed form with arguments of which up to two have several values.
///
/// ```
/// use rooflint::predict::{Sweep, form};
/// let sweep = Sweep::parse(form("gemm")?, ["m=512,1Ki", "n=1k..4k:x2", "k=64"])?;
/// assert_eq!(sweep.len(), 2 * 3);
/// # Ok::<(), rooflint::predict::PredictError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sweep {
    form: &'static Form,
    fixed: Vec<(String, String)>,
    axes: Vec<Axis>,
}

/// One swept key and its values in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Axis {
    /// The key.
    pub key: &'static str,
    /// Its values as text.
    pub values: Vec<String>,
    /// True if they are whole numbers.
    pub whole: bool,
}

impl Axis {
    /// Returns the values as numbers, if they are several sizes.
    #[must_use]
    pub fn sizes(&self) -> Option<Vec<f64>> {
        if !self.whole || self.values.len() < 2 {
            return None;
        }
        let whole = |text: &String| number::whole(text, &|_| None).ok().map(|size| size as f64);
        self.values.iter().map(whole).collect()
    }
}

/// Predictions for every point and device.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SweepTable {
    /// The closed form.
    pub form: &'static str,
    /// The swept keys; empty for a single point.
    pub axes: Vec<Axis>,
    /// Rows point by point, and within a point device by device.
    pub rows: Vec<SweepRow>,
}

/// One point on one device.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SweepRow {
    /// The values of the swept keys, in the order of the axes.
    pub at: Vec<String>,
    /// Prediction at this point.
    #[serde(flatten)]
    pub prediction: Prediction,
}

impl Sweep {
    /// Parses `key=value` pairs; a value with `..` is a range, one with `,` a list.
    ///
    /// A range is `low..high` with both ends included, and a step: `:log` for points at equal
    /// ratios (`:log50` for 50 of them), `:x2` doubling, `:+128` in steps. Without it, `:log`.
    /// Lists take every kind of parameter, such as `dtype=fp32,fp16`.
    ///
    /// # Errors
    /// [`PredictError::Sweep`] for a range without numbers, more than two swept keys or more than
    /// ten thousand points; [`PredictError::UnknownKey`], [`PredictError::NotAPair`].
    pub fn parse<T: AsRef<str>>(
        form: &'static Form,
        pairs: impl IntoIterator<Item = T>,
    ) -> Result<Self, PredictError> {
        let mut sweep = Self { form, fixed: Vec::new(), axes: Vec::new() };
        for pair in pairs {
            let (key, text) = arguments::split(pair.as_ref())?;
            let parameter = form.parameter(&key)?;
            let values = if text.contains("..") {
                range::values(parameter, &text)?
            } else if text.contains(',') {
                if parameter.kind.is_whole() && has_thousands(&text) {
                    let plain = text.replace(',', "");
                    let message = format!("a comma separates the values of a sweep; write {plain}");
                    return Err(PredictError::value(parameter.name, &text, message));
                }
                // Sizes as in ranges, as numbers for programs. What is not a size is refused with its point.
                let plain = |value: &str| {
                    let size = number::whole(value, &|_| None).ok();
                    let size = size.filter(|_| parameter.kind.is_whole());
                    size.map_or_else(|| value.to_owned(), |size| size.to_string())
                };
                text.split(',').map(|value| plain(value.trim())).collect()
            } else {
                sweep.fixed.push((key, text));
                continue;
            };
            let whole = parameter.kind.is_whole();
            sweep.axes.push(Axis { key: parameter.name, values, whole });
        }
        if sweep.axes.len() > 2 {
            let keys: Vec<&str> = sweep.axes.iter().map(|axis| axis.key).collect();
            let message = format!("at most two keys can be swept, got {}", keys.join(", "));
            return Err(PredictError::Sweep { message });
        }
        if sweep.len() > MOST_POINTS {
            let message =
                format!("the sweep has {} points; at most {MOST_POINTS} are allowed", sweep.len());
            return Err(PredictError::Sweep { message });
        }
        Ok(sweep)
    }

    /// The closed form.
    #[must_use]
    pub const fn form(&self) -> &'static Form {
        self.form
    }

    /// Returns the swept keys; empty if every key has one value.
    #[must_use]
    pub fn axes(&self) -> &[Axis] {
        &self.axes
    }

    /// Returns the number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.len()).fold(1, usize::saturating_mul)
    }

    /// Returns `false`, because a sweep has at least one point.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// Iterates over the values of the swept keys at every point; the last axis varies fastest.
    pub fn points(&self) -> impl Iterator<Item = Vec<&str>> {
        (0..self.len()).map(|point| {
            let mut rest = point;
            let mut values: Vec<&str> = Vec::with_capacity(self.axes.len());
            for axis in self.axes.iter().rev() {
                values.push(&axis.values[rest % axis.values.len()]);
                rest /= axis.values.len();
            }
            values.reverse();
            values
        })
    }

    /// Returns the arguments at one point.
    ///
    /// # Errors
    /// As [`Arguments::parse`], with the point.
    pub fn arguments(&self, at: &[&str]) -> Result<Arguments, PredictError> {
        let swept = self.axes.iter().zip(at);
        let swept = swept.map(|(axis, value)| (axis.key.to_owned(), (*value).to_owned()));
        let pairs = self.fixed.iter().cloned().chain(swept).collect();
        Arguments::new(self.form, pairs, &|_| None).map_err(|error| self.placed(at, error))
    }

    /// Predicts every point on every device.
    ///
    /// # Errors
    /// As [`predict`], with the failing point.
    pub fn table(&self, devices: &[Device], options: &Options) -> Result<SweepTable, PredictError> {
        let mut rows = Vec::with_capacity(self.len() * devices.len());
        for (number, at) in self.points().enumerate() {
            let arguments = self.arguments(&at)?;
            if number == 0 {
                self.has_effect(&arguments, options).map_err(|error| self.placed(&at, error))?;
            }
            for device in devices {
                let prediction = predict(&arguments, device, options);
                let prediction = prediction.map_err(|error| self.placed(&at, error))?;
                let at = at.iter().map(|value| (*value).to_owned()).collect();
                rows.push(SweepRow { at, prediction });
            }
        }
        Ok(SweepTable { form: self.form.name, axes: self.axes.clone(), rows })
    }

    /// Refuses options that change nothing of this kernel: the answer would be that to another question.
    fn has_effect(&self, arguments: &Arguments, options: &Options) -> Result<(), PredictError> {
        let (form, work) = (self.form.name, arguments.count()?.work);
        if options.engine.is_some() && !work.iter().any(|work| work.is_product) {
            let (option, why) = ("--engine", "multiplies no matrices");
            return Err(PredictError::NoEffect { option, form, why });
        }
        if options.pipe.is_some() && work.is_empty() {
            let (option, why) = ("--pipe", "computes nothing");
            return Err(PredictError::NoEffect { option, form, why });
        }
        Ok(())
    }

    fn placed(&self, at: &[&str], cause: PredictError) -> PredictError {
        if self.axes.is_empty() {
            return cause;
        }
        // The cause names the value itself.
        if let ([axis], [value], PredictError::Value { key, text, .. }) = (&*self.axes, at, &cause)
            && axis.key == key
            && value == text
        {
            return cause;
        }
        let point = self.axes.iter().zip(at).map(|(axis, value)| format!("{}={value}", axis.key));
        let point = point.collect::<Vec<_>>().join(" ");
        PredictError::Point { point, cause: Box::new(cause) }
    }
}

/// Whether commas group the digits of a number, as in `16,000,000`: a size of a sweep does not begin with a zero.
fn has_thousands(text: &str) -> bool {
    let groups: Vec<&str> = text.split(',').map(str::trim).collect();
    let is_number = |group: &&str| group.bytes().all(|byte| byte.is_ascii_digit());
    groups.iter().all(is_number)
        && groups.iter().skip(1).all(|group| group.len() == 3)
        && groups.iter().skip(1).any(|group| group.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::super::form;
    use super::*;

    fn refused(pairs: &[&str]) -> String {
        Sweep::parse(form("gemm").unwrap(), pairs).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_sweep_is_refused_with_the_reason() {
        assert!(refused(&["m=1,2", "n=1,2", "k=1,2"]).contains("at most two keys"));
        assert!(refused(&["m=4..2", "n=1", "k=1"]).contains("from a smaller to a larger"));
        assert!(refused(&["m=1..2M:+1", "n=1", "k=1"]).contains("too many points"));
        assert!(refused(&["m=1..1k:+1", "n=1..1k:+1", "k=1"]).contains("at most 10000"));
        assert!(refused(&["dtype=fp16..fp32"]).contains("ranges need numbers"));
        assert!(refused(&["m=1..8:y2"]).contains(":log, :x2 or :+128"));
        assert!(refused(&["m=1..8:x1"]).contains(":x2 to double"));
        assert!(refused(&["m=1..8:+0"]).contains("too many points"));
        assert!(refused(&["m=..8"]).contains("write a whole number"));
        assert_eq!(
            refused(&["m=16,000,000", "n=1", "k=1"]),
            "m=16,000,000: a comma separates the values of a sweep; write 16000000"
        );
        assert!(refused(&["m=1,024"]).ends_with("write 1024"));
        for sizes in ["m=128,256,512", "m=1,0", "m=16,384"] {
            assert!(Sweep::parse(form("gemm").unwrap(), [sizes]).is_ok(), "{sizes}");
        }
    }

    #[test]
    fn points_run_through_all_values_and_errors_name_theirs() {
        let pairs = ["n=1,0", "dtype=fp32,fp16"];
        let sweep = Sweep::parse(form("axpy").unwrap(), pairs).unwrap();
        let points: Vec<_> = sweep.points().collect();
        assert_eq!(points, [["1", "fp32"], ["1", "fp16"], ["0", "fp32"], ["0", "fp16"]]);
        let error = sweep.arguments(&points[2]).unwrap_err();
        assert_eq!(error.to_string(), "at n=0 dtype=fp32");
        // Of one key, the value is named once.
        let one = Sweep::parse(form("axpy").unwrap(), ["n=1,0"]).unwrap();
        let error = one.arguments(&["0"]).unwrap_err();
        assert_eq!(error.to_string(), "n=0: must be at least 1");
    }
}
