//! Parts of an operator, identified by the names of kernels.

/// The part of an operator that a kernel does, by its name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Part {
    /// The name is missing, because some recorders omit it.
    Unnamed,
    /// Another order of the dimensions, with the channels last or first.
    Layout {
        /// True if the channels come last afterwards.
        channels_last: bool,
    },
    /// A tensor scaled, or cleared.
    Scale,
    /// A whole convolution.
    Convolution,
    /// The windows of a convolution written out as columns, of all images or of one.
    Columns {
        /// One launch for each image.
        each_image: bool,
    },
    /// The filter with its taps in reverse order.
    FlippedFilter,
    /// Planes transformed to their spectrum, or back, in tiles of so many by so many.
    Spectrum {
        /// Extent of a tile.
        tile: u32,
        /// True for the inverse transform.
        inverse: bool,
    },
    /// A transform of Winograd's algorithm F(m×m, r×r), of this operand.
    Winograd {
        /// Outputs of a tile, in each dimension.
        outputs: u32,
        /// Taps of the filter, in each dimension.
        taps: u32,
        /// Operand that is transformed.
        operand: Transformed,
        /// True if the gradient of the filter is computed.
        of_filter: bool,
    },
    /// A product of matrices or of a matrix and a vector.
    Product,
    /// Each element by itself.
    Elementwise,
    /// Many elements to one.
    Reduction,
    /// A softmax or its logarithm.
    Softmax {
        /// True if a row is read again for each step instead of kept on chip.
        again: bool,
    },
    /// The gradient of a softmax or its logarithm.
    SoftmaxBackward {
        /// True if a row is read again instead of kept on chip.
        again: bool,
    },
    /// One logarithm of each row picked, or its gradient put there.
    NegativeLogLikelihood,
    /// A pass of a layer normalization.
    LayerNorm(LayerNormPass),
    /// A whole batch normalization in training, or its gradient.
    BatchNorm {
        /// True if the gradient is computed.
        backward: bool,
        /// True if the input is read again for each step instead of kept on chip.
        again: bool,
    },
    /// Fused attention in one kernel that keeps the scores on chip.
    Attention {
        /// True if the gradients are computed.
        backward: bool,
    },
    /// A pooling or its gradient.
    Pooling,
    /// A part whose work does not follow from sizes.
    Other,
}

/// The operand that a transform of Winograd's algorithm works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transformed {
    /// The input.
    Data,
    /// The filter.
    Filter,
    /// The products, back to the output.
    Output,
    /// The gradient of the output, where that of the filter is computed.
    Delta,
}

/// A pass of a layer normalization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerNormPass {
    /// Statistics and normalization in one kernel.
    Whole,
    /// Mean and deviation of each row.
    Statistics,
    /// Rows normalized.
    Apply,
    /// The sums of the gradient, of each row.
    BackwardSums,
    /// Two numbers for each row from these sums.
    BackwardFactors,
    /// The gradient of the input, with these numbers.
    BackwardApply,
    /// The gradient of the input, sums and all.
    BackwardInput,
    /// The gradients of weight and bias.
    BackwardWeights,
}

/// Parts by words in the name, of which the first match is used; from `cuDNN` and `PyTorch`.
const WORDS: &[(&str, Part)] = &[
    ("nchwToNhwc", Part::Layout { channels_last: true }),
    ("nhwcToNchw", Part::Layout { channels_last: false }),
    ("scalePackedTensor", Part::Scale),
    ("im2col4d", Part::Columns { each_image: false }),
    ("im2col_kernel", Part::Columns { each_image: true }),
    ("flip_filter", Part::FlippedFilter),
    ("GammaBetaBackward", Part::LayerNorm(LayerNormPass::BackwardWeights)),
    ("ComputeInternalGradients", Part::LayerNorm(LayerNormPass::BackwardSums)),
    ("ComputeGradientFusedParams", Part::LayerNorm(LayerNormPass::BackwardFactors)),
    ("LayerNormBackwardCUDA", Part::LayerNorm(LayerNormPass::BackwardApply)),
    ("layer_norm_grad_input", Part::LayerNorm(LayerNormPass::BackwardInput)),
    ("RowwiseMoments", Part::LayerNorm(LayerNormPass::Statistics)),
    ("LayerNormForward", Part::LayerNorm(LayerNormPass::Apply)),
    ("vectorized_layer_norm_kernel", Part::LayerNorm(LayerNormPass::Whole)),
    ("cuApplyLayerNorm", Part::LayerNorm(LayerNormPass::Whole)),
    ("cunn_SoftMaxForwardSmem", Part::Softmax { again: false }),
    ("cunn_SoftMaxForward", Part::Softmax { again: true }),
    ("softmax_warp_forward", Part::Softmax { again: false }),
    ("cunn_SoftMaxBackwardSmem", Part::SoftmaxBackward { again: false }),
    ("cunn_SoftMaxBackward", Part::SoftmaxBackward { again: true }),
    ("softmax_warp_backward", Part::SoftmaxBackward { again: false }),
    ("ClassNLLCriterion", Part::NegativeLogLikelihood),
    ("nll_loss_", Part::NegativeLogLikelihood),
    ("bn_fw_tr_1C11_singleread", Part::BatchNorm { backward: false, again: false }),
    ("bn_fw_tr_", Part::BatchNorm { backward: false, again: true }),
    ("bn_bw_1C11_singleread", Part::BatchNorm { backward: true, again: false }),
    ("bn_bw_", Part::BatchNorm { backward: true, again: true }),
    ("batchnorm_fwtr_", Part::BatchNorm { backward: false, again: true }),
    ("batchnorm_bwtr_", Part::BatchNorm { backward: true, again: true }),
    ("flash_fwd_kernel", Part::Attention { backward: false }),
    ("fmha_cutlassF_", Part::Attention { backward: false }),
    ("flash_bwd_dq_dk_dv_loop", Part::Attention { backward: true }),
    ("fmha_cutlassB_", Part::Attention { backward: true }),
    ("sdpa_sm80_flash_fprop", Part::Attention { backward: false }),
    ("sdpa_sm90_flash_fprop", Part::Attention { backward: false }),
    ("sdpa_sm100_flash_fprop", Part::Attention { backward: false }),
    ("sdpa_sm80_flash_bprop", Part::Attention { backward: true }),
    ("sdpa_sm90_flash_bprop", Part::Attention { backward: true }),
    ("sdpa_sm100_flash_bprop", Part::Attention { backward: true }),
    ("fused_dropout_kernel", Part::Elementwise),
    ("max_pool", Part::Pooling),
    ("avg_pool", Part::Pooling),
    ("elementwise", Part::Elementwise),
    ("kernelPointwiseApply", Part::Elementwise),
    ("gemm", Part::Product),
    ("gemv", Part::Product),
    ("cutlass", Part::Product),
];

impl Part {
    /// Returns the part that a kernel of this name does; the name may be shortened or full.
    #[must_use]
    pub fn of(name: &str) -> Self {
        if name.is_empty() {
            return Self::Unnamed;
        }
        // Adds up what another kernel multiplied.
        if ["split_k", "splitK"].iter().any(|word| name.contains(word)) {
            return Self::Other;
        }
        if let Some(part) = spectrum(name).or_else(|| winograd(name)) {
            return part;
        }
        // The general reduction of `PyTorch`; what reduces the parts of a split product is another.
        if name.rsplit(':').next().is_some_and(|name| name.starts_with("reduce_kernel")) {
            return Self::Reduction;
        }
        WORDS.iter().find(|(word, _)| name.contains(word)).map_or(Self::Other, |(_, part)| *part)
    }
}

/// `fft2d_r2c_32x32` and `fft2d_c2r_32x32`.
fn spectrum(name: &str) -> Option<Part> {
    let (inverse, rest) = match (name.split_once("fft2d_r2c_"), name.split_once("fft2d_c2r_")) {
        (Some((_, rest)), _) => (false, rest),
        (_, Some((_, rest))) => (true, rest),
        _ => return None,
    };
    let (high, wide, _) = extent(rest)?;
    (high == wide && high.is_power_of_two()).then_some(Part::Spectrum { tile: high, inverse })
}

/// `winogradForwardData4x4`, for filters of 3×3, `winogradForwardData9x9_5x5`, and `winogradWgradDelta4x4`.
fn winograd(name: &str) -> Option<Part> {
    let forward = name.split_once("winogradForward").map(|(_, rest)| (rest, false));
    let of_filter = || name.split_once("winogradWgrad").map(|(_, rest)| (rest, true));
    let (rest, of_filter) = forward.or_else(of_filter)?;
    let operands = [
        ("Data", Transformed::Data),
        ("Filter", Transformed::Filter),
        ("Output", Transformed::Output),
        ("Delta", Transformed::Delta),
    ];
    let (rest, operand) =
        operands.iter().find_map(|(word, operand)| Some((rest.strip_prefix(word)?, *operand)))?;
    let (outputs, wide, rest) = extent(rest)?;
    let taps = match rest.strip_prefix('_') {
        Some(taps) => extent(taps).filter(|(high, wide, _)| high == wide)?.0,
        None => 3,
    };
    (outputs == wide).then_some(Part::Winograd { outputs, taps, operand, of_filter })
}

/// `9x9_5x5` is 9, 9 and the rest; from 1 to 64.
fn extent(text: &str) -> Option<(u32, u32, &str)> {
    let number = |text: &str| {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let value = text[..digits].parse().ok().filter(|value| (1..=64).contains(value))?;
        Some((value, digits))
    };
    let (high, digits) = number(text)?;
    let rest = text[digits..].strip_prefix('x')?;
    let (wide, digits) = number(rest)?;
    Some((high, wide, &rest[digits..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_parts() {
        let winograd = |outputs, taps, operand| Part::Winograd {
            outputs,
            taps,
            operand,
            of_filter: operand == Transformed::Delta,
        };
        for (name, part) in [
            ("", Part::Unnamed),
            ("cudnn::ops::nchwToNhwcKernel", Part::Layout { channels_last: true }),
            ("cudnn::ops::nhwcToNchwKernel", Part::Layout { channels_last: false }),
            ("cudnn::ops::scalePackedTensor_kernel", Part::Scale),
            ("im2col4d_kernel", Part::Columns { each_image: false }),
            ("im2col_kernel", Part::Columns { each_image: true }),
            ("fft2d_r2c_32x32", Part::Spectrum { tile: 32, inverse: false }),
            ("fft2d_c2r_16x16", Part::Spectrum { tile: 16, inverse: true }),
            ("fft2d_r2c_32x16", Part::Other),
            ("cudnn::winograd_nonfused::winogradForwardData4x4", winograd(4, 3, Transformed::Data)),
            ("winogradForwardOutput9x9_5x5", winograd(9, 5, Transformed::Output)),
            ("winogradWgradDelta4x4", winograd(4, 3, Transformed::Delta)),
            ("winogradForwardFilter4x5", Part::Other),
            ("at::native::reduce_kernel", Part::Reduction),
            ("reduce_kernel", Part::Reduction),
            ("splitKreduce_kernel", Part::Other),
            ("sm75_xmma_wgrad_implicit_gemm_execute_split_k_kernel_cudnn", Part::Other),
            ("batch_norm_backward_reduce_kernel", Part::Other),
            ("cunn_SoftMaxForward", Part::Softmax { again: true }),
            ("cunn_SoftMaxForwardSmem", Part::Softmax { again: false }),
            ("vectorized_elementwise_kernel", Part::Elementwise),
            ("gemmSN_NN_kernel", Part::Product),
            ("cask_cudnn::computeOffsetsKernel", Part::Other),
        ] {
            assert_eq!(Part::of(name), part, "{name}");
        }
    }
}
