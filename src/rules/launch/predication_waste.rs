//! Flags kernels whose warps are whole but in which predicates switch many threads off.

use crate::model::Quantity;
use crate::roofline;
use crate::rules::{Check, Confidence, Judgment, Rule, Stake, Subject, Threshold};
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "predication-waste",
    summary: "predicates disable many threads while instructions execute",
    documentation: "\
## What it finds
Kernels whose warps do not diverge, but execute many instructions that a predicate disables for
some or all threads.

## Why it costs time
For short conditions the compiler emits no branch: all threads execute the instructions, and a
predicate decides whose results count. The slots of the others are spent anyway.

## Detection
On average fewer than `threads` threads per instruction remain enabled, while at least `whole` are
active. Savings: at most half of the disabled share, since many are bounds checks that remain.

## Remedy
Hoist bounds checks out of loops; handle the last, partial block in its own kernel or branch; pad
the data to the tile.

## False positives
A predicate is often cheaper than the branch that would replace it.

## Sources
`ThreadDivergence.py` of Nsight Compute; *CUDA C++ Best Practices Guide*, \"Branch Predication\".
",
    thresholds: &[THREADS, WHOLE],
    silences: &[],
    check: Check::Kernel(check),
};

const THREADS: Threshold = Threshold::new(
    "threads",
    24.0,
    "1",
    "ThreadDivergence.py of Nsight Compute: three quarters of a warp",
);

const WHOLE: Threshold =
    Threshold::new("whole", 28.0, "1", "below this, warps diverge and warp-divergence covers it");

fn check(subject: &Subject<'_>) -> Judgment {
    let metric = "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio";
    let on = subject.need(Quantity::PredicatedThreadsPerInstruction, metric)?;
    let metric = "smsp__thread_inst_executed_per_inst_executed.ratio";
    let active = subject.need(Quantity::ThreadsPerInstruction, metric)?;
    if on >= subject.threshold(&THREADS) || active < subject.threshold(&WHOLE) {
        return Ok(None);
    }
    let off = roofline::excess_fraction(active, on).max(0.0);
    let high = subject.time() * (off / 2.0);
    let message = format!(
        "predicates disable part of each warp: {on:.1} of {active:.1} active threads execute on \
         average"
    );
    let finding = subject
        .finding(message, Stake { low: Seconds::ZERO, high, estimator: "idle-lanes" })
        .confidence(Confidence::Medium)
        .evidence("predicated-on threads per warp instruction", on, "1")
        .evidence("active threads per warp instruction", active, "1")
        .evidence_if("issue slots used", subject.get(Quantity::IssueActive), "1")
        .next(subject.rewrite("hoist bounds checks, and handle the partial last tile separately"));
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use crate::model::Quantity;
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "predication-waste";

    fn threads(active: f64, on: f64) -> [(Quantity, f64); 2] {
        [(Quantity::ThreadsPerInstruction, active), (Quantity::PredicatedThreadsPerInstruction, on)]
    }

    #[test]
    fn fires_on_whole_warps_only() {
        let found =
            h100().launch("k", (10_000, 256), (1, 1000.0), &threads(32.0, 16.0)).found(RULE);
        assert!((found.at_stake_s - 0.25e-3).abs() < 1e-9);
        // 29.7 to 30.4 in NVIDIA's public sample.
        for (active, on) in [(32.0, 30.4), (20.0, 16.0)] {
            let bench = h100().launch("k", (10_000, 256), (1, 1000.0), &threads(active, on));
            assert!(bench.is_content(RULE));
        }
    }

    #[test]
    fn cannot_judge_without_threads() {
        let lacks = h100().launch("k", (10_000, 256), (1, 1000.0), &[]).lacks(RULE);
        assert_eq!(lacks, ["smsp__thread_inst_executed_pred_on_per_inst_executed.ratio"]);
    }
}
