//! Kernels of operators on tensors: softmax, losses, normalizations, sums, poolings.

use super::part::{LayerNormPass, Part};
use super::{Launched, Need, Operator, Tensor, between, count};

/// Returns the work of a kernel that does this part of an operator on these tensors.
pub(super) fn need(
    operator: &Operator,
    tensors: &[Tensor],
    part: Part,
    launched: Launched,
) -> Option<Need> {
    let first = tensors.first().filter(|one| !one.shape.is_empty())?;
    match part {
        Part::Softmax { again } if is_softmax(&operator.name) => softmax(first, again),
        Part::SoftmaxBackward { again } if is_softmax(&operator.name) => {
            softmax_gradient(first, tensors.get(1), again)
        }
        Part::BatchNorm { backward, again } if operator.name == "batch_norm" => {
            Some(batch_norm(first, backward, again))
        }
        Part::NegativeLogLikelihood => likelihood(first),
        Part::LayerNorm(pass) if operator.name == "layer_norm" => {
            layer_norm(first, tensors.get(1), pass)
        }
        Part::Reduction => reduced(operator, first),
        Part::Pooling | Part::Unnamed | Part::Elementwise if is_pooling(&operator.name) => {
            match tensors {
                [_, output, places] if operator.backward && part != Part::Elementwise => {
                    Some(pooled_back(first, output, places))
                }
                _ => pooled(operator, first, part, launched),
            }
        }
        Part::Elementwise if is_activation(&operator.name) => {
            let count = count(&operator.name, [("n", first.elements())], first.data_type)?;
            let need = Need::of("sizes of the activation: each element read and written", &count);
            if !operator.backward {
                return Some(need);
            }
            let formula = "sizes of the activation: input and gradient read, gradient written";
            // The derivative is the function again and a few operations more.
            let need = Need { formula, bytes: 1.5 * need.bytes, ..need };
            Some(need.operations_within(1.0, 3.0))
        }
        Part::Elementwise if operator.name == "native_dropout" => {
            let count = count("dropout", [("n", first.elements())], first.data_type)?;
            Some(Need::of("sizes of the dropout: input read, result and byte mask written", &count))
        }
        Part::Elementwise => written(tensors, launched),
        _ => None,
    }
}

fn is_softmax(operator: &str) -> bool {
    matches!(operator, "softmax" | "log_softmax" | "cross_entropy")
}

/// Activations that `PyProf` has no formula for and there is a closed form of.
fn is_activation(operator: &str) -> bool {
    matches!(operator, "gelu" | "silu")
}

fn is_pooling(operator: &str) -> bool {
    matches!(operator, "max_pool1d" | "max_pool2d" | "max_pool3d")
}

/// Half formats may have been widened to FP32 (autocast), which the recorded type does not show.
fn widened(one: &Tensor) -> f64 {
    if one.data_type.bits() == 16.0 { 2.0 } else { 1.0 }
}

/// Rows and columns, of which the last extent is the columns.
fn rows(one: &Tensor) -> Option<(f64, f64)> {
    let columns = *one.shape.last()?;
    Some((one.elements() / columns, columns)).filter(|(rows, _)| rows.is_finite())
}

fn softmax(x: &Tensor, again: bool) -> Option<Need> {
    let (rows, columns) = rows(x)?;
    let count = count("softmax", [("rows", rows), ("columns", columns)], x.data_type)?;
    // A kernel that keeps no row reads it for its maximum, for its sum and for the result.
    let (formula, factor) = if again {
        ("sizes of the softmax: input read one to three times, result written", 2.0)
    } else {
        ("sizes of the softmax: input read, result written", 1.0)
    };
    Some(Need::of(formula, &count).at_most(factor * widened(x)))
}

/// The gradient of a softmax of this result; `written` is of its input, where that has a type of its own.
fn softmax_gradient(y: &Tensor, written: Option<&Tensor>, again: bool) -> Option<Need> {
    let (rows, columns) = rows(y)?;
    let count = count("softmax-backward", [("rows", rows), ("columns", columns)], y.data_type)?;
    let formula = if again {
        "sizes of the softmax: result read, its gradient once or twice, gradient written"
    } else {
        "sizes of the softmax: result and its gradient read, gradient written"
    };
    let mut need = Need::of(formula, &count);
    let each = y.data_type.bytes();
    if let Some(dx) = written.filter(|dx| dx.shape == y.shape) {
        need.bytes += (dx.data_type.bytes() - each) * y.elements();
    }
    // The gradient of the result is read for the sum, and again for the gradient of the input.
    let factor = if again { 1.0 + each * y.elements() / need.bytes } else { 1.0 };
    Some(need.at_most(factor * widened(y)))
}

/// A batch normalization over all of its input, in one kernel.
fn batch_norm(x: &Tensor, backward: bool, again: bool) -> Need {
    let (n, e) = (x.elements(), x.data_type.bytes());
    let (formula, operations, tensors, most) = match (backward, again) {
        (false, false) => {
            ("sizes of the batch normalization: input read, result written", 7.0, 2.0, 2.0)
        }
        (false, true) => (
            "sizes of the batch normalization: input read once or twice, result written",
            7.0,
            2.0,
            3.0,
        ),
        (true, false) => (
            "sizes of the batch normalization: input and gradient read, gradient written",
            11.0,
            3.0,
            3.0,
        ),
        (true, true) => (
            "sizes of the batch normalization: input and gradient read once or twice, gradient written",
            11.0,
            3.0,
            5.0,
        ),
    };
    let need = Need::exact(formula, operations * n, tensors * e * n);
    // Fewer where statistics are kept, more where they are computed in a stable way.
    need.operations_within(0.7, 1.5).at_most(most / tensors)
}

/// Picks one logarithm per row by an int64 label.
fn likelihood(x: &Tensor) -> Option<Need> {
    let [rows, _] = x.shape.as_slice() else { return None };
    let formula = "sizes of the loss: a label and one number of each row";
    Some(Need::exact(formula, *rows, rows * (8.0 + x.data_type.bytes())).at_most(widened(x)))
}

/// One pass of a layer normalization; mean and deviation of a row are FP32.
fn layer_norm(x: &Tensor, weight: Option<&Tensor>, pass: LayerNormPass) -> Option<Need> {
    let columns = match weight {
        Some(weight) => weight.elements(),
        None => *x.shape.last()?,
    };
    let (n, e) = (x.elements(), x.data_type.bytes());
    let rows = n / columns;
    if rows.fract() != 0.0 {
        return None;
    }
    let sizes = [("rows", rows), ("columns", columns)];
    let statistics = 8.0 * rows;
    let weights = e * columns * f64::from(weight.is_some());
    let need = match pass {
        LayerNormPass::Whole => {
            let formula = "sizes of the layer normalization: all of it, statistics kept";
            let mut need = Need::of(formula, &count("layernorm", sizes, x.data_type)?);
            need.bytes += statistics;
            need
        }
        LayerNormPass::Statistics => Need::exact(
            "sizes of the layer normalization: input read, statistics written",
            4.0 * n,
            e * n + statistics,
        ),
        LayerNormPass::Apply => Need::exact(
            "sizes of the layer normalization: input and weights read, result written",
            4.0 * n,
            2.0 * e * n + statistics + 2.0 * weights,
        ),
        LayerNormPass::BackwardSums => Need::exact(
            "sizes of the layer normalization: input and gradient read, sums of rows written",
            4.0 * n,
            2.0 * e * n + weights + statistics,
        ),
        LayerNormPass::BackwardFactors => Need::exact(
            "sizes of the layer normalization: four numbers of a row read, two written",
            6.0 * rows,
            3.0 * statistics,
        ),
        LayerNormPass::BackwardApply => Need::exact(
            "sizes of the layer normalization: input and gradient read, gradient written",
            6.0 * n,
            3.0 * e * n + weights + statistics,
        ),
        LayerNormPass::BackwardInput => Need::exact(
            "sizes of the layer normalization: gradient of the input, sums and all",
            10.0 * n,
            3.0 * e * n + weights + statistics,
        ),
        LayerNormPass::BackwardWeights => Need::exact(
            "sizes of the layer normalization: input and gradient read, dweight and dbias written",
            4.0 * n,
            2.0 * e * n + statistics + 2.0 * weights,
        ),
    };
    Some(need.at_most(widened(x)))
}

/// A tensor read and reduced.
fn reduced(operator: &Operator, x: &Tensor) -> Option<Need> {
    let n = x.elements();
    match operator.name.as_str() {
        "norm" => {
            let count = count("nrm2", [("n", n)], x.data_type)?;
            Some(Need::of("sizes of the norm: each element squared, added and read once", &count))
        }
        "sum" | "mean" => {
            let count = count("sum", [("n", n)], x.data_type)?;
            Some(Need::of("sizes of the sum: each element added and read once", &count))
        }
        // As many results as inputs, at most.
        "avg_pool1d" | "avg_pool2d" | "adaptive_avg_pool1d" | "adaptive_avg_pool2d"
            if !operator.backward =>
        {
            let formula = "sizes of the pooling: input read, at most as much written";
            Some(Need::exact(formula, n, x.data_type.bytes() * n).at_most(2.0))
        }
        _ => None,
    }
}

/// The gradient of a pooling: that of its output goes to the places that were the greatest.
fn pooled_back(x: &Tensor, output: &Tensor, places: &Tensor) -> Need {
    let bytes = |one: &Tensor| one.data_type.bytes() * one.elements();
    let formula = "sizes of the pooling: gradient and places read, gradient of the input written";
    let need = Need::exact(formula, output.elements(), bytes(x) + bytes(output) + bytes(places));
    // An addition for each element of the output.
    need.at_most(widened(x))
}

/// A pooling with an unknown window: at least the tensor on the input side.
fn pooled(operator: &Operator, x: &Tensor, part: Part, launched: Launched) -> Option<Need> {
    let (n, e) = (x.elements(), x.data_type.bytes());
    if part == Part::Elementwise {
        let formula = "sizes of the pooling: gradient of the input cleared";
        return (operator.backward && launched.covers(n)).then(|| Need::exact(formula, 0.0, e * n));
    }
    // An element and its place as int64 for each result. In a grid of one dimension a thread has at
    // least one.
    let is_flat = launched.grid.is_some_and(|grid| grid.y == 1 && grid.z == 1)
        && launched.block.is_some_and(|block| block.y == 1 && block.z == 1);
    let least = match launched.counts() {
        Some((blocks, threads)) if is_flat && !operator.backward => {
            ((blocks - 1.0) * threads).min(n)
        }
        _ => 0.0,
    };
    let (bytes, factor) = between([e * n + (e + 8.0) * least, e * n + (e + 8.0) * n])?;
    let formula = "sizes of the pooling: tensor at the input, results as many as threads to inputs";
    // About a comparison or an addition for each input; windows that overlap make it more.
    Some(Need::exact(formula, n, bytes).operations_within(0.0, 64.0).at_most(factor))
}

/// One of the tensors is written, the one that matches the launch.
fn written(tensors: &[Tensor], launched: Launched) -> Option<Need> {
    let mut covered = tensors.iter().filter(|one| launched.covers(one.elements()));
    let one = covered.next()?;
    let bytes = |one: &Tensor| one.data_type.bytes() * one.elements();
    if covered.any(|other| bytes(other) != bytes(one)) {
        return None;
    }
    let formula = "sizes of the operator: one tensor written, up to three read";
    // Nothing or little is done to each element.
    let need = Need::exact(formula, one.elements(), bytes(one)).operations_within(0.0, 16.0);
    Some(need.at_most(4.0 * widened(one)))
}
