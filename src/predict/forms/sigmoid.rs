//! `sigmoid`: 1/(1 + exp(−x)) on every element.
//!
//! FLOPs: 3N: exponential, addition, division; a sign is free.
//! Bytes: 2eN; x is read, y is written.
//! Intensity: 3/(2e).
//! Source: NVIDIA, *GPU Performance Background User's Guide*, "DNN Operation Categories".

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "sigmoid",
    summary: "1/(1 + exp(−x)) on every element",
    category: Category::Elementwise,
    parameters: &[Parameter::size("n", "elements"), DTYPE.or("fp16")],
    example: "n=16M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    Ok(Count::new().vector("sigmoid", 3.0 * n, e).read("x", n, e).write("y", n, e).work_items(n))
}
