//! `gelu`: the Gaussian error linear unit in its tanh form.
//!
//! FLOPs: about 8N: the cube, two scalings, tanh and the rest.
//! Bytes: 2eN; x is read, y is written.
//! Intensity: 8/(2e).
//! Source: D. Hendrycks, K. Gimpel, *Gaussian Error Linear Units*, 2016, arXiv 1606.08415.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "gelu",
    summary: "the Gaussian error linear unit in its tanh form",
    category: Category::Elementwise,
    parameters: &[Parameter::size("n", "elements"), DTYPE.or("fp16")],
    example: "n=16M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    Ok(Count::new().vector("gelu", 8.0 * n, e).read("x", n, e).write("y", n, e).work_items(n))
}
