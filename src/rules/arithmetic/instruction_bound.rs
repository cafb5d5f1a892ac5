//! Flags kernels whose instructions, and not their operations or bytes, fill the multiprocessors.

use crate::model::Quantity;
use crate::roofline::{self, BUSY};
use crate::rules::engine::pipes::PIPES;
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Stake, Subject, Threshold, Unit};
use crate::taxonomy::Kind;
use crate::units::{Seconds, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "instruction-bound",
    summary: "the SMs are busy with instructions that no roof counts",
    documentation: "\
## What it finds
Kernels that keep the schedulers or SMs busy while neither DRAM, nor L2, nor their floating-point
operations explain the time.

## Why it costs time
A scheduler issues one instruction per cycle. Address arithmetic, conversions, comparisons,
shuffles and random numbers take slots like multiply-adds do, but no operation count includes
them: the roofline then says memory-bound, or nothing.

## Detection
Instructions are issued in at least `busy` of the cycles, or, where that was not counted, SM
throughput is at least `busy`; DRAM and L2 are less busy than that; no math pipe is 60% busy; and
the counted operations need less than `math` of the time. Savings: at most what the next busiest
unit leaves if half of the instructions go, at least nothing. Without an issue counter the finding
is only informational.

## Remedy
Execute fewer instructions for the same result: wider loads, packed 16-bit arithmetic, several
elements per thread, 32-bit indices, unrolled loops. Attention and products: use tensor cores,
which do in one instruction what takes hundreds. Random numbers: use all four of a Philox call.

## False positives
Kernels that only wait at a barrier or poll issue instructions too. Utilization counts wasted work
as well.

## Sources
`IssueSlotUtilization.py` and `HighPipeUtilization.py` of Nsight Compute; *Nsight Compute Profiling Guide*,
\"Scheduler Statistics\" and \"Pipelines\".
",
    thresholds: &[USED, MATH],
    silences: &["pipe-saturated", "warp-stalls", "memory-latency-bound"],
    check: Check::Kernel(check),
};

const USED: Threshold = Threshold::new(
    "busy",
    0.70,
    "1",
    "dependencies and barriers keep most kernels below this; above it, fewer instructions save \
     time",
);

const MATH: Threshold = Threshold::new(
    "math",
    0.50,
    "1",
    "above this, the counted operations are what fills the pipes",
);

/// Share of its instructions that a kernel is taken to keep.
const LEFT: f64 = 0.5;

/// Activity below which tensor cores did nothing worth the name.
const NO_ACTIVITY: f64 = 0.01;

fn check(subject: &Subject<'_>) -> Judgment {
    let issue = subject.get(Quantity::IssueActive);
    let sm = subject.utilization(Unit::Sm).ok();
    let metric = "smsp__issue_active.avg.pct_of_peak_sustained_active";
    let used = issue.or(sm).ok_or(Missing(metric))?;
    let memory = [Unit::L2, Unit::Dram].map(|unit| subject.utilization(unit).unwrap_or(0.0));
    let memory = memory.into_iter().fold(0.0, f64::max);
    let tensor = subject.get(Quantity::TensorActive);
    // Busy tensor cores are busy multiprocessors: a product may be just that.
    let may_multiply =
        issue.is_none() && tensor.is_none() && subject.uses_tensor_cores() == Ok(true);
    if used < subject.threshold(&USED)
        || memory >= used
        || tensor.is_some_and(|tensor| tensor >= BUSY)
        || subject.math_reached() >= subject.threshold(&MATH)
        || may_multiply
    {
        return Ok(None);
    }
    let pipe = subject.busiest_pipe();
    if pipe.is_some_and(|(pipe, used)| pipe.computes && used >= BUSY) {
        return Ok(None);
    }
    let beside = pipe.map_or_else(String::new, |(pipe, used)| {
        format!("; the busiest pipe is {} at {}", pipe.name, whole_percent(used))
    });
    let dram = subject.utilization(Unit::Dram).ok();
    let memory_words = dram
        .map_or_else(String::new, |dram| format!(", while DRAM is {} busy", whole_percent(dram)));
    let is_idle = subject.is_product() && tensor.is_some_and(|active| active < NO_ACTIVITY);
    let idle = if is_idle { "; tensor cores are idle" } else { "" };
    let percent = used * 100.0;
    let finding = if issue.is_some() {
        // Pipes and memory count elapsed cycles.
        let filled = subject.issue().unwrap_or(used);
        let next = pipe.map_or(memory, |(_, used)| used.max(memory)).min(filled);
        let saved = roofline::next_bottleneck(subject.time(), filled, LEFT, next);
        let stake = Stake { low: Seconds::ZERO, high: saved, estimator: "next-bottleneck" };
        let message = format!(
            "instructions fill {percent:.0}% of the issue slots{memory_words}{beside}{idle}"
        );
        subject.finding(message, stake).confidence(Confidence::Medium)
    } else {
        let message = format!("the SMs are {percent:.0}% busy{memory_words}{beside}{idle}");
        subject.info(message).confidence(Confidence::Low)
    };
    let finding = PIPES.iter().fold(finding, |finding, pipe| {
        let name = format!("{} pipe utilization", pipe.name);
        finding.evidence_if(name, subject.get(pipe.quantity), "1")
    });
    let finding = finding
        .evidence_if("issue slots used", issue, "1")
        .evidence_if("SM utilization", sm, "1")
        .evidence_if("DRAM utilization", dram, "1");
    Ok(Some(finding.next(next(subject, is_idle, issue.is_some() || pipe.is_some()))))
}

/// The next experiment: by what the kernel does, or what would tell.
fn next(subject: &Subject<'_>, is_idle: bool, is_known: bool) -> &'static str {
    match subject.class().kind {
        Some(Kind::Random | Kind::Dropout) => {
            "use all four numbers of each generator call, and vector stores"
        }
        _ if is_idle && subject.is_attention() => {
            "run attention on tensor cores (grouped heads or several tokens per tile), then widen \
             loads"
        }
        _ if is_known => {
            "do more per instruction: wider loads, packed arithmetic, several elements per thread"
        }
        _ => "collect the section ComputeWorkloadAnalysis to see which pipe is busy",
    }
}

#[cfg(test)]
mod tests {
    use super::RULE;
    use crate::model::Quantity;
    use crate::rules::engine::bench_table::kernel;

    #[test]
    fn percentages_alone_tell_what_fills_the_slots() {
        let decode = kernel("BatchDecodeWithPagedKVCacheKernel", 600.0)
            .set(Quantity::IssueActive, 0.72)
            .set(Quantity::PipeAlu, 0.60)
            .set(Quantity::PipeFma, 0.34)
            .set(Quantity::TensorActive, 0.0);
        let found = decode.found(&RULE);
        assert_eq!(
            found.message,
            "instructions fill 72% of the issue slots; the busiest pipe is ALU at 60%; tensor cores are idle"
        );
        assert!(found.next.is_some_and(|next| next.contains("tensor cores")));
        // At half the instructions the ALU would bind: 1 − 60 ÷ 72 of the time.
        assert!((found.at_stake_s - 600e-6 * (1.0 - 0.60 / 0.72)).abs() < 1e-9);
    }

    #[test]
    fn busy_multiprocessors_without_a_count_of_instructions_are_something_to_know() {
        let pool = kernel("adaptive_average_pool<float>", 600.0)
            .set(Quantity::SmThroughput, 0.79)
            .set(Quantity::DramThroughput, 0.07);
        let found = pool.found(&RULE);
        assert!(found.at_stake_s <= 0.0 && found.message.contains("79% busy"));
        assert!(kernel("k", 600.0).set(Quantity::SmThroughput, 0.60).is_fine(&RULE));
        // What reads as fast as memory allows is not bound by instructions.
        let copy = kernel("k", 600.0).set(Quantity::SmThroughput, 0.75);
        assert!(copy.set(Quantity::DramThroughput, 0.92).is_fine(&RULE));
    }

    #[test]
    fn cannot_judge_without_a_utilization() {
        let metric = "smsp__issue_active.avg.pct_of_peak_sustained_active";
        assert_eq!(kernel("k", 600.0).bytes(1e6).lacks(&RULE), metric);
    }
}
