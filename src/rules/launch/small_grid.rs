//! Flags kernels that launch too few blocks to occupy every multiprocessor.

use super::latency;
use crate::analysis::Spare;
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
Blocks in the grid < multiprocessors of the device, and device memory is not busy all the same. Kernels
that have no more work than threads are left alone: elementwise kernels whose threads have an item each,
sums of split products, scans, and launches that take less than four times what any launch costs. So are
persistent kernels, which choose their number of blocks (`nvjet`, CUTLASS from version 3 on,
FlashAttention-3, stream-K). Where nothing tells how much work there is, confidence is low, and no number
of blocks is named.

## What to try
Products: split-K or smaller tiles. Attention of few queries: split the keys and values (FlashDecoding).
Else more work in one launch, such as a batch; several threads for one item; or independent kernels side
by side on other streams.

## When it is wrong
Kernels meant to run beside others. Work that depends on itself cannot be divided.

## Sources
NVIDIA, *GPU Performance Background*, \"GPU Execution Model\"; `LaunchConfiguration.py` of Nsight
Compute; *Nsight Compute Profiling Guide*, \"Launch Statistics\".
",
    thresholds: &[],
    silences: &[
        "occupancy-limited",
        "low-issue-utilization",
        "warp-stalls",
        "low-tensor-utilization",
        "old-architecture-kernel",
        "memory-bound-matmul",
        "memory-latency-bound",
    ],
    check: Check::Kernel(check),
};

fn check(subject: &Subject<'_>) -> Judgment {
    let (blocks, sms) = (subject.blocks()?, subject.sms()?);
    let is_saturated = subject.utilization(Unit::Dram).is_ok_and(|used| used >= roofline::BUSY);
    let spare = subject.spare();
    let is_enough = blocks >= u64::from(sms) || spare == Spare::Nothing;
    if is_enough || is_saturated || subject.is_persistent() {
        return Ok(None);
    }
    let idle = 1.0 - roofline::sm_efficiency(blocks, sms, 1);
    let message = format!(
        "{blocks} block{} on {sms} multiprocessors: {:.0}% of the device has no work",
        if blocks == 1 { "" } else { "s" },
        idle * 100.0
    );
    let finding = subject
        .finding(message, Stake { low: Seconds::ZERO, ..subject.share(idle, "tail") })
        .confidence(if spare == Spare::Work { Confidence::High } else { Confidence::Low })
        .evidence("blocks", blocks as f64, "1")
        .evidence("multiprocessors", f64::from(sms), "1");
    let next = match (spare, subject.threads()) {
        _ if subject.is_attention() => latency::SPLIT_KV.to_owned(),
        (Spare::Work, _) if subject.is_product() => {
            format!("split K or use smaller tiles, for {sms} blocks or more")
        }
        (Spare::Work, _) => format!("split the work into at least {sms} blocks"),
        (_, Ok(threads)) => format!(
            "give one launch more work (a batch), or let several threads share an item: it has {} \
             threads in all",
            blocks * threads
        ),
        (_, Err(_)) => "give one launch more work, such as a batch".to_owned(),
    };
    Ok(Some(finding.next(next)))
}
