//! `softmax`: the softmax of R rows of C elements.
//!
//! FLOPs: 5RC: maximum, subtraction, exponential, sum, division.
//! Bytes: 2eRC if a row stays on chip; else 4eRC, since the row is read for its maximum, for its
//! sum, and for the result.
//! Intensity: 5/(2e): 1.25 FLOP/B for fp16.
//! Source: M. Milakov, N. Gimelshein, *Online Normalizer Calculation for Softmax*, 2018, arXiv
//! 1805.02867 (memory accesses per element).

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "softmax",
    summary: "softmax over rows",
    category: Category::Reduction,
    parameters: &[
        Parameter::size("rows", "rows: all leading dimensions multiplied"),
        Parameter::size("columns", "elements per row"),
        DTYPE.or("fp16"),
        Parameter::flag("on_chip", "a row fits on chip and is read once").or("yes"),
    ],
    example: "rows=8192 columns=4096",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (rows, columns, e) =
        (given.number("rows"), given.number("columns"), given.data_type("dtype"));
    let n = rows * columns;
    let reads = if given.is("on_chip") { 1.0 } else { 3.0 };
    Ok(Count::new()
        .vector("softmax", 5.0 * n, e)
        .moved("x", n, e, reads, 0.0)
        .write("y", n, e)
        .work_items(n))
}
