//! Flags kernels whose warps fetch more cache sectors per request than their data needs.

use super::accesses::{self, Side};
use super::caches::{TRANSPOSE, about_excess, excess};
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
of: sectors needed over sectors touched as Nsight Compute counts them from the code; of loads and of
stores the bytes used of each sector; their sectors per request, of which contiguous 16-byte
accesses of a warp need at most 16 (the excess above that is certain; below, wide elements may
explain it). Loads and stores count by their sectors: a few scattered loads beside many stores are
not worth a fix. Where only one of them was counted, nothing is certainly at stake. A custom transpose whose
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

/// What is known of the sectors that global accesses touch.
struct Touched {
    /// Share of them that is needed.
    efficiency: f64,
    /// Share of the traffic of L1 and L2 that is left without the others.
    left: f64,
    /// Whether that is known, and not only of accesses that may be few among others.
    is_whole: bool,
    message: String,
}

fn check(subject: &Subject<'_>) -> Judgment {
    let sides = accesses::sides(subject);
    let Some(touched) = touched(subject, &sides) else {
        let metric = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum and …requests…";
        return transposed(subject).map(Some).ok_or(Missing(metric));
    };
    let Touched { efficiency, left, is_whole, message } = touched;
    if efficiency >= subject.threshold(&EFFICIENCY) {
        return Ok(None);
    }
    let stake = excess(subject, left);
    let stake = if is_whole { stake } else { Stake { low: Seconds::ZERO, ..stake } };
    let finding = about_excess(subject, message, left, stake)
        .confidence(Confidence::High)
        .evidence("sectors needed over sectors touched", efficiency, "1")
        .evidence_if("L1 hit rate", subject.get(Quantity::L1HitRate), "1")
        .evidence_if("L2 hit rate", subject.get(Quantity::L2HitRate), "1");
    let finding = sides.iter().fold(finding, |finding, side| {
        let requests = format!("sectors per request, global {}", side.word);
        let share = format!("sectors of global {} over all", side.word);
        finding.evidence_if(requests, side.sectors, "1").evidence_if(share, side.share, "1")
    });
    let next = if is_transpose(subject) {
        TRANSPOSE
    } else {
        "have consecutive threads access consecutive elements, or stage the tile through shared \
         memory"
    };
    Ok(Some(finding.next(subject.rewrite(next))))
}

/// What the counters say, the first of them that are known; `None` if none is.
fn touched(subject: &Subject<'_>, sides: &[Side; 2]) -> Option<Touched> {
    let worst = sides.iter().filter_map(|side| Some((side.word, side.sectors?)));
    let worst = worst.max_by(|one, two| one.1.total_cmp(&two.1));
    if let Some(share) = subject.get(Quantity::CoalescingEfficiency) {
        let global = sides[0].share.zip(sides[1].share).map_or(1.0, |(one, two)| one + two);
        let per_request = worst.map_or_else(String::new, |(side, sectors)| {
            format!("; global {side} touch {sectors:.1} per request")
        });
        let message = format!(
            "uncoalesced: {} of the sectors of global accesses are excess{per_request}",
            whole_percent(1.0 - share)
        );
        let left = 1.0 - global.min(1.0) * (1.0 - share);
        return Some(Touched { efficiency: share, left, is_whole: true, message });
    }
    // What wastes most of the traffic; without their shares, of its own sectors.
    let wasted = |side: &Side| Some((1.0 - side.efficiency()?) * side.share.unwrap_or(1.0));
    let known = sides.iter().filter_map(|side| Some((side, wasted(side)?)));
    let (least, _) = known.max_by(|one, two| one.1.total_cmp(&two.1))?;
    let own = least.efficiency()?;
    let message = match (least.used, least.sectors) {
        (None, Some(sectors)) => format!(
            "uncoalesced global {}: {sectors:.1} sectors per request; consecutive accesses need \
             4 for elements of 4 bytes and 16 for those of 16",
            least.word
        ),
        _ => format!(
            "uncoalesced global {} use only {} of the bytes they touch",
            least.word,
            whole_percent(own)
        ),
    };
    let whole = accesses::efficiency(sides).zip(accesses::wasted(sides));
    let is_whole = whole.is_some();
    let (efficiency, wasted) = whole.unwrap_or((own, 1.0 - own));
    Some(Touched { efficiency, left: 1.0 - wasted, is_whole, message })
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
        "transpose with DRAM only {} busy: reads or writes are probably strided",
        whole_percent(reached)
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
        assert_eq!(finding.estimator, "less-traffic");
        assert!(finding.at_stake_low_s == 0.0 && finding.at_stake_s > 0.0);
    }

    /// A fifth of the sectors of L1 are loads, of which a quarter is used: 15% of all sectors could go, and 15% of 1 ms,
    /// as long as L2 is the busiest unit. Of all global accesses 85% are needed.
    #[test]
    fn a_side_counts_by_its_part_of_the_sectors() {
        let judged = |loads: f64, used: f64| {
            let figures = [
                (Quantity::LoadSectorEfficiency, used),
                (Quantity::StoreSectorEfficiency, 1.0),
                (Quantity::LoadSectorShare, loads),
                (Quantity::StoreSectorShare, 1.0 - loads),
                (Quantity::L1Throughput, 0.3),
                (Quantity::L2Throughput, 0.9),
            ];
            judge(&RULE, &figures).unwrap()
        };
        assert!(judged(0.2, 0.25).is_none());
        // 40%: 0.6 × 1 + 0.4 × 0.25 = 0.7 are needed.
        let finding = judged(0.4, 0.25).unwrap();
        assert!((finding.at_stake_s - 0.3e-3).abs() < 1e-9, "{}", finding.at_stake_s);
        assert!((finding.at_stake_low_s - 0.3e-3).abs() < 1e-9, "{}", finding.at_stake_low_s);
        let needed = finding.evidence.iter().find(|one| one.name.contains("needed over")).unwrap();
        assert!((needed.value - 0.7).abs() < 1e-9);
    }

    /// 30 sectors of each load request cannot be needed, however well stores use theirs.
    #[test]
    fn each_side_is_judged_by_what_is_known_of_it() {
        let figures =
            [(Quantity::LoadSectorsPerRequest, 30.0), (Quantity::StoreSectorEfficiency, 1.0)];
        let finding = judge(&RULE, &figures).unwrap().unwrap();
        assert!(finding.message.contains("loads: 30.0 sectors per request"), "{}", finding.message);
        assert_eq!(finding.at_stake_low_s, 0.0);
    }
}
