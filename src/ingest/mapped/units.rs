//! The units in which a mapped column may be given.

use crate::ingest::Numerals;
use crate::model::Quantity;

/// The units a quantity may be given in, with their size in SI units.
pub(super) struct Units {
    amounts: &'static [(&'static str, f64)],
    /// Whether an amount per second may be given, to be multiplied by the time.
    rates: bool,
}

impl Units {
    const TIME: &'static [(&'static str, f64)] =
        &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("µs", 1e-6), ("μs", 1e-6), ("ns", 1e-9)];
    const BYTES: &'static [(&'static str, f64)] = &[
        ("B", 1.0),
        ("kB", 1e3),
        ("KB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
        ("TiB", 1_099_511_627_776.0),
    ];
    const WORK: &'static [(&'static str, f64)] = &[
        ("FLOP", 1.0),
        ("kFLOP", 1e3),
        ("MFLOP", 1e6),
        ("GFLOP", 1e9),
        ("TFLOP", 1e12),
        ("PFLOP", 1e15),
        ("OP", 1.0),
        ("kOP", 1e3),
        ("MOP", 1e6),
        ("GOP", 1e9),
        ("TOP", 1e12),
        ("POP", 1e15),
    ];
    const BANDWIDTH: &'static [(&'static str, f64)] =
        &[("B/s", 1.0), ("kB/s", 1e3), ("MB/s", 1e6), ("GB/s", 1e9), ("TB/s", 1e12)];
    const WORK_RATE: &'static [(&'static str, f64)] =
        &[("FLOP/s", 1.0), ("GFLOP/s", 1e9), ("TFLOP/s", 1e12), ("OP/s", 1.0), ("TOP/s", 1e12)];
    const FREQUENCY: &'static [(&'static str, f64)] =
        &[("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)];
    const NUMBER: &'static [(&'static str, f64)] = &[("1", 1.0), ("%", 0.01)];

    pub(super) fn of(quantity: Quantity) -> Self {
        let (amounts, rates) = match (quantity, quantity.unit()) {
            (Quantity::Work(_), _) => (Self::WORK, true),
            (_, "s") => (Self::TIME, false),
            (_, "B") => (Self::BYTES, true),
            (_, "B/s") => (Self::BANDWIDTH, false),
            (Quantity::Peak(_), _) => (Self::WORK_RATE, false),
            (_, "Hz") => (Self::FREQUENCY, false),
            _ => (Self::NUMBER, false),
        };
        Self { amounts, rates }
    }

    /// SI units in one of these, and whether they are per second.
    pub(super) fn find(&self, unit: &str) -> Option<(f64, bool)> {
        let amount = |unit: &str| {
            self.amounts.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale)
        };
        if let Some(scale) = amount(unit) {
            return Some((scale, false));
        }
        let scale = amount(unit.strip_suffix("/s").filter(|_| self.rates)?)?;
        Some((scale, true))
    }

    pub(super) fn names(&self) -> String {
        let names: Vec<_> = self.amounts.iter().map(|(name, _)| *name).collect();
        let rates = if self.rates { ", or any of these with /s" } else { "" };
        format!("{}{rates}", names.join(", "))
    }
}

/// Whether a quantity is a share of a whole or of a peak, which is at most 1; counts and ratios have no such bound.
pub(super) fn is_share(quantity: Quantity) -> bool {
    const BEGINNINGS: [&str; 2] = ["stall_", "pipe_"];
    const ENDINGS: [&str; 5] = ["_share", "_occupancy", "_throughput", "_hit_rate", "_active"];
    // The compressor may be given more than memory moves, and the efficiency of accesses is more than one where lanes read
    // the same address.
    if quantity.unit() != "1" || quantity == Quantity::CompressionInputShare {
        return false;
    }
    let column = quantity.column();
    BEGINNINGS.iter().any(|start| column.starts_with(start))
        || ENDINGS.iter().any(|end| column.ends_with(end))
}

/// The number of a cell that has its own unit behind it, and the unit: `1.5ms`, `45 %`.
pub(super) fn with_unit(cell: &[u8]) -> Option<(&str, &str)> {
    let text = str::from_utf8(cell).ok()?.trim();
    let (number, unit) = text.split_at(text.rfind(|c: char| c.is_ascii_digit())? + 1);
    let unit = unit.trim_start();
    (!unit.is_empty()).then_some((number, unit))
}

/// A cell without the unit behind its number.
pub(super) fn number_of(cell: &[u8]) -> &[u8] {
    with_unit(cell).map_or(cell, |(number, _)| number.as_bytes())
}

/// How many digits after the point a number in this unit of time has left when it is written in picoseconds.
pub(super) fn picosecond_digits(unit: &str) -> Option<u32> {
    Some(match unit {
        "s" => 12,
        "ms" => 9,
        "us" | "µs" | "μs" => 6,
        "ns" => 3,
        _ => return None,
    })
}

/// An instant in whole picoseconds: those since 1970 have more digits than a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exact {
    pub(super) picoseconds: u128,
    /// Picoseconds of one in the last place that an exponent leaves: 10,000,000 in `1.70000000012345E+18` ns. 1 where all
    /// digits are written. None where so few are that they say nothing of the others: programs leave zeros out.
    pub(super) step: Option<u128>,
}

/// A spreadsheet rounds to as many digits at least.
const ROUNDED: usize = 5;

/// A number in units of 10^`digits` picoseconds, in whole picoseconds; `None` where it is not one, or negative.
pub(super) fn exactly(cell: &[u8], digits: u32, numerals: Numerals) -> Option<Exact> {
    /// More digits than any time has.
    const LONGEST: usize = 24;
    if cell.iter().all(u8::is_ascii_digit) && (1..=LONGEST).contains(&cell.len()) {
        let whole = cell.iter().fold(0_u128, |all, byte| all * 10 + u128::from(byte - b'0'));
        return Some(Exact { picoseconds: whole * 10_u128.pow(digits), step: Some(1) });
    }
    // That the marks are where they may be is for those to say who read other numbers.
    numerals.parse(cell).ok().flatten().filter(|number| *number >= 0.0)?;
    let text = std::str::from_utf8(cell).ok()?;
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.parse::<i32>().ok()?)),
        None => (text, None),
    };
    let decimal = char::from(numerals.decimal_mark());
    let (whole, fraction) = mantissa.split_once(decimal).unwrap_or((mantissa, ""));
    let written: Vec<u8> =
        whole.bytes().chain(fraction.bytes()).filter(u8::is_ascii_digit).collect();
    if written.is_empty() || written.len() > LONGEST {
        return None;
    }
    let number = written.iter().fold(0_u128, |all, byte| all * 10 + u128::from(byte - b'0'));
    let places = i32::try_from(fraction.len()).ok()?;
    let power =
        i32::try_from(digits).ok()?.checked_add(exponent.unwrap_or(0))?.checked_sub(places)?;
    let ten = |power: u32| 10_u128.checked_pow(power);
    let picoseconds = if power >= 0 {
        number.checked_mul(ten(power.unsigned_abs())?)?
    } else {
        // Beyond picoseconds.
        number / ten(power.unsigned_abs())?
    };
    let step = match exponent {
        None => Some(1),
        Some(_) if number == 0 || written.len() < ROUNDED => None,
        Some(_) => Some(u32::try_from(power).ok().and_then(ten).unwrap_or(1)),
    };
    Some(Exact { picoseconds, step })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::decimal::DecimalSign;

    #[test]
    fn instants_keep_their_last_digit() {
        let of = |decimal| Numerals::new(decimal, true, true);
        let read = |cell: &str, digits, decimal| {
            exactly(cell.as_bytes(), digits, of(decimal)).map(|one| (one.picoseconds, one.step))
        };
        let point = DecimalSign::Point;
        for (cell, digits, picoseconds, step) in [
            ("1712195495519689.047", 6, 1_712_195_495_519_689_047_000, Some(1)),
            ("2860736409", 3, 2_860_736_409_000, Some(1)),
            ("0.5", 12, 500_000_000_000, Some(1)),
            ("1.0000000019", 3, 1000, Some(1)),
            ("1,700,000,000,123,455,000", 3, 1_700_000_000_123_455_000_000, Some(1)),
            ("+12", 3, 12_000, Some(1)),
            ("1.70000000012345E+18", 3, 1_700_000_000_123_450_000_000, Some(10_000_000)),
            ("8.1097E+14", 3, 810_970_000_000_000_000, Some(10_000_000_000_000)),
            ("1.712195495519689047e15", 6, 1_712_195_495_519_689_047_000, Some(1_000)),
            ("0.000000e+00", 12, 0, None),
            ("4.5e-05", 12, 45_000_000, None),
        ] {
            assert_eq!(read(cell, digits, point), Some((picoseconds, step)), "{cell}");
        }
        assert_eq!(read("123.456", 3, DecimalSign::Comma), Some((123_456_000, Some(1))));
        assert_eq!(read("123,456", 3, DecimalSign::Comma), Some((123_456, Some(1))));
        for bad in [
            "",
            "-1",
            "nan",
            "1.2.3",
            "a",
            "1111111111111111111111111",
            "1e300",
            "1e-300",
            "1.2e-2147483648",
        ] {
            assert!(read(bad, 3, point).is_none_or(|(at, _)| at == 0), "{bad}");
        }
    }
}
