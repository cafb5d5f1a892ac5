//! `nrm2`: the Euclidean norm √(x·x).
//!
//! FLOPs: 2N, customary; exactly N multiplications, N−1 additions and one square root, also 2N.
//! Bytes: Ne; exactly one more element, the result.
//! Intensity: 2/e.
//! Source: C. Lawson, R. Hanson, D. Kincaid, F. Krogh, *Basic Linear Algebra Subprograms for
//! Fortran Usage*, ACM TOMS 5(3), 1979 (implementations that guard against overflow do more).

use super::{Arguments, Category, Count, DTYPE, EXACT, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "nrm2",
    summary: "√(x·x), the Euclidean norm of a vector",
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
        .vector("square and add", 2.0 * n, e)
        .read("x", n, e)
        .write("result", exact, e)
        .work_items(n))
}
