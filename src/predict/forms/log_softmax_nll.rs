//! `log-softmax-nll`: log-softmax over R rows of C classes and the loss at each row's label.
//!
//! FLOPs: 5RC + R.
//! Bytes: eRC + R(8+e); the logits and an int64 label per row are read, a loss per row is written.
//! The log-softmax itself adds eRC where it is stored.
//! Source: M. Milakov, N. Gimelshein, *Online Normalizer Calculation for Softmax*, 2018, arXiv
//! 1805.02867; PyTorch, `CrossEntropyLoss` (int64 labels).

use super::{Arguments, Category, Count, DTYPE, DataType, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "log-softmax-nll",
    aliases: &["cross-entropy"],
    summary: "cross entropy: log-softmax and the negative log-likelihood",
    category: Category::Reduction,
    parameters: &[
        Parameter::size("rows", "rows, one label each"),
        Parameter::size("columns", "classes"),
        DTYPE.or("fp16"),
        Parameter::flag("output", "store the log-softmax as well"),
    ],
    example: "rows=8192 columns=32000",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (rows, columns, e) =
        (given.number("rows"), given.number("columns"), given.data_type("dtype"));
    let n = rows * columns;
    Ok(Count::new()
        .vector("log-softmax", 5.0 * n + rows, e)
        .read("x", n, e)
        .read("labels", rows, DataType::Int64)
        .write("losses", rows, e)
        .write("log-softmax", f64::from(given.is("output")) * n, e)
        .work_items(n))
}
