//! `embedding-backward`: n gradients of width d added to the rows of a table, U of them distinct.
//!
//! FLOPs: n·d additions.
//! Bytes: n·i + e·n·d + 2e·U·d; indices and gradients are read, the rows touched are read and
//! written.
//! Source: PyTorch, `torch.nn.functional.embedding` and its gradient.

use super::{Arguments, Category, Count, DTYPE, Form, INDEX, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "embedding-backward",
    summary: "gradients added to rows of a table",
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
        .vector("add", n * d, e)
        .read("indices", n, i)
        .read("dy", n * d, e)
        .update("table rows", unique * d, e)
        .work_items(n * d))
}
