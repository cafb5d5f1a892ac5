//! Flags 16-bit matrix products that run on CUDA cores although the device has tensor cores.

use crate::rules::{Check, Confidence, Judgment, Rule, Subject, Threshold};
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "half-gemm-on-cuda-cores",
    summary: "a 16-bit matrix product leaves the tensor cores idle",
    documentation: "\
## What it finds
Matrix products, convolutions and attention with FP16 or BF16 operands that run on CUDA cores.

## Why it costs time
Tensor cores multiply 16-bit operands four to eight times as fast as packed arithmetic on CUDA
cores, and accumulate in FP32.

## Detection
A product (by name, operator or closed form) on compute capability 7.0 or later. Its name says
FP16 or BF16, or packed 16-bit arithmetic is at least `share` of its FLOPs. Tensor cores did
nothing, by counters first and by the name last. Math takes longer than memory, and at least
`reached` of the time. Savings are at least the difference of the roofs.

## Remedy
Use dimensions that are multiples of 8 elements and 16-byte aligned pointers; channels-last for
convolutions; a newer cuBLAS or cuDNN; `CUBLAS_COMPUTE_32F` instead of a 16-bit compute type.

## False positives
Products with one row or column (gemv) wait for memory on any unit and are not covered by this
rule. Depthwise convolutions have nothing to multiply on tensor cores.

## Sources
NVIDIA, *Matrix Multiplication Background*, \"Tensor Core Requirements\"; NVIDIA, *Linear/Fully-Connected
Layers*; *CUDA C++ Programming Guide*, \"Arithmetic Instructions\".
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
    Threshold::new("share", 0.50, "1", "the operands are 16 bits wide; sums may be FP32");

const REACHED: Threshold = Threshold::new(
    "reached",
    0.10,
    "1",
    "with less math time, something else limits the kernel and a faster pipe would idle too",
);

/// The first architecture with tensor cores.
const VOLTA: (u32, u32) = (7, 0);

fn check(subject: &Subject<'_>) -> Judgment {
    if !subject.is_product() || subject.capability()?.is_none_or(|known| known < VOLTA) {
        return Ok(None);
    }
    let Some(to) = subject.half_pipe(subject.threshold(&SHARE)) else { return Ok(None) };
    if subject.uses_tensor_cores()? {
        return Ok(None);
    }
    let Some(moved) = subject.vectorized(to)? else { return Ok(None) };
    if subject.math_reached() < subject.threshold(&REACHED) {
        return Ok(None);
    }
    let format = if to.key().starts_with("bf16") { "BF16" } else { "FP16" };
    let half = subject.share_of_flops(|pipe| matches!(pipe.key(), "fp16_vector" | "bf16_vector"));
    let message = format!(
        "{format} product runs on CUDA cores; tensor cores are {:.1}× as fast on this device",
        moved.ratio
    );
    let finding = subject
        .finding_against(message, moved.stake, Seconds::ZERO)
        .confidence(if half.is_some() && subject.is_counted() {
            Confidence::High
        } else {
            Confidence::Low
        })
        .evidence_if("16-bit share of the FLOPs", half, "1")
        .evidence("peak of the tensor pipe over that of the pipe used", moved.ratio, "1")
        .next(
            "pad dimensions to multiples of 8 and align pointers to 16 bytes, then check which \
               kernel runs",
        );
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Pipe, Quantity};
    use crate::rules::engine::bench_table::kernel;

    const NAME: &str = "ampere_hgemm_128x64_nn";

    #[test]
    fn a_half_product_on_cuda_cores_is_found() {
        let slow = kernel(NAME, 1000.0).work(Pipe::Fp16Vector, 60e9).bytes(1e8);
        let found = slow.set(Quantity::TensorActive, 0.0).found(&RULE);
        assert_eq!((found.estimator, found.confidence), ("pipe", Confidence::High));
        assert!(found.at_stake_s > 0.9e-3, "{}", found.at_stake_s);
    }

    #[test]
    fn tensor_cores_and_other_kernels_are_left_alone() {
        let sum = kernel("reduce_kernel", 1000.0).work(Pipe::Fp16Vector, 60e9).bytes(1e8);
        assert!(sum.is_fine(&RULE));
        let tensor = kernel("ampere_fp16_s16816gemm_fp16_128x128", 100.0).bytes(1e8);
        assert!(tensor.work(Pipe::Fp16Matrix, 30e9).is_fine(&RULE));
        let single = kernel("ampere_sgemm_128x64_nn", 1000.0).work(Pipe::Fp32Vector, 60e9);
        assert!(single.bytes(1e8).is_fine(&RULE));
    }

    #[test]
    fn without_operations_it_cannot_judge() {
        let bare = kernel(NAME, 1000.0).bytes(1e8).set(Quantity::TensorActive, 0.0);
        assert_eq!(bare.lacks(&RULE), "FLOP counters");
    }
}
