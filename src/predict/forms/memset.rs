//! `memset`: n bytes filled with one value.
//!
//! FLOPs: 0.
//! Bytes: n, written.
//! Source: CUDA Runtime API, `cudaMemset`.

use super::{Arguments, Category, Count, DataType, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "memset",
    aliases: &["fill"],
    summary: "a buffer filled with one value",
    category: Category::DataMovement,
    parameters: &[Parameter::size("bytes", "bytes of the buffer")],
    example: "bytes=256Mi",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let bytes = given.number("bytes");
    Ok(Count::new().write("buffer", bytes, DataType::Int8).work_items(bytes / 4.0))
}
