//! The unit words of Nsight Compute, old and new, and what they convert to.
//!
//! Prefixes are decimal (24,576 bytes print as `24.58 Kbyte`). The unit cell is trusted, never the
//! command line: the same version prints base or scaled units depending on how it was called.

use crate::ingest::decimal::Content;

/// What kind of quantity a unit measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dimension {
    /// Seconds.
    Time,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    Bandwidth,
    /// Cycles per second.
    Frequency,
    /// Fraction, 0–1.
    Percent,
    /// Bytes per cycle.
    BytesPerCycle,
    /// Bytes per block.
    BytesPerBlock,
    /// Something counted, per cycle or per other unit, or without unit.
    Count,
    /// Something counted, per second.
    CountPerSecond,
}

impl Dimension {
    /// Whether values of this metric can be negative: amounts, counts and shares cannot, but bank conflicts are a
    /// difference of counters that are collected in different passes.
    pub(super) fn can_be_negative(self, metric: &[u8]) -> bool {
        let is_difference = || metric.windows(9).any(|part| part == b"conflicts");
        match self {
            Self::Percent | Self::Count | Self::CountPerSecond => is_difference(),
            _ => false,
        }
    }

    /// What a cell of this dimension should be, for error messages.
    pub(super) const fn noun(self) -> &'static str {
        match self {
            Self::Time => "a time",
            Self::Bytes => "bytes",
            Self::Bandwidth => "bytes per second",
            Self::Frequency => "a frequency",
            Self::Percent => "a percentage",
            Self::BytesPerCycle => "bytes per cycle",
            Self::BytesPerBlock => "bytes per block",
            Self::Count => "a count",
            Self::CountPerSecond => "a rate per second",
        }
    }
}

/// A unit word understood: its dimension and the factor to the SI base unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unit {
    pub(super) dimension: Dimension,
    pub(super) factor: f64,
}

/// Things that are counted.
const COUNTED: [&str; 20] = [
    "inst",
    "thread",
    "warp",
    "block",
    "cluster",
    "sector",
    "sectors",
    "request",
    "cycle",
    "pass",
    "sample",
    "branches",
    "SM",
    "register",
    "1",
    "%",
    "op",
    "tag",
    "wavefront",
    "requests",
];

/// Reads a unit cell; `None` when the word is not one of Nsight Compute's.
pub(super) fn unit(word: &str) -> Option<Unit> {
    use Dimension::{
        Bandwidth, Bytes, BytesPerBlock, BytesPerCycle, Count, CountPerSecond, Frequency, Percent,
        Time,
    };
    let is = |dimension, factor| Some(Unit { dimension, factor });
    let word = word.trim();
    match word {
        "ns" | "nsecond" => return is(Time, 1e-9),
        "us" | "usecond" | "µs" | "μs" => return is(Time, 1e-6),
        "ms" | "msecond" => return is(Time, 1e-3),
        "s" | "second" | "sec" => return is(Time, 1.0),
        "%" => return is(Percent, 0.01),
        "" => return is(Count, 1.0),
        "cycle/second" | "cycle/s" => return is(Frequency, 1.0),
        "cycle/msecond" | "cycle/ms" => return is(Frequency, 1e3),
        "cycle/usecond" | "cycle/us" => return is(Frequency, 1e6),
        "cycle/nsecond" | "cycle/ns" => return is(Frequency, 1e9),
        _ => {}
    }
    if let Some(hertz) = strip_ignoring_case(word, "hz") {
        return is(Frequency, prefix(hertz)?);
    }
    let (amount, per) =
        word.split_once('/').map_or((word, None), |(amount, per)| (amount, Some(per)));
    if let Some(scale) = amount.strip_suffix("byte").or_else(|| amount.strip_suffix("B")) {
        let scale = prefix(scale)?;
        return match per {
            None => is(Bytes, scale),
            Some("cycle") => is(BytesPerCycle, scale),
            Some("block") => is(BytesPerBlock, scale),
            Some(per) => match per_second(per) {
                Some(rate) => is(Bandwidth, scale * rate),
                None => is(Count, scale),
            },
        };
    }
    let counted = COUNTED
        .iter()
        .find_map(|word| amount.strip_suffix(word).and_then(prefix))
        .or_else(|| amount.is_empty().then_some(1.0))?;
    match per {
        None => is(Count, counted),
        Some(per) => match per_second(per) {
            Some(rate) => is(CountPerSecond, counted * rate),
            None => is(Count, counted),
        },
    }
}

/// How often the time word after a slash fits into a second.
fn per_second(word: &str) -> Option<f64> {
    Some(match word {
        "s" | "second" => 1.0,
        "ms" | "msecond" => 1e3,
        "us" | "usecond" => 1e6,
        "ns" | "nsecond" => 1e9,
        _ => return None,
    })
}

fn prefix(letter: &str) -> Option<f64> {
    Some(match letter {
        "" => 1.0,
        "K" | "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        _ => return None,
    })
}

fn strip_ignoring_case<'a>(word: &'a str, suffix: &str) -> Option<&'a str> {
    let start = word.len().checked_sub(suffix.len())?;
    word.is_char_boundary(start)
        .then(|| word.split_at(start))
        .filter(|(_, end)| end.eq_ignore_ascii_case(suffix))
        .map(|(start, _)| start)
}

/// What a cell of this metric holds, given in this unit.
///
/// Values are scaled so that they are below a thousand, unless there is no longer prefix; sums of events
/// and of bytes are whole.
pub(super) fn content(metric: &str, word: &str) -> Content {
    use Dimension::{Bandwidth, Bytes, Frequency, Percent, Time};
    let Some(unit) = unit(word) else { return Content::Any };
    let is_whole = metric.rsplit('.').next() == Some("sum") || metric.starts_with("launch__");
    let (base, greatest) = match unit.dimension {
        Percent => return Content::Percent,
        Time => (1e-9, 1.0),
        Bytes | Bandwidth | Frequency => (1.0, 1e9),
        _ if is_whole && unit.factor <= 1.0 && !metric.contains("waves") => return Content::Whole,
        _ => return Content::Any,
    };
    if unit.factor > base && unit.factor < greatest {
        Content::Scaled
    } else if is_whole && unit.factor <= base && matches!(unit.dimension, Time | Bytes) {
        Content::Whole
    } else {
        Content::Any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_seen_in_exports_is_known() {
        use Dimension::*;
        for (word, dimension, factor) in [
            ("ns", Time, 1e-9),
            ("nsecond", Time, 1e-9),
            ("msecond", Time, 1e-3),
            ("second", Time, 1.0),
            ("byte", Bytes, 1.0),
            ("Kbyte", Bytes, 1e3),
            ("Tbyte", Bytes, 1e12),
            ("Gbyte/s", Bandwidth, 1e9),
            ("byte/second", Bandwidth, 1.0),
            ("hz", Frequency, 1.0),
            ("Ghz", Frequency, 1e9),
            ("cycle/nsecond", Frequency, 1e9),
            ("%", Percent, 0.01),
            ("Kbyte/block", BytesPerBlock, 1e3),
            ("byte/cycle", BytesPerCycle, 1.0),
            ("Kbyte/cycle", BytesPerCycle, 1e3),
            ("sector/ns", CountPerSecond, 1e9),
            ("sector/s", CountPerSecond, 1.0),
            ("inst/cycle", Count, 1.0),
            ("register/thread", Count, 1.0),
            ("1/cycle", Count, 1.0),
            ("%/Kbyte", Count, 1.0),
            ("byte/sector", Count, 1.0),
            ("", Count, 1.0),
            ("inst", Count, 1.0),
            ("/cycle", Count, 1.0),
        ] {
            assert_eq!(unit(word), Some(Unit { dimension, factor }), "{word}");
        }
    }

    #[test]
    fn what_a_cell_holds_follows_from_its_unit() {
        for (metric, word, expected) in [
            ("gpu__time_duration.sum", "us", Content::Scaled),
            ("gpu__time_duration.sum", "second", Content::Any),
            ("gpu__time_duration.sum", "ns", Content::Whole),
            ("dram__bytes.sum", "Mbyte", Content::Scaled),
            ("dram__bytes.sum", "byte", Content::Whole),
            ("dram__bytes.sum.per_second", "Tbyte/s", Content::Any),
            ("launch__waves_per_multiprocessor", "", Content::Any),
            ("launch__grid_size", "", Content::Whole),
            ("launch__shared_mem_per_block", "byte/block", Content::Whole),
            ("launch__shared_mem_per_block", "Kbyte/block", Content::Any),
            ("sm__cycles_elapsed.avg", "cycle", Content::Any),
            ("l1tex__t_sector_hit_rate.pct", "%", Content::Percent),
            ("Duration", "furlong", Content::Any),
        ] {
            assert_eq!(content(metric, word), expected, "{metric} in {word}");
        }
    }

    #[test]
    fn an_unknown_word_is_not_guessed() {
        for word in ["furlong", "KiB", "byte per second", "nsec?", "Xbyte"] {
            assert_eq!(unit(word), None, "{word}");
        }
    }
}
