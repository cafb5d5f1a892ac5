//! `lstm-cell`: one step of an LSTM for B sequences with I inputs and h hidden units.
//!
//! FLOPs: 8Bh(I+h) for the products of the four gates, and about 30Bh for bias, sigmoid, tanh and
//! state.
//! Bytes: e(4h(I+h+2) + B(I+4h)); weights and two biases, the input, and hidden and cell state read
//! and written. At small batch the weights dominate.
//! Source: S. Hochreiter, J. Schmidhuber, *Long Short-Term Memory*, Neural Computation 9(8), 1997;
//! NVIDIA, *Recurrent Layers User's Guide*.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "lstm-cell",
    aliases: &["lstm"],
    summary: "one step of an LSTM",
    category: Category::DotProduct,
    parameters: &[
        Parameter::size("batch", "sequences"),
        Parameter::size("in", "inputs"),
        Parameter::size("hidden", "hidden units").same_as("in"),
        DTYPE.or("fp16"),
    ],
    example: "batch=64 in=1024",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let [rows, inputs, hidden] = ["batch", "in", "hidden"].map(|key| given.number(key));
    let e = given.data_type("dtype");
    Ok(Count::new()
        .products("gates", 8.0 * rows * hidden * (inputs + hidden), e)
        .vector("sigmoid, tanh and state", 30.0 * rows * hidden, e)
        .read("weights", 4.0 * hidden * (inputs + hidden), e)
        .read("biases", 8.0 * hidden, e)
        .read("x", rows * inputs, e)
        .update("hidden state", rows * hidden, e)
        .update("cell state", rows * hidden, e))
}
