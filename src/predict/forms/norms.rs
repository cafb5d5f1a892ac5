//! Reductions, softmax and normalization.

use super::{
    Arguments, Category, Count, DTYPE, DataType, Form, Operand, PLAIN, Parameter, PredictError,
    Window, each,
};

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "reduction",
        summary: "n elements to m, by sums or maxima",
        category: Category::Reduction,
        parameters: &[
            Parameter::size("n", "elements"),
            Parameter::size("m", "results").or("1"),
            DTYPE.or("fp32"),
        ],
        example: "n=16M",
        count: reduction,
        derivation: "\
`reduction`: n elements to m results, by sums, maxima or any operation of two.

FLOPs: n − m; each operation takes one element away.
Bytes: e(n + m).
Source: M. Harris, *Optimizing Parallel Reduction in CUDA*, NVIDIA, 2007.",
        ..PLAIN
    },
    Form {
        name: "pool",
        aliases: &["maxpool", "avgpool"],
        summary: "max or average pooling",
        category: Category::Reduction,
        parameters: Window::POOL,
        example: "n=32 c=64 h=112 r=3 pad=1",
        count: pool,
        derivation: "\
`pool`: maximum or average over R×S windows of N images of C×H×W.

FLOPs: RS for each of the NCPQ outputs, customary; exactly RS−1 comparisons for a maximum, RS
for an average (its division included). P and Q as for a convolution.
Bytes: e(NCHW + NCPQ), and 8·NCPQ where the places of the maxima are kept as int64.
Intensity: RS/(e(stride²+1)) away from the borders: 2.25 FLOP/B for 3×3, stride 1 and fp16.
Source: NVIDIA, *GPU Performance Background User's Guide* (2.25 FLOP/B).",
        ..PLAIN
    },
    Form {
        name: "softmax",
        summary: "softmax over rows",
        category: Category::Reduction,
        parameters: &[
            Parameter::size("rows", "rows: all leading dimensions multiplied"),
            Parameter::size("columns", "elements per row"),
            DTYPE.or("fp16"),
            Parameter::flag("on_chip", "a row fits on chip and is read once").or("yes"),
        ],
        example: "rows=8192 columns=4096",
        count: softmax,
        derivation: "\
`softmax`: the softmax of R rows of C elements.

FLOPs: 5RC: maximum, subtraction, exponential, sum, division.
Bytes: 2eRC if a row stays on chip; else 4eRC, since the row is read for its maximum, for its
sum, and for the result.
Intensity: 5/(2e): 1.25 FLOP/B for fp16.
Source: M. Milakov, N. Gimelshein, *Online Normalizer Calculation for Softmax*, 2018, arXiv
1805.02867 (memory accesses per element).",
        ..PLAIN
    },
    Form {
        name: "softmax-backward",
        summary: "gradient of softmax over rows",
        category: Category::Reduction,
        parameters: &[
            Parameter::size("rows", "rows: all leading dimensions multiplied"),
            Parameter::size("columns", "elements per row"),
            DTYPE.or("fp16"),
        ],
        example: "rows=8192 columns=4096",
        count: softmax_backward,
        derivation: "\
`softmax-backward`: dx = (dy − Σ dy·y)·y over rows.

FLOPs: 4RC: multiplication, sum, subtraction, multiplication.
Bytes: 3eRC; y and dy are read, dx is written.
Source: T. Dao, D. Fu, S. Ermon, A. Rudra, C. Ré, *FlashAttention*, NeurIPS 2022, arXiv
2205.14135, appendix B.",
        ..PLAIN
    },
    Form {
        name: "log-softmax-nll",
        aliases: &["cross-entropy"],
        summary: "cross entropy: log-softmax and the negative log-likelihood",
        category: Category::Reduction,
        parameters: &[
            Parameter::size("rows", "rows, one label each"),
            Parameter::size("columns", "classes"),
            DTYPE.or("fp16"),
            Parameter::flag("output", "store the log-softmax as well"),
        ],
        example: "rows=8192 columns=32000",
        count: log_softmax_nll,
        derivation: "\
`log-softmax-nll`: log-softmax over R rows of C classes and the loss at each row's label.

FLOPs: 5RC + R.
Bytes: eRC + R(8+e); the logits and an int64 label per row are read, a loss per row is written.
The log-softmax itself adds eRC where it is stored.
Source: M. Milakov, N. Gimelshein, *Online Normalizer Calculation for Softmax*, 2018, arXiv
1805.02867; PyTorch, `CrossEntropyLoss` (int64 labels).",
        ..PLAIN
    },
    Form {
        name: "layernorm",
        summary: "layer normalization, forward",
        category: Category::Reduction,
        parameters: &[
            Parameter::size("rows", "rows: all leading dimensions multiplied"),
            Parameter::size("columns", "elements per row"),
            DTYPE.or("fp16"),
            Parameter::flag("statistics", "keep mean and deviation for the backward pass"),
        ],
        example: "rows=8192 columns=4096",
        count: layernorm,
        derivation: "\
`layernorm`: layer normalization of R rows of C elements, forward.

FLOPs: 8RC: a sum, then difference, square and sum, then difference, deviation, weight and bias.
Bytes: 2eRC + 2eC; x is read once and kept on chip, weight and bias are read, y is written. The
statistics add 8R, two fp32 numbers per row.
Intensity: 8/(2e), about 2 FLOP/B for fp16; \"less than 10\" in NVIDIA's guide.
Source: J. Ba, J. Kiros, G. Hinton, *Layer Normalization*, 2016, arXiv 1607.06450.",
        ..PLAIN
    },
    Form {
        name: "layernorm-backward",
        summary: "gradients of layer normalization",
        category: Category::Reduction,
        parameters: &[
            Parameter::size("rows", "rows: all leading dimensions multiplied"),
            Parameter::size("columns", "elements per row"),
            DTYPE.or("fp16"),
        ],
        example: "rows=8192 columns=4096",
        count: layernorm_backward,
        derivation: "\
`layernorm-backward`: the gradients of layer normalization by input, weight and bias.

FLOPs: about 14RC: the normalized x (2), weighted dy and two sums (4), dx (5, weighted dy
again), the gradients of weight and bias (3).
Bytes: 3eRC + 3eC + 8R; x and dy are read, dx is written; the weight is read, its gradient and
that of the bias are written; two fp32 statistics per row are read.
Source: J. Ba, J. Kiros, G. Hinton, *Layer Normalization*, 2016, arXiv 1607.06450; lower orders
of the bytes derived here.",
        ..PLAIN
    },
    Form {
        name: "rmsnorm",
        summary: "root-mean-square normalization",
        category: Category::Reduction,
        parameters: &[
            Parameter::size("rows", "rows: all leading dimensions multiplied"),
            Parameter::size("columns", "elements per row"),
            DTYPE.or("fp16"),
        ],
        example: "rows=8192 columns=4096",
        count: rmsnorm,
        derivation: "\
`rmsnorm`: normalization of R rows of C elements by their root mean square.

FLOPs: 4RC: square, sum, scaling, weight.
Bytes: 2eRC + eC; x is read once and kept on chip, the weight is read, y is written.
Intensity: 4/(2e), about 1 FLOP/B for fp16.
Source: B. Zhang, R. Sennrich, *Root Mean Square Layer Normalization*, 2019, arXiv 1910.07467.",
        ..PLAIN
    },
    Form {
        name: "batchnorm",
        summary: "batch normalization, training forward",
        category: Category::Reduction,
        parameters: &[
            Parameter::size("n", "elements: images times channels times pixels"),
            DTYPE.or("fp16"),
            Parameter::flag("single_pass", "one kernel holds the data on chip between its passes"),
        ],
        example: "n=32*64*56*56",
        count: batchnorm,
        derivation: "\
`batchnorm`: batch normalization in training, forward, of n = NCHW elements.

FLOPs: 7n: a sum, then difference, square and sum, then difference, scale and shift.
Bytes: 3en, a pass for the statistics and a pass that applies them; 2en if one kernel holds the
data (`single_pass=yes`). What belongs to a channel is left out.
Source: S. Ioffe, C. Szegedy, *Batch Normalization*, 2015, arXiv 1502.03167.",
        ..PLAIN
    },
    Form {
        name: "batchnorm-backward",
        summary: "gradients of batch normalization",
        category: Category::Reduction,
        parameters: &[
            Parameter::size("n", "elements: images times channels times pixels"),
            DTYPE.or("fp16"),
            Parameter::flag("single_pass", "one kernel holds the data on chip between its passes"),
        ],
        example: "n=32*64*56*56",
        count: batchnorm_backward,
        derivation: "\
`batchnorm-backward`: the gradients of batch normalization, of n = NCHW elements.

FLOPs: about 11n: the normalized x (2), its product with dy and two sums (3); again the
normalized x (2) and dx (4).
Bytes: 5en, x and dy are read twice, dx is written; 3en in a single pass (`single_pass=yes`).
Source: S. Ioffe, C. Szegedy, *Batch Normalization*, 2015, arXiv 1502.03167.",
        ..PLAIN
    },
    Form {
        name: "batchnorm-inference",
        summary: "batch normalization, inference",
        category: Category::Elementwise,
        parameters: &[
            Parameter::size("n", "elements: images times channels times pixels"),
            DTYPE.or("fp16"),
        ],
        example: "n=32*64*56*56",
        count: |given| {
            each(given, "scale and shift", 2.0, &[Operand::Read("x"), Operand::Write("y")])
        },
        derivation: "\
`batchnorm-inference`: batch normalization with known statistics, of n = NCHW elements.

FLOPs: 2n: a scale and a shift, folded beforehand for each channel.
Bytes: 2en.
Intensity: 1/e: 0.5 FLOP/B for fp16.
Source: S. Ioffe, C. Szegedy, *Batch Normalization*, 2015, arXiv 1502.03167, section 3.1.",
        ..PLAIN
    },
];

fn reduction(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    let m = given.number("m");
    if m > n {
        return Err(given.misfit(format!("{n} elements give at most {n} results")));
    }
    Ok(Count::new()
        .vector("combine", n - m, e)
        .read("x", n, e)
        .write("results", m, e)
        .work_items(n))
}

fn pool(given: &Arguments) -> Result<Count, PredictError> {
    let window = Window::of(given)?;
    let e = given.data_type("dtype");
    let is_max = given.word("kind") == "max";
    if given.is("indices") && !is_max {
        return Err(given.misfit("indices are the places of maxima: they need kind=max"));
    }
    let one_less = given.is("exact") && is_max;
    let kept = f64::from(given.is("indices")) * window.output;
    Ok(Count::new()
        .vector("compare or add", (window.taps - f64::from(one_less)) * window.output, e)
        .read("x", window.met, e)
        .write("y", window.output, e)
        .write("indices", kept, DataType::Int64)
        .work_items(window.output))
}

fn softmax(given: &Arguments) -> Result<Count, PredictError> {
    let (rows, columns, e) =
        (given.number("rows"), given.number("columns"), given.data_type("dtype"));
    let n = rows * columns;
    let reads = if given.is("on_chip") { 1.0 } else { 3.0 };
    Ok(Count::new()
        .vector("softmax", 5.0 * n, e)
        .moved("x", n, e, reads, 0.0)
        .write("y", n, e)
        .work_items(n))
}

fn softmax_backward(given: &Arguments) -> Result<Count, PredictError> {
    let (rows, columns, e) =
        (given.number("rows"), given.number("columns"), given.data_type("dtype"));
    let n = rows * columns;
    Ok(Count::new()
        .vector("softmax gradient", 4.0 * n, e)
        .read("y", n, e)
        .read("dy", n, e)
        .write("dx", n, e)
        .work_items(n))
}

fn log_softmax_nll(given: &Arguments) -> Result<Count, PredictError> {
    let (rows, columns, e) =
        (given.number("rows"), given.number("columns"), given.data_type("dtype"));
    let n = rows * columns;
    Ok(Count::new()
        .vector("log-softmax", 5.0 * n + rows, e)
        .read("x", n, e)
        .read("labels", rows, DataType::Int64)
        .write("losses", rows, e)
        .write("log-softmax", f64::from(given.is("output")) * n, e)
        .work_items(n))
}

fn layernorm(given: &Arguments) -> Result<Count, PredictError> {
    let (rows, columns, e) =
        (given.number("rows"), given.number("columns"), given.data_type("dtype"));
    let n = rows * columns;
    let kept = f64::from(given.is("statistics")) * 2.0 * rows;
    Ok(Count::new()
        .vector("normalize", 8.0 * n, e)
        .read("x", n, e)
        .read("weight", columns, e)
        .read("bias", columns, e)
        .write("y", n, e)
        .write("statistics", kept, DataType::Fp32)
        .work_items(n))
}

fn layernorm_backward(given: &Arguments) -> Result<Count, PredictError> {
    let (rows, columns, e) =
        (given.number("rows"), given.number("columns"), given.data_type("dtype"));
    let n = rows * columns;
    Ok(Count::new()
        .vector("gradients", 14.0 * n, e)
        .read("x", n, e)
        .read("dy", n, e)
        .read("weight", columns, e)
        .read("statistics", 2.0 * rows, DataType::Fp32)
        .write("dx", n, e)
        .write("dweight", columns, e)
        .write("dbias", columns, e)
        .work_items(n))
}

fn rmsnorm(given: &Arguments) -> Result<Count, PredictError> {
    let (rows, columns, e) =
        (given.number("rows"), given.number("columns"), given.data_type("dtype"));
    let n = rows * columns;
    Ok(Count::new()
        .vector("normalize", 4.0 * n, e)
        .read("x", n, e)
        .read("weight", columns, e)
        .write("y", n, e)
        .work_items(n))
}

fn batchnorm(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    let reads = if given.is("single_pass") { 1.0 } else { 2.0 };
    Ok(Count::new()
        .vector("normalize", 7.0 * n, e)
        .moved("x", n, e, reads, 0.0)
        .write("y", n, e)
        .work_items(n))
}

fn batchnorm_backward(given: &Arguments) -> Result<Count, PredictError> {
    let (n, e) = (given.number("n"), given.data_type("dtype"));
    let reads = if given.is("single_pass") { 1.0 } else { 2.0 };
    Ok(Count::new()
        .vector("gradients", 11.0 * n, e)
        .moved("x", n, e, reads, 0.0)
        .moved("dy", n, e, reads, 0.0)
        .write("dx", n, e)
        .work_items(n))
}
