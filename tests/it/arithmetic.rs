//! Arithmetic as documents write it, worked out with its units: `t = 2 × 3 GB ÷ 6 GB/s = 1 s`.

use std::collections::BTreeMap;

/// A number with the exponents of bytes, operations, seconds and cycles in its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Quantity {
    pub(crate) value: f64,
    unit: [i8; 4],
}

const NONE: [i8; 4] = [0; 4];
const BYTE: [i8; 4] = [1, 0, 0, 0];
const FLOP: [i8; 4] = [0, 1, 0, 0];
const SECOND: [i8; 4] = [0, 0, 1, 0];

/// Units by the words of documents. What is counted (blocks, sectors) is a plain number.
fn unit(word: &str) -> Option<(f64, [i8; 4])> {
    Some(match word {
        "B" => (1.0, BYTE),
        "MB" => (1e6, BYTE),
        "GFLOP" => (1e9, FLOP),
        "FLOP" => (1.0, FLOP),
        "GB/s" => (1e9, [1, 0, -1, 0]),
        "TB/s" => (1e12, [1, 0, -1, 0]),
        "GFLOP/s" => (1e9, [0, 1, -1, 0]),
        "TFLOP/s" => (1e12, [0, 1, -1, 0]),
        "B/cycle" => (1.0, [1, 0, 0, -1]),
        "FLOP/cycle" => (1.0, [0, 1, 0, -1]),
        "GHz" => (1e9, [0, 0, -1, 1]),
        "ms" => (1e-3, SECOND),
        "ns" => (1e-9, SECOND),
        "µs" => (1e-6, SECOND),
        "%" => (0.01, NONE),
        "sectors" | "requests" | "blocks" | "SMs" | "launches" => (1.0, NONE),
        _ => return None,
    })
}

/// Works out lines `name = expression = …`; every further `=` must hold to the digits shown. What
/// follows `#` is a remark.
pub(crate) fn work_out(text: &str) -> Result<BTreeMap<String, Quantity>, String> {
    let mut known = BTreeMap::new();
    for line in text.lines() {
        let (sum, _) = line.split_once('#').unwrap_or((line, ""));
        let mut sides = sum.split('=').map(str::trim);
        let name =
            sides.next().filter(|name| !name.is_empty()).ok_or(format!("{line}: no name"))?;
        let first = sides.next().ok_or(format!("{line}: no expression"))?;
        let exact = evaluate(first, &known).map_err(|error| format!("{line}: {error}"))?;
        for side in sides {
            let shown = evaluate(side, &known).map_err(|error| format!("{line}: {error}"))?;
            // Half a digit of six, and what its rounded parts add to it.
            if shown.unit != exact.unit || (shown.value / exact.value - 1.0).abs() > 1e-5 {
                return Err(format!("{line}: is {exact:?}, shown as {shown:?}"));
            }
        }
        known.insert(name.to_owned(), exact);
    }
    Ok(known)
}

fn evaluate(text: &str, known: &BTreeMap<String, Quantity>) -> Result<Quantity, String> {
    let mut reader = Reader { rest: text, known };
    let result = reader.sum()?;
    if reader.rest.trim().is_empty() { Ok(result) } else { Err(format!("at {:?}", reader.rest)) }
}

struct Reader<'a> {
    rest: &'a str,
    known: &'a BTreeMap<String, Quantity>,
}

impl<'a> Reader<'a> {
    fn takes(&mut self, sign: char) -> bool {
        self.rest = self.rest.trim_start();
        let after = self.rest.strip_prefix(sign);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn word(&mut self, belongs: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn sum(&mut self) -> Result<Quantity, String> {
        let mut left = self.product()?;
        loop {
            let sign = if self.takes('+') {
                1.0
            } else if self.takes('−') {
                -1.0
            } else {
                return Ok(left);
            };
            let right = self.product()?;
            if left.unit != right.unit {
                return Err(format!("{left:?} and {right:?} do not add up"));
            }
            left.value += sign * right.value;
        }
    }

    fn product(&mut self) -> Result<Quantity, String> {
        let mut left = self.factor()?;
        loop {
            let sign: i8 = if self.takes('×') {
                1
            } else if self.takes('÷') {
                -1
            } else {
                return Ok(left);
            };
            let right = self.factor()?;
            left.value *= right.value.powi(sign.into());
            for (one, other) in left.unit.iter_mut().zip(right.unit) {
                *one += sign * other;
            }
        }
    }

    fn factor(&mut self) -> Result<Quantity, String> {
        if self.takes('(') {
            return self.closed(')');
        }
        if self.takes('⌈') {
            let inner = self.closed('⌉')?;
            return Ok(Quantity { value: inner.value.ceil(), ..inner });
        }
        if self.rest.starts_with(|c: char| c.is_ascii_digit()) {
            return self.number();
        }
        let name = self.word(|c| c.is_ascii_alphanumeric() || c == '_');
        if matches!(name, "max" | "min") && self.takes('(') {
            return self.extreme(name == "max");
        }
        self.known.get(name).copied().ok_or_else(|| format!("{name:?} is not known"))
    }

    fn closed(&mut self, end: char) -> Result<Quantity, String> {
        let inner = self.sum()?;
        if self.takes(end) { Ok(inner) } else { Err(format!("no {end} at {:?}", self.rest)) }
    }

    fn extreme(&mut self, is_max: bool) -> Result<Quantity, String> {
        let mut best = self.sum()?;
        while self.takes(',') {
            let other = self.sum()?;
            if other.unit != best.unit {
                return Err(format!("{best:?} and {other:?} do not compare"));
            }
            let value =
                if is_max { best.value.max(other.value) } else { best.value.min(other.value) };
            best.value = value;
        }
        if self.takes(')') { Ok(best) } else { Err(format!("no ) at {:?}", self.rest)) }
    }

    fn number(&mut self) -> Result<Quantity, String> {
        // A comma groups digits if one follows at once.
        let mut digits = self.word(|c| c.is_ascii_digit() || c == '.').replace(',', "");
        while self.rest.starts_with(',') && self.rest[1..].starts_with(|c: char| c.is_ascii_digit())
        {
            self.rest = &self.rest[1..];
            digits.push_str(self.word(|c| c.is_ascii_digit() || c == '.'));
        }
        let value: f64 = digits.parse().map_err(|_| format!("{digits:?} is no number"))?;
        let after = self.rest.strip_prefix(' ').unwrap_or(self.rest);
        let end = after.find(|c: char| !(c.is_alphabetic() || "%/".contains(c)));
        let word = &after[..end.unwrap_or(after.len())];
        if word.is_empty() {
            return Ok(Quantity { value, unit: NONE });
        }
        let (scale, unit) = unit(word).ok_or_else(|| format!("{word:?} is no unit"))?;
        self.rest = &after[word.len()..];
        Ok(Quantity { value: value * scale, unit })
    }
}

#[test]
fn documents_are_worked_out_with_their_units() {
    let known =
        work_out("a = 2 × 3,000 MB ÷ 6 GB/s = 1,000,000 µs # a second\nb = max(a, 7 ns) ÷ a = 1")
            .unwrap();
    assert_eq!(known["a"], Quantity { value: 1.0, unit: SECOND });
    assert_eq!(work_out("c = ⌈7 ÷ 2⌉ × (5 − 1) = 16").unwrap()["c"].value, 16.0);
    for wrong in
        ["a = 1 B + 1 µs", "a = 1 B = 2 B", "a = 1 B = 1 µs", "a = b", "a = 3 furlongs", "a"]
    {
        assert!(work_out(wrong).is_err(), "{wrong}");
    }
}
