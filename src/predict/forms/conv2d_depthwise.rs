//! `conv2d-depthwise`: a depthwise convolution, one R×S filter for each of C channels (g = C = K).
//!
//! FLOPs: 2·N·C·P·Q·R·S.
//! Bytes: e(NCHW + CRS + NCPQ); input and filters are read, the output is written.
//! Intensity: RS/e at stride 1: 4.5 FLOP/B for 3×3 and fp16, so memory limits it.
//! There is no matrix product in it: kernels run it on the vector units.
//! Source: NVIDIA, *Convolutional Layers User's Guide* (the matrix shapes of implicit GEMM) with
//! one channel per group.

use super::{Arguments, Category, Count, Form, PLAIN, PredictError, Window};

pub(super) const FORM: Form = Form {
    name: "conv2d-depthwise",
    aliases: &["depthwise"],
    summary: "depthwise convolution: one filter per channel",
    category: Category::DotProduct,
    parameters: Window::PARAMETERS,
    example: "n=32 c=256 h=28 r=3 pad=1",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let window = Window::of(given)?;
    let e = given.data_type("dtype");
    Ok(Count::new()
        .vector("multiply and add", 2.0 * window.output * window.taps, e)
        .read("x", window.input, e)
        .read("filters", window.channels * window.taps, e)
        .write("y", window.output, e)
        .work_items(window.output))
}
