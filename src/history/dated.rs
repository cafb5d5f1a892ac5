//! Runs of a partitioned table by their names, which begin with a time.

use super::layout::DEFAULT_NAME;
use super::moment::Moment;

/// What the name of a run says: when it was, and of which baseline it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dated {
    /// The time that the name begins with.
    pub saved: Moment,
    /// Name of the baseline.
    pub name: String,
    /// Which repeat it is, from 1.
    pub repeat: u32,
}

impl Dated {
    /// Reads the name of a run; `None` if it does not begin with a time.
    ///
    /// The time (`2026-11-22`, `2026-11-22T0530`, `2026-11-22T053000Z`) may be followed by `-` or `_` and the name of the
    /// baseline: `2026-11-22-llama`. A number up to 999 marks a repeat: `2026-11-22-2`. Anything else, such as an
    /// offset from UTC, is not a time.
    #[must_use]
    pub fn of(run: &str) -> Option<Self> {
        let (saved, rest) = Moment::begins(run)?;
        let (name, repeat) = match rest.strip_prefix(['-', '_']) {
            None if rest.is_empty() => (DEFAULT_NAME, 1),
            None => return None,
            Some(rest) if rest.bytes().all(|byte| byte.is_ascii_digit()) => {
                let is_repeat = (1..=3).contains(&rest.len()) && !rest.starts_with('0');
                (is_repeat.then_some(DEFAULT_NAME)?, rest.parse().ok()?)
            }
            Some(name) => (name, 1),
        };
        Some(Self { saved, name: name.to_owned(), repeat })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_the_time_is_the_baseline_or_a_number() {
        let read = |run: &str| Dated::of(run).map(|dated| (dated.saved.to_string(), dated.name));
        let of = |time: &str, name: &str| Some((time.to_owned(), name.to_owned()));
        let midnight = "2026-11-22T00:00:00Z";
        assert_eq!(read("2026-11-22"), of(midnight, "default"));
        assert_eq!(read("2026-11-22-2"), of(midnight, "default"));
        let repeats = ["2026-11-22", "2026-11-22-2", "2026-11-22_10", "2026-11-22-llama-2"];
        assert_eq!(repeats.map(|run| Dated::of(run).unwrap().repeat), [1, 2, 10, 1]);
        assert_eq!(read("2026-11-22-llama-2"), of(midnight, "llama-2"));
        assert_eq!(read("2026-11-22T0530_llama"), of("2026-11-22T05:30:00Z", "llama"));
        for run in [
            "llama-2026-11-22",
            "2026-11-22llama",
            "2026-11-22-",
            "2026-11-22-0530",
            "2026-11-221",
            "2026-11-22.123",
            "2026-11-22T0530+0200",
            "2026-11-22T0530-0500",
            "2026-11-22T0530z",
            "2026-11-22t0530",
        ] {
            assert_eq!(read(run), None, "{run}");
        }
    }
}
