//! `softmax-backward`: dx = (dy − Σ dy·y)·y over rows.
//!
//! FLOPs: 4RC: multiplication, sum, subtraction, multiplication.
//! Bytes: 3eRC; y and dy are read, dx is written.
//! Source: T. Dao, D. Fu, S. Ermon, A. Rudra, C. Ré, *FlashAttention*, NeurIPS 2022, arXiv
//! 2205.14135, appendix B.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "softmax-backward",
    summary: "gradient of softmax over rows",
    category: Category::Reduction,
    parameters: &[
        Parameter::size("rows", "rows: all leading dimensions multiplied"),
        Parameter::size("columns", "elements per row"),
        DTYPE.or("fp16"),
    ],
    example: "rows=8192 columns=4096",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (rows, columns, e) =
        (given.number("rows"), given.number("columns"), given.data_type("dtype"));
    let n = rows * columns;
    Ok(Count::new()
        .vector("softmax gradient", 4.0 * n, e)
        .read("y", n, e)
        .read("dy", n, e)
        .write("dx", n, e)
        .work_items(n))
}
