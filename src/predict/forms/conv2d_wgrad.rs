//! `conv2d-wgrad`: the gradient of a two-dimensional convolution's filters.
//!
//! FLOPs: as forward, 2·N·K·P·Q·(C/g)·R·S.
//! Bytes: e(NCHW + NKPQ + K(C/g)RS); x and dy are read, the gradient is written.
//! As a matrix product: m = (C/g)RS, n = K/g, k = NPQ, once per group: small and deep, so kernels
//! split k.
//! Source: NVIDIA, *Convolutional Layers User's Guide* (the matrix shapes of implicit GEMM).

use super::{Arguments, Category, Convolution, Count, Form, PLAIN, PredictError, Product};

pub(super) const FORM: Form = Form {
    name: "conv2d-wgrad",
    summary: "two-dimensional convolution, gradient of its filters",
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
        .read("x", conv.input, e)
        .read("dy", conv.output, e)
        .write("dfilters", conv.filters, e);
    let (m, n, k) = (conv.depth, conv.outputs / conv.groups, conv.positions);
    Ok(count.tiled(Product { batch: conv.groups, m, n, k, a: e, b: e, d: e }))
}
