//! How a table is written to bytes: quotes, line ends, messages around it, encoding, compression.

use std::io::Write;

use super::choices::Choices;

/// Rows of cells, the header among them.
pub(crate) type Rows = Vec<Vec<String>>;

/// The way to write a file.
#[derive(Debug, Clone)]
pub(crate) struct Sheet {
    always_quoted: bool,
    /// Of cells that need no quotes, every so many-th has them; 0 for none.
    quoted_now_and_then: usize,
    end: &'static str,
    ends_with_line: bool,
    before: Vec<&'static str>,
    after: Vec<&'static str>,
    encoding: Encoding,
    compression: Compression,
}

#[derive(Debug, Clone, Copy)]
enum Encoding {
    Utf8,
    Utf8Mark,
    Utf16Little,
    Utf16Big,
}

#[derive(Debug, Clone, Copy)]
enum Compression {
    None,
    Gzip,
    /// Two archives, one after the other.
    GzipTwice,
    Zstd,
}

/// What the profiler and the program print before the table.
const BEFORE: [&str; 3] =
    ["==PROF== Connected to process 60000 (/usr/bin/app)", "tokens/s: 41.7", ""];

impl Sheet {
    /// `before` and `after` where the profiler prints messages around its table.
    pub(crate) fn choose(choices: &mut Choices<'_>, has_messages: bool) -> Self {
        use Compression::{Gzip, GzipTwice, None, Zstd};
        use Encoding::{Utf8, Utf8Mark, Utf16Big, Utf16Little};

        let mut before = Vec::new();
        let mut after = Vec::new();
        if has_messages {
            let lines = choices.index(3);
            before.extend((0..lines).map(|_| choices.pick(&BEFORE)));
            if choices.once_in(4) {
                after.push("==PROF== Disconnected from process 60000");
            }
        }
        Self {
            always_quoted: choices.once_in(2),
            quoted_now_and_then: choices.index(4),
            end: choices.pick(&["\n", "\r\n"]),
            ends_with_line: !choices.once_in(4),
            before,
            after,
            encoding: choices.pick(&[Utf8, Utf8, Utf8, Utf8Mark, Utf16Little, Utf16Big]),
            compression: choices.pick(&[None, None, None, Gzip, GzipTwice, Zstd]),
        }
    }

    /// The table as a file has it.
    pub(crate) fn write(&self, rows: &Rows) -> Vec<u8> {
        let mut lines: Vec<String> = self.before.iter().map(|&line| line.to_owned()).collect();
        lines.extend(rows.iter().map(|row| self.line(row)));
        lines.extend(self.after.iter().map(|&line| line.to_owned()));
        let mut text = lines.join(self.end);
        if self.ends_with_line {
            text.push_str(self.end);
        }
        self.compressed(&self.encoded(&text))
    }

    fn line(&self, row: &[String]) -> String {
        let mut line = String::new();
        for (at, cell) in row.iter().enumerate() {
            if at > 0 {
                line.push(',');
            }
            let is_chosen = self.quoted_now_and_then > 0 && at % self.quoted_now_and_then == 0;
            if self.always_quoted || is_chosen || cell.contains([',', '"', '\n', '\r']) {
                line.push_str(&format!("\"{}\"", cell.replace('"', "\"\"")));
            } else {
                line.push_str(cell);
            }
        }
        line
    }

    fn encoded(&self, text: &str) -> Vec<u8> {
        let wide = |mark: [u8; 2], bytes: fn(u16) -> [u8; 2]| {
            mark.into_iter().chain(text.encode_utf16().flat_map(bytes)).collect()
        };
        match self.encoding {
            Encoding::Utf8 => text.as_bytes().to_vec(),
            Encoding::Utf8Mark => [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            Encoding::Utf16Little => wide([0xff, 0xfe], u16::to_le_bytes),
            Encoding::Utf16Big => wide([0xfe, 0xff], u16::to_be_bytes),
        }
    }

    fn compressed(&self, bytes: &[u8]) -> Vec<u8> {
        let gzip = |bytes: &[u8]| {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            // Writing to memory cannot fail.
            let _ = writer.write_all(bytes);
            writer.finish().unwrap_or_default()
        };
        match self.compression {
            Compression::None => bytes.to_vec(),
            Compression::Gzip => gzip(bytes),
            Compression::GzipTwice => {
                let (one, two) = bytes.split_at(bytes.len() / 2);
                [gzip(one), gzip(two)].concat()
            }
            Compression::Zstd => zstd::encode_all(bytes, 1).unwrap_or_default(),
        }
    }
}
