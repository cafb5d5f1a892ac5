//! Flags runs that spend a good part of their time on kernels that are mostly launch cost.

use crate::analysis::State;
use crate::rules::engine::shares::Together;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Threshold};
use crate::units::{Seconds, si};

pub(super) const RULE: Rule = Rule {
    id: "launch-bound-share",
    summary: "many kernels, each hardly longer than a launch, take much of the run",
    documentation: "\
## What it finds
Launch-bound kernels that together take a notable part of the run: typical of decode steps or of
models run layer by layer on little data.

## Why it costs time
A launch occupies the device for 1.5 to 2 µs even if the kernel does nothing. Rewriting these
kernels does not help; fewer launches do. Gaps between launches come on top: in traces `host-bound`
reports them.

## Detection
Kernels whose roofline time is below the fixed cost of a launch, and which took less than 2.5
times that cost, take `share` of the run or more in at least `launches` launches. Savings: at most
the fixed cost of each launch but one.

## Remedy
Fuse neighboring kernels (`torch.compile`, Triton, matrix-product epilogues), use larger batches,
or process several tensors per launch. CUDA or HIP graphs shorten the gaps between launches.

## False positives
With Nsight Compute's locked base clock and flushed caches, kernels take longer than in
production.

## Sources
NVIDIA technical blog, \"Getting Started with CUDA Graphs\"; *CUDA C++ Best Practices Guide*,
\"Concurrent Kernel Execution\".
",
    thresholds: &[SHARE, LAUNCHES],
    silences: &[],
    check: Check::Run(check),
};

const SHARE: Threshold =
    Threshold::new("share", 0.1, "1", "smaller savings are easier to find elsewhere");

const LAUNCHES: Threshold =
    Threshold::new("launches", 5.0, "1", "a few have few neighbors to fuse with");

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let floored = Together::of(run, |kernel| kernel.state == State::LaunchBound)?;
    if floored.share < run.threshold(&SHARE) || (floored.launches as f64) < run.threshold(&LAUNCHES)
    {
        return Ok(Vec::new());
    }
    let fixed = run.analysis.fixed_cost;
    // Their work stays where it is done.
    let work: Seconds = floored.kernels.iter().filter_map(|kernel| kernel.roofline_time).sum();
    let above = floored.time - work.min(floored.time);
    let most = (fixed * (floored.launches - 1) as f64).min(above);
    let kernels = floored.kernels.len();
    let is_shorter = floored.time < fixed * floored.launches as f64;
    let cost = if is_shorter {
        format!("on average shorter than the fixed launch cost of {}", si(fixed, "s"))
    } else {
        format!("about {} of each is fixed launch cost", si(fixed, "s"))
    };
    let message = format!(
        "{kernels} launch-bound kernel{}: {}; {cost}",
        if kernels == 1 { "" } else { "s" },
        floored.words()
    );
    let mut finding = floored
        .finding(run, message)
        .confidence(Confidence::High)
        .at_stake(most, "launch")
        .evidence("kernels", kernels as f64, "1")
        .evidence("launches", floored.launches as f64, "1")
        .evidence("fixed cost per launch", fixed.get(), "s")
        .next(if run.is_in_graphs() {
            "fuse neighboring kernels (torch.compile, epilogues) or batch them".to_owned()
        } else {
            format!(
                "fuse neighboring kernels (torch.compile, epilogues) or batch them, then use a {} for \
                 the rest",
                run.graph()
            )
        });
    // As if launches were merged in pairs.
    finding.at_stake_low_s = most.get() / 2.0;
    Ok(vec![finding])
}

#[cfg(test)]
mod tests {
    use crate::model::{Pipe, Quantity};
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "launch-bound-share";
    const TINY: &[(Quantity, f64)] =
        &[(Quantity::DramBytes, 1e5), (Quantity::Work(Pipe::Fp32Vector), 1e5)];

    /// 8 launches of 3 µs beside one of 100 µs: 24 of 124 µs, and 7× the fixed cost of 2 µs to win.
    #[test]
    fn fires_where_they_take_a_tenth_of_the_run() {
        let bench = h100()
            .launch("add", (64, 256), (4, 3.0), TINY)
            .launch("cast", (64, 256), (4, 3.0), TINY)
            .launch("gemm", (1000, 256), (1, 100.0), &[]);
        let found = bench.found(RULE);
        assert!(found.message.starts_with("2 launch-bound kernels: 8 launches, 24.0 µs, 19.4%"));
        assert!((found.at_stake_s - 10.5e-6).abs() < 1e-9, "{}", found.at_stake_s);
    }

    /// 40 launches of 0.5 µs: nothing of the 20 µs but their work is left, and none of them has 2 µs to save.
    #[test]
    fn launches_shorter_than_the_fixed_cost_save_no_more_than_they_take() {
        let bench = h100().launch("add", (64, 256), (40, 0.5), TINY);
        let found = bench.found(RULE);
        assert!(
            found.message.ends_with("shorter than the fixed launch cost of 1.50 µs"),
            "{}",
            found.message
        );
        // 10⁵ B at 3.352 TB/s are 29.8 ns.
        let most = 40.0 * (0.5e-6 - 1e5 / 3.352e12);
        assert!((found.at_stake_s - most).abs() < 1e-9, "{} {most}", found.at_stake_s);
    }

    #[test]
    fn stays_quiet_where_they_are_few_or_short() {
        let few = h100().launch("add", (64, 256), (4, 3.0), TINY);
        assert!(few.is_content(RULE));
        let short = h100().launch("add", (64, 256), (8, 3.0), TINY).launch(
            "gemm",
            (1000, 256),
            (1, 1000.0),
            &[],
        );
        assert!(short.is_content(RULE));
    }
}
