//! Tells of kernels whose multiply-adds were counted once: their operations are an interval.

use crate::analysis::{Analysis, State, Work};
use crate::model::{Engine, Origin, OriginKind, Profiler};
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Severity, Subject};
use crate::units::{Flops, Seconds};

pub(super) const RULE: Rule = Rule {
    id: "unweighted-flop-metric",
    summary: "multiply-adds were counted as one operation; the count is an interval",
    documentation: "\
## What it finds
Kernels whose CUDA-core operations come only from a counter that adds up additions,
multiplications and fused multiply-adds with equal weight (`…_ops_fadd_fmul_ffma_pred_on` and
similar).

## Why it costs time
No time is lost, but a fused multiply-add is two operations. With n instructions the work lies
between n (none fused) and 2n (all fused); for packed halves, one of which may be idle, between n
and 4n.

## Detection
The count of a CUDA-core pipe was derived with such bounds. The lower end is used as the estimate
and the upper end bounds it: a kernel is an opportunity only if it is one at both ends. It is a
warning where the upper end would exceed the memory time, so that the limiter itself is open;
otherwise informational.

## Remedy
Collect the three counters separately:
`smsp__sass_thread_inst_executed_op_{fadd,fmul,ffma}_pred_on.sum`, or the section
`SpeedOfLight_RooflineChart`, which has them.

## False positives
Where nearly everything is fused, as in products, twice the count is a good guess; in elementwise
kernels the count itself may be.

## Sources
*Nsight Compute Profiling Guide*, \"Roofline Charts\" and \"Metrics Reference\"; `SpeedOfLight_RooflineChart`
section of Nsight Compute, which weights the three counters 1, 1 and 2.
",
    thresholds: &[],
    silences: &[],
    check: Check::KernelAlso(State::FasterThanRoofline, check),
};

/// How a pipe's operations were counted, if the interval is that of unweighted multiply-adds: nothing
/// else that is derived from counters has a finite upper bound above itself.
fn unweighted<'a>(analysis: &'a Analysis, work: &Work) -> Option<&'a Origin> {
    let origin = analysis.origin(work.origin?);
    let is_vector = work.pipe.engine() == Engine::Vector && work.operations > Flops::ZERO;
    let is_interval = origin.high > 1.0 && origin.high.is_finite();
    // Bounds in a mapping are those of its author.
    let mut sources = analysis.sources.iter();
    let is_counted = sources.any(|source| source.profiler == Profiler::NsightCompute);
    (is_counted && is_vector && is_interval && origin.kind == OriginKind::Derived).then_some(origin)
}

fn check(subject: &Subject<'_>) -> Judgment {
    let kernel = subject.kernel;
    let known =
        kernel.work.iter().filter_map(|work| Some((work, unweighted(subject.analysis, work)?)));
    let known: Vec<(&Work, &Origin)> = known.collect();
    let Some((main, origin)) =
        known.iter().copied().max_by(|one, two| one.0.time.get().total_cmp(&two.0.time.get()))
    else {
        let has_vector = kernel.work.iter().any(|work| work.pipe.engine() == Engine::Vector);
        let is_known = has_vector || kernel.provenance == Some(OriginKind::Algorithmic);
        return is_known
            .then_some(None)
            .ok_or(Missing("smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"));
    };
    let most: Seconds = known.iter().map(|(work, origin)| work.time * origin.high).sum();
    let memory = kernel.memory_time.unwrap_or(Seconds::ZERO);
    let is_open = most > memory;
    let (least_operations, most_operations) =
        (main.operations * origin.low, main.operations * origin.high);
    let consequence =
        if is_open { "roofline time is an interval" } else { "memory takes longer either way" };
    let message = format!(
        "multiply-adds were counted once, so {} operations are between {:.3e} and {:.3e}: \
         {consequence}",
        main.pipe.label(),
        least_operations.get(),
        most_operations.get()
    );
    let finding = subject
        .info(message)
        .severity(if is_open { Severity::Medium } else { Severity::Info })
        .confidence(Confidence::High)
        .evidence("operations, at least", least_operations.get(), "FLOP")
        .evidence("operations, at most", most_operations.get(), "FLOP")
        .evidence("time of these operations, at most", most.get(), "s")
        .evidence_if("memory time", kernel.memory_time.map(Seconds::get), "s")
        .next("collect …op_fadd…, …op_fmul… and …op_ffma_pred_on.sum separately");
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Pipe, Quantity};
    use crate::rules::engine::bench_launches::{Bench, h100};

    const ID: &str = "unweighted-flop-metric";

    fn counted(bytes: f64, origin: &Origin) -> Bench {
        let values = [(Quantity::DramBytes, bytes), (Quantity::Work(Pipe::Fp32Vector), 10e9)];
        h100().ncu().counted(origin).bare("k", (1000, 256), (1, 1000.0), &values)
    }

    fn interval() -> Origin {
        Origin::derived("…ops_fadd_fmul_ffma_pred_on.sum").within(1.0, 2.0)
    }

    #[test]
    fn an_interval_that_may_outlast_memory_is_a_warning() {
        let found = counted(1e8, &interval()).found(ID);
        assert_eq!(found.severity, Severity::Medium);
        assert!(found.message.contains("between 1.000e10 and 2.000e10"), "{}", found.message);
        // 20 GFLOP at 66.9 TFLOP/s: 299 µs; 100 MB at 3.352 TB/s: 29.8 µs.
        let of = |name: &str| found.evidence.iter().find(|one| one.name == name).unwrap().value;
        assert!((of("time of these operations, at most") - 299e-6).abs() < 1e-6);
        assert!((of("memory time") - 29.8e-6).abs() < 0.1e-6);
    }

    #[test]
    fn below_the_time_of_memory_it_is_something_to_know() {
        let found = counted(2e9, &interval()).found(ID);
        assert_eq!(found.severity, Severity::Info);
        assert!(found.message.ends_with("memory takes longer either way"));
    }

    #[test]
    fn counts_with_their_weights_and_estimates_from_shapes_are_left_alone() {
        let exact = Origin::derived("fadd + fmul + 2 × ffma");
        assert!(counted(1e8, &exact).is_content(ID));
        let idle_lane = Origin::derived("2 lanes × …").within(0.5, 1.0);
        assert!(counted(1e8, &idle_lane).is_content(ID));
        let shapes = Origin::new(OriginKind::Algorithmic, "Params").within(0.8, 1.2);
        assert!(counted(1e8, &shapes).is_content(ID));
        // Bounds that a mapping gives, of a count divided by the launches.
        let values = [(Quantity::Work(Pipe::Fp32Vector), 10e9)];
        let mapped = h100().counted(&interval()).bare("k", (1000, 256), (1, 1000.0), &values);
        assert!(mapped.is_content(ID));
    }

    #[test]
    fn without_a_count_it_cannot_judge() {
        let values = [(Quantity::DramBytes, 1e8)];
        let bare = h100().bare("k", (1000, 256), (1, 1000.0), &values);
        assert_eq!(bare.lacks(ID), ["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"]);
    }
}
