//! Where bytes come from: files, the standard input, directories and patterns, compressed or not.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::ahead::Ahead;
use super::error::Fault;
use super::{IngestError, Options, import};
#[cfg(feature = "frames")]
use crate::table::frames::{FrameError, Rows};

/// One thing to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A file the user named.
    Named(PathBuf),
    /// A file found in a directory or by a pattern.
    Found(PathBuf),
    /// The standard input.
    Stdin,
    /// Content that is in memory, with the name shown for it.
    Memory(String, Arc<[u8]>),
}

impl Input {
    /// A text in memory, with the name shown for it.
    #[must_use]
    pub fn text(label: &str, text: &str) -> Self {
        Self::Memory(label.to_owned(), text.as_bytes().into())
    }

    /// The path as shown to the user.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        match self {
            Self::Named(path) | Self::Found(path) => path.clone(),
            Self::Stdin => PathBuf::from("<stdin>"),
            Self::Memory(label, _) => PathBuf::from(label),
        }
    }

    /// Whether the user asked for exactly this input.
    #[must_use]
    pub fn is_named(&self) -> bool {
        !matches!(self, Self::Found(_))
    }
}

/// File name endings looked for in directories.
const EXTENSIONS: &[&str] = &[
    "ncu-rep",
    "sqlite",
    "csv",
    "txt",
    "csv.gz",
    "csv.zst",
    "txt.gz",
    "txt.zst",
    "json",
    "json.gz",
    "hatchet",
    #[cfg(feature = "frames")]
    "parquet",
];

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
                    .help(format!(
                        "rooflint looks for files ending in .{}, and does not search subfolders",
                        EXTENSIONS.join(", .")
                    )));
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
        // A link that leads nowhere is kept, to be named as unreadable; so is a pipe.
        let is_one = path.metadata().map_or(true, |of| !of.is_dir());
        if is_one && EXTENSIONS.iter().any(|end| name.ends_with(&format!(".{end}"))) {
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
    /// What a launch table in Parquet says of itself.
    pub(super) metadata: BTreeMap<String, String>,
    /// Threads that are busy with it.
    pub(super) threads: usize,
    /// Whether nothing was done to get there.
    #[cfg(feature = "sqlite")]
    pub(super) is_plain: bool,
}

/// Bytes that are counted as they are read, until nobody waits for them any more.
struct Counted {
    bytes: Box<dyn Read + Send>,
    counts: Vec<Arc<AtomicU64>>,
    stop: Option<Arc<AtomicBool>>,
    /// Bytes that a file had when it was opened, and those that were read of it.
    expected: u64,
    read: u64,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(io::Error::other("reading was stopped"));
        }
        let read = self.bytes.read(buffer)?;
        self.read += read as u64;
        if read == 0 && !buffer.is_empty() && self.read < self.expected {
            let message = format!(
                "the file became shorter while it was read: {} of {} bytes were left",
                self.read, self.expected
            );
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
        }
        for count in &self.counts {
            count.fetch_add(read as u64, Ordering::Relaxed);
        }
        Ok(read)
    }
}

/// What a decompressor gives, with its errors in plain words.
struct Decompressed {
    bytes: Box<dyn Read + Send>,
    name: &'static str,
    /// Compressed bytes read so far.
    read: Arc<AtomicU64>,
    given: u64,
}

impl Read for Decompressed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.bytes.read(buffer) {
            Ok(given) => {
                self.given += given as u64;
                Ok(given)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Err(error) => {
                let (name, given) = (self.name, self.given);
                let read = self.read.load(Ordering::Relaxed);
                let cut = error.kind() == io::ErrorKind::UnexpectedEof;
                let (kind, message) = if error.to_string().contains("too much memory") {
                    let message = format!(
                        "the {name} data needs a window above 128 MiB: it was compressed with --long"
                    );
                    (io::ErrorKind::Unsupported, message)
                } else if cut {
                    let message = format!(
                        "the {name} data is cut off after {read} bytes ({given} bytes of content)"
                    );
                    (io::ErrorKind::UnexpectedEof, message)
                } else {
                    let message = format!(
                        "the {name} data is damaged before byte {read}, after {given} bytes of content ({error})"
                    );
                    (io::ErrorKind::InvalidData, message)
                };
                Err(io::Error::new(kind, message))
            }
        }
    }
}

pub(super) fn open(input: &Input, options: &Options) -> Result<Opened, Fault> {
    if let Input::Named(path) | Input::Found(path) = input
        && let Some(import) = import::of(path, options)
    {
        return Ok(Opened {
            bytes: Box::new(import?),
            #[cfg(feature = "sqlite")]
            is_plain: false,
            encoding: "through `ncu --import`, UTF-8".to_owned(),
            metadata: BTreeMap::new(),
            threads: 1,
        });
    }
    let mut expected = 0;
    let raw: Box<dyn Read + Send> = match input {
        Input::Stdin => Box::new(io::stdin()),
        Input::Memory(_, bytes) => Box::new(io::Cursor::new(Arc::clone(bytes))),
        // To open a pipe waits for who writes into it.
        Input::Found(path) if path.metadata().is_ok_and(|of| !of.is_file()) => {
            return Err(Fault {
                message: "a pipe or device, which is not looked for in folders".to_owned(),
                help: "name it to read it".into(),
                is_missing: false,
                is_foreign: false,
            });
        }
        Input::Named(path) | Input::Found(path) => {
            let file = File::open(path)?;
            expected = file.metadata().ok().filter(Metadata::is_file).map_or(0, |of| of.len());
            Box::new(file)
        }
    };
    let read = Arc::new(AtomicU64::new(0));
    let counts = std::iter::once(&read).chain(&options.count).cloned().collect();
    let raw =
        Box::new(Counted { bytes: raw, counts, stop: options.stop.clone(), expected, read: 0 });
    let (head, raw) = peek(raw, 4)?;
    let decompressed = |bytes, name| -> (Box<dyn Read + Send>, _) {
        (Box::new(Decompressed { bytes, name, read, given: 0 }), Some(name))
    };
    let (raw, compression): (Box<dyn Read + Send>, _) = match head.as_slice() {
        [0x1f, 0x8b, ..] => decompressed(decoded::gzip(raw)?, "gzip"),
        // The second is how a frame begins that is passed over, as `pzstd` writes one first.
        [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
            decompressed(decoded::zstd(raw)?, "zstd")
        }
        _ => (raw, None),
    };
    let is_ahead = compression.is_some() && options.threads() > 1;
    let raw: Box<dyn Read + Send> = if is_ahead { Box::new(Ahead::new(raw)) } else { raw };
    let (head, mut raw) = peek(raw, 4)?;
    #[cfg_attr(not(feature = "frames"), expect(unused_mut, reason = "only Parquet has any"))]
    let mut metadata = BTreeMap::new();
    let (bytes, text): (Box<dyn Read + Send>, _) = match head.as_slice() {
        #[cfg(feature = "frames")]
        b"PAR1" => {
            let mut rows = parquet(raw)?;
            metadata = rows.take_metadata();
            (Box::new(rows), "UTF-8")
        }
        [0xff, 0xfe, ..] => (decoded::utf16(raw)?, "UTF-16LE with BOM"),
        [0xfe, 0xff, ..] => (decoded::utf16(raw)?, "UTF-16BE with BOM"),
        [0xef, 0xbb, 0xbf, ..] => {
            raw.read_exact(&mut [0; 3])?;
            (raw, "UTF-8 with BOM")
        }
        _ => (raw, "UTF-8"),
    };
    let encoding = compression.map_or_else(|| text.to_owned(), |how| format!("{how}, {text}"));
    Ok(Opened {
        bytes,
        #[cfg(feature = "sqlite")]
        is_plain: encoding == "UTF-8",
        encoding,
        metadata,
        threads: 1 + usize::from(is_ahead),
    })
}

/// A launch table in Parquet as the CSV it would be, so that only the table knows frames.
#[cfg(feature = "frames")]
fn parquet(raw: Box<dyn Read + Send>) -> Result<Rows, Fault> {
    /// The format needs all of a file at once.
    const LARGEST: u64 = 1 << 30;

    let refused = |message: String| {
        let help = "give a table that `rooflint convert` wrote, or the export it was made from";
        Fault { message, help: help.into(), is_missing: false, is_foreign: false }
    };
    let mut bytes = Vec::new();
    raw.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(refused("this Parquet file exceeds 1 GiB".to_owned()));
    }
    Rows::open(bytes).map_err(|error| Fault {
        // Any data may lie beside exports in a folder.
        is_foreign: matches!(error, FrameError::NoLaunches(_)),
        ..refused(error.to_string())
    })
}

/// What the feature `encodings` reads beside plain UTF-8.
#[cfg(feature = "encodings")]
#[expect(clippy::unnecessary_wraps, reason = "the same signatures as without the feature")]
mod decoded {
    use std::io::{self, BufRead, Read};

    use flate2::bufread::GzDecoder;

    type Source = io::BufReader<Box<dyn Read + Send>>;

    /// The members of a gzip file. Zeros after the last one pad it, as `gzip` itself takes them.
    enum Members {
        One(Box<GzDecoder<Source>>),
        Padding(Source),
    }

    impl Read for Members {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            loop {
                match self {
                    Self::One(member) => {
                        let read = member.read(buffer)?;
                        if read > 0 || buffer.is_empty() {
                            return Ok(read);
                        }
                        let empty: Box<dyn Read + Send> = Box::new(io::empty());
                        let empty = io::BufReader::with_capacity(0, empty);
                        let mut rest =
                            std::mem::replace(&mut **member, GzDecoder::new(empty)).into_inner();
                        // The rest is no longer in `self`: an interruption must not lose it.
                        while let Err(error) = rest.fill_buf() {
                            if error.kind() != io::ErrorKind::Interrupted {
                                return Err(error);
                            }
                        }
                        let is_next = rest.buffer().first() == Some(&0x1f);
                        *self = if is_next {
                            Self::One(Box::new(GzDecoder::new(rest)))
                        } else {
                            Self::Padding(rest)
                        };
                    }
                    Self::Padding(rest) => {
                        let padding = rest.fill_buf()?;
                        let length = padding.len();
                        if padding.iter().any(|byte| *byte != 0) {
                            return Err(io::Error::other(
                                "what follows the end of the compressed data is not gzip",
                            ));
                        }
                        if length == 0 {
                            return Ok(0);
                        }
                        rest.consume(length);
                    }
                }
            }
        }
    }

    pub(super) fn gzip(raw: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(Members::One(Box::new(GzDecoder::new(io::BufReader::new(raw))))))
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

    /// Two members, a byte at a time, and a signal before each.
    #[cfg(feature = "encodings")]
    #[test]
    fn an_interruption_between_two_members_loses_nothing() {
        use std::io::Write;

        let member = |text: &[u8]| {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(text).unwrap();
            gzip.finish().unwrap()
        };
        let bytes = [member(b"one "), member(b"two")].concat();
        let source = crate::ingest::full::tests::Interrupted::new(&bytes, None);
        let mut text = String::new();
        decoded::gzip(Box::new(source)).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "one two");
    }

    /// As a log that is written anew, or a copy that is taken back.
    #[test]
    fn a_file_that_became_shorter_while_it_was_read_is_not_whole() {
        let read = |expected| {
            let (bytes, counts) = (Box::new(io::Cursor::new(b"ab".to_vec())), Vec::new());
            let mut counted = Counted { bytes, counts, stop: None, expected, read: 0 };
            let mut all = Vec::new();
            counted.read_to_end(&mut all).map_err(|error| error.to_string())
        };
        assert_eq!((read(0), read(2)), (Ok(2), Ok(2)));
        let error = read(3).unwrap_err();
        assert_eq!(error, "the file became shorter while it was read: 2 of 3 bytes were left");
    }

    #[test]
    fn a_dash_is_the_standard_input() {
        assert_eq!(expand(&["-".into()]).unwrap(), [Input::Stdin]);
    }
}
