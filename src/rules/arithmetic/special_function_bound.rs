//! Flags kernels that the pipe of special functions and conversions binds.

use crate::model::{Pipe, Quantity};
use crate::roofline::BUSY;
use crate::rules::{Check, Confidence, Judgment, Rule, Subject, Threshold};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "special-function-bound",
    summary: "special functions or conversions limit the kernel",
    documentation: "\
## What it finds
Kernels that keep the XU pipe busy: exponentials, logarithms, reciprocals, roots, sines, and
conversions between integer and floating point.

## Why it costs time
The XU pipe gives 16 results per cycle per SM, a quarter to an eighth of FP32. Softmax, with one
exponential per element, is the usual case.

## Detection
The XU pipe is at least `busy`.

## Remedy
Use fast intrinsics (`__expf`, `exp2f` with the factor folded in); compute part of the
exponentials with a polynomial on the FMA pipe, as FlashAttention-4 does; reduce their number
(online softmax in blocks); hoist conversions out of the loop.

## False positives
Polynomials need six to ten multiply-adds each: where the FMA pipe is busy too, nothing is saved.

## Sources
*CUDA C++ Programming Guide*, \"Arithmetic Instructions\"; *Nsight Compute Profiling Guide*, \"Pipelines\"; the
60% of its `HighPipeUtilization.py`.
",
    thresholds: &[USED],
    silences: &["pipe-saturated", "warp-stalls", "low-issue-utilization", "instruction-bound"],
    check: Check::Kernel(check),
};

const USED: Threshold =
    Threshold::new("busy", BUSY, "1", "Nsight Compute calls a pipe well utilized from here");

/// Share of its work that the pipe is taken to keep.
const LEFT: f64 = 0.5;

/// Share of the FLOPs from which FP64 may be what is converted.
const NOTABLE: f64 = 0.05;

/// Share of the time below which counted floating-point operations are none of what keeps the pipe busy.
const NO_ARITHMETIC: f64 = 0.02;

fn check(subject: &Subject<'_>) -> Judgment {
    let used = subject.pipe_used(Quantity::PipeXu)?;
    if used < subject.threshold(&USED) {
        return Ok(None);
    }
    let fp64 = subject.operations(|pipe| pipe == Pipe::Fp64Vector).get();
    let fp64_share = subject.share_of_flops(|pipe| pipe == Pipe::Fp64Vector).unwrap_or(0.0);
    let stake = subject.next_pipe(Quantity::PipeXu, LEFT)?;
    let message =
        format!("the XU pipe (special functions and conversions) is {} busy", whole_percent(used));
    let finding = subject
        .finding(message, stake)
        .confidence(Confidence::Medium)
        .evidence("XU pipe utilization", used, "1")
        .evidence_if("FMA pipe utilization", subject.get(Quantity::PipeFma), "1")
        .evidence_if(
            "stalls on shared memory and special functions",
            subject.get(Quantity::StallShortScoreboard),
            "1",
        )
        .evidence_if("FP64 operations", (fp64 > 0.0).then_some(fp64), "FLOP");
    let counted = subject.kernel.math_time.filter(|_| subject.is_counted());
    let is_whole_numbers =
        counted.is_some_and(|math| math < subject.kernel.modeled * NO_ARITHMETIC);
    Ok(Some(finding.next(if fp64_share >= NOTABLE {
        "look for conversions between FP64 and FP32 (F2F), which run on this pipe: constants without \
         the f suffix and FP64 functions bring them into FP32 code"
    } else if is_whole_numbers {
        "look for integer divisions and conversions between types, which run on this pipe: divide \
         by constants or powers of two"
    } else {
        "count MUFU and F2F/I2F in the SASS of the hot loop, and replace half of them"
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_table::{Bench, kernel};

    fn softmax(xu: f64, fma: f64) -> Bench {
        let kernel = kernel("softmax_kernel", 1000.0).bytes(1e8);
        kernel.set(Quantity::PipeXu, xu).set(Quantity::PipeFma, fma)
    }

    #[test]
    fn a_busy_pipe_is_found_and_the_next_one_bounds_what_is_won() {
        let found = softmax(0.8, 0.3).found(&RULE);
        assert!((found.at_stake_s - 500e-6).abs() < 1e-9, "{}", found.at_stake_s);
        let found = softmax(0.8, 0.6).found(&RULE);
        assert!((found.at_stake_s - 250e-6).abs() < 1e-9, "{}", found.at_stake_s);
    }

    #[test]
    fn an_idle_pipe_is_left_alone() {
        assert!(softmax(0.5, 0.1).is_fine(&RULE));
    }

    #[test]
    fn without_utilization_it_cannot_judge() {
        assert!(kernel("softmax_kernel", 1000.0).bytes(1e8).lacks(&RULE).contains("pipe_xu"));
    }
}
