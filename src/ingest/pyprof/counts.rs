//! Which of the counts to believe: what the file prints, what the shapes say, or neither.
//!
//! `PyProf` counts for an *operator* and prints that count with each of its kernels, or with the first,
//! or 0 where it does not know. The rules here, in order:
//!
//! 1. A kernel that adds up the parts of a split product did none of the product: nothing is known of
//!    it, though `PyProf` credits it with all.
//! 2. The passes of a batch normalization, and the clearing and filling of an embedding's gradient, get
//!    their own part, computed from the shapes. A batch normalization in kernels of other names keeps
//!    `PyProf`'s bytes with the first, as an upper bound.
//! 3. Bytes that carry a known fault are computed again from the shapes.
//! 4. A number above zero is believed. Several whole products or convolutions of one operator (forward,
//!    both gradients, each algorithm that cuDNN tries) keep the count each: each did the work.
//! 5. Where the whole operator is charged to its first kernel, operations printed again without bytes
//!    are not counted again.
//! 6. Zero operations are the truth only where the operator computes nothing and bytes are known.
//! 7. Any other zero, and a missing column, means unknown: the count comes from the shapes if the
//!    operator's formula is known and the kernel is one that does the work, else there is none.

use std::cell::LazyCell;

use crate::ingest::operators::forms::{Basis, Count, NO_OPERATIONS, Work};
use crate::ingest::operators::kernel::Kernel;
use crate::ingest::operators::operator::Operator;

/// The counts printed for one launch.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Printed {
    /// `FLOPs`.
    pub(super) flops: Option<f64>,
    /// `Bytes`.
    pub(super) bytes: Option<f64>,
    /// `Sub`.
    pub(super) sub: Option<f64>,
    /// Whether `FLOPs` is written as a float.
    pub(super) float: bool,
}

static FLOPS: Basis = Basis::exact("PyProf FLOPs");
static HALF: Basis =
    Basis::within("PyProf FLOPs: half of the elements read and written", 0.66, 1.0);
/// The work of a launch, by the rules above.
pub(super) fn judge(operator: &Operator, kernel: Kernel, printed: Printed) -> Work {
    if kernel.gemm_helper && operator.is_product {
        return Work::default();
    }
    // Seldom asked for.
    let formula = LazyCell::new(|| operator.work(kernel, printed.sub));
    if operator.overrides(kernel) && formula.bytes.is_some() {
        return *formula;
    }
    let of_softmax = operator.softmax_bytes(kernel);
    let bytes = match printed.bytes {
        _ if of_softmax.is_some() => of_softmax,
        Some(bytes) if operator.is_faulty(bytes) && formula.bytes.is_some() => formula.bytes,
        Some(bytes) if bytes > 0.0 => Count::new(bytes, operator.printed_bytes()),
        _ => formula.bytes,
    };
    let later = printed.sub.is_some_and(|sub| sub > 0.0);
    let charged_before = operator.charges_first()
        && (printed.bytes == Some(0.0) || (printed.bytes.is_none() && later));
    let flops = match printed.flops {
        Some(flops) if flops > 0.0 && charged_before => None,
        Some(flops) if flops > 0.0 => {
            Count::new(flops, if operator.is_pointwise && printed.float { &HALF } else { &FLOPS })
        }
        _ if operator.moves_data && bytes.is_some() => Count::new(0.0, &NO_OPERATIONS),
        _ => formula.flops,
    };
    Work { flops, bytes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::operators::params::Params;

    struct Case {
        operator: &'static str,
        backward: bool,
        params: &'static str,
        kernel: &'static str,
    }

    impl Case {
        fn new(operator: &'static str, params: &'static str, kernel: &'static str) -> Self {
            Self { operator, backward: false, params, kernel }
        }

        fn backward(self) -> Self {
            Self { backward: true, ..self }
        }

        /// `FLOPs basis; Bytes basis` for the printed counts.
        fn judged(&self, flops: &str, bytes: &str, sub: f64) -> (Option<f64>, Option<f64>, String) {
            let params = Params::parse(self.params);
            let operator = Operator::of(self.operator, "torch", self.backward, params.as_ref());
            let number = |text: &str| text.parse().ok();
            let printed = Printed {
                flops: number(flops),
                bytes: number(bytes),
                sub: Some(sub),
                float: flops.contains('.'),
            };
            let work = judge(&operator, Kernel::of(self.kernel), printed);
            let formula = |count: Option<Count>| count.map_or("-", |count| count.basis.formula);
            let bases = format!("{}; {}", formula(work.flops), formula(work.bytes));
            (work.flops.map(|count| count.value), work.bytes.map(|count| count.value), bases)
        }
    }

    const LINEAR: &str = "M=33278,N=(35,20),K=200,fp32,";

    #[test]
    fn faulty_bytes_of_linear_are_repaired_in_every_direction() {
        let bases = "PyProf FLOPs; s·(M·N + M·K + N·K) from shapes";
        let right = (Some(9_317_840_000.0), Some(120_360_800.0), bases.to_owned());
        let forward = Case::new("linear", LINEAR, "volta_sgemm_128x64_tn");
        assert_eq!(forward.judged("9317840000", "30510200", 0.0), right);
        let gradient =
            Case::new("linear", "M=200,N=(35,20),K=33278,fp32,", "volta_sgemm_32x32_nt").backward();
        assert_eq!(gradient.judged("9317840000", "30510200", 0.0), right);
        let weights = Case::new("linear", "M=200,N=33278,K=(35,20),fp32,", "volta_sgemm_32x128_nn")
            .backward();
        assert_eq!(weights.judged("9317840000", "30510200", 1.0), right);
        // Bytes that are not PyProf's fault stay as they are.
        let (_, bytes, bases) = forward.judged("9317840000", "120360801", 0.0);
        assert_eq!((bytes, bases.as_str()), (Some(120_360_801.0), "PyProf FLOPs; PyProf Bytes"));
        // Without Params nothing can be repaired, and the report must say how far off it may be.
        let bare =
            Case::new("linear", "", "volta_sgemm_128x64_tn").judged("9317840000", "30510200", 0.0);
        assert_eq!(bare.1, Some(30_510_200.0));
        assert_eq!(bare.2, "PyProf FLOPs; PyProf Bytes of linear, mostly counted in elements");
    }

    #[test]
    fn the_sum_of_a_split_product_is_not_credited_with_the_product() {
        let helper = Case::new("linear", LINEAR, "splitKreduce_kernel");
        assert_eq!(helper.judged("9317840000", "30510200", 1.0), (None, None, "-; -".to_owned()));
        assert_eq!(helper.judged("", "", 1.0), (None, None, "-; -".to_owned()));
    }

    #[test]
    fn matmul_gets_its_batch_back() {
        let batched = Case::new(
            "matmul",
            "A=(8,4,16,32),B=(8,4,32,16),fp16,",
            "volta_fp16_s884gemm_fp16_64x64_nn",
        );
        let faulty = 2 * (16 * 16 + 16 * 32 + 16 * 32);
        let (flops, bytes, _) = batched.judged("524288", &faulty.to_string(), 0.0);
        assert_eq!((flops, bytes), (Some(524_288.0), Some(f64::from(faulty * 32))));
        let copies = Case::new("matmul", "A=(8,4,16,32),B=(32,16),fp16,", "elementwise_kernel");
        assert_eq!(copies.judged("0", "65536", 0.0).1, Some(65_536.0));
        assert_eq!(copies.judged("", "", 0.0).1, None);
    }

    #[test]
    fn a_zero_is_unknown_unless_the_operator_only_moves_data() {
        /// Rows may be read once to three times.
        const TWICE: &str = "PyProf Bytes of a softmax that reads its rows twice";
        let cat = Case::new("cat", "T=[8,3]fp32;[8,5]fp32,A=1", "CatArrayBatchedCopy");
        assert_eq!(
            cat.judged("0", "512", 0.0),
            (Some(0.0), Some(512.0), "0: data is only moved; PyProf Bytes".into())
        );
        assert_eq!(cat.judged("0", "0", 1.0), (None, None, "-; -".into()));
        let pool = Case::new("max_pool2d", "T=[(8,3)],['float32']", "max_pool_forward_nchw");
        assert_eq!(pool.judged("0", "0", 0.0), (None, None, "-; -".into()));
        let softmax = Case::new("log_softmax", "T=(4,8),fp32,", "cunn_SoftMaxForward");
        assert_eq!(softmax.judged("0", "384", 0.0).0, Some(672.0));
        let unnamed = Case::new("log_softmax", "na=na,", "cunn_SoftMaxForward");
        assert_eq!(unnamed.judged("0", "384", 0.0), (None, Some(384.0), format!("-; {TWICE}")));
        let adam = Case::new("adam", "T=(1000,),fp32,fp16,", "adam_kernel");
        assert_eq!(adam.judged("0", "28000", 0.0).0, Some(14_000.0));
    }

    #[test]
    fn passes_of_a_batch_normalization_get_their_part() {
        let params = "[2,3,4,5]fp16";
        let statistics = Case::new("batch_norm", params, "batch_norm_collect_statistics_kernel");
        let apply = Case::new("batch_norm", params, "batch_norm_transform_input_kernel");
        let nameless = Case::new("batch_norm", params, "");
        assert_eq!(statistics.judged("960", "960", 0.0).1, Some(240.0));
        assert_eq!(apply.judged("960", "0", 2.0).1, Some(480.0));
        assert_eq!(nameless.judged("960", "0", 1.0), (None, None, "-; -".into()));
        let whole = nameless.judged("960", "960", 0.0);
        assert_eq!(whole.2, "PyProf FLOPs; PyProf Bytes of the whole batch normalization");
        let sum = Case::new("sum", "T=(100,),fp32,", "reduce_kernel");
        assert_eq!(sum.judged("100", "400", 0.0).0, Some(100.0));
        assert_eq!(sum.judged("100", "0", 1.0), (None, None, "-; -".into()));
    }

    #[test]
    fn the_gradient_of_an_embedding_is_cleared_then_scattered() {
        let params = "I=(35,20),int64,E=(33278,200),fp32,";
        let clear = Case::new("embedding", params, "elementwise_kernel").backward();
        assert_eq!(clear.judged("0", "1680000", 0.0).1, Some(26_622_400.0));
        let scatter =
            Case::new("embedding", params, "embedding_backward_feature_kernel").backward();
        assert_eq!(scatter.judged("0", "0", 1.0).0, Some(140_000.0));
        assert_eq!(scatter.judged("0", "0", 1.0).1, Some(1_680_000.0));
    }

    #[test]
    fn convolutions_that_pyprof_does_not_know_are_counted_and_the_work_around_them_is_not() {
        let params =
            "N=32,C=64,H=56,W=56,K=64,P=56,Q=56,R=1,S=1,ph=0,pw=0,U=1,V=1,dh=1,dw=1,g=1,fp16,";
        let unknown = Case::new("conv2d", params, "turing_fp16_s1688gemm_fp16_128x128_nn");
        let (flops, bytes, bases) = unknown.judged("0", "0", 0.0);
        assert_eq!((flops, bytes), (Some(822_083_584.0), Some(25_698_304.0)));
        assert!(bases.starts_with("2·N·K·P·Q·C·R·S/g from shapes"), "{bases}");
        let layout = Case::new("conv2d", params, "cudnn::ops::nchwToNhwcKernel");
        assert_eq!(layout.judged("0", "0", 1.0), (None, None, "-; -".into()));
        let grouped =
            "N=1,C=64,H=8,W=8,K=64,P=8,Q=8,R=3,S=3,ph=1,pw=1,U=1,V=1,dh=1,dw=1,g=64,fp32,";
        let one_of_many = Case::new("conv2d", grouped, "cudnn::detail::implicit_convolve_sgemm");
        assert_eq!(one_of_many.judged("", "", 0.0).0, None);
        let all = Case::new("conv2d", grouped, "at::native::conv_depthwise2d_forward_kernel");
        assert_eq!(all.judged("", "", 0.0).0, Some(73_728.0));
    }

    #[test]
    fn without_the_columns_counts_come_from_the_shapes() {
        for (operator, backward, params, kernel, flops, bytes) in [
            ("linear", false, LINEAR, "volta_sgemm_128x64_tn", 9_317_840_000.0, 120_360_800.0),
            ("bias", false, "M=200,N=(35,20),fp32,", "elementwise_kernel", 140_000.0, 1_120_000.0),
            (
                "bmm",
                false,
                "B=8,M=16,N=32,K=64,fp16,",
                "volta_h884gemm_64x64_nn",
                524_288.0,
                57_344.0,
            ),
            ("addmm_", false, "M=16,N=32,K=64,fp32,", "volta_sgemm_32x32_nn", 65_536.0, 14_336.0),
            ("relu", true, "[32,8]fp16", "vectorized_elementwise_kernel", 256.0, 1_536.0),
            ("__iadd__", false, "[32,8]fp16;[32,8]fp16", "elementwise_kernel", 256.0, 1_536.0),
            (
                "__add__",
                false,
                "[35,20,200]fp32;[35,1,200]fp32",
                "elementwise_kernel",
                140_000.0,
                1_148_000.0,
            ),
            (
                "__mul__",
                false,
                "[35,20,200]fp32;[]fp32",
                "elementwise_kernel",
                140_000.0,
                1_120_004.0,
            ),
            ("__mul__", true, "[8]fp32;[]fp32", "elementwise_kernel", 8.0, 96.0),
            ("__radd__", true, "[8]fp32;[8]fp32", "elementwise_kernel", 0.0, 64.0),
            ("gt", false, "[8]fp32;[]fp32", "elementwise_kernel", 8.0, 44.0),
            ("pow", false, "[8]fp32;[]int32", "elementwise_kernel", 160.0, 68.0),
            (
                "addcmul_",
                false,
                "[8]fp32;[]fp32;[8]fp32;[8]fp32",
                "elementwise_kernel",
                24.0,
                128.0,
            ),
            ("exp", false, "[8]fp64", "elementwise_kernel", 160.0, 128.0),
            ("dropout", false, "[8]fp16", "fused_dropout_kernel", 40.0, 32.0),
            ("softmax", true, "[8]fp16", "softmax_warp_backward", 320.0, 48.0),
            ("mean", false, "[8,8]fp32", "reduce_kernel", 65.0, 260.0),
            ("norm", false, "T=(8,8),fp32,", "reduce_kernel", 129.0, 256.0),
            ("mse_loss", false, "T=(8,),fp32,red=mean,", "elementwise_kernel", 33.0, 64.0),
            ("copy_", false, "T=(8,),fp32,fp16,", "elementwise_kernel", 0.0, 48.0),
            ("half", false, "[8]fp32", "elementwise_kernel", 0.0, 48.0),
            ("index_select", false, "T=(4,6),D=1,I=3,fp32,", "indexSelectLargeIndex", 0.0, 120.0),
            ("nonzero", false, "T=(4,6),fp32,", "nonzero_kernel", 0.0, 480.0),
            ("zero_", false, "[8]fp32", "elementwise_kernel", 0.0, 32.0),
            (
                "embedding",
                false,
                "[35,20]int64;[33278,200]fp32",
                "indexSelectLargeIndex",
                0.0,
                1_125_600.0,
            ),
        ] {
            let case = Case { operator, backward, params, kernel };
            let (read_flops, read_bytes, _) = case.judged("", "", 0.0);
            assert_eq!((read_flops, read_bytes), (Some(flops), Some(bytes)), "{operator} {params}");
        }
    }

    #[test]
    fn recurrent_cells_know_their_products() {
        let params = Params::parse("gemm=recur,M=2048,N=16,K=512,fp16,");
        let operator = Operator::of("forward", "LSTMCell", false, params.as_ref());
        let work =
            judge(&operator, Kernel::of("volta_fp16_s884gemm_fp16_64x64_tn"), Printed::default());
        assert_eq!(work.flops.unwrap().value, 2.0 * 2048.0 * 16.0 * 512.0);
        let params = Params::parse("cell=LSTMCell,X=512,H=512,B=16,fp16,");
        let operator = Operator::of("forward", "LSTMCell", false, params.as_ref());
        let work = judge(&operator, Kernel::of("kernelPointwiseApply3"), Printed::default());
        assert_eq!(work.flops, None);
    }

    #[test]
    fn float_counts_of_element_wise_operators_are_half_of_the_elements_moved() {
        let old = Case::new("__add__", "T=[(8,),(8,)],fp32,", "elementwise_kernel");
        assert_eq!(
            old.judged("12.0", "96", 0.0),
            (
                Some(12.0),
                Some(96.0),
                "PyProf FLOPs: half of the elements read and written; PyProf Bytes".into()
            ),
        );
        let convolution = Case::new("conv2d", "na=na,", "implicit_convolve_sgemm");
        assert_eq!(convolution.judged("12.0", "96.0", 0.0).2, "PyProf FLOPs; PyProf Bytes");
    }
}
