//! Flags kernels that read more from device memory than the misses of L2 asked for.

use super::caches::spared;
use crate::model::Quantity;
use crate::roofline::BUSY;
use crate::rules::{Check, Confidence, Judgment, Rule, Subject, Threshold, Unit};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "partial-dram-bursts",
    summary: "device memory delivers more bytes than L2 requested",
    documentation: "\
## What it finds
Kernels for which DRAM delivers clearly more bytes than the sectors that missed L2.

## Why it costs time
DRAM delivers at least 64 bytes at a time. An access that needs one 32-byte sector still moves
two, so scattered accesses can waste up to half of the bandwidth.

## Detection
(Bytes read − 32 × sectors of reads that missed L2) ÷ bytes moved is at least `excess`, and DRAM
is at least 60% busy, so that its traffic costs time.

## Remedy
Access whole 64- or 128-byte lines; sort indices so that neighbors are fetched together; set the
L2 fetch granularity (`cudaLimitMaxL2FetchGranularity`) to 32 bytes for sparse access.

## False positives
Atomics and partial stores that miss L2 also read from DRAM, and so does ECC for partly written
sectors; constants and instructions are read as well. With a partitioned L2 a miss can count in
both partitions, so waste is underestimated there.

## Sources
*Nsight Compute Profiling Guide*, \"L2 Cache\" and \"Memory Tables\"; *CUDA C++ Programming Guide*,
\"Device Memory Accesses\".
",
    thresholds: &[EXCESS],
    silences: &[],
    check: Check::Kernel(check),
};

const EXCESS: Threshold = Threshold::new(
    "excess",
    0.20,
    "1",
    "for a read-only kernel, a quarter more than was requested",
);

fn check(subject: &Subject<'_>) -> Judgment {
    let metric = "lts__t_sectors_op_read_lookup_miss.sum";
    let excess = subject.need(Quantity::DramExcessReads, metric)?;
    let busy = subject.utilization(Unit::Dram)?;
    let bytes = subject.kernel.bytes.ok_or(crate::rules::Missing("dram__bytes_read.sum"))?;
    if excess < subject.threshold(&EXCESS) || busy < BUSY {
        return Ok(None);
    }
    let wasted = bytes * excess;
    let message = format!(
        "{} of the DRAM traffic was read beyond what L2 misses requested",
        whole_percent(excess)
    );
    let finding = spared(subject, message, (wasted, wasted))?
        .confidence(Confidence::Medium)
        .evidence("bytes moved", bytes.get(), "B")
        .evidence("bytes read beyond L2 misses", wasted.get(), "B")
        .evidence("DRAM utilization", busy, "1")
        .evidence_if("L2 hit rate", subject.get(Quantity::L2HitRate), "1");
    Ok(Some(
        finding.next("sort the indices or read whole 64-byte lines, then compare the bytes read"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_figures::judge;

    const HALF_WASTED: [(Quantity, f64); 2] =
        [(Quantity::DramExcessReads, 0.5), (Quantity::DramThroughput, 0.9)];

    #[test]
    fn half_used_bursts_are_found() {
        let finding = judge(&RULE, &HALF_WASTED).unwrap().unwrap();
        assert_eq!(finding.estimator, "traffic");
        assert!(finding.at_stake_s > 0.0);
    }

    #[test]
    fn whole_bursts_and_idle_memory_are_left_alone() {
        let [excess, busy] = HALF_WASTED;
        let whole = [(Quantity::DramExcessReads, 0.05), busy];
        assert!(judge(&RULE, &whole).unwrap().is_none());
        let idle = [excess, (Quantity::DramThroughput, 0.3)];
        assert!(judge(&RULE, &idle).unwrap().is_none());
    }

    #[test]
    fn without_the_misses_of_l2_it_cannot_judge() {
        assert!(judge(&RULE, &HALF_WASTED[1..]).is_err());
    }
}
