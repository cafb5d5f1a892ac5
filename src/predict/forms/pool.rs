//! `pool`: maximum or average over R×S windows of N images of C×H×W.
//!
//! FLOPs: RS for each of the NCPQ outputs, customary; exactly RS−1 comparisons for a maximum, RS
//! for an average (its division included). P and Q as for a convolution.
//! Bytes: e(NCHW + NCPQ), and 8·NCPQ where the places of the maxima are kept as int64.
//! Intensity: RS/(e(stride²+1)) away from the borders: 2.25 FLOP/B for 3×3, stride 1 and fp16.
//! Source: NVIDIA, *GPU Performance Background User's Guide* (2.25 FLOP/B).

use super::{Arguments, Category, Count, DataType, Form, PLAIN, PredictError, Window};

pub(super) const FORM: Form = Form {
    name: "pool",
    aliases: &["maxpool", "avgpool"],
    summary: "max or average pooling",
    category: Category::Reduction,
    parameters: Window::POOL,
    example: "n=32 c=64 h=112 r=3 pad=1",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let window = Window::of(given)?;
    let e = given.data_type("dtype");
    let one_less = given.is("exact") && given.word("kind") == "max";
    let kept = f64::from(given.is("indices")) * window.output;
    Ok(Count::new()
        .vector("compare or add", (window.taps - f64::from(one_less)) * window.output, e)
        .read("x", window.input, e)
        .write("y", window.output, e)
        .write("indices", kept, DataType::Int64)
        .work_items(window.output))
}
