//! Flags kernels whose schedulers rarely find a warp that is ready, while no unit is busy.

use super::latency;
use crate::model::Quantity;
use crate::rules::{Check, Confidence, Judgment, Rule, Stake, Subject, Threshold};
use crate::units::{Seconds, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "low-issue-utilization",
    summary: "schedulers rarely find a ready warp",
    documentation: "\
## What it finds
Kernels whose schedulers issue in few of their cycles although no unit of the device is busy.

## Why it costs time
A scheduler can issue one instruction per cycle. If none of its warps is ready, the slot is lost.

## Detection
Instructions are issued in less than `issue` of the active cycles, fewer than `eligible` warps are
ready on average, and no unit and no roof is above 60%. This is a symptom. Savings: at most
everything above the roofline time, at least nothing.

## Remedy
Fix the dominant stall: more loads in flight where warps wait for memory, more even work where
they wait at barriers, more resident warps, more independent instructions per thread.

## False positives
Tensor-core products issue few, large instructions, and warps of persistent kernels wait for each
other by design; both are exempt, and so are kernels with fewer blocks than SMs and launches that
take hardly longer than an empty one.

## Sources
`IssueSlotUtilization.py` of Nsight Compute; *Nsight Compute Profiling Guide*, \"Scheduler Statistics\".
",
    thresholds: &[ISSUE, ELIGIBLE],
    silences: &[],
    check: Check::Kernel(check),
};

const ISSUE: Threshold =
    Threshold::new("issue", 0.60, "1", "IssueSlotUtilization.py of Nsight Compute");

const ELIGIBLE: Threshold = Threshold::new(
    "eligible",
    1.0,
    "1",
    "with one ready warp per cycle a scheduler can issue every cycle",
);

fn check(subject: &Subject<'_>) -> Judgment {
    let metric = "smsp__issue_active.avg.pct_of_peak_sustained_active";
    let issue = subject.need(Quantity::IssueActive, metric)?;
    let metric = "smsp__warps_eligible.avg.per_cycle_active";
    let eligible = subject.need(Quantity::EligibleWarps, metric)?;
    let issues = issue >= subject.threshold(&ISSUE) || eligible >= subject.threshold(&ELIGIBLE);
    let multiplies = subject.is_product() && subject.uses_tensor_cores() == Ok(true);
    let is_short = subject.leaves_idle() || subject.is_short();
    if issues || multiplies || is_short || subject.is_persistent() {
        return Ok(None);
    }
    let Some(busy) = latency::limits(subject)? else { return Ok(None) };
    let message = format!(
        "schedulers issue in only {} of cycles, with {:.2} warps ready on average",
        whole_percent(issue),
        // Not rounded up to what it is below.
        (eligible * 100.0).floor() / 100.0
    );
    let stake = Stake { low: Seconds::ZERO, ..subject.gap() };
    let finding = subject
        .finding(message, stake)
        .confidence(Confidence::Low)
        .evidence("issue slots used", issue, "1")
        .evidence("eligible warps per scheduler", eligible, "1")
        .evidence_if("achieved occupancy", subject.get(Quantity::AchievedOccupancy), "1")
        .evidence("busiest unit", busy, "1")
        .next(subject.rewrite("check warp-stall reasons, and fix or hide the top one"));
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use crate::model::Quantity;
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "low-issue-utilization";
    const IDLE: [(Quantity, f64); 2] =
        [(Quantity::IssueActive, 0.12), (Quantity::EligibleWarps, 0.15)];

    #[test]
    fn fires_where_nothing_is_busy() {
        let found = h100().launch("k", (10_000, 256), (1, 1000.0), &IDLE).found(RULE);
        assert!(
            found.message.starts_with("schedulers issue in only 12% of cycles, with 0.15 warps")
        );
        assert_eq!(found.at_stake_low_s, 0.0);
    }

    #[test]
    fn stays_quiet_where_a_unit_is_busy() {
        let mut values = IDLE.to_vec();
        values.push((Quantity::L1Throughput, 0.95));
        assert!(h100().launch("k", (10_000, 256), (1, 1000.0), &values).is_content(RULE));
    }

    #[test]
    fn cannot_judge_without_schedulers() {
        let lacks = h100().launch("k", (10_000, 256), (1, 1000.0), &IDLE[..1]).lacks(RULE);
        assert_eq!(lacks, ["smsp__warps_eligible.avg.per_cycle_active"]);
    }
}
