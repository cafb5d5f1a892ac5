//! `sgd`: one step of gradient descent on n parameters.
//!
//! FLOPs: 2n, p − rate·g.
//! Bytes: 3en, 12 bytes per parameter in fp32; p and g are read, p is written.
//! Source: PyTorch, `torch.optim.SGD`, without momentum.

use super::{Arguments, Category, Count, DTYPE, Form, PLAIN, Parameter, PredictError};

pub(super) const FORM: Form = Form {
    name: "sgd",
    summary: "one step of gradient descent",
    category: Category::Elementwise,
    parameters: &[Parameter::size("n", "parameters of the model"), DTYPE.or("fp32")],
    example: "n=100M",
    count,
    ..PLAIN
};

fn count(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    Ok(Count::new().vector("step", 2.0 * n, e).update("p", n, e).read("g", n, e).work_items(n))
}
