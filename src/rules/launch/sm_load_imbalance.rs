//! Flags kernels in which some multiprocessors work much longer than others.

use super::latency;
use crate::model::Quantity;
use crate::rules::{Check, Confidence, Judgment, Rule, Subject, Threshold};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "sm-load-imbalance",
    summary: "some SMs work much longer than the others",
    documentation: "\
## What it finds
Kernels whose busiest SM was active well longer than the average one.

## Why it costs time
The launch ends with its last block. While one SM still works, the others wait.

## Detection
SM active cycles, maximum minus average, over the cycles of the launch, are `imbalance` or more.
Attention below a quarter is exempt, as masks and lengths cause some with any schedule; beyond, it
has too few queries for the device.

## Remedy
Attention with few queries: split the keys and values. Otherwise give all blocks equal work; sort
the work by size and start with the longest; split long blocks; take the work from a queue
(persistent kernels, stream-K).

## False positives
With fewer blocks than SMs the grid is the cause, which another rule covers. A partly filled last
wave looks the same; the next step says so where it explains the imbalance.

## Sources
`WorkloadImbalance.py` of Nsight Compute; *Nsight Compute Profiling Guide*, \"Workload Distribution\".
",
    thresholds: &[IMBALANCE],
    silences: &["low-achieved-occupancy", "occupancy-limited"],
    check: Check::Kernel(check),
};

const IMBALANCE: Threshold =
    Threshold::new("imbalance", 0.05, "1", "WorkloadImbalance.py of Nsight Compute");

/// From there on, attention leaves much of the device without work rather than unevenly loaded.
const UNFILLED: f64 = 0.25;

/// An imbalance of no more than this times what a partly filled last wave leaves idle is its doing.
const TAIL: f64 = 1.2;

fn check(subject: &Subject<'_>) -> Judgment {
    let imbalance = subject.need(Quantity::SmImbalance, "sm__cycles_active.max and .avg")?;
    if imbalance < subject.threshold(&IMBALANCE) {
        return Ok(None);
    }
    if let (Ok(blocks), Ok(sms)) = (subject.blocks(), subject.sms())
        && blocks < u64::from(sms)
    {
        return Ok(None);
    }
    // A last wave that is partly filled leaves as much of the device without work.
    let is_tail = subject.get(Quantity::Waves).filter(|waves| *waves > 1.0).is_some_and(|waves| {
        waves.fract() > 0.0 && imbalance <= (1.0 - waves.fract()) / waves.ceil() * TAIL
    });
    // Blocks without work leave their multiprocessors at once: the queries are too few for the device.
    let is_unfilled = subject.is_attention() && imbalance >= UNFILLED;
    // A causal mask and unequal lengths leave some imbalance to any schedule.
    if subject.is_attention() && !is_unfilled {
        return Ok(None);
    }
    let message = format!(
        "load imbalance: the average SM waits for the busiest one {} of the time",
        whole_percent(imbalance)
    );
    let finding = subject
        .finding(message, subject.share(imbalance, "imbalance"))
        .confidence(Confidence::High)
        .evidence("SM imbalance", imbalance, "1")
        .evidence_if("waves", subject.get(Quantity::Waves), "1")
        .next(subject.rewrite(if is_unfilled {
            latency::SPLIT_KV
        } else if is_tail {
            "the last wave is partly filled: use a grid of whole waves, or fewer blocks that each take several items"
        } else {
            "start the longest blocks first, or split them"
        }));
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use crate::model::Quantity;
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "sm-load-imbalance";

    #[test]
    fn fires_on_uneven_work_only() {
        let uneven = [(Quantity::SmImbalance, 0.25)];
        let found = h100().launch("k", (1000, 256), (1, 1000.0), &uneven).found(RULE);
        assert!((found.at_stake_s - 0.25e-3).abs() < 1e-9);
        assert!(h100().launch("k", (100, 256), (1, 1000.0), &uneven).is_content(RULE));
        let even = [(Quantity::SmImbalance, 0.04)];
        assert!(h100().launch("k", (1000, 256), (1, 1000.0), &even).is_content(RULE));
    }

    #[test]
    fn cannot_judge_without_cycles() {
        let lacks = h100().launch("k", (1000, 256), (1, 1000.0), &[]).lacks(RULE);
        assert_eq!(lacks, ["sm__cycles_active.max and .avg"]);
    }
}
