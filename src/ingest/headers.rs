//! Headers: concatenated exports have one each inside the table, with other columns or another order; one that names a
//! column twice is refused.

use std::collections::HashMap;

use super::sample::as_text;
use super::{IngestError, Reading, Record};

/// Refuses a header that has a title twice: which of the columns to read would be a guess.
///
/// # Errors
/// When a title is there twice.
pub(super) fn titled_once<'t>(
    reading: &Reading<'_>,
    line: u64,
    titles: impl IntoIterator<Item = &'t str>,
) -> Result<(), IngestError> {
    let mut seen = HashMap::new();
    for (at, title) in titles.into_iter().enumerate().filter(|(_, title)| !title.is_empty()) {
        if let Some(first) = seen.insert(title, at) {
            let [first, at] = [first, at].map(|at| at + 1);
            return Err(reading
                .error(format!("two columns are named {title:?}: columns {first} and {at}"))
                .line(line)
                .help("delete or rename one of them: nothing says which of them to read"));
        }
    }
    Ok(())
}

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
    record: &Record<'_>,
    title: &str,
    is_header: impl Fn(&[String]) -> bool,
) -> Option<Vec<String>> {
    record.iter().find(|field| *field == title.as_bytes())?;
    let fields: Vec<String> = record.iter().map(|field| as_text(field).to_owned()).collect();
    is_header(&fields).then_some(fields)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::ingest::{Options, read_text};

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

    /// The first column again behind a table's header; the second table of a file is judged as the first.
    #[test]
    fn a_header_that_names_a_column_twice_is_refused() {
        let tables = [
            ("nsys_sum/h100-cuda_gpu_kern_sum.csv", "Time (%)", "Time"),
            ("nsys_trace/h100-2022-microseconds.csv", "Start", "Start"),
            ("nvprof_trace/p100-cuda8.csv", "\"Start\"", "Start"),
            ("nvprof_summary/p100.csv", "\"Type\"", "Type"),
            ("nvprof_metrics/p100.csv", "\"Device\"", "Device"),
            ("ncu_long/h100-details-rules-with-speedups.csv", "\"ID\"", "ID"),
            ("rocprof/v3-counters.csv", "\"Correlation_Id\"", "Correlation_Id"),
        ];
        for (path, begins, title) in tables {
            let at = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path);
            let text = std::fs::read_to_string(at).unwrap();
            let header = text.lines().find(|line| line.starts_with(begins)).unwrap();
            let row = text.lines().position(|line| line == header).unwrap();
            let first = header.split(',').next().unwrap();
            let twice = text.replacen(header, &format!("{header},{first}"), 1);
            let name = path.rsplit('/').next().unwrap();
            let read = |text: &str| read_text(name, text, &Options::default());
            read(&text).unwrap();

            let error = read(&twice).unwrap_err().to_string();
            let says =
                format!("{name}:{}: two columns are named \"{title}\": columns 1 and", row + 1);
            assert!(error.starts_with(&says), "{path}: {error}");

            let behind = twice.lines().skip(row).collect::<Vec<_>>().join("\n");
            let error = read(&format!("{}\n{behind}\n", text.trim_end())).unwrap_err().to_string();
            let is_refused = error.contains("two columns are named");
            assert!(is_refused || error.contains("with other columns"), "{path}: {error}");
        }
    }
}
