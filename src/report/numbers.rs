//! Numbers and names as people read them: three digits, SI prefixes, nothing that controls a terminal.

pub use crate::model::printable;
use crate::plain::counted;
use crate::units::Seconds;
pub(super) use crate::units::{change, count_of, digits, factor, interval, percent, si};
#[cfg(feature = "gate")]
pub(super) use crate::units::{change_interval, change_limit};

/// The same line by line, for messages of several lines.
#[must_use]
pub fn printable_lines(text: &str) -> String {
    let mut all = String::new();
    for (at, line) in text.lines().enumerate() {
        let line = printable(line);
        // The log of a pipeline takes such lines for commands: a name with a line break must not make one.
        let is_command = ["::", "##["].iter().any(|sign| line.trim_start().starts_with(sign));
        all.push_str(if at == 0 || !is_command { "\n" } else { "\\n" });
        all.push_str(&line);
    }
    all.split_off(usize::from(!all.is_empty()))
}

/// A number with its noun: `1 launch`, `2 launches`.
#[must_use]
pub fn count(number: u64, one: &str, many: &str) -> String {
    counted(number, one, many)
}

/// A count in full, with separators; with three digits where it is too large or not whole.
pub(super) fn whole(value: f64) -> String {
    if value.fract() != 0.0 || value >= 9e15 {
        return si(value, "").trim_end().to_owned();
    }
    let digits = format!("{value:.0}");
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|group| std::str::from_utf8(group).ok())
        .collect();
    groups.join(",")
}

/// The unit of a column of times, chosen by its largest.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeUnit {
    pub(super) symbol: &'static str,
    per_second: f64,
}

impl TimeUnit {
    pub(super) fn of(times: impl Iterator<Item = Seconds>) -> Self {
        let largest = times.fold(0.0, |largest: f64, time| largest.max(time.get()));
        let (symbol, per_second) = match largest {
            largest if largest >= 1.0 => ("s", 1.0),
            largest if largest >= 1e-3 => ("ms", 1e3),
            _ => ("µs", 1e6),
        };
        Self { symbol, per_second }
    }

    pub(super) fn show(self, time: Seconds) -> String {
        let value = time.get() * self.per_second;
        if value != 0.0 && value.abs() < 0.0005 { "<0.001".to_owned() } else { digits(value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_times_has_one_unit() {
        let unit = TimeUnit::of([Seconds::new(2e-3), Seconds::new(5e-6)].into_iter());
        assert_eq!(unit.symbol, "ms");
        assert_eq!(unit.show(Seconds::new(5e-6)), "0.005");
        assert_eq!(unit.show(Seconds::new(2e-3)), "2.00");
    }

    #[test]
    fn counts_are_shown_in_full() {
        for (value, shown) in
            [(0.0, "0"), (999.0, "999"), (1000.0, "1,000"), (137_438_953_472.0, "137,438,953,472")]
        {
            assert_eq!(whole(value), shown);
        }
        assert_eq!(whole(2.5), "2.50");
        assert_eq!(whole(1e16), "10.0 P");
    }
}
