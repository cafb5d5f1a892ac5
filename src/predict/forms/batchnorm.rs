//! `batchnorm`: batch normalisation in training, forward, of n = NCHW elements.
//!
//! FLOPs: 7n: a sum, then difference, square and sum, then difference, scale and shift.
//! Bytes: 3en, a pass for the statistics and a pass that applies them; 2en if one kernel holds the
//! data (`single_pass=yes`). What belongs to a channel is left out.
//! Source: S. Ioffe, C. Szegedy, *Batch Normalization*, 2015, arXiv 1502.03167.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "batchnorm",
    summary: "batch normalisation, training forward",
    category: Category::Reduction,
    parameters: &[
        Parameter::size("n", "elements: images times channels times pixels"),
        DTYPE.or("fp16"),
        Parameter::flag("single_pass", "one kernel holds the data on chip between its passes"),
    ],
    example: "n=32*64*56*56",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    let reads = if given.is("single_pass") { 1.0 } else { 2.0 };
    Ok(Count::new()
        .vector("normalise", 7.0 * n, e)
        .moved("x", n, e, reads, 0.0)
        .write("y", n, e)
        .work_items(n))
}
