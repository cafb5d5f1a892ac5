//! `axpy`: y = a·x + y, and the triad z = x + a·y.
//!
//! FLOPs: 2N, a multiplication and an addition per element.
//! Bytes: 3Ne; x and y are read, y (or z) is written. That y is in a register between its read and
//! its write saves neither: 12N bytes for fp32, not 8N.
//! Intensity: 2/(3e): 1/6 FLOP/B for fp32, 1/12 for fp64, 1/3 for fp16.
//! Source: C. Lawson, R. Hanson, D. Kincaid, F. Krogh, *Basic Linear Algebra Subprograms for
//! Fortran Usage*, ACM TOMS 5(3), 1979; STREAM's `Triad` has the same counts.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "axpy",
    aliases: &["saxpy", "triad"],
    summary: "y = a·x + y over vectors, or the triad z = x + a·y",
    category: Category::Elementwise,
    parameters: &[Parameter::size("n", "elements"), DTYPE.or("fp32")],
    example: "n=16M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    Ok(Count::new()
        .vector("multiply and add", 2.0 * n, e)
        .read("x", n, e)
        .update("y", n, e)
        .work_items(n))
}
