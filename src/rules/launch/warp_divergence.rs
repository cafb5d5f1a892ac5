//! Flags kernels whose warps execute with few of their threads.

use super::latency;
use crate::model::Quantity;
use crate::roofline;
use crate::rules::{Check, Confidence, Judgment, Rule, Subject, Threshold};

pub(super) const RULE: Rule = Rule {
    id: "warp-divergence",
    summary: "divergent branches leave few threads of a warp active",
    documentation: "\
## What it finds
Kernels whose warp instructions execute with well under 32 active threads.

## Why it costs time
Threads of a warp that take different branches execute one branch after the other while the other
lanes idle. Loops run as long as the longest thread of the warp.

## Detection
On average fewer than `threads` threads per instruction are active, and less than three quarters
of what the block size alone allows. The missing threads cost their share of the time where
instructions or math limit the kernel (60% busy or more), otherwise half of it.

## Remedy
Branch on conditions that are uniform within a warp; sort or compact items by branch; give long
items a warp instead of a thread; move the divergent part out of the loop.

## False positives
Blocks that do not fill their last warp lower the figure without any branch; that is subtracted.

## Sources
`ThreadDivergence.py` of Nsight Compute; *CUDA C++ Best Practices Guide*, \"Branching and Divergence\".
",
    thresholds: &[THREADS],
    silences: &["predication-waste"],
    check: Check::Kernel(check),
};

const THREADS: Threshold = Threshold::new(
    "threads",
    24.0,
    "1",
    "ThreadDivergence.py of Nsight Compute: three quarters of a warp",
);

/// Threads of a warp: the metric is NVIDIA's.
const WARP: u64 = 32;

fn check(subject: &Subject<'_>) -> Judgment {
    let metric = "smsp__thread_inst_executed_per_inst_executed.ratio";
    let active = subject.need(Quantity::ThreadsPerInstruction, metric)?;
    // A block of 48 threads has 24 in each of its warps on average, without any branch.
    let full = subject
        .threads()
        .map_or(WARP as f64, |threads| threads as f64 / threads.div_ceil(WARP) as f64);
    let limit = subject.threshold(&THREADS);
    if active >= limit || active >= limit / WARP as f64 * full {
        return Ok(None);
    }
    let idle = roofline::excess_fraction(full, active);
    let cost = if latency::issues(subject) == Some(true) { idle } else { idle / 2.0 };
    let message = format!("only {active:.1} of 32 threads are active per warp instruction");
    let finding = subject
        .finding(message, subject.share(cost, "idle-lanes"))
        .confidence(Confidence::High)
        .evidence("active threads per warp instruction", active, "1")
        .evidence("limit from the block size", full, "1")
        .evidence_if("issue slots used", subject.get(Quantity::IssueActive), "1")
        .next(subject.rewrite("make branches uniform within a warp, or sort items by branch"));
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use crate::model::Quantity;
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "warp-divergence";

    #[test]
    fn costs_in_full_only_where_instructions_limit() {
        let mut values = vec![(Quantity::ThreadsPerInstruction, 16.0)];
        let found = h100().launch("k", (10_000, 256), (1, 1000.0), &values).found(RULE);
        assert!((found.at_stake_s - 0.25e-3).abs() < 1e-9);
        values.push((Quantity::IssueActive, 0.9));
        let found = h100().launch("k", (10_000, 256), (1, 1000.0), &values).found(RULE);
        assert!((found.at_stake_s - 0.5e-3).abs() < 1e-9);
    }

    #[test]
    fn stays_quiet_on_full_warps_and_on_small_blocks() {
        let full = [(Quantity::ThreadsPerInstruction, 30.0)];
        assert!(h100().launch("k", (10_000, 256), (1, 1000.0), &full).is_content(RULE));
        let half = [(Quantity::ThreadsPerInstruction, 16.0)];
        assert!(h100().launch("k", (10_000, 16), (1, 1000.0), &half).is_content(RULE));
    }

    #[test]
    fn cannot_judge_without_threads() {
        let lacks = h100().launch("k", (10_000, 256), (1, 1000.0), &[]).lacks(RULE);
        assert_eq!(lacks, ["smsp__thread_inst_executed_per_inst_executed.ratio"]);
    }
}
