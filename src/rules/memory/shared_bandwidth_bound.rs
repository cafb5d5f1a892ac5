//! Flags kernels that the bandwidth of shared memory limits though its banks do not collide.

use crate::model::Quantity;
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Stake, Subject, Threshold, Unit};
use crate::units::{Seconds, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "shared-bandwidth-bound",
    summary: "shared memory is near its peak without bank conflicts",
    documentation: "\
## What it finds
Kernels whose shared-memory accesses fill nearly every cycle although few of them conflict.

## Why it costs time
Shared memory serves one wavefront of at most 128 bytes per cycle per SM: 32 banks of 4 bytes. A
multiply-add with both operands from there needs 8 bytes per thread, twice what a wavefront gives
a warp, so arithmetic waits however good the access pattern is.

## Detection
Shared-memory wavefronts are at least `busy` of one per cycle per SM, and bank conflicts are less
than `conflicts` of them: by the count that Nsight Compute derives from the code, else by the
worse of loads and stores. Savings: at most half of the wavefronts, as if each fetched value were
used twice; at least nothing.

## Remedy
Keep a larger tile of operands in registers so that each fetched value is used more often;
exchange values by warp shuffles; use `ldmatrix`; 16-byte loads, which need fewer instructions;
feed tensor cores from shared memory directly (compute capability 9.0 and later).

## False positives
Operands that tensor cores or bulk copies fetch themselves (`wgmma`, TMA) are not in this counter,
so such kernels are busier than it says. An algorithm that exchanges data between threads
(transpose, sort, FFT) needs every access.

## Sources
*Nsight Compute Profiling Guide*, \"L1/TEX Cache\" and \"Memory Tables\"; *CUDA C++ Programming Guide*,
\"Shared Memory\"; `SpeedOfLight.py` (80%) and `SharedMemoryConflicts.py` (10%) of Nsight Compute; V.
Volkov, *Better performance at lower occupancy*, GTC 2010.
",
    thresholds: &[BUSY, CONFLICTS],
    silences: &["l1-bandwidth-bound", "warp-stalls", "low-issue-utilization"],
    check: Check::Kernel(check),
};

const BUSY: Threshold =
    Threshold::new("busy", 0.80, "1", "Nsight Compute's own rule reports a bottleneck from here");

const CONFLICTS: Threshold = Threshold::new(
    "conflicts",
    0.10,
    "1",
    "from here the bank-conflict rules fire, as Nsight Compute's does",
);

fn check(subject: &Subject<'_>) -> Judgment {
    let metric = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum.pct_of_peak_sustained_elapsed";
    let limit = subject.threshold(&BUSY);
    // Shared memory is a part of L1: while L1 has room, so has it.
    if subject.utilization(Unit::L1).is_ok_and(|busy| busy < limit) {
        return Ok(None);
    }
    let busy = subject.need(Quantity::SharedThroughput, metric)?;
    if busy < limit {
        return Ok(None);
    }
    let sides = [Quantity::SharedLoadConflicts, Quantity::SharedStoreConflicts];
    let counted = sides.into_iter().filter_map(|side| subject.get(side)).reduce(f64::max);
    let needed = subject.get(Quantity::SharedEfficiency).map(|needed| 1.0 - needed);
    let conflicts = needed
        .or(counted)
        .ok_or(Missing("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"))?;
    if conflicts >= subject.threshold(&CONFLICTS) {
        return Ok(None);
    }
    let l1 = subject.utilization(Unit::L1).ok();
    let stake = subject.next_bottleneck(Unit::L1, 0.5);
    let stake = stake.unwrap_or_else(|_| subject.share(busy * 0.5, "less-work"));
    let stake = Stake { low: Seconds::ZERO, ..stake };
    let message = format!(
        "shared memory runs at {} of its peak wavefront rate, with only {} of them from \
         bank conflicts",
        whole_percent(busy),
        whole_percent(conflicts)
    );
    let finding = subject
        .finding(message, stake)
        .confidence(Confidence::Low)
        .evidence("shared-memory wavefronts, of the peak", busy, "1")
        .evidence("bank-conflict share of the wavefronts", conflicts, "1")
        .evidence_if("L1 and shared-memory utilization", l1, "1")
        .evidence_if("L2 busy", subject.utilization(Unit::L2).ok(), "1")
        .evidence_if("stalled on shared memory", subject.get(Quantity::StallShortScoreboard), "1")
        .evidence_if("stalled on its queue", subject.get(Quantity::StallMioThrottle), "1");
    Ok(Some(finding.next(subject.rewrite(
        "double the tile that each thread keeps in registers, then compare the wavefronts",
    ))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_figures::judge;

    const FULL: [(Quantity, f64); 4] = [
        (Quantity::SharedThroughput, 0.9),
        (Quantity::L1Throughput, 0.92),
        (Quantity::L2Throughput, 0.23),
        (Quantity::SharedLoadConflicts, 0.02),
    ];

    #[test]
    fn a_full_shared_memory_without_conflicts_is_found() {
        let finding = judge(&RULE, &FULL).unwrap().unwrap();
        // Half of 92% leaves 46%, above L2: half of 1 ms.
        assert!((finding.at_stake_s - 0.5e-3).abs() < 1e-9, "{}", finding.at_stake_s);
        assert_eq!((finding.estimator, finding.at_stake_low_s), ("next-bottleneck", 0.0));
        assert_eq!(finding.confidence, Confidence::Low);
        // L2 at 69% binds next: a quarter of the time.
        let mut figures = FULL;
        figures[2].1 = 0.69;
        let finding = judge(&RULE, &figures).unwrap().unwrap();
        assert!((finding.at_stake_s - 0.25e-3).abs() < 1e-9, "{}", finding.at_stake_s);
    }

    #[test]
    fn room_and_conflicts_are_left_alone() {
        for (at, value) in [(0, 0.7), (3, 0.5)] {
            let mut figures = FULL;
            figures[at].1 = value;
            assert!(judge(&RULE, &figures).unwrap().is_none(), "{:?}", figures[at]);
        }
        // L1 with room settles it without the counters of shared memory.
        assert!(judge(&RULE, &[(Quantity::L1Throughput, 0.6)]).unwrap().is_none());
        // What the code needs overrules the counter, which includes waiting for other traffic.
        let mut figures = FULL.to_vec();
        figures[3].1 = 0.5;
        figures.push((Quantity::SharedEfficiency, 0.98));
        assert!(judge(&RULE, &figures).unwrap().is_some());
    }

    #[test]
    fn without_wavefronts_or_conflicts_it_cannot_judge() {
        let Missing(metric) = judge(&RULE, &FULL[1..]).unwrap_err();
        assert!(metric.contains("wavefronts_mem_shared"), "{metric}");
        let Missing(metric) = judge(&RULE, &FULL[..3]).unwrap_err();
        assert!(metric.contains("bank_conflicts"), "{metric}");
    }
}
