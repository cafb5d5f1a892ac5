//! Flags kernels whose warps fetch more cache sectors per request than their data needs.

use super::caches::{TRANSPOSE, about_excess};
use crate::model::Quantity;
use crate::roofline::BUSY;
use crate::rules::{
    Check, Confidence, Finding, Judgment, Missing, Rule, Stake, Subject, Threshold, Unit,
};
use crate::taxonomy::Kind;
use crate::units::{Seconds, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "uncoalesced-access",
    summary: "global accesses are uncoalesced: warps touch more sectors than needed",
    documentation: "\
## What it finds
Global loads or stores that touch more 32-byte sectors per warp request than contiguous access
would.

## Why it costs time
Memory moves whole sectors. A warp whose 32 threads read consecutive 4-byte elements touches 4
sectors; scattered, it touches up to 32, and most of each sector is thrown away.

## Detection
Less than `efficiency` of the sectors touched by global accesses are needed, by the first known
of: sectors needed over sectors touched as Nsight Compute counts them from the code; bytes used of
each sector; sectors per request, of which contiguous 16-byte accesses of a warp need at most 16
(the excess above that is certain; below, wide elements may explain it). A custom transpose whose
sectors were not counted and that keeps DRAM below 60% busy likely has a strided side; that has
low confidence.

## Remedy
Have consecutive threads access consecutive addresses; turn arrays of structures into structures
of arrays; stage irregular accesses through shared memory. A transpose reads and writes rows
through a shared-memory tile padded by one column against bank conflicts.

## False positives
Where L1 serves the excess, it costs L1 bandwidth only. Gathers with truly random indices have
nothing to coalesce; caching or sorting helps instead.

## Sources
*CUDA C++ Best Practices Guide*, \"Coalesced Access to Global Memory\"; `UncoalescedAccess.py` of Nsight
Compute, which speaks on any excess; *Nsight Compute Profiling Guide*, \"Memory Tables\".
",
    thresholds: &[EFFICIENCY],
    silences: &[
        "misaligned-access",
        "narrow-global-loads",
        "memory-latency-bound",
        "l1-bandwidth-bound",
        "l2-bandwidth-bound",
        "integer-address-overhead",
        "warp-stalls",
        "low-issue-utilization",
    ],
    check: Check::Kernel(check),
};

const EFFICIENCY: Threshold =
    Threshold::new("efficiency", 0.80, "1", "a fifth of wasted sectors is worth a look");

/// A warp of 32 threads reading 16 bytes each, side by side, fills 16 sectors.
const WIDEST_COALESCED: f64 = 16.0;

fn check(subject: &Subject<'_>) -> Judgment {
    let limit = subject.threshold(&EFFICIENCY);
    let side = |name, quantity| Some((name, subject.get(quantity)?));
    let sectors = [
        side("loads", Quantity::LoadSectorsPerRequest),
        side("stores", Quantity::StoreSectorsPerRequest),
    ];
    let worst = sectors.into_iter().flatten().max_by(|one, two| one.1.total_cmp(&two.1));
    let used = [
        side("loads", Quantity::LoadSectorEfficiency),
        side("stores", Quantity::StoreSectorEfficiency),
    ];
    let least = used.into_iter().flatten().min_by(|one, two| one.1.total_cmp(&two.1));
    let (efficiency, message) = if let Some(share) = subject.get(Quantity::CoalescingEfficiency) {
        let excess = whole_percent(1.0 - share);
        let per_request = worst.map_or_else(String::new, |(side, sectors)| {
            format!("; global {side} touch {sectors:.1} per request")
        });
        (
            share,
            format!(
                "uncoalesced: {excess} of the sectors of global accesses are \
                 excess{per_request}"
            ),
        )
    } else if let Some((side, share)) = least {
        (
            share,
            format!(
                "uncoalesced global {side} use only {} of the bytes they touch",
                whole_percent(share)
            ),
        )
    } else if let Some((side, sectors)) = worst {
        let message = format!(
            "uncoalesced global {side}: {sectors:.1} sectors per request; consecutive accesses need \
             4 for elements of 4 bytes and 16 for those of 16"
        );
        let certain = if sectors > WIDEST_COALESCED { WIDEST_COALESCED / sectors } else { 1.0 };
        (certain, message)
    } else {
        let metric = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum and …requests…";
        return transposed(subject).map(Some).ok_or(Missing(metric));
    };
    if efficiency >= limit {
        return Ok(None);
    }
    let l1 = subject.next_bottleneck(Unit::L1, efficiency);
    let l2 = subject.next_bottleneck(Unit::L2, efficiency);
    let stake = match (l1, l2) {
        (Ok(one), Ok(two)) => {
            if one.high >= two.high {
                one
            } else {
                two
            }
        }
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => one,
        // The traffic that is excess could go, and with it at most that share of the time; nothing if other than
        // traffic limits the kernel.
        (Err(_), Err(_)) => {
            Stake { low: Seconds::ZERO, ..subject.share(1.0 - efficiency, "traffic") }
        }
    };
    let finding = about_excess(subject, message, efficiency, stake)
        .confidence(Confidence::High)
        .evidence("sectors needed over sectors touched", efficiency, "1")
        .evidence_if("L1 hit rate", subject.get(Quantity::L1HitRate), "1")
        .evidence_if("L2 hit rate", subject.get(Quantity::L2HitRate), "1");
    let finding = sectors.into_iter().flatten().fold(finding, |finding, (side, sectors)| {
        finding.evidence(format!("sectors per request, global {side}"), sectors, "1")
    });
    let next = if is_transpose(subject) {
        TRANSPOSE
    } else {
        "have consecutive threads access consecutive elements, or stage the tile through shared \
         memory"
    };
    Ok(Some(finding.next(next)))
}

fn is_transpose(subject: &Subject<'_>) -> bool {
    matches!(subject.class().kind, Some(Kind::Transpose | Kind::Layout))
}

/// A transpose of which the sectors were not counted, far from its memory roof.
fn transposed(subject: &Subject<'_>) -> Option<Finding> {
    let roof = subject.kernel.memory_time.map(|memory| memory / subject.kernel.modeled);
    let reached = subject.utilization(Unit::Dram).ok().or(roof).filter(|used| *used < BUSY);
    // Those of a library are tiled; what they cost is for the run's rules.
    let is_own = subject.class().kind == Some(Kind::Transpose) && subject.class().library.is_none();
    let reached = reached.filter(|_| is_own && !subject.is_short())?;
    let message = format!(
        "transpose with DRAM only {:.0}% busy: reads or writes are probably strided",
        reached * 100.0
    );
    let finding = subject
        .finding(message, Stake { low: Seconds::ZERO, ..subject.gap() })
        .confidence(Confidence::Low)
        .evidence("DRAM utilization", reached, "1");
    Some(finding.next(TRANSPOSE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_figures::judge;

    /// Without the utilization of a unit nobody knows that traffic limits the kernel.
    #[test]
    fn what_only_traffic_shows_may_save_nothing() {
        let figures = [(Quantity::CoalescingEfficiency, 0.25), (Quantity::DramBytes, 3.0e8)];
        let finding = judge(&RULE, &figures).unwrap().unwrap();
        assert_eq!(finding.estimator, "traffic");
        assert!(finding.at_stake_low_s == 0.0 && finding.at_stake_s > 0.0);
    }
}
