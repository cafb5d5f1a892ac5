//! Flags kernels with fewer resident warps than their launch configuration admits.

use super::latency;
use crate::model::Quantity;
use crate::roofline;
use crate::rules::{Check, Confidence, Judgment, Rule, Stake, Subject, Threshold};
use crate::units::{Seconds, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "low-achieved-occupancy",
    summary: "achieved occupancy is well below the launch's theoretical limit",
    documentation: "\
## What it finds
Latency-bound kernels in which, on average, far fewer warps are resident than registers, shared
memory and block size allow.

## Why it costs time
Blocks of unequal length, a long last wave, or blocks too short to be replaced in time leave slots
empty. The remaining warps hide less latency.

## Detection
Theoretical minus achieved occupancy is `lost` or more, no unit and no roof is above 60%, and the
grid has more blocks than fit at once. Savings: at most the share of warps that is missing; at
least what the last wave wastes, where known.

## Remedy
Give all blocks equal work, or take the work from a queue; start long blocks first; use more and
smaller blocks; give very short blocks more work.

## False positives
With less than one wave of blocks the grid is the cause, which other rules cover. Warps that exit
early on purpose (bounds checks, warp specialization) lower the figure without harm.

## Sources
`AchievedOccupancy.py` of Nsight Compute; *Nsight Compute Profiling Guide*, \"Occupancy\".
",
    thresholds: &[LOST],
    silences: &["low-issue-utilization"],
    check: Check::Kernel(check),
};

const LOST: Threshold = Threshold::new("lost", 0.10, "1", "AchievedOccupancy.py of Nsight Compute");

/// Blocks of up to two warps end about as fast as new ones start.
const FEW_THREADS: u64 = 64;

fn check(subject: &Subject<'_>) -> Judgment {
    let metric = "sm__warps_active.avg.pct_of_peak_sustained_active";
    let achieved = subject.need(Quantity::AchievedOccupancy, metric)?;
    let metric = "sm__maximum_warps_per_active_cycle_pct";
    let theoretical = subject.need(Quantity::TheoreticalOccupancy, metric)?;
    if theoretical - achieved < subject.threshold(&LOST) || subject.is_persistent() {
        return Ok(None);
    }
    let Some(busy) = latency::limits(subject)? else { return Ok(None) };
    if let (Ok(grid), Ok(sms), Ok(resident)) = (subject.blocks(), subject.sms(), subject.resident())
        && grid <= u64::from(sms) * u64::from(resident)
    {
        return Ok(None);
    }
    let missing = roofline::excess_fraction(theoretical, achieved).min(latency::idle(busy));
    let high = subject.time() * missing;
    let low = subject.tail().map_or(Seconds::ZERO, |tail| tail.low.min(high));
    let message = format!(
        "achieved occupancy is {}, although the launch configuration allows {}",
        whole_percent(achieved),
        whole_percent(theoretical)
    );
    let finding = subject
        .finding(message, Stake { low, high, estimator: "missing-warps" })
        .confidence(Confidence::Medium)
        .evidence("achieved occupancy", achieved, "1")
        .evidence("theoretical occupancy", theoretical, "1")
        .evidence_if("waves", subject.get(Quantity::Waves), "1")
        .evidence_if("SM imbalance", subject.get(Quantity::SmImbalance), "1")
        .evidence("busiest unit", busy, "1")
        .next(subject.rewrite(next(subject, low, high)));
    Ok(Some(finding))
}

/// What keeps slots empty: blocks that end as soon as they begin, the last wave, or blocks of unequal length.
fn next(subject: &Subject<'_>, low: Seconds, high: Seconds) -> String {
    match subject.threads() {
        Ok(threads) if threads <= FEW_THREADS => {
            format!("give each block more work, such as several rows: it has {threads} threads")
        }
        _ if low > Seconds::ZERO && low >= high / 2.0 => {
            "most of it is the last wave: choose a grid of whole waves, or smaller blocks"
                .to_owned()
        }
        _ => "balance work between blocks, or start the long ones first".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Quantity;
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "low-achieved-occupancy";

    const EMPTY: [(Quantity, f64); 3] = [
        (Quantity::AchievedOccupancy, 0.40),
        (Quantity::TheoreticalOccupancy, 1.0),
        (Quantity::ResidentBlocksPerSm, 8.0),
    ];

    #[test]
    fn fires_where_slots_stay_empty() {
        let found = h100().launch("k", (10_000, 256), (1, 1000.0), &EMPTY).found(RULE);
        assert_eq!(
            found.message,
            "achieved occupancy is 40%, although the launch configuration allows 100%"
        );
        assert!((found.at_stake_s - 0.6e-3).abs() < 1e-9);
    }

    #[test]
    fn stays_quiet_on_less_than_a_wave_and_on_ten_points() {
        assert!(h100().launch("k", (1000, 256), (1, 1000.0), &EMPTY).is_content(RULE));
        let close = [(Quantity::AchievedOccupancy, 0.92), (Quantity::TheoreticalOccupancy, 1.0)];
        assert!(h100().launch("k", (10_000, 256), (1, 1000.0), &close).is_content(RULE));
    }

    #[test]
    fn cannot_judge_without_occupancy() {
        let lacks = h100().launch("k", (10_000, 256), (1, 1000.0), &[]).lacks(RULE);
        assert_eq!(lacks, ["sm__warps_active.avg.pct_of_peak_sustained_active"]);
    }
}
