//! Flags products with too few operations per byte for the math units of the device.

use crate::analysis::Work;
use crate::model::Engine;
use crate::roofline::{self, achievable};
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Stake, Subject, Threshold, Unit};
use crate::taxonomy::Kind;
use crate::units::{Flops, Seconds};

pub(super) const RULE: Rule = Rule {
    id: "memory-bound-matmul",
    summary: "a matrix product is memory-bound: too few operations per byte",
    documentation: "\
## What it finds
Products whose arithmetic intensity is far below the ridge point: few rows (small batch), a
vector, or the attention of one new token.

## Why it costs time
A product with one row uses each weight once. Reading the weights takes as long for one row as for
a hundred, so the time per row falls with the batch until the ridge point is reached.

## Detection
A product, or matrix-vector product, with an intensity below `share` of its ridge point that keeps
DRAM busy at least `least` of its time. Where DRAM is at least `busy`, it runs as fast as its
bytes allow and the finding is informational; otherwise the time above its memory roof counts as
savings. The rule is skipped where tensor work may have gone uncounted.

## Remedy
Use a larger batch, or batch requests; 8- or 4-bit weights; grouped-query attention; fuse products
that share an input. Where DRAM is not busy: for few rows split-K, or a kernel made for them;
otherwise larger tiles. A larger batch does not help products that each have matrices of their own
(batched kernels): use larger tiles, or fuse them with their neighbors.
For a convolution: another algorithm of the library (cuDNN's benchmark mode), fusion with the
layers beside it, a smaller data type.

## False positives
Where latency matters and not throughput, a batch of one is intended. The distance to the ridge
point assumes that weights dominate the bytes.

## Sources
NVIDIA, *Linear/Fully-Connected Layers User's Guide*, \"Batch Size\"; S. Williams et al., *Roofline*, CACM 2009.
",
    thresholds: &[SHARE, SATURATED, LEAST],
    silences: &[],
    check: Check::Kernel(check),
};

const SHARE: Threshold = Threshold::new(
    "share",
    0.50,
    "1",
    "closer to the ridge point, math and memory are both near their roofs",
);

const LEAST: Threshold = Threshold::new(
    "least",
    0.30,
    "1",
    "with memory less busy, something else takes the time (parallelism, latency)",
);
const SATURATED: Threshold = Threshold::new(
    "busy",
    0.80,
    "1",
    "Nsight Compute calls a unit highly utilized from here: only fewer bytes help",
);

fn check(subject: &Subject<'_>) -> Judgment {
    let (kernel, class) = (subject.kernel, subject.class());
    if !class.is_product() && class.kind != Some(Kind::Gemv) {
        return Ok(None);
    }
    let flops = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum or sm__ops_path_tensor_*";
    let memory = kernel.memory_time.ok_or(Missing("dram__bytes.sum"))?;
    // Where work went uncounted, the intensity is that of the rest: of an epilogue, say.
    let on_matrix =
        |work: &Work| work.pipe.engine() == Engine::Matrix && work.operations > Flops::ZERO;
    let is_unseen = class.tensor == Some(true) && !kernel.work.iter().any(on_matrix);
    let is_certain = class.tensor == Some(false) || class.kind == Some(Kind::Gemv);
    if is_unseen || kernel.is_lower_bound() && !is_certain {
        return Err(Missing("sm__ops_path_tensor_*"));
    }
    // Integer operations have a roof of their own, and are no FLOPs.
    if kernel.integer_operations().is_some_and(|operations| operations > Flops::ZERO) {
        return Ok(None);
    }
    let intensity = kernel.intensity().ok_or(Missing(flops))?.get();
    let ridge = kernel.ridge_point().ok_or(Missing(flops))?.get();
    if intensity <= 0.0 || intensity >= ridge * subject.threshold(&SHARE) {
        return Ok(None);
    }
    let factor = ridge / intensity;
    let roof = if kernel.modeled > Seconds::ZERO { memory / kernel.modeled } else { 0.0 };
    let dram = subject.utilization(Unit::Dram).map_or(roof, |used| used.max(roof));
    if dram < subject.threshold(&LEAST) {
        return Ok(None);
    }
    let is_saturated = dram >= subject.threshold(&SATURATED);
    let digits = usize::from(factor < 10.0);
    let message = format!(
        "memory-bound at {intensity:.1} FLOP/B (ridge point {ridge:.0}): {factor:.digits$}× the \
         work on the same bytes would take hardly longer"
    );
    // The bytes of a convolution are mostly activations: they grow with the batch.
    let is_convolution =
        matches!(class.kind, Some(Kind::ConvFprop | Kind::ConvDgrad | Kind::ConvWgrad));
    let finding = if is_saturated {
        subject.info(message).next(if is_convolution {
            "fuse it with the layers beside it, or use a smaller data type"
        } else {
            "batch more rows, or store the weights in fewer bits"
        })
    } else {
        let good = if subject.device().is_ok_and(|device| !device.is_hbm()) {
            achievable::GDDR
        } else {
            achievable::HBM
        };
        let high = roofline::savings(kernel.modeled, memory / subject.good(good));
        let stake = Stake { low: kernel.savings.min(high), high, estimator: "gap" };
        let is_gemv = class.kind == Some(Kind::Gemv);
        let is_batched = class.kind != Some(Kind::Gemv) && is_batched(&kernel.full_name);
        subject.finding(message, stake).confidence(Confidence::Medium).next(if is_convolution {
            "let the library choose another algorithm, then use a smaller data type"
        } else if is_gemv {
            "read 16 bytes per thread and split rows over more blocks; then batch vectors, or store the weights in fewer bits"
        } else if is_batched {
            "use larger tiles, or fuse it with the kernels beside it"
        } else {
            "use split-K or gemv for few rows, else larger tiles or batch"
        })
    };
    let finding = finding
        .evidence("arithmetic intensity", intensity, "FLOP/B")
        .evidence("ridge point", ridge, "FLOP/B")
        .evidence("share of the memory roof", dram, "1");
    Ok(Some(finding))
}

/// Whether a name is that of many products at once, each of matrices of its own: more of them bring their bytes.
fn is_batched(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.contains("batched") || name.contains("bmm")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Pipe, Quantity};
    use crate::rules::Severity;
    use crate::rules::engine::bench_table::kernel;

    const NAME: &str = "ampere_fp16_s16816gemm_fp16_64x64";

    #[test]
    fn a_skinny_product_is_found() {
        // 134 MB of weights, 16 rows: 16 FLOP per byte, of a ridge at 295.
        let slow = kernel(NAME, 100.0).work(Pipe::Fp16Matrix, 2.147e9).bytes(134.2e6);
        let found = slow.found(&RULE);
        let most = 100e-6 - 134.2e6 / 3.352e12 / 0.9;
        assert!((found.at_stake_s - most).abs() < 0.3e-6, "{}", found.at_stake_s);
        let fast = kernel(NAME, 45.0).work(Pipe::Fp16Matrix, 2.147e9).bytes(134.2e6);
        let noted = fast.set(Quantity::DramThroughput, 0.92).found(&RULE);
        assert_eq!((noted.severity, noted.at_stake_s), (Severity::Info, 0.0));
    }

    /// The products of a batch share no bytes, and may have many rows.
    #[test]
    fn a_batched_product_is_advised_as_one() {
        let name = "batched_matrix_multiplication_matrix_core_64x64x4(bf16*, bf16*, float*)";
        let slow = kernel(name, 100.0).work(Pipe::Fp16Matrix, 2.147e9).bytes(134.2e6);
        let next = slow.found(&RULE).next.unwrap();
        assert!(next.contains("larger tiles") && !next.contains("rows"), "{next}");
    }

    /// Few rows are no cause of a slow convolution, and a larger batch brings it more activations to read.
    #[test]
    fn a_convolution_is_advised_as_one() {
        let name = "sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize64x64x32";
        let slow = kernel(name, 100.0).work(Pipe::Fp16Matrix, 2.147e9).bytes(134.2e6);
        let next = |found: &crate::rules::Finding| found.next.clone().unwrap();
        assert!(next(&slow.found(&RULE)).contains("another algorithm"));
        let fast = kernel(name, 45.0).work(Pipe::Fp16Matrix, 2.147e9).bytes(134.2e6);
        let noted = fast.set(Quantity::DramThroughput, 0.92).found(&RULE);
        assert!(next(&noted).contains("the layers beside it"));
    }

    #[test]
    fn large_products_and_other_kernels_are_left_alone() {
        let large = kernel(NAME, 100.0).work(Pipe::Fp16Matrix, 30e9).bytes(1e7);
        assert!(large.is_fine(&RULE));
        let sum = kernel("reduce_kernel", 100.0).work(Pipe::Fp32Vector, 1e7).bytes(1e8);
        assert!(sum.is_fine(&RULE));
    }

    #[test]
    fn without_bytes_it_cannot_judge() {
        let bare = kernel(NAME, 100.0).work(Pipe::Fp16Matrix, 2.147e9);
        assert_eq!(bare.lacks(&RULE), "dram__bytes.sum");
    }
}
