//! How a file ends: what breaks off within its last number, or after a comma, looks like a whole file.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// The last byte that was read, `\n` before any, and how many lines end before it.
#[derive(Debug, Clone)]
pub(super) struct Tail(Arc<(AtomicU8, AtomicU64)>);

impl Default for Tail {
    fn default() -> Self {
        Self(Arc::new((AtomicU8::new(b'\n'), AtomicU64::new(0))))
    }
}

impl Tail {
    /// Whether it is of a number.
    pub(super) fn is_in_number(&self) -> bool {
        matches!(self.0.0.load(Ordering::Relaxed), b'0'..=b'9' | b'.')
    }

    /// The line that ends with a delimiter, if nothing comes after that.
    pub(super) fn open_line(&self) -> Option<u64> {
        let last = self.0.0.load(Ordering::Relaxed);
        matches!(last, b',' | b';' | b'\t').then(|| self.0.1.load(Ordering::Relaxed) + 1)
    }

    /// Follows the bytes of a file.
    pub(super) fn follow<R: Read>(&self, bytes: R) -> Followed<R> {
        Followed { bytes, end: Arc::clone(&self.0) }
    }
}

/// Bytes whose last one is known to a [`Tail`].
pub(super) struct Followed<R> {
    bytes: R,
    end: Arc<(AtomicU8, AtomicU64)>,
}

impl<R: Read> Read for Followed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        if let Some(last) = read.checked_sub(1).and_then(|last| buffer.get(last)) {
            let (byte, lines) = &*self.end;
            byte.store(*last, Ordering::Relaxed);
            let ends = memchr::memchr_iter(b'\n', &buffer[..read]).count();
            lines.fetch_add(ends as u64, Ordering::Relaxed);
        }
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::{Options, read_text};

    const HEADER: &str = "ID,Process ID,Kernel Name,Grid Size,Block Size,Device,CC,gpu__time_duration.sum\n,,,,,,,ns\n";

    fn notes(text: &str) -> Vec<String> {
        let profile = read_text("run.csv", text, &Options::default()).unwrap();
        assert_eq!(profile.launches.len(), 1);
        profile.checks.into_iter().filter(|note| note.contains("line end")).collect()
    }

    #[test]
    fn a_number_at_the_end_of_a_file_without_a_line_end_may_be_cut() {
        let row = "0,7,k,\"(1, 1, 1)\",\"(32, 1, 1)\",0,8.0,";
        for (cell, is_open) in
            [("1234", true), ("12.", true), ("1234\n", false), ("\"1234\"", false)]
        {
            let found = notes(&format!("{HEADER}{row}{cell}"));
            assert_eq!(found.len(), usize::from(is_open), "{cell:?}: {found:?}");
        }
        let told = notes(&format!("{HEADER}{row}1234"));
        assert_eq!(
            told,
            [
                "run.csv: no line end after the last number: if the file was cut off there, digits are missing"
            ]
        );
    }

    /// Cut after the comma before the last cell, and after one further to the left.
    #[test]
    fn a_file_that_ends_after_a_comma_breaks_off_there() {
        let row = "0,7,k,\"(1, 1, 1)\",\"(32, 1, 1)\",0,8.0,1000\n1,7,k,\"(1, 1, 1)\",";
        for cut in ["", "\"(32, 1, 1)\",0,8.0,"] {
            let text = format!("{HEADER}{row}{cut}");
            let profile = read_text("run.csv", &text, &Options::default()).unwrap();
            let told = "run.csv: the file breaks off in line 4, between two cells: what follows is missing";
            assert_eq!(profile.checks, [told], "{cut:?}");
            let whole = read_text("run.csv", &(text + "\n"), &Options::default()).unwrap();
            assert!(whole.checks.is_empty(), "{:?}", whole.checks);
        }
    }
}
