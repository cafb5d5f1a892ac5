//! Flags blocks whose last warp is only partly filled.

use super::latency;
use crate::roofline;
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Stake, Subject};
use crate::units::{Seconds, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "block-size-not-warp-multiple",
    summary: "the last warp of each block has idle lanes",
    documentation: "\
## What it finds
Kernels whose threads per block are not a multiple of the warp size.

## Why it costs time
Warps are scheduled as a whole. A block of 33 threads takes two warps, and 31 lanes of the second
warp do nothing but occupy slots and issue cycles.

## Detection
Threads per block are not a multiple of 32 (64 on AMD CDNA). Idle lanes cost their share of the
time where instructions or math limit the kernel, that is, where the schedulers or the SMs are at
least 60% busy. Elsewhere no savings are claimed.

## Remedy
Round the block size up to a multiple of 32, usually 128 or 256, and have each thread check its
index.

## False positives
Kernels that wait for memory do not get faster with full warps.

## Sources
*CUDA C++ Best Practices Guide*, \"Thread and Block Heuristics\"; `LaunchConfiguration.py` of Nsight
Compute; *HIP Performance Guidelines*.
",
    thresholds: &[],
    silences: &[],
    check: Check::Kernel(check),
};

fn check(subject: &Subject<'_>) -> Judgment {
    let threads = subject.threads()?;
    let width = width(subject)?;
    let warps = threads.div_ceil(width);
    let idle = roofline::excess_fraction((warps * width) as f64, threads as f64);
    if idle <= 0.0 {
        return Ok(None);
    }
    let high = match latency::issues(subject) {
        Some(false) => Seconds::ZERO,
        Some(true) | None => subject.time() * idle,
    };
    let is_certain = latency::issues(subject).is_some();
    let low = if is_certain { high } else { Seconds::ZERO };
    let plural = if warps == 1 { "" } else { "s" };
    let noun = if threads == 1 { "thread" } else { "threads" };
    let message = format!(
        "blocks of {threads} {noun} take {warps} warp{plural} of {width}: {} of the lanes \
         are idle",
        whole_percent(idle)
    );
    let finding = subject
        .finding(message, Stake { low, high, estimator: "idle-lanes" })
        .confidence(if is_certain { Confidence::Medium } else { Confidence::Low })
        .evidence("threads per block", threads as f64, "1")
        .evidence("idle lanes", idle, "1")
        .next(subject.rewrite(format!("use {} threads per block", warps * width)));
    Ok(Some(finding))
}

/// Lanes of a warp; a wavefront of CDNA has 64, one of RDNA is compiled to 32 or 64.
fn width(subject: &Subject<'_>) -> Result<u64, Missing> {
    let device = subject.ran().device.as_ref();
    if let Some(limits) = device.and_then(crate::catalog::Device::limits) {
        return Ok(u64::from(limits.threads_per_warp));
    }
    match device.and_then(|device| device.gfx.as_deref()) {
        Some(gfx) if gfx.starts_with("gfx9") => Ok(64),
        Some(_) => Ok(32),
        None if subject.compute_capability().is_some() => Ok(32),
        None => Err(Missing("--device")),
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Quantity;
    use crate::rules::engine::bench_launches::{h100, on};

    const RULE: &str = "block-size-not-warp-multiple";

    #[test]
    fn fires_where_lanes_cost_time() {
        let busy = [(Quantity::SmThroughput, 0.8)];
        let found = h100().launch("k", (1000, 33), (1, 1000.0), &busy).found(RULE);
        assert_eq!(
            found.message,
            "blocks of 33 threads take 2 warps of 32: 48% of the lanes are idle"
        );
        assert_eq!(found.next.as_deref(), Some("use 64 threads per block"));
        assert!((found.at_stake_s - 1e-3 * 31.0 / 64.0).abs() < 1e-9);
    }

    #[test]
    fn counts_it_as_minor_where_memory_limits() {
        let idle = [(Quantity::SmThroughput, 0.2)];
        let (found, tally) = h100().launch("k", (1000, 33), (1, 1000.0), &idle).ask(RULE);
        assert_eq!((found.len(), tally.minor), (0, 1));
    }

    #[test]
    fn stays_quiet_on_multiples() {
        assert!(h100().launch("k", (1000, 96), (1, 1000.0), &[]).is_content(RULE));
        assert!(on("MI300X").launch("k", (1000, 128), (1, 1000.0), &[]).is_content(RULE));
    }
}
