//! Flags runs in which adding up the parts of split matrix products takes notable time.

use crate::rules::engine::shares::Together;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Threshold};
use crate::taxonomy::Kind;
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "split-k-overhead",
    summary: "split-K reductions take a notable share of the run",
    documentation: "\
## What it finds
Kernels that add up the partial results of split-K matrix products.

## Why it costs time
Split-K gives small products enough blocks to fill the device. Each part writes a whole output
tile to memory, and another kernel reads them all.

## Detection
The reductions take `share` of the run or more, or `of-products` or more of the time of the
products whose names show split-K. Savings: at most all of their time.

## Remedy
Use another algorithm of the library (cuBLASLt heuristics, autotuning); stream-K; a reduction
inside the product (atomics, clusters); larger M or N by batching.

## False positives
Without split-K the product itself would take longer; compare both together.

## Sources
cuBLAS documentation, `cublasLtReductionScheme_t`; M. Osama et al., *Stream-K*, PPoPP 2023; NVIDIA,
*Matrix Multiplication Background*.
",
    thresholds: &[SHARE, OF_PRODUCTS],
    silences: &[],
    check: Check::Run(check),
};

const SHARE: Threshold = Threshold::new("share", 0.01, "1", "from here it can matter");

const OF_PRODUCTS: Threshold = Threshold::new(
    "of-products",
    0.10,
    "1",
    "above this, the reduction costs what the split saved",
);

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let sums = Together::of_kinds(run, &[Kind::SplitKReduce])?;
    if sums.launches == 0 || sums.is_the_run() {
        return Ok(Vec::new());
    }
    let products = Together::of(run, |kernel| kernel.class.split_k && kernel.class.is_product())?;
    // Few products of a library name their split: the reductions of the others are not those of these.
    let known = products.launches >= sums.launches && products.time.get() > 0.0;
    let of_products = known.then(|| sums.time / products.time);
    let is_much = of_products.is_some_and(|share| share >= run.threshold(&OF_PRODUCTS));
    if sums.share < run.threshold(&SHARE) && !is_much {
        return Ok(Vec::new());
    }
    let fixups = Together::of(run, |kernel| {
        kernel.class.kind == Some(Kind::SplitKReduce) && is_stream_k(&kernel.full_name)
    })?;
    // What sums the parts of stream-K cannot be avoided by it.
    let next = if fixups.time > sums.time * 0.5 {
        "use tiles that fill whole waves, or another algorithm, and compare times including the fixups"
    } else {
        "use another algorithm or stream-K, and compare times including the reductions"
    };
    let beside = of_products.map_or_else(String::new, |share| {
        format!(", {} of the split-K product time", whole_percent(share))
    });
    let mut finding = sums
        .finding(run, format!("split-K reductions: {}{beside}", sums.words()))
        .confidence(Confidence::Medium)
        .at_stake(sums.time, "removed")
        .evidence_if("time over that of split-K products", of_products, "1")
        .next(next);
    // Without the split the products may take as much longer.
    finding.at_stake_low_s = 0.0;
    Ok(vec![finding])
}

fn is_stream_k(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["stream_k", "streamk"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use crate::rules::engine::bench_launches::{Bench, h100};

    const RULE: &str = "split-k-overhead";
    const SUM: &str = "void cublasLt::splitKreduce_kernel<32, 16, int, float>(int)";

    /// Four sums of 100 µs and products of these names, launches and microseconds.
    fn sums_and(products: &[(&str, u32, f64)]) -> Bench {
        let bench = h100().launch(SUM, (1000, 256), (4, 100.0), &[]);
        products.iter().fold(bench, |bench, (name, launches, time)| {
            bench.launch(name, (1000, 256), (*launches, *time), &[])
        })
    }

    #[test]
    fn stream_k_is_not_advised_to_what_is_stream_k() {
        let next = |sum: &str| {
            let bench = h100().launch(sum, (1000, 256), (4, 100.0), &[]);
            let bench = bench.launch("sgemm_128x128", (1000, 256), (1, 400.0), &[]);
            bench.found(RULE).next.unwrap()
        };
        let fixup = next("void mul_mat_q_stream_k_fixup<(ggml_type)8, (int)128, (bool)0>(int)");
        assert!(fixup.contains("fixups") && !fixup.contains("stream-K"), "{fixup}");
        assert!(next(SUM).contains("stream-K"));
    }

    #[test]
    fn fires_on_notable_reductions_only() {
        let sums = h100().launch(SUM, (1000, 256), (4, 100.0), &[]);
        // A run of nothing else is a measurement of just that.
        assert!(sums.is_content(RULE));
        let found = sums.launch("sgemm_128x128", (1000, 256), (1, 400.0), &[]).found(RULE);
        assert_eq!(found.message, "split-K reductions: 4 launches, 400 µs, 50.0% of the run");
        // Three of the four products do not say that they are split.
        let named = "cutlass_80_tensorop_s1688gemm_128x128_splitK_nn";
        let bench = sums_and(&[(named, 1, 40.0), ("sgemm_128x128", 3, 400.0)]);
        let found = bench.found(RULE);
        assert!(!found.message.contains("split-K product time"), "{}", found.message);
        let found = sums_and(&[(named, 4, 200.0)]).found(RULE);
        assert!(found.message.ends_with(", 50% of the split-K product time"), "{}", found.message);
        let bench = h100().launch(SUM, (1000, 256), (1, 10.0), &[]).launch(
            "sgemm_128x128",
            (1000, 256),
            (1, 10_000.0),
            &[],
        );
        assert!(bench.is_content(RULE));
    }
}
