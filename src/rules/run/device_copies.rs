//! Flags runs that spend a notable part of their time on copies within device memory.

use crate::rules::engine::shares::{Together, is_of};
use crate::rules::{Check, Finding, Missing, Rule, Run, Threshold};
use crate::taxonomy::Kind;

pub(super) const RULE: Rule = Rule {
    id: "device-copies",
    summary: "copies within device memory take a large share of the run",
    documentation: "\
## What it finds
Copies and concatenations within device memory, by kernels or by the copy engine.

## Why it costs time
A copy reads and writes all of its bytes and adds nothing to the result.

## Detection
Device-to-device copies, copy kernels and concatenations take `share` of the run or more; in a trace,
of kernels and copies together. Savings: at most the time in which no other kernel runs
beside them, of copies at most the time in which nothing but copies on the device and memsets runs.

## Remedy
Have the producer write directly into the destination or its part of the concatenated buffer; use
views instead of copies; drop `contiguous()` where the consumer handles strides; update in place.

## False positives
A run that consists almost only of copies, or of data movement alone, is a benchmark and is exempt. Copy-engine copies
can run next to kernels and then do not add to the run's time. Double buffers and snapshots need
their copies.

## Sources
*CUDA C++ Best Practices Guide*, \"Memory Optimizations\"; NVIDIA, *Memory-Limited Layers*; PyTorch
documentation, \"Tensor Views\".
",
    thresholds: &[SHARE],
    silences: &[],
    check: Check::Run(check),
};

const SHARE: Threshold =
    Threshold::new("share", 0.02, "1", "smaller savings are not worth a change");

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let next = "have the producer write directly into the destination";
    Together::removable(
        run,
        (|kernel| is_of(kernel, &[Kind::Copy, Kind::Concat, Kind::Memcpy]), &[Kind::Memcpy]),
        &SHARE,
        ("copies within device memory", next),
    )
}

#[cfg(test)]
mod tests {
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "device-copies";

    #[test]
    fn fires_on_their_share_of_the_run() {
        for name in [
            "[CUDA memcpy DtoD]",
            "void at::native::CatArrayBatchedCopy<float, unsigned int, 4, 64, 64>(float*)",
        ] {
            let bench = h100().bare(name, (1000, 256), (4, 100.0), &[]).launch(
                "sgemm_128x128",
                (1000, 256),
                (1, 3600.0),
                &[],
            );
            let found = bench.found(RULE);
            assert_eq!(
                found.message,
                "copies within device memory: 4 launches, 400 µs, 10.0% of the run"
            );
            assert!((found.at_stake_s - 0.4e-3).abs() < 1e-9);
            // Some copies may be needed.
            assert_eq!(found.at_stake_low_s, 0.0);
        }
    }

    #[test]
    fn stays_quiet_below_it_and_on_other_kernels() {
        let bench = h100().bare("[CUDA memcpy HtoD]", (1000, 256), (4, 100.0), &[]);
        assert!(bench.is_content(RULE));
    }
}
