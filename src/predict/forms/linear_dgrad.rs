//! `linear-dgrad`: the gradient of a fully connected layer's input, dx = dy·W.
//!
//! FLOPs: 2BIO.
//! Bytes: e(BO + IO + BI); dy and weights are read, dx is written.
//! As a matrix product: m = B, n = I, k = O.
//! Source: NVIDIA, *Linear/Fully-Connected Layers User's Guide* ("activation gradient").

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError, Product};

pub(super) const FORM: Form = Form {
    name: "linear-dgrad",
    summary: "fully connected layer, gradient of its input",
    category: Category::DotProduct,
    parameters: &[
        Parameter::size("batch", "rows: batch times all leading dimensions"),
        Parameter::size("in", "inputs per row"),
        Parameter::size("out", "outputs per row"),
        DTYPE.or("fp16"),
    ],
    example: "batch=512 in=1024 out=4096",
    tiled: true,
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let [rows, inputs, outputs] = ["batch", "in", "out"].map(|key| given.number(key));
    let e = given.data_type("dtype");
    let count = Count::new()
        .products("multiply and add", 2.0 * rows * inputs * outputs, e)
        .read("dy", rows * outputs, e)
        .read("W", inputs * outputs, e)
        .write("dx", rows * inputs, e);
    Ok(count.tiled(Product { batch: 1.0, m: rows, n: inputs, k: outputs, a: e, b: e, d: e }))
}
