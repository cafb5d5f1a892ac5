//! Flags convolutions that spend much of their time in kernels that prepare or transform operands.

use std::collections::{HashMap, HashSet};

use crate::analysis::Kernel;
use crate::rules::engine::shares::Together;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Threshold};
use crate::taxonomy::Kind;
use crate::units::{si, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "convolution-layout-or-algorithm",
    summary: "convolutions spend much of their time on layout changes and transforms",
    documentation: "\
## What it finds
Helper kernels of convolutions: layout changes, offset tables, unrolled inputs (`im2col`) and
Winograd transforms.

## Why it costs time
The library inserts a layout change where tensors do not have the layout of its fastest kernel,
and each one reads and writes a whole tensor. Winograd transforms do the same before and after the
product to save multiplications that are nearly free on tensor cores.

## Detection
Such kernels, recognized by name, take `of-convolutions` or more of the time of convolutions and
helpers together. Where the export has operators, only convolution operators count. Savings: at
most the time of the helpers, at least nothing. Replaces `layout-transforms` where both concern
the same kernels. Where one operator with its sizes ran `trials` algorithms or more, the library
was trying them: that is reported instead, without savings.

## Remedy
Use channels-last throughout; channels in multiples of 8 (FP16, BF16) or 4 (TF32); let the library
benchmark its algorithms (`torch.backends.cudnn.benchmark`, cuDNN autotuning) with fixed shapes.

## False positives
An algorithm without helpers can be slower overall: compare the convolution including all helpers.
Without operators in the export, layout changes around other operators look the same, and trials of
algorithms are not recognized.

## Sources
NVIDIA, *Convolutional Layers*, \"Tensor Layouts In Memory: NCHW vs NHWC\" and \"Channels In And Out\";
A. Lavin and S. Gray, *Fast Algorithms for Convolutional Neural Networks*, CVPR 2016.
",
    thresholds: &[OF_CONVOLUTIONS, TRIALS],
    silences: &["layout-transforms"],
    check: Check::Run(check),
};

const OF_CONVOLUTIONS: Threshold = Threshold::new(
    "of-convolutions",
    0.15,
    "1",
    "above this, helpers cost about what a better algorithm saves",
);

const TRIALS: Threshold = Threshold::new(
    "trials",
    5.0,
    "1",
    "forward, data gradient and weight gradient of one convolution are three kernels, one more with split-K",
);

/// Helpers by what they do.
const HELPERS: [(Kind, &str); 3] = [
    (Kind::Layout, "layout changes"),
    (Kind::ConvAux, "preparation"),
    (Kind::WinogradTransform, "Winograd transforms"),
];

fn is_convolution(kernel: &Kernel) -> bool {
    let kinds = [Kind::ConvFprop, Kind::ConvDgrad, Kind::ConvWgrad, Kind::ConvDepthwise];
    let operator = kernel.operator.as_deref().is_some_and(|known| known.starts_with("conv"));
    kernel.class.kind.is_some_and(|kind| kinds.contains(&kind))
        || operator && kernel.class.is_product()
}

fn is_helper(kernel: &Kernel, kind: Kind) -> bool {
    let operator = kernel.operator.as_deref();
    kernel.class.kind == Some(kind) && operator.is_none_or(|known| known.starts_with("conv"))
}

/// How many algorithms the library tried for one convolution at most, and the operators of which it tried several.
fn trials<'a>(run: &Run<'a>) -> (usize, HashSet<&'a str>) {
    let least = run.threshold(&TRIALS).max(2.0) as usize;
    let mut algorithms: HashMap<&str, HashSet<&str>> = HashMap::new();
    for kernel in run.analysis.kernels.iter().filter(|kernel| is_convolution(kernel)) {
        // Without its sizes one operator stands for many convolutions.
        let has_sizes = |known: &&str| {
            known
                .split_once(' ')
                .is_some_and(|(_, sizes)| sizes.contains(|c: char| c.is_ascii_digit()))
        };
        if let Some(operator) = kernel.operator.as_deref().filter(has_sizes) {
            algorithms.entry(operator).or_default().insert(&*kernel.full_name);
        }
    }
    algorithms.retain(|_, of| of.len() >= least);
    let most = algorithms.values().map(HashSet::len).max().unwrap_or(0);
    (most, algorithms.into_keys().collect())
}

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let (most, operators) = trials(run);
    if most > 0 {
        let of = |kernel: &Kernel| {
            let operator = kernel.operator.as_deref();
            is_convolution(kernel) && operator.is_some_and(|known| operators.contains(known))
        };
        let tried = Together::of(run, of)?;
        let message = format!(
            "the library was trying algorithms: {most} for one convolution; all trials: {}",
            tried.words()
        );
        let finding = tried
            .finding(run, message)
            .confidence(Confidence::High)
            .evidence("algorithms of one convolution", most as f64, "1")
            .evidence("convolutions with trials", operators.len() as f64, "1")
            .next("profile after warm-up; the trials do not run again, so savings of their kernels do not count");
        return Ok(vec![finding]);
    }
    let convolutions = Together::of(run, is_convolution)?;
    let helpers =
        Together::of(run, |kernel| HELPERS.iter().any(|(kind, _)| is_helper(kernel, *kind)))?;
    let all = convolutions.time + helpers.time;
    if convolutions.time.get() <= 0.0 || helpers.time / all < run.threshold(&OF_CONVOLUTIONS) {
        return Ok(Vec::new());
    }
    let share = helpers.time / all;
    let mut parts = Vec::new();
    for (kind, what) in HELPERS {
        let part = Together::of(run, |kernel| is_helper(kernel, kind))?;
        if part.launches > 0 {
            parts.push((what, part.time));
        }
    }
    let told: Vec<String> =
        parts.iter().map(|(what, time)| format!("{what} {}", si(*time, "s"))).collect();
    let message = format!(
        "layout changes and transforms take {} of the convolution time ({}): {}",
        whole_percent(share),
        told.join(", "),
        helpers.words()
    );
    let mut finding = helpers
        .finding(run, message)
        .confidence(Confidence::Low)
        .at_stake(helpers.time, "removed")
        .evidence("time of the convolutions", convolutions.time.get(), "s")
        .evidence("helper share of convolutions and helpers", share, "1")
        .next("run the convolutions in channels-last with the library's autotuning on");
    for (what, time) in parts {
        finding = finding.evidence(format!("time of {what}"), time.get(), "s");
    }
    // Without its helpers the convolution itself may take as much longer.
    finding.at_stake_low_s = 0.0;
    Ok(vec![finding])
}

#[cfg(test)]
mod tests {
    use crate::rules::engine::bench_launches::{Bench, h100, pyprof};
    use crate::rules::{Confidence, Settings};

    const RULE: &str = "convolution-layout-or-algorithm";
    const LAYOUT: &str = "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(int)";
    const CONVOLUTION: &str =
        "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckcrs_nhwc_tilesize128x128x16";

    fn network(layout: f64) -> Bench {
        h100()
            .launch(CONVOLUTION, (1000, 256), (4, 100.0), &[])
            .launch(LAYOUT, (1000, 256), (4, layout), &[])
            .launch("sgemm_128x128", (1000, 256), (1, 500.0), &[])
    }

    #[test]
    fn fires_on_the_share_of_the_helpers() {
        // 100 µs of layout beside 400 µs of convolutions.
        let found = network(25.0).found(RULE);
        assert_eq!(
            found.message,
            "layout changes and transforms take 20% of the convolution time (layout changes \
             100 µs): 4 launches, 100 µs, 10.0% of the run"
        );
        assert!((found.at_stake_s - 0.1e-3).abs() < 1e-9 && found.at_stake_low_s == 0.0);
        assert_eq!(found.confidence, Confidence::Low);
    }

    #[test]
    fn stays_quiet_below_it_and_without_convolutions() {
        assert!(network(15.0).is_content(RULE));
        assert!(h100().launch(LAYOUT, (1000, 256), (4, 100.0), &[]).is_content(RULE));
    }

    #[test]
    fn explains_changes_of_layout_where_they_are_all_its_own() {
        let rules = |bench: &Bench| -> Vec<String> {
            let found = bench.all(&Settings::default()).run;
            let ours = [RULE, "layout-transforms"];
            let rules = found.iter().map(|one| one.rule.to_string());
            rules.filter(|rule| ours.contains(&rule.as_str())).collect()
        };
        assert_eq!(rules(&network(25.0)), [RULE]);
        let other = network(25.0).launch("transposeNaive(float*)", (1000, 256), (1, 90.0), &[]);
        assert_eq!(rules(&other), ["layout-transforms", RULE]);
    }

    /// One convolution by five algorithms, another by two, as in a network that is not warm yet.
    #[test]
    fn algorithms_that_are_tried_are_no_workload() {
        const NAMES: [&str; 5] = [
            "implicit_convolve_sgemm",
            "explicit_convolve_sgemm",
            "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1",
            "volta_scudnn_128x64_relu_small_nn_v1",
            "volta_sgemm_128x64_nn",
        ];
        let bench = |tried: usize| {
            let row = |name: &str, channels: u32| {
                let sizes = format!(
                    "N=8,C={channels},H=32,W=32,K=6,P=30,Q=30,R=3,S=3,ph=0,pw=0,U=1,V=1,dh=1,dw=1,g=1,fp32"
                );
                format!("\"{name}\",\"conv2d\",\"{sizes}\",\"20000\",\"1000\",\"1000\"")
            };
            let tried = NAMES.iter().take(tried).map(|name| row(name, 3));
            let usual = NAMES.iter().take(2).map(|name| row(name, 6));
            let rows: Vec<String> = tried.chain(usual).collect();
            pyprof(&rows.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let found = bench(5).found(RULE);
        assert_eq!(
            found.message,
            "the library was trying algorithms: 5 for one convolution; all trials: 5 launches, 100 µs, 71.4% of the run"
        );
        assert_eq!((found.at_stake_s, found.confidence), (0.0, Confidence::High));
        assert!(bench(4).is_content(RULE));
    }

    #[test]
    fn cannot_judge_without_times() {
        let bench = h100().launch(CONVOLUTION, (1000, 256), (1, f64::NAN), &[]);
        assert_eq!(bench.lacks(RULE), ["gpu__time_duration.sum"]);
    }
}
