//! Flags kernels whose integer arithmetic, usually addresses, fills the pipes.

use crate::model::Quantity;
use crate::rules::{Check, Confidence, Judgment, Rule, Stake, Subject, Threshold, Unit};
use crate::taxonomy::Kind;
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "integer-address-overhead",
    summary: "integer instructions, usually addresses, bind the kernel",
    documentation: "\
## What it finds
Kernels in which most instructions are integer ones, and the pipe that executes them is the busiest unit.

## Why it costs time
Indices are computed for each access of each thread. Divisions and remainders by numbers not known to the
compiler take some twenty instructions each, 64-bit indices twice as many as 32-bit ones.

## How it decides
Integer instructions are at least `share` of all, the ALU pipe (or the FMA pipe, which multiplies integers) is
the busiest unit and at least `busy`, and the kernel reaches less than `math` of its math roof.

## What to try
32-bit indices; loops with constant strides; offsets computed once outside the loop; template parameters for
sizes; multiplication by a precomputed inverse instead of division (`FastDivmod` of CUTLASS).

## When it is wrong
Hashing, compression and unpacking of quantized weights are integer work by nature. So are sorting and
random numbers (Philox), which are left alone where the name tells.

## Sources
*CUDA C++ Best Practices Guide*, \"Division Modulo Operations\", \"Loop Counters Signed vs. Unsigned\"; ROCm
Compute Profiler documentation, \"VALU\".
",
    thresholds: &[SHARE, USED, MATH],
    silences: &["pipe-saturated", "instruction-bound"],
    check: Check::Kernel(check),
};

const SHARE: Threshold = Threshold::new(
    "share",
    0.50,
    "1",
    "most of the instructions; element-wise kernels have 20 to 40%",
);

const USED: Threshold = Threshold::new("busy", 0.50, "1", "below, latency is the likelier cause");

const MATH: Threshold =
    Threshold::new("math", 0.30, "1", "beyond, the kernel computes and the integers accompany it");

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
        "{:.0}% of its instructions are integer ones, and the {name} pipe is {:.0}% busy with them",
        integers * 100.0,
        used * 100.0
    );
    // How many of the integers can go is not known.
    let stake = Stake { low: Seconds::ZERO, ..subject.next_pipe(pipe, LEFT)? };
    let finding = subject
        .finding(message, stake)
        .confidence(Confidence::Low)
        .evidence("integer share of the instructions", integers, "1")
        .evidence(format!("utilization of the {name} pipe"), used, "1")
        .evidence_if("share of the math roof", math, "1")
        .next("look at the SASS of the hot loop for IMAD, LEA and SHF, and move them out of it");
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
