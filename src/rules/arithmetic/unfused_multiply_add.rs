//! Flags kernels on a busy pipe that multiply and add in two instructions where one would do.

use crate::model::{Pipe, Quantity};
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Subject, Threshold};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "unfused-multiply-add",
    summary: "separate additions and multiplications fill a pipe that can do both at once",
    documentation: "\
## What it finds
Kernels whose floating-point pipe is busy with separate additions and multiplications.

## Why it costs time
A fused multiply-add replaces an addition and a multiplication by one instruction. Peaks are
quoted for it: a kernel without any reaches at most half of them.

## Detection
Pairs of one addition and one multiplication exceed `unfused` of all floating-point instructions
of the format, and the pipe is at least `busy`: by its utilization, or by its share of the roof
(which counts two operations per instruction) over one minus the pairs' share. FP32 and FP64 are
judged separately; the one with more savings is reported.

## Remedy
Let the compiler fuse (`-fmad=true`, the default; `-ffp-contract=fast`); rewrite a·b + a·c as a·(b
+ c), polynomials by Horner's rule; use `fma()` where the order of operations matters.

## False positives
Sums without products cannot be fused, nor code whose results must match other processors bit by
bit.

## Sources
`FPInstructions.py` of Nsight Compute; C. Yang et al., *8 Steps to 3.7 TFLOP/s on NVIDIA V100 GPU*,
arXiv 2008.11326; *CUDA C++ Best Practices Guide*, \"Arithmetic Instructions\".
",
    thresholds: &[UNFUSED, USED],
    silences: &["pipe-saturated", "instruction-bound"],
    check: Check::Kernel(check),
};

const UNFUSED: Threshold =
    Threshold::new("unfused", 0.10, "1", "Nsight Compute's rule fires from here");

const USED: Threshold =
    Threshold::new("busy", 0.50, "1", "on an idle pipe, fewer instructions save little time");

/// A format with its pipe, what shows how much of it is not fused, and its instructions.
const FORMATS: [(&str, Quantity, Quantity, Pipe, &str); 2] = [
    ("FP32", Quantity::UnfusedShareFp32, Quantity::PipeFma, Pipe::Fp32Vector, "FADD and FMUL"),
    ("FP64", Quantity::UnfusedShareFp64, Quantity::PipeFp64, Pipe::Fp64Vector, "DADD and DMUL"),
];

fn check(subject: &Subject<'_>) -> Judgment {
    let mut known = false;
    let mut best: Option<crate::rules::Finding> = None;
    for (format, share, pipe, work, instructions_of) in FORMATS {
        let Some(unfused) = subject.get(share) else { continue };
        known = true;
        if unfused <= subject.threshold(&UNFUSED) {
            continue;
        }
        // The roof counts two operations an instruction, of which those that are not fused have one.
        let instructions = subject.roof_of(work).map(|roof| (roof / (1.0 - unfused)).min(1.0));
        let measured = subject.get(pipe);
        let used = measured.into_iter().chain(instructions).reduce(f64::max);
        let used =
            used.ok_or(Missing("sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed"))?;
        if used < subject.threshold(&USED) {
            continue;
        }
        let stake = subject
            .next_pipe(pipe, 1.0 - unfused)
            .unwrap_or_else(|_| subject.share(unfused * used, "less-work"));
        let message = format!(
            "fusing {format} additions with multiplications would save {} of their \
             instructions; the pipe is {} busy",
            whole_percent(unfused),
            whole_percent(used)
        );
        let finding = subject
            .finding(message, stake)
            .confidence(Confidence::Medium)
            .evidence(format!("{format} instructions saved by fusing"), unfused, "1")
            .evidence(format!("{format} pipe utilization"), used, "1")
            .next(format!("look for consecutive {instructions_of} in the SASS of the hot loop"));
        if best.as_ref().is_none_or(|best| finding.at_stake_s > best.at_stake_s) {
            best = Some(finding);
        }
    }
    if known {
        Ok(best)
    } else {
        Err(Missing("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum and …fmul…, …ffma…"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_table::{Bench, kernel};

    fn busy(unfused: f64, used: f64) -> Bench {
        let kernel = kernel("my_kernel", 1000.0).work(Pipe::Fp32Vector, 20e9).bytes(1e8);
        kernel
            .set(Quantity::UnfusedShareFp32, unfused)
            .set(Quantity::PipeFma, used)
            .set(Quantity::DramThroughput, 0.1)
    }

    #[test]
    fn separate_instructions_on_a_busy_pipe_are_found() {
        let found = busy(0.21, 0.9).found(&RULE);
        assert!((found.at_stake_s - 210e-6).abs() < 1e-9, "{}", found.at_stake_s);
    }

    #[test]
    fn fused_code_and_an_idle_pipe_are_left_alone() {
        assert!(busy(0.05, 0.9).is_fine(&RULE));
        assert!(busy(0.40, 0.4).is_fine(&RULE));
    }

    #[test]
    fn without_counts_it_cannot_judge() {
        assert!(kernel("my_kernel", 1000.0).bytes(1e8).lacks(&RULE).contains("fadd"));
    }
}
