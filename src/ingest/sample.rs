//! The beginning of a file, by which its format and the way its numbers are written are recognized.

use super::split::fields;

/// First bytes that tell binary files apart.
const HEAD: usize = 512;

/// The decoded beginning of a file.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    text: String,
    /// The first bytes as they are.
    pub(super) head: Vec<u8>,
    pub(super) binary: bool,
    /// Whether more may follow.
    pub(super) truncated: bool,
}

impl Sample {
    /// A sample of these bytes; they may end in the middle of a line.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        Self {
            head: bytes.iter().take(HEAD).copied().collect(),
            binary: bytes.iter().take(4096).any(|byte| *byte == 0),
            truncated: !bytes.ends_with(b"\n"),
            text: String::from_utf8_lossy(bytes).into_owned(),
        }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The lines without their ends.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines()
    }

    /// The fields of the first line that `accepts` them, and the text after it.
    ///
    /// Only lines that may be the header are taken apart: that costs more than looking for a word.
    pub fn header(
        &self,
        may_be: impl Fn(&str) -> bool,
        accepts: impl Fn(&[String]) -> bool,
    ) -> Option<(Vec<String>, &str)> {
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            start += line.len();
            let line = line.trim_end_matches(['\r', '\n']);
            if !may_be(line) {
                continue;
            }
            let fields = fields(line);
            if accepts(&fields) {
                return Some((fields, &self.text[start..]));
            }
        }
        None
    }

    /// The records of a table that starts in the sample, at most `limit`; a cut last one is left out.
    #[must_use]
    pub fn records(&self, rest: &str, limit: usize) -> Vec<csv::StringRecord> {
        let end =
            if self.truncated { rest.rfind('\n').map_or(0, |end| end + 1) } else { rest.len() };
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .from_reader(&rest.as_bytes()[..end]);
        reader.records().map_while(Result::ok).take(limit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_record_of_a_cut_sample_is_left_out() {
        let records = |text: &str| {
            let sample = Sample::new(text.as_bytes());
            let (header, rest) =
                sample.header(|line| line.contains("ID"), |fields| fields.len() == 2).unwrap();
            (header, sample.records(rest, 10).len())
        };
        let header = vec!["ID".to_owned(), "a, b".to_owned()];
        assert_eq!(records("noise\nID\nID,\"a, b\"\r\n1,2\n3,4\n"), (header.clone(), 2));
        assert_eq!(records("ID,\"a, b\"\n1,2\n3,4"), (header, 1));
    }
}
