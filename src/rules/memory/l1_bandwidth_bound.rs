//! Flags kernels that L1 and shared memory limit.

use super::caches::access;
use crate::model::Quantity;
use crate::rules::{Check, Confidence, Judgment, Rule, Subject, Threshold, Unit};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "l1-bandwidth-bound",
    summary: "L1 and shared-memory bandwidth limit the kernel",
    documentation: "\
## What it finds
Kernels for which L1, which also holds shared memory, is the busiest unit and near its peak.

## Why it costs time
L1 delivers at most 128 bytes per cycle per SM. Fetching operands from L1 or shared memory for
every operation exhausts L1 before the arithmetic.

## Detection
L1 is at least `busy` of its peak. Savings assume half of the traffic, as if each fetched value
were used twice.

## Remedy
Keep a tile of operands in registers; use wider loads, `ldmatrix` for matrix operands, broadcast
reads, warp shuffles; feed tensor cores from shared memory directly (compute capability 9.0 and
later). Elementwise kernels, copies and transposes have no operand to reuse; there the access
pattern is the likely cause.

## False positives
Bank conflicts, uncoalesced accesses and spills fill L1 as well and have their own findings, which
come first. The utilization is per active cycle, so it overstates L1 where SMs idle.

## Sources
*Nsight Compute Profiling Guide*, \"L1/TEX Cache\" and \"Memory Chart\"; `SpeedOfLight.py` of Nsight
Compute (80%); V. Volkov, *Better performance at lower occupancy*, GTC 2010.
",
    thresholds: &[BUSY],
    silences: &[],
    check: Check::Kernel(check),
};

const BUSY: Threshold =
    Threshold::new("busy", 0.80, "1", "Nsight Compute's own rule reports a bottleneck from here");

fn check(subject: &Subject<'_>) -> Judgment {
    let l1 = subject.utilization(Unit::L1)?;
    if l1 < subject.threshold(&BUSY) {
        return Ok(None);
    }
    let stake = subject.next_bottleneck(Unit::L1, 0.5)?;
    let message =
        format!("L1 and shared memory reach {} of their peak throughput", whole_percent(l1));
    let finding = subject
        .finding(message, stake)
        .confidence(Confidence::Low)
        .evidence("L1 busy", l1, "1")
        .evidence_if("L2 busy", subject.utilization(Unit::L2).ok(), "1")
        .evidence_if("DRAM utilization", subject.utilization(Unit::Dram).ok(), "1")
        .evidence_if("L1 hit rate", subject.get(Quantity::L1HitRate), "1")
        .evidence_if("stalled on shared memory", subject.get(Quantity::StallShortScoreboard), "1");
    let next = access(subject).map_or_else(
        || {
            let tile =
                "keep a tile of operands in registers so that each fetched value is used twice";
            subject.rewrite(tile)
        },
        str::to_owned,
    );
    Ok(Some(finding.next(next)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_figures::judge;

    #[test]
    fn a_busy_l1_is_found() {
        let figures = [(Quantity::L1Throughput, 0.9), (Quantity::L2Throughput, 0.3)];
        let finding = judge(&RULE, &figures).unwrap().unwrap();
        assert_eq!(finding.confidence, Confidence::Low);
        assert!((finding.at_stake_s - 0.5e-3).abs() < 1e-9, "{}", finding.at_stake_s);
    }

    #[test]
    fn a_moderate_l1_is_left_alone() {
        assert!(judge(&RULE, &[(Quantity::L1Throughput, 0.7)]).unwrap().is_none());
    }

    #[test]
    fn without_utilization_it_cannot_judge() {
        assert!(judge(&RULE, &[]).is_err());
    }
}
