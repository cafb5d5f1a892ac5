//! `copy`: y = x over a vector.
//!
//! FLOPs: 0.
//! Bytes: 2Ne; x is read, y is written.
//! Source: J. McCalpin, *STREAM: Sustainable Memory Bandwidth in High Performance Computers*, 1995
//! (two words per element; GPUs do not read what they overwrite).

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "copy",
    aliases: &["scopy"],
    summary: "y = x over a vector",
    category: Category::DataMovement,
    parameters: &[Parameter::size("n", "elements"), DTYPE.or("fp32")],
    example: "n=16M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    Ok(Count::new().read("x", n, e).write("y", n, e).work_items(n))
}
