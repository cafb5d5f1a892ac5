//! `linear-wgrad`: the gradient of a fully connected layer's weights, dW = dyᵀ·x.
//!
//! FLOPs: 2BIO, and BO for the gradient of a bias; adding to a gradient that is there costs IO
//! more, which the customary form leaves out as it does for any β.
//! Bytes: e(BO + BI + IO); dy and x are read, dW is written, and read where it is accumulated. The
//! gradient of a bias adds its O elements.
//! As a matrix product: m = O, n = I, k = B: with few rows it is shallow.
//! Source: NVIDIA, *Linear/Fully-Connected Layers User's Guide* ("weight gradient").

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError, Product};

pub(super) const FORM: Form = Form {
    name: "linear-wgrad",
    summary: "fully connected layer, gradient of its weights",
    category: Category::DotProduct,
    parameters: &[
        Parameter::size("batch", "rows: batch times all leading dimensions"),
        Parameter::size("in", "inputs per row"),
        Parameter::size("out", "outputs per row"),
        Parameter::flag("bias", "the gradient of a bias as well"),
        Parameter::flag("accumulate", "add to a gradient that is there"),
        DTYPE.or("fp16"),
        Parameter::data_type("dtype_w", "format of the weight gradient").same_as("dtype"),
    ],
    example: "batch=512 in=1024 out=4096",
    tiled: true,
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let [rows, inputs, outputs] = ["batch", "in", "out"].map(|key| given.number(key));
    let e = given.data_type("dtype");
    let w = given.data_type("dtype_w");
    let bias = f64::from(given.is("bias")) * outputs;
    let old = f64::from(given.is("accumulate"));
    let count = Count::new()
        .products("multiply and add", 2.0 * rows * inputs * outputs + rows * bias, e)
        .read("dy", rows * outputs, e)
        .read("x", rows * inputs, e)
        .moved("dW", inputs * outputs, w, old, 1.0)
        .moved("dbias", bias, w, old, 1.0);
    Ok(count.tiled(Product { batch: 1.0, m: outputs, n: inputs, k: rows, a: e, b: e, d: w }))
}
