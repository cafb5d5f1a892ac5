//! `syrk`: one triangle of C = A·Aᵀ with A of n×k.
//!
//! FLOPs: n²k, customary, half of the full product; exactly n(n+1)k with the whole diagonal.
//! Bytes: e(nk + n²/2), customary; exactly e(nk + n(n+1)/2). A is read, the triangle is written.
//! Source: J. Dongarra, J. Du Croz, S. Hammarling, I. Duff, *A Set of Level 3 Basic Linear Algebra
//! Subprograms*, ACM TOMS 16(1), 1990.

use super::{Arguments, Category, Count, DTYPE, EXACT, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "syrk",
    summary: "C = A·Aᵀ, one triangle of a symmetric product",
    category: Category::DotProduct,
    parameters: &[
        Parameter::size("n", "rows and columns of C"),
        Parameter::size("k", "columns of A"),
        DTYPE.or("fp32"),
        EXACT,
    ],
    example: "n=4096 k=4096",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, k, e) = (given.number("n"), given.number("k"), given.data_type("dtype"));
    let other = if given.is("exact") { n + 1.0 } else { n };
    Ok(Count::new().products("multiply and add", n * other * k, e).read("A", n * k, e).write(
        "C",
        n * other / 2.0,
        e,
    ))
}
