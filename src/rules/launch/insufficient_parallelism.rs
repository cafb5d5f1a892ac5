//! Flags kernels whose grid reaches every multiprocessor but gives it too few warps.

use super::latency;
use crate::analysis::Spare;
use crate::model::Quantity;
use crate::plain::counted;
use crate::roofline;
use crate::rules::{Check, Confidence, Judgment, Rule, Stake, Subject, Threshold};
use crate::units::{Seconds, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "insufficient-parallelism",
    summary: "too few or too small blocks to hide latency",
    documentation: "\
## What it finds
Kernels with at least one block per SM, but too few threads overall to keep the SMs busy.

## Why it costs time
An SM hides the latency of memory and arithmetic by switching between warps. With a few hundred
threads per SM it waits most of the time, however good the code is.

## Detection
There are one to `blocks-per-sm` blocks per SM, or blocks of fewer than `threads-per-block`
threads that fill the block slots; no unit and no roof is above 60%; and, where the architecture's
limits are known, resident threads are below `filled` of those that fit. Where they are not, small
blocks are enough if 16 of them, the slots of the smallest GPU, have as many threads as `blocks-per-sm`
blocks of `threads-per-block`. Where registers or shared
memory allow no more of these blocks, `occupancy-limited` covers it. Persistent kernels, and
kernels that have no more work than threads, are exempt as in `small-grid`. Savings: at most what
a busy unit would give, at least what an uneven number of blocks wastes.

## Remedy
Use smaller tiles, fewer items per thread, split-K or a two-pass reduction, a larger batch; blocks
of 128 to 256 threads instead of very small ones.

## False positives
Kernels with many independent instructions per thread need fewer warps; those have a busy unit and
are exempt, and so are kernels that had others beside them for half of their time or more. Persistent
kernels with unknown names launch as many blocks as fit, by design.

## Sources
NVIDIA, *GPU Performance Background*, \"GPU Execution Model\" (four times as many blocks as
multiprocessors, a few hundred threads a block); *CUDA C++ Best Practices Guide*, \"Execution
Configuration\"; `LaunchConfiguration.py` of Nsight Compute hints below two blocks.
",
    thresholds: &[BLOCKS, THREADS, FILLED],
    silences: &[
        "low-achieved-occupancy",
        "low-issue-utilization",
        "warp-stalls",
        "memory-latency-bound",
    ],
    check: Check::Kernel(check),
};

const BLOCKS: Threshold = Threshold::new(
    "blocks-per-sm",
    roofline::BLOCKS_PER_SM as f64,
    "1",
    "GPU Performance Background: at least roughly four times the number of SMs",
);

const THREADS: Threshold = Threshold::new(
    "threads-per-block",
    roofline::THREADS_PER_BLOCK as f64,
    "1",
    "GPU Performance Background: a few hundred",
);

const FILLED: Threshold = Threshold::new(
    "filled",
    0.50,
    "1",
    "few but large blocks that fill half of an SM are enough parallelism",
);

/// Threads of a warp; of a smaller block, lanes idle in every instruction.
const WARP: u64 = 32;

fn check(subject: &Subject<'_>) -> Judgment {
    let (blocks, threads, sms) = (subject.blocks()?, subject.threads()?, subject.sms()?);
    let per_sm = blocks as f64 / f64::from(sms);
    let is_few = per_sm < subject.threshold(&BLOCKS);
    let is_small = (threads as f64) < subject.threshold(&THREADS);
    // With fewer blocks than multiprocessors, `small-grid` says it all.
    if per_sm < 1.0 || !(is_few || is_small) || subject.is_shared() {
        return Ok(None);
    }
    let Some(busy) = latency::limits(subject)? else { return Ok(None) };
    let limits = subject.device().ok().and_then(crate::catalog::Device::limits);
    let resident = subject.held().map(f64::from);
    let is_full = resident.is_some_and(|resident| resident <= per_sm);
    let is_apart = subject.is_persistent() || subject.spare() == Spare::Nothing;
    if is_apart || is_full && (subject.lacks_room() || is_tensor_product(subject)) {
        return Ok(None);
    }
    let most = resident.or(limits.map(|limits| f64::from(limits.max_blocks_per_sm)));
    // If neither the export nor the device says, as many as every GPU has slots for.
    let at_once = per_sm.min(most.unwrap_or(roofline::BLOCK_SLOTS as f64));
    let resident_threads = at_once * threads as f64;
    let enough = subject.threshold(&BLOCKS) * subject.threshold(&THREADS);
    if most.is_none() && !is_few && resident_threads >= enough {
        return Ok(None);
    }
    let filled =
        limits.map(|limits| (resident_threads / f64::from(limits.max_threads_per_sm)).min(1.0));
    if filled.is_some_and(|filled| filled >= subject.threshold(&FILLED)) {
        return Ok(None);
    }
    let least = match subject.resident() {
        Ok(resident) => 1.0 - roofline::sm_efficiency(blocks, sms, resident),
        Err(_) => 0.0,
    };
    let high = subject.time() * latency::idle(busy);
    let low = (subject.time() * least).max(Seconds::ZERO).min(high);
    let fit = filled
        .map_or_else(String::new, |filled| format!(", {} of what fits", whole_percent(filled)));
    let noun = if threads == 1 { "thread" } else { "threads" };
    let unit = subject.units().trim_end_matches('s');
    let message = format!(
        "{per_sm:.1} blocks of {threads} {noun} per {unit}: {resident_threads:.0} threads at \
         once{fit}"
    );
    // Larger blocks help where the slots for blocks are what is full.
    let fills_slots = is_small && most.is_some_and(|most| most <= per_sm);
    let next = if fills_slots {
        subject.rewrite("use blocks of 128 to 256 threads")
    } else if threads < WARP {
        subject.rewrite("give each block a warp or more")
    } else if is_full {
        // As many as fit are there already: more of the same blocks would only wait.
        let fit = if at_once < 2.0 { "fits" } else { "fit" };
        subject.rewrite(format!(
            "only {at_once:.0} of these blocks {fit} at once: use fewer registers or less shared \
             memory, or smaller tiles"
        ))
    } else if subject.is_attention() {
        latency::SPLIT_KV.to_owned()
    } else if subject.spare() == Spare::Work {
        let wanted = subject.threshold(&BLOCKS) * f64::from(sms);
        subject.rewrite(format!("split the work into {wanted:.0} blocks or more"))
    } else {
        format!(
            "give each launch more work (a batch), or use several threads per item: it has {} \
             in total",
            counted(blocks.saturating_mul(threads), "thread", "threads")
        )
    };
    let finding = subject
        .finding(message, Stake { low, high, estimator: "busy-unit" })
        .confidence(if subject.spare() == Spare::Work {
            Confidence::Medium
        } else {
            Confidence::Low
        })
        .evidence("blocks per SM", per_sm, "1")
        .evidence("threads per block", threads as f64, "1")
        .evidence("resident threads per SM", resident_threads, "1")
        .evidence_if("resident share of the threads that fit", filled, "1")
        .evidence_if("achieved occupancy", subject.get(Quantity::AchievedOccupancy), "1")
        .evidence("busiest unit", busy, "1")
        .next(next);
    Ok(Some(finding))
}

/// A product on tensor cores; its blocks are large so that they use each operand often.
fn is_tensor_product(subject: &Subject<'_>) -> bool {
    subject.is_product() && subject.uses_tensor_cores() == Ok(true)
}

#[cfg(test)]
mod tests {
    use crate::model::Quantity;
    use crate::rules::engine::bench_launches::h100;
    use crate::rules::engine::bench_table::kernel;

    const RULE: &str = "insufficient-parallelism";

    #[test]
    fn fires_on_few_blocks_and_on_tiny_ones() {
        let found = h100().launch("k", (264, 128), (1, 1000.0), &[]).found(RULE);
        assert!(found.message.starts_with("2.0 blocks of 128 threads"), "{}", found.message);
        assert!(
            found.message.ends_with("256 threads at once, 13% of what fits"),
            "{}",
            found.message
        );
        // 396 threads on 132 SMs: 3 of 2048 each.
        let found = h100().launch("k", (396, 1), (1, 1000.0), &[]).found(RULE);
        assert!(
            found.message.ends_with("3 threads at once, 0.1% of what fits"),
            "{}",
            found.message
        );
        let found = h100().launch("k", (100_000, 16), (1, 1000.0), &[]).found(RULE);
        assert_eq!(found.next.as_deref(), Some("use blocks of 128 to 256 threads"));
    }

    /// What a kernel of 1 ms leaves idle is not idle where others run for 500 µs of it.
    #[test]
    fn kernels_beside_others_need_not_fill_the_device() {
        let is_fine = |beside_us: f64| {
            let idle = kernel("k", 1000.0).grid(264, 128).set(Quantity::SmThroughput, 0.1);
            let idle = idle.set(Quantity::MemoryThroughput, 0.1);
            idle.beside(beside_us).is_fine(&super::RULE)
        };
        assert_eq!([0.0, 499.0, 500.0].map(is_fine), [false, false, true]);
    }

    #[test]
    fn more_blocks_are_no_cure_where_no_more_fit() {
        let next = |resident: f64| {
            let values = [(Quantity::ResidentBlocksPerSm, resident)];
            let name = "cutlass_80_simt_sgemm_128x64_nn_align1";
            h100().launch(name, (133, 256), (1, 1000.0), &values).found(RULE).next.unwrap()
        };
        assert_eq!(next(2.0), "split the work into 528 blocks or more");
        let room = "only 1 of these blocks fits at once: use fewer registers or less shared memory, or smaller tiles";
        assert_eq!(next(1.0), room);
    }

    #[test]
    fn block_sizes_matter_only_where_the_slots_for_blocks_bind() {
        let values = |registers: f64, slots: f64| {
            [
                (Quantity::ResidentBlocksPerSm, registers.min(slots)),
                (Quantity::BlocksByRegisters, registers),
                (Quantity::BlocksBySlots, slots),
                (Quantity::BlocksByWarps, 32.0),
            ]
        };
        // 255 registers a thread: four blocks of 64 threads, and larger ones would hold no more.
        let bench = h100().launch("k", (24576, 64), (1, 1000.0), &values(4.0, 32.0));
        assert!(bench.is_content(RULE));
        let bench = h100().launch("k", (24576, 32), (1, 1000.0), &values(64.0, 16.0));
        let next = bench.found(RULE).next;
        assert_eq!(next.as_deref(), Some("use blocks of 128 to 256 threads"));
        // Too few blocks of unknown work, none of which waits for a slot.
        let next = h100().launch("k", (264, 64), (1, 1000.0), &[]).found(RULE).next;
        assert!(next.is_some_and(|next| next.ends_with("it has 16896 threads in total")));
    }

    #[test]
    fn stays_quiet_on_full_multiprocessors_and_on_smaller_grids() {
        for shape in [(264, 1024), (100_000, 64), (100, 128), (100_000, 256)] {
            assert!(h100().launch("k", shape, (1, 1000.0), &[]).is_content(RULE), "{shape:?}");
        }
    }

    #[test]
    fn cannot_judge_without_a_roof() {
        let lacks = h100().bare("k", (264, 128), (1, 1000.0), &[]).lacks(RULE);
        assert_eq!(lacks, ["sm__throughput.avg.pct_of_peak_sustained_elapsed"]);
    }
}
