//! `add`: z = x + y, or x·y, or any other single operation of two inputs.
//!
//! FLOPs: N.
//! Bytes: 3Ne; x and y are read, z is written.
//! Intensity: 1/(3e): 1/6 FLOP/B for fp16.
//! Source: J. McCalpin, *STREAM: Sustainable Memory Bandwidth in High Performance Computers*, 1995
//! (`Add`).

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "add",
    aliases: &["mul", "sub"],
    summary: "z = x + y over vectors, or any operation of two inputs",
    category: Category::Elementwise,
    parameters: &[Parameter::size("n", "elements"), DTYPE.or("fp32")],
    example: "n=16M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    Ok(Count::new()
        .vector("add", n, e)
        .read("x", n, e)
        .read("y", n, e)
        .write("z", n, e)
        .work_items(n))
}
