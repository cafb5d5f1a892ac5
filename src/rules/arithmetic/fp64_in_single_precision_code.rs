//! Flags single-precision kernels in which a few FP64 operations keep the FP64 pipe busy.

use crate::model::{Pipe, Precision, Quantity};
use crate::roofline;
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Subject, Threshold};
use crate::units::{Flops, Seconds, percent, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "fp64-in-single-precision-code",
    summary: "a few FP64 operations slow down single-precision code",
    documentation: "\
## What it finds
Kernels that compute mostly in FP32 or narrower, yet keep the FP64 pipe busy.

## Why it costs time
FP64 runs at half the rate of FP32 at best, and at 1/32 or 1/64 on devices not built for it. A
constant without the suffix `f` turns an expression into FP64 and converts its operands as well.

## Detection
FP64 operations were counted, they are at most `share` of all FLOPs, and the FP64 pipe is busy at
least `busy` of the time, by its utilization or by the time its operations need.

## Remedy
Write constants as `1.0f`; use `sinf`, `expf`, `powf` instead of `sin`, `exp`, `pow`; look for
`F2F.F64.F32` and `DFMA` in the SASS.

## False positives
Intended mixed precision, such as sums and corrections in FP64.

## Sources
`FPInstructions` and `SpeedOfLight_Roofline` rules of Nsight Compute (FP64 above 15% of its roof while
FP32 stays below 60%); *CUDA C++ Best Practices Guide*, \"Arithmetic Instructions\".
",
    thresholds: &[SHARE, BUSY],
    silences: &["pipe-saturated", "unfused-multiply-add"],
    check: Check::Kernel(check),
};

const SHARE: Threshold =
    Threshold::new("share", 0.10, "1", "above this, FP64 is the intended format of the code");

const BUSY: Threshold = Threshold::new(
    "busy",
    0.15,
    "1",
    "share of the FP64 roof at which Nsight Compute's rule fires",
);

fn check(subject: &Subject<'_>) -> Judgment {
    const METRIC: &str = "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum and …dadd…, …dmul…";
    let kernel = subject.kernel;
    if !kernel.work.iter().any(|work| work.pipe == Pipe::Fp64Vector) {
        return Err(Missing(METRIC));
    }
    let fp64 = subject.operations(|pipe| pipe == Pipe::Fp64Vector);
    let share = subject.share_of_flops(|pipe| pipe.precision() == Precision::Fp64).unwrap_or(0.0);
    if fp64 <= Flops::ZERO || share > subject.threshold(&SHARE) {
        return Ok(None);
    }
    let measured = subject.get(Quantity::PipeFp64);
    let used = measured.into_iter().chain(subject.roof_of(Pipe::Fp64Vector)).reduce(f64::max);
    let used =
        used.ok_or(Missing("sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_elapsed"))?;
    if used < subject.threshold(&BUSY) {
        return Ok(None);
    }
    // Without FP64 the rest is left: its math, and memory.
    let math = kernel.work.iter().filter(|work| work.pipe.precision() != Precision::Fp64);
    let math = math.map(|work| work.time).fold(Seconds::ZERO, Seconds::max);
    let left = roofline::roofline_time(kernel.memory_time.unwrap_or(Seconds::ZERO), math);
    let stake = subject
        .next_pipe(Quantity::PipeFp64, 0.0)
        .unwrap_or_else(|_| subject.share(used, "less-work"));
    let message = format!(
        "only {} of the FLOPs are FP64, but they keep the FP64 pipe busy {} of the time",
        percent(share),
        whole_percent(used)
    );
    let finding = subject
        .finding_against(message, stake, left)
        .confidence(Confidence::Medium)
        .evidence("FP64 operations", fp64.get(), "FLOP")
        .evidence("FP64 share of the FLOPs", share, "1")
        .evidence_if("FP64 pipe utilization", measured, "1")
        .evidence_if("share of the FP64 roof", subject.roof_of(Pipe::Fp64Vector), "1")
        .next("search the source for constants without the f suffix and for FP64 functions");
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_table::{Bench, kernel};

    fn mixed(fp64: f64) -> Bench {
        let device = "NVIDIA GeForce RTX 3090";
        let kernel = kernel("my_kernel", 1000.0).on(device).bytes(1e8);
        kernel.work(Pipe::Fp32Vector, 5e9).work(Pipe::Fp64Vector, fp64)
    }

    #[test]
    fn a_few_fp64_operations_are_found() {
        let found =
            mixed(0.4e9).set(Quantity::PipeFp64, 0.8).set(Quantity::PipeFma, 0.2).found(&RULE);
        // The FMA pipe would bind at a quarter of the time.
        assert!((found.at_stake_s - 750e-6).abs() < 1e-9, "{}", found.at_stake_s);
    }

    #[test]
    fn fp64_code_and_an_idle_pipe_are_left_alone() {
        assert!(mixed(0.6e9).set(Quantity::PipeFp64, 0.9).is_fine(&RULE));
        assert!(mixed(0.0).set(Quantity::PipeFp64, 0.9).is_fine(&RULE));
        assert!(mixed(1e6).set(Quantity::PipeFp64, 0.1).is_fine(&RULE));
    }

    #[test]
    fn without_counts_it_cannot_judge() {
        let bare = kernel("my_kernel", 1000.0).work(Pipe::Fp32Vector, 5e9).bytes(1e8);
        assert!(bare.lacks(&RULE).contains("dfma"));
    }
}
