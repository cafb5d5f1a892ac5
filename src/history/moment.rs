//! Timestamps of entries, in seconds and always in UTC; the calendar is that of `chrono`.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, NaiveDateTime, NaiveTime, Utc};

use crate::model::Date;

/// A timestamp in UTC with a resolution of seconds, from 1970 to 9999; shown as
/// `2026-11-22T05:30:00Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Moment(DateTime<Utc>);

impl Moment {
    /// The last second of the year 9999, counted from 1970.
    const LAST: u64 = 253_402_300_799;

    /// Makes a timestamp from seconds since 1970-01-01; `None` after the year 9999.
    #[must_use]
    pub fn from_seconds(seconds: u64) -> Option<Self> {
        let seconds = i64::try_from(seconds).ok().filter(|_| seconds <= Self::LAST)?;
        DateTime::from_timestamp(seconds, 0).map(Self)
    }

    /// Returns the whole days until `later`; 0 if it is not later.
    #[must_use]
    pub fn days_until(self, later: Self) -> u64 {
        u64::try_from((later.0 - self.0).num_days()).unwrap_or(0)
    }

    /// Whether it is more than so many days before `now`.
    #[must_use]
    pub(super) fn is_older_than(self, days: u64, now: Self) -> bool {
        let seconds = i64::try_from(days.saturating_mul(86_400)).unwrap_or(i64::MAX);
        (now.0 - self.0).num_seconds() > seconds
    }

    /// Whether it is later than clocks of two machines differ: by more than an hour.
    #[must_use]
    pub fn is_well_after(self, other: Self) -> bool {
        (self.0 - other.0).num_seconds() > 3600
    }

    /// Returns the next second; of the last one itself.
    #[must_use]
    pub(super) fn next(self) -> Self {
        u64::try_from(self.0.timestamp() + 1).ok().and_then(Self::from_seconds).unwrap_or(self)
    }

    /// Returns the date.
    #[must_use]
    pub fn date(self) -> Date {
        Date::of(self.0.date_naive())
    }

    /// Reads the time that a name begins with, and returns what follows it. The time is in UTC: a date, which may be
    /// followed by `T0530` or `T053000`, with or without `Z`.
    #[must_use]
    pub fn begins(name: &str) -> Option<(Self, &str)> {
        let (day, rest) = name.split_at_checked("2026-11-22".len())?;
        let midnight: Self = day.parse().ok()?;
        let Some(time) = rest.strip_prefix('T') else { return Some((midnight, rest)) };
        let digits = time.bytes().take_while(u8::is_ascii_digit).count();
        let (time, rest) = time.split_at(digits);
        let (hour, minute, second) = match digits {
            4 => (&time[..2], &time[2..], "00"),
            6 => (&time[..2], &time[2..4], &time[4..]),
            _ => return None,
        };
        let moment = format!("{day}T{hour}:{minute}:{second}Z").parse().ok()?;
        Some((moment, rest.strip_prefix('Z').unwrap_or(rest)))
    }

    /// Formats it without the characters that some file systems do not allow: `2026-11-22T053000Z`.
    #[must_use]
    pub fn compact(self) -> String {
        self.to_string().replace(':', "")
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.format("%Y-%m-%dT%H:%M:%SZ"))
    }
}

impl FromStr for Moment {
    type Err = String;

    /// Parses `2026-11-22T05:30:00Z`, or `2026-11-22` for the beginning of that day.
    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            if let Ok(day) = text.parse::<Date>() {
                return Some(NaiveDateTime::new(day.into(), NaiveTime::MIN));
            }
            let fits = text.len() == "2026-11-22T05:30:00Z".len();
            NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%SZ").ok().filter(|_| fits)
        };
        // A leap second is written as the 60th, and is the first of the next minute here: refused.
        read()
            .and_then(|time| u64::try_from(time.and_utc().timestamp()).ok())
            .and_then(Self::from_seconds)
            .filter(|moment| text.len() == 10 || moment.to_string() == text)
            .ok_or_else(|| {
                format!(
                    "invalid time {text:?}; use a form such as 2026-11-22T05:30:00Z or \
                    2026-11-22"
                )
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_and_read_back() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_795_325_400, "2026-11-22T05:30:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (Moment::LAST, "9999-12-31T23:59:59Z"),
        ] {
            let moment = Moment::from_seconds(seconds).unwrap();
            assert_eq!(moment.to_string(), text);
            assert_eq!(text.parse(), Ok(moment));
        }
        assert_eq!("2026-11-22".parse::<Moment>().unwrap().to_string(), "2026-11-22T00:00:00Z");
        assert_eq!(Moment::from_seconds(Moment::LAST + 1), None);
    }

    #[test]
    fn names_begin_with_a_time() {
        let begins = |name: &str| {
            Moment::begins(name).map(|(moment, rest)| (moment.to_string(), rest.to_owned()))
        };
        let found = |time: &str, rest: &str| Some((time.to_owned(), rest.to_owned()));
        assert_eq!(begins("2026-11-22"), found("2026-11-22T00:00:00Z", ""));
        assert_eq!(begins("2026-11-22-llama"), found("2026-11-22T00:00:00Z", "-llama"));
        assert_eq!(begins("2026-11-22T053000Z_a"), found("2026-11-22T05:30:00Z", "_a"));
        assert_eq!(begins("2026-11-22T0530"), found("2026-11-22T05:30:00Z", ""));
        assert_eq!(begins("2026-11-22T053015-a"), found("2026-11-22T05:30:15Z", "-a"));
        for name in ["", "run", "2026-13-01", "26-11-22", "2026-11-2", "é2026-11-2"] {
            assert_eq!(begins(name), None, "{name}");
        }
        for name in ["2026-11-22T05", "2026-11-22T2500", "2026-11-22Tea", "2026-11-22T05300"] {
            assert_eq!(begins(name), None, "{name}");
        }
    }

    #[test]
    fn every_day_of_four_centuries_comes_back() {
        for day in 0..146_097 {
            let moment = Moment::from_seconds(day * 86_400).unwrap();
            assert_eq!(moment.to_string().parse(), Ok(moment));
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "now",
            "2026",
            "2026-11",
            "2026-13-01",
            "2026-02-30",
            "2026-11-22T05:30:00",
            "2026-11-22T24:00:00Z",
            "2026-11-22T05:60:00Z",
            "2026-11-22T05:59:60Z",
            "1969-12-31",
            "+026-11-22",
            "2026-11-22-01",
            "12026-11-22",
            "2026-11-22T05:30:00+01:00",
            "2026-11-00",
        ] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }

    #[test]
    fn ages_are_whole_days_and_never_negative() {
        let day = |text: &str| text.parse::<Moment>().unwrap();
        assert_eq!(day("2026-11-20").days_until(day("2026-11-22")), 2);
        assert_eq!(day("2026-11-20T12:00:00Z").days_until(day("2026-11-22")), 1);
        assert_eq!(day("2026-11-22").days_until(day("2026-11-20")), 0);
        let noon = day("2026-11-20T12:00:00Z");
        assert!(noon.is_older_than(1, day("2026-11-21T12:00:01Z")));
        assert!(!noon.is_older_than(1, day("2026-11-21T12:00:00Z")));
    }
}
