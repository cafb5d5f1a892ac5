//! Flags kernels that wait for atomics and reductions in L2.

use super::caches::memory_stall;
use crate::model::Quantity;
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Stake, Subject, Threshold, Unit};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "atomic-contention",
    summary: "atomics and reductions in L2 stall the kernel",
    documentation: "\
## What it finds
Kernels that issue many atomics or reductions to global memory and wait for them.

## Why it costs time
Global atomics execute in L2. Atomics to the same address or sector are serialized, and each
occupies a queue slot that loads and stores need too.

## Detection
At least `atomics` of the L2 sectors requested by SMs are atomics or reductions, and either the L2
atomic units accept input in at least `active` of the cycles, or warps stall at least `stall` of
the time on memory or its queue. Savings assume half as many atomics; where atomics are 30% of the
sectors or more, neither L2 nor DRAM is 40% busy and warps are many, they wait for each other, and everything above
the roofline is at stake.

## Remedy
Reduce within the warp (`__reduce_add_sync`, shuffles) or the block first and issue one atomic;
give each block a private copy and reduce the copies; use shared-memory atomics; sort by address.

## False positives
Atomics spread over many addresses run almost as fast as stores. The stalls can come from loads
next to the atomics. Sorting can cost more than it saves.

## Sources
A. Adinetz, *CUDA Pro Tip: Optimized Filtering with Warp-Aggregated Atomics*, NVIDIA Technical Blog 2014;
*Nsight Compute Profiling Guide*, \"L2 Cache\" and \"Memory Tables\".
",
    thresholds: &[ATOMICS, ACTIVE, STALL],
    silences: &[],
    check: Check::Kernel(check),
};

const ATOMICS: Threshold = Threshold::new(
    "atomics",
    0.10,
    "1",
    "with fewer, other traffic usually fills L2 before atomics do",
);

const ACTIVE: Threshold =
    Threshold::new("active", 0.50, "1", "half of the cycles, as in steady use");

const STALL: Threshold =
    Threshold::new("stall", 0.30, "1", "share at which `CPIStall.py` of Nsight Compute fires");

const ATOMIC_UNITS: &str = "lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed";

/// By which the figures of two passes may differ.
const PASSES: f64 = 0.02;

/// Share of the sectors from which atomics are what the kernel waits for.
const CONTENDED: f64 = 0.3;

/// Occupancy from which warps are many.
const CROWDED: f64 = 0.25;

/// Below this share of its peak a memory unit has room.
const IDLE: f64 = 0.4;

fn check(subject: &Subject<'_>) -> Judgment {
    let metric = "lts__t_sectors_srcunit_tex_op_red.sum and …op_atom.sum";
    let atomics = subject.need(Quantity::L2AtomicShare, metric)?;
    let active = subject.get(Quantity::L2AtomicActive);
    let wait = memory_stall(subject);
    if active.is_none() && wait.is_none() {
        return Err(Missing(ATOMIC_UNITS));
    }
    if atomics < subject.threshold(&ATOMICS) {
        return Ok(None);
    }
    let by_unit = active.filter(|one| *one >= subject.threshold(&ACTIVE)).map(|active| {
        let others = [Unit::Dram, Unit::L1, Unit::Sm].map(|unit| subject.utilization(unit));
        let others = others.into_iter().flatten().fold(0.0, f64::max);
        // The figure of L2 is that of its busiest part: atomics, or one that takes all sectors if it is clearly more. If
        // not, the latter may be as busy, or idle.
        let l2 = subject.utilization(Unit::L2).unwrap_or(0.0);
        let before = active.max(l2).max(others);
        let saved = |sectors: f64| {
            let after = (active * 0.5).max(sectors * (1.0 - 0.5 * atomics)).max(others);
            subject.share(1.0 - after / before, "next-bottleneck")
        };
        let least = saved(l2);
        let most = if l2 > active + PASSES { least } else { saved(0.0) };
        Stake { low: least.low, ..most }
    });
    let by_wait = wait.filter(|wait| *wait >= subject.threshold(&STALL)).map(|wait| {
        let stake = subject.stall(wait);
        Stake { low: stake.low * (0.5 * atomics), high: stake.high * 0.5, ..stake }
    });
    let Some(stake) = by_unit.or(by_wait) else {
        // Without the units nobody knows whether they are what is busy.
        return if active.is_some() { Ok(None) } else { Err(Missing(ATOMIC_UNITS)) };
    };
    // Where they wait for each other, half as many are not all that can go.
    let high = if is_contended(subject) { subject.gap().high.max(stake.high) } else { stake.high };
    let stake = Stake { low: stake.low.min(high), high, ..stake };
    let why = match active {
        Some(active) if by_unit.is_some() => {
            format!("the atomic units are {} busy", whole_percent(active))
        }
        _ => "warps wait for them".to_owned(),
    };
    let message = format!(
        "{} of the L2 sectors requested are atomics or reductions, and {why}",
        whole_percent(atomics)
    );
    let finding = subject
        .finding(message, stake)
        .confidence(if is_contended(subject) { Confidence::Medium } else { Confidence::Low })
        .evidence("atomic and reduction share of the sectors", atomics, "1")
        .evidence_if("atomic units of L2 busy", active, "1")
        .evidence_if("stalled on memory or its queue", wait, "1")
        .evidence_if("L2 busy", subject.get(Quantity::L2Throughput), "1");
    Ok(Some(
        finding
            .next(subject.rewrite("reduce within each warp or block first, then issue one atomic")),
    ))
}

/// Whether atomics of one address wait for each other: they are much of what L2 is asked for, and neither it nor DRAM is busy.
pub(super) fn is_contended(subject: &Subject<'_>) -> bool {
    let is_idle = |unit| subject.utilization(unit).is_ok_and(|used| used < IDLE);
    let atomics = subject.get(Quantity::L2AtomicShare).unwrap_or(0.0);
    // With few warps nothing is busy either.
    let is_crowded = !subject.leaves_idle()
        && subject.get(Quantity::AchievedOccupancy).is_none_or(|occupancy| occupancy >= CROWDED);
    is_crowded && atomics >= CONTENDED && is_idle(Unit::Dram) && is_idle(Unit::L2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_figures::judge;

    #[test]
    fn busy_atomic_units_and_waiting_warps_are_found() {
        for busy in [(Quantity::L2AtomicActive, 0.9), (Quantity::StallLgThrottle, 0.5)] {
            let finding = judge(&RULE, &[(Quantity::L2AtomicShare, 0.5), busy]).unwrap().unwrap();
            assert!(finding.at_stake_s > 0.0 && finding.at_stake_low_s <= finding.at_stake_s);
        }
    }

    /// Where all sectors keep L2 busier than atomics do, half of the atomics are few of them.
    #[test]
    fn the_rest_of_l2_bounds_what_fewer_atomics_bring() {
        let stake = |l2| {
            let figures = [
                (Quantity::L2AtomicShare, 0.15),
                (Quantity::L2AtomicActive, 0.6),
                (Quantity::L2Throughput, l2),
            ];
            let finding = judge(&RULE, &figures).unwrap().unwrap();
            assert!(finding.message.ends_with("the atomic units are 60% busy"));
            [finding.at_stake_low_s, finding.at_stake_s].map(|stake| (stake * 1e7).round() / 10.0)
        };
        // Of 1000 µs.
        assert_eq!(stake(0.6), [75.0, 500.0]);
        // Within what two passes differ by.
        assert_eq!(stake(0.61), [75.0, 508.2]);
        assert_eq!(stake(0.85), [75.0, 75.0]);
    }

    #[test]
    fn few_atomics_and_idle_units_are_left_alone() {
        let few = [(Quantity::L2AtomicShare, 0.01), (Quantity::L2AtomicActive, 0.9)];
        assert!(judge(&RULE, &few).unwrap().is_none());
        let idle = [(Quantity::L2AtomicShare, 0.5), (Quantity::L2AtomicActive, 0.1)];
        assert!(judge(&RULE, &idle).unwrap().is_none());
    }

    #[test]
    fn without_atomics_or_waits_it_cannot_judge() {
        assert!(judge(&RULE, &[]).is_err());
        assert!(judge(&RULE, &[(Quantity::L2AtomicShare, 0.5)]).is_err());
    }
}
