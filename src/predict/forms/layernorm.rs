//! `layernorm`: layer normalisation of R rows of C elements, forward.
//!
//! FLOPs: 8RC: a sum, then difference, square and sum, then difference, deviation, weight and bias.
//! Bytes: 2eRC + 2eC; x is read once and kept on chip, weight and bias are read, y is written. The
//! statistics add 8R, two fp32 numbers per row.
//! Intensity: 8/(2e), about 2 FLOP/B for fp16; "less than 10" in NVIDIA's guide.
//! Source: J. Ba, J. Kiros, G. Hinton, *Layer Normalization*, 2016, arXiv 1607.06450.

use super::{Arguments, Category, Count, DTYPE, DataType, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "layernorm",
    summary: "layer normalisation, forward",
    category: Category::Reduction,
    parameters: &[
        Parameter::size("rows", "rows: all leading dimensions multiplied"),
        Parameter::size("columns", "elements per row"),
        DTYPE.or("fp16"),
        Parameter::flag("statistics", "keep mean and deviation for the backward pass"),
    ],
    example: "rows=8192 columns=4096",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (rows, columns, e) =
        (given.number("rows"), given.number("columns"), given.data_type("dtype"));
    let n = rows * columns;
    let kept = f64::from(given.is("statistics")) * 2.0 * rows;
    Ok(Count::new()
        .vector("normalise", 8.0 * n, e)
        .read("x", n, e)
        .read("weight", columns, e)
        .read("bias", columns, e)
        .write("y", n, e)
        .write("statistics", kept, DataType::Fp32)
        .work_items(n))
}
