//! `[analysis]`: from which ratio and which savings on a kernel is worth a team's time.

use schemars::JsonSchema;
use serde::Deserialize;

use super::error::ConfigError;
use super::place::Place;
use super::wire::{Amount, Spanned};
use crate::units::Seconds;

/// Which kernels are flagged; options of the command line override each.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    /// Minimum measured/roofline ratio to flag a kernel.
    pub threshold: Option<f64>,
    /// Minimum savings to flag a kernel.
    pub min_savings: Option<Seconds>,
    /// Savings below this fraction of the run are ignored.
    pub min_share: Option<f64>,
}

/// Which kernels are flagged; options of the same names override these.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Wire {
    /// Minimum measured/roofline ratio to flag a kernel, such as 1.5 or "1.5x".
    threshold: Option<Spanned<Amount>>,
    /// Minimum savings to flag a kernel, such as "50us".
    #[serde(alias = "min-win")]
    min_savings: Option<Spanned<String>>,
    /// Savings below this fraction of the run are ignored, such as 0.01 or "1%".
    min_share: Option<Spanned<Amount>>,
}

/// A headroom that can be a threshold.
///
/// # Errors
/// What is wrong with it, in words.
pub fn threshold(value: f64) -> Result<f64, String> {
    if value >= 1.0 && value.is_finite() {
        Ok(value)
    } else {
        Err("headroom is measured over roofline time, so the threshold is at least 1".to_owned())
    }
}

/// A headroom as people write it: `1.5`, `1.5x`.
///
/// # Errors
/// As [`threshold`], or where it is not a number.
pub fn written_threshold(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches(['x', '×']).trim();
    let wrong = |_| format!("{text:?} is not a number; write 1.5 or 1.5x");
    threshold(number.parse().map_err(wrong)?)
}

/// A share as people write it: `0.05`, `5%`.
///
/// # Errors
/// Where it is not a number.
pub(super) fn written_share(text: &str) -> Result<f64, String> {
    let wrong = |_| format!("{text:?} is not a number; write 1% or 0.01");
    let text = text.trim();
    match text.strip_suffix('%') {
        Some(percent) => Ok(percent.trim().parse::<f64>().map_err(wrong)? / 100.0),
        None => text.parse().map_err(wrong),
    }
}

/// A share of the run as people write it: `0.05`, `5%`.
///
/// # Errors
/// As [`min_share`], or where it is not a number.
pub fn written_min_share(text: &str) -> Result<f64, String> {
    min_share(written_share(text)?)
}

/// A share of the run that can be a floor.
///
/// # Errors
/// What is wrong with it, in words.
pub fn min_share(value: f64) -> Result<f64, String> {
    if (0.0..1.0).contains(&value) {
        Ok(value)
    } else {
        Err("a share of the run is at least 0 and less than 1, such as 0.01".to_owned())
    }
}

/// A time such as `50us` or `1.5ms`.
///
/// # Errors
/// What is wrong with it, in words.
pub fn time(text: &str) -> Result<Seconds, String> {
    let at = text.find(|c: char| c.is_alphabetic() || c == 'µ').unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let factor = match unit.trim() {
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return Err("give a time with its unit: ns, us, ms or s".to_owned()),
    };
    match number.trim().parse::<f64>() {
        Ok(value) if value >= 0.0 && value.is_finite() => Ok(Seconds::new(value * factor)),
        _ => Err("not a time".to_owned()),
    }
}

/// Reads the table.
pub(super) fn read(place: &Place<'_>, wire: Wire) -> Result<Limits, ConfigError> {
    Ok(Limits {
        threshold: checked(
            place,
            wire.threshold,
            |amount| threshold(amount.number(written_threshold)?),
            "threshold = 2.0",
        )?,
        min_savings: checked(
            place,
            wire.min_savings,
            |text| time(&text),
            "min-savings = \"50us\"",
        )?,
        min_share: checked(
            place,
            wire.min_share,
            |amount| min_share(amount.number(written_share)?),
            "min-share = 0.01",
        )?,
    })
}

fn checked<W, T>(
    place: &Place<'_>,
    value: Option<Spanned<W>>,
    check: impl Fn(W) -> Result<T, String>,
    example: &str,
) -> Result<Option<T>, ConfigError> {
    let Some(value) = value else { return Ok(None) };
    let span = value.span();
    let checked = check(value.into_inner());
    checked
        .map(Some)
        .map_err(|message| place.wrong(&span, message, format!("write for example {example}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn limits_are_read_and_checked_like_the_options_of_the_same_names() {
        let text = "[analysis]\nthreshold = 3\nmin-savings = \"1.5 ms\"\nmin-share = 0.005\n";
        let limits = Config::parse("rooflint.toml", text).unwrap().limits;
        assert_eq!((limits.threshold, limits.min_share), (Some(3.0), Some(0.005)));
        assert!((limits.min_savings.unwrap().get() / 1.5e-3 - 1.0).abs() < 1e-12);
        assert_eq!(Config::parse("rooflint.toml", "").unwrap().limits, Limits::default());
        // As the options and variables take them.
        for (threshold, share) in
            [("\"1.5x\"", "\"5%\""), ("\"1.5 ×\"", "\"0.05\""), ("1.5", "0.05")]
        {
            let text = format!("[analysis]\nthreshold = {threshold}\nmin-share = {share}\n");
            let limits = Config::parse("rooflint.toml", &text).unwrap().limits;
            assert_eq!((limits.threshold, limits.min_share), (Some(1.5), Some(0.05)), "{text}");
        }
        for (line, told) in [
            ("threshold = 0.5", "2:13: headroom is measured over roofline time"),
            ("threshold = nan", "2:13: headroom is measured over roofline time"),
            ("min-savings = \"50\"", "2:15: give a time with its unit"),
            (
                "min-savings = \"-1us\"",
                "2:15: not a time; write for example min-savings = \"50us\"",
            ),
            ("min-savings = 50", "2:15: expected text in quotes, found the number 50"),
            ("min-share = 1.0", "2:13: a share of the run is at least 0 and less than 1"),
            ("min-share = \"100%\"", "2:13: a share of the run is at least 0 and less than 1"),
            ("min-share = \"5 percent\"", "2:13: \"5 percent\" is not a number; write 1% or 0.01"),
            ("threshold = \"fast\"", "2:13: \"fast\" is not a number; write 1.5 or 1.5x"),
            ("threshold = true", "2:13: expected a number or text in quotes, found true"),
            ("floor = 1", "2:1: unknown key \"floor\""),
        ] {
            let text = format!("[analysis]\n{line}\n");
            let error = Config::parse("rooflint.toml", &text).unwrap_err();
            let found = format!("{error}; {}", error.help());
            assert!(found.contains(told), "{line}: {found}");
        }
    }
}
