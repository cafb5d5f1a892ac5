//! Flags kernels whose integer arithmetic, usually addresses, fills the pipes.

use crate::model::Quantity;
use crate::rules::{Check, Confidence, Judgment, Rule, Stake, Subject, Threshold, Unit};
use crate::taxonomy::Kind;
use crate::units::{Seconds, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "integer-address-overhead",
    summary: "integer instructions, usually address arithmetic, limit the kernel",
    documentation: "\
## What it finds
Kernels in which most instructions are integer and the pipe that executes them is the busiest
unit.

## Why it costs time
Indices are computed for each access of each thread. Division and remainder by values unknown to
the compiler take some twenty instructions each; 64-bit indices take twice as many as 32-bit ones.

## Detection
Integer instructions are at least `share` of all, the ALU pipe (or the FMA pipe, which multiplies
integers) is the busiest unit and at least `busy`, and the kernel reaches less than `math` of its
compute roof.

## Remedy
Use 32-bit indices; loops with constant strides; offsets hoisted out of the loop; template
parameters for sizes; multiplication by a precomputed inverse instead of division (CUTLASS
`FastDivmod`).

## False positives
Hashing, compression and unpacking of quantized weights are integer work by nature. So are sorting
and random numbers (Philox), which are exempt where the name shows it.

## Sources
*CUDA C++ Best Practices Guide*, \"Division Modulo Operations\", \"Loop Counters Signed vs. Unsigned\"; ROCm
Compute Profiler documentation, \"VALU\".
",
    thresholds: &[SHARE, USED, MATH],
    silences: &["pipe-saturated", "instruction-bound"],
    check: Check::Kernel(check),
};

const SHARE: Threshold =
    Threshold::new("share", 0.50, "1", "most of the instructions; elementwise kernels have 20–40%");

const USED: Threshold =
    Threshold::new("busy", 0.50, "1", "below this, latency is the more likely cause");

const MATH: Threshold = Threshold::new(
    "math",
    0.30,
    "1",
    "above this, the kernel is compute-bound and integer work is secondary",
);

/// Share of its work that the pipe is taken to keep.
const LEFT: f64 = 0.5;

fn check(subject: &Subject<'_>) -> Judgment {
    let metric = "smsp__sass_thread_inst_executed_op_integer_pred_on.sum";
    let integers = subject.need(Quantity::IntegerInstructionShare, metric)?;
    let alu = subject.pipe_used(Quantity::PipeAlu)?;
    let fma = subject.get(Quantity::PipeFma).unwrap_or(0.0);
    let (pipe, name, used) =
        if fma > alu { (Quantity::PipeFma, "FMA", fma) } else { (Quantity::PipeAlu, "ALU", alu) };
    let by_nature = [Kind::Random, Kind::Dropout, Kind::Sort];
    if subject.class().kind.is_some_and(|kind| by_nature.contains(&kind)) {
        return Ok(None);
    }
    let memory =
        [Unit::L1, Unit::L2, Unit::Dram].map(|unit| subject.utilization(unit).unwrap_or(0.0));
    let others = memory.into_iter().fold(0.0, f64::max);
    let pipes = subject.busiest_pipe().map_or(0.0, |(_, used)| used);
    let kernel = subject.kernel;
    let is_timed = kernel.modeled > Seconds::ZERO;
    let math = kernel.math_time.filter(|_| is_timed).map(|math| math / kernel.modeled);
    if integers < subject.threshold(&SHARE)
        || used < subject.threshold(&USED)
        || used < others.max(pipes)
        || math.is_some_and(|math| math >= subject.threshold(&MATH))
    {
        return Ok(None);
    }
    let message = format!(
        "{} of the instructions are integer, and they keep the {name} pipe {} busy",
        whole_percent(integers),
        whole_percent(used)
    );
    // How many of the integers can go is not known.
    let stake = Stake { low: Seconds::ZERO, ..subject.next_pipe(pipe, LEFT)? };
    let finding = subject
        .finding(message, stake)
        .confidence(Confidence::Low)
        .evidence("integer share of the instructions", integers, "1")
        .evidence(format!("{name} pipe utilization"), used, "1")
        .evidence_if("share of the compute roof", math, "1")
        .next("find IMAD, LEA and SHF in the SASS of the hot loop, and hoist them out of it");
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Pipe;
    use crate::rules::engine::bench_table::{Bench, kernel};

    fn indexing(integers: f64, alu: f64) -> Bench {
        let kernel = kernel("my_kernel", 1000.0).work(Pipe::Fp32Vector, 1e9).bytes(1e8);
        let kernel = kernel.set(Quantity::IntegerInstructionShare, integers);
        kernel.set(Quantity::PipeAlu, alu).set(Quantity::DramThroughput, 0.6)
    }

    #[test]
    fn a_pipe_full_of_integers_is_found() {
        let found = indexing(0.6, 0.8).found(&RULE);
        // Device memory binds at three quarters of the time.
        assert!((found.at_stake_s - 250e-6).abs() < 1e-9, "{}", found.at_stake_s);
        assert_eq!(found.at_stake_low_s, 0.0);
    }

    #[test]
    fn few_integers_and_busier_units_are_left_alone() {
        assert!(indexing(0.3, 0.8).is_fine(&RULE));
        assert!(indexing(0.6, 0.55).is_fine(&RULE));
        assert!(indexing(0.6, 0.8).set(Quantity::PipeLsu, 0.9).is_fine(&RULE));
    }

    #[test]
    fn without_counts_it_cannot_judge() {
        assert!(kernel("my_kernel", 1000.0).bytes(1e8).lacks(&RULE).contains("op_integer"));
    }
}
