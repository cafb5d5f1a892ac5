//! Notes kernels that use device memory as well as any kernel can.

use crate::model::Quantity;
use crate::rules::{Check, Judgment, Missing, Rule, Subject, Threshold};
use crate::units::Seconds;

pub(super) const RULE: Rule = Rule {
    id: "dram-saturated",
    summary: "device memory delivers about all it can",
    documentation: "\
## What it finds
Kernels that move their bytes at nearly the peak bandwidth of device memory.

## Why it costs time
Such a kernel is as fast as its traffic allows. Tuning its code wins nothing; only fewer bytes do.

## How it decides
Bytes moved ÷ (measured time × peak bandwidth) is at least `saturated`, in a kernel that takes at least
`share` of the run. Nsight Compute's own percentage counts commands beside data, and is higher. Without
bytes, the share of cycles in which data moved decides.

## What to try
Fuse it with the kernels that write its inputs or read its outputs; use 16- or 8-bit formats; recompute
instead of reloading; block the loops so that L2 or shared memory serves the reuse; compress.

## When it is wrong
Nothing is wrong with such a kernel as it stands. Bytes can still be moved in vain: see
`uncoalesced-access` and `partial-dram-bursts`.

## Sources
NVIDIA, *Memory-Limited Layers User's Guide*; S. Williams, A. Waterman, D. Patterson, *Roofline*,
Communications of the ACM 52(4), 2009; `SpeedOfLight.py` of Nsight Compute (80%).
",
    thresholds: &[SATURATED, SHARE],
    silences: &[],
    check: Check::Kernel(check),
};

const SATURATED: Threshold = Threshold::new(
    "saturated",
    0.80,
    "1",
    "good kernels reach 85 to 92% of the peak of device memory",
);

const SHARE: Threshold = Threshold::new("share", 0.01, "1", "of smaller kernels it is no news");

fn check(subject: &Subject<'_>) -> Judgment {
    let kernel = subject.kernel;
    let modeled = kernel.modeled;
    let reached = kernel.memory_time.filter(|_| modeled > Seconds::ZERO).map(|time| time / modeled);
    let reached = reached
        .or_else(|| subject.get(Quantity::DramActive))
        .ok_or(Missing("dram__bytes_read.sum and dram__bytes_write.sum"))?;
    if reached < subject.threshold(&SATURATED) || kernel.share < subject.threshold(&SHARE) {
        return Ok(None);
    }
    let message = format!(
        "device memory delivers {:.0}% of its peak: only fewer bytes make it faster",
        reached * 100.0
    );
    let rate = kernel.bytes.filter(|_| modeled > Seconds::ZERO);
    let finding = subject
        .info(message)
        .evidence("share of the peak bandwidth", reached, "1")
        .evidence_if("bandwidth", rate.map(|bytes| (bytes / modeled).get()), "B/s")
        .evidence_if(
            "device memory busy, commands included",
            subject.get(Quantity::DramThroughput),
            "1",
        );
    Ok(Some(finding.next("fuse it with a neighbor, or halve the width of its data")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_figures::judge;

    #[test]
    fn a_kernel_at_the_memory_roof_is_noted() {
        // 3.0 of 3.35 TB/s.
        let finding = judge(&RULE, &[(Quantity::DramBytes, 3.0e9)]).unwrap().unwrap();
        assert!(finding.at_stake_s == 0.0 && finding.message.contains("% of its peak"));
    }

    #[test]
    fn a_slower_one_is_left_alone_whatever_the_busy_share() {
        let figures = [(Quantity::DramBytes, 2.4e9), (Quantity::DramThroughput, 0.92)];
        assert!(judge(&RULE, &figures).unwrap().is_none());
    }
}
