//! `given`: any kernel, by the operations and bytes that are given.
//!
//! FLOPs: as given.
//! Bytes: as given.
//! Source: a profiler, a paper, or the reader's own count.

use super::{Arguments, Category, Count, DTYPE, DataType, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "given",
    summary: "any kernel whose operations and bytes are known",
    category: Category::Other,
    parameters: &[
        Parameter::real("flops", "operations").or("0"),
        Parameter::real("read", "bytes read").or("0"),
        Parameter::real("written", "bytes written").or("0"),
        Parameter::flag("product", "products of matrices, which matrix units can execute"),
        DTYPE.or("fp32"),
    ],
    example: "flops=16000 read=16",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let [flops, read, written] = ["flops", "read", "written"].map(|key| given.number(key));
    if flops < 0.0 || read < 0.0 || written < 0.0 {
        return Err(given.misfit("operations and bytes cannot be negative"));
    }
    let (e, byte) = (given.data_type("dtype"), DataType::Int8);
    let count = Count::new().read("bytes read", read, byte).write("bytes written", written, byte);
    Ok(if given.is("product") {
        count.products("operations", flops, e)
    } else {
        count.vector("operations", flops, e)
    })
}
