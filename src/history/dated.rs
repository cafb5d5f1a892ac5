//! Runs of a partitioned table by their names, which begin with a time.

use super::moment::Moment;
use super::store::DEFAULT_NAME;

/// What the name of a run says: when it was, and of which baseline it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dated {
    /// The time that the name begins with.
    pub saved: Moment,
    /// Name of the baseline.
    pub name: String,
}

impl Dated {
    /// Reads the name of a run; `None` if it does not begin with a time.
    ///
    /// What follows the time (`2026-11-22`, `2026-11-22T053000Z`) is the name of the baseline: `2026-11-22-llama`. A
    /// number alone tells repeats apart: `2026-11-22-2`.
    #[must_use]
    pub fn of(run: &str) -> Option<Self> {
        let (saved, rest) = Moment::begins(run)?;
        let rest = rest.trim_start_matches(['-', '_', '.', '+']);
        let is_number = rest.bytes().all(|byte| byte.is_ascii_digit());
        let name = if is_number { DEFAULT_NAME } else { rest }.to_owned();
        Some(Self { saved, name })
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
        assert_eq!(read("2026-11-22-llama-2"), of(midnight, "llama-2"));
        assert_eq!(read("2026-11-22T0530_llama"), of("2026-11-22T05:30:00Z", "llama"));
        assert_eq!(read("llama-2026-11-22"), None);
    }
}
