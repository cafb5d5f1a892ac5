//! `memcpy-device`: a copy of n bytes within the device's memory.
//!
//! FLOPs: 0.
//! Bytes: 2n; each byte is read and written. Tools that print n per second show half of the
//! traffic.
//! Source: NVIDIA, *CUDA C++ Best Practices Guide*, "Effective Bandwidth Calculation".

use super::{Arguments, Category, Count, DataType, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "memcpy-device",
    aliases: &["memcpy-dtod"],
    summary: "a copy within the device's memory",
    category: Category::DataMovement,
    parameters: &[Parameter::size("bytes", "bytes of the buffer")],
    example: "bytes=256Mi",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let bytes = given.number("bytes");
    let count = Count::new().read("source", bytes, DataType::Int8);
    Ok(count.write("target", bytes, DataType::Int8).work_items(bytes / 4.0))
}
