//! Flags kernels with fewer resident warps than their launch configuration admits.

use super::latency;
use crate::model::Quantity;
use crate::roofline;
use crate::rules::{Check, Confidence, Judgment, Rule, Stake, Subject, Threshold};
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "low-achieved-occupancy",
    summary: "fewer resident warps than the launch would allow",
    documentation: "\
## What it finds
Kernels limited by latency in which, on average, far fewer warps are resident than registers, shared
memory and block size admit.

## Why it costs time
Blocks of unequal length, a long last wave or blocks too short to be replaced in time leave slots
empty; the warps that remain hide less latency.

## How it decides
Theoretical minus achieved occupancy is `lost` or more, no unit and no roof is busier than 60%, and the
grid has more blocks than fit at once. The most that can be won is the share of warps that is missing;
at least, what the last wave wastes, where that is known.

## What to try
Give all blocks equal work, or take the work from a queue; start long blocks first; more and smaller
blocks; more work for each of very short blocks.

## When it is wrong
With less than one wave of blocks the grid is the cause, which other rules tell. Warps that leave early
on purpose (bounds checks, warp specialization) lower the figure without harm.

## Sources
`AchievedOccupancy.py` of Nsight Compute; *Nsight Compute Profiling Guide*, \"Occupancy\".
",
    thresholds: &[LOST],
    silences: &["low-issue-utilization"],
    check: Check::Kernel(check),
};

const LOST: Threshold = Threshold::new("lost", 0.10, "1", "AchievedOccupancy.py of Nsight Compute");

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
        "{:.0}% of the possible warps are resident, the launch would allow {:.0}%",
        achieved * 100.0,
        theoretical * 100.0
    );
    let finding = subject
        .finding(message, Stake { low, high, estimator: "missing-warps" })
        .confidence(Confidence::Medium)
        .evidence("achieved occupancy", achieved, "1")
        .evidence("theoretical occupancy", theoretical, "1")
        .evidence_if("waves", subject.get(Quantity::Waves), "1")
        .evidence_if("imbalance of multiprocessors", subject.get(Quantity::SmImbalance), "1")
        .evidence("busiest unit", busy, "1")
        .next("balance the work between blocks, or start the long ones first");
    Ok(Some(finding))
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
            "40% of the possible warps are resident, the launch would allow 100%"
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
