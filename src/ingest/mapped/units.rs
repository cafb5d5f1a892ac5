//! The units in which a mapped column may be given.

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
            (_, "FLOP/s") => (Self::WORK_RATE, false),
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

/// A decimal number in units of 10^`digits` picoseconds, in whole picoseconds: instants since 1970 have more digits
/// than a float. Signs, exponents and grouped digits are not read.
pub(super) fn picoseconds(cell: &[u8], digits: u32) -> Option<u128> {
    /// More digits than any time has.
    const LONGEST: usize = 24;
    let (mut whole, mut fraction) = (0_u128, None);
    if cell.is_empty() || cell.len() > LONGEST {
        return None;
    }
    for byte in cell {
        match (byte, &mut fraction) {
            (b'0'..=b'9', None) => whole = whole * 10 + u128::from(byte - b'0'),
            (b'0'..=b'9', Some(left)) if *left > 0 => {
                whole = whole * 10 + u128::from(byte - b'0');
                *left -= 1;
            }
            // Beyond picoseconds.
            (b'0'..=b'9', Some(_)) => {}
            (b'.', None) => fraction = Some(digits),
            _ => return None,
        }
    }
    Some(whole * 10_u128.pow(fraction.unwrap_or(digits)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_keep_their_last_digit() {
        assert_eq!(picoseconds(b"1712195495519689.047", 6), Some(1_712_195_495_519_689_047_000));
        assert_eq!(picoseconds(b"2860736409", 3), Some(2_860_736_409_000));
        assert_eq!(picoseconds(b"0.5", 12), Some(500_000_000_000));
        assert_eq!(picoseconds(b"1.0000000019", 3), Some(1000));
        for bad in [&b""[..], b"-1", b"8.1097E+14", b"1,5", b"1.2.3", b"1111111111111111111111111"]
        {
            assert_eq!(picoseconds(bad, 3), None, "{}", String::from_utf8_lossy(bad));
        }
    }
}
