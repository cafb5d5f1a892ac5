//! `adam`: one step of Adam on n parameters, or of AdamW.
//!
//! FLOPs: about 14n: first moment (3), second moment (4), both corrected (2), square root, ε,
//! division, rate and subtraction (5); weight decay adds 2n.
//! Bytes: 7en, 28 bytes per parameter in fp32; p, m, v and g are read, p, m and v are written. With
//! an fp16 gradient and an fp16 copy of the parameters (`gradient=fp16 copy=fp16`) it is 28 as
//! well.
//! Intensity: about 0.5 FLOP/B.
//! Source: D. Kingma, J. Ba, *Adam*, 2015, arXiv 1412.6980; I. Loshchilov, F. Hutter, *Decoupled
//! Weight Decay Regularization*, 2019, arXiv 1711.05101.

use super::{Arguments, Category, Count, DTYPE, Form, Kind, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "adam",
    summary: "one step of Adam or AdamW",
    category: Category::Elementwise,
    parameters: &[
        Parameter::size("n", "parameters of the model"),
        DTYPE.or("fp32"),
        Parameter::data_type("gradient", "format of the gradient").same_as("dtype"),
        Parameter::data_type("copy", "format of a second copy of the parameters that is written")
            .of(Kind::DataTypeOrNone)
            .or("none"),
        Parameter::flag("decay", "weight decay, as in AdamW"),
    ],
    example: "n=100M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    let decay = f64::from(given.is("decay")) * 2.0 * n;
    let step = Count::new()
        .vector("step", 14.0 * n + decay, e)
        .update("p", n, e)
        .update("m", n, e)
        .update("v", n, e)
        .read("g", n, given.data_type("gradient"))
        .work_items(n);
    Ok(match given.optional_data_type("copy") {
        Some(copy) => step.write("copy of p", n, copy),
        None => step,
    })
}
