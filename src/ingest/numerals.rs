//! How a file writes numbers: decided once per file, from cells that leave no doubt.

use std::fmt;

use super::decimal::{Content, DecimalSign, Evidence, Verdict};
use crate::units::BEYOND_ALL;

/// The number format of one file.
///
/// The same cell means different numbers in different files (`117.344`, `5,156`), so the whole file
/// is read in one locale, found by [`Numerals::detect`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Numerals {
    decimal: DecimalSign,
    certain: bool,
    grouped: bool,
}

/// A cell that is no number, or no possible amount, and not one of the ways to write "missing".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotANumber;

impl fmt::Display for Numerals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.decimal {
            DecimalSign::Point => "decimal point",
            DecimalSign::Comma => "decimal comma",
        })?;
        f.write_str(match (self.grouped, self.decimal) {
            (false, _) => ", no grouping",
            (true, DecimalSign::Point) => ", grouped by commas",
            (true, DecimalSign::Comma) => ", grouped by points",
        })?;
        if !self.certain && self.grouped {
            f.write_str(" (assumed: no cell decides)")?;
        }
        Ok(())
    }
}

impl Numerals {
    /// Decides from numeric cells of a file; text is ignored. Without evidence a comma groups digits, as in
    /// the profilers' usual locales.
    #[must_use]
    pub fn detect<'a>(cells: impl Iterator<Item = &'a str>) -> Self {
        let mut evidence = Evidence::default();
        for cell in cells {
            evidence.add(cell.as_bytes(), Content::Any, || None);
        }
        match evidence.verdict() {
            Verdict::Clear(sign) => Self::new(sign, true, evidence.grouped),
            _ => Self::new(DecimalSign::Point, false, evidence.grouped),
        }
    }

    /// Numbers with this decimal sign.
    pub(super) const fn new(decimal: DecimalSign, certain: bool, grouped: bool) -> Self {
        Self { decimal, certain, grouped }
    }

    /// How many digits a number has before its exponent, and the power of ten of the last one: 6 and 6 in `1.50031E+11`.
    /// `None` where all are written.
    pub(super) fn before_exponent(self, cell: &[u8]) -> Option<(usize, i32)> {
        let at = cell.iter().position(|byte| matches!(byte, b'e' | b'E'))?;
        let (mantissa, exponent) = (&cell[..at], std::str::from_utf8(&cell[at + 1..]).ok()?);
        let is_digit = |byte: &&u8| byte.is_ascii_digit();
        let digits = mantissa.iter().filter(is_digit).count();
        let mark = mantissa.iter().position(|byte| *byte == self.decimal_mark());
        let decimals = mark.map_or(0, |mark| mantissa[mark..].iter().filter(is_digit).count());
        let exponent: i32 = exponent.trim_end().parse().ok()?;
        (digits > 0).then_some((digits, exponent.checked_sub(i32::try_from(decimals).ok()?)?))
    }

    /// Reads a cell; `None` is one of the ways to write "missing", of which none is zero.
    ///
    /// # Errors
    /// When the cell is text, or a number that contradicts this format.
    pub fn parse(&self, cell: &[u8]) -> Result<Option<f64>, NotANumber> {
        match self.plain(cell) {
            Some(value) => Ok(Some(value)),
            None => self.parse_other(cell.trim_ascii()),
        }
    }

    /// Reads a whole number of 32 bits; `None` where the cell has none, or -1, as one that is not known may be written.
    ///
    /// # Errors
    /// When it has something else, with the reason.
    pub(super) fn whole(self, cell: &[u8]) -> Result<Option<u32>, &'static str> {
        let is_whole =
            |number: f64| number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number);
        match self.parse(cell) {
            Ok(Some(number)) if is_whole(number) => Ok(Some(number as u32)),
            Ok(Some(number)) if number.total_cmp(&-1.0).is_ne() => {
                Err("not a whole number of 32 bits")
            }
            Ok(_) => Ok(None),
            Err(_) => Err("not a whole number"),
        }
    }

    fn parse_other(self, cell: &[u8]) -> Result<Option<f64>, NotANumber> {
        if is_missing(cell) {
            return Ok(None);
        }
        self.parse_marked(cell).map(Some)
    }

    /// Whether any cell groups its digits.
    pub(super) const fn is_grouped(self) -> bool {
        self.grouped
    }

    /// The byte before the fraction.
    pub(super) fn decimal_mark(self) -> u8 {
        self.marks().0
    }

    fn marks(self) -> (u8, u8) {
        match self.decimal {
            DecimalSign::Point => (b'.', b','),
            DecimalSign::Comma => (b',', b'.'),
        }
    }

    /// The common case: digits, maybe in groups of three and with a fraction, at most 15 in all.
    fn plain(self, cell: &[u8]) -> Option<f64> {
        let (mut mantissa, mut digits) = (0_i64, 0_usize);
        for byte in cell {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            mantissa = mantissa.wrapping_mul(10).wrapping_add(i64::from(digit));
            digits += 1;
        }
        if digits == cell.len() {
            return (1..=15).contains(&digits).then_some(mantissa as f64);
        }
        let (decimal, group) = self.marks();
        let mut since_mark = digits;
        let (mut is_grouped, mut before_decimal) = (false, None);
        for byte in &cell[digits..] {
            let digit = byte.wrapping_sub(b'0');
            if digit <= 9 {
                mantissa = mantissa.wrapping_mul(10).wrapping_add(i64::from(digit));
                digits += 1;
                since_mark += 1;
                continue;
            }
            let fits = if is_grouped { since_mark == 3 } else { since_mark <= 3 };
            if before_decimal.is_some() {
                return None;
            } else if *byte == group && fits && since_mark > 0 && cell.first() != Some(&b'0') {
                (is_grouped, since_mark) = (true, 0);
            } else if *byte == decimal && (fits || !is_grouped) {
                before_decimal = Some(digits);
            } else {
                return None;
            }
        }
        let is_whole = before_decimal.is_none();
        if !(1..=15).contains(&digits) || (is_whole && is_grouped && since_mark != 3) {
            return None;
        }
        let scale = digits - before_decimal.unwrap_or(digits);
        Some(if scale == 0 { mantissa as f64 } else { mantissa as f64 / POWERS[scale] })
    }

    fn parse_marked(self, cell: &[u8]) -> Result<f64, NotANumber> {
        let (decimal, group) = self.marks();
        let mut clean = [0_u8; 64];
        let mut length = 0;
        // Digits since the last group mark; `None` before the first one.
        let mut since_mark: Option<u32> = None;
        let mut integer_digits = 0_u32;
        let mut leading_zero = false;
        let mut fraction = false;
        let mut digits = 0;
        let mut mantissa = 0_u64;
        let mut scale = 0_usize;
        let mut exponent = false;
        let text = std::str::from_utf8(cell).map_err(|_| NotANumber)?;
        for c in text.chars() {
            // ICU locales group by (narrow) no-break space.
            let byte = match c {
                '\u{a0}' | '\u{202f}' | ' ' => group,
                _ => u8::try_from(c).map_err(|_| NotANumber)?,
            };
            if byte == group && !fraction && !exponent {
                let well_placed = match since_mark {
                    // No group begins with a zero: `0,123` is a fraction.
                    None => (1..=3).contains(&integer_digits) && !leading_zero,
                    Some(digits) => digits == 3,
                };
                if !well_placed {
                    return Err(NotANumber);
                }
                since_mark = Some(0);
                continue;
            }
            if byte.is_ascii_digit() {
                leading_zero |= digits == 0 && byte == b'0';
                digits += 1;
                if digits <= 18 {
                    mantissa = mantissa * 10 + u64::from(byte - b'0');
                }
                if fraction {
                    scale += 1;
                } else {
                    integer_digits += 1;
                    since_mark = since_mark.map(|count| count + 1);
                }
            } else if byte == decimal && !fraction && !exponent {
                if since_mark.is_some_and(|count| count != 3) {
                    return Err(NotANumber);
                }
                fraction = true;
            } else if matches!(byte, b'e' | b'E') && digits > 0 && !exponent {
                exponent = true;
            } else if !matches!(byte, b'-' | b'+') {
                return Err(NotANumber);
            }
            let byte = if byte == decimal { b'.' } else { byte };
            *clean.get_mut(length).ok_or(NotANumber)? = byte;
            length += 1;
        }
        if digits == 0 || (!fraction && since_mark.is_some_and(|count| count != 3)) {
            return Err(NotANumber);
        }
        // Up to 15 significant digits an integer over a power of ten is correctly rounded.
        let negative = clean[0] == b'-';
        let signs = clean[..length].iter().filter(|byte| matches!(byte, b'-' | b'+')).count();
        if digits <= 15 && !exponent && signs == usize::from(negative) {
            let value = mantissa as f64 / POWERS[scale];
            return Ok(if negative { -value } else { value });
        }
        let clean = std::str::from_utf8(&clean[..length]).map_err(|_| NotANumber)?;
        clean.parse().ok().filter(|value: &f64| value.abs() < BEYOND_ALL).ok_or(NotANumber)
    }
}

const POWERS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// The ways profilers, pandas and spreadsheets write that there is no value.
pub(in crate::ingest) fn is_missing(cell: &[u8]) -> bool {
    const WORDS: [&[u8]; 10] =
        [b"", b"-", b"n/a", b"na", b"nan", b"no data", b"null", b"none", b"(!) n/a", b"(!) nan"];
    cell.len() <= 7 && WORDS.iter().any(|word| cell.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn the_short_way_reads_what_the_long_way_reads(
            cell in "[0-9]{0,4}([.,][0-9]{3}|[.,]?[0-9]{0,4}){0,4}|[-0-9.,e ]{0,9}",
            comma in any::<bool>(),
        ) {
            let decimal = if comma { DecimalSign::Comma } else { DecimalSign::Point };
            let numerals = Numerals { decimal, ..Numerals::default() };
            if let Some(short) = numerals.plain(cell.as_bytes()) {
                prop_assert_eq!(Ok(short), numerals.parse_marked(cell.as_bytes()));
            }
        }
    }

    fn detect(cells: &[&str]) -> Numerals {
        Numerals::detect(cells.iter().copied())
    }

    #[test]
    fn one_locale_is_found_per_file() {
        let us = detect(&["13,982,900,136.80", "5,156", "12.34"]);
        let german = detect(&["9.420.231,80", "2,33", "117.344"]);
        let c = detect(&["188416", "12.34", "0"]);
        assert_eq!(us.to_string(), "decimal point, grouped by commas");
        assert_eq!(german.to_string(), "decimal comma, grouped by points");
        assert_eq!(c.to_string(), "decimal point, no grouping");
        assert_eq!(us.parse(b"5,156"), Ok(Some(5156.0)));
        assert_eq!(german.parse(b"5,156"), Ok(Some(5.156)));
        assert_eq!(us.parse(b"117.344"), Ok(Some(117.344)));
        assert_eq!(german.parse(b"117.344"), Ok(Some(117_344.0)));
        assert_eq!(german.parse("1\u{a0}234,5".as_bytes()), Ok(Some(1234.5)));
        assert_eq!(detect(&["1,500000", "7"]).parse(b"1,500000"), Ok(Some(1.5)));
    }

    #[test]
    fn without_evidence_a_comma_groups() {
        let unsure = detect(&["5,156", "7"]);
        assert_eq!(unsure.parse(b"5,156"), Ok(Some(5156.0)));
        assert_eq!(
            unsure.to_string(),
            "decimal point, grouped by commas (assumed: no cell decides)"
        );
    }

    #[test]
    fn missing_is_not_zero_and_text_is_no_number() {
        let numerals = Numerals::default();
        for missing in ["", " ", "n/a", "N/A", "no data", "nan", "NaN", "-", "na", "(!) n/a"] {
            assert_eq!(numerals.parse(missing.as_bytes()), Ok(None), "{missing:?}");
        }
        for bad in [
            "1.2 GB?",
            "abc",
            "1,23",
            "1,2345",
            "12,34,567",
            "1.2.3",
            "--1",
            "1e",
            "inf",
            "0x3",
            "1,234,",
            "0,123",
            "012,345",
            ".",
        ] {
            assert_eq!(numerals.parse(bad.as_bytes()), Err(NotANumber), "{bad:?}");
        }
        assert_eq!(numerals.parse(b"0"), Ok(Some(0.0)));
    }

    #[test]
    fn digits_before_an_exponent_say_how_much_is_known() {
        let of = |decimal, cell: &str| {
            Numerals::new(decimal, true, false).before_exponent(cell.as_bytes())
        };
        let point = DecimalSign::Point;
        for (cell, expected) in [
            ("1.50031E+11", Some((6, 6))),
            ("15e3", Some((2, 3))),
            ("1.5e-3 ", Some((2, -4))),
            ("150000000000", None),
            ("E+11", None),
            ("1.5E", None),
            ("1.5E-2147483648", None),
        ] {
            assert_eq!(of(point, cell), expected, "{cell}");
        }
        assert_eq!(of(DecimalSign::Comma, "1,50031E+11"), Some((6, 6)));
    }

    #[test]
    fn values_are_correctly_rounded() {
        let numerals = Numerals::default();
        for text in [
            "-0.059363",
            "4.0e-05",
            "13982900136.80",
            "123456789012345678",
            "0.1",
            "1e+16",
            "7552892928.0",
            "12345678.12345678901",
        ] {
            assert_eq!(numerals.parse(text.as_bytes()), Ok(text.parse().ok()), "{text}");
        }
        assert_eq!(numerals.parse(b"1,234,567.25"), Ok(Some(1_234_567.25)));
    }
}
