//! Flags runs that spend a notable part of their time on changes of memory layout.

use crate::analysis::Kernel;
use crate::rules::engine::shares::{Together, is_of};
use crate::rules::{Check, Finding, Missing, Rule, Run, Threshold};
use crate::taxonomy::Kind;

pub(super) const RULE: Rule = Rule {
    id: "layout-transforms",
    summary: "transposes and layout changes take a large share of the run",
    documentation: "\
## What it finds
Kernels that only reorder a tensor in memory: transposes, and changes between channels-first and
channels-last.

## Why it costs time
A layout change reads and writes the whole tensor and computes nothing. Libraries insert them
where the given layout is not the one their fast kernels need.

## Detection
Kernels whose names indicate a transpose or layout change take `share` of the run or more.
Savings: at most their time in which no other kernel runs beside them.

## Remedy
Use channels-last throughout for convolutions on tensor cores; store weights the way they are
multiplied; pass transposed operands to products instead of transposing them.

## False positives
A run that consists almost only of these kernels, or of data movement alone, is a benchmark and is exempt. A transpose
that is part of the algorithm (some FFTs, attention with unusual layouts) cannot be removed.

## Sources
NVIDIA, *Convolutional Layers*, \"Tensor Layouts in Memory: NCHW vs NHWC\"; PyTorch documentation,
\"Channels Last Memory Format\".
",
    thresholds: &[SHARE],
    silences: &[],
    check: Check::Run(check),
};

const SHARE: Threshold =
    Threshold::new("share", 0.02, "1", "smaller savings are not worth a change");

const CONVOLUTIONS: [Kind; 4] =
    [Kind::ConvFprop, Kind::ConvDgrad, Kind::ConvWgrad, Kind::ConvDepthwise];

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let (convolutions, _) = run.kernels(|kernel| is_of(kernel, &CONVOLUTIONS));
    let next = if convolutions.is_empty() {
        "pass transposed operands to the products, or store tensors the way they are read"
    } else {
        "use one memory layout throughout, channels-last for convolutions"
    };
    let moves = |kernel: &Kernel| is_of(kernel, &[Kind::Layout, Kind::Transpose]);
    Together::removable(run, (moves, &[]), &SHARE, ("layout changes", next))
}

#[cfg(test)]
mod tests {
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "layout-transforms";

    #[test]
    fn fires_on_their_share_of_the_run() {
        for name in [
            "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(int)",
            "transposeNaive(float*, float*)",
        ] {
            let bench = h100().bare(name, (1000, 256), (4, 100.0), &[]).launch(
                "sgemm_128x128",
                (1000, 256),
                (1, 3600.0),
                &[],
            );
            let found = bench.found(RULE);
            assert_eq!(found.message, "layout changes: 4 launches, 400 µs, 10.0% of the run");
            assert!((found.at_stake_s - 0.4e-3).abs() < 1e-9);
        }
    }

    /// A benchmark of transposes and copies has neither products nor producers.
    #[test]
    fn a_run_of_nothing_but_data_movement_is_exempt() {
        let bench = |other: &str| {
            h100().bare("transposeNaive(float*, float*)", (1000, 256), (4, 100.0), &[]).launch(
                other,
                (1000, 256),
                (1, 100.0),
                &[],
            )
        };
        assert!(bench("[CUDA memcpy DtoD]").is_content(RULE));
        assert!(!bench("sgemm_128x128").is_content(RULE));
    }

    #[test]
    fn stays_quiet_below_it_and_on_other_kernels() {
        let bench = h100().bare("sgemm_128x128", (1000, 256), (4, 100.0), &[]);
        assert!(bench.is_content(RULE));
    }
}
