//! `sum`: the sum of a vector.
//!
//! FLOPs: N, customary; exactly N−1 additions.
//! Bytes: Ne; exactly one more element, the result.
//! Intensity: 1/e.
//! Source: C. Lawson, R. Hanson, D. Kincaid, F. Krogh, *Basic Linear Algebra Subprograms for
//! Fortran Usage*, ACM TOMS 5(3), 1979.

use super::{Arguments, Category, Count, DTYPE, EXACT, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "sum",
    summary: "Σx, the sum of a vector",
    category: Category::Reduction,
    parameters: &[Parameter::size("n", "elements"), DTYPE.or("fp32"), EXACT],
    example: "n=16M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    let exact = f64::from(given.is("exact"));
    Ok(Count::new()
        .vector("add", n - exact, e)
        .read("x", n, e)
        .write("result", exact, e)
        .work_items(n))
}
