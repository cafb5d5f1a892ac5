//! Flags attention that is computed in steps, with its matrix of scores in memory.

use crate::analysis::Kernel;
use crate::rules::engine::shares::Together;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Threshold};
use crate::taxonomy::Kind;

pub(super) const RULE: Rule = Rule {
    id: "materialized-attention",
    summary: "attention runs in separate steps and writes its score matrix to memory",
    documentation: "\
## What it finds
Softmax between two batched matrix products: attention whose score matrix (sequence length squared
per head) is written to memory and read back.

## Why it costs time
The scores are far larger than the inputs and outputs. The first product writes them, masks and
softmax read and write them, the second product reads them. A fused kernel keeps a tile of them on
chip, so they never reach memory.

## Detection
Softmax, and masks applied by their own kernels, take `share` of the run or more, and there are
`products` or more batched products per softmax. A product is batched if its operator says so, or
else if its grid has a third dimension and its name does not show split-K. Softmax of a loss,
router or sampler does not count. The order of launches is not examined; the pattern is inferred
from the counts. Savings: at most the time of softmax and masks, at least nothing. What the
products and dropout of the scores would save comes on top and is not counted.

## Remedy
Use `scaled_dot_product_attention`, FlashAttention or cuDNN attention, with a layout and head
dimension that they support, and a mask they know (causal, lengths) instead of a matrix.

## False positives
Models with batched products and a softmax elsewhere, such as mixtures of experts. For short
sequences the scores fit in L2, and fusing saves little but launches.

## Sources
T. Dao et al., *FlashAttention*, NeurIPS 2022; PyTorch documentation, `scaled_dot_product_attention`.
",
    thresholds: &[SHARE, PRODUCTS],
    silences: &[],
    check: Check::Run(check),
};

const SHARE: Threshold =
    Threshold::new("share", 0.02, "1", "smaller savings are not worth a change");

const PRODUCTS: Threshold = Threshold::new(
    "products",
    2.0,
    "1",
    "queries × keys before and scores × values after; the backward pass has four",
);

/// A softmax that is no attention: of a loss, a router of experts, a sampler.
const OTHERS: &[&str] = &["log_soft", "logsoft", "cross_entropy", "topk", "gating", "moe", "sampl"];

fn is_softmax(kernel: &Kernel) -> bool {
    let name = kernel.full_name.to_lowercase();
    let operator = operator(kernel).to_lowercase();
    let is_other = |word: &&str| name.contains(*word) || operator.contains(*word);
    kernel.class.kind == Some(Kind::Softmax) && !OTHERS.iter().any(is_other)
}

fn is_mask(kernel: &Kernel) -> bool {
    kernel.full_name.contains("masked_fill") || operator(kernel).starts_with("masked_fill")
}

/// The framework's operator without its parameters; empty where the export has none.
fn operator(kernel: &Kernel) -> &str {
    kernel.operator.as_deref().and_then(|known| known.split_whitespace().next()).unwrap_or_default()
}

/// Whether a kernel multiplies many matrices at once; none if neither operator nor grid tell.
fn is_batched(kernel: &Kernel) -> Option<bool> {
    if kernel.class.kind != Some(Kind::Gemm) {
        return Some(false);
    }
    let grid = kernel.shape.grid.map(|grid| grid.z > 1 && !kernel.class.split_k);
    match operator(kernel) {
        "bmm" | "baddbmm" | "bmm_" | "baddbmm_" => Some(true),
        // Products of two matrices go by these names too.
        "" | "matmul" | "__matmul__" | "einsum" => grid,
        operator if operator.contains("attention") => grid,
        _ => Some(false),
    }
}

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let softmax = Together::of(run, is_softmax)?;
    let scores = Together::of(run, |kernel| is_softmax(kernel) || is_mask(kernel))?;
    if softmax.launches == 0 || scores.share < run.threshold(&SHARE) {
        return Ok(Vec::new());
    }
    let products = Together::of(run, |kernel| is_batched(kernel) == Some(true))?;
    let needed = softmax.launches as f64 * run.threshold(&PRODUCTS);
    if (products.launches as f64) < needed {
        let unknown = Together::of(run, |kernel| is_batched(kernel).is_none())?;
        let may_be = (products.launches + unknown.launches) as f64 >= needed;
        return if may_be { Err(Missing("launch__grid_dim_z")) } else { Ok(Vec::new()) };
    }
    let masks = if scores.launches > softmax.launches { " and masks" } else { "" };
    let message = format!(
        "unfused attention, softmax{masks} between {} batched products: {}",
        products.launches,
        scores.words()
    );
    let mut finding = scores
        .finding(run, message)
        .confidence(Confidence::Low)
        .at_stake(scores.time, "removed")
        .evidence("launches of softmax", softmax.launches as f64, "1")
        .evidence("launches of batched products", products.launches as f64, "1")
        .evidence("time of batched products", products.time.get(), "s")
        .next("use fused attention (scaled_dot_product_attention, FlashAttention) on one layer");
    // The fused kernel computes the softmax all the same.
    finding.at_stake_low_s = 0.0;
    Ok(vec![finding])
}

#[cfg(test)]
mod tests {
    use crate::model::{Dim3, Shape};
    use crate::rules::engine::bench_launches::{Bench, h100};
    use crate::rules::{Confidence, Severity};

    const RULE: &str = "materialized-attention";
    const SOFTMAX: &str = "void softmax_warp_forward<__half, __half, float, 9, false, false>(int)";

    fn model(softmax: &str, products: u32, batch: u32) -> Bench {
        let bench = h100().launch(softmax, (6144, 128), (12, 50.0), &[]).launch(
            "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x3_nn",
            (1000, 256),
            (48, 100.0),
            &[],
        );
        let name = "ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x5_tn";
        bench.shaped(name, grid(batch), (products, 25.0), &[])
    }

    fn grid(batch: u32) -> Shape {
        let block = Dim3 { x: 128, y: 1, z: 1 };
        Shape::new(Some(Dim3 { x: 64, y: 8, z: batch }), Some(block))
    }

    #[test]
    fn fires_on_softmax_between_batched_products() {
        // 12 × 50 µs of 0.6 + 4.8 + 0.6 ms.
        let found = model(SOFTMAX, 24, 16).found(RULE);
        assert_eq!(
            found.message,
            "unfused attention, softmax between 24 batched products: 12 launches, 600 µs, 10.0% of the run"
        );
        assert!((found.at_stake_s - 0.6e-3).abs() < 1e-9 && found.at_stake_low_s == 0.0);
        assert_eq!((found.severity, found.confidence), (Severity::High, Confidence::Low));
    }

    #[test]
    fn stays_quiet_without_enough_batched_products() {
        assert!(model(SOFTMAX, 23, 16).is_content(RULE));
        assert!(model(SOFTMAX, 24, 1).is_content(RULE));
    }

    #[test]
    fn stays_quiet_on_the_softmax_of_a_loss_and_on_a_small_one() {
        let loss = "void cunn_SoftMaxForward<4, float, float, float, \
                    LogSoftMaxForwardEpilogue>(float*, int)";
        assert!(model(loss, 24, 16).is_content(RULE));
        let long = model(SOFTMAX, 24, 16).launch("k", (1000, 256), (1, 60_000.0), &[]);
        assert!(long.is_content(RULE));
    }

    #[test]
    fn cannot_judge_products_without_a_grid() {
        let shapeless = Shape::default();
        let bench = model(SOFTMAX, 1, 16).shaped("sgemm_128x128", shapeless, (24, 20.0), &[]);
        assert_eq!(bench.lacks(RULE), ["launch__grid_dim_z"]);
    }
}
