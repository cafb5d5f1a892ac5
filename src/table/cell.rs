//! Forms of columns, single values, and how they are shown.

use std::borrow::Cow;

use crate::model::printable;
use crate::units;

/// Type of a column's values, and how they are shown in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Text.
    Text,
    /// Yes or no.
    Truth,
    /// A whole number.
    Count,
    /// A share of a whole, 0 to 1; shown as a percentage.
    Share,
    /// A ratio that may exceed one; shown as a factor.
    Factor,
    /// A number in this SI unit; `1` for dimensionless numbers.
    Number(&'static str),
}

impl Form {
    /// Returns the unit, or a word for the type of value.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Truth => "true or false",
            Self::Count => "count",
            Self::Share => "share",
            Self::Factor => "ratio",
            Self::Number("1") => "number",
            Self::Number(unit) => unit,
        }
    }

    /// Returns the unit; `1` for dimensionless values.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Number(unit) => unit,
            _ => "1",
        }
    }

    /// Formats a value for a sentence, with unit and rounding; a dash if it is missing.
    #[must_use]
    pub fn shown(self, cell: Option<Cell<'_>>) -> String {
        let Some(cell) = cell else { return "-".to_owned() };
        match (self, cell) {
            (_, Cell::Text(text)) => text.into_owned(),
            (_, Cell::Truth(truth)) => if truth { "yes" } else { "no" }.to_owned(),
            (_, Cell::Count(count)) => count.to_string(),
            (Self::Share, Cell::Number(share)) => units::percent(share),
            (Self::Factor, Cell::Number(ratio)) => units::factor(ratio),
            (Self::Number("1"), Cell::Number(number)) => units::digits(number),
            // Nobody reads kiloFLOPs per byte.
            (Self::Number("FLOP/B"), Cell::Number(number)) => {
                format!("{} FLOP/B", units::digits(number))
            }
            (Self::Number(unit), Cell::Number(number)) => units::si(number, unit),
            (_, Cell::Number(number)) => units::digits(number),
        }
    }

    /// Parses a table cell; an empty one is missing.
    ///
    /// # Errors
    /// Returns a description of the problem.
    pub(super) fn read(self, text: &str) -> Result<Option<Cell<'_>>, &'static str> {
        let trimmed = text.trim();
        match self {
            _ if trimmed.is_empty() => Ok(None),
            Self::Text => Ok(Some(Cell::word(unguarded(text)))),
            Self::Truth => match trimmed {
                "true" => Ok(Some(Cell::Truth(true))),
                "false" => Ok(Some(Cell::Truth(false))),
                _ => Err("neither true nor false"),
            },
            Self::Count => whole(trimmed).map(|count| Some(Cell::Count(count))).ok_or(NO_COUNT),
            Self::Share | Self::Factor | Self::Number(_) => {
                let number =
                    trimmed.parse().ok().filter(|number: &f64| number.abs() < units::BEYOND_ALL);
                number.map(|number| Some(Cell::Number(number))).ok_or(NO_NUMBER)
            }
        }
    }
}

/// Whether a spreadsheet would take a text for a formula, but for apostrophes before it.
fn is_formula(text: &str) -> bool {
    let text = text.trim_start_matches('\'');
    text.starts_with(['=', '+', '-', '@']) && text.len() > 1
}

/// Returns the text for a cell of a CSV file: without control characters, and with an apostrophe before what a
/// spreadsheet would take for a formula.
#[must_use]
pub fn guarded(text: &str) -> String {
    let text = printable(text);
    if is_formula(&text) { format!("'{text}") } else { text }
}

/// Returns the text of a cell as it was before [`guarded`].
fn unguarded(text: &str) -> &str {
    text.strip_prefix('\'').filter(|rest| is_formula(rest)).unwrap_or(text)
}

/// Error of a cell that should be a number.
pub(super) const NO_NUMBER: &str = "not a number";

/// Error of a cell that should be a clock.
pub(super) const NO_CLOCK: &str = "not a clock";

/// Error of a cell that should be a whole number in range.
pub(super) const NO_COUNT: &str = "not a count";

/// Parses a whole number, also in the form 3.0.
fn whole(text: &str) -> Option<u64> {
    /// Largest whole number that is exact as a float.
    const EXACT: f64 = 9_007_199_254_740_992.0;

    text.parse::<u64>().ok().or_else(|| {
        let number = text.parse::<f64>().ok()?;
        (number.fract() == 0.0 && (0.0..=EXACT).contains(&number)).then_some(number as u64)
    })
}

/// A value of a column; missing values have no cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    /// Text, never empty.
    Text(Cow<'a, str>),
    /// Yes or no.
    Truth(bool),
    /// A whole number.
    Count(u64),
    /// A finite number.
    Number(f64),
}

impl<'a> Cell<'a> {
    /// Makes a cell of borrowed text.
    #[must_use]
    pub const fn word(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// Makes a cell that borrows nothing.
    #[must_use]
    pub fn into_owned(self) -> Cell<'static> {
        match self {
            Self::Text(text) => Cell::Text(Cow::Owned(text.into_owned())),
            Self::Truth(truth) => Cell::Truth(truth),
            Self::Count(count) => Cell::Count(count),
            Self::Number(number) => Cell::Number(number),
        }
    }

    /// Returns the value as a number, if it is one.
    #[must_use]
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Text(_) | Self::Truth(_) => None,
            Self::Count(count) => Some(count as f64),
            Self::Number(number) => Some(number),
        }
    }

    /// Returns the value as a whole number, if it is one.
    #[must_use]
    pub fn count(self) -> Option<u64> {
        if let Self::Count(count) = self { Some(count) } else { None }
    }

    /// Returns the value as yes or no, if it is one.
    #[must_use]
    pub fn truth(self) -> Option<bool> {
        if let Self::Truth(truth) = self { Some(truth) } else { None }
    }

    /// Returns the value as text, if it is one.
    #[must_use]
    pub fn text(self) -> Option<Cow<'a, str>> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the cell unless it is empty text or a number that is not finite; those count as
    /// missing.
    #[must_use]
    pub fn known(self) -> Option<Self> {
        let is_known = match &self {
            Self::Number(number) => number.is_finite(),
            Self::Text(text) => !text.is_empty(),
            Self::Truth(_) | Self::Count(_) => true,
        };
        is_known.then_some(self)
    }
}

impl std::fmt::Display for Cell<'_> {
    /// Formats the value for tables: numbers with as few digits as parse back exactly.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Truth(truth) => truth.fmt(f),
            Self::Count(count) => count.fmt(f),
            Self::Number(number) => number.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_may_be_written_as_a_whole_number_of_another_program() {
        for (text, expected) in [
            ("3", Ok(Some(Cell::Count(3)))),
            (" 3.0 ", Ok(Some(Cell::Count(3)))),
            ("18446744073709551615", Ok(Some(Cell::Count(u64::MAX)))),
            // 2^53, behind which a floating-point number is no longer exact.
            ("9007199254740992.0", Ok(Some(Cell::Count(9_007_199_254_740_992)))),
            ("1e17", Err(NO_COUNT)),
            ("3.5", Err(NO_COUNT)),
            ("-1", Err(NO_COUNT)),
            (" ", Ok(None)),
        ] {
            assert_eq!(Form::Count.read(text), expected, "{text:?}");
        }
    }

    #[test]
    fn only_finite_numbers_are_read_and_texts_are_kept_whole() {
        let number = |text| Form::Number("s").read(text);
        assert_eq!(number(" 1.5e-3 "), Ok(Some(Cell::Number(1.5e-3))));
        for text in ["nan", "inf", "1e30", "1,5", "x"] {
            assert_eq!(number(text), Err(NO_NUMBER), "{text}");
        }
        assert_eq!(Form::Text.read(" a b "), Ok(Some(Cell::word(" a b "))));
        assert_eq!(Form::Truth.read("true"), Ok(Some(Cell::Truth(true))));
        assert!(Form::Truth.read("1").is_err());
    }

    #[test]
    fn no_text_is_a_formula_and_each_comes_back() {
        for (text, expected) in [
            ("=HYPERLINK(\"x\")", "'=HYPERLINK(\"x\")"),
            ("@sum", "'@sum"),
            ("'=1", "''=1"),
            ("'a'", "'a'"),
            ("-", "-"),
            ("gemm", "gemm"),
        ] {
            assert_eq!(guarded(text), expected);
            assert_eq!(unguarded(expected), text);
        }
        assert_eq!(guarded("\u{1b}[31m=1"), "[31m=1");
        assert_eq!(guarded("\t=1"), " =1");
    }

    #[test]
    fn a_value_in_a_sentence_has_its_unit() {
        for (form, number, expected) in [
            (Form::Share, 0.25, "25.0%"),
            (Form::Factor, 1.5, "1.50×"),
            (Form::Number("B/s"), 2e9, "2.00 GB/s"),
            (Form::Number("FLOP/B"), 1234.0, "1234 FLOP/B"),
            (Form::Number("1"), 0.5, "0.50"),
        ] {
            assert_eq!(form.shown(Some(Cell::Number(number))), expected);
        }
        assert_eq!(Form::Number("s").shown(None), "-");
    }

    #[test]
    fn empty_words_and_what_is_not_finite_are_missing() {
        assert_eq!((Cell::word("").known(), Cell::Number(f64::NAN).known()), (None, None));
        assert_eq!(Cell::Number(f64::INFINITY).known(), None);
        assert_eq!(Cell::Count(0).known(), Some(Cell::Count(0)));
    }
}
