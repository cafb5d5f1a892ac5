//! `embedding`: n rows of width d, looked up in a table.
//!
//! FLOPs: 0.
//! Bytes: n·i + 2e·n·d; the indices, the rows read and written. With U distinct rows that stay in a
//! cache once read: n·i + e·d(U+n) (`unique=U`).
//! Source: PyTorch, `torch.nn.functional.embedding` (int64 indices).

use super::{Arguments, Category, Count, DTYPE, Form, INDEX, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "embedding",
    summary: "rows of a table by index",
    category: Category::DataMovement,
    parameters: &[
        Parameter::size("n", "lookups"),
        Parameter::size("d", "width of a row"),
        Parameter::size("unique", "distinct rows").same_as("n"),
        DTYPE.or("fp32"),
        INDEX.or("int64"),
    ],
    example: "n=700 d=200",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, d) = (given.number("n"), given.number("d"));
    let (e, i) = (given.data_type("dtype"), given.data_type("index"));
    let unique = given.number("unique");
    if unique > n {
        return Err(given.misfit(format!("{n} lookups touch at most {n} rows")));
    }
    Ok(Count::new()
        .read("indices", n, i)
        .read("table rows", unique * d, e)
        .write("output", n * d, e)
        .work_items(n * d))
}
