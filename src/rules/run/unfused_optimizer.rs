//! Flags optimizers that take many short launches instead of a few long ones.

use crate::rules::engine::shares::Together;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Threshold};
use crate::taxonomy::Kind;
use crate::units::si;

pub(super) const RULE: Rule = Rule {
    id: "unfused-optimizer",
    summary: "the optimizer runs as many short launches",
    documentation: "\
## What it finds
Short optimizer kernels that are launched once per tensor or per step of the formula.

## Why it costs time
Every launch has a fixed cost, and every step of the formula reads and writes parameters,
gradients and moments again. A fused optimizer passes over them once at memory speed.

## Detection
Kernels whose names show an optimizer have `launches` launches or more in the profile, of less
than `time` on average. Savings: at most everything above their roofline time; launches without a
roofline time count with their fixed cost.

## Remedy
Use `fused=True` or `foreach=True` of PyTorch optimizers; the fused optimizers of Apex or
Transformer Engine; or a compiled optimizer step.

## False positives
A profile of many steps has many launches of any optimizer. An optimizer written as single
elementwise operations is not recognized by name; see `unfused-elementwise`.

## Sources
PyTorch documentation, `torch.optim` (`foreach`, `fused`); NVIDIA Apex, `multi_tensor_apply`.
",
    thresholds: &[LAUNCHES, TIME],
    silences: &[],
    check: Check::Run(check),
};

const LAUNCHES: Threshold =
    Threshold::new("launches", 100.0, "1", "fused optimizers take a few dozen launches per step");

const TIME: Threshold = Threshold::new("time", 20e-6, "s", "ten times the fixed launch cost");

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let steps = Together::of_kinds(run, &[Kind::Optimizer])?;
    let mean = steps.time / steps.launches.max(1) as f64;
    let is_short = mean.get() < run.threshold(&TIME);
    if (steps.launches as f64) < run.threshold(&LAUNCHES) || !is_short {
        return Ok(Vec::new());
    }
    let uncounted = steps.kernels.iter().filter(|kernel| kernel.roofline_time.is_none());
    let fixed = uncounted
        .map(|kernel| (run.analysis.fixed_cost * kernel.launches as f64).min(kernel.measured))
        .sum();
    let finding = steps
        .finding(run, format!("unfused optimizer: {}, {} each", steps.words(), si(mean, "s")))
        .confidence(Confidence::Low)
        .at_stake(steps.gap() + fixed, "launch")
        .evidence("time per launch", mean.get(), "s")
        .next("use the optimizer's fused or foreach variant");
    Ok(vec![finding])
}

#[cfg(test)]
mod tests {
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "unfused-optimizer";
    const NAME: &str = "sgd_momentum_kernel(float*, float*, float*)";

    #[test]
    fn fires_on_many_short_launches_only() {
        let found = h100().launch(NAME, (64, 256), (500, 5.0), &[]).found(RULE);
        assert_eq!(
            found.message,
            "unfused optimizer: 500 launches, 2.50 ms, 100.0% of the run, 5.00 µs each"
        );
        assert!(h100().launch(NAME, (6400, 256), (500, 500.0), &[]).is_content(RULE));
        assert!(h100().launch(NAME, (64, 256), (50, 5.0), &[]).is_content(RULE));
    }
}
