//! `embedding-bag`: sums of L rows of width d each, looked up in a table.
//!
//! FLOPs: (L−1)·d per bag.
//! Bytes: L(i + ed) + ed per bag; indices and rows are read, one row is written.
//! Source: PyTorch, `torch.nn.EmbeddingBag`; M. Naumov et al., *Deep Learning Recommendation
//! Model*, 2019, arXiv 1906.00091.

use super::{Arguments, Category, Count, DTYPE, Form, INDEX, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "embedding-bag",
    summary: "sums of rows of a table",
    category: Category::Reduction,
    parameters: &[
        Parameter::size("bags", "sums"),
        Parameter::size("length", "rows per sum"),
        Parameter::size("d", "width of a row"),
        DTYPE.or("fp32"),
        INDEX.or("int64"),
    ],
    example: "bags=4096 length=20 d=128",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let [bags, length, d] = ["bags", "length", "d"].map(|key| given.number(key));
    let (e, i) = (given.data_type("dtype"), given.data_type("index"));
    Ok(Count::new()
        .vector("add", bags * (length - 1.0) * d, e)
        .read("indices", bags * length, i)
        .read("table rows", bags * length * d, e)
        .write("output", bags * d, e)
        .work_items(bags * d))
}
