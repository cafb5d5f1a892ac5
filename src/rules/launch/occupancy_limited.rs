//! Flags kernels that wait, and whose registers, shared memory or blocks allow few resident warps.

use super::latency;
use crate::catalog::Limits;
use crate::model::Quantity;
use crate::plain::counted;
use crate::roofline;
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Stake, Subject, Threshold};
use crate::units::{Seconds, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "occupancy-limited",
    summary: "occupancy is limited by registers, shared memory or block size",
    documentation: "\
## What it finds
Latency-bound kernels whose launch configuration allows few of the possible warps, with the
limiting resource and, where it can be computed, the value that allows one more block.

## Why it costs time
An SM hides latency by switching between warps. Registers, shared memory, block slots and warp
slots each allow a number of blocks; the scarcest decides.

## Detection
Theoretical occupancy is below `theoretical`, with at least `reached` of it achieved where
counted; no unit and no roof is above 60%, so that latency is the likely limit; and the grid has
at least as many blocks as fit at once. A grid of exactly that many is often chosen to fit
(occupancy functions of the runtime, persistent kernels) and then has to grow as well. Every
resource that allows as few blocks as the scarcest is named. Savings: at most the share of time of
one more block, at least nothing.

## Remedy
Registers: `__launch_bounds__`, a smaller tile; where values already spill or a thread has the
maximum, split the kernel or unroll less so that fewer values are alive. Shared memory: fewer
stages, 16-bit staging, a larger carve-out (`cudaFuncAttributePreferredSharedMemoryCarveout`).
Block slots: larger blocks. Warp slots: a block size that divides them.

## False positives
Low occupancy alone is not a fault: kernels with many independent instructions per thread hide
latency without it. Those have a busy unit and are exempt; so are tensor-core products and
persistent kernels, whose asynchronous copies run ahead.

## Sources
V. Volkov, *Better performance at lower occupancy*, GTC 2010; `TheoreticalOccupancy.py` of Nsight
Compute; *Nsight Compute Profiling Guide*, \"Occupancy\"; *CUDA C++ Best Practices Guide*, \"Occupancy\";
CUDA occupancy calculator.
",
    thresholds: &[THEORETICAL, REACHED],
    silences: &["low-issue-utilization"],
    check: Check::Kernel(check),
};

const REACHED: Threshold = Threshold::new(
    "reached",
    0.60,
    "1",
    "share of theoretical occupancy; with less, imbalance or short blocks matter before the limit",
);
const THEORETICAL: Threshold = Threshold::new(
    "theoretical",
    0.80,
    "1",
    "TheoreticalOccupancy.py of Nsight Compute; kernels with a busy unit are exempt",
);

/// The most that a thread can have: the compiler would have taken more.
const MOST_REGISTERS: f64 = 255.0;

/// What blocks need of a multiprocessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Resource {
    Registers,
    SharedMemory,
    Blocks,
    Warps,
}

impl Resource {
    const ALL: [Self; 4] = [Self::Registers, Self::SharedMemory, Self::Blocks, Self::Warps];

    const fn quantity(self) -> Quantity {
        match self {
            Self::Registers => Quantity::BlocksByRegisters,
            Self::SharedMemory => Quantity::BlocksBySharedMemory,
            Self::Blocks => Quantity::BlocksBySlots,
            Self::Warps => Quantity::BlocksByWarps,
        }
    }

    const fn label(self) -> &'static str {
        match self {
            Self::Registers => "registers",
            Self::SharedMemory => "shared memory",
            Self::Blocks => "block slots",
            Self::Warps => "block size",
        }
    }

    const fn remedy(self) -> &'static str {
        match self {
            Self::Registers => "limit registers with __launch_bounds__ and check for spills",
            Self::SharedMemory => "use less shared memory per block, or a larger carve-out",
            Self::Blocks => "use larger blocks",
            Self::Warps => "use a block size that divides the warp slots",
        }
    }
}

fn check(subject: &Subject<'_>) -> Judgment {
    let metric = "sm__maximum_warps_per_active_cycle_pct";
    let theoretical = subject.need(Quantity::TheoreticalOccupancy, metric)?;
    if theoretical >= subject.threshold(&THEORETICAL) {
        return Ok(None);
    }
    // Pipelines of a product hide latency by copies that run ahead, which is what the room is taken for.
    let is_pipelined = subject.is_product() && subject.uses_tensor_cores() == Ok(true);
    if is_pipelined || subject.is_closed() || subject.is_persistent() {
        return Ok(None);
    }
    // Where far fewer warps are there than could be, the limit is not what keeps them away.
    let achieved = subject.get(Quantity::AchievedOccupancy);
    if achieved.is_some_and(|achieved| achieved < subject.threshold(&REACHED) * theoretical) {
        return Ok(None);
    }
    let allowed: Vec<(Resource, u32)> = Resource::ALL
        .into_iter()
        .filter_map(|one| Some((one, subject.count(one.quantity())?)))
        .collect();
    let blocks = allowed.iter().map(|(_, blocks)| *blocks).min();
    let blocks = blocks.ok_or(Missing("launch__occupancy_limit_registers"))?;
    // Fewer blocks than the four admit: then another resource is the scarcest (named barriers).
    if subject.resident().is_ok_and(|resident| resident < blocks) {
        return Ok(None);
    }
    let Some(busy) = latency::limits(subject)? else { return Ok(None) };
    let grid = subject.blocks().ok().zip(subject.sms().ok());
    // Blocks of the grid beyond those that fit at once.
    let waiting = grid.map(|(grid, sms)| grid.checked_sub(u64::from(sms) * u64::from(blocks)));
    if waiting == Some(None) {
        return Ok(None);
    }
    let scarce: Vec<Resource> =
        allowed.iter().filter(|(_, admits)| *admits == blocks).map(|(one, _)| *one).collect();
    let names = scarce.iter().map(|one| one.label()).collect::<Vec<_>>().join(" and ");
    let plural = if blocks == 1 { "" } else { "s" };
    let spills = subject.get(Quantity::SpillShare).is_some_and(|share| share > 0.0)
        || subject.get(Quantity::RegistersPerThread).is_some_and(|used| used >= MOST_REGISTERS);
    let steps: Vec<String> = scarce.iter().filter_map(|one| step(subject, *one, blocks)).collect();
    let next = if steps.len() == scarce.len() {
        let wanted = counted(u64::from(blocks) + 1, "block", "blocks");
        format!("{} to allow {wanted}", steps.join(" and "))
    } else {
        scarce.iter().map(|one| one.remedy()).collect::<Vec<_>>().join("; ")
    };
    let next = if spills && scarce.contains(&Resource::Registers) {
        // A bound alone would move still more values to local memory.
        format!(
            "keep fewer values alive (split the kernel, unroll less) and check for spills: {next}"
        )
    } else {
        next
    };
    let next =
        if waiting == Some(Some(0)) { format!("{next}, then launch more blocks") } else { next };
    // With warps as the only way to hide latency, time falls at most as their number grows.
    let share = (1.0 / f64::from(blocks + 1)).min(latency::idle(busy));
    let stake =
        Stake { low: Seconds::ZERO, high: subject.time() * share, estimator: "one-more-block" };
    let message = format!(
        "occupancy limited by {names}: {blocks} block{plural} at once, {} of the possible \
         warps",
        whole_percent(theoretical)
    );
    let finding = subject
        .finding(message, stake)
        .confidence(Confidence::Low)
        .evidence("theoretical occupancy", theoretical, "1")
        .evidence_if("achieved occupancy", achieved, "1")
        .evidence_if("registers per thread", subject.get(Quantity::RegistersPerThread), "1")
        .evidence_if("shared memory per block", subject.get(Quantity::SharedMemoryPerBlock), "B")
        .evidence("busiest unit", busy, "1");
    let finding = allowed.iter().fold(finding, |finding, (one, blocks)| {
        finding.evidence(format!("blocks by {}", one.label()), f64::from(*blocks), "1")
    });
    Ok(Some(finding.next(next)))
}

/// The next value of a resource that admits one more block than `blocks`; none where the limits of
/// the architecture are not known or do not explain what the export says.
fn step(subject: &Subject<'_>, resource: Resource, blocks: u32) -> Option<String> {
    let limits = subject.device().ok()?.limits()?;
    let threads = subject.threads().ok()? as u32;
    match resource {
        Resource::Registers => {
            let used = subject.count(Quantity::RegistersPerThread)?;
            let most = fewer_registers(limits, threads, used, blocks)?;
            Some(format!("{most} registers per thread instead of {used}"))
        }
        Resource::SharedMemory => {
            let used = subject.count(Quantity::SharedMemoryPerBlock)?;
            let most = less_shared_memory(limits, used, blocks)?;
            let kib = |bytes: u32| f64::from(bytes) / 1024.0;
            Some(format!("{:.1} KiB of shared memory instead of {:.1}", kib(most), kib(used)))
        }
        Resource::Blocks => None,
        Resource::Warps => {
            let most = limits.max_warps_per_sm / (blocks + 1) * limits.threads_per_warp;
            (most > 0 && most < threads).then(|| format!("{most} threads per block"))
        }
    }
}

/// The most registers a thread may have for one more block.
fn fewer_registers(limits: &Limits, threads: u32, used: u32, blocks: u32) -> Option<u32> {
    // The formula holds for 64 Ki registers in units of 256, and must explain the present number.
    let holds = limits.registers_per_sm == 65_536 && limits.register_granularity == 256;
    if !holds || roofline::register_limited_blocks(threads, used) != blocks {
        return None;
    }
    (1..used).rev().find(|less| roofline::register_limited_blocks(threads, *less) > blocks)
}

/// The most shared memory, reserve included, a block may have for one more block.
fn less_shared_memory(limits: &Limits, used: u32, blocks: u32) -> Option<u32> {
    let grain = limits.shared_granularity_bytes.max(1);
    let taken = used.next_multiple_of(grain);
    // A smaller carve-out admits fewer blocks: then it is the carve-out that should grow.
    if taken == 0 || limits.shared_bytes_per_sm() / taken != blocks {
        return None;
    }
    let most = limits.shared_bytes_per_sm() / (blocks + 1) / grain * grain;
    (most > limits.reserved_shared_bytes_per_block).then_some(most)
}

#[cfg(test)]
mod tests {
    use crate::model::Quantity;
    use crate::rules::engine::bench_launches::h100;

    const RULE: &str = "occupancy-limited";

    const REGISTERS: &[(Quantity, f64)] = &[
        (Quantity::TheoreticalOccupancy, 0.25),
        (Quantity::RegistersPerThread, 128.0),
        (Quantity::BlocksByRegisters, 2.0),
        (Quantity::BlocksBySharedMemory, 6.0),
        (Quantity::BlocksBySlots, 32.0),
        (Quantity::BlocksByWarps, 8.0),
        (Quantity::DramThroughput, 0.10),
    ];

    #[test]
    fn names_the_resource_and_its_next_value() {
        let found = h100().launch("k", (10_000, 256), (1, 1000.0), REGISTERS).found(RULE);
        assert_eq!(
            found.message,
            "occupancy limited by registers: 2 blocks at once, 25% of the possible warps"
        );
        assert_eq!(
            found.next.as_deref(),
            Some("80 registers per thread instead of 128 to allow 3 blocks")
        );
        assert!(found.at_stake_low_s == 0.0 && (found.at_stake_s - 1e-3 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn names_ties_together_and_shared_memory_with_its_size() {
        let values = [
            (Quantity::TheoreticalOccupancy, 0.25),
            (Quantity::BlocksByRegisters, 8.0),
            (Quantity::BlocksBySharedMemory, 2.0),
            (Quantity::SharedMemoryPerBlock, 100.0 * 1024.0),
        ];
        let found = h100().launch("k", (10_000, 256), (1, 1000.0), &values).found(RULE);
        assert_eq!(
            found.next.as_deref(),
            Some("76.0 KiB of shared memory instead of 100.0 to allow 3 blocks")
        );
        let values = [
            (Quantity::TheoreticalOccupancy, 0.5),
            (Quantity::BlocksByRegisters, 1.0),
            (Quantity::BlocksByWarps, 1.0),
        ];
        let found = h100().launch("k", (10_000, 1024), (1, 1000.0), &values).found(RULE);
        assert!(
            found
                .message
                .starts_with("occupancy limited by registers and block size: 1 block at once")
        );
    }

    /// A grid that is chosen to fit is no larger than registers let it be: 132 × 2 blocks.
    #[test]
    fn a_grid_that_just_fits_has_to_grow_with_the_room() {
        let found = h100().launch("k", (264, 256), (1, 1000.0), REGISTERS).found(RULE);
        assert_eq!(
            found.next.as_deref(),
            Some(
                "80 registers per thread instead of 128 to allow 3 blocks, then launch more blocks"
            )
        );
    }

    #[test]
    fn stays_quiet_where_a_unit_is_busy_or_room_is_left() {
        let mut values = REGISTERS.to_vec();
        assert!(h100().launch("k", (263, 256), (1, 1000.0), &values).is_content(RULE));
        values.push((Quantity::SmThroughput, 0.9));
        assert!(h100().launch("k", (10_000, 256), (1, 1000.0), &values).is_content(RULE));
    }

    #[test]
    fn cannot_judge_without_limits() {
        let values = [(Quantity::TheoreticalOccupancy, 0.25)];
        let lacks = h100().launch("k", (10_000, 256), (1, 1000.0), &values).lacks(RULE);
        assert_eq!(lacks, ["launch__occupancy_limit_registers"]);
    }
}
