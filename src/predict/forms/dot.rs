//! `dot`: the dot product x·y.
//!
//! FLOPs: 2N, customary; exactly N multiplications and N−1 additions.
//! Bytes: 2Ne; exactly one more element, the result.
//! Intensity: 1/e: 1/4 FLOP/B for fp32, 1/8 for fp64.
//! Source: C. Lawson, R. Hanson, D. Kincaid, F. Krogh, *Basic Linear Algebra Subprograms for
//! Fortran Usage*, ACM TOMS 5(3), 1979.

use super::{Arguments, Category, Count, DTYPE, EXACT, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "dot",
    aliases: &["sdot"],
    summary: "x·y, the dot product of two vectors",
    category: Category::DotProduct,
    parameters: &[Parameter::size("n", "elements"), DTYPE.or("fp32"), EXACT],
    example: "n=16M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    let exact = f64::from(given.is("exact"));
    Ok(Count::new()
        .vector("multiply and add", 2.0 * n - exact, e)
        .read("x", n, e)
        .read("y", n, e)
        .write("result", exact, e)
        .work_items(n))
}
