//! Flags runs that spend a notable part of their time on setting memory to a value.

use crate::analysis::Kernel;
use crate::rules::engine::shares::{Together, is_of};
use crate::rules::{Check, Finding, Missing, Rule, Run, Threshold};
use crate::taxonomy::Kind;

pub(super) const RULE: Rule = Rule {
    id: "memset-share",
    summary: "memsets and fills take a large share of the run",
    documentation: "\
## What it finds
Memsets and fill kernels.

## Why it costs time
Memory is written once to clear it, and again by the kernel that uses it.

## Detection
Memsets and fill kernels take `share` of the run or more; in a trace, of kernels and copies together.
Savings: at most their time in which no other kernel runs beside them, of memsets at most the time in which nothing but
copies on the device and memsets runs.

## Remedy
Use `empty` instead of `zeros` where everything is overwritten; set gradients to none instead of
zero; write in the first iteration instead of adding; clear inside the producer.

## False positives
A run that consists almost only of memsets and fills, or of data movement alone, is a benchmark and is exempt.
Accumulation with atomics, and split-K products that reduce in place, need cleared memory.

## Sources
PyTorch documentation, `Optimizer.zero_grad(set_to_none=True)`; *CUDA C++ Best Practices Guide*, \"Memory
Optimizations\".
",
    thresholds: &[SHARE],
    silences: &[],
    check: Check::Run(check),
};

const SHARE: Threshold =
    Threshold::new("share", 0.02, "1", "smaller savings are not worth a change");

/// In the names of kernels that write values, not zeros that a producer would overwrite.
const VALUES: [&str; 4] = ["arange", "linspace", "range_cuda", "eye"];

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let next = "have the producer overwrite memory instead of clearing it first";
    let clears = |kernel: &Kernel| {
        let name = kernel.full_name.to_lowercase();
        is_of(kernel, &[Kind::Memset, Kind::Fill]) && !VALUES.iter().any(|word| name.contains(word))
    };
    Together::removable(run, (clears, &[Kind::Memset]), &SHARE, ("memory sets", next))
}

#[cfg(test)]
mod tests {
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "memset-share";

    #[test]
    fn fires_on_their_share_of_the_run() {
        for name in [
            "[CUDA memset]",
            "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, \
             at::detail::Array<char*, 1> >(int, at::native::FillFunctor<float>)",
        ] {
            let bench = h100().bare(name, (1000, 256), (4, 100.0), &[]).launch(
                "sgemm_128x128",
                (1000, 256),
                (1, 3600.0),
                &[],
            );
            let found = bench.found(RULE);
            assert_eq!(found.message, "memory sets: 4 launches, 400 µs, 10.0% of the run");
            assert!((found.at_stake_s - 0.4e-3).abs() < 1e-9);
        }
    }

    #[test]
    fn stays_quiet_below_it_and_on_other_kernels() {
        let bench = h100().bare("sgemm_128x128", (1000, 256), (4, 100.0), &[]);
        assert!(bench.is_content(RULE));
    }
}
