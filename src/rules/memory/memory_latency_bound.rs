//! Flags memory-bound kernels whose warps wait for data though no memory unit is busy.

use crate::model::Quantity;
use crate::roofline::{BUSY, Limiter};
use crate::rules::{Check, Confidence, Judgment, Rule, Stake, Subject, Threshold, Unit};

pub(super) const RULE: Rule = Rule {
    id: "memory-latency-bound",
    summary: "warps wait for data while memory has room",
    documentation: "\
## What it finds
Kernels that memory should limit, whose warps wait for data although neither device memory nor a cache
is busy: too few loads are in flight.

## Why it costs time
By Little's law, the bytes in flight must equal bandwidth × latency. With fewer, memory idles while every
warp waits for its own load.

## How it decides
The roofline says that the kernel does not end at the compute roof; device memory, L2 and L1 are each
less than 60% busy; and warps spend at least `stall` of their time waiting for global, local or texture
data. At most everything above the roof can be won, at least the time without an issue for that reason,
if that is less.

## What to try
More loads in flight: unroll and load before use, `cp.async` or bulk copies into shared memory, several
stages; more resident warps; 16 bytes per load.

## When it is wrong
Where each address depends on the load before (lists, trees, tables of tables), loads cannot overlap
within a thread; only more warps help. Kernels with fewer blocks than multiprocessors lack work before loads;
they are left alone.

## Sources
*CUDA C++ Best Practices Guide*, \"Asynchronous Copy from Global Memory to Shared Memory\"; J. D. C.
Little, *A Proof for the Queuing Formula L = λW*, Operations Research 9(3), 1961; `CPIStall.py` of
Nsight Compute; *Nsight Compute Profiling Guide*, \"Warp State Statistics\".
",
    thresholds: &[STALL],
    silences: &["warp-stalls", "low-issue-utilization"],
    check: Check::Kernel(check),
};

const STALL: Threshold = Threshold::new(
    "stall",
    0.30,
    "1",
    "the share from which `CPIStall.py` of Nsight Compute speaks",
);

fn check(subject: &Subject<'_>) -> Judgment {
    let dram = subject.utilization(Unit::Dram)?;
    let l2 = subject.utilization(Unit::L2)?;
    let metric = "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio";
    let wait = subject.need(Quantity::StallLongScoreboard, metric)?;
    let l1 = subject.utilization(Unit::L1).ok();
    let is_busy = dram.max(l2).max(l1.unwrap_or(0.0)) >= BUSY;
    let is_math = subject.kernel.limiter == Limiter::Math;
    if is_busy || is_math || subject.leaves_idle() || wait < subject.threshold(&STALL) {
        return Ok(None);
    }
    let gap = subject.gap();
    let stall = subject.stall(wait);
    let low = if stall.low < gap.low { stall.low } else { gap.low };
    let message = format!(
        "warps wait {:.0}% of their time for data, yet device memory is {:.0}% busy: too few loads \
         are in flight",
        wait * 100.0,
        dram * 100.0
    );
    let finding = subject
        .finding(message, Stake { low, ..gap })
        .confidence(Confidence::Medium)
        .evidence("waiting for global, local or texture data", wait, "1")
        .evidence("device memory busy", dram, "1")
        .evidence("L2 busy", l2, "1")
        .evidence_if("L1 busy", l1, "1")
        .evidence_if("achieved occupancy", subject.get(Quantity::AchievedOccupancy), "1")
        .evidence_if("cycles with an issue", subject.get(Quantity::IssueActive), "1")
        .evidence_if(
            "warps ready to issue per scheduler",
            subject.get(Quantity::EligibleWarps),
            "1",
        )
        .evidence_if("registers per thread", subject.get(Quantity::RegistersPerThread), "1");
    Ok(Some(finding.next("load the next element, or the next tile, before using this one")))
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
    fn without_stalls_it_cannot_judge() {
        assert!(judge(&RULE, &WAITING[..2]).is_err());
    }
}
