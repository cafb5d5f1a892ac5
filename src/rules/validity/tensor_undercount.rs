//! Tells of kernels that may have done more tensor operations than were counted.

use crate::analysis::{Analysis, CeilingSet, State, Work};
use crate::model::{Engine, Origin, OriginKind, Pipe, Quantity};
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Severity, Subject, Threshold};
use crate::units::{Flops, Seconds, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "tensor-undercount",
    summary: "tensor operations are only a lower bound",
    documentation: "\
## What it finds
Kernels whose tensor operations are a lower bound: instructions of unknown shape were counted, or
the counters saw clearly less work than kept the tensor pipe busy.

## Why it costs time
No time is lost, but FLOP/s, intensity and the share of the roof are too low, and a kernel near
its roofline can look far from it. A Volta instruction does 512 operations; one since Turing 2048
to 16384; a Hopper warp-group instruction far more. Sections of Nsight Compute up to 2022.3
multiply by 512 on every device: an eighth of the truth for the usual 4096 on A100.

## Detection
The operations were modeled from `sm__inst_executed_pipe_tensor.sum` without an upper bound: 2048
each, the minimum since Turing. On A100 and H100, where packed halves on CUDA cores use that pipe
too, there is no lower bound either unless they were counted; kernels whose name shows no matrix
product are exempt. Or, with roofs at the measured clock, the tensor pipe was active more than
`slower` times as long as the counted operations need at its peak. It is a warning unless the
pipe's activity was measured, which then gives the time of the work.

## Remedy
Collect `regex:sm__ops_path_tensor_.*` (Nsight Compute 2023 and later), or
`sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed`, which gives the time in any
version.

## False positives
Warp-level instructions on Hopper reach two thirds of the pipe's peak, and packed halves on A100
and H100 run on it too: both keep it busy longer than their operations need. A table whose author
multiplied instructions by 512 looks exact here.

## Sources
*Nsight Compute Profiling Guide*, \"Metrics Reference\"; NVIDIA developer forum, \"How to measure FLOPs of
tensor cores\" (4096 operations per instruction on A100); *PTX ISA*, \"Matrix shape\" of `mma` and `wgmma`.
",
    thresholds: &[SLOWER],
    silences: &[],
    check: Check::KernelAlso(State::FasterThanRoofline, check),
};

const SLOWER: Threshold = Threshold::new(
    "slower",
    2.2,
    "1",
    "warp-level instructions on Hopper take 1.5 to 2 times as long as the peak suggests",
);

/// Activity of the tensor pipe below which a ratio is not meaningful.
const ACTIVE: f64 = 0.02;

/// How operations were modeled from instructions of unknown shape, if they were.
fn modeled<'a>(analysis: &'a Analysis, work: &Work) -> Option<&'a Origin> {
    let origin = analysis.origin(work.origin.filter(|_| work.operations > Flops::ZERO)?);
    (origin.kind == OriginKind::Modeled && origin.high.is_infinite()).then_some(origin)
}

fn check(subject: &Subject<'_>) -> Judgment {
    let kernel = subject.kernel;
    let is_matrix = |pipe: Pipe| pipe.engine() == Engine::Matrix;
    let mut matrix = kernel.work.iter().filter(|work| is_matrix(work.pipe)).peekable();
    if matrix.peek().is_none() {
        if kernel.provenance == Some(OriginKind::Algorithmic) {
            return Ok(None);
        }
        let uses = match subject.uses_tensor_cores() {
            // Nothing says that it multiplies matrices.
            Err(_) if !subject.class().is_product() => false,
            known => known?,
        };
        return if uses { Err(Missing("sm__ops_path_tensor_*.sum")) } else { Ok(None) };
    }
    let counted = subject.operations(is_matrix);
    let active = subject.get(Quantity::TensorActive);
    let needed: Seconds = matrix.clone().map(|work| work.time).sum();
    let needed = if kernel.modeled > Seconds::ZERO { needed / kernel.modeled } else { 0.0 };
    let is_comparable = subject.analysis.ceilings == CeilingSet::MeasuredClock;
    let unseen = active.filter(|active| {
        let is_more = *active > needed * subject.threshold(&SLOWER);
        is_comparable && *active >= ACTIVE && counted > Flops::ZERO && is_more
    });
    // What packed halves leave in the count of another kernel is no product.
    let may_multiply = subject.class().is_product() || subject.class().kind.is_none();
    let modeled = matrix.find_map(|work| modeled(subject.analysis, work)).filter(|_| may_multiply);
    let message = if let Some(origin) = modeled {
        if origin.low > 0.0 {
            "tensor operations are a lower bound: only instructions of unknown shape were counted"
                .to_owned()
        } else {
            "tensor operations are unknown: the instruction count may include packed halves on \
             CUDA cores"
                .to_owned()
        }
    } else if let Some(active) = unseen {
        format!(
            "the tensor pipe is active {} of the time, but the counted operations need only \
             {}: some are uncounted",
            whole_percent(active),
            whole_percent(needed)
        )
    } else {
        return Ok(None);
    };
    let consequence = if active.is_some() {
        "FLOP/s and intensity are too low; pipe activity gives the time"
    } else if kernel.headroom() != kernel.headroom_low()
        && kernel.roofline_time_high.is_some_and(|high| high.get().is_finite())
    {
        "its headroom is an interval"
    } else if kernel.headroom() == kernel.headroom_low() {
        "FLOP/s and intensity are too low"
    } else {
        "its headroom is unknown"
    };
    let severity = if active.is_some() { Severity::Info } else { Severity::Medium };
    let finding = subject
        .info(format!("{message}; {consequence}"))
        .severity(severity)
        .confidence(if modeled.is_some() { Confidence::High } else { Confidence::Medium })
        .evidence("counted tensor operations", counted.get(), "FLOP")
        .evidence("share of the time that they need", needed, "1")
        .evidence_if("tensor pipe active", active, "1");
    Ok(Some(finding.next("collect regex:sm__ops_path_tensor_.* and the tensor-pipe activity")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_launches::{Bench, h100};

    const ID: &str = "tensor-undercount";

    /// 30 TFLOP at 989 TFLOP/s of an H100 need 30.3 of 100 ms.
    fn product(origin: &Origin, more: &[(Quantity, f64)]) -> Bench {
        let mut values = vec![
            (Quantity::DramBytes, 1e9),
            (Quantity::SmClock, 1.83e9),
            (Quantity::Peak(Pipe::Fp16Matrix), 989e12),
            (Quantity::Work(Pipe::Fp16Matrix), 30e12),
        ];
        values.extend_from_slice(more);
        let name = "sm90_xmma_gemm_f16f16_f16f32_f32_tn_n";
        h100().counted(origin).bare(name, (1000, 256), (1, 1e5), &values)
    }

    fn instructions() -> Origin {
        let formula = "at least 2048× sm__inst_executed_pipe_tensor.sum";
        Origin::new(OriginKind::Modeled, formula).within(1.0, f64::INFINITY)
    }

    #[test]
    fn instructions_of_unknown_shape_are_a_warning() {
        let found = product(&instructions(), &[]).found(ID);
        assert_eq!((found.severity, found.confidence), (Severity::Medium, Confidence::High));
        assert!(found.message.ends_with("its headroom is unknown"), "{}", found.message);
        let timed = product(&instructions(), &[(Quantity::TensorActive, 0.3)]).found(ID);
        assert_eq!(timed.severity, Severity::Info);
        assert!(timed.message.contains("a lower bound"), "{}", timed.message);
        // On A100 and H100, packed halves are instructions of that pipe too.
        let unknown = instructions().within(0.0, f64::INFINITY);
        let found = product(&unknown, &[]).found(ID);
        assert!(found.message.contains("packed halves"), "{}", found.message);
    }

    #[test]
    fn a_pipe_busier_than_its_counts_saw_more_work() {
        let counters = Origin::measured("sm__ops_path_tensor_*");
        let found = product(&counters, &[(Quantity::TensorActive, 0.8)]).found(ID);
        assert!(found.message.contains("active 80% of the time"), "{}", found.message);
        assert!(found.message.contains("operations need only 30%"), "{}", found.message);
        // 0.303 × 2.2 is 0.667: products of 16 × 8 × 8 keep the pipe twice as long.
        assert!(product(&counters, &[(Quantity::TensorActive, 0.61)]).is_content(ID));
    }

    #[test]
    fn counts_that_agree_and_kernels_without_products_are_left_alone() {
        let counters = Origin::measured("sm__ops_path_tensor_*");
        assert!(product(&counters, &[]).is_content(ID));
        assert!(h100().launch("reduce_kernel", (1000, 256), (1, 1000.0), &[]).is_content(ID));
        let values = [(Quantity::DramBytes, 1e9), (Quantity::Work(Pipe::Fp16Matrix), 1e9)];
        let reduction = h100().counted(&instructions());
        let reduction = reduction.bare("splitKreduce_kernel", (1000, 256), (1, 1e4), &values);
        assert!(reduction.is_content(ID));
    }

    #[test]
    fn a_product_of_which_nothing_was_counted_cannot_be_judged() {
        let name = "sm90_xmma_gemm_f16f16_f16f32_f32_tn_n";
        let bare = h100().launch(name, (1000, 256), (1, 1000.0), &[(Quantity::TensorActive, 0.4)]);
        assert_eq!(bare.lacks(ID), ["sm__ops_path_tensor_*.sum"]);
    }
}
