//! Ranges of a swept argument: `1k..64k:log`, `1k..64k:x2`, `128..4096:+128`.

use super::error::PredictError;
use super::number;
use super::parameter::Parameter;

/// Largest number of points of a sweep.
pub(super) const MOST_POINTS: usize = 10_000;

/// Default number of points of a logarithmic range.
const LOG_POINTS: usize = 25;

/// Returns the values of a range as text, both ends included.
pub(super) fn values(parameter: &Parameter, text: &str) -> Result<Vec<String>, PredictError> {
    let refused = |message: &str| PredictError::value(parameter.name, text, message);
    if !parameter.kind.is_number() {
        return Err(refused("ranges need numbers; use a list such as fp32,fp16"));
    }
    let (ends, step) = text.split_once(':').unwrap_or((text, "log"));
    let (low, high) = ends.split_once("..").unwrap_or((ends, ends));
    let whole = parameter.kind.is_whole();
    let end = |end: &str| {
        let value = if whole {
            number::whole(end, &|_| None).map(|value| value as f64)
        } else {
            number::real(end)
        };
        value.map_err(|message| refused(&message))
    };
    let (low, high) = (end(low.trim())?, end(high.trim().trim_start_matches('='))?);
    if low >= high {
        return Err(refused("a range must go from a smaller to a larger value"));
    }
    let values = match step.trim() {
        step if step.starts_with("log") => {
            let points = step.trim_start_matches("log");
            let points = if points.is_empty() { Ok(LOG_POINTS) } else { points.parse() };
            let points = points.ok().filter(|points| (2..=MOST_POINTS).contains(points));
            let points = points.ok_or_else(|| refused("use :log, or :log50 for 50 points"))?;
            if low <= 0.0 {
                return Err(refused("a logarithmic range must start above zero"));
            }
            let last = (points - 1) as f64;
            let at = |point: usize| low * (high / low).powf(point as f64 / last);
            let mut values: Vec<f64> = (0..points).map(at).collect();
            values[points - 1] = high;
            values
        }
        step if step.starts_with('x') => {
            let factor = number::real(&step[1..]).ok().filter(|factor| *factor > 1.0);
            let factor = factor.ok_or_else(|| refused("use :x2 to double, :x10, :x1.5"))?;
            proceed(low, high, |value| (value * factor).max(value + f64::from(whole)))
                .ok_or_else(|| refused("too many points, or none: start above zero"))?
        }
        step if step.starts_with('+') => {
            let step = end(&step[1..])?;
            proceed(low, high, |value| value + step).ok_or_else(|| refused("too many points"))?
        }
        _ => return Err(refused("use a step such as :log, :x2 or :+128")),
    };
    let rounded = values.into_iter().map(|value| if whole { value.round() } else { value });
    let mut texts: Vec<String> = rounded.map(|value| value.to_string()).collect();
    texts.dedup();
    Ok(texts)
}

fn proceed(low: f64, high: f64, next: impl Fn(f64) -> f64) -> Option<Vec<f64>> {
    let mut values = Vec::new();
    let mut value = low;
    while value <= high {
        if values.len() == MOST_POINTS || next(value) <= value {
            return None;
        }
        values.push(value);
        value = next(value);
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::super::{Sweep, form};

    fn values(text: &str) -> Vec<String> {
        let sweep = Sweep::parse(form("axpy").unwrap(), [format!("n={text}")]).unwrap();
        sweep.axes()[0].values.clone()
    }

    #[test]
    fn ranges_proceed_as_they_say_and_keep_their_ends() {
        assert_eq!(values("1k..8k:x2"), ["1000", "2000", "4000", "8000"]);
        assert_eq!(values("1..5:x1.5"), ["1", "2", "3", "5"]);
        assert_eq!(values("128..512:+128"), ["128", "256", "384", "512"]);
        assert_eq!(values("1..1000:log4"), ["1", "10", "100", "1000"]);
        assert_eq!(values("1..4:log25"), ["1", "2", "3", "4"]);
        assert_eq!(values("1k, 2Ki,2^12"), ["1000", "2048", "4096"]);
        let log = values("1k..64k:log");
        assert_eq!((log.len(), log[0].as_str(), log[24].as_str()), (25, "1000", "64000"));
        assert_eq!(values("1k..64k"), log);
    }
}
