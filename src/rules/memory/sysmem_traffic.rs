//! Flags kernels that fetch much of their data over the link to the host.

use crate::model::Quantity;
use crate::rules::{Check, Confidence, Judgment, Rule, Stake, Subject, Threshold};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "sysmem-traffic",
    summary: "the kernel accesses system memory",
    documentation: "\
## What it finds
Kernels for which a notable part of the L2 sectors goes to system memory.

## Why it costs time
A host link is ten to fifty times slower than device memory, with several times the latency. A few
percent of the accesses can take most of the time.

## Detection
At least `sectors` of the sectors looked up in L2 go to system memory. Savings: at most everything
above the DRAM roof, at least that share of the time.

## Remedy
Copy the data to the device ahead of use (`cudaMemcpyAsync` on another stream); prefetch managed
memory (`cudaMemPrefetchAsync`); advise its location (`cudaMemAdvise`); write results through a
device buffer.

## False positives
On devices with coherent host memory (Grace Hopper and later) in-place access can be intended and
fast. A kernel that reads its input once gains nothing from a copy, except by overlap. Compute
capability 10.0 and later uses other counters (`syslts__*`), which this rule does not read.

## Sources
*CUDA C++ Best Practices Guide*, \"Zero Copy\"; *CUDA C++ Programming Guide*, \"Unified Memory\";
`MemoryApertureUsage.py` of Nsight Compute.
",
    thresholds: &[SECTORS],
    silences: &[],
    check: Check::Kernel(check),
};

const SECTORS: Threshold = Threshold::new(
    "sectors",
    0.05,
    "1",
    "over a link twenty times slower, this takes as long as all the rest",
);

fn check(subject: &Subject<'_>) -> Judgment {
    let metric = "lts__t_sectors_aperture_sysmem_lookup_miss.sum";
    let share = subject.need(Quantity::L2SystemShare, metric)?;
    if share < subject.threshold(&SECTORS) {
        return Ok(None);
    }
    let gap = subject.gap();
    let low = subject.share(share, "gap").low;
    let message = format!("{} of the L2 sectors go to system memory", whole_percent(share));
    let finding = subject
        .finding(message, Stake { low: if low < gap.low { low } else { gap.low }, ..gap })
        .confidence(Confidence::Medium)
        .evidence("system-memory share of the L2 sectors", share, "1")
        .evidence_if("DRAM utilization", subject.get(Quantity::DramThroughput), "1")
        .evidence_if("stalled on data", subject.get(Quantity::StallLongScoreboard), "1");
    Ok(Some(
        finding.next("copy the data to the device first, and measure copy and kernel together"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_figures::judge;

    #[test]
    fn a_tenth_of_the_sectors_is_found() {
        let finding = judge(&RULE, &[(Quantity::L2SystemShare, 0.1)]).unwrap().unwrap();
        assert_eq!(finding.estimator, "gap");
        assert!(finding.at_stake_low_s > 0.0 && finding.at_stake_low_s < finding.at_stake_s);
    }

    #[test]
    fn a_few_sectors_are_left_alone() {
        assert!(judge(&RULE, &[(Quantity::L2SystemShare, 0.001)]).unwrap().is_none());
    }

    #[test]
    fn without_the_counter_it_cannot_judge() {
        assert!(judge(&RULE, &[]).is_err());
    }
}
