//! `gemv`: y = α·A·x + β·y with A of M×N.
//!
//! FLOPs: 2MN for the dot products, M more to scale by α≠1, 2M more for β·y and its addition if
//! β≠0.
//! Bytes: e(MN + N + M), and eM more if β≠0; A and x are read, y is written, and read only for β.
//! Intensity: 2/e for large sizes: 1/2 FLOP/B for fp32, 1/4 for fp64, 1 for fp16.
//! The simple kernel has one thread per row, which leaves a device idle below some ten thousand
//! rows.
//! Source: J. Dongarra, J. Du Croz, S. Hammarling, R. Hanson, *An Extended Set of FORTRAN Basic
//! Linear Algebra Subprograms*, ACM TOMS 14(1), 1988.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "gemv",
    aliases: &["matvec"],
    summary: "y = α·A·x + β·y, a dense matrix times a vector",
    category: Category::DotProduct,
    parameters: &[
        Parameter::size("m", "rows of A"),
        Parameter::size("n", "columns of A").same_as("m"),
        Parameter::real("alpha", "factor of the product").or("1"),
        Parameter::real("beta", "factor of the old y; 0: y is not read").or("0"),
        DTYPE.or("fp32"),
    ],
    example: "m=16384 dtype=fp64",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (m, n, e) = (given.number("m"), given.number("n"), given.data_type("dtype"));
    let scaled = f64::from(given.number("alpha") != 1.0);
    let old = f64::from(given.number("beta") != 0.0);
    Ok(Count::new()
        .vector("dot products", 2.0 * m * n + m * scaled + 2.0 * m * old, e)
        .read("A", m * n, e)
        .read("x", n, e)
        .moved("y", m, e, old, 1.0)
        .work_items(m))
}
