//! Launch tables as Parquet: turned into text before they are read, so that only the table knows frames.

#[cfg(feature = "frames")]
use std::{fs::File, io::Read, path::Path};

use super::exit::Failure;
use crate::ingest::Input;

/// The inputs, Parquet files among them as text; other builds leave them, and reading refuses them.
#[cfg(feature = "frames")]
pub(super) fn converted(inputs: Vec<Input>) -> Result<Vec<Input>, Failure> {
    let converted = inputs.into_iter().map(|input| match input {
        Input::Named(path) | Input::Found(path) if is_parquet(&path) => {
            let text = text(&path)?;
            Ok(Input::Converted(path, text))
        }
        other => Ok(other),
    });
    converted.collect()
}

#[cfg(not(feature = "frames"))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as with frames")]
pub(super) fn converted(inputs: Vec<Input>) -> Result<Vec<Input>, Failure> {
    Ok(inputs)
}

/// Whether a file begins as Parquet does; one that cannot be read is told of when it is read.
#[cfg(feature = "frames")]
fn is_parquet(path: &Path) -> bool {
    let mut head = [0; 4];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == *b"PAR1"
}

#[cfg(feature = "frames")]
fn text(path: &Path) -> Result<String, Failure> {
    use crate::ingest::IngestError;
    use crate::plain;
    use crate::table::frames;

    let refused = |message: String| {
        let help = "give a table that `rooflint convert` wrote, or the export it was made from";
        Failure::Ingest(IngestError::new(path.display(), message).help(help))
    };
    let bytes = std::fs::read(path)
        .map_err(|error| refused(format!("cannot read: {}", plain::io(&error))))?;
    frames::read_parquet(bytes).map(|table| table.csv()).map_err(|error| refused(error.to_string()))
}
