//! Each result from one element of each operand.

use super::{
    Arguments, Category, Count, DTYPE, DataType, Form, Operand, PLAIN, Parameter, PredictError,
    each, elements,
};

pub(super) const FORMS: &[Form] = &[
    Form {
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
        count: elementwise,
        derivation: "\
`elementwise`: any operation on elements: c operations per element, a inputs, b outputs.

FLOPs: cN.
Bytes: N(a·e_in + b·e_out); operands that are broadcast count at their own size.
Intensity: c/(e(a+b)). Fusing neighbors adds their operations and takes away what passes
between them, 2eN bytes for each tensor that is no longer stored.
Source: NVIDIA, *Memory-Limited Layers User's Guide*.",
        ..PLAIN
    },
    Form {
        name: "relu",
        summary: "max(x, 0) on every element",
        category: Category::Elementwise,
        parameters: &elements("fp16"),
        example: "n=16M",
        count: |given| each(given, "relu", 1.0, &[Operand::Read("x"), Operand::Write("y")]),
        derivation: "\
`relu`: max(x, 0) on every element.

FLOPs: N, a comparison.
Bytes: 2eN; x is read, y is written.
Intensity: 1/(2e): 0.25 FLOP/B for fp16, 0.125 for fp32.
Source: NVIDIA, *GPU Performance Background User's Guide* (0.25 FLOP/B for fp16).",
        ..PLAIN
    },
    Form {
        name: "relu-backward",
        summary: "gradient of ReLU",
        category: Category::Elementwise,
        parameters: &elements("fp16"),
        example: "n=16M",
        count: |given| {
            each(
                given,
                "compare",
                1.0,
                &[Operand::Read("x"), Operand::Read("dy"), Operand::Write("dx")],
            )
        },
        derivation: "\
`relu-backward`: dx = dy where x > 0, else 0.

FLOPs: N, a comparison.
Bytes: 3eN; dy and x (or y) are read, dx is written.
Intensity: 1/(3e): 1/6 FLOP/B for fp16.
Source: NVIDIA, *Memory-Limited Layers User's Guide*.",
        ..PLAIN
    },
    Form {
        name: "gelu",
        summary: "the Gaussian error linear unit in its tanh form",
        category: Category::Elementwise,
        parameters: &elements("fp16"),
        example: "n=16M",
        count: |given| each(given, "gelu", 8.0, &[Operand::Read("x"), Operand::Write("y")]),
        derivation: "\
`gelu`: the Gaussian error linear unit in its tanh form.

FLOPs: about 8N: the cube, two scalings, tanh and the rest.
Bytes: 2eN; x is read, y is written.
Intensity: 8/(2e).
Source: D. Hendrycks, K. Gimpel, *Gaussian Error Linear Units*, 2016, arXiv 1606.08415.",
        ..PLAIN
    },
    Form {
        name: "silu",
        aliases: &["swish"],
        summary: "x·sigmoid(x), also called swish",
        category: Category::Elementwise,
        parameters: &elements("fp16"),
        example: "n=16M",
        count: |given| each(given, "silu", 4.0, &[Operand::Read("x"), Operand::Write("y")]),
        derivation: "\
`silu`: x·sigmoid(x), also called swish.

FLOPs: 4N: exponential, addition, division, multiplication; a sign is free.
Bytes: 2eN; x is read, y is written.
Intensity: 4/(2e).
Source: S. Elfwing, E. Uchibe, K. Doya, *Sigmoid-Weighted Linear Units*, 2017, arXiv 1702.03118.",
        ..PLAIN
    },
    Form {
        name: "sigmoid",
        summary: "1/(1 + exp(−x)) on every element",
        category: Category::Elementwise,
        parameters: &elements("fp16"),
        example: "n=16M",
        count: |given| each(given, "sigmoid", 3.0, &[Operand::Read("x"), Operand::Write("y")]),
        derivation: "\
`sigmoid`: 1/(1 + exp(−x)) on every element.

FLOPs: 3N: exponential, addition, division; a sign is free.
Bytes: 2eN; x is read, y is written.
Intensity: 3/(2e).
Source: NVIDIA, *GPU Performance Background User's Guide*, \"DNN Operation Categories\".",
        ..PLAIN
    },
    Form {
        name: "dropout",
        summary: "zeroes elements at random and keeps the mask",
        category: Category::Elementwise,
        parameters: &[
            Parameter::size("n", "elements"),
            DTYPE.or("fp16"),
            Parameter::data_type("mask", "format of the mask").or("bool"),
        ],
        example: "n=16M",
        count: dropout,
        derivation: "\
`dropout`: zeroes elements at random, scales the others, and keeps the mask for the backward
pass.

FLOPs: 2N, a comparison and a scaling; drawing the random numbers is integer work and not
counted.
Bytes: (2e+1)N; x is read, y and a mask of one byte are written.
Source: N. Srivastava et al., *Dropout*, JMLR 15, 2014.",
        ..PLAIN
    },
    Form {
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
        count: cast,
        derivation: "\
`cast`: the same elements in another format.

FLOPs: 0; a conversion counts as no arithmetic.
Bytes: (e_in + e_out)N.
Source: NVIDIA, *Memory-Limited Layers User's Guide*.",
        ..PLAIN
    },
    Form {
        name: "quantize",
        aliases: &["quantise"],
        summary: "rows to integers or fp8 with a scale per row",
        category: Category::Elementwise,
        parameters: &[
            Parameter::size("rows", "rows, each with a scale"),
            Parameter::size("columns", "elements per row"),
            DTYPE.or("fp16"),
            Parameter::data_type("to", "format of the result").or("int8"),
        ],
        example: "rows=8192 columns=4096",
        count: quantize,
        derivation: "\
`quantize`: R rows of C elements to int8 or fp8, each row scaled by its largest magnitude.

FLOPs: about 4N for N = RC: magnitude and maximum, scaling, rounding, clamping.
Bytes: (e + e_to)N + 4R, 3N + 4R from fp16 to int8; the row stays on chip between its two
passes, the scales are fp32.
Source: T. Dettmers et al., *LLM.int8()*, NeurIPS 2022, arXiv 2208.07339 (row-wise scaling).",
        ..PLAIN
    },
];

fn elementwise(given: &Arguments) -> Result<Count, PredictError> {
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

fn dropout(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    Ok(Count::new()
        .vector("compare and scale", 2.0 * n, e)
        .read("x", n, e)
        .write("y", n, e)
        .write("mask", n, given.data_type("mask"))
        .work_items(n))
}

fn cast(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    Ok(Count::new().read("x", n, e).write("y", n, given.data_type("to")).work_items(n))
}

fn quantize(given: &Arguments) -> Result<Count, PredictError> {
    let (rows, columns) = (given.number("rows"), given.number("columns"));
    let (n, e) = (rows * columns, given.data_type("dtype"));
    Ok(Count::new()
        .vector("scale and round", 4.0 * n, e)
        .read("x", n, e)
        .write("q", n, given.data_type("to"))
        .write("scales", rows, DataType::Fp32)
        .work_items(n))
}
