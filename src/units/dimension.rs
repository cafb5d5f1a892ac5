//! Dimensions of numbers whose metric is only known at run time.

use serde::Serialize;

/// Dimension of a number.
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
    /// A ratio: 1.25 is 25% more.
    #[serde(rename = "ratio")]
    Factor,
    /// A part of the whole: 0.25 is 25%.
    #[serde(rename = "share")]
    Share,
    /// A count.
    #[serde(rename = "count")]
    Count,
}

impl Dimension {
    /// Returns the unit in machine formats: the SI symbol, or the kind of a number without a unit.
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
