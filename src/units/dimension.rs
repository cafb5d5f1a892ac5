//! What a number counts, where the type of a quantity cannot say it: values of a metric chosen at run time.

use serde::Serialize;

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub enum Dimension {
    /// Seconds.
    #[serde(rename = "s")]
    Time,
    /// Bytes.
    #[serde(rename = "B")]
    Bytes,
    /// Operations.
    #[serde(rename = "FLOP")]
    Operations,
    /// How many times as much: 1.25 is 25% more.
    #[serde(rename = "ratio")]
    Factor,
    /// A part of the whole: 0.25 is 25 %.
    #[serde(rename = "share")]
    Share,
    /// Things that are counted.
    #[serde(rename = "count")]
    Count,
}

impl Dimension {
    /// The unit in machine formats: the SI symbol, or what a number without a unit is.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Time => "s",
            Self::Bytes => "B",
            Self::Operations => "FLOP",
            Self::Factor => "ratio",
            Self::Share => "share",
            Self::Count => "count",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Dimension;

    #[test]
    fn machine_formats_read_the_key() {
        use Dimension::{Bytes, Count, Factor, Operations, Share, Time};
        for one in [Time, Bytes, Operations, Factor, Share, Count] {
            assert_eq!(serde_json::to_value(one).unwrap(), one.key());
        }
    }
}
