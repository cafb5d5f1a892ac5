//! `scan`: all running sums of n elements, in a single pass.
//!
//! FLOPs: n, customary for n−1 additions; the second sweep of a parallel scan is not counted.
//! Bytes: 2en.
//! Source: D. Merrill, M. Garland, *Single-Pass Parallel Prefix Scan with Decoupled Look-back*,
//! NVIDIA Technical Report NVR-2016-002, 2016.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "scan",
    aliases: &["prefix-sum"],
    summary: "running sums of a vector",
    category: Category::Reduction,
    parameters: &[Parameter::size("n", "elements"), DTYPE.or("fp32")],
    example: "n=16M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    Ok(Count::new().vector("add", n, e).read("x", n, e).write("sums", n, e).work_items(n))
}
