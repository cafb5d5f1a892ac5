//! Numbers and names as people read them: three digits, SI prefixes, nothing that controls a terminal.

use crate::units::Seconds;

/// Removes what could control a terminal or disguise a text: control and bidirectional characters.
#[must_use]
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' | '\n' | '\r' => ' ',
            c => c,
        })
        .filter(|c| !c.is_control() && !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}'))
        .collect()
}

/// The same line by line, for messages of several lines.
#[must_use]
pub fn printable_lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}

/// A number with its noun: `1 launch`, `2 launches`.
#[must_use]
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A number with three significant digits and an SI prefix: `1.23 ms`, `812 GB/s`.
pub(super) fn si(value: f64, unit: &str) -> String {
    const PREFIXES: [(f64, &str); 10] = [
        (1e18, "E"),
        (1e15, "P"),
        (1e12, "T"),
        (1e9, "G"),
        (1e6, "M"),
        (1e3, "k"),
        (1.0, ""),
        (1e-3, "m"),
        (1e-6, "µ"),
        (1e-9, "n"),
    ];
    if value == 0.0 {
        return format!("0 {unit}");
    }
    if !value.is_finite() {
        return "unbounded".to_owned();
    }
    // Nobody reads kiloseconds.
    let largest = if unit == "s" { 1.0 } else { f64::INFINITY };
    let (factor, prefix) = PREFIXES
        .into_iter()
        .find(|(factor, _)| *factor <= largest && value.abs() >= factor * 0.9995)
        .unwrap_or((1e-9, "n"));
    format!("{} {prefix}{unit}", digits(value / factor))
}

/// Three significant digits.
pub(super) fn digits(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude >= 99.95 {
        format!("{value:.0}")
    } else if magnitude >= 9.995 {
        format!("{value:.1}")
    } else if magnitude >= 0.0995 || magnitude == 0.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.3}")
    }
}

/// A share of the whole.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent != 0.0 && percent < 0.05 { "<0.1 %".to_owned() } else { format!("{percent:.1} %") }
}

/// A factor such as headroom; beyond four digits it only says that something is off.
pub(super) fn factor(value: f64) -> String {
    if value >= 9999.5 { ">9999 ×".to_owned() } else { format!("{} ×", digits(value)) }
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
    fn numbers_have_three_significant_digits_and_a_prefix() {
        for (value, unit, shown) in [
            (1.234e-3, "s", "1.23 ms"),
            (812e9, "B/s", "812 GB/s"),
            (0.0, "B", "0 B"),
            (999.9e-6, "s", "1.00 ms"),
            (19.5e12, "FLOP/s", "19.5 TFLOP/s"),
            (5e-10, "s", "0.50 ns"),
            (1_111.0, "s", "1111 s"),
        ] {
            assert_eq!(si(value, unit), shown);
        }
    }

    #[test]
    fn a_column_of_times_has_one_unit() {
        let unit = TimeUnit::of([Seconds::new(2e-3), Seconds::new(5e-6)].into_iter());
        assert_eq!(unit.symbol, "ms");
        assert_eq!(unit.show(Seconds::new(5e-6)), "0.005");
        assert_eq!(unit.show(Seconds::new(2e-3)), "2.00");
    }

    #[test]
    fn names_cannot_control_the_terminal() {
        assert_eq!(printable("a\u{1b}]0;pwned\u{7}b\u{202e}c\td"), "a]0;pwnedbc d");
    }
}
