//! `memcpy-host`: a copy of n bytes between the host and the device, in either direction.
//!
//! FLOPs: 0.
//! Bytes: n in the device's memory and n over the link, which is the ceiling: PCIe 3.0, 4.0, 5.0
//! ×16 carry 15.75, 31.5, 63 GB/s before packet headers, of which 80 to 90 % are reached.
//! Source: *PCI Express Base Specification*: 8, 16, 32 GT/s per lane with 128b/130b encoding.

use super::{Arguments, Category, Count, DataType, Form, Link, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "memcpy-host",
    aliases: &["memcpy-htod", "memcpy-dtoh"],
    summary: "a copy between the host and the device",
    category: Category::DataMovement,
    parameters: &[Parameter::size("bytes", "bytes of the buffer")],
    example: "bytes=256Mi",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let bytes = given.number("bytes");
    Ok(Count::new().write("buffer", bytes, DataType::Int8).over(Link::Pcie, bytes))
}
