//! Headers inside a table: concatenated exports have one each, with other columns or another order.

use super::Record;

/// The fields of a record that is a header printed again, where a row has a number at `number`.
pub(super) fn header_again(
    record: &Record<'_>,
    number: usize,
    is_header: impl Fn(&[String]) -> bool,
) -> Option<Vec<String>> {
    // All rows pass here: one byte tells most of them.
    let is_text = |cell: &[u8]| cell.first().is_some_and(|byte| !byte.is_ascii_digit());
    if !record.get(number).is_none_or(is_text) {
        return None;
    }
    let fields: Vec<String> =
        record.iter().map(|field| String::from_utf8_lossy(field).into_owned()).collect();
    is_header(&fields).then_some(fields)
}

/// The same for a record of the sample, recognized by a title that every header has.
pub(super) fn header_of(
    record: &csv::StringRecord,
    title: &str,
    is_header: impl Fn(&[String]) -> bool,
) -> Option<Vec<String>> {
    record.iter().find(|field| *field == title)?;
    let fields: Vec<String> = record.iter().map(str::to_owned).collect();
    is_header(&fields).then_some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_told_by_a_title_where_a_number_is_expected() {
        let is_header = |fields: &[String]| fields.iter().any(|field| field == "ID");
        let again = |fields: &[&str]| {
            header_again(&Record::from(&csv::ByteRecord::from(fields.to_vec())), 1, is_header)
                .is_some()
        };
        assert!(again(&["ID", "time"]) && again(&["time", "ID"]) && again(&["ID"]));
        assert!(!again(&["ID", "7"]) && !again(&["ID", ""]) && !again(&["id", "time"]));
    }
}
