//! `layernorm-backward`: the gradients of layer normalisation by input, weight and bias.
//!
//! FLOPs: about 14RC: the normalised x (2), weighted dy and two sums (4), dx (5, weighted dy
//! again), the gradients of weight and bias (3).
//! Bytes: 3eRC + 3eC + 8R; x and dy are read, dx is written; the weight is read, its gradient and
//! that of the bias are written; two fp32 statistics per row are read.
//! Source: J. Ba, J. Kiros, G. Hinton, *Layer Normalization*, 2016, arXiv 1607.06450; lower orders
//! of the bytes derived here.

use super::{Arguments, Category, Count, DTYPE, DataType, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "layernorm-backward",
    summary: "gradients of layer normalisation",
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
        .vector("gradients", 14.0 * n, e)
        .read("x", n, e)
        .read("dy", n, e)
        .read("weight", columns, e)
        .read("statistics", 2.0 * rows, DataType::Fp32)
        .write("dx", n, e)
        .write("dweight", columns, e)
        .write("dbias", columns, e)
        .work_items(n))
}
