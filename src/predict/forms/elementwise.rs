//! `elementwise`: any operation on elements: c operations per element, a inputs, b outputs.
//!
//! FLOPs: cN.
//! Bytes: N(a·e_in + b·e_out); operands that are broadcast count at their own size.
//! Intensity: c/(e(a+b)). Fusing neighbours adds their operations and takes away what passes
//! between them, 2eN bytes for each tensor that is no longer stored.
//! Source: NVIDIA, *Memory-Limited Layers User's Guide*.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "elementwise",
    aliases: &["pointwise"],
    summary: "c operations per element on a inputs and b outputs",
    category: Category::Elementwise,
    parameters: &[
        Parameter::size("n", "elements"),
        Parameter::whole("ops", "operations per element").or("1"),
        Parameter::whole("inputs", "operands of n elements that are read").or("1"),
        Parameter::whole("outputs", "operands of n elements that are written").or("1"),
        Parameter::whole("broadcast", "elements of smaller operands, read once").or("0"),
        DTYPE.or("fp16"),
        Parameter::data_type("dtype_out", "format of the outputs").same_as("dtype"),
    ],
    example: "n=16M ops=4 inputs=3",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e, out) = (given.number("n"), given.data_type("dtype"), given.data_type("dtype_out"));
    let [ops, inputs] = ["ops", "inputs"].map(|key| given.number(key));
    let [outputs, broadcast] = ["outputs", "broadcast"].map(|key| given.number(key));
    if inputs + outputs + broadcast == 0.0 {
        return Err(given.misfit("nothing is read or written"));
    }
    Ok(Count::new()
        .vector("operations", ops * n, e.wider(out))
        .read("inputs", inputs * n, e)
        .read("broadcast operands", broadcast, e)
        .write("outputs", outputs * n, out)
        .work_items(n))
}
