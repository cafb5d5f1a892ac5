//! Fully connected layers, convolutions, and what is built of them.

use super::{
    Arguments, Category, Convolution, Count, DTYPE, Form, PLAIN, Parameter, PredictError, Product,
    Window,
};

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "linear",
        aliases: &["fully-connected", "dense"],
        summary: "fully connected layer, forward",
        category: Category::DotProduct,
        parameters: &[
            Parameter::size("batch", "rows: batch times all leading dimensions"),
            Parameter::size("in", "inputs per row"),
            Parameter::size("out", "outputs per row"),
            Parameter::flag("bias", "add a bias"),
            DTYPE.or("fp16"),
            Parameter::data_type("dtype_w", "format of the weights").same_as("dtype"),
        ],
        example: "batch=512 in=1024 out=4096",
        tiled: true,
        count: linear,
        derivation: "\
`linear`: a fully connected layer y = x·Wᵀ (+ bias), forward, for a batch of B rows.

FLOPs: 2BIO, and BO for a bias.
Bytes: e(BI + IO + BO), and eO for a bias; input and weights are read, the output is written.
Intensity: with few rows every weight is used once: 2/e, about 1 FLOP/B for fp16 at batch 1,
where 4096 outputs of 1024 inputs reach 315 at batch 512.
As a matrix product: m = B, n = O, k = I.
Source: NVIDIA, *Linear/Fully-Connected Layers User's Guide*; NVIDIA, *GPU Performance
Background User's Guide* (315 and 1 FLOP/B).",
        ..PLAIN
    },
    Form {
        name: "linear-dgrad",
        summary: "fully connected layer, gradient of its input",
        category: Category::DotProduct,
        parameters: &[
            Parameter::size("batch", "rows: batch times all leading dimensions"),
            Parameter::size("in", "inputs per row"),
            Parameter::size("out", "outputs per row"),
            DTYPE.or("fp16"),
        ],
        example: "batch=512 in=1024 out=4096",
        tiled: true,
        count: linear_dgrad,
        derivation: "\
`linear-dgrad`: the gradient of a fully connected layer's input, dx = dy·W.

FLOPs: 2BIO.
Bytes: e(BO + IO + BI); dy and weights are read, dx is written.
As a matrix product: m = B, n = I, k = O.
Source: NVIDIA, *Linear/Fully-Connected Layers User's Guide* (\"activation gradient\").",
        ..PLAIN
    },
    Form {
        name: "linear-wgrad",
        summary: "fully connected layer, gradient of its weights",
        category: Category::DotProduct,
        parameters: &[
            Parameter::size("batch", "rows: batch times all leading dimensions"),
            Parameter::size("in", "inputs per row"),
            Parameter::size("out", "outputs per row"),
            Parameter::flag("bias", "the gradient of a bias as well"),
            Parameter::flag("accumulate", "add to a gradient that is there"),
            DTYPE.or("fp16"),
            Parameter::data_type("dtype_w", "format of the weight gradient").same_as("dtype"),
        ],
        example: "batch=512 in=1024 out=4096",
        tiled: true,
        count: linear_wgrad,
        derivation: "\
`linear-wgrad`: the gradient of a fully connected layer's weights, dW = dyᵀ·x.

FLOPs: 2BIO, and BO for the gradient of a bias; adding to a gradient that is there costs IO
more, which the customary form leaves out as it does for any β.
Bytes: e(BO + BI + IO); dy and x are read, dW is written, and read where it is accumulated. The
gradient of a bias adds its O elements.
As a matrix product: m = O, n = I, k = B: with few rows it is shallow.
Source: NVIDIA, *Linear/Fully-Connected Layers User's Guide* (\"weight gradient\").",
        ..PLAIN
    },
    Form {
        name: "conv2d",
        aliases: &["conv", "convolution"],
        summary: "two-dimensional convolution, forward",
        category: Category::DotProduct,
        parameters: Convolution::PARAMETERS,
        example: "n=32 c=64 h=56 k=64 r=3 pad=1",
        tiled: true,
        count: conv2d,
        derivation: "\
`conv2d`: a two-dimensional convolution, forward: N images of C×H×W to K×P×Q with R×S filters.

FLOPs: 2·N·K·P·Q·(C/g)·R·S with g groups; taps that fall into the padding count, as they do in
the kernels. P = ⌊(H + 2·pad − dilation·(R−1) − 1)/stride⌋ + 1, and Q alike.
Winograd's F(m×m, R×R) needs fewer multiplications, by m²R²/(m+R−1)²: 2.25 for m=2 and 4 for m=4
with 3×3 filters. `winograd=m` divides by that; its transforms are not counted.
Bytes: e(NCHW + K(C/g)RS + NKPQ); input and filters are read, the output is written. Of H×W the
rows and columns are read that a tap meets: steps wider than the filter leave some out, as do taps
that fall on the same rows or on the border.
As a matrix product: m = NPQ, n = K/g, k = (C/g)RS, once per group.
Source: NVIDIA, *Convolutional Layers User's Guide* (the matrix shapes of implicit GEMM); A.
Lavin, S. Gray, *Fast Algorithms for Convolutional Neural Networks*, CVPR 2016.",
        ..PLAIN
    },
    Form {
        name: "conv2d-dgrad",
        summary: "two-dimensional convolution, gradient of its input",
        category: Category::DotProduct,
        parameters: Convolution::PARAMETERS,
        example: "n=32 c=64 h=56 k=64 r=3 pad=1",
        tiled: true,
        count: conv2d_dgrad,
        derivation: "\
`conv2d-dgrad`: the gradient of a two-dimensional convolution's input. The first layer needs
none.

FLOPs: as forward, 2·N·K·P·Q·(C/g)·R·S: each product of the forward pass returns once.
Bytes: e(NKPQ + K(C/g)RS + NCHW); dy and filters are read, dx is written.
As a matrix product: m = NHW, n = C/g, k = (K/g)RS, once per group; with a stride this shape
holds stride² times the useful work, which implicit kernels skip.
Source: NVIDIA, *Convolutional Layers User's Guide* (the matrix shapes of implicit GEMM).",
        ..PLAIN
    },
    Form {
        name: "conv2d-wgrad",
        summary: "two-dimensional convolution, gradient of its filters",
        category: Category::DotProduct,
        parameters: Convolution::PARAMETERS,
        example: "n=32 c=64 h=56 k=64 r=3 pad=1",
        tiled: true,
        count: conv2d_wgrad,
        derivation: "\
`conv2d-wgrad`: the gradient of a two-dimensional convolution's filters.

FLOPs: as forward, 2·N·K·P·Q·(C/g)·R·S.
Bytes: e(NCHW + NKPQ + K(C/g)RS); x and dy are read, the gradient is written.
As a matrix product: m = (C/g)RS, n = K/g, k = NPQ, once per group: small and deep, so kernels
split k.
Source: NVIDIA, *Convolutional Layers User's Guide* (the matrix shapes of implicit GEMM).",
        ..PLAIN
    },
    Form {
        name: "conv2d-depthwise",
        aliases: &["depthwise"],
        summary: "depthwise convolution: one filter per channel",
        category: Category::DotProduct,
        parameters: Window::PARAMETERS,
        example: "n=32 c=256 h=28 r=3 pad=1",
        count: conv2d_depthwise,
        derivation: "\
`conv2d-depthwise`: a depthwise convolution, one R×S filter for each of C channels (g = C = K).

FLOPs: 2·N·C·P·Q·R·S.
Bytes: e(NCHW + CRS + NCPQ); input and filters are read, the output is written.
Intensity: RS/e at stride 1: 4.5 FLOP/B for 3×3 and fp16, so memory limits it.
There is no matrix product in it: kernels run it on the vector units.
Source: NVIDIA, *Convolutional Layers User's Guide* (the matrix shapes of implicit GEMM) with
one channel per group.",
        ..PLAIN
    },
    Form {
        name: "conv2d-transposed",
        aliases: &["deconv2d"],
        summary: "transposed convolution: the data gradient run forward",
        category: Category::DotProduct,
        parameters: &[
            Parameter::size("n", "images"),
            Parameter::size("c", "input channels"),
            Parameter::size("h", "input height"),
            Parameter::size("w", "input width").same_as("h"),
            Parameter::size("k", "output channels"),
            Parameter::size("r", "filter height"),
            Parameter::size("s", "filter width").same_as("r"),
            Parameter::size("stride", "step of the filter on the output").or("1"),
            Parameter::whole("pad", "rows and columns cut from each border of the output").or("0"),
            Parameter::size("dilation", "distance of the filter's taps").or("1"),
            Parameter::whole("output_pad", "rows and columns added at one border").or("0"),
            Parameter::size("groups", "groups of channels").or("1"),
            DTYPE.or("fp16"),
        ],
        example: "n=32 c=64 h=28 k=32 r=4 stride=2 pad=1",
        tiled: true,
        count: conv2d_transposed,
        derivation: "\
`conv2d-transposed`: a transposed convolution, N images of C×H×W to K×P×Q, larger by the stride.

FLOPs: 2·N·C·H·W·(K/g)·R·S: the forward form with input and output exchanged, every input
element meets every tap of its filters. P = (H−1)·stride − 2·pad + dilation·(R−1) + output_pad +
1.
Bytes: e(NCHW + C(K/g)RS + NKPQ); input and filters are read, the output is written.
As a matrix product: m = NHW, n = (K/g)RS, k = C/g, once per group, summed into the output.
Source: V. Dumoulin, F. Visin, *A Guide to Convolution Arithmetic for Deep Learning*, 2016,
arXiv 1603.07285, chapter 4.",
        ..PLAIN
    },
    Form {
        name: "moe",
        aliases: &["grouped-gemm"],
        summary: "grouped product of a mixture of experts",
        category: Category::DotProduct,
        parameters: &[
            Parameter::size("rows", "rows of all experts together: tokens times experts per token"),
            Parameter::size("experts", "experts that receive at least one row"),
            Parameter::size("n", "outputs per row"),
            Parameter::size("k", "inputs per row"),
            DTYPE.or("fp16"),
            Parameter::data_type("dtype_w", "format of the weights").same_as("dtype"),
        ],
        example: "rows=16Ki experts=8 n=14336 k=4096",
        tiled: true,
        count: moe,
        derivation: "\
`moe`: the grouped matrix product of a mixture of experts, each expert with its own weights and
rows.

FLOPs: Σ 2·m_x·N·K over the experts, which is 2·rows·N·K: it does not matter who gets the rows.
Bytes: e(rows·K + experts·N·K + rows·N); rows in and out, and the weights of every expert that
is touched. An expert without rows costs nothing.
As a matrix product: one per expert; tiles are estimated for rows spread evenly.
Source: T. Gale, D. Narayanan, C. Young, M. Zaharia, *MegaBlocks: Efficient Sparse Training with
Mixture-of-Experts*, MLSys 2023, arXiv 2211.15841.",
        ..PLAIN
    },
    Form {
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
        count: lstm_cell,
        derivation: "\
`lstm-cell`: one step of an LSTM for B sequences with I inputs and h hidden units.

FLOPs: 8Bh(I+h) for the products of the four gates, and about 30Bh for bias, sigmoid, tanh and
state.
Bytes: e(4h(I+h+2) + B(I+4h)); weights and two biases, the input, and hidden and cell state read
and written. At small batch the weights dominate.
Source: S. Hochreiter, J. Schmidhuber, *Long Short-Term Memory*, Neural Computation 9(8), 1997;
NVIDIA, *Recurrent Layers User's Guide*.",
        ..PLAIN
    },
];

fn linear(given: &Arguments) -> Result<Count, PredictError> {
    let [rows, inputs, outputs] = ["batch", "in", "out"].map(|key| given.number(key));
    let e = given.data_type("dtype");
    let w = given.data_type("dtype_w");
    let format = given.multiplied(e, w)?;
    let bias = f64::from(given.is("bias")) * outputs;
    let count = Count::new()
        .products("multiply and add", 2.0 * rows * inputs * outputs + rows * bias, format)
        .read("x", rows * inputs, e)
        .read("W", inputs * outputs, w)
        .read("bias", bias, e)
        .write("y", rows * outputs, e);
    Ok(count.tiled(Product { batch: 1.0, m: rows, n: outputs, k: inputs, a: e, b: w, d: e }))
}

fn linear_dgrad(given: &Arguments) -> Result<Count, PredictError> {
    let [rows, inputs, outputs] = ["batch", "in", "out"].map(|key| given.number(key));
    let e = given.data_type("dtype");
    let count = Count::new()
        .products("multiply and add", 2.0 * rows * inputs * outputs, e)
        .read("dy", rows * outputs, e)
        .read("W", inputs * outputs, e)
        .write("dx", rows * inputs, e);
    Ok(count.tiled(Product { batch: 1.0, m: rows, n: inputs, k: outputs, a: e, b: e, d: e }))
}

fn linear_wgrad(given: &Arguments) -> Result<Count, PredictError> {
    let [rows, inputs, outputs] = ["batch", "in", "out"].map(|key| given.number(key));
    let e = given.data_type("dtype");
    let w = given.data_type("dtype_w");
    let bias = f64::from(given.is("bias")) * outputs;
    let old = f64::from(given.is("accumulate"));
    let count = Count::new()
        .products("multiply and add", 2.0 * rows * inputs * outputs + rows * bias, e)
        .read("dy", rows * outputs, e)
        .read("x", rows * inputs, e)
        .moved("dW", inputs * outputs, w, old, 1.0)
        .moved("dbias", bias, w, old, 1.0);
    Ok(count.tiled(Product { batch: 1.0, m: outputs, n: inputs, k: rows, a: e, b: e, d: w }))
}

fn conv2d(given: &Arguments) -> Result<Count, PredictError> {
    let conv = Convolution::of(given)?;
    let e = conv.data_type;
    let count = Count::new()
        .products("multiply and add", conv.operations(), e)
        .read("x", conv.met, e)
        .read("filters", conv.filters, e)
        .write("y", conv.output, e);
    let (m, n, k) = (conv.positions, conv.outputs / conv.groups, conv.depth);
    Ok(count.tiled(Product { batch: conv.groups, m, n, k, a: e, b: e, d: e }))
}

fn conv2d_dgrad(given: &Arguments) -> Result<Count, PredictError> {
    let conv = Convolution::of(given)?;
    let e = conv.data_type;
    let count = Count::new()
        .products("multiply and add", conv.operations(), e)
        .read("dy", conv.output, e)
        .read("filters", conv.filters, e)
        .write("dx", conv.input, e);
    let (m, n) = (conv.pixels, conv.inputs / conv.groups);
    let k = conv.outputs / conv.groups * conv.taps;
    Ok(count.tiled(Product { batch: conv.groups, m, n, k, a: e, b: e, d: e }))
}

fn conv2d_wgrad(given: &Arguments) -> Result<Count, PredictError> {
    let conv = Convolution::of(given)?;
    let e = conv.data_type;
    let count = Count::new()
        .products("multiply and add", conv.operations(), e)
        .read("x", conv.met, e)
        .read("dy", conv.output, e)
        .write("dfilters", conv.filters, e);
    let (m, n, k) = (conv.depth, conv.outputs / conv.groups, conv.positions);
    Ok(count.tiled(Product { batch: conv.groups, m, n, k, a: e, b: e, d: e }))
}

fn conv2d_depthwise(given: &Arguments) -> Result<Count, PredictError> {
    let window = Window::of(given)?;
    let e = given.data_type("dtype");
    Ok(Count::new()
        .vector("multiply and add", 2.0 * window.output * window.taps, e)
        .read("x", window.met, e)
        .read("filters", window.channels * window.taps, e)
        .write("y", window.output, e)
        .work_items(window.output))
}

fn conv2d_transposed(given: &Arguments) -> Result<Count, PredictError> {
    let [images, c, h, w] = ["n", "c", "h", "w"].map(|key| given.number(key));
    let [k, r, s, groups] = ["k", "r", "s", "groups"].map(|key| given.number(key));
    let e = given.data_type("dtype");
    if c % groups != 0.0 || k % groups != 0.0 {
        return Err(given.misfit(format!("groups={groups} must divide c={c} and k={k}")));
    }
    let larger = |length: f64, taps: f64| {
        (length - 1.0) * given.number("stride") - 2.0 * given.number("pad")
            + given.number("dilation") * (taps - 1.0)
            + given.number("output_pad")
            + 1.0
    };
    let (p, q) = (larger(h, r), larger(w, s));
    if p < 1.0 || q < 1.0 {
        return Err(given.misfit(format!("pad leaves an output of {p}×{q}")));
    }
    let pixels = images * h * w;
    let count = Count::new()
        .products("multiply and add", 2.0 * pixels * c * (k / groups) * r * s, e)
        .read("x", pixels * c, e)
        .read("filters", c * (k / groups) * r * s, e)
        .write("y", images * k * p * q, e);
    let (n, depth) = (k / groups * r * s, c / groups);
    Ok(count.tiled(Product { batch: groups, m: pixels, n, k: depth, a: e, b: e, d: e }))
}

fn moe(given: &Arguments) -> Result<Count, PredictError> {
    let [rows, experts, n, k] = ["rows", "experts", "n", "k"].map(|key| given.number(key));
    let (e, w) = (given.data_type("dtype"), given.data_type("dtype_w"));
    if experts > rows {
        return Err(given.misfit(format!("{rows} rows reach at most {rows} experts")));
    }
    let format = given.multiplied(e, w)?;
    let count = Count::new()
        .products("multiply and add", 2.0 * rows * n * k, format)
        .read("x", rows * k, e)
        .read("W", experts * n * k, w)
        .write("y", rows * n, e);
    Ok(count.tiled(Product { batch: experts, m: rows / experts, n, k, a: e, b: w, d: e }))
}

fn lstm_cell(given: &Arguments) -> Result<Count, PredictError> {
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
