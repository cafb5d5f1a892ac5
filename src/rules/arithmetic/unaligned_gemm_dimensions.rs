//! Flags tensor-core products whose sizes are no multiple of what tensor cores load at once.

use crate::model::Engine;
use crate::rules::{Check, Confidence, Judgment, Rule, Stake, Subject, Threshold};
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "unaligned-gemm-dimensions",
    summary: "matrix dimensions are not aligned",
    documentation: "\
## What it finds
Matrix products in a narrow format whose M, N or K is not a multiple of `bytes` bytes.

## Why it costs time
Libraries load operands in pieces of 16 bytes. Where rows do not start on such a boundary, they
choose a kernel with narrower loads, or, in old versions, one without tensor cores.

## Detection
The sizes are known from a closed form or PyProf's parameters, the operands have at most 32 bits,
the device has tensor cores for them, and M, N or K times the element size is not a multiple of
`bytes`.

## Remedy
Pad to the next multiple: 8 elements of 16 bits, 4 of TF32, 16 of 8 bits; on A100 and later
multiples of 128 bytes are best. Vocabulary sizes, class counts and odd batch sizes are the usual
cause.

## False positives
Only the dimensions that are contiguous in memory matter, and the profile does not show which they
are. Since cuBLAS 11, libraries use tensor cores anyway, only slower: half of the gap is a guess.

## Sources
NVIDIA, *Matrix Multiplication Background*, \"Tensor Core Requirements\".
",
    thresholds: &[BYTES],
    silences: &["unaligned-gemm-kernel", "low-tensor-utilization"],
    check: Check::Kernel(check),
};

const BYTES: Threshold = Threshold::new(
    "bytes",
    16.0,
    "B",
    "the widest load of a thread, and the alignment that libraries require",
);

/// Share of the gap that alignment is taken to explain.
const EXPLAINED: f64 = 0.5;

fn check(subject: &Subject<'_>) -> Judgment {
    let Some(needed) = subject.product_form()? else { return Ok(None) };
    let Some(product) = needed.product else { return Ok(None) };
    let element = product.a.bytes();
    let work = &subject.kernel.work;
    let on_vector = work.iter().all(|work| work.pipe.engine() == Engine::Vector);
    // A row or a column is no matrix: such a product is bound by memory, however it is aligned.
    let is_thin = product.m.min(product.n) <= 1.0;
    if element > 4.0 || is_thin || on_vector && subject.class().tensor == Some(false) {
        return Ok(None);
    }
    let unit = subject.threshold(&BYTES);
    let is_off = |size: f64| (size * element) % unit != 0.0;
    let sides = [("M", product.m), ("N", product.n), ("K", product.k)];
    let off: Vec<String> = sides
        .iter()
        .filter(|(_, size)| is_off(*size))
        .map(|(side, size)| format!("{side} = {size}"))
        .collect();
    if off.is_empty() {
        return Ok(None);
    }
    let padded = |size: f64| (size * element / unit).ceil() * unit / element;
    let extra: f64 = sides.iter().map(|(_, size)| padded(*size) / size).product();
    let gap = subject.gap();
    let stake = Stake { low: Seconds::ZERO, high: gap.high * EXPLAINED, ..gap };
    let message = format!(
        "{} {} no multiple of {:.0} elements of {}",
        off.join(", "),
        if off.len() == 1 { "is" } else { "are" },
        (unit / element).ceil(),
        product.a.name()
    );
    let mut finding = subject.finding(message, stake).confidence(Confidence::Low);
    for (side, size) in sides {
        finding = finding.evidence(side, size, "1");
        if is_off(size) {
            finding = finding.evidence(format!("{side} padded"), padded(size), "1");
        }
    }
    Ok(Some(finding.evidence("operations after padding over before", extra, "1").next(format!(
        "pad {}, then check which kernel runs and how long it takes",
        if off.len() == 1 { "this size" } else { "these sizes" }
    ))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Pipe;
    use crate::rules::engine::bench_table::{Bench, kernel};

    fn product(sizes: &str, format: &str) -> Bench {
        let call = format!("gemm {sizes} dtype={format}");
        kernel("my_gemm", 100.0).operator(&call).work(Pipe::Fp16Matrix, 30e9).bytes(1e7)
    }

    #[test]
    fn sizes_that_are_no_multiple_are_named_with_what_padding_costs() {
        let found = product("m=4096 n=50257 k=768", "fp16").found(&RULE);
        assert_eq!(found.message, "N = 50257 is no multiple of 8 elements of fp16");
        let extra = found.evidence.last().unwrap().value;
        assert!((extra - 50264.0 / 50257.0).abs() < 1e-12);
        let gap = 100e-6 - 30e9 / 989.4e12;
        assert!((found.at_stake_s - 0.5 * gap).abs() < 1e-6, "{}", found.at_stake_s);
        let two = product("m=30 n=31 k=64", "fp16").found(&RULE);
        assert_eq!(two.message, "M = 30, N = 31 are no multiple of 8 elements of fp16");
    }

    #[test]
    fn aligned_thin_and_wide_products_are_fine() {
        assert!(product("m=4096 n=50264 k=768", "fp16").is_fine(&RULE));
        assert!(product("m=1 n=50257 k=768", "fp16").is_fine(&RULE));
        assert!(product("m=33 n=33 k=33", "fp64").is_fine(&RULE));
        assert!(product("m=36 n=36 k=36", "tf32").is_fine(&RULE));
    }

    #[test]
    fn without_a_shape_it_cannot_judge() {
        assert_eq!(
            kernel("ampere_sgemm_128x64_nn", 500.0).bytes(1e8).lacks(&RULE),
            "closed form of the kernel"
        );
    }
}
