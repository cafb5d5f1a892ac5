//! Flags matrix products that compute much padding beside their result.

use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Stake, Subject, Threshold, Unit};
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "tile-quantization",
    summary: "a product computes padding beside its result",
    documentation: "\
## What it finds
Matrix products that execute far more operations than their sizes need: the edges of their tiles reach
beyond the matrices.

## Why it costs time
A block computes a whole tile, also where only a part of it is wanted: a product with one row in a tile of
64 rows does 64 times the work, and in the counters it looks busy.

## How it decides
The operations that the closed form needs are less than `useful` of those counted. What goes with the
padding is what the next busiest unit leaves; without utilizations, at most the padding's share of the
time that the math needs.

## What to try
A smaller tile, or swapped operands, so that the short side lies along the tile's short side; a batch that
fills the tile; a matrix–vector kernel for one or a few rows.

## When it is wrong
The kernel recomputes on purpose (checkpointing), or its closed form leaves out a part of what it does,
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
    "sizes that are not multiples of the tile lose a tenth now and then",
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
        "it executes {executed:.1} times the operations of a product of {} × {} × {}",
        product.m, product.n, product.k
    );
    let tile = subject.class().tile;
    let finding = subject
        .finding(message, stake)
        .confidence(Confidence::Medium)
        .evidence("operations needed, of those executed", useful, "1")
        .evidence_if("rows of a tile, by the name", tile.map(|tile| f64::from(tile.0)), "1")
        .evidence_if("columns of a tile, by the name", tile.map(|tile| f64::from(tile.1)), "1")
        .next("see which tiles the library has for this shape, or pad the batch and compare");
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
            found.message.contains("64.0 times the operations of a product of 1 × 4096 × 4096")
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
