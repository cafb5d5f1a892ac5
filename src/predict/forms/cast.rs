//! `cast`: the same elements in another format.
//!
//! FLOPs: 0; a conversion is no arithmetic.
//! Bytes: (e_in + e_out)N.
//! Source: NVIDIA, *Memory-Limited Layers User's Guide*.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "cast",
    aliases: &["convert"],
    summary: "converts elements to another format",
    category: Category::DataMovement,
    parameters: &[
        Parameter::size("n", "elements"),
        DTYPE.or("fp32"),
        Parameter::data_type("to", "format of the result").or("fp16"),
    ],
    example: "n=16M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    Ok(Count::new().read("x", n, e).write("y", n, given.data_type("to")).work_items(n))
}
