//! Tells that no counter was read: headroom is against the work that is needed, not that was done.

use crate::analysis::Kernel;
use crate::model::OriginKind;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Severity};
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "algorithmic-only",
    summary: "operations and bytes are counted from shapes, not measured",
    documentation: "\
## What it finds
Profiles without any hardware counter, whose operations and bytes come from the shapes of operators.

## Why it costs time
It costs none, but headroom then compares with the work that the operator *needs*. Traffic that a kernel
wastes looks like a slow kernel, traffic that caches save like one that is faster than its roof, and an
algorithm that does less (Winograd, causal attention) like one that beats the hardware.

## How it decides
Some kernel has operations or bytes, and those of all of them were counted from shapes.

## What to try
Measure the kernels at the top with Nsight Compute: the bytes that really moved tell whether a kernel
wastes traffic or bandwidth.

## When it is wrong
It is not: it says which question the headroom answers.

## Sources
S. Williams, A. Waterman, D. Patterson, *Roofline*, CACM 52(4), 2009 (compulsory traffic); NVIDIA,
*PyProf* 3.11.
",
    thresholds: &[],
    silences: &[],
    check: Check::Run(check),
};

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let is_counted = |kernel: &&Kernel| kernel.flops.is_some() || kernel.bytes.is_some();
    let counted: Vec<&Kernel> = run.analysis.kernels.iter().filter(is_counted).collect();
    let algorithmic = Some(OriginKind::Algorithmic);
    // Where launches of one name differ, the longest, which tells the origin, may have no counts.
    let is_from_counters = |kernel: &Kernel| ![algorithmic, None].contains(&kernel.provenance);
    let is_from_shapes = |kernel: &&Kernel| kernel.provenance == algorithmic;
    if !counted.iter().any(is_from_shapes) || run.analysis.kernels.iter().any(is_from_counters) {
        return Ok(Vec::new());
    }
    let time: Seconds = counted.iter().map(|kernel| kernel.measured).sum();
    let share = run.share(time);
    let finding = run
        .finding(
            "operations and bytes are counted from shapes, not measured: headroom is against the \
             work that is needed, and wasted traffic is not told from a slow kernel"
                .to_owned(),
        )
        .severity(Severity::Info)
        .confidence(Confidence::High)
        .evidence("kernels counted from shapes", counted.len() as f64, "1")
        .evidence("their share of the run", share, "1")
        .next("compare the bytes of the slowest kernel with those that Nsight Compute counts");
    Ok(vec![finding])
}

#[cfg(test)]
mod tests {
    use crate::rules::Severity;
    use crate::rules::engine::bench_launches::{h100, pyprof};

    const RULE: &str = "algorithmic-only";
    const RELU: &str = "\"relu\",\"relu\",\"T=(1000,),fp32,\",\"900000\",\"1000\",\"8000\"";

    #[test]
    fn tells_counts_from_shapes() {
        let found = pyprof(&[RELU]).found(RULE);
        assert!(found.message.starts_with("operations and bytes are counted from shapes"));
        assert_eq!((found.severity, found.at_stake_s), (Severity::Info, 0.0));
    }

    #[test]
    fn stays_quiet_on_counters_and_on_nothing() {
        assert!(h100().launch("k", (1000, 256), (1, 100.0), &[]).is_content(RULE));
        assert!(h100().bare("k", (1000, 256), (1, 100.0), &[]).is_content(RULE));
    }
}
