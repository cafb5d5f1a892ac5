//! `conv2d`: a two-dimensional convolution, forward: N images of C×H×W to K×P×Q with R×S filters.
//!
//! FLOPs: 2·N·K·P·Q·(C/g)·R·S with g groups; taps that fall into the padding count, as they do in
//! the kernels. P = ⌊(H + 2·pad − dilation·(R−1) − 1)/stride⌋ + 1, and Q alike.
//! Winograd's F(m×m, R×R) needs fewer multiplications, by m²R²/(m+R−1)²: 2.25 for m=2 and 4 for m=4
//! with 3×3 filters. `winograd=m` divides by that; its transforms are not counted.
//! Bytes: e(NCHW + K(C/g)RS + NKPQ); input and filters are read, the output is written.
//! As a matrix product: m = NPQ, n = K/g, k = (C/g)RS, once per group.
//! Source: NVIDIA, *Convolutional Layers User's Guide* (the matrix shapes of implicit GEMM); A.
//! Lavin, S. Gray, *Fast Algorithms for Convolutional Neural Networks*, CVPR 2016.

use super::{Arguments, Category, Convolution, Count, Form, PLAIN, PredictError, Product};

pub(super) const FORM: Form = Form {
    name: "conv2d",
    aliases: &["conv", "convolution"],
    summary: "two-dimensional convolution, forward",
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
        .read("filters", conv.filters, e)
        .write("y", conv.output, e);
    let (m, n, k) = (conv.positions, conv.outputs / conv.groups, conv.depth);
    Ok(count.tiled(Product { batch: conv.groups, m, n, k, a: e, b: e, d: e }))
}
