//! `ger`: the rank-1 update A = A + x·yᵀ with A of M×N.
//!
//! FLOPs: 2MN, a multiplication and an addition per element.
//! Bytes: e(2MN + M + N); A is read and written, x and y are read.
//! Intensity: 1/e for large sizes.
//! Source: J. Dongarra, J. Du Croz, S. Hammarling, R. Hanson, *An Extended Set of FORTRAN Basic
//! Linear Algebra Subprograms*, ACM TOMS 14(1), 1988.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "ger",
    summary: "A = A + x·yᵀ, the rank-1 update of a matrix",
    category: Category::DotProduct,
    parameters: &[
        Parameter::size("m", "rows of A"),
        Parameter::size("n", "columns of A").same_as("m"),
        DTYPE.or("fp32"),
    ],
    example: "m=8192",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (m, n, e) = (given.number("m"), given.number("n"), given.data_type("dtype"));
    Ok(Count::new()
        .vector("multiply and add", 2.0 * m * n, e)
        .update("A", m * n, e)
        .read("x", m, e)
        .read("y", n, e)
        .work_items(m * n))
}
