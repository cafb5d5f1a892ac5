//! Flags kernels that launch too few blocks to occupy every multiprocessor.

use crate::roofline;
use crate::rules::{Check, Confidence, Judgment, Rule, Stake, Subject, Unit};
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "small-grid",
    summary: "fewer blocks than multiprocessors",
    documentation: "\
## What it finds
Kernels whose grid has fewer blocks than the device has multiprocessors.

## Why it costs time
A block runs on one multiprocessor. With fewer blocks than multiprocessors, some of the device never
gets work, however well the kernel is written.

## How it decides
Blocks in the grid < multiprocessors of the device, and device memory is not busy all the same.

## What to try
Split the work into more blocks (split-K, smaller tiles), process several inputs in one launch, or
run independent kernels side by side on other streams.

## When it is wrong
Kernels meant to run beside others, and persistent kernels that use clusters of a few multiprocessors.

## Sources
NVIDIA, *GPU Performance Background*, \"GPU Execution Model\"; `LaunchConfiguration.py` of Nsight
Compute; *Nsight Compute Profiling Guide*, \"Launch Statistics\".
",
    thresholds: &[],
    silences: &[
        "occupancy-limited",
        "low-issue-utilisation",
        "warp-stalls",
        "low-tensor-utilisation",
        "old-architecture-kernel",
        "memory-bound-matmul",
        "memory-latency-bound",
    ],
    check: Check::Kernel(check),
};

fn check(subject: &Subject<'_>) -> Judgment {
    let (blocks, sms) = (subject.blocks()?, subject.sms()?);
    let is_saturated = subject.utilization(Unit::Dram).is_ok_and(|used| used >= roofline::BUSY);
    if blocks >= u64::from(sms) || is_saturated {
        return Ok(None);
    }
    let idle = 1.0 - roofline::sm_efficiency(blocks, sms, 1);
    let message = format!(
        "{blocks} block{} on {sms} multiprocessors: {:.0} % of the device has no work",
        if blocks == 1 { "" } else { "s" },
        idle * 100.0
    );
    let finding = subject
        .finding(message, Stake { low: Seconds::ZERO, ..subject.share(idle, "tail") })
        .confidence(Confidence::High)
        .evidence("blocks", blocks as f64, "1")
        .evidence("multiprocessors", f64::from(sms), "1")
        .next(format!("split the work into at least {sms} blocks"));
    Ok(Some(finding))
}
