//! Where bytes come from: files, the standard input, directories and patterns, compressed or not.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::ahead::Ahead;
use super::{IngestError, Options};

/// One thing to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A file the user named.
    Named(PathBuf),
    /// A file found in a directory or by a pattern.
    Found(PathBuf),
    /// The standard input.
    Stdin,
    /// A text carried in the program, with the name shown for it.
    Text(String, &'static str),
    /// A file that was turned into a text before: a Parquet table.
    Converted(PathBuf, String),
}

impl Input {
    /// The path as shown to the user.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        match self {
            Self::Named(path) | Self::Found(path) | Self::Converted(path, _) => path.clone(),
            Self::Stdin => PathBuf::from("<stdin>"),
            Self::Text(label, _) => PathBuf::from(label),
        }
    }

    /// Whether the user asked for exactly this input.
    #[must_use]
    pub fn is_named(&self) -> bool {
        !matches!(self, Self::Found(_))
    }
}

/// File name endings looked for in directories.
const EXTENSIONS: [&str; 7] = ["ncu-rep", "csv", "txt", "csv.gz", "csv.zst", "txt.gz", "txt.zst"];

/// Turns arguments into inputs: `-` is the standard input, a directory stands for the exports in it.
///
/// # Errors
/// When a path does not exist or a directory holds nothing that looks like an export.
pub fn expand(arguments: &[PathBuf]) -> Result<Vec<Input>, IngestError> {
    let mut inputs = Vec::new();
    for argument in arguments {
        if argument.as_os_str() == "-" {
            inputs.push(Input::Stdin);
        } else if argument.is_dir() {
            let files = exports_in(argument)
                .map_err(|error| IngestError::new(argument.display(), error.to_string()))?;
            if files.is_empty() {
                return Err(IngestError::new(argument.display(), "the directory holds no export")
                    .help(format!("files ending in {} are looked for", EXTENSIONS.join(", "))));
            }
            inputs.extend(files.into_iter().map(Input::Found));
        } else {
            inputs.push(Input::Named(argument.clone()));
        }
    }
    Ok(inputs)
}

fn exports_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if path.is_file() && EXTENSIONS.iter().any(|end| name.ends_with(&format!(".{end}"))) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// An opened input: decompressed, decoded to UTF-8, without a byte-order mark.
pub(super) struct Opened {
    pub(super) bytes: Box<dyn Read + Send>,
    /// What was done to get there, such as `gzip, UTF-16LE with BOM`.
    pub(super) encoding: String,
    /// Threads that are busy with it.
    pub(super) threads: usize,
}

/// A file whose bytes are counted as they are read.
struct Counted {
    file: File,
    count: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

pub(super) fn open(input: &Input, options: &Options) -> io::Result<Opened> {
    let raw: Box<dyn Read + Send> = match input {
        Input::Stdin => Box::new(io::stdin()),
        Input::Text(_, text) => Box::new(io::Cursor::new(*text)),
        Input::Converted(_, text) => Box::new(io::Cursor::new(text.clone().into_bytes())),
        Input::Named(path) | Input::Found(path) => match &options.count {
            Some(count) => Box::new(Counted { file: File::open(path)?, count: Arc::clone(count) }),
            None => Box::new(File::open(path)?),
        },
    };
    let (head, raw) = peek(raw, 4)?;
    let (raw, compression): (Box<dyn Read + Send>, _) = match head.as_slice() {
        [0x1f, 0x8b, ..] => (decoded::gzip(raw)?, Some("gzip")),
        [0x28, 0xb5, 0x2f, 0xfd] => (decoded::zstd(raw)?, Some("zstd")),
        _ => (raw, None),
    };
    let is_ahead = compression.is_some() && options.threads() > 1;
    let raw: Box<dyn Read + Send> = if is_ahead { Box::new(Ahead::new(raw)) } else { raw };
    let (head, mut raw) = peek(raw, 3)?;
    let (bytes, text): (Box<dyn Read + Send>, _) = match head.as_slice() {
        [0xff, 0xfe, ..] => (decoded::utf16(raw)?, "UTF-16LE with BOM"),
        [0xfe, 0xff, ..] => (decoded::utf16(raw)?, "UTF-16BE with BOM"),
        [0xef, 0xbb, 0xbf] => {
            raw.read_exact(&mut [0; 3])?;
            (raw, "UTF-8 with BOM")
        }
        _ => (raw, "UTF-8"),
    };
    let encoding = compression.map_or_else(|| text.to_owned(), |how| format!("{how}, {text}"));
    Ok(Opened { bytes, encoding, threads: 1 + usize::from(is_ahead) })
}

/// What the feature `encodings` reads beside plain UTF-8.
#[cfg(feature = "encodings")]
#[expect(clippy::unnecessary_wraps, reason = "the same signatures as without the feature")]
mod decoded {
    use std::io::{self, Read};

    pub(super) fn gzip(raw: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(flate2::read::MultiGzDecoder::new(raw)))
    }

    pub(super) fn zstd(raw: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(zstd::Decoder::new(raw)?))
    }

    pub(super) fn utf16(raw: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(encoding_rs_io::DecodeReaderBytes::new(raw)))
    }
}

/// Says what is missing where the feature `encodings` is left out.
#[cfg(not(feature = "encodings"))]
mod decoded {
    use std::io::{self, Read};

    pub(super) fn gzip(_: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
        absent("gzip")
    }

    pub(super) fn zstd(_: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
        absent("zstd")
    }

    pub(super) fn utf16(_: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
        absent("UTF-16")
    }

    fn absent(what: &str) -> io::Result<Box<dyn Read + Send>> {
        let message = format!(
            "this build of rooflint does not read {what}: its feature `encodings` is left out"
        );
        Err(io::Error::new(io::ErrorKind::Unsupported, message))
    }
}

/// Reads up to `count` bytes without consuming them.
fn peek(
    mut reader: Box<dyn Read + Send>,
    count: u64,
) -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    let mut head = Vec::new();
    reader.by_ref().take(count).read_to_end(&mut head)?;
    let rest = io::Cursor::new(head.clone()).chain(reader);
    Ok((head, Box::new(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_byte_order_mark_is_no_loss() {
        let (head, mut rest) = peek(Box::new(io::Cursor::new(b"ab".to_vec())), 3).unwrap();
        let mut all = String::new();
        rest.read_to_string(&mut all).unwrap();
        assert_eq!((head.as_slice(), all.as_str()), (b"ab".as_slice(), "ab"));
    }

    #[test]
    fn a_dash_is_the_standard_input() {
        assert_eq!(expand(&["-".into()]).unwrap(), [Input::Stdin]);
    }
}
