//! Flags matrix products that compute much padding beside their result.

use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Stake, Subject, Threshold, Unit};
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "tile-quantization",
    summary: "a matrix product computes padding",
    documentation: "\
## What it finds
Matrix products that execute far more operations than their sizes need: the edge tiles reach
beyond the matrices.

## Why it costs time
A block computes a whole tile even where only part of it is needed. A product with one row in a
tile of 64 rows does 64 times the work and looks busy in the counters.

## Detection
The operations that the closed form needs are less than `useful` of those counted. Savings: what
the next busiest unit leaves without the padding; without utilizations, at most the padding's
share of the math time.

## Remedy
Use a smaller tile, or swap operands so that the short side lies along the tile's short side; a
batch that fills the tile; a matrix-vector kernel for one or a few rows.

## False positives
The kernel recomputes on purpose (checkpointing), or its closed form leaves out part of its work,
such as a fused activation.

## Sources
NVIDIA, *Matrix Multiplication Background*, \"Tile Quantization\".
",
    thresholds: &[USEFUL],
    silences: &[],
    check: Check::Kernel(check),
};

const USEFUL: Threshold = Threshold::new(
    "useful",
    0.85,
    "1",
    "sizes that are not multiples of the tile often lose a tenth",
);

fn check(subject: &Subject<'_>) -> Judgment {
    let Some(needed) = subject.product_form()? else { return Ok(None) };
    let Some(product) = needed.product else { return Ok(None) };
    let executed = needed.work_factor.ok_or(Missing("FLOP counters"))?;
    let useful = 1.0 / executed;
    if useful >= subject.threshold(&USEFUL) {
        return Ok(None);
    }
    let math = subject.kernel.math_time.unwrap_or(Seconds::ZERO);
    let padding = Stake { low: Seconds::ZERO, ..Stake::of(math * (1.0 - useful), "padding") };
    let stake = subject.next_bottleneck(Unit::Sm, useful).unwrap_or(padding);
    let message = format!(
        "executes {executed:.1}× the operations that a {} × {} × {} product needs",
        product.m, product.n, product.k
    );
    let tile = subject.class().tile;
    let finding = subject
        .finding(message, stake)
        .confidence(Confidence::Medium)
        .evidence("needed share of the executed operations", useful, "1")
        .evidence_if("tile rows, from the name", tile.map(|tile| f64::from(tile.0)), "1")
        .evidence_if("tile columns, from the name", tile.map(|tile| f64::from(tile.1)), "1")
        .next("check which tiles the library has for this shape, or pad the batch and compare");
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Pipe, Quantity};
    use crate::rules::engine::bench_table::{Bench, kernel};

    /// A row times a matrix in tiles of 64 rows: 64 times the operations.
    fn row(executed: f64) -> Bench {
        let call = "gemm m=1 n=4096 k=4096 dtype=fp16";
        let name = "ampere_fp16_s16816gemm_fp16_64x64_ldg8_f2f_tn";
        let all = 2.0 * 4096.0 * 4096.0 * executed;
        kernel(name, 100.0).operator(call).work(Pipe::Fp16Matrix, all).bytes(3.4e7)
    }

    #[test]
    fn padding_is_found_and_weighed() {
        let found = row(64.0).found(&RULE);
        assert!(
            found.message.contains("64.0× the operations that a 1 × 4096 × 4096 product needs")
        );
        // 2.147 GFLOP at 989 TFLOP/s, of which 63 of 64 are padding.
        let padding = 2.0 * 4096.0 * 4096.0 * 63.0 / 989.4e12;
        assert!((found.at_stake_s / padding - 1.0).abs() < 1e-3, "{}", found.at_stake_s);
        let measured = row(64.0)
            .set(Quantity::SmThroughput, 0.8)
            .set(Quantity::DramThroughput, 0.2)
            .found(&RULE);
        assert_eq!(measured.estimator, "next-bottleneck");
        assert!((measured.at_stake_s - 75e-6).abs() < 1e-9, "{}", measured.at_stake_s);
    }

    #[test]
    fn full_tiles_and_other_kernels_are_fine() {
        assert!(row(1.1).is_fine(&RULE));
        let gelu = kernel("gelu", 100.0).operator("gelu n=1000000 dtype=fp32");
        assert!(gelu.work(Pipe::Fp32Vector, 1e9).bytes(8e6).is_fine(&RULE));
    }

    #[test]
    fn without_shape_or_counts_it_cannot_judge() {
        assert_eq!(
            kernel("ampere_sgemm_128x64_nn", 500.0).bytes(1e8).lacks(&RULE),
            "closed form of the kernel"
        );
        let bare =
            kernel("ampere_sgemm_128x64_nn", 500.0).operator("gemm m=64 n=64 k=64").bytes(1e8);
        assert_eq!(bare.lacks(&RULE), "FLOP counters");
    }
}
