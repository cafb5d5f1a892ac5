//! Notes kernels that use device memory as well as any kernel can.

use crate::model::Quantity;
use crate::rules::{Check, Judgment, Missing, Rule, Subject, Threshold};
use crate::units::{Seconds, whole_percent};

pub(super) const RULE: Rule = Rule {
    id: "dram-saturated",
    summary: "device memory is close to its peak bandwidth",
    documentation: "\
## What it finds
Kernels that move their bytes at nearly peak DRAM bandwidth.

## Why it costs time
Such a kernel is as fast as its traffic allows. Tuning the code saves nothing; only moving fewer
bytes helps.

## Detection
Bytes moved ÷ (measured time × peak bandwidth) is at least `saturated`, in a kernel with at least
`share` of the run. Nsight Compute's own percentage also counts commands and is higher. Without
bytes, the share of cycles in which data moved decides.

## Remedy
Fuse with the kernels that produce its inputs or consume its outputs; use 16- or 8-bit formats;
recompute instead of reloading; block loops so that L2 or shared memory serves the reuse;
compress.

## False positives
Nothing is wrong with such a kernel as it is. Bytes can still be wasted: see `uncoalesced-access`
and `partial-dram-bursts`.

## Sources
NVIDIA, *Memory-Limited Layers User's Guide*; S. Williams, A. Waterman, D. Patterson, *Roofline*,
Communications of the ACM 52(4), 2009; `SpeedOfLight.py` of Nsight Compute (80%).
",
    thresholds: &[SATURATED, SHARE],
    silences: &[],
    check: Check::Kernel(check),
};

const SATURATED: Threshold =
    Threshold::new("saturated", 0.80, "1", "good kernels reach 85–92% of DRAM peak bandwidth");

const SHARE: Threshold =
    Threshold::new("share", 0.01, "1", "smaller kernels are not worth reporting");

fn check(subject: &Subject<'_>) -> Judgment {
    let kernel = subject.kernel;
    let modeled = kernel.modeled;
    let reached =
        subject.dram_reached().ok_or(Missing("dram__bytes_read.sum and dram__bytes_write.sum"))?;
    let share = subject.analysis.totals.share(kernel.measured);
    if reached < subject.threshold(&SATURATED) || share < subject.threshold(&SHARE) {
        return Ok(None);
    }
    let message = format!(
        "memory-bound at {} of peak DRAM bandwidth: only moving fewer bytes helps",
        // Within the tolerance of the timer.
        whole_percent(reached.min(1.0))
    );
    let rate = kernel.bytes.filter(|_| modeled > Seconds::ZERO);
    let finding = subject
        .info(message)
        .evidence("share of the peak bandwidth", reached, "1")
        .evidence_if("bandwidth", rate.map(|bytes| (bytes / modeled).get()), "B/s")
        .evidence_if(
            "DRAM utilization, including commands",
            subject.get(Quantity::DramThroughput),
            "1",
        );
    Ok(Some(finding.next("fuse it with a neighboring kernel, or halve the width of its data")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_figures::judge;

    #[test]
    fn a_kernel_at_the_memory_roof_is_noted() {
        // 3.0 of 3.35 TB/s.
        let finding = judge(&RULE, &[(Quantity::DramBytes, 3.0e9)]).unwrap().unwrap();
        assert!(finding.at_stake_s == 0.0 && finding.message.contains("% of peak DRAM bandwidth"));
    }

    #[test]
    fn a_slower_one_is_left_alone_whatever_the_busy_share() {
        let figures = [(Quantity::DramBytes, 2.4e9), (Quantity::DramThroughput, 0.92)];
        assert!(judge(&RULE, &figures).unwrap().is_none());
    }
}
