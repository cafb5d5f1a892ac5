//! Parses sizes such as `4096`, `1M`, `64Ki`, `2^20`, `8*2048`, which must be exact.

/// Above this, sizes and their sums are no longer exact as floating-point numbers: 2⁵³.
pub(super) const LARGEST: u128 = 1 << 53;

const SUFFIXES: &[(&str, u128)] = &[
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("Ti", 1 << 40),
    ("k", 1_000),
    ("K", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", 1_000_000_000_000),
];

const FORMS: &str = "write a whole number such as 4096, 1M (10⁶), 64Ki (64·1024), 2^20 or 8*2048";

/// Looks up the value of a name, if names are allowed.
pub(super) type Names<'a> = &'a dyn Fn(&str) -> Option<u64>;

/// Evaluates a sum of products and exact quotients, such as `2^20` or `heads*width + 2*kv`.
pub(super) fn whole(text: &str, names: Names<'_>) -> Result<u64, String> {
    let mut total: u128 = 0;
    for term in text.split('+') {
        let value = product(term, names)?;
        total = total.checked_add(value).ok_or_else(too_large)?;
    }
    if total > LARGEST {
        return Err(too_large());
    }
    u64::try_from(total).map_err(|_| too_large())
}

/// Parses a number that may have a fraction, with the same suffixes.
pub(super) fn real(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let (digits, factor) = split_suffix(text);
    let value: f64 = digits.replace('_', "").parse().map_err(|_| "write a number".to_owned())?;
    let value = value * factor as f64;
    if value.is_finite() { Ok(value) } else { Err("write a finite number".to_owned()) }
}

fn too_large() -> String {
    "too large: counts are exact up to 2^53, about 9·10¹⁵".to_owned()
}

fn product(text: &str, names: Names<'_>) -> Result<u128, String> {
    let mut value: u128 = 1;
    let mut divide = false;
    let mut rest = text;
    loop {
        let end = rest.find(['*', '/']).unwrap_or(rest.len());
        let factor = power(rest[..end].trim(), names)?;
        value = if divide {
            let exact = factor != 0 && value.is_multiple_of(factor);
            let inexact = || format!("{value} is not a multiple of {factor}");
            exact.then(|| value / factor).ok_or_else(inexact)?
        } else {
            value.checked_mul(factor).ok_or_else(too_large)?
        };
        let Some(operator) = rest[end..].chars().next() else { return Ok(value) };
        divide = operator == '/';
        rest = &rest[end + 1..];
    }
}

fn power(text: &str, names: Names<'_>) -> Result<u128, String> {
    let Some((base, exponent)) = text.split_once('^') else { return atom(text, names) };
    let exponent = atom(exponent.trim(), names)?;
    let exponent = u32::try_from(exponent).map_err(|_| too_large())?;
    atom(base.trim(), names)?.checked_pow(exponent).ok_or_else(too_large)
}

fn atom(text: &str, names: Names<'_>) -> Result<u128, String> {
    if text.starts_with(|first: char| first.is_alphabetic() || first == '_') {
        let value = names(text).map(u128::from);
        return value.ok_or_else(|| {
            format!(
                "{text:?} is neither a number nor a known size; \
            {FORMS}"
            )
        });
    }
    let (digits, factor) = split_suffix(text);
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let written: String = [before, after].concat().replace('_', "");
    let refused = || if text.is_empty() { FORMS.to_owned() } else { format!("{text:?}: {FORMS}") };
    if before.is_empty() || !written.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(refused());
    }
    let exponent: u32 = exponent.parse().map_err(|_| refused())?;
    let places = u32::try_from(after.replace('_', "").len()).map_err(|_| too_large())?;
    let ten = |power| 10_u128.checked_pow(power).ok_or_else(too_large);
    let value: u128 = written.parse().map_err(|_| too_large())?;
    let value = value.checked_mul(factor).and_then(|value| value.checked_mul(ten(exponent).ok()?));
    let value = value.ok_or_else(too_large)?;
    if value.is_multiple_of(ten(places)?) { Ok(value / ten(places)?) } else { Err(refused()) }
}

fn split_suffix(text: &str) -> (&str, u128) {
    let found = SUFFIXES.iter().find_map(|(suffix, factor)| {
        text.strip_suffix(suffix).map(|digits| (digits.trim_end(), *factor))
    });
    found.unwrap_or((text, 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Result<u64, String> {
        whole(text, &|_| None)
    }

    #[test]
    fn sizes_are_read_as_they_are_written() {
        for (text, value) in [
            ("4096", 4096),
            ("1k", 1000),
            ("1K", 1000),
            ("1M", 1_000_000),
            ("2.3k", 2300),
            ("64Ki", 65_536),
            ("1.5Gi", 3 << 29),
            ("2^20", 1 << 20),
            ("1e6", 1_000_000),
            ("1_000_000", 1_000_000),
            ("8*2048", 16_384),
            ("3 * 2^10", 3072),
            ("4096/32", 128),
            ("64+2*8", 80),
            ("0", 0),
        ] {
            assert_eq!(plain(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_not_whole_or_not_exact_is_refused() {
        for text in ["", "-1", "1.5", "1.0001k", "4m", "10/4", "1/0", "ten", "1k2", ".5k", "5*"] {
            assert!(plain(text).is_err(), "{text}");
        }
        for text in ["2^53+1", "1e16", "1e40", "2^200", "10T*10T*10T*10T"] {
            assert!(plain(text).unwrap_err().contains("too large"), "{text}");
        }
    }

    #[test]
    fn names_stand_for_sizes_where_they_are_given() {
        let names = |name: &str| (name == "hidden").then_some(4096);
        assert_eq!(whole("3*hidden", &names), Ok(12_288));
        assert_eq!(whole("hidden/32", &names), Ok(128));
        assert!(whole("hiden", &names).unwrap_err().contains("hiden"));
    }

    #[test]
    fn real_numbers_take_suffixes_too() {
        assert_eq!(real("0.2"), Ok(0.2));
        assert_eq!(real("-1"), Ok(-1.0));
        assert_eq!(real("2.5M"), Ok(2.5e6));
        assert!(real("inf").is_err());
        assert!(real("nan").is_err());
        assert!(real("x").is_err());
    }
}
