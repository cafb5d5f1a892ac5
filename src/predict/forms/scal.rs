//! `scal`: x = a·x over a vector.
//!
//! FLOPs: N, one multiplication per element.
//! Bytes: 2Ne; x is read and written.
//! Intensity: 1/(2e).
//! Source: C. Lawson, R. Hanson, D. Kincaid, F. Krogh, *Basic Linear Algebra Subprograms for
//! Fortran Usage*, ACM TOMS 5(3), 1979.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "scal",
    aliases: &["scale"],
    summary: "x = a·x over a vector",
    category: Category::Elementwise,
    parameters: &[Parameter::size("n", "elements"), DTYPE.or("fp32")],
    example: "n=16M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    Ok(Count::new().vector("scale", n, e).update("x", n, e).work_items(n))
}
