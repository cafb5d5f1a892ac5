//! `relu-backward`: dx = dy where x > 0, else 0.
//!
//! FLOPs: N, a comparison.
//! Bytes: 3eN; dy and x (or y) are read, dx is written.
//! Intensity: 1/(3e): 1/6 FLOP/B for fp16.
//! Source: NVIDIA, *Memory-Limited Layers User's Guide*.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "relu-backward",
    summary: "gradient of ReLU",
    category: Category::Elementwise,
    parameters: &[Parameter::size("n", "elements"), DTYPE.or("fp16")],
    example: "n=16M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    Ok(Count::new()
        .vector("compare", n, e)
        .read("x", n, e)
        .read("dy", n, e)
        .write("dx", n, e)
        .work_items(n))
}
