//! Flags tensor-core products whose kernel was chosen for operands that are hardly aligned.

use crate::model::Precision;
use crate::rules::{Check, Confidence, Judgment, Rule, Stake, Subject, Threshold};
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "unaligned-gemm-kernel",
    summary: "a product runs in a kernel for unaligned operands",
    documentation: "\
## What it finds
Tensor-core products whose kernel name says `align1` or `align2`, or `align4` for elements of 8
bits: it loads at most 4 bytes of such an operand at a time.

## Why it costs time
A library chooses such a kernel when a leading dimension or a pointer is not a multiple of 16
bytes. Every thread then needs four to eight times as many load instructions, and below 4 bytes
copies to shared memory cannot be asynchronous.

## Detection
A tensor-core product whose name shows an alignment of at most `elements`, or of as many bytes as
so many elements of 16 bits, that is less than 16 bytes. FP64 is exempt because all of its kernels are written this way.

## Remedy
Pad M, N and K, or the leading dimensions, to multiples of 16 bytes (8 elements of 16 bits, 4 of
TF32, 16 of 8 bits); on A100 and later multiples of 128 bytes are best. Vocabulary sizes are the
usual cause.

## False positives
The penalty depends on the library: half of the gap is a guess. Kernels on CUDA cores are always
named `align1` and are exempt.

## Sources
NVIDIA, *Matrix Multiplication Background*, \"Tensor Core Requirements\"; CUTLASS, naming of kernels and
`cp.async` sizes (4, 8 or 16 bytes).
",
    thresholds: &[ELEMENTS],
    silences: &["low-tensor-utilization"],
    check: Check::Kernel(check),
};

const ELEMENTS: Threshold =
    Threshold::new("elements", 2.0, "1", "libraries have kernels for 1, 2, 4 and 8 elements");

/// Bytes of an element of 16 bits.
const HALF: f64 = 2.0;

/// The widest access of a thread, in bytes.
const WIDEST: f64 = 16.0;

/// Share of the gap that alignment is taken to explain.
const EXPLAINED: f64 = 0.5;

fn check(subject: &Subject<'_>) -> Judgment {
    let class = subject.class();
    let is_fp64 = class.precision() == Some(Precision::Fp64);
    let Some(elements) = class.alignment.map(f64::from).filter(|_| class.is_product()) else {
        return Ok(None);
    };
    let bytes = class.formats.stored.or(class.formats.a).map(|stored| elements * stored.bytes());
    let is_wide = bytes.is_some_and(|bytes| bytes >= WIDEST);
    let limit = subject.threshold(&ELEMENTS);
    let is_narrow = bytes.is_some_and(|bytes| bytes <= limit * HALF);
    if (elements > limit && !is_narrow) || is_wide || is_fp64 || !subject.uses_tensor_cores()? {
        return Ok(None);
    }
    let width = bytes.map_or_else(String::new, |bytes| format!(" ({bytes:.0} bytes)"));
    let message = format!(
        "the kernel loads {elements:.0} element{}{width} at a time: operands are not 16-byte \
         aligned",
        if elements > 1.0 { "s" } else { "" }
    );
    let gap = subject.gap();
    let stake = Stake { low: Seconds::ZERO, high: gap.high * EXPLAINED, ..gap };
    let finding = subject
        .finding(message, stake)
        .confidence(Confidence::Low)
        .evidence("elements per access", elements, "1")
        .evidence_if("bytes per access", bytes, "B")
        .next("pad the leading dimensions to a multiple of 16 bytes, then check which kernel runs");
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Pipe;
    use crate::rules::engine::bench_table::kernel;

    #[test]
    fn only_unaligned_tensor_kernels_are_found() {
        let of = |name| kernel(name, 100.0).work(Pipe::Fp16Matrix, 30e9).bytes(1e7);
        let found = of("cutlass_80_tensorop_f16_s16816gemm_f16_64x64_32x6_nn_align1").found(&RULE);
        let gap = 100e-6 - 30e9 / 989.4e12;
        assert!((found.at_stake_s - 0.5 * gap).abs() < 1e-6, "{}", found.at_stake_s);
        assert!(of("cutlass_80_tensorop_f16_s16816gemm_f16_64x64_32x6_nn_align8").is_fine(&RULE));
        assert!(of("ampere_fp16_s16816gemm_fp16_128x128").is_fine(&RULE));
        // Elements of 8 bits: 4 bytes at a time are as narrow as two of 16 bits.
        let eight = |name| kernel(name, 100.0).work(Pipe::Fp8Matrix, 30e9).bytes(1e7);
        let narrow = eight(
            "cutlass3x_sm90_tensorop_s64x128x32gemm_f8_f8_f32_f16_f16_64x128x128_1x1x1_0_tnn_align4",
        );
        let message = narrow.found(&RULE).message;
        assert!(message.contains("4 elements (4 bytes)"), "{message}");
        assert!(eight("cutlass3x_sm90_tensorop_s64x128x32gemm_f8_f8_f32_f16_f16_64x128x128_1x1x1_0_tnn_align16").is_fine(&RULE));
    }
}
