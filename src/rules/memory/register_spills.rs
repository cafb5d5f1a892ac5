//! Flags kernels that keep values in local memory for want of registers.

use super::caches::{about_excess, excess};
use crate::model::Quantity;
use crate::rules::{Check, Confidence, Judgment, Missing, Rule, Subject, Threshold};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "register-spills",
    summary: "registers spill to local memory",
    documentation: "\
## What it finds
Kernels whose compiler ran out of registers and keeps values in local memory.

## Why it costs time
Local memory is device memory behind L1 and L2. Each spilled value is stored and loaded again,
which takes instructions, fills L1 and, where L1 is too small, moves bytes.

## Detection
Spills cause at least `sectors` of the sectors accessed: the share of local memory in those of L1
(or of L2, where bulk copies make them more), times the share of its requests that Nsight Compute
2025 and later attributes to spills. Where sectors were not counted, at least `instructions` of the warp instructions are spills. Older versions do not
separate spills from arrays: then the kernel must have at least `registers` registers per thread,
close to the maximum of 255.

## Remedy
Allow more registers (`-maxrregcount`, second argument of `__launch_bounds__`); unroll less; keep
fewer values alive across loops; split the kernel; spill to shared memory (`.pragma
\"enable_smem_spilling\"`, CUDA 13).

## False positives
Local memory also holds arrays indexed at run time: see `local-arrays`. A few spills outside of
loops cost nothing, and more registers can cost more occupancy than the spills did.

## Sources
*CUDA C++ Best Practices Guide*, \"Local Memory\" and \"Register Pressure\"; *Nsight Compute Profiling
Guide*, \"Memory Tables\"; P. Micikevicius, *Local Memory and Register Spilling*, NVIDIA 2011.
",
    thresholds: &[SECTORS, INSTRUCTIONS, REGISTERS],
    silences: &[
        "local-arrays",
        "l1-bandwidth-bound",
        "l2-bandwidth-bound",
        "warp-stalls",
        "low-issue-utilization",
    ],
    check: Check::Kernel(check),
};

const SECTORS: Threshold =
    Threshold::new("sectors", 0.05, "1", "less disappears in the other L1 traffic");

const INSTRUCTIONS: Threshold =
    Threshold::new("instructions", 0.05, "1", "fewer disappear among the other instructions");

const REGISTERS: Threshold = Threshold::new(
    "registers",
    200.0,
    "1",
    "with fewer, arrays indexed at run time are the more likely cause of local memory",
);

fn check(subject: &Subject<'_>) -> Judgment {
    let spills = subject.get(Quantity::SpillShare);
    let local = subject.get(Quantity::LocalSectorShare);
    let registers = subject.get(Quantity::RegistersPerThread);
    let instructions = subject.get(Quantity::SpillInstructionShare);
    let (share, confidence, message) = match (spills, local, instructions) {
        (Some(spills), Some(local), _) => {
            let share = spills * local;
            if share < subject.threshold(&SECTORS) {
                return Ok(None);
            }
            let message =
                format!("register spills cause {} of the sectors accessed", whole_percent(share));
            (share, Confidence::High, message)
        }
        (_, None, Some(share)) => {
            if share < subject.threshold(&INSTRUCTIONS) {
                return Ok(None);
            }
            let message = format!(
                "{} of the instructions store or load spilled registers",
                whole_percent(share)
            );
            (share, Confidence::High, message)
        }
        (Some(spills), None, None) if spills <= 0.0 => return Ok(None),
        (_, None, None) => {
            return Err(Missing("l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"));
        }
        (None, Some(local), _) => {
            let registers = registers.ok_or(Missing("launch__registers_per_thread"))?;
            if local < subject.threshold(&SECTORS) || registers < subject.threshold(&REGISTERS) {
                return Ok(None);
            }
            let message = format!(
                "local memory takes {} of the sectors accessed at {registers:.0} registers per \
                 thread: values probably spill",
                whole_percent(local)
            );
            (local, Confidence::Medium, message)
        }
    };
    let stake = excess(subject, 1.0 - share);
    let finding = about_excess(subject, message, 1.0 - share, stake)
        .confidence(confidence)
        .evidence_if("spill share of the local-memory requests", spills, "1")
        .evidence_if("spill share of the instructions", instructions, "1")
        .evidence_if("local-memory share of the sectors accessed", local, "1")
        .evidence_if("registers per thread", registers, "1")
        .evidence_if("theoretical occupancy", subject.get(Quantity::TheoreticalOccupancy), "1")
        .evidence_if("L1 hit rate", subject.get(Quantity::L1HitRate), "1");
    Ok(Some(
        finding.next(
            subject.rewrite("compile with -Xptxas -v, allow more registers, and measure again"),
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_figures::judge;

    const LOCAL: (Quantity, f64) = (Quantity::LocalSectorShare, 0.3);

    #[test]
    fn counted_and_likely_spills_are_found() {
        let counted = judge(&RULE, &[(Quantity::SpillShare, 0.5), LOCAL]).unwrap().unwrap();
        assert_eq!(counted.confidence, Confidence::High);
        let counted = judge(&RULE, &[(Quantity::SpillInstructionShare, 0.2)]).unwrap().unwrap();
        assert_eq!(counted.confidence, Confidence::High);
        let likely = [(Quantity::RegistersPerThread, 255.0), LOCAL];
        let likely = judge(&RULE, &likely).unwrap().unwrap();
        assert_eq!(likely.confidence, Confidence::Medium);
    }

    #[test]
    fn local_memory_without_spills_is_left_alone() {
        for without in [(Quantity::SpillShare, 0.1), (Quantity::RegistersPerThread, 40.0)] {
            assert!(judge(&RULE, &[without, LOCAL]).unwrap().is_none(), "{without:?}");
        }
    }

    #[test]
    fn without_local_traffic_it_cannot_judge() {
        assert!(judge(&RULE, &[(Quantity::RegistersPerThread, 255.0)]).is_err());
    }
}
