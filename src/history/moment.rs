//! A second in time, as entries are named and dated: always in UTC.

use std::fmt;
use std::str::FromStr;

/// Seconds since 1970-01-01 in UTC; shown as `2026-11-22T05:30:00Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Moment(u64);

impl Moment {
    /// Seconds of a day.
    const DAY: u64 = 86_400;

    /// The last second that four digits of a year can say.
    const LAST: u64 = 253_402_300_799;

    /// So many seconds after 1970-01-01; none after the year 9999.
    #[must_use]
    pub fn from_seconds(seconds: u64) -> Option<Self> {
        (seconds <= Self::LAST).then_some(Self(seconds))
    }

    /// Whole days that passed until `later`; 0 if it is not later.
    #[must_use]
    pub const fn days_until(self, later: Self) -> u64 {
        later.0.saturating_sub(self.0) / Self::DAY
    }

    /// Year, month and day.
    ///
    /// Source: H. Hinnant, *chrono-Compatible Low-Level Date Algorithms*, `civil_from_days`.
    #[must_use]
    pub const fn date(self) -> (u64, u64, u64) {
        let days = self.0 / Self::DAY + 719_468;
        let (era, of_era) = (days / 146_097, days % 146_097);
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let shifted = (5 * of_year + 2) / 153;
        let day = of_year - (153 * shifted + 2) / 5 + 1;
        let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
        let year = year + era * 400 + (month <= 2) as u64;
        (year, month, day)
    }

    /// Hour, minute and second.
    const fn clock(self) -> (u64, u64, u64) {
        let of_day = self.0 % Self::DAY;
        (of_day / 3600, of_day / 60 % 60, of_day % 60)
    }

    /// The same without the characters that some file systems do not allow: `2026-11-22T053000Z`.
    #[must_use]
    pub fn compact(self) -> String {
        self.to_string().replace(':', "")
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ((year, month, day), (hour, minute, second)) = (self.date(), self.clock());
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }
}

impl FromStr for Moment {
    type Err = String;

    /// Reads `2026-11-22T05:30:00Z`, or `2026-11-22` for its beginning.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no time such as 2026-11-22T05:30:00Z or 2026-11-22");
        let (date, clock) = match text.split_once('T') {
            Some((date, clock)) => (date, clock.strip_suffix('Z').ok_or_else(wrong)?),
            None => (text, "00:00:00"),
        };
        let parts = |text: &str, mark: char, lengths: [usize; 3]| -> Option<[u64; 3]> {
            let mut parts = text.split(mark).zip(lengths).map(|(part, length)| {
                let is_number = part.len() == length && part.bytes().all(|b| b.is_ascii_digit());
                part.parse().ok().filter(|_| is_number)
            });
            let read = [parts.next()??, parts.next()??, parts.next()??];
            (text.split(mark).count() == 3).then_some(read)
        };
        let [year, month, day] = parts(date, '-', [4, 2, 2]).ok_or_else(wrong)?;
        let [hour, minute, second] = parts(clock, ':', [2, 2, 2]).ok_or_else(wrong)?;
        if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || hour > 23 {
            return Err(wrong());
        }
        if minute > 59 || second > 59 {
            return Err(wrong());
        }
        // Days since 1970-01-01: `days_from_civil` of the same source.
        let shifted_year = year - u64::from(month <= 2);
        let (era, of_era) = (shifted_year / 400, shifted_year % 400);
        let of_year = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day;
        let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
        let days = days.checked_sub(719_469).ok_or_else(wrong)?;
        let moment = Self(days * Self::DAY + hour * 3600 + minute * 60 + second);
        // A day that the month has not, such as 30 February, comes back as another.
        if moment.date() == (year, month, day) { Ok(moment) } else { Err(wrong()) }
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
    fn every_day_of_four_centuries_comes_back() {
        for day in 0..146_097 {
            let moment = Moment(day * Moment::DAY);
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
    }
}
