//! `linear`: a fully connected layer y = x·Wᵀ (+ bias), forward, for a batch of B rows.
//!
//! FLOPs: 2BIO, and BO for a bias.
//! Bytes: e(BI + IO + BO), and eO for a bias; input and weights are read, the output is written.
//! Intensity: with few rows every weight is used once: 2/e, about 1 FLOP/B for fp16 at batch 1,
//! where 4096 outputs of 1024 inputs reach 315 at batch 512.
//! As a matrix product: m = B, n = O, k = I.
//! Source: NVIDIA, *Linear/Fully-Connected Layers User's Guide*; NVIDIA, *GPU Performance
//! Background User's Guide* (315 and 1 FLOP/B).

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError, Product};

pub(super) const FORM: Form = Form {
    name: "linear",
    aliases: &["fully-connected", "dense"],
    summary: "fully connected layer, forward",
    category: Category::DotProduct,
    parameters: &[
        Parameter::size("batch", "rows: batch times all leading dimensions"),
        Parameter::size("in", "inputs per row"),
        Parameter::size("out", "outputs per row"),
        Parameter::flag("bias", "add a bias"),
        DTYPE.or("fp16"),
        Parameter::data_type("dtype_w", "format of the weights").same_as("dtype"),
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
    let count = Count::new()
        .products("multiply and add", 2.0 * rows * inputs * outputs + rows * bias, e.wider(w))
        .read("x", rows * inputs, e)
        .read("W", inputs * outputs, w)
        .read("bias", bias, e)
        .write("y", rows * outputs, e);
    Ok(count.tiled(Product { batch: 1.0, m: rows, n: outputs, k: inputs, a: e, b: w, d: e }))
}
