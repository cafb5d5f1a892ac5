//! The fields of one line.

use fearless_simd::{Level, Simd, dispatch};

use super::marks::{BLOCK, Marks, parity};

/// Finds the fields of a line without its end, or returns `false`: every field must be between
/// quotes, without a quote or line break inside.
pub(in crate::ingest) fn quoted_fields(
    line: &[u8],
    delimiter: u8,
    fields: &mut Vec<(usize, usize)>,
) -> bool {
    dispatch!(Level::new(), simd => quoted_fields_with(simd, line, delimiter, fields))
}

#[expect(clippy::inline_always, reason = "so that it is compiled for each kind of processor")]
#[inline(always)]
fn quoted_fields_with<S: Simd>(
    simd: S,
    line: &[u8],
    delimiter: u8,
    fields: &mut Vec<(usize, usize)>,
) -> bool {
    fields.clear();
    let mut start = 1;
    // Whether the byte before a block ended a field, closed a quote, was inside of one.
    let (mut edge, mut closed, mut quoted) = (1, 0, 0);
    let mut padded = [0; BLOCK];
    for (number, bytes) in line.chunks(BLOCK).enumerate() {
        let (block, valid) = match <&[u8; BLOCK]>::try_from(bytes) {
            Ok(block) => (block, u64::MAX),
            Err(_) => {
                padded[..bytes.len()].copy_from_slice(bytes);
                (&padded, (1 << bytes.len()) - 1)
            }
        };
        let Marks { quotes, delimiters, ends } = Marks::of(simd, block, delimiter);
        let inside = parity(quotes) ^ quoted;
        let (opens, mut shuts) = (quotes & inside, quotes & !inside);
        let edges = delimiters & !inside;
        let (after_edge, after_close) = (edges << 1 | edge, shuts << 1 | closed);
        if (opens ^ after_edge) & valid | (edges ^ after_close) & valid | ends != 0 {
            return false;
        }
        (edge, closed) = (edges >> (BLOCK - 1), shuts >> (BLOCK - 1));
        quoted = 0_u64.wrapping_sub(inside >> (BLOCK - 1));
        while shuts != 0 {
            let end = number * BLOCK + shuts.trailing_zeros() as usize;
            fields.push((start, end));
            // The quote, the delimiter, and the quote that opens the next.
            start = end + 3;
            shuts &= shuts - 1;
        }
    }
    fields.last().is_some_and(|(_, end)| end + 1 == line.len())
}

/// The fields of one CSV line; surrounding blanks are kept.
pub(in crate::ingest) fn fields(line: &str) -> Vec<String> {
    let mut places = Vec::new();
    if quoted_fields(line.as_bytes(), b',', &mut places) {
        let field = |(start, end)| line.get(start..end).map(str::to_owned);
        return places.into_iter().filter_map(field).collect();
    }
    if !line.is_empty() && !line.contains(['"', '\r', '\n', '\u{feff}']) {
        return line.split(',').map(str::to_owned).collect();
    }
    // Making a reader costs more than most lines.
    read(line)
}

/// The fields of a line as the `csv` crate finds them.
fn read(line: &str) -> Vec<String> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(line.as_bytes());
    let mut record = csv::StringRecord::new();
    match reader.read_record(&mut record) {
        Ok(true) => record.iter().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_lines_of_quoted_fields_are_taken() {
        let mut fields = Vec::new();
        assert!(quoted_fields(b"\"a,b\",\"\",\",\"", b',', &mut fields));
        assert_eq!(fields, [(1, 4), (7, 7), (10, 11)]);
        for other in [
            "",
            "a",
            "\"",
            "\"a",
            "\"a\",",
            "\"a\",b",
            "a,\"b\"",
            "\"a\"\"b\"",
            "\"a\nb\"",
            "\"a\" ,\"b\"",
        ] {
            assert!(!quoted_fields(other.as_bytes(), b',', &mut fields), "{other}");
        }
    }

    proptest! {
        #[test]
        fn the_fields_of_a_line_are_those_of_the_csv_crate(line in "\u{feff}?[a,é \"\r\n]{0,40}|(\"[a, ]{0,9}\",?){0,9}|[a,é ]{0,40}") {
            prop_assert_eq!(fields(&line), read(&line));
        }

        #[test]
        fn what_was_quoted_comes_back(row in prop::collection::vec("[a, ]{0,40}", 1..9), bad in 0..400_usize) {
            let mut line = format!("\"{}\"", row.join("\",\"")).into_bytes();
            let mut fields = Vec::new();
            prop_assert!(quoted_fields(&line, b',', &mut fields));
            let read: Vec<_> = fields.iter().map(|(start, end)| line[*start..*end].to_vec()).collect();
            prop_assert_eq!(read, row.iter().map(|cell| cell.clone().into_bytes()).collect::<Vec<_>>());
            let at = bad % line.len();
            line[at] = if line[at] == b'"' { b'a' } else { b'"' };
            prop_assert!(!quoted_fields(&line, b',', &mut fields));
        }
    }
}
