//! Flags runs that spend their time on many launches of a few microseconds.

use crate::rules::engine::shares::Together;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Threshold};
use crate::units::si;

pub(super) const RULE: Rule = Rule {
    id: "many-tiny-launches",
    summary: "many launches of a few microseconds each",
    documentation: "\
## What it finds
Kernels launched again and again for a few microseconds each that together take a notable part of
the run.

## Why it costs time
Each launch has a fixed cost, fills the device and drains it again; small grids leave most of it
idle. Gaps while the device waits for the host come on top: in traces `host-bound` reports them.

## Detection
Kernels with at least `launches` launches of less than `time` on average together take `share` of
the run or more. Savings: at most everything above their roofline time, at least the fixed cost of
each launch. Launches without a roofline time count with their fixed cost. Communication is left
out, and so is a run of one kernel: a profile of that kernel, not of a program.

## Remedy
Process several tensors per launch (`foreach` operators, grouped products, batching); fuse
neighboring kernels (`torch.compile`, Triton); use CUDA or HIP graphs to shorten the gaps.

## False positives
Launches that run concurrently on several streams share the device already. Averages can hide a
few long launches among many short ones.

## Sources
*CUDA C++ Best Practices Guide*, \"Concurrent Kernel Execution\"; PyTorch documentation, \"CUDA Graphs\";
NVIDIA technical blog, \"Getting Started with CUDA Graphs\".
",
    thresholds: &[LAUNCHES, TIME, SHARE],
    silences: &[],
    check: Check::Run(check),
};

const LAUNCHES: Threshold =
    Threshold::new("launches", 20.0, "1", "a few short launches are not a pattern");

const TIME: Threshold = Threshold::new("time", 10e-6, "s", "five times the fixed launch cost");

const SHARE: Threshold =
    Threshold::new("share", 0.02, "1", "smaller savings are not worth a change");

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let (launches, time) = (run.threshold(&LAUNCHES), run.threshold(&TIME));
    let tiny = Together::of(run, |kernel| {
        kernel.launches as f64 >= launches
            && kernel.mean().get() > 0.0
            && kernel.mean().get() < time
            && !kernel.class.crosses_link()
    })?;
    if tiny.share < run.threshold(&SHARE) || run.analysis.kernels.len() == 1 {
        return Ok(Vec::new());
    }
    let (mut high, mut low) = (0.0, 0.0);
    for kernel in &tiny.kernels {
        let fixed = (run.analysis.fixed_cost * kernel.launches as f64).min(kernel.measured).get();
        let above = kernel.roofline_time.map_or(fixed, |_| kernel.savings_high.get());
        high += above;
        low += above.min(fixed);
    }
    let mean = tiny.time / tiny.launches.max(1) as f64;
    let message = format!("tiny launches: {}, {} each", tiny.words(), si(mean, "s"));
    let mut finding = tiny
        .finding(run, message)
        .confidence(Confidence::Medium)
        .at_stake(crate::units::Seconds::new(high), "launch")
        .evidence("kernels", tiny.kernels.len() as f64, "1")
        .evidence("time per launch", mean.get(), "s")
        .evidence("fixed cost per launch", run.analysis.fixed_cost.get(), "s")
        .next(if run.is_in_graphs() {
            "merge the launches of each kernel (foreach, batching)".to_owned()
        } else {
            let graph = run.graph();
            format!("merge the launches of each kernel (foreach, batching), then try a {graph}")
        });
    finding.at_stake_low_s = low;
    Ok(vec![finding])
}

#[cfg(test)]
mod tests {
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "many-tiny-launches";

    #[test]
    fn fires_on_many_short_launches() {
        let bench = h100().launch("add", (64, 256), (1000, 6.0), &[]).launch(
            "gemm",
            (1000, 256),
            (1, 50_000.0),
            &[],
        );
        let found = bench.found(RULE);
        assert_eq!(
            found.message,
            "tiny launches: 1000 launches, 6.00 ms, 10.7% of the run, 6.00 µs each"
        );
        assert!((found.at_stake_s - 5.4e-3).abs() < 1e-5, "{}", found.at_stake_s);
        assert!((found.at_stake_low_s - 1.5e-3).abs() < 1e-8, "{}", found.at_stake_low_s);
        assert_eq!(found.kernels, ["add"]);
    }

    #[test]
    fn stays_quiet_on_few_or_long_ones() {
        assert!(h100().launch("add", (64, 256), (10, 6.0), &[]).is_content(RULE));
        assert!(h100().launch("add", (64, 256), (1000, 60.0), &[]).is_content(RULE));
    }
}
