//! Flags kernels whose stores of shared memory collide in its banks.

use super::caches::{SharedAccess, bank_conflicts};
use crate::model::Quantity;
use crate::rules::{Check, Judgment, Rule, Subject, Threshold};

pub(super) const RULE: Rule = Rule {
    id: "shared-store-bank-conflicts",
    summary: "shared-memory stores have bank conflicts",
    documentation: "\
## What it finds
Kernels whose shared-memory stores take more wavefronts than they would without bank conflicts.

## Why it costs time
Shared memory has 32 banks of 4 bytes. If threads of a warp write different words of one bank, the
store takes as many passes (wavefronts) as the fullest bank has words.

## Detection
Conflicts are at least `conflicts` of the wavefronts of shared-memory stores, and half as much of those
of all accesses to shared memory. Where Nsight Compute reports the wavefronts the code needs at least,
only those beyond count. What is at stake follows the conflicts' part of all wavefronts.

## Remedy
Pad rows by one word; XOR-swizzle the column with the row; transpose while reading from global
memory rather than while writing to shared memory; use `stmatrix` (compute capability 9.0 and
later).

## False positives
64- and 128-bit accesses need two and four wavefronts by nature. Since compute capability 8.6 the
counter includes waiting for other L1 traffic; the figure from the code does not, and covers
stores together with the other accesses.

## Sources
*CUDA C++ Best Practices Guide*, \"Shared Memory and Memory Banks\"; `SharedMemoryConflicts.py` of Nsight
Compute (10%); *Nsight Compute Profiling Guide*, \"Memory Tables\".
",
    thresholds: &[CONFLICTS],
    silences: &["l1-bandwidth-bound", "warp-stalls", "low-issue-utilization"],
    check: Check::Kernel(check),
};

const CONFLICTS: Threshold =
    Threshold::new("conflicts", 0.10, "1", "where Nsight Compute's own rule fires");

const ACCESS: SharedAccess = SharedAccess {
    conflicts: Quantity::SharedStoreConflicts,
    metric: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    share: Quantity::SharedStoreShare,
    word: "stores",
};

fn check(subject: &Subject<'_>) -> Judgment {
    let finding = bank_conflicts(subject, &ACCESS, &CONFLICTS)?;
    let next = "pad each row of the tile by one word or swizzle it, then compare the wavefronts";
    Ok(finding.map(|finding| finding.next(subject.rewrite(next))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Confidence;
    use crate::rules::engine::bench_figures::judge;

    const COLLIDING: [(Quantity, f64); 2] =
        [(Quantity::L1Throughput, 0.8), (Quantity::SharedStoreConflicts, 0.75)];

    #[test]
    fn four_way_conflicts_are_found() {
        let finding = judge(&RULE, &COLLIDING).unwrap().unwrap();
        let ways = finding.evidence.iter().find(|one| one.name.contains("per needed")).unwrap();
        assert!((ways.value - 4.0).abs() < 1e-9);
        assert_eq!(finding.confidence, Confidence::Medium);
    }

    #[test]
    fn what_the_code_needs_at_least_overrules_the_counter() {
        let [busy, conflicts] = COLLIDING;
        let figures = [busy, conflicts, (Quantity::SharedEfficiency, 0.98)];
        assert!(judge(&RULE, &figures).unwrap().is_none());
        let figures = [busy, (Quantity::SharedStoreConflicts, 0.02)];
        assert!(judge(&RULE, &figures).unwrap().is_none());
    }

    #[test]
    fn without_the_counter_it_cannot_judge() {
        assert!(judge(&RULE, &COLLIDING[..1]).is_err());
    }
}
