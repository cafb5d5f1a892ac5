//! Flags kernels with too few resident warps to hide latency.

use super::{Check, Confidence, Judgement, Rule, Subject, Threshold};
use crate::model::Quantity;
use crate::roofline::BUSY;

pub(super) const RULE: Rule = Rule {
    id: "low-occupancy",
    summary: "too few resident warps to hide latency",
    documentation: "\
## What it finds
Kernels far from both roofs in which, on average, only few of the possible warps are resident.

## Why it costs time
A multiprocessor hides the latency of memory and arithmetic by switching between warps. With few warps
there is often none that is ready.

## How it decides
Achieved occupancy below `occupancy` while the busiest unit stays below 60 % of speed-of-light, so that
latency and not throughput is the likely limit.

## What to try
Fewer registers per thread (`__launch_bounds__`), less shared memory per block, other block sizes, a
larger grid, or more independent loads per thread.

## When it is wrong
Kernels that hide latency by instruction-level parallelism or asynchronous copies reach their roof at
low occupancy (tensor-core matrix products usually do); those have a busy unit and are left alone.

## Sources
V. Volkov, *Better performance at lower occupancy*, GTC 2010; *Nsight Compute Profiling Guide*,
\"Occupancy\"; *CUDA C++ Best Practices Guide*, \"Occupancy\".
",
    thresholds: &[OCCUPANCY],
    check: Check::Kernel(check),
};

const OCCUPANCY: Threshold = Threshold::new(
    "occupancy",
    0.30,
    "1",
    "below, latency is rarely hidden by other warps; instruction-level parallelism shows as a busy unit",
);

fn check(subject: &Subject<'_>) -> Judgement {
    let metric = "sm__warps_active.avg.pct_of_peak_sustained_active";
    let occupancy = subject.need(Quantity::AchievedOccupancy, metric)?;
    let busy = subject.busiest();
    if occupancy >= subject.threshold(&OCCUPANCY) || busy >= BUSY {
        return Ok(None);
    }
    let limit = subject.get(Quantity::TheoreticalOccupancy);
    let (cause, next) = match limit {
        Some(limit) if limit < subject.threshold(&OCCUPANCY) => (
            format!("; registers, shared memory or block size allow {:.0} %", limit * 100.0),
            "free the resource that limits the resident blocks, and time it",
        ),
        Some(limit) => (
            format!("; the launch would allow {:.0} %", limit * 100.0),
            "launch more blocks, or balance the work between them",
        ),
        None => (String::new(), "launch more, or larger, blocks"),
    };
    let message = format!("{:.0} % of the possible warps are resident{cause}", occupancy * 100.0);
    let finding = subject
        .finding(message, subject.share(1.0 - busy / BUSY, "busy-unit"))
        .confidence(Confidence::Medium)
        .evidence("achieved occupancy", occupancy, "1")
        .evidence_if("theoretical occupancy", limit, "1")
        .evidence("busiest unit", busy, "1")
        .next(next);
    Ok(Some(finding))
}
