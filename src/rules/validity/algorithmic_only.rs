//! Tells that no counter was read: headroom is against the work that is needed, not that was done.

use crate::analysis::Kernel;
use crate::model::OriginKind;
use crate::rules::{Check, Confidence, Finding, Missing, Rule, Run, Severity};
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "algorithmic-only",
    summary: "operations and bytes come from shapes, not from counters",
    documentation: "\
## What it finds
Profiles without hardware counters, whose operations and bytes were computed from operator shapes.

## Why it costs time
No time is lost, but headroom then compares with the work that the operator *needs*. Wasted
traffic looks like a slow kernel, traffic served by caches looks faster than the roofline, and an
algorithm that does less work (Winograd, causal attention) seems to beat the hardware.

## Detection
At least one kernel has operations or bytes, and all of them were computed from shapes.

## Remedy
Profile the top kernels with Nsight Compute, or with ROCm Compute Profiler on AMD's devices: the bytes actually moved show whether a kernel wastes
traffic or bandwidth.

## False positives
None: the finding only says which question the headroom answers.

## Sources
S. Williams, A. Waterman, D. Patterson, *Roofline*, CACM 52(4), 2009 (compulsory traffic); NVIDIA,
*PyProf* 3.11.
",
    thresholds: &[],
    silences: &[],
    check: Check::Run(check),
};

fn check(run: &Run<'_>) -> Result<Vec<Finding>, Missing> {
    let is_counted = |kernel: &&Kernel| kernel.flops().is_some() || kernel.bytes.is_some();
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
            "operations and bytes come from shapes, not counters: wasted traffic cannot be \
             separated from a slow kernel"
                .to_owned(),
        )
        .severity(Severity::Info)
        .confidence(Confidence::High)
        .evidence("kernels with work from shapes", counted.len() as f64, "1")
        .evidence("their share of the run", share, "1")
        .next(format!(
            "profile the slowest kernel with {}, and compare the bytes it counts",
            run.analysis.counting_profiler()
        ));
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
        assert!(found.message.starts_with("operations and bytes come from shapes"));
        assert_eq!((found.severity, found.at_stake_s), (Severity::Info, 0.0));
    }

    #[test]
    fn stays_quiet_on_counters_and_on_nothing() {
        assert!(h100().launch("k", (1000, 256), (1, 100.0), &[]).is_content(RULE));
        assert!(h100().bare("k", (1000, 256), (1, 100.0), &[]).is_content(RULE));
    }
}
