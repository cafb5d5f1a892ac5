//! Flags kernels whose data L2 should serve again and again, but fetches anew.

use super::caches::spared;
use crate::model::{MemoryLevel, Quantity};
use crate::roofline::{self, BUSY};
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Subject, Threshold, Unit};
use crate::taxonomy::Kind;
use crate::units::{Bytes, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "l2-thrashing",
    summary: "data is evicted from L2 before it is reused",
    documentation: "\
## What it finds
Kernels that request the same data several times, such as matrix products and convolutions, whose
blocks share operands, yet fetch most of it from device memory.

## Why it costs time
Each block of a row uses the same operand rows, each block of a column the same operand columns.
If the first use is evicted from L2 before the next one, DRAM delivers the same bytes again,
several times slower.

## Detection
A low hit rate alone proves nothing, because data read once always misses; the reuse must be
known. With a closed form, the bytes requested from L2 are at least `asked` times what the form
needs. Otherwise products and convolutions are judged by kind, on a grid of at least `blocks`
blocks along each of its first two dimensions: each operand is requested that often at least, and
only one miss in so many is needed. The L2 hit rate is below `hit`, and DRAM is at least 60% busy.
Savings: at most the bytes beyond those needed, at least those beyond half of what is requested.

## Remedy
Have blocks that run together work on neighboring tiles (swizzled or grouped block order, as in
Triton and CUTLASS); use larger tiles; finish all passes over one part of the data before the
next; keep the smaller operand in L2 with an access policy window; load streams with evict-first.

## False positives
The second grid dimension may count matrices of a batch, which share nothing. In a partitioned L2
(A100, H100 and similar), each partition misses for data of the other, which lowers the hit rate
without DRAM traffic. An operand larger than L2 cannot stay resident in any order.

## Sources
*Triton* tutorial, \"Matrix Multiplication\" (\"L2 Cache Optimizations\"); CUTLASS documentation,
\"Efficient GEMM in CUDA\" (threadblock rasterization); *CUDA C++ Programming Guide*, \"Device Memory L2
Access Management\"; *Nsight Compute Profiling Guide*, \"Memory Tables\".
",
    thresholds: &[ASKED, BLOCKS, HIT],
    // Reuse that L2 loses is why more is moved than needed, and why device memory is saturated.
    silences: &["redundant-dram-traffic", "dram-saturated", "memory-bound-matmul"],
    check: Check::Kernel(check),
};

const ASKED: Threshold = Threshold::new(
    "asked",
    1.5,
    "1",
    "partly used sectors and other L2 clients explain a fifth more, hardly half",
);

const BLOCKS: Threshold = Threshold::new(
    "blocks",
    4.0,
    "1",
    "three of four accesses could hit then, well above the limit of this rule",
);

const HIT: Threshold = Threshold::new(
    "hit",
    0.50,
    "1",
    "data read once and written once reaches this without any reuse",
);

/// Kinds whose first two grid dimensions are tiles of the result.
const KINDS: [Kind; 4] = [Kind::Gemm, Kind::ConvFprop, Kind::ConvDgrad, Kind::ConvWgrad];

/// How the reuse is known, and how much there is.
enum Reuse {
    /// Bytes asked of L2 over those that the closed form needs, and these.
    Form { times: f64, needed: Bytes },
    /// Blocks that share an operand, at least.
    Grid { blocks: f64 },
}

/// The reuse that L2 could serve; none where little or nothing is asked for again.
fn reuse(subject: &Subject<'_>) -> Result<Option<Reuse>, Missing> {
    let kernel = subject.kernel;
    if let Some(form) = kernel.algorithmic()
        && let Some(asked) = kernel.level(MemoryLevel::L2)
        && let Some((moved, factor)) = kernel.bytes.zip(form.traffic_factor)
    {
        let times = asked.bytes / (form.bytes * asked.launches as f64);
        let needed = moved / factor;
        let is_much = times >= subject.threshold(&ASKED);
        return Ok(is_much.then_some(Reuse::Form { times, needed }));
    }
    if subject.class().kind.is_none_or(|kind| !KINDS.contains(&kind)) {
        return Ok(None);
    }
    let grid = kernel.shape.grid.ok_or(Missing("launch__grid_dim_x"))?;
    let blocks = f64::from(grid.x.min(grid.y));
    Ok((blocks >= subject.threshold(&BLOCKS)).then_some(Reuse::Grid { blocks }))
}

fn check(subject: &Subject<'_>) -> Judgment {
    let Some(reuse) = reuse(subject)? else { return Ok(None) };
    let hit = subject.need(Quantity::L2HitRate, "lts__t_sector_hit_rate.pct")?;
    let busy = subject.utilization(Unit::Dram)?;
    if hit >= subject.threshold(&HIT) || busy < BUSY {
        return Ok(None);
    }
    let bytes = subject.kernel.bytes.ok_or(Missing("dram__bytes_read.sum"))?;
    let misses = format!("but {} of the accesses miss L2", whole_percent(1.0 - hit));
    let (message, spare) = match reuse {
        Reuse::Form { times, needed } => {
            let beyond = |needed: Bytes| {
                bytes * roofline::excess_fraction(bytes.get(), needed.get()).max(0.0)
            };
            let half = needed * (times * 0.5).max(1.0);
            let message = format!("each byte is requested {times:.1} times, {misses}");
            (message, (beyond(half), beyond(needed)))
        }
        Reuse::Grid { blocks } => {
            let metric = "dram__bytes_read.sum and …write.sum";
            let read = bytes * subject.need(Quantity::DramReadShare, metric)?;
            // What needs to miss, over what does: that part of the reads stays.
            let beyond = |needed: f64| read * roofline::excess_fraction(1.0 - hit, needed).max(0.0);
            let message = format!("at least {blocks:.0} blocks share each operand, {misses}");
            (message, (beyond(0.5), beyond(1.0 / blocks)))
        }
    };
    let (times, blocks, confidence) = match reuse {
        Reuse::Form { times, .. } => (Some(times), None, Confidence::Medium),
        Reuse::Grid { blocks } => (None, Some(blocks), Confidence::Low),
    };
    let size = subject.device().ok().and_then(|device| device.l2_bytes);
    let size = size.or(subject.ran().hint.l2_bytes);
    let finding = spared(subject, message, spare)?
        .confidence(confidence)
        .evidence("L2 hit rate", hit, "1")
        .evidence_if("bytes requested from L2 over those needed", times, "1")
        .evidence_if("blocks that share an operand, at least", blocks, "1")
        .evidence("bytes moved", bytes.get(), "B")
        .evidence("bytes moved beyond those needed, at most", spare.1.get(), "B")
        .evidence("DRAM utilization", busy, "1")
        .evidence_if("size of L2", size.map(|bytes| bytes as f64), "B");
    Ok(Some(finding.next(subject.rewrite(
        "order blocks so that those sharing data run together, then compare the hit rate",
    ))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Finding;
    use crate::rules::engine::bench_launches::{Bench, h100};
    use crate::rules::engine::bench_table::kernel;

    const ID: &str = "l2-thrashing";

    /// A GB in a ms, nine tenths of it read, by a product that asks for it four times.
    const MISSING: [(Quantity, f64); 4] = [
        (Quantity::DramBytes, 1e9),
        (Quantity::DramReadShare, 0.9),
        (Quantity::L2HitRate, 0.2),
        (Quantity::DramThroughput, 0.7),
    ];

    fn product(grid: (u32, u32), figures: &[(Quantity, f64)]) -> Bench {
        h100().plane("ampere_sgemm_128x64_nn", grid, 1000.0, figures)
    }

    fn found(grid: (u32, u32)) -> Finding {
        product(grid, &MISSING).found(ID)
    }

    #[test]
    fn lost_reuse_of_a_product_is_found() {
        let finding = found((4, 64));
        let rate = 0.9 * 3.352e12;
        // Of 900 MB read, 0.8 asked for missed; 0.25 need, so 0.55 of 0.8 can go; to a half, 0.3 of 0.8.
        assert!((finding.at_stake_s - 9e8 * 0.55 / 0.8 / rate).abs() < 1e-7);
        assert!((finding.at_stake_low_s - 9e8 * 0.3 / 0.8 / rate).abs() < 1e-7);
        assert_eq!((finding.estimator, finding.confidence), ("traffic", Confidence::Low));
        assert!(finding.message.starts_with("at least 4 blocks share"), "{}", finding.message);
        // More blocks that share leave less that need be read.
        assert!(found((32, 64)).at_stake_s > finding.at_stake_s);
    }

    #[test]
    fn hits_an_idle_memory_and_few_blocks_are_left_alone() {
        for (at, value) in [(2, 0.6), (3, 0.4)] {
            let mut figures = MISSING;
            figures[at].1 = value;
            assert!(product((4, 64), &figures).is_content(ID), "{:?}", figures[at]);
        }
        assert!(product((3, 64), &MISSING).is_content(ID));
        assert!(product((256, 1), &MISSING).is_content(ID));
    }

    #[test]
    fn lost_reuse_by_a_closed_form_is_found() {
        // A copy of 50 million floats needs 0.4 GB; asked for 1.2 GB, and 1 GB moved.
        let copy = |asked: f64, hit: f64| {
            kernel("passes", 1000.0)
                .operator("copy n=50000000 dtype=fp32")
                .bytes(1e9)
                .set(Quantity::L2Bytes, asked)
                .set(Quantity::L2HitRate, hit)
                .set(Quantity::DramThroughput, 0.7)
        };
        let finding = copy(1.2e9, 0.3).found(&RULE);
        let rate = 0.9 * 3.352e12;
        assert!(finding.message.starts_with("each byte is requested 3.0 times"));
        // 0.4 GB need be moved; half of what is asked is 0.6 GB.
        assert!((finding.at_stake_s - 6e8 / rate).abs() < 1e-7, "{}", finding.at_stake_s);
        assert!((finding.at_stake_low_s - 4e8 / rate).abs() < 1e-7);
        assert_eq!(finding.confidence, Confidence::Medium);
        assert!(copy(0.5e9, 0.3).is_fine(&RULE));
        assert!(copy(1.2e9, 0.6).is_fine(&RULE));
    }

    #[test]
    fn kernels_that_read_once_miss_by_nature() {
        let stream = h100().plane("addConstDouble", (64, 64), 1000.0, &MISSING);
        assert!(stream.is_content(ID));
    }

    #[test]
    fn it_says_which_figure_it_lacks() {
        for (at, metric) in [
            (1, "dram__bytes_read.sum and …write.sum"),
            (2, "lts__t_sector_hit_rate.pct"),
            (3, Unit::Dram.metric()),
        ] {
            let mut figures = MISSING.to_vec();
            figures.remove(at);
            assert_eq!(product((4, 64), &figures).lacks(ID), [metric]);
        }
    }
}
