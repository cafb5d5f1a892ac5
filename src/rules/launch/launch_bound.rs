//! Flags kernels that take little longer than any launch does.

use crate::analysis::State;
use crate::rules::{Check, Confidence, Judgment, Rule, Stake, Subject};
use crate::units::si;

pub(super) const RULE: Rule = Rule {
    id: "launch-bound",
    summary: "launching the kernel costs more than its work",
    documentation: "\
## What it finds
Kernels so short that most of their time is the fixed cost of a launch: setup, filling and
draining the device.

## Why it costs time
A launch occupies the device for 1.5 to 2 µs even if the kernel does nothing. Many such kernels in
a row keep the device occupied without giving it work. Often the host cannot launch them fast
enough either, and the gaps come on top.

## Detection
The roofline time is below the fixed cost of a launch (2.0 µs in Nsight Compute, 1.5 µs in
timelines), and the launch took less than 2.5 times that cost. Savings: at most everything above
the roofline time; at least half of the fixed cost, as if launches were merged in pairs. Gaps
between launches are not in the profile and not counted.

## Remedy
Fuse the kernel with its neighbors (`torch.compile`, Triton, matrix-product epilogues); process
several tensors per launch (`foreach` operators); use larger batches. CUDA or HIP graphs shorten the
gaps between launches, not the kernels.

## False positives
With Nsight Compute's locked base clock, kernels take longer than in production. Timers with
microsecond resolution cannot tell such kernels apart.

## Sources
NVIDIA technical blog, \"Getting Started with CUDA Graphs\"; NVIDIA, *GPU Performance Background*; *CUDA
C++ Best Practices Guide*, \"Concurrent Kernel Execution\"; HIP documentation, \"Graphs\".
",
    thresholds: &[],
    silences: &[],
    check: Check::KernelAlso(State::LaunchBound, check),
};

fn check(subject: &Subject<'_>) -> Judgment {
    let kernel = subject.kernel;
    if kernel.state != State::LaunchBound {
        return Ok(None);
    }
    let (launches, fixed) = (kernel.timed.max(1) as f64, subject.analysis.fixed_cost);
    let above = kernel.savings_high;
    let stake =
        Stake { low: above.min(fixed * (launches / 2.0)), high: above, estimator: "launch" };
    let expected = kernel.roofline_time.map(|expected| expected / launches);
    let each = if kernel.launches == 1 { "" } else { " each" };
    let mean = subject.mean();
    let cost = if mean < fixed {
        format!("less than the fixed launch cost of {}", si(fixed, "s"))
    } else {
        format!("of which about {} is fixed launch cost", si(fixed, "s"))
    };
    let message = format!("{}{each}, {cost}", si(mean, "s"));
    let finding = subject
        .finding(message, stake)
        .confidence(Confidence::High)
        .evidence("launches", launches, "1")
        .evidence("time per launch", subject.mean().get(), "s")
        .evidence_if("roofline time per launch", expected.map(crate::units::Seconds::get), "s")
        .evidence("fixed cost per launch", fixed.get(), "s")
        .next("fuse it with a neighboring kernel, or process several tensors per launch");
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use crate::model::{Pipe, Quantity};
    use crate::rules::engine::bench_launches::h100;

    const TINY: &[(Quantity, f64)] =
        &[(Quantity::DramBytes, 1e6), (Quantity::Work(Pipe::Fp32Vector), 1e6)];

    #[test]
    fn fires_on_kernels_of_a_few_microseconds() {
        let bench = h100().launch("add", (256, 256), (1000, 3.0), TINY);
        let found = bench.found("launch-bound");
        assert_eq!(found.message, "3.00 µs each, of which about 1.50 µs is fixed launch cost");
        assert!(found.at_stake_low_s < found.at_stake_s);
        assert!((found.at_stake_low_s - 1000.0 * 0.75e-6).abs() < 1e-9);
    }

    #[test]
    fn a_part_is_no_more_than_the_whole() {
        let found = h100().launch("add", (256, 256), (1000, 0.5), TINY).found("launch-bound");
        assert_eq!(found.message, "500 ns each, less than the fixed launch cost of 1.50 µs");
    }

    #[test]
    fn stays_quiet_on_longer_ones() {
        assert!(h100().launch("add", (256, 256), (9, 100.0), &[]).is_content("launch-bound"));
    }
}
