//! `reduction`: n elements to m results, by sums, maxima or any operation of two.
//!
//! FLOPs: n − m; each operation takes one element away.
//! Bytes: e(n + m).
//! Source: M. Harris, *Optimizing Parallel Reduction in CUDA*, NVIDIA, 2007.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "reduction",
    summary: "n elements to m, by sums or maxima",
    category: Category::Reduction,
    parameters: &[
        Parameter::size("n", "elements"),
        Parameter::size("m", "results").or("1"),
        DTYPE.or("fp32"),
    ],
    example: "n=16M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    let m = given.number("m");
    if m > n {
        return Err(given.misfit(format!("{n} elements give at most {n} results")));
    }
    Ok(Count::new()
        .vector("combine", n - m, e)
        .read("x", n, e)
        .write("results", m, e)
        .work_items(n))
}
