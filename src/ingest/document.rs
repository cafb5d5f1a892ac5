//! A JSON document read value by value, whose errors tell the place.

use std::io::Read;

use serde::Deserialize;

use super::scan::{Scanner, Spot, Stop};
use super::{IngestError, Reading};
use crate::plain;

/// A document of any size of which one value is in memory.
pub(super) struct Document {
    scanner: Scanner<Box<dyn Read + Send>>,
}

/// Why a document is not read to its end.
#[derive(Debug)]
pub(super) enum Fault {
    /// The document is incomplete or damaged.
    Broken(Stop),
    /// A value is not as it must be.
    At(Spot, String),
    /// What it says is refused.
    Refused(IngestError),
}

impl From<Stop> for Fault {
    fn from(stop: Stop) -> Self {
        Self::Broken(stop)
    }
}

impl From<IngestError> for Fault {
    fn from(error: IngestError) -> Self {
        Self::Refused(error)
    }
}

/// A value as it is written, and where it begins.
#[derive(Clone, Copy)]
pub(super) struct Written<'a> {
    pub(super) start: Spot,
    pub(super) text: &'a [u8],
}

impl<'a> Written<'a> {
    /// What it says.
    ///
    /// # Errors
    /// Where it is not of this form.
    pub(super) fn read<T: Deserialize<'a>>(self) -> Result<T, Fault> {
        serde_json::from_slice(self.text).map_err(|error| self.fault(&error))
    }

    /// What a parser says of the value.
    pub(super) fn fault(&self, error: &serde_json::Error) -> Fault {
        let [line, column] =
            [error.line(), error.column()].map(|number| u64::try_from(number).unwrap_or_default());
        let below = line.saturating_sub(1);
        let before = if below == 0 { self.start.column - 1 } else { 0 };
        let spot = Spot { line: self.start.line + below, column: before + column };
        Fault::At(spot, plain::json_alone(error))
    }
}

impl Document {
    pub(super) fn new(reading: &mut Reading<'_>) -> Self {
        Self { scanner: Scanner::new(reading.bytes()) }
    }

    /// Where the next value or mark is.
    ///
    /// # Errors
    /// Where the document cannot be read.
    pub(super) fn spot(&mut self) -> Result<Spot, Fault> {
        self.scanner.peek()?;
        Ok(self.scanner.spot())
    }

    /// Begins a list or an object; `false` if nothing is in it.
    ///
    /// # Errors
    /// Where something else comes, which is reported as `wrong`.
    pub(super) fn open(
        &mut self,
        [open, close]: [u8; 2],
        wrong: &'static str,
    ) -> Result<bool, Fault> {
        if !self.scanner.mark(open)? {
            return Err(Stop::Damaged(wrong).into());
        }
        Ok(!self.scanner.mark(close)?)
    }

    /// Goes on to the next item of a list or an object; `false` after its last one.
    ///
    /// # Errors
    /// Where the document breaks off or is damaged.
    pub(super) fn more(&mut self, close: u8) -> Result<bool, Fault> {
        Ok(self.scanner.more(close)?)
    }

    /// Takes a key and the colon behind it.
    ///
    /// # Errors
    /// Where the document breaks off or is damaged.
    pub(super) fn key(&mut self) -> Result<(Spot, String), Fault> {
        let written = self.value()?;
        let key = (written.start, written.read()?);
        if !self.scanner.mark(b':')? {
            return Err(Stop::Damaged("no colon after a key").into());
        }
        Ok(key)
    }

    /// Takes a value.
    ///
    /// # Errors
    /// Where the document breaks off or is damaged.
    pub(super) fn value(&mut self) -> Result<Written<'_>, Fault> {
        let start = self.spot()?;
        Ok(Written { start, text: self.scanner.value()? })
    }

    /// Ends the document.
    ///
    /// # Errors
    /// Where more follows.
    pub(super) fn end(&mut self) -> Result<(), Fault> {
        match self.scanner.peek()? {
            None => Ok(()),
            Some(_) => Err(Stop::Damaged("unexpected data after the end of the document").into()),
        }
    }

    /// The error that a fault comes to, for a document that is `what` and a next step.
    pub(super) fn error(
        &self,
        reading: &Reading<'_>,
        fault: Fault,
        [what, help]: [&str; 2],
    ) -> IngestError {
        let (spot, why) = match fault {
            Fault::Refused(error) => return error,
            Fault::Broken(Stop::Failed(error)) => return reading.failed(error),
            Fault::Broken(stop) => (self.scanner.spot(), stop.to_string()),
            Fault::At(spot, why) => (spot, why),
        };
        let Spot { line, column } = spot;
        reading
            .error(format!("damaged {what}: line {line}, column {column}: {why}"))
            .line(line)
            .help(help)
    }
}

/// A fault of a key that is given again.
pub(super) fn twice(spot: Spot, key: &str) -> Fault {
    Fault::At(spot, format!("key {key:?} is given twice"))
}

pub(super) const LIST: [u8; 2] = *b"[]";
pub(super) const OBJECT: [u8; 2] = *b"{}";

#[cfg(all(test, feature = "encodings"))]
mod tests {
    use std::io::Write;

    use crate::ingest::{Input, Options, read};

    /// Compressed files whose checksum is wrong, beyond what is looked at when they are opened.
    #[test]
    fn bytes_that_cannot_be_read_come_with_a_next_step() {
        let blanks = " ".repeat(600_000);
        for (start, end) in [
            ("{\"for\": \"rooflint/launches/1\", \"launches\": [", "]}"),
            ("{\"schemaVersion\": 1, \"traceEvents\": [{\"ph\": \"X\", \"cat\": \"cpu_op\"}", "]}"),
        ] {
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(format!("{start}{blanks}{end}").as_bytes()).unwrap();
            let mut bytes = gzip.finish().unwrap();
            let checksum = bytes.len() - 8;
            bytes[checksum] ^= 1;
            let input = Input::Memory("damaged.json.gz".to_owned(), bytes.as_slice().into());
            let error = read(&[input], &Options::default()).unwrap_err();
            assert!(error.to_string().contains("cannot read: the gzip data is damaged"), "{error}");
            assert_eq!(error.next_step(), Some("the file is damaged; copy or export it again"));
        }
    }
}
