//! Dates of runs and waivers; the calendar is that of `chrono`.

use std::fmt;
use std::str::FromStr;

use chrono::{Datelike, NaiveDate};

/// A date in the Gregorian calendar, shown and parsed as `2027-01-31`.
///
/// ```
/// use rooflint::model::Date;
///
/// let day = Date::new(2027, 1, 31).unwrap();
/// assert_eq!(day.to_string(), "2027-01-31");
/// assert!("2027-02-01".parse::<Date>().unwrap() > day);
/// assert_eq!(Date::new(2027, 2, 30), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Date(NaiveDate);

impl Date {
    /// Makes a date from year, month and day, each counted from 1; `None` if there is no such day,
    /// or the year has more than four digits.
    #[must_use]
    pub fn new(year: u32, month: u32, day: u32) -> Option<Self> {
        let year = i32::try_from(year).ok().filter(|year| (1..=9999).contains(year))?;
        NaiveDate::from_ymd_opt(year, month, day).map(Self)
    }

    /// Returns the last day of what expires if it is over today; without a date of today nothing is.
    #[must_use]
    pub fn past(last: Option<Self>, today: Option<Self>) -> Option<Self> {
        last.filter(|last| today.is_some_and(|today| *last < today))
    }

    /// Wraps a date of `chrono`.
    #[cfg(feature = "gate")]
    pub(crate) const fn of(day: NaiveDate) -> Self {
        Self(day)
    }
}

impl From<Date> for NaiveDate {
    fn from(date: Date) -> Self {
        date.0
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.0.year(), self.0.month(), self.0.day())
    }
}

impl FromStr for Date {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok();
        date.filter(|_| digits && text.len() == 10)
            .map(Self)
            .ok_or_else(|| format!("{text:?} is not a date; use a form such as 2026-11-22"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_and_read_back() {
        for (year, month, day, text) in
            [(1970, 1, 1, "1970-01-01"), (2000, 2, 29, "2000-02-29"), (9999, 12, 31, "9999-12-31")]
        {
            let date = Date::new(year, month, day).unwrap();
            assert_eq!(date.to_string(), text);
            assert_eq!(text.parse(), Ok(date));
        }
    }

    #[test]
    fn what_is_not_a_date_is_refused() {
        for text in ["", "2026", "2026-1-1", "2026-02-30", "2100-02-29", "+026-11-22", "12026-11-2"]
        {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
        assert_eq!((Date::new(0, 1, 1), Date::new(10_000, 1, 1)), (None, None));
        assert_eq!(Date::new(2026, 13, 1), None);
    }
}
