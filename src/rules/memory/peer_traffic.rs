//! Flags kernels that fetch much of their data over the link between the GPUs.

use crate::model::Quantity;
use crate::rules::{Check, Confidence, Judgment, Rule, Stake, Subject, Threshold};
use crate::units::whole_percent;

pub(super) const RULE: Rule = Rule {
    id: "peer-traffic",
    summary: "the kernel accesses the memory of another GPU",
    documentation: "\
## What it finds
Kernels for which a notable part of the L2 sectors goes to the memory of a peer GPU.

## Why it costs time
Even the fastest links between GPUs have a fraction of DRAM bandwidth and more latency. A few
percent of the accesses can take most of the time.

## Detection
At least `sectors` of the sectors looked up in L2 go to peer memory. Savings: at most everything
above the DRAM roof, at least that share of the time.

## Remedy
Place data on the GPU that uses it most; copy it in large pieces ahead of use and overlap the
copies with computation; have each GPU work on its own part.

## False positives
Kernels that exchange data between GPUs, such as collectives, do so by design. Peers linked by a
switch can read each other at a good share of their own memory bandwidth.

## Sources
*CUDA C++ Programming Guide*, \"Peer-to-Peer Memory Access\"; `MemoryApertureUsage.py` of Nsight Compute;
*Nsight Compute Profiling Guide*, \"Memory Chart\".
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
    let metric = "lts__t_sectors_aperture_peer_lookup_miss.sum";
    let share = subject.need(Quantity::L2PeerShare, metric)?;
    if share < subject.threshold(&SECTORS) {
        return Ok(None);
    }
    let gap = subject.gap();
    let low = subject.share(share, "gap").low;
    let message =
        format!("{} of the L2 sectors go to the memory of a peer GPU", whole_percent(share));
    let finding = subject
        .finding(message, Stake { low: if low < gap.low { low } else { gap.low }, ..gap })
        .confidence(Confidence::Medium)
        .evidence("peer-memory share of the L2 sectors", share, "1")
        .evidence_if("DRAM utilization", subject.get(Quantity::DramThroughput), "1")
        .evidence_if("stalled on data", subject.get(Quantity::StallLongScoreboard), "1");
    Ok(Some(finding.next("place the data on the GPU that reads it most, and measure again")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::engine::bench_figures::judge;

    #[test]
    fn a_tenth_of_the_sectors_is_found() {
        let finding = judge(&RULE, &[(Quantity::L2PeerShare, 0.1)]).unwrap().unwrap();
        assert_eq!(finding.estimator, "gap");
        assert!(finding.at_stake_low_s > 0.0 && finding.at_stake_low_s < finding.at_stake_s);
    }

    #[test]
    fn a_few_sectors_are_left_alone() {
        assert!(judge(&RULE, &[(Quantity::L2PeerShare, 0.001)]).unwrap().is_none());
    }

    #[test]
    fn without_the_counter_it_cannot_judge() {
        assert!(judge(&RULE, &[]).is_err());
    }
}
