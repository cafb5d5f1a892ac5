//! `dropout`: zeroes elements at random, scales the others, and keeps the mask for the backward
//! pass.
//!
//! FLOPs: 2N, a comparison and a scaling; drawing the random numbers is integer work and not
//! counted.
//! Bytes: (2e+1)N; x is read, y and a mask of one byte are written.
//! Source: N. Srivastava et al., *Dropout*, JMLR 15, 2014.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "dropout",
    summary: "zeroes elements at random and keeps the mask",
    category: Category::Elementwise,
    parameters: &[
        Parameter::size("n", "elements"),
        DTYPE.or("fp16"),
        Parameter::data_type("mask", "format of the mask").or("bool"),
    ],
    example: "n=16M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    Ok(Count::new()
        .vector("compare and scale", 2.0 * n, e)
        .read("x", n, e)
        .write("y", n, e)
        .write("mask", n, given.data_type("mask"))
        .work_items(n))
}
