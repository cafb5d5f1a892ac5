//! The fingerprint of a saved run over its whole document: a digit that changed is not read as a measurement.

use sha2::{Digest, Sha256};

/// The key that holds the fingerprint, as a compact document writes it.
const KEY: &str = "\"content\":\"";

/// What is wrong with content that does not match its fingerprint.
pub(super) const DAMAGED: &str = "damaged: its content does not match its fingerprint; take the file back from version \
                                  control, or save the run again";

/// Returns the first half of the SHA-256 of a text, in hexadecimal.
#[must_use]
pub fn fingerprint(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter().take(16).fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// A document of one object with the fingerprint of all of it as its last key.
pub(super) fn sealed(text: &str) -> String {
    let body = text.trim_end().trim_end_matches('}').trim_end();
    let with = |hash: &str| format!("{body},\n  \"content\": \"{hash}\"\n}}\n");
    with(&fingerprint(&compact(&with(""))))
}

/// Whether a document has a fingerprint, which fits it: documents of earlier versions have none.
///
/// # Errors
/// What is wrong, where the fingerprint does not fit.
pub(super) fn check(text: &str) -> Result<bool, String> {
    let compact = compact(text);
    let Some(at) = compact.rfind(KEY) else { return Ok(false) };
    let (before, rest) = compact.split_at(at + KEY.len());
    let Some((hash, after)) = rest.split_once('"') else { return Ok(false) };
    if fingerprint(&format!("{before}\"{after}")) == hash {
        Ok(true)
    } else {
        Err(DAMAGED.to_owned())
    }
}

/// The document without white space between its parts: version control may change the ends of lines.
fn compact(text: &str) -> String {
    let (mut in_string, mut is_escaped) = (false, false);
    let keep = |byte: &u8| {
        let kept = in_string || !byte.is_ascii_whitespace();
        match byte {
            b'\\' if in_string && !is_escaped => is_escaped = true,
            b'"' if !is_escaped => in_string = !in_string,
            _ => is_escaped = false,
        }
        kept
    };
    // Without white space, which is ASCII, it stays UTF-8.
    String::from_utf8(text.bytes().filter(keep).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::Run;
    use super::super::made::{kernel, run};
    use super::*;

    fn document() -> String {
        run(vec![kernel("a \"quoted\\\" name", &[0.1, 0.25]), kernel("b", &[1.0 / 3.0])]).json()
    }

    #[test]
    fn every_digit_and_letter_counts() {
        let text = document();
        assert_eq!(check(&text), Ok(true));
        let mut changed = 0;
        for (at, byte) in text.bytes().enumerate() {
            if !byte.is_ascii_digit() {
                continue;
            }
            // Another digit: the next one.
            let mut other = text.clone().into_bytes();
            other[at] = b'0' + (byte - b'0' + 1) % 10;
            let other = String::from_utf8(other).unwrap();
            assert!(Run::from_json(&other).is_err(), "the digit at {at} of {text}");
            changed += 1;
        }
        assert!(changed > 200, "{changed}");
        assert!(check(&text.replace("quoted", "Quoted")).is_err());
    }

    #[test]
    fn ends_of_lines_do_not_count_and_earlier_documents_are_read() {
        let text = document();
        assert_eq!(check(&text.replace('\n', "\r\n")), Ok(true));
        assert_eq!(Run::from_json(&text.replace('\n', "\r\n")), Run::from_json(&text));
        let at = text.rfind(",\n  \"content\"").unwrap();
        let early = format!("{}\n}}\n", &text[..at]);
        assert_eq!(check(&early), Ok(false));
        assert_eq!(Run::from_json(&early), Run::from_json(&text));
    }
}
