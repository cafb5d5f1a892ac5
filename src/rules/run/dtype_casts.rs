//! Flags runs that spend a notable part of their time on conversions between number formats.

use crate::analysis::Kernel;
use crate::rules::engine::shares::{Together, is_of};
use crate::rules::{Check, Finding, Missing, Rule, Run, Threshold};
use crate::taxonomy::Kind;

pub(super) const RULE: Rule = Rule {
    id: "dtype-casts",
    summary: "data type conversions take a large share of the run",
    documentation: "\
## What it finds
Kernels that only convert tensors from one data type to another.

## Why it costs time
A conversion reads and writes the whole tensor and computes almost nothing: it runs at the memory
roof and is still pure cost. Neighboring kernels could read or write the other type directly.

## Detection
Kernels whose names indicate a conversion take `share` of the run or more. Savings: at most
their time in which no other kernel runs beside them.

## Remedy
Keep one type through the graph; store weights in the type they are multiplied in; have the
producer write the narrow type; let a compiler fuse the conversion (`torch.compile`).

## False positives
A run that consists almost only of these kernels, or of data movement alone, is a benchmark and is exempt. FP32 master
weights and accumulators need some conversions. Conversions named as copies are counted there.

## Sources
NVIDIA, *Memory-Limited Layers*; NVIDIA, *Mixed-Precision Training*; PyTorch documentation, \"Automatic
Mixed Precision\".
",
    thresholds: &[SHARE],
    silences: &[],
    check: Check::Run(check),
};

const SHARE: Threshold =
    Threshold::new("share", 0.02, "1", "smaller savings are not worth a change");

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let next = "find the tensors that are cast most often, and keep them in one data type";
    let casts = |kernel: &Kernel| is_of(kernel, &[Kind::Cast]);
    Together::removable(run, (casts, &[]), &SHARE, ("casts", next))
}

#[cfg(test)]
mod tests {
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "dtype-casts";

    #[test]
    fn fires_on_their_share_of_the_run() {
        let name = "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(\
                    at::TensorIteratorBase&)::{lambda()#3}, at::native::memory::LoadWithCast<1>, \
                    at::native::memory::StoreWithCast<1> >(int)";
        let bench = h100().bare(name, (1000, 256), (4, 100.0), &[]).launch(
            "sgemm_128x128",
            (1000, 256),
            (1, 3600.0),
            &[],
        );
        let found = bench.found(RULE);
        assert_eq!(found.message, "casts: 4 launches, 400 µs, 10.0% of the run");
        assert!((found.at_stake_s - 0.4e-3).abs() < 1e-9);
    }

    #[test]
    fn stays_quiet_below_it_and_on_other_kernels() {
        let bench = h100().bare("sgemm_128x128", (1000, 256), (4, 100.0), &[]);
        assert!(bench.is_content(RULE));
    }
}
