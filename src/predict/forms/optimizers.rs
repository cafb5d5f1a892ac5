//! Steps of optimizers.

use super::{
    Arguments, Category, Count, DTYPE, Form, Kind, Operand, PLAIN, Parameter, PredictError, each,
};

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "sgd",
        summary: "one step of gradient descent",
        category: Category::Elementwise,
        parameters: &[Parameter::size("n", "parameters of the model"), DTYPE.or("fp32")],
        example: "n=100M",
        count: |given| each(given, "step", 2.0, &[Operand::Update("p"), Operand::Read("g")]),
        derivation: "\
`sgd`: one step of gradient descent on n parameters.

FLOPs: 2n, p − rate·g.
Bytes: 3en, 12 bytes per parameter in fp32; p and g are read, p is written.
Source: PyTorch, `torch.optim.SGD`, without momentum.",
        ..PLAIN
    },
    Form {
        name: "momentum",
        aliases: &["sgd-momentum"],
        summary: "one step of gradient descent with momentum",
        category: Category::Elementwise,
        parameters: &[Parameter::size("n", "parameters of the model"), DTYPE.or("fp32")],
        example: "n=100M",
        count: |given| {
            each(
                given,
                "step",
                4.0,
                &[Operand::Update("p"), Operand::Update("v"), Operand::Read("g")],
            )
        },
        derivation: "\
`momentum`: one step of gradient descent with momentum on n parameters.

FLOPs: 4n: v = µ·v + g, then p − rate·v.
Bytes: 5en, 20 bytes per parameter in fp32; p, v and g are read, p and v are written.
Source: I. Sutskever et al., *On the Importance of Initialization and Momentum in Deep
Learning*, ICML 2013; PyTorch, `torch.optim.SGD`.",
        ..PLAIN
    },
    Form {
        name: "adam",
        summary: "one step of Adam or AdamW",
        category: Category::Elementwise,
        parameters: &[
            Parameter::size("n", "parameters of the model"),
            DTYPE.or("fp32"),
            Parameter::data_type("gradient", "format of the gradient").same_as("dtype"),
            Parameter::data_type(
                "copy",
                "format of a second copy of the parameters that is written",
            )
            .of(Kind::DataTypeOrNone)
            .or("none"),
            Parameter::flag("decay", "weight decay, as in AdamW"),
        ],
        example: "n=100M",
        count: adam,
        derivation: "\
`adam`: one step of Adam on n parameters, or of AdamW.

FLOPs: about 14n: first moment (3), second moment (4), both corrected (2), square root, ε,
division, rate and subtraction (5); weight decay adds 2n.
Bytes: 7en, 28 bytes per parameter in fp32; p, m, v and g are read, p, m and v are written. With
an fp16 gradient and an fp16 copy of the parameters (`gradient=fp16 copy=fp16`) it is 28 as
well.
Intensity: about 0.5 FLOP/B.
Source: D. Kingma, J. Ba, *Adam*, 2015, arXiv 1412.6980; I. Loshchilov, F. Hutter, *Decoupled
Weight Decay Regularization*, 2019, arXiv 1711.05101.",
        ..PLAIN
    },
];

fn adam(given: &Arguments) -> Result<Count, PredictError> {
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
