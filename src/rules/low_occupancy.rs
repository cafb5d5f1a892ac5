//! Flags kernels with too few resident warps to hide latency.

use super::{Finding, Missing, Rule, Severity, Subject};
use crate::model::Quantity;
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "low-occupancy",
    severity: Severity::Medium,
    summary: "too few resident warps to hide latency",
    documentation: "\
## What it finds
Kernels far from both roofs in which, on average, less than 30 % of the possible warps are resident.

## Why it costs time
A multiprocessor hides the latency of memory and arithmetic by switching between warps. With few warps
there is often none that is ready.

## How it decides
Achieved occupancy below 30 % while the busiest unit stays below 60 % of speed-of-light, so that
latency and not throughput is the likely limit.

## What to try
Fewer registers per thread (`__launch_bounds__`), less shared memory per block, other block sizes, a
larger grid, or more independent loads per thread.

## When it is wrong
Kernels that hide latency by instruction-level parallelism or asynchronous copies reach their roof at
low occupancy (tensor-core matrix products usually do); those are near the roof and not examined.
",
    check,
};

/// Below this, latency is rarely hidden by other warps (V. Volkov, GTC 2010, shows how instruction-level
/// parallelism can make up for it, which then shows as a busy unit).
const OCCUPANCY: f64 = 0.30;

/// From here on throughput, not latency, is the limit: the threshold of NVIDIA's `SpeedOfLight` rule.
const BUSY: f64 = crate::roofline::BUSY;

fn check(subject: &Subject<'_>) -> Result<Option<Finding>, Missing> {
    let kernel = subject.kernel;
    let occupancy = subject
        .need(Quantity::AchievedOccupancy, "sm__warps_active.avg.pct_of_peak_sustained_active")?;
    let busy = [Quantity::SmThroughput, Quantity::MemoryThroughput]
        .into_iter()
        .filter_map(|quantity| kernel.average(quantity))
        .fold(kernel.headroom.map_or(0.0, |headroom| 1.0 / headroom), f64::max);
    if occupancy >= OCCUPANCY || busy >= BUSY {
        return Ok(None);
    }
    let limit = kernel.average(Quantity::TheoreticalOccupancy);
    let cause = match limit {
        Some(limit) if limit < OCCUPANCY => {
            format!("; registers, shared memory or block size allow {:.0} %", limit * 100.0)
        }
        Some(limit) => format!("; the launch would allow {:.0} %", limit * 100.0),
        None => String::new(),
    };
    let message = format!("{:.0} % of the possible warps are resident{cause}", occupancy * 100.0);
    let at_stake = Seconds::new(kernel.measured.get() * (1.0 - busy / BUSY));
    Ok(Some(
        Finding::new(&RULE, subject, message, at_stake).evidence("achieved occupancy", occupancy),
    ))
}
