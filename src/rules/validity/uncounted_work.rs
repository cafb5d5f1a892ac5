//! Notes matrix products of whose operations the counters saw only a part.

use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Severity, Subject, Threshold};
use crate::units::{Flops, Seconds, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "uncounted-work",
    summary: "the counters saw only part of the operations",
    documentation: "\
## What it finds
Matrix products with fewer counted operations than their closed form needs.

## Why it costs time
No time is lost, but the figures mislead. Work that no counter saw (tensor work without tensor
counters, INT8, FP8, FP4, uncollected FP64) makes the roofline time too short, and a good kernel
looks slow.

## Detection
The counted operations are less than `share` of those of the closed form. The time of the whole
work then bounds the certain headroom, so that uncounted work cannot raise the kernel's rank.

## Remedy
Collect the tensor counters (`rooflint inspect` prints the command), or check the sizes of the
closed form.

## False positives
Winograd, FFT and Strassen algorithms do less than the direct product; causal attention does half;
sparse products skip half. A closed form with wrong sizes can claim anything.

## Sources
*Nsight Compute Profiling Guide*, \"Roofline Charts\"; Lavin and Gray, *Fast Algorithms for Convolutional
Neural Networks*, arXiv 1509.09308.
",
    thresholds: &[SHARE],
    silences: &[],
    check: Check::Kernel(check),
};

const SHARE: Threshold = Threshold::new(
    "share",
    0.8,
    "1",
    "skipped edges and differently counted additions explain a few percent",
);

fn check(subject: &Subject<'_>) -> Judgment {
    let Some(needed) = subject.product_form()? else { return Ok(None) };
    // What one operation of an elementwise function is, is a convention; of a product it is not.
    if needed.product.is_none() {
        return Ok(None);
    }
    let counted = needed.work_factor.ok_or(Missing("FLOP counters"))?;
    if counted >= subject.threshold(&SHARE) {
        return Ok(None);
    }
    let message = format!(
        "the counters saw only {} of the operations of {}: its math time is a lower bound",
        whole_percent(counted),
        needed.call
    );
    let all: Flops = subject.kernel.work.iter().map(|work| work.operations).sum();
    let finding = subject
        .info(message)
        .severity(Severity::Medium)
        .confidence(Confidence::Medium)
        .evidence("counted operations", all.get(), "FLOP")
        .evidence("operations needed per launch", needed.operations.get(), "FLOP")
        .evidence_if("minimum time for all of them", needed.math_time.map(Seconds::get), "s")
        .next("collect the tensor-pipe counters, or check the sizes of the closed form");
    Ok(Some(finding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::State;
    use crate::model::Pipe;
    use crate::rules::engine::bench_table::{Bench, kernel};

    fn product(flops: f64) -> Bench {
        let call = "gemm m=4096 n=4096 k=4096 dtype=fp16";
        let name = "ampere_fp16_s16816gemm_fp16_128x64_nn";
        kernel(name, 500.0).operator(call).work(Pipe::Fp32Vector, flops).bytes(1e8)
    }

    #[test]
    fn work_that_no_counter_saw_is_told_and_does_not_make_an_opportunity() {
        // 137 GFLOP are needed: 0.139 ms at 989 TFLOP/s.
        let found = product(1e9).found(&RULE);
        assert_eq!((found.severity, found.at_stake_s), (Severity::Medium, 0.0));
        assert!(
            found
                .message
                .starts_with("the counters saw only 0.7% of the operations of gemm m=4096")
        );
        let time = found.evidence.iter().find(|fact| fact.unit == "s").unwrap().value;
        assert!((time / (2.0 * 4096_f64.powi(3) / 989.4e12) - 1.0).abs() < 1e-3, "{time}");
        let state = product(1e9).seen(&RULE, |subject| subject.kernel.state);
        assert_ne!(state, State::NearRoofline);
        let low = product(1e9).seen(&RULE, |subject| subject.kernel.headroom_low().unwrap());
        assert!(low <= 500e-6 / time * 1.0001, "{low}");
    }

    #[test]
    fn counts_that_fit_and_elementwise_conventions_are_fine() {
        assert!(product(1.374e11).is_fine(&RULE));
        // Three more launches without a count say nothing of the one that has it.
        assert!(product(1.374e11).uncounted(3).is_fine(&RULE));
        let factor = |subject: &Subject<'_>| subject.kernel.algorithmic()?.work_factor;
        let found = product(1e9).uncounted(3).seen(&RULE, factor).unwrap();
        assert!((found / (1e9 / (2.0 * 4096_f64.powi(3))) - 1.0).abs() < 1e-9, "{found}");
        let relu = kernel("relu", 100.0).operator("relu n=1000000 dtype=fp32");
        assert!(relu.work(Pipe::Fp32Vector, 0.0).bytes(8e6).is_fine(&RULE));
    }

    #[test]
    fn without_shape_or_counts_it_cannot_judge() {
        assert_eq!(
            kernel("ampere_sgemm_128x64_nn", 500.0).bytes(1e8).lacks(&RULE),
            "closed form of the kernel"
        );
        let bare =
            kernel("ampere_sgemm_128x64_nn", 500.0).operator("gemm m=64 n=64 k=64").bytes(1e8);
        assert_eq!(bare.lacks(&RULE), "FLOP counters");
    }
}
