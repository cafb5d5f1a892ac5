//! `conv2d-transposed`: a transposed convolution, N images of C×H×W to K×P×Q, larger by the stride.
//!
//! FLOPs: 2·N·C·H·W·(K/g)·R·S: the forward form with input and output exchanged, every input
//! element meets every tap of its filters. P = (H−1)·stride − 2·pad + dilation·(R−1) + output_pad +
//! 1.
//! Bytes: e(NCHW + C(K/g)RS + NKPQ); input and filters are read, the output is written.
//! As a matrix product: m = NHW, n = (K/g)RS, k = C/g, once per group, summed into the output.
//! Source: V. Dumoulin, F. Visin, *A Guide to Convolution Arithmetic for Deep Learning*, 2016,
//! arXiv 1603.07285, chapter 4.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError, Product};

pub(super) const FORM: Form = Form {
    name: "conv2d-transposed",
    aliases: &["deconv2d"],
    summary: "transposed convolution: the data gradient run forward",
    category: Category::DotProduct,
    parameters: &[
        Parameter::size("n", "images"),
        Parameter::size("c", "input channels"),
        Parameter::size("h", "input height"),
        Parameter::size("w", "input width").same_as("h"),
        Parameter::size("k", "output channels"),
        Parameter::size("r", "filter height"),
        Parameter::size("s", "filter width").same_as("r"),
        Parameter::size("stride", "step of the filter on the output").or("1"),
        Parameter::whole("pad", "rows and columns cut from each border of the output").or("0"),
        Parameter::size("dilation", "distance of the filter's taps").or("1"),
        Parameter::whole("output_pad", "rows and columns added at one border").or("0"),
        Parameter::size("groups", "groups of channels").or("1"),
        DTYPE.or("fp16"),
    ],
    example: "n=32 c=64 h=28 k=32 r=4 stride=2 pad=1",
    tiled: true,
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let [images, c, h, w] = ["n", "c", "h", "w"].map(|key| given.number(key));
    let [k, r, s, groups] = ["k", "r", "s", "groups"].map(|key| given.number(key));
    let e = given.data_type("dtype");
    if c % groups != 0.0 || k % groups != 0.0 {
        return Err(given.misfit(format!("groups={groups} must divide c={c} and k={k}")));
    }
    let larger = |length: f64, taps: f64| {
        (length - 1.0) * given.number("stride") - 2.0 * given.number("pad")
            + given.number("dilation") * (taps - 1.0)
            + given.number("output_pad")
            + 1.0
    };
    let (p, q) = (larger(h, r), larger(w, s));
    if p < 1.0 || q < 1.0 {
        return Err(given.misfit(format!("pad leaves an output of {p}×{q}")));
    }
    let pixels = images * h * w;
    let count = Count::new()
        .products("multiply and add", 2.0 * pixels * c * (k / groups) * r * s, e)
        .read("x", pixels * c, e)
        .read("filters", c * (k / groups) * r * s, e)
        .write("y", images * k * p * q, e);
    let (n, depth) = (k / groups * r * s, c / groups);
    Ok(count.tiled(Product { batch: groups, m: pixels, n, k: depth, a: e, b: e, d: e }))
}
