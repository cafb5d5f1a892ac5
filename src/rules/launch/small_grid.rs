//! Flags kernels that launch too few blocks to occupy every multiprocessor.

use super::latency;
use crate::analysis::Spare;
use crate::plain::counted;
use crate::roofline;
use crate::rules::{Check, Confidence, Judgment, Rule, Stake, Subject, Unit};
use crate::units::{Seconds, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "small-grid",
    summary: "fewer blocks than SMs",
    documentation: "\
## What it finds
Kernels whose grid has fewer blocks than the device has SMs.

## Why it costs time
A block runs on one SM. With fewer blocks than SMs, part of the device never gets work, however
good the kernel is.

## Detection
The grid has fewer blocks than the device has SMs, and DRAM is not busy anyway. Kernels that have
no more work than threads are exempt: elementwise kernels with one item per thread, split-product
sums, scans, and launches that take less than four times an empty launch. Persistent kernels, which
choose their own grid size (`nvjet`, CUTLASS 3 and later, FlashAttention-3, stream-K), are exempt while
they use more than half of the SMs: thread-block clusters may not fill every SM. At half or fewer there
are too few tiles. Where the amount of work is unknown, confidence is low and no number of blocks is
suggested.

## Remedy
Products: split-K or smaller tiles. Attention with few queries: split the keys and values
(FlashDecoding). Otherwise: more work per launch, such as a batch; several threads per item; or
independent kernels on other streams.

## False positives
Kernels meant to run next to others: where a timeline shows others for half of its time or more, the
kernel is exempt, and for less the time beside them is not at stake. Work that depends on itself cannot be divided.

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
    // The name takes long to search, and matters to few.
    let is_chosen = || blocks.saturating_mul(2) > u64::from(sms) && subject.is_persistent();
    if is_enough || is_saturated || subject.is_shared() || is_chosen() {
        return Ok(None);
    }
    let units = subject.units();
    let idle = 1.0 - roofline::sm_efficiency(blocks, sms, 1);
    let message = format!(
        "only {blocks} block{} for {sms} {units}: {} of the device has no work",
        if blocks == 1 { "" } else { "s" },
        whole_percent(idle)
    );
    let stake = subject.share(idle * subject.alone(), "tail");
    let finding = subject
        .finding(message, Stake { low: Seconds::ZERO, ..stake })
        .confidence(if spare == Spare::Work { Confidence::High } else { Confidence::Low })
        .evidence("blocks", blocks as f64, "1")
        .evidence(units, f64::from(sms), "1");
    let next = match (spare, subject.threads()) {
        _ if has_little_work(subject) => {
            format!("batch or fuse it: its work is too little for {sms} blocks")
        }
        _ if subject.is_attention() => latency::SPLIT_KV.to_owned(),
        (Spare::Work, _) if subject.is_product() => {
            format!("use split-K or smaller tiles to get at least {sms} blocks")
        }
        (Spare::Work, _) => subject.rewrite(format!("split the work into at least {sms} blocks")),
        (_, Ok(threads)) => format!(
            "give each launch more work (a batch), or use several threads per item: it has {} \
             in total",
            counted(blocks.saturating_mul(threads), "thread", "threads")
        ),
        (_, Err(_)) => "give each launch more work, such as a batch".to_owned(),
    };
    Ok(Some(finding.next(next)))
}

/// Part of the cost of a launch below which more blocks have nothing to share.
const LITTLE: f64 = 0.1;

/// Whether the work of a launch takes the whole device hardly any time.
fn has_little_work(subject: &Subject<'_>) -> bool {
    let needed = subject.kernel.roofline_time_likely.or(subject.kernel.roofline_time_high);
    let launches = subject.kernel.launches.max(1) as f64;
    needed.is_some_and(|needed| needed / launches < subject.analysis.fixed_cost * LITTLE)
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::model::Pipe;
    use crate::rules::engine::bench_launches::h100;
    use crate::rules::engine::bench_table::kernel;

    /// 640 numbers added in two blocks: 2.6 kB take no time, and 132 blocks would have nothing to share. 67 MB take 20 µs.
    #[test]
    fn what_is_hardly_any_work_is_not_to_be_divided() {
        let found = |bytes: f64| {
            kernel("void reduce_rows<512>(float*)", 40.0)
                .grid(2, 512)
                .work(Pipe::Fp32Vector, bytes / 4.0)
                .bytes(bytes)
                .found(&RULE)
        };
        let (little, much) = (found(2.6e3).next.unwrap(), found(67e6).next.unwrap());
        assert_eq!(little, "batch or fuse it: its work is too little for 132 blocks");
        assert_eq!(much, "split the work into at least 132 blocks");
    }

    /// An H100 has 132 SMs: persistent kernels fill most of them, or have too few tiles.
    #[test]
    fn persistent_kernels_choose_their_blocks_but_need_tiles_for_them() {
        let name = "nvjet_tst_64x16_64x16_4x2_v_bz_TNT";
        let launched = |blocks: u32| h100().launch(name, (blocks, 384), (10, 100.0), &[]);
        assert!(launched(128).is_content("small-grid"));
        assert!(launched(67).is_content("small-grid"));
        let found = launched(66).found("small-grid");
        assert_eq!(found.message, "only 66 blocks for 132 SMs: 50% of the device has no work");
        assert!(found.next.unwrap().starts_with("use split-K or smaller tiles"));
    }
}
