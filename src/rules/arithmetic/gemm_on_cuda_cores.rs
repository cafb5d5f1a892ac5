//! Flags FP32 matrix products that run on CUDA cores although the device has tensor cores for TF32.

use crate::model::{Pipe, Precision};
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Subject, Threshold};
use crate::taxonomy::Kind;
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "gemm-on-cuda-cores",
    summary: "an FP32 matrix product leaves the tensor cores idle",
    documentation: "\
## What it finds
FP32 matrix products, convolutions and attention that run on CUDA cores of a device whose tensor
cores support TF32.

## Why it costs time
On A100 and H100, TF32 on tensor cores is seven to eight times as fast as FP32 on CUDA cores, and
a large product is limited by nothing else.

## Detection
A product (by name, operator or closed form) on compute capability 8.0 or later whose TF32 tensor
peak exceeds its FP32 peak (not so on most GeForce devices). FP32 on CUDA cores is at least
`share` of its FLOPs, or the name says FP32 where no format was counted. Tensor cores did nothing,
by counters first and by the name last. Math takes longer than memory, and at least `reached` of
the time. Savings are at least the difference of the roofs.

## Remedy
Set `torch.backends.cuda.matmul.allow_tf32 = True` (or
`torch.set_float32_matmul_precision(\"high\")`); `CUBLAS_COMPUTE_32F_FAST_TF32`; autocast to BF16
or FP16. Convolutions of PyTorch may use TF32 unless it is switched off: pad their channels to multiples of 4, of which a
first layer of three has too few.

## False positives
TF32 keeps 10 bits of mantissa. Where FP32 accuracy is needed, splitting operands into three TF32
parts (CUTLASS 3xTF32, cuBLAS BF16x9) costs part of the gain. The rule is skipped where some
tensor formats were not counted and the SMs are busier than the counted work explains.

## Sources
NVIDIA, *Matrix Multiplication Background*, \"Tensor Cores\"; NVIDIA blog \"Accelerating AI Training with
NVIDIA TF32 Tensor Cores\"; *CUDA C++ Programming Guide*, \"Arithmetic Instructions\".
",
    thresholds: &[SHARE, REACHED],
    silences: &[
        "pipe-saturated",
        "old-architecture-kernel",
        "unfused-multiply-add",
        "integer-address-overhead",
        "instruction-bound",
    ],
    check: Check::Kernel(check),
};

const SHARE: Threshold =
    Threshold::new("share", 0.90, "1", "the rest is the epilogue and stays on CUDA cores");

const REACHED: Threshold = Threshold::new(
    "reached",
    0.10,
    "1",
    "with less math time, something else limits the kernel and a faster pipe would idle too",
);

/// The first architecture with TF32.
const AMPERE: (u32, u32) = (8, 0);

/// Below, 16-bit products have a rule of their own.
const HALF: f64 = 0.5;

const FFMA: &str = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";

fn check(subject: &Subject<'_>) -> Judgment {
    if !subject.is_product() || subject.capability()?.is_none_or(|known| known < AMPERE) {
        return Ok(None);
    }
    if subject.uses_tensor_cores()? || subject.half_pipe(HALF).is_some() {
        return Ok(None);
    }
    let counted = subject.share_of_flops(|pipe| pipe == Pipe::Fp32Vector);
    let is_fp32 = match (counted, subject.class().precision()) {
        (Some(share), _) => share >= subject.threshold(&SHARE),
        (None, Some(precision)) => precision == Precision::Fp32,
        (None, None) => return Err(Missing(FFMA)),
    };
    // Of a few operations in other formats, all are in other formats.
    if !is_fp32 && counted.is_some() && subject.kernel.uncounted().contains(&"fp32") {
        return Err(Missing(FFMA));
    }
    let Some(moved) = subject.vectorized(Pipe::Tf32Matrix)?.filter(|_| is_fp32) else {
        return Ok(None);
    };
    if subject.math_reached() < subject.threshold(&REACHED) {
        return Ok(None);
    }
    let message = format!(
        "FP32 product runs on CUDA cores; TF32 tensor cores are {:.1}× as fast on this device",
        moved.ratio
    );
    let sure =
        if counted.is_some() && subject.is_counted() { Confidence::High } else { Confidence::Low };
    // PyTorch allows TF32 for convolutions unless it is switched off: few channels keep them from it.
    let kinds = [Kind::ConvFprop, Kind::ConvDgrad, Kind::ConvWgrad];
    let convolves = subject.class().kind.is_some_and(|kind| kinds.contains(&kind));
    let finding = subject
        .finding_against(message, moved.stake, Seconds::ZERO)
        .confidence(sure)
        .evidence_if("FP32 share of the FLOPs", counted, "1")
        .evidence("TF32 peak over FP32 peak", moved.ratio, "1")
        .next(if convolves {
            "pad channels to multiples of 4, and check that TF32 is allowed (torch.backends.cudnn.allow_tf32)"
        } else {
            "allow TF32 for this product, then compare results and time"
        });
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Quantity;
    use crate::rules::engine::bench_table::kernel;

    const NAME: &str = "ampere_sgemm_128x64_nn";

    #[test]
    fn an_fp32_product_on_cuda_cores_is_found() {
        // 60 TFLOP/s of 66.9 are near the FP32 roof; TF32 has 494.7.
        let fast = kernel(NAME, 1000.0).work(Pipe::Fp32Vector, 60e9).bytes(1e8);
        let found = fast.found(&RULE);
        let left = 60e9 / 494.7e12 / 0.8;
        assert!((found.at_stake_s - (1e-3 - left)).abs() < 2e-6, "{}", found.at_stake_s);
        assert_eq!((found.estimator, found.confidence), ("pipe", Confidence::High));
        let roofs = 60e9 / 66.9e12 - 60e9 / 494.7e12;
        assert!((found.at_stake_low_s - roofs).abs() < 1e-6, "{}", found.at_stake_low_s);
    }

    /// NVIDIA quotes the TF32 peak of an H100 at 1830 MHz and that of FP32 at 1980 MHz. At 1755 MHz they are
    /// 494.7 · 1755 / 1830 and 66.9 · 1755 / 1980 TFLOP/s: 8.0 times as fast, and not 7.4 times.
    #[test]
    fn each_peak_is_scaled_from_the_clock_that_it_is_quoted_at() {
        let at = |clock| {
            kernel(NAME, 1200.0)
                .work(Pipe::Fp32Vector, 60e9)
                .bytes(1e8)
                .set(Quantity::SmClock, clock)
        };
        let found = at(1.755e9).found(&RULE);
        assert!(found.message.contains("8.0× as fast"), "{}", found.message);
        let [fp32, tf32] = [66.9e12 * 1755.0 / 1980.0, 494.7e12 * 1755.0 / 1830.0];
        assert!(
            (found.at_stake_s - (1.2e-3 - 60e9 / tf32 / 0.8)).abs() < 2e-6,
            "{}",
            found.at_stake_s
        );
        assert!(
            (found.at_stake_low_s - (60e9 / fp32 - 60e9 / tf32)).abs() < 1e-6,
            "{}",
            found.at_stake_low_s
        );
    }

    #[test]
    fn other_kernels_tensor_cores_and_old_devices_are_left_alone() {
        let sum = kernel("reduce_kernel", 1000.0).work(Pipe::Fp32Vector, 60e9).bytes(1e8);
        assert!(sum.is_fine(&RULE));
        let tensor = kernel("ampere_s1688gemm_fp32_128x128_nn", 100.0);
        assert!(tensor.work(Pipe::Tf32Matrix, 30e9).bytes(1e8).is_fine(&RULE));
        let volta = kernel("volta_sgemm_128x64_nn", 1000.0).on("Tesla V100-SXM2-16GB");
        assert!(volta.work(Pipe::Fp32Vector, 10e9).bytes(1e8).is_fine(&RULE));
        // A thousandth of the roof: a faster pipe would wait as long.
        assert!(kernel(NAME, 1000.0).work(Pipe::Fp32Vector, 6e7).bytes(1e3).is_fine(&RULE));
        // Moving 3 GB takes 0.9 ms, the math 0.3 ms: TF32 would wait for memory as long.
        let skinny = kernel(NAME, 1000.0).work(Pipe::Fp32Vector, 20e9).bytes(3e9);
        assert!(skinny.is_fine(&RULE));
    }

    #[test]
    fn without_operations_it_cannot_judge() {
        assert_eq!(kernel(NAME, 1000.0).bytes(1e8).lacks(&RULE), "FLOP counters");
        let other = || kernel("my_gemm", 1000.0).set(Quantity::TensorActive, 0.0).bytes(1e8);
        let other = || other().operator("gemm m=2048 n=2048 k=2048 dtype=fp32");
        let few = other().work(Pipe::Fp64Vector, 1e6);
        assert_eq!(few.lacks(&RULE), FFMA);
        assert!(other().work(Pipe::Fp64Vector, 1e9).work(Pipe::Fp32Vector, 1e6).is_fine(&RULE));
    }
}
