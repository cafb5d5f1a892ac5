//! `silu`: x·sigmoid(x), also called swish.
//!
//! FLOPs: 4N: exponential, addition, division, multiplication; a sign is free.
//! Bytes: 2eN; x is read, y is written.
//! Intensity: 4/(2e).
//! Source: S. Elfwing, E. Uchibe, K. Doya, *Sigmoid-Weighted Linear Units*, 2017, arXiv 1702.03118.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "silu",
    aliases: &["swish"],
    summary: "x·sigmoid(x), also called swish",
    category: Category::Elementwise,
    parameters: &[Parameter::size("n", "elements"), DTYPE.or("fp16")],
    example: "n=16M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    Ok(Count::new().vector("silu", 4.0 * n, e).read("x", n, e).write("y", n, e).work_items(n))
}
