//! Flags memory-bound kernels whose warps wait for data though no memory unit is busy.

use super::atomic_contention::is_contended;
use crate::model::Quantity;
use crate::roofline::{BUSY, Limiter};
use crate::rules::engine::stalls::stalls;
use crate::rules::{Check, Confidence, Judgment, Rule, Stake, Subject, Threshold, Unit};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "memory-latency-bound",
    summary: "warps wait for data while memory bandwidth is left",
    documentation: "\
## What it finds
Memory-bound kernels whose warps wait for data although neither DRAM nor a cache is busy: too few
loads are in flight.

## Why it costs time
By Little's law, the bytes in flight must equal bandwidth × latency. With fewer, memory idles
while every warp waits for its own load.

## Detection
The roofline does not classify the kernel as reaching the compute roof; DRAM, L2 and L1 are each
below 60%; and warps spend at least `stall` of their time waiting for global, local or texture
data. Savings: at most everything above the roofline time; at least the no-issue time with that
stall reason, if less.

## Remedy
Put more loads in flight: unroll and load before use, `cp.async` or bulk copies into shared
memory, several stages; more resident warps; 16 bytes per load.

## False positives
Where each address depends on the previous load (lists, trees, nested tables), loads of a thread
cannot overlap; only more warps help. Kernels whose atomics wait for each other are left to
`atomic-contention`, those that wait longer for something else, such as barriers, to `warp-stalls`.
Kernels with fewer blocks than SMs lack work, not loads, and are exempt.

## Sources
*CUDA C++ Best Practices Guide*, \"Asynchronous Copy from Global Memory to Shared Memory\"; J. D. C.
Little, *A Proof for the Queuing Formula L = λW*, Operations Research 9(3), 1961; `CPIStall.py` of
Nsight Compute; *Nsight Compute Profiling Guide*, \"Warp State Statistics\".
",
    thresholds: &[STALL],
    silences: &["warp-stalls", "low-issue-utilization"],
    check: Check::Kernel(check),
};

const STALL: Threshold =
    Threshold::new("stall", 0.30, "1", "share at which `CPIStall.py` of Nsight Compute fires");

/// Occupancy below which warps are too few, whatever each of them does.
const FEW_WARPS: f64 = 0.2;

/// Most of the memory instructions.
const HALF: f64 = 0.5;

fn check(subject: &Subject<'_>) -> Judgment {
    let dram = subject.utilization(Unit::Dram)?;
    let l2 = subject.utilization(Unit::L2)?;
    let metric = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";
    let wait = subject.need(Quantity::StallLongScoreboard, metric)?;
    let l1 = subject.utilization(Unit::L1).ok();
    let is_busy = dram.max(l2).max(l1.unwrap_or(0.0)) >= BUSY;
    let is_math = subject.kernel.limiter == Limiter::Math;
    // What warps wait for longest is the cause.
    let is_memory = [Quantity::StallLongScoreboard, Quantity::StallLgThrottle];
    let others = stalls(subject).into_iter().filter(|(one, _)| !is_memory.contains(&one.quantity));
    let is_less = others.into_iter().any(|(_, share)| share > wait);
    if is_contended(subject) || is_less {
        return Ok(None);
    }
    if is_busy || is_math || subject.leaves_idle() || wait < subject.threshold(&STALL) {
        return Ok(None);
    }
    let gap = subject.gap();
    let stall = subject.stall(wait);
    let low = if stall.low < gap.low { stall.low } else { gap.low };
    let message = format!(
        "warps wait for data {} of the time, but DRAM is only {} busy: too few loads in \
         flight",
        whole_percent(wait),
        whole_percent(dram)
    );
    let finding = subject
        .finding(message, Stake { low, ..gap })
        .confidence(Confidence::Medium)
        .evidence("stalled on global, local or texture data", wait, "1")
        .evidence("DRAM utilization", dram, "1")
        .evidence("L2 busy", l2, "1")
        .evidence_if("L1 busy", l1, "1")
        .evidence_if("achieved occupancy", subject.get(Quantity::AchievedOccupancy), "1")
        .evidence_if("issue-active cycles", subject.get(Quantity::IssueActive), "1")
        .evidence_if("eligible warps per scheduler", subject.get(Quantity::EligibleWarps), "1")
        .evidence_if("registers per thread", subject.get(Quantity::RegistersPerThread), "1");
    let is_narrow = subject.get(Quantity::NarrowLoadShare).is_some_and(|share| share >= HALF);
    let occupancy = subject.get(Quantity::AchievedOccupancy);
    Ok(Some(match occupancy.filter(|occupancy| *occupancy < FEW_WARPS) {
        Some(occupancy) => finding.next(subject.rewrite(format!(
            "run more warps at once (occupancy is {}), or keep several loads in flight per \
             thread",
            whole_percent(occupancy)
        ))),
        None if is_narrow => {
            finding.next(subject.rewrite("load 16 bytes per thread (float4) instead of 4 or less"))
        }
        None if subject.is_product() || subject.is_attention() => {
            finding.next(subject.rewrite("prefetch or double-buffer the next tile"))
        }
        None => finding
            .next(subject.rewrite("load several elements per thread before the first is used")),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_figures::judge;

    const WAITING: [(Quantity, f64); 4] = [
        (Quantity::DramThroughput, 0.3),
        (Quantity::L2Throughput, 0.2),
        (Quantity::StallLongScoreboard, 0.7),
        (Quantity::IssueActive, 0.2),
    ];

    #[test]
    fn waiting_for_an_idle_memory_is_found() {
        let finding = judge(&RULE, &WAITING).unwrap().unwrap();
        assert_eq!(finding.estimator, "gap");
        assert!(finding.at_stake_s > 0.5e-3 && finding.at_stake_low_s <= finding.at_stake_s);
    }

    #[test]
    fn a_busy_memory_and_short_waits_are_left_alone() {
        for (at, value) in [(0, 0.9), (1, 0.7), (2, 0.1)] {
            let mut figures = WAITING;
            figures[at].1 = value;
            assert!(judge(&RULE, &figures).unwrap().is_none(), "{:?}", figures[at]);
        }
    }

    #[test]
    fn a_longer_wait_for_something_else_is_the_cause() {
        let with = |barrier: f64| {
            let figures = [WAITING.as_slice(), &[(Quantity::StallBarrier, barrier)]].concat();
            judge(&RULE, &figures).unwrap()
        };
        assert!(with(0.69).is_some() && with(0.71).is_none());
    }

    #[test]
    fn without_stalls_it_cannot_judge() {
        assert!(judge(&RULE, &WAITING[..2]).is_err());
    }
}
