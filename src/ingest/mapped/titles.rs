//! What the title of a column says: its words, and the unit among them.

/// A unit that a title names, as a mapping writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Time(&'static str),
    Bytes(&'static str),
    Work(&'static str),
}

/// The title of a column, taken apart.
#[derive(Debug, Default)]
pub(super) struct Title {
    /// Its words in lower case, without those of the unit.
    pub(super) words: Vec<String>,
    pub(super) unit: Option<Unit>,
    /// Whether the unit is per second.
    pub(super) is_rate: bool,
    /// Whether the unit may as well be an amount: `TFLOPS`.
    pub(super) is_ambiguous: bool,
    /// Whether it is a share, or an amount per something other than a second.
    pub(super) is_relative: bool,
}

impl Title {
    /// Takes a title apart: `GPU Time [ms]`, `durationNs`, `dram_gb_s`.
    pub(super) fn new(title: &str) -> Self {
        let mut all: Vec<&str> = Vec::new();
        for token in title.split(|c: char| !c.is_alphanumeric()).filter(|token| !token.is_empty()) {
            // `GBps` and `GFLOPs` are one word, `totalTimeMs` is three.
            if unit(token).is_some() || per_second(token).is_some() {
                all.push(token);
            } else {
                all.extend(humps(token));
            }
        }
        let mut read = Self { is_relative: title.contains('%'), ..Self::default() };
        let found = (0..all.len()).rev().find_map(|at| {
            let (unit, plural) = unit(all[at]).or_else(|| per_second(all[at]))?;
            // `s` alone may be a name, and ends any other plural.
            let is_last = at + 1 == all.len() && at > 0;
            (!matches!(all[at], "s" | "S" | "B") || is_last).then_some((at, unit, plural))
        });
        // The seconds of a rate belong to what is before them.
        let found = found.map(|(at, unit_here, plural)| {
            let before = if at > 1 && all[at - 1].eq_ignore_ascii_case("per") { 2 } else { 1 };
            let amount = at.checked_sub(before).and_then(|at| unit(all[at]).map(|one| (at, one)));
            match (unit_here, amount) {
                (
                    Unit::Time("s"),
                    Some((first, (amount @ (Unit::Bytes(_) | Unit::Work(_)), _))),
                ) => {
                    read.is_rate = true;
                    (first..=at, amount)
                }
                _ => {
                    read.is_rate = plural || unit(all[at]).is_none();
                    read.is_ambiguous = plural;
                    (at..=at, unit_here)
                }
            }
        });
        let (range, unit) = found.unzip();
        let rest = all
            .iter()
            .enumerate()
            .filter(|(at, _)| range.as_ref().is_none_or(|range| !range.contains(at)));
        read.words = rest.map(|(_, word)| word.to_lowercase()).collect();
        read.unit = unit;
        let is_share = |word: &String| {
            matches!(
                &**word,
                "per"
                    | "percent"
                    | "percentage"
                    | "pct"
                    | "ratio"
                    | "share"
                    | "fraction"
                    | "util"
                    | "utilization"
            )
        };
        read.is_relative |= read.words.iter().any(is_share);
        // An amount per something else: `bytes/elem`.
        read.is_relative |= title.contains('/') && !read.is_rate;
        read
    }

    /// The words as one text.
    pub(super) fn name(&self) -> String {
        self.words.join(" ")
    }

    pub(super) fn has(&self, words: &[&str]) -> bool {
        // `NVLink` is read as two words.
        let joined = || self.words.windows(2).map(<[String]>::concat);
        self.words.iter().any(|word| words.contains(&&**word))
            || joined().any(|word| words.contains(&&*word))
    }
}

/// The parts of `totalTimeMs`, `GPUTime`: a part begins at a capital after a small letter, or before one.
fn humps(token: &str) -> Vec<&str> {
    let letters: Vec<(usize, char)> = token.char_indices().collect();
    let mut parts = Vec::new();
    let mut start = 0;
    for at in 1..letters.len() {
        let (place, letter) = letters[at];
        let before = letters[at - 1].1;
        let is_next_small = letters.get(at + 1).is_some_and(|(_, next)| next.is_lowercase());
        let begins = letter.is_uppercase()
            && (!before.is_uppercase() || is_next_small)
            // `MiB`
            && !(before == 'i' && letter == 'B')
            && unit(&token[start..]).is_none();
        if begins {
            parts.push(&token[start..place]);
            start = place;
        }
    }
    parts.push(&token[start..]);
    parts
}

/// The unit that a word is, and whether its plural may mean an amount per second.
fn unit(word: &str) -> Option<(Unit, bool)> {
    // The small `b` after a capital stands for bits.
    let is_bits = word.len() == 2 && word.ends_with('b') && word.starts_with(char::is_uppercase);
    let lower = word.to_lowercase();
    let plain = match &*lower {
        "s" | "sec" | "secs" | "second" | "seconds" => Unit::Time("s"),
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" | "millis" => Unit::Time("ms"),
        "us" | "µs" | "μs" | "usec" | "usecs" | "microsecond" | "microseconds" | "micros" => {
            Unit::Time("us")
        }
        "ns" | "nsec" | "nsecs" | "nanosecond" | "nanoseconds" | "nanos" => Unit::Time("ns"),
        "byte" | "bytes" => Unit::Bytes("B"),
        "b" if word == "B" => Unit::Bytes("B"),
        "kb" | "kbyte" | "kbytes" if !is_bits => Unit::Bytes("kB"),
        "mb" | "mbyte" | "mbytes" if !is_bits => Unit::Bytes("MB"),
        "gb" | "gbyte" | "gbytes" if !is_bits => Unit::Bytes("GB"),
        "tb" | "tbyte" | "tbytes" if !is_bits => Unit::Bytes("TB"),
        "kib" => Unit::Bytes("KiB"),
        "mib" => Unit::Bytes("MiB"),
        "gib" => Unit::Bytes("GiB"),
        "tib" => Unit::Bytes("TiB"),
        "flop" | "flops" => Unit::Work("FLOP"),
        "kflop" => Unit::Work("kFLOP"),
        "mflop" => Unit::Work("MFLOP"),
        "gflop" => Unit::Work("GFLOP"),
        "tflop" => Unit::Work("TFLOP"),
        "pflop" => Unit::Work("PFLOP"),
        _ => {
            let (Unit::Work(amount), false) = unit(lower.strip_suffix('s')?)? else { return None };
            return Some((Unit::Work(amount), amount != "FLOP"));
        }
    };
    Some((plain, false))
}

/// The amount that a word such as `GBps` is per second; the second value as in [`unit`].
fn per_second(word: &str) -> Option<(Unit, bool)> {
    let amount = word.strip_suffix("ps")?;
    if !amount.ends_with('B') || amount == "B" {
        return None;
    }
    unit(amount)
}

/// A text without characters that end a comment.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A text as TOML has it.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_says_its_unit_in_any_spelling() {
        use Unit::{Bytes, Time, Work};
        for (title, unit, is_rate, words) in [
            ("dur_us", Some(Time("us")), false, "dur"),
            ("Duration (ns)", Some(Time("ns")), false, "duration"),
            ("GPU Time [ms]", Some(Time("ms")), false, "gpu time"),
            ("totalTimeMs", Some(Time("ms")), false, "total time"),
            ("GPUTimeUs", Some(Time("us")), false, "gpu time"),
            ("Total Duration (μs)", Some(Time("us")), false, "total duration"),
            ("time_s", Some(Time("s")), false, "time"),
            ("elapsed seconds", Some(Time("s")), false, "elapsed"),
            ("bytes", Some(Bytes("B")), false, ""),
            ("dram_gb_s", Some(Bytes("GB")), true, "dram"),
            ("Memory Throughput (GB/s)", Some(Bytes("GB")), true, "memory throughput"),
            ("bw_GBps", Some(Bytes("GB")), true, "bw"),
            ("mb per second", Some(Bytes("MB")), true, ""),
            ("traffic (MiB)", Some(Bytes("MiB")), false, "traffic"),
            ("trafficMiB", Some(Bytes("MiB")), false, "traffic"),
            ("GFLOP/s", Some(Work("GFLOP")), true, ""),
            ("achieved_gflops", Some(Work("GFLOP")), true, "achieved"),
            ("TFLOPs", Some(Work("TFLOP")), true, ""),
            ("flops", Some(Work("FLOP")), false, ""),
            ("FLOPS/s", Some(Work("FLOP")), true, ""),
            ("gflop", Some(Work("GFLOP")), false, ""),
            // A letter alone, bits, and words that end like a unit.
            ("s", None, false, "s"),
            ("B", None, false, "b"),
            ("rate (Gb)", None, false, "rate gb"),
            ("steps", None, false, "steps"),
            ("kernelName", None, false, "kernel name"),
            ("", None, false, ""),
        ] {
            let read = Title::new(title);
            assert_eq!((read.unit, read.is_rate, &*read.name()), (unit, is_rate, words), "{title}");
        }
        for title in ["time_pct", "Time (%)", "bytes/elem", "us per call"] {
            assert!(Title::new(title).is_relative, "{title}");
        }
        assert!(Title::new("TFLOPS").is_ambiguous && !Title::new("TFLOP/s").is_ambiguous);
    }
}
