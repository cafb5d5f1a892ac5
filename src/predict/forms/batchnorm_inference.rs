//! `batchnorm-inference`: batch normalisation with known statistics, of n = NCHW elements.
//!
//! FLOPs: 2n: a scale and a shift, folded beforehand for each channel.
//! Bytes: 2en.
//! Intensity: 1/e: 0.5 FLOP/B for fp16.
//! Source: S. Ioffe, C. Szegedy, *Batch Normalization*, 2015, arXiv 1502.03167, section 3.1.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "batchnorm-inference",
    summary: "batch normalisation, inference",
    category: Category::Elementwise,
    parameters: &[
        Parameter::size("n", "elements: images times channels times pixels"),
        DTYPE.or("fp16"),
    ],
    example: "n=32*64*56*56",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    Ok(Count::new()
        .vector("scale and shift", 2.0 * n, e)
        .read("x", n, e)
        .write("y", n, e)
        .work_items(n))
}
