//! Flags kernels that the bandwidth of L2 limits before device memory does.

use super::caches::access;
use crate::model::{MemoryLevel, Quantity};
use crate::rules::{Check, Confidence, Judgment, Rule, Stake, Subject, Threshold, Unit};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "l2-bandwidth-bound",
    summary: "L2 is busier than device memory and limits the kernel",
    documentation: "\
## What it finds
Kernels for which L2 is the busiest part of the memory system.

## Why it costs time
Data used by several blocks comes from L2 each time. L2 is only a few times as fast as device
memory, so a kernel that refetches everything waits for L2 while DRAM has room.

## Detection
L2 is at least `busy` of its peak and busier than DRAM. Savings: at most as if only L2 misses had
to pass L2 (reuse closer to the SMs), at least as if traffic were halved.

## Remedy
Use larger tiles in shared memory or registers; thread block clusters with multicast (compute
capability 9.0 and later); have neighboring blocks work on neighboring data so that L1 hits more
often. Elementwise kernels keep no tile: non-contiguous or broadcast operands are the likely
cause. Copies and transposes should read and write whole sectors.

## False positives
Kernels that use each element once and request it from L2 once are exempt: contiguous vectors by
name, or L2 bytes that hardly exceed DRAM bytes. Uncoalesced accesses, local memory and atomics
fill L2 as well and have their own findings. A hit rate near one half is natural for data that is
read once and written once.

## Sources
NVIDIA, *GPU Performance Background*, \"Understanding Performance\"; *Nsight Compute Profiling Guide*,
\"Memory Chart\"; `SpeedOfLight.py` of Nsight Compute (60% and 80%).
",
    thresholds: &[BUSY],
    silences: &[],
    check: Check::Kernel(check),
};

const BUSY: Threshold = Threshold::new(
    "busy",
    0.60,
    "1",
    "Nsight Compute's own rule counts a unit as well utilized from here",
);

/// In the names of kernels whose threads access contiguous vectors; lower case.
const CONTIGUOUS: [&str; 2] = ["vectorized", "_vec"];

/// Bytes through L2, over those of device memory, up to which none pass it twice.
const ONCE: f64 = 1.3;

/// Whether a kernel that uses each element once asks L2 for each once as well.
fn is_once(subject: &Subject<'_>) -> bool {
    let kernel = subject.kernel;
    let asked = kernel.level(MemoryLevel::L2).map(|level| level.bytes.get());
    let times = asked.zip(kernel.bytes).map(|(asked, moved)| asked / moved.get());
    access(subject).is_some()
        && (subject.kernel.is_named_with(&CONTIGUOUS) || times.is_some_and(|times| times < ONCE))
}

fn check(subject: &Subject<'_>) -> Judgment {
    let l2 = subject.utilization(Unit::L2)?;
    let dram = subject.utilization(Unit::Dram)?;
    if l2 < subject.threshold(&BUSY) || l2 <= dram {
        return Ok(None);
    }
    // Vectors of elements side by side pass L2 once, whatever its hit rate.
    if is_once(subject) {
        return Ok(None);
    }
    let hit = subject.get(Quantity::L2HitRate);
    let high = subject.next_bottleneck(Unit::L2, 1.0 - hit.unwrap_or(0.5))?;
    let half = subject.next_bottleneck(Unit::L2, 0.5)?;
    let low = if half.low < high.low { half.low } else { high.low };
    let served = match hit {
        Some(hit) if hit > 0.5 => ": L2 serves the reuse",
        _ => "",
    };
    let message = format!(
        "L2-bound: {} of L2 peak throughput, {} of DRAM{served}",
        whole_percent(l2),
        whole_percent(dram)
    );
    let finding = subject
        .finding(message, Stake { low, ..high })
        .confidence(Confidence::Medium)
        .evidence("L2 busy", l2, "1")
        .evidence("DRAM utilization", dram, "1")
        .evidence_if("L2 hit rate", hit, "1")
        .evidence_if("L1 hit rate", subject.get(Quantity::L1HitRate), "1");
    let next = access(subject).map_or_else(
        || subject.rewrite("use a larger tile in shared memory or registers"),
        str::to_owned,
    );
    Ok(Some(finding.next(next)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_figures::judge;

    const L2_FIRST: [(Quantity, f64); 3] = [
        (Quantity::L2Throughput, 0.8),
        (Quantity::DramThroughput, 0.4),
        (Quantity::L2HitRate, 0.9),
    ];

    #[test]
    fn a_busy_l2_is_found() {
        let finding = judge(&RULE, &L2_FIRST).unwrap().unwrap();
        assert_eq!(finding.estimator, "next-bottleneck");
        assert!((finding.at_stake_s - 0.5e-3).abs() < 1e-9, "{}", finding.at_stake_s);
    }

    #[test]
    fn a_busier_device_memory_is_left_alone() {
        let figures = [(Quantity::L2Throughput, 0.7), (Quantity::DramThroughput, 0.9)];
        assert!(judge(&RULE, &figures).unwrap().is_none());
    }

    #[test]
    fn without_utilization_it_cannot_judge() {
        assert!(judge(&RULE, &L2_FIRST[..1]).is_err());
    }
}
