//! Formats numbers for sentences and tables: three digits, SI prefixes.

/// Formats a number with three significant digits and an SI prefix: `1.23 ms`, `812 GB/s`.
#[must_use]
pub fn si(value: impl Into<f64>, unit: &str) -> String {
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
    let value = value.into();
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

/// Formats a number with three significant digits; what is too small for any is `<0.001`, not zero.
#[must_use]
pub fn digits(value: f64) -> String {
    /// What rounds to a zero.
    const TOO_SMALL: f64 = 0.0005;
    let magnitude = value.abs();
    if magnitude > 0.0 && magnitude < TOO_SMALL {
        if value > 0.0 { "<0.001".to_owned() } else { ">-0.001".to_owned() }
    } else if magnitude >= 99.95 {
        rounded(value, 0)
    } else if magnitude >= 9.995 {
        rounded(value, 1)
    } else if magnitude >= 0.0995 || magnitude == 0.0 {
        rounded(value, 2)
    } else {
        rounded(value, 3)
    }
}

/// Rounds to decimal places as one does by hand, a half away from zero.
///
/// 1555 GB/s are 1.56 TB/s, though the binary fraction next to 1.555 is less, and however the value was computed.
fn rounded(value: f64, places: usize) -> String {
    // More than the error of a few operations, less than any digit shown.
    const A_BIT_MORE: f64 = 1.0 + 4.0 * f64::EPSILON;
    format!("{:.places$}", value * A_BIT_MORE)
}

/// Formats a share as a percentage: `98.3%`.
#[must_use]
pub fn percent(share: impl Into<f64>) -> String {
    let percent = share.into() * 100.0;
    if percent != 0.0 && percent < 0.05 {
        "<0.1%".to_owned()
    } else {
        format!("{}%", rounded(percent, 1))
    }
}

/// Formats a share as a percentage without a fraction, as sentences have it: `98%`; below 1%, with one digit after the point.
#[must_use]
pub fn whole_percent(share: impl Into<f64>) -> String {
    let share = share.into();
    if share.abs() < 0.01 && share != 0.0 {
        percent(share)
    } else {
        format!("{}%", rounded(share * 100.0, 0))
    }
}

/// Formats a factor such as headroom: `1.32×`. Beyond four digits it is only a sign of wrong data.
#[must_use]
pub fn factor(value: impl Into<f64>) -> String {
    let value = value.into();
    if value >= 9999.5 { ">9999×".to_owned() } else { format!("{}×", digits(value)) }
}

/// Formats a relative change with its sign: `+12.3%`.
#[must_use]
pub fn change(relative: impl Into<f64>) -> String {
    let relative = relative.into();
    if relative.is_finite() { format!("{}%", signed(relative * 100.0)) } else { signed(relative) }
}

/// Formats an interval of relative changes: `+10.1 to +14.0%`.
#[must_use]
pub fn change_interval(low: impl Into<f64>, high: impl Into<f64>) -> String {
    interval(&change(low), &change(high))
}

/// Formats a limit on a relative change as it is written in a policy: `+5%`, not `+5.00%`.
#[must_use]
pub fn change_limit(relative: impl Into<f64>) -> String {
    let shown = change(relative);
    match shown.strip_suffix('%') {
        Some(number) if number.contains('.') => {
            format!("{}%", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => shown,
    }
}

/// Joins two formatted ends of an interval, with their unit once: `3.22–3.78 ms`.
///
/// Equal ends are one value. Signed ends are joined by "to", so that no dash meets a minus:
/// `+10.1 to +14.0%`.
#[must_use]
pub fn interval(low: &str, high: &str) -> String {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '+' | '-' | '<' | '>');
    let unit = |text: &str| text.trim_start_matches(is_number).to_owned();
    if low == high {
        return high.to_owned();
    }
    let is_signed = low.starts_with(['+', '-']) || high.starts_with(['+', '-']);
    match low.strip_suffix(&unit(high)) {
        Some(number) if number.chars().all(is_number) && is_signed => format!("{number} to {high}"),
        Some(number) if number.chars().all(is_number) => format!("{number}–{high}"),
        _ => format!("{low} to {high}"),
    }
}

/// Formats a count without a fraction if it has none.
#[must_use]
pub fn count_of(value: impl Into<f64>) -> String {
    let value = value.into();
    if value.fract() == 0.0 { format!("{value:.0}") } else { digits(value) }
}

/// Formats three digits and a sign, which zero does not have.
fn signed(value: f64) -> String {
    if !value.is_finite() {
        return if value > 0.0 { "unbounded".to_owned() } else { "-".to_owned() };
    }
    let shown = digits(value.abs());
    // Less than any digit shown is no change.
    let is_zero = shown.starts_with('<') || value == 0.0;
    match value {
        _ if is_zero => "0.00".to_owned(),
        value if value < 0.0 => format!("-{shown}"),
        _ => format!("+{shown}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{change, change_interval, change_limit, digits, factor, interval, si};
    use super::{percent, whole_percent};

    /// 12.5% is rounded as 0.125 is, and 3 of 2048 are not nothing.
    #[test]
    fn whole_percentages_are_rounded_as_by_hand() {
        let shown = [0.125, 0.375, 0.994, 0.996, 0.0, 3.0 / 2048.0, 0.0004].map(whole_percent);
        assert_eq!(shown, ["13%", "38%", "99%", "100%", "0%", "0.1%", "<0.1%"]);
        assert_eq!([0.125, 0.0].map(percent), ["12.5%", "0.0%"]);
        assert_eq!(digits(0.125), "0.13");
    }

    #[test]
    fn changes_have_three_digits_and_a_sign() {
        for (relative, shown) in [
            (0.123_4, "+12.3%"),
            (-0.031, "-3.10%"),
            (0.0, "0.00%"),
            (-0.000_001, "0.00%"),
            (1.5, "+150%"),
            (f64::INFINITY, "unbounded"),
        ] {
            assert_eq!(change(relative), shown);
        }
        assert_eq!(change_interval(0.101, 0.14), "+10.1 to +14.0%");
    }

    #[test]
    fn a_limit_has_no_zeros_at_its_end() {
        for (relative, shown) in [(0.05, "+5%"), (0.025, "+2.5%"), (-0.1, "-10%"), (1.0, "+100%")] {
            assert_eq!(change_limit(relative), shown);
        }
    }

    #[test]
    fn an_interval_has_its_unit_once() {
        for (low, high, shown) in [
            ("3.22 ms", "3.78 ms", "3.22–3.78 ms"),
            ("978 µs", "1.02 ms", "978 µs to 1.02 ms"),
            ("1.32×", "1.50×", "1.32–1.50×"),
            ("<0.1%", "0.4%", "<0.1–0.4%"),
            ("12", "14", "12–14"),
            ("2.00 ms", "2.00 ms", "2.00 ms"),
            ("-3.10%", "+0.50%", "-3.10 to +0.50%"),
            ("3.22 ms", "unbounded", "3.22 ms to unbounded"),
        ] {
            assert_eq!(interval(low, high), shown);
        }
    }

    #[test]
    fn what_is_too_small_to_show_is_no_zero() {
        for (value, shown) in [
            (0.0, "0.00"),
            (0.0006, "0.001"),
            (0.0004, "<0.001"),
            (1e-300, "<0.001"),
            (-1e-9, ">-0.001"),
        ] {
            assert_eq!(digits(value), shown);
        }
        assert_eq!(factor(1e-6), "<0.001×");
        assert_eq!(si(1e-13, "s"), "<0.001 ns");
        assert_eq!(change(0.000_001), "0.00%");
    }

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
            (1_555e9, "B/s", "1.56 TB/s"),
            (1_215e6 * 1280.0, "B/s", "1.56 TB/s"),
            (1.555, "", "1.56 "),
            (2.665, "", "2.67 "),
            (-12.25, "", "-12.3 "),
            (12.349_999, "", "12.3 "),
            (100.5, "", "101 "),
        ] {
            assert_eq!(si(value, unit), shown);
        }
    }
}
