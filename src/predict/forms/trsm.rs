//! `trsm`: T·X = B solved for X, with a triangle T of n×n and m right-hand sides in place of B.
//!
//! FLOPs: n²m; exactly that too: n(n−1)/2 multiplications and as many subtractions, and n
//! divisions, for each right-hand side.
//! Bytes: e(n²/2 + 2nm), customary; exactly e(n(n+1)/2 + 2nm). T is read, B is read and
//! overwritten.
//! Source: J. Dongarra, J. Du Croz, S. Hammarling, I. Duff, *A Set of Level 3 Basic Linear Algebra
//! Subprograms*, ACM TOMS 16(1), 1990.

use super::{Arguments, Category, Count, DTYPE, EXACT, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "trsm",
    summary: "X = T⁻¹·B, a triangular system with many right-hand sides",
    category: Category::DotProduct,
    parameters: &[
        Parameter::size("n", "rows and columns of the triangle"),
        Parameter::size("m", "right-hand sides"),
        DTYPE.or("fp32"),
        EXACT,
    ],
    example: "n=4096 m=4096",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, m, e) = (given.number("n"), given.number("m"), given.data_type("dtype"));
    let other = if given.is("exact") { n + 1.0 } else { n };
    Ok(Count::new()
        .products("multiply and subtract", n * n * m, e)
        .read("T", n * other / 2.0, e)
        .update("B", n * m, e))
}
