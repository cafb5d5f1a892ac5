//! What a kernel's name tells about the units it runs on and its part in the operator.
//!
//! The name shows what was built, which `PyProf`'s `TC` column does not: that one is a list of name
//! parts from 2020, says 0 for every CUTLASS kernel and 1 for matrix kernels on CUDA cores.

use super::amd::{naive, tensile};
use crate::model::{DataType, KernelName, Pipe, Precision};
use crate::predict::operator::Part;

/// The `TC` column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ingest) enum TensorCores {
    /// `1`: the name is on `PyProf`'s list.
    Listed,
    /// `0` or `-`: it is not.
    NotListed,
    /// `na`, empty, no such column.
    Unknown,
}

/// The units a name proves, or fails to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Engine {
    /// Names a matrix instruction.
    Matrix,
    /// Names CUDA-core arithmetic, of a type where the letter before `gemm` gives it.
    Vector(Option<Precision>),
    /// A library that has both kinds and hides which (`cutlass::Kernel`, `xmma_cudnn::…::kernel`).
    Hidden,
    /// Says nothing.
    Silent,
}

/// One pass of a normalization that takes several kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ingest) enum Pass {
    /// Mean and variance.
    Statistics,
    /// Normalizes the input.
    Apply,
    /// The sums of the gradient.
    BackwardSums,
    /// The gradient of the input.
    BackwardApply,
}

/// A kernel, judged by its name.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about one name")]
pub(in crate::ingest) struct Kernel {
    engine: Engine,
    /// Type of the operands.
    operand: Option<Precision>,
    /// Whether products are accumulated in FP16.
    half_accumulator: bool,
    /// Adds up or prepares what another kernel of a matrix product computes.
    pub(in crate::ingest) gemm_helper: bool,
    /// Does a whole convolution.
    pub(in crate::ingest) convolves: bool,
    /// Does a convolution, or a part of one, by Winograd's algorithm.
    pub(in crate::ingest) is_winograd: bool,
    /// Does all groups of a convolution at once.
    pub(in crate::ingest) all_groups: bool,
    /// An element-wise wrapper, as used for copies and fills.
    pub(in crate::ingest) elementwise: bool,
    /// The pass of a batch normalization it does.
    pub(in crate::ingest) pass: Option<Pass>,
    /// The part of its operator it does.
    pub(in crate::ingest) part: Part,
    /// How its tensors are stored, of the formats that convolutions are built for.
    pub(in crate::ingest) stored: Option<DataType>,
}

/// Work around a convolution: layouts, offsets, transforms, partial sums. `PyProf` prints 0 for these.
const AROUND_CONVOLUTIONS: [&str; 21] = [
    "nchwToNhwc",
    "nhwcToNchw",
    "Offsets",
    "helper",
    "WinogradTiles",
    "winogradForward",
    "winogradWgrad",
    "winogradDgrad",
    "pointers",
    "flip_filter",
    "fft",
    "scale",
    "reduce",
    "elementwise",
    "im2col",
    "col2im",
    "transpose",
    "Pointwise",
    "padding",
    "calc_bias_diff",
    "execute_split_k",
];

/// Whole convolutions: those `PyProf` lists in `conv.py`, what cuDNN has used since, and `MIOpen`'s on matrix units
/// and its reference.
const CONVOLUTIONS: [&str; 24] = [
    "884cudnn",
    "1688cudnn",
    "scudnn",
    "hcudnn",
    "grouped_direct",
    "convolve_sgemm",
    "dgrad_engine",
    "dgrad2d_alg",
    "wgrad_alg0_engine",
    "wgrad2d",
    "dgrad_1x1_stride_2x2",
    "epthwiseConvolution",
    "conv_depthwise",
    "winograd3x3Kernel",
    "implicit_gemm",
    "first_layer",
    "884gemm",
    "1688gemm",
    "16816gemm",
    "cutlass",
    "sgemm",
    "gcgemm",
    "_gtcx",
    "naive_conv",
];

/// Kernels that finish or feed a matrix product.
///
/// The last ones are cuBLASLt's bias and activation, and the sum of a product that Tensile has split.
const AROUND_PRODUCTS: [&str; 6] = [
    "splitKreduce",
    "reduce_1Block",
    "execute_split_k",
    "epilogue::impl",
    "globalKernel",
    "PostGSU",
];

/// Digits of the shapes of matrix instructions, longest first.
const SHAPES: [&str; 9] =
    ["161616", "16816", "16832", "16864", "8816", "8832", "1688", "1684", "884"];

impl Kernel {
    /// Judges a name, short as `PyProf` cuts it or in full.
    pub(in crate::ingest) fn of(name: &str) -> Self {
        let head = KernelName::parse(name).head;
        let has = |part: &str| head.contains(part);
        let words = || head.split(|c: char| !c.is_ascii_alphanumeric());
        let instruction = words().find_map(instruction);
        let lettered = || words().find_map(cuda_core_product);
        let tensile = tensile(&head);
        let part = Part::of(&head);
        let engine = if tensile.is_some_and(|(_, is_matrix)| is_matrix) {
            Engine::Matrix
        } else if let Some((precision, _)) = tensile {
            Engine::Vector(Some(precision))
        } else if has("naive_conv") {
            Engine::Vector(naive(&head))
        } else if has("ffma") {
            Engine::Vector(Some(Precision::Fp32))
        } else if has("simt") {
            Engine::Vector(lettered())
        } else if instruction.is_some()
            || words().any(names_matrix_unit)
            || matches!(part, Part::Attention { .. })
        {
            Engine::Matrix
        } else if let Some(precision) = lettered() {
            Engine::Vector(Some(precision))
        } else if [
            "convolve_sgemm",
            "dgrad_engine",
            "wgrad_alg0_engine",
            "gemv",
            "gemmSN",
            "gemmk1",
            "dot_kernel",
        ]
        .into_iter()
        .any(has)
        {
            Engine::Vector(None)
        } else if ["cutlass", "xmma", "implicit_gemm", "cask"].into_iter().any(has) {
            Engine::Hidden
        } else {
            Engine::Silent
        };
        let operand = tensile
            .map(|(precision, _)| precision)
            // The names of cuDNN's attention have the type of its instructions for both halves.
            .or_else(|| named_type(&head).filter(|_| !has("native_sdpa")))
            .or_else(|| instruction.and_then(|found| implied_type(found, &head)))
            // Elsewhere `fp32` is the type of sums.
            .or_else(|| (has("_gtcx") && has("_fp32_")).then_some(Precision::Fp32));
        let around = |parts: &[&str]| parts.iter().any(|part| has(part));
        Self {
            engine,
            operand,
            // xmma names what is stored and written, then what is multiplied and added up, then the scale.
            half_accumulator: instruction.is_some_and(|(letter, _)| letter == 'h')
                || has("xmma") && has("_f16f16_f16f16_f16_"),
            gemm_helper: around(&AROUND_PRODUCTS),
            // FlashAttention is made of parts of CUTLASS, and has its name in template arguments.
            convolves: around(&CONVOLUTIONS)
                && !around(&AROUND_CONVOLUTIONS)
                && !matches!(part, Part::Attention { .. }),
            is_winograd: has("winograd"),
            all_groups: ["grouped_direct", "epthwise", "naive_conv"].into_iter().any(has),
            elementwise: has("elementwise") || has("Pointwise"),
            pass: pass(&head),
            part,
            stored: match operand {
                Some(Precision::Fp16) => Some(DataType::Fp16),
                // `scudnn` on FP16 tensors is called `fp16_scudnn_fp16`.
                None if has("scudnn") => Some(DataType::Fp32),
                _ => None,
            },
        }
    }

    /// Whether the kernel can be the product of a matrix operator: not a copy, not a sum of parts.
    pub(in crate::ingest) fn multiplies(self) -> bool {
        !self.gemm_helper && !self.elementwise && self.pass.is_none()
    }

    /// Whether the name says that the kernel is a matrix product.
    pub(in crate::ingest) fn names_product(self) -> bool {
        self.multiplies() && self.engine != Engine::Silent
    }

    /// The pipe of a matrix product or convolution over operands of this type.
    ///
    /// Order of evidence: what the name proves, then the `TC` column, then nothing. A type in the name
    /// of a matrix kernel beats the recorded one: under autocast the operator is recorded with FP32
    /// tensors and runs in FP16.
    pub(in crate::ingest) fn product_pipe(
        self,
        dtype: Option<DataType>,
        tensor_cores: TensorCores,
    ) -> Pipe {
        let recorded = dtype.map(DataType::precision);
        match (self.engine, tensor_cores) {
            (Engine::Vector(named), _) => vector(named.or(recorded)),
            (Engine::Matrix, _) | (Engine::Silent | Engine::Hidden, TensorCores::Listed) => {
                self.matrix(recorded)
            }
            // These libraries have products on CUDA cores for FP32 and FP64 alone.
            (Engine::Hidden, _) => match self.operand.or(recorded) {
                Some(
                    Precision::Fp16
                    | Precision::Bf16
                    | Precision::Fp8
                    | Precision::Fp4
                    | Precision::Int8
                    | Precision::Tf32,
                ) => self.matrix(recorded),
                _ => Pipe::Unstated,
            },
            (Engine::Silent, TensorCores::NotListed) => vector(recorded),
            (Engine::Silent, TensorCores::Unknown) => Pipe::Unstated,
        }
    }

    fn matrix(self, recorded: Option<Precision>) -> Pipe {
        let operand = self.operand.or(recorded.filter(|precision| *precision != Precision::Fp32));
        match operand {
            Some(Precision::Fp16) if self.half_accumulator => Pipe::Fp16MatrixFp16Acc,
            Some(Precision::Fp16) => Pipe::Fp16Matrix,
            Some(Precision::Bf16) => Pipe::Bf16Matrix,
            Some(Precision::Tf32) => Pipe::Tf32Matrix,
            Some(Precision::Fp32) => Pipe::Fp32Matrix,
            Some(Precision::Fp64) => Pipe::Fp64Matrix,
            Some(Precision::Fp8) => Pipe::Fp8Matrix,
            Some(Precision::Fp4) => Pipe::Fp4Matrix,
            Some(Precision::Int8) => Pipe::Int8Matrix,
            _ => Pipe::Unstated,
        }
    }
}

/// The pipe of arithmetic that is no product: the lanes of the operands' type.
pub(in crate::ingest) fn lane_pipe(dtype: Option<DataType>) -> Pipe {
    vector(dtype.map(DataType::precision))
}

fn vector(precision: Option<Precision>) -> Pipe {
    match precision {
        Some(Precision::Fp64) => Pipe::Fp64Vector,
        Some(Precision::Fp32) => Pipe::Fp32Vector,
        Some(Precision::Fp16) => Pipe::Fp16Vector,
        Some(Precision::Bf16) => Pipe::Bf16Vector,
        Some(Precision::Int32 | Precision::Int8) => Pipe::Int32Vector,
        _ => Pipe::Unstated,
    }
}

/// The interface letter and shape of a matrix instruction: `s1688gemm` is (`s`, `1688`).
fn instruction(word: &str) -> Option<(char, &'static str)> {
    let letter = word.chars().next().filter(|letter| "shdiczb".contains(*letter))?;
    let shape = SHAPES.into_iter().find(|shape| word[1..].starts_with(shape))?;
    let after = &word[1 + shape.len()..];
    // What it computes: `gemm`, `tf32gemm`, `symm`, `cudnn`, `fprop`, `wgrad`. Letters alone may be of a hash.
    let computes = ["mm", "cudnn", "prop", "grad", "conv"].iter().any(|one| after.contains(one));
    let is_it =
        after.is_empty() || computes && after.starts_with(|c: char| c.is_ascii_alphabetic());
    is_it.then_some((letter, shape))
}

fn names_matrix_unit(word: &str) -> bool {
    let shaped = |prefix| {
        word.strip_prefix(prefix)
            .is_some_and(|rest: &str| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    matches!(
        word,
        "tensorop" | "hmma" | "imma" | "dmma" | "wmma" | "wgmma" | "hgmma" | "qgmma" | "igmma"
    ) || shaped("tensor")
        || word.starts_with("warpgroupsize")
        || shaped("gtcx")
        || word == "nvjet"
}

/// `sgemm`, `dcudnn`, …: without a shape these are products on CUDA cores, of the letter's type.
fn cuda_core_product(word: &str) -> Option<Precision> {
    let word = word.strip_suffix("Batched").unwrap_or(word);
    let letters = word.strip_suffix("gemm").or_else(|| word.strip_suffix("cudnn"))?;
    match letters {
        // Complex products are counted in real operations of the same lanes.
        "s" | "c" | "gc" => Some(Precision::Fp32),
        "d" | "z" => Some(Precision::Fp64),
        "h" => Some(Precision::Fp16),
        _ => None,
    }
}

/// The operand type a name spells out.
fn named_type(head: &str) -> Option<Precision> {
    // Products of FP8 also name the type of what is added or written, which is wider.
    const TYPES: [(&str, Precision); 14] = [
        ("e4m3", Precision::Fp8),
        ("e5m2", Precision::Fp8),
        ("f8_f8", Precision::Fp8),
        ("bf16", Precision::Bf16),
        ("BFloat16", Precision::Bf16),
        ("bfloat16", Precision::Bf16),
        ("tf32", Precision::Tf32),
        ("fp16", Precision::Fp16),
        ("f16", Precision::Fp16),
        ("half", Precision::Fp16),
        ("Half", Precision::Fp16),
        ("int8", Precision::Int8),
        ("i8i8", Precision::Int8),
        ("f64f64", Precision::Fp64),
    ];
    TYPES.into_iter().find(|(token, _)| head.contains(token)).map(|(_, precision)| precision)
}

/// The operand type an instruction shape leaves no choice of.
fn implied_type((letter, shape): (char, &str), head: &str) -> Option<Precision> {
    let since_ampere =
        ["ampere", "hopper", "sm80", "sm86", "sm89", "sm90", "cutlass_80", "cutlass_90"];
    match (letter, shape) {
        // Complex numbers have two of them.
        ('d' | 'z', _) => Some(Precision::Fp64),
        ('i', _) => Some(Precision::Int8),
        // Sums in FP16 are of products of FP16, and Volta's 8×8×4 multiplies nothing else; nor does Turing's 16×8×8,
        // which is TF32 since Ampere.
        ('h', _) | (_, "884") => Some(Precision::Fp16),
        (_, "1688") if since_ampere.into_iter().any(|arch| head.contains(arch)) => {
            Some(Precision::Tf32)
        }
        (_, "1688") if head.contains("turing") || head.contains("sm75") => Some(Precision::Fp16),
        _ => None,
    }
}

/// The passes of `aten/src/ATen/native/cuda/Normalization.cuh` (`PyTorch`).
fn pass(head: &str) -> Option<Pass> {
    const PASSES: [(&str, Pass); 4] = [
        ("batch_norm_collect_statistics", Pass::Statistics),
        ("batch_norm_transform_input", Pass::Apply),
        ("batch_norm_backward_reduce", Pass::BackwardSums),
        ("batch_norm_backward_elemt", Pass::BackwardApply),
    ];
    PASSES.into_iter().find(|(name, _)| head.contains(name)).map(|(_, pass)| pass)
}

#[cfg(test)]
mod tests {
    use super::*;
    use TensorCores::{Listed, NotListed, Unknown};

    fn pipe(name: &str, dtype: Option<DataType>, tensor_cores: TensorCores) -> &'static str {
        Kernel::of(name).product_pipe(dtype, tensor_cores).key()
    }

    #[test]
    fn a_matrix_instruction_in_the_name_beats_the_column() {
        for (name, dtype, expected) in [
            (
                "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn",
                DataType::Fp16,
                "fp16_matrix",
            ),
            ("volta_h884gemm_64x64_ldg8_nn", DataType::Fp16, "fp16_matrix_fp16acc"),
            (
                "sm75_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize256x64x32_stage1_warpsize4x1x1_g1_tensor16x8x8_execute_kernel_cudnn",
                DataType::Fp16,
                "fp16_matrix",
            ),
            (
                "cutlass_cudnn::library::image_network_first_layer_hmma_wgrad_kernel",
                DataType::Fp16,
                "fp16_matrix",
            ),
            ("ampere_s1688gemm_128x128_nn", DataType::Fp32, "tf32_matrix"),
            ("ampere_h1688gemm_256x64_ldg8_stages_32x1_tn", DataType::Fp16, "fp16_matrix_fp16acc"),
            ("cutlass_80_tensorop_h1688gemm_128x64_nn", DataType::Fp16, "fp16_matrix_fp16acc"),
            (
                "sm80_xmma_gemm_f16f16_f16f16_f16_nn_n_tilesize128x128x32_stage3",
                DataType::Fp16,
                "fp16_matrix_fp16acc",
            ),
            (
                "sm80_xmma_gemm_f16f16_f16f32_f32_nn_n_tilesize128x128x32_stage3",
                DataType::Fp16,
                "fp16_matrix",
            ),
            ("turing_i8816gemm_int8_128x128_tn", DataType::Int8, "int8_matrix"),
            ("ampere_d884gemm_64x64_nn", DataType::Fp64, "fp64_matrix"),
            ("turing_s1688gemm_fp16_128x128_ldg8_stages_32x1_tn", DataType::Fp16, "fp16_matrix"),
            ("ampere_bf16_s16816gemm_bf16_128x64_tn", DataType::Fp32, "bf16_matrix"),
            // Operands of FP8, and a wider result.
            (
                "sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x128_warpgroupsize1x1x1",
                DataType::Fp8,
                "fp8_matrix",
            ),
            (
                "cutlass3x_sm100_tensorop_s128x128x32gemm_f8_f8_f32_f16_f16_128x128x128",
                DataType::Fp8,
                "fp8_matrix",
            ),
            // Complex numbers of FP64, by the instruction for FP64.
            ("cutlass_80_tensorop_z884gemm_64x64_8x3_nn_align1", DataType::C64, "fp64_matrix"),
            // Autocast: recorded as FP32, run as FP16.
            ("volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn", DataType::Fp32, "fp16_matrix"),
            ("volta_s884cudnn_128x128_nn", DataType::Fp32, "fp16_matrix"),
        ] {
            for tensor_cores in [Listed, NotListed, Unknown] {
                assert_eq!(pipe(name, Some(dtype), tensor_cores), expected, "{name}");
            }
        }
    }

    /// FlashAttention's template arguments name CUTLASS, whose name alone is that of a convolution.
    /// CUTLASS has products of few bits on matrix units alone, and those of FP32 on both.
    #[test]
    fn a_library_has_products_of_few_bits_on_matrix_units() {
        let of = |dtype| pipe("cutlass::device_kernel<GemmUniversal<int>>", Some(dtype), Unknown);
        assert_eq!([DataType::Fp8, DataType::Fp4].map(of), ["fp8_matrix", "fp4_matrix"]);
        assert_eq!([DataType::Fp32, DataType::Fp64].map(of), ["unstated"; 2]);
    }

    #[test]
    fn attention_is_no_convolution() {
        for name in [
            "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::bfloat16_t>, false>(pytorch_flash::Flash_fwd_params)",
            "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel::Params)",
        ] {
            assert!(!Kernel::of(name).convolves, "{name}");
        }
        assert!(Kernel::of("cutlass__5x_cudnn::Kernel<cutlass_tensorop_s16816fprop>").convolves);
    }

    #[test]
    fn products_on_cuda_cores_are_known_by_letter() {
        assert_eq!(pipe("volta_sgemm_32x128_nn", None, Unknown), "fp32_vector");
        assert_eq!(pipe("volta_dgemm_64x64_nt", None, Unknown), "fp64_vector");
        assert_eq!(pipe("maxwell_hgemm_128x64_nn", None, Unknown), "fp16_vector");
        // FP16 storage, FP32 arithmetic.
        assert_eq!(
            pipe(
                "cudnn_volta_fp16_scudnn_fp16_128x64_relu_medium_nn_v1",
                Some(DataType::Fp16),
                NotListed
            ),
            "fp32_vector",
        );
        // `PyProf` lists every `xmma_gemm`.
        assert_eq!(
            pipe(
                "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8_stage3_warpsize1x4x1_ffma_aligna4",
                Some(DataType::Fp32),
                Listed
            ),
            "fp32_vector",
        );
        assert_eq!(pipe("cutlass_80_simt_dgemm_64x128_8x5_nn_align1", None, Listed), "fp64_vector");
        assert_eq!(pipe("gemv2T_kernel_val", Some(DataType::Fp32), NotListed), "fp32_vector");
    }

    #[test]
    fn products_of_amd_name_type_and_instruction() {
        let pipe = |name| pipe(name, Some(DataType::Fp32), Unknown);
        for (name, expected) in [
            ("Cijk_Ailk_Bljk_HHS_BH_Bias_MT128x128x32_MI32x32x8x1_SN_WG64_4_1", "fp16_matrix"),
            ("Cijk_Alik_Bljk_BBS_BH_MT64x64x32_MI16x16x16x1_SN", "bf16_matrix"),
            ("Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32_MI16x16x1_SN", "fp32_matrix"),
            ("Cijk_Ailk_Bljk_SB_MT64x64x16_SE_K1", "fp32_vector"),
            ("Cijk_Ailk_Bljk_F8BS_BH_MT256x256x64_MI16x16x1_SN", "fp8_matrix"),
            ("igemm_fwd_gtcx3_nhwc_fp16_bx0_ex0_bt256x128x32_wt32x32x8_ws1x1.kd", "fp16_matrix"),
            ("igemm_wrw_gtcx2_nhwc_fp32_bx0_ex1_bt256x64x16_wt32x32x2.kd", "fp32_matrix"),
            ("naive_conv_ab_nonpacked_fwd_nchw_half_double_half.kd", "fp64_vector"),
            ("naive_conv_ab_packed_wrw_nhwc_float_float_float.kd", "fp32_vector"),
        ] {
            assert_eq!(pipe(name), expected, "{name}");
        }
    }

    #[test]
    fn a_hidden_kernel_is_judged_by_its_operands_or_not_at_all() {
        assert_eq!(pipe("cutlass::Kernel", Some(DataType::Fp16), NotListed), "fp16_matrix");
        assert_eq!(pipe("cutlass::Kernel", Some(DataType::Fp32), NotListed), "unstated");
        assert_eq!(pipe("cutlass::Kernel", None, NotListed), "unstated");
        assert_eq!(
            pipe(
                "xmma_cudnn::implicit_gemm::strided_dgrad_indexed::kernel",
                Some(DataType::Fp16),
                NotListed
            ),
            "fp16_matrix",
        );
    }

    #[test]
    fn without_evidence_in_the_name_the_column_decides() {
        assert_eq!(pipe("somebodys_gemm", Some(DataType::Fp16), Listed), "fp16_matrix");
        assert_eq!(pipe("somebodys_gemm", Some(DataType::Fp32), Listed), "unstated");
        assert_eq!(pipe("somebodys_gemm", Some(DataType::Fp32), NotListed), "fp32_vector");
        assert_eq!(pipe("somebodys_gemm", Some(DataType::Fp32), Unknown), "unstated");
        assert_eq!(pipe("somebodys_gemm", None, NotListed), "unstated");
        assert_eq!(lane_pipe(Some(DataType::Int64)).key(), "int32_vector");
        assert_eq!(lane_pipe(None).key(), "unstated");
    }

    #[test]
    fn whole_convolutions_are_told_from_the_work_around_them() {
        for name in [
            "cudnn_turing_fp16_s1688cudnn_fp16_128x128_ldg8_relu_f2f_exp_small_nhwc_tn_v1",
            "cudnn::detail::implicit_convolve_sgemm",
            "implicit_convolve_sgemm",
            "cudnn::detail::dgrad_engine",
            "turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_stages_32x1_nn",
            "cutlass::Kernel",
            "xmma_cudnn::implicit_gemm::strided_dgrad_indexed::kernel",
            "cudnn_turing_scudnn_128x32_stridedB_splitK_small_nn_v1",
            "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
            "naive_conv_fwd_nchw_float_double_float.kd",
        ] {
            assert!(Kernel::of(name).convolves, "{name}");
        }
        for name in [
            "cudnn::ops::nchwToNhwcKernel",
            "cask_cudnn::computeWgradSplitKOffsetsKernel",
            "elementwise_kernel",
            "xmma_cudnn::implicit_gemm::strided_dgrad_indexed::kernel_helper_stage_0",
            "reduce_kernel",
            "cudnn::cnn::reduce_wgrad_nchw_helper",
            "cudnn::ops::scalePackedTensor_kernel",
            "fft2d_r2c_32x32",
            "cudnn::winograd_nonfused::winogradForwardData4x4",
            "im2col4d_kernel",
            "gemmSN_NN_kernel",
            "",
            "sm75_xmma_wgrad_implicit_gemm_indexed_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize64x128x32_stage1_warpsize2x2x1_g1_tensor16x8x8_execute_split_k_kernel_cudnn",
        ] {
            assert!(!Kernel::of(name).convolves, "{name}");
        }
    }

    #[test]
    fn helpers_and_passes_are_known() {
        assert!(Kernel::of("splitKreduce_kernel").gemm_helper);
        assert!(!Kernel::of("volta_sgemm_64x32_sliced1x4_tn").gemm_helper);
        assert!(!Kernel::of("vectorized_elementwise_kernel").multiplies());
        assert_eq!(Kernel::of("batch_norm_transform_input_kernel").pass, Some(Pass::Apply));
        assert_eq!(Kernel::of("batch_norm_backward_kernel").pass, None);
    }
}
