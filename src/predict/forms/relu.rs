//! `relu`: max(x, 0) on every element.
//!
//! FLOPs: N, a comparison.
//! Bytes: 2eN; x is read, y is written.
//! Intensity: 1/(2e): 0.25 FLOP/B for fp16, 0.125 for fp32.
//! Source: NVIDIA, *GPU Performance Background User's Guide* (0.25 FLOP/B for fp16).

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "relu",
    summary: "max(x, 0) on every element",
    category: Category::Elementwise,
    parameters: &[Parameter::size("n", "elements"), DTYPE.or("fp16")],
    example: "n=16M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    Ok(Count::new().vector("relu", n, e).read("x", n, e).write("y", n, e).work_items(n))
}
