//! `rmsnorm`: normalisation of R rows of C elements by their root mean square.
//!
//! FLOPs: 4RC: square, sum, scaling, weight.
//! Bytes: 2eRC + eC; x is read once and kept on chip, the weight is read, y is written.
//! Intensity: 4/(2e), about 1 FLOP/B for fp16.
//! Source: B. Zhang, R. Sennrich, *Root Mean Square Layer Normalization*, 2019, arXiv 1910.07467.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "rmsnorm",
    summary: "root-mean-square normalisation",
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
        .vector("normalise", 4.0 * n, e)
        .read("x", n, e)
        .read("weight", columns, e)
        .write("y", n, e)
        .work_items(n))
}
