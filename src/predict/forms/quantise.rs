//! `quantise`: R rows of C elements to int8 or fp8, each row scaled by its largest magnitude.
//!
//! FLOPs: about 4N for N = RC: magnitude and maximum, scaling, rounding, clamping.
//! Bytes: (e + e_to)N + 4R, 3N + 4R from fp16 to int8; the row stays on chip between its two
//! passes, the scales are fp32.
//! Source: T. Dettmers et al., *LLM.int8()*, NeurIPS 2022, arXiv 2208.07339 (row-wise scaling).

use super::{Arguments, Category, Count, DTYPE, DataType, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "quantise",
    aliases: &["quantize"],
    summary: "rows to integers or fp8 with a scale per row",
    category: Category::Elementwise,
    parameters: &[
        Parameter::size("rows", "rows, each with a scale"),
        Parameter::size("columns", "elements per row"),
        DTYPE.or("fp16"),
        Parameter::data_type("to", "format of the result").or("int8"),
    ],
    example: "rows=8192 columns=4096",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (rows, columns) = (given.number("rows"), given.number("columns"));
    let (n, e) = (rows * columns, given.data_type("dtype"));
    Ok(Count::new()
        .vector("scale and round", 4.0 * n, e)
        .read("x", n, e)
        .write("q", n, given.data_type("to"))
        .write("scales", rows, DataType::Fp32)
        .work_items(n))
}
