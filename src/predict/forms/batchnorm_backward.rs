//! `batchnorm-backward`: the gradients of batch normalisation, of n = NCHW elements.
//!
//! FLOPs: about 11n: the normalised x (2), its product with dy and two sums (3); again the
//! normalised x (2) and dx (4).
//! Bytes: 5en, x and dy are read twice, dx is written; 3en in a single pass (`single_pass=yes`).
//! Source: S. Ioffe, C. Szegedy, *Batch Normalization*, 2015, arXiv 1502.03167.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "batchnorm-backward",
    summary: "gradients of batch normalisation",
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
        .vector("gradients", 11.0 * n, e)
        .moved("x", n, e, reads, 0.0)
        .moved("dy", n, e, reads, 0.0)
        .write("dx", n, e)
        .work_items(n))
}
