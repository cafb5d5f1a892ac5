//! Reads that go on where a signal interrupts them.

use std::io::{self, ErrorKind, Read};

/// Reads some bytes; 0 at the end.
///
/// # Errors
/// Those of the source, but for interruptions.
pub(super) fn read_some(source: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Reads behind so many bytes of a buffer, which it counts, until it is full; `true` if the source ends before.
///
/// # Errors
/// Those of the source, but for interruptions; what came before is in the buffer.
pub(super) fn read_up_to(
    source: &mut (impl Read + ?Sized),
    buffer: &mut [u8],
    length: &mut usize,
) -> io::Result<bool> {
    while *length < buffer.len() {
        match read_some(source, &mut buffer[*length..])? {
            0 => return Ok(true),
            read => *length += read,
        }
    }
    Ok(false)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Gives a byte at a time, after an interruption each, and then fails if it is to.
    pub(in crate::ingest) struct Interrupted {
        pub(in crate::ingest) bytes: Vec<u8>,
        pub(in crate::ingest) fails: Option<ErrorKind>,
        is_next: bool,
    }

    impl Interrupted {
        pub(in crate::ingest) fn new(text: &[u8], fails: Option<ErrorKind>) -> Self {
            let bytes = text.iter().rev().copied().collect();
            Self { bytes, fails, is_next: false }
        }
    }

    impl Read for Interrupted {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.is_next = !self.is_next;
            if self.is_next {
                return Err(ErrorKind::Interrupted.into());
            }
            match (self.bytes.pop(), self.fails) {
                (Some(byte), _) => {
                    buffer[0] = byte;
                    Ok(1)
                }
                (None, Some(kind)) => Err(kind.into()),
                (None, None) => Ok(0),
            }
        }
    }

    #[test]
    fn interruptions_end_no_read_and_errors_keep_what_came_before() {
        let read = |size, fails| {
            let (mut buffer, mut length) = (vec![0; size], 1);
            let mut source = Interrupted::new(b"abc", fails);
            let ended = read_up_to(&mut source, &mut buffer, &mut length);
            (ended.map_err(|error| error.kind()), buffer[1..length].to_vec())
        };
        assert_eq!(read(3, None), (Ok(false), b"ab".to_vec()));
        assert_eq!(read(9, None), (Ok(true), b"abc".to_vec()));
        let failed = read(9, Some(ErrorKind::InvalidData));
        assert_eq!(failed, (Err(ErrorKind::InvalidData), b"abc".to_vec()));
        assert_eq!(read_some(&mut Interrupted::new(b"", None), &mut [0]).unwrap(), 0);
    }
}
