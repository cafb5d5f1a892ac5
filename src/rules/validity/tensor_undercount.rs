//! Tells of kernels that may have done more tensor operations than were counted.

use crate::analysis::{CeilingSet, State, Work};
use crate::model::{Engine, Origin, OriginKind, Pipe, Quantity};
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Severity, Subject, Threshold};
use crate::units::{Flops, Seconds};

pub(super) const RULE: Rule = Rule {
    id: "tensor-undercount",
    summary: "more tensor operations may have run than were counted",
    documentation: "\
## What it finds
Kernels whose tensor operations are only a lower bound: instructions were counted whose shape nobody
knows, or the counters saw clearly less work than kept the tensor pipe busy.

## Why it costs time
It costs none, but FLOP/s, intensity and the share of the roof come out too low, and a kernel near its
roof can look far from it. An instruction of Volta's does 512 operations; one since Turing 2048 at least
and up to 16384, one of a warp group on Hopper far more. Sections of Nsight Compute up to 2022.3 multiply
by 512 on every device: an eighth of the truth for the usual 4096 of an A100.

## How it decides
The operations were modeled from `sm__inst_executed_pipe_tensor.sum` without an upper bound: 2048 each,
the least since Turing; on A100 and H100, where packed halves of CUDA cores are instructions of that pipe
too, without a lower bound either unless they were counted; kernels whose name tells that they multiply no
matrices are left out. Or, with roofs at the measured clock, the tensor pipe was active more than `slower`
times as long as the operations counted need at its peak. It is a warning unless the activity of the pipe
was measured, which then tells the time that the work needs.

## What to try
Collect `regex:sm__ops_path_tensor_.*` (Nsight Compute 2023 and later), or
`sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed`, which tells the time in any version.

## When it is wrong
Instructions of one warp on Hopper reach two thirds of the peak of the pipe, and packed halves on A100 and
H100 run on it too: both keep it busy longer than their operations need. A table whose author multiplied
instructions by 512 himself looks exact here.

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
    1.6,
    "1",
    "warp-level instructions on Hopper take 1.5 times as long as the peak says",
);

/// Activity of the tensor pipe below which a ratio tells nothing.
const ACTIVE: f64 = 0.02;

/// How operations were modeled from instructions of unknown shape, if they were.
fn modeled(work: &Work) -> Option<&Origin> {
    let origin = work.origin.as_ref().filter(|_| work.operations > Flops::ZERO)?;
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
    let modeled = matrix.find_map(modeled).filter(|_| may_multiply);
    let message = if let Some(origin) = modeled {
        if origin.low > 0.0 {
            "its tensor operations are a lower bound: instructions were counted, and their shape is \
             not known"
                .to_owned()
        } else {
            "its tensor operations are not known: instructions were counted, and packed halves of \
             CUDA cores may be among them"
                .to_owned()
        }
    } else if let Some(active) = unseen {
        format!(
            "the tensor pipe is active {:.0}% of the time, the operations counted need {:.0}%: some \
             went uncounted",
            active * 100.0,
            needed * 100.0
        )
    } else {
        return Ok(None);
    };
    let consequence = if active.is_some() {
        "FLOP/s and intensity are too low; the activity of the pipe tells the time"
    } else if kernel.roofline_time_high.is_some_and(|high| high.get().is_finite()) {
        "its distance to the roof is known only between bounds"
    } else {
        "its distance to the roof is not known"
    };
    let severity = if active.is_some() { Severity::Info } else { Severity::Medium };
    let finding = subject
        .info(format!("{message}; {consequence}"))
        .severity(severity)
        .confidence(if modeled.is_some() { Confidence::High } else { Confidence::Medium })
        .evidence("tensor operations, as counted", counted.get(), "FLOP")
        .evidence("share of the time they need", needed, "1")
        .evidence_if("tensor pipe active", active, "1");
    Ok(Some(
        finding.next("collect regex:sm__ops_path_tensor_.* and the activity of the tensor pipe"),
    ))
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
        assert!(
            found.message.ends_with("its distance to the roof is not known"),
            "{}",
            found.message
        );
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
        let found = product(&counters, &[(Quantity::TensorActive, 0.6)]).found(ID);
        assert!(found.message.contains("active 60% of the time"), "{}", found.message);
        assert!(found.message.contains("counted need 30%"), "{}", found.message);
        // 0.303 × 1.6 is 0.485.
        assert!(product(&counters, &[(Quantity::TensorActive, 0.45)]).is_content(ID));
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
