//! What stands in a column: its form, a single value, and how that is shown.

use std::borrow::Cow;

use crate::units;

/// What a column holds, and how it is shown in a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Words.
    Text,
    /// Yes or no.
    Truth,
    /// A whole number.
    Count,
    /// A share of a whole, 0 to 1; shown as a percentage.
    Share,
    /// A ratio that may be greater than one; shown as a factor.
    Factor,
    /// A number in this SI unit; `1` for shares and counts that no unit tells apart.
    Number(&'static str),
}

impl Form {
    /// What the column holds, in a word, or its unit.
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

    /// The unit; `1` for what has none.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Number(unit) => unit,
            _ => "1",
        }
    }

    /// A value in a sentence, with unit and rounding; a dash where it is missing.
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

    /// The value that a text of a table stands for; an empty one is missing.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub(super) fn read(self, text: &str) -> Result<Option<Cell<'_>>, &'static str> {
        let trimmed = text.trim();
        match self {
            _ if trimmed.is_empty() => Ok(None),
            Self::Text => Ok(Some(Cell::word(text))),
            Self::Truth => match trimmed {
                "true" => Ok(Some(Cell::Truth(true))),
                "false" => Ok(Some(Cell::Truth(false))),
                _ => Err("neither true nor false"),
            },
            Self::Count => whole(trimmed).map(|count| Some(Cell::Count(count))).ok_or(NO_COUNT),
            Self::Share | Self::Factor | Self::Number(_) => {
                let number = trimmed.parse().ok().filter(|number: &f64| number.is_finite());
                number.map(|number| Some(Cell::Number(number))).ok_or(NO_NUMBER)
            }
        }
    }
}

/// What is wrong with a cell that should be a number.
pub(super) const NO_NUMBER: &str = "not a number";

/// What is wrong with a cell that should be a whole number, or one that fits its place.
pub(super) const NO_COUNT: &str = "not a count";

/// A whole number, also one that another program wrote as 3.0.
fn whole(text: &str) -> Option<u64> {
    /// Up to here a floating-point number is exact.
    const EXACT: f64 = 9_007_199_254_740_992.0;

    text.parse::<u64>().ok().or_else(|| {
        let number = text.parse::<f64>().ok()?;
        (number.fract() == 0.0 && (0.0..=EXACT).contains(&number)).then_some(number as u64)
    })
}

/// A value of a column; what is missing has none.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    /// Words, never empty.
    Text(Cow<'a, str>),
    /// Yes or no.
    Truth(bool),
    /// A whole number.
    Count(u64),
    /// A finite number.
    Number(f64),
}

impl<'a> Cell<'a> {
    /// Words that stand somewhere else.
    #[must_use]
    pub const fn word(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// The value as a number, if it is one.
    #[must_use]
    pub fn number(self) -> Option<f64> {
        match self {
            Self::Text(_) | Self::Truth(_) => None,
            Self::Count(count) => Some(count as f64),
            Self::Number(number) => Some(number),
        }
    }

    /// The value as a whole number, if it is one.
    #[must_use]
    pub fn count(self) -> Option<u64> {
        if let Self::Count(count) = self { Some(count) } else { None }
    }

    /// The value as words, if it is some.
    #[must_use]
    pub fn text(self) -> Option<Cow<'a, str>> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The same, unless it is an empty word or a number that is not finite: those are missing.
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
    /// The value as tables hold it: numbers in full, as few digits as lead back to them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Truth(truth) => truth.fmt(f),
            Self::Count(count) => count.fmt(f),
            Self::Number(number) => number.fmt(f),
        }
    }
}
