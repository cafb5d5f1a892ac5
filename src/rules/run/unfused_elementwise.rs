//! Flags runs with a large share of elementwise kernels that no compiler has fused.

use crate::analysis::Kernel;
use crate::rules::engine::shares::Together;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Threshold};
use crate::taxonomy::{Category, Kind};
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "unfused-elementwise",
    summary: "unfused elementwise kernels take a large share of the run",
    documentation: "\
## What it finds
Elementwise operations, activations, dropouts and conversions that run as separate kernels, as a
share of the run.

## Why it costs time
An elementwise kernel computes almost nothing: its time goes into reading and writing tensors. Two
in a row write an intermediate to memory and read it back; fusion saves that traffic and a launch.

## Detection
Kernels whose names show elementwise operations or conversions, without optimizers and
compiler-fused kernels, take `share` of the run or more. Their order and shapes are not examined.
Savings: at most half of their time, as if fused in pairs; at least nothing.

## Remedy
Use `torch.compile`, XLA or Triton; matrix-product epilogues (cuBLASLt, cuDNN); fused dropout,
bias and residual additions.

## False positives
A run that consists almost only of these kernels, or of a single one, is a benchmark and is exempt.
Kernels that are not adjacent cannot be fused, and intermediates needed by the backward pass must be
written anyway.

## Sources
NVIDIA, *Memory-Limited Layers*; J. Ansel et al., *PyTorch 2*, ASPLOS 2024.
",
    thresholds: &[SHARE],
    silences: &[],
    check: Check::Run(check),
};

const SHARE: Threshold = Threshold::new(
    "share",
    0.20,
    "1",
    "some elementwise kernels always remain; a fifth of the run is more than that",
);

fn is_single(kernel: &Kernel) -> bool {
    let class = &kernel.class;
    let is_elementwise = class.category == Category::Elementwise || class.kind == Some(Kind::Cast);
    is_elementwise && class.kind != Some(Kind::Optimizer) && class.fused.is_none()
}

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let single = Together::of(run, is_single)?;
    // One kernel, launched again and again, is no chain: a benchmark is like that.
    if single.share < run.threshold(&SHARE) || single.kernels.len() < 2 || single.is_the_run() {
        return Ok(Vec::new());
    }
    let mut finding = single
        .finding(run, format!("unfused elementwise kernels: {}", single.words()))
        .confidence(Confidence::Low)
        .at_stake(single.time / 2.0, "fused-pairs")
        .next("fuse them (e.g. torch.compile), then compare the time of these kernels");
    finding.at_stake_low_s = Seconds::ZERO.get();
    Ok(vec![finding])
}

#[cfg(test)]
mod tests {
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "unfused-elementwise";

    #[test]
    fn fires_on_single_operations() {
        let name = "void at::native::vectorized_elementwise_kernel<4, \
                    at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int)";
        let bench = h100().launch(name, (1000, 256), (2, 100.0), &[]).launch(
            name,
            (2000, 256),
            (2, 100.0),
            &[],
        );
        let bench = bench.launch("sgemm_128x128", (1000, 256), (1, 600.0), &[]);
        let found = bench.found(RULE);
        assert_eq!(
            found.message,
            "unfused elementwise kernels: 4 launches, 400 µs, 40.0% of the run"
        );
        assert!((found.at_stake_s - 0.2e-3).abs() < 1e-9 && found.at_stake_low_s == 0.0);
    }

    #[test]
    fn stays_quiet_on_what_a_compiler_fused() {
        let name = "triton_poi_fused_add_relu_3";
        assert!(h100().launch(name, (1000, 256), (4, 100.0), &[]).is_content(RULE));
    }
}
