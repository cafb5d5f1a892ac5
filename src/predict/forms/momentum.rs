//! `momentum`: one step of gradient descent with momentum on n parameters.
//!
//! FLOPs: 4n: v = µ·v + g, then p − rate·v.
//! Bytes: 5en, 20 bytes per parameter in fp32; p, v and g are read, p and v are written.
//! Source: I. Sutskever et al., *On the Importance of Initialization and Momentum in Deep
//! Learning*, ICML 2013; PyTorch, `torch.optim.SGD`.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "momentum",
    aliases: &["sgd-momentum"],
    summary: "one step of gradient descent with momentum",
    category: Category::Elementwise,
    parameters: &[Parameter::size("n", "parameters of the model"), DTYPE.or("fp32")],
    example: "n=100M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    Ok(Count::new()
        .vector("step", 4.0 * n, e)
        .update("p", n, e)
        .update("v", n, e)
        .read("g", n, e)
        .work_items(n))
}
