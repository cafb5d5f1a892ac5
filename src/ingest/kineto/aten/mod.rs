//! Operators of `PyTorch` → what they have to do: which tensors count, under which name.

mod elements;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use super::operands::Called;
use crate::ingest::operators::operator::Operator;
use crate::ingest::operators::params::{Params, Tensor, is_float};
use crate::model::DataType;
use crate::predict::operator::{Band, Seen};
use crate::predict::places_met;

/// The output of a convolution by its input and filter, as its gradients show it. None where two
/// convolutions of the same input and filter have outputs of different sizes.
pub(super) type Outputs = HashMap<[Vec<u64>; 2], Option<Vec<f64>>>;

/// The operator of a call, if its formula is known; `fallback` is the type of tensors without one.
pub(super) fn operator(
    called: &Called,
    parent: Option<&Called>,
    outputs: &Outputs,
    fallback: Option<DataType>,
) -> Option<Operator> {
    let plain = called.plain();
    let data_type = called.data_type().or(fallback);
    let (forward, backward) = match plain.strip_suffix("_backward") {
        Some(forward) => (forward, true),
        None => (plain, false),
    };
    let of = |name: &str, backward: bool, params: &Params| {
        // A gradient of an activation reads the activation's argument or result too.
        let module = if backward { "torch.nn.functional" } else { "" };
        Some(Operator::of(name, module, backward, Some(params)))
    };
    let tensors = |places: &[usize]| tensors(called, places, fallback);
    if let Some(shapes) = convolved(called, parent, outputs) {
        let params = convolution(&shapes, data_type?)?;
        return of("conv2d", plain.contains("backward"), &params);
    }
    if let Some((name, backward, params)) = picked(called, fallback) {
        return of(name, backward, &params);
    }
    if let Some((name, params)) = multiplied(called, data_type) {
        return of(name, false, &params);
    }
    if let Some(operands) = attended(called, fallback) {
        return of("attention", plain.contains("backward"), &operands);
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
        "softmax_backward_data" => of("softmax", true, &unwidened(called, fallback)?),
        "log_softmax_backward_data" => of("log_softmax", true, &unwidened(called, fallback)?),
        "nll_loss_forward" => of("nll_loss", false, &tensors(&[0])?),
        "nll_loss_backward" => of("nll_loss", true, &tensors(&[1])?),
        "max_pool2d_with_indices" => of("max_pool2d", false, &tensors(&[0])?),
        // The gradient of the output and the places of its elements stand around seven numbers.
        "max_pool2d_with_indices_backward" => {
            let mut tensors = vec![called.tensor(1, fallback)?];
            if let (Some(output), Some(places)) = (called.tensor(0, fallback), called.shape(7)) {
                tensors.extend([output, Tensor::new(places.to_vec(), Some(DataType::Int64))]);
            }
            of("max_pool2d", true, &Params::of_tensors(tensors))
        }
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
            let tensors = list.map(|shape| Tensor::new(shape.clone(), fallback)).collect();
            of("cat", false, &Params::of_tensors(tensors))
        }
        // Three operations on both operands; the gradient of a mean is one number.
        "mse_loss_backward" => of("addcmul", false, &tensors(&[0, 1, 2])?),
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
        "sum" | "mean" => of(plain, false, &reduced(called, fallback, 1)?),
        "norm" | "linalg_vector_norm" => of(plain, false, &reduced(called, fallback, 2)?),
        name => {
            let places = 0..elements::operands(name)?;
            let mut tensors: Vec<Tensor> =
                places.filter_map(|at| called.tensor(at, fallback)).collect();
            // A number comes as a tensor without dimensions, and with the call instead of from memory.
            if tensors.iter().any(|tensor| !tensor.shape.is_empty()) {
                tensors.retain(|tensor| !tensor.shape.is_empty());
            }
            // With the underscore of those that overwrite their first operand.
            let spelled = called.name.strip_prefix("aten::").unwrap_or(&called.name);
            // Adam squares its gradient so: `addcmul_(grad, grad)`.
            let may_square = name == "addcmul" && called.are_alike(1, 2);
            let square = may_square.then_some(("maybe_square", 1.0));
            of(spelled, false, &Params::of_tensors(tensors).with_sizes(square.as_slice()))
        }
    }
}

/// Operators that pick rows or elements: the name of the formula, whether it is of the gradient, and the operands.
fn picked(called: &Called, fallback: Option<DataType>) -> Option<(&'static str, bool, Params)> {
    let tensors = |places: &[usize]| tensors(called, places, fallback);
    Some(match called.plain() {
        "index_select" => {
            let picked = [("D", called.number(1)?), ("I", called.tensor(2, fallback)?.elements())];
            let table = called.tensor(0, None)?;
            ("index_select", false, Params::of_tensors(vec![table]).with_sizes(&picked))
        }
        "embedding" => ("embedding", false, tensors(&[1, 0])?),
        "embedding_bag" | "embedding_bag_forward_only" => {
            ("embedding_bag", false, tensors(&[1, 0, 2])?)
        }
        "sort" => ("sort", false, tensors(&[0])?),
        "topk" => {
            let kept = [("k", called.number(1)?)];
            let last = called.shape(0)?.len() as f64 - 1.0;
            let is_of_rows = called.number(2).is_none_or(|along| along == -1.0 || along == last);
            is_of_rows.then_some(())?;
            ("topk", false, tensors(&[0])?.with_sizes(&kept))
        }
        _ => return None,
    })
}

/// The tensors at these places.
fn tensors(called: &Called, places: &[usize], fallback: Option<DataType>) -> Option<Params> {
    let tensors: Option<Vec<Tensor>> =
        places.iter().map(|at| called.tensor(*at, fallback)).collect();
    Some(Params::of_tensors(tensors?))
}

/// Fused attention: its queries, keys and values, and which keys a query sees. None where several sequences lie in one tensor,
/// or where a mask begins in a corner that depends on the version.
fn attended(called: &Called, fallback: Option<DataType>) -> Option<Params> {
    let plain = called.plain();
    let is_attention = plain.contains("_attention_");
    let places = if plain.ends_with("_backward") { [1, 2, 3] } else { [0, 1, 2] };
    let mut operands = is_attention.then(|| tensors(called, &places, fallback)).flatten()?;
    let of_scores = match plain {
        "efficient_attention_forward" | "cudnn_attention_forward" => Some(3),
        "efficient_attention_backward" => Some(4),
        "cudnn_attention_backward" => Some(8),
        _ => None,
    };
    let seen = match plain {
        "flash_attention_forward" => flash(called, &operands, 8, [11, 12]),
        "flash_attention_backward" => flash(called, &operands, 11, [15, 16]),
        "efficient_attention_forward" => efficient(called, &operands, [4, 12], 9, 13),
        "efficient_attention_backward" => efficient(called, &operands, [6, 7], 14, 18),
        "cudnn_attention_forward" => cudnn(called, &mut operands, 10),
        "cudnn_attention_backward" => cudnn(called, &mut operands, 14),
        _ => None,
    };
    let sizes = match seen? {
        Seen::All => Vec::new(),
        Seen::AllOrCausal => vec![("maybe_causal", 1.0)],
        Seen::Band(Band { before, after, offset }) => {
            vec![("before", before), ("after", after), ("offset", offset)]
        }
    };
    if let Some(at) = of_scores
        && let Some(bias) = called.tensor(at, fallback).filter(|bias| !bias.shape.is_empty())
    {
        // One that is the same for all heads is stored once.
        let stored = called.stored(at).unwrap_or_else(|| bias.elements());
        operands.tensors.push(Tensor::new(vec![stored], bias.dtype));
    }
    Some(operands.with_sizes(&sizes))
}

/// Rows of queries and keys.
fn rows(operands: &Params) -> Option<(f64, f64)> {
    let rows = |at: usize| operands.tensors.get(at)?.shape.get(1).copied();
    Some((rows(0)?, rows(1)?))
}

/// Flash attention: causal or not, with a sliding window, whose diagonals end with the last query and the last key. Of more
/// queries than keys they did not before FlashAttention 2.1.
fn flash(called: &Called, operands: &Params, causal: usize, window: [usize; 2]) -> Option<Seen> {
    let Some(is_causal) = called.flag(causal) else { return Some(Seen::AllOrCausal) };
    let (queries, keys) = rows(operands)?;
    let [before, after] = window.map(|at| {
        let width = called.number(at).filter(|width| *width >= 0.0);
        width.unwrap_or(f64::INFINITY)
    });
    let after = if is_causal { 0.0 } else { after };
    if before.min(after).is_infinite() {
        return Some(Seen::All);
    }
    (keys >= queries).then_some(Seen::Band(Band { before, after, offset: keys - queries }))
}

/// Memory-efficient attention: its mask is a number, and a window counts the query's own key.
fn efficient(
    called: &Called,
    operands: &Params,
    lengths: [usize; 2],
    mask: usize,
    window: usize,
) -> Option<Seen> {
    // Lengths of sequences are tensors of their own.
    if lengths.iter().any(|at| called.shape(*at).is_some_and(|shape| !shape.is_empty())) {
        return None;
    }
    let (queries, keys) = rows(operands)?;
    let window = called.number(window).filter(|width| *width > 0.0);
    let before = window.map_or(f64::INFINITY, |width| width - 1.0);
    let band = |offset| Some(Seen::Band(Band { before, after: 0.0, offset }));
    match called.number(mask) {
        None => (queries == keys).then_some(Seen::AllOrCausal),
        Some(0.0) => window.is_none().then_some(Seen::All),
        Some(1.0) => band(0.0),
        Some(2.0) => band(keys - queries),
        Some(_) => None,
    }
}

/// Attention of cuDNN, which takes images by heads by rows by width; the others have rows before heads.
fn cudnn(called: &Called, operands: &mut Params, causal: usize) -> Option<Seen> {
    for tensor in &mut operands.tensors {
        if let [_, heads, rows, _] = tensor.shape.as_mut_slice() {
            std::mem::swap(heads, rows);
        }
    }
    let (queries, keys) = rows(operands)?;
    match called.flag(causal) {
        Some(false) => Some(Seen::All),
        // Which corner the diagonal of a rectangle begins in is not known.
        Some(true) => (queries == keys).then_some(Seen::Band(Band {
            before: f64::INFINITY,
            after: 0.0,
            offset: 0.0,
        })),
        None => Some(Seen::AllOrCausal),
    }
}

/// The sizes of a product of matrices, and the name of its formula.
fn multiplied(called: &Called, data_type: Option<DataType>) -> Option<(&'static str, Params)> {
    let shape = |at| called.shape(at);
    Some(match called.plain() {
        "mm" => ("mm", repeated(called, [0, 1], product(shape(0)?, shape(1)?, data_type?)?)),
        // Bytes are multiplied, and added up in 4 bytes each.
        "int_mm" => ("mm", product(shape(0)?, shape(1)?, data_type?)?.with_sizes(&[("out", 4.0)])),
        "addmm" | "addmm_activation" => {
            let product = product(shape(1)?, shape(2)?, data_type?)?;
            ("mm", repeated(called, [1, 2], added(called, product)))
        }
        "bmm" => ("bmm", repeated(called, [0, 1], product(shape(0)?, shape(1)?, data_type?)?)),
        "baddbmm" => {
            let product = product(shape(1)?, shape(2)?, data_type?)?;
            ("bmm", repeated(called, [1, 2], added(called, product)))
        }
        "scaled_mm" => ("mm", scaled(called, data_type?)?),
        "mv" => ("mm", vector(shape(0)?, shape(1)?, data_type?)?),
        "addmv" => ("mm", vector(shape(1)?, shape(2)?, data_type?)?),
        "linear" => {
            let ([rows @ .., inner], [columns, same]) = (shape(0)?, shape(1)?) else { return None };
            ("linear", product(&[rows.iter().product(), *inner], &[*same, *columns], data_type?)?)
        }
        _ => return None,
    })
}

/// A product with what is stored of operands that repeat some of their elements.
fn repeated(called: &Called, places: [usize; 2], product: Params) -> Params {
    let stored = ["a", "b"].into_iter().zip(places.map(|at| called.stored(at)));
    let stored: Vec<(&str, f64)> =
        stored.filter_map(|(key, stored)| Some((key, stored?))).collect();
    product.with_sizes(&stored)
}

/// A product with the matrix, or the row, that it is added to.
fn added(called: &Called, product: Params) -> Params {
    let Some(c) = called.shape(0) else { return product };
    let elements = called.stored(0).unwrap_or_else(|| c.iter().product());
    let beta = called.number(3).map(|beta| ("beta", beta));
    product.with_sizes(&[("c", elements)]).with_sizes(beta.as_slice())
}

/// A product of scaled operands, with the bytes of its scales and of an element of its output.
fn scaled(called: &Called, data_type: DataType) -> Option<Params> {
    // Two elements of FP4 lie in one, along the dimension over which is summed.
    let packed = if data_type == DataType::Fp4 { 2.0 } else { 1.0 };
    let ([rows, inner], [same, columns]) = (called.shape(0)?, called.shape(1)?) else {
        return None;
    };
    let product = product(&[*rows, packed * inner], &[packed * same, *columns], data_type)?;
    let scales = [2, 3].map(|at| {
        let scale = called.tensor(at, Some(DataType::Fp32));
        scale.and_then(|scale| scale.bytes()).unwrap_or(DataType::Fp32.bytes())
    });
    let out = called.scalar_type(6).map(|out| ("out", out.bytes()));
    Some(product.with_sizes(&[("scale_bytes", scales.iter().sum())]).with_sizes(out.as_slice()))
}

/// The result of a softmax, and the gradient of its input where that has another type: one that was widened on the way is
/// written as it was.
fn unwidened(called: &Called, fallback: Option<DataType>) -> Option<Params> {
    let result = called.tensor(1, fallback)?;
    let input = called.scalar_type(3).filter(|input| Some(*input) != result.dtype);
    let input = input.map(|input| Tensor::new(result.shape.clone(), Some(input)));
    Some(Params::of_tensors([result].into_iter().chain(input).collect()))
}

/// A reduction over the dimensions that the value at this place lists, with its results and the bytes of each; at most so
/// many where no values were recorded.
fn reduced(called: &Called, fallback: Option<DataType>, dimensions: usize) -> Option<Params> {
    let tensor = called.tensor(0, fallback)?;
    let stored = tensor.dtype?;
    // Whole numbers are added up in 64 bits.
    let result = if is_float(stored) { stored } else { DataType::Int64 };
    // Over all dimensions the type comes in the place of the list: `sum(self, *, dtype)`.
    let is_of_all = called.recorded() == dimensions + 1;
    let at = if is_of_all { dimensions } else { dimensions + 2 };
    let result = called.scalar_type(at).unwrap_or(result);
    let params = Params::of_tensors(vec![tensor.clone()]).with_sizes(&[("each", result.bytes())]);
    if called.recorded() == 0 {
        let wide = tensor.shape.iter().copied().filter(|extent| *extent > 1.0);
        let most = tensor.elements() / wide.fold(f64::INFINITY, f64::min);
        return Some(params.with_sizes(&[("most_results", most)]));
    }
    // Without dimensions, which whether to keep them follows, all are reduced.
    let listed = called.listed(dimensions).filter(|_| called.recorded() > dimensions + 1);
    let listed = listed.unwrap_or_default();
    let count = tensor.shape.len() as f64;
    let is_kept = |at: usize| {
        let at = at as f64;
        !listed.is_empty() && !listed.iter().any(|one| *one == at || *one + count == at)
    };
    let kept = tensor.shape.iter().enumerate().filter(|(at, _)| is_kept(*at));
    Some(params.with_sizes(&[("results", kept.map(|(_, extent)| *extent).product())]))
}

/// Shapes of a convolution or of its gradients.
struct Convolved {
    input: Vec<f64>,
    filter: Vec<f64>,
    output: Vec<f64>,
    /// Padding, stride and dilation of each dimension, where they are known.
    steps: Option<[Vec<f64>; 3]>,
}

impl Convolved {
    /// How many of the places along a dimension, of those behind images and channels, filters meet.
    fn met(&self, dimension: usize) -> f64 {
        let [input, taps, output] =
            [&self.input, &self.filter, &self.output].map(|shape| shape[dimension + 2]);
        match &self.steps {
            Some([padding, stride, dilation]) => {
                let [padding, stride, dilation] =
                    [padding, stride, dilation].map(|of| of[dimension]);
                places_met(input, (output, stride), (taps, dilation), padding)
            }
            None => input.min(output * taps),
        }
    }
}

/// Input, filter and output of a convolution or of its gradients.
fn convolved(called: &Called, parent: Option<&Called>, outputs: &Outputs) -> Option<Convolved> {
    let shapes = |of: &Called, places: [usize; 3], steps: Option<[usize; 3]>| {
        let [input, filter, output] = places.map(|at| of.shape(at).map(<[f64]>::to_vec));
        let input = input?;
        let dimensions = input.len().saturating_sub(2);
        let steps = steps.and_then(|at| {
            let [padding, stride, dilation] = at.map(|at| of.numbers(at, dimensions));
            Some([padding?, stride?, dilation?])
        });
        Some(Convolved { input, filter: filter?, output: output?, steps })
    };
    match called.plain() {
        // The transpose of a convolution from its output to its input.
        "convolution_backward" if called.flag(7) == Some(true) => {
            shapes(called, [0, 2, 1], Some([5, 4, 6]))
        }
        "convolution_backward" => shapes(called, [1, 2, 0], Some([5, 4, 6])),
        "cudnn_convolution_backward" | "miopen_convolution_backward" => {
            shapes(called, [0, 2, 1], None)
        }
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
            let (output, steps) = match sizes {
                [Some(padding), Some(stride), Some(dilation)] => {
                    let mut output = vec![input[0], *filter.first()?];
                    for at in 0..dimensions {
                        let reach = dilation[at] * (filter.get(at + 2)? - 1.0) + 1.0;
                        let steps = (input[at + 2] + 2.0 * padding[at] - reach) / stride[at];
                        output.push(steps.floor() + 1.0);
                    }
                    (output, Some([padding, stride, dilation]))
                }
                _ => (outputs.get(&[whole(&input), whole(&filter)])?.clone()?, None),
            };
            Some(Convolved { input, filter, output, steps })
        }
    }
}

/// Notes the output of a convolution whose gradient is computed.
pub(super) fn note_output(outputs: &mut Outputs, called: &Called) {
    if !called.plain().ends_with("convolution_backward") || called.flag(7) == Some(true) {
        return;
    }
    if let Some(Convolved { input, filter, output, .. }) = convolved(called, None, &Outputs::new())
    {
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
fn convolution(shapes: &Convolved, data_type: DataType) -> Option<Params> {
    let Convolved { input, filter, output, .. } = shapes;
    let plane = |shape: &[f64]| match shape {
        [_, _, rows @ .., columns] => Some((rows.iter().product::<f64>(), *columns)),
        _ => None,
    };
    let [inputs, taps, outputs] = [plane(input)?, plane(filter)?, plane(output)?];
    let groups = input[1] / filter[1];
    let fits = groups >= 1.0
        && groups.fract() == 0.0
        && output[0] == input[0]
        && output.iter().all(|extent| *extent >= 1.0)
        && output[1] == filter[0]
        && (filter[0] / groups).fract() == 0.0
        && input.len() == filter.len()
        && input.len() == output.len();
    if !fits {
        return None;
    }
    // Strides may be wider than the filter in one of the dimensions that are counted as rows.
    let last = input.len() - 3;
    let sizes = [
        ("N", input[0]),
        ("C", input[1]),
        ("rows", (0..last).map(|at| shapes.met(at)).product()),
        ("columns", shapes.met(last)),
        ("H", inputs.0),
        ("W", inputs.1),
        ("K", filter[0]),
        ("P", outputs.0),
        ("Q", outputs.1),
        ("R", taps.0),
        ("S", taps.1),
        ("g", groups),
    ];
    Some(Params::of_type(data_type).with_sizes(&sizes))
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
