//! `transpose`: a transposition, a concatenation, or any other change of layout.
//!
//! FLOPs: 0.
//! Bytes: 2en.
//! Source: G. Ruetsch, P. Micikevicius, *Optimizing Matrix Transpose in CUDA*, NVIDIA, 2009.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "transpose",
    aliases: &["concat", "layout", "permute"],
    summary: "the same elements in another order",
    category: Category::DataMovement,
    parameters: &[Parameter::size("n", "elements"), DTYPE.or("fp32")],
    example: "n=4096*4096",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    Ok(Count::new().read("x", n, e).write("y", n, e).work_items(n))
}
