//! `scatter-add`: n rows of width d added anywhere by an index.
//!
//! FLOPs: n·d additions.
//! Bytes: n·i + 3e·n·d; the indices, the rows read, and the target read and written.
//! Source: PyTorch, `torch.scatter_add`.

use super::{Arguments, Category, Count, DTYPE, Form, INDEX, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "scatter-add",
    summary: "rows added anywhere",
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
        .vector("add", n * d, e)
        .read("indices", n, i)
        .read("source", n * d, e)
        .update("target", n * d, e)
        .work_items(n * d))
}
