//! `scatter`: n rows of width d, put anywhere by an index.
//!
//! FLOPs: 0.
//! Bytes: n·i + 2e·n·d; the indices, the rows read and written. Rows narrower than a 32-byte sector
//! move whole sectors, which a compulsory count leaves out.
//! Source: PyTorch, `torch.scatter`.

use super::{Arguments, Category, Count, DTYPE, Form, INDEX, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "scatter",
    summary: "rows put anywhere",
    category: Category::DataMovement,
    parameters: &[
        Parameter::size("n", "rows moved"),
        Parameter::size("d", "elements of a row").or("1"),
        DTYPE.or("fp32"),
        INDEX.or("int64"),
    ],
    example: "n=1M d=64",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, d) = (given.number("n"), given.number("d"));
    let (e, i) = (given.data_type("dtype"), given.data_type("index"));
    Ok(Count::new()
        .read("indices", n, i)
        .read("source", n * d, e)
        .write("target", n * d, e)
        .work_items(n * d))
}
