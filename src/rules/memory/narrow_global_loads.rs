//! Flags kernels that load contiguous data four bytes per thread at a time and queue for it.

use super::caches::memory_stall;
use crate::model::Quantity;
use crate::roofline;
use crate::rules::engine::pipes::PIPES;
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Stake, Subject, Threshold, Unit};

pub(super) const RULE: Rule = Rule {
    id: "narrow-global-loads",
    summary: "contiguous data is loaded 4 bytes per thread at a time",
    documentation: "\
## What it finds
Kernels whose loads are contiguous but narrow while the units that handle load instructions are
busy.

## Why it costs time
A load instruction occupies the load/store unit and its queue whether a thread takes 4 bytes or
16. With 16 bytes per thread the same data needs a quarter of the instructions.

## Detection
At least `narrow` of the memory instructions move 4 bytes per thread or less (where not counted:
global loads touch at most 4.4 sectors per request); at least `contiguous` of each sector is used;
and the load/store pipe is at least `pipe` busy, or warps wait at least `stall` of their time for
its queue. Kernels that saturate DRAM are exempt.

## Remedy
Use `float4` or `ld.128` loads, two to eight elements per thread, `__align__(16)` on the data.

## False positives
Rows that are not multiples of 16 bytes need a scalar remainder. Wider loads take registers. The
width is counted over all memory instructions, shared memory included.

## Sources
J. Luitjens, *CUDA Pro Tip: Increase Performance with Vectorized Memory Access*, NVIDIA Technical Blog
2013; *CUDA C++ Programming Guide*, \"Device Memory Accesses\".
",
    thresholds: &[NARROW, CONTIGUOUS, PIPE, STALL],
    silences: &["warp-stalls", "low-issue-utilization"],
    check: Check::Kernel(check),
};

const NARROW: Threshold =
    Threshold::new("narrow", 0.80, "1", "with fewer, wide loads already carry most of the data");

const CONTIGUOUS: Threshold =
    Threshold::new("contiguous", 0.90, "1", "wider loads need threads that read consecutive data");

const PIPE: Threshold =
    Threshold::new("pipe", 0.50, "1", "below this, memory instructions are not the limit");

const STALL: Threshold =
    Threshold::new("stall", 0.30, "1", "share at which `CPIStall.py` of Nsight Compute fires");

/// Sectors per request up to which full, contiguous warps load at most 4 bytes per thread.
const SECTORS: std::ops::RangeInclusive<f64> = 0.9..=4.4;

/// Share of its peak from which device memory limits, however it is asked.
const SATURATED: f64 = 0.80;

const PIPE_METRIC: &str = "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_elapsed";

const STALL_METRIC: &str = "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio";

fn check(subject: &Subject<'_>) -> Judgment {
    let sectors = subject.get(Quantity::LoadSectorsPerRequest);
    let narrow = subject.get(Quantity::NarrowLoadShare);
    let is_narrow = match (narrow, sectors) {
        (Some(share), _) => share >= subject.threshold(&NARROW),
        (None, Some(sectors)) => SECTORS.contains(&sectors),
        (None, None) => {
            return Err(Missing("smsp__sass_inst_executed_op_memory_32b.sum and its like"));
        }
    };
    let pipe = subject.get(Quantity::PipeLsu);
    let stall = subject.get(Quantity::StallLgThrottle);
    let dram = subject.utilization(Unit::Dram).unwrap_or(0.0);
    if !is_narrow || dram >= SATURATED {
        return Ok(None);
    }
    // A broadcast is as narrow, but uses little of its sector.
    let used = subject.need(
        Quantity::LoadSectorEfficiency,
        "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio",
    )?;
    if used < subject.threshold(&CONTIGUOUS) {
        return Ok(None);
    }
    let pipe_binds = pipe.filter(|pipe| *pipe >= subject.threshold(&PIPE));
    let stall_binds = stall.filter(|stall| *stall >= subject.threshold(&STALL));
    // Half of the instructions with 8 bytes per thread, a quarter with 16.
    let stake = if let Some(pipe) = pipe_binds {
        // Not L1, which has fewer requests, too.
        let l2 = subject.utilization(Unit::L2).unwrap_or(0.0);
        let pipes = PIPES.iter().map(|pipe| pipe.quantity).filter(|one| *one != Quantity::PipeLsu);
        let others = pipes.filter_map(|one| subject.get(one)).fold(l2.max(dram), f64::max);
        let saved = |factor: f64| roofline::next_bottleneck(subject.time(), pipe, factor, others);
        Stake { low: saved(0.5), high: saved(0.25), estimator: "next-bottleneck" }
    } else if let Some(stall) = stall_binds {
        let stake = subject.stall(stall);
        Stake { low: stake.low * 0.5, high: stake.high * 0.75, ..stake }
    } else if pipe.is_none() {
        return Err(Missing(PIPE_METRIC));
    } else if stall.is_none() {
        return Err(Missing(STALL_METRIC));
    } else {
        return Ok(None);
    };
    let how =
        if pipe_binds.is_some() { "the load/store pipe is busy" } else { "its queue is full" };
    let message = format!(
        "contiguous data is loaded at most 4 bytes per thread, and {how}: wider loads need half \
         or a quarter of the instructions"
    );
    let finding = subject
        .finding(message, stake)
        .confidence(Confidence::Medium)
        .evidence_if("memory instructions of at most 4 bytes per thread", narrow, "1")
        .evidence_if("sectors per request, global loads", sectors, "1")
        .evidence("used share of each loaded sector", used, "1")
        .evidence_if("load/store pipe utilization", pipe, "1")
        .evidence_if("stalled on the load/store queue", stall, "1")
        .evidence_if("stalled on memory or its queue", memory_stall(subject), "1");
    Ok(Some(
        finding
            .next(subject.rewrite("load float4 (16 bytes per thread) where the row length allows")),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_figures::judge;

    const NARROW_AND_BUSY: [(Quantity, f64); 6] = [
        (Quantity::LoadSectorsPerRequest, 4.0),
        (Quantity::LoadSectorEfficiency, 1.0),
        (Quantity::PipeLsu, 0.8),
        (Quantity::L2Throughput, 0.3),
        (Quantity::DramThroughput, 0.4),
        (Quantity::StallLgThrottle, 0.1),
    ];

    #[test]
    fn narrow_loads_that_fill_the_pipe_are_found() {
        let finding = judge(&RULE, &NARROW_AND_BUSY).unwrap().unwrap();
        assert!(finding.at_stake_s > 0.0 && finding.at_stake_low_s <= finding.at_stake_s);
    }

    #[test]
    fn wide_loads_broadcasts_and_saturated_memory_are_left_alone() {
        for (at, value) in [(0, 16.0), (1, 0.125), (2, 0.2), (4, 0.9)] {
            let mut figures = NARROW_AND_BUSY;
            figures[at].1 = value;
            assert!(judge(&RULE, &figures).unwrap().is_none(), "{:?}", figures[at]);
        }
    }

    /// With fewer instructions the next unit binds; of a pipe that is not the busiest, nothing is won.
    #[test]
    fn other_units_bound_what_wider_loads_bring() {
        let with = |figure| judge(&RULE, &[&NARROW_AND_BUSY[..], &[figure]].concat());
        let stakes = |figure| {
            let finding = with(figure).unwrap().unwrap();
            [finding.at_stake_low_s, finding.at_stake_s].map(|stake| (stake * 1e6).round())
        };
        // Of 1000 µs: 0.8 becomes 0.4 of L2 and DRAM, or 0.6 of the FMA pipe.
        assert_eq!(stakes((Quantity::PipeFma, 0.1)), [500.0, 500.0]);
        assert_eq!(stakes((Quantity::PipeFma, 0.6)), [250.0, 250.0]);
        assert_eq!(stakes((Quantity::PipeAlu, 0.95)), [0.0, 0.0]);
    }

    #[test]
    fn without_widths_or_pipes_it_cannot_judge() {
        assert!(judge(&RULE, &NARROW_AND_BUSY[1..]).is_err());
        assert!(judge(&RULE, &NARROW_AND_BUSY[..2]).is_err());
    }

    #[test]
    fn one_of_pipe_and_queue_finds_but_both_are_needed_to_find_nothing() {
        let with = |limit: &[(Quantity, f64)]| {
            judge(&RULE, &[&NARROW_AND_BUSY[..2], &NARROW_AND_BUSY[3..5], limit].concat())
        };
        let [free, short] = [(Quantity::PipeLsu, 0.4), (Quantity::StallLgThrottle, 0.2)];
        assert_eq!(with(&[free]).unwrap_err(), Missing(STALL_METRIC));
        assert_eq!(with(&[short]).unwrap_err(), Missing(PIPE_METRIC));
        assert!(with(&[free, short]).unwrap().is_none());
        assert!(with(&[free, (Quantity::StallLgThrottle, 0.4)]).unwrap().is_some());
        assert!(with(&[(Quantity::StallLgThrottle, 0.4)]).unwrap().is_some());
        // Wide loads need neither.
        let wide = [(Quantity::LoadSectorsPerRequest, 16.0)];
        assert!(judge(&RULE, &wide).unwrap().is_none());
    }
}
