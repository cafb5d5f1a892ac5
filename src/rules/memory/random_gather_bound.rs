//! Flags look-ups at scattered indices for which device memory delivers much that nobody asked for.

use super::caches::spared;
use crate::model::Quantity;
use crate::roofline;
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Subject, Threshold, Unit};
use crate::taxonomy::Kind;
use crate::units::{Bytes, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "random-gather-bound",
    summary: "lookups at scattered indices waste DRAM bandwidth",
    documentation: "\
## What it finds
Embeddings, gathers and scatters that keep DRAM busy, much of it with bytes that no access asked
for.

## Why it costs time
DRAM delivers at least 64 bytes at a time. Narrow or scattered rows use part of each burst, and
the rest is evicted before a neighbor asks for it. Each row also waits for its own index.

## Detection
The name shows an embedding, gather or scatter; DRAM is at least `busy`; and (bytes read −
32 × sectors of reads that missed L2) ÷ bytes moved is at least `excess`. Savings: at most those bytes.
Below 60% busy, DRAM is not certain to be the limit, and the lower end is nothing.

## Remedy
Sort the indices, or look up each distinct one once; keep the hottest rows in a table that fits in
L2; make rows a multiple of 64 bytes, or pack two narrow tables into one; set the L2 fetch
granularity (`cudaLimitMaxL2FetchGranularity`) to 32 bytes.

## False positives
Indices that change at every step leave nothing to sort for. A scatter of partial sectors reads
them first; that excess comes from the writes. With a partitioned L2 a miss can count in both
partitions, so waste is underestimated there.

## Sources
*CUDA C++ Best Practices Guide*, \"Coalesced Access to Global Memory\"; *CUDA C++ Programming Guide*,
\"Device Memory Accesses\"; *Nsight Compute Profiling Guide*, \"L2 Cache\".
",
    thresholds: &[BUSY, EXCESS],
    // A gather is read beyond its need by nature: the rule that knows so speaks.
    silences: &["partial-dram-bursts", "memory-latency-bound"],
    check: Check::Kernel(check),
};

const BUSY: Threshold =
    Threshold::new("busy", 0.40, "1", "scattered bursts saturate DRAM well below its peak");

const EXCESS: Threshold = Threshold::new(
    "excess",
    0.20,
    "1",
    "as for partial-dram-bursts: a quarter more than was requested, for reads only",
);

const KINDS: [Kind; 3] = [Kind::Embedding, Kind::Gather, Kind::Scatter];

fn check(subject: &Subject<'_>) -> Judgment {
    let Some(kind) = subject.class().kind.filter(|kind| KINDS.contains(kind)) else {
        return Ok(None);
    };
    let busy = subject.utilization(Unit::Dram)?;
    if busy < subject.threshold(&BUSY) {
        return Ok(None);
    }
    let metric = "lts__t_sectors_op_read_lookup_miss.sum";
    let excess = subject.need(Quantity::DramExcessReads, metric)?;
    if excess < subject.threshold(&EXCESS) {
        return Ok(None);
    }
    let bytes = subject.kernel.bytes.ok_or(Missing("dram__bytes_read.sum"))?;
    let wasted = bytes * excess;
    let least = if busy < roofline::BUSY { Bytes::ZERO } else { wasted };
    let message = format!(
        "the {} wastes {} of its bytes on partly used bursts, with DRAM {} busy",
        kind.key(),
        whole_percent(excess),
        whole_percent(busy)
    );
    let finding = spared(subject, message, (least, wasted))?
        .confidence(Confidence::Medium)
        .evidence("bytes moved", bytes.get(), "B")
        .evidence("bytes read beyond L2 misses", wasted.get(), "B")
        .evidence("DRAM utilization", busy, "1")
        .evidence_if("L2 hit rate", subject.get(Quantity::L2HitRate), "1")
        .evidence_if("bytes used per sector", subject.get(Quantity::LoadSectorEfficiency), "1")
        .evidence_if(
            "stalled on global, local or texture data",
            subject.get(Quantity::StallLongScoreboard),
            "1",
        );
    Ok(Some(finding.next("sort the indices of one batch, then compare the bytes read")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_table::{Bench, kernel};

    fn embedding() -> Bench {
        // 1 GB in 1 ms; at 3.352 TB/s of an H100 it needs 298 µs.
        kernel("indexSelectLargeIndex<float>", 1000.0)
            .bytes(1e9)
            .set(Quantity::DramThroughput, 0.65)
            .set(Quantity::DramExcessReads, 0.4)
    }

    #[test]
    fn half_used_bursts_of_a_gather_are_found() {
        let found = embedding().found(&RULE);
        // 400 MB at 0.9 × 3.352 TB/s.
        let wasted = 4e8 / (0.9 * 3.352e12);
        assert!((found.at_stake_s - wasted).abs() < 1e-7, "{}", found.at_stake_s);
        assert_eq!((found.estimator, found.at_stake_low_s), ("traffic", found.at_stake_s));
    }

    #[test]
    fn below_three_fifths_busy_the_cautious_end_is_nothing() {
        let found = kernel("embedding_kernel", 1000.0)
            .bytes(1e9)
            .set(Quantity::DramThroughput, 0.5)
            .set(Quantity::DramExcessReads, 0.4)
            .found(&RULE);
        assert_eq!(found.at_stake_low_s, 0.0);
        assert!(found.at_stake_s > 130e-6);
    }

    #[test]
    fn whole_bursts_an_idle_memory_and_other_kernels_are_left_alone() {
        let of = |name, busy, excess| {
            kernel(name, 1000.0)
                .bytes(1e9)
                .set(Quantity::DramThroughput, busy)
                .set(Quantity::DramExcessReads, excess)
        };
        assert!(of("embedding_kernel", 0.65, 0.1).is_fine(&RULE));
        assert!(of("embedding_kernel", 0.3, 0.4).is_fine(&RULE));
        assert!(of("reduce_kernel", 0.65, 0.4).is_fine(&RULE));
    }

    #[test]
    fn without_utilization_or_misses_it_cannot_judge() {
        let bare = || kernel("embedding_kernel", 1000.0).bytes(1e9);
        assert_eq!(bare().lacks(&RULE), Unit::Dram.metric());
        let busy = bare().set(Quantity::DramThroughput, 0.65);
        assert_eq!(busy.lacks(&RULE), "lts__t_sectors_op_read_lookup_miss.sum");
    }
}
