//! Flags kernels whose loads of shared memory collide in its banks.

use super::caches::{SharedAccess, bank_conflicts};
use crate::model::Quantity;
use crate::rules::{Check, Judgment, Rule, Subject, Threshold};

pub(super) const RULE: Rule = Rule {
    id: "shared-load-bank-conflicts",
    summary: "shared-memory loads have bank conflicts",
    documentation: "\
## What it finds
Kernels whose shared-memory loads take more wavefronts than they would without bank conflicts.

## Why it costs time
Shared memory has 32 banks of 4 bytes. If threads of a warp read different words of one bank, the
load takes as many passes (wavefronts) as the fullest bank has words.

## Detection
Conflicts are at least `conflicts` of the wavefronts of shared-memory loads, and half as much of those
of all accesses to shared memory. Where Nsight Compute reports the wavefronts the code needs at least,
only those beyond count. What is at stake follows the conflicts' part of all wavefronts.

## Remedy
Pad rows by one word; XOR-swizzle the column with the row; use `ldmatrix` for matrix operands;
have the threads of a warp read along a row.

## False positives
64- and 128-bit accesses need two and four wavefronts by nature. Since compute capability 8.6 the
counter includes waiting for other L1 traffic; the figure from the code does not, and covers loads
together with the other accesses.

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
    conflicts: Quantity::SharedLoadConflicts,
    metric: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    share: Quantity::SharedLoadShare,
    word: "loads",
};

fn check(subject: &Subject<'_>) -> Judgment {
    let finding = bank_conflicts(subject, &ACCESS, &CONFLICTS)?;
    let next = "pad each row of the tile by one word, then compare the wavefronts";
    Ok(finding.map(|finding| finding.next(subject.rewrite(next))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Confidence;
    use crate::rules::engine::bench_figures::judge;

    const COLLIDING: [(Quantity, f64); 2] =
        [(Quantity::L1Throughput, 0.8), (Quantity::SharedLoadConflicts, 0.75)];

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
        let figures = [busy, (Quantity::SharedLoadConflicts, 0.02)];
        assert!(judge(&RULE, &figures).unwrap().is_none());
    }

    /// 60% of half of the wavefronts: 30% of 1 ms where L1 is the busiest unit. Of a tenth, the conflicts are 6% of all;
    /// of a twentieth 3%, which is not worth a fix.
    #[test]
    fn loads_count_by_their_part_of_the_wavefronts() {
        let judged = |part: f64| {
            let figures = [
                (Quantity::L1Throughput, 0.8),
                (Quantity::SharedLoadConflicts, 0.6),
                (Quantity::SharedLoadShare, part),
            ];
            judge(&RULE, &figures).unwrap()
        };
        let stake = |part: f64| {
            let finding = judged(part).unwrap();
            assert!(finding.message.contains("60% of the wavefronts"), "{}", finding.message);
            (finding.at_stake_low_s, finding.at_stake_s)
        };
        for (part, expected) in [(0.5, 0.3e-3), (0.1, 0.06e-3)] {
            let (low, high) = stake(part);
            assert!(
                (low - expected).abs() < 1e-9 && (high - expected).abs() < 1e-9,
                "{low} {high}"
            );
        }
        assert!(judged(0.05).is_none());
    }

    #[test]
    fn without_the_counter_it_cannot_judge() {
        assert!(judge(&RULE, &COLLIDING[..1]).is_err());
    }
}
