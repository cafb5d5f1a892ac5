//! Flags kernels that use local memory though registers were left: arrays indexed at run time.

use super::caches::excess;
use crate::model::Quantity;
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Subject, Threshold};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "local-arrays",
    summary: "per-thread arrays live in local memory",
    documentation: "\
## What it finds
Kernels that use local memory without running out of registers.

## Why it costs time
Registers cannot be indexed. An array indexed with a value known only at run time is placed in
local memory, which is device memory behind L1 and L2, even if it is small.

## Detection
Local memory takes at least `sectors` of the sectors accessed, those of L1 (or of L2, where bulk
copies make them more), excluding the part of its requests that
Nsight Compute 2025 and later attributes to spills. Where spills were not counted separately, the
kernel has fewer than `registers` registers per thread.

## Remedy
Make the indices constant: fully unroll loops over the array; replace the array by scalars; select
by comparison instead of by index; move the array to shared memory, one column per thread.

## False positives
A register limit (`__launch_bounds__`, `-maxrregcount`) makes a kernel spill at any count; the
compiler's report (`-Xptxas -v`) separates spills from the stack frame. Calls that are not inlined
and recursion use the stack as well.

## Sources
*CUDA C++ Best Practices Guide*, \"Local Memory\"; *CUDA C++ Programming Guide*, \"Device Memory Accesses\";
M. Harris, *Fast Dynamic Indexing of Private Arrays in CUDA*, NVIDIA Technical Blog 2015.
",
    thresholds: &[SECTORS, REGISTERS],
    silences: &["l1-bandwidth-bound", "warp-stalls", "low-issue-utilization"],
    check: Check::Kernel(check),
};

const SECTORS: Threshold =
    Threshold::new("sectors", 0.05, "1", "less local memory disappears in the other L1 traffic");

const REGISTERS: Threshold = Threshold::new(
    "registers",
    200.0,
    "1",
    "with more, the compiler probably ran out of the 255 per thread",
);

fn check(subject: &Subject<'_>) -> Judgment {
    let metric = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum";
    let local = subject.need(Quantity::LocalSectorShare, metric)?;
    let spills = subject.get(Quantity::SpillShare);
    let registers = subject.get(Quantity::RegistersPerThread);
    let (arrays, confidence) = match (spills, registers) {
        (Some(spills), _) => (local * (1.0 - spills), Confidence::High),
        (None, Some(registers)) if registers < subject.threshold(&REGISTERS) => {
            (local, Confidence::Low)
        }
        (None, Some(_)) => return Ok(None),
        (None, None) => return Err(Missing("launch__registers_per_thread")),
    };
    if arrays < subject.threshold(&SECTORS) {
        return Ok(None);
    }
    let why = if spills.is_some() { "without spills" } else { "although registers were left" };
    let message =
        format!("local memory takes {} of the sectors accessed {why}", whole_percent(arrays));
    let finding = subject
        .finding(message, excess(subject, 1.0 - arrays))
        .confidence(confidence)
        .evidence("local-memory share of the sectors accessed", local, "1")
        .evidence_if("spill share of the local-memory requests", spills, "1")
        .evidence_if("registers per thread", registers, "1")
        .evidence_if("L1 hit rate", subject.get(Quantity::L1HitRate), "1");
    Ok(Some(finding.next(subject.rewrite(
        "unroll the loops that index the array, then check that the stack frame is gone",
    ))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_figures::judge;

    const LOCAL: (Quantity, f64) = (Quantity::LocalSectorShare, 0.3);

    #[test]
    fn local_memory_without_spills_is_found() {
        let counted = judge(&RULE, &[LOCAL, (Quantity::SpillShare, 0.0)]).unwrap().unwrap();
        assert_eq!(counted.confidence, Confidence::High);
        let likely = [LOCAL, (Quantity::RegistersPerThread, 40.0)];
        assert_eq!(judge(&RULE, &likely).unwrap().unwrap().confidence, Confidence::Low);
    }

    #[test]
    fn spills_and_little_local_memory_are_left_alone() {
        assert!(judge(&RULE, &[LOCAL, (Quantity::SpillShare, 1.0)]).unwrap().is_none());
        assert!(judge(&RULE, &[LOCAL, (Quantity::RegistersPerThread, 255.0)]).unwrap().is_none());
        let little = [(Quantity::LocalSectorShare, 0.01), (Quantity::SpillShare, 0.0)];
        assert!(judge(&RULE, &little).unwrap().is_none());
    }

    #[test]
    fn without_sectors_it_cannot_judge() {
        assert!(judge(&RULE, &[(Quantity::SpillShare, 0.0)]).is_err());
    }
}
