//! Operators of `PyTorch` → what they have to do: which tensors count, under which name.

use std::collections::HashMap;

use super::operands::Called;
use crate::ingest::operators::operator::Operator;
use crate::ingest::operators::params::{Params, Tensor};
use crate::model::DataType;

/// The output of a convolution by its input and filter, as its gradients show it. None where two
/// convolutions of the same input and filter have outputs of different sizes.
pub(super) type Outputs = HashMap<[Vec<u64>; 2], Option<Vec<f64>>>;

/// The operator of a call, if its formula is known; `untold` is the type of tensors without one.
pub(super) fn operator(
    called: &Called,
    parent: Option<&Called>,
    outputs: &Outputs,
    untold: Option<DataType>,
) -> Option<Operator> {
    let plain = called.plain();
    let told = called.data_type().or(untold);
    let (forward, backward) = match plain.strip_suffix("_backward") {
        Some(forward) => (forward, true),
        None => (plain, false),
    };
    let of = |name: &str, backward: bool, params: &Params| {
        // A gradient of an activation reads the activation's argument or result too.
        let module = if backward { "torch.nn.functional" } else { "" };
        Some(Operator::of(name, module, backward, Some(params)))
    };
    let tensors = |places: &[usize]| -> Option<Params> {
        let tensors: Option<Vec<Tensor>> =
            places.iter().map(|at| called.tensor(*at, untold)).collect();
        Some(Params::of_tensors(tensors?))
    };
    if let Some((input, filter, output)) = convolved(called, parent, outputs) {
        let params = convolution(&input, &filter, &output, told?)?;
        return of("conv2d", plain.contains("backward"), &params);
    }
    if let Some((name, params)) = multiplied(called, told) {
        return of(name, false, &params);
    }
    if let Some((places, causal)) = attended(plain) {
        let name = match called.flag(causal) {
            Some(false) => "attention",
            Some(true) => "attention-causal",
            None => "attention-maybe-causal",
        };
        return of(name, plain.contains("backward"), &tensors(&places)?);
    }
    match plain {
        "softmax"
        | "log_softmax"
        | "nll_loss"
        | "avg_pool2d"
        | "adaptive_avg_pool2d"
        | "gelu"
        | "silu"
        | "native_dropout"
        | "fill"
        | "zero" => of(plain, false, &tensors(&[0])?),
        "softmax_backward_data" => of("softmax", true, &tensors(&[1])?),
        "log_softmax_backward_data" => of("log_softmax", true, &tensors(&[1])?),
        "nll_loss_forward" => of("nll_loss", false, &tensors(&[0])?),
        "nll_loss_backward" => of("nll_loss", true, &tensors(&[1])?),
        "max_pool2d_with_indices" => of("max_pool2d", false, &tensors(&[0])?),
        "max_pool2d_with_indices_backward" => of("max_pool2d", true, &tensors(&[1])?),
        "cudnn_batch_norm" | "miopen_batch_norm" | "native_batch_norm" | "batch_norm_stats"
        | "batch_norm_elemt" => of("batch_norm", false, &tensors(&[0])?),
        "cudnn_batch_norm_backward"
        | "miopen_batch_norm_backward"
        | "native_batch_norm_backward" => of("batch_norm", true, &tensors(&[0])?),
        "native_layer_norm" => {
            of("layer_norm", false, &tensors(&[0, 2]).or_else(|| tensors(&[0]))?)
        }
        "native_layer_norm_backward" => {
            of("layer_norm", true, &tensors(&[1, 5]).or_else(|| tensors(&[1]))?)
        }
        "copy" => {
            let [to, from] = [called.tensor(0, None)?, called.tensor(1, None)?];
            (to.elements() == from.elements()).then_some(())?;
            of("copy", false, &Params::of_tensors(vec![to, from]))
        }
        "cat" => {
            let list = called.lists().next()?.iter();
            let tensors = list.map(|shape| Tensor::new(shape.clone(), untold)).collect();
            of("cat", false, &Params::of_tensors(tensors))
        }
        "index_select" => {
            let picked = [("D", called.number(1)?), ("I", called.tensor(2, untold)?.elements())];
            let table = called.tensor(0, None)?;
            of("index_select", false, &Params::of_tensors(vec![table]).with_sizes(&picked))
        }
        "embedding" => of("embedding", false, &tensors(&[1, 0])?),
        "embedding_dense_backward" => {
            let [gradient, indices] = [called.tensor(0, None)?, called.tensor(1, None)?];
            let table = vec![called.number(2)?, *gradient.shape.last()?];
            let tensors = vec![indices, Tensor::new(table, gradient.dtype)];
            of("embedding", true, &Params::of_tensors(tensors))
        }
        "threshold_backward"
        | "hardtanh_backward"
        | "leaky_relu_backward"
        | "elu_backward"
        | "softplus_backward"
        | "sigmoid_backward"
        | "tanh_backward"
        | "gelu_backward"
        | "silu_backward" => of(forward, backward, &tensors(&[0])?),
        // Both sum over another dimension than that of the operands that they are given.
        "mse_loss" | "native_dropout_backward" => of("mul", false, &tensors(&[0, 1])?),
        name if ELEMENTWISE.contains(&name) => {
            let mut tensors = called.tensors(untold);
            // A number comes as a tensor without dimensions, and with the call instead of from memory.
            if tensors.iter().any(|tensor| !tensor.shape.is_empty()) {
                tensors.retain(|tensor| !tensor.shape.is_empty());
            }
            of(name, false, &Params::of_tensors(tensors))
        }
        _ => None,
    }
}

/// Where fused attention has its queries, keys and values, and whether it is causal.
fn attended(plain: &str) -> Option<([usize; 3], usize)> {
    Some(match plain {
        "flash_attention_forward" => ([0, 1, 2], 8),
        "flash_attention_backward" => ([1, 2, 3], 11),
        // Its kind of mask is a number.
        "efficient_attention_forward" => ([0, 1, 2], usize::MAX),
        "efficient_attention_backward" => ([1, 2, 3], usize::MAX),
        _ => return None,
    })
}

/// The sizes of a product of matrices, and the name of its formula.
fn multiplied(called: &Called, told: Option<DataType>) -> Option<(&'static str, Params)> {
    let shape = |at| called.shape(at);
    Some(match called.plain() {
        "mm" => ("mm", product(shape(0)?, shape(1)?, told?)?),
        "addmm" | "addmm_activation" => ("mm", product(shape(1)?, shape(2)?, told?)?),
        "bmm" => ("bmm", product(shape(0)?, shape(1)?, told?)?),
        "baddbmm" => ("bmm", product(shape(1)?, shape(2)?, told?)?),
        "mv" => ("mm", vector(shape(0)?, shape(1)?, told?)?),
        "addmv" => ("mm", vector(shape(1)?, shape(2)?, told?)?),
        "linear" => {
            let ([rows @ .., inner], [columns, same]) = (shape(0)?, shape(1)?) else { return None };
            ("linear", product(&[rows.iter().product(), *inner], &[*same, *columns], told?)?)
        }
        _ => return None,
    })
}

/// Operators on each element of their tensors, and sums of them, whose first tensors are the operands.
const ELEMENTWISE: &[&str] = &[
    "add",
    "sub",
    "rsub",
    "mul",
    "div",
    "remainder",
    "fmod",
    "maximum",
    "minimum",
    "bitwise_and",
    "bitwise_or",
    "logical_and",
    "logical_or",
    "lt",
    "gt",
    "ge",
    "le",
    "eq",
    "ne",
    "pow",
    "addcmul",
    "addcdiv",
    "where",
    "masked_fill",
    "abs",
    "neg",
    "reciprocal",
    "ceil",
    "floor",
    "round",
    "sign",
    "trunc",
    "clamp",
    "clamp_min",
    "clamp_max",
    "exp",
    "expm1",
    "log",
    "log10",
    "log1p",
    "log2",
    "sqrt",
    "rsqrt",
    "acos",
    "asin",
    "atan",
    "cos",
    "cosh",
    "sin",
    "sinh",
    "tan",
    "sigmoid",
    "tanh",
    "erf",
    "erfc",
    "erfinv",
    "elu",
    "hardtanh",
    "leaky_relu",
    "relu",
    "softplus",
    "threshold",
    "sum",
    "mean",
    "norm",
    "linalg_vector_norm",
];

/// Input, filter and output of a convolution or of its gradients.
fn convolved(
    called: &Called,
    parent: Option<&Called>,
    outputs: &Outputs,
) -> Option<(Vec<f64>, Vec<f64>, Vec<f64>)> {
    let shapes = |of: &Called, places: [usize; 3]| {
        let [input, filter, output] = places.map(|at| of.shape(at).map(<[f64]>::to_vec));
        Some((input?, filter?, output?))
    };
    match called.plain() {
        "convolution_backward" => shapes(called, [1, 2, 0]),
        "cudnn_convolution_backward" | "miopen_convolution_backward" => shapes(called, [0, 2, 1]),
        // Each of them lacks one of the three, which the operator around both has.
        "cudnn_convolution_backward_input"
        | "cudnn_convolution_backward_weight"
        | "miopen_convolution_backward_input"
        | "miopen_convolution_backward_weight" => {
            let parent =
                parent.filter(|parent| parent.plain().ends_with("convolution_backward"))?;
            convolved(parent, None, outputs)
        }
        forward => {
            let [padding, stride, dilation] = match forward {
                "cudnn_convolution" => [2, 3, 4],
                "miopen_convolution" | "miopen_depthwise_convolution" => [3, 4, 5],
                "convolution" if called.flag(6) == Some(true) => return None,
                "convolution" | "conv1d" | "conv2d" | "conv3d" | "cudnn_convolution_relu" => {
                    [4, 3, 5]
                }
                "conv_depthwise2d" => [5, 4, 6],
                _ => return None,
            };
            let (input, filter) = (called.shape(0)?.to_vec(), called.shape(1)?.to_vec());
            let dimensions = input.len().checked_sub(2).filter(|left| *left > 0)?;
            let sizes = [padding, stride, dilation].map(|at| called.numbers(at, dimensions));
            let output = match sizes {
                [Some(padding), Some(stride), Some(dilation)] => {
                    let mut output = vec![input[0], *filter.first()?];
                    for at in 0..dimensions {
                        let reach = dilation[at] * (filter.get(at + 2)? - 1.0) + 1.0;
                        let steps = (input[at + 2] + 2.0 * padding[at] - reach) / stride[at];
                        output.push(steps.floor() + 1.0);
                    }
                    output
                }
                _ => outputs.get(&[whole(&input), whole(&filter)])?.clone()?,
            };
            Some((input, filter, output))
        }
    }
}

/// Notes the output of a convolution whose gradient is computed.
pub(super) fn note_output(outputs: &mut Outputs, called: &Called) {
    if !called.plain().ends_with("convolution_backward") {
        return;
    }
    if let Some((input, filter, output)) = convolved(called, None, &Outputs::new()) {
        let known =
            outputs.entry([whole(&input), whole(&filter)]).or_insert_with(|| Some(output.clone()));
        if known.as_ref() != Some(&output) {
            *known = None;
        }
    }
}

fn whole(shape: &[f64]) -> Vec<u64> {
    shape.iter().map(|extent| *extent as u64).collect()
}

/// The sizes of a convolution of one to three dimensions; more than two are counted as rows.
fn convolution(
    input: &[f64],
    filter: &[f64],
    output: &[f64],
    data_type: DataType,
) -> Option<Params> {
    let plane = |shape: &[f64]| match shape {
        [_, _, rows @ .., columns] => Some((rows.iter().product::<f64>(), *columns)),
        _ => None,
    };
    let [inputs, taps, outputs] = [plane(input)?, plane(filter)?, plane(output)?];
    let groups = input[1] / filter[1];
    let fits = groups >= 1.0
        && groups.fract() == 0.0
        && output[0] == input[0]
        && output[1] == filter[0]
        && (filter[0] / groups).fract() == 0.0
        && input.len() == filter.len()
        && input.len() == output.len();
    let sizes = [
        ("N", input[0]),
        ("C", input[1]),
        ("H", inputs.0),
        ("W", inputs.1),
        ("K", filter[0]),
        ("P", outputs.0),
        ("Q", outputs.1),
        ("R", taps.0),
        ("S", taps.1),
        ("g", groups),
    ];
    fits.then(|| Params::of_type(data_type).with_sizes(&sizes))
}

/// The sizes of a product of two matrices, or of two stacks of them.
fn product(one: &[f64], other: &[f64], data_type: DataType) -> Option<Params> {
    let params = Params::of_type(data_type);
    match (one, other) {
        ([m, k], [same, n]) if k == same => {
            Some(params.with_sizes(&[("M", *m), ("N", *n), ("K", *k)]))
        }
        ([b, m, k], [batch, same, n]) if k == same && b == batch => {
            Some(params.with_sizes(&[("B", *b), ("M", *m), ("N", *n), ("K", *k)]))
        }
        _ => None,
    }
}

/// The sizes of a product of a matrix and a vector.
fn vector(matrix: &[f64], vector: &[f64], data_type: DataType) -> Option<Params> {
    match vector {
        [same] => product(matrix, &[*same, 1.0], data_type),
        _ => None,
    }
}

/// What an operator on lists of tensors does to each of their elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Listed {
    /// Elements of one list.
    pub(super) elements: f64,
    /// Operations for each of them.
    pub(super) operations: f64,
    /// Times that an element is read or written.
    pub(super) passes: f64,
}

/// The work of an operator on lists of tensors, such as the step of an optimizer.
pub(super) fn listed(called: &Called) -> Option<Listed> {
    let plain = called.plain();
    let sum = |list: &[Vec<f64>]| list.iter().map(|one| one.iter().product::<f64>()).sum::<f64>();
    let sizes: Vec<f64> = called.lists().map(sum).collect();
    let elements = *sizes.first().filter(|elements| **elements > 0.0)?;
    // A list of step counters is shorter.
    let lists = sizes.iter().filter(|size| **size == elements).count() as f64;
    let (operations, passes) = match plain {
        // Weights, gradients and two moments read, three of them written; AMSGrad keeps a maximum.
        "fused_adam" | "fused_adamw" if lists == 4.0 => (14.0, 7.0),
        "fused_adam" | "fused_adamw" if lists == 5.0 => (15.0, 9.0),
        "fused_sgd" if lists == 2.0 => (2.0, 3.0),
        "fused_sgd" if lists == 3.0 => (4.0, 5.0),
        "foreach_zero" => (0.0, 1.0),
        "foreach_copy" if lists == 2.0 => (0.0, 2.0),
        "foreach_add" | "foreach_sub" | "foreach_mul" | "foreach_div" | "foreach_neg"
        | "foreach_sqrt" | "foreach_reciprocal" | "foreach_maximum" | "foreach_minimum" => {
            (1.0, lists + 1.0)
        }
        "foreach_addcmul" | "foreach_addcdiv" | "foreach_lerp" => (3.0, lists + 1.0),
        _ => return None,
    };
    Some(Listed { elements, operations, passes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::kineto::gathered::APART;
    use crate::ingest::operators::kernel::Kernel;
    use crate::ingest::operators::operator::Place;
    use crate::model::Shape;

    fn called(name: &str, dims: &str, types: &str, values: &str) -> Called {
        let key: Vec<u8> = [name, dims, types, values]
            .iter()
            .flat_map(|part| part.bytes().chain(std::iter::once(APART)))
            .collect();
        Called::of(&key)
    }

    /// FLOPs and bytes of the only kernel of an operator.
    fn work(called: &Called, kernel: &str) -> (Option<f64>, Option<f64>) {
        let Some(operator) = operator(called, None, &Outputs::new(), None) else {
            return (None, None);
        };
        let place =
            Place { is_first: true, is_alone: true, is_only_product: true, is_transformed: false };
        let (work, _) = operator.share(Kernel::of(kernel), place, &Shape::default());
        (work.flops.map(|count| count.value), work.bytes.map(|count| count.value))
    }

    #[expect(clippy::too_many_lines, reason = "one case after the other, as a table")]
    #[test]
    fn operators_have_the_work_of_their_tensors() {
        const ELEMENTS: &str = "at::native::vectorized_elementwise_kernel";
        for (name, dims, types, values, kernel, flops, bytes) in [
            (
                "aten::bmm",
                "[[8,16,64],[8,64,32]]",
                r#"["float","float"]"#,
                "",
                "sgemm",
                524_288.0,
                4.0 * 8.0 * (1024.0 + 2048.0 + 512.0),
            ),
            (
                "aten::linear",
                "[[4,2,64],[32,64],[32]]",
                r#"["double","double","double"]"#,
                "",
                "dgemm",
                32_768.0,
                8.0 * (512.0 + 2048.0 + 256.0),
            ),
            (
                "aten::addmv",
                "[[9],[9,5],[5]]",
                r#"["float","float","float"]"#,
                "",
                "gemv",
                90.0,
                4.0 * 59.0,
            ),
            (
                "aten::mul",
                "[[32,8],[32,1]]",
                r#"["c10::Half","float"]"#,
                "",
                ELEMENTS,
                256.0,
                512.0 + 128.0 + 1024.0,
            ),
            (
                "aten::where",
                "[[64],[64],[]]",
                r#"["bool","float","float"]"#,
                "",
                ELEMENTS,
                64.0,
                64.0 + 256.0 + 256.0,
            ),
            (
                "aten::copy_",
                "[[64],[64],[]]",
                r#"["c10::Half","float","Scalar"]"#,
                "",
                ELEMENTS,
                0.0,
                384.0,
            ),
            (
                "aten::threshold_backward",
                "[[64],[64],[]]",
                r#"["float","float","Scalar"]"#,
                "",
                ELEMENTS,
                64.0,
                768.0,
            ),
            (
                "aten::gelu_backward",
                "[[64],[64]]",
                r#"["float","float"]"#,
                "",
                ELEMENTS,
                512.0,
                768.0,
            ),
            (
                "aten::native_dropout",
                "[[64],[],[]]",
                r#"["float","Scalar","Scalar"]"#,
                "",
                "fused_dropout_kernel_vec",
                128.0,
                576.0,
            ),
            (
                "aten::index_select",
                "[[100,16],[],[7]]",
                r#"["float","Scalar","long int"]"#,
                r#"["","0",""]"#,
                "indexSelectLargeIndex",
                0.0,
                2.0 * 4.0 * 7.0 * 16.0 + 56.0,
            ),
            (
                "aten::_log_softmax_backward_data",
                "[[32,10],[32,10],[],[]]",
                r#"["float","float","Scalar","Scalar"]"#,
                "",
                "softmax_warp_backward",
                1280.0,
                3840.0,
            ),
        ] {
            let called = called(name, dims, types, values);
            assert_eq!(work(&called, kernel), (Some(flops), Some(bytes)), "{name}");
        }
    }

    /// 8×8 at steps of 2, with a border of 1 and filters that reach over 5, is 3×3.
    #[test]
    fn the_output_of_a_convolution_follows_from_its_values() {
        let values = r#"["","","","[2, 2]","[1, 1]","[2, 2]","False","[0, 0]","2"]"#;
        let convolution = called(
            "aten::convolution",
            "[[2,4,8,8],[6,2,3,3],[],[],[],[],[],[],[]]",
            r#"["float","float","","ScalarList","ScalarList","ScalarList","Scalar","ScalarList","Scalar"]"#,
            values,
        );
        let output = 2.0 * 6.0 * 3.0 * 3.0;
        // In groups only kernels that do all of them have the whole work.
        let kernel = "conv2d_grouped_direct_kernel";
        let bytes = 4.0 * (2.0 * 4.0 * 64.0 + 6.0 * 18.0 + output);
        assert_eq!(work(&convolution, kernel), (Some(2.0 * output * 18.0), Some(bytes)));
        assert_eq!(work(&convolution, "implicit_convolve_sgemm"), (None, None));
        let unknown = Called::of(b"aten::convolution\0[[2,4,8,8],[6,2,3,3]]\0[]\0\0");
        assert_eq!(work(&unknown, kernel), (None, None));
    }

    #[test]
    fn operands_that_do_not_fit_give_no_work() {
        for (name, dims) in [
            ("aten::mm", "[[4,5],[6,7]]"),
            ("aten::mm", "[[4,5]]"),
            ("aten::bmm", "[[2,4,5],[3,5,7]]"),
            ("aten::convolution_backward", "[[1,2,3,3],[1,3,3,3],[2,2,1,1]]"),
            ("aten::copy_", "[[64],[32]]"),
            ("aten::gather", "[[64],[],[64]]"),
            ("my::op", "[[64]]"),
        ] {
            let called = called(name, dims, r#"["float","float","float"]"#, "");
            assert_eq!(work(&called, "gemm"), (None, None), "{name}");
        }
    }
}
