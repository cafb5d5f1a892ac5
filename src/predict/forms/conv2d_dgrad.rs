//! `conv2d-dgrad`: the gradient of a two-dimensional convolution's input. The first layer needs
//! none.
//!
//! FLOPs: as forward, 2·N·K·P·Q·(C/g)·R·S: each product of the forward pass returns once.
//! Bytes: e(NKPQ + K(C/g)RS + NCHW); dy and filters are read, dx is written.
//! As a matrix product: m = NHW, n = C/g, k = (K/g)RS, once per group; with a stride this shape
//! holds stride² times the useful work, which implicit kernels skip.
//! Source: NVIDIA, *Convolutional Layers User's Guide* (the matrix shapes of implicit GEMM).

use super::{Arguments, Category, Convolution, Count, Form, PLAIN, PredictError, Product};

pub(super) const FORM: Form = Form {
    name: "conv2d-dgrad",
    summary: "two-dimensional convolution, gradient of its input",
    category: Category::DotProduct,
    parameters: Convolution::PARAMETERS,
    example: "n=32 c=64 h=56 k=64 r=3 pad=1",
    tiled: true,
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let conv = Convolution::of(given)?;
    let e = conv.data_type;
    let count = Count::new()
        .products("multiply and add", conv.operations(), e)
        .read("dy", conv.output, e)
        .read("filters", conv.filters, e)
        .write("dx", conv.input, e);
    let (m, n) = (conv.pixels, conv.inputs / conv.groups);
    let k = conv.outputs / conv.groups * conv.taps;
    Ok(count.tiled(Product { batch: conv.groups, m, n, k, a: e, b: e, d: e }))
}
